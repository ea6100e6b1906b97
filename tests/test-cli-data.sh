#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Data of `ritz solve`: formulas and their faults, conditions on boundary parts against known solutions. Run by ctest with the path
# of the program as argument (or in RITZ_PROGRAM); prints TAP.
# shellcheck source=tests/cli-kit.sh
source "$(dirname "$0")/cli-kit.sh"
export RITZ_CACHE_DIR=${RITZ_CACHE_DIR:-$folder/cache}
# Solves that compile nothing, to rounding, and what that is of numbers of some units.
ref=(--ceed /cpu/self/ref --tol 1e-13) least=1e-8 rounding=1e-11
if [[ $("$ritz" info 2>/dev/null) == *"CeedScalar is float"* ]]; then ref=(--ceed /cpu/self/ref --tol 1e-6) least=2e-5 rounding=2e-5; fi

# values SENTENCE TOLERANCE WANTED ARGUMENTS...: the solution at the points of --probe, components of all points in a row, to the
# tolerance or rounding, whichever is larger.
values() {
  local sentence=$1 tolerance=$2 wanted=$3 found
  shift 3
  run solve "$@"
  found=$(sed -n 's/^\(probe\)\? *u(.*) = //p' "$folder/out" | tr '\n' ' ')
  awk -v t="$tolerance" -v least=$least -v a="$found" -v b="$wanted" 'BEGIN {
    t = t > least ? t : least; n = split(a, x, " "); m = split(b, y, " "); if (n != m) exit 1
    for (i = 1; i <= n; i++) if (!((x[i] - y[i]) ^ 2 <= t ^ 2)) exit 1 }' && [[ $status == 0 ]]
  local ok=$((1 - $?))
  [[ $ok == 1 ]] || echo "# wanted $wanted, found $found"
  report $ok "$sentence"
}

# ---- Formulas ----

wrong "formula with a fault" "ritz solve: --bc: column 3: expected a number, a name or '(', found '*'" solve box:2 --bc 'all=1+*2'
caret=$(sed -n 3p "$folder/err")
[[ $caret == "      ^" ]]
report $((1 - $?)) "a caret stands below the fault"
wrong "formula without end" "ritz solve: --source: column 9: expected ')' for the '(' in column 4" \
  solve box:2 --bc all=0 --source 'sin(pi*x'
wrong "formula with an unknown name" "ritz solve: --source: column 1: unknown name 'ln' (known are x y z t nx ny nz u pi, and functions, see --help)" \
  solve box:2 --bc all=0 --source 'ln(x)'
wrong "comparison that is an assignment" "ritz solve: --bc: column 5: expected an operator or ')', found '=' (a comparison is ==)" \
  solve box:2 --bc 'all=if(x=1,2,3)'
wrong "comparisons in a row" "ritz solve: --source: column 7: comparisons do not chain, join them by &&" \
  solve box:2 --source '0 < x < 1'
wrong "function of a direction with too few arguments" "ritz solve: --force: column 3: max takes at least 2 arguments, found 1" \
  solve box:2x2 --problem elasticity --force '0,max(x)'
wrong "normal where there is none" "ritz solve: --source: a normal is used, which --flux, --robin, --traction and --pressure have alone" \
  solve box:2x2 --source nx
wrong "normal of another dimension" "ritz solve: --flux: 'nz' is used, but the mesh has only 2 coordinates" solve box:2x2 --flux all=nz
values "fluxes know the normal" 1e-8 0.25 box:3x3 --order 1 --bc xmin=0 --flux all=nx --probe 0.25,0.6 "${ref[@]}"
values "sources have conditions" 1e-8 0.125 box:4x1 --order 3 --bc xmin=0 --source 'x<=0.5 ? 1 : 0' --probe 0.5,0.5 "${ref[@]}"
# A pressure of 1 all around: strain -(1 + nu)(1 - 2 nu) / E, here -0.52.
values "tractions take functions with commas and the normal" 1e-8 "-0.26 -0.13" box:2x2 --problem elasticity --order 2 --fixed xmin.x \
  --fixed ymin.y --traction 'all=-max(nx,-1),min(-ny,1)' --probe 0.5,0.25 "${ref[@]}"
wrong "formula nested without limit" \
  "ritz solve: --source: column 257: nested too deeply: more than 256 operations are open here" \
  solve box:2 --bc all=0 --source "$(printf '(%.0s' {1..100000})"
prints "formula that is not finite names the place" 1 err 'ritz solve: --bc all: the value at \(0, 0, 0\) is not a finite number' \
  solve box:2x2 --bc all=1/x

# ---- Robin's condition ----

wrong "Robin's condition without a value" "ritz solve: --robin: expected NAME=ALPHA,VALUE such as fins=25,20, found '3'" \
  solve box:2x2 --robin all=3
wrong "Robin's condition with alpha zero" "ritz solve: --robin: expected a positive alpha, found '0,1'" solve box:2x2 --robin all=0,1
wrong "alpha that changes in time" "ritz solve: --robin: 't' is used, but this does not depend on time" \
  solve box:2x2 --problem heat --time 1 --robin all=1+t,1
wrong "Robin's condition of a projection" "ritz solve: --robin: only for poisson, helmholtz and heat, not for mass" \
  solve box:2x2 --problem mass --robin all=1,1
prints "alpha that is negative somewhere" 1 err '^ritz solve: --robin: expected alpha >= 0, found -0\.5 at \(0, ' \
  solve box:2x2 --robin all=x-0.5,1 "${ref[@]}"
prints "alpha that vanishes on a part" 1 err '^ritz solve: --robin xmin: alpha is zero on all of the part' \
  solve box:2x2 --robin xmin=x,1 "${ref[@]}"
# u = x^2 + y, alpha = 1 + x: value = u + (du/dn) / alpha. Nothing else holds u.
robin='all=1+x,x^2+y+(2*x*nx+ny)/(1+x)'
for method in "--preconditioner none" "--jacobi" "--smoother jacobi" "--smoother schwarz" "--smoother overlapped" "--preconditioner chebyshev" \
  "--parts 3"; do
  # shellcheck disable=SC2086 # several words
  values "Robin's condition with $method" 1e-8 0.49 box:4x4 --order 2 --source -2 --robin "$robin" --probe 0.3,0.4 $method "${ref[@]}"
done
if ! grep -q nullspace "$folder/out"; then report 1 "constants have energy there"; else report 0 "constants have energy there"; fi
values "Robin's condition on a line" 1e-8 0.09 box:8 --order 2 --source -2 --robin 'all=3,x^2+2*x*nx/3' --probe 0.3 "${ref[@]}"
values "conditions on one part add up" 1e-8 0.25 box:2x2 --order 1 --robin xmin=1,1 --robin xmin=3,0 --probe 0.5,0.5 "${ref[@]}"
for method in bdf2 implicit-euler; do # u = t + x
  values "Robin's condition in time, $method" 1e-8 1.3 box:3x3 --problem heat --time 1 --steps 4 --order 2 --source 1 --initial x \
    --method $method --robin 'all=2+y,t+x+nx/(2+y)' --probe 0.3,0.3 "${ref[@]}"
done
if [[ $least == 1e-8 ]]; then # the condition of the system is that of alpha
  values "a stiff condition is a value" 1e-6 0.3 box:3x3 --order 2 --robin xmin=1e9,0 --robin xmax=1e9,1 --probe 0.3,0.4 "${ref[@]}"
fi

# ---- Arguments from files ----

cat >"$folder/case.txt" <<'END'
# A plate, warm on the left.
box:4x4 --order 1          # degree 1
--bc 'xmin=1 + 0*y' --bc "xmax=3"
--probe
0.5,0.5
END
values "a file of arguments" 1e-8 2 "@$folder/case.txt" "${ref[@]}"
values "what follows it counts, too" 1e-8 "2 2.5" "@$folder/case.txt" --probe 0.75,0 "${ref[@]}"
prints "a file that is not there" 1 err '^ritz solve: @.*nowhere: No such file' solve "@$folder/nowhere"
printf -- "box:2 --bc 'all=1" >"$folder/open.txt"
prints "a quotation mark alone" 1 err '^ritz solve: @.*open.txt: a quotation mark has no partner$' solve "@$folder/open.txt"
echo "@$folder/case.txt" >"$folder/nested.txt"
prints "a file that names another" 1 err '^ritz solve: @.*nested.txt: files of arguments do not name others$' solve "@$folder/nested.txt"
head -c 1100000 /dev/zero | tr '\0' ' ' >"$folder/long.txt"
prints "a file that is too long" 1 err '^ritz solve: @.*long.txt: is longer than 1 MiB$' solve "@$folder/long.txt"
printf 'box:2 \0' >"$folder/zero.txt"
prints "a file that is no text" 1 err '^ritz solve: @.*zero.txt: is no text$' solve "@$folder/zero.txt"
prints "a folder of arguments" 1 err '^ritz solve: @.*: ' solve "@$folder"
: >"$folder/empty.txt"
wrong "an empty file" "ritz solve: MESH is missing" solve "@$folder/empty.txt"
wrong "faults in files are told as those of the command line" "ritz solve: unknown option '--ordr' (did you mean --order?)" \
  solve "@$folder/case.txt" --ordr 2

# ---- Plane stress ----

wrong "plane stress of a temperature" "ritz solve: --plane: only with --problem elasticity or hyperelasticity" solve box:2x2 --bc all=1 --plane stress
wrong "plane stress in space" "ritz solve: --plane: only for meshes of the plane, found a mesh of dimension 3" \
  solve box:2x2x2 --problem elasticity --fixed xmin --force 0,0,1 --plane stress
wrong "plane stress of large displacements" "ritz solve: --plane: hyperelasticity has no strain across the plane" \
  solve box:2x2 --problem hyperelasticity --fixed xmin --force 0,1 --plane stress
pulled=(box:2x2 --problem elasticity --order 1 --young 2 --poisson 0.25 --fixed xmin.x --fixed ymin.y --traction "xmax=1,0" --probe "1,1")
values "a plate that is pulled is a bar" 1e-8 "0.5 -0.125" "${pulled[@]}" --plane stress --output "$folder/plate.vtu" "${ref[@]}"
grep -Eq '^stress +von Mises = (1|0\.99999)[0-9.]* at most$' "$folder/out"
report $((1 - $?)) "and has the stress of a bar"
values "a block that is pulled has no strain across" 1e-8 "0.46875 -0.15625" "${pulled[@]}" "${ref[@]}"
prints "a known solution of plane stress" 0 out '^L2 error +[1-9]\.[0-9]*e-0[4-9]' \
  solve box:4x4 --problem elasticity --order 3 --plane stress --exact sine "${ref[@]}"

# ---- Bodies of revolution ----

wrong "a body of revolution in space" "ritz solve: --axisymmetric: only for meshes in the plane, found one in 3D" solve box:2x2x2 --bc all=1 --axisymmetric
wrong "a body of revolution without strain across" "ritz solve: --plane: contradicts --axisymmetric" \
  solve box:2x2 --problem elasticity --fixed ymin --force 0,1 --axisymmetric --plane strain
prints "a section on both sides of the axis" 1 err '^ritz solve: --axisymmetric: the mesh needs x >= 0, found a node at \(-1, ' \
  solve "$(dirname "$0")/../examples/meshes/disk.msh" --bc all=1 --axisymmetric
cylinder=(box:2x2 --axisymmetric --problem elasticity --young 2 --poisson 0.25 --fixed ymin.y)
# A pressure of 1 outside: strains -(1 - nu) / E across and 2 nu / E along the axis.
values "a cylinder under pressure outside" 1e-8 "-0.375 0.25 -0.1875 0.125" "${cylinder[@]}" --order 1 --pressure xmax=1 --probe 1,1 --probe 0.5,0.5 \
  --output "$folder/cylinder.vtu" "${ref[@]}"
grep -Eq '^stress +von Mises = (1|1\.0000|0\.99999)[0-9.]* at most$' "$folder/out"
report $((1 - $?)) "has the same stress along circles as across them"
# u = A r - r^3 / (8 (lambda + 2 mu)), no stress at r = 1: A = 1 / 7.68.
values "a cylinder between walls that turns" 1e-8 "0.078125 0 0.05859375 0" "${cylinder[@]}" --order 3 --fixed ymax.y --force x,0 --probe 1,1 --probe 0.5,0.5 "${ref[@]}"
prints "only motions along the axis are free" 0 out '^nullspace +1 rigid body motions' \
  solve box:2x2 --axisymmetric --problem elasticity --force 0,1 --traction ymin=0,-1 "${ref[@]}"
# u = (1 - r^2) / 4; all of the heat of the volume pi goes out.
values "heat in a cylinder" 1e-8 "0.25 0.1875" box:2x2 --axisymmetric --order 2 --source 1 --bc xmax=0 --reactions --probe 0,0.5 --probe 0.5,0.5 "${ref[@]}"
grep -Eq '^reactions +flux -3\.1415(926|9)' "$folder/out"
report $((1 - $?)) "goes out all around"
# u = 2 + 1 / 3 + (1 - r^3) / 9
values "heat in a cylinder in air" 1e-8 "2.333333333 2.430555556" box:2x2 --axisymmetric --order 3 --source x --robin xmax=1,2 --probe 1,0.5 --probe 0.5,0.5 "${ref[@]}"
prints "a known temperature about an axis" 0 out '^L2 error +[1-9]\.[0-9]*e-0[4-9]' solve box:4x4 --axisymmetric --order 3 --exact sine "${ref[@]}"
prints "a known displacement about an axis" 0 out '^L2 error +[1-9]\.[0-9]*e-0[4-9]' \
  solve box:4x4 --axisymmetric --problem elasticity --order 3 --exact sine "${ref[@]}"

# ---- Lines and reactions ----

wrong "a line of another dimension" "ritz solve: --line: expected two points of 2 coordinates and a number of points from 2 to 1e6 \
such as 0,0:1,1:11, found '0:1:11'" solve box:2x2 --bc all=1 --line 0:1:11
wrong "a line of one point" "ritz solve: --line: expected two points of 1 coordinates and a number of points from 2 to 1e6 \
such as 0:1:11, found '0:1:1'" solve box:2 --bc all=1 --line 0:1:1
wrong "reactions of no part" "ritz solve: --reactions: no part has given values (--bc or --fixed)" solve box:2x2 --flux all=nx --reactions

# u = x + 2 y; the last point is beyond the mesh.
for parts in 1 3; do
  run solve box:4x4 --order 1 --bc 'all=x+2*y' --line 0,0.5:1.25,0.5:3 --parts $parts "${ref[@]}"
  [[ $status == 0 ]] && sed -n '/^s,x,y,u$/,$p' "$folder/out" | awk -F, -v t=$least '
    NR == 2 { ok = $1 == 0 && $2 == 0 && $3 == 0.5 && ($4 - 1) ^ 2 < t ^ 2 }
    NR == 3 { ok = ok && $1 == 0.625 && $2 == 0.625 && $3 == 0.5 && ($4 - 1.625) ^ 2 < t ^ 2 }
    NR == 4 { ok = ok && $1 == 1.25 && $4 == "nan" } END { exit !(ok && NR == 4) }'
  report $((1 - $?)) "values along a line are a table, $parts parts"
done

# reacts SENTENCE LOADS ARGUMENTS...: what all parts give is minus the loads, each number to rounding.
reacts() {
  local sentence=$1 loads=$2 found
  shift 2
  run solve "$@" --reactions
  found=$(sed -n '/^reactions/,$s/.*\(force\|flux\) \(.*\) on .*/\2/p' "$folder/out" | tail -1)
  awk -v t=$least -v a="$loads" -v b="$found" 'BEGIN {
    n = split(a, x, " "); m = split(b, y, " "); if (n != m) exit 1
    for (i = 1; i <= n; i++) if (!((x[i] + y[i]) ^ 2 <= t ^ 2)) exit 1 }' && [[ $status == 0 ]]
  local ok=$((1 - $?))
  [[ $ok == 1 ]] || echo "# loads $loads, reactions $found"
  report $ok "$sentence"
}
reacts "a source flows out where values are given" "1" box:3x3 --order 2 --source 2*x --bc xmin=0 --bc ymin=1 --bc xmax=x "${ref[@]}"
reacts "in parts, too" "1" box:3x3 --order 2 --source 2*x --bc xmin=0 --bc ymin=1 --bc xmax=x --parts 3 "${ref[@]}"
reacts "what Robin's condition lets out is not given" "-0.75" box:3x1 --order 1 --bc xmin=1 --robin xmax=3,0 "${ref[@]}"
reacts "supports carry the loads of a body" "1 2 -2" box:2x2x2 --problem elasticity --order 2 --fixed xmin --force 1,2,-3 \
  --traction xmax=0,0,1 "${ref[@]}"
reacts "supports in single directions add up" "1 2 -3" box:2x2x2 --problem elasticity --order 2 --fixed xmin.x --fixed ymin.y --fixed zmin \
  --force 1,2,-3 "${ref[@]}"
reacts "a body that has settled gives what it gets" "1" box:3x3 --problem heat --time 1000 --steps 5 --method implicit-euler --source 1 \
  --bc xmin=0 --bc xmax=0 --initial 0 "${ref[@]}"
run solve box:4x1 --order 1 --coefficient 3 --bc xmin=0 --bc xmax=2 --reactions "${ref[@]}"
grep -Eq '^reactions +flux -(6|5\.9999)[0-9.]* on xmin$' "$folder/out" && grep -Eq '^ +flux (6|5\.9999)[0-9.]* on xmax$' "$folder/out"
report $((1 - $?)) "each part has its flux"

# ---- Runs that go on ----

# equals FILE FILE: what two files of --save have between header and hash is the same to rounding.
equals() {
  local file
  for file in "$@"; do od -A n -v -t f8 -w8 "$file" | tail -n +12 | head -n -1 >"$file.txt"; done
  paste "$1.txt" "$2.txt" | awk -v rounding=$rounding '{ if ($1 * $1 > size) size = $1 * $1; if (($1 - $2) ^ 2 > most) most = ($1 - $2) ^ 2 }
    END { exit !(NR > 0 && size > 0 && most <= rounding ^ 2 * size) }'
}
# goes_on SENTENCE ARGUMENTS...: 8 steps to time 1 are 3 steps, and 5 after a restart.
goes_on() {
  local sentence=$1 ok=0
  shift
  run solve box:4x4 --problem heat --order 3 "$@" --initial 'x*(1-x)' --time 1 --steps 8 --save "$folder/at-once"
  run solve box:4x4 --problem heat --order 3 "$@" --initial 'x*(1-x)' --time 0.375 --steps 3 --save "$folder/first"
  grep -q '^saved  *t = 0.375,' "$folder/out" || status=1
  [[ $status == 0 ]] && run solve box:4x4 --problem heat --order 3 "$@" --time 1 --steps 5 --restart "$folder/first" --save "$folder/first"
  [[ $status == 0 ]] && grep -q '^restart  *t = 0.375,' "$folder/out" && equals "$folder/at-once" "$folder/first" && ok=1
  report $ok "$sentence"
}
heat=(--capacity 1+x --source 'sin(t)*y' --bc xmin=t --robin 'xmax=1,t' "${ref[@]}")
goes_on "a run in two pieces is one" "${heat[@]}"
goes_on "by implicit Euler, too" --method implicit-euler "${heat[@]}"
run solve box:4x4 --problem heat --order 3 "${heat[@]}" --initial x --time 0.5 --steps 4 --save "$folder/half"
prints "another step begins BDF2 anew" 0 out '^note  *the step is 0\.25, that of the file 0\.125: BDF2 begins with implicit Euler$' \
  solve box:4x4 --problem heat --order 3 "${heat[@]}" --time 1 --steps 2 --restart "$folder/half"
values "a steady solution is where heat begins" 1e-8 "0.3" box:4x4 --problem heat --order 1 --bc 'all=x' --time 1 --steps 2 \
  --restart "$(run solve box:4x4 --order 1 --bc all=x --save "$folder/steady" "${ref[@]}"; echo "$folder/steady")" --probe 0.3,0.4 "${ref[@]}"
# refused SENTENCE PATTERN MESH ORDER FILE [ARGUMENTS...]
refused() { prints "$1" 1 err "^ritz solve: --restart: '.*' $2" solve "$3" --problem heat --order "$4" --time 1 --bc all=1 --restart "$5" \
  --ceed /cpu/self/ref; }
refused "a file of another order" 'has 1 values at each of the 169 nodes of order 3 on 16 elements in 2D, needed 1 at 81 of order 2 on 16 in 2D$' \
  box:4x4 2 "$folder/half"
refused "a file of another mesh" 'has 1 values .* needed 1 at 175 of order 3 on 16 in 2D$' box:8x2 3 "$folder/half"
run solve box:4x4 --problem elasticity --order 3 --fixed xmin --force 0,1 --save "$folder/bent" "${ref[@]}"
refused "a file of displacements" 'has 2 values at each of .* needed 1 ' box:4x4 3 "$folder/bent"
mesh=$(dirname "$0")/../examples/meshes/two-regions.mesh
run solve "$mesh" --problem heat --order 2 --time 0.5 --steps 1 --initial x --save "$folder/regions" "${ref[@]}"
awk '/^vertices/ { inside = 1 } inside && NF == 2 && !done && $1 == 2 { $1 = $1 * 1.125; done = 1 } { print }' "$mesh" >"$folder/moved.mesh"
refused "a file of a mesh that has other positions" 'is of another mesh: its node [0-9]* is at .*, that of .*moved\.mesh at ' "$folder/moved.mesh" 2 "$folder/regions"
awk '/^elements/ { inside = 1 } inside && NF == 6 && !done { $0 = $1 " " $2 " " $4 " " $5 " " $6 " " $3; done = 1 } { print }' "$mesh" >"$folder/turned.mesh"
refused "a file of elements that begin elsewhere" 'is of another mesh: its elements join their vertices in another way' "$folder/turned.mesh" 2 "$folder/regions"
head -c 5000 "$folder/half" >"$folder/cut"
refused "a file that is cut" 'has 5000 bytes, .* it is not complete$' box:4x4 3 "$folder/cut"
cp "$folder/half" "$folder/damaged" && printf x | dd of="$folder/damaged" bs=1 seek=3000 conv=notrunc 2>/dev/null
refused "a file that is damaged" 'is damaged: ' box:4x4 3 "$folder/damaged"
refused "a file that is no solution" 'is no file of --save$' box:4x4 3 "$folder/case.txt"
refused "a file that is empty" 'is no file of --save$' box:4x4 3 "$folder/empty.txt"
refused "a file that is not there" 'cannot be read: No such file' box:4x4 3 "$folder/nowhere"
refused "a folder that is no solution" 'is not a regular file$' box:4x4 3 "$folder"
mkfifo "$folder/pipe"
refused "a pipe" 'is not a regular file$' box:4x4 3 "$folder/pipe"
wrong "a time that is over" "ritz solve: --time: expected more than 0.5, the time of '$folder/half', found 0.5" \
  solve box:4x4 --problem heat --order 3 --time 0.5 --restart "$folder/half"
wrong "values to begin with beside a file" "ritz solve: --initial: not with --restart, whose file has the values to begin with" \
  solve box:4x4 --problem heat --time 1 --initial 1 --restart "$folder/half"
wrong "a restart of a linear problem" "ritz solve: --restart: only with --problem heat, hyperelasticity, or u in --coefficient" \
  solve box:4x4 --bc all=1 --restart "$folder/half"
wrong "a restart in parts" "ritz solve: --restart: solutions are saved in one part alone, found 2" \
  solve box:4x4 --problem heat --time 1 --restart "$folder/half" --parts 2
prints "a solution below a folder that is not there" 1 err "^ritz solve: --save: cannot write '.*': there is no folder" \
  solve box:4x4 --bc all=1 --save "$folder/none/u"

# ---- Nonlinear problems: derivatives are compiled in C++ ----

wrong "a law of another problem" "ritz solve: --material: only with --problem hyperelasticity" solve box:2x2 --bc all=1 --material neo-hookean
wrong "a known solution of large displacements" "ritz solve: --exact: not with --problem hyperelasticity" \
  solve box:2x2 --problem hyperelasticity --exact sine
wrong "load steps of a linear problem" "ritz solve: --load-steps: only with --problem hyperelasticity, or u in --coefficient" \
  solve box:2x2 --bc all=1 --load-steps 2
wrong "a source of u" "ritz solve: --source: 'u' is used, which --coefficient has alone" \
  solve box:2x2 --bc all=1 --source u
wrong "load steps of a problem in time" "ritz solve: --load-steps: not with --problem heat, whose steps are those of time" \
  solve box:2x2 --problem heat --time 1 --bc all=1 --coefficient 1+u --load-steps 2
prints "a conductivity of u without values" 1 err '^ritz solve: --coefficient with u needs values \(--bc\) or --robin' \
  solve box:2x2 --coefficient 1+u --flux all=nx "${ref[@]}"
wrong "a pressure that varies and follows" "ritz solve: --pressure: expected a constant, found 'x'" \
  solve box:2x2 --problem hyperelasticity --fixed xmin --pressure xmax=x
prints "a body that can turn" 1 err '^ritz solve: hyperelasticity needs a body that is held: .* leave 1 rigid motions free' \
  solve box:2x2 --problem hyperelasticity --fixed xmin.x --force 0,1 "${ref[@]}"
if "$ritz" solve box:1x1 --problem hyperelasticity --order 1 --fixed xmin --force 0,0.01 "${ref[@]}" >"$folder/out" 2>"$folder/err"; then
  large=(--problem hyperelasticity --ceed /cpu/self/ref --tol 1e-11)
  # E = 1, nu = 0: P = (1/2) (s - 1/s) or s (s^2 - 1) / 2, at the stretch s = 1.2.
  values "neo-Hookean tension" 1e-8 "0.2 0 0" box:2x2x2 --order 1 --poisson 0 --fixed xmin.x --fixed ymin.y --fixed zmin.z \
    --traction xmax=11/60,0,0 --probe 1,0.5,0.5 "${large[@]}"
  values "Saint Venant-Kirchhoff tension" 1e-8 "0.2 0" box:2x2 --order 2 --poisson 0 --fixed xmin.x --fixed ymin.y \
    --traction xmax=0.264,0 --probe 1,0.5 --material saint-venant-kirchhoff "${large[@]}"
  values "an affine deformation of triangles, squares and their boundary" 1e-8 "0.17 0.13" box:3x3 --order 2 \
    --bc 'all=0.3*x+0.2*y,-0.1*x+0.4*y' --probe 0.3,0.4 "${large[@]}"
  values "a quarter of a turn in two steps" 1e-8 "-0.7 -0.1 0" box:2x2x1 --order 2 --bc 'all=-x-y,x-y,0' --probe 0.3,0.4,0.6 \
    --load-steps 2 --output "$folder/turned.vtu" "${large[@]}"
  stress=$(sed -n 's/^stress *von Mises = \([^ ]*\).*/\1/p' "$folder/out")
  awk -v s="$stress" -v t=$least 'BEGIN { exit !(s != "" && s < t) }'
  report $((1 - $?)) "and there is no stress"
  # Bending by a small load: the difference is of second order.
  bent() { run solve box:4x1 --order 3 --fixed xmin --traction xmax=0,"$1" --probe 1,0.5 --ceed /cpu/self/ref --tol 1e-12 --problem "$2"
    sed -n 's/^probe.* //p' "$folder/out"; }
  awk -v a="$(bent 1e-4 elasticity)" -v b="$(bent 1e-4 hyperelasticity)" -v c="$(bent 1e-3 elasticity)" -v d="$(bent 1e-3 hyperelasticity)" \
    'BEGIN { small = (a - b) ^ 2 / a ^ 2; large = (c - d) ^ 2 / c ^ 2; exit !(a > 0 && small < 1e-8 && large > 1e3 * small) }'
  report $((1 - $?)) "small loads bend as in linear elasticity"
  for method in "--jacobi" "--smoother schwarz" "--levels h --precision f32"; do
    # shellcheck disable=SC2086 # several words
    values "bending with $method" 1e-6 "-0.00974741 -0.19116031" box:4x4 --order 3 --fixed xmin --traction xmax=0,-0.03 \
      --load-steps 2 --probe 1,0.5 "${large[@]}" $method
  done
  # The state is on all levels: a step takes no more iterations than linear elasticity, though not each one gets new values.
  bent=(box:8x2 --order 3 --bc 'xmin=0,0' --bc 'xmax=-0.4,0.6')
  run solve "${bent[@]}" --problem elasticity --ceed /cpu/self/ref --tol 1e-11
  linear=$(sed -n 's/^iterations *\([0-9]*\),.*/\1/p' "$folder/out")
  run solve "${bent[@]}" --load-steps 2 "${large[@]}"
  awk -v linear="$linear" '$1 == "iterations" { most = linear * $4; ok = $2 <= most; steps = $4 }
    $1 == "time" { ok = ok && $(NF - 1) > 0 && $(NF - 1) < steps } END { exit !ok }' "$folder/out" && [[ $status == 0 ]]
  report $((1 - $?)) "a body that bends far keeps the iterations of linear elasticity"
  # Guesses: the solution itself, and that of a smaller load, which a whole load step does without.
  pushed=(box:8x2 --order 3 --bc 'xmin=0,0' "${large[@]}")
  run solve "${pushed[@]}" --bc xmax=-0.1,0.3 --save "$folder/pushed"
  prints "a solution is solved in no step" 0 out '^iterations *[0-9]+ in 0 steps' solve "${pushed[@]}" --bc xmax=-0.1,0.3 --restart "$folder/pushed"
  run solve "${pushed[@]}" --bc xmax=-0.12,0.35 --save "$folder/further"
  run solve "${pushed[@]}" --bc xmax=-0.12,0.35 --save "$folder/pushed" --restart "$folder/pushed"
  [[ $status == 0 ]] && equals "$folder/further" "$folder/pushed"
  report $((1 - $?)) "a smaller load is a guess of a larger one"
  wrong "load steps to a guess" "ritz solve: --load-steps: not with --restart, whose file is a guess at all of the load" \
    solve "${pushed[@]}" --bc xmax=-0.12,0.35 --restart "$folder/pushed" --load-steps 2
  # Cauchy's stress is -p: (1/2) (1/s - s) / s^2 at s = 0.9 in space, over s in the plane.
  values "a pressure that follows a cube" 1e-8 "-0.1 -0.1 -0.1" box:1x1x1 --order 1 --poisson 0 --fixed xmin.x --fixed ymin.y \
    --fixed zmin.z --pressure 'xmax=(1/0.9-0.9)/2/0.81' --pressure 'ymax=(1/0.9-0.9)/2/0.81' --pressure 'zmax=(1/0.9-0.9)/2/0.81' \
    --probe 1,1,1 "${large[@]}"
  values "and a square, in load steps" 1e-8 "-0.1 -0.1" box:2x2 --order 2 --poisson 0 --fixed xmin.x --fixed ymin.y \
    --pressure 'xmax=(1/0.9-0.9)/2/0.9' --pressure 'ymax=(1/0.9-0.9)/2/0.9' --probe 1,1 --load-steps 3 "${large[@]}"
  prints "a column that buckles" 1 out '^load +0\.0[0-9]* of the loads is reached, u is the solution there' \
    solve box:2x2 --order 2 --fixed xmin --traction xmax=-5,0 "${large[@]}"
  reacts "supports carry the loads of large displacements" "0 -0.1" box:2x2 --order 2 --fixed xmin --force 0,-0.1 "${large[@]}"
  # Conductivities of u: solutions in the space, Kirchhoff's transform, regions, formulas in C beside those of the host.
  moving=(--ceed /cpu/self/ref --tol 1e-11)
  values "a conductivity of u whose solution is quadratic" 1e-8 0.49 box:3x3 --order 2 --coefficient '1+u^2' --bc 'all=x^2+y' \
    --source '-(8*x^2*(x^2+y)+2+2*(x^2+y)^2+2*(x^2+y))' --probe 0.3,0.4 "${moving[@]}"
  values "Kirchhoff's transform, u + u^2/2 = 3x/2" 1e-5 0.378405 box:8x1 --order 3 --coefficient 1+u --bc xmin=0 --bc xmax=1 \
    --probe 0.3,0.4 "${moving[@]}"
  values "a conductivity of u with Robin's condition" 1e-8 0.3 box:3x3 --order 1 --coefficient 1+u --source -1 \
    --robin 'all=2,x+(1+x)*nx/2' --probe 0.3,0.4 "${moving[@]}"
  values "a conductivity of u and a reaction" 1e-8 0.3 box:3x3 --problem helmholtz --lambda 2 --order 1 --coefficient 1+u \
    --source 2*x-1 --bc all=x --probe 0.3,0.4 "${moving[@]}"
  values "a conductivity of u in one region" 1e-8 "0.225 0.875" "$(dirname "$0")/../examples/meshes/two-regions.mesh" --order 1 \
    --coefficient 1 --coefficient '2=3+0*u' --bc 1=0 --bc 2=1 --probe 0.3,0.4 --probe 1.5,0.2 "${moving[@]}"
  # The same in time, u = (1 + t) (x^2 + y): exact in space of degree 2 and in time.
  U='(1+t)*(x^2+y)'
  heat=(--problem heat --order 2 --coefficient '1+u^2' --capacity 2+x --initial 'x^2+y' --bc "all=$U" --time 1 --steps 3
    --source "(2+x)*(x^2+y)-2*(1+t)*(1+($U)^2)-2*$U*(1+t)^2*(4*x^2+1)" --probe "0.3,0.4" "${moving[@]}")
  for method in "--method bdf2" "--method implicit-euler --jacobi" "--smoother schwarz --levels h --precision f32"; do
    # shellcheck disable=SC2086 # several words
    values "a conductivity of u in time, $method" 1e-8 0.98 box:4x4 "${heat[@]}" $method
  done
  # The flux is the integral of div (1 + u^2) grad u, 164/3.
  reacts "and its flux" "-54.66666667" box:4x4 "${heat[@]}"
  prints "a step of time that Newton's method cannot take" 1 out \
    '^result +step 1 of 3, t = 0\.333333: not converged: the limit of steps was reached$' solve box:4x4 "${heat[@]}" --newton-it 1
  values "conductivities of u and capacities by region" 1e-8 "1.3 2.5" "$(dirname "$0")/../examples/meshes/two-regions.mesh" --order 1 \
    --problem heat --time 1 --steps 2 --coefficient 1+u --capacity 1=2 --capacity 2=3+0*x --source 1=1 --source 2=2 --initial x \
    --bc all=x+t --probe 0.3,0.4 --probe 1.5,0.2 "${moving[@]}"
  goes_on "conduction that depends on u in two pieces is one" --coefficient '1+u^2' --capacity 1+x --source 'sin(t)*y' --bc xmin=t \
    "${moving[@]}" --tol 1e-13
  if [[ $least == 1e-8 ]]; then # errors below rounding in float
    # orders SENTENCE ORDER ERROR...: of errors, each with half the size of the one before; to a tenth and a bit.
    orders() {
      local sentence=$1 order=$2
      shift 2
      awk -v order="$order" -v errors="$*" 'BEGIN { n = split(errors, e, " "); if (n < 3) exit 1
        for (i = 1; i < n; i++) { found = log(e[i] / e[i + 1]) / log(2); if (!(found > order - 0.15 && found < order + 0.5)) exit 1 } }'
      local ok=$((1 - $?))
      [[ $ok == 1 ]] || echo "# errors $*"
      report $ok "$sentence"
    }
    # u = exp(-t) (x^2 + y): the error is that of time.
    decay='exp(-t)*(x^2+y)'
    in_time() {
      run solve box:3x3 --problem heat --order 2 --coefficient '1+u^2' --initial 'x^2+y' --bc "all=$decay" --time 1 --probe 0.3,0.4 \
        --source "-$decay-2*exp(-t)*(1+($decay)^2)-2*$decay*exp(-2*t)*(4*x^2+1)" --method "$1" --steps "$2" "${moving[@]}"
      sed -n 's/^probe .* //p' "$folder/out" | awk '{ e = $1 - 0.49 * exp(-1); print e < 0 ? -e : e }'
    }
    orders "BDF2 has order 2 with a conductivity of u" 2 "$(in_time bdf2 8)" "$(in_time bdf2 16)" "$(in_time bdf2 32)"
    orders "implicit Euler has order 1" 1 "$(in_time implicit-euler 8)" "$(in_time implicit-euler 16)" "$(in_time implicit-euler 32)"
    # u = (1 + t) sin x: the error is that of space, the largest one along the line.
    wave='(1+t)*sin(x)'
    in_space() {
      run solve "box:$2" --problem heat --order "$1" --coefficient '1+u^2' --initial 'sin(x)' --bc "all=$wave" --time 1 --steps 2 \
        --source "sin(x)+(1+($wave)^2)*$wave-2*$wave*((1+t)*cos(x))^2" --line 0:1:101 "${moving[@]}"
      awk -F, '/^s,x,u/ { line = 1; next } line { e = $3 - 2 * sin($2); e = e < 0 ? -e : e; if (e > most) most = e } END { print most }' \
        "$folder/out"
    }
    for p in 2 3; do
      orders "order $((p + 1)) in space of degree $p" $((p + 1)) "$(in_space $p 4)" "$(in_space $p 8)" "$(in_space $p 16)"
    done
  fi
else
  grep -q 'C++' "$folder/err"
  report $((1 - $?)) "without a C++ compiler that is said"
fi

end
