// SPDX-License-Identifier: BSD-2-Clause
// `ritz info MESH`: what is in a mesh, its parts and regions. Called by cli/info.c.
#include "cli/info.h"
#include "cli/solve.h"
#include "cli/threads.h"

int cli_info_mesh(const ArgCommand *command, const char *mesh) {
  Solve s = {.command = command, .options = {.mesh = mesh, .merge = -1, .allow_cracks = true}, .device = -1};
  int code = threads_open(command, &(ThreadsChoice){.resource = "/cpu/self/gen"}, 0, &s.ceed, &s.num_threads);

  if (!code) code = solve_open_mesh(&s);
  if (!code && (solve_show_mesh(&s) || solve_show_regions(&s) || solve_show_cracks(&s)))
    code = cli_report(command->name, s.ceed);
  solve_clean_up(&s);
  return code;
}
