#include <coir/mesh/pull_back.hpp>

#include <mesh/plain_mesh.hpp>
#include <support/typed_suite.hpp>

using namespace coir;
using namespace coir::testing;

namespace {

using Positions = std::vector<std::array<double, 3>>;

/// dW / du along an axis, u = x / h - i: on the far side of the kinks of cic.
double slope(mesh::Assignment assignment, double u) {
  double const size = std::abs(u), sign = u < 0 ? -1 : 1;
  switch (assignment) {
    case mesh::Assignment::cic: return u >= -1 && u < 0 ? 1 : u >= 0 && u < 1 ? -1 : 0;
    case mesh::Assignment::tsc: return size < 0.5 ? -2 * u : size < 1.5 ? -sign * (1.5 - size) : 0;
    default:
      return size < 1   ? sign * (-12 * size + 9 * size * size) / 6
             : size < 2 ? -sign * (2 - size) * (2 - size) / 2
                        : 0;
  }
}

/// Calls visit(cell, dW / dx) for every image of every cell that a particle touches.
template <class Visit>
void touch_slopes(std::array<double, 3> const& x, double box, Extents const& n,
                  mesh::Assignment assignment, Visit const& visit) {
  std::int64_t low[3];
  double at[3];
  for (int d = 0; d < 3; ++d) {
    at[d] = x[d] * n[d] / box;
    low[d] = static_cast<std::int64_t>(std::floor(at[d])) - 2;
  }
  std::int64_t i[3];
  for (i[0] = low[0]; i[0] <= low[0] + 5; ++i[0])
    for (i[1] = low[1]; i[1] <= low[1] + 5; ++i[1])
      for (i[2] = low[2]; i[2] <= low[2] + 5; ++i[2]) {
        std::array<double, 3> w{1, 1, 1};
        std::int64_t cell = 0;
        for (int d = 0; d < 3; ++d) {
          for (int e = 0; e < 3; ++e)
            w[e] *= d == e ? n[d] / box * slope(assignment, at[d] - i[d])
                           : coir::testing::weight(assignment, at[d] - i[d]);
          cell = cell * n[d] + (i[d] % n[d] + n[d]) % n[d];
        }
        visit(cell, w);
      }
}

/// Without those that rounding brings to the other side of a kink of cic.
Positions away_from_kinks(Positions all, double box, Extents const& n) {
  std::erase_if(all, [&](auto const& x) {
    for (int d = 0; d < 3; ++d) {
      double const at = x[d] * n[d] / box;
      if (std::abs(at - std::round(at)) < 1e-4) return true;
    }
    return false;
  });
  return all;
}

}  // namespace

COIR_TYPED_SUITE(PullBack);

TYPED_TEST(PullBack, OfPaintIsThePlainLoop) {
  TYPES_OF_CASE;
  double const box = 2.5;
  for (Extents const& n :
       {Extents{1, 1, 1}, Extents{3, 2, 1}, Extents{5, 4, 7}, Extents{13, 17, 31}}) {
    auto const mesh = new_mesh<Exec, T>(n);
    auto const numbers = fill_at_random(mesh, 1);
    for (std::int64_t count : {0, 3, 129, 3001})
      for (auto const assignment : assignments) {
        auto const particles = away_from_kinks(scattered(count, box, 9), box, n);
        VectorsOf<Exec, T> const slopes("slopes", particles.size());
        mesh::paint_pull_back(Exec{}, to_view<Exec, T>(particles), box, mesh, slopes, assignment);
        auto const found = elements(slopes);
        // Slopes are up to 31 / 2.5 per unit of length, and change by 2 per cell, by which
        // positions are off by 38 eps.
        double const tolerance = std::numeric_limits<T>::epsilon() * 31 / box * (16 + 4 * 38);
        for (std::size_t p = 0; p < particles.size(); ++p) {
          double expected[3] = {};
          touch_slopes(particles[p], box, n, assignment, [&](std::int64_t c, auto const& w) {
            for (int d = 0; d < 3; ++d) expected[d] += w[d] * numbers[c];
          });
          for (int d = 0; d < 3; ++d) ASSERT_NEAR(found[3 * p + d], expected[d], tolerance);
        }
      }
  }
}

namespace {

template <class Exec, class T>
void expect_readout_pull_back(Extents const& n, Positions const& particles,
                              mesh::Assignment assignment) {
  double const box = 2.5;
  auto const x = to_view<Exec, T>(particles);
  auto const mesh = new_mesh<Exec, T>(n), mesh_slope = new_mesh<Exec, T>(n),
             painted = new_mesh<Exec, T>(n);
  auto const field = new_mesh_of_vectors<Exec, T>(n), field_slope = new_mesh_of_vectors<Exec, T>(n),
             painted_field = new_mesh_of_vectors<Exec, T>(n);
  auto const numbers = fill_at_random(mesh, 1), vectors = fill_at_random(field, 2);
  NumbersOf<Exec, T> const of_value("of value", particles.size());
  VectorsOf<Exec, T> const of_vector("of vector", particles.size()), one("one", particles.size()),
      three("three", particles.size());
  auto const c1 = fill_at_random(of_value, 5), c3 = fill_at_random(of_vector, 6);
  mesh::readout_pull_back(Exec{}, x, box, mesh, of_value, one, mesh_slope, assignment);
  mesh::readout_pull_back(Exec{}, x, box, field, of_vector, three, field_slope, assignment);

  double const eps = std::numeric_limits<T>::epsilon();
  auto const found1 = elements(one), found3 = elements(three);
  // As in OfPaintIsThePlainLoop, of meshes of up to 11 cells, by which positions are off by 14 eps;
  // three slopes are added.
  double const tolerance = eps * 3 * 11 / box * (16 + 4 * 14);
  for (std::size_t p = 0; p < particles.size(); ++p) {
    double expected1[3] = {}, expected3[3] = {};
    touch_slopes(particles[p], box, n, assignment, [&](std::int64_t c, auto const& w) {
      for (int d = 0; d < 3; ++d) {
        expected1[d] += c1[p] * w[d] * numbers[c];
        for (int v = 0; v < 3; ++v) expected3[d] += c3[3 * p + v] * w[d] * vectors[3 * c + v];
      }
    });
    for (int d = 0; d < 3; ++d) {
      ASSERT_NEAR(found1[3 * p + d], expected1[d], tolerance);
      ASSERT_NEAR(found3[3 * p + d], expected3[d], tolerance);
    }
  }
  mesh::paint(Exec{}, x, of_value, box, painted, {.assignment = assignment});
  mesh::paint(Exec{}, x, of_vector, box, painted_field, {.assignment = assignment});
  // Devices add in any order: up to 64 numbers of each particle meet in a cell, whose sizes add up
  // to that of the particles per cell, of which there may be twice the mean.
  double const per_cell = static_cast<double>(particles.size()) / double(n[0] * n[1] * n[2]);
  double const rounding = eps * 64 * 4 * per_cell * per_cell;
  auto const expect_near = [&](auto const& a, auto const& b) {
    for (std::size_t c = 0; c < a.size(); ++c) ASSERT_NEAR(a[c], b[c], rounding);
  };
  expect_near(elements(mesh_slope), elements(painted));
  expect_near(elements(field_slope), elements(painted_field));
}

}  // namespace

TYPED_TEST(PullBack, OfPaintIsAddedWhereAsked) {
  TYPES_OF_CASE;
  auto const cells = new_mesh<Exec, T>({5, 4, 7});
  fill_at_random(cells, 1);
  auto const positions = to_view<Exec, T>(scattered(129, 2.5, 9));
  VectorsOf<Exec, T> const alone("alone", 129), sum("sum", 129);
  Kokkos::View<T* [3], Kokkos::LayoutLeft, typename Exec::memory_space> const left("left", 129);
  Kokkos::deep_copy(sum, T(10));
  Kokkos::deep_copy(left, T(10));
  mesh::paint_pull_back(Exec{}, positions, 2.5, cells, alone, mesh::Assignment::tsc);
  mesh::paint_pull_back(Exec{}, positions, 2.5, cells, sum, mesh::Assignment::tsc,
                        mesh::Derivatives::add);
  mesh::paint_pull_back(Exec{}, positions, 2.5, cells, left, mesh::Assignment::tsc,
                        mesh::Derivatives::add);
  auto const found = elements(sum), expected = elements(alone);
  auto const of_left = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, left);
  for (std::size_t i = 0; i < found.size(); ++i) {
    ASSERT_EQ(found[i], double(T(10) + T(expected[i])));
    ASSERT_EQ(of_left(i / 3, i % 3), T(found[i]));
  }
}

TYPED_TEST(PullBack, OfReadoutIsThePlainLoop) {
  TYPES_OF_CASE;
  for (Extents const& n : {Extents{1, 1, 1}, Extents{3, 2, 1}, Extents{7, 6, 11}})
    for (std::int64_t count : {0, 1, 33, 1001})
      for (auto const assignment : assignments)
        if (count <= 33 || n[0] == 7)
          expect_readout_pull_back<Exec, T>(n, away_from_kinks(scattered(count, 2.5, 3), 2.5, n),
                                            assignment);
}

TYPED_TEST(PullBack, OfPaintIsADifferenceOfALoss) {
  using Exec = typename TypeParam::Exec;
  double const box = 3, step = 1e-5;
  Extents const n{6, 9, 7};
  auto const x = away_from_kinks(scattered(201, box, 2), box, n);
  auto const mesh = new_mesh<Exec, double>(n), painted = new_mesh<Exec, double>(n);
  auto const numbers = fill_at_random(mesh, 1);
  auto const along = coir::testing::random_numbers(static_cast<std::int64_t>(3 * x.size()), 8);
  for (auto const assignment : assignments) {
    // J = sum_g mesh(g) density(g)
    auto const loss = [&](double by) {
      auto moved = x;
      for (std::size_t p = 0; p < x.size(); ++p)
        for (int d = 0; d < 3; ++d) moved[p][d] += by * along[3 * p + d];
      mesh::paint(Exec{}, to_view<Exec, double>(moved), box, painted, {.assignment = assignment});
      auto const density = elements(painted);
      double sum = 0;
      for (std::size_t c = 0; c < density.size(); ++c) sum += numbers[c] * density[c];
      return sum;
    };
    VectorsOf<Exec, double> const slopes("slopes", x.size());
    mesh::paint_pull_back(Exec{}, to_view<Exec, double>(x), box, mesh, slopes, assignment);
    auto const found = elements(slopes);
    double expected = 0;
    for (std::size_t c = 0; c < found.size(); ++c) expected += found[c] * along[c];
    // No particle crosses a kink. Third derivatives of products of weights are up to (3 / 0.33)^3
    // for each particle, times step^2 / 6; rounding is 1e-14 of some 200 over the step.
    EXPECT_NEAR((loss(step) - loss(-step)) / (2 * step), expected, 3e-6);
  }
}

TYPED_TEST(PullBack, NamesWhatIsWrong) {
  TYPES_OF_CASE;
  auto const x = to_view<Exec, T>({{0, 0, 0}});
  auto const mesh = new_mesh<Exec, T>({2, 2, 2}), other = new_mesh<Exec, T>({2, 3, 2}),
             none = new_mesh<Exec, T>({0, 2, 2});
  NumbersOf<Exec, T> const value("value", 1), few("few", 0);
  VectorsOf<Exec, T> const slope("slope", 1), too_few("too few", 0);
  EXPECT_THROW(mesh::paint_pull_back(Exec{}, x, -1.0, mesh, slope), PreconditionError);
  EXPECT_THROW(mesh::paint_pull_back(Exec{}, x, 1.0, none, slope), PreconditionError);
  EXPECT_THROW(mesh::paint_pull_back(Exec{}, x, 1.0, mesh, too_few), PreconditionError);
  EXPECT_THROW(mesh::paint_pull_back(Exec{}, x, 1.0, mesh, x), PreconditionError);
  EXPECT_THROW(mesh::readout_pull_back(Exec{}, x, 1.0, mesh, few, slope, mesh), PreconditionError);
  EXPECT_THROW(mesh::readout_pull_back(Exec{}, x, 1.0, mesh, value, slope, mesh),
               PreconditionError);
  EXPECT_THROW(mesh::readout_pull_back(Exec{}, x, 1.0, mesh, value, slope, other),
               PreconditionError);
  EXPECT_THROW(mesh::readout_pull_back(Exec{}, x, 1.0, mesh, value, x, other), PreconditionError);
}
