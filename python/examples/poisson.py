# SPDX-License-Identifier: BSD-2-Clause
"""Poisson's equation: -div grad u = f on the unit cube, by multigrid, against a known solution."""
import sys

from ritz import *
from ritz.ufl import SpatialCoordinate, TestFunction, TrialFunction, dx, grad, inner, pi, sin


def poisson(n=8, degree=4):
    mesh = UnitCubeMesh(n)

    # Continuous functions of the degree in each direction.
    V = FunctionSpace(mesh, degree)

    # The right side is that of a known solution.
    u, v, x, uh = TrialFunction(V), TestFunction(V), SpatialCoordinate(mesh), Function(V)
    exact = sin(pi*x[0])*sin(pi*x[1])*sin(pi*x[2])
    a, L = inner(grad(u), grad(v))*dx, 3*pi**2*exact*v*dx

    # Conjugate gradients with multigrid is what `solve` takes for a symmetric form; no matrix is made. "all" is the whole
    # boundary.
    result = solve(a == L, uh, DirichletBC(V, 0, "all"))

    # The error in L2:
    error = errornorm(exact, uh)
    return uh, error, result


if __name__ == "__main__":
    uh, error, result = poisson()

    # Half the size of elements: 2^(degree + 1) times less error, as many iterations.
    for n in 2, 4, 8:
        u, error, result = poisson(n)
        print(f"{n}^3 elements, {u.space.dim} unknowns: error {error:.2e}, {result}")

    # Half of the cube:
    plot(uh, *sys.argv[1:2], clip="z")
