#include <autodiff/differences.hpp>
#include <autodiff/programs.hpp>

#include <cstdint>

namespace coir::bench {

namespace {

/// 20 steps of the shallow-water equations.
struct ShallowWater {
  template <class X>
  auto operator()(X const& x) const {
    auto h = evaluate(1 + 0.1F * x), u = evaluate(0.1F * x), v = evaluate(0.1F * x);
    for (int step = 0; step < 20; ++step) {
      auto const p = evaluate(h * u), q = evaluate(h * v);
      auto const du = evaluate(u * along_0(u) + v * along_1(u) + along_0(h));
      auto const dv = evaluate(u * along_0(v) + v * along_1(v) + along_1(h));
      h = h - 0.05F * (along_0(p) + along_1(q));
      u = u - 0.05F * du;
      v = v - 0.05F * dv;
    }
    return sum(h * (square(u) + square(v))) + sum(square(h));
  }
};

bool const shallow_water_added = add_program(
    "shallow_water", {256},
    [](auto&, std::int64_t n, auto const& time) { time(ShallowWater{}, matrix(n, n)); });

}  // namespace

}  // namespace coir::bench
