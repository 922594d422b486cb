#include <autodiff/programs.hpp>

#include <cstdint>

namespace coir::bench {

namespace {

/// 50 steps of advection along rows with minmod-limited slopes and a Courant number of 1/2.
struct Advection {
  template <class X>
  auto operator()(X const& x) const {
    auto u = evaluate(+x);
    for (int step = 0; step < 50; ++step) {
      auto const behind = evaluate(u - roll(u, 1, 1));
      auto const ahead = roll(behind, -1, 1);
      auto const slope =
          where(behind * ahead > 0.F, where(abs(behind) < abs(ahead), behind, ahead), 0.F * behind);
      auto const flux = evaluate(u + 0.25F * slope);
      u = u - 0.5F * (flux - roll(flux, 1, 1));
    }
    return sum(square(u));
  }
};

bool const advection_added =
    add_program("advection", {256},
                [](auto&, std::int64_t n, auto const& time) { time(Advection{}, matrix(n, n)); });

}  // namespace

}  // namespace coir::bench
