#include <autodiff/programs.hpp>

#include <coir/autodiff/linalg.hpp>

#include <cstdint>

namespace coir::bench {

namespace {

/// The mean squared distance of points to the nearest of 16 centres.
struct KMeans {
  Array<float, 2, Memory> const& points;
  template <class C>
  auto operator()(C const& centres) const {
    auto const products = matmul(points, transpose(centres));
    auto const squared = evaluate(sum(square(centres), 1));
    return mean(min(squared - 2 * products, 1) + sum(square(points), 1));
  }
};

bool const k_means_added =
    add_program("k_means", {20000}, [](auto&, std::int64_t n, auto const& time) {
      auto const points = matrix(n, 8);
      time(KMeans{points}, matrix(16, 8));
    });

}  // namespace

}  // namespace coir::bench
