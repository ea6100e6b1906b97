# SPDX-License-Identifier: BSD-2-Clause
"""CeedQFunction."""
from __future__ import annotations

import ctypes
from typing import Any, NamedTuple, Sequence

from .._core import DimensionError, IncompatibleError
from .._lib import ffi, lib
from .arrays import _number, _string
from .base import _handle, _Object, _two_lists
from .qcontext import QFunctionContext
from .vector import Vector

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
