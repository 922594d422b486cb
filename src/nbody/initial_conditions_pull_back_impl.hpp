#pragma once

#include "amplitude_slopes.hpp"
#include "amplitude_table.hpp"
#include "lagrangian_factors.hpp"
#include "lpt.hpp"
#include "sums_in_any_order.hpp"
#include "universe_tables.hpp"

#include <coir/core/errors.hpp>
#include <coir/core/loops.hpp>
#include <coir/core/memory.hpp>
#include <coir/core/strided.hpp>
#include <coir/distributed/group.hpp>
#include <coir/distributed/share.hpp>
#include <coir/distributed/together.hpp>
#include <coir/nbody/detail/checks.hpp>
#include <coir/nbody/detail/staged_field.hpp>
#include <coir/nbody/initial_conditions_pull_back.hpp>

#include <cstdint>
#include <string>
#include <utility>

namespace coir::nbody {

namespace detail {

/// A mesh for each component of vectors, which are in lattice order.
template <class T>
struct SplitVectors {
  static constexpr bool reads_no_neighbours = true;
  T const* vectors;
  T* to[3];
  std::int64_t n;
  KOKKOS_FUNCTION void operator()(std::int64_t i, std::int64_t j, std::int64_t k) const {
    std::int64_t const row = i * n + j;
    COIR_UNROLL
    for (int d = 0; d < 3; ++d) to[d][row * (2 * (n / 2 + 1)) + k] = vectors[(row * n + k) * 3 + d];
  }
};

/// The transpose of PotentialDerivatives: the sum over the axes of modes times the conjugates of
/// its factors. For first derivatives it replaces `to`, which may be one of `from`; for second ones
/// it is added to `to`.
template <class T>
struct ContractDerivatives {
  static constexpr bool reads_no_neighbours = true;
  Kokkos::complex<T> const* from[3];
  Kokkos::complex<T>* to;
  std::int64_t rows;  ///< of the second axis, here
  DerivativeFactors<T> factors;

  KOKKOS_FUNCTION void operator()(std::int64_t i, std::int64_t j, std::int64_t k) const {
    T factor[3];
    factors(i, j, k, factor);
    std::int64_t const at = (i * rows + j) * (factors.n / 2 + 1) + k;
    T real = factors.second ? to[at].real() : T(0), imag = factors.second ? to[at].imag() : T(0);
    COIR_UNROLL
    for (int a = 0; a < 3; ++a) {
      auto const mode = from[a][at];
      real += factor[a] * (factors.second ? mode.real() : mode.imag());
      imag += factor[a] * (factors.second ? mode.imag() : -mode.real());
    }
    to[at] = Kokkos::complex<T>(real, imag);
  }
};

/// The transpose of AddSecondOrder: replaces three second derivatives of phi by sigma times the
/// derivatives of the source with respect to them.
template <class T>
struct PullBackSecondOrder {
  T const* sigma;
  T *x, *y, *z;
  bool mixed;
  KOKKOS_FUNCTION void operator()(std::int64_t c) const {
    T const s = sigma[c], a = x[c], b = y[c], d = z[c];
    x[c] = mixed ? T(-2) * s * a : s * (b + d);
    y[c] = mixed ? T(-2) * s * b : s * (d + a);
    z[c] = mixed ? T(-2) * s * d : s * (a + b);
  }
};

/// The contributions of a mode to
///
///   dJ/dD1 = sum X delta1, dJ/dP1 = sum Q delta1, dJ/dD2 = sum X delta2, dJ/dP2 = sum Q delta2,
///
/// with X and Q of initial_conditions_pull_back() and the source of second order delta2.
template <class T>
struct FactorProducts {
  Kokkos::complex<T> const *of_position, *of_momentum;  // X and Q
  Kokkos::complex<T> const *first, *second;             // delta1, delta2; no delta2 to first order
  std::int64_t n, rows;                                 // rows of the second axis, here

  KOKKOS_FUNCTION void operator()(std::int64_t i, std::int64_t j, std::int64_t k,
                                  double (&of)[4]) const {
    std::int64_t const at = (i * rows + j) * (n / 2 + 1) + k;
    of[0] = product_of_modes(of_position[at], first[at], k, n);
    of[1] = product_of_modes(of_momentum[at], first[at], k, n);
    if (second == nullptr) return;
    of[2] = product_of_modes(of_position[at], second[at], k, n);
    of[3] = product_of_modes(of_momentum[at], second[at], k, n);
  }
};

/// The steps of initial conditions in reverse. Slopes in Fourier space are divided by n^3, so that
/// transforms back give the slopes of fields.
template <class Exec, class T>
class LptPullBack {
 public:
  using Mesh = typename Lpt<Exec, T>::Mesh;

  LptPullBack(Exec const& exec, distributed::Group const& group, std::int64_t n, double box)
      : exec_(exec), n_(n), lpt_(exec, group, n, box) {}

  Lpt<Exec, T> const& lpt() const { return lpt_; }

  /// The slope of a density whose displacements have the slopes `vectors`. Takes over the memory of
  /// x.
  Mesh displacement(T const* vectors, Mesh& x, Mesh& y, Mesh& z) const {
    for_each("coir::nbody::initial_conditions_pull_back/split", exec_, sites(),
             SplitVectors<T>{vectors, {lpt_.numbers(x), lpt_.numbers(y), lpt_.numbers(z)}, n_});
    contract(x, y, z, x, false, 0);
    return std::exchange(x, Mesh{});
  }

  /// dJ / d factor from the slopes of positions and momenta, with the same bits for any number of
  /// ranks where the modes have them.
  ///
  /// \param second  the source of second order, or nothing
  LagrangianFactors<double> factors(Mesh const& of_position, Mesh const& of_momentum,
                                    Mesh const& density, Mesh const& second) const {
    auto const of = sums_in_any_order<4>(
        "coir::nbody::initial_conditions_pull_back/factors", exec_, lpt_.group(), modes(),
        static_cast<double>(n_) * static_cast<double>(n_) * static_cast<double>(n_),
        FactorProducts<T>{of_position.data, of_momentum.data, density.data, second.data, n_,
                          lpt_.rows().count});
    LagrangianFactors<double> slopes{};
    slopes.d1 = of[0];
    slopes.p1 = of[1];
    slopes.d2 = of[2];
    slopes.p2 = of[3];
    return slopes;
  }

  /// Adds the contribution of the source of second order to the slope of the density.
  ///
  /// \param sigma  the source's slope, in Fourier space: of no use afterwards
  void second_order(Mesh const& density, Mesh& sigma, Mesh& x, Mesh& y, Mesh& z,
                    Mesh const& slope) const {
    lpt_.backward(sigma);
    for (bool const mixed : {false, true}) {
      int const shift = mixed ? 1 : 0;
      lpt_.differentiate(density.data, x, y, z, true, shift);
      for_each("coir::nbody::initial_conditions_pull_back/second_order", exec_,
               coir::box<1, std::int64_t>({lpt_.planes().count * n_ * 2 * (n_ / 2 + 1)}),
               PullBackSecondOrder<T>{lpt_.numbers(sigma), lpt_.numbers(x), lpt_.numbers(y),
                                      lpt_.numbers(z), mixed});
      contract(x, y, z, slope, true, shift);
    }
  }

  /// Replaces the slopes of positions and momenta by those of the densities of first and second
  /// order.
  void combine(Mesh const& of_position, Mesh const& of_momentum,
               LagrangianFactors<double> const& f) const {
    for_each("coir::nbody::initial_conditions_pull_back/combine", exec_,
             coir::box<1, std::int64_t>({n_ * lpt_.rows().count * (n_ / 2 + 1)}),
             Combine<T>{of_position.data, of_momentum.data, static_cast<T>(f.d1),
                        static_cast<T>(f.p1), static_cast<T>(f.d2), static_cast<T>(f.p2)});
  }

  /// Transforms modes to numbers of sites.
  void to_sites(Mesh& mesh, T* to) const {
    lpt_.backward(mesh);
    for_each("coir::nbody::initial_conditions_pull_back/sites", exec_, sites(),
             CopySites<T>{lpt_.numbers(mesh), to, n_, 2 * (n_ / 2 + 1), n_});
  }

 private:
  Box<3, std::int64_t> sites() const {
    return coir::box<3, std::int64_t>({lpt_.planes().count, n_, n_});
  }
  Box<3, std::int64_t> modes() const {
    return coir::box<3, std::int64_t>({n_, lpt_.rows().count, n_ / 2 + 1});
  }

  /// Transforms three fields, and contracts them with derivatives.
  void contract(Mesh& x, Mesh& y, Mesh& z, Mesh const& to, bool second, int shift) const {
    for (auto* mesh : {&x, &y, &z}) lpt_.forward(*mesh);
    for_each("coir::nbody::initial_conditions_pull_back/contract", exec_, modes(),
             ContractDerivatives<T>{{x.data, y.data, z.data},
                                    to.data,
                                    lpt_.rows().count,
                                    lpt_.derivative_factors(second, shift)});
  }

  Exec exec_;
  std::int64_t n_;
  Lpt<Exec, T> lpt_;
};

/// Writes the slope of the noise. At most six meshes are held at a time: each step takes over
/// memory of the step before.
///
/// \param with_cosmology  whether the slopes of factors and amplitudes are wanted, too; else they
///   are left empty
template <class Exec, class T>
StartSlopes pull_back_start(
    Exec const& exec, distributed::Group const& group, Universe const& universe, int order,
    Kokkos::View<T const***, Kokkos::LayoutStride, typename Exec::memory_space> const& noise,
    Cotangents<Exec, T> const& cotangents,
    Kokkos::View<T***, Kokkos::LayoutStride, typename Exec::memory_space> const& slope_of_noise,
    bool with_cosmology) {
  using Mesh = typename LptPullBack<Exec, T>::Mesh;
  auto const [sites, slope_of_sites] = distributed::together(group, [&] {
    return std::pair(staged_field(exec, "the noise", noise, Access::read),
                     staged_field(exec, "the slope of the noise", slope_of_noise, Access::write));
  });
  auto const log_amplitude = amplitudes_for(exec, universe.table);
  Amplitudes const amplitudes = amplitudes_of(universe.table, log_amplitude);

  LptPullBack<Exec, T> const back(exec, group, universe.side, universe.box);
  auto const& lpt = back.lpt();
  auto const new_mesh = [&] { return lpt.meshes(1)[0]; };
  auto const density = lpt.modes_of(sites.elements().data);
  lpt.colour(amplitudes, density.data);

  auto scratch = lpt.meshes(3);
  auto &x = scratch[0], &y = scratch[1], &z = scratch[2];
  Mesh source;
  if (with_cosmology && order == 2) {
    source = new_mesh();
    lpt.second_order_source(density.data, source, x, y, z);
  }
  Mesh slope = back.displacement(cotangents.position.data(), x, y, z);
  x = new_mesh();
  Mesh sigma = back.displacement(cotangents.momentum.data(), x, y, z);

  StartSlopes result;
  if (with_cosmology) result.factors = back.factors(slope, sigma, density, source);
  back.combine(slope, sigma, universe.factors);
  if (order == 2) {
    x = source.data != nullptr ? std::move(source) : new_mesh();
    back.second_order(density, sigma, x, y, z, slope);
  }
  if (with_cosmology)
    result.log_amplitude = amplitude_slopes(
        exec, group, AmplitudeTerms<T>{density.data, slope.data, universe.side, lpt.rows()},
        amplitudes);
  lpt.colour(amplitudes, slope.data);
  back.to_sites(slope, slope_of_sites.elements().data);
  slope_of_sites.finish();
  exec.fence();
  return result;
}

template <CompiledSpace Exec, Real T>
cosmology::Parameters<double> pull_back_to_start(
    Exec const& exec, distributed::Group const& group, Universe const& universe, int order,
    Kokkos::View<T const***, Kokkos::LayoutStride, typename Exec::memory_space> const& noise,
    Cotangents<Exec, T> const& cotangents,
    Kokkos::View<T***, Kokkos::LayoutStride, typename Exec::memory_space> const& slope_of_noise) {
  if constexpr (!runs_on_host<Exec>) begin_derivatives(universe);  // kernels need a host's cores
  auto const slopes = pull_back_start<Exec, T>(exec, group, universe, order, noise, cotangents,
                                               slope_of_noise, true);
  return slope_of_parameters(slopes, universe.varied());
}

/// Meshes that a pull-back holds at most.
inline constexpr std::int64_t most_meshes = 6;

template <class Exec, class T>
void expects_to_pull_back(
    distributed::Group const& group, std::int64_t side, double box, int order,
    Kokkos::View<T const***, Kokkos::LayoutStride, typename Exec::memory_space> const& noise,
    Cotangents<Exec, T> const& cotangents,
    Kokkos::View<T***, Kokkos::LayoutStride, typename Exec::memory_space> const& slope_of_noise) {
  expects_lattice(side, box, order);
  expects_sites("the noise", noise, group, side);
  expects_sites("the slope of the noise", slope_of_noise, group, side);
  std::string const particles = std::to_string(side) + "^3 particles";
  std::int64_t const count =
      distributed::share_of(side, group.rank(), group.size()).count * side * side;
  auto const expects_particles = [&](char const* what, auto const& vectors) {
    expects(static_cast<std::int64_t>(vectors.extent(0)) == count,
            std::string("the derivatives with respect to ") + what + " of " + particles +
                " must have extents (" + std::to_string(count) + ", 3), not (" +
                std::to_string(vectors.extent(0)) + ", 3)");
  };
  expects_particles("positions", cotangents.position);
  expects_particles("momenta", cotangents.momentum);
  expects_memory<typename Exec::memory_space>(
      Lpt<Exec, T>::bytes(group, side, most_meshes, false),
      "the pull-back of initial conditions of " + particles);
}

}  // namespace detail

template <CompiledSpace Exec, Real T>
std::int64_t initial_conditions_pull_back_bytes(Exec const& exec, distributed::Group const& group,
                                                std::int64_t side) {
  std::int64_t const sums = detail::amplitude_sums<Exec, T>(side, detail::amplitude_steps + 1);
  return detail::Lpt<Exec, T>::bytes(group, side, detail::most_meshes, false) +
         sums * static_cast<std::int64_t>(sizeof(double)) +
         fft::PlanOverRanks<Exec, T>::work_bytes(exec, group, {side, side, side},
                                                 detail::Lpt<Exec, T>::effort);
}

template <CompiledSpace Exec, Real T>
void initial_conditions_noise_pull_back(
    Exec const& exec, distributed::Group const& group, std::int64_t side, double box,
    cosmology::LinearPower<double> const& power, double a, int order,
    Kokkos::View<T const***, Kokkos::LayoutStride, typename Exec::memory_space> const& noise,
    Cotangents<Exec, T> const& cotangents,
    Kokkos::View<T***, Kokkos::LayoutStride, typename Exec::memory_space> const& slope_of_noise) {
  distributed::together(group, [&] {
    detail::expects_to_pull_back<Exec, T>(group, side, box, order, noise, cotangents,
                                          slope_of_noise);
  });
  detail::expects_alike_start(group, side, box, power, a, order);
  auto const universe = detail::universe_of_ranks(group, power, side, box, a);
  detail::pull_back_start<Exec, T>(exec, group, *universe, order, noise, cotangents, slope_of_noise,
                                   false);
}

template <CompiledSpace Exec, Real T>
cosmology::Parameters<double> initial_conditions_pull_back(
    Exec const& exec, distributed::Group const& group, std::int64_t side, double box,
    cosmology::LinearPower<double> const& power, double a, int order,
    Kokkos::View<T const***, Kokkos::LayoutStride, typename Exec::memory_space> const& noise,
    Cotangents<Exec, T> const& cotangents,
    Kokkos::View<T***, Kokkos::LayoutStride, typename Exec::memory_space> const& slope_of_noise) {
  distributed::together(group, [&] {
    detail::expects_to_pull_back<Exec, T>(group, side, box, order, noise, cotangents,
                                          slope_of_noise);
    expects(!power.is_table(),
            "a table of P(k) has no derivatives with respect to parameters: make the spectrum of a "
            "transfer function, or take initial_conditions_noise_pull_back");
  });
  detail::expects_alike_start(group, side, box, power, a, order);
  auto const universe = detail::universe_of_ranks(group, power, side, box, a);
  return detail::pull_back_to_start<Exec, T>(exec, group, *universe, order, noise, cotangents,
                                             slope_of_noise);
}

}  // namespace coir::nbody

#define COIR_INSTANTIATE_INITIAL_CONDITIONS_PULL_BACK_OF(Exec, T)                \
  template std::int64_t initial_conditions_pull_back_bytes<Exec, T>(             \
      Exec const&, distributed::Group const&, std::int64_t);                     \
  template void initial_conditions_noise_pull_back<Exec, T>(                     \
      Exec const&, distributed::Group const&, std::int64_t, double,              \
      cosmology::LinearPower<double> const&, double, int,                        \
      Kokkos::View<T const***, Kokkos::LayoutStride, Exec::memory_space> const&, \
      Cotangents<Exec, T> const&,                                                \
      Kokkos::View<T***, Kokkos::LayoutStride, Exec::memory_space> const&);      \
  template cosmology::Parameters<double> initial_conditions_pull_back<Exec, T>(  \
      Exec const&, distributed::Group const&, std::int64_t, double,              \
      cosmology::LinearPower<double> const&, double, int,                        \
      Kokkos::View<T const***, Kokkos::LayoutStride, Exec::memory_space> const&, \
      Cotangents<Exec, T> const&,                                                \
      Kokkos::View<T***, Kokkos::LayoutStride, Exec::memory_space> const&);      \
  template cosmology::Parameters<double> detail::pull_back_to_start<Exec, T>(    \
      Exec const&, distributed::Group const&, detail::Universe const&, int,      \
      Kokkos::View<T const***, Kokkos::LayoutStride, Exec::memory_space> const&, \
      Cotangents<Exec, T> const&,                                                \
      Kokkos::View<T***, Kokkos::LayoutStride, Exec::memory_space> const&);
#define COIR_INSTANTIATE_INITIAL_CONDITIONS_PULL_BACK(Exec)      \
  namespace coir::nbody {                                        \
  COIR_INSTANTIATE_INITIAL_CONDITIONS_PULL_BACK_OF(Exec, float)  \
  COIR_INSTANTIATE_INITIAL_CONDITIONS_PULL_BACK_OF(Exec, double) \
  }
