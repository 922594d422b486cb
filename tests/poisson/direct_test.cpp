#include <coir/poisson/direct.hpp>
#include <coir/poisson/laplacian.hpp>
#include <coir/poisson/solve.hpp>

#include <poisson/random_fields.hpp>
#include <support/layouts.hpp>
#include <support/message_of.hpp>
#include <support/typed_suite.hpp>

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

using coir::Shape;
using coir::poisson::Boundary;
using coir::poisson::direct;
using coir::poisson::Direct;
using coir::poisson::DirectOptions;
using namespace coir::testing;

namespace {

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

/// A field with a ring in host memory, in C order.
template <int Rank>
struct HostField {
  std::array<int, Rank> cells;
  std::vector<double> values;

  explicit HostField(std::array<int, Rank> const& n) : cells(n) {
    std::size_t size = 1;
    for (int const m : n) size *= static_cast<std::size_t>(m) + 2;
    values.assign(size, not_a_number);
  }
  /// The value at an index, where 0 and n + 1 are the ring.
  double& at(std::array<int, Rank> const& index) {
    std::size_t offset = 0;
    for (std::size_t d = 0; d < Rank; ++d)
      offset =
          offset * (static_cast<std::size_t>(cells[d]) + 2) + static_cast<std::size_t>(index[d]);
    return values[offset];
  }
};

/// Calls what(index) for all cells, indices from 1.
template <int Rank, class What>
void for_cells(std::array<int, Rank> const& cells, What const& what) {
  std::array<int, Rank> index;
  index.fill(1);
  for (;;) {
    what(index);
    int d = Rank - 1;
    while (d >= 0 && ++index[static_cast<std::size_t>(d)] > cells[static_cast<std::size_t>(d)])
      index[static_cast<std::size_t>(d--)] = 1;
    if (d < 0) return;
  }
}

/// L u - c u at an index, by the definition of the boundaries.
template <int Rank>
double operator_at(HostField<Rank>& u, std::array<int, Rank> const& index,
                   DirectOptions<Rank> const& options) {
  double sum = 0;
  double const here = u.at(index);
  for (std::size_t d = 0; d < Rank; ++d) {
    double const h = options.spacing[d];
    double around = 0;
    for (int const step : {-1, 1}) {
      auto other = index;
      other[d] += step;
      bool const in_ring = other[d] < 1 || other[d] > u.cells[d];
      if (in_ring && options.boundary[d] == Boundary::periodic) {
        other[d] = other[d] < 1 ? u.cells[d] : 1;
        around += u.at(other);
      } else if (in_ring && options.boundary[d] == Boundary::slopes) {
        around += here + h * u.at(other);
      } else {
        around += u.at(other);
      }
    }
    sum += (around - 2 * here) / (h * h);
  }
  return sum - options.constant * here;
}

/// Random numbers in [-1, 1], by a linear congruence.
struct Noise {
  std::uint64_t state;
  double operator()() {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return double(state >> 33) / double(1u << 30) - 1;
  }
};

/// A random solution with its ring; corners and rings that aren't read hold NaN.
template <int Rank>
HostField<Rank> random_solution(std::array<int, Rank> const& cells,
                                DirectOptions<Rank> const& options, std::uint64_t seed) {
  HostField<Rank> u(cells);
  Noise noise{seed};
  for_cells<Rank>(cells, [&](std::array<int, Rank> const& index) {
    u.at(index) = noise();
    for (std::size_t d = 0; d < Rank; ++d)
      for (int const edge : {0, cells[d] + 1}) {
        auto other = index;
        other[d] = edge;
        if (options.boundary[d] != Boundary::periodic && std::isnan(u.at(other)))
          u.at(other) = noise();
      }
  });
  return u;
}

/// The least eigenvalue of c - L in magnitude, of axes of at most some hundred cells.
template <int Rank>
double least_eigenvalue(std::array<int, Rank> const& cells, DirectOptions<Rank> const& options) {
  double least = std::numeric_limits<double>::infinity();
  for_cells<Rank>(cells, [&](std::array<int, Rank> const& index) {
    double sum = options.constant;
    for (std::size_t d = 0; d < Rank; ++d) {
      double const n = cells[d], k = index[d];
      double const angle = options.boundary[d] == Boundary::values   ? k / (2 * (n + 1))
                           : options.boundary[d] == Boundary::slopes ? (k - 1) / (2 * n)
                                                                     : (k - 1) / n;
      sum += std::pow(2 * std::sin(std::numbers::pi * angle) / options.spacing[d], 2);
    }
    if (std::abs(sum) > 1e-9) least = std::min(least, std::abs(sum));
  });
  return least;
}

/// Makes the source of a random solution, and solves for the solution.
///
/// The bound: each of the transforms, and the equations between them, round by a few units in the
/// last place of the largest number, and dividing by the least eigenvalue scales errors of the
/// source by its inverse.
template <class C, Laid L, int Rank>
void expect_solution(std::array<int, Rank> const& cells, DirectOptions<Rank> options) {
  using T = typename C::Real;
  using Space = typename C::Exec::memory_space;
  HostField<Rank> exact = random_solution<Rank>(cells, options, 7);
  std::array<std::int64_t, Rank> inner, ringed;
  for (std::size_t d = 0; d < Rank; ++d) {
    inner[d] = cells[d];
    ringed[d] = cells[d] + 2;
  }
  auto const b = allocate<Laid::right, T, Kokkos::HostSpace>(inner);
  auto const u = allocate<Laid::right, T, Kokkos::HostSpace>(ringed);
  double largest = 0, mean = 0;
  std::size_t cell = 0;
  for (double& value : exact.values) value = static_cast<double>(static_cast<T>(value));
  for_cells<Rank>(cells, [&](std::array<int, Rank> const& index) {
    double const source = operator_at<Rank>(exact, index, options);
    b.data()[cell++] = static_cast<T>(source);
    largest = std::max(largest, std::abs(source));
    mean += exact.at(index) / double(b.size());
  });
  for (std::size_t i = 0; i < u.size(); ++i) u.data()[i] = static_cast<T>(exact.values[i]);
  for_cells<Rank>(cells, [&](std::array<int, Rank> const& index) {
    std::size_t const offset = static_cast<std::size_t>(&exact.at(index) - exact.values.data());
    u.data()[offset] = static_cast<T>(not_a_number);  // the solver doesn't look at what u holds
  });
  options.mean = mean;

  auto const b_d = copy_as<L>(Kokkos::create_mirror_view_and_copy(Space{}, b));
  auto const u_d = copy_as<L>(Kokkos::create_mirror_view_and_copy(Space{}, u));
  direct(typename C::Exec{}, b_d, u_d, options);
  auto const result = on_host(copy_as<Laid::right>(u_d));

  double const bound = 64 * double(std::numeric_limits<T>::epsilon()) *
                       (1 + largest / least_eigenvalue<Rank>(cells, options));
  double worst = 0;
  for_cells<Rank>(cells, [&](std::array<int, Rank> const& index) {
    std::size_t const offset = static_cast<std::size_t>(&exact.at(index) - exact.values.data());
    double const error = std::abs(double(result.data()[offset]) - exact.values[offset]);
    worst = std::isnan(error) ? std::numeric_limits<double>::infinity() : std::max(worst, error);
    exact.values[offset] = not_a_number;
  });
  EXPECT_LE(worst, bound) << name_of(L);
  for (std::size_t i = 0; i < u.size(); ++i)  // the ring stays
    if (!std::isnan(exact.values[i])) EXPECT_EQ(double(result.data()[i]), exact.values[i]);
}

template <int Rank>
std::string words_of(std::array<int, Rank> const& cells, DirectOptions<Rank> const& options) {
  std::string text;
  for (std::size_t d = 0; d < Rank; ++d)
    text += std::to_string(cells[d]) + " " + name_of(options.boundary[d]) + ", ";
  return text + "c = " + std::to_string(options.constant);
}

/// All kinds of boundaries in turn.
template <int Rank, class What>
void for_boundaries(What const& what) {
  constexpr Boundary kinds[] = {Boundary::values, Boundary::slopes, Boundary::periodic};
  int count = 1;
  for (int d = 0; d < Rank; ++d) count *= 3;
  for (int number = 0; number < count; ++number) {
    DirectOptions<Rank> options;
    for (int d = 0, rest = number; d < Rank; ++d, rest /= 3) {
      options.boundary[static_cast<std::size_t>(d)] = kinds[rest % 3];
      options.spacing[static_cast<std::size_t>(d)] = 1 + 0.25 * d;
    }
    what(options);
  }
}

template <class C, Laid L, int Rank>
void expect_solutions(std::vector<std::array<int, Rank>> const& shapes) {
  for_boundaries<Rank>([&](DirectOptions<Rank> options) {
    for (double const constant : {0., 0.7})
      for (auto const& cells : shapes) {
        options.constant = constant;
        SCOPED_TRACE(words_of<Rank>(cells, options));
        expect_solution<C, L, Rank>(cells, options);
      }
  });
}

COIR_TYPED_SUITE(DirectTest);

}  // namespace

TYPED_TEST(DirectTest, FindsTheSolutionOnLines) {
  expect_solutions<TypeParam, Laid::right, 1>({{1}, {2}, {3}, {16}, {31}, {37}});
}

TYPED_TEST(DirectTest, FindsTheSolutionOnRectangles) {
  expect_solutions<TypeParam, Laid::right, 2>(
      {{1, 1}, {1, 7}, {6, 1}, {5, 8}, {30, 41}, {12, 530}, {37, 300}});
}

TYPED_TEST(DirectTest, FindsTheSolutionInBoxes) {
  expect_solutions<TypeParam, Laid::right, 3>({{1, 1, 1}, {2, 3, 4}, {7, 1, 12}, {9, 16, 37}});
}

TYPED_TEST(DirectTest, TakesAnyLayout) {
  using C = TypeParam;
  for_boundaries<2>([](DirectOptions<2> const& options) {
    SCOPED_TRACE(words_of<2>({9, 20}, options));
    expect_solution<C, Laid::left, 2>({9, 20}, options);
    expect_solution<C, Laid::with_gaps, 2>({9, 20}, options);
    expect_solution<C, Laid::apart, 2>({9, 20}, options);
    expect_solution<C, Laid::turned, 2>({9, 20}, options);
  });
  expect_solution<C, Laid::left, 3>({5, 6, 11}, {.boundary = {Boundary::slopes, Boundary::values}});
  expect_solution<C, Laid::apart, 3>({5, 6, 11}, {.boundary = {Boundary::periodic}});
}

// Helmholtz' equation between two eigenvalues, where the equations have no dominant diagonal.
TYPED_TEST(DirectTest, SolvesHelmholtz) {
  for (double const constant : {-0.05, -1.3, -3.7}) {
    DirectOptions<2> const options{.boundary = {Boundary::values, Boundary::slopes},
                                   .constant = constant};
    SCOPED_TRACE(words_of<2>({12, 17}, options));
    expect_solution<TypeParam, Laid::right, 2>({12, 17}, options);
  }
}

TYPED_TEST(DirectTest, SolvesABatchAsOneByOne) {
  TYPES_OF_CASE;
  constexpr int batch = 3, m = 10, n = 23;
  DirectOptions<2> const options{.boundary = {Boundary::values, Boundary::periodic}};
  GridOf<TypeParam, 3> const b("b", batch, m, n), u("u", batch, m + 2, n + 2);
  fill_random(b, 1);
  fill_random(u, 2);
  GridOf<TypeParam, 3> const one_by_one = copy_of(u);
  Direct<Exec, T, 2> together(Exec{}, {m, n}, options, batch);
  together.solve(b, u);
  Direct<Exec, T, 2> single(Exec{}, {m, n}, options);
  for (int i = 0; i < batch; ++i) {
    auto const at = [i](auto const& fields) {
      return Kokkos::subview(fields, i, Kokkos::ALL, Kokkos::ALL);
    };
    single.solve(at(b), at(one_by_one));
  }
  Kokkos::fence();
  if constexpr (coir::runs_on_host<Exec>) {
    EXPECT_EQ(differing(u, one_by_one), 0u);
  } else {
    // cuBLAS chooses its kernels by the batch, and so the order of additions. Each solution is
    // within the bound of expect_solution(), which counts u twice here: u isn't at most 1.
    double const largest = 300;  // of b, and of two numbers in the ring
    double const bound = 4 * 64 * double(std::numeric_limits<T>::epsilon()) * largest /
                         least_eigenvalue<2>({m, n}, options);
    auto const all = on_host(u), single_ones = on_host(one_by_one);
    for (std::size_t i = 0; i < all.size(); ++i)
      EXPECT_NEAR(double(all.data()[i]), double(single_ones.data()[i]), bound);
  }
  EXPECT_NE(message_of([&] {
              together.solve(Kokkos::subview(b, 0, Kokkos::ALL, Kokkos::ALL),
                             Kokkos::subview(u, 0, Kokkos::ALL, Kokkos::ALL));
            }).find("as many fields as the solver's batch, not 1"),
            std::string::npos);
}

/// The largest error of a solution on n cells along the unit square's sides.
template <class C>
double error_of(int n, Boundary boundary) {
  constexpr double pi = std::numbers::pi;
  double const h = boundary == Boundary::values ? 1. / (n + 1) : 1. / n;
  double const shift = boundary == Boundary::values ? 0 : -0.5;
  // -sin(pi x) sin(2 pi y), moved so that no boundary is special; periodic: its period is 1.
  double const fx = boundary == Boundary::periodic ? 2 * pi : pi;
  double const phase = boundary == Boundary::values ? 0 : 0.3;
  auto const exact = [&](double x, double y) {
    return -std::sin(fx * x + phase) * std::sin(2 * pi * y + phase);
  };
  GridOf<C> const b("b", n, n), u("u", n + 2, n + 2);
  auto const b_h = Kokkos::create_mirror_view(b), u_h = Kokkos::create_mirror_view(u);
  for (int i = 0; i < n + 2; ++i)
    for (int j = 0; j < n + 2; ++j) {
      double const x = (i + shift) * h, y = (j + shift) * h;
      u_h(i, j) = exact(x, y);
      bool const in_x = i > 0 && i <= n, in_y = j > 0 && j <= n;
      if (in_x && in_y) {
        b_h(i - 1, j - 1) = -(fx * fx + 4 * pi * pi) * exact(x, y);
      } else if (boundary == Boundary::slopes) {
        double const out_x = i == 0 ? -1 : 1, out_y = j == 0 ? -1 : 1;
        double const face_x = i == 0 ? 0 : 1, face_y = j == 0 ? 0 : 1;
        if (in_y)
          u_h(i, j) = -out_x * fx * std::cos(fx * face_x + phase) * std::sin(2 * pi * y + phase);
        if (in_x)
          u_h(i, j) =
              -out_y * 2 * pi * std::sin(fx * x + phase) * std::cos(2 * pi * face_y + phase);
      }
    }
  if (boundary == Boundary::slopes) {  // the equation has no exact solution unless the sums agree
    double excess = 0;
    for (int i = 1; i <= n; ++i)
      excess += (u_h(i, 0) + u_h(i, n + 1) + u_h(0, i) + u_h(n + 1, i)) / h;
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j) excess -= b_h(i, j);
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j) b_h(i, j) += excess / (double(n) * n);
  }
  double mean = 0;
  for (int i = 1; i <= n; ++i)
    for (int j = 1; j <= n; ++j) mean += u_h(i, j) / (double(n) * n);
  auto const expected = copy_of(u_h);
  Kokkos::deep_copy(b, b_h);
  Kokkos::deep_copy(u, u_h);
  direct(typename C::Exec{}, b, u,
         {.boundary = {boundary, boundary}, .spacing = {h, h}, .mean = mean});
  auto const found = on_host(u);
  double worst = 0;
  for (int i = 1; i <= n; ++i)
    for (int j = 1; j <= n; ++j) worst = std::max(worst, std::abs(found(i, j) - expected(i, j)));
  return worst;
}

template <class C>
class DirectInDouble : public ::testing::Test {};
TYPED_TEST_SUITE(DirectInDouble, coir::testing::DoubleCases, coir::testing::CaseName);

TYPED_TEST(DirectInDouble, ConvergesWithTheSecondOrder) {
  for (Boundary const boundary : {Boundary::values, Boundary::slopes, Boundary::periodic}) {
    // Spacings that differ by a factor of two; 1 / (n + 1) with values.
    int const more = boundary == Boundary::values ? -1 : 0;
    double const coarse = error_of<TypeParam>(128 + more, boundary);
    double const fine = error_of<TypeParam>(256 + more, boundary);
    double const order = std::log2(coarse / fine);
    EXPECT_GT(order, 1.98) << name_of(boundary);
    EXPECT_LT(order, 2.02) << name_of(boundary);
  }
}

// A solution rounds to epsilon times its size. For noise of mean zero the solution grows with the
// side: the limit is 1e-12 of the source for 4095 cells along an axis.
TYPED_TEST(DirectInDouble, LeavesNoResidual) {
  TYPES_OF_CASE;
  constexpr int n = 1023;
  GridOf<TypeParam> const b("b", n, n), u("u", n + 2, n + 2);
  fill_random(b, 5);
  direct(Exec{}, b, u);
  double const residual = coir::poisson::residual_norm(Exec{}, b, u);
  EXPECT_LE(residual, 1e-12 * n / 4095 * coir::poisson::source_norm(Exec{}, b, u));
}

TYPED_TEST(DirectInDouble, SaysWhatItTakes) {
  TYPES_OF_CASE;
  using Solver = Direct<Exec, T, 2>;
  Solver const solver(Exec{}, {70, 299});
  EXPECT_EQ(solver.largest_prime_factor(), 5);
  EXPECT_EQ((Solver(Exec{}, {70, 400}).largest_prime_factor()), 401);
  for (std::array<int, 2> const& extents : {std::array{1, 1},
                                            {70, 299},
                                            {266, 400},
                                            {512, 512},
                                            {700, 1100},
                                            {1009, 1009},
                                            {512, 20000},
                                            {3000, 2000}})
    for (Boundary const boundary : {Boundary::values, Boundary::slopes}) {
      std::int64_t const bytes = Solver::bytes(Exec{}, extents, {.boundary = {boundary, boundary}});
      EXPECT_GT(bytes, 0);
      // Slopes are transformed along both axes, by two kinds of transforms.
      std::int64_t const fields = boundary == Boundary::values ? 1 : 2,
                         field = std::int64_t(extents[0]) * extents[1] *
                                 static_cast<std::int64_t>(sizeof(T));
      if (!coir::runs_on_host<Exec>)
        EXPECT_LE(bytes, fields * (field + (5 << 20))) << extents[0] << " x " << extents[1];
    }
}

TYPED_TEST(DirectInDouble, RefusesWhatHasNoSolution) {
  TYPES_OF_CASE;
  Exec const exec;
  GridOf<TypeParam> const b("b", 4, 6), u("u", 6, 8);
  Kokkos::deep_copy(b, 0.5);
  auto const says = [&](auto const& action, std::string const& text) {
    std::string const message = message_of(action);
    EXPECT_NE(message.find(text), std::string::npos) << message;
  };
  DirectOptions<2> const open{.boundary = {Boundary::slopes, Boundary::periodic}};
  says([&] { direct(exec, b, u, open); }, "must sum to 0, not 12 (");
  // u is as before.
  EXPECT_EQ(on_host(u)(2, 3), 0);
  GridOf<TypeParam> const with_nan("b", 4, 6);
  Kokkos::deep_copy(with_nan, not_a_number);
  says([&] { direct(exec, with_nan, u, open); }, "must sum to 0, not ");
  says([&] { direct(exec, b, u, {.spacing = {1e160, 1}}); }, "a spacing is too large or too small");
  says([&] { direct(exec, b, u, {.constant = 1e-310}); }, "the constant is too large or too small");
  DirectOptions<2> singular;
  // An eigenvalue of L: -4 sin^2(pi/10) - 4 sin^2(pi/14).
  singular.constant = -4 * (std::pow(std::sin(std::numbers::pi / 10), 2) +
                            std::pow(std::sin(std::numbers::pi / 14), 2));
  says([&] { direct(exec, b, u, singular); }, "the nearest eigenvalue of L is -0.5");
  says([&] { direct(exec, b, u, {.spacing = {1, 0}}); }, "spacings must be positive");
  says([&] { direct(exec, b, u, {.spacing = {not_a_number, 1}}); }, "spacings must be positive");
  says([&] { direct(exec, b, u, {.constant = not_a_number}); }, "the constant must be finite");
  says([&] { direct(exec, GridOf<TypeParam>("b", 0, 6), GridOf<TypeParam>("u", 2, 8)); },
       "at least 1 cell along each axis, not 0");
  says([&] { direct(exec, b, GridOf<TypeParam>("u", 6, 6)); },
       "u must have 6 + 2 cells along axis 1");
  says([&] { Direct<Exec, T, 2>(exec, {4, 5}).solve(b, u); },
       "b must have 5 cells along axis 1 for this solver, not 6");
  auto const inside = Kokkos::subview(u, std::pair(0, 4), std::pair(1, 7));
  says([&] { direct(exec, inside, u); }, "must not share memory");
  Kokkos::LayoutStride const twice(6, 0, 8, 1);
  Kokkos::View<T**, Kokkos::LayoutStride, Space> const folded(u.data(), twice);
  says([&] { direct(exec, b, folded); }, "has elements in the same place");
}

TYPED_TEST(DirectTest, SolveTakesTheFasterSolver) {
  TYPES_OF_CASE;
  using coir::poisson::Solver;
  double const tolerance = std::is_same_v<T, float> ? 1e-4 : 1e-8;
  auto const solve = [&](int m, int n) {
    GridOf<TypeParam> const b("b", m, n), u("u", m + 2, n + 2);
    fill_random(b, 5);
    auto const result = coir::poisson::solve(Exec{}, b, u, {.tolerance = tolerance});
    EXPECT_TRUE(result.converged) << result.relative_residual;
    double const residual = coir::poisson::residual_norm(Exec{}, b, u);
    EXPECT_LE(residual, tolerance * coir::poisson::source_norm(Exec{}, b, u));
    return result;
  };
  auto const good = solve(40, 99);
  EXPECT_EQ(good.solver, Solver::direct);
  EXPECT_EQ(good.iterations, 1);
  EXPECT_EQ(solve(40, 240).solver, coir::runs_on_host<Exec> ? Solver::multigrid : Solver::direct);
  GridOf<TypeParam, 3> const b("b", 7, 8, 9), u("u", 9, 10, 11);
  Kokkos::deep_copy(b, 1);
  EXPECT_TRUE(coir::poisson::solve(b, u, {.tolerance = tolerance}).converged);
  EXPECT_NE(message_of([&] {
              coir::poisson::solve(b, u, {.tolerance = 0});
            }).find("the tolerance must lie in (0, 1), not 0"),
            std::string::npos);
}

// A smooth source, for which rounding keeps the direct solution from what multigrid reaches.
TYPED_TEST(DirectInDouble, SolveGoesOnWhereRoundingEndsTheDirectSolver) {
  TYPES_OF_CASE;
  GridOf<TypeParam> const b("b", 1023, 1023), u("u", 1025, 1025);
  Kokkos::deep_copy(b, 1);
  auto const result = coir::poisson::solve(Exec{}, b, u, {.tolerance = 7e-12});
  EXPECT_EQ(result.solver, coir::poisson::Solver::direct);
  EXPECT_TRUE(result.converged) << result.relative_residual;
}
