#include <autodiff/differences.hpp>
#include <autodiff/programs.hpp>

#include <cstdint>

namespace coir::bench {

namespace {

/// Horn and Schunck's loss of the flow between two images.
struct OpticalFlow {
  Array<float, 2, Memory> const &before, &after;
  template <class U, class V>
  auto operator()(U const& u, V const& v) const {
    auto const in = range(0, -1), next = range(1, end);
    auto const smooth = [&](auto const& w) {
      return sum(square(w(next, in) - w(in, in)) + square(w(in, next) - w(in, in)));
    };
    auto const seen = along_0(before) * u + along_1(before) * v + (after - before);
    return sum(square(seen)) + 0.1F * (smooth(u) + smooth(v));
  }
};

bool const optical_flow_added =
    add_program("optical_flow", {1024}, [](auto&, std::int64_t n, auto const& time) {
      auto const before = matrix(n, n);
      Array<float, 2, Memory> const after = sin(5 * before);
      time(OpticalFlow{before, after}, before, after);
    });

}  // namespace

}  // namespace coir::bench
