#pragma once

/// \file
/// Plans of cuFFT or hipFFT as owners.

#include "device_library.hpp"

#include <coir/core/errors.hpp>
#include <coir/core/memory.hpp>
#include <coir/fft/detail/transforms.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>

namespace coir::fft::detail {

/// Throws EnvironmentError, with one line, if the library's status isn't success.
inline void check(COIR_FFT(Result) status, char const* call) {
  if (status == COIR_FFT_CONSTANT(SUCCESS)) return;
  std::string const text = std::string(COIR_FFT_NAME) + " failed in " + call + " with status " +
                           std::to_string(static_cast<int>(status));
  if (status == COIR_FFT_CONSTANT(ALLOC_FAILED))
    throw ResourceError(text + ": no memory on the device");
  throw EnvironmentError(text);
}

/// One plan of the library, without memory to work in.
class Handle {
 public:
  Handle(Request const& request, COIR_FFT(Type) type, bool real_in, bool real_out) {
    make([&] {
      Layout in(request, real_in), out(request, real_out);
      std::array<long long, 3> n{};
      for (std::size_t d = 0; d < 3; ++d) n[d] = request.shape[d];
      return COIR_FFT(MakePlanMany64)(handle_, request.rank, n.data(), in.embed.data(), 1, in.step,
                                      out.embed.data(), 1, out.step, type, request.batch,
                                      &work_bytes_);
    });
  }
  /// A plan of the lines along the first axis of [length, count] complex numbers.
  Handle(long long length, long long count, COIR_FFT(Type) type) {
    make([&] {
      return COIR_FFT(MakePlanMany64)(handle_, 1, &length, &length, count, 1, &length, count, 1,
                                      type, count, &work_bytes_);
    });
  }
  ~Handle() { COIR_FFT(Destroy)(handle_); }
  Handle(Handle const&) = delete;
  Handle& operator=(Handle const&) = delete;

  COIR_FFT(Handle) get() const { return handle_; }
  std::size_t work_bytes() const { return work_bytes_; }

 private:
  template <class Plan>
  void make(Plan const& plan) {
    check(COIR_FFT(Create)(&handle_), "Create");
    try {
      check(COIR_FFT(SetAutoAllocation)(handle_, 0), "SetAutoAllocation");
      check(plan(), "MakePlanMany64");
    } catch (...) {
      COIR_FFT(Destroy)(handle_);
      throw;
    }
  }

  /// The layout of one side in memory.
  struct Layout {
    std::array<long long, 3> embed{1, 1, 1};
    long long step;

    Layout(Request const& request, bool real) {
      auto const last = static_cast<std::size_t>(request.rank - 1);
      for (std::size_t d = 0; d < last; ++d) embed[d] = request.shape[d];
      embed[last] = real ? request.real_row() : request.complex_row();
      step = request.rows() * embed[last];
    }
  };

  COIR_FFT(Handle) handle_ {};
  std::size_t work_bytes_ = 0;
};

template <class T>
constexpr bool single = std::is_same_v<T, float>;

template <class T>
Handle make_handle(Request const& request, bool forward) {
  if (!request.real)
    return {request, single<T> ? COIR_FFT_CONSTANT(C2C) : COIR_FFT_CONSTANT(Z2Z), false, false};
  if (forward)
    return {request, single<T> ? COIR_FFT_CONSTANT(R2C) : COIR_FFT_CONSTANT(D2Z), true, false};
  return {request, single<T> ? COIR_FFT_CONSTANT(C2R) : COIR_FFT_CONSTANT(Z2D), false, true};
}

/// The library's calls for one precision.
template <class T>
struct Library {
  using Real = COIR_FFT(Real);
  using Complex = COIR_FFT(Complex);
  static constexpr auto complex = COIR_FFT_CONSTANT(C2C), forward = COIR_FFT_CONSTANT(R2C),
                        backward = COIR_FFT_CONSTANT(C2R);
  static constexpr auto* run_complex = COIR_FFT(ExecC2C);
  static constexpr auto* run_forward = COIR_FFT(ExecR2C);
  static constexpr auto* run_backward = COIR_FFT(ExecC2R);
};
template <>
struct Library<double> {
  using Real = COIR_FFT(DoubleReal);
  using Complex = COIR_FFT(DoubleComplex);
  static constexpr auto complex = COIR_FFT_CONSTANT(Z2Z), forward = COIR_FFT_CONSTANT(D2Z),
                        backward = COIR_FFT_CONSTANT(Z2D);
  static constexpr auto* run_complex = COIR_FFT(ExecZ2Z);
  static constexpr auto* run_forward = COIR_FFT(ExecD2Z);
  static constexpr auto* run_backward = COIR_FFT(ExecZ2D);
};

/// Memory that plans work in.
class WorkArea {
 public:
  explicit WorkArea(std::int64_t bytes) {
    using Memory = Kokkos::DefaultExecutionSpace::memory_space;
    expects_memory<Memory>(bytes, "the work of a transform");
    memory_ = Kokkos::View<char*, Memory>(
        Kokkos::view_alloc("coir::fft::device_plan/work", Kokkos::WithoutInitializing),
        static_cast<std::size_t>(bytes));
  }
  void lend_to(Handle const& handle) const {
    check(COIR_FFT(SetWorkArea)(handle.get(), memory_.data()), "SetWorkArea");
  }

 private:
  Kokkos::View<char*, Kokkos::DefaultExecutionSpace::memory_space> memory_;
};

/// The plan, launching on an instance's stream.
inline COIR_FFT(Handle) on_stream(Handle const& handle, Kokkos::DefaultExecutionSpace const& exec) {
  check(COIR_FFT(SetStream)(handle.get(), stream_of(exec)), "SetStream");
  return handle.get();
}

}  // namespace coir::fft::detail
