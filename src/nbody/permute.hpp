#pragma once

/// Kernels that bring particles and their numbers into another order.

#include <coir/core/kokkos.hpp>

#include <cstdint>
#include <cstring>

namespace coir::nbody::detail {

/// to[place[p]] = from[p], for vectors.
template <class T>
struct PutVectors {
  T const* from;
  T* to;
  std::uint32_t const* place;
  KOKKOS_FUNCTION void operator()(std::int64_t p) const { put(p); }
  // A plain loop: scatter instructions would take longer.
  void stretch(std::int64_t begin, std::int64_t end) const {
    for (std::int64_t p = begin; p < end; ++p) put(p);
  }

 private:
  KOKKOS_FORCEINLINE_FUNCTION void put(std::int64_t p) const {
    std::memcpy(to + 3 * std::int64_t(place[p]), from + 3 * p, 3 * sizeof(T));
  }
};

/// to[place[p]] = from[p].
struct PutNumbers {
  std::uint32_t const* from;
  std::uint32_t* to;
  std::uint32_t const* place;
  KOKKOS_FUNCTION void operator()(std::int64_t p) const { to[place[p]] = from[p]; }
};

/// to[p] = from[source[p]]. A thread takes numbers that lie `particles` apart, so that neighbouring
/// threads read and write neighbouring addresses.
template <class T, int Components>
struct Fetch {
  T const* from;
  T* to;
  std::uint32_t const* source;
  std::int64_t particles;
  KOKKOS_FUNCTION void operator()(std::int64_t first) const {
    T number[Components];
    COIR_UNROLL
    for (int c = 0; c < Components; ++c) {
      std::int64_t const at = first + c * particles, p = at / Components;
      number[c] = from[std::int64_t(source[p]) * Components + (at - p * Components)];
    }
    COIR_UNROLL
    for (int c = 0; c < Components; ++c) to[first + c * particles] = number[c];
  }
};

/// source[place[p]] = p.
struct Invert {
  std::uint32_t const* place;
  std::uint32_t* source;
  KOKKOS_FUNCTION void operator()(std::int64_t p) const {
    source[place[p]] = static_cast<std::uint32_t>(p);
  }
};

/// numbers[p] = p.
struct Count {
  std::uint32_t* numbers;
  KOKKOS_FUNCTION void operator()(std::int64_t p) const {
    numbers[p] = static_cast<std::uint32_t>(p);
  }
};

/// to[p] = from[p].
struct Copy {
  std::uint32_t const* from;
  std::uint32_t* to;
  KOKKOS_FUNCTION void operator()(std::int64_t p) const { to[p] = from[p]; }
};

}  // namespace coir::nbody::detail
