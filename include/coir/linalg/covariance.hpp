#pragma once

/// \file
/// Covariances of quantities from several observations of each: NumPy's cov and corrcoef.

#include <coir/array/axis_reductions.hpp>
#include <coir/array/joining.hpp>
#include <coir/linalg/matmul.hpp>

#include <cstdint>

namespace coir {

/// The covariances of quantities: C(i, j) = sum_k (x(i, k) - mean_i) conj(x(j, k) - mean_j) / (n -
/// ddof).
///
/// \param x     (quantities, observations)
/// \param ddof  ddof(1): the unbiased estimate from a sample; ddof(0): the covariances of a
///   population
/// \throws PreconditionError unless there are more than ddof observations
template <Expression X>
  requires(rank_of<X> == 2)
auto cov(X const& x, Ddof ddof = Ddof(1)) {
  std::int64_t const n = x.shape()[1];
  expects(n > ddof.number(),
          "a covariance needs more observations than ddof = " + std::to_string(ddof.number()), n);
  auto const values = detail::to_floating(x);
  auto const centred = evaluate(values - with_axis(mean(values, 1), 1));
  using T = value_t<decltype(centred)>;
  auto result = [&] {
    if constexpr (is_complex<T>)
      return matmul(centred, conj(transpose(centred)));
    else
      return matmul(centred, transpose(centred));
  }();
  result /= static_cast<real_t<T>>(n - ddof.number());
  return result;
}

/// The variance of one quantity.
template <Expression X>
  requires(rank_of<X> == 1)
auto cov(X const& x, Ddof ddof = Ddof(1)) {
  return var(x, ddof);
}

/// The 2 x 2 covariances of two quantities.
template <Expression X, Expression Y>
  requires(rank_of<X> == 1) && (rank_of<Y> == 1) && SameSpace<X, Y>
auto cov(X const& x, Y const& y, Ddof ddof = Ddof(1)) {
  return cov(stack(0, x, y), ddof);
}

/// Covariances over the root of the product of variances: exactly 1 on the diagonal, and from -1 to
/// 1 elsewhere. NaN for a quantity that doesn't vary.
///
/// \param x  (quantities, observations)
/// \throws PreconditionError unless there are observations
template <Expression X>
  requires OfRank<X, 2> && detail::RealOperand<X>
auto corrcoef(X const& x) {
  auto result = cov(x, ddof(0));
  auto const deviations = evaluate(sqrt(diagonal(result)));
  result = clip(result / deviations / with_axis(deviations, 1), -1, 1);
  auto const own = diagonal(result);
  own(own == own) = 1;  // undoes rounding; NaN stays
  return result;
}
template <Expression X, Expression Y>
  requires(rank_of<X> == 1) && (rank_of<Y> == 1) && SameSpace<X, Y> && (!is_complex<value_t<X>>)
auto corrcoef(X const& x, Y const& y) {
  return corrcoef(stack(0, x, y));
}

}  // namespace coir
