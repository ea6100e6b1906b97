// SPDX-License-Identifier: BSD-2-Clause
// Restrictions and bases of random operators, with their definitions as plain arrays: see random-operator.h.
// Called by random-operator.c.
#include "tests/random-space.h"

#include "tests/reference.h"
#include <ritz/basis.h>
#include <stdlib.h>

int random_one_in(RandomDraw *d, int64_t n) { return tap_integer(d->seed, n) == 0; }

CeedInt random_between(RandomDraw *d, CeedInt low, CeedInt high) {
  return low + (CeedInt)tap_integer(d->seed, (int64_t)high - low + 1);
}

RandomDraw random_of_mesh(const RandomDraw *d) { return (RandomDraw){d->r, d->options, d->mesh, d->mesh}; }

void *random_allocate(size_t n, size_t size) {
  void *memory = calloc(n ? n : 1, size);

  if (!memory) abort();
  return memory;
}

// ---- Restrictions ----

static CeedSize e_size(const RandomOperator *r, const RandomSpace *s) {
  return (CeedSize)r->num_elem * s->elem_size * s->num_comp;
}

// Any order of the three indices, without gaps.
static void draw_strides(RandomDraw *d, RandomSpace *s) {
  CeedInt extent[3] = {s->elem_size, s->num_comp, d->r->num_elem}, first = random_between(d, 0, 2),
          stride = 1;
  CeedInt second = (first + random_between(d, 1, 2)) % 3, order[3] = {first, second, 3 - first - second};

  for (int i = 0; i < 3; i++) {
    s->strides[order[i]] = stride;
    stride *= extent[order[i]];
  }
}

static int create_strided(RandomDraw *d, RandomSpace *s) {
  int uses_backend_strides = random_one_in(d, 2);

  draw_strides(d, s);
  CeedCall(CeedElemRestrictionCreateStrided(d->r->ceed, d->r->num_elem, s->elem_size, s->num_comp, s->l_size,
                                            uses_backend_strides ? CEED_STRIDES_BACKEND : s->strides,
                                            &s->rstr));
  return uses_backend_strides ? CeedElemRestrictionGetLLayout(s->rstr, s->strides) : CEED_ERROR_SUCCESS;
}

// ---- Rows of nodes ----

enum { CHAIN = 64 / sizeof(CeedScalar) };

// Nodes of a row: along the first direction of a tensor basis, points likewise.
static CeedInt row_length(const RandomOperator *r, const RandomSpace *s) {
  CeedInt n = 1;

  if (s->kind == RANDOM_NO_BASIS) return r->Q_1d;
  if (s->kind != RANDOM_LAGRANGE && s->kind != RANDOM_TENSOR) return 1;
  while (CeedIntPow(n, s->dim) < s->P) n++;
  return n;
}

// Makes the offsets of rows consecutive, where there is room; in half of the restrictions row by row an
// element begins where the one before ends, a longest vector of them in a chain.
static void draw_rows(RandomDraw *d, RandomSpace *s) {
  CeedInt n = row_length(d->r, s), nc = s->num_comp, step = nc > 1 && s->comp_stride == 1 ? nc : 1;
  CeedInt last = (CeedInt)(s->l_size - 1 - (CeedSize)(nc - 1) * s->comp_stride), length = (n - 1) * step;
  bool has_chains = random_one_in(d, 2) && last >= CHAIN * length;

  if (last < length) return;
  for (CeedInt e = 0; e < d->r->num_elem; e++) {
    CeedInt *offsets = s->offsets + (CeedSize)e * s->elem_size;

    for (CeedInt i = 0; i < s->elem_size; i++) {
      bool goes_on = has_chains && e % CHAIN && i % n == 0;
      CeedInt first = goes_on ? offsets[i + n - 1 - s->elem_size]
                              : random_between(d, 0, last - (has_chains ? CHAIN : 1) * length);
      offsets[i] = i % n ? offsets[i - 1] + step : first;
    }
  }
}

// Components interlaced (offsets are multiples of their number), one after the other, or overlapping.
static void draw_offsets(RandomDraw *d, RandomSpace *s) {
  RandomDraw mesh = random_of_mesh(d);
  CeedSize num = (CeedSize)d->r->num_elem * s->elem_size;
  CeedInt nc = s->num_comp, kind = random_between(d, 0, 2), unit = kind == 0 ? nc : 1;

  s->comp_stride = kind == 0 || nc == 1 ? 1
                   : kind == 1          ? (CeedInt)(s->l_size / nc)
                                        : random_between(d, 1, (CeedInt)((s->l_size - 1) / (nc - 1)));
  CeedInt num_nodes = (CeedInt)((s->l_size - (CeedSize)(nc - 1) * s->comp_stride - 1) / unit) + 1;

  s->offsets = random_allocate((size_t)num, sizeof(*s->offsets));
  for (CeedSize i = 0; i < num; i++) s->offsets[i] = unit * random_between(&mesh, 0, num_nodes - 1);
  if (d->options->in_batches) draw_rows(&mesh, s);
}

static void draw_orientations(RandomDraw *d, RandomSpace *s) {
  CeedSize num = (CeedSize)d->r->num_elem * s->elem_size;

  s->orients = random_allocate((size_t)num, sizeof(*s->orients));
  s->curl_orients = random_allocate(3 * (size_t)num, sizeof(*s->curl_orients));
  for (CeedSize i = 0; i < num; i++) s->orients[i] = random_one_in(d, 2);
  for (CeedSize i = 0; i < 3 * num; i++) s->curl_orients[i] = (CeedInt8)random_between(d, -1, 1);
  for (CeedInt e = 0; e < d->r->num_elem; e++) {
    CeedInt8 *first = s->curl_orients + (CeedSize)e * s->elem_size * 3;

    first[0] = first[3 * s->elem_size - 1] = 0;
  }
}

static int create_with_offsets(RandomDraw *d, RandomSpace *s) {
  RandomDraw mesh = random_of_mesh(d);
  Ceed ceed = d->r->ceed;
  CeedInt n = d->r->num_elem;

  draw_offsets(d, s);
  if (s->type == CEED_RESTRICTION_STANDARD) {
    return CeedElemRestrictionCreate(ceed, n, s->elem_size, s->num_comp, s->comp_stride, s->l_size,
                                     CEED_MEM_HOST, CEED_COPY_VALUES, s->offsets, &s->rstr);
  }
  draw_orientations(&mesh, s);
  if (s->type == CEED_RESTRICTION_ORIENTED) {
    return CeedElemRestrictionCreateOriented(ceed, n, s->elem_size, s->num_comp, s->comp_stride, s->l_size,
                                             CEED_MEM_HOST, CEED_COPY_VALUES, s->offsets, s->orients,
                                             &s->rstr);
  }
  return CeedElemRestrictionCreateCurlOriented(ceed, n, s->elem_size, s->num_comp, s->comp_stride, s->l_size,
                                               CEED_MEM_HOST, CEED_COPY_VALUES, s->offsets, s->curl_orients,
                                               &s->rstr);
}

// l_size 0: free. Half of the restrictions are plain.
static int draw_restriction(RandomDraw *d, CeedSize l_size, RandomSpace *s) {
  static const CeedRestrictionType types[] = {CEED_RESTRICTION_STANDARD,      CEED_RESTRICTION_STANDARD,
                                              CEED_RESTRICTION_STANDARD,      CEED_RESTRICTION_ORIENTED,
                                              CEED_RESTRICTION_CURL_ORIENTED, CEED_RESTRICTION_STRIDED};
  RandomDraw mesh = random_of_mesh(d);
  CeedSize full = e_size(d->r, s),
           max_l_size = d->options->in_batches ? 4 * RANDOM_MAX_L_SIZE : RANDOM_MAX_L_SIZE;

  s->type = types[random_between(d, 0, 5)];
  if (d->options->in_batches && s->kind == RANDOM_NO_BASIS && random_one_in(d, 2))
    s->type = CEED_RESTRICTION_STRIDED;
  if (s->type == CEED_RESTRICTION_STRIDED && full > (l_size ? l_size : max_l_size)) {
    s->type = CEED_RESTRICTION_STANDARD;
  }
  if (!l_size && s->type == CEED_RESTRICTION_STRIDED) l_size = full + random_between(&mesh, 0, 5);
  if (!l_size) {
    l_size = s->num_comp * (d->options->in_batches ? CHAIN * row_length(d->r, s) : 1);
    l_size += random_between(&mesh, 0, (CeedInt)(full < 150 ? full : 150));
  }
  s->l_size = l_size;
  return s->type == CEED_RESTRICTION_STRIDED ? create_strided(d, s) : create_with_offsets(d, s);
}

// ---- Bases ----

// What CeedScalar holds of the numbers, in both forms.
static CeedScalar *round_to_scalar(size_t n, double *a) {
  CeedScalar *rounded = random_allocate(n, sizeof(*rounded));

  for (size_t i = 0; i < n; i++) {
    rounded[i] = (CeedScalar)a[i];
    a[i] = (double)rounded[i];
  }
  return rounded;
}

static CeedScalar *draw_table(RandomDraw *d, size_t n, double **table) {
  *table = random_allocate(n, sizeof(**table));
  reference_fill_random(n, *table, d->seed);
  return round_to_scalar(n, *table);
}

// From 1D tables to those of the definition.
static void expand_tensor(const RandomOperator *r, RandomSpace *s, CeedInt P_1d, const double *interp,
                          const double *grad, const double *weight) {
  size_t size = (size_t)r->Q * (size_t)s->P;

  s->interp = random_allocate(size, sizeof(double));
  s->derivative = random_allocate((size_t)s->dim * size, sizeof(double));
  s->weight = random_allocate((size_t)r->Q, sizeof(double));
  reference_tensor(s->dim, P_1d, r->Q_1d, interp, grad, -1, s->interp);
  for (int i = 0; i < s->dim; i++) {
    reference_tensor(s->dim, P_1d, r->Q_1d, interp, grad, i, s->derivative + (size_t)i * size);
  }
  reference_tensor(s->dim, 1, r->Q_1d, weight, NULL, -1, s->weight);
}

static int create_lagrange(RandomDraw *d, CeedInt P_1d, RandomSpace *s) {
  RandomOperator *r = d->r;
  CeedQuadMode mode = r->Q_1d > 1 && random_one_in(d, 2) ? CEED_GAUSS_LOBATTO : CEED_GAUSS;
  double x[REFERENCE_MAX_1D], w[REFERENCE_MAX_1D];
  double interp[REFERENCE_MAX_1D * REFERENCE_MAX_1D], grad[REFERENCE_MAX_1D * REFERENCE_MAX_1D];

  reference_quadrature(mode, r->Q_1d, x, w);
  reference_lagrange(P_1d, r->Q_1d, x, interp, grad);
  expand_tensor(r, s, P_1d, interp, grad, w);
  return CeedBasisCreateTensorH1Lagrange(r->ceed, s->dim, s->num_comp, P_1d, r->Q_1d, mode, &s->basis);
}

// Tables without any symmetry, but near those of a Lagrange basis: a backend may differentiate at the points
// after interpolation, which is stable only if interpolation can be inverted.
static int create_tensor(RandomDraw *d, CeedInt P_1d, RandomSpace *s) {
  RandomOperator *r = d->r;
  size_t size = (size_t)(P_1d * r->Q_1d);
  double x[REFERENCE_MAX_1D], w[REFERENCE_MAX_1D], *noise[2];
  double interp[REFERENCE_MAX_1D * REFERENCE_MAX_1D], grad[REFERENCE_MAX_1D * REFERENCE_MAX_1D];

  reference_quadrature(CEED_GAUSS, r->Q_1d, x, w);
  reference_lagrange(P_1d, r->Q_1d, x, interp, grad);
  free(draw_table(d, size, &noise[0]));
  free(draw_table(d, size, &noise[1]));
  for (size_t i = 0; i < size; i++) {
    interp[i] += 0.1 * noise[0][i];
    grad[i] += 0.1 * noise[1][i];
  }
  for (int i = 0; i < r->Q_1d; i++) w[i] += 0.1 * noise[0][i];
  CeedScalar *tables[] = {round_to_scalar(size, interp), round_to_scalar(size, grad),
                          round_to_scalar((size_t)r->Q_1d, w)};

  expand_tensor(r, s, P_1d, interp, grad, w);
  int ierr = CeedBasisCreateTensorH1(r->ceed, s->dim, s->num_comp, P_1d, r->Q_1d, tables[0], tables[1], NULL,
                                     tables[2], &s->basis);

  for (int i = 0; i < 3; i++) free(tables[i]);
  free(noise[0]);
  free(noise[1]);
  return ierr;
}

// Neighbours change places, or stay where they are.
static CeedInt *draw_exchange(RandomDraw *d, CeedInt n) {
  CeedInt *image = random_allocate((size_t)n, sizeof(*image));

  for (CeedInt i = 0; i < n; i++) image[i] = i;
  for (CeedInt i = 0; i + 1 < n; i += 2) {
    const int swaps = !random_one_in(d, 4);
    image[i] += swaps;
    image[i + 1] -= swaps;
  }
  return image;
}

// Makes a table [num][Q][P] of values, num = 1, or of derivatives one that stays the same when the first two
// directions change places, and nodes and points with them.
static void make_symmetric(const RandomOperator *r, const RandomSpace *s, CeedInt num, const CeedInt *points,
                           const CeedInt *nodes, double *table) {
  for (CeedInt i = 0; i < num * r->Q * s->P; i++) {
    CeedInt direction = i / (r->Q * s->P), q = i / s->P % r->Q, p = i % s->P;
    CeedInt image = num > 1 && direction < 2 ? 1 - direction : direction;

    table[(image * r->Q + points[q]) * s->P + nodes[p]] = table[i];
  }
}

// As Lagrange bases on all shapes with symmetric points are.
static void make_tables_symmetric(RandomDraw *d, RandomSpace *s, CeedScalar *interp, CeedScalar *derivative) {
  CeedInt *points = draw_exchange(d, d->r->Q), *nodes = draw_exchange(d, s->P);
  CeedInt size = d->r->Q * s->P;

  make_symmetric(d->r, s, 1, points, nodes, s->interp);
  make_symmetric(d->r, s, s->dim, points, nodes, s->derivative);
  for (CeedInt i = 0; i < size; i++) interp[i] = (CeedScalar)s->interp[i];
  for (CeedInt i = 0; i < s->dim * size; i++) derivative[i] = (CeedScalar)s->derivative[i];
  free(points);
  free(nodes);
}

static int create_dense(RandomDraw *d, RandomSpace *s) {
  static const CeedElemTopology topologies[] = {CEED_TOPOLOGY_LINE, CEED_TOPOLOGY_TRIANGLE,
                                                CEED_TOPOLOGY_QUAD, CEED_TOPOLOGY_TET,
                                                CEED_TOPOLOGY_HEX,  CEED_TOPOLOGY_PYRAMID,
                                                CEED_TOPOLOGY_PRISM};
  RandomOperator *r = d->r;
  CeedElemTopology topology = topologies[random_between(d, 0, 6)];

  s->dim = (CeedInt)topology >> 16;
  CeedInt curls = s->dim < 3 ? 1 : 3;
  size_t size = (size_t)r->Q * (size_t)s->P;
  size_t num_interp = s->kind == RANDOM_H1 ? 1 : (size_t)s->dim;
  size_t num_derivative = (size_t)(s->kind == RANDOM_H1 ? s->dim : s->kind == RANDOM_HDIV ? 1 : curls);
  CeedScalar *interp = draw_table(d, num_interp * size, &s->interp);
  CeedScalar *derivative = draw_table(d, num_derivative * size, &s->derivative);
  CeedScalar *weight = draw_table(d, (size_t)r->Q, &s->weight);
  if (s->kind == RANDOM_H1 && s->dim > 1 && d->options->in_batches && random_one_in(d, 2))
    make_tables_symmetric(d, s, interp, derivative);
  int ierr = (s->kind == RANDOM_H1     ? CeedBasisCreateH1
              : s->kind == RANDOM_HDIV ? CeedBasisCreateHdiv
                                       : CeedBasisCreateHcurl)(r->ceed, topology, s->num_comp, s->P, r->Q,
                                                               interp, derivative, NULL, weight, &s->basis);

  free(interp);
  free(derivative);
  free(weight);
  return ierr;
}

// ---- Vector bases of tensor products: tables of component c along direction i at c * dim + i ----

typedef struct {
  CeedInt P_1d[9], first[4];
  double *interp[9], *grad[9]; // owned
} Blocks;

static CeedInt block_nodes(const Blocks *b, CeedInt dim, CeedInt c) {
  CeedInt num = 1;

  for (CeedInt i = 0; i < dim; i++) num *= b->P_1d[c * dim + i];
  return num;
}

// Adds to the columns of block c of a table [Q][P] sign times its tensor product, differentiated along
// `direction` (-1: not).
static void add_block(const RandomOperator *r, const RandomSpace *s, const Blocks *b, CeedInt c,
                      CeedInt direction, int sign, double *table) {
  const CeedInt num = block_nodes(b, s->dim, c);

  for (CeedInt k = 0; k < r->Q * num; k++) {
    CeedInt q = k / num, p = k % num;
    double product = sign;
    for (CeedInt i = c * s->dim; i < (c + 1) * s->dim; i++) {
      const double *factor = i - c * s->dim == direction ? b->grad[i] : b->interp[i];
      product *= factor[q % r->Q_1d * b->P_1d[i] + p % b->P_1d[i]];
      q /= r->Q_1d;
      p /= b->P_1d[i];
    }
    table[k / num * s->P + b->first[c] + k % num] += product;
  }
}

// DIV: the sum over c of d_c u_c. CURL in 2D: d_0 u_1 - d_1 u_0; in 3D row c: d_i u_j - d_j u_i, (c, i, j)
// cyclic.
static void expand_blocks(const RandomOperator *r, RandomSpace *s, const Blocks *b) {
  const size_t size = (size_t)r->Q * (size_t)s->P;

  s->interp = random_allocate((size_t)s->dim * size, sizeof(double));
  s->derivative = random_allocate((size_t)s->dim * size, sizeof(double));
  for (CeedInt c = 0; c < s->dim; c++) {
    const CeedInt i = (c + 1) % 3, j = (c + 2) % 3;
    add_block(r, s, b, c, -1, 1, s->interp + (size_t)c * size);
    if (s->kind == RANDOM_HDIV) {
      add_block(r, s, b, c, c, 1, s->derivative);
    } else if (s->dim == 2) {
      add_block(r, s, b, c, 1 - c, c ? 1 : -1, s->derivative);
    } else {
      add_block(r, s, b, j, i, 1, s->derivative + (size_t)c * size);
      add_block(r, s, b, i, j, -1, s->derivative + (size_t)c * size);
    }
  }
}

static int create_blocks(RandomDraw *d, RandomSpace *s) {
  RandomOperator *r = d->r;
  const CeedInt num = r->dim * r->dim;
  const CeedEvalMode derivative = s->kind == RANDOM_HDIV ? CEED_EVAL_DIV : CEED_EVAL_CURL;
  CeedScalar *interp[9], *grad[9];
  double *line;
  Blocks b = {0};

  s->dim = r->dim;
  for (CeedInt i = 0; i < num; i++) {
    b.P_1d[i] = random_between(d, 1, r->dim == 2 ? 4 : 3);
    interp[i] = draw_table(d, (size_t)(r->Q_1d * b.P_1d[i]), &b.interp[i]);
    grad[i] = draw_table(d, (size_t)(r->Q_1d * b.P_1d[i]), &b.grad[i]);
  }
  for (CeedInt c = 0; c < s->dim; c++) b.first[c + 1] = b.first[c] + block_nodes(&b, s->dim, c);
  s->P = b.first[s->dim];
  CeedScalar *weight = draw_table(d, (size_t)r->Q_1d, &line);
  s->weight = random_allocate((size_t)r->Q, sizeof(double));
  reference_tensor(s->dim, 1, r->Q_1d, line, NULL, -1, s->weight);
  expand_blocks(r, s, &b);
  int ierr = RitzBasisCreateTensorVector(r->ceed, s->dim, s->num_comp, derivative, b.P_1d, r->Q_1d,
                                         (const CeedScalar *const *)interp, (const CeedScalar *const *)grad,
                                         NULL, weight, &s->basis);

  for (CeedInt i = 0; i < num; i++) free(interp[i]), free(grad[i]), free(b.interp[i]), free(b.grad[i]);
  free(weight);
  free(line);
  return ierr;
}

static int draw_basis(RandomDraw *d, RandomSpace *s) {
  static const RandomBasisKind kinds[] = {RANDOM_LAGRANGE, RANDOM_LAGRANGE, RANDOM_LAGRANGE, RANDOM_TENSOR,
                                          RANDOM_H1,       RANDOM_HDIV,     RANDOM_HCURL};
  static const CeedInt max_P_1d[] = {0, 8, 5, 4};

  s->kind = kinds[random_between(d, 0, d->options->is_tensor ? 3 : 6)];
  if ((s->kind == RANDOM_HDIV || s->kind == RANDOM_HCURL) && d->r->dim > 1 && random_one_in(d, 2))
    return create_blocks(d, s);
  if (s->kind != RANDOM_LAGRANGE && s->kind != RANDOM_TENSOR) {
    s->P = random_between(d, 1, d->options->in_batches && random_one_in(d, 2) ? 40 : 9);
    return create_dense(d, s);
  }
  CeedInt P_1d = random_between(d, 2, max_P_1d[d->r->dim]);

  s->dim = d->r->dim;
  s->P = CeedIntPow(P_1d, s->dim);
  return s->kind == RANDOM_LAGRANGE ? create_lagrange(d, P_1d, s) : create_tensor(d, P_1d, s);
}

int random_space_draw(RandomDraw *d, CeedSize l_size, bool has_basis, RandomSpace *s) {
  s->kind = RANDOM_NO_BASIS;
  s->basis = CEED_BASIS_NONE;
  s->num_comp = random_between(d, 1, 3);
  if (l_size && s->num_comp > l_size) s->num_comp = 1;
  if (has_basis) CeedCall(draw_basis(d, s));
  s->elem_size = has_basis ? s->P : d->r->Q;
  return draw_restriction(d, l_size, s);
}

void random_space_destroy(RandomSpace *s) {
  CeedElemRestrictionDestroy(&s->rstr);
  CeedBasisDestroy(&s->basis);
  free(s->offsets);
  free(s->orients);
  free(s->curl_orients);
  free(s->interp);
  free(s->derivative);
  free(s->weight);
}
