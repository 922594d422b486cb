#pragma once

/// Density seen along the last axis, from the sheet that particles lie on.
///
/// Between the particles of a lattice the matter that they stand for is spread evenly at first, and
/// moves with them: a place between eight lattice neighbours lies where interpolation between their
/// positions puts it. Each particle is shown as many such places, so that voids, where particles
/// are rare, are smooth (Abel, Hahn, Kaehler, Mon. Not. R. Astron. Soc. 427, 61 (2012), had the
/// idea, with tetrahedra).

#include <coir/core/concepts.hpp>
#include <coir/core/contiguous.hpp>
#include <coir/core/errors.hpp>
#include <coir/core/math.hpp>
#include <coir/distributed/together.hpp>
#include <coir/nbody/particles.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

namespace coir::apps::nbody {

/// The part of the box that a picture shows: depths in [from, from + thickness), on pixels^2
/// pixels.
struct Sight {
  double from = 0;
  double thickness = 0;  ///< Mpc/h, at most the box
  int pixels = 0;
};

/// Mass per pixel in whole numbers, so that it adds up to the same bits in any order: a place
/// counts 2^24.
template <class Exec>
using SheetPixels = Kokkos::View<std::uint64_t**, Kokkos::LayoutRight, typename Exec::memory_space>;

namespace detail {

inline constexpr int position_bits = 12;  // of a place between two pixels; products fill 2^24

/// Deposits the places that belong to one particle, those between it and its lattice neighbours
/// above.
template <class Exec, class T>
struct PaintSheet {
  T const* position;      // of the particles of the lattice's planes that are here
  T const* plane_behind;  // of those of the plane behind them
  SheetPixels<Exec> mass;
  std::int64_t first;  // number of the first particle that is here
  std::int64_t here;   // how many are
  std::int64_t side;
  int places;
  int pixels;
  T box, from, thickness, pixels_per_length;

  /// From b, the nearest of its periodic images to a.
  KOKKOS_FUNCTION T step(T a, T b) const {
    T const d = b - a;
    return d - box * math::floor(d / box + T(0.5));
  }

  KOKKOS_FUNCTION static std::int64_t wrapped(std::int64_t i, std::int64_t n) {
    return i == n ? 0 : i;
  }

  /// A part of 1 along each axis, by the additive recurrence whose steps are powers of 1 /
  /// 1.2207440846057596 (the root of x^4 = x + 1): the places of one particle don't hide each
  /// other.
  KOKKOS_FUNCTION static T part(std::uint32_t number, int axis) {
    std::uint32_t const steps[3] = {3518319155U, 2882110345U, 2360945575U};
    return static_cast<T>((number * steps[axis]) >> 8) * T(1.0 / (1 << 24));
  }

  /// Mixes the bits of a number (MurmurHash3's last step).
  KOKKOS_FUNCTION static std::uint32_t scattered(std::uint32_t number) {
    number = (number ^ (number >> 16)) * 0x85ebca6bU;
    number = (number ^ (number >> 13)) * 0xc2b2ae35U;
    return number ^ (number >> 16);
  }

  KOKKOS_FUNCTION void deposit(T x, T y) const {
    constexpr int whole = 1 << position_bits;
    // Pixel i is centred at (i + 1/2) of its length.
    T const u = x * pixels_per_length - T(0.5), v = y * pixels_per_length - T(0.5);
    T const below_u = math::floor(u), below_v = math::floor(v);
    auto const a = static_cast<std::uint64_t>((u - below_u) * T(whole));
    auto const b = static_cast<std::uint64_t>((v - below_v) * T(whole));
    std::int64_t const i = periodic(static_cast<std::int64_t>(below_u));
    std::int64_t const j = periodic(static_cast<std::int64_t>(below_v));
    std::int64_t const next_i = wrapped(i + 1, pixels), next_j = wrapped(j + 1, pixels);
    Kokkos::atomic_add(&mass(i, j), (whole - a) * (whole - b));
    Kokkos::atomic_add(&mass(i, next_j), (whole - a) * b);
    Kokkos::atomic_add(&mass(next_i, j), a * (whole - b));
    Kokkos::atomic_add(&mass(next_i, next_j), a * b);
  }

  KOKKOS_FUNCTION std::int64_t periodic(std::int64_t i) const {
    i %= pixels;
    return i < 0 ? i + pixels : i;
  }

  /// \param p  counted from the first particle that is here
  KOKKOS_FUNCTION T const* position_of(std::int64_t p) const {
    return p < here ? position + 3 * p : plane_behind + 3 * (p - here);
  }

  /// \param p  as above
  KOKKOS_FUNCTION void operator()(std::int64_t p) const {
    std::int64_t const k = p % side, j = p / side % side, i = p / side / side;
    std::int64_t const rows[2] = {j, wrapped(j + 1, side)};
    std::int64_t const columns[2] = {k, wrapped(k + 1, side)};
    // The eight corners, from the first one.
    T const* const at_first = position_of(p);
    T const origin[3] = {at_first[0], at_first[1], at_first[2]};
    T corner[8][3];
    T nearest = 0, farthest = 0;
    for (int c = 0; c < 8; ++c) {
      T const* const other =
          position_of(((i + (c >> 2)) * side + rows[(c >> 1) & 1]) * side + columns[c & 1]);
      for (int d = 0; d < 3; ++d) corner[c][d] = step(origin[d], other[d]);
      nearest = corner[c][2] < nearest ? corner[c][2] : nearest;
      farthest = corner[c][2] > farthest ? corner[c][2] : farthest;
    }
    T const depth = origin[2] - from;
    T const begin = depth + nearest - box * math::floor((depth + nearest) / box);
    if (!(begin <= thickness || begin + (farthest - nearest) >= box)) return;

    for (int place = 0; place < places; ++place) {
      T at[3] = {origin[0], origin[1], origin[2]};
      if (places > 1) {
        auto const number =
            scattered(static_cast<std::uint32_t>(first + p)) + static_cast<std::uint32_t>(place);
        T const f[3] = {part(number, 0), part(number, 1), part(number, 2)};
        for (int c = 1; c < 8; ++c) {
          T const weight = ((c & 4) != 0 ? f[0] : T(1) - f[0]) *
                           ((c & 2) != 0 ? f[1] : T(1) - f[1]) *
                           ((c & 1) != 0 ? f[2] : T(1) - f[2]);
          for (int d = 0; d < 3; ++d) at[d] += weight * corner[c][d];
        }
      }
      T const behind = at[2] - from;
      T const inside = behind - box * math::floor(behind / box);
      if (thickness >= box || inside < thickness) deposit(at[0], at[1]);
    }
  }
};

}  // namespace detail

/// How many places a particle is shown as: 64 for each pixel on average, if the slab holds its
/// share of matter.
inline int places_per_particle(std::int64_t particles, double box, Sight const& sight) {
  double const shown = static_cast<double>(particles) * sight.thickness / box;
  double const wanted = 64.0 * sight.pixels * sight.pixels / shown;
  return static_cast<int>(std::clamp(std::ceil(wanted), 1.0, 4096.0));
}

namespace detail {

/// The positions of the plane of the lattice behind those that are here, which another rank has.
/// Collective.
template <class Exec, class T>
auto plane_behind(Exec const& exec, distributed::Group const& group,
                  coir::nbody::Particles<Exec, T> const& particles) {
  typename coir::nbody::Particles<Exec, T>::Vectors plane;
  std::int64_t const side = particles.side, in_plane = side * side;
  auto const own = distributed::share_of(side, group.rank(), group.size());
  auto const bytes = 3 * in_plane * static_cast<std::int64_t>(sizeof(T));
  distributed::together(group, [&] {
    using Vectors = typename coir::nbody::Particles<Exec, T>::Vectors;
    if (own.count > 0)
      plane = Vectors(Kokkos::view_alloc(Kokkos::WithoutInitializing, "coir::apps::nbody::plane"),
                      static_cast<std::size_t>(in_plane));
  });
  std::vector<distributed::Send> sends;
  std::vector<distributed::Receive> receives;
  if (own.count > 0) {
    int const before = distributed::owner_of((own.first + side - 1) % side, side, group.size());
    int const behind = distributed::owner_of(own.end() % side, side, group.size());
    sends.push_back({before, particles.position.data(), bytes});
    receives.push_back({behind, plane.data(), bytes});
  }
  group.exchange(exec, "nbody/sheet", sends, receives);
  return plane;
}

template <class Exec>
struct AddPixels {
  SheetPixels<Exec> sum, part;
  KOKKOS_FUNCTION void operator()(std::int64_t n) const { sum.data()[n] += part.data()[n]; }
};

/// Adds all ranks' pixels to the first one's. Collective.
template <class Exec>
void add_at_first(Exec const& exec, distributed::Group const& group,
                  SheetPixels<Exec> const& mass) {
  auto const bytes = static_cast<std::int64_t>(mass.size() * sizeof(std::uint64_t));
  SheetPixels<Exec> part;
  distributed::together(group, [&] {
    if (group.is_first())
      part = SheetPixels<Exec>(
          Kokkos::view_alloc(Kokkos::WithoutInitializing, "coir::apps::nbody::part"),
          mass.extent(0), mass.extent(1));
  });
  for (int rank = 1; rank < group.size(); ++rank) {
    std::array const send{distributed::Send{0, mass.data(), bytes}};
    std::array const receive{distributed::Receive{rank, part.data(), bytes}};
    group.exchange(exec, "nbody/sheet", std::span(send).first(group.rank() == rank ? 1 : 0),
                   std::span(receive).first(group.is_first() ? 1 : 0));
    if (group.is_first())
      Kokkos::parallel_for("coir::apps::nbody::add_pixels",
                           Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(
                               exec, 0, static_cast<std::int64_t>(mass.size())),
                           AddPixels<Exec>{mass, part});
  }
}

}  // namespace detail

/// Adds up the mass that is seen in each pixel. Rows of the picture run along the first axis,
/// columns along the second. The first rank gets the picture of all particles, in the same bits for
/// any number of ranks. Collective.
///
/// \return the mass that a pixel would hold if matter were spread evenly over the box
template <ExecutionSpace Exec, Real T>
double paint_sheet(Exec const& exec, distributed::Group const& group,
                   coir::nbody::Particles<Exec, T> const& particles, Sight const& sight,
                   SheetPixels<Exec> const& mass) {
  int const places = places_per_particle(particles.total(), particles.box, sight);
  // On one rank the plane behind the last one is the first one.
  auto const behind =
      group.size() > 1 ? detail::plane_behind<Exec, T>(exec, group, particles) : particles.position;
  set_to_zero(exec, mass);
  detail::PaintSheet<Exec, T> const kernel{particles.position.data(),
                                           behind.data(),
                                           mass,
                                           particles.first(),
                                           particles.count(),
                                           particles.side,
                                           places,
                                           sight.pixels,
                                           static_cast<T>(particles.box),
                                           static_cast<T>(sight.from),
                                           static_cast<T>(sight.thickness),
                                           static_cast<T>(sight.pixels / particles.box)};
  Kokkos::parallel_for(
      "coir::apps::nbody::paint_sheet",
      Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(exec, 0, particles.count()),
      kernel);
  if (group.size() > 1) detail::add_at_first(exec, group, mass);
  double const whole = double(1 << detail::position_bits) * double(1 << detail::position_bits);
  return whole * places * static_cast<double>(particles.total()) * sight.thickness / particles.box /
         (double(sight.pixels) * sight.pixels);
}

}  // namespace coir::apps::nbody
