#pragma once

/// Functions of a cosmology's parameters as functions of arrays, for programs that value_and_grad
/// differentiates, and others: distances, growth, power spectra. Programs that include this header
/// link coir::autodiff, too.

#include <coir/array/creation.hpp>
#include <coir/autodiff/custom_derivative.hpp>
#include <coir/cosmology/parameter_derivatives.hpp>
#include <coir/cosmology/parameters.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace coir::cosmology {

/// The parameters as an array of varied_parameters numbers, in the order of varied_members.
template <class Space = DefaultSpace, class T>
Array<T, 1, Space> array_of(Parameters<T> const& p) {
  std::vector<T> numbers;
  for (auto const member : varied_members<T>) numbers.push_back(p.*member);
  return from_span<Space>(std::span<T const>(numbers), {varied_parameters});
}

/// The parameters of such an array.
///
/// \throws PreconditionError if there is another number of them
template <Expression X>
  requires OfRank<X, 1>
auto parameters_of(X const& x, double k_pivot = 0.05) {
  using T = value_t<X>;
  expects(size_of(x.shape()) == varied_parameters,
          "a cosmology's parameters are " + std::to_string(varied_parameters) + " numbers",
          size_of(x.shape()));
  auto const numbers = to_host(evaluate(x));
  Parameters<T> result{.k_pivot = k_pivot};
  for (std::size_t d = 0; d < varied_parameters; ++d)
    result.*varied_members<T>[d] = numbers.data()[d];
  return result;
}

/// f as a function of an array of parameters: see array_of.
///
///     auto const spectrum = of_parameters([&](auto const& p) {
///       LinearPower const power(p);
///       std::vector<decltype(power(0.1))> result;
///       for (double const k : wave_numbers) result.push_back(power(k));
///       return result;
///     });
///     auto const slope = grad([&](auto p) { return sum(square(log(spectrum(p)) - data)); })(
///         array_of(planck18()));
///
/// On the way back f is called once more, with duals along all parameters.
///
/// \param f        a generic function of Parameters<T> that returns a T or a std::vector<T>
/// \param k_pivot  in 1/Mpc, as in Parameters
template <class F>
auto of_parameters(F f, double k_pivot = 0.05) {
  auto const value = [f, k_pivot](auto const& x) {
    using X = std::remove_cvref_t<decltype(x)>;
    auto const found = f(parameters_of(x, k_pivot));
    if constexpr (requires { found.size(); })
      return from_span<space_like<X>>(std::span<value_t<X> const>(found),
                                      {static_cast<std::int64_t>(found.size())});
    else
      return found;
  };
  return custom_vjp(value, [f, k_pivot](auto const& cotangent, auto const&, auto const& x) {
    using X = std::remove_cvref_t<decltype(x)>;
    using T = value_t<X>;
    using D = Dual<T, varied_parameters>;
    auto const found = f(variables<D>(parameters_of(x, k_pivot)));
    auto const weights = to_host(evaluate(cotangent));
    std::vector<T> slopes(varied_parameters, T(0));
    auto const add = [&](D const& number, T const& weight) {
      for (std::size_t d = 0; d < varied_parameters; ++d)
        slopes[d] += weight * number.derivative[d];
    };
    if constexpr (requires { found.size(); })
      for (std::size_t i = 0; i < found.size(); ++i) add(found[i], weights.data()[i]);
    else
      add(found, weights.data()[0]);
    return from_span<space_like<X>>(std::span<T const>(slopes), {varied_parameters});
  });
}

}  // namespace coir::cosmology
