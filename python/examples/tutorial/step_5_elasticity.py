# SPDX-License-Identifier: BSD-2-Clause
"""Step 5 of doc/tutorial.md: linear elasticity, a beam that is held at one end and drawn down at the other."""
from ritz import BoxMesh, Constant, DirichletBC, Function, VectorFunctionSpace, assemble, solve
from ritz.ufl import Identity, TestFunction, TrialFunction, dot, ds, dx, grad, inner, sym, tr


def main():
    mesh = BoxMesh(4, 1, 1, upper=(8, 1, 1))
    V = VectorFunctionSpace(mesh, 3)

    E, nu = 1000, 0.3
    mu, lmbda = E/(2*(1 + nu)), E*nu/((1 + nu)*(1 - 2*nu))
    eps = lambda w: sym(grad(w))
    sigma = lambda w: 2*mu*eps(w) + lmbda*tr(eps(w))*Identity(3)
    u, v, traction = TrialFunction(V), TestFunction(V), Constant(mesh, (0, 0, -0.1))
    stiffness, load = inner(sigma(u), eps(v))*dx, dot(traction, v)*ds("xmax")

    uh, clamped = Function(V), DirichletBC(V, 0, "xmin")
    solve(stiffness == load, uh, clamped, preconditioner="jacobi", blocks=True)

    residual = assemble(inner(sigma(uh), eps(v))*dx)
    force = residual.nodal[clamped.nodes].sum(axis=0)
    deflection = uh(8, 0.5, 0.5)
    beam = -0.1*(8**3/(3*E/12) + 8/(5/6*mu))
    print(f"force at the clamped end: {force[2]:.4f}")
    print(f"deflection: {deflection[2]:.4f}, of the beam's theory: {beam:.4f}")
    assert abs(force[2] - 0.1) < 1e-4 and abs(deflection[2]/beam - 1) < 0.02


if __name__ == "__main__":
    main()
