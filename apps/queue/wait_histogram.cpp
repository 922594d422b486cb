#include "wait_histogram.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace coir::apps::queue {

namespace {
constexpr int bits = std::countr_zero(static_cast<unsigned>(WaitHistogram::bins_per_octave));
}

int WaitHistogram::bin_of(std::int64_t seconds) {
  if (seconds < bins_per_octave) return static_cast<int>(seconds);
  auto const octave = static_cast<int>(std::bit_width(static_cast<std::uint64_t>(seconds))) - bits;
  if (octave >= octaves) return bins - 1;
  // The leading bit is the octave's; the five behind it count the bins.
  auto const within = static_cast<int>(seconds >> (octave - 1)) - bins_per_octave;
  return octave * bins_per_octave + within;
}

std::int64_t WaitHistogram::first_second(int bin) {
  int const octave = bin / bins_per_octave, within = bin % bins_per_octave;
  if (octave == 0) return within;
  return static_cast<std::int64_t>(bins_per_octave + within) << (octave - 1);
}

void WaitHistogram::add(std::int64_t seconds) {
  auto const bin = static_cast<std::size_t>(bin_of(seconds));
  if (bin >= bins_.size()) bins_.resize(bin + 1);
  ++bins_[bin];
  ++count_;
  sum_ += seconds;
  shortest_ = std::min(shortest_, seconds);
  longest_ = std::max(longest_, seconds);
}

void WaitHistogram::add(WaitHistogram const& other) {
  if (bins_.size() < other.bins_.size()) bins_.resize(other.bins_.size());
  for (std::size_t bin = 0; bin < other.bins_.size(); ++bin) bins_[bin] += other.bins_[bin];
  count_ += other.count_;
  sum_ += other.sum_;
  shortest_ = std::min(shortest_, other.shortest_);
  longest_ = std::max(longest_, other.longest_);
}

double WaitHistogram::mean() const {
  return count_ == 0 ? std::numeric_limits<double>::quiet_NaN()
                     : static_cast<double>(sum_) / static_cast<double>(count_);
}

int WaitHistogram::bin_of_rank(std::int64_t rank) const {
  int bin = 0;
  for (std::int64_t before = bins_[0]; before < rank;)
    before += bins_[static_cast<std::size_t>(++bin)];
  return bin;
}

double WaitHistogram::quantile(double q) const {
  if (count_ == 0) return std::numeric_limits<double>::quiet_NaN();
  constexpr double below_one = 1 - 4 * std::numeric_limits<double>::epsilon();
  auto const rank =  // 0.07 * 100 is a little above 7
      static_cast<std::int64_t>(std::ceil(q * static_cast<double>(count_) * below_one));
  int const bin = bin_of_rank(std::clamp<std::int64_t>(rank, 1, count_));
  double const middle = 0.5 * static_cast<double>(first_second(bin) + last_second(bin));
  return std::clamp(middle, static_cast<double>(shortest_), static_cast<double>(longest_));
}

std::int64_t WaitHistogram::count_in(int first, int last) const {
  std::int64_t count = 0;
  for (auto bin = static_cast<std::size_t>(first);
       bin < bins_.size() && bin <= static_cast<std::size_t>(last); ++bin)
    count += bins_[bin];
  return count;
}

}  // namespace coir::apps::queue
