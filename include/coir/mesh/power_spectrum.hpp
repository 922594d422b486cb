#pragma once

/// \file
/// Power spectra of particles and of fields in a periodic box.

#include <coir/core/concepts.hpp>
#include <coir/core/errors.hpp>
#include <coir/core/shape.hpp>
#include <coir/core/strided.hpp>
#include <coir/distributed/together.hpp>
#include <coir/mesh/assignment.hpp>
#include <coir/mesh/cells.hpp>
#include <coir/mesh/detail/checks.hpp>
#include <coir/mesh/detail/staged.hpp>
#include <coir/mesh/ghosts.hpp>
#include <coir/mesh/power_spectrum_text.hpp>

#include <Kokkos_Complex.hpp>

#include <concepts>
#include <cstdint>
#include <string>
#include <type_traits>

namespace coir::mesh {

/// Options of power spectra, and their bins. The fundamental is k_f = 2 pi / box. The Nyquist
/// frequency is n k_f / 2 with the smallest extent n of the mesh.
struct PowerSpectrumOptions {
  Assignment assignment = Assignment::cic;  ///< that particles are, or were, painted with
  /// Divides by the assignment's window, prod_d sinc(k_d h / 2)^(2 p). Set it to false for a field
  /// that wasn't painted.
  bool compensate = true;
  /// Paints once more with the particles moved by half a cell along all axes, and averages. A mode
  /// k has images at k + 2 pi m / h with whole numbers m. Images with odd m_0 + m_1 + m_2, the
  /// nearest ones, cancel. For particles; takes a second mesh and a copy of the positions.
  bool interlace = false;
  /// Subtracts box^3 / N from the spectrum of N particles, which is the noise far below the Nyquist
  /// frequency. Near it images add to the noise, least with interlacing and assignments of high
  /// order. Not for particles near a lattice.
  bool subtract_shot_noise = false;
  /// Number of bins from k_min to k_max, at most 10^6. 0: bins of width k_f, centred on the
  /// multiples of k_f in [k_min, k_max], of which there may be none.
  int bins = 0;
  bool logarithmic = false;  ///< bins of equal width in ln k, not in k; their number must be given
  double k_min = 0;          ///< h/Mpc; 0 is the fundamental
  double k_max = 0;  ///< h/Mpc; 0 is the Nyquist frequency. A mode at k_max is in the last bin
};

/// A half spectrum (n_0, n_1, n_2 / 2 + 1) as fft::RealPlan makes it: complex, of any layout. It is
/// copied if its rows aren't contiguous.
template <class V>
concept HalfSpectrum = ViewOfRank<V, 3> && StridedView<V> &&
                       (std::same_as<typename V::non_const_value_type, Kokkos::complex<float>> ||
                        std::same_as<typename V::non_const_value_type, Kokkos::complex<double>>);

namespace detail {

/// The positions of N particles, (N, 3).
template <class T>
struct Sample {
  T const* position;
  std::int64_t particles;
};

/// \param a, b  of this rank; b is null for the spectrum of `a` alone
template <class Exec, class T>
PowerSpectrum spectrum_of_particles(Exec const& exec, distributed::Group const& group,
                                    Sample<T> const& a, Sample<T> const* b, double box,
                                    std::int64_t cells, PowerSpectrumOptions const& options);

/// The largest numbers of planes by which particles of any rank lie below and above that rank's own
/// planes of a mesh. Collective.
template <class Exec, class T>
GhostWidths farthest_beyond(Exec const& exec, distributed::Group const& group,
                            Sample<T> const& sample, std::int64_t cells, double box);

/// The rows of a half spectrum in memory.
template <class T>
struct SpectrumRows {
  Kokkos::complex<T> const* data;
  std::int64_t plane, row;  ///< elements to the next plane and row
};

/// scale sum Re(a conj(b)) / modes, in bins. For the power of one field a and b are both its
/// spectrum.
template <class Exec, class T>
PowerSpectrum bin_spectrum(Exec const& exec, SpectrumRows<T> const& a, SpectrumRows<T> const& b,
                           Shape<3> const& shape, double box, double scale,
                           PowerSpectrumOptions const& options);

/// The positions of a rank's particles, or a copy in C order. Collective.
///
/// \throws PreconditionError on all ranks if a position isn't finite
template <class Exec, class Positions>
auto staged_sample(Exec const& exec, distributed::Group const& group, Positions const& positions) {
  return distributed::together(group, [&] {
    auto const particles = static_cast<std::int64_t>(positions.extent(0));
    expects_vectors(positions, "positions", particles);
    auto const staged = staged_particles(exec, positions, Access::read);
    expects_finite_positions(exec, staged.elements().data, particles);
    return staged;
  });
}

template <class Exec, class T>
Sample<std::remove_const_t<T>> sample_of(Staged<Exec, T, 2> const& positions) {
  return {positions.elements().data, positions.elements().extents[0]};
}

template <class Spectrum>
Shape<3> shape_of_field(Spectrum const& spectrum, std::int64_t n2) {
  Shape<3> const shape{static_cast<std::int64_t>(spectrum.extent(0)),
                       static_cast<std::int64_t>(spectrum.extent(1)), n2};
  for (std::int64_t const n : shape)
    expects(n >= 1 && n <= 1 << 24, "extents of a field must be from 1 to 2^24", n);
  auto const last = static_cast<std::int64_t>(spectrum.extent(2));
  expects(last == n2 / 2 + 1,
          "the half spectrum of rows of " + std::to_string(n2) + " numbers must have " +
              std::to_string(n2 / 2 + 1) + " in a row",
          last);
  return shape;
}

/// A caller's spectrum, or a copy in C order if its rows aren't contiguous.
template <class Exec, class Spectrum>
auto staged_spectrum(Exec const& exec, Spectrum const& spectrum) {
  auto const at = strided(spectrum);
  return Staged(exec, at, has_contiguous_rows(at), Access::read, "a copy of a spectrum in C order");
}

template <class Exec, class C>
auto rows_of(Staged<Exec, C, 3> const& spectrum) {
  auto const& at = spectrum.elements();
  return SpectrumRows<typename C::value_type>{at.data, at.strides[0], at.strides[1]};
}
template <class Spectrum>
  requires(Kokkos::is_view<Spectrum>::value)
auto rows_of(Spectrum const& spectrum) {
  using T = typename Spectrum::non_const_value_type::value_type;
  return SpectrumRows<T>{spectrum.data(), static_cast<std::int64_t>(spectrum.stride(0)),
                         static_cast<std::int64_t>(spectrum.stride(1))};
}

/// The spectrum of two fields of one shape.
template <class Exec, class T>
PowerSpectrum spectrum_of_fields(Exec const& exec, SpectrumRows<T> const& a,
                                 SpectrumRows<T> const& b, Shape<3> const& shape, double box,
                                 PowerSpectrumOptions const& options) {
  expects(!options.interlace && !options.subtract_shot_noise,
          "interlacing and shot noise are for particles: leave both out for fields");
  double const cells =
      static_cast<double>(shape[0]) * static_cast<double>(shape[1]) * static_cast<double>(shape[2]);
  return bin_spectrum<Exec, T>(exec, a, b, shape, box, box * box * box / (cells * cells), options);
}

}  // namespace detail

/// The planes beyond a rank's slab that particles touch which may lie anywhere, the same on all
/// ranks: touched_beyond() and the planes that the farthest of all particles is away. Collective.
///
/// \param positions  (N, 3), of this rank's particles
/// \param cells      along the mesh's first axis
/// \throws PreconditionError on all ranks if a position isn't finite
template <CompiledSpace Exec, VectorsOfParticles Positions>
GhostWidths touched_by(Exec const& exec, distributed::Group const& group,
                       Positions const& positions, double box, std::int64_t cells,
                       Assignment assignment) {
  using T = typename Positions::non_const_value_type;
  auto const staged = detail::staged_sample(exec, group, positions);
  auto const touched = touched_beyond(assignment);
  auto const beyond =
      detail::farthest_beyond<Exec, T>(exec, group, detail::sample_of(staged), cells, box);
  return {touched.below + beyond.below, touched.above + beyond.above};
}

/// The cross spectrum of two real fields on n_0 n_1 n_2 cells, given in Fourier space without
/// scaling:
///
///   P(k) = V / (n_0 n_1 n_2)^2 <Re(a(k) conj(b(k)))>,  V = box^3,
///
/// averaged over the modes with |k| in a bin, without k = 0. A mode of the half spectrum counts
/// twice, for itself and its conjugate. In the planes k_2 = 0 and, for even n_2, k_2 = Nyquist,
/// which hold both, it counts once.
///
/// Sums are in double, in an order that depends on the shapes alone: the same bits for any number
/// of threads. Takes 24 bytes for each bin and each of up to max(1024, 2^18 / bins) groups of rows.
///
/// \param a, b  (n_0, n_1, n_2 / 2 + 1) in
/// \param n2    cells along the last axis
/// \param box   length of the cubic box in Mpc/h, > 0
/// \throws PreconditionError if extents don't fit or aren't in [1, 2^24]; if the box isn't
///   positive; if the number of bins isn't in [0, 10^6], or is 0 for logarithmic bins; unless 0 <=
///   k_min < k_max; or if options.interlace or options.subtract_shot_noise, which need particles
/// \throws ResourceError if there is no memory for the sums
template <CompiledSpace Exec, HalfSpectrum A, HalfSpectrum B>
  requires SameValueType<A, B> && CanAccess<Exec, A, B>
PowerSpectrum cross_power_spectrum_of(Exec const& exec, A const& a, B const& b, std::int64_t n2,
                                      double box, PowerSpectrumOptions const& options = {}) {
  detail::expects_box(box);
  auto const shape = detail::shape_of_field(a, n2);
  auto const other = detail::shape_of_field(b, n2);
  expects(shape == other, "both fields must have the extents " + in_words(shape), in_words(other));
  auto const first = detail::staged_spectrum(exec, a), second = detail::staged_spectrum(exec, b);
  return detail::spectrum_of_fields(exec, detail::rows_of(first), detail::rows_of(second), shape,
                                    box, options);
}

/// The power spectrum of one field: P(k) = V / (n_0 n_1 n_2)^2 <|a(k)|^2>.
template <CompiledSpace Exec, HalfSpectrum Spectrum>
  requires CanAccess<Exec, Spectrum>
PowerSpectrum power_spectrum_of(Exec const& exec, Spectrum const& spectrum, std::int64_t n2,
                                double box, PowerSpectrumOptions const& options = {}) {
  detail::expects_box(box);
  auto const shape = detail::shape_of_field(spectrum, n2);
  auto const staged = detail::staged_spectrum(exec, spectrum);
  auto const rows = detail::rows_of(staged);
  return detail::spectrum_of_fields(exec, rows, rows, shape, box, options);
}

/// The power spectrum of the density contrast of particles of equal mass,
///
///   P(k) = V <|delta(k)|^2>,  delta(k) = 1/N sum_p exp(-i k x_p),
///
/// by painting on a mesh, a Fourier transform, and compensation for the window of painting. Power
/// beyond the Nyquist frequency folds back to the modes just below it.
///
/// With interlacing a second mesh of the particles at x + h / 2, h = box / cells, is transformed,
/// multiplied by exp(i h (k_0 + k_1 + k_2) / 2), and averaged with the first. Components at the
/// Nyquist frequency count as positive.
///
/// Particles are painted in whole numbers (see PaintOptions::deterministic) and transforms are
/// planned without measuring, so that on hosts the same bits come out for any number of threads and
/// ranks.
///
/// Every rank gets the spectrum of all ranks' particles. Collective. distributed::share_of() shares
/// the mesh out by planes of axis 0. Particles may lie anywhere: ranks take as many ghost planes as
/// the particle farthest from its rank's planes needs.
///
/// \param positions  (N, 3), of this rank's particles, finite, in Mpc/h; the box is periodic. N may
///   be 0 on some ranks. Copied unless it is LayoutRight
/// \param box        length of the cubic box in Mpc/h, > 0
/// \param cells      of the mesh along each axis, from 1 to 32768
/// \throws PreconditionError on all ranks if there are no particles, an argument is out of its
///   range or differs between ranks, a position isn't finite, or as cross_power_spectrum_of for the
///   bins
/// \throws ResourceError on all ranks if there is no memory
/// \see Jing, Astrophys. J. 620, 559 (2005); Sefusatti et al., Mon. Not. R. Astron. Soc. 460, 3624
///   (2016), section 3.2
template <CompiledSpace Exec, VectorsOfParticles Positions>
  requires CanAccess<Exec, Positions>
PowerSpectrum power_spectrum(Exec const& exec, distributed::Group const& group,
                             Positions const& positions, double box, std::int64_t cells,
                             PowerSpectrumOptions const& options = {}) {
  using T = typename Positions::non_const_value_type;
  auto const staged = detail::staged_sample(exec, group, positions);
  return detail::spectrum_of_particles<Exec, T>(exec, group, detail::sample_of(staged), nullptr,
                                                box, cells, options);
}

/// The cross spectrum of two sets of particles in one box: P(k) = V <Re(delta_a(k)
/// conj(delta_b(k)))>. It has no shot noise: options.subtract_shot_noise changes nothing.
/// Collective.
///
/// \param a, b  (N, 3) and (M, 3), of this rank's particles
/// \throws as power_spectrum
template <CompiledSpace Exec, VectorsOfParticles A, VectorsOfParticles B>
  requires SameValueType<A, B> && CanAccess<Exec, A, B>
PowerSpectrum cross_power_spectrum(Exec const& exec, distributed::Group const& group, A const& a,
                                   B const& b, double box, std::int64_t cells,
                                   PowerSpectrumOptions const& options = {}) {
  using T = typename A::non_const_value_type;
  auto const of_a = detail::staged_sample(exec, group, a);
  auto const of_b = detail::staged_sample(exec, group, b);
  auto const second = detail::sample_of(of_b);
  return detail::spectrum_of_particles<Exec, T>(exec, group, detail::sample_of(of_a), &second, box,
                                                cells, options);
}

/// power_spectrum() of the particles of one rank.
template <CompiledSpace Exec, VectorsOfParticles Positions>
  requires CanAccess<Exec, Positions>
PowerSpectrum power_spectrum(Exec const& exec, Positions const& positions, double box,
                             std::int64_t cells, PowerSpectrumOptions const& options = {}) {
  return power_spectrum(exec, distributed::Group::self(), positions, box, cells, options);
}
/// cross_power_spectrum() of the particles of one rank.
template <CompiledSpace Exec, VectorsOfParticles A, VectorsOfParticles B>
  requires SameValueType<A, B> && CanAccess<Exec, A, B>
PowerSpectrum cross_power_spectrum(Exec const& exec, A const& a, B const& b, double box,
                                   std::int64_t cells, PowerSpectrumOptions const& options = {}) {
  return cross_power_spectrum(exec, distributed::Group::self(), a, b, box, cells, options);
}
/// power_spectrum() on the default instance of the View's execution space.
template <VectorsOfParticles Positions>
PowerSpectrum power_spectrum(Positions const& positions, double box, std::int64_t cells,
                             PowerSpectrumOptions const& options = {}) {
  return power_spectrum(typename Positions::execution_space{}, positions, box, cells, options);
}
/// cross_power_spectrum() on the default instance of the first View's execution space.
template <VectorsOfParticles A, VectorsOfParticles B>
PowerSpectrum cross_power_spectrum(A const& a, B const& b, double box, std::int64_t cells,
                                   PowerSpectrumOptions const& options = {}) {
  return cross_power_spectrum(typename A::execution_space{}, a, b, box, cells, options);
}
/// power_spectrum_of() on the default instance of the View's execution space.
template <HalfSpectrum Spectrum>
PowerSpectrum power_spectrum_of(Spectrum const& spectrum, std::int64_t n2, double box,
                                PowerSpectrumOptions const& options = {}) {
  return power_spectrum_of(typename Spectrum::execution_space{}, spectrum, n2, box, options);
}
/// cross_power_spectrum_of() on the default instance of the first View's execution space.
template <HalfSpectrum A, HalfSpectrum B>
PowerSpectrum cross_power_spectrum_of(A const& a, B const& b, std::int64_t n2, double box,
                                      PowerSpectrumOptions const& options = {}) {
  return cross_power_spectrum_of(typename A::execution_space{}, a, b, n2, box, options);
}

}  // namespace coir::mesh
