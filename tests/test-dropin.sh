#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Programs that were built against another libceed.so (without soname, as libCEED 0.12-development has it) run with ours. One
# is linked to tests/dropin/mock.c, which has the names and sizes of such a library, and then finds Ritz under that name.
# Usage: test-dropin.sh LIBRARY [CC]. Registered in CMakeLists.txt for builds in double precision.
set -euo pipefail
library=$(realpath "${1?usage: test-dropin.sh LIBRARY [CC]}")
cc=${2-cc}
cd "$(dirname "$0")/.."

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
count=0 status=0
result() { # name command...: runs the command in a shell of its own; what it prints is shown when it fails
  local name=$1 verdict=ok
  shift
  ("$@") >"$scratch/log" 2>&1 || { verdict="not ok"; status=1; sed 's/^/# /' "$scratch/log"; }
  echo "$verdict $((++count)) - $name"
}

mkdir "$scratch/mock" "$scratch/ours"
"$cc" -std=c11 -fPIC -shared tests/dropin/mock.c -o "$scratch/mock/libceed.so"
ln -s "$library" "$scratch/ours/libceed.so"

# Name and size of every object that a library exports. (What result runs must not rely on `set -e`.)
objects() {
  readelf --dyn-syms --wide "$1" | awk '$4 == "OBJECT" && $7 != "UND" && $8 ~ /^(Ceed|CEED_|Ritz|RITZ_)/ { print $8, $3 }' | LC_ALL=C sort
}
sizes_agree() {
  objects "$scratch/mock/libceed.so" >"$scratch/mock/sizes"
  objects "$library" >"$scratch/ours/sizes"
  [ -s "$scratch/mock/sizes" ] && diff "$scratch/mock/sizes" "$scratch/ours/sizes"
}

build() { # name options...
  local name=$1
  shift
  "$cc" -std=c11 -D_XOPEN_SOURCE=700 -O1 -Iinclude "$@" tests/dropin/program.c -o "$scratch/$name" -L"$scratch/mock" \
    -lceed -lm && readelf --dynamic "$scratch/$name" | grep -qF '[libceed.so]'
}

# The program is bound to the mock, whose functions exit with 9.
fails_with_mock() {
  LD_LIBRARY_PATH=$scratch/mock "$scratch/$1"
  [ $? = 9 ]
}

# Nothing on stderr: that is where the dynamic linker complains about sizes. These programs keep their QFunctions
# in a file with main, whose text no kernel can include: their pointers are called, of which they need not be told.
works_with_ours() {
  RITZ_QFUNCTION=pointer LD_LIBRARY_PATH=$scratch/ours "$scratch/$1" >"$scratch/out" 2>"$scratch/err" || { cat "$scratch/out" "$scratch/err"; return 1; }
  cat "$scratch/err"
  [ ! -s "$scratch/err" ]
}
has_copies() { readelf --relocs --wide "$scratch/$1" | grep _COPY | grep -q CeedElemTopologies; }

echo 1..12
result "exported objects have the sizes of the standard" sizes_agree
while read -r name options; do
  read -ra flags <<<"$options"
  result "$name program is linked to the mock library" build "$name" "${flags[@]}"
  result "$name program fails with the mock library" fails_with_mock "$name"
  result "$name program runs with ours" works_with_ours "$name"
done <<'END'
position-dependent -fno-pie -no-pie
eagerly-bound -fno-pie -no-pie -Wl,-z,now
position-independent -fPIE -pie
END
result "position-dependent program keeps copies of our objects" has_copies position-dependent
result "eagerly-bound program keeps copies of our objects" has_copies eagerly-bound
exit $status
