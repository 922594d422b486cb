#pragma once

/// \file
/// numpy.fft for arrays, with its names and scaling: forward transforms aren't scaled, inverse ones
/// are divided by the number of points. Plans come from the cache. RealPlan and ComplexPlan on
/// Views take fewer passes over memory.
///
/// Unlike in numpy.fft, float gives complex<float>. Integers become double. Programs that include
/// this header link coir::fft beside coir::array.

#include <coir/array/array.hpp>
#include <coir/array/creation.hpp>
#include <coir/array/functions.hpp>
#include <coir/array/joining.hpp>
#include <coir/array/operators.hpp>
#include <coir/array/roll.hpp>
#include <coir/fft/plan.hpp>

#include <array>
#include <cstdint>
#include <string>
#include <type_traits>

namespace coir::fft {

namespace detail {

/// The type that transforms of E's elements compute in: float or double.
template <class E>
using Precision = floating_t<real_t<value_t<E>>>;

/// Whether E consists of numbers. For arguments of value_and_grad use coir/autodiff/fft.hpp.
template <class E>
constexpr bool transformed() {
  constexpr bool numbers = std::is_arithmetic_v<value_t<E>> || is_complex<value_t<E>>;
  static_assert(numbers,
                "Fourier transforms take integers, real and complex numbers: those of arguments of "
                "value_and_grad are in coir/autodiff/fft.hpp");
  return numbers;
}

/// The axes of a transform: the last `Count`. As an argument it lets calls find the overloads of
/// coir/autodiff/fft.hpp, because it is in their namespace.
template <int Count>
struct LastAxes {};

/// The values as an array of T, without a copy if they are such an array.
template <class T, class E>
decltype(auto) as_array(E const& values) {
  using A = Array<T, rank_of<E>, space_like<E>>;
  if constexpr (std::is_same_v<E, A>)
    return (values);
  else
    return A(values);
}

/// Contiguous memory as a plan sees it.
template <class Space, class T, std::size_t Rank>
auto plan_view(T* data, std::int64_t batch, std::array<std::int64_t, Rank> const& shape) {
  Kokkos::LayoutRight layout;
  layout.dimension[0] = static_cast<std::size_t>(batch);
  for (std::size_t d = 0; d < Rank; ++d)
    layout.dimension[d + 1] = static_cast<std::size_t>(shape[d]);
  return UnmanagedView<T, static_cast<int>(Rank) + 1, Kokkos::LayoutRight, Space>(data, layout);
}

/// The instance of a transform. While record() records, only those on hosts have one.
template <class Space>
auto fft_instance() {
  using Exec = typename Space::execution_space;
  if constexpr (runs_on_host<Exec>)
    if (coir::detail::is_recording<Exec>()) return coir::detail::instance<Exec>();
  return default_instance<Exec>("a Fourier transform");
}

/// Runs a transform, or keeps it for the runs of a recording.
template <class Space, class Transform>
void run_transform(Transform const& transform) {
  if constexpr (runs_on_host<typename Space::execution_space>)
    coir::detail::launch_on_host(transform);
  else
    transform();
}

/// Checks what a transform's last axis must have.
inline void check_half(std::int64_t half, std::int64_t n) {
  expects(n >= 1, "the real field's last axis must have at least 1 number", n);
  expects(half == n / 2 + 1,
          "the half spectrum of rows of " + std::to_string(n) + " numbers must have " +
              std::to_string(n / 2 + 1) + " in a row (crop or pad it)",
          half);
}

template <int Axes, class E>
auto real_forward(LastAxes<Axes>, E const& x) {
  if constexpr (transformed<E>()) {
    using T = Precision<E>;
    using Space = space_like<E>;
    auto const exec = fft_instance<Space>();
    auto const& in = as_array<T>(x);
    auto half = in.shape();
    half.back() = half.back() / 2 + 1;
    Array<Kokkos::complex<T>, rank_of<E>, Space> result(half);
    Shape<Axes> shape, out_shape;
    for (int d = 0; d < Axes; ++d) {
      auto const at = static_cast<std::size_t>(d);
      shape[at] = in.extent(rank_of<E> - Axes + d);
      out_shape[at] = result.extent(rank_of<E> - Axes + d);
    }
    std::int64_t const points = size_of(shape);
    std::int64_t const batch = points == 0 ? 1 : in.size() / points;
    if (batch == 0) return result;
    RealPlan<typename Space::execution_space, T, Axes> const plan(exec, shape, batch);
    run_transform<Space>(
        [plan, from = plan_view<Space>(in.data(), batch, shape),
         to = plan_view<Space>(result.data(), batch, out_shape)] { plan.forward(from, to); });
    return result;
  } else {
    return operand(x);
  }
}

/// to[k] = scale from[-k] along the last `Axes` axes from `axis` on, for k beyond `half` along the
/// last one; with indices modulo the extents of `to`.
template <int Axes, class To, class From, class T>
void mirror_modes(To const& to, From const& from, int axis, std::int64_t half, T scale,
                  bool conjugate) {
  using coir::detail::part_along;
  std::int64_t const n = to.shape()[static_cast<std::size_t>(axis)];
  if (axis == To::rank - 1) {
    auto const target = part_along(to, axis, half, n - half);
    auto const modes = flip(part_along(from, axis, 1, n - half), axis);
    if (conjugate)
      target = scale * conj(modes);
    else
      target = scale * modes;
    return;
  }
  mirror_modes<Axes>(part_along(to, axis, 0, 1), part_along(from, axis, 0, 1), axis + 1, half,
                     scale, conjugate);
  if (n > 1)
    mirror_modes<Axes>(part_along(to, axis, 1, n - 1), flip(part_along(from, axis, 1, n - 1), axis),
                       axis + 1, half, scale, conjugate);
}

/// The transform of real numbers, half of whose modes are the conjugates of the others.
///
/// \param forward  false: backward, and divided by the number of points
template <int Axes, class E>
auto transform_of_real(LastAxes<Axes> axes, E const& x, bool forward) {
  constexpr int rank = rank_of<E>;
  auto const modes = real_forward(axes, x);
  Array<value_t<decltype(modes)>, rank, space_like<E>> result(x.shape());
  if (result.size() == 0) return result;
  using T = Precision<E>;
  std::int64_t points = 1;
  for (int d = rank - Axes; d < rank; ++d) points *= result.extent(d);
  T const scale = forward ? T(1) : T(1) / static_cast<T>(points);
  std::int64_t const half = modes.extent(rank - 1);
  auto const first = coir::detail::part_along(result.all(), rank - 1, 0, half);
  if (forward)
    first = modes;
  else
    first = scale * conj(modes);
  if (half < result.extent(rank - 1))
    mirror_modes<Axes>(result.all(), modes.all(), rank - Axes, half, scale, forward);
  return result;
}

/// A copy of x, transformed in place along its last `Axes` axes.
///
/// \param forward  false: backward, and divided by the number of points
template <int Axes, class E>
auto complex_transform(LastAxes<Axes> axes, E const& x, bool forward) {
  if constexpr (!transformed<E>()) {
    return operand(x);
  } else if constexpr (!is_complex<value_t<E>>) {
    return transform_of_real(axes, x, forward);
  } else {
    using T = Precision<E>;
    using Space = space_like<E>;
    auto const exec = fft_instance<Space>();
    Array<Kokkos::complex<T>, rank_of<E>, Space> result(x);
    Shape<Axes> shape;
    for (int d = 0; d < Axes; ++d)
      shape[static_cast<std::size_t>(d)] = result.extent(rank_of<E> - Axes + d);
    std::int64_t const points = size_of(shape);
    std::int64_t const batch = points == 0 ? 1 : result.size() / points;
    if (batch == 0) return result;
    ComplexPlan<typename Space::execution_space, T, Axes> const plan(exec, shape, batch,
                                                                     {.in_place = true});
    auto const view = plan_view<Space>(result.data(), batch, shape);
    run_transform<Space>([plan, view, forward] {
      if (forward)
        plan.forward(view, view);
      else
        plan.backward(view, view);
    });
    if (!forward) result *= T(1) / static_cast<T>(points);
    return result;
  }
}

template <int Axes, class E>
auto real_inverse(LastAxes<Axes>, E const& spectrum, std::int64_t n) {
  if constexpr (transformed<E>()) {
    using T = Precision<E>;
    using Space = space_like<E>;
    auto const exec = fft_instance<Space>();
    Array<Kokkos::complex<T>, rank_of<E>, Space> in(spectrum);  // it will be overwritten
    auto whole = in.shape();
    check_half(whole.back(), n);
    whole.back() = n;
    Array<T, rank_of<E>, Space> result(whole);
    Shape<Axes> shape, in_shape;
    for (int d = 0; d < Axes; ++d) {
      auto const at = static_cast<std::size_t>(d);
      shape[at] = result.extent(rank_of<E> - Axes + d);
      in_shape[at] = in.extent(rank_of<E> - Axes + d);
    }
    std::int64_t const points = size_of(shape);
    std::int64_t const batch = points == 0 ? 1 : result.size() / points;
    if (batch == 0) return result;
    RealPlan<typename Space::execution_space, T, Axes> const plan(exec, shape, batch);
    run_transform<Space>(
        [plan, from = plan_view<Space>(in.data(), batch, in_shape),
         to = plan_view<Space>(result.data(), batch, shape)] { plan.backward(from, to); });
    result *= T(1) / static_cast<T>(points);
    return result;
  } else {
    return operand(spectrum);
  }
}

/// index / (n spacing), where the second half of the indices is negative.
template <class T>
struct Frequency {
  std::int64_t n;
  T unit;
  KOKKOS_FORCEINLINE_FUNCTION T operator()(std::int64_t i) const {
    return static_cast<T>(i < (n + 1) / 2 ? i : i - n) * unit;
  }
};

template <class T>
T frequency_unit(std::int64_t n, T spacing) {
  expects(n >= 1, "frequencies of at least 1 sample can be named", n);
  expects(spacing != T(0), "the spacing of samples must not be 0");
  return T(1) / (static_cast<T>(n) * spacing);
}

}  // namespace detail

/// A real array or expression of at least one axis.
template <class E>
concept RealField = Expression<E> && (rank_of<E> >= 1) && !is_complex<value_t<E>>;

/// An array or expression of numbers, with at least one axis.
template <class E>
concept NumberField = Expression<E> && (rank_of<E> >= 1);

/// The transform along the last axis: sum_x f(x) exp(-2 pi i k x / n), k = 0 ... n - 1. NumPy's
/// fft.fft.
///
/// \throws PreconditionError if the last axis is empty or, as all transforms, on devices while
///   record() records
template <NumberField E>
auto fft(E const& x) {
  return complex_transform(detail::LastAxes<1>(), x, true);
}

/// The inverse of fft: sum_k F(k) exp(+2 pi i k x / n) / n. NumPy's fft.ifft.
template <NumberField E>
auto ifft(E const& spectrum) {
  return complex_transform(detail::LastAxes<1>(), spectrum, false);
}

/// fft of real numbers, for k = 0 ... n / 2: the other modes are their conjugates. NumPy's
/// fft.rfft.
template <RealField E>
auto rfft(E const& x) {
  return real_forward(detail::LastAxes<1>(), x);
}

/// The inverse of rfft. NumPy's fft.irfft.
///
/// \param n  numbers along the last axis of the result
/// \throws PreconditionError unless the spectrum's last axis has n / 2 + 1 numbers
template <NumberField E>
auto irfft(E const& spectrum, std::int64_t n) {
  return real_inverse(detail::LastAxes<1>(), spectrum, n);
}

/// The inverse of rfft for an even n: 2 (m - 1) for m numbers along the spectrum's last axis.
/// NumPy's fft.irfft.
template <NumberField E>
auto irfft(E const& spectrum) {
  return irfft(spectrum, 2 * (spectrum.shape().back() - 1));
}

/// The transform along all axes, at most 3. NumPy's fft.fftn.
template <NumberField E>
  requires OfRankAtMost<E, 3>
auto fftn(E const& x) {
  return complex_transform(detail::LastAxes<rank_of<E>>(), x, true);
}

/// The inverse of fftn. NumPy's fft.ifftn.
template <NumberField E>
  requires OfRankAtMost<E, 3>
auto ifftn(E const& spectrum) {
  return complex_transform(detail::LastAxes<rank_of<E>>(), spectrum, false);
}

/// fftn of real numbers, 0 ... n / 2 along the last axis. NumPy's fft.rfftn.
template <RealField E>
  requires OfRankAtMost<E, 3>
auto rfftn(E const& x) {
  return real_forward(detail::LastAxes<rank_of<E>>(), x);
}

/// The inverse of rfftn. NumPy's fft.irfftn.
///
/// \param n  numbers along the last axis of the result
/// \throws PreconditionError unless the spectrum's last axis has n / 2 + 1 numbers
template <NumberField E>
  requires OfRankAtMost<E, 3>
auto irfftn(E const& spectrum, std::int64_t n) {
  return real_inverse(detail::LastAxes<rank_of<E>>(), spectrum, n);
}

/// The inverse of rfftn for an even n. NumPy's fft.irfftn.
template <NumberField E>
  requires OfRankAtMost<E, 3>
auto irfftn(E const& spectrum) {
  return irfftn(spectrum, 2 * (spectrum.shape().back() - 1));
}

/// The transform along the last two axes, of each matrix of a stack. NumPy's fft.fft2.
template <NumberField E>
  requires OfRankAtLeast<E, 2>
auto fft2(E const& x) {
  return complex_transform(detail::LastAxes<2>(), x, true);
}

/// The inverse of fft2. NumPy's fft.ifft2.
template <NumberField E>
  requires OfRankAtLeast<E, 2>
auto ifft2(E const& spectrum) {
  return complex_transform(detail::LastAxes<2>(), spectrum, false);
}

/// fft2 of real numbers, 0 ... n / 2 along the last axis. NumPy's fft.rfft2.
template <RealField E>
  requires OfRankAtLeast<E, 2>
auto rfft2(E const& x) {
  return real_forward(detail::LastAxes<2>(), x);
}

/// The inverse of rfft2. NumPy's fft.irfft2.
///
/// \param n  numbers along the last axis of the result
/// \throws PreconditionError unless the spectrum's last axis has n / 2 + 1 numbers
template <NumberField E>
  requires OfRankAtLeast<E, 2>
auto irfft2(E const& spectrum, std::int64_t n) {
  return real_inverse(detail::LastAxes<2>(), spectrum, n);
}

/// The inverse of rfft2 for an even n. NumPy's fft.irfft2.
template <NumberField E>
  requires OfRankAtLeast<E, 2>
auto irfft2(E const& spectrum) {
  return irfft2(spectrum, 2 * (spectrum.shape().back() - 1));
}

/// The frequencies that fft gives, in cycles per unit of `spacing`: 0, 1, ..., -2, -1 over n
/// spacing. NumPy's fft.fftfreq.
///
/// \throws PreconditionError if n is below 1 or the spacing 0
template <RealElement T = double, class Space = DefaultSpace>
Array<T, 1, Space> fftfreq(std::int64_t n, T spacing = T(1)) {
  return from_function<Space>(Shape<1>{n},
                              detail::Frequency<T>{n, detail::frequency_unit(n, spacing)});
}

/// The frequencies that rfft gives: 0, 1, ..., n / 2 over n spacing. NumPy's fft.rfftfreq.
///
/// \throws PreconditionError if n is below 1 or the spacing 0
template <RealElement T = double, class Space = DefaultSpace>
Array<T, 1, Space> rfftfreq(std::int64_t n, T spacing = T(1)) {
  return from_function<Space>(Shape<1>{n / 2 + 1},
                              detail::Frequency<T>{2 * n, detail::frequency_unit(n, spacing)});
}

namespace detail {

template <class X>
auto shift_all_axes(X const& x, bool back) {
  std::array<std::int64_t, rank_of<X>> shifts{};
  std::array<int, rank_of<X>> axes{};
  for (int d = 0; d < rank_of<X>; ++d) {
    std::int64_t const half = x.shape()[d] / 2;
    shifts[d] = back ? -half : half;
    axes[d] = d;
  }
  return evaluate(roll(x, shifts, axes));
}

}  // namespace detail

/// Frequency 0 moved from the first place to the middle, n / 2, along each axis:
/// fftshift(fftfreq(n)) ascends. For a half spectrum, as rfft returns, shift all axes but the last.
template <Expression X>
auto fftshift(X const& x) {
  return detail::shift_all_axes(x, false);
}

/// Frequency 0 moved from the first place to the middle, n / 2, along one axis.
///
/// \throws PreconditionError if there is no such axis
template <Expression X>
  requires(rank_of<X> >= 1)
auto fftshift(X const& x, int axis) {
  auto const slice = elements_of(x);
  return evaluate(roll(slice, slice.shape()[checked_axis(slice, axis)] / 2, axis));
}

/// The inverse of fftshift, which differs from it where there is an odd number of elements.
template <Expression X>
auto ifftshift(X const& x) {
  return detail::shift_all_axes(x, true);
}

/// The inverse of fftshift along one axis.
///
/// \throws PreconditionError if there is no such axis
template <Expression X>
  requires(rank_of<X> >= 1)
auto ifftshift(X const& x, int axis) {
  auto const slice = elements_of(x);
  return evaluate(roll(slice, -(slice.shape()[checked_axis(slice, axis)] / 2), axis));
}

}  // namespace coir::fft
