// SPDX-License-Identifier: BSD-2-Clause
// CeedElemRestriction: every kind against the index formulas of the standard written out with plain loops,
// then queries, views, access to offsets, misuse. Values are small integers, so that results are exact.
#include "tests/api.h"
#include "tests/tap.h"

#include <ceed/backend.h>

// ---- Cases: a restriction and the arrays that define it ----

typedef enum { STANDARD, ORIENTED, CURL, STRIDED, NUM_KINDS } Kind;
typedef enum { SIGNED, UNSIGNED, UNORIENTED, NUM_VARIANTS } Variant;

enum { MAX_ELEM = 7, MAX_SIZE = 5 };

typedef struct {
  Kind kind;
  Variant variant;
  CeedInt num_elem, elem_size, num_comp, comp_stride, block_size; // block_size 0: not made as a blocked one
  CeedSize l_size;
  CeedInt offsets[MAX_ELEM * MAX_SIZE], strides[3];
  bool orients[MAX_ELEM * MAX_SIZE];
  CeedInt8 curl_orients[3 * MAX_ELEM * MAX_SIZE];
  CeedElemRestriction rstr; // owned
} Case;

static int create_plain(Ceed ceed, const Case *c, CeedElemRestriction *rstr) {
  CeedInt ne = c->num_elem, size = c->elem_size, nc = c->num_comp, stride = c->comp_stride;

  switch (c->kind) {
  case ORIENTED:
    return CeedElemRestrictionCreateOriented(ceed, ne, size, nc, stride, c->l_size, CEED_MEM_HOST,
                                             CEED_COPY_VALUES, c->offsets, c->orients, rstr);
  case CURL:
    return CeedElemRestrictionCreateCurlOriented(ceed, ne, size, nc, stride, c->l_size, CEED_MEM_HOST,
                                                 CEED_COPY_VALUES, c->offsets, c->curl_orients, rstr);
  case STRIDED: return CeedElemRestrictionCreateStrided(ceed, ne, size, nc, c->l_size, c->strides, rstr);
  default:
    return CeedElemRestrictionCreate(ceed, ne, size, nc, stride, c->l_size, CEED_MEM_HOST, CEED_COPY_VALUES,
                                     c->offsets, rstr);
  }
}

static int create_blocked(Ceed ceed, const Case *c, CeedElemRestriction *rstr) {
  CeedInt ne = c->num_elem, size = c->elem_size, b = c->block_size, nc = c->num_comp, stride = c->comp_stride;

  switch (c->kind) {
  case ORIENTED:
    return CeedElemRestrictionCreateBlockedOriented(ceed, ne, size, b, nc, stride, c->l_size, CEED_MEM_HOST,
                                                    CEED_COPY_VALUES, c->offsets, c->orients, rstr);
  case CURL:
    return CeedElemRestrictionCreateBlockedCurlOriented(ceed, ne, size, b, nc, stride, c->l_size,
                                                        CEED_MEM_HOST, CEED_COPY_VALUES, c->offsets,
                                                        c->curl_orients, rstr);
  case STRIDED:
    return CeedElemRestrictionCreateBlockedStrided(ceed, ne, size, b, nc, c->l_size, c->strides, rstr);
  default:
    return CeedElemRestrictionCreateBlocked(ceed, ne, size, b, nc, stride, c->l_size, CEED_MEM_HOST,
                                            CEED_COPY_VALUES, c->offsets, rstr);
  }
}

// Makes the object; an unsigned or unoriented copy outlives the handle of its original.
static int create(Ceed ceed, Case *c) {
  CeedElemRestriction original = NULL;
  int ierr = (c->block_size ? create_blocked : create_plain)(ceed, c, &original);

  if (ierr || c->variant == SIGNED) {
    c->rstr = original;
    return ierr;
  }
  ierr = (c->variant == UNSIGNED ? CeedElemRestrictionCreateUnsignedCopy
                                 : CeedElemRestrictionCreateUnorientedCopy)(original, &c->rstr);
  int destroyed = CeedElemRestrictionDestroy(&original);
  return ierr ? ierr : destroyed;
}

// Random arrays; L-entries beyond the referenced ones exist. Components are interlaced or in blocks.
static void fill_case(Case *c, uint64_t *state) {
  CeedInt num_nodes = 1 + (CeedInt)tap_integer(state, 2 * MAX_ELEM), n = c->num_elem * c->elem_size;
  bool interlaced = tap_integer(state, 2);

  c->comp_stride = interlaced ? 1 : num_nodes + 2;
  c->l_size = (CeedSize)(num_nodes + 2) * c->num_comp + 3;
  for (CeedInt k = 0; k < n; k++) {
    c->offsets[k] = (CeedInt)tap_integer(state, num_nodes) * (interlaced ? c->num_comp : 1);
    c->orients[k] = tap_integer(state, 2);
    for (int d = 0; d < 3; d++) c->curl_orients[3 * k + d] = (CeedInt8)(tap_integer(state, 5) - 2);
  }
  if (c->kind != STRIDED) return;
  const CeedInt size = c->elem_size, nc = c->num_comp;
  const CeedInt choices[5][3] = {{1, size, size * nc},
                                 {nc, 1, nc * size},
                                 {1, size * c->num_elem, size},
                                 {2, 2 * size, 2 * size * nc},
                                 {0, 0, 0}};
  memcpy(c->strides, choices[tap_integer(state, 5)], sizeof(c->strides));
  c->l_size = 2 * n * nc + 3;
}

// Kinds, variants, blocks and sizes of the number-th case, and random contents.
static void choose_case(int number, Case *c) {
  static const CeedInt block_sizes[] = {0, 1, 2, 3, MAX_ELEM, 16};
  uint64_t state = (uint64_t)number;

  memset(c, 0, sizeof(*c));
  c->kind = (Kind)(number % NUM_KINDS);
  c->variant = (Variant)(number / NUM_KINDS % NUM_VARIANTS);
  c->block_size = block_sizes[number / NUM_KINDS / NUM_VARIANTS % 6];
  c->num_elem = 1 + (CeedInt)tap_integer(&state, MAX_ELEM);
  c->elem_size = 1 + (CeedInt)tap_integer(&state, MAX_SIZE);
  c->num_comp = 1 + (CeedInt)tap_integer(&state, 3);
  fill_case(c, &state);
}

static int num_cases(void) { return NUM_KINDS * NUM_VARIANTS * 6 * (tap_level() == TAP_QUICK ? 4 : 40); }

#define CASE_TEXT "case %d: kind %d, variant %d, block %d, %d elements of %d nodes, %d components"
#define CASE_ARGS(number, c)                                                                                 \
  number, (c)->kind, (c)->variant, (c)->block_size, (c)->num_elem, (c)->elem_size, (c)->num_comp

// ---- The formulas of doc/ceed-api.md, Element restrictions ----

static CeedSize l_index(const Case *c, CeedInt k, CeedInt i, CeedInt j) {
  CeedInt s[3];

  if (c->kind != STRIDED) return c->offsets[k * c->elem_size + i] + (CeedSize)j * c->comp_stride;
  CeedElemRestrictionGetLLayout(c->rstr, s);
  return (CeedSize)i * s[0] + (CeedSize)j * s[1] + (CeedSize)k * s[2];
}

static CeedSize e_index(const Case *c, CeedInt k, CeedInt i, CeedInt j) {
  CeedInt layout[3], b = c->block_size;

  if (b > 1) {
    return (CeedSize)(k / b) * b * c->elem_size * c->num_comp + ((CeedSize)j * c->elem_size + i) * b + k % b;
  }
  CeedElemRestrictionGetELayout(c->rstr, layout);
  return (CeedSize)i * layout[0] + (CeedSize)j * layout[1] + (CeedSize)k * layout[2];
}

// Entry (i, n) of the orientation matrix T of element k.
static int orientation(const Case *c, CeedInt k, CeedInt i, CeedInt n) {
  CeedInt node = k * c->elem_size + i;

  if (c->kind == CURL && c->variant != UNORIENTED) {
    if (n < i - 1 || n > i + 1) return 0;
    int entry = c->curl_orients[3 * node + (n - i) + 1];
    return c->variant == UNSIGNED ? abs(entry) : entry;
  }
  if (i != n) return 0;
  return c->kind == ORIENTED && c->variant == SIGNED && c->orients[node] ? -1 : 1;
}

// y = E x. Padding lanes repeat the last element.
static void restrict_forward(const Case *c, const CeedScalar *x, CeedScalar *y) {
  CeedInt b = c->block_size > 1 ? c->block_size : 1, end = (c->num_elem + b - 1) / b * b;

  for (CeedInt k = 0; k < end; k++) {
    CeedInt source = k < c->num_elem ? k : c->num_elem - 1;
    for (CeedInt j = 0; j < c->num_comp; j++) {
      for (CeedInt i = 0; i < c->elem_size; i++) {
        CeedScalar sum = 0;
        for (CeedInt n = 0; n < c->elem_size; n++) {
          sum += orientation(c, source, i, n) * x[l_index(c, source, n, j)];
        }
        y[e_index(c, k, i, j)] = sum;
      }
    }
  }
}

// x += E^T y for elements first to last - 1.
static void restrict_transposed(const Case *c, CeedInt first, CeedInt last, const CeedScalar *y,
                                CeedScalar *x) {
  for (CeedInt k = first; k < last && k < c->num_elem; k++) {
    for (CeedInt j = 0; j < c->num_comp; j++) {
      for (CeedInt i = 0; i < c->elem_size; i++) {
        for (CeedInt n = 0; n < c->elem_size; n++) {
          x[l_index(c, k, n, j)] += orientation(c, k, i, n) * y[e_index(c, k, i, j)];
        }
      }
    }
  }
}

// ---- Vectors of integers ----

enum { MAX_LENGTH = 1000, EXTRA = 2 };

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

static void skip_or_create(Ceed ceed, Case *c) {
  if (c->block_size && has_device_memory(ceed)) return; // blocks are for hosts
  CHECK_OK(create(ceed, c));
}

// ---- Actions ----

TEST_EACH_BACKEND(the_forward_action_follows_the_index_formulas) {
  for (int number = 0; number < num_cases(); number++) {
    uint64_t state = (uint64_t)number;
    CeedScalar x[MAX_LENGTH], y[MAX_LENGTH];
    Case c;
    choose_case(number, &c);
    skip_or_create(ceed, &c);
    if (!c.rstr) continue;
    CeedSize e_size = e_size_of(c.rstr);
    CHECK(e_size + EXTRA <= MAX_LENGTH && c.l_size <= MAX_LENGTH, "sizes of this test");
    fill(c.l_size + EXTRA, x, &state); // both vectors are longer than they need be
    fill(e_size + EXTRA, y, &state);   // is overwritten
    CeedVector l_vec = vector_of(ceed, c.l_size + EXTRA, x), e_vec = vector_of(ceed, e_size + EXTRA, y);
    CeedVector empty = vector_of(ceed, e_size, NULL);
    CHECK_OK(CeedElemRestrictionApply(c.rstr, CEED_NOTRANSPOSE, l_vec, e_vec, CEED_REQUEST_IMMEDIATE));
    CHECK_OK(CeedElemRestrictionApply(c.rstr, CEED_NOTRANSPOSE, l_vec, empty, CEED_REQUEST_ORDERED));
    restrict_forward(&c, x, y);
    CHECK(holds(e_vec, e_size, y), CASE_TEXT, CASE_ARGS(number, &c));
    CHECK(holds(empty, e_size, y), CASE_TEXT, CASE_ARGS(number, &c));
    CHECK(holds(l_vec, c.l_size + EXTRA, x), "the input changes");
    CHECK_OK(CeedElemRestrictionDestroy(&c.rstr));
  }
}

TEST_EACH_BACKEND(the_transpose_adds_by_the_index_formulas) {
  for (int number = 0; number < num_cases(); number++) {
    uint64_t state = (uint64_t)number;
    CeedScalar x[MAX_LENGTH], y[MAX_LENGTH];
    Case c;
    choose_case(number, &c);
    skip_or_create(ceed, &c);
    if (!c.rstr) continue;
    CeedSize e_size = e_size_of(c.rstr);
    fill(c.l_size + EXTRA, x, &state);
    fill(e_size + EXTRA, y, &state); // padding lanes hold numbers, which do not count
    CeedVector l_vec = vector_of(ceed, c.l_size + EXTRA, x), e_vec = vector_of(ceed, e_size + EXTRA, y);
    CHECK_OK(CeedElemRestrictionApply(c.rstr, CEED_TRANSPOSE, e_vec, l_vec, CEED_REQUEST_IMMEDIATE));
    restrict_transposed(&c, 0, c.num_elem, y, x);
    CHECK(holds(l_vec, c.l_size + EXTRA, x), CASE_TEXT, CASE_ARGS(number, &c));
    CHECK(holds(e_vec, e_size + EXTRA, y), "the input changes");
    CHECK_OK(CeedElemRestrictionDestroy(&c.rstr));
  }
}

// One block alone: [num_comp][elem_size][block_size], which starts where the block starts in the E-vector of
// a host; an ordinary restriction has blocks of one element.
static void check_blocks(Ceed ceed, Case *c, int number) {
  CeedInt num_block = 0, b = 0;
  CHECK_OK(CeedElemRestrictionGetNumBlocks(c->rstr, &num_block));
  CHECK_OK(CeedElemRestrictionGetBlockSize(c->rstr, &b));
  CHECK(b == (c->block_size > 1 ? c->block_size : 1) && num_block == (c->num_elem + b - 1) / b, CASE_TEXT,
        CASE_ARGS(number, c));
  CeedSize size = (CeedSize)b * c->elem_size * c->num_comp;
  for (CeedInt block = 0; block < num_block; block++) {
    uint64_t state = (uint64_t)number;
    CeedScalar x[MAX_LENGTH], y[MAX_LENGTH];
    fill(c->l_size, x, &state);
    CeedVector l_vec = vector_of(ceed, c->l_size, x), e_vec = vector_of(ceed, size, NULL);
    CHECK_OK(CeedElemRestrictionApplyBlock(c->rstr, block, CEED_NOTRANSPOSE, l_vec, e_vec,
                                           CEED_REQUEST_IMMEDIATE));
    restrict_forward(c, x, y);
    CHECK(holds(e_vec, size, y + block * size), CASE_TEXT ", block %d", CASE_ARGS(number, c), block);
    fill(size, y + block * size, &state);
    e_vec = vector_of(ceed, size, y + block * size);
    CHECK_OK(
        CeedElemRestrictionApplyBlock(c->rstr, block, CEED_TRANSPOSE, e_vec, l_vec, CEED_REQUEST_IMMEDIATE));
    restrict_transposed(c, block * b, (block + 1) * b, y, x);
    CHECK(holds(l_vec, c->l_size, x), CASE_TEXT ", block %d", CASE_ARGS(number, c), block);
    CHECK_OK(CeedVectorDestroy(&e_vec));
  }
}

TEST_EACH_BACKEND(a_single_block_is_a_part_of_the_whole) {
  if (has_device_memory(ceed)) NOT_FOR_THIS_BACKEND("blocks are for hosts");
  for (int number = 0; number < num_cases(); number++) {
    Case c;
    choose_case(number, &c);
    CHECK_OK(create(ceed, &c));
    check_blocks(ceed, &c, number);
    if (tap_failed()) return;
    CHECK_OK(CeedElemRestrictionDestroy(&c.rstr));
  }
}

// mult = E^T E 1, also for oriented kinds; what it held before is gone.
TEST_EACH_BACKEND(the_multiplicity_is_the_transpose_applied_to_the_restricted_ones) {
  for (int number = 0; number < num_cases(); number++) {
    CeedScalar x[MAX_LENGTH], y[MAX_LENGTH], zeros[MAX_LENGTH] = {0};
    Case c;
    choose_case(number, &c);
    skip_or_create(ceed, &c);
    if (!c.rstr) continue;
    for (int i = 0; i < MAX_LENGTH; i++) x[i] = 1;
    CeedVector mult = vector_of(ceed, c.l_size + EXTRA, x);
    CHECK_OK(CeedElemRestrictionGetMultiplicity(c.rstr, mult));
    restrict_forward(&c, x, y);
    restrict_transposed(&c, 0, c.num_elem, y, zeros);
    CHECK(holds(mult, c.l_size, zeros), CASE_TEXT, CASE_ARGS(number, &c));
    CHECK_OK(CeedElemRestrictionDestroy(&c.rstr));
  }
}

TEST_EACH_BACKEND(the_strides_of_the_backend_make_an_identity) {
  enum { NUM = 3 * 4 * 2 };
  CeedElemRestriction rstr = NULL;
  CeedScalar x[NUM];
  CeedInt e_layout[3], l_layout[3];
  const CeedInt zeros[3] = {0, 0, 0}; // recognised by value

  for (int i = 0; i < NUM; i++) x[i] = (CeedScalar)1 / (i + 3);
  CHECK_OK(CeedElemRestrictionCreateStrided(ceed, 3, 4, 2, NUM, zeros, &rstr));
  CHECK_OK(CeedElemRestrictionGetELayout(rstr, e_layout));
  CHECK_OK(CeedElemRestrictionGetLLayout(rstr, l_layout));
  CHECK(!memcmp(e_layout, l_layout, sizeof(e_layout)) && e_layout[0] != 0, "layouts differ");
  CeedVector l_vec = vector_of(ceed, NUM, x), e_vec = vector_of(ceed, NUM, NULL);
  CHECK_OK(CeedElemRestrictionApply(rstr, CEED_NOTRANSPOSE, l_vec, e_vec, CEED_REQUEST_IMMEDIATE));
  CHECK_OK(CeedVectorDestroy(&l_vec));
  CHECK(holds(e_vec, NUM, x), "not a copy");
  CHECK_OK(CeedElemRestrictionDestroy(&rstr));
}

// What the standard demands of layouts: three strides that reach every entry once; equal sizes, equal
// layouts; a single component lies as [num_elem][elem_size].
TEST_EACH_BACKEND(e_layouts_number_the_entries_and_depend_on_sizes_alone) {
  const CeedInt sizes[][3] = {{1, 1, 1}, {4, 3, 1}, {4, 3, 2}, {1, 5, 3}, {6, 1, 2}}; // elements, nodes, comp
  CeedInt offsets[32] = {0}, layout[3], other[3];

  for (int s = 0; s < 5; s++) {
    CeedInt ne = sizes[s][0], size = sizes[s][1], nc = sizes[s][2];
    CeedElemRestriction plain = NULL, strided = NULL;
    bool is_used[64] = {false};
    CHECK_OK(CeedElemRestrictionCreate(ceed, ne, size, nc, 1, 40, CEED_MEM_HOST, CEED_COPY_VALUES, offsets,
                                       &plain));
    CHECK_OK(
        CeedElemRestrictionCreateStrided(ceed, ne, size, nc, ne * size * nc, CEED_STRIDES_BACKEND, &strided));
    CHECK_OK(CeedElemRestrictionGetELayout(plain, layout));
    CHECK_OK(CeedElemRestrictionGetELayout(strided, other));
    CHECK(!memcmp(layout, other, sizeof(layout)), "sizes %d: layouts differ", s);
    for (CeedInt k = 0; k < ne * size * nc; k++) {
      CeedInt index = k % size * layout[0] + k / size % nc * layout[1] + k / size / nc * layout[2];
      CHECK(index >= 0 && index < ne * size * nc && !is_used[index], "sizes %d: entry %d at %d", s, k, index);
      is_used[index] = true;
    }
    if (nc == 1) CHECK(layout[0] == 1 && layout[2] == size, "sizes %d: {%d, ., %d}", s, layout[0], layout[2]);
    if (!has_device_memory(ceed))
      CHECK(layout[0] == 1 && layout[1] == size && layout[2] == size * nc, "sizes %d", s);
    CHECK_OK(CeedElemRestrictionDestroy(&plain));
    CHECK_OK(CeedElemRestrictionDestroy(&strided));
  }
}

TEST_EACH_BACKEND(without_elements_nothing_is_touched) {
  const CeedScalar x[3] = {1, 2, 3};
  CeedElemRestriction rstr = NULL, strided = NULL;
  CeedSize e_size = -1;
  CeedInt num_block = -1;

  CHECK_OK(CeedElemRestrictionCreate(ceed, 0, 4, 1, 1, 3, CEED_MEM_HOST, CEED_COPY_VALUES, NULL, &rstr));
  CHECK_OK(CeedElemRestrictionCreateStrided(ceed, 0, 4, 2, 0, CEED_STRIDES_BACKEND, &strided));
  CHECK_OK(CeedElemRestrictionGetEVectorSize(rstr, &e_size));
  CHECK_OK(CeedElemRestrictionGetNumBlocks(rstr, &num_block));
  CHECK(e_size == 0 && num_block == 0, "E-size %td, %d blocks", e_size, num_block);
  CeedVector l_vec = vector_of(ceed, 3, x), e_vec = vector_of(ceed, 2, x), none = vector_of(ceed, 0, NULL);
  CHECK_OK(CeedElemRestrictionApply(rstr, CEED_NOTRANSPOSE, l_vec, e_vec, CEED_REQUEST_IMMEDIATE));
  CHECK_OK(CeedElemRestrictionApply(rstr, CEED_TRANSPOSE, e_vec, l_vec, CEED_REQUEST_IMMEDIATE));
  CHECK_OK(CeedElemRestrictionApply(strided, CEED_NOTRANSPOSE, none, e_vec, CEED_REQUEST_IMMEDIATE));
  CHECK_ERROR(ceed,
              CeedElemRestrictionApplyBlock(rstr, 0, CEED_NOTRANSPOSE, l_vec, none, CEED_REQUEST_IMMEDIATE),
              CEED_ERROR_DIMENSION, "CeedElemRestrictionApplyBlock");
  CHECK_OK(
      CeedElemRestrictionGetMultiplicity(rstr, none = (CeedVectorDestroy(&none), vector_of(ceed, 3, x))));
  CHECK(holds(e_vec, 2, x) && holds(l_vec, 3, x), "something is written");
  CHECK(holds(none, 3, (CeedScalar[3]){0}), "a multiplicity");
  CHECK_OK(CeedElemRestrictionDestroy(&rstr));
  CHECK_OK(CeedElemRestrictionDestroy(&strided));
}

// ---- Small restrictions for what follows ----

static const CeedInt two_lines[4] = {0, 1, 1, 2};

static CeedElemRestriction lines(Ceed ceed) {
  CeedElemRestriction rstr = NULL;
  CeedElemRestrictionCreate(ceed, 2, 2, 1, 1, 3, CEED_MEM_HOST, CEED_COPY_VALUES, two_lines, &rstr);
  return rstr;
}

// Restricts {1, 2, 3} with two_lines, to see that an object still works.
static void check_works(Ceed ceed, CeedElemRestriction rstr) {
  CeedVector l_vec = vector_of(ceed, 3, (const CeedScalar[]){1, 2, 3}), e_vec = vector_of(ceed, 4, NULL);

  CHECK_OK(CeedElemRestrictionApply(rstr, CEED_NOTRANSPOSE, l_vec, e_vec, CEED_REQUEST_IMMEDIATE));
  CHECK(holds(e_vec, 4, (const CeedScalar[]){1, 2, 2, 3}), "the restriction is spoilt");
  CHECK_OK(CeedVectorDestroy(&l_vec));
}

#define CHECK_WORKS(ceed, rstr)                                                                              \
  do {                                                                                                       \
    check_works(ceed, rstr);                                                                                 \
    if (tap_failed()) return;                                                                                \
  } while (0)

// ---- Lengths and vectors of the actions ----

TEST_EACH_BACKEND(vectors_that_are_too_short_or_lent_are_refused) {
  CeedElemRestriction rstr = lines(ceed);
  const CeedScalar x[5] = {1, 1, 1, 1, 1};
  CeedVector two = vector_of(ceed, 2, x), three = vector_of(ceed, 3, x), four = vector_of(ceed, 4, x),
             five = vector_of(ceed, 5, x), empty_l = vector_of(ceed, 3, NULL),
             empty_e = vector_of(ceed, 4, NULL);
  CeedRequest request = (CeedRequest)&request;
  CeedScalar *array = NULL;

#define REFUSED(code, t_mode, u, v)                                                                          \
  CHECK_ERROR(ceed, CeedElemRestrictionApply(rstr, t_mode, u, v, &request), code, "Ceed");                   \
  CHECK(request == (CeedRequest)&request, "a refused request is completed")
  REFUSED(CEED_ERROR_DIMENSION, CEED_NOTRANSPOSE, two, four);
  REFUSED(CEED_ERROR_DIMENSION, CEED_NOTRANSPOSE, three, three);
  REFUSED(CEED_ERROR_DIMENSION, CEED_TRANSPOSE, three, three);
  REFUSED(CEED_ERROR_DIMENSION, CEED_TRANSPOSE, four, two);
  REFUSED(CEED_ERROR_INCOMPATIBLE, CEED_NOTRANSPOSE, three, CEED_VECTOR_NONE);
  REFUSED(CEED_ERROR_INCOMPATIBLE, CEED_NOTRANSPOSE, CEED_VECTOR_NONE, four);
  REFUSED(CEED_ERROR_INCOMPATIBLE, CEED_NOTRANSPOSE, five, five);
  REFUSED(CEED_ERROR_INCOMPATIBLE, (CeedTransposeMode)2, five, four);
  REFUSED(CEED_ERROR_BACKEND, CEED_NOTRANSPOSE, empty_l, four);
  REFUSED(CEED_ERROR_BACKEND, CEED_TRANSPOSE, four, empty_l); // the transpose adds
  CHECK_OK(CeedVectorGetArray(three, CEED_MEM_HOST, &array));
  REFUSED(CEED_ERROR_ACCESS, CEED_NOTRANSPOSE, three, four);
  REFUSED(CEED_ERROR_ACCESS, CEED_TRANSPOSE, four, three);
  CHECK_OK(CeedVectorRestoreArray(three, &array));
  CHECK_OK(CeedElemRestrictionApply(rstr, CEED_NOTRANSPOSE, three, empty_e, &request));
  CHECK(request == NULL, "a request is not completed");
#undef REFUSED
  CHECK_ERROR(ceed, CeedElemRestrictionGetMultiplicity(rstr, two), CEED_ERROR_DIMENSION,
              "CeedElemRestrictionGetMultiplicity");
  CeedVector *all[] = {&two, &three, &four, &five, &empty_l, &empty_e};
  for (int i = 0; i < 6; i++) {
    CHECK_OK(CeedVectorSetValue(*all[i], 1)); // nobody holds any of them
    CHECK_OK(CeedVectorDestroy(all[i]));
  }
  CHECK_WORKS(ceed, rstr);
  CHECK_OK(CeedElemRestrictionDestroy(&rstr));
}

TEST_EACH_BACKEND(blocks_and_their_vectors_are_checked_exactly) {
  CeedElemRestriction rstr = NULL;
  const CeedInt offsets[6] = {0, 1, 1, 2, 2, 0};
  const CeedScalar x[6] = {1, 1, 1, 1, 1, 1};

  if (has_device_memory(ceed)) NOT_FOR_THIS_BACKEND("blocks are for hosts");
  CHECK_OK(CeedElemRestrictionCreateBlocked(ceed, 3, 2, 2, 1, 1, 3, CEED_MEM_HOST, CEED_COPY_VALUES, offsets,
                                            &rstr));
  CeedVector l = vector_of(ceed, 3, x), e = vector_of(ceed, 4, x), long_l = vector_of(ceed, 4, x),
             long_e = vector_of(ceed, 5, x), short_e = vector_of(ceed, 3, x);
#define REFUSED(block, t_mode, u, v)                                                                         \
  CHECK_ERROR(ceed, CeedElemRestrictionApplyBlock(rstr, block, t_mode, u, v, CEED_REQUEST_IMMEDIATE),        \
              CEED_ERROR_DIMENSION, "CeedElemRestrictionApplyBlock")
  REFUSED(2, CEED_NOTRANSPOSE, l, e);
  REFUSED(-1, CEED_NOTRANSPOSE, l, e);
  REFUSED(0, CEED_NOTRANSPOSE, long_l, e);
  REFUSED(0, CEED_NOTRANSPOSE, l, long_e);
  REFUSED(0, CEED_NOTRANSPOSE, l, short_e);
  REFUSED(1, CEED_TRANSPOSE, long_e, l);
  REFUSED(1, CEED_TRANSPOSE, e, long_l);
#undef REFUSED
  CHECK_ERROR(ceed,
              CeedElemRestrictionApplyAtPointsInElement(rstr, 0, CEED_NOTRANSPOSE, l, e,
                                                        CEED_REQUEST_IMMEDIATE),
              CEED_ERROR_UNSUPPORTED, "CeedElemRestrictionApplyAtPointsInElement");
  CHECK_OK(CeedElemRestrictionApplyBlock(rstr, 1, CEED_NOTRANSPOSE, l, e, CEED_REQUEST_IMMEDIATE));
  CeedVector *all[] = {&l, &e, &long_l, &long_e, &short_e};
  for (int i = 0; i < 5; i++) CHECK_OK(CeedVectorDestroy(all[i]));
  CHECK_OK(CeedElemRestrictionDestroy(&rstr));
}

// ---- Creation ----

TEST_EACH_BACKEND(sizes_that_make_no_sense_are_refused) {
  CeedElemRestriction r = NULL;
  const CeedInt o[4] = {0, 1, 1, 2}, s[3] = {1, 2, 2};
  const bool orients[4] = {false};
  const CeedInt8 curl[12] = {0};

#define REFUSED(call, function) CHECK_ERROR(ceed, call, CEED_ERROR_DIMENSION, function)
#define OFFSETS(ne, size, nc, stride, l)                                                                     \
  REFUSED(CeedElemRestrictionCreate(ceed, ne, size, nc, stride, l, CEED_MEM_HOST, CEED_COPY_VALUES, o, &r),  \
          "CeedElemRestrictionCreate:");                                                                     \
  REFUSED(CeedElemRestrictionCreateOriented(ceed, ne, size, nc, stride, l, CEED_MEM_HOST, CEED_COPY_VALUES,  \
                                            o, orients, &r),                                                 \
          "CeedElemRestrictionCreateOriented:");                                                             \
  REFUSED(CeedElemRestrictionCreateCurlOriented(ceed, ne, size, nc, stride, l, CEED_MEM_HOST,                \
                                                CEED_COPY_VALUES, o, curl, &r),                              \
          "CeedElemRestrictionCreateCurlOriented:");                                                         \
  REFUSED(CeedElemRestrictionCreateBlocked(ceed, ne, size, 2, nc, stride, l, CEED_MEM_HOST,                  \
                                           CEED_COPY_VALUES, o, &r),                                         \
          "CeedElemRestrictionCreateBlocked:")
  OFFSETS(-1, 2, 1, 1, 3);
  OFFSETS(2, 0, 1, 1, 3);
  OFFSETS(2, -2, 1, 1, 3);
  OFFSETS(2, 2, 0, 1, 3);
  OFFSETS(2, 2, -1, 1, 3);
  OFFSETS(2, 2, 2, 0, 6);
  OFFSETS(2, 2, 2, -3, 6);
  OFFSETS(2, 2, 1, 1, -1);
#undef OFFSETS
#define STRIDED(ne, size, nc, l)                                                                             \
  REFUSED(CeedElemRestrictionCreateStrided(ceed, ne, size, nc, l, s, &r),                                    \
          "CeedElemRestrictionCreateStrided:");                                                              \
  REFUSED(CeedElemRestrictionCreateBlockedStrided(ceed, ne, size, 2, nc, l, s, &r),                          \
          "CeedElemRestrictionCreateBlockedStrided:")
  STRIDED(-1, 2, 1, 4);
  STRIDED(2, 0, 1, 4);
  STRIDED(2, 2, 0, 4);
  STRIDED(2, 2, 1, 3); // shorter than elements x nodes x components
  STRIDED(2, 2, 2, 7);
  STRIDED(2, 2, -1, 4);
#undef STRIDED
  for (CeedInt block = -1; block <= 0; block++) {
    REFUSED(CeedElemRestrictionCreateBlocked(ceed, 2, 2, block, 1, 1, 3, CEED_MEM_HOST, CEED_COPY_VALUES, o,
                                             &r),
            "block size");
    REFUSED(CeedElemRestrictionCreateBlockedOriented(ceed, 2, 2, block, 1, 1, 3, CEED_MEM_HOST,
                                                     CEED_COPY_VALUES, o, orients, &r),
            "CeedElemRestrictionCreateBlockedOriented");
    REFUSED(CeedElemRestrictionCreateBlockedCurlOriented(ceed, 2, 2, block, 1, 1, 3, CEED_MEM_HOST,
                                                         CEED_COPY_VALUES, o, curl, &r),
            "CeedElemRestrictionCreateBlockedCurlOriented");
    REFUSED(CeedElemRestrictionCreateBlockedStrided(ceed, 2, 2, block, 1, 4, s, &r), "block size");
  }
#undef REFUSED
  CHECK(r == NULL, "a handle is made");
}

TEST_EACH_BACKEND(strides_that_leave_the_l_vector_are_refused) {
  CeedElemRestriction r = NULL;
  const CeedInt too_far[3] = {1, 2, 5}, negative[3] = {-1, 2, 4}, backward[3] = {1, 2, -4};

  CHECK_ERROR(ceed, CeedElemRestrictionCreateStrided(ceed, 2, 2, 2, 8, too_far, &r), CEED_ERROR_DIMENSION,
              "strides");
  CHECK_ERROR(ceed, CeedElemRestrictionCreateStrided(ceed, 2, 2, 2, 99, negative, &r), CEED_ERROR_DIMENSION,
              "strides");
  CHECK_ERROR(ceed, CeedElemRestrictionCreateBlockedStrided(ceed, 2, 2, 2, 2, 99, backward, &r),
              CEED_ERROR_DIMENSION, "strides");
  CHECK_OK(CeedElemRestrictionCreateStrided(ceed, 2, 2, 2, 9, too_far, &r));
  CHECK_OK(CeedElemRestrictionDestroy(&r));
}

TEST_EACH_BACKEND(arrays_that_make_no_sense_are_refused) {
  CeedElemRestriction r = NULL;
  const bool orients[4] = {false};
  const CeedInt8 curl[12] = {0};
  const CeedInt low[4] = {0, -1, 1, 2}, high[4] = {0, 1, 1, 3}, *o = two_lines;

#define REFUSED(code, call, fragment) CHECK_ERROR(ceed, call, code, fragment)
  const CeedMemType host = CEED_MEM_HOST;
  const CeedCopyMode copy = CEED_COPY_VALUES;
  REFUSED(CEED_ERROR_BACKEND, CeedElemRestrictionCreateOriented(ceed, 2, 2, 1, 1, 3, host, copy, o, NULL, &r),
          "CeedElemRestrictionCreateOriented");
  REFUSED(CEED_ERROR_BACKEND,
          CeedElemRestrictionCreateCurlOriented(ceed, 2, 2, 1, 1, 3, host, copy, o, NULL, &r),
          "CeedElemRestrictionCreateCurlOriented");
  REFUSED(CEED_ERROR_BACKEND,
          CeedElemRestrictionCreateBlockedOriented(ceed, 2, 2, 2, 1, 1, 3, host, copy, o, NULL, &r),
          "orients");
  REFUSED(CEED_ERROR_BACKEND,
          CeedElemRestrictionCreateBlockedCurlOriented(ceed, 2, 2, 2, 1, 1, 3, host, copy, o, NULL, &r),
          "curl_orients");
  REFUSED(CEED_ERROR_BACKEND, CeedElemRestrictionCreate(ceed, 2, 2, 1, 1, 3, host, copy, NULL, &r),
          "offsets");
  if (!has_device_memory(ceed)) {
    REFUSED(CEED_ERROR_BACKEND, CeedElemRestrictionCreate(ceed, 2, 2, 1, 1, 3, host, copy, low, &r),
            "offset -1");
    REFUSED(CEED_ERROR_BACKEND, CeedElemRestrictionCreate(ceed, 2, 2, 1, 1, 3, host, copy, high, &r),
            "offset 3");
    REFUSED(CEED_ERROR_BACKEND, CeedElemRestrictionCreate(ceed, 2, 2, 2, 3, 5, host, copy, o, &r),
            "offset 2");
    REFUSED(CEED_ERROR_BACKEND,
            CeedElemRestrictionCreateBlockedOriented(ceed, 2, 2, 2, 1, 1, 3, host, copy, high, orients, &r),
            "offset 3");
    REFUSED(CEED_ERROR_BACKEND, CeedElemRestrictionCreate(ceed, 2, 2, 1, 1, 3, CEED_MEM_DEVICE, copy, o, &r),
            "Can only set HOST memory for this backend");
    REFUSED(CEED_ERROR_BACKEND,
            CeedElemRestrictionCreateCurlOriented(ceed, 2, 2, 1, 1, 3, CEED_MEM_DEVICE, copy, o, curl, &r),
            "Can only set HOST memory for this backend");
  }
  REFUSED(CEED_ERROR_INCOMPATIBLE,
          CeedElemRestrictionCreate(ceed, 2, 2, 1, 1, 3, host, (CeedCopyMode)7, o, &r), "copy mode");
#undef REFUSED
  CHECK(r == NULL, "a handle is made");
}

TEST_EACH_BACKEND(copied_arrays_are_independent_and_used_ones_are_not) {
  CeedInt mine[4];
  const CeedInt *offsets = NULL;
  CeedElemRestriction copied = NULL, used = NULL;

  memcpy(mine, two_lines, sizeof(mine));
  CHECK_OK(CeedElemRestrictionCreate(ceed, 2, 2, 1, 1, 3, CEED_MEM_HOST, CEED_COPY_VALUES, mine, &copied));
  CHECK_OK(CeedElemRestrictionCreate(ceed, 2, 2, 1, 1, 3, CEED_MEM_HOST, CEED_USE_POINTER, mine, &used));
  CHECK_WORKS(ceed, used);
  if (!has_device_memory(ceed)) {
    CHECK_OK(CeedElemRestrictionGetOffsets(used, CEED_MEM_HOST, &offsets));
    CHECK(offsets == mine, "another array");
    CHECK_OK(CeedElemRestrictionRestoreOffsets(used, &offsets));
    CHECK(offsets == NULL, "the pointer stays");
  }
  CHECK_OK(CeedElemRestrictionDestroy(&used));
  for (int i = 0; i < 4; i++) mine[i] = -5;
  CHECK_WORKS(ceed, copied);
  CHECK_OK(CeedElemRestrictionDestroy(&copied));
}

// Arrays that are handed over are freed, with the restriction or, of blocked kinds, at once. When creation
// fails they stay the caller's.
TEST_EACH_BACKEND(owned_arrays_are_freed) {
  const bool no_signs[4] = {false};
  const CeedInt8 identity[12] = {0, 1, 0, 0, 1, 0, 0, 1, 0, 0, 1, 0};
  CeedElemRestriction r = NULL;

  for (int block = 0; block < 3; block++) {
    if (block && has_device_memory(ceed)) break;
    CeedInt *o = duplicate(two_lines, sizeof(two_lines));
    bool *s = duplicate(no_signs, sizeof(no_signs));
    CHECK_OK(block ? CeedElemRestrictionCreateBlockedOriented(ceed, 2, 2, block, 1, 1, 3, CEED_MEM_HOST,
                                                              CEED_OWN_POINTER, o, s, &r)
                   : CeedElemRestrictionCreateOriented(ceed, 2, 2, 1, 1, 3, CEED_MEM_HOST, CEED_OWN_POINTER,
                                                       o, s, &r));
    if (block < 2) CHECK_WORKS(ceed, r);
    CHECK_OK(CeedElemRestrictionDestroy(&r));
    o = duplicate(two_lines, sizeof(two_lines));
    CeedInt8 *t = duplicate(identity, sizeof(identity));
    CHECK_OK(block ? CeedElemRestrictionCreateBlockedCurlOriented(ceed, 2, 2, block, 1, 1, 3, CEED_MEM_HOST,
                                                                  CEED_OWN_POINTER, o, t, &r)
                   : CeedElemRestrictionCreateCurlOriented(ceed, 2, 2, 1, 1, 3, CEED_MEM_HOST,
                                                           CEED_OWN_POINTER, o, t, &r));
    if (block < 2) CHECK_WORKS(ceed, r);
    CHECK_OK(CeedElemRestrictionDestroy(&r));
  }
  CeedInt *o = duplicate(two_lines, sizeof(two_lines));
  CHECK_ERROR(ceed, CeedElemRestrictionCreate(ceed, 2, 2, 1, 1, 2, CEED_MEM_HOST, CEED_OWN_POINTER, o, &r),
              CEED_ERROR_BACKEND, "offset 2");
  CHECK(o[3] == 2, "the array of a failed creation is gone");
  CHECK_OK(CeedElemRestrictionCreate(ceed, 0, 2, 1, 1, 2, CEED_MEM_HOST, CEED_OWN_POINTER, o, &r));
  CHECK_OK(CeedElemRestrictionDestroy(&r));
}

// ---- Queries ----

typedef struct {
  CeedInt num_elem, elem_size, num_comp, comp_stride, num_block, block_size;
  CeedSize l_size, e_size;
  CeedRestrictionType type;
} Sizes;

static Sizes sizes_of(CeedElemRestriction r) {
  Sizes s;

  memset(&s, 0xff, sizeof(s)); // padding too: sizes are compared as bytes
  CeedElemRestrictionGetNumElements(r, &s.num_elem);
  CeedElemRestrictionGetElementSize(r, &s.elem_size);
  CeedElemRestrictionGetNumComponents(r, &s.num_comp);
  CeedElemRestrictionGetCompStride(r, &s.comp_stride);
  CeedElemRestrictionGetNumBlocks(r, &s.num_block);
  CeedElemRestrictionGetBlockSize(r, &s.block_size);
  CeedElemRestrictionGetLVectorSize(r, &s.l_size);
  CeedElemRestrictionGetEVectorSize(r, &s.e_size);
  CeedElemRestrictionGetType(r, &s.type);
  return s;
}

TEST_EACH_BACKEND(queries_answer_what_was_given_for_copies_too) {
  static const CeedRestrictionType types[] = {CEED_RESTRICTION_STANDARD, CEED_RESTRICTION_ORIENTED,
                                              CEED_RESTRICTION_CURL_ORIENTED, CEED_RESTRICTION_STRIDED};
  CeedVector l_vec = NULL, e_vec = NULL;
  CeedSize length = -1;

  for (int number = 0; number < num_cases(); number++) {
    Case c;
    choose_case(number, &c);
    skip_or_create(ceed, &c);
    if (!c.rstr) continue;
    Sizes s = sizes_of(c.rstr);
    CeedInt b = c.block_size > 1 ? c.block_size : 1, num_block = (c.num_elem + b - 1) / b;
    CHECK(s.num_elem == c.num_elem && s.elem_size == c.elem_size && s.num_comp == c.num_comp, CASE_TEXT,
          CASE_ARGS(number, &c));
    CHECK(s.comp_stride == (c.kind == STRIDED ? 0 : c.comp_stride), CASE_TEXT, CASE_ARGS(number, &c));
    CHECK(s.block_size == b && s.num_block == num_block, CASE_TEXT, CASE_ARGS(number, &c));
    CHECK(s.l_size == c.l_size && s.e_size == (CeedSize)num_block * b * c.elem_size * c.num_comp, CASE_TEXT,
          CASE_ARGS(number, &c));
    CHECK(s.type == types[c.kind], CASE_TEXT, CASE_ARGS(number, &c));
    CHECK_OK(CeedElemRestrictionCreateVector(c.rstr, &l_vec, NULL));
    CHECK_OK(CeedElemRestrictionCreateVector(c.rstr, NULL, &e_vec));
    CHECK_OK(CeedElemRestrictionCreateVector(c.rstr, NULL, NULL));
    CHECK_OK(CeedVectorGetLength(l_vec, &length));
    CHECK(length == s.l_size, "L-vector of %td entries", length);
    CHECK_OK(CeedVectorGetLength(e_vec, &length));
    CHECK(length == s.e_size, "E-vector of %td entries", length);
    CHECK_OK(CeedVectorDestroy(&l_vec));
    CHECK_OK(CeedVectorDestroy(&e_vec));
    CHECK_OK(CeedElemRestrictionDestroy(&c.rstr));
  }
}

// Products of 32-bit sizes are 64-bit sizes; nothing is allocated for them here.
TEST_EACH_BACKEND(sizes_beyond_32_bits_are_counted_right) {
  const CeedInt num_elem = 1 << 20, elem_size = 1 << 6, num_comp = 1 << 6;
  const CeedSize size = (CeedSize)1 << 32;
  CeedElemRestriction r = NULL;
  CeedSize flops = 0;

  CHECK_ERROR(ceed,
              CeedElemRestrictionCreateStrided(ceed, num_elem, elem_size, num_comp, size - 1,
                                               CEED_STRIDES_BACKEND, &r),
              CEED_ERROR_DIMENSION, "4294967296");
  CHECK_OK(
      CeedElemRestrictionCreateStrided(ceed, num_elem, elem_size, num_comp, size, CEED_STRIDES_BACKEND, &r));
  CHECK(e_size_of(r) == size, "%td", e_size_of(r));
  CHECK_OK(CeedElemRestrictionGetFlopsEstimate(r, CEED_TRANSPOSE, &flops));
  CHECK(flops == size, "%td", flops);
  CHECK_OK(CeedElemRestrictionDestroy(&r));
  CHECK_ERROR(ceed,
              CeedElemRestrictionCreateStrided(ceed, 1, 1 << 20, 1 << 20, (CeedSize)1 << 40,
                                               CEED_STRIDES_BACKEND, &r),
              CEED_ERROR_DIMENSION, "layout"); // strides of layouts are 32-bit numbers
}

TEST_EACH_BACKEND(l_layouts_are_those_of_strided_restrictions) {
  CeedElemRestriction plain = lines(ceed), strided = NULL;
  const CeedInt strides[3] = {2, 1, 6};
  CeedInt layout[3] = {0};

  CHECK_OK(CeedElemRestrictionCreateStrided(ceed, 4, 3, 2, 24, strides, &strided));
  CHECK_OK(CeedElemRestrictionGetLLayout(strided, layout));
  CHECK(!memcmp(layout, strides, sizeof(layout)), "{%d, %d, %d}", layout[0], layout[1], layout[2]);
  CHECK_ERROR(ceed, CeedElemRestrictionGetLLayout(plain, layout), CEED_ERROR_MINOR,
              "CeedElemRestrictionGetLLayout");
  CHECK_OK(CeedElemRestrictionDestroy(&plain));
  CHECK_OK(CeedElemRestrictionDestroy(&strided));
}

// Blocked: [num_block][elem_size][block_size], the last block filled up with its last element.
TEST_EACH_BACKEND(offsets_are_lent_in_the_order_of_their_kind) {
  const CeedInt offsets[6] = {0, 1, 1, 2, 2, 0}, wanted[8] = {0, 1, 1, 2, 2, 2, 0, 0}, *found = NULL;
  CeedElemRestriction plain = NULL, blocked = NULL;

  if (has_device_memory(ceed)) NOT_FOR_THIS_BACKEND("blocks are for hosts");
  CHECK_OK(CeedElemRestrictionCreate(ceed, 3, 2, 1, 1, 3, CEED_MEM_HOST, CEED_COPY_VALUES, offsets, &plain));
  CHECK_OK(CeedElemRestrictionGetOffsets(plain, CEED_MEM_HOST, &found));
  CHECK(!memcmp(found, offsets, sizeof(offsets)), "plain");
  CHECK_OK(CeedElemRestrictionRestoreOffsets(plain, &found));
  CHECK_OK(CeedElemRestrictionCreateBlocked(ceed, 3, 2, 2, 1, 1, 3, CEED_MEM_HOST, CEED_COPY_VALUES, offsets,
                                            &blocked));
  CHECK_OK(CeedElemRestrictionGetOffsets(blocked, CEED_MEM_HOST, &found));
  CHECK(!memcmp(found, wanted, sizeof(wanted)), "blocked");
  CHECK_OK(CeedElemRestrictionRestoreOffsets(blocked, &found));
  CHECK_ERROR(ceed, CeedElemRestrictionGetOffsets(plain, CEED_MEM_DEVICE, &found), CEED_ERROR_BACKEND,
              "Can only provide HOST memory for this backend");
  CHECK_OK(CeedElemRestrictionDestroy(&plain));
  CHECK_OK(CeedElemRestrictionDestroy(&blocked));
}

TEST_EACH_BACKEND(lent_offsets_keep_a_restriction_alive) {
  CeedElemRestriction rstr = lines(ceed), copy = NULL, handle = rstr;
  const CeedInt *a = NULL, *b = NULL;

  CHECK_OK(CeedElemRestrictionGetOffsets(rstr, CEED_MEM_HOST, &a));
  CHECK_OK(CeedElemRestrictionGetOffsets(rstr, CEED_MEM_HOST, &b));
  for (int num_readers = 2; num_readers > 0; num_readers--) {
    CHECK_ERROR(ceed, CeedElemRestrictionDestroy(&handle), CEED_ERROR_ACCESS,
                "Cannot destroy CeedElemRestriction, a process has read access to the offset data");
    CHECK(handle == rstr, "the handle is gone");
    CHECK_OK(CeedElemRestrictionRestoreOffsets(rstr, num_readers == 2 ? &b : &a));
  }
  CHECK_ERROR(ceed, CeedElemRestrictionRestoreOffsets(rstr, &a), CEED_ERROR_ACCESS,
              "CeedElemRestrictionRestoreOffsets");
  CHECK_OK(CeedElemRestrictionCreateUnsignedCopy(rstr, &copy));
  CHECK_OK(CeedElemRestrictionGetOffsets(copy, CEED_MEM_HOST, &a)); // those of the original
  CHECK(!memcmp(a, two_lines, sizeof(two_lines)), "offsets of a copy");
  CHECK_OK(CeedElemRestrictionDestroy(&rstr)); // the copy holds it
  CHECK_ERROR(ceed, CeedElemRestrictionDestroy(&copy), CEED_ERROR_ACCESS, "read access to the offset data");
  CHECK_OK(CeedElemRestrictionRestoreOffsets(copy, &a));
  CHECK_WORKS(ceed, copy);
  CHECK_OK(CeedElemRestrictionDestroy(&copy));
}

// E-size times 0, 1, 5 forward and 1, 2, 6 backward.
TEST_EACH_BACKEND(flops_count_by_kind) {
  static const CeedSize per_entry[NUM_KINDS][2] = {{0, 1}, {1, 2}, {5, 6}, {0, 1}};

  for (int number = 0; number < num_cases(); number++) {
    Case c;
    choose_case(number, &c);
    skip_or_create(ceed, &c);
    if (!c.rstr) continue;
    for (int t = 0; t < 2; t++) {
      CeedSize flops = -1;
      CHECK_OK(CeedElemRestrictionGetFlopsEstimate(c.rstr, t ? CEED_TRANSPOSE : CEED_NOTRANSPOSE, &flops));
      CHECK(flops == e_size_of(c.rstr) * per_entry[c.kind][t], CASE_TEXT ": %td", CASE_ARGS(number, &c),
            flops);
    }
    CHECK_OK(CeedElemRestrictionDestroy(&c.rstr));
  }
}

// ---- References and copies ----

TEST_EACH_BACKEND(references_are_counted) {
  CeedElemRestriction a = lines(ceed), b = lines(ceed), first = a;
  Ceed found = NULL;

  CHECK_OK(CeedElemRestrictionReferenceCopy(a, &b)); // over a live handle, which goes
  CHECK_OK(CeedElemRestrictionReferenceCopy(a, &a)); // onto itself
  CHECK(a == first && b == first, "other handles");
  CHECK_OK(CeedElemRestrictionDestroy(&a));
  CHECK_OK(CeedElemRestrictionDestroy(&a)); // a second time
  CHECK_WORKS(ceed, b);
  CHECK_OK(CeedElemRestrictionGetCeed(b, &found));
  CHECK(found == ceed && CeedElemRestrictionReturnCeed(b) == ceed, "another context");
  CHECK_OK(CeedDestroy(&found));
  CHECK_OK(CeedElemRestrictionDestroy(&b));
}

// Copies of copies: orientations that are gone do not come back.
TEST_EACH_BACKEND(a_copy_of_an_unoriented_copy_is_unoriented) {
  const CeedInt8 swap[6] = {0, 0, 3, -2, 0, 0};
  const CeedInt o[2] = {0, 1};
  const CeedScalar x[2] = {5, 7};
  CeedElemRestriction rstr = NULL, unsigned_copy = NULL, unoriented = NULL, again = NULL;
  CeedVector l_vec = vector_of(ceed, 2, x), e_vec = NULL;

  CHECK_OK(CeedElemRestrictionCreateCurlOriented(ceed, 1, 2, 1, 1, 2, CEED_MEM_HOST, CEED_COPY_VALUES, o,
                                                 swap, &rstr));
  CHECK_OK(CeedElemRestrictionCreateUnsignedCopy(rstr, &unsigned_copy));
  CHECK_OK(CeedElemRestrictionCreateUnorientedCopy(unsigned_copy, &unoriented));
  CHECK_OK(CeedElemRestrictionCreateUnsignedCopy(unoriented, &again));
  const CeedScalar wanted[4][2] = {{21, -10}, {21, 10}, {5, 7}, {5, 7}};
  CeedElemRestriction all[4] = {rstr, unsigned_copy, unoriented, again};
  for (int i = 0; i < 4; i++) {
    e_vec = vector_of(ceed, 2, NULL);
    CHECK_OK(CeedElemRestrictionApply(all[i], CEED_NOTRANSPOSE, l_vec, e_vec, CEED_REQUEST_IMMEDIATE));
    CHECK(holds(e_vec, 2, wanted[i]), "copy %d", i);
    CHECK_OK(CeedElemRestrictionDestroy(&all[i])); // originals first
  }
  CHECK_OK(CeedVectorDestroy(&l_vec));
}

// ---- Views ----

TEST_EACH_BACKEND(a_view_is_one_line_for_each_kind) {
  const CeedInt strides[3] = {1, 4, 8}, offsets[20] = {0};
  const bool orients[20] = {false};
  CeedElemRestriction r = NULL;

  CHECK_OK(CeedElemRestrictionCreate(ceed, 2, 3, 2, 7, 14, CEED_MEM_HOST, CEED_COPY_VALUES, offsets, &r));
  CHECK_PRINTS("CeedElemRestriction from (14, 2) to 2 elements with 3 nodes each and component stride 7\n",
               CeedElemRestrictionView(r, stream));
  CHECK_OK(CeedElemRestrictionDestroy(&r));
  CHECK_OK(CeedElemRestrictionCreateOriented(ceed, 2, 3, 1, 1, 7, CEED_MEM_HOST, CEED_COPY_VALUES, offsets,
                                             orients, &r));
  CHECK_PRINTS("CeedElemRestriction from (7, 1) to 2 elements with 3 nodes each and component stride 1\n",
               CeedElemRestrictionView(r, stream));
  CHECK_OK(CeedElemRestrictionDestroy(&r));
  CHECK_OK(CeedElemRestrictionCreateStrided(ceed, 5, 4, 2, 40, CEED_STRIDES_BACKEND, &r));
  CHECK_PRINTS("CeedElemRestriction from (40, 2) to 5 elements with 4 nodes each and strides [0, 0, 0]\n",
               CeedElemRestrictionView(r, stream));
  CHECK_OK(CeedElemRestrictionDestroy(&r));
  if (has_device_memory(ceed)) return;
  CHECK_OK(CeedElemRestrictionCreateBlockedStrided(ceed, 5, 4, 8, 2, 40, strides, &r));
  CHECK_OK(CeedElemRestrictionSetNumViewTabs(r, 1));
  CHECK_PRINTS(
      "  Blocked CeedElemRestriction from (40, 2) to 5 elements with 4 nodes each and strides [1, 4, 8]\n",
      CeedObjectView((CeedObject)r, stream));
  CHECK_ERROR(ceed, CeedElemRestrictionSetNumViewTabs(r, -1), CEED_ERROR_MINOR, "view tabs");
  CeedInt tabs = 0;
  CHECK_OK(CeedElemRestrictionGetNumViewTabs(r, &tabs));
  CHECK(tabs == 1, "%d", (int)tabs);
  CHECK_OK(CeedElemRestrictionDestroy(&r));
  CHECK_OK(
      CeedElemRestrictionCreateBlocked(ceed, 2, 3, 1, 1, 1, 7, CEED_MEM_HOST, CEED_COPY_VALUES, offsets, &r));
  CHECK_PRINTS("CeedElemRestriction from (7, 1) to 2 elements with 3 nodes each and component stride 1\n",
               CeedElemRestrictionView(r, stream));
  CHECK_OK(CeedElemRestrictionDestroy(&r));
}

// ---- NULL ----

TEST(null_restrictions_are_refused) {
  Ceed ceed = tap_ceed("/cpu/self/ref"), found = NULL;
  CeedElemRestriction r = NULL, live = lines(ceed);
  CeedVector vec = vector_of(ceed, 3, NULL);
  CeedInt n, layout[3];
  const CeedInt *offsets = NULL;
  CeedSize size;
  bool flag;
  CeedRestrictionType type;

#define REFUSED(expr) CHECK_ERROR(NULL, expr, CEED_ERROR_INCOMPATIBLE, "NULL")
  REFUSED(CeedElemRestrictionCreate(NULL, 0, 1, 1, 1, 1, CEED_MEM_HOST, CEED_COPY_VALUES, NULL, &r));
  REFUSED(CeedElemRestrictionCreateStrided(NULL, 0, 1, 1, 1, CEED_STRIDES_BACKEND, &r));
  REFUSED(CeedElemRestrictionCreateAtPoints(NULL, 0, 1, 1, 1, CEED_MEM_HOST, CEED_COPY_VALUES, NULL, &r));
  REFUSED(CeedElemRestrictionCreateUnsignedCopy(NULL, &r));
  REFUSED(CeedElemRestrictionCreateUnorientedCopy(NULL, &r));
  REFUSED(CeedElemRestrictionReferenceCopy(NULL, &r));
  REFUSED(CeedElemRestrictionCreateVector(NULL, &vec, NULL));
  REFUSED(CeedElemRestrictionApply(NULL, CEED_NOTRANSPOSE, vec, vec, CEED_REQUEST_IMMEDIATE));
  REFUSED(CeedElemRestrictionApply(live, CEED_NOTRANSPOSE, NULL, vec, CEED_REQUEST_IMMEDIATE));
  REFUSED(CeedElemRestrictionApply(live, CEED_NOTRANSPOSE, vec, NULL, CEED_REQUEST_IMMEDIATE));
  REFUSED(CeedElemRestrictionApplyBlock(NULL, 0, CEED_NOTRANSPOSE, vec, vec, CEED_REQUEST_IMMEDIATE));
  REFUSED(CeedElemRestrictionApplyBlock(live, 0, CEED_NOTRANSPOSE, NULL, NULL, CEED_REQUEST_IMMEDIATE));
  REFUSED(
      CeedElemRestrictionApplyAtPointsInElement(NULL, 0, CEED_NOTRANSPOSE, vec, vec, CEED_REQUEST_IMMEDIATE));
  REFUSED(CeedElemRestrictionGetCeed(NULL, &found));
  REFUSED(CeedElemRestrictionGetCompStride(NULL, &n));
  REFUSED(CeedElemRestrictionGetNumElements(NULL, &n));
  REFUSED(CeedElemRestrictionGetElementSize(NULL, &n));
  REFUSED(CeedElemRestrictionGetNumComponents(NULL, &n));
  REFUSED(CeedElemRestrictionGetLVectorSize(NULL, &size));
  REFUSED(CeedElemRestrictionGetEVectorSize(NULL, &size));
  REFUSED(CeedElemRestrictionGetNumBlocks(NULL, &n));
  REFUSED(CeedElemRestrictionGetBlockSize(NULL, &n));
  REFUSED(CeedElemRestrictionGetNumPoints(NULL, &n));
  REFUSED(CeedElemRestrictionGetNumPointsInElement(NULL, 0, &n));
  REFUSED(CeedElemRestrictionGetMaxPointsInElement(NULL, &n));
  REFUSED(CeedElemRestrictionGetMultiplicity(NULL, vec));
  REFUSED(CeedElemRestrictionGetMultiplicity(live, NULL));
  REFUSED(CeedElemRestrictionView(NULL, stderr));
  REFUSED(CeedElemRestrictionSetNumViewTabs(NULL, 1));
  REFUSED(CeedElemRestrictionGetType(NULL, &type));
  REFUSED(CeedElemRestrictionGetOffsets(NULL, CEED_MEM_HOST, &offsets));
  REFUSED(CeedElemRestrictionRestoreOffsets(NULL, &offsets));
  REFUSED(CeedElemRestrictionGetELayout(NULL, layout));
  REFUSED(CeedElemRestrictionGetLLayout(NULL, layout));
  REFUSED(CeedElemRestrictionGetAtPointsElementOffset(NULL, 0, &size));
  REFUSED(CeedElemRestrictionAtPointsAreCompatible(NULL, live, &flag));
  REFUSED(CeedElemRestrictionAtPointsAreCompatible(live, NULL, &flag));
  REFUSED(CeedElemRestrictionGetFlopsEstimate(NULL, CEED_NOTRANSPOSE, &size));
#undef REFUSED
  CHECK(CeedElemRestrictionReturnCeed(NULL) == NULL && r == NULL, "something comes of nothing");
  CHECK_OK(CeedElemRestrictionDestroy(&r));
  CHECK_OK(CeedElemRestrictionDestroy(&live));
  CHECK_OK(CeedVectorDestroy(&vec));
  CHECK_OK(CeedDestroy(&ceed));
}

TEST_EACH_BACKEND(offsets_into_vectors_without_room_for_a_node_are_refused_in_words) {
  const CeedInt zero = 0;
  CeedElemRestriction r = NULL;

  CHECK_ERROR(ceed,
              CeedElemRestrictionCreate(ceed, 1, 1, 3, 2, 4, CEED_MEM_HOST, CEED_COPY_VALUES, &zero, &r),
              CEED_ERROR_BACKEND,
              "an L-vector of 4 entries has no room for a node of 3 components with stride 2");
  CHECK_ERROR(ceed,
              CeedElemRestrictionCreate(ceed, 1, 1, 1, 1, 0, CEED_MEM_HOST, CEED_COPY_VALUES, &zero, &r),
              CEED_ERROR_BACKEND, "an L-vector of 0 entries has no room");
  CHECK(!r, "a restriction was made");
}

int main(int argc, char **argv) {
  return tap_main(
      argc, argv,
      TESTS(the_forward_action_follows_the_index_formulas, the_transpose_adds_by_the_index_formulas,
            a_single_block_is_a_part_of_the_whole,
            the_multiplicity_is_the_transpose_applied_to_the_restricted_ones,
            the_strides_of_the_backend_make_an_identity,
            e_layouts_number_the_entries_and_depend_on_sizes_alone, without_elements_nothing_is_touched,
            vectors_that_are_too_short_or_lent_are_refused, blocks_and_their_vectors_are_checked_exactly,
            sizes_that_make_no_sense_are_refused, strides_that_leave_the_l_vector_are_refused,
            arrays_that_make_no_sense_are_refused, copied_arrays_are_independent_and_used_ones_are_not,
            owned_arrays_are_freed, queries_answer_what_was_given_for_copies_too,
            sizes_beyond_32_bits_are_counted_right, l_layouts_are_those_of_strided_restrictions,
            offsets_are_lent_in_the_order_of_their_kind, lent_offsets_keep_a_restriction_alive,
            flops_count_by_kind, references_are_counted, a_copy_of_an_unoriented_copy_is_unoriented,
            a_view_is_one_line_for_each_kind, null_restrictions_are_refused,
            offsets_into_vectors_without_room_for_a_node_are_refused_in_words));
}
