#pragma once

/// \file
/// The posterior of white noise, given a density that is to grow from it.

#include "linear_density.hpp"
#include "misfit.hpp"

#include <coir/core/contiguous.hpp>
#include <coir/core/loops.hpp>
#include <coir/cosmology/parameters.hpp>
#include <coir/nbody/forward_model.hpp>

#include <cstdint>
#include <utility>

namespace coir::apps::field {

/// A gradient and what it is of.
template <class Exec, class T>
struct Gradient {
  double value = 0;
  Field<Exec, T> noise{};                      ///< d value / d noise, of each site
  cosmology::Parameters<double> parameters{};  ///< d value / d parameter, in the place of each
};

namespace detail {

/// slope += x - centre, and the sum of (x - centre)^2.
template <class T>
struct Prior {
  T const *x, *centre;  // no centre: 0
  T* slope;             // or null
  KOKKOS_FUNCTION void operator()(std::int64_t n, double& sum) const {
    T const difference = centre == nullptr ? x[n] : x[n] - centre[n];
    if (slope != nullptr) slope[n] += difference;
    sum += static_cast<double>(difference) * static_cast<double>(difference);
  }
};

}  // namespace detail

/// The negative logarithm of the posterior but for a constant, and its gradient:
///
///   J(noise) = sum (noise - centre)^2 / 2 + misfit(grown from noise)
///
/// With a centre of zero its minimum is the most probable noise, a priori normal numbers of variance 1. With the centre a
/// draw from the prior, and the target's noise drawn, too, the minimum is a draw from the posterior where the density is linear
/// in the noise, and near one elsewhere (Bardsley et al., SIAM J. Sci. Comput. 36, A1895 (2014)).
template <class Exec, class T>
class Posterior {
 public:
  using Model = coir::nbody::ForwardModel<Exec, T>;

  /// \param centre  or an empty View
  Posterior(Exec const& exec, Model const& model, cosmology::Parameters<double> const& parameters,
            Misfit<Exec, T> const& misfit, Field<Exec, T> centre = {})
      : exec_(exec),
        model_(model),
        parameters_(parameters),
        misfit_(misfit),
        centre_(std::move(centre)) {}

  /// The misfit alone, with derivatives.
  Gradient<Exec, T> misfit_gradient(Field<Exec, T> const& noise) const {
    auto const [value, slope] = model_.value_and_grad(noise, parameters_, misfit_);
    return {value, slope.noise, slope.parameters};
  }

  /// J, and its gradient, for Lbfgs.
  double operator()(Field<Exec, T> const& noise, Field<Exec, T> const& gradient) const {
    auto const of_misfit = misfit_gradient(noise);
    copy_contiguous(exec_, gradient, of_misfit.noise);
    prior_ = prior(noise, gradient.data());
    return prior_ + of_misfit.value;
  }

  /// J alone.
  double operator()(Field<Exec, T> const& noise) const {
    return prior(noise, nullptr) + misfit_(model_.run(noise, parameters_));
  }

  /// The prior's part of the gradient that was computed last.
  double prior_of_last() const { return prior_; }

 private:
  double prior(Field<Exec, T> const& noise, T* slope) const {
    double sum = 0;
    reduce("coir::apps::field::prior", exec_,
           box<1, std::int64_t>({static_cast<std::int64_t>(noise.size())}),
           detail::Prior<T>{noise.data(), centre_.data(), slope}, Kokkos::Sum<double>(sum));
    return sum / 2;
  }

  Exec exec_;
  Model const& model_;
  cosmology::Parameters<double> parameters_;
  Misfit<Exec, T> const& misfit_;
  Field<Exec, T> centre_;
  mutable double prior_ = 0;
};

}  // namespace coir::apps::field
