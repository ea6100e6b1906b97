// SPDX-License-Identifier: BSD-2-Clause
// Nodes of subdomains that overlap: elements with a layer of nodes around them, patches of the elements
// around a vertex. Public functions of meshes and spaces, for Schwarz methods.
#include <stdlib.h>

#include "mesh/mesh.h"

enum { MAX_PLACES = 27 };

// ---- Nodes of an element in a frame ----

// Node t of the frame, 0 <= t[d] <= p, is nodes[start + sum of stride[d] t[d]]; none kept: that number.
typedef struct {
  RitzKeptNodes nodes;
  int64_t start, stride[3];
} Lattice;

typedef struct {
  RitzSpace space;
  RitzMesh mesh;
  int64_t p;
} Nodes;

static Lattice lattice_of(const Nodes *n, const RitzMeshFrame *frame) {
  Lattice lattice = {.nodes = ritz_space_kept_nodes(n->space, 0, frame->elem)};
  int64_t strides[3] = {1, n->p + 1, (n->p + 1) * (n->p + 1)}, range[2] = {0, 0};

  if (!ritz_are_kept(&lattice.nodes)) {
    strides[1] = n->mesh->grid[0] * n->p + 1;
    strides[2] = strides[1] * (n->mesh->grid[1] * n->p + 1);
    ritz_mesh_grid_range(n->mesh, n->p, frame->elem, range);
  }
  lattice.start = range[0];
  for (int d = 0; d < n->mesh->dim; d++) {
    const int64_t stride = strides[frame->axis[d]];

    if (frame->is_reversed[d]) lattice.start += n->p * stride;
    lattice.stride[d] = frame->is_reversed[d] ? -stride : stride;
  }
  return lattice;
}

// Where a node of a line through several elements lies: the digit of the place, the node in the element.
typedef struct {
  int digit;
  int64_t node;
} Place;

// Nodes of num_line^dim points from frames [base^dim]; missing: what stands for nodes of no element.
static void fill_nodes(const Nodes *n, int base, const RitzMeshFrame *frames, int64_t num_line,
                       Place (*place)(int64_t p, int64_t i), int64_t missing, int64_t *nodes) {
  const int dim = n->mesh->dim;
  const int64_t num_nodes = ritz_mesh_power(num_line, dim), num_places = ritz_mesh_power(base, dim);
  Lattice lattices[MAX_PLACES];

  for (int64_t i = 0; i < num_places; i++) {
    if (frames[i].elem >= 0) lattices[i] = lattice_of(n, &frames[i]);
  }
  for (int64_t i = 0; i < num_nodes; i++) {
    int64_t at[3] = {0, 0, 0}, rest = i;
    int which = 0, power = 1;

    for (int d = 0; d < dim; d++, rest /= num_line, power *= base) {
      const Place found = place(n->p, rest % num_line);
      which += found.digit * power;
      at[d] = found.node;
    }
    nodes[i] = missing;
    if (frames[which].elem < 0) continue;
    const Lattice *l = &lattices[which];
    const int64_t entry = l->start + at[0] * l->stride[0] + at[1] * l->stride[1] + at[2] * l->stride[2];
    nodes[i] = ritz_are_kept(&l->nodes) ? ritz_kept_node(&l->nodes, entry) : entry;
  }
}

static int start_nodes(RitzSpace space, Nodes *n) {
  CeedInt degree = 0;

  *n = (Nodes){.space = space};
  RITZ_TRY(RitzSpaceGetMesh(space, &n->mesh));
  RITZ_TRY(RitzSpaceGetDegree(space, &degree));
  n->p = degree;
  return CEED_ERROR_SUCCESS;
}

// ---- Elements with layers ----

// A class is the number of layers in every direction.
enum { NUM_CLASSES = 3 };
typedef struct {
  Nodes of;
  RitzMeshNeighbours neighbours; // owned
  int64_t num_nodes;             // of the space
  int8_t *classes;               // owned, [num_elem]
  int8_t *corners;               // owned, [num_elem]: at the upper end of the element's frame
  int64_t *rank;                 // owned, [num_elem]: elements before that miss nodes; -1: misses none
  CeedInt first[NUM_CLASSES + 1];
  CeedInt *elements; // [num_elem], class by class
} Overlap;

// Place of node i among the nodes 0 .. p + class of a line.
static Place place_in_class(int64_t p, int class, int64_t i) {
  if (class == 2) i--;
  if (i < 0) return (Place){2, p - 1};
  return i > p ? (Place){1, 1} : (Place){0, i};
}
static Place place_of_none(int64_t p, int64_t i) { return place_in_class(p, 0, i); }
static Place place_of_one(int64_t p, int64_t i) { return place_in_class(p, 1, i); }
static Place place_of_two(int64_t p, int64_t i) { return place_in_class(p, 2, i); }

// How many of the places towards a corner have an element; 0 where one beyond a facet is missing.
static int count_towards(int dim, int corner, const RitzMeshFrame *frames) {
  int count = 0;

  for (int i = 0; i < 1 << dim; i++) {
    int place = 0;

    for (int d = 0, power = 1; d < dim; d++, power *= 3) {
      if (i >> d & 1) place += (corner >> d & 1 ? 1 : 2) * power;
    }
    const bool is_facet = i > 0 && (i & (i - 1)) == 0;
    if (frames[place].elem >= 0) count++;
    if (frames[place].elem < 0 && is_facet) return 0;
  }
  return count;
}

// Two layers away from the boundary, else one, towards the corner with most elements, the last of several.
static void classify(const Overlap *o, int64_t e) {
  const int dim = o->of.mesh->dim, num_corners = 1 << dim, num_places = (int)ritz_mesh_power(3, dim);
  RitzMeshFrame frames[MAX_PLACES];
  int most = 0, num = 0;

  frames[0] = ritz_mesh_frame(e, num_corners - 1);
  ritz_mesh_neighbours_around(&o->neighbours, 3, frames);
  for (int i = 0; i < num_places; i++) num += frames[i].elem >= 0;
  o->corners[e] = (int8_t)(num_corners - 1);
  const bool is_inner = count_towards(dim, 0, frames) > 0 && count_towards(dim, num_corners - 1, frames) > 0;
  for (int corner = 0; corner < num_corners && !is_inner; corner++) {
    const int count = count_towards(dim, corner, frames);

    if (count > 0 && count >= most) o->corners[e] = (int8_t)corner;
    most = count > most ? count : most;
  }
  o->classes[e] = is_inner ? 2 : most > 0;
  const bool is_complete = is_inner ? num == num_places : most == 0 || most == num_corners;
  o->rank[e] = is_complete ? -1 : 0;
}

static void classify_range(void *data, int slot, int64_t first, int64_t count) {
  (void)slot;
  for (int64_t e = first; e < first + count; e++) classify(data, e);
}

static int sort_by_class(Overlap *o, int64_t *num_more) {
  const RitzMesh mesh = o->of.mesh;
  const size_t num = (size_t)mesh->num_elem;
  CeedInt next = 0;

  *num_more = 0;
  RITZ_TRY(RITZ_MALLOC(mesh->ceed, num, &o->classes));
  RITZ_TRY(RITZ_MALLOC(mesh->ceed, num, &o->corners));
  RITZ_TRY(RITZ_MALLOC(mesh->ceed, num, &o->rank));
  RITZ_TRY(RITZ_MALLOC(mesh->ceed, num, &o->elements));
  RITZ_TRY(ritz_run_elements(mesh->ceed, mesh->num_elem, classify_range, o));
  for (int class = 0; class < NUM_CLASSES; class ++) {
    o->first[class] = next;
    for (int64_t e = 0; e < mesh->num_elem; e++) {
      if (o->classes[e] == class) o->elements[next++] = (CeedInt)e;
    }
  }
  o->first[NUM_CLASSES] = next;
  for (int64_t e = 0; e < mesh->num_elem; e++) {
    if (o->rank[e] == 0) o->rank[e] = (*num_more)++;
  }
  return CEED_ERROR_SUCCESS;
}

typedef struct {
  const Overlap *of;
  int class;
} OverlapClass;

static const int64_t *nodes_of_class(const void *ctx, int64_t k, int64_t *scratch) {
  static Place (*const places[])(int64_t, int64_t) = {place_of_none, place_of_one, place_of_two};
  const OverlapClass *c = ctx;
  const Overlap *o = c->of;
  const int64_t e = o->elements[o->first[c->class] + k];
  RitzMeshFrame frames[MAX_PLACES];

  frames[0] = ritz_mesh_frame(e, o->corners[e]);
  ritz_mesh_neighbours_around(&o->neighbours, c->class + 1, frames);
  fill_nodes(&o->of, c->class + 1, frames, o->of.p + 1 + c->class, places[c->class],
             o->num_nodes + o->rank[e], scratch);
  return scratch;
}

static int create_class(const Overlap *o, RitzSpace space, Ceed ceed, const char *call, int class,
                        int64_t num_more, CeedElemRestriction *rstr) {
  const OverlapClass c = {o, class};
  const CeedInt num = o->first[class + 1] - o->first[class];

  if (num == 0) return CEED_ERROR_SUCCESS;
  return ritz_space_create_restriction(space, ceed, call, ritz_space_place(space, num_more), num,
                                       ritz_mesh_power(o->of.p + 1 + class, o->of.mesh->dim), nodes_of_class,
                                       &c, rstr);
}

static void clear_overlap(Overlap *o) {
  ritz_mesh_neighbours_clear(&o->neighbours);
  RITZ_FREE(&o->classes);
  RITZ_FREE(&o->corners);
  RITZ_FREE(&o->rank);
  RITZ_FREE(&o->elements);
}

int RitzSpaceCreateOverlapRestrictions(RitzSpace space, Ceed ceed, CeedInt num[3], CeedInt **elements,
                                       CeedElemRestriction rstr[3]) {
  const char *call = "RitzSpaceCreateOverlapRestrictions";
  Overlap o = {.rank = NULL};
  int64_t num_more = 0;
  int ierr;

  RITZ_HANDLE(space, ceed);
  RITZ_TRY(ritz_space_require_continuous(space, call));
  RITZ_TRY(start_nodes(space, &o.of));
  RITZ_ARGUMENT(o.of.mesh->ceed, ceed);
  RITZ_ARGUMENT(space, num);
  RITZ_ARGUMENT(space, elements);
  RITZ_ARGUMENT(space, rstr);
  for (int i = 0; i < NUM_CLASSES; i++) rstr[i] = NULL;
  RITZ_REQUIRE(o.of.p >= 2 && o.of.mesh->num_elem <= INT32_MAX, ceed, CEED_ERROR_UNSUPPORTED,
               "%s: degree %lld, %lld elements; needed degree 2 or more (at degree 1 a layer of nodes is all "
               "of the neighbour) and 32-bit counts",
               call, (long long)o.of.p, (long long)o.of.mesh->num_elem);
  RITZ_TRY(RitzSpaceGetNumNodes(space, &o.num_nodes));
  RITZ_TRY_CLEANUP(ritz_mesh_neighbours_create(o.of.mesh, call, &o.neighbours));
  RITZ_TRY_CLEANUP(sort_by_class(&o, &num_more));
  for (int i = 0; i < NUM_CLASSES; i++) {
    RITZ_TRY_CLEANUP(create_class(&o, space, ceed, call, i, num_more, &rstr[i]));
    num[i] = o.first[i + 1] - o.first[i];
  }
  *elements = o.elements;
  ritz_memory_give(o.elements);
  o.elements = NULL;
cleanup:
  for (int i = 0; i < NUM_CLASSES && ierr; i++) CeedElemRestrictionDestroy(&rstr[i]);
  clear_overlap(&o);
  return ierr;
}

// ---- Patches of meshes ----

// Candidates: vertices of 2^dim elements. Results are those of all candidates until they are packed.
typedef struct {
  RitzMesh mesh;
  RitzMeshNeighbours neighbours; // owned
  int64_t num;
  int64_t *corners;  // owned, [num]: 2^dim e + corner for the first element e
  int64_t *elements; // owned, [num][2^dim]; first one -1: no grid
  int8_t *axes;      // owned, [num][2^dim][dim]
} Patches;

// The vertices come in the order of their first elements, and there of their corners.
static int find_candidates(Patches *p) {
  const RitzMesh mesh = p->mesh;
  const int num_corners = 1 << mesh->dim;
  const int64_t num_places = mesh->num_elem * num_corners;
  int8_t *count = NULL;

  RITZ_TRY(RITZ_CALLOC(mesh->ceed, (size_t)mesh->num_vertices, &count));
  for (int64_t i = 0; i < num_places; i++) {
    if (count[mesh->elem_vertices[i]] <= num_corners) count[mesh->elem_vertices[i]]++;
  }
  for (int64_t v = 0; v < mesh->num_vertices; v++) p->num += count[v] == num_corners;
  const int ierr = RITZ_MALLOC(mesh->ceed, (size_t)p->num, &p->corners);
  for (int64_t i = 0, next = 0; i < num_places && !ierr; i++) {
    if (count[mesh->elem_vertices[i]] != num_corners) continue;
    p->corners[next++] = i;
    count[mesh->elem_vertices[i]] = 0;
  }
  RITZ_FREE(&count);
  return ierr;
}

static void find_patches(void *data, int slot, int64_t first, int64_t count) {
  const Patches *p = data;
  const int dim = p->mesh->dim, num = 1 << dim;
  RitzMeshFrame frames[MAX_PLACES];

  (void)slot;
  for (int64_t k = first; k < first + count; k++) {
    int64_t *elements = p->elements + k * num;
    int8_t *axes = p->axes + k * num * dim;
    bool is_grid = true;

    frames[0] = ritz_mesh_frame(p->corners[k] / num, (int)(p->corners[k] % num));
    ritz_mesh_neighbours_around(&p->neighbours, 2, frames);
    for (int i = 0; i < num; i++) {
      is_grid = is_grid && frames[i].elem >= 0;
      elements[i] = frames[i].elem;
      for (int d = 0; d < dim; d++) {
        const int8_t axis = frames[i].axis[d];
        axes[i * dim + d] = (int8_t)(frames[i].is_reversed[d] ? -1 - axis : axis);
      }
    }
    if (!is_grid) elements[0] = -1;
  }
}

static void pack(Patches *p) {
  const int dim = p->mesh->dim, num = 1 << dim;
  int64_t kept = 0;

  for (int64_t k = 0; k < p->num; k++) {
    if (p->elements[k * num] < 0) continue;
    for (int i = 0; i < num; i++) p->elements[kept * num + i] = p->elements[k * num + i];
    for (int i = 0; i < num * dim; i++) p->axes[kept * num * dim + i] = p->axes[k * num * dim + i];
    kept++;
  }
  p->num = kept;
}

int RitzMeshGetVertexPatches(RitzMesh mesh, int64_t *num, int64_t **elements, int8_t **axes) {
  Patches p = {.mesh = mesh};
  int ierr;

  RITZ_HANDLE(mesh);
  RITZ_ARGUMENT(mesh, num);
  RITZ_ARGUMENT(mesh, elements);
  RITZ_ARGUMENT(mesh, axes);
  RITZ_TRY_CLEANUP(ritz_mesh_neighbours_create(mesh, "RitzMeshGetVertexPatches", &p.neighbours));
  RITZ_TRY_CLEANUP(find_candidates(&p));
  RITZ_TRY_CLEANUP(RITZ_MALLOC(mesh->ceed, (size_t)p.num << mesh->dim, &p.elements));
  RITZ_TRY_CLEANUP(RITZ_MALLOC(mesh->ceed, ((size_t)p.num << mesh->dim) * (size_t)mesh->dim, &p.axes));
  RITZ_TRY_CLEANUP(ritz_run_elements(mesh->ceed, p.num, find_patches, &p));
  pack(&p);
  *num = p.num;
  *elements = p.elements;
  *axes = p.axes;
  ritz_memory_give(p.elements);
  ritz_memory_give(p.axes);
cleanup:
  ritz_mesh_neighbours_clear(&p.neighbours);
  RITZ_FREE(&p.corners);
  if (ierr) RITZ_FREE(&p.elements);
  if (ierr) RITZ_FREE(&p.axes);
  return ierr;
}

// ---- Patches of spaces ----

typedef struct {
  Nodes of;
  const int64_t *elements;
  const int8_t *axes;
} PatchNodes;

static Place place_in_patch(int64_t p, int64_t i) {
  return i < p ? (Place){0, i + 1} : (Place){1, i + 1 - p};
}

static const int64_t *nodes_of_patch(const void *ctx, int64_t k, int64_t *scratch) {
  const PatchNodes *patches = ctx;
  const int dim = patches->of.mesh->dim, num = 1 << dim;
  RitzMeshFrame frames[MAX_PLACES];

  for (int i = 0; i < num; i++) {
    frames[i].elem = patches->elements[k * num + i];
    for (int d = 0; d < dim; d++) {
      const int8_t axis = patches->axes[(k * num + i) * dim + d];
      frames[i].is_reversed[d] = axis < 0;
      frames[i].axis[d] = (int8_t)(axis < 0 ? -1 - axis : axis);
    }
  }
  fill_nodes(&patches->of, 2, frames, 2 * patches->of.p - 1, place_in_patch, -1, scratch);
  return scratch;
}

// Whether the directions of an element are all of its own.
static bool are_axes(int dim, const int8_t *axes) {
  int seen = 0;

  for (int d = 0; d < dim; d++) {
    if (axes[d] < -dim || axes[d] >= dim) return false;
    seen |= 1 << (axes[d] < 0 ? -1 - axes[d] : axes[d]);
  }
  return seen == (1 << dim) - 1;
}

// Whether the 2^dim elements of a patch have the vertices of a grid of 3^dim in common, whose element i is at
// the bits of i.
static bool is_patch(const RitzMesh mesh, const int64_t *elements, const int8_t *axes) {
  const int dim = mesh->dim, num = 1 << dim;
  int64_t grid[MAX_PLACES];

  for (int i = 0; i < MAX_PLACES; i++) grid[i] = -1;
  for (int i = 0; i < num; i++) {
    for (int c = 0; c < num; c++) {
      int place = 0, corner = 0;

      for (int d = 0, power = 1; d < dim; d++, power *= 3) {
        const int axis = axes[i * dim + d], is_upper = c >> d & 1;
        place += ((i >> d & 1) + is_upper) * power;
        corner |= (axis < 0 ? !is_upper : is_upper) << (axis < 0 ? -1 - axis : axis);
      }
      const int64_t vertex = mesh->elem_vertices[elements[i] * num + corner];
      if (grid[place] >= 0 && grid[place] != vertex) return false;
      grid[place] = vertex;
    }
  }
  return true;
}

static int check_patches(RitzMesh mesh, Ceed ceed, const char *call, CeedInt num, const int64_t elements[],
                         const int8_t axes[]) {
  const int dim = mesh->dim;

  for (int64_t i = 0; i < (int64_t)num << dim; i++) {
    RITZ_REQUIRE(elements[i] >= 0 && elements[i] < mesh->num_elem, ceed, CEED_ERROR_DIMENSION,
                 "%s: element %lld of patch %lld, the mesh has %lld", call, (long long)elements[i],
                 (long long)(i >> dim), (long long)mesh->num_elem);
    RITZ_REQUIRE(are_axes(dim, axes + i * dim), ceed, CEED_ERROR_DIMENSION,
                 "%s: directions of element %lld of patch %lld, needed each of 0 to %d once, or -1 minus it",
                 call, (long long)elements[i], (long long)(i >> dim), dim - 1);
  }
  for (int64_t k = 0; k < num; k++) {
    RITZ_REQUIRE(is_patch(mesh, elements + (k << dim), axes + (k << dim) * dim), ceed, CEED_ERROR_DIMENSION,
                 "%s: the elements of patch %lld do not lie around a vertex in these directions; needed one "
                 "of RitzMeshGetVertexPatches",
                 call, (long long)k);
  }
  return CEED_ERROR_SUCCESS;
}

int RitzSpaceCreatePatchRestriction(RitzSpace space, Ceed ceed, CeedInt num, const int64_t elements[],
                                    const int8_t axes[], CeedElemRestriction *rstr) {
  const char *call = "RitzSpaceCreatePatchRestriction";
  PatchNodes patches = {.elements = elements, .axes = axes};

  RITZ_HANDLE(space, ceed);
  RITZ_TRY(ritz_space_require_continuous(space, call));
  RITZ_TRY(start_nodes(space, &patches.of));
  const RitzMesh mesh = patches.of.mesh;

  RITZ_ARGUMENT(mesh->ceed, ceed);
  RITZ_ARGUMENT(space, rstr);
  *rstr = NULL;
  RITZ_REQUIRE(num >= 0, ceed, CEED_ERROR_DIMENSION, "%s: %" CeedInt_FMT " patches, needed at least 0", call,
               num);
  if (num > 0) RITZ_ARGUMENT(ceed, elements);
  if (num > 0) RITZ_ARGUMENT(ceed, axes);
  RITZ_TRY(ritz_mesh_require_tensor(mesh, call));
  RITZ_TRY(check_patches(mesh, ceed, call, num, elements, axes));
  return ritz_space_create_restriction(space, ceed, call, ritz_space_place(space, 0), num,
                                       ritz_mesh_power(2 * patches.of.p - 1, mesh->dim), nodes_of_patch,
                                       &patches, rstr);
}
