// SPDX-License-Identifier: BSD-2-Clause
// What libraries on top of the CUDA driver need of devices/cuda.c. Called by cublas.c, cusolver.c, nccl.c and
// distributed/device-messages.c.
#ifndef RITZ_DEVICES_CUDA_H
#define RITZ_DEVICES_CUDA_H

#include "devices/device.h"

// Makes the context of the device current, which is the one of CUDA's runtime; ritz_cuda_leave ends that.
int ritz_cuda_enter(Ceed ceed, RitzDevice device);
void ritz_cuda_leave(void);

#endif
