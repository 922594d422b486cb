#pragma once

/// Functions of rows for vmap(), which computes all of their calls at once: a product of matrices,
/// or a reduction along an axis.
///
///     vmap(NormOfRows{})(x)                                 norms of the rows of x
///     vmap(vmap(DotOfRows{}, in_axes(unmapped, 0)), in_axes(0, unmapped))(x, y)    x times the
///     transpose of y

#include <coir/array/axis_reductions.hpp>
#include <coir/array/subarray.hpp>
#include <coir/array/vmap.hpp>
#include <coir/core/errors.hpp>
#include <coir/linalg/matmul.hpp>

#include <string>
#include <type_traits>

namespace coir {

/// The sum of a row, as by sum().
struct SumOfRows {
  template <class T>
  KOKKOS_FUNCTION auto operator()(Row<T> const& x) const {
    return sum(x);
  }

  template <class R, class T, int Levels, class Space>
  bool all_at_once(Slice<R, Levels, Space> const& results,
                   Slice<T const, Levels + 1, Space> const& x) const {
    results = sum(x, Levels);
    return true;
  }
};

/// The root of the sum of squares of a row, as by norm().
struct NormOfRows {
  template <class T>
  KOKKOS_FUNCTION T operator()(Row<T> const& x) const {
    return norm(x);
  }

  template <class R, class T, int Levels, class Space>
  bool all_at_once(Slice<R, Levels, Space> const& results,
                   Slice<T const, Levels + 1, Space> const& x) const {
    results = sqrt(sum(square(x), Levels));
    return true;
  }
};

/// The sum of products of two rows, as by dot(). Nests of two vmaps in each of which one argument
/// is unmapped are products of matrices, and a third one that maps both makes products of as many.
struct DotOfRows {
  template <class T>
  KOKKOS_FUNCTION auto operator()(Row<T> const& x, Row<T> const& y) const {
    return dot(x, y);
  }

  template <class T, int Levels, class Space>
    requires detail::is_blas_type<T>
  bool all_at_once(Slice<T, Levels, Space> const& results,
                   Slice<T const, Levels + 1, Space> const& x,
                   Slice<T const, Levels + 1, Space> const& y) const {
    expects(y.shape()[Levels] == x.shape()[Levels],
            "DotOfRows takes rows of one length, here " + std::to_string(x.shape()[Levels]) +
                " numbers",
            y.shape()[Levels]);
    enum Kind { of_both, of_x, of_y };
    Shape<3> extent{1, 1, 1};
    Strides<3> of_results{}, left{}, right{};
    bool taken[3] = {};
    for (int d = 0; d < Levels; ++d) {
      if (results.shape()[d] == 1) continue;
      bool const in_x = x.strides()[d] != 0, in_y = y.strides()[d] != 0;
      Kind const kind = in_x == in_y ? of_both : in_x ? of_x : of_y;
      if (taken[kind]) return false;
      taken[kind] = true;
      extent[kind] = results.shape()[d];
      of_results[kind] = results.strides()[d];
      left[kind] = x.strides()[d];
      right[kind] = y.strides()[d];
    }
    if (!taken[of_x] && !taken[of_y]) {
      // Hosts read both rows once by dot(), too, and devices' threads read side by side by sum().
      if constexpr (!runs_on_host<typename Space::execution_space>) results = sum(x * y, Levels);
      return !runs_on_host<typename Space::execution_space>;
    }
    using Factor = Slice<T const, 3, Space>;
    std::int64_t const terms = x.shape()[Levels];
    matmul_into(Slice<T, 3, Space>(results.data(), extent, of_results, {}),
                Factor(x.data(), {extent[of_both], extent[of_x], terms},
                       {left[of_both], left[of_x], x.strides()[Levels]}, {}),
                Factor(y.data(), {extent[of_both], terms, extent[of_y]},
                       {right[of_both], y.strides()[Levels], right[of_y]}, {}));
    return true;
  }
};

}  // namespace coir
