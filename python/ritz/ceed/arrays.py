# SPDX-License-Identifier: BSD-2-Clause
"""Array arguments: their types and sizes are checked before C sees them. Copies of C's arrays and strings."""
from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._core import SCALAR, DimensionError, IncompatibleError, address
from .._lib import ffi

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
        self.__cuda_array_interface__ = {
            "version": 3, "shape": (size,), "typestr": SCALAR.str, "data": (address, is_readonly),
            "stream": owner.ceed.stream or 1,  # 1: CUDA's legacy default stream
        }


def _device_address(what: str, array: Any, kind: Any, num: int) -> int:
    """The address of device memory: of an object with __cuda_array_interface__, or an integer."""
    if isinstance(array, int):
        return array
    about = getattr(array, "__cuda_array_interface__", None)
    if about is None:
        raise IncompatibleError(f"{what}: {type(array).__name__} found; device memory needed: an object with "
                                "__cuda_array_interface__ or an address")
    shape, strides = about["shape"], about.get("strides")
    in_order = tuple(int(np.prod(shape[i + 1:])) * np.dtype(kind).itemsize for i in range(len(shape)))
    if np.dtype(about["typestr"]) != kind or (strides is not None and tuple(strides) != in_order):
        raise IncompatibleError(f"{what}: {about['typestr']} found, contiguous {np.dtype(kind).str} needed")
    if int(np.prod(shape)) != num:
        raise DimensionError(f"{what}: an array of {int(np.prod(shape))} entries found, {num} needed")
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
