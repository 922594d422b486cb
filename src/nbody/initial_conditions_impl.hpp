#pragma once

/// \file
/// Initial conditions by Lagrangian perturbation theory, for one execution space.

#include "amplitude_table.hpp"
#include "noise_file.hpp"
#include "white_noise.hpp"
#include "wrapped.hpp"

#include <coir/core/copy_to.hpp>
#include <coir/core/loops.hpp>
#include <coir/core/math.hpp>
#include <coir/core/memory.hpp>
#include <coir/core/pool.hpp>
#include <coir/distributed/share.hpp>
#include <coir/distributed/together.hpp>
#include <coir/fft/in_place.hpp>
#include <coir/fft/plan.hpp>
#include <coir/fft/slab.hpp>
#include <coir/mesh/transform_bytes.hpp>
#include <coir/nbody/initial_conditions.hpp>

#include <cmath>
#include <cstdint>
#include <memory>
#include <numbers>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace coir::nbody {

namespace detail {

/// Turns white noise into the linear density: multiplies each mode by sqrt(P(k) / volume of a cell).
template <class T>
struct ColourNoise {
  Kokkos::complex<T>* spectrum;
  std::int64_t n;
  std::int64_t first_row, rows;  ///< those of the second axis that are here
  double const* log_amplitude;   // see AmplitudeTable
  double log_first, per_step;
  int last;

  KOKKOS_FUNCTION void operator()(std::int64_t i, std::int64_t row, std::int64_t k) const {
    auto const x = static_cast<double>(fft::wave_number(i, n)),
               y = static_cast<double>(fft::wave_number(first_row + row, n)),
               z = static_cast<double>(k);
    double const square = x * x + y * y + z * z;
    T factor = 0;
    if (square > 0) {
      double const at = (0.5 * math::log(square) - log_first) * per_step;
      int const below = at < 0 ? 0 : at >= last ? last - 1 : static_cast<int>(at);
      double const part = at - below;
      factor = static_cast<T>(
          math::exp((1 - part) * log_amplitude[below] + part * log_amplitude[below + 1]));
    }
    auto& mode = spectrum[(i * rows + row) * (n / 2 + 1) + k];
    mode = Kokkos::complex<T>(mode.real() * factor, mode.imag() * factor);
  }
};

/// Derivatives of phi = laplacian^-1 of a density along the three axes a, in Fourier space: -d_a phi is the density
/// times i k_a / k^2, and the second derivatives d_a d_b phi, b = (a + shift) mod 3, are the density times k_a k_b /
/// k^2. Divided by n^3, which the transforms that follow leave to do.
template <class T>
struct PotentialDerivatives {
  Kokkos::complex<T> const* from;
  Kokkos::complex<T>* to[3];
  std::int64_t n;
  std::int64_t first_row, rows;  ///< those of the second axis that are here
  bool second;
  int shift;
  T unit;  // 2 pi / box

  KOKKOS_FUNCTION void operator()(std::int64_t i, std::int64_t row, std::int64_t k) const {
    std::int64_t const j = first_row + row;
    T const wave[3] = {unit * static_cast<T>(fft::wave_number(i, n)),
                       unit * static_cast<T>(fft::wave_number(j, n)), unit * static_cast<T>(k)};
    T const square = wave[0] * wave[0] + wave[1] * wave[1] + wave[2] * wave[2];
    T const cells = static_cast<T>(n) * static_cast<T>(n) * static_cast<T>(n);
    // The Nyquist frequency is left out where the derivative along the axis is of odd order.
    bool const odd = !second || shift > 0;
    T const slope[3] = {odd && 2 * i == n ? T(0) : wave[0], odd && 2 * j == n ? T(0) : wave[1],
                        odd && 2 * k == n ? T(0) : wave[2]};
    std::int64_t const at = (i * rows + row) * (n / 2 + 1) + k;
    auto const mode = from[at];
    COIR_UNROLL
    for (int a = 0; a < 3; ++a) {
      T const along_a = square > T(0) ? slope[a] / (square * cells) : T(0);
      if (second) {
        T const factor = along_a * (shift == 0 ? slope[a] : slope[a < 2 ? a + 1 : 0]);
        to[a][at] = Kokkos::complex<T>(factor * mode.real(), factor * mode.imag());
      } else {
        to[a][at] = Kokkos::complex<T>(-along_a * mode.imag(), along_a * mode.real());
      }
    }
  }
};

/// The source of second order, sum_(i<j) (phi,ii phi,jj - phi,ij^2), in two passes: source = x y + y z + z x of the
/// pure second derivatives, and then source -= x^2 + y^2 + z^2 of the mixed ones.
template <class T>
struct AddSecondOrder {
  T* source;
  T const *x, *y, *z;
  bool mixed;
  KOKKOS_FUNCTION void operator()(std::int64_t c) const {
    if (mixed)
      source[c] -= x[c] * x[c] + y[c] * y[c] + z[c] * z[c];
    else
      source[c] = x[c] * y[c] + y[c] * z[c] + z[c] * x[c];
  }
};

/// Replaces the densities of first and second order by linear combinations, whose displacements are those of positions
/// (first) and of momenta (second).
template <class T>
struct Combine {
  Kokkos::complex<T>*first, *second;
  T d1, d2, p1, p2;
  KOKKOS_FUNCTION void operator()(std::int64_t c) const {
    auto const a = first[c], b = second[c];
    first[c] = Kokkos::complex<T>(d1 * a.real() + d2 * b.real(), d1 * a.imag() + d2 * b.imag());
    second[c] = Kokkos::complex<T>(p1 * a.real() + p2 * b.real(), p1 * a.imag() + p2 * b.imag());
  }
};

/// x = q + for_position s, p = for_momentum s, of a displacement s with a mesh for each component.
template <class T>
struct Displace {
  T const* s[3];
  T *position, *momentum;  // null where they aren't to be written
  std::int64_t n;
  std::int64_t first_plane;  ///< of the lattice's planes on this rank
  double box;
  T for_position, for_momentum;

  KOKKOS_FORCEINLINE_FUNCTION T displacement(std::int64_t i, std::int64_t j, std::int64_t k,
                                             int d) const {
    T const* const component = d == 0 ? s[0] : d == 1 ? s[1] : s[2];
    return component[(i * n + j) * (2 * (n / 2 + 1)) + k];
  }

  /// \param site  along axis d
  KOKKOS_FORCEINLINE_FUNCTION void store(T displacement, std::int64_t site, std::int64_t to) const {
    if (position != nullptr) {
      T const length = static_cast<T>(box), spacing = static_cast<T>(box / static_cast<double>(n));
      position[to] = wrapped(static_cast<T>(site) * spacing + for_position * displacement, length);
    }
    if (momentum != nullptr) momentum[to] = for_momentum * displacement;
  }

  KOKKOS_FUNCTION void operator()(std::int64_t i, std::int64_t j, std::int64_t k) const {
    COIR_UNROLL
    for (int d = 0; d < 3; ++d)
      store(displacement(i, j, k, d),
            d == 0   ? first_plane + i
            : d == 1 ? j
                     : k,
            ((i * n + j) * n + k) * 3 + d);
  }
};

/// Displace for devices: a thread takes three of the 3 n numbers of a row, n apart, so that stores are coalesced.
template <class T>
struct DisplaceNumbers {
  Displace<T> displace;

  KOKKOS_FUNCTION void operator()(std::int64_t i, std::int64_t j, std::int64_t first) const {
    auto const n = static_cast<std::int32_t>(displace.n);
    T displacement[3];
    COIR_UNROLL
    for (int m = 0; m < 3; ++m) {
      std::int32_t const number = static_cast<std::int32_t>(first) + m * n;
      displacement[m] = displace.displacement(i, j, number / 3, number % 3);
    }
    COIR_UNROLL
    for (int m = 0; m < 3; ++m) {
      std::int32_t const number = static_cast<std::int32_t>(first) + m * n, d = number % 3;
      displace.store(displacement[m],
                     d == 0   ? displace.first_plane + i
                     : d == 1 ? j
                              : number / 3,
                     (i * n + j) * n * 3 + number);
    }
  }
};

/// Bytes of a mesh on the rank that has most planes.
inline std::int64_t mesh_bytes(std::int64_t side, std::size_t number, std::int64_t planes) {
  return planes * side * (side / 2 + 1) * 2 * static_cast<std::int64_t>(number);
}

/// Bytes of this rank's particles and meshes, without the work space of transforms.
inline std::int64_t lattice_bytes(std::int64_t side, std::size_t number,
                                  distributed::Group const& group = {}) {
  auto const planes = distributed::share_of(side, group.rank(), group.size()).count;
  // Five meshes, and a spare one over ranks; the pool rounds them up by an eighth at most.
  std::int64_t const meshes = group.size() == 1 ? 5 : 6;
  return 6 * planes * side * side * static_cast<std::int64_t>(number) +
         meshes * mesh_bytes(side, number, planes) / 8 * 9;
}

inline void check_lattice(std::int64_t side, double box, int order) {
  // The bytes of more particles exceed 64 bits.
  expects(side >= 1 && side <= 1 << 18, "the particles along a side must be from 1 to 2^18", side);
  expects(box > 0 && std::isfinite(box), "the box length must be positive and finite, in Mpc/h",
          box);
  expects(order == 1 || order == 2, "the order of perturbation theory must be 1 or 2", order);
}

/// The particles of this rank's planes of the lattice, without values.
template <class Exec, class T>
Particles<Exec, T> allocate_particles(std::int64_t side, double box,
                                      distributed::Share const& planes) {
  Particles<Exec, T> particles{side, box, {}, {}};
  particles.sites = {planes.first * side * side, planes.count * side * side};
  using Vectors = typename Particles<Exec, T>::Vectors;
  std::int64_t const bytes = 3 * particles.count() * static_cast<std::int64_t>(sizeof(T));
  for (auto* vectors : {&particles.position, &particles.momentum}) {
    *vectors = Vectors(Kokkos::view_alloc(Kokkos::WithoutInitializing, "coir::nbody::particles"),
                       particles.count());
    if constexpr (runs_on_host<Exec>) ask_for_large_pages(vectors->data(), bytes);
  }
  return particles;
}

/// Meshes, transforms and kernels of Lagrangian perturbation theory. Over ranks each has planes of the lattice and rows
/// of spectra.
template <class Exec, class T>
class Lpt {
 public:
  using Space = typename Exec::memory_space;
  using Number = Kokkos::complex<T>;
  using Spectrum = Kokkos::View<Number***, Kokkos::LayoutRight, Space>;
  using Block =
      Kokkos::View<Number***, Kokkos::LayoutRight, Space, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

  /// A mesh in memory of the pool of arrays, which is faster than the system's: a spectrum, or real numbers in its place.
  struct Mesh {
    std::shared_ptr<void> memory;
    Number* data = nullptr;
  };

  Lpt(Exec const& exec, distributed::Group const& group, std::int64_t n, double box)
      : exec_(exec),
        group_(group),
        n_(n),
        unit_(2 * std::numbers::pi / box),
        planes_(distributed::share_of(n, group.rank(), group.size())),
        rows_(planes_) {
    if (group.size() == 1)
      plan_.emplace(exec, Shape<3>{n, n, n}, 1, plan_options());
    else
      slab_.emplace(exec, group, Shape<3>{n, n, n}, plan_options());
    if (slab_) spare_ = meshes(1)[0];
  }

  // Measured plans differ between runs, and with them the last bits; and so do planes that are transformed together.
  static fft::PlanOptions plan_options() {
    return {.in_place = true, .effort = fft::Effort::estimate, .by_planes = true};
  }

  distributed::Group const& group() const { return group_; }
  distributed::Share const& planes() const { return planes_; }
  distributed::Share const& rows() const { return rows_; }

  /// On all ranks, or on none where memory is short on one.
  std::vector<Mesh> meshes(std::size_t count) const {
    return distributed::together(group_, [&] {
      std::vector<Mesh> result;
      while (result.size() < count) result.push_back(mesh());
      return result;
    });
  }
  T* numbers(Mesh const& mesh) const { return reinterpret_cast<T*>(mesh.data); }
  Block field(Mesh const& mesh) const {
    return Block(mesh.data, static_cast<std::size_t>(planes_.count), static_cast<std::size_t>(n_),
                 static_cast<std::size_t>(n_ / 2 + 1));
  }

  void forward(Mesh& mesh) const {
    if (plan_)
      plan_->forward(fft::real_view_of(field(mesh), n_), field(mesh));
    else
      over_ranks(mesh, [&](Block const& from, Block const& to) { slab_->forward(from, to); }, true);
  }

  void backward(Mesh& mesh) const {
    if (plan_)
      plan_->backward(field(mesh), fft::real_view_of(field(mesh), n_));
    else
      over_ranks(
          mesh, [&](Block const& from, Block const& to) { slab_->backward(from, to); }, false);
  }

  /// The three derivatives of phi along the axes, or three of its second derivatives, in real space.
  void differentiate(Number const* from, Mesh& x, Mesh& y, Mesh& z, bool second = false,
                     int shift = 0) const {
    for_each("coir::nbody::lpt/derivatives", exec_,
             coir::box<3, std::int64_t>({n_, rows_.count, n_ / 2 + 1}),
             PotentialDerivatives<T>{from,
                                     {x.data, y.data, z.data},
                                     n_,
                                     rows_.first,
                                     rows_.count,
                                     second,
                                     shift,
                                     static_cast<T>(unit_)});
    for (auto* to : {&x, &y, &z}) backward(*to);
  }

  /// Moves particles from their lattice, or sets their momenta, by s = -grad laplacian^-1 of a density in Fourier space.
  void displace(Number const* density, Mesh& x, Mesh& y, Mesh& z, T* position, T* momentum,
                double for_position, double for_momentum, double box) const {
    differentiate(density, x, y, z);
    Displace<T> const body{{numbers(x), numbers(y), numbers(z)},
                           position,
                           momentum,
                           n_,
                           planes_.first,
                           box,
                           static_cast<T>(for_position),
                           static_cast<T>(for_momentum)};
    auto const sites = coir::box<3, std::int64_t>({planes_.count, n_, n_});
    if constexpr (runs_on_host<Exec>)
      for_each("coir::nbody::lpt/displace", exec_, sites, body);
    else
      for_each("coir::nbody::lpt/displace", exec_, sites, DisplaceNumbers<T>{body});
  }

  /// source = sum_(i<j) (phi,ii phi,jj - phi,ij^2) in Fourier space.
  void second_order_source(Number const* density, Mesh& source, Mesh& x, Mesh& y, Mesh& z) const {
    for (bool const mixed : {false, true}) {
      differentiate(density, x, y, z, true, mixed ? 1 : 0);
      for_each("coir::nbody::lpt/second_order", exec_,
               coir::box<1, std::int64_t>({planes_.count * n_ * 2 * (n_ / 2 + 1)}),
               AddSecondOrder<T>{numbers(source), numbers(x), numbers(y), numbers(z), mixed});
    }
    forward(source);
  }

 private:
  Mesh mesh() const {
    auto memory = MemoryPool<Space>::allocate(planes_.count * n_ * (n_ / 2 + 1) *
                                              static_cast<std::int64_t>(sizeof(Number)));
    auto* const data = static_cast<Number*>(memory.get());
    return {std::move(memory), data};
  }

  /// Rows change their ranks on the way to other memory: a mesh that is spare takes the place of `mesh`.
  template <class Transform>
  void over_ranks(Mesh& mesh, Transform const& transform, bool forward) const {
    auto const spectrum = [&](Mesh const& one) {
      return Block(one.data, static_cast<std::size_t>(n_), static_cast<std::size_t>(rows_.count),
                   static_cast<std::size_t>(n_ / 2 + 1));
    };
    if (forward)
      transform(field(mesh), spectrum(spare_));
    else
      transform(spectrum(mesh), field(spare_));
    std::swap(mesh, spare_);
  }

  Exec exec_;
  distributed::Group group_;
  std::int64_t n_;
  double unit_;
  distributed::Share planes_, rows_;
  std::optional<fft::RealPlan<Exec, T, 3>> plan_;  // of one rank
  std::optional<fft::RealSlab<Exec, T>> slab_;     // of several
  mutable Mesh spare_;
};

/// Particles from white noise in Fourier space, which is overwritten.
template <class Exec, class T>
Particles<Exec, T> particles_of(Exec const& exec, Lpt<Exec, T> const& lpt, std::int64_t side,
                                double box, cosmology::LinearPower<double> const& power, double a,
                                int order, Kokkos::complex<T>* noise) {
  using Space = typename Exec::memory_space;
  auto const [growth, amplitude] = distributed::together(lpt.group(), [&] {
    return std::pair(power.growth().at(a), amplitude_table(power, side, box));
  });
  double const expansion = cosmology::expansion_rate(power.parameters(), a);
  auto const log_amplitude = copy_to<Space>("coir::nbody::lpt/power", amplitude.log_amplitude);
  std::int64_t const rows = lpt.rows().count;
  for_each("coir::nbody::lpt/colour", exec, coir::box<3, std::int64_t>({side, rows, side / 2 + 1}),
           ColourNoise<T>{noise, side, lpt.rows().first, rows, log_amplitude.data(),
                          amplitude.first, 1 / amplitude.step, amplitude.steps()});

  auto meshes = lpt.meshes(order == 1 ? 3 : 4);
  auto &x = meshes[0], &y = meshes[1], &z = meshes[2];
  double const a2e = a * a * expansion, p1 = a2e * growth.d1_prime, p2 = a2e * growth.d2_prime;
  if (order == 2) {
    auto& source = meshes[3];
    lpt.second_order_source(noise, source, x, y, z);
    for_each("coir::nbody::lpt/combine", exec,
             coir::box<1, std::int64_t>({side * rows * (side / 2 + 1)}),
             Combine<T>{noise, source.data, static_cast<T>(growth.d1), static_cast<T>(growth.d2),
                        static_cast<T>(p1), static_cast<T>(p2)});
  }
  auto const particles = distributed::together(lpt.group(), [&] {  // while devices work
    return allocate_particles<Exec, T>(side, box, lpt.planes());
  });
  T *const position = particles.position.data(), *const momentum = particles.momentum.data();
  if (order == 1) {
    lpt.displace(noise, x, y, z, position, momentum, growth.d1, p1, box);
  } else {
    lpt.displace(noise, x, y, z, position, nullptr, 1, 0, box);
    lpt.displace(meshes[3].data, x, y, z, nullptr, momentum, 0, 1, box);
  }
  exec.fence();
  return particles;
}

}  // namespace detail

template <CompiledSpace Exec, Real T>
std::int64_t initial_conditions_bytes(Exec const& exec, distributed::Group const& group,
                                      std::int64_t side) {
  return detail::lattice_bytes(side, sizeof(T), group) +
         mesh::transform_bytes<Exec, T>(exec, group, {side, side, side},
                                        detail::Lpt<Exec, T>::plan_options());
}

template <CompiledSpace Exec, Real T>
Particles<Exec, T> initial_conditions(Exec const& exec, std::int64_t side, double box,
                                      cosmology::LinearPower<double> const& power, double a,
                                      int order,
                                      Kokkos::View<Kokkos::complex<T>***, Kokkos::LayoutRight,
                                                   typename Exec::memory_space> const& noise) {
  using Space = typename Exec::memory_space;
  detail::check_lattice(side, box, order);
  expects(
      static_cast<std::int64_t>(noise.extent(0)) == side &&
          static_cast<std::int64_t>(noise.extent(1)) == side &&
          static_cast<std::int64_t>(noise.extent(2)) == side / 2 + 1,
      "the noise of " + std::to_string(side) + "^3 particles must have extents (n, n, n / 2 + 1)");
  expects_memory<Space>(
      detail::lattice_bytes(side, sizeof(T)) - detail::mesh_bytes(side, sizeof(T), side),
      "the initial conditions of " + std::to_string(side) + "^3 particles");
  detail::Lpt<Exec, T> const lpt(exec, distributed::Group::self(), side, box);
  return detail::particles_of<Exec, T>(exec, lpt, side, box, power, a, order, noise.data());
}

template <CompiledSpace Exec, Real T>
Particles<Exec, T> initial_conditions(Exec const& exec, distributed::Group const& group,
                                      std::int64_t side, double box,
                                      cosmology::LinearPower<double> const& power, double a,
                                      LptOptions const& options) {
  using Space = typename Exec::memory_space;
  distributed::together(group, [&] {
    detail::check_lattice(side, box, options.order);
    // The plan checks its own memory; to ask for it here would take devices as long as a transform.
    expects_memory<Space>(detail::lattice_bytes(side, sizeof(T), group),
                          "the initial conditions of " + std::to_string(side) + "^3 particles");
  });
  distributed::expects_alike(group, {{"number of particles along a side", side},
                                     {"box length", box},
                                     {"scale factor", a},
                                     {"order of perturbation theory", options.order},
                                     {"seed", options.noise.seed},
                                     {"choice of fixed amplitudes", options.noise.fixed_amplitude},
                                     {"choice to invert modes", options.noise.inverted},
                                     {"choice of a noise file", !options.noise_file.empty()},
                                     {"omega_m", power.parameters().omega_m}});
  detail::Lpt<Exec, T> const lpt(exec, group, side, box);
  auto noise = lpt.meshes(1)[0];
  if (options.noise_file.empty()) {
    detail::draw_modes<Exec, T>(exec, options.noise, side, lpt.rows(), noise.data);
  } else {
    distributed::together(group, [&] {
      detail::read_noise(options.noise_file, side, lpt.planes(), lpt.field(noise));
    });
    lpt.forward(noise);
  }
  return detail::particles_of<Exec, T>(exec, lpt, side, box, power, a, options.order, noise.data);
}

}  // namespace coir::nbody

#define COIR_INSTANTIATE_INITIAL_CONDITIONS_OF(Exec, T)                                           \
  template void white_noise<Exec, T>(                                                             \
      Exec const&, NoiseOptions const&,                                                           \
      Kokkos::View<Kokkos::complex<T>***, Kokkos::LayoutRight, Exec::memory_space> const&);       \
  template std::int64_t initial_conditions_bytes<Exec, T>(Exec const&, distributed::Group const&, \
                                                          std::int64_t);                          \
  template Particles<Exec, T> initial_conditions<Exec, T>(                                        \
      Exec const&, distributed::Group const&, std::int64_t, double,                               \
      cosmology::LinearPower<double> const&, double, LptOptions const&);                          \
  template Particles<Exec, T> initial_conditions<Exec, T>(                                        \
      Exec const&, std::int64_t, double, cosmology::LinearPower<double> const&, double, int,      \
      Kokkos::View<Kokkos::complex<T>***, Kokkos::LayoutRight, Exec::memory_space> const&);
#define COIR_INSTANTIATE_INITIAL_CONDITIONS(Exec)      \
  namespace coir::nbody {                              \
  COIR_INSTANTIATE_INITIAL_CONDITIONS_OF(Exec, float)  \
  COIR_INSTANTIATE_INITIAL_CONDITIONS_OF(Exec, double) \
  }
