# SPDX-License-Identifier: BSD-2-Clause
"""Meshes of meshio are those that the library reads from files."""
from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import ritz
from ritz import Mesh
from ritz.meshio import _TYPES

meshio = pytest.importorskip("meshio")

MESHES = Path(__file__).resolve().parents[2] / "examples" / "meshes"
EPS = np.finfo(float).eps

# Corners in the order of meshio, volume of a cell.
CORNERS = {
    "line": ([[0], [1]], 1), "triangle": ([[0, 0], [1, 0], [0, 1]], 1 / 2),
    "quad": ([[0, 0], [1, 0], [1, 1], [0, 1]], 1), "tetra": ([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], 1 / 6),
    "hexahedron": ([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [0, 0, 1], [1, 0, 1], [1, 1, 1], [0, 1, 1]], 1),
    "wedge": ([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 0, 1], [0, 1, 1]], 1 / 2),
    "pyramid": ([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [0.5, 0.5, 1]], 1 / 3),
}
SAME_ORDER = {"line3": "01", "triangle6": "01 12 02", "quad9": "01 12 23 03 0123", "quad8": "01 12 23 03"}


def shape_of(kind):
    return next(name for name in CORNERS if kind.startswith(name))


def nodes_of(kind, order):
    """Nodes of a cell by the corners that they lie between, moved by a map of determinant 1 and degree 2 (degree 1 for
    cells of order 1), which keeps volumes."""
    corners = np.array(CORNERS[shape_of(kind)][0], float)
    x = np.array([*corners, *(corners[[int(c) for c in between]].mean(axis=0) for between in order.split())])
    bend = 0.0 if len(x) == len(corners) else 0.2
    if x.shape[1] == 3:
        x[:, 0] += bend * x[:, 2]**2 + 0.1 * x[:, 1]
        x[:, 1] += bend * x[:, 2]**2
    elif x.shape[1] == 2:
        x[:, 0] += bend * x[:, 1]**2
    return x


@pytest.mark.parametrize("kind, is_gmsh", [*((kind, False) for kind in _TYPES), ("wedge18", True), ("pyramid14", True)])
def test_every_shape_keeps_its_volume(kind, is_gmsh):
    """A node in the wrong place bends the cell, or turns it inside out."""
    order = SAME_ORDER.get(kind) or _TYPES[kind][3 if is_gmsh else 2]
    x = nodes_of(kind, order)
    cells = SimpleNamespace(type=kind, data=[range(len(x))])  # meshio 5.3 itself knows not all of them
    mesh = Mesh.from_meshio(SimpleNamespace(points=x, cells=[cells], cell_data={}, field_data={}, cell_sets={}))
    assert mesh.num_elements == 1 and mesh.order == (1 if len(x) == len(CORNERS[shape_of(kind)][0]) else 2)
    if not kind.startswith("pyramid") or mesh.order == 1:  # of a bent pyramid geometry is rational
        assert mesh.measure == pytest.approx(CORNERS[shape_of(kind)][1], rel=100 * EPS)
    V = ritz.FunctionSpace(mesh, mesh.order)
    found = V.node_coordinates()
    assert len(found) >= len(x)  # cells without nodes in faces get them
    assert np.abs(found[None] - x[:, None]).max(axis=2).min(axis=1).max() < 100 * EPS


@pytest.mark.parametrize("name", ["four-shapes", "heat-sink", "pipe-elbow"])
@pytest.mark.parametrize("has_sets", [False, True])
def test_files_read_by_both_are_the_same(name, has_sets):
    path = MESHES / f"{name}.msh"
    source = meshio.read(path)
    if has_sets:
        source.cell_data, source.field_data = {}, {}
    else:
        source.cell_sets = {}
    found, expected = Mesh.from_meshio(source), Mesh(path)
    assert (found.shapes, found.order, found.num_vertices) == (expected.shapes, expected.order, expected.num_vertices)
    assert found.measure == pytest.approx(expected.measure, rel=100 * EPS)
    assert sorted(found.parts) == sorted(expected.parts) and set(found.regions) == set(expected.regions)
    for part in expected.parts:
        assert all(np.array_equal(a, b) for a, b in zip(found.facets(part), expected.facets(part)))
    assert np.allclose(found.element_measures(), expected.element_measures(), rtol=1e-12)


def test_sets_overlap_and_order_is_kept():
    x = np.array([[i, j] for j in range(2) for i in range(5)], float)
    cells = [[i, i + 1, i + 6, i + 5] for i in range(4)]
    source = meshio.Mesh(x, [("quad", cells), ("line", [[0, 5], [4, 9]]), ("vertex", [[0]])],
                         cell_data={"tag": [np.array([7, 7, 0, 7]), np.array([3, 0]), np.array([1])]},
                         field_data={"left": [3, 1]},
                         cell_sets={"low": [np.array([0, 1]), None, None], "mid": [[1, 2], [], []], "both": [[3], [1], []]})
    mesh = Mesh.from_meshio(source, groups="tag")
    assert sorted(mesh.parts) == ["both", "left"] and {"low", "mid", "both", "7"} <= set(mesh.regions)
    numbers = mesh.element_regions
    chosen = {name: {e for e in range(4) if numbers[e] in mesh.region_numbers(name)} for name in ("low", "mid", "both", "7")}
    assert chosen == {"low": {0, 1}, "mid": {1, 2}, "both": {3}, "7": {0, 1, 3}}
    assert list(mesh.facets("left")[0]) == [0] and list(mesh.facets("both")[0]) == [3]


def test_what_is_no_mesh_is_refused():
    x = np.zeros((3, 2))
    one = meshio.Mesh(x, [("triangle", [[0, 1, 2]])], cell_data={"tag": [np.array([-1])], "half": [np.array([0.5])]})
    for name, message in (("tag", r"\[-1\], needed numbers"), ("half", r"\[0.5\], needed"), ("ref", "has tag, half")):
        with pytest.raises(ValueError, match=message):
            Mesh.from_meshio(one, groups=name)
    with pytest.raises(ValueError, match=r"'triangle' \(1, 4\), needed \[num\]\[3\]"):
        Mesh.from_meshio(meshio.Mesh(x, [("triangle", [[0, 1, 2, 2]])]))
    with pytest.raises(ritz.Error):
        Mesh.from_meshio(meshio.Mesh(np.eye(3, 2), [("triangle", [[0, 1, 2]])], field_data={'a"b\n': [1, 2]}))
    with pytest.raises(TypeError, match="from_meshio: an object of type int, needed a meshio.Mesh"):
        Mesh.from_meshio(3)
    with pytest.raises(ValueError, match="cells of type 'quad16', needed one of line, .*pyramid14"):
        Mesh.from_meshio(meshio.Mesh(np.zeros((16, 2)), [("quad16", [range(16)])]))
    with pytest.raises(ritz.Error, match=r"Mesh\.from_meshio: .*node 4, which is not defined"):
        Mesh.from_meshio(meshio.Mesh(x, [("triangle", [[0, 1, 3]])]))
    with pytest.raises(ritz.Error, match="inverted|Jacobian"):
        Mesh.from_meshio(meshio.Mesh(np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, -1.0]]), [("tetra", [[0, 1, 2, 3]])]))
