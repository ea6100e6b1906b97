#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# The first thing to try: the temperature of a finned heat sink at degree 4, and a picture of it. Called by `make demo`.
# Environment: RITZ, the program (default build/ritz); DEMO, the folder for the results (default build/demo).
set -euo pipefail
cd "$(dirname "$0")/.."
ritz=${RITZ:-build/ritz}
folder=${DEMO:-build/demo}
mkdir -p "$folder"

# The bottom of the plate is kept 60 K above the air that a fan blows through the fins. A fin of thickness t = 1.5 mm and
# conductivity k = 200 W/(m K) (aluminium) loses 2 h u per area to the air through its two faces, h = 100 W/(m^2 K), so the
# temperature u above that of the air fulfils
#
#     -div grad u + lambda u = 0,    lambda = 2 h / (k t) = 667 per square metre.
"$ritz" solve examples/meshes/heat-sink.msh --problem helmholtz --lambda 667 --order 4 --bc base=60 --tol 1e-6 \
  --output "$folder/heat-sink.vtu"

"$ritz" picture "$folder/heat-sink.vtu" --title $'temperature\nabove air [K]' --map plasma --range 30,60 --view=-56,30
