// Statements on a program's own Views.
#include "own_views.hpp"

#include <coir/array/all.hpp>

struct Check {
  template <class Layout>
  bool operator()() const {
    Kokkos::View<double**, Layout> const view("view", 6, 4);
    coir::slice_of(view) = coir::arange<double>(4);  // along the last axis
    coir::slice_of(view)(coir::range(1, -1), 0) += 10;
    Kokkos::View<double const**, Layout> const read_only = view;
    double const total = sum(coir::slice_of(read_only));

    Kokkos::View<double**, Kokkos::LayoutRight> const right("right", 6, 4);
    auto const array = coir::borrow(right);
    coir::slice_of(right) = coir::slice_of(view);
    return holds(total == 6 * 6 + 4 * 10, "the sum of a View's elements") &&
           holds(all(array == coir::slice_of(view)), "a copy between two layouts");
  }
};

int main(int argc, char** argv) { return run(argc, argv, Check{}); }
