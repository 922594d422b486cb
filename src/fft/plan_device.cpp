// Plans on devices: cuFFT or hipFFT.

#include "device_plan.hpp"
#include "plan_cache.hpp"

#include <coir/core/errors.hpp>
#include <coir/core/memory.hpp>
#include <coir/fft/detail/transforms.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

namespace coir::fft::detail {

namespace {

using Exec = Kokkos::DefaultExecutionSpace;

/// The library's plans for both directions. Complex transforms have one plan, which takes the
/// direction when it runs.
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

/// The transforms of both directions, with one work area.
template <class T>
class DeviceTransforms : public Transforms<Exec, T> {
  using L = Library<T>;
  using Real = typename L::Real;
  using Complex = typename L::Complex;

 public:
  explicit DeviceTransforms(Request const& request)
      : handles_(request), work_(handles_.work_bytes()) {
    work_.lend_to(handles_.forward);
    if (handles_.backward) work_.lend_to(*handles_.backward);
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

 private:
  static void expects_alignment(void const* in, void const* out) {
    auto const addresses =
        reinterpret_cast<std::uintptr_t>(in) | reinterpret_cast<std::uintptr_t>(out);
    if (addresses % sizeof(Complex) != 0)
      throw PreconditionError("on devices what is transformed must begin at a multiple of " +
                              std::to_string(sizeof(Complex)) +
                              " bytes: copy it to a View of its own");
  }
  static void run_complex(COIR_FFT(Handle) handle, void* in, void* out, int sign) {
    check(L::run_complex(handle, static_cast<Complex*>(in), static_cast<Complex*>(out), sign),
          "Exec");
  }

  Handles<T> handles_;
  WorkArea work_;
  std::mutex mutex_;
};

}  // namespace

template <class Exec, class T>
  requires(!runs_on_host<Exec>)
std::shared_ptr<Transforms<Exec, T>> transforms(Exec const& exec, Request const& request) {
  // Each stream has transforms of its own, so that two may run at a time.
  auto const stream = reinterpret_cast<std::uintptr_t>(stream_of(exec));
  return PlanCache<Transforms<Exec, T>, Request>::get(
      stream, request, [&] { return std::make_shared<DeviceTransforms<T>>(request); });
}

template <class Exec, class T>
  requires(!runs_on_host<Exec>)
std::int64_t work_bytes(Exec const&, Request const& request) {
  // To plan takes longer than to transform: each request is planned once.
  static std::mutex mutex;
  static std::map<Request, std::int64_t> known;
  std::lock_guard const lock(mutex);
  if (auto const found = known.find(request); found != known.end()) return found->second;
  try {
    return known[request] = Handles<T>(request).work_bytes();
  } catch (Error const&) {
    // A transform that the library can't plan doesn't fit the device. An estimate is enough for it.
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
