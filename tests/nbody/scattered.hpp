#pragma once

/// \file
/// Views and particles of random numbers.

#include <nbody/universe.hpp>

#include <cstddef>
#include <cstdint>
#include <random>

namespace coir::testing {

/// All memory of a View, with what lies between its rows.
template <class V>
auto memory_of(V const& view) {
  return Kokkos::View<typename V::non_const_value_type*, typename V::device_type,
                      Kokkos::MemoryTraits<Kokkos::Unmanaged>>(view.data(), view.span());
}

/// Fills all memory of a View with numbers between `from` and `to`.
template <class V>
void fill(V const& view, double from, double to, unsigned seed) {
  auto const memory = memory_of(view);
  auto const host = Kokkos::create_mirror_view(memory);
  std::mt19937 generator(seed);
  std::uniform_real_distribution<double> number(from, to);
  for (std::size_t c = 0; c < host.size(); ++c)
    host(c) = static_cast<typename V::non_const_value_type>(number(generator));
  Kokkos::deep_copy(memory, host);
}

/// side^3 particles anywhere in a box, with momenta, or slopes to pull back, between -1 and 1.
template <class Case>
auto scattered(std::int64_t side, double length) {
  auto const particles = lattice<typename Case::Exec, typename Case::Real>(side, length);
  fill(particles.position, 0, length, 1);
  fill(particles.momentum, -1, 1, 2);
  return particles;
}

}  // namespace coir::testing
