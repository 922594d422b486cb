#include <info/processor_energy.hpp>

#include <support/processors.hpp>

namespace coir::apps {

namespace fs = std::filesystem;

namespace {

constexpr double joules_of_microjoule = 1e-6;

/// Whether a zone is a whole processor, "package-0", and not a part of one or its memory.
bool is_processor(fs::path const& zone) { return text_in(zone / "name").starts_with("package"); }

}  // namespace

bool ProcessorEnergy::Zone::read() {
  auto const now = number_in(counter);
  if (!now) return false;
  sum += *now >= last ? *now - last : *now + range - last;
  last = *now;
  return true;
}

ProcessorEnergy::ProcessorEnergy(fs::path const& powercap) {
  std::error_code none;
  for (auto const& entry : fs::directory_iterator(powercap, none)) {
    if (!is_processor(entry.path())) continue;
    fs::path const counter = entry.path() / "energy_uj";
    auto const start = number_in(counter);
    auto const range = number_in(entry.path() / "max_energy_range_uj");
    if (start && range) zones_.push_back({counter, *range, *start, 0});
  }
}

std::optional<double> ProcessorEnergy::joules() {
  if (zones_.empty()) return {};
  double sum = 0;
  for (Zone& zone : zones_) {
    if (!zone.read()) return {};
    sum += zone.sum;
  }
  return joules_of_microjoule * sum;
}

}  // namespace coir::apps
