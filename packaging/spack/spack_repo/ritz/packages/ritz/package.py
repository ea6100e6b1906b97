# SPDX-License-Identifier: BSD-2-Clause
# Ritz for Spack 1.0 or later, from the checkout that this file is in:
# spack repo add packaging/spack/spack_repo/ritz; spack install ritz
from pathlib import Path

from spack_repo.builtin.build_systems.cmake import CMakePackage
from spack_repo.builtin.build_systems.python import PythonExtension, PythonPipBuilder

from spack.package import *


class Ritz(CMakePackage, PythonExtension):
    """Matrix-free high-order finite elements: operators become kernels that are generated for
    their degree and the user's equation. The Ceed API in C, meshes, solvers and multigrid."""

    git = Path(__file__).resolve().parents[5].as_uri()

    license("BSD-2-Clause", checked_by="ritz")

    version("main", branch="main")

    # GPUs need no variant: drivers of CUDA and OpenCL, NVRTC and cuBLAS are loaded at run time.
    variant("scalar", default="f64", values=("f64", "f32"), multi=False, description="CeedScalar")
    variant(
        "ceed", default=False, description="Install the name libceed.so, too", when="scalar=f64"
    )
    variant("mpi", default=True, description="Build the program ritz-mpi")
    variant("petsc", default=False, description="Build libritz-petsc", when="scalar=f64")
    variant("suitesparse", default=True, description="Coarse problems by CHOLMOD and UMFPACK")
    variant("metis", default=True, description="Parts and orders by METIS")
    variant("hypre", default=False, description="Coarse problems by hypre's BoomerAMG")
    variant("fortran", default=False, description="Build libritz-fortran and its module")
    variant("python", default=False, description="Install the Python package")

    depends_on("c", type="build")
    depends_on("fortran", type="build", when="+fortran")
    depends_on("python@3.9:", type="build", when="+fortran")
    depends_on("cmake@3.20:", type="build")
    depends_on("zlib-api")
    depends_on("mpi", when="+mpi")
    depends_on("mpi", when="+petsc")
    depends_on("mpi", when="+hypre")
    depends_on("pkgconfig", type="build", when="+petsc")
    depends_on("petsc@3.18:+mpi~complex+double", when="+petsc")
    depends_on("suite-sparse", when="+suitesparse")
    depends_on("metis", when="+metis")
    depends_on("hypre+mpi+shared", when="+hypre")
    with when("+python"):
        extends("python@3.9:")
        depends_on("py-pip", type="build")
        depends_on("py-setuptools@77:", type="build")
        depends_on("py-cffi@1.16:", type=("build", "run"))
        depends_on("py-numpy@1.22:", type=("build", "run"))

    # libceed is a package of Spack, so no virtual one that this could provide: programs that want
    # it take their flags from the pkg-config module ceed.
    conflicts("^libceed", msg="both install ceed.h and ceed.pc")

    def cmake_args(self):
        return [
            self.define("RITZ_TESTS", False),
            self.define_from_variant("RITZ_SCALAR", "scalar"),
            self.define_from_variant("RITZ_CEED_COMPAT", "ceed"),
            self.define_from_variant("RITZ_MPI", "mpi"),
            self.define_from_variant("RITZ_PETSC", "petsc"),
            self.define_from_variant("RITZ_SUITESPARSE", "suitesparse"),
            self.define_from_variant("RITZ_METIS", "metis"),
            self.define_from_variant("RITZ_HYPRE", "hypre"),
            self.define_from_variant("RITZ_FORTRAN", "fortran"),
        ]

    @property
    def build_targets(self):
        return ["products"]

    @run_after("install", when="+python")
    def install_python_package(self):
        with working_dir(self.stage.source_path):
            args = PythonPipBuilder.std_args(self) + [f"--prefix={self.prefix}", "./python"]
            python("-m", "pip", *args)

    def setup_build_environment(self, env):
        env.set("RITZ_PREFIX", self.prefix)
