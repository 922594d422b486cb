#pragma once

/// \file
/// Checks of the arguments of painting, readout and power spectra.

#include <coir/core/concepts.hpp>
#include <coir/core/errors.hpp>

#include <cstdint>
#include <limits>
#include <string>

namespace coir::mesh::detail {

/// \throws PreconditionError unless there is a vector of three components for each particle
template <class Vectors>
void expects_vectors(Vectors const& vectors, std::string const& what, std::int64_t particles) {
  expects(
      static_cast<std::int64_t>(vectors.extent(0)) == particles,
      [&] { return what + " must be " + std::to_string(particles) + ", one for each particle"; },
      static_cast<std::int64_t>(vectors.extent(0)));
  expects(
      vectors.extent(1) == 3, [&] { return what + " must have 3 components"; },
      static_cast<std::int64_t>(vectors.extent(1)));
}

/// \throws PreconditionError unless there is a number for each particle and a mesh of numbers, or a
///   vector for each and a mesh of vectors
template <class Values, class Mesh>
void expects_values(Values const& values, Mesh const& mesh, std::int64_t particles) {
  if constexpr (ViewOfRank<Values, 2>) {
    expects_vectors(values, "vectors", particles);
    expects(mesh.extent(3) == 3, "a mesh of vectors must have 3 components",
            static_cast<std::int64_t>(mesh.extent(3)));
  } else {
    expects(
        static_cast<std::int64_t>(values.extent(0)) == particles,
        [&] { return "values must be " + std::to_string(particles) + ", one for each particle"; },
        static_cast<std::int64_t>(values.extent(0)));
  }
}

inline void expects_box(double box) {
  expects(box > 0 && box <= std::numeric_limits<double>::max(),
          "the box length must be positive and finite", box);
}

/// The first particle with a coordinate that isn't finite, or -1.
template <class Exec, class T>
std::int64_t first_not_finite(Exec const& exec, T const* position, std::int64_t particles);

/// \throws PreconditionError naming the first particle whose position isn't finite
template <class Exec, class T>
void expects_finite_positions(Exec const& exec, T const* position, std::int64_t particles) {
  std::int64_t const first = first_not_finite<Exec, T>(exec, position, particles);
  if (first >= 0)
    expects(false,
            "positions must be finite, and that of particle " + std::to_string(first) + " isn't");
}

}  // namespace coir::mesh::detail
