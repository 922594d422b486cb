#pragma once

/// The posterior of the noise that a universe began with, for the samplers of coir::inference.

#include <coir/core/concepts.hpp>
#include <coir/core/contiguous.hpp>
#include <coir/core/errors.hpp>
#include <coir/core/kept_views.hpp>
#include <coir/core/loops.hpp>
#include <coir/cosmology/parameters.hpp>
#include <coir/nbody/forward_model.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace coir::nbody {

namespace detail {
using ParameterMember = double cosmology::Parameters<double>::*;
}

/// A parameter of the cosmology that is sampled, with its Gaussian prior.
struct VariedParameter {
  detail::ParameterMember member;  ///< such as &cosmology::Parameters<double>::omega_m
  double mean, deviation;
};

namespace detail {

template <class T>
struct TakeNoise {
  double const* theta;
  T* noise;
  KOKKOS_FUNCTION void operator()(std::int64_t at) const { noise[at] = static_cast<T>(theta[at]); }
};

/// The slope of the log posterior of noise, and the sum of squares of theta.
template <class T>
struct SlopeOfNoise {
  double const* theta;
  T const* of_loss;
  double* slope;
  KOKKOS_FUNCTION void operator()(std::int64_t at, double& squares) const {
    slope[at] = -theta[at] - static_cast<double>(of_loss[at]);
    squares += theta[at] * theta[at];
  }
};

}  // namespace detail

/// The log posterior of white noise and of parameters, given what a loss asks of the universe that
/// grows from them:
///
///   log p(theta) = - sum theta^2 / 2 - loss(particles)
///
/// theta has first the side^3 numbers of the noise in C order. Then comes a number z for each
/// varied parameter, which is mean + deviation z. So a priori all of theta are normal numbers of
/// variance 1. Where a parameter is out of its range the density is 0.
///
///     nbody::FieldTarget const target(exec, model, parameters, loss,
///                                     {{&cosmology::Parameters<double>::sigma8, 0.8, 0.1}});
///     auto const chains = inference::hmc(exec, key, target, start);
///
/// A universe of one rank.
///
/// \tparam F  a loss of ForwardModel, the negative log likelihood
/// \see Jasche & Wandelt, arXiv:1203.3639, for the density of galaxies
template <CompiledSpace Exec, Real T, class F>
class FieldTarget {
 public:
  using Space = typename Exec::memory_space;
  static constexpr bool one_at_a_time = true;  ///< chains take turns

  /// \throws PreconditionError if the model is one of several ranks, if a deviation isn't above 0,
  ///   or if there is no such cosmology with the varied parameters at their means
  FieldTarget(Exec const& exec, ForwardModel<Exec, T> model,
              cosmology::Parameters<double> const& parameters, F loss,
              std::vector<VariedParameter> varied = {})
      : exec_(exec),
        model_(std::move(model)),
        parameters_(parameters),
        loss_(std::move(loss)),
        varied_(std::move(varied)) {
    expects(model_.group().size() == 1, "the universe of a target must be one rank's, not shared",
            model_.group().size());
    for (auto const& one : varied_)
      expects(one.deviation > 0, "the prior of a varied parameter must have a deviation above 0",
              one.deviation);
    cosmology::expects_parameters(parameters_at(std::vector<double>(varied_.size()).data()));
  }

  /// The length of theta.
  std::int64_t size() const { return sites() + static_cast<std::int64_t>(varied_.size()); }

  /// The cosmology at the numbers of theta that come after the noise, which lie on the host.
  cosmology::Parameters<double> parameters_at(double const* z) const {
    auto result = parameters_;
    for (std::size_t k = 0; k < varied_.size(); ++k)
      result.*varied_[k].member = varied_[k].mean + varied_[k].deviation * z[k];
    return result;
  }

  /// The log density, and its gradient in `slope`. Outside of the parameters' ranges it is minus
  /// infinity, and `slope` is left as it was.
  ///
  /// \throws PreconditionError if theta or slope isn't of size()
  /// \throws NumericalError, ResourceError as ForwardModel::value_and_grad()
  double operator()(Kokkos::View<double const*, Space> const& theta,
                    Kokkos::View<double*, Space> const& slope) const {
    expects_length(theta.extent(0));
    expects_length(slope.extent(0));
    std::vector<double> z(varied_.size());
    auto const bytes = static_cast<std::int64_t>(z.size() * sizeof(double));
    if (bytes > 0) copy_bytes<Kokkos::HostSpace, Space>(z.data(), theta.data() + sites(), bytes);
    auto const parameters = parameters_at(z.data());
    try {
      cosmology::expects_parameters(parameters);
    } catch (PreconditionError const&) {
      return -std::numeric_limits<double>::infinity();
    }
    auto const grown = model_.value_and_grad(noise_of(theta), parameters, loss_);

    double squares = 0;
    reduce("coir::nbody::field_target/slope", exec_, coir::box<1, std::int64_t>({sites()}),
           detail::SlopeOfNoise<T>{theta.data(), grown.slope.noise.data(), slope.data()},
           Kokkos::Sum<double>(squares));
    std::vector<double> slope_of_z;
    for (std::size_t k = 0; k < z.size(); ++k) {
      slope_of_z.push_back(-z[k] -
                           varied_[k].deviation * (grown.slope.parameters.*varied_[k].member));
      squares += z[k] * z[k];
    }
    if (bytes > 0)
      copy_bytes<Space, Kokkos::HostSpace>(slope.data() + sites(), slope_of_z.data(), bytes);
    return -squares / 2 - grown.value;
  }

 private:
  using Field = typename ForwardModel<Exec, T>::Field;

  std::int64_t sites() const {
    std::int64_t const n = model_.options().side;
    return n * n * n;
  }
  void expects_length(std::size_t length) const {
    expects(static_cast<std::int64_t>(length) == size(),
            "theta and its slope must have " + std::to_string(sites()) + " numbers of noise and " +
                std::to_string(varied_.size()) + " of parameters",
            length);
  }
  Field noise_of(Kokkos::View<double const*, Space> const& theta) const {
    std::int64_t const n = model_.options().side;
    auto const noise = kept_view<Field>(exec_, "coir::nbody::field_target/noise", n, n, n);
    for_each("coir::nbody::field_target/noise", exec_, coir::box<1, std::int64_t>({sites()}),
             detail::TakeNoise<T>{theta.data(), noise.data()});
    exec_.fence();  // the model reads it on an instance of its own
    return noise;
  }

  Exec exec_;
  ForwardModel<Exec, T> model_;
  cosmology::Parameters<double> parameters_;
  F loss_;
  std::vector<VariedParameter> varied_;
};

}  // namespace coir::nbody
