// What goes wrong when arrays and Kokkos don't live at the same time, one case at a time: see
// lifetime_test.cpp. A PreconditionError is printed, and ends it with 3.

#include <coir/array/all.hpp>

#include <iostream>
#include <string>

#ifdef COIR_GLOBAL
coir::Array<double, 1> const made_before_main = coir::zeros(5);
#endif

namespace {

coir::Array<double, 1> outlives_kokkos;

void add_one(coir::Array<double, 1>& x) { x = x + 1; }

int run(std::string const& which) {
  if (which == "without") coir::zeros(5);
  if (which == "borrowed") {  // needs no memory of its own
    double numbers[] = {1, 2, 3};
    coir::borrow(std::span(numbers), {3}) += 1;
  }
  {
    Kokkos::ScopeGuard const kokkos;
    outlives_kokkos = coir::arange<double>(5);
    add_one(outlives_kokkos);
    if (coir::sum(outlives_kokkos) != 15) return 1;
    // What an array that is gone held must not be freed when the limit says so, but Kokkos is gone,
    // too.
    if (which == "limited") coir::MemoryPool<coir::DefaultSpace>::set_limit(0);
  }
  if (which == "made_after") coir::zeros(5);
  if (which == "assigned_after") add_one(outlives_kokkos);
  if (which == "reduced_after") coir::sum(outlives_kokkos);
  if (which == "limited") outlives_kokkos = coir::Array<double, 1>();
  return 0;
}

}  // namespace

int main(int, char** argv) try {
  return run(argv[1]);
} catch (coir::PreconditionError const& error) {
  std::cerr << error.what() << '\n';
  return 3;
}
