// SPDX-License-Identifier: BSD-2-Clause
// Element matrices column by column, by the backend's own kernels: an operator that does what another one
// does, but from and to the nodes of each element (a strided restriction, E-vectors) instead of L-vectors, is
// applied to unit vectors, the same one in all elements. So columns come from the device, or by a fused
// kernel, as many applications as an element has nodes and components. Called by core/assembly-values.c.
#include "core/operator.h"

// Fewer elements than this are assembled sooner than a kernel is compiled: on devices (host assembly takes
// 4 us an element and reads back what lies there), and on processors, where there is a compiler at work.
enum { FEW_ON_DEVICES = 2000, FEW_ON_PROCESSORS = 40000 };

// All active fields of one direction are on the same restriction, without orientations.
static bool has_one_space(const RitzActiveGroups *groups, CeedInt num, const CeedOperatorField *fields) {
  if (groups->num != 1) return false;
  const CeedElemRestriction rstr = groups->rstrs[0];
  if (rstr->type != CEED_RESTRICTION_STANDARD && rstr->type != CEED_RESTRICTION_STRIDED) return false;
  if (rstr->block_size != 1) return false;
  for (CeedInt i = 0; i < num; i++)
    if (fields[i]->vec == CEED_VECTOR_ACTIVE && fields[i]->rstr != rstr) return false;
  return true;
}

static bool has_passive_outputs(CeedOperator op) {
  for (CeedInt i = 0; i < op->num_out; i++)
    if (!ritz_field_is_unused(op->out[i]) && op->out[i]->vec != CEED_VECTOR_ACTIVE) return true;
  return false;
}

bool ritz_columns_serve(CeedOperator op, bool *is_possible) {
  Ceed ceed = op->obj.ceed;
  const bool is_device = ceed->backend.mem_type == CEED_MEM_DEVICE;
  *is_possible = is_device && !op->is_at_points && !ceed->is_strict && op->num_elem < FEW_ON_DEVICES;
  if (is_device) return false;
  *is_possible = ceed->backend.operator_source // there are kernels
                 && !op->is_at_points && !op->qf_data->reuse && !has_passive_outputs(op) &&
                 has_one_space(&op->assembly_data->in, op->num_in, op->in) &&
                 has_one_space(&op->assembly_data->out, op->num_out, op->out);
  if (!*is_possible) return false;
  return ceed->is_strict || op->num_elem >= FEW_ON_PROCESSORS;
}

// ---- Life ----

// Entry (node, component, element) at node + num_nodes (component + num_comp element).
static int create_space(CeedElemRestriction like, CeedElemRestriction *rstr, CeedVector *vec) {
  Ceed ceed = like->obj.ceed;
  const CeedInt size = like->elem_size * like->num_comp, strides[3] = {1, like->elem_size, size};
  const CeedSize length = (CeedSize)like->num_elem * size;
  RITZ_TRY(CeedElemRestrictionCreateStrided(ceed, like->num_elem, like->elem_size, like->num_comp, length,
                                            strides, rstr));
  return CeedVectorCreate(ceed, length, vec);
}

static int set_fields(CeedOperator op, const CeedElemRestriction spaces[2], CeedOperator twin) {
  for (CeedInt i = 0; i < op->num_in + op->num_out; i++) {
    const CeedOperatorField f = ritz_operator_field(op, i);
    if (ritz_field_is_unused(f)) continue;
    const CeedElemRestriction rstr = f->vec == CEED_VECTOR_ACTIVE ? spaces[i >= op->num_in] : f->rstr;
    RITZ_TRY(CeedOperatorSetField(twin, f->qf_field->name, rstr, f->basis, f->vec));
  }
  RITZ_TRY(CeedOperatorSetName(twin, op->name));
  twin->use = op->use;
  return CeedOperatorCheckReady(twin);
}

void ritz_columns_close(RitzColumns *c) {
  (void)CeedOperatorDestroy(&c->twin);
  (void)CeedVectorDestroy(&c->in);
  (void)CeedVectorDestroy(&c->out);
}

int ritz_columns_open(CeedOperator op, RitzColumns *c) {
  CeedElemRestriction spaces[2] = {NULL, NULL};
  int ierr;
  *c = (RitzColumns){.column = -1};
  RITZ_TRY_CLEANUP(create_space(op->assembly_data->in.rstrs[0], &spaces[0], &c->in));
  RITZ_TRY_CLEANUP(create_space(op->assembly_data->out.rstrs[0], &spaces[1], &c->out));
  RITZ_TRY_CLEANUP(CeedOperatorCreate(op->obj.ceed, op->qf, op->dqf, op->dqfT, &c->twin));
  RITZ_TRY_CLEANUP(set_fields(op, spaces, c->twin));
  c->num = spaces[0]->elem_size * spaces[0]->num_comp;
  RITZ_TRY_CLEANUP(CeedVectorSetValue(c->in, 0));
cleanup:
  (void)CeedElemRestrictionDestroy(&spaces[0]);
  (void)CeedElemRestrictionDestroy(&spaces[1]);
  if (ierr) ritz_columns_close(c);
  return ierr;
}

// ---- Columns ----

int ritz_columns_next(RitzColumns *c, const CeedScalar **values) {
  if (c->column >= 0) RITZ_TRY(CeedVectorSetValueStrided(c->in, c->column, -1, c->num, 0));
  c->column++;
  RITZ_TRY(CeedVectorSetValueStrided(c->in, c->column, -1, c->num, 1));
  RITZ_TRY(CeedOperatorApply(c->twin, c->in, c->out, CEED_REQUEST_IMMEDIATE));
  return CeedVectorGetArrayRead(c->out, CEED_MEM_HOST, values);
}

int ritz_columns_done(RitzColumns *c, const CeedScalar **values) {
  return CeedVectorRestoreArrayRead(c->out, values);
}
