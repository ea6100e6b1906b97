# SPDX-License-Identifier: BSD-2-Clause
"""Meshes: boxes, files, arrays; refinement, boundary parts, regions."""
from __future__ import annotations

import os
from typing import Any, Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _base
from ._core import Context, Handle, address, check, context, ffi, lib, take_array, text_of
from .parallel import cut, num_parts, reduce

# By lib.CEED_TOPOLOGY_*: name of the cell in UFL and corners.
_SHAPES = {
    lib.CEED_TOPOLOGY_LINE: ("interval", 2), lib.CEED_TOPOLOGY_TRIANGLE: ("triangle", 3),
    lib.CEED_TOPOLOGY_QUAD: ("quadrilateral", 4), lib.CEED_TOPOLOGY_TET: ("tetrahedron", 4),
    lib.CEED_TOPOLOGY_PYRAMID: ("pyramid", 5), lib.CEED_TOPOLOGY_PRISM: ("prism", 6),
    lib.CEED_TOPOLOGY_HEX: ("hexahedron", 8),
}
_TOPOLOGIES = {name: topology for topology, (name, _) in _SHAPES.items()}


class Mesh(_base.MeshBase):
    """A mesh of lines, triangles, quadrilaterals, tetrahedra, pyramids, prisms, hexahedra, straight or curved.

    Mesh("part.msh") reads a file of Gmsh or MFEM. .parts are the names of boundary parts, .regions of regions.
    Meshes are immutable; .refine makes another one.
    """

    def __init__(self, source: str | os.PathLike[str] | Handle, ctx: Context | None = None, *,
                 ignore_periodic: bool = False, merge: float | None = None):
        if isinstance(source, Handle):
            self._handle, self.ctx = source, source.ctx
        else:
            self.ctx = ctx or context()
            options = ffi.new("RitzMeshReadOptions *", {"ignore_periodic": ignore_periodic, "merge": merge is not None,
                                                        "merge_distance": merge or 0.0})
            self._handle = cut(self.ctx.new("RitzMesh", lib.RitzMeshReadWith, self.ctx.h, os.fsencode(source), options))
        dim, space_dim, order = ffi.new("CeedInt *"), ffi.new("CeedInt *"), ffi.new("CeedInt *")
        num = ffi.new("int64_t *")
        self.ctx.call(lib.RitzMeshGetDimensions, self.h, dim, space_dim)
        self.ctx.call(lib.RitzMeshGetGeometryOrder, self.h, order)
        self.ctx.call(lib.RitzMeshGetNumElements, self.h, num)
        self.dim, self.space_dim, self.order, self.num_elements = dim[0], space_dim[0], order[0], num[0]
        self._geometry: Handle | None = None
        self._locator: Handle | None = None
        self._coarser: Mesh | None = None
        self.num_parts = num_parts(self._handle)  # of the whole mesh; num_elements and so on are this part's
        if _base.HAVE_UFL:
            cell = _base.ufl_cell(self.shapes[-1] if self.shapes[-1] in ("interval", "triangle", "quadrilateral",
                                                                         "tetrahedron", "hexahedron") else "hexahedron")
            super().__init__(_base.Element(cell, self.order, (self.space_dim,)))

    @classmethod
    def from_meshio(cls, mesh: Any, ctx: Context | None = None, *, groups: str = "gmsh:physical", **options: Any) -> Mesh:
        """A mesh of meshio: points, cells of all shapes of order 1 or 2. Boundary parts and regions: the numbers of
        cell_data[groups] with names of field_data, and cell_sets. Options are those of Mesh."""
        from .meshio import read

        return read(mesh, groups, lambda path: cls(path, ctx, **options))

    @property
    def h(self) -> Any:
        return self._handle.h

    # ---- What it is ----

    @property
    def shapes(self) -> list[str]:
        """Shapes of the elements, a block of the mesh each."""
        return [_SHAPES[topology][0] for topology, _, _ in self._blocks()]

    def _blocks(self) -> list[tuple[int, int, int]]:
        """Topology, first element, number of elements of each block."""
        num = ffi.new("CeedInt *")
        self.ctx.call(lib.RitzMeshGetNumBlocks, self.h, num)
        blocks = []
        for i in range(num[0]):
            topology, first, size = ffi.new("CeedElemTopology *"), ffi.new("int64_t *"), ffi.new("int64_t *")
            self.ctx.call(lib.RitzMeshGetBlock, self.h, i, topology, first, size, ffi.NULL, ffi.NULL)
            blocks.append((int(topology[0]), int(first[0]), int(size[0])))
        return blocks

    @property
    def num_vertices(self) -> int:
        num = ffi.new("int64_t *")
        self.ctx.call(lib.RitzMeshGetNumVertices, self.h, num)
        return int(num[0])

    @property
    def parts(self) -> list[str]:
        """Names of the boundary parts; "all" stands for the whole boundary besides."""
        num, name = ffi.new("CeedInt *"), ffi.new("const char **")
        self.ctx.call(lib.RitzMeshGetNumBoundaryParts, self.h, num)
        names = []
        for i in range(num[0]):
            self.ctx.call(lib.RitzMeshGetBoundaryPartName, self.h, i, name)
            names.append(ffi.string(name[0]).decode())
        return names

    @property
    def regions(self) -> dict[str, int]:
        """Names of regions with their numbers; regions without a name are called by their number."""
        num, name, number = ffi.new("CeedInt *"), ffi.new("const char **"), ffi.new("int32_t *")
        self.ctx.call(lib.RitzMeshGetNumRegions, self.h, num)
        names = {}
        for i in range(num[0]):
            self.ctx.call(lib.RitzMeshGetRegion, self.h, i, name, number)
            names[ffi.string(name[0]).decode()] = int(number[0])
        return names

    @property
    def element_regions(self) -> NDArray[np.int32]:
        """The region of every element, or -1 - k for overlap k of regions: [num_elements]"""
        pointer = ffi.new("const int32_t **")
        self.ctx.call(lib.RitzMeshGetElementRegions, self.h, pointer)
        return np.frombuffer(ffi.buffer(pointer[0], 4 * self.num_elements), np.int32).copy()

    def element_vertices(self) -> dict[str, NDArray[np.int64]]:
        """Vertices of the elements of each shape: [elements][corners], numbered as doc/mesh says."""
        found = {}
        for i, (topology, _, size) in enumerate(self._blocks()):
            pointer = ffi.new("const int64_t **")
            name, corners = _SHAPES[topology]
            self.ctx.call(lib.RitzMeshGetBlock, self.h, i, ffi.NULL, ffi.NULL, ffi.NULL, pointer, ffi.NULL)
            found[name] = np.frombuffer(ffi.buffer(pointer[0], 8 * corners * size), np.int64).reshape(-1, corners).copy()
        return found

    def facets(self, part: str = "all") -> tuple[NDArray[np.int64], NDArray[np.int8]]:
        """Elements and their facets' numbers on a boundary part: [facets], [facets]"""
        num, elements, facets = ffi.new("int64_t *"), ffi.new("int64_t **"), ffi.new("int8_t **")
        self.ctx.call(lib.RitzMeshGetBoundaryPart, self.h, part.encode(), num, elements, facets)
        return take_array(elements[0], num[0], np.int64), take_array(facets[0], num[0], np.int8)

    @property
    def measure(self) -> float:
        """Length, area or volume."""
        measure = ffi.new("double *")
        self.ctx.call(lib.RitzMeshGetMeasure, self.h, measure, ffi.NULL, ffi.NULL)
        return self.sum_over_parts(measure[0])

    def sum_over_parts(self, value: float) -> float:
        return float(reduce([value])[0]) if self.num_parts > 1 else float(value)

    def element_measures(self) -> NDArray[np.float64]:
        measures = np.empty(self.num_elements)
        self.ctx.call(lib.RitzMeshGetElementMeasures, self.h, address(measures, "double"))
        return measures

    @property
    def geometry(self) -> Handle:
        """The classified elements (RitzGeometry), made once."""
        if self._geometry is None:
            self._geometry = self.ctx.new("RitzGeometry", lib.RitzGeometryCreate, self.h, -1.0)
        return self._geometry

    @property
    def locator(self) -> Handle:
        """Finds elements of points (RitzLocator), made once."""
        if self._locator is None:
            self._locator = self.ctx.new("RitzLocator", lib.RitzLocatorCreate, self.h, -1.0)
        return self._locator

    def region_numbers(self, region: str | int) -> list[int]:
        """Numbers of the elements of a region, given by name or number: its own and those of overlaps with it."""
        regions = self.regions
        number = regions.get(region) if isinstance(region, str) else region if region in regions.values() else None
        if number is None:
            raise ValueError(f"the mesh has no region {region!r}, it has {', '.join(map(repr, regions)) or 'none'}")
        numbers, num, listed = [number], ffi.new("CeedInt *"), ffi.new("const int32_t **")
        self.ctx.call(lib.RitzMeshGetNumOverlaps, self.h, num)
        for k in range(num[0]):
            size = ffi.new("CeedInt *")
            self.ctx.call(lib.RitzMeshGetOverlap, self.h, k, size, listed)
            if number in [listed[0][i] for i in range(size[0])]:
                numbers.append(-1 - k)
        present = set(np.unique(self.element_regions).tolist())
        return [n for n in numbers if n in present]

    # ---- Others made of it ----

    def refine(self, levels: int = 1) -> Mesh:
        """Every element in 2^dim children, `levels` times; curved geometry stays exact."""
        return Mesh(self.ctx.new("RitzMesh", lib.RitzMeshRefine, self.h, levels))

    def split(self, into: str) -> Mesh:
        """Elements cut into "triangle", "tetrahedron", "pyramid" or "prism"."""
        if into not in _TOPOLOGIES:
            raise ValueError(f"split: no shape {into!r}; needed one of {', '.join(_TOPOLOGIES)}")
        return Mesh(self.ctx.new("RitzMesh", lib.RitzMeshSplit, self.h, _TOPOLOGIES[into]))

    @property
    def coarser(self) -> Mesh | None:
        """The mesh that this one refines, or None."""
        if self._coarser is None:
            pointer = ffi.new("RitzMesh *")
            self.ctx.call(lib.RitzMeshGetCoarser, self.h, pointer)
            if pointer[0] != ffi.NULL:
                self._coarser = Mesh(Handle(self.ctx, "RitzMesh", pointer))
        return self._coarser

    def view(self) -> str:
        """A summary in lines: shapes, sizes, order, kinds, parts with their facets, regions."""
        return text_of(lambda file: check(lib.RitzMeshView(self.h, file))).rstrip()

    def __str__(self) -> str:
        return f"<ritz.Mesh: {self.num_elements} elements ({', '.join(self.shapes)}), order {self.order}>"

    def _repr_html_(self) -> str:
        from .notebook import mesh_html

        return mesh_html(self)


def BoxMesh(*n: int, lower: Sequence[float] | None = None, upper: Sequence[float] | None = None, order: int = 1,
            map: Callable[..., ArrayLike] | None = None, ctx: Context | None = None) -> Mesh:
    """The box [lower, upper] (default: 0, 1) of n[0] x n[1] x ... lines, quadrilaterals or hexahedra.

    map(*X) -> x bends it: it gets the coordinates of a point of the box, and its results are the geometry of
    degree `order`. Boundary parts: "xmin", "xmax", "ymin", ...
    """
    ctx = ctx or context()
    for name, corner in (("lower", lower), ("upper", upper)):
        if corner is not None and len(corner) != len(n):
            raise ValueError(f"BoxMesh: {name} has {len(corner)} coordinates, needed {len(n)}")
    keep = ffi.new_handle(map) if map is not None else ffi.NULL
    whole = ctx.new("RitzMesh", lib.RitzMeshCreateBox, ctx.h, len(n), ffi.new("CeedInt[]", list(n)),
                    ffi.new("double[]", list(lower)) if lower is not None else ffi.NULL,
                    ffi.new("double[]", list(upper)) if upper is not None else ffi.NULL,
                    order, lib.ritz_python_map if map is not None else ffi.NULL, keep)
    return Mesh(cut(whole))


def UnitIntervalMesh(n: int, **options: Any) -> Mesh:
    return BoxMesh(n, **options)


def UnitSquareMesh(nx: int, ny: int | None = None, **options: Any) -> Mesh:
    return BoxMesh(nx, nx if ny is None else ny, **options)


def UnitCubeMesh(nx: int, ny: int | None = None, nz: int | None = None, **options: Any) -> Mesh:
    return BoxMesh(nx, nx if ny is None else ny, nx if nz is None else nz, **options)


def mesh_from_arrays(shape: str, vertices: ArrayLike, points: ArrayLike, ctx: Context | None = None) -> Mesh:
    """A mesh of straight elements of one shape: vertices [elements][corners], points [vertices][space_dim]."""
    ctx = ctx or context()
    if shape not in _TOPOLOGIES:
        raise ValueError(f"mesh_from_arrays: no shape {shape!r}; needed one of {', '.join(_TOPOLOGIES)}")
    cells = np.ascontiguousarray(vertices, np.int64)
    x = np.ascontiguousarray(points, np.float64)
    corners = _SHAPES[_TOPOLOGIES[shape]][1]
    if cells.ndim != 2 or cells.shape[1] != corners or x.ndim != 2:
        raise ValueError(f"mesh_from_arrays: vertices {cells.shape} and points {x.shape}, needed [elements][{corners}] "
                         "and [vertices][space_dim]")
    block = ffi.new("RitzMeshArrayBlock *", {"topology": _TOPOLOGIES[shape], "num_elem": len(cells),
                                             "vertices": address(cells, "const int64_t")})
    dim = {"interval": 1, "triangle": 2, "quadrilateral": 2}.get(shape, 3)
    arrays = ffi.new("RitzMeshArrays *", {
        "dim": dim, "space_dim": x.shape[1], "order": 1, "num_vertices": len(x), "num_blocks": 1, "blocks": block,
        "vertex_x": address(x, "const double")})
    return Mesh(cut(ctx.new("RitzMesh", lib.RitzMeshCreate, ctx.h, arrays)))
