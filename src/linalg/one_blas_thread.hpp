#pragma once

/// \file
/// How many threads BLAS and LAPACK take.

#include <coir/core/kokkos.hpp>

#ifdef KOKKOS_ENABLE_OPENMP
#include <omp.h>
#endif

namespace coir::detail {

/// While it lives, BLAS and LAPACK run on the caller's thread if `one` is set: a BLAS that is built
/// with OpenMP takes as many threads as OpenMP would. For small matrices its threads wait for each
/// other longer than they compute.
class OneBlasThread {
 public:
#ifdef KOKKOS_ENABLE_OPENMP
  explicit OneBlasThread(bool one) : threads_(one ? omp_get_max_threads() : 0) {
    if (threads_ > 1) omp_set_num_threads(1);
  }
  ~OneBlasThread() {
    if (threads_ > 1) omp_set_num_threads(threads_);
  }
#else
  explicit OneBlasThread(bool) {}
#endif
  OneBlasThread(OneBlasThread const&) = delete;
  OneBlasThread& operator=(OneBlasThread const&) = delete;

#ifdef KOKKOS_ENABLE_OPENMP
 private:
  int threads_;
#endif
};

}  // namespace coir::detail
