// SPDX-License-Identifier: BSD-2-Clause
// Rectangular boxes: planes between the elements, and whether all geometry nodes are where these place them.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fe/fe.h"
#include "mesh/mesh.h"

typedef struct {
  RitzMesh mesh;
  CeedInt dim, P; // P: geometry nodes in a direction
  int64_t num_local;
  const double *x;   // [num_elem][num_local][dim]
  double *nodes;     // owned, [P] on [0,1]
  double *planes[3]; // owned
  double tolerance[3];
  int64_t *bad; // owned, [slots]: first element of a slot that is not rectangular, or INT64_MAX
} Box;

static const double *first_node(const Box *b, int64_t e) { return b->x + e * b->num_local * b->dim; }

// Low ends of the elements along each axis, and the high end of the last one.
static int find_planes(Box *b) {
  RitzMesh mesh = b->mesh;
  int64_t stride = 1;

  for (CeedInt d = 0; d < b->dim; stride *= mesh->grid[d++]) {
    const int64_t n = mesh->grid[d];

    RITZ_TRY(RITZ_MALLOC(mesh->ceed, (size_t)n + 1, &b->planes[d]));
    for (int64_t i = 0; i < n; i++) b->planes[d][i] = first_node(b, i * stride)[d];
    b->planes[d][n] = first_node(b, (n - 1) * stride)[(b->num_local - 1) * b->dim + d];
    b->tolerance[d] = 1e-10 * fabs(b->planes[d][n] - b->planes[d][0]);
  }
  return CEED_ERROR_SUCCESS;
}

static bool is_rectangular(const Box *b, int64_t e) {
  const double *x = first_node(b, e);
  int64_t at[3] = {e % b->mesh->grid[0], 0, 0};

  if (b->dim > 1) at[1] = e / b->mesh->grid[0] % b->mesh->grid[1];
  if (b->dim > 2) at[2] = e / b->mesh->grid[0] / b->mesh->grid[1];
  for (int64_t i = 0; i < b->num_local; i++) {
    int64_t rest = i;
    for (CeedInt d = 0; d < b->dim; d++, rest /= b->P) {
      const double low = b->planes[d][at[d]], high = b->planes[d][at[d] + 1];
      const double wanted = low + (high - low) * b->nodes[rest % b->P];

      if (!(fabs(x[i * b->dim + d] - wanted) <= b->tolerance[d])) return false;
    }
  }
  return true;
}

static void check_range(void *data, int slot, int64_t first, int64_t count) {
  const Box *b = data;

  for (int64_t e = first; e < first + count && b->bad[slot] == INT64_MAX; e++) {
    if (!is_rectangular(b, e)) b->bad[slot] = e;
  }
}

static int check_elements(Box *b, int64_t *elem) {
  Ceed ceed = b->mesh->ceed;
  int num_slots = 1;

  RITZ_TRY(ritz_run_ranges_slots(ceed, &num_slots));
  RITZ_TRY(RITZ_MALLOC(ceed, (size_t)num_slots, &b->bad));
  for (int s = 0; s < num_slots; s++) b->bad[s] = INT64_MAX;
  RITZ_TRY(ritz_run_elements(ceed, b->mesh->num_elem, check_range, b));
  *elem = INT64_MAX;
  for (int s = 0; s < num_slots; s++) *elem = b->bad[s] < *elem ? b->bad[s] : *elem;
  return CEED_ERROR_SUCCESS;
}

static int examine(Box *b, int64_t *elem) {
  RitzMesh mesh = b->mesh;

  b->dim = mesh->dim;
  b->P = mesh->order + 1;
  b->num_local = ritz_mesh_power(b->P, b->dim);
  b->x = mesh->coords;
  RITZ_TRY(RITZ_MALLOC(mesh->ceed, (size_t)b->P, &b->nodes));
  ritz_fe_gauss_lobatto(b->P, b->nodes, NULL);
  for (CeedInt i = 0; i < b->P; i++) b->nodes[i] = 0.5 * (1 + b->nodes[i]);
  RITZ_TRY(find_planes(b));
  *elem = INT64_MAX;
  return mesh->is_rectangular ? CEED_ERROR_SUCCESS : check_elements(b, elem);
}

int RitzMeshGetRectangularBox(RitzMesh mesh, bool *is_box, CeedInt n[3], double *planes[3], int64_t *elem) {
  Box b = {.mesh = mesh};

  RITZ_HANDLE(mesh);
  RITZ_ARGUMENT(mesh, is_box);
  RITZ_ARGUMENT(mesh, n);
  RITZ_ARGUMENT(mesh, planes);
  RITZ_ARGUMENT(mesh, elem);
  *is_box = false;
  *elem = -1;
  for (int d = 0; d < 3; d++) {
    planes[d] = NULL;
    n[d] = 1;
  }
  if (!mesh->grid[0] || mesh->space_dim != mesh->dim) return CEED_ERROR_SUCCESS;
  const int ierr = examine(&b, elem);
  *is_box = !ierr && *elem == INT64_MAX;
  if (*is_box) *elem = -1;
  for (int d = 0; d < mesh->dim; d++) {
    if (*is_box) n[d] = (CeedInt)mesh->grid[d];
    if (*is_box) ritz_memory_give(b.planes[d]);
    if (*is_box) planes[d] = b.planes[d];
    if (!*is_box) RITZ_FREE(&b.planes[d]);
  }
  RITZ_FREE(&b.nodes);
  RITZ_FREE(&b.bad);
  return ierr;
}
