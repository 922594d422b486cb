#pragma once

/// Statistics that are gathered row by row: waits by partition, size and hour, in memory that
/// doesn't grow with the rows.

#include "broken_rows.hpp"
#include "classes.hpp"
#include "columns.hpp"
#include "forecast.hpp"
#include "job.hpp"
#include "settings.hpp"
#include "wait_histogram.hpp"

#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace coir::apps::queue {

/// The waits of a partition.
struct PartitionWaits {
  WaitHistogram all;
  std::array<std::int64_t, spans.size()> within =
      {};  ///< how many waited at most each of the spans
  /// For each property, of each class. Empty until something is counted.
  std::array<std::vector<WaitHistogram>, property_count> by;
  std::int64_t running = 0;
  std::int64_t pending = 0;
  std::int64_t never_started = 0;
  Forecaster forecaster;

  void add(PartitionWaits const& other);
};

/// Rows by what they are.
struct Counts {
  std::int64_t rows = 0;  ///< all, without headings and empty lines
  std::int64_t steps = 0;
  std::int64_t components = 0;
  std::int64_t left_out = 0;  ///< jobs that the filters don't let through
  std::int64_t pending = 0;
  std::int64_t never_started = 0;
  std::int64_t started = 0;

  void add(Counts const& other);
};

/// Everything that one thread counts; those of several are added up.
class Statistics {
 public:
  /// A column of more names than this doesn't hold partitions.
  static constexpr std::size_t most_partitions = 500;

  explicit Statistics(QueueSettings const& settings);

  /// \param text        whole lines, the last one's end may be missing
  /// \param file        which of the inputs, from 0
  /// \param first_line  the number of the first line
  /// \throws InputError if there are too many partitions
  void read(std::string_view text, Columns const& columns, std::int64_t file,
            std::int64_t first_line);

  /// Counts a line that read() doesn't get: one that is too long or has no end.
  void add_broken(Flaw flaw, std::int64_t file, std::int64_t line, std::string_view text);

  /// Takes in what another thread has counted.
  void add(Statistics const& other);

  /// One name: that of the partition, or "cluster/partition" if a text has a column of clusters.
  using Partitions = std::unordered_map<std::string, PartitionWaits>;
  Partitions const& partitions() const { return partitions_; }
  Properties const& properties() const { return properties_; }
  Counts const& counts() const { return counts_; }
  BrokenRows const& broken() const { return broken_; }
  Seconds first_submit() const { return first_submit_; }
  Seconds last_submit() const { return last_submit_; }
  /// Whether one of the texts has it.
  bool had_column(Column column) const { return had_[static_cast<std::size_t>(column)]; }

 private:
  void read_line(std::string_view line, Columns const& columns, std::int64_t file,
                 std::int64_t number);
  PartitionWaits& partition_of(Row const& row);
  bool passes(Row const& row) const;

  QueueSettings const& settings_;
  Properties properties_;
  Partitions partitions_;
  Counts counts_;
  BrokenRows broken_;
  std::array<bool, column_count> had_ = {};
  Seconds first_submit_ = std::numeric_limits<Seconds>::max();
  Seconds last_submit_ = std::numeric_limits<Seconds>::min();

  // The partition of the last row, which most often is that of the next.
  std::string last_name_;
  std::string name_;
  PartitionWaits* last_ = nullptr;
};

}  // namespace coir::apps::queue
