# SPDX-License-Identifier: BSD-2-Clause
"""Solutions of variational problems as functions that JAX differentiates, and calls back from compiled ones.

    solver = ritz.jax.make_solver(F, u, bcs, conductivity)
    gradient = jax.grad(lambda values: ((solver(values) - data) ** 2).sum())(values)   # one adjoint solve

JAX is to compute in double: jax.config.update("jax_enable_x64", True).
"""
from __future__ import annotations

from typing import Any, Callable, Sequence, cast

import jax
import numpy as np

from ._core import SCALAR, Vector
from .adjoint import Control, Solution
from .bcs import DirichletBC
from .function import Function


def make_solver(F: Any, u: Function, bcs: DirichletBC | Sequence[DirichletBC] | None,
                controls: Control | Sequence[Control], **options: Any) -> Callable[..., Any]:
    """The function of the controls' values [dim] or [shape] that gives u's values [dim]. See ritz.adjoint.Solution."""
    solution = Solution(F, u, bcs, controls, **options)
    shape = jax.ShapeDtypeStruct((u.space.dim,), SCALAR)

    def forward(*values: Any) -> Any:
        return np.array(solution.solve([np.asarray(v) for v in values]).array_ro)

    def backward(found: Any, sensitivity: Any, *values: Any) -> Any:
        state = Vector(u.space.dim, u.ctx)
        state.set(np.asarray(found))
        gradients = solution.gradient([np.asarray(v) for v in values], state, np.asarray(sensitivity))
        return tuple(np.array(g).reshape(v.shape) for g, v in zip(gradients, values))

    def plain(*values: Any) -> Any:
        return jax.pure_callback(forward, shape, *values)

    solver: Any = jax.custom_vjp(plain)

    def solver_forward(*values: Any) -> Any:
        found = solver(*values)
        return found, (found, values)

    def solver_backward(kept: Any, sensitivity: Any) -> Any:
        found, values = kept
        like = tuple(jax.ShapeDtypeStruct(v.shape, v.dtype) for v in values)
        return jax.pure_callback(backward, like, found, sensitivity, *values)

    solver.defvjp(solver_forward, solver_backward)
    return cast(Callable[..., Any], solver)
