#pragma once

#include "settings.hpp"
#include "statistics.hpp"

#include <string>

namespace coir::apps::queue {

/// As SVG: the distributions of waits of the partitions with the most jobs, one below the other: bars over an axis of time on which
/// equal steps are equal factors, their heights as shares of the partition's highest. Below them the median wait by the hour
/// of submission as colours. Where a forecast is asked for, its interval and median come between the two, a bar a partition.
std::string picture_of(Statistics const& statistics, QueueSettings const& settings);

}  // namespace coir::apps::queue
