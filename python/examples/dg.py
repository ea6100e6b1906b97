# SPDX-License-Identifier: BSD-2-Clause
"""Interior penalty: Poisson's equation in discontinuous functions, which facets tie together (dS)."""
import sys

from ritz import *
from ritz.ufl import (FacetNormal, SpatialCoordinate, TestFunction, TrialFunction, avg, dS, div, ds, dx, dot, exp, grad,
                      inner, jump)


def interior_penalty(n=8, degree=3, penalty=4):
    mesh = UnitSquareMesh(n)
    V = FunctionSpace(mesh, ("DG", degree))
    u, v, x, nu, uh = TrialFunction(V), TestFunction(V), SpatialCoordinate(mesh), FacetNormal(mesh), Function(V)
    exact = exp(x[0])*x[1]*(2 - x[1])
    eta = Constant(mesh, penalty*degree**2*n)  # by the size of elements, 1/n
    a = inner(grad(u), grad(v))*dx \
        + (eta*inner(jump(u), jump(v)) - inner(dot(avg(grad(u)), nu("+")), jump(v))
           - inner(jump(u), dot(avg(grad(v)), nu("+"))))*dS \
        + (eta*u*v - dot(grad(u), nu)*v - u*dot(grad(v), nu))*ds
    L = -div(grad(exact))*v*dx + (eta*exact*v - exact*dot(grad(v), nu))*ds
    result = solve(a == L, uh, preconditioner="jacobi", rtol=1e-10)
    return uh, errornorm(exact, uh), result


if __name__ == "__main__":
    for n in 4, 8, 16:
        uh, error, result = interior_penalty(n)
        print(f"{n}^2 elements: error {error:.2e}, {result}")
    plot(interior_penalty(3, 1)[0], *sys.argv[1:2], warp=0.3, view=(-1, -2, 1.2))
