// SPDX-License-Identifier: BSD-2-Clause
// Routes of operators on devices: every route gives the same result as the dense matrix of a random operator,
// on all kinds of bases; what cannot be had is refused with words; the guess where nothing was measured.
// Tables of `ritz tune`: test-tune.c. cuBLAS: test-cuda-driver.c, on a library that is faked.
#include <ritz/operator.h>
#include <ritz/precision.h>

#include "backends/gpu/gemm.h"
#include "bench/vector-problem.h"
#include "plan/route.h"
#include "tests/gpu-kit.h"
#include "tests/random-operator.h"

enum { SEED = 7100000 };

// ---- Results ----

static bool is_gen(Ceed ceed) { return strstr(ceed->backend.name, "/gen"); }

static bool says(CeedOperator op, const char *words) {
  char *text = NULL;
  size_t size = 0;
  FILE *stream = open_memstream(&text, &size);
  const int ierr = RitzOperatorExplain(op, stream);

  fclose(stream);
  const bool found = !ierr && strstr(text, words);
  if (!found) tap_note("%s", text);
  free(text);
  return found;
}

// Whether CeedOperatorApply gives the matrix times x.
static void check_apply(const RandomOperator *r, const char *route, const double *x) {
  CeedVector in = r->input_size ? reference_vector(r->ceed, r->input_size, x) : CEED_VECTOR_NONE;
  CeedVector out = CEED_VECTOR_NONE;

  if (r->output_size) CHECK_OK(CeedVectorCreate(r->ceed, r->output_size, &out));
  CHECK_OK(CeedOperatorApply(r->op, in, out, CEED_REQUEST_IMMEDIATE));
  for (int i = 0; i < r->num_targets && !tap_failed(); i++) {
    const RandomTarget *t = &r->targets[i];
    double *y = reference_new(t->length), *found = reference_new_values(t->vector ? t->vector->vector : out);
    const double tolerance = random_target_apply(r, t, x, y);

    CHECK_NEAR(reference_distance(t->length, found, y), 0, tolerance, "target %d by the route %s", i, route);
    free(y), free(found);
  }
  CeedVectorDestroy(&in);
  CeedVectorDestroy(&out);
}

static bool has_matrix(const RandomOperator *r) {
  for (int i = 0; i < r->num_in + r->num_out; i++) {
    const RandomField *f = i < r->num_in ? &r->in[i] : &r->out[i - r->num_in];
    if (f->mode != CEED_EVAL_NONE && f->mode != CEED_EVAL_WEIGHT && f->size > 0) return true;
  }
  return false;
}

// Kinds of bases that products have served.
static int num_kinds[RANDOM_NO_BASIS + 1];

static void check_products(Ceed ceed, uint64_t seed) {
  static RandomOperator r;
  const RandomOptions options = {.mesh = seed};
  uint64_t shape = seed, numbers = seed;

  CHECK_OK(random_operator_create(ceed, &options, &shape, &r));
  double *x = reference_new_random(r.input_size, &numbers);
  CHECK_OK(RitzOperatorSetRoute(r.op, RITZ_OPERATOR_ROUTE_GEMM_OWN));
  if (has_matrix(&r)) {
    check_apply(&r, "gemm-own", x);
    CHECK(says(r.op, "matrix products over all elements by own kernels"), "the view");
    for (int s = 0; s < r.num_spaces; s++) num_kinds[r.spaces[s].kind]++;
  }
  free(x);
  if (tap_failed()) tap_note("seed %d: %s", (int)seed, random_operator_describe(&r));
  if (tap_failed()) return;
  random_operator_destroy(&r);
}

TEST_EACH_GPU(products_of_random_operators_are_their_dense_matrices) {
  static const int num[] = {8, 60, 300};

  memset(num_kinds, 0, sizeof(num_kinds));
  for (int i = 0; i < num[tap_level()] && !tap_failed(); i++) check_products(ceed, SEED + (uint64_t)i);
  if (tap_failed()) return;
  CHECK(num_kinds[RANDOM_TENSOR] && num_kinds[RANDOM_H1], "no tensor or no dense basis was drawn");
  CHECK(num_kinds[RANDOM_HDIV] + num_kinds[RANDOM_HCURL], "no vector basis was drawn");
}

// ---- All routes of an operator ----

static const ChainShape shape = {
    .dim = 3, .num_elem = 9, .P_1d = 3, .Q_1d = 4, .is_diffusion = true, .num_comp = 3, .seed = 5};

// Routes in turn, and back: each apply follows the one that was asked for.
TEST_EACH_GPU(every_route_gives_the_same_result) {
  static const RitzOperatorRoute routes[] = {RITZ_OPERATOR_ROUTE_GEMM_OWN, RITZ_OPERATOR_ROUTE_FUSED,
                                             RITZ_OPERATOR_ROUTE_SEPARATE, RITZ_OPERATOR_ROUTE_AUTO};
  uint64_t seed = 1;
  const CeedSize size = chain_size(&shape);
  double *x = reference_new_random(size, &seed), *wanted = reference_new(size), *found = reference_new(size);
  Ceed reference = tap_ceed("/cpu/self/ref");
  Chain c;

  CHECK_OK(chain_apply(reference, &shape, x, wanted));
  CHECK_OK(chain_create(ceed, &shape, &c));
  for (int i = 0; i < 4; i++) {
    if (routes[i] == RITZ_OPERATOR_ROUTE_FUSED && !is_gen(ceed)) continue;
    CHECK_OK(RitzOperatorSetRoute(c.op, routes[i]));
    CHECK_OK(apply_to_values(c.op, size, x, found));
    CHECK_NEAR(reference_distance(size, wanted, found), 0, chain_tolerance(&shape, wanted), "route %s",
               RitzOperatorRouteName(routes[i]));
    if (is_gen(ceed) && routes[i] != RITZ_OPERATOR_ROUTE_AUTO)
      CHECK(says(c.op, "as asked for"), "the view of %s", RitzOperatorRouteName(routes[i]));
  }
  chain_destroy(&c);
  CeedDestroy(&reference);
  free(x), free(wanted), free(found);
}

// In another precision routes but fused ones compute in CeedScalar, between conversions.
TEST_EACH_GEN(single_precision_goes_by_products_in_double) {
  uint64_t seed = 2;
  const CeedSize size = chain_size(&shape);
  double *x = reference_new_random(size, &seed), *wanted = reference_new(size), *found = reference_new(size);
  Chain c;

  CHECK_OK(chain_create(ceed, &shape, &c));
  CHECK_OK(apply_to_values(c.op, size, x, wanted));
  chain_destroy(&c);
  CHECK_OK(chain_create(ceed, &shape, &c));
  CHECK_OK(RitzOperatorSetPrecision(c.op, CEED_SCALAR_FP32));
  CHECK_OK(RitzOperatorSetRoute(c.op, RITZ_OPERATOR_ROUTE_GEMM_OWN));
  CHECK_OK(apply_to_values(c.op, size, x, found));
  CHECK_NEAR(reference_distance(size, wanted, found), 0, chain_tolerance(&shape, wanted), "the result");
  chain_destroy(&c);
  free(x), free(wanted), free(found);
}

// ---- What is refused ----

TEST_EACH_GPU(routes_that_cannot_be_had_are_refused_with_words) {
  const ChainShape mass = {.dim = 1, .num_elem = 3, .P_1d = 2, .Q_1d = 2, .seed = 1};
  RitzOperatorRoute route;
  const char *why;
  Chain c;

  CHECK_OK(chain_create(ceed, &mass, &c));
  CHECK_ERROR(ceed, RitzOperatorSetRoute(c.op, (RitzOperatorRoute)9), CEED_ERROR_INCOMPATIBLE,
              "RitzOperatorSetRoute: route 9, needed 0 to 4");
  if (!ritz_gpu_gemm_vendor_find(ceed, &why))
    CHECK_ERROR(ceed, RitzOperatorSetRoute(c.op, RITZ_OPERATOR_ROUTE_GEMM_VENDOR), CEED_ERROR_UNSUPPORTED,
                why);
  if (!is_cuda(ceed)) CHECK(strstr(why, "it is for CUDA devices"), "%s", why);
  if (!is_gen(ceed))
    CHECK_ERROR(ceed, RitzOperatorSetRoute(c.op, RITZ_OPERATOR_ROUTE_FUSED), CEED_ERROR_UNSUPPORTED,
                "its kernels are separate");
  CHECK_OK(RitzOperatorGetRoute(c.op, &route));
  CHECK(route == RITZ_OPERATOR_ROUTE_AUTO, "the route is %s", RitzOperatorRouteName(route));
  chain_destroy(&c);
}

TEST(hosts_have_one_route) {
  const ChainShape mass = {.dim = 1, .num_elem = 3, .P_1d = 2, .Q_1d = 2, .seed = 1};
  Ceed ceed = tap_ceed("/cpu/self");
  CeedOperator sum = NULL;
  Chain c;

  CHECK_OK(chain_create(ceed, &mass, &c));
  CHECK_OK(CeedOperatorCreateComposite(ceed, &sum));
  CHECK_OK(CeedOperatorCompositeAddSub(sum, c.op));
  CHECK_ERROR(ceed, RitzOperatorSetRoute(c.op, RITZ_OPERATOR_ROUTE_GEMM_OWN), CEED_ERROR_UNSUPPORTED,
              "no route gemm-own on /cpu/self");
  CHECK_ERROR(ceed, RitzOperatorSetRoute(sum, RITZ_OPERATOR_ROUTE_SEPARATE), CEED_ERROR_UNSUPPORTED,
              "it has one route alone");
  CHECK_OK(RitzOperatorSetRoute(sum, RITZ_OPERATOR_ROUTE_AUTO));
  CeedOperatorDestroy(&sum);
  chain_destroy(&c);
  CeedDestroy(&ceed);
}

// The identity on an E-vector has no matrix. Long lines may fit a block of the next device; kernels have
// three dimensions on all of them.
TEST_EACH_GEN(operators_that_cannot_have_a_route_say_so) {
  const ChainShape four_dims = {.dim = 4, .num_elem = 1, .P_1d = 2, .Q_1d = 3, .seed = 1};
  CeedElemRestriction rstr = NULL;
  CeedQFunction qf = NULL;
  CeedOperator op = NULL;
  CeedVector u = NULL, v = NULL;
  const CeedInt strides[3] = {1, 1, 4};
  Chain c;

  CHECK_OK(CeedElemRestrictionCreateStrided(ceed, 2, 4, 1, 8, strides, &rstr));
  CHECK_OK(CeedQFunctionCreateIdentity(ceed, 1, CEED_EVAL_NONE, CEED_EVAL_NONE, &qf));
  CHECK_OK(CeedOperatorCreate(ceed, qf, NULL, NULL, &op));
  CHECK_OK(CeedOperatorSetField(op, "input", rstr, CEED_BASIS_NONE, CEED_VECTOR_ACTIVE));
  CHECK_OK(CeedOperatorSetField(op, "output", rstr, CEED_BASIS_NONE, CEED_VECTOR_ACTIVE));
  CHECK_OK(CeedVectorCreate(ceed, 8, &u));
  CHECK_OK(CeedVectorCreate(ceed, 8, &v));
  CHECK_OK(CeedVectorSetValue(u, 1));
  CHECK_OK(RitzOperatorSetRoute(op, RITZ_OPERATOR_ROUTE_GEMM_OWN));
  CHECK_ERROR(ceed, CeedOperatorApply(op, u, v, CEED_REQUEST_IMMEDIATE), CEED_ERROR_UNSUPPORTED,
              "by the route gemm-own: no field has a basis with a matrix");
  CeedVectorDestroy(&u);
  CeedVectorDestroy(&v);
  CeedOperatorDestroy(&op);
  CeedQFunctionDestroy(&qf);
  CeedElemRestrictionDestroy(&rstr);

  CHECK_OK(chain_create(ceed, &four_dims, &c));
  CHECK_OK(CeedVectorCreate(ceed, c.size, &u));
  CHECK_OK(CeedVectorCreate(ceed, c.size, &v));
  CHECK_OK(CeedVectorSetValue(u, 1));
  CHECK_OK(RitzOperatorSetRoute(c.op, RITZ_OPERATOR_ROUTE_FUSED));
  CHECK_ERROR(ceed, CeedOperatorApply(c.op, u, v, CEED_REQUEST_IMMEDIATE), CEED_ERROR_UNSUPPORTED,
              "by the route fused: a basis of more than three dimensions");
  CeedVectorDestroy(&u);
  CeedVectorDestroy(&v);
  chain_destroy(&c);
}

// ---- The guess ----

// A mass or diffusion operator on a dense basis of these sizes; elements share nothing.
static int create_dense(Ceed ceed, CeedInt P, CeedInt Q, bool is_diffusion, CeedOperator *op) {
  const CeedInt strides[3] = {1, 1, P}, q_strides[3] = {1, Q, Q * (is_diffusion ? 6 : 1)};
  CeedScalar *interp = calloc((size_t)(P * Q), sizeof(CeedScalar)),
             *grad = calloc((size_t)(3 * P * Q), sizeof(CeedScalar));
  CeedScalar *points = calloc((size_t)(3 * Q), sizeof(CeedScalar)),
             *weights = calloc((size_t)Q, sizeof(CeedScalar));
  CeedElemRestriction rstr = NULL, rstr_q = NULL;
  CeedBasis basis = NULL;
  CeedVector data = NULL;
  CeedQFunction qf = NULL;

  int ierr = CeedBasisCreateH1(ceed, CEED_TOPOLOGY_TET, 1, P, Q, interp, grad, points, weights, &basis);
  free(interp), free(grad), free(points), free(weights);
  if (!ierr) ierr = CeedElemRestrictionCreateStrided(ceed, 2, P, 1, 2 * P, strides, &rstr);
  const CeedInt num = is_diffusion ? 6 : 1;
  if (!ierr) ierr = CeedElemRestrictionCreateStrided(ceed, 2, Q, num, 2 * Q * num, q_strides, &rstr_q);
  if (!ierr) ierr = CeedVectorCreate(ceed, 2 * Q * num, &data);
  if (!ierr)
    ierr = CeedQFunctionCreateInteriorByName(ceed, is_diffusion ? "Poisson3DApply" : "MassApply", &qf);
  if (!ierr) ierr = CeedOperatorCreate(ceed, qf, NULL, NULL, op);
  if (!ierr) ierr = CeedOperatorSetField(*op, is_diffusion ? "du" : "u", rstr, basis, CEED_VECTOR_ACTIVE);
  if (!ierr) ierr = CeedOperatorSetField(*op, "qdata", rstr_q, CEED_BASIS_NONE, data);
  if (!ierr) ierr = CeedOperatorSetField(*op, is_diffusion ? "dv" : "v", rstr, basis, CEED_VECTOR_ACTIVE);
  if (!ierr) ierr = CeedOperatorCheckReady(*op);
  CeedElemRestrictionDestroy(&rstr);
  CeedElemRestrictionDestroy(&rstr_q);
  CeedBasisDestroy(&basis);
  CeedVectorDestroy(&data);
  CeedQFunctionDestroy(&qf);
  return ierr;
}

static RitzRouteGuess guess_of(CeedOperator op, const RitzRouteOptions *options) {
  const RitzPlanOptions all = {.allows_blocks = true};
  RitzRouteGuess found = {.route = RITZ_OPERATOR_ROUTE_AUTO};
  RitzPlan *plan = NULL;
  const char *reason;

  if (!ritz_plan_operator(op, &all, &plan, &reason) && plan) found = ritz_plan_route(plan, options);
  ritz_plan_free(&plan);
  return found;
}

static RitzRouteGuess guess(CeedInt P, CeedInt Q, bool is_diffusion, const RitzRouteOptions *options) {
  RitzRouteGuess found = {.route = RITZ_OPERATOR_ROUTE_AUTO};
  Ceed ceed = tap_ceed("/cpu/self/ref");
  CeedOperator op = NULL;

  if (!create_dense(ceed, P, Q, is_diffusion, &op)) found = guess_of(op, options);
  CeedOperatorDestroy(&op);
  CeedDestroy(&ceed);
  return found;
}

// Tetrahedra of degree 1 to 6: products are ahead of fused kernels without tensor cores where the rates that
// were measured say so, doc/gpu.md, Routes.
TEST(the_guess_follows_what_was_measured_on_tetrahedra) {
  static const CeedInt sizes[][2] = {{4, 4}, {10, 11}, {20, 24}, {35, 45}, {56, 74}, {84, 122}};
  RitzRouteOptions o = {.device = "NVIDIA H200", .has_mma = true, .can_fuse = true, .has_vendor = true};

  for (int i = 0; i < 24; i++) {
    const int p = i / 4 + 1, is_diffusion = i % 2;
    o.has_tiles = i / 2 % 2;
    const RitzRouteGuess g = guess(sizes[p - 1][0], sizes[p - 1][1], is_diffusion, &o);
    const double ratio = g.seconds[RITZ_OPERATOR_ROUTE_GEMM_VENDOR] / g.seconds[RITZ_OPERATOR_ROUTE_FUSED];
    tap_note("p = %d, %s, %s tensor cores: products take %.2f of fused, %.2f separate", p,
             is_diffusion ? "BP3" : "BP1", o.has_tiles ? "by" : "without", ratio,
             g.seconds[RITZ_OPERATOR_ROUTE_SEPARATE] / g.seconds[RITZ_OPERATOR_ROUTE_FUSED]);
    CHECK(g.route == (p == 6 && !o.has_tiles ? RITZ_OPERATOR_ROUTE_GEMM_VENDOR : RITZ_OPERATOR_ROUTE_FUSED),
          "p = %d: %s", p, RitzOperatorRouteName(g.route));
    CHECK(strstr(g.why, "measured on an H200"), "%s", g.why);
  }
}

TEST(the_guess_takes_what_there_is) {
  RitzRouteOptions o = {.device = "NVIDIA H200", .has_mma = true, .can_fuse = true};

  CHECK(guess(84, 122, true, &o).route == RITZ_OPERATOR_ROUTE_FUSED, "without the vendor's library");
  CHECK(guess(84, 122, true, &o).seconds[RITZ_OPERATOR_ROUTE_GEMM_VENDOR] == 0, "it costs nothing");
  CHECK(guess(200, 300, true, &o).route == RITZ_OPERATOR_ROUTE_GEMM_OWN, "without it, large ones");
  o.can_fuse = false;
  CHECK(guess(300, 500, true, &o).route == RITZ_OPERATOR_ROUTE_GEMM_OWN, "what cannot be fused");
  o.has_vendor = true;
  CHECK(guess(300, 500, true, &o).route == RITZ_OPERATOR_ROUTE_GEMM_VENDOR, "large ones");
  o.device = "another one";
  CHECK(strstr(guess(84, 122, true, &o).why, "the model's guess"), "%s", guess(84, 122, true, &o).why);
  o.is_played = true;
  CHECK(guess(300, 500, true, &o).route == RITZ_OPERATOR_ROUTE_SEPARATE, "a processor plays the device");
  o.can_fuse = true;
  CHECK(guess(300, 500, true, &o).route == RITZ_OPERATOR_ROUTE_FUSED, "likewise, fused");
}

static RitzRouteGuess guess_vector(const VectorShape *shape, const RitzRouteOptions *options) {
  RitzRouteGuess found = {.route = RITZ_OPERATOR_ROUTE_AUTO};
  Ceed ceed = tap_ceed("/cpu/self/ref");
  VectorProblem p;

  if (!vector_problem_create(ceed, shape, &p)) found = guess_of(p.op, options);
  vector_problem_destroy(&p);
  CeedDestroy(&ceed);
  return found;
}

// A fused kernel goes along the lines of Nedelec and Raviart-Thomas bases, so that work grows as that of
// tensor bases does; the products are with dense matrices.
TEST(the_guess_counts_vector_bases_of_fused_kernels_by_their_lines) {
  const RitzRouteOptions o = {.device = "NVIDIA H200", .has_mma = true, .can_fuse = true, .has_vendor = true};
  double last = 0;

  for (CeedInt order = 1; order <= 6; order++) {
    for (int i = 0; i < 2; i++) {
      const VectorShape shape = {i ? CEED_EVAL_DIV : CEED_EVAL_CURL, 3, order, order + 2, {1, 1, 1}, false};
      const RitzRouteGuess g = guess_vector(&shape, &o);
      const double seconds = g.seconds[RITZ_OPERATOR_ROUTE_FUSED];
      CHECK(g.route == RITZ_OPERATOR_ROUTE_FUSED, "%s of order %d: %s", i ? "div" : "curl", (int)order,
            RitzOperatorRouteName(g.route));
      // Lines: at most (5/4)^4 = 2.4 from order 3 to 4, (4/3)^4 = 3.2 from 2 to 3; dense: 3.8 and 5.6 there.
      if (!i && order > 2) CHECK(seconds < 3.5 * last, "order %d: %.1f times", (int)order, seconds / last);
      if (!i) last = seconds;
    }
  }
}

int main(int argc, char **argv) {
  return tap_main(argc, argv,
                  TESTS(products_of_random_operators_are_their_dense_matrices,
                        every_route_gives_the_same_result, single_precision_goes_by_products_in_double,
                        routes_that_cannot_be_had_are_refused_with_words, hosts_have_one_route,
                        operators_that_cannot_have_a_route_say_so,
                        the_guess_follows_what_was_measured_on_tetrahedra, the_guess_takes_what_there_is,
                        the_guess_counts_vector_bases_of_fused_kernels_by_their_lines));
}
