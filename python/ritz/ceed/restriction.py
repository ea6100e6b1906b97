# SPDX-License-Identifier: BSD-2-Clause
"""CeedElemRestriction."""
from __future__ import annotations

from typing import Any, Callable, Union

import numpy as np
from numpy.typing import NDArray

from .._lib import ffi, lib
from .arrays import _copy
from .base import _handle, _Object
from .constants import MEM_HOST, NOTRANSPOSE, REQUEST_IMMEDIATE, TRANSPOSE, Sentinel, _request
from .vector import Vector

class ElemRestriction(_Object):
    """E: from L-vectors to E-vectors. Made by ceed.ElemRestriction(...) and its sisters."""

    _kind = "CeedElemRestriction"

    @property
    def T(self) -> TransposeElemRestriction:
        """The transpose: r.T.apply(e, l)."""
        return TransposeElemRestriction(self)

    def apply(self, u: Vector, v: Vector, tmode: int = NOTRANSPOSE, request: Any = REQUEST_IMMEDIATE) -> None:
        """NOTRANSPOSE: E-vector v = E u. TRANSPOSE: L-vector v += E^T u."""
        what = "ElemRestriction.apply"
        self._call(lib.CeedElemRestrictionApply, tmode, _handle(what, u, Vector), _handle(what, v, Vector),
                   _request(request))

    def apply_block(self, block: int, u: Vector, v: Vector, tmode: int = NOTRANSPOSE,
                    request: Any = REQUEST_IMMEDIATE) -> None:
        """The same for the elements of one block."""
        what = "ElemRestriction.apply_block"
        self._call(lib.CeedElemRestrictionApplyBlock, block, tmode, _handle(what, u, Vector),
                   _handle(what, v, Vector), _request(request))

    def apply_at_points_in_element(self, elem: int, u: Vector, v: Vector, tmode: int = NOTRANSPOSE,
                                   request: Any = REQUEST_IMMEDIATE) -> None:
        """The same for one element of a restriction at points."""
        what = "ElemRestriction.apply_at_points_in_element"
        self._call(lib.CeedElemRestrictionApplyAtPointsInElement, elem, tmode, _handle(what, u, Vector),
                   _handle(what, v, Vector), _request(request))

    def create_vector(self, create_lvec: bool = True,
                      create_evec: bool = True) -> tuple[Vector | None, Vector | None]:
        """(L-vector, E-vector) of its lengths without values; None for one that is not wanted."""
        pointers = [ffi.new("CeedVector *")
                            if is_wanted else ffi.NULL for is_wanted in (create_lvec, create_evec)]
        self._call(lib.CeedElemRestrictionCreateVector, *pointers)
        lvec, evec = (None if p == ffi.NULL else self.ceed._wrap(Vector, p, is_shared=False)
                      for p in pointers)
        return lvec, evec

    def create_unsigned_copy(self) -> ElemRestriction:
        return self._copy_without(lib.CeedElemRestrictionCreateUnsignedCopy)

    def create_unoriented_copy(self) -> ElemRestriction:
        return self._copy_without(lib.CeedElemRestrictionCreateUnorientedCopy)

    def _copy_without(self, create: Callable[..., int]) -> ElemRestriction:
        copy: ElemRestriction = self._object(ElemRestriction, create)
        copy._hold("original", self)
        return copy

    def get_multiplicity(self) -> Vector:
        """A new L-vector: how many nodes of elements refer to each entry."""
        mult = self.ceed.Vector(self.get_l_vector_size())
        self._call(lib.CeedElemRestrictionGetMultiplicity, mult._handle.h)
        return mult

    def get_comp_stride(self) -> int:
        return self._int(lib.CeedElemRestrictionGetCompStride)

    def get_num_elements(self) -> int:
        return self._int(lib.CeedElemRestrictionGetNumElements)

    def get_element_size(self) -> int:
        return self._int(lib.CeedElemRestrictionGetElementSize)

    def get_num_components(self) -> int:
        return self._int(lib.CeedElemRestrictionGetNumComponents)

    def get_l_vector_size(self) -> int:
        return self._size(lib.CeedElemRestrictionGetLVectorSize)

    def get_e_vector_size(self) -> int:
        return self._size(lib.CeedElemRestrictionGetEVectorSize)

    def get_num_blocks(self) -> int:
        return self._int(lib.CeedElemRestrictionGetNumBlocks)

    def get_block_size(self) -> int:
        return self._int(lib.CeedElemRestrictionGetBlockSize)

    def get_num_points(self) -> int:
        return self._int(lib.CeedElemRestrictionGetNumPoints)

    def get_num_points_in_element(self, elem: int) -> int:
        return self._int(lib.CeedElemRestrictionGetNumPointsInElement, elem)

    def get_max_points_in_element(self) -> int:
        return self._int(lib.CeedElemRestrictionGetMaxPointsInElement)

    def get_min_points_in_element(self) -> int:
        return self._int(lib.CeedElemRestrictionGetMinPointsInElement)

    def get_min_max_points_in_element(self) -> tuple[int, int]:
        least, most = ffi.new("CeedInt *"), ffi.new("CeedInt *")
        self._call(lib.CeedElemRestrictionGetMinMaxPointsInElement, least, most)
        return int(least[0]), int(most[0])

    def get_at_points_element_offset(self, elem: int) -> int:
        """Where the points of the element begin in the E-vector."""
        return self._size(lib.CeedElemRestrictionGetAtPointsElementOffset, elem)

    def at_points_are_compatible(self, other: ElemRestriction) -> bool:
        what = "ElemRestriction.at_points_are_compatible"
        return self._bool(lib.CeedElemRestrictionAtPointsAreCompatible, _handle(what, other, ElemRestriction))

    def get_type(self) -> int:
        return int(self._get(lib.CeedElemRestrictionGetType, "CeedRestrictionType"))

    def is_strided(self) -> bool:
        return self._bool(lib.CeedElemRestrictionIsStrided)

    def is_at_points(self) -> bool:
        return self._bool(lib.CeedElemRestrictionIsAtPoints)

    def has_backend_strides(self) -> bool:
        return self._bool(lib.CeedElemRestrictionHasBackendStrides)

    def get_strides(self) -> tuple[int, int, int]:
        return self._three(lib.CeedElemRestrictionGetStrides)

    def get_e_layout(self) -> tuple[int, int, int]:
        """Strides of node, component and element in the E-vector."""
        return self._three(lib.CeedElemRestrictionGetELayout)

    get_layout = get_e_layout

    def get_l_layout(self) -> tuple[int, int, int]:
        """The same in the L-vector of a strided restriction."""
        return self._three(lib.CeedElemRestrictionGetLLayout)

    def _three(self, function: Callable[..., int]) -> tuple[int, int, int]:
        numbers = ffi.new("CeedInt[3]")
        self._call(function, numbers)
        return int(numbers[0]), int(numbers[1]), int(numbers[2])

    def get_offsets(self) -> NDArray[Any]:
        """A copy of the offsets, [num_elem][elem_size]; blocked [num_block][elem_size][block_size]; at points
        the whole array."""
        shape: tuple[int, ...] = (self.get_num_elements(), self.get_element_size())
        if self.is_at_points():
            shape = (self.get_num_elements() + 1 + self.get_num_points(),)
        return self._lent("Offsets", "CeedInt", np.int32, *self._by_blocks(*shape))

    def get_orientations(self) -> NDArray[Any]:
        """A copy of the signs, one for each offset."""
        return self._lent("Orientations", "bool", np.bool_,
                          *self._by_blocks(self.get_num_elements(), self.get_element_size()))

    def get_curl_orientations(self) -> NDArray[Any]:
        """A copy of the tridiagonal matrices, three numbers for each offset."""
        return self._lent("CurlOrientations", "CeedInt8", np.int8,
                          *self._by_blocks(self.get_num_elements(), 3 * self.get_element_size()))

    def _by_blocks(self, *shape: int) -> tuple[int, ...]:
        size = self.get_block_size()
        return (self.get_num_blocks(), shape[1], size) if size > 1 and len(shape) == 2 else shape

    def _lent(self, name: str, kind: str, dtype: Any, *shape: int) -> NDArray[Any]:
        pointer = ffi.new(f"const {kind} **")
        self._call(getattr(lib, "CeedElemRestrictionGet" + name), MEM_HOST, pointer)
        try:
            return _copy(pointer[0], dtype, *shape)
        finally:
            self._call(getattr(lib, "CeedElemRestrictionRestore" + name), pointer)

    def get_flops_estimate(self, tmode: int = NOTRANSPOSE) -> int:
        return self._size(lib.CeedElemRestrictionGetFlopsEstimate, tmode)


class TransposeElemRestriction:
    """E^T: made by r.T."""

    def __init__(self, rstr: ElemRestriction):
        self._rstr = rstr

    @property
    def T(self) -> ElemRestriction:
        return self._rstr

    def apply(self, u: Vector, v: Vector, request: Any = REQUEST_IMMEDIATE) -> None:
        """L-vector v += E^T u."""
        self._rstr.apply(u, v, TRANSPOSE, request)

    def apply_block(self, block: int, u: Vector, v: Vector, request: Any = REQUEST_IMMEDIATE) -> None:
        self._rstr.apply_block(block, u, v, TRANSPOSE, request)


AnyRestriction = Union[ElemRestriction, Sentinel]
