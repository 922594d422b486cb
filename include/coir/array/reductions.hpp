#pragma once

/// \file
/// Reductions of a whole expression to a number. The expression isn't stored: sum(abs(v - u)) is
/// one kernel that writes no array. All reductions here wait for the result. axis_reductions.hpp
/// has reductions along one axis.
///
/// Sums have the same bits for any number of threads, and are pairwise: the error is at most about
/// log2(n) + 30 roundings of the sum of the absolute values.

#include <coir/array/detail/reduce.hpp>
#include <coir/array/functions.hpp>
#include <coir/array/monoids.hpp>

#include <cmath>

namespace coir {

namespace detail {

template <class E>
inline constexpr bool on_host = [] {
  using S = typename std::remove_cvref_t<E>::space;
  if constexpr (std::is_same_v<S, AnySpace>)
    return runs_on_host<Kokkos::DefaultExecutionSpace>;
  else
    return runs_on_host<typename S::execution_space>;
}();

template <class E>
void expects_elements(E const& expression, char const* what) {
  if (size_of(expression.shape()) == 0)
    throw PreconditionError(std::string("there is no ") + what + " of an array of shape " +
                            in_words(expression.shape()) + ": it has no elements");
}

/// The type that means and deviations of T are computed in.
template <class T>
using mean_t = floating_t<T>;

template <class E>
auto to_floating(E const& expression) {
  using T = value_t<E>;
  if constexpr (std::is_integral_v<T>)
    return map(Cast<double>{}, expression);
  else
    return operand(expression);
}

/// |z|^2
struct SquaredAbs {
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION auto operator()(T const& z) const {
    if constexpr (is_complex<T>)
      return z.real() * z.real() + z.imag() * z.imag();
    else
      return Square{}(z);
  }
};

}  // namespace detail

/// sum(x) for arrays. Overloads of sum() call it for their value.
template <Expression E>
auto sum_of_elements(E const& x) {
  auto const e = operand(x);
  return detail::reduce_all(e, detail::Sum<value_t<E>, detail::on_host<E>>{});
}

/// The sum of all elements. Integers and bool are added in 64 bits. 0 for no elements.
template <Expression E>
auto sum(E const& x) {
  return sum_of_elements(x);
}

/// The product of all elements; integers in 64 bits. 1 for no elements. It overflows or vanishes
/// only if the whole product does, whatever the order of the factors.
template <Expression E>
auto prod(E const& x) {
  auto const e = operand(x);
  return detail::reduce_all(e, detail::Product<value_t<E>>{});
}

/// The smallest element, or NaN if there is one.
///
/// \throws PreconditionError if there are no elements
template <Expression E>
  requires detail::RealOperand<E>
auto min(E const& x) {
  auto const e = operand(x);
  detail::expects_elements(e, "minimum");
  return detail::reduce_all(e, detail::Min<value_t<E>>{});
}

/// The largest element, or NaN if there is one.
///
/// \throws PreconditionError if there are no elements
template <Expression E>
  requires detail::RealOperand<E>
auto max(E const& x) {
  auto const e = operand(x);
  detail::expects_elements(e, "maximum");
  return detail::reduce_all(e, detail::Max<value_t<E>>{});
}

/// The index, in C order, of the first smallest element, or of the first NaN.
///
/// \throws PreconditionError if there are no elements
template <Expression E>
  requires detail::RealOperand<E>
std::int64_t argmin(E const& x) {
  auto const e = operand(x);
  detail::expects_elements(e, "smallest element");
  return detail::reduce_all(e, detail::ArgExtreme<value_t<E>, false>{});
}

/// The index, in C order, of the first largest element, or of the first NaN.
///
/// \throws PreconditionError if there are no elements
template <Expression E>
  requires detail::RealOperand<E>
std::int64_t argmax(E const& x) {
  auto const e = operand(x);
  detail::expects_elements(e, "largest element");
  return detail::reduce_all(e, detail::ArgExtreme<value_t<E>, true>{});
}

/// Whether any element isn't 0. False for no elements.
template <Expression E>
bool any(E const& x) {
  auto const e = operand(x);
  return detail::reduce_all(e, detail::Any<value_t<E>>{});
}

/// Whether no element is 0. True for no elements.
template <Expression E>
bool all(E const& x) {
  auto const e = operand(x);
  return detail::reduce_all(e, detail::All<value_t<E>>{});
}

/// How many elements aren't 0.
template <Expression E>
std::int64_t count_nonzero(E const& x) {
  auto const e = operand(x);
  return detail::reduce_all(e, detail::CountNonzero<value_t<E>>{});
}

/// The mean; of integers in double.
///
/// \throws PreconditionError if there are no elements
template <Expression E>
auto mean(E const& x) {
  detail::expects_elements(x, "mean");
  using T = detail::mean_t<value_t<E>>;
  return sum(detail::to_floating(x)) /
         static_cast<real_t<T>>(static_cast<double>(size_of(x.shape())));
}

/// The result of ddof().
class Ddof {
 public:
  explicit constexpr Ddof(std::int64_t number) : number_(number) {
    if (number < least) expects(false, "ddof must be at least -2^62", number);
  }
  constexpr std::int64_t number() const { return number_; }

  /// n - ddof, what the sum of squares of n elements is divided by.
  ///
  /// \throws PreconditionError unless n is larger
  std::int64_t divisor(std::int64_t n) const {
    expects(n > number_, "a variance needs more elements than ddof = " + std::to_string(number_),
            n);
    return n - number_;
  }

 private:
  static constexpr std::int64_t least = -(std::int64_t(1) << 62);  // n - ddof fits 64 bits
  std::int64_t number_;
};

/// NumPy's "delta degrees of freedom": a variance is a sum of squares divided by n - ddof.
/// var(x, ddof(1)) is the unbiased estimate from a sample, var(x) the variance of a population.
///
/// \throws PreconditionError if the number is below -2^62
constexpr Ddof ddof(std::int64_t number) { return Ddof(number); }

/// The variance of all elements: the sum of |x - mean|^2 over n - ddof. Takes two passes over the
/// expression.
///
/// \throws PreconditionError unless there are more than ddof elements
template <Expression E>
auto var(E const& x, Ddof ddof = Ddof(0)) {
  std::int64_t const divisor = ddof.divisor(size_of(x.shape()));
  auto const values = detail::to_floating(x);
  auto const middle = mean(values);
  auto const total = sum(map(detail::SquaredAbs{}, values - middle));
  return total / static_cast<std::remove_const_t<decltype(total)>>(divisor);
}

/// The standard deviation of all elements: the root of the variance.
template <Expression E>
auto std_dev(E const& x, Ddof ddof = Ddof(0)) {
  using std::sqrt;  // of dual numbers there is another one
  return sqrt(var(x, ddof));
}

/// The Euclidean norm of all elements: sqrt(sum |x|^2).
template <Expression E>
auto norm(E const& x) {
  using std::sqrt;
  return sqrt(sum(map(detail::SquaredAbs{}, detail::to_floating(x))));
}

/// The sum of products of two vectors of one length, or of all elements of two arrays of one shape.
/// Integers are multiplied and added in 64 bits. Complex numbers are not conjugated: see vdot.
///
/// \throws PreconditionError if the shapes differ
template <Expression A, Expression B>
  requires SameSpace<A, B>
auto dot(A const& a, B const& b) {
  if (!std::ranges::equal(a.shape(), b.shape()))
    throw PreconditionError("dot takes two arrays of one shape, not " + in_words(a.shape()) +
                            " and " + in_words(b.shape()));
  if constexpr (std::integral<promote_t<value_t<A>, value_t<B>>>)
    return sum(map(detail::MultiplyCarried{}, a, b));
  else
    return sum(a * b);
}

/// The sum of conj(a) b over two arrays of one shape: NumPy's vdot.
///
/// \throws PreconditionError if the shapes differ
template <Expression A, Expression B>
  requires SameSpace<A, B>
auto vdot(A const& a, B const& b) {
  if constexpr (is_complex<value_t<A>>)
    return dot(conj(a), b);
  else
    return dot(a, b);
}

}  // namespace coir
