# SPDX-License-Identifier: BSD-2-Clause
"""A nonlinear Poisson problem: -div (1 + u^2) grad u = f, by Newton's method; f by UFL from the solution."""
import sys

from ritz import *
from ritz.ufl import SpatialCoordinate, TestFunction, dx, grad, div, inner


def nonlinear_poisson(n=16, degree=3):
    # A square that a function bends.
    mesh = UnitSquareMesh(n, order=3, map=lambda x, y: (x + 0.1*y*(1 - y), y + 0.15*x*(1 - x)))

    V = FunctionSpace(mesh, degree)

    # UFL differentiates the solution.
    u, v, x = Function(V), TestFunction(V), SpatialCoordinate(mesh)
    conductivity = lambda u: 1 + u**2
    exact = 1 + x[0]**3 + 2*x[1]**2*x[0]
    f = -div(conductivity(exact)*grad(exact))
    F = conductivity(u)*inner(grad(u), grad(v))*dx - f*v*dx

    # Newton's method with UFL's derivative of F; boundary values are an expression, too.
    result = solve(F == 0, u, DirichletBC(V, exact, "all"), rtol=1e-12)

    # The error in L2:
    error = errornorm(exact, u)
    return u, error, result


if __name__ == "__main__":
    u, error, result = nonlinear_poisson()

    # Half the size of elements: 2^(degree + 1) times less error, as many steps of Newton's method.
    for n in 4, 8, 16:
        _, error, result = nonlinear_poisson(n)
        print(f"{n}^2 elements: error {error:.2e}, {result}")

    plot(u, *sys.argv[1:2], warp=0.15, view=(-1, -1.5, 1.2))
