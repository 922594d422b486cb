#pragma once

/// The linear density that grows from white noise.

#include <coir/array/creation.hpp>
#include <coir/array/operators.hpp>
#include <coir/core/contiguous.hpp>
#include <coir/cosmology/power.hpp>
#include <coir/distributed/group.hpp>
#include <coir/distributed/together.hpp>
#include <coir/fft/in_place.hpp>
#include <coir/fft/plan_over_ranks.hpp>
#include <coir/fft/wave_number.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>

namespace coir::apps::field {

/// A number for each site of a lattice.
template <class Exec, class T>
using Field = Kokkos::View<T***, Kokkos::LayoutRight, typename Exec::memory_space>;

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

/// The linear density contrast at a of white noise at the sites of a lattice, whose modes it
/// multiplies by sqrt(P(k, a) / volume of a site). Each rank has its planes. Collective.
///
/// \param n  sites along a side
template <class Exec, class T>
Field<Exec, T> linear_density(Exec const& exec, distributed::Group const& group, std::int64_t n,
                              Field<Exec, T> const& noise, double box,
                              cosmology::LinearPower<double> const& power, double a) {
  using Numbers = Kokkos::View<Kokkos::complex<T>*, typename Exec::memory_space>;
  std::int64_t const half = n / 2;
  fft::PlanOverRanks<Exec, T> const plan(exec, group, {n, n, n}, fft::Effort::estimate);
  Kokkos::View<double*, typename Exec::memory_space> deviations;
  Field<Exec, T> density;
  Numbers numbers, elsewhere;
  distributed::together(group, [&] {
    deviations = decltype(deviations)("coir::apps::field::deviations",
                                      static_cast<std::size_t>(3 * half * half + 1));
    density = Field<Exec, T>("coir::apps::field::linear_density", noise.extent(0), noise.extent(1),
                             noise.extent(2));
    numbers =
        Numbers("coir::apps::field::linear_density", static_cast<std::size_t>(plan.field_size()));
    elsewhere = Numbers("coir::apps::field::modes",
                        static_cast<std::size_t>(plan.is_in_place() ? 0 : plan.spectrum_size()));
  });
  auto const deviations_h = Kokkos::create_mirror_view(deviations);
  double const sites = double(n) * double(n) * double(n), volume = std::pow(box / double(n), 3);
  for (std::int64_t square = 1; square <= 3 * half * half; ++square) {
    double const k = 2 * std::numbers::pi / box * std::sqrt(double(square));
    // A transform and the one back multiply by the number of sites.
    deviations_h(square) = std::sqrt(power(k, a) / volume) / sites;
  }
  copy_contiguous(deviations, deviations_h);
  auto const field = plan.field_in(numbers.data());
  auto const modes = plan.spectrum_in(plan.is_in_place() ? numbers.data() : elsewhere.data());
  auto const sites_of_field = slice_of(fft::real_view_of(field, n));
  sites_of_field = slice_of(noise);
  plan.forward(field, modes);
  plan.multiply(modes, detail::Deviations<Exec, T>{deviations, n});
  plan.backward(modes, field);
  slice_of(density) = sites_of_field;
  exec.fence();  // the meshes are freed next
  return density;
}

}  // namespace coir::apps::field
