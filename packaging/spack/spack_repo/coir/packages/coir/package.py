# SPDX-License-Identifier: Apache-2.0

import pathlib

from spack_repo.builtin.build_systems.cmake import CMakePackage
from spack_repo.builtin.build_systems.cuda import CudaPackage
from spack_repo.builtin.build_systems.rocm import ROCmPackage

from spack.package import *


class Coir(CMakePackage, CudaPackage, ROCmPackage):
    """NumPy-like arrays, Poisson solvers and particle-mesh simulations of structure formation on Kokkos, written once for
    CPUs and GPUs."""

    # The clone that this recipe lies in. A recipe in a repository of its own names coir's address here.
    git = str(pathlib.Path(__file__).resolve().parents[6])

    license("Apache-2.0")

    version("main", branch="main")
    version("0.1.0", tag="v0.1.0")

    variant("openmp", default=True, description="Use all cores of the host, by OpenMP")
    variant("shared", default=True, description="Build shared libraries")
    variant("apps", default=True, description="Build the applications: coir-nbody, coir-jacobi and others")
    variant("hdf5", default=True, description="Build coir::hdf5: snapshots and checkpoints")
    variant("linalg", default=True, description="Build coir::linalg, and conjugate gradients of coir::poisson")
    variant("mpi", default=False, description="Let programs run on several ranks")

    depends_on("cxx", type="build")
    depends_on("c", type="build", when="+hdf5")  # CMake looks for HDF5 by programs in C
    depends_on("cmake@3.25:", type="build")
    depends_on("ninja", type="build")
    depends_on("random123", type="build")

    depends_on("kokkos@3.4.1:5")
    conflicts("^kokkos@5.2.0", msg="Kokkos 5.2.0 checks assertions where none were asked for")
    depends_on("kokkos+openmp", when="+openmp")
    depends_on("kokkos+pic", when="+shared")
    depends_on("libpng")
    depends_on("fftw@3.3: precision=float,double")
    depends_on("hdf5@1.10:", when="+hdf5")
    depends_on("mpi", when="+mpi")
    with when("+linalg"):
        depends_on("kokkos-kernels+blas+lapack")
        depends_on("blas")
        depends_on("lapack")
    with when("+apps"):
        depends_on("cli11")
        depends_on("nlohmann-json")

    for arch in CudaPackage.cuda_arch_values:
        depends_on(f"kokkos+cuda+wrapper cuda_arch={arch}", when=f"+cuda cuda_arch={arch}")
    depends_on("kokkos+cuda_lambda", when="+cuda ^kokkos@:4")  # from 5 on it always has them
    for arch in ROCmPackage.amdgpu_targets:
        depends_on(f"kokkos+rocm amdgpu_target={arch}", when=f"+rocm amdgpu_target={arch}")
    depends_on("hipfft", when="+rocm")
    conflicts("+cuda", when="cuda_arch=none", msg="name the GPU: cuda_arch=90")
    conflicts("+rocm", when="amdgpu_target=none", msg="name the GPU: amdgpu_target=gfx90a")
    conflicts("+cuda", when="+rocm")
    conflicts("%gcc@:11", msg="coir is C++20, as g++ 12 and newer know it")

    generator("ninja")

    def cmake_args(self):
        backend = ""
        for name, variant in {"CUDA": "+cuda", "HIP": "+rocm", "OPENMP": "+openmp"}.items():
            if not backend and self.spec.satisfies(variant):
                backend = name
        args = [
            self.define("COIR_REQUIRE_BACKEND", backend),
            self.define("COIR_BUILD_TESTS", False),
            self.define("COIR_BUILD_BENCHMARKS", False),
            self.define("CMAKE_UNITY_BUILD", True),
            self.define("CMAKE_UNITY_BUILD_BATCH_SIZE", "0"),
            self.define_from_variant("COIR_BUILD_APPS", "apps"),
            self.define_from_variant("COIR_ENABLE_MPI", "mpi"),
            self.define_from_variant("BUILD_SHARED_LIBS", "shared"),
            self.define("CMAKE_DISABLE_FIND_PACKAGE_HDF5", not self.spec.satisfies("+hdf5")),
            self.define("CMAKE_DISABLE_FIND_PACKAGE_KokkosKernels", not self.spec.satisfies("+linalg")),
            self.define("FFTW_ROOT", self.spec["fftw"].prefix),
        ]
        if self.spec.satisfies("+cuda"):
            args.append(self.define("CMAKE_CXX_COMPILER", self["kokkos"].kokkos_cxx))
        elif self.spec.satisfies("+rocm"):
            args.append(self.define("CMAKE_CXX_COMPILER", self.spec["hip"].hipcc))
        return args
