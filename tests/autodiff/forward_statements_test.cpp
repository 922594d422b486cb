// Programs of statements that write and join arrays, along directions, beside JAX.

#include <autodiff/forward.hpp>

using coir::end;
using coir::range;
using coir::testing::added;
using coir::testing::expect_derivatives;
using coir::testing::waves;

namespace {

struct Steps {
  template <class X>
  auto operator()(X const& x) const {
    auto u = evaluate(sin(x));
    u(range(1, end)) += 0.5 * x(range(0, -1)) * x(range(1, end));
    for (int k = 0; k < 2; ++k) u = u + 0.1 * (roll(u, 1) - 2 * u + roll(u, -1)) * u;
    u(0) = prod(u) + max(u);
    auto s = evaluate(sum(u));
    s += norm(x);
    auto const m = evaluate(where(x > 0, x * x, exp(x)));
    auto const both = concatenate(0, m, u);
    return added(log(1 + s * s) * sum(square(u)), mean(cumsum(exp(u))), var(m),
                 sum(both(range(0, end, 3)) * waves(5, 6)));
  }
};

}  // namespace

TEST(Forward, StatementsHaveTheDerivativesOfJax) {
  expect_derivatives<Steps>(8, 14.799653868208058, 8.60255731507076, 19.877416821835983);
}
