// A View is an array in the memory of a processor or a GPU; a kernel is a function of an index that
// runs for all of them at once.
#include <coir/core/loops.hpp>
#include <coir/core/math.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <iostream>

int main(int argc, char** argv) {
  // Starts Kokkos, and ends it after all Views are gone.
  Kokkos::ScopeGuard const kokkos(argc, argv);
  // The GPU, or all cores, or one: as Kokkos was built.
  using Exec = Kokkos::DefaultExecutionSpace;
  Exec const exec;

  std::int64_t const m = 300, n = 400;
  Kokkos::View<double**, Kokkos::LayoutRight, Exec::memory_space> const wave("wave", m, n);

  // The label is the kernel's name in profilers.
  coir::for_each(
      "example::wave", exec, coir::box({m, n}), KOKKOS_LAMBDA(std::int64_t i, std::int64_t j) {
        wave(i, j) = coir::math::sin(0.02 * double(i)) * coir::math::cos(0.01 * double(j));
      });

  // A reduction waits for its result; its bits don't depend on the number of threads.
  double energy = 0;
  coir::reduce(
      "example::energy", exec, coir::box({m, n}),
      KOKKOS_LAMBDA(std::int64_t i, std::int64_t j, double& sum) {
        sum += wave(i, j) * wave(i, j);
      },
      Kokkos::Sum<double>(energy));

  // A GPU's memory isn't the host's: what the host looks at is copied. On hosts this copies
  // nothing.
  auto const wave_h = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, wave);
  std::cout.precision(12);
  std::cout << "energy " << energy << "\nelement " << wave_h(100, 200) << '\n';
}
