// Reductions, of all elements and along axes: see support/functions.hpp.

#include <support/functions.hpp>

#include <coir/array/axis_reductions.hpp>
#include <coir/array/closeness.hpp>
#include <coir/array/nan_reductions.hpp>
#include <coir/array/reductions.hpp>
#include <coir/array/trace.hpp>
#include <coir/array/vmap.hpp>

namespace coir::bench {

namespace {

struct Norm {
  KOKKOS_FUNCTION float operator()(Row<float> const& row) const { return norm(row); }
};

struct Dot {
  KOKKOS_FUNCTION float operator()(Row<float> const& a, Row<float> const& b) const {
    return dot(a, b);
  }
};

struct Scaled {
  KOKKOS_FUNCTION void operator()(Row<float> const& row, Subarray<float, 1> const& result) const {
    COIR_INDEPENDENT_ITERATIONS
    for (std::int64_t i = 0; i < row.size(); ++i) result[i] = 2 * row[i];
  }
};

template <class X>
X& scaled(X& rows) {
  vmap_into(rows, Scaled{})(rows);
  return rows;
}

[[maybe_unused]] bool const added = add_functions({
    // of all elements
    COIR_ROW(4, sum(x)),
    COIR_ROW(8, sum(d)),
    COIR_ROW(4, sum(i)),
    COIR_ROW(1, sum(mask)),
    COIR_ROW(8, sum(z)),
    COIR_ROW(4, sum(m(range(), range(end, end, 2)))),
    COIR_ROW(4, prod(u)),
    COIR_ROW(4, min(x)),
    COIR_ROW(4, max(x)),
    COIR_ROW(8, max(k)),
    COIR_ROW(4, mean(x)),
    COIR_ROW(4, argmin(x)),
    COIR_ROW(4, argmax(x)),
    COIR_ROW(8, argmax(d)),
    COIR_ROW(8, argmax(k)),
    COIR_ROW(4, var(x)),
    COIR_ROW(4, std_dev(x)),
    COIR_ROW(4, any(x > 9)),
    COIR_ROW(4, all(x < 9)),
    COIR_ROW(1, any(mask)),
    COIR_ROW(4, count_nonzero(x)),
    COIR_ROW(1, count_nonzero(mask)),
    COIR_ROW(4, norm(x)),
    COIR_ROW(8, norm(z)),
    COIR_ROW(8, dot(x, y)),
    COIR_ROW(8, vdot(z, z)),
    COIR_ROW(0, trace(m)),
    COIR_ROW(8, allclose(x, x)),
    COIR_ROW(8, max(abs(x - y))),
    // along axes
    COIR_ROW(4, sum(m, 0)),
    COIR_ROW(4, sum(m, 1)),
    COIR_ROW(4, sum(tall, 0)),
    COIR_ROW(5.3, sum(tall, 1)),
    COIR_ROW(5.3, sum(wide, 0)),
    COIR_ROW(4, sum(wide, 1)),
    COIR_ROW(4, sum(rows, 0)),
    COIR_ROW(4, sum(rows, 1)),
    COIR_ROW(4, sum(cube, 0)),
    COIR_ROW(4, sum(cube, 1)),
    COIR_ROW(4, sum(cube, 2)),
    COIR_ROW(5.3, prod(tall, 1)),
    COIR_ROW(4, min(rows, 1)),
    COIR_ROW(4, max(m, 0)),
    COIR_ROW(5.3, max(tall, 1)),
    COIR_ROW(4, mean(rows, 1)),
    COIR_ROW(4, mean(tall, 0)),
    COIR_ROW(4, var(m, 0)),
    COIR_ROW(4, var(rows, 1)),
    COIR_ROW(4, std_dev(tall, 0)),
    COIR_ROW(4, argmin(m, 0)),
    COIR_ROW(4, argmax(m, 1)),
    COIR_ROW(6.7, argmax(tall, 1)),
    COIR_ROW(4, argmax(cube, 1)),
    COIR_ROW(5.3, norm(tall, 1)),
    COIR_ROW(4, any(m > 9, 0)),
    COIR_ROW(4, all(m < 9, 1)),
    COIR_ROW(4, count_nonzero(m, 1)),
    COIR_ROW(8, m - with_axis(mean(m, 1), 1)),
    COIR_ROW(8, tall - mean(tall, 0)),
    // without NaN
    COIR_ROW(4, nansum(x)),
    COIR_ROW(4, nanprod(u)),
    COIR_ROW(4, nanmin(x)),
    COIR_ROW(4, nanmax(x)),
    COIR_ROW(4, nanmean(x)),
    COIR_ROW(4, nanvar(x)),
    COIR_ROW(4, nanstd(x)),
    COIR_ROW(4, nanargmin(m, 1)),
    COIR_ROW(4, nanargmax(m, 1)),
    COIR_ROW(4, nansum(m, 0)),
    COIR_ROW(4, nanmean(m, 1)),
    // functions of rows
    COIR_ROW(5.3, vmap(Norm{})(tall)),
    COIR_ROW(4, vmap(Norm{})(rows)),
    COIR_ROW(4, vmap(Norm{}, in_axes(1))(wide)),
    COIR_ROW(8, vmap(Dot{}, in_axes(0, 0))(rows, rows)),
    COIR_ROW(8, scaled(rows)),
});

}  // namespace

}  // namespace coir::bench
