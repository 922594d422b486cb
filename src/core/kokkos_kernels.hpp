#pragma once

/// \file
/// What differs between the versions of Kokkos Kernels, and between its builds: sources that use it ask here.

#include <KokkosKernels_config.h>

// It links a BLAS.
#if defined(KOKKOSKERNELS_ENABLE_TPL_BLAS)
#define COIR_KOKKOS_KERNELS_HAS_BLAS true
#else
#define COIR_KOKKOS_KERNELS_HAS_BLAS false
#endif

// Inner parts that its public functions end in, which compile none of the kernels beside: KokkosBlas::Impl::GEMV and GEMM, and
// KokkosSparse::Impl::spmv_beta_no_transpose where Kokkos Kernels multiplies sparse matrices itself. Those versions that were
// looked at.
#if KOKKOSKERNELS_VERSION >= 40200 && KOKKOSKERNELS_VERSION < 40800 && \
    !defined(KOKKOSKERNELS_ETI_ONLY)
#define COIR_KOKKOS_KERNELS_HAS_PLAIN_PRODUCTS
#endif
#if KOKKOSKERNELS_VERSION >= 40300 && KOKKOSKERNELS_VERSION < 40800 &&                 \
    !defined(KOKKOSKERNELS_ETI_ONLY) && !defined(KOKKOSKERNELS_ENABLE_TPL_CUSPARSE) && \
    !defined(KOKKOSKERNELS_ENABLE_TPL_ROCSPARSE) && !defined(KOKKOSKERNELS_ENABLE_TPL_MKL)
#define COIR_KOKKOS_KERNELS_HAS_PLAIN_SPMV
#endif
