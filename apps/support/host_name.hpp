#pragma once

#include <string>

namespace coir::apps {

/// The machine's name in its network; "machine" if it has none.
std::string host_name();

}  // namespace coir::apps
