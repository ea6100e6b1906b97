#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# `ritz solve` in parts that are threads: the results of one part, files in pieces, what parts do not have. Run by ctest with
# the path of the program as argument (or in RITZ_PROGRAM); prints TAP. Processes: tools/check-mpi.
set -u

ritz=${1:-${RITZ_PROGRAM:-}}
if [[ ! -x $ritz ]]; then
  echo "usage: $0 PATH-OF-RITZ" >&2
  exit 2
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export RITZ_CACHE_DIR=$folder/cache
unset RITZ_CACHE OMP_NUM_THREADS
meshes=$(dirname "$0")/../examples/meshes
number=0 failed=0

report() { # OK SENTENCE
  number=$((number + 1))
  if [[ $1 == 1 ]]; then echo "ok $number - $2"; return; fi
  failed=$((failed + 1))
  echo "not ok $number - $2"
  sed 's/^/#   /' "$folder/out" "$folder/err" | head -60
}

run() {
  timeout 300 "$ritz" solve "$@" >"$folder/out" 2>"$folder/err" </dev/null
  status=$?
}

# The first number or word behind the label of a fact.
fact() { sed -n "s/^$1  *\(.*\)/\1/p" "$folder/out" | head -1 | sed 's/,.*//'; }

# same SENTENCE SLACK FACTS ARGUMENTS...: one part, 2 and 3 parts print the same facts (FACTS: labels; numbers to $digits); the
# iterations of 2 and 3 parts differ by one and a twentieth at most, and from those of one part by SLACK.
same() {
  local sentence=$1 slack=$2 facts=$3 parts ok=1 label found
  shift 3
  declare -A wanted
  local iterations=0
  for parts in 1 2 3; do
    run --parts $parts "$@"
    [[ $status == 0 ]] || ok=0
    for label in ${facts//,/ }; do
      label=${label//_/ } found=$(fact "$label")
      [[ $parts == 1 ]] && wanted[$label]=$found
      awk -v t=$digits -v a="${wanted[$label]}" -v b="$found" 'BEGIN {
        if (a !~ /[0-9]/ || b !~ /[0-9]/) exit a != b || a == ""
        gsub(/[^-+.0-9e]/, " ", a); gsub(/[^-+.0-9e]/, " ", b); n = split(a, x, " "); m = split(b, y, " ")
        if (n != m) exit 1
        for (i = 1; i <= n; i++) if ((x[i] - y[i]) ^ 2 > t ^ 2 * (x[i] ^ 2 + y[i] ^ 2)) exit 1 }' ||
        { ok=0; echo "# $parts parts: $label is '$found', of one part '${wanted[$label]}'"; }
    done
    found=$(fact iterations) found=${found%% *}
    if [[ $parts -gt 1 && $((found - iterations)) -gt $((slack + iterations / 20)) ]]; then
      ok=0
      echo "# $parts parts take $found iterations, before $iterations"
    fi
    if [[ $parts == 2 ]]; then slack=1; fi
    iterations=$found
  done
  report $ok "$sentence"
}

# Programs of float solve to 1e-5 of the residual, so errors and stresses agree to that times some tens.
digits=1e-5 tight=()
if [[ $("$ritz" info 2>/dev/null) == *"CeedScalar is float"* ]]; then digits=1e-3 tight=(--tol 1e-5); fi

same "errors of a box do not depend on parts" 1 elements,geometry,facets,space,L2_error,H1_error \
  box:6x6x6 --order 3 --exact sine "${tight[@]}"
same "nor do those of all shapes, refined" 1 elements,facets,space,L2_error,H1_error \
  "$meshes/four-shapes.msh" --order 2 --refine 1 --exact sine "${tight[@]}"
same "nor time steps" 1 space,result,L2_error,H1_error box:6x6 --problem heat --time 1 --steps 10 --exact sine "${tight[@]}"
same "nor displacements and stresses" 1 elements,space,displaced,stress "$meshes/pipe-elbow.msh" --order 2 --problem elasticity \
  --fixed inlet --traction outlet=0,0,-1 --output "$folder/elbow.vtu" "${tight[@]}"
grep -q 'element-wise Schwarz by fast diagonalization: degree 2' "$folder/out"
report $((1 - $?)) "which have the smoother of one part"
same "nor regions and fluxes, with Jacobi" 2 elements,space,L2_error box:4x4x4 --order 2 --exact sine --jacobi "${tight[@]}"
same "values of a boundary that some parts do not touch" 1 space box:8x1x1 --bc xmin=1 --source 1 --jacobi "${tight[@]}"

same "nor bodies that nothing holds" 2 nullspace,space,displaced,stress box:4x2x2 --problem elasticity --smoother point-blocks \
  --traction xmin=-1,0,0 --traction xmax=1,y*0,0 --output "$folder/free.vtu" "${tight[@]}"
same "nor motions that are left" 2 nullspace,space box:2x2 --problem elasticity --fixed xmin.x --traction xmax=1,0 "${tight[@]}"
same "nor constants that no value holds, by any way on the coarsest level" 2 nullspace,space,source,result \
  box:6x4 --source x --refine 1 --coarse cg "${tight[@]}"

# Newton's method; Jacobians are derivatives, which take a C++ compiler.
if "$ritz" solve box:1x1 --problem hyperelasticity --order 1 --fixed xmin --force 0,0.01 --ceed /cpu/self/ref >"$folder/out" 2>&1; then
  same "nor conductivities that depend on u" 2 space,result,reactions box:6x6 --order 2 --coefficient '1+u^2' --bc 'all=x^2+y' \
    --source 1 --reactions "${tight[@]}"
  same "on all shapes, with Jacobi" 3 space,result,reactions "$meshes/four-shapes.msh" --order 2 --coefficient '1+u^2+x' \
    --bc 'all=x+y*z' --source 3 --jacobi --reactions "${tight[@]}"
  same "nor large displacements, under pressures that follow" 2 space,result,displaced,stress box:6x2 --order 2 \
    --problem hyperelasticity --fixed xmin --force 0,-0.02 --pressure ymax=0.01 --load-steps 2 --output "$folder/bent.vtu" "${tight[@]}"
  same "nor heat with such conductivities" 2 space,result,probe,reactions box:6x6 --order 2 --problem heat --time 1 --steps 4 \
    --coefficient '1+u^2' --capacity 1+x --bc 'xmin=1+t*y' --source 3 --initial 1 --probe 0.3,0.4 --reactions "${tight[@]}"
  run box:2x1 --parts 5 --coefficient '1+u^2' --bc xmin=0 --source 3 "${tight[@]}"
  report $((status == 0)) "parts without elements take steps of Newton's method, too"
fi

# Two squares of four elements that share no vertex, numbered in turn.
cat >"$folder/pieces.mesh" <<'END'
MFEM mesh v1.0

dimension
2

elements
8
END
for corner in "0 1 4 3" "1 2 5 4" "3 4 7 6" "4 5 8 7"; do
  for piece in 0 9; do echo "1 3 $(for i in $corner; do echo -n "$((i + piece)) "; done)"; done
done >>"$folder/pieces.mesh"
printf '\nboundary\n0\n\nvertices\n18\n2\n' >>"$folder/pieces.mesh"
for piece in 0 3; do
  for y in 0 1 2; do for x in 0 1 2; do echo "$((x + piece)) $y"; done; done
done >>"$folder/pieces.mesh"
same "nor those of several pieces" 2 nullspace,space,source "$folder/pieces.mesh" --source x*y --order 3 --refine 1 "${tight[@]}"

# precision SENTENCE SOLVER CYCLE ARGUMENTS...: what lines of two parts say
precision() {
  local sentence=$1 solver=$2 cycle=$3
  shift 3
  run box:4x4x4 --order 2 --exact sine --parts 2 "$@"
  [[ $status == 0 ]] && grep -q "^solver  *$solver, " "$folder/out" && grep -q "V(1,1)-cycle in $cycle, " "$folder/out"
  report $((1 - $?)) "$sentence"
}
if [[ ${#tight[@]} == 0 ]]; then # programs of float have float alone
  precision "cycles are in float below a flexible method" "flexible conjugate gradients, multigrid in single precision" FP32
  precision "as is asked for" "flexible conjugate gradients, multigrid in single precision" FP32 --precision f32
  precision "or in double" "conjugate gradients, multigrid" FP64 --precision f64
fi
if [[ ${#tight[@]} == 0 ]]; then
  same "parts agree that a contrast needs cycles in double" 1 note,space box:6x6x6 --order 2 --bc xmin=0 --source 1 --tol 1e-6 \
    --coefficient "1+1e11*((x-0.5)/sqrt((x-0.5)^2)+1)/2"
fi
same "nor do results of cycles in double depend on parts" 1 space,L2_error,H1_error \
  box:6x6x6 --order 3 --exact sine --precision f64 "${tight[@]}"

same "nor do bodies of revolution" 1 space,L2_error,H1_error \
  box:8x6 --axisymmetric --problem elasticity --order 3 --exact sine "${tight[@]}"
same "that are free along their axis alone" 1 space,nullspace,probe \
  box:8x6 --axisymmetric --problem elasticity --order 2 --force 0,1 --traction ymin=0,-1 --probe 0.3,0.6 "${tight[@]}"
run box:2x1 --parts 5 --exact sine --order 3 "${tight[@]}"
[[ $status == 0 ]] && grep -q '^parts  *5 threads' "$folder/out"
report $((1 - $?)) "parts may be empty"
run box:2x1 --parts 5 --bc xmin=0 --source 3 "${tight[@]}"
report $((status == 0)) "with sources, too"

run "$meshes/heat-sink.msh" --bc base=100 --flux fins=20 --parts 3 --output "$folder/sink.vtu" "${tight[@]}"
[[ $status == 0 && $(grep -c '<Piece Source="sink-[0-2].vtu"/>' "$folder/sink.pvtu") == 3 && ! -e $folder/sink.vtu ]] &&
  grep -q "^output  *$folder/sink.pvtu\$" "$folder/out" && grep -aq 'Name="part"' "$folder/sink-2.vtu" &&
  [[ $(ls "$folder"/sink*vtu | wc -l) == 4 ]]
report $((1 - $?)) "a file has a piece from each part and a list of them"

run box:4x4 --problem heat --time 1 --steps 2 --bc all=0 --parts 2 --output "$folder/heat.vtu" "${tight[@]}"
[[ $status == 0 && $(grep -c 'file="heat-000[0-2].pvtu"' "$folder/heat.pvd") == 3 && -e $folder/heat-0002-1.vtu ]]
report $((1 - $?)) "a series is one of lists of pieces"

# A machine of 16 processors is played. splits THREADS ARGUMENTS...: threads of each part.
splits() {
  local threads=$1
  shift
  LD_PRELOAD=$folder/played.so RITZ_TEST_PROCESSORS=16 ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}verify_asan_link_order=0 \
    run box:4x4x4 --exact sine "${tight[@]}" "$@"
  [[ $status == 0 ]] && grep -Eq "^backend .*, $threads threads?( each)?$" "$folder/out"
  report $((1 - $?)) "of 16 processors${OMP_NUM_THREADS:+, OMP_NUM_THREADS=$OMP_NUM_THREADS,} there are $threads a part with: $*"
}
if ${CC:-cc} -shared -fPIC -o "$folder/played.so" "$(dirname "$0")/played-machine/processors.c" 2>/dev/null && [[ $OSTYPE == linux* ]]; then
  splits 16
  splits 4 --parts 4
  splits 5 --parts 3
  splits 1 --parts 17
  splits 2 --parts 4 --threads 8
  splits 4 --parts 4 --threads 64
  splits 3 --parts 2 --ceed /cpu/self:threads=3
  OMP_NUM_THREADS=16 splits 1 --parts 16
  OMP_NUM_THREADS=6 splits 3 --parts 2
  OMP_NUM_THREADS=64 splits 16
  OMP_NUM_THREADS=none splits 8 --parts 2
  repeats() { # RESOURCE THREADS...: the same bits with all these numbers of threads, once the kernels are there
    local resource=$1 num sums
    shift
    sums=$(for num in "$1" "$@"; do
      LD_PRELOAD=$folder/played.so RITZ_TEST_PROCESSORS=16 ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}verify_asan_link_order=0 \
        run "$meshes/heat-sink.msh" --order 2 --bc base=100 --flux fins=20 --ceed "$resource:threads=$num" --save "$folder/bits" "${tight[@]}"
      cksum <"$folder/bits"
      rm "$folder/bits"
    done | tail -n +2 | sort -u | wc -l)
    [[ $sums == 1 ]]
    report $((1 - $?)) "the bits of $resource repeat with threads: $*"
  }
  repeats /cpu/self 3 3 3
  repeats /cpu/self:deterministic 1 3 16
else
  report 1 "parts share processors # SKIP none can be played"
fi

refuses() { # SENTENCE STATUS MESSAGE ARGUMENTS...: the message is told once, facts are not
  local sentence=$1 wanted=$2 message=$3
  shift 3
  run "$@"
  [[ $status == "$wanted" && $(grep -c "^ritz solve: " "$folder/err") == 1 ]] && grep -q "^ritz solve: $message" "$folder/err"
  report $((1 - $?)) "$sentence"
}
refuses "what only one part has is refused" 2 '--cycle: parts have multigrid with ' box:2 --bc all=0 --parts 2 --cycle w
refuses "so are smoothers" 2 '--smoother: parts have .* point-blocks, schwarz or patches' box:2 --bc all=0 --parts 2 --smoother overlapped
refuses "so are other preconditioners" 2 '--preconditioner: parts have ' box:2 --bc all=0 --parts 2 --preconditioner schwarz
refuses "so is algebraic multigrid of the coarsest level" 2 '--coarse: parts have ' box:2 --bc all=0 --parts 2 --coarse amg
refuses "parts and GPUs contradict each other" 2 '--gpus: contradicts --parts' box:2 --parts 2 --gpus 2
refuses "GPUs are CUDA's" 2 '--gpus: needs a backend below /gpu/cuda, found --ceed /cpu/self' box:2 --gpus 2 --ceed /cpu/self
refuses "GPUs have to be there" 2 '--gpus: expected at most as many as there are, [0-9]*, found 4096' box:2 --bc all=0 --gpus 4096
refuses "a mesh that is not there is told once" 1 '.*/nowhere.msh' /nowhere.msh --bc all=0 --parts 4
refuses "a boundary part that is not there, too" 2 '--bc: the mesh has no boundary part' box:4 --bc wall=0 --parts 4
refuses "a part that fails says why, and all end" 1 '--coefficient: expected positive values, found -' \
  box:8x8 --bc all=0 --coefficient '1-3*x*y*x*y' --parts 2 --order 1
refuses "a smoother that is not for these elements is told once" 1 '--smoother schwarz needs lines, quadrilaterals or hexahedra alone' \
  "$meshes/four-shapes.msh" --bc all=0 --smoother schwarz --parts 3
refuses "no convergence is told once" 1 'the iteration did not converge' box:8x8 --bc all=0 --source 1 --max-it 1 --jacobi --parts 3

echo "1..$number"
[[ $failed == 0 ]]
