#pragma once

/// Steps of a reversible Simulation, there and back, and derivatives through them.

#include "move_slopes.hpp"
#include "reversible_start.hpp"
#include "simulation_checks.hpp"
#include "while_kernels_run.hpp"

#include <coir/core/contiguous.hpp>
#include <coir/core/errors.hpp>
#include <coir/core/pool.hpp>
#include <coir/core/timing.hpp>
#include <coir/distributed/together.hpp>
#include <coir/nbody/simulation.hpp>

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <future>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace coir::nbody {

/// Rounds the given particles to the nearest multiples of the quanta.
template <CompiledSpace Exec, Real T>
void Simulation<Exec, T>::round_start() {
  reverser_.emplace(
      exec_, group_, particles_.box,
      detail::largest_momentum(exec_, group_, particles_, options_, growth_, steps_done()),
      options_.assignment);
  reverser_->round(particles_);
}

template <CompiledSpace Exec, Real T>
std::uint32_t const* Simulation<Exec, T>::site() const {
  return state_.is_sorted() ? particles_.site.data() : nullptr;
}

/// Prepares a call of advance() that makes these moves.
template <CompiledSpace Exec, Real T>
void Simulation<Exec, T>::begin_call(std::span<StepMoves const> moves) {
  reverser_->hold(particles_, history_.scale());
  history_.begin_call(steps_done());
  if (!options_.keep_potentials) return;
  std::int64_t kicks = moves.back().closing.has_kick() ? 1 : 0;
  for (auto const& of_step : moves) kicks += of_step.move.has_kick() ? 1 : 0;
  potentials_.begin(kicks);
}

template <CompiledSpace Exec, Real T>
void Simulation<Exec, T>::make_reversibly(Move const& move, bool closes) {
  auto made = reverser_->begin(move);
  made.closes = closes;
  made.step = closes ? steps_done() : steps_done() + 1;
  reverser_->drift(particles_, move.drift_before, made.scale, false);
  if (move.drift_before != 0) state_.has_force = false;
  if (move.has_kick())
    kick_reversibly(made);
  else
    reverser_->drift(particles_, move.drift_after, made.scale, false);
  if (move.drift_after != 0) state_.has_force = false;
  history_.add(made);
}

/// Runs an action on particles that are on the ranks of their sites. Over ranks they come home for
/// it, and leave again; their forces stay.
template <CompiledSpace Exec, Real T>
template <class Action>
void Simulation<Exec, T>::at_home(Action const& action) {
  bool const away = !state_.is_home();
  if (away) go_home();
  distributed::together(group_, action);
  if (away) to_planes();
}

/// Makes the kick and the second drift of a move.
template <CompiledSpace Exec, Real T>
void Simulation<Exec, T>::kick_reversibly(detail::MadeMove& made) {
  find_force();
  potentials_.push();
  if (made.stored >= 0) at_home([&] { reverser_->store(particles_, site(), made); });
  Stopwatch<Exec> const watch(exec_, options_.measure_phases);
  reverser_->kick_and_drift(mover_.force(), particles_, made);
  seconds_.readout += watch.seconds();
  expects_force(std::isfinite(made.largest_force), made.step);
  if (!std::isfinite(made.largest_momentum))
    throw NumericalError("a momentum is too large to be held in step " + std::to_string(made.step) +
                         " of a " + detail::too_large(options_));
}

/// Computes the force of the last kick, which was made at the present positions. If the history
/// kept its potential, the force is computed from it.
///
/// \pre particles are on the ranks of their planes
template <CompiledSpace Exec, Real T>
void Simulation<Exec, T>::find_force_of_last_kick() {
  auto const& kept = potentials_.pop();
  if (!Potentials::is_kept(kept)) return find_force_on_planes();
  if (state_.has_force) return;
  sort_if_due();
  mover_.find_force_again(kept, state_, seconds_);
}

/// Undoes the last move, as MoveHistory::take_last() says.
template <CompiledSpace Exec, Real T>
void Simulation<Exec, T>::undo_last(int target) {
  auto const undone = history_.take_last(target);
  auto const& made = undone.made;
  reverser_->drift(particles_, undone.drift_after, made.scale_after, true);
  if (undone.drift_after != 0) state_.has_force = false;
  if (made.move.has_kick())
    undo_kick(undone);
  else
    reverser_->drift(particles_, undone.drift_before, made.scale, true);
  if (undone.drift_before != 0) state_.has_force = false;
}

/// Undoes the kick of a move and the drift before it.
template <CompiledSpace Exec, Real T>
void Simulation<Exec, T>::undo_kick(detail::MoveToUndo const& undone) {
  if (state_.is_home() || !state_.has_force) to_planes();
  find_force_of_last_kick();
  Stopwatch<Exec> const watch(exec_, options_.measure_phases);
  auto const& made = undone.made;
  reverser_->undo_kick(mover_.force(), particles_, made, undone.drift_before);
  if (made.stored >= 0) {
    at_home([&] { reverser_->restore(particles_, site(), made); });
    reverser_->drift(particles_, undone.drift_before, made.scale, true);
  }
  seconds_.readout += watch.seconds();
}

template <CompiledSpace Exec, Real T>
void Simulation<Exec, T>::reverse(int steps) {
  distributed::together(group_, [&] {
    expects(
        reverser_.has_value(),
        "steps can be taken back in a reversible simulation: set SimulationOptions::reversible");
    int const made = history_.steps_to_undo(steps_done());
    expects(steps >= 0 && steps <= made,
            "the steps to take back must be from 0 to the " + std::to_string(made) +
                " that this simulation has made",
            steps);
    expects_between_steps();
  });
  distributed::expects_alike(group_, {{"number of steps to take back", steps}});
  if (steps == 0) return;
  is_between_steps_ = false;
  int const target = steps_done() - steps;
  reverser_->hold(particles_, history_.scale());
  for (int step = steps_done(); step > target; --step) {
    sorter_.begin_step(step - target, state_);
    while (history_.ends_with_step(step)) undo_last(target);
    steps_done_ = step - 1;
  }
  history_.forget_calls_from(target);
  // advance() may have gone beyond the end of this step.
  if (history_.lacks_closing())
    make(moves_between(history_.steps_before_last_call(), target).back().closing, true);
  rest();
}

template <CompiledSpace Exec, Real T>
void Simulation<Exec, T>::expects_to_pull_back(Cotangents<Exec, T> const& cotangents) const {
  expects(reverser_.has_value(),
          "derivatives go back through a reversible simulation: set SimulationOptions::reversible");
  expects(history_.has_calls(), "there is no call of advance() left to pull back through");
  // Not in braces: nvcc 13.0 would garble the loop.
  std::array<Vectors, 2> const both{cotangents.position, cotangents.momentum};
  for (auto const& vectors : both)
    expects(static_cast<std::int64_t>(vectors.extent(0)) == particles_.count(),
            "cotangents must be " + std::to_string(particles_.count()) + ", one for each particle",
            static_cast<std::int64_t>(vectors.extent(0)));
  detail::expects_own_memory(cotangents, particles_);
  expects_between_steps();
}

/// Undoes the last move as undo_last() does, and pulls the carried cotangents back through it.
///
/// \param slopes  the derivatives along the move's factors are added to these
template <CompiledSpace Exec, Real T>
void Simulation<Exec, T>::pull_back_last(int target, Adjoint& adjoint,
                                         detail::FactorSlopes& slopes) {
  auto const undone = history_.take_last(target);
  auto const& made = undone.made;
  reverser_->pull_back_drift(particles_, *carried_, undone.drift_after, made.scale_after);
  state_.has_force = false;  // or the adjoint overwrites the force
  if (!made.move.has_kick())
    return reverser_->pull_back_drift(particles_, *carried_, undone.drift_before, made.scale);

  to_planes();
  sort_if_due();
  double const cells_per_particle = static_cast<double>(size_of(mover_.force().shape())) /
                                    static_cast<double>(particles_.total());
  double const scale = made.move.kick * 1.5 * growth_.parameters().omega_m * cells_per_particle;
  auto const potential =
      adjoint.potential(particles_, carried_->momentum, reverser_->largest_momentum_slope(), scale,
                        mover_.scheme(state_), seconds_);
  find_force_of_last_kick();
  Stopwatch<Exec> const reading(exec_, options_.measure_phases);
  reverser_->pull_back_kick(mover_.force(), potential, particles_, made, undone.drift_before,
                            *carried_, slopes);
  if (made.stored >= 0) {
    at_home([&] { reverser_->restore(particles_, site(), made); });
    reverser_->pull_back_keep(particles_, *carried_, made, slopes);
    reverser_->pull_back_drift(particles_, *carried_, undone.drift_before, made.scale);
  }
  seconds_.readout += reading.seconds();
  if (undone.drift_before != 0) state_.has_force = false;
}

/// Pulls the carried cotangents back through the moves of the last call.
///
/// \param first  steps made before it
/// \return  the derivatives along the factors of each move
template <CompiledSpace Exec, Real T>
std::vector<detail::FactorSlopes> Simulation<Exec, T>::pull_back_moves(
    std::span<detail::MadeMove const> moves, int first, Adjoint& adjoint) {
  std::vector<detail::FactorSlopes> slopes(moves.size());
  for (std::size_t m = moves.size(); m-- > 0;) {
    if (m + 1 == moves.size() || moves[m].step != moves[m + 1].step)
      sorter_.begin_step(moves[m].step - first, state_);
    steps_done_ = moves[m].closes ? moves[m].step : moves[m].step - 1;
    pull_back_last(first, adjoint, slopes[m]);
    // The slope along the drift after a kick is also that along the drift before the next kick: the
    // momenta are the same.
    if (m + 1 < moves.size()) slopes[m + 1].drift_before = slopes[m].drift_after;
  }
  steps_done_ = first;
  if (moves[0].move.drift_before != 0)
    slopes[0].drift_before = reverser_->along_drift(particles_, *carried_, moves[0].scale);
  return slopes;
}

template <CompiledSpace Exec, Real T>
cosmology::Parameters<double> Simulation<Exec, T>::pull_back(
    Cotangents<Exec, T> const& cotangents) {
  Cotangents<Exec, T> carried = cotangents;
  auto const slopes = pull_back(carried);
  auto const take = [&](Vectors const& to, Vectors const& from) {
    if (to.data() != from.data()) copy_contiguous(exec_, to, from);
  };
  take(cotangents.position, carried.position);
  take(cotangents.momentum, carried.momentum);
  exec_.fence();
  return slopes;
}

template <CompiledSpace Exec, Real T>
cosmology::Parameters<double> Simulation<Exec, T>::pull_back(
    Cotangents<Exec, T>& cotangents,
    std::function<detail::VariedGrowth const&()> const& varied_growth) {
  distributed::together(group_, [&] { expects_to_pull_back(cotangents); });
  if (migration_) MemoryPool<typename Exec::memory_space>::release();  // memory of losses
  Adjoint adjoint(exec_, mover_.force(), adjoint_options_);
  reverser_->find_largest(particles_, cotangents);
  carried_ = std::exchange(cotangents, {});
  is_between_steps_ = false;
  reverser_->hold(particles_, history_.scale());

  int const first = history_.steps_before_last_call();
  auto const scale_factors = scale_factors_between(first, steps_done());
  std::future<detail::VariedGrowth> own;
  if (!varied_growth)
    own = detail::while_kernels_run<Exec>([&] { return detail::varied(growth_); });
  auto const moves = history_.moves_of_last_call();
  auto const slopes = pull_back_moves(moves, first, adjoint);
  history_.forget_calls_from(first);
  rest();
  cotangents = std::move(*carried_);
  carried_.reset();
  auto const varied_moves = [&](detail::VariedGrowth const& growth) {
    return moves_of(options_.stepper, growth, scale_factors);
  };
  return detail::slope_of_parameters(
      first, moves, slopes, varied_growth ? varied_moves(varied_growth()) : varied_moves(own.get()),
      growth_.parameters().omega_m);
}

}  // namespace coir::nbody
