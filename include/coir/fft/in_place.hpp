#pragma once

/// \file
/// Memory of real transforms in place: one block that holds real numbers or their half spectrum.

#include <coir/core/concepts.hpp>
#include <coir/core/errors.hpp>
#include <coir/core/shape.hpp>
#include <coir/core/views.hpp>

#include <Kokkos_Complex.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>

namespace coir::fft {

namespace detail {

template <class V>
inline constexpr bool holds_complex = false;
template <class V>
  requires(std::same_as<typename V::value_type, Kokkos::complex<float>> ||
           std::same_as<typename V::value_type, Kokkos::complex<double>>)
inline constexpr bool holds_complex<V> = true;

}  // namespace detail

/// A writable row-major View of complex numbers.
template <class V>
concept ComplexField =
    Kokkos::is_view<V>::value && (V::rank >= 1) && RowMajor<V> && detail::holds_complex<V>;

/// The real numbers in the memory of a half spectrum, as an in-place RealPlan takes them.
///
/// \param spectrum  [..., n / 2 + 1]
/// \param n         extent of the real field's last axis
/// \return          [..., n], a View with strides, valid while `spectrum` lives
/// \throws PreconditionError unless the spectrum's last extent is n / 2 + 1
template <ComplexField V>
auto real_view_of(V const& spectrum, std::int64_t n) {
  constexpr std::size_t rank = V::rank;
  auto const last = static_cast<std::int64_t>(spectrum.extent(rank - 1));
  expects(n >= 1 && last == n / 2 + 1,
          "the half spectrum of rows of " + std::to_string(n) + " numbers must have " +
              std::to_string(n / 2 + 1) + " in a row",
          last);
  Kokkos::LayoutStride layout;
  std::size_t stride = 1;
  for (std::size_t d = rank; d-- > 0;) {
    layout.dimension[d] = d + 1 == rank ? static_cast<std::size_t>(n) : spectrum.extent(d);
    layout.stride[d] = stride;
    stride *= d + 1 == rank ? 2 * spectrum.extent(d) : spectrum.extent(d);
  }
  using T = typename V::value_type::value_type;
  return UnmanagedView<T, static_cast<int>(rank), Kokkos::LayoutStride, typename V::device_type>(
      reinterpret_cast<T*>(spectrum.data()), layout);
}

/// The real numbers in the memory of a half spectrum, with the unused numbers at the end of each
/// row: [..., 2 (n / 2 + 1)], row-major, so that compilers know that rows are contiguous. Plans
/// take this View, too.
template <ComplexField V>
auto padded_real_view_of(V const& spectrum) {
  constexpr std::size_t rank = V::rank;
  Kokkos::LayoutRight layout;
  for (std::size_t d = 0; d < rank; ++d)
    layout.dimension[d] = d + 1 == rank ? 2 * spectrum.extent(d) : spectrum.extent(d);
  using T = typename V::value_type::value_type;
  return UnmanagedView<T, static_cast<int>(rank), Kokkos::LayoutRight, typename V::device_type>(
      reinterpret_cast<T*>(spectrum.data()), layout);
}

/// A half spectrum of zeros, whose memory also holds the real field of this shape in place.
///
/// \param label  the View's name in profiling tools
/// \param shape  of the real field, with the batch, if any, as its first axis
/// \return       the spectrum, [..., n_last / 2 + 1]; real_view_of(result, n_last) is the real
///   field
/// \throws PreconditionError if an extent is below 1
template <Real T, class Space, std::size_t Rank>
  requires(Rank >= 1)
auto allocate_in_place(std::string const& label, std::array<std::int64_t, Rank> const& shape) {
  Kokkos::LayoutRight layout;
  for (std::size_t d = 0; d < Rank; ++d) {
    expects(shape[d] >= 1, "extents of a transform must be at least 1", shape[d]);
    layout.dimension[d] = static_cast<std::size_t>(d + 1 == Rank ? shape[d] / 2 + 1 : shape[d]);
  }
  return Kokkos::View<view_data_t<Kokkos::complex<T>, static_cast<int>(Rank)>, Kokkos::LayoutRight,
                      Space>(label, layout);
}

/// Bytes of the spectrum that allocate_in_place() makes.
template <Real T, std::size_t Rank>
std::int64_t bytes_in_place(std::array<std::int64_t, Rank> const& shape) {
  std::int64_t numbers = 2 * (shape[Rank - 1] / 2 + 1);
  for (std::size_t d = 0; d + 1 < Rank; ++d) numbers *= shape[d];
  return numbers * static_cast<std::int64_t>(sizeof(T));
}

}  // namespace coir::fft
