# SPDX-License-Identifier: BSD-2-Clause
"""One program in 1, 2 and 3 processes: the same numbers, errors that end all of them."""
from __future__ import annotations

import os
import shutil
import subprocess
import sys

import numpy as np
import pytest

pytest.importorskip("mpi4py")
pytest.importorskip("ufl")
pytestmark = pytest.mark.skipif(shutil.which("mpirun") is None, reason="no mpirun")

PROGRAM = """
from ritz import *
from ritz.ufl import *
mesh = UnitSquareMesh(6)
V = FunctionSpace(mesh, 3)
u, v, x, uh = TrialFunction(V), TestFunction(V), SpatialCoordinate(mesh), Function(V)
exact = sin(3 * x[0]) * cos(x[1]) + x[1]
bc = DirichletBC(V, exact, ("xmin", "ymax"))
a, L = inner(grad(u), grad(v)) * dx + u * v * ds, -div(grad(exact)) * v * dx
numbers = []
for options in ({}, {"precision": "f32"}, {"preconditioner": "jacobi"}):
    uh.assign(0.0)
    result = solve(a == L, uh, bc, rtol=1e-11, **options)
    numbers += [result.converged, uh.norm(), uh(0.3, 0.4), assemble(uh * dx), assemble(uh**2 * ds)]
w = Function(V)
F = (1 + w**2) * inner(grad(w), grad(v)) * dx - v * dx
numbers += [solve(F == 0, w, DirichletBC(V, 0), rtol=1e-10).converged, w.norm(), w(0.5, 0.5), errornorm(uh, w, "H1")]
A = assemble(a)
y = A.apply(w)
numbers += [y.norm(), mesh.measure, V.global_dim]
write_vtu("u.vtu", w)
print("numbers", *[repr(float(n)) for n in numbers], flush=True)
"""


def run(num: int, program: str, folder) -> subprocess.CompletedProcess[str]:
    """A program in `num` processes."""
    command = ["mpirun", "-n", str(num), sys.executable, "-c", program]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "OMPI_ALLOW_RUN_AS_ROOT": "1",
                   "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1"}
    return subprocess.run(command if num > 1 else command[3:], capture_output=True, text=True, timeout=300, cwd=folder,
                          env=environment)


def numbers_of(done: subprocess.CompletedProcess[str]) -> list[list[float]]:
    assert done.returncode == 0, done.stderr
    return [[float(word) for word in line.split()] for line in done.stdout.split("numbers")[1:]]  # lines may be joined


def test_parts_give_the_numbers_of_the_whole(tmp_path):
    whole = numbers_of(run(1, PROGRAM, tmp_path))[0]
    assert (tmp_path / "u.vtu").exists()
    for num in (2, 3):
        found = numbers_of(run(num, PROGRAM, tmp_path))
        assert len(found) == num and all(numbers == found[0] for numbers in found)
        assert np.allclose(found[0], whole, rtol=1e-7, atol=1e-9)
        assert (tmp_path / "u.pvtu").exists()


def test_an_error_ends_all_processes(tmp_path):
    program = """
from mpi4py import MPI
from ritz import *
mesh = UnitSquareMesh(4)
if MPI.COMM_WORLD.rank == 1:
    raise RuntimeError("of one process")
FunctionSpace(mesh, 2).global_dim
"""
    done = run(2, program, tmp_path)
    assert done.returncode != 0 and "of one process" in done.stderr


def test_what_cannot_be_in_parts_is_refused(tmp_path):
    program = """
from ritz import *
V = FunctionSpace(UnitSquareMesh(4), 2)
A = diffusion(V)
for attempt in (A.tocsr, lambda: Direct(A), lambda: Multigrid(A, DirichletBC(V, 0), cycle="w"),
                lambda: V * V, lambda: FunctionSpace(V.mesh, ("DG", 1))):
    try:
        attempt()
        print("numbers 1")
    except UnsupportedError as error:
        print("numbers 0", flush=True)
"""
    found = numbers_of(run(2, program, tmp_path))
    assert [numbers[0] for numbers in found].count(0.0) >= 8
