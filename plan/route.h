// SPDX-License-Identifier: BSD-2-Clause
// Which route an apply takes on a device (RitzOperatorSetRoute) where none was asked for or measured: a guess
// by bytes and flops. Pure functions of numbers; figures and where they come from: plan/route.c, doc/gpu.md.
// Called by backends/gpu/route.c.
#ifndef RITZ_PLAN_ROUTE_H
#define RITZ_PLAN_ROUTE_H

#include "plan/plan.h"

enum { RITZ_NUM_OPERATOR_ROUTES = RITZ_OPERATOR_ROUTE_GEMM_VENDOR + 1 };

// Properties of the device and the operator that a route depends on.
typedef struct {
  const char *device; // its name
  bool is_played;     // a processor plays the device
  bool has_mma;       // tensor cores of doubles
  bool can_fuse;
  bool has_tiles;  // the fused kernel multiplies dense bases by tensor cores
  bool has_vendor; // the vendor's library may be taken, if it is there
} RitzRouteOptions;

typedef struct {
  RitzOperatorRoute route;
  const char *why;                          // static
  double seconds[RITZ_NUM_OPERATOR_ROUTES]; // of an element on a full device; 0: not to be had
} RitzRouteGuess;

RitzRouteGuess ritz_plan_route(const RitzPlan *plan, const RitzRouteOptions *options);

#endif
