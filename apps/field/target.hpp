#pragma once

/// The density that is to come about, from a file.

#include "settings.hpp"

#include <coir/core/shape.hpp>
#include <coir/distributed/group.hpp>
#include <coir/distributed/share.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace coir::apps::field {

/// Matter over its mean, in the cells of a cube or in columns along the third axis.
struct Target {
  using Cells = Kokkos::View<double***, Kokkos::LayoutRight, Kokkos::HostSpace>;

  /// (m, m, m), or (m, m, 1) for columns, the first axis being a picture's rows; their mean is 1.
  /// Over ranks this rank's planes of the first axis: see own_planes().
  Cells cells{};
  std::string content{};  ///< of the file: "a density of 64^3 cells"
  bool is_even = false;   ///< whether all cells hold the same

  std::int64_t side() const { return shape()[1]; }
  /// That of all planes.
  Shape<3> shape() const {
    auto const m = static_cast<std::int64_t>(cells.extent(1));
    return {m, m, static_cast<std::int64_t>(cells.extent(2))};
  }
  distributed::Share planes(distributed::Group const& group) const {
    return distributed::share_of(side(), group.rank(), group.size());
  }
  bool is_projection() const { return cells.extent(2) == 1 && cells.extent(1) != 1; }
};

/// A target that was read whole, with the planes of a rank alone.
Target own_planes(Target const& whole, distributed::Group const& group);

/// Reads a target, told apart by its first bytes: an array of a density, (m, m, m) or projected (m,
/// m), or a picture, whose brightness b from 0 to 1 stands for a projected density in proportion to
/// contrast^b. Of a picture the square in its middle counts. Arrays (m, m) and pictures of more
/// columns than `side` are averaged.
///
/// \param side   particles along a side; a cell holds one of them or more on average
/// \param finer  whether a cube may have more cells along a side than `side`: a gradient can
///   compare particles with such a cube, but no universe can grow into it
/// \throws InputError if it can't be read, has another shape, values that aren't finite or a mean
///   that isn't 1
Target read_target(std::filesystem::path const& path, std::int64_t side, double contrast,
                   bool finer = false);

/// A square of rows * rows values averaged over side * side equal parts of it, which may cut
/// values.
///
/// \param values  rows after rows; rows >= side
std::vector<double> averaged(std::vector<double> const& values, std::int64_t rows,
                             std::int64_t side);

}  // namespace coir::apps::field
