// SPDX-License-Identifier: BSD-2-Clause
// Finding rows of consecutive nodes and chains of rows (contract in backends/cpu/rows.h). Called by the plans
// and operators of this backend.
#include "backends/cpu/rows.h"

#include "base/ranges.h"

// Offsets of one batch, [row][lane].
static void copy_batch(CeedElemRestriction r, const RitzRows *rows, int64_t batch, int32_t *offsets) {
  const CeedInt num_rows = r->elem_size / rows->row_length;
  for (CeedInt lane = 0; lane < rows->lanes; lane++) {
    int64_t elem = batch * rows->lanes + lane;
    if (elem >= r->num_elem) elem = r->num_elem - 1;
    const CeedInt *from = r->offsets + elem * r->elem_size;
    for (CeedInt row = 0; row < num_rows; row++) {
      offsets[(int64_t)row * rows->lanes + lane] = from[(int64_t)row * rows->row_length];
    }
  }
}

static bool is_chain(CeedElemRestriction r, const RitzRows *rows, int64_t batch, const int32_t *offsets) {
  const int64_t length = (int64_t)(rows->row_length - 1) * ritz_restriction_row_step(r);
  const int64_t num = (int64_t)(r->elem_size / rows->row_length) * rows->lanes;
  if ((batch + 1) * rows->lanes > r->num_elem) return false;
  for (int64_t i = 0; i < num; i++) {
    bool is_first_lane = i % rows->lanes == 0;
    if (!is_first_lane && offsets[i] != offsets[i - 1] + length) return false;
  }
  return true;
}

typedef struct {
  CeedElemRestriction r;
  RitzRows *rows;
} Filling;

static void fill_batches(void *data, int slot, int64_t first, int64_t count) {
  const Filling *f = data;
  const int64_t batch_size = (int64_t)(f->r->elem_size / f->rows->row_length) * f->rows->lanes;
  (void)slot;
  for (int64_t batch = first; batch < first + count; batch++) {
    int32_t *offsets = f->rows->offsets + batch * batch_size;
    copy_batch(f->r, f->rows, batch, offsets);
    f->rows->is_chain[batch] = is_chain(f->r, f->rows, batch, offsets);
  }
}

static int fill_rows(CeedElemRestriction r, RitzRows *rows) {
  const int64_t num_batches = ((int64_t)r->num_elem + rows->lanes - 1) / rows->lanes;
  const int64_t batch_size = (int64_t)(r->elem_size / rows->row_length) * rows->lanes;
  Filling filling = {r, rows};
  RITZ_TRY(RITZ_MALLOC(r->obj.ceed, (size_t)(num_batches * batch_size), &rows->offsets));
  RITZ_TRY(RITZ_MALLOC(r->obj.ceed, (size_t)num_batches, &rows->is_chain));
  return ritz_run_elements(r->obj.ceed, num_batches, fill_batches, &filling);
}

static void free_rows(RitzRows **rows) {
  RITZ_FREE(&(*rows)->offsets);
  RITZ_FREE(&(*rows)->is_chain);
  RITZ_FREE(rows);
}

// Restrictions without rows get an entry, too: the search is not done twice.
int ritz_rows_get(CeedElemRestriction rstr, CeedInt row_length, CeedInt lanes, const RitzRows **rows) {
  RitzRows *new = NULL;
  *rows = NULL;
  for (RitzRows *r = rstr->data; r; r = r->next) {
    if (r->row_length == row_length && r->lanes == lanes) {
      *rows = r;
      return CEED_ERROR_SUCCESS;
    }
  }
  RITZ_TRY(RITZ_CALLOC(rstr->obj.ceed, 1, &new));
  new->row_length = row_length;
  new->lanes = lanes;
  new->has_rows = ritz_restriction_has_rows(rstr, row_length);
  int ierr = new->has_rows ? fill_rows(rstr, new) : CEED_ERROR_SUCCESS;
  if (ierr) {
    free_rows(&new);
    return ierr;
  }
  new->next = rstr->data;
  rstr->data = new;
  *rows = new;
  return CEED_ERROR_SUCCESS;
}

int ritz_rows_destroy(CeedElemRestriction rstr) {
  RitzRows *rows = rstr->data;
  while (rows) {
    RitzRows *next = rows->next;
    free_rows(&rows);
    rows = next;
  }
  rstr->data = NULL;
  return CEED_ERROR_SUCCESS;
}
