// SPDX-License-Identifier: BSD-2-Clause
// CeedQFunctionContext: its data (who owns them, who reads and writes), registered fields and their labels,
// the data-destroy callback, misuse and what is left after it. Fields through operators and composites are
// in tests/test-operator-api.c.
#include "base/memory.h"
#include "tests/api.h"
#include "tests/tap.h"

#include <ceed/backend.h>
#include <stddef.h>

// What the contexts of these tests hold.
typedef struct {
  double dt;
  int32_t n[2];
  bool flag;
} Params;

static const Params some = {0.5, {3, 4}, true};

static CeedQFunctionContext make(Ceed ceed) {
  CeedQFunctionContext ctx = NULL;
  CeedQFunctionContextCreate(ceed, &ctx);
  return ctx;
}

static CeedQFunctionContext make_filled(Ceed ceed) {
  CeedQFunctionContext ctx = make(ceed);
  CeedQFunctionContextSetData(ctx, CEED_MEM_HOST, CEED_COPY_VALUES, sizeof(some), (void *)&some);
  return ctx;
}

static void register_all(CeedQFunctionContext ctx) {
  CHECK_OK(CeedQFunctionContextRegisterDouble(ctx, "dt", offsetof(Params, dt), 1, "step"));
  CHECK_OK(CeedQFunctionContextRegisterInt32(ctx, "n", offsetof(Params, n), 2, "two counts"));
  CHECK_OK(CeedQFunctionContextRegisterBoolean(ctx, "flag", offsetof(Params, flag), 1, NULL));
}

static bool has_params(CeedQFunctionContext ctx, double dt, int32_t n0, int32_t n1) {
  const Params *p = NULL;
  if (CeedQFunctionContextGetDataRead(ctx, CEED_MEM_HOST, &p)) return false;
  bool is_right = p->dt == dt && p->n[0] == n0 && p->n[1] == n1;
  return !CeedQFunctionContextRestoreDataRead(ctx, &p) && is_right;
}

static size_t size_of(CeedQFunctionContext ctx) {
  size_t size = 12345;
  CeedQFunctionContextGetContextSize(ctx, &size);
  return size;
}

// ---- Data ----

TEST_EACH_BACKEND(a_new_context_has_no_data) {
  CeedQFunctionContext ctx = make(ceed);
  Params *p = NULL;
  const Params *read = NULL;

  CHECK(size_of(ctx) == 0, "%zu bytes", size_of(ctx));
#define REFUSED(call, function) CHECK_ERROR(ceed, call, CEED_ERROR_BACKEND, function)
  REFUSED(CeedQFunctionContextGetData(ctx, CEED_MEM_HOST, &p), "CeedQFunctionContextGetData");
  REFUSED(CeedQFunctionContextGetDataRead(ctx, CEED_MEM_HOST, &read), "CeedQFunctionContextGetDataRead");
  REFUSED(CeedQFunctionContextTakeData(ctx, CEED_MEM_HOST, &p), "CeedQFunctionContextTakeData");
#undef REFUSED
  CHECK_OK(CeedQFunctionContextSetData(ctx, CEED_MEM_HOST, CEED_COPY_VALUES, sizeof(some), (void *)&some));
  CHECK(has_params(ctx, 0.5, 3, 4) && size_of(ctx) == sizeof(Params), "after the first data");
  CHECK_OK(CeedQFunctionContextDestroy(&ctx));
}

TEST_EACH_BACKEND(copied_data_are_independent_of_their_source) {
  Params mine = some, *p = NULL;
  CeedQFunctionContext ctx = make(ceed);

  CHECK_OK(CeedQFunctionContextSetData(ctx, CEED_MEM_HOST, CEED_COPY_VALUES, sizeof(mine), &mine));
  mine.dt = 9;
  CHECK(has_params(ctx, 0.5, 3, 4), "not copied");
  CHECK_OK(CeedQFunctionContextGetData(ctx, CEED_MEM_HOST, &p));
  p->n[1] = 7;
  CHECK_OK(CeedQFunctionContextRestoreData(ctx, &p));
  CHECK(p == NULL && has_params(ctx, 0.5, 3, 7) && mine.n[1] == 4, "after writing");
  CHECK_ERROR(ceed, CeedQFunctionContextTakeData(ctx, CEED_MEM_HOST, &p), CEED_ERROR_BACKEND, "borrowed");
  CHECK(has_params(ctx, 0.5, 3, 7), "after a refused taking");
  CHECK_OK(CeedQFunctionContextDestroy(&ctx));
}

TEST_EACH_BACKEND(borrowed_data_are_read_and_written_in_place) {
  Params mine = some, *p = NULL;
  CeedQFunctionContext ctx = make(ceed);

  CHECK_OK(CeedQFunctionContextSetData(ctx, CEED_MEM_HOST, CEED_USE_POINTER, sizeof(mine), &mine));
  mine.dt = 2;
  if (!has_device_memory(ceed)) CHECK(has_params(ctx, 2, 3, 4), "not in place");
  CHECK_OK(CeedQFunctionContextGetData(ctx, CEED_MEM_HOST, &p));
  CHECK(p == &mine, "other bytes are lent");
  p->n[0] = 8;
  CHECK_OK(CeedQFunctionContextRestoreData(ctx, &p));
  CHECK(mine.n[0] == 8, "%d", mine.n[0]);
  CHECK_OK(CeedQFunctionContextTakeData(ctx, CEED_MEM_HOST, &p));
  CHECK(p == &mine, "other bytes come back");
  CHECK_ERROR(ceed, CeedQFunctionContextGetData(ctx, CEED_MEM_HOST, &p), CEED_ERROR_BACKEND, "no valid data");
  CHECK_ERROR(ceed, CeedQFunctionContextTakeData(ctx, CEED_MEM_HOST, &p), CEED_ERROR_BACKEND,
              "no valid data");
  CHECK_OK(CeedQFunctionContextSetData(ctx, CEED_MEM_HOST, CEED_COPY_VALUES, sizeof(some), (void *)&some));
  CHECK(has_params(ctx, 0.5, 3, 4) && mine.n[0] == 8, "copied into bytes that were given back");
  CHECK_OK(CeedQFunctionContextSetData(ctx, CEED_MEM_HOST, CEED_USE_POINTER, sizeof(mine), &mine));
  CHECK_OK(CeedQFunctionContextTakeData(ctx, CEED_MEM_HOST, NULL));
  CHECK_OK(CeedQFunctionContextDestroy(&ctx));
}

// Unlike a vector, a context forgets a borrowed block when values are copied: the size may differ.
TEST_EACH_BACKEND(copying_replaces_borrowed_data) {
  Params mine = some;
  const int32_t number = 6, *found = NULL;
  CeedQFunctionContext ctx = make(ceed);

  CHECK_OK(CeedQFunctionContextSetData(ctx, CEED_MEM_HOST, CEED_USE_POINTER, sizeof(mine), &mine));
  CHECK_OK(
      CeedQFunctionContextSetData(ctx, CEED_MEM_HOST, CEED_COPY_VALUES, sizeof(number), (void *)&number));
  CHECK(size_of(ctx) == sizeof(number) && mine.dt == 0.5, "%zu bytes", size_of(ctx));
  CHECK_OK(CeedQFunctionContextGetDataRead(ctx, CEED_MEM_HOST, &found));
  CHECK(*found == 6, "%d", *found);
  CHECK_OK(CeedQFunctionContextRestoreDataRead(ctx, &found));
  CHECK_ERROR(ceed, CeedQFunctionContextTakeData(ctx, CEED_MEM_HOST, NULL), CEED_ERROR_BACKEND, "borrowed");
  CHECK_OK(CeedQFunctionContextDestroy(&ctx));
}

TEST_EACH_BACKEND(owned_data_are_used_and_freed) {
  Params *first = duplicate(&some, sizeof(some)), *second = duplicate(&some, sizeof(some)), mine = some;
  CeedQFunctionContext ctx = make(ceed);

  CHECK_OK(CeedQFunctionContextSetData(ctx, CEED_MEM_HOST, CEED_OWN_POINTER, sizeof(*first), first));
  CHECK_OK(CeedQFunctionContextSetData(ctx, CEED_MEM_HOST, CEED_OWN_POINTER, sizeof(*first), first)); // again
  CHECK(has_params(ctx, 0.5, 3, 4), "first");
  second->dt = 7;
  CHECK_OK(CeedQFunctionContextSetData(ctx, CEED_MEM_HOST, CEED_OWN_POINTER, sizeof(*second), second));
  CHECK(has_params(ctx, 7, 3, 4), "second"); // the first is freed
  CHECK_OK(CeedQFunctionContextSetData(ctx, CEED_MEM_HOST, CEED_USE_POINTER, sizeof(mine), &mine));
  CHECK(has_params(ctx, 0.5, 3, 4), "borrowed"); // the second is freed
  CHECK_OK(CeedQFunctionContextDestroy(&ctx));
  ctx = make(ceed);
  first = duplicate(&some, sizeof(some));
  CHECK_OK(CeedQFunctionContextSetData(ctx, CEED_MEM_HOST, CEED_OWN_POINTER, sizeof(*first), first));
  CHECK_OK(CeedQFunctionContextDestroy(&ctx));
}

TEST_EACH_BACKEND(data_of_no_bytes_are_data) {
  CeedQFunctionContext ctx = make(ceed);
  void *p = &ctx;

  CHECK_OK(CeedQFunctionContextSetData(ctx, CEED_MEM_HOST, CEED_COPY_VALUES, 0, NULL));
  CHECK(size_of(ctx) == 0, "%zu bytes", size_of(ctx));
  CHECK_OK(CeedQFunctionContextGetData(ctx, CEED_MEM_HOST, &p));
  CHECK_OK(CeedQFunctionContextRestoreData(ctx, &p));
  CHECK_OK(CeedQFunctionContextDestroy(&ctx));
}

// ---- Locks ----

TEST_EACH_BACKEND(a_writer_keeps_everybody_out) {
  CeedQFunctionContext ctx = make_filled(ceed), handle = ctx;
  Params *p = NULL, *q = NULL;
  const Params *read = NULL;

  CHECK_OK(CeedQFunctionContextGetData(ctx, CEED_MEM_HOST, &p));
#define REFUSED(call, fragment) CHECK_ERROR(ceed, call, CEED_ERROR_MINOR, fragment)
  REFUSED(CeedQFunctionContextGetData(ctx, CEED_MEM_HOST, &q),
          "CeedQFunctionContextGetData(): Cannot grant CeedQFunctionContext data access, the access lock is "
          "already in use");
  REFUSED(CeedQFunctionContextGetDataRead(ctx, CEED_MEM_HOST, &read), "CeedQFunctionContextGetDataRead");
  REFUSED(CeedQFunctionContextSetData(ctx, CEED_MEM_HOST, CEED_COPY_VALUES, sizeof(some), (void *)&some),
          "CeedQFunctionContextSetData");
  REFUSED(CeedQFunctionContextTakeData(ctx, CEED_MEM_HOST, &q), "CeedQFunctionContextTakeData");
  REFUSED(CeedQFunctionContextRestoreDataRead(ctx, &read), "CeedQFunctionContextRestoreDataRead");
  REFUSED(CeedQFunctionContextDestroy(&handle), "CeedQFunctionContextDestroy");
#undef REFUSED
  CHECK(handle == ctx, "the handle is gone");
  p->dt = 6;
  CHECK_OK(CeedQFunctionContextRestoreData(ctx, &p));
  CHECK(has_params(ctx, 6, 3, 4), "the data are spoilt");
  CHECK_ERROR(ceed, CeedQFunctionContextRestoreData(ctx, &p), CEED_ERROR_MINOR, "access was not granted");
  CHECK_OK(CeedQFunctionContextDestroy(&ctx));
}

// A binding that keeps no pointer restores NULL.
TEST_EACH_BACKEND(an_access_ends_through_a_null_pointer) {
  CeedQFunctionContext ctx = make(ceed);
  void *none = NULL;
  Params *p;

  CHECK_OK(CeedQFunctionContextSetData(ctx, CEED_MEM_HOST, CEED_COPY_VALUES, sizeof(some), (void *)&some));
  CHECK_OK(CeedQFunctionContextGetData(ctx, CEED_MEM_HOST, &p));
  *p = (Params){0};
  CHECK_OK(CeedQFunctionContextRestoreData(ctx, &none));
  CHECK_OK(CeedQFunctionContextGetDataRead(ctx, CEED_MEM_HOST, &p));
  CHECK(p->dt == 0 && p->n[0] == 0 && p->n[1] == 0 && !p->flag, "what was written is lost");
  CHECK_OK(CeedQFunctionContextRestoreDataRead(ctx, &none));
  CHECK_OK(CeedQFunctionContextDestroy(&ctx));
}

TEST_EACH_BACKEND(readers_share_and_keep_writers_out) {
  CeedQFunctionContext ctx = make_filled(ceed);
  const Params *a = NULL, *b = NULL;
  Params *p = NULL;

  CHECK_OK(CeedQFunctionContextGetDataRead(ctx, CEED_MEM_HOST, &a));
  CHECK_OK(CeedQFunctionContextGetDataRead(ctx, CEED_MEM_HOST, &b));
  CHECK(a->dt == 0.5 && b->n[1] == 4, "values");
  for (int num_readers = 2; num_readers > 0; num_readers--) {
    CHECK_ERROR(ceed, CeedQFunctionContextGetData(ctx, CEED_MEM_HOST, &p), CEED_ERROR_MINOR,
                "CeedQFunctionContextGetData(): Cannot grant CeedQFunctionContext data access, a process has "
                "read access");
    CHECK_ERROR(ceed, CeedQFunctionContextRestoreData(ctx, &p), CEED_ERROR_MINOR, "access was not granted");
    CHECK_OK(CeedQFunctionContextRestoreDataRead(ctx, num_readers == 2 ? &b : &a));
  }
  CHECK(a == NULL && b == NULL, "pointers stay");
  CHECK_ERROR(ceed, CeedQFunctionContextRestoreDataRead(ctx, &a), CEED_ERROR_MINOR, "access was not granted");
  CHECK_OK(CeedQFunctionContextGetData(ctx, CEED_MEM_HOST, &p));
  CHECK_OK(CeedQFunctionContextRestoreData(ctx, &p));
  CHECK_OK(CeedQFunctionContextDestroy(&ctx));
}

// The standard checks readers neither when data are replaced nor when the context ends.
TEST_EACH_BACKEND(readers_do_not_keep_data_from_being_replaced) {
  CeedQFunctionContext ctx = make(ceed);
  Params mine = some, other = some;
  const Params *read = NULL;

  CHECK_OK(CeedQFunctionContextSetData(ctx, CEED_MEM_HOST, CEED_USE_POINTER, sizeof(mine), &mine));
  CHECK_OK(CeedQFunctionContextGetDataRead(ctx, CEED_MEM_HOST, &read));
  other.dt = 8;
  CHECK_OK(CeedQFunctionContextSetData(ctx, CEED_MEM_HOST, CEED_USE_POINTER, sizeof(other), &other));
  CHECK_OK(CeedQFunctionContextRestoreDataRead(ctx, &read));
  CHECK(has_params(ctx, 8, 3, 4), "not replaced");
  CHECK_OK(CeedQFunctionContextGetDataRead(ctx, CEED_MEM_HOST, &read));
  CHECK_OK(CeedQFunctionContextDestroy(&ctx));
}

// ---- Arguments ----

TEST_EACH_BACKEND(device_memory_is_refused_where_there_is_none) {
  Params mine = some, *p = NULL;

  if (has_device_memory(ceed)) NOT_FOR_THIS_BACKEND("the backend has device memory");
  CeedQFunctionContext ctx = make(ceed);
  CHECK_ERROR(ceed, CeedQFunctionContextSetData(ctx, CEED_MEM_DEVICE, CEED_USE_POINTER, sizeof(mine), &mine),
              CEED_ERROR_BACKEND, "Can only set HOST memory for this backend");
  CHECK_OK(CeedQFunctionContextSetData(ctx, CEED_MEM_HOST, CEED_USE_POINTER, sizeof(mine), &mine));
#define REFUSED(call)                                                                                        \
  CHECK_ERROR(ceed, call, CEED_ERROR_BACKEND, "Can only provide HOST memory for this backend")
  REFUSED(CeedQFunctionContextTakeData(ctx, CEED_MEM_DEVICE, &p));
  REFUSED(CeedQFunctionContextGetData(ctx, CEED_MEM_DEVICE, &p));
  REFUSED(CeedQFunctionContextGetDataRead(ctx, CEED_MEM_DEVICE, &p));
#undef REFUSED
  CHECK(has_params(ctx, 0.5, 3, 4), "the data are spoilt");
  CHECK_OK(CeedQFunctionContextDestroy(&ctx));
}

TEST_EACH_BACKEND(arguments_that_mean_nothing_are_refused) {
  CeedQFunctionContext ctx = make_filled(ceed);
  Params mine = some;

  CHECK_ERROR(ceed, CeedQFunctionContextSetData(ctx, CEED_MEM_HOST, (CeedCopyMode)8, sizeof(mine), &mine),
              CEED_ERROR_INCOMPATIBLE, "copy mode");
  CHECK_ERROR(ceed, CeedQFunctionContextSetData(ctx, (CeedMemType)8, CEED_COPY_VALUES, sizeof(mine), &mine),
              CEED_ERROR_INCOMPATIBLE, "memory type");
  CHECK_ERROR(ceed, CeedQFunctionContextSetData(ctx, CEED_MEM_HOST, CEED_COPY_VALUES, 8, NULL),
              CEED_ERROR_INCOMPATIBLE, "NULL");
  CHECK_ERROR(ceed, CeedQFunctionContextSetData(ctx, CEED_MEM_HOST, CEED_USE_POINTER, 8, NULL),
              CEED_ERROR_INCOMPATIBLE, "NULL");
  ritz_memory_fail_at(1);
  CHECK_ERROR(ceed, CeedQFunctionContextSetData(ctx, CEED_MEM_HOST, CEED_COPY_VALUES, sizeof(mine), &mine),
              CEED_ERROR_MAJOR, "memory");
  CHECK(has_params(ctx, 0.5, 3, 4) && size_of(ctx) == sizeof(Params), "the data are spoilt");
  CHECK_OK(CeedQFunctionContextDestroy(&ctx));
}

TEST_EACH_BACKEND(references_are_counted) {
  CeedQFunctionContext a = make_filled(ceed), b = make_filled(ceed), first = a;
  CeedObject object;

  CHECK_OK(CeedQFunctionContextReferenceCopy(a, &b)); // over a live handle, which goes
  CHECK_OK(CeedQFunctionContextReferenceCopy(a, &a)); // onto itself
  CHECK(a == first && b == first, "other handles");
  CHECK_OK(CeedQFunctionContextDestroy(&a));
  CHECK_OK(CeedQFunctionContextDestroy(&a)); // a second time
  CHECK(has_params(b, 0.5, 3, 4), "the data are gone");
  CHECK(CeedObjectReturnCeed((CeedObject)b) == ceed, "another context");
  object = (CeedObject)b;
  CHECK_OK(CeedObjectDestroy(&object));
}

// ---- The data-destroy callback ----

static struct {
  int num_calls, code;
  void *data;
} destroyed;

static int note_data(void *data) {
  destroyed.num_calls++;
  destroyed.data = data;
  return destroyed.code;
}

TEST_EACH_BACKEND(the_callback_sees_data_before_they_go) {
  CeedQFunctionContext ctx = make(ceed);
  Params first = some, second = some;

  memset(&destroyed, 0, sizeof(destroyed));
  CHECK_ERROR(ceed, CeedQFunctionContextSetDataDestroy(ctx, CEED_MEM_HOST, NULL), CEED_ERROR_MINOR,
              "CeedQFunctionContextSetDataDestroy");
  CHECK_OK(CeedQFunctionContextSetDataDestroy(ctx, CEED_MEM_HOST, note_data));
  CHECK_OK(CeedQFunctionContextSetData(ctx, CEED_MEM_HOST, CEED_USE_POINTER, sizeof(first), &first));
  CHECK(destroyed.num_calls == 0, "called without data");
  CHECK_OK(CeedQFunctionContextSetData(ctx, CEED_MEM_HOST, CEED_USE_POINTER, sizeof(second), &second));
  CHECK(destroyed.num_calls == 1 && destroyed.data == &first, "%d calls", destroyed.num_calls);
  CHECK_OK(CeedQFunctionContextDestroy(&ctx));
  CHECK(destroyed.num_calls == 2 && destroyed.data == &second, "%d calls", destroyed.num_calls);
}

// A callback that releases the caller's memory, as programs use it.
static int free_data(void *data) {
  int code = note_data(data);
  free(data);
  return code;
}

TEST_EACH_BACKEND(the_callback_may_free_borrowed_data) {
  CeedQFunctionContext ctx = make(ceed), copy = NULL;

  memset(&destroyed, 0, sizeof(destroyed));
  CHECK_OK(CeedQFunctionContextSetData(ctx, CEED_MEM_HOST, CEED_USE_POINTER, sizeof(some),
                                       duplicate(&some, sizeof(some))));
  CHECK_OK(CeedQFunctionContextSetDataDestroy(ctx, CEED_MEM_HOST, free_data));
  CHECK_OK(CeedQFunctionContextReferenceCopy(ctx, &copy));
  CHECK_OK(CeedQFunctionContextDestroy(&ctx));
  CHECK(destroyed.num_calls == 0, "called before the last reference goes");
  CHECK_OK(CeedQFunctionContextDestroy(&copy));
  CHECK(destroyed.num_calls == 1, "%d calls", destroyed.num_calls);
}

TEST_EACH_BACKEND(the_callback_is_not_called_without_data) {
  CeedQFunctionContext ctx = make(ceed), empty = make(ceed);
  Params mine = some;

  memset(&destroyed, 0, sizeof(destroyed));
  CHECK_OK(CeedQFunctionContextSetDataDestroy(empty, CEED_MEM_HOST, note_data));
  CHECK_OK(CeedQFunctionContextDestroy(&empty));
  CHECK_OK(CeedQFunctionContextSetData(ctx, CEED_MEM_HOST, CEED_USE_POINTER, sizeof(mine), &mine));
  CHECK_OK(CeedQFunctionContextSetDataDestroy(ctx, CEED_MEM_HOST, note_data));
  CHECK_OK(CeedQFunctionContextTakeData(ctx, CEED_MEM_HOST, NULL));
  CHECK_OK(CeedQFunctionContextDestroy(&ctx));
  CHECK(destroyed.num_calls == 0, "%d calls", destroyed.num_calls);
}

TEST_EACH_BACKEND(a_callback_that_fails_keeps_the_data) {
  CeedQFunctionContext ctx = make(ceed);
  Params mine = some, other = some, *owned = duplicate(&some, sizeof(some));
  const CeedCopyMode modes[] = {CEED_COPY_VALUES, CEED_USE_POINTER, CEED_OWN_POINTER};

  memset(&destroyed, 0, sizeof(destroyed));
  other.dt = 3;
  owned->dt = 3;
  CHECK_OK(CeedQFunctionContextSetData(ctx, CEED_MEM_HOST, CEED_USE_POINTER, sizeof(mine), &mine));
  CHECK_OK(CeedQFunctionContextSetDataDestroy(ctx, CEED_MEM_HOST, note_data));
  destroyed.code = 66;
  for (int i = 0; i < 3; i++) {
    void *data = modes[i] == CEED_OWN_POINTER ? owned : &other;
    CHECK(CeedQFunctionContextSetData(ctx, CEED_MEM_HOST, modes[i], sizeof(other), data) == 66, "mode %d", i);
    CHECK(has_params(ctx, 0.5, 3, 4), "mode %d: the data are gone", i);
  }
  CHECK(CeedQFunctionContextDestroy(&ctx) == 66 && ctx != NULL, "the code does not come back");
  destroyed.code = 0;
  CHECK_OK(CeedQFunctionContextSetData(ctx, CEED_MEM_HOST, CEED_OWN_POINTER, sizeof(*owned), owned));
  CHECK(has_params(ctx, 3, 3, 4), "new data");
  CHECK_OK(CeedQFunctionContextDestroy(&ctx));
}

TEST_EACH_BACKEND(a_later_callback_replaces_the_first) {
  CeedQFunctionContext ctx = make_filled(ceed);

  memset(&destroyed, 0, sizeof(destroyed));
  CHECK_OK(CeedQFunctionContextSetDataDestroy(ctx, CEED_MEM_HOST, free_data)); // would free twice
  CHECK_OK(CeedQFunctionContextSetDataDestroy(ctx, CEED_MEM_HOST, note_data));
  CHECK_OK(CeedQFunctionContextDestroy(&ctx)); // frees its copy itself
  CHECK(destroyed.num_calls == 1, "%d calls", destroyed.num_calls);
}

// ---- Registered fields ----

TEST_EACH_BACKEND(labels_describe_what_was_registered) {
  CeedQFunctionContext ctx = make(ceed); // data are not needed for it
  CeedContextFieldLabel label = NULL;
  const CeedContextFieldLabel *labels = NULL;
  CeedInt num = -1;
  const char *name = NULL, *description = NULL;
  size_t offset = 0, num_values = 0;
  CeedContextFieldType type;

  CHECK_OK(CeedQFunctionContextGetAllFieldLabels(ctx, &labels, &num));
  CHECK(num == 0, "%d fields", num);
  register_all(ctx);
  if (tap_failed()) return;
  CHECK_OK(CeedQFunctionContextGetAllFieldLabels(ctx, &labels, &num));
  CHECK_OK(CeedQFunctionContextGetAllFieldLabels(ctx, NULL, NULL));
  CHECK(num == 3, "%d fields", num);
  CHECK_OK(CeedContextFieldLabelGetDescription(labels[1], &name, &offset, &num_values, &description, &type));
  CHECK(!strcmp(name, "n") && !strcmp(description, "two counts"), "'%s', '%s'", name, description);
  CHECK(offset == offsetof(Params, n) && num_values == 2 && type == CEED_CONTEXT_FIELD_INT32, "%zu, %zu",
        offset, num_values);
  CHECK_OK(CeedContextFieldLabelGetDescription(labels[2], NULL, NULL, NULL, &description, &type));
  CHECK(!strcmp(description, "") && type == CEED_CONTEXT_FIELD_BOOL, "'%s'", description);
  CHECK_OK(CeedContextFieldLabelGetDescription(labels[0], NULL, NULL, NULL, NULL, NULL));
  for (CeedInt i = 0; i < num; i++) {
    CHECK_OK(CeedContextFieldLabelGetDescription(labels[i], &name, NULL, NULL, NULL, NULL));
    CHECK_OK(CeedQFunctionContextGetFieldLabel(ctx, name, &label));
    CHECK(label == labels[i], "'%s' has two labels", name);
  }
  CHECK_OK(CeedQFunctionContextGetFieldLabel(ctx, "none", &label));
  CHECK(label == NULL, "a label of nothing");
  CHECK_OK(CeedQFunctionContextDestroy(&ctx));
}

TEST_EACH_BACKEND(labels_stay_when_more_fields_are_registered) {
  CeedQFunctionContext ctx = make(ceed);
  CeedContextFieldLabel first = NULL, again = NULL;
  char name[32];

  CHECK_OK(CeedQFunctionContextRegisterDouble(ctx, "field 0", 0, 1, "x"));
  CHECK_OK(CeedQFunctionContextGetFieldLabel(ctx, "field 0", &first));
  for (int i = 1; i < 50; i++) {
    snprintf(name, sizeof(name), "field %d", i);
    CHECK_OK(CeedQFunctionContextRegisterDouble(ctx, name, (size_t)i, 1, name)); // both strings are copied
  }
  CHECK_OK(CeedQFunctionContextGetFieldLabel(ctx, "field 0", &again));
  CHECK(again == first, "a label moves");
  CHECK_OK(CeedQFunctionContextGetFieldLabel(ctx, "field 17", &again));
  CHECK(again != NULL, "a name is lost");
  CHECK_OK(CeedQFunctionContextDestroy(&ctx));
}

TEST_EACH_BACKEND(names_of_fields_are_unique) {
  CeedQFunctionContext ctx = make(ceed);
  CeedInt num = 0;

  register_all(ctx);
  if (tap_failed()) return;
#define REFUSED(call, function) CHECK_ERROR(ceed, call, CEED_ERROR_UNSUPPORTED, function)
  REFUSED(CeedQFunctionContextRegisterDouble(ctx, "dt", 8, 1, ""), "CeedQFunctionContextRegisterDouble");
  REFUSED(CeedQFunctionContextRegisterInt32(ctx, "dt", 8, 1, ""), "CeedQFunctionContextRegisterInt32");
  REFUSED(CeedQFunctionContextRegisterBoolean(ctx, "dt", 8, 1, ""), "CeedQFunctionContextRegisterBoolean");
#undef REFUSED
  CHECK_ERROR(ceed, CeedQFunctionContextRegisterDouble(ctx, NULL, 8, 1, ""), CEED_ERROR_INCOMPATIBLE, "name");
  CHECK_OK(CeedQFunctionContextGetAllFieldLabels(ctx, NULL, &num));
  CHECK(num == 3, "%d fields", num);
  CHECK_OK(CeedQFunctionContextDestroy(&ctx));
}

TEST_EACH_BACKEND(values_of_fields_are_set_and_read_by_label) {
  CeedQFunctionContext ctx = make(ceed);
  CeedContextFieldLabel dt = NULL, n = NULL, flag = NULL;
  Params mine = some;
  const double *d = NULL;
  const int32_t *i = NULL;
  const bool *b = NULL;
  size_t num_d = 0, num_i = 0, num_b = 0;

  CHECK_OK(CeedQFunctionContextSetData(ctx, CEED_MEM_HOST, CEED_USE_POINTER, sizeof(mine), &mine));
  register_all(ctx);
  if (tap_failed()) return;
  CHECK_OK(CeedQFunctionContextGetFieldLabel(ctx, "dt", &dt));
  CHECK_OK(CeedQFunctionContextGetFieldLabel(ctx, "n", &n));
  CHECK_OK(CeedQFunctionContextGetFieldLabel(ctx, "flag", &flag));
  CHECK_OK(CeedQFunctionContextSetDouble(ctx, dt, &(double){2.5}));
  CHECK_OK(CeedQFunctionContextSetInt32(ctx, n, (int32_t[2]){-1, -2}));
  CHECK_OK(CeedQFunctionContextSetBoolean(ctx, flag, &(bool){false}));
  CHECK(mine.dt == 2.5 && mine.n[0] == -1 && mine.n[1] == -2 && !mine.flag, "the caller's struct");
  CHECK_OK(CeedQFunctionContextGetDoubleRead(ctx, dt, &num_d, &d));
  CHECK_OK(CeedQFunctionContextGetInt32Read(ctx, n, &num_i, &i));
  CHECK_OK(CeedQFunctionContextGetBooleanRead(ctx, flag, &num_b, &b));
  CHECK(num_d == 1 && num_i == 2 && num_b == 1 && *d == 2.5 && i[1] == -2 && !*b, "values");
  CHECK_OK(CeedQFunctionContextRestoreDoubleRead(ctx, dt, &d));
  CHECK_OK(CeedQFunctionContextRestoreInt32Read(ctx, n, &i));
  CHECK_OK(CeedQFunctionContextRestoreBooleanRead(ctx, flag, &b));
  CHECK(d == NULL && i == NULL && b == NULL, "pointers stay");
  CHECK_OK(CeedQFunctionContextDestroy(&ctx));
}

TEST_EACH_BACKEND(labels_that_do_not_fit_are_refused) {
  CeedQFunctionContext ctx = make_filled(ceed);
  CeedContextFieldLabel dt = NULL;
  const int32_t *i = NULL;
  const double *d = NULL;
  size_t num = 0;

  register_all(ctx);
  if (tap_failed()) return;
  CHECK_OK(CeedQFunctionContextGetFieldLabel(ctx, "dt", &dt));
#define REFUSED(call, function) CHECK_ERROR(ceed, call, CEED_ERROR_UNSUPPORTED, function)
  REFUSED(CeedQFunctionContextSetDouble(ctx, NULL, &(double){1}), "CeedQFunctionContextSetDouble");
  REFUSED(CeedQFunctionContextSetInt32(ctx, dt, &(int32_t){1}), "CeedQFunctionContextSetInt32");
  REFUSED(CeedQFunctionContextSetBoolean(ctx, dt, &(bool){1}), "CeedQFunctionContextSetBoolean");
  REFUSED(CeedQFunctionContextGetInt32Read(ctx, dt, &num, &i), "CeedQFunctionContextGetInt32Read");
  REFUSED(CeedQFunctionContextGetDoubleRead(ctx, NULL, &num, &d), "CeedQFunctionContextGetDoubleRead");
  REFUSED(CeedQFunctionContextRestoreDoubleRead(ctx, NULL, &d), "CeedQFunctionContextRestoreDoubleRead");
#undef REFUSED
  CHECK_ERROR(ceed, CeedQFunctionContextRestoreDoubleRead(ctx, dt, &d), CEED_ERROR_MINOR, "not granted");
  CHECK(has_params(ctx, 0.5, 3, 4), "the data are spoilt");
  CHECK_OK(CeedQFunctionContextDestroy(&ctx));
}

// Equal values are not written: readers do not mind.
TEST_EACH_BACKEND(fields_obey_the_locks_of_the_data) {
  CeedQFunctionContext ctx = make_filled(ceed);
  CeedContextFieldLabel dt = NULL;
  const double *d = NULL;
  Params *p = NULL;
  size_t num = 0;

  register_all(ctx);
  if (tap_failed()) return;
  CHECK_OK(CeedQFunctionContextGetFieldLabel(ctx, "dt", &dt));
  CHECK_OK(CeedQFunctionContextGetDoubleRead(ctx, dt, &num, &d));
  CHECK_OK(CeedQFunctionContextSetDouble(ctx, dt, &(double){0.5}));
  CHECK_ERROR(ceed, CeedQFunctionContextSetDouble(ctx, dt, &(double){0.25}), CEED_ERROR_MINOR, "read access");
  CHECK_ERROR(ceed, CeedQFunctionContextGetData(ctx, CEED_MEM_HOST, &p), CEED_ERROR_MINOR, "read access");
  CHECK_OK(CeedQFunctionContextRestoreDoubleRead(ctx, dt, &d));
  CHECK_OK(CeedQFunctionContextGetData(ctx, CEED_MEM_HOST, &p));
  CHECK_ERROR(ceed, CeedQFunctionContextSetDouble(ctx, dt, &(double){0.5}), CEED_ERROR_MINOR, "access lock");
  CHECK_ERROR(ceed, CeedQFunctionContextGetDoubleRead(ctx, dt, &num, &d), CEED_ERROR_MINOR, "access lock");
  CHECK_OK(CeedQFunctionContextRestoreData(ctx, &p));
  CHECK_OK(CeedQFunctionContextSetDouble(ctx, dt, &(double){0.25}));
  CHECK(has_params(ctx, 0.25, 3, 4), "not set");
  CHECK_OK(CeedQFunctionContextDestroy(&ctx));
}

// The first of the two, registration and data, that would make a field leave the data is refused.
TEST_EACH_BACKEND(fields_beyond_the_data_are_refused_and_not_accessed) {
  const struct {
    size_t offset, num_values;
  } rows[] = {{sizeof(Params), 1}, {sizeof(Params) - 7, 1}, {0, sizeof(Params)},     {SIZE_MAX - 7, 1},
              {0, SIZE_MAX / 8},   {8, SIZE_MAX / 8 + 1},   {SIZE_MAX / 2, SIZE_MAX}};
  const double *d = NULL;

  for (int i = 0; i < 7; i++) {
    CeedQFunctionContext later = make(ceed), ctx = make(ceed);
    CeedContextFieldLabel label = NULL;
    size_t num = 0;

    CHECK_OK(CeedQFunctionContextSetData(ctx, CEED_MEM_HOST, CEED_COPY_VALUES, sizeof(some), (void *)&some));
    CHECK_ERROR(ceed,
                CeedQFunctionContextRegisterDouble(ctx, "field", rows[i].offset, rows[i].num_values, ""),
                CEED_ERROR_BACKEND, "CeedQFunctionContextRegisterDouble: field 'field' of");
    CHECK_OK(CeedQFunctionContextGetFieldLabel(ctx, "field", &label));
    CHECK(!label, "row %d is registered", i);
    CHECK(has_params(ctx, 0.5, 3, 4), "the data are spoilt");

    CHECK_OK(CeedQFunctionContextRegisterDouble(later, "field", rows[i].offset, rows[i].num_values, ""));
    CHECK_OK(CeedQFunctionContextGetFieldLabel(later, "field", &label));
    for (int k = 0; k < 2; k++) {
      CHECK_ERROR(ceed, CeedQFunctionContextSetDouble(later, label, &(double){1}), CEED_ERROR_BACKEND,
                  "field");
      CHECK_ERROR(ceed, CeedQFunctionContextGetDoubleRead(later, label, &num, &d), CEED_ERROR_BACKEND,
                  "field");
      CHECK_ERROR(ceed, CeedQFunctionContextSetDouble(ctx, label, &(double){1}), CEED_ERROR_BACKEND, "field");
      CHECK_ERROR(ceed,
                  CeedQFunctionContextSetData(later, CEED_MEM_HOST, CEED_COPY_VALUES, sizeof(some),
                                              (void *)&some),
                  CEED_ERROR_BACKEND, "CeedQFunctionContextSetData: field 'field' of");
    }
    CHECK_OK(CeedQFunctionContextGetContextSize(later, &num));
    CHECK(num == 0, "%zu bytes were taken", num);
    CHECK(has_params(ctx, 0.5, 3, 4), "the data are spoilt");
    CHECK_OK(CeedQFunctionContextDestroy(&later));
    CHECK_OK(CeedQFunctionContextDestroy(&ctx));
  }
}

// Data that are set anew must hold the fields, too; the old ones stay.
TEST_EACH_BACKEND(smaller_data_than_the_fields_are_refused) {
  CeedQFunctionContext ctx = make(ceed);

  CHECK_OK(CeedQFunctionContextSetData(ctx, CEED_MEM_HOST, CEED_COPY_VALUES, sizeof(some), (void *)&some));
  register_all(ctx);
  if (tap_failed()) return;
  for (int size = 0; size < 2; size++)
    CHECK_ERROR(
        ceed, CeedQFunctionContextSetData(ctx, CEED_MEM_HOST, CEED_COPY_VALUES, (size_t)size, (void *)&some),
        CEED_ERROR_BACKEND, "leaves the context");
  CHECK(has_params(ctx, 0.5, 3, 4), "the data are spoilt");
  CHECK_OK(CeedQFunctionContextDestroy(&ctx));
}

// ---- View ----

TEST_EACH_BACKEND(a_view_shows_size_and_fields) {
  CeedQFunctionContext ctx = make(ceed);
  CeedInt tabs = -1;
  char wanted[256];

  CHECK_PRINTS("CeedQFunctionContext\n  Context Data Size: 0\n", CeedQFunctionContextView(ctx, stream));
  CHECK_OK(CeedQFunctionContextSetData(ctx, CEED_MEM_HOST, CEED_COPY_VALUES, sizeof(some), (void *)&some));
  register_all(ctx);
  if (tap_failed()) return;
  CHECK_OK(CeedQFunctionContextSetNumViewTabs(ctx, 1));
  snprintf(wanted, sizeof(wanted),
           "  CeedQFunctionContext\n    Context Data Size: %zu\n    Labeled double field: dt\n"
           "    Labeled int32 field: n\n    Labeled bool field: flag\n",
           sizeof(Params));
  CHECK_PRINTS(wanted, CeedQFunctionContextView(ctx, stream));
  CHECK_PRINTS(wanted, CeedObjectView((CeedObject)ctx, stream));
  CHECK_ERROR(ceed, CeedQFunctionContextSetNumViewTabs(ctx, -1), CEED_ERROR_MINOR, "view tabs");
  CHECK_OK(CeedQFunctionContextGetNumViewTabs(ctx, &tabs));
  CHECK(tabs == 1, "%d", tabs);
  CHECK_OK(CeedQFunctionContextDestroy(&ctx));
}

// ---- NULL ----

TEST(null_contexts_are_refused) {
  CeedQFunctionContext ctx = NULL;
  CeedContextFieldLabel label = NULL;
  CeedInt n;
  size_t size;
  void *p = NULL;
  const double *d = NULL;

#define REFUSED(expr) CHECK_ERROR(NULL, expr, CEED_ERROR_INCOMPATIBLE, "NULL")
  REFUSED(CeedQFunctionContextCreate(NULL, &ctx));
  REFUSED(CeedQFunctionContextReferenceCopy(NULL, &ctx));
  REFUSED(CeedQFunctionContextSetData(NULL, CEED_MEM_HOST, CEED_COPY_VALUES, 0, NULL));
  REFUSED(CeedQFunctionContextTakeData(NULL, CEED_MEM_HOST, &p));
  REFUSED(CeedQFunctionContextGetData(NULL, CEED_MEM_HOST, &p));
  REFUSED(CeedQFunctionContextGetDataRead(NULL, CEED_MEM_HOST, &p));
  REFUSED(CeedQFunctionContextRestoreData(NULL, &p));
  REFUSED(CeedQFunctionContextRestoreDataRead(NULL, &p));
  REFUSED(CeedQFunctionContextRegisterDouble(NULL, "x", 0, 1, ""));
  REFUSED(CeedQFunctionContextRegisterInt32(NULL, "x", 0, 1, ""));
  REFUSED(CeedQFunctionContextRegisterBoolean(NULL, "x", 0, 1, ""));
  REFUSED(CeedQFunctionContextGetAllFieldLabels(NULL, NULL, &n));
  REFUSED(CeedContextFieldLabelGetDescription(NULL, NULL, NULL, NULL, NULL, NULL));
  REFUSED(CeedQFunctionContextGetContextSize(NULL, &size));
  REFUSED(CeedQFunctionContextSetNumViewTabs(NULL, 1));
  REFUSED(CeedQFunctionContextGetNumViewTabs(NULL, &n));
  REFUSED(CeedQFunctionContextView(NULL, stderr));
  REFUSED(CeedQFunctionContextSetDataDestroy(NULL, CEED_MEM_HOST, note_data));
  REFUSED(CeedQFunctionContextGetFieldLabel(NULL, "x", &label));
  REFUSED(CeedQFunctionContextSetDouble(NULL, label, &(double){1}));
  REFUSED(CeedQFunctionContextGetDoubleRead(NULL, label, &size, &d));
  REFUSED(CeedQFunctionContextRestoreDoubleRead(NULL, label, &d));
#undef REFUSED
  CHECK_OK(CeedQFunctionContextDestroy(&ctx));
}

TEST_EACH_BACKEND(a_null_name_has_no_label) {
  CeedQFunctionContext ctx = make(ceed);
  CeedContextFieldLabel label = NULL;

  register_all(ctx);
  if (tap_failed()) return;
  CHECK_ERROR(ceed, CeedQFunctionContextGetFieldLabel(ctx, NULL, &label), CEED_ERROR_INCOMPATIBLE, "name");
  CHECK_OK(CeedQFunctionContextDestroy(&ctx));
}

int main(int argc, char **argv) {
  return tap_main(argc, argv,
                  TESTS(a_new_context_has_no_data, copied_data_are_independent_of_their_source,
                        borrowed_data_are_read_and_written_in_place, copying_replaces_borrowed_data,
                        owned_data_are_used_and_freed, data_of_no_bytes_are_data,
                        a_writer_keeps_everybody_out, an_access_ends_through_a_null_pointer,
                        readers_share_and_keep_writers_out, readers_do_not_keep_data_from_being_replaced,
                        device_memory_is_refused_where_there_is_none, arguments_that_mean_nothing_are_refused,
                        references_are_counted, the_callback_sees_data_before_they_go,
                        the_callback_may_free_borrowed_data, the_callback_is_not_called_without_data,
                        a_callback_that_fails_keeps_the_data, a_later_callback_replaces_the_first,
                        labels_describe_what_was_registered, labels_stay_when_more_fields_are_registered,
                        names_of_fields_are_unique, values_of_fields_are_set_and_read_by_label,
                        labels_that_do_not_fit_are_refused, fields_obey_the_locks_of_the_data,
                        fields_beyond_the_data_are_refused_and_not_accessed,
                        smaller_data_than_the_fields_are_refused, a_view_shows_size_and_fields,
                        null_contexts_are_refused, a_null_name_has_no_label));
}
