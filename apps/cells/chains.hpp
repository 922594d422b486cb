#pragma once

#include "survey.hpp"

#include <coir/inference/chains.hpp>
#include <coir/inference/diagnostics.hpp>

#include <support/backend.hpp>

namespace coir::apps::cells {

/// The chains of --restart, or none.
///
/// \throws InputError, PreconditionError if there are no chains, if they are of another survey or
///   sampler, or if they have more draws than are asked for
inference::Chains chains_to_go_on_with(CellsSettings const& settings, Forecast const& forecast);

/// Draws of the parameters from their posterior. Chains start from draws of the Fisher matrix'
/// Gaussian, whose root also makes the directions of the sampler alike.
///
/// Twice a minute, after Ctrl-C, and at the end, chains are written below the output folder as they
/// are, so that a later run goes on with them. After Ctrl-C the draws so far are returned.
///
/// \param place   where ChEES-HMC computes; the no-U-turn sampler takes the cores
/// \param chains  those to go on with, or none
inference::Chains draw_chains(Place place, CellsSettings const& settings, Forecast const& forecast,
                              inference::Chains chains);

}  // namespace coir::apps::cells
