#include "model.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace coir::apps::offload {

namespace {

/// Seconds of a pass over data that are where they are needed: the roofline.
struct Pass {
  double host, device;
};

Pass pass_of(OffloadWork const& work, Speeds const& speeds, double size, double flops) {
  if (work.measured)
    return {interpolated(work.measured->host, size), interpolated(work.measured->device, size)};
  double const bytes = work.bytes.at(size);
  return {std::max(flops / speeds.host_flops, bytes / speeds.host_bandwidth),
          work.launches.at(size) * speeds.launch +
              std::max(flops / speeds.device_flops, bytes / speeds.device_bandwidth)};
}

double transfers_of(OffloadWork const& work, Speeds const& speeds, double size) {
  return work.in.at(size) / speeds.to_device + work.out.at(size) / speeds.to_host;
}

bool is_rate(double speed) { return std::isfinite(speed); }

/// Nothing if a rate isn't known.
std::optional<double> seconds_there_and_back(Speeds const& speeds) {
  if (!is_rate(speeds.to_device) || !is_rate(speeds.to_host)) return {};
  return 1 / speeds.to_device + 1 / speeds.to_host;
}

}  // namespace

double interpolated(Curve const& curve, double size) {
  auto const above = std::find_if(curve.begin(), curve.end(),
                                  [&](auto const& point) { return point.first >= size; });
  if (above == curve.end()) return curve.back().second;
  if (above == curve.begin() || above->first == size) return above->second;
  auto const& [size_below, below] = *std::prev(above);
  double const part = std::log(size / size_below) / std::log(above->first / size_below);
  return below * std::pow(above->second / below, part);
}

Times times_of(OffloadWork const& work, Speeds const& speeds, double size) {
  Pass const pass = pass_of(work, speeds, size, work.flops.at(size));
  double const transfers = transfers_of(work, speeds, size);
  return {work.repeats * pass.host, transfers + work.repeats * pass.device, transfers};
}

std::optional<double> repeats_to_pay(OffloadWork const& work, Speeds const& speeds, double size) {
  Pass const pass = pass_of(work, speeds, size, work.flops.at(size));
  if (!(pass.host > pass.device)) return {};
  return std::floor(transfers_of(work, speeds, size) / (pass.host - pass.device)) + 1;
}

std::optional<double> flops_to_pay(OffloadWork const& work, Speeds const& speeds, double size) {
  if (work.measured || !is_rate(speeds.host_flops) || !is_rate(speeds.device_flops)) return {};
  auto const saved = [&](double flops) {
    Pass const pass = pass_of(work, speeds, size, flops);
    return work.repeats * (pass.host - pass.device) - transfers_of(work, speeds, size);
  };
  // The time saved is linear between the numbers at which operations take over from memory.
  double const bytes = work.bytes.at(size);
  std::array<double, 3> corners{0, bytes / speeds.host_bandwidth * speeds.host_flops,
                                bytes / speeds.device_bandwidth * speeds.device_flops};
  std::sort(corners.begin(), corners.end());
  if (saved(0) >= 0) return 0;
  for (std::size_t n = 1; n < corners.size(); ++n) {
    double const before = saved(corners[n - 1]), after = saved(corners[n]);
    if (after >= 0)
      return corners[n - 1] + (corners[n] - corners[n - 1]) * before / (before - after);
  }
  double const slope = work.repeats * (1 / speeds.host_flops - 1 / speeds.device_flops);
  if (!(slope > 0)) return {};
  return corners.back() - saved(corners.back()) / slope;
}

std::vector<double> fine_sizes(double from, double to) {
  std::vector<double> sizes;
  for (int step = 0;; ++step) {
    double const size = from * std::exp2(step / 16.);
    if (size >= to) break;
    sizes.push_back(size);
  }
  sizes.push_back(to);
  return sizes;
}

std::vector<BreakEven> break_evens(std::function<double(double)> const& gain, double from,
                                   double to) {
  std::vector<BreakEven> found;
  auto const sizes = fine_sizes(from, to);
  for (std::size_t n = 1; n < sizes.size(); ++n) {
    double below = sizes[n - 1], above = sizes[n];
    bool const wins_below = gain(below) > 1;
    if ((gain(above) > 1) == wins_below) continue;
    for (;;) {
      double const middle = std::sqrt(below) * std::sqrt(above);
      if (middle <= below || middle >= above) break;
      ((gain(middle) > 1) == wins_below ? below : above) = middle;
    }
    found.push_back({above, !wins_below});
  }
  return found;
}

std::pair<Extreme, Extreme> extremes(std::function<double(double)> const& gain, double from,
                                     double to) {
  Extreme worst{gain(from), from}, best = worst;
  for (double const size : fine_sizes(from, to)) {
    double const here = gain(size);
    if (here < worst.gain) worst = {here, size};
    if (here > best.gain) best = {here, size};
  }
  return {worst, best};
}

std::optional<double> flops_per_value(Speeds const& speeds, double value_bytes) {
  auto const carried = seconds_there_and_back(speeds);
  double const slope = 1 / speeds.host_flops - 1 / speeds.device_flops;
  if (!carried || !(slope > 0) || !is_rate(speeds.device_flops)) return {};
  return value_bytes * *carried / slope;
}

std::optional<double> bytes_per_byte(Speeds const& speeds) {
  auto const carried = seconds_there_and_back(speeds);
  double const slope = 1 / speeds.host_bandwidth - 1 / speeds.device_bandwidth;
  if (!carried || !(slope > 0) || !is_rate(speeds.device_bandwidth)) return {};
  return *carried / slope;
}

}  // namespace coir::apps::offload
