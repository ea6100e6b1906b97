# SPDX-License-Identifier: BSD-2-Clause
"""Poisson's equation on the unit cube, 15^3 hexahedra of degree 4, with Ritz. Run by peers.py."""
from ritz import *
from ritz.ufl import TestFunction, TrialFunction, dx, grad, inner


def poisson(n=15, degree=4, **options):
    V = FunctionSpace(UnitCubeMesh(n), degree)
    u, v, uh = TrialFunction(V), TestFunction(V), Function(V)
    result = solve(inner(grad(u), grad(v))*dx == v*dx, uh, DirichletBC(V, 0, "all"), rtol=1e-8, **options)
    return V.dim, result.iterations, assemble(uh*dx)
