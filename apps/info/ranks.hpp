#pragma once

#include <support/host_name.hpp>
#include <support/median.hpp>
#include <support/on_all.hpp>

#include <coir/core/machine.hpp>
#include <coir/distributed/group.hpp>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace coir::apps {

/// One rank.
struct RankPlace {
  std::string host;    ///< name of its machine
  std::string device;  ///< what its kernels run on
  int threads = 1;     ///< of the host
};

/// The slowest of the links that were measured, of a round in which every rank sends to one other
/// and receives from one.
struct SlowestLink {
  int from = 0, to = 0;
  double seconds = 0;           ///< of 8 bytes, until they are there
  double bytes_per_second = 0;  ///< each way
};

struct RanksDescription {
  std::vector<RankPlace> ranks;
  std::string transport, reason;
  std::optional<SlowestLink> latency, bandwidth;
};

/// Replaces the slowest link by the slowest of those that ranks have measured to the ranks `shift`
/// behind them. Collective.
inline void keep_slower(std::optional<SlowestLink>& slowest, distributed::Group const& world,
                        int shift, double seconds, std::int64_t bytes) {
  auto const all = world.gather(seconds);
  for (int rank = 0; rank < world.size(); ++rank) {
    double const here = all[static_cast<std::size_t>(rank)];
    if (!slowest || here > slowest->seconds)
      slowest =
          SlowestLink{rank, (rank + shift) % world.size(), here, static_cast<double>(bytes) / here};
  }
}

/// Median time of this rank's exchange with the ranks `shift` before and behind.
template <class Exec>
double seconds_of(Exec const& exec, distributed::Group const& world, int shift, char* sent,
                  char* came, std::int64_t bytes, int repetitions) {
  int const ranks = world.size();
  std::array const sends{distributed::Send{(world.rank() + shift) % ranks, sent, bytes}};
  std::array const receives{
      distributed::Receive{(world.rank() + ranks - shift) % ranks, came, bytes}};
  std::vector<double> seconds;
  for (int n = 0; n < repetitions + 2; ++n) {
    world.barrier();
    auto const start = std::chrono::steady_clock::now();
    world.exchange(exec, "info/links", sends, receives);
    exec.fence();
    seconds.push_back(
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  seconds.erase(seconds.begin(), seconds.begin() + 2);  // connections are made
  return median_of(seconds);
}

/// Collective.
///
/// \param measures  whether to measure links, which takes about a second
/// \param go_on     asked between measurements, by all ranks
template <class Exec>
RanksDescription describe_ranks(Exec const& exec, distributed::Group const& world, bool measures,
                                std::function<bool()> const& go_on) {
  RanksDescription result;
  auto const hosts = world.gather(host_name()), devices = world.gather(device_name(exec));
  auto const threads = world.gather(host_threads(exec));
  for (std::size_t rank = 0; rank < hosts.size(); ++rank)
    result.ranks.push_back({hosts[rank], devices[rank], threads[rank]});
  result.transport = name_of(world.transport<Exec>());
  result.reason = world.why_transport<Exec>();
  if (!measures || world.size() == 1) return result;
  constexpr std::int64_t small = 8, large = 32 << 20;
  Kokkos::View<char*, typename Exec::memory_space> const sent("sent", large), came("came", large);
  for (int shift = 1; shift < world.size(); shift *= 2) {
    if (!world.all(go_on())) return result;
    keep_slower(result.latency, world, shift,
                seconds_of(exec, world, shift, sent.data(), came.data(), small, 101), small);
    keep_slower(result.bandwidth, world, shift,
                seconds_of(exec, world, shift, sent.data(), came.data(), large, 5), large);
  }
  return result;
}

}  // namespace coir::apps
