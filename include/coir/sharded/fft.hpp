#pragma once

/// Fourier transforms of split arrays of three axes, by the slabs of coir/fft/slab.hpp. Programs
/// that include this header link coir::fft.

#include <coir/array/creation.hpp>
#include <coir/array/functions.hpp>
#include <coir/array/operators.hpp>
#include <coir/core/views.hpp>
#include <coir/fft/slab.hpp>
#include <coir/sharded/moves.hpp>

#include <Kokkos_Complex.hpp>

#include <cstddef>
#include <cstdint>
#include <string>

namespace coir::sharded {

namespace detail {

template <class T>
auto block_of(Array<Kokkos::complex<T>, 3>& x) {
  auto const [n0, n1, n2] = x.shape();
  return UnmanagedView<Kokkos::complex<T>, 3, Kokkos::LayoutRight, DefaultSpace>(
      x.data(), static_cast<std::size_t>(n0), static_cast<std::size_t>(n1),
      static_cast<std::size_t>(n2));
}

/// The real numbers in the memory of a field of a slab.
template <class T>
Slice<T, 3, DefaultSpace> reals_in(Array<Kokkos::complex<T>, 3>& field, std::int64_t n) {
  auto const [planes, rows, row] = field.shape();
  return {reinterpret_cast<T*>(field.data()),
          {planes, rows, n},
          {rows * 2 * row, 2 * row, 1},
          field.all().owner()};
}

/// Transforms with estimated plans, so that bits don't depend on the number of ranks.
template <class T>
fft::RealSlab<Exec, T> slab_of(Placement<3> const& field) {
  return {Exec(), field.group(), field.shape(), fft::PlanOptions{.effort = fft::Effort::estimate}};
}

template <class T>
Array<Kokkos::complex<T>, 3> to_spectrum(Slice<T const, 3, DefaultSpace> const& own,
                                         Placement<3> const& of_field) {
  auto const slab = slab_of<T>(of_field);
  Array<Kokkos::complex<T>, 3> field(slab.field_extents()), spectrum(slab.spectrum_extents());
  reals_in(field, of_field.shape()[2]) = own;
  slab.forward(block_of(field), block_of(spectrum));
  return spectrum;
}

/// Without scaling.
template <class T>
Array<T, 3> to_field(Array<Kokkos::complex<T>, 3> spectrum, Placement<3> const& of_field) {
  auto const slab = slab_of<T>(of_field);
  Array<Kokkos::complex<T>, 3> field(slab.field_extents());
  slab.backward(block_of(spectrum), block_of(field));
  return evaluate(reals_in(field, of_field.shape()[2]));
}

/// The half spectrum whose transform back, without scaling, is Re sum_k c_k exp(i k x) over the
/// modes k of the half spectrum c. The transform back adds the conjugate of each mode, so that a
/// mode is c_k / 2. The planes k_2 = 0 and k_2 = n_2 / 2 contain the mirrored mode -k, too: there a
/// mode is (c_k + conj(c_-k)) / 2. Another rank may have c_-k.
template <class T>
struct HalfOfModes {
  Kokkos::complex<T> const *own, *planes;  ///< [n_0, rows, row]; [n_0, n_1, 2], the two planes
  std::int64_t n0, n1, n2, rows, first, row;

  KOKKOS_FORCEINLINE_FUNCTION Kokkos::complex<T> operator()(std::int64_t i, std::int64_t j,
                                                            std::int64_t k) const {
    auto const value = own[(i * rows + j) * row + k];
    if (k != 0 && 2 * k != n2) return {value.real() / 2, value.imag() / 2};
    std::int64_t const mi = i > 0 ? n0 - i : 0, j_of_all = first + j,
                       mj = j_of_all > 0 ? n1 - j_of_all : 0;
    auto const other = planes[(mi * n1 + mj) * 2 + (k == 0 ? 0 : 1)];
    return {(value.real() + other.real()) / 2, (value.imag() - other.imag()) / 2};
  }
};

/// The adjoint of to_spectrum().
template <class T>
Array<T, 3> spectrum_pulled_back(Slice<Kokkos::complex<T> const, 3, DefaultSpace> const& cotangent,
                                 Placement<3> const& of_field, Placement<3> const& of_spectrum) {
  auto const [n0, n1, n2] = of_field.shape();
  Array<Kokkos::complex<T>, 3> ends(Shape<3>{n0, of_spectrum.share().count, 2});
  part_along(ends.all(), 2, distributed::Share{0, 1}) =
      part_along(cotangent, 2, distributed::Share{0, 1});
  part_along(ends.all(), 2, distributed::Share{1, 1}) =
      part_along(cotangent, 2, distributed::Share{cotangent.shape()[2] - 1, 1});
  auto const planes = gathered<Kokkos::complex<T>, 3>(
      ends.as_operand(), Placement<3>(of_field.group(), {n0, n1, 2}, 1), -1);
  return to_field<T>(
      coir::from_function(
          cotangent.shape(),
          HalfOfModes<T>{cotangent.data(), planes.data(), n0, n1, n2, of_spectrum.share().count,
                         of_spectrum.share().first, cotangent.shape()[2]}),
      of_field);
}

/// How often a mode of a half spectrum counts in the transform back, divided by the number of
/// points.
template <class T>
struct CountOfMode {
  std::int64_t n;
  T points;
  KOKKOS_FORCEINLINE_FUNCTION T operator()(std::int64_t k) const {
    return (k == 0 || 2 * k == n ? T(1) : T(2)) / points;
  }
};

}  // namespace detail

/// numpy.fft.rfftn of an array of three axes, split along axis 0: the half spectrum
/// [n_0, n_1, n_2 / 2 + 1], split along axis 1. Planes are transformed where they are, rows travel
/// once, and lines along axis 0 are transformed where the rows arrive. On hosts results have the
/// same bits for any number of ranks.
///
/// \throws PreconditionError if an extent is 0, or x is split along another axis
template <AnySplit X>
  requires(rank_of<X> == 3)
auto rfftn(X const& x) {
  using T = value_t<X>;
  auto const from = x.placement();
  from.expects_one_axis("rfftn");
  expects(from.axis() == 0, "rfftn takes arrays that are split along axis 0, by reshard(x, 0)",
          from.axis());
  auto const [n0, n1, n2] = from.shape();
  Placement<3> const to(from.group(), {n0, n1, n2 / 2 + 1}, 1);
  return detail::placed(detail::moved(
                            x, [=](auto const& own) { return detail::to_spectrum<T>(own, from); },
                            [=](auto const& cotangent) {
                              return detail::spectrum_pulled_back<T>(cotangent, from, to);
                            }),
                        to);
}

/// numpy.fft.irfftn: the array [n_0, n_1, n], split along axis 0, of a half spectrum that is split
/// along axis 1. It is divided by the number of points.
///
/// \param n  extent of the result's last axis
/// \throws PreconditionError if an extent is 0, the spectrum's last extent isn't n / 2 + 1, or the
///   spectrum is split along another axis
template <AnySplit X>
  requires(rank_of<X> == 3)
auto irfftn(X const& spectrum, std::int64_t n) {
  using T = real_t<value_t<X>>;
  using Complex = Kokkos::complex<T>;
  auto const from = spectrum.placement();
  auto const [n0, n1, row] = from.shape();
  from.expects_one_axis("irfftn");
  expects(from.axis() == 1, "irfftn takes spectra that are split along axis 1, by reshard(x, 1)",
          from.axis());
  expects(n >= 1 && row == n / 2 + 1,
          "the spectrum of " + std::to_string(n) + " numbers in a row must have " +
              std::to_string(n / 2 + 1) + " modes in a row",
          row);
  Placement<3> const to(from.group(), {n0, n1, n}, 0);
  T const points = static_cast<T>(n0) * static_cast<T>(n1) * static_cast<T>(n);
  return detail::placed(
      detail::moved(
          spectrum,
          [=](auto const& own) {
            auto field = detail::to_field<T>(Array<Complex, 3>(own), to);
            field.all() = field / points;
            return field;
          },
          [=, row = row](auto const& cotangent) {
            auto const counts =
                coir::from_function(Shape<1>{row}, detail::CountOfMode<T>{n, points});
            return Array<Complex, 3>(detail::to_spectrum<T>(cotangent, to) * counts);
          }),
      to);
}

}  // namespace coir::sharded
