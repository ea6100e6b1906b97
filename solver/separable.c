// SPDX-License-Identifier: BSD-2-Clause
// Separable matrices of subdomains: eigenvectors of one direction, subdomains of each kind, diagonals (see
// separable.h).
#include "solver/separable.h"

#include <math.h>

#include "core/ranges.h"
#include "fe/fe.h"

// ---- One direction ----

// A subdomain in one direction: of a line of unit cells, assembled, `num` nodes from `first` on.
typedef struct {
  CeedInt num_cells, first, num;
} Line;

static Line line_of(RitzSchwarzKind kind, CeedInt p) {
  switch (kind) {
  case RITZ_SCHWARZ_ELEMENTS: return (Line){3, p, p + 1};
  case RITZ_SCHWARZ_OVERLAPPED: return (Line){3, p - 1, p + 3};
  default: return (Line){2, 1, 2 * p - 1};
  }
}

// Adds the matrix cell [p+1][p+1] of every cell to the rows and columns of the line, matrix [num][num].
static void assemble_line(const Line *line, CeedInt p, const double *cell, double *matrix) {
  for (CeedInt i = 0; i < line->num * line->num; i++) matrix[i] = 0;
  for (CeedInt c = 0; c < line->num_cells; c++) {
    for (CeedInt k = 0; k < (p + 1) * (p + 1); k++) {
      const CeedInt i = c * p + k / (p + 1) - line->first, j = c * p + k % (p + 1) - line->first;

      if (i >= 0 && j >= 0 && i < line->num && j < line->num) matrix[i * line->num + j] += cell[k];
    }
  }
}

// K and M [P][P] of cells of length 2, integrated exactly.
static int fill_line(Ceed ceed, const Line *line, CeedInt p, double *K, double *M) {
  const CeedInt Q = p + 1;
  double *work = NULL;
  int ierr;

  RITZ_TRY(RITZ_CALLOC(ceed, (size_t)(3 * Q + 4 * Q * Q), &work));
  double *nodes = work, *points = nodes + Q, *weights = points + Q, *values = weights + Q,
         *derivatives = values + Q * Q, *stiffness = derivatives + Q * Q, *mass = stiffness + Q * Q;
  ritz_fe_gauss_lobatto(Q, nodes, NULL);
  ritz_fe_gauss(Q, points, weights);
  RITZ_TRY_CLEANUP(ritz_fe_lagrange(ceed, Q, nodes, Q, points, values, derivatives));
  for (CeedInt q = 0; q < Q; q++) {
    for (CeedInt i = 0; i < Q * Q; i++) {
      stiffness[i] += weights[q] * derivatives[q * Q + i / Q] * derivatives[q * Q + i % Q];
      mass[i] += weights[q] * values[q * Q + i / Q] * values[q * Q + i % Q];
    }
  }
  assemble_line(line, p, stiffness, K);
  assemble_line(line, p, mass, M);
cleanup:
  RITZ_FREE(&work);
  return ierr;
}

static int diagonalize(Ceed ceed, RitzSeparable *s) {
  const Line line = line_of(s->kind, s->degree);
  const CeedInt P = s->P;
  double *K = NULL;

  RITZ_TRY(RITZ_MALLOC(ceed, (size_t)(2 * P * P), &K));
  double *M = K + P * P;
  int ierr = fill_line(ceed, &line, s->degree, K, M);

  for (CeedInt i = 0; i < P && !ierr; i++) {
    s->stiffness[i] = K[i * P + i];
    s->mass[i] = M[i * P + i];
  }
  if (!ierr) ierr = ritz_fe_simultaneous_diagonalization(ceed, K, M, s->X, s->lambda, P);
  RITZ_FREE(&K);
  return ierr;
}

// ---- All of it ----

static int check_mesh(Ceed ceed, const char *call, RitzMesh mesh) {
  CeedInt num_blocks = 0;

  RITZ_TRY(RitzMeshGetNumBlocks(mesh, &num_blocks));
  for (CeedInt b = 0; b < num_blocks; b++) {
    CeedElemTopology topology = CEED_TOPOLOGY_LINE;

    RITZ_TRY(RitzMeshGetBlock(mesh, b, &topology, NULL, NULL, NULL, NULL));
    RITZ_REQUIRE(topology == CEED_TOPOLOGY_LINE || topology == CEED_TOPOLOGY_QUAD ||
                     topology == CEED_TOPOLOGY_HEX,
                 ceed, CEED_ERROR_UNSUPPORTED,
                 "%s: the mesh has elements of the shape '%s'; fast diagonalization needs lines, "
                 "quadrilaterals or hexahedra alone (use Jacobi)",
                 call, CeedElemTopologies[topology]);
  }
  return CEED_ERROR_SUCCESS;
}

// The term of c_d is the product of the masses of the node's line positions, with the stiffness in direction
// d in place of the mass there; that of c_dim has masses alone.
static void fill_terms(RitzSeparable *s) {
  for (CeedInt n = 0; n < s->num_nodes; n++) {
    double *terms = s->terms + n * (s->dim + 1);

    for (CeedInt t = 0; t <= s->dim; t++) {
      CeedInt node = n;

      terms[t] = 1;
      for (CeedInt d = 0; d < s->dim; d++, node /= s->P)
        terms[t] *= (d == t ? s->stiffness : s->mass)[node % s->P];
    }
  }
}

static int fill_tables(Ceed ceed, RitzSeparable *s) {
  const size_t P = (size_t)s->P;

  RITZ_TRY(RITZ_MALLOC(ceed, P * P + 3 * P, &s->X));
  s->lambda = s->X + P * P;
  s->stiffness = s->lambda + P;
  s->mass = s->stiffness + P;
  RITZ_TRY(RITZ_MALLOC(ceed, (size_t)s->num_nodes * (size_t)(s->dim + 1), &s->terms));
  RITZ_TRY(diagonalize(ceed, s));
  fill_terms(s);
  return CEED_ERROR_SUCCESS;
}

// The elements are the subdomains.
static int create_elements(Ceed ceed, const char *call, RitzSpace space, RitzMesh mesh, int64_t num_elem,
                           const double *factors, RitzSeparable *s) {
  s->num_domains = (CeedInt)num_elem;
  if (s->kind == RITZ_SCHWARZ_ELEMENTS)
    RITZ_TRY(RitzSpaceCreateRestriction(space, ceed, &s->rstr));
  else
    RITZ_TRY(RitzSpaceCreateOverlapRestriction(space, ceed, NULL, &s->rstr));
  RITZ_TRY(RITZ_MALLOC(ceed, (size_t)num_elem * (size_t)(s->dim + 1), &s->factors));
  return ritz_separable_element_factors(ceed, call, mesh, s->dim, num_elem, factors, s->factors);
}

int ritz_separable_create(Ceed ceed, const char *call, RitzSpace space, RitzSchwarzKind kind,
                          const double *factors, RitzSeparable *s) {
  RitzMesh mesh = NULL;
  int64_t num_elem = 0;

  *s = (RitzSeparable){.kind = kind};
  RITZ_TRY(RitzSpaceGetMesh(space, &mesh));
  RITZ_TRY(check_mesh(ceed, call, mesh));
  RITZ_TRY(RitzSpaceGetDegree(space, &s->degree));
  RITZ_TRY(RitzMeshGetDimensions(mesh, &s->dim, NULL));
  RITZ_TRY(RitzMeshGetNumElements(mesh, &num_elem));
  RITZ_REQUIRE(num_elem <= INT32_MAX, ceed, CEED_ERROR_UNSUPPORTED,
               "%s: %lld elements exceed the 32-bit counts of a restriction", call, (long long)num_elem);
  RITZ_REQUIRE(kind != RITZ_SCHWARZ_OVERLAPPED || s->degree > 1, ceed, CEED_ERROR_UNSUPPORTED,
               "%s: overlapped elements need degree 2 or more: at degree 1 a layer of nodes is all of the "
               "neighbour (use RITZ_SCHWARZ_ELEMENTS or Jacobi)",
               call);
  RITZ_TRY(RitzSpaceGetNumComponents(space, &s->num_comp));
  s->P = line_of(kind, s->degree).num;
  s->num_nodes = CeedIntPow(s->P, s->dim);
  RITZ_TRY(fill_tables(ceed, s));
  if (kind == RITZ_SCHWARZ_ELEMENTS || kind == RITZ_SCHWARZ_OVERLAPPED)
    RITZ_TRY(create_elements(ceed, call, space, mesh, num_elem, factors, s));
  else
    RITZ_TRY(ritz_separable_create_patches(ceed, call, space, mesh, num_elem, factors, s));
  ritz_separable_normalize(s);
  return CEED_ERROR_SUCCESS;
}

void ritz_separable_clear(RitzSeparable *s) {
  RITZ_FREE(&s->X);
  RITZ_FREE(&s->terms);
  RITZ_FREE(&s->factors);
  RITZ_FREE(&s->first);
  CeedElemRestrictionDestroy(&s->rstr);
  *s = (RitzSeparable){0};
}

// ---- Diagonals ----

static double diagonal_entry(const RitzSeparable *s, const double *c, CeedInt node) {
  const double *terms = s->terms + node * (s->dim + 1);
  double sum = 0;

  for (CeedInt d = 0; d <= s->dim; d++) sum += c[d] * terms[d];
  return sum;
}

typedef struct {
  const RitzSeparable *s;
  double *diagonal;
  int32_t *count;
} Diagonals;

static void find_bounds(const void *data, int64_t first, int64_t count, int64_t *low, int64_t *high) {
  const RitzSeparable *s = ((const Diagonals *)data)->s;
  const CeedInt *offsets = s->rstr->offsets + first * s->num_nodes;
  CeedInt least = offsets[0], most = offsets[0];

  for (int64_t i = 0; i < count * s->num_nodes; i++) {
    least = CeedIntMin(least, offsets[i]);
    most = CeedIntMax(most, offsets[i]);
  }
  *low = least / s->num_comp;
  *high = most / s->num_comp;
}

static void clear_range(const void *data, int64_t first, int64_t count) {
  const Diagonals *d = data;

  for (int64_t i = first; i < first + count; i++) {
    d->diagonal[i] = 0;
    d->count[i] = 0;
  }
}

static void add_domains(const void *data, int slot, int64_t first_domain, int64_t num_domains,
                        int64_t first, int64_t count) {
  const Diagonals *d = data;
  const RitzSeparable *s = d->s;

  (void)slot;
  for (int64_t e = first_domain; e < first_domain + num_domains; e++) {
    const CeedInt *offsets = s->rstr->offsets + e * s->num_nodes;
    const double *factors = s->factors + e * (s->dim + 1);

    for (CeedInt n = 0; n < s->num_nodes; n++) {
      const int64_t node = s->num_comp == 1 ? offsets[n] : offsets[n] / s->num_comp;

      if (node < first || node >= first + count) continue;
      d->diagonal[node] += diagonal_entry(s, factors, n);
      d->count[node]++;
    }
  }
}

int ritz_separable_sum_diagonals(Ceed ceed, const RitzSeparable *s, double *diagonal, int32_t *count) {
  const Diagonals diagonals = {s, diagonal, count};
  const RitzNodeSum sum = {.num_nodes = s->rstr->l_size / s->num_comp,
                           .num_elem = s->num_domains,
                           .bounds = find_bounds,
                           .clear = clear_range,
                           .add = add_domains,
                           .data = &diagonals};

  return ritz_run_node_sum(ceed, &sum);
}
