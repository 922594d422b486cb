// What must not compile, one case at a time, and with a message that a person can read: that beside
// it.

#include <coir/array/vmap.hpp>

#include <utility>

namespace {

using Vector = coir::Array<double, 1>;

struct Add {
  KOKKOS_FUNCTION double operator()(double x, double y) const { return x + y; }
};
struct AddToRow {
  KOKKOS_FUNCTION double operator()(coir::Row<double> const& x, double y) const { return x[0] + y; }
};
struct Both {
  KOKKOS_FUNCTION std::pair<double, double> operator()(double x, double y) const { return {x, y}; }
};

struct Pair {
  KOKKOS_FUNCTION Kokkos::Array<double, 2> operator()(double x, double y) const { return {x, y}; }
};

}  // namespace

void misuse(Vector& x, Vector const& y) {
  using namespace coir;
#if defined(MISUSE_nothing_mapped)  // vmap maps over an axis of at least one array
  vmap(Add{}, in_axes(unmapped, unmapped))(x, y);
#elif defined(MISUSE_axes_of_others)  // names an axis for each argument, or one for all
  vmap(Add{}, in_axes(0, 0, 0))(x, y);
#elif defined(MISUSE_axis_of_number)  // an argument that is a number is unmapped
  vmap(Add{}, in_axes(0, 0))(x, 1.0);
#elif defined(MISUSE_no_axis_left)    // has none, or none left by the vmap around it
  vmap(vmap(Add{}))(x, y);
#elif defined(MISUSE_other_part)      // a function for vmap takes what a call gets of each argument
  vmap(AddToRow{})(x, y);
#elif defined(MISUSE_no_number)       // a function for vmap returns a number
  vmap(Both{})(x, y);
#elif defined(MISUSE_into_constant)   // vmap_into writes an array or a slice that isn't const
  vmap_into(y, Add{})(x, y);
#elif defined(MISUSE_into_fewer_axes)  // an array that has an axis for each vmap
  vmap_into(x, vmap(Add{}, in_axes(0, unmapped)), in_axes(unmapped, 0))(x, y);
#elif defined(MISUSE_into_other_part)  // a call returns what its part of vmap_into's array takes
  vmap_into(x, Pair{})(x, y);
#else
  vmap_into(x, Add{}, in_axes(0, unmapped))(vmap(Add{}, in_axes(-1), out_axes(0))(x, y), 1.0);
#endif
}
