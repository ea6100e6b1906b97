# SPDX-License-Identifier: BSD-2-Clause
"""Arrays of other packages, files, gradients by adjoint solves."""
from __future__ import annotations

import numpy as np
import pytest

import ritz
from ritz import BoxMesh, Constant, DirichletBC, Function, FunctionSpace, UnitSquareMesh


def test_dlpack_with_numpy():
    v = ritz.Vector(4)
    v.array = [1, 2, 3, 4]
    view = np.from_dlpack(v)
    assert np.shares_memory(view, v.array) and v.__dlpack_device__() == (1, 0)
    with pytest.raises(AttributeError, match="not on a CUDA device"):
        v.__cuda_array_interface__


def test_torch_tensors(rng):
    torch = pytest.importorskip("torch")
    V = FunctionSpace(BoxMesh(3, 3), 3)
    A = ritz.diffusion(V)
    x = rng.standard_normal(V.dim)
    y = A @ torch.from_numpy(x)
    assert isinstance(y, torch.Tensor) and np.array_equal(y.numpy(), A @ x)
    out = torch.empty(V.dim, dtype=torch.float64)
    assert A.apply(torch.from_numpy(x), out=out) is out and torch.equal(out, y)
    with pytest.raises(ValueError, match="float32"):
        A @ torch.zeros(V.dim)
    with pytest.raises(ValueError, match="contiguous"):
        A @ torch.zeros(2 * V.dim, dtype=torch.float64)[::2]
    v = ritz.Vector(V.dim)
    v.set(y)
    shared = torch.from_dlpack(v)
    shared *= 2
    assert np.array_equal(v.array_ro, 2 * (A @ x))


def test_jax_arrays(rng):
    jax = pytest.importorskip("jax")
    jax.config.update("jax_enable_x64", True)
    V = FunctionSpace(BoxMesh(3, 3), 3)
    A = ritz.diffusion(V)
    x = rng.standard_normal(V.dim)
    y = A @ jax.numpy.asarray(x)
    assert isinstance(y, jax.Array) and np.array_equal(np.asarray(y), A @ x)
    with pytest.raises(ritz.Error, match="cannot be written"):
        A.apply(jax.numpy.asarray(x), out=y)


def test_results_go_into_arrays_that_can_be_written():
    A = ritz.diffusion(FunctionSpace(BoxMesh(2, 2), 1))
    x, out = np.ones(9), np.zeros(9, A.dtype)
    assert A.apply(x, out=out) is out
    x[:] = np.arange(9)  # nothing is borrowed any more: neither array changes the other's result
    assert np.array_equal(A.apply(x, out=np.ones(9, A.dtype)), A @ x) and not np.array_equal(A @ x, out)
    out.flags.writeable = False
    with pytest.raises(ValueError, match="for reading alone"):
        A.apply(x, out=out)


def test_lists_and_strings_are_refused():
    A = ritz.diffusion(FunctionSpace(BoxMesh(2, 2), 1))
    with pytest.raises(ValueError, match="a list, needed an array"):
        A @ list(range(9))
    with pytest.raises(ValueError, match="a str, needed an array"):
        A @ "text"


def controlled_problem():
    """-div((e^k + u^2) grad u) + u d . grad u = c with a function k and constants c, d to be controlled."""
    ufl = pytest.importorskip("ufl")
    mesh = UnitSquareMesh(4)
    V, M = FunctionSpace(mesh, 2), FunctionSpace(mesh, 1)
    u, v, k = Function(V), ufl.TestFunction(V), Function(M)
    c, d = Constant(mesh, 1.0), Constant(mesh, [0.3, 0.2])
    F = ((ufl.exp(k) + u**2) * ufl.inner(ufl.grad(u), ufl.grad(v)) - c * v + u * ufl.dot(d, ufl.grad(u)) * v) * ufl.dx
    options = {"rtol": 1e-13, "linear": {"method": "fgmres", "preconditioner": "jacobi", "rtol": 1e-12}}
    return V, M, (F, u, DirichletBC(V, 0, "all"), [k, c, d]), options


def controls_and_directions(M, rng):
    values = [0.1 * rng.standard_normal(M.dim), np.array(2.0), np.array([0.3, 0.1])]
    return values, [rng.standard_normal(M.dim), np.array(0.7), np.array([1.0, -1.0])]


def test_gradients_of_solutions(rng):
    """Taylor's test: J(m + h dm) - J(m) - h dJ dm is of the order h^2."""
    V, M, problem, options = controlled_problem()
    from ritz.adjoint import Solution

    solution = Solution(*problem, **options)
    weights = rng.standard_normal(V.dim)
    values, directions = controls_and_directions(M, rng)

    def functional(m):
        u = solution.solve(m).array_ro
        return weights @ u + u @ u

    u = solution.solve(values)
    first = functional(values)
    gradients = solution.gradient(values, u, weights + 2 * u.array_ro)
    slope = sum(np.sum(np.asarray(g) * d) for g, d in zip(gradients, directions))
    rest = [abs(functional([m + h * d for m, d in zip(values, directions)]) - first - h * slope) for h in (0.02, 0.01, 0.005)]
    assert 1.8 < np.log2(rest[0] / rest[1]) < 2.2 and 1.8 < np.log2(rest[1] / rest[2]) < 2.2
    with pytest.raises(ValueError, match="1 values, needed one for each of 3"):
        solution.solve(values[:1])


def test_torch_and_jax_have_the_same_gradients(rng):
    torch, jax = pytest.importorskip("torch"), pytest.importorskip("jax")
    import ritz.jax
    import ritz.torch

    jax.config.update("jax_enable_x64", True)
    V, M, problem, options = controlled_problem()
    values, _ = controls_and_directions(M, rng)
    weights = rng.standard_normal(V.dim)
    tensors = [torch.tensor(m, requires_grad=True) for m in values]
    (torch.from_numpy(weights) * ritz.torch.Solver(*problem, **options)(*tensors)).sum().backward()
    solver = ritz.jax.make_solver(*problem, **options)
    gradients = jax.jit(jax.grad(lambda *m: (weights * solver(*m)).sum(), argnums=(0, 1, 2)))(*map(jax.numpy.asarray, values))
    for tensor, gradient in zip(tensors, gradients):
        assert np.allclose(tensor.grad.numpy(), np.asarray(gradient), rtol=1e-8, atol=1e-12)


def test_files(tmp_path):
    V = FunctionSpace(UnitSquareMesh(3), 3)
    u = Function(V, "temperature").interpolate(lambda x: x[0])
    series = ritz.VTUFile(tmp_path / "heat.pvd")
    series.write(0.0, u)
    series.write(0.5, u)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["heat-0000.vtu", "heat-0001.vtu", "heat.pvd"]
    assert (tmp_path / "heat.pvd").read_text().count("DataSet ") == 2
    assert b"temperature" in (tmp_path / "heat-0000.vtu").read_bytes()
    with pytest.raises(ValueError, match="does not come after"):
        series.write(0.5, u)
    with pytest.raises(ValueError, match="does not end in .pvd"):
        ritz.VTUFile(tmp_path / "heat.vtu")
    with pytest.raises(ritz.Error, match="no-such-folder"):
        ritz.write_vtu(tmp_path / "no-such-folder" / "u.vtu", u)
