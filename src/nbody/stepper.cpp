#include <coir/core/errors.hpp>
#include <coir/nbody/stepper.hpp>

#include <array>
#include <cmath>
#include <string>

namespace coir::nbody {

namespace {

struct Named {
  std::string_view name;
  Stepper value;
};
constexpr std::array<Named, 3> steppers{
    {{"fastpm", Stepper::fastpm}, {"plain", Stepper::plain}, {"bullfrog", Stepper::bullfrog}}};

}  // namespace

std::string_view name_of(Stepper stepper) {
  for (auto const& entry : steppers)
    if (entry.value == stepper) return entry.name;
  return "";
}

Stepper stepper_named(std::string_view name) {
  for (auto const& entry : steppers)
    if (entry.name == name) return entry.value;
  throw PreconditionError("there is no stepper '" + std::string(name) +
                          "': it must be one of fastpm, plain, bullfrog");
}

std::vector<double> scale_factors(double a_start, double a_end, int steps, Spacing spacing) {
  expects(a_start > 0 && std::isfinite(a_start), "a_start must be above 0", a_start);
  expects(a_end > a_start && std::isfinite(a_end),
          "a_end must be above a_start, which is " + in_words(a_start), a_end);
  expects(steps >= 1, "there must be at least one step", steps);
  std::vector<double> a;
  for (int s = 0; s <= steps; ++s) {
    double const part = static_cast<double>(s) / steps;
    a.push_back(spacing == Spacing::linear ? a_start + (a_end - a_start) * part
                                           : a_start * std::pow(a_end / a_start, part));
  }
  a.back() = a_end;
  return a;
}

}  // namespace coir::nbody
