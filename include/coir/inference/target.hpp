#pragma once

/// What is sampled: the logarithm of a probability density and its gradient.

#include <coir/array/numbers.hpp>
#include <coir/core/concepts.hpp>
#include <coir/core/dual.hpp>
#include <coir/core/errors.hpp>
#include <coir/core/tasks.hpp>

#include <concepts>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace coir::inference {

/// A target: `double operator()(theta, slope) const` returns the log density at the parameters
/// theta, up to a constant, and writes its gradient to slope, both Views in the memory of Exec, of
/// one length.
///
/// Where the density is 0 a target returns -infinity. NaN, +infinity and a NumericalError count as
/// a density of 0, too. On hosts the chains call one target at the same time from several threads,
/// unless the target says `static constexpr bool one_at_a_time = true`.
template <class T, class Exec>
concept Target =
    ExecutionSpace<Exec> &&
    requires(T const& target, Kokkos::View<double const*, typename Exec::memory_space> theta,
             Kokkos::View<double*, typename Exec::memory_space> slope) {
      { target(theta, slope) } -> std::convertible_to<double>;
    };

namespace detail {

template <class T>
inline constexpr bool one_at_a_time = requires { requires T::one_at_a_time; };

/// f at variables: as f(x, y, ...) if f takes so many numbers, else as f(x) with x[0], x[1], ...
COIR_CALLS_WHAT_IT_IS_GIVEN
template <int N, class F, std::size_t... K>
KOKKOS_FUNCTION Dual<double, N> value_at(F const& f, Numbers<Dual<double, N>, N> const& x,
                                         std::index_sequence<K...>) {
  if constexpr (std::is_invocable_v<F const&, decltype(x[static_cast<int>(K)])...>)
    return f(x[static_cast<int>(K)]...);
  else
    return f(x);
}

/// f and its gradient at N numbers that lie one after another.
template <int N, class F>
KOKKOS_FUNCTION double value_and_slope(F const& f, double const* theta, double* slope) {
  Numbers<Dual<double, N>, N> x;
  for (int k = 0; k < N; ++k) x[k] = Dual<double, N>::variable(theta[k], k);
  Dual<double, N> const y = value_at<N>(f, x, std::make_index_sequence<N>{});
  for (int k = 0; k < N; ++k) slope[k] = y.derivative[k];
  return y.value;
}

/// value_and_slope of one of several chains. No lambda: F may be local to a function.
template <int N, class F>
struct EvaluateChain {
  F f;
  double const* theta;
  double *slope, *value;

  KOKKOS_FUNCTION void operator()(std::int64_t chain) const {
    value[chain] = value_and_slope<N>(f, theta + chain * N, slope + chain * N);
  }
};

inline void expects_numbers(int n, std::size_t given) {
  if (static_cast<std::size_t>(n) != given)
    throw PreconditionError("the target is a function of " + std::to_string(n) +
                            " numbers, and the chains have " + std::to_string(given) +
                            " parameters: give starts of (chain, " + std::to_string(n) + ")");
}

}  // namespace detail

/// The target on hosts that number_target makes.
template <int N, class F>
struct NumberTarget {
  F f;

  double operator()(Kokkos::View<double const*, Kokkos::HostSpace> const& theta,
                    Kokkos::View<double*, Kokkos::HostSpace> const& slope) const {
    detail::expects_numbers(N, theta.extent(0));
    return detail::value_and_slope<N>(f, theta.data(), slope.data());
  }
};

/// The target of a function of N numbers, for hosts, with its gradient by dual numbers. The
/// function is generic in the numbers' type, and called as f(x, y, ...) or as f(x) with x[0], x[1]:
///
///     number_target<2>([](auto x, auto y) { return -0.5 * (x * x + exp(-x) * y * y + x); })
template <int N, class F>
NumberTarget<N, F> number_target(F f) {
  return {f};
}

/// The target of many chains at once that number_batch() makes.
template <int N, class F>
struct NumberBatch {
  F f;

  template <ExecutionSpace Exec, class Theta, class Slope, class Value>
  void operator()(Exec const& exec, Theta const& theta, Slope const& slope,
                  Value const& value) const {
    detail::expects_numbers(N, theta.extent(1));
    for_each_task("coir::inference::target/chains", exec,
                  static_cast<std::int64_t>(theta.extent(0)),
                  detail::EvaluateChain<N, F>{f, theta.data(), slope.data(), value.data()});
  }
};

/// The target of a function of N numbers for chees(), which evaluates all chains in one kernel, a
/// chain a thread. The function must not throw: where the density is 0 it returns -infinity or NaN.
/// On a device the function must be callable there: a struct with KOKKOS_FUNCTION.
template <int N, class F>
NumberBatch<N, F> number_batch(F f) {
  return {f};
}

}  // namespace coir::inference
