#pragma once

/// Escape times by statements over whole arrays, as one writes it in NumPy or CuPy: each step reads
/// and writes every array in full, where the kernel of escape_time.hpp keeps a pixel in registers.

#include "escape_time.hpp"

#include <coir/array/creation.hpp>
#include <coir/array/functions.hpp>
#include <coir/array/operators.hpp>

namespace coir::apps::escape {

// Functions of single elements; the formulas are those of the kernel.

/// z^2 + c
struct Step {
  template <class Z>
  KOKKOS_FORCEINLINE_FUNCTION Z operator()(Z const& z, Z const& c) const {
    return {next_real(z.real(), z.imag(), c.real()), next_imag(z.real(), z.imag(), c.imag())};
  }
};

/// |z|^2
struct SquaredAbs {
  template <class Z>
  KOKKOS_FORCEINLINE_FUNCTION auto operator()(Z const& z) const {
    return squared_abs(z.real(), z.imag());
  }
};

/// The smooth count of a pixel that left after `count` steps, and was at z after `steps`.
template <class T>
struct SmoothCount {
  int iterations;
  KOKKOS_FORCEINLINE_FUNCTION T operator()(int count, int steps,
                                           Kokkos::complex<T> const& z) const {
    T const value = smooth_count(static_cast<T>(steps), squared_abs(z.real(), z.imag()));
    return count < iterations ? value : static_cast<T>(iterations);
  }
};

template <class T>
struct PixelCentre {
  PixelGrid<T> pixels;
  KOKKOS_FORCEINLINE_FUNCTION Kokkos::complex<T> operator()(std::int64_t i, std::int64_t j) const {
    return {pixels.real(static_cast<int>(j)), pixels.imag(static_cast<int>(i))};
  }
};

/// The loop over whole arrays, from z with c, which is an array or a single number.
template <class T, class Space, class C>
bool iterate_arrays(int iterations, Array<Kokkos::complex<T>, 2, Space>& z, C const& c,
                    Array<int, 2, Space>& counts, Array<T, 2, Space>* values,
                    Monitor const& monitor) {
  Array<bool, 2, Space> small = empty<bool, Space>(z.shape());
  counts = 0;
  for (int n = 0; n < iterations; ++n) {
    small = map(SquaredAbs{}, z) <= T(escape_limit);
    z(small) = map(Step{}, z, c);
    counts += small;
    if (!monitor) continue;
    typename Space::execution_space{}.fence();
    if (!monitor(n + 1, iterations) && n + 1 < iterations) return false;
  }
  if (values == nullptr) return true;
  Array<int, 2, Space> steps = counts;
  for (int n = 0; n < smooth_steps; ++n) {
    small = map(SquaredAbs{}, z) <= T(smooth_limit);
    z(small) = map(Step{}, z, c);
    steps += small;
  }
  *values = map(SmoothCount<T>{iterations}, counts, steps, z);
  return true;
}

/// Escape times with the counts of escape_time().
///
/// \param monitor called with steps, after each of them
template <class T, class Space>
bool escape_time_by_arrays(Problem<T> const& problem, Array<int, 2, Space>& counts,
                           Array<T, 2, Space>* values, Monitor const& monitor = {}) {
  using Z = Kokkos::complex<T>;
  Shape<2> const shape{problem.pixels.rows, problem.pixels.columns};
  auto const pixels = index_map(shape, PixelCentre<T>{problem.pixels});
  if (problem.julia) {
    Array<Z, 2, Space> z = pixels;
    Constant<Z> const c(Z(problem.constant_re, problem.constant_im));
    return iterate_arrays(problem.iterations, z, c, counts, values, monitor);
  }
  Array<Z, 2, Space> const c = pixels;
  Array<Z, 2, Space> z = zeros<Z, Space>(shape);
  return iterate_arrays(problem.iterations, z, c, counts, values, monitor);
}

}  // namespace coir::apps::escape
