// SPDX-License-Identifier: BSD-2-Clause
// Between the three parts of random operators (random-operator.c, random-space.c, random-assembly.c).
#ifndef RITZ_TESTS_RANDOM_SPACE_H
#define RITZ_TESTS_RANDOM_SPACE_H

#include "tests/random-operator.h"

// L-vectors are at most so long (in batches four times): the dense matrix has a column for each entry of the
// active input.
enum { RANDOM_MAX_L_SIZE = 400 };

// What is needed while an operator is drawn.
typedef struct {
  RandomOperator *r; // sizes have been drawn
  const RandomOptions *options;
  uint64_t *seed;
  uint64_t *mesh; // the same, unless there is a seed for it
} RandomDraw;

RandomDraw random_of_mesh(const RandomDraw *d); // draws from the seed of the mesh

int random_one_in(RandomDraw *d, int64_t n);                      // true once in n times
CeedInt random_between(RandomDraw *d, CeedInt low, CeedInt high); // low .. high
void *random_allocate(size_t n, size_t size);                     // zeros; never NULL

// A restriction to L-vectors of l_size entries (0: of any length), and a basis unless it is for fields of
// mode NONE. *s holds zeros before.
int random_space_draw(RandomDraw *d, CeedSize l_size, bool has_basis, RandomSpace *s);
void random_space_destroy(RandomSpace *s);

// Fills r->targets; what they held before is freed.
void random_operator_assemble(RandomOperator *r);

#endif
