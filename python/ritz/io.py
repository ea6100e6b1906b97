# SPDX-License-Identifier: BSD-2-Clause
"""Files for ParaView and its kind: single ones, and series in time."""
from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Union

from ._core import ffi, lib
from .function import Function
from .parallel import communicator
from .space import ProductSpace

PathLike = Union[str, "os.PathLike[str]"]


def _single_functions(functions: tuple[Function, ...]) -> list[Function]:
    """Functions of products in their parts."""
    found: list[Function] = []
    for u in functions:
        found += u.split() if isinstance(u.space, ProductSpace) else [u]
    if not found:
        raise ValueError("write_vtu: no function was given")
    return found


def write_vtu(path: PathLike, *functions: Function) -> None:
    """Functions of one mesh, with their full degrees, in a file of high-order cells; products are split.

    Of problems in parts: NAME.pvtu, the list of files of all parts.
    """
    single = _single_functions(functions)
    mesh = single[0].space.mesh
    names = [ffi.new("char[]", u.name.encode()) for u in single]
    fields = ffi.new("RitzOutputField[]", [{"name": name, "space": u.space.h, "values": u.vector.h}
                                           for name, u in zip(names, single)])
    if mesh.num_parts > 1:
        path = Path(path).with_suffix(".pvtu")
    write = lib.RitzWritePVTU if mesh.num_parts > 1 else lib.RitzWriteVTU
    mesh.ctx.call(write, mesh.h, len(single), fields, os.fsencode(path))


class VTUFile:
    """A series in time: VTUFile("heat.pvd").write(t, u) adds heat-0000.vtu and so on, readable at any time."""

    def __init__(self, path: PathLike):
        self.path = Path(path)
        if self.path.suffix != ".pvd":
            raise ValueError(f"VTUFile: the name {self.path} does not end in .pvd")
        self.times: list[float] = []
        self.files: list[Path] = []

    def write(self, time: float, *functions: Function) -> None:
        if self.times and time <= self.times[-1]:
            raise ValueError(f"VTUFile: time {time} does not come after {self.times[-1]}")
        is_cut = bool(functions) and functions[0].space.mesh.num_parts > 1
        file = self.path.with_name(f"{self.path.stem}-{len(self.files):04d}.{'pvtu' if is_cut else 'vtu'}")
        write_vtu(file, *functions)
        self.files.append(file)
        self.times.append(float(time))
        if is_cut and communicator().rank > 0:
            return
        ctx = functions[0].ctx
        names = [ffi.new("char[]", os.fsencode(one)) for one in self.files]
        ctx.call(lib.RitzWritePVD, ctx.h, len(self.files), ffi.new("double[]", self.times), ffi.new("char *[]", names),
                 os.fsencode(self.path))

    def __enter__(self) -> VTUFile:
        return self

    def __exit__(self, *error: Any) -> None:
        """Nothing is left to be done: every write leaves a whole series."""
