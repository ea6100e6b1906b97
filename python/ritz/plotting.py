# SPDX-License-Identifier: BSD-2-Clause
"""Pictures of functions by PyVista (extra ritz[plot])."""
from __future__ import annotations

import tempfile
import warnings
from pathlib import Path
from typing import Any, Sequence

import numpy as np
from numpy.typing import NDArray

from .function import Function
from .io import write_vtu
from .parallel import communicator


def grid(*functions: Function, subdivisions: int = 2) -> Any:
    """A PyVista grid with the functions at points; high-order cells cut `subdivisions` times into linear ones.

    The surface of solids; with subdivisions 0 the high-order cells themselves. Of problems in parts: the first process
    has that of the whole, others None.
    """
    import pyvista

    with tempfile.TemporaryDirectory() as folder:
        write_vtu(Path(folder) / "u.vtu", *functions)
        whole = pyvista.read(next(Path(folder).glob("*.vtu")))  # in parts this one's, in a folder of its own
    if functions[0].space.mesh.num_parts > 1:
        parts = communicator().gather(whole)
        if parts is None:
            return None
        whole = pyvista.merge([part for part in parts if part.n_cells])
    if not whole.n_cells or not subdivisions:
        return whole
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # its default algorithm, which is the one that subdivides, is to become another
        return whole.extract_surface(nonlinear_subdivision=subdivisions)


def plot(u: Function, path: str | None = None, **options: Any) -> Any:
    """Shows u in a window or notebook, or writes a picture to `path`. Options: those of Scene. In parts the first
    process does, and all call it."""
    scene = Scene(u, path is not None, **options)
    if scene.plotter is None:
        return None
    if path is None:
        return scene.plotter.show()
    scene.plotter.screenshot(path)
    scene.plotter.close()
    return None


class Scene:
    """A function in a PyVista plotter (.plotter), which .update() follows; in parts the first process has it, others None.

    warp: factor of displacements or heights; clip: direction ("x", "-x" or a normal) in which half of a solid is cut
    away; view: "xy" or the direction to the camera; title: of the bar of colours. Others are those of add_mesh.
    """

    def __init__(self, u: Function, off_screen: bool = False, *, warp: float = 0.0, clip: str | Sequence[float] | None = None,
                 view: str | Sequence[float] | None = None, zoom: float = 1.0, subdivisions: int = 2, edges: bool = False,
                 cmap: str = "viridis", title: str | None = None, size: tuple[int, int] = (800, 600), **options: Any):
        import pyvista

        self._u, self._warp, self._clip, self._subdivisions = u, warp, clip, subdivisions
        self._data = self._make()
        self.plotter: Any = None
        if self._data is None:
            return
        self.plotter = pyvista.Plotter(off_screen=off_screen, window_size=size)
        bar = {"title": title or u.name, "vertical": True, "fmt": "%.3g", "position_x": 0.86, "position_y": 0.2}
        self.plotter.add_mesh(self._data, **{"scalars": u.name, "show_edges": edges, "cmap": cmap, "scalar_bar_args": bar,
                                             **options})
        if view is None and u.space.mesh.space_dim == 2 and not warp:
            view = "xy"
        _look(self.plotter, view, zoom)
        if self.plotter.off_screen:  # in notebooks, too
            self.plotter.enable_anti_aliasing("ssaa")

    def _make(self) -> Any:
        u = self._u
        data = grid(u, subdivisions=self._subdivisions) if self._clip is None else _clipped(u, self._clip, self._subdivisions)
        if not self._warp or data is None:
            return data
        return (data.warp_by_vector if u.space.shape else data.warp_by_scalar)(u.name, factor=self._warp)

    def update(self) -> None:
        """Takes the function's values as they are now."""
        data = self._make()
        if self.plotter is not None:
            self._data.copy_from(data)
            self.plotter.render()


class Film:
    """A function as it changes: in a window, in a notebook, or in a file, a .gif or .png with pictures side by side.

    with Film("wave.gif", interval=0.1) as film: film.show(t, u) in the loop of time. Options: those of Scene.
    """

    def __init__(self, path: str | None = None, *, interval: float = 0.0, seconds: float = 0.1, **options: Any):
        if path is not None and Path(path).suffix not in (".gif", ".png"):
            raise ValueError(f"Film: the name {path} ends neither in .gif nor in .png")
        self._path, self._interval, self._seconds, self._options = path, interval, seconds, options
        self._scene: Scene | None = None
        self._next = -np.inf
        self._pictures: list[Any] = []
        self._display: Any = None  # of a notebook: the output that changes

    def show(self, time: float, u: Function) -> None:
        """A picture, if the last one is at least `interval` ago."""
        if time < self._next:
            return
        self._next = time + self._interval
        is_first = self._scene is None
        if self._scene is None:
            self._scene = Scene(u, self._path is not None, **self._options)
        else:
            self._scene.update()
        plotter = self._scene.plotter
        if plotter is None:
            return
        if is_first and self._path is None and not plotter.notebook:
            plotter.show(interactive_update=True)
        plotter.add_text(f"t = {time:.3g}", name="time", font_size=10)
        if self._path is not None:
            self._pictures.append(plotter.screenshot(return_img=True))
        elif plotter.notebook:
            self._show_in_notebook(plotter.screenshot(return_img=True))
        else:
            plotter.update()

    def _show_in_notebook(self, pixels: NDArray[np.uint8]) -> None:
        """In the output of the cell that shows the first picture."""
        from IPython.display import display
        from PIL import Image  # of PyVista's requirements

        picture = Image.fromarray(pixels)
        if self._display is None:
            self._display = display(picture, display_id=True)
        else:
            self._display.update(picture)

    def close(self) -> None:
        """Ends the film, and writes its file; the end of a `with` does, too."""
        self.__exit__(None)

    def __enter__(self) -> Film:
        return self

    def __exit__(self, kind: Any, *error: Any) -> None:
        if self._scene is not None and self._scene.plotter is not None:
            self._scene.plotter.close()
        if self._pictures and kind is None:
            _write_pictures(str(self._path), self._pictures, self._seconds)


def _write_pictures(path: str, pictures: list[Any], seconds: float) -> None:
    from PIL import Image  # of PyVista's requirements

    if path.endswith(".png"):
        Image.fromarray(np.concatenate(pictures, axis=1)).save(path)
        return
    first, *others = [Image.fromarray(picture).convert("P", palette=Image.Palette.ADAPTIVE) for picture in pictures]
    first.save(path, save_all=True, append_images=others, duration=int(1000 * seconds), loop=0)


def _clipped(u: Function, clip: str | Sequence[float], subdivisions: int) -> Any:
    """Half of a solid, in linear cells."""
    whole = grid(u, subdivisions=0)
    if whole is None:
        return None
    if subdivisions:
        whole = whole.tessellate(max_n_subdivide=subdivisions)
    return whole.clip(clip if isinstance(clip, str) else tuple(clip))


def _look(plotter: Any, view: str | Sequence[float] | None, zoom: float) -> None:
    if isinstance(view, str):
        plotter.camera_position = view
    elif view is not None:
        plotter.view_vector(tuple(view), (0, 0, 1))
    plotter.camera.zoom(zoom)
