// SPDX-License-Identifier: BSD-2-Clause
// Assembly on a device context: computed on the host by the reference backend, which calls the program's
// function pointer, into a copy of the array that is uploaded afterwards. Called through the table.
#include "backends/gpu/gpu.h"
#include "backends/ref/ref.h"

static int delegate(CeedOperator op) {
  return ritz_gpu_delegate(op->obj.ceed, "assembly", "it has no kernels on devices yet");
}

// Uploads host [n] to device, unless ierr says that it could not be computed; frees host.
static int upload_and_free(CeedOperator op, int ierr, CeedSize n, CeedScalar *host, CeedScalar *device) {
  if (!ierr) ierr = ritz_gpu_copy_in(op->obj.ceed, (size_t)n * sizeof(*host), device, host);
  RITZ_FREE(&host);
  return ierr;
}

int ritz_gpu_operator_assemble_qfunction(CeedOperator op, CeedElemRestriction rstr, CeedScalar *values) {
  CeedScalar *host = NULL;
  RITZ_TRY(delegate(op));
  RITZ_TRY(RITZ_MALLOC(op->obj.ceed, (size_t)rstr->l_size, &host));
  return upload_and_free(op, ritz_ref_operator_assemble_qfunction(op, rstr, host), rstr->l_size, host,
                         values);
}

int ritz_gpu_operator_assemble_add_diagonal(CeedOperator op, bool is_point_block, void *diagonal) {
  const CeedSize n = op->output_size * (is_point_block ? op->assembly_data->in.rstrs[0]->num_comp : 1);
  CeedScalar *host = NULL;
  RITZ_TRY(delegate(op));
  RITZ_TRY(RITZ_MALLOC(op->obj.ceed, (size_t)n, &host));
  int ierr = ritz_gpu_copy_out(op->obj.ceed, (size_t)n * sizeof(*host), host, diagonal);
  if (!ierr) ierr = ritz_ref_operator_assemble_add_diagonal(op, is_point_block, host);
  return upload_and_free(op, ierr, n, host, diagonal);
}

int ritz_gpu_operator_assemble(CeedOperator op, CeedInt a, CeedInt b, CeedInt first_elem, CeedInt num_elem,
                               CeedScalar *values) {
  const RitzActiveGroups *in = &op->assembly_data->in, *out = &op->assembly_data->out;
  const CeedSize columns = (CeedSize)ritz_group_num_nodes(in, a) * ritz_group_num_comp(in, a);
  const CeedSize rows = (CeedSize)ritz_group_num_nodes(out, b) * ritz_group_num_comp(out, b);
  const CeedSize n = columns * rows * num_elem;
  CeedScalar *host = NULL;
  RITZ_TRY(delegate(op));
  RITZ_TRY(RITZ_MALLOC(op->obj.ceed, (size_t)n, &host));
  return upload_and_free(op, ritz_ref_operator_assemble(op, a, b, first_elem, num_elem, host), n, host,
                         values);
}
