#pragma once

/// Kernels that move particles by multiples of Quanta, and back.

#include "wrapped.hpp"

#include <coir/core/kokkos.hpp>
#include <coir/core/math.hpp>
#include <coir/distributed/group.hpp>
#include <coir/mesh/read_out.hpp>
#include <coir/nbody/detail/particle_reverser.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

namespace coir::nbody::detail {

template <class T>
using BitsOf = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;

template <class T>
KOKKOS_FORCEINLINE_FUNCTION BitsOf<T> bits_of(T x) {
  BitsOf<T> bits;
  std::memcpy(&bits, &x, sizeof(T));
  return bits;
}
template <class T>
KOKKOS_FORCEINLINE_FUNCTION T from_bits(BitsOf<T> bits) {
  T x;
  std::memcpy(&x, &bits, sizeof(T));
  return x;
}

/// The arithmetic of Quanta, exact but for two roundings to multiples: of a displacement and of an
/// impulse. While particles move, the memory of a momentum holds the bits of its whole number.
template <class T>
struct InQuanta {
  static constexpr T lost = std::numeric_limits<T>::quiet_NaN();
  static constexpr Whole<T> most = most_quanta<T>;
  T position, box;

  explicit InQuanta(Quanta<T> const& quanta) : position(quanta.position), box(quanta.box) {}

  KOKKOS_FORCEINLINE_FUNCTION static Whole<T> held(T const& momentum) {
    return static_cast<Whole<T>>(bits_of(momentum));
  }
  KOKKOS_FORCEINLINE_FUNCTION static void hold(T& momentum, Whole<T> n) {
    momentum = from_bits<T>(static_cast<BitsOf<T>>(n));
  }
  KOKKOS_FORCEINLINE_FUNCTION static BitsOf<T> size(Whole<T> n) {
    return static_cast<BitsOf<T>>(n < 0 ? -n : n);
  }

  KOKKOS_FORCEINLINE_FUNCTION T displacement(Whole<T> n, T factor) const {
    return math::rint(static_cast<T>(n) * factor) * position;
  }
  /// x + by in the periodic box; NaN unless |by| is less than the box. No intermediate sum leaves
  /// the range in which sums are exact.
  KOKKOS_FORCEINLINE_FUNCTION T moved(T x, T by) const {
    T const down = by >= T(0) ? by - box : by;
    T const sum = x + down;
    T const in_box = sum < T(0) ? sum + box : sum;
    return math::abs(by) < box ? in_box : lost;
  }
  /// A force in quanta of momentum; `most` if it is too large.
  KOKKOS_FORCEINLINE_FUNCTION static Whole<T> impulse(T force, T factor) {
    T const rounded = math::rint(force * factor);
    bool const fits = math::abs(rounded) < static_cast<T>(most);
    auto const n = static_cast<Whole<T>>(fits ? rounded : T(0));
    return fits ? n : most;
  }
  /// n + impulse; `most` if that can't be held.
  KOKKOS_FORCEINLINE_FUNCTION static Whole<T> kicked(Whole<T> n, T force, T factor) {
    Whole<T> const by = impulse(force, factor), sum = n + by;  // of two below 2^30
    bool const fits = by < most && sum < most && -sum < most;
    return fits ? sum : most;
  }
};

/// A hash of a coordinate and its momentum. Sums of hashes don't depend on the order of particles.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION BitsOf<T> hash_of(T x, Whole<T> n) {
  using Bits = BitsOf<T>;
  // Odd factors of Knuth's multiplicative hash and of the last steps of MurmurHash3.
  constexpr Bits a = static_cast<Bits>(0x9e3779b97f4a7c15u >> (64 - 8 * sizeof(T))) | 1,
                 b = static_cast<Bits>(0xc2b2ae3d27d4eb4fu >> (64 - 8 * sizeof(T))) | 1,
                 c = static_cast<Bits>(0xff51afd7ed558ccdu >> (64 - 8 * sizeof(T))) | 1;
  Bits hash = bits_of(x) * a + static_cast<Bits>(n) * b;
  hash ^= hash >> (4 * sizeof(T) - 1);
  hash *= c;
  return hash ^ (hash >> (4 * sizeof(T)));
}

/// Sums and largest numbers that a pass over particles finds. None depends on the order of
/// particles: terms of sums are rounded by rounded_for_sum(), and sizes are compared by their bits.
/// These grow with the size; NaN has the largest.
template <class T>
struct alignas(64) Found {
  BitsOf<T> check_sum = 0;  ///< of hash_of() before the kick
  /// The largest sizes. On the way forward: of a force (its bits), and of a momentum in quanta. On
  /// the way back: of the cotangents of positions and of momenta (their bits).
  BitsOf<T> largest[2] = {};
  double drift = 0, kick = 0, keep = 0;  ///< see PullBackKickAndDrift
};

template <class T>
struct FoundMonoid {
  using value_type = Found<T>;
  static constexpr bool rounds = false;

  KOKKOS_FORCEINLINE_FUNCTION value_type neutral() const { return {}; }
  KOKKOS_FORCEINLINE_FUNCTION void join(value_type& into, value_type const& other) const {
    into.check_sum += other.check_sum;
    for (int i = 0; i < 2; ++i)
      into.largest[i] = other.largest[i] > into.largest[i] ? other.largest[i] : into.largest[i];
    into.drift += other.drift;
    into.kick += other.kick;
    into.keep += other.keep;
  }
};

/// What all ranks have found together. Collective.
template <class T>
Found<T> of_all_ranks(distributed::Group const& group, Found<T> const& here) {
  Found<T> all;
  for (auto const& found : group.gather(here)) FoundMonoid<T>{}.join(all, found);
  return all;
}

/// A term rounded to a multiple of anchor 2^-52 / 1.5. Sums of such terms are exact as long as they
/// stay below the anchor, and so don't depend on the order.
///
/// \see Demmel & Nguyen, IEEE Trans. Comput. 64, 2060 (2015)
KOKKOS_FORCEINLINE_FUNCTION double rounded_for_sum(double term, double anchor) {
  return (term + anchor) - anchor;
}

/// The anchor for a sum of `count` terms of size `largest` at most.
inline double anchor_for(double count, double largest) {
  double const all = count * largest;
  if (!(all > 0)) return 0;
  int exponent;
  std::frexp(all, &exponent);
  return std::ldexp(1.5, exponent + 1);
}

/// Adds up terms of a stretch, in several sums whose additions don't wait for each other.
inline double sum_for(double const* term, int count, double anchor) {
  constexpr int lanes = 8;
  double sum[lanes] = {};
  int at = 0;
  for (; at + lanes <= count; at += lanes)
    for (int l = 0; l < lanes; ++l) sum[l] += rounded_for_sum(term[at + l], anchor);
  double all = 0;
  for (; at < count; ++at) all += rounded_for_sum(term[at], anchor);
  for (int l = 0; l < lanes; ++l) all += sum[l];
  return all;
}

/// The most coordinates that a stretch of read_out() has.
inline constexpr int most_of_stretch = 3 * mesh::particles_per_stretch;

/// The body of read_out() for a share of the particles, with a Found of its own.
template <class Body>
Body body_of_share(Body body, std::int64_t share) {
  body.found += share;
  return body;
}

/// p += kick F, x += drift p, where forces are three numbers.
template <class T>
struct KickAndDriftInQuanta {
  T *position, *momentum;
  InQuanta<T> quanta;
  T kick, drift;
  Found<T>* found = nullptr;

  KickAndDriftInQuanta of_share(std::int64_t share) const { return body_of_share(*this, share); }

  void stretch(std::int64_t first, int count, mesh::Value<T, 3> const* forces) const {
    T const* const force = forces->component;
    T *const x = position + 3 * first, *const p = momentum + 3 * first;
    auto const local = *this;
    BitsOf<T> check = 0, largest_force = 0, largest_momentum = 0;
    COIR_INDEPENDENT_ITERATIONS
    for (int at = 0; at < 3 * count; ++at) {
      Whole<T> const before = InQuanta<T>::held(p[at]),
                     after = InQuanta<T>::kicked(before, force[at], local.kick);
      T const here = x[at];
      check += hash_of(here, before);
      largest_force = std::max(largest_force, bits_of(math::abs(force[at])));
      largest_momentum = std::max(largest_momentum, InQuanta<T>::size(after));
      InQuanta<T>::hold(p[at], after);
      x[at] = local.moved(here, after);
    }
    found->check_sum += check;
    found->largest[0] = std::max(found->largest[0], largest_force);
    found->largest[1] = std::max(found->largest[1], largest_momentum);
  }

  /// The numbers of one coordinate of a particle that devices load and store.
  struct Coordinate {
    T x, momentum;
  };
  KOKKOS_FORCEINLINE_FUNCTION Coordinate load(std::int64_t at) const {
    return {position[at], momentum[at]};
  }
  KOKKOS_FORCEINLINE_FUNCTION void store(std::int64_t at, Coordinate const& coordinate) const {
    position[at] = coordinate.x;
    momentum[at] = coordinate.momentum;
  }
  KOKKOS_FORCEINLINE_FUNCTION void move(Coordinate& at, T const (&read)[1], Found<T>& into) const {
    T const force = read[0];
    Whole<T> const before = InQuanta<T>::held(at.momentum),
                   after = InQuanta<T>::kicked(before, force, kick);
    FoundMonoid<T>{}.join(
        into, {hash_of(at.x, before), {bits_of(math::abs(force)), InQuanta<T>::size(after)}});
    InQuanta<T>::hold(at.momentum, after);
    at.x = moved(at.x, after);
  }

 private:
  KOKKOS_FORCEINLINE_FUNCTION T moved(T x, Whole<T> n) const {
    return quanta.moved(x, quanta.displacement(n, drift));
  }
};

/// Undoes p += kick F, and a drift before it.
template <class T>
struct UndoKickAndDrift {
  T *position, *momentum;
  InQuanta<T> quanta;
  T kick, drift;
  Found<T>* found = nullptr;

  UndoKickAndDrift of_share(std::int64_t share) const { return body_of_share(*this, share); }

  void stretch(std::int64_t first, int count, mesh::Value<T, 3> const* forces) const {
    T const* const force = forces->component;
    T *const x = position + 3 * first, *const p = momentum + 3 * first;
    auto const local = *this;
    BitsOf<T> check = 0;
    COIR_INDEPENDENT_ITERATIONS
    for (int at = 0; at < 3 * count; ++at) {
      Whole<T> const before = local.before_kick(InQuanta<T>::held(p[at]), force[at]);
      T const here = x[at];
      check += hash_of(here, before);
      InQuanta<T>::hold(p[at], before);
      x[at] = local.before_drift(here, before);
    }
    found->check_sum += check;
  }

  struct Coordinate {
    T x, momentum;
  };
  KOKKOS_FORCEINLINE_FUNCTION Coordinate load(std::int64_t at) const {
    return {position[at], momentum[at]};
  }
  KOKKOS_FORCEINLINE_FUNCTION void store(std::int64_t at, Coordinate const& coordinate) const {
    position[at] = coordinate.x;
    momentum[at] = coordinate.momentum;
  }
  KOKKOS_FORCEINLINE_FUNCTION void move(Coordinate& at, T const (&force)[1], Found<T>& into) const {
    Whole<T> const before = before_kick(InQuanta<T>::held(at.momentum), force[0]);
    into.check_sum += hash_of(at.x, before);
    InQuanta<T>::hold(at.momentum, before);
    at.x = before_drift(at.x, before);
  }

  KOKKOS_FORCEINLINE_FUNCTION Whole<T> before_kick(Whole<T> n, T force) const {
    return n - InQuanta<T>::impulse(force, kick);
  }
  KOKKOS_FORCEINLINE_FUNCTION T before_drift(T x, Whole<T> n) const {
    return quanta.moved(x, -quanta.displacement(n, drift));
  }
};

/// UndoKickAndDrift with the adjoints of both moves:
///
///   Found::drift += xi n;  Found::kick += pi F;  Found::keep += pi n, with the n before the kick
///   xi += slope;  pi = keep pi + drift_factor xi
///
/// xi and pi are the cotangents of positions and momenta after the kick, n the whole numbers of
/// momenta. F and slope are what ForceAndSlopes reads.
template <class T>
struct PullBackKickAndDrift {
  UndoKickAndDrift<T> undo;
  T *position_slope, *momentum_slope;  // xi, pi
  T keep, drift_factor;
  bool sums_keep;
  double anchor_drift, anchor_kick, anchor_keep;
  Found<T>* found = nullptr;

  PullBackKickAndDrift of_share(std::int64_t share) const { return body_of_share(*this, share); }

  void stretch(std::int64_t first, int count, mesh::Value<T, 6> const* read) const {
    T force[most_of_stretch], slope[most_of_stretch];
    double of_drift[most_of_stretch], of_kick[most_of_stretch], of_keep[most_of_stretch];
    for (int p = 0; p < count; ++p)
      for (int d = 0; d < 3; ++d) {
        force[3 * p + d] = read[p].component[d];
        slope[3 * p + d] = read[p].component[3 + d];
      }
    T *const x = undo.position + 3 * first, *const p = undo.momentum + 3 * first,
             *const xi = position_slope + 3 * first, *const pi = momentum_slope + 3 * first;
    auto const local = *this;
    BitsOf<T> check = 0, largest_xi = 0, largest_pi = 0;
    int const all = 3 * count;
    COIR_INDEPENDENT_ITERATIONS
    for (int at = 0; at < all; ++at) {
      Whole<T> const after = InQuanta<T>::held(p[at]),
                     before = local.undo.before_kick(after, force[at]);
      T const here = x[at], xi_after = xi[at], pi_after = pi[at];
      check += hash_of(here, before);
      of_drift[at] = static_cast<double>(xi_after) * static_cast<double>(after);
      of_kick[at] = static_cast<double>(pi_after) * static_cast<double>(force[at]);
      of_keep[at] = static_cast<double>(pi_after) * static_cast<double>(before);
      T const xi_before = xi_after + slope[at],
              pi_before = local.keep * pi_after + local.drift_factor * xi_before;
      largest_xi = std::max(largest_xi, bits_of(math::abs(xi_before)));
      largest_pi = std::max(largest_pi, bits_of(math::abs(pi_before)));
      InQuanta<T>::hold(p[at], before);
      x[at] = local.undo.before_drift(here, before);
      xi[at] = xi_before;
      pi[at] = pi_before;
    }
    found->check_sum += check;
    found->largest[0] = std::max(found->largest[0], largest_xi);
    found->largest[1] = std::max(found->largest[1], largest_pi);
    found->drift += sum_for(of_drift, all, anchor_drift);
    found->kick += sum_for(of_kick, all, anchor_kick);
    if (sums_keep) found->keep += sum_for(of_keep, all, anchor_keep);
  }

  struct Coordinate {
    T x, momentum, xi, pi;
  };
  KOKKOS_FORCEINLINE_FUNCTION Coordinate load(std::int64_t at) const {
    return {undo.position[at], undo.momentum[at], position_slope[at], momentum_slope[at]};
  }
  KOKKOS_FORCEINLINE_FUNCTION void store(std::int64_t at, Coordinate const& coordinate) const {
    undo.store(at, {coordinate.x, coordinate.momentum});
    position_slope[at] = coordinate.xi;
    momentum_slope[at] = coordinate.pi;
  }
  KOKKOS_FORCEINLINE_FUNCTION void move(Coordinate& at, T const (&read)[2], Found<T>& into) const {
    T const force = read[0], xi_after = at.xi, pi_after = at.pi, xi_before = xi_after + read[1],
            pi_before = keep * pi_after + drift_factor * xi_before;
    Whole<T> const after = InQuanta<T>::held(at.momentum), before = undo.before_kick(after, force);
    FoundMonoid<T>{}.join(
        into,
        {hash_of(at.x, before),
         {bits_of(math::abs(xi_before)), bits_of(math::abs(pi_before))},
         rounded_for_sum(static_cast<double>(xi_after) * static_cast<double>(after), anchor_drift),
         rounded_for_sum(static_cast<double>(pi_after) * static_cast<double>(force), anchor_kick),
         sums_keep ? rounded_for_sum(static_cast<double>(pi_after) * static_cast<double>(before),
                                     anchor_keep)
                   : 0});
    InQuanta<T>::hold(at.momentum, before);
    at.x = undo.before_drift(at.x, before);
    at.xi = xi_before;
    at.pi = pi_before;
  }
};

/// x += drift p, or back.
template <class T>
struct DriftInQuanta {
  T* position;
  T const* momentum;
  InQuanta<T> quanta;
  T drift;
  bool back;
  KOKKOS_FUNCTION void operator()(std::int64_t at) const {
    T const by = quanta.displacement(InQuanta<T>::held(momentum[at]), drift);
    position[at] = quanta.moved(position[at], back ? -by : by);
  }
};

/// The nearest multiple in the box. -0 becomes 0, as undoing a drift gives 0.
template <class T>
struct RoundPosition {
  T* position;
  InQuanta<T> quanta;
  KOKKOS_FUNCTION void operator()(std::int64_t at) const {
    T const x = math::rint(wrapped(position[at], quanta.box) / quanta.position) * quanta.position;
    position[at] = (x >= quanta.box ? T(0) : x) + T(0);
  }
};

/// The whole number next to momentum / quantum; most_quanta if it is too large to be held.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION Whole<T> quanta_in(T momentum, double quantum) {
  double const n = math::rint(static_cast<double>(momentum) / quantum);
  double const most = static_cast<double>(most_quanta<T>);
  return n < most && n > -most ? static_cast<Whole<T>>(n) : most_quanta<T>;
}

/// A momentum becomes the whole number that it stands for: the nearest one plus the remainder that
/// ReleaseMomentum has kept.
template <class T>
struct HoldMomentum {
  T* momentum;
  std::int8_t const* remainder;  // or null: 0
  double quantum;
  KOKKOS_FUNCTION void operator()(std::int64_t at) const {
    Whole<T> const n = quanta_in(momentum[at], quantum);
    InQuanta<T>::hold(momentum[at], n + (remainder == nullptr ? 0 : remainder[at]));
  }
};

/// A whole number becomes the momentum that it stands for, rounded to T. The remainder of rounding
/// can be kept: at most 2^6 for floats and numbers below 2^30, and 0 for doubles.
template <class T>
struct ReleaseMomentum {
  T* momentum;
  std::int8_t* remainder;  // or null: it isn't kept
  double quantum;
  KOKKOS_FUNCTION void operator()(std::int64_t at) const {
    Whole<T> const n = InQuanta<T>::held(momentum[at]);
    T const p = static_cast<T>(static_cast<double>(n) * quantum) + T(0);
    momentum[at] = p;
    if (remainder != nullptr) remainder[at] = static_cast<std::int8_t>(n - quanta_in(p, quantum));
  }
};

/// n = rint(factor n).
template <class T>
struct ScaleHeld {
  T* momentum;
  double factor;
  KOKKOS_FUNCTION void operator()(std::int64_t at) const {
    InQuanta<T>::hold(momentum[at],
                      static_cast<Whole<T>>(math::rint(
                          static_cast<double>(InQuanta<T>::held(momentum[at])) * factor)));
  }
};

/// Copies momenta to the order of the lattice. `site` is null for particles that are in that order.
template <class T>
struct StoreMomentum {
  T const* momentum;
  T* stored;
  std::uint32_t const* site;
  KOKKOS_FUNCTION void operator()(std::int64_t p) const {
    std::int64_t const to = site == nullptr ? p : std::int64_t(site[p]);
    COIR_UNROLL
    for (int d = 0; d < 3; ++d) stored[3 * to + d] = momentum[3 * p + d];
  }
};
template <class T>
struct RestoreMomentum {
  T* momentum;
  T const* stored;
  std::uint32_t const* site;
  KOKKOS_FUNCTION void operator()(std::int64_t p) const {
    std::int64_t const from = site == nullptr ? p : std::int64_t(site[p]);
    COIR_UNROLL
    for (int d = 0; d < 3; ++d) momentum[3 * p + d] = stored[3 * from + d];
  }
};

/// pi += factor xi, and x -= drift p.
template <class T>
struct PullBackDrift {
  DriftInQuanta<T> drift;
  T const* position_slope;
  T* momentum_slope;
  T factor;
  KOKKOS_FUNCTION void operator()(std::int64_t at) const {
    momentum_slope[at] += factor * position_slope[at];
    drift(at);
  }
};

/// pi *= factor.
template <class T>
struct ScaleSlope {
  T* slope;
  T factor;
  KOKKOS_FUNCTION void operator()(std::int64_t at) const { slope[at] *= factor; }
};

/// The largest xi and pi.
template <class T>
struct FindLargest {
  T const *position_slope, *momentum_slope;
  KOKKOS_FUNCTION void operator()(std::int64_t at, Found<T>& found) const {
    FoundMonoid<T>{}.join(
        found,
        {0, {bits_of(math::abs(position_slope[at])), bits_of(math::abs(momentum_slope[at]))}});
  }
};

/// sum a n, n the whole numbers of momenta.
template <class T>
struct ProductSum {
  T const *a, *momentum;
  double anchor;
  KOKKOS_FUNCTION void operator()(std::int64_t at, double& sum) const {
    double const n = static_cast<double>(InQuanta<T>::held(momentum[at]));
    sum += rounded_for_sum(static_cast<double>(a[at]) * n, anchor);
  }
};

}  // namespace coir::nbody::detail
