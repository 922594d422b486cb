#pragma once

/// Waits in bins whose widths grow with them, so that quantiles take one pass and little memory.

#include <cstdint>
#include <limits>
#include <vector>

namespace coir::apps::queue {

/// Counts waits of whole seconds.
///
/// Seconds below 32 have bins of their own. From there each octave [2^e, 2^(e+1)) has 32 bins of
/// equal width w = 2^(e-5), the last octave begins at 2^34 s = 544 years, and longer waits count as
/// the longest of it. A quantile is known to be in a bin [b, b + w - 1] of whole seconds, of which
/// the middle is given: it is off by at most (w - 1) / 2, and as b >= 2^e = 32 w,
///
///   |given - exact| / exact <= (w - 1) / (2 b) < 1/64 = 1.6 %
///
/// and below 64 s, where w = 1, by nothing. A histogram has bins up to that of the longest wait,
/// which take at most 8 KiB. Sums are of integers, so that they don't depend on the order.
class WaitHistogram {
 public:
  static constexpr int bins_per_octave = 32;
  static constexpr int octaves = 31;  // that of 0 to 31 s, and those from 2^5 to 2^34
  static constexpr int bins = bins_per_octave * octaves;
  static constexpr double relative_error = 1.0 / 64;

  /// \param seconds  at least 0
  void add(std::int64_t seconds);

  void add(WaitHistogram const& other);

  std::int64_t count() const { return count_; }
  std::int64_t shortest() const { return shortest_; }  ///< exact; of an empty one nothing sensible
  std::int64_t longest() const { return longest_; }    ///< exact; 0 of an empty one
  double mean() const;                                 ///< exact; NaN of an empty one

  /// The wait that is the ceil(q n)-th of n in their order, the first for q = 0; within
  /// relative_error of the exact one.
  ///
  /// \param q  from 0 to 1
  /// \returns  NaN of an empty one
  double quantile(double q) const;

  /// The bin of the wait that is the `rank`-th in their order.
  ///
  /// \param rank  from 1 to count()
  int bin_of_rank(std::int64_t rank) const;

  /// How many are in the bins from `first` to `last`.
  std::int64_t count_in(int first, int last) const;
  std::int64_t count_of(int bin) const { return count_in(bin, bin); }

  static int bin_of(std::int64_t seconds);
  static std::int64_t first_second(int bin);
  static std::int64_t last_second(int bin) { return first_second(bin + 1) - 1; }

 private:
  std::vector<std::int64_t> bins_;  // up to the last one that isn't empty
  std::int64_t count_ = 0;
  std::int64_t sum_ = 0;
  std::int64_t shortest_ = std::numeric_limits<std::int64_t>::max();
  std::int64_t longest_ = 0;
};

}  // namespace coir::apps::queue
