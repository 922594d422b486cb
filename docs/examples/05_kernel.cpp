// What a statement can't say is a kernel of one's own, on the same memory: here scattered writes.
#include <coir/array/all.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <iostream>

int main(int argc, char** argv) {
  Kokkos::ScopeGuard const kokkos(argc, argv);
  std::int64_t const particles = 100'000, cells = 64;

  coir::Array<double, 1> const position =
      cells * coir::fmod(0.618033988749895 * coir::arange<double>(particles), 1);

  // Each particle gives to the two cells beside it what lies nearer to them ("cloud in cell").
  coir::Array<double, 1> density = coir::zeros(cells);
  auto const where = position.view();  // kernels take Views, not Arrays
  auto const into = density.view();
  // coir::for_each is for iterations that write each to a place of its own.
  Kokkos::parallel_for(
      "example::deposit", Kokkos::RangePolicy<>(0, particles), KOKKOS_LAMBDA(std::int64_t p) {
        auto const cell = static_cast<std::int64_t>(where(p));
        double const right = where(p) - static_cast<double>(cell);
        // Other particles may write to these cells at this moment.
        Kokkos::atomic_add(&into(cell), 1 - right);
        Kokkos::atomic_add(&into((cell + 1) % cells), right);
      });

  // Statements see what the kernel has written: both run on the default instance, in turn.
  density *= double(cells) / particles;
  std::cout.precision(10);
  std::cout << "mean " << mean(density) << '\n';
  std::cout << "largest " << max(density) << '\n';
  std::cout << "first " << density(0) << '\n';
}
