#pragma once

#include <coir/core/errors.hpp>
#include <coir/cosmology/redshift_distribution.hpp>

#include <cmath>
#include <numbers>
#include <variant>
#include <vector>

namespace coir::cosmology {

/// How the bias of galaxies changes with time.
enum class BiasEvolution {
  constant,        ///< b
  inverse_growth,  ///< b D1(1) / D1(a)
};

/// Counts of galaxies per solid angle: delta_g = b delta.
template <class T = double>
struct NumberCounts {
  RedshiftDistribution<T> n;
  T bias = T(1);
  BiasEvolution evolution = BiasEvolution::constant;
  double density = 0;  ///< galaxies per square arc minute, for shot noise; 0 is without noise
};

/// Shapes of galaxies: weak lensing and, where `alignment` isn't 0, their intrinsic alignment by
/// the nonlinear alignment model,
///
///   A(z) = alignment [(1 + z) / (1 + pivot)]^eta,
///
/// both times 1 + m.
/// \see Bridle, King, New J. Phys. 9, 444 (2007); Troxel et al., Phys. Rev. D 98, 043528 (2018)
template <class T = double>
struct WeakLensing {
  RedshiftDistribution<T> n;
  T m = T(0);  ///< multiplicative bias
  T alignment = T(0);
  T eta = T(0);
  double pivot = 0.62;
  double sigma_e = 0.26;  ///< dispersion of one component of the ellipticity, for shape noise
  double density = 0;     ///< galaxies per square arc minute; 0 is without noise
};

/// What is seen on the sky.
template <class T = double>
using Tracer = std::variant<NumberCounts<T>, WeakLensing<T>>;

/// The redshift distribution of a tracer.
template <class T>
RedshiftDistribution<T> const& distribution(Tracer<T> const& tracer) {
  return std::visit([](auto const& t) -> auto const& { return t.n; }, tracer);
}

/// The noise in the tracer's own spectrum, in steradian: 1 / density, times sigma_e^2 for shapes; 0
/// for density 0.
/// \throws PreconditionError unless density and sigma_e are at least 0 and finite
template <class T>
double noise(Tracer<T> const& tracer) {
  double const density = std::visit([](auto const& t) { return t.density; }, tracer);
  expects(density >= 0 && std::isfinite(density),
          "the density of galaxies, per square arc minute, must be at least 0 and finite", density);
  if (density == 0) return 0;
  double const arc_minute = std::numbers::pi / 180 / 60;
  double result = arc_minute * arc_minute / density;
  if (auto const* const shapes = std::get_if<WeakLensing<T>>(&tracer)) {
    expects(shapes->sigma_e >= 0 && std::isfinite(shapes->sigma_e),
            "sigma_e, the dispersion of ellipticities, must be at least 0 and finite",
            shapes->sigma_e);
    result *= shapes->sigma_e * shapes->sigma_e;
  }
  return result;
}

/// The same tracer in numbers of another type. If these are duals, all derivatives are 0.
template <class U, class T>
Tracer<U> tracer_as(Tracer<T> const& tracer) {
  if (auto const* const counts = std::get_if<NumberCounts<T>>(&tracer))
    return NumberCounts<U>{.n = counts->n.template as<U>(),
                           .bias = U(counts->bias),
                           .evolution = counts->evolution,
                           .density = counts->density};
  auto const& shapes = std::get<WeakLensing<T>>(tracer);
  return WeakLensing<U>{.n = shapes.n.template as<U>(),
                        .m = U(shapes.m),
                        .alignment = U(shapes.alignment),
                        .eta = U(shapes.eta),
                        .pivot = shapes.pivot,
                        .sigma_e = shapes.sigma_e,
                        .density = shapes.density};
}

}  // namespace coir::cosmology
