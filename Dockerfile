# syntax=docker/dockerfile:1
# The operator's image: docker buildx build --platform linux/amd64,linux/arm64 --tag … .
# The versions are those of tools/catalogue.ts and .projenrc.ts; a unit test compares them.
ARG NODE_IMAGE=node:24-bookworm-slim

# JavaScript is the same on every platform: compiled once, on the builder's own.
FROM --platform=$BUILDPLATFORM ${NODE_IMAGE} AS build
WORKDIR /src
COPY package.json package-lock.json ./
RUN npm ci --no-audit --no-fund
COPY . .
RUN npx tsc --build \
  && npm prune --omit=dev --no-audit --no-fund \
  # The copy of Node for hosts that have an older one.
  && rm -rf node_modules/node-linux-*

FROM --platform=$BUILDPLATFORM ${NODE_IMAGE} AS pulumi
ARG TARGETARCH
ARG PULUMI_VERSION=3.274.1
RUN apt-get update && apt-get install --yes --no-install-recommends ca-certificates curl && rm -rf /var/lib/apt/lists/*
WORKDIR /pulumi
RUN set -eu; \
  case "$TARGETARCH" in amd64) arch=x64 ;; *) arch="$TARGETARCH" ;; esac; \
  file="pulumi-v${PULUMI_VERSION}-linux-${arch}.tar.gz"; \
  curl -fsSLO "https://get.pulumi.com/releases/sdk/${file}"; \
  curl -fsSLO "https://get.pulumi.com/releases/sdk/pulumi-${PULUMI_VERSION}-checksums.txt"; \
  grep " ${file}\$" "pulumi-${PULUMI_VERSION}-checksums.txt" | sha256sum --check --strict; \
  tar --extract --gzip --file "$file" --strip-components=1 pulumi/pulumi

FROM ${NODE_IMAGE}
COPY --from=pulumi /pulumi/pulumi /usr/local/bin/pulumi
WORKDIR /app
COPY --from=build /src/package.json ./
COPY --from=build /src/node_modules node_modules
COPY --from=build /src/bin bin
COPY --from=build /src/lib lib
# What manifests of a cloud-controller-manager call. Those that give flags only are the entry point's.
RUN ln -s /app/bin/cloud-operator.js /usr/local/bin/cloud-operator \
  && ln -s /app/bin/log-runner.js /go-runner \
  && for name in cloud aws-cloud azure-cloud gcp-cloud vsphere-cloud; do \
    for folder in "" /bin /usr/local/bin; do \
      ln -s /app/bin/cloud-controller-manager.js "$folder/$name-controller-manager"; \
    done; \
  done
ENV NODE_ENV=production HOME=/tmp TMPDIR=/tmp NODE_OPTIONS=--max-semi-space-size=8
USER 65532:65532
ENTRYPOINT ["node", "/app/bin/entrypoint.js"]
CMD ["run"]
