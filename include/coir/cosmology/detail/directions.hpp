#pragma once

#include <coir/core/dual.hpp>
#include <coir/core/kokkos.hpp>
#include <coir/cosmology/detail/plain.hpp>
#include <coir/cosmology/parameters.hpp>

#include <algorithm>
#include <vector>

namespace coir::cosmology::detail {

/// A survey has more parameters than its cosmology. Dual numbers with a direction for each of them
/// would be mostly zeros in everything that the cosmology alone determines. That is computed with
/// narrow duals instead, which have only directions along which the cosmology varies. If there are
/// more such directions than a narrow dual has, the computation is repeated for the next ones.
template <class T>
struct Directions {
  using Inner = T;
  using Narrow = T;
  static constexpr int wide = 0, narrow = 0;
};
template <class U, int N>
struct Directions<Dual<U, N>> {
  using Inner = U;
  static constexpr int wide = N, narrow = N < 8 ? N : 8;
  using Narrow = Dual<U, narrow>;
};

/// f(x) of each parameter x, as numbers of the type U.
COIR_CALLS_WHAT_IT_IS_GIVEN
template <class U, class T, class F>
KOKKOS_FUNCTION Parameters<U> mapped(Parameters<T> const& p, F const& f) {
  return {.omega_m = f(p.omega_m),
          .omega_b = f(p.omega_b),
          .h = f(p.h),
          .n_s = f(p.n_s),
          .sigma8 = f(p.sigma8),
          .A_s = f(p.A_s),
          .omega_k = f(p.omega_k),
          .omega_r = f(p.omega_r),
          .w0 = f(p.w0),
          .wa = f(p.wa),
          .t_cmb = f(p.t_cmb),
          .k_pivot = p.k_pivot};
}

/// The members of a cosmology that may have derivatives.
template <class T, class F>
void for_each_member(F const& f) {
  for (auto const member :
       {&Parameters<T>::omega_m, &Parameters<T>::omega_b, &Parameters<T>::h, &Parameters<T>::n_s,
        &Parameters<T>::sigma8, &Parameters<T>::A_s, &Parameters<T>::omega_k,
        &Parameters<T>::omega_r, &Parameters<T>::w0, &Parameters<T>::wa, &Parameters<T>::t_cmb})
    f(member);
}

/// The directions along which the cosmology varies, in lists of at most `narrow`. There is at least
/// one list, which may be empty.
template <class T>
std::vector<std::vector<int>> varied_directions([[maybe_unused]] Parameters<T> const& p) {
  std::vector<std::vector<int>> lists(1);
  if constexpr (Directions<T>::wide > 0) {
    for (int d = 0; d < Directions<T>::wide; ++d) {
      bool varies = false;
      for_each_member<T>(
          [&](auto member) { varies = varies || !all_zero((p.*member).derivative[d]); });
      if (!varies) continue;
      if (static_cast<int>(lists.back().size()) == Directions<T>::narrow) lists.emplace_back();
      lists.back().push_back(d);
    }
  }
  return lists;
}

/// The number with the derivatives along some directions.
template <class T>
typename Directions<T>::Narrow narrowed(T const& x, std::vector<int> const& directions) {
  if constexpr (Directions<T>::wide > 0) {
    typename Directions<T>::Narrow result(x.value);
    for (std::size_t c = 0; c < directions.size(); ++c)
      result.derivative[c] = x.derivative[directions[c]];
    return result;
  } else {
    return x;
  }
}

template <class T>
auto narrowed(Parameters<T> const& p, std::vector<int> const& directions) {
  return mapped<typename Directions<T>::Narrow>(
      p, [&](T const& x) { return narrowed(x, directions); });
}

/// Sets the value and the derivatives of a wide number that a narrow one knows.
template <class T>
void widen(typename Directions<T>::Narrow const& x, std::vector<int> const& directions, T& wide) {
  if constexpr (Directions<T>::wide > 0) {
    wide.value = x.value;
    for (std::size_t c = 0; c < directions.size(); ++c)
      wide.derivative[directions[c]] = x.derivative[c];
  } else {
    wide = x;
  }
}

}  // namespace coir::cosmology::detail
