// SPDX-License-Identifier: BSD-2-Clause
// Curved geometry of MFEM meshes: the grid function `nodes`. Called by mesh/mfem.c; which value belongs to
// which node is the matter of mesh/mfem-dofs.c.
#include <stdio.h>
#include <string.h>

#include "fe/fe.h"
#include "mesh/mfem.h"

// Where the nodes of a collection sit on [0,1], i = 0..p.
typedef enum {
  POINTS_LOBATTO, // Gauss-Lobatto
  POINTS_UNIFORM, // i / p
  POINTS_GAUSS,   // Gauss-Legendre
  POINTS_OPEN,    // (i + 1) / (p + 2)
  POINTS_MIDDLE,  // (i + 1/2) / (p + 1)
} Points;

typedef struct {
  RitzMfemLayout layout;
  Points points;
} Collection;

static void fill_mfem_points(Points points, int p, double *x) {
  if (points == POINTS_LOBATTO) ritz_fe_gauss_lobatto(p + 1, x, NULL);
  if (points == POINTS_GAUSS) ritz_fe_gauss(p + 1, x, NULL);
  for (int i = 0; i <= p; i++) {
    if (points == POINTS_UNIFORM) x[i] = (double)(2 * i - p) / p;
    if (points == POINTS_OPEN) x[i] = (double)(2 * i - p) / (p + 2);
    if (points == POINTS_MIDDLE) x[i] = (double)(2 * i - p) / (p + 1);
  }
}

// ---- Names of collections ----

static bool find_fixed_collection(const char *name, Collection *collection) {
  static const char *const names[] = {"Linear", "Quadratic", "Cubic"};

  for (int i = 0; i < 3; i++) {
    if (strcmp(name, names[i])) continue;
    *collection = (Collection){{.degree = i + 1, .is_shared = true, .is_cubic = i == 2}, POINTS_UNIFORM};
    return true;
  }
  return false;
}

// "H1_3D_P4": a prefix that tells continuity and points, the dimension, the degree.
static bool find_family(const char *name, Collection *collection, int *dim) {
  static const struct {
    const char *prefix;
    bool is_shared;
    Points points;
  } families[] = {
      {"H1_", true, POINTS_LOBATTO},     {"H1@G_", true, POINTS_LOBATTO}, {"H1@s_", true, POINTS_LOBATTO},
      {"H1@U_", true, POINTS_UNIFORM},   {"L2_", false, POINTS_GAUSS},    {"L2_T0_", false, POINTS_GAUSS},
      {"L2_T1_", false, POINTS_LOBATTO}, {"L2_T3_", false, POINTS_OPEN},  {"L2_T4_", false, POINTS_UNIFORM},
      {"L2_T5_", false, POINTS_MIDDLE},
  };

  for (size_t i = 0; i < sizeof(families) / sizeof(families[0]); i++) {
    size_t length = strlen(families[i].prefix);
    int degree = 0, end = 0;

    if (strncmp(name, families[i].prefix, length)) continue;
    if (sscanf(name + length, "%1dD_P%4d%n", dim, &degree, &end) != 2 || name[length + (size_t)end]) continue;
    *collection = (Collection){{.degree = degree, .is_shared = families[i].is_shared}, families[i].points};
    return true;
  }
  return false;
}

// Declines what the format leaves open: nodes of solids with triangles and quadrilaterals beyond its
// description, and degrees for which there is no basis.
static int check_shapes(const RitzMfemFile *file, const char *name, const RitzMfemLayout *layout) {
  for (int s = RITZ_SHAPE_SEGMENT; s < RITZ_NUM_SHAPES; s++) {
    bool is_described = s == RITZ_SHAPE_PRISM     ? layout->is_shared && !layout->is_cubic
                        : s == RITZ_SHAPE_PYRAMID ? layout->is_shared && layout->degree == 1
                                                  : true;

    if (!file->elements.counts[s]) continue;
    if (!is_described)
      return ritz_text_fail(file->text, CEED_ERROR_UNSUPPORTED,
                            "nodes of collection '%s' on %s; Ritz reads H1 there, on pyramids of degree 1",
                            name, ritz_shapes[s].plural);
    if (!ritz_mesh_shape(ritz_shapes[s].topology)->is_tensor && layout->degree > RITZ_READER_MAX_DENSE_DEGREE)
      return ritz_text_fail(file->text, CEED_ERROR_UNSUPPORTED,
                            "nodes of degree %d on %s; Ritz reads degrees 1 to %d there", layout->degree,
                            ritz_shapes[s].plural, RITZ_READER_MAX_DENSE_DEGREE);
  }
  return CEED_ERROR_SUCCESS;
}

static int read_collection(const RitzMfemFile *file, Collection *collection) {
  RitzMeshText *text = file->text;
  RitzWord word;
  RitzQuote quote;
  int dim = file->dim;

  RITZ_TRY(ritz_text_word(text, "the collection of the nodes", &word));
  const char *name = ritz_word_quote(word, &quote);

  if (!find_fixed_collection(name, collection) && !find_family(name, collection, &dim))
    return ritz_text_fail(text, CEED_ERROR_UNSUPPORTED,
                          "nodes of collection '%s'; Ritz reads Linear, Quadratic, Cubic, H1 (Gauss-Lobatto "
                          "or uniform) and L2 with T0, T1, T3, T4, T5",
                          name);
  RITZ_TEXT_REQUIRE(dim == file->dim, text, "nodes of collection '%s' in a mesh of dimension %d", name,
                    file->dim);
  if (collection->layout.degree < 1 || collection->layout.degree > RITZ_READER_MAX_DEGREE)
    return ritz_text_fail(text, CEED_ERROR_UNSUPPORTED, "nodes of degree %d; Ritz reads degrees 1 to %d",
                          collection->layout.degree, RITZ_READER_MAX_DEGREE);
  return check_shapes(file, name, &collection->layout);
}

// ---- Values ----

typedef struct {
  int64_t num_dofs, space_dim;
  bool is_interleaved;
  double *values; // owned, [num_dofs * space_dim] as in the file
  int64_t *list;  // owned: dofs of one element
} Values;

static void values_destroy(Values *values) {
  RITZ_FREE(&values->values);
  RITZ_FREE(&values->list);
}

static int read_values(RitzMeshText *text, Values *values) {
  int64_t num = values->num_dofs * values->space_dim;

  RITZ_TRY(ritz_text_check_count(text, "the number of node values", num, 0, 0, 1));
  RITZ_TRY(RITZ_MALLOC(text->ceed, (size_t)num, &values->values));
  for (int64_t i = 0; i < num; i++) RITZ_TRY(ritz_text_double(text, "a node value", &values->values[i]));
  return CEED_ERROR_SUCCESS;
}

static int fill_block(const RitzMfemFile *file, const RitzMfemDofs *dofs, const Values *values,
                      const RitzReaderNodes *nodes, const RitzMeshBlock *block, RitzMeshDraft *draft) {
  int64_t space_dim = values->space_dim;
  int64_t by_dof = values->is_interleaved ? space_dim : 1,
          by_component = values->is_interleaved ? 1 : dofs->num_dofs;
  double *x = draft->coords + block->node_base * space_dim;

  for (int64_t e = block->first; e < block->first + block->num_elem; e++) {
    RITZ_TRY(ritz_mfem_dofs_of_element(dofs, file->order[e], values->list));
    for (int64_t c = 0; c < space_dim; c++) {
      for (int64_t i = 0; i < nodes->num_in; i++) {
        nodes->in[c * nodes->num_in + i] = values->values[values->list[i] * by_dof + c * by_component];
      }
    }
    if (!ritz_reader_nodes_apply(nodes, x))
      return ritz_text_fail_at(file->text, file->elements.places[file->order[e]], CEED_ERROR_MAJOR,
                               "the coordinates of the element are too large");
    x += block->num_nodes * space_dim;
  }
  return CEED_ERROR_SUCCESS;
}

static int interpolate_block(const RitzMfemDofs *dofs, Points points, Values *values,
                             const RitzMeshBlock *block, RitzMeshDraft *draft) {
  const RitzMfemFile *file = dofs->file;
  int p = dofs->layout.degree;
  double in_points[RITZ_READER_MAX_DEGREE + 1];
  RitzReaderNodes nodes;
  Ceed ceed = file->text->ceed;

  fill_mfem_points(points, p, in_points);
  RITZ_TRY(ritz_reader_nodes_create(ceed, block->topology, (int)values->space_dim, p, in_points, p, &nodes));
  int ierr = RITZ_REALLOC(ceed, (size_t)nodes.num_in, &values->list);

  if (!ierr) ierr = fill_block(file, dofs, values, &nodes, block, draft);
  ritz_reader_nodes_destroy(&nodes);
  return ierr;
}

static int read_coords(const RitzMfemFile *file, const Collection *collection, Values *values,
                       RitzMeshDraft *draft) {
  int ierr = CEED_ERROR_SUCCESS;
  RitzMfemDofs dofs = {.file = file};
  Ceed ceed = file->text->ceed;

  RITZ_TRY_CLEANUP(ritz_mfem_dofs_create(file, collection->layout, &dofs));
  values->num_dofs = dofs.num_dofs;
  RITZ_TRY_CLEANUP(read_values(file->text, values));
  RITZ_TRY_CLEANUP(RITZ_MALLOC(ceed, (size_t)(draft->num_points * draft->space_dim), &draft->coords));
  for (int b = 0; b < draft->num_blocks; b++)
    RITZ_TRY_CLEANUP(interpolate_block(&dofs, collection->points, values, &draft->blocks[b], draft));
cleanup:
  ritz_mfem_dofs_destroy(&dofs);
  return ierr;
}

int ritz_mfem_read_nodes(const RitzMfemFile *file, RitzMeshDraft *draft) {
  RitzMeshText *text = file->text;
  Collection collection = {.points = POINTS_LOBATTO};
  Values values = {.values = NULL};
  int64_t ordering;

  RITZ_TRY(ritz_text_expect(text, "FiniteElementSpace"));
  RITZ_TRY(ritz_text_expect(text, "FiniteElementCollection:"));
  RITZ_TRY(read_collection(file, &collection));
  RITZ_TRY(ritz_text_expect(text, "VDim:"));
  RITZ_TRY(
      ritz_text_int(text, "the number of components of the nodes (VDim)", file->dim, 3, &values.space_dim));
  RITZ_TRY(ritz_text_expect(text, "Ordering:"));
  RITZ_TRY(ritz_text_int(text, "the ordering of the nodes", 0, 1, &ordering));
  values.is_interleaved = ordering == 1;
  draft->order = collection.layout.degree;
  draft->space_dim = (CeedInt)values.space_dim;
  RITZ_TRY(ritz_mesh_draft_lay_out(text->ceed, text->path, draft)); // now that the order is known
  int ierr = read_coords(file, &collection, &values, draft);

  values_destroy(&values);
  return ierr;
}
