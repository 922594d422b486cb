#include "snapshot_reader.hpp"

#include <string>
#include <system_error>

namespace coir::apps::nbody {

namespace fs = std::filesystem;

namespace {

/// The file of a number beside one that has a number: "web/snapshot.3.hdf5", 0 ->
/// "web/snapshot.0.hdf5".
fs::path part_beside(fs::path const& file, int number) {
  return file.parent_path() /
         (file.stem().stem().string() + "." + std::to_string(number) + file.extension().string());
}

}  // namespace

Snapshot find_snapshot(fs::path const& path) {
  std::error_code none;
  fs::path const of_many =
      path.parent_path() / (path.stem().string() + ".0" + path.extension().string());
  fs::path const first = !fs::exists(path, none) && fs::exists(of_many, none) ? of_many : path;
  auto const header = hdf5::read_gadget_header(first);
  Snapshot snapshot;
  snapshot.path = path;
  snapshot.name = (header.files == 1 ? first.stem() : first.stem().stem()).string();
  snapshot.to_mpc = header.length == hdf5::GadgetLength::kpc_per_h ? 1e-3 : 1;
  snapshot.box = header.box * snapshot.to_mpc;
  snapshot.a = header.scale_factor;
  snapshot.omega_m = header.omega_m;
  snapshot.omega_lambda = header.omega_lambda;
  snapshot.hubble = header.hubble;
  snapshot.particles = header.files == 1 ? header.particles : header.particles_total;
  if (!(snapshot.box > 0 && std::isfinite(snapshot.box)) || snapshot.particles < 1)
    throw InputError(first.string() + ": BoxSize must be above 0, and is " + in_words(header.box) +
                     ", and there must be particles of type 1 (there are " +
                     std::to_string(snapshot.particles) + "): it is no snapshot of dark matter");
  if (header.files == 1) {
    snapshot.files = {first};
    return snapshot;
  }
  for (int n = 0; n < header.files; ++n) {
    fs::path const file = part_beside(first, n);
    if (!fs::exists(file, none))
      throw InputError(file.string() + " is missing, one of the " + std::to_string(header.files) +
                       " files of " + path.string() + ": copy all of them together");
    auto const other = hdf5::read_gadget_header(file);
    if (other.files != header.files || other.particles_total != header.particles_total ||
        other.box != header.box || other.scale_factor != header.scale_factor)
      throw InputError(file.string() + " belongs to another snapshot than " + first.string() +
                       ": its header differs");
    snapshot.files.push_back(file);
  }
  return snapshot;
}

}  // namespace coir::apps::nbody
