#pragma once

/// \file
/// Losses for ForwardModel: misfits of the particles' density, or of its power spectrum. They add
/// their derivatives to the cotangents: to add up losses, call each of them and add up the returned
/// values.

#include <coir/core/concepts.hpp>
#include <coir/core/contiguous.hpp>
#include <coir/core/errors.hpp>
#include <coir/core/kept_views.hpp>
#include <coir/core/memory.hpp>
#include <coir/core/strided.hpp>
#include <coir/distributed/group.hpp>
#include <coir/distributed/share.hpp>
#include <coir/distributed/together.hpp>
#include <coir/mesh/ghosts.hpp>
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
#include <utility>
#include <vector>

namespace coir::nbody {

namespace detail {

/// mesh *= factor
///
/// \param label  the kernel's name in profiling tools
template <CompiledSpace Exec, Real T>
void scale_mesh(std::string_view label, Exec const& exec, T* mesh, std::int64_t cells, T factor);

/// J = 1/2 sum inverse_variance weight (density - target)^2 over the cells of all ranks, and slope
/// = dJ / d density. J has the same bits for any number of ranks and threads. Collective.
///
/// \param cells, all_cells  on this rank, and on all
/// \param weight  one for each cell, or null for 1
/// \return  J
template <CompiledSpace Exec, Real T>
double density_misfit(Exec const& exec, distributed::Group const& group, std::int64_t cells,
                      std::int64_t all_cells, T const* density, T const* target, T const* weight,
                      T inverse_variance, T* slope);

/// \throws PreconditionError on all ranks unless the ranks of the group have all particles
template <class Exec, class T>
void expects_all_particles(distributed::Group const& group, Particles<Exec, T> const& particles) {
  std::int64_t const count = group.sum(particles.count());
  expects(count == particles.total(),
          "the ranks of a loss must have all " + std::to_string(particles.total()) +
              " particles between them: give the loss the group of the model",
          count);
}

}  // namespace detail

/// Any loss J of the density. f is called with 1 + delta on a mesh of cells^3 and with a mesh of
/// zeros, which it fills with dJ / d (1 + delta). It returns J. Its kernels run on the default
/// instance of Exec.
///
///     DensityLoss const loss{64, [](auto const& density, auto const& slope) { ...; return value;
///     }};
///
/// Over ranks f gets this rank's planes of both meshes, (planes, cells, cells), as
/// distributed::share_of() gives them, and returns the J of all ranks, the same number on each.
///
/// \tparam F  double(View<T***, LayoutRight>, View<T***, LayoutRight>)
template <class F>
struct DensityLoss {
  std::int64_t cells;  ///< along a side
  F f;
  mesh::Assignment assignment = mesh::Assignment::cic;
  distributed::Group group{};  ///< that of the model

  /// Collective.
  ///
  /// \throws PreconditionError on all ranks if on one there is no cell, or ranks have other cells,
  ///   or the group isn't that of the particles
  template <CompiledSpace Exec, Real T>
  double operator()(Particles<Exec, T> const& particles,
                    Cotangents<Exec, T> const& cotangents) const {
    distributed::together(group, [&] {
      expects(cells >= 1, "the density of a loss must have at least one cell along a side", cells);
    });
    distributed::expects_alike(group, {{"number of a density's cells along a side", cells}});
    detail::expects_all_particles(group, particles);
    using Field = Kokkos::View<T***, Kokkos::LayoutRight, typename Exec::memory_space>;
    Exec const exec;
    mesh::GhostPlanes<Exec> ghosts(
        group, cells,
        mesh::widths_needed(group, mesh::touched_by(exec, group, particles.position, particles.box,
                                                    cells, assignment)));
    auto const [density, slope] = distributed::together(group, [&] {
      expects_memory<typename Exec::memory_space>(
          2 * ghosts.held() * cells * cells * static_cast<std::int64_t>(sizeof(T)),
          "the density of a loss, and its derivatives");
      std::string const label = "coir::nbody::losses";
      return std::pair(kept_view<Field>(exec, label, ghosts.held(), cells, cells),
                       kept_view<Field>(exec, label, ghosts.held(), cells, cells));
    });
    set_to_zero(exec, slope);
    // In whole numbers, so that bits don't depend on the number of threads and ranks.
    mesh::paint(exec, ghosts, particles.position, particles.box, density,
                {.assignment = assignment, .deterministic = true});
    T const factor =
        static_cast<T>(static_cast<double>(cells) * static_cast<double>(cells) *
                       static_cast<double>(cells) / static_cast<double>(particles.total()));
    std::size_t const below = static_cast<std::size_t>(ghosts.widths().below),
                      end = below + static_cast<std::size_t>(ghosts.own().count);
    auto const own = [&](Field const& planes) -> Field {
      return Kokkos::subview(planes, std::pair(below, end), Kokkos::ALL, Kokkos::ALL);
    };
    Field const own_density = own(density), own_slope = own(slope);
    std::int64_t const here = ghosts.own().count * cells * cells;
    detail::scale_mesh("coir::nbody::losses/density", exec, own_density.data(), here, factor);
    double const value = f(own_density, own_slope);
    detail::scale_mesh("coir::nbody::losses/slope", exec, own_slope.data(), here, factor);
    mesh::paint_pull_back(exec, ghosts, particles.position, particles.box, slope,
                          cotangents.position, assignment, mesh::Derivatives::add);
    return value;
  }
};
template <class F>
DensityLoss(std::int64_t, F) -> DensityLoss<F>;
template <class F>
DensityLoss(std::int64_t, F, mesh::Assignment) -> DensityLoss<F>;
template <class F>
DensityLoss(std::int64_t, F, mesh::Assignment, distributed::Group) -> DensityLoss<F>;

/// The misfit of the particles' density, on the cells of the target:
///
///   J = sum over cells of inverse_variance weight (1 + delta - target)^2 / 2
template <CompiledSpace Exec, Real T>
struct DensityMisfit {
  /// Views of any layout convert to Field. Those that aren't in C order without gaps are copied in
  /// each call.
  using Field = Kokkos::View<T const***, Kokkos::LayoutStride, typename Exec::memory_space>;

  /// (m, m, m), 1 + delta; over ranks (planes, m, m), this rank's planes as
  /// distributed::share_of() gives them
  Field target;
  double inverse_variance = 1;  ///< of the target's noise
  /// Of the target's shape: the weight of each cell, such as a mask; empty: 1. Where it is 0 the
  /// target may be anything.
  Field weight{};
  mesh::Assignment assignment = mesh::Assignment::cic;
  distributed::Group group{};  ///< that of the model

  /// Has the same bits for any number of ranks, and so have its derivatives. Collective.
  ///
  /// \throws PreconditionError on all ranks if on one the target isn't that of its planes of a
  /// cube,
  ///   the weight has another shape, or as DensityLoss
  /// \throws ResourceError on all ranks if one has no memory
  double operator()(Particles<Exec, T> const& particles,
                    Cotangents<Exec, T> const& cotangents) const {
    Exec const exec;
    auto const cells = static_cast<std::int64_t>(target.extent(1));
    bool const has_weight = group.any(weight.size() > 0);
    auto const [observed, weights] = distributed::together(group, [&] {
      expects_own_planes(cells, has_weight);
      return std::pair(detail::staged_field(exec, "the target of a density", target, Access::read),
                       detail::staged_field(exec, "the weight of a density", weight, Access::read));
    });
    T const* const of_weight = has_weight ? weights.elements().data : nullptr;
    T const* const of_target = observed.elements().data;
    auto const misfit = [&](auto const& density, auto const& slope) {
      return detail::density_misfit(exec, group, static_cast<std::int64_t>(density.size()),
                                    cells * cells * cells, density.data(), of_target, of_weight,
                                    static_cast<T>(inverse_variance), slope.data());
    };
    return DensityLoss{cells, misfit, assignment, group}(particles, cotangents);
  }

 private:
  void expects_own_planes(std::int64_t cells, bool has_weight) const {
    std::int64_t const planes = distributed::share_of(cells, group.rank(), group.size()).count;
    auto const fits = [&](Field const& field) {
      return static_cast<std::int64_t>(field.extent(0)) == planes &&
             static_cast<std::int64_t>(field.extent(1)) == cells &&
             static_cast<std::int64_t>(field.extent(2)) == cells;
    };
    auto const shape = [](Field const& field) {
      return std::to_string(field.extent(0)) + " x " + std::to_string(field.extent(1)) + " x " +
             std::to_string(field.extent(2)) + " cells";
    };
    std::string const wanted = planes == cells ? "a cube"
                                               : "this rank's " + std::to_string(planes) +
                                                     " planes of a cube of " +
                                                     std::to_string(cells) + " cells along a side";
    expects(fits(target),
            "the target of a density must be " + wanted + ", not of " + shape(target));
    expects(!has_weight || fits(weight), "the weight of a density must have the target's " +
                                             shape(target) + ", and has " + shape(weight));
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
  distributed::Group group{};  ///< that of the model

  /// On hosts it has the same bits for any number of ranks, and so have its derivatives.
  /// Collective.
  ///
  /// \return  J
  /// \throws PreconditionError if target and inverse_variance aren't one for each bin, or one isn't
  ///   finite in a bin with modes; if cells is negative; or as mesh::power_spectrum_pull_back()
  template <CompiledSpace Exec, Real T>
  double operator()(Particles<Exec, T> const& particles,
                    Cotangents<Exec, T> const& cotangents) const {
    detail::expects_all_particles(group, particles);
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
    mesh::power_spectrum_pull_back(Exec{}, group, particles.position, particles.box,
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
