#pragma once

/// \file
/// Losses for ForwardModel: misfits of the particles' density, or of its power spectrum. They add
/// their derivatives to the cotangents: to add up losses, call each of them and add up the returned
/// values.

#include <coir/core/concepts.hpp>
#include <coir/core/errors.hpp>
#include <coir/core/memory.hpp>
#include <coir/core/strided.hpp>
#include <coir/mesh/paint.hpp>
#include <coir/mesh/power_spectrum.hpp>
#include <coir/mesh/power_spectrum_pull_back.hpp>
#include <coir/mesh/pull_back.hpp>
#include <coir/nbody/cotangents.hpp>
#include <coir/nbody/detail/staged_field.hpp>
#include <coir/nbody/particles.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace coir::nbody {

namespace detail {

/// mesh *= factor
///
/// \param label  the kernel's name in profiling tools
template <CompiledSpace Exec, Real T>
void scale_mesh(std::string_view label, Exec const& exec, T* mesh, std::int64_t cells, T factor);

/// J = 1/2 sum inverse_variance weight (density - target)^2, and slope = dJ / d density.
///
/// \param weight  one for each cell, or null for 1
/// \return  J
template <CompiledSpace Exec, Real T>
double density_misfit(Exec const& exec, std::int64_t cells, T const* density, T const* target,
                      T const* weight, T inverse_variance, T* slope);

}  // namespace detail

/// Any loss J of the density. f is called with 1 + delta on a mesh of cells^3 and with a mesh of
/// zeros, which it fills with dJ / d (1 + delta). It returns J. Its kernels run on the default
/// instance of Exec.
///
///     DensityLoss const loss{64, [](auto const& density, auto const& slope) { ...; return value;
///     }};
///
/// \tparam F  double(View<T***, LayoutRight>, View<T***, LayoutRight>)
template <class F>
struct DensityLoss {
  std::int64_t cells;  ///< along a side
  F f;
  mesh::Assignment assignment = mesh::Assignment::cic;

  /// \throws PreconditionError if there is no cell
  template <CompiledSpace Exec, Real T>
  double operator()(Particles<Exec, T> const& particles,
                    Cotangents<Exec, T> const& cotangents) const {
    expects(cells >= 1, "the density of a loss must have at least one cell along a side", cells);
    using Field = Kokkos::View<T***, Kokkos::LayoutRight, typename Exec::memory_space>;
    auto const n = static_cast<std::size_t>(cells);
    Exec const exec;
    expects_memory<typename Exec::memory_space>(
        2 * cells * cells * cells * static_cast<std::int64_t>(sizeof(T)),
        "the density of a loss, and its derivatives");
    Field const density(Kokkos::view_alloc(Kokkos::WithoutInitializing, "coir::nbody::losses"), n,
                        n, n),
        slope("coir::nbody::losses", n, n, n);
    // In whole numbers, so that bits don't depend on the number of threads.
    mesh::paint(exec, particles.position, particles.box, density,
                {.assignment = assignment, .deterministic = true});
    T const factor =
        static_cast<T>(static_cast<double>(cells) * static_cast<double>(cells) *
                       static_cast<double>(cells) / static_cast<double>(particles.total()));
    std::int64_t const all = cells * cells * cells;
    detail::scale_mesh("coir::nbody::losses/density", exec, density.data(), all, factor);
    double const value = f(density, slope);
    detail::scale_mesh("coir::nbody::losses/slope", exec, slope.data(), all, factor);
    mesh::paint_pull_back(exec, particles.position, particles.box, slope, cotangents.position,
                          assignment, mesh::Derivatives::add);
    return value;
  }
};
template <class F>
DensityLoss(std::int64_t, F) -> DensityLoss<F>;
template <class F>
DensityLoss(std::int64_t, F, mesh::Assignment) -> DensityLoss<F>;

/// The misfit of the particles' density, on the cells of the target:
///
///   J = sum over cells of inverse_variance weight (1 + delta - target)^2 / 2
template <CompiledSpace Exec, Real T>
struct DensityMisfit {
  /// Views of any layout convert to Field. Those that aren't in C order without gaps are copied in
  /// each call.
  using Field = Kokkos::View<T const***, Kokkos::LayoutStride, typename Exec::memory_space>;

  Field target;                 ///< (m, m, m), 1 + delta
  double inverse_variance = 1;  ///< of the target's noise
  /// (m, m, m): the weight of each cell, such as a mask; empty: 1. Where it is 0 the target may be
  /// anything.
  Field weight{};
  mesh::Assignment assignment = mesh::Assignment::cic;

  /// \throws PreconditionError if the target isn't a cube, or the weight has another shape
  /// \throws ResourceError if there is no memory
  double operator()(Particles<Exec, T> const& particles,
                    Cotangents<Exec, T> const& cotangents) const {
    auto const cells = static_cast<std::int64_t>(target.extent(0));
    auto const fits = [&](Field const& field) {
      return field.extent(0) == target.extent(0) && field.extent(1) == target.extent(0) &&
             field.extent(2) == target.extent(0);
    };
    expects(fits(target), "the target of a density must be a cube, not of " +
                              std::to_string(target.extent(0)) + " x " +
                              std::to_string(target.extent(1)) + " x " +
                              std::to_string(target.extent(2)) + " cells");
    expects(weight.size() == 0 || fits(weight),
            "the weight of a density must have the target's " + std::to_string(cells) +
                " cells along a side",
            static_cast<std::int64_t>(weight.extent(0)));
    Exec const exec;
    auto const observed =
        detail::staged_field(exec, "the target of a density", target, Access::read);
    auto const weights =
        detail::staged_field(exec, "the weight of a density", weight, Access::read);
    auto const misfit = [&](auto const& density, auto const& slope) {
      return detail::density_misfit(exec, cells * cells * cells, density.data(),
                                    observed.elements().data,
                                    weight.size() == 0 ? nullptr : weights.elements().data,
                                    static_cast<T>(inverse_variance), slope.data());
    };
    return DensityLoss{cells, misfit, assignment}(particles, cotangents);
  }
};

/// The misfit of the particles' power spectrum:
///
///   J = sum_b inverse_variance_b (P_b - target_b)^2 / 2
///
/// over the bins that have modes. For a Gaussian field the variance of P_b is 2 P_b^2 / M_b, with
/// the number of modes M_b of power_spectrum().
struct PowerMisfit {
  std::vector<double> target{};            ///< (Mpc/h)^3, one for each bin
  std::vector<double> inverse_variance{};  ///< (Mpc/h)^-6, one for each bin
  std::int64_t cells = 0;                  ///< of the mesh along a side; 0: as many as particles
  mesh::PowerSpectrumOptions options{};

  /// \return  J
  /// \throws PreconditionError if target and inverse_variance aren't one for each bin, or one isn't
  ///   finite in a bin with modes; if cells is negative; or as mesh::power_spectrum_pull_back()
  template <CompiledSpace Exec, Real T>
  double operator()(Particles<Exec, T> const& particles,
                    Cotangents<Exec, T> const& cotangents) const {
    double sum = 0;
    auto const slope_of_power = [&](mesh::PowerSpectrum const& spectrum) {
      std::vector<double> slope(spectrum.power.size());
      expects_one_for_each(target, "the target", slope.size());
      expects_one_for_each(inverse_variance, "the inverse variance", slope.size());
      for (std::size_t b = 0; b < slope.size(); ++b) {
        if (spectrum.modes[b] == 0) continue;
        double const apart = spectrum.power[b] - target[b];
        slope[b] = inverse_variance[b] * apart;
        sum += slope[b] * apart / 2;
      }
      return slope;
    };
    mesh::power_spectrum_pull_back(Exec{}, particles.position, particles.box,
                                   cells == 0 ? particles.side : cells, slope_of_power,
                                   cotangents.position, options, mesh::Derivatives::add);
    return sum;
  }

 private:
  static void expects_one_for_each(std::vector<double> const& numbers, std::string const& what,
                                   std::size_t bins) {
    expects(numbers.size() == bins,
            what + " of the power must have " + std::to_string(bins) + " numbers, one for each bin",
            static_cast<std::int64_t>(numbers.size()));
  }
};

}  // namespace coir::nbody
