// SPDX-License-Identifier: BSD-2-Clause
// The geometry as a Ceed field: restrictions, an L-vector, bases. Public functions.
#include <float.h>
#include <math.h>
#include <ritz/basis.h>

#include "mesh/mesh.h"

// Coordinates of shared nodes may differ by the rounding of the numbers in a file.
static const double relative_tolerance = 1e-12;

typedef struct {
  RitzMesh mesh; // borrowed
  Ceed ceed;     // borrowed
  int64_t num_nodes;
  int64_t *nodes; // owned, [num_points] continuous numbering
  double *x;      // owned, [num_nodes][space_dim]: position in the first element, NAN before
} Field;

static void clear_sampling(Field *field) {
  RITZ_FREE(&field->nodes);
  RITZ_FREE(&field->x);
}

// Distance up to which positions in one element count as equal.
static double allowed_gap(CeedInt space_dim, int64_t num_local, const double *elem_x) {
  double low[3], high[3], allowed = 0.0;

  ritz_mesh_bounds(space_dim, num_local, elem_x, low, high);
  for (CeedInt c = 0; c < space_dim; c++) {
    double rounding = 8.0 * DBL_EPSILON * fmax(fabs(low[c]), fabs(high[c]));

    allowed = fmax(allowed, fmax(rounding, relative_tolerance * (high[c] - low[c])));
  }
  return allowed;
}

// Enters the positions of the nodes of one element. False when an earlier one disagrees.
static bool share_element(Field *field, int64_t num_local, const int64_t *nodes, const double *elem_x) {
  const CeedInt space_dim = field->mesh->space_dim;
  double allowed = allowed_gap(space_dim, num_local, elem_x);

  for (int64_t i = 0; i < num_local; i++) {
    double *x = field->x + nodes[i] * space_dim;

    for (CeedInt c = 0; c < space_dim; c++) {
      if (isnan(x[c])) x[c] = elem_x[i * space_dim + c];
      if (fabs(x[c] - elem_x[i * space_dim + c]) > allowed) return false;
    }
  }
  return true;
}

// Collects the positions of the nodes. False when two elements disagree on one.
static bool share_positions(Field *field) {
  const RitzMesh mesh = field->mesh;

  for (int64_t i = 0; i < field->num_nodes * mesh->space_dim; i++) field->x[i] = NAN;
  for (int b = 0; b < mesh->num_blocks; b++) {
    const RitzMeshBlock *block = &mesh->blocks[b];

    for (int64_t e = 0; e < block->num_elem; e++) {
      int64_t first = block->node_base + e * block->num_nodes;

      if (!share_element(field, block->num_nodes, field->nodes + first,
                         mesh->coords + first * mesh->space_dim))
        return false;
    }
  }
  return true;
}

static int number_positions(Field *field, bool *is_shared) {
  const RitzMesh mesh = field->mesh;

  RITZ_TRY(RITZ_MALLOC(field->ceed, (size_t)mesh->num_points, &field->nodes));
  RITZ_TRY(ritz_mesh_number_nodes(mesh, mesh->order, &field->num_nodes, field->nodes));
  RITZ_TRY(RITZ_MALLOC(field->ceed, (size_t)(field->num_nodes * mesh->space_dim), &field->x));
  *is_shared = field->num_nodes <= INT32_MAX / mesh->space_dim && share_positions(field);
  return CEED_ERROR_SUCCESS;
}

static int create_vector(Ceed ceed, CeedSize length, const double *values, CeedVector *x) {
  CeedScalar *array;

  RITZ_TRY(CeedVectorCreate(ceed, length, x));
  RITZ_TRY(CeedVectorGetArrayWrite(*x, CEED_MEM_HOST, &array));
  for (CeedSize i = 0; i < length; i++) array[i] = (CeedScalar)values[i];
  return CeedVectorRestoreArray(*x, &array);
}

// Restriction of a block to its nodes among num_nodes.
static int create_with_offsets(const Field *field, const RitzMeshBlock *block, int64_t num_nodes,
                               CeedElemRestriction *rstr) {
  const CeedInt space_dim = field->mesh->space_dim;
  const int64_t num_entries = block->num_elem * block->num_nodes;
  CeedInt *offsets;

  RITZ_TRY(RITZ_MALLOC(field->ceed, (size_t)num_entries, &offsets));
  for (int64_t i = 0; i < num_entries; i++) {
    offsets[i] = (CeedInt)(field->nodes[block->node_base + i] * space_dim);
  }
  int ierr =
      CeedElemRestrictionCreate(field->ceed, (CeedInt)block->num_elem, (CeedInt)block->num_nodes, space_dim,
                                1, num_nodes * space_dim, CEED_MEM_HOST, CEED_COPY_VALUES, offsets, rstr);

  RITZ_FREE(&offsets);
  return ierr;
}

static int create_strided(const Field *field, CeedElemRestriction *rstr) {
  const RitzMeshBlock *block = &field->mesh->blocks[0];
  const CeedInt space_dim = field->mesh->space_dim;
  const CeedInt strides[3] = {space_dim, 1, (CeedInt)block->num_nodes * space_dim};

  return CeedElemRestrictionCreateStrided(field->ceed, (CeedInt)block->num_elem, (CeedInt)block->num_nodes,
                                          space_dim, field->mesh->num_points * space_dim, strides, rstr);
}

// Every element has its own nodes. Strides have no offset, so several blocks need their nodes listed.
static int create_separate(Field *field, CeedElemRestriction rstr[], CeedVector *x) {
  const RitzMesh mesh = field->mesh;

  if (mesh->num_blocks == 1) {
    RITZ_TRY(create_strided(field, rstr));
    return create_vector(field->ceed, mesh->num_points * mesh->space_dim, mesh->coords, x);
  }
  RITZ_REQUIRE(mesh->num_points <= INT32_MAX / mesh->space_dim, field->ceed, CEED_ERROR_UNSUPPORTED,
               "RitzMeshCreateBlockCoordinates: %lld nodes exceed the 32-bit offsets of a restriction",
               (long long)mesh->num_points);
  for (int64_t i = 0; i < mesh->num_points; i++) field->nodes[i] = i;
  for (int b = 0; b < mesh->num_blocks; b++) {
    RITZ_TRY(create_with_offsets(field, &mesh->blocks[b], mesh->num_points, &rstr[b]));
  }
  return create_vector(field->ceed, mesh->num_points * mesh->space_dim, mesh->coords, x);
}

static int create_shared(const Field *field, CeedElemRestriction rstr[], CeedVector *x) {
  const RitzMesh mesh = field->mesh;

  for (int b = 0; b < mesh->num_blocks; b++) {
    RITZ_TRY(create_with_offsets(field, &mesh->blocks[b], field->num_nodes, &rstr[b]));
  }
  return create_vector(field->ceed, field->num_nodes * mesh->space_dim, field->x, x);
}

static int check_counts(RitzMesh mesh, Ceed ceed, const char *call) {
  for (int b = 0; b < mesh->num_blocks; b++) {
    const RitzMeshBlock *block = &mesh->blocks[b];

    RITZ_REQUIRE(block->num_elem <= INT32_MAX && block->num_nodes <= INT32_MAX / mesh->space_dim, ceed,
                 CEED_ERROR_UNSUPPORTED,
                 "%s: %lld elements of %lld nodes exceed the 32-bit counts of a restriction", call,
                 (long long)block->num_elem, (long long)block->num_nodes);
  }
  return CEED_ERROR_SUCCESS;
}

static int create_coordinates(RitzMesh mesh, Ceed ceed, const char *call, CeedElemRestriction rstr[],
                              CeedVector *x) {
  Field field = {.mesh = mesh, .ceed = ceed};
  bool is_shared = false;

  for (int b = 0; b < mesh->num_blocks; b++) rstr[b] = NULL;
  *x = NULL;
  RITZ_TRY(check_counts(mesh, ceed, call));
  int ierr = number_positions(&field, &is_shared);

  if (!ierr) ierr = is_shared ? create_shared(&field, rstr, x) : create_separate(&field, rstr, x);
  clear_sampling(&field);
  if (ierr) {
    for (int b = 0; b < mesh->num_blocks; b++) CeedElemRestrictionDestroy(&rstr[b]);
    CeedVectorDestroy(x);
  }
  return ierr;
}

int RitzMeshCreateCoordinates(RitzMesh mesh, Ceed ceed, CeedElemRestriction *rstr, CeedVector *x) {
  RITZ_NOT_NULL(mesh);
  RITZ_ARGUMENT(mesh->ceed, ceed);
  RITZ_NOT_NULL(rstr);
  RITZ_NOT_NULL(x);
  *rstr = NULL;
  *x = NULL;
  RITZ_TRY(ritz_mesh_require_one_block(mesh, "RitzMeshCreateCoordinates", "RitzMeshCreateBlockCoordinates"));
  return create_coordinates(mesh, ceed, "RitzMeshCreateCoordinates", rstr, x);
}

int RitzMeshCreateBlockCoordinates(RitzMesh mesh, Ceed ceed, CeedElemRestriction rstr[], CeedVector *x) {
  RITZ_NOT_NULL(mesh);
  RITZ_ARGUMENT(mesh->ceed, ceed);
  RITZ_NOT_NULL(rstr);
  RITZ_NOT_NULL(x);
  return create_coordinates(mesh, ceed, "RitzMeshCreateBlockCoordinates", rstr, x);
}

int RitzMeshCreateBlockBasis(RitzMesh mesh, CeedInt block, Ceed ceed, CeedInt quad_degree, CeedBasis *basis) {
  RITZ_NOT_NULL(mesh);
  RITZ_ARGUMENT(mesh->ceed, ceed);
  RITZ_NOT_NULL(basis);
  RITZ_TRY(ritz_mesh_check_block(mesh, block, "RitzMeshCreateBlockBasis"));
  return RitzBasisCreateLagrange(ceed, mesh->blocks[block].topology, mesh->space_dim, mesh->order,
                                 quad_degree, basis);
}
