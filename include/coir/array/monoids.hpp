#pragma once

/// \file
/// The monoids of reductions. Each has value_type (the type of partial results), result_type,
/// neutral(), fold(into, element, index), join(into, other) and result(value).

#include <coir/array/detail/carried.hpp>
#include <coir/array/detail/scaled_product.hpp>
#include <coir/array/element.hpp>
#include <coir/core/math.hpp>

#include <Kokkos_Complex.hpp>

#include <concepts>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace coir::detail {

/// Devices add floats in double, because a thread adds hundreds of terms one after the other. Hosts
/// add pairwise.
template <class T, bool OnHost>
struct SumCarriedOf {
  using type = carried_t<T>;
};
template <>
struct SumCarriedOf<float, false> {
  using type = double;
};
template <>
struct SumCarriedOf<Kokkos::complex<float>, false> {
  using type = Kokkos::complex<double>;
};

template <class T>
KOKKOS_FORCEINLINE_FUNCTION bool is_nan(T const& x) {
  if constexpr (std::is_integral_v<T>)
    return false;
  else
    return x != x;
}

template <class T>
KOKKOS_FORCEINLINE_FUNCTION constexpr T largest() {
  constexpr T value = std::is_floating_point_v<T> ? std::numeric_limits<T>::infinity()
                                                  : std::numeric_limits<T>::max();
  return value;
}
template <class T>
KOKKOS_FORCEINLINE_FUNCTION constexpr T least() {
  constexpr T value = std::is_floating_point_v<T> ? -std::numeric_limits<T>::infinity()
                                                  : std::numeric_limits<T>::lowest();
  return value;
}

template <class T, bool OnHost>
struct Sum {
  using value_type = typename SumCarriedOf<T, OnHost>::type;
  using result_type = carried_t<T>;
  KOKKOS_FORCEINLINE_FUNCTION value_type neutral() const { return value_type(0); }
  KOKKOS_FORCEINLINE_FUNCTION void fold(value_type& into, T const& x, std::int64_t) const {
    join(into, static_cast<value_type>(x));
  }
  KOKKOS_FORCEINLINE_FUNCTION void join(value_type& into, value_type const& other) const {
    into = wrapping_sum(into, other);
  }
  KOKKOS_FORCEINLINE_FUNCTION result_type result(value_type const& value) const {
    return static_cast<result_type>(value);
  }
};

/// The product of integers modulo 2^64, or of numbers of other types.
template <class T>
struct PlainlyMultiplied {
  using value_type = carried_t<T>;
  using result_type = value_type;
  KOKKOS_FORCEINLINE_FUNCTION value_type neutral() const { return value_type(1); }
  KOKKOS_FORCEINLINE_FUNCTION void fold(value_type& into, T const& x, std::int64_t) const {
    join(into, static_cast<value_type>(x));
  }
  KOKKOS_FORCEINLINE_FUNCTION void join(value_type& into, value_type const& other) const {
    into = wrapping_product(into, other);
  }
  KOKKOS_FORCEINLINE_FUNCTION result_type result(value_type const& value) const { return value; }
};

template <class T>
using Product =
    std::conditional_t<is_scaled_in_products<T>, ScaledProduct<T>, PlainlyMultiplied<T>>;

/// The smallest, or NaN if there is one.
template <class T>
struct Min {
  static constexpr bool rounds = false;
  using value_type = T;
  using result_type = T;
  KOKKOS_FORCEINLINE_FUNCTION T neutral() const { return largest<T>(); }
  KOKKOS_FORCEINLINE_FUNCTION void fold(T& into, T const& x, std::int64_t) const { join(into, x); }
  KOKKOS_FORCEINLINE_FUNCTION void join(T& into, T const& other) const {
    into = math::select((other < into) | is_nan(other), other, into);
  }
  KOKKOS_FORCEINLINE_FUNCTION T result(T const& value) const { return value; }
};

/// The largest, or NaN if there is one.
template <class T>
struct Max {
  static constexpr bool rounds = false;
  using value_type = T;
  using result_type = T;
  KOKKOS_FORCEINLINE_FUNCTION T neutral() const { return least<T>(); }
  KOKKOS_FORCEINLINE_FUNCTION void fold(T& into, T const& x, std::int64_t) const { join(into, x); }
  KOKKOS_FORCEINLINE_FUNCTION void join(T& into, T const& other) const {
    into = math::select((other > into) | is_nan(other), other, into);
  }
  KOKKOS_FORCEINLINE_FUNCTION T result(T const& value) const { return value; }
};

// As wide as a float, so that comparisons of floats fold without repacking.
using Flag = std::uint32_t;

template <class T>
struct Any {
  using value_type = Flag;
  using result_type = bool;
  KOKKOS_FORCEINLINE_FUNCTION Flag neutral() const { return 0; }
  KOKKOS_FORCEINLINE_FUNCTION void fold(Flag& into, T const& x, std::int64_t) const {
    into |= x != T(0) ? 1u : 0u;
  }
  KOKKOS_FORCEINLINE_FUNCTION void join(Flag& into, Flag other) const { into |= other; }
  KOKKOS_FORCEINLINE_FUNCTION bool result(Flag value) const { return value != 0; }
};

template <class T>
struct All {
  using value_type = Flag;
  using result_type = bool;
  KOKKOS_FORCEINLINE_FUNCTION Flag neutral() const { return 1; }
  KOKKOS_FORCEINLINE_FUNCTION void fold(Flag& into, T const& x, std::int64_t) const {
    into &= x != T(0) ? 1u : 0u;
  }
  KOKKOS_FORCEINLINE_FUNCTION void join(Flag& into, Flag other) const { into &= other; }
  KOKKOS_FORCEINLINE_FUNCTION bool result(Flag value) const { return value != 0; }
};

template <class T>
struct CountNonzero {
  using value_type = std::int64_t;
  using result_type = std::int64_t;
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t neutral() const { return 0; }
  KOKKOS_FORCEINLINE_FUNCTION void fold(std::int64_t& into, T const& x, std::int64_t) const {
    into += x != T(0) ? 1 : 0;
  }
  KOKKOS_FORCEINLINE_FUNCTION void join(std::int64_t& into, std::int64_t other) const {
    into += other;
  }
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t result(std::int64_t value) const { return value; }
};

/// The index of the first extreme element; NaN counts as more extreme than any number.
template <class T, bool Largest>
struct ArgExtreme {
  struct Found {
    T value;
    std::int64_t index;
  };
  using value_type = Found;
  using result_type = std::int64_t;
  KOKKOS_FORCEINLINE_FUNCTION Found neutral() const {
    return {Largest ? least<T>() : largest<T>(), std::numeric_limits<std::int64_t>::max()};
  }
  KOKKOS_FORCEINLINE_FUNCTION void fold(Found& into, T const& x, std::int64_t index) const {
    join(into, Found{x, index});
  }
  KOKKOS_FORCEINLINE_FUNCTION void join(Found& into, Found const& other) const {
    bool const beats = is_nan(other.value)
                           ? !is_nan(into.value)
                           : (Largest ? other.value > into.value : other.value < into.value);
    bool const equal = other.value == into.value || (is_nan(other.value) && is_nan(into.value));
    if (beats || (equal && other.index < into.index)) into = other;
  }
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t result(Found const& value) const { return value.index; }
};

/// The index of the first extreme element among those that aren't NaN; no_index where there are
/// none.
template <class T, bool Largest>
struct NanArgExtreme : ArgExtreme<T, Largest> {
  using Found = typename ArgExtreme<T, Largest>::Found;
  static constexpr std::int64_t no_index = std::numeric_limits<std::int64_t>::max();
  KOKKOS_FORCEINLINE_FUNCTION void fold(Found& into, T const& x, std::int64_t index) const {
    if (!is_nan(x)) this->join(into, Found{x, index});
  }
};

}  // namespace coir::detail
