#include <autodiff/programs.hpp>

#include <cstdint>

namespace coir::bench {

namespace {

/// Smoothed total variation with a misfit.
struct TotalVariation {
  Array<float, 2, Memory> const& image;
  template <class X>
  auto operator()(X const& u) const {
    auto const in = range(0, -1), next = range(1, end);
    auto const steps = square(u(next, in) - u(in, in)) + square(u(in, next) - u(in, in));
    return sum(sqrt(steps + 1e-4F)) + 0.5F * sum(square(u - image));
  }
};

bool const total_variation_added =
    add_program("total_variation", {1024}, [](auto&, std::int64_t n, auto const& time) {
      auto const u = matrix(n, n);
      Array<float, 2, Memory> const image = sin(5 * u);
      time(TotalVariation{image}, u);
    });

}  // namespace

}  // namespace coir::bench
