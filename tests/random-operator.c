// SPDX-License-Identifier: BSD-2-Clause
// Random operators: fields and the QFunction are drawn here and the operator is made. Spaces come from
// random-space.c, dense matrices from random-assembly.c.
#include "tests/random-operator.h"

#include "tests/random-qfunction.h"
#include "tests/random-space.h"
#include "tests/reference.h"
#include <ritz/precision.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- Fields ----

// A space that was drawn before, or NULL.
static RandomSpace *find_space(RandomDraw *d, CeedSize l_size, bool needs_basis) {
  RandomOperator *r = d->r;
  int start = r->num_spaces ? random_between(d, 0, r->num_spaces - 1) : 0;

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

static CeedEvalMode draw_mode(RandomDraw *d, const RandomSpace *s) {
  if (s->kind == RANDOM_NO_BASIS) return CEED_EVAL_NONE;
  if (random_one_in(d, 2)) return CEED_EVAL_INTERP;
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
static int draw_vector(RandomDraw *d, bool is_input, CeedSize l_size, RandomVector *v) {
  RandomDraw mesh = random_of_mesh(d);
  const bool is_float = d->options->is_mixed && random_one_in(d, 2);

  v->length = l_size + (random_one_in(&mesh, 4) ? 3 : 0);
  if (is_float || !is_input)
    CeedCall(
        RitzVectorCreate(d->r->ceed, v->length, is_float ? CEED_SCALAR_FP32 : CEED_SCALAR_TYPE, &v->vector));
  if (!is_input) return CEED_ERROR_SUCCESS;
  v->values = random_allocate((size_t)v->length, sizeof(*v->values));
  reference_fill_random((size_t)v->length, v->values, d->mesh);
  for (CeedSize i = 0; is_float && i < v->length; i++) v->values[i] = (double)(float)v->values[i];
  CeedVector values = reference_vector(d->r->ceed, v->length, v->values);
  if (!is_float) {
    v->vector = values;
    return values ? CEED_ERROR_SUCCESS : CEED_ERROR_MAJOR;
  }
  CeedCall(RitzVectorConvert(values, v->vector));
  return CeedVectorDestroy(&values);
}

// One third of the fields (in batches half of them) use a space that another field has.
static int draw_field_space(RandomDraw *d, CeedSize l_size, RandomField *f) {
  RandomOperator *r = d->r;
  bool needs_basis = f->mode == CEED_EVAL_WEIGHT;
  RandomSpace *s =
      random_one_in(d, d->options->in_batches ? 2 : 3) ? find_space(d, l_size, needs_basis) : NULL;

  if (!s) {
    s = &r->spaces[r->num_spaces++];
    CeedCall(
        random_space_draw(d, l_size, needs_basis || !random_one_in(d, d->options->in_batches ? 3 : 5), s));
  }
  f->space = s;
  if (!needs_basis) f->mode = draw_mode(d, s);
  f->size = scalars_per_point(s, f->mode);
  return CEED_ERROR_SUCCESS;
}

static int draw_field(RandomDraw *d, bool is_input, int number, RandomField *f) {
  RandomOperator *r = d->r;
  CeedSize *active_size = is_input ? &r->input_size : &r->output_size;

  snprintf(f->name, sizeof(f->name), "%s %d", is_input ? "input" : "output", number);
  CeedCall(draw_field_space(d, f->is_active ? *active_size : 0, f));
  if (f->is_active) *active_size = f->space->l_size;
  if (f->is_active || f->mode == CEED_EVAL_WEIGHT) return CEED_ERROR_SUCCESS;
  if (!random_one_in(d, 4)) f->vector = find_vector(is_input ? r->in : r->out, number, f->space);
  if (f->vector) return CEED_ERROR_SUCCESS;
  f->vector = &r->vectors[r->num_vectors++];
  return draw_vector(d, is_input, f->space->l_size, f->vector);
}

// Which inputs are active and which are weights; at least num_active_in are active, anywhere in the list.
static int draw_inputs(RandomDraw *d) {
  RandomOperator *r = d->r;
  CeedInt num_active = d->options->num_active_in, shift;

  r->num_in = random_between(d, CeedIntMax(1, num_active), 4);
  shift = random_between(d, 0, r->num_in - 1);
  for (int i = 0; i < r->num_in; i++) {
    RandomField *f = &r->in[i];

    f->is_active = (i + shift) % r->num_in < num_active || !random_one_in(d, 3);
    f->mode = !f->is_active && random_one_in(d, 2) ? CEED_EVAL_WEIGHT : CEED_EVAL_NONE;
    CeedCall(draw_field(d, true, i, f));
  }
  return CEED_ERROR_SUCCESS;
}

static int draw_outputs(RandomDraw *d) {
  RandomOperator *r = d->r;
  CeedInt num_active = d->options->num_active_out, shift;

  r->num_out = random_between(d, CeedIntMax(1, num_active), 3);
  shift = random_between(d, 0, r->num_out - 1);
  for (int i = 0; i < r->num_out; i++) {
    r->out[i].is_active = (i + shift) % r->num_out < num_active || !random_one_in(d, 3);
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

// Of one block of threads and a few, of one batch and several, or a few.
static CeedInt draw_num_elem(RandomDraw *d) {
  static const CeedInt elements[] = {1, 2, 3, 5, 7, 8, 11, 13, 17}, max_elements[] = {0, 8, 7, 4};
  static const CeedInt of_batches[] = {1, 7, 8, 9, 16, 17, 24, 33, 70}, max_of_batches[] = {0, 8, 7, 5};
  static const CeedInt of_blocks[] = {1, 2, 3, 4, 5, 9, 17, 33, 64, 65, 127, 129},
                       max_of_blocks[] = {0, 11, 9, 6};
  const CeedInt dim = d->r->dim;
  RandomDraw mesh = random_of_mesh(d);

  if (d->options->mesh) return of_blocks[random_between(&mesh, 0, max_of_blocks[dim])];
  if (d->options->in_batches) return of_batches[random_between(d, 0, max_of_batches[dim])];
  return elements[random_between(d, 0, max_elements[dim])];
}

static void draw_sizes(RandomDraw *d) {
  static const CeedInt max_Q_1d[] = {0, 8, 4, 3};
  RandomOperator *r = d->r;

  r->dim = random_between(d, 1, 3);
  r->Q_1d = random_between(d, 1, max_Q_1d[r->dim]);
  r->Q = CeedIntPow(r->Q_1d, r->dim);
  r->num_elem = draw_num_elem(d);
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

int random_num_draws(Ceed ceed, int num) {
  static const int parts[] = {8, 60, 100}, parts_of_devices[] = {24, 150, 100};
  const char *resource = NULL;

  CeedGetResource(ceed, &resource);
  if (!tap_runs_pointers(ceed)) {
    const int drawn = num / parts_of_devices[tap_level()] + 1;
    return tap_compiles_slowly(ceed) && tap_level() < TAP_EXHAUSTIVE ? (drawn + 1) / 2 : drawn;
  }
  return strstr(resource, "/gen") ? num / parts[tap_level()] + 1 : num;
}

int random_operator_create(Ceed ceed, const RandomOptions *options, uint64_t *seed, RandomOperator *r) {
  uint64_t mesh = options->mesh;
  RandomDraw d = {.r = r, .options = options, .seed = seed, .mesh = mesh ? &mesh : seed};

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
  draw_matrix(r, options->is_linear, options->is_symmetric, d.mesh);
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
  for (int i = 0; i < r->num_spaces; i++) random_space_destroy(&r->spaces[i]);
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
                  f->is_active ? "active" : "passive", CeedEvalModes[f->mode], kind_name(s->kind),
                  (int)s->dim, (int)s->P, (int)s->num_comp, type_name(s->type));
  }
  return text;
}
