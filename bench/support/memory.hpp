#pragma once

/// Cases that don't fit in memory are predicted and skipped, with a line that says why.

#include <support/space.hpp>

#include <coir/core/memory.hpp>
#include <coir/core/pool.hpp>

#include <benchmark/benchmark.h>

#include <cstdint>
#include <string>

namespace coir::bench {

/// Whether a case's arrays, of so many bytes together, fit in what is free of a memory space.
template <class MemorySpace = Memory>
bool fits(benchmark::State& state, double bytes) {
  MemoryPool<Memory>::release();  // what earlier cases left
  auto const needed = static_cast<std::int64_t>(bytes);
  std::int64_t const free = free_bytes<MemorySpace>();
  if (needed <= free) return true;
  std::string const message = "it needs " + readable_bytes(needed) + " of memory, and " +
                              readable_bytes(free) + " are free";
  state.SkipWithError(message.c_str());
  return false;
}

}  // namespace coir::bench
