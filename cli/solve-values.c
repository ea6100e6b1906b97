// SPDX-License-Identifier: BSD-2-Clause
// Numbers that `ritz solve` prints of its solution: values at points and along lines, reactions of parts with
// given values.
#include <math.h>
#include <ritz/function.h>
#include <stdlib.h>
#include <string.h>

#include "cli/solve.h"

// ---- Points ----

// Coordinates "x,y,z" at *text, which moves behind them: how many, -1 where these are no finite numbers.
static int parse_point(const char **text, double x[3]) {
  for (int num = 0; num < 3; num++) {
    char *end = NULL;

    x[num] = strtod(*text, &end);
    if (end == *text || !isfinite(x[num])) return -1;
    *text = end;
    if (*end != ',') return num + 1;
    (*text)++;
  }
  return -1;
}

// "x,y,z", or of a line "x,y,z:x,y,z:n": the points in `points`, their number in *num.
typedef struct {
  double first[3], last[3];
  int num;
} Line;

static bool parse_probe(const char *text, int space_dim, Line *line) {
  *line = (Line){.num = 1};
  return parse_point(&text, line->first) == space_dim && !*text;
}

static bool parse_line(const char *text, int space_dim, Line *line) {
  char *end = NULL;

  if (parse_point(&text, line->first) != space_dim || *text++ != ':') return false;
  if (parse_point(&text, line->last) != space_dim || *text++ != ':') return false;
  const double num = strtod(text, &end);
  if (end == text || *end || !(num >= 2 && num <= 1e6) || num != floor(num)) return false;
  line->num = (int)num;
  return true;
}

int solve_check_points(const Solve *s) {
  const SolveOptions *o = &s->options;
  const int dim = (int)s->space_dim;
  char shown[ARG_SHOWN];
  Line line;

  for (size_t i = 0; i < o->probe.num; i++) {
    if (parse_probe(o->probe.items[i], dim, &line)) continue;
    return args_wrong(&solve_command, "--probe", "expected %d numbers separated by commas, found '%s'", dim,
                      args_shown(o->probe.items[i], shown));
  }
  for (size_t i = 0; i < o->line.num; i++) {
    static const char *const examples[] = {"0:1:11", "0,0:1,1:11", "0,0,0:1,1,1:11"};

    if (parse_line(o->line.items[i], dim, &line)) continue;
    return args_wrong(
        &solve_command, "--line",
        "expected two points of %d coordinates and a number of points from 2 to 1e6 such as %s, "
        "found '%s'",
        dim, examples[dim - 1], args_shown(o->line.items[i], shown));
  }
  return CLI_OK;
}

static double coordinate(const Line *line, int64_t i, CeedInt d) {
  const double part = line->num > 1 ? (double)i / (line->num - 1) : 0;

  return i == line->num - 1 && i > 0 ? line->last[d]
                                     : line->first[d] + part * (line->last[d] - line->first[d]);
}

// u [num][num_comp] at the points of a line, NaN outside of the mesh. Of parts of a mesh, those that have a
// point: the mean of their equal values.
static int evaluate_sums(const Solve *s, RitzLocator locator, const Line *line, double *x, int64_t *elements,
                         CeedScalar *values, double *sums) {
  const CeedInt nc = s->problem.num_comp, dim = s->space_dim, stride = nc + 1;

  for (int64_t i = 0; i < line->num * (int64_t)dim; i++) x[i] = coordinate(line, i / dim, (CeedInt)(i % dim));
  CLI_TRY(RitzLocatorFind(locator, line->num, x, NULL, elements, NULL));
  CLI_TRY(RitzSpaceEvaluate(s->problem.space, locator, s->u, line->num, x, values, NULL));
  for (int64_t i = 0; i < line->num; i++) {
    if (elements[i] < 0) continue;
    for (CeedInt c = 0; c < nc; c++) sums[i * stride + c] = values[i * nc + c];
    sums[i * stride + nc] = 1;
  }
  CLI_TRY(solve_reduce(s, RITZ_REDUCTION_SUM, (CeedInt)line->num * stride, sums));
  for (int64_t i = 0; i < line->num; i++) {
    for (CeedInt c = 0; c < nc; c++) sums[i * stride + c] /= sums[i * stride + nc];
  }
  return CEED_ERROR_SUCCESS;
}

// sums: a new array [num][num_comp + 1], values and how many parts have the point.
static int evaluate(const Solve *s, RitzLocator locator, const Line *line, double **sums) {
  const size_t num = (size_t)line->num, nc = (size_t)s->problem.num_comp;
  double *x = NULL;
  int64_t *elements = NULL;
  CeedScalar *values = NULL;
  int ierr;

  CLI_TRY_CLEANUP(cli_allocate(s->ceed, num * 3, sizeof(*x), &x));
  CLI_TRY_CLEANUP(cli_allocate(s->ceed, num, sizeof(*elements), &elements));
  CLI_TRY_CLEANUP(cli_allocate(s->ceed, num * nc, sizeof(*values), &values));
  CLI_TRY_CLEANUP(cli_allocate(s->ceed, num * (nc + 1), sizeof(**sums), sums));
  ierr = evaluate_sums(s, locator, line, x, elements, values, *sums);
cleanup:
  free(x);
  free(elements);
  free(values);
  return ierr;
}

static int show_probe(const Solve *s, RitzLocator locator, const char *text) {
  const CeedInt nc = s->problem.num_comp;
  double *sums = NULL;
  char shown[100] = "";
  Line line;

  (void)parse_probe(text, (int)s->space_dim, &line);
  int ierr = evaluate(s, locator, &line, &sums);
  const bool has_missed = !ierr && sums[nc] < 1;

  for (CeedInt c = 0; c < nc && !ierr && !has_missed; c++)
    snprintf(shown + strlen(shown), sizeof(shown) - strlen(shown), "%s%.10g", c ? " " : "", sums[c]);
  free(sums);
  if (has_missed && !solve_is_first(s)) return CEED_ERROR_INCOMPATIBLE; // the first part tells
  if (has_missed)
    return CeedError(s->ceed, CEED_ERROR_INCOMPATIBLE, "--probe %s: the point is not in the mesh", text);
  if (!ierr) cli_fact("probe", "u(%s) = %s", text, shown);
  return ierr;
}

// A table as comma-separated values: distance from the first point, position, u.
static int show_line(const Solve *s, RitzLocator locator, const char *text) {
  static const char *const columns[] = {"x", "y", "z"};
  const CeedInt nc = s->problem.num_comp, dim = s->space_dim;
  double *sums = NULL, length = 0;
  Line line;

  (void)parse_line(text, (int)dim, &line);
  const int ierr = evaluate(s, locator, &line, &sums);

  for (CeedInt d = 0; d < dim; d++) length = hypot(length, line.last[d] - line.first[d]);
  if (!ierr && !cli_is_quiet()) {
    printf("s");
    for (CeedInt d = 0; d < dim; d++) printf(",%s", columns[d]);
    for (CeedInt c = 0; c < nc; c++) printf(",u%s", nc > 1 ? columns[c] : "");
    printf("\n");
    for (int64_t i = 0; i < line.num; i++) {
      printf("%.10g", length * (double)i / (line.num - 1));
      for (CeedInt d = 0; d < dim; d++) printf(",%.10g", coordinate(&line, i, d));
      for (CeedInt c = 0; c < nc; c++)
        if (sums[i * (nc + 1) + nc] > 0)
          printf(",%.10g", sums[i * (nc + 1) + c]);
        else
          printf(",nan");
      printf("\n");
    }
  }
  free(sums);
  return ierr;
}

int solve_show_points(const Solve *s) {
  const SolveOptions *o = &s->options;
  RitzLocator locator = NULL;
  int ierr = CEED_ERROR_SUCCESS;

  if (o->probe.num + o->line.num == 0) return CEED_ERROR_SUCCESS;
  CLI_TRY(RitzLocatorCreate(s->mesh, -1, &locator));
  for (size_t i = 0; i < o->probe.num && !ierr; i++) ierr = show_probe(s, locator, o->probe.items[i]);
  for (size_t i = 0; i < o->line.num && !ierr; i++) ierr = show_line(s, locator, o->line.items[i]);
  RitzLocatorDestroy(&locator);
  return ierr;
}

// ---- Reactions ----

static bool gives_values(const Formula *f) { return f->role == ROLE_BC || f->role == ROLE_FIXED; }

// The number of the first formula that gives values on the same part.
static size_t first_of_part(const Solve *s, size_t i) {
  size_t first = 0;

  while (!gives_values(&s->formulas[first]) || strcmp(s->formulas[first].name, s->formulas[i].name) != 0)
    first++;
  return first;
}

// owner [size]: of entries that a part holds its first formula, the last part's where several do; else -1.
static int find_owners(const Solve *s, int64_t *owner) {
  const CeedInt nc = s->problem.num_comp;

  for (CeedSize i = 0; i < s->size; i++) owner[i] = -1;
  for (size_t i = 0; i < s->num_formulas; i++) {
    const Formula *f = &s->formulas[i];
    int64_t num = 0, *nodes = NULL;

    if (!gives_values(f)) continue;
    CLI_TRY(RitzSpaceGetBoundaryNodes(s->problem.space, f->name, &num, &nodes));
    for (int64_t k = 0; k < num * nc; k++) {
      if (f->component < 0 || f->component == k % nc)
        owner[nodes[k / nc] * nc + k % nc] = (int64_t)first_of_part(s, i);
    }
    free(nodes);
  }
  return CEED_ERROR_SUCCESS;
}

// sums [num_formulas][3]: of the residual over owned entries.
static int sum_residual(const Solve *s, CeedVector residual, const int64_t *owner, double *sums) {
  const CeedInt nc = s->problem.num_comp;
  const CeedScalar *r = NULL;
  CeedSize num_owned = s->size;

  if (s->problem.exchange) CLI_TRY(RitzExchangeGetNumOwned(s->problem.exchange, &num_owned));
  CLI_TRY(CeedVectorGetArrayRead(residual, CEED_MEM_HOST, &r));
  for (CeedSize i = 0; i < num_owned; i++) {
    if (owner[i] >= 0) sums[owner[i] * 3 + i % nc] += r[i];
  }
  CLI_TRY(CeedVectorRestoreArrayRead(residual, &r));
  return solve_reduce(s, RITZ_REDUCTION_SUM, (CeedInt)s->num_formulas * 3, sums);
}

static void show_reaction(const Solve *s, const char *label, const char *name, const double sum[3]) {
  char text[100] = "", shown[ARG_SHOWN];

  for (CeedInt c = 0; c < s->problem.num_comp; c++)
    snprintf(text + strlen(text), sizeof(text) - strlen(text), " %.10g", sum[c]);
  cli_fact(label, "%s%s on %s", s->problem.num_comp > 1 ? "force" : "flux", text, args_shown(name, shown));
}

static void show_reactions(const Solve *s, const double *sums) {
  const char *label = "reactions";
  double all[3] = {0};
  int num_parts = 0;

  for (size_t i = 0; i < s->num_formulas; i++) {
    if (!gives_values(&s->formulas[i]) || first_of_part(s, i) != i) continue;
    show_reaction(s, label, s->formulas[i].name, &sums[3 * i]);
    for (int c = 0; c < 3; c++) all[c] += sums[3 * i + c];
    label = NULL;
    num_parts++;
  }
  if (num_parts > 1) show_reaction(s, label, "these together", all);
}

int solve_check_reactions(const Solve *s) {
  if (!s->options.reactions || solve_has_role(s, ROLE_BC) || solve_has_role(s, ROLE_FIXED)) return CLI_OK;
  args_wrong(&solve_command, "--reactions", "no part has given values (--bc or --fixed)");
  return CLI_USAGE;
}

int solve_show_reactions(Solve *s, const ProblemOperator *op) {
  CeedVector residual = NULL;
  int64_t *owner = NULL;
  double *sums = NULL;
  int ierr;

  if (!s->options.reactions) return CEED_ERROR_SUCCESS;
  CLI_TRY_CLEANUP(cli_allocate(s->ceed, (size_t)s->size, sizeof(*owner), &owner));
  CLI_TRY_CLEANUP(cli_allocate(s->ceed, s->num_formulas * 3, sizeof(*sums), &sums));
  CLI_TRY_CLEANUP(CeedVectorCreate(s->ceed, s->size, &residual));
  CLI_TRY_CLEANUP(problem_apply(op, s->u, residual));
  CLI_TRY_CLEANUP(problem_share(&s->problem, s->u));
  CLI_TRY_CLEANUP(CeedVectorAXPY(residual, -1, s->rhs));
  CLI_TRY_CLEANUP(find_owners(s, owner));
  CLI_TRY_CLEANUP(sum_residual(s, residual, owner, sums));
  show_reactions(s, sums);
cleanup:
  CeedVectorDestroy(&residual);
  free(owner);
  free(sums);
  return ierr;
}
