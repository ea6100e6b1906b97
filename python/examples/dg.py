# SPDX-License-Identifier: BSD-2-Clause
"""Interior penalty: Poisson's equation in discontinuous functions, which integrals over facets tie together."""
import sys

from ritz import *
from ritz.ufl import (FacetNormal, SpatialCoordinate, TestFunction, TrialFunction, avg, dS, div, ds, dx, dot, exp, grad,
                      inner, jump)


def interior_penalty(n=8, degree=3, penalty=4):
    mesh = UnitSquareMesh(n)

    V = FunctionSpace(mesh, ("DG", degree))

    # `dS` are facets between elements, with `jump` and `avg` of both sides; `ds` takes in boundary values.
    u, v, x, nu, uh = TrialFunction(V), TestFunction(V), SpatialCoordinate(mesh), FacetNormal(mesh), Function(V)
    exact = exp(x[0])*x[1]*(2 - x[1])
    h, eta = FacetHeight(mesh), Constant(mesh, penalty*degree**2)
    a = inner(grad(u), grad(v))*dx \
        + (eta/avg(h)*inner(jump(u), jump(v)) - inner(dot(avg(grad(u)), nu("+")), jump(v))
           - inner(jump(u), dot(avg(grad(v)), nu("+"))))*dS \
        + (eta/h*u*v - dot(grad(u), nu)*v - u*dot(grad(v), nu))*ds
    L = -div(grad(exact))*v*dx + (eta/h*exact*v - exact*dot(grad(v), nu))*ds

    result = solve(a == L, uh, preconditioner="jacobi", rtol=1e-10)

    # The error in L2:
    error = errornorm(exact, uh)
    return uh, error, result


if __name__ == "__main__":
    uh, error, result = interior_penalty(n=3, degree=1)

    # Of degree 3, half the size of elements: 16 times less error.
    for n in 4, 8, 16:
        _, error, result = interior_penalty(n)
        print(f"{n}^2 elements: error {error:.2e}, {result}")

    # Degree 1 on nine elements leaves gaps that can be seen.
    plot(uh, *sys.argv[1:2], warp=0.3, view=(-1, -2, 1.2))
