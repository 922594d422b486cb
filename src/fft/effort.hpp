#pragma once

/// \file
/// The effort of FFTW's planner.

#include <coir/fft/detail/transforms.hpp>

#include <fftw3.h>

#include <cstdint>

namespace coir::fft::detail {

/// FFTW_MEASURE or FFTW_ESTIMATE.
inline unsigned planner_flag(Effort effort, std::int64_t longest_line) {
  constexpr std::int64_t quickly_measured = 1 << 15;
  bool const measures = effort == Effort::measure ||
                        (effort == Effort::automatic && longest_line <= quickly_measured);
  return measures ? FFTW_MEASURE : FFTW_ESTIMATE;
}

}  // namespace coir::fft::detail
