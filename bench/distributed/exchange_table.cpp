// How long an exchange takes, and at which rate, from 8 bytes to 1 GiB:
//
//     mpirun -n 2 exchange_table [--most BYTES | --sizes BYTES,BYTES] [--pieces N] [--host] [--json]
//
// ring: each rank sends to the next one and receives from the one before. all: each rank sends as much to every other one,
// together as many bytes as the line says. Rates are what leaves a rank, and as much comes meanwhile. Each line is the median of
// rounds that all ranks begin together, and the slowest rank's counts. --pieces cuts what goes to one rank into so many pieces.
// --json prints an object a line for programs that read them.

#include <support/ranks.hpp>
#include <support/row.hpp>

#include <coir/core/errors.hpp>
#include <coir/core/kokkos.hpp>
#include <coir/core/machine.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace {

using coir::distributed::Group;
using coir::distributed::Receive;
using coir::distributed::Send;

struct Options {
  std::int64_t most = std::int64_t(1) << 30;
  std::vector<std::int64_t> sizes;  ///< none: 8 bytes to the most
  std::int64_t pieces = 1;
  bool on_host = false, json = false;
};

Options options_of(int argc, char** argv) {
  Options options;
  for (int n = 1; n < argc; ++n) {
    std::string_view const word = argv[n];
    auto const value = [&]() -> std::int64_t {
      coir::expects(n + 1 < argc, std::string(word) + " takes a number");
      return std::atoll(argv[++n]);
    };
    if (word == "--most")
      options.most = value();
    else if (word == "--pieces")
      options.pieces = value();
    else if (word == "--host")
      options.on_host = true;
    else if (word == "--json")
      options.json = true;
    else if (word == "--sizes" && n + 1 < argc) {
      std::istringstream numbers(argv[++n]);
      for (std::string number; std::getline(numbers, number, ',');)
        options.sizes.push_back(std::atoll(number.c_str()));
    } else
      throw coir::PreconditionError(
          "unknown option " + std::string(word) +
          ": there are --most, --sizes BYTES,..., --pieces, --host and --json");
  }
  coir::expects(options.most >= 8, "--most must be at least 8 bytes", options.most);
  coir::expects(options.pieces >= 1 && options.pieces <= 1024, "--pieces must be 1 to 1024",
                options.pieces);
  if (options.sizes.empty()) {
    for (std::int64_t size = 8; size <= options.most; size *= size < 4096 ? 8 : 4)
      options.sizes.push_back(size);
  }
  for (auto const size : options.sizes)
    coir::expects(size >= 8 && size <= std::int64_t(1) << 36, "--sizes must be 8 to 2^36 bytes",
                  size);
  options.most = *std::max_element(options.sizes.begin(), options.sizes.end());
  return options;
}

double seconds_of(auto const& call) {
  auto const start = std::chrono::steady_clock::now();
  call();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Median over rounds of the slowest rank's time.
template <class Exec>
double median_seconds(Exec const& exec, Group const& world, std::vector<Send> const& sends,
                      std::vector<Receive> const& receives) {
  auto const once = [&] {
    world.exchange(exec, "bench", sends, receives);
    exec.fence();
  };
  once();
  once();
  std::vector<double> seconds;
  double total = 0;
  while (seconds.size() < 5 || (total < 0.3 && seconds.size() < 200)) {
    world.barrier();
    seconds.push_back(world.max(seconds_of(once)));
    total += seconds.back();
  }
  std::nth_element(seconds.begin(), seconds.begin() + seconds.size() / 2, seconds.end());
  return seconds[seconds.size() / 2];
}

/// Appends `bytes` bytes in pieces, as far as there are any.
template <class List>
void add_pieces(List& list, int peer, char* data, std::int64_t bytes, std::int64_t pieces) {
  for (std::int64_t n = 0; n < pieces; ++n) {
    std::int64_t const from = bytes * n / pieces, to = bytes * (n + 1) / pieces;
    list.push_back({peer, data + from, to - from, n});
  }
}

template <class Exec>
void print_table(Options const& options, Group const& world) {
  Exec const exec;
  int const rank = world.rank(), ranks = world.size();
  auto const bytes = static_cast<std::size_t>(options.most);
  Kokkos::View<char*, typename Exec::memory_space> const sent("sent", bytes), came("came", bytes);
  auto const transport = world.transport<Exec>();
  std::string const why = world.why_transport<Exec>();
  if (world.is_first() && !options.json)
    std::cout << ranks << " ranks, " << coir::device_name(exec) << ", transport "
              << name_of(transport) << " (" << why << "), " << options.pieces
              << " pieces to a rank\n"
              << "       bytes    ring us   ring GB/s     all us    all GB/s\n";
  for (std::int64_t const size : options.sizes) {
    std::vector<Send> sends;
    std::vector<Receive> receives;
    add_pieces(sends, (rank + 1) % ranks, sent.data(), size, options.pieces);
    add_pieces(receives, (rank + ranks - 1) % ranks, came.data(), size, options.pieces);
    double const ring = median_seconds(exec, world, sends, receives);
    sends.clear();
    receives.clear();
    std::int64_t const each = size / std::max(1, ranks - 1);
    std::int64_t at = 0;
    for (int other = 0; other < ranks; ++other) {
      if (other == rank) continue;
      add_pieces(sends, other, sent.data() + at, each, options.pieces);
      add_pieces(receives, other, came.data() + at, each, options.pieces);
      at += each;
    }
    double const all = median_seconds(exec, world, sends, receives);
    if (world.is_first() && options.json)
      coir::bench::Row("exchange")
          .add("device", coir::device_name(exec))
          .add("transport", std::string(name_of(transport)))
          .add("bytes", size)
          .add("ring_seconds", ring)
          .add("all_seconds", all)
          .add("all_bytes", at)
          .print();
    else if (world.is_first())
      std::printf("%12lld %10.1f %11.2f %10.1f %11.2f\n", static_cast<long long>(size), ring * 1e6,
                  static_cast<double>(size) / ring / 1e9, all * 1e6,
                  static_cast<double>(at) / all / 1e9);
  }
}

}  // namespace

int main(int argc, char** argv) {
  return coir::bench::run_on_ranks("exchange_table", argc, argv, options_of,
                                   [](auto exec, Options const& options, Group const& world) {
                                     print_table<decltype(exec)>(options, world);
                                   });
}
