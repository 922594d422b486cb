#pragma once

/// Sizes that are evenly spread on a logarithmic axis, for plots of time over size.

#include <benchmark/benchmark.h>

#include <cstdint>

namespace coir::bench {

/// 2^10, 2^12 and so on to 2^26, and 2^27: from what the innermost cache holds to far beyond the
/// last one.
inline void elements(benchmark::internal::Benchmark* bench) {
  bench->UseManualTime();
  for (int power = 10; power <= 26; power += 2) bench->Arg(std::int64_t(1) << power);
  bench->Arg(std::int64_t(1) << 27);
}

}  // namespace coir::bench
