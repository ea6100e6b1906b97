// SPDX-License-Identifier: BSD-2-Clause
// Times of the sparse factorizations by fronts, L L^T and L D L^T, beside CHOLMOD (where it is found at build
// time), on assembled diffusion matrices of degree 2 in 2D and 3D, one fixed side. Run by hand:
//
//     multifrontal-rates [RESOURCE] [elements a side in 2D] [in 3D]
//
// What is timed are creation, of which RitzPreconditionerView tells the parts, and applications: seconds of
// the clock and of the processor.
#include <math.h>
#include <ritz.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static double processor_seconds(void) { return (double)clock() / CLOCKS_PER_SEC; }

#define TRY(call)                                                                                            \
  do {                                                                                                       \
    if (call) exit(1);                                                                                       \
  } while (0)

// Seconds of the processor for one of several at once.
static double time_many(RitzPreconditioner pc, CeedVector r, CeedVector z) {
  enum { NUM = 8 };
  CeedVector many_r[NUM], many_z[NUM];
  CeedSize length;
  CeedScalar norm;
  Ceed ceed = CeedVectorReturnCeed(r);
  double best = INFINITY;
  TRY(CeedVectorGetLength(z, &length));
  for (int k = 0; k < NUM; k++) {
    TRY(CeedVectorCreate(ceed, length, &many_r[k]));
    TRY(CeedVectorCreate(ceed, length, &many_z[k]));
    TRY(CeedVectorCopy(r, many_r[k]));
  }
  for (int repeat = 0; repeat < 4; repeat++) {
    const double start = processor_seconds();
    TRY(RitzPreconditionerApplyMany(pc, NUM, many_r, many_z));
    TRY(CeedVectorNorm(many_z[NUM - 1], CEED_NORM_2, &norm)); // waits
    const double took = (processor_seconds() - start) / NUM;
    if (repeat > 0 && took < best) best = took;
  }
  for (int k = 0; k < NUM; k++) {
    TRY(CeedVectorDestroy(&many_r[k]));
    TRY(CeedVectorDestroy(&many_z[k]));
  }
  return best;
}

static void time_kind(CeedOperator op, RitzIndices constraints, RitzDirectKind kind, CeedVector r,
                      CeedVector z) {
  RitzPreconditioner pc = NULL;
  double best = INFINITY, best_of_processor = INFINITY;
  CeedScalar norm;
  if (!RitzDirectKindIsAvailable(kind, NULL)) return;
  const double start_of_processor = processor_seconds();
  TRY(RitzPreconditionerCreateDirect(op, constraints, &(RitzDirectOptions){.kind = kind}, &pc));
  const double creation = processor_seconds() - start_of_processor;
  for (int repeat = 0; repeat < 5; repeat++) {
    const double start = seconds(), processor_start = processor_seconds();
    TRY(RitzPreconditionerApply(pc, r, z));
    TRY(CeedVectorNorm(z, CEED_NORM_2, &norm)); // waits
    const double took = seconds() - start, of_processor = processor_seconds() - processor_start;
    if (repeat > 0 && took < best) best = took;
    if (repeat > 0 && of_processor < best_of_processor) best_of_processor = of_processor;
  }
  const double of_many = time_many(pc, r, z);
  TRY(RitzPreconditionerView(pc, stdout));
  printf("  application %.4f s; processor: creation %.3f s, application %.4f s, of 8 at once %.4f s each; "
         "|z| %.12e\n",
         best, creation, best_of_processor, of_many, (double)norm);
  TRY(RitzPreconditionerDestroy(&pc));
}

static void run(Ceed ceed, CeedInt dim, CeedInt side) {
  const CeedInt n[3] = {side, side, side};
  RitzMesh mesh;
  RitzSpace space;
  RitzGeometry geometry;
  CeedOperator op;
  RitzIndices constraints;
  CeedVector r, z;
  CeedSize length;
  int64_t num, *nodes;
  TRY(RitzMeshCreateBox(ceed, dim, n, NULL, NULL, 1, NULL, NULL, &mesh));
  TRY(RitzSpaceCreate(mesh, 2, 1, &space));
  TRY(RitzSpaceGetSize(space, &length));
  TRY(RitzGeometryCreate(mesh, 1e-10, &geometry));
  const RitzOperatorOptions o = {
      .kind = RITZ_OPERATOR_DIFFUSION, .space = space, .num_points = 3, .policy = RITZ_POLICY_STORED};
  TRY(RitzGeometryCreateOperator(geometry, ceed, &o, &op));
  TRY(RitzSpaceGetBoundaryNodes(space, "xmin", &num, &nodes));
  TRY(RitzIndicesCreate(ceed, num, nodes, &constraints));
  TRY(CeedVectorCreate(ceed, length, &r));
  TRY(CeedVectorCreate(ceed, length, &z));
  TRY(CeedVectorSetValue(r, 1));
  printf("%dD, degree 2, %td entries\n", (int)dim, length);
  for (int repeat = 0; repeat < 2; repeat++) { // alternating
    time_kind(op, constraints, RITZ_DIRECT_MULTIFRONTAL, r, z);
    time_kind(op, constraints, RITZ_DIRECT_LDLT, r, z);
    time_kind(op, constraints, RITZ_DIRECT_CHOLMOD, r, z);
  }
  free(nodes);
  TRY(CeedVectorDestroy(&r));
  TRY(CeedVectorDestroy(&z));
  TRY(RitzIndicesDestroy(&constraints));
  TRY(CeedOperatorDestroy(&op));
  TRY(RitzGeometryDestroy(&geometry));
  TRY(RitzSpaceDestroy(&space));
  TRY(RitzMeshDestroy(&mesh));
}

int main(int argc, char **argv) {
  Ceed ceed;
  TRY(CeedInit(argc > 1 ? argv[1] : "/cpu/self/gen:threads=1", &ceed));
  run(ceed, 2, argc > 2 ? atoi(argv[2]) : 158);
  run(ceed, 3, argc > 3 ? atoi(argv[3]) : 15);
  TRY(CeedDestroy(&ceed));
  return 0;
}
