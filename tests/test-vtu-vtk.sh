#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# VTK's own reader opens files of RitzWriteVTU and finds the positions, fields and volumes that were meant.
# Usage: test-vtu-vtk.sh [test-vtu]: it and test-vtu-shapes beside it make the files. Exit status 77: there is no VTK.
set -euo pipefail
cd "$(dirname "$0")/.."
program=${1:-build/tests/test-vtu}

for python in "${PYTHON:-python3}" /usr/bin/python3 ""; do
  if [ -z "$python" ]; then
    echo "1..0 # SKIP VTK for Python is missing (Debian: python3-vtk9; or pip install vtk)"
    exit 77
  fi
  if "$python" -c 'import vtk' 2>/dev/null; then break; fi
done

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
tolerance=$("$program" --write "$folder")
"$program-shapes" --write "$folder"

# The map and the field of tests/test-vtu.c (bend, polynomial), in terms of the field X of each file.
points[1]='(X + 0.1*X**ORDER, 0, 0)'
points[2]='(X[0] + 0.1*X[1]**ORDER, 2*X[1] + 0.1*X[0]**ORDER, 0)'
points[3]='(X[0] + 0.1*X[1]**ORDER, 2*X[1] + 0.1*X[2]**ORDER, 3*X[2] + 0.1*X[0]**ORDER)'
field[1]='(1 + (X - 0.1)**DEGREE)'
field[2]='(1 + (X[0] - 0.1)**DEGREE) * (1 + (X[1] - 0.2)**DEGREE)'
field[3]='(1 + (X[0] - 0.1)**DEGREE) * (1 + (X[1] - 0.2)**DEGREE) * (1 + (X[2] - 0.3)**DEGREE)'
volume=("" 1.1 1.99 6.001) # products of 1, 2, 3 plus or minus those of 0.1: the integral of the determinant

# Those of tests/test-vtu-shapes.c (shape_map, simplex_polynomial); files are called by the letters of their cubes.
bent[2]='(X[0] + 0.2*X[1]**ORDER, X[1], 0)'
bent[3]='(X[0] + 0.2*X[1]**ORDER - 0.15*X[2]**ORDER, X[1] + 0.25*X[2]**ORDER, X[2])'
simplex[2]='(0.1 + 0.3*X[0] - 0.2*X[1])**DEGREE + 0.2*X[0]'
simplex[3]='(0.1 + 0.3*X[0] - 0.2*X[1] + 0.4*X[2])**DEGREE + 0.2*X[0]'

checks=()
for file in "$folder"/*.vtu; do
  name=$(basename "$file" .vtu)
  if [[ $name =~ ^[a-z] ]]; then
    IFS=- read -r kinds dim degree order <<<"$name"
    position=${bent[dim]}
    value=${simplex[dim]}
    cubes=${kinds//./}
    size=$(awk "BEGIN { printf \"%.17g\", ${#cubes} / ${#kinds} }")
  else
    IFS=- read -r dim degree order <<<"$name"
    position=${points[dim]}
    value=${field[dim]}
    size=${volume[dim]}
  fi
  checks+=(-- "$file" --tolerance "$tolerance" --points "${position//ORDER/$order}" --field "u=${value//DEGREE/$degree}"
    --volume "$size" --gauss $((3 * order / 2 + 2)))
done

echo "1..1"
if "$python" tools/check-vtu.py "${checks[@]:1}" | sed "s|^$folder/|# |"; then
  echo "ok 1 - VTK reads positions, fields and volumes as they were meant"
else
  echo "not ok 1 - VTK reads positions, fields and volumes as they were meant"
  exit 1
fi
