#pragma once

/// \file
/// The size of the workspace of transforms over ranks, without planning them.

#include <coir/core/concepts.hpp>
#include <coir/core/machine.hpp>
#include <coir/core/shape.hpp>
#include <coir/distributed/group.hpp>
#include <coir/distributed/share.hpp>
#include <coir/fft/plan.hpp>

#include <cstdint>

namespace coir::mesh {

/// An upper bound of the workspace of fft::RealSlab on the calling rank, in bytes: the workspace of its plans, and on devices
/// also buffers for the rows that travel, as large as the rank's part of the field. On one rank that of fft::RealPlan.
///
/// \param shape    of the whole field
/// \param options  only the effort counts
template <CompiledSpace Exec, Real T>
std::int64_t transform_bytes(Exec const& exec, distributed::Group const& group,
                             Shape<3> const& shape, fft::PlanOptions options) {
  using Whole = fft::RealPlan<Exec, T, 3>;
  options.in_place = true;
  options.by_planes = true;
  if (group.size() == 1) return Whole::work_bytes(exec, shape, 1, options);
  // Each thread has one buffer for the columns of planes, and one for lines.
  if constexpr (runs_on_host<Exec>) return 2 * Whole::work_bytes(exec, shape, 1, options);
  auto const planes = distributed::share_of(shape[0], group.rank(), group.size()).count;
  auto const rows = distributed::share_of(shape[1], group.rank(), group.size()).count;
  std::int64_t const row = shape[2] / 2 + 1;
  // Buffers for the rows that travel, and the table of their owners.
  std::int64_t bytes = planes * shape[1] * row * static_cast<std::int64_t>(2 * sizeof(T)) +
                       2 * shape[1] * static_cast<std::int64_t>(sizeof(std::int32_t));
  if (planes > 0)
    bytes += fft::RealPlan<Exec, T, 2>::work_bytes(exec, {shape[1], shape[2]}, planes, options);
  if (rows > 0)
    bytes += fft::ComplexPlan<Exec, T, 1>::work_bytes(exec, {shape[0]}, rows * row, options);
  return bytes;
}

}  // namespace coir::mesh
