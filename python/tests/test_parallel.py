# SPDX-License-Identifier: BSD-2-Clause
"""One program in 1 to 4 processes: the same numbers, errors that end all of them."""
from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("mpi4py")
pytest.importorskip("ufl")
pytestmark = pytest.mark.skipif(shutil.which("mpirun") is None, reason="no mpirun")

TELL = r"""
print("numbers " + " ".join(repr(float(n)) for n in numbers) + "\n", end="", flush=True)
"""
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
"""

EXAMPLES = str(Path(__file__).resolve().parents[1] / "examples")
MIXED = """
from stokes import stokes
from ritz import *
from ritz.ufl import *
uh, ph, error_u, error_p, result = stokes(5, 3)
numbers = [result.iterations, error_u, error_p, uh.norm(), ph(0.2, 0.7), assemble(div(uh)**2*dx)]
mesh = UnitSquareMesh(6)
V, Q = VectorFunctionSpace(mesh, 3), FunctionSpace(mesh, 2)
W = V * Q
n, x, w = FacetNormal(mesh), SpatialCoordinate(mesh), Function(W)
(v, q), (u, p) = TestFunctions(W), split(w)
F = ((1 + p**2) * inner(grad(u), grad(v)) + inner(grad(p), grad(q)) + inner(u, u) * q + p * q) * dx
F += p * dot(v, n) * ds("xmax") - x[1] * q * ds(("ymin", "xmax")) - (x[0] * v[1] + q) * dx
J = derivative(F, w, TrialFunction(W))
bcs = [DirichletBC(W.sub(0), as_vector((x[1], 0.1)), ("xmin", "ymin")), DirichletBC(W.sub(1), 1 + x[0], "ymax")]
result = NonlinearProblem(F, w, bcs, rtol=1e-11, linear={"method": "fgmres", "preconditioner": "jacobi"}).solve()
u, p = w.split()
d = w.copy()
d.array = assemble(J).diagonal()
numbers += [result.converged, w.norm(), W.global_dim, p(0.9, 0.3), errornorm(x[0], p, "H1"), norm(w, "H1"), d.norm(),
            errornorm(as_vector((x[1], 0.1, x[0])), w), assemble(w[2] * w[1] * ds("xmin")), assemble(J).apply(w).norm()]
write_vtu("w.vtu", w)
"""
BOUNDARY = """
from ritz import *
from ritz.ufl import *
V = FunctionSpace(BoxMesh(2, 1), 2)  # two elements: of three parts one has none
u, v, uh = TrialFunction(V), TestFunction(V), Function(V)
solve(inner(grad(u), grad(v)) * dx + u * v * ds("xmax") == v * ds("xmin"), uh, rtol=1e-12)
B = assemble(u * v * ds("xmax"))
numbers = [uh(0.3, 0.5), B.apply(uh).norm(), assemble(uh * ds("xmin"))]
"""


def run(num: int, program: str, folder) -> subprocess.CompletedProcess[str]:
    """A program in `num` processes."""
    command = ["mpirun", "-n", str(num), sys.executable, "-c", program]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "OMPI_ALLOW_RUN_AS_ROOT": "1",
                   "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1",
                   "PYTHONPATH": os.pathsep.join([EXAMPLES, os.environ.get("PYTHONPATH", "")])}
    return subprocess.run(command if num > 1 else command[3:], capture_output=True, text=True, timeout=300, cwd=folder,
                          env=environment)


def numbers_of(done: subprocess.CompletedProcess[str]) -> list[list[float]]:
    assert done.returncode == 0, done.stderr
    return [[float(word) for word in line.split()] for line in done.stdout.split("numbers")[1:]]  # lines may be joined


def test_parts_give_the_numbers_of_the_whole(tmp_path):
    whole = numbers_of(run(1, PROGRAM + TELL, tmp_path))[0]
    assert (tmp_path / "u.vtu").exists()
    for num in (2, 3):
        found = numbers_of(run(num, PROGRAM + TELL, tmp_path))
        assert len(found) == num and all(numbers == found[0] for numbers in found)
        assert np.allclose(found[0], whole, rtol=1e-7, atol=1e-9)
        assert (tmp_path / "u.pvtu").exists()


def test_products_in_parts_give_the_numbers_of_the_whole(tmp_path):
    """Stokes flow by blocks with multigrid; Newton's method, with terms on boundary parts that not all processes have."""
    whole = numbers_of(run(1, MIXED + TELL, tmp_path))[0]
    for num in (2, 3, 4):
        found = numbers_of(run(num, MIXED + TELL, tmp_path))
        assert len(found) == num and all(numbers == found[0] for numbers in found)
        assert abs(found[0][0] - whole[0]) <= 2  # of some 20 iterations
        assert np.allclose(found[0][1:], whole[1:], rtol=1e-7, atol=1e-9)
        assert (tmp_path / "w.pvtu").exists()


def test_boundary_parts_that_not_all_processes_have(tmp_path):
    """-u'' = 0 with flux 1 in at x = 0, u = 1 at x = 1 by its flux: 2 - x."""
    for num in (1, 2, 3):
        for value, load, inflow in numbers_of(run(num, BOUNDARY + TELL, tmp_path)):
            assert np.allclose([value, inflow], [1.7, 2]) and np.isclose(load, np.sqrt(2 / 36 + 16 / 36))


def test_pictures_are_of_the_whole(tmp_path):
    pytest.importorskip("pyvista")
    program = """
from ritz import *
from ritz.plotting import grid
u = Function(FunctionSpace(UnitSquareMesh(4), 2)).interpolate(lambda x: x[0]**2 - x[1])
found = grid(u, subdivisions=0)
if found is not None:
    x = found.points
    numbers = [found.n_cells, abs(found["u"] - x[:, 0]**2 + x[:, 1]).max() < 1e-12, x[:, 0].min(), x[:, 0].max()]
    print("numbers " + " ".join(str(float(n)) for n in numbers))
plot(u, "u.png", size=(80, 60))
with Film("u.gif", size=(80, 60)) as film:
    film.show(0, u)
    film.show(1, u.assign(1.0))
"""
    assert numbers_of(run(2, program, tmp_path)) == [[16, 1, 0, 1]]
    assert (tmp_path / "u.png").exists() and (tmp_path / "u.gif").exists()


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
from ritz.ufl import *
V = FunctionSpace(UnitSquareMesh(4), 2)
A = diffusion(V)
W = V * V
P = assemble(inner(TrialFunction(W), TestFunction(W)) * dx)
for attempt in (A.tocsr, lambda: Direct(A), lambda: Multigrid(A, DirichletBC(V, 0), cycle="w"),
                lambda: FunctionSpace(V.mesh, ("DG", 1)), lambda: Multigrid(P),
                lambda: assemble(avg(TrialFunction(V)) * avg(TestFunction(V)) * dS)):
    try:
        attempt()
        print("numbers 1")
    except UnsupportedError as error:
        print("numbers 0", flush=True)
"""
    found = numbers_of(run(2, program, tmp_path))
    assert [numbers[0] for numbers in found].count(0.0) == 12
