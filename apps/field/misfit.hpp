#pragma once

/// How far the density of particles is from a target.

#include "over_ranks.hpp"
#include "target.hpp"

#include <coir/array/creation.hpp>
#include <coir/array/functions.hpp>
#include <coir/array/operators.hpp>
#include <coir/core/buffers.hpp>
#include <coir/core/contiguous.hpp>
#include <coir/core/math.hpp>
#include <coir/distributed/group.hpp>
#include <coir/distributed/share.hpp>
#include <coir/distributed/together.hpp>
#include <coir/fft/in_place.hpp>
#include <coir/fft/plan_over_ranks.hpp>
#include <coir/fft/wave_number.hpp>
#include <coir/mesh/ghosts.hpp>
#include <coir/mesh/paint.hpp>
#include <coir/mesh/power_spectrum.hpp>
#include <coir/mesh/pull_back.hpp>
#include <coir/nbody/cotangents.hpp>
#include <coir/nbody/particles.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <numbers>
#include <utility>

namespace coir::apps::field {

/// exp(- k^2 L^2 / 2) over the number of points, of the modes of a mesh of (m, m, depth) cells in a
/// box.
template <class T>
struct GaussianFilter {
  std::int64_t m, depth;
  double exponent;  ///< - (2 pi L / box)^2 / 2
  double scale;     ///< 1 / points

  GaussianFilter(std::int64_t side, std::int64_t cells_deep, double length, double box)
      : m(side),
        depth(cells_deep),
        exponent(-std::pow(2 * std::numbers::pi * length / box, 2) / 2),
        scale(1 / (double(side) * double(side) * double(cells_deep))) {}

  KOKKOS_FUNCTION T operator()(std::int64_t i, std::int64_t j, std::int64_t k) const {
    auto const x = static_cast<double>(fft::wave_number(i, m));
    auto const y = static_cast<double>(fft::wave_number(j, m));
    auto const z = static_cast<double>(fft::wave_number(k, depth));
    return static_cast<T>(scale * math::exp(exponent * (x * x + y * y + z * z)));
  }
};

/// The misfit of a density and a target, both smoothed by a Gaussian S, and its derivatives:
///
///   r = S (density - target),   J = sum r^2 / (2 sigma^2),   dJ / d density = S r / sigma^2
///
/// In Fourier space that is a target with Gaussian noise sigma / S(k): small scales count less. A
/// target of columns is a mesh of one cell along the third axis, on which painting adds up columns.
///
/// The ranks share the cells by planes of the first axis, and each has the particles of its planes
/// of their lattice. Values and derivatives have the same bits for any number of ranks on hosts.
/// All functions are collective.
template <class Exec, class T>
class Misfit {
 public:
  using Space = typename Exec::memory_space;
  using Cells = Kokkos::View<T***, Kokkos::LayoutRight, Space>;
  using Particles = coir::nbody::Particles<Exec, T>;
  using Cotangents = coir::nbody::Cotangents<Exec, T>;
  using Plan = fft::PlanOverRanks<Exec, T>;

  /// What it holds beside its plan.
  struct Meshes {
    Cells target;
    /// Of the planes of the residual that are held: rows with the gaps of a half spectrum.
    Kokkos::View<Kokkos::complex<T>***, Kokkos::LayoutRight, Space> field;
    Kokkos::View<Kokkos::complex<T>*, Space> spectrum;  ///< unless transforms are in place

    /// \param held  planes on this rank, with ghosts
    Buffers list(distributed::Group const& group, Target const& of, std::int64_t held) {
      auto const [n0, n1, n2] = of.shape();
      Buffers all;
      all.add(target, "coir::apps::field::target", of.planes(group).count, n1, n2);
      all.add(field, "coir::apps::field::residual", held, n1, n2 / 2 + 1);
      if (!fft::transforms_in_place(group))
        all.add(spectrum, "coir::apps::field::spectrum",
                n0 * distributed::share_of(n1, group.rank(), group.size()).count * (n2 / 2 + 1));
      return all;
    }
  };

  /// \param target  this rank's planes
  /// \param poll    called while derivatives are computed; may throw to stop, on all ranks
  Misfit(Exec const& exec, distributed::Group const& group, Target const& target, double box,
         double smooth, double sigma, mesh::Assignment assignment, std::function<void()> poll)
      : exec_(exec),
        group_(group),
        shape_(target.shape()),
        box_(box),
        smooth_(smooth),
        sigma_(sigma),
        assignment_(assignment),
        poll_(std::move(poll)),
        plan_(exec, group, shape_, fft::Effort::estimate),
        ghosts_(group, shape_[0], {}) {
    distributed::together(group, [&] {
      meshes_.list(group, target, ghosts_.held()).template make<Space>("the misfit of a density");
      auto const target_h = Kokkos::create_mirror_view(meshes_.target);
      for (std::size_t n = 0; n < target_h.size(); ++n)
        target_h.data()[n] = static_cast<T>(target.cells.data()[n]);
      copy_contiguous(meshes_.target, target_h);
    });
  }

  /// The density of particles over its mean, in this rank's planes.
  Cells density(Particles const& particles) const {
    paint(particles);
    auto const result = distributed::together(
        group_, [&] { return Cells("coir::apps::field::density", meshes_.target.layout()); });
    slice_of(result) = slice_of(residual()) * (1 / per_cell(particles));
    return result;
  }

  /// This rank's planes.
  Cells const& target() const { return meshes_.target; }

  /// Adds noise to the target from now on: r = S (density - target) + sigma numbers.
  void add_noise(Cells const& numbers) {
    noise_ = numbers;
    has_noise_ = true;
  }

  /// The rms of S (density - target) / sigma, whatever noise was added.
  double difference(Particles const& particles) const {
    smooth_residual(particles);
    return std::sqrt(sum_of_squares() / static_cast<double>(size_of(shape_))) / sigma_;
  }

  double operator()(Particles const& particles) const { return value(particles); }

  double operator()(Particles const& particles, Cotangents const& cotangents) const {
    poll_();
    double const result = value(particles);
    smoothen();
    slice_of(residual()) *= 1 / (sigma_ * sigma_ * double(per_cell(particles)));
    mesh::paint_pull_back(exec_, ghosts_, particles.position, box_, held(), cotangents.position,
                          assignment_);
    set_to_zero(exec_, cotangents.momentum);
    return result;
  }

 private:
  T per_cell(Particles const& particles) const {
    return static_cast<T>(double(particles.total()) / static_cast<double>(size_of(shape_)));
  }

  typename Plan::Block own() const {
    return plan_.field_in(meshes_.field.data() +
                          ghosts_.widths().below * shape_[1] * (shape_[2] / 2 + 1));
  }
  auto held() const { return fft::real_view_of(meshes_.field, shape_[2]); }
  auto residual() const { return fft::real_view_of(own(), shape_[2]); }

  /// Makes room for the ghosts that these particles touch.
  void hold_ghosts(Particles const& particles) const {
    auto const widths =
        widest(ghosts_.widths(),
               mesh::widths_needed(group_, mesh::touched_by(exec_, group_, particles.position, box_,
                                                            shape_[0], assignment_)));
    if (widths == ghosts_.widths()) return;
    ghosts_ = mesh::GhostPlanes<Exec>(group_, shape_[0], widths);
    distributed::together(group_, [&] {
      meshes_.field = {};
      Buffers all;
      all.add(meshes_.field, "coir::apps::field::residual", ghosts_.held(), shape_[1],
              shape_[2] / 2 + 1);
      all.template make<Space>("the misfit of a density");
    });
  }

  void paint(Particles const& particles) const {
    hold_ghosts(particles);
    // In whole numbers, so that bits depend neither on the number of threads nor of ranks.
    mesh::paint(exec_, ghosts_, particles.position, box_, held(),
                {.assignment = assignment_, .deterministic = true});
  }

  /// residual = S (density - target)
  void smooth_residual(Particles const& particles) const {
    paint(particles);
    auto const difference = slice_of(residual());
    difference = difference / per_cell(particles) - slice_of(meshes_.target);
    smoothen();
  }

  double sum_of_squares() const {
    return sum_over_ranks(group_, square(cast<double>(slice_of(residual()))));
  }

  /// J, and r in place of the residual.
  double value(Particles const& particles) const {
    smooth_residual(particles);
    if (has_noise_) slice_of(residual()) += sigma_ * slice_of(noise_);
    return sum_of_squares() / (2 * sigma_ * sigma_);
  }

  void smoothen() const {
    if (smooth_ == 0) return;
    auto const field = own();
    plan_.filter(field, plan_.is_in_place() ? field : plan_.spectrum_in(meshes_.spectrum.data()),
                 GaussianFilter<T>(shape_[0], shape_[2], smooth_, box_));
  }

  Exec exec_;
  distributed::Group group_;
  Shape<3> shape_;
  double box_, smooth_, sigma_;
  mesh::Assignment assignment_;
  std::function<void()> poll_;
  mutable Meshes meshes_;
  Cells noise_;
  bool has_noise_ = false;
  Plan plan_;
  mutable mesh::GhostPlanes<Exec> ghosts_;
};

}  // namespace coir::apps::field
