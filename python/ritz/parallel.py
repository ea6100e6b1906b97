# SPDX-License-Identifier: BSD-2-Clause
"""Problems in parts: one program, started by `mpirun -n 4 python program.py`, each process with a part of the mesh.

Every process reads or makes the whole mesh and keeps its part of it. Vectors of spaces have the entries that the
part owns, then its ghosts, which other parts own. Solves, applies, functionals, norms and values at points are those
of the whole problem and the same in all processes; all processes make the same calls. Messages go through mpi4py.
"""
from __future__ import annotations

import sys
from types import TracebackType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _threads
from ._core import Context, Handle, Vector, address, ffi, lib

_UNKNOWN = object()
_communicator: Any = _UNKNOWN  # None: this process works alone


def communicator() -> Any:
    """The communicator over whose processes new meshes are cut, or None: all of mpirun's, unless set otherwise."""
    global _communicator
    if _communicator is _UNKNOWN:
        _communicator = None
        if _threads.num_processes() > 1:
            set_communicator(_world())
    return _communicator


def _world() -> Any:
    try:
        from mpi4py import MPI
    except ImportError:
        raise ModuleNotFoundError("a program that mpirun has started in several processes needs mpi4py: "
                                  "pip install mpi4py (or ritz.set_communicator(None), to work alone)") from None
    return MPI.COMM_WORLD


def set_communicator(comm: Any) -> None:
    """Meshes made from now on are cut over the processes of comm (mpi4py), which all call it; None: they are not cut."""
    global _communicator
    _communicator = comm if comm is not None and comm.size > 1 else None
    if _communicator is not None:
        _end_all_with(_communicator)
        _count_neighbours(_communicator)


def _count_neighbours(comm: Any) -> None:
    """Which share the processors, where mpirun has not said how many there are."""
    if _threads.num_neighbours() == 1:
        from mpi4py import MPI

        machine = comm.Split_type(MPI.COMM_TYPE_SHARED)
        _threads.neighbours = machine.size
        machine.Free()


def _end_all_with(comm: Any) -> None:
    """An exception that ends this process ends all: the others would wait for it for ever."""
    shown = sys.excepthook

    def end(kind: type[BaseException], value: BaseException, trace: TracebackType | None) -> None:
        shown(kind, value, trace)
        sys.stderr.flush()
        comm.Abort(1)

    sys.excepthook = end


class Transport:
    """Messages between parts by a communicator of mpi4py, of which it takes a duplicate."""

    def __init__(self, comm: Any):
        from mpi4py import MPI

        self._mpi, self._comm = MPI, comm.Dup()
        self._requests: list[Any] = []
        self._me = ffi.new_handle(self)
        self.struct = ffi.new("RitzTransport *", {
            "num_parts": comm.size, "part": comm.rank, "mem_type": lib.CEED_MEM_HOST, "ctx": self._me,
            "begin": lib.ritz_python_begin, "end": lib.ritz_python_end, "reduce": lib.ritz_python_reduce})

    def begin(self, messages: list[Any]) -> None:
        for m in messages:
            if m.recv_bytes:
                self._requests.append(self._comm.Irecv([ffi.buffer(m.recv, m.recv_bytes), self._mpi.BYTE], m.part))
            if m.send_bytes:
                self._requests.append(self._comm.Isend([ffi.buffer(m.send, m.send_bytes), self._mpi.BYTE], m.part))

    def end(self) -> None:
        self._mpi.Request.Waitall(self._requests)
        self._requests = []

    def reduce(self, is_sum: bool, values: Any) -> None:
        numbers = np.frombuffer(values, float)
        self._comm.Allreduce(self._mpi.IN_PLACE, numbers, self._mpi.SUM if is_sum else self._mpi.MAX)


_transports: dict[int, Transport] = {}


def transport() -> Transport:
    """The transport of the communicator, made once by all processes."""
    comm = communicator()
    key = comm.py2f()
    if key not in _transports:
        _transports[key] = Transport(comm)
    return _transports[key]


def cut(whole: Handle) -> Handle:
    """This process's part of a mesh; the mesh itself where the process works alone."""
    comm = communicator()
    if comm is None:
        return whole
    ctx, num = whole.ctx, ffi.new("int64_t *")
    ctx.call(lib.RitzMeshGetNumElements, whole.h, num)
    parts = np.empty(num[0], np.int32)
    ctx.call(lib.RitzMeshPartition, whole.h, lib.RITZ_PARTITION_AUTO, comm.size, ffi.NULL, address(parts, "int32_t"))
    return ctx.new("RitzMesh", lib.RitzMeshCreateSubmesh, whole.h, comm.size, address(parts, "int32_t"), comm.rank)


def num_parts(mesh: Handle) -> int:
    num = ffi.new("CeedInt *")
    mesh.ctx.call(lib.RitzMeshGetPart, mesh.h, num, ffi.NULL)
    return int(num[0])


def reduce(values: Any, is_sum: bool = True) -> NDArray[np.float64]:
    """Sums, or the largest, of numbers of all parts."""
    numbers = np.array(values, float)
    transport().reduce(is_sum, numbers.data)
    return numbers


class Exchange:
    """Values at ghosts of the vectors of a space, or a product of spaces: create(space, ceed, transport, *more)."""

    def __init__(self, space: Any, create: Any, *more: Any):
        self.ctx: Context = space.ctx
        self._transport = transport()
        self._handle = self.ctx.new("RitzExchange", create, space.h, self.ctx.h, self._transport.struct, *more)
        num = ffi.new("CeedSize *")
        self.ctx.call(lib.RitzExchangeGetNumOwned, self.h, num)
        self.num_owned = int(num[0])

    @property
    def h(self) -> Any:
        return self._handle.h

    def to_ghosts(self, x: Vector) -> None:
        """Ghosts take the values of their owners."""
        self.ctx.call(lib.RitzExchangeRun, self.h, lib.RITZ_EXCHANGE_TO_GHOSTS, x.h)

    def to_owners(self, x: Vector) -> None:
        """Owners add the values of their ghosts, which become zero."""
        self.ctx.call(lib.RitzExchangeRun, self.h, lib.RITZ_EXCHANGE_TO_OWNERS, x.h)

    def dot(self, x: Vector, y: Vector) -> float:
        result = ffi.new("double *")
        self.ctx.call(lib.RitzVectorDotRange, x.h, y.h, 0, self.num_owned, result)
        return float(reduce([result[0]])[0])

    def part_operator(self, op: Any) -> Handle:
        """The operator of the whole problem, of which this part adds `op` (RitzPartOperator)."""
        pointer = ffi.new("RitzPartOperator *")
        self.ctx.call(lib.RitzPartOperatorCreate, self.h, ffi.NULL, op, pointer)
        return Handle(self.ctx, "RitzPartOperator", pointer)
