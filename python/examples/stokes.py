# SPDX-License-Identifier: BSD-2-Clause
"""Stokes flow: Taylor-Hood elements, velocity and pressure in one operator, preconditioned by blocks."""
import sys

from ritz import *
from ritz.ufl import (SpatialCoordinate, TestFunction, TestFunctions, TrialFunction, TrialFunctions, as_vector, cos, div,
                      dx, grad, inner, pi, sin)


def stokes(n=16, degree=3):
    mesh = UnitSquareMesh(n)

    # The pressure has one degree less than the velocity.
    V, Q = VectorFunctionSpace(mesh, degree), FunctionSpace(mesh, degree - 1)
    W = ProductSpace(V, Q)

    # A vortex that is the solution, without a velocity on the boundary.
    (u, p), (v, q), w, x = TrialFunctions(W), TestFunctions(W), Function(W), SpatialCoordinate(mesh)
    exact_u = as_vector((sin(pi*x[0])**2*sin(2*pi*x[1]), -sin(2*pi*x[0])*sin(pi*x[1])**2))
    exact_p = cos(pi*x[0])*cos(pi*x[1])
    f = -div(grad(exact_u)) + grad(exact_p)
    a = (inner(grad(u), grad(v)) - p*div(v) - q*div(u))*dx

    # Preconditioners: multigrid for the velocity, the mass matrix for the pressure, in a lower triangle.
    u1, v1, p1, q1 = TrialFunction(V), TestFunction(V), TrialFunction(Q), TestFunction(Q)
    multigrid = Multigrid(assemble(inner(grad(u1), grad(v1))*dx), DirichletBC(V, 0, "all"))

    # A constant may be added to the pressure.
    blocks = Blocks(assemble(a), [multigrid, Jacobi(assemble(p1*q1*dx))], "lower", factors=(1, -1))
    constant = Function(W)
    constant.set_sub(1, Function(Q).assign(1.0))
    result = solve(a == inner(f, v)*dx, w, DirichletBC(W.sub(0), 0, "all"), method="fgmres", preconditioner=blocks,
                   nullspace=[constant.vector], rtol=1e-10)

    uh, ph = w.split()
    error_u, error_p = errornorm(exact_u, uh), errornorm(exact_p + assemble(ph*dx), ph)
    return uh, ph, error_u, error_p, result


if __name__ == "__main__":
    uh, ph, error_u, error_p, result = stokes()

    # Velocities converge by one order more than the pressure.
    for n in 4, 8, 16:
        _, _, error_u, error_p, result = stokes(n)
        print(f"{n}^2 elements: errors {error_u:.2e} {error_p:.2e}, {result}")

    uh.name = "velocity"
    plot(uh, *sys.argv[1:2])
