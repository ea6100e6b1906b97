// SPDX-License-Identifier: BSD-2-Clause
// Rates of sweeps over vertex patches of a uniform box, in lifted form; that the residual vanishes on patches
// of the last colour; and that all choices give the same bits:
//
//     patch-rates [--ceed RESOURCE] [--dim 2|3] [--degrees FIRST-LAST] [--size DOFS] [--blocks LIST]
//                 [--precisions LIST] [--batches N]
//
// LIST: words between commas, of blocks between colons (PATCHES,RESIDENT: RITZ_PATCH_BLOCK); "auto": as
// the library chooses. Medians of batches of 4 sweeps. Exit status: 1 where a residual does not vanish or
// bits differ. Run by hand.
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/gpu/context.h"
#include "core/patch-sweep.h"
#include "core/vector.h"
#include "jit/files.h"
#include "tests/tap.h"

enum { SWEEPS = 4, MAX_BATCHES = 101 };

typedef struct {
  const char *resource, *blocks, *precisions;
  int dim, first_degree, last_degree, num_batches;
  double size;
} Options;

static bool set_option(Options *o, const char *name, const char *text) {
  if (!strcmp(name, "--ceed")) return o->resource = text, true;
  if (!strcmp(name, "--blocks")) return o->blocks = text, true;
  if (!strcmp(name, "--precisions")) return o->precisions = text, true;
  if (!strcmp(name, "--size")) return (o->size = atof(text)) >= 1;
  if (!strcmp(name, "--dim")) return (o->dim = atoi(text)) == 2 || o->dim == 3;
  if (!strcmp(name, "--batches")) return (o->num_batches = atoi(text)) > 0 && o->num_batches <= MAX_BATCHES;
  if (strcmp(name, "--degrees") != 0) return false;
  if (sscanf(text, "%d-%d", &o->first_degree, &o->last_degree) == 1) o->last_degree = o->first_degree;
  return o->first_degree >= 1 && o->last_degree <= 16;
}

// ---- The sweep ----

static const double factors[4] = {1, 0.8, 1.3, 0};

static int make_sweep(Ceed ceed, const Options *o, int p, CeedScalarType precision, RitzPatchSweep *sweep) {
  RitzPatchBox box = {.dim = o->dim, .degree = p, .num_comp = 1, .precision = precision, .is_uniform = true};
  const int64_t cells = (int64_t)(pow(o->size, 1.0 / o->dim) / p + 0.5);
  for (int d = 0; d < 3; d++) {
    box.cells[d] = d < o->dim ? (cells < 4 ? 4 : cells) : 0;
    box.nodes[d] = box.cells[d] * p + 1;
    box.first[d] = d < o->dim;
    box.count[d] = d < o->dim ? box.cells[d] - 1 : 1;
    box.is_fixed[d][0] = box.is_fixed[d][1] = d < o->dim;
    box.factor[d] = d < o->dim ? factors[d] : 0;
  }
  CeedCall(RITZ_MALLOC(ceed, ritz_fe_patch_line_size(p), &box.tables[0]));
  box.tables[1] = box.tables[2] = box.tables[0];
  CeedCall(ritz_fe_patch_line(ceed, p, (const double[]){1, 1}, 0, 2 * p - 1, box.tables[0]));
  return ritz_patch_sweep_create(ceed, &box, sweep);
}

// Random numbers, zero where x is constrained.
static int make_vector(RitzPatchSweep sweep, uint64_t seed, CeedVector *vec) {
  const RitzPatchBox *box = &sweep->box;
  const bool is_single = box->precision == CEED_SCALAR_FP32;
  void *array;
  CeedCall(ritz_vector_create(sweep->ceed, "patch-rates", sweep->length, box->precision, vec));
  CeedCall(ritz_vector_lock(*vec, RITZ_ACCESS_WRITE, CEED_MEM_HOST, &array));
  for (CeedSize i = 0; i < sweep->length; i++) {
    int64_t node = i;
    bool is_free = true;
    for (int d = 0; d < box->dim; d++, node /= box->nodes[d - 1])
      is_free = is_free && node % box->nodes[d] != 0 && node % box->nodes[d] != box->nodes[d] - 1;
    const double value = is_free ? tap_uniform(&seed) : 0;
    if (is_single)
      ((float *)array)[i] = (float)value;
    else
      ((double *)array)[i] = value;
  }
  return ritz_vector_unlock(*vec, RITZ_ACCESS_WRITE, &array, CEED_ERROR_SUCCESS);
}

// ---- The residual ----

static double entry(const RitzPatchBox *box, const void *v, int64_t i) {
  return box->precision == CEED_SCALAR_FP32 ? (double)((const float *)v)[i] : ((const double *)v)[i];
}

// Residual at interior node `row` of the patch at `position`.
static double residual_at(const RitzPatchBox *box, const int64_t *position, const int *row, const void *b,
                          const void *x) {
  const int m = 2 * box->degree + 1, m2 = box->dim == 3 ? m : 1;
  const RitzPatchLine line = ritz_patch_line(box->degree, box->tables[0]);
  int64_t corner = 0, at = 0;
  double sum = 0;
  for (int d = box->dim - 1; d >= 0; d--) {
    const int64_t node = (position[d] - 1) * box->degree;
    corner = corner * box->nodes[d] + node;
    at = at * box->nodes[d] + node + row[d] + 1;
  }
  for (int k = 0; k < m2; k++) {
    for (int j = 0; j < m; j++) {
      for (int i = 0; i < m; i++) {
        const int c[3] = {i, j, k};
        double value = 0;
        for (int term = 0; term < box->dim; term++) {
          double product = box->factor[term];
          for (int d = 0; d < box->dim; d++) product *= (d == term ? line.A : line.M)[row[d] * m + c[d]];
          value += product;
        }
        sum += value * entry(box, x, corner + i + box->nodes[0] * (j + box->nodes[1] * k));
      }
    }
  }
  return entry(box, b, at) - sum;
}

// The largest residual in some patches of the last colour.
static int largest_residual(RitzPatchSweep sweep, CeedVector b, CeedVector x, double *largest) {
  const RitzPatchBox *box = &sweep->box;
  uint64_t seed = 3;
  void *from, *to;
  *largest = 0;
  CeedCall(ritz_vector_lock(b, RITZ_ACCESS_READ, CEED_MEM_HOST, &from));
  CeedCall(ritz_vector_lock(x, RITZ_ACCESS_READ, CEED_MEM_HOST, &to));
  for (int trial = 0; trial < 400; trial++) {
    int64_t position[3] = {0, 0, 0};
    int row[3] = {0, 0, 0};
    for (int d = 0; d < box->dim; d++) {
      const int64_t num = ritz_patch_count(box, d, 1, &position[d]);
      position[d] += 2 * (tap_integer(&seed, 4) ? (int64_t)tap_integer(&seed, (uint64_t)num) : num - 1);
      row[d] = (int)tap_integer(&seed, (uint64_t)(2 * box->degree - 1));
    }
    const double r = fabs(residual_at(box, position, row, from, to));
    *largest = r <= *largest ? *largest : r; // keeps what is no number
  }
  CeedCall(ritz_vector_unlock(x, RITZ_ACCESS_READ, &to, CEED_ERROR_SUCCESS));
  return ritz_vector_unlock(b, RITZ_ACCESS_READ, &from, CEED_ERROR_SUCCESS);
}

// ---- Times ----

static int wait_for(Ceed ceed) {
  if (ceed->backend.mem_type != CEED_MEM_DEVICE) return CEED_ERROR_SUCCESS;
  return ritz_gpu(ceed)->driver->synchronize(ceed, ritz_gpu(ceed)->device, ritz_gpu(ceed)->stream);
}

static int ascending(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static int time_sweeps(RitzPatchSweep sweep, const Options *o, CeedVector b, CeedVector x, double *seconds) {
  double times[MAX_BATCHES];
  for (int i = 0; i < o->num_batches; i++) {
    CeedCall(wait_for(sweep->ceed));
    const double begin = ritz_seconds();
    for (int k = 0; k < SWEEPS; k++) CeedCall(ritz_patch_sweep_run(sweep, b, x, false, false));
    CeedCall(wait_for(sweep->ceed));
    times[i] = (ritz_seconds() - begin) / SWEEPS;
  }
  qsort(times, (size_t)o->num_batches, sizeof(double), ascending);
  *seconds = times[o->num_batches / 2];
  return CEED_ERROR_SUCCESS;
}

typedef struct {
  const Options *options;
  int degree;
  CeedScalarType precision;
  CeedVector b, start, x; // owned; of the sweeps of this degree
  uint64_t bits;          // of x after a sweep and a reversed one; 0: none yet
  bool is_right;
} Case;

static int fill_vectors(Case *c, RitzPatchSweep sweep) {
  if (c->b) return CEED_ERROR_SUCCESS;
  CeedCall(make_vector(sweep, 1, &c->b));
  CeedCall(make_vector(sweep, 2, &c->start));
  return make_vector(sweep, 2, &c->x);
}

static int hash_vector(CeedVector vec, uint64_t *hash) {
  const size_t num = (size_t)vec->length * ritz_scalar_bytes(vec->precision) / 4;
  void *array;
  CeedCall(ritz_vector_lock(vec, RITZ_ACCESS_READ, CEED_MEM_HOST, &array));
  *hash = 14695981039346656037u;
  for (size_t i = 0; i < num; i++) *hash = (*hash ^ ((const uint32_t *)array)[i]) * 1099511628211u;
  return ritz_vector_unlock(vec, RITZ_ACCESS_READ, &array, CEED_ERROR_SUCCESS);
}

// Whether a sweep and a reversed one give the bits of the other choices.
static int compare_bits(Case *c, RitzPatchSweep sweep, bool *are_equal) {
  uint64_t bits;
  CeedCall(CeedVectorCopy(c->start, c->x));
  CeedCall(ritz_patch_sweep_run(sweep, c->b, c->x, false, false));
  CeedCall(ritz_patch_sweep_run(sweep, c->b, c->x, false, true));
  CeedCall(hash_vector(c->x, &bits));
  if (c->bits == 0) c->bits = bits;
  *are_equal = c->bits == bits;
  return CEED_ERROR_SUCCESS;
}

static int measure(Ceed ceed, Case *c, const char *block) {
  const bool is_single = c->precision == CEED_SCALAR_FP32;
  const double eps = is_single ? (double)FLT_EPSILON : DBL_EPSILON;
  RitzPatchSweep sweep = NULL;
  double seconds, residual;
  bool are_equal;
  if (strcmp(block, "auto"))
    setenv("RITZ_PATCH_BLOCK", block, 1);
  else
    unsetenv("RITZ_PATCH_BLOCK");
  CeedCall(make_sweep(ceed, c->options, c->degree, c->precision, &sweep));
  CeedCall(fill_vectors(c, sweep));
  CeedCall(compare_bits(c, sweep, &are_equal));
  CeedCall(ritz_patch_sweep_run(sweep, c->b, c->x, false, false));
  CeedCall(largest_residual(sweep, c->b, c->x, &residual));
  CeedCall(time_sweeps(sweep, c->options, c->b, c->x, &seconds));
  const bool is_small =
      residual <= 2000 * eps * c->degree * c->degree; // of sums of products of numbers below 1
  printf("%2d  %s  %6.1f  %8s  %9.3f  %7.2f  %.1e%s%s\n", c->degree, is_single ? "f32" : "f64",
         (double)sweep->length * 1e-6, block, seconds * 1e3, (double)sweep->length / seconds * 1e-9, residual,
         is_small ? "" : "  WRONG", are_equal ? "" : "  OTHER BITS");
  fflush(stdout);
  c->is_right = c->is_right && is_small && are_equal;
  return ritz_patch_sweep_destroy(&sweep);
}

// The word of a list that begins at *at, which moves behind it; false: there is none.
static bool next_word(const char **at, const char *separators, char word[32]) {
  const size_t length = strcspn(*at, separators);
  if (!**at) return false;
  snprintf(word, 32, "%.*s", (int)length, *at);
  *at += length + ((*at)[length] != '\0');
  return true;
}

static int measure_case(Ceed ceed, Case *c) {
  char block[32];
  int ierr = CEED_ERROR_SUCCESS;
  for (const char *blocks = c->options->blocks; !ierr && next_word(&blocks, ":", block);) {
    ierr = measure(ceed, c, block);
  }
  CeedVectorDestroy(&c->b);
  CeedVectorDestroy(&c->start);
  CeedVectorDestroy(&c->x);
  return ierr;
}

static int measure_all(Ceed ceed, const Options *o, bool *is_right) {
  char word[32];
  for (int p = o->first_degree; p <= o->last_degree; p++) {
    for (const char *precisions = o->precisions; next_word(&precisions, ",", word);) {
      Case c = {o, p, strcmp(word, "f32") ? CEED_SCALAR_TYPE : CEED_SCALAR_FP32, NULL, NULL, NULL, 0, true};
      CeedCall(measure_case(ceed, &c));
      *is_right = *is_right && c.is_right;
    }
  }
  return CEED_ERROR_SUCCESS;
}

int main(int argc, char **argv) {
  Options o = {"/gpu/cuda/gen", "auto", "f64,f32", 3, 1, 8, 9, 31e6};
  Ceed ceed;
  bool is_right = true;
  for (int i = 1; i < argc; i += 2) {
    if (i + 1 < argc && set_option(&o, argv[i], argv[i + 1])) continue;
    fprintf(stderr, "patch-rates: '%s': see the head of tests/patch-rates.c\n", argv[i]);
    return 2;
  }
  if (CeedInit(o.resource, &ceed)) return 1;
  printf(" p  real    MDOF     block         ms   GDOF/s  residual\n");
  const int ierr = measure_all(ceed, &o, &is_right);
  CeedDestroy(&ceed);
  return ierr || !is_right;
}
