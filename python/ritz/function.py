# SPDX-License-Identifier: BSD-2-Clause
"""Functions of a space and constants: what forms depend on."""
from __future__ import annotations

from typing import Any, Callable, Union

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _base
from ._core import SCALAR, Vector, address, ffi, lib
from .mesh import Mesh
from .parallel import reduce
from .space import AnySpace, FunctionSpace, ProductSpace

Source = Union["Function", float, ArrayLike, Callable[..., Any], Any]


class Function(_base.FunctionBase):
    """A function of a space, 0 at first. .array are its values at the nodes, a view: [dim].

    u(points) evaluates it, u.interpolate(f) takes values from f(x) with x [space_dim][nodes], from a UFL
    expression or from another function.
    """

    def __init__(self, space: AnySpace, name: str = "u", vector: Vector | None = None):
        if _base.HAVE_UFL:
            super().__init__(space)
        self._space, self.name, self.ctx = space, name, space.ctx
        self.vector = vector or Vector(space.dim, space.ctx)
        if self.vector.size != space.dim:
            raise ValueError(f"Function: a vector of length {self.vector.size}, needed {space.dim}")

    @property
    def space(self) -> AnySpace:
        return self._space

    def function_space(self) -> AnySpace:
        return self._space

    @property
    def x(self) -> Vector:
        """The vector: u.x.array as in dolfinx."""
        return self.vector

    @property
    def array(self) -> NDArray[Any]:
        return self.vector.array

    @array.setter
    def array(self, values: ArrayLike) -> None:
        self.vector.array = values

    @property
    def array_ro(self) -> NDArray[Any]:
        return self.vector.array_ro

    @property
    def nodal(self) -> NDArray[Any]:
        """The values as [num_nodes][components], a view."""
        return self.vector.array.reshape(-1, _single(self._space, "nodal").num_components)

    def assign(self, value: Function | float) -> Function:
        """Takes all values of another function of the space, or one number."""
        self.vector.assign(value.vector if isinstance(value, Function) else float(value))
        return self

    def interpolate(self, source: Source) -> Function:
        """Values at the nodes of a number, an array [shape], f(x) -> [components][nodes], a UFL expression or a function."""
        self.vector.array = values_at_nodes(source, _single(self._space, "interpolate")).ravel()
        return self

    def split(self) -> tuple[Function, ...]:
        """Copies of the functions in a product, with their spaces."""
        if not isinstance(self._space, ProductSpace):
            raise TypeError("split: the function is not one of a product of spaces")
        parts = []
        for i, space in enumerate(self._space.spaces):
            part = Function(space, f"{self.name}{i}")
            self.ctx.call(lib.RitzProductSpaceGetPart, self._space.h, i, self.vector.h, part.vector.h)
            parts.append(part)
        return tuple(parts)

    def sub(self, i: int) -> Function:
        return self.split()[i]

    def set_sub(self, i: int, part: Function) -> None:
        """Takes the values of function i of a product."""
        self.ctx.call(lib.RitzProductSpaceSetPart, self._space.h, i, part.vector.h, self.vector.h)

    def at(self, points: ArrayLike) -> NDArray[Any]:
        """Values at points [num][space_dim]: [num] or [num][shape]; NaN where no element is."""
        space = _single(self._space, "at")
        x = np.ascontiguousarray(points, np.float64)
        dim = space.mesh.space_dim
        is_one = x.ndim < 2 and x.size == dim
        x = x.reshape(-1, dim)
        values = np.empty((len(x), space.num_components), SCALAR)
        self.ctx.call(lib.RitzSpaceEvaluate, space.h, space.mesh.locator.h, self.vector.h, len(x),
                      address(x, "const double"), address(values, "CeedScalar"), ffi.NULL)
        if space.mesh.num_parts > 1:
            values = _of_all_parts(values)
        shaped = values.reshape((len(x), *space.shape))
        return shaped[0] if is_one else shaped

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if _base.HAVE_UFL and (kwargs or args and isinstance(args[0], str)):  # u("+"): a side of interior facets
            return super().__call__(*args, **kwargs)
        return self.at(args[0] if len(args) == 1 else np.array(args, float))

    def norm(self) -> float:
        """The 2-norm of its values at nodes."""
        exchange = self._space.exchange
        return self.vector.norm() if exchange is None else float(exchange.dot(self.vector, self.vector) ** 0.5)

    def update_ghosts(self) -> None:
        """After writing to .array in one of several parts: others see the values that their owners have."""
        if self._space.exchange is not None:
            self._space.exchange.to_ghosts(self.vector)

    def copy(self, name: str | None = None) -> Function:
        return Function(self._space, name or self.name, self.vector.copy())

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.array(self.vector.array_ro, dtype=dtype)

    def _repr_html_(self) -> str:
        from .notebook import function_html

        return function_html(self)


def _single(space: AnySpace, call: str) -> FunctionSpace:
    if isinstance(space, ProductSpace):
        raise TypeError(f"{call}: the function is one of a product of spaces; take .split() or .sub(i)")
    return space


def _of_all_parts(values: NDArray[Any]) -> NDArray[Any]:
    """Values at points that some part has found; all have to look for the same points."""
    largest = reduce(np.where(np.isnan(values), -np.inf, values).ravel(), is_sum=False).reshape(values.shape)
    return np.where(np.isneginf(largest), np.nan, largest).astype(SCALAR)


class Constant(_base.ConstantBase):
    """A number, vector or tensor that forms depend on: no kernel is compiled when its value changes."""

    def __init__(self, mesh: Mesh, value: ArrayLike):
        values = np.asarray(value, float)
        if _base.HAVE_UFL:
            super().__init__(mesh, values.shape)
        self.values, self.version = np.array(values.ravel()), 0
        self.shape = values.shape

    @property
    def value(self) -> Any:
        return float(self.values[0]) if not self.shape else self.values.reshape(self.shape).copy()

    @value.setter
    def value(self, value: ArrayLike) -> None:
        self.assign(value)

    def assign(self, value: ArrayLike) -> Constant:
        new = np.asarray(value, float)
        if new.shape != self.shape:
            raise ValueError(f"Constant: a value of shape {new.shape}, needed {self.shape}")
        self.values[:] = new.ravel()
        self.version += 1
        return self

    def __float__(self) -> float:
        return float(self.value)


def values_at_nodes(source: Source, space: FunctionSpace) -> NDArray[np.float64]:
    """[num_nodes][components] of what Function.interpolate takes."""
    num, components = space.num_nodes, space.num_components
    if isinstance(source, Function):
        return _values_of_function(source, space)
    if _base.is_expression(source):
        from .forms.expression import evaluate_at_nodes
        return np.asarray(evaluate_at_nodes(source, space), float)
    if callable(source):
        values = np.asarray(source(space.node_coordinates().T), float)
        if values.size == components:
            return np.broadcast_to(values.reshape(1, components), (num, components))
        return np.ascontiguousarray(values.reshape(components, num).T)
    values = np.asarray(source, float)
    if values.size not in (1, components):
        raise ValueError(f"interpolate: a value of {values.size} numbers, needed {components}")
    return np.broadcast_to(values.reshape(1, -1), (num, components))


def _values_of_function(source: Function, space: FunctionSpace) -> NDArray[np.float64]:
    """The same space: a copy. Another one: values at its nodes' positions, across meshes, too."""
    if source.space is space:
        return np.asarray(source.array_ro, float).reshape(-1, space.num_components)
    other = _single(source.space, "interpolate")
    if other.num_components != space.num_components:
        raise ValueError(f"interpolate: a function of {other.num_components} components, needed {space.num_components}")
    values = source.at(space.node_coordinates()).reshape(-1, space.num_components)
    missed = np.isnan(values).any(axis=1)
    if missed.any():
        raise ValueError(f"interpolate: {int(missed.sum())} of {space.num_nodes} nodes lie outside the function's mesh, "
                         f"the first at {space.node_coordinates()[missed][0]}")
    return np.asarray(values, float)
