# SPDX-License-Identifier: BSD-2-Clause
"""The programs of python/examples against known solutions, orders of convergence and conservation, in small sizes."""
from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

import ritz
from ritz import NonlinearProblem

ufl = pytest.importorskip("ufl")
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "examples"))

IS_SINGLE = np.dtype(np.float32) == ritz._core.SCALAR
pytestmark = pytest.mark.skipif(IS_SINGLE, reason="the programs ask for tolerances of double precision")


def order(coarse, fine):
    """Of errors on meshes of which one has elements of half the size."""
    return np.log2(coarse / fine)


def test_poisson():
    from poisson import poisson

    (_, coarse, _), (u, fine, result) = poisson(2, 3), poisson(4, 3)
    assert order(coarse, fine) > 3.8 and result.iterations <= 8
    assert np.isclose(u(0.5, 0.5, 0.5), 1, atol=1e-3)


def test_heat_keeps_its_energy():
    from heat import heat

    temperature, time, balance = heat(degree=1, steps=4)
    assert time == 3 * 5.0 + 20.0  # the third step's length is five, that of the fourth one 20
    assert np.max(np.abs(balance)) < 1e-5 * 30  # of 30 W, by the tolerance of the solver
    assert 20 < temperature.array.min() < temperature.array.max() < 40


def test_elasticity_is_in_equilibrium(tmp_path):
    from elasticity import elasticity

    u, stress, reaction, _ = elasticity(degree=2)
    mesh = u.space.mesh
    outlet = ritz.assemble(ritz.Constant(mesh, 1.0) * ufl.ds("outlet"))
    assert np.allclose(reaction, [0, 0, 2e6 * outlet], atol=1e-4 * 2e6 * outlet)
    assert 20e6 < stress.array.max() < 50e6
    ritz.write_vtu(tmp_path / "elbow.vtu", u, stress)


def test_a_stretched_block_has_the_stretch_of_a_tension_test():
    """Uniaxial tension of the energy of the program: P11 = T, P22 = P33 = 0 give two equations for two stretches."""
    from hyperelasticity import energy

    mu, lmbda, traction = 3.0, 5.0, 2.0
    V = ritz.VectorFunctionSpace(ritz.UnitCubeMesh(2), 2)
    u = ritz.Function(V)
    bcs = [ritz.DirichletBC(V, 0, side, component=c) for c, side in enumerate(("xmin", "ymin", "zmin"))]
    work = energy(u, mu, lmbda) * ufl.dx - traction * u[0] * ufl.ds("xmax")
    result = NonlinearProblem(ufl.derivative(work, u), u, bcs).solve()
    a, b = 1 + u(1.0, 1.0, 1.0)[:2]
    log_j = np.log(a * b**2)
    assert result.converged and np.allclose(u.nodal, u.space.node_coordinates() * [a - 1, b - 1, b - 1], atol=1e-7)
    assert np.isclose(mu * (a - 1 / a) + lmbda * log_j / a, traction, rtol=1e-6)
    assert np.isclose(mu * (b - 1 / b) + lmbda * log_j / b, 0, atol=1e-6)


def test_hyperelasticity():
    from hyperelasticity import hyperelasticity

    u, results = hyperelasticity(n=2, degree=2, steps=3)
    assert len(results) == 3 and all(result.converged for result in results)
    end = u.nodal[u.space.boundary_nodes("xmax")] + u.space.node_coordinates()[u.space.boundary_nodes("xmax")]
    start = u.space.node_coordinates()[u.space.boundary_nodes("xmax")]
    around = [np.linalg.norm(x[:, 1:] - 0.5, axis=1) for x in (start, end)]
    assert np.allclose(*around) and np.allclose(end[:, 0], 1)  # turned, not stretched


def test_stokes():
    from stokes import stokes

    (*_, u2, p2, _), (uh, _, u4, p4, result) = stokes(4, 3), stokes(8, 3)
    assert order(u2, u4) > 3.8 and order(p2, p4) > 2.8 and result.iterations < 40
    assert abs(ritz.assemble(ufl.div(uh) * ufl.dx)) < 1e-12


def test_nonlinear_poisson():
    from nonlinear_poisson import nonlinear_poisson

    (_, coarse, _), (_, fine, result) = nonlinear_poisson(2), nonlinear_poisson(4)
    assert order(coarse, fine) > 3.7 and result.converged


def test_wave_keeps_its_energy():
    from wave import wave

    times = []
    u, energy = wave(degree=3, end=0.3, show=lambda t, u: times.append(t))
    assert np.ptp(energy) < 1e-11 * energy[0] and np.all(np.diff(times) > 0)
    assert np.abs(u.array).max() < 1


def test_gpu_torch():
    pytest.importorskip("torch")
    from gpu_torch import solve_in_torch

    *_, difference, _ = solve_in_torch(n=3, degree=3)
    assert difference < 1e-8


def test_inverse():
    pytest.importorskip("torch")
    from inverse import inverse

    _, error, history = inverse(n=4, degree=2, steps=40)
    assert history[-1] < 2 and error < 0.1  # down to the noise


def test_interior_penalty():
    from dg import interior_penalty

    (_, coarse, _), (_, fine, result) = interior_penalty(4, 2), interior_penalty(8, 2)
    assert order(coarse, fine) > 2.8 and result.converged
