#include "energy.hpp"

namespace coir::apps::compare {

EnergyCounters::EnergyCounters(std::filesystem::path const& powercap)
    : processors_(powercap), device_(nvml_.first_visible()) {}

std::optional<double> EnergyCounters::processors() { return processors_.joules(); }

std::optional<double> EnergyCounters::device() const { return nvml_.energy(device_); }

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
