// Transforms of a program's own Views, there and back.
#include "own_views.hpp"

#include <coir/fft/plan.hpp>

#include <cmath>

using Exec = Kokkos::DefaultExecutionSpace;
using Complex = Kokkos::complex<double>;

/// Whether a View that was i + 0.25 j is n times that.
template <class View>
bool came_back(View const& view, double n) {
  auto const host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, view);
  double error = 0;
  for (int i = 0; i < 12; ++i)
    for (int j = 0; j < 7; ++j) error += Kokkos::abs(Complex(host(i, j)) - n * (i + 0.25 * j));
  return error < 1e-9;
}

template <class View>
void set(View const& view) {
  auto const host = Kokkos::create_mirror_view(view);
  for (int i = 0; i < 12; ++i)
    for (int j = 0; j < 7; ++j) host(i, j) = i + 0.25 * j;
  Kokkos::deep_copy(view, host);
}

struct Check {
  template <class Layout>
  bool operator()() const {
    Kokkos::View<Complex**, Layout> const field("field", 12, 7), spectrum("spectrum", 12, 7);
    coir::fft::ComplexPlan<Exec, double, 2> const plan(Exec{}, coir::Shape<2>{12, 7});
    set(field);
    plan.forward(field, spectrum);
    plan.backward(spectrum, field);
    bool const fine = holds(came_back(field, 84), "a complex field");

    Kokkos::View<double**, Layout> const real("real", 12, 7);
    Kokkos::View<Complex**, Layout> const half("half", 12, 4);
    coir::fft::RealPlan<Exec, double, 2> const real_plan(Exec{}, coir::Shape<2>{12, 7});
    set(real);
    real_plan.forward(real, half);
    real_plan.backward(half, real);
    return holds(came_back(real, 84), "a real field") && fine;
  }
};

int main(int argc, char** argv) { return run(argc, argv, Check{}); }
