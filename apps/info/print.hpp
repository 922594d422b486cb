#pragma once

#include <support/backend.hpp>
#include <support/exit_codes.hpp>

namespace coir::distributed {
class Group;
}

namespace coir::apps {

/// Prints what this build, the machine and its ranks are. Collective: the first rank prints.
///
/// \param measure  whether to measure what they can do at best, too
/// \param json     for programs
/// \throws Failure if the user stops the program
/// \throws what distributed::expects_alike does if ranks differ in what they are to do
ExitCode print_description(Place place, distributed::Group const& world, bool measure, bool json);

}  // namespace coir::apps
