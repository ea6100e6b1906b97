# SPDX-License-Identifier: BSD-2-Clause
"""HTML of meshes, spaces, functions, operators, results and multigrid for notebooks: what their _repr_html_ give.

Tables and inline SVG, well-formed, without scripts or files. Pictures of functions are slices of values at points.
"""
from __future__ import annotations

import base64
import html
import re
import struct
import time
import zlib
from typing import TYPE_CHECKING, Any, Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from ._core import Vector, check, ffi, lib
from .space import AnySpace, FunctionSpace, ProductSpace

if TYPE_CHECKING:
    from .function import Function
    from .mesh import Mesh
    from .operators import Operator
    from .solvers import Multigrid, Result

_PIXELS = 120  # of the longer side of a slice
_COLORS = np.array([[68, 1, 84], [59, 82, 139], [33, 145, 140], [94, 201, 98], [253, 231, 37]], float)


# ---- Parts of HTML ----


def _text(value: Any) -> str:
    return html.escape(f"{value:.6g}" if isinstance(value, float) else f"{value:,}" if isinstance(value, int) else str(value))


def _table(title: str, rows: Iterable[Sequence[Any]], head: Sequence[str] = ()) -> str:
    """A table; the first entry of a row names it."""
    left = ' style="text-align:left"'
    lines = [f"<tr>{''.join(f'<{tag}{left}>{_text(value)}</{tag}>' for value in row)}</tr>"
             for tag, row in [("th", head)] * bool(head) + [("td", row) for row in rows]]
    return f"<div><b>{_text(title)}</b><table>{''.join(lines)}</table></div>"


def _svg(width: int, height: int, content: str) -> str:
    return (f'<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="{width}" '
            f'height="{height}" viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="11" '
            f'style="background:#fff;padding:6px">{content}</svg>')


def _label(x: float, y: float, text: str, anchor: str = "start") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="#000">{_text(text)}</text>'


def _beside(*parts: str) -> str:
    return '<div style="display:flex;gap:2em;align-items:flex-start">' + "".join(parts) + "</div>"


# ---- Meshes and spaces ----


def mesh_html(mesh: Mesh) -> str:
    sizes = [(name, len(cells)) for name, cells in mesh.element_vertices().items()]
    rows = [("elements", ", ".join(f"{num:,} {name}" for name, num in sizes)), ("vertices", mesh.num_vertices),
            ("geometry", f"order {mesh.order}, dimension {mesh.dim} in {mesh.space_dim}"),
            (("length", "area", "volume")[mesh.dim - 1], mesh.measure)]
    rows += [(f"boundary part {name}", f"{len(mesh.facets(name)[0]):,} facets") for name in mesh.parts]
    regions, in_region = mesh.regions, mesh.element_regions
    rows += [(f"region {name}", f"{int(np.sum(in_region == number)):,} elements") for name, number in regions.items()]
    return _table("Mesh", rows)


def space_html(space: AnySpace) -> str:
    head = ("", "degree", "shape", "nodes", "unknowns")
    rows: list[Sequence[Any]] = [("continuous" if one.is_continuous else "discontinuous", one.degree, one.shape or "scalar",
                                  one.num_nodes, one.dim) for one in space.spaces]
    if isinstance(space, ProductSpace):
        rows.append(("all", "", "", "", space.dim))
    return _table(type(space).__name__, rows, head)


# ---- Functions ----


def function_html(u: Function) -> str:
    if isinstance(u.space, ProductSpace):
        return "<div>" + "".join(function_html(part) for part in u.split()) + "</div>"
    values = np.asarray(u.nodal if not u.ctx.is_device else u.array_ro.reshape(-1, u.space.num_components), float)
    names = [""] if not u.space.shape else [str(index) for index in np.ndindex(*u.space.shape)]
    rows = [(f"{u.name} {name}", float(v.min()), float(v.max()), float(np.linalg.norm(v)))
            for name, v in zip(names, values.T)]
    table = _table(f"Function, degree {u.space.degree}, {u.space.dim:,} unknowns", rows, ("", "min", "max", "norm of values"))
    return _beside(table, function_svg(u))


def function_svg(u: Function) -> str:
    """A line of a mesh in 1D, an area in 2D, the middle slice of a solid; nothing of surfaces. Vectors: their lengths."""
    mesh = u.space.mesh
    if mesh.dim != mesh.space_dim or not isinstance(u.space, FunctionSpace):
        return ""
    x = u.space.node_coordinates()
    lower, upper = x.min(axis=0), x.max(axis=0)
    if mesh.dim == 1:
        points = np.linspace(lower[0], upper[0], 2 * _PIXELS)
        return _curve(points, _magnitude(u, points[:, None]))
    size = upper - lower
    num = np.maximum(2, np.rint(_PIXELS * size[:2] / max(size[:2])).astype(int))
    grids = np.meshgrid(*[lower[d] + (np.arange(num[d]) + 0.5) / num[d] * size[d] for d in (0, 1)])
    points = np.stack([*(g.ravel() for g in grids), *(np.full(num[0] * num[1], 0.5 * (lower[d] + upper[d]))
                                                        for d in range(2, mesh.dim))], axis=1)
    values = _magnitude(u, points).reshape(num[1], num[0])[::-1]
    return _area(values, f"z = {0.5 * (lower[2] + upper[2]):.4g}" if mesh.dim == 3 else "")


def _magnitude(u: Function, points: NDArray[np.float64]) -> NDArray[np.float64]:
    values = np.asarray(u.at(points), float).reshape(len(points), -1)
    return np.linalg.norm(values, axis=1) if values.shape[1] > 1 else values[:, 0]


def _area(values: NDArray[np.float64], where: str) -> str:
    """Values as colours, with their scale; points outside of the mesh (NaN) are transparent."""
    is_inside = np.isfinite(values)
    low, high = (float(values[is_inside].min()), float(values[is_inside].max())) if is_inside.any() else (0.0, 0.0)
    share = np.where(is_inside, (values - low) / (high - low if high > low else 1.0), 0)
    pixels = np.dstack([_colors(share), 255 * is_inside]).astype(np.uint8)
    height, width = 2 * values.shape[0], 2 * values.shape[1]
    scale = np.dstack([_colors(np.linspace(1, 0, 64)[:, None]), np.full((64, 1), 255)]).astype(np.uint8)
    content = _image(pixels, 0, 0, width, height) + _image(scale, width + 12, 14, 14, max(height - 28, 20))
    content += _label(width + 12, 10, f"{high:.4g}") + _label(width + 12, max(height, 48) - 2, f"{low:.4g}")
    return _svg(width + 80, max(height, 48) + 16, content + _label(0, max(height, 48) + 12, where))


def _colors(share: NDArray[np.float64]) -> NDArray[np.float64]:
    at = np.linspace(0, 1, len(_COLORS))
    return np.stack([np.interp(share, at, _COLORS[:, c]) for c in range(3)], axis=-1)


def _image(pixels: NDArray[np.uint8], x: int, y: int, width: int, height: int) -> str:
    data = base64.b64encode(png(pixels)).decode()
    return (f'<image x="{x}" y="{y}" width="{width}" height="{height}" preserveAspectRatio="none" '
            f'xlink:href="data:image/png;base64,{data}"/>')


def png(pixels: NDArray[np.uint8]) -> bytes:
    """A PNG file of pixels [height][width][4], red, green, blue, opacity (ISO/IEC 15948)."""
    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    height, width, _ = pixels.shape
    lines = b"".join(b"\0" + line.tobytes() for line in pixels)
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 6, 0, 0, 0))
            + chunk(b"IDAT", zlib.compress(lines)) + chunk(b"IEND", b""))


def _curve(x: NDArray[np.float64], y: NDArray[np.float64], is_log: bool = False) -> str:
    """y over x as a line with its limits; is_log: by powers of ten."""
    is_known = np.isfinite(y) & ((y > 0) if is_log else True)
    x, y = x[is_known], y[is_known]
    if not len(x):
        return ""
    heights = np.log10(y) if is_log else y
    low, high = float(heights.min()), float(heights.max())
    px = 70 + 240 * (x - x[0]) / (x[-1] - x[0] if x[-1] > x[0] else 1)
    py = 130 - 120 * (heights - low) / (high - low if high > low else 1)
    points = " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(px, py))
    marks = "".join(f'<circle cx="{a:.1f}" cy="{b:.1f}" r="2.5" fill="#3b528b"/>' for a, b in zip(px, py)) if is_log else ""
    return _svg(330, 155, '<path d="M70 5V135H320" fill="none" stroke="#888"/>'
                f'<polyline points="{points}" fill="none" stroke="#3b528b" stroke-width="1.5"/>{marks}'
                + _label(66, 14, f"{float(y[heights.argmax()]):.3g}", "end")
                + _label(66, 134, f"{float(y[heights.argmin()]):.3g}", "end")
                + _label(70, 150, f"{float(x[0]):.4g}") + _label(310, 150, f"{float(x[-1]):.4g}", "end"))


# ---- Operators, results, multigrid ----


def operator_html(operator: Operator) -> str:
    """What RitzOperatorExplain says, as a table, and on CPUs where an apply stands between memory and arithmetic."""
    rows, costs = [], []
    for line in operator.explain().splitlines():
        cost = re.search(r"an element: ([\d.]+) flops; ([\d.]+) bytes", line)
        if cost:
            costs.append((float(cost[1]), float(cost[2])))
        name, found, rest = line.strip().partition(": " if not line.startswith("operator ") else " on ")
        rows.append((name, rest) if found else (name, ""))
    table = f"<details><summary>how it runs</summary>{_table('', rows)}</details>"
    size = _table("Operator", [("size", f"{operator.shape[0]:,} x {operator.shape[1]:,}"), ("resource", operator.ctx.resource)])
    is_one = len(costs) == 1 and not operator.ctx.is_device
    return f"<div>{size}{_roofline(operator, *costs[0]) if is_one else ''}{table}</div>"


def _roofline(operator: Operator, flops: float, num_bytes: float) -> str:
    """Bars of the times that memory and arithmetic need at the least, and of an apply, measured now."""
    num = operator.rows.mesh.num_elements
    machine, threads = ffi.new("RitzMachine *"), ffi.new("CeedInt *")
    check(lib.RitzMachineGet(False, machine))
    check(lib.RitzGetNumThreads(operator.ctx.h, threads))
    rates = machine.one if threads[0] == 1 else machine.all
    least = {f"memory, {num_bytes * num / 1e6:.4g} MB at {rates.update_bandwidth / 1e9:.3g} GB/s":
             num_bytes * num / rates.update_bandwidth,
             f"arithmetic, {flops * num / 1e6:.4g} Mflop at {rates.double_flops / 1e9:.3g} Gflop/s":
             flops * num / rates.double_flops}
    taken = _seconds_of_apply(operator)
    bars = {**least, f"an apply, {max(least.values()) / taken:.0%} of the roofline, {operator.shape[0] / taken / 1e6:.3g} MDOF/s":
            taken}
    longest = max(bars.values())
    content = "".join(f'<rect x="0" y="{30 * k + 14}" width="{300 * value / longest:.1f}" height="10" fill="{color}"/>'
                      + _label(0, 30 * k + 11, f"{name}: {1e6 * value:.4g} us")
                      for k, ((name, value), color) in enumerate(zip(bars.items(), ("#21918c", "#5ec962", "#3b528b"))))
    return _svg(400, 96, content)


def _seconds_of_apply(operator: Operator) -> float:
    x, y = Vector(operator.shape[1], operator.ctx), Vector(operator.shape[0], operator.ctx)
    times = []
    for _ in range(4):  # the first one makes what is missing
        start = time.perf_counter()
        operator.apply(x, out=y)
        times.append(time.perf_counter() - start)
    return min(times[1:])


def result_html(result: Result) -> str:
    rows: list[Sequence[Any]] = [("converged", "yes" if result.converged else "no"), ("reason", result.reason),
                                 ("iterations", result.iterations)]
    if result.linear_iterations:
        rows.append(("linear iterations", result.linear_iterations))
    if result.history:
        rows.append(("residual", f"{result.history[0]:.3e} to {result.history[-1]:.3e}"))
    rows.append(("seconds", float(result.seconds)))
    history = np.array(result.history, float)
    return _beside(_table("Result", rows), _curve(np.arange(len(history), dtype=float), history, is_log=True))


def multigrid_html(multigrid: Multigrid) -> str:
    """The levels as RitzPreconditionerViewLevels prints them: columns are two blanks or more apart."""
    lines = multigrid.view().rstrip().splitlines()
    start = next(k for k, line in enumerate(lines) if line.strip().startswith("level"))
    head, *rows = (re.split(r"\s{2,}", line.strip()) for line in lines[start:])
    return _table("; ".join(line.strip() for line in lines[:start]), rows, head)
