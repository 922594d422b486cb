#pragma once

/// Painting and readout by plain loops in double, and meshes and particles to try them on.

#include <coir/core/kokkos.hpp>
#include <coir/mesh/assignment.hpp>

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

namespace coir::testing {

using Extents = std::array<std::int64_t, 3>;

inline constexpr mesh::Assignment assignments[] = {mesh::Assignment::cic, mesh::Assignment::tsc,
                                                   mesh::Assignment::pcs};

template <class Exec, class T>
using MeshOf = Kokkos::View<T***, Kokkos::LayoutRight, typename Exec::memory_space>;
template <class Exec, class T>
using MeshOfVectors = Kokkos::View<T****, Kokkos::LayoutRight, typename Exec::memory_space>;
template <class Exec, class T>
using NumbersOf = Kokkos::View<T*, typename Exec::memory_space>;
template <class Exec, class T>
using VectorsOf = Kokkos::View<T* [3], Kokkos::LayoutRight, typename Exec::memory_space>;

/// A mesh of zeros.
template <class Exec, class T>
MeshOf<Exec, T> new_mesh(Extents const& n) {
  return MeshOf<Exec, T>("mesh", static_cast<std::size_t>(n[0]), static_cast<std::size_t>(n[1]),
                         static_cast<std::size_t>(n[2]));
}
template <class Exec, class T>
MeshOfVectors<Exec, T> new_mesh_of_vectors(Extents const& n) {
  return MeshOfVectors<Exec, T>("mesh of vectors", static_cast<std::size_t>(n[0]),
                                static_cast<std::size_t>(n[1]), static_cast<std::size_t>(n[2]), 3);
}

/// Numbers from `lowest` on, below `end`, that are the same in float.
inline std::vector<double> random_numbers(std::int64_t count, unsigned seed, float lowest = -1,
                                          float end = 1) {
  std::mt19937 generator(seed);
  std::uniform_real_distribution<float> number(lowest, end);
  std::vector<double> numbers(static_cast<std::size_t>(count));
  for (auto& value : numbers) value = number(generator);
  return numbers;
}

/// Fills a contiguous View with random numbers from -1 to 1, which it returns in C order.
template <class V>
std::vector<double> fill_at_random(V const& view, unsigned seed) {
  auto const host = Kokkos::create_mirror_view(view);
  auto const numbers = random_numbers(static_cast<std::int64_t>(host.size()), seed);
  for (std::size_t c = 0; c < numbers.size(); ++c)
    host.data()[c] = static_cast<typename V::value_type>(numbers[c]);
  Kokkos::deep_copy(view, host);
  return numbers;
}

/// W along an axis at distance u, in cells: the formulas of mesh/assignment.hpp.
inline double weight(mesh::Assignment assignment, double u) {
  u = std::abs(u);
  switch (assignment) {
    case mesh::Assignment::cic: return u < 1 ? 1 - u : 0;
    case mesh::Assignment::tsc:
      return u < 0.5 ? 0.75 - u * u : u < 1.5 ? 0.5 * (1.5 - u) * (1.5 - u) : 0;
    default:
      return u < 1 ? (4 - 6 * u * u + 3 * u * u * u) / 6 : u < 2 ? std::pow(2 - u, 3) / 6 : 0;
  }
}

/// Calls visit(cell, W) for every image of every cell that a particle touches.
template <class Visit>
void touch(std::array<double, 3> const& x, double box, Extents const& n,
           mesh::Assignment assignment, Visit const& visit) {
  double const at[3] = {x[0] * n[0] / box, x[1] * n[1] / box, x[2] * n[2] / box};
  std::int64_t low[3];
  for (int d = 0; d < 3; ++d) low[d] = static_cast<std::int64_t>(std::floor(at[d])) - 2;
  for (std::int64_t i = low[0]; i <= low[0] + 5; ++i)
    for (std::int64_t j = low[1]; j <= low[1] + 5; ++j)
      for (std::int64_t k = low[2]; k <= low[2] + 5; ++k) {
        double const w = weight(assignment, at[0] - i) * weight(assignment, at[1] - j) *
                         weight(assignment, at[2] - k);
        auto const in = [](std::int64_t c, std::int64_t extent) {
          return (c % extent + extent) % extent;
        };
        if (w != 0) visit((in(i, n[0]) * n[1] + in(j, n[1])) * n[2] + in(k, n[2]), w);
      }
}

/// `count` positions all over the box, and a few beyond its borders and on them.
inline std::vector<std::array<double, 3>> scattered(std::int64_t count, double box, unsigned seed) {
  std::mt19937 generator(seed);
  std::uniform_real_distribution<double> anywhere(-0.2 * box, 1.2 * box);
  std::vector<std::array<double, 3>> x(static_cast<std::size_t>(count));
  for (auto& particle : x)
    for (auto& coordinate : particle)
      coordinate = static_cast<float>(anywhere(generator));  // the same in float
  if (count > 2) x[0] = {0, 0, 0}, x[1] = {box, box, box}, x[2] = {-box, 0.5 * box, 0};
  return x;
}

template <class Exec, class T>
VectorsOf<Exec, T> to_view(std::vector<std::array<double, 3>> const& x) {
  VectorsOf<Exec, T> const view("vectors", x.size());
  auto const host = Kokkos::create_mirror_view(view);
  for (std::size_t p = 0; p < x.size(); ++p)
    for (int d = 0; d < 3; ++d) host(p, d) = static_cast<T>(x[p][d]);
  Kokkos::deep_copy(view, host);
  return view;
}

/// The elements of a contiguous View, in C order.
template <class V>
std::vector<typename V::non_const_value_type> elements(V const& view) {
  auto const host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, view);
  return {host.data(), host.data() + host.size()};
}

}  // namespace coir::testing
