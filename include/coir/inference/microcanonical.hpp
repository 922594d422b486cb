#pragma once

/// Microcanonical Langevin and Hamiltonian Monte Carlo, for very many parameters: the speed is
/// fixed, and the slope of the log density turns its direction.

#include <coir/inference/hmc.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>

namespace coir::inference {

namespace detail {

/// The step for which the variance of the energy's error in a step, per parameter, is the one asked
/// for. The square of the error is taken to grow as the sixth power of the step.
/// \see Robnik, De Luca, Silverstein & Seljak, J. Mach. Learn. Res. 24, 311 (2023)
class EnergyVariance {
 public:
  explicit EnergyVariance(Options const& options) : wanted_(options.energy_error) {}

  void restart(double step) {
    step_ = step;
    sum_ = weights_ = 0;
  }
  void update(Transition const& draw) {
    if (draw.diverged) {
      restart(step_ / 2);
      return;
    }
    constexpr double memory = 149.0 / 151;  // about 150 draws
    double const ratio = draw.square_error / wanted_ + 1e-8, off = std::log(ratio) / 9;
    double const weight = std::exp(-0.5 * off * off);  // draws far off say little
    sum_ = memory * sum_ + weight * ratio / std::pow(step_, 6);
    weights_ = memory * weights_ + weight;
    step_ = std::pow(sum_ / weights_, -1.0 / 6);
  }
  void finish() {}
  double step() const { return step_; }

  template <class Archive>
  void visit(Archive& archive) {
    archive(step_);
    archive(sum_);
    archive(weights_);
  }

 private:
  double wanted_, step_ = 0, sum_ = 0, weights_ = 0;
};

/// Trajectories at the speed sqrt(n), in units in which the target has unit variance.
template <ExecutionSpace Exec, bool adjusted>
class MicrocanonicalMove {
 public:
  using Step = std::conditional_t<adjusted, DualAveraging, EnergyVariance>;
  static constexpr double sampler = adjusted ? 4 : -5;

  MicrocanonicalMove(Exec const& exec, std::int64_t n, Options const& options)
      : exec_(exec),
        options_(options),
        end_(n),
        force_(vector_of<Exec>(n)),
        noise_(vector_of<Exec>(n)) {
    expects(n >= 2, "microcanonical samplers need 2 parameters or more", n);
  }

  template <class T>
  double first_step(T const& target, Scale<Exec> const& scale, random::Key const& key,
                    Place<Exec> const& here) {
    moving_ = 0;  // the search overwrites the direction
    return crossing([&](double h) {
      end_.place.take(exec_, here);
      fill_normal(exec_, key, end_.momentum);
      normalise();
      return acceptance_of(step(target, scale, h)) > 0.8;
    });
  }

  template <class T>
  Transition draw(T const& target, random::Key const& key, double h, Scale<Exec> const& scale,
                  Place<Exec>& here) {
    auto const [for_direction, for_choices, for_noise] = random::split<3>(key);
    if (adjusted || !moving_) {
      fill_normal(exec_, for_direction, end_.momentum);
      normalise();
    }
    moving_ = 1;
    end_.place.take(exec_, here);
    int const steps = steps_of(options_, h, uniform(for_choices, 0));
    Transition told{0, 0, 1, 0, false};
    double error = 0;
    while (told.steps < steps && !told.diverged) {
      double const of_step = step(target, scale, h);
      error += of_step;
      told.square_error += of_step * of_step / (double(length(here.theta)) * steps);
      told.diverged = !(std::abs(error) < most_energy_error);
      if (!adjusted && !told.diverged)
        refresh(random::fold_in(for_noise, static_cast<std::uint64_t>(told.steps)), h);
      ++told.steps;
    }
    if (told.diverged)
      told.acceptance = 0;
    else if (adjusted)
      told.acceptance = acceptance_of(error);
    if (!told.diverged && (!adjusted || uniform(for_choices, 1) < told.acceptance))
      std::swap(here, end_.place);
    if (told.diverged) moving_ = 0;
    told.log_density = here.log_density;
    told.energy = std::numeric_limits<double>::quiet_NaN();
    return told;
  }

  template <class Archive>
  void visit(Archive& archive) {
    if (adjusted) return;
    archive(moving_);
    archive(end_.momentum);
  }

 private:
  void normalise() {
    double const size = std::sqrt(dot(exec_, end_.momentum, end_.momentum));
    combine(exec_, 1 / size, end_.momentum, 0, end_.momentum);
  }

  /// Turns the direction for half a step, moves, and turns for half a step. Returns the change of
  /// the energy.
  template <class T>
  double step(T const& target, Scale<Exec> const& scale, double h) {
    double const before = end_.place.log_density;
    double kinetic = turn(scale, h / 2);
    scale.drift(exec_, h * std::sqrt(double(length(force_))), end_.momentum, end_.place.theta);
    end_.place.evaluate(exec_, target);
    kinetic += turn(scale, h / 2);
    return kinetic - (end_.place.log_density - before);
  }

  /// The exact solution of du/dt = (1 - u u^T) force / (n - 1) at a fixed force, and the change of
  /// the kinetic energy, (n - 1) log(cosh d + e.u sinh d) with d = h |force| / (n - 1).
  double turn(Scale<Exec> const& scale, double h) {
    double const n = double(length(force_));
    scale.kick(exec_, 1, end_.place.slope, force_, false);
    double const size = std::sqrt(dot(exec_, force_, force_));
    if (size == 0) return 0;
    double const along = dot(exec_, force_, end_.momentum) / size;
    double const d = h * std::sqrt(n) * size / (n - 1), z = std::exp(-d);
    combine(exec_, (1 - z) * (1 + z + along * (1 - z)) / size, force_, 2 * z, end_.momentum);
    normalise();
    return (n - 1) * (d - std::log(2.0) + std::log1p(along + (1 - along) * z * z));
  }

  /// Noise that makes a trajectory forget its direction over options.length.
  void refresh(random::Key const& key, double h) {
    double const n = double(length(force_));
    fill_normal(exec_, key, noise_);
    combine(exec_, std::sqrt(std::expm1(2 * h / options_.length) / n), noise_, 1, end_.momentum);
    normalise();
  }

  Exec exec_;
  Options options_;
  Phase<Exec> end_;  // its momentum is a direction, of length 1
  Vector<Exec> force_, noise_;
  int moving_ = 0;
};

}  // namespace detail

/// Draws by microcanonical Hamiltonian Monte Carlo: a new direction for each trajectory, and a
/// Metropolis test at its end. Options and errors are those of hmc(). There must be 2 parameters or
/// more. The energies in the statistics are NaN, because the momentum is a direction alone. So
/// there is no E-BFMI.
///
/// \see Robnik, Cohn-Gordon & Seljak, arXiv:2503.01707
template <ExecutionSpace Exec, Target<Exec> T, Expression Starts>
Chains microcanonical(Exec const& exec, random::Key const& key, T const& target,
                      Starts const& starts, Options const& options = {},
                      OnProgress const& on_progress = {}) {
  return detail::begin<Exec, detail::MicrocanonicalMove<Exec, true>>(exec, key, target, starts,
                                                                     options, on_progress);
}

/// Goes on with chains of microcanonical(), as hmc() does.
template <ExecutionSpace Exec, Target<Exec> T>
Chains microcanonical(Exec const& exec, T const& target, Chains chains, Options const& options = {},
                      OnProgress const& on_progress = {}) {
  return detail::go_on<Exec, detail::MicrocanonicalMove<Exec, true>>(
      exec, target, std::move(chains), options, on_progress);
}

/// Draws by microcanonical Langevin Monte Carlo without a Metropolis test. The draws are biased,
/// and Chains::biased is true. A smaller options.energy_error makes the bias smaller, and takes
/// more steps. A draw is a trajectory of options.length, along which noise turns the direction.
///
/// \see Robnik, De Luca, Silverstein & Seljak, J. Mach. Learn. Res. 24, 311 (2023); for fields
///   Simon-Onfroy, Lanusse & de Mattia, arXiv:2504.20130
template <ExecutionSpace Exec, Target<Exec> T, Expression Starts>
Chains microcanonical_unadjusted(Exec const& exec, random::Key const& key, T const& target,
                                 Starts const& starts, Options const& options = {},
                                 OnProgress const& on_progress = {}) {
  return detail::begin<Exec, detail::MicrocanonicalMove<Exec, false>>(exec, key, target, starts,
                                                                      options, on_progress);
}

/// Goes on with chains of microcanonical_unadjusted(), as hmc() does.
template <ExecutionSpace Exec, Target<Exec> T>
Chains microcanonical_unadjusted(Exec const& exec, T const& target, Chains chains,
                                 Options const& options = {}, OnProgress const& on_progress = {}) {
  return detail::go_on<Exec, detail::MicrocanonicalMove<Exec, false>>(
      exec, target, std::move(chains), options, on_progress);
}

}  // namespace coir::inference
