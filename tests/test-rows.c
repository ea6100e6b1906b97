// SPDX-License-Identifier: BSD-2-Clause
// The row index of restrictions (backends/cpu/rows.h): rows and chains are what their definition says, and
// the answer is kept with the restriction.
#include "backends/cpu/rows.h"
#include "tests/tap.h"

#include <stdlib.h>
#include <string.h>

static uint64_t seed = 7;

static CeedInt draw(CeedInt low, CeedInt high) {
  return low + (CeedInt)tap_integer(&seed, (int64_t)high - low + 1);
}

// ---- Boxes of elements, rows along the first direction ----

typedef struct {
  CeedInt n[2], P, num_comp; // elements, nodes per direction of an element, components
  bool is_interlaced;
} Box;

static CeedInt box_num_elem(const Box *box) { return box->n[0] * box->n[1]; }
static CeedInt box_num_nodes(const Box *box) {
  return (box->n[0] * (box->P - 1) + 1) * (box->n[1] * (box->P - 1) + 1);
}

// Node i of element e, numbered lexicographically.
static CeedInt box_node(const Box *box, CeedInt e, CeedInt i) {
  CeedInt step = box->P - 1, x = e % box->n[0] * step + i % box->P, y = e / box->n[0] * step + i / box->P;

  return y * (box->n[0] * step + 1) + x;
}

static Box draw_box(void) {
  Box box = {.P = draw(2, 5)};

  box.n[0] = draw(1, 20);
  box.n[1] = draw(1, 5);
  box.num_comp = draw(1, 3);
  box.is_interlaced = draw(0, 1);
  return box;
}

static CeedInt *box_offsets(const Box *box) {
  CeedInt size = box->P * box->P, num = box_num_elem(box) * size;
  CeedInt *offsets = calloc((size_t)num, sizeof(*offsets));

  if (!offsets) abort();
  for (CeedInt i = 0; i < num; i++)
    offsets[i] = box_node(box, i / size, i % size) * (box->is_interlaced ? box->num_comp : 1);
  return offsets;
}

static int create_restriction(Ceed ceed, const Box *box, const CeedInt *offsets, bool is_oriented,
                              CeedElemRestriction *rstr) {
  CeedInt num_elem = box_num_elem(box), size = box->P * box->P, num_nodes = box_num_nodes(box);
  CeedInt stride = box->is_interlaced ? 1 : num_nodes;
  CeedSize l_size = (CeedSize)num_nodes * box->num_comp;
  bool *orients = calloc((size_t)num_elem * (size_t)size, sizeof(*orients));

  if (!orients) abort();
  int ierr = is_oriented
                 ? CeedElemRestrictionCreateOriented(ceed, num_elem, size, box->num_comp, stride, l_size,
                                                     CEED_MEM_HOST, CEED_COPY_VALUES, offsets, orients, rstr)
                 : CeedElemRestrictionCreate(ceed, num_elem, size, box->num_comp, stride, l_size,
                                             CEED_MEM_HOST, CEED_COPY_VALUES, offsets, rstr);
  free(orients);
  return ierr;
}

static int destroy_restriction(CeedElemRestriction *rstr) {
  if (*rstr) ritz_rows_destroy(*rstr);
  return CeedElemRestrictionDestroy(rstr);
}

// ---- The definition ----

static void check_offsets(const RitzRows *rows, CeedInt num_elem, CeedInt elem_size, const CeedInt *offsets) {
  CeedInt num_rows = elem_size / rows->row_length, num_batches = (num_elem + rows->lanes - 1) / rows->lanes;

  for (CeedInt b = 0; b < num_batches; b++) {
    for (CeedInt row = 0; row < num_rows; row++) {
      for (CeedInt lane = 0; lane < rows->lanes; lane++) {
        CeedInt elem = b * rows->lanes + lane, last = num_elem - 1;
        CeedInt wanted = offsets[(elem < last ? elem : last) * elem_size + row * rows->row_length];
        int32_t found = rows->offsets[(b * num_rows + row) * rows->lanes + lane];

        CHECK(found == wanted, "batch %d, row %d, lane %d: %d, needed %d", b, row, lane, found, wanted);
      }
    }
  }
}

// step: from node to node in a row.
static void check_chains(const RitzRows *rows, CeedInt num_elem, CeedInt elem_size, const CeedInt *offsets,
                         CeedInt step) {
  for (CeedInt b = 0; b < (num_elem + rows->lanes - 1) / rows->lanes; b++) {
    bool is_chain = (b + 1) * rows->lanes <= num_elem;

    for (CeedInt elem = b * rows->lanes; is_chain && elem < (b + 1) * rows->lanes - 1; elem++) {
      for (CeedInt i = 0; i < elem_size; i += rows->row_length) {
        CeedInt end = offsets[elem * elem_size + i] + (rows->row_length - 1) * step;

        is_chain = is_chain && offsets[(elem + 1) * elem_size + i] == end;
      }
    }
    CHECK(rows->is_chain[b] == is_chain, "batch %d: %d, needed %d", b, rows->is_chain[b], is_chain);
  }
}

static int num_cases(void) {
  static const int num[] = {100, 1000, 10000};

  return num[tap_level()];
}

TEST(rows_of_a_box_are_found_and_its_chains) {
  Ceed ceed = tap_ceed("/cpu/self/ref");

  for (int k = 0; k < num_cases() && !tap_failed(); k++) {
    Box box = draw_box();
    CeedInt lanes = draw(1, 9), num_elem = box_num_elem(&box), size = box.P * box.P,
            *offsets = box_offsets(&box);
    CeedElemRestriction rstr = NULL;
    const RitzRows *rows = NULL;

    CHECK_OK(create_restriction(ceed, &box, offsets, draw(0, 1), &rstr));
    CHECK_OK(ritz_rows_get(rstr, box.P, lanes, &rows));
    CHECK(rows->has_rows && rows->row_length == box.P && rows->lanes == lanes, "no rows of %d nodes", box.P);
    check_offsets(rows, num_elem, size, offsets);
    if (!tap_failed()) check_chains(rows, num_elem, size, offsets, box.is_interlaced ? box.num_comp : 1);
    CHECK_OK(destroy_restriction(&rstr));
    free(offsets);
  }
  CeedDestroy(&ceed);
}

// 20 elements in a row: in batches of 8, two are chains, the third is not full.
TEST(full_batches_along_a_line_are_chains) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  Box box = {{20, 1}, 4, 1, false};
  CeedInt *offsets = box_offsets(&box);
  CeedElemRestriction rstr = NULL;
  const RitzRows *rows = NULL;

  CHECK_OK(create_restriction(ceed, &box, offsets, false, &rstr));
  CHECK_OK(ritz_rows_get(rstr, 4, 8, &rows));
  CHECK(rows->is_chain[0] && rows->is_chain[1] && !rows->is_chain[2], "chains %d %d %d", rows->is_chain[0],
        rows->is_chain[1], rows->is_chain[2]);
  CHECK_OK(destroy_restriction(&rstr));
  free(offsets);
  CeedDestroy(&ceed);
}

TEST(one_node_out_of_place_leaves_no_rows) {
  Ceed ceed = tap_ceed("/cpu/self/ref");

  for (int k = 0; k < num_cases(); k++) {
    Box box = draw_box();
    CeedInt size = box.P * box.P, *offsets = box_offsets(&box);
    CeedInt at = draw(0, box_num_elem(&box) * size - 1), unit = box.is_interlaced ? box.num_comp : 1;
    CeedElemRestriction rstr = NULL;
    const RitzRows *rows = NULL;

    offsets[at] += offsets[at] > 0 ? -unit : unit;
    CHECK_OK(create_restriction(ceed, &box, offsets, false, &rstr));
    CHECK_OK(ritz_rows_get(rstr, box.P, 8, &rows));
    CHECK(!rows->has_rows && !rows->offsets && !rows->is_chain, "node %d of %d is out of place", at, size);
    CHECK_OK(destroy_restriction(&rstr));
    free(offsets);
  }
  CeedDestroy(&ceed);
}

// Each element is two rows of four nodes, which do not follow each other.
TEST(rows_depend_on_their_length) {
  enum { num_elem = 3, size = 8 };
  Ceed ceed = tap_ceed("/cpu/self/ref");
  CeedElemRestriction rstr = NULL;
  CeedInt offsets[num_elem * size];
  const RitzRows *rows = NULL;

  for (CeedInt i = 0; i < num_elem * size; i++) offsets[i] = (i % size < 4 ? 0 : 50) + i;
  CHECK_OK(CeedElemRestrictionCreate(ceed, num_elem, size, 1, 1, 100, CEED_MEM_HOST, CEED_COPY_VALUES,
                                     offsets, &rstr));
  for (CeedInt length = 1; length <= 8; length++) {
    CHECK_OK(ritz_rows_get(rstr, length, 2, &rows));
    CHECK(rows->has_rows == (length == 1 || length == 2 || length == 4), "length %d", length);
  }
  CHECK_OK(destroy_restriction(&rstr));
  CeedDestroy(&ceed);
}

TEST(other_kinds_of_restrictions_have_no_rows) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  const CeedInt offsets[8] = {0, 1, 2, 3, 4, 5, 6, 7}, lists[5] = {3, 4, 5, 0, 1};
  const CeedInt8 curl[24] = {0, 1, 0, 0, 1, 0, 0, 1, 0, 0, 1, 0, 0, 1, 0, 0, 1, 0, 0, 1, 0, 0, 1, 0};
  CeedElemRestriction r[5] = {NULL};
  const RitzRows *rows = NULL;

  CHECK_OK(CeedElemRestrictionCreateStrided(ceed, 2, 4, 1, 8, CEED_STRIDES_BACKEND, &r[0]));
  CHECK_OK(CeedElemRestrictionCreateCurlOriented(ceed, 2, 4, 1, 1, 8, CEED_MEM_HOST, CEED_COPY_VALUES,
                                                 offsets, curl, &r[1]));
  CHECK_OK(CeedElemRestrictionCreateBlocked(ceed, 2, 4, 2, 1, 1, 8, CEED_MEM_HOST, CEED_COPY_VALUES, offsets,
                                            &r[2]));
  CHECK_OK(
      CeedElemRestrictionCreateAtPoints(ceed, 2, 2, 1, 2, CEED_MEM_HOST, CEED_COPY_VALUES, lists, &r[3]));
  CHECK_OK(CeedElemRestrictionCreate(ceed, 0, 4, 1, 1, 8, CEED_MEM_HOST, CEED_COPY_VALUES, NULL, &r[4]));
  for (int i = 0; i < 5; i++) {
    CHECK_OK(ritz_rows_get(r[i], 4, 8, &rows));
    CHECK(!rows->has_rows, "restriction %d", i);
    CHECK_OK(destroy_restriction(&r[i]));
  }
  CeedDestroy(&ceed);
}

// ---- Keeping ----

TEST(rows_are_found_once_and_go_with_the_restriction) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  Box box = {{4, 4}, 3, 1, false};
  CeedInt *offsets = box_offsets(&box);
  CeedElemRestriction rstr = NULL;
  const RitzRows *first = NULL, *other_length = NULL, *other_lanes = NULL, *again = NULL;

  CHECK_OK(create_restriction(ceed, &box, offsets, false, &rstr));
  int64_t live = ritz_memory_live();

  CHECK_OK(ritz_rows_get(rstr, 3, 8, &first));
  CHECK_OK(ritz_rows_get(rstr, 9, 8, &other_length));
  CHECK_OK(ritz_rows_get(rstr, 3, 4, &other_lanes));
  CHECK(first != other_length && first != other_lanes && other_lanes->lanes == 4,
        "one entry for several questions");
  CHECK(!other_length->has_rows, "an element is no row");
  CHECK_OK(ritz_rows_get(rstr, 3, 8, &again));
  CHECK(again == first, "found again");
  CHECK_OK(ritz_rows_get(rstr, 9, 8, &again));
  CHECK(again == other_length, "the negative answer was not kept");
  CHECK_OK(ritz_rows_destroy(rstr));
  CHECK(ritz_memory_live() == live, "something is left");
  CHECK_OK(ritz_rows_destroy(rstr));
  CHECK_OK(destroy_restriction(&rstr));
  free(offsets);
  CeedDestroy(&ceed);
}

TEST(without_memory_there_is_no_entry) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  Box box = {{4, 4}, 3, 1, false};
  CeedInt *offsets = box_offsets(&box);
  CeedElemRestriction rstr = NULL;
  const RitzRows *rows = NULL;
  int code = CEED_ERROR_MAJOR, num = 0;

  CHECK_OK(create_restriction(ceed, &box, offsets, false, &rstr));
  while (code && num < 10) {
    ritz_memory_fail_at(++num);
    code = ritz_rows_get(rstr, 3, 8, &rows);
    ritz_memory_fail_at(0);
    CHECK(!code || (code == CEED_ERROR_MAJOR && !rows && !rstr->data), "code %d", code);
  }
  CHECK(num == 4 && rows->has_rows, "%d allocations", num);
  CHECK_OK(destroy_restriction(&rstr));
  free(offsets);
  CeedDestroy(&ceed);
}

int main(int argc, char **argv) {
  return tap_main(argc, argv,
                  TESTS(rows_of_a_box_are_found_and_its_chains, full_batches_along_a_line_are_chains,
                        one_node_out_of_place_leaves_no_rows, rows_depend_on_their_length,
                        other_kinds_of_restrictions_have_no_rows,
                        rows_are_found_once_and_go_with_the_restriction, without_memory_there_is_no_entry));
}
