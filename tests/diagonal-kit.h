// SPDX-License-Identifier: BSD-2-Clause
// What the tests of diagonals and point blocks by kernels of their own share: random operators on tensor
// bases with passive fields, in any context; what the diagonal is compared with; what RitzOperatorExplain
// says of it. Included by tests/test-diagonal.c and tests/test-gpu-diagonal.c.
#ifndef RITZ_TESTS_DIAGONAL_KIT_H
#define RITZ_TESTS_DIAGONAL_KIT_H

#include "tests/api.h"

#include "tests/grid.h"
#include "tests/random-context.h"
#include "tests/random-qfunction.h"
#include "tests/reference.h"
#include <ceed/backend.h>
#include <math.h>
#include <ritz/operator.h>

// ---- Operators of tensor bases ----

typedef enum { BOX, SCRAMBLED, ORIENTED, STRIDED, NUM_KINDS } Kind;
enum { MAX_ACTIVE = 2 };

// The passive fields are all there or not: values and gradient on a basis of their own, data at the points,
// weights, an output.
typedef struct {
  CeedInt dim, P, Q, num_comp, num_elem;
  CeedInt n; // elements in a direction of a box
  Kind kind;
  CeedQuadMode points;
  bool has_random_tables; // of the basis: no symmetry, and no derivative at the points where P > Q
  CeedInt vec_length;
  int num_in, num_out; // active fields on the space
  CeedEvalMode in[MAX_ACTIVE], out[MAX_ACTIVE];
  bool has_passive;
  bool has_stranger; // an active input on another basis, which meets no output
} Case;

typedef struct {
  Ceed ceed; // owned
  const Case *c;
  CeedElemRestriction rstr, rstr_passive, rstr_data;
  CeedBasis basis, basis_passive, basis_stranger;
  CeedVector passive, data, passive_out, diagonal;
  CeedQFunction qf;
  CeedQFunctionContext qf_context;
  RandomContext context;
  CeedOperator op;
} Problem;

static inline CeedInt between(uint64_t *seed, CeedInt low, CeedInt high) {
  return low + (CeedInt)tap_integer(seed, (int64_t)high - low + 1);
}

static inline CeedEvalMode draw_mode(uint64_t *seed) {
  return tap_integer(seed, 3) ? CEED_EVAL_GRAD : CEED_EVAL_INTERP;
}

static inline Case draw_case(uint64_t *seed) {
  static const CeedInt max_n[] = {0, 21, 5, 3}, max_1d[] = {0, 8, 6, 5};
  Case c = {.dim = between(seed, 1, 3), .vec_length = 1};

  c.kind = (Kind)between(seed, 0, NUM_KINDS - 1);
  c.has_random_tables = !tap_integer(seed, 3);
  c.P = between(seed, c.kind != BOX && c.has_random_tables ? 1 : 2, max_1d[c.dim]);
  c.Q = between(seed, 1, max_1d[c.dim]);
  if (!c.has_random_tables && !tap_integer(seed, 4)) { // the nodes are the points
    c.points = CEED_GAUSS_LOBATTO;
    c.Q = c.P;
  }
  c.num_comp = between(seed, 1, 3);
  c.n = between(seed, 1, max_n[c.dim]);
  c.num_elem = c.kind == BOX ? CeedIntPow(c.n, c.dim) : between(seed, 1, 30);
  c.num_in = between(seed, 1, MAX_ACTIVE);
  c.num_out = between(seed, 1, MAX_ACTIVE);
  for (int i = 0; i < MAX_ACTIVE; i++) {
    c.in[i] = draw_mode(seed);
    c.out[i] = draw_mode(seed);
  }
  c.has_passive = tap_integer(seed, 3);
  c.has_stranger = !tap_integer(seed, 4);
  return c;
}

// Blocks of strided spaces are not defined.
static inline Case draw_block_case(uint64_t *seed) {
  Case c = draw_case(seed);

  if (c.kind == STRIDED) c.kind = SCRAMBLED;
  if (c.kind == SCRAMBLED) c.num_elem = between(seed, 1, 30);
  c.num_comp = between(seed, 2, 6);
  return c;
}

static const char *describe(const Case *c) {
  static const char *const kinds[] = {"box", "scrambled", "oriented", "strided"};
  static char text[256];

  snprintf(text, sizeof(text), "%dD %s, P %d, Q %d %s%s, %d components, %d elements, %d + %d fields%s%s",
           (int)c->dim, kinds[c->kind], (int)c->P, (int)c->Q, CeedQuadModes[c->points],
           c->has_random_tables ? " (random tables)" : "", (int)c->num_comp, (int)c->num_elem, c->num_in,
           c->num_out, c->has_passive ? ", passive ones" : "", c->has_stranger ? ", a stranger" : "");
  return text;
}

// Any nodes of about half as many as the elements have; components interlaced or one after the other.
static inline int make_scrambled(Problem *p, uint64_t *seed) {
  const Case *c = p->c;
  const CeedInt P = CeedIntPow(c->P, c->dim), num = c->num_elem * P, num_nodes = num / 2 + 1;
  const bool is_interlaced = tap_integer(seed, 2);
  CeedInt *offsets = malloc((size_t)num * sizeof(*offsets));
  bool *orients = malloc((size_t)num * sizeof(*orients));
  const CeedInt stride = is_interlaced ? 1 : num_nodes;
  int ierr;

  for (CeedInt i = 0; i < num; i++) {
    offsets[i] = between(seed, 0, num_nodes - 1) * (is_interlaced ? c->num_comp : 1);
    orients[i] = tap_integer(seed, 2);
  }
  if (c->kind == ORIENTED)
    ierr = CeedElemRestrictionCreateOriented(p->ceed, c->num_elem, P, c->num_comp, stride,
                                             (CeedSize)num_nodes * c->num_comp, CEED_MEM_HOST,
                                             CEED_COPY_VALUES, offsets, orients, &p->rstr);
  else
    ierr = CeedElemRestrictionCreate(p->ceed, c->num_elem, P, c->num_comp, stride,
                                     (CeedSize)num_nodes * c->num_comp, CEED_MEM_HOST, CEED_COPY_VALUES,
                                     offsets, &p->rstr);
  free(offsets);
  free(orients);
  return ierr;
}

static inline int make_strided(Ceed ceed, CeedInt num_elem, CeedInt size, CeedInt num_comp,
                               CeedElemRestriction *rstr) {
  const CeedInt strides[3] = {1, size, size * num_comp}; // the same on all backends
  return CeedElemRestrictionCreateStrided(ceed, num_elem, size, num_comp,
                                          (CeedSize)num_elem * size * num_comp, strides, rstr);
}

static inline int make_restriction(Problem *p, uint64_t *seed) {
  const Case *c = p->c;

  if (c->kind == BOX) return grid_create_restriction(p->ceed, c->dim, c->n, c->P - 1, c->num_comp, &p->rstr);
  if (c->kind != STRIDED) return make_scrambled(p, seed);
  return make_strided(p->ceed, c->num_elem, CeedIntPow(c->P, c->dim), c->num_comp, &p->rstr);
}

static inline int make_random_vector(CeedElemRestriction rstr, uint64_t *seed, CeedVector *vec) {
  CeedScalar *values;
  CeedSize n;

  CeedCall(CeedElemRestrictionCreateVector(rstr, vec, NULL));
  CeedCall(CeedVectorGetLength(*vec, &n));
  CeedCall(CeedVectorGetArrayWrite(*vec, CEED_MEM_HOST, &values));
  for (CeedSize i = 0; i < n; i++) values[i] = (CeedScalar)tap_uniform(seed);
  return CeedVectorRestoreArray(*vec, &values);
}

static inline int make_random_basis(Problem *p, uint64_t *seed, CeedBasis *basis) {
  const Case *c = p->c;
  const CeedInt num = c->P * c->Q;
  CeedScalar *tables = malloc((size_t)(2 * num + 2 * c->Q) * sizeof(*tables));

  for (CeedInt i = 0; i < 2 * num + 2 * c->Q; i++) tables[i] = (CeedScalar)tap_uniform(seed);
  const int ierr = CeedBasisCreateTensorH1(p->ceed, c->dim, c->num_comp, c->P, c->Q, tables, tables + num,
                                           tables + 2 * num, tables + 2 * num + c->Q, basis);
  free(tables);
  return ierr;
}

static inline int make_basis(Problem *p, uint64_t *seed) {
  const Case *c = p->c;

  if (c->has_random_tables) return make_random_basis(p, seed, &p->basis);
  return CeedBasisCreateTensorH1Lagrange(p->ceed, c->dim, c->num_comp, c->P, c->Q, c->points, &p->basis);
}

enum { PASSIVE_P = 2, NUM_DATA = 2 };

static inline int make_passive(Problem *p, uint64_t *seed) {
  const Case *c = p->c;

  CeedCall(make_strided(p->ceed, c->num_elem, CeedIntPow(PASSIVE_P, c->dim), 1, &p->rstr_passive));
  CeedCall(make_strided(p->ceed, c->num_elem, CeedIntPow(c->Q, c->dim), NUM_DATA, &p->rstr_data));
  CeedCall(
      CeedBasisCreateTensorH1Lagrange(p->ceed, c->dim, 1, PASSIVE_P, c->Q, CEED_GAUSS, &p->basis_passive));
  CeedCall(make_random_vector(p->rstr_passive, seed, &p->passive));
  CeedCall(make_random_vector(p->rstr_data, seed, &p->data));
  return make_random_vector(p->rstr, seed, &p->passive_out);
}

// Fields of the QFunction in their order; D changes from point to point with the passive inputs.
static inline int add_field(Problem *p, bool is_input, bool is_active, CeedInt size, CeedEvalMode mode) {
  RandomContext *k = &p->context;
  char name[24];

  if (is_input) {
    k->is_active[k->num_in] = is_active;
    k->in_size[k->num_in] = size;
    snprintf(name, sizeof(name), "in %d", (int)k->num_in++);
    return CeedQFunctionAddInput(p->qf, name, size, mode);
  }
  k->out_size[k->num_out] = size;
  snprintf(name, sizeof(name), "out %d", (int)k->num_out++);
  return CeedQFunctionAddOutput(p->qf, name, size, mode);
}

static inline CeedInt size_of(const Case *c, CeedEvalMode mode) {
  return c->num_comp * (mode == CEED_EVAL_GRAD ? c->dim : 1);
}

static inline int add_fields(Problem *p) {
  const Case *c = p->c;

  if (c->has_passive) CeedCall(add_field(p, true, false, 1, CEED_EVAL_WEIGHT));
  CeedCall(add_field(p, true, true, size_of(c, c->in[0]), c->in[0]));
  if (c->has_passive) {
    CeedCall(add_field(p, true, false, c->dim, CEED_EVAL_GRAD));
    CeedCall(add_field(p, true, false, NUM_DATA, CEED_EVAL_NONE));
  }
  if (c->has_stranger) CeedCall(add_field(p, true, true, c->num_comp, CEED_EVAL_INTERP));
  if (c->num_in > 1) CeedCall(add_field(p, true, true, size_of(c, c->in[1]), c->in[1]));
  CeedCall(add_field(p, false, true, size_of(c, c->out[0]), c->out[0]));
  if (c->has_passive) CeedCall(add_field(p, false, false, c->num_comp, CEED_EVAL_INTERP));
  if (c->num_out > 1) CeedCall(add_field(p, false, true, size_of(c, c->out[1]), c->out[1]));
  return CEED_ERROR_SUCCESS;
}

static inline void draw_context(RandomContext *k, uint64_t *seed) {
  CeedInt n = 0;

  for (CeedInt f = 0; f < k->num_in; f++) {
    for (CeedInt s = 0; s < k->in_size[f]; s++, n++)
      k->mix[n] = k->is_active[f] ? 0 : (CeedScalar)(0.5 * tap_uniform(seed));
  }
  for (int o = 0; o < RANDOM_MAX_SCALARS; o++) {
    for (int i = 0; i < RANDOM_MAX_SCALARS; i++) k->matrix[o][i] = (CeedScalar)tap_uniform(seed);
  }
  // no terms without active inputs: the operator is linear
  for (CeedInt f = 0, i = 0; f < k->num_in; i += k->in_size[f++]) {
    for (CeedInt s = 0; s < k->in_size[f] && !k->is_active[f]; s++) {
      for (int o = 0; o < RANDOM_MAX_SCALARS; o++) k->matrix[o][i + s] = 0;
    }
  }
}

static inline int set_context(Problem *p, uint64_t *seed) {
  draw_context(&p->context, seed);
  return CeedQFunctionContextSetData(p->qf_context, CEED_MEM_HOST, CEED_COPY_VALUES, sizeof(p->context),
                                     &p->context);
}

static inline int make_qfunction(Problem *p, uint64_t *seed) {
  CeedCall(CeedQFunctionCreateInterior(p->ceed, p->c->vec_length, RandomAffine, RandomAffine_loc, &p->qf));
  CeedCall(add_fields(p));
  CeedCall(CeedQFunctionContextCreate(p->ceed, &p->qf_context));
  CeedCall(set_context(p, seed));
  CeedCall(CeedQFunctionSetContext(p->qf, p->qf_context));
  return CeedQFunctionSetContextWritable(p->qf, false);
}

// In the order of add_fields.
static inline int set_fields(Problem *p) {
  const Case *c = p->c;
  const CeedElemRestriction none = CEED_ELEMRESTRICTION_NONE;
  const CeedVector active = CEED_VECTOR_ACTIVE;
  char name[24];
  int i = 0, o = 0;

#define IN(rstr, basis, vec)                                                                                 \
  CeedCall((snprintf(name, sizeof(name), "in %d", i++), CeedOperatorSetField(p->op, name, rstr, basis, vec)))
#define OUT(rstr, basis, vec)                                                                                \
  CeedCall((snprintf(name, sizeof(name), "out %d", o++), CeedOperatorSetField(p->op, name, rstr, basis, vec)))
  if (c->has_passive) IN(none, p->basis, CEED_VECTOR_NONE);
  IN(p->rstr, p->basis, active);
  if (c->has_passive) {
    IN(p->rstr_passive, p->basis_passive, p->passive);
    IN(p->rstr_data, CEED_BASIS_NONE, p->data);
  }
  if (c->has_stranger) IN(p->rstr, p->basis_stranger, active);
  if (c->num_in > 1) IN(p->rstr, p->basis, active);
  OUT(p->rstr, p->basis, active);
  if (c->has_passive) OUT(p->rstr, p->basis, p->passive_out);
  if (c->num_out > 1) OUT(p->rstr, p->basis, active);
#undef IN
#undef OUT
  return CEED_ERROR_SUCCESS;
}

// The same operator for the same seed. To be closed in any case.
static inline int open_problem(const char *resource, const Case *c, uint64_t seed, Problem *p) {
  *p = (Problem){.ceed = tap_ceed(resource), .c = c};
  CeedCall(make_restriction(p, &seed));
  CeedCall(make_basis(p, &seed));
  if (c->has_stranger) CeedCall(make_random_basis(p, &seed, &p->basis_stranger));
  if (c->has_passive) CeedCall(make_passive(p, &seed));
  CeedCall(make_qfunction(p, &seed));
  CeedCall(CeedOperatorCreate(p->ceed, p->qf, NULL, NULL, &p->op));
  CeedCall(set_fields(p));
  CeedCall(CeedElemRestrictionCreateVector(p->rstr, &p->diagonal, NULL));
  return CeedVectorSetValue(p->diagonal, 1);
}

static inline void close_problem(Problem *p) {
  CeedElemRestriction rstrs[] = {p->rstr, p->rstr_passive, p->rstr_data};
  CeedBasis bases[] = {p->basis, p->basis_passive, p->basis_stranger};
  CeedVector vecs[] = {p->passive, p->data, p->passive_out, p->diagonal};

  CeedOperatorDestroy(&p->op);
  CeedQFunctionDestroy(&p->qf);
  CeedQFunctionContextDestroy(&p->qf_context);
  for (size_t i = 0; i < 3; i++) CeedElemRestrictionDestroy(&rstrs[i]);
  for (size_t i = 0; i < 3; i++) CeedBasisDestroy(&bases[i]);
  for (size_t i = 0; i < 4; i++) CeedVectorDestroy(&vecs[i]);
  CeedDestroy(&p->ceed);
}

// ---- Diagonals ----

static inline double *new_diagonal(Problem *p, bool adds) {
  const int ierr = (adds ? CeedOperatorLinearAssembleAddDiagonal
                         : CeedOperatorLinearAssembleDiagonal)(p->op, p->diagonal, CEED_REQUEST_IMMEDIATE);

  return tap_check_ok(ierr, __FILE__, __LINE__, "diagonal") ? reference_new_values(p->diagonal) : NULL;
}

// Blocks [node][c_out][c_in]; adds: to ones.
static inline double *new_blocks(Problem *p, bool adds) {
  CeedVector blocks = NULL;
  CeedSize n = vector_length(p->diagonal) * p->c->num_comp;
  int ierr = CeedVectorCreate(p->ceed, n, &blocks);

  if (!ierr && adds) ierr = CeedVectorSetValue(blocks, 1);
  if (!ierr)
    ierr = (adds ? CeedOperatorLinearAssembleAddPointBlockDiagonal
                 : CeedOperatorLinearAssemblePointBlockDiagonal)(p->op, blocks, CEED_REQUEST_IMMEDIATE);
  double *values = ierr ? NULL : reference_new_values(blocks);
  CeedVectorDestroy(&blocks);
  return tap_check_ok(ierr, __FILE__, __LINE__, "point blocks") ? values : NULL;
}

// The line of RitzOperatorExplain that begins with `head`; free().
static inline char *new_explanation(CeedOperator op, const char *head) {
  Capture c;
  const int ierr = RitzOperatorExplain(op, capture_begin(&c));

  fclose(c.stream);
  char *begin = ierr ? NULL : strstr(c.text, head);
  const size_t length = begin ? strcspn(begin, "\n") : 0;
  char *line = calloc(length + 1, 1);
  if (begin) memcpy(line, begin, length);
  free(c.text);
  return line;
}

static const char of_diagonal[] = "  diagonal: ", of_blocks[] = "  point blocks: ";

static inline bool explains_of(CeedOperator op, const char *head, const char *words) {
  char *line = new_explanation(op, head);
  const bool does = strstr(line, words);

  if (!does) tap_note("%s", line);
  free(line);
  return does;
}

static inline bool explains(CeedOperator op, const char *words) {
  return explains_of(op, of_diagonal, words);
}

// The kernel is there: it has run.
static inline bool is_fused_of(CeedOperator op, const char *head) {
  char *line = new_explanation(op, head);
  const bool is = strstr(line, "one generated kernel") && !strstr(line, "not compiled yet");

  if (!is) tap_note("%s", line);
  free(line);
  return is;
}

static inline bool is_fused(CeedOperator op) { return is_fused_of(op, of_diagonal); }

// Both sum the same terms in another order: of D, and of products of two tables along each direction, whose
// entries are up to P^2 and nearly cancel.
static inline double tolerance(const Case *c, CeedSize n, const double *wanted) {
  const double terms = c->dim * (c->P + c->Q) + RANDOM_MAX_SCALARS;
  return eps * terms * c->P * c->P * (1 + reference_largest(n, wanted));
}

// The same diagonal, or point blocks, from both; their vectors are overwritten or added to.
static inline void check_same_of(Problem *p, Problem *oracle, bool is_block, bool adds) {
  double *a = (is_block ? new_blocks : new_diagonal)(p, adds);
  double *b = (is_block ? new_blocks : new_diagonal)(oracle, adds);
  const CeedSize n = vector_length(p->diagonal) * (is_block ? p->c->num_comp : 1);
  const double error = a && b ? reference_distance(n, a, b) : NAN, allowed = b ? tolerance(p->c, n, b) : 0;

  free(a);
  free(b);
  CHECK_NEAR(error, 0, allowed, "%s", describe(p->c));
}

static inline void check_same(Problem *p, Problem *oracle, bool adds) {
  check_same_of(p, oracle, false, adds);
}

static inline void check_same_blocks(Problem *p, Problem *oracle, bool adds) {
  check_same_of(p, oracle, true, adds);
}

static inline int change_inputs(Problem *p, uint64_t seed) {
  CeedVector fresh = NULL;

  for (int i = 0; i < 2 && p->c->has_passive; i++) {
    CeedCall(make_random_vector(i ? p->rstr_data : p->rstr_passive, &seed, &fresh));
    CeedCall(CeedVectorCopy(fresh, i ? p->data : p->passive));
    CeedCall(CeedVectorDestroy(&fresh));
  }
  return set_context(p, &seed);
}

// ---- /cpu/self/gen against the reference backend ----

static inline bool runs_as_wanted(CeedOperator op, bool is_block, bool is_once) {
  const char *head = is_block ? of_blocks : of_diagonal;

  if (!is_once) return is_fused_of(op, head);
  return explains_of(op, head,
                     is_block ? "the ahead-of-time kernel for each column, " : "the ahead-of-time kernel, ");
}

static inline void check_against(Problem *p, Problem *oracle, bool is_block, bool is_once, uint64_t seed) {
  if (is_once) CHECK_OK(RitzOperatorSetUse(p->op, RITZ_USE_ONCE));
  check_same_of(p, oracle, is_block, true);
  if (!tap_failed()) CHECK(runs_as_wanted(p->op, is_block, is_once), "%s", describe(p->c));
  if (!tap_failed()) CHECK_OK(change_inputs(p, seed));
  if (!tap_failed()) CHECK_OK(change_inputs(oracle, seed));
  if (!tap_failed()) check_same_of(p, oracle, is_block, false);
}

// Of random data: the diagonal or the point blocks, before and after the inputs change. is_once: used once,
// and nothing in the cache.
static inline void check_random(const Case *c, bool is_block, bool is_once, int threads, uint64_t seed) {
  Problem p, oracle;
  char resource[64];

  snprintf(resource, sizeof(resource), "/cpu/self/gen:threads=%d", threads);
  int ierr = open_problem("/cpu/self/ref", c, seed, &oracle), code = open_problem(resource, c, seed, &p);
  if (!ierr && !code) check_against(&p, &oracle, is_block, is_once, seed + 1);
  if (tap_failed()) tap_note("seed %d, %d threads: %s", (int)seed, threads, describe(c));
  close_problem(&p);
  close_problem(&oracle);
  CHECK_OK(ierr);
  CHECK_OK(code);
}

// ---- Cases ----

// Of 2D elements, with everything that a case may have.
static const Case rich = {.dim = 2,
                          .P = 3,
                          .Q = 4,
                          .num_comp = 2,
                          .num_elem = 25,
                          .n = 5,
                          .vec_length = 1,
                          .num_in = 2,
                          .num_out = 2,
                          .in = {CEED_EVAL_GRAD, CEED_EVAL_INTERP},
                          .out = {CEED_EVAL_INTERP, CEED_EVAL_GRAD},
                          .has_passive = true,
                          .has_stranger = true};

static const Case plain = {.dim = 2,
                           .P = 2,
                           .Q = 3,
                           .num_comp = 1,
                           .num_elem = 9,
                           .n = 3,
                           .vec_length = 1,
                           .num_in = 1,
                           .num_out = 1,
                           .in = {CEED_EVAL_GRAD},
                           .out = {CEED_EVAL_GRAD}};

// ---- Changes of a problem ----

static inline int reuse(Problem *p) { return CeedOperatorSetQFunctionAssemblyReuse(p->op, true); }

// The operator anew, for a QFunction or a basis that has changed.
static inline int remake(Problem *p) {
  CeedCall(CeedOperatorDestroy(&p->op));
  CeedCall(CeedOperatorCreate(p->ceed, p->qf, NULL, NULL, &p->op));
  return set_fields(p);
}

// Any matrices: those of a tensor basis are not asked for.
static inline int use_dense_basis(Problem *p) {
  CeedScalar table[2 * 9 * 4];

  for (int i = 0; i < 2 * 9 * 4; i++) table[i] = (CeedScalar)(i % 5 - 2) / 3;
  CeedCall(CeedBasisDestroy(&p->basis));
  CeedCall(CeedBasisCreateH1(p->ceed, CEED_TOPOLOGY_QUAD, 1, 4, 9, table, table, table, table, &p->basis));
  return remake(p);
}

// The second fields of the case move to the other basis.
static inline int split_space(Problem *p) {
  CeedCall(CeedOperatorDestroy(&p->op));
  CeedCall(CeedOperatorCreate(p->ceed, p->qf, NULL, NULL, &p->op));
  CeedCall(CeedOperatorSetField(p->op, "in 0", p->rstr, p->basis, CEED_VECTOR_ACTIVE));
  CeedCall(CeedOperatorSetField(p->op, "in 1", p->rstr, p->basis_stranger, CEED_VECTOR_ACTIVE));
  CeedCall(CeedOperatorSetField(p->op, "out 0", p->rstr, p->basis, CEED_VECTOR_ACTIVE));
  return CeedOperatorSetField(p->op, "out 1", p->rstr, p->basis_stranger, CEED_VECTOR_ACTIVE);
}

#endif
