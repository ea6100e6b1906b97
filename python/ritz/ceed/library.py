# SPDX-License-Identifier: BSD-2-Clause
"""The library: versions, resources, quadrature rules."""
from __future__ import annotations

from .._core import check
from .._lib import ffi, lib
from .arrays import _string
from .context import Ceed

__all__ = [
    "gauss_quadrature", "get_build_configuration", "get_git_version", "get_topology_dimension", "get_version",
    "lobatto_quadrature", "registry_list",
]

gauss_quadrature, lobatto_quadrature = Ceed.gauss_quadrature, Ceed.lobatto_quadrature


def registry_list() -> dict[str, int]:
    """Names of the usable resources with their priorities; lower is preferred."""
    num, names, priorities = ffi.new("size_t *"), ffi.new("char ***"), ffi.new("CeedInt **")
    check(lib.CeedRegistryGetList(num, names, priorities))
    found = {_string(names[0][i]) or "": int(priorities[0][i]) for i in range(num[0])}
    lib.free(names[0])
    lib.free(priorities[0])
    return found


def get_version() -> tuple[int, int, int, bool]:
    """(major, minor, patch, is a release) of the API."""
    numbers, release = [ffi.new("int *") for _ in range(3)], ffi.new("bool *")
    check(lib.CeedGetVersion(*numbers, release))
    return int(numbers[0][0]), int(numbers[1][0]), int(numbers[2][0]), bool(release[0])


def get_git_version() -> str:
    text = ffi.new("const char **")
    check(lib.CeedGetGitVersion(text))
    return _string(text[0]) or ""


def get_build_configuration() -> str:
    text = ffi.new("const char **")
    check(lib.CeedGetBuildConfiguration(text))
    return _string(text[0]) or ""


def get_topology_dimension(topo: int) -> int:
    dim = ffi.new("CeedInt *")
    check(lib.CeedBasisGetTopologyDimension(topo, dim))
    return int(dim[0])
