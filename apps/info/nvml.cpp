#include <info/nvml.hpp>

#include <dlfcn.h>

#include <array>
#include <cstdlib>
#include <type_traits>

namespace coir::apps {

namespace {

constexpr char file_name[] = "libnvidia-ml.so.1";
constexpr double of_percent = 1e-2, of_milli = 1e-3, of_mega = 1e6;

constexpr int temperature_of_chip = 0;
constexpr int clock_of_multiprocessors = 1;

}  // namespace

struct Nvml::Library {
  // NVML's types and numbers as plain ones, so that its header isn't needed.
  using Handle = void*;
  struct Utilization {
    unsigned kernels = 0, memory = 0;  // per cent of the time
  };
  struct Memory {
    unsigned long long total = 0, free = 0, used = 0;  // bytes
  };

  /// A function of the library, which one that is older than the function doesn't have.
  template <class... Arguments>
  struct Function {
    char const* name;
    int (*call)(Arguments...) = nullptr;

    void find_in(void* library) { call = reinterpret_cast<decltype(call)>(dlsym(library, name)); }
  };

  void* file = nullptr;
  bool is_started = false;
  std::string absence;

  Function<> start{"nvmlInit_v2"};
  Function<> stop{"nvmlShutdown"};
  Function<unsigned*> count{"nvmlDeviceGetCount_v2"};
  Function<unsigned, Handle*> by_index{"nvmlDeviceGetHandleByIndex_v2"};
  Function<char const*, Handle*> by_uuid{"nvmlDeviceGetHandleByUUID"};
  Function<Handle, char*, unsigned> name{"nvmlDeviceGetName"};
  Function<Handle, Utilization*> load{"nvmlDeviceGetUtilizationRates"};
  Function<Handle, Memory*> memory{"nvmlDeviceGetMemoryInfo"};
  Function<Handle, unsigned*> power{"nvmlDeviceGetPowerUsage"};
  Function<Handle, int, unsigned*> temperature{"nvmlDeviceGetTemperature"};
  Function<Handle, int, unsigned*> clock{"nvmlDeviceGetClockInfo"};
  Function<Handle, unsigned long long*> energy{"nvmlDeviceGetTotalEnergyConsumption"};
  char const* (*words)(int) = nullptr;

  Library() {
    file = dlopen(file_name, RTLD_NOW | RTLD_LOCAL);
    if (file == nullptr) {
      absence =
          std::string("NVML, which comes with their driver, can't be opened (") + dlerror() + ")";
      return;
    }
    start.find_in(file), stop.find_in(file), count.find_in(file);
    by_index.find_in(file), by_uuid.find_in(file), name.find_in(file);
    load.find_in(file), memory.find_in(file), power.find_in(file);
    temperature.find_in(file), clock.find_in(file), energy.find_in(file);
    words = reinterpret_cast<decltype(words)>(dlsym(file, "nvmlErrorString"));
    absence = error_of(start);
    is_started = absence.empty();
  }
  ~Library() {
    if (is_started) error_of(stop);
    if (file != nullptr) dlclose(file);
  }
  Library(Library const&) = delete;
  Library& operator=(Library const&) = delete;

  /// Calls a function. \return what is wrong; empty if nothing is
  template <class... Arguments>
  std::string error_of(Function<Arguments...> const& function,
                       std::type_identity_t<Arguments>... arguments) const {
    if (function.call == nullptr) return std::string("the driver's NVML has no ") + function.name;
    int const status = function.call(arguments...);
    if (status == 0) return {};
    char const* const text = words == nullptr ? nullptr : words(status);
    return "NVML says '" + (text == nullptr ? "error " + std::to_string(status) : text) + "'";
  }

  Device device(unsigned index) const {
    Device device;
    device.absence = error_of(by_index, index, &device.handle);
    return device;
  }

  /// Asks a device for a number.
  ///
  /// \param ask     gives the error of a function that sets its argument
  /// \param number  the number in what was set, in SI units
  template <class Answer>
  static Reading read(Device const& device, auto const& ask, auto const& number) {
    if (!device.absence.empty()) return {{}, device.absence};
    Answer answer{};
    std::string const error = ask(&answer);
    if (!error.empty()) return {{}, error};
    return {static_cast<double>(number(answer)), {}};
  }
};

Nvml::Nvml() : library_(std::make_unique<Library>()) {}

Nvml::~Nvml() = default;

std::string const& Nvml::absence() const { return library_->absence; }

std::vector<Nvml::Device> Nvml::devices() const {
  unsigned count = 0;
  std::vector<Device> devices;
  if (!absence().empty() || !library_->error_of(library_->count, &count).empty()) return devices;
  for (unsigned index = 0; index < count; ++index) devices.push_back(library_->device(index));
  return devices;
}

Nvml::Device Nvml::first_visible() const {
  if (!absence().empty()) return {nullptr, absence()};
  char const* const visible = std::getenv("CUDA_VISIBLE_DEVICES");
  std::string const all = visible == nullptr ? "0" : visible;
  std::string const first = all.substr(0, all.find(','));
  if (!first.starts_with("GPU-"))
    return library_->device(static_cast<unsigned>(std::atoi(first.c_str())));
  Device device;
  device.absence = library_->error_of(library_->by_uuid, first.c_str(), &device.handle);
  return device;
}

std::string Nvml::name(Device const& device) const {
  std::array<char, 96> text{};
  bool const is_told =
      device.absence.empty() &&
      library_->error_of(library_->name, device.handle, text.data(), text.size() - 1).empty();
  return is_told ? text.data() : "NVIDIA device";
}

Reading Nvml::load(Device const& device) const {
  return Library::read<Library::Utilization>(
      device, [&](auto* a) { return library_->error_of(library_->load, device.handle, a); },
      [](auto const& a) { return of_percent * a.kernels; });
}

Reading Nvml::memory_used(Device const& device) const {
  return Library::read<Library::Memory>(
      device, [&](auto* a) { return library_->error_of(library_->memory, device.handle, a); },
      [](auto const& a) { return a.used; });
}

Reading Nvml::memory(Device const& device) const {
  return Library::read<Library::Memory>(
      device, [&](auto* a) { return library_->error_of(library_->memory, device.handle, a); },
      [](auto const& a) { return a.total; });
}

Reading Nvml::power(Device const& device) const {
  return Library::read<unsigned>(
      device, [&](auto* a) { return library_->error_of(library_->power, device.handle, a); },
      [](auto a) { return of_milli * a; });
}

Reading Nvml::temperature(Device const& device) const {
  return Library::read<unsigned>(
      device,
      [&](auto* a) {
        return library_->error_of(library_->temperature, device.handle, temperature_of_chip, a);
      },
      [](auto a) { return a; });
}

Reading Nvml::clock(Device const& device) const {
  return Library::read<unsigned>(
      device,
      [&](auto* a) {
        return library_->error_of(library_->clock, device.handle, clock_of_multiprocessors, a);
      },
      [](auto a) { return of_mega * a; });
}

Reading Nvml::energy(Device const& device) const {
  return Library::read<unsigned long long>(
      device, [&](auto* a) { return library_->error_of(library_->energy, device.handle, a); },
      [](auto a) { return of_milli * static_cast<double>(a); });
}

}  // namespace coir::apps
