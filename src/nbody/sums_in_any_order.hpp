#pragma once

/// Sums over the indices of all ranks that don't depend on the order of additions, and so not on
/// the number of ranks or threads.

#include <coir/core/kokkos.hpp>
#include <coir/core/loops.hpp>
#include <coir/core/math.hpp>
#include <coir/core/reducer.hpp>
#include <coir/distributed/group.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>

namespace coir::nbody::detail {

template <class Number, int N>
struct SomeNumbers {
  Number of[N] = {};
};

/// The largest sizes; NaN if one is NaN.
template <int N>
struct LargestSizes {
  using value_type = SomeNumbers<double, N>;
  static constexpr bool rounds = false;
  KOKKOS_FORCEINLINE_FUNCTION value_type neutral() const { return {}; }
  KOKKOS_FORCEINLINE_FUNCTION void join(value_type& into, value_type const& other) const {
    for (int s = 0; s < N; ++s)
      into.of[s] =
          other.of[s] > into.of[s] || other.of[s] != other.of[s] ? other.of[s] : into.of[s];
  }
};
template <int N>
struct WholeSums {
  using value_type = SomeNumbers<std::int64_t, N>;
  static constexpr bool rounds = false;
  KOKKOS_FORCEINLINE_FUNCTION value_type neutral() const { return {}; }
  KOKKOS_FORCEINLINE_FUNCTION void join(value_type& into, value_type const& other) const {
    for (int s = 0; s < N; ++s) into.of[s] += other.of[s];
  }
};

/// Finds the largest sizes of the terms of N sums. term(index..., of) writes these terms to `of`.
template <class Term, int N>
struct FindSizes {
  Term term;
  KOKKOS_FUNCTION void operator()(std::int64_t i, SomeNumbers<double, N>& most) const {
    SomeNumbers<double, N> here;
    term(i, here.of);
    find(here, most);
  }
  KOKKOS_FUNCTION void operator()(std::int64_t i, std::int64_t j, std::int64_t k,
                                  SomeNumbers<double, N>& most) const {
    SomeNumbers<double, N> here;
    term(i, j, k, here.of);
    find(here, most);
  }

 private:
  KOKKOS_FORCEINLINE_FUNCTION static void find(SomeNumbers<double, N>& here,
                                               SomeNumbers<double, N>& most) {
    for (int s = 0; s < N; ++s) here.of[s] = math::abs(here.of[s]);
    LargestSizes<N>{}.join(most, here);
  }
};

/// Adds up the terms of N sums, each times a scale and rounded to a whole number.
template <class Term, int N>
struct AddWholeNumbers {
  Term term;
  SomeNumbers<double, N> scale;
  KOKKOS_FUNCTION void operator()(std::int64_t i, SomeNumbers<std::int64_t, N>& sum) const {
    SomeNumbers<double, N> here;
    term(i, here.of);
    add(here, sum);
  }
  KOKKOS_FUNCTION void operator()(std::int64_t i, std::int64_t j, std::int64_t k,
                                  SomeNumbers<std::int64_t, N>& sum) const {
    SomeNumbers<double, N> here;
    term(i, j, k, here.of);
    add(here, sum);
  }

 private:
  KOKKOS_FORCEINLINE_FUNCTION void add(SomeNumbers<double, N> const& here,
                                       SomeNumbers<std::int64_t, N>& sum) const {
    for (int s = 0; s < N; ++s)
      sum.of[s] += static_cast<std::int64_t>(math::rint(scale.of[s] * here.of[s]));
  }
};

/// What all ranks have found together. Collective.
template <class Monoid>
typename Monoid::value_type joined(distributed::Group const& group, Monoid const& monoid,
                                   typename Monoid::value_type const& here) {
  auto all = monoid.neutral();
  for (auto const& found : group.gather(here)) monoid.join(all, found);
  return all;
}

/// The largest sizes of the terms of N sums, of all ranks. Collective.
template <int N, class Exec, class Indices, class Term>
SomeNumbers<double, N> largest_sizes(std::string_view label, Exec const& exec,
                                     distributed::Group const& group, Indices const& indices,
                                     Term const& term) {
  SomeNumbers<double, N> here;
  reduce(label, exec, indices, FindSizes<Term, N>{term}, MonoidReducer<LargestSizes<N>>({}, here));
  return joined(group, LargestSizes<N>{}, here);
}

/// The power of 2 by which terms are scaled, so that `count` terms of the largest size add up to
/// less than 2^62.
///
/// \param largest  above 0, and finite
inline int power_for_whole_numbers(double count, double largest) {
  return std::min(61 - std::ilogb(count) - 1 - std::ilogb(largest), 1000);
}

/// N sums over the indices of all ranks. NaN if a term is infinite or NaN. Collective.
///
/// \param indices  this rank's
/// \param count    the indices of all ranks
template <int N, class Exec, class Indices, class Term>
std::array<double, N> sums_in_any_order(std::string_view label, Exec const& exec,
                                        distributed::Group const& group, Indices const& indices,
                                        double count, Term const& term) {
  auto const largest = largest_sizes<N>(label, exec, group, indices, term);
  AddWholeNumbers<Term, N> body{term, {}};
  int power[N] = {};
  for (int s = 0; s < N; ++s) {
    if (!std::isfinite(largest.of[s]) || largest.of[s] == 0) continue;
    power[s] = power_for_whole_numbers(count, largest.of[s]);
    body.scale.of[s] = std::ldexp(1.0, power[s]);
  }
  SomeNumbers<std::int64_t, N> here;
  reduce(label, exec, indices, body, MonoidReducer<WholeSums<N>>({}, here));
  auto const sums = joined(group, WholeSums<N>{}, here);
  std::array<double, N> result{};
  for (std::size_t s = 0; s < N; ++s)
    result[s] = std::isfinite(largest.of[s])
                    ? std::ldexp(static_cast<double>(sums.of[s]), -power[s])
                    : std::numeric_limits<double>::quiet_NaN();
  return result;
}

}  // namespace coir::nbody::detail
