#include <autodiff/differences.hpp>
#include <autodiff/programs.hpp>

#include <cstdint>

namespace coir::bench {

namespace {

/// 50 steps of the wave equation.
struct Wave {
  template <class X>
  auto operator()(X const& x) const {
    auto u = evaluate(+x), v = evaluate(0.1F * x);
    for (int step = 0; step < 50; ++step) {
      v = v + 0.2F * laplacian(u);
      u = u + v;
    }
    return sum(square(u));
  }
};

bool const wave_added = add_program(
    "wave", {256}, [](auto&, std::int64_t n, auto const& time) { time(Wave{}, matrix(n, n)); });

}  // namespace

}  // namespace coir::bench
