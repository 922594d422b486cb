#pragma once

/// \file
/// What this application takes from headers that include Kokkos: its other sources, but the one that counts, do without
/// (coir_plain_sources).

#include <coir/io/rgb_image.hpp>

#include <filesystem>
#include <string>

namespace coir::apps::queue {

/// What counts, as reports name it.
struct HostFacts {
  int threads = 0;
  std::string kokkos_version;
};

HostFacts this_host();

/// Writes a PNG file, as io::write_png.
void write_picture(std::filesystem::path const& path, io::RgbImage const& image);

}  // namespace coir::apps::queue
