#pragma once

/// Small universes whose particles are known, and what tests ask of them.

#include <coir/cosmology/power.hpp>
#include <coir/fft/in_place.hpp>
#include <coir/nbody/initial_conditions.hpp>
#include <coir/nbody/simulation.hpp>

#include <array>
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstring>
#include <numbers>
#include <vector>

namespace coir::testing {

using Wave = std::array<int, 3>;  ///< whole wave numbers, in units of 2 pi / box

inline cosmology::LinearPower<> const& lcdm() {
  static cosmology::LinearPower<> const power(cosmology::planck15());
  return power;
}

/// Matter alone: D1 = a and D2 = 3/7 a^2.
inline cosmology::LinearPower<> const& matter_alone() {
  static cosmology::LinearPower<> const power(
      {.omega_m = 1, .omega_b = 0.05, .h = 0.7, .n_s = 0.96, .sigma8 = 0.8});
  return power;
}

template <class Exec, class T>
using HalfSpectrum =
    Kokkos::View<Kokkos::complex<T>***, Kokkos::LayoutRight, typename Exec::memory_space>;

/// A linear density contrast: D1 sum amplitude cos(k q).
struct PlaneWave {
  Wave wave;
  double amplitude;
};

inline double length(Wave const& m) {
  return std::sqrt(static_cast<double>(m[0] * m[0] + m[1] * m[1] + m[2] * m[2]));
}

/// The white noise that initial_conditions() makes these waves of. Wave numbers are below n / 2.
template <class Exec, class T>
HalfSpectrum<Exec, T> noise_of(std::vector<PlaneWave> const& waves, std::int64_t n, double box,
                               cosmology::LinearPower<> const& power) {
  auto const noise = fft::allocate_in_place<T, typename Exec::memory_space>(
      "noise", std::array<std::int64_t, 3>{n, n, n});
  auto const host = Kokkos::create_mirror_view(noise);
  double const cells = static_cast<double>(n * n * n), volume = box * box * box;
  for (auto const& [wave, amplitude] : waves) {
    double const k = 2 * std::numbers::pi / box * length(wave);
    double const factor = std::sqrt(power(k) * cells / volume) / power.growth().d1(1.0);
    for (int const sign : {1, -1}) {
      if (sign * wave[2] < 0) continue;
      auto const index = [&](int d) { return (sign * wave[d] + n) % n; };
      host(index(0), index(1), index(2)) += static_cast<T>(amplitude * cells / (2 * factor));
    }
  }
  Kokkos::deep_copy(noise, host);
  return noise;
}

template <class Exec, class T>
nbody::Particles<Exec, T> particles_of(std::vector<PlaneWave> const& waves, std::int64_t n,
                                       double box, cosmology::LinearPower<> const& power, double a,
                                       int order) {
  return nbody::initial_conditions<Exec, T>(Exec{}, n, box, power, a, order,
                                            noise_of<Exec, T>(waves, n, box, power));
}

/// Particles on the lattice with one momentum for all.
template <class Exec, class T>
nbody::Particles<Exec, T> lattice(std::int64_t n, double box, std::array<double, 3> const& p = {}) {
  nbody::Particles<Exec, T> particles{n, box, {}, {}};
  using Vectors = typename nbody::Particles<Exec, T>::Vectors;
  particles.position = Vectors("position", n * n * n);
  particles.momentum = Vectors("momentum", n * n * n);
  auto const x = Kokkos::create_mirror_view(particles.position);
  auto const momentum = Kokkos::create_mirror_view(particles.momentum);
  for (std::int64_t i = 0; i < n * n * n; ++i)
    for (int d = 0; d < 3; ++d) {
      std::int64_t const site = d == 0 ? i / (n * n) : d == 1 ? i / n % n : i % n;
      x(i, d) = static_cast<T>(static_cast<double>(site) * box / static_cast<double>(n));
      momentum(i, d) = static_cast<T>(p[d]);
    }
  Kokkos::deep_copy(particles.position, x);
  Kokkos::deep_copy(particles.momentum, momentum);
  return particles;
}

using Vectors = std::vector<std::array<double, 3>>;

template <class V>
Vectors vectors_of(V const& view) {
  auto const host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, view);
  Vectors result(host.extent(0));
  for (std::size_t p = 0; p < result.size(); ++p)
    for (int d = 0; d < 3; ++d) result[p][d] = static_cast<double>(host(p, d));
  return result;
}

/// As bytes, so that NaN and -0 count; and there are some.
template <class V>
bool same_bits(V const& a, V const& b) {
  auto const first = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, a);
  auto const second = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, b);
  return first.size() == second.size() && first.size() > 0 &&
         std::memcmp(first.data(), second.data(),
                     first.size() * sizeof(typename V::non_const_value_type)) == 0;
}

/// Where particles are, without their history: their own storage.
template <class Exec, class T>
nbody::Particles<Exec, T> copy_of(nbody::Particles<Exec, T> const& particles) {
  auto copy = particles;
  using Vectors = typename nbody::Particles<Exec, T>::Vectors;
  copy.position = Vectors("position", particles.position.extent(0));
  copy.momentum = Vectors("momentum", particles.momentum.extent(0));
  Kokkos::deep_copy(copy.position, particles.position);
  Kokkos::deep_copy(copy.momentum, particles.momentum);
  return copy;
}

/// Every coordinate by `part` of the box, up or down as if at random.
template <class Exec, class T>
nbody::Particles<Exec, T> nudged_by(double part, nbody::Particles<Exec, T> const& particles) {
  auto nudged = copy_of(particles);
  auto const x = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, nudged.position);
  for (std::uint32_t p = 0; p < x.extent(0); ++p)
    for (std::uint32_t d = 0; d < 3; ++d) {
      bool const up = (3 * p + d) * 2654435761u >> 31;  // Knuth's multiplicative hash
      x(p, d) += static_cast<T>((up ? part : -part) * particles.box);
    }
  Kokkos::deep_copy(nudged.position, x);
  return nudged;
}

inline double wrapped(double difference, double box) {
  return difference - box * std::round(difference / box);
}

/// Largest distance of two sets of positions along an axis, through the box's borders.
inline double largest_distance(Vectors const& a, Vectors const& b, double box) {
  double largest = a.size() == b.size() ? 0 : INFINITY;
  for (std::size_t p = 0; p < a.size() && p < b.size(); ++p)
    for (int d = 0; d < 3; ++d) {
      double const distance = std::abs(wrapped(a[p][d] - b[p][d], box));
      if (!(distance <= largest)) largest = distance;  // NaN, too
    }
  return largest;
}

inline double rms_distance(Vectors const& a, Vectors const& b, double box) {
  double sum = a.size() == b.size() ? 0 : INFINITY;
  for (std::size_t p = 0; p < a.size() && p < b.size(); ++p)
    for (int d = 0; d < 3; ++d) sum += std::pow(wrapped(a[p][d] - b[p][d], box), 2);
  return std::sqrt(sum / static_cast<double>(a.size()));
}

/// How much a plane wave of this amplitude today has grown from a = 0.02 to 1, over linear theory.
/// Before caustics form, displacements grow as D1 whatever their size: they are projected on the
/// sine that they are.
template <class Exec>
double linear_growth(std::int64_t side, nbody::SimulationOptions options, int steps,
                     double amplitude) {
  double const from = 0.02, box = 1000, k = 2 * std::numbers::pi / box;
  auto const& growth = lcdm().growth();
  options.scale_factors = nbody::scale_factors(from, 1, steps, nbody::Spacing::logarithmic);
  nbody::Simulation<Exec, double> simulation(
      Exec{},
      particles_of<Exec, double>({{{1, 0, 0}, amplitude / growth.d1(1.0)}}, side, box, lcdm(), from,
                                 1),
      growth, options);
  simulation.advance(simulation.steps_left());
  auto const q = vectors_of(lattice<Exec, double>(side, box).position);
  auto const x = vectors_of(simulation.particles().position);
  double projection = 0;
  for (std::size_t i = 0; i < x.size(); ++i)
    projection -= 2 * wrapped(x[i][0] - q[i][0], box) * std::sin(k * q[i][0]) / double(x.size());
  return projection * k / amplitude;
}

/// delta(k) of particles by a plain sum over them, as a mean of exp(-i k x).
inline std::complex<double> mode_of(Vectors const& position, double box, Wave const& m) {
  std::complex<double> sum = 0;
  for (auto const& x : position)
    sum += std::polar(1.0, -2 * std::numbers::pi / box * (m[0] * x[0] + m[1] * x[1] + m[2] * x[2]));
  return sum / static_cast<double>(position.size());
}

}  // namespace coir::testing
