// What makes, moves, joins and selects elements: see support/functions.hpp.

#include <support/functions.hpp>

#include <coir/array/axes.hpp>
#include <coir/array/joining.hpp>
#include <coir/array/padding.hpp>
#include <coir/array/repeating.hpp>
#include <coir/array/roll.hpp>
#include <coir/array/slices.hpp>

namespace coir::bench {

namespace {

struct Distance {
  KOKKOS_FUNCTION double operator()(std::int64_t i, std::int64_t j) const {
    return double(i) + 0.5 * double(j);
  }
};

struct Blend {
  KOKKOS_FUNCTION float operator()(float a, float b) const { return a < 0 ? a : b; }
};

template <class X, class M, class Y>
X& assign_where(X& x, M const& mask, Y const& y) {
  x(mask) = y;
  return x;
}

[[maybe_unused]] bool const added = add_functions({
    // making
    COIR_ROW(4, zeros<float, Memory>(n)),
    COIR_ROW(4, ones<float, Memory>(n)),
    COIR_ROW(4, full<float, Memory>({n}, 7)),
    COIR_ROW(4, zeros_like(x)),
    COIR_ROW(4, ones_like(x)),
    COIR_ROW(4, full_like(x, 7)),
    COIR_ROW(8, arange<std::int64_t, Memory>(n)),
    COIR_ROW(8, arange<double, Memory>(0., double(n), 1.)),
    COIR_ROW(8, linspace<double, Memory>(0, 1, n)),
    COIR_ROW(4, linspace<float, Memory>(0, 1, n)),
    COIR_ROW(8, logspace<double, Memory>(0, 1, n)),
    COIR_ROW(8, eye<double, Memory>(side)),
    COIR_ROW(8, indices<0>({side, side})),
    COIR_ROW(8, from_function<Memory>({side, side}, Distance{})),
    COIR_ROW(8, copy(x)),
    COIR_ROW(12, map(Blend{}, x, y)),
    // slices and transposes
    COIR_ROW(8, x(range(end, end, -1))),
    COIR_ROW(4, x(range(end, end, 2))),
    COIR_ROW(8, m(range(end, end, -1), range(end, end, -1))),
    COIR_ROW(8, flip(m, 1)),
    COIR_ROW(8, transpose(m)),
    COIR_ROW(8, transpose(tall)),
    COIR_ROW(8, transpose(wide)),
    COIR_ROW(8, transpose(cube)),
    COIR_ROW(8, transpose(cube, {0, 2, 1})),
    COIR_ROW(8, transpose(cube, {1, 0, 2})),
    COIR_ROW(8, transpose(four, {3, 2, 1, 0})),
    COIR_ROW(8, transpose(four, {0, 2, 1, 3})),
    COIR_ROW(8, swap_axes(cube, 0, 2)),
    COIR_ROW(8, moveaxis(cube, 0, -1)),
    COIR_ROW(8, cube + swap_axes(cube, 1, 2)),
    COIR_ROW(12, m + transpose(m)),
    COIR_ROW(4, broadcast_to(x(range(0, side)), {side, side})),
    COIR_ROW(0, diagonal(m)),
    COIR_ROW(8, expand_dims(squeeze(expand_dims(x, 0), 0), 1)),
    COIR_ROW(8, ravel(transpose(m))),
    COIR_ROW(8, reshape(transpose(m), {1, -1})),
    COIR_ROW(5, assign_where(out, out < 0, 0)),
    COIR_ROW(9, assign_where(out, mask, y)),
    // joining and repeating
    COIR_ROW(16, concatenate(0, x, y)),
    COIR_ROW(16, concatenate(1, tall, tall)),
    COIR_ROW(16, stack(0, x, y)),
    COIR_ROW(16, stack(1, x, y)),
    COIR_ROW(8, roll(x, 5)),
    COIR_ROW(8, roll(m, 1, 1)),
    COIR_ROW(8, roll(cube, {1, 2}, {0, 2})),
    COIR_ROW(16, tile(x, 3)),
    COIR_ROW(28, tile(m, {2, 3})),
    COIR_ROW(16, repeat(x, 3)),
    COIR_ROW(12, repeat(m, 2, 0)),
    COIR_ROW(12, repeat(m, 2, 1)),
    COIR_ROW(12, repeat(x, where(mask, 2, 0))),
    COIR_ROW(8, pad(x, 3)),
    COIR_ROW(8, pad(m, {{1, 2}, {0, 3}}, 7)),
    COIR_ROW(8, pad(m, 3, Pad::reflect)),
    COIR_ROW(8, pad(m, 3, Pad::wrap)),
    // selecting
    COIR_ROW(7, compress(x, mask)),
    COIR_ROW(6, compress(x, x > 0)),
    COIR_ROW(5, nonzero(mask)),
    COIR_ROW(8, nonzero(x > 0)),
    COIR_ROW(16, take(x, order)),
    COIR_ROW(16, take(x, k)),
});

}  // namespace

}  // namespace coir::bench
