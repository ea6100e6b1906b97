# SPDX-License-Identifier: BSD-2-Clause
# Fresh Debians for check-fresh and check-deb, which set $suite (bookworm, trixie) and source this in the top folder: made by
# debootstrap from the mirror of this machine's apt, kept with packages in build/fresh-cache. Needs root, chroot and namespaces.
check=$(basename "$0") reports=build/fresh-cache/report-$(basename "$0")

report() { echo "$check: $suite: $*" | tee -a "$reports"; }
fail() { report "$*" >&2; exit 1; }
mkdir -p build/fresh-cache
: >"$reports"
# Where there cannot be a fresh root: a failure in CI, else nothing is tested.
give_up() {
  [ -z "${CI-}" ] || fail "$*"
  report "skipped: $*"
  exit 77
}

mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Origin: Debian' 'Label: Debian' 'Created-By: Packages' 2>/dev/null | head -n 1) || true
[ -n "$mirror" ] || give_up "apt knows no mirror of Debian (apt-get update)"
command -v debootstrap >/dev/null || give_up "there is no debootstrap (tools/install-deps --ci)"
[ "$(id -u)" = 0 ] && unshare --mount --pid --fork true 2>/dev/null || give_up "no root, or no namespaces of its own"

cache=$PWD/build/fresh-cache/$suite
mkdir -p "$cache/debs" "$cache/archives"
scratch=$(mktemp -d "$PWD/build/fresh.XXXXXX")
trap 'rm -rf "$scratch"' EXIT

# The least Debian, a week old at most.
if [ -z "$(find "$cache" -name base.tar -mtime -7)" ]; then
  debootstrap --variant=minbase --cache-dir="$cache/debs" "$suite" "$scratch/base" "$mirror" >"$scratch/log" 2>&1 ||
    { tail -n 20 "$scratch/log" >&2; fail "debootstrap fails"; }
  tar -C "$scratch/base" -cf "$cache/base.part" . && mv "$cache/base.part" "$cache/base.tar"
  rm -rf "$scratch/base"
fi

# name: $root, with what apt needs of this machine. Packages come from the cache.
make_root() {
  root=$scratch/$1
  mkdir "$root"
  tar -C "$root" -xf "$cache/base.tar"
  apt-config dump | grep -iE '^Acquire::[a-z]+::Proxy' >"$root/etc/apt/apt.conf.d/90proxy" || true
  cp /etc/resolv.conf /etc/hosts "$root/etc/"
  cp -n "$cache"/archives/*.deb "$root/var/cache/apt/archives/" 2>/dev/null || true
}
keep_packages() { cp -n "$root"/var/cache/apt/archives/*.deb "$cache/archives/" 2>/dev/null || true; }
count_packages() { chroot "$root" dpkg-query -W | wc -l; }

# In the root, in the folder $2, as user $1, with the options $3 of unshare: the command. Its mounts end with it.
inside() {
  local user=$1 folder=$2 options=$3
  shift 3
  # shellcheck disable=SC2086 # options are words
  unshare --mount --pid --fork --kill-child --mount-proc="$root/proc" $options chroot --userspec="$user" "$root" \
    env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME="$(dirname "$folder")" LC_ALL=C \
    bash -ec "cd $folder; $*" </dev/null
}
timed() { # words for the report, command...
  local what=$1 start=$SECONDS packages
  packages=$(count_packages)
  shift
  "$@" >"$scratch/log" 2>&1 || { tail -n 40 "$scratch/log" >&2; fail "'$what' fails"; }
  grep -E '^[0-9]*% tests passed' "$scratch/log" || true
  report "$what: $((SECONDS - start)) s, $(($(count_packages) - packages)) packages"
}
install() { inside root / "" DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends "$@" >"$scratch/log" 2>&1; }
