#pragma once

/// \file
/// The memory that a run takes at most, worked out once the picture's extents are known.

#include "settings.hpp"

#include <coir/core/machine.hpp>
#include <coir/core/memory.hpp>
#include <coir/poisson/conjugate_gradients.hpp>
#include <coir/poisson/jacobi.hpp>
#include <coir/poisson/multigrid.hpp>

#include <support/memory_plan.hpp>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>

namespace coir::apps::jacobi {

/// Sizes that the memory plan depends on beside the settings.
struct Extents {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t decoding = 0;  ///< bytes that were held while the input was decoded
  std::int64_t reading = 0;   ///< bytes that are held while its field is filled
  std::int64_t before = 0;    ///< bytes of the process before that
};

/// The bytes that a scheme takes beside the source and u.
template <class Exec, class T>
std::int64_t scheme_bytes(Scheme scheme, Extents const& extents,
                          std::optional<std::int64_t> const& sweeps) {
  std::int64_t const m = extents.rows, n = extents.columns;
  if (scheme == Scheme::red_black) return 0;
  if (scheme == Scheme::multigrid)
    return poisson::Multigrid<Exec, T, 2>::bytes(Exec{},
                                                 {static_cast<int>(m), static_cast<int>(n)});
  if (scheme == Scheme::cg) {
    constexpr std::int64_t kernels = 512
                                     << 10;  // code of Kokkos Kernels, scratch memory of its teams
    return poisson::conjugate_gradients_bytes<Exec, T>(Exec{}, m, n) + kernels;
  }
  if (scheme == Scheme::arrays)
    // The pool rounds blocks up by an eighth at most.
    return (m + 2) * (n + 2) * static_cast<std::int64_t>(sizeof(T)) * 9 / 8;
  poisson::JacobiOptions options;
  options.scheme = scheme == Scheme::plain     ? poisson::JacobiScheme::plain
                   : scheme == Scheme::blocked ? poisson::JacobiScheme::blocked
                                               : poisson::JacobiScheme::automatic;
  options.sweeps = sweeps.value_or(options.sweeps);
  return poisson::jacobi_bytes<Exec, T>(m, n, options);
}

/// Whether the bandwidth of the memory has anything to do with the speed of sweeps: not if the fields of a sweep stay
/// in a cache.
template <class Exec, class T>
bool fits_into_cache(std::int64_t rows, std::int64_t columns) {
  std::int64_t const field = rows * columns * static_cast<std::int64_t>(sizeof(T));
  return 3 * field <= last_level_cache_bytes(Exec{});
}

/// Whether anything that is written needs the bandwidth.
template <class Exec, class T>
bool wants_bandwidth(Settings const& settings, std::int64_t rows, std::int64_t columns) {
  bool const is_shown = !settings.quiet || !settings.report.empty();
  return is_shown && makes_sweeps(schemes_to_run(settings).front()) &&
         !fits_into_cache<Exec, T>(rows, columns);
}

template <class Exec, class T>
MemoryPlan plan_of(Settings const& settings, Extents const& extents) {
  std::int64_t const size = sizeof(T), m = extents.rows, n = extents.columns;
  std::int64_t const inside = m * n * size, with_ring = (m + 2) * (n + 2) * size;
  std::int64_t scheme = 0;
  for (Scheme const s : schemes_to_run(settings))
    scheme = std::max(scheme, scheme_bytes<Exec, T>(s, extents, settings.sweeps));
  bool const has_photograph = !settings.input_is_laplacian;
  std::int64_t const start = has_photograph ? 2 * inside + with_ring : inside;
  std::int64_t const solve = (has_photograph ? 2 : 1) * inside + with_ring + scheme;
  std::int64_t const fields = std::max(start, solve);
  std::int64_t const measuring = wants_bandwidth<Exec, T>(settings, m, n) ? triad_bytes(Exec{}) : 0;
  std::int64_t const reading = std::max(extents.decoding, extents.reading + inside);
  MemoryPlan plan{extents.before, bytes_beside(with_ring)};
  if (runs_on_host<Exec>) {
    plan.host += std::max({reading, fields, measuring});
  } else {
    std::int64_t const blocks = 16 << 20;  // of a field on their way to a file
    plan.host += std::max(reading, blocks);
    plan.device = std::max(fields + blocks, measuring);
  }
  return plan;
}

/// Stops a run that can't have its memory before the work. Where it only lacks what the measurement takes, that is left
/// out instead.
///
/// \throws ResourceError naming the need, what is free, and the remedy
template <class Exec, class T>
MemoryPlan expects_memory_for(Settings const& settings, Extents const& extents) {
  Settings without_measurement = settings;
  without_measurement.quiet = true;
  without_measurement.report.clear();
  MemoryPlan const least = plan_of<Exec, T>(without_measurement, extents);
  expects_memory(least, "rebuilding " + std::to_string(extents.rows) + " x " +
                            std::to_string(extents.columns) + " cells");
  return has_memory_to_measure(Exec{}) ? plan_of<Exec, T>(settings, extents) : least;
}

}  // namespace coir::apps::jacobi
