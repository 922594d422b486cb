#include <autodiff/programs.hpp>

#include <coir/autodiff/linalg.hpp>

#include <cstdint>

namespace coir::bench {

namespace {

/// 20 steps of a recurrent cell.
struct RecurrentCell {
  Array<float, 2, Memory> const& input;
  template <class W, class U>
  auto operator()(W const& w, U const& u) const {
    auto h = tanh(matmul(input, u));
    auto state = evaluate(h);
    for (int step = 1; step < 20; ++step) state = tanh(matmul(state, w) + matmul(input, u));
    return mean(square(state));
  }
};

bool const recurrent_cell_added =
    add_program("recurrent_cell", {64}, [](auto&, std::int64_t n, auto const& time) {
      auto const batch = matrix(n, 32);
      time(RecurrentCell{batch}, matrix(128, 128, 0.1), matrix(32, 128, 0.1));
    });

}  // namespace

}  // namespace coir::bench
