// SPDX-License-Identifier: BSD-2-Clause
// Sweeps over vertex patches of slabs of a rectangular box (core/patch-sweep.h; solver/patches.c has those of
// one part). Each part sweeps a window: its own layers of elements and some of its neighbours', whose values
// of b and x come by one exchange a sweep. What is its own is then what a sweep of the whole box gives, to
// the last bit:
//
// Colours count the last direction slowest, so a sweep has two halves, planes of patches of one parity and
// then those of the other. A plane of the first half reads values that are given, in the two layers around
// it. One of the second half reads what its neighbours in the first have written. Between layer k - 1 and k,
// where slabs meet, the lower slab needs the plane of patches at k, which lies in one layer of the upper one,
// if it is of the first half; if it is of the second, that at k + 1, too, and two layers. The upper slab
// likewise. Patches further out that a window has, too, are wrong, and nobody reads them.
//
// The lower slab gets the first plane of nodes behind these layers, too: patches read it.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "core/core.h"
#include "core/patch-sweep.h"
#include "distributed/exchange.h"
#include "distributed/schwarz.h"
#include "solver/eigenvalues.h"
#include "solver/patch-box.h"
#include "solver/preconditioner.h"

static const char name[] = "vertex patches";

// A neighbour's share of a window, in entries.
typedef struct {
  CeedSize num_send, first_send; // of this part's vectors
  CeedSize num_recv, first_recv; // of the window
  CeedSize first_out, first_in;  // of the buffers, where b and then x lie
} Side;

typedef struct {
  RitzPartOperator op;     // borrowed: of the whole problem
  RitzExchange exchange;   // counted
  RitzIndices constraints; // counted: those of the boundary
  RitzSystem system;       // owned
  bool is_symmetric;
  CeedScalarType precision;
  const int64_t *layers; // borrowed: of the mesh of the exchange's space
  RitzPatchSweep sweep;  // owned: of the window
  Side sides[2];         // lower, upper; zeros: there is none
  CeedSize before;       // entries of the window before those of this part
  CeedVector b, x;       // owned: of the window
  CeedVector out, in;    // owned buffers; NULL: there are no neighbours
} PartPatches;

// ---- Exchanges ----

static int pack_side(const PartPatches *p, const Side *s, CeedVector b, CeedVector x) {
  if (s->num_send == 0) return CEED_ERROR_SUCCESS;
  RITZ_TRY(RitzVectorCopyRange(b, s->first_send, s->num_send, p->out, s->first_out));
  return x ? RitzVectorCopyRange(x, s->first_send, s->num_send, p->out, s->first_out + s->num_send)
           : CEED_ERROR_SUCCESS;
}

static int unpack_side(const PartPatches *p, const Side *s, bool has_x) {
  if (s->num_recv == 0) return CEED_ERROR_SUCCESS;
  RITZ_TRY(RitzVectorCopyRange(p->in, s->first_in, s->num_recv, p->b, s->first_recv));
  return has_x ? RitzVectorCopyRange(p->in, s->first_in + s->num_recv, s->num_recv, p->x, s->first_recv)
               : CEED_ERROR_SUCCESS;
}

static int run_messages(const PartPatches *p, int num_vectors, char *out, char *in) {
  const RitzTransport *t = &p->exchange->transport;
  const size_t size = ritz_scalar_bytes(p->precision);
  RitzMessage messages[2];
  CeedInt num = 0;

  for (int i = 0; i < 2; i++) {
    const Side *s = &p->sides[i];

    if (s->num_send == 0) continue;
    messages[num++] = (RitzMessage){.part = t->part + (i ? 1 : -1),
                                    .send_bytes = (size_t)(num_vectors * s->num_send) * size,
                                    .recv_bytes = (size_t)(num_vectors * s->num_recv) * size,
                                    .send = out + (size_t)s->first_out * size,
                                    .recv = in + (size_t)s->first_in * size};
  }
  if (t->run) return t->run(t, num, messages);
  RITZ_TRY(t->begin(t, num, messages));
  return t->end(t, num, messages);
}

static int send_buffers(const PartPatches *p, int num_vectors) {
  const CeedMemType memory = p->exchange->transport.mem_type;
  void *out = NULL, *in = NULL;

  RITZ_TRY(ritz_vector_lock(p->out, RITZ_ACCESS_READ, memory, &out));
  int ierr = ritz_vector_lock(p->in, RITZ_ACCESS_READ_WRITE, memory, &in);

  if (!ierr) {
    ierr = run_messages(p, num_vectors, out, in);
    ierr = ritz_vector_unlock(p->in, RITZ_ACCESS_READ_WRITE, &in, ierr);
  }
  return ritz_vector_unlock(p->out, RITZ_ACCESS_READ, &out, ierr);
}

// What neighbours have in the window; x NULL: zero everywhere.
static int fill_window(const PartPatches *p, CeedVector b, CeedVector x) {
  RITZ_TRY(RitzVectorCopyRange(b, 0, p->exchange->num_owned, p->b, p->before));
  if (x) RITZ_TRY(RitzVectorCopyRange(x, 0, p->exchange->num_owned, p->x, p->before));
  if (!p->out) return CEED_ERROR_SUCCESS;
  for (int i = 0; i < 2; i++) RITZ_TRY(pack_side(p, &p->sides[i], b, x));
  RITZ_TRY(send_buffers(p, x ? 2 : 1));
  for (int i = 0; i < 2; i++) RITZ_TRY(unpack_side(p, &p->sides[i], x != NULL));
  return CEED_ERROR_SUCCESS;
}

// ---- The preconditioner ----

// Ghosts of x get what the window has there.
static int sweep_part(const PartPatches *p, CeedVector b, CeedVector x, bool x_is_zero, bool is_reversed) {
  RITZ_TRY(fill_window(p, b, x_is_zero ? NULL : x));
  RITZ_TRY(ritz_patch_sweep_run(p->sweep, p->b, p->x, x_is_zero, is_reversed));
  return RitzVectorCopyRange(p->x, p->before, p->exchange->length, x, 0);
}

static int apply_part_patches(RitzPreconditioner pc, CeedVector r, CeedVector z) {
  const PartPatches *p = pc->data;

  RITZ_TRY(sweep_part(p, r, z, true, false));
  if (p->is_symmetric) RITZ_TRY(sweep_part(p, r, z, false, true));
  return RitzVectorSetEntries(z, p->exchange->ghosts, 0);
}

static int smooth_part_patches(RitzPreconditioner pc, CeedVector b, CeedVector x, bool starts_from_zero,
                               bool is_after) {
  const PartPatches *p = pc->data;

  return sweep_part(p, b, x, starts_from_zero, is_after && p->is_symmetric);
}

static int view_part_patches(RitzPreconditioner pc, FILE *stream, int indent) {
  const PartPatches *p = pc->data;
  const RitzPatchBox *box = &p->sweep->box;
  const CeedInt part = p->exchange->transport.part;

  fprintf(stream,
          "%*s%s, %s: degree %" CeedInt_FMT ", %s box, layers %lld to %lld of %lld, %lld with neighbours'\n",
          indent, "", pc->methods->name, p->is_symmetric ? "there and back" : "one order", box->degree,
          box->is_uniform ? "uniform" : "rectangular", (long long)p->layers[part] + 1,
          (long long)p->layers[part + 1], (long long)p->layers[p->exchange->transport.num_parts],
          (long long)box->cells[box->dim - 1]);
  return CEED_ERROR_SUCCESS;
}

static CeedSize length_of(CeedVector v) { return v ? v->length : 0; }

// Vectors of the window and buffers, and tables.
static int64_t part_patches_bytes(RitzPreconditioner pc) {
  const PartPatches *p = pc->data;
  const RitzPatchBox *box = &p->sweep->box;
  int64_t num = box->is_uniform ? 1 : 0;

  for (int d = 0; d < box->dim && !box->is_uniform; d++) num += box->count[d];
  return num * (int64_t)(ritz_fe_patch_line_size(box->degree) * sizeof(double)) +
         (2 * length_of(p->b) + length_of(p->out) + length_of(p->in)) *
             (int64_t)ritz_scalar_bytes(p->precision);
}

static int clear_sweep(PartPatches *p) {
  CeedVector *const vectors[] = {&p->b, &p->x, &p->out, &p->in};
  int ierr = ritz_patch_sweep_destroy(&p->sweep);

  for (int i = 0; i < 4; i++) ierr = ritz_first_error(ierr, CeedVectorDestroy(vectors[i]));
  return ierr;
}

static int free_part_patches(PartPatches *p) {
  int ierr = clear_sweep(p);

  ierr = ritz_first_error(ierr, ritz_system_destroy(&p->system));
  ierr = ritz_first_error(ierr, RitzIndicesDestroy(&p->constraints));
  ierr = ritz_first_error(ierr, RitzExchangeDestroy(&p->exchange));
  RITZ_FREE(&p);
  return ierr;
}

static int destroy_part_patches(RitzPreconditioner pc) { return free_part_patches(pc->data); }

// ---- The box of all parts ----

// This part's piece, with planes between cells.
typedef struct {
  RitzPatchBox box; // owned
  CeedInt n[3];
  double *planes[3]; // owned, from malloc
} Piece;

static void clear_piece(Piece *piece) {
  for (int d = 0; d < 3; d++) free(piece->planes[d]);
  ritz_patch_box_clear(&piece->box);
}

static int find_piece(const char *call, const PartPatches *p, Piece *piece) {
  const RitzExchange e = p->exchange;
  RitzMesh mesh = NULL;
  bool is_box = false;
  int64_t elem;

  RITZ_TRY(RitzSpaceGetMesh(e->space, &mesh));
  RITZ_TRY(ritz_patch_box_create(e->ceed, call, e->space, p->constraints, &piece->box));
  RITZ_TRY(RitzMeshGetRectangularBox(mesh, &is_box, piece->n, piece->planes, &elem));
  piece->box.precision = p->precision;
  piece->box.form = RITZ_PATCH_LIFTED;
  return CEED_ERROR_SUCCESS;
}

// Numbers that all parts have to agree on: planes and given sides of all directions but the last. values
// NULL: how many.
static CeedInt list_common(const Piece *piece, double *values) {
  CeedInt num = 0;

  for (int d = 0; d + 1 < piece->box.dim; d++) {
    for (CeedInt i = 0; i <= piece->n[d]; i++, num++) {
      if (values) values[num] = piece->planes[d][i];
    }
    for (int side = 0; side < 2; side++, num++) {
      if (values) values[num] = piece->box.is_fixed[d][side];
    }
  }
  return num;
}

static int require_common(const char *call, const PartPatches *p, const Piece *piece) {
  const RitzExchange e = p->exchange;
  const CeedInt num = list_common(piece, NULL);
  double *values = NULL, difference = 0, size = 0;

  RITZ_TRY(RITZ_MALLOC(e->ceed, 2 * (size_t)num + 1, &values));
  list_common(piece, values);
  for (CeedInt i = 0; i < num; i++) values[num + i] = -values[i];
  const int ierr = RitzExchangeReduce(e, RITZ_REDUCTION_MAX, 2 * num, values);

  for (CeedInt i = 0; i < num; i++) {
    difference = fmax(difference, values[i] + values[num + i]);
    size = fmax(size, fabs(values[i]));
  }
  RITZ_FREE(&values);
  RITZ_TRY(ierr);
  RITZ_REQUIRE(difference <= 1e-10 * size, e->ceed, CEED_ERROR_UNSUPPORTED,
               "%s: slabs differ in their planes or in the sides where values are given; vertex patches need "
               "a rectangular box (use elements)",
               call);
  return CEED_ERROR_SUCCESS;
}

// Planes of the last direction of all parts, and whether values are given at its two ends: ends [2] behind
// them.
static int gather_planes(const PartPatches *p, const Piece *piece, double *planes) {
  const RitzTransport *t = &p->exchange->transport;
  const int last = piece->box.dim - 1;
  const int64_t first = p->layers[t->part], num = p->layers[t->num_parts];
  const bool is_last = t->part + 1 == t->num_parts;

  for (int64_t i = 0; i < piece->n[last] + is_last; i++) planes[first + i] = piece->planes[last][i];
  if (t->part == 0) planes[num + 1] = piece->box.is_fixed[last][0];
  if (is_last) planes[num + 2] = piece->box.is_fixed[last][1];
  return RitzExchangeReduce(p->exchange, RITZ_REDUCTION_SUM, (CeedInt)num + 3, planes);
}

static int extend_piece(const PartPatches *p, const Piece *piece, RitzPatchBox *whole) {
  const Ceed ceed = p->exchange->ceed;
  const int last = piece->box.dim - 1;
  const int64_t num = p->layers[p->exchange->transport.num_parts];
  double *planes = NULL, *all[3] = {piece->planes[0], piece->planes[1], piece->planes[2]};

  RITZ_TRY(RITZ_CALLOC(ceed, (size_t)num + 3, &planes));
  int ierr = gather_planes(p, piece, planes);

  all[last] = planes;
  if (!ierr)
    ierr = ritz_patch_box_extend(ceed, &piece->box, (CeedInt)num, all,
                                 (bool[]){planes[num + 1] > 0, planes[num + 2] > 0}, whole);
  RITZ_FREE(&planes);
  return ierr;
}

static int find_whole(const char *call, const PartPatches *p, RitzPatchBox *whole) {
  Piece piece = {.n = {1, 1, 1}};
  int ierr = ritz_part_agree(call, name, p->exchange, find_piece(call, p, &piece));

  if (!ierr) ierr = require_common(call, p, &piece);
  if (!ierr) ierr = ritz_part_agree(call, name, p->exchange, extend_piece(p, &piece, whole));
  clear_piece(&piece);
  return ierr;
}

// ---- The window ----

// Layers that are exchanged across bound i of the slabs: one where its patches are of the half that comes
// first, in all sweeps there are.
static int64_t depth_at(const PartPatches *p, CeedInt i) {
  return p->is_symmetric || p->layers[i] % 2 != 0 ? 2 : 1;
}

static int require_layers(const char *call, const PartPatches *p) {
  const CeedInt num_parts = p->exchange->transport.num_parts;

  RITZ_REQUIRE(p->layers, p->exchange->ceed, CEED_ERROR_UNSUPPORTED,
               "%s: vertex patches need parts that are slabs of a box (RITZ_PARTITION_SLABS), or elements",
               call);
  for (CeedInt i = 0; i < num_parts; i++) {
    const int64_t num = p->layers[i + 1] - p->layers[i],
                  below = i > 0 ? depth_at(p, i) + (i + 1 < num_parts) : 0,
                  above = i + 1 < num_parts ? depth_at(p, i + 1) : 0, needed = below > above ? below : above;

    RITZ_REQUIRE(num >= needed, p->exchange->ceed, CEED_ERROR_UNSUPPORTED,
                 "%s: the slab of part %" CeedInt_FMT
                 " has %lld layers of elements, sweeps over vertex patches need %lld",
                 call, i, (long long)num, (long long)needed);
  }
  return CEED_ERROR_SUCCESS;
}

static CeedSize plane_entries(const RitzPatchBox *box) {
  CeedSize plane = box->num_comp;

  for (int d = 0; d + 1 < box->dim; d++) plane *= box->nodes[d];
  return plane;
}

static void find_sides(PartPatches *p, const RitzPatchBox *box) {
  const RitzTransport *t = &p->exchange->transport;
  const CeedSize plane = plane_entries(box);

  p->before = 0;
  memset(p->sides, 0, sizeof(p->sides));
  if (t->part > 0) {
    const CeedSize entries = depth_at(p, t->part) * box->degree * plane;

    p->sides[0] = (Side){.num_send = entries + plane, .num_recv = entries};
    p->before = entries;
  }
  if (t->part + 1 < t->num_parts) {
    const CeedSize entries = depth_at(p, t->part + 1) * box->degree * plane;

    p->sides[1] = (Side){.num_send = entries,
                         .first_send = p->exchange->num_owned - entries,
                         .num_recv = entries + plane,
                         .first_recv = p->before + p->exchange->num_owned,
                         .first_out = 2 * p->sides[0].num_send,
                         .first_in = 2 * p->sides[0].num_recv};
  }
}

static int create_zeros(const PartPatches *p, CeedSize length, CeedVector *v) {
  RITZ_TRY(RitzVectorCreate(p->exchange->ceed, length, p->precision, v));
  return CeedVectorSetValue(*v, 0);
}

static int create_vectors(PartPatches *p) {
  const Side *upper = &p->sides[1], *lower = &p->sides[0];
  const CeedSize num_out = 2 * (lower->num_send + upper->num_send),
                 num_in = 2 * (lower->num_recv + upper->num_recv);

  RITZ_TRY(create_zeros(p, p->sweep->length, &p->b));
  RITZ_TRY(create_zeros(p, p->sweep->length, &p->x));
  if (num_out == 0) return CEED_ERROR_SUCCESS;
  RITZ_TRY(create_zeros(p, num_out, &p->out));
  return create_zeros(p, num_in, &p->in);
}

// Everything of a sweep but messages, on zeros.
static int load_sweep(const PartPatches *p, CeedVector v) {
  RITZ_TRY(RitzVectorCopyRange(v, 0, p->exchange->num_owned, p->b, p->before));
  RITZ_TRY(ritz_patch_sweep_run(p->sweep, p->b, p->x, false, false));
  return RitzVectorCopyRange(p->x, p->before, p->exchange->length, v, 0);
}

static int create_window(PartPatches *p, const RitzPatchBox *whole, CeedVector v) {
  const RitzTransport *t = &p->exchange->transport;
  const int64_t begin = p->layers[t->part] - (t->part > 0 ? depth_at(p, t->part) : 0);
  const int64_t end = p->layers[t->part + 1] + (t->part + 1 < t->num_parts ? depth_at(p, t->part + 1) : 0);
  RitzPatchBox window;

  RITZ_TRY(ritz_patch_box_cut(p->exchange->ceed, whole, begin, end, &window));
  RITZ_TRY(ritz_patch_sweep_create(p->exchange->ceed, &window, &p->sweep));
  RITZ_TRY(ritz_patch_sweep_prepare(p->sweep));
  find_sides(p, whole);
  RITZ_ASSERT(p->before + p->exchange->num_owned + p->sides[1].num_recv == p->sweep->length);
  RITZ_TRY(create_vectors(p));
  return load_sweep(p, v);
}

// ---- The test: a sweep over b = A x leaves x as it is (solver/patches.c) ----

static int sweep_solution(const PartPatches *p, CeedVector x, CeedVector b, CeedVector y, double *change) {
  CeedScalar largest = 0;

  RITZ_TRY(ritz_system_set_random(&p->system, x, 1));
  RITZ_TRY(ritz_system_apply(&p->system, x, b));
  RITZ_TRY(CeedVectorCopy(x, y));
  RITZ_TRY(sweep_part(p, b, y, false, false));
  RITZ_TRY(RitzVectorSum(y, 1, y, -1, x));
  RITZ_TRY(RitzVectorSetEntries(y, p->exchange->ghosts, 0));
  RITZ_TRY(CeedVectorNorm(y, CEED_NORM_MAX, &largest));
  *change = isnan(largest) ? INFINITY : (double)largest;
  return RitzExchangeReduce(p->exchange, RITZ_REDUCTION_MAX, 1, change);
}

static int test_part_sweep(const char *call, const PartPatches *p, CeedVector v[3]) {
  const double most = ritz_patch_box_tolerance(&p->sweep->box);
  double change = 0;

  RITZ_TRY(sweep_solution(p, v[0], v[1], v[2], &change));
  RITZ_REQUIRE(change <= most, p->exchange->ceed, CEED_ERROR_UNSUPPORTED,
               "%s: the operator is not one number for each direction and a reaction on a rectangular box: "
               "patches change a random solution by %.2g, needed at most %.2g (use elements)",
               call, change, most);
  return CEED_ERROR_SUCCESS;
}

// ---- Creation: what is allocated and loaded lies before a meeting of the hosts, messages behind it
// (distributed/schwarz.c) ----

// v [3]: zeros, through all that tests do to vectors of this part.
static int create_work(const PartPatches *p, CeedVector v[3]) {
  CeedOperator pieces[2];
  CeedScalar largest;

  for (int i = 0; i < 3; i++) RITZ_TRY(create_zeros(p, p->exchange->length, &v[i]));
  ritz_part_operator_pieces(p->op, pieces);
  RITZ_TRY(ritz_system_set_random(&p->system, v[0], 1));
  for (int i = 0; i < 2; i++) {
    if (!pieces[i]) continue;
    RITZ_TRY(CeedOperatorApply(pieces[i], v[0], v[1], CEED_REQUEST_IMMEDIATE));
    RITZ_TRY(CeedOperatorApplyAdd(pieces[i], v[0], v[1], CEED_REQUEST_IMMEDIATE));
  }
  RITZ_TRY(RitzVectorSum(v[2], 1, v[2], -1, v[1]));
  return CeedVectorNorm(v[2], CEED_NORM_MAX, &largest);
}

static int find_part_factors(const PartPatches *p, CeedVector v[3], RitzPatchBox *whole) {
  const RitzExchange e = p->exchange;
  const RitzPatchShare share = {.first = p->layers[e->transport.part] * whole->degree * plane_entries(whole),
                                .num_owned = e->num_owned,
                                .x = v[0],
                                .y = v[1]};
  double ignored; // the sum's kernel

  RITZ_TRY(RitzVectorDot(v[0], v[1], &ignored));
  return ritz_patch_box_find_factors(&p->system, &share, whole);
}

static int fill_sweep(const char *call, PartPatches *p, CeedVector v[3], RitzPatchBox *whole) {
  const RitzExchange e = p->exchange;

  RITZ_TRY(ritz_part_agree(call, name, e, create_work(p, v)));
  const int ierr = find_part_factors(p, v, whole);
  RITZ_TRY(ritz_part_agree(call, name, e, ierr ? ierr : create_window(p, whole, v[2])));
  int first = p->out ? send_buffers(p, 2) : CEED_ERROR_SUCCESS; // what first messages take is there
  if (!first && e->transport.mem_type == CEED_MEM_DEVICE) first = ritz_exchange_wait(e);
  RITZ_TRY(ritz_part_agree(call, name, e, first));
  return test_part_sweep(call, p, v);
}

// From the numbers that the operator has now.
static int create_sweep(const char *call, PartPatches *p) {
  RitzPatchBox whole = {.dim = 0};
  CeedVector v[3] = {NULL, NULL, NULL};

  RITZ_TRY(require_layers(call, p));
  RITZ_TRY(find_whole(call, p, &whole));
  int ierr = fill_sweep(call, p, v, &whole);

  ritz_patch_box_clear(&whole);
  for (int i = 0; i < 3; i++) ierr = ritz_first_error(ierr, CeedVectorDestroy(&v[i]));
  return ierr;
}

static int update_part_patches(RitzPreconditioner pc) {
  PartPatches *p = pc->data;

  RITZ_TRY(clear_sweep(p));
  return create_sweep(name, p);
}

static const RitzPreconditionerMethods methods = {.name = name,
                                                  .symmetric_form = "RitzPartMultigridOptions.is_reversed",
                                                  .apply = apply_part_patches,
                                                  .smooth = smooth_part_patches,
                                                  .view = view_part_patches,
                                                  .bytes = part_patches_bytes,
                                                  .update = update_part_patches,
                                                  .destroy = destroy_part_patches};

static int fill_part_patches(const char *call, PartPatches *p, RitzIndices constraints, RitzIndices kept) {
  RitzMesh mesh = NULL;

  RITZ_TRY(RitzIndicesReferenceCopy(constraints, &p->constraints));
  RITZ_TRY(RitzSpaceGetMesh(p->exchange->space, &mesh));
  RITZ_TRY(RitzMeshGetSlabs(mesh, &p->layers));
  RITZ_TRY(
      ritz_system_create(p->exchange->ceed, NULL, ritz_part_operator_apply_kept, p->op, kept, &p->system));
  return create_sweep(call, p);
}

int ritz_part_patches_create(const char *call, RitzPartOperator op, RitzIndices constraints, RitzIndices kept,
                             CeedScalarType precision, bool is_symmetric, RitzPreconditioner *pc) {
  const RitzExchange e = ritz_part_operator_pieces(op, NULL);
  PartPatches *p = NULL;

  RITZ_TRY(RITZ_CALLOC(e->ceed, 1, &p));
  *p = (PartPatches){.op = op, .is_symmetric = is_symmetric, .precision = precision};
  int ierr = RitzExchangeReferenceCopy(e, &p->exchange);

  if (!ierr) ierr = fill_part_patches(call, p, constraints, kept);
  if (!ierr)
    ierr = ritz_preconditioner_create(e->ceed, call, e->length, precision, &methods, p, is_symmetric, pc);
  return ierr ? ritz_first_error(ierr, free_part_patches(p)) : CEED_ERROR_SUCCESS;
}
