#include <autodiff/programs.hpp>

#include <cstdint>

namespace coir::bench {

namespace {

/// The energy of soft spins with neighbours along both axes, and a field.
struct Ising {
  template <class X>
  auto operator()(X const& x) const {
    auto const s = evaluate(tanh(x));
    return -sum(s * (roll(s, 1, 0) + roll(s, 1, 1))) - 0.1F * sum(s);
  }
};

bool const ising_added = add_program(
    "ising", {1024}, [](auto&, std::int64_t n, auto const& time) { time(Ising{}, matrix(n, n)); });

}  // namespace

}  // namespace coir::bench
