// SPDX-License-Identifier: BSD-2-Clause
// Random meshes, numberings and outputs for schedules: see schedule-case.h.
#include "tests/schedule-case.h"

#include "tests/tap.h"
#include <stdlib.h>

static uint64_t seed = 20240;

CeedInt schedule_draw(CeedInt low, CeedInt high) {
  return low + (CeedInt)tap_integer(&seed, (int64_t)high - low + 1);
}

static bool one_in(CeedInt n) { return schedule_draw(1, n) == 1; }

void *schedule_allocate(size_t n, size_t size) {
  void *memory = calloc(n ? n : 1, size);

  if (!memory) abort();
  return memory;
}

// A box of elements with continuous nodes, in any order of elements.
typedef struct {
  CeedInt n[3];
  CeedInt *order; // owned
} Box;

static void shuffle(CeedInt n, CeedInt *x) {
  for (CeedInt i = n - 1; i > 0; i--) {
    CeedInt j = schedule_draw(0, i), swap = x[i];

    x[i] = x[j];
    x[j] = swap;
  }
}

static CeedInt *identity(CeedInt n) {
  CeedInt *x = schedule_allocate((size_t)n, sizeof(*x));

  for (CeedInt i = 0; i < n; i++) x[i] = i;
  return x;
}

static CeedInt box_size(const Box *box) { return box->n[0] * box->n[1] * box->n[2]; }

static CeedInt num_nodes(const Box *box, CeedInt degree) {
  return (box->n[0] * degree + 1) * (box->n[1] * degree + 1) * (box->n[2] * degree + 1);
}

// Lexicographic number of node i of the element at place e of the order.
static CeedInt box_node(const Box *box, CeedInt degree, CeedInt e, CeedInt i) {
  CeedInt elem = box->order[e], node = 0, stride = 1, P = degree + 1;

  for (int d = 0; d < 3; d++) {
    node += stride * (elem % box->n[d] * degree + i % P);
    stride *= box->n[d] * degree + 1;
    elem /= box->n[d];
    i /= P;
  }
  return node;
}

typedef struct {
  CeedInt degree, num_comp, spread, shift; // spread, shift: entries between and before the nodes
  bool is_interlaced, is_shuffled, is_oriented;
} Field;

static int create_offsets(ScheduleCase *c, const Box *box, const Field *f, CeedElemRestriction *rstr) {
  CeedInt P = f->degree + 1, size = P * P * P, n = num_nodes(box, f->degree), *number = identity(n);
  CeedInt comp_stride = n * f->spread + f->shift,
          *offsets = schedule_allocate((size_t)c->num_elem * size, sizeof(*offsets));
  CeedSize l_size = (CeedSize)comp_stride * f->num_comp;
  bool *orients = schedule_allocate((size_t)c->num_elem * size, sizeof(*orients));

  if (f->is_shuffled) shuffle(n, number);
  for (CeedInt e = 0; e < c->num_elem; e++) {
    for (CeedInt i = 0; i < size; i++) {
      CeedInt entry = number[box_node(box, f->degree, e, i)] * f->spread + f->shift;

      offsets[e * size + i] = f->is_interlaced ? entry * f->num_comp : entry;
    }
  }
  if (f->is_interlaced) comp_stride = 1;
  int ierr =
      f->is_oriented
          ? CeedElemRestrictionCreateOriented(c->ceed, c->num_elem, size, f->num_comp, comp_stride, l_size,
                                              CEED_MEM_HOST, CEED_COPY_VALUES, offsets, orients, rstr)
          : CeedElemRestrictionCreate(c->ceed, c->num_elem, size, f->num_comp, comp_stride, l_size,
                                      CEED_MEM_HOST, CEED_COPY_VALUES, offsets, rstr);
  free(number);
  free(offsets);
  free(orients);
  return ierr;
}

// Elements one after the other, or any order of the three indices.
static int create_strided(ScheduleCase *c, CeedElemRestriction *rstr) {
  CeedInt elem_size = schedule_draw(1, 20), num_comp = schedule_draw(1, 3);
  CeedInt size[3] = {elem_size, num_comp, c->num_elem}, order[3] = {0, 1, 2}, strides[3], stride = 1;

  if (one_in(6)) shuffle(3, order);
  for (int i = 0; i < 3; i++) {
    strides[order[i]] = stride;
    stride *= size[order[i]];
  }
  return CeedElemRestrictionCreateStrided(c->ceed, c->num_elem, elem_size, num_comp, stride,
                                          schedule_draw(0, 2) ? strides : CEED_STRIDES_BACKEND, rstr);
}

static Field draw_field(void) {
  Field f = {.degree = schedule_draw(1, 3)};

  f.num_comp = schedule_draw(1, 3);
  f.spread = one_in(3) ? 3 : 1;
  f.shift = one_in(4) ? schedule_draw(1, 300) : 0;
  f.is_interlaced = one_in(2);
  f.is_shuffled = one_in(12);
  f.is_oriented = one_in(4);
  return f;
}

static int add_output(ScheduleCase *c, const Box *box) {
  static const CeedInt array_numbers[] = {5, 0, 2, 3};
  CeedInt i = c->num_outputs++;
  RitzScheduleOutput *output = &c->outputs[i];
  Field f = draw_field();

  output->space = SCHEDULE_FIRST_SPACE + i;
  output->entry_bytes = (int32_t)sizeof(CeedScalar);
  c->first_of[i] = i > 0 && one_in(3) ? c->first_of[schedule_draw(0, i - 1)] : i;
  output->array = array_numbers[c->first_of[i]];
  return one_in(4) ? create_strided(c, &output->rstr) : create_offsets(c, box, &f, &output->rstr);
}

void schedule_case_set_lengths(ScheduleCase *c) {
  for (CeedInt i = 0; i < c->num_outputs; i++) {
    CeedSize *length = &c->outputs[c->first_of[i]].length, needed = c->outputs[i].rstr->l_size;

    if (*length < needed) *length = needed;
  }
  for (CeedInt i = 0; i < c->num_outputs; i++) {
    RitzScheduleOutput *output = &c->outputs[i];

    if (c->first_of[i] == i) output->length += one_in(2) ? schedule_draw(1, 500) : 0;
    output->length = c->outputs[c->first_of[i]].length;
  }
}

ScheduleCase schedule_case_draw(Ceed ceed) {
  ScheduleCase c = {.ceed = ceed};
  Box box = {.n = {1, 1, 1}};

  c.lanes = 1 << schedule_draw(0, 3);
  CeedInt num_outputs = schedule_draw(1, SCHEDULE_MAX_OUTPUTS), max_elem = c.lanes * schedule_draw(1, 100);

  if (max_elem > 300) max_elem = 300;
  for (int d = 0; d < 3; d++) {
    CeedInt room = max_elem / box_size(&box);

    box.n[d] = d == 2 ? room : schedule_draw(1, room < 6 ? room : 6);
  }
  c.num_elem = box_size(&box);
  box.order = identity(c.num_elem);
  if (one_in(8)) shuffle(c.num_elem, box.order);
  for (CeedInt i = 0; i < num_outputs; i++) {
    if (add_output(&c, &box)) abort();
  }
  schedule_case_set_lengths(&c);
  free(box.order);
  return c;
}

ScheduleCase schedule_case_box(Ceed ceed, CeedInt nx, CeedInt ny, CeedInt nz, CeedInt degree, CeedInt lanes) {
  ScheduleCase c = {.ceed = ceed, .lanes = lanes, .num_elem = nx * ny * nz, .num_outputs = 1};
  Box box = {{nx, ny, nz}, identity(c.num_elem)};
  Field f = {.degree = degree, .num_comp = 1, .spread = 1};

  c.outputs[0].space = SCHEDULE_FIRST_SPACE;
  c.outputs[0].entry_bytes = (int32_t)sizeof(CeedScalar);
  if (create_offsets(&c, &box, &f, &c.outputs[0].rstr)) abort();
  schedule_case_set_lengths(&c);
  free(box.order);
  return c;
}

void schedule_case_destroy(ScheduleCase *c) {
  for (CeedInt i = 0; i < c->num_outputs; i++) CeedElemRestrictionDestroy(&c->outputs[i].rstr);
}

int schedule_case_create(const ScheduleCase *c, int num_threads, bool is_fixed, RitzSchedule **s) {
  const RitzScheduleOptions options = {num_threads, is_fixed, 0};

  return ritz_schedule_create(c->ceed, c->num_elem, c->lanes, c->num_outputs, c->outputs, &options, s);
}

int schedule_case_create_copies(const ScheduleCase *c, int num_threads, RitzSchedule **s) {
  const RitzScheduleOptions options = {num_threads, false, SCHEDULE_NUM_SPACES};

  return ritz_schedule_create(c->ceed, c->num_elem, c->lanes, c->num_outputs, c->outputs, &options, s);
}

void schedule_case_visit(const ScheduleCase *c, int32_t batch,
                         void (*visit)(void *data, int output, CeedSize entry), void *data) {
  for (CeedInt i = 0; i < c->num_outputs; i++) {
    CeedElemRestriction r = c->outputs[i].rstr;

    for (CeedInt e = batch * c->lanes; e < (batch + 1) * c->lanes && e < c->num_elem; e++) {
      for (CeedInt n = 0; n < r->elem_size; n++) {
        for (CeedInt k = 0; k < r->num_comp; k++)
          visit(data, c->first_of[i], ritz_restriction_l_index(r, e, n, k));
      }
    }
  }
}
