#pragma once

/// \file
/// The kernels of force.hpp, for one execution space.

#include "differences_device.hpp"

#include <coir/core/loops.hpp>
#include <coir/core/math.hpp>
#include <coir/core/memory.hpp>
#include <coir/fft/wave_number.hpp>
#include <coir/mesh/force.hpp>

#include <cmath>
#include <cstdint>
#include <numbers>
#include <vector>

namespace coir::mesh {

namespace detail {

/// scale softening windows / K^2, and 0 for the mean.
///
/// \tparam Plain  without softening and windows
template <class T, bool Plain>
struct InverseLaplacian {
  T const* laplacian[3];
  T const* window[3];  // null if it isn't taken out
  T const* square[3];
  T scale;
  Softening softening;
  T k_nyquist, r;

  KOKKOS_FORCEINLINE_FUNCTION T softened(T k2) const {
    switch (softening) {
      case Softening::two_thirds: {
        // Modes on the border are left out, however their squares round.
        return k2 < T(4 / 9.0 * (1 - 1e-5)) * k_nyquist * k_nyquist ? T(1) : T(0);
      }
      case Softening::gaussian:
      case Softening::gadget: return math::exp(-k2 * r * r / T(2));
      case Softening::steep:
        return math::exp(T(-36) * math::pow(k2 / (k_nyquist * k_nyquist), T(18)));
      default: return T(1);
    }
  }

  KOKKOS_FORCEINLINE_FUNCTION T operator()(std::int64_t i, std::int64_t j, std::int64_t k) const {
    T const k2 = (laplacian[0][i] + laplacian[1][j]) + laplacian[2][k];
    T factor = scale / k2;
    if constexpr (!Plain) {
      if (window[0] != nullptr) factor *= window[0][i] * window[1][j] * window[2][k];
      if (softening != Softening::none)
        factor *= softened((square[0][i] + square[1][j]) + square[2][k]);
    }
    return k2 > T(0) ? factor : T(0);
  }
};

/// force = -gradient of the potential by differences of two or four points.
template <class T, int Points>
struct Differences {
  T const* potential;
  std::int64_t n[3], plane, row;
  T* force;
  T near[3], far[3];  // weights of the neighbours at distance 1 and 2

  template <class Force>
  explicit Differences(Force const& solved)
      : potential(solved.density().data()), force(solved.force().data()) {
    for (int d = 0; d < 3; ++d) {
      n[d] = solved.shape()[d];
      double const per_cell = static_cast<double>(n[d]) / solved.box();
      near[d] = static_cast<T>(Points == 2 ? per_cell / 2 : per_cell * 2 / 3);
      far[d] = static_cast<T>(Points == 2 ? 0 : -per_cell / 12);
    }
    row = 2 * (n[2] / 2 + 1);
    plane = n[1] * row;
  }

  KOKKOS_FORCEINLINE_FUNCTION std::int64_t around(std::int64_t i, int d) const {
    return i < 0 ? (i + 2 * n[d]) % n[d] : i >= n[d] ? i % n[d] : i;
  }

  KOKKOS_FUNCTION void operator()(std::int64_t i, std::int64_t j, std::int64_t k) const {
    T* const to = force + ((i * n[1] + j) * n[2] + k) * 3;
    if (i >= 2 && i < n[0] - 2 && j >= 2 && j < n[1] - 2 && k >= 2 && k < n[2] - 2) {
      T const* const at = potential + i * plane + j * row + k;
      auto const slope = [&](int d, std::int64_t s) {
        T const narrow = near[d] * (at[-s] - at[s]);
        return Points == 2 ? narrow : narrow + far[d] * (at[-2 * s] - at[2 * s]);
      };
      to[0] = slope(0, plane);
      to[1] = slope(1, row);
      to[2] = slope(2, 1);
      return;
    }
    T const* const here = potential + i * plane + j * row;
    auto const along = [&](int d, std::int64_t at, std::int64_t stride, T const* line) {
      T const slope =
          near[d] * (line[around(at - 1, d) * stride] - line[around(at + 1, d) * stride]);
      if constexpr (Points == 2) return slope;
      return slope + far[d] * (line[around(at - 2, d) * stride] - line[around(at + 2, d) * stride]);
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
      int const shift = s < 2 ? s - 2 : s - 1;
      x[s] = potential + around(i + shift, 0) * plane + j * row;
      y[s] = potential + i * plane + around(j + shift, 1) * row;
    }
    between(here, x, y, first, last, force + (i * n[1] + j) * n[2] * 3);
    for (std::int64_t k = last; k < end; ++k) (*this)(i, j, k);
  }

 private:
  void between(T const* here, T const* const (&x)[4], T const* const (&y)[4], std::int64_t first,
               std::int64_t last, T* to) const {
    T const *const x0 = x[0], *const x1 = x[1], *const x2 = x[2], *const x3 = x[3];
    T const *const y0 = y[0], *const y1 = y[1], *const y2 = y[2], *const y3 = y[3];
    T const nx = near[0], ny = near[1], nz = near[2], fx = far[0], fy = far[1], fz = far[2];
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
    for_each("coir::mesh::force/differences", exec,
             coir::box<3, std::int64_t>({body.n[0], body.n[1], body.n[2]}), body);
  else
    DifferencesInBlocks<T, Points>::run("coir::mesh::force/differences", exec, body);
}

/// component = -i k_d spectrum, without the Nyquist plane of axis d.
template <class T>
struct SpectralSlope {
  Kokkos::complex<T> const* spectrum;
  Kokkos::complex<T>* component;
  std::int64_t n[3];
  int d;
  T unit;

  KOKKOS_FUNCTION void operator()(std::int64_t i, std::int64_t j, std::int64_t k) const {
    std::int64_t const index = d == 0 ? i : d == 1 ? j : k, extent = n[d];
    std::int64_t const at = (i * n[1] + j) * (n[2] / 2 + 1) + k;
    T const q = 2 * index == extent ? T(0) : unit * static_cast<T>(fft::wave_number(index, extent));
    auto const s = spectrum[at];
    component[at] = Kokkos::complex<T>(q * s.imag(), -q * s.real());
  }
};

/// force(:, d) = component.
template <class T>
struct StoreComponent {
  T const* component;
  std::int64_t n[3], row;
  T* force;
  int d;

  KOKKOS_FUNCTION void operator()(std::int64_t i, std::int64_t j, std::int64_t k) const {
    force[((i * n[1] + j) * n[2] + k) * 3 + d] = component[(i * n[1] + j) * row + k];
  }
};

}  // namespace detail

template <ExecutionSpace Exec, Real T>
std::int64_t Force<Exec, T>::bytes(Exec const& exec, Shape<3> const& shape,
                                   ForceOptions const& options) {
  std::int64_t const spectrum = shape[0] * shape[1] * (shape[2] / 2 + 1) *
                                static_cast<std::int64_t>(sizeof(Kokkos::complex<T>));
  std::int64_t const force = 3 * size_of(shape) * static_cast<std::int64_t>(sizeof(T));
  fft::PlanOptions const plan{.in_place = true, .effort = options.effort};
  return (gradient_points(options.kernel) == 0 ? 2 : 1) * spectrum + force +
         fft::RealPlan<Exec, T, 3>::work_bytes(exec, shape, 1, plan);
}

template <ExecutionSpace Exec, Real T>
Force<Exec, T>::Force(Exec const& exec, Shape<3> const& shape, double box,
                      ForceOptions const& options)
    : exec_(exec),
      shape_(shape),
      box_(box),
      options_(options),
      // Planning takes long, too.
      plan_((expects(box > 0 && std::isfinite(box), "the box length must be positive and finite",
                     box),
             expects_memory<Space>(bytes(exec, shape, options),
                                   "the force on a mesh of " + in_words(shape) + " cells"),
             exec),
            shape, 1, {.in_place = true, .effort = options.effort}) {
  spectrum_ = Spectrum(Kokkos::view_alloc(Kokkos::WithoutInitializing, "coir::mesh::force/density"),
                       shape[0], shape[1], shape[2] / 2 + 1);
  if constexpr (runs_on_host<Exec>)
    ask_for_large_pages(spectrum_.data(),
                        static_cast<std::int64_t>(spectrum_.size() * sizeof(Kokkos::complex<T>)));
  if (gradient_points(options.kernel) == 0)
    component_ = fft::allocate_in_place<T, Space>("coir::mesh::force/component", shape);
  force_ = Vectors(Kokkos::view_alloc(Kokkos::WithoutInitializing, "coir::mesh::force/force"),
                   shape[0], shape[1], shape[2], 3);
  if constexpr (runs_on_host<Exec>) {
    ask_for_large_pages(force_.data(), 3 * size_of(shape) * static_cast<std::int64_t>(sizeof(T)));
    // Memory comes from the system when it is written first: here rather than in the first step.
    Kokkos::deep_copy(exec, spectrum_, Kokkos::complex<T>(0));
    Kokkos::deep_copy(exec, force_, T(0));
  }

  auto const to_device = [](std::vector<T> const& values) {
    Factors const factors(
        Kokkos::view_alloc(Kokkos::WithoutInitializing, "coir::mesh::force/factors"),
        values.size());
    Kokkos::View<T const*, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>> const host(
        values.data(), values.size());
    Kokkos::deep_copy(factors, host);
    return factors;
  };
  auto const sinc = [](double x) { return x == 0 ? 1 : std::sin(x) / x; };
  for (int d = 0; d < 3; ++d) {
    std::int64_t const n = shape[d], waves = d == 2 ? n / 2 + 1 : n;
    std::vector<T> laplacian, window, square;
    for (std::int64_t i = 0; i < waves; ++i) {
      double const k = 2 * std::numbers::pi * static_cast<double>(fft::wave_number(i, n)) / box;
      double const w = k * box / static_cast<double>(n), half = sinc(w / 2), whole = sinc(w);
      int const points = laplacian_points(options.kernel);
      square.push_back(static_cast<T>(k * k));
      laplacian.push_back(
          static_cast<T>(k * k *
                         (points == 0   ? 1
                          : points == 3 ? half * half
                                        : 4.0 / 3.0 * half * half - whole * whole / 3.0)));
      window.push_back(static_cast<T>(1 / (half * half * half * half)));
    }
    laplacian_[d] = to_device(laplacian);
    square_[d] = to_device(square);
    if (compensates_window(options.kernel)) window_[d] = to_device(window);
  }
}

template <ExecutionSpace Exec, Real T>
template <bool Plain>
auto Force<Exec, T>::inverse_laplacian(double scale) const {
  double const cells = static_cast<double>(size_of(shape_));
  double const cell = box_ / static_cast<double>(shape_[0]);
  detail::InverseLaplacian<T, Plain> inverse{
      {},
      {},
      {},
      static_cast<T>(-scale / cells),
      options_.softening,
      static_cast<T>(std::numbers::pi / cell),
      static_cast<T>(cell *
                     (options_.softening == Softening::gadget ? 1.25 * std::sqrt(2.0) : 1.0))};
  for (int d = 0; d < 3; ++d) {
    inverse.laplacian[d] = laplacian_[d].data();
    inverse.window[d] = window_[d].data();
    inverse.square[d] = square_[d].data();
  }
  return inverse;
}

template <ExecutionSpace Exec, Real T>
void Force<Exec, T>::solve(double scale) {
  if (gradient_points(options_.kernel) == 0) {
    plan_.forward(density(), spectrum_);
    fft::multiply_modes(exec_, spectrum_, inverse_laplacian<false>(scale));
    return differentiate_spectrum();
  }
  if (window_[0].data() == nullptr && options_.softening == Softening::none)
    plan_.filter(density(), spectrum_, inverse_laplacian<true>(scale));
  else
    plan_.filter(density(), spectrum_, inverse_laplacian<false>(scale));
  if (gradient_points(options_.kernel) == 2)
    detail::find_differences(exec_, detail::Differences<T, 2>(*this));
  else
    detail::find_differences(exec_, detail::Differences<T, 4>(*this));
}

template <ExecutionSpace Exec, Real T>
void Force<Exec, T>::differentiate_spectrum() {
  auto const half = coir::box<3, std::int64_t>({shape_[0], shape_[1], shape_[2] / 2 + 1});
  auto const all = coir::box<3, std::int64_t>({shape_[0], shape_[1], shape_[2]});
  auto const field = fft::real_view_of(component_, shape_[2]);
  for (int d = 0; d < 3; ++d) {
    for_each("coir::mesh::force/slope", exec_, half,
             detail::SpectralSlope<T>{spectrum_.data(),
                                      component_.data(),
                                      {shape_[0], shape_[1], shape_[2]},
                                      d,
                                      static_cast<T>(2 * std::numbers::pi / box_)});
    plan_.backward(component_, field);
    for_each("coir::mesh::force/store", exec_, all,
             detail::StoreComponent<T>{field.data(),
                                       {shape_[0], shape_[1], shape_[2]},
                                       2 * (shape_[2] / 2 + 1),
                                       force_.data(),
                                       d});
  }
}

}  // namespace coir::mesh

#define COIR_INSTANTIATE_FORCE(Exec) \
  template class Force<Exec, float>; \
  template class Force<Exec, double>;
