# SPDX-License-Identifier: BSD-2-Clause
"""Solutions of variational problems as functions of PyTorch's autograd.

    conductivity = Function(V)                                # the control, in F
    solver = ritz.torch.Solver(F, u, bcs, conductivity)
    values = torch.ones(V.dim, dtype=torch.float64, requires_grad=True)
    misfit = ((solver(values) - data) ** 2).sum()
    misfit.backward()                                         # one adjoint solve; values.grad
"""
from __future__ import annotations

from typing import Any, Sequence

import torch

from ._core import Vector
from .adjoint import Control, Solution
from .bcs import DirichletBC
from .function import Function


class _Solve(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, solution: Solution, *values: Any) -> Any:
        u = solution.solve(values)
        ctx.solution, ctx.u = solution, u
        ctx.save_for_backward(*values)
        return torch.from_dlpack(u).clone()

    @staticmethod
    def backward(ctx: Any, *sensitivities: Any) -> Any:
        values = ctx.saved_tensors
        gradients = ctx.solution.gradient(values, ctx.u, sensitivities[0].contiguous())
        return None, *(_tensor(g, value) for g, value in zip(gradients, values))


def _tensor(gradient: Any, like: Any) -> Any:
    found = torch.from_dlpack(gradient).clone() if isinstance(gradient, Vector) else torch.as_tensor(gradient)
    return found.to(dtype=like.dtype, device=like.device).reshape(like.shape)


class Solver:
    """u(values of the controls) as a tensor, [dim]: differentiable by all of them. See ritz.adjoint.Solution."""

    def __init__(self, F: Any, u: Function, bcs: DirichletBC | Sequence[DirichletBC] | None,
                 controls: Control | Sequence[Control], **options: Any):
        self.solution = Solution(F, u, bcs, controls, **options)

    def __call__(self, *values: Any) -> Any:
        return _Solve.apply(self.solution, *values)


def solve(F: Any, u: Function, bcs: DirichletBC | Sequence[DirichletBC] | None, controls: Control | Sequence[Control],
          *values: Any, **options: Any) -> Any:
    """One solve: Solver(F, u, bcs, controls)(*values)."""
    return Solver(F, u, bcs, controls, **options)(*values)
