// SPDX-License-Identifier: BSD-2-Clause
// Tensor bases at arbitrary points for arrays in device memory (doc/ceed-api.md, Bases): computed
// on the host, on copies, element by element, by the reference backend's functions. Called for
// CeedBasisApplyAtPoints.
#include <string.h>

#include "backends/gpu/gpu.h"
#include "backends/ref/points.h"

// Points of all elements are padded to the longest: entry (m, e, p) of a vector of points at (m * num_elem +
// e) * most
// + p, entry (c, e, i) of a vector of nodes at (c * num_elem + e) * P + i.
typedef struct {
  CeedBasis basis;
  const RitzBasisAction *action;
  CeedInt most, q_comp;  // points of the longest element; components of the gradient, or 1
  CeedScalar *x, *u, *v; // owned: the arrays on the host
  CeedScalar *memory;    // owned; the arrays below
  CeedScalar *x_elem;    // [dim][n]
  CeedScalar *points;    // [q_comp][num_comp][n]
  CeedScalar *nodes;     // [num_comp][P]
} Copies;

static bool transposes(const Copies *c) { return c->action->t_mode == CEED_TRANSPOSE; }

static CeedSize nodes_length(const Copies *c) {
  return (CeedSize)c->basis->num_comp * c->action->num_elem * c->basis->P;
}
static CeedSize points_length(const Copies *c, CeedInt num_comp) {
  return (CeedSize)num_comp * c->action->num_elem * c->most;
}

// ---- Whole arrays ----

static int download(Ceed ceed, CeedSize length, const CeedScalar *device, CeedScalar **host) {
  RITZ_TRY(RITZ_MALLOC(ceed, (size_t)length, host));
  return ritz_gpu_copy_out(ceed, (size_t)length * sizeof(**host), *host, device);
}

static int open_copies(Copies *c, const CeedScalar *x, const CeedScalar *u, const CeedScalar *v) {
  Ceed ceed = c->basis->obj.ceed;
  const CeedInt dim = c->basis->dim, num_comp = c->basis->num_comp;
  const CeedSize points = points_length(c, c->q_comp * num_comp), nodes = nodes_length(c);
  const CeedSize v_length = transposes(c) ? nodes : points;
  RITZ_TRY(download(ceed, points_length(c, dim), x, &c->x));
  RITZ_TRY(download(ceed, transposes(c) ? points : nodes, u, &c->u));
  if (c->action->add)
    RITZ_TRY(download(ceed, v_length, v, &c->v));
  else
    RITZ_TRY(RITZ_CALLOC(ceed, (size_t)v_length, &c->v));
  const CeedSize x_elem = (CeedSize)dim * c->most, points_elem = (CeedSize)c->q_comp * num_comp * c->most;
  RITZ_TRY(RITZ_MALLOC(ceed, (size_t)(x_elem + points_elem + (CeedSize)num_comp * c->basis->P), &c->memory));
  c->x_elem = c->memory;
  c->points = c->x_elem + x_elem;
  c->nodes = c->points + points_elem;
  return CEED_ERROR_SUCCESS;
}

static int upload(const Copies *c, CeedScalar *v) {
  const CeedSize length = transposes(c) ? nodes_length(c) : points_length(c, c->q_comp * c->basis->num_comp);
  return ritz_gpu_copy_in(c->basis->obj.ceed, (size_t)length * sizeof(*v), v, c->v);
}

static void close_copies(Copies *c) {
  RITZ_FREE(&c->x);
  RITZ_FREE(&c->u);
  RITZ_FREE(&c->v);
  RITZ_FREE(&c->memory);
}

// ---- One element ----

// Rows of n entries of an element, in the vector `stride` entries apart for each element.
static void take_element(const Copies *c, CeedInt elem, CeedInt num_rows, CeedInt n, CeedInt stride,
                         const CeedScalar *vector, CeedScalar *element) {
  for (CeedInt row = 0; row < num_rows; row++) {
    const CeedSize at = ((CeedSize)row * c->action->num_elem + elem) * stride;
    memcpy(element + (CeedSize)row * n, vector + at, (size_t)n * sizeof(*element));
  }
}

static void put_element(const Copies *c, CeedInt elem, CeedInt num_rows, CeedInt n, CeedInt stride,
                        const CeedScalar *element, CeedScalar *vector) {
  for (CeedInt row = 0; row < num_rows; row++) {
    const CeedSize at = ((CeedSize)row * c->action->num_elem + elem) * stride;
    memcpy(vector + at, element + (CeedSize)row * n, (size_t)n * sizeof(*element));
  }
}

static void run_element_on_host(const Copies *c, RitzRefPoints *ref, CeedInt elem, CeedInt n) {
  const CeedInt P = c->basis->P, num_comp = c->basis->num_comp, num_rows = c->q_comp * num_comp;
  const CeedEvalMode mode = c->action->eval_mode;
  take_element(c, elem, c->basis->dim, n, c->most, c->x, c->x_elem);
  take_element(c, elem, num_comp, P, P, transposes(c) ? c->v : c->u, c->nodes);
  if (transposes(c)) {
    take_element(c, elem, num_rows, n, c->most, c->u, c->points);
    ritz_ref_points_element(ref, CEED_TRANSPOSE, mode, n, c->x_elem, c->points, c->nodes);
    put_element(c, elem, num_comp, P, P, c->nodes, c->v);
  } else {
    ritz_ref_points_element(ref, CEED_NOTRANSPOSE, mode, n, c->x_elem, c->nodes, c->points);
    put_element(c, elem, num_rows, n, c->most, c->points, c->v);
  }
}

// ---- The slot ----

int ritz_gpu_basis_apply_at_points(CeedBasis basis, const RitzBasisAction *action, const CeedInt *num_points,
                                   const CeedScalar *x, const CeedScalar *u, CeedScalar *v) {
  Ceed ceed = basis->obj.ceed;
  Copies c = {
      .basis = basis, .action = action, .q_comp = action->eval_mode == CEED_EVAL_GRAD ? basis->dim : 1};
  RitzRefPoints ref;
  for (CeedInt elem = 0; elem < action->num_elem; elem++) c.most = CeedIntMax(c.most, num_points[elem]);
  if (action->eval_mode == CEED_EVAL_WEIGHT)
    return ritz_gpu_vector_set_value(ceed, CEED_SCALAR_TYPE, points_length(&c, 1), 1, v);
  RITZ_TRY(ritz_gpu_delegate(ceed, "evaluation of bases at points", "it has no kernels on devices yet"));
  int ierr = ritz_ref_points_open(basis, &ref);
  if (!ierr) ierr = open_copies(&c, x, u, v);
  for (CeedInt elem = 0; !ierr && elem < action->num_elem; elem++)
    run_element_on_host(&c, &ref, elem, num_points[elem]);
  if (!ierr) ierr = upload(&c, v);
  close_copies(&c);
  ritz_ref_points_close(&ref);
  return ierr;
}
