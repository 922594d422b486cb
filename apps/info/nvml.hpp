#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace coir::apps {

/// NVIDIA's management library, which comes with the driver. It is opened at run time, so that no build needs it, and only
/// reads: no program is started on a device, and none of its memory is taken.
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

  /// NVIDIA's name of the device: "NVIDIA H200"; "NVIDIA device" if it can't be asked.
  std::string name(Device device) const;

  // Numbers that a device tells; none if it doesn't.

  /// The fraction of the time, of the last second or less, in which a kernel ran.
  std::optional<double> load(Device device) const;
  std::optional<double> memory_used(Device device) const;  ///< bytes
  std::optional<double> memory(Device device) const;       ///< bytes of all
  std::optional<double> power(Device device) const;        ///< W
  std::optional<double> temperature(Device device) const;  ///< degrees Celsius
  std::optional<double> clock(Device device) const;        ///< Hz, of its multiprocessors
  std::optional<double> energy(Device device) const;       ///< J since its driver was loaded

 private:
  struct Library;
  std::unique_ptr<Library> library_;
};

}  // namespace coir::apps
