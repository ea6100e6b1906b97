# SPDX-License-Identifier: BSD-2-Clause
"""On a CUDA device: solves, arrays of PyTorch, CuPy and JAX without copies, streams."""
from __future__ import annotations

import os

import numpy as np
import pytest

import ritz
from ritz import BoxMesh, DirichletBC, Function, FunctionSpace, LinearSolver


def _has_cuda() -> bool:
    try:
        ritz.Context("/gpu/cuda")
        return True
    except ritz.Error:
        return False


pytestmark = pytest.mark.skipif(not _has_cuda(), reason="no CUDA device")


@pytest.fixture
def problem():
    with ritz.device("cuda"):
        V = FunctionSpace(BoxMesh(6, 6, 6), 4)
        yield V, ritz.diffusion(V)


def host_result(x):
    V = FunctionSpace(BoxMesh(6, 6, 6), 4)
    return ritz.diffusion(V) @ x


def close(found, wanted):
    return np.abs(np.asarray(found) - wanted).max() <= 1e-12 * np.abs(wanted).max()


def test_solve(problem):
    V, A = problem
    exact = Function(V).interpolate(lambda x: np.prod(x * (1 - x), axis=0))
    b = A.apply(exact.vector)
    for options in ({}, {"precision": "f32"}, {"smoother": "patches"}):
        u = Function(V)
        result = LinearSolver(A, DirichletBC(V, 0), rtol=1e-10, **options).solve(b, u)
        assert result.converged and np.abs(u.array - exact.array).max() < 1e-9
    assert u(0.5, 0.5, 0.5) == pytest.approx(1 / 64)


def test_forms(problem):
    ufl = pytest.importorskip("ufl")
    V, A = problem
    u, v, w = ufl.TrialFunction(V), ufl.TestFunction(V), Function(V)
    x = np.random.default_rng(1).standard_normal(V.dim)
    assert close(ritz.assemble(ufl.inner(ufl.grad(u), ufl.grad(v)) * ufl.dx) @ x, host_result(x))
    F = (1 + w**2) * ufl.inner(ufl.grad(w), ufl.grad(v)) * ufl.dx - 5 * v * ufl.dx
    assert ritz.solve(F == 0, w, DirichletBC(V, 0)).converged
    assert ritz.assemble(w * ufl.dx) > 0 and ritz.errornorm(ufl.as_ufl(0.0) + w, w) < 1e-12


def test_torch(problem):
    torch = pytest.importorskip("torch")
    V, A = problem
    x = torch.randn(V.dim, device="cuda", dtype=torch.float64)
    y = A @ x
    assert y.is_cuda and close(y.cpu(), host_result(x.cpu().numpy()))
    out = torch.empty_like(x)
    address = out.data_ptr()
    assert A.apply(x, out=out) is out and out.data_ptr() == address
    assert close(out.cpu(), y.cpu().numpy())  # sums of elements come in any order
    v = ritz.Vector(V.dim)
    v.set(x)
    shared = torch.from_dlpack(v)
    shared *= 2
    assert close(v.array, 2 * x.cpu().numpy()) and shared.data_ptr() == v.__cuda_array_interface__["data"][0]
    del shared, v
    y += 1  # memory of a vector that nobody else has
    with pytest.raises(ValueError, match="float32"):
        A @ x.float()


def test_streams(problem):
    torch = pytest.importorskip("torch")
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream), ritz.device("cuda", stream=torch.cuda.current_stream()) as ctx:
        assert ctx.stream == stream.cuda_stream
        V = FunctionSpace(BoxMesh(6, 6, 6), 4)
        A = ritz.diffusion(V)
        x = torch.randn(V.dim, device="cuda", dtype=torch.float64)
        for _ in range(20):
            x = A @ x / 2
        wanted = x.cpu().numpy()
    again = host_result(np.zeros(V.dim))
    assert np.isfinite(wanted).all() and again.shape == wanted.shape


def test_cupy(problem):
    cupy = pytest.importorskip("cupy")
    V, A = problem
    x = cupy.random.standard_normal(V.dim)
    y = A @ x
    assert isinstance(y, cupy.ndarray) and close(y.get(), host_result(x.get()))
    out = cupy.empty(V.dim)
    A.apply(x, out=out)
    assert close(out.get(), y.get())
    other = cupy.cuda.Stream(non_blocking=True)
    with other:
        z = cupy.random.standard_normal(V.dim)
        with pytest.raises(ValueError, match="is written on stream"):
            A @ z


def test_jax(problem):
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
    jax = pytest.importorskip("jax")
    jax.config.update("jax_enable_x64", True)
    V, A = problem
    x = jax.numpy.asarray(np.random.default_rng(3).standard_normal(V.dim))
    assert close(A @ x, host_result(np.asarray(x)))


def test_gradient_by_torch(problem):
    """A functional of the solution and its gradient on the device."""
    torch, ufl = pytest.importorskip("torch"), pytest.importorskip("ufl")
    import ritz.torch

    V, _ = problem
    u, v, k = Function(V), ufl.TestFunction(V), Function(FunctionSpace(V.mesh, 1))
    F = ufl.exp(k) * ufl.inner(ufl.grad(u), ufl.grad(v)) * ufl.dx - v * ufl.dx
    solver = ritz.torch.Solver(F, u, DirichletBC(V, 0), k, rtol=1e-13, linear={"rtol": 1e-13})
    values = torch.zeros(k.space.dim, device="cuda", dtype=torch.float64, requires_grad=True)
    functional = (solver(values) ** 2).sum()
    functional.backward()
    assert values.grad.is_cuda
    direction = torch.randn_like(values.detach())
    slope = float((values.grad * direction).sum())
    with torch.no_grad():
        rest = [abs(float((solver(values + h * direction) ** 2).sum() - functional) - h * slope) for h in (0.02, 0.01)]
    assert 1.8 < np.log2(rest[0] / rest[1]) < 2.2  # Taylor's test
