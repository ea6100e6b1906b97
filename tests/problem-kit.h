// SPDX-License-Identifier: BSD-2-Clause
// Problems of the program `ritz solve` (cli/problem.h) and their vectors, for tests of these.
#ifndef RITZ_TESTS_PROBLEM_KIT_H
#define RITZ_TESTS_PROBLEM_KIT_H

#include "cli/problem.h"
#include "tests/tap.h"

// Fails the test, which goes on.
static inline void must(int code) { CHECK_OK(code); }

static inline Problem open_problem(Ceed ceed, RitzMesh mesh, const ProblemOptions *options) {
  Problem problem = {0};

  must(problem_create(ceed, mesh, options, &problem));
  return problem;
}

// An L-vector of zeros.
static inline CeedVector make_vector(const Problem *problem) {
  CeedVector vector = NULL;
  CeedSize size = 0;

  must(RitzSpaceGetSize(problem->space, &size));
  must(CeedVectorCreate(problem->ceed, size, &vector));
  must(CeedVectorSetValue(vector, 0));
  return vector;
}

#endif
