// SPDX-License-Identifier: BSD-2-Clause
// The context of `affine` in ceed-qfunctions.h, which includes it by a relative path.
#ifndef CEED_QFUNCTIONS_CONTEXT_H
#define CEED_QFUNCTIONS_CONTEXT_H

typedef struct {
  double factor;
  int shift[2];
  bool doubled;
} Affine;

#endif
