# SPDX-License-Identifier: BSD-2-Clause
"""The same with NGSolve: BDDC, static condensation, conjugate gradients, as its documentation has it. Run by peers.py."""
from ngsolve import (H1, BilinearForm, GridFunction, Integrate, LinearForm, Preconditioner, SetNumThreads, dx, grad)
from ngsolve.krylovspace import CGSolver
from ngsolve.meshes import MakeStructured3DMesh

SetNumThreads(1)


def poisson(n=15, degree=4):
    mesh = MakeStructured3DMesh(hexes=True, nx=n, ny=n, nz=n)
    V = H1(mesh, order=degree, dirichlet=".*")
    u, v = V.TnT()
    a = BilinearForm(grad(u)*grad(v)*dx, condense=True)
    f = LinearForm(v*dx)
    c = Preconditioner(a, "bddc")
    a.Assemble()
    f.Assemble()
    uh = GridFunction(V)
    inverse = CGSolver(mat=a.mat, pre=c.mat, tol=1e-8, maxiter=1000, printrates=False)
    f.vec.data += a.harmonic_extension_trans*f.vec
    uh.vec.data = inverse*f.vec
    uh.vec.data += a.harmonic_extension*uh.vec
    uh.vec.data += a.inner_solve*f.vec
    return V.ndof, inverse.iterations, Integrate(uh, mesh)
