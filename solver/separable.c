// SPDX-License-Identifier: BSD-2-Clause
// Separable matrices of subdomains: eigenvectors of one direction, subdomains of each kind, diagonals (see
// separable.h).
#include "solver/separable.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/ranges.h"
#include "fe/fe.h"
#include "solver/preconditioner.h"

// ---- One direction ----

// A subdomain in one direction: of a line of unit cells, assembled, `num` nodes from `first` on.
typedef struct {
  CeedInt num_cells, first, num;
} Line;

static Line line_of(RitzSeparableLine line, CeedInt p) {
  switch (line) {
  case RITZ_LINE_CELL: return (Line){3, p, p + 1};
  case RITZ_LINE_UPPER: return (Line){3, p, p + 2};
  case RITZ_LINE_BOTH: return (Line){3, p - 1, p + 3};
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
  const Line line = line_of(s->line, s->degree);
  const CeedInt P = s->P;
  double *K = NULL;

  RITZ_TRY(RITZ_MALLOC(ceed, (size_t)(2 * P * P), &K));
  double *M = K + P * P;
  int ierr = fill_line(ceed, &line, s->degree, K, M);

  for (CeedInt i = 0; i < P && !ierr; i++) {
    s->stiffness[i] = K[i * P + i];
    s->mass[i] = M[i * P + i];
  }
  if (!ierr && P > 1) ierr = ritz_fe_simultaneous_diagonalization(ceed, K, M, s->X, s->lambda, P);
  if (!ierr && P == 1) { // patches of degree 1
    s->X[0] = 1 / sqrt(M[0]);
    s->lambda[0] = K[0] / M[0];
  }
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

// Data that all sets have in common.
typedef struct {
  Ceed ceed;
  RitzSpace space;
  RitzMesh mesh;
  CeedInt dim, degree, num_comp;
  int64_t num_elem;
  double *factors; // owned, [num_elem][dim + 1]
} Source;

static int start_set(const Source *source, RitzSeparableLine line, RitzSeparables *all) {
  RitzSeparable *s = &all->set[all->num++];

  *s = (RitzSeparable){
      .line = line, .dim = source->dim, .degree = source->degree, .num_comp = source->num_comp};
  s->P = line_of(line, s->degree).num;
  s->num_nodes = CeedIntPow(s->P, s->dim);
  return fill_tables(source->ceed, s);
}

// elements [num], NULL: all.
static int copy_factors(const Source *source, CeedInt num, const CeedInt *elements, RitzSeparable *s) {
  const size_t size = (size_t)source->dim + 1;

  s->num_domains = num;
  RITZ_TRY(RITZ_MALLOC(source->ceed, (size_t)num * size, &s->factors));
  for (CeedInt i = 0; i < num; i++) {
    memcpy(s->factors + (size_t)i * size, source->factors + (size_t)(elements ? elements[i] : i) * size,
           size * sizeof(double));
  }
  return CEED_ERROR_SUCCESS;
}

static int create_elements(const Source *source, RitzSeparables *all) {
  RITZ_TRY(start_set(source, RITZ_LINE_CELL, all));
  RITZ_TRY(RitzSpaceCreateRestriction(source->space, source->ceed, &all->set[0].rstr));
  return copy_factors(source, (CeedInt)source->num_elem, NULL, &all->set[0]);
}

static int create_overlapped(const Source *source, RitzSeparables *all) {
  CeedElemRestriction rstr[3] = {NULL, NULL, NULL};
  CeedInt num[3] = {0, 0, 0}, first = 0, *elements = NULL;
  int ierr = RitzSpaceCreateOverlapRestrictions(source->space, source->ceed, num, &elements, rstr);

  for (int i = 0; i < 3 && !ierr; first += num[i++]) {
    if (num[i] == 0) continue;
    ierr = start_set(source, (RitzSeparableLine)i, all);
    all->set[all->num - 1].rstr = rstr[i];
    rstr[i] = NULL;
    if (!ierr) ierr = copy_factors(source, num[i], elements + first, &all->set[all->num - 1]);
  }
  for (int i = 0; i < 3; i++) CeedElemRestrictionDestroy(&rstr[i]);
  free(elements);
  return ierr;
}

static int create_patches(const Source *source, RitzSeparables *all) {
  RITZ_TRY(start_set(source, RITZ_LINE_PATCH, all));
  return ritz_separable_create_patches(source->ceed, source->space, source->mesh, source->num_elem,
                                       source->factors, ritz_schwarz_is_coloured(all->kind), &all->set[0]);
}

static int read_source(const char *call, RitzSchwarzKind kind, Source *source) {
  RITZ_TRY(ritz_check_space_is_continuous(source->ceed, call, source->space));
  RITZ_TRY(RitzSpaceGetMesh(source->space, &source->mesh));
  RITZ_TRY(check_mesh(source->ceed, call, source->mesh));
  RITZ_TRY(RitzSpaceGetDegree(source->space, &source->degree));
  RITZ_TRY(RitzMeshGetDimensions(source->mesh, &source->dim, NULL));
  RITZ_TRY(RitzMeshGetNumElements(source->mesh, &source->num_elem));
  RITZ_REQUIRE(source->num_elem <= INT32_MAX, source->ceed, CEED_ERROR_UNSUPPORTED,
               "%s: %lld elements exceed the 32-bit counts of a restriction", call,
               (long long)source->num_elem);
  RITZ_REQUIRE(kind != RITZ_SCHWARZ_OVERLAPPED || source->degree > 1, source->ceed, CEED_ERROR_UNSUPPORTED,
               "%s: overlapped elements need degree 2 or more: at degree 1 a layer of nodes is all of the "
               "neighbour (use RITZ_SCHWARZ_ELEMENTS or Jacobi)",
               call);
  return RitzSpaceGetNumComponents(source->space, &source->num_comp);
}

int ritz_separables_create(Ceed ceed, const char *call, RitzSpace space, RitzSchwarzKind kind,
                           const double *factors, RitzSeparables *all) {
  Source source = {.ceed = ceed, .space = space};
  int ierr;

  *all = (RitzSeparables){.kind = kind};
  RITZ_TRY(read_source(call, kind, &source));
  RITZ_TRY(RITZ_MALLOC(ceed, (size_t)source.num_elem * (size_t)(source.dim + 1), &source.factors));
  RITZ_TRY_CLEANUP(ritz_separable_element_factors(ceed, call, source.mesh, source.dim, source.num_elem,
                                                  factors, source.factors));
  if (kind == RITZ_SCHWARZ_ELEMENTS)
    RITZ_TRY_CLEANUP(create_elements(&source, all));
  else if (kind == RITZ_SCHWARZ_OVERLAPPED)
    RITZ_TRY_CLEANUP(create_overlapped(&source, all));
  else
    RITZ_TRY_CLEANUP(create_patches(&source, all));
  for (int i = 0; i < all->num; i++) ritz_separable_normalize(&all->set[i]);
cleanup:
  RITZ_FREE(&source.factors);
  return ierr;
}

void ritz_separables_clear(RitzSeparables *all) {
  for (int i = 0; i < all->num; i++) {
    RitzSeparable *s = &all->set[i];

    RITZ_FREE(&s->X);
    RITZ_FREE(&s->terms);
    RITZ_FREE(&s->factors);
    RITZ_FREE(&s->first);
    CeedElemRestrictionDestroy(&s->rstr);
  }
  *all = (RitzSeparables){0};
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

static void clear_nodes(const void *data, int64_t first, int64_t count) {
  const Diagonals *d = data;

  for (int64_t i = first; i < first + count; i++) {
    d->diagonal[i] = 0;
    d->count[i] = 0;
  }
}

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

static void add_domains(const void *data, int slot, int64_t first_domain, int64_t num_domains, int64_t first,
                        int64_t count) {
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

int ritz_separables_sum_diagonals(Ceed ceed, const RitzSeparables *all, double *diagonal, int32_t *count) {
  const int64_t num_nodes = all->set[0].rstr->l_size / all->set[0].num_comp;

  for (int i = 0; i < all->num; i++) {
    const Diagonals diagonals = {&all->set[i], diagonal, count};
    const RitzNodeSum sum = {.num_nodes = num_nodes,
                             .num_elem = all->set[i].num_domains,
                             .bounds = find_bounds,
                             .clear = i == 0 ? clear_nodes : NULL,
                             .add = add_domains,
                             .data = &diagonals};

    RITZ_TRY(ritz_run_node_sum(ceed, &sum));
  }
  return CEED_ERROR_SUCCESS;
}
