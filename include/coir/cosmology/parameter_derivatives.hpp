#pragma once

/// \file
/// Derivatives with respect to all parameters of a cosmology at once, by dual numbers.

#include <coir/cosmology/parameters.hpp>

#include <array>
#include <cstddef>
#include <type_traits>

namespace coir::cosmology {

/// The number of parameters that variables() varies: one for each direction of a dual number.
inline constexpr int varied_parameters = 11;

/// These parameters, in the order of the directions: all but k_pivot.
template <class T = double>
inline constexpr std::array<T Parameters<T>::*, varied_parameters> varied_members{
    &Parameters<T>::omega_m, &Parameters<T>::omega_b, &Parameters<T>::h,
    &Parameters<T>::n_s,     &Parameters<T>::sigma8,  &Parameters<T>::A_s,
    &Parameters<T>::omega_k, &Parameters<T>::omega_r, &Parameters<T>::w0,
    &Parameters<T>::wa,      &Parameters<T>::t_cmb};

/// The parameters as dual numbers, each a variable along a direction of its own. The one of sigma8
/// and A_s that isn't given stays a constant 0. So does omega_r = 0, because growth has no
/// derivative there.
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
  Parameters<D> result{.k_pivot = p.k_pivot};
  for (std::size_t d = 0; d < varied_parameters; ++d) {
    auto const member = varied_members<T>[d];
    T const value = p.*member;
    bool const may_be_absent = member == &Parameters<T>::sigma8 || member == &Parameters<T>::A_s ||
                               member == &Parameters<T>::omega_r;
    result.*varied_members<D>[d] =
        may_be_absent && value == T(0) ? D(value) : D::variable(value, static_cast<int>(d));
  }
  return result;
}

/// Derivatives that are all 0, as k_pivot is.
template <class T = double>
Parameters<T> no_derivatives() {
  Parameters<T> result{.k_pivot = 0};
  for (auto const member : varied_members<T>) result.*member = T(0);
  return result;
}

/// The derivatives of a number that was computed from variables(), each in the place of its
/// parameter; k_pivot is 0.
template <class D>
auto derivatives(D const& y) {
  using T = std::remove_cvref_t<decltype(y.derivative[0])>;
  auto result = no_derivatives<T>();
  for (std::size_t d = 0; d < varied_parameters; ++d)
    result.*varied_members<T>[d] = y.derivative[d];
  return result;
}

}  // namespace coir::cosmology
