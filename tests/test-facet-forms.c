// SPDX-License-Identifier: BSD-2-Clause
// Forms on facets (ritz/form.h): several functions of several spaces on both sides of interior facets,
// fields of products there and on boundaries, heights of elements over facets, refusals.
#include <ritz/form.h>
#include <ritz/product.h>

#include "tests/interior-kit.h"

static const char *text_in(CeedInt dim, const char *text) {
  static char buffers[4][1600];
  static int turn;
  char *buffer = buffers[turn++ % 4];

  snprintf(buffer, sizeof(buffers[0]), "enum { DIM = %d };\n%s", (int)dim, text);
  return buffer;
}

// Quadrilaterals, tetrahedra, line, triangles, mixture, hexahedra, prisms across, mixture; on devices a few.
static const int chosen[] = {4, 6, 0, 2, PLANE_CASE, 9, 15, SOLID_CASE};

static int num_chosen(Ceed ceed, int most) {
  const char *resource = "";

  CeedGetResource(ceed, &resource);
  return strncmp(resource, "/gpu/", 5) ? most : 2;
}

// The sum of what an operator without input gives; its end.
static double total_of(Ceed ceed, int ierr, CeedOperator *op, CeedSize n) {
  CeedVector y = NULL;
  double sum = NAN;

  if (!ierr) ierr = CeedVectorCreate(ceed, n, &y);
  if (!ierr) ierr = CeedOperatorApply(*op, CEED_VECTOR_NONE, y, CEED_REQUEST_IMMEDIATE);
  if (!ierr) {
    double *values = reference_new_values(y);

    sum = sum_of(n, values);
    free(values);
  }
  CeedVectorDestroy(&y);
  CeedOperatorDestroy(op);
  return sum;
}

// ---- Several functions ----

static const char inside_text[] =
    RITZ_TEXT(CEED_QFUNCTION_HELPER void flux(const void *ctx, const CeedScalar f[DIM],
                                              const CeedScalar grad_f[DIM][DIM], const CeedScalar g[1],
                                              const CeedScalar grad_g[1][DIM], CeedScalar v[1]) {
      v[0] = 0;
      for (int d = 0; d < DIM; d++) v[0] += g[0] * grad_f[d][d] + grad_g[0][d] * f[d];
    });
static const char around_text[] = RITZ_TEXT(
    CEED_QFUNCTION_HELPER void flux(const void *ctx, const CeedScalar n[DIM], const CeedScalar f[DIM],
                                    const CeedScalar g[1], CeedScalar v[1]) {
      v[0] = 0;
      for (int d = 0; d < DIM; d++) v[0] += g[0] * f[d] * n[d];
    });
static const char between_text[] = RITZ_TEXT(
    CEED_QFUNCTION_HELPER void flux(const void *ctx, const CeedScalar n[DIM], const CeedScalar f[2][DIM],
                                    const CeedScalar g[2][1], CeedScalar v[2][1]) {
      for (int s = 0; s < 2; s++) {
        v[s][0] = 0;
        for (int d = 0; d < DIM; d++) v[s][0] += g[s][0] * f[s][d] * (s ? -n[d] : n[d]);
      }
    });

typedef struct {
  RitzSpace space;
  CeedSize size;
  CeedVector vector;
} Given;

// A random function of a discontinuous space.
static int create_given(const Problem *p, CeedInt degree, CeedInt num_comp, uint64_t *seed, Given *g) {
  RITZ_TRY(RitzSpaceCreateDiscontinuous(p->mesh, degree, num_comp, &g->space));
  RITZ_TRY(RitzSpaceGetSize(g->space, &g->size));
  double *values = reference_new_random(g->size, seed);

  g->vector = reference_vector(p->ceed, g->size, values);
  free(values);
  return CEED_ERROR_SUCCESS;
}

static void destroy_given(Given *g) {
  RitzSpaceDestroy(&g->space);
  CeedVectorDestroy(&g->vector);
}

static void check_divergence(Ceed ceed, const Case *c) {
  uint64_t seed = 71;
  CeedOperator op = NULL;
  Given f, g;
  Problem p;

  CHECK_OK(create_problem(ceed, c, 67, 1, &p));
  CHECK_OK(create_given(&p, 2, p.dim, &seed, &f));
  CHECK_OK(create_given(&p, 1, 1, &seed, &g));
  const RitzOperatorOptions options = {.space = p.space, .num_points = NUM_POINTS};
  const RitzBoundaryOptions boundary = {.space = p.space, .num_points = NUM_POINTS};
  const RitzInteriorFacetOptions interior = {.space = p.space, .num_points = NUM_POINTS};
  const RitzFormField both[] = {{.name = "f", .what = RITZ_FORM_BOTH, .space = f.space, .vector = f.vector},
                                {.name = "g", .what = RITZ_FORM_BOTH, .space = g.space, .vector = g.vector}};
  const RitzFormField values[] = {
      {.name = "f", .what = RITZ_FORM_VALUE, .space = f.space, .vector = f.vector},
      {.name = "g", .what = RITZ_FORM_VALUE, .space = g.space, .vector = g.vector}};
  const RitzFormField v = {.name = "v", .what = RITZ_FORM_VALUE, .space = p.space};
  RitzForm form = {text_in(p.dim, inside_text), "flux", 0, 2, both, 1, &v};
  int ierr = RitzGeometryCreateFormOperator(p.geometry, ceed, &options, &form, NULL, &op);
  const double divergence = total_of(ceed, ierr, &op, p.size);

  form = (RitzForm){text_in(p.dim, around_text), "flux", RITZ_FORM_NORMAL, 2, values, 1, &v};
  ierr = RitzGeometryCreateBoundaryFormOperator(p.geometry, ceed, &boundary, &form, NULL, &op);
  const double out = total_of(ceed, ierr, &op, p.size);

  form = (RitzForm){text_in(p.dim, between_text), "flux", RITZ_FORM_NORMAL, 2, values, 1, &v};
  ierr = RitzGeometryCreateInteriorFormOperator(p.geometry, ceed, &interior, &form, NULL, &op);
  const double between = total_of(ceed, ierr, &op, p.size);

  // Sums of num numbers of the size of f g and its derivatives.
  CHECK_NEAR(out + between, divergence, 5000 * CEED_EPSILON, "%s", describe(c));
  destroy_given(&f);
  destroy_given(&g);
  destroy_problem(&p);
}

TEST_EACH_BACKEND(fluxes_of_products_of_functions_on_all_facets_are_their_divergence) {
  for (int i = 0; i < num_chosen(ceed, 8) && !tap_failed(); i++) check_divergence(ceed, &cases[chosen[i]]);
}

// ---- Products of spaces ----

static const char couple_sides[] = RITZ_TEXT(CEED_QFUNCTION_HELPER void couple(
    const void *ctx, const CeedScalar x[DIM], const CeedScalar n[DIM], const CeedScalar h[2],
    const CeedScalar a[2][2], const CeedScalar grad_a[2][2][DIM], const CeedScalar b[2][1],
    const CeedScalar grad_b[2][1][DIM], CeedScalar va[2][2], CeedScalar grad_va[2][2][DIM],
    CeedScalar vb[2][1]) {
  const CeedScalar jump = (a[0][0] - a[1][1]) / (h[0] + h[1]);
  CeedScalar slope = 0;
  for (int d = 0; d < DIM; d++) slope += n[d] * (grad_a[0][1][d] - x[0] * grad_b[1][0][d]);
  for (int s = 0; s < 2; s++) {
    va[s][0] = jump + b[s][0];
    va[s][1] = slope;
    vb[s][0] = slope - (s + 1) * a[s][1];
    for (int d = 0; d < DIM; d++) {
      grad_va[s][0][d] = n[d] * jump;
      grad_va[s][1][d] = b[1 - s][0] * n[d];
    }
  }
});
static const char couple_outside[] = RITZ_TEXT(CEED_QFUNCTION_HELPER void couple(
    const void *ctx, const CeedScalar x[DIM], const CeedScalar n[DIM], const CeedScalar h[1],
    const CeedScalar a[2], const CeedScalar grad_a[2][DIM], const CeedScalar b[1],
    const CeedScalar grad_b[1][DIM], CeedScalar va[2], CeedScalar grad_va[2][DIM], CeedScalar vb[1]) {
  CeedScalar slope = 0;
  for (int d = 0; d < DIM; d++) slope += n[d] * (grad_a[1][d] - x[0] * grad_b[0][d]);
  va[0] = a[0] / h[0] + b[0];
  va[1] = slope;
  vb[0] = slope - a[1];
  for (int d = 0; d < DIM; d++) {
    grad_va[0][d] = n[d] * a[0];
    grad_va[1][d] = b[0] * n[d];
  }
});

static int create_couple(const Problem *p, bool is_interior, const RitzFormField in[2],
                         const RitzFormField out[2], CeedOperator *op) {
  const RitzBoundaryOptions boundary = {.space = p->space};
  const RitzInteriorFacetOptions interior = {.space = p->space};
  const RitzForm form = {text_in(p->dim, is_interior ? couple_sides : couple_outside),
                         "couple",
                         RITZ_FORM_POSITION | RITZ_FORM_NORMAL | RITZ_FORM_HEIGHT,
                         2,
                         in,
                         2,
                         out};

  return is_interior
             ? RitzGeometryCreateInteriorFormOperator(p->geometry, p->ceed, &interior, &form, NULL, op)
             : RitzGeometryCreateBoundaryFormOperator(p->geometry, p->ceed, &boundary, &form, NULL, op);
}

// Of one vector of the product, or of a vector of each space, the second of which is passive: results in y.
static int apply_couple(const Problem *p, bool is_interior, RitzSpace other, RitzProductSpace product,
                        const CeedVector *x, const CeedVector *y) {
  const CeedVector b = product ? NULL : x[1], vb = product ? NULL : y[1];
  const RitzFormField in[] = {
      {.name = "a", .what = RITZ_FORM_BOTH, .space = p->space, .product = product},
      {.name = "b", .what = RITZ_FORM_BOTH, .space = other, .product = product, .index = 1, .vector = b}};
  const RitzFormField out[] = {
      {.name = "va", .what = RITZ_FORM_BOTH, .space = p->space, .product = product},
      {.name = "vb", .what = RITZ_FORM_VALUE, .space = other, .product = product, .index = 1, .vector = vb}};
  CeedOperator op = NULL;
  int ierr = create_couple(p, is_interior, in, out, &op);

  if (!ierr) ierr = CeedOperatorApply(op, x[0], y[0], CEED_REQUEST_IMMEDIATE);
  CeedOperatorDestroy(&op);
  return ierr;
}

static void check_same(CeedVector found, CeedVector wanted, const Case *c) {
  CeedScalar norm = 0, error = 0;

  CHECK_OK(CeedVectorNorm(wanted, CEED_NORM_MAX, &norm));
  CHECK_OK(CeedVectorAXPY(found, -1, wanted));
  CHECK_OK(CeedVectorNorm(found, CEED_NORM_MAX, &error));
  // the same operations, sums over facets in any order
  CHECK(norm > 0 && error <= 100 * CEED_EPSILON * norm, "differ by %g of %g: %s", (double)error, (double)norm,
        describe(c));
}

static void check_product(Ceed ceed, const Case *c, bool is_interior) {
  uint64_t seed = 73;
  CeedVector x[2], y[2] = {NULL, NULL}, whole_x = NULL, whole_y = NULL, part = NULL;
  CeedSize sizes[2], size = 0;
  RitzProductSpace product = NULL;
  RitzSpace other = NULL;
  Problem p;

  CHECK_OK(create_problem(ceed, c, 79, 2, &p));
  CHECK_OK(RitzSpaceCreate(p.mesh, 2, 1, &other));
  CHECK_OK(RitzProductSpaceCreate(2, (RitzSpace[]){p.space, other}, &product));
  CHECK_OK(RitzProductSpaceGetSize(product, &size));
  CHECK_OK(CeedVectorCreate(ceed, size, &whole_x));
  CHECK_OK(CeedVectorCreate(ceed, size, &whole_y));
  CHECK_OK(CeedVectorSetValue(whole_x, 0));
  CHECK_OK(RitzSpaceGetSize(p.space, &sizes[0]));
  CHECK_OK(RitzSpaceGetSize(other, &sizes[1]));
  for (CeedInt i = 0; i < 2; i++) {
    double *values = reference_new_random(sizes[i], &seed);

    x[i] = reference_vector(ceed, sizes[i], values);
    free(values);
    CHECK_OK(CeedVectorCreate(ceed, sizes[i], &y[i]));
    CHECK_OK(CeedVectorSetValue(y[i], 0));
    CHECK_OK(RitzProductSpaceSetPart(product, i, x[i], whole_x));
  }
  CHECK_OK(apply_couple(&p, is_interior, other, NULL, x, y));
  CHECK_OK(apply_couple(&p, is_interior, other, product, &whole_x, &whole_y));
  for (CeedInt i = 0; i < 2; i++) {
    CHECK_OK(CeedVectorCreate(ceed, sizes[i], &part));
    CHECK_OK(RitzProductSpaceGetPart(product, i, whole_y, part));
    check_same(part, y[i], c);
    CeedVectorDestroy(&part);
    CeedVectorDestroy(&x[i]);
    CeedVectorDestroy(&y[i]);
  }
  CeedVectorDestroy(&whole_x);
  CeedVectorDestroy(&whole_y);
  RitzProductSpaceDestroy(&product);
  RitzSpaceDestroy(&other);
  destroy_problem(&p);
}

TEST_EACH_BACKEND(forms_of_products_on_facets_are_those_of_their_spaces) {
  for (int i = 0; i < num_chosen(ceed, 5) && !tap_failed(); i++) {
    check_product(ceed, &cases[chosen[i]], true);
    if (!tap_failed()) check_product(ceed, &cases[chosen[i]], false);
  }
}

// ---- Heights ----

static const char height_between[] =
    RITZ_TEXT(CEED_QFUNCTION_HELPER void height(const void *ctx, const CeedScalar h[2], CeedScalar v[2][1]) {
      v[0][0] = h[0];
      v[1][0] = h[1];
    });
static const char height_around[] =
    RITZ_TEXT(CEED_QFUNCTION_HELPER void height(const void *ctx, const CeedScalar h[1], CeedScalar v[1]) {
      v[0] = h[0];
    });

// Height times area is dim times the volume of a simplex, the volume of a parallelepiped.
static void check_heights(Ceed ceed, CeedElemTopology shape) {
  const bool is_simplex =
      shape == CEED_TOPOLOGY_LINE || shape == CEED_TOPOLOGY_TRIANGLE || shape == CEED_TOPOLOGY_TET;
  const Case c = {(int)shape, 1, 1, 1};
  CeedOperator op = NULL;
  double volume = 0;
  Problem p;

  CHECK_OK(create_problem(ceed, &c, 83, 1, &p));
  CHECK_OK(RitzMeshGetMeasure(p.mesh, &volume, NULL, NULL));
  const RitzBoundaryOptions boundary = {.space = p.space};
  const RitzInteriorFacetOptions interior = {.space = p.space};
  const RitzFormField v = {.name = "v", .what = RITZ_FORM_VALUE, .space = p.space};
  RitzForm form = {height_between, "height", RITZ_FORM_HEIGHT, 0, NULL, 1, &v};
  int ierr = RitzGeometryCreateInteriorFormOperator(p.geometry, ceed, &interior, &form, NULL, &op);
  const double between = total_of(ceed, ierr, &op, p.size);

  form.text = height_around;
  ierr = RitzGeometryCreateBoundaryFormOperator(p.geometry, ceed, &boundary, &form, NULL, &op);
  const double sum = between + total_of(ceed, ierr, &op, p.size);
  const double wanted = volume * (is_simplex ? p.dim * (p.dim + 1) : 2 * p.dim);

  CHECK_NEAR(sum, wanted, 200 * CEED_EPSILON * wanted, "%s", describe(&c));
  destroy_problem(&p);
}

TEST_EACH_BACKEND(heights_times_areas_are_multiples_of_volumes) {
  static const CeedElemTopology shapes[] = {CEED_TOPOLOGY_LINE, CEED_TOPOLOGY_TRIANGLE, CEED_TOPOLOGY_QUAD,
                                            CEED_TOPOLOGY_TET, CEED_TOPOLOGY_HEX};

  for (int i = 0; i < 5 && !tap_failed(); i++) check_heights(ceed, shapes[i]);
}

// ---- Refusals ----

TEST(forms_that_facets_cannot_have_are_refused) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  RitzProductSpace product = NULL;
  RitzFacets facets = NULL;
  CeedElemRestriction rstr = NULL;
  CeedOperator op = NULL;
  Problem p;

  CHECK_OK(create_problem(ceed, &cases[PLANE_CASE], 3, 1, &p));
  CHECK_OK(RitzProductSpaceCreate(1, &p.continuous, &product));
  CHECK_OK(RitzFacetsCreateInterior(p.mesh, &facets));
  const RitzInteriorFacetOptions options = {.space = p.space};
  const RitzFormField v = {.name = "v", .what = RITZ_FORM_VALUE, .space = p.space},
                      numbers = {.name = "v", .what = RITZ_FORM_NUMBERS, .num_numbers = 1},
                      wrong = {.name = "v", .what = RITZ_FORM_VALUE, .space = p.space, .product = product},
                      taken = {.name = "dx1", .what = RITZ_FORM_VALUE, .space = p.space};
  RitzForm form = {"", "f", 32, 0, NULL, 1, &v};

  CHECK_ERROR(ceed, RitzGeometryCreateInteriorFormOperator(p.geometry, ceed, &options, &form, NULL, &op),
              CEED_ERROR_INCOMPATIBLE, "is to get 32");
  form = (RitzForm){"", "f", 0, 0, NULL, 1, &numbers};
  CHECK_ERROR(ceed, RitzGeometryCreateInteriorFormOperator(p.geometry, ceed, &options, &form, NULL, &op),
              CEED_ERROR_UNSUPPORTED, "facets do not have");
  form = (RitzForm){"", "f", 0, 0, NULL, 1, &wrong};
  CHECK_ERROR(ceed, RitzGeometryCreateInteriorFormOperator(p.geometry, ceed, &options, &form, NULL, &op),
              CEED_ERROR_INCOMPATIBLE, "is not space 0 of its product");
  form = (RitzForm){"", "f", 0, 0, NULL, 1, &taken};
  CHECK_ERROR(ceed, RitzGeometryCreateInteriorFormOperator(p.geometry, ceed, &options, &form, NULL, &op),
              CEED_ERROR_INCOMPATIBLE, "'dx1', which is one of the geometry's");
  CHECK_ERROR(ceed,
              RitzFacetsCreateProductRestriction(facets, 0, 0, RITZ_FACET_ELEMENT, product, 1, ceed, &rstr),
              CEED_ERROR_DIMENSION, "there is no space 1");
  CHECK(!op && !rstr, "left a handle");
  RitzFacetsDestroy(&facets);
  RitzProductSpaceDestroy(&product);
  destroy_problem(&p);
  CeedDestroy(&ceed);
}

int main(int argc, char **argv) {
  return tap_main(argc, argv,
                  TESTS(fluxes_of_products_of_functions_on_all_facets_are_their_divergence,
                        forms_of_products_on_facets_are_those_of_their_spaces,
                        heights_times_areas_are_multiples_of_volumes,
                        forms_that_facets_cannot_have_are_refused));
}
