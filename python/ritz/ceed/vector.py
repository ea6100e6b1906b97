# SPDX-License-Identifier: BSD-2-Clause
"""CeedVector."""
from __future__ import annotations

import contextlib
import re
import sys
from typing import TYPE_CHECKING, Any, Callable, Iterator, TextIO, Union

import numpy as np
from numpy.typing import NDArray

from .._core import SCALAR, FailedError, Handle, IncompatibleError, address, text_of
from .._lib import ffi, lib
from .arrays import DeviceArray, _array, _borrowable, _copy, _device_address, _number
from .base import _handle, _Object
from .constants import COPY_VALUES, MEM_DEVICE, MEM_HOST, NORM_2, USE_POINTER, Sentinel

if TYPE_CHECKING:
    from .context import Ceed

class Vector(_Object):
    """Scalars on host and device. Made by ceed.Vector(size), without values.

    Host memory that NumPy sees is Python's: the caller's array, or one that the vector gets at the first look
    at its values. So arrays that were lent stay usable, if not up to date, whatever happens to the vector.
    """

    _kind = "CeedVector"
    _num_readers = 0
    _is_written = False
    _loan: tuple[Any, NDArray[Any]] | None = None  # C's memory, and the array that goes back there at the end
    _is_callers: bool = False  # the array in host memory is the caller's

    def __init__(self, ceed: Ceed, handle: Handle):
        super().__init__(ceed, handle)
        self._used: dict[int, tuple[Any, Any]] = {}  # by kind of memory: the array in use there, its pointer

    def __del__(self) -> None:
        """Gives back what is lent; C objects that hold the vector get values of their own."""
        lends, used = (self._is_written, self._num_readers), self._used if self._is_shared else {}
        if any(lends) or used:
            self.ceed.drop(lambda pointer: _leave_vector(pointer[0], lends, used), self._handle._pointer)

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
            self._used[memtype] = array, pointer
            self._is_callers = memtype == MEM_HOST or self._is_callers

    def take_array(self, memtype: int = MEM_HOST) -> Any:
        """Gives the caller's array of USE_POINTER back, with the values in it; the vector has none in this
        memory afterwards."""
        if memtype == MEM_HOST and not self._is_callers:
            raise FailedError("Vector.take_array: no array of the caller's found in host memory",
                              lib.CEED_ERROR_BACKEND)
        self._call(lib.CeedVectorTakeArray, memtype, ffi.NULL)
        self._is_callers = self._is_callers and memtype != MEM_HOST
        return self._used.pop(memtype, (None,))[0]

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
        if self._loan is not None:
            ffi.memmove(self._loan[0], ffi.from_buffer(self._loan[1]), self._loan[1].nbytes)
            self._loan = None
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
            if memtype == MEM_HOST and size and MEM_HOST not in self._used:
                self._move_to_python(get, is_readonly, pointer, size)
            self._call(get, memtype, pointer)
        if memtype == MEM_DEVICE:
            return DeviceArray(self, _number(pointer[0]), size, is_readonly)
        array = self._used[MEM_HOST][0].reshape(-1).view() if size else np.zeros(0, SCALAR)
        if size and array.ctypes.data != _number(pointer[0]):  # /cpu/self/check lends copies
            array = _copy(pointer[0], SCALAR, size)
            self._loan = None if is_readonly else (pointer[0], array)
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
        where = address(array, "CeedScalar")
        self._call(lib.CeedVectorSetArray, MEM_HOST, USE_POINTER, where)
        self._used[MEM_HOST] = array, where

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


def _leave_vector(h: Any, lends: tuple[bool, int], used: dict[int, tuple[Any, Any]]) -> int:
    """Ends loans of a vector that Python has forgotten; used: memory whose values become the vector's own."""
    if lends[0]:
        lib.CeedVectorRestoreArray(h, ffi.new("CeedScalar **"))
    for _ in range(lends[1]):
        lib.CeedVectorRestoreArrayRead(h, ffi.new("const CeedScalar **"))
    for memtype, (_, pointer) in used.items():
        if not lib.CeedVectorTakeArray(h, memtype, ffi.NULL):
            lib.CeedVectorSetArray(h, memtype, COPY_VALUES, pointer)
    return 0


AnyVector = Union[Vector, Sentinel]
