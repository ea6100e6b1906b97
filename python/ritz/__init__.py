# SPDX-License-Identifier: BSD-2-Clause
"""Ritz: matrix-free high-order finite elements with fused kernels for CPUs and GPUs."""
