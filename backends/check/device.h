// SPDX-License-Identifier: BSD-2-Clause
// The device that `/cpu/self/check:mem=device` plays: memory of its own beside the host's, the layouts of
// GPUs (doc/ceed-api.md, Element restrictions and Bases), an operator as separate kernels. Every kernel is
// compared with the reference backend. What the program hands over is checked against the list of device
// memory.
#ifndef RITZ_BACKENDS_CHECK_DEVICE_H
#define RITZ_BACKENDS_CHECK_DEVICE_H

#include "core/core.h"

// A stretch of device memory.
typedef struct {
  char *start;
  size_t num_bytes;
  bool is_lent; // a copy that a vector has lent: it cannot be taken over
} RitzCheckBlock;

// `data` of a Ceed with :mem=device; NULL in other contexts.
typedef struct {
  size_t num, capacity;
  RitzCheckBlock *block;            // owned, in the order of their addresses
  const char *op_name, *field_name; // borrowed: what is computed, for messages; NULL: no operator
} RitzCheckDevice;

// Takes the place of the table that /cpu/self/check has without the option.
extern const RitzBackend ritz_check_device_backend;

// ---- device-memory.c ----
// The allocator of the device, for programs that bring device memory along.
int ritz_check_device_alloc(Ceed ceed, size_t num_bytes, void **p);
int ritz_check_device_free(Ceed ceed, void *p);
// The list of device memory. `leave` ignores what is not in it.
int ritz_check_device_enter(Ceed ceed, void *start, size_t num_bytes, bool is_lent);
void ritz_check_device_leave(Ceed ceed, const void *start);
// CEED_ERROR_BACKEND unless num_bytes at p are device memory; `what` is named in the message.
int ritz_check_device_require(Ceed ceed, const char *what, size_t num_bytes, const void *p);
int ritz_check_rep_alloc(Ceed ceed, RitzRepKind kind, size_t num_bytes, void **p);
int ritz_check_rep_free(Ceed ceed, RitzRepKind kind, void *p);
int ritz_check_rep_copy(Ceed ceed, size_t num_bytes, RitzRepKind to_kind, void *to, RitzRepKind from_kind,
                        const void *from);
int ritz_check_rep_accept(Ceed ceed, const char *call, RitzRepKind kind, size_t num_bytes, bool is_given,
                          const void *p);

// ---- device-compare.c ----
// Names what is compared and with what: "restriction", "the reference backend".
typedef struct {
  Ceed ceed;
  const char *what, *with;
} RitzCheckPair;
// CEED_ERROR_BACKEND unless |found - wanted| <= tolerance; the message names operator and field, if one runs.
// Entries that are not finite in both count as equal; with a tolerance that is not finite all do.
int ritz_check_compare(const RitzCheckPair *pair, CeedSize index, CeedScalar found, CeedScalar wanted,
                       double tolerance);
double ritz_check_epsilon(void);                            // distance of 1 to the next CeedScalar
double ritz_check_largest(CeedSize n, const CeedScalar *x); // absolute value

// ---- device-restriction.c ----
int ritz_check_device_layout(CeedElemRestriction rstr, CeedInt layout[3]);
int ritz_check_device_restriction(CeedElemRestriction rstr, const RitzRestrictionAction *action,
                                  CeedScalarType precision, const void *u, void *v);

// ---- device-basis.c ----
int ritz_check_device_basis(CeedBasis basis, const RitzBasisAction *action, const CeedScalar *u,
                            CeedScalar *v);

// ---- device-points.c ----
int ritz_check_device_basis_at_points(CeedBasis basis, const RitzBasisAction *action,
                                      const CeedInt *num_points, const CeedScalar *x, const CeedScalar *u,
                                      CeedScalar *v);

// ---- device-operator.c ----
int ritz_check_device_operator(CeedOperator op, CeedVector in, CeedVector out, RitzApplyMode mode);

#endif
