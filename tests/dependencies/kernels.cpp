// Kokkos Kernels against plain loops: it is there, it links, and it was built with the Kokkos in use.
#include <KokkosBlas1_dot.hpp>
#include <KokkosBlas2_gemv.hpp>
#include <Kokkos_Core.hpp>

#include <cmath>
#include <cstdio>

int main(int argc, char** argv) {
  Kokkos::ScopeGuard const kokkos(argc, argv);
  int const rows = 200, columns = 300;
  Kokkos::View<double**> a("a", rows, columns);
  Kokkos::View<double*> x("x", columns), y("y", rows);
  auto const a_h = Kokkos::create_mirror_view(a);
  auto const x_h = Kokkos::create_mirror_view(x);
  auto const y_h = Kokkos::create_mirror_view(y);
  for (int j = 0; j < columns; ++j) {
    x_h(j) = 1 + j % 7;
    for (int i = 0; i < rows; ++i) a_h(i, j) = (i + 2 * j) % 11;
  }
  Kokkos::deep_copy(a, a_h);
  Kokkos::deep_copy(x, x_h);

  double const dot = KokkosBlas::dot(x, x);
  KokkosBlas::gemv("N", 1.0, a, x, 0.0, y);
  Kokkos::deep_copy(y_h, y);

  // Small integers: every sum is exact, in whatever order it is made.
  double error = 0, expected_dot = 0;
  for (int j = 0; j < columns; ++j) expected_dot += x_h(j) * x_h(j);
  error = std::abs(dot - expected_dot);
  for (int i = 0; i < rows; ++i) {
    double expected = 0;
    for (int j = 0; j < columns; ++j) expected += a_h(i, j) * x_h(j);
    error += std::abs(y_h(i) - expected);
  }
  std::printf("dot and gemv on %s: error %g\n", Kokkos::DefaultExecutionSpace::name(), error);
  return error == 0 ? 0 : 1;
}
