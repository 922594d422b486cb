#pragma once

/// Finite differences of a potential, whose results overwrite it.

#include "differences_device.hpp"

#include <coir/core/loops.hpp>
#include <coir/core/shape.hpp>
#include <coir/mesh/cells.hpp>
#include <coir/mesh/detail/difference_weights.hpp>

#include <algorithm>
#include <cstdint>

namespace coir::mesh::detail {

/// force = -grad potential by differences of two or four points, in the planes [first_plane,
/// end_plane).
template <class T, int Points>
struct Differences {
  T const* potential;
  std::int64_t n[3], plane, row;
  T* force;
  std::int64_t first_plane, end_plane;  // of the potential
  std::int64_t shift;                   // from planes of the potential to those of the force
  DifferenceWeights<T> weights[3];

  /// Differences in all planes.
  Differences(T const* from, Shape<3> const& shape, double box, T* to)
      : potential(from),
        row(2 * (shape[2] / 2 + 1)),
        force(to),
        first_plane(0),
        end_plane(shape[0]),
        shift(0) {
    for (int d = 0; d < 3; ++d) {
      n[d] = shape[d];
      weights[d] = {Points, inverse_spacing(n[d], box)};
    }
    plane = n[1] * row;
  }

  KOKKOS_FORCEINLINE_FUNCTION std::int64_t around(std::int64_t i, int d) const {
    return i < 0 ? (i + 2 * n[d]) % n[d] : i >= n[d] ? i % n[d] : i;
  }

  KOKKOS_FUNCTION void operator()(std::int64_t i, std::int64_t j, std::int64_t k) const {
    T* const to = force + (((i + shift) * n[1] + j) * n[2] + k) * 3;
    T const* const here = potential + i * plane + j * row;
    auto const along = [&](int d, std::int64_t at, std::int64_t stride, T const* line) {
      T const slope =
          weights[d].near * (line[around(at - 1, d) * stride] - line[around(at + 1, d) * stride]);
      if constexpr (Points == 2) return slope;
      return slope +
             weights[d].far * (line[around(at - 2, d) * stride] - line[around(at + 2, d) * stride]);
    };
    to[0] = along(0, i, plane, potential + j * row + k);
    to[1] = along(1, j, row, potential + i * plane + k);
    to[2] = along(2, k, 1, here);
  }

  void stretch(std::int64_t i, std::int64_t j, std::int64_t begin, std::int64_t end) const {
    std::int64_t const first = begin < 2 ? 2 : begin, last = end > n[2] - 2 ? n[2] - 2 : end;
    if (first >= last) {
      for (std::int64_t k = begin; k < end; ++k) (*this)(i, j, k);
      return;
    }
    for (std::int64_t k = begin; k < first; ++k) (*this)(i, j, k);
    T const* const here = potential + i * plane + j * row;
    T const *x[4], *y[4];
    for (int s = 0; s < 4; ++s) {
      int const step = s < 2 ? s - 2 : s - 1;
      x[s] = potential + around(i + step, 0) * plane + j * row;
      y[s] = potential + i * plane + around(j + step, 1) * row;
    }
    between(here, x, y, first, last, force + ((i + shift) * n[1] + j) * n[2] * 3);
    for (std::int64_t k = last; k < end; ++k) (*this)(i, j, k);
  }

 private:
  void between(T const* here, T const* const (&x)[4], T const* const (&y)[4], std::int64_t first,
               std::int64_t last, T* to) const {
    T const *const x0 = x[0], *const x1 = x[1], *const x2 = x[2], *const x3 = x[3];
    T const *const y0 = y[0], *const y1 = y[1], *const y2 = y[2], *const y3 = y[3];
    T const nx = weights[0].near, ny = weights[1].near, nz = weights[2].near;
    T const fx = weights[0].far, fy = weights[1].far, fz = weights[2].far;
    COIR_INDEPENDENT_ITERATIONS
    for (std::int64_t k = first; k < last; ++k) {
      if constexpr (Points == 2) {
        to[3 * k] = nx * (x1[k] - x2[k]);
        to[3 * k + 1] = ny * (y1[k] - y2[k]);
        to[3 * k + 2] = nz * (here[k - 1] - here[k + 1]);
      } else {
        to[3 * k] = nx * (x1[k] - x2[k]) + fx * (x0[k] - x3[k]);
        to[3 * k + 1] = ny * (y1[k] - y2[k]) + fy * (y0[k] - y3[k]);
        to[3 * k + 2] = nz * (here[k - 1] - here[k + 1]) + fz * (here[k - 2] - here[k + 2]);
      }
    }
  }
};

template <class Exec, class T, int Points>
void find_differences(Exec const& exec, Differences<T, Points> const& body) {
  if constexpr (runs_on_host<Exec>)
    for_each("coir::mesh::differences", exec,
             coir::box<3, std::int64_t>({body.first_plane, 0, 0},
                                        {body.end_plane, body.n[1], body.n[2]}),
             body);
  else if (DifferencesInBlocks<T, Points, true>::fits(body))
    DifferencesInBlocks<T, Points, true>::run("coir::mesh::differences", exec, body);
  else
    DifferencesInBlocks<T, Points, false>::run("coir::mesh::differences", exec, body);
}

/// to[m] = from[(first + m) mod planes], plane by plane.
template <class T>
struct CopyPlanes {
  static constexpr bool reads_no_neighbours = true;
  T const* from;
  T* to;
  std::int64_t plane, planes, first;
  KOKKOS_FUNCTION void operator()(std::int64_t m, std::int64_t at) const {
    to[m * plane + at] = from[(first + m + 2 * planes) % planes * plane + at];
  }
};

/// A mesh of vectors in the memory of the potential that they are made from, so that both take no
/// more memory than the vectors alone. The potential lies at the end. The vectors of the first two
/// thirds of the planes don't reach it. Each further batch of planes, about two thirds of the rest,
/// overwrites only planes of the potential that aren't needed any more; the last twelve planes are
/// made from a copy.
///
/// The potential has `margin` planes more before and after those of the vectors: `reach` of them,
/// or none where it is the whole mesh, whose ends meet.
struct PotentialInVectors {
  static constexpr std::int64_t late = 12;  // fewer planes at the end aren't worth a batch
  Shape<3> shape{};                         ///< of the whole mesh
  std::int64_t planes = 0;                  ///< of vectors
  std::int64_t reach = 0;                   ///< of the differences
  std::int64_t margin = 0;
  std::int64_t offset = 0;  ///< numbers from the first vector to the potential

  std::int64_t row() const { return 2 * (shape[2] / 2 + 1); }
  std::int64_t plane() const { return shape[1] * row(); }
  std::int64_t vectors() const { return 3 * planes * shape[1] * shape[2]; }
  /// The number of planes of the potential.
  std::int64_t held() const { return planes + 2 * margin; }
  /// Numbers of the copied planes.
  std::int64_t copy_size() const { return (last() + 2 * reach) * plane(); }

  /// \param memory  of vectors and potential
  /// \param copy    scratch, copy_size() numbers
  template <int Points, class Exec, class T>
  void make_vectors(Exec const& exec, T* memory, T* copy, double box) const {
    if (planes == 0) return;
    T* const potential = memory + offset;
    std::int64_t const early = planes - last();
    for_each("coir::mesh::differences/keep", exec,
             coir::box<2, std::int64_t>({last() + 2 * reach, plane()}),
             CopyPlanes<T>{potential, copy, plane(), held(), early + margin - reach});
    Differences<T, Points> body(potential, shape, box, memory);
    body.n[0] = held();
    body.shift = -margin;
    for (std::int64_t begin = 0, end = 0; begin < early; begin = end) {
      std::int64_t const not_needed = std::max<std::int64_t>(begin + margin - reach, 0);
      end = std::min(early, (offset + not_needed * plane()) / (3 * shape[1] * shape[2]));
      body.first_plane = begin + margin;
      body.end_plane = end + margin;
      find_differences(exec, body);
    }
    Differences<T, Points> rest(copy, shape, box, memory);
    rest.n[0] = last() + 2 * reach;
    rest.first_plane = reach;
    rest.end_plane = reach + last();
    rest.shift = early - reach;
    find_differences(exec, rest);
  }

 private:
  std::int64_t last() const { return std::min(planes, late); }
};

}  // namespace coir::mesh::detail
