#pragma once

/// Hamiltonian Monte Carlo with trajectories whose length is given.

#include <coir/inference/detail/run.hpp>

#include <algorithm>
#include <cmath>

namespace coir::inference {

namespace detail {

/// The number of steps of a trajectory whose length is jittered.
inline int steps_of(Options const& options, double step, double random) {
  double const length = options.length * (1 + options.jitter * (2 * random - 1));
  return static_cast<int>(std::clamp(std::round(length / step), 1.0, double(options.most_steps)));
}

template <ExecutionSpace Exec>
class HmcMove {
 public:
  using Step = DualAveraging;
  static constexpr double sampler = 1;

  HmcMove(Exec const& exec, std::int64_t n, Options const& options)
      : exec_(exec), options_(options), end_(n), spare_(vector_of<Exec>(n)) {}

  template <class T>
  double first_step(T const& target, Scale<Exec> const& scale, random::Key const& key,
                    Place<Exec> const& here) {
    return detail::first_step(exec_, target, scale, key, here, end_, spare_);
  }

  template <class T>
  Transition draw(T const& target, random::Key const& key, double step, Scale<Exec> const& scale,
                  Place<Exec>& here) {
    auto const [for_momentum, for_choices] = random::split<2>(key);
    fill_normal(exec_, for_momentum, end_.momentum);
    end_.place.take(exec_, here);
    double const before = end_.energy(exec_);
    int const steps = steps_of(options_, step, uniform(for_choices, 0));
    int taken = 0;
    while (taken < steps && end_.place.log_density > -infinity) {
      leapfrog(exec_, target, scale, step, end_);
      ++taken;
    }
    double const after = end_.energy(exec_), error = after - before;
    double const acceptance = acceptance_of(error);
    bool const accepted = uniform(for_choices, 1) < acceptance;
    if (accepted) std::swap(here, end_.place);
    return {here.log_density, accepted ? after : before, acceptance, double(taken),
            !(error < most_energy_error)};
  }

  template <class Archive>
  void visit(Archive&) {}

 private:
  Exec exec_;
  Options options_;
  Phase<Exec> end_;
  Vector<Exec> spare_;
};

}  // namespace detail

/// Draws by Hamiltonian Monte Carlo: trajectories of a given length, spread by options.jitter.
///
/// The key of a chain is fold_in(key, chain), and the key of a draw is fold_in(the chain's, draw).
/// So a chain's bits don't depend on the number of threads, on other chains, or on where the run
/// was interrupted.
///
/// \param exec    where theta and the slope are; for fields on a device one chain after another
/// \param key     of all random numbers
/// \param target  see Target
/// \param starts  an array of (chain, parameter)
/// \throws PreconditionError if an option is out of its range or starts are empty
/// \throws NumericalError if the log density isn't finite at a start, if no step from 1e-12 to 1e12
///   makes the acceptance cross 0.8, or if all draws of a chain diverged in a run that wasn't
///   stopped early
/// \see Neal, MCMC using Hamiltonian dynamics (2011), arXiv:1206.1901
template <ExecutionSpace Exec, Target<Exec> T, Expression Starts>
Chains hmc(Exec const& exec, random::Key const& key, T const& target, Starts const& starts,
           Options const& options = {}, OnProgress const& on_progress = {}) {
  return detail::begin<Exec, detail::HmcMove<Exec>>(exec, key, target, starts, options,
                                                    on_progress);
}

/// Goes on with chains that hmc() has returned or read_chains() has read, until they have
/// options.draws, with the bits that one run would have had.
///
/// \throws PreconditionError if the state is of another sampler, warmup, thin or mass
template <ExecutionSpace Exec, Target<Exec> T>
Chains hmc(Exec const& exec, T const& target, Chains chains, Options const& options = {},
           OnProgress const& on_progress = {}) {
  return detail::go_on<Exec, detail::HmcMove<Exec>>(exec, target, std::move(chains), options,
                                                    on_progress);
}

}  // namespace coir::inference
