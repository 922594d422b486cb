#pragma once

/// \file
/// Solvers of Poisson's equation as functions of arrays, for programs that value_and_grad
/// differentiates, and others. The ring around u holds zeros. The operators are symmetric: on the
/// way back the solver runs once more, with the cotangent of u as its source. Programs that include
/// this header link coir::autodiff, too.

#include <coir/array/creation.hpp>
#include <coir/array/reductions.hpp>
#include <coir/autodiff/custom_derivative.hpp>
#include <coir/poisson/conjugate_gradients.hpp>
#include <coir/poisson/direct.hpp>
#include <coir/poisson/multigrid.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <tuple>
#include <utility>

namespace coir::poisson {

namespace detail {

/// The solution inside of a ring of zeros.
///
/// \param solve  called with Views of the source and of u with its ring
template <Expression B, class Solve>
auto inside_ring_of_zeros(B const& b, Solve const& solve) {
  constexpr int rank = rank_of<B>;
  auto const source = evaluate(b);
  auto shape = source.shape();
  for (auto& extent : shape) extent += 2;
  auto u = zeros<value_t<B>, space_like<B>>(shape);
  solve(source.view(), u.view());
  auto const whole = std::as_const(u).all();
  std::int64_t first = 0;
  for (int d = 0; d < rank; ++d) first += whole.strides()[d];
  using Inside = Slice<value_t<B> const, rank, space_like<B>>;
  return evaluate(Inside(whole.data() + first, source.shape(), whole.strides(), whole.owner()));
}

inline void expects_solved(Result const& result, double tolerance, char const* solver) {
  if (result.stopped_by == StoppedBy::not_finite ||
      (result.stopped_by == StoppedBy::sweeps && tolerance > 0 && !result.converged))
    throw NumericalError(std::string(solver) + " stopped at a relative residual of " +
                         in_words(result.relative_residual) + ", above the tolerance of " +
                         in_words(tolerance) + ": allow more iterations, or a larger tolerance");
}

/// How many of a cell's faces lie on the ring.
struct FacesOnRing {
  std::int64_t m, n;
  KOKKOS_FORCEINLINE_FUNCTION int operator()(std::int64_t i, std::int64_t j) const {
    return (i == 0) + (i == m - 1) + (j == 0) + (j == n - 1);
  }
};

/// The derivatives of p^T div(k grad u) along k, with the sign of the way back:
///
///   sum over a cell's faces of d k_face / d k (u - u_neighbour) (p - p_neighbour)
template <class K, class U, class P>
auto along_coefficients(K const& k, U const& u, P const& p) {
  auto result = evaluate(index_map(k.shape(), FacesOnRing{k.shape()[0], k.shape()[1]}) * (u * p));
  // Each face between a cell and the one behind it along an axis.
  auto const add = [&](auto const& cell, auto const& behind) {
    auto const step = evaluate((behind(u) - cell(u)) * (behind(p) - cell(p)));
    auto const both = evaluate(cell(k) + behind(k));
    auto const of_cell = cell(result), of_behind = behind(result);
    of_cell += 2 * square(behind(k) / both) * step;
    of_behind += 2 * square(cell(k) / both) * step;
  };
  add([](auto&& x) { return x(range(0, -1)); }, [](auto&& x) { return x(range(1, end)); });
  add([](auto&& x) { return x(range(), range(0, -1)); },
      [](auto&& x) { return x(range(), range(1, end)); });
  return result;
}

}  // namespace detail

/// The exact solution of L u - c u = b by Direct, for arrays of 1 to 3 axes; the values or slopes
/// on the ring are zero. If the mean is left open, the gradient's mean is 0.
///
/// \returns u in the shape of b
/// \throws PreconditionError, ResourceError, EnvironmentError as Direct
template <Expression B>
auto direct(B const& b, DirectOptions<rank_of<B>> const& options = {}) {
  auto back = options;
  back.mean = 0;
  bool const open = options.constant == 0 &&
                    std::ranges::find(options.boundary, Boundary::values) == options.boundary.end();
  auto const solution = [back, open](auto const& source, auto const& with) {
    if constexpr (ForwardExpression<decltype(source)>)
      return forward_linear(
          source, [&](auto const& values) { return direct(values, with); },
          [&](auto const& slopes) {
            return direct(slopes - (open ? mean(slopes) : value_t<decltype(slopes)>(0)), back);
          });
    else
      return detail::inside_ring_of_zeros(
          source, [&](auto const& from, auto const& u) { direct(from, u, with); });
  };
  return custom_vjp([options, solution](auto const& source) { return solution(source, options); },
                    [back, open, solution](auto const& cotangent, auto const&, auto const&) {
                      auto const mean_of = open ? mean(cotangent) : value_t<decltype(cotangent)>(0);
                      return solution(cotangent - mean_of, back);
                    })(b);
}

/// The solution of L u = b by multigrid, to a tolerance, for arrays of 2 or 3 axes. The gradient is
/// as accurate as the tolerance.
///
/// \returns u in the shape of b
/// \throws PreconditionError, ResourceError as multigrid with Views
/// \throws NumericalError if the cycles allowed don't reach the tolerance
template <Expression B>
auto multigrid(B const& b, MultigridOptions const& options = {}) {
  auto const solution = [options](auto const& source) {
    if constexpr (ForwardExpression<decltype(source)>)
      return forward_linear(source, [&](auto const& part) { return multigrid(part, options); });
    else
      return detail::inside_ring_of_zeros(source, [&](auto const& from, auto const& u) {
        detail::expects_solved(multigrid(from, u, options), options.tolerance, "multigrid");
      });
  };
  return custom_vjp(solution, [solution](auto const& cotangent, auto const&, auto const&) {
    return solution(cotangent);
  })(b);
}

/// The solution of div(k grad u) = b by conjugate gradients, to a tolerance, as a function of k and
/// b.
///
/// \param k  (m, n), positive, as b
/// \returns u in the shape of b
/// \throws PreconditionError, ResourceError, EnvironmentError as conjugate_gradients with Views
/// \throws NumericalError if the iterations allowed don't reach the tolerance
template <Expression K, Expression B>
  requires SameSpace<K, B> && OfRank<K, 2> && OfRank<B, 2>
auto conjugate_gradients(K const& k, B const& b, ConjugateGradientsOptions const& options = {}) {
  auto const solution = [options](auto const& coefficients, auto const& source) {
    static_assert(
        !ForwardExpression<decltype(coefficients)> && !ForwardExpression<decltype(source)>,
        "conjugate_gradients has derivatives by the way back alone: no jvp, no hessian");
    auto const k_of_cells = evaluate(coefficients);
    return detail::inside_ring_of_zeros(source, [&](auto const& from, auto const& u) {
      detail::expects_solved(conjugate_gradients(k_of_cells.view(), from, u, options),
                             options.tolerance, "conjugate_gradients");
    });
  };
  return custom_vjp(solution, [solution](auto const& cotangent, auto const& u,
                                         auto const& k_of_cells, auto const&) {
    auto adjoint = solution(k_of_cells, cotangent);
    auto along_k = detail::along_coefficients(k_of_cells, u, adjoint.as_operand());
    return std::tuple(std::move(along_k), std::move(adjoint));
  })(k, b);
}

}  // namespace coir::poisson
