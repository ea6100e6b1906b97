// SPDX-License-Identifier: BSD-2-Clause
// Preconditioners as objects: life cycle, application with conversion between precisions, smoothing, views;
// and the kind that is a function of the program. The other kinds are files of their own (contract in
// solver/preconditioner.h).
#include "solver/preconditioner.h"

#include "core/vector-pass.h"

const RitzClass ritz_preconditioner_class = {.name = "RitzPreconditioner"};

// ---- Life cycle ----

int ritz_preconditioner_create(Ceed ceed, const char *call, CeedSize n, CeedScalarType precision,
                               const RitzPreconditionerMethods *methods, void *data, bool is_symmetric,
                               RitzPreconditioner *pc) {
  RitzPreconditioner created = NULL;

  RITZ_TRY(ritz_check_precision(ceed, call, precision));
  RITZ_TRY(RITZ_CALLOC(ceed, 1, &created));
  const int ierr = CeedReferenceCopy(ceed, &created->ceed);
  if (ierr) {
    RITZ_FREE(&created);
    return ierr;
  }
  created->class = &ritz_preconditioner_class;
  created->ref_count = 1;
  created->n = n;
  created->precision = precision;
  created->is_symmetric = is_symmetric;
  created->methods = methods;
  created->data = data;
  *pc = created;
  return CEED_ERROR_SUCCESS;
}

int RitzPreconditionerReferenceCopy(RitzPreconditioner pc, RitzPreconditioner *copy) {
  RITZ_HANDLE(pc);
  RITZ_REQUIRE(copy != NULL, pc->ceed, CEED_ERROR_INCOMPATIBLE,
               "RitzPreconditionerReferenceCopy: argument 'copy' is NULL");
  if (*copy == pc) return CEED_ERROR_SUCCESS;
  RITZ_OPTIONAL(pc->ceed, *copy);
  pc->ref_count++;
  const int ierr = RitzPreconditionerDestroy(copy);
  *copy = pc;
  return ierr;
}

int RitzPreconditionerDestroy(RitzPreconditioner *pc) {
  if (!pc || !*pc) return CEED_ERROR_SUCCESS;
  RITZ_TRY(ritz_check_handle(NULL, __func__, "pc", *pc, &ritz_preconditioner_class));
  RitzPreconditioner last = *pc;

  *pc = NULL;
  if (--last->ref_count > 0) return CEED_ERROR_SUCCESS;
  int ierr = last->methods->destroy ? last->methods->destroy(last) : CEED_ERROR_SUCCESS;
  for (int i = 0; i < 2; i++) ierr = ritz_first_error(ierr, CeedVectorDestroy(&last->converted[i]));
  ierr = ritz_first_error(ierr, CeedVectorDestroy(&last->correction));
  Ceed ceed = last->ceed;
  RITZ_FREE(&last);
  return ritz_first_error(ierr, CeedDestroy(&ceed));
}

// ---- Application ----

// Between precisions: one sweep each way, in double.
static const RitzPass scaled_copy = {
    .name = "scaled_copy",
    .num_vectors = 2,
    .num_lines = 1,
    .line = {{.to = 1, .num_terms = 1, .term = {{.factor = 0, .x = 0, .y = RITZ_PASS_NONE}}}},
};

// r := its entries divided by a power of two near the largest, so that float vectors hold them whatever their
// size; z gets the factor back.
static int apply_converted(RitzPreconditioner pc, CeedVector r, CeedVector z) {
  double scale = 1;

  for (int i = 0; i < 2; i++) {
    if (!pc->converted[i]) RITZ_TRY(RitzVectorCreate(pc->ceed, pc->n, pc->precision, &pc->converted[i]));
  }
  RITZ_TRY(pc->methods->find_scale ? pc->methods->find_scale(pc, r, &scale) : ritz_vector_scale(r, &scale));
  RITZ_TRY(ritz_pass_run(&scaled_copy, (CeedVector[]){r, pc->converted[0]}, (double[]){1 / scale}, NULL));
  RITZ_TRY(pc->methods->apply(pc, pc->converted[0], pc->converted[1]));
  return ritz_pass_run(&scaled_copy, (CeedVector[]){pc->converted[1], z}, (double[]){scale}, NULL);
}

// For vectors of another context: copies in that of the preconditioner.
static int apply_elsewhere(RitzPreconditioner pc, CeedVector r, CeedVector z) {
  CeedVector here[2] = {NULL, NULL};
  int ierr = CEED_ERROR_SUCCESS;

  for (int i = 0; i < 2; i++) RITZ_TRY_CLEANUP(RitzVectorCreate(pc->ceed, pc->n, r->precision, &here[i]));
  RITZ_TRY_CLEANUP(RitzVectorConvert(r, here[0]));
  RITZ_TRY_CLEANUP(ritz_preconditioner_apply(pc, here[0], here[1]));
  RITZ_TRY_CLEANUP(RitzVectorConvert(here[1], z));
cleanup:
  for (int i = 0; i < 2; i++) ierr = ritz_first_error(ierr, CeedVectorDestroy(&here[i]));
  return ierr;
}

static int require_values(RitzPreconditioner pc) {
  RITZ_REQUIRE(
      !pc->lacks_values, pc->ceed, CEED_ERROR_MAJOR,
      "RitzPreconditionerApply: '%s' has no values: its last RitzPreconditionerUpdate failed, needed "
      "one that does not",
      pc->methods->name);
  return CEED_ERROR_SUCCESS;
}

int ritz_preconditioner_apply(RitzPreconditioner pc, CeedVector r, CeedVector z) {
  RITZ_TRY(require_values(pc));
  if (r->obj.ceed != pc->ceed || z->obj.ceed != pc->ceed) return apply_elsewhere(pc, r, z);
  return r->precision == pc->precision ? pc->methods->apply(pc, r, z) : apply_converted(pc, r, z);
}

void ritz_preconditioner_add_forms(RitzPreconditioner pc, CeedScalarType precision, RitzPassForms *forms) {
  if (precision != pc->precision) {
    RitzPassForm there = ritz_pass_form(&scaled_copy, precision), back = there;
    there.precision[1] = back.precision[0] = pc->precision;
    ritz_pass_forms_add(forms, there);
    ritz_pass_forms_add(forms, back);
  }
  if (ritz_jacobi_inverse(pc, pc->ceed, NULL))
    ritz_pass_forms_add(forms, ritz_pass_form(&ritz_jacobi_pass, pc->precision));
}

static int check_vectors(RitzPreconditioner pc, const char *call, CeedVector r, CeedVector z) {
  RITZ_REQUIRE(!ritz_vectors_meet(r, z), pc->ceed, CEED_ERROR_INCOMPATIBLE,
               "%s: r and z %s, they need to be different", call, ritz_vectors_meet(r, z));
  RITZ_REQUIRE(r->length == pc->n && z->length == pc->n, pc->ceed, CEED_ERROR_DIMENSION,
               "%s: r has %" CeedSize_FMT " entries, z has %" CeedSize_FMT
               ", the preconditioner needs %" CeedSize_FMT,
               call, r->length, z->length, pc->n);
  RITZ_REQUIRE(r->precision == z->precision, pc->ceed, CEED_ERROR_INCOMPATIBLE,
               "%s: r is %s, z is %s, they need one precision", call, ritz_precision_name(r->precision),
               ritz_precision_name(z->precision));
  return CEED_ERROR_SUCCESS;
}

int RitzPreconditionerApply(RitzPreconditioner pc, CeedVector r, CeedVector z) {
  RITZ_HANDLE(pc, r, z);
  RITZ_ARGUMENT(pc->ceed, r);
  RITZ_ARGUMENT(pc->ceed, z);
  RITZ_TRY(check_vectors(pc, __func__, r, z));
  return ritz_preconditioner_apply(pc, r, z);
}

// Two pairs of RitzPreconditionerApplyMany that have a vector in common of which one is written.
static int check_apart(RitzPreconditioner pc, const CeedVector *r, const CeedVector *z, CeedInt j,
                       CeedInt k) {
  RITZ_REQUIRE(z[j] != z[k], pc->ceed, CEED_ERROR_INCOMPATIBLE,
               "RitzPreconditionerApplyMany: z[%" CeedInt_FMT "] and z[%" CeedInt_FMT
               "] are the same vector, each needs one of its own",
               j, k);
  RITZ_REQUIRE(r[j] != z[k] && r[k] != z[j], pc->ceed, CEED_ERROR_INCOMPATIBLE,
               "RitzPreconditionerApplyMany: r[%" CeedInt_FMT "] and z[%" CeedInt_FMT
               "] are the same vector, results may not be given",
               r[j] == z[k] ? j : k, r[j] == z[k] ? k : j);
  return CEED_ERROR_SUCCESS;
}

int RitzPreconditionerApplyMany(RitzPreconditioner pc, CeedInt num, const CeedVector *r,
                                const CeedVector *z) {
  RITZ_HANDLE(pc);
  bool is_many = pc->methods->apply_many;
  RITZ_REQUIRE(num >= 0, pc->ceed, CEED_ERROR_DIMENSION,
               "RitzPreconditionerApplyMany: num is %" CeedInt_FMT ", needed at least 0", num);
  if (num > 0) RITZ_ARGUMENT(pc->ceed, r);
  if (num > 0) RITZ_ARGUMENT(pc->ceed, z);
  for (CeedInt k = 0; k < num; k++) {
    RITZ_TRY(ritz_check_handle(pc->ceed, __func__, "r[k]", r[k], &ritz_vector_class));
    RITZ_TRY(ritz_check_handle(pc->ceed, __func__, "z[k]", z[k], &ritz_vector_class));
    RITZ_TRY(check_vectors(pc, __func__, r[k], z[k]));
    for (CeedInt other = 0; other < k; other++) RITZ_TRY(check_apart(pc, r, z, other, k));
    is_many = is_many && r[k]->obj.ceed == pc->ceed && z[k]->obj.ceed == pc->ceed &&
              r[k]->precision == pc->precision;
  }
  if (is_many) {
    RITZ_TRY(require_values(pc));
    return pc->methods->apply_many(pc, num, r, z);
  }
  for (CeedInt k = 0; k < num; k++) RITZ_TRY(ritz_preconditioner_apply(pc, r[k], z[k]));
  return CEED_ERROR_SUCCESS;
}

int ritz_preconditioner_smooth(RitzPreconditioner pc, const RitzSystem *system, CeedVector b, CeedVector x,
                               bool starts_from_zero, CeedVector r, bool is_after) {
  RITZ_TRY(require_values(pc));
  if (pc->methods->smooth) return pc->methods->smooth(pc, b, x, starts_from_zero, is_after);
  if (starts_from_zero) return ritz_preconditioner_apply(pc, b, x);

  if (pc->correction && pc->correction->precision != x->precision) {
    RITZ_TRY(CeedVectorDestroy(&pc->correction));
  }
  if (!pc->correction) RITZ_TRY(RitzVectorCreate(system->ceed, pc->n, x->precision, &pc->correction));
  RITZ_TRY(ritz_system_residual(system, b, x, r));
  RITZ_TRY(ritz_preconditioner_apply(pc, r, pc->correction));
  return RitzVectorAXPYs(x, 1, (double[]){1}, &pc->correction);
}

int ritz_preconditioner_strengthen(RitzPreconditioner pc, bool *is_changed) {
  *is_changed = false;
  return pc->methods->strengthen ? pc->methods->strengthen(pc, is_changed) : CEED_ERROR_SUCCESS;
}

int ritz_preconditioner_prepare(RitzPreconditioner pc) {
  return pc->methods->prepare ? pc->methods->prepare(pc) : CEED_ERROR_SUCCESS;
}

void ritz_preconditioner_enter_solve(RitzPreconditioner pc, bool begins) {
  if (pc && pc->methods->enter_solve) pc->methods->enter_solve(pc, begins);
}

// ---- New values ----

int ritz_run_with_prefix(Ceed ceed, const char *prefix, int (*action)(void *ctx), void *ctx) {
  const CeedErrorHandler handler = ceed->error_handler;
  const char *message = NULL;
  char text[1024];

  ceed->error_handler = CeedErrorStore;
  const int ierr = action(ctx);
  ceed->error_handler = handler;
  if (!ierr) return CEED_ERROR_SUCCESS;
  RITZ_TRY(CeedGetErrorMessage(ceed, &message));
  (void)snprintf(text, sizeof(text), "%s", message);
  RITZ_TRY(CeedResetErrorMessage(ceed, NULL));
  return CeedError(ceed, ierr, "%s: %s", prefix, text);
}

const char *ritz_preconditioner_why_not_updated(RitzPreconditioner pc) {
  return pc->methods->why_not_updated ? pc->methods->why_not_updated(pc) : NULL;
}

int ritz_preconditioner_update(RitzPreconditioner pc) {
  const int ierr = pc->methods->update(pc);

  pc->lacks_values = ierr != CEED_ERROR_SUCCESS;
  return ierr;
}

static int update_it(void *pc) { return ritz_preconditioner_update(pc); }

int RitzPreconditionerUpdate(RitzPreconditioner pc) {
  RITZ_HANDLE(pc);
  const char *why = ritz_preconditioner_why_not_updated(pc);
  RITZ_REQUIRE(!why, pc->ceed, CEED_ERROR_UNSUPPORTED, "%s: '%s' cannot be updated: %s", __func__,
               pc->methods->name, why);
  return ritz_run_with_prefix(pc->ceed, __func__, update_it, pc);
}

// ---- Questions ----

int ritz_preconditioner_work(RitzPreconditioner pc, RitzSmoothingWork *work) {
  *work = (RitzSmoothingWork){.num_applies = 1};
  return pc->methods->work ? pc->methods->work(pc, work) : CEED_ERROR_SUCCESS;
}

int ritz_preconditioner_view(RitzPreconditioner pc, FILE *stream, int indent) {
  if (pc->methods->view) return pc->methods->view(pc, stream, indent);
  fprintf(stream, "%*s%s\n", indent, "", pc->methods->name);
  return CEED_ERROR_SUCCESS;
}

int RitzPreconditionerView(RitzPreconditioner pc, FILE *stream) {
  int64_t num_bytes = 0;

  RITZ_HANDLE(pc);
  RITZ_REQUIRE(stream != NULL, pc->ceed, CEED_ERROR_INCOMPATIBLE,
               "RitzPreconditionerView: argument 'stream' is NULL");
  RITZ_TRY(RitzPreconditionerGetBytes(pc, &num_bytes));
  fprintf(stream, "RitzPreconditioner: %" CeedSize_FMT " entries, %s, %s, %.1f bytes an entry\n", pc->n,
          ritz_precision_name(pc->precision), pc->is_symmetric ? "symmetric" : "not symmetric or not fixed",
          pc->n > 0 ? (double)num_bytes / (double)pc->n : 0.0);
  return ritz_preconditioner_view(pc, stream, 2);
}

int RitzPreconditionerIsSymmetric(RitzPreconditioner pc, bool *is_symmetric) {
  RITZ_HANDLE(pc);
  RITZ_REQUIRE(is_symmetric != NULL, pc->ceed, CEED_ERROR_INCOMPATIBLE,
               "RitzPreconditionerIsSymmetric: argument 'is_symmetric' is NULL");
  *is_symmetric = pc->is_symmetric;
  return CEED_ERROR_SUCCESS;
}

int RitzPreconditionerGetPrecision(RitzPreconditioner pc, CeedScalarType *precision) {
  RITZ_HANDLE(pc);
  RITZ_REQUIRE(precision != NULL, pc->ceed, CEED_ERROR_INCOMPATIBLE,
               "RitzPreconditionerGetPrecision: argument 'precision' is NULL");
  *precision = pc->precision;
  return CEED_ERROR_SUCCESS;
}

int64_t ritz_preconditioner_bytes(RitzPreconditioner pc) {
  int64_t num_bytes = pc->methods->bytes ? pc->methods->bytes(pc) : 0;

  for (int i = 0; i < 2; i++) {
    if (pc->converted[i]) num_bytes += (int64_t)pc->n * (int64_t)ritz_scalar_bytes(pc->precision);
  }
  if (pc->correction) num_bytes += (int64_t)pc->n * (int64_t)ritz_scalar_bytes(pc->correction->precision);
  return num_bytes;
}

int RitzPreconditionerGetBytes(RitzPreconditioner pc, int64_t *num_bytes) {
  RITZ_HANDLE(pc);
  RITZ_REQUIRE(num_bytes != NULL, pc->ceed, CEED_ERROR_INCOMPATIBLE,
               "RitzPreconditionerGetBytes: argument 'num_bytes' is NULL");
  *num_bytes = ritz_preconditioner_bytes(pc);
  return CEED_ERROR_SUCCESS;
}

int64_t ritz_pattern_bytes(RitzAssembly assembly) {
  const int64_t *starts = NULL;
  CeedSize num_rows = 0;

  if (!assembly || RitzAssemblyGetPattern(assembly, &num_rows, NULL, &starts, NULL)) return 0;
  return 8 * (num_rows + 1 + starts[num_rows]);
}

// ---- Checks ----

int ritz_check_constraints(Ceed ceed, const char *call, RitzIndices constraints, CeedSize n) {
  const int64_t *entries = NULL;
  int64_t num = 0;

  if (!constraints) return CEED_ERROR_SUCCESS;
  RITZ_TRY(RitzIndicesGet(constraints, &num, &entries));
  RITZ_REQUIRE(num == 0 || entries[num - 1] < (int64_t)n, ceed, CEED_ERROR_DIMENSION,
               "%s: entry %lld is constrained, vectors have %" CeedSize_FMT " entries", call,
               (long long)entries[num - 1], n);
  return CEED_ERROR_SUCCESS;
}

int ritz_operator_square_length(CeedOperator op, const char *call, CeedSize *n) {
  CeedSize input = 0, output = 0;

  RITZ_TRY(CeedOperatorGetActiveVectorLengths(op, &input, &output));
  RITZ_REQUIRE(input >= 0 && output >= 0, op->obj.ceed, CEED_ERROR_INCOMPATIBLE,
               "%s: the operator has no active %s vector", call, input < 0 ? "input" : "output");
  RITZ_REQUIRE(input == output, op->obj.ceed, CEED_ERROR_DIMENSION,
               "%s: the operator maps %" CeedSize_FMT " to %" CeedSize_FMT " entries, it needs to be square",
               call, input, output);
  *n = input;
  return CEED_ERROR_SUCCESS;
}

CeedElemRestriction ritz_operator_active_restriction(CeedOperator op) {
  const CeedOperator part = op->num_sub > 0 ? op->sub[0] : op;
  CeedElemRestriction found = NULL;

  for (CeedInt i = 0; i < part->num_in; i++) {
    if (part->in[i]->vec != CEED_VECTOR_ACTIVE) continue;
    if (found && part->in[i]->rstr != found) return NULL;
    found = part->in[i]->rstr;
  }
  return found;
}

CeedInt ritz_operator_num_components(CeedOperator op) {
  const CeedElemRestriction rstr = ritz_operator_active_restriction(op);

  return rstr ? rstr->num_comp : 1;
}

int ritz_check_operator_of_space(CeedOperator op, const char *call, RitzSpace space,
                                 RitzIndices constraints) {
  CeedSize n = 0, l_size = 0;
  CeedInt num_comp = 0;

  RITZ_TRY(ritz_operator_square_length(op, call, &n));
  RITZ_TRY(RitzSpaceGetSize(space, &l_size));
  RITZ_REQUIRE(n == l_size, op->obj.ceed, CEED_ERROR_DIMENSION,
               "%s: the operator has vectors of %" CeedSize_FMT " entries, the space has %" CeedSize_FMT,
               call, n, l_size);
  RITZ_TRY(RitzSpaceGetNumComponents(space, &num_comp));
  RITZ_REQUIRE(ritz_operator_num_components(op) == num_comp, op->obj.ceed, CEED_ERROR_DIMENSION,
               "%s: the operator has %" CeedInt_FMT " components, the space has %" CeedInt_FMT, call,
               ritz_operator_num_components(op), num_comp);
  return ritz_check_constraints(op->obj.ceed, call, constraints, n);
}

int ritz_check_space_is_continuous(Ceed ceed, const char *call, RitzSpace space) {
  bool is_continuous = true;

  RITZ_TRY(RitzSpaceIsContinuous(space, &is_continuous));
  RITZ_REQUIRE(
      is_continuous, ceed, CEED_ERROR_UNSUPPORTED,
      "%s: the space is discontinuous, needed one whose elements share nodes; blocks of elements are "
      "what RitzPreconditionerCreateDenseSchwarz inverts",
      call);
  return CEED_ERROR_SUCCESS;
}

// ---- Functions of the program ----

typedef struct {
  RitzPreconditionerFunction apply;
  void *ctx; // borrowed, or given to destroy
  RitzDestroyFunction destroy;
  RitzPreconditionerUpdateFunction update; // NULL: none
} Callback;

static int apply_callback(RitzPreconditioner pc, CeedVector r, CeedVector z) {
  const Callback *callback = pc->data;
  return callback->apply(callback->ctx, r, z);
}

static int update_callback(RitzPreconditioner pc) {
  const Callback *callback = pc->data;
  return callback->update ? callback->update(callback->ctx) : CEED_ERROR_SUCCESS;
}

static int destroy_callback(RitzPreconditioner pc) {
  Callback *callback = pc->data;

  if (callback->destroy) callback->destroy(callback->ctx);
  RITZ_FREE(&callback);
  return CEED_ERROR_SUCCESS;
}

static const RitzPreconditionerMethods callback_methods = {.name = "function of the program",
                                                           .apply = apply_callback,
                                                           .update = update_callback,
                                                           .destroy = destroy_callback};

int RitzPreconditionerSetUpdate(RitzPreconditioner pc, RitzPreconditionerUpdateFunction update) {
  RITZ_HANDLE(pc);
  RITZ_REQUIRE(pc->methods == &callback_methods, pc->ceed, CEED_ERROR_INCOMPATIBLE,
               "%s: the preconditioner is '%s', needed '%s'", __func__, pc->methods->name,
               callback_methods.name);
  Callback *callback = pc->data;
  callback->update = update;
  return CEED_ERROR_SUCCESS;
}

int RitzPreconditionerCreate(Ceed ceed, CeedSize n, CeedScalarType precision,
                             RitzPreconditionerFunction apply, void *ctx, RitzDestroyFunction destroy,
                             bool is_symmetric, RitzPreconditioner *pc) {
  Callback *callback = NULL;

  RITZ_HANDLE(ceed);
  RITZ_REQUIRE(pc != NULL, ceed, CEED_ERROR_INCOMPATIBLE, "RitzPreconditionerCreate: argument 'pc' is NULL");
  RITZ_REQUIRE(apply != NULL, ceed, CEED_ERROR_INCOMPATIBLE,
               "RitzPreconditionerCreate: argument 'apply' is NULL");
  RITZ_REQUIRE(n >= 0, ceed, CEED_ERROR_DIMENSION,
               "RitzPreconditionerCreate: length is %" CeedSize_FMT ", needs to be >= 0", n);
  RITZ_TRY(RITZ_CALLOC(ceed, 1, &callback));
  *callback = (Callback){.apply = apply, .ctx = ctx, .destroy = destroy};
  const int ierr = ritz_preconditioner_create(ceed, "RitzPreconditionerCreate", n, precision,
                                              &callback_methods, callback, is_symmetric, pc);
  if (ierr) RITZ_FREE(&callback);
  return ierr;
}
