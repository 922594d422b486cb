#include "forecast.hpp"

#include "classes.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>

namespace coir::apps::queue {

namespace {

struct Interval {
  int first_bin;
  int last_bin;
};

/// Nothing if there are too few waits.
std::optional<Interval> interval_of(WaitHistogram const& waits, double probability) {
  auto const n = static_cast<double>(waits.count());
  // Rounding must not move 0.05 * 200 below 10 and not 0.95 * 200 above 190.
  constexpr double slack = 1e-9;
  auto const r = static_cast<std::int64_t>(std::floor((n + 1) * (1 - probability) / 2 + slack));
  auto const s = static_cast<std::int64_t>(std::ceil((n + 1) * (1 + probability) / 2 - slack));
  if (r < 1 || s > waits.count()) return {};
  return Interval{waits.bin_of_rank(r), waits.bin_of_rank(s)};
}

/// Whether a size is within a factor of the one asked for; it is if none is asked for.
template <class Value>
bool is_near(std::optional<Value> const& value, std::optional<Value> const& asked, double factor) {
  if (!asked) return true;
  if (!value) return false;
  auto const a = static_cast<double>(*value), b = static_cast<double>(*asked);
  return a <= factor * b && b <= factor * a;
}

bool sizes_are_near(Job const& job, Size const& size, double factor) {
  return is_near(job.cores, size.cores, factor) && is_near(job.gpus, size.gpus, factor) &&
         is_near(job.bytes, size.bytes, factor) && is_near(job.limit, size.limit, factor);
}

/// Keeps the larger one.
template <class Value>
void enlarge(std::optional<Value>& largest, std::optional<Value> const& value) {
  if (value && (!largest || *largest < *value)) largest = value;
}

}  // namespace

std::size_t likeness_of(Job const& job, Size const& size) {
  bool const is_of_kind = !size.gpus || (job.gpus && (*job.gpus > 0) == (*size.gpus > 0));
  if (!is_of_kind) return job.gpus ? likeness.size() : 4;
  if (!sizes_are_near(job, size, 4)) return 3;
  if (!sizes_are_near(job, size, 2)) return 2;
  if (!size.hour) return 1;
  int const apart = std::abs(hour_of(job.submit) - *size.hour);
  return std::min(apart, 24 - apart) <= 2 ? 0 : 1;
}

void Forecaster::add(Job const& job, Size const& size) {
  enlarge(largest_.cores, job.cores);
  enlarge(largest_.gpus, job.gpus);
  enlarge(largest_.bytes, job.bytes);
  enlarge(largest_.limit, job.limit);
  bool const out = is_held_out(job.submit);
  for (std::size_t n = likeness_of(job, size); n < waits_.size(); ++n)
    (out ? waits_[n].held_out : waits_[n].seen).add(job.wait);
}

void Forecaster::add(Forecaster const& other) {
  enlarge(largest_.cores, other.largest_.cores);
  enlarge(largest_.gpus, other.largest_.gpus);
  enlarge(largest_.bytes, other.largest_.bytes);
  enlarge(largest_.limit, other.largest_.limit);
  for (std::size_t n = 0; n < waits_.size(); ++n) {
    waits_[n].seen.add(other.waits_[n].seen);
    waits_[n].held_out.add(other.waits_[n].held_out);
  }
}

std::optional<std::string> Forecaster::beyond(Size const& size) const {
  struct Compared {
    char const* name;
    double asked, largest, unit;
  };
  auto const number = [](auto const& value, double unknown) {
    return value ? static_cast<double>(*value) : unknown;
  };
  constexpr double none = 0, any = std::numeric_limits<double>::infinity();
  for (auto const& [name, asked, largest, unit] :
       {Compared{"cores", number(size.cores, none), number(largest_.cores, any), 1},
        Compared{"GPUs", number(size.gpus, none), number(largest_.gpus, any), 1},
        Compared{"GiB of memory", number(size.bytes, none), number(largest_.bytes, any),
                 1024. * 1024 * 1024},
        Compared{"hours of time limit", number(size.limit, none), number(largest_.limit, any),
                 3600}}) {
    if (asked <= 2 * largest) continue;
    char text[120];
    std::snprintf(text, sizeof text, "%.6g %s, where the largest job had %.6g", asked / unit, name,
                  largest / unit);
    return text;
  }
  return {};
}

std::optional<Forecaster::Forecast> Forecaster::forecast(double probability) const {
  // The trial chooses its likeness from what it has seen, as the forecast does from all.
  auto const choose = [](auto const& count_at) {
    std::size_t n = 0;
    while (n + 1 < likeness.size() && count_at(n) < enough) ++n;
    while (n > 0 && count_at(n - 1) == count_at(n)) --n;  // the same jobs
    return n;
  };
  Forecast result;
  result.likeness =
      choose([&](std::size_t n) { return waits_[n].seen.count() + waits_[n].held_out.count(); });
  WaitHistogram all;
  all.add(waits_[result.likeness].seen);
  all.add(waits_[result.likeness].held_out);
  auto const interval = interval_of(all, probability);
  if (!interval) return {};
  result.jobs = all.count();
  result.median = all.quantile(0.5);
  result.low = static_cast<double>(WaitHistogram::first_second(interval->first_bin));
  result.high =
      static_cast<double>(std::min(WaitHistogram::last_second(interval->last_bin), all.longest()));

  auto const& trial = waits_[choose([&](std::size_t n) { return waits_[n].seen.count(); })];
  if (auto const tried = interval_of(trial.seen, probability)) {
    result.held_out = trial.held_out.count();
    result.held_out_inside = trial.held_out.count_in(tried->first_bin, tried->last_bin);
  }
  return result;
}

}  // namespace coir::apps::queue
