# SPDX-License-Identifier: BSD-2-Clause
"""A wave in a disk: explicit steps with a diagonal mass matrix on a mesh from Gmsh; a film on the screen, or in a file."""
import sys
from pathlib import Path

import numpy as np

from ritz import *
from ritz.ufl import TestFunction, TrialFunction, dx, grad, inner

FILE = Path(__file__).resolve().parents[2] / "examples/meshes/disk.msh"


def wave(degree=5, end=2.4, show=lambda t, u: None):
    mesh = Mesh(FILE)

    V = FunctionSpace(mesh, degree)

    # With quadrature at the nodes (Gauss-Lobatto) the mass matrix is diagonal: a step is one apply and NumPy.
    u, v, uh = TrialFunction(V), TestFunction(V), Function(V)
    mass = assemble(u*v*dx(metadata={"quadrature_rule": "GLL", "quadrature_degree": 2*degree - 1})).diagonal()
    A = assemble(inner(grad(u), grad(v))*dx)

    # The largest eigenvalue, by powers, says which steps are stable.
    x = np.random.default_rng(1).normal(size=V.dim)
    for _ in range(50):
        x /= np.linalg.norm(x)
        x = A @ x/mass
    dt = 1.8/np.linalg.norm(x)**0.5

    # At rest at first.
    uh.interpolate(lambda x: np.exp(-60*((x[0] - 0.3)**2 + x[1]**2)))
    new, energy = uh.array, []
    old = new - 0.5*dt**2*(A @ new)/mass

    # Leapfrog keeps an energy.
    for k in range(round(end/dt)):
        old[:], new[:] = new, 2*new - old - dt**2*(A @ new)/mass
        energy.append(0.5*np.sum(mass*(new - old)**2)/dt**2 + 0.5*new @ (A @ old))
        show((k + 1)*dt, uh)
    energy = np.array(energy)
    return uh, energy


if __name__ == "__main__":
    # The picture moves while the wave does: in a window, or in a notebook.
    film = Film(*sys.argv[1:2], interval=0.05, warp=0.5, cmap="RdBu", clim=(-0.4, 0.4), view=(1, -2, 1.6), zoom=1.3,
                size=(500, 320))
    uh, energy = wave(show=film.show)
    film.close()
    print(f"{uh.space.dim} unknowns, {len(energy)} steps: energy is kept to {np.ptp(energy)/energy[0]:.1e}")
