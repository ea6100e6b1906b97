// SPDX-License-Identifier: BSD-2-Clause
// The dense matrices of random operators, written down from the definitions of E, B and D (tops of
// ceed/ceed.h and random-qfunction.h), element by element. Called by random-operator.c and by tests.
#include "tests/random-space.h"

#include "tests/reference.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

// Every quantity is an affine function of the active input x: a row of num_columns = input_size + 1 numbers,
// the last one without x.
typedef struct {
  const RandomOperator *r;
  bool takes_magnitudes; // all factors are replaced by their absolute values
  CeedSize num_columns;
  CeedInt elem;
  double *in;    // [scalars of all inputs][Q] rows
  double *out;   // [scalars of all outputs][Q] rows
  double *nodes; // [num_comp][P] rows of one output
} Assembly;

static double factor_of(const Assembly *a, double value) { return a->takes_magnitudes ? fabs(value) : value; }

// to += factor * from
static void add_row(const Assembly *a, double factor, const double *from, double *to) {
  if (factor == 0.0) return;
  for (CeedSize k = 0; k < a->num_columns; k++) to[k] += factor * from[k];
}

// ---- E ----

typedef struct {
  CeedSize index[3];
  double factor[3];
  int num;
} Terms;

static CeedSize l_index(const RandomSpace *s, CeedInt elem, CeedInt c, CeedInt i) {
  if (s->type == CEED_RESTRICTION_STRIDED) {
    return (CeedSize)i * s->strides[0] + (CeedSize)c * s->strides[1] + (CeedSize)elem * s->strides[2];
  }
  return s->offsets[(CeedSize)elem * s->elem_size + i] + (CeedSize)c * s->comp_stride;
}

// The entries of the L-vector that make up entry (c, i) of an element, with their factors.
static Terms gather_terms(const RandomSpace *s, CeedInt elem, CeedInt c, CeedInt i) {
  Terms terms = {.index = {l_index(s, elem, c, i)}, .factor = {1.0}, .num = 1};
  CeedSize place = (CeedSize)elem * s->elem_size + i;

  if (s->type == CEED_RESTRICTION_ORIENTED && s->orients[place]) terms.factor[0] = -1.0;
  if (s->type != CEED_RESTRICTION_CURL_ORIENTED) return terms;
  terms.num = 0;
  for (CeedInt n = i - 1; n <= i + 1; n++) {
    if (n < 0 || n >= s->elem_size) continue;
    terms.index[terms.num] = l_index(s, elem, c, n);
    terms.factor[terms.num++] = s->curl_orients[3 * place + (n - i + 1)];
  }
  return terms;
}

// ---- B ----

static CeedInt num_directions(const RandomField *f) { return f->size / f->space->num_comp; }

// Entry of B: scalar d of a component at point q from node p.
static double basis_entry(const RandomOperator *r, const RandomField *f, CeedInt d, CeedInt q, CeedInt p) {
  const RandomSpace *s = f->space;

  if (f->mode == CEED_EVAL_NONE) return p == q ? 1.0 : 0.0;
  return (f->mode == CEED_EVAL_INTERP ? s->interp
                                      : s->derivative)[((CeedSize)d * r->Q + q) * s->elem_size + p];
}

// values [size][Q] rows += column (c, i) of B times `factor`, in column `column`.
static void add_node_to_points(const Assembly *a, const RandomField *f, CeedInt c, CeedInt i, double factor,
                               CeedSize column, double *values) {
  CeedInt Q = a->r->Q, nc = f->space->num_comp;

  for (CeedInt d = 0; d < num_directions(f); d++) {
    for (CeedInt q = 0; q < Q; q++) {
      double entry = factor_of(a, basis_entry(a->r, f, d, q, i) * factor);

      values[(((CeedSize)d * nc + c) * Q + q) * a->num_columns + column] += entry;
    }
  }
}

static void evaluate_weights(const Assembly *a, const RandomSpace *s, double *values) {
  for (CeedInt q = 0; q < a->r->Q; q++) {
    values[(q + 1) * a->num_columns - 1] = factor_of(a, s->weight[q]);
  }
}

// values [size][Q] rows of an input.
static void evaluate_input(const Assembly *a, const RandomField *f, double *values) {
  const RandomSpace *s = f->space;

  if (f->mode == CEED_EVAL_WEIGHT) {
    evaluate_weights(a, s, values);
    return;
  }
  for (CeedInt c = 0; c < s->num_comp; c++) {
    for (CeedInt i = 0; i < s->elem_size; i++) {
      Terms terms = gather_terms(s, a->elem, c, i);

      for (int t = 0; t < terms.num; t++) {
        double factor = terms.factor[t] * (f->is_active ? 1.0 : f->vector->values[terms.index[t]]);

        add_node_to_points(a, f, c, i, factor, f->is_active ? terms.index[t] : a->num_columns - 1, values);
      }
    }
  }
}

// matrix += E^T B^T values of an output
static void add_output(const Assembly *a, const RandomField *f, const double *values, double *matrix) {
  const RandomSpace *s = f->space;

  for (CeedInt c = 0; c < s->num_comp; c++) {
    for (CeedInt i = 0; i < s->elem_size; i++) {
      Terms terms = gather_terms(s, a->elem, c, i);

      memset(a->nodes, 0, (size_t)a->num_columns * sizeof(*a->nodes));
      for (CeedInt d = 0; d < num_directions(f); d++) {
        for (CeedInt q = 0; q < a->r->Q; q++) {
          const double *row = values + (((CeedSize)d * s->num_comp + c) * a->r->Q + q) * a->num_columns;

          add_row(a, factor_of(a, basis_entry(a->r, f, d, q, i)), row, a->nodes);
        }
      }
      for (int t = 0; t < terms.num; t++) {
        add_row(a, factor_of(a, terms.factor[t]), a->nodes, matrix + terms.index[t] * a->num_columns);
      }
    }
  }
}

// ---- D ----

// g = 1 + sum_i mix_i in_i of passive inputs, at one point.
static double coefficient_at(const Assembly *a, CeedInt num_scalars, CeedInt q) {
  double g = 1.0;

  for (CeedInt i = 0; i < num_scalars; i++) {
    const double *row = a->in + ((CeedSize)i * a->r->Q + q) * a->num_columns;

    g += factor_of(a, a->r->context.mix[i]) * row[a->num_columns - 1];
  }
  return g;
}

static CeedInt num_scalars(const CeedInt *sizes, CeedInt num) {
  CeedInt sum = 0;

  for (CeedInt i = 0; i < num; i++) sum += sizes[i];
  return sum;
}

static void evaluate_qfunction(const Assembly *a) {
  const RandomContext *c = &a->r->context;
  CeedInt Q = a->r->Q, num_in = num_scalars(c->in_size, c->num_in);

  for (CeedInt q = 0; q < Q; q++) {
    double g = coefficient_at(a, num_in, q);

    for (CeedInt o = 0; o < num_scalars(c->out_size, c->num_out); o++) {
      for (CeedInt f = 0, i = 0; f < c->num_in; f++) {
        for (CeedInt s = 0; s < c->in_size[f]; s++, i++) {
          add_row(a, (c->is_active[f] ? g : 1.0) * factor_of(a, c->matrix[o][i]),
                  a->in + ((CeedSize)i * Q + q) * a->num_columns,
                  a->out + ((CeedSize)o * Q + q) * a->num_columns);
        }
      }
    }
  }
}

// ---- E^T B^T D B E ----

static RandomTarget *target_of(RandomOperator *r, const RandomField *f) {
  for (int i = 0; i < r->num_targets; i++) {
    if (r->targets[i].vector == f->vector) return &r->targets[i];
  }
  return NULL;
}

static void create_targets(RandomOperator *r) {
  for (int i = 0; i < r->num_targets; i++) {
    free(r->targets[i].matrix);
    free(r->targets[i].magnitude);
  }
  r->num_targets = 0;
  if (r->output_size) r->targets[r->num_targets++] = (RandomTarget){.length = r->output_size};
  for (int i = 0; i < r->num_out; i++) {
    RandomVector *v = r->out[i].vector;

    if (target_of(r, &r->out[i])) continue;
    r->targets[r->num_targets++] = (RandomTarget){.vector = v, .length = v->length};
  }
  for (int i = 0; i < r->num_targets; i++) {
    size_t size = (size_t)r->targets[i].length * (size_t)(r->input_size + 1);

    r->targets[i].matrix = random_allocate(size, sizeof(double));
    r->targets[i].magnitude = random_allocate(size, sizeof(double));
  }
}

static void add_element(RandomOperator *r, const Assembly *a) {
  CeedSize field_size = (CeedSize)r->Q * a->num_columns; // of one scalar
  double *values = a->in;

  memset(a->in, 0, (size_t)(RANDOM_MAX_SCALARS * field_size) * sizeof(double));
  memset(a->out, 0, (size_t)(RANDOM_MAX_SCALARS * field_size) * sizeof(double));
  for (int i = 0; i < r->num_in; values += r->in[i++].size * field_size) evaluate_input(a, &r->in[i], values);
  evaluate_qfunction(a);
  values = a->out;
  for (int i = 0; i < r->num_out; values += r->out[i++].size * field_size) {
    RandomTarget *t = target_of(r, &r->out[i]);

    add_output(a, &r->out[i], values, a->takes_magnitudes ? t->magnitude : t->matrix);
  }
}

void random_operator_assemble(RandomOperator *r) {
  Assembly a = {.r = r, .num_columns = r->input_size + 1};
  size_t points_size = (size_t)RANDOM_MAX_SCALARS * (size_t)(r->Q * a.num_columns);

  create_targets(r);
  a.in = random_allocate(points_size, sizeof(double));
  a.out = random_allocate(points_size, sizeof(double));
  a.nodes = random_allocate((size_t)a.num_columns, sizeof(double));
  for (int pass = 0; pass < 2; pass++) {
    a.takes_magnitudes = pass == 1;
    for (a.elem = 0; a.elem < r->num_elem; a.elem++) add_element(r, &a);
  }
  free(a.in);
  free(a.out);
  free(a.nodes);
}

// ---- Applying the matrix ----

// A sum of n products with relative errors of eps each is off by at most n eps times the sum of magnitudes.
// In E^T B^T D B E sums over points, scalars and nodes follow each other; n is the sum of their lengths.
// Tables of Lagrange polynomials are off by a few eps of their largest entry, not of each, hence the largest
// magnitude of all rows. Errors cancel, so that the bound leaves room for other orders of evaluation (fifty
// times what the plainest one needs).
double random_target_apply(const RandomOperator *r, const RandomTarget *target, const double *x, double *y) {
  CeedSize num_columns = r->input_size + 1;
  double largest = 0.0, num_nodes = 0.0;

  for (CeedSize k = 0; k < target->length; k++) {
    const double *row = target->matrix + k * num_columns, *size = target->magnitude + k * num_columns;
    double magnitude = size[num_columns - 1];

    y[k] = row[num_columns - 1];
    for (CeedSize j = 0; j < r->input_size; j++) {
      y[k] += row[j] * x[j];
      magnitude += size[j] * fabs(x[j]);
    }
    largest = fmax(largest, magnitude);
  }
  for (int i = 0; i < r->num_spaces; i++) num_nodes = fmax(num_nodes, r->spaces[i].elem_size);
  return eps * (r->Q + RANDOM_MAX_SCALARS + num_nodes) * largest;
}
