#pragma once

/// \file
/// Steps of a reversible Simulation, there and back, and derivatives through them: a part of simulation_impl.hpp.

#include "simulation_impl.hpp"
#include "while_kernels_run.hpp"

#include <coir/autodiff/dual.hpp>
#include <coir/core/borrowed.hpp>
#include <coir/core/errors.hpp>
#include <coir/core/loops.hpp>
#include <coir/core/math.hpp>
#include <coir/core/memory.hpp>
#include <coir/core/overlap.hpp>
#include <coir/cosmology/parameter_derivatives.hpp>
#include <coir/fft/in_place.hpp>
#include <coir/mesh/paint.hpp>
#include <coir/mesh/paint_whole_numbers.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

namespace coir::nbody {

namespace detail {

template <class T>
struct SumOfSquares {
  T const* number;
  KOKKOS_FUNCTION void operator()(std::int64_t at, double& sum) const {
    sum += static_cast<double>(number[at]) * static_cast<double>(number[at]);
  }
};

template <class T>
struct CountBeyond {
  T const* number;
  double limit;
  KOKKOS_FUNCTION void operator()(std::int64_t at, std::int64_t& beyond) const {
    beyond += math::abs(static_cast<double>(number[at])) > limit ? 1 : 0;
  }
};

/// \throws PreconditionError if cotangents share memory with each other, or with the particles
template <class Exec, class T>
void expects_own_memory(Cotangents<Exec, T> const& cotangents,
                        Particles<Exec, T> const& particles) {
  auto const range = [&](auto const& vectors) {
    return byte_range<1>(vectors.data(), {3 * particles.count()}, {1}, sizeof(T));
  };
  auto const xi = range(cotangents.position), pi = range(cotangents.momentum),
             x = range(particles.position), p = range(particles.momentum);
  expects(!xi.overlaps(pi),
          "the cotangents of positions and those of momenta must have memory of their own");
  for (auto const& of_particles : {x, p})
    expects(!xi.overlaps(of_particles) && !pi.overlaps(of_particles),
            "cotangents must have other memory than the particles");
}

using Varied = Dual<double, cosmology::varied_parameters>;

/// The moves of steps between scale factors, with the derivatives of their factors with respect to the parameters.
inline std::vector<StepMovesOf<Varied>> varied_moves(Stepper stepper,
                                                     cosmology::Growth<double> const& growth,
                                                     std::span<double const> scale_factors) {
  cosmology::Growth<Varied> const varied(cosmology::variables<Varied>(growth.parameters()),
                                         growth.a_min(), growth.a_max());
  return moves_of(stepper, varied, scale_factors);
}

/// dJ / d parameter by way of the moves of some steps.
///
/// \param first     steps made before these
/// \param of_steps  what they are made of, with derivatives
inline cosmology::Parameters<double> parameter_slopes(int first, std::span<MadeMove const> moves,
                                                      std::span<FactorSlopes const> slopes,
                                                      std::span<StepMovesOf<Varied> const> of_steps,
                                                      double omega_m) {
  Varied sum(0);
  double by_force = 0;
  for (std::size_t m = 0; m < moves.size(); ++m) {
    auto const& of_step = of_steps[static_cast<std::size_t>(moves[m].step - first - 1)];
    auto const& factors = moves[m].closes ? of_step.closing : of_step.move;
    sum += slopes[m].drift_before * factors.drift_before + slopes[m].keep * factors.keep +
           slopes[m].kick * factors.kick + slopes[m].drift_after * factors.drift_after;
    by_force += slopes[m].kick * moves[m].move.kick;
  }
  auto result = cosmology::derivatives(sum);
  result.omega_m += by_force / omega_m;  // forces are in proportion to it
  return result;
}

/// The largest ratio of what is held of the momenta of linear theory, which is these over the scale, to the momenta at the start.
inline double growth_of_held_momenta(SimulationOptions const& options,
                                     cosmology::Growth<double> const& growth, int first) {
  auto const a = std::span(options.scale_factors).subspan(static_cast<std::size_t>(first));
  auto const momentum = [&](double at) {
    // Quinn's factors need no growth functions; where matter dominates momenta grow as a^1.5.
    return at >= growth.a_min() && at <= growth.a_max() ? growth.momentum(at) : std::pow(at, 1.5);
  };
  double scale = 1, largest_scale = 1, most = 1;
  auto const moves = moves_of(options.stepper, growth, a);
  for (std::size_t s = 0; s < moves.size(); ++s) {
    scale *= moves[s].move.keep;
    if (std::abs(scale) < least_scale * largest_scale) scale = largest_scale = 1;
    largest_scale = std::max(largest_scale, std::abs(scale));
    most = std::max(most, std::abs(momentum(a[s + 1]) / momentum(a[0]) / scale));
  }
  return most;
}

}  // namespace detail

template <CompiledSpace Exec, Real T>
double Simulation<Exec, T>::largest_momentum() const {
  double const numbers = 3 * static_cast<double>(particles_.count());
  double squares = 0;
  reduce("coir::nbody::simulation/rms", exec_, coir::box<1, std::int64_t>({3 * particles_.count()}),
         detail::SumOfSquares<T>{particles_.momentum.data()}, Kokkos::Sum<double>(squares));
  if (!std::isfinite(squares))
    throw NumericalError("a momentum of the particles that are given is infinite or no number");
  // So that particles at rest have a quantum, too: that of momenta, sqrt(a) s in linear theory, which displace them by s, a thousandth
  // of their distance, until today.
  double const least =
      1e-3 * particles_.box / static_cast<double>(particles_.side) * std::sqrt(a());
  double const growth = detail::growth_of_held_momenta(options_, growth_, done_);
  expects(
      options_.momentum_range * growth / static_cast<double>(detail::most_quanta<T>) <= 1.0 / 16,
      "momenta that grow by a factor of " + in_words(growth) +
          " are too small at the start to be held as whole numbers of one quantum: start later "
          "than at a = " +
          in_words(a()) + ", use double, or set a lower SimulationOptions::momentum_range",
      options_.momentum_range);
  return options_.momentum_range * std::max(std::sqrt(squares / numbers), least) * growth;
}

/// Brings the particles that are given to the nearest multiples of the quanta.
template <CompiledSpace Exec, Real T>
void Simulation<Exec, T>::round_start() {
  reverser_.emplace(exec_, particles_.box, largest_momentum(), options_.assignment);
  std::int64_t beyond = 0;
  reduce("coir::nbody::simulation/beyond", exec_,
         coir::box<1, std::int64_t>({3 * particles_.count()}),
         detail::CountBeyond<T>{particles_.momentum.data(), reverser_->largest_held()},
         Kokkos::Sum<std::int64_t>(beyond));
  if (beyond > 0)
    throw NumericalError(
        "a momentum of the particles that are given is too large to be held in a " + too_large());
  reverser_->round(particles_);
}

template <CompiledSpace Exec, Real T>
std::string Simulation<Exec, T>::too_large() const {
  return "reversible simulation: raise SimulationOptions::momentum_range above " +
         in_words(options_.momentum_range);
}

template <CompiledSpace Exec, Real T>
std::uint32_t const* Simulation<Exec, T>::site() const {
  return sorter_.is_sorted() ? sorter_.site().data() : nullptr;
}

template <CompiledSpace Exec, Real T>
void Simulation<Exec, T>::make_reversibly(Move const& move, bool closes) {
  auto made = reverser_->begin(move);
  made.closes = closes;
  made.step = closes ? done_ : done_ + 1;
  reverser_->drift(particles_, move.drift_before, made.scale, false);
  if (move.drift_before != 0) mover_.positions_have_changed();
  Kept kept;
  if (move.has_kick()) {
    find_force();
    kept = potential_;
    --kicks_to_come_;
    Stopwatch<Exec> const watch(exec_);
    reverser_->kick_and_drift(mover_.force(), particles_, site(), made);
    seconds_.readout += watch.seconds();
    expects_force(std::isfinite(made.largest_force), made.step);
    if (!std::isfinite(made.largest_momentum))
      throw NumericalError("a momentum is too large to be held in step " +
                           std::to_string(made.step) + " of a " + too_large());
  } else {
    reverser_->drift(particles_, move.drift_after, made.scale, false);
  }
  if (move.drift_after != 0) mover_.positions_have_changed();
  made_.push_back(made);
  kept_.push_back(kept);
}

/// Memory for one more potential, if potentials are kept and there is enough; or an empty View. It is allocated for several at a
/// time, which devices take as long for as for one.
template <CompiledSpace Exec, Real T>
auto Simulation<Exec, T>::room_for_potential() -> Kept {
  if (!keeps_potentials_) return {};
  constexpr std::int64_t at_a_time = 16;
  if (used_room_ == static_cast<std::int64_t>(room_.extent(0))) {
    auto const& shape = mover_.force().shape();
    std::int64_t const row = shape[2] / 2 + 1;
    std::int64_t const bytes = shape[0] * shape[1] * 2 * row * static_cast<std::int64_t>(sizeof(T));
    std::int64_t held = 0;
    Kept before;  // kicks that follow each other in one force have one potential
    for (auto const& kept : kept_) {
      if (kept.data() != nullptr && kept.data() != before.data()) held += bytes;
      before = kept;
    }
    // Half of what is free stays so.
    std::int64_t const fit =
        ((held + free_bytes<typename Exec::memory_space>()) / 2 - held) / bytes;
    std::int64_t const count = std::min({at_a_time, fit, kicks_to_come_});
    if (count <= 0) return {};
    room_ = KeptTogether(
        Kokkos::view_alloc(Kokkos::WithoutInitializing, "coir::nbody::reverse/potentials"),
        static_cast<std::size_t>(count), static_cast<std::size_t>(shape[0]),
        static_cast<std::size_t>(shape[1]), static_cast<std::size_t>(row));
    used_room_ = 0;
  }
  return Kokkos::subview(room_, used_room_++, Kokkos::ALL, Kokkos::ALL, Kokkos::ALL);
}

/// The force of the present positions, from the potential that was kept when particles were here, if it was.
template <CompiledSpace Exec, Real T>
void Simulation<Exec, T>::find_force_of(Kept const& kept, std::span<Vectors const> further) {
  if (mover_.has_force()) return;
  if (kept.data() == nullptr) return find_force(further);
  sort(further);
  potential_ = kept;
  mover_.find_force_again(kept, seconds_);
}

/// Undoes made_.back(), and with its kick the drift of the move before, whose momenta it has at hand.
///
/// \param stops  no move is undone after this one, so that the drift before stays
template <CompiledSpace Exec, Real T>
void Simulation<Exec, T>::undo_last(bool stops) {
  auto const made = made_.back();
  Kept const kept = kept_.back();
  made_.pop_back();
  kept_.pop_back();
  Move const& move = made.move;
  if (!drift_is_undone_ && move.drift_after != 0) {
    reverser_->drift(particles_, move.drift_after, made.scale_after, true);
    mover_.positions_have_changed();
  }
  drift_is_undone_ = false;
  if (move.has_kick()) {
    find_force_of(kept, {});
    double drift = move.drift_before;
    if (drift == 0 && !stops && !made_.empty()) {
      drift = made_.back().move.drift_after;
      drift_is_undone_ = drift != 0;
    }
    Stopwatch<Exec> const watch(exec_);
    reverser_->undo_kick(mover_.force(), particles_, site(), made, drift);
    seconds_.readout += watch.seconds();
    if (drift != 0) mover_.positions_have_changed();
  } else if (move.drift_before != 0) {
    reverser_->drift(particles_, move.drift_before, made.scale, true);
    mover_.positions_have_changed();
  }
}

template <CompiledSpace Exec, Real T>
void Simulation<Exec, T>::reverse(int steps) {
  expects(reverser_.has_value(),
          "steps can be taken back in a reversible simulation: set SimulationOptions::reversible");
  int const made = calls_.empty() ? 0 : done_ - calls_.front().first;
  expects(steps >= 0 && steps <= made,
          "the steps to take back must be from 0 to the " + std::to_string(made) +
              " that this simulation has made",
          steps);
  expects_whole();
  if (steps == 0) return;
  is_whole_ = false;
  int const target = done_ - steps;
  reverser_->hold(particles_, held_scale());
  keeps_potentials_ = false;
  while (done_ > target) {
    sorter_.begin_step(done_ - target);
    while (!made_.empty() && made_.back().step == done_) {
      bool const first_of_step =
          made_.size() == 1 || made_[made_.size() - 2].step != made_.back().step;
      undo_last(first_of_step && done_ - 1 == target);
    }
    --done_;
  }
  while (!calls_.empty() && calls_.back().first >= target) calls_.pop_back();
  if (!made_.empty() && !made_.back().closes) {  // advance() went past the end of this step
    auto const first = static_cast<std::size_t>(calls_.back().first);
    auto const moves = moves_of(options_.stepper, growth_,
                                std::span(options_.scale_factors)
                                    .subspan(first, static_cast<std::size_t>(target) - first + 1));
    make(moves.back().closing, true);
  }
  rest();
  is_whole_ = true;
}

/// The adjoint's potential psi, which ForceAndSlopes reads: paints the cotangents of momenta, which times the kick are those of forces
/// at particles, as a mesh of vectors (the adjoint of readout), and pulls these back through the force.
///
/// \param scale  that of the force times the kick
/// \param mesh   memory to work in, where psi is
template <CompiledSpace Exec, Real T>
auto Simulation<Exec, T>::pull_back_force(double scale, Spectrum const& mesh,
                                          Cotangents<Exec, T> const& cotangents) -> Density {
  auto& force = mover_.force();
  Stopwatch<Exec> const painting(exec_);
  // On hosts the option is for masses: private meshes of vectors would take three times its memory.
  auto const scheme =
      runs_on_host<Exec> ? mesh::PaintScheme::automatic : mover_.scheme(sorter_.is_sorted());
  mesh::paint(exec_, particles_.position, cotangents.momentum, particles_.box, force.force(),
              {.assignment = options_.assignment, .scheme = scheme});
  seconds_.paint += painting.seconds();
  Stopwatch<Exec> const solving(exec_);
  auto const potential = force.pull_back(scale, mesh);
  seconds_.fft += solving.seconds();
  return potential;
}

/// The same, painted component by component in whole numbers, whose sums don't depend on the order of particles.
template <CompiledSpace Exec, Real T>
auto Simulation<Exec, T>::pull_back_force_in_whole_numbers(double scale, Spectrum const& mesh,
                                                           Cotangents<Exec, T> const& cotangents)
    -> Density {
  auto& force = mover_.force();
  auto const& shape = force.shape();
  // The largest cotangent becomes 2^39 to 2^40, so that a cell can add up 2^22 of them. Cotangents below 2^-980 become less, for
  // 2^1020 and its inverse are finite.
  int exponent;
  std::frexp(reverser_->largest_momentum_slope(), &exponent);
  double const per_slope = std::ldexp(1.0, 40 - std::max(exponent, -980));
  // The three numbers of a cell have room for one whole number.
  Borrowed<std::int64_t, T> const numbers(force.force().data(), size_of(shape));
  mesh::Cells<std::int64_t> const cells{
      numbers.data(), {shape[0], shape[1], shape[2]}, shape[1] * shape[2], shape[2]};
  for (int d = 0; d < 3; ++d) {
    Stopwatch<Exec> const painting(exec_);
    mesh::paint_whole_numbers<Exec, T>(exec_, particles_.position.data(), particles_.count(),
                                       particles_.box, cotangents.momentum.data() + d, per_slope,
                                       cells, options_.assignment);
    seconds_.paint += painting.seconds();
    Stopwatch<Exec> const solving(exec_);
    force.add_to_pull_back(d, cells.data, 1 / per_slope, mesh);
    seconds_.fft += solving.seconds();
  }
  Stopwatch<Exec> const solving(exec_);
  auto const potential = force.pull_back_sum(scale, mesh);
  seconds_.fft += solving.seconds();
  return potential;
}

/// Undoes made_.back() as undo_last() does, and pulls cotangents back through it.
///
/// \param mesh    memory to work in, of the shape of the force's spectrum
/// \param slopes  out: of the move's factors
template <CompiledSpace Exec, Real T>
void Simulation<Exec, T>::pull_back_last(bool stops, Spectrum const& mesh,
                                         Cotangents<Exec, T> const& cotangents,
                                         detail::FactorSlopes& slopes) {
  auto const made = made_.back();
  Kept const kept = kept_.back();
  made_.pop_back();
  kept_.pop_back();
  Move const& move = made.move;
  auto& force = mover_.force();
  if (!drift_is_undone_)
    reverser_->pull_back_drift(particles_, cotangents, move.drift_after, made.scale_after);
  drift_is_undone_ = false;
  mover_.positions_have_changed();
  if (!move.has_kick())
    return reverser_->pull_back_drift(particles_, cotangents, move.drift_before, made.scale);

  std::array<Vectors, 2> const further{cotangents.position, cotangents.momentum};
  sort(further);
  double const cells_per_particle =
      static_cast<double>(size_of(force.shape())) / static_cast<double>(particles_.total());
  double const scale = move.kick * 1.5 * growth_.parameters().omega_m * cells_per_particle;
  auto const potential = has_deterministic_slopes_
                             ? pull_back_force_in_whole_numbers(scale, mesh, cotangents)
                             : pull_back_force(scale, mesh, cotangents);
  find_force_of(kept, further);

  double drift = move.drift_before;
  if (drift == 0 && !stops) {
    drift = made_.back().move.drift_after;
    drift_is_undone_ = drift != 0;
  }
  Stopwatch<Exec> const reading(exec_);
  reverser_->pull_back_kick(force, potential, particles_, site(), made, drift, cotangents, slopes);
  seconds_.readout += reading.seconds();
  if (drift != 0) mover_.positions_have_changed();
}

template <CompiledSpace Exec, Real T>
cosmology::Parameters<double> Simulation<Exec, T>::pull_back(
    Cotangents<Exec, T> const& cotangents) {
  expects(reverser_.has_value(),
          "derivatives go back through a reversible simulation: set SimulationOptions::reversible");
  expects(!calls_.empty(), "there is no call of advance() left to pull back through");
  // Not in braces: nvcc 13.0 would garble the loop.
  std::array<Vectors, 2> const both{cotangents.position, cotangents.momentum};
  for (auto const& vectors : both)
    expects(static_cast<std::int64_t>(vectors.extent(0)) == particles_.count(),
            "cotangents must be " + std::to_string(particles_.count()) + ", one for each particle",
            static_cast<std::int64_t>(vectors.extent(0)));
  detail::expects_own_memory(cotangents, particles_);
  expects_whole();
  Call const call = calls_.back();
  auto const& shape = mover_.force().shape();
  expects_memory<typename Exec::memory_space>(
      pull_back_bytes(particles_.side, options_) -
          6 * particles_.count() * static_cast<std::int64_t>(sizeof(T)),
      "the mesh of a simulation's adjoint");
  auto const mesh = fft::allocate_in_place<T, typename Exec::memory_space>(
      "coir::nbody::pull_back/potential", shape);
  reverser_->find_largest(cotangents, particles_.count());
  is_whole_ = false;
  keeps_potentials_ = false;
  reverser_->hold(particles_, held_scale());

  std::vector<detail::MadeMove> const moves(made_.begin() + static_cast<std::ptrdiff_t>(call.begin),
                                            made_.end());
  std::vector<detail::FactorSlopes> slopes(moves.size());
  int const steps = done_ - call.first;
  auto of_steps = detail::while_kernels_run<Exec>([&] {
    return detail::varied_moves(
        options_.stepper, growth_,
        std::span(options_.scale_factors)
            .subspan(static_cast<std::size_t>(call.first), static_cast<std::size_t>(steps) + 1));
  });
  for (std::size_t m = moves.size(); m-- > 0;) {
    if (m + 1 == moves.size() || moves[m].step != moves[m + 1].step)
      sorter_.begin_step(moves[m].step - call.first);
    done_ = moves[m].closes ? moves[m].step : moves[m].step - 1;
    pull_back_last(m == 0, mesh, cotangents, slopes[m]);
    // What was found for the drift after a kick is that of the drift before the next one, too: the momenta are the same.
    if (m + 1 < moves.size()) slopes[m + 1].drift_before = slopes[m].drift_after;
  }
  done_ = call.first;
  if (moves[0].move.drift_before != 0)
    slopes[0].drift_before = reverser_->along_drift(particles_, cotangents, moves[0].scale);
  calls_.pop_back();
  rest(both);
  is_whole_ = true;
  return detail::parameter_slopes(call.first, moves, slopes, of_steps.get(),
                                  growth_.parameters().omega_m);
}

template <CompiledSpace Exec, Real T>
std::int64_t Simulation<Exec, T>::pull_back_bytes(std::int64_t side,
                                                  SimulationOptions const& options) {
  std::int64_t const n = mesh_side(side, options);
  return (n * n * 2 * (n / 2 + 1) + 6 * side * side * side) * static_cast<std::int64_t>(sizeof(T));
}

}  // namespace coir::nbody
