#pragma once

/// The posterior of white noise, given a density that is to grow from it.

#include "linear_density.hpp"
#include "misfit.hpp"
#include "over_ranks.hpp"

#include <coir/array/creation.hpp>
#include <coir/array/functions.hpp>
#include <coir/array/operators.hpp>
#include <coir/autodiff/grad.hpp>
#include <coir/cosmology/parameters.hpp>
#include <coir/nbody/forward_model.hpp>

#include <utility>

namespace coir::apps::field {

/// A gradient and what it is of.
template <class Exec, class T>
struct Gradient {
  double value = 0;
  Field<Exec, T> noise{};                      ///< d value / d noise, of each site
  cosmology::Parameters<double> parameters{};  ///< d value / d parameter, in the place of each
};

/// The negative logarithm of the posterior but for a constant, and its gradient:
///
///   J(noise) = sum (noise - centre)^2 / 2 + misfit(grown from noise)
///
/// With a centre of zero its minimum is the most probable noise, a priori normal numbers of
/// variance 1. With the centre a draw from the prior, and the target's noise drawn, too, the
/// minimum is a draw from the posterior where the density is linear in the noise, and near one
/// elsewhere (Bardsley et al., SIAM J. Sci. Comput. 36, A1895 (2014)).
///
/// Each rank has its planes of the noise and of the gradient. All functions are collective.
template <class Exec, class T>
class Posterior {
 public:
  using Model = coir::nbody::ForwardModel<Exec, T>;
  using Noise = Array<T, 3, typename Exec::memory_space>;

  /// \param centre  or an array without memory, for 0
  Posterior(distributed::Group const& ranks, Model const& model,
            cosmology::Parameters<double> const& parameters, Misfit<Exec, T> const& misfit,
            Noise centre = {})
      : ranks_(ranks),
        model_(model),
        parameters_(parameters),
        misfit_(misfit),
        centre_(std::move(centre)) {}

  /// The misfit alone.
  double misfit(Noise const& noise) const {
    return model_.value(noise.view(), parameters_, misfit_);
  }

  /// The misfit alone, with derivatives.
  Gradient<Exec, T> misfit_gradient(Noise const& noise) const {
    auto const [value, slope] = model_.value_and_grad(noise.view(), parameters_, misfit_);
    return {value, slope.noise, slope.parameters};
  }

  /// J, and its gradient.
  ValueAndGradient<double, Noise> operator()(Noise const& noise) const {
    auto const of_misfit = misfit_gradient(noise);
    Noise gradient = borrow(of_misfit.noise);
    if (centre_.has_memory())
      gradient += noise - centre_;
    else
      gradient += noise;
    prior_ = prior(noise);
    return {prior_ + of_misfit.value, std::move(gradient)};
  }

  /// The prior's part of the gradient that was computed last.
  double prior_of_last() const { return prior_; }

 private:
  double prior(Noise const& noise) const {
    if (!centre_.has_memory()) return sum_over_ranks(ranks_, square(cast<double>(noise))) / 2;
    return sum_over_ranks(ranks_, square(cast<double>(noise - centre_))) / 2;
  }

  distributed::Group ranks_;
  Model const& model_;
  cosmology::Parameters<double> parameters_;
  Misfit<Exec, T> const& misfit_;
  Noise centre_;
  mutable double prior_ = 0;
};

}  // namespace coir::apps::field
