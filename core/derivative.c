// SPDX-License-Identifier: BSD-2-Clause
// Operators of derivatives and of gradients (ritz/derivative.h). Their texts: core/derivative-text.c; what is
// stored at points: core/derivative-points.c, derivative-matrix.c; which is fastest: derivative-fastest.c.
#include "core/derivative.h"

#include <ritz/operator.h>
#include <ritz/precision.h>
#include <ritz/qfunction.h>
#include <string.h>

typedef RitzDerivativeRequest Request;

// The outputs of a gradient are called so and like the input that they are derivatives by.
static const char by[] = "by ";

int ritz_derivative_join(Ceed ceed, const char *first, const char *second, char **name) {
  RITZ_TRY(RITZ_MALLOC(ceed, strlen(first) + strlen(second) + 1, name));
  strcat(strcpy(*name, first), second);
  return CEED_ERROR_SUCCESS;
}

// ---- Its QFunction ----

int ritz_derivative_add_field(CeedQFunction qf, const char *before, CeedQFunctionField field,
                              CeedEvalMode mode, bool is_output) {
  char *name = NULL;
  RITZ_TRY(ritz_derivative_join(qf->obj.ceed, before, field->name, &name));
  const int ierr = (is_output ? CeedQFunctionAddOutput : CeedQFunctionAddInput)(qf, name, field->size, mode);
  RITZ_FREE(&name);
  return ierr;
}

static int add_field(CeedQFunction qf, const char *before, CeedQFunctionField field, bool is_output) {
  return ritz_derivative_add_field(qf, before, field, field->eval_mode, is_output);
}

// Whether an active input is stored at points; what is there already is not.
static bool is_stored(const Request *r, CeedQFunctionField input) {
  return r->state && r->storage == RITZ_STORED_INPUTS && input->eval_mode != CEED_EVAL_NONE;
}

static int add_fields(const Request *r, CeedQFunction from, const bool *are_active, const bool *are_wanted,
                      CeedQFunction qf) {
  for (CeedInt i = 0; i < from->num_in; i++) {
    const bool is_at_points = are_active[i] && is_stored(r, from->in[i]);
    RITZ_TRY(ritz_derivative_add_field(qf, "", from->in[i],
                                       is_at_points ? CEED_EVAL_NONE : from->in[i]->eval_mode, false));
  }
  for (CeedInt i = 0; i < from->num_in; i++) {
    if (are_active[i]) RITZ_TRY(add_field(qf, r->state ? "d " : by, from->in[i], !r->state));
  }
  for (CeedInt i = 0; r->state && i < from->num_out; i++) {
    if (are_wanted[i]) RITZ_TRY(add_field(qf, "", from->out[i], true));
  }
  return CEED_ERROR_SUCCESS;
}

// What hosts would call of the text, now: the compiler's refusal is this call's error. Devices have compilers
// of their own.
int ritz_derivative_compile(const Request *r, CeedQFunction qf, const char *user) {
  const Ceed ceed = qf->obj.ceed;
  const CeedErrorHandler handler = ceed->error_handler;
  char *words = NULL;

  if (ceed->backend.mem_type != CEED_MEM_HOST) return CEED_ERROR_SUCCESS;
  ceed->error_handler = CeedErrorStore;
  int ierr = ritz_qfunction_need_pointer(qf);
  ceed->error_handler = handler;
  if (!ierr) return CEED_ERROR_SUCCESS;
  RITZ_TRY(ritz_strdup(ceed, ceed->message, &words));
  ierr = CeedError(ceed, ierr == CEED_ERROR_BACKEND ? CEED_ERROR_UNSUPPORTED : ierr,
                   "%s: QFunction '%s' cannot be differentiated, which is done in C++: %s", r->call, user,
                   words);
  RITZ_FREE(&words);
  return ierr;
}

int ritz_derivative_partials(CeedQFunction gradient, bool **have_partials) {
  RITZ_TRY(RITZ_CALLOC(gradient->obj.ceed, (size_t)gradient->num_in + 1, have_partials));
  for (CeedInt i = 0, k = 0; i < gradient->num_in && k < gradient->num_out; i++) {
    (*have_partials)[i] = !strcmp(gradient->in[i]->name, gradient->out[k]->name + strlen(by));
    k += (*have_partials)[i];
  }
  return CEED_ERROR_SUCCESS;
}

// wanted: with what differs from a gradient and a derivative along directions
static int make_text(const Request *r, CeedQFunction from, const bool *are_active, RitzDerivative wanted,
                     char **text) {
  bool *have_partials = NULL;

  wanted.qf = from;
  wanted.call = r->call;
  if (!r->state) {
    wanted.have_partials = are_active;
    return ritz_derivative_text(&wanted, text);
  }
  wanted.have_direction = are_active;
  wanted.are_wanted = are_active + from->num_in;
  if (from->energy) {
    RITZ_TRY(ritz_derivative_partials(from, &have_partials));
    wanted.qf = from->energy;
    wanted.have_partials = have_partials;
  }
  const int ierr = ritz_derivative_text(&wanted, text);
  RITZ_FREE(&have_partials);
  return ierr;
}

int ritz_derivative_qfunction(const Request *r, CeedQFunction from, const bool *are_active, bool as_matrix,
                              bool is_symmetric, CeedQFunction *qf) {
  const Ceed ceed = from->obj.ceed;
  char *name = NULL, *text = NULL;

  int ierr = ritz_derivative_join(ceed, from->kernel_name, r->suffix, &name);
  const RitzDerivative wanted = {.name = name, .is_matrix = as_matrix, .is_symmetric = is_symmetric};
  if (!ierr) ierr = make_text(r, from, are_active, wanted, &text);
  if (!ierr) ierr = RitzQFunctionCreateFromText(ceed, from->vec_length, text, name, qf);
  RITZ_FREE(&text);
  RITZ_FREE(&name);
  RITZ_TRY(ierr);
  (*qf)->is_cxx = true;
  (*qf)->is_context_writable = from->is_context_writable;
  // A product becomes two more and a sum; a gradient by hand costs up to four times the function.
  if (from->user_flops > 0) (*qf)->user_flops = (r->state ? 3 : 4) * from->user_flops;
  if (from->ctx) ierr = CeedQFunctionSetContext(*qf, from->ctx);
  if (ierr) (void)CeedQFunctionDestroy(qf);
  return ierr;
}

static int make_qfunction(const Request *r, CeedQFunction from, const bool *are_active, CeedQFunction *qf) {
  RITZ_TRY(ritz_derivative_qfunction(r, from, are_active, false, false, qf));
  int ierr = r->state ? CEED_ERROR_SUCCESS : CeedQFunctionReferenceCopy(from, &(*qf)->energy);
  if (!ierr) ierr = add_fields(r, from, are_active, are_active + from->num_in, *qf);
  if (!ierr) ierr = ritz_derivative_compile(r, *qf, from->kernel_name);
  if (ierr) (void)CeedQFunctionDestroy(qf);
  return ierr;
}

// ---- The operator ----

static int set_field(CeedOperator made, const char *name, CeedOperatorField f, CeedVector vec) {
  return CeedOperatorSetField(made, name, f->rstr, f->basis, vec);
}

// An active input at the state: evaluated in each apply, or stored.
static int set_state(const Request *r, CeedOperator op, CeedInt i, CeedOperator made) {
  const CeedOperatorField f = op->in[i];
  RitzPointNumbers numbers = {0};

  if (!is_stored(r, f->qf_field)) return set_field(made, f->qf_field->name, f, r->state);
  RITZ_TRY(ritz_point_numbers_of_input(r, op, i, &numbers));
  const int ierr = CeedOperatorSetField(made, f->qf_field->name, numbers.rstr, CEED_BASIS_NONE, numbers.vec);
  ritz_point_numbers_destroy(&numbers);
  return ierr;
}

// Directions and outputs of gradients come in the order of the active inputs.
static int set_fields(const Request *r, CeedOperator op, CeedOperator made) {
  const CeedInt num = op->num_in + (r->state ? op->num_out : 0);
  CeedQFunctionField *const more = r->state ? made->qf->in + op->num_in : made->qf->out;
  CeedInt k = 0;

  for (CeedInt i = 0; i < num; i++) {
    const CeedOperatorField f = ritz_operator_field(op, i);
    const bool is_active = f->vec == CEED_VECTOR_ACTIVE, is_output = i >= op->num_in;
    if (ritz_field_is_unused(f) || (is_output && !is_active)) continue;
    RITZ_TRY(is_active && !is_output && r->state ? set_state(r, op, i, made)
                                                 : set_field(made, f->qf_field->name, f, f->vec));
    if (is_active && !is_output) RITZ_TRY(set_field(made, more[k++]->name, f, CEED_VECTOR_ACTIVE));
  }
  return CEED_ERROR_SUCCESS;
}

int ritz_derivative_set_name(const Request *r, CeedOperator op, CeedOperator made) {
  char *name = NULL;
  RITZ_TRY(ritz_derivative_join(op->obj.ceed, r->of,
                                op->name ? op->name
                                : op->qf ? op->qf->kernel_name
                                         : "a composite",
                                &name));
  const int ierr = CeedOperatorSetName(made, name);
  RITZ_FREE(&name);
  return ierr;
}

int ritz_derivative_finish(CeedOperator op, CeedOperator made) {
  int ierr = RitzOperatorSetPrecision(made, op->precision);
  if (!ierr) ierr = RitzOperatorSetUse(made, op->use);
  if (!ierr) made->route = op->route;
  return ierr ? ierr : CeedOperatorCheckReady(made);
}

static int make_operator(const Request *r, CeedOperator op, CeedQFunction qf, CeedOperator *made) {
  RITZ_TRY(CeedOperatorCreate(op->obj.ceed, qf, CEED_QFUNCTION_NONE, CEED_QFUNCTION_NONE, made));
  int ierr = set_fields(r, op, *made);
  if (!ierr) ierr = ritz_derivative_set_name(r, op, *made);
  if (!ierr) ierr = ritz_derivative_finish(op, *made);
  if (ierr) (void)CeedOperatorDestroy(made);
  return ierr;
}

static int create_plain(const Request *r, CeedOperator op, const bool *are_active, CeedOperator *made) {
  CeedQFunction qf = NULL;

  int ierr = make_qfunction(r, op->qf, are_active, &qf);
  if (!ierr) ierr = make_operator(r, op, qf, made);
  (void)CeedQFunctionDestroy(&qf);
  return ierr;
}

int ritz_derivative_create(const Request *r, CeedOperator op, const bool *are_active, CeedOperator *made) {
  if (r->storage == RITZ_STORED_AUTO) return ritz_derivative_create_fastest(r, op, are_active, made);
  return (r->storage == RITZ_STORED_MATRIX ? ritz_derivative_create_matrix : create_plain)(r, op, are_active,
                                                                                           made);
}

static int differentiate_single(const Request *r, CeedOperator op, CeedOperator *made) {
  const size_t num = (size_t)op->num_in + (size_t)op->num_out;
  bool *are_active = NULL;

  RITZ_TRY(RITZ_CALLOC(op->obj.ceed, num + 1, &are_active));
  for (size_t i = 0; i < num; i++) {
    const CeedOperatorField f = ritz_operator_field(op, (CeedInt)i);
    are_active[i] = !ritz_field_is_unused(f) && f->vec == CEED_VECTOR_ACTIVE;
  }
  const int ierr = ritz_derivative_create(r, op, are_active, made);
  RITZ_FREE(&are_active);
  return ierr;
}

static int differentiate(const Request *r, CeedOperator op, CeedOperator *made);

// A sub-operator that is there twice is so in the derivative.
static int differentiate_sub(const Request *r, CeedOperator op, CeedInt number, CeedOperator composite) {
  CeedOperator made = NULL;
  for (CeedInt i = 0; i < number; i++) {
    if (op->sub[i] == op->sub[number]) return CeedOperatorCompositeAddSub(composite, composite->sub[i]);
  }
  RITZ_TRY(differentiate(r, op->sub[number], &made));
  const int ierr = CeedOperatorCompositeAddSub(composite, made);
  (void)CeedOperatorDestroy(&made);
  return ierr;
}

static int differentiate_composite(const Request *r, CeedOperator op, CeedOperator *made) {
  RITZ_TRY(CeedOperatorCreateComposite(op->obj.ceed, made));
  int ierr = CeedOperatorCompositeSetSequential(*made, op->is_sequential);
  if (!ierr) ierr = ritz_derivative_set_name(r, op, *made);
  for (CeedInt i = 0; !ierr && i < op->num_sub; i++) ierr = differentiate_sub(r, op, i, *made);
  if (!ierr) ierr = CeedOperatorCheckReady(*made);
  if (ierr) (void)CeedOperatorDestroy(made);
  return ierr;
}

static int differentiate(const Request *r, CeedOperator op, CeedOperator *made) {
  return (op->is_composite ? differentiate_composite : differentiate_single)(r, op, made);
}

// ---- What is refused ----

static const char *name_of(CeedOperator op) { return op->name ? op->name : ""; }

static int check_parts(const Request *r, CeedOperator op) {
  RITZ_REQUIRE(!op->is_at_points, op->obj.ceed, CEED_ERROR_UNSUPPORTED,
               "%s: operator '%s' is at points, needed one at quadrature points", r->call, name_of(op));
  for (CeedInt i = 0; i < op->num_sub; i++) RITZ_TRY(check_parts(r, op->sub[i]));
  return CEED_ERROR_SUCCESS;
}

static int check_energy(const Request *r, CeedOperator op) {
  const Ceed ceed = op->obj.ceed;
  for (CeedInt i = 0; i < op->num_sub; i++) RITZ_TRY(check_energy(r, op->sub[i]));
  if (op->is_composite) return CEED_ERROR_SUCCESS;
  RITZ_REQUIRE(op->num_out == 1, ceed, CEED_ERROR_INCOMPATIBLE,
               "%s: operator '%s' has %" CeedInt_FMT " outputs, needed one: the energy", r->call, name_of(op),
               op->num_out);
  const CeedQFunctionField e = op->qf->out[0];
  RITZ_REQUIRE(e->size == 1 && (e->eval_mode == CEED_EVAL_NONE || e->eval_mode == CEED_EVAL_INTERP), ceed,
               CEED_ERROR_INCOMPATIBLE,
               "%s: output '%s' of operator '%s' has %" CeedInt_FMT
               " numbers a point and evaluation mode %s, needed one number and CEED_EVAL_NONE or "
               "CEED_EVAL_INTERP",
               r->call, e->name, name_of(op), e->size, CeedEvalModes[e->eval_mode]);
  RITZ_REQUIRE(op->input_size >= 0, ceed, CEED_ERROR_INCOMPATIBLE,
               "%s: operator '%s' has no active input, needed one to differentiate by", r->call, name_of(op));
  return CEED_ERROR_SUCCESS;
}

static int check(const Request *r, CeedOperator op) {
  RITZ_TRY(check_parts(r, op));
  return CeedOperatorCheckReady(op);
}

// Last of the checks: what is wrong everywhere is told first.
static int check_device(const Request *r, Ceed ceed) {
  RITZ_REQUIRE(strncmp(ceed->resource, "/gpu/opencl", 11), ceed, CEED_ERROR_UNSUPPORTED,
               "%s: kernels of '%s' are OpenCL C, needed a device that compiles C++", r->call,
               ceed->resource);
  return CEED_ERROR_SUCCESS;
}

static int create_derivative(Request r, CeedOperator op, CeedVector state, CeedOperator *jacobian) {
  CeedOperator made = NULL;

  RITZ_HANDLE_OF(r.call, op, state);
  RITZ_ARGUMENT_OF(op->obj.ceed, r.call, state);
  RITZ_ARGUMENT_OF(op->obj.ceed, r.call, jacobian);
  r.suffix = "_derivative";
  r.of = "derivative of ";
  r.state = state;
  RITZ_TRY(check(&r, op));
  RITZ_REQUIRE(op->input_size >= 0, op->obj.ceed, CEED_ERROR_INCOMPATIBLE,
               "%s: operator '%s' has no active input, needed one to differentiate by", r.call, name_of(op));
  RITZ_REQUIRE(state->length == op->input_size, op->obj.ceed, CEED_ERROR_DIMENSION,
               "%s: state has %" CeedSize_FMT " entries, the input of operator '%s' has %" CeedSize_FMT,
               r.call, state->length, name_of(op), op->input_size);
  RITZ_TRY(check_device(&r, op->obj.ceed));
  RITZ_TRY(differentiate(&r, op, &made));
  *jacobian = made;
  return CEED_ERROR_SUCCESS;
}

int RitzOperatorCreateDerivative(CeedOperator op, CeedVector state, CeedOperator *jacobian) {
  const Request r = {.call = __func__, .storage = RITZ_STORED_NOTHING};
  return create_derivative(r, op, state, jacobian);
}

static const char *const storage_names[] = {"auto", "nothing", "inputs", "matrix"};

const char *RitzDerivativeStorageName(RitzDerivativeStorage storage) {
  return storage >= RITZ_STORED_AUTO && storage <= RITZ_STORED_MATRIX ? storage_names[storage] : NULL;
}

int RitzOperatorCreateDerivativeStored(CeedOperator op, CeedVector state,
                                       const RitzDerivativeOptions *options, CeedOperator *jacobian) {
  RITZ_HANDLE(op, state);
  RITZ_ARGUMENT(op, options);
  RITZ_REQUIRE(RitzDerivativeStorageName(options->storage), op->obj.ceed, CEED_ERROR_INCOMPATIBLE,
               "%s: storage %d is none of a derivative", __func__, (int)options->storage);
  RITZ_REQUIRE(options->num_applies >= 0, op->obj.ceed, CEED_ERROR_INCOMPATIBLE,
               "%s: num_applies is %" CeedInt_FMT ", needed 0 or more", __func__, options->num_applies);
  const Request r = {.call = __func__,
                     .storage = options->storage,
                     .num_applies = options->num_applies > 0 ? options->num_applies : 30};
  return create_derivative(r, op, state, jacobian);
}

int RitzOperatorCreateGradient(CeedOperator energy, CeedOperator *residual) {
  CeedOperator made = NULL;

  RITZ_HANDLE(energy);
  RITZ_ARGUMENT(energy, residual);
  const Request r = {
      .call = __func__, .suffix = "_gradient", .of = "gradient of ", .storage = RITZ_STORED_NOTHING};
  RITZ_TRY(check(&r, energy));
  RITZ_TRY(check_energy(&r, energy));
  RITZ_TRY(check_device(&r, energy->obj.ceed));
  RITZ_TRY(differentiate(&r, energy, &made));
  *residual = made;
  return CEED_ERROR_SUCCESS;
}
