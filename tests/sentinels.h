// SPDX-License-Identifier: BSD-2-Clause
// What the generated calls of tests/sentinel-calls and tests/test-sentinels.c share: a kit of valid objects
// that fit together, the places of a call that can be replaced, and the table of calls. Everything lives on
// one quadrilateral with 4 nodes and 4 points, so that nearly all vectors have 4 entries.
#ifndef RITZ_TESTS_SENTINELS_H
#define RITZ_TESTS_SENTINELS_H

#include <ceed.h>
#include <ceed/backend.h>
#include <ceed/cuda.h>
#include <ceed/hip.h>
#include <ceed/jit-tools-deprecated.h>
#include <ceed/jit-tools.h>
#include <ritz.h>
#include <stdbool.h>

enum { SENTINELS_NODES = 4, SENTINELS_MATRIX = 16, SENTINELS_MAX_SLOTS = 16 };

typedef struct {
  double a;
  int32_t b;
  bool c;
} SentinelsContext;

// All counted handles are owned.
typedef struct {
  Ceed ceed, ceed_copy;
  CeedMemType mem_type; // preferred
  CeedVector vec[3];    // of 4 entries; vec[2] is the passive field of op
  CeedVector coords;    // of 4 points
  CeedVector matrix;    // of 16 entries
  CeedVector floats;    // of 4 entries in float
  CeedVector work;      // lent from the pool
  CeedElemRestriction rstr, rstr_points, rstr_coords;
  CeedBasis basis;
  CeedQFunction qf, qf_new; // mass with a context; one whose fields are not fixed
  CeedQFunctionContext ctx, point_ctx;
  CeedQFunctionField qf_field;
  CeedContextFieldLabel label[3];                                     // double, int32, bool
  CeedOperator op, op_new, op_at_points, op_at_points_new, composite; // new: no field is set
  CeedOperator op_sums;                                               // its outputs are numbers at points
  CeedOperatorField op_field;
  CeedOperatorAssemblyData assembly;
  RitzMesh mesh, mesh_with_groups; // the second one: groups of cells that overlap, a group of points
  RitzLocator locator;
  RitzSpace space, space_with_layers; // of degree 1 and 2
  RitzSpace space_of_gradients;       // of space
  RitzMesh pair;                      // two elements, whose geometry and discontinuous space these are
  RitzGeometry pair_geometry;
  RitzSpace pair_space;
  RitzGeometry geometry;
  RitzFacets facets; // all
  RitzSolver solver;
  RitzIndices indices;   // of a side of the box: the first two entries
  RitzScalars scalars;   // one
  RitzNewton newton;     // of op and solver
  RitzPreconditioner pc; // Jacobi, of 4 entries
  RitzHierarchy hierarchy;
  RitzProductSpace product; // of space alone
  Ceed host;                // on which batched objects are, one of each operation, of empty matrices
  RitzBatched batched[RITZ_BATCHED_GESVDJ + 1];
  RitzDenseSolver dense;
  RitzBatchArray batch_array; // zeros
  RitzFront front;            // on the same context
  RitzAssembly csr;           // of op
  RitzHalo halo;              // borrowed from space, as is what follows: one part that is the whole
  RitzExchange exchange;
  RitzPartOperator part_op;
  RitzOperatorOptions options;
  RitzBoundaryOptions boundary_options;
  RitzFormField form_output, pair_output;
  RitzForm form, pair_form;
  RitzInteriorFacetOptions interior_options;
  RitzOutputField field;
  RitzBlock block;            // by pc
  int64_t *row_starts, *cols; // of op's matrix
  CeedScalar identity[4];
  char path[64], list_path[64], piece_path[64], series_path[64]; // of files that may be written
  FILE *sink;
} Kit;

// What argument i of a call points to, unless something is said: zeros.
typedef struct {
  _Alignas(64) char bytes[4096];
} Scratch;

// What replaces the valid handle in a slot; slot -1: nothing.
typedef struct {
  int slot;
  void *handle;
  bool is_address; // the address of the handle is NULL
  int32_t number;  // of a choice or a number
} Bad;

// Handle; address of a handle; other address that has to be there; other pointer: result, text, array; value
// of an enumeration; integer.
typedef enum { HANDLE, ADDRESS, ADDRESS_ONLY, PLAIN, CHOICE, NUMBER } SlotKind;

typedef struct {
  const char *name, *type; // of the parameter; type of the handle
  SlotKind kind;
} Slot;

typedef struct {
  const char *name;
  int (*call)(Kit *kit, Scratch *scratch, const Bad *bad);
  int num_slots;
  Slot slots[SENTINELS_MAX_SLOTS];
} Call;

typedef struct {
  const char *name, *type;
  void *const *handle;
} Sentinel;

// Generated.
extern const Call *const sentinels_calls;
extern const Sentinel *const sentinels_list;
extern const int sentinels_num_calls, sentinels_num_functions, sentinels_num;

// tests/test-sentinels.c
extern const RitzPointFunction sentinels_point_function;
extern const RitzFacetFunction sentinels_facet_function;
extern const RitzInteriorFacetFunction sentinels_interior_function;
extern const RitzFactor sentinels_factor;
extern const RitzFixedPart sentinels_fixed_part;
extern const CeedInt sentinels_point_offsets[2 + SENTINELS_NODES], sentinels_num_points[2], sentinels_ones[4];
extern const char *const sentinels_files[1];
extern const CeedScalar *const sentinels_tables[4];
extern const RitzMeshArrays sentinels_arrays;
extern const RitzTransport sentinels_transport; // of one part, to which nobody sends
int sentinels_part(void *ctx, const RitzTransport *transport);
int sentinels_known(void *ctx, const double *x, double *values, double *gradients); // zero
int sentinels_load(void *ctx, double load);
int sentinels_field(void *ctx, const double *x, double *values); // zero
int sentinels_part_level(void *ctx, CeedInt level, RitzSpace space, CeedOperator *inside, CeedOperator *seam);
int sentinels_level(void *ctx, CeedInt level, RitzSpace space, CeedOperator *op);
int sentinels_function(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out);
int sentinels_release(void *data);
int sentinels_apply(void *ctx, CeedVector x, CeedVector y);

#endif
