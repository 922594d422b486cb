#pragma once

/// The fastest plain Fourier transforms of a cube that there are, as a measure for what is made of
/// them.

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
/// FFTW's own plans of a cube on its own threads, measured; in place if both are the same memory.
template <class T>
struct FftwPlans;

#define COIR_FFTW_PLANS(T, letter)                                                     \
  template <>                                                                          \
  struct FftwPlans<T> {                                                                \
    letter##_plan there, back;                                                         \
    FftwPlans(std::int64_t side, int threads, T* reals, void* modes) {                 \
      int const n = static_cast<int>(side);                                            \
      auto* const spectrum = static_cast<letter##_complex*>(modes);                    \
      unsigned const keep = reals == modes ? 0 : FFTW_PRESERVE_INPUT;                  \
      letter##_init_threads();                                                         \
      letter##_plan_with_nthreads(threads);                                            \
      there = letter##_plan_dft_r2c_3d(n, n, n, reals, spectrum, FFTW_MEASURE | keep); \
      back = letter##_plan_dft_c2r_3d(n, n, n, spectrum, reals, FFTW_MEASURE);         \
      letter##_plan_with_nthreads(1);                                                  \
    }                                                                                  \
    ~FftwPlans() {                                                                     \
      letter##_destroy_plan(there);                                                    \
      letter##_destroy_plan(back);                                                     \
    }                                                                                  \
    FftwPlans(FftwPlans const&) = delete;                                              \
    FftwPlans& operator=(FftwPlans const&) = delete;                                   \
    void forward() const { letter##_execute(there); }                                  \
    void backward() const { letter##_execute(back); }                                  \
  };
COIR_FFTW_PLANS(float, fftwf)
COIR_FFTW_PLANS(double, fftw)
#undef COIR_FFTW_PLANS
inline constexpr bool has_fftw_threads = true;
#else
/// There are none: this compiles, and isn't made.
template <class T>
struct FftwPlans {
  FftwPlans(std::int64_t, int, T*, void*) {}
  void forward() const {}
  void backward() const {}
};
inline constexpr bool has_fftw_threads = false;
#endif

/// Whether there is something to compare with: on hosts FFTW's own threads.
template <ExecutionSpace Exec>
inline constexpr bool has_plain_transforms = has_fftw_threads || !runs_on_host<Exec>;

/// Real transforms in place of one cube of float: by FFTW on hosts, by the vendor's library on
/// devices.
///
/// It holds zeros, which stay zeros, so that repetitions in the same memory neither overflow nor
/// slow down.
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
  using Plans =
      std::conditional_t<runs_on_host<Exec>, FftwPlans<float>, fft::RealPlan<Exec, float, 3>>;

  static Plans make(Exec const& exec, std::int64_t side, Spectrum const& spectrum) {
    if constexpr (runs_on_host<Exec>)
      return Plans(side, host_threads(exec), reinterpret_cast<float*>(spectrum.data()),
                   spectrum.data());
    else
      return Plans(exec, {side, side, side});
  }

  Spectrum spectrum_;
  Plans plans_;
};

}  // namespace coir::bench
