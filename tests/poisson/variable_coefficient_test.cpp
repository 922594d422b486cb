// Conjugate gradients for div(k grad u) = b.

#include <coir/poisson/conjugate_gradients.hpp>
#include <coir/poisson/direct.hpp>

#include <poisson/random_fields.hpp>
#include <support/layouts.hpp>
#include <support/message_of.hpp>
#include <support/typed_suite.hpp>

#include <cmath>
#include <limits>
#include <numbers>
#include <string>
#include <vector>

using coir::poisson::conjugate_gradients;
using coir::poisson::Preconditioner;
using namespace coir::testing;

namespace {

std::vector<Preconditioner> preconditioners() {
  std::vector<Preconditioner> all{Preconditioner::none, Preconditioner::multigrid};
  if (coir::poisson::has_direct()) all.push_back(Preconditioner::direct);
  return all;
}

/// A random solution, a coefficient and the source that the plain definition makes of them.
template <class C>
struct VariableProblem {
  using T = typename C::Real;
  GridOf<C> k, b, exact, u;
  double least_k = std::numeric_limits<double>::infinity();

  template <class Coefficient>
  VariableProblem(int m, int n, Coefficient const& coefficient)
      : k("k", m, n), b("b", m, n), exact("exact", m + 2, n + 2), u("u", m + 2, n + 2) {
    fill_random(exact, 3);
    auto const k_h = Kokkos::create_mirror_view(k), b_h = Kokkos::create_mirror_view(b);
    auto const u_h = on_host(exact);
    for (int i = 0; i < m; ++i)
      for (int j = 0; j < n; ++j) {
        k_h(i, j) = static_cast<T>(coefficient((i + 0.5) / m, (j + 0.5) / n));
        least_k = std::min(least_k, double(k_h(i, j)));
      }
    for (int i = 0; i < m; ++i)
      for (int j = 0; j < n; ++j) {
        double sum = 0;
        for (auto const& [di, dj] : {std::pair(-1, 0), {1, 0}, {0, -1}, {0, 1}}) {
          int const a = i + di, c = j + dj;
          bool const inside = a >= 0 && a < m && c >= 0 && c < n;
          double const here = k_h(i, j), there = inside ? double(k_h(a, c)) : here;
          sum += 2 * here * there / (here + there) *
                 (double(u_h(a + 1, c + 1)) - double(u_h(i + 1, j + 1)));
        }
        b_h(i, j) = static_cast<T>(sum);
      }
    Kokkos::deep_copy(k, k_h);
    Kokkos::deep_copy(b, b_h);
    Kokkos::deep_copy(u, exact);
    auto const start = on_host(u);
    for (int i = 1; i <= m; ++i)
      for (int j = 1; j <= n; ++j) start(i, j) = 0;
    Kokkos::deep_copy(u, start);
  }

  /// The error of u in the Euclidean norm.
  double error() const {
    auto const a = on_host(u), e = on_host(exact);
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i)
      sum += std::pow(double(a.data()[i]) - double(e.data()[i]), 2);
    return std::sqrt(sum);
  }
  /// A bound of the inverse operator's norm: the least k times the least eigenvalue of -L.
  double inverse() const {
    double eigenvalue = 0;
    for (std::size_t d = 0; d < 2; ++d)
      eigenvalue += 4 * std::pow(std::sin(std::numbers::pi / 2 / (double(k.extent(d)) + 1)), 2);
    return 1 / (least_k * eigenvalue);
  }
};

double smooth(double x, double y) {
  return std::pow(1000., 0.5 * std::sin(2 * std::numbers::pi * x) * std::sin(std::numbers::pi * y));
}
double with_jumps(double x, double y) { return std::hypot(x - 0.5, y - 0.4) < 0.3 ? 20 : 1; }

COIR_TYPED_SUITE(VariableCoefficient);

}  // namespace

TYPED_TEST(VariableCoefficient, FindsTheSolution) {
  TYPES_OF_CASE;
  double const tolerance = std::is_same_v<T, float> ? 1e-4 : 1e-10;
  for (auto const coefficient : {smooth, with_jumps})
    for (auto const& [m, n] : {std::pair(1, 1), {1, 9}, {8, 1}, {37, 50}})
      for (Preconditioner const preconditioner : preconditioners()) {
        VariableProblem<TypeParam> const problem(m, n, coefficient);
        auto const result = conjugate_gradients(
            Exec{}, problem.k, problem.b, problem.u,
            {.max_iterations = 5000, .tolerance = tolerance, .preconditioner = preconditioner});
        EXPECT_TRUE(result.converged) << m << " x " << n << ": " << result.relative_residual;
        EXPECT_LE(problem.error(), problem.inverse() * (result.residual_norm +
                                                        std::numeric_limits<T>::epsilon() * 1e6));
      }
}

// The preconditioners' work doesn't grow with a smooth coefficient's contrast.
TYPED_TEST(VariableCoefficient, TakesFewIterationsForASmoothCoefficient) {
  TYPES_OF_CASE;
  VariableProblem<TypeParam> const problem(255, 255, smooth);
  double const tolerance = std::is_same_v<T, float> ? 1e-4 : 1e-8;
  for (Preconditioner const preconditioner : preconditioners()) {
    if (preconditioner == Preconditioner::none) continue;
    Kokkos::deep_copy(problem.u, 0);
    auto const result =
        conjugate_gradients(Exec{}, problem.k, problem.b, problem.u,
                            {.tolerance = tolerance, .preconditioner = preconditioner});
    EXPECT_TRUE(result.converged);
    EXPECT_LE(result.iterations, 25);
  }
}

TYPED_TEST(VariableCoefficient, TakesAnyLayout) {
  TYPES_OF_CASE;
  VariableProblem<TypeParam> const problem(12, 17, with_jumps);
  auto const k = copy_as<Laid::left>(problem.k);
  auto const b = copy_as<Laid::with_gaps>(problem.b);
  auto const u = copy_as<Laid::left>(problem.u);
  double const tolerance = std::is_same_v<T, float> ? 1e-4 : 1e-10;
  EXPECT_TRUE(conjugate_gradients(Exec{}, k, b, u, {.tolerance = tolerance}).converged);
  Kokkos::deep_copy(problem.u, copy_as<Laid::right>(u));
  EXPECT_LE(problem.error(), 1e5 * tolerance);
}

TYPED_TEST(VariableCoefficient, RefusesCoefficientsThatAreNotPositive) {
  TYPES_OF_CASE;
  for (double const bad : {0., -1., double(std::numeric_limits<T>::infinity()),
                           std::numeric_limits<double>::quiet_NaN()}) {
    VariableProblem<TypeParam> const problem(5, 7, with_jumps);
    auto const k_h = on_host(problem.k);
    k_h(3, 6) = static_cast<T>(bad);
    Kokkos::deep_copy(problem.k, k_h);
    std::string const message =
        message_of([&] { conjugate_gradients(Exec{}, problem.k, problem.b, problem.u); });
    EXPECT_NE(message.find("positive and finite"), std::string::npos) << message;
    EXPECT_NE(message.find("[3, 6]"), std::string::npos) << message;
    auto const left = copy_as<Laid::left>(problem.u);
    EXPECT_EQ(message_of([&] { conjugate_gradients(Exec{}, problem.k, problem.b, left); }),
              message);
  }
  VariableProblem<TypeParam> const problem(5, 7, with_jumps);
  auto const says = [](auto const& action, std::string const& text) {
    std::string const message = message_of(action);
    EXPECT_NE(message.find(text), std::string::npos) << message;
  };
  GridOf<TypeParam> const other("k", 5, 6);
  says([&] { conjugate_gradients(other, problem.b, problem.u); }, "as b along axis 1 (7), not 6");
  auto const inside = Kokkos::subview(problem.u, std::pair(1, 6), std::pair(1, 8));
  says([&] { conjugate_gradients(inside, problem.b, problem.u); }, "k and u must not share");
}
