#include <info/nvml.hpp>

#include <dlfcn.h>

#include <array>
#include <cstdlib>

namespace coir::apps {

// NVML's types and numbers are written as plain ones, so that its header isn't needed.
struct Nvml::Library {
  struct Utilization {
    unsigned kernels, memory;  // per cent of the time
  };
  struct Memory {
    unsigned long long total, free, used;  // bytes
  };

  void* file = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
  std::string absence;

  Library() {
    if (file == nullptr)
      absence =
          std::string("NVML, which comes with their driver, can't be opened (") + dlerror() + ")";
    else if (int const status = status_of("nvmlInit_v2"); status != 0)
      absence = "NVML can't start (error " + std::to_string(status) + ")";
  }
  ~Library() {
    if (absence.empty()) status_of("nvmlShutdown");
    if (file != nullptr) dlclose(file);
  }
  Library(Library const&) = delete;
  Library& operator=(Library const&) = delete;

  /// Calls a function by its name, which an older library may lack. 0 is success.
  template <class... Arguments>
  int status_of(char const* name, Arguments... arguments) const {
    auto* const function = reinterpret_cast<int (*)(Arguments...)>(dlsym(file, name));
    return function == nullptr ? -1 : function(arguments...);
  }

  /// What a function that is asked of a device sets its last argument to.
  template <class Answer, class... Arguments>
  std::optional<Answer> answer(char const* name, Device device, Arguments... arguments) const {
    Answer answer{};
    if (device == nullptr || status_of(name, device, arguments..., &answer) != 0) return {};
    return answer;
  }
};

namespace {

template <class Number>
std::optional<double> in_units(double unit, std::optional<Number> const& number) {
  return number ? std::optional(unit * static_cast<double>(*number)) : std::nullopt;
}

}  // namespace

Nvml::Nvml() : library_(std::make_unique<Library>()) {}

Nvml::~Nvml() = default;

std::string const& Nvml::absence() const { return library_->absence; }

std::vector<Nvml::Device> Nvml::devices() const {
  unsigned count = 0;
  if (!absence().empty() || library_->status_of("nvmlDeviceGetCount_v2", &count) != 0) return {};
  std::vector<Device> devices(count);
  for (unsigned index = 0; index < count; ++index)
    library_->status_of("nvmlDeviceGetHandleByIndex_v2", index, &devices[index]);
  return devices;
}

Nvml::Device Nvml::first_visible() const {
  Device device = nullptr;
  if (!absence().empty()) return device;
  char const* const visible = std::getenv("CUDA_VISIBLE_DEVICES");
  std::string const all = visible == nullptr ? "0" : visible;
  std::string const first = all.substr(0, all.find(','));
  if (first.starts_with("GPU-"))
    library_->status_of("nvmlDeviceGetHandleByUUID", first.c_str(), &device);
  else
    library_->status_of("nvmlDeviceGetHandleByIndex_v2",
                        static_cast<unsigned>(std::atoi(first.c_str())), &device);
  return device;
}

std::string Nvml::name(Device device) const {
  std::array<char, 96> text{};
  bool const is_told =
      device != nullptr && library_->status_of("nvmlDeviceGetName", device, text.data(),
                                               static_cast<unsigned>(text.size() - 1)) == 0;
  return is_told ? text.data() : "NVIDIA device";
}

std::optional<double> Nvml::load(Device device) const {
  auto const answer =
      library_->answer<Library::Utilization>("nvmlDeviceGetUtilizationRates", device);
  return answer ? std::optional(1e-2 * answer->kernels) : std::nullopt;
}

std::optional<double> Nvml::memory_used(Device device) const {
  auto const answer = library_->answer<Library::Memory>("nvmlDeviceGetMemoryInfo", device);
  return answer ? std::optional(static_cast<double>(answer->used)) : std::nullopt;
}

std::optional<double> Nvml::memory(Device device) const {
  auto const answer = library_->answer<Library::Memory>("nvmlDeviceGetMemoryInfo", device);
  return answer ? std::optional(static_cast<double>(answer->total)) : std::nullopt;
}

std::optional<double> Nvml::power(Device device) const {
  return in_units(1e-3, library_->answer<unsigned>("nvmlDeviceGetPowerUsage", device));
}

std::optional<double> Nvml::temperature(Device device) const {
  constexpr int of_chip = 0;
  return in_units(1, library_->answer<unsigned>("nvmlDeviceGetTemperature", device, of_chip));
}

std::optional<double> Nvml::clock(Device device) const {
  constexpr int of_multiprocessors = 1;
  return in_units(1e6,
                  library_->answer<unsigned>("nvmlDeviceGetClockInfo", device, of_multiprocessors));
}

std::optional<double> Nvml::energy(Device device) const {
  return in_units(
      1e-3, library_->answer<unsigned long long>("nvmlDeviceGetTotalEnergyConsumption", device));
}

}  // namespace coir::apps
