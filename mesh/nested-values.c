// SPDX-License-Identifier: BSD-2-Clause
// Values of fine functions at the nodes of a coarse element (contract in mesh/nested.h): in the fine element
// that contains the node, in any of several, since functions are continuous. Called by mesh/transfer.c.
#include <math.h>
#include <string.h>

#include "fe/fe.h"
#include "mesh/locate.h"
#include "mesh/nested.h"

// ---- Lines, and tensor products of them ----

// The table [P][Q] of the cells of a line, each with nodes of its own, neighbours with one in common.
static int fill_line(Ceed ceed, const RitzNestedPart *part, CeedInt degree, double *table) {
  const CeedInt num_cells = (part->Q - 1) / degree, N = degree + 1;
  double *work = NULL; // owned: coarse nodes [P], nodes of a cell [N], values there [N]

  RITZ_TRY(RITZ_MALLOC(ceed, (size_t)part->P + 2 * (size_t)N, &work));
  double *at = work, *nodes = at + part->P, *values = nodes + N;
  int ierr = CEED_ERROR_SUCCESS;

  ritz_fe_gauss_lobatto(part->P, at, NULL);
  ritz_fe_gauss_lobatto(N, nodes, NULL);
  memset(table, 0, sizeof(*table) * (size_t)part->P * (size_t)part->Q);
  for (CeedInt i = 0; i < part->P && !ierr; i++) {
    const double along = (at[i] + 1) / 2 * num_cells; // in [0, num_cells]
    const CeedInt cell = along < num_cells ? (CeedInt)along : num_cells - 1;
    const double x = 2 * (along - cell) - 1;

    ierr = ritz_fe_lagrange(ceed, N, nodes, 1, &x, values, NULL);
    memcpy(table + (CeedSize)i * part->Q + cell * degree, values, sizeof(*values) * (size_t)N);
  }
  RITZ_FREE(&work);
  return ierr;
}

// ---- Other shapes ----

typedef struct {
  Ceed ceed;
  const RitzNestedPart *part;
  int dim;
  CeedInt degree; // of the fine space
  double *at;     // owned, [num_coarse][dim]: the coarse nodes
  double *depth;  // owned, [num_coarse]: how far inside of the best child so far
  double *x;      // owned, [num_fine][dim]: the fine nodes of the children so far
  double *table;  // borrowed
} Search;

// The fine node at a place: nodes of a child are more than 1 / degree^2 of it apart, and a child is half as
// large as the element.
static int64_t find_node(const Search *s, const double *x) {
  int64_t nearest = 0;
  double least = INFINITY;

  for (int64_t m = 0; m < s->part->num_fine; m++) {
    double distance = 0;

    for (int d = 0; d < s->dim; d++) distance = fmax(distance, fabs(s->x[m * s->dim + d] - x[d]));
    if (distance < least) nearest = m;
    least = fmin(least, distance);
  }
  return nearest;
}

// Row i: the values of the child's functions, whose nodes are at nodes [num][dim], at the point xi of it.
static int fill_row(const Search *s, int64_t i, int child, int64_t num, const double *nodes, const double *xi,
                    double *values) {
  double *row = s->table + i * s->part->num_fine;

  RITZ_TRY(ritz_fe_shape_lagrange(s->ceed, s->part->shapes[child], s->degree, 1, xi, values, NULL));
  memset(row, 0, sizeof(*row) * (size_t)s->part->num_fine);
  for (int64_t k = 0; k < num; k++) row[find_node(s, nodes + k * s->dim)] = values[k];
  return CEED_ERROR_SUCCESS;
}

// Rows of the coarse nodes that lie deeper in this child than in those before. Children are affine.
static int search_child(const Search *s, int child, const RitzMeshElementMap *map, int64_t num,
                        const double *nodes, double *values) {
  RitzMeshPreimage found;

  for (int64_t i = 0; i < s->part->num_coarse; i++) {
    if (!ritz_mesh_element_invert(map, s->at + i * s->dim, 1, -1, &found)) continue;
    if (found.depth <= s->depth[i]) continue;
    s->depth[i] = found.depth;
    RITZ_TRY(fill_row(s, i, child, num, nodes, found.xi, values));
  }
  return CEED_ERROR_SUCCESS;
}

static int add_child(const Search *s, int child, const RitzMeshChild *piece) {
  const int64_t num = ritz_mesh_num_nodes(piece->topology, s->degree);
  double *nodes = NULL, *values = NULL, *work = NULL, corners[3 * RITZ_MESH_MAX_CORNERS];
  RitzMeshInverse inverse = {0};
  int ierr;

  RITZ_TRY(ritz_mesh_inverse_create(s->ceed, piece->topology, s->dim, 1, &inverse));
  RITZ_TRY_CLEANUP(RITZ_MALLOC(s->ceed, (size_t)(num * s->dim), &nodes));
  RITZ_TRY_CLEANUP(RITZ_MALLOC(s->ceed, (size_t)num, &values));
  RITZ_TRY_CLEANUP(RITZ_MALLOC(s->ceed, (size_t)ritz_mesh_inverse_work_size(&inverse), &work));
  RITZ_TRY_CLEANUP(ritz_mesh_child_positions(s->ceed, s->part->topology, piece, s->degree, nodes));
  RITZ_TRY_CLEANUP(ritz_mesh_child_positions(s->ceed, s->part->topology, piece, 1, corners));
  for (int64_t m = 0; m < s->part->num_fine; m++) {
    if (s->part->child[m] != child) continue;
    memcpy(s->x + m * s->dim, nodes + s->part->node[m] * s->dim, sizeof(*nodes) * (size_t)s->dim);
  }
  const RitzMeshElementMap map = ritz_mesh_element_open(&inverse, corners, work);
  ierr = search_child(s, child, &map, num, nodes, values);

cleanup:
  ritz_mesh_inverse_clear(&inverse);
  RITZ_FREE(&nodes);
  RITZ_FREE(&values);
  RITZ_FREE(&work);
  return ierr;
}

static int search_children(const Search *s) {
  RitzMeshDivision division;

  for (int64_t i = 0; i < s->part->num_coarse; i++) s->depth[i] = -INFINITY;
  for (int64_t k = 0; k < s->part->num_fine * s->dim; k++) s->x[k] = INFINITY;
  ritz_mesh_refinement(s->part->topology, s->part->way, &division);
  for (int c = 0; c < division.num; c++) RITZ_TRY(add_child(s, c, &division.child[c]));
  return CEED_ERROR_SUCCESS;
}

static int fill_dense(Ceed ceed, const RitzNestedPart *part, CeedInt coarse_degree, CeedInt fine_degree,
                      double *table) {
  const int dim = ritz_mesh_shape(part->topology)->dim;
  Search s = {.ceed = ceed, .part = part, .dim = dim, .degree = fine_degree, .table = table};
  int ierr;

  RITZ_TRY_CLEANUP(RITZ_MALLOC(ceed, (size_t)(part->num_coarse * dim), &s.at));
  RITZ_TRY_CLEANUP(ritz_fe_shape_nodes(ceed, part->topology, coarse_degree, s.at));
  if (part->is_same) {
    ierr =
        ritz_fe_shape_lagrange(ceed, part->topology, fine_degree, (int)part->num_coarse, s.at, table, NULL);
  } else {
    RITZ_TRY_CLEANUP(RITZ_MALLOC(ceed, (size_t)part->num_coarse, &s.depth));
    RITZ_TRY_CLEANUP(RITZ_MALLOC(ceed, (size_t)(part->num_fine * dim), &s.x));
    ierr = search_children(&s);
  }

cleanup:
  RITZ_FREE(&s.at);
  RITZ_FREE(&s.depth);
  RITZ_FREE(&s.x);
  return ierr;
}

int ritz_nested_values(Ceed ceed, const RitzNestedPart *part, CeedInt coarse_degree, CeedInt fine_degree,
                       double **table) {
  const bool is_tensor = ritz_mesh_shape(part->topology)->is_tensor;
  const int64_t size = is_tensor ? (int64_t)part->P * part->Q : part->num_coarse * part->num_fine;

  RITZ_TRY(RITZ_MALLOC(ceed, (size_t)size, table));
  const int ierr = is_tensor ? fill_line(ceed, part, fine_degree, *table)
                             : fill_dense(ceed, part, coarse_degree, fine_degree, *table);
  if (ierr) RITZ_FREE(table);
  return ierr;
}
