#pragma once

/// Counter-based random bits, by Threefry4x32-20 of the library Random123, for kernels.

#include <coir/core/kokkos.hpp>

// Random123 marks its functions for CUDA's devices alone.
#define R123_CUDA_DEVICE KOKKOS_FUNCTION
#include <Random123/threefry.h>

#include <cstdint>

namespace coir::random {

/// Four words of 32 bits. Not a std::array, whose functions can't be called on every device.
struct PlainWords {
  std::uint32_t v[4];
};

KOKKOS_FORCEINLINE_FUNCTION PlainWords threefry(PlainWords const& counter, PlainWords const& key) {
  threefry4x32_ctr_t const c = {{counter.v[0], counter.v[1], counter.v[2], counter.v[3]}};
  threefry4x32_key_t const k = {{key.v[0], key.v[1], key.v[2], key.v[3]}};
  threefry4x32_ctr_t const result = threefry4x32_R(20, c, k);
  return {{result.v[0], result.v[1], result.v[2], result.v[3]}};
}

}  // namespace coir::random
