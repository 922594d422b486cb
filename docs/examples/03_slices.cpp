// Heat spreads from a hot square: a stencil by slices, and a mask.
#include <coir/array/all.hpp>

#include <Kokkos_Core.hpp>

#include <iostream>

int main(int argc, char** argv) {
  Kokkos::ScopeGuard const kokkos(argc, argv);
  using coir::range, coir::end;

  auto heat = coir::zeros(64, 96);
  heat(range(20, 40), range(30, 60)) = 1;

  auto const inside = range(1, -1), before = range(end, -2), behind = range(2, end);
  for (int step = 0; step < 200; ++step) {
    // The right side reads heat as it was before the statement, as NumPy's does.
    heat(inside, inside) =
        heat(inside, inside) +
        0.2 * (heat(before, inside) + heat(behind, inside) + heat(inside, before) +
               heat(inside, behind) - 4 * heat(inside, inside));
  }

  auto const warm = heat > 0.5;
  std::cout.precision(12);
  std::cout << "total " << sum(heat) << '\n';
  std::cout << "warm_cells " << count_nonzero(warm) << '\n';
  heat(!warm) = 0;
  std::cout << "warm_total " << sum(heat) << '\n';
}
