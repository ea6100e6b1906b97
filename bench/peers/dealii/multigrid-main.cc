// SPDX-License-Identifier: BSD-2-Clause
// Command line of the deal.II peer for solvers (see multigrid.cc): arguments, MPI ranks for --threads,
// output. Called by hand and by bench/solve.
#include "multigrid.hh"
#include "process.hh"

#include <deal.II/base/config.h>
#include <deal.II/base/mpi.h>

#include <cmath>
#include <cstdio>
#include <cstring>
#include <exception>
#include <string>

namespace {

const char usage[] =
    "usage: dealii-multigrid --order P --cells N [--tol T] [--threads N] [--repetitions N]\n"
    "                        [--degree K] [--range R]\n"
    "Solves Poisson's equation on the unit cube, u a product of sines, with deal.II's matrix-free\n"
    "multigrid, and prints one line of JSON.\n"
    "  --cells        cells per direction (default 8), halved while even and more than 2\n"
    "  --tol          reduction of the residual to reach (default 1e-9)\n"
    "  --threads      cores: so many MPI ranks are started (default 1)\n"
    "  --repetitions  solves, the fastest counts (default 3)\n"
    "  --degree       steps of the Chebyshev smoother (default 5)\n"
    "  --range        ratio of the eigenvalues that it damps (default 15)\n"
    "Exit status: 0 done; 1 failed or not converged; 2 wrong usage.\n";

// Sets the option `name`; false: no such option, or not its kind of value.
bool set_option(const std::string &name, const char *text, Options *o, int *threads) {
  double value;

  if (name == "--tol") return parse_number(text, 1e-14, 0.5, &o->tolerance);
  if (name == "--range") return parse_number(text, 1.1, 1e4, &o->range);
  if (!parse_number(text, 1, 1024, &value) || value != std::floor(value)) return false;
  int *target = name == "--order"         ? &o->order
                : name == "--cells"       ? &o->cells
                : name == "--threads"     ? threads
                : name == "--repetitions" ? &o->repetitions
                : name == "--degree"      ? &o->degree
                                          : nullptr;
  if (target) *target = static_cast<int>(value);
  return target != nullptr;
}

bool parse(const int argc, char **argv, Options *o, int *threads) {
  for (int i = 1; i < argc; i += 2) {
    if (i + 1 < argc && set_option(argv[i], argv[i + 1], o, threads)) continue;
    std::fprintf(stderr, "dealii-multigrid: %s: no such option, or a wrong value\n%s", argv[i], usage);
    return false;
  }
  return true;
}

void print(const Options &o, const Result &r, const int num_ranks) {
  std::printf("{\"program\": \"deal.II\", \"version\": \"" DEAL_II_PACKAGE_VERSION "\", \"threads\": %d, "
              "\"lanes\": %d, \"order\": %d, \"cells\": %d, \"levels\": %d, \"dofs\": %lld, ",
              num_ranks, r.lanes, o.order, o.cells, r.levels, r.dofs);
  std::printf("\"degree\": %d, \"range\": %g, \"tol\": %g, \"iterations\": %d, \"residual\": %.3e, ",
              o.degree, o.range, o.tolerance, r.iterations, r.residual);
  std::printf(
      "\"mesh_seconds\": %.6f, \"setup_seconds\": %.6f, \"solve_seconds\": %.6f, \"l2_error\": %.6e}\n",
      r.mesh_seconds, r.setup_seconds, r.solve_seconds, r.l2_error);
}

// The function of the order, or null and a message.
Solver find_solver(const int order) {
  const auto entry = solvers().find(order);

  if (entry != solvers().end()) return entry->second;
  std::fprintf(stderr, "dealii-multigrid: order %d was not built, only", order);
  for (const auto &built : solvers()) std::fprintf(stderr, " %d", built.first);
  std::fprintf(stderr, "\n");
  return nullptr;
}

int run(const Options &o, Solver solver) {
  const int rank = dealii::Utilities::MPI::this_mpi_process(MPI_COMM_WORLD);
  const int num_ranks = dealii::Utilities::MPI::n_mpi_processes(MPI_COMM_WORLD);

  pin(rank, num_ranks);
  const Result result = solver(o);
  if (rank == 0) print(o, result, num_ranks);
  return 0;
}

} // namespace

std::map<int, Solver> &solvers() {
  static std::map<int, Solver> map;
  return map;
}

int main(int argc, char **argv) {
  Options options;
  int threads = 1;

  if (argc == 2 && (!std::strcmp(argv[1], "--help") || !std::strcmp(argv[1], "-h")))
    return std::fputs(usage, stdout) < 0;
  if (!parse(argc, argv, &options, &threads)) return 2;

  const Solver solver = find_solver(options.order);
  if (!solver) return 1;
  ask_for_large_pages(argv);
  if (threads > 1) {
    start_ranks(threads, argc, argv);
    return 1;
  }
  try {
    dealii::Utilities::MPI::MPI_InitFinalize mpi(argc, argv, 1);
    return run(options, solver);
  } catch (const std::exception &e) {
    std::fprintf(stderr, "dealii-multigrid: %s\n", e.what());
    return 1;
  }
}
