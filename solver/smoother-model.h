// SPDX-License-Identifier: BSD-2-Clause
// What is known of multigrid with each smoother before it runs: how many iterations it takes and what one
// costs, by degree and by the shape of the elements. Tables that were measured (doc/multigrid.md), read
// between their columns; no clock is looked at. Called by solver/smoother-choice.c.
#ifndef RITZ_SOLVER_SMOOTHER_MODEL_H
#define RITZ_SOLVER_SMOOTHER_MODEL_H

#include <ritz/multigrid.h>

#include "core/core.h"

// Shape of the elements, by the factors G = det J^-1 J^-T of the gradient (ritz/geometry.h) at points of at
// most some thousand elements that are spread over the mesh; c_d: mean of G_dd over an element.
typedef struct {
  CeedInt dim;
  bool has_directions; // all elements are quadrilaterals or hexahedra
  bool is_box;         // rectangular, with edges along the axes
  double aspect;       // largest sqrt(c_d / c_e) in an element: 1 for cubes
  double spread;       // largest ratio of two eigenvalues of G against diag(c) in an element: 1 for boxes
} RitzMeshQuality;

int ritz_mesh_quality(Ceed ceed, RitzMesh mesh, RitzMeshQuality *quality);
// has_directions alone.
int ritz_mesh_has_directions(RitzMesh mesh, bool *has_directions);

// What AUTO stands for where there are several components, which couple as a rule: bodies that bend are
// smoothed less easily than temperatures, so polynomials of this degree, on quadrilaterals and hexahedra over
// element-wise Schwarz methods from this degree of the space on, else over point blocks (doc/multigrid.md).
enum { RITZ_COUPLED_STEPS = 5, RITZ_COUPLED_SCHWARZ_DEGREE = 2 };

// Elements longer than that in one direction are told of.
static const double ritz_large_aspect = 8;

typedef struct {
  RitzSmootherKind kind;
  CeedInt steps;     // of the Chebyshev polynomial; PATCHES: 1
  double iterations; // of a flexible method to 1e-9
  double applies;    // an iteration's work on the finest level, in applies of its operator
  double seconds;    // an iteration by the clock; 0: not measured
} RitzSmootherCandidate;

enum { RITZ_MAX_CANDIDATES = 4 };

// *num: smoothers worth a thought for scalar diffusion of this degree on a mesh of this quality.
void ritz_smoother_candidates(const RitzMeshQuality *quality, CeedInt degree, bool is_device, int *num,
                              RitzSmootherCandidate candidates[RITZ_MAX_CANDIDATES]);

// How the smoother of RITZ_SMOOTHER_MEASURED was found.
typedef struct {
  int num, chosen; // num 0: nothing was to be chosen
  RitzSmootherCandidate candidates[RITZ_MAX_CANDIDATES];
  RitzMeshQuality quality;
  bool is_settled;  // nothing is to be tried
  const char *note; // static: what is no candidate, and why; NULL: nothing
} RitzSmootherChoice;

// Chooses among the candidates by the model for num_unknowns of a processor: the best one, or Jacobi's where
// it gains less than kernels of its own take (solver/smoother-choice.c).
void ritz_smoother_predict(bool is_device, double num_unknowns, RitzSmootherChoice *choice);
extern double ritz_smoother_min_gain_of_waiting; // unknowns times applies; tests lower it
// Leaves patches out that gain less than the kernel that a first sweep on a host waits for.
void ritz_smoother_drop_what_waits(double num_unknowns, RitzSmootherChoice *choice);
// A line, and a warning where elements are stretched.
void ritz_smoother_choice_view(const RitzSmootherChoice *choice, FILE *stream, int indent);
const char *ritz_smoother_kind_name(RitzSmootherKind kind); // "vertex patches"

#endif
