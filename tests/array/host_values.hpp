#pragma once

/// \file
/// Arrays of any memory space from and to std::vector, and integers to fill them with.

#include <coir/array/array.hpp>

#include <cstddef>
#include <cstdint>
#include <random>
#include <type_traits>
#include <vector>

namespace coir::testing {

template <class Space, class T, std::size_t Rank>
auto from_host(std::vector<T> const& values, std::array<std::int64_t, Rank> const& shape) {
  Array<T, static_cast<int>(Rank), Space> result(shape);
  using To = Kokkos::View<T*, Space, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  using From = Kokkos::View<T const*, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  Kokkos::deep_copy(To(result.data(), values.size()), From(values.data(), values.size()));
  return result;
}

template <class T, int Rank, class Space>
std::vector<T> to_host(Array<T, Rank, Space> const& array) {
  std::vector<T> result(static_cast<std::size_t>(array.size()));
  using From = Kokkos::View<T const*, Space, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  using To = Kokkos::View<T*, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  Kokkos::deep_copy(To(result.data(), result.size()), From(array.data(), result.size()));
  return result;
}

/// `count` integers of [low, high], the same in each run.
inline std::vector<std::int64_t> random_integers(std::size_t count, unsigned seed, std::int64_t low,
                                                 std::int64_t high) {
  std::mt19937_64 bits(seed);
  std::vector<std::int64_t> result(count);
  for (auto& value : result)
    value = low + static_cast<std::int64_t>(bits() % static_cast<std::uint64_t>(high - low + 1));
  return result;
}

}  // namespace coir::testing
