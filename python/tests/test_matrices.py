# SPDX-License-Identifier: BSD-2-Clause
"""Matrices of forms with conditions, transposed operators, as SciPy uses them."""
from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("ufl")
scipy_sparse = pytest.importorskip("scipy.sparse")

from scipy.sparse.linalg import LinearOperator, aslinearoperator, lsqr, spsolve  # noqa: E402

import ritz  # noqa: E402
from ritz import BoxMesh, DirichletBC, Function, FunctionSpace, assemble  # noqa: E402
from ritz.ufl import (TestFunction, TestFunctions, TrialFunction, TrialFunctions, as_vector, avg, div, dS, ds, dx,  # noqa: E402
                      grad, inner, jump)

EPS = np.finfo(float).eps


def forms(ctx):
    """Bilinear forms that are not symmetric: on one space, with facets, on a product, between two spaces."""
    mesh = BoxMesh(4, 3, upper=(2, 1), ctx=ctx)
    V, D = FunctionSpace(mesh, 3), FunctionSpace(mesh, ("DG", 2))
    wind = as_vector([3, 1])
    u, v = TrialFunction(V), TestFunction(V)
    yield "wind", inner(grad(u), grad(v)) * dx + inner(wind, grad(u)) * v * dx + 2 * u * v * ds("xmin")
    u, v = TrialFunction(D), TestFunction(D)
    yield "facets", u * v * dx + inner(wind, grad(u)) * v * dx + jump(u) * avg(v) * dS
    W = FunctionSpace(mesh, 2, shape=(2,)) * FunctionSpace(mesh, 1)
    (u, p), (v, q) = TrialFunctions(W), TestFunctions(W)
    yield "product", (inner(grad(u), grad(v)) - 2 * p * div(v) + 3 * q * div(u)) * dx
    yield "two spaces", inner(grad(TrialFunction(V)), wind) * TestFunction(D) * dx


NAMES = ["wind", "facets", "product", "two spaces"]


@pytest.mark.parametrize("name", NAMES)
def test_transposed_operator_is_that_of_the_transposed_matrix(ctx, rng, name):
    A = assemble(dict(forms(ctx))[name])
    assert A.T.shape == A.shape[::-1] and A.T is A.T and A.T.T is A and A.T is not A
    x = rng.standard_normal(A.shape[0])
    expected = A.tocsr().T @ x
    assert np.abs(A.T @ x - expected).max() <= 100 * EPS * np.abs(expected).max()  # sums over some 50 entries of a row
    assert np.array_equal(A.rmatvec(x), A.T @ x)


def test_symmetric_operators_are_their_own_transposes(ctx):
    V = FunctionSpace(BoxMesh(3, 3, ctx=ctx), 2)
    for A in (ritz.diffusion(V), assemble(inner(grad(TrialFunction(V)), grad(TestFunction(V))) * dx)):
        assert A.T is A


def test_transposed_operators_follow_their_functions(ctx, rng):
    V = FunctionSpace(BoxMesh(3, 3, ctx=ctx), 2)
    u, v, k = TrialFunction(V), TestFunction(V), Function(V).assign(1.0)
    A = assemble(k * u.dx(0) * v * dx)
    x, y = rng.standard_normal((2, V.dim))
    for value in (1.0, 3.0):
        k.assign(value)
        assert y @ (A @ x) == pytest.approx(x @ (A.T @ y), rel=1e-12)


def test_levels_have_no_transposes():
    V = FunctionSpace(BoxMesh(4, 4), 2)
    A = assemble(TrialFunction(V).dx(0) * TestFunction(V) * dx)
    with pytest.raises(ritz.UnsupportedError, match="neither symmetric nor that of a form"):
        A.on_level(FunctionSpace(V.mesh, 1)).T


def test_scipy_solves_least_squares(ctx, rng):
    """lsqr applies the operator and its transpose."""
    A = assemble(dict(forms(ctx))["wind"])
    x = rng.standard_normal(A.shape[1])
    operator = aslinearoperator(A)
    assert isinstance(operator, LinearOperator)
    found = lsqr(operator, A @ x, atol=1e-13, btol=1e-13, iter_lim=5000)[0]
    assert np.linalg.norm(found - x) < 1e-6 * np.linalg.norm(x)


@pytest.mark.parametrize("name", NAMES[:3])
def test_rows_and_columns_of_conditions_are_those_of_the_identity(ctx, name):
    form = dict(forms(ctx))[name]
    whole = assemble(form, mat_type="csr")
    space = assemble(form).rows
    part = space.sub(0) if name == "product" else space
    bcs = [DirichletBC(part, 1, "xmin"), DirichletBC(part, 0, ("xmin", "ymax"), component=0)]
    fixed = np.unique(np.concatenate([bc.entries for bc in bcs]))
    expected = whole.toarray()
    expected[fixed], expected[:, fixed] = 0, 0
    expected[fixed, fixed] = 1
    found = assemble(form, bcs=bcs, mat_type="csr")
    assert isinstance(found, scipy_sparse.csr_matrix) and found.has_canonical_format
    assert np.array_equal(found.toarray(), expected)
    assert np.array_equal(np.diff(found.indptr)[fixed], np.ones(len(fixed)))


def test_entries_without_elements_are_fixed_too(ctx):
    """Of a form on one side, rows of other nodes are empty before the identity comes in."""
    V = FunctionSpace(BoxMesh(3, 3, ctx=ctx), 2)
    form = TrialFunction(V) * TestFunction(V) * ds("xmin")
    bc = DirichletBC(V, 0, "xmax")
    found = assemble(form, bcs=bc, mat_type="csr")
    assert np.array_equal(found.diagonal()[bc.entries], np.ones(len(bc.entries)))
    assert found.sum() - len(bc.entries) == pytest.approx(1, rel=100 * EPS)


def test_scipy_finds_the_solution_of_solve(ctx):
    V = FunctionSpace(BoxMesh(4, 3, upper=(2, 1), ctx=ctx), 3)
    u, v, expected = TrialFunction(V), TestFunction(V), Function(V)
    a, L = inner(grad(u), grad(v)) * dx, v * dx
    bcs = [DirichletBC(V, lambda x: x[1], "xmin"), DirichletBC(V, 2, "xmax")]
    ritz.solve(a == L, expected, bcs, rtol=1e-12)
    g = Function(V)
    for bc in bcs:
        bc.apply(g.vector)
    b = assemble(L).array - assemble(a) @ g.array
    for bc in bcs:
        b[bc.entries] = g.array[bc.entries]
    found = spsolve(assemble(a, bcs=bcs, mat_type="csr"), b)
    assert np.abs(found - expected.array).max() < 1e-9


def test_what_does_not_fit_is_refused(ctx):
    V = FunctionSpace(BoxMesh(3, 3, ctx=ctx), 2)
    u, v = TrialFunction(V), TestFunction(V)
    bc, other = DirichletBC(V, 0), DirichletBC(FunctionSpace(V.mesh, 1), 0)
    with pytest.raises(ValueError, match="needed 'matfree', 'csr' or 'aij'"):
        assemble(u * v * dx, mat_type="baij")
    with pytest.raises(ValueError, match="solvers take them"):
        assemble(u * v * dx, bcs=bc)
    with pytest.raises(ValueError, match="are for bilinear forms"):
        assemble(v * dx, bcs=bc)
    with pytest.raises(ValueError, match="are for bilinear forms"):
        assemble(v * dx, mat_type="csr")
    with pytest.raises(ValueError, match="a condition on .*degree 1.*, needed one on .*degree 2"):
        assemble(u * v * dx, bcs=other, mat_type="csr")
    with pytest.raises(ValueError, match="two spaces"):
        assemble(dict(forms(ctx))["two spaces"], bcs=bc, mat_type="csr")
