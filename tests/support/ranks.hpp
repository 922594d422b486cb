#pragma once

#include <coir/distributed/group.hpp>

namespace coir::testing {

/// All ranks of a test that coir_add_ranks_test added.
distributed::Group world();

}  // namespace coir::testing
