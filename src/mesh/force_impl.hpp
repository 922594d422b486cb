#pragma once

/// \file
/// The kernels of force.hpp, for one execution space.

#include "differences.hpp"
#include "divergence.hpp"
#include "force_factors.hpp"

#include <coir/core/contiguous.hpp>
#include <coir/core/copy_to.hpp>
#include <coir/core/loops.hpp>
#include <coir/core/math.hpp>
#include <coir/core/memory.hpp>
#include <coir/core/overlap.hpp>
#include <coir/distributed/together.hpp>
#include <coir/fft/wave_number.hpp>
#include <coir/mesh/detail/checks.hpp>
#include <coir/mesh/force.hpp>
#include <coir/mesh/transform_bytes.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <string>
#include <type_traits>
#include <vector>

namespace coir::mesh {

namespace detail {

/// Calls f with the points of a kernel's differences as a compile-time constant.
///
/// \pre the gradient isn't spectral
template <class F>
void with_points(ForceKernel kernel, F const& f) {
  if (gradient_points(kernel) == 2)
    f(std::integral_constant<int, 2>{});
  else
    f(std::integral_constant<int, 4>{});
}

/// scale * softening * window / K^2 for each mode, and 0 for the mean.
///
/// \tparam Plain  without softening and window
template <class T, bool Plain>
struct InverseLaplacian {
  T const* laplacian[3];
  T const* window[3];  // 1 / the window's square along each axis, or null
  T const* square[3];
  T scale;
  Softening softening;
  T k_nyquist, r;

  KOKKOS_FORCEINLINE_FUNCTION T softened(T k2) const {
    switch (softening) {
      case Softening::two_thirds: {
        // Modes on the border are left out, whichever way their squares round.
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

/// component = -i k_d spectrum, without the Nyquist plane of axis d.
template <class T>
struct SpectralSlope {
  static constexpr bool reads_no_neighbours = true;
  Kokkos::complex<T> const* spectrum;
  Kokkos::complex<T>* component;
  std::int64_t n[3];
  distributed::Share rows;  // of the spectrum, on this rank
  int d;
  T unit;

  KOKKOS_FUNCTION void operator()(std::int64_t i, std::int64_t j, std::int64_t k) const {
    std::int64_t const index = d == 0 ? i : d == 1 ? rows.first + j : k, extent = n[d];
    std::int64_t const at = (i * rows.count + j) * (n[2] / 2 + 1) + k;
    T const q = 2 * index == extent ? T(0) : unit * static_cast<T>(fft::wave_number(index, extent));
    auto const s = spectrum[at];
    component[at] = Kokkos::complex<T>(q * s.imag(), -q * s.real());
  }
};

/// component = force(:, d).
template <class T>
struct LoadComponent {
  static constexpr bool reads_no_neighbours = true;
  T const* force;
  std::int64_t n[3], row;
  T* component;
  int d;

  KOKKOS_FUNCTION void operator()(std::int64_t i, std::int64_t j, std::int64_t k) const {
    component[(i * n[1] + j) * row + k] = force[((i * n[1] + j) * n[2] + k) * 3 + d];
  }
};

/// component = unit whole, for whole numbers without gaps.
template <class T>
struct LoadWholeNumbers {
  static constexpr bool reads_no_neighbours = true;
  std::int64_t const* whole;
  double unit;
  std::int64_t n[3], row;
  T* component;

  KOKKOS_FUNCTION void operator()(std::int64_t i, std::int64_t j, std::int64_t k) const {
    component[(i * n[1] + j) * row + k] =
        static_cast<T>(unit * static_cast<double>(whole[(i * n[1] + j) * n[2] + k]));
  }
};

/// The adjoint of SpectralSlope: mesh += i k_d component, and for the first component mesh = i k_d component.
template <class T>
struct AddSpectralSlope {
  static constexpr bool reads_no_neighbours = true;
  Kokkos::complex<T> const* component;
  Kokkos::complex<T>* mesh;
  std::int64_t n[3];
  int d;
  T unit;

  KOKKOS_FUNCTION void operator()(std::int64_t i, std::int64_t j, std::int64_t k) const {
    std::int64_t const index = d == 0 ? i : d == 1 ? j : k, extent = n[d];
    std::int64_t const at = (i * n[1] + j) * (n[2] / 2 + 1) + k;
    T const q = 2 * index == extent ? T(0) : unit * static_cast<T>(fft::wave_number(index, extent));
    auto const c = component[at];
    T const re = -q * c.imag(), im = q * c.real();
    mesh[at] = d == 0 ? Kokkos::complex<T>(re, im)
                      : Kokkos::complex<T>(mesh[at].real() + re, mesh[at].imag() + im);
  }
};

/// A factor for some rows of a spectrum, the first of which is row `first` of the whole spectrum.
template <class Factor>
struct FactorOfRows {
  Factor factor;
  std::int64_t first;
  KOKKOS_FORCEINLINE_FUNCTION auto operator()(std::int64_t i, std::int64_t j,
                                              std::int64_t k) const {
    return factor(i, first + j, k);
  }
};

/// force(:, d) = component.
template <class T>
struct StoreComponent {
  static constexpr bool reads_no_neighbours = true;
  T const* component;
  std::int64_t n[3], row;
  T* force;
  int d;

  KOKKOS_FUNCTION void operator()(std::int64_t i, std::int64_t j, std::int64_t k) const {
    force[((i * n[1] + j) * n[2] + k) * 3 + d] = component[(i * n[1] + j) * row + k];
  }
};

/// With Effort::estimate bits don't depend on the run: then they shouldn't depend on the number of ranks either.
inline fft::PlanOptions force_plan_options(ForceOptions const& options) {
  return {.in_place = true,
          .effort = options.effort,
          .by_planes = options.effort == fft::Effort::estimate};
}

/// Offsets and sizes of a Force's meshes in its memory, in numbers of type T.
struct ForceLayout {
  std::int64_t potential = 0;  ///< where it begins
  std::int64_t size = 0;       ///< of vectors and potential together
  std::int64_t copy = 0;       ///< numbers of the copied planes, see PotentialInVectors
  std::int64_t component = 0;  ///< numbers of a component of a spectral gradient

  ForceLayout(Shape<3> const& shape, ForceOptions const& options) {
    PotentialInVectors const both{shape};
    std::int64_t const mesh = shape[0] * both.plane();
    bool const spectral = gradient_points(options.kernel) == 0;
    if (spectral) {
      component = mesh;
      potential = options.vectors ? (both.vectors() + 63) / 64 * 64 : 0;
      size = potential + mesh;
    } else if (options.vectors) {
      potential = both.offset();
      size = both.size();
      copy = both.copy_size();
    } else {
      size = mesh;
    }
  }
};

/// Offsets and sizes of the meshes on one of several ranks. The potential's own planes are as well aligned as the vectors.
struct ForceLayoutOfRank {
  PotentialInWindow both;
  std::int64_t workspace = 0;  ///< where the spectrum's rows lie
  std::int64_t potential = 0;  ///< where the first plane held begins
  std::int64_t size = 0;
  std::int64_t copy = 0;
  std::int64_t component = 0;  ///< numbers of a component's rows of a spectrum

  ForceLayoutOfRank(distributed::Group const& group, Shape<3> const& shape,
                    GhostWidths const& touched, ForceOptions const& options) {
    auto const rows = distributed::share_of(shape[1], group.rank(), group.size());
    auto const own = distributed::share_of(shape[0], group.rank(), group.size());
    int const reach = gradient_points(options.kernel) / 2;
    both.shape = shape;
    both.reach = reach;
    both.planes = own.count + touched.below + touched.above;
    std::int64_t const before = (touched.below + reach) * both.plane();
    std::int64_t const spectrum = shape[0] * rows.count * both.row();
    std::int64_t const held = both.held() * both.plane();
    auto const aligned = [](std::int64_t at) { return (at + 63) / 64 * 64; };
    bool const spectral = reach == 0;
    // Where there are vectors, the workspace is free before they are made, but not with a spectral gradient.
    bool const shared = options.vectors && !spectral;
    std::int64_t const least = shared            ? std::max(both.vectors() - held, spectrum)
                               : options.vectors ? both.vectors()
                                                 : std::int64_t(0);
    potential = aligned(std::max<std::int64_t>(least, 0) + before) - before;
    size = potential + held;
    if (shared) {
      size = std::max(size, both.vectors());
      copy = both.copy_size();
    } else {
      workspace = aligned(size);
      size = workspace + spectrum;
    }
    size = std::max(size, (options.vectors ? 3 : 1) * options.least_capacity);
    if (spectral) component = spectrum;
    both.offset = potential;
  }
  std::int64_t numbers() const { return size + copy + component; }
};

/// Checks the arguments of a force over ranks. Collective.
///
/// \throws PreconditionError on all ranks if an argument is out of its range on one, or differs between ranks
inline void expects_force_over_ranks(distributed::Group const& group, Shape<3> const& shape,
                                     double box, GhostWidths const& touched,
                                     ForceOptions const& options) {
  distributed::together(group, [&] {
    expects_box(box);
    for (std::int64_t const extent : shape)
      expects(extent >= 1, "a mesh must have at least one cell along each axis", extent);
    expects_widths(touched);
  });
  distributed::expects_alike(group, {{"number of cells along axis 0", shape[0]},
                                     {"number of cells along axis 1", shape[1]},
                                     {"number of cells along axis 2", shape[2]},
                                     {"box length", box},
                                     {"number of ghost planes below", touched.below},
                                     {"number of ghost planes above", touched.above},
                                     {"kernel", name_of(options.kernel)},
                                     {"softening", name_of(options.softening)},
                                     {"force source", options.vectors ? "vectors" : "potential"}});
}

}  // namespace detail

template <CompiledSpace Exec, Real T>
std::int64_t Force<Exec, T>::bytes(Exec const& exec, distributed::Group const& group,
                                   Shape<3> const& shape, GhostWidths const& touched,
                                   ForceOptions const& options) {
  detail::ForceLayoutOfRank const layout(group, shape, touched, options);
  std::int64_t const ghosts =
      GhostPlanes<Exec>(group, shape[0], touched).ghosts_of_own() * layout.both.plane();
  return (layout.numbers() + ghosts) * static_cast<std::int64_t>(sizeof(T)) +
         transform_bytes<Exec, T>(exec, group, shape, {.effort = options.effort});
}

template <CompiledSpace Exec, Real T>
std::int64_t Force<Exec, T>::bytes(Exec const& exec, Shape<3> const& shape,
                                   ForceOptions const& options) {
  detail::ForceLayout const layout(shape, options);
  auto const plan = detail::force_plan_options(options);
  return (layout.size + layout.copy + layout.component) * static_cast<std::int64_t>(sizeof(T)) +
         Plan::work_bytes(exec, shape, 1, plan);
}

/// Validates before costly planning and allocations.
template <CompiledSpace Exec, Real T>
auto Force<Exec, T>::checked_plan(Exec const& exec, Shape<3> const& shape, double box,
                                  ForceOptions const& options) -> Plan {
  detail::expects_box(box);
  expects_memory<Space>(bytes(exec, shape, options),
                        "the force on a mesh of " + in_words(shape) + " cells");
  return Plan(exec, shape, 1, detail::force_plan_options(options));
}

/// Allocates the meshes, and scratch for copied planes, in numbers of type T.
template <CompiledSpace Exec, Real T>
void Force<Exec, T>::allocate(std::int64_t size, std::int64_t copy) {
  auto const numbers = [](std::string const& label, std::int64_t count) {
    return Numbers(Kokkos::view_alloc(Kokkos::WithoutInitializing, label),
                   static_cast<std::size_t>(count));
  };
  memory_ = numbers("coir::mesh::force/meshes", size);
  copy_ = numbers("coir::mesh::force/copy", copy);
  if constexpr (runs_on_host<Exec>)
    ask_for_large_pages(memory_.data(), size * static_cast<std::int64_t>(sizeof(T)));
}

template <CompiledSpace Exec, Real T>
Force<Exec, T>::Force(Exec const& exec, Shape<3> const& shape, double box,
                      ForceOptions const& options)
    : exec_(exec),
      shape_(shape),
      box_(box),
      options_(options),
      plan_(checked_plan(exec, shape, box, options)) {
  detail::ForceLayout const layout(shape, options);
  allocate(layout.size, layout.copy);
  if (layout.component > 0)
    component_ = fft::allocate_in_place<T, Space>("coir::mesh::force/component", shape);
  // The system allocates a host's pages when they are first written to: this is done now, not in the first step.
  if constexpr (runs_on_host<Exec>) set_to_zero(exec, memory_);
  spectrum_ = Spectrum(reinterpret_cast<Kokkos::complex<T>*>(memory_.data() + layout.potential),
                       shape[0], shape[1], shape[2] / 2 + 1);
  held_ = spectrum_;
  if (options.vectors) force_ = Vectors(memory_.data(), shape[0], shape[1], shape[2], 3);
  make_factors();
}

template <CompiledSpace Exec, Real T>
Force<Exec, T>::Force(Exec const& exec, distributed::Group const& group, Shape<3> const& shape,
                      double box, GhostWidths const& touched, ForceOptions const& options)
    : exec_(exec), shape_(shape), box_(box), options_(options) {
  detail::expects_force_over_ranks(group, shape, box, touched, options);
  GhostPlanes<Exec> const painted(group, shape[0], touched);
  GhostPlanes<Exec> const potential(group, shape[0],
                                    touched.widened(gradient_points(options.kernel) / 2));
  fft::PlanOptions plan;
  plan.effort = options.effort;
  fft::RealSlab<Exec, T> const slab(exec, group, shape, plan);
  detail::ForceLayoutOfRank const layout(group, shape, touched, options);
  distributed::together(group, [&] {
    expects_memory<Space>(
        layout.numbers() * static_cast<std::int64_t>(sizeof(T)),
        "this rank's part of the force on a mesh of " + in_words(shape) + " cells");
    allocate(layout.size, layout.copy);
    if (gradient_points(options.kernel) == 0)  // empty on a rank without rows
      component_ = decltype(component_)(
          Kokkos::view_alloc(Kokkos::WithoutInitializing, "coir::mesh::force/component"),
          static_cast<std::size_t>(shape[0]), static_cast<std::size_t>(slab.rows().count),
          static_cast<std::size_t>(shape[2] / 2 + 1));
    // Ghost planes travel with the gaps between their rows, so these are set, too.
    set_to_zero(exec, memory_);
    make_factors();
  });
  auto const spectrum_at = [&](std::int64_t at, std::int64_t n0, std::int64_t n1) {
    return Spectrum(reinterpret_cast<Kokkos::complex<T>*>(memory_.data() + at),
                    static_cast<std::size_t>(n0), static_cast<std::size_t>(n1),
                    static_cast<std::size_t>(shape[2] / 2 + 1));
  };
  std::int64_t const plane = layout.both.plane();
  held_ = spectrum_at(layout.potential + layout.both.reach * plane, painted.held(), shape[1]);
  spectrum_ = spectrum_at(layout.potential + potential.widths().below * plane, painted.own().count,
                          shape[1]);
  if (options.vectors)
    force_ =
        Vectors(memory_.data(), static_cast<std::size_t>(painted.held()), shape[1], shape[2], 3);
  ranks_.emplace(OverRanks{slab, painted, potential,
                           spectrum_at(layout.workspace, shape[0], slab.rows().count),
                           memory_.data() + layout.potential});
}

template <CompiledSpace Exec, Real T>
void Force<Exec, T>::make_factors() {
  auto const copy_of = [](std::vector<double> const& factors) {
    return copy_to<Space>("coir::mesh::force/factors",
                          std::vector<T>(factors.begin(), factors.end()));
  };
  for (int d = 0; d < 3; ++d) {
    auto const factors = detail::force_factors(shape_[d], d == 2 ? shape_[d] / 2 + 1 : shape_[d],
                                               box_, options_.kernel);
    laplacian_[d] = copy_of(factors.laplacian);
    square_[d] = copy_of(factors.square);
    if (compensates_window(options_.kernel)) window_[d] = copy_of(factors.window);
  }
}

template <CompiledSpace Exec, Real T>
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

template <CompiledSpace Exec, Real T>
GhostPlanes<Exec>& Force<Exec, T>::ghosts() {
  expects(ranks_.has_value(), "ghost planes are those of a force over ranks");
  return ranks_->painted;
}

template <CompiledSpace Exec, Real T>
CellsWindow<T const> Force<Exec, T>::force_window() const {
  expects(ranks_ && options_.vectors, "a window is that of a force over ranks, with vectors");
  return read_only(window_of(force_, ranks_->painted.first(), shape_[0]));
}

template <CompiledSpace Exec, Real T>
CellsWindow<T const> Force<Exec, T>::potential_window() const {
  expects(ranks_ && !options_.vectors,
          "a potential's window is that of a force over ranks, without vectors");
  auto const& ghosts = ranks_->potential;
  Spectrum const all(reinterpret_cast<Kokkos::complex<T>*>(ranks_->planes),
                     static_cast<std::size_t>(ghosts.held()), shape_[1], shape_[2] / 2 + 1);
  return read_only(window_of(fft::real_view_of(all, shape_[2]), ghosts.first(), shape_[0]));
}

template <CompiledSpace Exec, Real T>
CellsWindow<T const> Force<Exec, T>::component_window(int d) const {
  expects(ranks_.has_value(), "a window is that of a force over ranks");
  return read_only(window_of(component(d), ranks_->painted.first(), shape_[0]));
}

template <CompiledSpace Exec, Real T>
void Force<Exec, T>::solve_on_ranks(double scale) {
  auto const& [slab, painted, potential, workspace, planes] = *ranks_;
  if (gradient_points(options_.kernel) == 0) {
    slab.forward(spectrum_, workspace);
    auto const inverse = inverse_laplacian<false>(scale);
    if (slab.rows().count > 0)
      fft::multiply_modes(exec_, workspace,
                          detail::FactorOfRows<decltype(inverse)>{inverse, slab.rows().first});
    if (options_.vectors) store_components();
    return;
  }
  if (window_[0].data() == nullptr && options_.softening == Softening::none)
    slab.filter(spectrum_, workspace, inverse_laplacian<true>(scale));
  else
    slab.filter(spectrum_, workspace, inverse_laplacian<false>(scale));
  detail::PotentialInWindow both;
  both.shape = shape_;
  both.planes = painted.held();
  both.reach = gradient_points(options_.kernel) / 2;
  both.offset = planes - memory_.data();
  potential.fill(exec_, planes, both.plane(), both.plane());
  if (!options_.vectors) return;
  detail::with_points(options_.kernel, [&]<int points>(std::integral_constant<int, points>) {
    both.template make_vectors<points>(exec_, memory_.data(), copy_.data(), box_);
  });
}

template <CompiledSpace Exec, Real T>
void Force<Exec, T>::solve(double scale) {
  if (ranks_) return solve_on_ranks(scale);
  find_potential(scale);
  find_vectors();
}

/// On one rank: computes the potential in the memory of the density, or its spectrum if the gradient is spectral.
template <CompiledSpace Exec, Real T>
void Force<Exec, T>::find_potential(double scale) {
  if (gradient_points(options_.kernel) == 0) {
    plan_->forward(density(), spectrum_);
    fft::multiply_modes(exec_, spectrum_, inverse_laplacian<false>(scale));
  } else if (window_[0].data() == nullptr && options_.softening == Softening::none) {
    plan_->filter(density(), spectrum_, inverse_laplacian<true>(scale));
  } else {
    plan_->filter(density(), spectrum_, inverse_laplacian<false>(scale));
  }
}

template <CompiledSpace Exec, Real T>
void Force<Exec, T>::find_vectors() {
  if (!options_.vectors) return;
  if (gradient_points(options_.kernel) == 0) return store_components();
  detail::PotentialInVectors const both{shape_};
  detail::with_points(options_.kernel, [&]<int points>(std::integral_constant<int, points>) {
    both.template make_vectors<points>(exec_, memory_.data(), copy_.data(), box_);
  });
}

/// On one rank: checks that a caller's mesh has the spectrum's shape, and memory of its own.
template <CompiledSpace Exec, Real T>
void Force<Exec, T>::expects_own_spectrum(Spectrum const& mesh, char const* what) const {
  for (unsigned d = 0; d < 3; ++d)
    expects(mesh.extent(d) == spectrum_.extent(d),
            std::string(what) + " must have the spectrum's " + std::to_string(spectrum_.extent(d)) +
                " modes along axis " + std::to_string(d),
            static_cast<std::int64_t>(mesh.extent(d)));
  auto const bytes_of = [](auto const& view) {
    return byte_range<1>(view.data(), {static_cast<std::int64_t>(view.span())}, {1},
                         sizeof(*view.data()));
  };
  expects(!bytes_of(mesh).overlaps(bytes_of(memory_)),
          std::string(what) + " must have memory of its own, not that of the force");
}

template <CompiledSpace Exec, Real T>
void Force<Exec, T>::expects_to_keep(Spectrum const& kept) const {
  expects(!ranks_, "a potential is kept on one rank alone");
  expects_own_spectrum(kept, kept_name);
}

/// Makes the vectors from a kept potential, which isn't overwritten plane by plane as that in memory_ is.
template <CompiledSpace Exec, Real T>
void Force<Exec, T>::find_vectors_of(Spectrum const& kept) {
  if (!options_.vectors || gradient_points(options_.kernel) == 0) {
    copy_contiguous(exec_, spectrum_, kept);
    return find_vectors();
  }
  T const* const potential = fft::real_view_of(kept, shape_[2]).data();
  detail::with_points(options_.kernel, [&]<int points>(std::integral_constant<int, points>) {
    detail::find_differences(
        exec_, detail::Differences<T, points>(potential, shape_, box_, memory_.data()));
  });
}

template <CompiledSpace Exec, Real T>
void Force<Exec, T>::solve_and_keep(double scale, Spectrum const& kept) {
  expects_to_keep(kept);
  find_potential(scale);
  copy_contiguous(exec_, kept, spectrum_);
  if (gradient_points(options_.kernel) == 0)
    find_vectors();
  else if (options_.vectors)
    find_vectors_of(kept);
}

template <CompiledSpace Exec, Real T>
void Force<Exec, T>::solve_from(Spectrum const& kept) {
  expects_to_keep(kept);
  find_vectors_of(kept);
}

template <CompiledSpace Exec, Real T>
auto Force<Exec, T>::component(int d) const -> Density {
  expects(gradient_points(options_.kernel) == 0,
          "components of their own are those of spectral gradients, not of the kernel " +
              std::string(name_of(options_.kernel)));
  expects(d >= 0 && d < 3, "a component must be 0, 1 or 2", d);
  auto const rows = ranks_ ? ranks_->slab.rows() : distributed::Share{0, shape_[1]};
  for_each("coir::mesh::force/slope", exec_,
           coir::box<3, std::int64_t>({shape_[0], rows.count, shape_[2] / 2 + 1}),
           detail::SpectralSlope<T>{ranks_ ? ranks_->workspace.data() : spectrum_.data(),
                                    component_.data(),
                                    {shape_[0], shape_[1], shape_[2]},
                                    rows,
                                    d,
                                    static_cast<T>(2 * std::numbers::pi / box_)});
  if (ranks_) {
    std::int64_t const plane = shape_[1] * 2 * (shape_[2] / 2 + 1);
    ranks_->slab.backward(component_, spectrum_);
    ranks_->painted.fill(exec_, density().data(), plane, plane);
    return density();
  }
  auto const field = fft::real_view_of(component_, shape_[2]);
  plan_->backward(component_, field);
  return field;
}

template <CompiledSpace Exec, Real T>
bool Force<Exec, T>::is_finite() const {
  auto const is_finite = [](T const* data, std::size_t held, std::size_t numbers) {
    if (held < numbers) return true;
    T first[2] = {};
    copy_bytes<Kokkos::HostSpace, Space>(first, data,
                                         static_cast<std::int64_t>(numbers * sizeof(T)));
    return math::isfinite(first[0]) && math::isfinite(first[1]);
  };
  if (options_.vectors) return is_finite(force_.data(), force_.size(), 1);
  if (gradient_points(options_.kernel) > 0) return is_finite(density().data(), density().size(), 1);
  // A spectral gradient is taken of the spectrum. In the memory of density() there may be the painted numbers still.
  Spectrum const& modes = ranks_ ? ranks_->workspace : spectrum_;
  return is_finite(reinterpret_cast<T const*>(modes.data()), 2 * modes.size(), 2);
}

template <CompiledSpace Exec, Real T>
void Force<Exec, T>::store_components() {
  auto const planes = static_cast<std::int64_t>(force_.extent(0));
  auto const all = coir::box<3, std::int64_t>({planes, shape_[1], shape_[2]});
  for (int d = 0; d < 3; ++d)
    for_each("coir::mesh::force/store", exec_, all,
             detail::StoreComponent<T>{component(d).data(),
                                       {planes, shape_[1], shape_[2]},
                                       2 * (shape_[2] / 2 + 1),
                                       force_.data(),
                                       d});
}

/// mesh += i k_d times the transform of component_.
template <CompiledSpace Exec, Real T>
void Force<Exec, T>::gather(int d, Spectrum const& mesh) {
  plan_->forward(fft::real_view_of(component_, shape_[2]), component_);
  for_each("coir::mesh::force/gather", exec_,
           coir::box<3, std::int64_t>({shape_[0], shape_[1], shape_[2] / 2 + 1}),
           detail::AddSpectralSlope<T>{component_.data(),
                                       mesh.data(),
                                       {shape_[0], shape_[1], shape_[2]},
                                       d,
                                       static_cast<T>(2 * std::numbers::pi / box_)});
}

template <CompiledSpace Exec, Real T>
void Force<Exec, T>::gather_components(Spectrum const& mesh) {
  for (int d = 0; d < 3; ++d) {
    for_each("coir::mesh::force/load", exec_,
             coir::box<3, std::int64_t>({shape_[0], shape_[1], shape_[2]}),
             detail::LoadComponent<T>{force_.data(),
                                      {shape_[0], shape_[1], shape_[2]},
                                      2 * (shape_[2] / 2 + 1),
                                      fft::real_view_of(component_, shape_[2]).data(),
                                      d});
    gather(d, mesh);
  }
}

template <CompiledSpace Exec, Real T>
void Force<Exec, T>::expects_to_pull_back(Spectrum const& mesh) const {
  expects(options_.vectors, "the adjoint of a force needs a mesh of forces: set options.vectors");
  expects(!ranks_, "the adjoint of a force is there on one rank alone");
  expects_own_spectrum(mesh, adjoint_name);
}

template <CompiledSpace Exec, Real T>
auto Force<Exec, T>::adjoint(double scale, Spectrum const& mesh) -> Density {
  expects_to_pull_back(mesh);
  T* const to = fft::real_view_of(mesh, shape_[2]).data();
  if (gradient_points(options_.kernel) == 0)
    gather_components(mesh);
  else
    detail::with_points(options_.kernel, [&]<int points>(std::integral_constant<int, points>) {
      detail::find_divergence<points>(exec_, force_.data(), shape_, box_, to);
    });
  return adjoint_of_sum(scale, mesh);
}

template <CompiledSpace Exec, Real T>
void Force<Exec, T>::add_to_adjoint(int d, std::int64_t const* component, double unit,
                                    Spectrum const& mesh) {
  expects_to_pull_back(mesh);
  expects(d >= 0 && d < 3, "a component must be 0, 1 or 2", d);
  auto const all = coir::box<3, std::int64_t>({shape_[0], shape_[1], shape_[2]});
  std::int64_t const row = 2 * (shape_[2] / 2 + 1);
  int const points = gradient_points(options_.kernel);
  if (points == 0) {
    for_each("coir::mesh::force/load", exec_, all,
             detail::LoadWholeNumbers<T>{component,
                                         unit,
                                         {shape_[0], shape_[1], shape_[2]},
                                         row,
                                         fft::real_view_of(component_, shape_[2]).data()});
    return gather(d, mesh);
  }
  for_each("coir::mesh::force/divergence", exec_, all,
           detail::AddDifference<T>{component,
                                    unit,
                                    {shape_[0], shape_[1], shape_[2]},
                                    fft::real_view_of(mesh, shape_[2]).data(),
                                    row,
                                    d,
                                    {points, inverse_spacing(shape_[d], box_)}});
}

template <CompiledSpace Exec, Real T>
auto Force<Exec, T>::adjoint_of_sum(double scale, Spectrum const& mesh) -> Density {
  expects_to_pull_back(mesh);
  auto const field = fft::real_view_of(mesh, shape_[2]);
  if (gradient_points(options_.kernel) == 0) {
    fft::multiply_modes(exec_, mesh, inverse_laplacian<false>(scale));
    plan_->backward(mesh, field);
  } else if (window_[0].data() == nullptr && options_.softening == Softening::none) {
    plan_->filter(field, mesh, inverse_laplacian<true>(scale));
  } else {
    plan_->filter(field, mesh, inverse_laplacian<false>(scale));
  }
  return field;
}

}  // namespace coir::mesh

#define COIR_INSTANTIATE_FORCE(Exec)  \
  namespace coir::mesh {              \
  template class Force<Exec, float>;  \
  template class Force<Exec, double>; \
  }
