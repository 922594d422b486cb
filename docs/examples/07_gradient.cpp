// Derivatives, computed beside the values: of a loss with respect to an array, in one kernel, and
// of a function of two numbers.
#include <coir/array/all.hpp>
#include <coir/autodiff/array_grad.hpp>
#include <coir/autodiff/grad.hpp>

#include <Kokkos_Core.hpp>

#include <iostream>

int main(int argc, char** argv) {
  Kokkos::ScopeGuard const kokkos(argc, argv);

  // A thousand unknowns go down the slope of a loss, which has its minimum where cos(x) = data.
  auto const data = coir::linspace(-0.5, 0.5, 1000);
  auto const loss = coir::value_and_grad([&](auto x) { return sum(square(cos(x) - data)); });
  coir::Array<double, 1> x = coir::ones(1000);
  for (int step = 0; step < 20; ++step) {
    auto const [value, slope] = loss(x);
    x -= 0.2 * slope;
  }
  auto const [left, slope] = loss(x);

  auto const valley = [](auto a, auto b) { return square(1 - a) + 100 * square(b - a * a); };
  auto const [by_a, by_b] = coir::grad(valley)(-1.0, 2.0);

  std::cout.precision(10);
  std::cout << "loss " << left << '\n';
  std::cout << "slope " << norm(slope) << '\n';
  std::cout << "first " << x(0) << '\n';
  std::cout << "by_a " << by_a << "\nby_b " << by_b << '\n';
}
