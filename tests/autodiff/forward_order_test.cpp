// Programs that sort and pick elements, along directions, beside JAX.

#include <autodiff/forward.hpp>

#include <coir/autodiff/stop_gradient.hpp>

using coir::testing::added;
using coir::testing::expect_derivatives;
using coir::testing::waves;

namespace {

struct Order {
  template <class X>
  auto operator()(X const& x) const {
    auto const q = quantile(x, {0.2, 0.7});
    auto const m = reshape(x, {4, 2});
    auto const smallest = min(x);
    return added(
        sum(sin(x) * q(0) + q(1) * q(1) * q(1)), median(x * x) * sum(median(m * m, 0) * max(m, 0)),
        sum(sin(unwrap(9 * x))) * prod(m, 1)(1), coir::stop_gradient(sum(x)) * smallest * smallest,
        sum(pow(sort(x), 3) * waves(4, 8)), sum(cumprod(cos(x))),
        sum(square(take(x, coir::array({0, 3, 3, 7})))), sum(pow(pad(x, 2, coir::Pad::reflect), 3)),
        sum(take(cos(x), argsort(x)) * waves(6, 8)));
  }
};

}  // namespace

TEST(Forward, OrderedElementsHaveTheDerivativesOfJax) {
  expect_derivatives<Order>(8, 14.907447416894613, 27.228274024221143, 39.706957496949045);
}
