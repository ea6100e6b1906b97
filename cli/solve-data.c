// SPDX-License-Identifier: BSD-2-Clause
// The data of `ritz solve` on its mesh: materials, boundary conditions, right-hand sides, and what is said of
// them.
#define _POSIX_C_SOURCE 200809L

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/solve.h"

// ---- Materials ----

// A RitzCoefficientFunction; values that are not positive are kept and refused.
static int evaluate_coefficient(void *ctx, const double *x, double *value) {
  Formula *formula = ctx;
  const double position[EXPR_NUM_VARIABLES] = {x[0], x[1], x[2]};

  *value = expr_value(formula->expr[0], position);
  if (*value > 0) return 0;
  formula->has_fault = true;
  formula->fault = *value;
  memcpy(formula->fault_x, x, sizeof(formula->fault_x));
  return CEED_ERROR_MAJOR;
}

void solve_report_coefficients(const Solve *s, bool *reported) {
  *reported = false;
  for (size_t i = 0; i < s->num_formulas; i++) {
    const Formula *f = &s->formulas[i];

    if (!f->has_fault) continue;
    fprintf(cli_stderr(), "%s: %s: expected %s, found %g at (%g, %g, %g)\n", solve_command.name, f->option,
            f->role == ROLE_ROBIN ? "alpha >= 0" : "positive values", f->fault, f->fault_x[0], f->fault_x[1],
            f->fault_x[2]);
    *reported = true;
  }
}

// A function of all materials, 1 where there is no formula, and the one that chooses.
static void write_function(const Solve *s, const char *function, SolveRole role, FILE *stream) {
  char name[40];

  for (CeedInt i = 0; i < s->num_materials; i++) {
    const ProblemMaterial *m = &s->materials[i];
    const Formula *formula = solve_find_formula(s, role, m->num_regions ? m->regions[0] : 0);

    snprintf(name, sizeof(name), "%s_%d", function, (int)i);
    if (formula)
      expr_write_c(formula->expr[0], name, stream);
    else
      fprintf(stream, "#define %s(x, y, z, t, u) 1\n", name);
  }
  fprintf(stream,
          "CEED_QFUNCTION_HELPER CeedScalar %s(const CeedScalar material, const CeedScalar x,\n"
          "    const CeedScalar y, const CeedScalar z, const CeedScalar u) {\n"
          "  (void)material;\n",
          function);
  for (CeedInt i = 0; i + 1 < s->num_materials; i++)
    fprintf(stream, "  if (material < %d.5) return %s_%d(x, y, z, 0, u);\n", (int)i, function, (int)i);
  fprintf(stream, "  return %s_%d(x, y, z, 0, u);\n}\n", function, (int)s->num_materials - 1);
}

int solve_create_conductivity(Solve *s) {
  size_t size = 0;
  FILE *stream;

  if (!s->is_nonlinear || s->options.problem == PROBLEM_HYPERELASTICITY) return CEED_ERROR_SUCCESS;
  stream = open_memstream(&s->conductivity, &size);
  if (stream) {
    write_function(s, "conductivity", ROLE_COEFFICIENT, stream);
    write_function(s, "capacity", ROLE_CAPACITY, stream);
  }
  if (stream && !fclose(stream)) return CEED_ERROR_SUCCESS;
  return CeedError(s->ceed, CEED_ERROR_MAJOR, "no memory for the text of the conductivity");
}

// A ProblemFunction: alpha of Robin's condition; what is negative is kept and refused.
static double robin_alpha(const void *ctx, const ProblemPoint *point, CeedInt component) {
  Formula *formula = (Formula *)ctx;
  const double alpha = solve_formula_value(formula, point, component);

  formula->largest = fmax(formula->largest, alpha);
  if (!(alpha < 0)) return alpha;
  formula->has_fault = true;
  formula->fault = alpha;
  memcpy(formula->fault_x, point->x, sizeof(formula->fault_x));
  return NAN;
}

// What flows in beside what depends on u.
static double robin_flux(const void *ctx, const ProblemPoint *point, CeedInt component) {
  return solve_formula_value(ctx, point, component) * solve_formula_value(ctx, point, 1);
}

int solve_create_robin(Solve *s) {
  CLI_TRY(cli_allocate(s->ceed, s->num_formulas + 1, sizeof(*s->robin), &s->robin));
  for (size_t i = 0; i < s->num_formulas; i++) {
    Formula *f = &s->formulas[i];

    if (f->role != ROLE_ROBIN) continue;
    snprintf(f->label, sizeof(f->label), "%s %.100s", f->option, f->name);
    s->robin[s->num_robin++] = (ProblemRobin){f->label, f->name, robin_alpha, f};
  }
  return CEED_ERROR_SUCCESS;
}

int solve_check_robin(const Solve *s) {
  for (CeedInt i = 0; i < s->num_robin; i++) {
    double largest = ((const Formula *)s->robin[i].ctx)->largest;

    CLI_TRY(solve_reduce(s, RITZ_REDUCTION_MAX, 1, &largest));
    if (largest > 0) continue;
    return CeedError(s->ceed, CEED_ERROR_INCOMPATIBLE, "%s: alpha is zero on all of the part",
                     s->robin[i].name);
  }
  return CEED_ERROR_SUCCESS;
}

static double constant_value(const Formula *formula, double otherwise) {
  const double zeros[EXPR_NUM_VARIABLES] = {0};

  return formula ? expr_value(formula->expr[0], zeros) : otherwise;
}

static ProblemCoefficient get_coefficient(const Formula *formula, double otherwise) {
  if (formula && expr_uses_unknown(formula->expr[0])) return (ProblemCoefficient){.value = otherwise};
  // A function needs to have no value at the origin.
  if (formula && expr_num_coordinates(formula->expr[0]))
    return (ProblemCoefficient){.value = otherwise, .function = evaluate_coefficient, .ctx = (void *)formula};
  return (ProblemCoefficient){.value = constant_value(formula, otherwise)};
}

static const SolveRole material_roles[] = {ROLE_COEFFICIENT, ROLE_CAPACITY, ROLE_YOUNG, ROLE_POISSON};
enum { NUM_MATERIAL_ROLES = sizeof(material_roles) / sizeof(material_roles[0]) };

// A coefficient in C, as ProblemMaterial has it.
static void write_coefficient(const char *name, const Formula *formula, const ProblemCoefficient *c,
                              FILE *stream) {
  char of_formula[40];

  if (!c->function) {
    fprintf(stream, "#define %s(x, y, z) (CeedScalar)%.17g\n", name, c->value);
    return;
  }
  snprintf(of_formula, sizeof(of_formula), "%s_of_formula", name);
  expr_write_c(formula->expr[0], of_formula, stream);
  fprintf(
      stream,
      "CEED_QFUNCTION_HELPER CeedScalar %s(const CeedScalar x, const CeedScalar y, const CeedScalar z) {\n"
      "  const CeedScalar value = %s(x, y, z, 0, 0);\n"
      "  return value > 0 ? value : (value - value) / (value - value);\n"
      "}\n",
      name, of_formula);
}

// NULL: both are constant, or there is no memory, and compilers do nothing.
static char *write_material(const Solve *s, int32_t region, const ProblemMaterial *m) {
  char *text = NULL;
  size_t size = 0;

  if (!m->conductivity.function && !m->reaction.function) return NULL;
  FILE *stream = open_memstream(&text, &size);
  if (!stream) return NULL;
  write_coefficient("mu", solve_find_formula(s, ROLE_COEFFICIENT, region), &m->conductivity, stream);
  write_coefficient("reaction", solve_find_formula(s, ROLE_CAPACITY, region), &m->reaction, stream);
  if (!fclose(stream)) return text;
  free(text);
  return NULL;
}

static ProblemMaterial get_material(const Solve *s, int32_t region) {
  const Formula *conductivity = solve_find_formula(s, ROLE_COEFFICIENT, region);
  const Formula *capacity = solve_find_formula(s, ROLE_CAPACITY, region);
  ProblemMaterial material = {.conductivity = get_coefficient(conductivity, 1),
                              .reaction = get_coefficient(capacity, 1),
                              .young = constant_value(solve_find_formula(s, ROLE_YOUNG, region), 1),
                              .poisson = constant_value(solve_find_formula(s, ROLE_POISSON, region), 0.3)};

  if (s->options.problem == PROBLEM_HELMHOLTZ) material.reaction.value = s->options.lambda;
  return material;
}

static bool is_one_material(const Solve *s, int32_t a, int32_t b) {
  for (int k = 0; k < NUM_MATERIAL_ROLES; k++) {
    if (solve_find_formula(s, material_roles[k], a) != solve_find_formula(s, material_roles[k], b))
      return false;
  }
  return true;
}

static bool has_overlap(const Solve *s, CeedInt num_overlaps, int32_t region) {
  for (CeedInt k = 0; k < num_overlaps; k++) {
    const int32_t *regions = NULL;
    CeedInt num = 0;

    if (RitzMeshGetOverlap(s->mesh, k, &num, &regions)) return false;
    for (CeedInt i = 0; i < num; i++) {
      if (regions[i] == region) return true;
    }
  }
  return false;
}

// The numbers that elements may have: of regions that overlap no other, of overlaps; one more place, of 0.
static int list_numbers(const Solve *s, CeedInt *num, int32_t **numbers) {
  CeedInt num_regions = 0, num_overlaps = 0;

  *num = 0;
  CLI_TRY(RitzMeshGetNumRegions(s->mesh, &num_regions));
  CLI_TRY(RitzMeshGetNumOverlaps(s->mesh, &num_overlaps));
  CLI_TRY(cli_allocate(s->ceed, (size_t)num_regions + (size_t)num_overlaps + 1, sizeof(**numbers), numbers));
  for (CeedInt i = 0; i < num_regions; i++) {
    CLI_TRY(RitzMeshGetRegion(s->mesh, i, NULL, &(*numbers)[*num]));
    *num += !has_overlap(s, num_overlaps, (*numbers)[*num]);
  }
  for (CeedInt k = 0; k < num_overlaps; k++) (*numbers)[(*num)++] = -1 - k;
  return CEED_ERROR_SUCCESS;
}

// Elements with the same formulas are one material.
int solve_create_materials(Solve *s) {
  CeedInt num_regions = 0, listed = 0;
  int32_t *numbers = NULL;
  bool *is_done = NULL;
  int ierr;

  CLI_TRY_CLEANUP(list_numbers(s, &num_regions, &numbers));
  CLI_TRY_CLEANUP(cli_allocate(s->ceed, (size_t)num_regions, sizeof(*is_done), &is_done));
  CLI_TRY_CLEANUP(cli_allocate(s->ceed, (size_t)num_regions, sizeof(int32_t), &s->material_regions));
  CLI_TRY_CLEANUP(cli_allocate(s->ceed, (size_t)num_regions + 1, sizeof(ProblemMaterial), &s->materials));
  for (CeedInt i = 0; i < num_regions; i++) {
    ProblemMaterial *material = &s->materials[s->num_materials];

    if (is_done[i]) continue;
    *material = get_material(s, numbers[i]);
    material->text = write_material(s, numbers[i], material);
    material->regions = &s->material_regions[listed];
    for (CeedInt j = i; j < num_regions; j++) {
      if (is_done[j] || !is_one_material(s, numbers[i], numbers[j])) continue;
      s->material_regions[listed++] = numbers[j];
      material->num_regions++;
      is_done[j] = true;
    }
    s->num_materials++;
  }
  if (s->num_materials == 0) {
    s->materials[0] = get_material(s, 0);
    s->materials[0].text = write_material(s, 0, &s->materials[0]);
    s->num_materials = 1;
  }
  if (s->num_materials == 1) s->materials[0].num_regions = 0;
cleanup:
  free(numbers);
  free(is_done);
  return ierr;
}

// ---- Given values ----

// Sets the values on one part.
static int set_part(Solve *s, const char *option, const char *part, CeedInt component, ProblemFunction f,
                    const void *ctx) {
  int64_t num = 0, *nodes = NULL;
  char name[160];
  int ierr;

  snprintf(name, sizeof(name), "%s %.100s", option, part);
  CLI_TRY(RitzSpaceGetBoundaryNodes(s->problem.space, part, &num, &nodes));
  ierr = num > 0 ? problem_set_nodes(&s->problem, name, f, ctx, component, num, nodes, s->u)
                 : CEED_ERROR_SUCCESS; // of a part
  free(nodes);
  return ierr;
}

int solve_set_boundary(Solve *s) {
  if (s->options.exact == EXACT_SINE) return set_part(s, "--exact", "all", -1, problem_sine, &s->problem);
  for (size_t i = 0; i < s->num_formulas; i++) {
    const Formula *f = &s->formulas[i];

    if (f->role == ROLE_BC || f->role == ROLE_FIXED)
      CLI_TRY(set_part(s, f->option, f->name, f->component, solve_formula_value, f));
  }
  return CEED_ERROR_SUCCESS;
}

int solve_list_fixed(Solve *s) {
  const bool is_body = problem_is_elastic((ProblemKind)s->options.problem);

  CLI_TRY(cli_allocate(s->ceed, s->num_formulas + 2, sizeof(*s->fixed), &s->fixed));
  if (s->options.axisymmetric && is_body)
    s->fixed[s->num_fixed++] = (RitzFixedPart){.is_axis = true, .num_comp = 1, .comp = {0}};
  if (s->options.exact == EXACT_SINE) s->fixed[s->num_fixed++] = (RitzFixedPart){.part = "all"};
  for (size_t i = 0; i < s->num_formulas; i++) {
    const Formula *f = &s->formulas[i];

    if (f->role != ROLE_BC && f->role != ROLE_FIXED) continue;
    s->fixed[s->num_fixed++] = (RitzFixedPart){
        .part = f->name, .num_comp = f->component >= 0, .comp = {f->component >= 0 ? f->component : 0}};
  }
  s->num_held = s->num_fixed;
  for (CeedInt i = 0; i < s->num_robin; i++)
    s->fixed[s->num_held++] = (RitzFixedPart){.part = s->robin[i].part};
  return CEED_ERROR_SUCCESS;
}

// Counts the unknowns of all parts, and the free ones, each where it is owned.
static int count_unknowns(Solve *s) {
  CeedSize num_owned = s->size;
  int64_t num = 0;
  const int64_t *entries = NULL;

  if (s->problem.exchange) CLI_TRY(RitzExchangeGetNumOwned(s->problem.exchange, &num_owned));
  CLI_TRY(RitzIndicesGet(s->constraints, &num, &entries));
  while (num > 0 && entries[num - 1] >= num_owned) num--; // they ascend
  double counts[2] = {(double)num_owned, (double)(num_owned - num)};

  CLI_TRY(solve_reduce(s, RITZ_REDUCTION_SUM, 2, counts));
  s->num_unknowns = counts[0];
  s->num_free = counts[1];
  return CEED_ERROR_SUCCESS;
}

int solve_create_modes(const Solve *s, const Problem *problem, RitzSpace space, ProblemModes *modes) {
  RitzIndices held = NULL;
  int ierr = RitzSpaceCreateConstraints(space, s->ceed, s->num_held, s->fixed, &held);

  if (!ierr) ierr = problem_create_modes(problem, space, held, modes);
  RitzIndicesDestroy(&held);
  return ierr;
}

int solve_create_constraints(Solve *s) {
  CLI_TRY(RitzSpaceCreateConstraints(s->problem.space, s->ceed, s->num_fixed, s->fixed, &s->constraints));
  CLI_TRY(count_unknowns(s));
  return solve_create_modes(s, &s->problem, s->problem.space, &s->modes);
}

// ---- Loads ----

typedef struct {
  const Solve *solve;
  SolveRole role;
} RegionValue;

// A ProblemFunction: the formula of the point's region.
static double region_value(const void *ctx, const ProblemPoint *point, CeedInt component) {
  const RegionValue *value = ctx;
  const Formula *formula = solve_find_formula(value->solve, value->role, point->region);

  return formula ? solve_formula_value(formula, point, component) : 0;
}

// Functions source_0, ... of a formula in C, to be freed; zero where there are fewer.
static char *write_source(const Solve *s, const Formula *formula) {
  char *text = NULL, name[40];
  size_t size = 0;
  FILE *stream = open_memstream(&text, &size);

  if (!stream) return NULL;
  for (CeedInt c = 0; c < s->problem.num_comp; c++) {
    snprintf(name, sizeof(name), "source_%d", (int)c);
    if (c < formula->num)
      expr_write_c(formula->expr[c], name, stream);
    else
      fprintf(stream, "#define %s(x, y, z, t, u) 0\n", name);
  }
  if (!fclose(stream)) return text;
  free(text);
  return NULL;
}

// Sources of all formulas of a role, each with the numbers of its elements (of `numbers`, which is sorted by
// them); everywhere where there is one for all.
static int list_sources(const Solve *s, SolveRole role, CeedInt num_numbers, int32_t *numbers, CeedInt *num,
                        ProblemSource *sources) {
  CeedInt listed = 0;

  for (size_t i = 0; i < s->num_formulas; i++) {
    const Formula *formula = &s->formulas[i];
    const CeedInt first = listed;

    for (CeedInt k = listed; k < num_numbers && formula->role == role; k++) {
      const int32_t number = numbers[k];

      if (solve_find_formula(s, role, number) != formula) continue;
      numbers[k] = numbers[listed];
      numbers[listed++] = number;
    }
    if (listed == first) continue;
    const bool is_everywhere = listed - first == num_numbers && !formula->name;

    sources[*num] =
        (ProblemSource){write_source(s, formula), is_everywhere ? 0 : listed - first, numbers + first};
    if (!sources[(*num)++].text) return CeedError(s->ceed, CEED_ERROR_MAJOR, "no memory for a source");
  }
  return CEED_ERROR_SUCCESS;
}

// Fewer points a formula has the values of in less time than compilers take.
static bool is_worth_compiling(const Solve *s) {
  const double least = 2e6, points = pow(s->options.order + 2, s->dim);
  int64_t num_elem = 0;

  return !RitzMeshGetNumElements(s->mesh, &num_elem) && (double)num_elem * points >= least;
}

static int add_compiled(Solve *s, SolveRole role, CeedVector rhs, bool *is_done) {
  CeedInt num_numbers = 0, num = 0;
  int32_t *numbers = NULL;
  ProblemSource *sources = NULL;
  int ierr;

  *is_done = false;
  if (!is_worth_compiling(s)) return CEED_ERROR_SUCCESS;
  CLI_TRY_CLEANUP(list_numbers(s, &num_numbers, &numbers));
  if (num_numbers == 0) num_numbers = 1; // elements without regions have the number 0
  CLI_TRY_CLEANUP(cli_allocate(s->ceed, s->num_formulas, sizeof(*sources), &sources));
  CLI_TRY_CLEANUP(list_sources(s, role, num_numbers, numbers, &num, sources));
  ierr = problem_add_sources(&s->problem, num, sources, rhs, is_done);
cleanup:
  for (CeedInt i = 0; i < num; i++) free((char *)sources[i].text);
  free(sources);
  free(numbers);
  return ierr;
}

static int add_sources(Solve *s, SolveRole role, CeedVector rhs) {
  const RegionValue value = {s, role};
  bool is_done = false;

  CLI_TRY(add_compiled(s, role, rhs, &is_done));
  if (is_done) return CEED_ERROR_SUCCESS;
  return problem_add_source(&s->problem, role == ROLE_FORCE ? "--force" : "--source", region_value, &value,
                            rhs);
}

static int add_loads(Solve *s, CeedVector rhs) {
  const SolveRole role = problem_is_elastic((ProblemKind)s->options.problem) ? ROLE_FORCE : ROLE_SOURCE;

  if (s->options.exact == EXACT_SINE) return problem_add_sine_source(&s->problem, rhs);
  if (solve_has_role(s, role)) CLI_TRY(add_sources(s, role, rhs));
  for (size_t i = 0; i < s->num_formulas; i++) {
    const Formula *f = &s->formulas[i];
    char name[160];

    if (f->role != ROLE_FLUX && f->role != ROLE_ROBIN && f->role != ROLE_TRACTION && f->role != ROLE_PRESSURE)
      continue;
    if (f->role == ROLE_PRESSURE && s->options.problem == PROBLEM_HYPERELASTICITY) continue; // in F(u)
    snprintf(name, sizeof(name), "%s %.100s", f->option, f->name);
    CLI_TRY((f->role == ROLE_PRESSURE ? problem_add_pressure : problem_add_boundary)(
        &s->problem, name, f->name, f->role == ROLE_ROBIN ? robin_flux : solve_formula_value, f, rhs));
  }
  return CEED_ERROR_SUCCESS;
}

int solve_add_loads(Solve *s, CeedVector rhs) {
  CLI_TRY(add_loads(s, rhs));
  return problem_add_up(&s->problem, rhs);
}

static double one(const void *ctx, const ProblemPoint *point, CeedInt component) {
  (void)ctx;
  (void)point;
  (void)component;
  return 1;
}

// Where the piece of a mode is, of several; "" of one.
static const char *piece_place(const Solve *s, CeedInt i, char text[100]) {
  const double *x = s->modes.centre[i];

  text[0] = '\0';
  if (s->modes.num_pieces > 1) snprintf(text, 100, " in the piece about (%g %g %g)", x[0], x[1], x[2]);
  return text;
}

// The product of two vectors of all parts; one of them is zero at ghosts.
int solve_dot(const Solve *s, CeedVector x, CeedVector y, double *product) {
  CLI_TRY(RitzVectorDot(x, y, product));
  return solve_reduce(s, RITZ_REDUCTION_SUM, 1, product);
}

// A constant source on the piece of mode i makes the loads there add up to zero. `part` of them lies along
// the mode, which is constant there.
static int balance_constant(Solve *s, CeedInt i, double part) {
  CeedVector mode = s->modes.vectors[i], weights = NULL; // of the piece, times the mode
  double volume = 0, product = 0;
  char place[100];
  int ierr;

  CLI_TRY(CeedVectorCreate(s->ceed, s->size, &weights));
  CLI_TRY_CLEANUP(CeedVectorPointwiseMult(weights, mode, s->mean_weights));
  CLI_TRY_CLEANUP(solve_dot(s, mode, s->mean_weights, &volume));
  CLI_TRY_CLEANUP(solve_dot(s, mode, weights, &product));
  cli_fact(NULL, "source and flux do not add up to zero: a constant source of %.4g is added%s",
           -part / volume, piece_place(s, i, place));
  ierr = RitzVectorSum(s->rhs, 1, s->rhs, -part / product, weights);
cleanup:
  CeedVectorDestroy(&weights);
  return ierr;
}

static int create_mean_weights(Solve *s) {
  CLI_TRY(CeedVectorCreate(s->ceed, s->size, &s->mean_weights));
  CLI_TRY(CeedVectorSetValue(s->mean_weights, 0));
  CLI_TRY(problem_add_source(&s->problem, "--source", one, NULL, s->mean_weights));
  return problem_add_up(&s->problem, s->mean_weights);
}

static void show_modes(const Solve *s) {
  const long long num = s->modes.num, num_pieces = s->modes.num_pieces;

  if (s->problem.num_comp > 1)
    cli_fact("nullspace", "%lld rigid body motions that no face holds: u is one solution of many", num);
  else if (num_pieces == 1)
    cli_fact("nullspace", "constants: no value is given, u is one solution of many");
  else
    cli_fact("nullspace",
             "constants: on %lld of the mesh's %lld pieces no value is given, u is one solution of many", num,
             num_pieces);
}

int solve_balance(Solve *s) {
  double norm = 0;

  if (!s->modes.num) return CEED_ERROR_SUCCESS;
  if (s->conductivity)
    return CeedError(s->ceed, CEED_ERROR_UNSUPPORTED,
                     "--coefficient with u needs values (--bc) or --robin in each piece of the mesh");
  if (s->options.problem == PROBLEM_HYPERELASTICITY)
    return CeedError(s->ceed, CEED_ERROR_UNSUPPORTED,
                     "hyperelasticity needs a body that is held: --fixed and --bc leave %" CeedInt_FMT
                     " rigid motions free",
                     s->modes.num);
  CLI_TRY(solve_dot(s, s->rhs, s->rhs, &norm));
  show_modes(s);
  if (s->problem.num_comp == 1) CLI_TRY(create_mean_weights(s));
  for (CeedInt i = 0; i < s->modes.num; i++) {
    double part = 0;

    CLI_TRY(solve_dot(s, s->modes.vectors[i], s->rhs, &part));
    if (fabs(part) <= fmax(1e-9, 100 * CEED_EPSILON) * sqrt(norm)) continue;
    if (s->problem.num_comp == 1) {
      CLI_TRY(balance_constant(s, i, part));
      continue;
    }
    cli_fact(NULL, "the loads are not in balance: what would move the body as a whole is left out");
    return CEED_ERROR_SUCCESS; // the solver projects
  }
  return CEED_ERROR_SUCCESS;
}

int solve_set_initial(Solve *s) {
  const Formula *formula = solve_find_formula(s, ROLE_INITIAL, 0);

  s->problem.time = solve_start_time(s);
  if (s->start.words) return solve_get_start(s, 0, s->u);
  if (s->options.exact == EXACT_SINE)
    return problem_set_nodes(&s->problem, "--exact", problem_sine, &s->problem, -1, 0, NULL, s->u);
  if (!formula) return CEED_ERROR_SUCCESS;
  return problem_set_nodes(&s->problem, "--initial", solve_formula_value, formula, -1, 0, NULL, s->u);
}

// ---- Facts ----

static void show_equation(const Solve *s) {
  const SolveOptions *o = &s->options;

  switch (o->problem) {
  case PROBLEM_POISSON:
    cli_fact("problem", "%s",
             s->is_nonlinear      ? "-div k(u) grad u = f"
             : o->coefficient.num ? "-div k grad u = f"
                                  : "-div grad u = f");
    break;
  case PROBLEM_MASS: cli_fact("problem", "u = f, projected"); break;
  case PROBLEM_HELMHOLTZ:
    cli_fact("problem", "-div %sgrad u + %g u = f",
             s->is_nonlinear      ? "k(u) "
             : o->coefficient.num ? "k "
                                  : "",
             o->lambda);
    break;
  case PROBLEM_HEAT:
    cli_fact("problem", "c du/dt - div %s grad u = f", s->is_nonlinear ? "k(u)" : "k");
    break;
  case PROBLEM_HYPERELASTICITY:
    cli_fact("problem", "hyperelasticity, %s: -div P(u) = f of the undeformed body",
             o->law == PROBLEM_NEO_HOOKEAN ? "neo-Hookean" : "Saint Venant-Kirchhoff");
    break;
  default:
    cli_fact("problem", "linear elasticity%s: -div sigma(u) = f",
             o->plane == PLANE_STRESS ? " of plane stress" : "");
  }
}

// Formulas of one role, a line each: "symbol = text in name".
static void show_role(const Solve *s, SolveRole role, const char *label, const char *symbol,
                      const char *place) {
  char name[ARG_SHOWN], text[ARG_SHOWN];
  bool is_first = true;

  for (size_t i = 0; i < s->num_formulas; i++) {
    const Formula *f = &s->formulas[i];

    if (f->role != role) continue;
    cli_fact(is_first ? label : NULL, "%s%s = %s%s%s", symbol,
             f->component >= 0 ? (const char *[]){".x", ".y", ".z"}[f->component] : "",
             f->text ? args_shown(f->text, text) : "0", f->name ? place : "",
             f->name ? args_shown(f->name, name) : "");
    is_first = false;
  }
}

void solve_show_problem(const Solve *s) {
  const SolveOptions *o = &s->options;
  const bool is_elasticity = problem_is_elastic((ProblemKind)o->problem);

  show_equation(s);
  if (o->axisymmetric) cli_fact(NULL, "axisymmetric about x = 0%s", is_elasticity ? ", where u.x = 0" : "");
  show_role(s, ROLE_COEFFICIENT, "coefficient", "k", " in ");
  show_role(s, ROLE_CAPACITY, "capacity", "c", " in ");
  show_role(s, ROLE_YOUNG, "material", "E", " in ");
  show_role(s, ROLE_POISSON, solve_has_role(s, ROLE_YOUNG) ? NULL : "material", "nu", " in ");
  if (o->exact == EXACT_SINE) {
    cli_fact("source", "that of u = %sproduct of sin(pi x_d)%s",
             o->problem == PROBLEM_HEAT ? "exp(-t) times the " : "",
             is_elasticity ? ", in each component" : "");
    cli_fact("values", "those of u on all of the boundary");
    return;
  }
  if (!solve_has_role(s, ROLE_SOURCE) && !solve_has_role(s, ROLE_FORCE)) cli_fact("source", "f = 0");
  show_role(s, ROLE_SOURCE, "source", "f", " in ");
  show_role(s, ROLE_FORCE, "source", "f", " in ");
  show_role(s, ROLE_FLUX, "flux", "k du/dn", " on ");
  show_role(s, ROLE_ROBIN, "robin", "k du/dn = alpha (value - u), alpha,value", " on ");
  show_role(s, ROLE_TRACTION, "tractions", o->problem == PROBLEM_HYPERELASTICITY ? "P n" : "sigma n", " on ");
  show_role(s, ROLE_PRESSURE, "pressure", "-sigma n . n", " on ");
  show_role(s, ROLE_INITIAL, "initial", "u", "");
  show_role(s, ROLE_BC, "values", "u", " on ");
  show_role(s, ROLE_FIXED, solve_has_role(s, ROLE_BC) ? NULL : "values", "u", " on ");
}
