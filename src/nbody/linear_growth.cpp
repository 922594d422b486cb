#include <coir/core/errors.hpp>
#include <coir/nbody/linear_growth.hpp>

#include <cmath>
#include <numbers>
#include <string>

namespace coir::nbody {

namespace {

using mesh::Assignment;
using mesh::ForceKernel;
using mesh::Softening;

double sinc(double x) { return x == 0 ? 1 : std::sin(x) / x; }

/// The mesh ratio up to which a kernel without softening makes no false structure: see
/// docs/validation.md.
double largest_ratio(ForceKernel kernel, Assignment assignment) {
  bool const is_cic = assignment == Assignment::cic;
  switch (kernel) {
    case ForceKernel::naive: return 1.7;
    case ForceKernel::eastwood: return is_cic ? 0 : 1.3;
    case ForceKernel::gadget: return is_cic ? 1.3 : 1.75;
    default: return INFINITY;
  }
}

bool suits_alone(ForceKernel kernel, Assignment assignment, double ratio) {
  // Waves of the lattice lie at the Nyquist frequency, where this Laplacian is less than half of
  // K^2.
  if (kernel == ForceKernel::three_four && assignment == Assignment::cic &&
      std::abs(ratio - 2) < 0.1)
    return false;
  return ratio <= largest_ratio(kernel, assignment);
}

/// Whether no wave of the lattice, nor an image of one, is near the edge of a sharp filter.
bool suits_sharp_filters(double ratio) { return ratio <= 1.25 || ratio == 2; }

bool is_sharp(Softening softening) {
  return softening == Softening::two_thirds || softening == Softening::steep;
}

bool suits(ForceKernel kernel, Assignment assignment, Softening softening, double ratio) {
  if (is_sharp(softening) && !suits_sharp_filters(ratio)) return false;
  // steep leaves waves below 0.85 of the Nyquist frequency as they are.
  bool const damps = softening != Softening::none && (softening != Softening::steep || ratio == 2);
  return damps || suits_alone(kernel, assignment, ratio);
}

std::string named(Softening softening) {
  return softening == Softening::none ? "no softening"
                                      : "softening " + std::string(name_of(softening));
}

}  // namespace

Softening softening_of(SimulationOptions const& options) {
  if (options.softening) return *options.softening;
  double const ratio = options.mesh_ratio;
  if (suits(options.kernel, options.assignment, Softening::none, ratio)) return Softening::none;
  return suits_sharp_filters(ratio) ? Softening::two_thirds : Softening::gaussian;
}

std::string false_structure(SimulationOptions const& options) {
  double const ratio = options.mesh_ratio;
  Softening const softening = softening_of(options);
  if (suits(options.kernel, options.assignment, softening, ratio)) return "";
  std::string text =
      "kernel " + std::string(name_of(options.kernel)) + " with " + named(softening) +
      " and assignment " + std::string(name_of(options.assignment)) +
      " makes false structure at mesh ratio " + in_words(ratio) + ": take softening ";
  if (softening != Softening::none &&
      suits(options.kernel, options.assignment, Softening::none, ratio))
    text += "none or ";
  else if (suits_sharp_filters(ratio))
    text += "two_thirds or ";
  text += "gaussian";
  if (softening == Softening::none) {
    double const largest = largest_ratio(options.kernel, options.assignment);
    text += largest >= 1 && std::isfinite(largest)
                ? ", kernel 1_4, or a mesh ratio of at most " + in_words(largest)
                : ", or kernel 1_4";
  }
  return text;
}

double growth_lost(SimulationOptions const& options) {
  if (options.scale_factors.size() < 2) return 0;
  auto const window = [](double w, int order) { return std::pow(sinc(w / 2), 2 * order); };
  // Lengths are in cells.
  double const w = 0.1 * std::numbers::pi / options.mesh_ratio;
  double const half = sinc(w / 2), whole = sinc(w);
  int const gradient = gradient_points(options.kernel),
            laplacian = laplacian_points(options.kernel);
  double g = window(w, static_cast<int>(options.assignment));
  if (compensates_window(options.kernel)) g /= window(w, 2);
  if (gradient == 2) g *= whole;
  if (gradient == 4) g *= (4 * whole - sinc(2 * w)) / 3;
  if (laplacian == 3) g /= half * half;
  if (laplacian == 5) g /= 4 / 3.0 * half * half - whole * whole / 3;
  switch (softening_of(options)) {
    case Softening::gaussian: g *= std::exp(-w * w / 2); break;
    case Softening::gadget: g *= std::exp(-w * w / 2 * 1.25 * 1.25 * 2); break;
    default: break;  // these begin at shorter waves
  }
  return 1 - std::pow(options.scale_factors.front() / options.scale_factors.back(), 0.6 * (1 - g));
}

}  // namespace coir::nbody
