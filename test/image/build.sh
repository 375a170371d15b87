#!/usr/bin/env bash
# Builds the Dockerfile where no image registry can be reached, and tries what it has built: `npm run test:image`, as root, with Debian's packages buildah,
# debootstrap and runc. The base image is made of Debian's packages and this project's own Node, the stage with the Pulumi CLI of the one in the cache.
#   test/image/build.sh [--build-arg PROVIDERS=aws …]    what follows goes to buildah; without it: the clouds "local aws"
set -euo pipefail
cd "$(dirname "$0")/../.."

work=$(mktemp -d "${TMPDIR:-/tmp}/cloud-operator-image-XXXXXX")
finish() {
  buildah umount --all >/dev/null || true
  rm -rf "$work"
}
trap finish EXIT
export BUILDAH_ISOLATION=chroot # works where this is a container itself
buildah() { command buildah --storage-driver vfs --root "$work/storage" --runroot "$work/run" "$@"; }
# image NAME FOLDER [CONFIG…]: an image of a folder's files
image() {
  local name=$1 folder=$2 container
  shift 2
  container=$(buildah from scratch)
  buildah add --quiet "$container" "$folder" / >/dev/null
  buildah config "$@" "$container"
  buildah commit --quiet --rm "$container" "$name" >/dev/null
}

echo '== the base image'
base=$work/base
debootstrap --variant=minbase --include=ca-certificates bookworm "$base" >"$work/debootstrap.log" || { tail "$work/debootstrap.log"; exit 1; }
# As Debian's slim images, which have no documentation. Certificates are this machine's: it may reach the npm registry by a proxy of its own.
rm -rf "$base"/usr/share/{doc,info,locale,man}/* "$base"/var/lib/apt/lists/* "$base"/var/cache/apt/*.bin "$base"/var/cache/apt/archives/*.deb
cp /etc/ssl/certs/ca-certificates.crt "$base/etc/ssl/certs/"
cp node_modules/node-linux-*/bin/node "$base/usr/local/bin/"
mkdir -p "$base/usr/local/lib/node_modules" "$base/usr/local/etc"
cp -R "$(dirname "$(dirname "$(readlink -f "$(command -v npm)")")")" "$base/usr/local/lib/node_modules/npm"
for name in npm npx; do ln -s "../lib/node_modules/npm/bin/$name-cli.js" "$base/usr/local/bin/$name"; done
echo 'cafile=/etc/ssl/certs/ca-certificates.crt' >"$base/usr/local/etc/npmrc"
image localhost/node "$base" --env PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin

echo '== the Pulumi CLI'
mkdir -p "$work/cli/pulumi/plugins"
cp "$(node bin/cloud-operator.js tools pulumi --json | node -p 'JSON.parse(require("fs").readFileSync(0))[0].path')" "$work/cli/pulumi/"
image localhost/pulumi "$work/cli" --env PATH=/

echo '== the Dockerfile'
buildah bud --layers=false --build-context pulumi=container-image://localhost/pulumi --build-arg NODE_IMAGE=localhost/node --build-arg PROVIDERS="local aws" \
  --tag localhost/cloud-operator "$@" .

echo '== what it is'
container=$(buildah from localhost/cloud-operator)
root=$(buildah mount "$container")
buildah inspect --type image localhost/cloud-operator | node -p 'JSON.stringify(JSON.parse(require("fs").readFileSync(0)).OCIv1.config)' >"$work/config.json"
megabytes_of() { du --summarize --apparent-size --block-size=1MB "$1" | cut -f1; }
megabytes=$(megabytes_of "$root")
echo "$megabytes MB, of which node_modules $(megabytes_of "$root/app/node_modules") MB; compressed $(($(tar --create --directory "$root" . | gzip | wc -c) / 1000000)) MB; $(cat "$work/config.json")"

# in_container COMMAND…: runs it as the Deployment does: with the image's user and environment, no rights, and nothing to write to but /tmp
in_container() {
  local bundle=$work/bundle
  mkdir -p "$bundle"
  (cd "$bundle" && rm -f config.json && runc spec)
  node -e '
    const { readFileSync, writeFileSync } = require("fs");
    const [spec, image, path, ...args] = process.argv.slice(1);
    const container = JSON.parse(readFileSync(spec)), { User, Env } = JSON.parse(readFileSync(image));
    const [uid, gid] = User.split(":").map(Number);
    container.root = { path, readonly: true };
    Object.assign(container.process, { terminal: false, args, env: Env, cwd: "/app", user: { uid, gid }, capabilities: {}, noNewPrivileges: true });
    container.mounts.push({ destination: "/tmp", type: "tmpfs", source: "tmpfs", options: ["nosuid", "nodev", "mode=1777"] });
    writeFileSync(spec, JSON.stringify(container));
  ' "$bundle/config.json" "$work/config.json" "$root" "$@"
  runc run --bundle "$bundle" "cloud-operator-image-$$" </dev/null
}
expect() { # WHAT PATTERN COMMAND…
  local what=$1 pattern=$2 said
  shift 2
  said=$(in_container "$@" 2>&1) || true
  if grep -qE -e "$pattern" <<<"$said"; then echo "ok       $what"; else echo "NOT OK   $what: $said"; failed=1; fi
}
failed=0
entry=(node /app/bin/entrypoint.js)
expect 'cloud-operator --version' '^[0-9]+\.[0-9]+\.[0-9]+' cloud-operator --version
expect 'controller-manager --help' '^ +--cloud-provider' "${entry[@]}" controller-manager --help
expect 'flags alone are those of a cloud-controller-manager' '--cloud-provider cannot be empty' "${entry[@]}" --v=2
expect 'Pulumi of the pinned version' "v$(sed -n 's/^ARG PULUMI_VERSION=//p' Dockerfile)" pulumi version
expect 'its user is not root' '^65532$' id -u
expect 'its files can not be written' 'Read-only file system' touch /app/x
expect '/tmp can' '^written$' sh -c 'echo written >/tmp/x && cat /tmp/x'
# Packages of the clouds that were not chosen are not there: nothing may load them.
load='const { providerKinds } = require("/app/lib/providers/registry.js"), kinds = providerKinds();
  for (const kind of kinds) for (const half of ["index", "worker"]) require(`/app/lib/providers/${kind}/${half}.js`);
  console.log("loaded", ...kinds.sort())'
expect 'both halves of each cloud load' '^loaded .*local' node -e "$load"
expect 'manifests are written without the network' 'kind: CustomResourceDefinition' "${entry[@]}" manifests --crds-only
# With Azure it has the types of all its services, which extensions may use.
limit=400
[ -e "$root/app/lib/providers/azure/index.js" ] && limit=450
[ "$megabytes" -le "$limit" ] || { echo "NOT OK   $megabytes MB are more than $limit"; failed=1; }
exit $failed
