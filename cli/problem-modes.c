// SPDX-License-Identifier: BSD-2-Clause
// Functions of no energy: constants of -div k grad u, rigid body motions of elasticity. What the constraints
// leave of them is found by linear algebra, so it does not matter how a body is held.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/problem.h"

enum { MAX = PROBLEM_MAX_MODES };

// All modes at the nodes of a space, before constraints.
typedef struct {
  CeedInt num, num_comp, space_dim;
  int64_t num_nodes;
  double *x;              // owned: positions about their mean, the largest distance scaled to 1
  const int64_t *entries; // constrained, ascending; borrowed
  int64_t num_constraints;
} Modes;

// Component c of mode m at a node: translations, then rotations.
static double mode_value(const Modes *modes, CeedInt m, int64_t node, CeedInt c) {
  static const int planes[3][2] = {{0, 1}, {0, 2}, {1, 2}};
  const double *x = modes->x + node * modes->space_dim;

  if (m < modes->num_comp) return m == c;
  const int *plane = planes[m - modes->num_comp];
  return c == plane[0] ? -x[plane[1]] : c == plane[1] ? x[plane[0]] : 0;
}

static void normalize_positions(Modes *modes) {
  const CeedInt dim = modes->space_dim;
  double mean[3] = {0}, largest = 0;

  for (int64_t i = 0; i < modes->num_nodes * dim; i++)
    mean[i % dim] += modes->x[i] / (double)modes->num_nodes;
  for (int64_t i = 0; i < modes->num_nodes * dim; i++) {
    modes->x[i] -= mean[i % dim];
    largest = fmax(largest, fabs(modes->x[i]));
  }
  for (int64_t i = 0; i < modes->num_nodes * dim && largest > 0; i++) modes->x[i] /= largest;
}

// Adds the products of all modes at one entry.
static void add_products(const Modes *modes, int64_t entry, double gram[MAX][MAX]) {
  double values[MAX];

  for (CeedInt m = 0; m < modes->num; m++)
    values[m] = mode_value(modes, m, entry / modes->num_comp, (CeedInt)(entry % modes->num_comp));
  for (CeedInt m = 0; m < modes->num; m++) {
    for (CeedInt n = 0; n < modes->num; n++) gram[m][n] += values[m] * values[n];
  }
}

// ---- Small symmetric matrices ----

// Rotates rows and columns p, q of a (Jacobi's method), and columns of v, so that a[p][q] vanishes.
static void rotate(CeedInt n, double a[MAX][MAX], double v[MAX][MAX], CeedInt p, CeedInt q) {
  const double theta = (a[q][q] - a[p][p]) / (2 * a[p][q]);
  const double t = (theta < 0 ? -1 : 1) / (fabs(theta) + sqrt(theta * theta + 1));
  const double c = 1 / sqrt(t * t + 1), s = t * c;

  for (CeedInt k = 0; k < n; k++) {
    const double kp = a[k][p], kq = a[k][q], vp = v[k][p], vq = v[k][q];
    a[k][p] = c * kp - s * kq;
    a[k][q] = s * kp + c * kq;
    v[k][p] = c * vp - s * vq;
    v[k][q] = s * vp + c * vq;
  }
  for (CeedInt k = 0; k < n; k++) {
    const double pk = a[p][k], qk = a[q][k];
    a[p][k] = c * pk - s * qk;
    a[q][k] = s * pk + c * qk;
  }
}

// Eigenvectors of a in the columns of v, its eigenvalues on its diagonal.
static void diagonalize(CeedInt n, double a[MAX][MAX], double v[MAX][MAX]) {
  for (CeedInt i = 0; i < n; i++) {
    for (CeedInt j = 0; j < n; j++) v[i][j] = i == j;
  }
  for (int sweep = 0; sweep < 30; sweep++) {
    for (CeedInt p = 0; p < n; p++) {
      for (CeedInt q = p + 1; q < n; q++) {
        if (fabs(a[p][q]) > 1e-18 * sqrt(fabs(a[p][p] * a[q][q])) && a[p][q] != 0) rotate(n, a, v, p, q);
      }
    }
  }
}

// ---- Vectors ----

// A new vector: the modes times the weights, zero at constrained entries.
static int create_mode(Ceed ceed, const Modes *modes, const double weights[MAX], CeedVector *vector) {
  CeedScalar *array = NULL;
  double norm = 0;
  int64_t next = 0;

  CLI_TRY(CeedVectorCreate(ceed, modes->num_nodes * modes->num_comp, vector));
  CLI_TRY(CeedVectorGetArrayWrite(*vector, CEED_MEM_HOST, &array));
  for (int64_t i = 0; i < modes->num_nodes * modes->num_comp; i++) {
    double sum = 0;

    for (CeedInt m = 0; m < modes->num; m++)
      sum += weights[m] * mode_value(modes, m, i / modes->num_comp, (CeedInt)(i % modes->num_comp));
    if (next < modes->num_constraints && modes->entries[next] == i) {
      sum = 0;
      next++;
    }
    array[i] = (CeedScalar)sum;
    norm += sum * sum;
  }
  CLI_TRY(CeedVectorRestoreArray(*vector, &array));
  return CeedVectorScale(*vector, (CeedScalar)(1 / sqrt(norm)));
}

// In coordinates of orthonormal modes, those that vanish at the constraints are the eigenvectors of the value
// zero of their products there.
static int create_free_modes(Ceed ceed, const Modes *modes, CeedInt *num, CeedVector vectors[MAX]) {
  double all[MAX][MAX] = {{0}}, held[MAX][MAX] = {{0}}, basis[MAX][MAX], scaled[MAX][MAX] = {{0}},
         turned[MAX][MAX];

  for (int64_t i = 0; i < modes->num_nodes * modes->num_comp; i++) add_products(modes, i, all);
  for (int64_t i = 0; i < modes->num_constraints; i++) add_products(modes, modes->entries[i], held);
  diagonalize(modes->num, all, basis);
  for (CeedInt j = 0; j < modes->num; j++) {
    for (CeedInt i = 0; i < modes->num; i++) basis[i][j] /= sqrt(all[j][j]);
  }
  for (CeedInt a = 0; a < modes->num; a++) {
    for (CeedInt b = 0; b < modes->num; b++) {
      for (CeedInt i = 0; i < modes->num * modes->num; i++)
        scaled[a][b] +=
            basis[i / modes->num][a] * held[i / modes->num][i % modes->num] * basis[i % modes->num][b];
    }
  }
  diagonalize(modes->num, scaled, turned);
  *num = 0;
  for (CeedInt j = 0; j < modes->num; j++) {
    double weights[MAX] = {0};

    // A part of one node of so many is held by at least about 1 / nodes.
    if (scaled[j][j] > 1e-4 / (double)modes->num_nodes) continue;
    for (CeedInt m = 0; m < modes->num; m++) {
      for (CeedInt i = 0; i < modes->num; i++) weights[m] += basis[m][i] * turned[i][j];
    }
    CLI_TRY(create_mode(ceed, modes, weights, &vectors[(*num)++]));
  }
  return CEED_ERROR_SUCCESS;
}

// ---- Public ----

// An operator with a positive reaction has none.
static bool has_modes(const Problem *p) {
  bool reacts = false;

  if (p->options.kind == PROBLEM_POISSON || p->options.kind == PROBLEM_ELASTICITY) return true;
  if (p->options.kind != PROBLEM_HELMHOLTZ) return false;
  for (CeedInt i = 0; i < p->options.num_materials; i++) {
    const ProblemCoefficient *c = &p->options.materials[i].reaction;
    reacts |= c->function != NULL || c->value != 0;
  }
  return !reacts;
}

int problem_create_modes(const Problem *p, RitzSpace space, RitzIndices constraints, CeedInt *num,
                         CeedVector vectors[PROBLEM_MAX_MODES]) {
  Modes modes = {.num = 1, .num_comp = p->num_comp, .space_dim = p->space_dim};
  int ierr = CEED_ERROR_SUCCESS;

  *num = 0;
  if (!has_modes(p)) return CEED_ERROR_SUCCESS;
  if (p->options.kind == PROBLEM_ELASTICITY) modes.num = p->dim + p->dim * (p->dim - 1) / 2;
  if (constraints) CLI_TRY(RitzIndicesGet(constraints, &modes.num_constraints, &modes.entries));
  if (p->num_comp == 1 && modes.num_constraints) return CEED_ERROR_SUCCESS;
  CLI_TRY(RitzSpaceGetNumNodes(space, &modes.num_nodes));
  CLI_TRY(cli_allocate(p->ceed, (size_t)modes.num_nodes * (size_t)p->space_dim, sizeof(double), &modes.x));
  CLI_TRY_CLEANUP(RitzSpaceGetNodeCoordinates(space, modes.x));
  normalize_positions(&modes);
  CLI_TRY_CLEANUP(create_free_modes(p->ceed, &modes, num, vectors));
cleanup:
  free(modes.x);
  return ierr;
}
