#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Meshes as users of the `ritz` program meet them: groups that overlap, names, conditions on nothing, meshes that are too large.
# Run by ctest with the path of the program as argument (or in RITZ_PROGRAM); prints TAP.
# shellcheck source=tests/cli-kit.sh
source "$(dirname "$0")/cli-kit.sh"
export RITZ_CACHE_DIR=$folder/cache
unset RITZ_CACHE
ref=(--ceed /cpu/self/ref --jacobi --order 1)

# also SENTENCE STREAM PATTERN: of the last run.
also() {
  grep -Eq -- "$3" "$folder/$2"
  report $((1 - $?)) "$1"
}

# gmsh2 FILE NAMES NODES ELEMENTS: lines of a Gmsh file of version 2.2, separated by ;
gmsh2() {
  {
    printf '$MeshFormat\n2.2 0 8\n$EndMeshFormat\n'
    section PhysicalNames "$2"; section Nodes "$3"; section Elements "$4"
  } >"$folder/$1"
}
section() {
  [[ $2 ]] || return
  tr ';' '\n' <<<"$2" >"$folder/lines"
  printf '$%s\n%d\n' "$1" "$(wc -l <"$folder/lines")"
  cat "$folder/lines"
  printf '$End%s\n' "$1"
}

# ---- Groups ----

# Two unit squares: both in `whole`, the first in `left`, too; lines `all` (one of them), `a = "b"`, a point.
row='1 0 0 0;2 1 0 0;3 2 0 0;4 0 1 0;5 1 1 0;6 2 1 0'
gmsh2 row.msh '2 10 "left";2 11 "whole";1 1 "all";1 2 "a = "b"";0 3 "probe"' "$row" \
  '1 3 2 10 1 1 2 5 4;2 3 2 11 1 1 2 5 4;3 3 2 11 2 2 3 6 5;4 1 2 1 1 4 1;5 1 2 2 2 3 6;6 15 2 3 1 1'
{
  printf '$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$PhysicalNames\n2\n2 10 "left"\n2 11 "whole"\n$EndPhysicalNames\n'
  printf '$Entities\n0 0 2 0\n1 0 0 0 1 1 0 2 11 10 0\n2 1 0 0 2 1 0 1 11 0\n$EndEntities\n'
  printf '$Nodes\n1 6 1 6\n2 1 0 6\n1\n2\n3\n4\n5\n6\n0 0 0\n1 0 0\n2 0 0\n0 1 0\n1 1 0\n2 1 0\n$EndNodes\n'
  printf '$Elements\n2 2 1 2\n2 1 3 1\n1 1 2 5 4\n2 2 3 1\n2 2 3 6 5\n$EndElements\n'
} >"$folder/row-4.msh"
for mesh in row row-4; do
  prints "info lists regions with their measures, $mesh" 0 out '^regions +left: 1 elements, area 1$' info "$folder/$mesh.msh"
  also "elements belong to all their regions, $mesh" out '^ +whole: 2 elements, area 2$'
  # Without given values a constant is added that makes up for the integral of the source, 2, over the area, 2.
  prints "a source counts in all of its region, $mesh" 0 out 'a constant source of -1 is added$' \
    solve "$folder/$mesh.msh" "${ref[@]}" --source whole=1
  prints "the later source counts, $mesh" 0 out 'a constant source of -2 is added$' \
    solve "$folder/$mesh.msh" "${ref[@]}" --source whole=1 --source left=3
  prints "whatever the order of regions, $mesh" 0 out 'a constant source of -1 is added$' \
    solve "$folder/$mesh.msh" "${ref[@]}" --source left=3 --source whole=1
done
# The same squares in groups that do not overlap: the same residuals.
gmsh2 apart.msh '2 10 "left";2 11 "right";1 2 "a = "b""' "$row" '1 3 2 10 1 1 2 5 4;3 3 2 11 2 2 3 6 5;5 1 2 2 2 3 6'
ends=(--bc '"a = ""b"""=x+y' --source 1)
prints "coefficients by regions apart" 0 out '^iterations ' solve "$folder/apart.msh" "${ref[@]}" "${ends[@]}" --coefficient right=30 --coefficient left=1
residuals=$(grep '^iterations' "$folder/out")
prints "and by regions that overlap, the later one counts" 0 out "^${residuals//+/.}$" \
  solve "$folder/row.msh" "${ref[@]}" "${ends[@]}" --coefficient whole=30 --coefficient left=1
prints "if it is the larger one there is no jump" 0 out '^iterations ' solve "$folder/row.msh" "${ref[@]}" "${ends[@]}" --coefficient left=1 --coefficient whole=30
! grep -Fqx -- "$residuals" "$folder/out"
report $((1 - $?)) "and other residuals"

# ---- Names ----

prints "a group of the file's own called all is not replaced by the boundary" 0 out '^space .* 6 unknowns, 4 free' \
  solve "$folder/row.msh" "${ref[@]}" --bc all=0
also "it is listed once" out '^facets +all \(1\), a = "b" \(1\)$'
prints "names in quotation marks may have = and marks" 0 out '^values +u = 5 on a = "b"$' \
  solve "$folder/row.msh" "${ref[@]}" --bc '"a = ""b"""=5'
prints "known solutions need all of the boundary" 2 err "^ritz solve: --exact: sets values on all of the boundary, but the file calls" \
  solve "$folder/row.msh" "${ref[@]}" --exact sine
prints "a quotation mark needs its fellow" 2 err '^ritz solve: --bc: expected NAME=EXPR' solve box:2 "${ref[@]}" --bc '"xmin=1'
prints "quotation marks may be used for other names, too" 0 out '^values +u = 1 on xmin$' solve box:2 "${ref[@]}" --bc '"xmin"=1'
prints "directions follow the marks" 0 out '^values +u.x = 0 on xmin$' \
  solve box:2x2 "${ref[@]}" --problem elasticity --force 0,1 --fixed '"xmin".x' --fixed ymin

gmsh2 tet.msh '0 7 "probe";1 7 "rim"' '1 0 0 0;2 1 0 0;3 0 1 0;4 0 0 1' '1 15 2 7 1 1;2 1 2 7 1 1 2;3 4 2 1 1 1 2 3 4'
prints "groups of points are told to have no use" 0 out "^not used +'probe', a group of points$" info "$folder/tet.msh"
also "and those of curves in space" out "^not used +'rim', a group of curves$"
prints "a condition on one is an error that says why" 2 err "no boundary part 'rim'; its parts are: all; 'rim' is a group of curves, but" \
  solve "$folder/tet.msh" "${ref[@]}" --bc rim=0

# ---- Conditions on nothing ----

# The surface of a tetrahedron, as Gmsh writes it when the volume has no physical group.
gmsh2 skin.msh '2 1 "skin"' '1 0 0 0;2 1 0 0;3 0 1 0;4 0 0 1' '1 2 2 1 1 1 3 2;2 2 2 1 2 1 2 4;3 2 2 1 3 1 4 3;4 2 2 1 4 2 3 4'
prints "a condition on a boundary without facets is an error" 2 err \
  "^ritz solve: --bc: the boundary part 'all' has no facets; the mesh has no boundary: .* surfaces alone: in Gmsh the volume needs a physical" \
  solve "$folder/skin.msh" "${ref[@]}" --bc all=0
prints "surfaces in space are told to be such" 0 out '^mesh +.*skin.msh, surfaces in 3D$' solve "$folder/skin.msh" "${ref[@]}" --source 1
also "with a hint at what may be missing" out 'the volume needs a physical group'

# ---- Cracks ----

# A square beside two halves of one; two squares whose common vertices are there twice.
gmsh2 hanging.msh '' '1 0 0 0;2 1 0 0;3 1 1 0;4 0 1 0;5 2 0 0;6 2 1 0;7 1 .5 0;8 2 .5 0' '1 3 2 1 1 1 2 3 4;2 3 2 1 1 2 5 8 7;3 3 2 1 1 7 8 6 3'
gmsh2 unmerged.msh '' '1 0 0 0;2 1 0 0;3 1 1 0;4 0 1 0;5 1 0 0;6 2 0 0;7 2 1 0;8 1 1 0' '1 3 2 1 1 1 2 3 4;2 3 2 1 1 5 6 7 8'
prints "hanging nodes are an error with their place" 1 err \
  '^ritz solve: .*hanging.msh: vertices lie on elements that do not have them: 1, the first at \(1, 0.5, 0\)$' \
  solve "$folder/hanging.msh" "${ref[@]}" --bc all=0 --source 1
also "that names the options" err '^The mesh has cracks there: --merge DISTANCE joins vertices, --allow-cracks goes on\.$'
prints "cracks can be allowed" 0 out '^elements +3 quadrilaterals, 8 vertices' solve "$folder/hanging.msh" "${ref[@]}" --bc all=0 --source 1 --allow-cracks
prints "unmerged nodes are an error" 1 err 'vertices coincide with others: 4, the first at \(1, 0, 0\)$' \
  solve "$folder/unmerged.msh" "${ref[@]}" --bc all=0 --source 1
prints "and can be merged" 0 out '^elements +2 quadrilaterals, 6 vertices' solve "$folder/unmerged.msh" "${ref[@]}" --bc all=0 --source 1 --merge 1e-9
prints "also in parts" 1 err 'vertices coincide with others: 4' solve "$folder/unmerged.msh" "${ref[@]}" --bc all=0 --source 1 --parts 2
prints "info tells of cracks" 0 out '^cracks +vertices coincide with others: 4' info "$folder/unmerged.msh"

# ---- Periods ----

# Three squares in a row, closed along x.
gmsh2 ring.msh '' '1 0 0 0;2 1 0 0;3 2 0 0;4 3 0 0;5 0 1 0;6 1 1 0;7 2 1 0;8 3 1 0' '1 3 2 1 1 1 2 6 5;2 3 2 1 1 2 3 7 6;3 3 2 1 1 3 4 8 7'
printf '$Periodic\n1\n1 2 1\nAffine 1 0 0 3 0 1 0 0 0 0 1 0 0 0 0 1\n2\n4 1\n8 5\n$EndPeriodic\n' >>"$folder/ring.msh"
prints "nodes of \$Periodic are one" 0 out '^elements +3 quadrilaterals, 6 vertices' solve "$folder/ring.msh" "${ref[@]}" --bc all=0 --source 1
also "so that there is no boundary across the period" out '^facets +all \(6\)$'
prints "unless told otherwise" 0 out '^elements +3 quadrilaterals, 8 vertices' \
  solve "$folder/ring.msh" "${ref[@]}" --bc all=0 --source 1 --ignore-periodic

# ---- Values at points ----

prints "the solution is printed at a point" 0 out '^probe +u\(0.25,0.5\) = 2\.(5|49999)' solve box:4x3 "${ref[@]}" --bc xmin=2 --bc xmax=4 --probe 0.25,0.5
prints "of parts by those that have it, once" 0 out '^probe +u\(0.5,0.5\) = (3|2\.99999)' solve box:4x4 --order 1 --bc xmin=2 --bc xmax=4 --probe 0.5,0.5 --parts 3
prints "components beside each other" 0 out '^probe +u\(1,0.5\) = 0.(5|49999)' \
  solve box:2x2 "${ref[@]}" --problem elasticity --poisson 0 --fixed xmin --bc xmax=0.5,0 --probe 1,0.5
prints "points outside are told" 1 err '^ritz solve: --probe 2,0: the point is not in the mesh$' solve box:4x4 "${ref[@]}" --bc all=0 --source 1 --probe 2,0
prints "and other dimensions" 2 err "^ritz solve: --probe: expected 2 numbers separated by commas, found '1,2,3'" \
  solve box:4x4 "${ref[@]}" --bc all=0 --probe 1,2,3

# ---- Pressure ----

# The same all around: u = -p (1 - 2 nu) (1 + nu) / E x in the plane, up to a motion, which three fixed directions forbid.
prints "a pressure all around is a uniform strain" 0 out '^probe +u\(1,1\) = -0\.(52|5199)[0-9]* -0\.(52|5199)' \
  solve box:3x2 --ceed /cpu/self/ref --order 2 --problem elasticity --young 1 --poisson 0.3 --fixed xmin.x --fixed ymin.y --pressure xmax=1 --pressure ymax=1 --probe 1,1
prints "in space, on curved surfaces, it has no resultant: on a closed surface motions are all that is left" 0 out '^nullspace +6 rigid' \
  solve examples/meshes/four-shapes.msh --order 1 --problem elasticity --pressure all=1
also "and loads in balance" out '^result +converged'

# ---- Sizes ----

for mesh in box:99999999x99999999 'box:2x2 --refine 31' 'box:2x2x2 --refine 2147483647' 'box:9999x9999x9999'; do
  # shellcheck disable=SC2086
  prints "too large at once: $mesh" 1 err 'too many' solve $mesh --bc all=0 --source 1
done

end
