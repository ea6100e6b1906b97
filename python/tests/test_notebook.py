# SPDX-License-Identifier: BSD-2-Clause
"""HTML for notebooks: well-formed, with the numbers of what it shows, pictures with the colours of known functions."""
from __future__ import annotations

import base64
import re
import struct
import zlib
from xml.etree import ElementTree

import numpy as np

import ritz
from ritz.notebook import png

SVG = "{http://www.w3.org/2000/svg}"


def read(thing):
    """The HTML as a tree, which fails where it is not well-formed, and its text."""
    tree = ElementTree.fromstring(thing._repr_html_())
    return tree, " ".join(tree.itertext())


def pixels_of(tree):
    """Pixels [height][width][4] of the first picture, read by a decoder of its own."""
    image = next(tree.iter(f"{SVG}image"))
    data = base64.b64decode(image.get("{http://www.w3.org/1999/xlink}href").split(",")[1])
    width, height = struct.unpack(">II", data[16:24])
    size = struct.unpack(">I", data[33:37])[0]
    lines = np.frombuffer(zlib.decompress(data[41:41 + size]), np.uint8).reshape(height, 1 + 4 * width)
    assert not lines[:, 0].any()  # no filter
    return lines[:, 1:].reshape(height, width, 4)


def test_mesh(ctx):
    _, text = read(ritz.BoxMesh(3, 2, upper=(3, 1)))
    for part in "6 quadrilateral", "12", "order 1", "xmin 2 facets", "ymax 3 facets", "area 3":
        assert part in text


def test_spaces(ctx):
    V, Q = ritz.VectorFunctionSpace(ritz.UnitSquareMesh(2), 2), None
    Q = ritz.FunctionSpace(V.mesh, ("DG", 1))
    assert "continuous 2 (2,) 25 50" in read(V)[1]
    _, text = read(V * Q)
    assert "discontinuous 1 scalar 16 16" in text and "66" in text


def test_functions_have_pictures(ctx):
    V = ritz.FunctionSpace(ritz.UnitSquareMesh(2), 2)
    u = ritz.Function(V, "a<b").interpolate(lambda x: 3 * x[0] - 1)
    tree, text = read(u)
    assert "a<b" in text and "-1" in text and "2" in text
    pixels = pixels_of(tree).astype(int)
    assert pixels.shape == (120, 120, 4) and (pixels[..., 3] == 255).all()
    assert (np.diff(pixels[60, :, 1]) >= 0).all()  # green grows with the values, to the right
    assert np.abs(pixels[0] - pixels[-1]).max() <= 1  # and does not depend on y


def test_points_outside_are_transparent(ctx):
    """A half disk of radius 1 about (0, 0), in 2D."""
    mesh = ritz.BoxMesh(2, 8, order=4, map=lambda r, t: ((0.5 + r / 2) * np.cos(np.pi * t), (0.5 + r / 2) * np.sin(np.pi * t)))
    tree, _ = read(ritz.Function(ritz.FunctionSpace(mesh, 1)).assign(1.0))
    opacity = pixels_of(tree)[..., 3] > 0
    area = mesh.measure / 2  # of the box [-1, 1] x [0, 1]
    assert np.isclose(opacity.mean(), area, atol=0.02) and not opacity[-1, opacity.shape[1] // 2]


def test_functions_in_other_dimensions(ctx):
    line = ritz.Function(ritz.FunctionSpace(ritz.UnitIntervalMesh(4), 2)).interpolate(lambda x: x[0])
    assert len(list(read(line)[0].iter(f"{SVG}polyline"))) == 1
    V = ritz.VectorFunctionSpace(ritz.UnitCubeMesh(2), 1)
    _, text = read(ritz.Function(V).interpolate(lambda x: np.array([3 * x[0], 4 * x[0], 0 * x[0]])))
    assert "z = 0.5" in text and "(2,)" in text and re.search(r"\b4\.9\d+", text)  # 5 (1 - 1/240) at the last point
    pair = ritz.Function(V * ritz.FunctionSpace(V.mesh, 1))
    assert len(list(read(pair)[0].iter(f"{SVG}svg"))) == 2


def test_operator_and_roofline(ctx):
    operator = ritz.diffusion(ritz.FunctionSpace(ritz.UnitCubeMesh(2), 3))
    tree, text = read(operator)
    assert "343 x 343" in text and operator.ctx.resource in text
    if "gen" in operator.ctx.resource:
        bars = [float(bar.get("width")) for bar in tree.iter(f"{SVG}rect")]
        assert len(bars) == 3 and max(bars) == 300 and "of the roofline" in text


def test_result_and_multigrid(ctx):
    V = ritz.FunctionSpace(ritz.UnitSquareMesh(4), 2)
    bc, A = ritz.DirichletBC(V, 0, "all"), ritz.diffusion(V)
    multigrid = ritz.Multigrid(A, bc)
    result = ritz.LinearSolver(A, bc, preconditioner=multigrid, rtol=1e-4).solve(
        ritz.load_vector(V, ritz.Function(V).assign(1.0)), ritz.Vector(V.dim))
    tree, text = read(result)
    assert "yes" in text and len(list(tree.iter(f"{SVG}circle"))) == result.iterations + 1
    tree, text = read(multigrid)
    assert len(list(tree.iter("tr"))) == 1 + multigrid.num_levels and "81" in text and "25" in text


def test_png_of_known_bytes():
    data = png(np.zeros((1, 1, 4), np.uint8))
    assert data[:8] == b"\x89PNG\r\n\x1a\n" and data.endswith(bytes.fromhex("0000000049454e44ae426082"))
