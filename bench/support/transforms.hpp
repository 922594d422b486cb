#pragma once

/// \file
/// The fastest plain Fourier transforms of a cube that there are, as a measure for what is made of them.

#include <coir/core/concepts.hpp>
#include <coir/fft/in_place.hpp>
#include <coir/fft/plan.hpp>

#ifdef COIR_BENCH_FFTW_THREADS
#include <fftw3.h>
#endif

#include <cstdint>
#include <type_traits>

namespace coir::bench {

#ifdef COIR_BENCH_FFTW_THREADS

/// FFTW's own plans on its own threads, measured.
class FftwPlans {
 public:
  FftwPlans(std::int64_t side, int threads, float* mesh) {
    int const n = static_cast<int>(side);
    auto* const spectrum = reinterpret_cast<fftwf_complex*>(mesh);
    fftwf_init_threads();
    fftwf_plan_with_nthreads(threads);
    there_ = fftwf_plan_dft_r2c_3d(n, n, n, mesh, spectrum, FFTW_MEASURE);
    back_ = fftwf_plan_dft_c2r_3d(n, n, n, spectrum, mesh, FFTW_MEASURE);
    fftwf_plan_with_nthreads(1);
  }
  ~FftwPlans() {
    fftwf_destroy_plan(there_);
    fftwf_destroy_plan(back_);
  }
  FftwPlans(FftwPlans const&) = delete;
  FftwPlans& operator=(FftwPlans const&) = delete;

  void forward() const { fftwf_execute(there_); }
  void backward() const { fftwf_execute(back_); }

 private:
  fftwf_plan there_, back_;
};

/// Whether there is something to compare with: on hosts FFTW's own threads.
template <ExecutionSpace Exec>
inline constexpr bool has_plain_transforms = true;

#else

template <ExecutionSpace Exec>
inline constexpr bool has_plain_transforms = !runs_on_host<Exec>;

/// There are none: PlainTransforms compile, and aren't made.
class FftwPlans {
 public:
  FftwPlans(std::int64_t, int, float*) {}
  void forward() const {}
  void backward() const {}
};

#endif

/// Real transforms in place of one cube of float: by FftwPlans on hosts, by the vendor's library on devices.
///
/// It holds zeros, which stay zeros, so that repetitions in the same memory neither overflow nor slow down.
template <ExecutionSpace Exec>
class PlainTransforms {
 public:
  PlainTransforms(Exec const& exec, std::int64_t side)
      : spectrum_(fft::allocate_in_place<float, typename Exec::memory_space, 3>(
            "coir::bench::transforms", {side, side, side})),
        plans_(make(exec, side, spectrum_)) {
    Kokkos::deep_copy(exec, spectrum_, Kokkos::complex<float>(0));  // measuring wrote on it
  }

  void forward() const {
    if constexpr (runs_on_host<Exec>)
      plans_.forward();
    else
      plans_.forward(fft::real_view_of(spectrum_, plans_.shape()[2]), spectrum_);
  }
  void backward() const {
    if constexpr (runs_on_host<Exec>)
      plans_.backward();
    else
      plans_.backward(spectrum_, fft::real_view_of(spectrum_, plans_.shape()[2]));
  }

 private:
  using Spectrum =
      Kokkos::View<Kokkos::complex<float>***, Kokkos::LayoutRight, typename Exec::memory_space>;
  using Plans = std::conditional_t<runs_on_host<Exec>, FftwPlans, fft::RealPlan<Exec, float, 3>>;

  static Plans make(Exec const& exec, std::int64_t side, Spectrum const& spectrum) {
    if constexpr (runs_on_host<Exec>)
      return Plans(side, host_threads(exec), reinterpret_cast<float*>(spectrum.data()));
    else
      return Plans(exec, {side, side, side});
  }

  Spectrum spectrum_;
  Plans plans_;
};

}  // namespace coir::bench
