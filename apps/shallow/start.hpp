#pragma once

/// States that a run may begin with, and topographies from files.

#include "settings.hpp"

#include <coir/distributed/share.hpp>

#include <vector>

namespace coir::apps::shallow {

/// Numbers of a rank's rows, row by row.
using Table = std::vector<double>;

struct StartState {
  Table h, u, v;
};

/// The height of the bottom on all rows: the first one is the south. Pictures have the north on
/// top, black at 0 and white at --relief; NPY files hold metres.
///
/// \throws InputError unless the file has the model's rows and columns, and is finite
Table topography_of(Settings const& settings);

/// The start of these rows.
///
/// \param bottom  on all rows; empty: flat
/// \throws InputError naming the cell where the bottom stands above the surface
StartState start_of(Settings const& settings, distributed::Share const& rows, Table const& bottom);

}  // namespace coir::apps::shallow
