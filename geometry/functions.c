// SPDX-License-Identifier: BSD-2-Clause
// The QFunction for an operator and the treatment of its elements. The texts are installed for run-time
// compilation; here they are compiled for the host.
#include "core/qfunction-clones.h"

#include <ritz/jit-source/geometry/diffusion.h>
#include <ritz/jit-source/geometry/helmholtz.h>
#include <ritz/jit-source/geometry/mass.h>
#include <ritz/jit-source/geometry/setup.h>
#include <string.h>

#include "geometry/geometry.h"

// With dimension and components as constants, 1 or 3 components; and for all others.
typedef struct {
  RitzGeometryFunction by_dim[3][2], any;
} Functions;

#define FUNCTION(name)                                                                                       \
  { name, name##_loc }
#define FUNCTIONS(name)                                                                                      \
  {                                                                                                          \
    {{FUNCTION(name##_1_1), FUNCTION(name##_1_3)},                                                           \
     {FUNCTION(name##_2_1), FUNCTION(name##_2_3)},                                                           \
     {FUNCTION(name##_3_1), FUNCTION(name##_3_3)}},                                                          \
        FUNCTION(name##_any)                                                                                 \
  }
#define FUNCTIONS_OF_ANY_DIM(name)                                                                           \
  {                                                                                                          \
    {{FUNCTION(name##_1), FUNCTION(name##_3)},                                                               \
     {FUNCTION(name##_1), FUNCTION(name##_3)},                                                               \
     {FUNCTION(name##_1), FUNCTION(name##_3)}},                                                              \
        FUNCTION(name##_any)                                                                                 \
  }

static const Functions functions[RITZ_NUM_OPERATOR_KINDS][RITZ_NUM_POLICIES] = {
    [RITZ_OPERATOR_MASS] = {[RITZ_POLICY_STORED] = FUNCTIONS_OF_ANY_DIM(ritz_mass_stored),
                            [RITZ_POLICY_AFFINE] = FUNCTIONS_OF_ANY_DIM(ritz_mass_affine),
                            [RITZ_POLICY_TRILINEAR] = FUNCTIONS(ritz_mass_computed),
                            [RITZ_POLICY_ISOPARAMETRIC] = FUNCTIONS(ritz_mass_computed)},
    [RITZ_OPERATOR_DIFFUSION] = {[RITZ_POLICY_STORED] = FUNCTIONS(ritz_diffusion_stored),
                                 [RITZ_POLICY_AFFINE] = FUNCTIONS(ritz_diffusion_affine),
                                 [RITZ_POLICY_TRILINEAR] = FUNCTIONS(ritz_diffusion_computed),
                                 [RITZ_POLICY_PARTIAL] = FUNCTIONS(ritz_diffusion_partial),
                                 [RITZ_POLICY_MERGED] = FUNCTIONS(ritz_diffusion_partial),
                                 [RITZ_POLICY_ISOPARAMETRIC] = FUNCTIONS(ritz_diffusion_computed)},
    [RITZ_OPERATOR_HELMHOLTZ] = {[RITZ_POLICY_STORED] = FUNCTIONS(ritz_helmholtz_stored),
                                 [RITZ_POLICY_AFFINE] = FUNCTIONS(ritz_helmholtz_affine),
                                 [RITZ_POLICY_TRILINEAR] = FUNCTIONS(ritz_helmholtz_computed),
                                 [RITZ_POLICY_PARTIAL] = FUNCTIONS(ritz_helmholtz_partial),
                                 [RITZ_POLICY_MERGED] = FUNCTIONS(ritz_helmholtz_merged),
                                 [RITZ_POLICY_ISOPARAMETRIC] = FUNCTIONS(ritz_helmholtz_computed)},
};

// The path as run-time compilers look it up, below the roots of the context: the build tree may be gone.
static RitzGeometryFunction relative(RitzGeometryFunction function) {
  return (RitzGeometryFunction){function.f, strstr(function.source, "ritz/jit-source")};
}

// Numbers once an element or a point do not depend on the space.
RitzGeometryFunction ritz_geometry_function(const RitzGeometryCase *c, RitzGeometryPolicy treatment) {
  const Functions *all = &functions[c->options.kind][treatment];
  const bool is_plane =
      c->dim == c->space_dim || treatment == RITZ_POLICY_STORED || treatment == RITZ_POLICY_AFFINE;
  const bool is_common = is_plane && (c->num_comp == 1 || c->num_comp == 3);

  return relative(is_common ? all->by_dim[c->dim - 1][c->num_comp == 3] : all->any);
}

RitzGeometryFunction ritz_geometry_sample_function(void) {
  return relative((RitzGeometryFunction)FUNCTION(ritz_sample));
}

RitzGeometryFunction ritz_geometry_gradient_function(void) {
  return relative((RitzGeometryFunction)FUNCTION(ritz_gradients));
}

RitzGeometryFunction ritz_geometry_ring_function(void) {
  return relative((RitzGeometryFunction)FUNCTION(ritz_ring_weights));
}

RitzGeometryFunction ritz_geometry_setup_function(bool has_coefficients) {
  const RitzGeometryFunction with = FUNCTION(ritz_setup_with_coefficients), without = FUNCTION(ritz_setup);

  return relative(has_coefficients ? with : without);
}
