#include <coir/mesh/paint.hpp>

#include <mesh/plain_mesh.hpp>
#include <support/message_of.hpp>
#include <support/spaces.hpp>

#include <algorithm>
#include <numeric>
#include <random>

using namespace coir;
using coir::testing::elements;
using coir::testing::Extents;
using coir::testing::scattered;
using coir::testing::to_view;
using mesh::Assignment;
using mesh::PaintOptions;
using mesh::PaintScheme;

namespace {

constexpr Assignment assignments[] = {Assignment::cic, Assignment::tsc, Assignment::pcs};

template <class Exec>
std::vector<PaintScheme> schemes() {
  if constexpr (runs_on_host<Exec>)
    return {PaintScheme::slabs, PaintScheme::private_meshes};
  else
    return {PaintScheme::atomics};
}

template <class Exec, class T>
Kokkos::View<T***, Kokkos::LayoutRight, typename Exec::memory_space> new_mesh(Extents const& n) {
  using Mesh = Kokkos::View<T***, Kokkos::LayoutRight, typename Exec::memory_space>;
  return Mesh("mesh", static_cast<std::size_t>(n[0]), static_cast<std::size_t>(n[1]),
              static_cast<std::size_t>(n[2]));
}

/// Rounding of a cell: each of its terms is off by some roundings of the weights, which the position's rounding in cells
/// makes larger; terms are at most 1 and add up to `sum`, and each addition rounds half of its last digit at most.
template <class T>
double tolerance(double sum, double terms, std::int64_t cells) {
  return std::numeric_limits<T>::epsilon() *
         ((8 + 2.4 * static_cast<double>(cells)) * (1 + sum) + 0.5 * terms * sum);
}

}  // namespace

template <class Case>
class Paint : public ::testing::Test {};
TYPED_TEST_SUITE(Paint, coir::testing::Cases, coir::testing::CaseName);

TYPED_TEST(Paint, SharesAParticleAmongEightCells) {
  using Exec = typename TypeParam::Exec;
  using T = typename TypeParam::Real;
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
  using Exec = typename TypeParam::Exec;
  using T = typename TypeParam::Real;
  for (Extents const& n :
       {Extents{1, 1, 1}, Extents{2, 3, 1}, Extents{5, 4, 7}, Extents{13, 17, 31}})
    for (std::int64_t count : {0, 1, 200, 5003})
      for (auto const assignment : assignments)
        for (auto const scheme : schemes<Exec>())
          for (bool const deterministic : {false, true}) {
            auto const particles = scattered(count, 3.5, 7);
            std::vector<double> expected(static_cast<std::size_t>(n[0] * n[1] * n[2])),
                terms(expected.size());
            for (auto const& x : particles)
              coir::testing::touch(x, 3.5, n, assignment, [&](std::int64_t c, double w) {
                expected[c] += w;
                terms[c] += 1;
              });
            auto const cells = new_mesh<Exec, T>(n);
            Kokkos::deep_copy(cells, T(77));  // to be overwritten
            mesh::paint(Exec{}, to_view<Exec, T>(particles), 3.5, cells,
                        {assignment, scheme, deterministic});
            auto const painted = elements(cells);
            // Whole numbers add half of a part per cut and term, three cuts each.
            double const parts = deterministic ? (sizeof(T) == 4 ? 0x1p-18 : 0x1p-40) * 3 : 0;
            for (std::size_t c = 0; c < expected.size(); ++c)
              ASSERT_NEAR(
                  painted[c], expected[c],
                  tolerance<T>(expected[c], terms[c], 31) + parts * static_cast<double>(count + 1))
                  << n[0] << " " << count << " " << name_of(assignment) << " " << name_of(scheme);
          }
}

TYPED_TEST(Paint, KeepsTheMassExactlyInWholeNumbers) {
  using Exec = typename TypeParam::Exec;
  using T = typename TypeParam::Real;
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
  using Exec = typename TypeParam::Exec;
  using T = typename TypeParam::Real;
  auto particles = scattered(20011, 1.0, 11);
  for (auto const assignment : assignments) {
    std::vector<T> first;
    for (auto const scheme : schemes<Exec>())
      for (unsigned shuffle = 0; shuffle < 3; ++shuffle) {
        std::mt19937 generator(shuffle);
        if (shuffle > 0) std::shuffle(particles.begin(), particles.end(), generator);
        auto const cells = new_mesh<Exec, T>({12, 12, 12});
        mesh::paint(Exec{}, to_view<Exec, T>(particles), 1.0, cells, {assignment, scheme, true});
        auto const painted = elements(cells);
        if (first.empty()) first = painted;
        ASSERT_EQ(painted, first) << name_of(scheme) << " " << name_of(assignment);
      }
  }
}

TYPED_TEST(Paint, TakesFewerPartsWhereACellWouldOverflow) {
  using Exec = typename TypeParam::Exec;
  using T = typename TypeParam::Real;
  // All in one cell: in float 2^18 parts each are 2^33.
  std::int64_t const count = 1 << 15;
  std::vector<std::array<double, 3>> const particles(static_cast<std::size_t>(count), {1, 2, 3});
  auto const cells = new_mesh<Exec, T>({4, 4, 4});
  mesh::paint(Exec{}, to_view<Exec, T>(particles), 4.0, cells, {.deterministic = true});
  auto const m = elements(cells);
  EXPECT_EQ(m[(1 * 4 + 2) * 4 + 3], T(count));
}

TYPED_TEST(Paint, AddsValuesAndVectors) {
  using Exec = typename TypeParam::Exec;
  using T = typename TypeParam::Real;
  Extents const n{6, 5, 9};
  std::int64_t const count = 3001;
  auto const particles = scattered(count, 2.0, 5), vectors = scattered(count, 1.0, 6);
  auto const x = to_view<Exec, T>(particles), v = to_view<Exec, T>(vectors);
  Kokkos::View<T*, typename Exec::memory_space> const values("values",
                                                             static_cast<std::size_t>(count));
  auto const host = Kokkos::create_mirror_view(values);
  for (std::int64_t p = 0; p < count; ++p) host(p) = static_cast<T>(vectors[p][1]);
  Kokkos::deep_copy(values, host);
  for (auto const assignment : assignments)
    for (auto const scheme : schemes<Exec>()) {
      std::vector<double> expected(static_cast<std::size_t>(n[0] * n[1] * n[2] * 3)),
          size(expected.size()), terms(expected.size());
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
      Kokkos::View<T****, Kokkos::LayoutRight, typename Exec::memory_space> const field(
          "field", n[0], n[1], n[2], 3);
      mesh::paint(Exec{}, x, v, 2.0, field, options);
      auto const one = elements(cells), three = elements(field);
      for (std::size_t c = 0; c < one.size(); ++c) {
        ASSERT_NEAR(one[c], expected[3 * c + 1],
                    tolerance<T>(size[3 * c + 1], terms[3 * c + 1], 9));
        for (int d = 0; d < 3; ++d)
          ASSERT_NEAR(three[3 * c + d], expected[3 * c + d],
                      tolerance<T>(size[3 * c + d], terms[3 * c + d], 9));
      }
    }
}

TYPED_TEST(Paint, LeavesNotANumberWhereOneIsPainted) {
  using Exec = typename TypeParam::Exec;
  using T = typename TypeParam::Real;
  auto const cells = new_mesh<Exec, T>({4, 4, 4});
  mesh::paint(Exec{}, to_view<Exec, T>({{std::nan(""), 1, 1}, {1, 1, 1}}), 4.0, cells);
  auto const m = elements(cells);
  EXPECT_TRUE(std::any_of(m.begin(), m.end(), [](T value) { return std::isnan(value); }));
}

TYPED_TEST(Paint, NamesWhatIsWrong) {
  using Exec = typename TypeParam::Exec;
  using T = typename TypeParam::Real;
  using coir::testing::message_of;
  auto const x = to_view<Exec, T>({{0, 0, 0}});
  auto const cells = new_mesh<Exec, T>({2, 2, 2});
  EXPECT_THROW(mesh::paint(Exec{}, x, 0.0, cells), PreconditionError);
  EXPECT_THROW(mesh::paint(Exec{}, x, std::nan(""), cells), PreconditionError);
  EXPECT_THROW(mesh::paint(Exec{}, x, 1.0, new_mesh<Exec, T>({2, 0, 2})), PreconditionError);
  Kokkos::View<T* [2], Kokkos::LayoutRight, typename Exec::memory_space> const flat("flat", 3);
  EXPECT_THROW(mesh::paint(Exec{}, flat, 1.0, cells), PreconditionError);
  PaintScheme const foreign = runs_on_host<Exec> ? PaintScheme::atomics : PaintScheme::slabs;
  EXPECT_THROW(mesh::paint(Exec{}, x, 1.0, cells, {.scheme = foreign}), PreconditionError);
  Kokkos::View<T*, typename Exec::memory_space> const values("values", 1), few("few", 0);
  EXPECT_THROW(mesh::paint(Exec{}, x, values, 1.0, cells, {.deterministic = true}),
               PreconditionError);
  EXPECT_THROW(mesh::paint(Exec{}, x, few, 1.0, cells), PreconditionError);
}
