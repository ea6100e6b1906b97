// SPDX-License-Identifier: BSD-2-Clause
// Formulas of `ritz solve`: which options have them, parsing, checks against the mesh.
#define _POSIX_C_SOURCE 200809L

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "cli/solve.h"

// ---- Roles ----

enum {
  FOR_POISSON = 1,
  FOR_MASS = 2,
  FOR_HELMHOLTZ = 4,
  FOR_HEAT = 8,
  FOR_ELASTICITY = 16,
  FOR_HYPERELASTICITY = 32
};
enum { FOR_DIFFUSION = FOR_POISSON | FOR_HELMHOLTZ | FOR_HEAT, FOR_SCALARS = FOR_DIFFUSION | FOR_MASS };
enum { FOR_BODIES = FOR_ELASTICITY | FOR_HYPERELASTICITY };
typedef enum { NAME_NONE, NAME_PART, NAME_REGION } NameKind; // a region may be left out

static const struct {
  const char *option, *example;
  size_t offset; // of the ArgTexts
  int problems;
  NameKind name;
  bool is_vector, has_time, has_normal, has_unknown, is_number;
  int num_formulas; // 0: one, of vectors one for each direction
} roles[NUM_ROLES] = {
#define MEMBER(name) offsetof(SolveOptions, name)
    [ROLE_BC] = {"--bc", "base=100", MEMBER(bc), FOR_SCALARS | FOR_BODIES, NAME_PART, .is_vector = true,
                 .has_time = true},
    [ROLE_FIXED] = {"--fixed", "base", MEMBER(fixed), FOR_BODIES, NAME_PART, .is_vector = true},
    [ROLE_FLUX] = {"--flux", "fins=-10", MEMBER(flux), FOR_DIFFUSION, NAME_PART, .has_time = true,
                   .has_normal = true},
    [ROLE_ROBIN] = {"--robin", "fins=25,20", MEMBER(robin), FOR_DIFFUSION, NAME_PART, .has_time = true,
                    .has_normal = true, .num_formulas = 2},
    [ROLE_TRACTION] = {"--traction", "top=0,0,-1", MEMBER(traction), FOR_BODIES, NAME_PART, .is_vector = true,
                       .has_normal = true},
    [ROLE_PRESSURE] = {"--pressure", "inner=1e5", MEMBER(pressure), FOR_BODIES, NAME_PART,
                       .has_normal = true},
    [ROLE_SOURCE] = {"--source", "x*y", MEMBER(source), FOR_SCALARS, NAME_REGION, .has_time = true},
    [ROLE_FORCE] = {"--force", "0,0,-1", MEMBER(force), FOR_BODIES, NAME_REGION, .is_vector = true},
    [ROLE_COEFFICIENT] = {"--coefficient", "2", MEMBER(coefficient), FOR_DIFFUSION, NAME_REGION,
                          .has_unknown = true},
    [ROLE_CAPACITY] = {"--capacity", "2", MEMBER(capacity), FOR_HEAT, NAME_REGION, .is_number = false},
    [ROLE_YOUNG] = {"--young", "70e9", MEMBER(young), FOR_BODIES, NAME_REGION, .is_number = true},
    [ROLE_POISSON] = {"--poisson", "0.3", MEMBER(poisson), FOR_BODIES, NAME_REGION, .is_number = true},
    [ROLE_INITIAL] = {"--initial", "20", MEMBER(initial), FOR_HEAT, NAME_NONE, .is_number = false},
};

// "poisson, helmholtz and heat"
static void list_problems(int problems, char text[80]) {
  int left = 0, n = 0;

  for (int i = 0; i <= PROBLEM_HYPERELASTICITY; i++) left += problems >> i & 1;
  for (int i = 0; i <= PROBLEM_HYPERELASTICITY; i++) {
    if (!(problems >> i & 1)) continue;
    left--;
    n += snprintf(text + n, (size_t)(80 - n), "%s%s", solve_problem_name(i),
                  left > 1 ? ", "
                  : left   ? " and "
                           : "");
  }
}

static int check_role(const SolveOptions *o, SolveRole role) {
  char text[80];

  if (roles[role].problems >> o->problem & 1) return CLI_OK;
  list_problems(roles[role].problems, text);
  args_wrong(&solve_command, roles[role].option, "only for %s, not for %s", text,
             solve_problem_name(o->problem));
  return CLI_USAGE;
}

// ---- Parsing ----

enum { CONTEXT = 36 }; // characters shown before and after a fault

// Shows the part of the text around the fault and a caret below it. Bytes that continue a UTF-8 character
// take no place on the screen.
static void show_fault(const char *text, size_t column) {
  size_t begin = column > CONTEXT ? column - CONTEXT : 0, length = strlen(text);
  size_t end = length - column > CONTEXT ? column + CONTEXT : length, blanks = 0;

  while (begin > 0 && begin < column && ((unsigned char)text[begin] & 0xc0) == 0x80) begin++;
  while (end < length && ((unsigned char)text[end] & 0xc0) == 0x80) end++;
  fprintf(cli_stderr(), "    %s", begin ? "..." : "");
  for (size_t i = begin; i < end; i++) {
    unsigned char c = (unsigned char)text[i];
    fputc(c < 0x20 || c == 0x7f ? ' ' : c, cli_stderr());
    if (i < column && (c & 0xc0) != 0x80) blanks++;
  }
  fprintf(cli_stderr(), "%s\n    %*s^\n", end < length ? "..." : "", (int)(blanks + (begin ? 3 : 0)), "");
}

// The expression of `length` bytes at begin.
static int parse_expression(Formula *formula, const char *begin, size_t length) {
  char *text = strndup(begin, length);
  ExprError error;
  int ierr;

  if (!text) return cli_no_memory(solve_command.name);
  ierr = expr_parse(text, &formula->expr[formula->num], &error);
  if (!ierr) formula->num++;
  free(text);
  if (!ierr) return CLI_OK;
  const size_t column = (size_t)(begin - formula->text) + error.column;
  fprintf(cli_stderr(), "%s: %s: column %zu: %s\n", solve_command.name, formula->option, column + 1,
          error.message);
  show_fault(formula->text, column);
  fprintf(cli_stderr(), "Try '%s --help'.\n", solve_command.name);
  return CLI_USAGE;
}

// Up to the first comma that is in no parentheses, or the end.
static size_t length_of_expression(const char *text) {
  size_t length = 0;

  for (int open = 0; text[length] && (text[length] != ',' || open > 0); length++)
    open += (text[length] == '(') - (text[length] == ')');
  return length;
}

// One expression, or several between commas where the problem has vectors.
static int parse_expressions(Formula *formula, bool is_vector) {
  const char *c = formula->text;
  char shown[ARG_SHOWN];

  for (;;) {
    size_t length = is_vector ? length_of_expression(c) : strlen(c);

    if (formula->num == 3) {
      args_wrong(&solve_command, formula->option, "expected at most 3 formulas such as 0,0,-1, found '%s'",
                 args_shown(formula->text, shown));
      return CLI_USAGE;
    }
    CLI_TRY(parse_expression(formula, c, length));
    if (!c[length]) return CLI_OK;
    c += length + 1;
  }
}

// The name before *end, which is in quotation marks if it begins with one: "" stands for a mark there.
// Allocated; NULL: not enough memory.
static char *copy_name(const char *text, const char *end) {
  char *name = malloc((size_t)(end - text) + 1), *to = name;
  bool is_quoted = *text == '"';

  if (!name) return NULL;
  for (text += is_quoted; text < end; text++) {
    if (is_quoted && *text == '"' && *++text != '"') is_quoted = false;
    if (text < end) *to++ = *text;
  }
  *to = '\0';
  return name;
}

// Whether a '=' belongs to a comparison of the formula text.
static bool is_comparison(const char *text, const char *equals) {
  return equals[1] == '=' || (equals > text && strchr("<>=!", equals[-1]));
}

// Where the name ends: at the first '=' that is not in quotation marks nor, where the name may be left out,
// of a comparison (--fixed: at the end); NULL: there is none.
static const char *find_end_of_name(const char *text, SolveRole role) {
  const bool needs_name = roles[role].name == NAME_PART;
  bool is_quoted = false;

  for (const char *c = text; *c; c++) {
    if (*c == '"' && (*text == '"')) is_quoted = !is_quoted;
    if (*c == '=' && !is_quoted && role != ROLE_FIXED && (needs_name || !is_comparison(text, c))) return c;
  }
  return role == ROLE_FIXED && !is_quoted ? text + strlen(text) : NULL;
}

// Formulas of a role, in a space of so many dimensions.
static int count_formulas(const SolveOptions *o, SolveRole role, int dim) {
  return roles[role].num_formulas                                               ? roles[role].num_formulas
         : roles[role].is_vector && problem_is_elastic((ProblemKind)o->problem) ? dim
                                                                                : 1;
}

// --fixed: a name alone; others: NAME=EXPR, or EXPR where the name may be left out.
static int parse_formula(const SolveOptions *o, const char *text, Formula *formula) {
  const SolveRole role = formula->role;
  const char *equals = find_end_of_name(text, role);
  const bool needs_name = roles[role].name == NAME_PART;
  char shown[ARG_SHOWN];

  if (needs_name && (!equals || equals == text)) {
    args_wrong(&solve_command, formula->option, "expected NAME=EXPR such as %s, found '%s'",
               roles[role].example, args_shown(text, shown));
    return CLI_USAGE;
  }
  if (equals == text || (equals && roles[role].name == NAME_NONE)) {
    args_wrong(&solve_command, formula->option, "expected %s such as %s, found '%s'",
               roles[role].name == NAME_NONE ? "EXPR" : "EXPR or REGION=EXPR", roles[role].example,
               args_shown(text, shown));
    return CLI_USAGE;
  }
  if (equals) {
    formula->name = copy_name(text, equals);
    if (!formula->name) return cli_no_memory(solve_command.name);
    if (role == ROLE_FIXED) return CLI_OK;
    text = equals + 1;
  }
  formula->text = text;
  return parse_expressions(formula, count_formulas(o, role, 3) > 1);
}

static int parse_role(Solve *s, SolveRole role) {
  const ArgTexts *texts = (const ArgTexts *)((const char *)&s->options + roles[role].offset);

  if (texts->num) CLI_TRY(check_role(&s->options, role));
  for (size_t i = 0; i < texts->num; i++) {
    Formula *formula = &s->formulas[s->num_formulas++];

    *formula = (Formula){.role = role, .option = roles[role].option, .component = -1};
    CLI_TRY(parse_formula(&s->options, texts->items[i], formula));
  }
  return CLI_OK;
}

// Checks the variables of a formula, and the range of a number.
static int check_formula(const Solve *s, const Formula *formula) {
  const SolveRole role = formula->role;
  const double zeros[EXPR_NUM_VARIABLES] = {0};
  char shown[ARG_SHOWN];

  for (int i = 0; i < formula->num; i++) {
    const Expr *expr = formula->expr[i];
    const bool has_normal = expr_num_normals(expr) > 0;
    const bool is_constant =
        !expr_uses_time(expr) && !expr_num_coordinates(expr) && !has_normal && !expr_uses_unknown(expr);
    const double value = expr_value(expr, zeros);

    const bool is_alpha = role == ROLE_ROBIN && i == 0; // in the operator
    if (expr_uses_time(expr) && (s->options.problem != PROBLEM_HEAT || !roles[role].has_time || is_alpha)) {
      args_wrong(&solve_command, formula->option, "'t' is used, but %s",
                 s->options.problem != PROBLEM_HEAT ? "the problem does not depend on time"
                                                    : "this does not depend on time");
      return CLI_USAGE;
    }
    if (expr_uses_unknown(expr) && !roles[role].has_unknown) {
      args_wrong(&solve_command, formula->option, "'u' is used, which --coefficient has alone");
      return CLI_USAGE;
    }
    if (has_normal && !roles[role].has_normal) {
      args_wrong(&solve_command, formula->option,
                 "a normal is used, which --flux, --robin, --traction and --pressure have alone");
      return CLI_USAGE;
    }
    const bool is_positive =
        role == ROLE_COEFFICIENT || role == ROLE_CAPACITY || role == ROLE_YOUNG || is_alpha;
    const bool has_range = is_positive && is_constant;
    const bool is_number =
        roles[role].is_number || (role == ROLE_PRESSURE && s->options.problem == PROBLEM_HYPERELASTICITY);
    const char *expected =
        has_range && !(value > 0 && isfinite(value)) ? is_alpha ? "a positive alpha" : "a positive value"
        : is_number && !is_constant                  ? "a constant"
        : role == ROLE_POISSON && !(value > -1 && value < 0.5) ? "a value between -1 and 0.5"
                                                               : NULL;
    if (expected) {
      args_wrong(&solve_command, formula->option, "expected %s, found '%s'", expected,
                 args_shown(formula->text, shown));
      return CLI_USAGE;
    }
  }
  return CLI_OK;
}

// Whether Newton's method is needed, and the options that are for it.
static int check_nonlinear(Solve *s) {
  const SolveOptions *o = &s->options;

  s->is_nonlinear = o->problem == PROBLEM_HYPERELASTICITY;
  for (size_t i = 0; i < s->num_formulas; i++)
    s->is_nonlinear |= s->formulas[i].num > 0 && expr_uses_unknown(s->formulas[i].expr[0]);
  if (!s->is_nonlinear && (o->load_steps || o->newton_it)) {
    args_wrong(&solve_command, o->load_steps ? "--load-steps" : "--newton-it",
               "only with --problem hyperelasticity, or u in --coefficient");
    return CLI_USAGE;
  }
  if (o->restart && !s->is_nonlinear && o->problem != PROBLEM_HEAT) {
    args_wrong(&solve_command, "--restart",
               "only with --problem heat, hyperelasticity, or u in --coefficient");
    return CLI_USAGE;
  }
  if (o->problem == PROBLEM_HEAT && o->load_steps) {
    args_wrong(&solve_command, "--load-steps", "not with --problem heat, whose steps are those of time");
    return CLI_USAGE;
  }
  return CLI_OK;
}

int solve_parse_formulas(Solve *s) {
  size_t num = 0;

  for (int role = 0; role < NUM_ROLES; role++)
    num += ((const ArgTexts *)((const char *)&s->options + roles[role].offset))->num;
  s->formulas = calloc(num + 1, sizeof(*s->formulas));
  if (!s->formulas) return cli_no_memory(solve_command.name);
  for (int role = 0; role < NUM_ROLES; role++) CLI_TRY(parse_role(s, (SolveRole)role));
  for (size_t i = 0; i < s->num_formulas; i++) CLI_TRY(check_formula(s, &s->formulas[i]));
  return check_nonlinear(s);
}

void solve_free_formulas(Solve *s) {
  for (size_t i = 0; i < s->num_formulas; i++) {
    for (int k = 0; k < 3; k++) expr_free(&s->formulas[i].expr[k]);
    free(s->formulas[i].name);
  }
  free(s->formulas);
}

// ---- Use ----

bool solve_has_role(const Solve *s, SolveRole role) {
  for (size_t i = 0; i < s->num_formulas; i++) {
    if (s->formulas[i].role == role) return true;
  }
  return false;
}

bool solve_depends_on_time(const Solve *s, SolveRole role) {
  for (size_t i = 0; i < s->num_formulas; i++) {
    const Formula *f = &s->formulas[i];
    for (int k = 0; f->role == role && k < f->num; k++) {
      if (expr_uses_time(f->expr[k])) return true;
    }
  }
  return false;
}

// Whether elements of this number (RitzMeshGetElementRegions) are in a region.
static bool is_in_region(const Solve *s, int32_t number, int32_t region) {
  CeedInt num_overlaps = 0, num = 0;
  const int32_t *regions = NULL;

  if (number >= 0 || RitzMeshGetNumOverlaps(s->mesh, &num_overlaps) || number < -num_overlaps)
    return number == region;
  if (RitzMeshGetOverlap(s->mesh, -1 - number, &num, &regions)) return false;
  for (CeedInt i = 0; i < num; i++) {
    if (regions[i] == region) return true;
  }
  return false;
}

const Formula *solve_find_formula(const Solve *s, SolveRole role, int32_t number) {
  const Formula *found = NULL;

  for (size_t i = 0; i < s->num_formulas; i++) {
    const Formula *f = &s->formulas[i];
    if (f->role == role && (!f->name || is_in_region(s, number, f->region))) found = f;
  }
  return found;
}

double solve_formula_value(const void *ctx, const ProblemPoint *point, CeedInt component) {
  const Formula *formula = ctx;

  return component < formula->num ? expr_value(formula->expr[component], point->x) : 0;
}

// ---- Checks against the mesh ----

// Lists the boundary parts of the mesh on stderr: "xmin, xmax, all".
static void list_parts(const Solve *s) {
  CeedInt num = 0;
  const char *name = NULL;
  bool has_all = false;

  RitzMeshGetNumBoundaryParts(s->mesh, &num);
  for (CeedInt i = 0; i < num && !RitzMeshGetBoundaryPartName(s->mesh, i, &name); i++) {
    fprintf(cli_stderr(), "%s%s", i ? ", " : "", name);
    has_all = has_all || !strcmp(name, "all");
  }
  if (!has_all) fprintf(cli_stderr(), "%sall", num ? ", " : "");
}

// A group of the file that has this name, but cannot be used.
static void tell_unused(const Solve *s, const char *wanted) {
  for (CeedInt dim = 0; dim < s->dim - 1; dim++) {
    CeedInt num = 0;
    const char *name = NULL;

    RitzMeshGetNumUnusedGroups(s->mesh, dim, &num);
    for (CeedInt i = 0; i < num && !RitzMeshGetUnusedGroup(s->mesh, dim, i, &name); i++) {
      if (strcmp(name, wanted) != 0) continue;
      fprintf(cli_stderr(), "; '%s' is a group of %s, but conditions are for %s", wanted,
              dim ? "curves" : "points", s->dim == 3 ? "surfaces" : "curves");
      return;
    }
  }
}

static bool is_part(const Solve *s, const char *part) {
  CeedInt num = 0;
  const char *name = NULL;
  bool known = !strcmp(part, "all");

  RitzMeshGetNumBoundaryParts(s->mesh, &num);
  for (CeedInt i = 0; i < num && !known; i++)
    known = !RitzMeshGetBoundaryPartName(s->mesh, i, &name) && !strcmp(part, name);
  return known;
}

// Of a name that is no part, the end ".x", ".y" or ".z" is a direction of --fixed.
static void split_direction(const Solve *s, Formula *formula) {
  char *point = strrchr(formula->name, '.');

  if (formula->role != ROLE_FIXED || !point || strlen(point) != 2 || is_part(s, formula->name)) return;
  const int component = point[1] - 'x';
  if (component < 0 || component >= s->dim) return;
  formula->component = component;
  *point = '\0';
}

// A condition on nothing is none.
static int check_has_facets(const Solve *s, const Formula *formula) {
  int64_t num = 0, num_all = 0;
  char shown[ARG_SHOWN];

  if (RitzMeshGetBoundaryPart(s->mesh, formula->name, &num, NULL, NULL))
    return cli_report(solve_command.name, s->ceed);
  if (num > 0) return CLI_OK;
  if (RitzMeshGetBoundaryPart(s->mesh, "all", &num_all, NULL, NULL))
    return cli_report(solve_command.name, s->ceed);
  fprintf(cli_stderr(), "%s: %s: the boundary part '%s' has no facets; ", solve_command.name, formula->option,
          args_shown(formula->name, shown));
  if (num_all > 0) {
    fprintf(cli_stderr(), "the mesh's parts are: ");
    list_parts(s);
  } else {
    fprintf(cli_stderr(), "the mesh has no boundary%s%s", s->dim < s->space_dim ? ": " : "",
            s->dim < s->space_dim ? solve_explain_surface(s) : "");
  }
  fprintf(cli_stderr(), "\n");
  return CLI_USAGE;
}

static int check_part(const Solve *s, Formula *formula) {
  char shown[ARG_SHOWN];

  split_direction(s, formula);
  if (is_part(s, formula->name)) return check_has_facets(s, formula);
  fprintf(cli_stderr(), "%s: %s: the mesh has no boundary part '%s'; its parts are: ", solve_command.name,
          formula->option, args_shown(formula->name, shown));
  list_parts(s);
  tell_unused(s, formula->name);
  fprintf(cli_stderr(), "\n");
  return CLI_USAGE;
}

// Whether any element is in the region.
static bool has_elements(const Solve *s, int32_t region) {
  const int32_t *numbers = NULL;
  int64_t num_elem = 0;

  RitzMeshGetNumElements(s->mesh, &num_elem);
  RitzMeshGetElementRegions(s->mesh, &numbers);
  for (int64_t e = 0; e < num_elem; e++) {
    if (is_in_region(s, numbers[e], region)) return true;
  }
  return false;
}

static int check_region(const Solve *s, Formula *formula) {
  CeedInt num = 0;
  const char *name = NULL;
  char shown[ARG_SHOWN];
  bool is_empty = false;

  RitzMeshGetNumRegions(s->mesh, &num);
  for (CeedInt i = 0; i < num; i++) {
    if (RitzMeshGetRegion(s->mesh, i, &name, &formula->region) || strcmp(name, formula->name) != 0) continue;
    if (has_elements(s, formula->region)) return CLI_OK;
    is_empty = true;
  }
  fprintf(cli_stderr(), "%s: %s: the mesh has no %s '%s'; its regions are: ", solve_command.name,
          formula->option, is_empty ? "elements in region" : "region", args_shown(formula->name, shown));
  for (CeedInt i = 0; i < num && !RitzMeshGetRegion(s->mesh, i, &name, NULL); i++)
    fprintf(cli_stderr(), "%s%s", i ? ", " : "", name);
  fprintf(cli_stderr(), "\n");
  return CLI_USAGE;
}

static int check_coordinates(const Solve *s, const Formula *formula) {
  static const char *const names[2][3] = {{"x", "y", "z"}, {"nx", "ny", "nz"}};

  for (int i = 0; i < formula->num; i++) {
    const int normals = expr_num_normals(formula->expr[i]),
              positions = expr_num_coordinates(formula->expr[i]);
    const int needed = positions > normals ? positions : normals;

    if (normals && s->dim < s->space_dim) {
      args_wrong(&solve_command, formula->option, "a normal is used, but this mesh has %dD elements in %dD",
                 (int)s->dim, (int)s->space_dim);
      return CLI_USAGE;
    }
    if (needed <= s->space_dim) continue;
    args_wrong(&solve_command, formula->option,
               "'%s' is used, but the mesh has only %" CeedInt_FMT " coordinate%s",
               names[positions < needed][needed - 1], s->space_dim, s->space_dim > 1 ? "s" : "");
    return CLI_USAGE;
  }
  return CLI_OK;
}

static int check_components(const Solve *s, const Formula *formula) {
  const int needed = count_formulas(&s->options, formula->role, s->dim);
  char shown[ARG_SHOWN];

  if (formula->role == ROLE_FIXED || formula->num == needed) return CLI_OK;
  if (formula->role == ROLE_ROBIN) {
    args_wrong(&solve_command, formula->option, "expected NAME=ALPHA,VALUE such as %s, found '%s'",
               roles[ROLE_ROBIN].example, args_shown(formula->text, shown));
    return CLI_USAGE;
  }
  args_wrong(&solve_command, formula->option,
             "expected %d formulas such as %s, one for each direction, found '%s'", needed,
             needed == 3 ? "0,0,-1" : "0,-1", args_shown(formula->text, shown));
  return CLI_USAGE;
}

static bool has_own_all(const Solve *s) {
  CeedInt num = 0;
  const char *name = NULL;

  RitzMeshGetNumBoundaryParts(s->mesh, &num);
  for (CeedInt i = 0; i < num && !RitzMeshGetBoundaryPartName(s->mesh, i, &name); i++) {
    if (!strcmp(name, "all")) return true;
  }
  return false;
}

// Problems that some meshes do not have.
static int check_mesh(const Solve *s) {
  const bool fills = s->space_dim == s->dim;
  const SolveOptions *o = &s->options;
  const bool is_body = problem_is_elastic((ProblemKind)o->problem);
  char name[40] = "";

  if (o->exact != EXACT_NONE && has_own_all(s)) {
    args_wrong(&solve_command, "--exact",
               "sets values on all of the boundary, but the file calls a part of it 'all'");
    return CLI_USAGE;
  }
  if (o->plane != CHOICE_AUTO && s->dim != 2) {
    args_wrong(&solve_command, "--plane", "only for meshes of the plane, found a mesh of dimension %d",
               (int)s->dim);
    return CLI_USAGE;
  }
  if (o->axisymmetric && s->space_dim != 2) {
    args_wrong(&solve_command, "--axisymmetric", "only for meshes in the plane, found one in %dD",
               (int)s->space_dim);
    return CLI_USAGE;
  }
  if (!fills && s->is_nonlinear && !is_body) {
    args_wrong(&solve_command, "--coefficient",
               "u in it needs a mesh that fills its space, this one has %" CeedInt_FMT
               "D elements in %" CeedInt_FMT "D",
               s->dim, s->space_dim);
    return CLI_USAGE;
  }
  if (fills && !(is_body && s->dim == 1)) return CLI_OK;
  if (o->exact == EXACT_NONE && !is_body) return CLI_OK;
  if (is_body) snprintf(name, sizeof(name), "%s ", solve_problem_name(o->problem));
  args_wrong(&solve_command, is_body ? "--problem" : "--exact",
             "%sneeds a mesh that fills %s, this one has %" CeedInt_FMT "D elements in %" CeedInt_FMT "D",
             name, is_body ? "the plane or space" : "its space", s->dim, s->space_dim);
  return CLI_USAGE;
}

// ---- What there is to solve ----

// Problems are linear: without data (--fixed has none) the solution is zero.
static int check_data(const Solve *s) {
  static const SolveRole data[] = {ROLE_BC,       ROLE_FLUX,   ROLE_ROBIN, ROLE_TRACTION,
                                   ROLE_PRESSURE, ROLE_SOURCE, ROLE_FORCE, ROLE_INITIAL};
  static const char *const hints[] = {
      [PROBLEM_POISSON] = "a source (--source 1), values (--bc NAME=1) or a flux (--flux NAME=1)",
      [PROBLEM_MASS] = "a source (--source 1) or values (--bc NAME=1)",
      [PROBLEM_HELMHOLTZ] = "a source (--source 1), values (--bc NAME=1) or a flux (--flux NAME=1)",
      [PROBLEM_HEAT] =
          ("values at time 0 (--initial 1), a source (--source 1), values (--bc NAME=1) or a flux "
           "(--flux NAME=1)"),
      [PROBLEM_ELASTICITY] = "a force (--force), a traction (--traction) or displacements (--bc)",
      [PROBLEM_HYPERELASTICITY] = "a force (--force), a traction (--traction) or displacements (--bc)"};

  if (s->options.exact == EXACT_SINE || s->options.restart) return CLI_OK;
  for (size_t k = 0; k < sizeof(data) / sizeof(data[0]); k++) {
    if (solve_has_role(s, data[k])) return CLI_OK;
  }
  args_wrong(&solve_command, NULL,
             "nothing to solve: f = 0 without values or fluxes has the solution u = 0; give %s%s",
             hints[s->options.problem],
             s->options.problem == PROBLEM_HYPERELASTICITY ? "" : ", or --exact sine");
  return CLI_USAGE;
}

// Whether a translation by `shift` leaves the product of sin(pi x_d) alone: an even number of changes of
// sign.
static bool is_period_of_sine(CeedInt space_dim, const double *shift) {
  long long sum = 0;

  for (CeedInt d = 0; d < space_dim; d++) {
    if (fabs(shift[d] - round(shift[d])) > 1e-6) return false; // as files give coordinates
    sum += llround(shift[d]);
  }
  return sum % 2 == 0;
}

// Elements that share a node may be apart, in a periodic mesh. positions: those of the nodes of `space`,
// whose degree is that of the geometry.
static int check_block_periods(const Solve *s, RitzSpace space, CeedInt block, const double *positions) {
  const int64_t *nodes = NULL;
  const double *x = NULL;
  int64_t num_elem = 0;
  CeedInt num_nodes = 0;

  CLI_TRY(RitzSpaceGetBlockNodes(space, block, &num_nodes, &nodes));
  CLI_TRY(RitzMeshGetBlock(s->mesh, block, NULL, NULL, &num_elem, NULL, &x));
  for (int64_t i = 0; i < num_elem * num_nodes; i++) {
    double shift[3] = {0};

    for (CeedInt d = 0; d < s->space_dim; d++)
      shift[d] = fabs(x[i * s->space_dim + d] - positions[nodes[i] * s->space_dim + d]);
    if (is_period_of_sine(s->space_dim, shift)) continue;
    return CeedError(s->ceed, CEED_ERROR_INCOMPATIBLE,
                     "--exact: the mesh is periodic by (%g, %g, %g), sin(pi x_d) needs a period of 2",
                     shift[0], shift[1], shift[2]);
  }
  return CEED_ERROR_SUCCESS;
}

// The nodes of the mesh's map as those of a space; both are the caller's, also after a failure. Ceed code.
static int create_positions(const Solve *s, RitzSpace *space, int64_t *num_nodes, double **positions) {
  CeedInt order = 0;

  CLI_TRY(RitzMeshGetGeometryOrder(s->mesh, &order));
  CLI_TRY(RitzSpaceCreate(s->mesh, order, 1, space));
  CLI_TRY(RitzSpaceGetNumNodes(*space, num_nodes));
  CLI_TRY(cli_allocate(s->ceed, (size_t)*num_nodes * (size_t)s->space_dim, sizeof(**positions), positions));
  return RitzSpaceGetNodeCoordinates(*space, *positions);
}

// That no part of a body of revolution is beyond its axis, to the library's tolerance. Ceed code.
static int check_axis(const Solve *s) {
  RitzSpace space = NULL;
  double *x = NULL, largest = 0;
  int64_t num_nodes = 0, least = 0;
  int ierr = create_positions(s, &space, &num_nodes, &x);

  for (int64_t i = 0; i < num_nodes && !ierr; i++) {
    largest = fmax(largest, fabs(x[2 * i]));
    if (x[2 * i] < x[2 * least]) least = i;
  }
  if (!ierr && x[2 * least] < -1e-10 * largest)
    ierr = CeedError(s->ceed, CEED_ERROR_INCOMPATIBLE,
                     "--axisymmetric: the mesh needs x >= 0, found a node at (%g, %g)", x[2 * least],
                     x[2 * least + 1]);
  free(x);
  RitzSpaceDestroy(&space);
  return ierr;
}

// Boxes have no periods. Ceed code.
static int check_periods(const Solve *s) {
  RitzSpace space = NULL;
  double *positions = NULL;
  CeedInt num_blocks = 0;
  int64_t num_nodes = 0;
  int ierr;

  if (!strncmp(s->options.mesh, "box:", 4)) return CEED_ERROR_SUCCESS;
  CLI_TRY_CLEANUP(create_positions(s, &space, &num_nodes, &positions));
  CLI_TRY_CLEANUP(RitzMeshGetNumBlocks(s->mesh, &num_blocks));
  for (CeedInt b = 0; b < num_blocks; b++) CLI_TRY_CLEANUP(check_block_periods(s, space, b, positions));
cleanup:
  free(positions);
  RitzSpaceDestroy(&space);
  return ierr;
}

int solve_check_formulas(Solve *s) {
  for (size_t i = 0; i < s->num_formulas; i++) {
    Formula *formula = &s->formulas[i];

    if (formula->name)
      CLI_TRY((roles[formula->role].name == NAME_PART ? check_part : check_region)(s, formula));
    CLI_TRY(check_coordinates(s, formula));
    CLI_TRY(check_components(s, formula));
  }
  CLI_TRY(check_mesh(s));
  CLI_TRY(check_data(s));
  if ((s->options.axisymmetric && check_axis(s)) || (s->options.exact == EXACT_SINE && check_periods(s)))
    return cli_report(solve_command.name, s->ceed);
  return CLI_OK;
}
