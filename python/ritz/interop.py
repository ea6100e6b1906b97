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
from numpy.typing import NDArray

from ._core import SCALAR, AccessError, Context, Vector, ffi, lib

CUDA_DEVICE, HOST_DEVICE = 2, 1  # as DLPack numbers kinds of devices
_POINTER = ffi.typeof("CeedScalar *")


# ---- Arrays of others: what they are, and making them ----


def package_of(x: Any) -> str:
    """The package that an array's type belongs to."""
    return type(x).__module__.split(".")[0].replace("jaxlib", "jax")


def as_package(vector: Vector | NDArray[Any], package: str) -> Any:
    """A vector, or an array of NumPy, as an array of a package that shares its memory."""
    if package == "numpy" and isinstance(vector, Vector):
        return vector.array_ro
    module = sys.modules[package]
    return (module.numpy if package == "jax" else module).from_dlpack(vector)


class Borrowed:
    """The memory of a foreign array: address, kind of memory, and what keeps it alive."""

    __slots__ = ("mem_type", "keep", "address")

    def __init__(self, x: Any, size: int, ctx: Context, is_written: bool = False):
        package = package_of(x)
        stream = None
        if package == "torch":
            self.keep, is_cuda, address = x, x.is_cuda, x.data_ptr()
            fits = x.element_size() == SCALAR.itemsize and x.is_floating_point() and x.numel() == size and x.is_contiguous()
        else:
            self.keep, is_cuda, address, stream, fits = _find_memory(x, package, size, is_written)
        if not fits:
            raise ValueError(f"an array of {x.dtype} {tuple(x.shape)}, needed {size} numbers of {SCALAR}, contiguous"
                             if hasattr(x, "dtype") else f"a {type(x).__name__}, needed an array of {size} numbers")
        if is_cuda and not (ctx.is_device and "cuda" in ctx.resource):
            raise ValueError(f"an array on a CUDA device, the objects are on {ctx.resource}")
        if stream not in (None, 1, ctx.stream):
            raise ValueError(f"an array that is written on stream {stream:#x}; make the context with device(..., stream=...)")
        self.mem_type = lib.CEED_MEM_DEVICE if is_cuda else lib.CEED_MEM_HOST
        self.address = ffi.cast(_POINTER, address)


def _find_memory(x: Any, package: str, size: int, is_written: bool) -> tuple[Any, bool, int, Any, bool]:
    """Of an array of NumPy's or CUDA's interface, or DLPack's: what to keep, whether it is on a CUDA device, address,
    stream, whether it is as needed."""
    if package == "jax":
        if is_written:
            raise AccessError("arrays of JAX cannot be written to: let the call make its result", lib.CEED_ERROR_ACCESS)
        x.block_until_ready()
    interface = getattr(x, "__cuda_array_interface__", None)
    if interface is None:
        host = np.from_dlpack(x) if hasattr(x, "__dlpack__") and not isinstance(x, np.ndarray) else np.asarray(x)
        fits = host.dtype == SCALAR and host.size == size and host.flags.c_contiguous
        return host, False, host.__array_interface__["data"][0], None, fits
    kind, shape, strides = np.dtype(interface["typestr"]), interface["shape"], interface.get("strides")
    fits = kind == SCALAR and int(np.prod(shape)) == size and (
        strides is None or _is_contiguous(shape, strides, kind.itemsize))
    return x, True, interface["data"][0], interface.get("stream"), fits


def _is_contiguous(shape: tuple[int, ...], strides: tuple[int, ...], size: int) -> bool:
    for extent, stride in zip(reversed(shape), reversed(strides)):
        if extent != 1 and stride != size:
            return False
        size *= extent
    return True


def set_values(vector: Vector, x: Any) -> None:
    """vector := the values of any array, copied where they lie."""
    source = Borrowed(x, vector.size, vector.ctx)
    vector.ctx.call(lib.CeedVectorSetArray, vector.h, source.mem_type, lib.CEED_COPY_VALUES, source.address)


def apply(operator: Any, x: Any, out: Any = None) -> Any:
    """operator x for an array of another package, on its memory; the result is an array of that package."""
    rows, columns = operator.shape
    package, ctx = package_of(x), operator.ctx
    source = Borrowed(x, columns, ctx)
    if out is None and package == "torch":
        out = sys.modules["torch"].empty(rows, dtype=x.dtype, device=x.device)
    if operator.part is None and out is not None:
        target = Borrowed(out, rows, ctx, is_written=True)
        operator.apply_to(source.mem_type, source.address, target.mem_type, target.address)
        return out
    if operator.part is None and not ctx.is_device:
        result = np.empty(rows, SCALAR)
        operator.apply_to(source.mem_type, source.address, lib.CEED_MEM_HOST, ffi.from_buffer("CeedScalar[]", result))
        return as_package(result, package)
    u, v = Vector(columns, ctx), Vector(rows, ctx)
    ctx.call(lib.CeedVectorSetArray, u.h, source.mem_type, lib.CEED_COPY_VALUES, source.address)
    operator.apply(u, out=v)
    if out is None:
        return as_package(v, package)
    target = Borrowed(out, rows, ctx, is_written=True)
    ctx.call(_copy_out, v.h, target)
    return out


def _copy_out(v: Any, target: Borrowed) -> int:
    """The values of v to an array."""
    pointer = ffi.new("CeedVector *")
    size = ffi.new("CeedSize *")
    ceed = lib.CeedVectorReturnCeed(v)
    code = lib.CeedVectorGetLength(v, size) or lib.CeedVectorCreate(ceed, size[0], pointer)
    code = (code or lib.CeedVectorSetArray(pointer[0], target.mem_type, lib.CEED_USE_POINTER, target.address)
            or lib.CeedVectorCopy(v, pointer[0]) or lib.CeedVectorTakeArray(pointer[0], target.mem_type, ffi.NULL))
    return code or lib.CeedVectorDestroy(pointer)  # type: ignore[no-any-return]


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
