#pragma once

#include <coir/io/rgb_image.hpp>

#include <span>

namespace coir::apps::nbody {

/// A picture of densities: colours of their logarithm. The darkest is where 1 % of the pixels lie below, the lightest
/// where 0.1 % lie above.
///
/// \param density  [side * side] in; 0 and above
io::RgbImage picture_of(int side, std::span<float const> density);

}  // namespace coir::apps::nbody
