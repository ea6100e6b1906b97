// SPDX-License-Identifier: BSD-2-Clause
// Everything that Ritz adds to the Ceed API. Functions return 0 or a CeedErrorType; faults are reported
// through the error handler of the Ceed that the object belongs to, exactly as Ceed functions do.
#ifndef RITZ_H
#define RITZ_H

#include <ritz/assembly.h>
#include <ritz/basis.h>
#include <ritz/batched.h>
#include <ritz/context.h>
#include <ritz/dense-solver.h>
#include <ritz/derivative.h>
#include <ritz/device.h>
#include <ritz/exchange.h>
#include <ritz/facet.h>
#include <ritz/form.h>
#include <ritz/front.h>
#include <ritz/function.h>
#include <ritz/geometry.h>
#include <ritz/jit.h>
#include <ritz/locate.h>
#include <ritz/machine.h>
#include <ritz/mesh.h>
#include <ritz/multigrid.h>
#include <ritz/newton.h>
#include <ritz/operator.h>
#include <ritz/output.h>
#include <ritz/partition.h>
#include <ritz/precision.h>
#include <ritz/preconditioner.h>
#include <ritz/product.h>
#include <ritz/qfunction.h>
#include <ritz/solver.h>
#include <ritz/space.h>
#include <ritz/vector.h>
#include <ritz/version.h>

#endif
