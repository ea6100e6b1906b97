// SPDX-License-Identifier: BSD-2-Clause
// Results of `ritz solve`: errors against the known solution, files for ParaView, the picture.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/picture.h"
#include "cli/solve.h"

int solve_show_errors(const Solve *s) {
  double l2 = 0, h1 = 0;

  CLI_TRY(problem_sine_errors(&s->problem, s->u, &l2, &h1));
  cli_fact("L2 error", "%.6e", l2);
  cli_fact("H1 error", "%.6e (seminorm)", h1);
  return CEED_ERROR_SUCCESS;
}

// u - exact at the nodes.
static int create_nodal_error(const Solve *s, CeedVector *error) {
  CLI_TRY(CeedVectorCreate(s->ceed, s->size, error));
  CLI_TRY(CeedVectorSetValue(*error, 0));
  CLI_TRY(problem_set_nodes(&s->problem, "--exact", problem_sine, &s->problem, -1, 0, NULL, *error));
  return CeedVectorAXPBY(*error, 1, -1, s->u);
}

static double length_of_displacement(const CeedScalar *u, CeedInt num_comp) {
  double sum = 0;

  for (CeedInt c = 0; c < num_comp; c++) sum += (double)u[c] * u[c];
  return sqrt(sum);
}

static double von_mises_of_node(const CeedScalar *stress, CeedInt num_comp) {
  double s[PROBLEM_STRESSES];

  for (CeedInt c = 0; c < num_comp; c++) s[c] = stress[c];
  return problem_von_mises(s);
}

// Shows the maximum of size_of over the nodes of all parts.
static int show_largest(const Solve *s, const char *label, const char *symbol, CeedInt num_comp,
                        double (*size_of)(const CeedScalar *at_node, CeedInt num_comp), CeedVector v) {
  const CeedScalar *array = NULL;
  CeedSize length = 0;
  double largest = 0;

  CLI_TRY(CeedVectorGetLength(v, &length));
  CLI_TRY(CeedVectorGetArrayRead(v, CEED_MEM_HOST, &array));
  for (CeedSize i = 0; i < length; i += num_comp) largest = fmax(largest, size_of(array + i, num_comp));
  CLI_TRY(CeedVectorRestoreArrayRead(v, &array));
  CLI_TRY(solve_reduce(s, RITZ_REDUCTION_MAX, 1, &largest));
  cli_fact(label, "%s %.6g at most", symbol, largest);
  return CEED_ERROR_SUCCESS;
}

// A RitzOutputFunction.
static void output_von_mises(const double *stress, double *values) { values[0] = problem_von_mises(stress); }

int solve_write_file(const Solve *s, const char *path) {
  const bool is_elasticity = problem_is_elastic((ProblemKind)s->options.problem);
  RitzOutputField fields[4] = {
      {.name = is_elasticity ? "displacement" : "u", .space = s->problem.space, .values = s->u}};
  CeedVector error = NULL, stress = NULL;
  RitzSpace tensors = NULL;
  CeedInt num = 1;
  int ierr = CEED_ERROR_SUCCESS;

  if (is_elasticity) {
    CLI_TRY_CLEANUP(problem_project_stress(&s->problem, s->u, &tensors, &stress));
    CLI_TRY_CLEANUP(show_largest(s, "displaced", "|u| =", s->problem.num_comp, length_of_displacement, s->u));
    CLI_TRY_CLEANUP(show_largest(s, "stress", "von Mises =", PROBLEM_STRESSES, von_mises_of_node, stress));
    fields[num++] = (RitzOutputField){.name = "stress", .space = tensors, .values = stress};
    fields[num++] = (RitzOutputField){.name = "von_mises",
                                      .space = tensors,
                                      .values = stress,
                                      .function = output_von_mises,
                                      .num_values = 1};
  }
  if (s->options.exact == EXACT_SINE) {
    CLI_TRY_CLEANUP(create_nodal_error(s, &error));
    fields[num++] = (RitzOutputField){.name = "error", .space = s->problem.space, .values = error};
  }
  CLI_TRY_CLEANUP((s->transport ? RitzWritePVTU : RitzWriteVTU)(s->mesh, num, fields, path));
cleanup:
  CeedVectorDestroy(&error);
  CeedVectorDestroy(&stress);
  RitzSpaceDestroy(&tensors);
  return ierr;
}

// ---- Picture ----

char *solve_file_of_picture(const char *picture) {
  const size_t length = strlen(picture), end = strlen(".png");
  const bool is_png = length > end && !strcmp(picture + length - end, ".png");
  char *path = is_png ? malloc(length + 1) : NULL;

  if (path) snprintf(path, length + 1, "%.*s.vtu", (int)(length - end), picture);
  return path;
}

int solve_check_picture(const Solve *s) {
  if (!s->options.picture || s->dim > 1) return CLI_OK;
  fprintf(cli_stderr(), "%s: --picture: lines are not drawn, found a mesh of dimension 1\n",
          solve_command.name);
  return CLI_USAGE;
}

static int draw(const Solve *s) {
  const char *output = s->options.output, *end = s->transport ? ".pvtu" : ".vtu";
  const size_t stem = strlen(output) - strlen(".vtu"), size = stem + 40;
  char *path = malloc(size), *written = NULL;

  if (!path) return cli_no_memory(solve_command.name);
  if (s->options.problem == PROBLEM_HEAT)
    snprintf(path, size, "%.*s-%04d%s", (int)stem, output, s->options.steps, end);
  else
    snprintf(path, size, "%.*s%s", (int)stem, output, end);
  const PictureOptions options = {.file = path, .output = s->options.picture};
  const int code = picture_draw(solve_command.name, &options, &written);

  if (written) cli_fact("picture", "%s", written);
  free(written);
  free(path);
  return code;
}

// All parts have written their pieces before the first one reads them.
int solve_draw(Solve *s) {
  if (!s->options.picture) return CLI_OK;
  CLI_TRY(solve_agree(s, CLI_OK));
  const int code = solve_is_first(s) ? draw(s) : CLI_OK;

  if (code) s->has_told = true;
  return solve_agree(s, code);
}
