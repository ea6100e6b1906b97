// SPDX-License-Identifier: BSD-2-Clause
// Who computes an apply on devices (ritz/operator.h): what is asked for; contexts say what they have.
#include <ritz/operator.h>

#include "core/operator.h"

const char *RitzOperatorRouteName(RitzOperatorRoute route) {
  static const char *const names[] = {"auto", "fused", "separate", "gemm-own", "gemm-vendor"};
  return (int)route >= 0 && (size_t)route < sizeof(names) / sizeof(names[0]) ? names[route] : NULL;
}

static int check_context(CeedOperator op, const char *call, RitzOperatorRoute route) {
  Ceed ceed = op->obj.ceed;
  const char *(*refuses)(Ceed ceed, RitzOperatorRoute route) = ceed->backend.operator_refuses_route;
  if (route == RITZ_OPERATOR_ROUTE_AUTO) return CEED_ERROR_SUCCESS;
  const char *why = refuses ? refuses(ceed, route) : "it has one route alone";
  RITZ_REQUIRE(!why, ceed, CEED_ERROR_UNSUPPORTED, "%s: no route %s on %s: %s", call,
               RitzOperatorRouteName(route), ceed->resource, why);
  return CEED_ERROR_SUCCESS;
}

// Backends are asked anew what they serve.
static void set_route(CeedOperator op, RitzOperatorRoute route) {
  op->route = route;
  op->was_asked = false;
  for (int i = 0; i < 4; i++) {
    if (op->variants[i]) op->variants[i]->was_asked = false;
  }
}

int RitzOperatorSetRoute(CeedOperator op, RitzOperatorRoute route) {
  RITZ_HANDLE(op);
  RITZ_REQUIRE(RitzOperatorRouteName(route), op->obj.ceed, CEED_ERROR_INCOMPATIBLE,
               "%s: route %d, needed 0 to %d", __func__, (int)route, (int)RITZ_OPERATOR_ROUTE_GEMM_VENDOR);
  if (!op->is_composite) RITZ_TRY(check_context(op, __func__, route));
  for (CeedInt i = 0; i < op->num_sub; i++) RITZ_TRY(check_context(op->sub[i], __func__, route));
  set_route(op, route);
  for (CeedInt i = 0; i < op->num_sub; i++) set_route(op->sub[i], route);
  return CEED_ERROR_SUCCESS;
}

int RitzOperatorGetRoute(CeedOperator op, RitzOperatorRoute *route) {
  RITZ_HANDLE(op);
  RITZ_ARGUMENT(op->obj.ceed, route);
  *route = op->num_sub > 0 ? op->sub[0]->route : op->route;
  return CEED_ERROR_SUCCESS;
}
