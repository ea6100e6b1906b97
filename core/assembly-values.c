// SPDX-License-Identifier: BSD-2-Clause
// Matrices in a fixed pattern (contract in core/assembly-pattern.h): the numeric phase. By the backend's own
// kernels where it has some, else on the host from element matrices, a few elements or, on devices, a few
// columns at a time.
#include <inttypes.h>
#include <ritz/operator.h>
#include <string.h>

#include "core/assembly-pattern.h"
#include "core/operator.h"

// ---- Adding an element ----

// clang-format off
#define ADD_ROWS(name, Place)                                                                                \
  static void name(const struct RitzAssembly_private *a, const RitzAssemblyBlock *block, CeedInt elem,       \
                   const RitzElementMatrix *m, CeedScalar *values) {                                         \
    const Place *places = (const Place *)block->places +                                                     \
                          (int64_t)elem * block->num_rows * block->num_cols + m->first_col;                  \
    for (CeedInt i = 0; i < block->num_rows; i++, places += block->num_cols) {                               \
      CeedScalar *row = values + a->row_starts[ritz_assembly_row(block, elem, i)];                           \
      const CeedScalar *from = m->entries + i * m->row_stride;                                               \
      for (CeedInt j = 0; j < m->num_cols; j++) row[places[j]] += from[m->offsets[j]];                       \
    }                                                                                                        \
  }
ADD_ROWS(add_by_bytes, uint8_t)
ADD_ROWS(add_by_shorts, uint16_t)
ADD_ROWS(add_by_words, uint32_t)
// clang-format on

static void add_element_matrix(const struct RitzAssembly_private *a, const RitzAssemblyBlock *block,
                               CeedInt elem, const RitzElementMatrix *matrix, CeedScalar *values) {
  if (a->place_bytes == 1)
    add_by_bytes(a, block, elem, matrix, values);
  else if (a->place_bytes == 2)
    add_by_shorts(a, block, elem, matrix, values);
  else
    add_by_words(a, block, elem, matrix, values);
}

// ---- Element by element ----

typedef struct {
  const struct RitzAssembly_private *assembly;
  const RitzAssemblyBlock *block;
  CeedOperator computes; // in CeedScalar
  bool is_by_choice;     // element by element, though kernels could do it
  CeedScalar *values;    // borrowed
  CeedSize *offsets;     // owned: of the columns that are kept at once
  RitzElementMatrix matrix;
} Filling;

static CeedSize matrix_size(const RitzAssemblyBlock *block) {
  return (CeedSize)block->num_rows * block->num_cols;
}

// Matrices of the elements first .. first + num - 1, by the part's own context. Where the host is chosen for
// few elements, not for want of kernels, the fallback works on the host's memory, without the backend's
// warning.
static int assemble_some(const Filling *f, CeedInt first, CeedInt num, CeedVector vec) {
  const RitzBackend *own = &f->computes->obj.ceed->backend,
                    *backend = f->is_by_choice && own->fallback ? own->fallback : own;
  CeedScalar *array;
  RITZ_TRY(CeedVectorGetArrayWrite(vec, backend == own ? own->mem_type : CEED_MEM_HOST, &array));
  return ritz_vector_end_write(
      vec, &array, backend->operator_assemble(f->computes, f->block->a, f->block->b, first, num, 0, array));
}

static int add_some(Filling *f, CeedInt first, CeedInt num, CeedVector vec) {
  const CeedScalar *matrices;
  RITZ_TRY(CeedVectorGetArrayRead(vec, CEED_MEM_HOST, &matrices));
  for (CeedInt e = 0; e < num; e++) {
    f->matrix.entries = matrices + e * matrix_size(f->block);
    add_element_matrix(f->assembly, f->block, first + e, &f->matrix, f->values);
  }
  return CeedVectorRestoreArrayRead(vec, &matrices);
}

// The order of doc/ceed-api.md, Assembly: c_in, c_out, output node, input node.
static void set_offsets(Filling *f) {
  const CeedInt P = f->block->in->elem_size;
  const CeedSize size_of_input_component = (CeedSize)f->block->num_rows * P;
  f->matrix.row_stride = P;
  for (CeedInt j = 0; j < f->matrix.num_cols; j++) f->offsets[j] = j / P * size_of_input_component + j % P;
}

// Elements whose matrices are kept at once: half a megabyte.
static CeedInt elements_at_once(const RitzAssemblyBlock *block) {
  const CeedSize num = 65536 / matrix_size(block);
  return num < 1 ? 1 : (CeedInt)(num < block->op->num_elem ? num : block->op->num_elem);
}

static int add_by_elements(Filling *f) {
  const RitzAssemblyBlock *block = f->block;
  const CeedInt num_at_once = elements_at_once(block);
  CeedVector vec = NULL;
  f->matrix.num_cols = block->num_cols;
  RITZ_TRY(RITZ_MALLOC(f->assembly->ceed, (size_t)block->num_cols, &f->offsets));
  f->matrix.offsets = f->offsets;
  set_offsets(f);
  RITZ_TRY(CeedVectorCreate(f->computes->obj.ceed, matrix_size(block) * num_at_once, &vec));
  int ierr = CEED_ERROR_SUCCESS;
  for (CeedInt first = 0; !ierr && first < block->op->num_elem; first += num_at_once) {
    const CeedInt num = CeedIntMin(num_at_once, block->op->num_elem - first);
    ierr = assemble_some(f, first, num, vec);
    if (!ierr) ierr = add_some(f, first, num, vec);
  }
  return ritz_first_error(ierr, CeedVectorDestroy(&vec));
}

// ---- Column by column ----

// Columns that are kept at once: so many, of so many scalars.
enum { MAX_COLUMNS = 16, MAX_SCALARS = 1 << 25 };

static CeedInt columns_at_once(CeedInt num, CeedSize length) {
  const CeedSize fit = MAX_SCALARS / length, most = fit < 1 ? 1 : fit > MAX_COLUMNS ? MAX_COLUMNS : fit;
  return num < most ? num : (CeedInt)most;
}

static int keep_columns(Filling *f, RitzColumns *c, CeedSize length, CeedScalar *kept) {
  for (CeedInt j = 0; j < f->matrix.num_cols; j++) {
    const CeedScalar *column;
    RITZ_TRY(ritz_columns_next(c, &column));
    memcpy(kept + j * length, column, (size_t)length * sizeof(*column));
    RITZ_TRY(ritz_columns_done(c, &column));
    f->offsets[j] = j * length;
  }
  return CEED_ERROR_SUCCESS;
}

static int add_columns(Filling *f, RitzColumns *c, CeedSize length, CeedInt num_at_once, CeedScalar *kept) {
  RitzElementMatrix *m = &f->matrix;
  for (m->first_col = 0; m->first_col < c->num; m->first_col += num_at_once) {
    m->num_cols = CeedIntMin(num_at_once, c->num - m->first_col);
    RITZ_TRY(keep_columns(f, c, length, kept));
    for (CeedInt e = 0; e < f->block->op->num_elem; e++) {
      m->entries = kept + (CeedSize)e * f->block->num_rows;
      add_element_matrix(f->assembly, f->block, e, m, f->values);
    }
  }
  return CEED_ERROR_SUCCESS;
}

static int add_by_columns(Filling *f) {
  const Ceed ceed = f->assembly->ceed;
  const CeedSize length = (CeedSize)f->block->op->num_elem * f->block->num_rows;
  const CeedInt num_at_once = columns_at_once(f->block->num_cols, length);
  CeedScalar *kept = NULL;
  RitzColumns c;
  RITZ_TRY(ritz_columns_open(f->computes, &c));
  f->matrix.row_stride = 1;
  int ierr = RITZ_MALLOC(ceed, (size_t)num_at_once, &f->offsets);
  f->matrix.offsets = f->offsets;
  if (!ierr) ierr = RITZ_MALLOC(ceed, (size_t)(num_at_once * length), &kept);
  if (!ierr) ierr = add_columns(f, &c, length, num_at_once, kept);
  RITZ_FREE(&kept);
  ritz_columns_close(&c);
  return ierr;
}

// ---- The numeric phase ----

static int add_block(const struct RitzAssembly_private *a, const RitzAssemblyBlock *block,
                     CeedScalar *values) {
  Filling f = {.assembly = a, .block = block, .values = values};
  CeedOperatorAssemblyData groups;
  if (block->op->num_elem == 0) return CEED_ERROR_SUCCESS;
  RITZ_TRY(ritz_operator_stand_in(block->op, &f.computes));
  RITZ_TRY(CeedOperatorGetOperatorAssemblyData(f.computes, &groups));
  const bool by_columns = ritz_columns_serve(f.computes, &f.is_by_choice);
  const int ierr = by_columns ? add_by_columns(&f) : add_by_elements(&f);
  RITZ_FREE(&f.offsets);
  return ierr;
}

static int fill_on_host(RitzAssembly a, CeedScalar *values) {
  const int64_t num = ritz_assembly_num_nonzeros(a);
  if (num > 0) memset(values, 0, (size_t)num * sizeof(*values));
  for (CeedInt k = 0; k < a->num_blocks; k++) RITZ_TRY(add_block(a, &a->blocks[k], values));
  return CEED_ERROR_SUCCESS;
}

static int fill_values(RitzAssembly a, CeedVector values) {
  const RitzBackend *backend = &a->ceed->backend;
  const RitzAccess access = ritz_vector_access_first(values, ritz_assembly_num_nonzeros(a));
  bool is_supported = false;
  void *array;
  for (CeedInt k = 0; k < a->num_blocks; k++) {
    RITZ_TRY(ritz_operator_refresh(a->blocks[k].op));
    RITZ_TRY(ritz_operator_update_reused(a->blocks[k].op, a->call));
  }
  if (backend->assembly_prepare) RITZ_TRY(backend->assembly_prepare(a, &is_supported));
  RITZ_TRY(ritz_vector_lock(values, access, is_supported ? backend->mem_type : CEED_MEM_HOST, &array));
  return ritz_vector_unlock(values, RITZ_ACCESS_WRITE, &array,
                            is_supported ? backend->assembly_run(a, array) : fill_on_host(a, array));
}

// Into a vector of another precision: through one in CeedScalar.
static int fill_converted(RitzAssembly a, CeedVector values) {
  const int64_t num = ritz_assembly_num_nonzeros(a);
  CeedVector scalars = NULL;
  RITZ_TRY(CeedVectorCreate(a->ceed, num, &scalars));
  int ierr = fill_values(a, scalars);
  if (!ierr) ierr = ritz_vector_convert(a->call, num, scalars, values);
  (void)CeedVectorDestroy(&scalars);
  return ierr;
}

static int require_length(const struct RitzAssembly_private *a, CeedVector values) {
  const int64_t num = ritz_assembly_num_nonzeros(a);
  RITZ_REQUIRE(values->length >= num, a->ceed, CEED_ERROR_DIMENSION,
               "%s: the vector has %" CeedSize_FMT " entries, needed %" PRId64, a->call, values->length, num);
  return CEED_ERROR_SUCCESS;
}

static int fill_any(RitzAssembly a, CeedVector values) {
  return values->precision == CEED_SCALAR_TYPE ? fill_values(a, values) : fill_converted(a, values);
}

int RitzAssemblyRun(RitzAssembly assembly, CeedVector values) {
  RITZ_HANDLE(assembly, values);
  RITZ_ARGUMENT(assembly->ceed, values);
  RITZ_TRY(require_length(assembly, values));
  return fill_any(assembly, values);
}

int RitzOperatorAssembleCSR(CeedOperator op, const int64_t *row_starts, const int64_t *cols,
                            CeedVector values) {
  RitzAssembly assembly = NULL;
  RITZ_HANDLE(op, values);
  RITZ_ARGUMENT(op->obj.ceed, row_starts);
  RITZ_ARGUMENT(op->obj.ceed, values);
  RITZ_TRY(ritz_assembly_create_in(op, __func__, row_starts, cols, &assembly));
  int ierr = require_length(assembly, values);
  if (!ierr) ierr = ritz_assembly_place(assembly);
  if (!ierr) ierr = fill_any(assembly, values);
  return ritz_first_error(ierr, RitzAssemblyDestroy(&assembly));
}
