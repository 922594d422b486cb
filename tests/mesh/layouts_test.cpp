// Views of any layout, for painting, readout and power spectra: what LayoutRight gives, wherever
// the numbers lie.

#include <coir/mesh/paint.hpp>
#include <coir/mesh/power_spectrum.hpp>
#include <coir/mesh/readout.hpp>

#include <gtest/gtest.h>

#include <support/layouts.hpp>
#include <support/message_of.hpp>
#include <support/typed_suite.hpp>

#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <utility>
#include <vector>

using namespace coir::testing;

namespace {

COIR_TYPED_SUITE(MeshLayouts);

constexpr coir::mesh::PaintOptions exact{.deterministic = true};

using Mesh = std::array<std::int64_t, 3>;
using Vectors = std::array<std::int64_t, 4>;

/// One cell, a plane, odd, prime, and with room for slabs.
std::array<Mesh, 5> meshes() {
  return {{{1, 1, 1}, {5, 9, 1}, {3, 5, 7}, {13, 2, 11}, {16, 17, 18}}};
}

/// A View of random numbers in [0, 1).
template <class T, class Space, std::size_t Rank>
auto random(std::array<std::int64_t, Rank> const& extents) {
  auto const view = allocate<Laid::right, T, Space>(extents);
  auto const host = Kokkos::create_mirror_view(view);
  std::mt19937 generator(11);
  for (std::size_t i = 0; i < host.size(); ++i)
    host.data()[i] = static_cast<T>(generator() >> 12) / T(1 << 20);
  Kokkos::deep_copy(view, host);
  return view;
}

/// The largest difference of two Views of any layouts, over their largest number.
template <class A, class B>
double difference(A const& a, B const& b) {
  auto const on_host = [](auto const& view) {
    return Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, copy_as<Laid::right>(view));
  };
  auto const a_h = on_host(a), b_h = on_host(b);
  EXPECT_EQ(a_h.size(), b_h.size());
  double largest = 0, most = 0;
  for (std::size_t i = 0; i < a_h.size(); ++i) {
    largest = std::max(largest, std::abs(double(a_h.data()[i]) - double(b_h.data()[i])));
    most = std::max(most, std::abs(double(b_h.data()[i])));
  }
  return largest / most;
}

template <class C, Laid L>
void expect_particles_and_meshes_of(double bound) {
  using T = typename C::Real;
  using Space = typename C::Exec::memory_space;
  std::array<std::int64_t, 2> const three{509, 3};
  std::array<std::int64_t, 1> const one{509};
  auto const x = random<T, Space>(three);
  auto const v = random<T, Space>(one);
  auto const x_other = copy_as<L>(x);
  auto const v_other = copy_as<L>(v);
  for (auto const& cells : meshes()) {
    auto const right = allocate<Laid::right, T, Space>(cells);
    auto const other = allocate<L, T, Space>(cells);
    coir::mesh::paint(x, 1.0, right, exact);
    coir::mesh::paint(x_other, 1.0, other, exact);
    EXPECT_EQ(difference(other, right), 0);
    Kokkos::deep_copy(other, -1);
    coir::mesh::paint(x, 1.0, other, exact);
    EXPECT_EQ(difference(other, right), 0);

    coir::mesh::paint(x, v, 1.0, right);
    coir::mesh::paint(x_other, v_other, 1.0, other);
    EXPECT_LE(difference(other, right), bound);

    Kokkos::deep_copy(right, random<T, Space>(cells));
    auto const from = copy_as<L>(right);
    auto const read = allocate<Laid::right, T, Space>(one);
    auto const read_other = allocate<L, T, Space>(one);
    coir::mesh::readout(x, 1.0, right, read);
    coir::mesh::readout(x_other, 1.0, from, read_other);
    EXPECT_EQ(difference(read_other, read), 0);
  }
}

template <class C, Laid L>
void expect_vectors_of(double bound) {
  using T = typename C::Real;
  using Space = typename C::Exec::memory_space;
  std::array<std::int64_t, 2> const three{509, 3};
  auto const x = random<T, Space>(three);
  for (auto const& cells : meshes()) {
    Vectors const shape{cells[0], cells[1], cells[2], 3};
    auto const right = allocate<Laid::right, T, Space>(shape);
    auto const other = allocate<L, T, Space>(shape);
    coir::mesh::paint(x, x, 1.0, right);
    coir::mesh::paint(copy_as<L>(x), copy_as<L>(x), 1.0, other);
    EXPECT_LE(difference(other, right), bound);

    Kokkos::deep_copy(right, random<T, Space>(shape));
    auto const read = allocate<Laid::right, T, Space>(three);
    auto const read_other = allocate<L, T, Space>(three);
    coir::mesh::readout(x, 1.0, right, read);
    coir::mesh::readout(copy_as<L>(x), 1.0, copy_as<L>(right), read_other);
    EXPECT_EQ(difference(read_other, read), 0);
  }
}

}  // namespace

TYPED_TEST(MeshLayouts, PaintAndReadoutTakeAnyLayout) {
  // Devices add up in any order.
  double const bound = 100 * std::numeric_limits<typename TypeParam::Real>::epsilon();
  expect_particles_and_meshes_of<TypeParam, Laid::left>(bound);
  expect_particles_and_meshes_of<TypeParam, Laid::with_gaps>(bound);
  expect_particles_and_meshes_of<TypeParam, Laid::apart>(bound);
  expect_particles_and_meshes_of<TypeParam, Laid::turned>(bound);
}

TYPED_TEST(MeshLayouts, PaintAndReadoutOfVectorsTakeAnyLayout) {
  double const bound = 100 * std::numeric_limits<typename TypeParam::Real>::epsilon();
  expect_vectors_of<TypeParam, Laid::left>(bound);
  expect_vectors_of<TypeParam, Laid::with_gaps>(bound);
}

// A part of a larger mesh, up to its end: what isn't in that part stays as it was.
TYPED_TEST(MeshLayouts, PaintingWritesNothingBesideItsMesh) {
  TYPES_OF_CASE;
  using Range = std::pair<int, int>;
  auto const x = random<T, Space>(std::array<std::int64_t, 2>{5003, 3});
  std::vector<coir::mesh::PaintOptions> ways{{}, exact};
  if (coir::runs_on_host<Exec>) ways.push_back({.scheme = coir::mesh::PaintScheme::private_meshes});
  for (auto const& options : ways) {
    auto const larger = allocate<Laid::right, T, Space>(Mesh{9, 8, 12});
    Kokkos::deep_copy(larger, T(-1));
    auto const part = Kokkos::subview(larger, Range(3, 9), Range(1, 8), Range(2, 12));
    coir::mesh::paint(x, 1.0, part, options);
    auto const alone = allocate<Laid::right, T, Space>(Mesh{6, 7, 10});
    coir::mesh::paint(x, 1.0, alone, options);
    auto const found = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, larger),
               expected = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, alone);
    for (int i = 0; i < 9; ++i)
      for (int j = 0; j < 8; ++j)
        for (int k = 0; k < 12; ++k) {
          if (i < 3 || j < 1 || k < 2)
            EXPECT_EQ(found(i, j, k), T(-1)) << i << ' ' << j << ' ' << k;
          else
            EXPECT_NEAR(found(i, j, k), expected(i - 3, j - 1, k - 2), 1e-3);
        }
  }
}

TYPED_TEST(MeshLayouts, WhatIsWrittenHasElementsOfItsOwn) {
  TYPES_OF_CASE;
  auto const x = random<T, Space>(std::array<std::int64_t, 2>{50, 3});
  Kokkos::View<T*, Space> const memory("memory", 100);
  Kokkos::View<T***, Kokkos::LayoutStride, Space> const mesh(
      memory.data(), Kokkos::LayoutStride(4, 0, 4, 4, 4, 1));
  EXPECT_EQ(message_of([&] { coir::mesh::paint(x, 1.0, mesh); }),
            "a mesh with strides 0, 4, 1 has elements in the same place and can't be written: copy "
            "it first");
  Kokkos::View<T*, Kokkos::LayoutStride, Space> const values(memory.data() + 50,
                                                             Kokkos::LayoutStride(50, 0));
  EXPECT_EQ(message_of([&] { coir::mesh::readout(x, 1.0, mesh, values); }),
            "a View of values with strides 0 has elements in the same place and can't be written: "
            "copy it first");
}

// The first particles would be gone before the others are painted.
TYPED_TEST(MeshLayouts, WhatIsWrittenIsNothingThatIsRead) {
  TYPES_OF_CASE;
  using coir::mesh::paint, coir::mesh::readout;
  using Range = std::pair<int, int>;
  auto const x = random<T, Space>(std::array<std::int64_t, 2>{40, 3});
  auto const mesh = random<T, Space>(Mesh{3, 4, 5});
  using Values = Kokkos::View<T*, Space, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  Kokkos::View<T***, Kokkos::LayoutRight, Space, Kokkos::MemoryTraits<Kokkos::Unmanaged>> const
      on_x(x.data() + 119, 3, 4, 5);
  Values const in_x(x.data(), 40), in_mesh(mesh.data() + 20, 40);
  Kokkos::View<T*, Space> const values("values", 40);
  auto const copy = copy_as<Laid::right>(x);
  EXPECT_EQ(message_of([&] { paint(x, 1.0, on_x); }),
            "the mesh must have other memory than the positions: copy one of them first");
  EXPECT_EQ(message_of([&] { paint(x, values, 1.0, on_x); }),
            "the mesh must have other memory than the positions: copy one of them first");
  EXPECT_EQ(message_of([&] { paint(x, in_mesh, 1.0, mesh); }),
            "the mesh must have other memory than the values: copy one of them first");
  EXPECT_EQ(message_of([&] { readout(x, 1.0, mesh, in_x); }),
            "the values must have other memory than the positions: copy one of them first");
  EXPECT_EQ(message_of([&] { readout(x, 1.0, mesh, in_mesh); }),
            "the values must have other memory than the mesh: copy one of them first");
  EXPECT_EQ(difference(x, copy), 0);

  // Columns of one View lie beside each other. The positions are copied before the values are
  // written.
  Kokkos::View<T* [4], Kokkos::LayoutRight, Space> const both("positions and values", 40);
  auto const columns = Kokkos::subview(both, Kokkos::ALL, Range(0, 3));
  Kokkos::deep_copy(columns, x);
  readout(x, 1.0, mesh, values);
  readout(columns, 1.0, mesh, Kokkos::subview(both, Kokkos::ALL, 3));
  EXPECT_EQ(difference(Kokkos::subview(both, Kokkos::ALL, 3), values), 0);
  EXPECT_EQ(difference(columns, x), 0);
}

// Three of six columns: a row-major View whose rows have gaps.
TYPED_TEST(MeshLayouts, PositionsMayBeColumnsOfALargerView) {
  TYPES_OF_CASE;
  auto const phase_space = random<T, Space>(std::array<std::int64_t, 2>{101, 6});
  auto const x = Kokkos::subview(phase_space, Kokkos::ALL, std::pair<int, int>(0, 3));
  Mesh const cells{4, 5, 6};
  auto const expected = allocate<Laid::right, T, Space>(cells);
  auto const mesh = allocate<Laid::right, T, Space>(cells);
  coir::mesh::paint(copy_as<Laid::right>(x), 1.0, expected, exact);
  coir::mesh::paint(x, 1.0, mesh, exact);
  EXPECT_EQ(difference(mesh, expected), 0);
}

TYPED_TEST(MeshLayouts, PowerSpectraTakeAnyLayout) {
  TYPES_OF_CASE;
  auto const x = random<T, Space>(std::array<std::int64_t, 2>{509, 3});
  auto const right = coir::mesh::power_spectrum(x, 1.0, 12);
  auto const left = coir::mesh::power_spectrum(copy_as<Laid::left>(x), 1.0, 12);
  EXPECT_EQ(left.power, right.power);

  Kokkos::View<Kokkos::complex<T>***, Kokkos::LayoutRight, Space> const modes("modes", 6, 5, 4);
  Kokkos::View<T*, Space, Kokkos::MemoryTraits<Kokkos::Unmanaged>> const numbers(
      reinterpret_cast<T*>(modes.data()), 2 * modes.size());
  Kokkos::deep_copy(numbers, random<T, Space>(std::array<std::int64_t, 1>{240}));
  coir::mesh::PowerSpectrumOptions const options{.compensate = false};
  auto const of_right = coir::mesh::power_spectrum_of(modes, 7, 1.0, options);
  auto const turned = copy_as<Laid::left>(modes);
  EXPECT_EQ(coir::mesh::power_spectrum_of(turned, 7, 1.0, options).power, of_right.power);
  EXPECT_EQ(coir::mesh::cross_power_spectrum_of(turned, modes, 7, 1.0, options).power,
            of_right.power);
}
