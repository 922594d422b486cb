#pragma once

/// \file
/// Atomics in the scratch memory of a team.

#include <coir/core/kokkos.hpp>

#include <type_traits>

namespace coir {

/// Adds an integer to one in a team's scratch memory, atomically, modulo 2^32 or 2^64.
template <class Whole>
  requires std::is_integral_v<Whole>
KOKKOS_FORCEINLINE_FUNCTION void add_in_scratch(Whole* to, Whole amount) {
#if defined(__CUDA_ARCH__)
  // Kokkos::atomic_add becomes an instruction for any memory. The one for scratch memory is faster.
  using Word = std::conditional_t<sizeof(Whole) == 4, unsigned, unsigned long long>;
  ::atomicAdd(reinterpret_cast<Word*>(to), static_cast<Word>(amount));
#else
  Kokkos::atomic_add(to, amount);
#endif
}

}  // namespace coir
