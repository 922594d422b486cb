#pragma once

/// \file
/// Transforms along the first axis of complex numbers.

#include <coir/fft/detail/transforms.hpp>

#include <cstdint>
#include <memory>

namespace coir::fft::detail {

/// Both directions of the transforms of [length, count] complex numbers along the first axis. The
/// output may be the input, or lie apart from it; the input then stays as it is. Calls run one
/// after the other.
template <class Exec, class T>
class Lines {
 public:
  using Multiply = typename Transforms<Exec, T>::Multiply;

  virtual ~Lines() = default;
  virtual void forward(Exec const& exec, void const* in, void* out) = 0;
  virtual void backward(Exec const& exec, void const* in, void* out) = 0;
  /// Transforms forward, multiplies, and transforms backward, in place, if that takes one pass.
  /// Otherwise it does nothing.
  ///
  /// \return  whether it was done
  virtual bool filter(Exec const&, void*, Multiply const&) { return false; }
};

/// Compiled in src/fft, for hosts in one source and for devices in another.
template <class Exec, class T>
  requires runs_on_host<Exec>
std::shared_ptr<Lines<Exec, T>> lines(Exec const& exec, std::int64_t length, std::int64_t count,
                                      Effort effort);
template <class Exec, class T>
  requires(!runs_on_host<Exec>)
std::shared_ptr<Lines<Exec, T>> lines(Exec const& exec, std::int64_t length, std::int64_t count,
                                      Effort effort);

}  // namespace coir::fft::detail
