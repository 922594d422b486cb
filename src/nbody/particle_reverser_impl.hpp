#pragma once

#include "read_and_find.hpp"
#include "reversible_moves.hpp"

#include <coir/core/borrowed.hpp>
#include <coir/core/errors.hpp>
#include <coir/core/loops.hpp>
#include <coir/core/memory.hpp>
#include <coir/core/reducer.hpp>
#include <coir/mesh/cells.hpp>
#include <coir/mesh/interpolation_slopes.hpp>
#include <coir/mesh/mesh_values.hpp>
#include <coir/nbody/detail/particle_reverser.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>

namespace coir::nbody::detail {

template <class T>
Quanta<T> quanta_of(double box, double largest_momentum) {
  int exponent;
  std::frexp(static_cast<double>(static_cast<T>(box)), &exponent);
  // 2^(exponent - 1) <= box < 2^exponent
  return {static_cast<T>(std::ldexp(1.0, exponent - std::numeric_limits<T>::digits)),
          largest_momentum / static_cast<double>(most_quanta<T>), static_cast<T>(box)};
}

template <CompiledSpace Exec, Real T>
ParticleReverser<Exec, T>::ParticleReverser(Exec const& exec, distributed::Group const& group,
                                            double box, double largest_momentum,
                                            mesh::Assignment assignment)
    : exec_(exec),
      group_(group),
      assignment_(assignment),
      quanta_(quanta_of<T>(box, largest_momentum)) {}

/// All coordinates of the particles.
template <class Exec, class T>
Box<1, std::int64_t> coordinates_of(Particles<Exec, T> const& particles) {
  return coir::box<1, std::int64_t>({3 * particles.count()});
}

template <CompiledSpace Exec, Real T>
void ParticleReverser<Exec, T>::round(Particles<Exec, T> const& particles) {
  for_each("coir::nbody::particle_reverser/round", exec_, coordinates_of(particles),
           RoundPosition<T>{particles.position.data(), InQuanta<T>(quanta_)});
  hold(particles, 1);
  for_each("coir::nbody::particle_reverser/release", exec_, coordinates_of(particles),
           ReleaseMomentum<T>{particles.momentum.data(), nullptr, quanta_.momentum});
  holds_ = false;
}

template <CompiledSpace Exec, Real T>
void ParticleReverser<Exec, T>::hold(Particles<Exec, T> const& particles, double scale) {
  if (holds_) return;
  for_each("coir::nbody::particle_reverser/hold", exec_, coordinates_of(particles),
           HoldMomentum<T>{particles.momentum.data(), remainder_, scale * quanta_.momentum});
  if (own_remainder_.extent(0) > 0) exec_.fence();
  remainder_ = nullptr;
  own_remainder_ = {};
  scale_ = scale;
  holds_ = true;
}

template <CompiledSpace Exec, Real T>
void ParticleReverser<Exec, T>::release(Particles<Exec, T> const& particles, std::uint32_t* lent) {
  if (!holds_) return;
  if constexpr (sizeof(T) == 4) {
    auto const count = static_cast<std::size_t>(3 * particles.count());
    if (lent == nullptr && own_remainder_.extent(0) < count)
      own_remainder_ = decltype(own_remainder_)("coir::nbody::particle_reverser/remainder", count);
    remainder_ = lent == nullptr
                     ? own_remainder_.data()
                     : begin_lifetimes<std::int8_t>(lent, static_cast<std::int64_t>(count));
  }
  for_each("coir::nbody::particle_reverser/release", exec_, coordinates_of(particles),
           ReleaseMomentum<T>{particles.momentum.data(), remainder_, scale_ * quanta_.momentum});
  holds_ = false;
}

template <CompiledSpace Exec, Real T>
MadeMove ParticleReverser<Exec, T>::begin(Move const& move) const {
  MadeMove made{.move = move, .scale = scale_, .scale_after = scale_ * move.keep};
  made.largest_scale = largest_scale_;
  if (!move.has_kick()) return made;
  if (std::abs(made.scale_after) < least_scale * largest_scale_) {
    made.stored = static_cast<int>(stored_.size());
    made.scale_after = 1;
  }
  return made;
}

template <CompiledSpace Exec, Real T>
T ParticleReverser<Exec, T>::quanta_of_drift(double factor, double scale) const {
  return static_cast<T>(factor * scale * quanta_.momentum / static_cast<double>(quanta_.position));
}

template <CompiledSpace Exec, Real T>
T ParticleReverser<Exec, T>::quanta_of_kick(MadeMove const& made) const {
  return static_cast<T>(made.move.kick / made.scale_after / quanta_.momentum);
}

template <CompiledSpace Exec, Real T>
void ParticleReverser<Exec, T>::drift(Particles<Exec, T> const& particles, double factor,
                                      double scale, bool back) const {
  if (factor == 0) return;
  for_each("coir::nbody::particle_reverser/drift", exec_, coordinates_of(particles),
           DriftInQuanta<T>{particles.position.data(), particles.momentum.data(),
                            InQuanta<T>(quanta_), quanta_of_drift(factor, scale), back});
}

template <CompiledSpace Exec, Real T>
void ParticleReverser<Exec, T>::store(Particles<Exec, T> const& particles,
                                      std::uint32_t const* site, MadeMove const& made) {
  std::int64_t const count = particles.count();
  expects_memory<typename Exec::memory_space>(3 * count * static_cast<std::int64_t>(sizeof(T)),
                                              "the momenta that a reversible step can't keep "
                                              "otherwise, being so long that it forgets them: "
                                              "shorter steps in the growth factor need none");
  stored_.push_back(Vectors(
      Kokkos::view_alloc(Kokkos::WithoutInitializing, "coir::nbody::particle_reverser/stored"),
      static_cast<std::size_t>(count)));
  for_each("coir::nbody::particle_reverser/store", exec_, coir::box<1, std::int64_t>({count}),
           StoreMomentum<T>{particles.momentum.data(), stored_.back().data(), site});
  // They aren't divided by a scale any more, and begin as what the move keeps of them.
  for_each("coir::nbody::particle_reverser/keep", exec_, coordinates_of(particles),
           ScaleHeld<T>{particles.momentum.data(), made.scale * made.move.keep});
  scale_ = largest_scale_ = 1;
}

template <CompiledSpace Exec, Real T>
void ParticleReverser<Exec, T>::restore(Particles<Exec, T> const& particles,
                                        std::uint32_t const* site, MadeMove const& made) {
  for_each("coir::nbody::particle_reverser/restore", exec_,
           coir::box<1, std::int64_t>({particles.count()}),
           RestoreMomentum<T>{particles.momentum.data(),
                              stored_[static_cast<std::size_t>(made.stored)].data(), site});
  exec_.fence();
  stored_.resize(static_cast<std::size_t>(made.stored));
}

template <CompiledSpace Exec, Real T>
void ParticleReverser<Exec, T>::kick_and_drift(Force const& force,
                                               Particles<Exec, T> const& particles,
                                               MadeMove& made) {
  scale_ = made.scale_after;
  largest_scale_ = std::max(largest_scale_, std::abs(scale_));
  KickAndDriftInQuanta<T> const body{particles.position.data(), particles.momentum.data(),
                                     InQuanta<T>(quanta_), quanta_of_kick(made),
                                     quanta_of_drift(made.move.drift_after, scale_)};
  Found<T> found;
  mesh::with_support(assignment_, [&]<int support>(std::integral_constant<int, support>) {
    found =
        read_and_find("coir::nbody::particle_reverser/move", exec_, particles,
                      mesh::MeshValues<support, 3, T>(force.force_window(), particles.box), body);
  });
  found = of_all_ranks(group_, found);
  made.check_sum = found.check_sum;
  made.largest_force = static_cast<double>(from_bits<T>(found.largest[0]));
  made.largest_momentum = found.largest[1] < static_cast<BitsOf<T>>(most_quanta<T>)
                              ? static_cast<double>(found.largest[1])
                              : std::numeric_limits<double>::infinity();
}

/// \throws NumericalError if particles aren't where they were before the kick
template <class T>
void expects_way_back(Found<T> const& found, MadeMove const& made) {
  if (found.check_sum == made.check_sum) return;
  throw NumericalError("the way back is not the way there in step " + std::to_string(made.step) +
                       ": particles, or the forces on them, are not those from which it was made; "
                       "nothing else may change particles in between");
}

template <CompiledSpace Exec, Real T>
void ParticleReverser<Exec, T>::undo_kick(Force const& force, Particles<Exec, T> const& particles,
                                          MadeMove const& made, double drift_back) {
  bool const restores = made.stored >= 0;
  UndoKickAndDrift<T> const body{particles.position.data(), particles.momentum.data(),
                                 InQuanta<T>(quanta_), quanta_of_kick(made),
                                 restores ? T(0) : quanta_of_drift(drift_back, made.scale)};
  Found<T> found;
  mesh::with_support(assignment_, [&]<int support>(std::integral_constant<int, support>) {
    found =
        read_and_find("coir::nbody::particle_reverser/undo", exec_, particles,
                      mesh::MeshValues<support, 3, T>(force.force_window(), particles.box), body);
  });
  expects_way_back(of_all_ranks(group_, found), made);
  scale_ = made.scale;
  largest_scale_ = made.largest_scale;
}

template <CompiledSpace Exec, Real T>
void ParticleReverser<Exec, T>::find_largest(Particles<Exec, T> const& particles,
                                             Cotangents<Exec, T> const& cotangents) {
  Found<T> found;
  reduce("coir::nbody::particle_reverser/cotangents", exec_, coordinates_of(particles),
         FindLargest<T>{cotangents.position.data(), cotangents.momentum.data()},
         MonoidReducer<FoundMonoid<T>>({}, found));
  found = of_all_ranks(group_, found);
  largest_position_slope_ = static_cast<double>(from_bits<T>(found.largest[0]));
  largest_momentum_slope_ = static_cast<double>(from_bits<T>(found.largest[1]));
  if (!std::isfinite(largest_position_slope_) || !std::isfinite(largest_momentum_slope_))
    throw NumericalError(
        "a derivative of the loss by a position or momentum isn't a number: look for NaN, or for "
        "what overflows, in the loss");
}

template <CompiledSpace Exec, Real T>
void ParticleReverser<Exec, T>::pull_back_kick(Force const& force,
                                               mesh::CellsWindow<T const> const& potential,
                                               Particles<Exec, T> const& particles,
                                               MadeMove const& made, double drift_back,
                                               Cotangents<Exec, T> const& cotangents,
                                               FactorSlopes& slopes) {
  bool const restores = made.stored >= 0;
  Move const& move = made.move;
  double const count = 3 * static_cast<double>(particles.total());
  double const largest_before =
      made.largest_momentum +
      made.largest_force * std::abs(move.kick / made.scale_after) / quanta_.momentum + 1;
  PullBackKickAndDrift<T> const body{
      .undo = {particles.position.data(), particles.momentum.data(), InQuanta<T>(quanta_),
               quanta_of_kick(made), restores ? T(0) : quanta_of_drift(drift_back, made.scale)},
      .position_slope = cotangents.position.data(),
      .momentum_slope = cotangents.momentum.data(),
      .keep = restores ? T(1) : static_cast<T>(move.keep),
      .drift_factor = restores ? T(0) : static_cast<T>(drift_back),
      .sums_keep = !restores && move.keep != 1,
      .anchor_drift = anchor_for(count, largest_position_slope_ * made.largest_momentum),
      .anchor_kick = anchor_for(count, largest_momentum_slope_ * made.largest_force),
      .anchor_keep = anchor_for(count, largest_momentum_slope_ * largest_before)};
  Found<T> found;
  mesh::with_support(assignment_, [&]<int support>(std::integral_constant<int, support>) {
    found = read_and_find("coir::nbody::particle_reverser/pull_back", exec_, particles,
                          mesh::ForceAndSlopes<support, T>(force.force_window(), potential,
                                                           particles.box, particles.position.data(),
                                                           cotangents.momentum.data(), move.kick),
                          body);
  });
  found = of_all_ranks(group_, found);
  expects_way_back(found, made);
  slopes.drift_after += made.scale_after * quanta_.momentum * found.drift;
  slopes.kick += found.kick;
  slopes.keep += made.scale * quanta_.momentum * found.keep;
  largest_position_slope_ = static_cast<double>(from_bits<T>(found.largest[0]));
  largest_momentum_slope_ = static_cast<double>(from_bits<T>(found.largest[1]));
  scale_ = made.scale;
  largest_scale_ = made.largest_scale;
  if (!std::isfinite(largest_position_slope_) || !std::isfinite(largest_momentum_slope_))
    throw NumericalError("a derivative by a position or momentum overflows in step " +
                         std::to_string(made.step) +
                         " on the way back: divide the loss by a large number, or use double");
}

template <CompiledSpace Exec, Real T>
void ParticleReverser<Exec, T>::pull_back_keep(Particles<Exec, T> const& particles,
                                               Cotangents<Exec, T> const& cotangents,
                                               MadeMove const& made, FactorSlopes& slopes) {
  double const keep = made.move.keep;
  slopes.keep += made.scale * quanta_.momentum *
                 product_with_momenta(particles, cotangents.momentum, largest_momentum_slope_);
  for_each("coir::nbody::particle_reverser/scale", exec_, coordinates_of(particles),
           ScaleSlope<T>{cotangents.momentum.data(), static_cast<T>(keep)});
  largest_momentum_slope_ *= std::abs(keep);
}

template <CompiledSpace Exec, Real T>
double ParticleReverser<Exec, T>::product_with_momenta(Particles<Exec, T> const& particles,
                                                       Vectors const& slopes,
                                                       double largest) const {
  double sum = 0;
  double const most = static_cast<double>(most_quanta<T>);
  reduce("coir::nbody::particle_reverser/product", exec_, coordinates_of(particles),
         ProductSum<T>{slopes.data(), particles.momentum.data(),
                       anchor_for(3 * static_cast<double>(particles.total()), largest * most)},
         Kokkos::Sum<double>(sum));
  return group_.sum(sum);
}

template <CompiledSpace Exec, Real T>
void ParticleReverser<Exec, T>::pull_back_drift(Particles<Exec, T> const& particles,
                                                Cotangents<Exec, T> const& cotangents,
                                                double factor, double scale) {
  if (factor == 0) return;
  for_each("coir::nbody::particle_reverser/pull_back_drift", exec_, coordinates_of(particles),
           PullBackDrift<T>{{particles.position.data(), particles.momentum.data(),
                             InQuanta<T>(quanta_), quanta_of_drift(factor, scale), true},
                            cotangents.position.data(),
                            cotangents.momentum.data(),
                            static_cast<T>(factor)});
  // A bound: the last factor allows for what T rounds up.
  largest_momentum_slope_ += std::abs(factor) * largest_position_slope_ * 1.001;
}

template <CompiledSpace Exec, Real T>
double ParticleReverser<Exec, T>::along_drift(Particles<Exec, T> const& particles,
                                              Cotangents<Exec, T> const& cotangents,
                                              double scale) const {
  return scale * quanta_.momentum *
         product_with_momenta(particles, cotangents.position, largest_position_slope_);
}

}  // namespace coir::nbody::detail

#define COIR_INSTANTIATE_PARTICLE_REVERSER(Exec)                     \
  template class coir::nbody::detail::ParticleReverser<Exec, float>; \
  template class coir::nbody::detail::ParticleReverser<Exec, double>;
