// Exchanges by peer memory, on hosts: memory that processes share stands in for that of devices,
// and streams run what they are given at once.

#include <coir/core/kokkos.hpp>

namespace coir {
inline void* stream_of(Kokkos::DefaultExecutionSpace const&) { return nullptr; }
}  // namespace coir

#include "mpi.hpp"
#include "peer_device.cpp"  // NOLINT: it isn't compiled in builds for hosts

#include <coir/distributed/connections.hpp>

#include <support/message_of.hpp>
#include <support/ranks.hpp>

#include <gtest/gtest.h>

#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace coir {

namespace {

constexpr std::size_t largest = 1 << 22;  // bytes of an allocation

struct Fake {
  struct Block {
    int file;
    std::uint64_t number;
  };
  std::map<char*, Block> blocks;
  std::uint64_t numbers = 0;
  int open = 0;                ///< allocations of others
  int refusals = 0;            ///< to open memory, from now on
  bool loses_signals = false;  ///< and then streams stand still without the host
  bool refuses_copies = false, loses_bytes = false;
  std::vector<std::pair<std::uint32_t*, std::uint32_t>> awaited{};
};
Fake fake;

std::shared_ptr<char> allocate() {
  int const file = memfd_create("coir peer test", 0);
  EXPECT_EQ(ftruncate(file, largest), 0);
  auto* const first =
      static_cast<char*>(mmap(nullptr, largest, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0));
  fake.blocks[first] = {file, ++fake.numbers};
  return {first, [](char* memory) {
            ::close(fake.blocks.at(memory).file);
            fake.blocks.erase(memory);
            munmap(memory, largest);
          }};
}

bool has_come(std::uint32_t* signal, std::uint32_t number) {
  auto const now = std::atomic_ref<std::uint32_t>(*signal).load();
  return static_cast<std::int32_t>(now - number) >= 0;
}

}  // namespace

Allocation allocation_of(void const* data) {
  for (auto const& [first, block] : fake.blocks)
    if (data >= first && data < first + largest) return {first, block.number};
  return {};
}
MemoryName name_of(Allocation const& allocation) {
  MemoryName name{};
  std::snprintf(reinterpret_cast<char*>(name.data()), name.size(), "/proc/%d/fd/%d",
                static_cast<int>(getpid()), fake.blocks.at(allocation.first).file);
  return name;
}
char* open_memory(MemoryName const& name) {
  if (fake.refusals > 0 && fake.refusals-- > 0)
    throw EnvironmentError("IpcOpenMemHandle of the device's runtime: no access");
  int const file = ::open(reinterpret_cast<char const*>(name.data()), O_RDWR);
  EXPECT_GE(file, 0);
  void* const memory = mmap(nullptr, largest, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  ::close(file);
  ++fake.open;
  return static_cast<char*>(memory);
}
void close_memory(char* first) {
  --fake.open;
  munmap(first, largest);
}
void copy_runs(Kokkos::DefaultExecutionSpace const&, Runs const& to, Runs const& from,
               std::int64_t bytes, std::int64_t count) {
  if (fake.refuses_copies) throw EnvironmentError("MemcpyAsync of the device's runtime: no copies");
  if (fake.loses_bytes) return;
  for (std::int64_t run = 0; run < count; ++run)
    std::memcpy(to.first + run * to.pitch, from.first + run * from.pitch,
                static_cast<std::size_t>(bytes));
}
std::shared_ptr<char> allocate_as_views(std::int64_t bytes) {
  EXPECT_LE(bytes, static_cast<std::int64_t>(largest));
  return allocate();
}
std::shared_ptr<std::uint32_t> allocate_signals(std::int64_t) {
  auto const memory = allocate();
  return {memory, reinterpret_cast<std::uint32_t*>(memory.get())};
}
void write_signals(Kokkos::DefaultExecutionSpace const&, std::span<SignalValue const> signals) {
  for (auto const& [place, number] : signals) {
    bool const is_own = allocation_of(place) != Allocation();
    if (!fake.loses_signals || is_own) std::atomic_ref<std::uint32_t>(*place).store(number);
  }
}
void await_signals(Kokkos::DefaultExecutionSpace const&, std::span<SignalValue const> signals) {
  for (auto const& [place, number] : signals) {
    if (fake.loses_signals)
      fake.awaited.emplace_back(place, number);
    else
      while (!has_come(place, number)) sched_yield();
  }
}
void copy_small(Kokkos::DefaultExecutionSpace const& exec, std::span<SmallCopy const> copies,
                std::span<SignalValue const> signals) {
  EXPECT_LE(copies.size(), most_small_copies);
  EXPECT_LE(signals.size(), most_signals_of_copies);
  for (auto const& [to, from, bytes] : copies)
    std::memcpy(to, from, static_cast<std::size_t>(bytes));
  write_signals(exec, signals);
}
bool has_ended(Kokkos::DefaultExecutionSpace const&) {
  return std::all_of(fake.awaited.begin(), fake.awaited.end(),
                     [](auto const& one) { return has_come(one.first, one.second); });
}

}  // namespace coir

namespace {

using coir::distributed::detail::begin_by_peer;
using coir::distributed::detail::connect_by_peer;
using coir::distributed::detail::Pieces;
using coir::testing::message_of;
using coir::testing::world;

class Peer : public ::testing::Test {
 protected:
  auto begin(Pieces const& pieces) {
    return begin_by_peer(connection_, *engine_, Kokkos::DefaultExecutionSpace(), pieces);
  }
  /// Sends a number to the next rank.
  void pass_on(char* sent, char* came) {
    int const ranks = world().size(), rank = world().rank();
    *sent = static_cast<char>(10 + rank);
    *came = 0;
    Pieces pieces;
    pieces.sends.push_back({(rank + 1) % ranks, sent, 1});
    pieces.receives.push_back({(rank + ranks - 1) % ranks, came, 1});
    begin(pieces)->finish();
    EXPECT_EQ(*came, 10 + (rank + ranks - 1) % ranks);
  }

  std::unique_ptr<coir::distributed::detail::Engine> engine_ =
      coir::distributed::detail::world_engine();
  std::shared_ptr<void> connection_ = connect_by_peer(world());
};

// Columns of a square of each rank become rows of another one's square, and several exchanges are
// under way before the first one is finished.
TEST_F(Peer, BringsRunsToTheirPlaces) {
  constexpr int side = 12, exchanges = 3;
  int const ranks = world().size(), rank = world().rank();
  auto const sent = coir::allocate(), came = coir::allocate();
  std::memset(came.get(), -1, coir::largest);
  std::vector<std::unique_ptr<coir::distributed::detail::UnderWay>> under_way;
  for (int n = 0; n < exchanges; ++n) {
    char *const from = sent.get() + n * 1000, *const to = came.get() + n * 1000;
    for (int i = 0; i < side * side; ++i) from[i] = static_cast<char>((i + 5 * rank + n) % 127);
    Pieces pieces;
    for (int other = 0; other < ranks; ++other) {
      // 2 of 12 columns to each, from rows 1 on; there, rows of 3.
      coir::distributed::Send const send{other, from + side + 2 * other, 2, 0, side - 1, side};
      coir::distributed::Receive const receive{other, to + 100 * other, 2, 0, side - 1, 3};
      if (other == rank) {
        pieces.own.push_back({send.data, receive.data, 2, side - 1, side, 3});
      } else {
        pieces.sends.push_back(send);
        pieces.receives.push_back(receive);
      }
    }
    under_way.push_back(begin(pieces));
  }
  for (auto const& one : under_way) one->finish();
  for (int n = 0; n < exchanges; ++n)
    for (int other = 0; other < ranks; ++other)
      for (int i = 0; i < side - 1; ++i)
        for (int j = 0; j < 3; ++j) {
          int const at = (i + 1) * side + 2 * rank + j;
          ASSERT_EQ(came.get()[n * 1000 + 100 * other + 3 * i + j],
                    j == 2 ? -1 : (at + 5 * other + n) % 127)
              << n << ' ' << other << ' ' << i << ' ' << j;
        }
}

TEST_F(Peer, ConnectsAGroupAndOpensMemoryOnce) {
  auto const before = coir::distributed::connections_opened(),
             opened = coir::distributed::memory_opened();
  auto const memory = coir::allocate();
  for (int n = 0; n < 3; ++n) pass_on(memory.get(), memory.get() + 1 + n);
  EXPECT_EQ(coir::distributed::connections_opened(), before);
  EXPECT_EQ(coir::distributed::memory_opened(), opened + 1);
  connection_ = connect_by_peer(world());
  EXPECT_EQ(coir::distributed::connections_opened(), before + 1);
}

// Otherwise another rank would keep what its owner has freed.
TEST_F(Peer, ClosesMemoryThatWasFreed) {
  auto const sent = coir::allocate();
  int const before = coir::fake.open;
  {
    std::vector<std::shared_ptr<char>> several;
    for (int n = 0; n < 4; ++n) {
      several.push_back(coir::allocate());
      pass_on(sent.get(), several.back().get());
    }
    EXPECT_EQ(coir::fake.open, before + 4);
  }
  // New memory tells that others were freed, all by one message.
  auto const last = coir::allocate();
  pass_on(sent.get(), last.get());
  EXPECT_EQ(coir::fake.open, before + 1);
  connection_ = nullptr;
  EXPECT_EQ(coir::fake.open, 0);
}

// As CUDA refuses memory in the place of what is still open, whichever group has opened it.
TEST_F(Peer, ClosesWhatIsOpenWhereMemoryIsRefused) {
  auto const sent = coir::allocate(), one = coir::allocate(), other = coir::allocate();
  auto of_another_group = connection_;
  connection_ = connect_by_peer(world());
  int const before = coir::fake.open;
  pass_on(sent.get(), one.get());
  std::swap(connection_, of_another_group);
  coir::fake.refusals = 1;
  pass_on(sent.get(), other.get());
  EXPECT_EQ(coir::fake.refusals, 0);
  EXPECT_EQ(coir::fake.open, before + 1);
  pass_on(sent.get(), one.get());
  EXPECT_EQ(coir::fake.open, before + 2);
}

TEST_F(Peer, OpensAgainWhatItHasClosedForAnotherPiece) {
  int const ranks = world().size(), rank = world().rank();
  auto const sent = coir::allocate(), one = coir::allocate(), other = coir::allocate();
  pass_on(sent.get(), one.get());
  sent.get()[1] = static_cast<char>(20 + rank);
  Pieces pieces;
  for (int n = 0; n < 2; ++n) {
    pieces.sends.push_back({(rank + 1) % ranks, sent.get() + n, 1});
    pieces.receives.push_back({(rank + ranks - 1) % ranks, (n == 0 ? one : other).get() + 5, 1});
  }
  coir::fake.refusals = 1;
  begin(pieces)->finish();
  EXPECT_EQ(one.get()[5], 10 + (rank + ranks - 1) % ranks);
  EXPECT_EQ(other.get()[5], 20 + (rank + ranks - 1) % ranks);
}

TEST_F(Peer, IsWaitedForWhereAnExchangeIsGivenUp) {
  int const ranks = world().size(), rank = world().rank();
  auto const memory = coir::allocate();
  memory.get()[0] = static_cast<char>(rank);
  Pieces pieces;
  pieces.sends.push_back({(rank + 1) % ranks, memory.get(), 1});
  pieces.receives.push_back({(rank + ranks - 1) % ranks, memory.get() + 1, 1});
  begin(pieces).reset();
  EXPECT_EQ(memory.get()[1], (rank + ranks - 1) % ranks);
  pass_on(memory.get(), memory.get() + 1);
}

TEST_F(Peer, RefusesPiecesOfAnotherSizeThanExpected) {
  int const ranks = world().size(), rank = world().rank(), next = (rank + 1) % ranks;
  auto const memory = coir::allocate();
  Pieces pieces;
  pieces.sends.push_back({next, memory.get(), 4, 0, 2, 8});
  pieces.receives.push_back({(rank + ranks - 1) % ranks, memory.get() + 100, 8, 0, 1, 0});
  EXPECT_EQ(message_of<coir::PreconditionError>([&] { begin(pieces); }),
            "a piece of 2 times 4 bytes goes to rank " + std::to_string(next) +
                ", which expects 1 times 8: both must list the same piece");
  // Ranks no longer agree on what was sent.
  EXPECT_EQ(message_of<coir::EnvironmentError>([&] { begin(Pieces()); }),
            "an exchange of this group by peer memory has failed: make a new group");
}

TEST_F(Peer, BringsPiecesToMemoryThatCannotBeShared) {
  int const ranks = world().size(), rank = world().rank(), before = (rank + ranks - 1) % ranks;
  std::vector<char> numbers(12, -1);
  numbers[0] = static_cast<char>(10 + rank), numbers[1] = static_cast<char>(20 + rank);
  Pieces pieces;  // two runs of one byte
  pieces.sends.push_back({(rank + 1) % ranks, numbers.data(), 1, 0, 2, 1});
  pieces.receives.push_back({before, numbers.data() + 4, 1, 0, 2, 3});
  int const open = coir::fake.open;
  begin(pieces)->finish();
  EXPECT_EQ(std::vector<char>(numbers.begin() + 4, numbers.begin() + 9),
            (std::vector<char>{static_cast<char>(10 + before), -1, -1,
                               static_cast<char>(20 + before), -1}));
  // What they landed in is freed, and given back as any memory is.
  auto const sent = coir::allocate();
  pass_on(sent.get(), sent.get() + 1);
  EXPECT_EQ(coir::fake.open, open + 1);
}

TEST(PeerConnection, ThatFailsOnOneRankIsAnErrorOfAll) {
  auto const before = coir::distributed::connections_opened();
  bool const fails = world().rank() == world().size() - 1;
  auto const failure = [](std::chrono::milliseconds wait = std::chrono::seconds(5)) {
    return message_of<coir::EnvironmentError>([&] { connect_by_peer(world(), wait); });
  };
  if (fails) coir::fake.refusals = 2;
  EXPECT_EQ(failure(), "IpcOpenMemHandle of the device's runtime: no access");
  coir::fake.loses_bytes = fails;
  EXPECT_EQ(failure(), "a probe of 1 MiB did not arrive as it was sent");
  coir::fake.loses_bytes = false;
  coir::fake.loses_signals = true;
  coir::fake.refuses_copies = fails;
  std::string const lost = "signals from device to device do not arrive";
  // The first rank that fails tells why.
  EXPECT_EQ(failure(std::chrono::milliseconds(20)), lost);
  coir::fake.awaited.clear();
  coir::fake.refuses_copies = world().is_first();
  EXPECT_EQ(failure(std::chrono::milliseconds(20)),
            "MemcpyAsync of the device's runtime: no copies");
  coir::fake.awaited.clear();
  coir::fake.loses_signals = coir::fake.refuses_copies = false;
  EXPECT_EQ(coir::distributed::connections_opened(), before);
  EXPECT_EQ(coir::fake.open, 0);
}

}  // namespace
