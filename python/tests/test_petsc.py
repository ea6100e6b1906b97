# SPDX-License-Identifier: BSD-2-Clause
"""Operators, vectors and preconditioners in programs of petsc4py: what PETSc computes with them is what Ritz computes."""
from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("ufl")
try:
    from petsc4py import PETSc
except (ImportError, ValueError) as error:  # ValueError: it was built for another NumPy
    pytest.skip(f"no petsc4py: {error}", allow_module_level=True)

import ritz  # noqa: E402
import ritz.petsc  # noqa: E402
from ritz import BoxMesh, Constant, DirichletBC, Function, FunctionSpace, assemble  # noqa: E402
from ritz.ufl import TestFunction, TrialFunction, as_vector, div, dx, ds, grad, inner, sym  # noqa: E402

EPS = np.finfo(float).eps


def vec_of(values):
    return PETSc.Vec().createWithArray(np.array(values), comm=PETSc.COMM_SELF)


def problem(ctx, has_wind=False):
    """Diffusion, or with a wind, on a stretched box: form, right-hand side, conditions with values on two sides."""
    V = FunctionSpace(BoxMesh(4, 3, upper=(2, 1), ctx=ctx), 3)
    u, v = TrialFunction(V), TestFunction(V)
    a = inner(grad(u), grad(v)) * dx + u * v * ds("ymax")
    if has_wind:
        a = a + inner(as_vector([3, 1]), grad(u)) * v * dx
    bcs = [DirichletBC(V, lambda x: 1 + x[1], "xmin"), DirichletBC(V, 0, "xmax")]
    return V, a, v * dx, bcs


def is_close(x, y, factor=100):
    """Up to rounding in sums over the entries of a row, some 100 of the size of the largest result."""
    return np.abs(np.asarray(x) - np.asarray(y)).max() <= factor * EPS * max(np.abs(y).max(), 1)


def test_vectors_share_memory(ctx):
    V = FunctionSpace(BoxMesh(3, 2, ctx=ctx), 2)
    u = Function(V).assign(2.0)
    x = ritz.petsc.vec(u)
    assert x.getSize() == V.dim and x.norm() == pytest.approx(u.norm(), rel=4 * EPS)
    x.shift(1.0)
    assert np.all(u.array == 3) and u.norm() == pytest.approx(3 * V.dim**0.5, rel=4 * EPS)
    u.array[:] = 5
    assert x.max()[1] == 5
    del u
    x.scale(2.0)
    assert x.max()[1] == 10  # the memory lives as long as the PETSc.Vec


def test_values_of_devices_are_refused():
    with ritz.device("/cpu/self/check"):
        u = Function(FunctionSpace(BoxMesh(2, 2), 1))
        with pytest.raises(ritz.UnsupportedError, match="/cpu/self/check"):
            ritz.petsc.vec(u)


@pytest.mark.parametrize("has_wind", [False, True])
def test_products_are_those_of_the_assembled_matrix(ctx, rng, has_wind):
    V, a, _, bcs = problem(ctx, has_wind)
    for conditions in ([], bcs):
        M, P = ritz.petsc.mat(assemble(a), conditions), assemble(a, bcs=conditions, mat_type="aij")
        x, y, z = (M.createVecRight() for _ in range(3))
        x.setArray(rng.standard_normal(V.dim))
        for shell, matrix in ((M.mult, P.mult), (M.multTranspose, P.multTranspose)):
            shell(x, y)
            matrix(x, z)
            assert is_close(y.array, z.array)
        assert is_close(M.getDiagonal().array, P.getDiagonal().array)
        assert M.isSymmetricKnown() == (True, not has_wind)


def test_assembled_matrix_of_vectors_has_blocks(ctx):
    V = FunctionSpace(BoxMesh(2, 2, 2, ctx=ctx), 2, shape=(3,))
    u, v = TrialFunction(V), TestFunction(V)
    a = (inner(sym(grad(u)), sym(grad(v))) + div(u) * div(v)) * dx
    P = assemble(a, mat_type="aij")
    assert P.getBlockSize() == 3 and P.getSize() == (V.dim, V.dim)
    x = np.tile([1.0, 2.0, 3.0], V.num_nodes)
    y = P * vec_of(x)
    assert np.abs(y.array).max() <= 100 * EPS * P.norm()  # no energy of translations


@pytest.mark.parametrize("has_wind", [False, True])
@pytest.mark.parametrize("kind", ["multigrid", "jacobi", "by_name", "lu"])
def test_ksp_finds_the_solution_of_solve(ctx, has_wind, kind):
    V, a, L, bcs = problem(ctx, has_wind)
    expected, u = Function(V), Function(V)
    ritz.solve(a == L, expected, bcs, rtol=1e-12)
    A = assemble(a)
    ksp = PETSc.KSP().create(PETSc.COMM_SELF)
    M = ritz.petsc.mat(A, bcs)
    ksp.setOperators(M, assemble(a, bcs=bcs, mat_type="aij") if kind == "lu" else M)
    ksp.setType("gmres" if has_wind else "fcg")
    ksp.setTolerances(rtol=1e-12)
    if kind == "lu":
        ksp.pc.setType("lu")
    else:
        ksp.pc.setType("python")
        if kind == "by_name":
            ksp.pc.setPythonType("ritz.petsc.PC")
        else:
            pc = ritz.Multigrid(A, bcs) if kind == "multigrid" else ritz.Jacobi(A, bcs)
            ksp.pc.setPythonContext(ritz.petsc.PC(pc))
    ksp.solve(ritz.petsc.vec(ritz.petsc.right_hand_side(A, assemble(L), bcs)), ritz.petsc.vec(u))
    assert ksp.getConvergedReason() > 0
    assert ksp.getIterationNumber() < {"lu": 3, "jacobi": 200}.get(kind, 40 if has_wind else 20)
    # Both residuals fell to 1e-12; condition numbers are below 1e4.
    assert np.abs(u.array - expected.array).max() < 1e-8 * np.abs(expected.array).max()


def test_preconditioners_follow_new_values(ctx):
    """After new values of a constant and mat.assemble() a solve takes as few iterations as one from scratch."""
    V = FunctionSpace(BoxMesh(6, 6, ctx=ctx), 2)
    u, v, k = TrialFunction(V), TestFunction(V), Constant(V.mesh, 1.0)
    a = (inner(grad(u), grad(v)) + k * u * v) * dx
    M = ritz.petsc.mat(assemble(a))
    ksp = PETSc.KSP().create(PETSc.COMM_SELF)
    ksp.setOperators(M)
    ksp.setType("cg")
    ksp.pc.setType("python")
    ksp.pc.setPythonType("ritz.petsc.PC")
    ksp.setTolerances(rtol=1e-10)
    b, x = ritz.petsc.vec(assemble(v * dx)), ritz.petsc.vec(Function(V))
    for value in (1.0, 1e6):
        k.assign(value)
        M.assemble()
        ksp.solve(b, x)
        assert ksp.getConvergedReason() > 0 and ksp.getIterationNumber() < 15
        assert np.allclose(x.array, 1 / value, rtol=1e-7)


def test_what_does_not_fit_is_refused(ctx):
    V, a, _, bcs = problem(ctx)
    other = FunctionSpace(BoxMesh(2, 2, ctx=ctx), 1)
    with pytest.raises(ValueError, match="a condition on"):
        ritz.petsc.mat(assemble(a), DirichletBC(other, 0))
    ksp = PETSc.KSP().create(PETSc.COMM_SELF)
    ksp.setOperators(assemble(a, bcs=bcs, mat_type="aij"))
    ksp.pc.setType("python")
    ksp.pc.setPythonType("ritz.petsc.PC")
    with pytest.raises((ValueError, PETSc.Error)):
        ksp.setUp()


def test_objects_may_live_to_the_end_of_the_program(tmp_path):
    from test_package import run

    done = run("""
from petsc4py import PETSc
import ritz, ritz.petsc
V = ritz.FunctionSpace(ritz.UnitSquareMesh(4), 2)
u, M = ritz.Function(V), ritz.petsc.mat(ritz.diffusion(V), ritz.DirichletBC(V, 0))
x, ksp = ritz.petsc.vec(u), PETSc.KSP().create(M.comm)
ksp.setOperators(M)
ksp.pc.setType("python")
ksp.pc.setPythonContext(ritz.petsc.PC())
ksp.setUp()
raise SystemExit(3)
""", tmp_path)
    assert done.returncode == 3, done.stderr


PROGRAM = """
from mpi4py import MPI
from petsc4py import PETSc
import numpy as np
import ritz.petsc
from ritz import *
from ritz.ufl import *
mesh = UnitSquareMesh(6)
V = FunctionSpace(mesh, 3)
u, v = TrialFunction(V), TestFunction(V)
a = inner(grad(u), grad(v)) * dx + inner(as_vector([3, 1]), grad(u)) * v * dx
bcs = [DirichletBC(V, lambda x: x[0], "ymin"), DirichletBC(V, 1, "xmax")]
A, x = assemble(a), Function(V)
M, b = ritz.petsc.mat(A, bcs), ritz.petsc.right_hand_side(A, assemble(v * dx), bcs)
numbers = []
for name in ("jacobi", "python"):
    ksp = PETSc.KSP().create(M.comm)
    ksp.setOperators(M)
    ksp.setType("gmres")
    ksp.setGMRESRestart(200)
    ksp.pc.setType(name)
    if name == "python":
        ksp.pc.setPythonType("ritz.petsc.PC")
    ksp.setTolerances(rtol=1e-11, max_it=200)
    x.assign(0.0)
    ksp.solve(ritz.petsc.vec(b), ritz.petsc.vec(x))
    x.update_ghosts()
    numbers += [ksp.getConvergedReason() > 0, M.getSize()[0], x.norm(), x(0.3, 0.4), assemble(x * dx)]
y, z = M.createVecs()
y.setArray(x.array[:y.getLocalSize()])
M.multTranspose(y, z)
numbers += [z.norm(), M.getDiagonal().sum()]
W = V * FunctionSpace(mesh, 1)
(u, p), (v, q) = TrialFunctions(W), TestFunctions(W)
N = ritz.petsc.mat(assemble((u * v + p * q + 2 * u * q) * dx), DirichletBC(W.sub(1), 0, "xmin"))
y, z = N.createVecs()
y.set(1.0)
N.mult(y, z)
numbers += [N.getSize()[0], z.norm(), z.sum()]
N.multTranspose(y, z)
numbers += [z.norm(), N.getDiagonal().norm()]
for of_part in MPI.COMM_WORLD.gather(numbers) or []:
    print("numbers", *[repr(float(n)) for n in of_part])
"""


def test_parts_give_the_numbers_of_the_whole(tmp_path):
    from test_parallel import numbers_of, run

    whole = numbers_of(run(1, PROGRAM, tmp_path))[0]
    assert np.allclose(whole[:5], whole[5:10], rtol=1e-8)
    found = numbers_of(run(3, PROGRAM, tmp_path))
    assert len(found) == 3 and all(numbers == found[0] for numbers in found)
    assert np.allclose(found[0], whole, rtol=1e-8)
