// SPDX-License-Identifier: BSD-2-Clause
// Operators of derivatives and of gradients (ritz/derivative.h). Their texts: core/derivative-text.c.
#include "core/derivative.h"

#include <ritz/derivative.h>
#include <ritz/operator.h>
#include <ritz/precision.h>
#include <ritz/qfunction.h>
#include <string.h>

// What is asked for: the derivative at a state, or the gradient of an energy.
typedef struct {
  const char *call;        // the public function
  const char *suffix, *of; // of names: of QFunctions, before those of operators
  CeedVector state;        // borrowed; NULL: a gradient
} Request;

// The outputs of a gradient are called so and like the input that they are derivatives by.
static const char by[] = "by ";

// *name: owned by the caller
static int join(Ceed ceed, const char *first, const char *second, char **name) {
  RITZ_TRY(RITZ_MALLOC(ceed, strlen(first) + strlen(second) + 1, name));
  strcat(strcpy(*name, first), second);
  return CEED_ERROR_SUCCESS;
}

// ---- Its QFunction ----

static int add_field(CeedQFunction qf, const char *before, CeedQFunctionField field, bool is_output) {
  char *name = NULL;
  RITZ_TRY(join(qf->obj.ceed, before, field->name, &name));
  const int ierr =
      (is_output ? CeedQFunctionAddOutput : CeedQFunctionAddInput)(qf, name, field->size, field->eval_mode);
  RITZ_FREE(&name);
  return ierr;
}

static int add_fields(const Request *r, CeedQFunction from, const bool *are_active, const bool *are_wanted,
                      CeedQFunction qf) {
  for (CeedInt i = 0; i < from->num_in; i++) RITZ_TRY(add_field(qf, "", from->in[i], false));
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
static int compile(const Request *r, CeedQFunction qf, const char *user) {
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

// Which inputs of a gradient its outputs are derivatives by; free it.
static int find_partials(CeedQFunction gradient, bool **have_partials) {
  RITZ_TRY(RITZ_CALLOC(gradient->obj.ceed, (size_t)gradient->num_in + 1, have_partials));
  for (CeedInt i = 0, k = 0; i < gradient->num_in && k < gradient->num_out; i++) {
    (*have_partials)[i] = !strcmp(gradient->in[i]->name, gradient->out[k]->name + strlen(by));
    k += (*have_partials)[i];
  }
  return CEED_ERROR_SUCCESS;
}

static int make_text(const Request *r, CeedQFunction from, const char *name, const bool *are_active,
                     const bool *are_wanted, char **text) {
  RitzDerivative wanted = {.qf = from, .call = r->call, .name = name};
  bool *have_partials = NULL;

  if (!r->state) {
    wanted.have_partials = are_active;
    return ritz_derivative_text(&wanted, text);
  }
  wanted.have_direction = are_active;
  wanted.are_wanted = are_wanted;
  if (from->energy) {
    RITZ_TRY(find_partials(from, &have_partials));
    wanted.qf = from->energy;
    wanted.have_partials = have_partials;
  }
  const int ierr = ritz_derivative_text(&wanted, text);
  RITZ_FREE(&have_partials);
  return ierr;
}

static int make_qfunction(const Request *r, CeedOperator op, const bool *are_active, const bool *are_wanted,
                          CeedQFunction *qf) {
  const CeedQFunction from = op->qf;
  const Ceed ceed = op->obj.ceed;
  char *name = NULL, *text = NULL;

  int ierr = join(ceed, from->kernel_name, r->suffix, &name);
  if (!ierr) ierr = make_text(r, from, name, are_active, are_wanted, &text);
  if (!ierr) ierr = RitzQFunctionCreateFromText(ceed, from->vec_length, text, name, qf);
  RITZ_FREE(&text);
  RITZ_FREE(&name);
  RITZ_TRY(ierr);
  (*qf)->is_cxx = true;
  (*qf)->is_context_writable = from->is_context_writable;
  // A product becomes two more and a sum; a gradient by hand costs up to four times the function.
  if (from->user_flops > 0) (*qf)->user_flops = (r->state ? 3 : 4) * from->user_flops;
  if (!r->state) ierr = CeedQFunctionReferenceCopy(from, &(*qf)->energy);
  if (!ierr) ierr = add_fields(r, from, are_active, are_wanted, *qf);
  if (!ierr && from->ctx) ierr = CeedQFunctionSetContext(*qf, from->ctx);
  if (!ierr) ierr = compile(r, *qf, from->kernel_name);
  if (ierr) (void)CeedQFunctionDestroy(qf);
  return ierr;
}

// ---- The operator ----

static int set_field(CeedOperator made, const char *name, CeedOperatorField f, CeedVector vec) {
  return CeedOperatorSetField(made, name, f->rstr, f->basis, vec);
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
    RITZ_TRY(set_field(made, f->qf_field->name, f, is_active && !is_output && r->state ? r->state : f->vec));
    if (is_active && !is_output) RITZ_TRY(set_field(made, more[k++]->name, f, CEED_VECTOR_ACTIVE));
  }
  return CEED_ERROR_SUCCESS;
}

static int set_name(const Request *r, CeedOperator op, CeedOperator made) {
  char *name = NULL;
  RITZ_TRY(join(op->obj.ceed, r->of,
                op->name ? op->name
                : op->qf ? op->qf->kernel_name
                         : "a composite",
                &name));
  const int ierr = CeedOperatorSetName(made, name);
  RITZ_FREE(&name);
  return ierr;
}

static int make_operator(const Request *r, CeedOperator op, CeedQFunction qf, CeedOperator *made) {
  RITZ_TRY(CeedOperatorCreate(op->obj.ceed, qf, CEED_QFUNCTION_NONE, CEED_QFUNCTION_NONE, made));
  int ierr = set_fields(r, op, *made);
  if (!ierr) ierr = set_name(r, op, *made);
  if (!ierr) ierr = RitzOperatorSetPrecision(*made, op->precision);
  if (!ierr) ierr = RitzOperatorSetUse(*made, op->use);
  if (!ierr) (*made)->route = op->route;
  if (!ierr) ierr = CeedOperatorCheckReady(*made);
  if (ierr) (void)CeedOperatorDestroy(made);
  return ierr;
}

static int differentiate_single(const Request *r, CeedOperator op, CeedOperator *made) {
  const Ceed ceed = op->obj.ceed;
  const size_t num = (size_t)op->num_in + (size_t)op->num_out;
  CeedQFunction qf = NULL;
  bool *are_active = NULL;

  RITZ_TRY(RITZ_CALLOC(ceed, num + 1, &are_active));
  for (size_t i = 0; i < num; i++) {
    const CeedOperatorField f = ritz_operator_field(op, (CeedInt)i);
    are_active[i] = !ritz_field_is_unused(f) && f->vec == CEED_VECTOR_ACTIVE;
  }
  int ierr = make_qfunction(r, op, are_active, are_active + op->num_in, &qf);
  RITZ_FREE(&are_active);
  if (!ierr) ierr = make_operator(r, op, qf, made);
  (void)CeedQFunctionDestroy(&qf);
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
  if (!ierr) ierr = set_name(r, op, *made);
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

int RitzOperatorCreateDerivative(CeedOperator op, CeedVector state, CeedOperator *jacobian) {
  CeedOperator made = NULL;

  RITZ_HANDLE(op, state);
  RITZ_ARGUMENT(op, state);
  RITZ_ARGUMENT(op, jacobian);
  const Request r = {__func__, "_derivative", "derivative of ", state};
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

int RitzOperatorCreateGradient(CeedOperator energy, CeedOperator *residual) {
  CeedOperator made = NULL;

  RITZ_HANDLE(energy);
  RITZ_ARGUMENT(energy, residual);
  const Request r = {__func__, "_gradient", "gradient of ", NULL};
  RITZ_TRY(check(&r, energy));
  RITZ_TRY(check_energy(&r, energy));
  RITZ_TRY(check_device(&r, energy->obj.ceed));
  RITZ_TRY(differentiate(&r, energy, &made));
  *residual = made;
  return CEED_ERROR_SUCCESS;
}
