#pragma once

#include <coir/core/errors.hpp>
#include <coir/core/loops.hpp>
#include <coir/core/math.hpp>
#include <coir/core/strided.hpp>
#include <coir/distributed/share.hpp>
#include <coir/fft/wave_number.hpp>
#include <coir/nbody/detail/staged_field.hpp>
#include <coir/nbody/initial_conditions.hpp>

#include <core/box_muller.hpp>
#include <core/threefry.hpp>

#include <cmath>
#include <cstdint>

namespace coir::nbody {

namespace detail {

template <class T>
struct WhiteNoise {
  static constexpr bool reads_no_neighbours = true;
  Kokkos::complex<T>* spectrum;
  std::int64_t n;
  std::int64_t first_row, rows;  ///< of the second axis, on this rank
  std::uint32_t seed_low, seed_high;
  bool fixed_amplitude;
  double scale;  // the deviation of a mode: sqrt(n^3), or less than 0 for the inverted field

  // Drawing a mode takes as long as adding 64 numbers.
  static std::int64_t cells_per_index() { return 64; }

  KOKKOS_FUNCTION void operator()(std::int64_t i, std::int64_t row, std::int64_t k) const {
    std::int64_t const j = first_row + row;
    auto x = static_cast<std::int32_t>(fft::wave_number(i, n)),
         y = static_cast<std::int32_t>(fft::wave_number(j, n));
    auto const z = static_cast<std::int32_t>(k);
    // On the planes z = 0 and, for an even n, z = n/2, a mode and its opposite are both in the half
    // spectrum. The one with the greater (x, y) is drawn, and the other is its conjugate.
    bool const paired = z == 0 || 2 * k == n;
    std::int32_t const opposite_x = 2 * i == n ? x : -x, opposite_y = 2 * j == n ? y : -y;
    bool const own = paired && x == opposite_x && y == opposite_y;
    bool const conjugate = paired && (x < opposite_x || (x == opposite_x && y < opposite_y));
    if (conjugate) {
      x = opposite_x;
      y = opposite_y;
    }
    constexpr std::uint32_t purpose = 0x636f736d;  // "cosm": numbers that nothing else draws
    auto const bits =
        random::threefry({{static_cast<std::uint32_t>(x), static_cast<std::uint32_t>(y),
                           static_cast<std::uint32_t>(z), purpose}},
                         {{seed_low, seed_high, 0, 0}});
    double real, imaginary;
    random::box_muller(bits.v[0], bits.v[1], bits.v[2], bits.v[3], real, imaginary);
    if (own) {
      imaginary = 0;
      if (fixed_amplitude) real = real < 0 ? -1 : 1;
    } else {
      double const size =
          fixed_amplitude ? math::sqrt(real * real + imaginary * imaginary) : math::sqrt(2.0);
      real /= size;
      imaginary /= conjugate ? -size : size;
    }
    spectrum[(i * rows + row) * (n / 2 + 1) + k] =
        Kokkos::complex<T>(static_cast<T>(scale * real), static_cast<T>(scale * imaginary));
  }
};

/// Gives modes that aren't 0 their mean amplitude, and multiplies all by a sign.
template <class T>
struct ChangeModes {
  Kokkos::complex<T>* spectrum;
  bool fixed_amplitude;
  T deviation, sign;

  KOKKOS_FUNCTION void operator()(std::int64_t at) const {
    auto& mode = spectrum[at];
    T factor = sign;
    if (fixed_amplitude) {
      // In double: squares of float's numbers may overflow.
      auto const re = static_cast<double>(mode.real()), im = static_cast<double>(mode.imag());
      double const size = math::sqrt(re * re + im * im);
      factor = size > 0 ? static_cast<T>(static_cast<double>(sign) * deviation / size) : T(0);
    }
    mode = Kokkos::complex<T>(factor * mode.real(), factor * mode.imag());
  }
};

/// The deviation of a mode of white noise: sqrt(n^3).
inline double deviation_of_modes(std::int64_t n) {
  return std::sqrt(static_cast<double>(n) * static_cast<double>(n) * static_cast<double>(n));
}

/// Applies the options to modes of given white noise, as draw_modes() does to those that it draws.
template <class Exec, class T>
void change_modes(Exec const& exec, NoiseOptions const& options, std::int64_t n, std::int64_t rows,
                  Kokkos::complex<T>* spectrum) {
  if (!options.fixed_amplitude && !options.inverted) return;
  for_each("coir::nbody::white_noise/change_modes", exec,
           coir::box<1, std::int64_t>({n * rows * (n / 2 + 1)}),
           ChangeModes<T>{spectrum, options.fixed_amplitude, static_cast<T>(deviation_of_modes(n)),
                          options.inverted ? T(-1) : T(1)});
}

/// White noise in the rows of a spectrum [n, rows, n / 2 + 1].
template <class Exec, class T>
void draw_modes(Exec const& exec, NoiseOptions const& options, std::int64_t n,
                distributed::Share const& rows, Kokkos::complex<T>* spectrum) {
  double const deviation = deviation_of_modes(n);
  for_each(
      "coir::nbody::white_noise", exec, coir::box<3, std::int64_t>({n, rows.count, n / 2 + 1}),
      WhiteNoise<T>{spectrum, n, rows.first, rows.count, static_cast<std::uint32_t>(options.seed),
                    static_cast<std::uint32_t>(options.seed >> 32), options.fixed_amplitude,
                    options.inverted ? -deviation : deviation});
}

}  // namespace detail

template <CompiledSpace Exec, Real T>
void white_noise(Exec const& exec, NoiseOptions const& options,
                 Kokkos::View<Kokkos::complex<T>***, Kokkos::LayoutStride,
                              typename Exec::memory_space> const& spectrum) {
  auto const n = static_cast<std::int64_t>(spectrum.extent(0));
  expects(n >= 1 && static_cast<std::int64_t>(spectrum.extent(1)) == n &&
              static_cast<std::int64_t>(spectrum.extent(2)) == n / 2 + 1,
          "the spectrum of white noise must have extents (n, n, n / 2 + 1)");
  auto const modes =
      detail::staged_field(exec, "the spectrum of white noise", spectrum, Access::write);
  detail::draw_modes<Exec, T>(exec, options, n, {0, n}, modes.elements().data);
  modes.finish();
}

}  // namespace coir::nbody
