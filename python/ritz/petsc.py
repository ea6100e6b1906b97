# SPDX-License-Identifier: BSD-2-Clause
"""Operators, vectors and preconditioners in programs of petsc4py.

    A, b, u = assemble(a), assemble(L), Function(V)
    M = ritz.petsc.mat(A, bcs)                                # applied without a matrix
    ksp = PETSc.KSP().create(M.comm)
    ksp.setOperators(M)
    ksp.pc.setType("python")
    ksp.pc.setPythonType("ritz.petsc.PC")                     # multigrid of the operator
    ksp.solve(ritz.petsc.vec(ritz.petsc.right_hand_side(A, b, bcs)), ritz.petsc.vec(u))

Entries that conditions fix have rows and columns of the identity. Vectors of PETSc hold what this process owns, in
the order of the library; those of problems in parts are distributed over the communicator of ritz.parallel.
"""
from __future__ import annotations

import atexit
from typing import Any, Sequence, Union

import numpy as np
from numpy.typing import NDArray
from petsc4py import PETSc

from ._core import SCALAR, UnsupportedError, Vector
from .bcs import DirichletBC, as_list, entries_of
from .function import Function
from .operators import Operator
from .parallel import communicator
from .solvers import Multigrid, Preconditioner
from .space import AnySpace, FunctionSpace

Conditions = Union[DirichletBC, Sequence[DirichletBC], None]

if np.dtype(PETSc.ScalarType) != SCALAR:
    raise ImportError(f"ritz.petsc: PETSc computes in {np.dtype(PETSc.ScalarType)}, needed {SCALAR} as the library does")
# petsc4py ends PETSc after the interpreter's end, which matrices and preconditioners in Python would be called beyond.
if hasattr(PETSc, "_finalize"):
    atexit.register(PETSc._finalize)


def _communicator(space: AnySpace) -> Any:
    return PETSc.COMM_SELF if space.exchange is None else communicator()


def _num_owned(space: AnySpace) -> int:
    return space.dim if space.exchange is None else space.exchange.num_owned


# ---- Vectors ----


def vec(u: Function | Vector) -> Any:
    """The PETSc.Vec on the memory of a function's or a vector's values: nothing is copied, both see what is written.

    In parts it has the owned entries of a function; u.update_ghosts() after PETSc has written to it.
    """
    vector, space = (u.vector, u.space) if isinstance(u, Function) else (u, None)
    if vector.ctx.lends_copies:
        raise UnsupportedError(f"ritz.petsc.vec: values on {vector.ctx.resource}, needed a context of the host; copy u.array")
    if space is None:
        return PETSc.Vec().createWithArray(vector.array, comm=PETSc.COMM_SELF)
    return PETSc.Vec().createWithArray(vector.array[:_num_owned(space)], comm=_communicator(space))


def right_hand_side(A: Operator, b: Function | Vector, bcs: Conditions = None) -> Function:
    """b - A g at free entries, g at those that are fixed: what a solve with mat(A, bcs) or aij(A, bcs) takes."""
    fixed, g = A.fixed_entries(bcs), Function(A.columns)
    for bc in as_list(bcs):
        bc.apply(g.vector)
    lifted = Function(A.rows, vector=(b.vector if isinstance(b, Function) else b).copy())
    lifted.vector.axpy(-1.0, A.apply(g.vector))
    g.update_ghosts()  # a product in parts leaves zeros there
    values = lifted.array_ro.copy()
    values[fixed] = g.array_ro[fixed]
    lifted.array = values
    return lifted


# ---- Matrices ----


class Shell:
    """What PETSc calls of an operator (MATPYTHON): products, transposed products, the diagonal."""

    def __init__(self, operator: Operator, bcs: Conditions = None):
        self.operator, self.bcs = operator, as_list(bcs)
        self.fixed = operator.fixed_entries(bcs)
        self._free: NDArray[Any] = np.zeros(operator.shape[1], SCALAR)  # x without fixed entries

    def mult(self, mat: Any, x: Any, y: Any) -> None:
        self._apply(self.operator, x, y)

    def multTranspose(self, mat: Any, x: Any, y: Any) -> None:
        self._apply(self.operator.T, x, y)

    def _apply(self, operator: Operator, x: Any, y: Any) -> None:
        source, target = x.getArray(readonly=True), y.getArray()
        if operator.part is None:
            free = source
            if len(self.fixed):
                free = self._free
                free[:] = source
                free[self.fixed] = 0
            operator.apply(free, out=target)
        else:
            u, v = Vector(operator.shape[1], operator.ctx), Vector(operator.shape[0], operator.ctx)
            u.array = _with_ghosts(source, self.fixed, u.size)
            operator.apply(u, out=v)
            target[:] = v.array_ro[:len(target)]
        own = self.fixed[self.fixed < len(target)]
        target[own] = source[own]

    def getDiagonal(self, mat: Any, diagonal: Any) -> None:
        values = self.operator.diagonal()
        values[self.fixed] = 1
        diagonal.setArray(values[:_num_owned(self.operator.rows)])


def _with_ghosts(values: NDArray[Any], fixed: NDArray[np.int64], size: int) -> NDArray[Any]:
    """Values of an L-vector: the owned ones that are free, zeros elsewhere."""
    extended: NDArray[Any] = np.zeros(size, SCALAR)
    extended[:len(values)] = values
    extended[fixed] = 0
    return extended


def mat(A: Operator, bcs: Conditions = None) -> Any:
    """The operator as a matrix of PETSc that is applied without one: .getPythonContext() is its Shell."""
    sizes = tuple((_num_owned(space), space.global_dim) for space in (A.rows, A.columns))
    made = PETSc.Mat().createPython(sizes, Shell(A, bcs), comm=_communicator(A.rows))
    made.setUp()
    for option in (PETSc.Mat.Option.SYMMETRIC, PETSc.Mat.Option.SYMMETRY_ETERNAL):
        made.setOption(option, A.is_symmetric)
    return made


def aij(A: Operator, bcs: Conditions = None) -> Any:
    """The assembled matrix; components of a node are its blocks."""
    values, index, starts = A.csr_arrays(bcs)
    if len(values) > np.iinfo(PETSc.IntType).max:
        raise UnsupportedError(f"ritz.petsc.aij: {len(values)} entries, PETSc counts in {np.dtype(PETSc.IntType)}")
    made = PETSc.Mat().createAIJ(A.shape, csr=(starts.astype(PETSc.IntType), index.astype(PETSc.IntType), values),
                                 comm=PETSc.COMM_SELF)
    if isinstance(A.rows, FunctionSpace) and isinstance(A.columns, FunctionSpace):
        made.setBlockSizes(A.rows.num_components, A.columns.num_components)
    made.setOption(PETSc.Mat.Option.SYMMETRIC, A.is_symmetric)
    return made


# ---- Preconditioners ----


class PC:
    """A preconditioner of the library as what PETSc calls (PCPYTHON); without one, multigrid of the matrix's operator.

    ksp.pc.setPythonContext(PC(Jacobi(A, bcs))), or by options: -pc_type python -pc_python_type ritz.petsc.PC. The
    preconditioner follows functions and constants when the matrix is assembled again (mat.assemble()).
    """

    def __init__(self, preconditioner: Preconditioner | None = None, bcs: Conditions = None):
        self.preconditioner = preconditioner
        self._shell: Shell | None = None
        self._fixed = entries_of(as_list(bcs))
        self._is_set_up = False

    def setUp(self, pc: Any) -> None:
        contexts = [m.getPythonContext() for m in pc.getOperators() if m.getType() == PETSc.Mat.Type.PYTHON]
        self._shell = next((c for c in reversed(contexts) if isinstance(c, Shell)), None)
        if self._shell is not None:
            self._fixed = self._shell.fixed
        if self.preconditioner is not None:
            if self._is_set_up:
                self.preconditioner.update()
        elif self._shell is not None:
            self.preconditioner = Multigrid(self._shell.operator, self._shell.bcs)
        else:
            raise ValueError("ritz.petsc.PC: no preconditioner, and no matrix of ritz.petsc.mat to make multigrid of")
        self._is_set_up = True

    def apply(self, pc: Any, x: Any, y: Any) -> None:
        assert self.preconditioner is not None
        source, target = x.getArray(readonly=True), y.getArray()
        r = Vector(len(source) if self._shell is None else self._shell.operator.shape[0], self.preconditioner.ctx)
        r.array = _with_ghosts(source, self._fixed, r.size)
        target[:] = self.preconditioner.apply(r).array_ro[:len(target)]
        own = self._fixed[self._fixed < len(target)]
        target[own] = source[own]
