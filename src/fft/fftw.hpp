#pragma once

/// \file
/// FFTW's two precisions by one name, plans that free themselves, and a lock for the planner.

#include <coir/core/errors.hpp>

#include <fftw3.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

namespace coir::fft::detail {

using Axis = fftw_iodim64;
static_assert(std::is_same_v<Axis, fftwf_iodim64>);

template <class T>
struct Fftw;

#define COIR_FFTW(T, letter)                                                   \
  template <>                                                                  \
  struct Fftw<T> {                                                             \
    using Plan = letter##_plan;                                                \
    using Complex = letter##_complex;                                          \
    static constexpr auto* plan_complex = letter##_plan_guru64_dft;            \
    static constexpr auto* plan_forward = letter##_plan_guru64_dft_r2c;        \
    static constexpr auto* plan_backward = letter##_plan_guru64_dft_c2r;       \
    static constexpr auto* run_complex = letter##_execute_dft;                 \
    static constexpr auto* run_forward = letter##_execute_dft_r2c;             \
    static constexpr auto* run_backward = letter##_execute_dft_c2r;            \
    static constexpr auto* destroy = letter##_destroy_plan;                    \
    static constexpr auto* allocate = letter##_malloc;                         \
    static constexpr auto* free = letter##_free;                               \
    static constexpr auto* alignment_of = letter##_alignment_of;               \
    static constexpr auto* export_wisdom = letter##_export_wisdom_to_string;   \
    static constexpr auto* import_wisdom = letter##_import_wisdom_from_string; \
    static constexpr auto* forget_wisdom = letter##_forget_wisdom;             \
  };
COIR_FFTW(float, fftwf)
COIR_FFTW(double, fftw)
#undef COIR_FFTW

/// FFTW runs plans in any number of threads, but makes them in one at a time.
inline std::mutex& planner_mutex() {
  static std::mutex mutex;
  return mutex;
}

/// Memory aligned by FFTW, filled with zeros.
template <class T>
class Scratch {
 public:
  Scratch() = default;
  explicit Scratch(std::int64_t bytes)
      : block_(Fftw<T>::allocate(static_cast<std::size_t>(bytes))) {
    if (!block_) throw ResourceError("FFTW got no memory for " + std::to_string(bytes) + " bytes");
    auto* const numbers = static_cast<char*>(block_.get());
    std::fill(numbers, numbers + bytes, char(0));
  }
  void* get() const { return block_.get(); }

 private:
  struct Free {
    void operator()(void* block) const { Fftw<T>::free(block); }
  };
  std::unique_ptr<void, Free> block_;
};

/// Hides earlier measurements from FFTW's planner during its lifetime, so that estimates don't
/// depend on them.
template <class T>
class WithoutWisdom {
 public:
  WithoutWisdom() : wisdom_(Fftw<T>::export_wisdom()) { Fftw<T>::forget_wisdom(); }
  ~WithoutWisdom() {
    if (wisdom_) Fftw<T>::import_wisdom(wisdom_);
    std::free(wisdom_);
  }
  WithoutWisdom(WithoutWisdom const&) = delete;
  WithoutWisdom& operator=(WithoutWisdom const&) = delete;

 private:
  char* wisdom_;
};

/// The kinds of transforms.
enum class Kind { complex_forward, complex_backward, real_forward, real_backward };

/// One plan of FFTW.
template <class T>
class FftwPlan {
 public:
  FftwPlan() = default;

  /// \param axes   of the transform; the last one is transformed first
  /// \param count  how often it is repeated along another axis
  /// \param in     scratch memory, aligned; written while planning, as is `out`
  FftwPlan(Kind kind, std::vector<Axis> const& axes, Axis const& count, void* in, void* out,
           unsigned flags)
      : kind_(kind) {
    using F = Fftw<T>;
    auto* const complex_in = static_cast<typename F::Complex*>(in);
    auto* const complex_out = static_cast<typename F::Complex*>(out);
    auto const rank = static_cast<int>(axes.size());
    std::lock_guard const lock(planner_mutex());
    std::optional<WithoutWisdom<T>> without_wisdom;
    if (flags & FFTW_ESTIMATE) without_wisdom.emplace();
    switch (kind) {
      case Kind::complex_forward:
      case Kind::complex_backward:
        plan_.reset(F::plan_complex(rank, axes.data(), 1, &count, complex_in, complex_out,
                                    kind == Kind::complex_forward ? FFTW_FORWARD : FFTW_BACKWARD,
                                    flags));
        break;
      case Kind::real_forward:
        plan_.reset(
            F::plan_forward(rank, axes.data(), 1, &count, static_cast<T*>(in), complex_out, flags));
        break;
      case Kind::real_backward:
        plan_.reset(F::plan_backward(rank, axes.data(), 1, &count, complex_in, static_cast<T*>(out),
                                     flags));
        break;
    }
    if (!plan_)
      throw EnvironmentError("FFTW made no plan for a transform of " + std::to_string(axes[0].n) +
                             (rank > 1 ? " x ..." : "") +
                             " numbers: is it built for SIMD as here?");
  }

  explicit operator bool() const { return plan_ != nullptr; }

  void operator()(void* in, void* out) const {
    using F = Fftw<T>;
    auto* const complex_in = static_cast<typename F::Complex*>(in);
    auto* const complex_out = static_cast<typename F::Complex*>(out);
    switch (kind_) {
      case Kind::complex_forward:
      case Kind::complex_backward: F::run_complex(plan_.get(), complex_in, complex_out); break;
      case Kind::real_forward: F::run_forward(plan_.get(), static_cast<T*>(in), complex_out); break;
      case Kind::real_backward:
        F::run_backward(plan_.get(), complex_in, static_cast<T*>(out));
        break;
    }
  }

 private:
  struct Destroy {
    void operator()(typename Fftw<T>::Plan plan) const {
      std::lock_guard const lock(planner_mutex());
      Fftw<T>::destroy(plan);
    }
  };
  Kind kind_{};
  std::unique_ptr<std::remove_pointer_t<typename Fftw<T>::Plan>, Destroy> plan_;
};

}  // namespace coir::fft::detail
