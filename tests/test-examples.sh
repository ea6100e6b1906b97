#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# The examples as their readers run them, on every backend: errors fall by the order of the method, what is conserved is,
# iterations do not depend on the mesh, and files become pictures. Usage: test-examples.sh RITZ FIRST ADVECTION HEAT WAVE,
# the programs; called by ctest, prints TAP. RITZ_TEST_BACKENDS as in tests/tap.h.
set -u
cd "$(dirname "$0")/.."
if [ $# != 5 ]; then
  echo "usage: $0 RITZ FIRST ADVECTION HEAT WAVE" >&2
  exit 2
fi
ritz=$1 first=$2 advection=$3 heat=$4 wave=$5
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
number=0 failed=0
# What sums and differences of sums are exact to.
rounding=1e-12
if [[ $("$ritz" info) == *"CeedScalar is float"* ]]; then rounding=2e-4; fi

# report SENTENCE: ok if the command before was; else with what the programs of this test have printed.
report() {
  local status=$? word=ok
  number=$((number + 1))
  [ $status = 0 ] || word="not ok" failed=$((failed + 1))
  echo "$word $number - $1 ($resource)"
  [ $status = 0 ] || sed 's/^/#   /' "$folder/out"
}

# Whether tests run on a resource.
wanted() {
  local prefix
  "$ritz" info | grep -qE "^ *(backends +)?$1 +usable" || return
  [ -n "${RITZ_TEST_BACKENDS:-}" ] || return 0
  for prefix in ${RITZ_TEST_BACKENDS//,/ }; do [[ $1 != "$prefix"* ]] || return 0; done
  return 1
}

# run PROGRAM ARGUMENTS...: on the resource, its lines are added to those of the test.
run() { "$1" "$resource" "${@:2}" >>"$folder/out" 2>&1; }

# holds CONDITION: of awk, about e[], e[2] .. : the numbers behind the word $word in the output, in their order.
holds() {
  grep -oE "$word +[-+.0-9e]+" "$folder/out" | awk -v rounding=$rounding -v max=0 -v min=1e300 '
    { e[NR] = $NF + 0; if (e[NR] > max) max = e[NR]; if (e[NR] < min) min = e[NR] }
    END { exit !('"$1"') }'
}

check_first() {
  true >"$folder/out"
  run "$first" 1 1 && run "$first" 1 2 && run "$first" 2 1 && run "$first" 2 2
  word=error holds 'NR == 4 && e[1] / e[2] > 2 ^ 1.8 && e[3] / e[4] > 2 ^ 2.8'
  report "first: the error falls by the order p + 1"
  word=gradient holds 'NR == 4 && e[1] / e[2] > 2 ^ 0.9 && e[3] / e[4] > 2 ^ 1.8'
  report "first: that of the gradient by p"
  word=iterations holds 'NR == 4 && max <= 14'
  report "first: iterations of multigrid"
}

check_advection() {
  true >"$folder/out"
  run "$advection" 2 8 && run "$advection" 2 16
  word=error holds 'NR == 2 && e[1] / e[2] > 2 ^ 2.8'
  report "advection: the error falls by the order p + 1"
  word=gradient holds 'NR == 2 && e[1] / e[2] > 2 ^ 1.8'
  report "advection: that of the gradient by p"
  # In float what is asked for is rounding, which finer meshes have more of.
  word=iterations holds 'NR == 2 && (max <= 1.2 * min && max < 45 || rounding > 1e-9 && max < 100)'
  report "advection: iterations do not depend on the mesh"
}

check_heat() {
  true >"$folder/out"
  run "$heat" 1 && run "$heat" 2 && run "$heat" 4
  word=heat holds 'NR == 33 && max - min < (rounding > 1e-9 ? rounding : 1e-9) * max'
  report "heat: none is lost"
  word=square holds 'NR == 33 && e[1] > e[2] && e[2] > e[3] && e[10] > e[11]'
  report "heat: differences become less"
  word=square holds 'NR == 33 && (e[11] - e[22]) / (e[22] - e[33]) > 2 ^ 1.6'
  report "heat: second order in time"
}

check_wave() {
  true >"$folder/out"
  run "$wave" 2 70
  word=energy holds 'NR == 11 && e[1] - e[11] < rounding * e[1] && e[11] - e[1] < rounding * e[1]'
  report "wave: the energy is constant"
}

check_wave_order() {
  true >"$folder/out"
  run "$wave" 6 200 && run "$wave" 6 400
  word=error holds 'NR == 2 && e[1] / e[2] > 2 ^ 1.9 && e[1] / e[2] < 2 ^ 2.1'
  report "wave: second order in time"
}

check_pictures() {
  local name
  true >"$folder/out"
  run "$first" 2 0 "$folder/first.vtu" && run "$advection" 2 8 0.05 "$folder/advection.vtu" &&
    run "$wave" 2 70 "$folder/wave" && run "$heat" 1 "$folder/heat"
  for name in first advection wave-00 wave-10 heat-00 heat-10; do
    "$ritz" picture "$folder/$name.vtu" --size 320x200 >>"$folder/out" 2>&1 || break
  done
  [ -s "$folder/heat-10.png" ]
  report "files become pictures"
}

for resource in /cpu/self/{gen,ref,check} /gpu/{cuda,opencl}/gen; do
  wanted $resource || continue
  check_first
  check_advection
  check_wave
  if [[ $resource == */gen ]]; then check_wave_order; fi # others take long, and would tell the same
  if [[ $resource =~ (cpu|cuda).*gen ]]; then check_heat; fi # derivatives are C++
  if [[ $resource == /cpu/self/gen ]]; then check_pictures; fi
done
echo "1..$number"
[ $failed = 0 ] && [ $number != 0 ]
