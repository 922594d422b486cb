#pragma once

#include <coir/core/buffers.hpp>
#include <coir/core/contiguous.hpp>
#include <coir/core/shape.hpp>
#include <coir/distributed/group.hpp>
#include <coir/distributed/share.hpp>
#include <coir/io/npy.hpp>
#include <coir/nbody/simulation.hpp>

#include <support/on_all.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>

namespace coir::apps::nbody {

/// What the first of several ranks gathers a mesh in.
template <class T>
struct GatheredMesh {
  Kokkos::View<T***, Kokkos::LayoutRight, Kokkos::HostSpace> cells;
  Kokkos::View<T*, Kokkos::HostSpace> numbers;  ///< of a plane, with the gaps between its rows

  /// \param plane  numbers from one plane to the next
  Buffers list(Shape<3> const& shape, std::int64_t plane) {
    Buffers all;
    all.add(cells, "coir::apps::nbody::density", shape[0], shape[1], shape[2]);
    all.add(numbers, "coir::apps::nbody::numbers", plane);
    return all;
  }
  /// What this rank needs for the density of side^3 cells.
  Buffers list(distributed::Group const& ranks, std::int64_t side) {
    if (ranks.size() == 1 || !ranks.is_first()) return {};
    return list({side, side, side}, side * 2 * (side / 2 + 1));
  }
};

/// Gathers on the first rank a mesh that ranks share by planes, plane by plane. Collective.
///
/// \param own    the first of this rank's planes, each `plane` numbers behind the one before, their
///   rows `row` numbers
/// \param shape  of all planes
/// \return  (n_0, n_1, n_2) on the first rank, else empty
template <class Exec, class T>
auto gather_planes(Exec const& exec, distributed::Group const& ranks, T const* own,
                   std::int64_t plane, std::int64_t row, Shape<3> const& shape) {
  using Space = typename Exec::memory_space;
  auto const mine = distributed::share_of(shape[0], ranks.rank(), ranks.size());
  std::int64_t const bytes = plane * static_cast<std::int64_t>(sizeof(T));
  GatheredMesh<T> all;
  Kokkos::View<T*, Space> received;
  on_first(ranks, [&] {
    all.list(shape, plane).template make<Kokkos::HostSpace>("the numbers of all ranks");
    received = Kokkos::View<T*, Space>("coir::apps::nbody::plane", static_cast<std::size_t>(plane));
  });
  for (std::int64_t i = 0; i < shape[0]; ++i) {
    int const owner = distributed::owner_of(i, shape[0], ranks.size());
    bool const is_mine = owner == ranks.rank();
    std::array const send{
        distributed::Send{0, is_mine ? own + (i - mine.first) * plane : nullptr, bytes}};
    std::array const receive{distributed::Receive{owner, received.data(), bytes}};
    ranks.exchange(exec, "nbody/density", std::span(send).first(is_mine ? 1 : 0),
                   std::span(receive).first(ranks.is_first() ? 1 : 0));
    if (!ranks.is_first()) continue;
    copy_bytes<Kokkos::HostSpace, Space>(exec, all.numbers.data(), received.data(), bytes);
    exec.fence();
    for (std::int64_t j = 0; j < shape[1]; ++j)
      std::copy_n(all.numbers.data() + j * row, shape[2],
                  all.cells.data() + (i * shape[1] + j) * shape[2]);
  }
  return all.cells;
}

/// Writes the density of a simulation's particles on the mesh of its forces, over its mean, painted
/// as for the forces: NPY, (M, M, M). Collective.
///
/// \throws ResourceError if the file can't be written
template <class Exec, class T>
void write_density(Exec const& exec, distributed::Group const& ranks,
                   coir::nbody::Simulation<Exec, T>& simulation,
                   std::filesystem::path const& path) {
  simulation.paint_density();
  auto& force = simulation.force();
  auto const density = force.density();
  exec.fence();
  if (ranks.size() == 1) return io::write_npy(path, density);
  auto const plane = static_cast<std::int64_t>(density.stride(0));
  auto const all =
      gather_planes<Exec, T>(exec, ranks, density.data() + force.ghosts().widths().below * plane,
                             plane, static_cast<std::int64_t>(density.stride(1)), force.shape());
  on_first(ranks, [&] { io::write_npy(path, all); });
}

}  // namespace coir::apps::nbody
