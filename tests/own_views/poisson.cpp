// Solvers on a program's own Views: u = i^2 - j^2, whose Laplacian is 0, from its boundary values.
#include "own_views.hpp"

#include <coir/core/loops.hpp>
#include <coir/poisson/jacobi.hpp>
#include <coir/poisson/laplacian.hpp>
#include <coir/poisson/multigrid.hpp>
#include <coir/poisson/red_black.hpp>

constexpr int rows = 21, columns = 30;

template <class View>
void set_boundary(View const& u) {
  coir::for_each(
      "set_boundary", Kokkos::DefaultExecutionSpace{}, coir::box({rows + 2, columns + 2}),
      KOKKOS_LAMBDA(int i, int j) {
        bool const inside = i > 0 && i <= rows && j > 0 && j <= columns;
        u(i, j) = inside ? 0 : i * i - j * j;
      });
}

template <class View>
double largest_error(View const& u) {
  double error = 0;
  coir::reduce(
      "largest_error", Kokkos::DefaultExecutionSpace{}, coir::box({rows + 2, columns + 2}),
      KOKKOS_LAMBDA(int i, int j, double& largest) {
        double const here = u(i, j) - (i * i - j * j);
        if (here > largest) largest = here;
        if (-here > largest) largest = -here;
      },
      Kokkos::Max<double>(error));
  return error;
}

struct Check {
  template <class Layout>
  bool operator()() const {
    Kokkos::View<double**, Layout> const b("b", rows, columns), u("u", rows + 2, columns + 2);
    set_boundary(u);
    coir::poisson::jacobi(b, u, {.sweeps = 5000});
    bool fine = holds(largest_error(u) < 1e-9, "jacobi");
    set_boundary(u);
    coir::poisson::red_black(b, u, {.sweeps = 400});
    fine = holds(largest_error(u) < 1e-9, "red_black") && fine;
    set_boundary(u);
    coir::poisson::multigrid(b, u, {.tolerance = 1e-13});
    fine = holds(largest_error(u) < 1e-9, "multigrid") && fine;
    double const residual = coir::poisson::residual_norm(Kokkos::DefaultExecutionSpace{}, b, u);
    return holds(residual < 1e-8, "residual_norm") && fine;
  }
};

int main(int argc, char** argv) { return run(argc, argv, Check{}); }
