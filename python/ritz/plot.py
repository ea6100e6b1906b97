# SPDX-License-Identifier: BSD-2-Clause
"""Pictures of functions by PyVista (extra ritz[plot])."""
from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from .function import Function
from .io import write_vtu


def grid(*functions: Function, subdivisions: int = 2) -> Any:
    """A PyVista grid with the functions at points; high-order cells cut `subdivisions` times into linear ones."""
    import pyvista

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "u.vtu"
        write_vtu(path, *functions)
        whole = pyvista.read(path)
    return whole.extract_surface(nonlinear_subdivision=subdivisions) if whole.n_cells and subdivisions else whole


def plot(u: Function, path: str | None = None, *, warp: float = 0.0, subdivisions: int = 2, edges: bool = False,
         cmap: str = "viridis", **options: Any) -> Any:
    """Shows u in a window or notebook, or writes a picture to `path`. warp: factor of displacements or heights."""
    import pyvista

    data = grid(u, subdivisions=subdivisions)
    if warp:
        data = data.warp_by_vector(u.name, factor=warp) if u.space.shape else data.warp_by_scalar(u.name, factor=warp)
    plotter = pyvista.Plotter(off_screen=path is not None)
    plotter.add_mesh(data, scalars=u.name, show_edges=edges, cmap=cmap, **options)
    if u.space.mesh.space_dim == 2 and not warp:
        plotter.view_xy()
    if path is None:
        return plotter.show()
    plotter.screenshot(path)
    plotter.close()
    return None
