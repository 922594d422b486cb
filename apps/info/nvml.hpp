#pragma once

#include <info/reading.hpp>

#include <memory>
#include <string>
#include <vector>

namespace coir::apps {

/// NVIDIA's management library, which comes with the driver. It is opened at run time, so that no build needs it, and only
/// reads: no program is started on a device, and none of its memory is taken.
class Nvml {
 public:
  struct Device {
    void* handle = nullptr;
    std::string absence;  ///< why the library doesn't let it be asked; empty if it does
  };

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

  /// NVIDIA's name of the device: "NVIDIA H200"; "NVIDIA device" if it can't be asked.
  std::string name(Device const& device) const;

  /// The fraction of the time, of the last second or less, in which a kernel ran.
  Reading load(Device const& device) const;
  Reading memory_used(Device const& device) const;  ///< bytes
  Reading memory(Device const& device) const;       ///< bytes of all
  Reading power(Device const& device) const;        ///< W
  Reading temperature(Device const& device) const;  ///< degrees Celsius
  Reading clock(Device const& device) const;        ///< Hz, of its multiprocessors
  Reading energy(Device const& device) const;       ///< J since its driver was loaded

 private:
  struct Library;
  std::unique_ptr<Library> library_;
};

}  // namespace coir::apps
