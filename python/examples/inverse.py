# SPDX-License-Identifier: BSD-2-Clause
"""An inverse problem by PyTorch: the conductivity of a plate from temperatures that are measured in it."""
import sys

import torch

from ritz import *
from ritz.torch import Solver
from ritz.ufl import TestFunction, dx, exp, grad, inner


def inverse(n=8, degree=3, steps=100, noise=1e-4):
    mesh = UnitSquareMesh(n)

    # `ritz.torch` makes the solution a differentiable function of tensors; a gradient costs one adjoint solve.
    V, M = FunctionSpace(mesh, degree), FunctionSpace(mesh, 1)
    u, v, m, f = Function(V), TestFunction(V), Function(M, "log conductivity"), Constant(mesh, 10.0)
    plate = Solver(exp(m)*inner(grad(u), grad(v))*dx - f*v*dx, u, DirichletBC(V, 0, "all"), m, rtol=1e-10)

    # Temperatures that a known conductivity gives, with noise, are measured at all nodes.
    x = torch.as_tensor(M.node_coordinates().T)
    hill = lambda y, z: torch.exp(-30*((x[0] - y)**2 + (x[1] - z)**2))
    truth = hill(0.35, 0.6) - hill(0.7, 0.3)
    true_u = plate(truth)
    error = torch.randn(V.dim, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    measured = true_u + noise*true_u.max()*error

    # From a constant conductivity, by quasi-Newton steps.
    values = torch.zeros(M.dim, dtype=torch.float64, requires_grad=True)
    optimizer = torch.optim.LBFGS([values], lr=1, max_iter=steps, history_size=20, line_search_fn="strong_wolfe",
                                  tolerance_grad=0, tolerance_change=0)
    history = []

    def misfit():
        optimizer.zero_grad()
        loss = ((plate(values) - measured)**2).mean()/true_u.max()**2/noise**2  # 1: what noise leaves
        loss.backward()
        history.append(loss.item())
        return loss

    optimizer.step(misfit)
    error = float(torch.norm(values.detach() - truth)/torch.norm(truth))
    m.vector.set(values)
    return m, error, history


if __name__ == "__main__":
    m, error, history = inverse()
    print(f"misfit {history[0]:.2e} -> {history[-1]:.2e} in {len(history)} solves; error of the conductivity {error:.1%}")

    plot(m, *sys.argv[1:2], title="log conductivity", cmap="coolwarm")
