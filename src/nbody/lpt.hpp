#pragma once

#include "amplitude_table.hpp"
#include "wrapped.hpp"

#include <coir/core/contiguous.hpp>
#include <coir/core/errors.hpp>
#include <coir/core/kept_views.hpp>
#include <coir/core/loops.hpp>
#include <coir/core/math.hpp>
#include <coir/core/pool.hpp>
#include <coir/core/views.hpp>
#include <coir/cosmology/power.hpp>
#include <coir/distributed/share.hpp>
#include <coir/distributed/together.hpp>
#include <coir/fft/in_place.hpp>
#include <coir/fft/plan_over_ranks.hpp>
#include <coir/fft/wave_number.hpp>
#include <coir/nbody/detail/checks.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

namespace coir::nbody::detail {

/// The amplitudes of modes, from an AmplitudeTable in the memory of kernels.
struct Amplitudes {
  double const* log_amplitude;
  double log_first, per_step;
  int last;

  /// The place of a mode in the table: a share `part` of the way from node `below` to the next.
  struct Place {
    int below;
    double part;
  };

  /// \param square  of the mode's whole wave numbers, above 0
  KOKKOS_FORCEINLINE_FUNCTION Place place(double square) const {
    double const at = (0.5 * math::log(square) - log_first) * per_step;
    int const below = at < 0 ? 0 : at >= last ? last - 1 : static_cast<int>(at);
    return {below, at - below};
  }

  /// sqrt(P(k) / volume of a cell)
  KOKKOS_FORCEINLINE_FUNCTION double operator()(double square) const {
    auto const [below, part] = place(square);
    return math::exp((1 - part) * log_amplitude[below] + part * log_amplitude[below + 1]);
  }
};

/// \param log_amplitude  the table's, copied to where kernels read it
template <class Space>
Amplitudes amplitudes_of(AmplitudeTable<> const& table,
                         Kokkos::View<double*, Space> const& log_amplitude) {
  return {log_amplitude.data(), table.first, 1 / table.step, table.steps()};
}

/// The amplitudes of a table, copied to where kernels of `exec` read them. Waits for the copy.
template <class Exec>
auto amplitudes_for(Exec const& exec, AmplitudeTable<> const& table) {
  auto const& from = table.log_amplitude;
  auto const copy = kept_view<Kokkos::View<double*, typename Exec::memory_space>>(
      exec, "coir::nbody::lpt/amplitudes", from.size());
  copy_contiguous(copy, UnmanagedView<double const, 1, Kokkos::LayoutRight, Kokkos::HostSpace>(
                            from.data(), from.size()));
  return copy;
}

/// Turns white noise into the linear density: multiplies each mode by its amplitude, and the mean
/// by 0.
template <class T>
struct ColourNoise {
  static constexpr bool reads_no_neighbours = true;
  Kokkos::complex<T>* spectrum;
  std::int64_t n;
  std::int64_t first_row, rows;  ///< those of the second axis that are here
  Amplitudes amplitudes;

  KOKKOS_FUNCTION void operator()(std::int64_t i, std::int64_t row, std::int64_t k) const {
    auto const x = static_cast<double>(fft::wave_number(i, n)),
               y = static_cast<double>(fft::wave_number(first_row + row, n)),
               z = static_cast<double>(k);
    double const square = x * x + y * y + z * z;
    T factor = 0;
    if (square > 0) factor = static_cast<T>(amplitudes(square));
    auto& mode = spectrum[(i * rows + row) * (n / 2 + 1) + k];
    mode = Kokkos::complex<T>(mode.real() * factor, mode.imag() * factor);
  }
};

/// Factors that turn the modes of a density, the Laplacian of phi, into modes of derivatives of phi
/// along the three axes a: i k_a / k^2 for -d_a phi, and k_a k_b / k^2 for d_a d_b phi with b = (a
/// + shift) mod 3. They are divided by n^3, because the transforms that follow don't scale.
template <class T>
struct DerivativeFactors {
  std::int64_t n;
  std::int64_t first_row;  ///< of the second axis, here
  bool second;
  int shift;
  T unit;  // 2 pi / box

  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t i, std::int64_t row, std::int64_t k,
                                              T (&factor)[3]) const {
    std::int64_t const j = first_row + row;
    T const wave[3] = {unit * static_cast<T>(fft::wave_number(i, n)),
                       unit * static_cast<T>(fft::wave_number(j, n)), unit * static_cast<T>(k)};
    T const square = wave[0] * wave[0] + wave[1] * wave[1] + wave[2] * wave[2];
    T const cells = static_cast<T>(n) * static_cast<T>(n) * static_cast<T>(n);
    // Derivatives of odd order along an axis leave its Nyquist frequency out.
    bool const odd = !second || shift > 0;
    T const slope[3] = {odd && 2 * i == n ? T(0) : wave[0], odd && 2 * j == n ? T(0) : wave[1],
                        odd && 2 * k == n ? T(0) : wave[2]};
    COIR_UNROLL
    for (int a = 0; a < 3; ++a) {
      factor[a] = square > T(0) ? slope[a] / (square * cells) : T(0);
      if (second) factor[a] *= shift == 0 ? slope[a] : slope[a < 2 ? a + 1 : 0];
    }
  }
};

/// Derivatives of phi in Fourier space, from the modes of a density.
template <class T>
struct PotentialDerivatives {
  static constexpr bool reads_no_neighbours = true;
  Kokkos::complex<T> const* from;
  Kokkos::complex<T>* to[3];
  std::int64_t rows;  ///< of the second axis, here
  DerivativeFactors<T> factors;

  KOKKOS_FUNCTION void operator()(std::int64_t i, std::int64_t row, std::int64_t k) const {
    T factor[3];
    factors(i, row, k, factor);
    std::int64_t const at = (i * rows + row) * (factors.n / 2 + 1) + k;
    auto const mode = from[at];
    COIR_UNROLL
    for (int a = 0; a < 3; ++a)
      to[a][at] = factors.second
                      ? Kokkos::complex<T>(factor[a] * mode.real(), factor[a] * mode.imag())
                      : Kokkos::complex<T>(-factor[a] * mode.imag(), factor[a] * mode.real());
  }
};

/// The source of second order, sum_(i<j) (phi,ii phi,jj - phi,ij^2), in two passes: source = x y +
/// y z + z x for the pure second derivatives, and then source -= x^2 + y^2 + z^2 for the mixed
/// ones.
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

/// Copies numbers of n^3 sites to a mesh, whose rows end in unused numbers, or from one.
template <class T>
struct CopySites {
  static constexpr bool reads_no_neighbours = true;
  T const* from;
  T* to;
  std::int64_t n, from_row, to_row;
  KOKKOS_FUNCTION void operator()(std::int64_t i, std::int64_t j, std::int64_t k) const {
    to[(i * n + j) * to_row + k] = from[(i * n + j) * from_row + k];
  }
};

/// Replaces the densities of first and second order by two linear combinations: the displacements
/// of the first are those of positions, and the displacements of the second are momenta.
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

/// Displace for devices: a thread takes three of the 3 n numbers of a row, n apart, so that stores
/// are coalesced.
template <class T>
struct DisplaceNumbers {
  static constexpr bool reads_no_neighbours = true;
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

/// \throws PreconditionError unless there is a number for each site of this rank's planes
template <class View>
void expects_sites(char const* what, View const& view, distributed::Group const& group,
                   std::int64_t side) {
  std::string const extent = std::to_string(side);
  std::int64_t const planes = distributed::share_of(side, group.rank(), group.size()).count;
  for (std::size_t d = 0; d < 3; ++d)
    expects(static_cast<std::int64_t>(view.extent(d)) == (d == 0 ? planes : side),
            std::string(what) + " of " + extent + "^3 particles must have extents (" +
                std::to_string(planes) + ", " + extent + ", " + extent + ")" +
                (planes == side ? "" : ", those of this rank's planes of the lattice") + ", not (" +
                std::to_string(view.extent(0)) + ", " + std::to_string(view.extent(1)) + ", " +
                std::to_string(view.extent(2)) + ")");
}

/// \throws PreconditionError on all ranks unless they have the same settings. Spectra are compared
///   at two wavenumbers, and growth at the scale factor.
inline void expects_alike_start(distributed::Group const& group, std::int64_t side, double box,
                                cosmology::LinearPower<double> const& power, double a, int order) {
  double const nan = std::numeric_limits<double>::quiet_NaN();
  auto const power_at = [&](double k) { return power.covers(k, k) ? power(k) : nan; };
  auto const& growth = power.growth();
  bool const has_growth = growth.a_min() <= a && a <= growth.a_max();
  distributed::expects_alike(group,
                             {{"number of particles along a side", side},
                              {"box length", box},
                              {"scale factor", a},
                              {"order of perturbation theory", order},
                              {"omega_m", power.parameters().omega_m},
                              {"linear power at k = 0.02 h/Mpc", power_at(0.02)},
                              {"linear power at k = 1 h/Mpc", power_at(1)},
                              {"growth at the scale factor", has_growth ? growth.d1(a) : nan}});
}

/// Meshes, transforms and kernels of Lagrangian perturbation theory. Each rank has planes of the
/// lattice and rows of spectra.
template <class Exec, class T>
class Lpt {
 public:
  using Space = typename Exec::memory_space;
  using Number = Kokkos::complex<T>;
  using Spectrum = Kokkos::View<Number***, Kokkos::LayoutRight, Space>;
  using Block =
      Kokkos::View<Number***, Kokkos::LayoutRight, Space, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

  /// A mesh in memory of the pool of arrays: a spectrum, or real numbers in its place.
  struct Mesh {
    std::shared_ptr<void> memory;
    Number* data = nullptr;
  };

  Lpt(Exec const& exec, distributed::Group const& group, std::int64_t n, double box)
      : exec_(exec),
        group_(group),
        n_(n),
        unit_(2 * std::numbers::pi / box),
        plan_(exec, group, Shape<3>{n, n, n}, effort) {
    if (!plan_.is_in_place()) spare_ = meshes(1)[0];
  }

  /// Bytes of this rank's meshes, which the pool of arrays rounds up by an eighth at most, and of
  /// particles that are made beside them. The workspace of transforms isn't among them.
  static std::int64_t bytes(distributed::Group const& group, std::int64_t n, std::int64_t meshes,
                            bool with_particles) {
    auto const planes = distributed::share_of(n, group.rank(), group.size()).count;
    if (!fft::transforms_in_place(group)) ++meshes;  // the spare one
    std::int64_t const particles = with_particles ? planes * n * n : 0;
    return meshes * fft::bytes_in_place<T>(Shape<3>{planes, n, n}) / 8 * 9 +
           6 * particles * static_cast<std::int64_t>(sizeof(T));
  }

  // Measured plans, and so the last bits, would differ between runs.
  static constexpr fft::Effort effort = fft::Effort::estimate;

  distributed::Group const& group() const { return group_; }
  distributed::Share const& planes() const { return plan_.planes(); }
  distributed::Share const& rows() const { return plan_.rows(); }

  /// Allocates meshes on all ranks, or on none if memory is short on one.
  std::vector<Mesh> meshes(std::size_t count) const {
    return distributed::together(group_, [&] {
      std::vector<Mesh> result;
      while (result.size() < count) result.push_back(mesh());
      return result;
    });
  }
  T* numbers(Mesh const& mesh) const { return reinterpret_cast<T*>(mesh.data); }
  Block field(Mesh const& mesh) const { return plan_.field_in(mesh.data); }

  void forward(Mesh& mesh) const {
    plan_.forward(field(mesh), plan_.spectrum_in(target(mesh).data));
    take_target(mesh);
  }
  void backward(Mesh& mesh) const {
    plan_.backward(plan_.spectrum_in(mesh.data), field(target(mesh)));
    take_target(mesh);
  }

  /// The modes of the numbers of this rank's planes.
  Mesh modes_of(T const* sites) const {
    auto mesh = meshes(1)[0];
    for_each("coir::nbody::lpt/sites", exec_, coir::box<3, std::int64_t>({planes().count, n_, n_}),
             CopySites<T>{sites, numbers(mesh), n_, n_, 2 * (n_ / 2 + 1)});
    forward(mesh);
    return mesh;
  }

  /// Multiplies modes by their amplitudes.
  void colour(Amplitudes const& amplitudes, Number* modes) const {
    for_each("coir::nbody::lpt/colour", exec_,
             coir::box<3, std::int64_t>({n_, rows().count, n_ / 2 + 1}),
             ColourNoise<T>{modes, n_, rows().first, rows().count, amplitudes});
  }

  DerivativeFactors<T> derivative_factors(bool second, int shift) const {
    return {n_, rows().first, second, shift, static_cast<T>(unit_)};
  }

  /// The three derivatives of phi along the axes, or three of its second derivatives, in real
  /// space.
  void differentiate(Number const* from, Mesh& x, Mesh& y, Mesh& z, bool second = false,
                     int shift = 0) const {
    for_each("coir::nbody::lpt/derivatives", exec_,
             coir::box<3, std::int64_t>({n_, rows().count, n_ / 2 + 1}),
             PotentialDerivatives<T>{
                 from, {x.data, y.data, z.data}, rows().count, derivative_factors(second, shift)});
    for (auto* to : {&x, &y, &z}) backward(*to);
  }

  /// Moves particles from their lattice, or sets their momenta, by s = -grad laplacian^-1 of a
  /// density in Fourier space.
  void displace(Number const* density, Mesh& x, Mesh& y, Mesh& z, T* position, T* momentum,
                double for_position, double for_momentum, double box) const {
    differentiate(density, x, y, z);
    Displace<T> const body{{numbers(x), numbers(y), numbers(z)},
                           position,
                           momentum,
                           n_,
                           planes().first,
                           box,
                           static_cast<T>(for_position),
                           static_cast<T>(for_momentum)};
    auto const sites = coir::box<3, std::int64_t>({planes().count, n_, n_});
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
               coir::box<1, std::int64_t>({planes().count * n_ * 2 * (n_ / 2 + 1)}),
               AddSecondOrder<T>{numbers(source), numbers(x), numbers(y), numbers(z), mixed});
    }
    forward(source);
  }

 private:
  Mesh mesh() const {
    auto memory =
        MemoryPool<Space>::allocate(fft::bytes_in_place<T>(Shape<3>{planes().count, n_, n_}));
    auto* const data = static_cast<Number*>(memory.get());
    return {std::move(memory), data};
  }

  /// The mesh that a transform writes to: over several ranks a spare one, because transforms aren't
  /// in place.
  Mesh const& target(Mesh const& mesh) const { return plan_.is_in_place() ? mesh : spare_; }
  void take_target(Mesh& mesh) const {
    if (!plan_.is_in_place()) std::swap(mesh, spare_);
  }

  Exec exec_;
  distributed::Group group_;
  std::int64_t n_;
  double unit_;
  fft::PlanOverRanks<Exec, T> plan_;
  mutable Mesh spare_;
};

}  // namespace coir::nbody::detail
