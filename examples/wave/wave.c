// SPDX-License-Identifier: BSD-2-Clause
// Sound in a closed cube, explicit in time, by elements of degree 4: from a pulse in a corner, a sum of
// cosines of which all later times are known,
//
//     d^2 u / dt^2 = div grad u  in [0,1]^3,   du/dn = 0 on its walls,   du/dt = 0 at t = 0.
//
// Shown: quadrature in the nodes (Gauss-Lobatto), which makes the mass matrix M diagonal. A step of central
// differences, u_n+1 - 2 u_n + u_n-1 = -dt^2 M^-1 K u_n, is two additions: q += K u, u -= dt^2 M^-1 q. The
// energy (u_n+1 - u_n) . M (u_n+1 - u_n) / (2 dt^2) + u_n . K u_n+1 / 2 is constant but for rounding.
//
//     wave [RESOURCE [ELEMENTS [STEPS [STEM]]]]    ELEMENTS a direction, STEPS until t = 1; STEM-00.vtu ...
//     wave /gpu/cuda 64
#include <math.h>
#include <ritz.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

// What fails says why by itself.
static void must(int code) {
  if (code) exit(1);
}

enum { ORDER = 4, NUM_MODES = 4, NUM_REPORTS = 10 };

typedef struct {
  RitzSpace space;
  CeedSize size;
  CeedOperator stiffness;             // K
  CeedVector u, q, factor, old, work; // factor: diagonal of dt^2 M^-1
} Wave;

// The solution at the time *ctx.
static int solution(void *ctx, const double *x, double *u) {
  const double pi = 3.14159265358979323846, t = *(const double *)ctx;
  double c[3][NUM_MODES];

  for (int i = 0; i < NUM_MODES; i++) {
    for (int d = 0; d < 3; d++) c[d][i] = exp(-0.25 * i * i) * cos(i * pi * x[d]);
  }
  u[0] = 0;
  for (int n = 0; n < NUM_MODES * NUM_MODES * NUM_MODES; n++) {
    const int i = n % NUM_MODES, j = n / NUM_MODES % NUM_MODES, k = n / NUM_MODES / NUM_MODES;
    u[0] += c[0][i] * c[1][j] * c[2][k] * cos(sqrt(i * i + j * j + k * k) * pi * t);
  }
  return 0;
}

static void step(const Wave *w) {
  must(CeedOperatorApplyAdd(w->stiffness, w->u, w->q, CEED_REQUEST_IMMEDIATE));
  must(RitzVectorAddProduct(w->u, -1, w->factor, w->q));
}

static void apply(const Wave *w) {
  must(CeedOperatorApply(w->stiffness, w->u, w->work, CEED_REQUEST_IMMEDIATE));
}

static double seconds_of(const Wave *w, int num, void (*run)(const Wave *)) {
  struct timespec begin, end;
  double sum;
  timespec_get(&begin, TIME_UTC);
  for (int i = 0; i < num; i++) run(w);
  must(RitzVectorDotRange(w->u, w->q, 0, 1, &sum)); // waits for a device
  timespec_get(&end, TIME_UTC);
  return (double)(end.tv_sec - begin.tv_sec) + 1e-9 * (double)(end.tv_nsec - begin.tv_nsec);
}

// A step and the energy over it: M (u_n+1 - u_n) = -dt^2 q.
static double step_with_energy(const Wave *w) {
  double potential, kinetic[2];

  must(CeedVectorCopy(w->u, w->old));
  step(w);
  apply(w);
  must(RitzVectorDot(w->old, w->work, &potential));
  must(RitzVectorDots(2, (CeedVector[]){w->old, w->u}, w->q, kinetic));
  return (potential + kinetic[0] - kinetic[1]) / 2;
}

// K and dt^2 M^-1.
static void make_operators(Ceed ceed, RitzMesh mesh, double dt, Wave *w) {
  RitzOperatorOptions options = {.space = w->space, .quad_mode = CEED_GAUSS_LOBATTO};
  RitzGeometry geometry;
  CeedOperator mass;

  must(RitzGeometryCreate(mesh, -1, &geometry));
  options.kind = RITZ_OPERATOR_DIFFUSION;
  must(RitzGeometryCreateOperator(geometry, ceed, &options, &w->stiffness));
  options.kind = RITZ_OPERATOR_MASS;
  must(RitzGeometryCreateOperator(geometry, ceed, &options, &mass));
  must(CeedVectorSetValue(w->work, 1 / (dt * dt)));
  must(CeedOperatorApply(mass, w->work, w->factor, CEED_REQUEST_IMMEDIATE)); // sums of rows
  must(CeedVectorReciprocal(w->factor));
  CeedOperatorDestroy(&mass);
  RitzGeometryDestroy(&geometry);
}

// The energy, and a file where one is wanted; makes a step.
static void report(const Wave *w, RitzMesh mesh, int number, const char *stem) {
  const RitzOutputField field = {.name = "u", .space = w->space, .values = w->u};
  char path[1024];

  snprintf(path, sizeof path, "%s-%02d.vtu", stem ? stem : "", number);
  if (stem) must(RitzWriteVTU(mesh, 1, &field, path));
  printf("t %.1f  energy %.15g\n", (double)number / NUM_REPORTS, step_with_energy(w));
}

int main(int argc, char **argv) {
  const int n = argc > 2 ? atoi(argv[2]) : 8, wanted = argc > 3 ? atoi(argv[3]) : 2 * n * ORDER * ORDER;
  const int chunk = (wanted + NUM_REPORTS - 1) / NUM_REPORTS; // steps from report to report
  double time = 0;
  CeedScalar error;
  Ceed ceed;
  RitzMesh mesh;
  Wave w;

  if (n < 1 || wanted <= NUM_REPORTS) {
    fprintf(stderr, "wave: needed at least 1 element a direction and %d steps\n", NUM_REPORTS + 1);
    return 2;
  }
  must(CeedInit(argc > 1 ? argv[1] : "/cpu/self", &ceed));
  must(RitzMeshCreateBox(ceed, 3, (CeedInt[]){n, n, n}, NULL, NULL, 1, NULL, NULL, &mesh));
  must(RitzSpaceCreate(mesh, ORDER, 1, &w.space));
  must(RitzSpaceGetSize(w.space, &w.size));
  CeedVector *const vectors[] = {&w.u, &w.q, &w.factor, &w.old, &w.work};
  for (int i = 0; i < 5; i++) must(CeedVectorCreate(ceed, w.size, vectors[i]));
  make_operators(ceed, mesh, 1.0 / (NUM_REPORTS * chunk), &w);
  must(RitzOperatorsPrepare(1, &w.stiffness, NULL, false));

  // du/dt = 0: half a push before the first step.
  must(RitzSpaceInterpolate(w.space, solution, &(double){0}, w.u));
  must(CeedOperatorApply(w.stiffness, w.u, w.q, CEED_REQUEST_IMMEDIATE));
  must(CeedVectorScale(w.q, -0.5));
  for (int i = 0; i < NUM_REPORTS; i++) {
    report(&w, mesh, i, argc > 4 ? argv[4] : NULL);
    time += seconds_of(&w, chunk - 1, step);
  }
  must(RitzSpaceInterpolate(w.space, solution, &(double){1}, w.work));
  must(RitzVectorSum(w.work, 1, w.work, -1, w.u));
  must(CeedVectorNorm(w.work, CEED_NORM_MAX, &error));
  report(&w, mesh, NUM_REPORTS, argc > 4 ? argv[4] : NULL);
  const double steps = NUM_REPORTS * (chunk - 1) * (double)w.size / time,
               applies = chunk * (double)w.size / seconds_of(&w, chunk, apply);
  printf("unknowns %td, steps %d, error %.3e\nunknowns a second: steps %.3e, applies of K %.3e, ratio %.3f\n",
         w.size, NUM_REPORTS * chunk, (double)error, steps, applies, steps / applies);

  CeedOperatorDestroy(&w.stiffness);
  for (int i = 0; i < 5; i++) CeedVectorDestroy(vectors[i]);
  RitzSpaceDestroy(&w.space);
  RitzMeshDestroy(&mesh);
  CeedDestroy(&ceed);
  return 0;
}
