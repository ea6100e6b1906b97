// SPDX-License-Identifier: BSD-2-Clause
// The data of `ritz solve`: formulas of the source and of boundary values, checked against the mesh and
// turned into vectors.
#define _POSIX_C_SOURCE 200809L

#include <stdlib.h>
#include <string.h>

#include "cli/solve.h"

// ---- Formulas ----

enum { CONTEXT = 36 }; // characters shown before and after a fault

// Shows the part of the text around the fault and a caret below it. Bytes that continue a UTF-8 character
// take no place on the screen.
static void show_fault(const char *text, size_t column) {
  size_t begin = column > CONTEXT ? column - CONTEXT : 0, length = strlen(text);
  size_t end = length - column > CONTEXT ? column + CONTEXT : length, blanks = 0;

  while (begin > 0 && begin < column && ((unsigned char)text[begin] & 0xc0) == 0x80) begin++;
  while (end < length && ((unsigned char)text[end] & 0xc0) == 0x80) end++;
  fprintf(stderr, "    %s", begin ? "..." : "");
  for (size_t i = begin; i < end; i++) {
    unsigned char c = (unsigned char)text[i];
    fputc(c < 0x20 || c == 0x7f ? ' ' : c, stderr);
    if (i < column && (c & 0xc0) != 0x80) blanks++;
  }
  fprintf(stderr, "%s\n    %*s^\n", end < length ? "..." : "", (int)(blanks + (begin ? 3 : 0)), "");
}

static int parse_formula(Formula *formula) {
  ExprError error;

  if (!expr_parse(formula->text, &formula->expr, &error)) return CLI_OK;
  fprintf(stderr, "%s: %s: column %zu: %s\n", solve_command.name, formula->option, error.column + 1,
          error.message);
  show_fault(formula->text, error.column);
  fprintf(stderr, "Try '%s --help'.\n", solve_command.name);
  return CLI_USAGE;
}

// Splits NAME=EXPR. The name ends at the first "=".
static int parse_bc(const char *text, Formula *bc) {
  const char *equals = strchr(text, '=');
  char shown[ARG_SHOWN];

  if (!equals || equals == text) {
    args_wrong(&solve_command, "--bc", "expected NAME=EXPR such as base=100, found '%s'",
               args_shown(text, shown));
    return CLI_USAGE;
  }
  bc->option = "--bc";
  bc->text = equals + 1;
  bc->part = strndup(text, (size_t)(equals - text));
  if (!bc->part) {
    fprintf(stderr, "%s: not enough memory\n", solve_command.name);
    return CLI_FAILED;
  }
  return parse_formula(bc);
}

int solve_parse_formulas(Solve *s) {
  const SolveOptions *o = &s->options;

  if (o->source) {
    s->source = (Formula){.option = "--source", .text = o->source};
    CLI_TRY(parse_formula(&s->source));
  }
  s->bc = calloc(o->bc.num + 1, sizeof(*s->bc));
  if (!s->bc) {
    fprintf(stderr, "%s: not enough memory\n", solve_command.name);
    return CLI_FAILED;
  }
  for (size_t i = 0; i < o->bc.num; i++) {
    s->num_bc++;
    CLI_TRY(parse_bc(o->bc.items[i], &s->bc[i]));
  }
  return CLI_OK;
}

void solve_free_formulas(Solve *s) {
  expr_free(&s->source.expr);
  for (size_t i = 0; i < s->num_bc; i++) {
    expr_free(&s->bc[i].expr);
    free((char *)s->bc[i].part);
  }
  free(s->bc);
}

// ---- Checks against the mesh ----

// Lists the boundary parts of the mesh on stderr.
static void list_parts(const Solve *s) {
  CeedInt num = 0;
  const char *name = NULL;

  RitzMeshGetNumBoundaryParts(s->mesh, &num);
  for (CeedInt i = 0; i < num && !RitzMeshGetBoundaryPartName(s->mesh, i, &name); i++)
    fprintf(stderr, "%s, ", name);
  fprintf(stderr, "all\n");
}

static int check_part(const Solve *s, const char *part) {
  CeedInt num = 0;
  const char *name = NULL;
  char shown[ARG_SHOWN];
  bool known = !strcmp(part, "all");

  RitzMeshGetNumBoundaryParts(s->mesh, &num);
  for (CeedInt i = 0; i < num && !known; i++) {
    known = !RitzMeshGetBoundaryPartName(s->mesh, i, &name) && !strcmp(part, name);
  }
  if (known) return CLI_OK;
  fprintf(stderr, "%s: --bc: the mesh has no boundary part '%s'; its parts are: ", solve_command.name,
          args_shown(part, shown));
  list_parts(s);
  return CLI_USAGE;
}

static int check_coordinates(const Solve *s, const Formula *formula) {
  static const char names[] = "xyz";
  int needed = formula->expr ? expr_num_coordinates(formula->expr) : 0;

  if (needed <= s->space_dim) return CLI_OK;
  args_wrong(&solve_command, formula->option,
             "'%c' is used, but the mesh has only %" CeedInt_FMT " coordinate%s", names[needed - 1],
             s->space_dim, s->space_dim > 1 ? "s" : "");
  return CLI_USAGE;
}

// Without a given value anywhere, a solution plus a constant is a solution too.
static int check_solvable(const Solve *s) {
  const SolveOptions *o = &s->options;
  bool needs_values = o->problem == PROBLEM_POISSON || (o->problem == PROBLEM_HELMHOLTZ && o->lambda == 0);
  int64_t facets = 0;

  for (size_t i = 0; i < s->num_bc; i++) {
    int64_t num = 0;
    if (RitzMeshGetBoundaryPart(s->mesh, s->bc[i].part, &num, NULL, NULL))
      return cli_report(solve_command.name, s->ceed);
    facets += num;
  }
  if (o->exact == EXACT_SINE && RitzMeshGetBoundaryPart(s->mesh, "all", &facets, NULL, NULL)) {
    return cli_report(solve_command.name, s->ceed);
  }
  if (!needs_values || facets) return CLI_OK;
  fprintf(stderr, "%s: the problem is singular: %s needs at least one Dirichlet part\n", solve_command.name,
          o->problem == PROBLEM_POISSON ? "poisson" : "helmholtz with --lambda 0");
  fprintf(stderr, "Give it as --bc NAME=EXPR; the parts are: ");
  list_parts(s);
  return CLI_USAGE;
}

int solve_check_data(const Solve *s) {
  for (size_t i = 0; i < s->num_bc; i++) {
    CLI_TRY(check_part(s, s->bc[i].part));
    CLI_TRY(check_coordinates(s, &s->bc[i]));
  }
  CLI_TRY(check_coordinates(s, &s->source));
  if (s->options.exact != EXACT_NONE && s->space_dim > s->dim) {
    args_wrong(&solve_command, "--exact",
               "needs a mesh that fills its space, this one has %" CeedInt_FMT "D elements in %" CeedInt_FMT
               "D",
               s->dim, s->space_dim);
    return CLI_USAGE;
  }
  return check_solvable(s);
}

// ---- Vectors ----

static double formula_value(const void *ctx, const double x[3]) { return expr_value(ctx, x); }

// Sets the values on one part and marks its nodes.
static int set_part(Solve *s, const char *part, ProblemFunction f, const void *ctx, char *marks) {
  int64_t num = 0, *nodes = NULL;
  char name[160];
  int ierr;

  snprintf(name, sizeof(name), "--bc %.100s", part);
  CLI_TRY(RitzSpaceGetBoundaryNodes(s->problem.space, part, &num, &nodes));
  ierr = problem_set_nodes(&s->problem, name, f, ctx, num, nodes, s->u);
  for (int64_t i = 0; i < num; i++) marks[nodes[i]] = 1;
  free(nodes);
  return ierr;
}

static int set_parts(Solve *s, char *marks) {
  if (s->options.exact == EXACT_SINE) return set_part(s, "all", problem_sine, &s->space_dim, marks);
  for (size_t i = 0; i < s->num_bc; i++)
    CLI_TRY(set_part(s, s->bc[i].part, formula_value, s->bc[i].expr, marks));
  return CEED_ERROR_SUCCESS;
}

int solve_set_boundary(Solve *s) {
  char *marks = NULL;
  int ierr;

  CLI_TRY(RitzSpaceGetNumNodes(s->problem.space, &s->num_nodes));
  CLI_TRY(CeedVectorSetValue(s->u, 0));
  CLI_TRY(cli_allocate(s->ceed, (size_t)s->num_nodes, 1, &marks));
  CLI_TRY_CLEANUP(set_parts(s, marks));
  CLI_TRY_CLEANUP(cli_allocate(s->ceed, (size_t)s->num_nodes, sizeof(*s->constraints), &s->constraints));
  for (int64_t i = 0; i < s->num_nodes; i++) {
    if (marks[i]) s->constraints[s->num_constraints++] = i;
  }
cleanup:
  free(marks);
  return ierr;
}

typedef struct {
  CeedInt space_dim;
  double factor;
} SineSource;

static double sine_source(const void *ctx, const double x[3]) {
  const SineSource *source = ctx;
  return source->factor * problem_sine(&source->space_dim, x);
}

int solve_set_source(Solve *s) {
  if (s->options.exact == EXACT_SINE) {
    SineSource source = {s->space_dim, problem_sine_factor(&s->problem)};
    return problem_set_source(&s->problem, "--exact", sine_source, &source, s->rhs);
  }
  if (s->source.expr)
    return problem_set_source(&s->problem, "--source", formula_value, s->source.expr, s->rhs);
  return CeedVectorSetValue(s->rhs, 0);
}

// ---- Facts ----

void solve_show_problem(const Solve *s) {
  const SolveOptions *o = &s->options;
  char part[ARG_SHOWN], text[ARG_SHOWN];

  if (o->problem == PROBLEM_POISSON) cli_fact("problem", "-div grad u = f");
  if (o->problem == PROBLEM_MASS) cli_fact("problem", "u = f, projected");
  if (o->problem == PROBLEM_HELMHOLTZ) cli_fact("problem", "-div grad u + %g u = f", o->lambda);
  if (o->exact == EXACT_SINE) {
    cli_fact("source", "that of u = product of sin(pi x_d)");
    cli_fact("values", "those of u on all of the boundary");
    return;
  }
  cli_fact("source", "f = %s", o->source ? args_shown(o->source, text) : "0");
  for (size_t i = 0; i < s->num_bc; i++) {
    cli_fact(i ? NULL : "values", "u = %s on %s", args_shown(s->bc[i].text, text),
             args_shown(s->bc[i].part, part));
  }
}
