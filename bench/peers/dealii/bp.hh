// SPDX-License-Identifier: BSD-2-Clause
// What main.cc and bp.cc of the deal.II peer share: the problem that is asked for and what was measured.
#ifndef RITZ_BENCH_PEERS_DEALII_BP_HH
#define RITZ_BENCH_PEERS_DEALII_BP_HH

#include <map>

enum class Cells { lexicographic, morton };

struct Options {
  int bp = 3, order = 4;
  double size = 1e5;   // wanted degrees of freedom; the box that `ritz bench` takes is taken
  double deform = 0;   // amplitude of the displacement of the vertices
  int repetitions = 0; // 0: at least 5 and half a second
  Cells cells = Cells::lexicographic;
};

struct Result {
  Cells cells;
  int elements[3], components, points_1d, lanes;
  long long dofs;
  double seconds_min, seconds_median;            // per apply
  double energy, energy_error, energy_tolerance; // u.Au of a smooth u; relative error
  bool has_linear_check;                         // u.Au of a linear u, exact where the quadrature is
  double linear_error, linear_tolerance;
};

// bp.cc is compiled once per order; each of these objects enters its function here.
using Solver = Result (*)(const Options &);
std::map<int, Solver> &solvers();

#endif
