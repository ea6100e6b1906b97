// SPDX-License-Identifier: BSD-2-Clause
// The program ritz-bench: `ritz bench` runs it. Finds the benchmark that the arguments ask for.
#include <string.h>

#include "bench/bench.h"
#include "cli/cli.h"

static const struct {
  const char *option;
  int (*run)(int argc, char **argv);
} modes[] = {{"--multigrid", bench_multigrid}, {"--batched", bench_batched}, {"--routes", bench_routes}};

static int run_benchmark(int argc, char **argv) {
  if (argc > 1 && !strcmp(argv[1], "--version")) return cli_print_version();
  for (int i = 1; i < argc; i++) {
    for (size_t k = 0; k < sizeof(modes) / sizeof(modes[0]); k++) {
      if (!strcmp(argv[i], modes[k].option)) return modes[k].run(argc, argv);
    }
  }
  return bench_bake_off(argc, argv);
}

int main(int argc, char **argv) { return cli_main("ritz bench", run_benchmark, argc, argv); }
