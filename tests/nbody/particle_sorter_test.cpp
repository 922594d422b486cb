#include <coir/nbody/detail/particle_sorter.hpp>

#include <support/command.hpp>
#include <support/held_memory.hpp>
#include <support/typed_suite.hpp>

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

using namespace coir;
using nbody::Particles;
using nbody::detail::LentMemory;
using nbody::detail::ParticleSorter;
using nbody::detail::ParticleState;

namespace {

constexpr std::int64_t side = 48, count = side * side * side, mesh_side = 48;
constexpr double length =
    24;  // half as much per cell, so that tests find the same cells as the sorter

template <class Case>
using ParticlesOf = Particles<typename Case::Exec, typename Case::Real>;
template <class Case>
using SorterOf = ParticleSorter<typename Case::Exec, typename Case::Real>;

/// All over the box; the first component of the momentum is the particle's number.
template <class Case>
ParticlesOf<Case> scattered() {
  using T = typename Case::Real;
  using Vectors = typename ParticlesOf<Case>::Vectors;
  ParticlesOf<Case> particles{side, length, Vectors("position", count), Vectors("momentum", count)};
  auto const x = Kokkos::create_mirror_view(particles.position);
  auto const p = Kokkos::create_mirror_view(particles.momentum);
  std::mt19937 generator(3);
  std::uniform_real_distribution<float> anywhere(0, static_cast<float>(length));
  for (std::int64_t i = 0; i < count; ++i)
    for (int d = 0; d < 3; ++d) {
      x(i, d) = static_cast<T>(anywhere(generator));
      p(i, d) = static_cast<T>(d == 0 ? static_cast<double>(i) : 0.25 * d);
    }
  Kokkos::deep_copy(particles.position, x);
  Kokkos::deep_copy(particles.momentum, p);
  return particles;
}

template <class V>
auto on_host(V const& view) {
  auto const host = Kokkos::create_mirror(view);
  Kokkos::deep_copy(host, view);
  return host;
}

/// What a simulation's meshes lend: room for vectors, or for numbers alone.
template <class Case>
struct Lender {
  explicit Lender(bool vectors)
      : lends_vectors(vectors), memory("lent", vectors ? 3 * count : count) {}

  LentMemory<typename Case::Real> lend() const {
    if (lends_vectors) return {.vectors = memory.data(), .particles = count};
    return {.numbers = memory.data(), .particles = count};
  }

  bool lends_vectors;
  Kokkos::View<typename Case::Real*, typename Case::Exec::memory_space> memory;
};

/// Which part of the mesh a particle lies in, by its position's cells: such parts follow each
/// other.
template <class Exec>
std::int64_t part_of(std::int64_t i, std::int64_t j) {
  return runs_on_host<Exec> ? i * mesh_side + j : i / 16 * (mesh_side / 16) + j / 16;
}

/// Expects that particles lie part by part, and are those of `before` at their sites.
template <class Case>
void expect_sorted(ParticlesOf<Case> const& particles, ParticlesOf<Case> const& before) {
  auto const x = on_host(particles.position), p = on_host(particles.momentum),
             x_before = on_host(before.position), p_before = on_host(before.momentum);
  auto const site = on_host(particles.site);
  ASSERT_EQ(site.extent(0), static_cast<std::size_t>(count));
  std::vector<int> seen(static_cast<std::size_t>(count));
  std::int64_t last = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    std::int64_t const part = part_of<typename Case::Exec>(static_cast<std::int64_t>(2 * x(i, 0)),
                                                           static_cast<std::int64_t>(2 * x(i, 1)));
    ASSERT_GE(part, last) << i;
    last = part;
    ASSERT_LT(site(i), count);
    ++seen[site(i)];
    for (int d = 0; d < 3; ++d) {
      ASSERT_EQ(x(i, d), x_before(site(i), d)) << i;
      ASSERT_EQ(p(i, d), p_before(site(i), d)) << i;
    }
  }
  for (int const times : seen) ASSERT_EQ(times, 1);
}

template <class Case>
void expect_equal(ParticlesOf<Case> const& particles, ParticlesOf<Case> const& before) {
  auto const x = on_host(particles.position), p = on_host(particles.momentum),
             x_before = on_host(before.position), p_before = on_host(before.momentum);
  for (std::int64_t i = 0; i < count; ++i)
    for (int d = 0; d < 3; ++d) {
      ASSERT_EQ(x(i, d), x_before(i, d)) << i;
      ASSERT_EQ(p(i, d), p_before(i, d)) << i;
    }
}

}  // namespace

COIR_TYPED_SUITE(Sorting);

TYPED_TEST(Sorting, FollowsTheMeshAndBringsParticlesBack) {
  for (bool const lends_vectors : {true, false}) {
    auto const before = scattered<TypeParam>();
    auto particles = scattered<TypeParam>();
    Lender<TypeParam> const lender(lends_vectors);
    ParticleState state;
    SorterOf<TypeParam> sorter({}, side, length, mesh_side, lends_vectors);
    EXPECT_FALSE(state.is_sorted());
    sorter.restore_lattice_order(particles, state, lender.lend());  // which they have
    expect_equal<TypeParam>(particles, before);
    sorter.sort(particles, state, lender.lend());
    EXPECT_TRUE(state.is_sorted());
    expect_sorted<TypeParam>(particles, before);
    sorter.restore_lattice_order(particles, state, lender.lend());
    EXPECT_FALSE(state.is_sorted());
    expect_equal<TypeParam>(particles, before);
  }
}

// Every thread of a host counts particles in bins of its own.
TEST(SortingOnHosts, PrintsTheBytesOfItsBins) {
  using Case = coir::testing::Case<coir::testing::Host, float>;
  auto const before = scattered<Case>();
  auto particles = scattered<Case>();
  Lender<Case> const lender(true);
  coir::testing::HeldMemory const held;
  ParticleState state;
  SorterOf<Case> sorter({}, side, length, mesh_side, true);
  sorter.sort(particles, state, lender.lend());
  std::printf("bins: %lld\n", static_cast<long long>(held.peak() - held.now()));
  expect_sorted<Case>(particles, before);
}

TEST(SortingOnHosts, TakesAtMostAByteForEachCell) {
  std::string const program = std::filesystem::canonical("/proc/self/exe").string();
  for (std::string const threads : {"1", "6", "8", "40"}) {
    auto const outcome =
        coir::testing::run_command("OMP_PROC_BIND=false OMP_NUM_THREADS=" + threads + " '" +
                                   program + "' --gtest_filter=*.Prints*");
    EXPECT_EQ(outcome.code, 0) << outcome.output << outcome.errors;
    auto const begin = outcome.output.find("bins: ");
    ASSERT_NE(begin, std::string::npos) << outcome.output;
    std::int64_t const bytes = std::stoll(outcome.output.substr(begin + 6));
    EXPECT_GT(bytes, 0) << threads;
    EXPECT_LE(bytes, mesh_side * mesh_side * mesh_side) << threads << " threads";
  }
}
