# SPDX-License-Identifier: BSD-2-Clause
"""Linear and nonlinear solvers, multigrid and other preconditioners."""
from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any, Callable, Sequence


import numpy as np

from ._core import SCALAR_TYPE, ConvergenceError, Handle, UnsupportedError, Vector, address, check, ffi, lib, text_of
from .bcs import DirichletBC, as_list, constraints_of, entries_of
from .function import Function
from .mesh import Mesh
from .operators import Operator
from .parallel import transport
from .space import FunctionSpace, ProductSpace

_METHODS = {"cg": "CG", "fcg": "FLEXIBLE_CG", "minres": "MINRES", "gmres": "GMRES", "fgmres": "FGMRES",
            "chebyshev": "CHEBYSHEV", "richardson": "RICHARDSON"}


@dataclass
class Result:
    """What a solve has done. history: norms of the residual, one an iteration and one before."""

    converged: bool
    reason: str
    iterations: int
    history: list[float] = field(repr=False)
    seconds: float
    linear_iterations: int = 0  # of nonlinear solves: all together

    def __str__(self) -> str:
        of_linear = f", {self.linear_iterations} linear" if self.linear_iterations else ""
        end = f"|r| {self.history[0]:.2e} -> {self.history[-1]:.2e}" if self.history else "no residual"
        return f"Result({self.reason}: {self.iterations} iterations{of_linear}, {end}, {self.seconds:.3g} s)"

    def _repr_html_(self) -> str:
        from .notebook import result_html

        return result_html(self)


# ---- Preconditioners ----


class Preconditioner:
    """An approximate inverse of an operator on its free entries."""

    def __init__(self, handle: Handle, keep: Any = None):
        self._handle, self.ctx, self._keep = handle, handle.ctx, keep

    @property
    def h(self) -> Any:
        return self._handle.h

    @property
    def is_symmetric(self) -> bool:
        answer = ffi.new("bool *")
        self.ctx.call(lib.RitzPreconditionerIsSymmetric, self.h, answer)
        return bool(answer[0])

    def apply(self, r: Vector, out: Vector | None = None) -> Vector:
        z = Vector(r.size, self.ctx) if out is None else out
        self.ctx.call(lib.RitzPreconditionerApply, self.h, r.h, z.h)
        return z

    def update(self) -> None:
        """Computes again what depends on values of the operators: diagonals, factors, bounds of eigenvalues."""
        self.ctx.call(lib.RitzPreconditionerUpdate, self.h)

    def view(self) -> str:
        return text_of(lambda file: check(lib.RitzPreconditionerView(self.h, file)))

    def __str__(self) -> str:
        return self.view().rstrip()


class Jacobi(Preconditioner):
    """The inverse of the diagonal, or of the blocks of nodes."""

    def __init__(self, operator: Operator, bcs: DirichletBC | Sequence[DirichletBC] | None = None, blocks: bool = False):
        fixed = constraints_of(as_list(bcs), operator.rows)
        if operator.part is not None:
            self._diagonal = Vector(operator.shape[0], operator.ctx)
            self._diagonal.array = operator.diagonal()
            super().__init__(operator.ctx.new("RitzPreconditioner", lib.RitzPreconditionerCreateJacobi, operator.ctx.h,
                                              self._diagonal.h, fixed.h), operator)
            return
        create = lib.RitzPreconditionerCreatePointBlockJacobi if blocks else lib.RitzPreconditionerCreateOperatorJacobi
        super().__init__(operator.ctx.new("RitzPreconditioner", create, operator.h, fixed.h), operator)


class Direct(Preconditioner):
    """The exact inverse: the operator is assembled and factorized."""

    def __init__(self, operator: Operator, bcs: DirichletBC | Sequence[DirichletBC] | None = None, kind: str = "auto"):
        options = ffi.new("RitzDirectOptions *", {"kind": _enum("RITZ_DIRECT_", kind, "Direct"), "for_updates": True})
        if operator.part is not None:
            raise UnsupportedError("Direct: the operator of a problem in parts")
        fixed = constraints_of(as_list(bcs), operator.rows)
        handle = operator.ctx.new("RitzPreconditioner", lib.RitzPreconditionerCreateDirect, operator.h, fixed.h, options)
        super().__init__(handle, operator)


class Multigrid(Preconditioner):
    """A multigrid cycle: degrees p, p/2, .. 1, then coarser meshes; the operator is made anew on every level.

    smoother: auto, jacobi, point_blocks, element_schwarz, dense_schwarz, patches, ...; precision "f32" or "f64" of
    the cycle; nullspace: "constants" for problems without Dirichlet conditions; coarse: the solver of the coarsest
    problem, "umfpack" where the operator is not symmetric. Of products: for definite problems, smoothed by Jacobi;
    all degrees fall together.
    """

    def __init__(self, operator: Operator, bcs: DirichletBC | Sequence[DirichletBC] | None = None, *,
                 smoother: str = "auto", steps: int = 0, cycle: str = "v", precision: str | None = None,
                 hierarchy: str = "auto", max_levels: int = 0, nullspace: str | None = None, coarse: str = "auto",
                 for_updates: bool = True):
        space = max(operator.rows.spaces, key=lambda one: one.degree)
        self.operator, self.ctx, self.space = operator, operator.ctx, space
        self._levels: dict[int, Operator] = {}
        self._meshes: dict[int, Mesh] = {}
        self._exception: BaseException | None = None
        shape = ffi.new("RitzHierarchyOptions *", {"kind": _enum("RITZ_HIERARCHY_", hierarchy, "Multigrid"),
                                                   "max_levels": max_levels})
        self.hierarchy = self.ctx.new("RitzHierarchy", lib.RitzHierarchyCreate, space.h, shape)
        num = ffi.new("CeedInt *")
        self.ctx.call(lib.RitzHierarchyGetNumLevels, self.hierarchy.h, num)
        self.num_levels = int(num[0])
        if nullspace not in (None, "constants"):
            raise ValueError(f"Multigrid: nullspace {nullspace!r}, needed None or 'constants'")
        if isinstance(operator.rows, ProductSpace) and operator.part is not None:
            raise UnsupportedError("Multigrid: an operator on a product of spaces in parts; take Blocks of preconditioners")
        names: list[Any] = []
        fixed = [part for bc in as_list(bcs) for part in bc.fixed_part(names)]
        make_null = lib.ritz_python_null if nullspace else ffi.NULL
        me = ffi.new_handle(self)
        if operator.part is not None:
            if cycle != "v":
                raise UnsupportedError(f"Multigrid: cycle {cycle!r} of a problem in parts, needed 'v'")
            common = {"smoother": _enum("RITZ_SMOOTHER_", smoother, "Multigrid"), "chebyshev": {"degree": steps},
                      "create_nullspace": make_null, "for_updates": for_updates}
            if precision is not None:
                common.update(use_precision=True, precision=_precision(precision))
            self._transport = transport()
            super().__init__(self.ctx.new(
                "RitzPreconditioner", lib.RitzPreconditionerCreatePartMultigrid, self.ctx.h, self.hierarchy.h,
                self._transport.struct, lib.ritz_python_part_level, me, len(fixed), ffi.new("RitzFixedPart[]", fixed),
                ffi.new("RitzPartMultigridOptions *", common)), me)
            return
        options = ffi.new("RitzMultigridOptions *", {
            "smoother": _enum("RITZ_SMOOTHER_", smoother, "Multigrid"), "cycle": _enum("RITZ_CYCLE_", cycle, "Multigrid"),
            "for_updates": for_updates, "chebyshev": {"degree": steps}, "coarse": {"kind": _enum("RITZ_DIRECT_", coarse, "Multigrid"),
                                                                                     "for_updates": for_updates}})
        if precision is not None:
            options.use_precision, options.precision = True, _precision(precision)
        if isinstance(operator.rows, ProductSpace):
            super().__init__(self._of_product(operator.rows, as_list(bcs), nullspace is not None, options))
            return
        handle = self.ctx.new("RitzPreconditioner", lib.RitzPreconditionerCreateMultigridOfHierarchy, self.ctx.h,
                              self.hierarchy.h, lib.ritz_python_level, make_null, me, len(fixed),
                              ffi.new("RitzFixedPart[]", fixed), options)
        super().__init__(handle, me)

    def make_level(self, level: int, space: Any, op: Any) -> None:
        """Called by the library: the operator of a level."""
        if level == self.num_levels - 1:
            self._levels[level] = self.operator
        else:
            mesh, degree = self._mesh_and_degree(space)
            self._levels[level] = self.operator.on_level(
                FunctionSpace(mesh, degree, shape=self.space.shape, handle=self.ctx.adopt("RitzSpace", space)))
        h = self._levels[level].h
        if h:  # else the part has nothing of it
            check(lib.CeedOperatorReferenceCopy(h, op))

    def _of_product(self, product: ProductSpace, bcs: list[DirichletBC], has_null: bool, options: Any) -> Handle:
        precision = options.precision if options.use_precision else SCALAR_TYPE
        levels, keep, below = ffi.new("RitzMultigridLevel[]", self.num_levels), [], None
        for k, space in enumerate(self._product_levels(product)):
            operator = self.operator if space is product else self.operator.on_level(space)
            self._levels[k] = operator
            fixed = constraints_of([bc.on(space) for bc in bcs], space)
            levels[k].op, levels[k].constraints = operator.h, fixed.h
            if below is not None:
                up, down = ffi.new("CeedOperator *"), ffi.new("CeedOperator *")
                self.ctx.call(lib.RitzProductSpaceCreateTransfer, below.h, space.h, self.ctx.h, precision, up, down)
                keep += [Handle(self.ctx, "CeedOperator", up), Handle(self.ctx, "CeedOperator", down)]
                levels[k].prolong, levels[k].restriction = up[0], down[0]
            if has_null:
                constants = _constants_of(space)
                vectors = ffi.new("CeedVector[]", [f.vector.h for f in constants])
                levels[k].num_null, levels[k].null = len(constants), vectors
                keep += [constants, vectors]
            keep.append(fixed)
            below = space
        return self.ctx.new("RitzPreconditioner", lib.RitzPreconditionerCreateMultigrid, self.ctx.h, self.num_levels,
                            levels, options)

    def _product_levels(self, product: ProductSpace) -> list[ProductSpace]:
        """Products of the levels of the space of the highest degree; other degrees are halved where its own falls."""
        h, products = ffi.new("RitzSpace *"), [product]
        highest, degrees = self.space.degree, [space.degree for space in product.spaces]
        for level in range(self.num_levels - 2, -1, -1):
            self.ctx.call(lib.RitzHierarchyGetSpace, self.hierarchy.h, level, h)
            mesh, degree = self._mesh_and_degree(h[0])
            if degree < highest:
                highest, degrees = degree, [(d + 1) // 2 for d in degrees]
            products.append(ProductSpace(*(space.on(mesh, d) for space, d in zip(product.spaces, degrees))))
        return products[::-1]

    def _mesh_and_degree(self, h: Any) -> tuple[Mesh, int]:
        """Of a level's space, with one Mesh object for all levels of a mesh."""
        mesh, degree = ffi.new("RitzMesh *"), ffi.new("CeedInt *")
        check(lib.RitzSpaceGetMesh(h, mesh))
        check(lib.RitzSpaceGetDegree(h, degree))
        known: Mesh | None = self.space.mesh
        while known is not None and known.h != mesh[0]:
            known = known.coarser
        if known is None:
            raise RuntimeError("Multigrid: a level lives on a mesh that the finest one does not refine")
        return known, int(degree[0])

    def make_nullspace(self, level: int, space: Any) -> list[Vector]:
        """Called by the library: constants, one a component."""
        num = self.space.num_components
        size = ffi.new("CeedSize *")
        check(lib.RitzSpaceGetSize(space, size))
        return [_constant_component(size[0], c, num, self) for c in range(num)]

    def update(self) -> None:
        for operator in self._levels.values():
            operator.refresh()
        super().update()

    def view(self) -> str:
        return text_of(lambda file: check(lib.RitzPreconditionerViewLevels(self.h, file)))

    def _repr_html_(self) -> str:
        from .notebook import multigrid_html

        return multigrid_html(self)


def _constant_component(size: int, c: int, num: int, pc: Preconditioner) -> Vector:
    values = np.zeros(size)
    values[c::num] = 1
    vector = Vector(size, pc.ctx)
    vector.array = values
    return vector


def _constants_of(product: ProductSpace) -> list[Function]:
    """Functions that are one in a component, one for each component of each space."""
    found = []
    for i, space in enumerate(product.spaces):
        for values in np.eye(space.num_components):
            whole = Function(product)
            whole.set_sub(i, Function(space).interpolate(values))
            found.append(whole)
    return found


class Blocks(Preconditioner):
    """Preconditioners of the spaces of a product, one a space: kind diagonal, lower, upper, symmetric.

    factors: of each block; negative for a Schur complement that is negative definite.
    """

    def __init__(self, operator: Operator, blocks: Sequence[Preconditioner], kind: str = "diagonal",
                 factors: Sequence[float] | None = None):
        factors = factors or [1.0] * len(blocks)
        list_of = ffi.new("RitzBlock[]", [{"inverse": pc.h, "factor": f} for pc, f in zip(blocks, factors)])
        number, ctx = _enum("RITZ_BLOCKS_", kind, "Blocks"), operator.ctx
        if operator.part is not None:
            handle = ctx.new("RitzPreconditioner", lib.RitzPreconditionerCreatePartBlocks, ctx.h, operator.rows.h, list_of,
                             number, operator.part.h)
        else:
            options = ffi.new("RitzBlocksOptions *", {"kind": number, "op": operator.h})
            handle = ctx.new("RitzPreconditioner", lib.RitzPreconditionerCreateBlocks, ctx.h, len(blocks), list_of, options)
        super().__init__(handle, (operator, list(blocks)))

    def update(self) -> None:
        for pc in self._keep[1]:
            pc.update()


def _enum(prefix: str, name: str, call: str) -> int:
    """The enumerator of a name, such as RITZ_CYCLE_V of "v"."""
    value = getattr(lib, prefix + name.upper().replace("-", "_"), None)
    if value is None:
        names = sorted(found[len(prefix):].lower() for found in dir(lib) if found.startswith(prefix))
        raise ValueError(f"{call}: {name!r}, needed one of {', '.join(names)}")
    return int(value)


def _precision(name: str) -> int:
    known = {"f32": lib.CEED_SCALAR_FP32, "f64": lib.CEED_SCALAR_FP64}
    if name not in known:
        raise ValueError(f"precision {name!r}, needed 'f32' or 'f64'")
    return int(known[name])


# ---- Linear solvers ----

Monitor = Callable[[int, float], Any]


class LinearSolver:
    """Solves A x = b with the values of x at constrained entries kept.

    method: cg, fcg, minres, gmres, fgmres, chebyshev, richardson; None: cg or fcg, as the preconditioner asks,
    fgmres where the operator is not symmetric.
    preconditioner: "multigrid", "jacobi", "direct", None or an object.
    """

    def __init__(self, operator: Operator, bcs: DirichletBC | Sequence[DirichletBC] | None = None, *,
                 method: str | None = None, preconditioner: str | Preconditioner | None = "multigrid",
                 rtol: float = 1e-8, atol: float = 0.0, max_it: int = 10000, monitor: Monitor | None = None,
                 nullspace: Sequence[Vector] = (), **options: Any):
        self.operator, self.ctx, self._monitor = operator, operator.ctx, monitor
        self.bcs = as_list(bcs)
        self.preconditioner = self._make_preconditioner(preconditioner, options)
        if method is None:
            is_fixed = self.preconditioner is None or self.preconditioner.is_symmetric
            method = "fgmres" if not operator.is_symmetric else "cg" if is_fixed else "fcg"
        if method not in _METHODS:
            raise ValueError(f"LinearSolver: method {method!r}, needed one of {', '.join(_METHODS)}")
        kind = getattr(lib, "RITZ_SOLVER_" + _METHODS[method])
        self._handle = self.ctx.new("RitzSolver", lib.RitzSolverCreate, self.ctx.h, kind)
        self.history: list[float] = []
        self._me = ffi.new_handle(self)
        entries = entries_of(self.bcs)
        call = self.ctx.call
        if operator.part is None:
            call(lib.RitzSolverSetOperator, self.h, operator.h)
            call(lib.RitzSolverSetConstraints, self.h, len(entries), address(entries, "int64_t"))
        else:
            self._fixed = constraints_of(self.bcs, operator.rows)
            call(lib.RitzSolverSetPartOperator, self.h, operator.part.h, self._fixed.h)
        call(lib.RitzSolverSetTolerances, self.h, rtol, atol, max_it)
        call(lib.RitzSolverSetMonitor, self.h, lib.ritz_python_monitor, self._me)
        if self.preconditioner is not None:
            call(lib.RitzSolverSetPreconditioner, self.h, self.preconditioner.h)
        if nullspace:
            call(lib.RitzSolverSetNullspace, self.h, len(nullspace), ffi.new("CeedVector[]", [v.h for v in nullspace]))

    @property
    def h(self) -> Any:
        return self._handle.h

    def _make_preconditioner(self, which: str | Preconditioner | None, options: dict[str, Any]) -> Preconditioner | None:
        makers: dict[str, Callable[..., Preconditioner]] = {"multigrid": Multigrid, "jacobi": Jacobi, "direct": Direct}
        if isinstance(which, str):
            if which not in makers:
                raise ValueError(f"LinearSolver: preconditioner {which!r}, needed one of {', '.join(makers)}")
            return makers[which](self.operator, self.bcs, **options)
        if options:
            raise TypeError(f"LinearSolver: unknown options {', '.join(options)}")
        return which

    def monitor(self, iteration: int, residual: float) -> bool:
        """Called by the library before the first and after each iteration; True ends the solve."""
        self.history.append(residual)
        return bool(self._monitor(iteration, residual)) if self._monitor is not None else False

    def update(self) -> None:
        """After new values of the operator's functions: the preconditioner follows."""
        self.operator.refresh()
        if self.preconditioner is not None:
            self.preconditioner.update()

    def solve(self, b: Vector | Function, x: Vector | Function, check_convergence: bool = True) -> Result:
        """x := the solution, from the guess in x. Not converging is a ConvergenceError unless told otherwise."""
        start = time.perf_counter()
        self.history.clear()
        self.operator.refresh()
        source, target = (v.vector if isinstance(v, Function) else v for v in (b, x))
        self.ctx.call(lib.RitzSolverSolve, self.h, source.h, target.h)
        if self.operator.rows.exchange is not None:
            self.operator.rows.exchange.to_ghosts(target)
        reason, iterations = ffi.new("RitzSolverReason *"), ffi.new("CeedInt *")
        self.ctx.call(lib.RitzSolverGetReason, self.h, reason)
        self.ctx.call(lib.RitzSolverGetIterations, self.h, iterations)
        text = ffi.string(lib.RitzSolverReasonName(reason[0])).decode()
        result = Result(reason[0] > 0, text, iterations[0], list(self.history), time.perf_counter() - start)
        if check_convergence and not result.converged:
            raise ConvergenceError(f"the linear solver has not converged: {text}, {iterations[0]} iterations", result)
        return result


# ---- Newton's method ----


class NewtonSolver:
    """Newton's method for F(u) = 0: residual(u) -> Vector through an operator, with a linear solver of its Jacobian.

    Boundary values are reached by the steps themselves (lifting); a line search; forcing terms of Eisenstat and
    Walker, which ask no linear solve for less than `forcing`. make_linear() -> LinearSolver is called at the first step, its update before each later one.
    """

    def __init__(self, u: Function, residual: Callable[[Vector, Vector], None], make_linear: Callable[[], LinearSolver],
                 bcs: DirichletBC | Sequence[DirichletBC] | None = None, *, rtol: float = 1e-8, atol: float = 0.0,
                 max_it: int = 30, monitor: Monitor | None = None, forcing: float = 0.1):
        self.u, self.ctx, self._residual, self._make_linear = u, u.ctx, residual, make_linear
        self.bcs, self._monitor = as_list(bcs), monitor
        self.rtol, self.atol, self.max_it = rtol, atol, max_it
        self.linear: LinearSolver | None = None
        self._is_fresh = False  # whether the linear solver was made for the state as it is
        self.history: list[float] = []
        self._me = ffi.new_handle(self)
        self._handle = self.ctx.new("RitzNewton", lib.RitzNewtonCreate, self.ctx.h)
        call = self.ctx.call
        call(lib.RitzNewtonSetResidualFunction, self.h, lib.ritz_python_apply, self._me)
        call(lib.RitzNewtonSetUpdate, self.h, lib.ritz_python_update, self._me)
        call(lib.RitzNewtonSetMonitor, self.h, lib.ritz_python_monitor, self._me)
        call(lib.RitzNewtonSetTolerances, self.h, rtol, atol, max_it)
        call(lib.RitzNewtonSetForcing, self.h, forcing, forcing)

    @property
    def h(self) -> Any:
        return self._handle.h

    def apply_raw(self, x: Any, y: Any) -> None:
        """Called by the library: y := F(x) of CeedVectors."""
        check(lib.CeedVectorCopy(x, self.u.vector.h))
        self.u.update_ghosts()
        self._residual(self.u.vector, _borrowed_vector(self, y))

    def update(self) -> None:
        """Called by the library before each linear solve, with the state in u."""
        assert self.linear is not None
        self.u.update_ghosts()
        if self._is_fresh:
            self._is_fresh = False
        else:
            self.linear.update()

    def monitor(self, step: int, residual: float) -> bool:
        self.history.append(residual)
        return bool(self._monitor(step, residual)) if self._monitor is not None else False

    def solve(self, check_convergence: bool = True) -> Result:
        """Solves from the guess in u."""
        start = time.perf_counter()
        self.history.clear()
        call = self.ctx.call
        self._is_fresh = self.linear is None
        if self.linear is None:
            self.linear = self._make_linear()
            call(lib.RitzNewtonSetLinearSolver, self.h, self.linear.h)
        call(lib.RitzNewtonSetState, self.h, self.u.vector.h)
        solution = self.u.vector.copy()
        if self.bcs:
            values = self.u.vector.copy()
            for bc in self.bcs:
                bc.apply(values)
            call(lib.RitzNewtonSetBoundaryValues, self.h, values.h)
        call(lib.RitzNewtonSolve, self.h, ffi.NULL, solution.h)
        self.u.vector.assign(solution)
        self.u.update_ghosts()
        reason, steps, linear = ffi.new("RitzNewtonReason *"), ffi.new("CeedInt *"), ffi.new("CeedInt *")
        call(lib.RitzNewtonGetReason, self.h, reason)
        call(lib.RitzNewtonGetIterations, self.h, steps, linear)
        text = ffi.string(lib.RitzNewtonReasonName(reason[0])).decode()
        result = Result(reason[0] > 0, text, steps[0], list(self.history), time.perf_counter() - start, linear[0])
        if check_convergence and not result.converged:
            raise ConvergenceError(f"Newton's method has not converged: {text}, {steps[0]} steps", result)
        return result


def _borrowed_vector(owner: NewtonSolver, h: Any) -> Vector:
    """A Vector of a CeedVector that C lends for the time of a callback."""
    return Vector(owner.u.vector.size, owner.ctx, owner.ctx.adopt("CeedVector", h))
