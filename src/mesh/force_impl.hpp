#pragma once

#include "differences.hpp"
#include "divergence.hpp"
#include "force_factors.hpp"

#include <coir/core/borrowed.hpp>
#include <coir/core/contiguous.hpp>
#include <coir/core/kept_views.hpp>
#include <coir/core/loops.hpp>
#include <coir/core/math.hpp>
#include <coir/core/memory.hpp>
#include <coir/core/overlap.hpp>
#include <coir/core/views.hpp>
#include <coir/distributed/together.hpp>
#include <coir/fft/wave_number.hpp>
#include <coir/mesh/detail/checks.hpp>
#include <coir/mesh/force.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace coir::mesh {

namespace detail {

/// The planes of the potential that a rank holds: those that particles touch and those that
/// differences reach from there.
template <class Exec>
GhostPlanes<Exec> planes_of_potential(distributed::Group const& group, Shape<3> const& shape,
                                      GhostWidths const& touched, ForceKernel kernel) {
  return {group, shape[0], widths_needed(group, touched.widened(gradient_points(kernel) / 2))};
}

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

/// component = unit whole.
template <class T>
struct LoadWholeNumbers {
  static constexpr bool reads_no_neighbours = true;
  std::int64_t const* whole;
  std::int64_t row_of_whole;
  double unit;
  std::int64_t n[3], row;
  T* component;

  KOKKOS_FUNCTION void operator()(std::int64_t i, std::int64_t j, std::int64_t k) const {
    component[(i * n[1] + j) * row + k] =
        static_cast<T>(unit * static_cast<double>(whole[(i * n[1] + j) * row_of_whole + k]));
  }
};

/// The adjoint of SpectralSlope: mesh += i k_d component, and for the first component mesh = i k_d
/// component.
template <class T>
struct AddSpectralSlope {
  static constexpr bool reads_no_neighbours = true;
  Kokkos::complex<T> const* component;
  Kokkos::complex<T>* mesh;
  std::int64_t n[3];
  distributed::Share rows;  // of the spectrum, on this rank
  int d;
  T unit;

  KOKKOS_FUNCTION void operator()(std::int64_t i, std::int64_t j, std::int64_t k) const {
    std::int64_t const index = d == 0 ? i : d == 1 ? rows.first + j : k, extent = n[d];
    std::int64_t const at = (i * rows.count + j) * (n[2] / 2 + 1) + k;
    T const q = 2 * index == extent ? T(0) : unit * static_cast<T>(fft::wave_number(index, extent));
    auto const c = component[at];
    T const re = -q * c.imag(), im = q * c.real();
    mesh[at] = d == 0 ? Kokkos::complex<T>(re, im)
                      : Kokkos::complex<T>(mesh[at].real() + re, mesh[at].imag() + im);
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

/// The planes of the potential before those that particles touch.
template <class Planes>
std::int64_t margin_of(Planes const& painted, Planes const& potential) {
  return potential.widths().below - painted.widths().below;
}

/// Where the meshes of a force lie in its memory, and their sizes, in numbers of type T. The
/// potential's own planes are as well aligned as the vectors.
struct ForceLayout {
  PotentialInVectors both;
  std::int64_t workspace = 0;  ///< where the spectrum's rows lie
  std::int64_t size = 0;
  std::int64_t copy = 0;       ///< see PotentialInVectors
  std::int64_t component = 0;  ///< numbers of a component's rows of a spectrum

  /// \param painted, potential  planes of the density and of the potential that a rank holds
  /// \param in_place            whether the spectrum lies in the memory of the potential
  template <class Planes>
  ForceLayout(Planes const& painted, Planes const& potential, Shape<3> const& shape, bool in_place,
              ForceOptions const& options) {
    auto const& group = painted.group();
    auto const rows = distributed::share_of(shape[1], group.rank(), group.size());
    both.shape = shape;
    both.reach = gradient_points(options.kernel) / 2;
    both.planes = painted.held();
    both.margin = margin_of(painted, potential);
    std::int64_t const before = potential.widths().below * both.plane(),
                       held = both.held() * both.plane(),
                       modes = shape[0] * rows.count * both.row(), spectrum = in_place ? 0 : modes;
    auto const aligned = [](std::int64_t at) { return (at + 63) / 64 * 64; };
    bool const spectral = both.reach == 0;
    // The memory of vectors is free until they are made, except with a spectral gradient.
    bool const shared = options.vectors && !spectral;
    std::int64_t const least = shared            ? std::max(both.vectors() - held, spectrum)
                               : options.vectors ? both.vectors()
                                                 : std::int64_t(0);
    both.offset = aligned(std::max<std::int64_t>(least, 0) + before) - before;
    size = both.offset + held;
    if (in_place) workspace = both.offset;
    if (shared) {
      size = std::max(size, both.vectors());
      copy = both.copy_size();
    } else if (!in_place) {
      workspace = aligned(size);
      size = workspace + spectrum;
    }
    size = std::max(size, (options.vectors ? 3 : 1) * options.least_capacity);
    // The adjoint's vectors; a component in whole numbers takes less.
    if (options.vectors) size = std::max(size, 3 * potential.held() * shape[1] * shape[2]);
    if (spectral) component = modes;
  }
  /// What the meshes take, in numbers of type T.
  template <class Space, class T>
  std::int64_t allocated() const {
    constexpr auto of_number = static_cast<std::int64_t>(sizeof(T));
    return bytes_in_large_pages<Space>(size * of_number) / of_number;
  }
};

/// Whether any bytes are those of both Views.
template <class A, class B>
bool share_memory(A const& a, B const& b) {
  auto const bytes_of = [](auto const& view) {
    return byte_range<1>(view.data(), {static_cast<std::int64_t>(view.span())}, {1},
                         sizeof(*view.data()));
  };
  return bytes_of(a).overlaps(bytes_of(b));
}

/// Checks the arguments of a force. Collective.
///
/// \throws PreconditionError on all ranks if an argument is out of its range on one, or differs
///   between ranks
inline void expects_force_to_be_made(distributed::Group const& group, Shape<3> const& shape,
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
  GhostPlanes<Exec> const painted(group, shape[0], widths_needed(group, touched));
  auto const potential = detail::planes_of_potential<Exec>(group, shape, touched, options.kernel);
  detail::ForceLayout const layout(painted, potential, shape, fft::transforms_in_place(group),
                                   options);
  std::int64_t const ghosts = painted.ghosts_of_own() * layout.both.plane();
  std::int64_t const all = layout.allocated<Space, T>() + layout.copy + layout.component;
  return (all + ghosts) * static_cast<std::int64_t>(sizeof(T)) +
         Plan::work_bytes(exec, group, shape, options.effort);
}

/// Validates before costly planning and allocations.
template <CompiledSpace Exec, Real T>
auto Force<Exec, T>::checked_plan(Exec const& exec, distributed::Group const& group,
                                  Shape<3> const& shape, double box, GhostWidths const& touched,
                                  ForceOptions const& options) -> Plan {
  detail::expects_force_to_be_made(group, shape, box, touched, options);
  distributed::together(group, [&] {
    expects_memory<Space>(bytes(exec, group, shape, touched, options),
                          "the force on a mesh of " + in_words(shape) + " cells");
  });
  return Plan(exec, group, shape, options.effort);
}

template <CompiledSpace Exec, Real T>
Force<Exec, T>::Force(Exec const& exec, distributed::Group const& group, Shape<3> const& shape,
                      double box, GhostWidths const& touched, ForceOptions const& options)
    : exec_(exec),
      shape_(shape),
      box_(box),
      options_(options),
      plan_(checked_plan(exec, group, shape, box, touched, options)),
      painted_(group, shape[0], widths_needed(group, touched)),
      potential_(detail::planes_of_potential<Exec>(group, shape, touched, options.kernel)) {
  detail::ForceLayout const layout(painted_, potential_, shape, plan_.is_in_place(), options);
  distributed::together(group, [&] {
    memory_ = kept_view<Numbers>(exec, "coir::mesh::force/meshes", layout.allocated<Space, T>());
    copy_ = kept_view<Numbers>(exec, "coir::mesh::force/copy", layout.copy);
    if (layout.both.reach == 0)  // also where this rank has no rows, so that extents fit
      component_ = decltype(component_)(
          "coir::mesh::force/component", static_cast<std::size_t>(shape[0]),
          static_cast<std::size_t>(plan_.rows().count), static_cast<std::size_t>(shape[2] / 2 + 1));
    // The system allocates a host's pages when they are first written to: now, not in the first
    // step. Zeros also fill the gaps between rows, with which ghost planes travel.
    set_to_zero(exec, memory_);
    make_factors();
  });
  auto const number = [&](std::int64_t at) {
    return reinterpret_cast<Kokkos::complex<T>*>(memory_.data() + at);
  };
  auto const& both = layout.both;
  planes_ = memory_.data() + both.offset;
  held_ = Spectrum(number(both.offset + both.margin * both.plane()),
                   static_cast<std::size_t>(painted_.held()), static_cast<std::size_t>(shape[1]),
                   static_cast<std::size_t>(shape[2] / 2 + 1));
  spectrum_ = plan_.field_in(number(both.offset + potential_.widths().below * both.plane()));
  workspace_ = plan_.spectrum_in(number(layout.workspace));
  if (options.vectors)
    force_ = Vectors(memory_.data(), static_cast<std::size_t>(painted_.held()),
                     static_cast<std::size_t>(shape[1]), static_cast<std::size_t>(shape[2]), 3);
}

template <CompiledSpace Exec, Real T>
void Force<Exec, T>::make_factors() {
  std::vector<T> all;
  std::vector<std::pair<T const**, std::size_t>> places;
  for (int d = 0; d < 3; ++d) {
    auto const add = [&](T const*& place, std::vector<double> const& factors) {
      places.emplace_back(&place, all.size());
      for (double const factor : factors) all.push_back(static_cast<T>(factor));
    };
    auto const factors = detail::force_factors(shape_[d], d == 2 ? shape_[d] / 2 + 1 : shape_[d],
                                               box_, options_.kernel);
    add(laplacian_[d], factors.laplacian);
    add(square_[d], factors.square);
    if (compensates_window(options_.kernel)) add(window_[d], factors.window);
  }
  factors_ = kept_view<Numbers>(exec_, "coir::mesh::force/factors", all.size());
  copy_contiguous(factors_, UnmanagedView<T const, 1, Kokkos::LayoutRight, Kokkos::HostSpace>(
                                all.data(), all.size()));
  for (auto const& [place, first] : places) *place = factors_.data() + first;
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
    inverse.laplacian[d] = laplacian_[d];
    inverse.window[d] = window_[d];
    inverse.square[d] = square_[d];
  }
  return inverse;
}

template <CompiledSpace Exec, Real T>
CellsWindow<T const> Force<Exec, T>::force_window() const {
  expects(options_.vectors, "a window of forces is that of a force with vectors");
  return read_only(painted_.window(force_));
}

template <CompiledSpace Exec, Real T>
CellsWindow<T const> Force<Exec, T>::potential_window() const {
  expects(!options_.vectors, "a potential's window is that of a force without vectors");
  Spectrum const all(
      reinterpret_cast<Kokkos::complex<T>*>(planes_), static_cast<std::size_t>(potential_.held()),
      static_cast<std::size_t>(shape_[1]), static_cast<std::size_t>(shape_[2] / 2 + 1));
  return read_only(potential_.window(fft::real_view_of(all, shape_[2])));
}

template <CompiledSpace Exec, Real T>
CellsWindow<T const> Force<Exec, T>::component_window(int d) const {
  return read_only(painted_.window(component(d)));
}

template <CompiledSpace Exec, Real T>
void Force<Exec, T>::solve(double scale) {
  find_potential(scale);
  find_vectors();
}

/// Applies the inverse Laplacian to a field.
template <CompiledSpace Exec, Real T>
void Force<Exec, T>::filter(Spectrum const& field, Spectrum const& workspace, double scale) const {
  if (window_[0] == nullptr && options_.softening == Softening::none)
    plan_.filter(field, workspace, inverse_laplacian<true>(scale));
  else
    plan_.filter(field, workspace, inverse_laplacian<false>(scale));
}

/// Computes the potential in the memory of the density, or its spectrum if the gradient is
/// spectral.
template <CompiledSpace Exec, Real T>
void Force<Exec, T>::find_potential(double scale) {
  if (gradient_points(options_.kernel) == 0) {
    plan_.forward(spectrum_, workspace_);
    return plan_.multiply(workspace_, inverse_laplacian<false>(scale));
  }
  filter(spectrum_, workspace_, scale);
  fill_potential();
}

template <CompiledSpace Exec, Real T>
void Force<Exec, T>::fill_potential() {
  std::int64_t const plane = shape_[1] * 2 * (shape_[2] / 2 + 1);
  potential_.fill(exec_, planes_, plane, plane);
}

template <CompiledSpace Exec, Real T>
void Force<Exec, T>::find_vectors() {
  if (!options_.vectors) return;
  if (gradient_points(options_.kernel) == 0) return store_components();
  detail::ForceLayout const layout(painted_, potential_, shape_, plan_.is_in_place(), options_);
  detail::with_points(options_.kernel, [&]<int points>(std::integral_constant<int, points>) {
    layout.both.template make_vectors<points>(exec_, memory_.data(), copy_.data(), box_);
  });
}

/// Checks that a caller's mesh has the spectrum's shape, and memory of its own.
template <CompiledSpace Exec, Real T>
void Force<Exec, T>::expects_own_spectrum(Spectrum const& mesh, Spectrum const& like,
                                          char const* what) const {
  for (unsigned d = 0; d < 3; ++d)
    expects(mesh.extent(d) == like.extent(d),
            std::string(what) + " must have the spectrum's " + std::to_string(like.extent(d)) +
                " modes along axis " + std::to_string(d),
            static_cast<std::int64_t>(mesh.extent(d)));
  expects(!detail::share_memory(mesh, memory_),
          std::string(what) + " must have memory of its own, not that of the force");
}

template <CompiledSpace Exec, Real T>
void Force<Exec, T>::expects_to_keep(Spectrum const& kept) const {
  expects_own_spectrum(kept, gradient_points(options_.kernel) == 0 ? workspace_ : spectrum_,
                       kept_name);
}

template <CompiledSpace Exec, Real T>
Shape<3> Force<Exec, T>::kept_shape() const {
  bool const spectral = gradient_points(options_.kernel) == 0;
  return {spectral ? shape_[0] : painted_.own().count, spectral ? plan_.rows().count : shape_[1],
          shape_[2]};
}

/// Makes the vectors from a kept potential, which isn't overwritten.
template <CompiledSpace Exec, Real T>
void Force<Exec, T>::find_vectors_of(Spectrum const& kept) {
  if (gradient_points(options_.kernel) == 0) {
    copy_contiguous(exec_, workspace_, kept);
    return find_vectors();
  }
  if (!options_.vectors || !plan_.is_in_place()) {
    copy_contiguous(exec_, spectrum_, kept);
    fill_potential();
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
  bool const spectral = gradient_points(options_.kernel) == 0;
  copy_contiguous(exec_, kept, spectral ? workspace_ : spectrum_);
  if (options_.vectors && !spectral && plan_.is_in_place())
    find_vectors_of(kept);
  else
    find_vectors();
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
  for_each("coir::mesh::force/slope", exec_,
           coir::box<3, std::int64_t>({shape_[0], plan_.rows().count, shape_[2] / 2 + 1}),
           detail::SpectralSlope<T>{workspace_.data(),
                                    component_.data(),
                                    {shape_[0], shape_[1], shape_[2]},
                                    plan_.rows(),
                                    d,
                                    static_cast<T>(2 * std::numbers::pi / box_)});
  Spectrum const component = component_;
  bool const in_place = plan_.is_in_place();
  plan_.backward(component, in_place ? component : spectrum_);
  auto const field = fft::real_view_of(in_place ? component : held_, shape_[2]);
  std::int64_t const plane = shape_[1] * 2 * (shape_[2] / 2 + 1);
  painted_.fill(exec_, field.data(), plane, plane);
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
  // A spectral gradient starts from the spectrum. The memory of density() may still hold painted
  // numbers.
  return is_finite(reinterpret_cast<T const*>(workspace_.data()), 2 * workspace_.size(), 2);
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

/// sum += i k_d times the transform of a field, in the memory of component_.
template <CompiledSpace Exec, Real T>
void Force<Exec, T>::gather(int d, Spectrum const& field, Spectrum const& sum) {
  Spectrum const component = component_;
  plan_.forward(field, component);
  for_each("coir::mesh::force/gather", exec_,
           coir::box<3, std::int64_t>({shape_[0], plan_.rows().count, shape_[2] / 2 + 1}),
           detail::AddSpectralSlope<T>{component.data(),
                                       sum.data(),
                                       {shape_[0], shape_[1], shape_[2]},
                                       plan_.rows(),
                                       d,
                                       static_cast<T>(2 * std::numbers::pi / box_)});
}

/// Where a component of the adjoint of a spectral gradient lies before its transform.
template <CompiledSpace Exec, Real T>
auto Force<Exec, T>::field_of_component() const -> Spectrum {
  return plan_.is_in_place() ? Spectrum(component_) : spectrum_;
}

template <CompiledSpace Exec, Real T>
void Force<Exec, T>::gather_components(Spectrum const& mesh) {
  std::int64_t const plane = 3 * shape_[1] * shape_[2], planes = painted_.own().count;
  painted_.add(exec_, force_.data(), plane, plane);
  for (int d = 0; d < 3; ++d) {
    Spectrum const field = field_of_component();
    for_each("coir::mesh::force/load", exec_,
             coir::box<3, std::int64_t>({planes, shape_[1], shape_[2]}),
             detail::LoadComponent<T>{force_.data() + painted_.widths().below * plane,
                                      {planes, shape_[1], shape_[2]},
                                      2 * (shape_[2] / 2 + 1),
                                      fft::real_view_of(field, shape_[2]).data(),
                                      d});
    gather(d, field, sum_of_components(mesh));
  }
}

template <CompiledSpace Exec, Real T>
void Force<Exec, T>::expects_to_pull_back(Spectrum const& mesh) const {
  expects(options_.vectors, "the adjoint of a force needs a mesh of forces: set options.vectors");
  Spectrum const like(mesh.data(), static_cast<std::size_t>(potential_.held()), held_.extent(1),
                      held_.extent(2));
  expects_own_spectrum(mesh, like, adjoint_name);
}

template <CompiledSpace Exec, Real T>
Shape<3> Force<Exec, T>::adjoint_shape(distributed::Group const& group, Shape<3> const& shape,
                                       GhostWidths const& touched, ForceKernel kernel) {
  return {detail::planes_of_potential<Exec>(group, shape, touched, kernel).held(), shape[1],
          shape[2]};
}

template <CompiledSpace Exec, Real T>
std::int64_t Force<Exec, T>::adjoint_bytes(distributed::Group const& group, Shape<3> const& shape,
                                           GhostWidths const& touched, ForceKernel kernel,
                                           bool whole) {
  auto const planes = detail::planes_of_potential<Exec>(group, shape, touched, kernel);
  std::int64_t const plane = shape[1] * 2 * (shape[2] / 2 + 1), ghosts = planes.ghosts_of_own();
  if (whole)
    return (numbers_of_adjoint(group, shape, touched, kernel) + ghosts * plane) *
           static_cast<std::int64_t>(sizeof(std::int64_t));
  // Ghosts of vectors come for spectral gradients; of a number a cell for differences.
  std::int64_t const components = gradient_points(kernel) == 0 ? 2 : 1;
  return (planes.held() + components * ghosts) * plane * static_cast<std::int64_t>(sizeof(T));
}

template <CompiledSpace Exec, Real T>
std::int64_t Force<Exec, T>::numbers_of_adjoint(distributed::Group const& group,
                                                Shape<3> const& shape, GhostWidths const& touched,
                                                ForceKernel kernel) {
  // One for each cell, or for a spectral gradient the memory of a T.
  std::int64_t const numbers =
      size_of(adjoint_shape(group, shape, touched, kernel)) / shape[2] * 2 * (shape[2] / 2 + 1);
  return gradient_points(kernel) == 0 ? numbers * static_cast<std::int64_t>(sizeof(T)) /
                                            static_cast<std::int64_t>(sizeof(std::int64_t))
                                      : numbers;
}

template <CompiledSpace Exec, Real T>
auto Force<Exec, T>::slopes_to_paint() const -> Vectors {
  return Vectors(
      memory_.data() + 3 * detail::margin_of(painted_, potential_) * shape_[1] * shape_[2],
      force_.extent(0), force_.extent(1), force_.extent(2), 3);
}

template <CompiledSpace Exec, Real T>
auto Force<Exec, T>::adjoint(double scale, Spectrum const& mesh) -> Density {
  expects_to_pull_back(mesh);
  if (gradient_points(options_.kernel) == 0)
    gather_components(mesh);
  else
    gather_divergence(mesh);
  return adjoint_of_sum(scale, mesh);
}

/// The divergence of this rank's vectors, whose ghosts are parts of other ranks' sums, reaches
/// farther than the vectors. What it is there goes to the owners, once for all three components.
template <CompiledSpace Exec, Real T>
void Force<Exec, T>::gather_divergence(Spectrum const& mesh) {
  // Beyond the vectors there are as many planes of zeros as differences reach.
  std::int64_t const plane = 3 * shape_[1] * shape_[2],
                     before = detail::margin_of(painted_, potential_) * plane,
                     end = before + painted_.held() * plane, all = potential_.held() * plane;
  auto const zero = [&](std::int64_t first, std::int64_t last) {
    if (first < last)
      set_to_zero(exec_, Kokkos::subview(memory_, std::pair(static_cast<std::size_t>(first),
                                                            static_cast<std::size_t>(last))));
  };
  zero(0, before);
  zero(end, all);
  T* const to = fft::real_view_of(mesh, shape_[2]).data();
  detail::with_points(options_.kernel, [&]<int points>(std::integral_constant<int, points>) {
    detail::find_divergence<points>(exec_, memory_.data(), shape_, potential_.held(), box_, to);
  });
  std::int64_t const row = 2 * (shape_[2] / 2 + 1), numbers = shape_[1] * row;
  potential_.add(exec_, to, numbers, numbers - row + shape_[2]);
}

/// Where a component is painted in whole numbers: among as many planes as those of the potential.
template <CompiledSpace Exec, Real T>
CellsWindow<std::int64_t> Force<Exec, T>::component_in(std::int64_t* numbers) const {
  using Planes = Kokkos::View<std::int64_t***, Kokkos::LayoutRight, Space,
                              Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  return painted_.window(
      Planes(numbers + detail::margin_of(painted_, potential_) * shape_[1] * shape_[2],
             static_cast<std::size_t>(painted_.held()), static_cast<std::size_t>(shape_[1]),
             static_cast<std::size_t>(shape_[2])));
}

/// The own planes of a mesh that has the potential's ghosts.
template <CompiledSpace Exec, Real T>
auto Force<Exec, T>::own_planes(Spectrum const& held) const -> Spectrum {
  return plan_.field_in(held.data() + potential_.widths().below * shape_[1] * (shape_[2] / 2 + 1));
}

/// Where the adjoint of a spectral gradient is summed up.
template <CompiledSpace Exec, Real T>
auto Force<Exec, T>::sum_of_components(Spectrum const& mesh) const -> Spectrum {
  return plan_.is_in_place() ? mesh : workspace_;
}

/// A field of this rank's own planes from whole numbers.
template <CompiledSpace Exec, Real T>
void Force<Exec, T>::load_whole_numbers(std::int64_t const* own, std::int64_t row, double unit,
                                        Spectrum const& field) const {
  auto const planes = painted_.own().count;
  for_each("coir::mesh::force/load", exec_,
           coir::box<3, std::int64_t>({planes, shape_[1], shape_[2]}),
           detail::LoadWholeNumbers<T>{own,
                                       row,
                                       unit,
                                       {planes, shape_[1], shape_[2]},
                                       2 * (shape_[2] / 2 + 1),
                                       fft::real_view_of(field, shape_[2]).data()});
}

template <CompiledSpace Exec, Real T>
void Force<Exec, T>::gather_whole_components(double unit, Spectrum const& mesh,
                                             PaintComponent const& paint) {
  std::int64_t const plane = shape_[1] * shape_[2];
  for (int d = 0; d < 3; ++d) {
    Spectrum const field = field_of_component();
    {
      Borrowed<std::int64_t, T> const numbers(memory_.data(), potential_.held() * plane);
      auto const cells = component_in(numbers.data());
      paint(d, cells);
      painted_.add(exec_, cells.data, plane, plane);
      load_whole_numbers(cells.data + painted_.widths().below * plane, shape_[2], unit, field);
    }
    gather(d, field, sum_of_components(mesh));
  }
}

/// The divergence of whole numbers as gather_divergence() computes that of vectors.
///
/// \return  the unit of the divergence
template <CompiledSpace Exec, Real T>
double Force<Exec, T>::add_whole_differences(double unit, std::int64_t* to,
                                             PaintComponent const& paint) {
  std::int64_t const plane = shape_[1] * shape_[2], row = 2 * (shape_[2] / 2 + 1),
                     held = potential_.held(), margin = detail::margin_of(painted_, potential_);
  Borrowed<std::int64_t, T> const component(memory_.data(), held * plane);
  using Numbers = Kokkos::View<std::int64_t*, Space, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  auto const beyond = static_cast<std::size_t>(margin * plane);
  if (margin > 0) {
    set_to_zero(exec_, Numbers(component.data(), beyond));
    set_to_zero(exec_, Numbers(component.data() + (held - margin) * plane, beyond));
  }
  detail::with_points(options_.kernel, [&]<int points>(std::integral_constant<int, points>) {
    using Add = detail::AddWholeDifference<points>;
    for (int d = 0; d < 3; ++d) {
      paint(d, component_in(component.data()));
      std::int64_t const first = d == 0 ? 0 : margin;  // along the others zeros stay zeros
      for_each("coir::mesh::force/divergence", exec_,
               coir::box<3, std::int64_t>({first, 0, 0}, {held - first, shape_[1], shape_[2]}),
               Add(component.data(), shape_, held, d, to));
    }
    unit *= Add::unit(shape_, box_);
  });
  potential_.add(exec_, to, shape_[1] * row, shape_[1] * row - row + shape_[2]);
  return unit;
}

template <CompiledSpace Exec, Real T>
auto Force<Exec, T>::pull_back_whole_numbers(double scale, double unit, WholeNumbers const& memory,
                                             PaintComponent const& paint) -> Density {
  std::int64_t const row = shape_[2] / 2 + 1, held = potential_.held(),
                     modes = held * shape_[1] * row;
  bool const spectral = gradient_points(options_.kernel) == 0;
  std::int64_t const needed = spectral
                                  ? modes * static_cast<std::int64_t>(sizeof(Kokkos::complex<T>)) /
                                        static_cast<std::int64_t>(sizeof(std::int64_t))
                                  : 2 * modes;
  expects(
      static_cast<std::int64_t>(memory.extent(0)) >= needed,
      "the adjoint of a force in whole numbers must have " + std::to_string(needed) + " of them",
      static_cast<std::int64_t>(memory.extent(0)));
  expects(!detail::share_memory(memory, memory_),
          "the whole numbers of a force's adjoint must not share memory with the force");
  auto const mesh = [&] {
    auto* const numbers = begin_lifetimes<T>(memory.data(), 2 * modes);
    return Spectrum(reinterpret_cast<Kokkos::complex<T>*>(numbers), static_cast<std::size_t>(held),
                    held_.extent(1), held_.extent(2));
  };
  if (spectral) {
    Spectrum const sum = mesh();
    expects_to_pull_back(sum);
    gather_whole_components(unit, sum, paint);
    return adjoint_of_sum(scale, sum);
  }
  expects_to_pull_back(mesh());
  double const of_divergence =
      add_whole_differences(unit, begin_lifetimes<std::int64_t>(memory.data(), needed), paint);
  // The field goes through the memory of a density, as its numbers may be narrower.
  load_whole_numbers(memory.data() + potential_.widths().below * shape_[1] * 2 * row, 2 * row,
                     of_divergence, spectrum_);
  filter(spectrum_, workspace_, scale);
  Spectrum const slope = mesh();
  copy_contiguous(exec_, own_planes(slope), spectrum_);
  return with_ghosts(slope);
}

template <CompiledSpace Exec, Real T>
auto Force<Exec, T>::adjoint_of_sum(double scale, Spectrum const& mesh) -> Density {
  expects_to_pull_back(mesh);
  Spectrum const own = own_planes(mesh);
  if (gradient_points(options_.kernel) == 0) {
    Spectrum const sum = sum_of_components(mesh);
    plan_.multiply(sum, inverse_laplacian<false>(scale));
    plan_.backward(sum, own);
  } else {
    filter(own, plan_.is_in_place() ? own : workspace_, scale);
  }
  return with_ghosts(mesh);
}

/// The planes that particles touch of a mesh that has the potential's.
template <CompiledSpace Exec, Real T>
auto Force<Exec, T>::with_ghosts(Spectrum const& mesh) const -> Density {
  std::int64_t const row = 2 * (shape_[2] / 2 + 1), plane = shape_[1] * row,
                     margin = detail::margin_of(painted_, potential_);
  Spectrum const touched(mesh.data() + margin * plane / 2, held_.extent(0), held_.extent(1),
                         held_.extent(2));
  auto const slope = fft::real_view_of(touched, shape_[2]);
  painted_.fill(exec_, slope.data(), plane, plane - row + shape_[2]);
  return slope;
}

}  // namespace coir::mesh

#define COIR_INSTANTIATE_FORCE(Exec)  \
  namespace coir::mesh {              \
  template class Force<Exec, float>;  \
  template class Force<Exec, double>; \
  }
