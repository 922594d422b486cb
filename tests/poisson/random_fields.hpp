#pragma once

/// Grids for the solvers' tests, and random problems, the same on every backend.

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
template <class C, int Rank = 2>
using GridOf = Grid<typename C::Exec, typename C::Real, Rank>;

/// A View that the host may read: a copy where the View is on a device.
template <class View>
auto on_host(View const& view) {
  return Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, view);
}

/// A source and a field.
template <class C>
struct SmallProblem {
  GridOf<C> b, u;
};

/// One cell of 0 with the neighbours 1, 2, 3 and 4 and the source 2. The solution is (1 + 2 + 3 + 4
/// - 2) / 4 = 2.
template <class C>
SmallProblem<C> one_cell() {
  SmallProblem<C> const problem{GridOf<C>("b", 1, 1), GridOf<C>("u", 3, 3)};
  auto const u_h = Kokkos::create_mirror_view(problem.u);
  Kokkos::deep_copy(u_h, 0);
  u_h(0, 1) = 1, u_h(2, 1) = 2, u_h(1, 0) = 3, u_h(1, 2) = 4;
  Kokkos::deep_copy(problem.u, u_h);
  Kokkos::deep_copy(problem.b, 2);
  return problem;
}

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
  auto const a_h = on_host(a);
  auto const b_h = on_host(b);
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
