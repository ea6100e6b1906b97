# SPDX-License-Identifier: BSD-2-Clause
"""Function spaces: Lagrange elements of any degree on a mesh, continuous or not, and products of such spaces."""
from __future__ import annotations

from typing import Any, Sequence, Union

import numpy as np
from numpy.typing import NDArray

from . import _base
from ._core import SCALAR_TYPE, Context, Handle, address, ffi, lib, take_array
from .mesh import Mesh
from .parallel import Exchange, reduce

_CONTINUOUS = ("Lagrange", "CG", "P", "Q", "H1")
_DISCONTINUOUS = ("Discontinuous Lagrange", "DG", "DP", "DQ", "L2")
ElementSpec = Union[int, Sequence[Any]]


def _degree_and_kind(element: ElementSpec) -> tuple[int, bool]:
    """Degree, and whether it is continuous, of 4, ("Lagrange", 4) or ("DG", 2)."""
    if isinstance(element, (int, np.integer)):
        return int(element), True
    family, degree = element[0], int(element[1])
    if family not in _CONTINUOUS + _DISCONTINUOUS:
        raise ValueError(f"FunctionSpace: no family {family!r}; needed one of {', '.join(_CONTINUOUS + _DISCONTINUOUS)}")
    return degree, family in _CONTINUOUS


class _Space(_base.SpaceBase):
    """What single spaces and products have alike."""

    _mesh: Mesh
    _handle: Handle
    _exchange: Exchange | None = None
    ctx: Context
    dim: int  # of a part: with the ghosts

    @property
    def h(self) -> Any:
        return self._handle.h

    @property
    def mesh(self) -> Mesh:
        return self._mesh

    @property
    def exchange(self) -> Exchange | None:
        """Between this part and others, made by all together at the first use; None: the mesh is whole."""
        if self._exchange is None and self._mesh.num_parts > 1:
            self._exchange = self._create_exchange()
        return self._exchange

    @property
    def global_dim(self) -> int:
        """Unknowns of the whole problem."""
        return self.dim if self.exchange is None else int(reduce([self.exchange.num_owned])[0])

    @property
    def spaces(self) -> tuple[FunctionSpace, ...]:
        """Those in a product; of a single space: itself."""
        raise NotImplementedError

    def _create_exchange(self) -> Exchange:
        raise NotImplementedError

    def __mul__(self, other: AnySpace) -> ProductSpace:
        return ProductSpace(*self.spaces, *other.spaces)

    def _repr_html_(self) -> str:
        from .notebook import space_html

        return space_html(self)


class FunctionSpace(_Space):
    """Lagrange functions on a mesh: FunctionSpace(mesh, 4), FunctionSpace(mesh, ("DG", 2), shape=(3,)).

    Values of functions are [num_nodes][components], components of tensors in C order. V * Q is a product.
    """

    def __init__(self, mesh: Mesh, element: ElementSpec = 1, degree: int | None = None, *,
                 shape: tuple[int, ...] = (), handle: Handle | None = None):
        if degree is not None:
            element = (element, degree)
        self.degree, self.is_continuous = _degree_and_kind(element)
        self._mesh, self.shape, self.ctx = mesh, tuple(int(n) for n in shape), mesh.ctx
        self.num_components = int(np.prod(self.shape)) if self.shape else 1
        create = lib.RitzSpaceCreate if self.is_continuous else lib.RitzSpaceCreateDiscontinuous
        self._handle = handle or self.ctx.new("RitzSpace", create, mesh.h, self.degree, self.num_components)
        num = ffi.new("int64_t *")
        self.ctx.call(lib.RitzSpaceGetNumNodes, self.h, num)
        self.num_nodes = int(num[0])
        self.dim = self.num_nodes * self.num_components
        if _base.HAVE_UFL:
            cell = mesh.ufl_coordinate_element().cell
            super().__init__(mesh, _base.Element(cell, self.degree, self.shape, (), self.is_continuous))

    @property
    def spaces(self) -> tuple[FunctionSpace, ...]:
        return (self,)

    def _create_exchange(self) -> Exchange:
        return Exchange(self, lib.RitzExchangeCreate)

    def node_coordinates(self) -> NDArray[np.float64]:
        """Positions of the nodes: [num_nodes][space_dim]"""
        x = np.empty((self.num_nodes, self._mesh.space_dim))
        self.ctx.call(lib.RitzSpaceGetNodeCoordinates, self.h, address(x, "double"))
        return x

    tabulate_dof_coordinates = node_coordinates

    def boundary_nodes(self, part: str = "all") -> NDArray[np.int64]:
        """Nodes on a boundary part, ascending."""
        num, nodes = ffi.new("int64_t *"), ffi.new("int64_t **")
        self.ctx.call(lib.RitzSpaceGetBoundaryNodes, self.h, part.encode(), num, nodes)
        return take_array(nodes[0], num[0], np.int64)

    def on(self, mesh: Mesh, degree: int | None = None) -> FunctionSpace:
        """The space of the same kind on another mesh, or of another degree."""
        if mesh is self._mesh and degree in (None, self.degree):
            return self
        kind = "Lagrange" if self.is_continuous else "DG"
        return FunctionSpace(mesh, (kind, degree or self.degree), shape=self.shape)

    def __str__(self) -> str:
        kind = "Lagrange" if self.is_continuous else "discontinuous"
        return f"<ritz.FunctionSpace: {kind}, degree {self.degree}, shape {self.shape}, {self.dim} unknowns>"


def VectorFunctionSpace(mesh: Mesh, element: ElementSpec = 1, degree: int | None = None,
                        dim: int | None = None) -> FunctionSpace:
    """The space of vectors, of as many components as the mesh has coordinates unless `dim` says another number."""
    return FunctionSpace(mesh, element, degree, shape=(mesh.space_dim if dim is None else dim,))


class ProductSpace(_Space):
    """A product of spaces of one mesh. Values of functions: those of its spaces, one after the other; in parts the
    owned ones, and then the ghosts."""

    def __init__(self, *spaces: FunctionSpace):
        self._spaces, self._mesh, self.ctx = tuple(spaces), spaces[0].mesh, spaces[0].ctx
        self._handle = self.ctx.new("RitzProductSpace", lib.RitzProductSpaceCreate, len(spaces),
                                    ffi.new("RitzSpace[]", [space.h for space in spaces]))
        self.dim = sum(space.dim for space in spaces)
        self.degree = max(space.degree for space in spaces)
        self.num_components = sum(space.num_components for space in spaces)
        self.shape = (self.num_components,)
        if _base.HAVE_UFL:
            element = _base.Element(spaces[0].ufl_element().cell, self.degree, self.shape,
                                    tuple(space.ufl_element() for space in spaces))
            super().__init__(self._mesh, element)

    @property
    def spaces(self) -> tuple[FunctionSpace, ...]:
        return self._spaces

    def _create_exchange(self) -> Exchange:
        return Exchange(self, lib.RitzExchangeCreateOfProduct, SCALAR_TYPE)

    def sub(self, i: int) -> SubSpace:
        """Space i as a part of this product: for boundary conditions."""
        return SubSpace(self, i)

    def __len__(self) -> int:
        return len(self.spaces)

    def on(self, mesh: Mesh, degree: int | None = None) -> ProductSpace:
        return self if mesh is self._mesh else ProductSpace(*(space.on(mesh) for space in self.spaces))

    def __str__(self) -> str:
        return f"<ritz.ProductSpace: {' * '.join(str(space) for space in self.spaces)}>"


class SubSpace:
    """Space `index` of a product."""

    def __init__(self, product: ProductSpace, index: int):
        self.product, self.index = product, range(len(product.spaces))[index]
        self.space = product.spaces[self.index]

    def entries(self, of_space: NDArray[np.int64]) -> NDArray[np.int64]:
        """Where the product has these entries of the space, which ascend."""
        ctx, num, entries = self.product.ctx, ffi.new("int64_t *"), ffi.new("const int64_t **")
        ours = ctx.new("RitzIndices", lib.RitzIndicesCreate, ctx.h, len(of_space), address(of_space, "const int64_t"))
        all_ = ffi.new("RitzIndices[]", len(self.product))
        all_[self.index] = ours.h
        found = ctx.new("RitzIndices", lib.RitzProductSpaceCreateConstraints, self.product.h, ctx.h, all_)
        ctx.call(lib.RitzIndicesGet, found.h, num, entries)
        return np.frombuffer(ffi.buffer(entries[0], 8 * num[0]), np.int64).copy() if num[0] else np.zeros(0, np.int64)


AnySpace = Union[FunctionSpace, ProductSpace]


