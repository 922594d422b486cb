#pragma once

/// \file
/// Derivatives with respect to all parameters of a cosmology at once, by dual numbers.

#include <coir/cosmology/parameters.hpp>

#include <type_traits>

namespace coir::cosmology {

/// The parameters that variables() varies, one along each direction of a dual number.
inline constexpr int varied_parameters = 11;

/// The parameters as dual numbers, each a variable along a direction of its own. Of sigma8 and A_s the one that is 0, which
/// stands for 'not given', stays a constant, and so does omega_r = 0, along which growth has no derivative.
///
///     auto const p = variables<Dual<double, varied_parameters>>(planck18());
///     Parameters<double> const slope = derivatives(LinearPower(p)(0.1));  // dP / d parameter
///
/// \tparam D  Dual<T, varied_parameters>
template <class D, class T>
Parameters<D> variables(Parameters<T> const& p) {
  static_assert(D::directions == varied_parameters,
                "variables() takes duals with a direction for each parameter: "
                "Dual<T, varied_parameters>");
  auto const given = [](T const& value, int direction) {
    return value == T(0) ? D(value) : D::variable(value, direction);
  };
  return {.omega_m = D::variable(p.omega_m, 0),
          .omega_b = D::variable(p.omega_b, 1),
          .h = D::variable(p.h, 2),
          .n_s = D::variable(p.n_s, 3),
          .sigma8 = given(p.sigma8, 4),
          .A_s = given(p.A_s, 5),
          .omega_k = D::variable(p.omega_k, 6),
          .omega_r = given(p.omega_r, 7),
          .w0 = D::variable(p.w0, 8),
          .wa = D::variable(p.wa, 9),
          .t_cmb = D::variable(p.t_cmb, 10),
          .k_pivot = p.k_pivot};
}

/// The derivatives of a number that was computed from variables(), each in the place of its parameter; k_pivot is 0.
template <class D>
auto derivatives(D const& y) {
  auto const& d = y.derivative;
  return Parameters<std::remove_cvref_t<decltype(d[0])>>{.omega_m = d[0],
                                                         .omega_b = d[1],
                                                         .h = d[2],
                                                         .n_s = d[3],
                                                         .sigma8 = d[4],
                                                         .A_s = d[5],
                                                         .omega_k = d[6],
                                                         .omega_r = d[7],
                                                         .w0 = d[8],
                                                         .wa = d[9],
                                                         .t_cmb = d[10],
                                                         .k_pivot = 0};
}

}  // namespace coir::cosmology
