# SPDX-License-Identifier: BSD-2-Clause
"""Arrays of other packages without copies: DLPack, __cuda_array_interface__, PyTorch, PETSc.

An Operator takes arrays that live where it computes: NumPy arrays on CPUs; PyTorch, CuPy and JAX arrays on a CUDA
device. Results are arrays of the same package.
"""
from __future__ import annotations
