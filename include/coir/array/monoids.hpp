#pragma once

/// \file
/// The monoids of reductions. Each has value_type (the type of partial results), result_type,
/// neutral(), fold(into, element, index), join(into, other) and result(value).
///
/// For hosts it may also have is_final(value), whether no more elements change a value,
/// fold_row(into, row, count, index), which folds a whole row, and
/// Columns<Size>, which folds most_terms rows into each other at most: clear(columns), fold(column,
/// element, row), valid(columns), whether of() has the right values, and of(column, index), the
/// value of a column whose first row has this index.
///
/// For devices it may have fold_vector<Width>(into, elements, index), which folds a few
/// neighbouring elements of one or two bytes.

#include <coir/array/detail/carried.hpp>
#include <coir/array/detail/scaled_product.hpp>
#include <coir/array/element.hpp>
#include <coir/array/fold.hpp>
#include <coir/core/loops.hpp>
#include <coir/core/math.hpp>

#include <Kokkos_Complex.hpp>

#include <algorithm>
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
  using Real = real_t<T>;  // of a dual its value's type
  constexpr Real value = std::is_floating_point_v<Real> ? std::numeric_limits<Real>::infinity()
                                                        : std::numeric_limits<Real>::max();
  return T(value);
}
template <class T>
KOKKOS_FORCEINLINE_FUNCTION constexpr T least() {
  using Real = real_t<T>;
  constexpr Real value = std::is_floating_point_v<Real> ? -std::numeric_limits<Real>::infinity()
                                                        : std::numeric_limits<Real>::lowest();
  return T(value);
}

/// Integers of one or two bytes: sums of a few fit into 32 bits.
template <class T>
concept ShortInteger = std::integral<T> && sizeof(T) <= 2;

/// Counts the true ones of truth(0) to truth(count - 1), on hosts, in lanes as wide as the elements
/// of the row that they are of.
template <class Row, class T, class Truth>
std::int64_t count_true(std::int64_t count, Truth const& truth) {
  using Lane = std::conditional_t<std::is_same_v<Row, BoolRow>, std::uint8_t,
                                  std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>>;
  constexpr std::int64_t lanes = 128 / sizeof(Lane), most_terms = 255;
  std::int64_t total = 0, first = 0;
  while (count - first >= lanes) {
    Lane of_lane[lanes] = {};
    std::int64_t const end = first + std::min((count - first) / lanes, most_terms) * lanes;
    for (; first < end; first += lanes) {
      COIR_INDEPENDENT_ITERATIONS
      for (std::int64_t l = 0; l < lanes; ++l)
        of_lane[l] = static_cast<Lane>(of_lane[l] + (truth(first + l) ? 1 : 0));
    }
    for (Lane const some : of_lane) total += static_cast<std::int64_t>(some);
  }
  std::uint32_t rest = 0;  // of fewer than 129
  for (; first < count; ++first) rest += truth(first) ? 1u : 0u;
  return total + rest;
}

template <class T, bool OnHost>
struct Sum {
  using value_type = typename SumCarriedOf<T, OnHost>::type;
  using result_type = carried_t<T>;
  KOKKOS_FORCEINLINE_FUNCTION value_type neutral() const { return value_type(0); }
  KOKKOS_FORCEINLINE_FUNCTION void fold(value_type& into, T const& x, std::int64_t) const {
    join(into, static_cast<value_type>(x));
  }
  template <int Width, class Elements>
    requires ShortInteger<T>
  KOKKOS_FORCEINLINE_FUNCTION void fold_vector(value_type& into, Elements const& elements,
                                               std::int64_t) const {
    std::int32_t some = 0;
    COIR_UNROLL
    for (int l = 0; l < Width; ++l) some += static_cast<std::int32_t>(elements[l]);
    join(into, static_cast<value_type>(some));
  }
  template <class Row>
    requires std::same_as<T, bool>
  void fold_row(value_type& into, Row const& row, std::int64_t count, std::int64_t) const {
    into += count_true<Row, T>(count, [&](std::int64_t c) { return row[c]; });
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
    T const less = other < into ? other : into;  // NaN stays where `into` is NaN
    into = is_nan(other) ? other : less;
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
    T const more = other > into ? other : into;  // NaN stays where `into` is NaN
    into = is_nan(other) ? other : more;
  }
  KOKKOS_FORCEINLINE_FUNCTION T result(T const& value) const { return value; }
};

// As wide as a float, so that comparisons of floats fold without repacking.
using Flag = std::uint32_t;

/// Whether holds(c) is true of any c in [0, count), on hosts. Looks at no more than a block after
/// the first.
template <class Row, class Holds>
bool any_of_row(std::int64_t count, Holds const& holds) {
  using Lane = std::conditional_t<std::is_same_v<Row, BoolRow>, std::uint8_t, Flag>;
  constexpr std::int64_t block = 1024;
  for (std::int64_t first = 0; first < count; first += block) {
    Lane any = 0;
    for (std::int64_t c = first; c < std::min(count, first + block); ++c)
      any = static_cast<Lane>(any | (holds(c) ? 1 : 0));
    if (any != 0) return true;
  }
  return false;
}

template <class T>
struct Any {
  using value_type = Flag;
  using result_type = bool;
  KOKKOS_FORCEINLINE_FUNCTION Flag neutral() const { return 0; }
  KOKKOS_FORCEINLINE_FUNCTION void fold(Flag& into, T const& x, std::int64_t) const {
    into |= x != T(0) ? 1u : 0u;
  }
  template <class Row>
  void fold_row(Flag& into, Row const& row, std::int64_t count, std::int64_t) const {
    if (!is_final(into) && any_of_row<Row>(count, [&](std::int64_t c) { return row[c] != T(0); }))
      into = 1;
  }
  bool is_final(Flag value) const { return value != 0; }
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
  template <class Row>
  void fold_row(Flag& into, Row const& row, std::int64_t count, std::int64_t) const {
    if (!is_final(into) && any_of_row<Row>(count, [&](std::int64_t c) { return row[c] == T(0); }))
      into = 0;
  }
  bool is_final(Flag value) const { return value == 0; }
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
  template <int Width, class Elements>
    requires ShortInteger<T>
  KOKKOS_FORCEINLINE_FUNCTION void fold_vector(std::int64_t& into, Elements const& elements,
                                               std::int64_t) const {
    std::int32_t some = 0;
    COIR_UNROLL
    for (int l = 0; l < Width; ++l) some += elements[l] != T(0) ? 1 : 0;
    into += some;
  }
  template <class Row>
  void fold_row(std::int64_t& into, Row const& row, std::int64_t count, std::int64_t) const {
    into += count_true<Row, T>(count, [&](std::int64_t c) { return row[c] != T(0); });
  }
  KOKKOS_FORCEINLINE_FUNCTION void join(std::int64_t& into, std::int64_t other) const {
    into += other;
  }
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t result(std::int64_t value) const { return value; }
};

/// The index of the first extreme element; NaN counts as more extreme than any number, or is left
/// out.
template <class T, bool Largest, bool SkipsNan = false>
struct ArgExtreme {
  static constexpr std::int64_t no_index = std::numeric_limits<std::int64_t>::max();
  struct Found {
    T value;
    std::int64_t index;
  };
  using value_type = Found;
  using result_type = std::int64_t;
  // As wide as an element, so that loops over both vectorise.
  using Index = std::conditional_t<
      sizeof(T) == 8, std::uint64_t,
      std::conditional_t<sizeof(T) == 4, std::uint32_t,
                         std::conditional_t<sizeof(T) == 2, std::uint16_t, std::uint8_t>>>;
  KOKKOS_FORCEINLINE_FUNCTION Found neutral() const { return {least_extreme(), no_index}; }
  KOKKOS_FORCEINLINE_FUNCTION void fold(Found& into, T const& x, std::int64_t index) const {
    if (!SkipsNan || !is_nan(x)) join(into, Found{x, index});
  }
  /// Looks for the place of the elements' extreme only if that could be the result.
  template <int Width, class Elements>
    requires ShortInteger<T>
  KOKKOS_FORCEINLINE_FUNCTION void fold_vector(Found& into, Elements const& elements,
                                               std::int64_t index) const {
    T most = elements[0];
    COIR_UNROLL
    for (int l = 1; l < Width; ++l) most = extreme(most, elements[l]);
    if (!precedes(Found{most, index}, into)) return;
    int at = 0;
    COIR_UNROLL
    for (int l = Width - 1; l >= 0; --l) at = elements[l] == most ? l : at;
    join(into, Found{most, index + at});
  }
  KOKKOS_FORCEINLINE_FUNCTION void join(Found& into, Found const& other) const {
    if (precedes(other, into)) into = other;
  }
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t result(Found const& value) const { return value.index; }

  /// Folds row[0 ... count), numbered from `number` on, on hosts. Finds the extreme of a block by
  /// vectors of lanes, and looks for its place only if it could be the result.
  template <class Row>
  void fold_row(Found& into, Row const& row, std::int64_t count, std::int64_t number) const {
    constexpr std::int64_t block = 2048, few = lanes;
    if (count < few) {
      fold_few(into, row, count, number);
      return;
    }
    T copies[std::is_pointer_v<Row> ? 1 : block];
    for (std::int64_t first = 0; first < count; first += block) {
      // Whole blocks, the last of which begins within the one before if it would be short.
      std::int64_t const from = std::min(first, std::max<std::int64_t>(count - few, 0)),
                         size = std::min(block, count - from);
      T const* elements = copies;
      if constexpr (std::is_pointer_v<Row>) {
        elements = row + from;
      } else {  // computed once: a vectorised function may round otherwise than the scalar one
        COIR_INDEPENDENT_ITERATIONS
        for (std::int64_t c = 0; c < size; ++c) copies[c] = row[from + c];
      }
      fold_block(into, elements, size, number + from);
    }
  }

  /// The extremes of several columns of a few rows, on hosts.
  template <int Size>
  struct Columns {
    static constexpr std::int64_t most_terms = 64;
    static constexpr Index none = 255;
    T value[Size];
    Index index[Size];

    void clear(std::int64_t columns) {
      std::fill_n(value, columns, least_extreme());
      std::fill_n(index, columns, none);
    }
    void fold(std::int64_t c, T x, std::int64_t row) {
      bool beats = more_extreme(x, value[c]);
      if constexpr (SkipsNan)
        beats |= (index[c] == none) & !is_nan(x);
      else if constexpr (std::is_floating_point_v<T>)  // true of NaN, too
        beats = ((row == 0) | !(Largest ? x <= value[c] : x >= value[c])) & !is_nan(value[c]);
      else
        beats |= row == 0;
      value[c] = math::select(beats, x, value[c]);
      index[c] = math::select(beats, static_cast<Index>(row), index[c]);
    }
    bool valid(std::int64_t) const { return true; }
    /// What a column has, whose first row is `first`.
    Found of(std::int64_t c, std::int64_t first) const {
      return {value[c], index[c] == none ? no_index : first + static_cast<std::int64_t>(index[c])};
    }
  };

 private:
  static constexpr std::int64_t lanes = 32;

  KOKKOS_FORCEINLINE_FUNCTION static constexpr T least_extreme() {
    return Largest ? least<T>() : largest<T>();
  }
  KOKKOS_FORCEINLINE_FUNCTION static bool more_extreme(T const& a, T const& b) {
    return Largest ? a > b : a < b;
  }
  KOKKOS_FORCEINLINE_FUNCTION static bool equal(T const& a, T const& b) {
    bool const a_is_nan = is_nan(a), b_is_nan = is_nan(b);
    return (a == b) | (a_is_nan & b_is_nan);
  }
  KOKKOS_FORCEINLINE_FUNCTION static T extreme(T const& a, T const& b) {
    T const more = more_extreme(b, a) ? b : a;
    return is_nan(SkipsNan ? a : b) ? b : more;
  }
  template <class Row>
  void fold_few(Found& into, Row const& row, std::int64_t count, std::int64_t number) const {
    Found most = neutral();
    for (std::int64_t c = 0; c < count; ++c) {
      T const x = row[c];
      bool beats = more_extreme(x, most.value) | (most.index == no_index);
      if constexpr (SkipsNan)
        beats &= !is_nan(x);
      else
        beats = (beats | is_nan(x)) & !is_nan(most.value);
      most.value = beats ? x : most.value;
      most.index = beats ? number + c : most.index;
    }
    join(into, most);
  }

  /// Folds at least as many elements as there are lanes. The last lanes may be looked at twice,
  /// which changes nothing.
  void fold_block(Found& into, T const* elements, std::int64_t size, std::int64_t number) const {
    T of_lane[lanes];
    for (std::int64_t l = 0; l < lanes; ++l) of_lane[l] = elements[size - lanes + l];
    for (std::int64_t c = 0; c + lanes <= size; c += lanes)
      for (std::int64_t l = 0; l < lanes; ++l) of_lane[l] = extreme(of_lane[l], elements[c + l]);
    for (std::int64_t width = lanes / 2; width > 0; width /= 2)
      for (std::int64_t l = 0; l < width; ++l) of_lane[l] = extreme(of_lane[l], of_lane[l + width]);
    T const most = of_lane[0];
    if (SkipsNan && is_nan(most)) return;  // all are
    if (!precedes(Found{most, number}, into)) return;
    // g++ vectorises loops over lanes if there are more than the 16 that it unrolls before.
    std::int64_t c = 0;
    Index at = lanes;
    for (; at == lanes; c = std::min(c + lanes, size - lanes)) {
      for (std::int64_t l = 0; l < lanes; ++l)
        at = std::min(at, equal(elements[c + l], most) ? static_cast<Index>(l) : Index(lanes));
      if (at < lanes || c == size - lanes) break;
    }
    c = at < lanes ? c + at : size;
    if (c < size) join(into, Found{most, number + c});
  }
  KOKKOS_FORCEINLINE_FUNCTION static bool precedes(Found const& a, Found const& b) {
    bool const beats = is_nan(a.value) ? !is_nan(b.value) : more_extreme(a.value, b.value);
    return beats || (equal(a.value, b.value) && a.index < b.index);
  }
};

/// The index of the first extreme element among those that aren't NaN; no_index where there are
/// none.
template <class T, bool Largest>
using NanArgExtreme = ArgExtreme<T, Largest, true>;

}  // namespace coir::detail
