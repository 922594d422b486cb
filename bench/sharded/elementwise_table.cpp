// Elementwise statements of split arrays beside the same statements of plain arrays over the same
// memory: splitting costs no pass over memory and no message.
//
//     mpirun -n 2 elementwise_table [--sizes 1024,65536,16777216] [--rounds 31] [--json]
//
// Each rank has so many floats. The two kinds of arrays take turns, each with as many calls a round
// as take 10 ms, and the first one of a round changes. `split_over_local` is the median of the
// rounds' quotients.

#include <support/ranks.hpp>

#include <coir/array/array.hpp>
#include <coir/array/creation.hpp>
#include <coir/array/functions.hpp>
#include <coir/array/operators.hpp>
#include <coir/sharded/functions.hpp>

#include <array>
#include <chrono>
#include <cstdint>
#include <type_traits>
#include <vector>

namespace {

using namespace coir;

using Exec = Kokkos::DefaultExecutionSpace;  // the one of split arrays
using Plain = Array<float, 1>;
using Split = sharded::Sharded<float, 1>;

/// An array over the memory of another one.
Plain beside(Plain const& x) { return {const_cast<float*>(x.data()), x.shape(), nullptr}; }

/// Seconds of a call, of the slowest rank.
template <class Call>
double seconds_of(distributed::Group const& world, std::int64_t calls, Call const& call) {
  Exec().fence();
  world.barrier();
  auto const start = std::chrono::steady_clock::now();
  for (std::int64_t n = 0; n < calls; ++n) call();
  Exec().fence();
  std::chrono::duration<double> const taken = std::chrono::steady_clock::now() - start;
  return world.max(taken.count()) / double(calls);
}

template <class Statement>
void print_row(bench::Options const& options, distributed::Group const& world, std::int64_t n,
               char const* name, Statement const& statement) {
  bench::Row row(name);
  row.add("elements", n);
  if (bench::fits<Exec>(world, 2 * 4 * n, row)) {
    Plain const x = linspace<float>(0, 1, n);
    Plain y = x;
    sharded::Placement<1> const placement(world, {n * world.size()});
    Split const split_x(beside(x), placement);
    Split split_y(beside(y), placement);
    auto const local = [&] { statement(x, y); };
    auto const split = [&] { statement(split_x, split_y); };
    std::int64_t calls = 1;
    while (seconds_of(world, calls, local) * double(calls) < 0.01) calls *= 2;
    std::array<std::vector<double>, 2> seconds;
    std::vector<double> quotients;
    for (std::int64_t round = 0; round < options.number("--rounds", 1, 10'000); ++round) {
      for (std::int64_t const kind : {round % 2, 1 - round % 2})
        seconds[std::size_t(kind)].push_back(kind == 0 ? seconds_of(world, calls, local)
                                                       : seconds_of(world, calls, split));
      quotients.push_back(seconds[1].back() / seconds[0].back());
    }
    row.add("local_seconds", bench::median(seconds[0]))
        .add("split_seconds", bench::median(seconds[1]));
    row.add("split_over_local", bench::median(quotients));
  }
  if (world.is_first()) row.print(options.is_on("--json"));
}

}  // namespace

int main(int argc, char** argv) {
  return bench::run_on_ranks(
      argc, argv, {{"--sizes", "1024,65536,16777216"}, {"--rounds", "31"}},
      [](auto const& exec, bench::Options const& options, distributed::Group const& world) {
        if constexpr (std::is_same_v<std::decay_t<decltype(exec)>, Exec>)
          for (auto const n : options.numbers("--sizes", 1, std::int64_t(1) << 40)) {
            print_row(options, world, n, "2x+1", [](auto const& x, auto& y) { y = 2 * x + 1; });
            print_row(options, world, n, "sqrt(xx+1)-x/(2+x)",
                      [](auto const& x, auto& y) { y = sqrt(x * x + 1) - x / (2 + x); });
          }
        else
          throw PreconditionError("split arrays are those of the device: leave out --host");
      });
}
