#pragma once

#include <coir/core/strided.hpp>
#include <coir/core/views.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>

namespace coir::testing {

/// How a View lies in memory.
enum class Laid {
  right,      ///< LayoutRight
  left,       ///< LayoutLeft, Kokkos' default on devices
  with_gaps,  ///< row-major, with 3 elements between rows
  apart,      ///< row-major, each element 2 from the next
  turned,     ///< LayoutStride with the strides of LayoutLeft and 1 element between columns
};

inline constexpr Laid all_but_right[] = {Laid::left, Laid::with_gaps, Laid::apart, Laid::turned};

inline std::string name_of(Laid laid) {
  char const* const names[] = {"right", "left", "with gaps", "apart", "turned"};
  return names[static_cast<int>(laid)];
}

template <Laid L>
using LayoutOf = std::conditional_t<
    L == Laid::right, Kokkos::LayoutRight,
    std::conditional_t<L == Laid::left, Kokkos::LayoutLeft, Kokkos::LayoutStride>>;

/// A View for this many elements, of zeros.
template <Laid L, class T, class Space, std::size_t Rank>
auto allocate(std::array<std::int64_t, Rank> const& extents) {
  LayoutOf<L> layout;
  for (std::size_t d = 0; d < Rank; ++d) layout.dimension[d] = static_cast<std::size_t>(extents[d]);
  if constexpr (L != Laid::right && L != Laid::left) {
    std::size_t stride = L == Laid::apart ? 2 : 1;
    for (std::size_t e = 0; e < Rank; ++e) {
      std::size_t const d = L == Laid::turned ? e : Rank - 1 - e;
      layout.stride[d] = stride;
      stride *= layout.dimension[d] + (e > 0 ? 0 : L == Laid::with_gaps ? 3 : 1);
    }
  }
  return Kokkos::View<view_data_t<T, static_cast<int>(Rank)>, LayoutOf<L>, Space>("laid out",
                                                                                  layout);
}

/// A copy of a View's elements in another layout.
template <Laid L, class V>
auto copy_as(V const& view) {
  using T = typename V::non_const_value_type;
  constexpr int rank = static_cast<int>(V::rank);
  auto const from = strided(view);
  auto const copy = allocate<L, T, typename V::memory_space>(from.extents);
  coir::copy_strided<typename V::execution_space, T, rank>(typename V::execution_space{}, from,
                                                           strided(copy));
  return copy;
}

/// A copy in C order with the axes reversed.
template <class V>
auto transposed(V const& view) {
  using T = typename V::non_const_value_type;
  constexpr int rank = static_cast<int>(V::rank);
  std::array<int, rank> reversed{};
  for (int d = 0; d < rank; ++d) reversed[d] = rank - 1 - d;
  auto const from = permuted(strided(view), reversed);
  auto const copy = allocate<Laid::right, T, typename V::memory_space>(from.extents);
  coir::copy_strided<typename V::execution_space, T, rank>(typename V::execution_space{}, from,
                                                           strided(copy));
  return copy;
}

}  // namespace coir::testing
