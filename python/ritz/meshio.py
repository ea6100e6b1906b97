# SPDX-License-Identifier: BSD-2-Clause
"""Meshes of the package meshio, through a temporary file of Gmsh's format 2.2: the library's reader does the rest.

meshio orders nodes as VTK does (VTK User's Guide, quadratic cells), the file as Gmsh (reference manual, node ordering).
"""
from __future__ import annotations

import tempfile
from typing import Any, BinaryIO, Callable, TypeVar

import numpy as np
from numpy.typing import NDArray

from ._core import Error

Made = TypeVar("Made")

# By name in meshio: the element type of Gmsh, the number of nodes; nodes behind the corners in meshio's order and in
# Gmsh's, each by the corners that it lies between; no orders: they are the same.
_TYPES: dict[str, tuple[int, int, str, str]] = {
    "line": (1, 2, "", ""), "triangle": (2, 3, "", ""), "quad": (3, 4, "", ""), "tetra": (4, 4, "", ""),
    "hexahedron": (5, 8, "", ""), "wedge": (6, 6, "", ""), "pyramid": (7, 5, "", ""), "line3": (8, 3, "", ""),
    "triangle6": (9, 6, "", ""), "quad9": (10, 9, "", ""), "quad8": (16, 8, "", ""),
    "tetra10": (11, 10, "01 12 02 03 13 23", "01 12 02 03 23 13"),
    "hexahedron27": (12, 27, "01 12 23 03 45 56 67 47 04 15 26 37 0347 1256 0145 2367 0123 4567 01234567",
                     "01 03 04 12 15 23 26 37 45 47 56 67 0123 0145 0347 1256 2367 4567 01234567"),
    "wedge18": (13, 18, "01 12 02 34 45 35 03 14 25 0134 1245 0235", "01 02 03 12 14 25 34 35 45 0134 0235 1245"),
    "pyramid14": (14, 14, "01 12 23 03 04 14 24 34 0123", "01 03 04 12 14 23 24 34 0123"),
    "hexahedron20": (17, 20, "01 12 23 03 45 56 67 47 04 15 26 37", "01 03 04 12 15 23 26 37 45 47 56 67"),
    "wedge15": (18, 15, "01 12 02 34 45 35 03 14 25", "01 02 03 12 14 25 34 35 45"),
    "pyramid13": (19, 13, "01 12 23 03 04 14 24 34", "01 03 04 12 14 23 24 34"),
}
_KEPT_ORDER = ("wedge18", "pyramid14")  # meshio leaves them as they are in files of Gmsh


def read(mesh: Any, groups: str, read_file: Callable[[str], Made]) -> Made:
    """What read_file makes of a file with the contents of the meshio.Mesh."""
    with tempfile.NamedTemporaryFile(suffix=".msh") as file:
        _write(file, mesh, groups)  # type: ignore[arg-type]
        file.flush()
        try:
            return read_file(file.name)
        except Error as error:
            raise type(error)(str(error).replace(file.name, "Mesh.from_meshio"), error.code) from None


def _write(file: BinaryIO, mesh: Any, groups: str) -> None:
    if not (hasattr(mesh, "points") and hasattr(mesh, "cells")):
        raise TypeError(f"Mesh.from_meshio: an object of type {type(mesh).__name__}, needed a meshio.Mesh")
    points = np.asarray(mesh.points, float)
    if points.ndim != 2 or not 1 <= points.shape[1] <= 3:
        raise ValueError(f"Mesh.from_meshio: points {points.shape}, needed [num][1, 2 or 3]")
    blocks = [(cells.type, np.asarray(cells.data)) for cells in mesh.cells]
    pairs, names = _find_groups(mesh, groups, blocks)
    nodes = np.zeros(len(points), [("tag", "<i4"), ("x", "<f8", 3)])
    nodes["tag"] = np.arange(1, len(points) + 1)
    nodes["x"][:, :points.shape[1]] = points
    elements = [_rows(kind, cells, points, *of_block.T) for (kind, cells), of_block in zip(blocks, pairs)
                if kind != "vertex" and len(cells)]
    lines = "".join(f'{dim} {number} "{name}"\n' for (dim, number), name in names.items())
    file.write(b"$MeshFormat\n2.2 1 8\n" + np.array(1, "<i4").tobytes() + b"\n$EndMeshFormat\n")
    file.write(f"$PhysicalNames\n{len(names)}\n{lines}$EndPhysicalNames\n$Nodes\n{len(nodes)}\n".encode())
    file.write(nodes.tobytes())
    file.write(f"\n$EndNodes\n$Elements\n{sum(len(rows) for _, rows in elements)}\n".encode())
    for header, rows in elements:
        file.write(np.array(header, "<i4").tobytes() + rows.astype("<i4").tobytes())
    file.write(b"\n$EndElements\n")


def _rows(kind: str, cells: NDArray[Any], points: NDArray[np.float64], index: NDArray[np.int64],
          numbers: NDArray[np.int64]) -> tuple[tuple[int, int, int], NDArray[Any]]:
    """A block of elements of the file, header and rows: cell index[i] in the group numbers[i]."""
    if kind not in _TYPES:
        raise ValueError(f"Mesh.from_meshio: cells of type {kind!r}, needed one of {', '.join(_TYPES)}")
    code, num_nodes, order, needed = _TYPES[kind]
    if cells.ndim != 2 or cells.shape[1] != num_nodes:
        raise ValueError(f"Mesh.from_meshio: cells of type {kind!r} {cells.shape}, needed [num][{num_nodes}]")
    if cells.size and not 0 <= cells.min() <= cells.max() < 2**31 - 1:
        raise ValueError(f"Mesh.from_meshio: cells of type {kind!r} have nodes {cells.min()} to {cells.max()}, "
                         "needed 0 to 2^31 - 2")
    if kind in _KEPT_ORDER and _length(needed, cells, points) < _length(order, cells, points):
        order = needed
    found, num_corners = order.split(), num_nodes - len(order.split())
    columns = [*range(num_corners), *(num_corners + found.index(between) for between in needed.split())]
    rows = np.column_stack([index + 1, numbers, cells[index][:, columns] + 1])
    return (code, len(rows), 1), rows


def _length(order: str, cells: NDArray[Any], points: NDArray[np.float64]) -> float:
    """How far nodes are from the middle of what they ought to lie between, all together."""
    between = order.split()
    first = cells.shape[1] - len(between)
    return float(sum(np.linalg.norm(points[cells[:, first + k]] - points[cells[:, [int(c) for c in corners]]].mean(axis=1))
                     for k, corners in enumerate(between)))


def _find_groups(mesh: Any, groups: str, blocks: list[tuple[str, NDArray[Any]]]
                 ) -> tuple[list[NDArray[np.int64]], dict[tuple[int, int], str]]:
    """Of each block the pairs of cells and numbers of groups, 0 for none: [pairs][2]; names of (dimension, number)."""
    named = {(name, int(value[1])): int(value[0]) for name, value in mesh.field_data.items() if np.size(value) == 2}
    data = mesh.cell_data.get(groups)
    if data is None and groups != "gmsh:physical":
        raise ValueError(f"Mesh.from_meshio: no cell data {groups!r}, the mesh has {', '.join(mesh.cell_data) or 'none'}")
    pairs = [np.column_stack([np.arange(len(cells)), _whole_numbers(groups, data[b]) if data else np.zeros(len(cells), int)])
             for b, (_, cells) in enumerate(blocks)]
    unused = 1 + max([0, *named.values(), *(int(p[:, 1].max(initial=0)) for p in pairs)])
    for name, sets in mesh.cell_sets.items():
        for b, ((kind, _), chosen) in enumerate(zip(blocks, sets)):
            if name.startswith("gmsh:") or chosen is None or len(chosen) == 0:
                continue
            number = named.setdefault((name, _dim_of(kind)), unused)
            unused += number == unused
            more = np.column_stack([np.asarray(chosen, np.int64), np.full(len(chosen), number, np.int64)])
            pairs[b] = np.unique(np.concatenate([pairs[b], more]), axis=0)
    return pairs, {(dim, number): name for (name, dim), number in named.items()}


def _whole_numbers(groups: str, values: Any) -> NDArray[np.int64]:
    numbers = np.asarray(values)
    is_good = (numbers == np.floor(numbers)) & (numbers >= 0) & (numbers < 2**31)
    if numbers.ndim != 1 or not is_good.all():
        raise ValueError(f"Mesh.from_meshio: cell data {groups!r} {numbers[~is_good][:1]}, needed numbers 0 .. 2^31 - 1")
    return numbers.astype(np.int64)


def _dim_of(kind: str) -> int:
    return {"ve": 0, "li": 1, "tr": 2, "qu": 2}.get(kind[:2], 3)
