// SPDX-License-Identifier: BSD-2-Clause
// Included by ../includes.h through a JiT source root.
CEED_QFUNCTION_HELPER CeedScalar gen_from_root(CeedScalar s) { return s - 5; }
