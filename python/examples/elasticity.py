# SPDX-License-Identifier: BSD-2-Clause
"""Elasticity: an elbow of a steel pipe from Gmsh (curved hexahedra), held at its inlet, a force on its outlet."""
import sys
from pathlib import Path

from ritz import *
from ritz.ufl import Identity, TestFunction, TrialFunction, dev, dot, ds, dx, grad, inner, sqrt, sym, tr

FILE = Path(__file__).resolve().parents[2] / "examples/meshes/pipe-elbow.msh"


def elasticity(degree=3, traction=(0, 0, -2e6)):
    # Gmsh has named the parts of the boundary.
    mesh = Mesh(FILE)

    V = VectorFunctionSpace(mesh, degree)

    # Hooke's law of steel, in SI units.
    E, nu = 200e9, 0.3
    mu, lmbda = E/(2*(1 + nu)), E*nu/((1 + nu)*(1 - 2*nu))
    eps = lambda w: sym(grad(w))
    sigma = lambda w: 2*mu*eps(w) + lmbda*tr(eps(w))*Identity(3)

    # Multigrid's smoother solves on every element: the wall is thin.
    u, v, uh, t = TrialFunction(V), TestFunction(V), Function(V, "displacement"), Constant(mesh, traction)
    fixed = DirichletBC(V, 0, "inlet")
    result = solve(inner(sigma(u), eps(v))*dx == dot(t, v)*ds("outlet"), uh, fixed, smoother="dense_schwarz")

    # The residual at the nodes of the inlet is the force that holds the pipe there.
    reaction = assemble(inner(sigma(uh), eps(v))*dx).nodal[fixed.nodes].sum(axis=0)

    # Von Mises stress, made continuous by a projection.
    s = dev(sigma(uh))
    mises = project(sqrt(1.5*inner(s, s)), FunctionSpace(mesh, degree))
    return uh, mises, reaction, result


if __name__ == "__main__":
    uh, mises, reaction, result = elasticity()
    print(f"{uh.space.dim} unknowns: {result}\nforce at the inlet: {reaction} N, highest stress: {mises.array.max():.2g} Pa")

    mises.array = mises.array/1e6
    plot(mises, *sys.argv[1:2], cmap="turbo", title="von Mises / MPa", view=(1, -1.5, 0.7))
