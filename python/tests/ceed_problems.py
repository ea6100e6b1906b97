# SPDX-License-Identifier: BSD-2-Clause
"""What tests of ritz.ceed have in common: resources, curved boxes, mass and Laplace operators on them.

Used by test_ceed_*.py; the library's gallery gives the QFunctions.
"""
import itertools
import os
from types import SimpleNamespace

import numpy as np
import pytest

import ritz.ceed as libceed

EPS = float(np.finfo(libceed.SCALAR).eps)
ALL = "/cpu/self/ref,/cpu/self/check,/cpu/self/gen,/gpu/opencl"
RESOURCES = os.environ.get("RITZ_TEST_BACKENDS", ALL).split(",")
VOLUME = 1.2  # of all boxes, in any dimension


def make_ceed(resource):
    """A Ceed, or the test is skipped where the machine has none of this resource."""
    if not any(name.startswith(resource) for name in libceed.registry_list()):
        pytest.skip(f"no {resource} here")
    return libceed.Ceed(resource)


def grid_offsets(dim, n, p):
    """Node numbers [n^dim][(p+1)^dim] of a box of n elements of degree p in each direction, x fastest."""
    side = n * p + 1
    local = sum(np.arange(p + 1).reshape([-1 if d == dim - 1 - a else 1 for d in range(dim)]) * side**a
                for a in range(dim))
    first = [sum(p * e[a] * side**a for a in range(dim)) for e in itertools.product(range(n), repeat=dim)]
    return (np.array(first)[:, None] + local.reshape(1, -1)).astype(np.int32)


def grid_nodes(dim, n, p):
    """Coordinates [dim][nodes] on a curved box of volume 1.2: polynomials of degree 2 with Jacobian 1 + 0.4
    x."""
    points = libceed.lobatto_quadrature(p + 1)[0] / 2 + 0.5
    line = np.unique(np.round(np.concatenate([(e + points) / n for e in range(n)]), 12))
    unit = np.array([a.ravel() for a in np.meshgrid(*[line] * dim, indexing="ij")][::-1])
    curved = unit.copy()
    curved[0] += 0.2 * unit[0] ** 2
    if dim > 1:
        curved[1] += 0.3 * unit[0] ** 2
    if dim > 2:
        curved[2] += 0.1 * unit[0] * unit[1]
    return curved


def random_vector(ceed, size, seed=0):
    vec = ceed.Vector(size)
    vec.set_array(np.random.default_rng(seed).uniform(-1, 1, size))
    return vec


def values(vec):
    with vec.array_read() as array:
        return array.copy()


def make_problem(ceed, dim, n=2, p=2, ncomp=1, kind="Mass", Q=None):
    """Operator `op` of a gallery function (Mass, Poisson) with its parts: set-up, data, restrictions,
    bases."""
    Q, num_elem, num_nodes = Q or p + 2, n**dim, (n * p + 1) ** dim
    s = SimpleNamespace(dim=dim, n=n, p=p, Q=Q, num_nodes=num_nodes, size=ncomp * num_nodes)
    offsets = grid_offsets(dim, n, p)
    mesh_offsets, coordinates = grid_offsets(dim, n, 2), grid_nodes(dim, n, 2)
    num_data = 1 if kind == "Mass" else dim * (dim + 1) // 2
    s.rstr_x = ceed.ElemRestriction(num_elem, 3**dim, dim, coordinates.shape[1], coordinates.size,
                                    mesh_offsets)
    s.rstr_u = ceed.ElemRestriction(num_elem, (p + 1) ** dim, ncomp, num_nodes, s.size, offsets)
    s.rstr_q = ceed.StridedElemRestriction(num_elem, Q**dim, num_data, num_elem * Q**dim * num_data,
                                           libceed.STRIDES_BACKEND)
    s.basis_x = ceed.BasisTensorH1Lagrange(dim, dim, 3, Q, libceed.GAUSS)
    s.basis_u = ceed.BasisTensorH1Lagrange(dim, ncomp, p + 1, Q, libceed.GAUSS)
    s.x, s.qdata = ceed.Vector(coordinates.size), ceed.Vector(num_elem * Q**dim * num_data)
    s.x.set_array(coordinates)
    s.setup = ceed.Operator(ceed.QFunctionByName(f"{kind}{dim}DBuild"))
    s.setup.set_field("dx", s.rstr_x, s.basis_x, libceed.VECTOR_ACTIVE)
    s.setup.set_field("weights", libceed.ELEMRESTRICTION_NONE, s.basis_x, libceed.VECTOR_NONE)
    s.setup.set_field("qdata", s.rstr_q, libceed.BASIS_NONE, libceed.VECTOR_ACTIVE)
    s.setup.apply(s.x, s.qdata)
    vector = "Vector3" if ncomp == 3 else ""
    s.qf = ceed.QFunctionByName(f"{vector}MassApply" if kind == "Mass" else f"{vector}Poisson{dim}DApply")
    s.op = make_operator(ceed, s, s.qf, *(("u", "v") if kind == "Mass" else ("du", "dv")))
    return s


def make_operator(ceed, s, qf, u, v):
    op = ceed.Operator(qf)
    op.set_field(u, s.rstr_u, s.basis_u, libceed.VECTOR_ACTIVE)
    op.set_field("qdata", s.rstr_q, libceed.BASIS_NONE, s.qdata)
    op.set_field(v, s.rstr_u, s.basis_u, libceed.VECTOR_ACTIVE)
    return op


def apply(op, x):
    """op x for an array."""
    num_in, num_out = op.get_active_vector_lengths()
    u, v = op.ceed.Vector(num_in), op.ceed.Vector(num_out)
    u.set_array(x)
    op.apply(u, v)
    return values(v)


def dense(op):
    """The matrix, column by column."""
    return np.array([apply(op, column) for column in np.eye(op.get_active_vector_lengths()[0])]).T
