#pragma once

/// \file
/// Comparisons up to a tolerance: NumPy's isclose and allclose.

#include <coir/array/functions.hpp>
#include <coir/array/reductions.hpp>

namespace coir {

/// How far two numbers may lie apart to be close: |a - b| <= absolute + relative |b|.
struct Tolerance {
  double relative = 1e-5;
  double absolute = 1e-8;
  bool equal_nan = false;  ///< NaN is close to NaN
};

namespace detail {

struct IsClose {
  Tolerance tolerance;

  template <class A, class B>
  KOKKOS_FORCEINLINE_FUNCTION bool operator()(A const& a, B const& b) const {
    using C = floating_t<promote_t<A, B>>;
    using R = real_t<C>;
    C const x = stored<C>(a), y = stored<C>(b);
    R const allowed = static_cast<R>(tolerance.absolute) +
                      static_cast<R>(tolerance.relative) * static_cast<R>(Abs{}(y));
    bool const near = static_cast<R>(Abs{}(C(x - y))) <= allowed && IsFinite{}(y);
    bool const both_nan = tolerance.equal_nan && x != x && y != y;
    return near || x == y || both_nan;
  }
};

/// A single integer as a real number, so that its value is compared, whatever the elements' type.
template <class A>
decltype(auto) as_compared(A&& a) {
  if constexpr (std::is_integral_v<std::remove_cvref_t<A>>)
    return static_cast<double>(a);
  else
    return std::forward<A>(a);
}

}  // namespace detail

/// Whether numbers are equal up to a tolerance, elementwise and lazily: by default
/// |a - b| <= 1e-8 + 1e-5 |b|. Infinities of one sign are close. NaN are close if the tolerance has
/// equal_nan.
///
///     isclose(a, b)      isclose(a, 0.5, {.relative = 0, .absolute = 1e-3})
///
/// \throws PreconditionError if the shapes don't broadcast
template <class A, class B>
  requires detail::Combinable<A, B>
auto isclose(A&& a, B&& b, Tolerance const& tolerance = {}) {
  return detail::combine(detail::IsClose{tolerance}, detail::as_compared(std::forward<A>(a)),
                         detail::as_compared(std::forward<B>(b)));
}

/// Whether all elements are close: see isclose. True for no elements. Waits.
template <class A, class B>
  requires detail::Combinable<A, B>
bool allclose(A&& a, B&& b, Tolerance const& tolerance = {}) {
  return all(isclose(std::forward<A>(a), std::forward<B>(b), tolerance));
}

}  // namespace coir
