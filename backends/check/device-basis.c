// SPDX-License-Identifier: BSD-2-Clause
// Bases on the emulated device: E-vectors [num_comp][num_elem][P], Q-vectors [q_comp][num_comp][num_elem][Q]
// (doc/ceed-api.md, Bases). Called for CeedBasisApply and by device-operator.c; compared with the
// reference element by element.
#include <math.h>
#include <string.h>

#include "backends/check/device.h"

// One action and memory for one element of it.
typedef struct {
  CeedBasis basis;
  const RitzBasisAction *action;
  CeedInt q_comp;
  const CeedScalar *table; // borrowed: of the mode; tensor bases have none
  CeedSize num_u, num_v;   // entries of an element
  double tolerance;        // of an entry, for inputs that are at most 1
  CeedScalar *memory;      // owned; the arrays below
  CeedScalar *u, *v;       // element [num_comp][P] or [q_comp][num_comp][Q]
  CeedScalar *wanted;      // v of the reference
  CeedScalar *work[3];     // one component: result, two intermediate results
} Kernel;

static bool transposes(const Kernel *k) { return k->action->t_mode == CEED_TRANSPOSE; }

// ---- Kernels: one component, one quadrature component ----

// v[a][j][c] = sum_b t_jb u[a][b][c] with t_jb = table[j][b], or table[b][j] when transposed. Every entry by
// itself.
static void contract_on_device(CeedInt before, CeedInt n_in, CeedInt after, CeedInt n_out,
                               const CeedScalar *table, bool is_transposed, const CeedScalar *u,
                               CeedScalar *v) {
  for (CeedInt entry = 0; entry < before * n_out * after; entry++) {
    CeedInt c = entry % after, j = entry / after % n_out, a = entry / after / n_out;
    CeedScalar sum = 0;
    for (CeedInt b = 0; b < n_in; b++) {
      CeedScalar t = is_transposed ? table[(CeedSize)b * n_out + j] : table[(CeedSize)j * n_in + b];
      sum += t * u[((CeedSize)a * n_in + b) * after + c];
    }
    v[entry] = sum;
  }
}

// The slowest direction first. `differentiated`: the direction with the gradient table, -1: none.
static void run_tensor(const Kernel *k, CeedInt differentiated, const CeedScalar *u, CeedScalar *v) {
  CeedBasis b = k->basis;
  CeedInt n_in = transposes(k) ? b->Q_1d : b->P_1d, n_out = transposes(k) ? b->P_1d : b->Q_1d;
  const CeedScalar *from = u;
  for (CeedInt d = b->dim - 1; d >= 0; d--) {
    const CeedScalar *table = d == differentiated ? b->grad_1d : b->interp_1d;
    CeedScalar *to = d == 0 ? v : k->work[1 + d % 2];
    contract_on_device(CeedIntPow(n_out, b->dim - 1 - d), n_in, CeedIntPow(n_in, d), n_out, table,
                       transposes(k), from, to);
    from = to;
  }
}

static void run_component(const Kernel *k, CeedInt d, const CeedScalar *u, CeedScalar *v) {
  CeedBasis b = k->basis;
  if (b->is_tensor) {
    run_tensor(k, k->action->eval_mode == CEED_EVAL_GRAD ? d : -1, u, v);
  } else {
    const CeedScalar *table = k->table + (CeedSize)d * b->Q * b->P;
    contract_on_device(1, transposes(k) ? b->Q : b->P, 1, transposes(k) ? b->P : b->Q, table, transposes(k),
                       u, v);
  }
}

static void run_weights(const Kernel *k) {
  CeedBasis b = k->basis;
  for (CeedInt q = 0; q < b->Q; q++) {
    k->v[q] = b->is_tensor ? 1 : b->q_weight[q];
    for (CeedInt d = 0, rest = q; b->is_tensor && d < b->dim; d++, rest /= b->Q_1d)
      k->v[q] *= b->q_weight[rest % b->Q_1d];
  }
}

static void run_basis_element(const Kernel *k) {
  CeedInt C = k->basis->num_comp, P = k->basis->P, Q = k->basis->Q;
  if (k->action->eval_mode == CEED_EVAL_WEIGHT) {
    run_weights(k);
    return;
  }
  if (transposes(k)) memset(k->v, 0, (size_t)k->num_v * sizeof(*k->v));
  for (CeedInt m = 0; m < k->q_comp * C; m++) {
    CeedScalar *nodes = (transposes(k) ? k->v : k->u) + (CeedSize)(m % C) * P;
    CeedScalar *points = (transposes(k) ? k->u : k->v) + (CeedSize)m * Q;
    if (!transposes(k)) {
      run_component(k, m / C, nodes, points);
      continue;
    }
    run_component(k, m / C, points, k->work[0]);
    for (CeedInt p = 0; p < P; p++) nodes[p] += k->work[0][p];
  }
}

// ---- Sizes of the terms of an entry ----

// Largest sum of absolute values in a row (or column) of a table [rows][cols].
static double largest_sum(CeedInt rows, CeedInt cols, bool of_columns, const CeedScalar *table) {
  double largest = 0;
  for (CeedInt i = 0; i < (of_columns ? cols : rows); i++) {
    double sum = 0;
    for (CeedInt j = 0; j < (of_columns ? rows : cols); j++)
      sum += fabs((double)(of_columns ? table[(CeedSize)j * cols + i] : table[(CeedSize)i * cols + j]));
    if (sum > largest) largest = sum;
  }
  return largest;
}

static double weight_tolerance(CeedBasis b) {
  double product = b->is_tensor ? 2 * b->dim * ritz_check_epsilon() : 0;
  for (CeedInt d = 0; d < b->dim; d++) product *= ritz_check_largest(b->Q_1d, b->q_weight);
  return product;
}

// Bound of what rounding does to an entry when all inputs are at most 1: twice the number of additions, times
// the sum of the absolute values of all terms.
static double value_tolerance(const Kernel *k) {
  CeedBasis b = k->basis;
  double eps = ritz_check_epsilon(), num_terms = transposes(k) ? k->q_comp : 1;
  if (!b->is_tensor) {
    double sum = largest_sum(k->q_comp * b->Q, b->P, transposes(k), k->table);
    return 2 * (4 + num_terms * CeedIntMax(b->P, b->Q)) * eps * sum;
  }
  double value = largest_sum(b->Q_1d, b->P_1d, transposes(k), b->interp_1d), product = num_terms;
  double slope = largest_sum(b->Q_1d, b->P_1d, transposes(k), b->grad_1d);
  for (CeedInt d = 0; d < b->dim; d++)
    product *= d == 0 && k->action->eval_mode == CEED_EVAL_GRAD ? slope : value;
  return 2 * (4 + (double)b->dim * CeedIntMax(b->P_1d, b->Q_1d) + num_terms) * eps * product;
}

// ---- Elements ----

static int open_kernel(CeedBasis b, const RitzBasisAction *action, Kernel *k) {
  bool is_weight = action->eval_mode == CEED_EVAL_WEIGHT;
  *k = (Kernel){.basis = b, .action = action, .q_comp = ritz_basis_num_q_comp(b, action->eval_mode)};
  CeedSize nodes = (CeedSize)b->num_comp * b->P;
  CeedSize points = is_weight ? b->Q : (CeedSize)k->q_comp * b->num_comp * b->Q;
  k->num_u = is_weight ? 0 : transposes(k) ? points : nodes;
  k->num_v = transposes(k) ? nodes : points;
  if (!is_weight && !b->is_tensor) RITZ_TRY(ritz_basis_table(b, action->eval_mode, &k->table));
  CeedSize largest = b->is_tensor ? CeedIntPow(CeedIntMax(b->P_1d, b->Q_1d), b->dim) : CeedIntMax(b->P, b->Q);
  RITZ_TRY(RITZ_MALLOC(b->obj.ceed, (size_t)(k->num_u + 2 * k->num_v + 3 * largest), &k->memory));
  k->u = k->memory;
  k->v = k->u + k->num_u;
  k->wanted = k->v + k->num_v;
  for (int i = 0; i < 3; i++) k->work[i] = k->wanted + k->num_v + i * largest;
  k->tolerance = is_weight ? weight_tolerance(b) : value_tolerance(k);
  return CEED_ERROR_SUCCESS;
}

// Where entry i of an element is, in the device's vector of nodes or of points.
static CeedSize basis_e_index(const Kernel *k, bool is_nodes, CeedInt elem, CeedSize i) {
  CeedInt length = is_nodes ? k->basis->P : k->basis->Q;
  return (i / length * k->action->num_elem + elem) * length + i % length;
}

static int check_basis_element(const Kernel *k, CeedInt elem) {
  Ceed ceed = k->basis->obj.ceed;
  const RitzCheckPair pair = {ceed, "basis", "the reference backend"};
  const RitzBasisAction one = {1, k->action->t_mode, k->action->eval_mode, false};
  RITZ_TRY(ceed->backend.fallback->basis_apply(k->basis, &one, k->u, k->wanted));
  double size = k->action->eval_mode == CEED_EVAL_WEIGHT ? 1 : ritz_check_largest(k->num_u, k->u);
  for (CeedSize i = 0; i < k->num_v; i++) {
    RITZ_TRY(ritz_check_compare(&pair, basis_e_index(k, transposes(k), elem, i), k->v[i], k->wanted[i],
                                k->tolerance * size));
  }
  return CEED_ERROR_SUCCESS;
}

int ritz_check_device_basis(CeedBasis basis, const RitzBasisAction *action, const CeedScalar *u,
                            CeedScalar *v) {
  Kernel k;
  RITZ_TRY(open_kernel(basis, action, &k));
  int ierr = CEED_ERROR_SUCCESS;
  for (CeedInt elem = 0; !ierr && elem < action->num_elem; elem++) {
    for (CeedSize i = 0; i < k.num_u; i++) k.u[i] = u[basis_e_index(&k, !transposes(&k), elem, i)];
    run_basis_element(&k);
    ierr = check_basis_element(&k, elem);
    for (CeedSize i = 0; i < k.num_v; i++) {
      CeedScalar *to = &v[basis_e_index(&k, transposes(&k), elem, i)];
      *to = k.v[i] + (action->add ? *to : 0);
    }
  }
  RITZ_FREE(&k.memory);
  return ierr;
}
