// SPDX-License-Identifier: BSD-2-Clause
// CeedElemRestriction at points: lists of points against the index formulas of the standard, queries, misuse.
// The other kinds are in tests/test-restriction.c.
#include "tests/api.h"
#include "tests/tap.h"

#include <ceed/backend.h>

// ---- Short forms ----

static void fill(CeedSize n, CeedScalar *x, uint64_t *state) {
  for (CeedSize i = 0; i < n; i++) x[i] = (CeedScalar)(tap_integer(state, 19) - 9);
}

// Destroys the vector.
static bool holds(CeedVector vec, CeedSize n, const CeedScalar *wanted) {
  bool is_right = vector_holds(vec, n, wanted);
  CeedVectorDestroy(&vec);
  return is_right;
}

static CeedSize e_size_of(CeedElemRestriction rstr) {
  CeedSize e_size = -1;
  CeedElemRestrictionGetEVectorSize(rstr, &e_size);
  return e_size;
}

// Points {4, 0} in element 0, none in element 1, {2} in element 2, {1, 3, 4} in element 3.
enum { P_ELEM = 4, P_POINTS = 6, P_COMP = 2, P_L_SIZE = 12 };
static const CeedInt point_lists[P_ELEM + 1 + P_POINTS] = {5, 7, 7, 8, 11, 4, 0, 2, 1, 3, 4};
static const CeedInt points_in[P_ELEM] = {2, 0, 1, 3}, points_before[P_ELEM] = {0, 2, 2, 3};

static CeedElemRestriction points(Ceed ceed, CeedInt num_comp) {
  CeedElemRestriction r = NULL;
  CeedElemRestrictionCreateAtPoints(ceed, P_ELEM, P_POINTS, num_comp, (CeedSize)P_POINTS * num_comp,
                                    CEED_MEM_HOST, CEED_COPY_VALUES, point_lists, &r);
  return r;
}

static void check_sizes(CeedElemRestriction r) {
  CeedInt num_elem = -1, elem_size = -1, num_comp = -1, stride = -1, block_size = -1, num_block = -1;
  CeedSize l_size = -1;
  CeedRestrictionType type;

  CHECK_OK(CeedElemRestrictionGetNumElements(r, &num_elem));
  CHECK_OK(CeedElemRestrictionGetElementSize(r, &elem_size));
  CHECK_OK(CeedElemRestrictionGetNumComponents(r, &num_comp));
  CHECK_OK(CeedElemRestrictionGetCompStride(r, &stride));
  CHECK_OK(CeedElemRestrictionGetNumBlocks(r, &num_block));
  CHECK_OK(CeedElemRestrictionGetBlockSize(r, &block_size));
  CHECK_OK(CeedElemRestrictionGetLVectorSize(r, &l_size));
  CHECK_OK(CeedElemRestrictionGetType(r, &type));
  CHECK(num_elem == P_ELEM && elem_size == 0 && num_comp == P_COMP && stride == 1, "elements and nodes");
  CHECK(block_size == 1 && num_block == P_ELEM && l_size == P_L_SIZE, "blocks and L-vector");
  CHECK(type == CEED_RESTRICTION_POINTS && e_size_of(r) >= P_POINTS * P_COMP, "E-size %td", e_size_of(r));
}

TEST_EACH_BACKEND(restrictions_at_points_answer_queries) {
  CeedElemRestriction r = points(ceed, P_COMP);
  CeedInt n = -1, least = -1, most = -1, layout[3];
  const CeedInt *offsets = NULL;

  CHECK(r, "not made");
  check_sizes(r);
  if (tap_failed()) return;
  CHECK_OK(CeedElemRestrictionGetNumPoints(r, &n));
  CHECK(n == P_POINTS, "%d points", n);
  for (CeedInt k = 0; k < P_ELEM; k++) {
    CHECK_OK(CeedElemRestrictionGetNumPointsInElement(r, k, &n));
    CHECK(n == points_in[k], "%d points in element %d", n, k);
  }
  CHECK_OK(CeedElemRestrictionGetMinMaxPointsInElement(r, &least, &most));
  CHECK(least == 0 && most == 3, "%d to %d", least, most);
  CHECK_OK(CeedElemRestrictionGetMinMaxPointsInElement(r, NULL, NULL));
  CHECK_OK(CeedElemRestrictionGetMinPointsInElement(r, &most));
  CHECK_OK(CeedElemRestrictionGetMaxPointsInElement(r, &least));
  CHECK(most == 0 && least == 3, "%d to %d", most, least);
  CHECK_OK(CeedElemRestrictionGetELayout(r, layout));
  CHECK(layout[0] == 1, "stride %d", layout[0]);
  CHECK_OK(CeedElemRestrictionGetOffsets(r, CEED_MEM_HOST, &offsets));
  CHECK(!memcmp(offsets, point_lists, sizeof(point_lists)), "offsets");
  CHECK_OK(CeedElemRestrictionRestoreOffsets(r, &offsets));
  CHECK_PRINTS("CeedElemRestriction at points from (12, 2) to 4 elements with a maximum of 3 points on an "
               "element\n",
               CeedElemRestrictionView(r, stream));
  CHECK_OK(CeedElemRestrictionDestroy(&r));
}

// On hosts a window of the most points stays in the E-vector wherever it begins: here the last element has
// most points, in the second restriction the first has.
TEST_EACH_BACKEND(the_e_vector_at_points_has_room_for_a_window_at_the_last_element) {
  const CeedInt lists[6] = {3, 5, 6, 4, 0, 2};
  CeedSize offset = -1;

  if (has_device_memory(ceed)) NOT_FOR_THIS_BACKEND("devices pad every element");
  CeedElemRestriction r = points(ceed, P_COMP);
  CHECK(e_size_of(r) == P_COMP * P_POINTS, "%td", e_size_of(r));
  for (CeedInt k = 0; k < P_ELEM; k++) {
    CHECK_OK(CeedElemRestrictionGetAtPointsElementOffset(r, k, &offset));
    CHECK(offset == P_COMP * points_before[k], "element %d begins at %td", k, offset);
  }
  CHECK_OK(CeedElemRestrictionDestroy(&r));
  CHECK_OK(CeedElemRestrictionCreateAtPoints(ceed, 2, 3, 3, 15, CEED_MEM_HOST, CEED_COPY_VALUES, lists, &r));
  CHECK(e_size_of(r) == 3 * (3 + 2 - 1), "%td", e_size_of(r));
  CHECK_OK(CeedElemRestrictionDestroy(&r));
}

// Entry of point i, component j of element k: L-vector point*num_comp + j, E-vector O(k) + j*n_k + i.
static void points_forward(const CeedScalar *x, CeedScalar *y) {
  for (CeedInt k = 0; k < P_ELEM; k++) {
    for (CeedInt j = 0; j < P_COMP; j++) {
      for (CeedInt i = 0; i < points_in[k]; i++) {
        y[P_COMP * points_before[k] + j * points_in[k] + i] = x[point_lists[point_lists[k] + i] * P_COMP + j];
      }
    }
  }
}

static void points_transposed(CeedInt first, CeedInt last, const CeedScalar *y, CeedScalar *x) {
  for (CeedInt k = first; k < last; k++) {
    for (CeedInt j = 0; j < P_COMP; j++) {
      for (CeedInt i = 0; i < points_in[k]; i++) {
        x[point_lists[point_lists[k] + i] * P_COMP + j] +=
            y[P_COMP * points_before[k] + j * points_in[k] + i];
      }
    }
  }
}

TEST_EACH_BACKEND(points_are_gathered_and_added_by_the_index_formulas) {
  CeedScalar x[P_L_SIZE], y[P_POINTS * P_COMP];
  uint64_t state = 3;

  if (has_device_memory(ceed)) NOT_FOR_THIS_BACKEND("devices pad every element");
  CeedElemRestriction r = points(ceed, P_COMP);
  fill(P_L_SIZE, x, &state);
  CeedVector l_vec = vector_of(ceed, P_L_SIZE, x), e_vec = vector_of(ceed, P_POINTS * P_COMP, NULL);
  CHECK_OK(CeedElemRestrictionApply(r, CEED_NOTRANSPOSE, l_vec, e_vec, CEED_REQUEST_IMMEDIATE));
  points_forward(x, y);
  CHECK(holds(e_vec, P_POINTS * P_COMP, y), "forward");
  fill(P_POINTS * P_COMP, y, &state);
  e_vec = vector_of(ceed, P_POINTS * P_COMP, y);
  CHECK_OK(CeedElemRestrictionApply(r, CEED_TRANSPOSE, e_vec, l_vec, CEED_REQUEST_IMMEDIATE));
  points_transposed(0, P_ELEM, y, x);
  CHECK(holds(l_vec, P_L_SIZE, x), "transposed");
  CHECK_OK(CeedVectorDestroy(&e_vec));
  CHECK_OK(CeedElemRestrictionDestroy(&r));
}

TEST_EACH_BACKEND(points_of_one_element_are_gathered_and_added_alone) {
  CeedElemRestriction r = points(ceed, P_COMP);
  uint64_t state = 4;

  for (CeedInt k = 0; k < P_ELEM; k++) {
    CeedScalar x[P_L_SIZE], y[P_POINTS * P_COMP] = {0};
    CeedSize size = (CeedSize)P_COMP * points_in[k], begin = (CeedSize)P_COMP * points_before[k];
    fill(P_L_SIZE, x, &state);
    CeedVector l_vec = vector_of(ceed, P_L_SIZE, x), e_vec = vector_of(ceed, size + 1, y); // one too long
    CHECK_OK(CeedElemRestrictionApplyAtPointsInElement(r, k, CEED_NOTRANSPOSE, l_vec, e_vec,
                                                       CEED_REQUEST_IMMEDIATE));
    points_forward(x, y);
    CHECK(holds(e_vec, size, y + begin), "element %d, forward", k);
    fill(size, y + begin, &state);
    e_vec = vector_of(ceed, size, y + begin);
    CHECK_OK(CeedElemRestrictionApplyAtPointsInElement(r, k, CEED_TRANSPOSE, e_vec, l_vec,
                                                       CEED_REQUEST_IMMEDIATE));
    points_transposed(k, k + 1, y, x);
    CHECK(holds(l_vec, P_L_SIZE, x), "element %d, transposed", k);
    CHECK_OK(CeedVectorDestroy(&e_vec));
  }
  CHECK_OK(CeedElemRestrictionDestroy(&r));
}

TEST_EACH_BACKEND(lists_of_points_that_make_no_sense_are_refused) {
  CeedElemRestriction r = NULL;
  const CeedInt good[6] = {3, 5, 6, 4, 0, 2}, early[6] = {2, 5, 6, 4, 0, 2}, late[6] = {3, 5, 7, 4, 0, 2},
                back[6] = {3, 2, 6, 4, 0, 2}, beyond[6] = {3, 7, 6, 4, 0, 2}, low[6] = {3, 5, 6, -1, 0, 2},
                high[6] = {3, 5, 6, 4, 0, 5};
  const CeedInt *const bad[] = {early, late, back, beyond, low, high};

#define CREATE(ne, num, nc, l, mem, lists)                                                                   \
  CeedElemRestrictionCreateAtPoints(ceed, ne, num, nc, l, mem, CEED_COPY_VALUES, lists, &r)
#define REFUSED(code, call) CHECK_ERROR(ceed, call, code, "CeedElemRestrictionCreateAtPoints")
  REFUSED(CEED_ERROR_DIMENSION, CREATE(-1, 3, 1, 5, CEED_MEM_HOST, good));
  REFUSED(CEED_ERROR_DIMENSION, CREATE(2, -1, 1, 5, CEED_MEM_HOST, good));
  REFUSED(CEED_ERROR_DIMENSION, CREATE(2, 3, 0, 5, CEED_MEM_HOST, good));
  REFUSED(CEED_ERROR_DIMENSION, CREATE(2, 3, 1, 2, CEED_MEM_HOST, good));
  REFUSED(CEED_ERROR_DIMENSION, CREATE(2, 3, 2, 5, CEED_MEM_HOST, good));
  REFUSED(CEED_ERROR_BACKEND, CREATE(2, 3, 1, 5, CEED_MEM_DEVICE, good)); // all resources want a host array
  REFUSED(CEED_ERROR_BACKEND, CREATE(2, 3, 1, 5, CEED_MEM_HOST, NULL));
  for (int i = 0; i < 6; i++) {
    tap_forget_error(ceed);
    CHECK(CREATE(2, 3, 1, 5, CEED_MEM_HOST, bad[i]) == CEED_ERROR_BACKEND, "list %d", i);
  }
  CHECK_ERROR(ceed,
              CeedElemRestrictionCreateAtPoints(ceed, 2, 3, 1, 5, CEED_MEM_HOST, (CeedCopyMode)9, good, &r),
              CEED_ERROR_INCOMPATIBLE, "copy mode");
  CHECK(r == NULL, "a handle is made");
  CHECK_OK(CREATE(2, 3, 1, 5, CEED_MEM_HOST, good));
  CHECK_OK(CeedElemRestrictionDestroy(&r));
#undef REFUSED
#undef CREATE
}

TEST_EACH_BACKEND(at_points_without_elements_or_points) {
  const CeedInt empty[3] = {3, 3, 3}, nothing[1] = {1};
  CeedElemRestriction r = NULL;
  CeedInt least = -1, most = -1;

  CHECK_OK(CeedElemRestrictionCreateAtPoints(ceed, 2, 0, 1, 0, CEED_MEM_HOST, CEED_COPY_VALUES, empty, &r));
  CHECK(e_size_of(r) == 0, "%td", e_size_of(r));
  CHECK_OK(CeedElemRestrictionDestroy(&r));
  CHECK_OK(CeedElemRestrictionCreateAtPoints(ceed, 0, 0, 1, 0, CEED_MEM_HOST, CEED_COPY_VALUES, NULL, &r));
  CHECK_OK(CeedElemRestrictionGetMinMaxPointsInElement(r, &least, &most));
  CHECK(e_size_of(r) == 0 && least == 0 && most == 0, "%td, %d, %d", e_size_of(r), least, most);
  CHECK_OK(CeedElemRestrictionDestroy(&r));
  CHECK_OK(CeedElemRestrictionCreateAtPoints(ceed, 0, 0, 1, 0, CEED_MEM_HOST, CEED_OWN_POINTER,
                                             duplicate(nothing, sizeof(nothing)), &r));
  CHECK_OK(CeedElemRestrictionDestroy(&r)); // and the array with it
}

TEST_EACH_BACKEND(questions_about_points_need_points) {
  CeedElemRestriction r = NULL, at_points = points(ceed, 1);
  CeedInt n = 0;
  CeedSize offset = 0;
  bool are_compatible = false;

  CHECK_OK(CeedElemRestrictionCreateStrided(ceed, 2, 2, 1, 4, CEED_STRIDES_BACKEND, &r));
#define REFUSED(code, call, fragment) CHECK_ERROR(ceed, call, code, fragment)
  REFUSED(CEED_ERROR_INCOMPATIBLE, CeedElemRestrictionGetNumPoints(r, &n), "GetNumPoints");
  REFUSED(CEED_ERROR_INCOMPATIBLE, CeedElemRestrictionGetNumPointsInElement(r, 0, &n), "InElement");
  REFUSED(CEED_ERROR_INCOMPATIBLE, CeedElemRestrictionGetMinPointsInElement(r, &n), "PointsInElement");
  REFUSED(CEED_ERROR_INCOMPATIBLE, CeedElemRestrictionGetMaxPointsInElement(r, &n), "PointsInElement");
  REFUSED(CEED_ERROR_INCOMPATIBLE, CeedElemRestrictionGetMinMaxPointsInElement(r, &n, &n), "MinMax");
  REFUSED(CEED_ERROR_INCOMPATIBLE, CeedElemRestrictionGetAtPointsElementOffset(r, 0, &offset),
          "ElementOffset");
  REFUSED(CEED_ERROR_UNSUPPORTED, CeedElemRestrictionAtPointsAreCompatible(r, at_points, &are_compatible),
          "AreCompatible");
  REFUSED(CEED_ERROR_UNSUPPORTED, CeedElemRestrictionAtPointsAreCompatible(at_points, r, &are_compatible),
          "AreCompatible");
  CeedVector l = vector_of(ceed, P_POINTS, NULL), e = vector_of(ceed, 3, NULL);
  CHECK_OK(CeedVectorSetValue(l, 1));
  REFUSED(CEED_ERROR_DIMENSION,
          CeedElemRestrictionApplyAtPointsInElement(at_points, P_ELEM, CEED_NOTRANSPOSE, l, e,
                                                    CEED_REQUEST_IMMEDIATE),
          "element");
  REFUSED(CEED_ERROR_DIMENSION,
          CeedElemRestrictionApplyAtPointsInElement(at_points, -1, CEED_NOTRANSPOSE, l, e,
                                                    CEED_REQUEST_IMMEDIATE),
          "element");
  REFUSED(CEED_ERROR_DIMENSION,
          CeedElemRestrictionApplyAtPointsInElement(at_points, 3, CEED_NOTRANSPOSE, e, l,
                                                    CEED_REQUEST_IMMEDIATE),
          "L-vector");
  CHECK_OK(CeedVectorDestroy(&e));
  CHECK_OK(CeedVectorCreate(ceed, 2, &e));
  REFUSED(CEED_ERROR_DIMENSION,
          CeedElemRestrictionApplyAtPointsInElement(at_points, 3, CEED_NOTRANSPOSE, l, e,
                                                    CEED_REQUEST_IMMEDIATE),
          "E-vector");
#undef REFUSED
  CHECK_OK(CeedVectorDestroy(&l));
  CHECK_OK(CeedVectorDestroy(&e));
  CHECK_OK(CeedElemRestrictionDestroy(&r));
  CHECK_OK(CeedElemRestrictionDestroy(&at_points));
}

TEST_EACH_BACKEND(points_are_compatible_when_all_their_numbers_agree) {
  CeedInt lists[P_ELEM + 1 + P_POINTS];
  CeedElemRestriction a = points(ceed, 1), b = points(ceed, 2), c = NULL;
  bool are_compatible = false;

  CHECK_OK(CeedElemRestrictionAtPointsAreCompatible(a, b, &are_compatible));
  CHECK(are_compatible, "components do not matter");
  memcpy(lists, point_lists, sizeof(lists));
  lists[P_ELEM + P_POINTS] = 5; // the last point
  CHECK_OK(CeedElemRestrictionCreateAtPoints(ceed, P_ELEM, P_POINTS, 1, P_POINTS, CEED_MEM_HOST,
                                             CEED_COPY_VALUES, lists, &c));
  CHECK_OK(CeedElemRestrictionAtPointsAreCompatible(a, c, &are_compatible));
  CHECK(!are_compatible, "another point");
  CHECK_OK(CeedElemRestrictionDestroy(&a));
  CHECK_OK(CeedElemRestrictionDestroy(&b));
  CHECK_OK(CeedElemRestrictionDestroy(&c));
}

int main(int argc, char **argv) {
  return tap_main(argc, argv,
                  TESTS(restrictions_at_points_answer_queries,
                        the_e_vector_at_points_has_room_for_a_window_at_the_last_element,
                        points_are_gathered_and_added_by_the_index_formulas,
                        points_of_one_element_are_gathered_and_added_alone,
                        lists_of_points_that_make_no_sense_are_refused, at_points_without_elements_or_points,
                        questions_about_points_need_points,
                        points_are_compatible_when_all_their_numbers_agree));
}
