# SPDX-License-Identifier: BSD-2-Clause
"""CeedQFunctionContext: parameters of QFunctions, and their registered fields, which operators set, too."""
from __future__ import annotations

import contextlib
from typing import Any, Callable, ClassVar, Iterator

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._core import IncompatibleError, UnsupportedError
from .._lib import ffi, lib
from .arrays import _array, _bytes, _copy, _device_address, _number, _string
from .base import _Object
from .constants import COPY_VALUES, MEM_DEVICE, MEM_HOST, USE_POINTER

class ContextFieldLabel:
    """A registered field of a context, for operators to set: .name, .offset, .num_values, .description,
    .type."""

    def __init__(self, owner: _Object, pointer: Any):
        self.owner, self.pointer = owner, pointer
        self.context: _Object | None = owner  # keeps the label, with a composite operator as owner: itself
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
            if self not in (field.owner, field.context):
                raise UnsupportedError(f"{self._kind}: the label of {field.name!r} belongs to another object",
                                       lib.CEED_ERROR_UNSUPPORTED)
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
