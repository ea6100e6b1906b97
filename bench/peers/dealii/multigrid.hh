// SPDX-License-Identifier: BSD-2-Clause
// What multigrid-main.cc and multigrid.cc of the deal.II peer share: the problem and what was measured.
#ifndef RITZ_BENCH_PEERS_DEALII_MULTIGRID_HH
#define RITZ_BENCH_PEERS_DEALII_MULTIGRID_HH

#include <map>

struct Options {
  int order = 4, cells = 8; // cells per direction
  double tolerance = 1e-9;  // reduction of the residual
  int repetitions = 3;      // solves; the fastest counts
  int degree = 5;           // steps of the smoother
  double range = 15;        // the smoother damps [largest eigenvalue / range, largest eigenvalue]
};

struct Result {
  int levels, lanes, iterations;
  long long dofs;
  double mesh_seconds, setup_seconds,
      solve_seconds;         // mesh and numbering; the rest until the first step; one solve
  double residual, l2_error; // |b - A u| / |b|; against the exact solution
};

// multigrid.cc is compiled once per order; each of these objects enters its function here.
using Solver = Result (*)(const Options &);
std::map<int, Solver> &solvers();

#endif
