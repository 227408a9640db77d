# The images of a release, from its archives and this file beside them; nothing is fetched but the bases and, for
# workspaces, Debian's packages:
#   docker buildx build --platform linux/amd64,linux/arm64 --build-arg VERSION=0.1.0 --target homeport  -t homeport:0.1.0 .
#   docker buildx build --platform linux/amd64,linux/arm64 --build-arg VERSION=0.1.0 --target workspace -t homeport-workspace:0.1.0 .
ARG DEBIAN=debian:12-slim
ARG NODE=node:24-bookworm-slim

FROM ${DEBIAN} AS files
ARG VERSION
ARG TARGETARCH
ADD homeport-${VERSION}-linux-${TARGETARCH}.tar.gz /release/
RUN mkdir /release/app && mv /release/homeport-*/* /release/app/

FROM ${DEBIAN} AS homeport
ARG VERSION
ARG REVISION=unknown
LABEL org.opencontainers.image.title="Homeport" \
      org.opencontainers.image.description="Self-hosted chat application for models of any provider" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.base.name="docker.io/library/debian:12-slim"
# PostgreSQL asks for the name of its user.
RUN echo 'homeport:x:1000:1000::/app:/usr/sbin/nologin' >> /etc/passwd && echo 'homeport:x:1000:' >> /etc/group \
 && mkdir -m 700 /data && chown 1000:1000 /data
COPY --from=files /release/app /app
ENV PATH=/app/bin:/app/node_modules/node/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
    HOST=0.0.0.0 PORT=3000 DATA_DIR=/data LANG=C.UTF-8
USER 1000:1000
WORKDIR /app
VOLUME /data
EXPOSE 3000
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/api/health`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
CMD ["node", "dist/server/main.mjs"]

# Only npm is taken from it.
FROM ${NODE} AS npm

# What models and people find in a workspace. Use it as the base of your own: FROM homeport-workspace, then USER root, apt-get install
# what your people need, USER 1000:1000 again. pip may install outside a venv: into the home, since the system's folders are read-only.
FROM ${DEBIAN} AS workspace
ARG VERSION
LABEL org.opencontainers.image.title="Homeport workspace" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.licenses="Apache-2.0"
RUN apt-get update \
 && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends \
    ca-certificates curl file git jq less nano openssh-client patch procps ripgrep sqlite3 tar unzip util-linux xz-utils zip \
    python3 python3-pip python3-venv python3-docx python3-lxml python3-odf python3-openpyxl python3-xlrd \
    antiword catdoc pandoc poppler-utils \
 && rm -rf /var/lib/apt/lists/* /var/cache/apt/* /var/cache/debconf/*-old /var/log/*.log /var/log/apt \
 && useradd --uid 1000 --user-group --home-dir /home/user --create-home --shell /bin/bash user \
 && chmod 700 /home/user \
 && printf '[global]\nbreak-system-packages = true\n' > /etc/pip.conf
COPY --from=files /release/app/node_modules/node/bin/node /usr/local/bin/node
COPY --from=npm /usr/local/lib/node_modules/npm /usr/local/lib/node_modules/npm
RUN ln -s ../lib/node_modules/npm/bin/npm-cli.js /usr/local/bin/npm && ln -s ../lib/node_modules/npm/bin/npx-cli.js /usr/local/bin/npx
COPY --from=files /release/app/dist/workspace /opt/homeport
COPY --from=files /release/app/deploy/workspace/ /usr/local/bin/
ENV LANG=C.UTF-8
USER 1000:1000
WORKDIR /home/user
ENTRYPOINT ["/usr/local/bin/node", "/opt/homeport/daemon.cjs"]
