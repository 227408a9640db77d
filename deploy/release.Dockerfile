# The images of a release, from its archives and this file beside them; nothing is fetched but the base:
#   docker buildx build --platform linux/amd64,linux/arm64 --build-arg VERSION=0.1.0 --target homeport  -t homeport:0.1.0 .
#   docker buildx build --platform linux/amd64,linux/arm64 --build-arg VERSION=0.1.0 --target workspace -t homeport-workspace:0.1.0 .
ARG DEBIAN=debian:12-slim

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

# What models and people find in a workspace. Use it as the base of your own: FROM homeport-workspace, then USER root, apt-get install
# what your people need, USER 1000:1000 again.
FROM ${DEBIAN} AS workspace
ARG VERSION
LABEL org.opencontainers.image.title="Homeport workspace" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.licenses="Apache-2.0"
RUN apt-get update \
 && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends \
    ca-certificates curl file git jq less nano patch procps python3 python3-venv ripgrep tar unzip util-linux xz-utils zip \
 && rm -rf /var/lib/apt/lists/* /var/cache/apt/* /var/cache/debconf/*-old /var/log/*.log /var/log/apt \
 && useradd --uid 1000 --user-group --home-dir /home/user --create-home --shell /bin/bash user \
 && chmod 700 /home/user
COPY --from=files /release/app/node_modules/node/bin/node /usr/local/bin/node
COPY --from=files /release/app/dist/workspace /opt/homeport
COPY --from=files /release/app/deploy/workspace/homeport /usr/local/bin/homeport
ENV LANG=C.UTF-8
USER 1000:1000
WORKDIR /home/user
ENTRYPOINT ["/usr/local/bin/node", "/opt/homeport/daemon.cjs"]
