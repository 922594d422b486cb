#include <coir/mesh/mesh_values.hpp>
#include <coir/mesh/paint.hpp>
#include <coir/mesh/readout.hpp>

#include <mesh/plain_mesh.hpp>
#include <support/typed_suite.hpp>

#include <cmath>
#include <limits>

using namespace coir;
using namespace coir::testing;

COIR_TYPED_SUITE(Readout);

TYPED_TEST(Readout, IsThePlainLoopForNumbersAndVectors) {
  TYPES_OF_CASE;
  for (Extents const& n :
       {Extents{1, 1, 1}, Extents{3, 2, 1}, Extents{5, 4, 7}, Extents{13, 17, 31}}) {
    auto const mesh = new_mesh<Exec, T>(n);
    auto const field = new_mesh_of_vectors<Exec, T>(n);
    auto const numbers = fill_at_random(mesh, 1), vectors = fill_at_random(field, 2);
    for (std::int64_t count : {0, 1, 129, 3001})
      for (auto const assignment : assignments) {
        auto const particles = scattered(count, 2.5, 9);
        auto const x = to_view<Exec, T>(particles);
        NumbersOf<Exec, T> const value("value", count);
        VectorsOf<Exec, T> const vector("vector", count);
        auto const compare = [&] {
          auto const one = elements(value), three = elements(vector);
          // Weights are off by some roundings and the position's in cells; fields are below 1, and
          // weights add up to 1.
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
        };
        mesh::readout(Exec{}, x, 2.5, mesh, value, assignment);
        mesh::readout(Exec{}, x, 2.5, field, vector, assignment);
        compare();
        if constexpr (runs_on_host<Exec>) {  // one by one, as devices read
          Kokkos::deep_copy(value, T(0));
          Kokkos::deep_copy(vector, T(0));
          mesh::with_support(assignment, [&]<int Support>(std::integral_constant<int, Support>) {
            mesh::MeshValues<Support, 1, T> const of_mesh(read_only(mesh::cells_of(mesh)), 2.5);
            mesh::MeshValues<Support, 3, T> const of_field(read_only(mesh::cells_of(field)), 2.5);
            for (std::int64_t p = 0; p < count; ++p) {
              value(p) = of_mesh(&x(p, 0)).component[0];
              auto const at = of_field(&x(p, 0));
              for (int d = 0; d < 3; ++d) vector(p, d) = at.component[d];
            }
          });
          compare();
        }
      }
  }
}

TYPED_TEST(Readout, IsTheAdjointOfPaint) {
  TYPES_OF_CASE;
  std::int64_t const count = 5003;
  auto const x = to_view<Exec, T>(scattered(count, 1.0, 4));
  for (auto const assignment : assignments) {
    auto const mesh = new_mesh<Exec, T>({9, 8, 7}), painted = new_mesh<Exec, T>({9, 8, 7});
    NumbersOf<Exec, T> const given("given", count), read("read", count);
    auto const m = fill_at_random(mesh, 1), v = fill_at_random(given, 2);
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

TYPED_TEST(Readout, IsNotANumberWhereAPositionIsnt) {
  TYPES_OF_CASE;
  double const infinity = std::numeric_limits<double>::infinity();
  auto const x = to_view<Exec, T>(
      {{0, 0, 0}, {0, std::nan(""), 0}, {infinity, 0, 0}, {0, 0, -infinity}, {1, 1, 1}});
  auto const mesh = new_mesh<Exec, T>({4, 4, 4});
  Kokkos::deep_copy(mesh, T(1));
  for (auto const assignment : assignments) {
    NumbersOf<Exec, T> const values("values", 5);
    mesh::readout(Exec{}, x, 4.0, mesh, values, assignment);
    auto const read = elements(values);
    for (std::size_t p = 0; p < 5; ++p)
      EXPECT_EQ(std::isnan(read[p]), p >= 1 && p <= 3) << name_of(assignment) << " " << p;
  }
}

TYPED_TEST(Readout, NamesWhatIsWrong) {
  TYPES_OF_CASE;
  auto const x = to_view<Exec, T>({{0, 0, 0}});
  auto const mesh = new_mesh<Exec, T>({2, 2, 2}), none = new_mesh<Exec, T>({0, 2, 2});
  NumbersOf<Exec, T> const value("value", 1), few("few", 0);
  EXPECT_THROW(mesh::readout(Exec{}, x, -1.0, mesh, value), PreconditionError);
  EXPECT_THROW(mesh::readout(Exec{}, x, 1.0, none, value), PreconditionError);
  EXPECT_THROW(mesh::readout(Exec{}, x, 1.0, mesh, few), PreconditionError);
  MeshOfVectors<Exec, T> const two("two", 2, 2, 2, 2);
  VectorsOf<Exec, T> const vector("vector", 1);
  EXPECT_THROW(mesh::readout(Exec{}, x, 1.0, two, vector), PreconditionError);
}
