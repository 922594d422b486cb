#pragma once

#include <coir/core/errors.hpp>

#include <cmath>
#include <cstddef>
#include <span>
#include <string>

namespace coir::nbody::detail {

/// \throws PreconditionError unless scale factors are above 0, finite, and rise
inline void expects_rising(std::span<double const> a) {
  for (std::size_t s = 0; s < a.size(); ++s)
    expects(std::isfinite(a[s]) && a[s] > (s == 0 ? 0 : a[s - 1]),
            "scale factors must be above 0 and rise; number " + std::to_string(s) +
                " must be above " + in_words(s == 0 ? 0.0 : a[s - 1]),
            a[s]);
}

}  // namespace coir::nbody::detail
