#include "host.hpp"

#include <coir/core/kokkos.hpp>
#include <coir/core/machine.hpp>
#include <coir/io/png.hpp>

namespace coir::apps::queue {

HostFacts this_host() {
  return {host_threads(Kokkos::DefaultHostExecutionSpace{}), kokkos_version()};
}

void write_picture(std::filesystem::path const& path, io::RgbImage const& image) {
  io::write_png(path, image);
}

}  // namespace coir::apps::queue
