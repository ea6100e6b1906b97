// SPDX-License-Identifier: BSD-2-Clause
// Vector work that rides along with an apply: merged conjugate gradients (solver/). The entries of the input
// are changed right before they are first read, those of the output looked at right after they are complete,
// so that both are in the cache. Called by solver/, served by backends (slot operator_apply_hooked).
#ifndef RITZ_CORE_APPLY_HOOKS_H
#define RITZ_CORE_APPLY_HOOKS_H

#include "base/ranges.h"
#include "core/core.h"

// Entries first .. first + count - 1 of the arrays of both vectors. `slot` < num_slots of
// ritz_operator_apply_hooked_prepare: calls with the same slot come one after the other, in an order that
// depends on the operator and the context alone, so that sums kept per slot and added in the order of slots
// repeat bit for bit.
typedef void (*RitzApplyHook)(void *data, int slot, CeedScalar *in, CeedScalar *out, int64_t first,
                              int64_t count);

struct RitzApplyHooks {
  RitzApplyHook before; // of each entry exactly once, ahead of its first use; has to set `out` to zero
  RitzApplyHook after;  // of each entry exactly once, behind its last addition
  void *data;
};

// Why op (single or composite, square) cannot be applied with hooks: static string; NULL: it can. *num_slots:
// those of the functions above. The kernels are made if need be; `in` has values.
int ritz_operator_apply_hooked_prepare(CeedOperator op, CeedVector in, int *num_slots, const char **reason);
// out := A in, with the work of the hooks. Both vectors are written on the host.
int ritz_operator_apply_hooked(CeedOperator op, CeedVector in, CeedVector out, const RitzApplyHooks *hooks);

// out += A in, then zeros on the entries of a set (NULL: none), and number k = in . out: from the kernel of
// the operator itself where it can tell (the energy in . A in), in which case `in` has to be zero on these
// entries; else in passes of their own. Nobody waits.
int ritz_operator_apply_energy(CeedOperator op, CeedVector in, CeedVector out, RitzIndices zeros,
                               RitzScalars scalars, CeedInt k);
// As ritz_operator_apply_energy, by the kernel of the operator or not at all (*is_done false: it cannot
// tell). adds: number k is added to. The number is that of this operator alone, whatever reduction the
// context has.
int ritz_operator_apply_energy_kernel(CeedOperator op, CeedVector in, CeedVector out, RitzIndices zeros,
                                      RitzScalars scalars, CeedInt k, bool adds, bool *is_done);

// Whether an apply may write to more than the active output: passive outputs, contexts of functions.
bool ritz_operator_has_other_output(CeedOperator op);

#endif
