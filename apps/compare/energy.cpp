#include "energy.hpp"

#include <dlfcn.h>

#include <cstdlib>
#include <fstream>
#include <string>
#include <type_traits>

namespace coir::apps::compare {

namespace fs = std::filesystem;

namespace {

constexpr double joules_of_microjoule = 1e-6, joules_of_millijoule = 1e-3;

std::optional<double> number_in(fs::path const& path) {
  std::ifstream file(path);
  double number = 0;
  return file >> number && number >= 0 ? std::optional(number) : std::nullopt;
}

/// Whether a zone is a whole processor, "package-0", and not a part of one or its memory.
bool is_processor(fs::path const& zone) {
  std::ifstream file(zone / "name");
  std::string name;
  return std::getline(file, name) && name.starts_with("package");
}

}  // namespace

bool EnergyCounters::Zone::read() {
  auto const now = number_in(counter);
  if (!now) return false;
  sum += *now >= last ? *now - last : *now + range - last;
  last = *now;
  return true;
}

/// The few functions of NVML that are called, with its types as plain ones.
struct EnergyCounters::Nvml {
  using Device = void*;
  void* library = nullptr;
  Device device = nullptr;
  int (*energy)(Device, unsigned long long*) = nullptr;
  int (*shut_down)() = nullptr;

  Nvml() {
    library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return;
    auto const find = [&](auto& function, char const* name) {
      function =
          reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
      return function != nullptr;
    };
    int (*begin)() = nullptr;
    int (*by_index)(unsigned, Device*) = nullptr;
    int (*by_name)(char const*, Device*) = nullptr;
    bool const is_there = find(begin, "nvmlInit_v2") &&
                          find(by_index, "nvmlDeviceGetHandleByIndex_v2") &&
                          find(by_name, "nvmlDeviceGetHandleByUUID") &&
                          find(energy, "nvmlDeviceGetTotalEnergyConsumption");
    if (!is_there || begin() != 0) return;
    find(shut_down, "nvmlShutdown");
    // The device that programs see first.
    char const* const visible = std::getenv("CUDA_VISIBLE_DEVICES");
    std::string const first = std::string(visible == nullptr ? "0" : visible);
    std::string const name = first.substr(0, first.find(','));
    int const failed = name.starts_with("GPU-")
                           ? by_name(name.c_str(), &device)
                           : by_index(static_cast<unsigned>(std::atoi(name.c_str())), &device);
    if (failed != 0) device = nullptr;
  }
  ~Nvml() {
    if (shut_down != nullptr) shut_down();
    if (library != nullptr) dlclose(library);
  }
  Nvml(Nvml const&) = delete;
  Nvml& operator=(Nvml const&) = delete;

  std::optional<double> joules() const {
    unsigned long long millijoules = 0;
    if (device == nullptr || energy(device, &millijoules) != 0) return {};
    return joules_of_millijoule * static_cast<double>(millijoules);
  }
};

EnergyCounters::EnergyCounters(fs::path powercap) : nvml_(std::make_unique<Nvml>()) {
  std::error_code none;
  for (auto const& entry : fs::directory_iterator(powercap, none)) {
    fs::path const counter = entry.path() / "energy_uj";
    auto const start = number_in(counter);
    auto const range = number_in(entry.path() / "max_energy_range_uj");
    if (is_processor(entry.path()) && start && range)
      zones_.push_back({counter, *range, *start, 0});
  }
}

EnergyCounters::~EnergyCounters() = default;

std::optional<double> EnergyCounters::processors() {
  double sum = 0;
  for (Zone& zone : zones_) {
    if (!zone.read()) return {};
    sum += zone.sum;
  }
  return zones_.empty() ? std::nullopt : std::optional(joules_of_microjoule * sum);
}

std::optional<double> EnergyCounters::device() { return nvml_->joules(); }

PowerMeter::Reading PowerMeter::now() {
  return {std::chrono::steady_clock::now(),
          on_device_ ? counters_.device() : counters_.processors()};
}

void PowerMeter::rows_ended(std::size_t count) {
  if (count == 0 || !last_) return;
  Reading const before = *last_, after = now();
  last_ = after;
  double const seconds = std::chrono::duration<double>(after.time - before.time).count();
  constexpr double least = 0.2;
  bool const tells = count == 1 && seconds >= least && before.joules && after.joules;
  watts_.insert(watts_.end(), count, std::nullopt);
  if (tells) watts_.back() = (*after.joules - *before.joules) / seconds;
}

std::optional<double> PowerMeter::watts(std::size_t row) const {
  return row < watts_.size() ? watts_[row] : std::nullopt;
}

}  // namespace coir::apps::compare
