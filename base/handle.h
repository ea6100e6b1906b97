// SPDX-License-Identifier: BSD-2-Clause
// What a handle may be found to be: an object of its type, an object of another type, one of the standard's
// sentinels, NULL. Every public function asks before it looks into an object, through the macros below, which
// base/error.h makes known to all folders.
#ifndef RITZ_BASE_HANDLE_H
#define RITZ_BASE_HANDLE_H

#include <ceed.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// What this folder asks of a context.
typedef struct {
  CeedErrorHandler (*error_handler)(Ceed ceed);
  // Threads of the host: see base/ranges.h.
  int (*run_ranges_slots)(Ceed ceed, int *num_slots);
  int (*run_ranges)(Ceed ceed, int64_t n, void (*run)(void *data, int slot, int64_t first, int64_t count),
                    void *data);
  // Something runs another way than it was asked for: see ritz_warn_once in core/core.h.
  int (*warn_once)(Ceed ceed, const char *call, const char *what, const char *reason, const char *outcome);
} RitzContextCalls;

// Every object begins with the address of its class and its Ceed (RitzObject). Sentinels have neither.
typedef struct {
  const char *name;                             // "CeedVector"
  int (*view)(CeedObject object, FILE *stream); // NULL: nothing to show
  int (*destroy)(CeedObject *object);           // NULL: no CeedObject
  const RitzContextCalls *context;              // NULL: no Ceed
} RitzClass;

typedef struct {
  const RitzClass *class;
  Ceed ceed;
} RitzObject;

// All classes with their words for people, up to one whose class is NULL. The table is static, in
// root/ritz.c, which hands it down before the first object is made: what stands at an address is compared
// with the classes of it.
typedef struct {
  const RitzClass *class;
  const char *described; // "a CeedVector"
} RitzKnownClass;
void ritz_classes_hand_down(const RitzKnownClass *classes);
// NULL: of no class.
const RitzClass *ritz_class_of(const void *handle);

// Names of classes and types of all folders, for RITZ_CLASS_OF alone.
extern const RitzClass ritz_ceed_class, ritz_vector_class, ritz_restriction_class, ritz_basis_class,
    ritz_qfunction_class, ritz_context_class, ritz_operator_class;
extern const RitzClass ritz_any_class; // of no object: stands for all that are a CeedObject
extern const RitzClass ritz_mesh_class, ritz_space_class, ritz_geometry_class, ritz_solver_class;
extern const RitzClass ritz_hierarchy_class, ritz_locator_class, ritz_facets_class, ritz_product_space_class;
extern const RitzClass ritz_preconditioner_class, ritz_newton_class;
extern const RitzClass ritz_indices_class, ritz_scalars_class, ritz_batched_class;
extern const RitzClass ritz_dense_solver_class, ritz_front_class, ritz_assembly_class;
extern const RitzClass ritz_halo_class, ritz_exchange_class, ritz_part_operator_class;

struct RitzMesh_private;
struct RitzSpace_private;
struct RitzGeometry_private;
struct RitzSolver_private;
struct RitzHierarchy_private;
struct RitzLocator_private;
struct RitzFacets_private;
struct RitzProductSpace_private;
struct RitzPreconditioner_private;
struct RitzNewton_private;
struct RitzIndices_private;
struct RitzScalars_private;
struct RitzBatched_private;
struct RitzDenseSolver_private;
struct RitzFront_private;
struct RitzAssembly_private;
struct RitzHalo_private;
struct RitzExchange_private;
struct RitzPartOperator_private;

// The class that the type of a handle names; NULL for other pointers (fields, labels, arrays).
// clang-format off
#define RITZ_CLASS_OF(handle)                                                                                \
  _Generic((handle),                                                                                         \
      Ceed: &ritz_ceed_class,                                                                                \
      CeedVector: &ritz_vector_class,                                                                        \
      CeedElemRestriction: &ritz_restriction_class,                                                          \
      CeedBasis: &ritz_basis_class,                                                                          \
      CeedQFunction: &ritz_qfunction_class,                                                                  \
      CeedQFunctionContext: &ritz_context_class,                                                             \
      CeedOperator: &ritz_operator_class,                                                                    \
      CeedObject: &ritz_any_class,                                                                           \
      struct RitzMesh_private *: &ritz_mesh_class,                                                           \
      struct RitzSpace_private *: &ritz_space_class,                                                         \
      struct RitzGeometry_private *: &ritz_geometry_class,                                                   \
      struct RitzSolver_private *: &ritz_solver_class,                                                       \
      struct RitzHierarchy_private *: &ritz_hierarchy_class,                                                 \
      struct RitzLocator_private *: &ritz_locator_class,                                                     \
      struct RitzFacets_private *: &ritz_facets_class,                                                       \
      struct RitzProductSpace_private *: &ritz_product_space_class,                                          \
      struct RitzPreconditioner_private *: &ritz_preconditioner_class,                                       \
      struct RitzNewton_private *: &ritz_newton_class,                                                       \
      struct RitzIndices_private *: &ritz_indices_class,                                                     \
      struct RitzScalars_private *: &ritz_scalars_class,                                                     \
      struct RitzBatched_private *: &ritz_batched_class,                                                     \
      struct RitzDenseSolver_private *: &ritz_dense_solver_class,                                            \
      struct RitzFront_private *: &ritz_front_class,                                                         \
      struct RitzAssembly_private *: &ritz_assembly_class,                                                   \
      struct RitzHalo_private *: &ritz_halo_class,                                                          \
      struct RitzExchange_private *: &ritz_exchange_class,                                                  \
      struct RitzPartOperator_private *: &ritz_part_operator_class,                                         \
      default: (const RitzClass *)NULL)
// clang-format on

// Whether the pointer may be used as what its class says: an object of the class; with class NULL anything
// but NULL and sentinels.
bool ritz_is_live(const void *handle, const RitzClass *class);
// What stands at the address, for people: "CEED_VECTOR_NONE", "a CeedBasis", "NULL".
const char *ritz_found_at(const void *handle);
// CEED_ERROR_INCOMPATIBLE unless it may, reported to `ceed`; where that is NULL, to the context of what is
// found: "<call>: argument '<name>' is CEED_VECTOR_NONE, needed a CeedVector".
int ritz_check_handle(Ceed ceed, const char *call, const char *name, const void *handle,
                      const RitzClass *class);

// The context of the first of num handles that is an object of any class; NULL: there is none.
Ceed ritz_context_at_hand(size_t num, const void *const handles[]);
#define RITZ_CONTEXT_AT_HAND(...)                                                                            \
  ritz_context_at_hand(sizeof((const void *[]){__VA_ARGS__}) / sizeof(void *), (const void *[]){__VA_ARGS__})

// Returns from the function unless `handle` is live. Further arguments are handles of the same call: a fault
// is reported to the context of the first of them that is an object. A handle of a plain pointer's type
// (results, texts, arrays) is checked in the same way: anything but NULL and sentinels.
#define RITZ_HANDLE(...) RITZ_CHECK_HANDLE(__func__, __VA_ARGS__, NULL)
// The same in a helper of several calls: call, handle, others.
#define RITZ_HANDLE_OF(...) RITZ_CHECK_HANDLE(__VA_ARGS__, NULL)
// The same for a further argument, reported to the context of an object that was checked before.
#define RITZ_ARGUMENT(object, handle)          RITZ_CHECK_HANDLE(__func__, handle, object)
#define RITZ_ARGUMENT_OF(object, call, handle) RITZ_CHECK_HANDLE(call, handle, object)
#define RITZ_CHECK_HANDLE(call, handle, ...)                                                                 \
  do {                                                                                                       \
    if (!ritz_is_live((handle), RITZ_CLASS_OF(handle))) {                                                    \
      (void)ritz_check_handle(RITZ_CONTEXT_AT_HAND(__VA_ARGS__), (call), #handle, (handle),                  \
                              RITZ_CLASS_OF(handle));                                                        \
      return CEED_ERROR_INCOMPATIBLE;                                                                        \
    }                                                                                                        \
  } while (0)

// An argument that may be NULL.
#define RITZ_OPTIONAL(ceed, handle)                                                                          \
  do {                                                                                                       \
    if (handle) RITZ_ARGUMENT(ceed, handle);                                                                 \
  } while (0)
// A vector, or CEED_VECTOR_NONE where `may_be_none`.
#define RITZ_VECTOR_OR_NONE(ceed, call, vec, may_be_none)                                                    \
  do {                                                                                                       \
    if (!(may_be_none) || (vec) != CEED_VECTOR_NONE) RITZ_ARGUMENT_OF(ceed, call, vec);                      \
  } while (0)

// The standard's sentinels: objects without a class that stand for none of it. Here are their places, all
// zeros; core/strings.c gives them their types.
typedef enum {
  RITZ_VECTOR_ACTIVE,
  RITZ_VECTOR_NONE,
  RITZ_RESTRICTION_NONE,
  RITZ_BASIS_NONE,
  RITZ_QFUNCTION_NONE,
  RITZ_NUM_SENTINELS
} RitzSentinel;
typedef union {
  max_align_t alignment;
  unsigned char bytes[512]; // at least those of every type that it may have
} RitzSentinelPlace;
extern RitzSentinelPlace ritz_sentinels[RITZ_NUM_SENTINELS];

bool ritz_is_sentinel(const void *handle);
// Whether it is a sentinel that handles of this class may be.
bool ritz_is_own_sentinel(const void *handle, const RitzClass *class);

#endif
