#pragma once

/// From derivatives with respect to the factors of moves to those with respect to parameters of the
/// cosmology.

#include <coir/core/dual.hpp>
#include <coir/cosmology/growth.hpp>
#include <coir/cosmology/parameter_derivatives.hpp>
#include <coir/cosmology/parameters.hpp>
#include <coir/nbody/detail/made_move.hpp>
#include <coir/nbody/detail/universe.hpp>
#include <coir/nbody/moves.hpp>

#include <span>
#include <vector>

namespace coir::nbody::detail {

/// The moves of steps, whose factors have derivatives with respect to the parameters.
using VariedMoves = std::vector<StepMovesOf<Dual<double, cosmology::varied_parameters>>>;

/// The growth functions with these derivatives.
VariedGrowth varied(cosmology::Growth<double> const& growth);

/// dJ / d parameter by way of the moves of some steps, and of omega_m in their forces.
///
/// \param first   steps made before these
/// \param moves   those that were made
/// \param slopes  dJ / d factor of each of them
/// \param steps   the moves of which they were made
cosmology::Parameters<double> slope_of_parameters(int first, std::span<MadeMove const> moves,
                                                  std::span<FactorSlopes const> slopes,
                                                  VariedMoves const& steps, double omega_m);

}  // namespace coir::nbody::detail
