#pragma once

#include "sample.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace coir::apps {

/// NVIDIA's management library, which comes with the driver. It is opened at run time, so that no
/// build needs it. Asking it starts no program on a device and takes none of its memory.
class Nvml {
 public:
  using Device = void*;  ///< null if the library doesn't let the device be asked

  Nvml();
  ~Nvml();
  Nvml(Nvml const&) = delete;
  Nvml& operator=(Nvml const&) = delete;

  /// Why there are no devices at all; empty if there may be some.
  std::string const& absence() const;

  /// All devices of the machine, in NVML's order, whether programs are to see them or not.
  std::vector<Device> devices() const;

  /// The one that programs of this environment (CUDA_VISIBLE_DEVICES) see first.
  Device first_visible() const;

  /// What a device does now, as far as it can be asked. Its load is the fraction of the last second
  /// or less in which a kernel ran, its clock that of its multiprocessors, its name NVIDIA's or
  /// "NVIDIA device".
  info::Sample sample(Device device) const;

  /// Joules since its driver was loaded; none if it doesn't count them.
  std::optional<double> energy(Device device) const;

 private:
  struct Library;
  std::unique_ptr<Library> library_;
};

}  // namespace coir::apps
