// Plans on devices: cuFFT or hipFFT.

#include "device_library.hpp"
#include "plan_cache.hpp"

#include <coir/core/errors.hpp>
#include <coir/core/memory.hpp>
#include <coir/fft/detail/transforms.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

namespace coir::fft::detail {

namespace {

using Exec = Kokkos::DefaultExecutionSpace;

/// Turns the library's status into an exception, one line long.
void check(COIR_FFT(Result) status, char const* call) {
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
    check(COIR_FFT(Create)(&handle_), "Create");
    try {
      check(COIR_FFT(SetAutoAllocation)(handle_, 0), "SetAutoAllocation");
      Layout in(request, real_in), out(request, real_out);
      std::array<long long, 3> n{};
      for (std::size_t d = 0; d < 3; ++d) n[d] = request.shape[d];
      check(COIR_FFT(MakePlanMany64)(handle_, request.rank, n.data(), in.embed.data(), 1, in.step,
                                     out.embed.data(), 1, out.step, type, request.batch,
                                     &work_bytes_),
            "MakePlanMany64");
    } catch (...) {
      COIR_FFT(Destroy)(handle_);
      throw;
    }
  }
  ~Handle() { COIR_FFT(Destroy)(handle_); }
  Handle(Handle const&) = delete;
  Handle& operator=(Handle const&) = delete;

  COIR_FFT(Handle) get() const { return handle_; }
  std::size_t work_bytes() const { return work_bytes_; }

 private:
  /// How one side lies in memory.
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

/// The library's plans for both directions. Complex ones differ by a sign that is given when they run.
template <class T>
struct Handles {
  Handle forward;
  std::optional<Handle> backward;

  explicit Handles(Request const& request)
      : forward(request, request.real ? Library<T>::forward : Library<T>::complex, request.real,
                false) {
    if (request.real) backward.emplace(request, Library<T>::backward, false, true);
  }

  std::int64_t work_bytes() const {
    std::size_t const bytes = forward.work_bytes();
    return static_cast<std::int64_t>(backward ? std::max(bytes, backward->work_bytes()) : bytes);
  }
};

/// Forward and backward on devices, which work in the same memory.
template <class T>
class DeviceTransforms : public Transforms<Exec, T> {
  using L = Library<T>;
  using Real = typename L::Real;
  using Complex = typename L::Complex;

 public:
  explicit DeviceTransforms(Request const& request)
      : handles_(request), bytes_(handles_.work_bytes()) {
    expects_memory<Exec::memory_space>(bytes_, "the work of a transform");
    work_ = Kokkos::View<char*, Exec::memory_space>(
        Kokkos::view_alloc("coir::fft/work", Kokkos::WithoutInitializing),
        static_cast<std::size_t>(bytes_));
    give_memory(handles_.forward);
    if (handles_.backward) give_memory(*handles_.backward);
  }

  void forward(Exec const& exec, void* in, void* out) override {
    expects_alignment(in, out);
    std::lock_guard const lock(mutex_);
    auto const handle = on_stream(handles_.forward, exec);
    if (handles_.backward)
      check(L::run_forward(handle, static_cast<Real*>(in), static_cast<Complex*>(out)), "Exec");
    else
      run_complex(handle, in, out, -1);
  }
  void backward(Exec const& exec, void* in, void* out) override {
    expects_alignment(in, out);
    std::lock_guard const lock(mutex_);
    if (handles_.backward)
      check(L::run_backward(on_stream(*handles_.backward, exec), static_cast<Complex*>(in),
                            static_cast<Real*>(out)),
            "Exec");
    else
      run_complex(on_stream(handles_.forward, exec), in, out, +1);
  }
  std::int64_t work_bytes() const override { return bytes_; }

 private:
  static void expects_alignment(void const* in, void const* out) {
    expects((reinterpret_cast<std::uintptr_t>(in) | reinterpret_cast<std::uintptr_t>(out)) %
                    sizeof(Complex) ==
                0,
            "on devices what is transformed must begin at a multiple of " +
                std::to_string(sizeof(Complex)) + " bytes: copy it to a View of its own");
  }
  void give_memory(Handle const& handle) const {
    check(COIR_FFT(SetWorkArea)(handle.get(), work_.data()), "SetWorkArea");
  }
  static COIR_FFT(Handle) on_stream(Handle const& handle, Exec const& exec) {
    check(COIR_FFT(SetStream)(handle.get(), stream_of(exec)), "SetStream");
    return handle.get();
  }
  static void run_complex(COIR_FFT(Handle) handle, void* in, void* out, int sign) {
    check(L::run_complex(handle, static_cast<Complex*>(in), static_cast<Complex*>(out), sign),
          "Exec");
  }

  Handles<T> handles_;
  std::int64_t bytes_;
  Kokkos::View<char*, Exec::memory_space> work_;
  std::mutex mutex_;
};

}  // namespace

template <class Exec, class T>
std::shared_ptr<Transforms<Exec, T>> transforms(Exec const& exec, Request const& request) {
  // Each stream has its own, so that two may run at a time.
  auto const stream = reinterpret_cast<std::uintptr_t>(stream_of(exec));
  return PlanCache<Exec, T>::get(stream, request,
                                 [&] { return std::make_shared<DeviceTransforms<T>>(request); });
}

template <class Exec, class T>
std::int64_t work_bytes(Exec const&, Request const& request) {
  try {
    return Handles<T>(request).work_bytes();
  } catch (Error const&) {
    // What the library can't even plan doesn't fit the device either: a spectrum's size says so well enough.
    return request.batch * request.rows() * request.complex_row() *
           static_cast<std::int64_t>(2 * sizeof(T));
  }
}

#define COIR_INSTANTIATE(T)                                                              \
  template std::shared_ptr<Transforms<Exec, T>> transforms(Exec const&, Request const&); \
  template std::int64_t work_bytes<Exec, T>(Exec const&, Request const&);
COIR_INSTANTIATE(float)
COIR_INSTANTIATE(double)
#undef COIR_INSTANTIATE

}  // namespace coir::fft::detail
