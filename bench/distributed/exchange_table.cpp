// How long an exchange takes, and at which rate, from 8 bytes to 1 GiB:
//
//     mpirun -n 2 exchange_table [--sizes BYTES,BYTES] [--pieces N] [--offset BYTES] [--host]
//     [--json]
//
// ring: each rank sends to the next one and receives from the one before. all: each rank sends as
// much to every other one, together as many bytes as the line says. Rates are what leaves a rank,
// and as much comes meanwhile. Each time is the median of rounds that all ranks begin together, and
// the slowest rank's counts. --pieces cuts what goes to one rank into so many pieces. Pieces begin
// so many bytes behind a multiple of 256 bytes as --offset says: 128, as memory of Views, unless it
// is told. --json prints an object a line for programs that read them.

#include <support/ranks.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace {

using namespace coir::bench;
using coir::distributed::Group;
using coir::distributed::Receive;
using coir::distributed::Send;

/// Appends `bytes` bytes in pieces, as far as there are any.
template <class List>
void add_pieces(List& list, int peer, char* data, std::int64_t bytes, std::int64_t pieces) {
  for (std::int64_t n = 0; n < pieces; ++n) {
    std::int64_t const from = bytes * n / pieces, to = bytes * (n + 1) / pieces;
    list.push_back({peer, data + from, to - from, n});
  }
}

template <class Exec>
void print_table(Exec const& exec, Options const& options, Group const& world) {
  auto const sizes = options.numbers("--sizes", 8, std::int64_t(1) << 36);
  std::int64_t const pieces = options.number("--pieces", 1, 1024);
  int const rank = world.rank(), ranks = world.size();
  using Space = typename Exec::memory_space;
  auto const bytes = static_cast<std::size_t>(
      coir::bytes_in_large_pages<Space>(*std::max_element(sizes.begin(), sizes.end()) + 512));
  Kokkos::View<char*, Space> const memory_sent("sent", bytes), memory_came("came", bytes);
  auto const offset = options.number("--offset", 0, 255);
  auto const at_offset = [&](auto const& memory) {
    auto const address = reinterpret_cast<std::uintptr_t>(memory.data());
    return memory.data() + ((256 - address % 256) % 256 + static_cast<std::size_t>(offset));
  };
  char *const sent = at_offset(memory_sent), *const came = at_offset(memory_came);
  for (std::int64_t const size : sizes) {
    std::vector<Send> sends;
    std::vector<Receive> receives;
    auto const seconds_of_exchange = [&] {
      return median(seconds_of_rounds(world, [&] {
        world.exchange(exec, "bench", sends, receives);
        exec.fence();
      }));
    };
    add_pieces(sends, (rank + 1) % ranks, sent, size, pieces);
    add_pieces(receives, (rank + ranks - 1) % ranks, came, size, pieces);
    double const ring = seconds_of_exchange();
    sends.clear();
    receives.clear();
    // Pieces begin at multiples of 256 bytes, as arrays do.
    std::int64_t const part = size / std::max(1, ranks - 1),
                       each = part < 256 ? part : part / 256 * 256;
    std::int64_t at = 0;
    for (int other = 0; other < ranks; ++other) {
      if (other == rank) continue;
      add_pieces(sends, other, sent + at, each, pieces);
      add_pieces(receives, other, came + at, each, pieces);
      at += each;
    }
    double const all = seconds_of_exchange();
    Row row("exchange");
    row.add("bytes", size);
    row.add("ring_seconds", ring).add("ring_rate", static_cast<double>(size) / ring);
    row.add("all_seconds", all).add("all_bytes", at).add("all_rate", static_cast<double>(at) / all);
    if (world.is_first()) row.print(options.is_on("--json"));
  }
}

}  // namespace

int main(int argc, char** argv) {
  std::string sizes = "8,64,512";
  for (std::int64_t size = 4096; size <= std::int64_t(1) << 30; size *= 4)
    sizes += ',' + std::to_string(size);
  return run_on_ranks(argc, argv, {{"--sizes", sizes}, {"--pieces", "1"}, {"--offset", "128"}},
                      [](auto const& exec, Options const& options, Group const& world) {
                        print_table(exec, options, world);
                      });
}
