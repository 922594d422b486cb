#pragma once

/// \file
/// The analysis of a comparison: rows side by side, shares of limits, sizes at which one overtakes the other.

#include "comparison.hpp"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace coir::apps::compare {

/// A build on a machine; the first one is what others are compared with.
struct Contestant {
  Machine const* machine;
  Build const* build;
  std::string label;  ///< "openmp", or "laptop: openmp" where there are several machines
};

/// A row beside the limit of its machine.
struct Point {
  Row const* row;
  std::optional<double> limit_seconds;  ///< that the bytes take at the limit
  std::optional<double> share() const {
    return limit_seconds ? std::optional(*limit_seconds / row->seconds) : std::nullopt;
  }
};

/// One size of a work, with a point for each contestant that has it.
struct SizeLine {
  std::string size_text;
  double size;
  std::vector<std::optional<Point>> points;
};

/// From which size on a contestant is faster than the first one.
struct Overtaking {
  enum Kind {
    unknown,  ///< no size was measured on both
    always,   ///< at every size measured
    never,
    from,   ///< from `size` on, up to the largest
    until,  ///< it is faster up to `size` alone
  };
  Kind kind = unknown;
  double size = 0;
};

/// A work, its sizes in rising order.
struct Panel {
  WorkInfo const* work;
  std::vector<SizeLine> lines;
  std::vector<Overtaking> overtakings;  ///< one for each contestant, `unknown` for the first
};

/// All of it. Refers to the comparison, which must live longer.
struct Analysis {
  std::vector<Contestant> contestants;
  std::vector<Panel> panels;       ///< of works with rows
  std::vector<std::string> notes;  ///< how the machines' sets differ, a sentence each
};

Analysis analyse(Comparison const& comparison);

/// Size and seconds.
using Curve = std::vector<std::pair<double, double>>;

/// Where `other` overtakes `first`: at the last size where their times cross, on straight lines between the sizes
/// measured in logarithms of size and time. Sizes that only one has are left out.
Overtaking overtaking(Curve const& first, Curve const& other);

/// How many times as fast a point is as that of the first contestant, where both are there.
std::optional<double> speed_up(SizeLine const& line, std::size_t contestant);

}  // namespace coir::apps::compare
