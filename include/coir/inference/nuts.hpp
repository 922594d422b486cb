#pragma once

/// The no-U-turn sampler, which finds the length of each trajectory.

#include <coir/inference/detail/run.hpp>

#include <bit>
#include <cmath>
#include <cstdint>
#include <vector>

namespace coir::inference {

namespace detail {

/// log(exp(a) + exp(b))
inline double log_sum(double a, double b) {
  if (a < b) std::swap(a, b);
  return b == -infinity ? a : a + std::log1p(std::exp(b - a));
}

template <ExecutionSpace Exec>
class NutsMove {
 public:
  using Step = DualAveraging;
  static constexpr double sampler = 2;

  NutsMove(Exec const& exec, std::int64_t n, Options const& options)
      : exec_(exec),
        depth_(options.depth),
        left_(n),
        right_(n),
        candidate_(n),
        sum_(vector_of<Exec>(n)),
        tree_sum_(vector_of<Exec>(n)),
        between_(vector_of<Exec>(n)) {
    for (int k = 0; k < depth_; ++k) {
      kept_momenta_.push_back(vector_of<Exec>(n));
      kept_sums_.push_back(vector_of<Exec>(n));
    }
  }

  template <class T>
  double first_step(T const& target, Scale<Exec> const& scale, random::Key const& key,
                    Place<Exec> const& here) {
    return detail::first_step(exec_, target, scale, key, here, left_, between_);
  }

  template <class T>
  Transition draw(T const& target, random::Key const& key, double step, Scale<Exec> const& scale,
                  Place<Exec>& here) {
    auto const [for_momentum, for_choices] = random::split<2>(key);
    choices_ = for_choices;
    used_ = 0;
    fill_normal(exec_, for_momentum, left_.momentum);
    left_.place.take(exec_, here);
    right_.take(exec_, left_);
    copy(exec_, left_.momentum, sum_);
    start_energy_ = left_.energy(exec_);
    Transition told{here.log_density, start_energy_, 0, 0, false};
    double log_weight = 0;
    for (int depth = 0; depth < depth_; ++depth) {
      bool const forward = choose() < 0.5;
      if (!grow(target, scale, forward ? step : -step, depth, forward ? right_ : left_, told))
        break;
      if (choose() < std::exp(tree_log_weight_ - log_weight)) {
        std::swap(here, candidate_);
        told.log_density = here.log_density;
        told.energy = candidate_energy_;
      }
      log_weight = log_sum(log_weight, tree_log_weight_);
      combine(exec_, 1, tree_sum_, 1, sum_);
      if (turns(left_.momentum, right_.momentum, sum_)) break;
    }
    told.acceptance /= told.steps;
    return told;
  }

  template <class Archive>
  void visit(Archive&) {}

 private:
  double choose() { return uniform(choices_, used_++); }

  /// Grows a tree of 2^depth steps from one end of the trajectory, and picks a candidate of it.
  /// False if the tree turns back or diverges.
  ///
  /// The tree is walked leaf by leaf. An even leaf n is the first one of subtrees, and its momentum
  /// is kept at the place given by how many bits of n / 2 are 1. An odd leaf n is the last one of
  /// as many subtrees as there are ones at the end of n in binary. The first leaves of these
  /// subtrees are the ones that were kept last.
  template <class T>
  bool grow(T const& target, Scale<Exec> const& scale, double step, int depth, Phase<Exec>& end,
            Transition& told) {
    tree_log_weight_ = -infinity;
    for (std::uint32_t n = 0; n < std::uint32_t(1) << depth; ++n) {
      leapfrog(exec_, target, scale, step, end);
      double const energy = end.energy(exec_), error = energy - start_energy_;
      ++told.steps;
      told.acceptance += acceptance_of(error);
      if (!(error < most_energy_error)) {
        told.diverged = true;
        return false;
      }
      tree_log_weight_ = log_sum(tree_log_weight_, -error);
      if (n == 0 || choose() < std::exp(-error - tree_log_weight_)) {
        candidate_.take(exec_, end.place);
        candidate_energy_ = energy;
      }
      combine(exec_, 1, end.momentum, n == 0 ? 0 : 1, tree_sum_);
      int const last = std::popcount(n >> 1);
      if (n % 2 == 0) {
        if (last < depth_) {
          copy(exec_, end.momentum, kept_momenta_[static_cast<std::size_t>(last)]);
          copy(exec_, tree_sum_, kept_sums_[static_cast<std::size_t>(last)]);
        }
        continue;
      }
      for (int k = last; k > last - std::countr_one(n); --k) {
        auto const& first = kept_momenta_[static_cast<std::size_t>(k)];
        copy(exec_, tree_sum_, between_);
        combine(exec_, -1, kept_sums_[static_cast<std::size_t>(k)], 1, between_);
        combine(exec_, 1, first, 1, between_);
        if (turns(first, end.momentum, between_)) return false;
      }
    }
    return true;
  }

  /// Whether one end moves against the sum of momenta. Both ends count half in the sum, which then
  /// is the distance between the ends by the trapezoidal rule.
  bool turns(Vector<Exec> const& first, Vector<Exec> const& last, Vector<Exec> const& sum) const {
    double const across = dot(exec_, first, last);
    return dot(exec_, first, sum) - 0.5 * (dot(exec_, first, first) + across) <= 0 ||
           dot(exec_, last, sum) - 0.5 * (dot(exec_, last, last) + across) <= 0;
  }

  Exec exec_;
  int depth_;
  random::Key choices_;
  std::uint64_t used_ = 0;
  Phase<Exec> left_, right_;
  Place<Exec> candidate_;
  Vector<Exec> sum_, tree_sum_, between_;  // sums of momenta
  std::vector<Vector<Exec>> kept_momenta_, kept_sums_;
  double start_energy_ = 0, tree_log_weight_ = 0, candidate_energy_ = 0;
};

}  // namespace detail

/// Draws by the no-U-turn sampler. Trajectories grow by doubling, forwards or backwards, until they
/// turn back or have 2^options.depth - 1 steps. The draw is one of the trajectory's points, picked
/// with the weights of their densities. Keys, parameters and errors are those of hmc().
///
/// \see Hoffman & Gelman, J. Mach. Learn. Res. 15, 1593 (2014); Betancourt, arXiv:1701.02434,
///   appendix A, for the weights; Phan, Pradhan & Jankowiak, arXiv:1912.11554, for the iterative
///   form
template <ExecutionSpace Exec, Target<Exec> T, Expression Starts>
Chains nuts(Exec const& exec, random::Key const& key, T const& target, Starts const& starts,
            Options const& options = {}, OnProgress const& on_progress = {}) {
  return detail::begin<Exec, detail::NutsMove<Exec>>(exec, key, target, starts, options,
                                                     on_progress);
}

/// Goes on with chains that nuts() has returned or read_chains() has read, as hmc() does.
template <ExecutionSpace Exec, Target<Exec> T>
Chains nuts(Exec const& exec, T const& target, Chains chains, Options const& options = {},
            OnProgress const& on_progress = {}) {
  return detail::go_on<Exec, detail::NutsMove<Exec>>(exec, target, std::move(chains), options,
                                                     on_progress);
}

}  // namespace coir::inference
