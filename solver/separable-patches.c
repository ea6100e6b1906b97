// SPDX-License-Identifier: BSD-2-Clause
// Vertex patches as subdomains (see separable.h): colours, order, factors.
#include <stdlib.h>
#include <string.h>

#include "solver/separable.h"

// Patches in the order of the mesh, their colours, patches colour by colour.
typedef struct {
  CeedInt dim, num_corners; // of an element: elements of a patch
  int64_t num;
  int64_t *elements;        // to be freed by free(), [num][num_corners]
  int8_t *axes;             // likewise, [num][num_corners][dim]
  int8_t *colours;          // owned, [num]
  int64_t *sorted_elements; // owned; NULL: they are not sorted
  int8_t *sorted_axes;      // owned
} Patches;

static void clear_patches(Patches *p) {
  free(p->elements);
  free(p->axes);
  RITZ_FREE(&p->colours);
  RITZ_FREE(&p->sorted_elements);
  RITZ_FREE(&p->sorted_axes);
}

// The first colour that no patch before has on one of these elements. In boxes these are the parities of the
// vertex. An element has num_corners patches at most, each of them num_corners - 1 others: 57 colours serve.
static int find_colours(Ceed ceed, int64_t num_elem, Patches *p, CeedInt *num_colours) {
  uint64_t *taken = NULL;

  *num_colours = 0;
  RITZ_TRY(RITZ_MALLOC(ceed, (size_t)p->num, &p->colours));
  RITZ_TRY(RITZ_CALLOC(ceed, (size_t)num_elem, &taken));
  for (int64_t k = 0; k < p->num; k++) {
    const int64_t *elements = p->elements + k * p->num_corners;
    uint64_t all = 0;
    CeedInt colour = 0;

    for (CeedInt i = 0; i < p->num_corners; i++) all |= taken[elements[i]];
    while (all >> colour & 1) colour++;
    for (CeedInt i = 0; i < p->num_corners; i++) taken[elements[i]] |= UINT64_C(1) << colour;
    p->colours[k] = (int8_t)colour;
    *num_colours = CeedIntMax(*num_colours, colour + 1);
  }
  RITZ_FREE(&taken);
  return CEED_ERROR_SUCCESS;
}

// Colour by colour, in each as they are.
static int sort_by_colour(Ceed ceed, Patches *p, RitzSeparable *s) {
  const size_t num = (size_t)p->num, num_elem = (size_t)p->num_corners, num_axes = num_elem * (size_t)p->dim;
  size_t next = 0;

  RITZ_TRY(RITZ_CALLOC(ceed, (size_t)s->num_colours + 1, &s->first));
  RITZ_TRY(RITZ_MALLOC(ceed, num * num_elem, &p->sorted_elements));
  RITZ_TRY(RITZ_MALLOC(ceed, num * num_axes, &p->sorted_axes));
  for (CeedInt colour = 0; colour < s->num_colours; colour++) {
    for (size_t k = 0; k < num; k++) {
      if (p->colours[k] != colour) continue;
      memcpy(p->sorted_elements + next * num_elem, p->elements + k * num_elem, num_elem * sizeof(int64_t));
      memcpy(p->sorted_axes + next * num_axes, p->axes + k * num_axes, num_axes);
      next++;
    }
    s->first[colour + 1] = (CeedInt)next;
  }
  return CEED_ERROR_SUCCESS;
}

// Means over the elements of a patch, in its directions.
static void average(const Patches *p, const double *of_elements, double *factors) {
  const int64_t *all = p->sorted_elements ? p->sorted_elements : p->elements;
  const int8_t *all_axes = p->sorted_axes ? p->sorted_axes : p->axes;
  const CeedInt stride = p->dim + 1;

  for (int64_t k = 0; k < p->num; k++) {
    double *c = factors + k * stride;

    for (CeedInt d = 0; d <= p->dim; d++) c[d] = 0;
    for (CeedInt i = 0; i < p->num_corners; i++) {
      const double *element = of_elements + all[k * p->num_corners + i] * stride;
      const int8_t *axes = all_axes + (k * p->num_corners + i) * p->dim;

      for (CeedInt d = 0; d < p->dim; d++) c[d] += element[axes[d] < 0 ? -1 - axes[d] : axes[d]];
      c[p->dim] += element[p->dim];
    }
    for (CeedInt d = 0; d <= p->dim; d++) c[d] /= p->num_corners;
  }
}

int ritz_separable_create_patches(Ceed ceed, RitzSpace space, RitzMesh mesh, int64_t num_elem,
                                  const double *of_elements, bool are_coloured, RitzSeparable *s) {
  Patches p = {.dim = s->dim, .num_corners = 1 << s->dim};
  int ierr;

  RITZ_TRY_CLEANUP(RitzMeshGetVertexPatches(mesh, &p.num, &p.elements, &p.axes));
  s->num_domains = (CeedInt)p.num; // not more than elements: each has num_corners of them, as many as corners
  if (are_coloured) {
    RITZ_TRY_CLEANUP(find_colours(ceed, num_elem, &p, &s->num_colours));
    RITZ_TRY_CLEANUP(sort_by_colour(ceed, &p, s));
  }
  RITZ_TRY_CLEANUP(RITZ_MALLOC(ceed, (size_t)p.num * (size_t)(s->dim + 1), &s->factors));
  average(&p, of_elements, s->factors);
  RITZ_TRY_CLEANUP(RitzSpaceCreatePatchRestriction(space, ceed, s->num_domains,
                                                   p.sorted_elements ? p.sorted_elements : p.elements,
                                                   p.sorted_axes ? p.sorted_axes : p.axes, &s->rstr));
cleanup:
  clear_patches(&p);
  return ierr;
}
