#pragma once

/// \file
/// Instances of an execution space beside the default one.

#include <coir/core/concepts.hpp>

#include <memory>

namespace coir {

/// An instance that nobody else uses: on devices its kernels and copies run in order among themselves, and beside those of
/// other instances (a stream of its own, in CUDA's words). On hosts it is the default instance. It must end before Kokkos does,
/// and waits then for what it was given.
template <CompiledSpace Exec>
class OwnInstance {
 public:
  /// \throws EnvironmentError if the device has no further stream
  OwnInstance();
  ~OwnInstance();
  OwnInstance(OwnInstance const&) = delete;
  OwnInstance& operator=(OwnInstance const&) = delete;

  Exec const& exec() const { return exec_; }

 private:
  std::shared_ptr<void> stream_;
  Exec exec_;
};

}  // namespace coir
