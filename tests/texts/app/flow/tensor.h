// SPDX-License-Identifier: BSD-2-Clause
// Vectors and matrices of flow-templates.h: a header of an application.
#ifndef RITZ_TESTS_TEXTS_FLOW_TENSOR_H
#define RITZ_TESTS_TEXTS_FLOW_TENSOR_H

#include "clip.h"

#ifdef __CUDACC__
#define FLOW_MEMBER __device__ inline
#else
#define FLOW_MEMBER inline
#endif

namespace flow {

template <typename T, int n> class Vector {
  T values[n];

public:
  FLOW_MEMBER T &operator()(int i) { return values[i]; }
  FLOW_MEMBER const T &operator()(int i) const { return values[i]; }
};

template <typename T, int n> struct Matrix { T values[n][n]; };

template <typename T, int n>
CEED_QFUNCTION_HELPER Vector<T, n> operator*(const Matrix<T, n> &a, const Vector<T, n> &x) {
  Vector<T, n> y;
  for (int i = 0; i < n; i++) {
    y(i) = 0;
    for (int j = 0; j < n; j++) y(i) += a.values[i][j] * x(j);
  }
  return y;
}

template <typename T> CEED_QFUNCTION_HELPER Matrix<T, 2> tensor(T q, T offset) {
  const T t = exp(-q * q) / 4;
  return {{{sqrt(q * q + offset * offset), t}, {t, clip(q, T(0.1), T(0.75))}}};
}

} // namespace flow

#endif
