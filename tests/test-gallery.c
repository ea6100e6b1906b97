// SPDX-License-Identifier: BSD-2-Clause
// The gallery of QFunctions: each against its definition at random points, and mass and Laplacian made of
// them on deformed boxes, where volumes and energies are known. The field lists are those of the standard.
#include "tests/tap.h"

#include "tests/reference.h"
#include <ceed/backend.h>
#include <math.h>
#include <ritz.h>
#include <stdlib.h>
#include <string.h>

// ---- Definitions ----

typedef enum { MASS_BUILD, MASS_APPLY, POISSON_BUILD, POISSON_APPLY } Kind;

typedef struct {
  const char *name;
  Kind kind;
  CeedInt dim, num_comp; // dim of MASS_APPLY: any
} Entry;

static const Entry entries[] = {
    {"Mass1DBuild", MASS_BUILD, 1, 1},
    {"Mass2DBuild", MASS_BUILD, 2, 1},
    {"Mass3DBuild", MASS_BUILD, 3, 1},
    {"MassApply", MASS_APPLY, 1, 1},
    {"Vector3MassApply", MASS_APPLY, 1, 3},
    {"Poisson1DBuild", POISSON_BUILD, 1, 1},
    {"Poisson2DBuild", POISSON_BUILD, 2, 1},
    {"Poisson3DBuild", POISSON_BUILD, 3, 1},
    {"Poisson1DApply", POISSON_APPLY, 1, 1},
    {"Poisson2DApply", POISSON_APPLY, 2, 1},
    {"Poisson3DApply", POISSON_APPLY, 3, 1},
    {"Vector3Poisson1DApply", POISSON_APPLY, 1, 3},
    {"Vector3Poisson2DApply", POISSON_APPLY, 2, 3},
    {"Vector3Poisson3DApply", POISSON_APPLY, 3, 3},
};
enum { NUM_ENTRIES = sizeof(entries) / sizeof(entries[0]), NUM_POINTS = 7, MAX_SCALARS = 9 };

// Fields of an entry: two inputs and one output.
typedef struct {
  const char *name;
  CeedInt size;
  CeedEvalMode mode;
} Field;

static CeedInt num_symmetric(CeedInt dim) { return dim * (dim + 1) / 2; }

static void list_fields(const Entry *e, Field fields[3]) {
  bool is_mass = e->kind == MASS_BUILD || e->kind == MASS_APPLY;
  Field qdata = {"qdata", is_mass ? 1 : num_symmetric(e->dim), CEED_EVAL_NONE};

  if (e->kind == MASS_BUILD || e->kind == POISSON_BUILD) {
    fields[0] = (Field){"dx", e->dim * e->dim, CEED_EVAL_GRAD};
    fields[1] = (Field){"weights", 1, CEED_EVAL_WEIGHT};
    fields[2] = qdata;
  } else {
    CeedInt size = e->num_comp * (is_mass ? 1 : e->dim);
    CeedEvalMode mode = is_mass ? CEED_EVAL_INTERP : CEED_EVAL_GRAD;

    fields[0] = (Field){is_mass ? "u" : "du", size, mode};
    fields[1] = qdata;
    fields[2] = (Field){is_mass ? "v" : "dv", size, mode};
  }
}

// Inverse and determinant of M [dim][dim] by elimination with pivots.
static double invert(int dim, double M[3][3], double inverse[3][3]) {
  double det = 1.0;

  for (int i = 0; i < dim; i++) {
    for (int j = 0; j < dim; j++) inverse[i][j] = i == j;
  }
  for (int k = 0; k < dim; k++) {
    int pivot = k;

    for (int i = k; i < dim; i++) pivot = fabs(M[i][k]) > fabs(M[pivot][k]) ? i : pivot;
    det *= pivot == k ? M[pivot][k] : -M[pivot][k];
    for (int j = 0; j < dim; j++) {
      double a = M[k][j], b = inverse[k][j];

      M[k][j] = M[pivot][j], M[pivot][j] = a;
      inverse[k][j] = inverse[pivot][j], inverse[pivot][j] = b;
    }
    for (int j = dim - 1; j >= 0; j--) inverse[k][j] /= M[k][k];
    for (int j = dim - 1; j >= 0; j--) M[k][j] /= M[k][k];
    for (int i = 0; i < dim; i++) {
      double factor = M[i][k];

      for (int j = 0; i != k && j < dim; j++) {
        M[i][j] -= factor * M[k][j];
        inverse[i][j] -= factor * inverse[k][j];
      }
    }
  }
  return det;
}

// Rows and columns of the numbers of a symmetric matrix: 00, 11, (22, 12, 02,) 01.
static const int row_of[3][6] = {{0}, {0, 1, 0}, {0, 1, 2, 1, 0, 0}};
static const int column_of[3][6] = {{0}, {0, 1, 1}, {0, 1, 2, 2, 2, 1}};

// G = w det(M) M^-1 M^-T with M_cg = dx_c / dX_g, which stands in dx[g*dim + c].
static void build_poisson(int dim, const double *dx, double w, double *qdata) {
  double M[3][3], inverse[3][3];

  for (int g = 0; g < dim; g++) {
    for (int c = 0; c < dim; c++) M[c][g] = dx[g * dim + c];
  }
  double det = invert(dim, M, inverse);

  for (int s = 0; s < num_symmetric(dim); s++) {
    qdata[s] = 0.0;
    for (int c = 0; c < dim; c++) {
      qdata[s] += w * det * inverse[row_of[dim - 1][s]][c] * inverse[column_of[dim - 1][s]][c];
    }
  }
}

static double build_mass(int dim, const double *dx, double w) {
  double M[3][3], inverse[3][3];

  for (int i = 0; i < dim * dim; i++) M[i % dim][i / dim] = dx[i];
  return w * invert(dim, M, inverse);
}

// dv[j][c] = sum_k G_jk du[k][c]
static void apply_poisson(int dim, int num_comp, const double *du, const double *qdata, double *dv) {
  double G[3][3];

  for (int s = 0; s < num_symmetric(dim); s++) {
    G[row_of[dim - 1][s]][column_of[dim - 1][s]] = G[column_of[dim - 1][s]][row_of[dim - 1][s]] = qdata[s];
  }
  for (int i = 0; i < dim * num_comp; i++) {
    dv[i] = 0.0;
    for (int k = 0; k < dim; k++) dv[i] += G[i / num_comp][k] * du[k * num_comp + i % num_comp];
  }
}

// What the entry gives at one point.
static void evaluate(const Entry *e, const double *first, const double *second, double *result) {
  switch (e->kind) {
  case MASS_BUILD: result[0] = build_mass(e->dim, first, second[0]); break;
  case POISSON_BUILD: build_poisson(e->dim, first, second[0], result); break;
  case MASS_APPLY:
    for (int c = 0; c < e->num_comp; c++) result[c] = second[0] * first[c];
    break;
  case POISSON_APPLY: apply_poisson(e->dim, e->num_comp, first, second, result); break;
  }
}

// ---- QFunctions alone ----

// Random, with dx = I + 0.3 * random: far from singular.
static void fill_inputs(const Entry *e, const Field fields[3], double *first, double *second,
                        uint64_t *seed) {
  reference_fill_random((size_t)(fields[0].size * NUM_POINTS), first, seed);
  reference_fill_random((size_t)(fields[1].size * NUM_POINTS), second, seed);
  if (e->kind == MASS_APPLY || e->kind == POISSON_APPLY) return;
  for (int i = 0; i < fields[0].size * NUM_POINTS; i++) {
    int scalar = i / NUM_POINTS;

    first[i] = (double)(CeedScalar)(0.3 * first[i] + (scalar % e->dim == scalar / e->dim));
  }
}

static void take_point(const double *from, int size, int point, double *to) {
  for (int s = 0; s < size; s++) to[s] = from[s * NUM_POINTS + point];
}

// Runs qf at NUM_POINTS points; all arrays [size][NUM_POINTS].
static int run(Ceed ceed, CeedQFunction qf, const CeedInt sizes[3], const double *first, const double *second,
               double *result) {
  CeedVector in[2] = {reference_vector(ceed, sizes[0] * NUM_POINTS, first), NULL}, out = NULL;

  if (second) in[1] = reference_vector(ceed, sizes[1] * NUM_POINTS, second);
  int ierr = CeedVectorCreate(ceed, sizes[2] * NUM_POINTS, &out);

  if (!ierr) ierr = CeedQFunctionApply(qf, NUM_POINTS, in, &out);
  if (!ierr) reference_values(out, result);
  CeedVectorDestroy(&in[0]);
  CeedVectorDestroy(&in[1]);
  CeedVectorDestroy(&out);
  return ierr;
}

static void check_entry(Ceed ceed, CeedQFunction qf, const Entry *e, uint64_t *seed) {
  Field f[3];
  double first[MAX_SCALARS * NUM_POINTS], second[MAX_SCALARS * NUM_POINTS], result[MAX_SCALARS * NUM_POINTS];

  list_fields(e, f);
  fill_inputs(e, f, first, second, seed);
  CHECK_OK(run(ceed, qf, (CeedInt[3]){f[0].size, f[1].size, f[2].size}, first, second, result));
  for (int q = 0; q < NUM_POINTS; q++) {
    double a[MAX_SCALARS], b[MAX_SCALARS], exact[MAX_SCALARS];

    take_point(first, f[0].size, q, a);
    take_point(second, f[1].size, q, b);
    evaluate(e, a, b, exact);
    // Some forty operations on numbers around 1 (inverses: below 10).
    for (int s = 0; s < f[2].size; s++) {
      CHECK_NEAR(result[s * NUM_POINTS + q], exact[s], 200.0 * eps, "%s, scalar %d, point %d", e->name, s, q);
    }
  }
}

TEST_EACH_BACKEND(gallery_functions_are_their_definitions) {
  uint64_t seed = 1;

  for (int i = 0; i < NUM_ENTRIES; i++) {
    CeedQFunction qf = NULL;

    CHECK_OK(CeedQFunctionCreateInteriorByName(ceed, entries[i].name, &qf));
    for (int repeat = 0; repeat < 5 && !tap_failed(); repeat++) check_entry(ceed, qf, &entries[i], &seed);
    CeedQFunctionDestroy(&qf);
    if (tap_failed()) return;
  }
}

static void check_field(CeedQFunctionField field, const Field *wanted, const char *name) {
  const char *field_name;
  CeedInt size;
  CeedEvalMode mode;

  CHECK_OK(CeedQFunctionFieldGetData(field, &field_name, &size, &mode));
  CHECK(!strcmp(field_name, wanted->name), "%s has a field '%s', not '%s'", name, field_name, wanted->name);
  CHECK(size == wanted->size, "%s: '%s' has size %d, not %d", name, field_name, (int)size, (int)wanted->size);
  CHECK(mode == wanted->mode, "%s: '%s' has mode %d, not %d", name, field_name, mode, wanted->mode);
}

TEST_EACH_BACKEND(gallery_functions_have_the_fields_of_the_standard) {
  for (int i = 0; i < NUM_ENTRIES; i++) {
    const char *name = entries[i].name;
    CeedQFunction qf = NULL;
    CeedQFunctionField *in, *out;
    CeedInt num_in, num_out;
    Field fields[3];

    list_fields(&entries[i], fields);
    CHECK_OK(CeedQFunctionCreateInteriorByName(ceed, name, &qf));
    CHECK_OK(CeedQFunctionGetFields(qf, &num_in, &in, &num_out, &out));
    CHECK(num_in == 2 && num_out == 1, "%s has %d inputs and %d outputs", name, (int)num_in, (int)num_out);
    check_field(in[0], &fields[0], name);
    if (!tap_failed()) check_field(in[1], &fields[1], name);
    if (!tap_failed()) check_field(out[0], &fields[2], name);
    CeedQFunctionDestroy(&qf);
    if (tap_failed()) return;
  }
}

// A scalar function followed by two others of the same data is the function of three components.
TEST_EACH_BACKEND(functions_of_three_components_act_on_each_alone) {
  static const char *const names[][2] = {{"MassApply", "Vector3MassApply"},
                                         {"Poisson1DApply", "Vector3Poisson1DApply"},
                                         {"Poisson2DApply", "Vector3Poisson2DApply"},
                                         {"Poisson3DApply", "Vector3Poisson3DApply"}};
  uint64_t seed = 2;

  for (int dim = 0; dim <= 3; dim++) {
    CeedInt n = dim ? dim : 1, qdata = dim ? num_symmetric(dim) : 1;
    double u[MAX_SCALARS * NUM_POINTS], data[MAX_SCALARS * NUM_POINTS], v[MAX_SCALARS * NUM_POINTS];
    CeedQFunction one = NULL, three = NULL;

    reference_fill_random(MAX_SCALARS * NUM_POINTS, u, &seed);
    reference_fill_random(MAX_SCALARS * NUM_POINTS, data, &seed);
    CHECK_OK(CeedQFunctionCreateInteriorByName(ceed, names[dim][0], &one));
    CHECK_OK(CeedQFunctionCreateInteriorByName(ceed, names[dim][1], &three));
    CHECK_OK(run(ceed, three, (CeedInt[3]){3 * n, qdata, 3 * n}, u, data, v));
    for (int c = 0; c < 3; c++) {
      double u_c[3 * NUM_POINTS], v_c[3 * NUM_POINTS];

      for (int i = 0; i < n * NUM_POINTS; i++)
        u_c[i] = u[(i / NUM_POINTS * 3 + c) * NUM_POINTS + i % NUM_POINTS];
      CHECK_OK(run(ceed, one, (CeedInt[3]){n, qdata, n}, u_c, data, v_c));
      for (int i = 0; i < n * NUM_POINTS; i++) {
        CHECK_NEAR(v[(i / NUM_POINTS * 3 + c) * NUM_POINTS + i % NUM_POINTS], v_c[i], 4.0 * eps,
                   "%s, component %d", names[dim][1], c);
      }
    }
    CeedQFunctionDestroy(&one);
    CeedQFunctionDestroy(&three);
  }
}

// ---- Identity and Scale: fields and sizes are the caller's ----

TEST_EACH_BACKEND(identity_copies_every_scalar_in_every_mode) {
  static const CeedEvalMode modes[] = {CEED_EVAL_NONE, CEED_EVAL_INTERP, CEED_EVAL_GRAD};
  uint64_t seed = 3;

  for (CeedInt i = 0; i < 27; i++) {
    CeedInt size = 1 + i % 3;
    CeedEvalMode in_mode = modes[i / 3 % 3], out_mode = modes[i / 9];
    double u[3 * NUM_POINTS], v[3 * NUM_POINTS];
    CeedQFunction qf = NULL;
    CeedQFunctionField *in, *out;
    Field input = {"input", size, in_mode}, output = {"output", size, out_mode};

    reference_fill_random(3 * NUM_POINTS, u, &seed);
    CHECK_OK(CeedQFunctionCreateIdentity(ceed, size, in_mode, out_mode, &qf));
    CHECK_OK(run(ceed, qf, (CeedInt[3]){size, 0, size}, u, NULL, v));
    CHECK(memcmp(u, v, (size_t)(size * NUM_POINTS) * sizeof(*u)) == 0, "size %d", (int)size);
    CHECK_OK(CeedQFunctionGetFields(qf, NULL, &in, NULL, &out));
    check_field(in[0], &input, "identity");
    if (!tap_failed()) check_field(out[0], &output, "identity");
    CeedQFunctionDestroy(&qf);
    if (tap_failed()) return;
  }
}

// A function of the gallery that has no fields yet, with these sizes and the integer `context` (0: its own).
static int create_with_fields(Ceed ceed, const char *name, const CeedInt sizes[3], CeedInt context,
                              CeedQFunction *qf) {
  CeedQFunctionContext ctx = NULL;
  int ierr = CeedQFunctionCreateInteriorByName(ceed, name, qf);

  if (!ierr) ierr = CeedQFunctionAddInput(*qf, "input", sizes[0], CEED_EVAL_NONE);
  if (!ierr && sizes[1]) ierr = CeedQFunctionAddInput(*qf, "factor", sizes[1], CEED_EVAL_NONE);
  if (!ierr) ierr = CeedQFunctionAddOutput(*qf, "output", sizes[2], CEED_EVAL_NONE);
  if (ierr || !context) return ierr;
  ierr = CeedQFunctionContextCreate(ceed, &ctx);
  if (!ierr) {
    ierr = CeedQFunctionContextSetData(ctx, CEED_MEM_HOST, CEED_COPY_VALUES, sizeof(context), &context);
  }
  if (!ierr) ierr = CeedQFunctionSetContext(*qf, ctx);
  CeedQFunctionContextDestroy(&ctx);
  return ierr;
}

TEST_EACH_BACKEND(identity_to_scalar_copies_the_first_component) {
  uint64_t seed = 4;
  double u[3 * NUM_POINTS], v[NUM_POINTS];
  const CeedInt sizes[] = {3, 0, 1};
  CeedQFunction qf = NULL;

  reference_fill_random(3 * NUM_POINTS, u, &seed);
  CHECK_OK(create_with_fields(ceed, "Identity to scalar", sizes, 0, &qf));
  CHECK_OK(run(ceed, qf, sizes, u, NULL, v));
  CHECK(memcmp(u, v, sizeof(v)) == 0, "the first component");
  CeedQFunctionDestroy(&qf);
}

// Scale: a factor for each scalar; Scale (scalar): one for all scalars of a point. Products are rounded once.
TEST_EACH_BACKEND(scale_multiplies_by_its_factors) {
  uint64_t seed = 5;

  for (CeedInt size = 1; size <= 3; size++) {
    for (int is_scalar = 0; is_scalar <= 1; is_scalar++) {
      double u[3 * NUM_POINTS], factor[3 * NUM_POINTS], v[3 * NUM_POINTS];
      const CeedInt sizes[] = {size, is_scalar ? 1 : size, size};
      CeedQFunction qf = NULL;

      reference_fill_random(3 * NUM_POINTS, u, &seed);
      reference_fill_random(3 * NUM_POINTS, factor, &seed);
      CHECK_OK(create_with_fields(ceed, is_scalar ? "Scale (scalar)" : "Scale", sizes, size, &qf));
      CHECK_OK(run(ceed, qf, sizes, u, factor, v));
      for (int i = 0; i < size * NUM_POINTS; i++) {
        CHECK_NEAR(v[i], u[i] * factor[is_scalar ? i % NUM_POINTS : i], eps, "size %d, number %d", (int)size,
                   i);
      }
      CeedQFunctionDestroy(&qf);
    }
  }
}

TEST_EACH_BACKEND(names_are_taken_whole) {
  CeedQFunction qf = NULL;

  CHECK_ERROR(ceed, CeedQFunctionCreateInteriorByName(ceed, "MassApp", &qf), CEED_ERROR_UNSUPPORTED,
              "MassApp");
  CHECK_ERROR(ceed, CeedQFunctionCreateInteriorByName(ceed, "mass", &qf), CEED_ERROR_UNSUPPORTED, "mass");
  CHECK_ERROR(ceed, CeedQFunctionCreateInteriorByName(ceed, NULL, &qf), CEED_ERROR_INCOMPLETE, "name");
}

// ---- Operators on deformed boxes ----

// The unit box with geometry of order 2, deformed by a polynomial of degree 2 per direction, which it holds
// exactly: x_0 + 0.3 x_1^2, x_1 + 0.2 x_2^2, and the last coordinate + 0.25 of its square. The Jacobian is
// triangular, its determinant 1 + 0.5 x_last, the measure 1.25.
static int deform(void *ctx, CeedInt dim, const double *X, double *x) {
  static const double shear[] = {0.3, 0.2};

  (void)ctx;
  for (CeedInt d = 0; d < dim; d++) {
    x[d] = X[d] + (d < dim - 1 ? shear[d] * X[d + 1] * X[d + 1] : 0.25 * X[d] * X[d]);
  }
  return 0;
}

static const double measure = 1.25;

// Mass and Laplacian of a space on the box.
typedef struct {
  CeedInt dim, num_comp, degree;
  CeedSize size, num_nodes;
  RitzMesh mesh;
  RitzSpace space;
  CeedElemRestriction rstr_x, rstr_u, rstr_qdata[2];
  CeedBasis basis_x, basis_u;
  CeedVector x, qdata[2];
  CeedOperator op[2]; // mass, Laplacian
  double *nodes;      // [num_nodes][dim]
} Problem;

static int create_mesh(Ceed ceed, Problem *p) {
  const CeedInt n[] = {2, 3, 2};

  CeedCall(RitzMeshCreateBox(ceed, p->dim, n, NULL, NULL, 2, deform, NULL, &p->mesh));
  CeedCall(RitzSpaceCreate(p->mesh, p->degree, p->num_comp, &p->space));
  CeedCall(RitzSpaceGetSize(p->space, &p->size));
  p->num_nodes = p->size / p->num_comp;
  p->nodes = reference_new(p->num_nodes * p->dim);
  CeedCall(RitzSpaceGetNodeCoordinates(p->space, p->nodes));
  CeedCall(RitzSpaceCreateRestriction(p->space, ceed, &p->rstr_u));
  return RitzMeshCreateCoordinates(p->mesh, ceed, &p->rstr_x, &p->x);
}

// "Mass" or "Poisson" with the number of the dimension: builds the data of the points and the operator.
static int create_operator(Ceed ceed, Problem *p, int which) {
  const char *names[] = {"Mass", "Poisson"}, *fields[][2] = {{"u", "v"}, {"du", "dv"}};
  CeedInt num_elem, Q, size = which == 0 ? 1 : num_symmetric(p->dim);
  CeedQFunction build = NULL, apply = NULL;
  CeedOperator op_build = NULL;
  char name[64];

  CeedCall(CeedElemRestrictionGetNumElements(p->rstr_u, &num_elem));
  CeedCall(CeedBasisGetNumQuadraturePoints(p->basis_u, &Q));
  CeedCall(CeedElemRestrictionCreateStrided(ceed, num_elem, Q, size, (CeedSize)num_elem * Q * size,
                                            CEED_STRIDES_BACKEND, &p->rstr_qdata[which]));
  CeedCall(CeedElemRestrictionCreateVector(p->rstr_qdata[which], &p->qdata[which], NULL));

  snprintf(name, sizeof(name), "%s%dDBuild", names[which], (int)p->dim);
  CeedCall(CeedQFunctionCreateInteriorByName(ceed, name, &build));
  CeedCall(CeedOperatorCreate(ceed, build, NULL, NULL, &op_build));
  CeedCall(CeedOperatorSetField(op_build, "dx", p->rstr_x, p->basis_x, CEED_VECTOR_ACTIVE));
  CeedCall(
      CeedOperatorSetField(op_build, "weights", CEED_ELEMRESTRICTION_NONE, p->basis_x, CEED_VECTOR_NONE));
  CeedCall(
      CeedOperatorSetField(op_build, "qdata", p->rstr_qdata[which], CEED_BASIS_NONE, CEED_VECTOR_ACTIVE));
  CeedCall(CeedOperatorApply(op_build, p->x, p->qdata[which], CEED_REQUEST_IMMEDIATE));

  snprintf(name, sizeof(name), "%s%s%sApply", p->num_comp == 3 ? "Vector3" : "", names[which],
           which == 0    ? ""
           : p->dim == 1 ? "1D"
           : p->dim == 2 ? "2D"
                         : "3D");
  CeedCall(CeedQFunctionCreateInteriorByName(ceed, name, &apply));
  CeedCall(CeedOperatorCreate(ceed, apply, NULL, NULL, &p->op[which]));
  CeedCall(CeedOperatorSetField(p->op[which], fields[which][0], p->rstr_u, p->basis_u, CEED_VECTOR_ACTIVE));
  CeedCall(
      CeedOperatorSetField(p->op[which], "qdata", p->rstr_qdata[which], CEED_BASIS_NONE, p->qdata[which]));
  CeedCall(CeedOperatorSetField(p->op[which], fields[which][1], p->rstr_u, p->basis_u, CEED_VECTOR_ACTIVE));

  CeedQFunctionDestroy(&build);
  CeedQFunctionDestroy(&apply);
  return CeedOperatorDestroy(&op_build);
}

// Degree 3 and 5 points: products of two functions and the Jacobian have degree 8 per direction.
static int create_problem(Ceed ceed, CeedInt dim, CeedInt num_comp, Problem *p) {
  *p = (Problem){.dim = dim, .num_comp = num_comp, .degree = 3};
  CeedCall(create_mesh(ceed, p));
  CeedCall(CeedBasisCreateTensorH1Lagrange(ceed, dim, dim, 3, 5, CEED_GAUSS, &p->basis_x));
  CeedCall(CeedBasisCreateTensorH1Lagrange(ceed, dim, num_comp, p->degree + 1, 5, CEED_GAUSS, &p->basis_u));
  CeedCall(create_operator(ceed, p, 0));
  return create_operator(ceed, p, 1);
}

static void destroy_problem(Problem *p) {
  for (int i = 0; i < 2; i++) {
    CeedOperatorDestroy(&p->op[i]);
    CeedElemRestrictionDestroy(&p->rstr_qdata[i]);
    CeedVectorDestroy(&p->qdata[i]);
  }
  CeedElemRestrictionDestroy(&p->rstr_x);
  CeedElemRestrictionDestroy(&p->rstr_u);
  CeedBasisDestroy(&p->basis_x);
  CeedBasisDestroy(&p->basis_u);
  CeedVectorDestroy(&p->x);
  RitzSpaceDestroy(&p->space);
  RitzMeshDestroy(&p->mesh);
  free(p->nodes);
}

// A u as a new array.
static double *apply_operator(const Problem *p, int which, const double *u) {
  Ceed ceed = CeedOperatorReturnCeed(p->op[which]);
  CeedVector in = reference_vector(ceed, p->size, u), out = NULL;
  double *result = NULL;

  if (!CeedVectorCreate(ceed, p->size, &out) &&
      !CeedOperatorApply(p->op[which], in, out, CEED_REQUEST_IMMEDIATE)) {
    result = reference_new_values(out);
  }
  CeedVectorDestroy(&in);
  CeedVectorDestroy(&out);
  return result ? result : reference_new(p->size);
}

// u_c = a_c + b_c . x at the nodes.
static double *new_linear(const Problem *p, const double a[3], double b[3][3]) {
  double *u = reference_new(p->size);

  for (CeedSize i = 0; i < p->size; i++) {
    CeedSize c = i % p->num_comp;

    u[i] = a[c];
    for (CeedInt d = 0; d < p->dim; d++) u[i] += b[c][d] * p->nodes[i / p->num_comp * p->dim + d];
  }
  return u;
}

// Sums over all entries: their number times a round-off is never reached.
static double sum_tolerance(const Problem *p) { return 100.0 * eps * sqrt((double)p->size); }

static void check_mass_of_one(const Problem *p) {
  double a[] = {1.0, 1.0, 1.0}, zero[3][3] = {{0.0}}, *one = new_linear(p, a, zero),
         *m = apply_operator(p, 0, one);
  double integral = reference_dot(p->size, one, m), mesh_measure = NAN;
  int ierr = RitzMeshGetMeasure(p->mesh, &mesh_measure, NULL, NULL);

  free(one);
  free(m);
  CHECK_OK(ierr);
  CHECK_NEAR(mesh_measure, measure, 100.0 * eps, "measure of the mesh");
  CHECK_NEAR(integral, p->num_comp * measure, sum_tolerance(p), "1 . M 1");
}

static void check_laplacian_of_one(const Problem *p) {
  double a[] = {1.0, -2.0, 3.0}, zero[3][3] = {{0.0}}, *one = new_linear(p, a, zero),
         *k = apply_operator(p, 1, one);
  double size = reference_largest(p->size, k);

  free(one);
  free(k);
  // Gradients of degree 3 are sums of terms of size 9 (see test-basis.c), here on elements of size 1/3.
  CHECK(size <= 2000.0 * eps, "Laplacian of constants: %g", size);
}

// The gradient of a linear function is b: the energy is |b|^2 times the measure, for each component.
static void check_energy(const Problem *p) {
  double a[] = {0.5, 0.25, -1.0}, b[3][3] = {{1.0, -2.0, 0.5}, {-1.0, 0.75, 2.0}, {0.5, 0.5, -1.5}},
         exact = 0.0;
  double *u = new_linear(p, a, b), *k = apply_operator(p, 1, u), energy = reference_dot(p->size, u, k);

  for (int c = 0; c < p->num_comp; c++) exact += measure * reference_dot(p->dim, b[c], b[c]);
  free(u);
  free(k);
  CHECK_NEAR(energy, exact, 20.0 * sum_tolerance(p), "u . K u");
}

// Components do not see each other; both operators are symmetric.
static void check_symmetric(const Problem *p, int which, uint64_t *seed) {
  double *u = reference_new_random(p->size, seed), *v = reference_new_random(p->size, seed);
  double *au = apply_operator(p, which, u), *av = apply_operator(p, which, v);
  double vau = reference_dot(p->size, v, au), uav = reference_dot(p->size, u, av);
  double size = reference_largest(p->size, au);

  free(u);
  free(v);
  free(au);
  free(av);
  CHECK(size > 0.0, "A u is zero");
  CHECK_NEAR(vau, uav, size * sum_tolerance(p), "v . A u and u . A v, operator %d", which);
}

static void check_problem(const Problem *p, uint64_t *seed) {
  check_mass_of_one(p);
  if (!tap_failed()) check_laplacian_of_one(p);
  if (!tap_failed()) check_energy(p);
  if (!tap_failed()) check_symmetric(p, 0, seed);
  if (!tap_failed()) check_symmetric(p, 1, seed);
}

TEST_EACH_BACKEND(volumes_and_energies_on_deformed_boxes_are_exact) {
  uint64_t seed = 6;

  for (CeedInt dim = 1; dim <= 3; dim++) {
    for (CeedInt num_comp = 1; num_comp <= 3; num_comp += 2) {
      Problem p;
      int ierr = create_problem(ceed, dim, num_comp, &p);

      if (!ierr) check_problem(&p, &seed);
      if (tap_failed()) tap_note("dim %d, %d components", (int)dim, (int)num_comp);
      destroy_problem(&p);
      CHECK_OK(ierr);
      if (tap_failed()) return;
    }
  }
}

int main(int argc, char **argv) {
  return tap_main(
      argc, argv,
      TESTS(gallery_functions_are_their_definitions, gallery_functions_have_the_fields_of_the_standard,
            functions_of_three_components_act_on_each_alone, identity_copies_every_scalar_in_every_mode,
            identity_to_scalar_copies_the_first_component, scale_multiplies_by_its_factors,
            names_are_taken_whole, volumes_and_energies_on_deformed_boxes_are_exact));
}
