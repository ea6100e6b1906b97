// SPDX-License-Identifier: BSD-2-Clause
// Tensor bases at arbitrary points on the emulated device: several elements, padded to the longest
// (doc/ceed-api.md, Bases). Called for CeedBasisApplyAtPoints and by device-operator.c; compared
// with the reference element by element.
#include <math.h>
#include <string.h>

#include "backends/check/device.h"
#include "fe/fe.h"

// One action, and memory for one point and one element of it.
typedef struct {
  CeedBasis basis;
  const RitzBasisAction *action;
  CeedInt most, q_comp;     // points of the longest element; components of the gradient, or 1
  CeedScalar *memory;       // owned; the arrays below
  CeedScalar *to_chebyshev; // [Q_1d][P_1d]
  CeedScalar *x;            // element: coordinates [dim][n]
  CeedScalar *u, *v;        // element: nodes [num_comp][P], points [q_comp][num_comp][n]
  CeedScalar *wanted;       // v of the reference
  double *tables;           // owned; the arrays below
  double *shape[2];         // at one point: values and derivatives of the nodes' 1D functions, [dim][P_1d]
  double *polynomial[2];    // Chebyshev polynomials and their derivatives, [Q_1d]
  double size;              // largest sum of absolute values of terms, for inputs that are at most 1
} Kernel;

static bool transposes(const Kernel *k) { return k->action->t_mode == CEED_TRANSPOSE; }

// ---- Kernels ----

// 1D functions of the nodes at coordinate x; returns the sum of the absolute values of all terms, of the
// values or of the derivatives, whichever is larger.
static double set_shape(const Kernel *k, CeedInt d, double x) {
  CeedInt Q = k->basis->Q_1d, P = k->basis->P_1d;
  double size[2] = {0, 0};
  ritz_fe_chebyshev(Q, x, k->polynomial[0], k->polynomial[1]);
  for (int which = 0; which < 2; which++) {
    for (CeedInt p = 0; p < P; p++) {
      double sum = 0;
      for (CeedInt j = 0; j < Q; j++) {
        double term = k->polynomial[which][j] * (double)k->to_chebyshev[(CeedSize)j * P + p];
        sum += term;
        size[which] += fabs(term);
      }
      k->shape[which][(CeedSize)d * P + p] = sum;
    }
  }
  return k->action->eval_mode == CEED_EVAL_GRAD ? fmax(size[0], size[1]) : size[0];
}

// Value at the point of the function of node p, or its derivative in a direction (-1: none).
static double node_function(const Kernel *k, CeedInt p, CeedInt differentiated) {
  CeedInt P = k->basis->P_1d;
  double product = 1;
  for (CeedInt d = 0; d < k->basis->dim; d++, p /= P) product *= k->shape[d == differentiated][d * P + p % P];
  return product;
}

// Point i of n.
static void run_point(Kernel *k, CeedInt n, CeedInt i) {
  CeedInt C = k->basis->num_comp, P = k->basis->P;
  double size = transposes(k) ? n * k->q_comp : 1;
  for (CeedInt d = 0; d < k->basis->dim; d++) size *= set_shape(k, d, (double)k->x[(CeedSize)d * n + i]);
  k->size = fmax(k->size, size);
  for (CeedInt m = 0; m < k->q_comp * C; m++) {
    CeedSize point = (CeedSize)m * n + i, nodes = (CeedSize)(m % C) * P;
    CeedInt differentiated = k->action->eval_mode == CEED_EVAL_GRAD ? m / C : -1;
    double sum = 0;
    for (CeedInt p = 0; p < P; p++) {
      double factor = node_function(k, p, differentiated);
      if (transposes(k))
        k->v[nodes + p] += (CeedScalar)(factor * (double)k->u[point]);
      else
        sum += factor * (double)k->u[nodes + p];
    }
    if (!transposes(k)) k->v[point] = (CeedScalar)sum;
  }
}

static CeedSize num_nodes(const Kernel *k) { return (CeedSize)k->basis->num_comp * k->basis->P; }
static CeedSize num_values(const Kernel *k, CeedInt n) {
  return (CeedSize)k->q_comp * k->basis->num_comp * n;
}

static void run_points_element(Kernel *k, CeedInt n) {
  if (transposes(k)) memset(k->v, 0, (size_t)num_nodes(k) * sizeof(*k->v));
  k->size = 0;
  for (CeedInt i = 0; i < n; i++) run_point(k, n, i);
}

// ---- Elements ----

static int open_kernel(CeedBasis b, const RitzBasisAction *action, CeedInt most, Kernel *k) {
  *k = (Kernel){.basis = b, .action = action, .most = most};
  k->q_comp = action->eval_mode == CEED_EVAL_GRAD ? b->dim : 1;
  CeedSize longest = num_nodes(k) + num_values(k, most), table = (CeedSize)b->dim * b->P_1d;
  size_t num_chebyshev = (size_t)b->Q_1d * (size_t)b->P_1d, num_x = (size_t)b->dim * (size_t)most;
  RITZ_TRY(RITZ_MALLOC(b->obj.ceed, num_chebyshev + num_x + 3 * (size_t)longest, &k->memory));
  k->to_chebyshev = k->memory;
  k->x = k->to_chebyshev + num_chebyshev;
  k->u = k->x + num_x;
  k->v = k->u + longest;
  k->wanted = k->v + longest;
  RITZ_TRY(RITZ_MALLOC(b->obj.ceed, 2 * (size_t)(table + b->Q_1d), &k->tables));
  for (int which = 0; which < 2; which++) {
    k->shape[which] = k->tables + which * table;
    k->polynomial[which] = k->tables + 2 * table + which * b->Q_1d;
  }
  return CeedBasisGetChebyshevInterp1D(b, k->to_chebyshev);
}

static void close_kernel(Kernel *k) {
  RITZ_FREE(&k->memory);
  RITZ_FREE(&k->tables);
}

// Where entry i of an element is, in the device's vector of nodes (length P), or of points of which the
// element has `length`.
static CeedSize points_e_index(const Kernel *k, bool is_nodes, CeedInt length, CeedInt elem, CeedSize i) {
  CeedInt stride = is_nodes ? k->basis->P : k->most;
  return (i / length * k->action->num_elem + elem) * stride + i % length;
}

static int check_points_element(const Kernel *k, CeedInt elem, CeedInt n) {
  Ceed ceed = k->basis->obj.ceed;
  const RitzCheckPair pair = {ceed, "basis at points", "the reference backend"};
  const RitzBasisAction one = {1, k->action->t_mode, k->action->eval_mode, false};
  CeedInt length = transposes(k) ? k->basis->P : n;
  CeedSize num_u = transposes(k) ? num_values(k, n) : num_nodes(k);
  CeedSize num_v = transposes(k) ? num_nodes(k) : num_values(k, n);
  memset(k->wanted, 0, (size_t)num_v * sizeof(*k->wanted));
  RITZ_TRY(ceed->backend.fallback->basis_apply_at_points(k->basis, &one, &n, k->x, k->u, k->wanted));
  // Two results, each with as many roundings as there are steps from a coefficient to the sum.
  double steps = 8 + 2.0 * k->basis->dim * (k->basis->P_1d + k->basis->Q_1d) +
                 (transposes(k) ? n * k->q_comp : k->basis->P);
  double tolerance = 2 * steps * ritz_check_epsilon() * k->size * ritz_check_largest(num_u, k->u);
  for (CeedSize i = 0; i < num_v; i++) {
    RITZ_TRY(ritz_check_compare(&pair, points_e_index(k, transposes(k), length, elem, i), k->v[i],
                                k->wanted[i], tolerance));
  }
  return CEED_ERROR_SUCCESS;
}

static void load_points(const Kernel *k, CeedInt elem, CeedInt n, const CeedScalar *x, const CeedScalar *u) {
  CeedSize num_u = transposes(k) ? num_values(k, n) : num_nodes(k);
  CeedInt length = transposes(k) ? n : k->basis->P;
  for (CeedSize i = 0; i < (CeedSize)k->basis->dim * n; i++)
    k->x[i] = x[points_e_index(k, false, n, elem, i)];
  for (CeedSize i = 0; i < num_u; i++) k->u[i] = u[points_e_index(k, !transposes(k), length, elem, i)];
}

// Places of points that the element does not have become 0.
static void store_points(const Kernel *k, CeedInt elem, CeedInt n, CeedScalar *v) {
  for (CeedSize i = 0; transposes(k) && i < num_nodes(k); i++) {
    CeedScalar *to = &v[points_e_index(k, true, k->basis->P, elem, i)];
    *to = k->v[i] + (k->action->add ? *to : 0);
  }
  for (CeedSize i = 0; !transposes(k) && i < num_values(k, k->most); i++) {
    CeedSize m = i / k->most, point = i % k->most;
    v[points_e_index(k, false, k->most, elem, i)] = point < n ? k->v[m * n + point] : 0;
  }
}

static int apply_elements(Kernel *k, const CeedInt *num_points, const CeedScalar *x, const CeedScalar *u,
                          CeedScalar *v) {
  for (CeedInt elem = 0; elem < k->action->num_elem; elem++) {
    CeedInt n = num_points[elem];
    load_points(k, elem, n, x, u);
    run_points_element(k, n);
    if (n > 0) RITZ_TRY(check_points_element(k, elem, n));
    store_points(k, elem, n, v);
  }
  return CEED_ERROR_SUCCESS;
}

int ritz_check_device_basis_at_points(CeedBasis basis, const RitzBasisAction *action,
                                      const CeedInt *num_points, const CeedScalar *x, const CeedScalar *u,
                                      CeedScalar *v) {
  Kernel k;
  CeedInt most = 0;
  for (CeedInt elem = 0; elem < action->num_elem; elem++) most = CeedIntMax(most, num_points[elem]);
  if (action->eval_mode == CEED_EVAL_WEIGHT) {
    for (CeedSize i = 0; i < (CeedSize)action->num_elem * most; i++) v[i] = 1;
    return CEED_ERROR_SUCCESS;
  }
  int ierr = open_kernel(basis, action, most, &k);
  if (!ierr) ierr = apply_elements(&k, num_points, x, u, v);
  close_kernel(&k);
  return ierr;
}
