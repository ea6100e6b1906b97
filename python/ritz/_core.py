# SPDX-License-Identifier: BSD-2-Clause
"""Contexts, handles, vectors, errors, and the Python functions that the C library calls.

All other modules call C through Context.call, which holds the context's lock, turns error codes into
exceptions and destroys what Python has dropped. A finalizer never destroys anything by itself: it may run in
any thread, in the middle of a C call of the same context. It puts the object on its context's queue.
"""
from __future__ import annotations

import atexit
import contextlib
import os
import re
import threading
import weakref
from collections import deque
from typing import Any, Callable, Iterator

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _threads
from ._compiler import offer_nvrtc, offer_zig
from ._lib import ffi as ffi, lib as lib

SCALAR = np.dtype(np.float64 if ffi.sizeof("CeedScalar") == 8 else np.float32)
SCALAR_TYPE = lib.CEED_SCALAR_FP64 if SCALAR == np.float64 else lib.CEED_SCALAR_FP32
INT = np.dtype(np.int32)
REQUEST_IMMEDIATE = ffi.cast("CeedRequest *", 0)


# ---- Errors ----


class Error(Exception):
    """An error of the library: its message says which call, what was found and what was needed."""

    def __init__(self, message: str, code: int = 1):
        super().__init__(message)
        self.code = code


class DimensionError(Error, ValueError):
    """Sizes do not match."""


class IncompatibleError(Error, ValueError):
    """Arguments do not fit together."""


class IncompleteError(Error, RuntimeError):
    """Something is not set up yet."""


class AccessError(Error, RuntimeError):
    """The data is lent out."""


class UnsupportedError(Error, NotImplementedError):
    """The library cannot do this."""


class FailedError(Error, RuntimeError):
    """A failure: of the system, a compiler, a method."""


class ConvergenceError(Error, ArithmeticError):
    """A solver has not converged; .result has what it did."""

    def __init__(self, message: str, result: Any):
        super().__init__(message, 0)
        self.result = result


_CLASSES = {
    lib.CEED_ERROR_DIMENSION: DimensionError,
    lib.CEED_ERROR_INCOMPATIBLE: IncompatibleError,
    lib.CEED_ERROR_INCOMPLETE: IncompleteError,
    lib.CEED_ERROR_ACCESS: AccessError,
    lib.CEED_ERROR_UNSUPPORTED: UnsupportedError,
    lib.CEED_ERROR_MAJOR: FailedError,
    lib.CEED_ERROR_BACKEND: FailedError,
}
_raised = threading.local()  # .exceptions: those of callbacks, raised again when the C call has returned


def keep_exception(kind: Any, value: Any, trace: Any) -> None:
    """cffi calls it with an exception in a callback, KeyboardInterrupt before its first line among them."""
    if not hasattr(_raised, "exceptions"):
        _raised.exceptions = []
    _raised.exceptions.append(value if value is not None else kind())


def raise_error(code: int) -> None:
    """The exception of an error code that a C call has returned in this thread."""
    kept = getattr(_raised, "exceptions", None)
    if kept:
        first = kept[0]
        kept.clear()
        raise first
    message = ffi.new("const char **")
    lib.RitzGetLastError(ffi.NULL, message)
    text = ffi.string(message[0]).decode(errors="replace") or f"error {code}"
    raise _CLASSES.get(code, Error)(text, code)


def check(code: int) -> None:
    if code:
        raise_error(code)


RETURN_ERRORS = ffi.addressof(lib, "CeedErrorReturn")  # cffi 1.15 takes no lib.CeedErrorReturn as a pointer
lib.RitzSetErrorHandler(RETURN_ERRORS)
offer_zig()


# ---- Contexts ----


class Context:
    """A computing resource: "/cpu/self", "/gpu/cuda", "/gpu/opencl", ... with all objects made on it.

    One thread at a time calls into a context; others wait. The GIL is free meanwhile. Below "/cpu/self" it computes
    with all processors of the process, OMP_NUM_THREADS or ":threads=N" of them.
    """

    _takes_processors = True  # not as in the Ceed API, one where nothing is said

    def __init__(self, resource: str | None = None, stream: Any = None):
        self.resource = resource or os.environ.get("RITZ_RESOURCE", "/cpu/self")
        self._queue: deque[tuple[Callable[[Any], int], Any]] = deque()
        self._lock = threading.RLock()
        self._pointer = ffi.new("Ceed *")
        self._is_dead = False
        if "cuda" in self.resource:
            offer_nvrtc()
        threads = _threads_option(self.resource) if self._takes_processors else ""
        check(lib.RitzInit((self.resource + threads).encode(), RETURN_ERRORS, self._pointer))
        self.h = self._pointer[0]
        memory = ffi.new("CeedMemType *")
        check(lib.CeedGetPreferredMemType(self.h, memory))
        self.is_device = memory[0] == lib.CEED_MEM_DEVICE
        # Whether pointers to values are of use only until they are restored.
        self.lends_copies = self.is_device or "/check" in self.resource
        self.stream: int | None = _stream_handle(stream)
        if self.stream is not None:
            check(lib.CeedSetStream(self.h, ffi.cast("void *", self.stream)))
        _contexts.add(self)

    def call(self, function: Callable[..., int], *args: Any) -> None:
        """function(*args) under the lock; an error code becomes an exception."""
        with self._lock:
            if self._queue:
                self.destroy_dropped()
            if self._is_dead:
                raise FailedError(f"{self.resource}: a device is of no use after fork; start processes by spawn")
            code = function(*args)
        if code:
            raise_error(code)

    def new(self, kind: str, create: Callable[..., int], *args: Any) -> Handle:
        """The object of this kind that create(*args, &object) makes."""
        pointer = ffi.new(kind + " *")
        self.call(create, *args, pointer)
        return Handle(self, kind, pointer)

    def adopt(self, kind: str, h: Any) -> Handle:
        """Another reference to a C object that is borrowed."""
        pointer = ffi.new(kind + " *")
        self.call(getattr(lib, kind + "ReferenceCopy"), h, pointer)
        return Handle(self, kind, pointer)

    def drop(self, destroy: Callable[[Any], int], pointer: Any) -> None:
        self._queue.append((destroy, pointer))

    def destroy_dropped(self) -> None:
        """Destroys what Python has dropped; every call does."""
        with self._lock:
            while self._queue:
                destroy, pointer = self._queue.popleft()
                if not self._is_dead:
                    destroy(pointer)

    @property
    def num_threads(self) -> int:
        """Threads that it computes with on the host; of devices 1."""
        num = ffi.new("CeedInt *")
        self.call(lib.RitzGetNumThreads, self.h, num)
        return int(num[0])

    def synchronize(self, vector: Vector) -> None:
        """Waits for all that was begun on the vector."""
        if vector.size:
            self.call(lib.RitzVectorDotRange, vector.h, vector.h, 0, 1, ffi.new("double *"))

    def __del__(self) -> None:
        if hasattr(self, "h"):  # nobody is in a call: that would hold the context
            self.destroy_dropped()
            if not self._is_dead:
                lib.CeedDestroy(self._pointer)

    def __repr__(self) -> str:
        return f"ritz.Context({self.resource!r})"


def _threads_option(resource: str) -> str:
    if not re.match("/cpu/self(/|:|$)", resource) or ":threads=" in resource:
        return ""
    return _threads.option(_num_processors)


def _num_processors() -> int:
    """Those that the process may use: of its affinity mask, within the quota of its control groups."""
    pointer, num = ffi.new("Ceed *"), ffi.new("CeedInt *")
    check(lib.RitzInit(b"/cpu/self/gen:threads=all", RETURN_ERRORS, pointer))
    check(lib.RitzGetNumThreads(pointer[0], num))
    check(lib.CeedDestroy(pointer))
    return int(num[0])


def _stream_handle(stream: Any) -> int | None:
    """The CUstream of a number, or of a stream of PyTorch or CuPy; the default stream of these is None."""
    for name in ("cuda_stream", "ptr"):
        stream = getattr(stream, name, stream)
    return int(stream) or None if stream is not None else None


_contexts: weakref.WeakSet[Context] = weakref.WeakSet()
_current = threading.local()


def context() -> Context:
    """The current context of this thread: that of `with device(...)`, else the thread's default."""
    stack = getattr(_current, "stack", None)
    if stack:
        return stack[-1]  # type: ignore[no-any-return]
    if not hasattr(_current, "default"):
        _current.default = Context()
    return _current.default  # type: ignore[no-any-return]


_SHORT = {"cpu": "/cpu/self", "cuda": "/gpu/cuda", "opencl": "/gpu/opencl"}


@contextlib.contextmanager
def device(resource: str | Context, stream: Any = None) -> Iterator[Context]:
    """`with device("cuda"):` objects that are made inside belong to that device. Also resources and contexts.

    stream: a CUDA stream that it shall work on, of PyTorch, CuPy or a number; it has to live as long.
    """
    new = resource if isinstance(resource, Context) else Context(_SHORT.get(resource, resource), stream)
    stack = _current.__dict__.setdefault("stack", [])
    stack.append(new)
    try:
        yield new
    finally:
        stack.pop()


def _after_fork() -> None:
    for one in list(_contexts):
        if one.is_device:
            one._is_dead = True
            one._queue.clear()


def _at_exit() -> None:
    for one in list(_contexts):
        one.destroy_dropped()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
atexit.register(_at_exit)


def num_allocations() -> int:
    """Blocks of memory that the library has in use: 0 once all contexts are gone."""
    num = ffi.new("int64_t *")
    check(lib.RitzGetNumAllocations(num))
    return int(num[0])


# ---- Objects of the library ----


class Handle:
    """One reference to a C object, given back after the last use of this one."""

    __slots__ = ("ctx", "h", "_pointer", "_destroy")

    def __init__(self, ctx: Context, kind: str, pointer: Any):
        self.ctx, self._pointer, self.h = ctx, pointer, pointer[0]
        self._destroy = getattr(lib, kind + "Destroy")

    def __del__(self) -> None:
        if self.h:
            self.ctx.drop(self._destroy, self._pointer)


class _Memory:
    """What NumPy views of a vector refer to: it keeps the vector, and its end says that no view is left."""

    def __init__(self, vector: Vector, address: int, is_readonly: bool):
        self.vector = vector
        self.__array_interface__ = {
            "version": 3, "shape": (vector.size,), "typestr": SCALAR.str, "data": (address, is_readonly),
        }


class Vector:
    """A vector of the library, zeros at first.

    .array is a view of its values that may be written: the library looks at them anew before each use, as
    long as a view lives. On devices it is a copy for reading; `vector.array = values` writes.
    """

    def __init__(self, size: int, ctx: Context | None = None, handle: Handle | None = None):
        self.ctx, self.size = ctx or context(), int(size)
        self._memory: weakref.ref[_Memory] | None = None
        self._seen: NDArray[Any] | None = None  # bits of the values, as the state knows them
        if handle is None:
            handle = self.ctx.new("CeedVector", lib.CeedVectorCreate, self.ctx.h, self.size)
            self.ctx.call(lib.CeedVectorSetValue, handle.h, 0.0)
        self._handle = handle

    @property
    def h(self) -> Any:
        """The CeedVector, with all that was written to views."""
        if self._memory is not None:
            if self._memory() is None:
                self._memory = None
            self._mark_written()
        return self._handle.h

    def _mark_written(self) -> None:
        pointer = ffi.new("CeedScalar **")
        self.ctx.call(lib.CeedVectorGetArray, self._handle.h, lib.CEED_MEM_HOST, pointer)
        self.ctx.call(lib.CeedVectorRestoreArray, self._handle.h, pointer)

    @property
    def state(self) -> int:
        """A number that grows with every write, by views: when values are others than those that were seen last."""
        memory = self._memory() if self._memory is not None else None
        handle = self._handle.h
        if memory is None:
            self._seen, handle = None, self.h
        else:
            bits = np.asarray(memory).view(f"u{SCALAR.itemsize}")
            if self._seen is None or not np.array_equal(bits, self._seen):
                self._seen = bits.copy()
                self._mark_written()
        state = ffi.new("uint64_t *")
        self.ctx.call(lib.CeedVectorGetState, handle, state)
        return int(state[0])

    def _host_address(self) -> int:
        """The address of the values on the host, to be read and written."""
        pointer = ffi.new("CeedScalar **")
        self.ctx.call(lib.CeedVectorGetArray, self._handle.h, lib.CEED_MEM_HOST, pointer)
        address = int(ffi.cast("uintptr_t", pointer[0]))
        self.ctx.call(lib.CeedVectorRestoreArray, self._handle.h, pointer)
        return address

    @property
    def array(self) -> NDArray[Any]:
        if self.ctx.lends_copies:
            return self.array_ro
        memory = self._memory() if self._memory is not None else None
        if memory is None:
            memory = _Memory(self, self._host_address(), False)
            self._memory = weakref.ref(memory)
        return np.asarray(memory)

    @array.setter
    def array(self, values: ArrayLike) -> None:
        new = np.ascontiguousarray(np.broadcast_to(np.asarray(values, SCALAR), (self.size,)))
        if self._memory is not None and self._memory() is not None:
            self.array[:] = new
            return
        self.ctx.call(lib.CeedVectorSetArray, self._handle.h, lib.CEED_MEM_HOST, lib.CEED_COPY_VALUES,
                      ffi.cast("CeedScalar *", new.ctypes.data))

    @property
    def array_ro(self) -> NDArray[Any]:
        """The values for reading: a view on CPUs, on devices a copy."""
        pointer = ffi.new("const CeedScalar **")
        is_copy = self.ctx.lends_copies
        self.ctx.call(lib.CeedVectorGetArrayRead, self.h, lib.CEED_MEM_HOST, pointer)
        values = np.asarray(_Memory(self, int(ffi.cast("uintptr_t", pointer[0])), True))
        if is_copy:
            values = values.copy()
            values.flags.writeable = False
        self.ctx.call(lib.CeedVectorRestoreArrayRead, self._handle.h, pointer)
        return values

    def copy(self) -> Vector:
        new = Vector(self.size, self.ctx)
        new.assign(self)
        return new

    def assign(self, other: Vector | float) -> None:
        if isinstance(other, Vector):
            self.ctx.call(lib.CeedVectorCopy, other.h, self.h)
        else:
            self.ctx.call(lib.CeedVectorSetValue, self.h, float(other))

    def dot(self, other: Vector) -> float:
        result = ffi.new("double *")
        self.ctx.call(lib.RitzVectorDot, self.h, other.h, result)
        return float(result[0])

    def norm(self) -> float:
        return float(self.dot(self) ** 0.5)

    def axpy(self, alpha: float, x: Vector) -> None:
        """self += alpha x"""
        self.ctx.call(lib.CeedVectorAXPY, self.h, alpha, x.h)

    def scale(self, alpha: float) -> None:
        self.ctx.call(lib.CeedVectorScale, self.h, alpha)

    def set(self, values: Any) -> None:
        """Copies any array of this length, wherever it lies: NumPy, PyTorch, CuPy, JAX."""
        from .interop import set_values

        set_values(self, values)

    def __len__(self) -> int:
        return self.size

    def __dlpack_device__(self) -> tuple[int, int]:
        from .interop import CUDA_DEVICE, HOST_DEVICE, device_number

        return (CUDA_DEVICE, device_number(self.ctx)) if self._is_cuda else (HOST_DEVICE, 0)

    def __dlpack__(self, *, stream: Any = None, **options: Any) -> Any:
        """The vector's memory for another package, without a copy; later applies write to it."""
        if not self._is_cuda:
            return self.array.__dlpack__(**options)
        from .interop import make_capsule

        if stream not in (None, -1, 0, 1, self.ctx.stream):
            self.ctx.synchronize(self)
        return make_capsule(self)

    @property
    def _is_cuda(self) -> bool:
        return self.ctx.is_device and "cuda" in self.ctx.resource

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        if not self._is_cuda:
            raise AttributeError("__cuda_array_interface__: the vector is not on a CUDA device")
        from .interop import device_address

        return {"version": 3, "shape": (self.size,), "typestr": SCALAR.str, "data": (device_address(self), False),
                "strides": None, "stream": self.ctx.stream or 1}

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.array(self.array_ro, dtype=dtype)


# ---- Small conversions ----


def address(array: NDArray[Any], kind: str) -> Any:
    """A C pointer to the contiguous array's data; the array has to live as long."""
    return ffi.cast(kind + " *", array.ctypes.data)


def take_array(pointer: Any, num: int, dtype: Any) -> NDArray[Any]:
    """A copy of an array that the caller of C has to free, which is done."""
    kind = np.dtype(dtype)
    copy = np.frombuffer(ffi.buffer(pointer, num * kind.itemsize), kind).copy() if num else np.zeros(0, kind)
    lib.free(pointer)
    return copy


def text_of(write: Callable[[Any], None]) -> str:
    """What write(FILE *) prints."""
    file = lib.tmpfile()
    if file == ffi.NULL:
        raise OSError("no temporary file can be made")
    try:
        write(file)
        size = lib.ftell(file)
        lib.rewind(file)
        data = ffi.new("char[]", size + 1)
        num = lib.fread(data, 1, size, file)
        return bytes(ffi.buffer(data, num)).decode(errors="replace")
    finally:
        lib.fclose(file)


# ---- Functions that C calls: ctx is a handle of the object that they belong to ----


@ffi.def_extern(error=1, onerror=keep_exception)
def ritz_python_monitor(ctx: Any, iteration: int, residual: float, stop: Any) -> int:
    stop[0] = bool(ffi.from_handle(ctx).monitor(iteration, residual))
    return 0


@ffi.def_extern(error=1, onerror=keep_exception)
def ritz_python_level(ctx: Any, level: int, space: Any, op: Any) -> int:
    ffi.from_handle(ctx).make_level(level, space, op)
    return 0


@ffi.def_extern(error=1, onerror=keep_exception)
def ritz_python_null(ctx: Any, level: int, space: Any, most: int, num: Any, null: Any) -> int:
    vectors = ffi.from_handle(ctx).make_nullspace(level, space)
    num[0] = len(vectors)
    for i, vector in enumerate(vectors[:most]):
        check(lib.CeedVectorReferenceCopy(vector.h, null + i))
    return 0


@ffi.def_extern(error=1, onerror=keep_exception)
def ritz_python_apply(ctx: Any, x: Any, y: Any) -> int:
    ffi.from_handle(ctx).apply_raw(x, y)
    return 0


@ffi.def_extern(error=1, onerror=keep_exception)
def ritz_python_map(ctx: Any, dim: int, X: Any, x: Any) -> int:
    for i, value in enumerate(np.atleast_1d(ffi.from_handle(ctx)(*[X[d] for d in range(dim)]))):
        x[i] = value
    return 0


@ffi.def_extern(error=1, onerror=keep_exception)
def ritz_python_update(ctx: Any, u: Any) -> int:
    ffi.from_handle(ctx).update()
    return 0


@ffi.def_extern(error=1, onerror=keep_exception)
def ritz_python_part_level(ctx: Any, level: int, space: Any, inside: Any, seam: Any) -> int:
    ffi.from_handle(ctx).make_level(level, space, seam)
    return 0


@ffi.def_extern(error=1, onerror=keep_exception)
def ritz_python_begin(transport: Any, num: int, messages: Any) -> int:
    ffi.from_handle(transport.ctx).begin([messages[i] for i in range(num)])
    return 0


@ffi.def_extern(error=1, onerror=keep_exception)
def ritz_python_end(transport: Any, num: int, messages: Any) -> int:
    ffi.from_handle(transport.ctx).end()
    return 0


@ffi.def_extern(error=1, onerror=keep_exception)
def ritz_python_reduce(transport: Any, kind: int, num: int, values: Any) -> int:
    ffi.from_handle(transport.ctx).reduce(kind == lib.RITZ_REDUCTION_SUM, ffi.buffer(values, 8 * num))
    return 0
