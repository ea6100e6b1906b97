# SPDX-License-Identifier: BSD-2-Clause
"""Meshes, spaces, functions, Dirichlet conditions."""
from __future__ import annotations

import numpy as np
import pytest

import ritz
from ritz import BoxMesh, Constant, DirichletBC, Function, FunctionSpace, UnitCubeMesh, UnitSquareMesh, VectorFunctionSpace

SPLITS = [(2, None), (2, "triangle"), (3, None), (3, "tetrahedron"), (3, "prism"), (3, "pyramid")]


def mesh_of(dim, shape):
    mesh = BoxMesh(*[2] * dim, order=2, map=lambda *X: np.array(X) + 0.05 * np.sin(3 * np.array(X[::-1])))
    return mesh if shape is None else mesh.split(shape)


def test_box(ctx):
    mesh = BoxMesh(2, 3, lower=(0, -1), upper=(1, 2))
    assert (mesh.dim, mesh.space_dim, mesh.num_elements, mesh.shapes) == (2, 2, 6, ["quadrilateral"])
    assert mesh.parts == ["xmin", "xmax", "ymin", "ymax"]
    assert mesh.measure == pytest.approx(3.0) and mesh.element_measures().sum() == pytest.approx(3.0)
    assert len(mesh.facets("ymin")[0]) == 2 and len(mesh.facets()[0]) == 10
    assert mesh.refine().num_elements == 24 and mesh.refine(2).coarser.num_elements == 24
    assert "boundary part ymax: 2 facets" in mesh.view()


def test_mesh_of_arrays():
    points = [(0, 0), (1, 0), (0, 1), (1, 1)]
    mesh = ritz.mesh_from_arrays("triangle", [(0, 1, 2), (1, 3, 2)], points)
    assert mesh.measure == pytest.approx(1.0) and mesh.num_vertices == 4
    with pytest.raises(ValueError, match=r"needed \[elements\]\[3\]"):
        ritz.mesh_from_arrays("triangle", [(0, 1, 2, 3)], points)
    with pytest.raises(ritz.Error, match="vert"):
        ritz.mesh_from_arrays("triangle", [(0, 1, 7)], points)


def test_map_that_fails():
    def fold(x, y):
        raise LookupError("no map")

    with pytest.raises(LookupError, match="no map"):
        BoxMesh(2, 2, map=fold)
    with pytest.raises(ValueError, match="lower has 1 coordinates, needed 2"):
        BoxMesh(2, 2, lower=(0,))


@pytest.mark.parametrize("dim,shape", SPLITS)
@pytest.mark.parametrize("degree", [1, 3])
def test_interpolation_is_exact(ctx, dim, shape, degree):
    """Linear functions on curved elements of degree 2 at most; everywhere, also at points."""
    mesh = mesh_of(dim, shape)
    V = FunctionSpace(mesh, degree)
    u = Function(V).interpolate(lambda x: x[0] * (0 * x[0] + 1))
    x = V.node_coordinates()
    assert np.allclose(u.array_ro, x[:, 0], atol=1e-14)
    center = np.full((1, dim), 0.4)
    if degree >= 2 and shape is None:  # isoparametric or above
        assert u.at(center)[0] == pytest.approx(0.4, abs=1e-12)


def test_vector_functions():
    mesh = UnitSquareMesh(3)
    V = VectorFunctionSpace(mesh, 2)
    assert V.shape == (2,) and V.dim == 2 * V.num_nodes
    u = Function(V).interpolate(lambda x: (x[0] * x[1], x[1] ** 2))
    assert np.allclose(u([[0.3, 0.5], [0.1, 0.2]]), [[0.15, 0.25], [0.02, 0.04]])
    assert np.allclose(u(0.3, 0.5), [0.15, 0.25])
    assert u.nodal.shape == (V.num_nodes, 2)
    assert np.isnan(u(2.0, 0.0)).all()
    u.interpolate([1.0, 2.0])
    assert np.allclose(u(0.7, 0.1), [1, 2])
    with pytest.raises(ValueError, match="3 numbers, needed 2"):
        u.interpolate([1.0, 2.0, 3.0])


def test_interpolation_between_spaces():
    fine, coarse = UnitSquareMesh(4), UnitSquareMesh(3)
    u = Function(FunctionSpace(fine, 3)).interpolate(lambda x: x[0] ** 2 * x[1])
    w = Function(FunctionSpace(coarse, 3)).interpolate(u)
    assert w(0.37, 0.61) == pytest.approx(0.37**2 * 0.61, abs=1e-13)
    outside = BoxMesh(2, 2, upper=(2, 1))
    with pytest.raises(ValueError, match="lie outside the function's mesh"):
        Function(FunctionSpace(outside, 1)).interpolate(u)


def test_products():
    mesh = UnitSquareMesh(2)
    W = VectorFunctionSpace(mesh, 2) * FunctionSpace(mesh, 1)
    w = Function(W)
    w.array = np.arange(W.dim)
    velocity, pressure = w.split()
    assert np.array_equal(np.concatenate([velocity.array_ro, pressure.array_ro]), w.array_ro)
    pressure.assign(7.0)
    w.set_sub(1, pressure)
    assert np.all(w.array_ro[W.spaces[0].dim:] == 7) and w.array_ro[3] == 3
    with pytest.raises(TypeError, match="product"):
        w.interpolate(0.0)


def test_discontinuous():
    mesh = UnitSquareMesh(3)
    assert FunctionSpace(mesh, ("DG", 2)).dim == 9 * 9 and FunctionSpace(mesh, "Lagrange", 2).dim == 49
    with pytest.raises(ValueError, match="no family 'Nedelec'"):
        FunctionSpace(mesh, ("Nedelec", 1))


def test_dirichlet_conditions():
    mesh = UnitCubeMesh(2)
    V = VectorFunctionSpace(mesh, 2)
    u = Function(V)
    DirichletBC(V, lambda x: (x[1], 0 * x[1], x[2]), "xmax").apply(u.vector)
    assert np.allclose(u(1.0, 0.3, 0.7), [0.3, 0, 0.7]) and np.allclose(u(0.0, 0.3, 0.7), 0)
    bc = DirichletBC(V, 5.0, ("xmin", "ymin"), component=1)
    assert len(bc.entries) == len(set(bc.entries)) and np.all(bc.entries % 3 == 1)
    bc.apply(u.vector)
    assert u(0.0, 0.5, 0.5)[1] == pytest.approx(5) and u(0.0, 0.5, 0.5)[0] == 0
    with pytest.raises(ValueError, match="component 3, the space has 3"):
        DirichletBC(V, 0, "all", component=3)
    with pytest.raises(ritz.IncompatibleError, match="no boundary part is called 'left'"):
        DirichletBC(V, 0, "left")
    W = V * FunctionSpace(mesh, 1)
    on_pressure = DirichletBC(W.sub(1), 0, "zmin")
    assert on_pressure.entries.min() >= V.dim
    with pytest.raises(TypeError, match=r"W.sub\(i\)"):
        DirichletBC(W, 0)


def test_constants():
    mesh = UnitSquareMesh(1)
    c = Constant(mesh, [[1, 2], [3, 4]])
    version = c.version
    c.value = np.eye(2)
    assert c.version > version and np.array_equal(c.value, np.eye(2)) and float(Constant(mesh, 3)) == 3
    with pytest.raises(ValueError, match=r"shape \(3,\), needed \(2, 2\)"):
        c.assign([1, 2, 3])
