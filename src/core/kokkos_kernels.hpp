#pragma once

/// The differences between versions and builds of Kokkos Kernels.

#include <KokkosKernels_config.h>

// Whether Kokkos Kernels links a BLAS.
#if defined(KOKKOSKERNELS_ENABLE_TPL_BLAS)
#define COIR_KOKKOS_KERNELS_HAS_BLAS true
#else
#define COIR_KOKKOS_KERNELS_HAS_BLAS false
#endif

// Inner functions of Kokkos Kernels, called directly because the public ones compile many more
// kernels: KokkosBlas::Impl::GEMV and GEMM, and KokkosSparse::Impl::spmv_beta_no_transpose. For the
// versions that were checked.
#if KOKKOSKERNELS_VERSION >= 40200 && KOKKOSKERNELS_VERSION < 40800 && \
    !defined(KOKKOSKERNELS_ETI_ONLY)
#define COIR_KOKKOS_KERNELS_HAS_PLAIN_PRODUCTS
#endif
#if KOKKOSKERNELS_VERSION >= 40300 && KOKKOSKERNELS_VERSION < 40800 &&                 \
    !defined(KOKKOSKERNELS_ETI_ONLY) && !defined(KOKKOSKERNELS_ENABLE_TPL_CUSPARSE) && \
    !defined(KOKKOSKERNELS_ENABLE_TPL_ROCSPARSE) && !defined(KOKKOSKERNELS_ENABLE_TPL_MKL)
#define COIR_KOKKOS_KERNELS_HAS_PLAIN_SPMV
#endif
