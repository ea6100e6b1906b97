#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Generated kernels under valgrind, which knows no AVX-512: the compiler, which sees the processor itself, is told. Run by
# ctest; prints TAP. Usage: test-valgrind.sh PATH-OF-RITZ
set -u

ritz=${1?usage: test-valgrind.sh PATH-OF-RITZ}
problem=(solve box:2x2 --order 1 --exact sine --tol 1e-5 --jacobi --ceed /cpu/self/gen)
if ! command -v valgrind >/dev/null; then
  echo "1..0 # SKIP there is no valgrind"
  exit 77
fi

echo "1..1"
if output=$(RITZ_STRICT=1 valgrind -q --error-exitcode=9 "$ritz" "${problem[@]}" 2>&1) && [[ $output == *"L2 error"* ]]; then
  echo "ok 1 - generated kernels run under valgrind, which finds nothing"
else
  echo "not ok 1 - generated kernels run under valgrind, which finds nothing"
  printf '%s\n' "$output" | sed 's/^/# /' | tail -30
  exit 1
fi
