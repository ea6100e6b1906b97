// SPDX-License-Identifier: BSD-2-Clause
// Points a second of operators at points on a box of hexahedra, public Ceed API alone:
//
//     ritz-bench-points [--ceed RESOURCE] [--against RESOURCE] [--order FIRST-LAST] [--elements N]
//                       [--points N] [--reps N]
//
// Interpolation takes a nodal field of one component to the points, a deposit is its transposed. N elements a
// direction, N points an element at places that repeat, p + 1 nodes and p + 2 quadrature points a direction.
// Applies of the two resources come in turns; a row has the median of either and their ratio. Exit status: 0
// done, 1 failed, 2 wrong usage.
#include <ceed.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define TRY(expr)                                                                                            \
  do {                                                                                                       \
    const int ierr_ = (expr);                                                                                \
    if (ierr_) return ierr_;                                                                                 \
  } while (0)

static const char usage[] =
    "usage: ritz-bench-points [--ceed RESOURCE] [--against RESOURCE] [--order FIRST-LAST] [--elements N]\n"
    "                         [--points N] [--reps N]\n"
    "Default: /cpu/self/gen, /cpu/self/ref, 1-4, 16, 8, 7.\n";

typedef struct {
  const char *resources[2];
  int first_order, last_order, elements, points, repetitions;
} Options;

// ---- Options ----

static bool read_number(const char *text, int most, int *number) {
  return sscanf(text, "%d", number) == 1 && *number > 0 && *number <= most;
}

static bool set_option(Options *o, const char *name, const char *text) {
  if (!strcmp(name, "--ceed")) return o->resources[0] = text, true;
  if (!strcmp(name, "--against")) return o->resources[1] = text, true;
  if (!strcmp(name, "--elements")) return read_number(text, 200, &o->elements);
  if (!strcmp(name, "--points")) return read_number(text, 1000, &o->points);
  if (!strcmp(name, "--reps")) return read_number(text, 99, &o->repetitions);
  if (strcmp(name, "--order") != 0) return false;
  const int num = sscanf(text, "%d-%d", &o->first_order, &o->last_order);
  if (num == 1) o->last_order = o->first_order;
  return num >= 1 && o->first_order >= 1 && o->last_order <= 12;
}

static bool read_options(int argc, char **argv, Options *o) {
  *o = (Options){{"/cpu/self/gen", "/cpu/self/ref"}, 1, 4, 16, 8, 7};
  for (int i = 1; i < argc; i += 2) {
    if (i + 1 == argc || !set_option(o, argv[i], argv[i + 1])) return false;
  }
  return true;
}

// ---- Problems ----

typedef struct {
  CeedOperator op;
  CeedVector in, out;
  CeedSize num_points;
} Problem;

// Nodes of an element of the box, x fastest.
static int create_nodes(Ceed ceed, const Options *o, int order, CeedElemRestriction *rstr) {
  const CeedInt n = o->elements, num = n * n * n, line = n * order + 1, P = order + 1, size = P * P * P;
  CeedInt *offsets = malloc((size_t)num * (size_t)size * sizeof(*offsets));

  if (!offsets) return CEED_ERROR_MAJOR;
  for (CeedInt e = 0; e < num; e++) {
    const CeedInt i0 = e % n * order, j0 = e / n % n * order, k0 = e / n / n * order;
    for (CeedInt a = 0; a < size; a++)
      offsets[e * size + a] = ((k0 + a / P / P) * line + j0 + a / P % P) * line + i0 + a % P;
  }
  const int ierr = CeedElemRestrictionCreate(ceed, num, size, 1, 1, (CeedSize)line * line * line,
                                             CEED_MEM_HOST, CEED_COPY_VALUES, offsets, rstr);
  free(offsets);
  return ierr;
}

// The points of an element are consecutive.
static int create_points(Ceed ceed, const Options *o, CeedInt num_comp, CeedElemRestriction *rstr) {
  const CeedInt num = o->elements * o->elements * o->elements, begin = num + 1, total = num * o->points;
  CeedInt *lists = malloc((size_t)(begin + total) * sizeof(*lists));

  if (!lists) return CEED_ERROR_MAJOR;
  for (CeedInt e = 0; e <= num; e++) lists[e] = begin + e * o->points;
  for (CeedInt i = 0; i < total; i++) lists[begin + i] = i;
  const int ierr = CeedElemRestrictionCreateAtPoints(ceed, num, total, num_comp, (CeedSize)total * num_comp,
                                                     CEED_MEM_HOST, CEED_COPY_VALUES, lists, rstr);
  free(lists);
  return ierr;
}

// Numbers in [-1,1] that repeat.
static int fill(CeedVector vec) {
  CeedScalar *values;
  CeedSize n;

  TRY(CeedVectorGetLength(vec, &n));
  TRY(CeedVectorGetArrayWrite(vec, CEED_MEM_HOST, &values));
  for (CeedSize i = 0; i < n; i++) values[i] = (CeedScalar)(i * 7919 % 2003) / 1001 - 1;
  return CeedVectorRestoreArray(vec, &values);
}

static int set_fields(Problem *p, bool deposits, CeedElemRestriction nodes, CeedBasis basis,
                      CeedElemRestriction points, CeedElemRestriction rstr_x, CeedVector x) {
  const char *nodal = deposits ? "output" : "input", *other = deposits ? "input" : "output";

  TRY(CeedOperatorSetField(p->op, nodal, nodes, basis, CEED_VECTOR_ACTIVE));
  TRY(CeedOperatorSetField(p->op, other, points, CEED_BASIS_NONE, CEED_VECTOR_ACTIVE));
  TRY(CeedOperatorAtPointsSetPoints(p->op, rstr_x, x));
  TRY(CeedElemRestrictionCreateVector(deposits ? points : nodes, &p->in, NULL));
  TRY(CeedElemRestrictionCreateVector(deposits ? nodes : points, &p->out, NULL));
  return fill(p->in);
}

static int create_problem(Ceed ceed, const Options *o, int order, bool deposits, Problem *p) {
  const CeedEvalMode in = deposits ? CEED_EVAL_NONE : CEED_EVAL_INTERP;
  const CeedEvalMode out = deposits ? CEED_EVAL_INTERP : CEED_EVAL_NONE;
  CeedElemRestriction nodes = NULL, points = NULL, rstr_x = NULL;
  CeedBasis basis = NULL;
  CeedQFunction qf = NULL;
  CeedVector x = NULL;

  *p = (Problem){.num_points = (CeedSize)o->elements * o->elements * o->elements * o->points};
  int ierr = create_nodes(ceed, o, order, &nodes);
  if (!ierr) ierr = create_points(ceed, o, 1, &points);
  if (!ierr) ierr = create_points(ceed, o, 3, &rstr_x);
  if (!ierr) ierr = CeedElemRestrictionCreateVector(rstr_x, &x, NULL);
  if (!ierr) ierr = fill(x);
  if (!ierr) ierr = CeedBasisCreateTensorH1Lagrange(ceed, 3, 1, order + 1, order + 2, CEED_GAUSS, &basis);
  if (!ierr) ierr = CeedQFunctionCreateIdentity(ceed, 1, in, out, &qf);
  if (!ierr) ierr = CeedOperatorCreateAtPoints(ceed, qf, NULL, NULL, &p->op);
  if (!ierr) ierr = set_fields(p, deposits, nodes, basis, points, rstr_x, x);
  CeedVectorDestroy(&x);
  CeedQFunctionDestroy(&qf);
  CeedBasisDestroy(&basis);
  CeedElemRestrictionDestroy(&nodes);
  CeedElemRestrictionDestroy(&points);
  CeedElemRestrictionDestroy(&rstr_x);
  return ierr;
}

static void destroy_problem(Problem *p) {
  CeedOperatorDestroy(&p->op);
  CeedVectorDestroy(&p->in);
  CeedVectorDestroy(&p->out);
}

// ---- Times ----

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// Applies for at least 20 ms, then a norm of the output, which waits for devices.
static int time_applies(const Problem *p, double *seconds, double *norm) {
  const double start = now();
  CeedScalar value;
  int num = 0;

  do {
    TRY(CeedOperatorApply(p->op, p->in, p->out, CEED_REQUEST_IMMEDIATE));
    num++;
  } while (now() - start < 0.02);
  TRY(CeedVectorNorm(p->out, CEED_NORM_2, &value));
  *norm = (double)value;
  *seconds = (now() - start) / num;
  return CEED_ERROR_SUCCESS;
}

static int compare_numbers(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static int time_both(const Options *o, const Problem *p, int order, bool deposits) {
  double samples[2][100], norms[2] = {0, 0};

  for (int r = -1; r < o->repetitions; r++) { // the first one warms up
    for (int k = 0; k < 2; k++) TRY(time_applies(&p[k], &samples[k][r < 0 ? 0 : r], &norms[k]));
  }
  for (int k = 0; k < 2; k++) qsort(samples[k], (size_t)o->repetitions, sizeof(double), compare_numbers);
  const double one = samples[0][o->repetitions / 2], other = samples[1][o->repetitions / 2];
  const double num = (double)p[0].num_points;
  printf("%-12s %2d %10.0f %12.2f %12.2f %8.2f  %.1e\n", deposits ? "deposit" : "interpolate", order, num,
         1e-6 * num / one, 1e-6 * num / other, other / one, fabs(norms[0] - norms[1]) / norms[1]);
  fflush(stdout);
  return CEED_ERROR_SUCCESS;
}

static int run_all(Ceed *ceed, const Options *o) {
  printf("# %d points an element, millions of points a second\n# %-10s  p     points %12s %12s    ratio  "
         "difference\n",
         o->points, "", o->resources[0], o->resources[1]);
  for (int deposits = 0; deposits < 2; deposits++) {
    for (int order = o->first_order; order <= o->last_order; order++) {
      Problem p[2] = {{0}, {0}};
      int ierr = CEED_ERROR_SUCCESS;
      for (int k = 0; k < 2 && !ierr; k++) ierr = create_problem(ceed[k], o, order, deposits, &p[k]);
      if (!ierr) ierr = time_both(o, p, order, deposits);
      for (int k = 0; k < 2; k++) destroy_problem(&p[k]);
      TRY(ierr);
    }
  }
  return CEED_ERROR_SUCCESS;
}

int main(int argc, char **argv) {
  Ceed ceed[2] = {NULL, NULL};
  Options o;

  if (!read_options(argc, argv, &o)) return fputs(usage, stderr), 2;
  if (CeedInit(o.resources[0], &ceed[0]) || CeedInit(o.resources[1], &ceed[1])) return 1;
  const int ierr = run_all(ceed, &o);
  for (int k = 0; k < 2; k++) CeedDestroy(&ceed[k]);
  return ierr != 0;
}
