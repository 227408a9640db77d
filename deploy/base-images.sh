#!/bin/sh
# Builds the two base images of deploy/Dockerfile if no image registry can be reached: Debian's own packages instead of
# debian:12-slim, and this machine's Node and npm on top of it instead of node:24-bookworm-slim. Needs root, debootstrap and a Docker engine.
#
# DEBIAN_MIRROR replaces debootstrap's default mirror.
#
#   deploy/base-images.sh            builds homeport-base/debian and homeport-base/node
#   docker build --build-arg DEBIAN=homeport-base/debian --build-arg NODE=homeport-base/node -f deploy/Dockerfile ...
set -eu

docker=${DOCKER:-docker}
node=$(command -v node)
npm=$(dirname "$(dirname "$(readlink -f "$(command -v npm)")")")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
root=$folder/root

debootstrap --variant=minbase --include=ca-certificates bookworm "$root" ${DEBIAN_MIRROR:+"$DEBIAN_MIRROR"} >"$folder/log" 2>&1 || {
  tail -n 20 "$folder/log" >&2
  exit 1
}
rm -rf "$root"/var/cache/apt/archives/*.deb "$root"/var/lib/apt/lists/* "$root"/usr/share/doc/* "$root"/usr/share/man/* "$root"/usr/share/locale/*
tar -C "$root" -c . | "$docker" import --change 'CMD ["bash"]' - homeport-base/debian

install -D "$node" "$root/usr/local/bin/node"
mkdir -p "$root/usr/local/lib/node_modules"
cp -r "$npm" "$root/usr/local/lib/node_modules/npm"
ln -s ../lib/node_modules/npm/bin/npm-cli.js "$root/usr/local/bin/npm"
ln -s ../lib/node_modules/npm/bin/npx-cli.js "$root/usr/local/bin/npx"
# The certificate of this machine's npm proxy, if there is one; shipped images are not built from this base.
certificate=$("$npm/bin/npm-cli.js" config get cafile 2>/dev/null || :)
set -- --change 'CMD ["node"]'
if [ -f "$certificate" ]; then
  cp "$certificate" "$root/usr/local/share/npm-ca.crt"
  set -- "$@" --change 'ENV npm_config_cafile=/usr/local/share/npm-ca.crt NODE_EXTRA_CA_CERTS=/usr/local/share/npm-ca.crt'
fi
tar -C "$root" -c . | "$docker" import "$@" - homeport-base/node
