// SPDX-License-Identifier: BSD-2-Clause
// The kernels of the device that /cpu/self/check:mem=device plays: the layouts of GPUs, operators in device
// memory, and the comparison with the reference. Results of operators as such are the matter of the tests
// that run on all backends; memory is that of test-check-device-memory.c.
#include "tests/check-device.h"

#include <math.h>

// ---- Restrictions ----

enum { NE = 3, SIZE = 2, NC = 2, L = 4 };
static const CeedInt chain[NE * SIZE] = {0, 1, 1, 2, 2, 3}; // three elements in a row, two nodes each

TEST(e_vectors_have_components_outside_of_elements) {
  Ceed ceed = tap_ceed(device_resource);
  CeedElemRestriction r = NULL, s = NULL;
  CeedInt e[3], l[3];
  CeedVector x = vector_of(ceed, 2 * L, (CeedScalar[]){0, 1, 2, 3, 10, 11, 12, 13}), y = NULL;

  CHECK_OK(
      CeedElemRestrictionCreate(ceed, NE, SIZE, NC, L, 2 * L, CEED_MEM_HOST, CEED_USE_POINTER, chain, &r));
  CHECK_OK(CeedElemRestrictionGetELayout(r, e));
  CHECK(e[0] == 1 && e[1] == NE * SIZE && e[2] == SIZE, "{%d, %d, %d}", (int)e[0], (int)e[1], (int)e[2]);
  CHECK_OK(CeedElemRestrictionCreateStrided(ceed, NE, SIZE, NC, NE * SIZE * NC, CEED_STRIDES_BACKEND, &s));
  CHECK_OK(CeedElemRestrictionGetLLayout(s, l));
  CHECK(!memcmp(e, l, sizeof(e)), "{%d, %d, %d}", (int)l[0], (int)l[1], (int)l[2]);
  CHECK_OK(CeedElemRestrictionCreateVector(r, NULL, &y));
  CHECK_OK(CeedElemRestrictionApply(r, CEED_NOTRANSPOSE, x, y, CEED_REQUEST_IMMEDIATE));
  CHECK_HOLDS(y, 0, 1, 1, 2, 2, 3, 10, 11, 11, 12, 12, 13);
  CHECK_OK(CeedElemRestrictionApply(r, CEED_TRANSPOSE, y, x, CEED_REQUEST_IMMEDIATE));
  CHECK_HOLDS(x, 0, 3, 6, 6, 20, 33, 36, 26);
  CHECK_OK(CeedVectorDestroy(&x));
  CHECK_OK(CeedVectorDestroy(&y));
  CHECK_OK(CeedElemRestrictionDestroy(&r));
  CHECK_OK(CeedElemRestrictionDestroy(&s));
  CHECK_OK(CeedDestroy(&ceed));
}

TEST(blocked_restrictions_are_not_for_devices) {
  Ceed ceed = tap_ceed(device_resource);
  CeedElemRestriction r = NULL;
  const CeedInt strides[3] = {1, SIZE, SIZE * NC};

  CHECK_ERROR(ceed,
              CeedElemRestrictionCreateBlocked(ceed, NE, SIZE, 2, 1, 1, L, CEED_MEM_HOST, CEED_COPY_VALUES,
                                               chain, &r),
              CEED_ERROR_UNSUPPORTED, "Backend does not implement");
  CHECK_ERROR(ceed,
              CeedElemRestrictionCreateBlockedStrided(ceed, NE, SIZE, 2, NC, NE * SIZE * NC, strides, &r),
              CEED_ERROR_UNSUPPORTED, "Backend does not implement");
  CHECK_OK(CeedDestroy(&ceed));
}

TEST(offsets_come_from_device_memory_and_go_there) {
  Ceed ceed = tap_ceed(device_resource);
  const bool flips[NE * SIZE] = {false, true, false, false, true, true};
  const CeedScalar wanted[NE * SIZE] = {0, -1, 1, 2, -2, -3};

  for (int mode = 0; mode < 3; mode++) {
    CeedElemRestriction r = NULL, copy = NULL;
    CeedInt *offsets = device_copy(ceed, chain, sizeof(chain));
    bool *orients = device_copy(ceed, flips, sizeof(flips));
    const CeedInt *lent = NULL, *host = NULL;
    CeedVector x = vector_of(ceed, L, (CeedScalar[]){0, 1, 2, 3}), y = NULL;
    CHECK_ERROR(ceed,
                CeedElemRestrictionCreate(ceed, NE, SIZE, 1, 1, 3, CEED_MEM_DEVICE, (CeedCopyMode)mode,
                                          offsets, &r),
                CEED_ERROR_BACKEND, "offset 3"); // out of range: the array stays the caller's
    CHECK_ERROR(
        ceed,
        CeedElemRestrictionCreate(ceed, NE, SIZE, 1, 1, L, CEED_MEM_HOST, (CeedCopyMode)mode, offsets, &r),
        CEED_ERROR_BACKEND, "CeedElemRestrictionCreate: the array given as host memory is device memory");
    CHECK_ERROR(ceed,
                CeedElemRestrictionCreate(ceed, NE, SIZE, 1, 1, L, CEED_MEM_DEVICE, (CeedCopyMode)mode, chain,
                                          &r),
                CEED_ERROR_BACKEND, "CeedElemRestrictionCreate: the array given as device memory is not");
    CHECK_OK(CeedElemRestrictionCreateOriented(ceed, NE, SIZE, 1, 1, L, CEED_MEM_DEVICE, (CeedCopyMode)mode,
                                               offsets, orients, &r));
    if (mode != CEED_OWN_POINTER) CHECK_OK(ritz_check_device_free(ceed, orients));
    CHECK_OK(CeedElemRestrictionCreateVector(r, NULL, &y));
    CHECK_OK(CeedElemRestrictionApply(r, CEED_NOTRANSPOSE, x, y, CEED_REQUEST_IMMEDIATE));
    CHECK(vector_holds(y, NE * SIZE, wanted), "mode %d", mode);
    CHECK_OK(CeedElemRestrictionCreateUnsignedCopy(r, &copy));
    CHECK_OK(CeedElemRestrictionGetOffsets(copy, CEED_MEM_DEVICE, &lent));
    CHECK_OK(CeedElemRestrictionGetOffsets(r, CEED_MEM_HOST, &host));
    CHECK(!ritz_check_device_require(ceed, "test", sizeof(chain), lent), "no device memory is lent");
    CHECK(lent != host && !memcmp(lent, chain, sizeof(chain)) && !memcmp(host, chain, sizeof(chain)),
          "mode %d", mode);
    CHECK_OK(CeedElemRestrictionDestroy(&r)); // the copy keeps it
    CHECK_ERROR(ceed, CeedElemRestrictionDestroy(&copy), CEED_ERROR_ACCESS, "read access to the offset data");
    CHECK_OK(CeedElemRestrictionRestoreOffsets(copy, &lent));
    CHECK_OK(CeedElemRestrictionRestoreOffsets(copy, &host));
    CHECK_OK(CeedElemRestrictionDestroy(&copy));
    if (mode != CEED_OWN_POINTER) CHECK_OK(ritz_check_device_free(ceed, offsets));
    CHECK_OK(CeedVectorDestroy(&x));
    CHECK_OK(CeedVectorDestroy(&y));
  }
  CHECK_OK(CeedDestroy(&ceed));
}

// Two points (numbers 4 and 0), none, and one (2), with two components: places for two points in each
// element.
static const CeedInt lists[7] = {4, 6, 6, 7, 4, 0, 2};

TEST(e_vectors_at_points_are_padded) {
  Ceed ceed = tap_ceed(device_resource);
  CeedElemRestriction r = NULL;
  CeedInt layout[3];
  CeedSize size = -1, offset = -1;
  CeedVector x = vector_of(ceed, 10, (CeedScalar[]){0, 10, 1, 11, 2, 12, 3, 13, 4, 14}), y = NULL,
             one = vector_of(ceed, 4, NULL);
  void *device = device_copy(ceed, lists, sizeof(lists));

  CHECK_ERROR(ceed,
              CeedElemRestrictionCreateAtPoints(ceed, 3, 3, 2, 10, CEED_MEM_DEVICE, CEED_COPY_VALUES, device,
                                                &r),
              CEED_ERROR_BACKEND, "Can only set HOST memory");
  CHECK_OK(CeedElemRestrictionCreateAtPoints(ceed, 3, 3, 2, 10, CEED_MEM_HOST, CEED_COPY_VALUES, lists, &r));
  CHECK_OK(CeedElemRestrictionGetELayout(r, layout));
  CHECK(layout[0] == 1 && layout[1] == 6 && layout[2] == 2, "{%d, %d, %d}", (int)layout[0], (int)layout[1],
        (int)layout[2]);
  CHECK_OK(CeedElemRestrictionGetEVectorSize(r, &size));
  CHECK(size == 12, "%td", size);
  for (CeedInt k = 0; k < 3; k++) {
    CHECK_OK(CeedElemRestrictionGetAtPointsElementOffset(r, k, &offset));
    CHECK(offset == 2 * k, "element %d: %td", (int)k, offset);
  }
  CHECK_OK(CeedElemRestrictionCreateVector(r, NULL, &y));
  CHECK_OK(CeedElemRestrictionApply(r, CEED_NOTRANSPOSE, x, y, CEED_REQUEST_IMMEDIATE));
  CHECK_HOLDS(y, 4, 0, 0, 0, 2, 2, 14, 10, 0, 0, 12, 12); // the last point is repeated
  CHECK_OK(CeedVectorSetValue(x, 0));
  CHECK_OK(CeedElemRestrictionApply(r, CEED_TRANSPOSE, y, x, CEED_REQUEST_IMMEDIATE));
  CHECK_HOLDS(x, 0, 10, 0, 0, 2, 12, 0, 0, 4, 14); // and does not count
  CHECK_OK(CeedElemRestrictionApplyAtPointsInElement(r, 0, CEED_NOTRANSPOSE, x, one, CEED_REQUEST_IMMEDIATE));
  CHECK_HOLDS(one, 4, 0, 14, 10);
  CHECK_OK(ritz_check_device_free(ceed, device));
  CHECK_OK(CeedElemRestrictionDestroy(&r));
  CHECK_OK(CeedVectorDestroy(&x));
  CHECK_OK(CeedVectorDestroy(&y));
  CHECK_OK(CeedVectorDestroy(&one));
  CHECK_OK(CeedDestroy(&ceed));
}

// ---- Bases ----

// A component c of element e is the function a + b x + d y with these numbers.
static CeedScalar coefficient(int which, CeedInt c, CeedInt e) {
  return (CeedScalar)(1 + which + 3 * c + 7 * e);
}

// The corner nodes of the bilinear square.
static void set_nodes(CeedInt num_elem, CeedScalar *u) {
  for (CeedInt c = 0; c < NC; c++) {
    for (CeedInt e = 0; e < num_elem; e++) {
      for (CeedInt p = 0; p < 4; p++) {
        CeedScalar x = p % 2 ? 1 : -1, y = p / 2 ? 1 : -1;
        u[(c * num_elem + e) * 4 + p] =
            coefficient(0, c, e) + coefficient(1, c, e) * x + coefficient(2, c, e) * y;
      }
    }
  }
}

TEST(several_elements_have_components_outside_at_quadrature_points) {
  enum { E = 3, Q = 9 };
  Ceed ceed = tap_ceed(device_resource);
  CeedBasis basis = NULL;
  CeedScalar nodes[NC * E * 4];
  const CeedScalar *v = NULL;
  const double tol = 100 * ritz_check_epsilon() * 30; // values are below 30

  set_nodes(E, nodes);
  CeedVector u = vector_of(ceed, NC * E * 4, nodes), grad = vector_of(ceed, 2 * NC * E * Q, NULL),
             w = vector_of(ceed, E * Q, NULL);
  CHECK_OK(CeedBasisCreateTensorH1Lagrange(ceed, 2, NC, 2, 3, CEED_GAUSS, &basis));
  CHECK_OK(CeedBasisApply(basis, E, CEED_NOTRANSPOSE, CEED_EVAL_GRAD, u, grad));
  CHECK_OK(CeedVectorGetArrayRead(grad, CEED_MEM_HOST, &v));
  for (CeedInt i = 0; i < 2 * NC * E * Q; i++) {
    CeedInt e = i / Q % E, c = i / Q / E % NC, d = i / Q / E / NC;
    CHECK_NEAR(v[i], coefficient(1 + d, c, e), tol, "entry %d", (int)i);
  }
  CHECK_OK(CeedVectorRestoreArrayRead(grad, &v));
  CHECK_OK(CeedBasisApply(basis, E, CEED_NOTRANSPOSE, CEED_EVAL_WEIGHT, CEED_VECTOR_NONE, w));
  CHECK_OK(CeedVectorGetArrayRead(w, CEED_MEM_HOST, &v));
  for (CeedInt i = 0; i < Q; i++)
    CHECK(v[i] == v[i + Q] && v[i] == v[i + 2 * Q] && v[i] > 0, "weight %d", (int)i);
  CHECK_OK(CeedVectorRestoreArrayRead(w, &v));
  CHECK_OK(CeedVectorDestroy(&u));
  CHECK_OK(CeedVectorDestroy(&grad));
  CHECK_OK(CeedVectorDestroy(&w));
  CHECK_OK(CeedBasisDestroy(&basis));
  CHECK_OK(CeedDestroy(&ceed));
}

// Elements with 1, 0 and 2 points, hence 2 places each. Padding holds NaN, which nobody may use.
TEST(several_elements_are_evaluated_at_points_of_their_own) {
  enum { E = 3, PLACES = 2 };
  Ceed ceed = tap_ceed(device_resource);
  const CeedInt num_points[E] = {1, 0, 2};
  const CeedScalar none = (CeedScalar)NAN;
  const CeedScalar coords[2 * E * PLACES] = {0.5f,  none, none, none, -0.25f, 1,
                                             -0.5f, none, none, none, 0.75f,  0};
  CeedScalar nodes[NC * E * 4], values[NC * E * PLACES];
  const CeedScalar *v = NULL;
  const double tol = 100 * ritz_check_epsilon() * 60;
  CeedBasis basis = NULL;

  set_nodes(E, nodes);
  CeedVector x = vector_of(ceed, 2 * E * PLACES, coords), u = vector_of(ceed, NC * E * 4, nodes),
             at = vector_of(ceed, NC * E * PLACES, NULL), few = vector_of(ceed, NC * 3, NULL);
  CHECK_OK(CeedBasisCreateTensorH1Lagrange(ceed, 2, NC, 2, 3, CEED_GAUSS, &basis));
  CHECK_OK(CeedBasisApplyAtPoints(basis, E, num_points, CEED_NOTRANSPOSE, CEED_EVAL_INTERP, x, u, at));
  CHECK_OK(CeedVectorGetArrayRead(at, CEED_MEM_HOST, &v));
  for (CeedInt i = 0; i < NC * E * PLACES; i++) {
    CeedInt p = i % PLACES, e = i / PLACES % E, c = i / PLACES / E;
    double wanted = (double)coefficient(0, c, e) +
                    (double)coefficient(1, c, e) * (double)coords[e * PLACES + p] +
                    (double)coefficient(2, c, e) * (double)coords[(E + e) * PLACES + p];
    CHECK_NEAR(v[i], p < num_points[e] ? wanted : 0, tol, "entry %d", (int)i);
  }
  CHECK_OK(CeedVectorRestoreArrayRead(at, &v));
  CHECK_ERROR(ceed,
              CeedBasisApplyAtPoints(basis, E, num_points, CEED_NOTRANSPOSE, CEED_EVAL_INTERP, x, u, few),
              CEED_ERROR_BACKEND, "too short"); // enough for the points, not for the places

  // The transpose of ones: the functions of the nodes sum to 1 at each point.
  for (CeedInt i = 0; i < NC * E * PLACES; i++)
    values[i] = i % PLACES < num_points[i / PLACES % E] ? 1 : none;
  CHECK_OK(CeedVectorSetArray(at, CEED_MEM_HOST, CEED_COPY_VALUES, values));
  CHECK_OK(CeedBasisApplyAtPoints(basis, E, num_points, CEED_TRANSPOSE, CEED_EVAL_INTERP, x, at, u));
  CHECK_OK(CeedVectorGetArrayRead(u, CEED_MEM_HOST, &v));
  for (CeedInt k = 0; k < NC * E; k++) {
    CHECK_NEAR(v[4 * k] + v[4 * k + 1] + v[4 * k + 2] + v[4 * k + 3], num_points[k % E], tol, "element %d",
               (int)(k % E));
  }
  CHECK_OK(CeedVectorRestoreArrayRead(u, &v));
  CeedVector *all[] = {&x, &u, &at, &few};
  for (int i = 0; i < 4; i++) CHECK_OK(CeedVectorDestroy(all[i]));
  CHECK_OK(CeedBasisDestroy(&basis));
  CHECK_OK(CeedDestroy(&ceed));
}

// ---- Operators ----

// v = f(u) with two components of linear elements in a row, 3 points each.
typedef struct {
  Ceed ceed;
  CeedElemRestriction rstr;
  CeedBasis basis;
  CeedQFunction qf;
  CeedOperator op;
  CeedVector u, v;
} Mass;

static int mass(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  (void)ctx;
  for (CeedInt i = 0; i < NC * Q; i++) out[0][i] = in[1][i % Q] * in[0][i];
  return 0;
}

static int open_mass(Ceed ceed, CeedQFunctionUser f, Mass *m) {
  *m = (Mass){.ceed = ceed};
  RITZ_TRY(CeedElemRestrictionCreate(ceed, NE, SIZE, NC, L, NC * L, CEED_MEM_HOST, CEED_COPY_VALUES, chain,
                                     &m->rstr));
  RITZ_TRY(CeedBasisCreateTensorH1Lagrange(ceed, 1, NC, SIZE, 3, CEED_GAUSS, &m->basis));
  RITZ_TRY(CeedQFunctionCreateInterior(ceed, 1, f, "mass.h:mass", &m->qf));
  RITZ_TRY(CeedQFunctionAddInput(m->qf, "u", NC, CEED_EVAL_INTERP));
  RITZ_TRY(CeedQFunctionAddInput(m->qf, "weight", 1, CEED_EVAL_WEIGHT));
  RITZ_TRY(CeedQFunctionAddOutput(m->qf, "v", NC, CEED_EVAL_INTERP));
  RITZ_TRY(CeedOperatorCreate(ceed, m->qf, NULL, NULL, &m->op));
  RITZ_TRY(CeedOperatorSetField(m->op, "u", m->rstr, m->basis, CEED_VECTOR_ACTIVE));
  RITZ_TRY(CeedOperatorSetField(m->op, "weight", CEED_ELEMRESTRICTION_NONE, m->basis, CEED_VECTOR_NONE));
  RITZ_TRY(CeedOperatorSetField(m->op, "v", m->rstr, m->basis, CEED_VECTOR_ACTIVE));
  RITZ_TRY(CeedVectorCreate(ceed, NC * L, &m->u));
  RITZ_TRY(CeedVectorCreate(ceed, NC * L, &m->v));
  return CeedVectorSetValue(m->u, 1);
}

static void close_mass(Mass *m) {
  CeedVectorDestroy(&m->u);
  CeedVectorDestroy(&m->v);
  CeedOperatorDestroy(&m->op);
  CeedQFunctionDestroy(&m->qf);
  CeedBasisDestroy(&m->basis);
  CeedElemRestrictionDestroy(&m->rstr);
}

static int apply_mass(Mass *m) { return CeedOperatorApply(m->op, m->u, m->v, CEED_REQUEST_IMMEDIATE); }

// The mass of a function that is 1 on three elements of length 2, by nodes: half an element, whole ones,
// half.
static bool is_mass_of_one(CeedVector v) {
  const CeedScalar *array = NULL;
  double largest = 0;

  if (CeedVectorGetArrayRead(v, CEED_MEM_HOST, &array)) return false;
  for (int i = 0; i < NC * L; i++)
    largest = tap_larger(largest, fabs((double)array[i] - (i % L == 0 || i % L == L - 1 ? 1 : 2)));
  return !CeedVectorRestoreArrayRead(v, &array) && largest < 20 * ritz_check_epsilon();
}

TEST(an_operator_works_on_borrowed_device_arrays) {
  Ceed ceed = tap_ceed(device_resource);
  Mass m;
  CeedScalar zeros[NC * L] = {0}, *taken = NULL;
  CeedScalar *out = device_copy(ceed, zeros, sizeof(zeros));

  CHECK_OK(open_mass(ceed, mass, &m));
  CHECK_OK(CeedVectorSetArray(m.v, CEED_MEM_DEVICE, CEED_USE_POINTER, out));
  CHECK_OK(apply_mass(&m));
  CHECK(is_mass_of_one(m.v), "wrong values");
  CHECK_OK(CeedVectorTakeArray(m.v, CEED_MEM_DEVICE, &taken));
  CHECK(taken == out && fabs((double)out[1] - 2) < 20 * ritz_check_epsilon(), "out[1] is %g", (double)out[1]);
  CHECK_OK(CeedVectorSetArray(m.v, CEED_MEM_HOST, CEED_USE_POINTER, zeros));
  CHECK_OK(apply_mass(&m));
  CHECK(zeros[0] == 0, "a borrowed host array has the result before it is synchronised");
  CHECK_OK(CeedVectorSyncArray(m.v, CEED_MEM_HOST));
  CHECK(fabs((double)zeros[0] - 1) < 20 * ritz_check_epsilon(), "zeros[0] is %g", (double)zeros[0]);
  close_mass(&m);
  CHECK_OK(ritz_check_device_free(ceed, out));
  CHECK_OK(CeedDestroy(&ceed));
}

TEST(an_assembled_qfunction_has_the_layout_of_the_device) {
  enum { Q = 3 };
  Ceed ceed = tap_ceed(device_resource);
  Mass m;
  CeedVector assembled = NULL;
  CeedElemRestriction rstr = NULL;
  CeedInt e[3], l[3];
  const CeedScalar *D = NULL;

  CHECK_OK(open_mass(ceed, mass, &m));
  CHECK_OK(CeedOperatorLinearAssembleQFunction(m.op, &assembled, &rstr, CEED_REQUEST_IMMEDIATE));
  CHECK_OK(CeedElemRestrictionGetELayout(rstr, e));
  CHECK_OK(CeedElemRestrictionGetLLayout(rstr, l));
  CHECK(!memcmp(e, l, sizeof(e)) && e[0] == 1 && e[1] == NE * Q && e[2] == Q, "{%d, %d, %d}", (int)e[0],
        (int)e[1], (int)e[2]);
  CHECK_PRINTS("CeedElemRestriction from (36, 4) to 3 elements with 3 nodes each and strides [1, 9, 3]\n",
               CeedElemRestrictionView(rstr, stream));
  CHECK_OK(CeedVectorGetArrayRead(assembled, CEED_MEM_HOST, &D));
  for (CeedInt i = 0; i < NC * NC * NE * Q; i++) {
    CeedInt component = i / Q / NE, is_diagonal = component == 0 || component == 3;
    CHECK(is_diagonal ? D[i] > 0 && D[i] == D[i % Q] : D[i] == 0, "entry %d is %g", (int)i, (double)D[i]);
  }
  CHECK_OK(CeedVectorRestoreArrayRead(assembled, &D));
  CHECK_OK(CeedVectorDestroy(&assembled));
  CHECK_OK(CeedElemRestrictionDestroy(&rstr));
  close_mass(&m);
  CHECK_OK(CeedDestroy(&ceed));
}

static const void *seen; // the first context that the function has got

static int scaled_mass(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  if (!seen) seen = ctx;
  mass(ctx, Q, in, out);
  for (CeedInt i = 0; i < NC * Q; i++) out[0][i] *= *(const CeedScalar *)ctx;
  return 0;
}

TEST(the_function_of_an_operator_gets_its_context_on_the_device) {
  Ceed ceed = tap_ceed(device_resource);
  Mass m;
  CeedScalar factor = 1;
  CeedQFunctionContext ctx = NULL;

  CHECK_OK(open_mass(ceed, scaled_mass, &m));
  CHECK_OK(CeedQFunctionContextCreate(ceed, &ctx));
  CHECK_OK(CeedQFunctionContextSetData(ctx, CEED_MEM_HOST, CEED_USE_POINTER, sizeof(factor), &factor));
  CHECK_OK(CeedQFunctionSetContext(m.qf, ctx));
  seen = NULL;
  CHECK_OK(apply_mass(&m));
  CHECK(is_mass_of_one(m.v), "wrong values");
  CHECK(!ritz_check_device_require(ceed, "test", sizeof(factor), seen), "the context is not on the device");
  CHECK_OK(CeedQFunctionContextDestroy(&ctx));
  close_mass(&m);
  CHECK_OK(CeedDestroy(&ceed));
}

// Takes Q for the points of an element.
static int mass_but_last(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  mass(ctx, Q, in, out);
  out[0][Q - 1] = 0;
  return 0;
}

// Looks at the neighbour of a point.
static int mass_of_neighbour(void *ctx, const CeedInt Q, const CeedScalar *const *in,
                             CeedScalar *const *out) {
  (void)ctx;
  for (CeedInt i = 0; i < NC * Q; i++) out[0][i] = in[1][i % Q] * in[0][i / Q * Q + (i + 1) % Q];
  return 0;
}

TEST(a_qfunction_whose_points_depend_on_each_other_is_found) {
  const CeedQFunctionUser functions[] = {mass_but_last, mass_of_neighbour};

  for (int k = 0; k < 2; k++) {
    Ceed ceed = tap_ceed(device_resource);
    Mass m;
    CHECK_OK(open_mass(ceed, functions[k], &m));
    CHECK_OK(CeedVectorSetValueStrided(m.u, 0, -1, 3, 5)); // not the same everywhere
    CHECK_OK(CeedOperatorSetName(m.op, "row"));
    CHECK_ERROR(ceed, apply_mass(&m), CEED_ERROR_BACKEND,
                "operator 'row', field 'v': QFunction called for all points: entry");
    close_mass(&m);
    CHECK_OK(CeedDestroy(&ceed));
  }
}

// A context of which the reference backend is another one.
static int open_with_reference(const RitzBackend *reference, Ceed *ceed, Mass *m) {
  *ceed = tap_ceed(device_resource);
  RITZ_TRY(open_mass(*ceed, mass, m));
  (*ceed)->backend.fallback = reference;
  return CEED_ERROR_SUCCESS;
}

static RitzBackend right; // the reference as it is

static int wrong_restriction(CeedElemRestriction r, const RitzRestrictionAction *action,
                             CeedScalarType precision, const void *u, void *v) {
  RITZ_TRY(right.restriction_apply(r, action, precision, u, v));
  if (action->first_block == 2) ((CeedScalar *)v)[1] += 0.001f;
  return CEED_ERROR_SUCCESS;
}

static int wrong_basis(CeedBasis b, const RitzBasisAction *action, const CeedScalar *u, CeedScalar *v) {
  RITZ_TRY(right.basis_apply(b, action, u, v));
  if (action->t_mode == CEED_TRANSPOSE) v[0] *= 1.001f;
  return CEED_ERROR_SUCCESS;
}

static int wrong_weights(CeedBasis b, const RitzBasisAction *action, const CeedScalar *u, CeedScalar *v) {
  RITZ_TRY(right.basis_apply(b, action, u, v));
  if (action->eval_mode == CEED_EVAL_WEIGHT) v[2] *= 1.001f;
  return CEED_ERROR_SUCCESS;
}

TEST(a_kernel_that_differs_from_the_reference_is_named) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  right = ceed->backend;
  RitzBackend wrong[3] = {right, right, right};
  const char *const messages[] = {
      "operator 'mass', field 'u': restriction: entry 5 is 1 on the device and 1.001",
      "operator 'mass', field 'v': basis: entry 0 is ",
      "operator 'mass', field 'weight': basis: entry 2 is ",
  };

  CHECK_OK(CeedDestroy(&ceed));
  wrong[0].restriction_apply = wrong_restriction;
  wrong[1].basis_apply = wrong_basis;
  wrong[2].basis_apply = wrong_weights;
  for (int k = 0; k < 3; k++) {
    Mass m;
    CHECK_OK(open_with_reference(&wrong[k], &ceed, &m));
    CHECK_ERROR(ceed, apply_mass(&m), CEED_ERROR_BACKEND, messages[k]);
    ceed->backend.fallback = &right;
    CHECK_OK(apply_mass(&m)); // nothing is left locked
    CHECK(is_mass_of_one(m.v), "case %d: wrong values", k);
    close_mass(&m);
    CHECK_OK(CeedDestroy(&ceed));
  }
}

// Constants have gradients of round-off size, in which every digit differs: that is no difference.
static int diffuse(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  (void)ctx;
  for (CeedInt i = 0; i < Q; i++) out[0][i] = in[0][i] / (in[0][i] * in[0][i] + (CeedScalar)1e-20);
  return 0;
}

TEST(round_off_that_a_qfunction_magnifies_is_no_difference) {
  enum { P = 7, Q = 9 };
  Ceed ceed = tap_ceed(device_resource);
  CeedElemRestriction r = NULL;
  CeedBasis basis = NULL;
  CeedQFunction qf = NULL;
  CeedOperator op = NULL;
  CeedInt nodes[P];
  CeedVector u = vector_of(ceed, P, NULL), v = vector_of(ceed, P, NULL);

  for (CeedInt i = 0; i < P; i++) nodes[i] = i;
  CHECK_OK(CeedElemRestrictionCreate(ceed, 1, P, 1, 1, P, CEED_MEM_HOST, CEED_COPY_VALUES, nodes, &r));
  CHECK_OK(CeedBasisCreateTensorH1Lagrange(ceed, 1, 1, P, Q, CEED_GAUSS, &basis));
  CHECK_OK(CeedQFunctionCreateInterior(ceed, 1, diffuse, "", &qf));
  CHECK_OK(CeedQFunctionAddInput(qf, "du", 1, CEED_EVAL_GRAD));
  CHECK_OK(CeedQFunctionAddOutput(qf, "dv", 1, CEED_EVAL_GRAD));
  CHECK_OK(CeedOperatorCreate(ceed, qf, NULL, NULL, &op));
  CHECK_OK(CeedOperatorSetField(op, "du", r, basis, CEED_VECTOR_ACTIVE));
  CHECK_OK(CeedOperatorSetField(op, "dv", r, basis, CEED_VECTOR_ACTIVE));
  CHECK_OK(CeedVectorSetValue(u, (CeedScalar)0.3));
  CHECK_OK(CeedOperatorApply(op, u, v, CEED_REQUEST_IMMEDIATE));
  CHECK_OK(CeedVectorDestroy(&u));
  CHECK_OK(CeedVectorDestroy(&v));
  CHECK_OK(CeedOperatorDestroy(&op));
  CHECK_OK(CeedQFunctionDestroy(&qf));
  CHECK_OK(CeedBasisDestroy(&basis));
  CHECK_OK(CeedElemRestrictionDestroy(&r));
  CHECK_OK(CeedDestroy(&ceed));
}

// ---- Operators at points ----

static int
    num_on_nothing; // calls with a point at which everything is 0: padding of an element without points

static int at_points(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  (void)ctx;
  for (CeedInt i = 0; i < Q; i++) {
    out[0][i] = in[0][i] * in[1][i];
    out[1][i] = in[0][i] + 1;
    num_on_nothing += in[1][i] == 0;
  }
  return 0;
}

// Three elements with 2, 0 and 1 of 5 points; scale is 0 nowhere but in padding.
TEST(padding_of_an_operator_at_points_does_not_count) {
  Ceed ceed = tap_ceed(device_resource);
  CeedElemRestriction nodes = NULL, coords = NULL, points = NULL;
  CeedBasis basis = NULL;
  CeedQFunction qf = NULL;
  CeedOperator op = NULL;
  CeedVector x = vector_of(ceed, 5, (CeedScalar[]){0.5f, 9, -1, 9, 0}),
             scale = vector_of(ceed, 5, (CeedScalar[]){1, 9, 2, 9, 3}),
             u = vector_of(ceed, L, (CeedScalar[]){0, 1, 2, 3}), v = vector_of(ceed, L, NULL),
             there = vector_of(ceed, 5, NULL);

  CHECK_OK(
      CeedElemRestrictionCreate(ceed, NE, SIZE, 1, 1, L, CEED_MEM_HOST, CEED_COPY_VALUES, chain, &nodes));
  CHECK_OK(
      CeedElemRestrictionCreateAtPoints(ceed, NE, 3, 1, 5, CEED_MEM_HOST, CEED_COPY_VALUES, lists, &coords));
  CHECK_OK(
      CeedElemRestrictionCreateAtPoints(ceed, NE, 3, 1, 5, CEED_MEM_HOST, CEED_COPY_VALUES, lists, &points));
  CHECK_OK(CeedBasisCreateTensorH1Lagrange(ceed, 1, 1, SIZE, SIZE, CEED_GAUSS, &basis));
  CHECK_OK(CeedQFunctionCreateInterior(ceed, 1, at_points, "", &qf));
  CHECK_OK(CeedQFunctionAddInput(qf, "u", 1, CEED_EVAL_INTERP));
  CHECK_OK(CeedQFunctionAddInput(qf, "scale", 1, CEED_EVAL_NONE));
  CHECK_OK(CeedQFunctionAddOutput(qf, "v", 1, CEED_EVAL_INTERP));
  CHECK_OK(CeedQFunctionAddOutput(qf, "there", 1, CEED_EVAL_NONE));
  CHECK_OK(CeedOperatorCreateAtPoints(ceed, qf, NULL, NULL, &op));
  CHECK_OK(CeedOperatorSetField(op, "u", nodes, basis, CEED_VECTOR_ACTIVE));
  CHECK_OK(CeedOperatorSetField(op, "scale", points, CEED_BASIS_NONE, scale));
  CHECK_OK(CeedOperatorSetField(op, "v", nodes, basis, CEED_VECTOR_ACTIVE));
  CHECK_OK(CeedOperatorSetField(op, "there", points, CEED_BASIS_NONE, there));
  CHECK_OK(CeedOperatorAtPointsSetPoints(op, coords, x));
  num_on_nothing = 0;
  CHECK_OK(CeedOperatorApply(op, u, v, CEED_REQUEST_IMMEDIATE));
  CHECK(num_on_nothing == 2, "%d points of padding of the empty element", num_on_nothing);

  // Element 0 has points 4 (x = 0, scale 3, u = 1/2) and 0 (x = 1/2, scale 1, u = 3/4), element 2 has point 2
  // (x = -1, scale 2, u = 2).
  const CeedScalar *out = NULL;
  const double wanted[L] = {1.5 / 2 + 0.75 / 4, 1.5 / 2 + 0.75 * 3 / 4, 4, 0},
               tol = 100 * ritz_check_epsilon() * 4;
  CHECK_OK(CeedVectorGetArrayRead(v, CEED_MEM_HOST, &out));
  for (int i = 0; i < L; i++) CHECK_NEAR(out[i], wanted[i], tol, "node %d", i);
  CHECK_OK(CeedVectorRestoreArrayRead(v, &out));
  const double seen_at[5] = {1.75, 0, 3, 0, 1.5};
  CHECK_OK(CeedVectorGetArrayRead(there, CEED_MEM_HOST, &out));
  for (int i = 0; i < 5; i++) CHECK_NEAR(out[i], seen_at[i], tol, "point %d", i);
  CHECK_OK(CeedVectorRestoreArrayRead(there, &out));

  CeedVector *vectors[] = {&x, &scale, &u, &v, &there};
  for (int i = 0; i < 5; i++) CHECK_OK(CeedVectorDestroy(vectors[i]));
  CeedElemRestriction *restrictions[] = {&nodes, &coords, &points};
  CHECK_OK(CeedOperatorDestroy(&op));
  CHECK_OK(CeedQFunctionDestroy(&qf));
  CHECK_OK(CeedBasisDestroy(&basis));
  for (int i = 0; i < 3; i++) CHECK_OK(CeedElemRestrictionDestroy(restrictions[i]));
  CHECK_OK(CeedDestroy(&ceed));
}

// ---- Failing allocations ----

// Everything once, from the context to the result on the host.
static int run_all(void) {
  Ceed ceed = NULL;
  Mass m = {.ceed = NULL};
  const CeedScalar *array = NULL;
  int ierr = CeedInit(device_resource, &ceed);

  if (!ierr) ierr = CeedSetErrorHandler(ceed, CeedErrorStore);
  if (!ierr) ierr = open_mass(ceed, mass, &m);
  if (!ierr) ierr = apply_mass(&m);
  if (!ierr) ierr = CeedVectorGetArrayRead(m.v, CEED_MEM_HOST, &array);
  if (!ierr) ierr = CeedVectorRestoreArrayRead(m.v, &array);
  close_mass(&m);
  CeedDestroy(&ceed);
  return ierr;
}

TEST(every_allocation_may_fail) {
  int64_t before = ritz_memory_live(), n = 0;
  int ierr = 1;

  while (ierr) {
    ritz_memory_fail_at(++n);
    ierr = run_all();
    ritz_memory_fail_at(0);
    CHECK(ritz_memory_live() == before, "failing at allocation %d leaves %d", (int)n,
          (int)(ritz_memory_live() - before));
    CHECK(n < 2000, "it never succeeds");
  }
  CHECK(n > 50, "only %d allocations", (int)n);
}

int main(int argc, char **argv) {
  return tap_main(
      argc, argv,
      TESTS(e_vectors_have_components_outside_of_elements, blocked_restrictions_are_not_for_devices,
            offsets_come_from_device_memory_and_go_there, e_vectors_at_points_are_padded,
            several_elements_have_components_outside_at_quadrature_points,
            several_elements_are_evaluated_at_points_of_their_own,
            an_operator_works_on_borrowed_device_arrays, an_assembled_qfunction_has_the_layout_of_the_device,
            the_function_of_an_operator_gets_its_context_on_the_device,
            a_qfunction_whose_points_depend_on_each_other_is_found,
            a_kernel_that_differs_from_the_reference_is_named,
            round_off_that_a_qfunction_magnifies_is_no_difference,
            padding_of_an_operator_at_points_does_not_count, every_allocation_may_fail));
}
