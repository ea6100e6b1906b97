// SPDX-License-Identifier: BSD-2-Clause
// Times of applies by events in the context's stream, for the timing table (core/profile.h). Nothing waits
// until a pair of events is needed again, or the context ends. Called through the table of the backend.
#include "backends/gpu/context.h"
#include "core/profile.h"
#include "devices/measure.h"

enum { NUM_PAIRS = 64 };

typedef struct {
  RitzDeviceEvent begin, end; // owned; NULL: not used yet
  RitzProfileCall call;
} Pair;

// A ring: `num` pairs from `first` on are recorded and not read; the next one has begun, or not.
struct RitzGpuTimer {
  int first, num;
  Pair pairs[NUM_PAIRS];
};

static Pair *pair_at(RitzGpuTimer *timer, int i) { return &timer->pairs[(timer->first + i) % NUM_PAIRS]; }

// Waits for the oldest pair.
static int read_oldest(Ceed ceed) {
  const RitzGpu *gpu = ritz_gpu(ceed);
  RitzGpuTimer *timer = gpu->timer;
  const Pair *pair = pair_at(timer, 0);
  double seconds;

  RITZ_TRY(gpu->driver->event_elapsed(ceed, gpu->device, pair->begin, pair->end, &seconds));
  ritz_profile_add(&pair->call, seconds);
  timer->first = (timer->first + 1) % NUM_PAIRS;
  timer->num--;
  return CEED_ERROR_SUCCESS;
}

static int record(Ceed ceed, RitzDeviceEvent *event) {
  const RitzGpu *gpu = ritz_gpu(ceed);
  if (!*event) RITZ_TRY(gpu->driver->event_create(ceed, gpu->device, event));
  return gpu->driver->event_record(ceed, gpu->device, gpu->stream, *event);
}

int ritz_gpu_timer_begin(Ceed ceed) {
  RitzGpu *gpu = ritz_gpu(ceed);
  if (!gpu->timer) RITZ_TRY(RITZ_CALLOC(ceed, 1, &gpu->timer));
  if (gpu->timer->num == NUM_PAIRS) RITZ_TRY(read_oldest(ceed));
  return record(ceed, &pair_at(gpu->timer, gpu->timer->num)->begin);
}

int ritz_gpu_timer_end(Ceed ceed, const RitzProfileCall *call) {
  RitzGpuTimer *timer = ritz_gpu(ceed)->timer;
  Pair *pair = pair_at(timer, timer->num);
  RITZ_TRY(record(ceed, &pair->end));
  pair->call = *call;
  timer->num++;
  return CEED_ERROR_SUCCESS;
}

int ritz_gpu_timer_flush(Ceed ceed) {
  RitzGpu *gpu = ritz_gpu(ceed);
  int ierr = CEED_ERROR_SUCCESS;

  if (!gpu->timer) return CEED_ERROR_SUCCESS;
  while (!ierr && gpu->timer->num > 0) ierr = read_oldest(ceed);
  for (int i = 0; i < NUM_PAIRS; i++) {
    Pair *pair = &gpu->timer->pairs[i];
    int destroyed = pair->begin ? gpu->driver->event_destroy(ceed, gpu->device, &pair->begin) : 0;
    if (!ierr) ierr = destroyed;
    destroyed = pair->end ? gpu->driver->event_destroy(ceed, gpu->device, &pair->end) : 0;
    if (!ierr) ierr = destroyed;
  }
  RITZ_FREE(&gpu->timer);
  return ierr;
}

// Bandwidth and flops of the device; unknown (zeros) for a processor behind OpenCL, where measuring takes
// seconds. The measurement reports without a context, so the device is asked first whether it is still there.
int ritz_gpu_limits(Ceed ceed, RitzLimits *limits) {
  const RitzGpu *gpu = ritz_gpu(ceed);
  RitzDeviceRates rates;

  if (gpu->info->warp_size == 1) return CEED_ERROR_SUCCESS;
  RITZ_TRY(gpu->driver->synchronize(ceed, gpu->device, gpu->stream));
  RITZ_TRY(ritz_device_measure(gpu->driver, gpu->device, &rates));
  *limits = (RitzLimits){.flops = (double)rates.flops, .bandwidth = (double)rates.stream_bandwidth};
  return CEED_ERROR_SUCCESS;
}
