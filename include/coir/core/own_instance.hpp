#pragma once

/// Instances of an execution space beside the default one.

#include <coir/core/concepts.hpp>

#include <memory>

namespace coir {

/// Whose blocks a device starts where kernels of several instances wait for room: those of
/// instances that come first, and then those of all others, the default instance among them.
enum class Precedence { none, first };

/// An instance that nobody else uses. On devices it is a stream: its kernels and copies run in
/// order, and at the same time as those of other instances. On hosts it is the default instance. It
/// must be destroyed before Kokkos ends; the destructor waits for its kernels and copies.
template <CompiledSpace Exec>
class OwnInstance {
 public:
  /// \throws EnvironmentError if the device has no further stream
  explicit OwnInstance(Precedence precedence = Precedence::none);
  ~OwnInstance();
  OwnInstance(OwnInstance const&) = delete;
  OwnInstance& operator=(OwnInstance const&) = delete;

  Exec const& exec() const { return exec_; }

 private:
  std::shared_ptr<void> stream_;
  Exec exec_;
};

}  // namespace coir
