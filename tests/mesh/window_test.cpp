// Windows of a mesh: what kernels paint and read by them, beside the whole mesh. Ranks' slabs are cut in one process here, so that
// several threads work on each.

#include <coir/distributed/share.hpp>
#include <coir/mesh/ghosts.hpp>
#include <coir/mesh/mesh_slopes.hpp>
#include <coir/mesh/mesh_values.hpp>
#include <coir/mesh/paint.hpp>
#include <coir/mesh/read_out.hpp>

#include <mesh/plain_cells.hpp>
#include <mesh/plain_mesh.hpp>
#include <support/spaces.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace {

using namespace coir;
using coir::testing::around;
using coir::testing::assignments;
using coir::testing::elements;
using coir::testing::Extents;
using coir::testing::to_view;
using distributed::Share;
using mesh::Assignment;
using Points = std::vector<std::array<double, 3>>;

constexpr double box = 7;

/// Whether a particle that lies `astray` planes further belongs to a slab.
template <class T>
bool belongs(std::array<double, 3> const& x, std::int64_t planes, Share const& own, int astray) {
  auto const per_cell = static_cast<T>(mesh::inverse_spacing(planes, box));
  auto const at =
      mesh::detail::touched<2, T>(static_cast<T>(x[0]), per_cell, static_cast<T>(planes)).first;
  auto const plane = around(at + astray, planes);
  return plane >= own.first && plane < own.end();
}

template <class T, int Components>
struct Keep {
  T* value;
  KOKKOS_FUNCTION void operator()(std::int64_t p, mesh::Value<T, Components> const& read) const {
    for (int v = 0; v < Components; ++v) value[p * Components + v] = read.component[v];
  }
};

/// What a reader gives for each particle.
template <class Exec, class T, class Reader>
std::vector<T> read_by(Reader const& reader, Points const& at) {
  constexpr int components = Reader::components;
  auto const positions = to_view<Exec, T>(at);
  coir::testing::NumbersOf<Exec, T> const values("values", at.size() * components);
  mesh::read_out("test/read", Exec(), positions.data(), static_cast<std::int64_t>(at.size()),
                 reader, Keep<T, components>{values.data()});
  Exec().fence();
  return elements(values);
}

/// The same on hosts, one particle after the other, as devices read.
template <class T, class Reader>
std::vector<T> read_singly(Reader const& reader, Points const& at) {
  constexpr int components = Reader::components;
  std::vector<T> values(at.size() * components);
  Keep<T, components> const keep{values.data()};
  for (std::size_t p = 0; p < at.size(); ++p) {
    T const position[] = {static_cast<T>(at[p][0]), static_cast<T>(at[p][1]),
                          static_cast<T>(at[p][2])};
    keep(static_cast<std::int64_t>(p), reader(position));
  }
  return values;
}

template <class T>
bool same_bits(std::vector<T> const& a, std::vector<T> const& b) {
  return a.size() == b.size() &&
         (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0);
}

/// The planes [own.first - widths.below, own.end() + widths.above) of a mesh whose components are the last axis, if any.
template <class View>
View planes_of(View const& whole, Share const& own, mesh::GhostWidths const& widths) {
  auto const planes = static_cast<std::int64_t>(whole.extent(0));
  std::int64_t const held = own.count + widths.below + widths.above;
  auto layout = whole.layout();
  layout.dimension[0] = static_cast<std::size_t>(held);
  View const part("planes", layout);
  for (std::int64_t i = 0; i < held; ++i) {
    auto const from = static_cast<std::size_t>(around(own.first - widths.below + i, planes));
    auto const to = static_cast<std::size_t>(i);
    if constexpr (View::rank == 3)
      Kokkos::deep_copy(Kokkos::subview(part, to, Kokkos::ALL, Kokkos::ALL),
                        Kokkos::subview(whole, from, Kokkos::ALL, Kokkos::ALL));
    else
      Kokkos::deep_copy(Kokkos::subview(part, to, Kokkos::ALL, Kokkos::ALL, Kokkos::ALL),
                        Kokkos::subview(whole, from, Kokkos::ALL, Kokkos::ALL, Kokkos::ALL));
  }
  return part;
}

/// A reader by a window beside the one of the whole mesh.
template <class Exec, class T, class Reader, class View>
void expect_same(View const& whole, Share const& own, mesh::GhostWidths const& widths,
                 Points const& mine, std::string const& what) {
  auto const part = planes_of(whole, own, widths);
  auto const window = mesh::read_only(
      mesh::window_of(part, own.first - widths.below, static_cast<std::int64_t>(whole.extent(0))));
  auto const all = mesh::read_only(mesh::cells_of(whole));
  EXPECT_TRUE(same_bits(read_by<Exec, T>(Reader(window, box), mine),
                        read_by<Exec, T>(Reader(all, box), mine)))
      << what;
  if constexpr (runs_on_host<Exec>)
    EXPECT_TRUE(same_bits(read_singly<T>(Reader(window, box), mine),
                          read_singly<T>(Reader(all, box), mine)))
        << what << ", as devices";
}

template <int Support, int Points, class T>
struct Readers {
  using Numbers = mesh::MeshValues<Support, 1, T>;
  using Vectors = mesh::MeshValues<Support, 3, T>;
  using Slopes = mesh::MeshSlopes<Support, Points, T>;
};

template <class Exec, class T, int Support>
void compare_readers(Extents const& n, int ranks, int astray) {
  auto const numbers = coir::testing::new_mesh<Exec, T>(n);
  coir::testing::fill_at_random(numbers, 7);
  auto const vectors = coir::testing::new_mesh_of_vectors<Exec, T>(n);
  coir::testing::fill_at_random(vectors, 8);
  auto const all = coir::testing::scattered(4000, box, 3);
  auto const touched = mesh::touched_beyond(static_cast<Assignment>(Support), astray);
  for (int rank = 0; rank < ranks; ++rank) {
    auto const own = distributed::share_of(n[0], rank, ranks);
    Points mine;
    int went = -astray;
    for (auto const& x : all) {
      if (belongs<T>(x, n[0], own, went)) mine.push_back(x);
      went = went == astray ? -astray : went + 1;
    }
    std::string const what = std::to_string(n[0]) + " planes, rank " + std::to_string(rank) +
                             " of " + std::to_string(ranks) + ", support " +
                             std::to_string(Support);
    expect_same<Exec, T, typename Readers<Support, 2, T>::Numbers>(numbers, own, touched, mine,
                                                                   what + ", numbers");
    expect_same<Exec, T, typename Readers<Support, 2, T>::Vectors>(vectors, own, touched, mine,
                                                                   what + ", vectors");
    expect_same<Exec, T, typename Readers<Support, 2, T>::Slopes>(
        numbers, own, touched.widened(1), mine, what + ", slopes of 2 points");
    expect_same<Exec, T, typename Readers<Support, 4, T>::Slopes>(
        numbers, own, touched.widened(2), mine, what + ", slopes of 4 points");
  }
}

template <class Exec>
class Windows : public ::testing::Test {};
TYPED_TEST_SUITE(Windows, coir::testing::Spaces, );

TYPED_TEST(Windows, AreReadAsTheWholeMesh) {
  for (Extents const& n : {Extents{1, 3, 4}, Extents{2, 5, 3}, Extents{13, 6, 12}})
    for (int const ranks : {1, 2, 3, 8}) {
      compare_readers<TypeParam, float, 2>(n, ranks, 1);
      compare_readers<TypeParam, float, 3>(n, ranks, 0);
      compare_readers<TypeParam, double, 4>(n, ranks, 2);
    }
}

// All planes and ghosts of them are one rank's, whose threads paint slabs of these.
template <class Exec, class T>
void compare_painting(Extents const& n, Assignment assignment, mesh::PaintScheme scheme) {
  auto const positions = to_view<Exec, T>(coir::testing::scattered(20000, box, 5));
  auto const whole = coir::testing::new_mesh<Exec, T>(n);
  mesh::PaintOptions const options{
      .assignment = assignment, .scheme = scheme, .deterministic = true};
  mesh::paint(Exec(), positions, box, whole, options);
  auto const widths = mesh::touched_beyond(assignment, 2);
  mesh::GhostPlanes<Exec> ghosts(distributed::Group::self(), n[0], widths);
  auto const held = coir::testing::new_mesh<Exec, T>({ghosts.held(), n[1], n[2]});
  mesh::paint(Exec(), ghosts, positions, box, held, options);
  auto const painted = elements(held);
  auto const first = painted.begin() + widths.below * n[1] * n[2];
  EXPECT_TRUE(same_bits({first, first + n[0] * n[1] * n[2]}, elements(whole)))
      << n[0] << " planes, " << name_of(assignment) << ", " << name_of(scheme);
}

TYPED_TEST(Windows, ArePaintedByManyThreads) {
  using mesh::PaintScheme;
  constexpr bool host = runs_on_host<TypeParam>;
  for (Extents const& n : {Extents{1, 4, 4}, Extents{3, 4, 5}, Extents{16, 6, 7}})
    for (Assignment const assignment : assignments)
      for (auto const scheme : {host ? PaintScheme::slabs : PaintScheme::atomics,
                                host ? PaintScheme::private_meshes : PaintScheme::tiles}) {
        compare_painting<TypeParam, float>(n, assignment, scheme);
        compare_painting<TypeParam, double>(n, assignment, scheme);
      }
}

}  // namespace
