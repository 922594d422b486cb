// An Array is a View that knows NumPy's rules. A statement is one kernel, however long it is.
#include <coir/array/all.hpp>

#include <Kokkos_Core.hpp>

#include <iostream>

int main(int argc, char** argv) {
  Kokkos::ScopeGuard const kokkos(argc, argv);

  auto const x = coir::linspace(-3, 3, 1'000'001);
  auto const selu =
      1.05 * where(x > 0, x, 1.67 * exp(x) - 1.67);  // an expression: nothing is computed yet
  coir::Array<double, 1> const y = selu;             // now it is, in one pass

  // Shapes broadcast: a column beside a row is a table.
  auto const rows = coir::arange<double>(3), columns = coir::arange<double>(4);
  coir::Array<double, 2> const table = 10 * rows(coir::range(), coir::newaxis) + columns;

  std::cout.precision(12);
  std::cout << "mean " << mean(y) << '\n';
  std::cout << "largest_change " << max(abs(y - x)) << '\n';  // y - x is never stored
  std::cout << "corner " << table(2, 3) << '\n';
  std::cout << "column_sum " << sum(table, 0)(1) << '\n';
}
