// SPDX-License-Identifier: BSD-2-Clause
// Typical operators for devices: of each family, action and choice that kernels have some. Included by the
// tests that hold their texts against kept ones (test-gpu-text.c) and against each other (test-same-text.c).
#ifndef RITZ_TESTS_GPU_CASES_H
#define RITZ_TESTS_GPU_CASES_H

#include "tests/gpu-plan-kit.h"

#define SHAPE(...)                                                                                           \
  { __VA_ARGS__ }
#define MASS(dim, P, num_comp)       SHAPE(dim, P, (P) + 1, num_comp, false, CEED_GAUSS)
#define DIFFUSION(dim, P, num_comp)  SHAPE(dim, P, (P) + 1, num_comp, true, CEED_GAUSS)
#define COLLOCATED(dim, P, num_comp) SHAPE(dim, P, P, num_comp, true, CEED_GAUSS_LOBATTO)

static const GpuCase cases[] = {
    // The bake-off problems.
    {.name = "bp1-degree1", .set = set_stored, .shape = MASS(3, 2, 1)},
    {.name = "bp1-degree3", .set = set_stored, .shape = MASS(3, 4, 1)},
    {.name = "bp1-degree7", .set = set_stored, .shape = MASS(3, 8, 1)},
    {.name = "bp2-degree4", .set = set_stored, .shape = MASS(3, 5, 3)},
    {.name = "bp3-degree1", .set = set_stored, .shape = DIFFUSION(3, 2, 1)},
    {.name = "bp3-degree2", .set = set_stored, .shape = DIFFUSION(3, 3, 1)},
    {.name = "bp3-degree4", .set = set_stored, .shape = DIFFUSION(3, 5, 1)},
    {.name = "bp3-degree7", .set = set_stored, .shape = DIFFUSION(3, 8, 1)},
    {.name = "bp4-degree3", .set = set_stored, .shape = DIFFUSION(3, 4, 3)},
    {.name = "bp4-degree6", .set = set_stored, .shape = DIFFUSION(3, 7, 3)},
    {.name = "bp5-degree2", .set = set_stored, .shape = COLLOCATED(3, 3, 1)},
    {.name = "bp5-degree7", .set = set_stored, .shape = COLLOCATED(3, 8, 1)},
    {.name = "bp6-degree5", .set = set_stored, .shape = COLLOCATED(3, 6, 3)},
    // Other dimensions.
    {.name = "line", .set = set_stored, .shape = DIFFUSION(1, 4, 1)},
    {.name = "quadrilateral", .set = set_stored, .shape = DIFFUSION(2, 5, 1)},
    {.name = "quadrilateral-vector", .set = set_stored, .shape = MASS(2, 3, 2)},
    {.name = "quadrilateral-collocated", .set = set_stored, .shape = COLLOCATED(2, 6, 1)},
    // Geometry at the points.
    {.name = "trilinear-degree1", .set = set_trilinear, .shape = DIFFUSION(3, 2, 1)},
    {.name = "trilinear-degree4", .set = set_trilinear, .shape = DIFFUSION(3, 5, 1)},
    {.name = "trilinear-mass", .set = set_trilinear, .shape = MASS(3, 6, 1)},
    {.name = "affine-degree3", .set = set_affine, .shape = DIFFUSION(3, 4, 1)},
    {.name = "factors", .set = set_factors, .shape = DIFFUSION(3, 3, 3)},
    // Several spaces.
    {.name = "mixed", .set = set_mixed, .shape = DIFFUSION(2, 3, 2)},
    {.name = "mixed-hexahedron", .set = set_mixed, .shape = DIFFUSION(3, 4, 3)},
    {.name = "tensor-and-dense", .set = set_both, .shape = DIFFUSION(2, 3, 1)},
    // Without tensor bases.
    {.name = "tetrahedron", .set = set_dense, .shape = SHAPE(3, 10, 14, 1, true, CEED_GAUSS)},
    {.name = "tetrahedron-vector", .set = set_dense, .shape = SHAPE(3, 4, 4, 3, false, CEED_GAUSS)},
    {.name = "triangle", .set = set_dense, .shape = SHAPE(2, 6, 7, 1, true, CEED_GAUSS)},
    {.name = "hdiv", .set = set_hdiv},
    // Tables for each component and direction.
    {.name = "nedelec", .set = set_nedelec, .shape = SHAPE(3, 2, 3, 1, false, CEED_GAUSS)},
    {.name = "nedelec-quadrilateral",
     .set = set_nedelec,
     .shape = SHAPE(2, 3, 5, 1, false, CEED_GAUSS_LOBATTO),
     .is_deterministic = true},
    {.name = "raviart-thomas", .set = set_raviart_thomas, .shape = SHAPE(3, 3, 4, 1, false, CEED_GAUSS)},
    {.name = "energy-nedelec",
     .set = set_nedelec,
     .shape = SHAPE(3, 1, 2, 1, false, CEED_GAUSS),
     .action = ACTION_ENERGY},
    // Nodes.
    {.name = "strided", .set = set_strided, .shape = DIFFUSION(3, 4, 2)},
    {.name = "oriented", .set = set_oriented, .shape = MASS(3, 3, 1)},
    {.name = "curl-oriented", .set = set_curl_oriented, .shape = MASS(2, 4, 1)},
    {.name = "reduced", .set = set_stored, .shape = SHAPE(3, 5, 3, 1, true, CEED_GAUSS)},
    // Contexts.
    {.name = "context", .set = set_context, .shape = MASS(2, 2, 1)},
    {.name = "writable-context", .set = set_writable, .shape = MASS(3, 4, 1)},
    // What may be chosen.
    {.name = "deterministic", .set = set_stored, .shape = DIFFUSION(3, 4, 1), .is_deterministic = true},
    {.name = "deterministic-vector", .set = set_stored, .shape = MASS(3, 3, 3), .is_deterministic = true},
    {.name = "chosen-lines-trilinear",
     .set = set_trilinear,
     .shape = DIFFUSION(3, 3, 1),
     .choice = {.whole = -1}},
    {.name = "chosen-rolled",
     .set = set_stored,
     .shape = DIFFUSION(3, 4, 1),
     .choice = {.num_elem = 3, .num_blocks = 2, .unroll = -1, .fence = 1}},
    {.name = "chosen-whole",
     .set = set_trilinear,
     .shape = DIFFUSION(3, 3, 1),
     .choice = {.whole = 1, .join = -1}},
    {.name = "chosen-joined",
     .set = set_trilinear,
     .shape = DIFFUSION(3, 2, 1),
     .choice = {.whole = 1, .join = 1}},
    {.name = "chosen-lines", .set = set_stored, .shape = MASS(3, 2, 1), .choice = {.whole = -1}},
    {.name = "chosen-stacked",
     .set = set_dense,
     .shape = SHAPE(3, 10, 14, 1, true, CEED_GAUSS),
     .choice = {.stacked = 4}},
    {.name = "tensor-cores", .set = set_stored, .shape = DIFFUSION(3, 7, 1), .choice = {.mma = 1}},
    {.name = "tensor-cores-collocated",
     .set = set_trilinear,
     .shape = COLLOCATED(3, 8, 1),
     .choice = {.mma = 1}},
    // Other actions.
    {.name = "energy-lines", .set = set_stored, .shape = DIFFUSION(3, 4, 1), .action = ACTION_ENERGY},
    {.name = "energy-whole", .set = set_stored, .shape = MASS(3, 2, 1), .action = ACTION_ENERGY},
    {.name = "energy-dense",
     .set = set_dense,
     .shape = SHAPE(3, 10, 14, 1, true, CEED_GAUSS),
     .action = ACTION_ENERGY},
    {.name = "many-lines", .set = set_stored, .shape = COLLOCATED(3, 5, 1), .action = ACTION_MANY},
    {.name = "many-whole", .set = set_stored, .shape = MASS(3, 2, 1), .action = ACTION_MANY},
    {.name = "many-dense",
     .set = set_dense,
     .shape = SHAPE(3, 10, 14, 1, true, CEED_GAUSS),
     .action = ACTION_MANY,
     .is_deterministic = true},
    {.name = "diagonal-mass", .set = set_stored, .shape = MASS(3, 4, 1), .action = ACTION_DIAGONAL},
    {.name = "diagonal-vector", .set = set_stored, .shape = DIFFUSION(3, 4, 3), .action = ACTION_DIAGONAL},
    {.name = "diagonal-coefficient",
     .set = set_coefficient,
     .shape = DIFFUSION(3, 6, 1),
     .action = ACTION_DIAGONAL},
    {.name = "diagonal-trilinear",
     .set = set_trilinear,
     .shape = DIFFUSION(2, 4, 1),
     .action = ACTION_DIAGONAL},
    {.name = "point-blocks", .set = set_stored, .shape = DIFFUSION(3, 3, 3), .action = ACTION_POINT_BLOCKS},
    // Single precision: of everything, of the arithmetic, of vectors.
    {.name = "single-bp1-degree1", .set = set_stored, .shape = MASS(3, 2, 1), .floats = FLOAT_ALL},
    {.name = "single-bp3-degree4", .set = set_stored, .shape = DIFFUSION(3, 5, 1), .floats = FLOAT_ALL},
    {.name = "single-bp5-degree7", .set = set_stored, .shape = COLLOCATED(3, 8, 1), .floats = FLOAT_ALL},
    {.name = "single-tetrahedron",
     .set = set_dense,
     .shape = SHAPE(3, 10, 14, 1, true, CEED_GAUSS),
     .floats = FLOAT_ALL},
    {.name = "single-context", .set = set_context, .shape = MASS(2, 2, 1), .floats = FLOAT_ALL},
    {.name = "single-diagonal",
     .set = set_stored,
     .shape = DIFFUSION(3, 4, 1),
     .action = ACTION_DIAGONAL,
     .floats = FLOAT_ALL},
    {.name = "single-arithmetic",
     .set = set_trilinear,
     .shape = DIFFUSION(3, 5, 1),
     .floats = FLOAT_ARITHMETIC},
    {.name = "single-arithmetic-whole",
     .set = set_stored,
     .shape = MASS(3, 2, 1),
     .floats = FLOAT_ARITHMETIC | FLOAT_OUT},
    {.name = "single-vectors",
     .set = set_stored,
     .shape = DIFFUSION(3, 4, 1),
     .is_deterministic = true,
     .floats = FLOAT_VECTORS},
};
enum { NUM_CASES = sizeof(cases) / sizeof(cases[0]) };

#endif
