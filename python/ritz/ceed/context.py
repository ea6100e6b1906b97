# SPDX-License-Identifier: BSD-2-Clause
"""Ceed: the context, which makes all other objects."""
from __future__ import annotations

import sys
import weakref
from typing import Any, Callable, Sequence, TextIO

import numpy as np
from numpy.typing import NDArray

from .._core import SCALAR, Context, Handle, IncompatibleError, address, check, text_of
from .._lib import ffi, lib
from .arrays import _array, _device_address, _number, _scalars, _string
from .base import _O, _handle, _Object
from .basis import Basis
from .constants import _SENTINELS, COPY_VALUES, MEM_DEVICE, MEM_HOST, scalar_types
from .operator import CompositeOperator, Operator
from .qcontext import QFunctionContext
from .qfunction import QFunction, _function_pointer
from .restriction import ElemRestriction
from .vector import Vector

_Vector = Vector  # these are types in the class whose methods have the names
_ElemRestriction = ElemRestriction
_QFunction = QFunction
_QFunctionContext = QFunctionContext
_Operator = Operator
_CompositeOperator = CompositeOperator

_HANDLERS = {"return": ffi.addressof(lib, "CeedErrorReturn"), "store": ffi.addressof(lib, "CeedErrorStore"),
             "abort": ffi.addressof(lib, "CeedErrorAbort"), "exit": ffi.addressof(lib, "CeedErrorExit")}


class Ceed(Context):
    """A computing resource: Ceed("/cpu/self"), Ceed("/gpu/cuda"), ...; makes all other objects.

    Threads are those of the standard, one where neither ":threads=N" nor OMP_NUM_THREADS says otherwise.
    on_error: "store" and "return", exceptions; "abort" and "exit" end the program. stream: as ritz.Context.
    """

    _takes_processors = False

    def __init__(self, resource: str | None = None, on_error: str = "store", stream: Any = None):
        if on_error not in _HANDLERS:
            raise IncompatibleError(
                f"Ceed: on_error={on_error!r} found, one of {', '.join(_HANDLERS)} needed")
        self._functions: dict[int, Any] = {}  # of Python, which C may call as long as there is the context
        self._objects: weakref.WeakValueDictionary[int, _Object] = weakref.WeakValueDictionary()
        super().__init__(resource, stream)
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
                     offsets: Any, memtype: int, *others: Any) -> _ElemRestriction:
        """Copies offsets and others, each (array, C type, type of NumPy, numbers)."""
        kept, pointers = [], []
        for array, kind, dtype, num in ((offsets, "CeedInt", np.int32, num_offsets), *others):
            if memtype == MEM_DEVICE:
                where = _device_address(what, array, np.dtype(dtype), num)
                pointers.append(ffi.cast(f"const {kind} *", where))
            else:
                array = _array(what, array, dtype, num)
                pointers.append(address(array, f"const {kind}"))
            kept.append(array)
        return self._create(ElemRestriction, create, *sizes, memtype, COPY_VALUES, *pointers)

    def ElemRestriction(self, nelem: int, elemsize: int, ncomp: int, compstride: int, lsize: int,
                        offsets: Any, memtype: int = MEM_HOST, cmode: int = COPY_VALUES) -> _ElemRestriction:
        """offsets [nelem][elemsize]: node i, component j at offsets[.][i] + j*compstride of the L-vector.
        Arrays of restrictions are copied, whatever cmode says."""
        return self._restriction("ElemRestriction", lib.CeedElemRestrictionCreate,
                                 (nelem, elemsize, ncomp, compstride, lsize), nelem * elemsize, offsets,
                                 memtype)

    def OrientedElemRestriction(self, nelem: int, elemsize: int, ncomp: int, compstride: int, lsize: int,
                                offsets: Any, orients: Any, memtype: int = MEM_HOST,
                                cmode: int = COPY_VALUES) -> _ElemRestriction:
        """orients [nelem][elemsize]: True where the node changes sign."""
        num = nelem * elemsize
        return self._restriction("OrientedElemRestriction", lib.CeedElemRestrictionCreateOriented,
                                 (nelem, elemsize, ncomp, compstride, lsize), num, offsets, memtype,
                                 (orients, "bool", np.bool_, num))

    def CurlOrientedElemRestriction(self, nelem: int, elemsize: int, ncomp: int, compstride: int, lsize: int,
                                    offsets: Any, curl_orients: Any, memtype: int = MEM_HOST,
                                    cmode: int = COPY_VALUES) -> _ElemRestriction:
        """curl_orients [nelem][elemsize][3]: rows of a tridiagonal matrix for each element."""
        num = nelem * elemsize
        return self._restriction("CurlOrientedElemRestriction", lib.CeedElemRestrictionCreateCurlOriented,
                                 (nelem, elemsize, ncomp, compstride, lsize), num, offsets, memtype,
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
                                 (nelem, npoints, ncomp, lsize), nelem + 1 + npoints, offsets, memtype)

    def BlockedElemRestriction(self, nelem: int, elemsize: int, blksize: int, ncomp: int, compstride: int,
                               lsize: int, offsets: Any, memtype: int = MEM_HOST,
                               cmode: int = COPY_VALUES) -> _ElemRestriction:
        """With an E-vector of blocks of blksize elements."""
        return self._restriction("BlockedElemRestriction", lib.CeedElemRestrictionCreateBlocked,
                                 (nelem, elemsize, blksize, ncomp, compstride, lsize), nelem * elemsize,
                                 offsets, memtype)

    def BlockedOrientedElemRestriction(self, nelem: int, elemsize: int, blksize: int, ncomp: int,
                                       compstride: int, lsize: int, offsets: Any, orients: Any,
                                       memtype: int = MEM_HOST, cmode: int = COPY_VALUES) -> _ElemRestriction:
        num = nelem * elemsize
        return self._restriction("BlockedOrientedElemRestriction",
                                 lib.CeedElemRestrictionCreateBlockedOriented,
                                 (nelem, elemsize, blksize, ncomp, compstride, lsize), num, offsets, memtype,
                                 (orients, "bool", np.bool_, num))

    def BlockedCurlOrientedElemRestriction(self, nelem: int, elemsize: int, blksize: int, ncomp: int,
                                           compstride: int, lsize: int, offsets: Any, curl_orients: Any,
                                           memtype: int = MEM_HOST,
                                           cmode: int = COPY_VALUES) -> _ElemRestriction:
        num = nelem * elemsize
        return self._restriction("BlockedCurlOrientedElemRestriction",
                                 lib.CeedElemRestrictionCreateBlockedCurlOriented,
                                 (nelem, elemsize, blksize, ncomp, compstride, lsize), num, offsets, memtype,
                                 (curl_orients, "CeedInt8", np.int8, 3 * num))

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
        pointer = _function_pointer("QFunction", f)
        self._functions[id(f)] = f
        return self._create(QFunction, lib.CeedQFunctionCreateInterior, vlength, pointer, source.encode())

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
