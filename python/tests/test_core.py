# SPDX-License-Identifier: BSD-2-Clause
"""Contexts, lifetimes, arrays, errors, threads, processes."""
from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
import threading

import numpy as np
import pytest

import ritz
from ritz._core import lib


def run(program: str, **environment: str) -> str:
    """The output of a program in a process of its own, which has to succeed."""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120,
                          env={**os.environ, **environment})
    assert done.returncode == 0, done.stderr
    return done.stdout


# ---- Names ----


def test_every_name_is_there():
    for name in ritz.__all__:
        assert getattr(ritz, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'Mseh'"):
        ritz.Mseh


def test_import_does_not_load_ufl():
    out = run("import sys, ritz; ritz.Vector; print('ufl' in sys.modules, 'pyvista' in sys.modules)")
    assert out.split() == ["False", "False"]


def test_without_ufl():
    """Meshes, operators and solvers work; what needs forms says so."""
    program = """
import sys
sys.modules["ufl"] = None
import ritz
V = ritz.FunctionSpace(ritz.UnitSquareMesh(4), 2)
u, bc = ritz.Function(V), ritz.DirichletBC(V, 0)
b = ritz.load_vector(V, ritz.Function(V).assign(1.0))
print(ritz.LinearSolver(ritz.diffusion(V), bc).solve(b, u).converged)
try:
    ritz.solve
except ModuleNotFoundError as error:
    print(error)
"""
    assert run(program).splitlines() == ["True", "ritz.solve needs UFL: pip install 'ritz[ufl]'"]


# ---- Vectors ----


def test_vector_arithmetic(ctx, rng):
    x, y = ritz.Vector(100), ritz.Vector(100)
    a, b = rng.standard_normal(100), rng.standard_normal(100)
    x.array, y.array = a, b
    eps = np.finfo(a.dtype).eps
    assert abs(x.dot(y) - a @ b) <= 100 * eps
    y.axpy(2.0, x)
    y.scale(0.5)
    assert np.allclose(y.array_ro, 0.5 * (b + 2 * a), rtol=4 * eps)
    z = y.copy()
    z.assign(3.0)
    assert z.norm() == pytest.approx(30.0) and y.norm() != z.norm()


def test_views_are_seen(ctx):
    """What is written to a view counts at the next use, and results appear in it."""
    if ctx.lends_copies:
        pytest.skip("no views of this resource's memory")
    v = ritz.Vector(5)
    view = v.array
    before = v.state
    view[:] = [1, 2, 3, 4, 5]
    assert v.state > before
    assert v.norm() ** 2 == pytest.approx(55)
    v.scale(2.0)
    assert list(view) == [2, 4, 6, 8, 10]
    assert v.array is not view and np.shares_memory(v.array, view)
    v.array = 1.0
    assert list(view) == [1] * 5


def test_view_outlives_its_vector(ctx):
    vector = ritz.Vector(1000)
    vector.array = 1.0
    view = vector.array
    del vector
    gc.collect()
    ritz.context().destroy_dropped()
    assert view.sum() == 1000


def test_copies_are_read_only(ctx):
    """Where no view can be had, writing to the copy is an error, not lost."""
    v = ritz.Vector(3)
    v.array = [1, 2, 3]
    if ctx.lends_copies:
        with pytest.raises(ValueError, match="read-only"):
            v.array[0] = 5
    else:
        v.array[0] = 5
    assert v.norm() ** 2 == pytest.approx(14 if ctx.lends_copies else 38)


def test_read_only_view(ctx):
    v = ritz.Vector(3)
    with pytest.raises(ValueError, match="read-only"):
        v.array_ro[0] = 1
    state = v.state
    v.array_ro
    assert v.state == state


def test_state_stays_without_writes(ctx):
    v = ritz.Vector(3)
    v.array = 1.0
    v.h
    state = v.state
    assert v.state == state


# ---- Errors ----


def test_errors_have_the_librarys_message(ctx):
    v = ritz.Vector(3)
    with pytest.raises(ritz.IncompatibleError, match="CeedVectorCopy: ") as caught:
        ctx.call(lib.CeedVectorCopy, v.h, ritz.Vector(4).h)
    assert isinstance(caught.value, ValueError) and caught.value.code == lib.CEED_ERROR_INCOMPATIBLE
    assert v.norm() == 0  # still of use


def test_unknown_resource():
    with pytest.raises(ritz.FailedError, match="No suitable backend: /gpu/none"):
        ritz.Context("/gpu/none")


def test_missing_file():
    with pytest.raises(ritz.Error, match="no-such.msh"):
        ritz.Mesh("no-such.msh")


# ---- Lifetimes ----


def test_nothing_is_left():
    """10^4 objects of each kind: memory of the library is what it was, nothing is destroyed in finalizers."""
    ctx = ritz.Context("/cpu/self")
    with ritz.device(ctx):
        mesh = ritz.UnitSquareMesh(2)
        space = ritz.FunctionSpace(mesh, 1)
        ritz.Function(space)
        ctx.destroy_dropped()
        before = ritz.num_allocations()
        for _ in range(10_000):
            ritz.Function(space)
        for _ in range(100):
            ritz.FunctionSpace(ritz.UnitSquareMesh(2), 2)
        gc.collect()
        ctx.destroy_dropped()
        assert ritz.num_allocations() == before


def test_order_of_destruction_does_not_matter():
    mesh = ritz.UnitSquareMesh(2)
    space = ritz.FunctionSpace(mesh, 2)
    operator = ritz.diffusion(space)
    x = np.ones(space.dim)
    del mesh, space
    gc.collect()
    ritz.context().destroy_dropped()
    assert np.abs(operator @ x).max() < 1e-12


def test_context_goes_with_its_objects():
    out = run("""
import gc, ritz
def work():
    with ritz.device("/cpu/self"):
        V = ritz.FunctionSpace(ritz.UnitSquareMesh(3), 2)
        ritz.diffusion(V).apply(ritz.Function(V))
work()
gc.collect()
print(ritz.num_allocations())
""")
    assert int(out) == 0


# ---- Threads and processes ----


def test_threads_have_contexts_of_their_own():
    found = {}

    def work(i):
        V = ritz.FunctionSpace(ritz.UnitSquareMesh(4), 3)
        A = ritz.diffusion(V)
        x = V.node_coordinates()[:, 0].copy()
        found[i] = ritz.context(), x @ (A @ x)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({id(c) for c, _ in found.values()}) == 4
    assert all(energy == pytest.approx(1.0) for _, energy in found.values())


def test_one_context_in_several_threads():
    """Calls wait for each other; drops of one thread do not disturb another."""
    ctx = ritz.context()
    V = ritz.FunctionSpace(ritz.UnitSquareMesh(4), 3)
    A = ritz.diffusion(V)
    x = V.node_coordinates()[:, 0].copy()
    errors = []

    def work():
        try:
            with ritz.device(ctx):
                for _ in range(50):
                    u = ritz.Function(V)
                    u.array = x
                    assert u.vector.dot(A.apply(u.vector)) == pytest.approx(1.0)
        except BaseException as error:  # to be shown by the test's thread
            errors.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_fork():
    """A child goes on with contexts of CPUs."""
    V = ritz.FunctionSpace(ritz.UnitSquareMesh(4), 2)
    A = ritz.diffusion(V)
    x = V.node_coordinates()[:, 1].copy()
    A @ x
    child = os.fork()
    if child == 0:
        ok = abs(x @ (A @ x) - 1) < 1e-12
        os._exit(0 if ok else 1)
    assert os.waitpid(child, 0)[1] == 0


# ---- Callbacks ----


def _problem():
    V = ritz.FunctionSpace(ritz.UnitSquareMesh(8), 3)
    b = ritz.load_vector(V, ritz.Function(V).assign(1.0))
    return V, ritz.diffusion(V), b, ritz.DirichletBC(V, 0)


def test_exception_in_a_callback_comes_out():
    V, A, b, bc = _problem()

    def monitor(iteration, residual):
        if iteration == 2:
            raise ZeroDivisionError("of the monitor")

    with pytest.raises(ZeroDivisionError, match="of the monitor"):
        ritz.LinearSolver(A, bc, monitor=monitor, preconditioner="jacobi").solve(b, ritz.Function(V))
    assert ritz.LinearSolver(A, bc).solve(b, ritz.Function(V)).converged


def test_monitor_can_stop():
    V, A, b, bc = _problem()
    seen = []
    solver = ritz.LinearSolver(A, bc, preconditioner="jacobi", monitor=lambda i, r: seen.append(r) or i == 3)
    with pytest.raises(ritz.ConvergenceError, match="monitor") as caught:
        solver.solve(b, ritz.Function(V))
    assert caught.value.result.iterations == 3 and len(seen) == 4 == len(caught.value.result.history)


def test_interrupt_ends_a_solve():
    """Ctrl-C during a solve ends it within an iteration, and the library stays usable."""
    V, A, b, bc = _problem()
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # shells have background jobs ignore it

    def monitor(iteration, residual):
        if iteration == 1:
            os.kill(os.getpid(), signal.SIGINT)

    iterations = []
    solver = ritz.LinearSolver(A, bc, preconditioner=None, rtol=1e-30, max_it=10**6,
                               monitor=lambda i, r: iterations.append(i) or monitor(i, r))
    try:
        with pytest.raises(KeyboardInterrupt):
            solver.solve(b, ritz.Function(V))
    finally:
        signal.signal(signal.SIGINT, before)
    assert iterations[-1] <= 3
    assert ritz.LinearSolver(A, bc).solve(b, ritz.Function(V)).converged
