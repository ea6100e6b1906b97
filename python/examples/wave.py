# SPDX-License-Identifier: BSD-2-Clause
"""A wave in a disk from Gmsh, by explicit steps with a diagonal mass matrix: a film on the screen, or in a file.

With quadrature at the nodes (Gauss-Lobatto) the mass matrix is diagonal: a step is one apply and NumPy.
"""
import sys
from pathlib import Path

import numpy as np

from ritz import *
from ritz.ufl import TestFunction, TrialFunction, dx, grad, inner

FILE = Path(__file__).resolve().parents[2] / "examples/meshes/disk.msh"


def wave(degree=5, end=2.4, show=lambda t, u: None):
    V = FunctionSpace(Mesh(FILE), degree)
    u, v, uh = TrialFunction(V), TestFunction(V), Function(V)
    mass = assemble(u*v*dx(metadata={"quadrature_rule": "GLL", "quadrature_degree": 2*degree - 1})).diagonal()
    A = assemble(inner(grad(u), grad(v))*dx)

    x = np.random.default_rng(1).normal(size=V.dim)
    for _ in range(50):  # the largest eigenvalue, by powers, says which steps are stable
        x /= np.linalg.norm(x)
        x = A @ x/mass
    dt, times = 1.8/np.linalg.norm(x)**0.5, []

    uh.interpolate(lambda x: np.exp(-60*((x[0] - 0.3)**2 + x[1]**2)))
    new, energy = uh.array, []
    old = new - 0.5*dt**2*(A @ new)/mass  # at rest at first
    for k in range(round(end/dt)):
        old[:], new[:] = new, 2*new - old - dt**2*(A @ new)/mass
        energy.append(0.5*np.sum(mass*(new - old)**2)/dt**2 + 0.5*new @ (A @ old))
        show((k + 1)*dt, uh)
    return uh, np.array(energy)


if __name__ == "__main__":
    with Film(*sys.argv[1:2], interval=float((sys.argv + [0.05]*2)[2]), warp=0.5, cmap="RdBu", clim=(-0.4, 0.4),
              view=(1, -2, 1.6), zoom=1.3, size=(500, 320)) as film:  # python wave.py wave.gif [time between pictures]
        uh, energy = wave(show=film.show)
    print(f"{uh.space.dim} unknowns, {len(energy)} steps: energy is kept to {np.ptp(energy)/energy[0]:.1e}")
