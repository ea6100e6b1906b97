# SPDX-License-Identifier: BSD-2-Clause
"""The Ceed API one to one, with names as in the field's standard package: `import ritz.ceed as libceed`.

A Ceed makes all other objects (ceed.Vector(n), ceed.Operator(qf), ...); it is a ritz.Context, too, so that
meshes, spaces and solvers of ritz can live on it. Methods have the names of the C functions; what these
compute, layouts and errors are those of ceed/ceed.h. Errors are exceptions of ritz (ritz/_core.py). Array
arguments are anything that NumPy takes, of the right number of entries, checked here. No geometry, spaces or
solvers: those are the other modules.
"""
from __future__ import annotations

import contextlib
import ctypes
import re
import sys
import weakref
from typing import Any, Callable, ClassVar, Iterator, NamedTuple, Sequence, TextIO, TypeVar, Union

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._core import AccessError as AccessError
from ._core import ConvergenceError as ConvergenceError
from ._core import DimensionError as DimensionError
from ._core import Error as Error
from ._core import FailedError as FailedError
from ._core import IncompatibleError as IncompatibleError
from ._core import IncompleteError as IncompleteError
from ._core import UnsupportedError as UnsupportedError
from ._core import SCALAR, Context, Handle, address, check, take_array, text_of
from ._lib import ffi, lib  # type: ignore[import-not-found]

# ---- Constants ----

MEM_HOST: int = lib.CEED_MEM_HOST
MEM_DEVICE: int = lib.CEED_MEM_DEVICE
COPY_VALUES: int = lib.CEED_COPY_VALUES
USE_POINTER: int = lib.CEED_USE_POINTER
OWN_POINTER: int = lib.CEED_OWN_POINTER
NORM_1: int = lib.CEED_NORM_1
NORM_2: int = lib.CEED_NORM_2
NORM_MAX: int = lib.CEED_NORM_MAX
NOTRANSPOSE: int = lib.CEED_NOTRANSPOSE
TRANSPOSE: int = lib.CEED_TRANSPOSE
EVAL_NONE: int = lib.CEED_EVAL_NONE
EVAL_INTERP: int = lib.CEED_EVAL_INTERP
EVAL_GRAD: int = lib.CEED_EVAL_GRAD
EVAL_DIV: int = lib.CEED_EVAL_DIV
EVAL_CURL: int = lib.CEED_EVAL_CURL
EVAL_WEIGHT: int = lib.CEED_EVAL_WEIGHT
GAUSS: int = lib.CEED_GAUSS
GAUSS_LOBATTO: int = lib.CEED_GAUSS_LOBATTO
TOPOLOGY_LINE: int = lib.CEED_TOPOLOGY_LINE
TOPOLOGY_TRIANGLE: int = lib.CEED_TOPOLOGY_TRIANGLE
TOPOLOGY_QUAD: int = lib.CEED_TOPOLOGY_QUAD
TOPOLOGY_TET: int = lib.CEED_TOPOLOGY_TET
TOPOLOGY_PYRAMID: int = lib.CEED_TOPOLOGY_PYRAMID
TOPOLOGY_PRISM: int = lib.CEED_TOPOLOGY_PRISM
TOPOLOGY_HEX: int = lib.CEED_TOPOLOGY_HEX
LINE, TRIANGLE, QUAD, TET = TOPOLOGY_LINE, TOPOLOGY_TRIANGLE, TOPOLOGY_QUAD, TOPOLOGY_TET
PYRAMID, PRISM, HEX = TOPOLOGY_PYRAMID, TOPOLOGY_PRISM, TOPOLOGY_HEX
SCALAR_FP32: int = lib.CEED_SCALAR_FP32
SCALAR_FP64: int = lib.CEED_SCALAR_FP64
CONTEXT_FIELD_DOUBLE: int = lib.CEED_CONTEXT_FIELD_DOUBLE
CONTEXT_FIELD_INT32: int = lib.CEED_CONTEXT_FIELD_INT32
CONTEXT_FIELD_BOOL: int = lib.CEED_CONTEXT_FIELD_BOOL
RESTRICTION_STANDARD: int = lib.CEED_RESTRICTION_STANDARD
RESTRICTION_ORIENTED: int = lib.CEED_RESTRICTION_ORIENTED
RESTRICTION_CURL_ORIENTED: int = lib.CEED_RESTRICTION_CURL_ORIENTED
RESTRICTION_STRIDED: int = lib.CEED_RESTRICTION_STRIDED
RESTRICTION_POINTS: int = lib.CEED_RESTRICTION_POINTS
FE_SPACE_H1: int = lib.CEED_FE_SPACE_H1
FE_SPACE_HDIV: int = lib.CEED_FE_SPACE_HDIV
FE_SPACE_HCURL: int = lib.CEED_FE_SPACE_HCURL

STRIDES_BACKEND = (0, 0, 0)  # recognized by value, as in C
REQUEST_IMMEDIATE: Any = lib.CEED_REQUEST_IMMEDIATE
REQUEST_ORDERED: Any = lib.CEED_REQUEST_ORDERED
EPSILON = 1e-16 if SCALAR == np.float64 else 6e-08

scalar_types = {SCALAR_FP32: "float32", SCALAR_FP64: "float64"}


class Sentinel:
    """What stands for "the vector passed to apply" or "none", where an object is expected."""

    def __init__(self, name: str):
        self.name, self.h = name, getattr(lib, name)

    def __repr__(self) -> str:
        return self.name


VECTOR_ACTIVE = Sentinel("CEED_VECTOR_ACTIVE")
VECTOR_NONE = Sentinel("CEED_VECTOR_NONE")
ELEMRESTRICTION_NONE = Sentinel("CEED_ELEMRESTRICTION_NONE")
BASIS_NONE = Sentinel("CEED_BASIS_NONE")
BASIS_COLLOCATED = BASIS_NONE  # its name in older programs
QFUNCTION_NONE = Sentinel("CEED_QFUNCTION_NONE")

_SENTINELS = {int(ffi.cast("uintptr_t", one.h)): one
              for one in (VECTOR_ACTIVE, VECTOR_NONE, ELEMRESTRICTION_NONE, BASIS_NONE, QFUNCTION_NONE)}


class Request:
    """The progress of an action, in the place of REQUEST_IMMEDIATE."""

    def __init__(self) -> None:
        self.pointer = ffi.new("CeedRequest *")

    def wait(self) -> None:
        check(lib.CeedRequestWait(self.pointer))


def _request(request: Any) -> Any:
    return request.pointer if isinstance(request, Request) else request


# ---- Arrays ----


def _array(what: str, values: Any, kind: Any, num: int) -> NDArray[Any]:
    """values as a contiguous array of this type, the caller's own where it is one; num entries or an
    error."""
    kind = np.dtype(kind)
    given = np.asarray(values)
    if given.size != max(num, 0):
        raise DimensionError(f"{what}: an array of {given.size} entries found, {num} needed")
    if given.size == 0:
        return np.zeros(0, kind)
    if kind.kind == "i" and given.dtype.kind in "iu":
        limits = np.iinfo(kind)
        if given.min() < limits.min or given.max() > limits.max:
            raise DimensionError(f"{what}: {given.min()} ... {given.max()} found, {kind} needed")
    elif not np.can_cast(given.dtype, kind, "same_kind"):
        raise IncompatibleError(f"{what}: an array of {given.dtype} found, {kind} needed")
    return np.ascontiguousarray(given, kind)


def _borrowable(what: str, values: Any, kind: Any, num: int) -> NDArray[Any]:
    """values, if C can work in their memory."""
    array = values if isinstance(values, np.ndarray) else np.zeros(0, bool)
    if array.dtype != kind or not array.flags.c_contiguous or not array.flags.writeable:
        found = f"{type(values).__name__} of {array.dtype}" if array is values else type(values).__name__
        raise IncompatibleError(
            f"{what}: {found} found; a writable contiguous NumPy array of {np.dtype(kind)} needed")
    return _array(what, array, kind, num)


class DeviceArray:
    """Device memory that the library has lent: .address; __cuda_array_interface__ for CuPy, Numba,
    PyTorch."""

    def __init__(self, owner: Any, address: int, size: int, is_readonly: bool):
        self.owner, self.address, self.size = owner, address, size
        self.__cuda_array_interface__ = {"version": 3, "shape": (size,), "typestr": SCALAR.str,
                                         "data": (address, is_readonly),}


def _device_address(what: str, array: Any, kind: Any, num: int) -> int:
    """The address of device memory: of an object with __cuda_array_interface__, or an integer."""
    if isinstance(array, int):
        return array
    about = getattr(array, "__cuda_array_interface__", None)
    if about is None:
        raise IncompatibleError(f"{what}: {type(array).__name__} found; device memory needed: an object with "
                                "__cuda_array_interface__ or an address")
    if np.dtype(about["typestr"]) != kind or about.get("strides") is not None:
        raise IncompatibleError(f"{what}: {about['typestr']} found, contiguous {np.dtype(kind).str} needed")
    if int(np.prod(about["shape"])) != num:
        raise DimensionError(
            f"{what}: an array of {int(np.prod(about['shape']))} entries found, {num} needed")
    return int(about["data"][0])


def _scalars(what: str, values: Any, *shape: int) -> Any:
    """(pointer, array that has to live) of a table of CeedScalar; None stands for NULL."""
    if values is None:
        return ffi.NULL, None
    num = 1
    for extent in shape:
        num *= max(extent, 0)
    array = _array(what, values, SCALAR, num)
    return address(array, "const CeedScalar"), array


def _copy(pointer: Any, kind: Any, *shape: int) -> NDArray[Any]:
    """A copy of C's array; the library frees it when it likes."""
    kind = np.dtype(kind)
    size = int(np.prod(shape)) * kind.itemsize
    if size == 0:
        return np.zeros(shape, kind)
    return np.frombuffer(ffi.buffer(pointer, size), kind).copy().reshape(shape)


def _number(pointer: Any) -> int:
    return int(ffi.cast("uintptr_t", pointer))


def _string(pointer: Any) -> str | None:
    return None if pointer == ffi.NULL else ffi.string(pointer).decode(errors="replace")


def _bytes(text: str | None) -> Any:
    return ffi.NULL if text is None else text.encode()


# ---- What all objects have in common ----


class _Object:
    """A counted object. One Python object stands for one C object as long as it lives; it keeps alive what it
    was given, so that arrays under USE_POINTER live as long as anything here uses them."""

    _kind: ClassVar[str]

    def __init__(self, ceed: Ceed, handle: Handle):
        self.ceed, self._handle = ceed, handle
        self._keeps: dict[Any, Any] = {}
        self._is_shared = False
        ceed._objects[_number(handle.h)] = self

    @property
    def h(self) -> Any:
        """The handle, for other modules of ritz."""
        self._share()
        return self._handle.h

    def _share(self) -> None:
        """C objects that Python does not know may hold this one from now on, and what it holds."""
        if not self._is_shared:
            self._is_shared = True
            for kept in self._keeps.values():
                if isinstance(kept, _Object):
                    kept._share()

    def _hold(self, key: Any, value: Any) -> None:
        """The C object holds that of value."""
        self._keeps[key] = value
        if self._is_shared and isinstance(value, _Object):
            value._share()

    def _call(self, function: Callable[..., int], *args: Any) -> None:
        self.ceed.call(function, self._handle.h, *args)

    def _get(self, function: Callable[..., int], kind: str, *args: Any) -> Any:
        pointer = ffi.new(kind + " *")
        self._call(function, *args, pointer)
        return pointer[0]

    def _int(self, function: Callable[..., int], *args: Any) -> int:
        return int(self._get(function, "CeedInt", *args))

    def _size(self, function: Callable[..., int], *args: Any) -> int:
        return int(self._get(function, "CeedSize", *args))

    def _bool(self, function: Callable[..., int], *args: Any) -> bool:
        return bool(self._get(function, "bool", *args))

    def _object(self, kind: type[_O], function: Callable[..., int], *args: Any) -> Any:
        """The Python object for the reference that a call gives: None, a sentinel or an object."""
        pointer = ffi.new(kind._kind + " *")
        self._call(function, *args, pointer)
        return self.ceed._wrap(kind, pointer)

    def _write(self, file: Any) -> None:
        self._call(getattr(lib, self._kind + "View"), file)

    def __str__(self) -> str:
        return text_of(self._write)

    def __repr__(self) -> str:
        return f"<{self._kind} at {_number(self._handle.h):#x} on {self.ceed.resource}>"

    def view(self, file: TextIO | None = None) -> None:
        """Shows the object, as str() does, in a file or on sys.stdout."""
        (file or sys.stdout).write(str(self))

    def set_num_view_tabs(self, num_tabs: int) -> None:
        self._call(getattr(lib, self._kind + "SetNumViewTabs"), num_tabs)

    def get_num_view_tabs(self) -> int:
        return self._int(getattr(lib, self._kind + "GetNumViewTabs"))


_O = TypeVar("_O", bound=_Object)
_T = TypeVar("_T")


def _handle(what: str, value: Any, kind: type[_Object]) -> Any:
    """The C handle of an argument: an object of this kind, of any module of ritz, or a sentinel."""
    if isinstance(value, kind):
        return value._handle.h
    h = getattr(value, "h", None)
    if not isinstance(h, ffi.CData) or ffi.typeof(h) is not ffi.typeof(kind._kind):
        raise IncompatibleError(f"{what}: {value!r:.80} found, {kind.__name__} needed")
    return h


# ---- Vectors ----


class Vector(_Object):
    """Scalars on host and device. Made by ceed.Vector(size), without values.

    Host memory that NumPy sees is Python's: the caller's array, or one that the vector gets at the first look
    at its values. So arrays that were lent stay usable, if not up to date, whatever happens to the vector.
    """

    _kind = "CeedVector"
    _num_readers = 0
    _is_written = False
    _is_callers: bool = False  # the array in host memory is the caller's

    def __del__(self) -> None:
        """Gives back what is lent; C objects that hold the vector get values of their own."""
        array, lends = self._keeps.get(MEM_HOST) if self._is_shared else None, (self._is_written,
                                                                                self._num_readers)
        if any(lends) or array is not None:
            self.ceed.drop(lambda pointer: _leave_vector(pointer[0], lends, array), self._handle._pointer)

    def __len__(self) -> int:
        return self.get_length()

    def get_length(self) -> int:
        return self._size(lib.CeedVectorGetLength)

    def set_array(self, array: Any, memtype: int = MEM_HOST, cmode: int = COPY_VALUES) -> None:
        """Gives the vector an array of its length. USE_POINTER: the vector works in this memory, which lives
        as long as it does; OWN_POINTER: the same. MEM_DEVICE: an object with __cuda_array_interface__ or an
        address."""
        what, size = "Vector.set_array", len(self)
        is_copied = cmode == COPY_VALUES
        if memtype == MEM_DEVICE:
            pointer = ffi.cast("CeedScalar *", _device_address(what, array, SCALAR, size))
        else:
            array = (_array if is_copied else _borrowable)(what, array, SCALAR, size)
            pointer = address(array, "CeedScalar")
        self._call(lib.CeedVectorSetArray, memtype, cmode if is_copied else USE_POINTER, pointer)
        if not is_copied:
            self._keeps[memtype] = array
            self._is_callers = memtype == MEM_HOST or self._is_callers

    def take_array(self, memtype: int = MEM_HOST) -> Any:
        """Gives the caller's array of USE_POINTER back, with the values in it; the vector has none in this
        memory afterwards."""
        if memtype == MEM_HOST and not self._is_callers:
            raise FailedError("Vector.take_array: no array of the caller's found in host memory",
                              lib.CEED_ERROR_BACKEND)
        self._call(lib.CeedVectorTakeArray, memtype, ffi.NULL)
        self._is_callers = self._is_callers and memtype != MEM_HOST
        return self._keeps.pop(memtype, None)

    def sync_array(self, memtype: int = MEM_HOST) -> None:
        """Brings the values into this memory."""
        self._call(lib.CeedVectorSyncArray, memtype)

    def get_array(self, memtype: int = MEM_HOST) -> Any:
        """Lends the array for reading and writing, until restore_array: of MEM_HOST a NumPy array."""
        array = self._lend(lib.CeedVectorGetArray, memtype)
        self._is_written = True
        return array

    def get_array_write(self, memtype: int = MEM_HOST) -> Any:
        """The same with unspecified values, for writing alone."""
        array = self._lend(lib.CeedVectorGetArrayWrite, memtype)
        self._is_written = True
        return array

    def get_array_read(self, memtype: int = MEM_HOST) -> Any:
        """Lends the array for reading, until restore_array_read."""
        array = self._lend(lib.CeedVectorGetArrayRead, memtype, True)
        self._num_readers += 1
        return array

    def restore_array(self) -> None:
        self._call(lib.CeedVectorRestoreArray, ffi.new("CeedScalar **"))
        self._is_written = False

    def restore_array_read(self) -> None:
        self._call(lib.CeedVectorRestoreArrayRead, ffi.new("const CeedScalar **"))
        self._num_readers -= 1

    @contextlib.contextmanager
    def array(self, *shape: int, memtype: int = MEM_HOST) -> Iterator[Any]:
        """`with v.array() as a:` reading and writing; with numbers, an array of this shape."""
        array = self.get_array(memtype)
        try:
            yield array.reshape(shape) if shape else array
        finally:
            self.restore_array()

    @contextlib.contextmanager
    def array_write(self, *shape: int, memtype: int = MEM_HOST) -> Iterator[Any]:
        """`with v.array_write() as a:` unspecified values, for writing."""
        array = self.get_array_write(memtype)
        try:
            yield array.reshape(shape) if shape else array
        finally:
            self.restore_array()

    @contextlib.contextmanager
    def array_read(self, *shape: int, memtype: int = MEM_HOST) -> Iterator[Any]:
        """`with v.array_read() as a:` reading."""
        array = self.get_array_read(memtype)
        try:
            yield array.reshape(shape) if shape else array
        finally:
            self.restore_array_read()

    def _lend(self, get: Callable[..., int], memtype: int, is_readonly: bool = False) -> Any:
        size = len(self)
        pointer = ffi.new("const CeedScalar **" if is_readonly else "CeedScalar **")
        with self.ceed._lock:
            if memtype == MEM_HOST and size and MEM_HOST not in self._keeps:
                self._move_to_python(get, is_readonly, pointer, size)
            self._call(get, memtype, pointer)
        if memtype == MEM_DEVICE:
            return DeviceArray(self, _number(pointer[0]), size, is_readonly)
        array = self._keeps[MEM_HOST].reshape(-1).view() if size else np.zeros(0, SCALAR)
        array.flags.writeable = not is_readonly
        return array

    def _move_to_python(self, get: Callable[..., int], is_readonly: bool, pointer: Any, size: int) -> None:
        """The values move into memory of Python, which the vector borrows from now on."""
        self._call(get, MEM_HOST, pointer)
        memory = np.empty(size * SCALAR.itemsize + 64, np.uint8)  # aligned as the library's own
        first = -memory.ctypes.data % 64
        array = memory[first:first + size * SCALAR.itemsize].view(SCALAR)
        ffi.memmove(ffi.from_buffer(array), pointer[0], array.nbytes)
        self._call(lib.CeedVectorRestoreArrayRead if is_readonly else lib.CeedVectorRestoreArray, pointer)
        self._call(lib.CeedVectorSetArray, MEM_HOST, USE_POINTER, address(array, "CeedScalar"))
        self._keeps[MEM_HOST] = array

    def has_valid_array(self) -> bool:
        return self._bool(lib.CeedVectorHasValidArray)

    def has_borrowed_array_of_type(self, memtype: int = MEM_HOST) -> bool:
        """Whether the array in this memory is the caller's."""
        is_borrowed = self._bool(lib.CeedVectorHasBorrowedArrayOfType, memtype)
        return is_borrowed and (memtype != MEM_HOST or self._is_callers)

    def get_state(self) -> int:
        """A number that grows with every modification."""
        return int(self._get(lib.CeedVectorGetState, "uint64_t"))

    def set_value(self, value: float) -> None:
        self._call(lib.CeedVectorSetValue, value)

    def set_value_strided(self, start: int, stop: int, step: int, value: float) -> None:
        self._call(lib.CeedVectorSetValueStrided, start, stop, step, value)

    def copy(self, vec_copy: Vector | None = None) -> Vector:
        """Copies the values to vec_copy, or to a new vector, and returns that."""
        target = self.ceed.Vector(len(self)) if vec_copy is None else vec_copy
        self._call(lib.CeedVectorCopy, _handle("Vector.copy", target, Vector))
        return target

    def copy_strided(self, start: int, stop: int, step: int, vec_copy: Vector) -> None:
        self._call(lib.CeedVectorCopyStrided, start, stop, step, _handle("Vector.copy_strided", vec_copy,
                                                                         Vector))

    def norm(self, normtype: int = NORM_2) -> float:
        return float(self._get(lib.CeedVectorNorm, "CeedScalar", normtype))

    def scale(self, alpha: float) -> None:
        self._call(lib.CeedVectorScale, alpha)

    def filter(self, threshold: float) -> None:
        self._call(lib.CeedVectorFilter, threshold)

    def axpy(self, alpha: float, x: Vector) -> None:
        """self = alpha x + self"""
        self._call(lib.CeedVectorAXPY, alpha, _handle("Vector.axpy", x, Vector))

    def axpby(self, alpha: float, beta: float, x: Vector) -> None:
        """self = alpha x + beta self"""
        self._call(lib.CeedVectorAXPBY, alpha, beta, _handle("Vector.axpby", x, Vector))

    def pointwise_mult(self, x: Vector, y: Vector) -> None:
        """self_i = x_i y_i"""
        what = "Vector.pointwise_mult"
        self._call(lib.CeedVectorPointwiseMult, _handle(what, x, Vector), _handle(what, y, Vector))

    def reciprocal(self) -> None:
        self._call(lib.CeedVectorReciprocal)

    def _write(self, file: Any) -> None:
        self._call(lib.CeedVectorView, b"%12.8f", file)

    def view_range(self, start: int = 0, stop: int = -1, step: int = 1, fmt: str = "%12.8f",
                   file: TextIO | None = None) -> None:
        """Shows the entries start, start + step, ... below stop (-1: the length), one a line."""
        if not re.fullmatch(r"[^%]*%[-+ #0]*\d*(\.\d+)?[eEfFgGaA][^%]*", fmt):
            raise IncompatibleError(
                f"Vector.view_range: format {fmt!r} found, one of a floating-point number needed")
        text = text_of(lambda out: self._call(lib.CeedVectorViewRange, start, stop, step, fmt.encode(), out))
        (file or sys.stdout).write(text)


def _leave_vector(h: Any, lends: tuple[bool, int], array: NDArray[Any] | None) -> int:
    """Ends loans of a vector that Python has forgotten; array: whose values become the vector's own."""
    if lends[0]:
        lib.CeedVectorRestoreArray(h, ffi.new("CeedScalar **"))
    for _ in range(lends[1]):
        lib.CeedVectorRestoreArrayRead(h, ffi.new("const CeedScalar **"))
    if array is not None and not lib.CeedVectorTakeArray(h, MEM_HOST, ffi.NULL):
        lib.CeedVectorSetArray(h, MEM_HOST, COPY_VALUES, address(array, "CeedScalar"))
    return 0


# ---- Element restrictions ----


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


# ---- Bases ----


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


# ---- QFunctions and their contexts ----


class ContextFieldLabel:
    """A registered field of a context, for operators to set: .name, .offset, .num_values, .description,
    .type."""

    def __init__(self, owner: _Object, pointer: Any):
        self.owner, self.pointer = owner, pointer  # the owner keeps the label
        name, text = ffi.new("const char **"), ffi.new("const char **")
        offset, num, kind = ffi.new("size_t *"), ffi.new("size_t *"), ffi.new("CeedContextFieldType *")
        owner.ceed.call(lib.CeedContextFieldLabelGetDescription, pointer, name, offset, num, text, kind)
        self.name, self.description = _string(name[0]) or "", _string(text[0]) or ""
        self.offset, self.num_values, self.type = int(offset[0]), int(num[0]), int(kind[0])

    def __repr__(self) -> str:
        return f"<ContextFieldLabel {self.name!r}, {self.num_values} values>"


class _HasFields(_Object):
    """What contexts and operators have in common: fields by label or name."""

    _word: ClassVar[str] = ""  # in the names of the C functions

    def _label(self, field: ContextFieldLabel | str) -> ContextFieldLabel:
        if isinstance(field, ContextFieldLabel):
            return field
        label = self._find_label(field)
        if label is None:
            raise UnsupportedError(f"{self._kind}: no field {field!r} is registered",
                                   lib.CEED_ERROR_UNSUPPORTED)
        return label

    def _function(self, verb: str, what: str) -> Callable[..., int]:
        function: Callable[..., int] = getattr(lib, self._kind + verb + self._word + what)
        return function

    def _find_label(self, name: str) -> ContextFieldLabel | None:
        label = self._get(self._function("Get", "FieldLabel"), "CeedContextFieldLabel", name.encode())
        return None if label == ffi.NULL else ContextFieldLabel(self, label)

    def _set_field(self, kind: str, dtype: Any, field: ContextFieldLabel | str, values: ArrayLike) -> None:
        label = self._label(field)
        array = _array(f"{self._kind}: field {label.name!r}", values, dtype, label.num_values)
        pointer = ffi.cast(_C_NAMES[kind] + " *", array.ctypes.data)
        self._call(self._function("Set", kind), label.pointer, pointer)

    def _read_field(self, kind: str, dtype: Any, field: ContextFieldLabel | str) -> NDArray[Any]:
        label, num = self._label(field), ffi.new("size_t *")
        pointer = ffi.new(f"const {_C_NAMES[kind]} **")
        self._call(self._function("Get", kind + "Read"), label.pointer, num, pointer)
        try:
            return _copy(pointer[0], dtype, int(num[0]))
        finally:
            self._call(self._function("Restore", kind + "Read"), label.pointer, pointer)


_C_NAMES = {"Double": "double", "Int32": "int32_t", "Boolean": "bool"}


class QFunctionContext(_HasFields):
    """Parameters of a QFunction: a block of bytes with named fields in it. Made by
    ceed.QFunctionContext()."""

    _kind = "CeedQFunctionContext"
    _dtype: Any = np.uint8
    _lent: tuple[str, Any] | None = None  # (kind of loan, array that goes back at its end)
    _num_readers = 0

    def __del__(self) -> None:
        lends, block = (self._lent is not None, self._num_readers), None
        if self._is_shared and MEM_HOST in self._keeps:
            block = self._keeps[MEM_HOST][1]
        if any(lends) or block is not None:
            self.ceed.drop(lambda pointer: _leave_context(pointer[0], lends, block), self._handle._pointer)

    def set_data(self, data: Any, memtype: int = MEM_HOST, cmode: int = COPY_VALUES) -> None:
        """Gives the context the bytes of data: a NumPy array, structured or not, a ctypes structure, bytes.
        USE_POINTER: it works in this memory, which lives as long as it does; OWN_POINTER: the same."""
        what, mode = "QFunctionContext.set_data", COPY_VALUES if cmode == COPY_VALUES else USE_POINTER
        if memtype == MEM_DEVICE:
            about = getattr(data, "__cuda_array_interface__", {"shape": (0,), "typestr": "|u1"})
            num, kind = int(np.prod(about["shape"])), np.dtype(about["typestr"])
            pointer, size, block = ffi.cast("void *", _device_address(what, data, kind,
                                                                      num)), num * kind.itemsize, None
        else:
            kind = data.dtype if isinstance(data, np.ndarray) else np.dtype(np.uint8)
            block = _bytes_of(what, data, mode == USE_POINTER)
            pointer, size = ffi.from_buffer(block), block.nbytes
        self._call(lib.CeedQFunctionContextSetData, memtype, mode, size, pointer)
        self._dtype = kind
        self._keeps.pop(1 - memtype, None)
        if mode == USE_POINTER:
            self._keeps[memtype] = data, block
        else:
            self._keeps.pop(memtype, None)

    def take_data(self, memtype: int = MEM_HOST) -> Any:
        """Gives the caller's memory of USE_POINTER back, up to date."""
        self._call(lib.CeedQFunctionContextTakeData, memtype, ffi.NULL)
        return self._keeps.pop(memtype, (None,))[0]

    def get_data(self, memtype: int = MEM_HOST) -> Any:
        """Lends the data for reading and writing, until restore_data: an array of the type that was set."""
        self._lent = self._lend(lib.CeedQFunctionContextGetData, memtype)
        return self._lent[1]

    def get_data_read(self, memtype: int = MEM_HOST) -> Any:
        """Lends the data for reading, until restore_data_read."""
        array = self._lend(lib.CeedQFunctionContextGetDataRead, memtype)[1]
        self._num_readers += 1
        if isinstance(array, np.ndarray):
            array.flags.writeable = False
        return array

    def _lend(self, get: Callable[..., int], memtype: int) -> tuple[Any, Any]:
        """(C's memory, array): the array is a copy unless the memory is the caller's."""
        pointer, size = ffi.new("void **"), self.get_context_size()
        self._call(get, memtype, pointer)
        if memtype == MEM_DEVICE:
            return None, _number(pointer[0])
        kind = self._dtype if size % self._dtype.itemsize == 0 else np.dtype(np.uint8)
        if MEM_HOST in self._keeps:
            return None, self._keeps[MEM_HOST][1].view(kind)
        return pointer[0], np.frombuffer(ffi.buffer(pointer[0], size), np.uint8).copy().view(kind)

    def restore_data(self) -> None:
        if self._lent is not None and self._lent[0] is not None:
            ffi.memmove(self._lent[0], ffi.from_buffer(self._lent[1].view(np.uint8)), self._lent[1].nbytes)
        self._call(lib.CeedQFunctionContextRestoreData, ffi.new("void **"))
        self._lent = None

    def restore_data_read(self) -> None:
        self._call(lib.CeedQFunctionContextRestoreDataRead, ffi.new("void **"))
        self._num_readers -= 1

    @contextlib.contextmanager
    def data(self, memtype: int = MEM_HOST) -> Iterator[Any]:
        """`with ctx.data() as a:` reading and writing."""
        array = self.get_data(memtype)
        try:
            yield array
        finally:
            self.restore_data()

    @contextlib.contextmanager
    def data_read(self, memtype: int = MEM_HOST) -> Iterator[Any]:
        """`with ctx.data_read() as a:` reading."""
        array = self.get_data_read(memtype)
        try:
            yield array
        finally:
            self.restore_data_read()

    def get_context_size(self) -> int:
        """Bytes of the data."""
        return int(self._get(lib.CeedQFunctionContextGetContextSize, "size_t"))

    def register_double(self, name: str, offset: int, num_values: int = 1,
                        description: str | None = None) -> None:
        """Names num_values doubles at this byte of the data, to be set through operators."""
        self._call(lib.CeedQFunctionContextRegisterDouble, name.encode(), offset, num_values,
                   _bytes(description))

    def register_int32(self, name: str, offset: int, num_values: int = 1,
                       description: str | None = None) -> None:
        self._call(lib.CeedQFunctionContextRegisterInt32, name.encode(), offset, num_values,
                   _bytes(description))

    def register_boolean(self, name: str, offset: int, num_values: int = 1,
                         description: str | None = None) -> None:
        self._call(lib.CeedQFunctionContextRegisterBoolean, name.encode(), offset, num_values,
                   _bytes(description))

    def get_all_field_labels(self) -> list[ContextFieldLabel]:
        labels, num = ffi.new("const CeedContextFieldLabel **"), ffi.new("CeedInt *")
        self._call(lib.CeedQFunctionContextGetAllFieldLabels, labels, num)
        return [ContextFieldLabel(self, labels[0][i]) for i in range(num[0])]

    def get_field_label(self, name: str) -> ContextFieldLabel | None:
        return self._find_label(name)

    def set_double(self, field: ContextFieldLabel | str, values: ArrayLike) -> None:
        self._set_field("Double", np.float64, field, values)

    def set_int32(self, field: ContextFieldLabel | str, values: ArrayLike) -> None:
        self._set_field("Int32", np.int32, field, values)

    def set_boolean(self, field: ContextFieldLabel | str, values: ArrayLike) -> None:
        self._set_field("Boolean", np.bool_, field, values)

    def get_double(self, field: ContextFieldLabel | str) -> NDArray[Any]:
        return self._read_field("Double", np.float64, field)

    def get_int32(self, field: ContextFieldLabel | str) -> NDArray[Any]:
        return self._read_field("Int32", np.int32, field)

    def get_boolean(self, field: ContextFieldLabel | str) -> NDArray[Any]:
        return self._read_field("Boolean", np.bool_, field)


def _bytes_of(what: str, data: Any, is_written: bool) -> NDArray[Any]:
    """The memory of an object with a buffer, as bytes."""
    try:
        view = memoryview(data)
    except TypeError:
        raise IncompatibleError(
            f"{what}: {type(data).__name__} found, an object with a buffer needed") from None
    if not view.c_contiguous or (is_written and view.readonly):
        raise IncompatibleError(
            f"{what}: memory with gaps or read-only found, contiguous{' writable' * is_written} needed")
    return np.frombuffer(data, np.uint8) if view.nbytes else np.zeros(0, np.uint8)


def _leave_context(h: Any, lends: tuple[bool, int], block: NDArray[Any] | None) -> int:
    """Ends loans of a context that Python has forgotten; block: bytes that become the context's own."""
    if lends[0]:
        lib.CeedQFunctionContextRestoreData(h, ffi.new("void **"))
    for _ in range(lends[1]):
        lib.CeedQFunctionContextRestoreDataRead(h, ffi.new("void **"))
    if block is not None and not lib.CeedQFunctionContextTakeData(h, MEM_HOST, ffi.NULL):
        lib.CeedQFunctionContextSetData(h, MEM_HOST, COPY_VALUES, block.nbytes, ffi.from_buffer(block))
    return 0


class QFunctionField(NamedTuple):
    name: str
    size: int  # scalars per point
    eval_mode: int


class QFunction(_Object):
    """D: what happens at a point. Made by ceed.QFunction(...), ceed.QFunctionByName(...) and their
    sisters."""

    _kind = "CeedQFunction"

    def add_input(self, fieldname: str, size: int, emode: int) -> None:
        """size: scalars per point, components times those of the mode (EVAL_GRAD: the dimension)."""
        self._call(lib.CeedQFunctionAddInput, fieldname.encode(), size, emode)

    def add_output(self, fieldname: str, size: int, emode: int) -> None:
        self._call(lib.CeedQFunctionAddOutput, fieldname.encode(), size, emode)

    def get_fields(self) -> tuple[list[QFunctionField], list[QFunctionField]]:
        """(inputs, outputs); no field can be added afterwards."""
        return _two_lists(self, "CeedQFunctionField", lib.CeedQFunctionGetFields, self._field)

    def _field(self, field: Any) -> QFunctionField:
        name, size, mode = ffi.new("const char **"), ffi.new("CeedInt *"), ffi.new("CeedEvalMode *")
        self.ceed.call(lib.CeedQFunctionFieldGetData, field, name, size, mode)
        return QFunctionField(_string(name[0]) or "", int(size[0]), int(mode[0]))

    def set_context(self, ctx: QFunctionContext | None) -> None:
        """Attaches a context in place of the one before; None detaches."""
        h = ffi.NULL if ctx is None else _handle("QFunction.set_context", ctx, QFunctionContext)
        self._call(lib.CeedQFunctionSetContext, h)
        self._hold("context", ctx)

    def get_context(self) -> QFunctionContext | None:
        context: QFunctionContext | None = self._object(QFunctionContext, lib.CeedQFunctionGetContext)
        return context

    def set_context_writable(self, is_writable: bool) -> None:
        self._call(lib.CeedQFunctionSetContextWritable, is_writable)

    def is_context_writable(self) -> bool:
        return self._bool(lib.CeedQFunctionIsContextWritable)

    def set_user_flops_estimate(self, flops: int) -> None:
        self._call(lib.CeedQFunctionSetUserFlopsEstimate, flops)

    def get_flops_estimate(self) -> int:
        return self._size(lib.CeedQFunctionGetFlopsEstimate)

    def apply(self, q: int, inputs: Sequence[Vector], outputs: Sequence[Vector]) -> None:
        """Runs the function alone at q points; one vector for each field, in their order."""
        what, needed = "QFunction.apply", self.get_num_args()
        if (len(inputs), len(outputs)) != needed:
            raise DimensionError(
                f"{what}: {len(inputs)} and {len(outputs)} vectors found, {needed[0]} and {needed[1]} needed")
        lists = [ffi.new("CeedVector[]", [_handle(what, one, Vector) for one in some])
                         for some in (inputs, outputs)]
        self._call(lib.CeedQFunctionApply, q, *lists)

    def get_num_args(self) -> tuple[int, int]:
        """Numbers of inputs and outputs."""
        num_in, num_out = ffi.new("CeedInt *"), ffi.new("CeedInt *")
        self._call(lib.CeedQFunctionGetNumArgs, num_in, num_out)
        return int(num_in[0]), int(num_out[0])

    def get_name(self) -> str:
        return _string(self._get(lib.CeedQFunctionGetName, "const char *")) or ""

    def get_kernel_name(self) -> str:
        return _string(self._get(lib.CeedQFunctionGetKernelName, "const char *")) or ""

    def get_source_path(self) -> str | None:
        """The source file as it was found; None without one, as for texts."""
        return _string(self._get(lib.CeedQFunctionGetSourcePath, "const char *"))

    def get_source(self) -> str | None:
        """The text of the source with its own includes in it."""
        pointer = self._get(lib.CeedQFunctionLoadSourceToBuffer, "const char *")
        text = _string(pointer)
        lib.free(ffi.cast("void *", pointer))
        return text

    def get_vector_length(self) -> int:
        return self._int(lib.CeedQFunctionGetVectorLength)

    def get_user_function(self) -> int:
        """The address of the function on the host, 0 without one."""
        return _number(self._get(lib.CeedQFunctionGetUserFunction, "CeedQFunctionUser"))

    def is_identity(self) -> bool:
        return self._bool(lib.CeedQFunctionIsIdentity)

    def is_immutable(self) -> bool:
        return self._bool(lib.CeedQFunctionIsImmutable)


def _two_lists(owner: _Object, kind: str, get: Callable[..., int], wrap: Callable[[Any], _T]
               ) -> tuple[list[_T], list[_T]]:
    """Lists of inputs and outputs that C gives as arrays."""
    nums = ffi.new("CeedInt *"), ffi.new("CeedInt *")
    arrays = ffi.new(kind + " **"), ffi.new(kind + " **")
    owner._call(get, nums[0], arrays[0], nums[1], arrays[1])
    inputs, outputs = ([wrap(array[0][i]) for i in range(num[0])] for num, array in zip(nums, arrays))
    return inputs, outputs


def _function_pointer(what: str, f: Any) -> Any:
    """The C pointer of a QFunction: an address, a function of ctypes, a pointer of cffi."""
    if isinstance(f, int):
        number = f
    elif isinstance(f, ffi.CData):
        number = _number(f)
    elif isinstance(f, ctypes.c_void_p) or hasattr(f, "argtypes"):
        number = ctypes.cast(f, ctypes.c_void_p).value or 0
    else:
        raise IncompatibleError(f"{what}: {f!r:.80} found; an address or a function of ctypes or cffi needed")
    return ffi.cast("CeedQFunctionUser", number)


# ---- Operators ----


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


AnyVector = Union[Vector, Sentinel]
AnyRestriction = Union[ElemRestriction, Sentinel]
AnyBasis = Union[Basis, Sentinel]
_Vector = Vector  # these are types in the class whose methods have the names
_ElemRestriction = ElemRestriction
_QFunction = QFunction
_QFunctionContext = QFunctionContext
_Operator = Operator
_CompositeOperator = CompositeOperator


# ---- Contexts ----

_HANDLERS = {"return": lib.CeedErrorReturn, "store": lib.CeedErrorStore, "abort": lib.CeedErrorAbort,
             "exit": lib.CeedErrorExit}


class Ceed(Context):
    """A computing resource: Ceed("/cpu/self"), Ceed("/gpu/cuda"), ...; makes all other objects.

    on_error: "store" and "return", exceptions; "abort" and "exit" end the program.
    """

    def __init__(self, resource: str | None = None, on_error: str = "store"):
        if on_error not in _HANDLERS:
            raise IncompatibleError(
                f"Ceed: on_error={on_error!r} found, one of {', '.join(_HANDLERS)} needed")
        self._objects: weakref.WeakValueDictionary[int, _Object] = weakref.WeakValueDictionary()
        super().__init__(resource)
        self.call(lib.CeedSetErrorHandler, self.h, _HANDLERS[on_error])

    def _wrap(self, kind: type[_O], pointer: Any, is_shared: bool = True) -> Any:
        """The Python object for the reference in *pointer, which it takes: None, a sentinel or an object."""
        number = _number(pointer[0])
        if not number:
            return None
        if number in _SENTINELS:
            return _SENTINELS[number]
        handle, known = Handle(self, kind._kind, pointer), self._objects.get(number)
        if known is not None:
            return known
        if kind is Operator:
            is_composite = ffi.new("bool *")
            self.call(lib.CeedOperatorIsComposite, pointer[0], is_composite)
            new: _Object = CompositeOperator(self, handle) if is_composite[0] else Operator(self, handle)
        else:
            new = kind(self, handle)
        if is_shared:
            new._share()
        return new

    def _adopt_operator(self, h: Any) -> _Operator:
        pointer = ffi.new("CeedOperator *")
        self.call(lib.CeedOperatorReferenceCopy, h, pointer)
        operator: _Operator = self._wrap(Operator, pointer)
        return operator

    def _create(self, kind: type[_O], create: Callable[..., int], *args: Any) -> _O:
        return kind(self, self.new(kind._kind, create, self.h, *args))

    # The context

    def get_resource(self) -> str:
        """The name that was chosen, without options."""
        pointer = ffi.new("const char **")
        self.call(lib.CeedGetResource, self.h, pointer)
        return _string(pointer[0]) or ""

    def get_preferred_memtype(self) -> int:
        pointer = ffi.new("CeedMemType *")
        self.call(lib.CeedGetPreferredMemType, self.h, pointer)
        return int(pointer[0])

    def is_deterministic(self) -> bool:
        pointer = ffi.new("bool *")
        self.call(lib.CeedIsDeterministic, self.h, pointer)
        return bool(pointer[0])

    def scalar_type(self) -> str:
        """"float64" or "float32": CeedScalar of the library, as NumPy names it."""
        pointer = ffi.new("CeedScalarType *")
        self.call(lib.CeedGetScalarType, pointer)
        return scalar_types[int(pointer[0])]

    def set_stream(self, stream: int) -> None:
        """The device's stream or queue, as an address, on which the backend shall work."""
        self.call(lib.CeedSetStream, self.h, ffi.cast("void *", stream))

    def add_jit_source_root(self, path: str) -> None:
        """A folder in which sources of QFunctions and their includes are looked for."""
        self.call(lib.CeedAddJitSourceRoot, self.h, path.encode())

    def add_rust_source_root(self, path: str) -> None:
        self.call(lib.CeedAddRustSourceRoot, self.h, path.encode())

    def add_jit_define(self, define: str) -> None:
        """A macro for run-time compilations, "NAME" or "NAME=value"."""
        self.call(lib.CeedAddJitDefine, self.h, define.encode())

    def set_is_clang(self, is_clang: bool) -> None:
        self.call(lib.CeedSetIsClang, self.h, is_clang)

    def get_is_clang(self) -> bool:
        pointer = ffi.new("bool *")
        self.call(lib.CeedGetIsClang, self.h, pointer)
        return bool(pointer[0])

    def check_file_path(self, path: str) -> bool:
        """Whether a source, "file" or "file:function", can be read."""
        pointer = ffi.new("bool *")
        self.call(lib.CeedCheckFilePath, self.h, path.encode(), pointer)
        return bool(pointer[0])

    def get_jit_absolute_path(self, path: str) -> str:
        """Where a source is found below the folders of add_jit_source_root."""
        pointer = ffi.new("const char **")
        self.call(lib.CeedGetJitAbsolutePath, self.h, path.encode(), pointer)
        found = _string(pointer[0]) or ""
        lib.free(ffi.cast("void *", pointer[0]))
        return found

    def get_error_message(self) -> str:
        """The text of the last error, with its place in the library."""
        pointer = ffi.new("const char **")
        self.call(lib.CeedGetErrorMessage, self.h, pointer)
        return _string(pointer[0]) or ""

    def reset_error_message(self) -> None:
        self.call(lib.CeedResetErrorMessage, self.h, ffi.new("const char **"))

    def set_num_view_tabs(self, num_tabs: int) -> None:
        self.call(lib.CeedSetNumViewTabs, self.h, num_tabs)

    def get_num_view_tabs(self) -> int:
        pointer = ffi.new("CeedInt *")
        self.call(lib.CeedGetNumViewTabs, self.h, pointer)
        return int(pointer[0])

    def __str__(self) -> str:
        return text_of(lambda file: self.call(lib.CeedView, self.h, file))

    def view(self, file: TextIO | None = None) -> None:
        (file or sys.stdout).write(str(self))

    @staticmethod
    def gauss_quadrature(q: int) -> tuple[NDArray[Any], NDArray[Any]]:
        """(points, weights) of Gauss' rule on [-1, 1], exact to degree 2q - 1."""
        return _quadrature(lib.CeedGaussQuadrature, q)

    @staticmethod
    def lobatto_quadrature(q: int) -> tuple[NDArray[Any], NDArray[Any]]:
        """(points, weights) of the Gauss-Lobatto rule on [-1, 1], exact to degree 2q - 3."""
        return _quadrature(lib.CeedLobattoQuadrature, q)

    # Vectors and restrictions

    def Vector(self, size: int) -> _Vector:
        """A vector without values."""
        return self._create(Vector, lib.CeedVectorCreate, size)

    def _restriction(self, what: str, create: Callable[..., int], sizes: Sequence[int], num_offsets: int,
                     offsets: Any, memtype: int, cmode: int, *others: Any) -> _ElemRestriction:
        """offsets, and others, are copied if they are in host memory: (array, C type, numbers an offset)."""
        kept, pointers = [], []
        for array, kind, dtype, num in ((offsets, "CeedInt", np.int32, num_offsets), *others):
            if memtype == MEM_DEVICE:
                where = _device_address(what, array, np.dtype(dtype), num)
                pointers.append(ffi.cast(f"const {kind} *", where))
            else:
                array = _array(what, array, dtype, num)
                pointers.append(address(array, f"const {kind}"))
            kept.append(array)
        mode = USE_POINTER if memtype == MEM_DEVICE and cmode != COPY_VALUES else COPY_VALUES
        new = self._create(ElemRestriction, create, *sizes, memtype, mode, *pointers)
        if mode == USE_POINTER:
            new._hold("arrays", kept)
        return new

    def ElemRestriction(self, nelem: int, elemsize: int, ncomp: int, compstride: int, lsize: int,
                        offsets: Any, memtype: int = MEM_HOST, cmode: int = COPY_VALUES) -> _ElemRestriction:
        """offsets [nelem][elemsize]: node i, component j at offsets[.][i] + j*compstride of the L-vector.
        NumPy arrays are copied, whatever cmode says."""
        return self._restriction("ElemRestriction", lib.CeedElemRestrictionCreate,
                                 (nelem, elemsize, ncomp, compstride, lsize), nelem * elemsize, offsets,
                                 memtype, cmode)

    def OrientedElemRestriction(self, nelem: int, elemsize: int, ncomp: int, compstride: int, lsize: int,
                                offsets: Any, orients: Any, memtype: int = MEM_HOST,
                                cmode: int = COPY_VALUES) -> _ElemRestriction:
        """orients [nelem][elemsize]: True where the node changes sign."""
        num = nelem * elemsize
        return self._restriction("OrientedElemRestriction", lib.CeedElemRestrictionCreateOriented,
                                 (nelem, elemsize, ncomp, compstride, lsize), num, offsets, memtype, cmode,
                                 (orients, "bool", np.bool_, num))

    def CurlOrientedElemRestriction(self, nelem: int, elemsize: int, ncomp: int, compstride: int, lsize: int,
                                    offsets: Any, curl_orients: Any, memtype: int = MEM_HOST,
                                    cmode: int = COPY_VALUES) -> _ElemRestriction:
        """curl_orients [nelem][elemsize][3]: rows of a tridiagonal matrix for each element."""
        num = nelem * elemsize
        return self._restriction("CurlOrientedElemRestriction", lib.CeedElemRestrictionCreateCurlOriented,
                                 (nelem, elemsize, ncomp, compstride, lsize), num, offsets, memtype, cmode,
                                 (curl_orients, "CeedInt8", np.int8, 3 * num))

    def StridedElemRestriction(self, nelem: int, elemsize: int, ncomp: int, lsize: int,
                               strides: Sequence[int]) -> _ElemRestriction:
        """strides of node, component and element, or STRIDES_BACKEND."""
        array = _array("StridedElemRestriction", strides, np.int32, 3)
        return self._create(ElemRestriction, lib.CeedElemRestrictionCreateStrided, nelem,
                            elemsize, ncomp, lsize, address(array, "const CeedInt"))

    def ElemRestrictionAtPoints(self, nelem: int, npoints: int, ncomp: int, lsize: int, offsets: Any,
                                memtype: int = MEM_HOST, cmode: int = COPY_VALUES) -> _ElemRestriction:
        """offsets: nelem + 1 beginnings of the elements' lists in this very array, then npoints numbers of
        points."""
        return self._restriction("ElemRestrictionAtPoints", lib.CeedElemRestrictionCreateAtPoints,
                                 (nelem, npoints, ncomp, lsize), nelem + 1 + npoints, offsets, memtype, cmode)

    def BlockedElemRestriction(self, nelem: int, elemsize: int, blksize: int, ncomp: int, compstride: int,
                               lsize: int, offsets: Any, memtype: int = MEM_HOST,
                               cmode: int = COPY_VALUES) -> _ElemRestriction:
        """With an E-vector of blocks of blksize elements."""
        return self._restriction("BlockedElemRestriction", lib.CeedElemRestrictionCreateBlocked,
                                 (nelem, elemsize, blksize, ncomp, compstride, lsize), nelem * elemsize,
                                 offsets, memtype, cmode)

    def BlockedOrientedElemRestriction(self, nelem: int, elemsize: int, blksize: int, ncomp: int,
                                       compstride: int, lsize: int, offsets: Any, orients: Any,
                                       memtype: int = MEM_HOST, cmode: int = COPY_VALUES) -> _ElemRestriction:
        num = nelem * elemsize
        return self._restriction("BlockedOrientedElemRestriction",
                                 lib.CeedElemRestrictionCreateBlockedOriented,
                                 (nelem, elemsize, blksize, ncomp, compstride, lsize), num, offsets, memtype,
                                 cmode, (orients, "bool", np.bool_, num))

    def BlockedCurlOrientedElemRestriction(self, nelem: int, elemsize: int, blksize: int, ncomp: int,
                                           compstride: int, lsize: int, offsets: Any, curl_orients: Any,
                                           memtype: int = MEM_HOST,
                                           cmode: int = COPY_VALUES) -> _ElemRestriction:
        num = nelem * elemsize
        return self._restriction("BlockedCurlOrientedElemRestriction",
                                 lib.CeedElemRestrictionCreateBlockedCurlOriented,
                                 (nelem, elemsize, blksize, ncomp, compstride, lsize), num, offsets, memtype,
                                 cmode, (curl_orients, "CeedInt8", np.int8, 3 * num))

    def BlockedStridedElemRestriction(self, nelem: int, elemsize: int, blksize: int, ncomp: int, lsize: int,
                                      strides: Sequence[int]) -> _ElemRestriction:
        array = _array("BlockedStridedElemRestriction", strides, np.int32, 3)
        return self._create(ElemRestriction, lib.CeedElemRestrictionCreateBlockedStrided,
                            nelem, elemsize, blksize, ncomp, lsize, address(array, "const CeedInt"))

    # Bases

    def BasisTensorH1Lagrange(self, dim: int, ncomp: int, P: int, Q: int, qmode: int) -> Basis:
        """Lagrange polynomials on [-1, 1]^dim: P Gauss-Lobatto nodes and Q points in each direction."""
        return self._create(Basis, lib.CeedBasisCreateTensorH1Lagrange, dim, ncomp, P, Q, qmode)

    def BasisTensorH1(self, dim: int, ncomp: int, P1d: int, Q1d: int, interp1d: Any, grad1d: Any, qref1d: Any,
                      qweight1d: Any) -> Basis:
        """interp1d, grad1d [Q1d][P1d]; qref1d, qweight1d [Q1d]. None stands for zeros."""
        what, arrays = "BasisTensorH1", ((interp1d, (Q1d, P1d)),
                                         (grad1d, (Q1d, P1d)), (qref1d, (Q1d,)), (qweight1d, (Q1d,)))
        tables = [_scalars(what, values, *shape) for values, shape in arrays]
        return self._create(Basis, lib.CeedBasisCreateTensorH1, dim, ncomp,
                            P1d, Q1d, *(table[0] for table in tables))

    def _basis(self, what: str, create: Callable[..., int], topo: int, ncomp: int, num: tuple[int, int],
               tables: Sequence[tuple[Any, int]], qref: Any, qweight: Any) -> Basis:
        (P, Q), dim = num, topo >> 16
        given = [_scalars(what, values, rows, Q, P) for values, rows in tables]
        given += [_scalars(what, qref, dim, Q), _scalars(what, qweight, Q)]
        return self._create(Basis, create, topo, ncomp, P, Q, *(table[0] for table in given))

    def BasisH1(self, topo: int, ncomp: int, nnodes: int, nqpts: int, interp: Any, grad: Any, qref: Any,
                qweight: Any) -> Basis:
        """interp [nqpts][nnodes], grad [dim][nqpts][nnodes], qref [dim][nqpts], qweight [nqpts]."""
        return self._basis("BasisH1", lib.CeedBasisCreateH1, topo, ncomp, (nnodes, nqpts),
                           ((interp, 1), (grad, topo >> 16)), qref, qweight)

    def BasisHdiv(self, topo: int, ncomp: int, nnodes: int, nqpts: int, interp: Any, div: Any, qref: Any,
                  qweight: Any) -> Basis:
        """interp [dim][nqpts][nnodes], div [nqpts][nnodes]."""
        return self._basis("BasisHdiv", lib.CeedBasisCreateHdiv, topo, ncomp, (nnodes, nqpts),
                           ((interp, topo >> 16), (div, 1)), qref, qweight)

    def BasisHcurl(self, topo: int, ncomp: int, nnodes: int, nqpts: int, interp: Any, curl: Any, qref: Any,
                   qweight: Any) -> Basis:
        """interp [dim][nqpts][nnodes], curl [nqpts][nnodes], in three dimensions [3][nqpts][nnodes]."""
        dim = topo >> 16
        return self._basis("BasisHcurl", lib.CeedBasisCreateHcurl, topo, ncomp, (nnodes, nqpts),
                           ((interp, dim), (curl, 1 if dim < 3 else dim)), qref, qweight)

    # QFunctions

    def QFunction(self, vlength: int, f: Any, source: str) -> _QFunction:
        """f: the function on the host, as an address, a function of ctypes or a pointer of cffi; source:
        "file:function", what devices and generated kernels compile. f None: the host compiles the source,
        too."""
        if f is None:
            return self._from_file(vlength, source)
        new = self._create(QFunction, lib.CeedQFunctionCreateInterior, vlength,
                           _function_pointer("QFunction", f), source.encode())
        new._hold("f", f)
        return new

    def _from_file(self, vlength: int, source: str) -> _QFunction:
        path, colon, name = source.rpartition(":")
        if not colon:
            raise IncompatibleError(
                f'QFunction: source {source!r} found, "file:function" needed where f is None')
        if not self.check_file_path(path):
            path = self.get_jit_absolute_path(path)
        buffer = ffi.new("char **")
        self.call(lib.CeedLoadSourceToBuffer, self.h, path.encode(), buffer)
        text = ffi.gc(buffer[0], lib.free)
        return self._create(QFunction, lib.RitzQFunctionCreateFromText, vlength, text, name.encode())

    def QFunctionFromText(self, text: str, name: str, vlength: int = 1) -> _QFunction:
        """A function in a text in memory: CEED_QFUNCTION(name)(void *ctx, const CeedInt Q, ...) { ... }."""
        return self._create(QFunction, lib.RitzQFunctionCreateFromText, vlength, text.encode(), name.encode())

    def QFunctionByName(self, name: str) -> _QFunction:
        """One of the library's gallery, as "Mass2DBuild"."""
        return self._create(QFunction, lib.CeedQFunctionCreateInteriorByName, name.encode())

    def IdentityQFunction(self, size: int, inmode: int, outmode: int) -> _QFunction:
        """Copies field "input" to field "output"."""
        return self._create(QFunction, lib.CeedQFunctionCreateIdentity, size, inmode, outmode)

    def QFunctionContext(self) -> _QFunctionContext:
        return self._create(QFunctionContext, lib.CeedQFunctionContextCreate)

    # Operators

    def Operator(self, qf: _QFunction, dqf: Any = None, dqfT: Any = None, *, qdfT: Any = None) -> _Operator:
        return self._operator(lib.CeedOperatorCreate, qf, dqf, dqfT if qdfT is None else qdfT)

    def OperatorAtPoints(self, qf: _QFunction, dqf: Any = None, dqfT: Any = None) -> _Operator:
        """Evaluated at the caller's points, see at_points_set_points."""
        return self._operator(lib.CeedOperatorCreateAtPoints, qf, dqf, dqfT)

    def _operator(self, create: Callable[..., int], *qfs: Any) -> _Operator:
        handles = [ffi.NULL if qf is None else _handle("Operator", qf, QFunction) for qf in qfs]
        new = self._create(Operator, create, *handles)
        for i, qf in enumerate(qfs):
            new._hold(("qf", i), qf)
        return new

    def CompositeOperator(self) -> _CompositeOperator:
        return self._create(CompositeOperator, lib.CeedOperatorCreateComposite)


def _quadrature(function: Callable[..., int], q: int) -> tuple[NDArray[Any], NDArray[Any]]:
    points, weights = np.empty(max(q, 0), SCALAR), np.empty(max(q, 0), SCALAR)
    check(function(q, address(points, "CeedScalar"), address(weights, "CeedScalar")))
    return points, weights


gauss_quadrature, lobatto_quadrature = Ceed.gauss_quadrature, Ceed.lobatto_quadrature


# ---- The library ----


def registry_list() -> dict[str, int]:
    """Names of the usable resources with their priorities; lower is preferred."""
    num, names, priorities = ffi.new("size_t *"), ffi.new("char ***"), ffi.new("CeedInt **")
    check(lib.CeedRegistryGetList(num, names, priorities))
    found = {_string(names[0][i]) or "": int(priorities[0][i]) for i in range(num[0])}
    lib.free(names[0])
    lib.free(priorities[0])
    return found


def get_version() -> tuple[int, int, int, bool]:
    """(major, minor, patch, is a release) of the API."""
    numbers, release = [ffi.new("int *") for _ in range(3)], ffi.new("bool *")
    check(lib.CeedGetVersion(*numbers, release))
    return int(numbers[0][0]), int(numbers[1][0]), int(numbers[2][0]), bool(release[0])


def get_git_version() -> str:
    text = ffi.new("const char **")
    check(lib.CeedGetGitVersion(text))
    return _string(text[0]) or ""


def get_build_configuration() -> str:
    text = ffi.new("const char **")
    check(lib.CeedGetBuildConfiguration(text))
    return _string(text[0]) or ""


def get_topology_dimension(topo: int) -> int:
    dim = ffi.new("CeedInt *")
    check(lib.CeedBasisGetTopologyDimension(topo, dim))
    return int(dim[0])
