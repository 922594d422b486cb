// 128^3 particles, displaced as today from the lattice whose order they have: sorted by the mesh with their momenta and numbers,
// and painted on a mesh of 128^3 cells by cloud-in-cell. bench/peers/weighed/CMakeLists.txt builds it; it stands here because
// the sorter is nbody's own.

#include <peers/weighed/in_turns.hpp>

#include <coir/cosmology/parameters.hpp>
#include <coir/cosmology/power.hpp>
#include <coir/mesh/paint.hpp>
#include <coir/nbody/detail/particle_sorter.hpp>
#include <coir/nbody/initial_conditions.hpp>

#include <Cabana_Core.hpp>
#include <Cabana_Grid.hpp>

#include <mpi.h>

#include <array>
#include <cstdint>
#include <cstdlib>

using Exec = Kokkos::DefaultHostExecutionSpace;
using Memory = Kokkos::HostSpace;
using Particles = coir::nbody::Particles<Exec, float>;
using Vectors = Particles::Vectors;
using Numbers =
    Kokkos::View<std::uint32_t* [1], Kokkos::LayoutRight, Memory>;  // Cabana wants rank 2

constexpr std::int64_t side = 128, count = side * side * side;

void sort(Particles const& start) {
  Exec const exec;
  Particles ours{side, double(side), Vectors("position", count), Vectors("momentum", count)};
  coir::nbody::detail::ParticleState order;
  Kokkos::View<float*, Memory> const lent("lent", 3 * count);
  coir::nbody::detail::ParticleSorter<Exec, float> sorter(exec, side, double(side), side, true);

  // As Cabana keeps particles, and as Views.
  using Fields = Cabana::MemberTypes<float[3], float[3], std::uint32_t>;
  Cabana::AoSoA<Fields, Memory> given("given", count), theirs("theirs", count);
  auto const position = Cabana::slice<0>(given), momentum = Cabana::slice<1>(given);
  auto const number = Cabana::slice<2>(given);
  for (std::int64_t p = 0; p < count; ++p) {
    for (int d = 0; d < 3; ++d) {
      position(p, d) = start.position(p, d);
      momentum(p, d) = start.momentum(p, d);
    }
    number(p) = static_cast<std::uint32_t>(p);
  }
  Vectors view_of_position("position", count), view_of_momentum("momentum", count);
  Numbers view_of_number("number", count);

  // coir's bins: 32 cells of a row of the mesh.
  float const cell[3]{1, 1, 32}, least[3]{0, 0, 0}, most[3]{side, side, side};
  Around around;
  around.before = [&] {
    Kokkos::deep_copy(ours.position, start.position);
    Kokkos::deep_copy(ours.momentum, start.momentum);
    Kokkos::deep_copy(view_of_position, start.position);
    Kokkos::deep_copy(view_of_momentum, start.momentum);
    Cabana::deep_copy(theirs, given);
    order = {};
  };
  auto const by_coir = [&] {
    sorter.sort(ours, order, {.vectors = lent.data(), .particles = count});
  };
  in_turns(
      "sort, an AoSoA", by_coir,
      [&] {
        auto list =
            Cabana::createLinkedCellList<Memory>(Cabana::slice<0>(theirs), cell, least, most);
        Cabana::permute(list, theirs);
      },
      around);
  in_turns(
      "sort, three Views", by_coir,
      [&] {
        auto list = Cabana::createLinkedCellList<Memory>(view_of_position, cell, least, most);
        Cabana::permute(list, view_of_position);
        Cabana::permute(list.binningData(), view_of_momentum);
        Cabana::permute(list.binningData(), view_of_number);
      },
      around);
}

void paint(char const* what, Vectors const& position) {
  using namespace Cabana::Grid;
  Exec const exec;
  Kokkos::View<float***, Kokkos::LayoutRight, Memory> const mesh("mesh", side, side, side);

  auto const global_mesh =
      createUniformGlobalMesh(std::array<float, 3>{0, 0, 0}, std::array<float, 3>{side, side, side},
                              std::array<int, 3>{int(side), int(side), int(side)});
  DimBlockPartitioner<3> const partitioner;
  auto const global_grid = createGlobalGrid(MPI_COMM_SELF, global_mesh,
                                            std::array<bool, 3>{true, true, true}, partitioner);
  int const halo_width = 1;
  auto const local_grid = createLocalGrid(global_grid, halo_width);
  auto const density =
      createArray<float, Memory>("density", createArrayLayout(local_grid, 1, Node()));
  auto const halo = createHalo(NodeHaloPattern<3>(), halo_width, *density);
  Kokkos::View<float*, Memory> const masses("masses", count);
  Kokkos::deep_copy(masses, 1.0f);
  auto const functor = createScalarValueP2G(masses, 1.0f);

  auto const ours = [&] { coir::mesh::paint(exec, position, double(side), mesh); };
  auto const theirs = [&] {
    ArrayOp::assign(*density, 0.0f, Ghost());
    p2g(exec, functor, position, std::size_t(count), Spline<1>(), *halo, *density);
  };
  ours();
  theirs();
  auto const owned = local_grid->indexSpace(Own(), Node(), Local());
  auto const view = density->view();
  double difference = 0;
  for (std::int64_t i = 0; i < side; ++i)
    for (std::int64_t j = 0; j < side; ++j)
      for (std::int64_t k = 0; k < side; ++k)
        difference = std::max(
            difference, double(std::abs(mesh(i, j, k) - view(owned.min(0) + i, owned.min(1) + j,
                                                             owned.min(2) + k, 0))));
  if (difference > 1e-2) {
    std::printf("the densities differ by %g\n", difference);
    std::exit(1);
  }
  in_turns(what, ours, theirs);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  {
    Kokkos::ScopeGuard const kokkos(argc, argv);
    Exec const exec;
    coir::cosmology::LinearPower<double> const power(coir::cosmology::simple_lcdm());
    auto start = coir::nbody::initial_conditions<Exec, float>(exec, side, double(side), power,
                                                              /*a=*/1, {.order = 1});
    print_heading();
    sort(start);
    paint("paint, in the order of the lattice", start.position);
    Kokkos::View<float*, Memory> const lent("lent", 3 * count);
    coir::nbody::detail::ParticleSorter<Exec, float> sorter(exec, side, double(side), side, true);
    sorter.sort(start, {.vectors = lent.data(), .particles = count});
    paint("paint, sorted", start.position);
  }
  MPI_Finalize();
}
