// SPDX-License-Identifier: BSD-2-Clause
// Restrictions: gather from L-vectors into E-vectors [num_comp][n], and their transposes; run by
// backends/gpu/restriction.c. The range of elements begins at element first_elem, or at node first =
// first_elem * size of all elements' nodes; its n nodes (at points: places) are numbered by t, one thread
// each.
//
// orients: NULL or [nodes], 1 for -1. curl_orients [nodes][3]: a row of the tridiagonal matrix of an element.
#ifndef RITZ_KERNELS_GPU_RESTRICTION_H
#define RITZ_KERNELS_GPU_RESTRICTION_H

// ---- Orientations ----

RITZ_INLINE RitzReal restriction_sign(RITZ_GLOBAL const CeedInt8 *orients, RitzLong node) {
  return orients && orients[node] ? -1 : 1;
}

RITZ_INLINE RitzReal restriction_factor(CeedInt8 entry, CeedInt is_signed) {
  RitzReal factor = entry;
  return is_signed || factor > 0 ? factor : -factor;
}

// Column i of the matrix of an element times u; both pointers are at node i.
RITZ_INLINE RitzReal restriction_curl_column(RITZ_GLOBAL const CeedInt8 *curl_orients, CeedInt i,
                                             CeedInt size, CeedInt is_signed, RITZ_GLOBAL const RitzReal *u) {
  RitzReal sum = 0;
  if (i > 0) sum += restriction_factor(curl_orients[-3 + 2], is_signed) * u[-1];
  sum += restriction_factor(curl_orients[1], is_signed) * u[0];
  if (i < size - 1) sum += restriction_factor(curl_orients[3], is_signed) * u[1];
  return sum;
}

// ---- Gather ----

RITZ_KERNEL(256)
restriction_gather(CeedInt n, CeedInt num_comp, CeedInt first, CeedInt comp_stride,
                   RITZ_GLOBAL const CeedInt *RITZ_RESTRICT offsets,
                   RITZ_GLOBAL const CeedInt8 *RITZ_RESTRICT orients,
                   RITZ_GLOBAL const RitzReal *RITZ_RESTRICT u, RITZ_GLOBAL RitzReal *RITZ_RESTRICT v) {
  RitzLong t = RITZ_ITEM;
  if (t >= n) return;
  RitzReal sign = restriction_sign(orients, first + t);
  u += offsets[first + t];
  v += t;
  for (CeedInt c = 0; c < num_comp; c++) {
    *v = sign * *u;
    u += comp_stride;
    v += n;
  }
}

RITZ_KERNEL(256)
restriction_gather_curl(CeedInt n, CeedInt num_comp, CeedInt first, CeedInt comp_stride, CeedInt size,
                        CeedInt is_signed, RITZ_GLOBAL const CeedInt *RITZ_RESTRICT offsets,
                        RITZ_GLOBAL const CeedInt8 *RITZ_RESTRICT curl_orients,
                        RITZ_GLOBAL const RitzReal *RITZ_RESTRICT u, RITZ_GLOBAL RitzReal *RITZ_RESTRICT v) {
  RitzLong t = RITZ_ITEM;
  if (t >= n) return;
  CeedInt i = (CeedInt)t % size;
  offsets += first + t;
  curl_orients += 3 * (first + t);
  v += t;
  for (CeedInt c = 0; c < num_comp; c++) {
    RitzReal sum = 0;
    if (i > 0) sum += restriction_factor(curl_orients[0], is_signed) * u[offsets[-1]];
    sum += restriction_factor(curl_orients[1], is_signed) * u[offsets[0]];
    if (i < size - 1) sum += restriction_factor(curl_orients[2], is_signed) * u[offsets[1]];
    *v = sum;
    u += comp_stride;
    v += n;
  }
}

RITZ_KERNEL(256)
restriction_gather_strided(CeedInt n, CeedInt num_comp, CeedInt first_elem, CeedInt size, CeedInt node_stride,
                           CeedInt comp_stride, CeedInt elem_stride,
                           RITZ_GLOBAL const RitzReal *RITZ_RESTRICT u,
                           RITZ_GLOBAL RitzReal *RITZ_RESTRICT v) {
  RitzLong t = RITZ_ITEM;
  if (t >= n) return;
  CeedInt elem = (CeedInt)t / size, i = (CeedInt)t - elem * size;
  u += (RitzLong)i * node_stride + (RitzLong)(first_elem + elem) * elem_stride;
  v += t;
  for (CeedInt c = 0; c < num_comp; c++) {
    *v = *u;
    u += comp_stride;
    v += n;
  }
}

// Places beyond an element's last point repeat it; those of an element without points are zero.
RITZ_KERNEL(256)
restriction_gather_points(CeedInt n, CeedInt num_comp, CeedInt first_elem, CeedInt size,
                          RITZ_GLOBAL const CeedInt *RITZ_RESTRICT offsets,
                          RITZ_GLOBAL const RitzReal *RITZ_RESTRICT u,
                          RITZ_GLOBAL RitzReal *RITZ_RESTRICT v) {
  RitzLong t = RITZ_ITEM;
  if (t >= n) return;
  CeedInt elem = (CeedInt)t / size, i = (CeedInt)t - elem * size;
  CeedInt begin = offsets[first_elem + elem], num = offsets[first_elem + elem + 1] - begin;
  if (num > 0) u += (RitzLong)offsets[begin + (i < num ? i : num - 1)] * num_comp;
  v += t;
  for (CeedInt c = 0; c < num_comp; c++) {
    *v = num > 0 ? u[c] : 0;
    v += n;
  }
}

// Points without padding: entry (c, t) of the n listed ones at c * n + t.
RITZ_KERNEL(256)
restriction_gather_list(CeedInt n, CeedInt num_comp, CeedInt first,
                        RITZ_GLOBAL const CeedInt *RITZ_RESTRICT list,
                        RITZ_GLOBAL const RitzReal *RITZ_RESTRICT u, RITZ_GLOBAL RitzReal *RITZ_RESTRICT v) {
  RitzLong t = RITZ_ITEM;
  if (t >= n) return;
  u += (RitzLong)list[first + t] * num_comp;
  for (CeedInt c = 0; c < num_comp; c++) v[(RitzLong)c * n + t] = u[c];
}

// ---- Transposed: every node adds its entries ----

// is_distinct: no point is listed twice.
RITZ_KERNEL(256)
restriction_add_list(CeedInt n, CeedInt num_comp, CeedInt first, CeedInt is_distinct,
                     RITZ_GLOBAL const CeedInt *RITZ_RESTRICT list,
                     RITZ_GLOBAL const RitzReal *RITZ_RESTRICT u, RITZ_GLOBAL RitzReal *v) {
  RitzLong t = RITZ_ITEM;
  if (t >= n) return;
  v += (RitzLong)list[first + t] * num_comp;
  for (CeedInt c = 0; c < num_comp; c++) {
    const RitzReal value = u[(RitzLong)c * n + t];
    if (is_distinct) {
      v[c] += value;
    } else {
      ritz_atomic_add(v + c, value);
    }
  }
}

RITZ_KERNEL(256)
restriction_add(CeedInt n, CeedInt num_comp, CeedInt first, CeedInt comp_stride,
                RITZ_GLOBAL const CeedInt *RITZ_RESTRICT offsets,
                RITZ_GLOBAL const CeedInt8 *RITZ_RESTRICT orients,
                RITZ_GLOBAL const RitzReal *RITZ_RESTRICT u, RITZ_GLOBAL RitzReal *v) {
  RitzLong t = RITZ_ITEM;
  if (t >= n) return;
  RitzReal sign = restriction_sign(orients, first + t);
  u += t;
  v += offsets[first + t];
  for (CeedInt c = 0; c < num_comp; c++) {
    ritz_atomic_add(v, sign * *u);
    u += n;
    v += comp_stride;
  }
}

// Components side by side in the L-vector: neighbouring threads add to neighbouring entries.
RITZ_KERNEL(256)
restriction_add_interlaced(CeedInt n, CeedInt num_comp, CeedInt first,
                           RITZ_GLOBAL const CeedInt *RITZ_RESTRICT offsets,
                           RITZ_GLOBAL const CeedInt8 *RITZ_RESTRICT orients,
                           RITZ_GLOBAL const RitzReal *RITZ_RESTRICT u, RITZ_GLOBAL RitzReal *v) {
  RitzLong t = RITZ_ITEM / num_comp;
  if (t >= n) return;
  CeedInt c = (CeedInt)(RITZ_ITEM - t * num_comp);
  RitzReal sign = restriction_sign(orients, first + t);
  ritz_atomic_add(v + offsets[first + t] + c, sign * u[(RitzLong)c * n + t]);
}

RITZ_KERNEL(256)
restriction_add_curl(CeedInt n, CeedInt num_comp, CeedInt first, CeedInt comp_stride, CeedInt size,
                     CeedInt is_signed, RITZ_GLOBAL const CeedInt *RITZ_RESTRICT offsets,
                     RITZ_GLOBAL const CeedInt8 *RITZ_RESTRICT curl_orients,
                     RITZ_GLOBAL const RitzReal *RITZ_RESTRICT u, RITZ_GLOBAL RitzReal *v) {
  RitzLong t = RITZ_ITEM;
  if (t >= n) return;
  CeedInt i = (CeedInt)t % size;
  curl_orients += 3 * (first + t);
  u += t;
  v += offsets[first + t];
  for (CeedInt c = 0; c < num_comp; c++) {
    ritz_atomic_add(v, restriction_curl_column(curl_orients, i, size, is_signed, u));
    u += n;
    v += comp_stride;
  }
}

// is_disjoint: the strides lead every node and component to an entry of its own.
RITZ_KERNEL(256)
restriction_add_strided(CeedInt n, CeedInt num_comp, CeedInt first_elem, CeedInt size, CeedInt node_stride,
                        CeedInt comp_stride, CeedInt elem_stride, CeedInt is_disjoint,
                        RITZ_GLOBAL const RitzReal *RITZ_RESTRICT u, RITZ_GLOBAL RitzReal *v) {
  RitzLong t = RITZ_ITEM;
  if (t >= n) return;
  CeedInt elem = (CeedInt)t / size, i = (CeedInt)t - elem * size;
  u += t;
  v += (RitzLong)i * node_stride + (RitzLong)(first_elem + elem) * elem_stride;
  for (CeedInt c = 0; c < num_comp; c++) {
    if (is_disjoint) {
      *v += *u;
    } else {
      ritz_atomic_add(v, *u);
    }
    u += n;
    v += comp_stride;
  }
}

RITZ_KERNEL(256)
restriction_add_points(CeedInt n, CeedInt num_comp, CeedInt first_elem, CeedInt size,
                       RITZ_GLOBAL const CeedInt *RITZ_RESTRICT offsets,
                       RITZ_GLOBAL const RitzReal *RITZ_RESTRICT u, RITZ_GLOBAL RitzReal *v) {
  RitzLong t = RITZ_ITEM;
  if (t >= n) return;
  CeedInt elem = (CeedInt)t / size, i = (CeedInt)t - elem * size;
  CeedInt begin = offsets[first_elem + elem], num = offsets[first_elem + elem + 1] - begin;
  if (i >= num) return;
  u += t;
  v += (RitzLong)offsets[begin + i] * num_comp;
  for (CeedInt c = 0; c < num_comp; c++) {
    ritz_atomic_add(v + c, *u);
    u += n;
  }
}

// ---- Transposed by a map: every entry of the L-vector collects what belongs to it, in the order of the
// elements ----

// L-node k of the map is at nodes[k] of the L-vector (component 0) and gets the nodes entries[starts[k]] ..
// entries[starts[k + 1] - 1] of the range. Components first_comp .. end_comp - 1.

RITZ_KERNEL(256)
restriction_sum(CeedInt num_nodes, CeedInt first_comp, CeedInt end_comp, CeedInt n, CeedInt first,
                CeedInt comp_stride, RITZ_GLOBAL const RitzLong *RITZ_RESTRICT nodes,
                RITZ_GLOBAL const CeedInt *RITZ_RESTRICT starts,
                RITZ_GLOBAL const CeedInt *RITZ_RESTRICT entries,
                RITZ_GLOBAL const CeedInt8 *RITZ_RESTRICT orients,
                RITZ_GLOBAL const RitzReal *RITZ_RESTRICT u, RITZ_GLOBAL RitzReal *RITZ_RESTRICT v) {
  RitzLong k = RITZ_ITEM;
  if (k >= num_nodes) return;
  CeedInt begin = starts[k], end = starts[k + 1];
  u += (RitzLong)first_comp * n;
  v += nodes[k] + (RitzLong)first_comp * comp_stride;
  for (CeedInt c = first_comp; c < end_comp; c++) {
    RitzReal sum = *v;
    for (CeedInt m = begin; m < end; m++) {
      CeedInt t = entries[m];
      sum += restriction_sign(orients, (RitzLong)first + t) * u[t];
    }
    *v = sum;
    u += n;
    v += comp_stride;
  }
}

RITZ_KERNEL(256)
restriction_sum_curl(CeedInt num_nodes, CeedInt first_comp, CeedInt end_comp, CeedInt n, CeedInt first,
                     CeedInt comp_stride, CeedInt size, CeedInt is_signed,
                     RITZ_GLOBAL const RitzLong *RITZ_RESTRICT nodes,
                     RITZ_GLOBAL const CeedInt *RITZ_RESTRICT starts,
                     RITZ_GLOBAL const CeedInt *RITZ_RESTRICT entries,
                     RITZ_GLOBAL const CeedInt8 *RITZ_RESTRICT curl_orients,
                     RITZ_GLOBAL const RitzReal *RITZ_RESTRICT u, RITZ_GLOBAL RitzReal *RITZ_RESTRICT v) {
  RitzLong k = RITZ_ITEM;
  if (k >= num_nodes) return;
  CeedInt begin = starts[k], end = starts[k + 1];
  u += (RitzLong)first_comp * n;
  v += nodes[k] + (RitzLong)first_comp * comp_stride;
  for (CeedInt c = first_comp; c < end_comp; c++) {
    RitzReal sum = *v;
    for (CeedInt m = begin; m < end; m++) {
      CeedInt t = entries[m];
      sum +=
          restriction_curl_column(curl_orients + 3 * ((RitzLong)first + t), t % size, size, is_signed, u + t);
    }
    *v = sum;
    u += n;
    v += comp_stride;
  }
}

// ---- Element matrices ----

// Lines of element matrices [element][num_comp][..][..], `size` entries each, become T^T x, T being the
// orientations of their element: rows, whose entries lie side by side, or columns, whose entries lie
// num_lines apart.
RITZ_KERNEL(256)
restriction_orient_lines(RitzLong num_items, CeedInt size, CeedInt num_lines, CeedInt num_comp,
                         CeedInt first_elem, CeedInt is_rows, CeedInt is_curl, CeedInt is_signed,
                         RITZ_GLOBAL const CeedInt8 *RITZ_RESTRICT orients, RitzLong place,
                         RITZ_GLOBAL RitzReal *values) {
  const RitzLong t = RITZ_ITEM;
  if (t >= num_items) return;
  const RitzLong matrix = t / num_lines, line = t - matrix * num_lines, stride = is_rows ? 1 : num_lines;
  const RitzLong first = (first_elem + matrix / num_comp) * size;
  RitzReal before = 0, here;
  values += place + matrix * num_lines * size + (is_rows ? line * size : line);
  orients += is_curl ? 3 * first : first;
  here = values[0];
  for (CeedInt i = 0; i < size; i++) {
    const RitzReal after = i < size - 1 ? values[(i + 1) * stride] : 0;
    if (is_curl) {
      RitzReal sum = restriction_factor(orients[3 * i + 1], is_signed) * here;
      if (i > 0) sum += restriction_factor(orients[3 * i - 1], is_signed) * before;
      if (i < size - 1) sum += restriction_factor(orients[3 * i + 3], is_signed) * after;
      values[i * stride] = sum;
    } else if (orients[i]) {
      values[i * stride] = -here;
    }
    before = here;
    here = after;
  }
}

#endif
