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

info::Sample Nvml::sample(Device device) const {
  info::Sample sample;
  std::array<char, 96> name{};
  bool const has_name =
      device != nullptr && library_->status_of("nvmlDeviceGetName", device, name.data(),
                                               static_cast<unsigned>(name.size() - 1)) == 0;
  sample.name = has_name ? name.data() : "NVIDIA device";
  if (auto const rates =
          library_->answer<Library::Utilization>("nvmlDeviceGetUtilizationRates", device))
    sample.load = 1e-2 * rates->kernels;
  if (auto const memory = library_->answer<Library::Memory>("nvmlDeviceGetMemoryInfo", device)) {
    sample.memory_used = static_cast<double>(memory->used);
    sample.memory = static_cast<double>(memory->total);
  }
  constexpr int of_chip = 0, of_multiprocessors = 1;
  auto const number = [&](double unit, char const* function, auto... arguments) {
    return in_units(unit, library_->answer<unsigned>(function, device, arguments...));
  };
  sample.power = number(1e-3, "nvmlDeviceGetPowerUsage");
  sample.temperature = number(1, "nvmlDeviceGetTemperature", of_chip);
  sample.clock = number(1e6, "nvmlDeviceGetClockInfo", of_multiprocessors);
  return sample;
}

std::optional<double> Nvml::energy(Device device) const {
  return in_units(
      1e-3, library_->answer<unsigned long long>("nvmlDeviceGetTotalEnergyConsumption", device));
}

}  // namespace coir::apps
