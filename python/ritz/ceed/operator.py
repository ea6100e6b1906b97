# SPDX-License-Identifier: BSD-2-Clause
"""CeedOperator: making, applying, assembling, coarsening; sums of operators."""
from __future__ import annotations

import sys
from typing import Any, Callable, NamedTuple, Sequence, TextIO

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._core import address, take_array, text_of
from .._lib import ffi, lib
from .arrays import _bytes, _scalars, _string
from .base import _handle, _two_lists
from .basis import AnyBasis, Basis
from .constants import REQUEST_IMMEDIATE, _request
from .qcontext import ContextFieldLabel, QFunctionContext, _HasFields
from .qfunction import QFunction
from .restriction import AnyRestriction, ElemRestriction
from .vector import AnyVector, Vector

class OperatorField(NamedTuple):
    name: str
    elem_restriction: AnyRestriction
    basis: AnyBasis
    vector: AnyVector


class Operator(_HasFields):
    """A = E^T B^T D B E. Made by ceed.Operator(qf), ceed.OperatorAtPoints(qf); sums by
    ceed.CompositeOperator()."""

    _kind = "CeedOperator"
    _word = "Context"

    # Making

    def set_field(self, fieldname: str, restriction: AnyRestriction, basis: AnyBasis,
                  vector: AnyVector) -> None:
        """Where a field of the QFunction comes from or goes to: VECTOR_ACTIVE, or the field's own vector."""
        what = f"Operator.set_field({fieldname!r})"
        self._call(lib.CeedOperatorSetField, fieldname.encode(), _handle(what, restriction, ElemRestriction),
                   _handle(what, basis, Basis), _handle(what, vector, Vector))
        for part in (restriction, basis, vector):
            self._hold((fieldname, type(part)), part)

    def at_points_set_points(self, rstr_points: ElemRestriction, point_coords: Vector) -> None:
        """Reference coordinates of the points, [point][dim]."""
        what = "Operator.at_points_set_points"
        self._call(lib.CeedOperatorAtPointsSetPoints, _handle(what, rstr_points, ElemRestriction),
                   _handle(what, point_coords, Vector))
        self._hold("points", rstr_points)
        self._hold("coordinates", point_coords)

    def at_points_get_points(self) -> tuple[ElemRestriction, Vector]:
        rstr, coords = ffi.new("CeedElemRestriction *"), ffi.new("CeedVector *")
        self._call(lib.CeedOperatorAtPointsGetPoints, rstr, coords)
        return self.ceed._wrap(ElemRestriction, rstr), self.ceed._wrap(Vector, coords)

    def is_at_points(self) -> bool:
        return self._bool(lib.CeedOperatorIsAtPoints)

    def is_composite(self) -> bool:
        return self._bool(lib.CeedOperatorIsComposite)

    def check_ready(self) -> None:
        """Raises IncompleteError while fields are missing."""
        self._call(lib.CeedOperatorCheckReady)

    check = check_ready

    def set_name(self, name: str | None) -> None:
        self._call(lib.CeedOperatorSetName, _bytes(name))

    def get_name(self) -> str | None:
        return _string(self._get(lib.CeedOperatorGetName, "const char *"))

    name = set_name

    # Asking

    def get_qfunction(self) -> QFunction:
        qf: QFunction = self._object(QFunction, lib.CeedOperatorGetQFunction)
        return qf

    def get_fields(self) -> tuple[list[OperatorField], list[OperatorField]]:
        """(inputs, outputs) in the order of the QFunction."""
        return _two_lists(self, "CeedOperatorField", lib.CeedOperatorGetFields, self._field)

    def get_field_by_name(self, name: str) -> OperatorField | None:
        field = self._get(lib.CeedOperatorGetFieldByName, "CeedOperatorField", name.encode())
        return None if field == ffi.NULL else self._field(field)

    def _field(self, field: Any) -> OperatorField:
        name, rstr = ffi.new("const char **"), ffi.new("CeedElemRestriction *")
        basis, vec, wrap = ffi.new("CeedBasis *"), ffi.new("CeedVector *"), self.ceed._wrap
        self.ceed.call(lib.CeedOperatorFieldGetData, field, name, rstr, basis, vec)
        return OperatorField(_string(name[0]) or "", wrap(ElemRestriction, rstr), wrap(Basis, basis),
                             wrap(Vector, vec))

    def get_num_args(self) -> int:
        """Fields that have been set."""
        return self._int(lib.CeedOperatorGetNumArgs)

    def get_num_elements(self) -> int:
        return self._int(lib.CeedOperatorGetNumElements)

    def get_num_quadrature_points(self) -> int:
        return self._int(lib.CeedOperatorGetNumQuadraturePoints)

    def get_active_vector_lengths(self) -> tuple[int, int]:
        """Lengths of active input and output, -1 where there is none."""
        num_in, num_out = ffi.new("CeedSize *"), ffi.new("CeedSize *")
        self._call(lib.CeedOperatorGetActiveVectorLengths, num_in, num_out)
        return int(num_in[0]), int(num_out[0])

    def get_active_basis(self) -> Basis:
        basis: Basis = self._object(Basis, lib.CeedOperatorGetActiveBasis)
        return basis

    def get_active_bases(self) -> tuple[AnyBasis, AnyBasis]:
        """(of inputs, of outputs)"""
        bases = ffi.new("CeedBasis *"), ffi.new("CeedBasis *")
        self._call(lib.CeedOperatorGetActiveBases, *bases)
        return self.ceed._wrap(Basis, bases[0]), self.ceed._wrap(Basis, bases[1])

    def get_active_elem_restriction(self) -> ElemRestriction:
        rstr: ElemRestriction = self._object(ElemRestriction, lib.CeedOperatorGetActiveElemRestriction)
        return rstr

    def get_active_elem_restrictions(self) -> tuple[AnyRestriction, AnyRestriction]:
        """(of inputs, of outputs)"""
        rstrs = ffi.new("CeedElemRestriction *"), ffi.new("CeedElemRestriction *")
        self._call(lib.CeedOperatorGetActiveElemRestrictions, *rstrs)
        return self.ceed._wrap(ElemRestriction, rstrs[0]), self.ceed._wrap(ElemRestriction, rstrs[1])

    def has_tensor_bases(self) -> bool:
        return self._bool(lib.CeedOperatorHasTensorBases)

    def get_flops_estimate(self) -> int:
        return self._size(lib.CeedOperatorGetFlopsEstimate)

    def view_terse(self, file: TextIO | None = None) -> None:
        """Shows the names alone."""
        (file or sys.stdout).write(text_of(lambda out: self._call(lib.CeedOperatorViewTerse, out)))

    # Applying

    def apply(self, u: AnyVector, v: AnyVector, request: Any = REQUEST_IMMEDIATE) -> None:
        """v = A u; passive outputs are overwritten, too."""
        self._apply(lib.CeedOperatorApply, "Operator.apply", u, v, request)

    def apply_add(self, u: AnyVector, v: AnyVector, request: Any = REQUEST_IMMEDIATE) -> None:
        """v += A u; passive outputs are added to, too."""
        self._apply(lib.CeedOperatorApplyAdd, "Operator.apply_add", u, v, request)

    def apply_add_active(self, u: AnyVector, v: AnyVector, request: Any = REQUEST_IMMEDIATE) -> None:
        """v += A u; passive outputs are overwritten."""
        self._apply(lib.CeedOperatorApplyAddActive, "Operator.apply_add_active", u, v, request)

    def _apply(self, function: Callable[..., int], what: str,
               u: AnyVector, v: AnyVector, request: Any) -> None:
        self._call(function, _handle(what, u, Vector), _handle(what, v, Vector), _request(request))

    # Parameters of the QFunction

    def get_context(self) -> QFunctionContext | None:
        context: QFunctionContext | None = self._object(QFunctionContext, lib.CeedOperatorGetContext)
        return context

    def get_context_field_label(self, name: str) -> ContextFieldLabel | None:
        return self._find_label(name)

    def _find_label(self, name: str) -> ContextFieldLabel | None:
        label = super()._find_label(name)
        if label is not None and not self.is_composite():
            label.context = self.get_context()
        return label

    def set_context_double(self, field: ContextFieldLabel | str, values: ArrayLike) -> None:
        """As many values as the field has, in all parts that have it."""
        self._set_field("Double", np.float64, field, values)

    def set_context_int32(self, field: ContextFieldLabel | str, values: ArrayLike) -> None:
        self._set_field("Int32", np.int32, field, values)

    def set_context_boolean(self, field: ContextFieldLabel | str, values: ArrayLike) -> None:
        self._set_field("Boolean", np.bool_, field, values)

    def get_context_double(self, field: ContextFieldLabel | str) -> NDArray[Any]:
        return self._read_field("Double", np.float64, field)

    def get_context_int32(self, field: ContextFieldLabel | str) -> NDArray[Any]:
        return self._read_field("Int32", np.int32, field)

    def get_context_boolean(self, field: ContextFieldLabel | str) -> NDArray[Any]:
        return self._read_field("Boolean", np.bool_, field)

    # Assembling

    def linear_assemble_qfunction(self, request: Any = REQUEST_IMMEDIATE) -> tuple[Vector, ElemRestriction]:
        """The derivative of outputs by inputs at each point, as a new vector with its restriction."""
        vec, rstr = ffi.new("CeedVector *"), ffi.new("CeedElemRestriction *")
        self._call(lib.CeedOperatorLinearAssembleQFunction, vec, rstr, _request(request))
        return self.ceed._wrap(Vector, vec, False), self.ceed._wrap(ElemRestriction, rstr, False)

    def linear_assemble_qfunction_build_or_update(self, request: Any = REQUEST_IMMEDIATE
                                                  ) -> tuple[Vector, ElemRestriction]:
        """The same from the operator's cache, filled or renewed if need be."""
        vec, rstr = ffi.new("CeedVector *"), ffi.new("CeedElemRestriction *")
        self._call(lib.CeedOperatorLinearAssembleQFunctionBuildOrUpdate, vec, rstr, _request(request))
        return self.ceed._wrap(Vector, vec), self.ceed._wrap(ElemRestriction, rstr)

    def set_qfunction_assembly_reuse(self, reuse_assembly_data: bool) -> None:
        self._call(lib.CeedOperatorSetQFunctionAssemblyReuse, reuse_assembly_data)

    def set_qfunction_assembly_data_update_needed(self, needs_data_update: bool) -> None:
        self._call(lib.CeedOperatorSetQFunctionAssemblyDataUpdateNeeded, needs_data_update)

    def assembly_data_strip(self) -> None:
        self._call(lib.CeedOperatorAssemblyDataStrip)

    def linear_assemble_diagonal(self, d: Vector, request: Any = REQUEST_IMMEDIATE) -> None:
        """d = diagonal of the matrix"""
        self._assemble(lib.CeedOperatorLinearAssembleDiagonal, d, request)

    def linear_assemble_add_diagonal(self, d: Vector, request: Any = REQUEST_IMMEDIATE) -> None:
        """d += diagonal of the matrix"""
        self._assemble(lib.CeedOperatorLinearAssembleAddDiagonal, d, request)

    def linear_assemble_point_block_diagonal(self, d: Vector, request: Any = REQUEST_IMMEDIATE) -> None:
        """d = the blocks that couple the components of each node, [node][c_out][c_in]"""
        self._assemble(lib.CeedOperatorLinearAssemblePointBlockDiagonal, d, request)

    def linear_assemble_add_point_block_diagonal(self, d: Vector, request: Any = REQUEST_IMMEDIATE) -> None:
        self._assemble(lib.CeedOperatorLinearAssembleAddPointBlockDiagonal, d, request)

    def _assemble(self, function: Callable[..., int], d: Vector, request: Any) -> None:
        self._call(function, _handle("Operator.linear_assemble", d, Vector), _request(request))

    def linear_assemble_point_block_diagonal_symbolic(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """(rows, cols) of the entries of the blocks."""
        return self._pairs(lib.CeedOperatorLinearAssemblePointBlockDiagonalSymbolic)

    def linear_assemble_symbolic(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """(rows, cols) of the matrix's triples, of which equal ones are added up."""
        return self._pairs(lib.CeedOperatorLinearAssembleSymbolic)

    def _pairs(self, function: Callable[..., int]) -> tuple[NDArray[Any], NDArray[Any]]:
        num, rows, cols = ffi.new("CeedSize *"), ffi.new("CeedInt **"), ffi.new("CeedInt **")
        self._call(function, num, rows, cols)
        return take_array(rows[0], num[0], np.int32), take_array(cols[0], num[0], np.int32)

    def linear_assemble_get_num_entries(self) -> int:
        return self._size(lib.CeedOperatorLinearAssembleGetNumEntries)

    def linear_assemble(self, values: Vector | None = None) -> Vector:
        """The values of the triples, in a vector of that many entries: the given or a new one."""
        target = self.ceed.Vector(self.linear_assemble_get_num_entries()) if values is None else values
        self._call(lib.CeedOperatorLinearAssemble, _handle("Operator.linear_assemble", target, Vector))
        return target

    # Multigrid and inverses of elements

    def multigrid_create(self, p_mult_fine: Vector, rstr_coarse: ElemRestriction, basis_coarse: Basis
                         ) -> tuple[Operator, Operator, Operator]:
        """(coarse operator, prolongation, restriction); p_mult_fine: a fine vector, 1 where no parts are
        shared."""
        return self._coarsen(lib.CeedOperatorMultigridLevelCreate, p_mult_fine, rstr_coarse, basis_coarse)

    def multigrid_create_tensor_h1(self, p_mult_fine: Vector, rstr_coarse: ElemRestriction,
                                   basis_coarse: Basis, interp_c_to_f: ArrayLike) -> tuple[Operator, Operator,
                                                                                           Operator]:
        """The same with the interpolation [P_1d_fine][P_1d_coarse] in one direction."""
        pointer, _ = _scalars("Operator.multigrid_create_tensor_h1", interp_c_to_f,
                              self.get_active_basis().get_num_nodes_1d(), basis_coarse.get_num_nodes_1d())
        return self._coarsen(lib.CeedOperatorMultigridLevelCreateTensorH1,
                             p_mult_fine, rstr_coarse, basis_coarse, pointer)

    def multigrid_create_h1(self, p_mult_fine: Vector, rstr_coarse: ElemRestriction, basis_coarse: Basis,
                            interp_c_to_f: ArrayLike) -> tuple[Operator, Operator, Operator]:
        """The same with the interpolation [P_fine][P_coarse]."""
        pointer, _ = _scalars("Operator.multigrid_create_h1", interp_c_to_f,
                              self.get_active_basis().get_num_nodes(), basis_coarse.get_num_nodes())
        return self._coarsen(lib.CeedOperatorMultigridLevelCreateH1, p_mult_fine, rstr_coarse, basis_coarse,
                             pointer)

    def _coarsen(self, create: Callable[..., int], p_mult_fine: Vector, rstr_coarse: ElemRestriction,
                 basis_coarse: Basis, *interpolation: Any) -> tuple[Operator, Operator, Operator]:
        what, pointers = "Operator.multigrid_create", [ffi.new("CeedOperator *") for _ in range(3)]
        self._call(create, _handle(what, p_mult_fine, Vector), _handle(what, rstr_coarse, ElemRestriction),
                   _handle(what, basis_coarse, Basis), *interpolation, *pointers)
        coarse, prolong, restrict = (self.ceed._wrap(Operator, pointer, False) for pointer in pointers)
        for one in (coarse, prolong, restrict):
            for key, kept in (("fine", self), ("restriction", rstr_coarse), ("basis", basis_coarse)):
                one._hold(key, kept)
        return coarse, prolong, restrict

    def create_fdm_element_inverse(self, request: Any = REQUEST_IMMEDIATE) -> Operator:
        """Approximate inverses of the element matrices, by fast diagonalization."""
        pointer = ffi.new("CeedOperator *")
        self._call(lib.CeedOperatorCreateFDMElementInverse, pointer, _request(request))
        inverse: Operator = self.ceed._wrap(Operator, pointer, False)
        inverse._hold("of", self)
        return inverse

    # What Ritz adds

    def explain(self) -> str:
        """How the operator runs: its kernel and why, its plan, its costs (RitzOperatorExplain)."""
        return text_of(lambda file: self._call(lib.RitzOperatorExplain, file))

    def get_kernel_source(self) -> str | None:
        """The text of the generated kernel; None where there is none (RitzOperatorGetSource)."""
        return _string(self._get(lib.RitzOperatorGetSource, "const char *"))

    def assemble_csr(self) -> tuple[tuple[NDArray[Any], NDArray[Any], NDArray[Any]], tuple[int, int]]:
        """((values, columns, row_starts), shape): scipy.sparse.csr_matrix(*op.assemble_csr())."""
        num_rows, num_cols = ffi.new("CeedSize *"), ffi.new("CeedSize *")
        starts, cols = ffi.new("int64_t **"), ffi.new("int64_t **")
        self._call(lib.RitzOperatorAssembleCSRSymbolic, num_rows, num_cols, starts, cols)
        row_starts = take_array(starts[0], int(num_rows[0]) + 1, np.int64)
        columns = take_array(cols[0], int(row_starts[-1]), np.int64)
        values = self.ceed.Vector(len(columns))
        self._call(lib.RitzOperatorAssembleCSR, address(row_starts, "const int64_t"),
                   address(columns, "const int64_t"), values._handle.h)
        with values.array_read() as array:
            return (array.copy(), columns, row_starts), (int(num_rows[0]), int(num_cols[0]))


class CompositeOperator(Operator):
    """A sum of operators, empty at first."""

    def add_sub(self, subop: Operator) -> None:
        self._call(lib.CeedOperatorCompositeAddSub, _handle("CompositeOperator.add_sub", subop, Operator))
        self._hold(("part", len(self._keeps)), subop)

    def get_num_sub(self) -> int:
        return self._int(lib.CeedOperatorCompositeGetNumSub)

    def get_sub_list(self) -> list[Operator]:
        subs = self._get(lib.CeedOperatorCompositeGetSubList, "CeedOperator *")
        return [self.ceed._adopt_operator(subs[i]) for i in range(self.get_num_sub())]

    def get_sub_by_name(self, name: str) -> Operator | None:
        sub = self._get_by_name(name)
        return None if sub == ffi.NULL else self.ceed._adopt_operator(sub)

    def _get_by_name(self, name: str) -> Any:
        pointer = ffi.new("CeedOperator *")
        self._call(lib.CeedOperatorCompositeGetSubByName, name.encode(), pointer)
        return pointer[0]

    def set_sequential(self, is_sequential: bool) -> None:
        """Whether each part may read what parts before it wrote to passive vectors."""
        self._call(lib.CeedOperatorCompositeSetSequential, is_sequential)

    def is_sequential(self) -> bool:
        return self._bool(lib.CeedOperatorCompositeIsSequential)

    def get_multiplicity(self, skip_indices: Sequence[int] = (), mult: Vector | None = None) -> Vector:
        """In how many parts the active input refers to each entry; parts of skip_indices are left out."""
        target = self.ceed.Vector(self.get_active_vector_lengths()[0]) if mult is None else mult
        self._call(lib.CeedOperatorCompositeGetMultiplicity, len(skip_indices),
                   ffi.new("CeedInt[]", list(skip_indices)), _handle("CompositeOperator.get_multiplicity",
                                                                     target, Vector))
        return target
