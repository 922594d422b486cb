// Random numbers come from a key, without hidden state: the same key gives the same numbers on
// every backend and for any number of threads. They aren't NumPy's numbers, but their statistics
// are.
#include <coir/array/all.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <iostream>

int main(int argc, char** argv) {
  Kokkos::ScopeGuard const kokkos(argc, argv);
  std::int64_t const n = 1'000'000;

  auto const [for_x, for_y, for_z] =
      coir::random::split<3>(coir::random::key(42));  // use each key once
  auto const x = coir::random::uniform(for_x, {n}), y = coir::random::uniform(for_y, {n});
  auto const z = coir::random::normal(for_z, {n});

  auto const [counts, edges] = histogram(z, 6, -3, 3);
  std::cout << "pi " << 4 * mean(coir::cast<double>(square(x) + square(y) < 1)) << '\n';
  std::cout << "deviation " << std_dev(z) << '\n';
  std::cout << "within_one " << (double(counts(2)) + double(counts(3))) / n << '\n';
  std::cout << "median " << median(z) << '\n';
}
