# SPDX-License-Identifier: BSD-2-Clause
"""A nonlinear Poisson problem, -div (1 + u^2) grad u = f, by Newton's method; f by UFL from the solution."""
import sys

from ritz import *
from ritz.ufl import SpatialCoordinate, TestFunction, dx, grad, div, inner


def nonlinear_poisson(n=16, degree=3):
    mesh = UnitSquareMesh(n, order=3, map=lambda x, y: (x + 0.1*y*(1 - y), y + 0.15*x*(1 - x)))
    V = FunctionSpace(mesh, degree)
    u, v, x = Function(V), TestFunction(V), SpatialCoordinate(mesh)
    conductivity = lambda u: 1 + u**2
    exact = 1 + x[0]**3 + 2*x[1]**2*x[0]
    f = -div(conductivity(exact)*grad(exact))
    result = solve(conductivity(u)*inner(grad(u), grad(v))*dx - f*v*dx == 0, u, DirichletBC(V, exact, "all"), rtol=1e-12)
    return u, errornorm(exact, u), result


if __name__ == "__main__":
    for n in 4, 8, 16:
        u, error, result = nonlinear_poisson(n)
        print(f"{n}^2 elements: error {error:.2e}, {result}")
    plot(u, *sys.argv[1:2], warp=0.15, view=(-1, -1.5, 1.2))
