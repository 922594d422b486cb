#pragma once

/// \file
/// Random problems for the solvers' tests, the same on every backend.

#include <coir/core/kokkos.hpp>

#include <cstdint>
#include <random>

namespace coir::testing {

template <class Exec, class T, int Rank>
struct PointerOf;
template <class Exec, class T>
struct PointerOf<Exec, T, 2> {
  using View = Kokkos::View<T**, Kokkos::LayoutRight, typename Exec::memory_space>;
};
template <class Exec, class T>
struct PointerOf<Exec, T, 3> {
  using View = Kokkos::View<T***, Kokkos::LayoutRight, typename Exec::memory_space>;
};
template <class Exec, class T, int Rank>
using Grid = typename PointerOf<Exec, T, Rank>::View;

/// Fills a View with whole numbers from [-limit, limit], whose sums are exact in float.
template <class View>
void fill_random(View const& view, std::uint32_t seed, int limit = 100) {
  auto const host = Kokkos::create_mirror_view(view);
  std::mt19937 generator(seed);
  for (std::size_t i = 0; i < host.size(); ++i)
    host.data()[i] = static_cast<typename View::value_type>(
        static_cast<int>(generator() % (2 * limit + 1)) - limit);
  Kokkos::deep_copy(view, host);
}

/// How many elements of two Views of the same shape differ in any bit.
template <class A, class B>
std::size_t differing(A const& a, B const& b) {
  auto const a_h = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, a);
  auto const b_h = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, b);
  std::size_t count = a_h.size() == b_h.size() ? 0 : 1;
  for (std::size_t i = 0; i < a_h.size(); ++i) count += a_h.data()[i] != b_h.data()[i];
  return count;
}

template <class View>
View copy_of(View const& view) {
  View copy;
  if constexpr (static_cast<int>(View::rank) == 2)
    copy = View("copy", view.extent(0), view.extent(1));
  else
    copy = View("copy", view.extent(0), view.extent(1), view.extent(2));
  Kokkos::deep_copy(copy, view);
  return copy;
}

}  // namespace coir::testing
