// Painting: by the order of the particles, the assignment, and how the work is shared.
//
// Counted are the bytes of the positions, and those of the mesh once.

#include "particles.hpp"

#include <coir/mesh/paint.hpp>

namespace coir::bench {

namespace {

void paint(benchmark::State& state, Size const& size, Layout layout,
           mesh::PaintOptions const& options) {
  Space const exec;
  // Private meshes are one for each thread.
  int const meshes =
      options.scheme == mesh::PaintScheme::private_meshes ? 1 + host_threads(exec) : 2;
  if (!fits(state, bytes_of(exec, size, layout, meshes, 3))) return;
  Positions const positions = kept_positions(exec, size.side, layout);
  std::int64_t const n = size.cells();
  Mesh const mesh("mesh", n, n, n);
  time_pass(state, exec, size, double(mesh.size()),
            [&] { mesh::paint(exec, positions, double(size.side), mesh, options); });
}

void add(Size const& size, Layout layout, mesh::PaintOptions const& options) {
  std::string name(mesh::name_of(options.assignment));
  if (options.deterministic) name += ",deterministic";
  if (options.scheme != mesh::PaintScheme::automatic)
    name += "," + std::string(mesh::name_of(options.scheme));
  name += "," + std::string(name_of(layout)) + size.name();
  benchmark::RegisterBenchmark(
      name.c_str(), [=](benchmark::State& state) { paint(state, size, layout, options); })
      ->UseManualTime()
      ->Unit(benchmark::kMillisecond);
}

bool add_all() {
  for (Size const& size : sizes)
    for (Layout const layout : layouts) {
      for (auto const assignment : assignments)
        for (bool const deterministic : {false, true})
          add(size, layout, {.assignment = assignment, .deterministic = deterministic});
      if constexpr (runs_on_host<Space>)
        add(size, layout, {.scheme = mesh::PaintScheme::private_meshes});
    }
  return true;
}

[[maybe_unused]] bool const added = add_all();

}  // namespace

}  // namespace coir::bench
