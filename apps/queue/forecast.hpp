#pragma once

/// How long a job will wait, from how long jobs like it have waited.

#include "job.hpp"
#include "settings.hpp"
#include "wait_histogram.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace coir::apps::queue {

/// How alike jobs are to the one that is asked for, the most alike first.
inline constexpr std::array<char const*, 5> likeness = {
    "sizes within a factor of 2, submitted within 2 hours of the day", "sizes within a factor of 2",
    "sizes within a factor of 4", "any size, with GPUs or without as it", "all of the partition"};

/// The first likeness that a job has; all following ones hold, too. likeness.size() if it has GPUs
/// and the one asked for has none, or the other way round.
std::size_t likeness_of(Job const& job, Size const& size);

/// Waits of the jobs of a partition by their likeness: each job counts at its own and at all
/// following ones.
///
/// A forecast takes the waits of the most alike jobs of which there are at least `enough`. If waits
/// of such jobs, the coming one among them, are equally likely in any order, then the coming one is
/// between the r-th and the s-th of n in their order with a probability of at least (s - r) / (n +
/// 1), whatever their distribution (S. S. Wilks, "Determination of sample sizes for setting
/// tolerance limits", 1941; conformal prediction uses the same). With
///
///   r = floor((n + 1) (1 - P) / 2),   s = ceil((n + 1) (1 + P) / 2)
///
/// that is at least P. Bins are taken whole, so that they only add to it.
///
/// Every fifth day's jobs are held out: the same forecast from the others is tried on them, which
/// tells how much waits change from day to day, which the formula doesn't know. Their share within
/// the interval is the coverage.
class Forecaster {
 public:
  static constexpr std::int64_t enough = 200;

  void add(Job const& job, Size const& size);
  void add(Forecaster const& other);

  /// The largest sizes that jobs of the partition had.
  Size const& largest() const { return largest_; }

  /// The size asked for of which no job had even half, in words with the largest that there was:
  /// "100000 cores, where the largest job had 128"; nothing if there is none. Waits of smaller jobs
  /// say nothing of such a one.
  std::optional<std::string> beyond(Size const& size) const;

  struct Forecast {
    std::int64_t jobs = 0;  ///< that it is made from
    std::size_t likeness = 0;
    double median = 0;
    double low = 0;
    double high = 0;
    std::int64_t held_out = 0;         ///< jobs that it was tried on
    std::int64_t held_out_inside = 0;  ///< of these, those that waited within their interval
  };

  /// \param probability  of the interval, from 0.5 to 0.99
  /// \returns            nothing if there are too few jobs for such an interval: fewer than 2 / (1
  ///   - P)
  std::optional<Forecast> forecast(double probability) const;

 private:
  struct Waits {
    WaitHistogram seen;
    WaitHistogram held_out;
  };
  std::array<Waits, likeness.size()> waits_;
  Size largest_;
};

/// Whether jobs of this day are held out.
inline bool is_held_out(Seconds moment) { return moment / 86400 % 5 == 4; }

}  // namespace coir::apps::queue
