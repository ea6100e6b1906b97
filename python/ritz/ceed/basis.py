# SPDX-License-Identifier: BSD-2-Clause
"""CeedBasis, and the dense algebra that the standard has beside it."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, Union

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._core import SCALAR, DimensionError, address
from .._lib import ffi, lib
from .arrays import _array, _borrowable, _copy, _scalars
from .base import _handle, _Object
from .constants import EVAL_INTERP, NOTRANSPOSE, TRANSPOSE, Sentinel
from .vector import AnyVector, Vector

if TYPE_CHECKING:
    from .context import Ceed

class Basis(_Object):
    """B: from nodes to quadrature points. Made by ceed.BasisTensorH1Lagrange(...) and its sisters."""

    _kind = "CeedBasis"

    @property
    def T(self) -> TransposeBasis:
        """The transpose: b.T.apply(1, EVAL_INTERP, q, u)."""
        return TransposeBasis(self)

    def apply(self, nelem: int, emode: int, u: AnyVector, v: Vector, tmode: int = NOTRANSPOSE) -> None:
        """v = B u or v = B^T u for nelem elements; EVAL_WEIGHT: u is VECTOR_NONE."""
        what = "Basis.apply"
        self._call(lib.CeedBasisApply, nelem, tmode, emode, _handle(what, u, Vector),
                   _handle(what, v, Vector))

    def apply_add(self, nelem: int, emode: int, u: Vector, v: Vector, tmode: int = TRANSPOSE) -> None:
        """v += B^T u"""
        what = "Basis.apply_add"
        self._call(lib.CeedBasisApplyAdd, nelem, tmode, emode, _handle(what, u, Vector),
                   _handle(what, v, Vector))

    def apply_at_points(self, num_points: ArrayLike, emode: int, x_ref: Vector, u: AnyVector, v: Vector,
                        tmode: int = NOTRANSPOSE) -> None:
        """The same between nodes and points of the reference element; num_points: in each element."""
        self._apply_at_points(lib.CeedBasisApplyAtPoints, num_points, emode, x_ref, u, v, tmode)

    def apply_add_at_points(self, num_points: ArrayLike, emode: int, x_ref: Vector, u: Vector, v: Vector,
                            tmode: int = TRANSPOSE) -> None:
        self._apply_at_points(lib.CeedBasisApplyAddAtPoints, num_points, emode, x_ref, u, v, tmode)

    def _apply_at_points(self, function: Callable[..., int], num_points: ArrayLike, emode: int, x_ref: Vector,
                         u: AnyVector, v: Vector, tmode: int) -> None:
        what, given = "Basis.apply_at_points", np.atleast_1d(np.asarray(num_points))
        num = _array(what, given, np.int32, given.size)
        self._call(function, num.size, address(num, "const CeedInt"), tmode, emode,
                   _handle(what, x_ref, Vector), _handle(what, u, Vector), _handle(what, v, Vector))

    def create_projection(self, basis_to: Basis) -> Basis:
        """The basis that takes nodal values of this one to those of basis_to."""
        handle = self.ceed.new(self._kind, lib.CeedBasisCreateProjection, self._handle.h,
                               _handle("Basis.create_projection", basis_to, Basis))
        return Basis(self.ceed, handle)

    def get_dimension(self) -> int:
        return self._int(lib.CeedBasisGetDimension)

    def get_topology(self) -> int:
        return int(self._get(lib.CeedBasisGetTopology, "CeedElemTopology"))

    def get_num_components(self) -> int:
        return self._int(lib.CeedBasisGetNumComponents)

    def get_num_nodes(self) -> int:
        return self._int(lib.CeedBasisGetNumNodes)

    def get_num_nodes_1d(self) -> int:
        return self._int(lib.CeedBasisGetNumNodes1D)

    def get_num_quadrature_points(self) -> int:
        return self._int(lib.CeedBasisGetNumQuadraturePoints)

    def get_num_quadrature_points_1d(self) -> int:
        return self._int(lib.CeedBasisGetNumQuadraturePoints1D)

    def get_num_quadrature_components(self, emode: int) -> int:
        return self._int(lib.CeedBasisGetNumQuadratureComponents, emode)

    def get_fe_space(self) -> int:
        return int(self._get(lib.CeedBasisGetFESpace, "CeedFESpace"))

    def is_tensor(self) -> bool:
        return self._bool(lib.CeedBasisIsTensor)

    def is_collocated(self) -> bool:
        return self._bool(lib.CeedBasisIsCollocated)

    def _table(self, function: Callable[..., int], *shape: int) -> NDArray[Any] | None:
        pointer = self._get(function, "const CeedScalar *")
        return None if pointer == ffi.NULL else _copy(pointer, SCALAR, *shape)

    def _num_points(self) -> tuple[int, int]:
        """(numbers that a point has, points) of q_ref."""
        if self.is_tensor():
            return 1, self.get_num_quadrature_points_1d()
        return self.get_dimension(), self.get_num_quadrature_points()

    def get_q_ref(self) -> NDArray[Any] | None:
        """Points [dim][Q]; of tensor bases in one direction, [Q_1d]."""
        dim, num = self._num_points()
        return self._table(lib.CeedBasisGetQRef, *((num,) if self.is_tensor() else (dim, num)))

    def get_q_weights(self) -> NDArray[Any] | None:
        """Weights [Q]; of tensor bases in one direction, [Q_1d]."""
        return self._table(lib.CeedBasisGetQWeights, self._num_points()[1])

    def _full(self, function: Callable[..., int], num_directions: int) -> NDArray[Any] | None:
        shape = self.get_num_quadrature_points(), self.get_num_nodes()
        return self._table(function, *((num_directions,) if num_directions > 1 else ()), *shape)

    def get_interp(self) -> NDArray[Any] | None:
        """[Q][P], of vector valued bases [dim][Q][P]; as all tables a copy, None where the space has none."""
        return self._full(lib.CeedBasisGetInterp, self.get_num_quadrature_components(EVAL_INTERP))

    def get_grad(self) -> NDArray[Any] | None:
        """[dim][Q][P]"""
        shape = self.get_dimension(), self.get_num_quadrature_points(), self.get_num_nodes()
        return self._table(lib.CeedBasisGetGrad, *shape)

    def get_div(self) -> NDArray[Any] | None:
        """[Q][P]"""
        return self._full(lib.CeedBasisGetDiv, 1)

    def get_curl(self) -> NDArray[Any] | None:
        """[Q][P], in three dimensions [3][Q][P]"""
        return self._full(lib.CeedBasisGetCurl, 1 if self.get_dimension() < 3 else self.get_dimension())

    def get_interp_1d(self) -> NDArray[Any] | None:
        """[Q_1d][P_1d]"""
        return self._table(lib.CeedBasisGetInterp1D, self.get_num_quadrature_points_1d(),
                           self.get_num_nodes_1d())

    def get_grad_1d(self) -> NDArray[Any] | None:
        """[Q_1d][P_1d]"""
        return self._table(lib.CeedBasisGetGrad1D, self.get_num_quadrature_points_1d(),
                           self.get_num_nodes_1d())

    def get_collocated_grad(self) -> NDArray[Any]:
        """[Q_1d][Q_1d]: values at the points to derivatives there."""
        num = self.get_num_quadrature_points_1d()
        return self._filled(lib.CeedBasisGetCollocatedGrad, num, num)

    def get_chebyshev_interp_1d(self) -> NDArray[Any]:
        """[Q_1d][P_1d]: nodal values to coefficients of Chebyshev polynomials."""
        return self._filled(lib.CeedBasisGetChebyshevInterp1D, self.get_num_quadrature_points_1d(),
                            self.get_num_nodes_1d())

    def _filled(self, function: Callable[..., int], *shape: int) -> NDArray[Any]:
        table = np.empty(shape, SCALAR)
        self._call(function, address(table, "CeedScalar"))
        return table

    def get_flops_estimate(self, tmode: int, emode: int, num_points: int | None = None) -> int:
        """Operations of one element, at quadrature points or at num_points points."""
        return self._size(lib.CeedBasisGetFlopsEstimate, tmode, emode, num_points is not None, num_points
                          or 0)

    # Dense algebra, which the standard has beside bases: row-major matrices.

    @staticmethod
    def qr_factorization(ceed: Ceed, mat: NDArray[Any], tau: NDArray[Any], m: int, n: int
                         ) -> tuple[NDArray[Any], NDArray[Any]]:
        """mat [m][n] = Q R in place, tau [n]; returns both."""
        what = "Basis.qr_factorization"
        mat, tau = _borrowable(what, mat, SCALAR, m * n), _borrowable(what, tau, SCALAR, n)
        ceed.call(lib.CeedQRFactorization, ceed.h, address(mat, "CeedScalar"), address(tau, "CeedScalar"), m,
                  n)
        return mat, tau

    @staticmethod
    def householder_apply_q(ceed: Ceed, mat_A: NDArray[Any], mat_Q: ArrayLike, tau: ArrayLike, tmode: int,
                            m: int, n: int, k: int, row: int, col: int) -> NDArray[Any]:
        """mat_A = Q mat_A or Q^T mat_A in place, of m x n entries mat_A[i*row + j*col]; mat_Q [m][k], tau
        [k]."""
        what = "Basis.householder_apply_q"
        mat_A = _borrowable(what, mat_A, SCALAR, np.size(mat_A))
        ends = (row * (m - 1) + col * (n - 1), 0, row * (m - 1), col * (n - 1))
        if min(m, n, k) < 1 or k > m or min(ends) < 0 or max(ends) >= mat_A.size:
            raise DimensionError(
                f"{what}: m {m}, n {n}, k {k}, row {row}, col {col} leave an array of {mat_A.size}")
        q_pointer, q = _scalars(what, mat_Q, m, k)
        tau_pointer, taus = _scalars(what, tau, k)
        ceed.call(lib.CeedHouseholderApplyQ, address(mat_A, "CeedScalar"), q_pointer, tau_pointer, tmode, m,
                  n, k, row, col)
        return mat_A

    @staticmethod
    def matrix_pseudoinverse(ceed: Ceed, mat: ArrayLike, m: int, n: int) -> NDArray[Any]:
        """[n][m]: the left inverse of mat [m][n], n <= m."""
        pointer, array = _scalars("Basis.matrix_pseudoinverse", mat, m, n)
        inverse = np.empty((max(n, 0), max(m, 0)), SCALAR)
        ceed.call(lib.CeedMatrixPseudoinverse, ceed.h, pointer, m, n, address(inverse, "CeedScalar"))
        return inverse

    @staticmethod
    def symmetric_schur_decomposition(ceed: Ceed, mat: NDArray[Any], n: int) -> NDArray[Any]:
        """mat [n][n] = V diag(lambda) V^T: mat becomes V; returns lambda [n]."""
        mat = _borrowable("Basis.symmetric_schur_decomposition", mat, SCALAR, n * n)
        eigenvalues = np.empty(max(n, 0), SCALAR)
        ceed.call(lib.CeedSymmetricSchurDecomposition, ceed.h, address(mat, "CeedScalar"),
                  address(eigenvalues, "CeedScalar"), n)
        return eigenvalues

    @staticmethod
    def simultaneous_diagonalization(ceed: Ceed, mat_A: ArrayLike, mat_B: ArrayLike, n: int
                                     ) -> tuple[NDArray[Any], NDArray[Any]]:
        """(x [n][n], lambda [n]) with x^T A x = diag(lambda), x^T B x = I."""
        what = "Basis.simultaneous_diagonalization"
        first, second = (_array(what, mat, SCALAR, n * n).copy() for mat in (mat_A, mat_B))
        x, eigenvalues = np.empty((max(n, 0), max(n, 0)), SCALAR), np.empty(max(n, 0), SCALAR)
        ceed.call(lib.CeedSimultaneousDiagonalization, ceed.h, *(address(a, "CeedScalar")
                                                                 for a in (first, second, x, eigenvalues)), n)
        return x, eigenvalues


class TransposeBasis:
    """B^T: made by b.T."""

    def __init__(self, basis: Basis):
        self._basis = basis

    @property
    def T(self) -> Basis:
        return self._basis

    def apply(self, nelem: int, emode: int, u: Vector, v: Vector) -> None:
        """v = B^T u"""
        self._basis.apply(nelem, emode, u, v, TRANSPOSE)


AnyBasis = Union[Basis, Sentinel]
