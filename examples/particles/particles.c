// SPDX-License-Identifier: BSD-2-Clause
// A swarm of particles that a flow carries through an unstructured mesh of curved elements. Each step finds
// the particles' elements, interpolates the velocity at them, moves them by the classical Runge-Kutta method,
// leaves their masses at the nodes by the transposed interpolation, and projects these to a density.
//
//     particles [--ceed RESOURCE] [--mesh FILE] [--order N] [--particles N] [--steps N] [--time T] [--output
//     PREFIX]
//
// The mesh is one of quadrilaterals in the plane. PREFIX.vtu gets velocity and density at the end, PREFIX.csv
// the particles. Any failing call ends the program: Ceed's default error handler prints the message. Exit
// status: 1 where mass or first moment are not conserved, 2 wrong usage.
#include <ceed.h>
#include <math.h>
#include <ritz.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MUST(call)                                                                                           \
  do {                                                                                                       \
    if (call) {                                                                                              \
      fprintf(stderr, "%s:%d: %s has failed\n", __FILE__, __LINE__, #call);                                  \
      exit(1);                                                                                               \
    }                                                                                                        \
  } while (0)

enum { DIM = 2 };

// ---- The fields: a velocity, and the density that the particles make ----

typedef struct {
  Ceed ceed;
  RitzMesh mesh;
  RitzLocator locator;
  RitzSpace velocity_space, density_space;
  CeedElemRestriction velocity_nodes, density_nodes;
  CeedBasis velocity_basis, density_basis;
  CeedVector velocity, nodal_mass, density;
  CeedQFunction interpolate, deposit; // copies: from values of nodes to points, and the other way
  RitzSolver projection;              // solves M density = nodal mass, M the mass matrix
  CeedVector weights;                 // M 1: integrals of functions are products with it
  CeedInt num_elem;
  bool holds_positions; // whether x and y are functions of the space: its order is that of the geometry, or
                        // above
  int64_t num_nodes;
  double *node_x; // [num_nodes][DIM]
} Fields;

// Two vortices side by side in the unit disk: the curl of y (1 - x^2 - y^2). Nothing crosses the circle.
static double stream(const double *x) { return x[1] * (1 - x[0] * x[0] - x[1] * x[1]); }

static void flow(const double *x, double *u) {
  u[0] = 1 - x[0] * x[0] - 3 * x[1] * x[1];
  u[1] = 2 * x[0] * x[1];
}

static void set_velocity(Fields *f) {
  CeedScalar *values;

  MUST(CeedVectorGetArrayWrite(f->velocity, CEED_MEM_HOST, &values));
  for (int64_t i = 0; i < f->num_nodes; i++) {
    double u[DIM];

    flow(f->node_x + i * DIM, u);
    for (int d = 0; d < DIM; d++) values[i * DIM + d] = (CeedScalar)u[d];
  }
  MUST(CeedVectorRestoreArray(f->velocity, &values));
}

// A space of the mesh with its restriction and basis, and a vector of its nodes.
static void make_space(Fields *f, CeedInt order, CeedInt num_comp, RitzSpace *space,
                       CeedElemRestriction *nodes, CeedBasis *basis, CeedVector *vec) {
  MUST(RitzSpaceCreate(f->mesh, order, num_comp, space));
  MUST(RitzSpaceCreateRestriction(*space, f->ceed, nodes));
  MUST(RitzSpaceCreateBlockBasis(*space, 0, f->ceed, 2 * order, basis));
  MUST(CeedElemRestrictionCreateVector(*nodes, vec, NULL));
}

static void make_projection(Fields *f) {
  const RitzOperatorOptions options = {.kind = RITZ_OPERATOR_MASS, .space = f->density_space};
  RitzGeometry geometry;
  CeedVector diagonal, ones;
  CeedOperator mass;

  MUST(RitzGeometryCreate(f->mesh, -1, &geometry));
  MUST(RitzGeometryCreateOperator(geometry, f->ceed, &options, &mass));
  MUST(RitzGeometryDestroy(&geometry));
  MUST(CeedVectorCreate(f->ceed, f->num_nodes, &f->weights));
  MUST(CeedVectorCreate(f->ceed, f->num_nodes, &ones));
  MUST(CeedVectorSetValue(ones, 1));
  MUST(CeedOperatorApply(mass, ones, f->weights, CEED_REQUEST_IMMEDIATE));
  MUST(CeedVectorCreate(f->ceed, f->num_nodes, &diagonal));
  MUST(CeedOperatorLinearAssembleDiagonal(mass, diagonal, CEED_REQUEST_IMMEDIATE));
  MUST(RitzSolverCreateCG(f->ceed, &f->projection));
  MUST(RitzSolverSetOperator(f->projection, mass));
  MUST(RitzSolverSetJacobi(f->projection, diagonal));
  MUST(RitzSolverSetTolerances(f->projection, 100 * CEED_EPSILON, 0, 1000));
  CeedVectorDestroy(&diagonal), CeedVectorDestroy(&ones), CeedOperatorDestroy(&mass);
}

static void make_fields(const char *resource, const char *path, CeedInt order, Fields *f) {
  CeedInt dim, space_dim, num_blocks, geometry_order;
  CeedElemTopology shape;
  int64_t num_elem;

  MUST(CeedInit(resource, &f->ceed));
  MUST(RitzMeshRead(f->ceed, path, &f->mesh));
  MUST(RitzMeshGetDimensions(f->mesh, &dim, &space_dim));
  MUST(RitzMeshGetGeometryOrder(f->mesh, &geometry_order));
  MUST(RitzMeshGetNumBlocks(f->mesh, &num_blocks));
  MUST(RitzMeshGetBlock(f->mesh, 0, &shape, NULL, &num_elem, NULL, NULL));
  if (space_dim != DIM || num_blocks != 1 || shape != CEED_TOPOLOGY_QUAD) {
    fprintf(stderr, "particles: %s is no mesh of quadrilaterals in the plane\n", path);
    exit(2);
  }
  f->num_elem = (CeedInt)num_elem;
  f->holds_positions = order >= geometry_order;
  MUST(RitzLocatorCreate(f->mesh, -1, &f->locator));
  make_space(f, order, DIM, &f->velocity_space, &f->velocity_nodes, &f->velocity_basis, &f->velocity);
  make_space(f, order, 1, &f->density_space, &f->density_nodes, &f->density_basis, &f->density);
  MUST(RitzSpaceGetNumNodes(f->density_space, &f->num_nodes));
  MUST(CeedVectorCreate(f->ceed, f->num_nodes, &f->nodal_mass));
  MUST(CeedVectorSetValue(f->density, 0));
  MUST(CeedQFunctionCreateIdentity(f->ceed, DIM, CEED_EVAL_INTERP, CEED_EVAL_NONE, &f->interpolate));
  MUST(CeedQFunctionCreateIdentity(f->ceed, 1, CEED_EVAL_NONE, CEED_EVAL_INTERP, &f->deposit));
  f->node_x = malloc((size_t)f->num_nodes * DIM * sizeof(double));
  MUST(RitzSpaceGetNodeCoordinates(f->density_space, f->node_x));
  set_velocity(f);
  make_projection(f);
}

static void destroy_fields(Fields *f) {
  free(f->node_x);
  RitzSolverDestroy(&f->projection), CeedVectorDestroy(&f->weights);
  CeedQFunctionDestroy(&f->interpolate), CeedQFunctionDestroy(&f->deposit);
  CeedVectorDestroy(&f->velocity), CeedVectorDestroy(&f->nodal_mass), CeedVectorDestroy(&f->density);
  CeedBasisDestroy(&f->velocity_basis), CeedBasisDestroy(&f->density_basis);
  CeedElemRestrictionDestroy(&f->velocity_nodes), CeedElemRestrictionDestroy(&f->density_nodes);
  RitzSpaceDestroy(&f->velocity_space), RitzSpaceDestroy(&f->density_space);
  RitzLocatorDestroy(&f->locator), RitzMeshDestroy(&f->mesh);
  MUST(CeedDestroy(&f->ceed));
}

// ---- The particles ----

typedef struct {
  int64_t num, num_inside; // inside: of the mesh
  double *x, *mass;        // [num][DIM], [num]
  double *xi;              // [num][DIM]: places in their elements
  int64_t *elements;       // [num], -1: outside
  double *stage, *sum;     // [num][DIM]: positions of a stage, sum of the stages' velocities
  CeedVector xi_vec, velocity, mass_vec;
  CeedElemRestriction vectors, scalars; // by element: DIM numbers and one number a particle
} Swarm;

// A round cloud, evenly filled (each particle a golden angle further round than the one before), of mass 1;
// particles differ in mass.
static void make_swarm(const Fields *f, int64_t num, Swarm *s) {
  const double centre[DIM] = {-0.45, 0.4}, radius = 0.3;
  const size_t size = (size_t)num * sizeof(double);

  *s = (Swarm){.num = num};
  s->x = malloc(size * DIM), s->xi = malloc(size * DIM), s->stage = malloc(size * DIM);
  s->sum = malloc(size * DIM), s->mass = malloc(size), s->elements = malloc((size_t)num * sizeof(int64_t));
  for (int64_t i = 0; i < num; i++) {
    const double r = radius * sqrt(((double)i + 0.5) / (double)num), angle = 2.399963229728653 * (double)i;

    s->x[i * DIM] = centre[0] + r * cos(angle);
    s->x[i * DIM + 1] = centre[1] + r * sin(angle);
    s->mass[i] = (1 + 0.5 * cos(0.1 * (double)(i % 63))) / (double)num;
    s->elements[i] = -1; // no hint yet
  }
  MUST(CeedVectorCreate(f->ceed, num * DIM, &s->xi_vec));
  MUST(CeedVectorCreate(f->ceed, num * DIM, &s->velocity));
  MUST(CeedVectorCreate(f->ceed, num, &s->mass_vec));
}

static void destroy_swarm(Swarm *s) {
  free(s->x), free(s->xi), free(s->stage), free(s->sum), free(s->mass), free(s->elements);
  CeedVectorDestroy(&s->xi_vec), CeedVectorDestroy(&s->velocity), CeedVectorDestroy(&s->mass_vec);
  CeedElemRestrictionDestroy(&s->vectors), CeedElemRestrictionDestroy(&s->scalars);
}

static void copy_to_vector(int64_t num, const double *from, CeedVector vec) {
  CeedScalar *to;

  MUST(CeedVectorGetArrayWrite(vec, CEED_MEM_HOST, &to));
  for (int64_t i = 0; i < num; i++) to[i] = (CeedScalar)from[i];
  MUST(CeedVectorRestoreArray(vec, &to));
}

// Finds the elements of the particles at x, looking first where they were, and lists them by element.
static void locate(const Fields *f, Swarm *s, const double *x) {
  CeedInt *offsets;

  MUST(RitzLocatorFind(f->locator, s->num, x, s->elements, s->elements, s->xi));
  MUST(RitzPointsSort(f->ceed, s->num, s->elements, 0, f->num_elem, &offsets));
  const CeedInt num_inside = offsets[f->num_elem] - f->num_elem - 1;

  s->num_inside = num_inside;
  copy_to_vector(s->num * DIM, s->xi, s->xi_vec);
  MUST(CeedElemRestrictionDestroy(&s->vectors));
  MUST(CeedElemRestrictionDestroy(&s->scalars));
  MUST(CeedElemRestrictionCreateAtPoints(f->ceed, f->num_elem, num_inside, DIM, s->num * DIM, CEED_MEM_HOST,
                                         CEED_COPY_VALUES, offsets, &s->vectors));
  MUST(CeedElemRestrictionCreateAtPoints(f->ceed, f->num_elem, num_inside, 1, s->num, CEED_MEM_HOST,
                                         CEED_COPY_VALUES, offsets, &s->scalars));
  free(offsets);
}

// to = the operator from one field to the other, of which one has nodes, the other the located particles.
static void apply_at_points(const Fields *f, const Swarm *s, CeedQFunction qf, CeedElemRestriction rstr_in,
                            CeedBasis basis_in, CeedElemRestriction rstr_out, CeedBasis basis_out,
                            CeedVector from, CeedVector to) {
  CeedOperator op;

  MUST(CeedOperatorCreateAtPoints(f->ceed, qf, CEED_QFUNCTION_NONE, CEED_QFUNCTION_NONE, &op));
  MUST(CeedOperatorSetField(op, "input", rstr_in, basis_in, CEED_VECTOR_ACTIVE));
  MUST(CeedOperatorSetField(op, "output", rstr_out, basis_out, CEED_VECTOR_ACTIVE));
  MUST(CeedOperatorAtPointsSetPoints(op, s->vectors, s->xi_vec));
  MUST(CeedOperatorApply(op, from, to, CEED_REQUEST_IMMEDIATE));
  MUST(CeedOperatorDestroy(&op));
}

// ---- A step ----

// The velocity at the particles, where they have been located; 0 outside. sum += weight * velocity; stage =
// x + length * velocity.
static void do_stage(const Fields *f, Swarm *s, double weight, double length) {
  const CeedScalar *u;

  apply_at_points(f, s, f->interpolate, f->velocity_nodes, f->velocity_basis, s->vectors, CEED_BASIS_NONE,
                  f->velocity, s->velocity);
  MUST(CeedVectorGetArrayRead(s->velocity, CEED_MEM_HOST, &u));
  for (int64_t i = 0; i < s->num * DIM; i++) {
    s->sum[i] += weight * (double)u[i];
    s->stage[i] = s->x[i] + length * (double)u[i];
  }
  MUST(CeedVectorRestoreArrayRead(s->velocity, &u));
}

// The classical method of order 4. Particles have been located at x, and are again at the end.
static void move(const Fields *f, Swarm *s, double dt) {
  static const double weights[4] = {1, 2, 2, 1}, lengths[4] = {0.5, 0.5, 1, 0};

  for (int64_t i = 0; i < s->num * DIM; i++) s->sum[i] = 0;
  for (int k = 0; k < 4; k++) {
    if (k > 0) locate(f, s, s->stage);
    do_stage(f, s, weights[k], dt * lengths[k]);
  }
  for (int64_t i = 0; i < s->num * DIM; i++) s->x[i] += dt / 6 * s->sum[i];
  locate(f, s, s->x);
}

// Leaves the masses of the particles at the nodes of their elements.
static void deposit(const Fields *f, Swarm *s) {
  copy_to_vector(s->num, s->mass, s->mass_vec);
  apply_at_points(f, s, f->deposit, s->scalars, CEED_BASIS_NONE, f->density_nodes, f->density_basis,
                  s->mass_vec, f->nodal_mass);
}

// M density = nodal mass, from the density of the step before.
static void project(const Fields *f) {
  RitzSolverReason reason;

  MUST(RitzSolverSolve(f->projection, f->nodal_mass, f->density));
  MUST(RitzSolverGetReason(f->projection, &reason));
  if (reason < 0) {
    fprintf(stderr, "particles: the projection has failed: %s\n", RitzSolverReasonName(reason));
    exit(1);
  }
}

// ---- What is conserved ----

// Mass, and mass times position, of the particles in the mesh and of the nodes; the integral of the density.
typedef struct {
  double particles[1 + DIM], nodes[1 + DIM], density;
} Sums;

static Sums take_sums(const Fields *f, const Swarm *s) {
  const CeedScalar *nodal;
  Sums sums = {.density = 0};

  for (int64_t i = 0; i < s->num; i++) {
    if (s->elements[i] < 0) continue;
    sums.particles[0] += s->mass[i];
    for (int d = 0; d < DIM; d++) sums.particles[1 + d] += s->mass[i] * s->x[i * DIM + d];
  }
  MUST(CeedVectorGetArrayRead(f->nodal_mass, CEED_MEM_HOST, &nodal));
  for (int64_t i = 0; i < f->num_nodes; i++) {
    sums.nodes[0] += (double)nodal[i];
    for (int d = 0; d < DIM; d++) sums.nodes[1 + d] += (double)nodal[i] * f->node_x[i * DIM + d];
  }
  MUST(CeedVectorRestoreArrayRead(f->nodal_mass, &nodal));
  MUST(RitzVectorDot(f->weights, f->density, &sums.density));
  return sums;
}

// How far particles have left their streamlines: errors of the field and of the method in time.
static double take_drift(const Swarm *s, const double *start) {
  double drift = 0;

  for (int64_t i = 0; i < s->num; i++) drift = fmax(drift, fabs(stream(s->x + i * DIM) - start[i]));
  return drift;
}

// Deposits, projects and checks; prints a line of the table. Functions of the nodes sum up to 1 at every
// point, and their combination by the nodes' positions is the position, where the space holds it: mass and
// first moment are conserved up to the rounding of sums of so many terms.
static bool account(const Fields *f, Swarm *s, const double *start, double time, bool prints) {
  const double allowed = 2 * CEED_EPSILON * (double)(s->num + f->num_nodes);

  deposit(f, s);
  project(f);
  const Sums sums = take_sums(f, s);
  const double mass_error = fabs(sums.nodes[0] - sums.particles[0]);
  const double moment_error = hypot(sums.nodes[1] - sums.particles[1], sums.nodes[2] - sums.particles[2]);
  const double density_error = fabs(sums.density - sums.particles[0]);

  if (prints)
    printf("%6.2f %9lld %12.9f %9.1e %9.1e %9.1e %9.1e\n", time, (long long)(s->num - s->num_inside),
           sums.particles[0], mass_error, moment_error, density_error, take_drift(s, start));
  // The projection is solved to 100 roundings of the residual, a sum over the nodes.
  return mass_error <= allowed && (moment_error <= allowed || !f->holds_positions) &&
         density_error <= allowed + 100 * CEED_EPSILON * sqrt((double)f->num_nodes);
}

// ---- Output ----

static void write_files(const Fields *f, const Swarm *s, const double *start, const char *prefix) {
  const RitzOutputField fields[2] = {{.name = "velocity", .space = f->velocity_space, .values = f->velocity},
                                     {.name = "density", .space = f->density_space, .values = f->density}};
  const size_t size = strlen(prefix) + 5;
  char *path = malloc(size);

  snprintf(path, size, "%s.vtu", prefix);
  MUST(RitzWriteVTU(f->mesh, 2, fields, path));
  snprintf(path, size, "%s.csv", prefix);
  FILE *file = fopen(path, "w");
  if (!file) {
    perror(path);
    exit(1);
  }
  fprintf(file, "x,y,mass,stream,element\n");
  for (int64_t i = 0; i < s->num; i++)
    fprintf(file, "%.6g,%.6g,%.6g,%.6g,%lld\n", s->x[i * DIM], s->x[i * DIM + 1], s->mass[i], start[i],
            (long long)s->elements[i]);
  fclose(file);
  free(path);
}

// ---- The program ----

typedef struct {
  const char *ceed, *mesh, *output;
  double order, particles, steps, time;
} Options;

static double read_number(const char *name, const char *text, double least) {
  char *end;
  const double value = strtod(text, &end);

  if (*end || end == text || !(value >= least && value <= 1e9)) {
    fprintf(stderr, "particles: %s is '%s': needed is a number of at least %g\n", name, text, least);
    exit(2);
  }
  return value;
}

static void read_options(int argc, char **argv, Options *o) {
  const struct {
    const char *name, **text;
    double *number, least;
  } known[] = {{"--ceed", &o->ceed, NULL, 0},
               {"--mesh", &o->mesh, NULL, 0},
               {"--output", &o->output, NULL, 0},
               {"--order", NULL, &o->order, 1},
               {"--particles", NULL, &o->particles, 1},
               {"--steps", NULL, &o->steps, 1},
               {"--time", NULL, &o->time, 0}};
  const int num_known = sizeof(known) / sizeof(known[0]);

  for (int i = 1; i < argc; i += 2) {
    int k = 0;

    while (k < num_known && strcmp(argv[i], known[k].name)) k++;
    if (k == num_known || i + 1 == argc) {
      fprintf(stderr, "usage: particles [--ceed RESOURCE] [--mesh FILE] [--order N] [--particles N] "
                      "[--steps N] [--time T] [--output PREFIX]\n");
      exit(2);
    }
    if (known[k].text) *known[k].text = argv[i + 1];
    if (known[k].number) *known[k].number = read_number(argv[i], argv[i + 1], known[k].least);
  }
}

int main(int argc, char **argv) {
  Options o = {.ceed = "/cpu/self",
               .mesh = "examples/meshes/disk.msh",
               .order = 3,
               .particles = 2000,
               .steps = 20,
               .time = 1};
  Fields f = {.num_elem = 0};
  Swarm s;

  read_options(argc, argv, &o);
  const int num_steps = (int)o.steps;

  make_fields(o.ceed, o.mesh, (CeedInt)o.order, &f);
  make_swarm(&f, (int64_t)o.particles, &s);
  double *start = malloc((size_t)s.num * sizeof(double)); // values of the stream function
  for (int64_t i = 0; i < s.num; i++) start[i] = stream(s.x + i * DIM);
  printf("%lld particles, %d elements, order %d, %lld nodes\n", (long long)s.num, (int)f.num_elem,
         (int)o.order, (long long)f.num_nodes);
  printf("                              errors of\n");
  printf("  time   outside         mass     nodes    moment   density     drift\n");
  locate(&f, &s, s.x);
  bool is_good = account(&f, &s, start, 0, true);
  for (int step = 1; step <= num_steps; step++) {
    move(&f, &s, o.time / num_steps);
    const bool prints = step % ((num_steps + 9) / 10) == 0 || step == num_steps;
    is_good = account(&f, &s, start, o.time * step / num_steps, prints) && is_good;
  }
  if (o.output) write_files(&f, &s, start, o.output);
  if (!is_good) printf("mass or first moment are not conserved\n");
  free(start);
  destroy_swarm(&s);
  destroy_fields(&f);
  return is_good ? 0 : 1;
}
