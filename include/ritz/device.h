// SPDX-License-Identifier: BSD-2-Clause
// Devices that the library can compute on: which there are, what they can do at best, and what a context has
// moved to and from one. Drivers are looked for when they are first asked about; nothing is ever printed.
#ifndef RITZ_DEVICE_H
#define RITZ_DEVICE_H

#include <ceed.h>
#include <stdint.h>

typedef struct {
  const char *name;    // "cuda", "opencl": part of resources, /gpu/cuda/shared
  CeedInt num_devices; // that can be used
  const char *reason;  // one line (static) when there is none, else NULL
  // File of the run-time compiler (static), where there are devices; NULL: it is part of the driver.
  const char *compiler;
} RitzDriverFacts;

typedef struct {
  char name[128];       // "NVIDIA H200"
  char arch[64];        // what code is compiled for: "sm_90"; OpenCL: the version of the device
  char version[256];    // of driver and compiler
  int64_t num_bytes;    // of memory
  int64_t free_bytes;   // of num_bytes, now; -1: unknown
  int num_units;        // multiprocessors, compute units
  int64_t shared_bytes; // of shared memory that a block may have
} RitzDeviceFacts;

// Whole numbers per second.
typedef struct {
  int64_t stream_bandwidth; // bytes/s of seven arrays read and one written, as operators do
  int64_t copy_bandwidth;   // bytes/s, read and written, of the driver's copy within the device
  int64_t flops;            // of independent multiply-adds of CeedScalars in registers, each counts as two
} RitzDeviceRates;

// Counters of one context, since it was made. Memory: what the library has allocated or owns, work memory
// included; arrays that the program lends are not counted.
typedef struct {
  const char *driver; // "cuda", "opencl"; NULL: the context does not compute on a device, the rest is zeros
  const char *device; // its name; valid until the process ends
  CeedInt index;      // for RitzDeviceGetInfo
  int64_t bytes_in;   // copied from the host to the device
  int64_t bytes_out;  // copied from the device to the host
  int64_t bytes_live; // in device memory now
  int64_t bytes_peak; // in device memory at most
  int64_t num_reads;  // copies from the device to the host: the host has waited for each
} RitzDeviceCounters;

// Drivers known to the library, usable or not; CEED_ERROR_DIMENSION past the end.
CEED_EXTERN int RitzDeviceGetNumDrivers(CeedInt *num);
CEED_EXTERN int RitzDeviceGetDriver(CeedInt i, RitzDriverFacts *facts);

// Begins to start the driver of that name, or of the resource ("/gpu/cuda/gen:device_id=1"), on a thread
// beside the caller: its library, its compiler, its devices, which takes CUDA a good part of a second.
// CeedInit and all others wait for it, and tell what went wrong. At most one driver is started like this,
// once a process; another name, and another call, does nothing. The process must not fork while a driver
// starts. The end of the process waits for it.
CEED_EXTERN int RitzDeviceStart(const char *name);

// Device `index` of the driver of that name. Errors, reported without a context: CEED_ERROR_DIMENSION (no
// such driver or device), CEED_ERROR_BACKEND (the driver fails).
CEED_EXTERN int RitzDeviceGetInfo(const char *driver, CeedInt index, RitzDeviceFacts *facts);

// Measures for about a quarter of a second; nothing is kept. Temporary device memory: 1 GiB, at most a
// quarter of what is free. Other work on the device lowers the figures. Errors: those of RitzDeviceGetInfo,
// CEED_ERROR_MAJOR (no memory).
CEED_EXTERN int RitzDeviceMeasure(const char *driver, CeedInt index, RitzDeviceRates *rates);

// Counts since the context was made.
CEED_EXTERN int RitzDeviceGetCounters(Ceed ceed, RitzDeviceCounters *counters);

#endif
