// SPDX-License-Identifier: BSD-2-Clause
// Random operators, first half: drawing them and making their objects. Assembly of their matrices:
// random-assembly.c. Linked into every test program.
#include "tests/random-operator.h"

#include "tests/reference.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_INPUT_SIZE = 400 }; // of active inputs: columns of the dense matrix

// What is needed while an operator is drawn.
typedef struct {
  RandomOperator *r;
  const RandomOptions *options;
  uint64_t *seed;
} Draw;

static int one_in(Draw *d, int64_t n) { return tap_integer(d->seed, n) == 0; }
static CeedInt between(Draw *d, CeedInt low, CeedInt high) {
  return low + (CeedInt)tap_integer(d->seed, (int64_t)high - low + 1);
}

static void *allocate(size_t n, size_t size) {
  void *memory = calloc(n ? n : 1, size);

  if (!memory) abort();
  return memory;
}

// ---- Restrictions ----

static CeedSize e_size(const RandomOperator *r, const RandomSpace *s) {
  return (CeedSize)r->num_elem * s->elem_size * s->num_comp;
}

// Any order of the three indices, without gaps.
static void draw_strides(Draw *d, RandomSpace *s) {
  CeedInt extent[3] = {s->elem_size, s->num_comp, d->r->num_elem}, first = between(d, 0, 2), stride = 1;
  CeedInt second = (first + between(d, 1, 2)) % 3, order[3] = {first, second, 3 - first - second};

  for (int i = 0; i < 3; i++) {
    s->strides[order[i]] = stride;
    stride *= extent[order[i]];
  }
}

static int create_strided(Draw *d, RandomSpace *s) {
  int uses_backend_strides = one_in(d, 2);

  draw_strides(d, s);
  CeedCall(CeedElemRestrictionCreateStrided(d->r->ceed, d->r->num_elem, s->elem_size, s->num_comp, s->l_size,
                                            uses_backend_strides ? CEED_STRIDES_BACKEND : s->strides,
                                            &s->rstr));
  return uses_backend_strides ? CeedElemRestrictionGetLLayout(s->rstr, s->strides) : CEED_ERROR_SUCCESS;
}

// Components interlaced (offsets are multiples of their number), one after the other, or overlapping.
static void draw_offsets(Draw *d, RandomSpace *s) {
  CeedSize num = (CeedSize)d->r->num_elem * s->elem_size;
  CeedInt nc = s->num_comp, kind = between(d, 0, 2), unit = kind == 0 ? nc : 1;

  s->comp_stride = kind == 0 || nc == 1 ? 1
                   : kind == 1          ? (CeedInt)(s->l_size / nc)
                                        : between(d, 1, (CeedInt)((s->l_size - 1) / (nc - 1)));
  CeedInt num_nodes = (CeedInt)((s->l_size - (CeedSize)(nc - 1) * s->comp_stride - 1) / unit) + 1;

  s->offsets = allocate((size_t)num, sizeof(*s->offsets));
  for (CeedSize i = 0; i < num; i++) s->offsets[i] = unit * between(d, 0, num_nodes - 1);
}

static void draw_orientations(Draw *d, RandomSpace *s) {
  CeedSize num = (CeedSize)d->r->num_elem * s->elem_size;

  s->orients = allocate((size_t)num, sizeof(*s->orients));
  s->curl_orients = allocate(3 * (size_t)num, sizeof(*s->curl_orients));
  for (CeedSize i = 0; i < num; i++) s->orients[i] = one_in(d, 2);
  for (CeedSize i = 0; i < 3 * num; i++) s->curl_orients[i] = (CeedInt8)between(d, -1, 1);
  for (CeedInt e = 0; e < d->r->num_elem; e++) {
    CeedInt8 *first = s->curl_orients + (CeedSize)e * s->elem_size * 3;

    first[0] = first[3 * s->elem_size - 1] = 0;
  }
}

static int create_with_offsets(Draw *d, RandomSpace *s) {
  Ceed ceed = d->r->ceed;
  CeedInt n = d->r->num_elem;

  draw_offsets(d, s);
  if (s->type == CEED_RESTRICTION_STANDARD) {
    return CeedElemRestrictionCreate(ceed, n, s->elem_size, s->num_comp, s->comp_stride, s->l_size,
                                     CEED_MEM_HOST, CEED_COPY_VALUES, s->offsets, &s->rstr);
  }
  draw_orientations(d, s);
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
static int draw_restriction(Draw *d, CeedSize l_size, RandomSpace *s) {
  static const CeedRestrictionType types[] = {
      CEED_RESTRICTION_STANDARD, CEED_RESTRICTION_STANDARD, CEED_RESTRICTION_STANDARD,
      CEED_RESTRICTION_ORIENTED, CEED_RESTRICTION_CURL_ORIENTED, CEED_RESTRICTION_STRIDED};
  CeedSize full = e_size(d->r, s);

  s->type = types[between(d, 0, 5)];
  if (s->type == CEED_RESTRICTION_STRIDED && full > (l_size ? l_size : MAX_INPUT_SIZE)) {
    s->type = CEED_RESTRICTION_STANDARD;
  }
  if (!l_size && s->type == CEED_RESTRICTION_STRIDED) l_size = full + between(d, 0, 5);
  if (!l_size) l_size = s->num_comp + between(d, 0, (CeedInt)(full < 150 ? full : 150));
  s->l_size = l_size;
  return s->type == CEED_RESTRICTION_STRIDED ? create_strided(d, s) : create_with_offsets(d, s);
}

// ---- Bases ----

// What CeedScalar holds of the numbers, in both forms.
static CeedScalar *round_to_scalar(size_t n, double *a) {
  CeedScalar *rounded = allocate(n, sizeof(*rounded));

  for (size_t i = 0; i < n; i++) {
    rounded[i] = (CeedScalar)a[i];
    a[i] = (double)rounded[i];
  }
  return rounded;
}

static CeedScalar *draw_table(Draw *d, size_t n, double **table) {
  *table = allocate(n, sizeof(**table));
  reference_fill_random(n, *table, d->seed);
  return round_to_scalar(n, *table);
}

// From 1D tables to those of the definition.
static void expand_tensor(const RandomOperator *r, RandomSpace *s, CeedInt P_1d, const double *interp,
                          const double *grad, const double *weight) {
  size_t size = (size_t)r->Q * (size_t)s->P;

  s->interp = allocate(size, sizeof(double));
  s->derivative = allocate((size_t)s->dim * size, sizeof(double));
  s->weight = allocate((size_t)r->Q, sizeof(double));
  reference_tensor(s->dim, P_1d, r->Q_1d, interp, grad, -1, s->interp);
  for (int i = 0; i < s->dim; i++) {
    reference_tensor(s->dim, P_1d, r->Q_1d, interp, grad, i, s->derivative + (size_t)i * size);
  }
  reference_tensor(s->dim, 1, r->Q_1d, weight, NULL, -1, s->weight);
}

static int create_lagrange(Draw *d, CeedInt P_1d, RandomSpace *s) {
  RandomOperator *r = d->r;
  CeedQuadMode mode = r->Q_1d > 1 && one_in(d, 2) ? CEED_GAUSS_LOBATTO : CEED_GAUSS;
  double x[REFERENCE_MAX_1D], w[REFERENCE_MAX_1D];
  double interp[REFERENCE_MAX_1D * REFERENCE_MAX_1D], grad[REFERENCE_MAX_1D * REFERENCE_MAX_1D];

  reference_quadrature(mode, r->Q_1d, x, w);
  reference_lagrange(P_1d, r->Q_1d, x, interp, grad);
  expand_tensor(r, s, P_1d, interp, grad, w);
  return CeedBasisCreateTensorH1Lagrange(r->ceed, s->dim, s->num_comp, P_1d, r->Q_1d, mode, &s->basis);
}

// Tables without any symmetry, but near those of a Lagrange basis: a backend may differentiate at the points
// after interpolation, which is stable only if interpolation can be inverted.
static int create_tensor(Draw *d, CeedInt P_1d, RandomSpace *s) {
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

static int create_dense(Draw *d, RandomSpace *s) {
  static const CeedElemTopology topologies[] = {
      CEED_TOPOLOGY_LINE, CEED_TOPOLOGY_TRIANGLE, CEED_TOPOLOGY_QUAD, CEED_TOPOLOGY_TET,
      CEED_TOPOLOGY_HEX,  CEED_TOPOLOGY_PYRAMID,  CEED_TOPOLOGY_PRISM};
  RandomOperator *r = d->r;
  CeedElemTopology topology = topologies[between(d, 0, 6)];

  s->dim = (CeedInt)topology >> 16;
  CeedInt curls = s->dim < 3 ? 1 : 3;
  size_t size = (size_t)r->Q * (size_t)s->P;
  size_t num_interp = s->kind == RANDOM_H1 ? 1 : (size_t)s->dim;
  size_t num_derivative = (size_t)(s->kind == RANDOM_H1 ? s->dim : s->kind == RANDOM_HDIV ? 1 : curls);
  CeedScalar *interp = draw_table(d, num_interp * size, &s->interp);
  CeedScalar *derivative = draw_table(d, num_derivative * size, &s->derivative);
  CeedScalar *weight = draw_table(d, (size_t)r->Q, &s->weight);
  int ierr = (s->kind == RANDOM_H1     ? CeedBasisCreateH1
              : s->kind == RANDOM_HDIV ? CeedBasisCreateHdiv
                                       : CeedBasisCreateHcurl)(r->ceed, topology, s->num_comp, s->P, r->Q,
                                                               interp, derivative, NULL, weight, &s->basis);

  free(interp);
  free(derivative);
  free(weight);
  return ierr;
}

static int draw_basis(Draw *d, RandomSpace *s) {
  static const RandomBasisKind kinds[] = {RANDOM_LAGRANGE, RANDOM_LAGRANGE, RANDOM_LAGRANGE, RANDOM_TENSOR,
                                          RANDOM_H1,       RANDOM_HDIV,     RANDOM_HCURL};
  static const CeedInt max_P_1d[] = {0, 8, 5, 4};

  s->kind = kinds[between(d, 0, 6)];
  if (s->kind != RANDOM_LAGRANGE && s->kind != RANDOM_TENSOR) {
    s->P = between(d, 1, 9);
    return create_dense(d, s);
  }
  CeedInt P_1d = between(d, 2, max_P_1d[d->r->dim]);

  s->dim = d->r->dim;
  s->P = CeedIntPow(P_1d, s->dim);
  return s->kind == RANDOM_LAGRANGE ? create_lagrange(d, P_1d, s) : create_tensor(d, P_1d, s);
}

static int draw_space(Draw *d, CeedSize l_size, bool has_basis, RandomSpace *s) {
  s->kind = RANDOM_NO_BASIS;
  s->basis = CEED_BASIS_NONE;
  s->num_comp = between(d, 1, 3);
  if (l_size && s->num_comp > l_size) s->num_comp = 1;
  if (has_basis) CeedCall(draw_basis(d, s));
  s->elem_size = has_basis ? s->P : d->r->Q;
  return draw_restriction(d, l_size, s);
}

static void destroy_space(RandomSpace *s) {
  CeedElemRestrictionDestroy(&s->rstr);
  CeedBasisDestroy(&s->basis);
  free(s->offsets);
  free(s->orients);
  free(s->curl_orients);
  free(s->interp);
  free(s->derivative);
  free(s->weight);
}

// ---- Fields ----

// A space that was drawn before, or NULL.
static RandomSpace *find_space(Draw *d, CeedSize l_size, bool needs_basis) {
  RandomOperator *r = d->r;
  int start = r->num_spaces ? between(d, 0, r->num_spaces - 1) : 0;

  for (int i = 0; i < r->num_spaces; i++) {
    RandomSpace *s = &r->spaces[(start + i) % r->num_spaces];

    if ((!l_size || s->l_size == l_size) && (!needs_basis || s->kind != RANDOM_NO_BASIS)) return s;
  }
  return NULL;
}

static CeedInt scalars_per_point(const RandomSpace *s, CeedEvalMode mode) {
  bool is_vector = s->kind == RANDOM_HDIV || s->kind == RANDOM_HCURL;

  if (mode == CEED_EVAL_WEIGHT) return 1;
  if (mode == CEED_EVAL_GRAD || (mode == CEED_EVAL_INTERP && is_vector)) return s->num_comp * s->dim;
  if (mode == CEED_EVAL_CURL && s->dim == 3) return s->num_comp * 3;
  return s->num_comp;
}

static CeedEvalMode draw_mode(Draw *d, const RandomSpace *s) {
  if (s->kind == RANDOM_NO_BASIS) return CEED_EVAL_NONE;
  if (one_in(d, 2)) return CEED_EVAL_INTERP;
  return s->kind == RANDOM_HDIV ? CEED_EVAL_DIV : s->kind == RANDOM_HCURL ? CEED_EVAL_CURL : CEED_EVAL_GRAD;
}

// The vector of an earlier passive field of this direction on the same space, or NULL.
static RandomVector *find_vector(const RandomField *fields, int num, const RandomSpace *s) {
  for (int i = 0; i < num; i++) {
    if (fields[i].vector && fields[i].space == s) return fields[i].vector;
  }
  return NULL;
}

// May be longer than the restriction needs.
static int draw_vector(Draw *d, bool is_input, CeedSize l_size, RandomVector *v) {
  v->length = l_size + (one_in(d, 4) ? 3 : 0);
  if (!is_input) return CeedVectorCreate(d->r->ceed, v->length, &v->vector);
  v->values = allocate((size_t)v->length, sizeof(*v->values));
  reference_fill_random((size_t)v->length, v->values, d->seed);
  v->vector = reference_vector(d->r->ceed, v->length, v->values);
  return v->vector ? CEED_ERROR_SUCCESS : CEED_ERROR_MAJOR;
}

// One third of the fields use a space that another field has.
static int draw_field_space(Draw *d, CeedSize l_size, RandomField *f) {
  RandomOperator *r = d->r;
  bool needs_basis = f->mode == CEED_EVAL_WEIGHT;
  RandomSpace *s = one_in(d, 3) ? find_space(d, l_size, needs_basis) : NULL;

  if (!s) {
    s = &r->spaces[r->num_spaces++];
    CeedCall(draw_space(d, l_size, needs_basis || !one_in(d, 5), s));
  }
  f->space = s;
  if (!needs_basis) f->mode = draw_mode(d, s);
  f->size = scalars_per_point(s, f->mode);
  return CEED_ERROR_SUCCESS;
}

static int draw_field(Draw *d, bool is_input, int number, RandomField *f) {
  RandomOperator *r = d->r;
  CeedSize *active_size = is_input ? &r->input_size : &r->output_size;

  snprintf(f->name, sizeof(f->name), "%s %d", is_input ? "input" : "output", number);
  CeedCall(draw_field_space(d, f->is_active ? *active_size : 0, f));
  if (f->is_active) *active_size = f->space->l_size;
  if (f->is_active || f->mode == CEED_EVAL_WEIGHT) return CEED_ERROR_SUCCESS;
  if (one_in(d, 2)) f->vector = find_vector(is_input ? r->in : r->out, number, f->space);
  if (f->vector) return CEED_ERROR_SUCCESS;
  f->vector = &r->vectors[r->num_vectors++];
  return draw_vector(d, is_input, f->space->l_size, f->vector);
}

// Which inputs are active and which are weights; at least num_active_in are active, anywhere in the list.
static int draw_inputs(Draw *d) {
  RandomOperator *r = d->r;
  CeedInt num_active = d->options->num_active_in, shift;

  r->num_in = between(d, CeedIntMax(1, num_active), 4);
  shift = between(d, 0, r->num_in - 1);
  for (int i = 0; i < r->num_in; i++) {
    RandomField *f = &r->in[i];

    f->is_active = (i + shift) % r->num_in < num_active || !one_in(d, 3);
    f->mode = !f->is_active && one_in(d, 2) ? CEED_EVAL_WEIGHT : CEED_EVAL_NONE;
    CeedCall(draw_field(d, true, i, f));
  }
  return CEED_ERROR_SUCCESS;
}

static int draw_outputs(Draw *d) {
  RandomOperator *r = d->r;
  CeedInt num_active = d->options->num_active_out, shift;

  r->num_out = between(d, CeedIntMax(1, num_active), 3);
  shift = between(d, 0, r->num_out - 1);
  for (int i = 0; i < r->num_out; i++) {
    r->out[i].is_active = (i + shift) % r->num_out < num_active || !one_in(d, 3);
    CeedCall(draw_field(d, false, i, &r->out[i]));
  }
  return CEED_ERROR_SUCCESS;
}

static void copy_active_inputs_to_outputs(RandomOperator *r) {
  for (int i = 0; i < r->num_in; i++) {
    if (!r->in[i].is_active) continue;
    r->out[r->num_out] = r->in[i];
    snprintf(r->out[r->num_out].name, sizeof(r->out->name), "output %d", r->num_out);
    r->num_out++;
  }
  r->output_size = r->input_size;
}

// ---- D ----

static void describe_scalars(RandomOperator *r) {
  RandomContext *c = &r->context;

  c->num_in = r->num_in;
  c->num_out = r->num_out;
  for (int i = 0; i < r->num_in; i++) {
    c->in_size[i] = r->in[i].size;
    c->is_active[i] = r->in[i].is_active;
  }
  for (int i = 0; i < r->num_out; i++) c->out_size[i] = r->out[i].size;
}

// Scalars of all inputs, numbered through: how many, and the active ones among them.
static CeedInt list_inputs(const RandomContext *c, CeedInt *num_active, CeedInt *active) {
  CeedInt n = 0;

  *num_active = 0;
  for (CeedInt f = 0; f < c->num_in; f++) {
    for (CeedInt s = 0; s < c->in_size[f]; s++, n++) {
      if (c->is_active[f]) active[(*num_active)++] = n;
    }
  }
  return n;
}

static void draw_matrix(RandomOperator *r, bool is_linear, bool is_symmetric, uint64_t *seed) {
  RandomContext *c = &r->context;
  CeedInt active[RANDOM_MAX_SCALARS], num_active, num = list_inputs(c, &num_active, active), next = 0;

  for (CeedInt i = 0; i < num; i++) {
    bool is_active = next < num_active && active[next] == i;

    next += is_active;
    c->mix[i] = is_active ? 0 : (CeedScalar)(0.5 * tap_uniform(seed));
    for (CeedInt o = 0; o < RANDOM_MAX_SCALARS; o++) {
      c->matrix[o][i] = is_linear && !is_active ? 0 : (CeedScalar)tap_uniform(seed);
    }
  }
  // Output number o belongs to active input number o.
  for (CeedInt o = 0; is_symmetric && o < num_active; o++) {
    for (CeedInt i = 0; i < o; i++) c->matrix[o][active[i]] = c->matrix[i][active[o]];
  }
}

// ---- Operators ----

static int set_field(RandomOperator *r, const RandomField *f) {
  bool is_weight = f->mode == CEED_EVAL_WEIGHT;
  CeedVector vector = is_weight ? CEED_VECTOR_NONE : f->is_active ? CEED_VECTOR_ACTIVE : f->vector->vector;

  return CeedOperatorSetField(r->op, f->name, is_weight ? CEED_ELEMRESTRICTION_NONE : f->space->rstr,
                              f->space->basis, vector);
}

static int create_qfunction(RandomOperator *r, CeedQFunction *qf) {
  CeedCall(CeedQFunctionCreateInterior(r->ceed, 1, RandomAffine, RandomAffine_loc, qf));
  for (int i = 0; i < r->num_in; i++) {
    CeedCall(CeedQFunctionAddInput(*qf, r->in[i].name, r->in[i].size, r->in[i].mode));
  }
  for (int i = 0; i < r->num_out; i++) {
    CeedCall(CeedQFunctionAddOutput(*qf, r->out[i].name, r->out[i].size, r->out[i].mode));
  }
  CeedCall(CeedQFunctionContextCreate(r->ceed, &r->qf_context));
  CeedCall(CeedQFunctionContextSetData(r->qf_context, CEED_MEM_HOST, CEED_COPY_VALUES, sizeof(r->context),
                                       &r->context));
  CeedCall(CeedQFunctionSetContext(*qf, r->qf_context));
  return CeedQFunctionSetContextWritable(*qf, r->num_in % 2 == 0);
}

// Fields are set in the reverse order of their addition in half of the operators.
static int create_operator(RandomOperator *r) {
  CeedQFunction qf = NULL;
  int ierr = create_qfunction(r, &qf), num = r->num_in + r->num_out;

  if (!ierr) ierr = CeedOperatorCreate(r->ceed, qf, CEED_QFUNCTION_NONE, CEED_QFUNCTION_NONE, &r->op);
  CeedQFunctionDestroy(&qf);
  for (int i = 0; !ierr && i < num; i++) {
    int k = num % 2 ? num - 1 - i : i;

    ierr = set_field(r, k < r->num_in ? &r->in[k] : &r->out[k - r->num_in]);
  }
  return ierr;
}

static void draw_sizes(Draw *d) {
  static const CeedInt elements[] = {1, 2, 3, 5, 7, 8, 11, 13, 17};
  static const CeedInt max_elements[] = {0, 8, 7, 4}, max_Q_1d[] = {0, 8, 4, 3};
  RandomOperator *r = d->r;

  r->dim = between(d, 1, 3);
  r->Q_1d = between(d, 1, max_Q_1d[r->dim]);
  r->Q = CeedIntPow(r->Q_1d, r->dim);
  r->num_elem = elements[between(d, 0, max_elements[r->dim])];
  if (d->options->num_elem) r->num_elem = d->options->num_elem;
  r->input_size = d->options->input_size;
  r->output_size = d->options->output_size;
}

static int has_active(const RandomField *fields, int num) {
  for (int i = 0; i < num; i++) {
    if (fields[i].is_active) return 1;
  }
  return 0;
}

int random_operator_create(Ceed ceed, const RandomOptions *options, uint64_t *seed, RandomOperator *r) {
  Draw d = {.r = r, .options = options, .seed = seed};

  memset(r, 0, sizeof(*r));
  r->ceed = ceed;
  draw_sizes(&d);
  CeedCall(draw_inputs(&d));
  if (options->is_symmetric) {
    copy_active_inputs_to_outputs(r);
  } else {
    CeedCall(draw_outputs(&d));
  }
  if (!has_active(r->in, r->num_in)) r->input_size = 0;
  if (!has_active(r->out, r->num_out)) r->output_size = 0;
  describe_scalars(r);
  draw_matrix(r, options->is_linear, options->is_symmetric, seed);
  CeedCall(create_operator(r));
  random_operator_assemble(r);
  return CEED_ERROR_SUCCESS;
}

static void rename_fields(RandomOperator *r) {
  for (int i = 0; i < r->num_in; i++) snprintf(r->in[i].name, sizeof(r->in[i].name), "input %d", i);
  for (int i = 0; i < r->num_out; i++) snprintf(r->out[i].name, sizeof(r->out[i].name), "output %d", i);
}

// Inputs of the adjoint: active outputs, then passive inputs of r. Its matrix has the numbers of r at the
// same pairs of scalars.
static void transpose_fields(const RandomOperator *r, RandomOperator *adjoint) {
  CeedInt row[RANDOM_MAX_SCALARS], column[RANDOM_MAX_SCALARS], num_rows = 0, num_columns = 0;
  RandomContext *c = &adjoint->context;

  for (CeedInt i = 0, o = 0; i < r->num_out; o += r->out[i++].size) {
    if (!r->out[i].is_active) continue;
    adjoint->in[adjoint->num_in++] = r->out[i];
    for (CeedInt s = 0; s < r->out[i].size; s++) column[num_columns++] = o + s;
  }
  for (CeedInt i = 0, n = 0, m = num_columns; i < r->num_in; n += r->in[i++].size) {
    if (r->in[i].is_active) {
      adjoint->out[adjoint->num_out++] = r->in[i];
      for (CeedInt s = 0; s < r->in[i].size; s++) row[num_rows++] = n + s;
    } else {
      adjoint->in[adjoint->num_in++] = r->in[i];
      for (CeedInt s = 0; s < r->in[i].size; s++) c->mix[m++] = r->context.mix[n + s];
    }
  }
  for (CeedInt i = 0; i < num_rows; i++) {
    for (CeedInt j = 0; j < num_columns; j++) c->matrix[i][j] = r->context.matrix[column[j]][row[i]];
  }
}

int random_operator_create_adjoint(RandomOperator *r, RandomOperator *adjoint) {
  memset(adjoint, 0, sizeof(*adjoint));
  adjoint->ceed = r->ceed;
  adjoint->num_elem = r->num_elem;
  adjoint->dim = r->dim;
  adjoint->Q_1d = r->Q_1d;
  adjoint->Q = r->Q;
  adjoint->input_size = r->output_size;
  adjoint->output_size = r->input_size;
  transpose_fields(r, adjoint);
  rename_fields(adjoint);
  describe_scalars(adjoint);
  CeedCall(create_operator(adjoint));
  random_operator_assemble(adjoint);
  return CEED_ERROR_SUCCESS;
}

void random_operator_destroy(RandomOperator *r) {
  CeedOperatorDestroy(&r->op);
  CeedQFunctionContextDestroy(&r->qf_context);
  for (int i = 0; i < r->num_spaces; i++) destroy_space(&r->spaces[i]);
  for (int i = 0; i < r->num_vectors; i++) {
    CeedVectorDestroy(&r->vectors[i].vector);
    free(r->vectors[i].values);
  }
  for (int i = 0; i < r->num_targets; i++) {
    free(r->targets[i].matrix);
    free(r->targets[i].magnitude);
  }
}

int random_operator_change_context(RandomOperator *r, uint64_t *seed) {
  RandomContext *data;

  draw_matrix(r, false, false, seed);
  CeedCall(CeedQFunctionContextGetData(r->qf_context, CEED_MEM_HOST, &data));
  *data = r->context;
  CeedCall(CeedQFunctionContextRestoreData(r->qf_context, &data));
  random_operator_assemble(r);
  return CEED_ERROR_SUCCESS;
}

int random_operator_change_passive(RandomOperator *r, uint64_t *seed) {
  for (int i = 0; i < r->num_vectors; i++) {
    RandomVector *v = &r->vectors[i];
    CeedScalar *array;

    if (!v->values) continue;
    reference_fill_random((size_t)v->length, v->values, seed);
    CeedCall(CeedVectorGetArray(v->vector, CEED_MEM_HOST, &array));
    for (CeedSize k = 0; k < v->length; k++) array[k] = (CeedScalar)v->values[k];
    CeedCall(CeedVectorRestoreArray(v->vector, &array));
  }
  random_operator_assemble(r);
  return CEED_ERROR_SUCCESS;
}

// ---- Words ----

static const char *type_name(CeedRestrictionType type) {
  static const char *const names[] = {"", "offsets", "oriented", "curl-oriented", "strided"};

  return names[type];
}

static const char *kind_name(RandomBasisKind kind) {
  static const char *const names[] = {"Lagrange", "tensor", "dense H1", "H(div)", "H(curl)", "no basis"};

  return names[kind];
}

const char *random_operator_describe(const RandomOperator *r) {
  static char text[2048];
  int n = snprintf(text, sizeof(text), "%d elements, %d points;", (int)r->num_elem, (int)r->Q);

  for (int i = 0; i < r->num_in + r->num_out; i++) {
    const RandomField *f = i < r->num_in ? &r->in[i] : &r->out[i - r->num_in];
    const RandomSpace *s = f->space;

    if (n >= (int)sizeof(text)) break;
    n += snprintf(text + n, sizeof(text) - (size_t)n, " %s: %s %s, %s %dD P %d, %d components, %s;", f->name,
                  f->is_active ? "active" : "passive", CeedEvalModes[f->mode], kind_name(s->kind), (int)s->dim,
                  (int)s->P, (int)s->num_comp, type_name(s->type));
  }
  return text;
}
