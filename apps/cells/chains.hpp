#pragma once

#include "survey.hpp"

#include <coir/inference/chains.hpp>
#include <coir/inference/diagnostics.hpp>

namespace coir::apps::cells {

/// Draws of the parameters from their posterior by the no-U-turn sampler. Chains start from draws
/// of the Fisher matrix' Gaussian, whose root also makes the directions of the sampler alike.
///
/// After Ctrl-C: the draws so far.
inference::Chains draw_chains(CellsSettings const& settings, Forecast const& forecast);

}  // namespace coir::apps::cells
