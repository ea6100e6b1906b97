# SPDX-License-Identifier: BSD-2-Clause
"""Operators of Ritz on tensors of PyTorch, without copies: conjugate gradients written in PyTorch.

On a CUDA device where there is one, else on the processor: the program is the same.
"""
import torch

from ritz import *
from ritz.ufl import TestFunction, TrialFunction, dx, grad, inner


def solve_in_torch(n=8, degree=4, rtol=1e-10):
    where = "cuda" if torch.cuda.is_available() else "cpu"
    with device(where):
        V = FunctionSpace(UnitCubeMesh(n), degree)
        u, v = TrialFunction(V), TestFunction(V)
        A = assemble(u*v*dx + 0.01*inner(grad(u), grad(v))*dx)
        inverse = 1/torch.as_tensor(A.diagonal(), device=where)

        b = torch.randn(V.dim, dtype=torch.float64, device=where)
        x, r, Ap, rz = torch.zeros_like(b), b.clone(), torch.empty_like(b), 1.0
        p, iterations = torch.zeros_like(b), 0
        while torch.norm(r) > rtol*torch.norm(b):
            z = inverse*r
            rz, last = torch.dot(r, z), rz
            p = z + rz/last*p
            A.apply(p, out=Ap)  # reads and writes the tensors' memory
            alpha = rz/torch.dot(p, Ap)
            x, r, iterations = x + alpha*p, r - alpha*Ap, iterations + 1

        by_ritz = Vector(V.dim)
        right = Vector(V.dim)
        right.set(b)
        LinearSolver(A, preconditioner="jacobi", rtol=1e-12).solve(right, by_ritz)
        difference = torch.norm(x - torch.from_dlpack(by_ritz))/torch.norm(x)
        return V, x, iterations, float(difference), where


if __name__ == "__main__":
    V, x, iterations, difference, where = solve_in_torch()
    print(f"{V.dim} unknowns on {where}: {iterations} iterations, the difference to Ritz's own solver is {difference:.1e}")
