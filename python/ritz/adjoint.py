# SPDX-License-Identifier: BSD-2-Clause
"""Solutions as functions of controls, with gradients by one adjoint solve: what ritz.torch and ritz.jax stand on.

F(u, m; v) = 0 gives u(m). For a functional g(u) with gradient dg/du, the adjoint state l solves
(dF/du)^T l = dg/du, zero at constrained entries, and the gradient by m is -(dF/dm)^T l.
"""
from __future__ import annotations

from typing import Any, Sequence, Union

import numpy as np
import ufl
from numpy.typing import NDArray

from ._core import Vector
from .bcs import DirichletBC, as_list, entries_of
from .function import Constant, Function
from .problems import NonlinearProblem, assemble_number, assemble_operator, assemble_vector
from .solvers import LinearSolver, Result

Control = Union[Function, Constant]


class Solution:
    """u(controls) of F(u, controls; v) = 0, linear or not. Options are those of NonlinearProblem.

    Controls are functions and constants in F; boundary values do not depend on them.
    """

    def __init__(self, F: Any, u: Function, bcs: DirichletBC | Sequence[DirichletBC] | None,
                 controls: Control | Sequence[Control], **options: Any):
        self.u, self.bcs = u, as_list(bcs)
        self.controls: list[Control] = [controls] if isinstance(controls, (Function, Constant)) else list(controls)
        self.problem = NonlinearProblem(F, u, bcs, **options)
        self._state = Function(u.space, "adjoint")
        jacobian = ufl.derivative(F, u, ufl.TrialFunction(u.space))
        self._adjoint_form = ufl.adjoint(jacobian)
        self._options = options.get("linear") or {}
        self._adjoint_solver: LinearSolver | None = None
        weighted = ufl.action(F, self._state)
        self._gradients = [_gradient_form(weighted, control) for control in self.controls]
        self.result: Result | None = None

    def set(self, values: Sequence[Any]) -> None:
        """Gives the controls their values: arrays of any package."""
        if len(values) != len(self.controls):
            raise ValueError(f"Solution: {len(values)} values, needed one for each of {len(self.controls)} controls")
        for control, value in zip(self.controls, values):
            if isinstance(control, Function):
                control.vector.set(value)
            else:
                control.assign(np.asarray(value, float).reshape(control.shape))

    def solve(self, values: Sequence[Any]) -> Vector:
        """The solution's values, a copy."""
        self.set(values)
        self.result = self.problem.solve()
        return self.u.vector.copy()

    def gradient(self, values: Sequence[Any], solution: Vector, sensitivity: Any) -> list[Vector | NDArray[Any]]:
        """Gradients by all controls of a functional whose gradient by the solution's values is `sensitivity`."""
        self.set(values)
        self.u.vector.assign(solution)
        right = Vector(self.u.vector.size, self.u.ctx)
        right.set(sensitivity)
        entries = entries_of(self.bcs)
        if len(entries):
            masked = right.array_ro.copy()
            masked[entries] = 0
            right.array = masked
        operator = assemble_operator(self._adjoint_form)
        if self._adjoint_solver is None:
            self._adjoint_solver = LinearSolver(operator, self.bcs, **{"rtol": 1e-10, **self._options})
        else:
            self._adjoint_solver.update()
        self._state.vector.assign(0.0)
        self._adjoint_solver.solve(right, self._state)
        return [self._gradient_of(forms) for forms in self._gradients]

    @staticmethod
    def _gradient_of(forms: Any) -> Vector | NDArray[Any]:
        if isinstance(forms, ufl.Form):
            gradient = assemble_vector(forms).vector
            gradient.scale(-1.0)
            return gradient
        return -np.array([assemble_number(form) if not form.empty() else 0.0 for form in forms.ravel()]).reshape(forms.shape)


def _gradient_form(functional: Any, control: Control) -> Any:
    """By a function: a form with a test function; by a constant: an array of functionals, one an entry."""
    if isinstance(control, Function):
        return ufl.derivative(functional, control, ufl.TestFunction(control.space))
    variable = ufl.variable(control)
    replaced = ufl.replace(functional, {control: variable})
    forms = np.empty(control.shape, object)
    for index in np.ndindex(*control.shape):
        parts = []
        for integral in replaced.integrals():
            by = ufl.diff(integral.integrand(), variable)
            parts.append(integral.reconstruct(integrand=by[index] if index else by))
        forms[index] = ufl.Form(parts)
    return forms
