#pragma once

/// White noise of sites, and the linear density that grows from it.

#include <nbody/white_noise_file.hpp>

#include <coir/core/contiguous.hpp>
#include <coir/core/loops.hpp>
#include <coir/cosmology/power.hpp>
#include <coir/fft/plan.hpp>
#include <coir/fft/wave_number.hpp>
#include <coir/nbody/initial_conditions.hpp>

#include <cmath>
#include <cstdint>
#include <numbers>

namespace coir::apps::field {

/// A number for each site of a lattice.
template <class Exec, class T>
using Field = Kokkos::View<T***, Kokkos::LayoutRight, typename Exec::memory_space>;

template <class Exec, class T>
using Spectrum =
    Kokkos::View<Kokkos::complex<T>***, Kokkos::LayoutRight, typename Exec::memory_space>;

namespace detail {

/// The deviation of a mode by the square of its wave number, in units of the smallest.
template <class Exec, class T>
struct Deviations {
  Kokkos::View<double*, typename Exec::memory_space> of_square;
  std::int64_t n;

  KOKKOS_FUNCTION T operator()(std::int64_t i, std::int64_t j, std::int64_t k) const {
    std::int64_t const x = fft::wave_number(i, n), y = fft::wave_number(j, n),
                       z = fft::wave_number(k, n);
    return static_cast<T>(of_square(x * x + y * y + z * z));
  }
};

}  // namespace detail

/// White noise at the sites, (n, n, n), as nbody::white_noise() gives its transform.
template <class T, class Exec>
Field<Exec, T> noise_of_seed(Exec const& exec, std::int64_t n, std::uint64_t seed) {
  auto const extent = static_cast<std::size_t>(n);
  Spectrum<Exec, T> const modes("coir::apps::field::modes", extent, extent, extent / 2 + 1);
  Field<Exec, T> const noise("coir::apps::field::noise", extent, extent, extent);
  coir::nbody::white_noise<Exec, T>(exec, {.seed = seed}, modes);
  double const points = double(n) * double(n) * double(n);
  fft::multiply_modes(exec, modes, nbody::SameFactor<T>{static_cast<T>(1 / points)});
  fft::RealPlan<Exec, T, 3>(exec, {n, n, n}, 1, {.effort = fft::Effort::estimate})
      .backward(modes, noise);
  return noise;
}

/// The linear density contrast at a of white noise at the sites of a lattice, whose modes it
/// multiplies by sqrt(P(k, a) / volume of a site).
template <class Exec, class T>
Field<Exec, T> linear_density(Exec const& exec, Field<Exec, T> const& noise, double box,
                              cosmology::LinearPower<double> const& power, double a) {
  auto const n = static_cast<std::int64_t>(noise.extent(0));
  std::int64_t const half = n / 2;
  Kokkos::View<double*, typename Exec::memory_space> const deviations(
      "coir::apps::field::deviations", static_cast<std::size_t>(3 * half * half + 1));
  auto const deviations_h = Kokkos::create_mirror_view(deviations);
  double const sites = double(n) * double(n) * double(n), volume = std::pow(box / double(n), 3);
  for (std::int64_t square = 1; square <= 3 * half * half; ++square) {
    double const k = 2 * std::numbers::pi / box * std::sqrt(double(square));
    // A transform and the one back multiply by the number of sites.
    deviations_h(square) = std::sqrt(power(k, a) / volume) / sites;
  }
  copy_contiguous(deviations, deviations_h);
  auto const extent = static_cast<std::size_t>(n);
  Spectrum<Exec, T> const modes("coir::apps::field::modes", extent, extent, extent / 2 + 1);
  Field<Exec, T> const density("coir::apps::field::linear_density", extent, extent, extent);
  fft::RealPlan<Exec, T, 3> const plan(exec, {n, n, n}, 1, {.effort = fft::Effort::estimate});
  plan.forward(noise, modes);
  fft::multiply_modes(exec, modes, detail::Deviations<Exec, T>{deviations, n});
  plan.backward(modes, density);
  return density;
}

}  // namespace coir::apps::field
