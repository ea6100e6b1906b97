# SPDX-License-Identifier: BSD-2-Clause
"""What all counted objects of the Ceed API have in common: handles, lifetimes, getters, views."""
from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Callable, ClassVar, TextIO, TypeVar

from .._core import Handle, IncompatibleError, text_of
from .._lib import ffi, lib
from .arrays import _number

if TYPE_CHECKING:
    from .context import Ceed

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


def _two_lists(owner: _Object, kind: str, get: Callable[..., int], wrap: Callable[[Any], _T]
               ) -> tuple[list[_T], list[_T]]:
    """Lists of inputs and outputs that C gives as arrays."""
    nums = ffi.new("CeedInt *"), ffi.new("CeedInt *")
    arrays = ffi.new(kind + " **"), ffi.new(kind + " **")
    owner._call(get, nums[0], arrays[0], nums[1], arrays[1])
    inputs, outputs = ([wrap(array[0][i]) for i in range(num[0])] for num, array in zip(nums, arrays))
    return inputs, outputs
