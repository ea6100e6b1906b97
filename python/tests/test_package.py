# SPDX-License-Identifier: BSD-2-Clause
"""The package as it is installed: names, version, imports, the compiler that it offers, programs of the pages."""
from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import ritz
from ritz import _compiler
from ritz._core import ffi, lib

ROOT = Path(__file__).resolve().parents[2]


def run(program: str, folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """A Python program in a process of its own, with this package."""
    here = str(Path(ritz.__file__).parents[1])
    return subprocess.run([sys.executable, "-c", program], env={**os.environ, "PYTHONPATH": here, **environment},
                          cwd=folder, capture_output=True, text=True, timeout=300)


def programs_of(page: Path) -> list[str]:
    """The Python programs in a page's fenced blocks."""
    return re.findall(r"(?ms)^```python\n(.*?)^```", page.read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", ritz.__all__)
def test_every_name_is_there(name: str) -> None:
    assert getattr(ritz, name) is not None
    assert name in dir(ritz)


def test_unknown_names_are_errors() -> None:
    with pytest.raises(AttributeError, match="no attribute 'Fnction'"):
        ritz.Fnction


def test_version_is_that_of_the_library() -> None:
    numbers = [ffi.new("int *") for _ in range(3)]
    assert lib.RitzGetVersion(*numbers) == 0
    assert ritz.__version__ == ".".join(str(number[0]) for number in numbers)


def test_import_loads_nothing_else(tmp_path: Path) -> None:
    done = run("import sys, ritz; print([n for n in ('numpy', 'ufl', 'cffi', 'ritz._core') if n in sys.modules])",
               tmp_path)
    assert done.stdout == "[]\n", done.stderr


def test_all_names_but_those_of_forms_do_without_ufl(tmp_path: Path) -> None:
    done = run("import sys; sys.modules['ufl'] = None\nfrom ritz import *\nprint(UnitCubeMesh(2).num_elements)\n"
               "import ritz\ntry: ritz.solve\nexcept ModuleNotFoundError as error: print(error)", tmp_path)
    assert done.stdout == "8\nritz.solve needs UFL: pip install 'ritz[ufl]'\n", done.stderr


def test_functions_without_forms_do_not_load_forms(tmp_path: Path) -> None:
    done = run("import sys, ritz; ritz.Multigrid; print('ritz.forms' in sys.modules)", tmp_path)
    assert done.stdout == "False\n", done.stderr


# ---- Compilers ----


@pytest.fixture
def zig(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package ziglang that can be imported; no compiler is in PATH, none is chosen."""
    folder = tmp_path / "ziglang"
    folder.mkdir()
    (folder / "__init__.py").touch()
    (folder / "zig").touch()
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "ziglang", raising=False)
    for name in ("RITZ_CC", "RITZ_ZIG"):
        monkeypatch.setenv(name, "")  # given back as it was
        monkeypatch.delenv(name)
    monkeypatch.setenv("PATH", str(tmp_path))
    return folder / "zig"


def test_zig_serves_where_there_is_no_compiler(zig: Path) -> None:
    _compiler.offer_zig()
    assert os.environ["RITZ_ZIG"] == str(zig)
    assert os.access(os.environ["RITZ_CC"], os.X_OK)


def test_zig_stays_behind_compilers(zig: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    compiler = zig.parent.parent / "cc"
    compiler.touch(mode=0o755)
    _compiler.offer_zig()
    assert "RITZ_CC" not in os.environ
    compiler.unlink()
    monkeypatch.setenv("RITZ_CC", "mine")
    _compiler.offer_zig()
    assert os.environ["RITZ_CC"] == "mine"


@pytest.mark.skipif(importlib.util.find_spec("ziglang") is not None, reason="there is a compiler: ziglang")
def test_no_compiler_is_told_once(tmp_path: Path) -> None:
    program = ("from ritz import *\nV = FunctionSpace(UnitSquareMesh(4), 2)\nu, A = Function(V), diffusion(V)\n"
               "for k in range(2): LinearSolver(A, DirichletBC(V, 0)).solve(load_vector(V, Function(V).assign(1)), u)\n"
               "print(u.array.max() > 0)")
    done = run(program, tmp_path, PATH=str(tmp_path), RITZ_CACHE_DIR=str(tmp_path), RITZ_CC="", RITZ_RESOURCE="/cpu/self/gen",
               RITZ_WARNINGS="once")
    assert done.stdout == "True\n", done.stderr
    assert done.stderr.count("no compiler") == 1, done.stderr


@pytest.fixture
def nvrtc(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two versions in packages as pip installs them; nothing else is there or named."""
    for folder, name in (("cuda_nvrtc", "libnvrtc.so.12"), ("cuda_nvrtc", "libnvrtc.so.11.2"), ("cu13", "libnvrtc.so.13")):
        place = tmp_path / "nvidia" / folder / "lib"
        place.mkdir(parents=True, exist_ok=True)
        (place / name).touch()
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "nvidia", raising=False)
    for variable in ("RITZ_NVRTC", "CUDA_HOME", "CUDA_PATH"):
        monkeypatch.setenv(variable, "")  # given back as it was
        monkeypatch.delenv(variable)
    monkeypatch.setattr(_compiler, "_has_nvrtc", lambda: False)
    return tmp_path / "nvidia"


def test_the_newest_nvrtc_of_packages_is_named(nvrtc: Path) -> None:
    _compiler.offer_nvrtc()
    assert os.environ["RITZ_NVRTC"] == str(nvrtc / "cu13" / "lib" / "libnvrtc.so.13")
    (nvrtc / "cu13" / "lib" / "libnvrtc.so.13").unlink()
    _compiler.offer_nvrtc()  # what is named stays
    assert os.environ.pop("RITZ_NVRTC").endswith("13")
    _compiler.offer_nvrtc()
    assert os.environ["RITZ_NVRTC"] == str(nvrtc / "cuda_nvrtc" / "lib" / "libnvrtc.so.12")


def test_nvrtc_of_packages_stays_behind_what_the_library_finds(nvrtc: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as here:
        here.setenv("CUDA_HOME", "/opt/cuda")
        _compiler.offer_nvrtc()
    monkeypatch.setattr(_compiler, "_has_nvrtc", lambda: True)
    _compiler.offer_nvrtc()
    assert "RITZ_NVRTC" not in os.environ


# ---- Pages ----


@pytest.mark.parametrize("page", ["README.md", "doc/index.md", "doc/forms.md", "doc/python.md"])
def test_programs_of_pages_run(page: str, tmp_path: Path) -> None:
    pytest.importorskip("ufl")
    optional = ("import torch\n", "from petsc4py import PETSc\n")
    missing = [line for line in optional if run(line, tmp_path).returncode != 0]
    programs = [p for p in programs_of(ROOT / page) if not any(line in p for line in missing)]
    assert programs
    for program in programs:
        done = run(program, tmp_path)
        assert done.returncode == 0, f"{program}\n{done.stderr}"
