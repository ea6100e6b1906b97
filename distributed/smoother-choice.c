// SPDX-License-Identifier: BSD-2-Clause
// RITZ_SMOOTHER_MEASURED of problems in parts: the smoother that is predicted to be the fastest by the model
// of one part (solver/smoother-model.h), from shapes of elements of all parts. Nothing is timed, so that
// parts agree. Called by distributed/multigrid.c.
#include "base/error.h"
#include "core/core.h"
#include "distributed/schwarz.h"

// Facts of a part; of each the largest of all parts counts.
enum { ASPECT, SPREAD, LACKS_DIRECTIONS, IS_NO_SLAB, IS_DEVICE, NUM_UNKNOWNS, NUM_FACTS };

static int find_facts(Ceed ceed, RitzSpace space, RitzMeshQuality *quality, double facts[NUM_FACTS]) {
  CeedMemType memory = CEED_MEM_HOST;
  RitzHalo halo = NULL;
  RitzMesh mesh = NULL;
  const int64_t *layers = NULL;
  int64_t num_owned = 0;

  RITZ_TRY(RitzSpaceGetMesh(space, &mesh));
  RITZ_TRY(RitzMeshGetSlabs(mesh, &layers));
  RITZ_TRY(ritz_mesh_quality(ceed, mesh, quality));
  RITZ_TRY(RitzSpaceGetHalo(space, &halo));
  RITZ_TRY(RitzHaloGetSizes(halo, &num_owned, NULL));
  RITZ_TRY(CeedGetPreferredMemType(ceed, &memory));
  facts[ASPECT] = quality->aspect;
  facts[SPREAD] = quality->spread;
  facts[LACKS_DIRECTIONS] = !quality->has_directions;
  facts[IS_NO_SLAB] = !(layers && quality->is_box);
  facts[IS_DEVICE] = memory == CEED_MEM_DEVICE;
  facts[NUM_UNKNOWNS] = (double)num_owned;
  return CEED_ERROR_SUCCESS;
}

static void leave_what_parts_have(RitzSmootherChoice *choice) {
  int kept = 0;

  for (int i = 0; i < choice->num; i++) {
    const RitzSmootherKind kind = choice->candidates[i].kind;
    if (kind == RITZ_SMOOTHER_JACOBI || kind == RITZ_SMOOTHER_ELEMENT_SCHWARZ ||
        kind == RITZ_SMOOTHER_PATCHES)
      choice->candidates[kept++] = choice->candidates[i];
  }
  choice->num = kept;
  choice->note = "parts have no others";
}

void ritz_part_drop_chosen(RitzSmootherChoice *choice) {
  const int chosen = choice->chosen;

  choice->num--;
  for (int i = chosen; i < choice->num; i++) choice->candidates[i] = choice->candidates[i + 1];
  choice->chosen = 0;
  for (int i = 1; i < choice->num; i++) {
    const RitzSmootherCandidate *c = &choice->candidates[i], *best = &choice->candidates[choice->chosen];

    if (c->iterations * c->applies < best->iterations * best->applies) choice->chosen = i;
  }
  choice->note = "no patches: the operator is not separable, or slabs are too thin";
}

int ritz_part_have_directions(RitzSpace space, const RitzTransport *transport, bool *have_directions) {
  RitzMesh mesh = NULL;
  double lacks;

  RITZ_TRY(RitzSpaceGetMesh(space, &mesh));
  RITZ_TRY(ritz_mesh_has_directions(mesh, have_directions));
  lacks = !*have_directions;
  RITZ_TRY(transport->reduce(transport, RITZ_REDUCTION_MAX, 1, &lacks));
  *have_directions = lacks == 0;
  return CEED_ERROR_SUCCESS;
}

int ritz_part_choose_smoother(Ceed ceed, RitzSpace space, const RitzTransport *transport,
                              RitzSmootherChoice *choice) {
  CeedInt num_comp = 1, degree = 1;
  double facts[NUM_FACTS];
  RitzMeshQuality *q = &choice->quality;

  *choice = (RitzSmootherChoice){.num = 0};
  RITZ_TRY(RitzSpaceGetNumComponents(space, &num_comp));
  RITZ_TRY(RitzSpaceGetDegree(space, &degree));
  if (num_comp > 1) return CEED_ERROR_SUCCESS;
  RITZ_TRY(find_facts(ceed, space, q, facts));
  RITZ_TRY(transport->reduce(transport, RITZ_REDUCTION_MAX, NUM_FACTS, facts));
  *q = (RitzMeshQuality){.dim = q->dim,
                         .has_directions = facts[LACKS_DIRECTIONS] == 0,
                         .is_box = facts[IS_NO_SLAB] == 0,
                         .aspect = facts[ASPECT],
                         .spread = facts[SPREAD]};
  if (!q->has_directions) return CEED_ERROR_SUCCESS;
  ritz_smoother_candidates(q, degree, facts[IS_DEVICE] > 0, &choice->num, choice->candidates);
  leave_what_parts_have(choice);
  if (facts[IS_DEVICE] == 0) ritz_smoother_drop_what_waits(facts[NUM_UNKNOWNS], choice);
  ritz_smoother_predict(facts[IS_DEVICE] > 0, facts[NUM_UNKNOWNS], choice);
  return CEED_ERROR_SUCCESS;
}
