# SPDX-License-Identifier: BSD-2-Clause
"""The programs of doc/python-from-others.md that are Ritz's run and give what they ought to."""
from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("ufl")

PAGE = Path(__file__).parents[2] / "doc" / "python-from-others.md"
PROGRAMS = re.findall(r"```python\n# Ritz\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.S)


def run(index):
    names = {}
    exec(compile(PROGRAMS[index], f"{PAGE}: program {index}", "exec"), names)
    return names


def test_each_peer_has_its_program():
    assert len(PROGRAMS) == 3


def test_from_fenics():
    """-2 u'' = exp(x) with u(0) = u(1) = 0, the same for all y and z: u = (1 - exp(x) + (e - 1) x) / 2."""
    names = run(0)
    x = np.array([0.25, 0.6])
    expected = (1 - np.exp(x) + (np.e - 1) * x) / 2
    found = names["uh"]([[x[0], 0.1, 0.9], [x[1], 0.3, 0.2]])
    assert np.allclose(found, expected, atol=1e-6)
    assert np.isclose(names["total"], (1 - (np.e - 1) + (np.e - 1) / 2) / 2, atol=1e-6)


def test_from_firedrake():
    names = run(1)
    u, boundary = names["u"], names["bc"].entries
    x = u.space.node_coordinates()[boundary]
    assert np.allclose(u.array[boundary], x[:, 0] * x[:, 1], atol=1e-10)
    residual = names["assemble"](names["F"]).array
    assert np.linalg.norm(np.delete(residual, boundary)) < 1e-6


def test_from_ngsolve():
    """The residual is 0 against functions that vanish at the fixed sides, those at the side of Robin's condition, too."""
    names = run(2)
    gfu = names["gfu"]
    residual = names["assemble"](names["action"](names["a"], gfu) - names["f"]).array
    fixed = gfu.space.boundary_nodes("xmin"), gfu.space.boundary_nodes("ymin")
    assert np.linalg.norm(np.delete(residual, np.concatenate(fixed))) < 1e-7
