# SPDX-License-Identifier: BSD-2-Clause
"""Operators, linear solvers, preconditioners, Newton's method."""
from __future__ import annotations

import numpy as np
import pytest

import ritz
from ritz import BoxMesh, DirichletBC, Function, FunctionSpace, LinearSolver, Multigrid


def poisson(dim=2, n=4, degree=3):
    """-u'' - .. = f with the solution x(1-x) y(1-y) .., which the space has."""
    V = FunctionSpace(BoxMesh(*[n] * dim), degree)
    exact = Function(V).interpolate(lambda x: np.prod(x * (1 - x), axis=0))
    b = ritz.diffusion(V).apply(exact.vector)
    return V, ritz.diffusion(V), b, DirichletBC(V, 0, "all"), exact


@pytest.mark.parametrize("options", [
    {}, {"precision": "f32"}, {"preconditioner": "jacobi"}, {"preconditioner": None}, {"preconditioner": "direct"},
    {"method": "minres"}, {"method": "gmres"}, {"cycle": "w", "smoother": "element_schwarz"},
    {"smoother": "patches", "method": "fgmres"}, {"hierarchy": "p"},
])
def test_linear_solvers(ctx, options):
    V, A, b, bc, exact = poisson()
    u = Function(V)
    result = LinearSolver(A, bc, rtol=1e-10, **options).solve(b, u)
    assert result.converged and result.iterations == len(result.history) - 1
    assert np.abs(u.array_ro - exact.array_ro).max() < 1e-8
    assert str(result.iterations) in str(result)


def test_multigrid_levels(ctx):
    V, A, b, bc, exact = poisson(3, 4, 4)
    pc = Multigrid(A, bc)
    assert pc.num_levels == 5 and "degree" in pc.view() and pc.is_symmetric
    x = ritz.Vector(V.dim)
    x.array = np.random.default_rng(1).standard_normal(V.dim)
    y = pc.apply(x)
    pc.update()
    assert np.allclose(pc.apply(x).array_ro, y.array_ro, rtol=1e-10, atol=1e-12)


def test_neumann_problem():
    """Without Dirichlet conditions: constants are no part of the solution."""
    V = FunctionSpace(BoxMesh(4, 4), 3)
    A = ritz.diffusion(V)
    exact = Function(V).interpolate(lambda x: x[0] ** 3 - 1.5 * x[0] ** 2)
    b = A.apply(exact.vector)
    one = ritz.Vector(V.dim)
    one.assign(1.0)
    u = Function(V)
    pc = Multigrid(A, nullspace="constants")
    result = LinearSolver(A, preconditioner=pc, nullspace=[one], rtol=1e-10).solve(b, u)
    difference = u.array_ro - exact.array_ro
    assert result.converged and np.ptp(difference) < 1e-8


def test_operator_is_its_matrix(ctx, rng):
    V, A, *_ = poisson()
    x = rng.standard_normal(V.dim)
    matrix = A.tocsr()
    scale = np.abs(matrix).sum(axis=1).max()
    assert np.abs(matrix @ x - A @ x).max() <= 50 * np.finfo(float).eps * scale * np.abs(x).max()
    assert np.abs(matrix.diagonal() - A.diagonal()).max() <= 50 * np.finfo(float).eps * scale
    y = np.empty(V.dim)
    assert A.apply(x, out=y) is y and np.array_equal(y, A @ x)
    u = Function(V)
    u.array = x
    assert isinstance(A @ u, Function) and np.array_equal((A @ u).array_ro, y)
    assert (A @ x[:, None]).shape == (V.dim, 1)


def test_operator_with_scipy():
    linalg = pytest.importorskip("scipy.sparse.linalg")
    V, *_ = poisson()
    A = ritz.operators.GeometryOperator(V, lam=1.0, mu=1.0)
    x, info = linalg.cg(A, np.ones(V.dim), rtol=1e-10)
    assert info == 0 and np.abs(A @ x - 1).max() < 1e-8


def test_looking_inside():
    V, A, *_ = poisson()
    assert "diffusion" in A.explain() and "for" in A.source and repr(A) == f"<ritz.Operator {V.dim} x {V.dim} on /cpu/self>"


def test_misuse(ctx):
    V, A, b, bc, _ = poisson()
    with pytest.raises(ValueError, match=r"shape \(3,\), needed"):
        A @ np.ones(3)
    with pytest.raises(ValueError, match="out is float32"):
        A.apply(np.ones(V.dim), out=np.empty(V.dim, np.float32))
    with pytest.raises(TypeError, match="out is a ndarray"):
        A.apply(b, out=np.empty(V.dim))
    with pytest.raises(ValueError, match="'newton', needed one of cg"):
        LinearSolver(A, bc, method="newton")
    with pytest.raises(ValueError, match="'amg', needed one of multigrid, jacobi, direct"):
        LinearSolver(A, bc, preconditioner="amg")
    with pytest.raises(ValueError, match="'soft', needed one of .*auto"):
        LinearSolver(A, bc, smoother="soft")
    with pytest.raises(ValueError, match="precision 'f16'"):
        LinearSolver(A, bc, precision="f16")
    with pytest.raises(TypeError, match="unknown options smoother"):
        LinearSolver(A, bc, preconditioner=None, smoother="jacobi")
    with pytest.raises(ritz.DimensionError, match="RitzSolverSolve"):
        LinearSolver(A, bc).solve(ritz.Vector(3), Function(V))
    with pytest.raises(ritz.ConvergenceError, match="iteration limit"):
        LinearSolver(A, bc, max_it=1, preconditioner=None).solve(b, Function(V))
    assert LinearSolver(A, bc).solve(b, Function(V)).converged




def test_methods_follow_symmetry():
    """Forms know whether they are symmetric, for all values; Jacobians that are not get FGMRES."""
    ufl = pytest.importorskip("ufl")
    V = FunctionSpace(BoxMesh(6, 6), 2)
    u, v, w = ufl.TrialFunction(V), ufl.TestFunction(V), Function(V)
    grad, inner, dx, ds = ufl.grad, ufl.inner, ufl.dx, ufl.ds
    energy = ufl.sin(w) * inner(grad(w), grad(w)) * dx
    assert ritz.assemble(inner(grad(u), grad(v)) * dx + w * u * v * ds).is_symmetric
    assert ritz.assemble(ufl.derivative(ufl.derivative(energy, w, v), w, u)).is_symmetric
    assert not ritz.assemble(u.dx(0) * v * dx + inner(grad(u), grad(v)) * dx).is_symmetric
    F = (1 + w**2) * inner(grad(w), grad(v)) * dx - 5 * v * dx
    assert not ritz.assemble(ufl.derivative(F, w, u)).is_symmetric
    result = ritz.solve(F == 0, w, DirichletBC(V, 0))  # symmetric at the first guess alone
    assert result.converged and result.history[-1] < 1e-7 * result.history[0]


def coupled(n, is_symmetric=True, **options):
    """Two fields of degrees 3 and 2 that react with each other, on a mesh that was refined twice."""
    ufl = pytest.importorskip("ufl")
    mesh = BoxMesh(n, n).refine(2)
    W = ritz.VectorFunctionSpace(mesh, 3) * FunctionSpace(mesh, 2)
    (u, p), (v, q), x, w = ufl.TrialFunctions(W), ufl.TestFunctions(W), ufl.SpatialCoordinate(mesh), Function(W)
    grad, inner, dx = ufl.grad, ufl.inner, ufl.dx
    a = (inner(ufl.sym(grad(u)), grad(v)) + (1 + x[0]) * inner(grad(p), grad(q)) + inner(u, v) + p * q
         + 0.2 * p * v[0] + (0.2 if is_symmetric else -0.2) * u[0] * q) * dx
    bcs = [DirichletBC(W.sub(0), 0, "xmin"), DirichletBC(W.sub(0), 0, "ymin", component=1),
           DirichletBC(W.sub(1), x[1], "xmax")]
    return w, ritz.solve(a == (v[0] - q) * dx, w, bcs, rtol=1e-10, **options)


def test_multigrid_on_products():
    """All fields at once: as the factors, in steps that do not grow with the mesh; in float; not symmetric."""
    (w, few), (_, many), (exact, _) = coupled(1), coupled(3), coupled(1, preconditioner="direct")
    assert few.iterations <= 8 and many.iterations <= few.iterations + 1
    assert np.abs(w.array_ro - exact.array_ro).max() < 1e-8
    for options in {"precision": "f32", "cycle": "w"}, {"is_symmetric": False, "hierarchy": "p"}:
        assert coupled(1, **options)[1].iterations <= 9


def test_products_of_neumann_problems_have_constants():
    ufl = pytest.importorskip("ufl")
    V = FunctionSpace(BoxMesh(4, 4), 2)
    W = V * V
    (u, p), (v, q), w = ufl.TrialFunctions(W), ufl.TestFunctions(W), Function(W)
    grad, inner = ufl.grad, ufl.inner
    A = ritz.assemble((inner(grad(u), grad(v)) + 2 * inner(grad(p), grad(q)) + inner(grad(u), grad(q)) / 2
                       + inner(grad(p), grad(v)) / 2) * ufl.dx)
    exact = Function(V).interpolate(lambda x: x[0]**2 - x[1])
    constants = []
    for i in 0, 1:
        constants.append(Function(W))
        constants[i].set_sub(i, Function(V).assign(1.0))
        w.set_sub(i, exact)
    b, pc = A.apply(w), Multigrid(A, nullspace="constants")
    w.assign(0.0)
    result = LinearSolver(A, preconditioner=pc, nullspace=[c.vector for c in constants], rtol=1e-10).solve(b, w)
    assert result.iterations <= 8 and all(np.ptp(part.array_ro - exact.array_ro) < 1e-8 for part in w.split())


def test_newton_on_products():
    """Jacobians of coarser meshes have the state, a function of a product, interpolated there."""
    ufl = pytest.importorskip("ufl")
    mesh = BoxMesh(2, 2).refine()
    W = ritz.VectorFunctionSpace(mesh, 2) * FunctionSpace(mesh, 1)
    x, w, (v, q) = ufl.SpatialCoordinate(mesh), Function(W), ufl.TestFunctions(W)
    (u, p), grad, inner = ufl.split(w), ufl.grad, ufl.inner
    F = ((1 + p**2) * inner(grad(u), grad(v)) + (1 + inner(u, u)) * inner(grad(p), grad(q)) + p * q - 3 * q) * ufl.dx
    bcs = [DirichletBC(W.sub(0), ufl.as_vector((x[1], 0.1)), ("xmin", "ymin")), DirichletBC(W.sub(1), 1 + x[0], "ymax")]
    found = []
    for linear in {}, {"preconditioner": "direct"}:
        w.assign(0.0)
        problem = ritz.NonlinearProblem(F, w, bcs, rtol=1e-10, linear=linear)
        found.append((problem.solve(), w.array_ro.copy()))
    (result, values), (by_factors, exact) = found
    assert result.iterations <= by_factors.iterations + 1 and result.linear_iterations <= 5 * result.iterations
    assert np.abs(values - exact).max() < 1e-8
    level = problem.jacobian.on_level(W.on(mesh.coarser))
    level.refresh()
    state = level.bound.place.functions[0].split()[1]
    assert np.allclose(state.array_ro, w.split()[1](state.space.node_coordinates()), atol=1e-12)
