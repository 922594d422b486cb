#pragma once

#include "survey.hpp"

#include <string>
#include <vector>

namespace coir::apps::cells {

/// l (l + 1) C_l / (2 pi) of each tracer with itself, as SVG, with its noise and 1-sigma errors as
/// a band.
std::string picture_of_spectra(Forecast const& forecast);

/// The triangle of all pairs of parameters, as SVG: ellipses that hold 68.3 % and 95.4 % of the
/// probability, and on the diagonal each parameter's density.
///
/// \param draws  of the parameters, some of which are drawn as dots below the ellipses; may be
/// empty
std::string triangle_of(Forecast const& forecast,
                        std::vector<std::vector<double>> const& draws = {});

}  // namespace coir::apps::cells
