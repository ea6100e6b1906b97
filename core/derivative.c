// SPDX-License-Identifier: BSD-2-Clause
// Operators of derivatives (ritz/derivative.h). Their texts: core/derivative-text.c.
#include "core/derivative.h"

#include <ritz/derivative.h>
#include <ritz/operator.h>
#include <ritz/precision.h>
#include <ritz/qfunction.h>
#include <string.h>

static const char call[] = "RitzOperatorCreateDerivative";

// *name: owned by the caller
static int join(Ceed ceed, const char *first, const char *second, char **name) {
  RITZ_TRY(RITZ_MALLOC(ceed, strlen(first) + strlen(second) + 1, name));
  strcat(strcpy(*name, first), second);
  return CEED_ERROR_SUCCESS;
}

// ---- Its QFunction ----

static int add_fields(CeedOperator op, const bool *are_active, const bool *are_wanted, CeedQFunction qf) {
  const CeedQFunction from = op->qf;
  const Ceed ceed = from->obj.ceed;

  for (CeedInt i = 0; i < from->num_in; i++) {
    const CeedQFunctionField field = from->in[i];
    RITZ_TRY(CeedQFunctionAddInput(qf, field->name, field->size, field->eval_mode));
  }
  for (CeedInt i = 0; i < from->num_in; i++) {
    const CeedQFunctionField field = from->in[i];
    char *name = NULL;
    if (!are_active[i]) continue;
    RITZ_TRY(join(ceed, "d ", field->name, &name));
    const int ierr = CeedQFunctionAddInput(qf, name, field->size, field->eval_mode);
    RITZ_FREE(&name);
    RITZ_TRY(ierr);
  }
  for (CeedInt i = 0; i < from->num_out; i++) {
    const CeedQFunctionField field = from->out[i];
    if (are_wanted[i]) RITZ_TRY(CeedQFunctionAddOutput(qf, field->name, field->size, field->eval_mode));
  }
  return CEED_ERROR_SUCCESS;
}

// What hosts would call of the text, now: the compiler's refusal is this call's error. Devices have compilers
// of their own.
static int compile(CeedQFunction qf, const char *user) {
  const Ceed ceed = qf->obj.ceed;
  const CeedErrorHandler handler = ceed->error_handler;
  char *words = NULL;

  if (ceed->backend.mem_type != CEED_MEM_HOST) return CEED_ERROR_SUCCESS;
  ceed->error_handler = CeedErrorStore;
  int ierr = ritz_qfunction_need_pointer(qf);
  ceed->error_handler = handler;
  if (!ierr) return CEED_ERROR_SUCCESS;
  RITZ_TRY(ritz_strdup(ceed, ceed->message, &words));
  ierr =
      CeedError(ceed, ierr == CEED_ERROR_BACKEND ? CEED_ERROR_UNSUPPORTED : ierr,
                "%s: QFunction '%s' cannot be differentiated, which is done in C++: %s", call, user, words);
  RITZ_FREE(&words);
  return ierr;
}

static int make_qfunction(CeedOperator op, const bool *are_active, const bool *are_wanted,
                          CeedQFunction *qf) {
  const CeedQFunction from = op->qf;
  const Ceed ceed = op->obj.ceed;
  char *name = NULL, *text = NULL;

  int ierr = join(ceed, from->kernel_name, "_derivative", &name);
  if (!ierr) ierr = ritz_derivative_text(from, call, name, are_active, are_wanted, &text);
  if (!ierr) ierr = RitzQFunctionCreateFromText(ceed, from->vec_length, text, name, qf);
  RITZ_FREE(&text);
  RITZ_FREE(&name);
  RITZ_TRY(ierr);
  (*qf)->is_cxx = true;
  (*qf)->is_context_writable = from->is_context_writable;
  if (from->user_flops > 0) (*qf)->user_flops = 3 * from->user_flops; // a product becomes two more and a sum
  ierr = add_fields(op, are_active, are_wanted, *qf);
  if (!ierr && from->ctx) ierr = CeedQFunctionSetContext(*qf, from->ctx);
  if (!ierr) ierr = compile(*qf, from->kernel_name);
  if (ierr) (void)CeedQFunctionDestroy(qf);
  return ierr;
}

// ---- The operator ----

static int set_field(CeedOperator jacobian, const char *name, CeedOperatorField f, CeedVector vec) {
  return CeedOperatorSetField(jacobian, name, f->rstr, f->basis, vec);
}

static int set_fields(CeedOperator op, CeedVector state, CeedOperator jacobian) {
  CeedInt direction = op->num_in;

  for (CeedInt i = 0; i < op->num_in + op->num_out; i++) {
    const CeedOperatorField f = ritz_operator_field(op, i);
    const bool is_active = f->vec == CEED_VECTOR_ACTIVE;
    if (ritz_field_is_unused(f)) continue;
    if (i >= op->num_in) {
      if (is_active) RITZ_TRY(set_field(jacobian, f->qf_field->name, f, CEED_VECTOR_ACTIVE));
      continue;
    }
    RITZ_TRY(set_field(jacobian, f->qf_field->name, f, is_active ? state : f->vec));
    if (is_active) RITZ_TRY(set_field(jacobian, jacobian->qf->in[direction++]->name, f, CEED_VECTOR_ACTIVE));
  }
  return CEED_ERROR_SUCCESS;
}

static int set_name(CeedOperator op, CeedOperator jacobian) {
  char *name = NULL;
  RITZ_TRY(join(op->obj.ceed, "derivative of ",
                op->name ? op->name
                : op->qf ? op->qf->kernel_name
                         : "a composite",
                &name));
  const int ierr = CeedOperatorSetName(jacobian, name);
  RITZ_FREE(&name);
  return ierr;
}

static int make_operator(CeedOperator op, CeedVector state, CeedQFunction qf, CeedOperator *jacobian) {
  RITZ_TRY(CeedOperatorCreate(op->obj.ceed, qf, CEED_QFUNCTION_NONE, CEED_QFUNCTION_NONE, jacobian));
  int ierr = set_fields(op, state, *jacobian);
  if (!ierr) ierr = set_name(op, *jacobian);
  if (!ierr) ierr = RitzOperatorSetPrecision(*jacobian, op->precision);
  if (!ierr) ierr = RitzOperatorSetUse(*jacobian, op->use);
  if (!ierr) (*jacobian)->route = op->route;
  if (!ierr) ierr = CeedOperatorCheckReady(*jacobian);
  if (ierr) (void)CeedOperatorDestroy(jacobian);
  return ierr;
}

static int differentiate_single(CeedOperator op, CeedVector state, CeedOperator *jacobian) {
  const Ceed ceed = op->obj.ceed;
  const size_t num = (size_t)op->num_in + (size_t)op->num_out;
  CeedQFunction qf = NULL;
  bool *are_active = NULL;

  RITZ_TRY(RITZ_CALLOC(ceed, num + 1, &are_active));
  for (size_t i = 0; i < num; i++) {
    const CeedOperatorField f = ritz_operator_field(op, (CeedInt)i);
    are_active[i] = !ritz_field_is_unused(f) && f->vec == CEED_VECTOR_ACTIVE;
  }
  int ierr = make_qfunction(op, are_active, are_active + op->num_in, &qf);
  RITZ_FREE(&are_active);
  if (!ierr) ierr = make_operator(op, state, qf, jacobian);
  (void)CeedQFunctionDestroy(&qf);
  return ierr;
}

static int differentiate(CeedOperator op, CeedVector state, CeedOperator *jacobian);

// A sub-operator that is there twice is so in the derivative.
static int differentiate_sub(CeedOperator op, CeedInt number, CeedVector state, CeedOperator composite) {
  CeedOperator jacobian = NULL;
  for (CeedInt i = 0; i < number; i++) {
    if (op->sub[i] == op->sub[number]) return CeedOperatorCompositeAddSub(composite, composite->sub[i]);
  }
  RITZ_TRY(differentiate(op->sub[number], state, &jacobian));
  const int ierr = CeedOperatorCompositeAddSub(composite, jacobian);
  (void)CeedOperatorDestroy(&jacobian);
  return ierr;
}

static int differentiate_composite(CeedOperator op, CeedVector state, CeedOperator *jacobian) {
  RITZ_TRY(CeedOperatorCreateComposite(op->obj.ceed, jacobian));
  int ierr = CeedOperatorCompositeSetSequential(*jacobian, op->is_sequential);
  if (!ierr) ierr = set_name(op, *jacobian);
  for (CeedInt i = 0; !ierr && i < op->num_sub; i++) ierr = differentiate_sub(op, i, state, *jacobian);
  if (!ierr) ierr = CeedOperatorCheckReady(*jacobian);
  if (ierr) (void)CeedOperatorDestroy(jacobian);
  return ierr;
}

static int differentiate(CeedOperator op, CeedVector state, CeedOperator *jacobian) {
  return (op->is_composite ? differentiate_composite : differentiate_single)(op, state, jacobian);
}

// ---- What is refused ----

static const char *name_of(CeedOperator op) { return op->name ? op->name : ""; }

static int check_parts(CeedOperator op) {
  RITZ_REQUIRE(!op->is_at_points, op->obj.ceed, CEED_ERROR_UNSUPPORTED,
               "%s: operator '%s' is at points, needed one at quadrature points", call, name_of(op));
  for (CeedInt i = 0; i < op->num_sub; i++) RITZ_TRY(check_parts(op->sub[i]));
  return CEED_ERROR_SUCCESS;
}

int RitzOperatorCreateDerivative(CeedOperator op, CeedVector state, CeedOperator *jacobian) {
  CeedOperator made = NULL;

  RITZ_HANDLE(op, state);
  RITZ_ARGUMENT(op, state);
  RITZ_ARGUMENT(op, jacobian);
  const Ceed ceed = op->obj.ceed;
  RITZ_TRY(check_parts(op));
  RITZ_TRY(CeedOperatorCheckReady(op));
  RITZ_REQUIRE(op->input_size >= 0, ceed, CEED_ERROR_INCOMPATIBLE,
               "%s: operator '%s' has no active input, needed one to differentiate by", call, name_of(op));
  RITZ_REQUIRE(state->length == op->input_size, ceed, CEED_ERROR_DIMENSION,
               "%s: state has %" CeedSize_FMT " entries, the input of operator '%s' has %" CeedSize_FMT, call,
               state->length, name_of(op), op->input_size);
  RITZ_REQUIRE(strncmp(ceed->resource, "/gpu/opencl", 11), ceed, CEED_ERROR_UNSUPPORTED,
               "%s: kernels of '%s' are OpenCL C, needed a device that compiles C++", call, ceed->resource);
  RITZ_TRY(differentiate(op, state, &made));
  *jacobian = made;
  return CEED_ERROR_SUCCESS;
}
