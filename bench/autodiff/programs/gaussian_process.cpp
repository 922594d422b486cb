#include <autodiff/programs.hpp>

#include <coir/autodiff/decompositions.hpp>
#include <coir/autodiff/linalg.hpp>
#include <coir/autodiff/solve.hpp>

#include <cstdint>

namespace coir::bench {

namespace {

/// The likelihood of a Gaussian process, as a function of where it was seen.
struct GaussianProcess {
  template <class X>
  auto operator()(X const& x) const {
    auto const at = ravel(x);
    std::int64_t const n = at.shape()[0];
    auto const seen = evaluate(sin(3 * at));
    auto const covariance =
        evaluate(exp(-2 * square(at(range(), newaxis) - at)) + 0.1F * eye<float, Memory>(n));
    auto const factor = cholesky(covariance);
    return 0.5F * sum(seen * solve(covariance, seen)) + sum(log(diagonal(factor)));
  }
};

bool const gaussian_process_added = add_program(
    "gaussian_process", {256},
    [](auto&, std::int64_t n, auto const& time) { time(GaussianProcess{}, matrix(1, n)); });

}  // namespace

}  // namespace coir::bench
