// SPDX-License-Identifier: BSD-2-Clause
// Memory and order on devices: arrays of the program's go in and out without copies, what is no device memory
// is refused, data are copied when they must be and not otherwise, nothing grows with use, streams keep their
// order.
#include "tests/gpu-kit.h"

#include "base/simd.h"
#include <stdint.h>

enum { N = 1000 };
static const size_t num_bytes = N * sizeof(CeedScalar);

// ---- Device memory of the program's own ----

static const RitzDriver *driver_of(Ceed ceed) { return ritz_gpu(ceed)->driver; }

static CeedScalar *allocate(Ceed ceed, size_t size) {
  void *p = NULL;
  driver_of(ceed)->alloc(ceed, ritz_gpu(ceed)->device, size, &p);
  return p;
}

static int release(Ceed ceed, CeedScalar *p) {
  return driver_of(ceed)->free(ceed, ritz_gpu(ceed)->device, p);
}

// Past the library: nothing of this is counted.
static int write_array(Ceed ceed, CeedScalar *to, const CeedScalar *from) {
  return driver_of(ceed)->copy_in(ceed, ritz_gpu(ceed)->device, ritz_gpu(ceed)->stream, num_bytes, to, from);
}
static int read_array(Ceed ceed, CeedScalar *to, const CeedScalar *from) {
  return driver_of(ceed)->copy_out(ceed, ritz_gpu(ceed)->device, ritz_gpu(ceed)->stream, num_bytes, to, from);
}

static void fill(CeedScalar *array, double first) {
  for (int i = 0; i < N; i++) array[i] = (CeedScalar)(first + i);
}

static bool holds(const CeedScalar *array, double first) {
  for (int i = 0; i < N; i++) {
    if ((double)array[i] != first + i) return false;
  }
  return true;
}

static bool are_copied(Ceed ceed, const RitzDeviceCounters *before, size_t in, size_t out) {
  const RitzDeviceCounters now = counters_of(ceed);
  const int64_t num_in = now.bytes_in - before->bytes_in, num_out = now.bytes_out - before->bytes_out;

  if (num_in == (int64_t)in && num_out == (int64_t)out) return true;
  tap_note("copied %lld bytes in and %lld out, wanted %zu and %zu", (long long)num_in, (long long)num_out, in,
           out);
  return false;
}

TEST_EACH_GPU(lent_device_arrays_go_in_and_out_as_they_are) {
  CeedScalar values[N], found[N], *p = allocate(ceed, num_bytes), *taken = NULL;
  const CeedScalar *read = NULL;
  CeedVector v = vector_of(ceed, N, NULL);

  CHECK(p, "no device memory");
  fill(values, 5);
  CHECK_OK(write_array(ceed, p, values));
  const RitzDeviceCounters before = counters_of(ceed);
  CHECK_OK(CeedVectorSetArray(v, CEED_MEM_DEVICE, CEED_USE_POINTER, p));
  CHECK_OK(CeedVectorGetArrayRead(v, CEED_MEM_DEVICE, &read));
  CHECK(read == p, "another array is read");
  CHECK_OK(CeedVectorRestoreArrayRead(v, &read));
  CHECK_OK(CeedVectorScale(v, 2));
  CHECK_OK(CeedVectorTakeArray(v, CEED_MEM_DEVICE, &taken));
  CHECK(taken == p, "another array is given back");
  CHECK(are_copied(ceed, &before, 0, 0), "the array was copied");
  CHECK(counters_of(ceed).bytes_live == before.bytes_live, "lent memory is counted");
  CHECK_OK(CeedVectorDestroy(&v));
  CHECK_OK(read_array(ceed, found, p));
  for (int i = 0; i < N; i++) CHECK((double)found[i] == 2.0 * (5 + i), "entry %d is %g", i, (double)found[i]);
  CHECK_OK(release(ceed, p));
}

TEST_EACH_GPU(given_device_arrays_are_owned_and_freed) {
  CeedScalar values[N], *p = allocate(ceed, num_bytes), *array = NULL;
  CeedVector v = vector_of(ceed, N, NULL);
  const RitzDeviceCounters before = counters_of(ceed);
  void *start = NULL;
  size_t size;

  fill(values, 1);
  CHECK_OK(write_array(ceed, p, values));
  CHECK_OK(CeedVectorSetArray(v, CEED_MEM_DEVICE, CEED_OWN_POINTER, p));
  CHECK(counters_of(ceed).bytes_live >= before.bytes_live + (int64_t)num_bytes,
        "given memory is not counted");
  CHECK_OK(CeedVectorGetArray(v, CEED_MEM_DEVICE, &array));
  CHECK(array == p, "another array is used");
  CHECK_OK(CeedVectorRestoreArray(v, &array));
  CHECK(are_copied(ceed, &before, 0, 0), "the array was copied");
  CHECK_OK(CeedVectorDestroy(&v));
  CHECK(counters_of(ceed).bytes_live == before.bytes_live, "%lld bytes are left",
        (long long)(counters_of(ceed).bytes_live - before.bytes_live));
  driver_of(ceed)->find(ritz_gpu(ceed)->device, p, &start, &size);
  CHECK(!start, "the array is still there");
}

TEST_EACH_GPU(copied_device_arrays_stay_the_callers) {
  CeedScalar values[N], *p = allocate(ceed, num_bytes), *array = NULL;
  const CeedScalar *read = NULL;
  CeedVector v = vector_of(ceed, N, NULL);

  fill(values, 8);
  CHECK_OK(write_array(ceed, p, values));
  const RitzDeviceCounters before = counters_of(ceed);
  CHECK_OK(CeedVectorSetArray(v, CEED_MEM_DEVICE, CEED_COPY_VALUES, p));
  CHECK(are_copied(ceed, &before, 0, 0), "the copy went over the host");
  fill(values, -8);
  CHECK_OK(write_array(ceed, p, values));
  CHECK_OK(CeedVectorGetArray(v, CEED_MEM_DEVICE, &array));
  CHECK(array != p, "the caller's array is used");
  CHECK_OK(CeedVectorRestoreArray(v, &array));
  CHECK_OK(CeedVectorGetArrayRead(v, CEED_MEM_HOST, &read));
  CHECK(holds(read, 8), "entry 0 is %g", (double)read[0]);
  CHECK_OK(CeedVectorRestoreArrayRead(v, &read));
  CHECK_OK(CeedVectorDestroy(&v));
  CHECK_OK(release(ceed, p));
}

TEST_EACH_GPU(what_is_no_device_memory_is_refused) {
  enum { PART = 4096 / sizeof(CeedScalar) }; // OpenCL devices want parts to begin at multiples of up to this
  CeedScalar on_host[N] = {0}, *p = allocate(ceed, num_bytes / 2), *whole = allocate(ceed, num_bytes + 4096);
  CeedVector v = vector_of(ceed, N, NULL);

  CHECK_ERROR(ceed, CeedVectorSetArray(v, CEED_MEM_DEVICE, CEED_USE_POINTER, on_host), CEED_ERROR_BACKEND,
              "CeedVectorSetArray: the array given as device memory is not memory of this device");
  CHECK_ERROR(ceed, CeedVectorSetArray(v, CEED_MEM_DEVICE, CEED_COPY_VALUES, on_host), CEED_ERROR_BACKEND,
              "not memory of this device");
  char message[100];
  snprintf(message, sizeof(message), "bytes, needed %zu", num_bytes);
  CHECK_ERROR(ceed, CeedVectorSetArray(v, CEED_MEM_DEVICE, CEED_USE_POINTER, p), CEED_ERROR_BACKEND, message);
  CHECK_ERROR(ceed, CeedVectorSetArray(v, CEED_MEM_DEVICE, CEED_USE_POINTER, whole + PART + 1),
              CEED_ERROR_BACKEND, message);
  CHECK_ERROR(ceed, CeedVectorSetArray(v, CEED_MEM_DEVICE, CEED_OWN_POINTER, whole + 1), CEED_ERROR_BACKEND,
              "a part of another");
  CHECK_OK(CeedVectorSetArray(v, CEED_MEM_DEVICE, CEED_USE_POINTER, whole + PART)); // lent, it may be a part
  CHECK_OK(CeedVectorSetValue(v, 3));
  CHECK_OK(CeedVectorTakeArray(v, CEED_MEM_DEVICE, NULL));
  CHECK_OK(CeedVectorDestroy(&v));
  CHECK_OK(release(ceed, p));
  CHECK_OK(release(ceed, whole));
}

// ---- Copies between host and device ----

TEST_EACH_GPU(vectors_are_copied_when_the_other_side_wants_them_and_only_then) {
  CeedScalar values[N], *array = NULL;
  const CeedScalar *read = NULL;
  CeedVector v = vector_of(ceed, N, NULL);
  RitzDeviceCounters before = counters_of(ceed);

  CHECK_OK(CeedVectorSetValue(v, 3));
  CHECK(are_copied(ceed, &before, 0, 0), "setting a value copies");
  for (int i = 0; i < 2; i++) {
    CHECK_OK(CeedVectorGetArrayRead(v, CEED_MEM_HOST, &read));
    CHECK((double)read[N - 1] == 3, "the last entry is %g", (double)read[N - 1]);
    CHECK_OK(CeedVectorRestoreArrayRead(v, &read));
  }
  CHECK(are_copied(ceed, &before, 0, num_bytes), "reading twice on the host copies once");
  before = counters_of(ceed);
  CHECK_OK(CeedVectorScale(v, 2));
  CHECK(are_copied(ceed, &before, 0, 0), "the device's values were still good");
  CHECK_OK(CeedVectorGetArray(v, CEED_MEM_HOST, &array));
  array[0] = 7;
  CHECK_OK(CeedVectorRestoreArray(v, &array));
  CHECK(are_copied(ceed, &before, 0, num_bytes), "changed on the host");
  CHECK_OK(CeedVectorScale(v, 2));
  CHECK(are_copied(ceed, &before, num_bytes, num_bytes), "changed on the device");
  fill(values, 0);
  before = counters_of(ceed);
  CHECK_OK(CeedVectorSetArray(v, CEED_MEM_HOST, CEED_USE_POINTER, values));
  CHECK_OK(CeedVectorGetArrayWrite(v, CEED_MEM_DEVICE, &array));
  CHECK_OK(CeedVectorRestoreArray(v, &array));
  CHECK(are_copied(ceed, &before, 0, 0), "what will be overwritten is copied");
  CHECK_OK(CeedVectorSetValue(v, 9));
  CHECK((double)values[1] == 1, "the lent host array has changed before it was asked for");
  CHECK_OK(CeedVectorTakeArray(v, CEED_MEM_HOST, NULL));
  CHECK((double)values[1] == 9, "entry 1 is %g", (double)values[1]);
  CHECK(are_copied(ceed, &before, 0, num_bytes), "taking the host array");
  CHECK_OK(CeedVectorDestroy(&v));
}

static const ChainShape small_shape = {.dim = 2, .num_elem = 7, .P_1d = 3, .Q_1d = 4, .seed = 1};

TEST_EACH_GPU(an_operator_that_stays_on_the_device_copies_nothing) {
  Chain c;
  CeedVector u = NULL, v = NULL;

  CHECK_OK(chain_create(ceed, &small_shape, &c));
  CHECK_OK(CeedVectorCreate(ceed, c.size, &u));
  CHECK_OK(CeedVectorCreate(ceed, c.size, &v));
  CHECK_OK(CeedVectorSetValue(u, 1));
  CHECK_OK(CeedOperatorApply(c.op, u, v, CEED_REQUEST_IMMEDIATE)); // quadrature data go to the device
  const RitzDeviceCounters before = counters_of(ceed);
  for (int i = 0; i < 5; i++) CHECK_OK(CeedOperatorApply(c.op, u, v, CEED_REQUEST_IMMEDIATE));
  CHECK(are_copied(ceed, &before, 0, 0), "five applications");
  CHECK(counters_of(ceed).bytes_live == before.bytes_live, "they need more memory");
  CHECK(before.bytes_live > 0 && before.bytes_peak >= before.bytes_live, "%lld of %lld bytes",
        (long long)before.bytes_live, (long long)before.bytes_peak);
  CHECK_OK(CeedVectorDestroy(&u));
  CHECK_OK(CeedVectorDestroy(&v));
  chain_destroy(&c);
}

// ---- Too much ----

static void check_works(Ceed ceed) {
  Ceed reference = tap_ceed("/cpu/self/ref");
  const CeedSize size = chain_size(&small_shape);
  uint64_t seed = 8;
  double *x = reference_new_random(size, &seed), *y = reference_new(size), *wanted = reference_new(size);

  CHECK_OK(chain_apply(ceed, &small_shape, x, y));
  CHECK_OK(chain_apply(reference, &small_shape, x, wanted));
  CHECK_NEAR(reference_distance(size, y, wanted), 0, chain_tolerance(&small_shape, wanted),
             "the context is spoilt");
  free(x);
  free(y);
  free(wanted);
  CeedDestroy(&reference);
}

TEST_EACH_GPU(a_vector_that_no_device_can_hold_is_an_error_that_spoils_nothing) {
  const CeedSize length = ((CeedSize)1 << 46) / (CeedSize)sizeof(CeedScalar);
  CeedVector v = NULL;
  const RitzDeviceCounters before = counters_of(ceed);

  CHECK_OK(CeedVectorCreate(ceed, length, &v));
  CHECK_ERROR(ceed, CeedVectorSetValue(v, 1), CEED_ERROR_MAJOR, "70368744177664 bytes");
  CHECK_ERROR(ceed, CeedVectorSetValue(v, 1), CEED_ERROR_MAJOR, "70368744177664 bytes");
  CHECK_OK(CeedVectorDestroy(&v));
  CHECK(counters_of(ceed).bytes_live == before.bytes_live, "memory is left");
  check_works(ceed);
}

// ---- Cycles ----

static int run_cycle(Ceed ceed, double *y) {
  const ChainShape s = {.dim = 1, .num_elem = 5, .P_1d = 3, .Q_1d = 3, .seed = 1};
  static const double x[11] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};

  return chain_apply(ceed, &s, x, y);
}

// Resident bytes of this process; 0 where the system does not say, or where memory is kept back after it was
// freed.
static int64_t resident_bytes(void) {
  long long num_resident = 0;
#ifndef RITZ_HAS_SANITIZER
  FILE *file = fopen("/proc/self/statm", "r");

  if (!file) return 0;
  if (fscanf(file, "%*d %lld", &num_resident) != 1) num_resident = 0;
  fclose(file);
#endif
  return (int64_t)num_resident * sysconf(_SC_PAGESIZE);
}

static int num_cycles(void) {
  static const int num[] = {1000, 5000, 100000};

  return num[tap_level()];
}

TEST_EACH_GPU(making_applying_and_destroying_operators_over_and_over_takes_no_more_memory) {
  enum { WARM_UP = 200, ALLOWED = 4 << 20 }; // bytes; pools of drivers and of the C library settle
  double first[11], y[11];

  for (int i = 0; i < WARM_UP; i++) CHECK_OK(run_cycle(ceed, first));
  const int64_t live = ritz_memory_live(), resident = resident_bytes(),
                on_device = counters_of(ceed).bytes_live;
  for (int i = 0; i < num_cycles(); i++) {
    CHECK_OK(run_cycle(ceed, y));
    CHECK(!memcmp(y, first, sizeof(y)) || strstr(resource_of(ceed), "shared"), "cycle %d gives other numbers",
          i);
  }
  CHECK(counters_of(ceed).bytes_live == on_device, "%lld more bytes on the device",
        (long long)(counters_of(ceed).bytes_live - on_device));
  CHECK(ritz_memory_live() == live, "%lld more allocations", (long long)(ritz_memory_live() - live));
  CHECK(resident_bytes() - resident <= ALLOWED, "%lld more resident bytes after %d cycles",
        (long long)(resident_bytes() - resident), num_cycles());
}

TEST_EACH_GPU(making_and_destroying_contexts_over_and_over_takes_no_more_memory) {
  enum { WARM_UP = 20, ALLOWED = 4 << 20 };
  const int num = num_cycles() / 20;
  int64_t resident = 0, num_free = -1, num_free_before = -1;
  double y[11];

  for (int i = 0; i < WARM_UP + num; i++) {
    if (i == WARM_UP) {
      resident = resident_bytes();
      CHECK_OK(driver_of(ceed)->memory(ceed, ritz_gpu(ceed)->device, &num_free_before));
    }
    Ceed other = tap_ceed(resource_of(ceed));
    CHECK_OK(run_cycle(other, y));
    CHECK_OK(CeedDestroy(&other));
  }
  CHECK(resident_bytes() - resident <= ALLOWED, "%lld more resident bytes after %d contexts",
        (long long)(resident_bytes() - resident), num);
  CHECK_OK(driver_of(ceed)->memory(ceed, ritz_gpu(ceed)->device, &num_free));
  tap_note("%s: %lld bytes of device memory less", resource_of(ceed),
           (long long)(num_free_before - num_free));
}

// ---- Streams ----

TEST_EACH_GPU(a_stream_that_is_null_or_of_the_wrong_kind_is_refused) {
  int something;

  CHECK_ERROR(ceed, CeedSetStream(ceed, NULL), CEED_ERROR_INCOMPATIBLE, "CeedSetStream");
  if (!is_cuda(ceed)) CHECK_ERROR(ceed, CeedSetStream(ceed, &something), CEED_ERROR_UNSUPPORTED, "streams");
  check_works(ceed);
}

// A context on a stream of its own. On OpenCL there is one for all.
static int open_on_stream(Ceed ceed, Ceed *other, RitzDeviceStream *stream) {
  *other = tap_ceed(resource_of(ceed));
  RITZ_TRY(driver_of(ceed)->stream_create(ceed, ritz_gpu(ceed)->device, stream));
  return *stream ? CeedSetStream(*other, *stream) : CEED_ERROR_SUCCESS;
}

static int close_on_stream(Ceed ceed, Ceed *other, RitzDeviceStream stream) {
  RITZ_TRY(CeedDestroy(other));
  return stream ? driver_of(ceed)->stream_destroy(ceed, ritz_gpu(ceed)->device, stream) : CEED_ERROR_SUCCESS;
}

enum { LONG = 1 << 20, NUM_STEPS = 40 };

// Many scalings, so that whoever does not wait comes too early: the array ends with 2 everywhere.
static int produce(CeedVector v) {
  RITZ_TRY(CeedVectorSetValue(v, (CeedScalar)(2.0 / ((int64_t)1 << NUM_STEPS))));
  for (int i = 0; i < NUM_STEPS; i++) RITZ_TRY(CeedVectorScale(v, 2));
  return CEED_ERROR_SUCCESS;
}

// One context fills an array, another one reads it after an event, over and over.
static int pass_on(Ceed first, RitzDeviceStream first_stream, Ceed second, RitzDeviceStream second_stream,
                   RitzDeviceEvent event, CeedScalar *array, double *sum) {
  const RitzDriver *driver = driver_of(first);
  RitzDevice device = ritz_gpu(first)->device;
  CeedVector source = NULL, target = NULL, copy = NULL;
  CeedScalar norm = 0;
  int ierr = CeedVectorCreate(first, LONG, &source);

  if (!ierr) ierr = CeedVectorCreate(second, LONG, &target);
  if (!ierr) ierr = CeedVectorCreate(second, LONG, &copy);
  if (!ierr) ierr = CeedVectorSetArray(source, CEED_MEM_DEVICE, CEED_USE_POINTER, array);
  if (!ierr) ierr = CeedVectorSetArray(target, CEED_MEM_DEVICE, CEED_USE_POINTER, array);
  if (!ierr) ierr = produce(source);
  if (!ierr) ierr = driver->event_record(first, device, first_stream, event);
  if (!ierr) ierr = driver->event_wait(second, device, second_stream, event);
  if (!ierr) ierr = CeedVectorCopy(target, copy);
  if (!ierr) ierr = CeedVectorTakeArray(source, CEED_MEM_DEVICE, NULL);
  if (!ierr) ierr = CeedVectorTakeArray(target, CEED_MEM_DEVICE, NULL);
  if (!ierr) ierr = CeedVectorNorm(copy, CEED_NORM_1, &norm);
  *sum = (double)norm;
  CeedVectorDestroy(&source);
  CeedVectorDestroy(&target);
  CeedVectorDestroy(&copy);
  return ierr;
}

TEST_EACH_GPU(an_event_keeps_the_order_between_contexts_on_two_streams) {
  const RitzDriver *driver = driver_of(ceed);
  RitzDevice device = ritz_gpu(ceed)->device;
  Ceed first = NULL, second = NULL;
  RitzDeviceStream first_stream = NULL, second_stream = NULL;
  RitzDeviceEvent event = NULL;
  CeedScalar *array = allocate(ceed, LONG * sizeof(*array));

  CHECK_OK(open_on_stream(ceed, &first, &first_stream));
  CHECK_OK(open_on_stream(ceed, &second, &second_stream));
  CHECK_OK(driver->event_create(ceed, device, &event));
  CHECK(!is_cuda(ceed) || (first_stream && second_stream && first_stream != second_stream), "no streams");
  for (int i = 0; i < (tap_level() == TAP_QUICK ? 3 : 50); i++) {
    double sum = 0;
    CHECK_OK(pass_on(first, first_stream, second, second_stream, event, array, &sum));
    CHECK(sum == 2.0 * LONG, "pass %d: the sum is %g, wanted %g", i, sum, 2.0 * LONG);
  }
  check_works(first);
  check_works(second);
  CHECK_OK(driver->event_destroy(ceed, device, &event));
  CHECK_OK(close_on_stream(ceed, &first, first_stream));
  CHECK_OK(close_on_stream(ceed, &second, second_stream));
  CHECK_OK(release(ceed, array));
}

// ---- Devices ----

static const char *wanted_resource; // of the child

// A new program: drivers do not survive fork().
static void init_in_a_new_program(void) {
  setenv("CEED_ERROR_HANDLER", "exit", 1);
  execl("/proc/self/exe", "test-gpu-memory", "init", wanted_resource, (char *)NULL);
}

static int init_here(const char *resource) {
  Ceed ceed = NULL;

  if (CeedInit(resource, &ceed)) return 1;
  return CeedDestroy(&ceed);
}

static void check_refused(Ceed ceed, const char *option, const char *message) {
  char resource[CEED_MAX_RESOURCE_LEN], text[4096];

  snprintf(resource, sizeof(resource), "%s%s", resource_of(ceed), option);
  wanted_resource = resource;
  int status = run_child(init_in_a_new_program, text, sizeof(text));
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) != 0, "%s: status %d", resource, status);
  CHECK(strstr(text, message), "%s: '%s' does not say '%s'", resource, text, message);
}

TEST_EACH_GPU(a_device_that_is_not_there_is_refused_with_the_number_of_those_that_are) {
  const char *why = NULL;
  const int num = driver_of(ceed)->count(&why);
  char message[100], last[100];

  snprintf(message, sizeof(message), "has %d", num);
  check_refused(ceed, ":device_id=99", message);
  check_refused(ceed, ":device_id=abc", "device_id=abc");
  check_refused(ceed, ":device_id=", "device_id=");
  check_refused(ceed, ":device_id=-1", "':device_id=-1' needs the number of a device");
  check_refused(ceed, ":device_id=99999999999999999999", message);
  check_refused(ceed, ":device_id=0x0", "':device_id=0x0' needs");
  check_refused(ceed, ":device=99", "has no option ':device=99'; it has :device_id=N, :deterministic");
  check_refused(ceed, ":threads=2", "no option ':threads=2'");
  if (tap_failed()) return;
  snprintf(last, sizeof(last), "%s:device_id=%d", resource_of(ceed), num - 1);
  Ceed other = tap_ceed(last);
  CHECK(counters_of(other).index == num - 1, "device %d", (int)counters_of(other).index);
  check_works(other);
  CeedDestroy(&other);
}

int main(int argc, char **argv) {
  if (argc == 3 && !strcmp(argv[1], "init")) return init_here(argv[2]);
  return tap_main(argc, argv,
                  TESTS(lent_device_arrays_go_in_and_out_as_they_are, given_device_arrays_are_owned_and_freed,
                        copied_device_arrays_stay_the_callers, what_is_no_device_memory_is_refused,
                        vectors_are_copied_when_the_other_side_wants_them_and_only_then,
                        an_operator_that_stays_on_the_device_copies_nothing,
                        a_vector_that_no_device_can_hold_is_an_error_that_spoils_nothing,
                        making_applying_and_destroying_operators_over_and_over_takes_no_more_memory,
                        making_and_destroying_contexts_over_and_over_takes_no_more_memory,
                        a_stream_that_is_null_or_of_the_wrong_kind_is_refused,
                        an_event_keeps_the_order_between_contexts_on_two_streams,
                        a_device_that_is_not_there_is_refused_with_the_number_of_those_that_are));
}
