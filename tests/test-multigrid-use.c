// SPDX-License-Identifier: BSD-2-Clause
// p-multigrid levels in use: composites and their multiplicity, names and flops of the operators, arguments
// that may be left out, misuse, failing memory. What the operators compute: test-multigrid.c.
#include "tests/tap.h"

#include "base/memory.h"
#include "tests/api.h"
#include "tests/grid.h"
#include "tests/levels.h"
#include "tests/reference.h"
#include <ceed/backend.h>

// ---- Composites ----

// Restriction to some of the elements of another one.
static int select_elements(CeedElemRestriction all, CeedInt first, CeedInt num, CeedElemRestriction *part) {
  CeedInt elem_size = 0, num_comp = 0, comp_stride = 0;
  CeedSize l_size = 0;
  const CeedInt *offsets = NULL;

  CeedElemRestrictionGetElementSize(all, &elem_size);
  CeedElemRestrictionGetNumComponents(all, &num_comp);
  CeedElemRestrictionGetCompStride(all, &comp_stride);
  CeedElemRestrictionGetLVectorSize(all, &l_size);
  int ierr = CeedElemRestrictionGetOffsets(all, CEED_MEM_HOST, &offsets);

  if (!ierr) {
    ierr =
        CeedElemRestrictionCreate(CeedElemRestrictionReturnCeed(all), num, elem_size, num_comp, comp_stride,
                                  l_size, CEED_MEM_HOST, CEED_COPY_VALUES, offsets + first * elem_size, part);
  }
  if (offsets) CeedElemRestrictionRestoreOffsets(all, &offsets);
  return ierr;
}

typedef struct {
  CeedInt first[3], num[3]; // elements of each part
  CeedOperator fine, coarse, prolong, restrict_op;
} Parts;

// A composite of three parts of the grid's elements; whole: the level of the operator on all elements.
static int create_part(Ceed ceed, const LevelsProblem *p, const Levels *whole, CeedInt first, CeedInt num,
                       Levels *part) {
  CeedInt per_element = p->dim * CeedIntPow(2, p->dim);
  double *corners = levels_allocate((CeedSize)CeedIntPow(p->n, p->dim) * per_element);
  const GridElements elements = {p->dim, num, corners + (CeedSize)first * per_element};

  *part = (Levels){.num_fine = whole->num_fine, .num_coarse = whole->num_coarse};
  grid_corners(p->dim, p->n, p->shift, corners);
  int ierr = select_elements(whole->rstr_fine, first, num, &part->rstr_fine);

  if (!ierr) ierr = select_elements(whole->rstr_coarse, first, num, &part->rstr_coarse);
  if (!ierr) ierr = CeedBasisReferenceCopy(whole->basis_fine, &part->basis_fine);
  if (!ierr) ierr = CeedBasisReferenceCopy(whole->basis_coarse, &part->basis_coarse);
  if (!ierr) {
    ierr = grid_create_operator(ceed, &elements, whole->Q_1d, p->is_laplacian, part->rstr_fine,
                                part->basis_fine, &part->op_fine);
  }
  free(corners);
  return ierr;
}

static void create_parts(Ceed ceed, const LevelsProblem *p, const Levels *whole, Parts *c) {
  Levels parts[3];
  CeedVector mult = NULL;

  CHECK_OK(CeedOperatorCreateComposite(ceed, &c->fine));
  CHECK_OK(CeedOperatorCreateComposite(ceed, &c->coarse));
  CHECK_OK(CeedOperatorCreateComposite(ceed, &c->prolong));
  CHECK_OK(CeedOperatorCreateComposite(ceed, &c->restrict_op));
  for (int i = 0; i < 3; i++) {
    CHECK_OK(create_part(ceed, p, whole, c->first[i], c->num[i], &parts[i]));
    CHECK_OK(CeedOperatorCompositeAddSub(c->fine, parts[i].op_fine));
  }
  CHECK_OK(CeedVectorCreate(ceed, whole->num_fine, &mult));
  CHECK_OK(CeedOperatorCompositeGetMultiplicity(c->fine, 0, NULL, mult));
  for (int i = 0; i < 3; i++) {
    CHECK_OK(CeedVectorReferenceCopy(mult, &parts[i].p_mult));
    CHECK_OK(levels_create_level(p, LEVELS_PLAIN, &parts[i]));
    CHECK_OK(CeedOperatorCompositeAddSub(c->coarse, parts[i].op_coarse));
    CHECK_OK(CeedOperatorCompositeAddSub(c->prolong, parts[i].prolong));
    CHECK_OK(CeedOperatorCompositeAddSub(c->restrict_op, parts[i].restrict_op));
    levels_destroy(&parts[i]);
  }
  CeedVectorDestroy(&mult);
}

static void check_same_action(CeedOperator a, CeedOperator b, CeedSize n_in, CeedSize n_out,
                              double tolerance) {
  uint64_t seed = 9;
  double *u = levels_allocate_random(n_in, &seed), *v = levels_allocate(n_out), *w = levels_allocate(n_out);

  CHECK_OK(levels_apply(a, n_in, u, n_out, v));
  CHECK_OK(levels_apply(b, n_in, u, n_out, w));
  for (CeedSize i = 0; i < n_out; i++) {
    CHECK_NEAR(v[i], w[i], tolerance * (1 + levels_largest(n_out, w)), "entry %td", i);
  }
  free(u);
  free(v);
  free(w);
}

// With the multiplicity as p the transfers of the parts add up to those of the whole. The first part and the
// last one touch in a corner.
TEST_EACH_BACKEND(levels_of_a_composite_with_its_multiplicity_add_up_to_the_whole) {
  const LevelsProblem p = {2, 3, 3, 2, 3, 0.2, true, false};
  Levels l;
  Parts c = {.first = {0, 2, 6}, .num = {2, 4, 3}};

  CHECK_OK(levels_create(ceed, &p, LEVELS_PLAIN, &l));
  create_parts(ceed, &p, &l, &c);
  if (tap_failed()) return;
  check_same_action(c.fine, l.op_fine, l.num_fine, l.num_fine, 100 * eps);
  check_same_action(c.coarse, l.op_coarse, l.num_coarse, l.num_coarse, 100 * eps);
  check_same_action(c.prolong, l.prolong, l.num_coarse, l.num_fine, 100 * eps);
  check_same_action(c.restrict_op, l.restrict_op, l.num_fine, l.num_coarse, 100 * eps);
  CeedOperatorDestroy(&c.fine);
  CeedOperatorDestroy(&c.coarse);
  CeedOperatorDestroy(&c.prolong);
  CeedOperatorDestroy(&c.restrict_op);
  levels_destroy(&l);
}

// A line of four elements in three parts, {0, 1}, {2}, {2, 3}; linear elements, interlaced components.
TEST_EACH_BACKEND(multiplicity_counts_the_parts_that_touch_an_entry) {
  const LevelsProblem p = {1, 4, 1, 1, 3, 0, false, false};
  const CeedInt first[3] = {0, 2, 2}, num[3] = {2, 1, 2};
  const struct {
    CeedInt num_skip, skip[3];
    double wanted[5];
  } rows[] = {{0, {0}, {1, 1, 3, 2, 1}},
              {1, {1}, {1, 1, 2, 1, 1}},
              {2, {2, 0}, {0, 0, 1, 1, 0}},
              {3, {0, 1, 2}, {0, 0, 0, 0, 0}},
              {3, {1, 1, 7}, {1, 1, 2, 1, 1}}};
  CeedOperator composite = NULL;
  CeedVector mult = NULL;
  Levels l;
  double values[17];

  CHECK_OK(levels_create_spaces(ceed, &p, &l));
  CHECK_OK(CeedOperatorCreateComposite(ceed, &composite));
  CHECK_OK(CeedVectorCreate(ceed, 17, &mult)); // longer than needed
  for (int i = 0; i < 3; i++) {
    Levels part;

    CHECK_OK(create_part(ceed, &p, &l, first[i], num[i], &part));
    CHECK_OK(CeedOperatorCompositeAddSub(composite, part.op_fine));
    levels_destroy(&part);
  }
  for (size_t r = 0; r < sizeof(rows) / sizeof(rows[0]); r++) {
    CHECK_OK(CeedVectorSetValue(mult, 7));
    CHECK_OK(
        CeedOperatorCompositeGetMultiplicity(composite, rows[r].num_skip, (CeedInt *)rows[r].skip, mult));
    reference_values(mult, values);
    for (int i = 0; i < 17; i++) {
      CHECK(values[i] == (i < 15 ? rows[r].wanted[i / 3] : 0), "row %zu, entry %d is %g", r, i, values[i]);
    }
  }
  CeedVectorDestroy(&mult);
  CeedOperatorDestroy(&composite);
  levels_destroy(&l);
}

TEST_EACH_BACKEND(multiplicity_without_parts_is_zero_and_misuse_is_refused) {
  const LevelsProblem p = {1, 2, 1, 1, 1, 0, false, false};
  CeedOperator empty = NULL, full = NULL;
  CeedVector mult = NULL;
  Levels l;

  CHECK_OK(levels_create_spaces(ceed, &p, &l));
  CHECK_OK(CeedVectorCreate(ceed, 2, &mult));
  CHECK_OK(CeedOperatorCreateComposite(ceed, &empty));
  CHECK_OK(CeedOperatorCreateComposite(ceed, &full));
  CHECK_OK(CeedOperatorCompositeAddSub(full, l.op_fine));
  CHECK_OK(CeedOperatorCompositeGetMultiplicity(empty, 0, NULL, mult));
  CHECK_HOLDS(mult, 0, 0);
  CHECK_ERROR(ceed, CeedOperatorCompositeGetMultiplicity(l.op_fine, 0, NULL, mult), CEED_ERROR_MINOR,
              "composite");
  CHECK_ERROR(ceed, CeedOperatorCompositeGetMultiplicity(full, 0, NULL, mult), CEED_ERROR_DIMENSION,
              "needed 3");
  CHECK_ERROR(ceed, CeedOperatorCompositeGetMultiplicity(full, 1, NULL, mult), CEED_ERROR_INCOMPATIBLE,
              "NULL");
  CHECK_ERROR(NULL, CeedOperatorCompositeGetMultiplicity(full, 0, NULL, NULL), CEED_ERROR_INCOMPATIBLE,
              "NULL");
  CeedVectorDestroy(&mult);
  CeedOperatorDestroy(&empty);
  CeedOperatorDestroy(&full);
  levels_destroy(&l);
}

// ---- What the operators look like ----

TEST_EACH_BACKEND(operators_of_a_level_are_ready_and_named) {
  const LevelsProblem p = {2, 2, 2, 1, 3, 0, true, false};
  const char *name = "";
  CeedOperatorField field = NULL;
  CeedSize flops_prolong = 0, flops_restriction = 0, flops_basis = 0, flops_transpose = 0, size = 0;
  CeedBasis transfer = NULL;
  Levels l;

  CHECK_OK(levels_create_spaces(ceed, &p, &l));
  for (int is_named = 0; is_named < 2; is_named++) {
    CHECK_OK(CeedOperatorSetName(l.op_fine, is_named ? "stiffness" : NULL));
    CHECK_OK(levels_create_level(&p, LEVELS_PLAIN, &l));
    CHECK_OK(CeedOperatorGetName(l.prolong, &name));
    CHECK(!strcmp(name, is_named ? "prolongation for stiffness" : "prolongation"), "%s", name);
    CHECK_OK(CeedOperatorGetName(l.restrict_op, &name));
    CHECK(!strcmp(name, is_named ? "restriction for stiffness" : "restriction"), "%s", name);
    CHECK_OK(CeedOperatorGetName(l.op_coarse, &name));
    CHECK(!strcmp(name, is_named ? "stiffness" : "Vector3Poisson2DApply"), "%s", name);
    CHECK_ERROR(ceed,
                CeedOperatorSetField(l.op_coarse, "du", l.rstr_coarse, l.basis_coarse, CEED_VECTOR_ACTIVE),
                CEED_ERROR_MAJOR, "in use");
    if (!is_named) levels_destroy_transfers(&l);
  }
  const char *const fields[] = {"input", "scale", "output"};

  for (int i = 0; i < 3; i++) {
    CHECK_OK(CeedOperatorGetFieldByName(l.prolong, fields[i], &field));
    CHECK(field, "prolongation has no field '%s'", fields[i]);
    CHECK_OK(CeedOperatorGetFieldByName(l.restrict_op, fields[i], &field));
    CHECK(field, "restriction has no field '%s'", fields[i]);
  }

  // 4 elements; the QFunction takes 3 flops at each of the 9 fine nodes, scattering 1 for each value.
  CHECK_OK(CeedOperatorGetActiveBasis(l.prolong, &transfer));
  CHECK_OK(CeedBasisGetFlopsEstimate(transfer, CEED_NOTRANSPOSE, CEED_EVAL_INTERP, false, 0, &flops_basis));
  CHECK_OK(CeedBasisGetFlopsEstimate(transfer, CEED_TRANSPOSE, CEED_EVAL_INTERP, false, 0, &flops_transpose));
  CHECK_OK(CeedOperatorGetFlopsEstimate(l.prolong, &flops_prolong));
  CHECK_OK(CeedOperatorGetFlopsEstimate(l.restrict_op, &flops_restriction));
  size = 4 * 9 * 3;
  CHECK(flops_prolong == 4 * flops_basis + size + size, "prolongation: %td flops", flops_prolong);
  CHECK(flops_restriction == 4 * flops_transpose + size + 4 * 4 * 3, "restriction: %td flops",
        flops_restriction);
  CeedBasisDestroy(&transfer);
  levels_destroy(&l);
}

// The coarse operator alone needs neither p nor a table; one transfer operator may be left out.
TEST_EACH_BACKEND(transfer_operators_are_made_on_request_only) {
  const LevelsProblem p = {2, 2, 2, 1, 1, 0, true, false};
  Levels l;

  CHECK_OK(levels_create_spaces(ceed, &p, &l));
  CHECK_OK(CeedOperatorMultigridLevelCreate(l.op_fine, NULL, l.rstr_coarse, l.basis_coarse, &l.op_coarse,
                                            NULL, NULL));
  CeedOperatorDestroy(&l.op_coarse);
  CHECK_OK(CeedOperatorMultigridLevelCreateTensorH1(l.op_fine, NULL, l.rstr_coarse, l.basis_coarse, NULL,
                                                    &l.op_coarse, NULL, NULL));
  CeedOperatorDestroy(&l.op_coarse);
  CHECK_OK(CeedOperatorMultigridLevelCreateH1(l.op_fine, NULL, l.rstr_coarse, l.basis_coarse, NULL,
                                              &l.op_coarse, NULL, NULL));
  CeedOperatorDestroy(&l.op_coarse);
  CHECK_OK(CeedOperatorMultigridLevelCreate(l.op_fine, l.p_mult, l.rstr_coarse, l.basis_coarse, &l.op_coarse,
                                            &l.prolong, NULL));
  CeedOperatorDestroy(&l.op_coarse);
  CHECK_OK(CeedOperatorMultigridLevelCreate(l.op_fine, l.p_mult, l.rstr_coarse, l.basis_coarse, &l.op_coarse,
                                            NULL, &l.restrict_op));
  levels_check_transpose(&p, &l);
  levels_destroy(&l);
}

// ---- Misuse ----

// The call of one variant with arguments that a row of the table below changes.
static int call_variant(LevelsVariant v, CeedOperator fine, CeedVector p, CeedElemRestriction rstr,
                        CeedBasis basis, const CeedScalar *table, bool has_transfer,
                        CeedOperator results[3]) {
  CeedOperator *prolong = has_transfer ? &results[1] : NULL, *restrict_op = has_transfer ? &results[2] : NULL;

  if (v == LEVELS_PLAIN) {
    return CeedOperatorMultigridLevelCreate(fine, p, rstr, basis, &results[0], prolong, restrict_op);
  }
  return (v == LEVELS_TENSOR_H1 ? CeedOperatorMultigridLevelCreateTensorH1
                                : CeedOperatorMultigridLevelCreateH1)(fine, p, rstr, basis, table,
                                                                      &results[0], prolong, restrict_op);
}

TEST_EACH_BACKEND(levels_that_cannot_be_are_refused_and_nothing_is_made) {
  const LevelsProblem p = {2, 2, 2, 1, 1, 0, true, false}, three = {2, 2, 2, 1, 3, 0, true, false},
                      larger = {2, 3, 2, 1, 1, 0, true, false};
  CeedScalar *tables[LEVELS_NUM_VARIANTS] = {NULL, levels_interpolation_table(&p, true),
                                             levels_interpolation_table(&p, false)};
  CeedOperator composite = NULL, results[3] = {NULL};
  CeedBasis other_points = NULL, more_nodes = NULL;
  CeedVector shorter = NULL;
  Levels l, l3, other;

  CHECK_OK(levels_create_spaces(ceed, &p, &l));
  CHECK_OK(levels_create_spaces(ceed, &three, &l3));
  CHECK_OK(levels_create_spaces(ceed, &larger, &other));
  CHECK_OK(CeedOperatorCreateComposite(ceed, &composite));
  CHECK_OK(levels_create_basis(ceed, &p, 1, l.Q_1d + 1, &other_points));
  CHECK_OK(levels_create_basis(ceed, &p, 3, l.Q_1d, &more_nodes));
  CHECK_OK(CeedVectorCreate(ceed, l.num_fine - 1, &shorter));
  CHECK_OK(CeedVectorSetValue(shorter, 1));

  const struct {
    CeedOperator fine;
    CeedVector p;
    CeedElemRestriction rstr;
    CeedBasis basis;
    bool has_transfer;
    int code;
    const char *fragment;
  } rows[] = {
      {composite, l.p_mult, l.rstr_coarse, l.basis_coarse, true, CEED_ERROR_UNSUPPORTED, "composite"},
      {l.op_fine, NULL, l.rstr_coarse, l.basis_coarse, true, CEED_ERROR_INCOMPATIBLE, "p_mult_fine"},
      {l.op_fine, l.p_mult, NULL, l.basis_coarse, true, CEED_ERROR_INCOMPATIBLE, "NULL"},
      {l.op_fine, l.p_mult, l.rstr_coarse, NULL, true, CEED_ERROR_INCOMPATIBLE, "NULL"},
      {l.op_fine, l.p_mult, l.rstr_coarse, CEED_BASIS_NONE, true, CEED_ERROR_INCOMPATIBLE, "need"},
      {l.op_fine, l.p_mult, CEED_ELEMRESTRICTION_NONE, l.basis_coarse, true, CEED_ERROR_INCOMPATIBLE, "need"},
      {l.op_fine, l.p_mult, l.rstr_coarse, other_points, true, CEED_ERROR_DIMENSION, "quadrature points"},
      {l.op_fine, l.p_mult, l.rstr_coarse, other_points, false, CEED_ERROR_DIMENSION, "quadrature points"},
      {l.op_fine, l.p_mult, l.rstr_coarse, more_nodes, true, CEED_ERROR_DIMENSION, "nodes per element"},
      {l.op_fine, l.p_mult, other.rstr_coarse, l.basis_coarse, true, CEED_ERROR_DIMENSION, "elements"},
      {l.op_fine, l.p_mult, l3.rstr_coarse, l.basis_coarse, true, CEED_ERROR_DIMENSION, "components"},
      {l.op_fine, l.p_mult, l3.rstr_coarse, l3.basis_coarse, true, CEED_ERROR_DIMENSION, "size"},
      {l.op_fine, shorter, l.rstr_coarse, l.basis_coarse, true, CEED_ERROR_DIMENSION, "L-vector"},
  };
  for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]) * LEVELS_NUM_VARIANTS; i++) {
    size_t r = i / LEVELS_NUM_VARIANTS;
    LevelsVariant v = (LevelsVariant)(i % LEVELS_NUM_VARIANTS);

    CHECK_ERROR(ceed,
                call_variant(v, rows[r].fine, rows[r].p, rows[r].rstr, rows[r].basis, tables[v],
                             rows[r].has_transfer, results),
                rows[r].code, rows[r].fragment);
  }
  for (LevelsVariant v = LEVELS_TENSOR_H1; v <= LEVELS_H1; v++) {
    CHECK_ERROR(ceed,
                call_variant(v, l.op_fine, l.p_mult, l.rstr_coarse, l.basis_coarse, NULL, true, results),
                CEED_ERROR_INCOMPATIBLE, "interp_c_to_f");
    CHECK_ERROR(NULL,
                call_variant(v, NULL, l.p_mult, l.rstr_coarse, l.basis_coarse, tables[v], true, results),
                CEED_ERROR_INCOMPATIBLE, "NULL");
  }
  CHECK_ERROR(ceed,
              CeedOperatorMultigridLevelCreate(l.op_fine, l.p_mult, l.rstr_coarse, l.basis_coarse, NULL, NULL,
                                               NULL),
              CEED_ERROR_INCOMPATIBLE, "NULL");
  CHECK(!results[0] && !results[1] && !results[2], "operators were made");
  CHECK_OK(levels_create_level(&p, LEVELS_PLAIN, &l)); // all objects are still good
  levels_check_galerkin(&p, &l);

  CeedOperatorDestroy(&composite);
  CeedBasisDestroy(&other_points);
  CeedBasisDestroy(&more_nodes);
  CeedVectorDestroy(&shorter);
  levels_destroy(&l);
  levels_destroy(&l3);
  levels_destroy(&other);
  free(tables[LEVELS_TENSOR_H1]);
  free(tables[LEVELS_H1]);
}

static int create_identity(Ceed ceed, CeedEvalMode in, CeedEvalMode out, CeedOperator *op) {
  CeedQFunction qf = NULL;
  int ierr = CeedQFunctionCreateIdentity(ceed, 1, in, out, &qf);

  if (!ierr) ierr = CeedOperatorCreate(ceed, qf, NULL, NULL, op);
  CeedQFunctionDestroy(&qf);
  return ierr;
}

TEST_EACH_BACKEND(levels_of_unsuitable_operators_are_refused) {
  const LevelsProblem p = {1, 2, 2, 1, 1, 0, false, false};
  const CeedInt offsets[6] = {0, 1, 2, 2, 3, 4};
  const CeedInt8 plain[18] = {0, 1, 0, 0, 1, 0, 0, 1, 0, 0, 1, 0, 0, 1, 0, 0, 1, 0};
  CeedElemRestriction curl = NULL;
  CeedOperator unset = NULL, passive = NULL, several = NULL, oriented = NULL;
  CeedBasis twin = NULL;
  CeedVector vec = NULL;
  Levels l;

  CHECK_OK(levels_create_spaces(ceed, &p, &l));
  CHECK_OK(create_identity(ceed, CEED_EVAL_INTERP, CEED_EVAL_INTERP, &unset));
  l.op_fine = (CeedOperatorDestroy(&l.op_fine), unset);
  CHECK_ERROR(ceed, levels_create_level(&p, LEVELS_PLAIN, &l), CEED_ERROR_INCOMPLETE, "no field");

  // All inputs are passive.
  CHECK_OK(create_identity(ceed, CEED_EVAL_INTERP, CEED_EVAL_INTERP, &passive));
  CHECK_OK(CeedElemRestrictionCreateVector(l.rstr_fine, &vec, NULL));
  CHECK_OK(CeedOperatorSetField(passive, "input", l.rstr_fine, l.basis_fine, vec));
  CHECK_OK(CeedOperatorSetField(passive, "output", l.rstr_fine, l.basis_fine, CEED_VECTOR_ACTIVE));
  l.op_fine = (CeedOperatorDestroy(&l.op_fine), passive);
  CHECK_ERROR(ceed, levels_create_level(&p, LEVELS_PLAIN, &l), CEED_ERROR_INCOMPLETE, "no active input");

  // Two active inputs on different bases.
  CeedQFunction qf = NULL;
  CHECK_OK(CeedQFunctionCreateInteriorByName(ceed, "Scale", &qf));
  CHECK_OK(CeedQFunctionAddInput(qf, "a", 1, CEED_EVAL_INTERP));
  CHECK_OK(CeedQFunctionAddInput(qf, "b", 1, CEED_EVAL_INTERP));
  CHECK_OK(CeedQFunctionAddOutput(qf, "c", 1, CEED_EVAL_INTERP));
  CHECK_OK(CeedOperatorCreate(ceed, qf, NULL, NULL, &several));
  CHECK_OK(levels_create_basis(ceed, &p, p.fine, l.Q_1d, &twin));
  CHECK_OK(CeedOperatorSetField(several, "a", l.rstr_fine, l.basis_fine, CEED_VECTOR_ACTIVE));
  CHECK_OK(CeedOperatorSetField(several, "b", l.rstr_fine, twin, CEED_VECTOR_ACTIVE));
  CHECK_OK(CeedOperatorSetField(several, "c", l.rstr_fine, l.basis_fine, CEED_VECTOR_ACTIVE));
  l.op_fine = (CeedOperatorDestroy(&l.op_fine), several);
  CHECK_ERROR(ceed, levels_create_level(&p, LEVELS_PLAIN, &l), CEED_ERROR_MINOR, "several");

  // Curl orientations: a coarse operator, but no transfer.
  CHECK_OK(CeedElemRestrictionCreateCurlOriented(ceed, 2, 3, 1, 1, 5, CEED_MEM_HOST, CEED_COPY_VALUES,
                                                 offsets, plain, &curl));
  CHECK_OK(create_identity(ceed, CEED_EVAL_INTERP, CEED_EVAL_INTERP, &oriented));
  CHECK_OK(CeedOperatorSetField(oriented, "input", curl, l.basis_fine, CEED_VECTOR_ACTIVE));
  CHECK_OK(CeedOperatorSetField(oriented, "output", curl, l.basis_fine, CEED_VECTOR_ACTIVE));
  l.op_fine = (CeedOperatorDestroy(&l.op_fine), oriented);
  CHECK_ERROR(ceed, levels_create_level(&p, LEVELS_PLAIN, &l), CEED_ERROR_UNSUPPORTED, "curl");
  CHECK_OK(CeedOperatorMultigridLevelCreate(l.op_fine, NULL, l.rstr_coarse, l.basis_coarse, &l.op_coarse,
                                            NULL, NULL));

  CeedQFunctionDestroy(&qf);
  CeedBasisDestroy(&twin);
  CeedVectorDestroy(&vec);
  CeedElemRestrictionDestroy(&curl);
  levels_destroy(&l);
}

// Spaces as they are, but no elements: transfers give zeros.
TEST_EACH_BACKEND(levels_without_elements_give_zeros) {
  const LevelsProblem p = {2, 2, 2, 1, 1, 0, false, false};
  Levels whole, none;
  double fine[25], coarse[9] = {1, 2, 3, 4, 5, 6, 7, 8, 9};

  CHECK_OK(levels_create_spaces(ceed, &p, &whole));
  CHECK_OK(create_part(ceed, &p, &whole, 0, 0, &none));
  CHECK_OK(CeedVectorReferenceCopy(whole.p_mult, &none.p_mult));
  CHECK_OK(levels_create_level(&p, LEVELS_PLAIN, &none));
  CHECK_OK(levels_apply(none.prolong, 9, coarse, 25, fine));
  CHECK(levels_largest(25, fine) == 0, "prolongation");
  CHECK_OK(levels_apply(none.restrict_op, 25, fine, 9, coarse));
  CHECK(levels_largest(9, coarse) == 0, "restriction");
  levels_destroy(&whole);
  levels_destroy(&none);
}

// Every allocation fails once: an error each time, nothing left over, and the objects still work. What the
// objects keep for themselves after a use is there before and after.
TEST_EACH_BACKEND(levels_survive_every_failing_allocation) {
  const LevelsProblem p = {2, 2, 2, 1, 1, 0, true, false};
  Levels l;

  CHECK_OK(levels_create_spaces(ceed, &p, &l));
  for (LevelsVariant v = LEVELS_PLAIN; v < LEVELS_NUM_VARIANTS; v++) {
    int64_t live = -1;

    for (int64_t n = 1;; n++) {
      ritz_memory_fail_at(n);
      int ierr = levels_create_level(&p, v, &l);

      ritz_memory_fail_at(0);
      if (!ierr) break;
      CHECK(ierr == CEED_ERROR_MAJOR && n < 1000, "allocation %d: code %d", (int)n, ierr);
      CHECK(!l.op_coarse && !l.prolong && !l.restrict_op, "allocation %d: operators were made", (int)n);
      CHECK_OK(levels_create_level(&p, v, &l));
      levels_destroy_transfers(&l);
      CHECK(live == -1 || live == ritz_memory_live(), "allocation %d leaves memory behind", (int)n);
      live = ritz_memory_live();
    }
    levels_check_galerkin(&p, &l);
    levels_destroy_transfers(&l);
  }
  levels_destroy(&l);
}

int main(int argc, char **argv) {
  return tap_main(argc, argv,
                  TESTS(levels_of_a_composite_with_its_multiplicity_add_up_to_the_whole,
                        multiplicity_counts_the_parts_that_touch_an_entry,
                        multiplicity_without_parts_is_zero_and_misuse_is_refused,
                        operators_of_a_level_are_ready_and_named, transfer_operators_are_made_on_request_only,
                        levels_that_cannot_be_are_refused_and_nothing_is_made,
                        levels_of_unsuitable_operators_are_refused, levels_without_elements_give_zeros,
                        levels_survive_every_failing_allocation));
}
