#include <autodiff/differences.hpp>
#include <autodiff/programs.hpp>

#include <cstdint>

namespace coir::bench {

namespace {

/// 50 steps of Burgers' equation.
struct Burgers {
  template <class X>
  auto operator()(X const& x) const {
    auto u = evaluate(+x);
    for (int step = 0; step < 50; ++step)
      u = u - 0.1F * u * (along_0(u) + along_1(u)) + 0.1F * laplacian(u);
    return sum(square(u));
  }
};

bool const burgers_added =
    add_program("burgers", {256},
                [](auto&, std::int64_t n, auto const& time) { time(Burgers{}, matrix(n, n)); });

}  // namespace

}  // namespace coir::bench
