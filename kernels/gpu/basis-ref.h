// SPDX-License-Identifier: BSD-2-Clause
// Bases of any size, one thread an output. E-vectors [item][node], Q-vectors [q component][item][point],
// where the items are all pairs (component, element). Called by backends/gpu/basis-ref.c.
#ifndef RITZ_KERNELS_GPU_BASIS_REF_H
#define RITZ_KERNELS_GPU_BASIS_REF_H

// a / b for a >= 0, b > 0: a division of 64 bits takes many times as long as one of 32.
RITZ_INLINE RitzLong basis_quotient(RitzLong a, int b) {
  return a >> 31 ? a / b : (RitzLong)((unsigned)a / (unsigned)b);
}

// One direction of tensor bases: v[a][j][c] = sum_b t_jb u[a][b][c] with n_in values of b, n_out of j,
// `after` of c; t_jb = table[j * row_stride + b * column_stride]; the arrays begin at entry first_u of u,
// first_v of v. add: v += ...
RITZ_KERNEL(256)
basis_contract(RitzLong n, int n_in, int n_out, int after, int row_stride, int column_stride, int add,
               RITZ_GLOBAL const RitzReal *RITZ_RESTRICT table, RitzLong first_u,
               RITZ_GLOBAL const RitzReal *RITZ_RESTRICT u, RitzLong first_v,
               RITZ_GLOBAL RitzReal *RITZ_RESTRICT v) {
  RitzLong i = RITZ_ITEM;
  if (i < n) {
    RitzLong line = basis_quotient(i, after), a = basis_quotient(line, n_out);
    RITZ_GLOBAL const RitzReal *from = u + first_u + a * n_in * after + (i - line * after);
    RITZ_GLOBAL const RitzReal *row = table + (line - a * n_out) * row_stride;
    RitzReal sum = 0;
    for (int b = 0; b < n_in; b++) sum += row[(RitzLong)b * column_stride] * from[(RitzLong)b * after];
    v[first_v + i] = add ? v[first_v + i] + sum : sum;
  }
}

// Dense bases, table [q_comp][Q][P].
RITZ_KERNEL(256)
basis_dense(RitzLong num_items, int P, int Q, int q_comp, RITZ_GLOBAL const RitzReal *RITZ_RESTRICT table,
            RITZ_GLOBAL const RitzReal *RITZ_RESTRICT u, RITZ_GLOBAL RitzReal *RITZ_RESTRICT v) {
  RitzLong i = RITZ_ITEM, row = basis_quotient(i, Q); // row: d * num_items + item
  if (row < q_comp * num_items) {
    RitzLong d = row / num_items;
    RITZ_GLOBAL const RitzReal *from = u + (row - d * num_items) * P;
    RITZ_GLOBAL const RitzReal *t = table + (d * Q + (i - row * Q)) * P;
    RitzReal sum = 0;
    for (int p = 0; p < P; p++) sum += t[p] * from[p];
    v[i] = sum;
  }
}

RITZ_KERNEL(256)
basis_dense_transposed(RitzLong num_items, int P, int Q, int q_comp, int add,
                       RITZ_GLOBAL const RitzReal *RITZ_RESTRICT table,
                       RITZ_GLOBAL const RitzReal *RITZ_RESTRICT u, RITZ_GLOBAL RitzReal *RITZ_RESTRICT v) {
  RitzLong i = RITZ_ITEM, item = basis_quotient(i, P);
  if (item < num_items) {
    RITZ_GLOBAL const RitzReal *t = table + (i - item * P);
    RitzReal sum = 0;
    for (int d = 0; d < q_comp; d++) {
      RITZ_GLOBAL const RitzReal *from = u + (d * num_items + item) * Q;
      for (int q = 0; q < Q; q++) sum += t[((RitzLong)d * Q + q) * P] * from[q];
    }
    v[i] = add ? v[i] + sum : sum;
  }
}

// v[elem][point] = product over the directions; dense bases have one direction.
RITZ_KERNEL(256)
basis_weight(RitzLong num_elem, int dim, int Q_1d, int Q, RITZ_GLOBAL const RitzReal *RITZ_RESTRICT weight,
             RITZ_GLOBAL RitzReal *v) {
  RitzLong i = RITZ_ITEM, elem = basis_quotient(i, Q);
  if (elem < num_elem) {
    int rest = (int)(i - elem * Q);
    RitzReal product = 1;
    for (int d = 0; d < dim; d++) {
      product *= weight[rest % Q_1d];
      rest /= Q_1d;
    }
    v[i] = product;
  }
}

#endif
