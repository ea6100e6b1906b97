// SPDX-License-Identifier: BSD-2-Clause
// Matrices in a fixed pattern (ritz/assembly.h): random operators against their dense matrices while
// coefficients change, composites, repeated runs and any number of threads bit by bit, element matrices of
// generated kernels, and what is refused.
#include "tests/tap.h"

#include "backends/cpu/matrix.h"
#include "core/operator.h"
#include "tests/poisson.h"
#include "tests/random-operator.h"
#include "tests/reference.h"
#include <math.h>
#include <ritz/assembly.h>
#include <ritz/mesh.h>
#include <stdlib.h>
#include <string.h>

// ---- Random operators ----

// Numbers of operators; each compiles two kernels on /cpu/self/gen.
static int num_draws(void) {
  static const int num[] = {6, 40, 400};

  return num[tap_level()];
}

typedef struct {
  RitzAssembly assembly;
  CeedSize num_rows, num_cols;
  const int64_t *row_starts, *cols;
  CeedVector values;
} Matrix;

static int matrix_create(CeedOperator op, Matrix *m) {
  *m = (Matrix){0};
  CeedCall(RitzAssemblyCreate(op, &m->assembly));
  CeedCall(RitzAssemblyGetPattern(m->assembly, &m->num_rows, &m->num_cols, &m->row_starts, &m->cols));
  return CeedVectorCreate(CeedOperatorReturnCeed(op), m->row_starts[m->num_rows], &m->values);
}

static int matrix_destroy(Matrix *m) {
  int ierr = CeedVectorDestroy(&m->values);
  if (!ierr) ierr = RitzAssemblyDestroy(&m->assembly);
  return ierr;
}

// Rounding errors of an entry: as in random_target_apply, for a unit vector.
static double entry_tolerance(const RandomOperator *r) {
  const RandomTarget *t = &r->targets[0];
  double num_nodes = 0.0;

  for (int i = 0; i < r->num_spaces; i++) num_nodes = fmax(num_nodes, r->spaces[i].elem_size);
  return eps * (r->Q + RANDOM_MAX_SCALARS + num_nodes) *
         reference_largest(t->length * (r->input_size + 1), t->magnitude);
}

// Largest difference to the dense matrices of some operators, of the same sizes.
static double distance(const Matrix *m, int num, const RandomOperator *r) {
  double *dense = reference_new(m->num_rows * m->num_cols), *values = reference_new_values(m->values);

  for (CeedSize i = 0; i < m->num_rows; i++) {
    for (int64_t k = m->row_starts[i]; k < m->row_starts[i + 1]; k++)
      dense[i * m->num_cols + m->cols[k]] += values[k];
    for (int part = 0; part < num; part++) {
      const double *row = r[part].targets[0].matrix + i * (m->num_cols + 1);
      for (CeedSize j = 0; j < m->num_cols; j++) dense[i * m->num_cols + j] -= row[j];
    }
  }
  const double largest = reference_largest(m->num_rows * m->num_cols, dense);
  free(dense);
  free(values);
  return largest;
}

static void check_values(const RandomOperator *r, const Matrix *m) {
  CHECK_OK(CeedVectorSetValue(m->values, NAN)); // all are overwritten
  CHECK_OK(RitzAssemblyRun(m->assembly, m->values));
  const double error = distance(m, 1, r);
  CHECK(error <= entry_tolerance(r), "off by %g, allowed %g", error, entry_tolerance(r));
}

static void check_bits(const Matrix *m, Ceed ceed) {
  const size_t size = (size_t)m->row_starts[m->num_rows] * sizeof(double);
  double *first = reference_new_values(m->values);
  int ierr = RitzAssemblyRun(m->assembly, m->values);
  double *second = reference_new_values(m->values);
  const bool is_same = !memcmp(first, second, size);
  bool is_deterministic = false;

  free(first);
  free(second);
  CHECK_OK(ierr);
  CHECK_OK(CeedIsDeterministic(ceed, &is_deterministic));
  CHECK(is_same || !is_deterministic, "two runs differ in a bit");
}

// Generated kernels serve all that they should.
static bool is_served(const RandomOperator *r) {
  CeedOperator op = r->op;
  const CeedOperatorAssemblyData data = op->assembly_data;
  bool is_curl = false;

  if (strncmp(r->ceed->resource, "/cpu/self/gen", 13) != 0 || r->num_elem == 0) return true;
  if (ritz_cpu_tier(op)->path != RITZ_PATH_TEXT) return true;
  for (CeedInt a = 0; a < data->in.num; a++)
    is_curl = is_curl || data->in.rstrs[a]->type == CEED_RESTRICTION_CURL_ORIENTED;
  for (CeedInt b = 0; b < data->out.num; b++)
    is_curl = is_curl || data->out.rstrs[b]->type == CEED_RESTRICTION_CURL_ORIENTED;
  return is_curl || ritz_cpu_matrix_is_made(op, data->in.num - 1, data->out.num - 1);
}

static void check_changes(RandomOperator *r, uint64_t *seed) {
  Matrix m;
  CHECK_OK(matrix_create(r->op, &m));
  check_values(r, &m);
  if (!tap_failed()) CHECK(is_served(r), "no kernel served");
  if (!tap_failed()) CHECK_OK(random_operator_change_passive(r, seed));
  if (!tap_failed()) check_values(r, &m);
  if (!tap_failed()) check_bits(&m, r->ceed);
  CHECK_OK(matrix_destroy(&m));
}

static void with_operators(Ceed ceed, RandomOptions options, uint64_t first_seed) {
  const int num = random_num_draws(ceed, num_draws());
  for (int i = 0; i < num && !tap_failed(); i++) {
    RandomOperator r;
    uint64_t seed = first_seed + (uint64_t)i;
    int ierr = random_operator_create(ceed, &options, &seed, &r);

    if (!ierr) check_changes(&r, &seed);
    if (ierr || tap_failed()) tap_note("operator: %s", random_operator_describe(&r));
    random_operator_destroy(&r);
    CHECK_OK(ierr);
  }
}

TEST_EACH_BACKEND(values_are_the_matrix_whenever_coefficients_change) {
  with_operators(ceed, (RandomOptions){.num_active_in = 1, .num_active_out = 1, .is_linear = true}, 3100000);
}

TEST_EACH_BACKEND(values_of_several_fields_and_tensor_bases_are_the_matrix) {
  with_operators(
      ceed, (RandomOptions){.num_active_in = 2, .num_active_out = 2, .is_linear = true, .is_tensor = true},
      3200000);
}

// ---- Composites ----

enum { NUM_PARTS = 2, ROWS = 23, COLS = 17 };

TEST_EACH_BACKEND(values_of_composites_are_sums_over_their_parts) {
  const RandomOptions options = {
      .num_active_in = 1, .num_active_out = 1, .is_linear = true, .input_size = COLS, .output_size = ROWS};
  RandomOperator parts[NUM_PARTS];
  CeedOperator op = NULL;
  Matrix m = {0};
  uint64_t seed = 3300000;
  double tolerance = 0.0, error = NAN;
  int num = 0, ierr = CeedOperatorCreateComposite(ceed, &op);

  for (; !ierr && num < NUM_PARTS; num++) {
    ierr = random_operator_create(ceed, &options, &seed, &parts[num]);
    if (!ierr) ierr = CeedOperatorCompositeAddSub(op, parts[num].op);
    if (!ierr) tolerance += entry_tolerance(&parts[num]);
  }
  if (!ierr) ierr = matrix_create(op, &m);
  if (!ierr) ierr = RitzAssemblyRun(m.assembly, m.values);
  if (!ierr) error = distance(&m, NUM_PARTS, parts);
  matrix_destroy(&m);
  CeedOperatorDestroy(&op);
  for (int i = 0; i < num; i++) random_operator_destroy(&parts[i]);
  CHECK_OK(ierr);
  CHECK(error <= tolerance, "off by %g, allowed %g", error, tolerance);
}

// ---- Threads ----

// Values of the Laplacian on a box of hexahedra, and element matrices of the same kernel; both owned.
static int assemble_laplacian(const char *resource, CeedInt degree, double **values, double **triples,
                              size_t *num) {
  Ceed ceed = tap_ceed(resource);
  RitzMesh mesh = NULL;
  CeedOperator op = NULL;
  CeedVector list = NULL;
  CeedSize num_triples = 0;
  Matrix m = {0};
  int ierr = RitzMeshCreateBox(ceed, 3, (CeedInt[]){5, 4, 3}, NULL, NULL, degree, NULL, NULL, &mesh);

  if (!ierr) ierr = poisson_create_laplacian(ceed, mesh, degree, &op);
  if (!ierr) ierr = matrix_create(op, &m);
  if (!ierr) ierr = RitzAssemblyRun(m.assembly, m.values);
  if (!ierr) ierr = CeedOperatorLinearAssembleGetNumEntries(op, &num_triples);
  if (!ierr) ierr = CeedVectorCreate(ceed, num_triples, &list);
  if (!ierr) ierr = CeedOperatorLinearAssemble(op, list);
  if (!ierr) {
    *values = reference_new_values(m.values);
    *triples = reference_new_values(list);
    *num = (size_t)m.row_starts[m.num_rows];
  }
  CeedVectorDestroy(&list);
  matrix_destroy(&m);
  CeedOperatorDestroy(&op);
  RitzMeshDestroy(&mesh);
  CeedDestroy(&ceed);
  return ierr;
}

static void check_threads(CeedInt degree) {
  static const char *const resources[] = {"/cpu/self/gen:threads=1", "/cpu/self/gen:threads=3",
                                          "/cpu/self/ref"};
  double *values[3] = {NULL}, *triples[3] = {NULL}, error = 0.0, largest = 0.0;
  size_t num = 0;
  int ierr = 0;

  for (int i = 0; i < 3 && !ierr; i++)
    ierr = assemble_laplacian(resources[i], degree, &values[i], &triples[i], &num);
  const bool is_same = !ierr && !memcmp(values[0], values[1], num * sizeof(double));
  if (!ierr) {
    error = fmax(reference_distance((CeedSize)num, values[0], values[2]),
                 reference_distance((CeedSize)num, triples[0], triples[2]));
    largest = reference_largest((CeedSize)num, values[2]);
  }
  for (int i = 0; i < 3; i++) {
    free(values[i]);
    free(triples[i]);
  }
  CHECK_OK(ierr);
  CHECK(is_same, "degree %d: one and three threads differ in a bit", (int)degree);
  // sums of 9 (degree + 1)^3 products of numbers below 10 times the largest entry
  const double allowed = 100.0 * 9.0 * pow(degree + 2.0, 3.0) * eps * largest;
  CHECK(error <= allowed, "degree %d: off by %g, allowed %g", (int)degree, error, allowed);
}

TEST(matrices_have_the_same_bits_on_any_number_of_threads) {
  check_threads(1);
  if (!tap_failed()) check_threads(2);
}

// ---- What is refused ----

TEST_EACH_BACKEND(bad_arguments_of_assemblies_are_refused) {
  RandomOperator r;
  uint64_t seed = 3400000;
  const RandomOptions options = {.num_active_in = 1, .num_active_out = 1, .is_linear = true, .num_elem = 2};
  Matrix m = {0};
  CeedVector small = NULL;
  CeedOperator none = NULL;

  CHECK_OK(random_operator_create(ceed, &options, &seed, &r));
  CHECK_OK(matrix_create(r.op, &m));
  CHECK_OK(CeedVectorCreate(ceed, m.row_starts[m.num_rows] - 1, &small));
  CHECK_ERROR(ceed, RitzAssemblyRun(m.assembly, small), CEED_ERROR_DIMENSION,
              "RitzAssemblyRun: the vector has");
  CHECK_ERROR(ceed, RitzAssemblyRun(m.assembly, NULL), CEED_ERROR_INCOMPATIBLE, "values");
  CHECK_ERROR(NULL, RitzAssemblyRun(NULL, small), CEED_ERROR_INCOMPATIBLE, "assembly");
  CHECK_ERROR(NULL, RitzAssemblyCreate(none, &m.assembly), CEED_ERROR_INCOMPATIBLE, "op");
  CHECK_ERROR(ceed, RitzAssemblyCreate(r.op, NULL), CEED_ERROR_INCOMPATIBLE, "assembly");
  CHECK_ERROR(NULL, RitzAssemblyGetPattern(NULL, NULL, NULL, NULL, NULL), CEED_ERROR_INCOMPATIBLE,
              "assembly");
  CHECK_OK(RitzAssemblyGetPattern(m.assembly, NULL, NULL, NULL, NULL));
  CHECK_OK(CeedVectorDestroy(&small));
  CHECK_OK(matrix_destroy(&m));
  random_operator_destroy(&r);
}

int main(int argc, char **argv) {
  return tap_main(argc, argv,
                  TESTS(values_are_the_matrix_whenever_coefficients_change,
                        values_of_several_fields_and_tensor_bases_are_the_matrix,
                        values_of_composites_are_sums_over_their_parts,
                        matrices_have_the_same_bits_on_any_number_of_threads,
                        bad_arguments_of_assemblies_are_refused));
}
