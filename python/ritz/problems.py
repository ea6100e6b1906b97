# SPDX-License-Identifier: BSD-2-Clause
"""Variational problems in forms of UFL: solve(a == L, u, bcs), solve(F == 0, u, bcs), and what goes with them."""
from __future__ import annotations

from typing import Any, Callable, Sequence

import ufl

from ._core import ConvergenceError, Vector
from .bcs import DirichletBC, as_list
from .forms import assemble
from .function import Function
from .operators import Operator
from .solvers import LinearSolver, Monitor, NewtonSolver, Result
from .space import AnySpace, FunctionSpace



class LinearProblem:
    """a(u, v) = L(v) with Dirichlet conditions. .solve() gives the Function u, with .result.

    Forms are compiled and the solver is set up once: later solves take functions and constants as they are then.
    Options are those of LinearSolver and its preconditioner.
    """

    def __init__(self, a: Any, L: Any, bcs: DirichletBC | Sequence[DirichletBC] | None = None,
                 u: Function | None = None, **options: Any):
        self.a, self.L, self.bcs, self.options = a, L, as_list(bcs), options
        space: AnySpace = a.arguments()[0].ufl_function_space()
        self.u = u if u is not None else Function(space)
        self.operator = assemble_operator(a)
        self.solver: LinearSolver | None = None
        self._state: tuple[int, ...] = ()
        self.result: Result | None = None

    def solve(self, u: Function | None = None, check_convergence: bool = True) -> Function:
        target = self.u if u is None else u
        b = assemble_vector(self.L) if not _is_zero(self.L) else Function(target.space)
        state = _state_of(self.a)
        if self.solver is None:
            self.solver = LinearSolver(self.operator, self.bcs, **self.options)
        elif state != self._state:
            self.solver.update()
        self._state = state
        for bc in self.bcs:
            bc.apply(target.vector)
        self.result = self.solver.solve(b, target, check_convergence)
        return target


class NonlinearProblem:
    """F(u; v) = 0 with Dirichlet conditions, by Newton's method with multigrid for the Jacobian J.

    J None: derivative(F, u). Options are those of NewtonSolver (rtol, atol, max_it, monitor, forcing) and, in `linear`, of
    LinearSolver. .solve() changes u and returns the Result.
    """

    def __init__(self, F: Any, u: Function, bcs: DirichletBC | Sequence[DirichletBC] | None = None, J: Any = None, *,
                 rtol: float = 1e-8, atol: float = 0.0, max_it: int = 30, monitor: Monitor | None = None,
                 forcing: float = 0.1, linear: dict[str, Any] | None = None):
        self.u, self.bcs = u, as_list(bcs)
        self.J = J if J is not None else ufl.derivative(F, u, ufl.TrialFunction(u.space))
        self.F = F
        self.jacobian = assemble_operator(self.J)
        options = {"max_it": 500, **(linear or {})}
        self.newton = NewtonSolver(u, self._residual, lambda: LinearSolver(self.jacobian, self.bcs, **options), bcs,
                                   rtol=rtol, atol=atol, max_it=max_it, monitor=monitor, forcing=forcing)

    def _residual(self, u: Vector, out: Vector) -> None:
        assemble(self.F, out=Function(self.u.space, vector=out))

    def solve(self, check_convergence: bool = True) -> Result:
        return self.newton.solve(check_convergence)

    def solve_by_loads(self, set_load: Callable[[float], Any], steps: int = 4, smallest: float = 1 / 1024) -> list[Result]:
        """Solves at loads 1/steps, 2/steps, .. 1, which set_load(load) sets; halves a step that diverges."""
        results, load, step = [], 0.0, 1 / steps
        while load < 1 - 1e-12:
            before = self.u.vector.copy()
            set_load(min(1.0, load + step))
            result = self.solve(check_convergence=False)
            if result.converged:
                load, step = min(1.0, load + step), min(2 * step, 1 / steps)
                results.append(result)
                continue
            self.u.vector.assign(before)
            step /= 2
            if step < smallest / steps:
                raise ConvergenceError(f"no solution was found beyond the load {load:.6g}: {result.reason}", result)
        return results


def assemble_operator(form: Any) -> Operator:
    made = assemble(form)
    if not isinstance(made, Operator):
        raise TypeError("the form has no trial function: needed a bilinear one")
    return made


def assemble_vector(form: Any) -> Function:
    made = assemble(form)
    if not isinstance(made, Function):
        raise TypeError("the form is not one with a test function alone: needed a linear one")
    return made


def assemble_number(form: Any) -> float:
    made = assemble(form)
    if not isinstance(made, float):
        raise TypeError("the form has test or trial functions: needed a functional")
    return made


def _is_zero(form: Any) -> bool:
    return isinstance(form, (int, float)) and form == 0 or isinstance(form, ufl.Form) and form.empty()


def _state_of(form: Any) -> tuple[int, ...]:
    """Numbers that change with the values that the form depends on."""
    return (*(f.vector.state for f in form.coefficients()), *(c.version for c in form.constants()))


def solve(equation: Any, u: Function, bcs: DirichletBC | Sequence[DirichletBC] | None = None, J: Any = None,
          **options: Any) -> Result:
    """solve(a == L, u, bcs) or solve(F == 0, u, bcs): u becomes the solution.

    Linear problems take the options of LinearSolver, nonlinear ones those of NonlinearProblem.
    """
    if isinstance(equation.rhs, (int, float)) and len(equation.lhs.arguments()) == 1:
        if equation.rhs != 0:
            raise ValueError(f"solve: F == {equation.rhs}, needed F == 0")
        return NonlinearProblem(equation.lhs, u, bcs, J, **options).solve()
    problem = LinearProblem(equation.lhs, equation.rhs, bcs, u, **options)
    problem.solve()
    assert problem.result is not None
    return problem.result


# ---- Norms and projections ----


def norm(u: Any, kind: str = "L2", mesh: Any = None, quadrature_degree: int | None = None) -> float:
    """The norm of a function or expression: "L2", "H1" or "H10" (gradients alone)."""
    metadata = {} if quadrature_degree is None else {"quadrature_degree": quadrature_degree}
    dx = ufl.dx(domain=mesh if mesh is not None else ufl.domain.extract_unique_domain(u), metadata=metadata)
    terms = {"L2": [u], "H1": [u, ufl.grad(u)], "H10": [ufl.grad(u)]}
    if kind not in terms:
        raise ValueError(f"norm: {kind!r}, needed one of {', '.join(terms)}")
    return float(assemble_number(sum(ufl.inner(t, t) for t in terms[kind]) * dx) ** 0.5)


def errornorm(exact: Any, u: Function, kind: str = "L2", degree_rise: int = 3) -> float:
    """The norm of u - exact, an expression or a function, with quadrature for `degree_rise` degrees more."""
    return norm(u - exact, kind, u.space.mesh, 2 * (u.space.degree + degree_rise))


def project(expression: Any, space: FunctionSpace, bcs: DirichletBC | Sequence[DirichletBC] | None = None,
            rtol: float = 1e-12) -> Function:
    """The function of the space nearest to an expression in the L2 norm."""
    u, v = ufl.TrialFunction(space), ufl.TestFunction(space)
    problem = LinearProblem(ufl.inner(u, v) * ufl.dx, ufl.inner(expression, v) * ufl.dx, bcs,
                            preconditioner="jacobi", rtol=rtol)
    return problem.solve()
