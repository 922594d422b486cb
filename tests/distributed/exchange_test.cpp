#include <coir/core/errors.hpp>
#include <coir/core/loops.hpp>
#include <coir/core/own_instance.hpp>
#include <coir/distributed/group.hpp>

#include <support/cut_at.hpp>
#include <support/message_of.hpp>
#include <support/ranks.hpp>
#include <support/spaces.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace {

using coir::distributed::Group;
using coir::distributed::Receive;
using coir::distributed::Send;
using coir::distributed::Transport;
using coir::testing::CutAt;
using coir::testing::world;

/// Numbers in the memory of an execution space.
template <class Exec>
class Memory {
 public:
  explicit Memory(std::vector<std::int32_t> const& values)
      : view_("numbers", values.size()), size_(values.size()) {
    auto const host = Kokkos::create_mirror_view(view_);
    for (std::size_t n = 0; n < size_; ++n) host(n) = values[n];
    Kokkos::deep_copy(view_, host);
  }
  std::int32_t* data() const { return view_.data(); }
  std::vector<std::int32_t> values() const {
    auto const host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), view_);
    return {host.data(), host.data() + size_};
  }

 private:
  Kokkos::View<std::int32_t*, typename Exec::memory_space> view_;
  std::size_t size_;
};

std::int32_t number(int from, int to, int n) { return from * 1'000'000 + to * 10'000 + n; }

/// Every rank sends to every one, itself too, a number of pieces with as many numbers each as the
/// two ranks' sum says.
template <class Exec>
void exchange_all(Group const& group, int pieces, int scale) {
  int const rank = group.rank(), ranks = group.size();
  auto const count = [&](int from, int to, int piece) {
    return scale * ((from + 2 * to + piece) % 5);  // some are empty
  };
  std::vector<std::int32_t> out, expected;
  for (int other = 0; other < ranks; ++other)
    for (int piece = 0; piece < pieces; ++piece) {
      for (int n = 0; n < count(rank, other, piece); ++n)
        out.push_back(number(rank, other, n + piece));
      for (int n = 0; n < count(other, rank, piece); ++n)
        expected.push_back(number(other, rank, n + piece));
    }
  Memory<Exec> const sent(out), came(std::vector<std::int32_t>(expected.size(), -1));
  std::vector<Send> sends;
  std::vector<Receive> receives;
  std::int32_t *from = sent.data(), *to = came.data();
  for (int other = 0; other < ranks; ++other)
    for (int piece = 0; piece < pieces; ++piece) {
      int const there = count(rank, other, piece), here = count(other, rank, piece);
      sends.push_back({other, from, 4 * there, piece});
      receives.push_back({other, to, 4 * here, piece});
      from += there;
      to += here;
    }
  group.exchange(Exec(), "test/all", sends, receives);
  Exec().fence();
  EXPECT_EQ(came.values(), expected);
}

template <class Exec>
class Exchange : public ::testing::Test {};
TYPED_TEST_SUITE(Exchange, coir::testing::Spaces, coir::testing::SpaceName);

TYPED_TEST(Exchange, BringsEachPieceToItsPlace) {
  exchange_all<TypeParam>(world(), 1, 1);
  exchange_all<TypeParam>(world(), 3, 100);
  exchange_all<TypeParam>(Group::self(), 3, 100);
}

TYPED_TEST(Exchange, CutsLongPieces) {
  CutAt const cut(1024);
  exchange_all<TypeParam>(world(), 2, 1501);
}

// Columns become rows of another rank's square, in whatever way runs travel.
TYPED_TEST(Exchange, BringsRunsThatLieEvenly) {
  constexpr int side = 5;
  int const ranks = world().size(), rank = world().rank();
  std::vector<std::int32_t> numbers, expected(static_cast<std::size_t>(ranks * 3 * side), -1);
  for (int i = 0; i < side * 2 * ranks; ++i) numbers.push_back(1000 * rank + i);
  Memory<TypeParam> const sent(numbers), came(expected);
  std::vector<Send> sends;
  std::vector<Receive> receives;
  for (int other = 0; other < ranks; ++other) {
    sends.push_back({other, sent.data() + 2 * other, 8, 0, side, 8 * ranks});
    receives.push_back({other, came.data() + other * 3 * side, 8, 0, side, 12});
    for (int i = 0; i < side; ++i)
      for (int j = 0; j < 2; ++j)
        expected[static_cast<std::size_t>((other * side + i) * 3 + j)] =
            1000 * other + 2 * (ranks * i + rank) + j;
  }
  auto const before = world().traffic("test/runs");
  world().exchange(TypeParam(), "test/runs", sends, receives);
  TypeParam().fence();
  EXPECT_EQ(came.values(), expected);
  EXPECT_EQ(world().traffic("test/runs").bytes - before.bytes, 8 * side * (ranks - 1));
  world().exchange(TypeParam(), "test/none", {{rank, sent.data(), 4, 0, 0}}, {});
}

TYPED_TEST(Exchange, TakesEmptyLists) {
  world().exchange(TypeParam(), "test/none", {}, {});
  EXPECT_EQ(world().traffic("test/none"), (coir::distributed::Traffic{0, 0}));
}

// With two ranks both neighbours of a ring are the same one, and pieces are told apart by their
// keys, in whatever order they are listed.
TYPED_TEST(Exchange, TellsBothNeighboursApart) {
  int const ranks = world().size(), rank = world().rank();
  int const left = (rank + ranks - 1) % ranks, right = (rank + 1) % ranks;
  constexpr std::int64_t down = 7, up = -2;
  for (bool const right_first : {false, true}) {
    Memory<TypeParam> const sent({10 * rank, 10 * rank + 1}), came({-1, -1});
    // To the left the first number, to the right the second: what comes from the right is its
    // first.
    std::vector<Receive> receives{{left, came.data(), 4, up}, {right, came.data() + 1, 4, down}};
    if (right_first) std::swap(receives[0], receives[1]);
    world().exchange(
        TypeParam(), "test/ring",
        std::vector<Send>{{left, sent.data(), 4, down}, {right, sent.data() + 1, 4, up}}, receives);
    TypeParam().fence();
    EXPECT_EQ(came.values(), (std::vector<std::int32_t>{10 * left + 1, 10 * right}));
  }
}

// What one writes first: to the left and to the right, from the left and from the right. Without
// keys it would change sides on two ranks, silently.
TYPED_TEST(Exchange, RefusesBothNeighboursWithoutKeysWhereTheyAreOneRank) {
  int const ranks = world().size(), rank = world().rank();
  int const left = (rank + ranks - 1) % ranks, right = (rank + 1) % ranks;
  Memory<TypeParam> const sent({10 * rank, 10 * rank + 1}), came({-1, -1});
  auto const halo = [&] {
    world().exchange(TypeParam(), "test/halo",
                     {{left, sent.data(), 4}, {right, sent.data() + 1, 4}},
                     {{left, came.data(), 4}, {right, came.data() + 1, 4}});
  };
  if (ranks <= 2) {
    EXPECT_EQ(coir::testing::message_of<coir::PreconditionError>(halo),
              "two pieces to or from rank " + std::to_string(left) +
                  " have the key 0: give each piece between two ranks a key of its own, the same "
                  "where it is sent and where it is received");
    return;
  }
  halo();
  TypeParam().fence();
  EXPECT_EQ(came.values(), (std::vector<std::int32_t>{10 * left + 1, 10 * right}));
}

TYPED_TEST(Exchange, RunsBesideOtherWork) {
  int const ranks = world().size(), rank = world().rank();
  constexpr int n = 100'000;
  Memory<TypeParam> const sent(std::vector<std::int32_t>(n, rank)),
      came(std::vector<std::int32_t>(n, -1)), other(std::vector<std::int32_t>(n, 0));
  std::vector<Send> const sends{{(rank + 1) % ranks, sent.data(), 4 * n}};
  std::vector<Receive> const receives{{(rank + ranks - 1) % ranks, came.data(), 4 * n}};
  auto exchange = world().begin(TypeParam(), "test/beside", sends, receives);
  if (world().transport<TypeParam>() != Transport::peer)
    EXPECT_EQ(
        coir::testing::message_of([&] { world().exchange(TypeParam(), "test/beside", {}, {}); }),
        "an exchange of this group is under way: finish it before the next one begins");
  Kokkos::deep_copy(TypeParam(),
                    Kokkos::View<std::int32_t*, typename TypeParam::memory_space,
                                 Kokkos::MemoryTraits<Kokkos::Unmanaged>>(other.data(), n),
                    7);
  exchange.finish();
  TypeParam().fence();
  EXPECT_EQ(came.values(), std::vector<std::int32_t>(n, (rank + ranks - 1) % ranks));
  EXPECT_EQ(other.values(), std::vector<std::int32_t>(n, 7));
}

/// Takes its time, notes what came last, and writes what is sent next.
struct PassOn {
  static constexpr bool reads_no_neighbours = true;
  std::int32_t const* came;  // and one number that is never read
  std::int32_t *seen, *sent;
  std::int32_t next;
  std::uint32_t rounds;
  KOKKOS_FUNCTION void operator()(std::int64_t) const {
    std::uint32_t n = 1;  // an odd number stays odd
    for (std::uint32_t k = 0; k < rounds; ++k) n = n * 1664525u + 2 * k;
    *seen = came[n == 0 ? 1 : 0];
    *sent = next;
  }
};

// What comes for a slow instance waits until its kernels have read what is there, even if another
// instance has begun a later exchange long before.
TYPED_TEST(Exchange, TakesInstancesInTurns) {
  int const ranks = world().size(), rank = world().rank(), before = (rank + ranks - 1) % ranks;
  constexpr int rounds = 8;
  struct OfInstance {
    coir::OwnInstance<TypeParam> instance;
    Memory<TypeParam> sent{{-1}}, came{{-1, -1}}, seen{std::vector<std::int32_t>(rounds, -2)};
  };
  OfInstance slow, quick;
  for (int round = 0; round < rounds; ++round)
    for (auto const* one : {&slow, &quick}) {
      auto const& exec = one->instance.exec();
      std::uint32_t const spins = coir::runs_on_host<TypeParam> || one == &quick ? 10 : 300'000;
      coir::for_each("test/pass_on", exec, coir::box<1, std::int64_t>({1}),
                     PassOn{one->came.data(), one->seen.data() + round, one->sent.data(),
                            100 * rank + round, spins});
      world().exchange(exec, "test/instances", {{(rank + 1) % ranks, one->sent.data(), 4}},
                       {{before, one->came.data(), 4}});
    }
  std::vector<std::int32_t> expected{-1};
  for (int round = 0; round + 1 < rounds; ++round) expected.push_back(100 * before + round);
  for (auto const* one : {&slow, &quick}) {
    one->instance.exec().fence();
    EXPECT_EQ(one->seen.values(), expected);
  }
}

TYPED_TEST(Exchange, CountsWhatIsSentToOthers) {
  int const ranks = world().size(), rank = world().rank();
  auto const before = world().traffic("test/counted"), all_before = world().traffic();
  Memory<TypeParam> const sent(std::vector<std::int32_t>(100, 1)),
      came(std::vector<std::int32_t>(static_cast<std::size_t>(100 * ranks), 0));
  std::vector<Send> sends;
  std::vector<Receive> receives;
  for (int other = 0; other < ranks; ++other) {
    sends.push_back({other, sent.data(), 400});
    receives.push_back({other, came.data() + 100 * other, 400});
  }
  world().exchange(TypeParam(), "test/counted", sends, receives);
  EXPECT_EQ(world().traffic("test/counted").messages - before.messages, ranks - 1);
  EXPECT_EQ(world().traffic("test/counted").bytes - before.bytes, 400 * (ranks - 1));
  EXPECT_EQ(world().traffic().bytes - all_before.bytes, 400 * (ranks - 1));
  EXPECT_EQ(rank, world().rank());
}

TYPED_TEST(Exchange, RefusesWhatDoesNotMatch) {
  using coir::testing::message_of;
  Memory<TypeParam> const memory({1, 2});
  auto const exchange = [&](std::vector<Send> const& sends, std::vector<Receive> const& receives) {
    return message_of([&] { world().exchange(TypeParam(), "test/refused", sends, receives); });
  };
  int const self = world().rank();
  std::string const ranks = std::to_string(world().size() - 1);
  EXPECT_EQ(exchange({{-1, memory.data(), 4}}, {}),
            "pieces go to and come from ranks 0 to " + ranks + " of this group, not -1");
  EXPECT_EQ(exchange({}, {{1000, memory.data(), 4}}),
            "pieces go to and come from ranks 0 to " + ranks + " of this group, not 1000");
  EXPECT_EQ(exchange({{self, memory.data(), -4}}, {}),
            "a piece must have at least 0 bytes, not -4");
  EXPECT_EQ(exchange({{self, memory.data(), 4, 0, -1}}, {}),
            "a piece must have at least 0 runs, not -1");
  EXPECT_EQ(exchange({{self, memory.data(), 4}}, {}),
            "what a rank sends to itself must be received by it, key by key");
  for (auto const& [bytes, key] : {std::pair{3, 0}, std::pair{4, 1}})
    EXPECT_EQ(exchange({{self, memory.data(), 4}}, {{self, memory.data() + 1, bytes, key}}),
              "what a rank receives from itself must be what it sends to itself, key by key");
}

// Of transports that would hang or write beyond a piece, this one finds what is wrong.
TYPED_TEST(Exchange, FindsPiecesOfAnotherLengthThanExpected) {
  auto const transport = world().transport<TypeParam>();
  if (transport != Transport::mpi && transport != Transport::staged) return;
  Memory<TypeParam> const memory({1, 2, 3, 4});
  auto const exchange = [&](std::int64_t sent, std::int64_t expected) {
    std::vector<Send> sends;
    std::vector<Receive> receives;
    if (world().rank() == 0) sends.push_back({1, memory.data(), sent});
    if (world().rank() == 1) receives.push_back({0, memory.data(), expected});
    world().exchange(TypeParam(), "test/lengths", sends, receives);
  };
  for (auto const& [sent, expected, words] :
       {std::tuple{4, 8, "has 4 bytes where 8"}, std::tuple{8, 4, "has more bytes where 4"}}) {
    if (world().rank() == 1)
      EXPECT_EQ(
          coir::testing::message_of([&] { exchange(sent, expected); }),
          std::string("a piece from rank 0 ") + words +
              " are expected: the n-th piece to a rank must be as long as its n-th from here");
    else
      exchange(sent, expected);
  }
  exchange_all<TypeParam>(world(), 3, 100);  // and goes on
}

TYPED_TEST(Exchange, TakesThousandsOfPieces) { exchange_all<TypeParam>(world(), 2000, 1); }

// Pieces match by their keys, in whatever order ranks and keys are listed.
TYPED_TEST(Exchange, TakesRanksInAnyOrder) {
  int const ranks = world().size(), rank = world().rank();
  std::vector<std::int32_t> out;
  for (int n = 0; n < 3 * ranks; ++n) out.push_back(100 * rank + n);
  Memory<TypeParam> const sent(out), came(std::vector<std::int32_t>(out.size(), -1));
  std::vector<Send> sends;
  std::vector<Receive> receives;
  for (int piece = 0; piece < 3; ++piece)
    for (int n = 0; n < ranks; ++n) {
      int const to = (rank + n) % ranks, from = ranks - 1 - n;  // upward from here, and downward
      sends.push_back({to, sent.data() + 3 * to + piece, 4, piece});
      receives.push_back({from, came.data() + 3 * from + 2 - piece, 4, 2 - piece});
    }
  world().exchange(TypeParam(), "test/order", sends, receives);
  TypeParam().fence();
  std::vector<std::int32_t> expected;
  for (int from = 0; from < ranks; ++from)
    for (int piece = 0; piece < 3; ++piece) expected.push_back(100 * from + 3 * rank + piece);
  EXPECT_EQ(came.values(), expected);
}

// What is given up is waited for, and what comes next isn't mixed up with it.
TYPED_TEST(Exchange, GoesOnAfterOneThatWasBegunAndDropped) {
  if (world().transport<TypeParam>() == Transport::staged) return;  // sends parts in finish()
  int const ranks = world().size(), rank = world().rank();
  Memory<TypeParam> const sent({rank}), came({-1});
  std::vector<Send> const sends{{(rank + 1) % ranks, sent.data(), 4}};
  std::vector<Receive> const receives{{(rank + ranks - 1) % ranks, came.data(), 4}};
  {
    auto const dropped = world().begin(TypeParam(), "test/dropped", sends, receives);
  }
  exchange_all<TypeParam>(world(), 3, 100);
}

TYPED_TEST(Exchange, SaysHowNumbersTravel) {
  auto const transport = world().transport<TypeParam>();
  EXPECT_FALSE(world().why_transport<TypeParam>().empty());
  std::string const wanted = std::getenv("COIR_TRANSPORT") ? std::getenv("COIR_TRANSPORT") : "";
  bool const of_devices_alone = wanted == "nccl" || wanted == "peer";
  if (world().size() == 1) {
    EXPECT_EQ(transport, Transport::none);
  } else if (coir::runs_on_host<TypeParam> && (wanted.empty() || of_devices_alone)) {
    EXPECT_EQ(transport, Transport::mpi);
  } else if (!wanted.empty()) {
    EXPECT_EQ(name_of(transport), wanted);
  }
}

}  // namespace
