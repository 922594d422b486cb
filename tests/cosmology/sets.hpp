#pragma once

#include <coir/cosmology/parameters.hpp>

#include <gtest/gtest.h>

#include <cmath>

namespace coir::testing {

/// Matter alone: E = a^(-3/2), D1 = a, D2 = 3/7 a^2, all exact.
template <class T = double>
cosmology::Parameters<T> einstein_de_sitter() {
  return {.omega_m = T(1)};
}

/// That of the tests of the Core Cosmology Library, by way of jax_cosmo.
inline cosmology::Parameters<> ccl_tests() {
  return {.omega_m = 0.35, .omega_b = 0.05, .h = 0.7, .n_s = 0.96, .sigma8 = 0.8, .t_cmb = 2.726};
}

/// planck15 with the temperature that jax_cosmo has.
inline cosmology::Parameters<> planck15_at_2_726() {
  auto p = cosmology::planck15();
  p.t_cmb = 2.726;
  return p;
}

/// Everything that changes the expansion at once.
inline cosmology::Parameters<> curved_with_changing_dark_energy() {
  return {.omega_m = 0.31,
          .omega_b = 0.05,
          .h = 0.7,
          .n_s = 0.96,
          .sigma8 = 0.8,
          .omega_k = 0.08,
          .w0 = -0.9,
          .wa = 0.25};
}

}  // namespace coir::testing

/// |value / reference - 1| <= tolerance
#define EXPECT_CLOSE(value, reference, tolerance) \
  EXPECT_NEAR(value, reference, (tolerance) * std::abs(reference))
