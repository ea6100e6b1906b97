// SPDX-License-Identifier: BSD-2-Clause
// Elements around an element, where lines, quadrilaterals and hexahedra lie as in a grid (contract in
// mesh/mesh.h). Called by mesh/overlap.c.
//
// Elements are reached through facets, one direction after the other. Around an edge or a vertex the mesh is
// a grid where all orders of the directions lead to the same element, seen the same way, and to no element
// that was passed: 4 elements close a ring then, 8 of them an octahedron of edges.
#include "mesh/mesh.h"

// ---- Facets ----

static void link_facets(int64_t num_places, const int64_t *numbers, int64_t *first, int64_t *across) {
  for (int64_t place = 0; place < num_places; place++) {
    int64_t *other = &first[numbers[place]];

    across[place] = *other;
    if (*other >= 0) across[*other] = place;
    *other = place;
  }
}

static int find_across(RitzMesh mesh, RitzMeshNeighbours *n) {
  const int64_t num_places = mesh->num_elem * 2 * mesh->dim;
  const RitzMeshCells cells = ritz_mesh_cells(mesh);
  RitzMeshNumbers numbers = {.numbers = NULL};
  int64_t *first = NULL;
  int ierr;

  RITZ_TRY_CLEANUP(ritz_mesh_number_entities(&cells, RITZ_MESH_FACETS, &numbers));
  RITZ_TRY_CLEANUP(RITZ_MALLOC(mesh->ceed, (size_t)numbers.num, &first));
  RITZ_TRY_CLEANUP(RITZ_MALLOC(mesh->ceed, (size_t)num_places, &n->across));
  for (int64_t i = 0; i < numbers.num; i++) first[i] = -1;
  link_facets(num_places, numbers.numbers, first, n->across);
cleanup:
  RITZ_FREE(&numbers.numbers);
  RITZ_FREE(&first);
  return ierr;
}

int ritz_mesh_require_tensor(RitzMesh mesh, const char *call) {
  for (int b = 0; b < mesh->num_blocks; b++) {
    RITZ_REQUIRE(ritz_mesh_shape(mesh->blocks[b].topology)->is_tensor, mesh->ceed, CEED_ERROR_UNSUPPORTED,
                 "%s: the mesh has elements of the shape '%s', needed lines, quadrilaterals or hexahedra "
                 "alone",
                 call, CeedElemTopologies[mesh->blocks[b].topology]);
  }
  return CEED_ERROR_SUCCESS;
}

int ritz_mesh_neighbours_create(RitzMesh mesh, const char *call, RitzMeshNeighbours *n) {
  *n = (RitzMeshNeighbours){.mesh = mesh};
  RITZ_TRY(ritz_mesh_require_tensor(mesh, call));
  return mesh->grid[0] ? CEED_ERROR_SUCCESS : find_across(mesh, n);
}

void ritz_mesh_neighbours_clear(RitzMeshNeighbours *n) {
  RITZ_FREE(&n->across);
  *n = (RitzMeshNeighbours){.mesh = NULL};
}

static int64_t element_across(const RitzMeshNeighbours *n, int64_t e, int facet) {
  const int64_t place = n->across[e * 2 * n->mesh->dim + facet];
  return place < 0 ? -1 : place / (2 * n->mesh->dim);
}

// ---- Frames ----

RitzMeshFrame ritz_mesh_frame(int64_t e, int corner) {
  RitzMeshFrame frame = {.elem = e};

  for (int d = 0; d < 3; d++) {
    frame.axis[d] = (int8_t)d;
    frame.is_reversed[d] = !(corner >> d & 1);
  }
  return frame;
}

// The corner of the element at a corner of the frame; bits are directions.
static int corner_in_frame(const RitzMeshFrame *frame, int dim, int at) {
  int corner = 0;

  for (int d = 0; d < dim; d++) corner |= ((at >> d & 1) ^ frame->is_reversed[d]) << frame->axis[d];
  return corner;
}

static int find_corner(int num_corners, const int64_t *vertices, int64_t vertex) {
  int corner = 0;

  while (corner < num_corners - 1 && vertices[corner] != vertex) corner++;
  return corner;
}

static int bit_of(int power_of_two) { return power_of_two == 1 ? 0 : power_of_two == 2 ? 1 : 2; }

// The element beyond the lower (side 0) or upper side of the frame in direction d.
static RitzMeshFrame cross(const RitzMeshNeighbours *n, const RitzMeshFrame *from, int d, int side) {
  const int dim = n->mesh->dim, num_corners = 1 << dim;
  const int64_t e = element_across(n, from->elem, 2 * from->axis[d] + (side ^ from->is_reversed[d]));
  const int64_t *v = n->mesh->elem_vertices + from->elem * num_corners;
  RitzMeshFrame to = {.elem = e};
  int rest = num_corners - 1;

  if (e < 0) return to;
  const int64_t *w = n->mesh->elem_vertices + e * num_corners;
  const int origin = find_corner(num_corners, w, v[corner_in_frame(from, dim, side << d)]);
  for (int k = 0; k < dim; k++) {
    if (k == d) continue;
    const int next = find_corner(num_corners, w, v[corner_in_frame(from, dim, side << d | 1 << k)]);

    to.axis[k] = (int8_t)bit_of(origin ^ next);
    to.is_reversed[k] = origin >> to.axis[k] & 1;
    rest &= ~(1 << to.axis[k]);
  }
  // The common facet is the new element's lower side in the frame if it was the old one's upper side.
  to.axis[d] = (int8_t)bit_of(rest);
  to.is_reversed[d] = (origin >> to.axis[d] & 1) == side;
  return to;
}

static bool are_equal(int dim, const RitzMeshFrame *a, const RitzMeshFrame *b) {
  if (a->elem != b->elem) return false;
  for (int d = 0; d < dim; d++) {
    if (a->axis[d] != b->axis[d] || a->is_reversed[d] != b->is_reversed[d]) return false;
  }
  return true;
}

// ---- Around an element ----

// A place is a sum of steps, one for each direction in which it differs from the middle.
typedef struct {
  int num, direction[3], side[3], step[3];
} Steps;

static Steps steps_to(int dim, int base, int place) {
  Steps steps = {.num = 0};

  for (int d = 0, power = 1; d < dim; d++, power *= base, place /= base) {
    const int digit = place % base;
    if (digit == 0) continue;
    steps.direction[steps.num] = d;
    steps.side[steps.num] = digit == 1;
    steps.step[steps.num++] = digit * power;
  }
  return steps;
}

// Whether the element has been met at a place between the middle and this one.
static bool was_passed(const Steps *steps, const RitzMeshFrame *frames, int64_t e) {
  for (int some = 0; some < (1 << steps->num) - 1; some++) {
    int place = 0;

    for (int i = 0; i < steps->num; i++) place += (some >> i & 1) * steps->step[i];
    if (frames[place].elem == e) return true;
  }
  return false;
}

static RitzMeshFrame reach(const RitzMeshNeighbours *n, int base, int place, const RitzMeshFrame *frames) {
  const RitzMeshFrame none = {.elem = -1};
  const Steps steps = steps_to(n->mesh->dim, base, place);
  RitzMeshFrame found = none;

  for (int i = 0; i < steps.num; i++) {
    const RitzMeshFrame *from = &frames[place - steps.step[i]];
    if (from->elem < 0) return none;
    const RitzMeshFrame to = cross(n, from, steps.direction[i], steps.side[i]);

    if (to.elem < 0 || (i > 0 && !are_equal(n->mesh->dim, &to, &found))) return none;
    found = to;
  }
  return was_passed(&steps, frames, found.elem) ? none : found;
}

// In a box all elements have the same directions.
static void reach_in_grid(RitzMesh mesh, int base, RitzMeshFrame *frames) {
  const RitzMeshFrame *middle = &frames[0];

  for (int d = 0, power = 1; d < mesh->dim; power *= base, d++) {
    const int axis = middle->axis[d];
    int64_t stride = 1;

    for (int k = 0; k < axis; k++) stride *= mesh->grid[k];
    const int64_t at = middle->elem / stride % mesh->grid[axis];
    for (int digit = 1; digit < base; digit++) {
      const bool is_upper = (digit == 1) != middle->is_reversed[d];
      const bool exists = is_upper ? at + 1 < mesh->grid[axis] : at > 0;

      for (int k = 0; k < power; k++) {
        RitzMeshFrame *to = &frames[digit * power + k];

        *to = frames[k];
        if (to->elem >= 0) to->elem = !exists ? -1 : to->elem + (is_upper ? stride : -stride);
      }
    }
  }
}

void ritz_mesh_neighbours_around(const RitzMeshNeighbours *n, int base, RitzMeshFrame *frames) {
  const int num = (int)ritz_mesh_power(base, n->mesh->dim);

  if (n->mesh->grid[0]) {
    reach_in_grid(n->mesh, base, frames);
    return;
  }
  for (int place = 1; place < num; place++) frames[place] = reach(n, base, place, frames);
}
