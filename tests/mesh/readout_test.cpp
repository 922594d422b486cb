#include <coir/mesh/paint.hpp>
#include <coir/mesh/readout.hpp>

#include <mesh/plain_mesh.hpp>
#include <support/spaces.hpp>

#include <random>

using namespace coir;
using coir::testing::elements;
using coir::testing::Extents;
using coir::testing::scattered;
using coir::testing::to_view;
using mesh::Assignment;

namespace {

constexpr Assignment assignments[] = {Assignment::cic, Assignment::tsc, Assignment::pcs};

template <class V>
std::vector<double> fill(V const& view, unsigned seed) {
  auto const host = Kokkos::create_mirror_view(view);
  std::mt19937 generator(seed);
  std::uniform_real_distribution<float> number(-1, 1);
  std::vector<double> values(host.size());
  for (std::size_t c = 0; c < host.size(); ++c) values[c] = host.data()[c] = number(generator);
  Kokkos::deep_copy(view, host);
  return values;
}

}  // namespace

template <class Case>
class Readout : public ::testing::Test {};
TYPED_TEST_SUITE(Readout, coir::testing::Cases, coir::testing::CaseName);

TYPED_TEST(Readout, IsThePlainLoopForNumbersAndVectors) {
  using Exec = typename TypeParam::Exec;
  using T = typename TypeParam::Real;
  using Space = typename Exec::memory_space;
  for (Extents const& n :
       {Extents{1, 1, 1}, Extents{3, 2, 1}, Extents{5, 4, 7}, Extents{13, 17, 31}}) {
    Kokkos::View<T***, Kokkos::LayoutRight, Space> const mesh("mesh", n[0], n[1], n[2]);
    Kokkos::View<T****, Kokkos::LayoutRight, Space> const field("field", n[0], n[1], n[2], 3);
    auto const numbers = fill(mesh, 1), vectors = fill(field, 2);
    for (std::int64_t count : {0, 1, 129, 3001})
      for (auto const assignment : assignments) {
        auto const particles = scattered(count, 2.5, 9);
        auto const x = to_view<Exec, T>(particles);
        Kokkos::View<T*, Space> const value("value", count);
        Kokkos::View<T* [3], Kokkos::LayoutRight, Space> const vector("vector", count);
        mesh::readout(Exec{}, x, 2.5, mesh, value, assignment);
        mesh::readout(Exec{}, x, 2.5, field, vector, assignment);
        auto const one = elements(value), three = elements(vector);
        // Weights are off by some roundings and the position's in cells; fields are below 1, and weights add up to 1.
        double const tolerance = std::numeric_limits<T>::epsilon() * (8 + 2.4 * 31);
        for (std::int64_t p = 0; p < count; ++p) {
          double expected[4] = {};
          coir::testing::touch(particles[p], 2.5, n, assignment, [&](std::int64_t c, double w) {
            expected[3] += w * numbers[c];
            for (int d = 0; d < 3; ++d) expected[d] += w * vectors[3 * c + d];
          });
          ASSERT_NEAR(one[p], expected[3], tolerance);
          for (int d = 0; d < 3; ++d) ASSERT_NEAR(three[3 * p + d], expected[d], tolerance);
        }
      }
  }
}

TYPED_TEST(Readout, IsTheAdjointOfPaint) {
  using Exec = typename TypeParam::Exec;
  using T = typename TypeParam::Real;
  using Space = typename Exec::memory_space;
  std::int64_t const count = 5003;
  auto const x = to_view<Exec, T>(scattered(count, 1.0, 4));
  for (auto const assignment : assignments) {
    Kokkos::View<T***, Kokkos::LayoutRight, Space> const mesh("mesh", 9, 8, 7),
        painted("painted", 9, 8, 7);
    Kokkos::View<T*, Space> const given("given", count), read("read", count);
    auto const m = fill(mesh, 1), v = fill(given, 2);
    mesh::paint(Exec{}, x, given, 1.0, painted, {.assignment = assignment});
    mesh::readout(Exec{}, x, 1.0, mesh, read, assignment);
    auto const p = elements(painted), r = elements(read);
    double on_mesh = 0, on_particles = 0, size = 0;
    for (std::size_t c = 0; c < m.size(); ++c) on_mesh += m[c] * p[c];
    for (std::size_t c = 0; c < v.size(); ++c) {
      on_particles += v[c] * r[c];
      size += std::abs(v[c]);
    }
    // The same weights enter both, so that only products and sums round.
    EXPECT_NEAR(on_mesh, on_particles, 16 * std::numeric_limits<T>::epsilon() * size);
  }
}

TYPED_TEST(Readout, NamesWhatIsWrong) {
  using Exec = typename TypeParam::Exec;
  using T = typename TypeParam::Real;
  using Space = typename Exec::memory_space;
  auto const x = to_view<Exec, T>({{0, 0, 0}});
  Kokkos::View<T***, Kokkos::LayoutRight, Space> const mesh("mesh", 2, 2, 2), none("none", 0, 2, 2);
  Kokkos::View<T*, Space> const value("value", 1), few("few", 0);
  EXPECT_THROW(mesh::readout(Exec{}, x, -1.0, mesh, value), PreconditionError);
  EXPECT_THROW(mesh::readout(Exec{}, x, 1.0, none, value), PreconditionError);
  EXPECT_THROW(mesh::readout(Exec{}, x, 1.0, mesh, few), PreconditionError);
  Kokkos::View<T****, Kokkos::LayoutRight, Space> const two("two", 2, 2, 2, 2);
  Kokkos::View<T* [3], Kokkos::LayoutRight, Space> const vector("vector", 1);
  EXPECT_THROW(mesh::readout(Exec{}, x, 1.0, two, vector), PreconditionError);
}
