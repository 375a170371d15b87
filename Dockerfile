# syntax=docker/dockerfile:1
# The operator's image: docker buildx build --platform linux/amd64,linux/arm64 --tag … .
# The versions are those of tools/catalogue.ts and .projenrc.ts; a unit test compares them. Nothing is downloaded when it runs.
#   --build-arg PROVIDERS="aws"               only these clouds (default: all)
#   --build-arg COMMIT="$(git rev-parse HEAD)"   what --version says (default: nothing)
#   --build-arg PLUGINS="aws@7.48.0@SHA256"   official Pulumi plugins, for extensions that add resources by them (default: none); the
#                                             SHA-256 is that of the archive for the platform that is built
ARG NODE_IMAGE=node:24-bookworm-slim

# JavaScript is the same on every platform: compiled once, on the builder's own.
FROM --platform=$BUILDPLATFORM ${NODE_IMAGE} AS build
WORKDIR /src
COPY package.json package-lock.json ./
RUN npm ci --no-audit --no-fund
COPY . .
ARG PROVIDERS="local aws azure"
# Nobody compiles or debugs in it: types, sources and source maps stay here, and so does the copy of Node for hosts that have an older one.
ARG COMMIT=""
RUN npx tsc --build \
  && echo "$COMMIT" > lib/commit \
  && for kind in local aws azure; do case " $PROVIDERS " in *" $kind "*) ;; *) rm "lib/providers/$kind/index.js" ;; esac; done \
  && case " $PROVIDERS " in *" aws "*) ;; *) \
    npm uninstall --no-audit --no-fund @pulumi/aws @aws-sdk/client-ec2 \
      @aws-sdk/client-elastic-load-balancing @aws-sdk/client-elastic-load-balancing-v2 ;; esac \
  && case " $PROVIDERS " in *" azure "*) ;; *) npm uninstall --no-audit --no-fund @pulumi/azure-native ;; esac \
  && npm prune --omit=dev --omit=optional --no-audit --no-fund \
  && node lib/tools/write-sbom.js > sbom.cdx.json \
  && find node_modules -type f \( -name '*.ts' -o -name '*.mts' -o -name '*.cts' -o -name '*.map' \) -delete

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
# The engine looks for them in the PATH, and is told to fetch none.
ARG PLUGINS=""
RUN set -eu; \
  mkdir plugins; \
  for plugin in $PLUGINS; do \
    name="${plugin%%@*}" sum="${plugin##*@}"; \
    version="${plugin#*@}" version="${version%@*}"; \
    file="pulumi-resource-${name}-v${version}-linux-${TARGETARCH}.tar.gz"; \
    curl -fsSLO "https://get.pulumi.com/releases/plugins/${file}"; \
    echo "$sum  $file" | sha256sum --check --strict; \
    tar --extract --gzip --file "$file" --directory plugins "pulumi-resource-${name}"; \
    rm "$file"; \
  done

# What Node needs of Debian, and a shell for those manifests that call one: no package manager, no Perl. The list of packages is for scanners.
FROM ${NODE_IMAGE} AS debian
RUN set -eu; \
  apt-get update; \
  apt-get install --yes --no-install-recommends busybox-static ca-certificates; \
  mkdir -p /os/bin /os/usr/bin /os/etc /os/var/lib/dpkg/status.d; \
  mkdir -m 1777 /os/tmp; \
  cp --parents --dereference $(ldd /usr/local/bin/node | grep -o '/[^ ]*') /usr/local/bin/node /bin/busybox \
    /etc/ssl/certs/ca-certificates.crt /etc/nsswitch.conf /etc/os-release /os; \
  for applet in $(busybox --list | grep -vx busybox); do ln -s busybox "/os/bin/$applet"; done; \
  ln -s /bin/busybox /os/usr/bin/env; \
  printf 'root:x:0:0::/:/bin/sh\ncloud-operator:x:65532:65532::/tmp:/bin/sh\n' >/os/etc/passwd; \
  printf 'root:x:0:\ncloud-operator:x:65532:\n' >/os/etc/group; \
  for package in libc6 libgcc-s1 libstdc++6 busybox-static ca-certificates; do \
    dpkg-query --status "$package" >"/os/var/lib/dpkg/status.d/$package"; \
  done

FROM scratch
COPY --from=debian /os /
COPY --from=pulumi /pulumi/pulumi /pulumi/plugins/ /usr/local/bin/
WORKDIR /app
COPY --from=build /src/package.json /src/sbom.cdx.json /src/LICENSE /src/THIRD_PARTY.md ./
COPY --from=build /src/node_modules node_modules
COPY --from=build /src/bin bin
COPY --from=build /src/lib lib
COPY --from=build /src/operator/ui/assets operator/ui/assets
# What manifests of a cloud-controller-manager call. Those that give flags only are the entry point's.
RUN ln -s /app/bin/cloud-operator.js /usr/local/bin/cloud-operator \
  && ln -s /app/bin/log-runner.js /go-runner \
  && for name in cloud aws-cloud azure-cloud gcp-cloud vsphere-cloud; do \
    for folder in "" /bin /usr/local/bin; do \
      ln -s /app/bin/cloud-controller-manager.js "$folder/$name-controller-manager"; \
    done; \
  done
ENV PATH=/usr/local/bin:/usr/bin:/bin NODE_ENV=production HOME=/tmp TMPDIR=/tmp NODE_OPTIONS=--max-semi-space-size=8
USER 65532:65532
ENTRYPOINT ["node", "/app/bin/entrypoint.js"]
CMD ["run"]
