#pragma once

/// \file
/// Grids of ranks that share a field of three axes.

#include <coir/distributed/group.hpp>

namespace coir::fft {

/// How ranks share a field: rank r has row r / columns and column r % columns of a grid. One row
/// means slabs, several rows mean pencils.
struct RankGrid {
  int rows = 1;
  int columns = 0;  ///< 0: the number of ranks over `rows`
};

namespace detail {

/// The grid with its number of columns. Collective.
///
/// \throws PreconditionError on every rank unless all give the same grid, with all ranks of the
///   group
RankGrid grid_of(distributed::Group const& group, RankGrid grid);

}  // namespace detail

}  // namespace coir::fft
