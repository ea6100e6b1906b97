// SPDX-License-Identifier: BSD-2-Clause
// Random operators at points and their dense matrices: see random-points.h. Linked into every test program.
#include "tests/random-points.h"

#include "tests/random-qfunction.h"
#include "tests/reference.h"
#include <ceed/backend.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  PointsOperator *r;
  const PointsOptions *options;
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

// ---- Points ----

// Ragged lists: elements have 0 to 5 points, whose numbers are shuffled.
static int draw_points(Draw *d) {
  PointsOperator *r = d->r;
  CeedInt count[8], next;

  for (CeedInt e = 0; e < r->num_elem; e++) {
    count[e] = one_in(d, 4) ? 0 : between(d, 1, 5);
    r->num_points += count[e];
    r->max_points = CeedIntMax(r->max_points, count[e]);
  }
  r->lists = allocate((size_t)(r->num_elem + 1 + r->num_points), sizeof(*r->lists));
  r->x = allocate((size_t)(r->num_points * r->dim), sizeof(*r->x));
  next = r->num_elem + 1;
  for (CeedInt e = 0; e <= r->num_elem; e++) {
    r->lists[e] = next;
    if (e < r->num_elem) next += count[e];
  }
  CeedInt *numbers = r->lists + r->num_elem + 1;
  for (CeedInt i = 0; i < r->num_points; i++) {
    CeedInt k = between(d, 0, i);

    numbers[i] = numbers[k];
    numbers[k] = i;
  }
  reference_fill_random((size_t)(r->num_points * r->dim), r->x, d->seed);
  CeedCall(CeedElemRestrictionCreateAtPoints(r->ceed, r->num_elem, r->num_points, r->dim,
                                             (CeedSize)r->num_points * r->dim, CEED_MEM_HOST,
                                             CEED_COPY_VALUES, r->lists, &r->rstr_points));
  r->coords = reference_vector(r->ceed, (CeedSize)r->num_points * r->dim, r->x);
  return r->coords ? CEED_ERROR_SUCCESS : CEED_ERROR_MAJOR;
}

// ---- Spaces ----

// A Lagrange basis, or one whose values are somewhat off and whose derivatives are nonsense: evaluation at
// points uses the values alone.
static int draw_basis(Draw *d, PointsSpace *s) {
  static const CeedInt max_P_1d[] = {0, 6, 4, 3}, max_Q_1d[] = {0, 7, 5, 4};
  PointsOperator *r = d->r;
  CeedScalar interp[POINTS_MAX_1D * POINTS_MAX_1D], q_ref[POINTS_MAX_1D],
      zeros[POINTS_MAX_1D * POINTS_MAX_1D] = {0};
  double grad[POINTS_MAX_1D * POINTS_MAX_1D];

  s->P_1d = between(d, 2, max_P_1d[r->dim]);
  s->Q_1d = between(d, 2, max_Q_1d[r->dim]);
  s->elem_size = CeedIntPow(s->P_1d, r->dim);
  CeedQuadMode mode = one_in(d, 3) ? CEED_GAUSS_LOBATTO : CEED_GAUSS;
  reference_quadrature(mode, s->Q_1d, s->q_ref, NULL);
  reference_lagrange(s->P_1d, s->Q_1d, s->q_ref, s->interp, grad);
  if (!one_in(d, 3)) {
    return CeedBasisCreateTensorH1Lagrange(r->ceed, r->dim, s->num_comp, s->P_1d, s->Q_1d, mode, &s->basis);
  }
  for (CeedInt k = 0; k < s->Q_1d * s->P_1d; k++) {
    interp[k] = (CeedScalar)(s->interp[k] + 0.2 * tap_uniform(d->seed));
    s->interp[k] = (double)interp[k];
  }
  for (CeedInt k = 0; k < s->Q_1d; k++) q_ref[k] = (CeedScalar)s->q_ref[k];
  return CeedBasisCreateTensorH1(r->ceed, r->dim, s->num_comp, s->P_1d, s->Q_1d, interp, zeros, q_ref, zeros,
                                 &s->basis);
}

static int draw_nodal_space(Draw *d, CeedSize l_size, PointsSpace *s) {
  PointsOperator *r = d->r;
  CeedInt nc = s->num_comp;

  CeedCall(draw_basis(d, s));
  CeedInt num = r->num_elem * s->elem_size;
  s->l_size = l_size ? l_size : nc * between(d, s->elem_size, s->elem_size + 40);
  bool is_interlaced = one_in(d, 2);
  s->comp_stride = is_interlaced ? 1 : (CeedInt)(s->l_size / nc);
  CeedInt num_nodes = (CeedInt)(s->l_size / nc);
  s->offsets = allocate((size_t)num, sizeof(*s->offsets));
  for (CeedInt k = 0; k < num; k++) s->offsets[k] = between(d, 0, num_nodes - 1) * (is_interlaced ? nc : 1);
  return CeedElemRestrictionCreate(r->ceed, r->num_elem, s->elem_size, nc, s->comp_stride, s->l_size,
                                   CEED_MEM_HOST, CEED_COPY_VALUES, s->offsets, &s->rstr);
}

static int draw_points_space(Draw *d, CeedSize l_size, PointsSpace *s) {
  PointsOperator *r = d->r;
  CeedSize needed = (CeedSize)r->num_points * s->num_comp;

  s->is_on_points = true;
  s->basis = CEED_BASIS_NONE;
  s->l_size = l_size ? l_size : needed + (one_in(d, 3) ? 7 : 1);
  return CeedElemRestrictionCreateAtPoints(r->ceed, r->num_elem, r->num_points, s->num_comp, s->l_size,
                                           CEED_MEM_HOST, CEED_COPY_VALUES, r->lists, &s->rstr);
}

// l_size 0: free. Points whose entries do not fit take fewer components, or nodes.
static int draw_space(Draw *d, bool wants_points, CeedSize l_size, PointsSpace *s) {
  PointsOperator *r = d->r;

  s->num_comp = between(d, 1, 3);
  if (l_size && s->num_comp > l_size) s->num_comp = 1;
  if (wants_points && l_size && (CeedSize)r->num_points * s->num_comp > l_size) s->num_comp = 1;
  if (wants_points && l_size && r->num_points > l_size) wants_points = false;
  return wants_points ? draw_points_space(d, l_size, s) : draw_nodal_space(d, l_size, s);
}

// ---- Fields ----

static void set_mode(Draw *d, PointsField *f) {
  const PointsSpace *s = &d->r->spaces[f->space];

  f->mode = s->is_on_points ? CEED_EVAL_NONE : one_in(d, 2) ? CEED_EVAL_GRAD : CEED_EVAL_INTERP;
  f->size = s->num_comp * (f->mode == CEED_EVAL_GRAD ? d->r->dim : 1);
}

static bool wants_points(Draw *d, const PointsField *f) {
  if (f->is_active && d->options->is_nodal) return false;
  return (f->is_active && d->options->is_on_points) || one_in(d, 3);
}

// An active field may share the space of an earlier one.
static int draw_field(Draw *d, bool is_input, int number, PointsField *f) {
  PointsOperator *r = d->r;
  CeedSize *active_size = is_input ? &r->input_size : &r->output_size;

  snprintf(f->name, sizeof(f->name), "%s %d", is_input ? "input" : "output", number);
  f->space = -1;
  const PointsField *first = is_input ? r->in : r->out;
  for (int i = 0; f->is_active && one_in(d, 2) && i < number; i++)
    if (first[i].is_active) f->space = first[i].space;
  if (f->space < 0) {
    f->space = r->num_spaces++;
    CeedCall(draw_space(d, wants_points(d, f), f->is_active ? *active_size : 0, &r->spaces[f->space]));
  }
  set_mode(d, f);
  CeedSize l_size = r->spaces[f->space].l_size;
  if (f->is_active) *active_size = l_size;
  if (f->is_active) return CEED_ERROR_SUCCESS;
  if (!is_input) return CeedVectorCreate(r->ceed, l_size, &f->passive);
  f->values = reference_new_random(l_size, d->seed);
  f->passive = reference_vector(r->ceed, l_size, f->values);
  return f->passive ? CEED_ERROR_SUCCESS : CEED_ERROR_MAJOR;
}

// A basis for the weights: any.
static int draw_weight(Draw *d, int number, PointsField *f) {
  PointsOperator *r = d->r;

  snprintf(f->name, sizeof(f->name), "input %d", number);
  f->mode = CEED_EVAL_WEIGHT;
  f->size = 1;
  f->space = r->num_spaces++;
  r->spaces[f->space].num_comp = 1;
  return draw_basis(d, &r->spaces[f->space]);
}

static int draw_fields(Draw *d) {
  PointsOperator *r = d->r;
  const PointsOptions *o = d->options;

  r->num_in = between(d, CeedIntMax(1, o->num_active_in), 4);
  for (int i = 0; i < r->num_in; i++) {
    r->in[i].is_active = i < o->num_active_in || one_in(d, 2);
    bool is_weight = !r->in[i].is_active && one_in(d, 3);
    CeedCall(is_weight ? draw_weight(d, i, &r->in[i]) : draw_field(d, true, i, &r->in[i]));
  }
  if (!o->copies_inputs) {
    r->num_out = between(d, CeedIntMax(1, o->num_active_out), 3);
    for (int i = 0; i < r->num_out; i++) {
      r->out[i].is_active = i < o->num_active_out || one_in(d, 2);
      CeedCall(draw_field(d, false, i, &r->out[i]));
    }
    return CEED_ERROR_SUCCESS;
  }
  for (int i = 0; i < r->num_in; i++) {
    if (!r->in[i].is_active) continue;
    r->out[r->num_out] = r->in[i];
    snprintf(r->out[r->num_out].name, sizeof(r->out->name), "output %d", r->num_out);
    r->num_out++;
  }
  r->output_size = r->input_size;
  return CEED_ERROR_SUCCESS;
}

// ---- D ----

static void draw_context(Draw *d) {
  PointsOperator *r = d->r;
  RandomContext *c = &r->context;

  c->num_in = r->num_in;
  c->num_out = r->num_out;
  for (int f = 0; f < r->num_out; f++) c->out_size[f] = r->out[f].size;
  for (int f = 0, i = 0; f < r->num_in; f++) {
    c->in_size[f] = r->in[f].size;
    c->is_active[f] = r->in[f].is_active;
    for (CeedInt s = 0; s < c->in_size[f]; s++, i++) {
      bool is_active = r->in[f].is_active;

      c->mix[i] = is_active ? 0 : (CeedScalar)(0.5 * tap_uniform(d->seed));
      for (int o = 0; o < RANDOM_MAX_SCALARS; o++) {
        CeedScalar entry = (CeedScalar)tap_uniform(d->seed);

        c->matrix[o][i] = d->options->is_linear && !is_active ? 0 : entry;
      }
    }
  }
}

// ---- The operator ----

static int create_qfunction(PointsOperator *r, CeedQFunction *qf) {
  CeedCall(CeedQFunctionCreateInterior(r->ceed, 1, RandomAffine, RandomAffine_loc, qf));
  for (int i = 0; i < r->num_in; i++)
    CeedCall(CeedQFunctionAddInput(*qf, r->in[i].name, r->in[i].size, r->in[i].mode));
  for (int i = 0; i < r->num_out; i++)
    CeedCall(CeedQFunctionAddOutput(*qf, r->out[i].name, r->out[i].size, r->out[i].mode));
  CeedCall(CeedQFunctionContextCreate(r->ceed, &r->qf_context));
  CeedCall(CeedQFunctionContextSetData(r->qf_context, CEED_MEM_HOST, CEED_COPY_VALUES, sizeof(r->context),
                                       &r->context));
  return CeedQFunctionSetContext(*qf, r->qf_context);
}

static int set_field(PointsOperator *r, const PointsField *f) {
  const PointsSpace *s = &r->spaces[f->space];

  if (f->mode == CEED_EVAL_WEIGHT)
    return CeedOperatorSetField(r->op, f->name, CEED_ELEMRESTRICTION_NONE, s->basis, CEED_VECTOR_NONE);
  return CeedOperatorSetField(r->op, f->name, s->rstr, s->basis,
                              f->is_active ? CEED_VECTOR_ACTIVE : f->passive);
}

// Points are set before the fields in half of the operators.
static int create_operator(PointsOperator *r) {
  CeedQFunction qf = NULL;
  bool points_first = r->num_in % 2;
  int ierr = create_qfunction(r, &qf);

  if (!ierr) ierr = CeedOperatorCreateAtPoints(r->ceed, qf, NULL, NULL, &r->op);
  if (!ierr && points_first) ierr = CeedOperatorAtPointsSetPoints(r->op, r->rstr_points, r->coords);
  for (int i = 0; !ierr && i < r->num_in; i++) ierr = set_field(r, &r->in[i]);
  for (int i = 0; !ierr && i < r->num_out; i++) ierr = set_field(r, &r->out[i]);
  if (!ierr && !points_first) ierr = CeedOperatorAtPointsSetPoints(r->op, r->rstr_points, r->coords);
  CeedQFunctionDestroy(&qf);
  return ierr;
}

// ---- Dense matrices ----

double points_lagrange(int n, const double *nodes, int k, bool derivative, double x) {
  long double value = derivative ? 0.0L : 1.0L;

  for (int m = 0; m < (derivative ? n : 1); m++) {
    long double product = 1.0L;

    if (derivative && m == k) continue;
    for (int i = 0; i < n; i++) {
      if (i == k) continue;
      bool is_left_out = derivative && i == m;
      product *= (is_left_out ? 1.0L : (long double)x - nodes[i]) / ((long double)nodes[k] - nodes[i]);
    }
    value = derivative ? value + product : product;
  }
  return (double)value;
}

// What the whole is made of, at one point: rows over the columns of the input.
typedef struct {
  const PointsOperator *r;
  bool takes_magnitudes;
  CeedSize num_columns;
  CeedInt elem, point; // number of the point in the L-vectors
} Place;

static double factor_of(const Place *at, double value) { return at->takes_magnitudes ? fabs(value) : value; }

// One factor of the tensor product: node p of a 1D basis at x. Magnitudes are those of its terms.
static double evaluate_1d(const Place *at, const PointsSpace *s, CeedInt p, bool derivative, double x) {
  double sum = 0.0;

  for (CeedInt q = 0; q < s->Q_1d; q++)
    sum += factor_of(at, points_lagrange(s->Q_1d, s->q_ref, q, derivative, x) * s->interp[q * s->P_1d + p]);
  return sum;
}

// Node i of a space at the point, differentiated in direction d (-1: not).
static double evaluate_node(const Place *at, const PointsSpace *s, CeedInt i, CeedInt d) {
  const PointsOperator *r = at->r;
  double product = 1.0;

  for (CeedInt k = 0; k < r->dim; k++, i /= s->P_1d)
    product *= evaluate_1d(at, s, i % s->P_1d, k == d, r->x[at->point * r->dim + k]);
  return product;
}

// Visits the terms of scalar `s` of a field at the point: L-vector entries with their factors.
typedef void (*VisitTerm)(void *data, CeedSize entry, double factor);

static void visit_terms(const Place *at, const PointsField *f, CeedInt scalar, VisitTerm visit, void *data) {
  const PointsSpace *s = &at->r->spaces[f->space];
  CeedInt c = scalar % s->num_comp, d = f->mode == CEED_EVAL_GRAD ? scalar / s->num_comp : -1;

  if (s->is_on_points) {
    visit(data, (CeedSize)at->point * s->num_comp + c, 1.0);
    return;
  }
  for (CeedInt i = 0; i < s->elem_size; i++) {
    visit(data, s->offsets[at->elem * s->elem_size + i] + (CeedSize)c * s->comp_stride,
          evaluate_node(at, s, i, d));
  }
}

typedef struct {
  const Place *at;
  const PointsField *field;
  double *row; // [num_columns]
} RowSum;

static void add_input_term(void *data, CeedSize entry, double factor) {
  RowSum *sum = data;
  const Place *at = sum->at;

  if (sum->field->is_active)
    sum->row[entry] += factor_of(at, factor);
  else
    sum->row[at->num_columns - 1] += factor_of(at, factor * sum->field->values[entry]);
}

typedef struct {
  const Place *at;
  const double *row;
  double *matrix;
} MatrixSum;

static void add_output_term(void *data, CeedSize entry, double factor) {
  MatrixSum *sum = data;

  for (CeedSize k = 0; k < sum->at->num_columns; k++)
    sum->matrix[entry * sum->at->num_columns + k] += factor_of(sum->at, factor) * sum->row[k];
}

// in, out [scalars][num_columns]: the QFunction on affine functions of the input.
static void evaluate_qfunction(const Place *at, const double *in, double *out) {
  const RandomContext *c = &at->r->context;
  CeedSize n = at->num_columns;
  double g = 1.0;

  for (CeedInt f = 0, i = 0; f < c->num_in; f++)
    for (CeedInt s = 0; s < c->in_size[f]; s++, i++) g += factor_of(at, c->mix[i]) * in[i * n + n - 1];
  for (CeedInt h = 0, o = 0; h < c->num_out; h++) {
    for (CeedInt t = 0; t < c->out_size[h]; t++, o++) {
      for (CeedInt f = 0, i = 0; f < c->num_in; f++) {
        for (CeedInt s = 0; s < c->in_size[f]; s++, i++) {
          double entry = (c->is_active[f] ? g : 1.0) * factor_of(at, c->matrix[o][i]);

          for (CeedSize k = 0; k < n; k++) out[o * n + k] += entry * in[i * n + k];
        }
      }
    }
  }
}

static void add_point(PointsOperator *r, const Place *at, double *in, double *out) {
  CeedSize n = at->num_columns;

  memset(in, 0, (size_t)(RANDOM_MAX_SCALARS * n) * sizeof(*in));
  memset(out, 0, (size_t)(RANDOM_MAX_SCALARS * n) * sizeof(*out));
  for (int f = 0, i = 0; f < r->num_in; f++) {
    for (CeedInt s = 0; s < r->in[f].size; s++, i++) {
      RowSum sum = {at, &r->in[f], in + i * n};

      if (r->in[f].mode == CEED_EVAL_WEIGHT)
        sum.row[n - 1] = 1.0;
      else
        visit_terms(at, &r->in[f], s, add_input_term, &sum);
    }
  }
  evaluate_qfunction(at, in, out);
  for (int f = 0, o = 0; f < r->num_out; f++) {
    int t = 0;

    while (r->targets[t].field != (r->out[f].is_active ? -1 : f)) t++;
    for (CeedInt s = 0; s < r->out[f].size; s++, o++) {
      MatrixSum sum = {at, out + o * n,
                       at->takes_magnitudes ? r->targets[t].magnitude : r->targets[t].matrix};

      visit_terms(at, &r->out[f], s, add_output_term, &sum);
    }
  }
}

static void create_targets(PointsOperator *r) {
  if (r->output_size) r->targets[r->num_targets++] = (PointsTarget){.field = -1, .length = r->output_size};
  for (int f = 0; f < r->num_out; f++) {
    if (r->out[f].is_active) continue;
    r->targets[r->num_targets++] = (PointsTarget){.field = f, .length = r->spaces[r->out[f].space].l_size};
  }
  for (int t = 0; t < r->num_targets; t++) {
    r->targets[t].matrix = reference_new(r->targets[t].length * (r->input_size + 1));
    r->targets[t].magnitude = reference_new(r->targets[t].length * (r->input_size + 1));
  }
}

static void assemble(PointsOperator *r) {
  CeedSize n = r->input_size + 1;
  double *in = reference_new(RANDOM_MAX_SCALARS * n), *out = reference_new(RANDOM_MAX_SCALARS * n);

  create_targets(r);
  for (int pass = 0; pass < 2; pass++) {
    for (CeedInt e = 0; e < r->num_elem; e++) {
      for (CeedInt i = r->lists[e]; i < r->lists[e + 1]; i++) {
        const Place at = {r, pass == 1, n, e, r->lists[i]};

        add_point(r, &at, in, out);
      }
    }
  }
  free(in);
  free(out);
}

// ---- Creation and destruction ----

int points_operator_create(Ceed ceed, const PointsOptions *options, uint64_t *seed, PointsOperator *r) {
  Draw d = {r, options, seed};

  memset(r, 0, sizeof(*r));
  r->ceed = ceed;
  r->dim = between(&d, 1, 3);
  r->num_elem = between(&d, 1, r->dim == 3 ? 3 : 6);
  CeedCall(draw_points(&d));
  CeedCall(draw_fields(&d));
  draw_context(&d);
  CeedCall(create_operator(r));
  assemble(r);
  return CEED_ERROR_SUCCESS;
}

void points_operator_destroy(PointsOperator *r) {
  CeedOperatorDestroy(&r->op);
  CeedQFunctionContextDestroy(&r->qf_context);
  CeedElemRestrictionDestroy(&r->rstr_points);
  CeedVectorDestroy(&r->coords);
  for (int i = 0; i < r->num_spaces; i++) {
    CeedElemRestrictionDestroy(&r->spaces[i].rstr);
    CeedBasisDestroy(&r->spaces[i].basis);
    free(r->spaces[i].offsets);
  }
  for (int i = 0; i < RANDOM_MAX_FIELDS; i++) {
    CeedVectorDestroy(&r->in[i].passive);
    CeedVectorDestroy(&r->out[i].passive);
    free(r->in[i].values);
  }
  for (int t = 0; t < r->num_targets; t++) {
    free(r->targets[t].matrix);
    free(r->targets[t].magnitude);
  }
  free(r->lists);
  free(r->x);
}

// ---- Applying the matrix ----

// Sums over points, scalars and nodes follow each other. Coefficients of Chebyshev polynomials and values at
// quadrature points differ by a well-conditioned matrix of few rows; in dim directions errors of its inverse
// and of derivatives (their norm grows like Q_1d^2) come to a few hundred eps of the magnitudes.
static double tolerance_for(const PointsOperator *r, double magnitude) {
  double terms = (double)r->max_points * r->num_elem + RANDOM_MAX_SCALARS;

  return eps * (terms + 400.0 * r->dim) * magnitude;
}

double points_target_apply(const PointsOperator *r, const PointsTarget *target, const double *x, double *y) {
  CeedSize n = r->input_size + 1;
  double largest = 0.0;

  for (CeedSize k = 0; k < target->length; k++) {
    const double *row = target->matrix + k * n, *size = target->magnitude + k * n;
    double magnitude = size[n - 1];

    y[k] = row[n - 1];
    for (CeedSize j = 0; j < r->input_size; j++) {
      y[k] += row[j] * x[j];
      magnitude += size[j] * fabs(x[j]);
    }
    largest = fmax(largest, magnitude);
  }
  return tolerance_for(r, largest);
}

double points_entry_tolerance(const PointsOperator *r, const PointsTarget *target) {
  return tolerance_for(r, reference_largest(target->length * (r->input_size + 1), target->magnitude));
}

// ---- Words ----

const char *points_operator_describe(const PointsOperator *r) {
  static char text[2048];
  int n = snprintf(text, sizeof(text), "%dD, %d elements, points", (int)r->dim, (int)r->num_elem);

  for (CeedInt e = 0; r->lists && e < r->num_elem; e++)
    n += snprintf(text + n, sizeof(text) - (size_t)n, " %d", (int)(r->lists[e + 1] - r->lists[e]));
  for (int i = 0; i < r->num_in + r->num_out && n < (int)sizeof(text); i++) {
    const PointsField *f = i < r->num_in ? &r->in[i] : &r->out[i - r->num_in];
    const PointsSpace *s = &r->spaces[f->space];

    n += snprintf(text + n, sizeof(text) - (size_t)n, "; %s: %s %s on space %d, P %d, Q %d, %d components",
                  f->name, f->is_active ? "active" : "passive", CeedEvalModes[f->mode], f->space,
                  (int)s->P_1d, (int)s->Q_1d, (int)s->num_comp);
  }
  return text;
}
