#pragma once

// In place of the direct solver where there are no Fourier transforms.

#include <coir/poisson/direct.hpp>
#include <coir/poisson/solve.hpp>

namespace coir::poisson::detail {

[[noreturn]] inline void refuse_direct() {
  throw EnvironmentError(
      "the direct solver needs Fourier transforms, which this build of coir lacks: build it with "
      "FFTW, or take multigrid");
}

template <CompiledSpace Exec, class T>
std::unique_ptr<DirectSolver<Exec, T>> direct_solver(Exec const&, DirectProblem const&) {
  refuse_direct();
}

template <CompiledSpace Exec, class T>
std::int64_t direct_bytes(Exec const&, DirectProblem const&) {
  refuse_direct();
}

template <CompiledSpace Exec, class T>
bool direct_pays(Exec const&, DirectProblem const&, double) {
  return false;
}

}  // namespace coir::poisson::detail

#define COIR_DIRECT_MISSING(Exec, T)                                                   \
  template std::unique_ptr<DirectSolver<Exec, T>> direct_solver(Exec const&,           \
                                                                DirectProblem const&); \
  template std::int64_t direct_bytes<Exec, T>(Exec const&, DirectProblem const&);      \
  template bool direct_pays<Exec, T>(Exec const&, DirectProblem const&, double);
#define COIR_INSTANTIATE_DIRECT_MISSING(Exec) \
  namespace coir::poisson::detail {           \
  COIR_DIRECT_MISSING(Exec, float)            \
  COIR_DIRECT_MISSING(Exec, double)           \
  }
