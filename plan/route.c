// SPDX-License-Identifier: BSD-2-Clause
// The guess of a route (contract in plan/route.h). Separate kernels take the sum of their times, each the
// larger one of its bytes by the bandwidth and its flops by a rate; a fused kernel the larger one of all.
//
// Rates are of one NVIDIA H200 (doc/performance-gpu.md, 'Tetrahedra on a GPU'), as those of plan/gpu-model.h:
// dense ones, by the nodes of an element, were measured on tetrahedra of degree 1 to 6. Where nothing was
// measured it says so.
#include "plan/route.h"

#include <string.h>

#include "plan/blocks.h"

// ---- Figures ----

// Bytes a second: of streams, about what triads and copies get; of a fused kernel, 0.85 of the roofline.
static const double bandwidth = 4.1e12, fused_bandwidth = 3.7e12;

// Dense bases, flops a second: fused kernels with derivatives (BP3) and with values alone (BP1), without
// tensor cores and by them; cuBLAS, one product over all elements, to the points and transposed.
typedef struct {
  double nodes, derivatives, values, tile_derivatives, tile_values, to_points, to_nodes;
} DenseRates;
static const DenseRates dense_rates[] = {
    {4, 2.8e12, 1.8e12, 2.8e12, 1.7e12, 0.35e12, 0.35e12},
    {10, 4.9e12, 3.8e12, 5.5e12, 3.7e12, 1.83e12, 1.85e12},
    {20, 9.1e12, 6.8e12, 12.2e12, 7.4e12, 7.22e12, 7.65e12},
    {35, 9.4e12, 7.2e12, 15.7e12, 10.9e12, 8.71e12, 8.40e12},
    {56, 9.6e12, 8.2e12, 20.3e12, 14.0e12, 16.45e12, 20.53e12},
    {84, 11.6e12, 9.3e12, 23.7e12, 18.6e12, 25.87e12, 26.21e12},
    {2048, 11.6e12, 9.3e12, 23.7e12, 18.6e12, 57.8e12, 57.8e12}, // cuBLAS: n = 2048; fused: none was so large
};
enum { NUM_RATES = sizeof(dense_rates) / sizeof(dense_rates[0]) };

// Own products beside cuBLAS': batches of square ones of order 128 and more, doc/performance-gpu.md. One
// product over all elements: not measured.
static const double own_share = 0.75;
// Without tensor cores of doubles a device has half the flops. Not measured.
static const double without_mma = 0.5;
// Rows of the table by threads (kernels/gpu/dense.h), kernels of any size (basis-ref.h): loads bound them.
// Not measured.
static const double rows_rate = 5e12, any_rate = 3e12;
// Tensor bases: of a fused kernel, 0.4 of the vector units; of batches of small products by the nodes a
// direction, 1.45e12 with 8 (measured), the rest in proportion.
static const double tensor_rate = 13e12, batch_rate = 1.45e12 / 8, most_batch_rate = 20e12;
// The gain that a route must promise to be taken instead of a fused kernel, since figures are of other
// problems.
static const double margin = 1.15;

static double between(double x, double x0, double y0, double x1, double y1) {
  return x <= x0 ? y0 : x >= x1 ? y1 : y0 + (y1 - y0) * (x - x0) / (x1 - x0);
}

static DenseRates dense_rates_of(CeedInt nodes) {
  int i = 0;
  while (i + 2 < NUM_RATES && nodes > dense_rates[i + 1].nodes) i++;
  const DenseRates *a = &dense_rates[i], *b = a + 1;
  return (DenseRates){nodes,
                      between(nodes, a->nodes, a->derivatives, b->nodes, b->derivatives),
                      between(nodes, a->nodes, a->values, b->nodes, b->values),
                      between(nodes, a->nodes, a->tile_derivatives, b->nodes, b->tile_derivatives),
                      between(nodes, a->nodes, a->tile_values, b->nodes, b->tile_values),
                      between(nodes, a->nodes, a->to_points, b->nodes, b->to_points),
                      between(nodes, a->nodes, a->to_nodes, b->nodes, b->to_nodes)};
}

// ---- Work of an element ----

static double larger(double a, double b) { return a > b ? a : b; }

static const RitzPlanBasis *basis_of(const RitzPlan *plan, const RitzPlanField *f) {
  const bool has_matrix = f->mode != CEED_EVAL_NONE && f->mode != CEED_EVAL_WEIGHT;
  return has_matrix && f->basis >= 0 ? &plan->bases[f->basis] : NULL;
}

static double scalars_at_nodes(const RitzPlan *plan, const RitzPlanField *f) {
  const RitzPlanSpace *s = &plan->spaces[f->space];
  return (double)s->num_nodes * s->num_comp;
}

// Flops of products with 1D tables, the directions one after the other; each derivative by itself.
static double tensor_flops(const RitzPlan *plan, const RitzPlanField *f, const RitzPlanBasis *b) {
  const double num_comp = plan->spaces[f->space].num_comp;
  double size = 1, flops = 0;
  for (CeedInt d = 0; d < b->dim; d++) size *= b->P_1d;
  for (CeedInt d = 0; d < b->dim; d++) {
    flops += 2 * size * b->Q_1d;
    size = size / b->P_1d * b->Q_1d;
  }
  return num_comp * flops * (f->mode == CEED_EVAL_GRAD ? b->dim : 1);
}

static double flops_of(const RitzPlan *plan, const RitzPlanField *f, const RitzPlanBasis *b) {
  return b->is_tensor ? tensor_flops(plan, f, b) : 2.0 * f->size * plan->Q * b->P;
}

// A fused kernel goes along the lines of blocks; separate kernels and products have their dense matrix.
static double fused_flops(const RitzPlan *plan, const RitzPlanField *f, const RitzPlanBasis *b) {
  double flops = 0;
  if (b->route != RITZ_ROUTE_BLOCKS) return flops_of(plan, f, b);
  for (CeedInt c = 0; c < b->dim; c++) {
    const RitzBlockSweep sweep = ritz_plan_block_sweep(b, c, f->mode);
    flops += ritz_plan_block_flops(&sweep);
  }
  return plan->spaces[f->space].num_comp * flops;
}

// ---- Times ----

// A basis of the field by products: forward reads the nodes for all derivatives once, transposed adds to them
// for each.
static double product_seconds(const RitzPlan *plan, const RitzPlanField *f, bool is_input,
                              RitzOperatorRoute route, const RitzRouteOptions *o) {
  const RitzPlanBasis *b = basis_of(plan, f);
  const double nodes = scalars_at_nodes(plan, f), points = (double)f->size * plan->Q;
  const bool is_gemm = route != RITZ_OPERATOR_ROUTE_SEPARATE, is_own = route == RITZ_OPERATOR_ROUTE_GEMM_OWN;
  const double parts = points / plan->Q / plan->spaces[f->space].num_comp;
  double bytes = 8 * (nodes + points), rate = rows_rate;
  if (is_gemm && !is_input && !b->is_tensor) bytes += 16 * nodes * (parts - 1);
  if (b->is_tensor && is_gemm) bytes += 16 * points * (b->dim - 1);
  if (b->is_tensor)
    rate = is_gemm       ? between(b->P_1d * batch_rate, 0, 0, most_batch_rate, most_batch_rate)
           : o->can_fuse ? tensor_rate
                         : any_rate;
  else if (is_gemm)
    rate = is_input ? dense_rates_of(b->P).to_points : dense_rates_of(b->P).to_nodes;
  if (is_own) rate *= own_share;
  if (is_gemm && !o->has_mma) rate *= without_mma;
  return larger(bytes / bandwidth, flops_of(plan, f, b) / rate);
}

static double separate_seconds(const RitzPlan *plan, RitzOperatorRoute route, const RitzRouteOptions *o) {
  double seconds = 0, points = 0;
  for (int i = 0; i < plan->num_in + plan->num_out; i++) {
    const RitzPlanField *f = &plan->fields[i];
    points += (double)f->size * plan->Q;
    if (!basis_of(plan, f)) continue;
    // Gather or scatter: L- and E-vector, offsets.
    seconds += (16 * scalars_at_nodes(plan, f) + 4.0 * plan->spaces[f->space].num_nodes) / bandwidth;
    seconds += product_seconds(plan, f, i < plan->num_in, route, o);
  }
  return seconds + 8 * points / bandwidth;
}

// Vectors once, an output twice; data at points.
static double fused_seconds(const RitzPlan *plan, const RitzRouteOptions *o) {
  double bytes = 0, seconds = 0;
  bool has_derivatives = false;
  for (int i = 0; i < plan->num_in + plan->num_out; i++)
    has_derivatives = has_derivatives || plan->fields[i].mode == CEED_EVAL_GRAD ||
                      plan->fields[i].mode == CEED_EVAL_DIV || plan->fields[i].mode == CEED_EVAL_CURL;
  for (int i = 0; i < plan->num_in + plan->num_out; i++) {
    const RitzPlanField *f = &plan->fields[i];
    const RitzPlanBasis *b = basis_of(plan, f);
    if (!b && f->mode == CEED_EVAL_NONE) bytes += 8.0 * f->size * plan->Q;
    if (!b) continue;
    const DenseRates rates = dense_rates_of(b->P);
    bytes += (i < plan->num_in ? 8 : 16) * scalars_at_nodes(plan, f);
    const double dense = o->has_tiles      ? (has_derivatives ? rates.tile_derivatives : rates.tile_values)
                         : has_derivatives ? rates.derivatives
                                           : rates.values;
    seconds += fused_flops(plan, f, b) / (ritz_plan_has_grid(b) ? tensor_rate : dense);
  }
  return larger(bytes / fused_bandwidth, seconds);
}

// ---- The guess ----

static bool has_products(const RitzPlan *plan) {
  for (int i = 0; i < plan->num_in + plan->num_out; i++) {
    if (basis_of(plan, &plan->fields[i])) return true;
  }
  return false;
}

static void fill_seconds(const RitzPlan *plan, const RitzRouteOptions *o, double *seconds) {
  if (o->can_fuse) seconds[RITZ_OPERATOR_ROUTE_FUSED] = fused_seconds(plan, o);
  seconds[RITZ_OPERATOR_ROUTE_SEPARATE] = separate_seconds(plan, RITZ_OPERATOR_ROUTE_SEPARATE, o);
  if (!has_products(plan)) return;
  seconds[RITZ_OPERATOR_ROUTE_GEMM_OWN] = separate_seconds(plan, RITZ_OPERATOR_ROUTE_GEMM_OWN, o);
  if (o->has_vendor)
    seconds[RITZ_OPERATOR_ROUTE_GEMM_VENDOR] = separate_seconds(plan, RITZ_OPERATOR_ROUTE_GEMM_VENDOR, o);
}

static RitzOperatorRoute fastest(const double *seconds, RitzOperatorRoute first, double factor) {
  RitzOperatorRoute best = first;
  for (int r = RITZ_OPERATOR_ROUTE_SEPARATE; r < RITZ_NUM_OPERATOR_ROUTES; r++) {
    if (seconds[r] > 0 && seconds[r] * (best == first ? factor : 1) < seconds[best])
      best = (RitzOperatorRoute)r;
  }
  return best;
}

RitzRouteGuess ritz_plan_route(const RitzPlan *plan, const RitzRouteOptions *o) {
  const RitzOperatorRoute first = o->can_fuse ? RITZ_OPERATOR_ROUTE_FUSED : RITZ_OPERATOR_ROUTE_SEPARATE;
  RitzRouteGuess guess = {.route = first, .why = "a processor plays the device"};
  fill_seconds(plan, o, guess.seconds);
  if (o->is_played) return guess;
  guess.why =
      strstr(o->device, "H200") ? "rates measured on an H200" : "the model's guess by bytes and flops";
  guess.route = fastest(guess.seconds, first, o->can_fuse ? margin : 1);
  return guess;
}
