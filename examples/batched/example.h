// SPDX-License-Identifier: BSD-2-Clause
// What the examples of batched dense algebra share: arguments, times, the rate of the machine's memory,
// arrays of vectors. Any failing call ends the program: Ceed's default error handler prints the message.
#ifndef RITZ_EXAMPLES_BATCHED_EXAMPLE_H
#define RITZ_EXAMPLES_BATCHED_EXAMPLE_H

#include <ceed.h>
#include <math.h>
#include <ritz.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MUST(call)                                                                                           \
  do {                                                                                                       \
    if (call) {                                                                                              \
      fprintf(stderr, "%s:%d: %s has failed\n", __FILE__, __LINE__, #call);                                  \
      exit(1);                                                                                               \
    }                                                                                                        \
  } while (0)

// Argument i, a number of at least 1, or its default.
static inline long example_number(int argc, char **argv, int i, long by_default) {
  char *end = NULL;
  const long value = i < argc ? strtol(argv[i], &end, 10) : by_default;

  if (i < argc && (*end || value < 1)) {
    fprintf(stderr, "%s: argument %d is '%s': needed is a number of at least 1\n", argv[0], i, argv[i]);
    exit(2);
  }
  return value;
}

// Distance from 1 to the next CeedScalar.
static inline double example_epsilon(void) {
  return CEED_SCALAR_TYPE == CEED_SCALAR_FP64 ? 0x1p-52 : 0x1p-23;
}

// ---- Times: work is queued on devices, so that a clock is read when all is done ----

static inline double example_seconds(CeedVector vec_of_one) {
  struct timespec now;
  CeedScalar norm;

  MUST(CeedVectorNorm(vec_of_one, CEED_NORM_MAX, &norm)); // the host waits for it
  clock_gettime(CLOCK_REALTIME, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

// Bytes a second that the memory behind the context gives at best (ritz/device.h, ritz/machine.h).
static inline double example_memory_rate(Ceed ceed) {
  RitzDeviceCounters device;
  RitzDeviceRates rates;
  RitzMachine machine;

  MUST(RitzDeviceGetCounters(ceed, &device));
  if (device.driver) {
    MUST(RitzDeviceMeasure(device.driver, device.index, &rates));
    return (double)rates.stream_bandwidth;
  }
  MUST(RitzMachineGet(false, &machine));
  return (double)machine.all.update_bandwidth;
}

// "1.23 ms, 45.6 GB/s, 78 % of the memory's rate"; data that fit into caches have no such part.
static inline void example_print_rate(Ceed ceed, const char *what, double seconds, double bytes) {
  printf("%-34s %9.3f ms %8.1f GB/s", what, 1e3 * seconds, 1e-9 * bytes / seconds);
  if (bytes >= 256e6)
    printf(", %.0f %% of the memory's rate\n", 100 * bytes / seconds / example_memory_rate(ceed));
  else
    printf("\n");
}

// ---- Vectors ----

static inline CeedVector example_vector(Ceed ceed, CeedSize length) {
  CeedVector vec;

  MUST(CeedVectorCreate(ceed, length, &vec));
  return vec;
}

// Entries of [-1, 1), the same on every machine.
static inline CeedScalar example_random(uint64_t *state) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return (CeedScalar)((double)(*state >> 11) * 0x1p-52 - 1);
}

static inline RitzBatchArray example_array(CeedVector vec, RitzAccess access) {
  RitzBatchArray array;

  MUST(RitzBatchArrayFromVector(vec, access, &array));
  return array;
}

// Memory of the context for n numbers of 32 bits, such as pivots: the array of a vector that is large enough.
static inline int32_t *example_lock_integers(CeedVector vec) {
  CeedMemType mem_type;
  CeedScalar *array;
  Ceed ceed;

  MUST(CeedVectorGetCeed(vec, &ceed));
  MUST(CeedGetPreferredMemType(ceed, &mem_type));
  MUST(CeedDestroy(&ceed));
  MUST(CeedVectorGetArrayWrite(vec, mem_type, &array));
  return (int32_t *)array;
}

static inline void example_unlock_integers(CeedVector vec, int32_t **integers) {
  CeedScalar *array = (CeedScalar *)(void *)*integers;

  MUST(CeedVectorRestoreArray(vec, &array));
  *integers = NULL;
}

#endif
