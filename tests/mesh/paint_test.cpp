#include <coir/mesh/ghosts.hpp>
#include <coir/mesh/paint.hpp>

#include <mesh/plain_mesh.hpp>
#include <support/message_of.hpp>
#include <support/typed_suite.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <vector>

using namespace coir;
using namespace coir::testing;
using mesh::PaintOptions;
using mesh::PaintScheme;

namespace {

template <class Exec>
std::vector<PaintScheme> schemes() {
  if constexpr (runs_on_host<Exec>)
    return {PaintScheme::slabs, PaintScheme::private_meshes};
  else
    return {PaintScheme::atomics, PaintScheme::tiles};
}

/// In the order of cubes of 4^3 cells of a mesh of 32^3, so that those that follow each other lie
/// close together.
void sort_by_cubes(std::vector<std::array<double, 3>>& particles, double box) {
  auto const cube = [box](std::array<double, 3> const& x) {
    std::array<int, 3> result;
    for (int d = 0; d < 3; ++d)
      result[d] = static_cast<int>(std::floor((x[d] / box - std::floor(x[d] / box)) * 8));
    return result;
  };
  std::stable_sort(particles.begin(), particles.end(),
                   [&](auto const& a, auto const& b) { return cube(a) < cube(b); });
}

/// Rounding of a cell: each of its terms is off by some roundings of the weights, which the
/// position's rounding in cells makes larger; terms are at most 1 and add up to `sum`, and each
/// addition rounds half of its last digit at most.
template <class T>
double tolerance(double sum, double terms, std::int64_t cells) {
  return std::numeric_limits<T>::epsilon() *
         ((8 + 2.4 * static_cast<double>(cells)) * (1 + sum) + 0.5 * terms * sum);
}

/// Of the sum of the sizes of values that are painted in tiles: each deposit is a whole number of
/// these.
template <class T>
double part_of_values(PaintScheme scheme) {
  return scheme != PaintScheme::tiles ? 0 : sizeof(T) == 4 ? 0x1p-30 : 0x1p-62;
}

/// Of a particle's mass, where it is cut into whole numbers.
template <class T>
double part_of(PaintScheme scheme, bool deterministic) {
  if (deterministic) return sizeof(T) == 4 ? 0x1p-18 : 0x1p-40;
  if (scheme == PaintScheme::tiles) return sizeof(T) == 4 ? 0x1p-18 : 0x1p-50;
  return 0;
}

}  // namespace

COIR_TYPED_SUITE(Paint);

TYPED_TEST(Paint, SharesAParticleAmongEightCells) {
  TYPES_OF_CASE;
  auto const x = to_view<Exec, T>({{3.25, 0.5, 3.75}});
  auto const cells = new_mesh<Exec, T>({4, 4, 4});
  mesh::paint(Exec{}, x, 4.0, cells);
  auto const m = elements(cells);
  auto const at = [&](int i, int j, int k) { return m[(i * 4 + j) * 4 + k]; };
  EXPECT_EQ(at(3, 0, 3), T(0.09375));
  EXPECT_EQ(at(3, 1, 3), T(0.09375));
  EXPECT_EQ(at(3, 0, 0), T(0.28125));
  EXPECT_EQ(at(0, 0, 3), T(0.03125));
  EXPECT_EQ(at(0, 1, 0), T(0.09375));
  EXPECT_EQ(std::accumulate(m.begin(), m.end(), T(0)), T(1));
}

TYPED_TEST(Paint, IsThePlainLoopForAllSchemesAndExtents) {
  TYPES_OF_CASE;
  for (Extents const& n :
       {Extents{1, 1, 1}, Extents{2, 3, 1}, Extents{5, 4, 7}, Extents{13, 17, 31}})
    for (std::int64_t count : {0, 1, 200, 5003})
      for (auto const assignment : assignments) {
        auto const particles = scattered(count, 3.5, 7);
        std::vector<double> expected(static_cast<std::size_t>(n[0] * n[1] * n[2])),
            terms(expected.size());
        for (auto const& x : particles)
          coir::testing::touch(x, 3.5, n, assignment, [&](std::int64_t c, double w) {
            expected[c] += w;
            terms[c] += 1;
          });
        for (auto const scheme : schemes<Exec>())
          for (bool const deterministic : {false, true}) {
            auto const cells = new_mesh<Exec, T>(n);
            Kokkos::deep_copy(cells, T(77));  // to be overwritten
            mesh::paint(Exec{}, to_view<Exec, T>(particles), 3.5, cells,
                        {assignment, scheme, deterministic});
            auto const painted = elements(cells);
            // Whole numbers add half of a part per cut and term, three cuts each.
            double const parts = part_of<T>(scheme, deterministic) * 3;
            for (std::size_t c = 0; c < expected.size(); ++c)
              ASSERT_NEAR(
                  painted[c], expected[c],
                  tolerance<T>(expected[c], terms[c], 31) + parts * static_cast<double>(count + 1))
                  << n[0] << " " << count << " " << name_of(assignment) << " " << name_of(scheme);
          }
      }
}

TYPED_TEST(Paint, IsThePlainLoopForParticlesInTheMeshsOrder) {
  TYPES_OF_CASE;
  // More than a chunk of any scheme; a mesh that is smaller than a tile, one of about a tile, and a
  // long one of many.
  for (Extents const& n : {Extents{3, 5, 2}, Extents{32, 32, 32}, Extents{7, 64, 300}}) {
    std::int64_t const count = 30011;
    auto particles = scattered(count, 2.5, 17);
    for (std::int64_t p = 0; p < count; p += 3)  // a clump that wraps around the box
      for (double& x : particles[static_cast<std::size_t>(p)]) x *= 0.03;
    sort_by_cubes(particles, 2.5);
    std::swap(particles[5], particles[25000]);  // far away from those around them
    auto const x = to_view<Exec, T>(particles);
    for (auto const assignment : assignments) {
      std::vector<double> expected(static_cast<std::size_t>(n[0] * n[1] * n[2])),
          terms(expected.size());
      for (auto const& position : particles)
        coir::testing::touch(position, 2.5, n, assignment, [&](std::int64_t c, double w) {
          expected[c] += w;
          terms[c] += 1;
        });
      for (auto const scheme : schemes<Exec>()) {
        auto const cells = new_mesh<Exec, T>(n);
        mesh::paint(Exec{}, x, 2.5, cells, {assignment, scheme});
        auto const painted = elements(cells);
        // Whole numbers: three cuts, and the first of a cut's parts takes the rounding of up to
        // three others.
        for (std::size_t c = 0; c < expected.size(); ++c)
          ASSERT_NEAR(
              painted[c], expected[c],
              tolerance<T>(expected[c], terms[c], 300) + 4.5 * part_of<T>(scheme, false) * terms[c])
              << n[0] << " " << name_of(assignment) << " " << name_of(scheme);
      }
    }
  }
}

TYPED_TEST(Paint, KeepsTheMassExactlyInWholeNumbers) {
  TYPES_OF_CASE;
  auto const x = to_view<Exec, T>(scattered(4096, 10.0, 3));
  for (auto const assignment : assignments) {
    auto const cells = new_mesh<Exec, T>({8, 9, 10});
    mesh::paint(Exec{}, x, 10.0, cells, {.assignment = assignment, .deterministic = true});
    auto const m = elements(cells);
    EXPECT_EQ(std::accumulate(m.begin(), m.end(), 0.0),
              4096.0);  // sums of parts of 2^-18 or 2^-40 are exact in double
  }
}

TYPED_TEST(Paint, GivesTheSameBitsInAnyOrderAndByAnyScheme) {
  TYPES_OF_CASE;
  auto particles = scattered(20011, 1.0, 11);
  for (auto const assignment : assignments) {
    std::vector<T> first;
    for (auto const scheme : schemes<Exec>())
      for (unsigned shuffle = 0; shuffle < 3; ++shuffle) {
        std::mt19937 generator(shuffle);
        if (shuffle == 1) std::shuffle(particles.begin(), particles.end(), generator);
        if (shuffle == 2) sort_by_cubes(particles, 1.0);
        auto const cells = new_mesh<Exec, T>({12, 12, 12});
        mesh::paint(Exec{}, to_view<Exec, T>(particles), 1.0, cells, {assignment, scheme, true});
        auto const painted = elements(cells);
        if (first.empty()) first = painted;
        ASSERT_EQ(painted, first) << name_of(scheme) << " " << name_of(assignment);
      }
  }
}

// All planes and ghosts of them are one rank's, whose threads paint slabs of these. Tests over
// ranks have one thread.
TYPED_TEST(Paint, OnPlanesWithGhostsHasTheBitsOfTheWholeMesh) {
  TYPES_OF_CASE;
  auto const positions = to_view<Exec, T>(scattered(20000, 7, 5));
  for (Extents const& n : {Extents{1, 4, 4}, Extents{3, 4, 5}, Extents{16, 6, 7}})
    for (auto const assignment : assignments)
      for (auto const scheme : schemes<Exec>()) {
        PaintOptions const options{assignment, scheme, true};
        auto const whole = new_mesh<Exec, T>(n);
        mesh::paint(Exec{}, positions, 7.0, whole, options);
        auto const widths = mesh::touched_beyond(assignment, 2);
        mesh::GhostPlanes<Exec> ghosts(distributed::Group::self(), n[0], widths);
        auto const held = new_mesh<Exec, T>({ghosts.held(), n[1], n[2]});
        mesh::paint(Exec{}, ghosts, positions, 7.0, held, options);
        auto const painted = elements(held);
        auto const first = painted.begin() + widths.below * n[1] * n[2];
        EXPECT_EQ(std::vector<T>(first, first + n[0] * n[1] * n[2]), elements(whole))
            << n[0] << " planes, " << name_of(assignment) << ", " << name_of(scheme);
      }
}

TYPED_TEST(Paint, TakesFewerPartsWhereACellWouldOverflow) {
  TYPES_OF_CASE;
  // All in one cell: in float 2^18 parts each are 2^33.
  std::int64_t const count = 1 << 15;
  std::vector<std::array<double, 3>> const particles(static_cast<std::size_t>(count), {1, 2, 3});
  auto const cells = new_mesh<Exec, T>({4, 4, 4});
  mesh::paint(Exec{}, to_view<Exec, T>(particles), 4.0, cells, {.deterministic = true});
  auto const m = elements(cells);
  EXPECT_EQ(m[(1 * 4 + 2) * 4 + 3], T(count));
}

TYPED_TEST(Paint, AddsValuesAndVectors) {
  TYPES_OF_CASE;
  Extents const n{6, 5, 9};
  std::int64_t const count = 3001;
  auto const particles = scattered(count, 2.0, 5), vectors = scattered(count, 1.0, 6);
  auto const x = to_view<Exec, T>(particles), v = to_view<Exec, T>(vectors);
  NumbersOf<Exec, T> const values("values", static_cast<std::size_t>(count));
  auto const host = Kokkos::create_mirror_view(values);
  for (std::int64_t p = 0; p < count; ++p) host(p) = static_cast<T>(vectors[p][1]);
  Kokkos::deep_copy(values, host);
  for (auto const assignment : assignments)
    for (auto const scheme : schemes<Exec>()) {
      std::vector<double> expected(static_cast<std::size_t>(n[0] * n[1] * n[2] * 3)),
          size(expected.size()), terms(expected.size());
      double sizes = 0;  // of all values, at most
      for (std::int64_t p = 0; p < count; ++p)
        for (double const component : vectors[p]) sizes += std::abs(component);
      double const part = sizes * part_of_values<T>(scheme);
      for (std::int64_t p = 0; p < count; ++p)
        coir::testing::touch(particles[p], 2.0, n, assignment, [&](std::int64_t c, double w) {
          for (int d = 0; d < 3; ++d) {
            expected[3 * c + d] += w * vectors[p][d];
            size[3 * c + d] += w * std::abs(vectors[p][d]);
            terms[3 * c + d] += 1;
          }
        });
      PaintOptions const options{assignment, scheme};
      auto const cells = new_mesh<Exec, T>(n);
      mesh::paint(Exec{}, x, values, 2.0, cells, options);
      auto const field = new_mesh_of_vectors<Exec, T>(n);
      mesh::paint(Exec{}, x, v, 2.0, field, options);
      auto const one = elements(cells), three = elements(field);
      for (std::size_t c = 0; c < one.size(); ++c) {
        for (int d = 0; d < 3; ++d) {
          double const near =
              tolerance<T>(size[3 * c + d], terms[3 * c + d], 9) + 0.5 * part * terms[3 * c + d];
          ASSERT_NEAR(three[3 * c + d], expected[3 * c + d], near);
          if (d == 1) ASSERT_NEAR(one[c], expected[3 * c + d], near);
        }
      }
    }
}

// Tiles scale the values of a chunk: they may be of any size.
TYPED_TEST(Paint, TakesValuesOfAnySize) {
  TYPES_OF_CASE;
  auto const x = to_view<Exec, T>(scattered(5000, 2.0, 7));
  auto const painted = [&](PaintScheme scheme, double factor) {
    NumbersOf<Exec, T> const values("values", 5000);
    auto const host = Kokkos::create_mirror_view(values);
    for (std::size_t p = 0; p < 5000; ++p)
      host(p) = static_cast<T>(factor * (double(p % 7) - 3) * (p < 2500 ? 1 : 1e-6));
    Kokkos::deep_copy(values, host);
    auto const cells = new_mesh<Exec, T>({6, 5, 9});
    mesh::paint(Exec{}, x, values, 2.0, cells, {.scheme = scheme});
    return elements(cells);
  };
  double const large = 0.01 * double(std::numeric_limits<T>::max()) / 5000,
               small = double(std::numeric_limits<T>::min()) * 1e6;
  for (auto const scheme : schemes<Exec>()) {
    auto const ones = painted(scheme, 1);
    // A cell has fewer than 400 deposits, of values up to 3, whose weights are the same each time.
    double const near = 400 * (0.5 * 3 * 5000 * part_of_values<T>(scheme) +
                               3 * 4 * double(std::numeric_limits<T>::epsilon()));
    for (double const factor : {large, small}) {
      auto const scaled = painted(scheme, factor);
      for (std::size_t c = 0; c < ones.size(); ++c)
        ASSERT_NEAR(scaled[c] / factor, ones[c], near) << name_of(scheme) << " " << factor;
    }
    auto const zeros = painted(scheme, 0);
    EXPECT_TRUE(std::all_of(zeros.begin(), zeros.end(), [](T value) { return value == 0; }));
    auto const infinite = painted(scheme, std::numeric_limits<double>::infinity());
    EXPECT_FALSE(std::all_of(infinite.begin(), infinite.end(), [](T value) {
      return std::isfinite(value);
    })) << name_of(scheme);
  }
}

TYPED_TEST(Paint, LeavesNotANumberWhereOneIsPainted) {
  TYPES_OF_CASE;
  for (auto const scheme : schemes<Exec>()) {
    auto const cells = new_mesh<Exec, T>({4, 4, 4});
    mesh::paint(Exec{}, to_view<Exec, T>({{std::nan(""), 1, 1}, {1, 1, 1}}), 4.0, cells,
                {.scheme = scheme});
    auto const m = elements(cells);
    EXPECT_TRUE(std::any_of(m.begin(), m.end(), [](T value) { return std::isnan(value); }))
        << name_of(scheme);
  }
}

// Whole numbers have no NaN.
TYPED_TEST(Paint, RefusesPositionsThatArentFiniteInWholeNumbers) {
  TYPES_OF_CASE;
  double const infinity = std::numeric_limits<double>::infinity();
  auto const cells = new_mesh<Exec, T>({4, 4, 4});
  for (double const x : {std::nan(""), infinity, -infinity}) {
    auto const positions = to_view<Exec, T>({{1, 1, 1}, {2, 2, 2}, {3, x, 3}, {x, 0, 0}});
    EXPECT_EQ(
        message_of([&] { mesh::paint(Exec{}, positions, 4.0, cells, {.deterministic = true}); }),
        "positions must be finite, and that of particle 2 isn't");
    EXPECT_NO_THROW(
        mesh::paint(Exec{}, positions, 4.0, cells, {.deterministic = true, .check_finite = false}));
  }
  EXPECT_NO_THROW(mesh::paint(Exec{}, to_view<Exec, T>({{-1e30, 1e30, 1}}), 4.0, cells,
                              {.deterministic = true}));
}

TYPED_TEST(Paint, NamesWhatIsWrong) {
  TYPES_OF_CASE;
  auto const x = to_view<Exec, T>({{0, 0, 0}});
  auto const cells = new_mesh<Exec, T>({2, 2, 2});
  EXPECT_THROW(mesh::paint(Exec{}, x, 0.0, cells), PreconditionError);
  EXPECT_THROW(mesh::paint(Exec{}, x, std::nan(""), cells), PreconditionError);
  EXPECT_THROW(mesh::paint(Exec{}, x, 1.0, new_mesh<Exec, T>({2, 0, 2})), PreconditionError);
  Kokkos::View<T* [2], Kokkos::LayoutRight, typename Exec::memory_space> const flat("flat", 3);
  EXPECT_THROW(mesh::paint(Exec{}, flat, 1.0, cells), PreconditionError);
  NumbersOf<Exec, T> const values("values", 1), few("few", 0);
  std::vector<PaintScheme> foreign{PaintScheme::slabs, PaintScheme::private_meshes};
  if (runs_on_host<Exec>) foreign = {PaintScheme::atomics, PaintScheme::tiles};
  for (auto const scheme : foreign) {
    EXPECT_THROW(mesh::paint(Exec{}, x, 1.0, cells, {.scheme = scheme}), PreconditionError);
    EXPECT_THROW(mesh::paint(Exec{}, x, values, 1.0, cells, {.scheme = scheme}), PreconditionError);
  }
  EXPECT_THROW(mesh::paint(Exec{}, x, values, 1.0, cells, {.deterministic = true}),
               PreconditionError);
  EXPECT_THROW(mesh::paint(Exec{}, x, few, 1.0, cells), PreconditionError);
}
