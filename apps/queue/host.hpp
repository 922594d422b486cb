#pragma once

/// \file
/// Functions that need headers which include Kokkos. Sources that do without them are compiled faster (coir_plain_sources).

#include <coir/io/rgb_image.hpp>

#include <filesystem>
#include <string>

namespace coir::apps::queue {

/// The facts of a host that reports name.
struct HostFacts {
  int threads = 0;
  std::string kokkos_version;
};

HostFacts this_host();

/// Writes a PNG file, as io::write_png.
void write_picture(std::filesystem::path const& path, io::RgbImage const& image);

}  // namespace coir::apps::queue
