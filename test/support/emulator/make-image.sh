#!/usr/bin/env bash
# Makes a container image of ministack, an emulator of AWS, where no registry of images can be reached: of Debian's packages, Python's, and the Node that runs
# the tests (`npm run emulator:image`). Packages come from where this machine's apt and pip are set up to take them. The last line is the image's name; then
#
#   EPOCHFLOW_EMULATOR=containers EPOCHFLOW_EMULATOR_IMAGE=<name> npm run test:aws
set -euo pipefail
requirements=$(cd "$(dirname "$0")" && pwd)/requirements.txt
image=epochflow/$(sed -nE 's/^(ministack)==/\1:/p' "$requirements")
packages=python3,python3-venv,ca-certificates,libstdc++6

say() { echo "make-image: $1" >&2; }
fail() { say "$1"; exit 1; }

[ "$(id -u)" -eq 0 ] || fail "debootstrap makes a system's root folder, and so must be run by root"
for need in docker:docker.io debootstrap:debootstrap apt-get:apt node:nodejs unshare:util-linux; do
  command -v "${need%:*}" >/dev/null || fail "there is no ${need%:*}; on Debian: apt-get install ${need#*:}"
done
python3 -c "import ensurepip" 2>/dev/null || fail "there is no Python with venv; on Debian: apt-get install python3-venv"
docker version >/dev/null 2>&1 || fail "no Docker engine answers at ${DOCKER_HOST:-its usual socket}: $(docker version 2>&1 | tail -n 1)"
node=$(node -p process.execPath)
[ "$(node -p 'process.versions.node.split(".")[0]')" -ge 24 ] || fail "functions need Node 24, and $node is $(node --version): npm run emulator:image"

# What is mounted in the new root belongs to this process, and so is gone with it, however it ends.
[ -n "${EPOCHFLOW_MOUNTS:-}" ] || EPOCHFLOW_MOUNTS=own exec unshare --mount "$0" "$@"

release=$(. /etc/os-release && echo "$VERSION_CODENAME")
mirror=$(apt-get indextargets --format '$(REPO_URI)' "Created-By: Packages" "Codename: $release" "Component: main" | head -n 1)
[ -n "$mirror" ] || fail "apt knows no source of $release; try: apt-get update"
folder=$(mktemp -d "${TMPDIR:-/tmp}/epochflow-image-XXXXXX")
root=$folder/root
finish() {
  umount --quiet "$root"/{proc,sys} || true
  rm -rf --one-file-system "$folder"
}
trap finish EXIT

say "installing $release in $root"
debootstrap --variant=minbase --include="$packages" "$release" "$root" "$mirror" >"$folder/log" 2>&1 || fail "debootstrap failed:
$(tail -n 20 "$folder/log" "$root/debootstrap/debootstrap.log" 2>/dev/null)"

# Downloaded out here, with this machine's settings of pip; installed in there, by its Python.
say "installing $(cat "$requirements")"
python=$(chroot "$root" python3 -c 'import sys; print("%d.%d" % sys.version_info[:2])')
python3 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip download --quiet --only-binary=:all: --python-version "$python" --dest "$root/wheels" --requirement "$requirements" ||
  fail "pip cannot have what $requirements names"
cp "$requirements" "$root/wheels"
chroot "$root" python3 -m venv /opt/ministack
chroot "$root" /opt/ministack/bin/python -m pip install --isolated --quiet --no-index --find-links /wheels --requirement /wheels/requirements.txt
install "$node" "$root/usr/bin/node"
chroot "$root" node --version >/dev/null || fail "$node does not run on $release"

say "importing $image"
tar --directory "$root" --exclude-from=- --create . <<-'end' | docker import --change 'ENV PATH=/opt/ministack/bin:/usr/bin:/bin' --change 'EXPOSE 4566' --change 'CMD ["ministack"]' - "$image" >/dev/null
	./wheels
	./var/cache
	./var/lib/apt/lists
	./usr/share/doc
	./usr/share/locale
	./usr/share/man
end
echo "$image"
