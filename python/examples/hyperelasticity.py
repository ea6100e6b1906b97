# SPDX-License-Identifier: BSD-2-Clause
"""Hyperelasticity: a neo-Hookean cube, one side held, the other one turned by 60 degrees in steps of the load."""
import sys

import numpy as np

from ritz import *
from ritz.ufl import Identity, derivative, det, dot, ds, dx, grad, ln, tr


# The energy is all that is written down.
def energy(u, mu, lmbda):
    F = Identity(3) + grad(u)
    J = det(F)
    return mu/2*(tr(F.T*F) - 3) - mu*ln(J) + lmbda/2*ln(J)**2


def hyperelasticity(n=6, degree=3, steps=4, angle=np.pi/3):
    mesh = UnitCubeMesh(n)

    V = VectorFunctionSpace(mesh, degree)

    # A weight and a traction, which grow with the load.
    u, E, nu = Function(V, "displacement"), 10.0, 0.3
    load, B, T = Constant(mesh, 0.0), Constant(mesh, (0, -0.5, 0)), Constant(mesh, (0.1, 0, 0))

    # One side is turned about its middle.
    def turned(x):
        c, s, y, z = np.cos(load.value*angle), np.sin(load.value*angle), x[1] - 0.5, x[2] - 0.5
        return 0*y, c*y - s*z - y, s*y + c*z - z

    # Residual and Jacobian are derivatives of the energy; Newton's steps are solved by multigrid on that Jacobian.
    psi = energy(u, E/(2*(1 + nu)), E*nu/((1 + nu)*(1 - 2*nu)))
    problem = NonlinearProblem(derivative(psi*dx - load*dot(B, u)*dx - load*dot(T, u)*ds, u), u,
                               [DirichletBC(V, 0, "xmin"), DirichletBC(V, turned, "xmax")],
                               linear={"smoother": "dense_schwarz"})
    results = problem.solve_by_loads(load.assign, steps)
    return u, results


if __name__ == "__main__":
    u, results = hyperelasticity()
    print(f"{u.space.dim} unknowns", *results, sep="\n")

    plot(u, *sys.argv[1:2], warp=1.0, view=(1, -2, 1))
