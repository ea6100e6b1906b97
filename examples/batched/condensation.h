// SPDX-License-Identifier: BSD-2-Clause
// Static condensation: unknowns inside of elements are eliminated element by element, what is left is a
// system of the nodes that elements share. examples/batched/condensation.c and tests/test-condensation.c
// solve with it.
//
// Of each element matrix A, nodes on the element's boundary first (nb of them, ni inside):
//
//     A_ii = L L^T               POTRF
//     X    = L^-1 A_ib           TRSM, over A_ib
//     S    = A_bb - X^T X        GEMM, over A_bb
//
// and of a right-hand side, y inside: y := L^-1 y, b_b := b_b - X^T y; S u_b = b_b, summed over the elements,
// by conjugate gradients; u_i = L^-T (y - X u_b). All calls work on one array of element matrices.
#ifndef RITZ_EXAMPLES_BATCHED_CONDENSATION_H
#define RITZ_EXAMPLES_BATCHED_CONDENSATION_H

#include "example.h"

// Entries of a vector, listed for each element, to [num_elem][..], and back, added.
typedef struct {
  CeedOperator take, put;
} Link;

typedef struct {
  Ceed ceed; // borrowed
  CeedInt num_elem, n, nb, ni;
  CeedSize num_shared;             // nodes that are not inside of an element
  int32_t *place;                  // [n] node of the element's matrix at each place, boundary first
  int64_t *shared;                 // [nodes of the space] their numbers among the shared ones; -1: inside
  CeedVector matrices;             // [num_elem][n][n]: S, X and L of each element
  Link boundary, interior, vector; // shared nodes of elements, inner ones; all shared nodes of a vector
  CeedOperator diagonal;           // of the matrices S -> shared nodes
  RitzBatched factorize, solve, update; // POTRF, TRSM, GEMM
  RitzBatched product;                  // out = S in
  RitzBatched forward, backward;        // inside := L^-1 inside, L^-T inside
  RitzBatched to_boundary, to_interior; // out = -X^T inside, inside -= X in
  CeedVector in, out, inside;           // [num_elem][nb], [num_elem][nb], [num_elem][ni]
} Condensation;

// ---- Operators that copy ----

static CeedOperator create_copy(Ceed ceed, CeedElemRestriction from, CeedElemRestriction to) {
  CeedQFunction qf;
  CeedOperator op;

  MUST(CeedQFunctionCreateIdentity(ceed, 1, CEED_EVAL_NONE, CEED_EVAL_NONE, &qf));
  MUST(CeedOperatorCreate(ceed, qf, CEED_QFUNCTION_NONE, CEED_QFUNCTION_NONE, &op));
  MUST(CeedOperatorSetField(op, "input", from, CEED_BASIS_NONE, CEED_VECTOR_ACTIVE));
  MUST(CeedOperatorSetField(op, "output", to, CEED_BASIS_NONE, CEED_VECTOR_ACTIVE));
  MUST(CeedQFunctionDestroy(&qf));
  return op;
}

// Entries of [num][size], `step` apart, `stride` from one list to the next.
static CeedElemRestriction create_strided(Ceed ceed, CeedInt num, CeedInt size, CeedInt step,
                                          CeedInt stride) {
  const CeedInt strides[3] = {step, 1, stride};
  CeedElemRestriction rstr;

  MUST(CeedElemRestrictionCreateStrided(ceed, num, size, 1, (CeedSize)num * stride, strides, &rstr));
  return rstr;
}

// offsets [num][size] into a vector of `length` entries.
static CeedElemRestriction create_listed(Ceed ceed, CeedInt num, CeedInt size, CeedSize length,
                                         const CeedInt *offsets) {
  CeedElemRestriction rstr;

  MUST(CeedElemRestrictionCreate(ceed, num, size, 1, 1, length, CEED_MEM_HOST, CEED_COPY_VALUES, offsets,
                                 &rstr));
  return rstr;
}

static Link create_link(Ceed ceed, CeedInt num, CeedInt size, CeedSize length, const CeedInt *offsets) {
  CeedElemRestriction listed = create_listed(ceed, num, size, length, offsets);
  CeedElemRestriction dense = create_strided(ceed, num, size, 1, size);
  const Link link = {.take = create_copy(ceed, listed, dense), .put = create_copy(ceed, dense, listed)};

  CeedElemRestrictionDestroy(&listed), CeedElemRestrictionDestroy(&dense);
  return link;
}

static void destroy_link(Link *link) { CeedOperatorDestroy(&link->take), CeedOperatorDestroy(&link->put); }

// ---- Which nodes ----

// Places of the nodes of an element, lexicographic and P a direction: those of its boundary first.
static void order_places(int dim, CeedInt P, Condensation *c) {
  CeedInt inside = 0, first = 0;

  c->n = c->ni = 1;
  for (int d = 0; d < dim; d++) c->n *= P, c->ni *= P - 2;
  c->nb = c->n - c->ni;
  c->place = malloc((size_t)c->n * sizeof(*c->place));
  for (CeedInt i = 0; i < c->n; i++) {
    bool is_inside = true;
    for (CeedInt d = 0, rest = i; d < dim; d++, rest /= P)
      is_inside = is_inside && rest % P > 0 && rest % P < P - 1;
    c->place[is_inside ? c->nb + inside++ : first++] = i;
  }
}

static void number_shared(RitzSpace space, Condensation *c) {
  const int64_t *nodes;
  int64_t num_nodes;

  MUST(RitzSpaceGetNumNodes(space, &num_nodes));
  MUST(RitzSpaceGetElementNodes(space, &nodes));
  c->shared = malloc((size_t)num_nodes * sizeof(*c->shared));
  for (int64_t i = 0; i < num_nodes; i++) c->shared[i] = 0;
  for (int64_t e = 0; e < c->num_elem; e++) {
    for (CeedInt i = c->nb; i < c->n; i++) c->shared[nodes[e * c->n + c->place[i]]] = -1;
  }
  for (int64_t i = 0; i < num_nodes; i++) c->shared[i] = c->shared[i] ? -1 : c->num_shared++;
}

static void create_links(RitzSpace space, Condensation *c) {
  const size_t num_elem = (size_t)c->num_elem, nb = (size_t)c->nb, ni = (size_t)c->ni;
  CeedInt *boundary = malloc(num_elem * nb * sizeof(*boundary));
  CeedInt *interior = malloc(num_elem * ni * sizeof(*interior));
  CeedInt *vector = malloc((size_t)c->num_shared * sizeof(*vector));
  const int64_t *nodes;
  int64_t num_nodes;

  MUST(RitzSpaceGetNumNodes(space, &num_nodes));
  MUST(RitzSpaceGetElementNodes(space, &nodes));
  for (size_t e = 0; e < num_elem; e++) {
    const int64_t *of_element = nodes + e * (nb + ni);
    for (size_t i = 0; i < nb; i++) boundary[e * nb + i] = (CeedInt)c->shared[of_element[c->place[i]]];
    for (size_t i = 0; i < ni; i++) interior[e * ni + i] = (CeedInt)of_element[c->place[nb + i]];
  }
  for (int64_t i = 0; i < num_nodes; i++) {
    if (c->shared[i] >= 0) vector[c->shared[i]] = (CeedInt)i;
  }
  c->boundary = create_link(c->ceed, c->num_elem, c->nb, c->num_shared, boundary);
  c->interior = create_link(c->ceed, c->num_elem, c->ni, num_nodes, interior);
  c->vector = create_link(c->ceed, (CeedInt)c->num_shared, 1, num_nodes, vector);
  CeedElemRestriction shared = create_listed(c->ceed, c->num_elem, c->nb, c->num_shared, boundary);
  CeedElemRestriction diagonals = create_strided(c->ceed, c->num_elem, c->nb, c->n + 1, c->n * c->n);
  c->diagonal = create_copy(c->ceed, diagonals, shared);
  CeedElemRestrictionDestroy(&shared), CeedElemRestrictionDestroy(&diagonals);
  free(boundary), free(interior), free(vector);
}

// c->matrices: the element matrices of op, which assembly gives one after the other, in the order of places.
static void assemble_matrices(CeedOperator op, Condensation *c) {
  const CeedInt n = c->n, size = n * n;
  const CeedSize length = (CeedSize)c->num_elem * size;
  CeedInt *offsets = malloc((size_t)length * sizeof(*offsets));
  CeedVector lexicographic = example_vector(c->ceed, length);

  for (CeedSize k = 0; k < length; k++) {
    const CeedInt row = c->place[k % n], col = c->place[k / n % n];
    offsets[k] = (CeedInt)(k - k % size) + col * n + row;
  }
  CeedElemRestriction listed = create_listed(c->ceed, c->num_elem * n, n, length, offsets); // columns
  CeedElemRestriction dense = create_strided(c->ceed, c->num_elem * n, n, 1, n);
  CeedOperator order = create_copy(c->ceed, listed, dense);
  MUST(CeedOperatorLinearAssemble(op, lexicographic));
  MUST(CeedOperatorApply(order, lexicographic, c->matrices, CEED_REQUEST_IMMEDIATE));
  CeedElemRestrictionDestroy(&listed), CeedElemRestrictionDestroy(&dense), CeedOperatorDestroy(&order);
  CeedVectorDestroy(&lexicographic);
  free(offsets);
}

// ---- Batches ----

static RitzBatched create_batched(const Condensation *c, RitzBatchedOperation what, RitzBatchedOptions o) {
  RitzBatched batched;

  MUST(RitzBatchedCreate(c->ceed, what, &o, &batched));
  return batched;
}

// m x n entries of the element matrices.
static RitzBatchLayout part_of(const Condensation *c, CeedInt m, CeedInt n) {
  return (RitzBatchLayout){
      .precision = CEED_SCALAR_TYPE, .m = m, .n = n, .ld = c->n, .stride = (int64_t)c->n * c->n};
}

static void create_batches(Condensation *c) {
  const RitzBatchLayout A_ii = part_of(c, c->ni, c->ni), A_ib = part_of(c, c->ni, c->nb),
                        A_bb = part_of(c, c->nb, c->nb);
  const RitzBatchLayout inside = {.precision = CEED_SCALAR_TYPE, .m = c->ni, .n = 1};
  const RitzBatchLayout around = {.precision = CEED_SCALAR_TYPE, .m = c->nb, .n = 1};
  const CeedTransposeMode T = CEED_TRANSPOSE;

  c->factorize = create_batched(c, RITZ_BATCHED_POTRF, (RitzBatchedOptions){.A = A_ii});
  c->solve = create_batched(c, RITZ_BATCHED_TRSM, (RitzBatchedOptions){.A = A_ii, .B = A_ib});
  c->update = create_batched(c, RITZ_BATCHED_GEMM,
                             (RitzBatchedOptions){.A = A_ib, .B = A_ib, .C = A_bb, .trans_a = T});
  c->product =
      create_batched(c, RITZ_BATCHED_GEMV, (RitzBatchedOptions){.A = A_bb, .B = around, .C = around});
  c->forward = create_batched(c, RITZ_BATCHED_TRSV, (RitzBatchedOptions){.A = A_ii, .B = inside});
  c->backward =
      create_batched(c, RITZ_BATCHED_TRSV, (RitzBatchedOptions){.A = A_ii, .B = inside, .trans_a = T});
  c->to_boundary = create_batched(c, RITZ_BATCHED_GEMV,
                                  (RitzBatchedOptions){.A = A_ib, .B = inside, .C = around, .trans_a = T});
  c->to_interior =
      create_batched(c, RITZ_BATCHED_GEMV, (RitzBatchedOptions){.A = A_ib, .B = around, .C = inside});
}

// ---- Elimination ----

// Ends the program where an element is not positive definite inside.
static void eliminate(Condensation *c) {
  CeedVector infos = example_vector(c->ceed, c->num_elem);
  int32_t *info = example_lock_integers(infos), minor;
  RitzBatchArray A_ii = example_array(c->matrices, RITZ_ACCESS_READ_WRITE), A_ib = A_ii, A_bb = A_ii;
  int64_t bad;

  A_ii.row0 = A_ii.col0 = A_ib.row0 = c->nb;
  MUST(RitzPotrfBatched(c->factorize, c->num_elem, &A_ii, info));
  MUST(RitzTrsmBatched(c->solve, c->num_elem, 1, &A_ii, &A_ib));
  MUST(RitzGemmBatched(c->update, c->num_elem, -1, &A_ib, &A_ib, 1, &A_bb));
  MUST(RitzBatchedGetFirstFailure(c->factorize, info, c->num_elem, &bad, &minor));
  if (bad >= 0) fprintf(stderr, "element %lld: minor %d\n", (long long)bad, (int)minor), exit(1);
  MUST(RitzBatchArrayRestoreVector(&A_bb));
  example_unlock_integers(infos, &info);
  CeedVectorDestroy(&infos);
}

// Of an operator with one component on a space of degree P - 1, at least 2, on quadrilaterals or hexahedra.
static Condensation create_condensation(CeedOperator op, RitzSpace space, int dim, CeedInt P) {
  Condensation c = {.num_shared = 0};

  MUST(CeedOperatorGetCeed(op, &c.ceed));
  MUST(CeedOperatorGetNumElements(op, &c.num_elem));
  order_places(dim, P, &c);
  number_shared(space, &c);
  create_links(space, &c);
  c.matrices = example_vector(c.ceed, (CeedSize)c.num_elem * c.n * c.n);
  c.in = example_vector(c.ceed, (CeedSize)c.num_elem * c.nb);
  c.out = example_vector(c.ceed, (CeedSize)c.num_elem * c.nb);
  c.inside = example_vector(c.ceed, (CeedSize)c.num_elem * c.ni);
  create_batches(&c);
  return c;
}

static void destroy_condensation(Condensation *c) {
  RitzBatched *batches[] = {&c->factorize, &c->solve,    &c->update,      &c->product,
                            &c->forward,   &c->backward, &c->to_boundary, &c->to_interior};

  for (size_t i = 0; i < sizeof(batches) / sizeof(batches[0]); i++) MUST(RitzBatchedDestroy(batches[i]));
  destroy_link(&c->boundary), destroy_link(&c->interior), destroy_link(&c->vector);
  CeedOperatorDestroy(&c->diagonal);
  CeedVectorDestroy(&c->matrices), CeedVectorDestroy(&c->in);
  CeedVectorDestroy(&c->out), CeedVectorDestroy(&c->inside);
  free(c->place), free(c->shared);
  MUST(CeedDestroy(&c->ceed));
}

// ---- The condensed system ----

// y = alpha op(A) x + beta y, A m x n entries of the element matrices from row row0 on.
static int multiply(const Condensation *c, RitzBatched product, CeedInt row0, double alpha, CeedVector x,
                    double beta, CeedVector y) {
  RitzBatchArray A = example_array(c->matrices, RITZ_ACCESS_READ), in = example_array(x, RITZ_ACCESS_READ);
  RitzBatchArray out = example_array(y, beta == 0 ? RITZ_ACCESS_WRITE : RITZ_ACCESS_READ_WRITE);

  A.row0 = row0;
  MUST(RitzGemvBatched(product, c->num_elem, alpha, &A, &in, beta, &out));
  MUST(RitzBatchArrayRestoreVector(&out));
  MUST(RitzBatchArrayRestoreVector(&in));
  return RitzBatchArrayRestoreVector(&A);
}

// y := S x on the shared nodes: what the solver calls.
static int apply_condensed(void *ctx, CeedVector x, CeedVector y) {
  const Condensation *c = ctx;

  MUST(CeedOperatorApply(c->boundary.take, x, c->in, CEED_REQUEST_IMMEDIATE));
  MUST(multiply(c, c->product, 0, 1, c->in, 0, c->out));
  return CeedOperatorApply(c->boundary.put, c->out, y, CEED_REQUEST_IMMEDIATE);
}

// inside := L^-1 inside or L^-T inside
static void solve_inside(const Condensation *c, RitzBatched solve) {
  RitzBatchArray L = example_array(c->matrices, RITZ_ACCESS_READ);
  RitzBatchArray y = example_array(c->inside, RITZ_ACCESS_READ_WRITE);

  L.row0 = L.col0 = c->nb;
  MUST(RitzTrsvBatched(solve, c->num_elem, &L, &y));
  MUST(RitzBatchArrayRestoreVector(&y));
  MUST(RitzBatchArrayRestoreVector(&L));
}

// shared := b - X^T L^-1 b_i on the shared nodes; c->inside keeps L^-1 b_i.
static void condense(const Condensation *c, CeedVector b, CeedVector shared) {
  MUST(CeedOperatorApply(c->interior.take, b, c->inside, CEED_REQUEST_IMMEDIATE));
  solve_inside(c, c->forward);
  MUST(multiply(c, c->to_boundary, c->nb, -1, c->inside, 0, c->out));
  MUST(CeedOperatorApply(c->vector.take, b, shared, CEED_REQUEST_IMMEDIATE));
  MUST(CeedOperatorApplyAdd(c->boundary.put, c->out, shared, CEED_REQUEST_IMMEDIATE));
}

// u on all nodes from its values on shared ones, after condense.
static void expand(const Condensation *c, CeedVector shared, CeedVector u) {
  MUST(CeedOperatorApply(c->boundary.take, shared, c->in, CEED_REQUEST_IMMEDIATE));
  MUST(multiply(c, c->to_interior, c->nb, -1, c->in, 1, c->inside));
  solve_inside(c, c->backward);
  MUST(CeedOperatorApply(c->vector.put, shared, u, CEED_REQUEST_IMMEDIATE));
  MUST(CeedOperatorApplyAdd(c->interior.put, c->inside, u, CEED_REQUEST_IMMEDIATE));
}

// ---- A Poisson problem on a curved box, solved both ways ----

typedef struct {
  int dim;
  CeedInt P; // nodes a direction of an element
  CeedOperator op;
  RitzSpace space;
  int64_t num_fixed; // nodes of the boundary
  int64_t *fixed;
} PoissonProblem;

typedef struct {
  CeedSize num_nodes, num_shared;
  CeedInt num_elem, n, nb, iterations[2]; // uncondensed, condensed
  double eliminate, seconds[2];           // of the solves
  double error;                           // largest difference of the solutions over the largest entry
} CondensationReport;

static int bend_box(void *ctx, CeedInt dim, const double *X, double *x) {
  (void)ctx;
  for (CeedInt d = 0; d < dim; d++) x[d] = X[d] + 0.05 * sin(3 * X[(d + 1) % dim]);
  return 0;
}

// Factors of the Laplacian at the points of all elements.
static CeedVector create_factors(Ceed ceed, RitzMesh mesh, int dim, CeedInt Q, CeedElemRestriction *rstr) {
  const CeedInt num_comp = dim * (dim + 1) / 2, num_points = dim == 2 ? Q * Q : Q * Q * Q;
  CeedElemRestriction rstr_x;
  CeedQFunction qf;
  CeedVector x, qdata;
  CeedOperator op;
  CeedBasis basis;
  CeedInt num_elem;

  MUST(RitzMeshCreateCoordinates(mesh, ceed, &rstr_x, &x));
  MUST(CeedElemRestrictionGetNumElements(rstr_x, &num_elem));
  MUST(CeedBasisCreateTensorH1Lagrange(ceed, dim, dim, 3, Q, CEED_GAUSS, &basis));
  MUST(CeedElemRestrictionCreateStrided(ceed, num_elem, num_points, num_comp,
                                        (CeedSize)num_elem * num_points * num_comp, CEED_STRIDES_BACKEND,
                                        rstr));
  MUST(CeedElemRestrictionCreateVector(*rstr, &qdata, NULL));
  MUST(CeedQFunctionCreateInteriorByName(ceed, dim == 2 ? "Poisson2DBuild" : "Poisson3DBuild", &qf));
  MUST(CeedOperatorCreate(ceed, qf, CEED_QFUNCTION_NONE, CEED_QFUNCTION_NONE, &op));
  MUST(CeedOperatorSetField(op, "dx", rstr_x, basis, CEED_VECTOR_ACTIVE));
  MUST(CeedOperatorSetField(op, "weights", CEED_ELEMRESTRICTION_NONE, basis, CEED_VECTOR_NONE));
  MUST(CeedOperatorSetField(op, "qdata", *rstr, CEED_BASIS_NONE, CEED_VECTOR_ACTIVE));
  MUST(CeedOperatorApply(op, x, qdata, CEED_REQUEST_IMMEDIATE));
  CeedOperatorDestroy(&op), CeedQFunctionDestroy(&qf), CeedBasisDestroy(&basis);
  CeedElemRestrictionDestroy(&rstr_x), CeedVectorDestroy(&x);
  return qdata;
}

static PoissonProblem create_problem(Ceed ceed, int dim, CeedInt num_1d, CeedInt degree) {
  const CeedInt num[3] = {num_1d, num_1d, num_1d};
  PoissonProblem p = {.dim = dim, .P = degree + 1};
  CeedElemRestriction rstr, rstr_qdata;
  CeedBasis basis;
  CeedQFunction qf;
  CeedVector qdata;
  RitzMesh mesh;

  MUST(RitzMeshCreateBox(ceed, dim, num, NULL, NULL, 2, bend_box, NULL, &mesh));
  qdata = create_factors(ceed, mesh, dim, degree + 2, &rstr_qdata);
  MUST(RitzSpaceCreate(mesh, degree, 1, &p.space));
  MUST(RitzSpaceCreateRestriction(p.space, ceed, &rstr));
  MUST(RitzSpaceGetBoundaryNodes(p.space, "all", &p.num_fixed, &p.fixed));
  MUST(CeedBasisCreateTensorH1Lagrange(ceed, dim, 1, p.P, degree + 2, CEED_GAUSS, &basis));
  MUST(CeedQFunctionCreateInteriorByName(ceed, dim == 2 ? "Poisson2DApply" : "Poisson3DApply", &qf));
  MUST(CeedOperatorCreate(ceed, qf, CEED_QFUNCTION_NONE, CEED_QFUNCTION_NONE, &p.op));
  MUST(CeedOperatorSetField(p.op, "du", rstr, basis, CEED_VECTOR_ACTIVE));
  MUST(CeedOperatorSetField(p.op, "qdata", rstr_qdata, CEED_BASIS_NONE, qdata));
  MUST(CeedOperatorSetField(p.op, "dv", rstr, basis, CEED_VECTOR_ACTIVE));
  CeedElemRestrictionDestroy(&rstr), CeedElemRestrictionDestroy(&rstr_qdata), CeedBasisDestroy(&basis);
  CeedQFunctionDestroy(&qf), CeedVectorDestroy(&qdata), RitzMeshDestroy(&mesh);
  return p;
}

static void destroy_problem(PoissonProblem *p) {
  CeedOperatorDestroy(&p->op), RitzSpaceDestroy(&p->space);
  free(p->fixed);
}

// Conjugate gradients from zero, with the inverse of the diagonal. Returns iterations.
static CeedInt run_solver(RitzSolver solver, double rtol, CeedVector diagonal, int64_t num_fixed,
                          const int64_t *fixed, CeedVector b, CeedVector x) {
  RitzSolverReason reason;
  CeedInt iterations;

  MUST(RitzSolverSetJacobi(solver, diagonal));
  MUST(RitzSolverSetConstraints(solver, num_fixed, fixed));
  MUST(RitzSolverSetTolerances(solver, rtol, 0, 10000));
  MUST(CeedVectorSetValue(x, 0));
  MUST(RitzSolverSolve(solver, b, x));
  MUST(RitzSolverGetReason(solver, &reason));
  if (reason <= 0) fprintf(stderr, "not solved: %s\n", RitzSolverReasonName(reason)), exit(1);
  MUST(RitzSolverGetIterations(solver, &iterations));
  MUST(RitzSolverDestroy(&solver));
  return iterations;
}

static CeedInt solve_uncondensed(const PoissonProblem *p, double rtol, CeedVector b, CeedVector u) {
  CeedVector diagonal;
  RitzSolver solver;
  CeedSize length;
  Ceed ceed;

  MUST(CeedOperatorGetCeed(p->op, &ceed));
  MUST(CeedVectorGetLength(u, &length));
  diagonal = example_vector(ceed, length);
  MUST(CeedOperatorLinearAssembleDiagonal(p->op, diagonal, CEED_REQUEST_IMMEDIATE));
  MUST(RitzSolverCreateCG(ceed, &solver));
  MUST(RitzSolverSetOperator(solver, p->op));
  const CeedInt iterations = run_solver(solver, rtol, diagonal, p->num_fixed, p->fixed, b, u);
  CeedVectorDestroy(&diagonal), CeedDestroy(&ceed);
  return iterations;
}

static CeedInt solve_condensed(const PoissonProblem *p, Condensation *c, double rtol, CeedVector b,
                               CeedVector u) {
  CeedVector diagonal = example_vector(c->ceed, c->num_shared), g = example_vector(c->ceed, c->num_shared);
  CeedVector x = example_vector(c->ceed, c->num_shared);
  int64_t *fixed = malloc((size_t)p->num_fixed * sizeof(*fixed));
  RitzSolver solver;

  for (int64_t i = 0; i < p->num_fixed; i++) fixed[i] = c->shared[p->fixed[i]];
  condense(c, b, g);
  MUST(CeedOperatorApply(c->diagonal, c->matrices, diagonal, CEED_REQUEST_IMMEDIATE));
  MUST(RitzSolverCreateCG(c->ceed, &solver));
  MUST(RitzSolverSetApply(solver, apply_condensed, c));
  const CeedInt iterations = run_solver(solver, rtol, diagonal, p->num_fixed, fixed, g, x);
  expand(c, x, u);
  CeedVectorDestroy(&diagonal), CeedVectorDestroy(&g), CeedVectorDestroy(&x);
  free(fixed);
  return iterations;
}

// max |x - y| / max |y|; x is overwritten.
static double relative_difference(CeedVector x, CeedVector y) {
  CeedScalar size, difference;

  MUST(CeedVectorNorm(y, CEED_NORM_MAX, &size));
  MUST(CeedVectorAXPY(x, -1, y));
  MUST(CeedVectorNorm(x, CEED_NORM_MAX, &difference));
  return (double)difference / (double)size;
}

// A random right-hand side; residuals go down to rtol. The second time all kernels are there.
static CondensationReport solve_both_ways(Ceed ceed, int dim, CeedInt num_1d, CeedInt degree, double rtol) {
  PoissonProblem p = create_problem(ceed, dim, num_1d, degree);
  Condensation c = create_condensation(p.op, p.space, dim, p.P);
  CondensationReport r = {.num_shared = c.num_shared, .num_elem = c.num_elem, .n = c.n, .nb = c.nb};
  CeedVector one = example_vector(ceed, 1), b, x[2];
  CeedScalar *values;
  uint64_t seed = 1;

  MUST(RitzSpaceGetSize(p.space, &r.num_nodes));
  b = example_vector(ceed, r.num_nodes);
  for (int i = 0; i < 2; i++) x[i] = example_vector(ceed, r.num_nodes);
  MUST(CeedVectorSetValue(one, 1));
  MUST(CeedVectorGetArrayWrite(b, CEED_MEM_HOST, &values));
  for (CeedSize i = 0; i < r.num_nodes; i++) values[i] = example_random(&seed);
  MUST(CeedVectorRestoreArray(b, &values));
  for (int times = 0; times < 2; times++) {
    double at[4];
    assemble_matrices(p.op, &c);
    at[0] = example_seconds(one);
    eliminate(&c);
    at[1] = example_seconds(one);
    r.iterations[0] = solve_uncondensed(&p, rtol, b, x[0]);
    at[2] = example_seconds(one);
    r.iterations[1] = solve_condensed(&p, &c, rtol, b, x[1]);
    at[3] = example_seconds(one);
    r.eliminate = at[1] - at[0], r.seconds[0] = at[2] - at[1], r.seconds[1] = at[3] - at[2];
  }
  r.error = relative_difference(x[1], x[0]);
  CeedVectorDestroy(&one), CeedVectorDestroy(&b), CeedVectorDestroy(&x[0]), CeedVectorDestroy(&x[1]);
  destroy_condensation(&c), destroy_problem(&p);
  return r;
}

// What two solutions with residuals of rtol may differ by: the condition of the Laplacian is below 10
// num_1d^2 degree^3 (Bernardi & Maday 1997: degree^3 of Gauss-Lobatto nodes), of both systems.
static double condensation_tolerance(CeedInt num_1d, CeedInt degree, double rtol) {
  return 20. * num_1d * num_1d * degree * degree * degree * rtol;
}

#endif
