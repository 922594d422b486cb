// Reading a mesh of numbers, or of vectors in one pass, where particles are.
//
// Counted are the bytes of the positions and of what is read for them, and those of the mesh once.

#include "particles.hpp"

#include <coir/mesh/readout.hpp>

namespace coir::bench {

namespace {

template <class Mesh, class Values>
void read(benchmark::State& state, Size const& size, Layout layout, mesh::Assignment assignment,
          Mesh const& mesh, Values const& values) {
  Space const exec;
  Positions const positions = kept_positions(exec, size.side, layout);
  time_pass(state, exec, size, double(mesh.size() + values.size()),
            [&] { mesh::readout(exec, positions, double(size.side), mesh, values, assignment); });
}

void numbers(benchmark::State& state, Size const& size, Layout layout,
             mesh::Assignment assignment) {
  if (!fits(state, bytes_of(Space{}, size, layout, 1, 4))) return;
  std::int64_t const n = size.cells();
  Mesh const mesh("mesh", n, n, n);
  Kokkos::deep_copy(mesh, Real(1));
  Numbers const values("values", static_cast<std::size_t>(size.count()));
  read(state, size, layout, assignment, mesh, values);
}

void vectors(benchmark::State& state, Size const& size, Layout layout,
             mesh::Assignment assignment) {
  if (!fits(state, bytes_of(Space{}, size, layout, 3, 6))) return;
  std::int64_t const n = size.cells();
  MeshOfVectors const mesh("mesh", n, n, n, 3);
  Kokkos::deep_copy(mesh, Real(1));
  Positions const values("values", static_cast<std::size_t>(size.count()));
  read(state, size, layout, assignment, mesh, values);
}

using Benchmark = void (*)(benchmark::State&, Size const&, Layout, mesh::Assignment);

void add(char const* what, Benchmark function, Size const& size, Layout layout,
         mesh::Assignment assignment) {
  std::string const name = std::string(what) + "," + std::string(mesh::name_of(assignment)) + "," +
                           name_of(layout) + size.name();
  benchmark::RegisterBenchmark(
      name.c_str(), [=](benchmark::State& state) { function(state, size, layout, assignment); })
      ->UseManualTime()
      ->Unit(benchmark::kMillisecond);
}

bool add_all() {
  for (Size const& size : sizes)
    for (Layout const layout : layouts)
      for (auto const assignment : assignments) {
        add("numbers", numbers, size, layout, assignment);
        add("vectors", vectors, size, layout, assignment);
      }
  return true;
}

[[maybe_unused]] bool const added = add_all();

}  // namespace

}  // namespace coir::bench
