// SPDX-License-Identifier: BSD-2-Clause
// What becomes of the elements of each kind under a policy; for AUTO by a model of costs. Called when
// operators are made.
//
// The model. Contractions, vectors and offsets of the unknown are the same for all treatments, so only what
// differs counts: bytes of stored numbers and coordinates, and operations that make factors of them. Both
// are added up, in bytes: an operation costs what so many stored bytes cost. (Times overlap less than one
// would think. The sum tells the orders of measured kernels right, the larger of the two does not: with
// stored factors of degree 8 memory and arithmetic each alone would take as long as all of the trilinear
// kernel.) Nothing is measured here. The figures are those of the processor where they are kept (`ritz info`,
// RitzMachineGet), else, and on devices, those of typical machines. Numbers that stay in the caches from
// apply to apply count a third.
//
// With the typical figures this gives trilinear diffusion from degree 1 on (a tie there) on all machines, and
// stored mass on CPUs and, by a rule of its own, on GPUs. Cores with much bandwidth to themselves are better
// off with stored factors. Affine elements are treated as such with any figures that processors have. On
// other than tensor shapes what is not affine has its coordinates brought to the points by tables, which
// costs more than stored numbers but at low degrees.
#include "fe/fe.h"
#include "geometry/geometry.h"

typedef struct {
  double point_flop;       // bytes that cost as much as an operation at a point,
  double contraction_flop; // one of a contraction,
  double coordinate;       // a coordinate that is gathered, from the caches: neighbours have read it
} Prices;

// 13 GB/s, 75 GFLOP/s of a core with 8 lanes; 4.4 TB/s and 23 TFLOP/s.
static const Prices cpu_prices = {0.37, 0.26, 5}, device_prices = {0.19, 0.3, 4};
// Fractions of a processor's peak that kernels reach at the points and in contractions.
static const double point_share = 0.47, contraction_share = 0.67;

static Prices prices_of(const RitzGeometryCase *c) {
  const RitzLimits *limits = &c->limits;

  if (c->is_device) return device_prices;
  if (!(limits->bandwidth > 0 && limits->flops > 0)) return cpu_prices;
  const double flop = limits->bandwidth / limits->flops;
  return (Prices){flop / point_share, flop / contraction_share, cpu_prices.coordinate};
}

// Costs in which treatments differ. Operations as in ritz/jit-source/geometry.
typedef struct {
  double numbers;   // stored at a point
  double constants; // stored for an element
  double flops;     // at a point
  CeedInt order;    // of coordinates that are gathered; 0: none
} Needs;

enum { DIVISION = 8 }; // flops

// det and the k_d. On surfaces and curves: a root and divisions on top.
static double jacobian_flops(const RitzGeometryCase *c, bool wants_vectors) {
  static const double det[4] = {0, 0, 3, 14}, vectors[4] = {0, 0, 3, 32};
  const double embedded = c->dim < c->space_dim ? 20 + 3 * DIVISION : 0;

  return (wants_vectors ? vectors : det)[c->dim] + embedded;
}

// mu w / det K K^T du beyond a stored matrix times du, for all components.
static double diffuse_flops(const RitzGeometryCase *c) {
  const double n = c->dim, m = c->space_dim;
  const double matrix = n * (n + 1) / 2 * 2 * m, product = n * (2 * n - 1);

  return c->num_comp == 1 ? 4 * n * m - product : matrix;
}

static Needs computed_needs(const RitzGeometryCase *c, RitzGeometryPolicy treatment) {
  const bool mass = ritz_geometry_has_mass(c), diffusion = ritz_geometry_has_diffusion(c);
  const bool with_lambda = mass && ritz_geometry_lambda_varies(c),
             with_mu = diffusion && ritz_geometry_mu_varies(c);
  Needs needs = {.order = 1, .flops = jacobian_flops(c, diffusion)};

  if (treatment == RITZ_POLICY_ISOPARAMETRIC) needs.order = c->geometry->order;
  if (diffusion) needs.flops += diffuse_flops(c);
  if (treatment == RITZ_POLICY_MERGED) {
    needs.numbers = mass + diffusion;
  } else if (treatment == RITZ_POLICY_PARTIAL) {
    needs.numbers = 1;
    needs.flops += 3 * mass;
  } else {
    needs.numbers = with_lambda + with_mu;
    needs.flops += 3 * mass + (DIVISION + 2) * diffusion;
  }
  return needs;
}

static double num_factors(const RitzGeometryCase *c) {
  return ritz_geometry_has_mass(c) + (ritz_geometry_has_diffusion(c) ? c->dim * (c->dim + 1) / 2 : 0);
}

static Needs standard_needs(const RitzGeometryCase *c, RitzGeometryPolicy treatment) {
  if (treatment == RITZ_POLICY_STORED) return (Needs){.numbers = num_factors(c)};
  if (treatment != RITZ_POLICY_AFFINE) return computed_needs(c, treatment);
  return (Needs){.numbers = (ritz_geometry_lambda_varies(c) && ritz_geometry_has_mass(c)) +
                            (ritz_geometry_mu_varies(c) && ritz_geometry_has_diffusion(c)),
                 .constants = num_factors(c),
                 .flops = num_factors(c)};
}

// Inverse Jacobians at the points, or the metric, or what they are made of.
static Needs point_needs(const RitzGeometryCase *c, RitzGeometryPolicy treatment) {
  const bool has_metric = c->form && ritz_form_has_metric(c->form);
  const double size = c->dim * c->dim, stored = 1 + (has_metric ? c->dim * (c->dim + 1) / 2 : size);

  if (treatment == RITZ_POLICY_STORED) return (Needs){.numbers = stored};
  if (treatment == RITZ_POLICY_AFFINE && c->form)
    return (
        Needs){.numbers = c->options.is_axisymmetric, .constants = stored, .flops = has_metric ? stored : 1};
  Needs needs = {
      .numbers = c->options.is_axisymmetric, .order = 1, .flops = jacobian_flops(c, true) + DIVISION + size};

  if (treatment == RITZ_POLICY_ISOPARAMETRIC) needs.order = c->geometry->order;
  if (treatment == RITZ_POLICY_AFFINE) {
    needs.order = 0;
    needs.constants = c->dim * (c->dim + 1);
  }
  return needs;
}

static CeedInt num_nodes_of(const RitzGeometryCase *c, CeedInt order) {
  if (order < 1) return 0;
  return order == 1 ? c->block->num_corners : c->block->num_nodes;
}

// Operations that bring the gradient of the coordinates to the points by contractions.
static double contraction_flops(const RitzGeometryCase *c, CeedInt order) {
  if (!c->block->shape->is_tensor) return 2.0 * c->space_dim * c->dim * c->Q * num_nodes_of(c, order);
  double flops = 2.0 * c->dim * ritz_power(c->Q_1d, c->dim + 1);

  for (int d = 0; d < c->dim; d++)
    flops += 2 * ritz_power(c->Q_1d, d + 1) * ritz_power(order + 1, c->dim - d);
  return c->space_dim * flops;
}

// Cost of one element of a kind; the number of elements decides whether caches hold their numbers.
static double cost(const RitzGeometryCase *c, RitzElementKind kind, RitzGeometryPolicy treatment) {
  const CeedInt num_elem = c->block->end[kind] - c->block->begin[kind];
  const Prices price = prices_of(c);
  const bool is_point = c->options.kind == RITZ_OPERATOR_POINT_FUNCTION;
  const Needs needs = is_point ? point_needs(c, treatment) : standard_needs(c, treatment);
  const bool by_lines = c->block->shape->is_tensor && needs.order == 1; // in registers
  const double linear_flops = by_lines ? 2.0 * (c->dim - 1) * c->space_dim : 0;
  const bool is_contracted = needs.order > 0 && !by_lines;
  const double number = sizeof(double); // prices are those of double precision, single scales both sides
  const double stored = number * (needs.numbers * c->Q + needs.constants);
  const bool is_cached = stored * num_elem < c->limits.cache_bytes;

  return (is_cached ? stored / 3 : stored) + price.point_flop * (needs.flops + linear_flops) * c->Q +
         (is_contracted ? price.contraction_flop * contraction_flops(c, needs.order) : 0) +
         num_nodes_of(c, needs.order) * (4 + price.coordinate * c->space_dim);
}

// ---- Which treatments there are ----

// For straight simplices all treatments between stored and isoparametric are affine.
static bool is_affine_only(const RitzGeometryCase *c, RitzGeometryPolicy treatment) {
  const bool between = treatment == RITZ_POLICY_TRILINEAR || treatment == RITZ_POLICY_PARTIAL ||
                       treatment == RITZ_POLICY_MERGED;

  return between && c->block->shape->is_simplex && !c->block->shape->is_tensor;
}

static bool is_possible(const RitzGeometryCase *c, RitzElementKind kind, RitzGeometryPolicy treatment) {
  const bool has_diffusion = ritz_geometry_has_diffusion(c);
  const bool is_point = c->options.kind == RITZ_OPERATOR_POINT_FUNCTION;

  switch (treatment) {
  case RITZ_POLICY_AFFINE: return kind == RITZ_ELEMENT_AFFINE;
  case RITZ_POLICY_TRILINEAR: return kind != RITZ_ELEMENT_CURVED;
  case RITZ_POLICY_PARTIAL:
  case RITZ_POLICY_MERGED: return kind != RITZ_ELEMENT_CURVED && has_diffusion && !is_point;
  default: return true;
  }
}

// One policy for those that are the same. PARTIAL with coefficients that vary is MERGED: they go into the
// same numbers.
static RitzGeometryPolicy merge(const RitzGeometryCase *c, RitzGeometryPolicy policy) {
  const bool varies =
      ritz_geometry_mu_varies(c) || (ritz_geometry_has_mass(c) && ritz_geometry_lambda_varies(c));

  if (is_affine_only(c, policy)) return RITZ_POLICY_AFFINE;
  return policy == RITZ_POLICY_PARTIAL && varies ? RITZ_POLICY_MERGED : policy;
}

// Mass on devices, as an H200 measures it: kernels wait for shared memory, not for that of the
// device, and det costs more than its number at a point. But for elements that a thread takes whole.
static bool keeps_det(const RitzGeometryCase *c) {
  const bool is_whole = c->num_comp == 1 && c->degree == 2 && c->block->shape->is_tensor;
  return c->is_device && c->options.kind == RITZ_OPERATOR_MASS && !is_whole;
}

static bool is_considered(const RitzGeometryCase *c, RitzElementKind kind, RitzGeometryPolicy treatment) {
  if (!is_possible(c, kind, treatment) || merge(c, treatment) != treatment) return false;
  return treatment == RITZ_POLICY_AFFINE || !keeps_det(c);
}

static RitzGeometryPolicy cheapest(const RitzGeometryCase *c, RitzElementKind kind) {
  RitzGeometryPolicy best = RITZ_POLICY_STORED;

  for (int i = RITZ_POLICY_AFFINE; i < RITZ_NUM_POLICIES; i++) {
    const RitzGeometryPolicy treatment = (RitzGeometryPolicy)i;
    if (!is_considered(c, kind, treatment)) continue;
    if (cost(c, kind, treatment) < cost(c, kind, best)) best = treatment;
  }
  return best;
}

void ritz_geometry_choose(const RitzGeometryCase *c, RitzGeometryPolicy treatments[RITZ_NUM_KINDS]) {
  for (int i = 0; i < RITZ_NUM_KINDS; i++) {
    const RitzElementKind kind = (RitzElementKind)i;
    const RitzGeometryPolicy policy = merge(c, c->options.policy);

    if (policy == RITZ_POLICY_AUTO)
      treatments[i] = cheapest(c, kind);
    else
      treatments[i] = is_possible(c, kind, policy) ? policy : RITZ_POLICY_STORED;
  }
}
