# SPDX-License-Identifier: BSD-2-Clause
"""Pictures by PyVista, where it is: values at points that it gets, files of pictures and films."""
from __future__ import annotations

import numpy as np
import pytest

import ritz

pytest.importorskip("pyvista")
Image = pytest.importorskip("PIL.Image")


def test_plot_is_a_function_whatever_was_imported():
    from ritz.plotting import grid  # noqa: F401

    assert callable(ritz.plot)


def test_grid_has_the_values():
    from ritz.plotting import grid

    u = ritz.Function(ritz.FunctionSpace(ritz.UnitSquareMesh(2), 3)).interpolate(lambda x: x[0]**3 - x[1])
    for subdivisions in 0, 2:
        found = grid(u, subdivisions=subdivisions)
        x = np.asarray(found.points)
        assert np.allclose(found["u"], x[:, 0]**3 - x[:, 1], atol=1e-6)


def test_clipped_solid():
    from ritz.plotting import Scene

    u = ritz.Function(ritz.FunctionSpace(ritz.UnitCubeMesh(2), 2)).interpolate(lambda x: x[2])
    scene = Scene(u, off_screen=True, clip="z", size=(80, 60))
    assert np.isclose(scene._data["u"].max(), 0.5)
    u.assign(2.0)
    scene.update()
    assert np.allclose(scene._data["u"], 2)
    scene.plotter.close()


def test_picture_and_films(tmp_path):
    u = ritz.Function(ritz.FunctionSpace(ritz.UnitSquareMesh(2), 2))
    ritz.plot(u, str(tmp_path / "u.png"), size=(80, 60), warp=1.0)
    assert Image.open(tmp_path / "u.png").size == (80, 60)
    for name, size in ("u.gif", (80, 60)), ("wide.png", (240, 60)):
        with ritz.Film(str(tmp_path / name), interval=0.2, size=(80, 60), clim=(0, 1)) as film:
            for k in range(6):  # at 0, 0.2, 0.4
                u.assign(k / 5)
                film.show(0.1 * k + 1e-9 * k, u)
        assert Image.open(tmp_path / name).size == size
    assert Image.open(tmp_path / "u.gif").n_frames == 3
    with pytest.raises(ValueError, match="neither in .gif nor in .png"):
        ritz.Film("u.avi")


def test_film_in_a_notebook_changes_one_output(monkeypatch):
    display = pytest.importorskip("IPython.display")
    pyvista = pytest.importorskip("pyvista")
    shown = []

    class Output:
        def update(self, picture):
            shown.append(picture)

    def first(picture, display_id):
        assert display_id and not shown
        shown.append(picture)
        return Output()

    monkeypatch.setattr(display, "display", first)
    monkeypatch.setattr(pyvista.global_theme, "notebook", True)
    u = ritz.Function(ritz.FunctionSpace(ritz.UnitSquareMesh(2), 2))
    film = ritz.Film(interval=0.2, size=(80, 60), clim=(0, 1))
    for k in range(4):  # at 0, 0.2
        u.assign(k / 3)
        film.show(0.1 * k + 1e-9 * k, u)
    film.close()
    assert len(shown) == 2 and all(picture.size == (80, 60) for picture in shown)
    assert np.any(np.asarray(shown[0]) != np.asarray(shown[1]))
