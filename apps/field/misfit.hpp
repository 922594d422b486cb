#pragma once

/// How far the density of particles is from a target.

#include "target.hpp"

#include <coir/array/creation.hpp>
#include <coir/array/functions.hpp>
#include <coir/array/operators.hpp>
#include <coir/array/reductions.hpp>
#include <coir/core/buffers.hpp>
#include <coir/core/contiguous.hpp>
#include <coir/core/math.hpp>
#include <coir/fft/plan.hpp>
#include <coir/fft/wave_number.hpp>
#include <coir/mesh/paint.hpp>
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

inline constexpr fft::PlanOptions plan_of_misfit{.effort = fft::Effort::estimate};

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
template <class Exec, class T>
class Misfit {
 public:
  using Cells = Kokkos::View<T***, Kokkos::LayoutRight, typename Exec::memory_space>;
  using Particles = coir::nbody::Particles<Exec, T>;
  using Cotangents = coir::nbody::Cotangents<Exec, T>;

  /// What it holds beside its plan.
  struct Meshes {
    Cells target, residual;
    Kokkos::View<Kokkos::complex<T>***, Kokkos::LayoutRight, typename Exec::memory_space> spectrum;

    Buffers list(Target const& of) {
      auto const [n0, n1, n2] = of.shape();
      Buffers all;
      all.add(target, "coir::apps::field::target", n0, n1, n2);
      all.add(residual, "coir::apps::field::residual", n0, n1, n2);
      all.add(spectrum, "coir::apps::field::spectrum", n0, n1, n2 / 2 + 1);
      return all;
    }
  };

  /// \param poll  called while derivatives are computed; may throw to stop
  Misfit(Exec const& exec, Target const& target, double box, double smooth, double sigma,
         mesh::Assignment assignment, std::function<void()> poll)
      : exec_(exec),
        box_(box),
        smooth_(smooth),
        sigma_(sigma),
        assignment_(assignment),
        poll_(std::move(poll)),
        plan_(exec, target.shape(), 1, plan_of_misfit) {
    meshes_.list(target).template make<typename Exec::memory_space>("the misfit of a density");
    auto const target_h = Kokkos::create_mirror_view(meshes_.target);
    for (std::size_t n = 0; n < target_h.size(); ++n)
      target_h.data()[n] = static_cast<T>(target.cells.data()[n]);
    copy_contiguous(meshes_.target, target_h);
  }

  /// The density of particles over its mean, which the next call changes.
  Cells const& density(Particles const& particles) const {
    paint(particles);
    slice_of(meshes_.residual) *= 1 / per_cell(particles);
    return meshes_.residual;
  }

  Cells const& target() const { return meshes_.target; }

  /// Adds noise to the target from now on: r = S (density - target) + sigma numbers.
  void add_noise(Cells const& numbers) { noise_ = numbers; }

  /// The rms of S (density - target) / sigma, whatever noise was added.
  double difference(Particles const& particles) const {
    smooth_residual(particles);
    return std::sqrt(sum_of_squares() / double(meshes_.target.size())) / sigma_;
  }

  double operator()(Particles const& particles) const { return value(particles); }

  double operator()(Particles const& particles, Cotangents const& cotangents) const {
    poll_();
    double const result = value(particles);
    smoothen();
    slice_of(meshes_.residual) *= 1 / (sigma_ * sigma_ * double(per_cell(particles)));
    mesh::paint_pull_back(exec_, particles.position, box_, meshes_.residual, cotangents.position,
                          assignment_);
    set_to_zero(exec_, cotangents.momentum);
    return result;
  }

 private:
  std::int64_t extent(std::size_t d) const {
    return static_cast<std::int64_t>(meshes_.target.extent(d));
  }

  T per_cell(Particles const& particles) const {
    return static_cast<T>(double(particles.total()) / double(meshes_.target.size()));
  }

  void paint(Particles const& particles) const {
    // In whole numbers, so that bits don't depend on the number of threads.
    mesh::paint(exec_, particles.position, box_, meshes_.residual,
                {.assignment = assignment_, .deterministic = true});
  }

  /// residual = S (density - target)
  void smooth_residual(Particles const& particles) const {
    paint(particles);
    auto const residual = slice_of(meshes_.residual);
    residual = residual / per_cell(particles) - slice_of(meshes_.target);
    smoothen();
  }

  double sum_of_squares() const { return sum(square(cast<double>(slice_of(meshes_.residual)))); }

  /// J, and r in place of the residual.
  double value(Particles const& particles) const {
    smooth_residual(particles);
    if (noise_.size() > 0) slice_of(meshes_.residual) += sigma_ * slice_of(noise_);
    return sum_of_squares() / (2 * sigma_ * sigma_);
  }

  void smoothen() const {
    if (smooth_ == 0) return;
    plan_.forward(meshes_.residual, meshes_.spectrum);
    fft::multiply_modes(exec_, meshes_.spectrum,
                        GaussianFilter<T>(extent(0), extent(2), smooth_, box_));
    plan_.backward(meshes_.spectrum, meshes_.residual);
  }

  Exec exec_;
  double box_, smooth_, sigma_;
  mesh::Assignment assignment_;
  std::function<void()> poll_;
  Meshes meshes_;
  Cells noise_;
  fft::RealPlan<Exec, T, 3> plan_;
};

}  // namespace coir::apps::field
