# SPDX-License-Identifier: BSD-2-Clause
"""Operators: applied without a matrix, to vectors, functions and arrays; the library's own ones of geometry."""
from __future__ import annotations

from functools import lru_cache
from typing import Any, Sequence, Union

import numpy as np
from numpy.typing import NDArray

from ._core import (REQUEST_IMMEDIATE, SCALAR, Handle, UnsupportedError, Vector, check, ffi, lib, take_array,
                    text_of)
from .bcs import DirichletBC, as_list, entries_of
from .function import Function
from .space import AnySpace, FunctionSpace

VectorLike = Union[Vector, Function, NDArray[Any]]
_SCALARS, _HOST = ffi.typeof("CeedScalar[]"), lib.CEED_MEM_HOST


class Operator:
    """A linear operator from functions of `columns` to residuals of `rows`, without boundary conditions.

    A @ x and A.apply(x, out=y) take vectors, functions and arrays. It has what SciPy asks of a LinearOperator.
    """

    dtype = SCALAR
    is_symmetric = True  # decides on the method of solvers

    def __init__(self, handle: Handle, rows: AnySpace, columns: AnySpace | None = None):
        self._handle, self.rows, self.columns, self.ctx = handle, rows, columns or rows, handle.ctx
        self.shape = (self.rows.dim, self.columns.dim)
        self._borrowing: tuple[Handle, Handle] | None = None
        self._part: Handle | None = None

    @property
    def h(self) -> Any:
        """The CeedOperator, with what is kept at points as new as its functions and constants."""
        self.refresh()
        return self._handle.h

    def refresh(self) -> None:
        """Computes again what depends on functions and constants that have changed."""

    @property
    def part(self) -> Handle | None:
        """The operator of the whole problem (RitzPartOperator), of which this one adds a part; None: it is whole."""
        if self._part is None and self.rows.exchange is not None:
            self._part = self.rows.exchange.part_operator(self._handle.h)
        return self._part

    def on_level(self, space: AnySpace) -> Operator:
        """The same operator on a coarser space, or product."""
        raise UnsupportedError("Multigrid: this operator cannot be made on coarser spaces")

    # ---- Applying ----

    def apply(self, x: VectorLike, out: VectorLike | None = None) -> Any:
        """out = A x; makes `out` like x where none is given."""
        if isinstance(x, np.ndarray) and self.part is None:
            return self._apply_array(x, out)
        if not isinstance(x, (Vector, Function)):
            return _interop().apply(self, x, out)
        y = Vector(self.shape[0], self.ctx) if out is None else _vector(out)
        if self.part is None:
            self.ctx.call(lib.CeedOperatorApply, self.h, _vector(x).h, y.h, REQUEST_IMMEDIATE)
        else:
            self._apply_in_parts(_vector(x), y)
        if out is None:
            return Function(self.rows, vector=y) if isinstance(x, Function) else y
        return out

    def _apply_in_parts(self, x: Vector, y: Vector) -> None:
        """y = A x of the whole problem; ghosts of x are up to date afterwards, those of y, a residual, zero."""
        assert self.part is not None and self.rows.exchange is not None
        self.refresh()
        self.ctx.call(lib.RitzPartOperatorApply, self.part.h, x.h, y.h)
        self.rows.exchange.to_ghosts(x)

    def _apply_array(self, x: NDArray[Any], out: Any) -> NDArray[Any]:
        """On arrays, whose memory two vectors borrow meanwhile."""
        rows, columns = self.shape
        if x.shape != (columns,) and x.shape != (columns, 1):
            raise ValueError(f"apply: an array of shape {x.shape}, needed ({columns},)")
        source = x if x.dtype == SCALAR and x.flags.c_contiguous else np.ascontiguousarray(x, SCALAR)
        if out is None:
            target = np.empty(rows, SCALAR)
        else:
            target = out
            if target.shape != (rows,) or target.dtype != SCALAR or not target.flags.c_contiguous:
                raise ValueError(f"apply: out is {target.dtype} {target.shape}, needed contiguous {SCALAR} ({rows},)")
            if not target.flags.writeable:
                raise ValueError("apply: out is an array for reading alone")
        self.apply_to(_HOST, ffi.from_buffer(_SCALARS, source), _HOST, ffi.from_buffer(_SCALARS, target))
        return target if x.ndim == 1 else target.reshape(rows, 1)

    def apply_to(self, x_type: int, x: Any, y_type: int, y: Any) -> None:
        """y = A x for pointers to memory of the host or the device, of the sizes that are needed."""
        if self._borrowing is None:
            self._borrowing = Vector(self.shape[1], self.ctx)._handle, Vector(self.shape[0], self.ctx)._handle
        u, v = self._borrowing
        self.ctx.call(lib.ritz_python_apply_to, self.h, u.h, v.h, x_type, x, y_type, y)

    def matvec(self, x: NDArray[Any]) -> NDArray[Any]:
        return self._apply_array(np.asarray(x), None)

    def rmatvec(self, x: NDArray[Any]) -> NDArray[Any]:
        return self.T.matvec(x)

    @property
    def T(self) -> Operator:
        """The transposed operator, applied without a matrix, too: itself, where it is symmetric."""
        if self.is_symmetric:
            return self
        raise UnsupportedError("T: an operator that is neither symmetric nor that of a form; transpose .tocsr()")

    def __matmul__(self, x: Any) -> Any:
        return self.apply(x)

    # ---- Looking inside ----

    def diagonal(self) -> NDArray[Any]:
        diagonal = Vector(self.shape[0], self.ctx)
        if self.part is not None:
            self.refresh()
            self.ctx.call(lib.RitzPartOperatorGetDiagonal, self.part.h, diagonal.h)
            return diagonal.array_ro.copy()
        self.ctx.call(lib.CeedOperatorLinearAssembleDiagonal, self.h, diagonal.h, REQUEST_IMMEDIATE)
        return diagonal.array_ro.copy()

    def tocsr(self, bcs: DirichletBC | Sequence[DirichletBC] | None = None) -> Any:
        """The assembled matrix (scipy.sparse.csr_matrix); rows and columns that `bcs` fix are those of the identity."""
        from scipy.sparse import csr_matrix

        return csr_matrix(self.csr_arrays(bcs), shape=self.shape)

    def csr_arrays(self, bcs: DirichletBC | Sequence[DirichletBC] | None = None) -> tuple[NDArray[Any], ...]:
        """Values, columns and starts of rows of the assembled matrix."""
        if self.part is not None:
            raise UnsupportedError("tocsr: the operator of a problem in parts")
        fixed = self.fixed_entries(bcs)
        rows, columns = ffi.new("CeedSize *"), ffi.new("CeedSize *")
        starts, cols = ffi.new("int64_t **"), ffi.new("int64_t **")
        self.ctx.call(lib.RitzOperatorAssembleCSRSymbolic, self.h, rows, columns, starts, cols)
        first = take_array(starts[0], rows[0] + 1, np.int64)
        index = take_array(cols[0], int(first[-1]), np.int64)
        values = Vector(len(index), self.ctx)
        self.ctx.call(lib.RitzOperatorAssembleCSR, self.h, ffi.cast("int64_t *", first.ctypes.data),
                      ffi.cast("int64_t *", index.ctypes.data), values.h)
        return _with_identity(values.array_ro.copy(), index, first, fixed) if len(fixed) else (
            values.array_ro.copy(), index, first)

    def fixed_entries(self, bcs: DirichletBC | Sequence[DirichletBC] | None) -> NDArray[np.int64]:
        """Entries that conditions on the operator's space fix, ascending."""
        conditions, spaces = as_list(bcs), self.rows.spaces
        if conditions and self.rows.h != self.columns.h:
            raise ValueError("bcs: the operator has two spaces, needed one, whose rows and columns are fixed")
        for bc in conditions:
            if bc.index >= len(spaces) or bc.space.h != spaces[bc.index].h:
                raise ValueError(f"bcs: a condition on {bc.space}, needed one on the operator's {self.rows}")
        return entries_of(conditions)

    def explain(self) -> str:
        """Which kernels run, their plan, and what they cost."""
        return text_of(lambda file: check(lib.RitzOperatorExplain(self.h, file)))

    @property
    def source(self) -> str:
        """The generated kernels' texts."""
        return "\n".join(self._source_of(op) for op in self._single_operators())

    def _single_operators(self) -> list[Any]:
        """The operator itself, or those in a composite, borrowed."""
        is_composite, num, subs = ffi.new("bool *"), ffi.new("CeedInt *"), ffi.new("CeedOperator **")
        self.ctx.call(lib.CeedOperatorIsComposite, self.h, is_composite)
        if not is_composite[0]:
            return [self._handle.h]
        self.ctx.call(lib.CeedOperatorCompositeGetNumSub, self._handle.h, num)
        self.ctx.call(lib.CeedOperatorCompositeGetSubList, self._handle.h, subs)
        return [subs[0][i] for i in range(num[0])]

    def _source_of(self, op: Any) -> str:
        text = ffi.new("const char **")
        self.ctx.call(lib.RitzOperatorGetSource, op, text)
        return "" if text[0] == ffi.NULL else ffi.string(text[0]).decode()

    def __repr__(self) -> str:
        return f"<ritz.Operator {self.shape[0]} x {self.shape[1]} on {self.ctx.resource}>"

    def _repr_html_(self) -> str:
        from .notebook import operator_html

        return operator_html(self)


@lru_cache(maxsize=None)
def _interop() -> Any:
    """The module for arrays of other packages, loaded when there is one."""
    from . import interop

    return interop


def _with_identity(values: NDArray[Any], index: NDArray[np.int64], first: NDArray[np.int64],
                   fixed: NDArray[np.int64]) -> tuple[NDArray[Any], ...]:
    """The matrix with rows and columns of the identity for fixed entries: one entry is left in a row of these."""
    num = len(first) - 1
    is_fixed = np.zeros(num, bool)
    is_fixed[fixed] = True
    row = np.repeat(np.arange(num), np.diff(first))
    is_kept = ~(is_fixed[row] | is_fixed[index])
    starts = np.concatenate(([0], np.cumsum(np.bincount(row[is_kept], minlength=num) + is_fixed)))
    is_one = np.zeros(starts[-1], bool)
    is_one[starts[fixed]] = True
    new_values, new_index = np.ones(len(is_one), values.dtype), np.empty(len(is_one), index.dtype)
    new_values[~is_one], new_index[~is_one], new_index[is_one] = values[is_kept], index[is_kept], fixed
    return new_values, new_index, starts


def _vector(x: Any) -> Vector:
    vector = x.vector if isinstance(x, Function) else x
    if not isinstance(vector, Vector):
        raise TypeError(f"apply: out is a {type(x).__name__}, needed a ritz.Vector or Function as x is")
    return vector


class GeometryOperator(Operator):
    """lambda u v + mu grad u . grad v for constants lambda and mu, component by component."""

    def __init__(self, space: FunctionSpace, lam: float = 0.0, mu: float = 0.0, num_points: int = 0):
        kinds = {(True, False): lib.RITZ_OPERATOR_MASS, (False, True): lib.RITZ_OPERATOR_DIFFUSION,
                 (True, True): lib.RITZ_OPERATOR_HELMHOLTZ}
        kind = kinds.get((lam != 0, mu != 0))
        if kind is None:
            raise ValueError("GeometryOperator: lam and mu are both 0")
        options = ffi.new("RitzOperatorOptions *", {"kind": kind, "space": space.h, "num_points": num_points,
                                                    "lambda": float(lam), "mu": float(mu)})
        handle = space.ctx.new("CeedOperator", lib.RitzGeometryCreateOperator, space.mesh.geometry.h, space.ctx.h, options)
        super().__init__(handle, space)
        self._options = lam, mu

    def on_level(self, space: AnySpace) -> Operator:
        assert isinstance(space, FunctionSpace)
        return GeometryOperator(space, *self._options)


def mass(space: FunctionSpace, factor: float = 1.0) -> Operator:
    """The integral of factor u v."""
    return GeometryOperator(space, lam=factor)


def diffusion(space: FunctionSpace, factor: float = 1.0) -> Operator:
    """The integral of factor grad u . grad v."""
    return GeometryOperator(space, mu=factor)


def load_vector(space: FunctionSpace, f: Function) -> Vector:
    """The integral of f v for all test functions v; f of the same space."""
    result: Vector = mass(space).apply(f.vector)
    return result


