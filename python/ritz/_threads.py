# SPDX-License-Identifier: BSD-2-Clause
"""Threads of the library on processors, for contexts that do not name their number.

The process takes all processors that it may use, or OMP_NUM_THREADS of them. Processes of one machine that mpirun has
started share them; contexts of other Python threads than the main one, and of workers of multiprocessing, have one
thread each, for there are many of them.
"""
from __future__ import annotations

import os
import re
import sys
import threading
from typing import Callable

# Set by mpirun of Open MPI, MPICH and Intel, MVAPICH: processes on this machine; all of them.
_LOCAL_SIZES = ("OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS", "MV2_COMM_WORLD_LOCAL_SIZE")
_SIZES = ("OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MPI_LOCALNRANKS")
neighbours = 0  # processes of a communicator on this machine, itself included (set_communicator); 0: not known


def _number(*names: str) -> int:
    """The largest number that one of these variables of the environment begins with, as C reads it; 0: none does."""
    found = (re.match(r"\s*\+?(\d+)", os.environ.get(name, "")) for name in names)
    return max(int(match[1]) if match else 0 for match in found)


def num_processes() -> int:
    return _number(*_SIZES) or 1


def num_neighbours() -> int:
    """Processes on this machine; all of them where mpirun does not say."""
    return _number(*_LOCAL_SIZES) or neighbours or num_processes()


def _is_one_of_many() -> bool:
    processes = sys.modules.get("multiprocessing.process")
    return (threading.current_thread() is not threading.main_thread() or
            processes is not None and processes.parent_process() is not None)


def _mask(process: int) -> int:
    """Processors that a process may use; 0: unknown."""
    try:
        return len(os.sched_getaffinity(process))
    except (AttributeError, OSError):
        return 0


def share(available: int, num: int) -> int:
    """Threads of one of `num` processes of this machine, which may use `available` processors.

    What mpirun may use is what its processes share, each perhaps bound to some; a quota (fewer available than in the
    mask) is that of all. No messages: another process may make no context.
    """
    is_quota = available < _mask(0)
    return max(1, min(available, max(available, 0 if is_quota else _mask(os.getppid())) // num))


def option(num_processors: Callable[[], int]) -> str:
    """What the name of a resource below /cpu/self ends with."""
    wanted, num = _number("OMP_NUM_THREADS"), num_neighbours()
    if num > 1:
        most = share(num_processors(), num)
        return f":threads={min(wanted or (1 if _is_one_of_many() else most), most)}"
    return "" if wanted or _is_one_of_many() else ":threads=all"
