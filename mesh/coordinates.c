// SPDX-License-Identifier: BSD-2-Clause
// The geometry as a Ceed field: a restriction and an L-vector. Public function; bases are the callers'.
#include "mesh/mesh.h"

#include <float.h>
#include <math.h>

// Coordinates of shared nodes may differ by the rounding of the numbers in a file.
static const double relative_tolerance = 1e-12;

typedef struct {
  RitzMesh mesh; // borrowed
  Ceed ceed;     // borrowed
  int64_t num_local, num_nodes;
  int64_t *nodes; // owned, [num_elem][num_local] continuous numbering
  double *x;      // owned, [num_nodes][space_dim]: position in the first element, NAN before
} Field;

static void clear(Field *field) {
  RITZ_FREE(&field->nodes);
  RITZ_FREE(&field->x);
}

// Distance up to which positions in one element count as equal.
static double allowed_gap(const Field *field, const double *elem_x) {
  const CeedInt space_dim = field->mesh->space_dim;
  double low[3], high[3], allowed = 0.0;

  ritz_mesh_bounds(space_dim, field->num_local, elem_x, low, high);
  for (CeedInt c = 0; c < space_dim; c++) {
    double rounding = 8.0 * DBL_EPSILON * fmax(fabs(low[c]), fabs(high[c]));

    allowed = fmax(allowed, fmax(rounding, relative_tolerance * (high[c] - low[c])));
  }
  return allowed;
}

// Collects the positions of the nodes. False when two elements disagree on one.
static bool share_positions(Field *field) {
  const CeedInt space_dim = field->mesh->space_dim;

  for (int64_t i = 0; i < field->num_nodes * space_dim; i++) field->x[i] = NAN;
  for (int64_t e = 0; e < field->mesh->num_elem; e++) {
    const double *elem_x = field->mesh->coords + e * field->num_local * space_dim;
    double allowed = allowed_gap(field, elem_x);

    for (int64_t i = 0; i < field->num_local; i++) {
      double *x = field->x + field->nodes[e * field->num_local + i] * space_dim;

      for (CeedInt c = 0; c < space_dim; c++) {
        if (isnan(x[c])) x[c] = elem_x[i * space_dim + c];
        if (fabs(x[c] - elem_x[i * space_dim + c]) > allowed) return false;
      }
    }
  }
  return true;
}

static int number_positions(Field *field, bool *is_shared) {
  const RitzMesh mesh = field->mesh;
  size_t num_entries = (size_t)(mesh->num_elem * field->num_local);

  RITZ_TRY(RITZ_MALLOC(field->ceed, num_entries, &field->nodes));
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

static int create_shared(const Field *field, CeedElemRestriction *rstr, CeedVector *x) {
  const RitzMesh mesh = field->mesh;
  const CeedSize l_size = field->num_nodes * mesh->space_dim;
  const int64_t num_entries = mesh->num_elem * field->num_local;
  CeedInt *offsets;

  RITZ_TRY(RITZ_MALLOC(field->ceed, (size_t)num_entries, &offsets));
  for (int64_t i = 0; i < num_entries; i++) offsets[i] = (CeedInt)(field->nodes[i] * mesh->space_dim);
  int ierr =
      CeedElemRestrictionCreate(field->ceed, (CeedInt)mesh->num_elem, (CeedInt)field->num_local,
                                mesh->space_dim, 1, l_size, CEED_MEM_HOST, CEED_COPY_VALUES, offsets, rstr);

  RITZ_FREE(&offsets);
  RITZ_TRY(ierr);
  return create_vector(field->ceed, l_size, field->x, x);
}

static int create_strided(const Field *field, CeedElemRestriction *rstr, CeedVector *x) {
  const RitzMesh mesh = field->mesh;
  const CeedInt space_dim = mesh->space_dim;
  const CeedInt strides[3] = {space_dim, 1, (CeedInt)field->num_local * space_dim};
  const CeedSize l_size = mesh->num_elem * field->num_local * space_dim;

  RITZ_TRY(CeedElemRestrictionCreateStrided(field->ceed, (CeedInt)mesh->num_elem, (CeedInt)field->num_local,
                                            space_dim, l_size, strides, rstr));
  return create_vector(field->ceed, l_size, mesh->coords, x);
}

int RitzMeshCreateCoordinates(RitzMesh mesh, Ceed ceed, CeedElemRestriction *rstr, CeedVector *x) {
  bool is_shared = false;

  RITZ_NOT_NULL(mesh);
  RITZ_NOT_NULL(rstr);
  RITZ_NOT_NULL(x);
  *rstr = NULL;
  *x = NULL;
  Field field = {.mesh = mesh, .ceed = ceed, .num_local = ritz_mesh_power(mesh->order + 1, mesh->dim)};

  RITZ_REQUIRE(
      mesh->num_elem <= INT32_MAX && field.num_local <= INT32_MAX / mesh->space_dim, ceed,
      CEED_ERROR_UNSUPPORTED,
      "RitzMeshCreateCoordinates: %lld elements of %lld nodes exceed the 32-bit counts of a restriction",
      (long long)mesh->num_elem, (long long)field.num_local);
  int ierr = number_positions(&field, &is_shared);

  if (!ierr) ierr = is_shared ? create_shared(&field, rstr, x) : create_strided(&field, rstr, x);
  clear(&field);
  if (ierr) {
    CeedElemRestrictionDestroy(rstr);
    CeedVectorDestroy(x);
  }
  return ierr;
}
