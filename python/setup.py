# SPDX-License-Identifier: BSD-2-Clause
"""Builds the package: the C library, unless RITZ_PREFIX names an installed one, and the cffi module over it."""
import setuptools

setuptools.setup(
    cffi_modules=["build_ffi.py:make_ffi"],
    options={"bdist_wheel": {"py_limited_api": "cp39"}},
)
