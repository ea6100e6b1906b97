// SPDX-License-Identifier: BSD-2-Clause
// Command line of the deal.II peer (see bp.cc): arguments, MPI ranks for --threads, the faster order of the
// elements, output. Called by hand and by bench/compare.
#include "bp.hh"
#include "process.hh"

#include <deal.II/base/config.h>
#include <deal.II/base/mpi.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <exception>
#include <string>

namespace {

const char usage[] =
    "usage: dealii --bp 1..6 --order P [--size DOFS] [--deform A] [--repetitions N] [--threads N]\n"
    "              [--cells lexicographic|morton|best] [--json]\n"
    "Times one apply of a bake-off problem with deal.II; the problem is that of `ritz bench`.\n"
    "  --size         wanted degrees of freedom; the nearest box is taken (default 1e5)\n"
    "  --deform       amplitude of a smooth displacement of the vertices (default 0)\n"
    "  --repetitions  measurements (default: at least 5 and half a second)\n"
    "  --threads      cores: so many MPI ranks are started (default 1)\n"
    "  --cells        order of the elements (default best: both, and the faster is reported)\n"
    "  --json         the object that `ritz bench --json -` writes\n"
    "Exit status: 0 done; 1 failed, or a check failed; 2 wrong usage.\n";

struct Arguments {
  Options options;
  int threads = 1;
  bool both_orders = true, json = false, help = false;
};

// Sets the option `name`; false: no such option, or not its kind of value.
bool set_option(const std::string &name, const std::string &text, Arguments *a) {
  double value;

  if (name == "--cells") {
    a->both_orders = text == "best";
    a->options.cells = text == "morton" ? Cells::morton : Cells::lexicographic;
    return a->both_orders || text == "morton" || text == "lexicographic";
  }
  if (name == "--deform") return parse_number(text.c_str(), -1, 1, &a->options.deform);
  if (name == "--size") return parse_number(text.c_str(), 1, 2147483647, &a->options.size);
  if (!parse_number(text.c_str(), 1, 1e6, &value) || value != std::floor(value)) return false;
  if (name == "--bp")
    a->options.bp = static_cast<int>(value);
  else if (name == "--order")
    a->options.order = static_cast<int>(value);
  else if (name == "--repetitions")
    a->options.repetitions = static_cast<int>(value);
  else if (name == "--threads")
    a->threads = static_cast<int>(value);
  else
    return false;
  return a->options.bp <= 6;
}

bool parse(const int argc, char **argv, Arguments *a) {
  for (int i = 1; i < argc; i++) {
    const std::string name = argv[i];

    if (name == "--json") {
      a->json = true;
    } else if (name == "--help" || name == "-h") {
      a->help = true;
    } else if (i + 1 == argc || !set_option(name, argv[i + 1], a)) {
      std::fprintf(stderr, "dealii: %s: no such option, or a wrong value\n%s", argv[i], usage);
      return false;
    } else {
      i++;
    }
  }
  return true;
}

// ---- Output ----

const char *name_of(const Cells cells) { return cells == Cells::morton ? "morton" : "lexicographic"; }

bool checks_hold(const Result &r) {
  return r.energy_error <= r.energy_tolerance &&
         (!r.has_linear_check || r.linear_error <= r.linear_tolerance);
}

void print_line(const Options &o, const Result &r, const int num_ranks) {
  std::printf("deal.II " DEAL_II_PACKAGE_VERSION
              ", %d lanes: BP%d p %d, %dx%dx%d elements, %lld DOF, %d core%s: "
              "%.2f MDOF/s (median %.2f), %s, energy %.12g, checks %s\n",
              r.lanes, o.bp, o.order, r.elements[0], r.elements[1], r.elements[2], r.dofs, num_ranks,
              num_ranks > 1 ? "s" : "", 1e-6 * r.dofs / r.seconds_min, 1e-6 * r.dofs / r.seconds_median,
              name_of(r.cells), r.energy, checks_hold(r) ? "ok" : "FAILED");
}

void print_json(const Options &o, const Result &r, const int num_ranks) {
  std::printf("{\n  \"program\": \"deal.II\",\n  \"version\": \"" DEAL_II_PACKAGE_VERSION "\",\n"
              "  \"scalar_bytes\": 8,\n  \"lanes\": %d,\n  \"threads\": %d,\n  \"results\": [\n",
              r.lanes, num_ranks);
  std::printf("    {\"bp\": %d, \"operator\": \"%s\", \"mode\": \"apply\", \"order\": %d", o.bp,
              o.bp <= 2 ? "mass" : "diffusion", o.order);
  std::printf(", \"elements\": [%d, %d, %d], \"components\": %d, \"points_1d\": %d, \"dofs\": %lld",
              r.elements[0], r.elements[1], r.elements[2], r.components, r.points_1d, r.dofs);
  std::printf(", \"deform\": %.17g, \"cells\": \"%s\", \"seconds_min\": %.17g, \"seconds_median\": %.17g",
              o.deform, name_of(r.cells), r.seconds_min, r.seconds_median);
  std::printf(", \"dofs_per_second\": %.17g, \"energy\": %.17g, \"checks_hold\": %s", r.dofs / r.seconds_min,
              r.energy, checks_hold(r) ? "true" : "false");
  std::printf(
      ", \"checks\": [{\"name\": \"energy of a smooth function\", \"error\": %.3g, \"tolerance\": %.3g}",
      r.energy_error, r.energy_tolerance);
  if (r.has_linear_check) {
    std::printf(", {\"name\": \"energy of a linear function\", \"error\": %.3g, \"tolerance\": %.3g}",
                r.linear_error, r.linear_tolerance);
  }
  std::printf("]}\n  ]\n}\n");
}

// Without a wanted order of the elements, the faster of two.
Result solve(Solver solver, const Arguments &a) {
  Options o = a.options;
  const Result result = solver(o);

  if (!a.both_orders || !checks_hold(result)) return result;
  o.cells = Cells::morton;
  const Result other = solver(o);
  return checks_hold(other) && other.seconds_min >= result.seconds_min ? result : other;
}

// The function of the order, or null and a message.
Solver find_solver(const int order) {
  const auto entry = solvers().find(order);

  if (entry != solvers().end()) return entry->second;
  std::fprintf(stderr, "dealii: order %d was not built, only", order);
  for (const auto &built : solvers()) std::fprintf(stderr, " %d", built.first);
  std::fprintf(stderr, "\n");
  return nullptr;
}

int run(const Arguments &a, Solver solver) {
  const int rank = dealii::Utilities::MPI::this_mpi_process(MPI_COMM_WORLD);
  const int num_ranks = dealii::Utilities::MPI::n_mpi_processes(MPI_COMM_WORLD);

  pin(rank, num_ranks);
  const Result result = solve(solver, a);
  if (rank == 0) (a.json ? print_json : print_line)(a.options, result, num_ranks);
  return checks_hold(result) ? 0 : 1;
}

} // namespace

std::map<int, Solver> &solvers() {
  static std::map<int, Solver> map;
  return map;
}

int main(int argc, char **argv) {
  Arguments arguments;

  if (!parse(argc, argv, &arguments)) return 2;
  if (arguments.help) return std::fputs(usage, stdout) < 0;

  const Solver solver = find_solver(arguments.options.order);
  if (!solver) return 1;
  ask_for_large_pages(argv);
  if (arguments.threads > 1) {
    start_ranks(arguments.threads, argc, argv);
    return 1;
  }
  try {
    dealii::Utilities::MPI::MPI_InitFinalize mpi(argc, argv, 1);
    return run(arguments, solver);
  } catch (const std::exception &e) {
    std::fprintf(stderr, "dealii: %s\n", e.what());
    return 1;
  }
}
