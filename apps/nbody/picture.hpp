#pragma once

#include <filesystem>
#include <span>

namespace coir::apps::nbody {

/// Writes a PNG picture of densities: colours of their logarithm. The darkest is where 1 % of the
/// pixels lie below, the lightest where 0.1 % lie above. Takes no memory beside a row's.
///
/// \param density  [side * side] in; 0 and above
/// \param scratch  [side * side] out; holds nothing of use afterwards
/// \throws ResourceError if it can't be written
void write_picture_of(std::filesystem::path const& path, int side, std::span<float const> density,
                      std::span<float> scratch);

}  // namespace coir::apps::nbody
