#pragma once

/// \file
/// What transforms over ranks work in, before they are made.

#include <coir/core/concepts.hpp>
#include <coir/core/machine.hpp>
#include <coir/core/shape.hpp>
#include <coir/distributed/group.hpp>
#include <coir/distributed/share.hpp>
#include <coir/fft/plan.hpp>

#include <cstdint>

namespace coir::mesh {

/// Bytes that fft::RealSlab works in, at most, on the rank that calls it: the work of its plans, and on devices the buffers in which rows
/// travel, with as much as the field. Of one rank, those of fft::RealPlan.
///
/// \param shape    of the whole field
/// \param options  of the effort alone
template <CompiledSpace Exec, Real T>
std::int64_t transform_bytes(Exec const& exec, distributed::Group const& group,
                             Shape<3> const& shape, fft::PlanOptions options) {
  using Whole = fft::RealPlan<Exec, T, 3>;
  options.in_place = true;
  options.by_planes = true;
  if (group.size() == 1) return Whole::work_bytes(exec, shape, 1, options);
  // Threads have a buffer each for the columns of planes, and one for lines.
  if constexpr (runs_on_host<Exec>) return 2 * Whole::work_bytes(exec, shape, 1, options);
  auto const planes = distributed::share_of(shape[0], group.rank(), group.size()).count;
  auto const rows = distributed::share_of(shape[1], group.rank(), group.size()).count;
  std::int64_t const row = shape[2] / 2 + 1;
  // Rows that travel, and the table of who has them.
  std::int64_t bytes = planes * shape[1] * row * static_cast<std::int64_t>(2 * sizeof(T)) +
                       2 * shape[1] * static_cast<std::int64_t>(sizeof(std::int32_t));
  if (planes > 0)
    bytes += fft::RealPlan<Exec, T, 2>::work_bytes(exec, {shape[1], shape[2]}, planes, options);
  if (rows > 0)
    bytes += fft::ComplexPlan<Exec, T, 1>::work_bytes(exec, {shape[0]}, rows * row, options);
  return bytes;
}

}  // namespace coir::mesh
