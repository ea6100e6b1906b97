#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# A machine without a C compiler: everything works with the ahead-of-time kernel, and says so once; and one on which nothing
# can be kept. Run by ctest; prints TAP. Usage: test-nocompiler.sh PATH-OF-RITZ TEST-PROGRAM...
set -u

ritz=${1?usage: test-nocompiler.sh PATH-OF-RITZ TEST-PROGRAM...}
shift
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
problem=(solve box:3x3x3 --exact sine --order 3 --tol 1e-5 --jacobi)
number=0 failed=0

# report STATUS SENTENCE: one line of TAP, with what the last command printed when the status is not 0.
report() {
  number=$((number + 1))
  if [[ $1 == 0 ]]; then
    echo "ok $number - $2"
    return
  fi
  failed=$((failed + 1))
  echo "not ok $number - $2"
  sed 's/^/#   stdout: /' "$folder/out" | head -30
  sed 's/^/#   stderr: /' "$folder/err" | head -30
}

# bare [NAME=VALUE...] COMMAND...: runs it without compilers, in an environment that holds nothing else; output in the files out
# and err.
bare() {
  env -i PATH=/nonexistent HOME="$folder" RITZ_TEST_LEVEL=quick RITZ_TEST_BACKENDS=/cpu ASAN_OPTIONS="${ASAN_OPTIONS-}" \
    UBSAN_OPTIONS="${UBSAN_OPTIONS-}" "$@" >"$folder/out" 2>"$folder/err" </dev/null
}

warnings() { grep -c '^Ritz: ' "$folder/err"; }
l2_error() { awk '/^L2 error/ { print $3 }' "$folder/out"; }
is_near() { awk -v a="$1" -v b="$2" 'BEGIN { exit !(a > 0 && b > 0 && a / b > 0.99 && a / b < 1.01) }'; }

solves_without_compiler() { bare "$ritz" "${problem[@]}" && [[ $(warnings) == 1 ]]; }
is_refused_strictly() {
  bare RITZ_STRICT=1 "$ritz" "${problem[@]}"
  [[ $? == 1 && $(warnings) == 0 ]] && grep -q 'no compiler.*RITZ_STRICT' "$folder/err"
}
says_so() { bare "$ritz" info && grep -q '^compiler .*none' "$folder/out"; }
solves_without_cache() {
  RITZ_CACHE_DIR=/proc/nonexistent "$ritz" "${problem[@]}" >"$folder/out" 2>"$folder/err" </dev/null && [[ $(warnings) == 0 ]]
}

echo "1..$((5 + $#))"
says_so
report $? "without a compiler ritz info says that there is none"
solves_without_compiler
report $? "without a compiler a problem is solved, with one warning"
without=$(l2_error)
is_refused_strictly
report $? "with RITZ_STRICT the missing compiler is an error"

if type gcc clang cc 2>/dev/null | grep -q .; then
  solves_without_cache
  report $? "with a compiler, and no folder for kernels, a problem is solved without a warning"
  with=$(l2_error)
  is_near "$without" "$with"
  report $? "both solutions have the same error"
else
  for sentence in "with a compiler" "both solutions"; do
    number=$((number + 1))
    echo "ok $number - $sentence # SKIP no C compiler in PATH"
  done
fi

for program; do
  bare "$program"
  report $? "without a compiler $(basename "$program") passes"
done
[[ $failed == 0 ]]
