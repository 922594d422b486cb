#pragma once

#include <coir/cosmology/background.hpp>
#include <coir/cosmology/power.hpp>

namespace coir::nbody::detail {

/// x = q + d1 s1 + d2 s2, p = p1 s1 + p2 s2.
///
/// \tparam T  double, or a dual number of it
template <class T>
struct LagrangianFactors {
  T d1, d2, p1, p2;
};

template <class T>
LagrangianFactors<T> lagrangian_factors(cosmology::LinearPower<T> const& power, double a) {
  auto const growth = power.growth().at(T(a));
  T const a2e = a * a * cosmology::expansion_rate(power.parameters(), T(a));
  return {growth.d1, growth.d2, T(a2e * growth.d1_prime), T(a2e * growth.d2_prime)};
}

}  // namespace coir::nbody::detail
