# SPDX-License-Identifier: BSD-2-Clause
"""Step 2 of doc/tutorial.md: -div grad u = f on the unit square, u = 0 on its boundary, by conjugate gradients."""
import math

from ritz import DirichletBC, Function, FunctionSpace, UnitSquareMesh, errornorm, solve
from ritz.ufl import SpatialCoordinate, TestFunction, TrialFunction, dx, grad, inner, pi, sin


def poisson(n):
    mesh = UnitSquareMesh(n)
    V = FunctionSpace(mesh, 2)
    x = SpatialCoordinate(mesh)
    solution = x[0]*(1 - x[0])*sin(pi*x[1])
    f = Function(V).interpolate((2 + pi**2*x[0]*(1 - x[0]))*sin(pi*x[1]))

    u, v = TrialFunction(V), TestFunction(V)
    stiffness, b = inner(grad(u), grad(v))*dx, f*v*dx

    uh = Function(V)
    result = solve(stiffness == b, uh, DirichletBC(V, 0, "all"), preconditioner="jacobi")
    error = errornorm(solution, uh)
    print(f"{n:2} x {n:2} elements, {V.dim:4} unknowns: {result.iterations:2} iterations, error {error:.2e}")
    return error


def main():
    order = math.log2(poisson(4)/poisson(8))
    print(f"order {order:.1f}")
    assert order > 2.8  # p + 1 = 3


if __name__ == "__main__":
    main()
