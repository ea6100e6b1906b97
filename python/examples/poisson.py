# SPDX-License-Identifier: BSD-2-Clause
"""Poisson's equation -div grad u = f on the unit cube, by multigrid, against a known solution."""
import sys

from ritz import *
from ritz.ufl import SpatialCoordinate, TestFunction, TrialFunction, dx, grad, inner, pi, sin


def poisson(n=8, degree=4):
    V = FunctionSpace(UnitCubeMesh(n), degree)
    u, v, x, uh = TrialFunction(V), TestFunction(V), SpatialCoordinate(V.mesh), Function(V)
    exact = sin(pi*x[0])*sin(pi*x[1])*sin(pi*x[2])
    result = solve(inner(grad(u), grad(v))*dx == 3*pi**2*exact*v*dx, uh, DirichletBC(V, 0, "all"))
    return uh, errornorm(exact, uh), result


if __name__ == "__main__":
    for n in 2, 4, 8:
        uh, error, result = poisson(n)
        print(f"{n}^3 elements, {uh.space.dim} unknowns: error {error:.2e}, {result}")
    plot(uh, *sys.argv[1:2], clip="z")
