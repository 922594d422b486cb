#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

namespace coir::apps::compare {

/// The mean power while each row of a program ran, by a counter of joules.
class PowerMeter {
 public:
  /// \param joules  reads the counter; none where there is no counter
  explicit PowerMeter(std::function<std::optional<double>()> joules) : joules_(std::move(joules)) {}

  /// The first row begins now.
  void begin() { last_ = now(); }
  bool has_begun() const { return last_.has_value(); }

  /// So many more rows have ended since begin(), or since the last call. A row of less than a fifth
  /// of a second has no power: counters of devices are brought up to date some ten times a second.
  void rows_ended(std::size_t count) {
    if (count == 0 || !last_) return;
    Reading const before = *last_, after = now();
    last_ = after;
    double const seconds = std::chrono::duration<double>(after.time - before.time).count();
    constexpr double least = 0.2;
    bool const tells = count == 1 && seconds >= least && before.joules && after.joules;
    watts_.insert(watts_.end(), count, std::nullopt);
    if (tells) watts_.back() = (*after.joules - *before.joules) / seconds;
  }

  /// The mean power during the row that ended after `row` others; none without a counter.
  std::optional<double> watts(std::size_t row) const {
    return row < watts_.size() ? watts_[row] : std::nullopt;
  }

 private:
  struct Reading {
    std::chrono::steady_clock::time_point time;
    std::optional<double> joules;
  };
  Reading now() const { return {std::chrono::steady_clock::now(), joules_()}; }

  std::function<std::optional<double>()> joules_;
  std::optional<Reading> last_;
  std::vector<std::optional<double>> watts_;
};

}  // namespace coir::apps::compare
