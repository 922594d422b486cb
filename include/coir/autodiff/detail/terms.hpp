#pragma once

/// \file
/// Reductions with derivatives: each folds values as array's reductions do, and knows its
/// derivative with respect to one element, given the total.
///
/// Beside value_type, result_type, neutral(), fold(), join() and result() they have
///   linear                  true if the derivative depends neither on the total nor on the element
///   slope(total, element)   the derivative of the result along an element of this value

#include <coir/array/monoids.hpp>
#include <coir/core/kokkos.hpp>

#include <cstdint>

namespace coir::detail {

template <class T, bool OnHost>
struct SumTerm : Sum<T, OnHost> {
  static constexpr bool linear = true;
  KOKKOS_FORCEINLINE_FUNCTION T slope(typename Sum<T, OnHost>::value_type const&, T const&) const {
    return T(1);
  }
};

/// The product, and how many of its factors are 0: beside a 0 all derivatives but its own are 0.
template <class T>
struct ProductTerm {
  struct Carried {
    T of_others;  // that aren't 0
    T zeros;      // a T, so that both fold in vectors; it may be rounded
  };
  using value_type = Carried;
  using result_type = T;
  static constexpr bool linear = false;

  KOKKOS_FORCEINLINE_FUNCTION Carried neutral() const { return {T(1), T(0)}; }
  KOKKOS_FORCEINLINE_FUNCTION void fold(Carried& into, T const& x, std::int64_t) const {
    bool const zero = x == T(0);
    into.of_others *= zero ? T(1) : x;
    into.zeros += zero ? T(1) : T(0);
  }
  KOKKOS_FORCEINLINE_FUNCTION void join(Carried& into, Carried const& other) const {
    into.of_others *= other.of_others;
    into.zeros += other.zeros;
  }
  KOKKOS_FORCEINLINE_FUNCTION T result(Carried const& total) const {
    return total.zeros > T(0) ? T(0) * total.of_others : total.of_others;
  }
  KOKKOS_FORCEINLINE_FUNCTION T slope(Carried const& total, T const& x) const {
    bool const zero = x == T(0);
    T const others = zero ? total.of_others : total.of_others / x;
    return total.zeros == (zero ? T(1) : T(0)) ? others : T(0);
  }
};

/// The extreme, and how many elements are that: they share the derivative.
template <class T, bool Largest>
struct ExtremeTerm {
  struct Carried {
    T extreme;
    T count;  // a T, so that both fold in vectors; it may be rounded
  };
  using value_type = Carried;
  using result_type = T;
  static constexpr bool linear = false;

  KOKKOS_FORCEINLINE_FUNCTION Carried neutral() const {
    return {Largest ? least<T>() : largest<T>(), T(0)};
  }
  KOKKOS_FORCEINLINE_FUNCTION void fold(Carried& into, T const& x, std::int64_t) const {
    join(into, Carried{x, T(1)});
  }
  KOKKOS_FORCEINLINE_FUNCTION void join(Carried& into, Carried const& other) const {
    bool const same = equal(into.extreme, other.extreme);
    bool const beats = (Largest ? other.extreme > into.extreme : other.extreme < into.extreme) |
                       (is_nan(other.extreme) & !is_nan(into.extreme));
    into.count = beats ? other.count : into.count + (same ? other.count : T(0));
    into.extreme = beats ? other.extreme : into.extreme;
  }
  KOKKOS_FORCEINLINE_FUNCTION T result(Carried const& total) const { return total.extreme; }
  KOKKOS_FORCEINLINE_FUNCTION T slope(Carried const& total, T const& x) const {
    return equal(total.extreme, x) ? T(1) / total.count : T(0);
  }

 private:
  KOKKOS_FORCEINLINE_FUNCTION static bool equal(T const& a, T const& b) {
    return (a == b) | (is_nan(a) & is_nan(b));
  }
};

}  // namespace coir::detail
