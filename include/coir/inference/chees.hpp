#pragma once

/// Hamiltonian Monte Carlo of many chains at once, for devices. Trajectories of all chains have one
/// length, which is learnt.

#include <coir/array/axes.hpp>
#include <coir/array/axis_reductions.hpp>
#include <coir/array/functions.hpp>
#include <coir/array/operators.hpp>
#include <coir/array/reductions.hpp>
#include <coir/inference/detail/run.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

namespace coir::inference {

/// A target of many chains: `void operator()(exec, theta, slope, value) const` writes the log
/// densities and their gradients at theta, (chain, parameter), to value, (chain), and slope. All
/// are Views in C order in the memory of Exec. number_batch() makes one; BatchOf makes one of a
/// Target.
template <class T, class Exec>
concept BatchTarget =
    ExecutionSpace<Exec> && requires(T const& target, Exec const& exec, detail::Matrix<Exec> theta,
                                     detail::Matrix<Exec> slope, detail::Vector<Exec> value) {
      target(exec, theta, slope, value);
    };

/// A Target evaluated for one chain after another: on hosts by all threads, a chain a thread.
template <class T>
struct BatchOf {
  T target;

  template <ExecutionSpace Exec>
  void operator()(Exec const&, detail::Matrix<Exec> const& theta, detail::Matrix<Exec> const& slope,
                  detail::Vector<Exec> const& value) const {
    auto const n = theta.extent(1);
    std::vector<double> values(theta.extent(0));
    detail::for_each_chain<Exec>(static_cast<std::int64_t>(values.size()),
                                 !detail::one_at_a_time<T>, [&](std::int64_t chain) {
                                   auto const c = static_cast<std::size_t>(chain);
                                   using Memory = typename Exec::memory_space;
                                   Kokkos::View<double const*, Memory> const at(
                                       theta.data() + c * n, n);
                                   Kokkos::View<double*, Memory> const to(slope.data() + c * n, n);
                                   try {
                                     values[c] = target(at, to);
                                   } catch (NumericalError const&) {
                                     values[c] = -detail::infinity;
                                   }
                                 });
    detail::set_elements(value, values.data());
  }
};

namespace detail {

/// The number-th of a sequence that fills (0, 1) evenly: its binary digits behind the point, in
/// reverse (van der Corput).
inline double evenly(std::uint64_t number) {
  double result = 0;
  for (double digit = 0.5; number > 0; number >>= 1, digit /= 2)
    result += double(number & 1) * digit;
  return result;
}

/// All chains, which move together.
template <ExecutionSpace Exec, class T>
class Ensemble {
 public:
  using Space = typename Exec::memory_space;
  using Table = Array<double, 2, Space>;
  using Column = Array<double, 1, Space>;
  static constexpr double sampler = 3;

  Ensemble(Exec const& exec, T const& target, StateHead const& head, Options const& options)
      : exec_(exec),
        target_(target),
        key_(head.key),
        options_(options),
        windows_(options.warmup),
        theta_({head.chains, head.parameters}),
        slope_(theta_.shape()),
        value_({head.chains}),
        scale_({head.parameters}),
        centre_(scale_.shape()),
        sum_(scale_.shape()),
        squares_(scale_.shape()),
        step_(options),
        log_length_(std::log(options.length)),
        log_average_(log_length_) {
    scale_ = 1;
    centre_ = sum_ = squares_ = 0;
  }

  Table& theta() { return theta_; }

  /// \throws NumericalError if a chain is where the log density isn't finite
  void evaluate() {
    evaluate(theta_, slope_, value_);
    auto const host = to_host(value_);
    for (std::int64_t chain = 0; chain < host.size(); ++chain)
      if (!std::isfinite(host(chain))) fail_at_start(chain);
  }

  void advance(std::int64_t end, Chains& chains) {
    for (; done_ < end; ++done_) {
      auto const [for_momenta, for_choices] =
          random::split<2>(random::fold_in(key_, static_cast<std::uint64_t>(done_)));
      bool const warming = done_ < options_.warmup;
      Table momentum = random::normal<double, Space>(for_momenta, theta_.shape());
      if (done_ == 0 || (warming && windows_.ends(done_ - 1)))
        step_.restart(done_ == 0 && options_.step > 0 ? options_.step : first_step(momentum));
      draw(momentum, random::uniform<double, Space>(for_choices, value_.shape()), warming, chains);
    }
  }

  template <class Archive>
  void visit(Archive& archive) {
    for (auto* column : {&scale_, &centre_, &sum_, &squares_}) on_view(archive, *column);
    on_view(archive, theta_);
    archive(done_);
    archive(count_);
    archive(log_length_);
    archive(log_average_);
    archive(square_);
    archive(learnt_);
    step_.visit(archive);
  }

 private:
  template <class Archive, class A>
  static void on_view(Archive& archive, A& array) {
    auto view = array.view();
    archive(view);
  }

  void evaluate(Table& theta, Table& slope, Column& value) const {
    if constexpr (!runs_on_host<Exec>) Kokkos::fence();
    target_(exec_, Matrix<Exec>(theta.data(), theta.shape()[0], theta.shape()[1]),
            Matrix<Exec>(slope.data(), theta.shape()[0], theta.shape()[1]),
            Vector<Exec>(value.data(), value.size()));
    if constexpr (!runs_on_host<Exec>) exec_.fence();
  }

  void leapfrog(double h, Table& theta, Table& slope, Column& value, Table& momentum) const {
    momentum += (h / 2) * scale_ * slope;
    theta += h * scale_ * momentum;
    evaluate(theta, slope, value);
    momentum += (h / 2) * scale_ * slope;
  }

  /// How likely each chain's change of the energy is accepted.
  static Column acceptances(Column const& before, Column const& after) {
    return where(isfinite(after), exp(minimum(before - after, 0.0)), 0.0);
  }
  static Column energies(Table const& momentum, Column const& value) {
    return 0.5 * sum(square(momentum), 1) - value;
  }

  double first_step(Table const& start) const {
    Column const before = energies(start, value_);
    auto const accepts = [&](double h) {
      Table theta = theta_, slope = slope_, momentum = start;
      Column value = value_;
      leapfrog(h, theta, slope, value, momentum);
      return mean(acceptances(before, energies(momentum, value))) > 0.8;
    };
    return crossing(accepts);
  }

  void draw(Table& momentum, Column const& choices, bool warming, Chains& chains) {
    double const part = evenly(static_cast<std::uint64_t>(done_) + 1), step = step_.step();
    double const length = part * std::exp(warming ? log_length_ : log_average_);
    int const steps =
        static_cast<int>(std::clamp(std::ceil(length / step), 1.0, double(options_.most_steps)));
    Column const before = energies(momentum, value_);
    Table theta = theta_, slope = slope_;
    Column value = value_;
    for (int k = 0; k < steps; ++k) leapfrog(step, theta, slope, value, momentum);
    Column const after = energies(momentum, value), likely = acceptances(before, after);
    if (warming) learn(theta, momentum, likely, part * std::exp(log_length_));
    Array<bool, 1, Space> const accepted = choices < likely;
    Array<bool, 2, Space> const rows = broadcast_to(with_axis(accepted, 1), theta.shape());
    theta_ = where(rows, theta, theta_);
    slope_ = where(rows, slope, slope_);
    value_ = where(accepted, value, value_);
    if (warming) {
      fit();
    } else {
      Column const energy = where(accepted, after, before);
      keep(to_host(value_), to_host(energy), to_host(likely), to_host(after - before), steps,
           chains);
    }
  }

  /// Learns the step and the length. With d the squared distance of a chain from the chains' mean,
  /// the length follows the gradient of the mean of (d at the end - d at the start)^2, by Adam
  /// without momentum. A chain that hardly ever accepts its end, such as one that
  /// diverged, counts as if it stayed where it was.
  void learn(Table const& theta, Table const& momentum, Column const& acceptance, double length) {
    std::int64_t const chains = theta.shape()[0];
    auto const likely = to_host(acceptance);
    Array<bool, 1, Space> const moved = acceptance > least_likely;
    Array<bool, 2, Space> const rows = broadcast_to(with_axis(moved, 1), theta.shape());
    Table const to = where(rows, theta, theta_) / scale_, from = theta_ / scale_;
    Column const to_mean = mean(to, 0), from_mean = mean(from, 0);
    auto const gained = to_host(sum(square(to - to_mean), 1) - sum(square(from - from_mean), 1));
    auto const speed = to_host(sum((to - to_mean) * momentum, 1));
    double weights = 0, gradient = 0, harmonic = 0;
    for (std::int64_t c = 0; c < chains; ++c) {
      harmonic += 1 / std::max(likely(c), 1e-10);
      if (!(likely(c) > least_likely)) continue;
      weights += likely(c);
      gradient += likely(c) * length * gained(c) * speed(c);
    }
    Transition told;
    told.acceptance = double(chains) / harmonic;
    step_.update(told);
    gradient /= std::max(weights, least_likely);
    if (weights > 0 && std::isfinite(gradient * gradient)) {
      square_ += 0.05 * (gradient * gradient - square_);
      double const known = 1 - std::pow(0.95, learnt_ + 1);
      double const rate = 0.025 / std::sqrt(square_ / known + 1e-300);
      double const longest = std::log(step_.step() * options_.most_steps);
      log_length_ = std::min(log_length_ + rate * gradient, longest);
    }
    ++learnt_;
    log_average_ += std::pow(learnt_, -0.5) * (log_length_ - log_average_);
  }

  /// Fits the metric to the variances over chains and draws of a window.
  void fit() {
    if (options_.mass == Mass::diagonal && windows_.holds(done_)) {
      auto const chains = static_cast<double>(value_.size());
      if (count_ == 0) centre_ = mean(theta_, 0);
      count_ += chains;
      sum_ += sum(theta_ - centre_, 0);
      squares_ += sum(square(theta_ - centre_), 0);
      if (windows_.ends(done_)) {
        double const weight = count_ / (count_ + 5), floor = 1e-3 * (1 - weight);
        scale_ = sqrt(weight / (count_ - 1) * (squares_ - square(sum_) / count_) + floor);
        sum_ = squares_ = 0;
        count_ = 0;
        // Lengths are measured in the metric: a length in the old metric means nothing in the new.
        log_length_ = log_average_ = std::log(options_.length);
        square_ = learnt_ = 0;
      }
    }
    if (done_ + 1 == options_.warmup) step_.finish();
  }

  template <class Host>
  void keep(Host const& value, Host const& energy, Host const& likely, Host const& error, int steps,
            Chains& chains) const {
    std::int64_t const row = (done_ - options_.warmup) / options_.thin;
    for (std::int64_t c = 0; c < value.size(); ++c) {
      double* const to = &chains.statistics(c, row, 0);
      to[Chains::log_density] = value(c);
      to[Chains::energy] = energy(c);
      to[Chains::acceptance] += likely(c) / double(options_.thin);
      to[Chains::steps] += steps;
      to[Chains::diverged] += !(error(c) < most_energy_error);
    }
    if ((done_ - options_.warmup + 1) % options_.thin != 0) return;
    auto const host = to_host(theta_);
    std::int64_t const n = host.shape()[1];
    for (std::int64_t c = 0; c < value.size(); ++c)
      std::copy_n(host.data() + c * n, n, &chains.draws(c, row, 0));
  }

  static constexpr double least_likely = 1e-4;  // of a trajectory that the length is learnt from

  Exec exec_;
  T const& target_;
  random::Key key_;
  Options options_;
  Windows windows_;
  std::int64_t done_ = 0;
  Table theta_, slope_;
  Column value_, scale_, centre_, sum_, squares_;
  double count_ = 0;
  DualAveraging step_;
  double log_length_, log_average_, square_ = 0, learnt_ = 0;
};

template <ExecutionSpace Exec, class T>
Chains run_ensemble(Exec const& exec, StateHead head, T const& target, double const* starts,
                    Chains chains, Options const& options, OnProgress const& on_progress) {
  expects(options.mass != Mass::dense, "chees() has no dense mass: use unit or diagonal");
  Ensemble<Exec, T> all(exec, target, head, options);
  if (starts) {
    set_elements(all.theta().view(), starts);
  } else {
    StateReader reader(chains.state);
    head.visit(reader);
    all.visit(reader);
    reader.expects_end();
  }
  all.evaluate();
  make_room(chains, head, options.draws);
  head.done = in_rounds(chains, head, options, on_progress,
                        [&](std::int64_t end) { all.advance(end, chains); });
  finish(chains, head, options, [&](auto& writer) { all.visit(writer); });
  return chains;
}

}  // namespace detail

/// Draws by Hamiltonian Monte Carlo with all chains in step: each trajectory has the same number of
/// steps in all chains, so that one call of the target serves all chains. Warm-up learns the step
/// and the length from all chains together. Use tens of chains or more.
///
/// Bits don't depend on threads, nor on where the run was interrupted. They do depend on the other
/// chains, because the length is learnt from all of them. Options::a_chain_a_thread is ignored.
///
/// \param target  see BatchTarget
/// \param starts  an array of (chain, parameter)
/// \throws PreconditionError, NumericalError  as hmc() does, and for a dense mass
/// \see Hoffman, Radul & Sountsov, AISTATS 130, 3907 (2021)
template <ExecutionSpace Exec, BatchTarget<Exec> T, Expression Starts>
Chains chees(Exec const& exec, random::Key const& key, T const& target, Starts const& starts,
             Options const& options = {}, OnProgress const& on_progress = {}) {
  auto const host = to_host(starts);
  auto const head = detail::head_of(detail::Ensemble<Exec, T>::sampler, key, host.shape(), options);
  return detail::run_ensemble(exec, head, target, host.data(), Chains{}, options, on_progress);
}

/// Goes on with chains that chees() has returned or read_chains() has read, as hmc() does.
template <ExecutionSpace Exec, BatchTarget<Exec> T>
Chains chees(Exec const& exec, T const& target, Chains chains, Options const& options = {},
             OnProgress const& on_progress = {}) {
  auto const head = detail::head_of_state(detail::Ensemble<Exec, T>::sampler, chains, options);
  return detail::run_ensemble(exec, head, target, nullptr, std::move(chains), options, on_progress);
}

}  // namespace coir::inference
