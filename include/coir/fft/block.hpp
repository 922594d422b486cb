#pragma once

/// \file
/// Callers' Views of complex numbers, as transforms over ranks and forces take them.

#include <coir/core/concepts.hpp>
#include <coir/core/errors.hpp>
#include <coir/core/strided.hpp>
#include <coir/core/views.hpp>

#include <Kokkos_Complex.hpp>

#include <concepts>
#include <string>
#include <string_view>

namespace coir::fft {

/// A View of complex numbers with three axes that kernels on `Exec` may touch: a rank's block of a
/// field or of its spectrum. It must lie in C order without gaps. LayoutLeft isn't compiled;
/// strides of LayoutStride are checked when the program runs.
template <class V, class Exec, class T>
concept ComplexBlock =
    StridedView<V> && ViewOfRank<V, 3> &&
    std::same_as<typename V::value_type, Kokkos::complex<T>> && CanAccess<Exec, V>;

/// A caller's block as LayoutRight.
///
/// \param what  the block, for messages: "the field of a rank"
/// \throws PreconditionError unless it lies in C order without gaps
template <class Exec, class T, ComplexBlock<Exec, T> V>
auto block_of(std::string_view what, V const& view) {
  static_assert(!std::same_as<typename V::array_layout, Kokkos::LayoutLeft>,
                "fields over ranks and spectra must lie in C order: make them Kokkos::Views of "
                "LayoutRight, and copy_strided (coir/core/strided.hpp) copies a LayoutLeft View");
  expects(is_c_order(strided(view)),
          std::string(what) +
              " must lie in C order without gaps: copy it to a View of LayoutRight first");
  return UnmanagedView<Kokkos::complex<T>, 3, Kokkos::LayoutRight, typename Exec::memory_space>(
      view.data(), view.extent(0), view.extent(1), view.extent(2));
}

}  // namespace coir::fft
