#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# The `ritz` program as its users meet it: help, exit codes, exact messages, solves with known solutions, JSON.
# Run by ctest with the path of the program as argument (or in RITZ_PROGRAM); prints TAP.
# shellcheck source=tests/cli-kit.sh
source "$(dirname "$0")/cli-kit.sh"
# Absurd allocations have to fail as they do without a sanitizer.
export ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}allocator_may_return_null=1

# A cache of its own: nothing is found there, and the user's stays as it is. The machine is measured once.
export RITZ_CACHE_DIR=$folder/cache
unset RITZ_CACHE

# has SENTENCE PATTERN: a line of the output of the last run matches, and it went well.
has() {
  [[ $status == 0 ]] && grep -Eq -- "$2" "$folder/out"
  report $((1 - $?)) "$1"
}

# ---- The cache of kernels ----

prints "cache path names the folder" 0 out "^$RITZ_CACHE_DIR$" cache path
prints "a fresh cache is empty" 0 out "^0 kernels, 0.0 KiB in $RITZ_CACHE_DIR$" cache list
prints "an empty cache can be cleared" 0 out "^0 kernels removed from $RITZ_CACHE_DIR$" cache clear
refused=$RITZ_CACHE_DIR/0123456789abcdef0123456789abcdef01234567.refused
printf 'ritz-jit 1\nname flux\n' >"$refused"
prints "refused texts are listed" 0 out '^0123456789abcdef.* flux \(does not compile\)$' cache list
prints "refused texts are cleared" 0 out "^0 kernels and 1 refused text removed from $RITZ_CACHE_DIR$" cache clear
prints "and they are gone" 0 out "^0 kernels, 0.0 KiB in $RITZ_CACHE_DIR$" cache list
RITZ_CACHE=off prints "no cache is a failure with a reason" 1 err '^ritz cache: there is no cache: RITZ_CACHE=off$' cache path

# ---- Help and versions ----

prints "help is printed on request" 0 out '^usage: ritz COMMAND' --help
prints "without a command there is help on stderr" 2 err '^usage: ritz COMMAND'
prints "version names both versions" 0 out '^ritz [0-9]+\.[0-9]+\.[0-9]+ \(Ceed API [0-9]' --version
prints "solve has help" 0 out '^  --order P +polynomial degree' solve --help
prints "bench has help" 0 out '^  --size DOFS ' bench --help
prints "bench has other help for multigrid" 0 out '^  --solver LIST ' bench --multigrid --help
mkdir "$folder/alone" && cp "$ritz" "$folder/alone/ritz"
ritz=$folder/alone/ritz prints "benchmarks are a program of their own, which has to be there" 1 err \
  "^ritz bench: cannot run '.*/alone/ritz.*-bench': No such file" bench --bp 1
prints "explain has help" 0 out '^  --source ' explain --help
prints "cache has help" 0 out '^usage: ritz cache list' cache --help
prints "info has help" 0 out '^usage: ritz info' info --help
prints "help wins over missing arguments" 0 out '^usage: ritz solve MESH' solve --order 3 --help
prints "info lists the reference backend" 0 out '/cpu/self/ref +usable' info
prints "info knows the processor" 0 out '^processor +[^ ]' info
prints "info speaks about GPU backends" 0 out '^ +/gpu/cuda/shared +(usable|not usable: .)' info
prints "info tells which devices there are, or why none" 0 out '^devices +cuda +(0 .|none: .)' info

run info
sed -n '/^measured/,$p' "$folder/out" >"$folder/measured"
run info
[[ $(wc -l <"$folder/measured") -ge 4 && $(sed -n '/^measured/,$p' "$folder/out") == "$(cat "$folder/measured")" ]]
report $((1 - $?)) "info measures the machine once"
run info --measure
[[ $status == 0 && $(sed -n '/^measured/,$p' "$folder/out") != "$(cat "$folder/measured")" ]]
report $((1 - $?)) "info measures again when told so"
prints "info shows compiler" 0 out '^compiler +[^ ]' info
prints "info shows the cache of kernels" 0 out "^cache +$RITZ_CACHE_DIR, 0 kernels$" info
run --help
for command in solve bench 'bench --multigrid' 'bench --batched' 'bench --routes' explain info cache tune; do "$ritz" $command --help >>"$folder/out"; done
awk 'length > 105 { exit 1 }' "$folder/out"
report $((1 - $?)) "no line of the help texts is too long"

# ---- Wrong usage: exit code 2 and the exact message ----

wrong "unknown command with a suggestion" "ritz: unknown command 'sovle' (did you mean solve?)" sovle
wrong "unknown command without a suggestion" "ritz: unknown command 'xyzzy'" xyzzy
wrong "unknown option of the program" "ritz: unknown option '--frobnicate'" --frobnicate
wrong "missing mesh" "ritz solve: MESH is missing" solve
wrong "two meshes" "ritz solve: unexpected argument 'box:3'" solve box:2 box:3
wrong "unknown option with a suggestion" "ritz solve: unknown option '--ordr' (did you mean --order?)" solve box:2 --ordr 3
wrong "unknown option with a value" "ritz solve: unknown option '--oder' (did you mean --order?)" solve box:2 --oder=3
wrong "unknown option without a suggestion" "ritz solve: unknown option '--elephants'" solve box:2 --elephants
wrong "order that is no number" "ritz solve: --order: expected an integer >= 1, found 'x'" solve box:2 --order x
wrong "order with a fraction" "ritz solve: --order: expected an integer >= 1, found '2.5'" solve box:2 --order 2.5
wrong "order zero" "ritz solve: --order: expected an integer >= 1, found '0'" solve box:2 --order=0
wrong "negative order" "ritz solve: --order: expected an integer >= 1, found '-1'" solve box:2 --order -1
wrong "order without value" "ritz solve: --order: expected an integer >= 1, found nothing" solve box:2 --order
wrong "order with an empty value" "ritz solve: --order: expected an integer >= 1, found ''" solve box:2 --order=
wrong "order beyond all integers" "ritz solve: --order: expected an integer from 1 to 2147483647, found '99999999999999999999'" \
  solve box:2 --order 99999999999999999999
wrong "order beyond all use" "ritz solve: --order: expected at most 1000, found 100000000" solve box:2 --order 100000000
wrong "a polynomial beyond all use" "ritz solve: --degree: expected an integer from 1 to 100000, found '2147483647'" \
  solve box:2 --exact sine --degree 2147483647
wrong "negative refinement" "ritz solve: --refine: expected an integer >= 0, found '-1'" solve box:2 --refine -1
wrong "unknown problem" "ritz solve: --problem: expected poisson, mass, helmholtz, heat, elasticity or hyperelasticity, found 'stokes'" solve box:2 --problem stokes
wrong "tolerance that is no number" "ritz solve: --tol: expected a number >= 0, found 'abc'" solve box:2 --tol abc
wrong "tolerance that is not finite" "ritz solve: --tol: expected a number >= 0, found 'inf'" solve box:2 --tol inf
wrong "tolerance in hexadecimal" "ritz solve: --tol: expected a number >= 0, found '0x1'" solve box:2 --tol 0x1
wrong "unknown exact solution" "ritz solve: --exact: expected sine, found 'cosine'" solve box:2 --exact cosine
wrong "exact solution and a source" "ritz solve: --exact: sets the source and all values itself, leave out --source" \
  solve box:2 --exact sine --source 1
wrong "exact solution and values" "ritz solve: --exact: sets the source and all values itself, leave out --bc" \
  solve box:2 --exact sine --bc all=0
wrong "flag with a value" "ritz solve: --jacobi: takes no value" solve box:2 --jacobi=1
wrong "contradicting flags" "ritz solve: --jacobi: contradicts --no-jacobi" solve box:2 --jacobi --no-jacobi
wrong "output that is no VTU" "ritz solve: --output: expected a file name that ends in .vtu, found 'a.png'" \
  solve box:2 --output a.png
for box in box: box:0 box:-1 box:2x box:x2 box:2x2x2x2 box:2.5 box:99999999999 'box:2 x2'; do
  wrong "malformed box '$box'" "ritz solve: MESH: expected box:N, box:NxN or box:NxNxN with integers N >= 1, found '$box'" \
    solve "$box" --exact sine
done
wrong "boundary value without name" "ritz solve: --bc: expected NAME=EXPR such as base=100, found '=3'" solve box:2 --bc =3
wrong "boundary value without formula" "ritz solve: --bc: expected NAME=EXPR such as base=100, found 'xmin'" solve box:2 --bc xmin
wrong "unknown boundary part" "ritz solve: --bc: the mesh has no boundary part 'xmni'; its parts are: xmin, xmax, ymin, ymax, all" \
  solve box:2x2 --bc xmni=0
wrong "coordinate that is not there" "ritz solve: --bc: 'z' is used, but the mesh has only 2 coordinates" solve box:2x2 --bc all=z
wrong "unknown region" "ritz solve: --coefficient: the mesh has no region 'copper'; its regions are: aluminium" \
  solve "$(dirname "$0")/../examples/meshes/heat-sink.msh" --coefficient copper=2
wrong "region without formula" "ritz solve: --source: expected EXPR or REGION=EXPR such as x*y, found '=3'" solve box:2 --source =3
wrong "coefficient that is not positive" "ritz solve: --coefficient: expected a positive value, found '-2'" solve box:2 --coefficient=-2
wrong "coefficient of a problem that has none" "ritz solve: --coefficient: only for poisson, helmholtz and heat, not for mass" \
  solve box:2 --problem mass --coefficient 2
wrong "force on a temperature" "ritz solve: --force: only for elasticity and hyperelasticity, not for poisson" solve box:2x2 --force 0,1
wrong "source of an elastic body" "ritz solve: --source: only for poisson, mass, helmholtz and heat, not for elasticity" \
  solve box:2x2 --problem elasticity --source 1
wrong "formulas for too few directions" "ritz solve: --force: expected 2 formulas such as 0,-1, one for each direction, found '1'" \
  solve box:2x2 --problem elasticity --force 1
wrong "formulas for too many directions" "ritz solve: --traction: expected at most 3 formulas such as 0,0,-1, found '1,2,3,4'" \
  solve box:2x2 --problem elasticity --traction xmin=1,2,3,4
wrong "formula of a direction with a fault" "ritz solve: --bc: column 4: unknown name 'q' (known are x y z t nx ny nz u pi, and functions, see --help)" \
  solve box:2x2 --problem elasticity --bc 'all=0, q'
wrong "direction that the mesh has not" \
  "ritz solve: --fixed: the mesh has no boundary part 'xmin.z'; its parts are: xmin, xmax, ymin, ymax, all" \
  solve box:2x2 --problem elasticity --fixed xmin.z
wrong "elastic line" "ritz solve: --problem: elasticity needs a mesh that fills the plane or space, this one has 1D elements in 1D" \
  solve box:2 --problem elasticity
wrong "modulus that varies" "ritz solve: --young: expected a constant, found 'x'" solve box:2x2 --problem elasticity --young x
wrong "body that cannot be compressed" "ritz solve: --poisson: expected a value between -1 and 0.5, found '0.5'" \
  solve box:2x2 --problem elasticity --poisson 0.5
wrong "time that does not pass" "ritz solve: --source: 't' is used, but the problem does not depend on time" solve box:2 --source t
wrong "coefficient that changes in time" "ritz solve: --capacity: 't' is used, but this does not depend on time" \
  solve box:2 --problem heat --time 1 --capacity 1+t
wrong "heat without end" "ritz solve: --time: heat needs the time to reach, such as --time 1 (a steady state is poisson)" \
  solve box:2 --problem heat
wrong "steps without time" "ritz solve: --steps: only with --problem heat" solve box:2 --steps 3
wrong "initial values with a name" "ritz solve: --initial: expected EXPR such as 20, found 'a=1'" solve box:2 --problem heat --time 1 --initial a=1
nothing="ritz solve: nothing to solve: f = 0 without values or fluxes has the solution u = 0; give"
flux_or_sine="values (--bc NAME=1) or a flux (--flux NAME=1), or --exact sine"
wrong "nothing to solve" "$nothing a source (--source 1), $flux_or_sine" solve box:2x2 --order 4 --coefficient 2
wrong "nothing to project" "$nothing a source (--source 1) or values (--bc NAME=1), or --exact sine" solve box:2x2 --problem mass
wrong "nothing that reacts" "$nothing a source (--source 1), $flux_or_sine" solve box:2x2 --problem helmholtz
wrong "nothing that cools" "$nothing values at time 0 (--initial 1), a source (--source 1), $flux_or_sine" \
  solve box:2x2 --problem heat --time 1
wrong "a body without load" "$nothing a force (--force), a traction (--traction) or displacements (--bc), or --exact sine" \
  solve box:2x2 --problem elasticity --fixed xmin
wrong "unknown method" \
  "ritz solve: --solver: expected cg, fcg, minres, gmres, fgmres, chebyshev or richardson, found 'bicg'" solve box:2 --solver bicg
wrong "unknown preconditioner" \
  "ritz solve: --preconditioner: expected none, jacobi, point-jacobi, chebyshev, schwarz or multigrid, found 'ilu'" \
  solve box:2 --preconditioner ilu
wrong "levels without multigrid" "ritz solve: --levels: only with --preconditioner multigrid" solve box:2 --jacobi --levels p
wrong "flag and option contradict" "ritz solve: --jacobi: contradicts --preconditioner" solve box:2 --jacobi --preconditioner multigrid
wrong "exact solution and a coefficient" "ritz solve: --exact: sets the source and all values itself, leave out --coefficient" \
  solve box:2 --exact sine --coefficient 2
wrong "unknown backend" "ritz solve: --ceed: cannot use '/cpu/elf': there is no such backend" solve box:2 --exact sine --ceed /cpu/elf
wrong "bake-off problem that does not exist" \
  "ritz bench: --bp: expected integers from 1 to 6 such as 1,2,4 or 1-4, or all, found '7'" bench --bp 7
wrong "list with a hole" "ritz bench: --order: expected integers >= 1 such as 1,2,4 or 1-4, found '1,,2'" bench --order 1,,2
wrong "range that runs backwards" "ritz bench: --order: expected integers >= 1 such as 1,2,4 or 1-4, found '4-1'" bench --order 4-1
wrong "absurd range" "ritz bench: --order: expected integers >= 1 such as 1,2,4 or 1-4, found '1-2000000000'" bench --order 1-2000000000
wrong "size with a fraction" "ritz bench: --size: expected a number >= 1 such as 100000 or 1e5, found '1.5'" bench --size 1.5
wrong "size beyond CeedInt" "ritz bench: --size: expected at most 2147483647 DOFs, found 1e+12" bench --size 1e12
wrong "size and elements" "ritz bench: --n: contradicts --size" bench --size 100 --n 3
wrong "elements for other degrees" "ritz bench: --n: expected 1 or 3 numbers, one for each degree, found 2" \
  bench --order 1-3 --n 4,5
wrong "problem that tetrahedra do not have" "ritz bench: --bp: of other shapes than hex expected 1 to 4, found 5" bench --shape tet --bp 1,5
wrong "several vectors and cg" "ritz bench: --rhs: contradicts --cg" bench --rhs 2 --cg
wrong "several vectors of the other benchmark" "ritz bench: --rhs: contradicts --nekbone" bench --nekbone --rhs 2
wrong "too many numbers of vectors" "ritz bench: --rhs: expected at most 8 numbers, found 9" bench --rhs 1-9
wrong "apply and cg" "ritz bench: --apply: contradicts --cg" bench --apply --cg
wrong "unknown policy" \
  "ritz bench: --policy: expected auto, stored, affine, trilinear, partial, merged or isoparametric, or several such as auto,stored, found 'all'" \
  bench --policy all
wrong "list of policies with a hole" \
  "ritz bench: --policy: expected auto, stored, affine, trilinear, partial, merged or isoparametric, or several such as auto,stored, found 'stored,'" \
  bench --policy stored,
wrong "policy that the bake-off problems do not have" "ritz bench: --policy: merged only with --nekbone" bench --policy stored,merged
wrong "affine elements that are deformed" "ritz bench: --policy: affine contradicts --deform" bench --policy affine --deform 0.1
wrong "variant of no conjugate gradients" "ritz bench: --cg-variant: only with --nekbone or --cg" bench --cg-variant merged
wrong "both variants of one row" "ritz bench: --cg-variant: both only with --nekbone" bench --cg --cg-variant both
wrong "option of the other benchmark" "ritz bench: --jacobi: only with --nekbone" bench --jacobi
wrong "another option of the other benchmark" "ritz bench: --max-it: only with --nekbone" bench --max-it 3
wrong "bake-off problems and nekbone" "ritz bench: --bp: contradicts --nekbone" bench --nekbone --bp 3
wrong "nekbone without coefficient" "ritz bench: --lambda: expected a number > 0, found '0'" bench --nekbone --lambda 0
wrong "affine elements of the deformed mesh" "ritz bench: --policy: affine contradicts --mesh deformed" \
  bench --nekbone --mesh deformed --policy affine
wrong "unknown variant" "ritz bench: --cg-variant: expected standard, merged, auto or both, found 'fast'" \
  bench --nekbone --cg-variant fast
wrong "too many components" "ritz bench: --components: expected integers from 1 to 3 such as 1,2,4 or 1-4, or all, found '4'" \
  bench --nekbone --components 4
wrong "precision of the other benchmark" "ritz bench: --precision: contradicts --nekbone" bench --nekbone --precision f32
wrong "smoother that does not exist" "ritz bench --multigrid: --smoother: expected patches, patches-residual, patches-boundary, \
coloured, additive, cells, overlapped or jacobi, or several such as patches,patches-residual, found 'sor'" bench --multigrid --smoother sor
wrong "cells and size of multigrid" "ritz bench --multigrid: --cells: contradicts --size" bench --multigrid --cells 4 --size 100
wrong "multigrid without a tolerance" "ritz bench --multigrid: --tol: expected a number > 0, found '0'" bench --multigrid --tol 0
wrong "option of the bake-off problems" "ritz bench --multigrid: unknown option '--bp' (did you mean --help?)" bench --bp 3 --multigrid
wrong "plot of multigrid that is no SVG" \
  "ritz bench --multigrid: --plot: expected a file name that ends in .svg, found 'a.png'" bench --multigrid --plot a.png
wrong "routine that does not exist" "ritz bench --batched: --routines: expected names between commas, of gemm, gemv, potrf, potrs, getrf, \
getrfnp, getrs, getri, inv, trsm, trsv, syrk, symm, symv, trmm, gesv, posv, laswp, geqrf, ormqr, orgqr, gels, syevj, gesvdj, copy, geam, \
laset, found 'gemm,lu'" bench --batched --routines gemm,lu
wrong "layout that does not exist" "ritz bench --batched: --layout: expected strided, interleaved, pointers or nonuniform, or several such \
as strided,interleaved, found 'rows'" bench --batched --layout rows
wrong "plot that is no SVG" "ritz bench: --plot: expected a file name that ends in .svg, found 'a.png'" bench --plot a.png
wrong "no threads" "ritz bench: --threads: expected an integer >= 1, found '0'" bench --threads 0
wrong "threads of a GPU" "ritz bench: --threads: only for backends below /cpu/self, not for '/gpu/cuda'" \
  bench --threads 2 --ceed /gpu/cuda
wrong "threads named twice" "ritz bench: --threads: contradicts --ceed '/cpu/self:threads=1'" \
  bench --threads 2 --ceed /cpu/self:threads=1
wrong "cache without action" "ritz cache: list|clear|path|warm is missing" cache
wrong "unknown action" "ritz cache: expected list, clear, path or warm, found 'heat'" cache heat
wrong "problems of an action that takes none" "ritz cache: --bp: only for warm" cache list --bp 1
wrong "degrees of an action that takes none" "ritz cache: --order: only for warm" cache clear --order 1
wrong "backend of an action that takes none" "ritz cache: --ceed: only for warm" cache path --ceed /cpu/self
wrong "kernels of a problem that does not exist" \
  "ritz cache: --bp: expected integers from 1 to 6 such as 1,2,4 or 1-4, or all, found '0'" cache warm --bp 0
wrong "kernels of an unknown backend" "ritz cache: --ceed: cannot use '/cpu/elf': there is no such backend" \
  cache warm --ceed /cpu/elf
wrong "tuning a problem that does not exist" \
  "ritz tune: --bp: expected integers from 1 to 6 such as 1,2,4 or 1-4, or all, found '7'" tune --bp 7
wrong "explain without a problem" "ritz explain: --bp is missing" explain --order 2
wrong "explain without a degree" "ritz explain: --order is missing" explain --bp 3
wrong "explanation of a problem that does not exist" \
  "ritz explain: --bp: expected an integer from 1 to 6, found '7'" explain --bp 7 --order 2
wrong "explanation of too many DOFs" "ritz explain: --size: expected at most 2147483647 DOFs, found 1e+12" \
  explain --bp 3 --order 2 --size 1e12
wrong "explanation with threads named twice" "ritz explain: --threads: contradicts --ceed '/cpu/self:threads=1'" \
  explain --bp 3 --order 2 --threads 2 --ceed /cpu/self:threads=1
wrong "argument of explain" "ritz explain: unexpected argument 'bp3'" explain bp3 --order 2
prints "argument of info that is no mesh" 1 err '^ritz info: foo: cannot be opened: ' info foo
wrong "control characters are not echoed" "ritz solve: --order: expected an integer >= 1, found '?[31mx'" solve box:2 --order $'\e[31mx'

# ---- Failures: exit code 1 ----

prints "missing file" 1 err '^ritz solve: .*nowhere\.msh: ' solve "$folder/nowhere.msh" --bc all=0
printf 'not a mesh\n' >"$folder/bad.msh"
prints "file that is no mesh" 1 err "^ritz solve: $folder/bad.msh:1: " solve "$folder/bad.msh" --bc all=0
# shellcheck disable=SC2016 # the dollar signs belong to the file
printf '$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$Nodes\n1 2\n' >"$folder/short.msh"
prints "truncated mesh" 1 err "^ritz solve: $folder/short.msh:[0-9]+: " solve "$folder/short.msh" --bc all=0
: >"$folder/empty.msh"
prints "empty mesh" 1 err "^ritz solve: $folder/empty.msh" solve "$folder/empty.msh" --bc all=0
prints "mesh that is too large" 1 err '^ritz solve: ' solve box:100000x100000x100000 --exact sine
prints "device that there is not" 1 err "cannot use '/gpu/cuda:device_id=9999'" \
  solve box:2 --exact sine --ceed /gpu/cuda:device_id=9999

# unwritable SENTENCE MESSAGE ARGUMENTS...: refused before anything is computed or told, and no file is made.
unwritable() {
  local sentence=$1 message=$2 ok=0
  shift 2
  find "$folder" | sort >"$folder/../files-before.$$"
  run "$@"
  find "$folder" | sort >"$folder/../files-after.$$"
  if [[ $status == 1 && ! -s $folder/out ]] && cmp -s "$folder/../files-before.$$" "$folder/../files-after.$$" &&
    [[ $(head -1 "$folder/err") == "$message" ]]; then ok=1; fi
  if [[ $ok == 0 ]]; then echo "# wanted: $message"; echo "# found $status and: $(head -1 "$folder/err")"; fi
  rm -f "$folder/../files-before.$$" "$folder/../files-after.$$"
  report $ok "$sentence"
}
here=$PWD
cd "$folder" || exit 2
mkdir folder.vtu folder.svg
echo kept >kept
missing="there is no folder 'nowhere'"
unwritable "output below a folder that is not there" "ritz solve: --output: cannot write 'nowhere/u.vtu': $missing" \
  solve box:2 --exact sine --jacobi --output nowhere/u.vtu
unwritable "output of parts" "ritz solve: --output: cannot write 'nowhere/u.pvtu': $missing" \
  solve box:2x2 --exact sine --jacobi --parts 2 --output nowhere/u.vtu
unwritable "output of time steps" "ritz solve: --output: cannot write 'nowhere/u.pvd': $missing" \
  solve box:2 --problem heat --time 1 --exact sine --jacobi --output nowhere/u.vtu
unwritable "output below a file" "ritz solve: --output: cannot write 'kept/u.vtu': Not a directory" \
  solve box:2 --exact sine --jacobi --output kept/u.vtu
unwritable "output that is a folder" "ritz solve: --output: cannot write 'folder.vtu': it is a folder" \
  solve box:2 --exact sine --jacobi --output folder.vtu
for kind in "" --multigrid --batched; do
  # shellcheck disable=SC2086 # no word where it is empty
  unwritable "results of bench $kind below a folder that is not there" \
    "ritz bench${kind:+ $kind}: --json: cannot write 'nowhere/a.json': $missing" bench $kind --json nowhere/a.json
  # shellcheck disable=SC2086
  unwritable "a plot of bench $kind that is a folder" "ritz bench${kind:+ $kind}: --plot: cannot write 'folder.svg': it is a folder" \
    bench $kind --json kept --plot folder.svg
done
[[ $(cat kept) == kept ]]
report $((1 - $?)) "results from before stay when others cannot be written"
RITZ_PROFILE=nowhere/p unwritable "a table of times below a folder that is not there" \
  "ritz solve: RITZ_PROFILE: cannot write 'nowhere/p': $missing" solve box:2 --exact sine
RITZ_DUMP=kept/dump unwritable "texts below a file" "ritz bench: RITZ_DUMP: cannot write 'kept/dump': Not a directory" bench --bp 1 --order 1
rm -r folder.vtu folder.svg
cd "$here" || exit 2

prints "iteration that does not converge" 1 err '^ritz solve: the iteration did not converge' \
  solve box:9x9 --bc all=0 --source 'x*y' --max-it 2 --jacobi
prints "coefficient that is negative somewhere" 1 err '^ritz solve: --coefficient: expected positive values, found -' \
  solve box:2x2 --bc all=0 --coefficient x-0.5
prints "deformation that inverts elements" 1 err '^ritz bench: deformation 3 inverts element' \
  bench --bp 1 --order 1 --size 500 --deform 3
if [[ -w /dev/full ]]; then
  "$ritz" info >/dev/full 2>"$folder/err"
  [[ $? == 1 ]] && grep -q 'cannot write to standard output' "$folder/err"
  report $((1 - $?)) "a full disk is noticed"
fi

# ---- Solves ----

# fact LABEL: the first word of the fact in the output of the last run.
fact() { sed -n "s/^$1  *\([^ ]*\).*/\1/p" "$folder/out" | head -1; }

prints "facts of mesh and space" 0 out '^space +degree 3, 343 unknowns, 125 free' solve box:2x2x2 --exact sine --order 3 --jacobi
prints "progress goes to stderr in plain lines" 0 err '^  iteration +0  \|r\| ' solve box:2x2x2 --exact sine --order 3 --jacobi
# periodic PERIOD: a square of 3x3 elements whose opposite sides are the same, as MFEM writes it.
periodic() {
  printf 'MFEM mesh v1.0\n\ndimension\n2\n\nelements\n9\n'
  for j in 0 1 2; do
    for i in 0 1 2; do echo "1 3 $((3 * j + i)) $((3 * j + (i + 1) % 3)) $((3 * ((j + 1) % 3) + (i + 1) % 3)) $((3 * ((j + 1) % 3) + i))"; done
  done
  printf '\nboundary\n0\n\nvertices\n9\n\nnodes\nFiniteElementSpace\nFiniteElementCollection: L2_T1_2D_P1\nVDim: 2\nOrdering: 1\n\n'
  for j in 0 1 2; do
    for i in 0 1 2; do
      awk -v i=$i -v j=$j -v p="$1" 'BEGIN { for (b = 0; b < 2; b++) for (a = 0; a < 2; a++) printf "%.17g %.17g\n", p * (i + a) / 3, p * (j + b) / 3 }'
    done
  done
}
periodic 2 >"$folder/periodic-2.mesh"
periodic 1 >"$folder/periodic-1.mesh"
prints "the sine on a mesh of its period" 0 out '^L2 error +[0-9.]+e-0[2-9]' solve "$folder/periodic-2.mesh" --exact sine --order 4 --jacobi
prints "the sine on a mesh of another period" 1 err \
  '^ritz solve: --exact: the mesh is periodic by \(0, 1, 0\), sin\(pi x_d\) needs a period of 2$' \
  solve "$folder/periodic-1.mesh" --exact sine --order 4 --jacobi
prints "a source on a periodic mesh that does not add up to zero" 0 out 'source and flux do not add up to zero' \
  solve "$folder/periodic-1.mesh" --source 1 --order 2 --jacobi
prints "a value may be a formula" 0 out "^values +u = 1\+x on xmin" solve box:3x3 --bc xmin=1+x --bc ymin=2 --jacobi
prints "surfaces of constant value need no iteration" 0 out '^iterations +0,' solve box:3x3 --bc all=0 --jacobi

# Halving the elements divides the L2 error by 2^(p+1) and the H1 error by 2^p; 25 % for coarse meshes.
for problem in poisson helmholtz mass; do
  for p in 1 2 3; do
    run solve box:4x4 --problem $problem --exact sine --order $p --jacobi
    coarse=$status l2=$(fact 'L2 error') h1=$(fact 'H1 error')
    run solve box:4x4 --problem $problem --exact sine --order $p --refine 1 --jacobi
    awk -v p=$p -v a="$l2" -v b="$(fact 'L2 error')" -v c="$h1" -v d="$(fact 'H1 error')" \
      'BEGIN { exit !(a > 0 && b > 0 && a / b > 0.75 * 2 ^ (p + 1) && a / b < 1.25 * 2 ^ (p + 1) && c / d > 0.75 * 2 ^ p && c / d < 1.25 * 2 ^ p) }'
    report $((1 - ($? || coarse || status))) "errors of $problem in degree $p have their order"
  done
done

# Elements of other shapes: errors fall with the degree, iterations reach the tolerance.
cat >"$folder/tets.mesh" <<'END'
MFEM mesh v1.0
dimension
3
elements
6
1 4 0 1 3 7
1 4 0 3 2 7
1 4 0 2 6 7
1 4 0 6 4 7
1 4 0 4 5 7
1 4 0 5 1 7
boundary
0
vertices
8
3
0 0 0  1 0 0  0 1 0  1 1 0  0 0 1  1 0 1  0 1 1  1 1 1
END
cat >"$folder/plane.mesh" <<'END'
MFEM mesh v1.0
dimension
2
elements
3
1 3 0 1 4 3
1 2 1 2 5
1 2 1 5 4
boundary
0
vertices
6
2
0 0  1 0  2 0  0 1  1 1  2 1
END
shapes=$(dirname "$0")/../examples/meshes/four-shapes.msh
for mesh in "$folder/tets.mesh" "$folder/plane.mesh" "$shapes"; do
  last=1 ok=1 level=1
  [[ $mesh == "$shapes" ]] && level=0
  for p in 1 2 3 4; do
    run solve "$mesh" --exact sine --order $p --refine "$level" --ceed /cpu/self/ref --jacobi
    [[ $status == 0 ]] && awk -v a="$last" -v b="$(fact 'L2 error')" 'BEGIN { exit !(b > 0 && b < a / 2.5) }' || ok=0
    last=$(fact 'L2 error')
  done
  report $ok "errors on $(basename "$mesh") fall with the degree"
done
prints "elements are counted by shape" 0 out '^elements +101 tetrahedra, 4 pyramids, 28 prisms, 8 hexahedra, 90 vertices' \
  solve "$shapes" --bc left=1 --order 2 --output "$folder/shapes.vtu" --ceed /cpu/self/ref --jacobi
has "the quadrature of shapes without directions is told" '^space +.*, quadrature exact to degree 5$'
# iterations CEED: number and first residual on triangles and quadrilaterals together, to what single precision resolves.
iterations() {
  run solve "$folder/plane.mesh" --bc 'all=x*y^2' --order 3 --refine 1 --ceed "$1" --jacobi --tol 1e-5
  sed -n 's/^iterations *\([0-9]*\), residual \([^ ]*\) .*/\1 \2/p' "$folder/out"
}
echo "$(iterations /cpu/self/ref) $(iterations /cpu/self/gen)" |
  awk '{ exit !($1 > 10 && ($1 - $3) ^ 2 < 5 && $2 > 0 && ($2 / $4 - 1) ^ 2 < 1e-6) }'
report $((1 - $?)) "generated kernels do the same on triangles and quadrilaterals together"

# Solutions in the space are found: u = x^2 - y^2 has no source, and the degree is 2.
run solve box:3x3 --order 2 --bc 'all=x^2-y^2' --tol 1e-13 --output "$folder/u.vtu" --jacobi
[[ $status == 0 && -s $folder/u.vtu ]] && grep -q 'VTKFile' "$folder/u.vtu"
report $((1 - $?)) "the solution is written"
prints "the preconditioner can be left out" 0 out '^solver +conjugate gradients, no preconditioner,' \
  solve box:3x3 --exact sine --no-jacobi
prints "options may have an equals sign" 0 out '^space +degree 4' solve --order=4 --exact=sine --jacobi box:2
env LC_ALL=de_DE.UTF-8 "$ritz" solve box:4 --problem helmholtz --lambda 2.5 --exact sine --jacobi >"$folder/out" 2>"$folder/err" &&
  grep -q 'grad u + 2.5 u' "$folder/out"
report $((1 - $?)) "numbers have a point in every locale"

# ---- Methods ----

run solve box:2x2x2 --order 2 --exact sine
has "multigrid is what is taken, in single precision below a flexible method" \
  '^solver +(flexible conjugate gradients, multigrid in single precision|conjugate gradients, multigrid), '
has "levels are shown" '^levels +multigrid: V'
has "set-up and solve have their times" '^set-up +[0-9.]+ s$'
awk -v n="$(fact iterations)" 'BEGIN { exit !(n + 0 >= 1 && n + 0 <= 12) }'
report $((1 - $?)) "multigrid takes few iterations"
l2=$(fact 'L2 error')
for method in '--solver minres --preconditioner jacobi' '--solver gmres --preconditioner chebyshev' '--solver chebyshev --preconditioner jacobi'; do
  # shellcheck disable=SC2086 # several words
  run solve box:2x2x2 --order 2 --exact sine --tol 1e-6 $method
  awk -v a="$l2" -v b="$(fact 'L2 error')" 'BEGIN { exit !(a > 0 && (a / b - 1) ^ 2 < 1e-6) }'
  report $((1 - ($? || status))) "$method finds the same"
done

RITZ_STRICT=1 prints "multigrid for elasticity leaves nothing to other backends" 0 out '^result +converged' \
  solve box:2x2 --problem elasticity --order 2 --fixed xmin --force 0,-1 --tol 1e-5

# ---- Neumann data, coefficients, elasticity, heat: on the reference backend, which compiles nothing ----

small=(--ceed /cpu/self/ref --jacobi --tol 1e-12)
singular=(--ceed /cpu/self/ref --jacobi --tol 1e-5)
# u = x^2 fulfils -div(k grad u) = -2 k, with k du/dn = 2 k on x = 1; up to a constant.
run solve box:2x2 --order 2 --flux xmax=6 --coefficient 3 --source=-6 "${singular[@]}"
has "without values there are constants, which is told" '^nullspace +constants: '
! grep -q 'do not add up' "$folder/out"
report $((1 - $?)) "source and flux that are in balance are left alone"
prints "others are brought into balance" 0 out 'do not add up to zero: a constant source of -1 is added$' \
  solve box:2x2 --order 2 --flux xmax=1 "${singular[@]}"
prints "Helmholtz' problem without lambda is Poisson's" 0 out '^nullspace +constants: ' \
  solve box:2x2 --problem helmholtz --lambda 0 --source x "${singular[@]}"

# Two squares apart: u = x on the first, held at both ends; the second has no values: u = y^2 / 2 - 1/6, of mean zero.
cat >"$folder/apart.mesh" <<'END'
MFEM mesh v1.0
dimension
2
elements
2
1 3 0 1 2 3
2 3 4 5 6 7
boundary
8
1 1 3 0
2 1 1 2
3 1 0 1
3 1 2 3
4 1 4 5
5 1 6 7
6 1 5 6
6 1 7 4
vertices
8
2
0 0  1 0  1 1  0 1
2 0  3 0  3 1  2 1
END
for method in "--jacobi" "--preconditioner multigrid --levels hp --refine 1" "--preconditioner multigrid --levels p --coarse cg"; do
  # shellcheck disable=SC2086 # several words
  run solve "$folder/apart.mesh" --order 2 --bc 1=0 --bc 2=1 --source 2=-1 --flux 5=1 --ceed /cpu/self/ref --tol 1e-5 $method \
    --output "$folder/apart.vtu"
  has "a piece without values is found, $method" "^nullspace +constants: on 1 of the mesh's 2 pieces no value is given"
  ! grep -q 'do not add up' "$folder/out"
  report $((1 - $?)) "loads in balance there are left alone"
  command -v python3 >/dev/null || continue
  python3 - "$folder/apart.vtu" <<'END' 2>"$folder/err"
import struct, sys, zlib
text = open(sys.argv[1], "rb").read()
data = text[text.index(b'encoding="raw">'):].split(b"_", 1)[1] # the first array is u
if b"compressor=" in text:
    data = zlib.decompress(data[32:32 + struct.unpack("<4Q", data[:32])[3]])
else:
    data = data[8:8 + struct.unpack("<Q", data[:8])[0]]
u = struct.unpack("<%dd" % (len(data) // 8), data)
assert abs(min(u) + 1 / 6) < 1e-4 and abs(max(u) - 1) < 1e-4, u
END
  report $((1 - $?)) "both are solved, the free one with mean zero"
done
prints "none has values" 0 out "^nullspace +constants: on 2 of the mesh's 2 pieces" \
  solve "$folder/apart.mesh" --flux 1=-1 --flux 5=2 "${singular[@]}"
[[ $(grep -c 'a constant source of .* is added in the piece about' "$folder/out") == 2 ]]
report $((1 - $?)) "each is brought into balance"
# The second is pulled at two ends and becomes longer by 1, without Poisson's effect: u = (0, y - 1/2).
run solve "$folder/apart.mesh" --problem elasticity --poisson 0 --fixed 1 --traction 5=0,1 --traction 4=0,-1 "${singular[@]}" \
  --output "$folder/apart.vtu"
has "one of two bodies is free" '^nullspace +3 rigid body motions that no face holds'
has "which is stretched, and goes nowhere" '^displaced +[|]u[|] = 0\.(5|5000[0-9]*|4999[0-9]*) at most$'

for problem in elasticity heat; do
  extra=()
  [[ $problem == heat ]] && extra=(--time 0.001 --steps 2)
  run solve box:4x4 --problem $problem --exact sine --order 2 "${small[@]}" "${extra[@]}"
  coarse=$status l2=$(fact 'L2 error') h1=$(fact 'H1 error')
  run solve box:4x4 --problem $problem --exact sine --order 2 --refine 1 "${small[@]}" "${extra[@]}"
  awk -v a="$l2" -v b="$(fact 'L2 error')" -v c="$h1" -v d="$(fact 'H1 error')" \
    'BEGIN { exit !(a > 0 && b > 0 && a / b > 6 && a / b < 10 && c / d > 3 && c / d < 5) }'
  report $((1 - ($? || coarse || status))) "errors of $problem have their order in space"
done

# On a fine space the error is that of time: half the step divides it by 2 and by 4.
for method in implicit-euler,2 bdf2,4; do
  run solve box:2 --problem heat --exact sine --order 8 --time 1 --steps 10 --method ${method%,*} "${small[@]}"
  coarse=$status l2=$(fact 'L2 error')
  run solve box:2 --problem heat --exact sine --order 8 --time 1 --steps 20 --method ${method%,*} "${small[@]}"
  awk -v a="$l2" -v b="$(fact 'L2 error')" -v rate=${method#*,} 'BEGIN { exit !(b > 0 && a / b > 0.8 * rate && a / b < 1.25 * rate) }'
  report $((1 - ($? || coarse || status))) "errors of ${method%,*} have their order in time"
done

# u = t x has c du/dt = x and no curvature: both methods are exact.
run solve box:2x2 --problem heat --time 2 --steps 4 --source x --bc 'xmin=0' --bc 'xmax=t' --initial 0 "${small[@]}" --output "$folder/heat.vtu"
[[ $status == 0 && $(grep -c '<DataSet timestep=".*" file="heat-000[0-4].vtu"/>' "$folder/heat.pvd") == 5 && -s $folder/heat-0004.vtu ]]
report $((1 - $?)) "time steps are a series of files"
if command -v python3 >/dev/null; then
  python3 -c 'import sys, xml.etree.ElementTree as tree
assert [s.get("timestep") for s in tree.parse(sys.argv[1]).iter("DataSet")] == ["0", "0.5", "1", "1.5", "2"]' "$folder/heat.pvd" 2>"$folder/err"
  report $((1 - $?)) "with their times"
fi
has "iterations of all steps are counted" '^iterations +[0-9]+, [0-9.]+ a step, at most [0-9]+$'

# A bar of Young's modulus 2 under a tension of 1 becomes longer by a half; it slides on three faces.
run solve box:2x1x1 --problem elasticity --order 1 --young 2 --poisson 0.25 --fixed xmin.x --fixed ymin.y --fixed zmin.z \
  --traction xmax=1,0,0 "${small[@]}" --output "$folder/bar.vtu"
has "a bar under tension" '^displaced +[|]u[|] = 0\.53033 at most$'
has "has that stress" '^stress +von Mises = (1|1\.0000[0-9]*|0\.99999[0-9]*) at most$'
has "directions are told" '^ *values +u\.x = 0 on xmin$'
# stresses FILE FORMULA...: of the file's arrays, which may be compressed, the formulas of S (xx, yy, zz, xy, yz, xz) and of the
# stress of von Mises hold at every point.
cat >"$folder/stresses.py" <<'END'
import re, struct, sys, zlib
data = open(sys.argv[1], "rb").read()
start = data.index(b"_", data.index(b"<AppendedData")) + 1
def array(name):
    place = start + int(re.search(b'Name="%s"[^>]*offset="(\\d+)"' % name, data).group(1))
    words = lambda at, num: struct.unpack_from("=%dQ" % num, data, at)
    if b"compressor=" in data[:start]:
        num = words(place, 1)[0]
        sizes, at, raw = words(place + 24, num), place + 24 + 8 * num, b""
        for size in sizes: raw, at = raw + zlib.decompress(data[at:at + size]), at + size
    else:
        raw = data[place + 8:place + 8 + words(place, 1)[0]]
    return struct.unpack("=%dd" % (len(raw) // 8), raw)
flat, mises = array(b"stress"), array(b"von_mises")
assert len(flat) == 6 * len(mises) > 0
for i, von_mises in enumerate(mises):
    S = flat[6 * i:6 * i + 6]
    for formula in sys.argv[2:]: assert eval(formula), (formula, i, S, von_mises)
END
stresses() { python3 "$folder/stresses.py" "$@" >"$folder/out" 2>"$folder/err"; }
if command -v python3 >/dev/null; then
  stresses "$folder/bar.vtu" 'abs(S[0] - 1) < 1e-4 and max(map(abs, S[1:])) < 1e-4 and abs(von_mises - 1) < 1e-4'
  report $((1 - $?)) "a bar's file has one stress alone, and that of von Mises is it"
  mises='abs(von_mises ** 2 - sum((S[c] - S[(c + 1) % 3]) ** 2 / 2 + 3 * S[3 + c] ** 2 for c in range(3))) <= 1e-6 * (1 + von_mises ** 2)'
  run solve "$(dirname "$0")/../examples/meshes/pipe-elbow.msh" --problem elasticity --order 3 --fixed inlet --traction outlet=0,0,1 \
    --ceed /cpu/self/ref --tol 1e-5 --output "$folder/elbow.vtu"
  stresses "$folder/elbow.vtu" 'von_mises >= 0' "$mises"
  report $((1 - ($? || status))) "von Mises of an elbow is nowhere negative, and that of the tensor beside it"
  run solve box:4x4 --problem elasticity --order 4 --fixed xmin --traction xmax=0,1 --parts 2 "${small[@]}" --output "$folder/plate.vtu"
  stresses "$folder/plate-1.vtu" 'von_mises >= 0' "$mises" 'abs(S[2] - 0.3 * (S[0] + S[1])) <= 1e-3 * (1 + von_mises)' 'S[4] == S[5] == 0'
  report $((1 - ($? || status))) "and so in parts of the plane, across which there is stress, no shear"
fi
run solve box:2x2x2 --problem elasticity --order 1 --traction xmax=1,0,0 --traction xmin=-1,0,0 "${singular[@]}"
has "motions of a free body are found" '^nullspace +6 rigid body motions that no face holds'
run solve box:2x2x2 --problem elasticity --order 1 --traction xmax=1,0,0 "${singular[@]}"
has "loads of a free body that are not in balance are told" 'the loads are not in balance: '
prints "displacements may be given" 0 out '^values +u = 0,y/10 on all$' \
  solve box:2x2 --problem elasticity --bc 'all=0,y/10' "${small[@]}"

# iterations_at_most SENTENCE NUMBER ARGUMENTS...: they converge to 1e-6 within so many.
iterations_at_most() {
  local sentence=$1 number=$2
  shift 2
  run solve "$@" --ceed /cpu/self/ref --tol 1e-6
  fact iterations | awk -v most="$number" '{ found = $1 + 0 } END { exit !(found > 0 && found <= most) }'
  report $((1 - ($? || status))) "$sentence"
}

# Bounds are what was found, and two more.
iterations_at_most "a coefficient need not have a value at the origin" 6 box:4x4 --bc all=0 --source 1 --coefficient 1/x
iterations_at_most "coefficients may jump within elements" 12 box:6x6x6 --bc all=0 --source 1 \
  --coefficient "10^(1.5*(x-0.45)/sqrt((x-0.45)^2))"
if [[ $("$ritz" info 2>/dev/null) != *"CeedScalar is float"* ]]; then # programs of float have no other precision
  # A stiff half that nothing holds floats on a soft one.
  contrast() { echo "1+1e$1*((x-0.5)/sqrt((x-0.5)^2)+1)/2"; }
  for c in 4 6 8 11 14; do
    iterations_at_most "a contrast of 1e$c costs few iterations" 13 box:4x4x4 --order 2 --bc xmin=0 --source 1 --coefficient "$(contrast $c)"
  done
  has "cycles are in double then, which is told" '^note +multigrid in double precision: coefficients from 1 to 1e\+14 are too much for single$'
  for c in 40 -40; do
    iterations_at_most "coefficients of 1e$c cost none" 6 box:4x4x4 --order 2 --bc xmin=0 --source 1 --coefficient 1e$c
  done
  prints "a cycle in single precision that fails is tried in double" 0 out '^note +that was with multigrid in single precision: once more in double$' \
    solve box:6x6x6 --order 2 --bc xmin=0 --source 1 --precision f32 --coefficient "$(contrast 16)" --ceed /cpu/self/ref
  prints "as is one that cannot be set up" 0 out '^note +multigrid in single precision cannot be set up: once more in double$' \
    solve box:4x4x4 --order 2 --bc xmin=0 --source 1 --precision f32 --coefficient 1e40 --ceed /cpu/self/ref
fi
iterations_at_most "long elements of elastic bodies are smoothed" 9 box:1x6x6 --problem elasticity --order 3 --fixed ymin --force 1,0,0

# ---- Bench ----

prints "all bake-off problems pass their checks" 0 out '^BP6 .* ok$' bench --bp all --order 1-3 --size 1500 --reps 1
[[ $(grep -c ' ok$' "$folder/out") == 18 ]]
report $((1 - $?)) "every problem and degree has its row"
prints "also on a deformed mesh" 0 out '^BP6 .* ok$' bench --bp all --order 1,2,4 --size 3000 --deform 0.1 --reps 1
prints "and on tetrahedra" 0 out '^BP3 +3  6x2x2x2 .* ok$' bench --shape tet --bp 3 --order 3 --n 2 --reps 1
prints "also from their corners and deformed" 0 out '^BP4 +2  6x3x3x3 .*trilinear.* ok$' \
  bench --shape tet --bp 1-4 --order 1,2 --n 2,3 --deform 0.05 --policy stored,trilinear --reps 1 --ceed /cpu/self/ref
prints "also affine ones" 0 out '^BP4 +2  6x3x3x3 .*affine.* ok$' \
  bench --shape tet --bp 1-4 --order 1,2 --n 2,3 --policy affine --reps 1 --ceed /cpu/self/ref
for shape in 'prism 2x' 'pyramid 6x'; do
  prints "on ${shape% *}s, deformed" 0 out "^BP4 +3  ${shape#* }3x3x3 .*trilinear.* ok\$" \
    bench --shape "${shape% *}" --bp 1-4 --order 1-3 --n 3 --deform 0.05 --policy stored,trilinear --reps 1 --ceed /cpu/self/ref
  prints "on ${shape% *}s, affine" 0 out "^BP3 +4  ${shape#* }2x2x2 .*affine.* ok\$" \
    bench --shape "${shape% *}" --bp 1,3 --order 1,4 --n 2 --policy affine --reps 1
done
prints "boxes of pyramids have nodes of their own" 0 out '^BP3 +2  6x3x3x3  +559 ' \
  bench --shape pyramid --bp 3 --order 2 --n 3 --cg --reps 1 --ceed /cpu/self/ref
prints "single precision" 0 out '^BP4 +2  2x2x2 .* ok$' bench --bp 1,4 --order 2 --n 2 --policy stored,trilinear --precision f32 --reps 1
run bench --bp 3 --order 2 --n 4 --precision f32 --reps 1 --ceed /cpu/self/ref --json -
report "$(grep -c '"vector_bytes": 4, .*"bytes": 113964, .*"checks_hold": true' "$folder/out")" \
  "bytes of single precision are those of float: 3 x 729 + 6 x 64 x 64 numbers and 27 x 64 offsets"
prints "conjugate gradients too" 0 out '^BP3 .* ok$' bench --bp 1,3 --order 2 --size 1500 --cg --reps 1
run bench --bp 3 --order 2 --n 4 --cg --cg-variant standard --reps 1 --ceed /cpu/self/ref --json -
report "$(grep -cE '"bytes": (285168|146040), .*"iterations": 20, "cg": "standard"' "$folder/out")" "with three vectors of the apply and eleven more, of double or float"
prints "the smallest box has no free entry and no rate" 0 out '^BP3 ' bench --bp 3 --order 1 --size 1 --cg --reps 1
prints "rows show the fraction of the roofline" 0 out '^BP1 .* (memory|cache|flops) +[0-9.]+ % +[0-9.]+  ok$' \
  bench --bp 1 --order 2 --size 500 --reps 1
prints "the limits stand above" 0 out '^limits +[0-9.]+ GB/s and [0-9.]+ GFLOP/s with 1 thread$' \
  bench --bp 1 --order 2 --size 500 --reps 1 --ceed /cpu/self/ref
prints "elements may be chosen" 0 out '^BP4 +3  2x2x2 .* ok$' bench --bp 4 --order 2,3 --n 3,2 --reps 1
prints "threads may be chosen" 0 out '^BP1 .* ok$' bench --bp 1 --order 2 --size 500 --reps 1 --threads 2
threads_of() { # ARGUMENTS...: the number that a solve names
  "$ritz" solve box:2 --exact sine "$@" 2>/dev/null | sed -n 's/^backend .*, \([0-9]*\) threads\{0,1\}\( each\)\{0,1\}$/\1/p'
}
all=$(env -u OMP_NUM_THREADS "$ritz" solve box:2 --exact sine 2>/dev/null | sed -n 's/^backend .*, \([0-9]*\) threads\{0,1\}$/\1/p')
two=$((all > 1 ? 2 : 1))
[[ $all -ge 1 && $all -le $(nproc --all) && $(OMP_NUM_THREADS=1 threads_of) == 1 && $(OMP_NUM_THREADS=1 threads_of --threads 2) == "$two" &&
  $(OMP_NUM_THREADS=$two threads_of --ceed /cpu/self:threads=1) == 1 && $(threads_of --ceed /cpu/self/ref) == 1 ]]
report $((1 - $?)) "a solve takes all processors that it may use, or what it is told, and says how many"
[[ $(taskset -c "$(taskset -cp $$ | sed 's/.*: *\([0-9]*\).*/\1/')" env -u OMP_NUM_THREADS "$ritz" solve box:2 --exact sine 2>/dev/null) == *", 1 thread"* ]]
report $((1 - $?)) "it may use those of its affinity mask"
[[ $(OMP_NUM_THREADS=$two threads_of --parts 2) == 1 && $(threads_of --parts 3 --threads 2) == 1 &&
  $(threads_of --parts 2 --ceed "/cpu/self:threads=$two") == "$two" ]]
report $((1 - $?)) "parts share its threads"
wrong "threads of a solve on a GPU" "ritz solve: --threads: only for backends below /cpu/self, not for '/gpu/cuda'" \
  solve box:2 --exact sine --threads 2 --ceed /gpu/cuda

sed -i 's/^\(all\|one\)\.double_flops .*/\1.double_flops 1000000/; s/^\(all\|one\)\.single_flops .*/\1.single_flops 1000000/' "$RITZ_CACHE_DIR/machine.txt"
prints "figures of the machine that a run contradicts are measured again" 0 err '^ritz: a run is faster than the kept figures' \
  bench --bp 1 --order 1 --size 100 --reps 1
! grep -q 'flops 1000000$' "$RITZ_CACHE_DIR/machine.txt"
report $((1 - $?)) "and kept"

# A compiler that takes long.
printf '#!/bin/sh\ncase "$*" in *kernel.c*) sleep 2 ;; esac\nexec %s "$@"\n' "${RITZ_CC:-cc}" >"$folder/slowcc"
chmod +x "$folder/slowcc"
slowly() { RITZ_CC="$folder/slowcc" RITZ_CACHE_DIR=$(mktemp -d "$folder/slow.XXXXXX") "$@" bench --bp 1 --order 1 --size 100 --reps 1 2>"$folder/err" >"$folder/out"; }
RITZ_PROGRESS=1 slowly "$ritz" && grep -q 'compiling kernel 1 of [0-9]*, [0-9]* s' "$folder/err" && [[ $(tail -c 62 "$folder/err") == $'\r'*$'\r' ]]
report $((1 - $?)) "who waits for compilers is told what they are at, in a line that goes"
slowly "$ritz" && ! grep -q compiling "$folder/err"
report $((1 - $?)) "but not where stderr is no terminal"

# What the loader of a GNU system has opened; elsewhere it says nothing.
loads() { LD_DEBUG=files LD_DEBUG_OUTPUT="$folder/loaded" "$ritz" "$@" >/dev/null 2>&1; cat "$folder"/loaded.*; rm -f "$folder"/loaded.*; }
for command in "solve box:2 --exact sine" "explain --bp 1 --order 1 --size 100" "bench --bp 1 --order 1 --size 100 --reps 1"; do
  # shellcheck disable=SC2086
  ! loads $command 2>/dev/null | grep -E 'file=[^ ]*(nvrtc|libcuda|OpenCL|pocl)'
  report $((1 - $?)) "processors need no library of devices: $command"
done
if loads solve box:2 --exact sine --ceed /gpu/cuda 2>/dev/null | grep -q 'file=libcuda.*generating'; then
  report 1 "the compiler of a device is looked for where there is a driver # SKIP there is one"
else
  ! loads solve box:2 --exact sine --ceed /gpu/cuda 2>/dev/null | grep -q 'file=[^ ]*nvrtc'
  report $((1 - $?)) "the compiler of a device is looked for where there is a driver"
fi
prints "threads may be part of the resource" 0 out '^BP1 .* ok$' \
  bench --bp 1 --order 2 --size 500 --reps 1 --ceed /cpu/self:threads=2
run bench --bp 1,6 --order 2 --size 500 --reps 1 --json "$folder/bench.json"
cp "$folder/bench.json" "$folder/json" 2>/dev/null
run bench --bp 5 --order 1 --size 8 --cg --reps 1 --ceed '/cpu/self/ref' --json -
if command -v python3 >/dev/null; then
  python3 -c '
import json, sys
file, stdout = (json.load(open(name)) for name in sys.argv[1:])
assert [r["bp"] for r in file["results"]] == [1, 6]
assert all(r["checks_hold"] and r["dofs_per_second"] > 0 for r in file["results"])
assert stdout["results"][0]["iterations"] == 0 and stdout["resource"] == "/cpu/self/ref"
for r in file["results"]:
    bound = max(r["bytes"] / r["bandwidth"], r["flops"] / r["peak"])
    assert abs(r["seconds_bound"] / bound - 1) < 1e-12 and abs(r["roofline"] * r["seconds_min"] / bound - 1) < 1e-12
    assert r["bound_by"] in (("flops",) if bound == r["flops"] / r["peak"] else ("memory", "cache")) and r["threads"] >= 1
assert stdout["results"][0]["roofline"] is None and stdout["results"][0]["threads"] == 1
' "$folder/json" "$folder/out" 2>"$folder/err"
  report $((1 - $?)) "results are valid JSON"
fi
prints "JSON file that cannot be written is noticed before the work" 1 err "^ritz bench: --json: cannot write" \
  bench --bp 1 --order 1 --size 8 --reps 1 --json "$folder/nowhere/x.json"

# Batched dense algebra: rows whose results are those of the reference, and what tells them.
prints "batched routines pass their checks" 0 out '^laset +5 +f32 nonuniform  memory .* [0-9.]+e[-+][0-9]+$' \
  bench --batched --sizes 5 --precision f64,f32 --layout strided,interleaved,pointers,nonuniform --place memory --memory 0.02 --reps 1 \
  --ceed /cpu/self/ref --plot "$folder/batched.svg"
[[ $(grep -c '<rect .*fill="none"' "$folder/batched.svg") == $(awk '/ f64 +strided/ && $9 > 0 { n++ } END { print n }' "$folder/out") ]]
report $((1 - $?)) "batched routines are drawn each in a frame of its own"
prints "generated batched kernels pass them, too" 0 out '^getrf +7 +f64 strided +cache .*[0-9]$' \
  bench --batched --alone --sizes 7 --routines getrf --place cache --reps 1
run bench --batched --sizes 3,4 --routines gemm,getrs --columns 2 --memory 0.01 --reps 1 --ceed /cpu/self/ref --json -
if command -v python3 >/dev/null; then
  python3 -c '
import json, sys
rows = json.load(open(sys.argv[1]))["results"]
assert [(r["routine"], r["n"], r["place"]) for r in rows] == [(w, n, p) for w in ("gemm", "getrs") for n in (3, 4) for p in ("cache", "memory")]
for r in rows:
    n, count = r["n"], r["matrices"]
    assert r["flops"] == count * (2 * n**3 if r["routine"] == "gemm" else 4 * n**2)
    assert r["bytes"] == 8 * count * (3 * n**2 if r["routine"] == "gemm" else n**2 + 4 * n)
    assert r["seconds"] > 0 and r["error"] <= r["tolerance"] and r["rounds"] == 1
' "$folder/out" 2>"$folder/err"
  report $((1 - $?)) "rows of batched routines are valid JSON, bytes and flops by the formulas"
fi

# is_plot SENTENCE POINTS: the file is XML and has that many labelled points.
is_plot() {
  local ok=0
  if command -v python3 >/dev/null; then
    python3 -c '
import sys, xml.etree.ElementTree as tree
texts = [t.text for t in tree.parse(sys.argv[1]).iter("{http://www.w3.org/2000/svg}text") if t.get("paint-order")]
assert len(texts) == int(sys.argv[2]) and all(t.isdigit() for t in texts), texts
' "$folder/plot.svg" "$2" >"$folder/out" 2>"$folder/err" && ok=1
  else
    [[ $(grep -c paint-order "$folder/plot.svg") == "$2" ]] && ok=1
  fi
  report $ok "$1"
}

prints "geometry may be computed on the fly" 0 out '^BP6 .* affine .* ok$' \
  bench --bp all --order 1,2 --n 2 --policy stored,trilinear,affine --reps 1 --ceed /cpu/self/ref --plot "$folder/plot.svg"
[[ $(grep -c ' ok$' "$folder/out") == 36 ]]
report $((1 - $?)) "every policy has its row"
is_plot "and its point in the plot" 36
prints "on the fly in generated kernels, on a deformed mesh" 0 out '^BP5 .* trilinear .* ok$' \
  bench --bp 5 --order 2 --n 2 --policy trilinear --deform 0.1 --reps 1
prints "plot that cannot be written is noticed before the work" 1 err "^ritz bench: --plot: cannot write" \
  bench --bp 1 --order 1 --size 8 --reps 1 --plot "$folder/nowhere/x.svg"

# ---- Nekbone ----

# Columns: problem, components, degree, mesh, elements, DOF, policy, variant, iterations, L2 error.
prints "nekbone finds the solutions under every policy" 0 out '^helmholtz +1 +4 +affine .* ok$' \
  bench --nekbone --components 1 --order 3,4 --n 2 --reps 1 --ceed /cpu/self/ref --policy trilinear,merged,stored,affine \
  --lambda 10 --plot "$folder/plot.svg"
awk '/^(poisson|helmholtz) / {
  rows++
  series = $1 " " $2 " " $4 " " $7
  problem = $1 " " $2 " " $3 " " $4
  if (series in error && !($10 < error[series] / 3)) bad = 1
  if (problem in count && $9 != count[problem]) bad = 1
  error[series] = $10
  count[problem] = $9
} END { exit bad || rows != 28 }' "$folder/out"
report $((1 - $?)) "errors fall with the degree, policies take the same iterations"
is_plot "every row of nekbone has its point in the plot" 28
prints "the number of iterations may be fixed" 0 out '^poisson +3 +3 +deformed .* stored +standard +4 .* ok$' \
  bench --nekbone --problem poisson --mesh deformed --components 3 --order 3 --n 2 --points gauss --policy stored --reps 1 \
  --cg-variant standard --max-it 4 --rtol 0 --ceed /cpu/self/ref
prints "too few iterations are told" 0 out ' ok, not converged$' \
  bench --nekbone --problem poisson --mesh affine --components 1 --order 3 --n 2 --policy stored --reps 1 --max-it 4 --ceed /cpu/self/ref
prints "nekbone runs generated kernels" 0 out '^poisson +1 +3 +deformed .* trilinear .* ok$' \
  bench --nekbone --problem poisson --mesh deformed --components 1 --order 3 --n 2 --policy trilinear --cg-variant both --reps 1
run bench --nekbone --problem helmholtz --mesh affine --components 1 --order 3 --n 2 --policy auto,stored --jacobi --reps 1 \
  --ceed /cpu/self/ref --json -
if command -v python3 >/dev/null; then
  python3 -c '
import json, sys
rows = json.load(open(sys.argv[1]))["results"]
assert [r["policy"] for r in rows] == ["stored", "auto"] and [r["fault"] for r in rows] == [None, None]
for r in rows:
    assert r["iterations"] > 0 and r["converged"] and r["lambda"] == 1 and r["mesh"] == "affine"
    bound = max(r["bytes"] / r["bandwidth"], (r["flops"] + r["recompute_flops"]) / r["peak"])
    assert abs(r["roofline"] * r["seconds"] / r["iterations"] / bound - 1) < 1e-12
assert rows[0]["jacobi"] and rows[0]["ratio_to_stored"] == 1 and rows[0]["recompute_flops"] == 0
' "$folder/out" 2>"$folder/err"
  report $((1 - $?)) "rows of nekbone are valid JSON"
fi

# ---- Multigrid ----

# Iterations: the tables of the literature and one more; one vertex is one patch, whose solve is exact. Errors are of order
# p + 1, a half of 0.2 less on meshes this coarse.
smoothers=patches,patches-residual,patches-boundary,coloured,additive,cells,overlapped,jacobi
run bench --multigrid --order 2,3 --cells 2,4 --smoother $smoothers --solver fcg,v-cycles,full --precision f32 --reps 1 --ceed /cpu/self/ref --json "$folder/mg.json" --plot "$folder/plot.svg"
has "multigrid finds the solutions" '^ 3     4       2197  patches             f32   fcg .* ok$'
is_plot "every row of multigrid has its point in the plot" 96
if command -v python3 >/dev/null; then
  python3 -c '
import json, math, sys
report = json.load(open(sys.argv[1]))
is_double = report["scalar_bytes"] == 8
rows = {(r["order"], r["elements"][0], r["smoother"], r["solver"]): r for r in report["results"]}
assert len(rows) == 96
most = {2: 7, 3: 5}
for (p, n, smoother, solver), r in rows.items():
    assert r["fault"] is None and r["dofs"] == (p * n + 1) ** 3 and r["levels"] == math.log2(n) + 1
    assert r["residual"] <= r["tolerance"] and r["seconds"] > 0 and r["repetitions"] == 1
    if smoother.startswith("patches"):
        assert r["iterations"] <= (2 if n == 2 else most[p]) + (solver == "v-cycles")
        assert abs(r["iterations"] - rows[p, n, "patches", solver]["iterations"]) <= 1
    assert rows[p, n, smoother, "full"]["iterations"] <= rows[p, n, smoother, "v-cycles"]["iterations"]
    if is_double and n == 4:
        assert math.log2(rows[p, 2, smoother, solver]["l2_error"] / r["l2_error"]) > p + 0.8
' "$folder/mg.json" 2>"$folder/err"
  report $((1 - $?)) "iterations and errors of multigrid are those of theory"
fi
prints "patches are not there on deformed elements, and it is said" 0 out '^ 2 +2 +125  patches .* not here: .*rectangular' \
  bench --multigrid --order 2 --cells 2 --deform 0.1 --smoother patches,cells --reps 1 --ceed /cpu/self/ref
prints "a limit of memory leaves larger sizes out" 0 out '^4 cells and more of degree 1 are left out: about ' \
  bench --multigrid --order 1 --cells 2,4 --max-memory 1e-9 --smoother jacobi --reps 1 --ceed /cpu/self/ref
prints "too few iterations are a failure" 1 out ' FAILED: .*iteration' \
  bench --multigrid --order 2 --cells 4 --max-it 1 --smoother jacobi --reps 1 --ceed /cpu/self/ref

# ---- Explain ----

run explain --bp 3 --order 4 --size 1e4
has "explain names the problem" '^problem +BP3: diffusion, degree 4, 1 component; 5 nodes and 6 Gauss points per direction$'
has "explain names mesh and size" '^mesh +5x5x5 elements, 9261 DOFs$'
has "explain shows the least costs" '^costs +at least [0-9.]+ MB and 3\.714 Mflop an apply: [0-9.]+ bytes and 401\.0 flops a DOF$'
has "explain shows the roofline of all threads" '^roofline +[0-9.]+ MDOF/s with [0-9]+ threads?, '
has "explain shows what runs" '^  runs as: one generated kernel, the text of the QFunction inside$'
has "explain shows the route" '^  basis 0: tensor 3D, 5 nodes -> 6 points a direction; collocated: '
has "explain shows the gather" '^  space 0: active input, .* gather: rows of 5 nodes$'
has "explain shows the costs of the plan" '^  an element: 29712 flops; [0-9.]+ bytes = '
[[ ! -s $folder/err ]]
report $((1 - $?)) "explain is silent when all is well"
prints "explain takes threads" 0 out '^  threads: [12]; ' explain --bp 3 --order 4 --size 1e4 --threads 2
prints "explain knows backends without kernels" 0 out '^  runs element by element' explain --bp 1 --order 2 --ceed /cpu/self/ref
RITZ_QFUNCTION=pointer prints "explain says why it is not the best kernel" 0 out '^  because: ' explain --bp 1 --order 2

run explain --bp 3 --order 4 --size 1e4 --steps
has "explain --steps lists what happens" '^   6 contract values0 -> derivatives0\.0 \[1\]\[6\]\[6\]\[6\], collocated0 in direction 0; 2592 flops; row by row: first to '
has "explain --steps reads outputs backwards" '^   9 contract derivatives2\.0 -> values2 .*, collocated0\^T in direction 0; 2592 flops; '
prints "explain --steps knows backends without lists" 0 out '^no steps of ' explain --bp 1 --order 2 --ceed /cpu/self/ref --steps

run explain --bp 3 --order 4 --source
cp "$folder/out" "$folder/kernel.c"
[[ $status == 0 && $(head -1 "$folder/kernel.c") == "// SPDX"* ]] && grep -q 'return bp_diffusion_apply(' "$folder/kernel.c"
report $((1 - $?)) "explain prints nothing but the text of the kernel, which calls the QFunction"
if command -v cc >/dev/null; then
  top=$(dirname "$0")/..
  flags=(-std=gnu11 -w -I"$top" -I"$top/include" -DCEED_RUNNING_JIT_PASS=1)
  "$ritz" info | grep -q 'CeedScalar is float' && flags+=(-DRITZ_SCALAR_F32)
  cc "${flags[@]}" -fsyntax-only "$folder/kernel.c" >"$folder/out" 2>"$folder/err"
  report $((1 - $?)) "the text of the kernel is C"
fi
prints "plan and text can be printed together" 0 out '^#include "kernels/cpu/kernel.h"$' explain --bp 3 --order 4 --plan --source
has "and the plan is there, too" '^  basis 0: '
prints "a backend without kernels has no text" 1 err \
  "^ritz explain: --source: '/cpu/self/ref' has no generated kernel for BP1$" explain --bp 1 --order 2 --source --ceed /cpu/self/ref
prints "a degree beyond all use is a failure" 1 err '^ritz explain: BP1: degree 2000 with ' explain --bp 1 --order 2000

# ---- Kernels made beforehand: BP1 and BP2 share the one that makes the stored factors ----

own=$RITZ_CACHE_DIR
export RITZ_CACHE_DIR=$folder/warm
prints "a cold cache is warmed" 0 out '^all +3 compiled, 1 found, 0 failed; [0-9.]+ s$' cache warm --bp 1,2 --order 1
has "the kernels of each problem are counted" '^BP2 +1 compiled, 1 found, 0 failed; '
prints "the second time everything is there" 0 out '^all +0 compiled, 4 found, 0 failed; ' cache warm --bp 1,2 --order 1
prints "the cache holds what was compiled" 0 out '^3 kernels, ' cache list
prints "later runs find it in any size" 0 out '^kernels +0 compiled in 0.00 s, 4 read ' \
  bench --bp 1,2 --order 1 --size 3000 --deform 0.1 --reps 1
RITZ_CFLAGS='-include /nowhere.h' prints "kernels that do not compile are a failure" 1 out '^all +0 compiled, .* [1-9] failed; ' \
  cache warm --bp 1 --order 1
RITZ_CC=/nowhere prints "no compiler is a failure" 1 err '^ritz cache: there is no compiler' cache warm --bp 1 --order 1
RITZ_CACHE=off prints "no cache to warm is a failure" 1 err '^ritz cache: there is no cache: ' cache warm
prints "a backend without kernels cannot be warmed" 1 err '^ritz cache: --ceed: /cpu/self/ref compiles no kernels$' \
  cache warm --bp 1 --order 1 --ceed /cpu/self/ref
export RITZ_CACHE_DIR=$own

# ---- Kernels chosen by measurement: only devices have a choice ----

prints "a processor has nothing to choose" 0 out '^/cpu/self/gen: nothing measured: the backend has nothing to choose$' \
  tune --ceed /cpu/self/gen --bp 1 --order 1
prints "tuning needs its backend" 2 err "^ritz tune: --ceed: cannot use '/cpu/elf': there is no such backend" tune --ceed /cpu/elf

# ---- No colours, no control characters when not on a terminal ----

run solve box:4x4x4 --exact sine --jacobi
! grep -q $'[\e\r]' "$folder/out" "$folder/err"
report $((1 - $?)) "output has no control characters"

# ---- Pictures ----

prints "picture has help" 0 out '^  --view AZIMUTH,ELEVATION$' picture --help
prints "a solution is drawn" 0 out "^picture +$folder/drawn.png$" solve box:2x2x2 --exact sine --order 2 --picture "$folder/drawn.png"
[[ $(head -c 8 "$folder/drawn.png" | od -An -tx1) == " 89 50 4e 47 0d 0a 1a 0a" && -s $folder/drawn.vtu ]]
report $((1 - $?)) "and its file lies beside the picture"
prints "parts are drawn together" 0 out '^picture ' solve box:4x4 --exact sine --parts 2 --picture "$folder/drawn.png"
prints "and of heat the last step" 0 out '^picture ' solve box:4x4 --exact sine --problem heat --time 1 --steps 2 --picture "$folder/heat.png"
prints "the field of cells of all pieces" 0 out '^picture ' picture "$folder/drawn.pvtu" --field part --size 400x300
wrong "pictures are PNG files" "ritz solve: --picture: expected a file name that ends in .png, found 'u.jpg'" solve box:4x4 --exact sine --picture u.jpg
prints "lines are not drawn" 2 err '^ritz solve: --picture: lines are not drawn, found a mesh of dimension 1$' solve box:4 --exact sine --picture "$folder/line.png"
prints "a picture that cannot be written is refused at once" 1 err "^ritz solve: --picture: cannot write '.*/none/u.png': there is no folder" solve box:4x4 --exact sine --picture "$folder/none/u.png"
prints "and one of a file" 1 err "^ritz picture: --output: cannot write '.*/none/u.png': there is no folder" picture "$folder/drawn.vtu" --output "$folder/none/u.png"
prints "a field that is not there names those that are" 1 err "there is no field 'v' \(there are: u, error, region, element\)" picture "$folder/drawn.vtu" --field v
prints "components are counted" 1 err "component 3 is not there: the field 'u' has 1, counted from 0" picture "$folder/drawn.vtu" --component 3
prints "no file" 1 err "^ritz picture: .*nothing.vtu: No such file" picture "$folder/nothing.vtu"
prints "a folder is no file" 1 err "is not a regular file" picture "$folder"
prints "a file of another kind" 1 err "expected a file of VTK's XML format" picture "$folder/drawn.png"
for pair in "--size 99999x9" "--size 0x0" "--size 8192x8192" "--size 300" "--view 1" "--view inf,0" "--range 2,1" "--range nan,1" "--component w" "--component -1" "--output x"; do
  # shellcheck disable=SC2086 # an option and its value
  prints "$pair is refused" 2 err "^ritz picture: ${pair%% *}: expected .*, found '${pair##* }'" picture "$folder/drawn.vtu" $pair
done

end
