#pragma once

/// The analysis of a comparison: rows side by side, shares of limits, sizes at which one overtakes
/// the other.

#include "comparison.hpp"

#include <optional>
#include <string>
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
  /// Seconds that the bytes take at the limit, the median over the rounds.
  std::optional<double> limit_seconds;
  /// The median over the rounds of limit_seconds by seconds. At most 1, unless the bytes stay in a
  /// cache.
  std::optional<double> share;
  /// Whether the bytes stay in a cache, in part at least: the limits of memory are none for them.
  bool in_cache = false;
  /// How many times as fast as the limit that was measured beside it the row was, where that is
  /// more than 1 and its bytes don't stay in a cache: memory is faster than was measured, and the
  /// row is its own limit.
  double beyond = 1;
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
    from,     ///< from somewhere between `low` and `high` on, up to the largest
    until,    ///< it is faster up to somewhere between `low` and `high` alone
    unclear,  ///< rounds differ about who is faster from `low` to `high`
    once,     ///< measured in one round, which tells nothing of its own noise
  };
  Kind kind = unknown;
  double low = 0, high = 0;
  /// Whether it is the faster one beyond `high`, where that is unclear; none if there is nothing
  /// beyond.
  std::optional<bool> is_ahead = {};
};

/// A work, its sizes in rising order.
struct Panel {
  WorkInfo const* work;
  std::vector<SizeLine> lines;
  std::vector<Overtaking> overtakings;  ///< one for each contestant, `unknown` for the first
};

/// How far rounds agree.
struct Noise {
  std::size_t rows = 0;      ///< of several rounds
  std::size_t restless = 0;  ///< rows whose rounds differ by more than most_spread
  double typical = 1;        ///< the median of all spreads
  Row const* worst = nullptr;
  double worst_spread = 1;
};

/// The whole analysis. It refers to the comparison, which must live longer.
struct Analysis {
  std::vector<Contestant> contestants;
  std::vector<Panel> panels;       ///< of works with rows
  std::vector<std::string> notes;  ///< how the machines' sets differ, a sentence each
  Noise noise;
};

/// The slowest round by the fastest, above which the machine counts as busy with other things.
inline constexpr double most_spread = 1.3;

Analysis analyse(Comparison const& comparison);

/// A size, and the seconds of each round.
struct CurvePoint {
  double size;
  std::vector<double> rounds;
};
using Curve = std::vector<CurvePoint>;

/// Where `other` overtakes `first`: between the last two sizes at which all rounds agree, and don't
/// agree with each other, on who is faster. Sizes that only one has are left out.
///
/// \param in_turns  whether round n of the one was measured beside round n of the other: they are
///   compared in pairs then, and otherwise all of the one with all of the other
Overtaking overtaking(Curve const& first, Curve const& other, bool in_turns);

/// The slowest round by the fastest; 1 of a single one.
double spread_of(Row const& row);

/// How many times as fast a point is as that of the first contestant, where both are there.
std::optional<double> speed_up(SizeLine const& line, std::size_t contestant);

}  // namespace coir::apps::compare
