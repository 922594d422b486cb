#pragma once

#include "count.hpp"
#include "settings.hpp"
#include "statistics.hpp"

#include <support/report.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace coir::apps::queue {

/// A partition that has waits to show.
struct Shown {
  std::string name;  ///< without the cluster, if there is only one
  PartitionWaits const* waits;
};

/// The time and input of a run, and its host.
struct QueueFigures {
  double seconds = 0;
  std::int64_t bytes = 0;
  HostFacts host{};
};

/// The partitions to show, those with the most jobs first.
std::vector<Shown> shown_partitions(Statistics const& statistics);

/// All the names there are, in their order, without the cluster if there is only one.
std::vector<std::string> partition_names(Statistics const& statistics);

/// The tables, the forecast if it was asked for, and what was broken.
std::string text_of(Statistics const& statistics, QueueSettings const& settings);

/// The report, as --report writes it.
Report queue_report(Statistics const& statistics, QueueSettings const& settings,
                    QueueFigures const& figures);

/// As SVG: the distributions of waits of the partitions with the most jobs, one below the other, as
/// bars over an axis of time on which equal steps are equal factors. Their heights are shares of
/// the partition's highest. Below them are the intervals and medians of a forecast, if one is asked
/// for, and the median wait by the hour of submission as colours.
std::string picture_of(Statistics const& statistics, QueueSettings const& settings);

/// The forecast for the job that is asked for; nothing if there are too few jobs, or none nearly as
/// large.
std::optional<Forecaster::Forecast> forecast_of(PartitionWaits const& waits,
                                                QueueSettings const& settings);

/// The job that a forecast is for: "16 cores, 2 GPUs"; "any size" if nothing is asked for.
std::string size_text(Size const& size);

/// A wait as people say it: "45 s", "12 min", "3.4 h", "2.1 d"; "-" for NaN.
std::string wait_text(double seconds);

/// "2025-01-31T12:00:00"
std::string moment_text(Seconds moment);

}  // namespace coir::apps::queue
