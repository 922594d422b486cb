#include <autodiff/programs.hpp>
#include <support/memory.hpp>

#include <cstdint>

namespace coir::bench {

namespace {

/// The sum over rows of the logarithm of the sum of exp.
struct LogSumExp {
  template <class X>
  auto operator()(X const& x) const {
    auto const largest = evaluate(max(x, 1));
    return sum(log(sum(exp(x - with_axis(largest, 1)), 1)) + largest);
  }
};

bool const log_sum_exp_added =
    add_program("log_sum_exp", {1000, 100000}, [](auto& state, std::int64_t n, auto const& time) {
      std::int64_t const columns = 100;
      if (!fits(state, 4. * sizeof(float) * double(n * columns))) return;
      time(LogSumExp{}, matrix(n, columns));
    });

}  // namespace

}  // namespace coir::bench
