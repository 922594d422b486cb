#pragma once

/// \file
/// Products of spectra with functions of the mode.

#include <coir/core/concepts.hpp>
#include <coir/core/loops.hpp>

#include <Kokkos_Complex.hpp>

#include <algorithm>
#include <cstdint>

namespace coir::fft {

namespace detail {

/// modes[c] *= factor(i, j, k + c) for c in [0, count).
template <class T, class Factor>
KOKKOS_FORCEINLINE_FUNCTION void multiply_row(T* modes, std::int64_t count, Factor const& factor,
                                              std::int64_t i, std::int64_t j, std::int64_t k) {
  Factor const local = factor;
  COIR_INDEPENDENT_ITERATIONS
  for (std::int64_t c = 0; c < count; ++c) {
    T const by = local(i, j, k + c);
    modes[2 * c] *= by;
    modes[2 * c + 1] *= by;
  }
}

/// Multiplies the modes [first, first + count) of plane i. Its rows have `row` modes.
template <class T, class Factor>
void multiply_stretch(T* modes, std::int64_t i, std::int64_t first, std::int64_t count,
                      std::int64_t row, Factor const& factor) {
  std::int64_t j = first / row, k = first % row;
  for (std::int64_t done = 0; done < count; ++j, k = 0) {
    std::int64_t const here = std::min(count - done, row - k);
    multiply_row(modes + 2 * done, here, factor, i, j, k);
    done += here;
  }
}

template <class T, class Factor>
struct MultiplyModes {
  static constexpr bool reads_no_neighbours = true;
  T* data;  // real and imaginary parts
  std::int64_t plane, row;
  Factor factor;

  // For devices: both parts at once.
  KOKKOS_FUNCTION void operator()(std::int64_t i, std::int64_t j, std::int64_t k) const {
    auto& mode = reinterpret_cast<Kokkos::complex<T>*>(data + i * plane + j * row)[k];
    T const by = factor(i, j, k);
    auto const before = mode;
    mode = Kokkos::complex<T>(before.real() * by, before.imag() * by);
  }
  void stretch(std::int64_t i, std::int64_t j, std::int64_t begin, std::int64_t end) const {
    multiply_row(data + i * plane + j * row + 2 * begin, end - begin, factor, i, j, begin);
  }
};

}  // namespace detail

/// spectrum(i, j, k) *= factor(i, j, k).
///
/// \param spectrum  row-major, without gaps; inout
/// \param factor    a function that kernels can call, returns real numbers
template <ExecutionSpace Exec, class T, class... Properties, class Factor>
  requires CanAccess<Exec, Kokkos::View<Kokkos::complex<T>***, Properties...>>
void multiply_modes(Exec const& exec,
                    Kokkos::View<Kokkos::complex<T>***, Properties...> const& spectrum,
                    Factor const& factor) {
  auto const extent = [&](int d) { return static_cast<std::int64_t>(spectrum.extent(d)); };
  for_each("coir::fft::multiply", exec,
           coir::box<3, std::int64_t>({extent(0), extent(1), extent(2)}),
           detail::MultiplyModes<T, Factor>{reinterpret_cast<T*>(spectrum.data()),
                                            2 * extent(1) * extent(2), 2 * extent(2), factor});
}

}  // namespace coir::fft
