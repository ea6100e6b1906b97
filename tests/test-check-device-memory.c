// SPDX-License-Identifier: BSD-2-Clause
// The memory of the device that /cpu/self/check:mem=device plays: a model of the standard's rules for vectors
// in two memories, run beside the library on random calls; mix-ups that are found; contexts of QFunctions.
#include "tests/check-device.h"

#include <math.h>

enum { N = 4 };

static CeedVector make(Ceed ceed, const CeedScalar *values) { return vector_of(ceed, N, values); }

// ---- The resource ----

TEST(the_option_selects_memory_and_nothing_else_is_an_option) {
  const char *const host[] = {"/cpu/self/check", "/cpu/self/check:mem=host", "/cpu/self/check:inner=ref"};
  const char *const device[] = {device_resource, "/cpu/self/check:inner=ref:mem=device"};
  const char *const wrong[] = {"/cpu/self/check:mem=", "/cpu/self/check:mem=devices",
                               "/cpu/self/check:mem=disk:inner=ref"};
  Ceed ceed = NULL;

  for (int i = 0; i < 3; i++) {
    ceed = tap_ceed(host[i]);
    CHECK(!has_device_memory(ceed), "%s", host[i]);
    CHECK_OK(CeedDestroy(&ceed));
  }
  for (int i = 0; i < 2; i++) {
    ceed = tap_ceed(device[i]);
    CHECK(has_device_memory(ceed), "%s", device[i]);
    CHECK_OK(CeedDestroy(&ceed));
  }
  for (int i = 0; i < 3; i++) CHECK(CeedInit(wrong[i], &ceed) == CEED_ERROR_BACKEND && !ceed, "%s", wrong[i]);
}

TEST(a_view_of_the_context_shows_the_device) {
  Ceed ceed = tap_ceed(device_resource);

  CHECK_PRINTS("Ceed\n  Ceed Resource: /cpu/self/check\n  Preferred MemType: device\n",
               CeedView(ceed, stream));
  CHECK_OK(CeedDestroy(&ceed));
}

TEST(device_memory_that_is_left_keeps_the_context) {
  Ceed ceed = tap_ceed(device_resource);
  void *p = device_copy(ceed, "abc", 3);

  CHECK_ERROR(ceed, CeedDestroy(&ceed), CEED_ERROR_BACKEND, "1 arrays in device memory have not been freed");
  CHECK(ceed != NULL, "the context is gone");
  CHECK_OK(ritz_check_device_free(ceed, p));
  CHECK_OK(CeedDestroy(&ceed));
}

// ---- The model: the table of doc/ceed-api.md, Vectors, for two memories ----

enum { NUM_STEPS = 80 };
enum { HOST = CEED_MEM_HOST, DEVICE = CEED_MEM_DEVICE };
typedef enum {
  SET_COPY,
  SET_USE,
  SET_OWN,
  TAKE,
  SYNC,
  READ,
  END_READ,
  GET,
  WRITE,
  END_WRITE,
  VALUE,
  NUM_CALLS
} Call;

typedef struct {
  Ceed ceed;
  CeedVector vec;
  CeedScalar values[N];
  bool valid[2];
  bool owns[2];            // the library has a buffer of its own there
  CeedScalar *borrowed[2]; // mine[], or NULL
  CeedScalar *mine[2];     // one array of the program in each memory
  bool is_locked;
  CeedScalar *array; // lent for writing
  int num_readers;
  const CeedScalar *reads[NUM_STEPS];
} Model;

static void write_values(Model *m, int mem, const CeedScalar *values) {
  memcpy(m->values, values, sizeof(m->values));
  m->valid[mem] = true;
  m->valid[!mem] = false;
  if (!m->borrowed[mem]) m->owns[mem] = true;
}

static void make_valid(Model *m, int mem) {
  m->valid[mem] = true;
  if (!m->borrowed[mem]) m->owns[mem] = true;
}

static bool has_values(const Model *m) { return m->valid[HOST] || m->valid[DEVICE]; }

static int code_of_write(const Model *m) {
  return m->is_locked || m->num_readers ? CEED_ERROR_ACCESS : CEED_ERROR_SUCCESS;
}

static bool set_array(Model *m, Call call, int mem, CeedScalar *fresh) {
  int wanted = code_of_write(m), code;

  if (call == SET_COPY) {
    CeedScalar *source = mem == HOST ? fresh : device_copy(m->ceed, fresh, sizeof(m->values));
    code = CeedVectorSetArray(m->vec, (CeedMemType)mem, CEED_COPY_VALUES, source);
    if (mem == DEVICE && ritz_check_device_free(m->ceed, source)) return false;
  } else if (call == SET_USE) {
    if (!wanted) memcpy(m->mine[mem], fresh, sizeof(m->values));
    code = CeedVectorSetArray(m->vec, (CeedMemType)mem, CEED_USE_POINTER, m->mine[mem]);
    if (!wanted) m->borrowed[mem] = m->mine[mem], m->owns[mem] = false;
  } else {
    CeedScalar *owned =
        mem == HOST ? duplicate(fresh, sizeof(m->values)) : device_copy(m->ceed, fresh, sizeof(m->values));
    code = CeedVectorSetArray(m->vec, (CeedMemType)mem, CEED_OWN_POINTER, owned);
    if (!wanted) m->borrowed[mem] = NULL;
    if (wanted && mem == HOST) free(owned); // a refused array stays the caller's
    if (wanted && mem == DEVICE && ritz_check_device_free(m->ceed, owned)) return false;
  }
  if (!wanted) write_values(m, mem, fresh);
  return code == wanted;
}

static bool take(Model *m, int mem) {
  int wanted = code_of_write(m);
  CeedScalar *array = NULL;

  if (!wanted && (!m->borrowed[mem] || !has_values(m))) wanted = CEED_ERROR_BACKEND;
  if (CeedVectorTakeArray(m->vec, (CeedMemType)mem, &array) != wanted) return false;
  if (wanted) return true;
  m->borrowed[mem] = NULL;
  m->valid[mem] = false;
  return array == m->mine[mem] && !memcmp(array, m->values, sizeof(m->values));
}

static bool begin_read(Model *m, Call call, int mem) {
  int wanted = m->is_locked ? CEED_ERROR_ACCESS : has_values(m) ? CEED_ERROR_SUCCESS : CEED_ERROR_BACKEND;
  const CeedScalar *read = NULL;
  int code = call == SYNC ? CeedVectorSyncArray(m->vec, (CeedMemType)mem)
                          : CeedVectorGetArrayRead(m->vec, (CeedMemType)mem, &read);

  if (!wanted) make_valid(m, mem);
  if (!wanted && call == READ) {
    if (!read || memcmp(read, m->values, sizeof(m->values))) return false;
    m->reads[m->num_readers++] = read;
  }
  return code == wanted;
}

static bool end_read(Model *m) {
  const CeedScalar *none = NULL, **last = m->num_readers > 0 ? &m->reads[m->num_readers - 1] : &none;
  int code = CeedVectorRestoreArrayRead(m->vec, last);

  if (m->num_readers == 0) return code == CEED_ERROR_ACCESS;
  m->num_readers--;
  return code == CEED_ERROR_SUCCESS && !*last;
}

static bool begin_write(Model *m, Call call, int mem, const CeedScalar *fresh) {
  int wanted = code_of_write(m);
  CeedScalar *array = NULL;

  if (!wanted && call == GET && !has_values(m)) wanted = CEED_ERROR_BACKEND;
  int code = (call == GET ? CeedVectorGetArray : CeedVectorGetArrayWrite)(m->vec, (CeedMemType)mem, &array);
  if (code != wanted) return false;
  if (wanted) return true;
  if (call == GET && memcmp(array, m->values, sizeof(m->values))) return false;
  memcpy(array, fresh, sizeof(m->values));
  m->array = array;
  m->is_locked = true;
  write_values(m, mem, fresh);
  return true;
}

static bool end_write(Model *m) {
  int wanted = m->is_locked ? CEED_ERROR_SUCCESS : CEED_ERROR_ACCESS;

  if (CeedVectorRestoreArray(m->vec, &m->array) != wanted) return false;
  m->is_locked = false;
  return !m->array;
}

// The memory that SetValue writes: a valid one, a borrowed one, an owned one, each time the device's first.
static int memory_of_value(const Model *m) {
  const bool has[][2] = {{m->valid[HOST], m->valid[DEVICE]},
                         {m->borrowed[HOST] != NULL, m->borrowed[DEVICE] != NULL},
                         {m->owns[HOST], m->owns[DEVICE]}};

  for (int i = 0; i < 3; i++) {
    if (has[i][DEVICE]) return DEVICE;
    if (has[i][HOST]) return HOST;
  }
  return DEVICE;
}

static bool set_value(Model *m, CeedScalar value) {
  int wanted = code_of_write(m), code = CeedVectorSetValue(m->vec, value);
  const CeedScalar values[N] = {value, value, value, value};

  if (!wanted) write_values(m, memory_of_value(m), values);
  return code == wanted;
}

static bool agree(Model *m, Call call, int mem, CeedScalar *fresh) {
  switch (call) {
  case TAKE: return take(m, mem);
  case SYNC:
  case READ: return begin_read(m, call, mem);
  case END_READ: return end_read(m);
  case GET:
  case WRITE: return begin_write(m, call, mem, fresh);
  case END_WRITE: return end_write(m);
  case VALUE: return set_value(m, fresh[0]);
  default: return set_array(m, call, mem, fresh);
  }
}

// What can be seen without changing anything: validity, borrowing, and borrowed arrays that hold the values.
static bool looks_alike(const Model *m) {
  for (int mem = 0; mem < 2; mem++) {
    bool borrows = false;
    const RitzRep *rep = &m->vec->storage.rep[mem == HOST ? RITZ_REP_HOST : RITZ_REP_DEVICE];
    if (CeedVectorHasBorrowedArrayOfType(m->vec, (CeedMemType)mem, &borrows)) return false;
    if (rep->valid != m->valid[mem] || borrows != (m->borrowed[mem] != NULL)) return false;
    bool holds = m->borrowed[mem] && m->valid[mem] && !m->is_locked;
    if (holds && memcmp(m->borrowed[mem], m->values, sizeof(m->values))) return false;
  }
  return true;
}

TEST(random_calls_in_two_memories_do_what_the_table_of_the_standard_says) {
  const int num_runs = tap_level() == TAP_QUICK ? 300 : 5000;
  Ceed ceed = tap_ceed(device_resource);
  CeedScalar mine[N] = {0};
  void *device = device_copy(ceed, mine, sizeof(mine));

  for (int run = 0; run < num_runs; run++) {
    uint64_t state = (uint64_t)run;
    Model m = {.ceed = ceed, .vec = make(ceed, NULL), .mine = {mine, device}};
    for (int step = 0; step < NUM_STEPS; step++) {
      CeedScalar fresh[N];
      for (int i = 0; i < N; i++) fresh[i] = (CeedScalar)tap_uniform(&state);
      int call = (int)tap_integer(&state, NUM_CALLS), mem = (int)tap_integer(&state, 2);
      CHECK(agree(&m, (Call)call, mem, fresh), "run %d, step %d, call %d in memory %d", run, step, call, mem);
      CHECK(looks_alike(&m), "run %d, step %d, after call %d in memory %d", run, step, call, mem);
    }
    if (m.is_locked) CHECK_OK(CeedVectorRestoreArray(m.vec, &m.array));
    while (m.num_readers > 0) CHECK(end_read(&m), "run %d", run);
    CHECK_OK(CeedVectorDestroy(&m.vec));
  }
  CHECK_OK(ritz_check_device_free(ceed, device));
  CHECK_OK(CeedDestroy(&ceed));
}

// ---- Mix-ups ----

TEST(host_and_device_pointers_are_told_apart) {
  Ceed ceed = tap_ceed(device_resource);
  CeedScalar host[N] = {1, 2, 3, 4};
  CeedScalar *device = device_copy(ceed, host, sizeof(host));
  CeedVector vec = make(ceed, NULL), longer = vector_of(ceed, N + 1, NULL);
  CeedQFunctionContext ctx = NULL;

  CHECK_OK(CeedQFunctionContextCreate(ceed, &ctx));
  for (int mode = 0; mode < 3; mode++) {
    const CeedCopyMode copy_mode = (CeedCopyMode)mode;
    CHECK_ERROR(ceed, CeedVectorSetArray(vec, CEED_MEM_DEVICE, copy_mode, host), CEED_ERROR_BACKEND,
                "CeedVectorSetArray: the array given as device memory is not");
    CHECK_ERROR(ceed, CeedVectorSetArray(vec, CEED_MEM_HOST, copy_mode, device), CEED_ERROR_BACKEND,
                "CeedVectorSetArray: the array given as host memory is device memory");
    CHECK_ERROR(ceed, CeedVectorSetArray(longer, CEED_MEM_DEVICE, copy_mode, device), CEED_ERROR_BACKEND,
                "needed");
    CHECK_ERROR(ceed, CeedQFunctionContextSetData(ctx, CEED_MEM_DEVICE, copy_mode, sizeof(host), host),
                CEED_ERROR_BACKEND, "CeedQFunctionContextSetData: the array given as device memory is not");
    CHECK_ERROR(ceed, CeedQFunctionContextSetData(ctx, CEED_MEM_HOST, copy_mode, sizeof(host), device),
                CEED_ERROR_BACKEND,
                "CeedQFunctionContextSetData: the array given as host memory is device memory");
  }
  CHECK(!has_values(&(Model){.valid = {vec->storage.rep[0].valid, vec->storage.rep[1].valid}}),
        "a refused array stays");
  CHECK_OK(ritz_check_device_free(ceed, device));
  CHECK_OK(CeedQFunctionContextDestroy(&ctx));
  CHECK_OK(CeedVectorDestroy(&vec));
  CHECK_OK(CeedVectorDestroy(&longer));
  CHECK_OK(CeedDestroy(&ceed));
}

TEST(the_library_owns_whole_arrays_of_the_device_only) {
  Ceed ceed = tap_ceed(device_resource);
  const CeedScalar values[2 * N] = {1, 2, 3, 4, 5, 6, 7, 8};
  CeedScalar *device = device_copy(ceed, values, sizeof(values)), *lent = NULL;
  CeedVector a = make(ceed, values), b = make(ceed, NULL);

  CHECK_ERROR(ceed, CeedVectorSetArray(b, CEED_MEM_DEVICE, CEED_OWN_POINTER, device + 1), CEED_ERROR_BACKEND,
              "a part of another one");
  CHECK_OK(CeedVectorSetArray(b, CEED_MEM_DEVICE, CEED_USE_POINTER, device + 3)); // a part may be borrowed
  CHECK_HOLDS(b, 4, 5, 6, 7);
  CHECK_OK(CeedVectorGetArray(a, CEED_MEM_DEVICE, &lent));
  CHECK_ERROR(ceed, CeedVectorSetArray(b, CEED_MEM_DEVICE, CEED_OWN_POINTER, lent), CEED_ERROR_BACKEND,
              "lent");
  CHECK_OK(CeedVectorSetArray(b, CEED_MEM_DEVICE, CEED_COPY_VALUES, lent)); // a lent array is device memory
  CHECK_OK(CeedVectorRestoreArray(a, &lent));
  CHECK(device[3] == 1 && device[6] == 4, "the borrowed part has not got the values");
  CHECK_ERROR(ceed, ritz_check_device_free(ceed, device + 1), CEED_ERROR_BACKEND,
              "not allocated on this device");
  CHECK_OK(CeedVectorSetArray(b, CEED_MEM_DEVICE, CEED_OWN_POINTER, device)); // freed with b
  CHECK_OK(CeedVectorDestroy(&a));
  CHECK_OK(CeedVectorDestroy(&b));
  CHECK_OK(CeedDestroy(&ceed));
}

TEST(a_borrowed_array_that_was_freed_is_found) {
  Ceed ceed = tap_ceed(device_resource);
  const CeedScalar values[N] = {1, 2, 3, 4}, *read = NULL;
  CeedScalar *device = device_copy(ceed, values, sizeof(values));
  CeedVector vec = make(ceed, NULL);

  CHECK_OK(CeedVectorSetArray(vec, CEED_MEM_DEVICE, CEED_USE_POINTER, device));
  CHECK_OK(ritz_check_device_free(ceed, device));
  CHECK_ERROR(ceed, CeedVectorGetArrayRead(vec, CEED_MEM_DEVICE, &read), CEED_ERROR_BACKEND,
              "not memory of this device");
  CHECK_ERROR(ceed, CeedVectorGetArrayRead(vec, CEED_MEM_HOST, &read), CEED_ERROR_BACKEND,
              "not memory of this device");
  CHECK_OK(CeedVectorSetArray(vec, CEED_MEM_HOST, CEED_COPY_VALUES, (CeedScalar *)values));
  CHECK_HOLDS(vec, 1, 2, 3, 4);
  CHECK_OK(CeedVectorDestroy(&vec));
  CHECK_OK(CeedDestroy(&ceed));
}

TEST(lent_device_arrays_are_watched) {
  Ceed ceed = tap_ceed(device_resource);
  const CeedScalar values[N] = {1, 2, 3, 4}, *read = NULL;
  CeedScalar *array = NULL;
  CeedVector vec = make(ceed, values);

  CHECK_OK(CeedVectorGetArrayRead(vec, CEED_MEM_DEVICE, &read));
  ((CeedScalar *)read)[1] = 7;
  CHECK_ERROR(ceed, CeedVectorRestoreArrayRead(vec, &read), CEED_ERROR_BACKEND,
              "changed through read-only access");
  CHECK_HOLDS(vec, 1, 2, 3, 4);
  CHECK_OK(CeedVectorGetArray(vec, CEED_MEM_DEVICE, &array));
  array[N] = 1;
  CHECK_ERROR(ceed, CeedVectorRestoreArray(vec, &array), CEED_ERROR_BACKEND, "outside its bounds");
  CHECK_OK(CeedVectorGetArrayWrite(vec, CEED_MEM_DEVICE, &array));
  CHECK(isnan(array[0]) && isnan(array[N - 1]), "an array for writing has values");
  const CeedScalar *stale = array;
  for (int i = 0; i < N; i++) array[i] = (CeedScalar)(i + 5);
  CHECK_OK(CeedVectorRestoreArray(vec, &array));
  CHECK(isnan(stale[0]), "a stale pointer reads values");
  CHECK_HOLDS(vec, 5, 6, 7, 8);
  CHECK_OK(CeedVectorDestroy(&vec));
  CHECK_OK(CeedDestroy(&ceed));
}

// ---- Several contexts ----

TEST(vectors_of_different_contexts_meet_on_the_host) {
  const char *const resources[] = {"/cpu/self/ref", device_resource};
  const CeedScalar values[N] = {1, 2, 3, 4};

  for (int k = 0; k < 4; k++) {
    Ceed from = tap_ceed(resources[k % 2]), to = tap_ceed(resources[k / 2]);
    CeedVector a = make(from, values), b = make(to, NULL);
    CHECK_OK(CeedVectorCopy(a, b));
    CHECK_HOLDS(b, 1, 2, 3, 4);
    CHECK_OK(CeedVectorSetValue(b, 0));
    CHECK_OK(CeedVectorCopyStrided(a, 1, -1, 2, b));
    CHECK_HOLDS(b, 0, 2, 0, 4);
    CHECK_OK(CeedVectorDestroy(&a));
    CHECK_OK(CeedVectorDestroy(&b));
    CHECK_OK(CeedDestroy(&from));
    CHECK_OK(CeedDestroy(&to));
  }
}

// ---- Contexts of QFunctions ----

typedef struct {
  CeedScalar factor;
  int32_t num_calls;
} Factor;

static const void *seen; // the last context that a function has got

static int multiply(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  Factor *f = ctx;
  seen = ctx;
  f->num_calls++;
  for (CeedInt i = 0; i < Q; i++) out[0][i] = f->factor * in[0][i];
  return 0;
}

static int num_destroyed;
static int count_destroyed(void *data) {
  num_destroyed += ((const Factor *)data)->num_calls;
  return 0;
}

TEST(a_context_travels_to_the_device_and_back) {
  Ceed ceed = tap_ceed(device_resource);
  Factor mine = {2, 0};
  const Factor *read = NULL;
  Factor *device = NULL;
  CeedQFunction qf = NULL;
  CeedQFunctionContext ctx = NULL;
  CeedVector u = make(ceed, (CeedScalar[]){1, 2, 3, 4}), v = make(ceed, NULL);

  CHECK_OK(CeedQFunctionCreateInterior(ceed, 1, multiply, "", &qf));
  CHECK_OK(CeedQFunctionAddInput(qf, "u", 1, CEED_EVAL_NONE));
  CHECK_OK(CeedQFunctionAddOutput(qf, "v", 1, CEED_EVAL_NONE));
  CHECK_OK(CeedQFunctionContextCreate(ceed, &ctx));
  CHECK_OK(CeedQFunctionContextSetData(ctx, CEED_MEM_HOST, CEED_USE_POINTER, sizeof(mine), &mine));
  CHECK_OK(CeedQFunctionSetContext(qf, ctx));
  CHECK_OK(CeedQFunctionApply(qf, N, &u, &v));
  CHECK_HOLDS(v, 2, 4, 6, 8);
  CHECK(mine.num_calls == 0 && seen != &mine, "the function has got the host's bytes");
  CHECK_OK(CeedQFunctionContextGetDataRead(ctx, CEED_MEM_HOST, &read));
  CHECK(read->num_calls == 1, "%d calls", (int)read->num_calls);
  CHECK_OK(CeedQFunctionContextRestoreDataRead(ctx, &read));
  CHECK(mine.num_calls == 1, "reading on the host brings them back");

  CHECK_OK(CeedQFunctionContextGetData(ctx, CEED_MEM_DEVICE, &device));
  device->factor = 5;
  CHECK_OK(CeedQFunctionContextRestoreData(ctx, &device));
  CHECK_OK(CeedQFunctionApply(qf, N, &u, &v));
  CHECK_HOLDS(v, 5, 10, 15, 20);
  CHECK_OK(CeedQFunctionContextTakeData(ctx, CEED_MEM_HOST, &device));
  CHECK(device == (void *)&mine && mine.num_calls == 2 && mine.factor == 5, "taken: %d calls",
        (int)mine.num_calls);

  // Device memory that the context owns, and a callback that wants to see it there.
  mine = (Factor){3, 10};
  CHECK_OK(CeedQFunctionContextSetData(ctx, CEED_MEM_DEVICE, CEED_OWN_POINTER, sizeof(mine),
                                       device_copy(ceed, &mine, sizeof(mine))));
  CHECK_OK(CeedQFunctionContextSetDataDestroy(ctx, CEED_MEM_DEVICE, count_destroyed));
  CHECK_OK(CeedQFunctionApply(qf, N, &u, &v));
  CHECK_HOLDS(v, 3, 6, 9, 12);
  num_destroyed = 0;
  CHECK_OK(CeedQFunctionContextDestroy(&ctx));
  CHECK_OK(CeedQFunctionDestroy(&qf));
  CHECK(num_destroyed == 11, "%d", num_destroyed);
  CHECK_OK(CeedVectorDestroy(&u));
  CHECK_OK(CeedVectorDestroy(&v));
  CHECK_OK(CeedDestroy(&ceed));
}

int main(int argc, char **argv) {
  return tap_main(
      argc, argv,
      TESTS(the_option_selects_memory_and_nothing_else_is_an_option, a_view_of_the_context_shows_the_device,
            device_memory_that_is_left_keeps_the_context,
            random_calls_in_two_memories_do_what_the_table_of_the_standard_says,
            host_and_device_pointers_are_told_apart, the_library_owns_whole_arrays_of_the_device_only,
            a_borrowed_array_that_was_freed_is_found, lent_device_arrays_are_watched,
            vectors_of_different_contexts_meet_on_the_host, a_context_travels_to_the_device_and_back));
}
