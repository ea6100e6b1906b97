// SPDX-License-Identifier: BSD-2-Clause
// Nested spaces: on one mesh, or on a mesh and its refinement (contract in mesh/nested.h).
//
// The fine nodes of a coarse line, quadrilateral or hexahedron form a lattice of degree 2p, whose 1D table is
// that of both halves. On other shapes they are the nodes of the children, each once, in the order of
// children.
#include "mesh/nested.h"

#include <math.h>
#include <string.h>

#include "fe/fe.h"

typedef enum { UNRELATED, SAME_MESH, REFINED, HALVED_BOX } Relation;

typedef struct {
  const char *call;
  Ceed ceed; // borrowed
  Relation relation;
  RitzSpace coarse_space, fine_space; // borrowed, as all that follows
  RitzMesh coarse, fine;
  CeedInt coarse_degree, fine_degree;
} Pair;

// ---- Which meshes ----

static bool has_twice(const int64_t coarse[3], const int64_t fine[3], int dim, int64_t factor) {
  for (int d = 0; d < dim; d++) {
    if (coarse[d] == 0 || fine[d] != factor * coarse[d]) return false;
  }
  return true;
}

// Coordinates of vertex (corner) `at` of a box.
static const double *box_vertex(RitzMesh box, const int64_t at[3]) {
  int64_t elem = 0, corner = 0, stride = 1, node_stride = 1;

  for (int d = 0; d < box->dim; d++) {
    const int64_t e = at[d] < box->grid[d] ? at[d] : box->grid[d] - 1;

    elem += e * stride;
    corner += (at[d] - e) * box->order * node_stride;
    stride *= box->grid[d];
    node_stride *= box->order + 1;
  }
  return box->coords + (elem * box->blocks[0].num_nodes + corner) * box->space_dim;
}

// Whether the vertices of one box are vertices of the other, which has `factor` times as many elements in
// each direction.
static bool are_nested_boxes(RitzMesh coarse, RitzMesh fine, int64_t factor) {
  double low[3], high[3], size = 0.0;
  int64_t n[3] = {0, 0, 0}, at[3], fine_at[3] = {0, 0, 0};

  if (!has_twice(coarse->grid, fine->grid, fine->dim, factor)) return false;
  ritz_mesh_bounds(coarse->space_dim, coarse->num_points, coarse->coords, low, high);
  for (int d = 0; d < coarse->space_dim; d++) size = fmax(size, fmax(high[d] - low[d], fabs(high[d])));
  for (int d = 0; d < coarse->dim; d++) n[d] = coarse->grid[d];
  for (at[2] = 0; at[2] <= n[2]; at[2]++) {
    for (at[1] = 0; at[1] <= n[1]; at[1]++) {
      for (at[0] = 0; at[0] <= n[0]; at[0]++) {
        for (int d = 0; d < 3; d++) fine_at[d] = factor * at[d];
        const double *x = box_vertex(coarse, at), *y = box_vertex(fine, fine_at);

        for (int d = 0; d < coarse->space_dim; d++) {
          if (!(fabs(x[d] - y[d]) <= 1e-10 * size)) return false;
        }
      }
    }
  }
  return true;
}

static Relation find_relation(RitzMesh coarse, RitzMesh fine) {
  if (coarse == fine) return SAME_MESH;
  if (coarse->dim != fine->dim || coarse->space_dim != fine->space_dim) return UNRELATED;
  if (fine->coarser == coarse) return fine->grid[0] ? HALVED_BOX : REFINED;
  if (!coarse->grid[0] || !fine->grid[0]) return UNRELATED;
  if (are_nested_boxes(coarse, fine, 1)) return SAME_MESH;
  return are_nested_boxes(coarse, fine, 2) ? HALVED_BOX : UNRELATED;
}

static int check_pair(Pair *pair) {
  CeedInt coarse_comp = 0, fine_comp = 0;

  RITZ_TRY(RitzSpaceGetNumComponents(pair->coarse_space, &coarse_comp));
  RITZ_TRY(RitzSpaceGetNumComponents(pair->fine_space, &fine_comp));
  RITZ_REQUIRE(coarse_comp == fine_comp, pair->ceed, CEED_ERROR_INCOMPATIBLE,
               "%s: the coarse space has %" CeedInt_FMT " components, the fine one %" CeedInt_FMT, pair->call,
               coarse_comp, fine_comp);
  RITZ_REQUIRE(pair->relation != UNRELATED, pair->ceed, CEED_ERROR_INCOMPATIBLE,
               "%s: the spaces are not nested: the fine mesh (%lld elements) is neither the coarse one (%lld "
               "elements) nor that, refined once (RitzMeshRefine, RitzMeshGetCoarser)",
               pair->call, (long long)pair->fine->num_elem, (long long)pair->coarse->num_elem);
  RITZ_REQUIRE(pair->relation != SAME_MESH || pair->coarse_degree <= pair->fine_degree, pair->ceed,
               CEED_ERROR_INCOMPATIBLE,
               "%s: the spaces are not nested: the coarse space has degree %" CeedInt_FMT
               ", the fine one on the same mesh %" CeedInt_FMT,
               pair->call, pair->coarse_degree, pair->fine_degree);
  RITZ_REQUIRE(pair->relation == SAME_MESH || pair->coarse_degree == pair->fine_degree, pair->ceed,
               CEED_ERROR_INCOMPATIBLE,
               "%s: the coarse space has degree %" CeedInt_FMT
               ", the fine one on a refined mesh %" CeedInt_FMT
               ": one transfer changes the mesh or the degree",
               pair->call, pair->coarse_degree, pair->fine_degree);
  return CEED_ERROR_SUCCESS;
}

// ---- Tables ----

// Values of the coarse functions along a line at Gauss-Lobatto points of degree `degree` in each of the
// num_cells equal parts of it.
static int fill_line_table(Pair *pair, int num_cells, CeedInt degree, RitzNestedPart *part) {
  double *work = NULL; // owned: nodes [P], points of a cell [degree + 1], all points [Q]
  int ierr = CEED_ERROR_SUCCESS;

  part->P = pair->coarse_degree + 1;
  part->Q = num_cells * degree + 1;
  RITZ_TRY(RITZ_MALLOC(pair->ceed, (size_t)part->P + (size_t)part->Q + (size_t)degree + 1, &work));
  double *nodes = work, *points = nodes + part->P, *all = points + degree + 1;

  RITZ_TRY_CLEANUP(RITZ_MALLOC(pair->ceed, (size_t)part->P * (size_t)part->Q, &part->table));
  ritz_fe_gauss_lobatto(part->P, nodes, NULL);
  ritz_fe_gauss_lobatto(degree + 1, points, NULL);
  for (CeedInt q = 0; q < part->Q; q++) {
    const CeedInt cell = q < part->Q - 1 ? q / degree : num_cells - 1;

    all[q] = (points[q - cell * degree] + (2 * cell + 1 - num_cells)) / num_cells;
  }
  ierr = ritz_fe_lagrange(pair->ceed, part->P, nodes, part->Q, all, part->table, NULL);

cleanup:
  RITZ_FREE(&work);
  return ierr;
}

// Values of the coarse functions at num_fine points [num_fine][dim] of another shape.
static int fill_dense_table(const Pair *pair, const double *points, RitzNestedPart *part) {
  RITZ_TRY(RITZ_MALLOC(pair->ceed, (size_t)(part->num_fine * part->num_coarse), &part->table));
  return ritz_fe_shape_lagrange(pair->ceed, part->topology, pair->coarse_degree, (int)part->num_fine, points,
                                part->table, NULL);
}

static int check_count(const Pair *pair, int64_t num_fine, int64_t num_elem) {
  const int64_t num = ritz_mesh_product(3, (const int64_t[]){num_elem, num_fine, 8});

  RITZ_REQUIRE(num >= 0 && num_fine <= INT32_MAX, pair->ceed, CEED_ERROR_UNSUPPORTED,
               "%s: %lld nodes in each of %lld coarse elements are too many", pair->call, (long long)num_fine,
               (long long)num_elem);
  return CEED_ERROR_SUCCESS;
}

// ---- One mesh ----

static int fill_same(Pair *pair, RitzNestedPart *part) {
  const RitzMeshShape *shape = ritz_mesh_shape(part->topology);
  double *points = NULL;
  const int64_t num_fine = ritz_space_num_local(pair->fine_space, part->block);
  int ierr = CEED_ERROR_SUCCESS;

  RITZ_TRY(check_count(pair, num_fine, part->num_elem));
  part->is_same = true;
  part->num_fine = num_fine;
  if (shape->is_tensor) return fill_line_table(pair, 1, pair->fine_degree, part);
  RITZ_TRY(RITZ_MALLOC(pair->ceed, (size_t)(num_fine * shape->dim), &points));
  RITZ_TRY_CLEANUP(ritz_fe_shape_nodes(pair->ceed, part->topology, pair->fine_degree, points));
  ierr = fill_dense_table(pair, points, part);

cleanup:
  RITZ_FREE(&points);
  return ierr;
}

// ---- A mesh and its refinement: numbers of children ----

static int find_shape(RitzMesh mesh, CeedElemTopology topology) {
  int b = 0;

  while (mesh->blocks[b].topology != topology) b++;
  return b;
}

// Nodes of child i of element e of the part's block, numbered as RitzMeshRefine says. Refined meshes are no
// boxes: their spaces have the nodes of all elements.
static RitzKeptNodes child_nodes(const RitzNestedPart *part, int64_t e, int i) {
  const RitzMeshBlock *blocks = part->coarse->blocks;
  int64_t child = (e << part->coarse->dim) + i;

  if (blocks[part->block].topology == CEED_TOPOLOGY_PYRAMID) {
    const int64_t first = blocks[0].topology == CEED_TOPOLOGY_TET ? blocks[0].num_elem * 8 : 0;

    child = i < 6 ? 6 * e + i : first + 4 * e + (i - 6);
  }
  return ritz_space_kept_nodes(part->fine_space, find_shape(part->fine, part->shapes[i]), child);
}

const int64_t *ritz_nested_nodes(const void *part, int64_t k, int64_t *scratch) {
  const RitzNestedPart *p = part;
  const int64_t e = p->elements ? p->elements[k] : k;
  RitzKeptNodes children[10];

  if (p->is_same) return ritz_space_nodes(p->fine_space, p->block, e, scratch);
  if (p->lattice_degree) {
    ritz_mesh_grid_nodes(p->coarse, p->lattice_degree, e, scratch);
    return scratch;
  }
  for (int i = 0; i < p->num_children; i++) children[i] = child_nodes(p, e, i);
  for (int64_t m = 0; m < p->num_fine; m++) scratch[m] = ritz_kept_node(&children[p->child[m]], p->node[m]);
  return scratch;
}

// ---- All fine nodes of a coarse element ----

// The nodes of all children, each once: the child, and the node of this child, that each is.
typedef struct {
  int num_children;
  CeedElemTopology shapes[10]; // of the children
  int64_t num, max;
  double *x;     // owned, [max][dim]: where they lie; tensor shapes: NULL
  int8_t *child; // owned, [max]
  int64_t *node; // owned, [max]
} Pattern;

static void clear_pattern(Pattern *pattern) {
  RITZ_FREE(&pattern->x);
  RITZ_FREE(&pattern->child);
  RITZ_FREE(&pattern->node);
}

static int allocate_pattern(const Pair *pair, Pattern *pattern) {
  RITZ_TRY(RITZ_MALLOC(pair->ceed, (size_t)pattern->max, &pattern->child));
  return RITZ_MALLOC(pair->ceed, (size_t)pattern->max, &pattern->node);
}

// The part takes the pattern over.
static int keep_pattern(const Pair *pair, Pattern *pattern, RitzNestedPart *part) {
  RITZ_TRY(check_count(pair, pattern->num, part->num_elem));
  part->num_fine = pattern->num;
  part->num_children = pattern->num_children;
  memcpy(part->shapes, pattern->shapes, sizeof(part->shapes));
  part->child = pattern->child;
  part->node = pattern->node;
  pattern->child = NULL;
  pattern->node = NULL;
  return CEED_ERROR_SUCCESS;
}

// ---- Lines, quadrilaterals, hexahedra ----

// The child that a point of the lattice of degree 2p belongs to, and its node there.
static void find_lattice_child(int dim, int64_t p, int64_t i, int8_t *child, int64_t *node) {
  int64_t stride = 1;

  *child = 0;
  *node = 0;
  for (int d = 0; d < dim; d++, i /= 2 * p + 1, stride *= p + 1) {
    const int64_t at = i % (2 * p + 1);
    const int side = at > p;

    *child = (int8_t)(*child | side << d);
    *node += (at - side * p) * stride;
  }
}

static int fill_tensor(Pair *pair, RitzNestedPart *part) {
  const int dim = ritz_mesh_shape(part->topology)->dim;
  const int64_t p = pair->fine_degree;
  Pattern pattern = {.num_children = 1 << dim, .max = ritz_mesh_power(2 * p + 1, dim)};
  int ierr = CEED_ERROR_SUCCESS;

  if (pair->relation == HALVED_BOX) {
    RITZ_TRY(check_count(pair, pattern.max, part->num_elem));
    part->num_fine = pattern.max;
    part->lattice_degree = 2 * pair->fine_degree;
    return fill_line_table(pair, 2, pair->fine_degree, part);
  }
  for (int i = 0; i < pattern.num_children; i++) pattern.shapes[i] = part->topology;
  RITZ_TRY_CLEANUP(allocate_pattern(pair, &pattern));
  for (; pattern.num < pattern.max; pattern.num++) {
    find_lattice_child(dim, p, pattern.num, &pattern.child[pattern.num], &pattern.node[pattern.num]);
  }
  RITZ_TRY_CLEANUP(fill_line_table(pair, 2, pair->fine_degree, part));
  ierr = keep_pattern(pair, &pattern, part);

cleanup:
  clear_pattern(&pattern);
  return ierr;
}

// ---- Other shapes ----

// Nodes of neighbouring children on their common face differ by rounding only; others of degree p are more
// than 1 / p^2 apart.
static bool is_known(const Pattern *pattern, int dim, const double *x, double tolerance) {
  for (int64_t k = 0; k < pattern->num; k++) {
    double distance = 0.0;

    for (int d = 0; d < dim; d++) distance = fmax(distance, fabs(pattern->x[k * dim + d] - x[d]));
    if (distance <= tolerance) return true;
  }
  return false;
}

// Appends the nodes of child i, at x [num][dim], that no earlier child has.
static void append_nodes(const Pair *pair, int i, int dim, int64_t num, const double *x, Pattern *pattern) {
  const double tolerance = 1e-3 / ((double)pair->fine_degree * pair->fine_degree);

  for (int64_t k = 0; k < num; k++) {
    if (is_known(pattern, dim, x + k * dim, tolerance)) continue;
    memcpy(pattern->x + pattern->num * dim, x + k * dim, sizeof(*x) * (size_t)dim);
    pattern->child[pattern->num] = (int8_t)i;
    pattern->node[pattern->num++] = k;
  }
}

// An empty pattern is left after a failure.
static int create_pattern(const Pair *pair, CeedElemTopology topology, int way, Pattern *pattern) {
  const int dim = ritz_mesh_shape(topology)->dim;
  const CeedInt p = pair->fine_degree;
  RitzMeshDivision division;
  double *x = NULL;
  int ierr = CEED_ERROR_SUCCESS;

  ritz_mesh_refinement(topology, way, &division);
  *pattern = (Pattern){.num_children = division.num};
  for (int i = 0; i < division.num; i++) {
    pattern->shapes[i] = division.child[i].topology;
    pattern->max += ritz_mesh_num_nodes(pattern->shapes[i], p);
  }
  RITZ_TRY_CLEANUP(allocate_pattern(pair, pattern));
  RITZ_TRY_CLEANUP(RITZ_MALLOC(pair->ceed, (size_t)(pattern->max * dim), &pattern->x));
  RITZ_TRY_CLEANUP(RITZ_MALLOC(pair->ceed, (size_t)(pattern->max * dim), &x));
  for (int i = 0; i < division.num; i++) {
    RITZ_TRY_CLEANUP(ritz_mesh_child_positions(pair->ceed, topology, &division.child[i], p, x));
    append_nodes(pair, i, dim, ritz_mesh_num_nodes(pattern->shapes[i], p), x, pattern);
  }

cleanup:
  RITZ_FREE(&x);
  if (ierr) clear_pattern(pattern);
  return ierr;
}

// The elements of a block that are cut in one way.
static int select_elements(Pair *pair, int way, RitzNestedPart *part) {
  const RitzMeshBlock *block = &pair->coarse->blocks[part->block];
  int64_t num = 0;

  RITZ_TRY(RITZ_MALLOC(pair->ceed, (size_t)block->num_elem, &part->elements));
  for (int64_t e = 0; e < block->num_elem; e++) {
    if (ritz_mesh_refinement_of(pair->coarse, part->block, block->first + e) == way)
      part->elements[num++] = e;
  }
  part->num_elem = num;
  if (num == block->num_elem) RITZ_FREE(&part->elements);
  return CEED_ERROR_SUCCESS;
}

static int fill_way(Pair *pair, int way, RitzNestedPart *part) {
  Pattern pattern;

  if (ritz_mesh_num_refinements(part->topology) > 1) RITZ_TRY(select_elements(pair, way, part));
  if (part->num_elem == 0) return CEED_ERROR_SUCCESS;
  RITZ_TRY(create_pattern(pair, part->topology, way, &pattern));
  int ierr = keep_pattern(pair, &pattern, part);

  if (!ierr) ierr = fill_dense_table(pair, pattern.x, part);
  clear_pattern(&pattern);
  return ierr;
}

// ---- All together ----

static void clear_part(RitzNestedPart *part) {
  RITZ_FREE(&part->elements);
  RITZ_FREE(&part->table);
  RITZ_FREE(&part->child);
  RITZ_FREE(&part->node);
}

static int add_block(Pair *pair, int b, RitzNested *nested) {
  const RitzMeshBlock *block = &pair->coarse->blocks[b];
  const bool is_tensor = ritz_mesh_shape(block->topology)->is_tensor;
  const RitzNestedPart start = {.topology = block->topology,
                                .block = b,
                                .num_elem = block->num_elem,
                                .coarse = pair->coarse,
                                .fine = pair->fine,
                                .fine_space = pair->fine_space,
                                .num_coarse = ritz_mesh_num_nodes(block->topology, pair->coarse_degree)};

  if (pair->relation == SAME_MESH || is_tensor) {
    RitzNestedPart *part = &nested->parts[nested->num++];

    *part = start;
    return pair->relation == SAME_MESH ? fill_same(pair, part) : fill_tensor(pair, part);
  }
  for (int way = 0; way < ritz_mesh_num_refinements(block->topology); way++) {
    RitzNestedPart *part = &nested->parts[nested->num++];

    *part = start;
    part->way = way;
    RITZ_TRY(fill_way(pair, way, part));
    if (part->num_elem > 0) continue;
    clear_part(part);
    nested->num--;
  }
  return CEED_ERROR_SUCCESS;
}

int ritz_nested_create(RitzSpace coarse, RitzSpace fine, const char *call, RitzNested *nested) {
  Pair pair = {.call = call, .coarse_space = coarse, .fine_space = fine};
  int ierr = CEED_ERROR_SUCCESS;

  nested->num = 0;
  RITZ_TRY(ritz_space_require_continuous(coarse, call));
  RITZ_TRY(ritz_space_require_continuous(fine, call));
  RITZ_TRY(RitzSpaceGetMesh(coarse, &pair.coarse));
  RITZ_TRY(RitzSpaceGetMesh(fine, &pair.fine));
  RITZ_TRY(RitzSpaceGetDegree(coarse, &pair.coarse_degree));
  RITZ_TRY(RitzSpaceGetDegree(fine, &pair.fine_degree));
  pair.ceed = pair.coarse->ceed;
  pair.relation = find_relation(pair.coarse, pair.fine);
  RITZ_TRY(check_pair(&pair));
  for (int b = 0; b < pair.coarse->num_blocks && !ierr; b++) ierr = add_block(&pair, b, nested);
  if (ierr) ritz_nested_clear(nested);
  return ierr;
}

void ritz_nested_clear(RitzNested *nested) {
  for (int i = 0; i < nested->num; i++) clear_part(&nested->parts[i]);
  nested->num = 0;
}
