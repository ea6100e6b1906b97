// SPDX-License-Identifier: BSD-2-Clause
// Schwarz methods as preconditioners and smoothers: subdomains are elements, elements with a layer of nodes
// around them, or vertex patches, solved by fast diagonalization of separable matrices B_K (separable.h).
// Called by programs and by multigrid.
//
//     additive  z = W sum_K E_K^T D B_K^-1 D E_K W r,   W = 1 / sqrt(n), n: subdomains of a node,
//     coloured  x := x + sum_K E_K^T D B_K^-1 D E_K (b - A x)   over the patches of one colour after the
//     other D = sqrt(mean over the subdomains of a node of diag(B_K) / diag(A))
//
// W and D make one vector s, zero on constrained entries, which may be multiplied before and after the
// subdomains are taken apart: z = s (sum_K E_K^T B_K^-1 E_K (s r)) is two passes over vectors and one
// operator, a fused kernel as any other (schwarz-inverse.c).
//
// D makes the method indifferent to coefficients that vary between elements: it does not change when a B_K is
// multiplied by a number. With D of every subdomain by itself, sqrt(diag(B_K) / diag(A)), nodes would have a
// number for each of their subdomains; the mean serves as well (within an iteration of multigrid on the
// meshes of the design's tables). Constrained nodes stay in B_K: removing their rows would take tables of an
// element's own, and gains nothing. Layers beyond the boundary would cost much (the largest eigenvalue
// doubles): overlapped elements there have a layer on one side of each direction alone, and tables of their
// own, a second operator.
//
// Nodes of a layer that are missing refer to entries of their own element beyond the end of vectors
// (ritz/space.h): the first pass leaves these entries of its result zero, the last one does not read them. So
// nothing is copied, and elements that are done side by side do not meet in them.
//
// Patches of a colour share no element, so they share no node of their insides, and one after the other or
// all at once is the same. The residual is that of A, on all elements: a sweep takes as many applications of
// A as there are colours.
#include <math.h>

#include <ritz/operator.h>

#include "core/vector-pass.h"
#include "solver/preconditioner.h"
#include "solver/schwarz.h"

typedef struct {
  RitzSchwarzKind kind;
  CeedOperator op;         // counted
  RitzIndices constraints; // counted
  RitzSystem system;       // owned, coloured patches: A
  CeedVector share;        // owned, [num_nodes]: what the scale is made of beside op's diagonal
  CeedInt num;             // of inverses: colours; sets of subdomains
  CeedOperator *ops;       // owned, [num]: sum_K E_K^T B_K^-1 E_K
  CeedVector scale;        // owned: s
  CeedVector work;         // owned, zero beyond the entries of the space: what the inverses are applied to
  CeedVector other;        // owned: their result, where z or x cannot be; else NULL
  CeedInt dim, degree, num_domains;
  double anisotropy;
} Schwarz;

static bool is_coloured(const Schwarz *s) { return ritz_schwarz_is_coloured(s->kind); }

static bool is_there_and_back(const Schwarz *s) { return s->kind == RITZ_SCHWARZ_SYMMETRIC_PATCHES; }

// ---- Passes ----

// w = s r
const RitzPass ritz_schwarz_scale_into = {
    .name = "schwarz_scale",
    .num_vectors = 3,
    .num_lines = 1,
    .line = {{.to = 2, .num_terms = 1, .term = {{.factor = RITZ_PASS_NONE, .x = 0, .y = 1}}}},
};
// z = s z
const RitzPass ritz_schwarz_scale_in_place = {
    .name = "schwarz_scale_in_place",
    .num_vectors = 2,
    .num_lines = 1,
    .line = {{.to = 1, .num_terms = 1, .term = {{.factor = RITZ_PASS_NONE, .x = 0, .y = 1}}}},
};
// w = s b - s w
static const RitzPass scale_residual = {
    .name = "schwarz_residual",
    .num_vectors = 3,
    .num_lines = 1,
    .line = {{.to = 2,
              .num_terms = 2,
              .term = {{.factor = RITZ_PASS_NONE, .x = 0, .y = 1}, {.factor = 0, .x = 0, .y = 2}}}},
};
// x = x + s z
static const RitzPass add_scaled = {
    .name = "schwarz_add",
    .num_vectors = 3,
    .num_lines = 1,
    .line = {{.to = 2,
              .num_terms = 2,
              .term = {{.factor = RITZ_PASS_NONE, .x = 2, .y = RITZ_PASS_NONE},
                       {.factor = RITZ_PASS_NONE, .x = 0, .y = 1}}}},
};

static int prepare_passes(const Schwarz *s, CeedScalarType precision) {
  const RitzPass *const passes[] = {&ritz_schwarz_scale_into, &ritz_schwarz_scale_in_place, &scale_residual,
                                    &add_scaled};
  RitzPassForm forms[4];
  int num = 0;

  for (int i = 0; i < 4; i++) {
    const bool is_used = i == 0 || (i == 1 ? !s->other : is_coloured(s));
    if (is_used) forms[num++] = ritz_pass_form(passes[i], precision);
  }
  return ritz_passes_prepare(s->scale->obj.ceed, num, forms);
}

// ---- Additive ----

static void get_inverses(RitzPreconditioner pc, RitzInside *inside) {
  const Schwarz *s = pc->data;
  *inside = (RitzInside){s->scale, s->work};
}

static int apply_inverses(RitzPreconditioner pc, CeedVector z, CeedVector *result) {
  const Schwarz *s = pc->data;

  *result = s->other ? s->other : z;
  RITZ_TRY(RitzVectorSetEntries(s->work, s->constraints, 0));
  for (CeedInt i = 0; i < s->num; i++)
    RITZ_TRY((i == 0 ? CeedOperatorApply : CeedOperatorApplyAdd)(s->ops[i], s->work, *result,
                                                                 CEED_REQUEST_IMMEDIATE));
  return CEED_ERROR_SUCCESS;
}

// Constrained entries of r may be anything, even not a number.
static int apply_additive(RitzPreconditioner pc, CeedVector r, CeedVector z) {
  const Schwarz *s = pc->data;
  CeedVector result = NULL;

  RITZ_TRY(
      ritz_pass_run_first(&ritz_schwarz_scale_into, pc->n, (CeedVector[]){s->scale, r, s->work}, NULL, NULL));
  RITZ_TRY(apply_inverses(pc, z, &result));
  if (!s->other) return ritz_pass_run(&ritz_schwarz_scale_in_place, (CeedVector[]){s->scale, z}, NULL, NULL);
  return ritz_pass_run_first(&ritz_schwarz_scale_into, pc->n, (CeedVector[]){s->scale, result, z}, NULL,
                             NULL);
}

// ---- Colour by colour ----

// x := x + s B^-1 s (b - A x) for the patches of a colour; or x := s B^-1 s b.
static int smooth_colour(const Schwarz *s, CeedInt colour, CeedVector b, CeedVector x, bool from_zero) {
  if (from_zero) {
    RITZ_TRY(ritz_pass_run(&ritz_schwarz_scale_into, (CeedVector[]){s->scale, b, s->work}, NULL, NULL));
  } else {
    RITZ_TRY(ritz_system_apply_raw(&s->system, x, s->work));
    RITZ_TRY(ritz_pass_run(&scale_residual, (CeedVector[]){s->scale, b, s->work}, (double[]){-1}, NULL));
  }
  RITZ_TRY(RitzVectorSetEntries(s->work, s->constraints, 0));
  RITZ_TRY(CeedOperatorApply(s->ops[colour], s->work, s->other, CEED_REQUEST_IMMEDIATE));
  return ritz_pass_run(from_zero ? &ritz_schwarz_scale_into : &add_scaled,
                       (CeedVector[]){s->scale, s->other, x}, NULL, NULL);
}

static int sweep(const Schwarz *s, CeedVector b, CeedVector x, bool from_zero, bool is_reversed) {
  if (s->num == 0 && from_zero) return CeedVectorSetValue(x, 0); // all entries are constrained
  for (CeedInt i = 0; i < s->num; i++)
    RITZ_TRY(smooth_colour(s, is_reversed ? s->num - 1 - i : i, b, x, from_zero && i == 0));
  return CEED_ERROR_SUCCESS;
}

// The steps of a sweep 1 - T_c A with T_c symmetric, in reversed order, are its adjoint in the inner product
// of A: what the smoother after a coarse correction has to be for a symmetric cycle.
static int smooth_coloured(RitzPreconditioner pc, CeedVector b, CeedVector x, bool starts_from_zero,
                           bool is_after) {
  const Schwarz *s = pc->data;

  return sweep(s, b, x, starts_from_zero, is_after && is_there_and_back(s));
}

static int apply_coloured(RitzPreconditioner pc, CeedVector r, CeedVector z) {
  const Schwarz *s = pc->data;

  RITZ_TRY(sweep(s, r, z, true, false));
  return is_there_and_back(s) ? sweep(s, r, z, false, true) : CEED_ERROR_SUCCESS;
}

// ---- Questions ----

static int view_schwarz(RitzPreconditioner pc, FILE *stream, int indent) {
  const Schwarz *s = pc->data;
  const bool are_patches = s->kind == RITZ_SCHWARZ_PATCHES || is_coloured(s);

  fprintf(stream, "%*s%s by fast diagonalization: degree %" CeedInt_FMT ", %" CeedInt_FMT " %s, ", indent, "",
          pc->methods->name, s->degree, s->num_domains, are_patches ? "patches" : "elements");
  if (is_coloured(s))
    fprintf(stream, "%" CeedInt_FMT " colours%s, ", s->num, is_there_and_back(s) ? " there and back" : "");
  fprintf(stream, "directions differ by up to %.3g\n", s->anisotropy);
  return CEED_ERROR_SUCCESS;
}

// Vectors and sums of eigenvalues.
static int64_t schwarz_bytes(RitzPreconditioner pc) {
  const Schwarz *s = pc->data;
  const int64_t num_sums = (int64_t)s->num_domains << s->dim;
  const int64_t num =
      pc->n + s->share->length + s->work->length + (s->other ? s->other->length : 0) + num_sums;

  return num * (int64_t)ritz_scalar_bytes(pc->precision);
}

static int update_schwarz(RitzPreconditioner pc) {
  const Schwarz *s = pc->data;
  return ritz_schwarz_renew_scale(s->op, pc->methods->name, s->constraints, s->share, s->scale);
}

static int schwarz_work(RitzPreconditioner pc, RitzSmoothingWork *work) {
  const Schwarz *s = pc->data;

  if (is_coloured(s)) work->num_applies = s->num;
  for (CeedInt i = 0; i < s->num; i++) {
    CeedSize flops = 0;

    RITZ_TRY(CeedOperatorGetFlopsEstimate(s->ops[i], &flops));
    work->flops += (double)flops;
  }
  return CEED_ERROR_SUCCESS;
}

static int free_schwarz(Schwarz *s) {
  int ierr = CEED_ERROR_SUCCESS;

  for (CeedInt i = 0; i < s->num && s->ops; i++)
    ierr = ritz_first_error(ierr, CeedOperatorDestroy(&s->ops[i]));
  ierr = ritz_first_error(ierr, CeedVectorDestroy(&s->share));
  ierr = ritz_first_error(ierr, CeedVectorDestroy(&s->scale));
  ierr = ritz_first_error(ierr, CeedVectorDestroy(&s->work));
  ierr = ritz_first_error(ierr, CeedVectorDestroy(&s->other));
  ierr = ritz_first_error(ierr, CeedOperatorDestroy(&s->op));
  ierr = ritz_first_error(ierr, RitzIndicesDestroy(&s->constraints));
  ierr = ritz_first_error(ierr, ritz_system_destroy(&s->system));
  RITZ_FREE(&s->ops);
  RITZ_FREE(&s);
  return ierr;
}

static int destroy_schwarz(RitzPreconditioner pc) { return free_schwarz(pc->data); }

static int prepare_schwarz(RitzPreconditioner pc) {
  const Schwarz *s = pc->data;
  return RitzOperatorsPrepare(s->num, s->ops, NULL, false);
}

#define ADDITIVE(title)                                                                                      \
  {                                                                                                          \
    .name = title, .apply = apply_additive, .get_inside = get_inverses, .apply_inside = apply_inverses,      \
    .view = view_schwarz, .bytes = schwarz_bytes, .work = schwarz_work, .prepare = prepare_schwarz,          \
    .update = update_schwarz, .destroy = destroy_schwarz                                                     \
  }
#define COLOURED(kind_for_cg)                                                                                \
  {                                                                                                          \
    .name = "coloured vertex patches", .symmetric_form = kind_for_cg, .apply = apply_coloured,               \
    .smooth = smooth_coloured, .view = view_schwarz, .bytes = schwarz_bytes, .work = schwarz_work,           \
    .prepare = prepare_schwarz, .update = update_schwarz, .destroy = destroy_schwarz                         \
  }
static const RitzPreconditionerMethods methods[] = {
    [RITZ_SCHWARZ_ELEMENTS] = ADDITIVE("element-wise Schwarz"),
    [RITZ_SCHWARZ_OVERLAPPED] = ADDITIVE("overlapped Schwarz"),
    [RITZ_SCHWARZ_PATCHES] = ADDITIVE("additive vertex patches"),
    [RITZ_SCHWARZ_COLOURED_PATCHES] = COLOURED("RITZ_SCHWARZ_SYMMETRIC_PATCHES"),
    [RITZ_SCHWARZ_SYMMETRIC_PATCHES] = COLOURED(NULL),
};

// ---- Creation ----

static int create_vectors(CeedScalarType precision, CeedSize length, Schwarz *s) {
  const Ceed ceed = s->scale->obj.ceed;

  RITZ_TRY(RitzVectorCreate(ceed, length, precision, &s->work));
  if (length > s->scale->length) RITZ_TRY(CeedVectorSetValue(s->work, 0));
  if (length == s->scale->length && !is_coloured(s)) return CEED_ERROR_SUCCESS;
  return RitzVectorCreate(ceed, length, precision, &s->other);
}

static void describe_schwarz(const RitzSeparables *separables, Schwarz *s) {
  s->dim = separables->set[0].dim;
  s->degree = separables->set[0].degree;
  s->num = is_coloured(s) ? separables->set[0].num_colours : separables->num;
  for (int i = 0; i < separables->num; i++) {
    s->num_domains += separables->set[i].num_domains;
    s->anisotropy = fmax(s->anisotropy, separables->set[i].anisotropy);
  }
}

static int create_inverses(CeedOperator op, const RitzSeparables *separables, CeedScalarType precision,
                           Schwarz *s) {
  const Ceed ceed = op->obj.ceed;
  const char *name = methods[s->kind].name;
  RitzOperatorUse use;

  RITZ_TRY(RitzOperatorGetUse(op, &use));
  RITZ_TRY(RITZ_CALLOC(ceed, (size_t)s->num, &s->ops));
  for (int i = 0; i < separables->num; i++)
    RITZ_TRY(ritz_schwarz_create_inverses(ceed, name, &separables->set[i], precision, use,
                                          is_coloured(s) ? s->num : 1, s->ops ? s->ops + i : NULL));
  return s->num > 0 ? RitzOperatorsPrepare(s->num, s->ops, NULL, true) : CEED_ERROR_SUCCESS;
}

static int fill_schwarz(CeedOperator op, const char *call, RitzSpace space, const double *factors,
                        RitzIndices constraints, CeedScalarType precision, Schwarz *s) {
  Ceed ceed = op->obj.ceed;
  RitzSeparables separables;
  int ierr;

  RITZ_TRY_CLEANUP(ritz_separables_create(ceed, call, space, s->kind, factors, &separables));
  describe_schwarz(&separables, s);
  RITZ_TRY_CLEANUP(CeedOperatorReferenceCopy(op, &s->op));
  if (is_coloured(s)) RITZ_TRY_CLEANUP(ritz_system_create(ceed, op, NULL, NULL, constraints, &s->system));
  if (constraints) RITZ_TRY_CLEANUP(RitzIndicesReferenceCopy(constraints, &s->constraints));
  RITZ_TRY_CLEANUP(create_inverses(op, &separables, precision, s)); // compiled while the rest is made
  RITZ_TRY_CLEANUP(
      ritz_schwarz_create_scale(op, call, space, constraints, &separables, precision, &s->share, &s->scale));
  RITZ_TRY_CLEANUP(create_vectors(precision, separables.set[0].rstr->l_size, s));
cleanup:
  ritz_separables_clear(&separables);
  return ierr;
}

static int create_schwarz(CeedOperator op, const char *call, RitzSpace space, const double *factors,
                          RitzIndices constraints, RitzSchwarzKind kind, RitzPreconditioner *pc) {
  Ceed ceed = op->obj.ceed;
  CeedScalarType precision = CEED_SCALAR_TYPE;
  Schwarz *s = NULL;
  int ierr;

  RITZ_TRY(ritz_check_operator_of_space(op, call, space, constraints));
  RITZ_TRY(RitzOperatorGetPrecision(op, &precision));
  RITZ_TRY(RITZ_CALLOC(ceed, 1, &s));
  s->kind = kind;
  RITZ_TRY_CLEANUP(fill_schwarz(op, call, space, factors, constraints, precision, s));
  RITZ_TRY_CLEANUP(prepare_passes(s, precision));
  RITZ_TRY_CLEANUP(ritz_preconditioner_create(ceed, call, s->scale->length, precision, &methods[kind], s,
                                              !is_coloured(s) || is_there_and_back(s), pc));
cleanup:
  return ierr ? ritz_first_error(ierr, free_schwarz(s)) : CEED_ERROR_SUCCESS;
}

int RitzPreconditionerCreateSchwarz(CeedOperator op, RitzSpace space, const double *factors,
                                    RitzIndices constraints, RitzSchwarzKind kind, RitzPreconditioner *pc) {
  const char *call = "RitzPreconditionerCreateSchwarz";

  RITZ_HANDLE(op, space, constraints);
  RITZ_ARGUMENT(op->obj.ceed, space);
  RITZ_OPTIONAL(op->obj.ceed, constraints);
  RITZ_REQUIRE(pc != NULL, op->obj.ceed, CEED_ERROR_INCOMPATIBLE, "%s: argument 'pc' is NULL", call);
  RITZ_REQUIRE(kind >= RITZ_SCHWARZ_ELEMENTS && kind <= RITZ_SCHWARZ_SYMMETRIC_PATCHES, op->obj.ceed,
               CEED_ERROR_INCOMPATIBLE, "%s: there is no kind %d of Schwarz methods", call, (int)kind);
  return create_schwarz(op, call, space, factors, constraints, kind, pc);
}

int RitzPreconditionerCreateElementSchwarz(CeedOperator op, RitzSpace space, const double *factors,
                                           RitzIndices constraints, RitzPreconditioner *pc) {
  const char *call = "RitzPreconditionerCreateElementSchwarz";

  RITZ_HANDLE(op, space, constraints);
  RITZ_ARGUMENT(op->obj.ceed, space);
  RITZ_OPTIONAL(op->obj.ceed, constraints);
  RITZ_REQUIRE(pc != NULL, op->obj.ceed, CEED_ERROR_INCOMPATIBLE, "%s: argument 'pc' is NULL", call);
  return create_schwarz(op, call, space, factors, constraints, RITZ_SCHWARZ_ELEMENTS, pc);
}
