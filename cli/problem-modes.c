// SPDX-License-Identifier: BSD-2-Clause
// Functions of no energy: constants of -div k grad u, rigid body motions of elasticity, of axisymmetric
// bodies the one along the axis. What the constraints leave of them is found by linear algebra, so it does
// not matter how a body is held.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/problem.h"

enum { MAX = 6 }; // of one piece

// Elements that hang together by vertices. What is added up over nodes: all, and the constrained ones.
typedef struct {
  double num_nodes;
  double mean[3], largest;              // of positions; distance from the mean, in one direction
  double all[MAX][MAX], held[MAX][MAX]; // products of modes
} Piece;

// All modes at the nodes of a space, before constraints.
typedef struct {
  const Problem *problem;
  CeedInt num, num_comp, space_dim; // num: of each piece
  int64_t num_nodes, num_pieces;
  int64_t num_owned;      // nodes of this part that count; all but ghosts
  int64_t *piece_of;      // owned: [num_nodes]
  double *x;              // owned: positions about the mean of their piece, the largest distance scaled to 1
  Piece *pieces;          // owned
  const int64_t *entries; // constrained, ascending; borrowed
  int64_t num_constraints;
} Modes;

static int find_pieces_of_nodes(Ceed ceed, RitzSpace space, const int64_t *piece_of_elem, Modes *modes) {
  RitzMesh mesh = NULL;
  CeedInt num_blocks = 0;

  CLI_TRY(RitzSpaceGetMesh(space, &mesh));
  CLI_TRY(RitzMeshGetNumBlocks(mesh, &num_blocks));
  CLI_TRY(cli_allocate(ceed, (size_t)modes->num_nodes, sizeof(int64_t), &modes->piece_of));
  if (modes->num_pieces == 1) return CEED_ERROR_SUCCESS; // number 0
  for (CeedInt b = 0; b < num_blocks; b++) {
    int64_t first = 0, num_elem = 0;
    CeedInt num_local = 0;
    const int64_t *nodes = NULL;

    CLI_TRY(RitzMeshGetBlock(mesh, b, NULL, &first, &num_elem, NULL, NULL));
    CLI_TRY(RitzSpaceGetBlockNodes(space, b, &num_local, &nodes));
    for (int64_t i = 0; i < num_elem * num_local; i++)
      modes->piece_of[nodes[i]] = piece_of_elem[first + i / num_local];
  }
  return CEED_ERROR_SUCCESS;
}

static int find_means(Modes *modes) {
  const CeedInt dim = modes->space_dim;

  for (int64_t i = 0; i < modes->num_owned; i++) {
    Piece *piece = &modes->pieces[modes->piece_of[i]];
    piece->num_nodes++;
    for (CeedInt d = 0; d < dim; d++) piece->mean[d] += modes->x[i * dim + d];
  }
  for (int64_t k = 0; k < modes->num_pieces; k++) {
    Piece *piece = &modes->pieces[k];
    CLI_TRY(problem_reduce(modes->problem, RITZ_REDUCTION_SUM, 1, &piece->num_nodes));
    CLI_TRY(problem_reduce(modes->problem, RITZ_REDUCTION_SUM, dim, piece->mean));
    for (CeedInt d = 0; d < dim; d++) piece->mean[d] /= piece->num_nodes;
  }
  return CEED_ERROR_SUCCESS;
}

static int normalize_positions(Modes *modes) {
  const CeedInt dim = modes->space_dim;

  CLI_TRY(find_means(modes));
  for (int64_t i = 0; i < modes->num_nodes * dim; i++) {
    Piece *piece = &modes->pieces[modes->piece_of[i / dim]];
    modes->x[i] -= piece->mean[i % dim];
    piece->largest = fmax(piece->largest, fabs(modes->x[i]));
  }
  for (int64_t k = 0; k < modes->num_pieces; k++)
    CLI_TRY(problem_reduce(modes->problem, RITZ_REDUCTION_MAX, 1, &modes->pieces[k].largest));
  for (int64_t i = 0; i < modes->num_nodes * dim; i++) {
    const double largest = modes->pieces[modes->piece_of[i / dim]].largest;
    if (largest > 0) modes->x[i] /= largest;
  }
  return CEED_ERROR_SUCCESS;
}

// Component c of mode m at a node: translations, then rotations.
static double mode_value(const Modes *modes, CeedInt m, int64_t node, CeedInt c) {
  static const int planes[3][2] = {{0, 1}, {0, 2}, {1, 2}};
  const double *x = modes->x + node * modes->space_dim;

  if (modes->num == 1 && modes->num_comp > 1) return c == 1; // axisymmetric
  if (m < modes->num_comp) return m == c;
  const int *plane = planes[m - modes->num_comp];
  return c == plane[0] ? -x[plane[1]] : c == plane[1] ? x[plane[0]] : 0;
}

static Piece *piece_of_entry(const Modes *modes, int64_t entry) {
  return &modes->pieces[modes->piece_of[entry / modes->num_comp]];
}

// Adds the products of all modes at one entry, which is no ghost.
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

// A new vector: the modes of a piece times the weights, zero elsewhere, at constrained entries and ghosts.
static int create_mode(Ceed ceed, const Modes *modes, int64_t piece, const double weights[MAX],
                       CeedVector *vector) {
  CeedScalar *array = NULL;
  double norm = 0;
  int64_t next = 0;

  CLI_TRY(CeedVectorCreate(ceed, modes->num_nodes * modes->num_comp, vector));
  CLI_TRY(CeedVectorGetArrayWrite(*vector, CEED_MEM_HOST, &array));
  for (int64_t i = 0; i < modes->num_nodes * modes->num_comp; i++) {
    const int64_t node = i / modes->num_comp;
    const bool is_held = next < modes->num_constraints && modes->entries[next] == i;
    const bool counts = !is_held && node < modes->num_owned && modes->piece_of[node] == piece;
    double sum = 0;

    next += is_held;
    for (CeedInt m = 0; m < modes->num && counts; m++)
      sum += weights[m] * mode_value(modes, m, node, (CeedInt)(i % modes->num_comp));
    array[i] = (CeedScalar)sum;
    norm += sum * sum;
  }
  CLI_TRY(CeedVectorRestoreArray(*vector, &array));
  CLI_TRY(problem_reduce(modes->problem, RITZ_REDUCTION_SUM, 1, &norm));
  return CeedVectorScale(*vector, (CeedScalar)(1 / sqrt(norm)));
}

static int require_room(Ceed ceed, const Modes *modes, int64_t piece, const ProblemModes *free_modes) {
  const double *x = modes->pieces[piece].mean;

  if (free_modes->num < PROBLEM_MAX_MODES) return CEED_ERROR_SUCCESS;
  return CeedError(ceed, CEED_ERROR_UNSUPPORTED,
                   "the mesh has %lld pieces that share no vertex, and given values leave more than %d "
                   "motions or constants free, the most possible; the piece about (%g, %g, %g) needs some",
                   (long long)modes->num_pieces, PROBLEM_MAX_MODES, x[0], x[1], x[2]);
}

// Modes of a piece that vanish at its constraints: in coordinates of orthonormal modes the eigenvectors, for
// the value zero, of the products at the constraints. Overwrites the products.
static int create_free_modes(Ceed ceed, const Modes *modes, int64_t k, ProblemModes *free_modes) {
  Piece *piece = &modes->pieces[k];
  double basis[MAX][MAX], scaled[MAX][MAX] = {{0}}, turned[MAX][MAX];

  diagonalize(modes->num, piece->all, basis);
  for (CeedInt j = 0; j < modes->num; j++) {
    for (CeedInt i = 0; i < modes->num; i++) basis[i][j] /= sqrt(piece->all[j][j]);
  }
  for (CeedInt a = 0; a < modes->num; a++) {
    for (CeedInt b = 0; b < modes->num; b++) {
      for (CeedInt i = 0; i < modes->num * modes->num; i++)
        scaled[a][b] +=
            basis[i / modes->num][a] * piece->held[i / modes->num][i % modes->num] * basis[i % modes->num][b];
    }
  }
  diagonalize(modes->num, scaled, turned);
  for (CeedInt j = 0; j < modes->num; j++) {
    double weights[MAX] = {0};

    // A part of one node of so many is held by at least about 1 / nodes.
    if (scaled[j][j] > 1e-4 / piece->num_nodes) continue;
    for (CeedInt m = 0; m < modes->num; m++) {
      for (CeedInt i = 0; i < modes->num; i++) weights[m] += basis[m][i] * turned[i][j];
    }
    CLI_TRY(require_room(ceed, modes, k, free_modes));
    memcpy(free_modes->centre[free_modes->num], piece->mean, sizeof(piece->mean));
    CLI_TRY(create_mode(ceed, modes, k, weights, &free_modes->vectors[free_modes->num++]));
  }
  return CEED_ERROR_SUCCESS;
}

// Products of the modes, over all and over constrained entries, summed over all parts.
static int find_products(Modes *modes) {
  const int64_t num_owned = modes->num_owned * modes->num_comp;

  for (int64_t i = 0; i < num_owned; i++) add_products(modes, i, piece_of_entry(modes, i)->all);
  for (int64_t i = 0; i < modes->num_constraints && modes->entries[i] < num_owned; i++)
    add_products(modes, modes->entries[i], piece_of_entry(modes, modes->entries[i])->held);
  for (int64_t k = 0; k < modes->num_pieces; k++) {
    CLI_TRY(problem_reduce(modes->problem, RITZ_REDUCTION_SUM, MAX * MAX, modes->pieces[k].all[0]));
    CLI_TRY(problem_reduce(modes->problem, RITZ_REDUCTION_SUM, MAX * MAX, modes->pieces[k].held[0]));
  }
  return CEED_ERROR_SUCCESS;
}

static int create_modes_of_pieces(RitzSpace space, Modes *modes, ProblemModes *free_modes) {
  const Problem *p = modes->problem;

  CLI_TRY(cli_allocate(p->ceed, (size_t)modes->num_pieces, sizeof(Piece), &modes->pieces));
  CLI_TRY(cli_allocate(p->ceed, (size_t)modes->num_nodes * (size_t)p->space_dim, sizeof(double), &modes->x));
  CLI_TRY(RitzSpaceGetNodeCoordinates(space, modes->x));
  CLI_TRY(normalize_positions(modes));
  CLI_TRY(find_products(modes));
  for (int64_t k = 0; k < modes->num_pieces; k++) CLI_TRY(create_free_modes(p->ceed, modes, k, free_modes));
  return CEED_ERROR_SUCCESS;
}

// Pieces at nodes, those of the whole mesh, and which nodes count here.
static int find_nodes(RitzSpace space, const int64_t *piece_of_elem, Modes *modes) {
  const Problem *p = modes->problem;
  RitzHalo halo = NULL;

  CLI_TRY(find_pieces_of_nodes(p->ceed, space, piece_of_elem, modes));
  modes->num_owned = modes->num_nodes;
  if (!p->options.transport) return CEED_ERROR_SUCCESS;
  CLI_TRY(RitzSpaceGetHalo(space, &halo));
  CLI_TRY(RitzHaloGetSizes(halo, &modes->num_owned, NULL));
  return problem_join_pieces(p, space, &modes->num_pieces, modes->piece_of);
}

// Whether one value holds all there is: the constants of one piece. Pieces of parts are joined by then.
static bool is_held(const Modes *modes, double num_constraints) {
  return modes->num_comp == 1 && modes->num_pieces == 1 && num_constraints > 0;
}

static int create_modes(RitzSpace space, Modes *modes, ProblemModes *free_modes) {
  const Problem *p = modes->problem;
  double num_constraints = (double)modes->num_constraints;
  int64_t *piece_of_elem = NULL;
  RitzMesh mesh = NULL;

  CLI_TRY(RitzSpaceGetNumNodes(space, &modes->num_nodes));
  CLI_TRY(RitzSpaceGetMesh(space, &mesh));
  CLI_TRY(problem_find_pieces(p->ceed, mesh, &modes->num_pieces, &piece_of_elem));
  const bool wants_nodes = p->options.transport || !is_held(modes, num_constraints);
  const int ierr = wants_nodes ? find_nodes(space, piece_of_elem, modes) : CEED_ERROR_SUCCESS;

  free(piece_of_elem);
  CLI_TRY(ierr);
  free_modes->num_pieces = modes->num_pieces;
  CLI_TRY(problem_reduce(p, RITZ_REDUCTION_MAX, 1, &num_constraints));
  return is_held(modes, num_constraints) ? CEED_ERROR_SUCCESS
                                         : create_modes_of_pieces(space, modes, free_modes);
}

// ---- Public ----

// An operator with a positive reaction has none.
static bool has_modes(const Problem *p) {
  bool reacts = false;

  if (p->options.kind == PROBLEM_POISSON || problem_is_elastic(p->options.kind)) return true;
  if (p->options.kind != PROBLEM_HELMHOLTZ) return false;
  for (CeedInt i = 0; i < p->options.num_materials; i++) {
    const ProblemCoefficient *c = &p->options.materials[i].reaction;
    reacts |= c->function != NULL || c->value != 0;
  }
  return !reacts;
}

int problem_create_modes(const Problem *p, RitzSpace space, RitzIndices constraints,
                         ProblemModes *free_modes) {
  Modes modes = {.problem = p, .num = 1, .num_comp = p->num_comp, .space_dim = p->space_dim};

  *free_modes = (ProblemModes){0};
  if (!has_modes(p)) return CEED_ERROR_SUCCESS;
  if (problem_is_elastic(p->options.kind) && !p->options.is_axisymmetric)
    modes.num = p->dim + p->dim * (p->dim - 1) / 2;
  if (constraints) CLI_TRY(RitzIndicesGet(constraints, &modes.num_constraints, &modes.entries));
  const int ierr = create_modes(space, &modes, free_modes);

  if (ierr) problem_destroy_modes(free_modes);
  free(modes.piece_of);
  free(modes.pieces);
  free(modes.x);
  return ierr;
}

void problem_destroy_modes(ProblemModes *modes) {
  for (CeedInt i = 0; i < modes->num; i++) CeedVectorDestroy(&modes->vectors[i]);
  modes->num = 0;
}
