# SPDX-License-Identifier: BSD-2-Clause
"""Arrays of other packages without copies: by DLPack and __cuda_array_interface__, both ways.

PyTorch, CuPy and JAX arrays are read where they lie, in the memory of the host or of a CUDA device; results are
exported as arrays of the same package. Ritz works on CUDA's legacy default stream, as PyTorch and CuPy do unless
told otherwise; other streams are named when a context is made: device("cuda", stream=...).
"""
from __future__ import annotations

import ctypes
import re
import sys
from typing import Any

import numpy as np

from ._core import SCALAR, AccessError, Context, Vector, ffi, lib

CUDA_DEVICE, HOST_DEVICE = 2, 1  # as DLPack numbers kinds of devices


# ---- Arrays of others: what they are, and making them ----


def package_of(x: Any) -> str:
    """The package that an array's type belongs to."""
    return type(x).__module__.split(".")[0].replace("jaxlib", "jax")


def as_package(vector: Vector, package: str) -> Any:
    """A vector as an array of a package that shares its memory."""
    if package == "numpy":
        return vector.array_ro
    module = sys.modules[package]
    return (module.numpy if package == "jax" else module).from_dlpack(vector)


class Borrowed:
    """The memory of a foreign array: address, kind of memory, and what keeps it alive."""

    def __init__(self, x: Any, size: int, is_written: bool = False):
        if package_of(x) == "jax":
            if is_written:
                raise AccessError("arrays of JAX cannot be written to: let the call make its result", lib.CEED_ERROR_ACCESS)
            x.block_until_ready()
        interface = _cuda_interface(x)
        self.mem_type = lib.CEED_MEM_HOST if interface is None else lib.CEED_MEM_DEVICE
        if interface is None:
            self.keep = _host_array(x)
            kind, shape, address = self.keep.dtype, self.keep.shape, self.keep.ctypes.data
            is_contiguous = self.keep.flags.c_contiguous
        else:
            self.keep = x
            kind, shape, address = np.dtype(interface["typestr"]), interface["shape"], interface["data"][0]
            is_contiguous = interface.get("strides") is None or _is_contiguous(shape, interface["strides"], kind.itemsize)
            self.stream = interface.get("stream")
        if kind != SCALAR or int(np.prod(shape)) != size or not is_contiguous:
            what = "" if is_contiguous else ", not contiguous"
            raise ValueError(f"an array of {kind} {tuple(shape)}{what}; needed {size} numbers of {SCALAR}, contiguous")
        self.address = ffi.cast("CeedScalar *", address)

    def check(self, ctx: Context) -> None:
        """Whether a context can take it."""
        if self.mem_type == lib.CEED_MEM_DEVICE and not (ctx.is_device and "cuda" in ctx.resource):
            raise ValueError(f"an array on a CUDA device, the objects are on {ctx.resource}")
        if self.mem_type == lib.CEED_MEM_DEVICE and self.stream not in (None, 1, ctx.stream):
            raise ValueError(f"an array that is written on stream {self.stream:#x}; make the context with "
                             "device(..., stream=...)")


def _cuda_interface(x: Any) -> dict[str, Any] | None:
    if package_of(x) == "torch" and not x.is_cuda:
        return None
    if package_of(x) == "torch" and x.requires_grad:
        x = x.detach()
    found = getattr(x, "__cuda_array_interface__", None)
    return dict(found) if found is not None else None


def _host_array(x: Any) -> Any:
    if package_of(x) == "torch":
        x = x.detach()
    if hasattr(x, "__dlpack__") and not isinstance(x, np.ndarray):
        return np.from_dlpack(x)
    return np.asarray(x)


def _is_contiguous(shape: tuple[int, ...], strides: tuple[int, ...], size: int) -> bool:
    for extent, stride in zip(reversed(shape), reversed(strides)):
        if extent != 1 and stride != size:
            return False
        size *= extent
    return True


def set_values(vector: Vector, x: Any) -> None:
    """vector := the values of any array, copied where they lie."""
    source = Borrowed(x, vector.size)
    source.check(vector.ctx)
    vector.ctx.call(lib.CeedVectorSetArray, vector.h, source.mem_type, lib.CEED_COPY_VALUES, source.address)


def apply(operator: Any, x: Any, out: Any = None) -> Any:
    """operator x for an array of another package, on its memory; the result is an array of that package."""
    rows, columns = operator.shape
    source = Borrowed(x, columns)
    source.check(operator.ctx)
    u, v = Vector(columns, operator.ctx), Vector(rows, operator.ctx)
    call = operator.ctx.call
    call(lib.CeedVectorSetArray, u.h, source.mem_type, lib.CEED_USE_POINTER, source.address)
    if out is not None:
        target = Borrowed(out, rows, is_written=True)
        target.check(operator.ctx)
        call(lib.CeedVectorSetArray, v.h, target.mem_type, lib.CEED_USE_POINTER, target.address)
    operator.apply(u, out=v)
    call(lib.CeedVectorTakeArray, u.h, source.mem_type, ffi.NULL)
    if out is not None:
        call(lib.CeedVectorTakeArray, v.h, target.mem_type, ffi.NULL)
        return out
    return as_package(v, package_of(x))


# ---- Our vectors for others ----


def device_address(vector: Vector) -> int:
    """The address of the values in the memory of the device, to be read and written."""
    pointer = ffi.new("CeedScalar **")
    vector.ctx.call(lib.CeedVectorGetArray, vector.h, lib.CEED_MEM_DEVICE, pointer)
    address = int(ffi.cast("uintptr_t", pointer[0]))
    vector.ctx.call(lib.CeedVectorRestoreArray, vector.h, pointer)
    return address


def device_number(ctx: Context) -> int:
    found = re.search(r":device_id=(\d+)", ctx.resource)
    return int(found.group(1)) if found else 0


class _DLDevice(ctypes.Structure):
    _fields_ = [("kind", ctypes.c_int32), ("number", ctypes.c_int32)]


class _DLTensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device", _DLDevice), ("num_dims", ctypes.c_int32), ("code", ctypes.c_uint8),
                ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16), ("shape", ctypes.POINTER(ctypes.c_int64)),
                ("strides", ctypes.POINTER(ctypes.c_int64)), ("byte_offset", ctypes.c_uint64)]


class _DLManagedTensor(ctypes.Structure):
    """DLPack's exchange structure, version 0 (dlpack.h, DLManagedTensor)."""

    _fields_ = [("tensor", _DLTensor), ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p)]


_lent: dict[int, Any] = {}  # by address of the structure: it, its shape and the vector, until the consumer is done


@ctypes.CFUNCTYPE(None, ctypes.c_void_p)
def _give_back(address: int) -> None:
    _lent.pop(address, None)


@ctypes.CFUNCTYPE(None, ctypes.c_void_p)
def _drop_capsule(capsule: int) -> None:
    """A capsule that nobody has taken still has its first name."""
    is_valid, pointer_of = ctypes.pythonapi.PyCapsule_IsValid, ctypes.pythonapi.PyCapsule_GetPointer
    is_valid.argtypes, pointer_of.argtypes = [ctypes.c_void_p, ctypes.c_char_p], [ctypes.c_void_p, ctypes.c_char_p]
    pointer_of.restype = ctypes.c_void_p
    if is_valid(capsule, b"dltensor"):
        _lent.pop(pointer_of(capsule, b"dltensor"), None)


def make_capsule(vector: Vector) -> Any:
    """A DLPack capsule of a vector on a CUDA device."""
    shape = (ctypes.c_int64 * 1)(vector.size)
    managed = _DLManagedTensor()
    managed.tensor = _DLTensor(device_address(vector), _DLDevice(CUDA_DEVICE, device_number(vector.ctx)), 1, 2,
                               8 * SCALAR.itemsize, 1, shape, None, 0)
    managed.deleter = ctypes.cast(_give_back, ctypes.c_void_p)
    address = ctypes.addressof(managed)
    _lent[address] = managed, shape, vector
    create = ctypes.pythonapi.PyCapsule_New
    create.restype, create.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
    return create(address, b"dltensor", ctypes.cast(_drop_capsule, ctypes.c_void_p))
