// SPDX-License-Identifier: BSD-2-Clause
// The program ritz-bench: `ritz bench` runs it. Finds the benchmark that the arguments ask for.
#include <string.h>

#include "bench/bench.h"
#include "cli/cli.h"
#include "cli/help.h"

static const CliCommand modes[] = {
    {"--multigrid", "solves by geometric multigrid", bench_multigrid, &multigrid_command},
    {"--batched", "batched dense algebra", bench_batched, &batched_command},
    {"--routes", "applies by every route that operators on devices have", bench_routes, &routes_command},
    {"without these", "applies of bake-off problems, solves with --nekbone", bench_bake_off,
     &bake_off_command},
};
enum { NUM_MODES = sizeof(modes) / sizeof(modes[0]) };

static const CliManual manual = {
    .name = "ritz-bench",
    .what = "time operators, solves and batched algebra of Ritz",
    .synopsis = "[--multigrid|--batched|--routes] [options]\n--version",
    .description = "Measures what Ritz does beside the limits of the machine. \"ritz bench\" runs this "
                   "program with the\n"
                   "same arguments.",
    .list = "BENCHMARKS",
    .num_commands = NUM_MODES,
    .commands = modes,
    .see_also = ".BR ritz (1)",
};

// That of the first word that names one, else the last one.
static const CliCommand *find_mode(int num, char **words) {
  for (int i = 0; i < num; i++)
    for (int k = 0; k < NUM_MODES; k++)
      if (!strcmp(words[i], modes[k].name)) return &modes[k];
  return &modes[NUM_MODES - 1];
}

static int run_benchmark(int argc, char **argv) {
  const CliCommand *mode = find_mode(argc - 1, argv + 1);

  if (argc > 1 && !strcmp(argv[1], "--version")) return cli_print_version();
  if (argc > 1 && !strcmp(argv[1], "--man")) return cli_print_manual(&manual);
  if (argc < 2 || strcmp(argv[1], "--complete")) return mode->run(argc, argv);
  if (argc > 2) args_complete(mode->args, argc - 2, argv + 2);
  return CLI_OK;
}

int main(int argc, char **argv) { return cli_main("ritz bench", run_benchmark, argc, argv); }
