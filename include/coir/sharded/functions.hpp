#pragma once

/// Operators and elementwise functions of split arrays: those of coir/array on each rank's part.
/// Nothing travels. Operands are split arrays of one placement, numbers, and plain arrays that are
/// the same on every rank.

#include <coir/array/functions.hpp>
#include <coir/array/operators.hpp>
#include <coir/sharded/array.hpp>

#include <concepts>
#include <string>
#include <utility>

namespace coir::sharded {

namespace detail {

template <class X>
concept Operand = AnySplit<X> || Expression<X> || Scalar<X>;
template <class... X>
concept Operands = (Operand<X> && ...) && (AnySplit<X> || ...);

}  // namespace detail

// Operands are forwarded, as those of plain arrays are: copies of expressions and placements would
// take longer than a short statement.
#define COIR_SHARDED_OPERATOR(symbol)                                              \
  template <class A, class B>                                                      \
    requires detail::Operands<A, B>                                                \
  auto operator symbol(A&& a, B&& b) {                                             \
    return elementwise(                                                            \
        [](auto&& x, auto&& y) {                                                   \
          return std::forward<decltype(x)>(x) symbol std::forward<decltype(y)>(y); \
        },                                                                         \
        std::forward<A>(a), std::forward<B>(b));                                   \
  }
COIR_SHARDED_OPERATOR(+)
COIR_SHARDED_OPERATOR(-)
COIR_SHARDED_OPERATOR(*)
COIR_SHARDED_OPERATOR(/)
COIR_SHARDED_OPERATOR(%)
COIR_SHARDED_OPERATOR(&)
COIR_SHARDED_OPERATOR(|)
COIR_SHARDED_OPERATOR(^)
COIR_SHARDED_OPERATOR(<<)
COIR_SHARDED_OPERATOR(>>)
COIR_SHARDED_OPERATOR(&&)
COIR_SHARDED_OPERATOR(||)
COIR_SHARDED_OPERATOR(<)
COIR_SHARDED_OPERATOR(<=)
COIR_SHARDED_OPERATOR(>)
COIR_SHARDED_OPERATOR(>=)
COIR_SHARDED_OPERATOR(==)
COIR_SHARDED_OPERATOR(!=)
#undef COIR_SHARDED_OPERATOR

#define COIR_SHARDED_UNARY(symbol)                                                   \
  template <AnySplit X>                                                              \
  auto operator symbol(X&& x) {                                                      \
    return elementwise([](auto&& e) { return symbol std::forward<decltype(e)>(e); }, \
                       std::forward<X>(x));                                          \
  }
COIR_SHARDED_UNARY(-)
COIR_SHARDED_UNARY(+)
COIR_SHARDED_UNARY(!)
COIR_SHARDED_UNARY(~)
#undef COIR_SHARDED_UNARY

#define COIR_SHARDED_ASSIGNMENT(symbol)                                        \
  template <Element T, int Rank, class B>                                      \
    requires detail::Operand<B>                                                \
  Sharded<T, Rank>& operator symbol##=(Sharded<T, Rank>& target, B && value) { \
    auto const result = target symbol std::forward<B>(value);                  \
    expects_fits(result.shape(), target.shape());                              \
    return target = result;                                                    \
  }
COIR_SHARDED_ASSIGNMENT(+)
COIR_SHARDED_ASSIGNMENT(-)
COIR_SHARDED_ASSIGNMENT(*)
COIR_SHARDED_ASSIGNMENT(/)
COIR_SHARDED_ASSIGNMENT(%)
COIR_SHARDED_ASSIGNMENT(&)
COIR_SHARDED_ASSIGNMENT(|)
COIR_SHARDED_ASSIGNMENT(^)
COIR_SHARDED_ASSIGNMENT(<<)
COIR_SHARDED_ASSIGNMENT(>>)
#undef COIR_SHARDED_ASSIGNMENT

#define COIR_SHARDED_FUNCTION(name)                                                       \
  template <class... X>                                                                   \
    requires detail::Operands<X...>                                                       \
  auto name(X&&... x) {                                                                   \
    return elementwise([](auto&&... e) { return name(std::forward<decltype(e)>(e)...); }, \
                       std::forward<X>(x)...);                                            \
  }
COIR_SHARDED_FUNCTION(sqrt)
COIR_SHARDED_FUNCTION(exp)
COIR_SHARDED_FUNCTION(log)
COIR_SHARDED_FUNCTION(log10)
COIR_SHARDED_FUNCTION(sin)
COIR_SHARDED_FUNCTION(cos)
COIR_SHARDED_FUNCTION(tan)
COIR_SHARDED_FUNCTION(asin)
COIR_SHARDED_FUNCTION(acos)
COIR_SHARDED_FUNCTION(atan)
COIR_SHARDED_FUNCTION(sinh)
COIR_SHARDED_FUNCTION(cosh)
COIR_SHARDED_FUNCTION(tanh)
COIR_SHARDED_FUNCTION(asinh)
COIR_SHARDED_FUNCTION(acosh)
COIR_SHARDED_FUNCTION(atanh)
COIR_SHARDED_FUNCTION(cbrt)
COIR_SHARDED_FUNCTION(exp2)
COIR_SHARDED_FUNCTION(expm1)
COIR_SHARDED_FUNCTION(log2)
COIR_SHARDED_FUNCTION(log1p)
COIR_SHARDED_FUNCTION(erf)
COIR_SHARDED_FUNCTION(erfc)
COIR_SHARDED_FUNCTION(tgamma)
COIR_SHARDED_FUNCTION(lgamma)
COIR_SHARDED_FUNCTION(floor)
COIR_SHARDED_FUNCTION(ceil)
COIR_SHARDED_FUNCTION(trunc)
COIR_SHARDED_FUNCTION(rint)
COIR_SHARDED_FUNCTION(round)
COIR_SHARDED_FUNCTION(sinc)
COIR_SHARDED_FUNCTION(logaddexp)
COIR_SHARDED_FUNCTION(atan2)
COIR_SHARDED_FUNCTION(hypot)
COIR_SHARDED_FUNCTION(fmod)
COIR_SHARDED_FUNCTION(remainder)
COIR_SHARDED_FUNCTION(copysign)
COIR_SHARDED_FUNCTION(nextafter)
COIR_SHARDED_FUNCTION(fdim)
COIR_SHARDED_FUNCTION(fmin)
COIR_SHARDED_FUNCTION(fmax)
COIR_SHARDED_FUNCTION(pow)
COIR_SHARDED_FUNCTION(minimum)
COIR_SHARDED_FUNCTION(maximum)
COIR_SHARDED_FUNCTION(mod)
COIR_SHARDED_FUNCTION(floor_divide)
COIR_SHARDED_FUNCTION(clip)
COIR_SHARDED_FUNCTION(where)
COIR_SHARDED_FUNCTION(square)
COIR_SHARDED_FUNCTION(abs)
COIR_SHARDED_FUNCTION(isnan)
COIR_SHARDED_FUNCTION(isinf)
COIR_SHARDED_FUNCTION(isfinite)
COIR_SHARDED_FUNCTION(real)
COIR_SHARDED_FUNCTION(imag)
COIR_SHARDED_FUNCTION(conj)
COIR_SHARDED_FUNCTION(angle)
COIR_SHARDED_FUNCTION(sign)
COIR_SHARDED_FUNCTION(signbit)
COIR_SHARDED_FUNCTION(nan_to_num)
COIR_SHARDED_FUNCTION(reciprocal)
COIR_SHARDED_FUNCTION(degrees)
COIR_SHARDED_FUNCTION(radians)
#undef COIR_SHARDED_FUNCTION

/// f(a[i], b[i], ...) for all i: see coir::map.
template <class F, class... X>
  requires detail::Operands<X...>
auto map(F f, X const&... x) {
  return elementwise([&](auto const&... e) { return coir::map(f, e...); }, x...);
}

/// The elements as the type T: see coir::cast.
template <Element T, AnySplit X>
auto cast(X const& x) {
  return elementwise([](auto const& e) { return coir::cast<T>(e); }, x);
}

/// One more axis, of one element, at place `axis` of the result.
///
/// \throws PreconditionError if the axis isn't one of the result's
template <AnySplit X>
auto with_axis(X const& x, int axis) {
  auto const e = x.expression();
  auto const& from = e.placement();
  constexpr int rank = rank_of<X> + 1;
  if (axis < -rank || axis >= rank)  // with the same words on every rank
    throw PreconditionError("a new axis of an array of " + in_words(from) + " must lie in [" +
                            std::to_string(-rank) + ", " + std::to_string(rank - 1) + "], not " +
                            std::to_string(axis));
  auto const part = with_axis(e.local(), axis);
  int const at = axis < 0 ? axis + rank : axis;
  Shape<rank> shape{};
  for (int d = 0; d < rank; ++d)
    shape[static_cast<std::size_t>(d)] =
        d == at ? 1 : from.shape()[static_cast<std::size_t>(d < at ? d : d - 1)];
  auto splits = from.splits();
  for (auto& split : splits) split.axis += at <= split.axis;
  return detail::placed(operand(part), Placement<rank>(from.group(), shape, std::move(splits)));
}

}  // namespace coir::sharded
