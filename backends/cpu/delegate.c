// SPDX-License-Identifier: BSD-2-Clause
// What the reference backend does for /cpu/self/gen, serially: with one warning, and an error under
// RITZ_STRICT. All delegations of this backend but whole operators (prepare.c) go through here.
#include "backends/cpu/cpu.h"
#include "backends/ref/ref.h"

static const char no_kernel[] = "there is no kernel for it on CPUs yet";

int ritz_cpu_delegate(Ceed ceed, const char *what, const char *reason) {
  return ritz_warn_once(ceed, ceed->resource, what, reason, "the reference backend runs it");
}

int ritz_cpu_operator_assemble_qfunction(CeedOperator op, CeedElemRestriction rstr, CeedScalar *values) {
  RITZ_TRY(ritz_cpu_delegate(op->obj.ceed, "assembly of a QFunction", no_kernel));
  return ritz_ref_operator_assemble_qfunction(op, rstr, values);
}

int ritz_cpu_delegate_diagonal(CeedOperator op, bool is_point_block, const char *reason,
                               CeedScalar *diagonal) {
  const char *what = is_point_block ? "assembly of point blocks" : "assembly of a diagonal";
  RITZ_TRY(ritz_cpu_delegate(op->obj.ceed, what, reason));
  return ritz_ref_operator_assemble_add_diagonal(op, is_point_block, diagonal);
}
