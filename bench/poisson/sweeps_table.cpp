// How long Jacobi sweeps of a square grid of floats take over ranks:
//
//     mpirun -n 2 sweeps_table [--sizes 4096,16384] [--schemes plain,blocked] [--sweeps 256]
//         [--at-once 0] [--host] [--json]
//
// A round is a call of jacobi() on a field that is there; its time goes to the sweeps. --at-once is
// sweeps_per_exchange.

#include <support/ranks.hpp>

#include <coir/distributed/share.hpp>
#include <coir/poisson/over_ranks.hpp>

#include <cstdint>

namespace {

using namespace coir;

template <class Exec>
void print_rows(Exec const& exec, bench::Options const& options, distributed::Group const& world) {
  std::int64_t const sweeps = options.number("--sweeps", 1, 1'000'000);
  int const at_once = static_cast<int>(options.number("--at-once", 0, 1'000'000));
  using Field = Kokkos::View<float**, Kokkos::LayoutRight, typename Exec::memory_space>;
  for (auto const n : options.numbers("--sizes", 1, 1'000'000)) {
    auto const own = distributed::share_of(n, world.rank(), world.size()).count;
    for (auto const& scheme : options.list("--schemes")) {
      expects(scheme == "plain" || scheme == "blocked", "--schemes are plain and blocked", scheme);
      bench::Row row("sweep");
      row.add("n", n).add("scheme", scheme);
      if (bench::fits<Exec>(world, 5 * 4 * (own + 64) * (n + 2), row)) {
        Field const b("b", own, n), u("u", own + 2, n + 2);
        Kokkos::deep_copy(b, 0.25f);
        poisson::JacobiOptions const jacobi{.scheme = scheme == "blocked"
                                                          ? poisson::JacobiScheme::blocked
                                                          : poisson::JacobiScheme::plain,
                                            .sweeps = sweeps};
        bench::add_seconds(row, world, sweeps,
                           [&] { poisson::jacobi(exec, world, b, u, jacobi, at_once); });
      }
      if (world.is_first()) row.print(options.is_on("--json"));
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  return bench::run_on_ranks(
      argc, argv,
      {{"--sizes", "4096,16384"},
       {"--schemes", "plain,blocked"},
       {"--sweeps", "256"},
       {"--at-once", "0"}},
      [](auto const& exec, bench::Options const& options, distributed::Group const& world) {
        print_rows(exec, options, world);
      });
}
