#pragma once

/// \file
/// Host arrays in page-locked memory: CuPy's empty_pinned and zeros_pinned.
///
/// Devices copy page-locked memory at the full rate of the bus, and beside kernels: see
/// coir/core/pinned.hpp. Without a device there is no difference.
///
/// Statements write into the array's memory: x = a + b, x += a. Mind x = f(), where f returns an
/// array, and x = y of another shape: x then gets that array's memory, which isn't page-locked.
/// x.all() = f() copies the elements.

#include <coir/array/array.hpp>
#include <coir/core/pinned.hpp>

#include <array>
#include <concepts>
#include <cstdint>
#include <memory>
#include <utility>

namespace coir {

/// A page-locked host array whose elements are not initialised.
///
/// \throws PreconditionError if an extent is negative or the size overflows
/// \throws ResourceError if there is not enough memory, or the system allows no more to be locked
template <Element T = double, std::size_t Rank>
auto empty_pinned(std::array<std::int64_t, Rank> const& shape) {
  expects_allocatable(shape, sizeof(T));
  auto owner = allocate_pinned(size_of(shape) * static_cast<std::int64_t>(sizeof(T)));
  auto* const data = static_cast<T*>(owner.get());
  return Array<T, static_cast<int>(Rank), Kokkos::HostSpace>(data, shape, std::move(owner));
}
template <Element T = double, std::integral... N>
auto empty_pinned(N... extents) {
  return empty_pinned<T>(
      std::array<std::int64_t, sizeof...(N)>{static_cast<std::int64_t>(extents)...});
}
template <Element T = double, std::size_t Rank>
auto empty_pinned(std::int64_t const (&shape)[Rank]) {
  return empty_pinned<T>(std::to_array(shape));
}

/// A page-locked host array of zeros.
template <Element T = double, std::size_t Rank>
auto zeros_pinned(std::array<std::int64_t, Rank> const& shape) {
  auto result = empty_pinned<T>(shape);
  result = T(0);
  return result;
}
template <Element T = double, std::integral... N>
auto zeros_pinned(N... extents) {
  return zeros_pinned<T>(
      std::array<std::int64_t, sizeof...(N)>{static_cast<std::int64_t>(extents)...});
}
template <Element T = double, std::size_t Rank>
auto zeros_pinned(std::int64_t const (&shape)[Rank]) {
  return zeros_pinned<T>(std::to_array(shape));
}

}  // namespace coir
