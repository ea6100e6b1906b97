# SPDX-License-Identifier: BSD-2-Clause
"""Step 3 of doc/tutorial.md: -div(k grad u) = f with a conductivity k(x) and given values on the boundary."""
import math

from ritz import DirichletBC, Function, FunctionSpace, UnitSquareMesh, errornorm, solve
from ritz.ufl import SpatialCoordinate, TestFunction, TrialFunction, cos, dx, grad, inner, sin


def conduction(n):
    mesh = UnitSquareMesh(n)
    V = FunctionSpace(mesh, 3)
    # k = 1 + x^2, and f is such that u = sin(x + 2 y).
    u, v, x = TrialFunction(V), TestFunction(V), SpatialCoordinate(mesh)
    s = x[0] + 2*x[1]
    k, f = 1 + x[0]**2, 5*(1 + x[0]**2)*sin(s) - 2*x[0]*cos(s)
    stiffness, load = k*inner(grad(u), grad(v))*dx, f*v*dx

    uh, boundary = Function(V), DirichletBC(V, sin(s), "all")
    result = solve(stiffness == load, uh, boundary, preconditioner="jacobi")
    error = errornorm(sin(s), uh)
    print(f"{n} x {n} elements: {result.iterations:2} iterations, error {error:.1e}")
    return error


def main():
    order = math.log2(conduction(2)/conduction(4))
    print(f"order {order:.1f}")
    assert order > 3.7  # p + 1 = 4


if __name__ == "__main__":
    main()
