#pragma once

/// \file
/// Grids of ranks that share a field of three axes.

#include <coir/distributed/group.hpp>

namespace coir::fft {

/// How ranks share a field: rank r has row r / columns and column r % columns of a grid. One row is slabs, several are
/// pencils.
struct RankGrid {
  int rows = 1;
  int columns = 0;  ///< 0: as many as there are ranks for each row
};

namespace detail {

/// The grid with its number of columns. Collective.
///
/// \throws PreconditionError on every rank unless all give the same grid, of as many ranks as the group has
RankGrid grid_of(distributed::Group const& group, RankGrid grid);

}  // namespace detail

}  // namespace coir::fft
