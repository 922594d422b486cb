#include <autodiff/differences.hpp>
#include <autodiff/programs.hpp>
#include <support/memory.hpp>

#include <cstdint>

namespace coir::bench {

namespace {

/// 100 explicit steps of diffusion on a periodic square.
struct Diffusion {
  template <class X>
  auto operator()(X const& x) const {
    auto u = evaluate(x);
    for (int step = 0; step < 100; ++step) u = u + 0.2F * laplacian(u);
    return sum(square(u));
  }
};

bool const diffusion_added =
    add_program("diffusion", {64, 1024}, [](auto& state, std::int64_t n, auto const& time) {
      if (!fits(state, 220. * sizeof(float) * double(n) * double(n))) return;
      time(Diffusion{}, matrix(n, n));
    });

}  // namespace

}  // namespace coir::bench
