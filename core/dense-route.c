// SPDX-License-Identifier: BSD-2-Clause
// Dense solver: who factorizes, own kernels or the vendor's library.
#include "core/dense-solver.h"

const char *RitzDenseRouteName(RitzDenseRoute route) {
  static const char *const names[] = {"auto", "own", "vendor"};
  return (int)route >= 0 && (size_t)route < sizeof(names) / sizeof(names[0]) ? names[route] : NULL;
}

// Whether a vendor has factorizations in this precision.
static bool has_precision(RitzDensePrecision precision) {
  return precision == RITZ_DENSE_F64 || precision == RITZ_DENSE_F32;
}

// The rule of RITZ_DENSE_ROUTE_AUTO. A library's results may differ from one of its releases to the next, so
// `:deterministic` contexts have own kernels.
static bool is_vendor_wanted(const RitzDenseSolver s) {
  return !s->ceed->repeats && s->n >= s->methods->vendor->least_order;
}

// *file NULL: there is none, and that is an error.
static int find_library(RitzDenseSolver s, const char *call, const char **file) {
  const char *why = NULL;
  *file = s->methods->vendor->find(s, &why);
  RITZ_REQUIRE(*file, s->ceed, CEED_ERROR_UNSUPPORTED, "%s: no factorizations by %s: %s", call,
               s->methods->vendor->name, why);
  return CEED_ERROR_SUCCESS;
}

int RitzDenseSolverSetRoute(RitzDenseSolver solver, RitzDenseRoute route) {
  const char *file;
  RITZ_HANDLE(solver);
  RITZ_REQUIRE(RitzDenseRouteName(route), solver->ceed, CEED_ERROR_INCOMPATIBLE,
               "%s: route %d, needed 0 to %d", __func__, (int)route, (int)RITZ_DENSE_ROUTE_VENDOR);
  if (route == RITZ_DENSE_ROUTE_VENDOR) RITZ_TRY(find_library(solver, __func__, &file));
  solver->route = route;
  return CEED_ERROR_SUCCESS;
}

// The vendor's library, where AUTO takes it for this order; NULL: own kernels.
static const char *find_faster(const RitzDenseSolver s) {
  const char *why;
  return s->route == RITZ_DENSE_ROUTE_AUTO && is_vendor_wanted(s) ? s->methods->vendor->find(s, &why) : NULL;
}

// `choose` takes the fastest of own kernels. A vendor's F64 needs no refinement, and is ahead of them.
RitzDensePrecision ritz_dense_wanted_precision(const RitzDenseSolver s) {
  if (s->wanted != RITZ_DENSE_AUTO) return s->wanted;
  const RitzDensePrecision chosen = s->methods->choose(s);
  if (has_precision(chosen)) return chosen;
  return s->route == RITZ_DENSE_ROUTE_VENDOR || find_faster(s) ? RITZ_DENSE_F64 : chosen;
}

int ritz_dense_check_route(RitzDenseSolver s, const char *call, RitzDensePrecision precision) {
  RITZ_REQUIRE(s->route != RITZ_DENSE_ROUTE_VENDOR || has_precision(precision), s->ceed,
               CEED_ERROR_UNSUPPORTED, "%s: precision %s by %s, needed f64 or f32, or own kernels", call,
               RitzDensePrecisionName(precision), s->methods->vendor->name);
  return CEED_ERROR_SUCCESS;
}

int ritz_dense_choose_route(RitzDenseSolver s, const char *call) {
  const char *file = has_precision(s->report.precision) ? find_faster(s) : NULL;
  if (s->route == RITZ_DENSE_ROUTE_VENDOR) RITZ_TRY(find_library(s, call, &file));
  s->report.route = file ? RITZ_DENSE_ROUTE_VENDOR : RITZ_DENSE_ROUTE_OWN;
  s->report.library = file;
  return CEED_ERROR_SUCCESS;
}

// Why factors are of own kernels.
static void explain_own(const RitzDenseSolver s, FILE *stream) {
  const RitzDenseVendor *vendor = s->methods->vendor;
  const char *why = NULL;
  if (s->route == RITZ_DENSE_ROUTE_OWN)
    fprintf(stream, "as asked for");
  else if (!has_precision(s->report.precision))
    fprintf(stream, "%s has no such precision", vendor->name);
  else if (s->ceed->repeats)
    fprintf(stream, "the context is deterministic");
  else if (vendor->least_order == RITZ_DENSE_NEVER)
    fprintf(stream, "%s is only taken where it is asked for", vendor->name);
  else if (s->n < vendor->least_order)
    fprintf(stream, "%s is taken from order %lld on", vendor->name, (long long)vendor->least_order);
  else
    fprintf(stream, "no %s: %s", vendor->name, vendor->find(s, &why) ? "it was not there" : why);
}

void ritz_dense_explain_route(const RitzDenseSolver s, FILE *stream) {
  fprintf(stream, "  factors by ");
  if (ritz_dense_is_vendor(s)) {
    fprintf(stream, "%s, %s\n", s->methods->vendor->name, s->report.library);
    return;
  }
  fprintf(stream, "own kernels (");
  explain_own(s, stream);
  fprintf(stream, ")\n");
}
