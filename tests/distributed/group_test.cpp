#include <coir/core/errors.hpp>
#include <coir/distributed/connections.hpp>
#include <coir/distributed/sharers.hpp>
#include <coir/distributed/together.hpp>

#include <support/message_of.hpp>
#include <support/ranks.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <numeric>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using coir::distributed::Group;
using coir::distributed::together;
using coir::distributed::Traffic;
using coir::testing::world;

TEST(Group, IsTheProcessAloneByDefault) {
  Group const self;
  EXPECT_EQ(self.rank(), 0);
  EXPECT_EQ(self.size(), 1);
  EXPECT_EQ(self.sum(3), 3);
  EXPECT_EQ(self.gather(2.5), std::vector{2.5});
  EXPECT_EQ(self.transport<Kokkos::DefaultHostExecutionSpace>(),
            coir::distributed::Transport::none);
  EXPECT_EQ(self.broadcast("text"), "text");
  self.barrier();
}

TEST(Group, KnowsItsRanks) {
  auto const ranks = world().gather(world().rank());
  std::vector<int> expected(static_cast<std::size_t>(world().size()));
  std::iota(expected.begin(), expected.end(), 0);
  EXPECT_EQ(ranks, expected);
}

TEST(Group, AddsUpInTheOrderOfRanks) {
  float const mine = 1.0f / static_cast<float>(3 + world().rank());
  float expected = 0;
  for (int rank = 0; rank < world().size(); ++rank) expected += 1.0f / static_cast<float>(3 + rank);
  EXPECT_EQ(world().sum(mine), expected);
  EXPECT_EQ(world().min(world().rank()), 0);
  EXPECT_EQ(world().max(world().rank()), world().size() - 1);
  EXPECT_EQ(world().any(world().rank() == 1), world().size() > 1);
  EXPECT_EQ(world().all(world().rank() == 0), world().size() == 1);
  EXPECT_TRUE(world().all(true));
}

// Ranks that decide by such a number must decide alike.
TEST(Group, FindsTheSameLeastAndLargestOnAllRanks) {
  double const none = std::nan("");
  int const last = world().size() - 1;
  EXPECT_TRUE(std::isnan(world().max(world().rank() == last ? none : 1.0)));
  EXPECT_TRUE(std::isnan(world().min(world().rank() == 0 ? none : 1.0)));
  double const zero = world().rank() == 0 ? -0.0 : 0.0;
  EXPECT_TRUE(std::signbit(world().max(zero)));
  EXPECT_TRUE(std::signbit(world().min(zero)));
}

TEST(Group, GathersDifferentNumbersOfValues) {
  auto const count = [](int rank) { return static_cast<std::size_t>(rank % 3); };  // none on some
  std::vector<int> const mine(count(world().rank()), world().rank());
  std::vector<int> expected;
  for (int rank = 0; rank < world().size(); ++rank)
    expected.insert(expected.end(), count(rank), rank);
  EXPECT_EQ(world().gather_all(std::span<int const>(mine)), expected);
}

TEST(Group, GathersTexts) {
  auto const text = [](int rank) { return std::string(static_cast<std::size_t>(rank % 3), 'a'); };
  std::vector<std::string> expected;
  for (int rank = 0; rank < world().size(); ++rank) expected.push_back(text(rank));
  EXPECT_EQ(world().gather(text(world().rank())), expected);
  EXPECT_EQ(Group().gather("one"), std::vector<std::string>{"one"});
}

TEST(Group, SwapsAValueForEachRank) {
  int const ranks = world().size(), rank = world().rank();
  std::vector<std::int64_t> mine, expected;
  for (int other = 0; other < ranks; ++other) {
    mine.push_back(100 * rank + other);
    expected.push_back(100 * other + rank);
  }
  EXPECT_EQ(world().all_to_all(std::span<std::int64_t const>(mine)), expected);
  mine.push_back(0);
  EXPECT_EQ(coir::testing::message_of<coir::PreconditionError>([&] {
              static_cast<void>(world().all_to_all(std::span<std::int64_t const>(mine)));
            }),
            "ranks swap a value for each of them, " + std::to_string(ranks) +
                " in this group, not " + std::to_string(ranks + 1));
}

TEST(Group, Broadcasts) {
  int const from = world().size() - 1;
  EXPECT_EQ(world().broadcast("from " + std::to_string(world().rank()), from),
            "from " + std::to_string(from));
  EXPECT_EQ(world().broadcast(std::string(), from), "");
  EXPECT_EQ(coir::testing::message_of<coir::PreconditionError>([] { world().broadcast("", -1); }),
            "a broadcast must come from a rank of the group, not -1");
}

TEST(Group, SplitsIntoParts) {
  int const ranks = world().size(), rank = world().rank();
  Group const third = world().split(rank % 3), rest = world().split(7 - rank / 3);
  EXPECT_EQ(third.rank(), rank / 3);
  EXPECT_EQ(third.size(), (ranks - rank % 3 + 2) / 3);
  EXPECT_EQ(rest.rank(), rank % 3);
  EXPECT_EQ(rest.size(), std::min(3, ranks - rank / 3 * 3));
  std::vector<int> expected;
  for (int one = rank % 3; one < ranks; one += 3) expected.push_back(one);
  EXPECT_EQ(third.gather(rank), expected);
  EXPECT_EQ(rest.split(0).size(), rest.size());
  EXPECT_EQ(Group().split(5).size(), 1);
}

// Parts exchange at the same time, each by itself; the whole counts what they send, and so does the
// whole of a part.
TEST(Group, CountsWhatItsPartsExchange) {
  using coir::distributed::Receive;
  using coir::distributed::Send;
  auto const before = world().traffic("test/parts");
  Group const half = world().split(world().rank() % 2), pair = half.split(half.rank() / 2);
  auto const pass_on = [](Group const& group) {
    int const ranks = group.size(), left = (group.rank() + ranks - 1) % ranks;
    int const sent = world().rank();
    int came = -1;
    group.exchange(Kokkos::DefaultHostExecutionSpace(), "test/parts",
                   std::vector<Send>{{(group.rank() + 1) % ranks, &sent, sizeof sent}},
                   std::vector<Receive>{{left, &came, sizeof came}});
    EXPECT_EQ(came, group.gather(world().rank())[static_cast<std::size_t>(left)]);
  };
  pass_on(pair);
  pass_on(half);
  std::int64_t const of_pair = pair.size() > 1 ? 1 : 0, of_half = half.size() > 1 ? 1 : 0;
  EXPECT_EQ(pair.traffic(), (Traffic{of_pair, 4 * of_pair}));
  EXPECT_EQ(half.traffic().messages, of_pair + of_half);
  EXPECT_EQ(world().traffic("test/parts").messages, before.messages + of_pair + of_half);
  EXPECT_EQ(world().traffic("test/parts").bytes, before.bytes + 4 * (of_pair + of_half));
  EXPECT_GE(world().exchange_seconds(), half.exchange_seconds());
  EXPECT_GE(half.exchange_seconds(), pair.exchange_seconds());
}

TEST(Group, CountsTheConnectionsOfGroupsNotOfCopies) {
  using coir::distributed::connections_opened;
  auto const before = connections_opened();
  Group const copy = world();
  EXPECT_EQ(copy.sum(1), world().size());
  EXPECT_EQ(connections_opened(), before);
  Group const part = copy.split(0);
  EXPECT_EQ(connections_opened(), before + (world().size() > 1 ? 1 : 0));
}

TEST(Group, GivesItsTransportToItsParts) {
  using Host = Kokkos::DefaultHostExecutionSpace;
  auto const chosen = world().transport<Host>();
  char const* const variable = std::getenv("COIR_TRANSPORT");
  std::string const before = variable == nullptr ? "" : variable;
  setenv("COIR_TRANSPORT", before == "staged" ? "mpi" : "staged", 1);
  Group const all = world().split(0), alone = world().split(world().rank());
  EXPECT_EQ(all.transport<Host>(), chosen);
  EXPECT_EQ(alone.transport<Host>(), coir::distributed::Transport::none);
  setenv("COIR_TRANSPORT", before.c_str(), 1);
}

TEST(Group, SharesItsMachinesMemory) {
  Kokkos::DefaultHostExecutionSpace const host;
  EXPECT_EQ(coir::distributed::ranks_of_memory(world(), host), world().size());
  EXPECT_EQ(coir::distributed::ranks_of_memory(world().split(world().rank() % 2), host),
            (world().size() + 1 - world().rank() % 2) / 2);
}

TEST(Group, RefusesPartsBelowZero) {
  int const last = world().size() - 1;
  EXPECT_EQ(coir::testing::message_of<coir::PreconditionError>(
                [&] { static_cast<void>(world().split(world().rank() == last ? -1 : 0)); }),
            "the number of a part of a group must be at least 0, not -1");
}

// What each rank throws, the others throw, too: of the class and with the words of the lowest rank
// that threw.
TEST(Together, ThrowsOnAllRanksWhatOneThrows) {
  int const last = world().size() - 1;
  auto const on_last = [&](auto error) {
    return [=] {
      if (world().rank() == last) throw error;
    };
  };
  EXPECT_THROW(together(world(), on_last(coir::InputError("x"))), coir::InputError);
  EXPECT_THROW(together(world(), on_last(coir::ResourceError("x"))), coir::ResourceError);
  EXPECT_THROW(together(world(), on_last(coir::EnvironmentError("x"))), coir::EnvironmentError);
  EXPECT_THROW(together(world(), on_last(coir::NumericalError("x"))), coir::NumericalError);
  EXPECT_THROW(together(world(), on_last(std::bad_alloc())), std::bad_alloc);
  EXPECT_THROW(together(world(), on_last(std::range_error("x"))), std::runtime_error);
  EXPECT_EQ(coir::testing::message_of<coir::PreconditionError>([&] {
              together(world(), [] {
                if (world().rank() > 0 || world().size() == 1)
                  throw coir::PreconditionError("rank " + std::to_string(world().rank()));
              });
            }),
            world().size() == 1 ? "rank 0" : "rank 1");
}

/// An exception that knows more than its words.
struct WithCode : std::runtime_error {
  using std::runtime_error::runtime_error;
  int code = 3;
};

TEST(Together, LeavesEachRankItsOwnExceptionThatSaysTheSame) {
  EXPECT_THROW(together(world(), [] { throw WithCode("x"); }), WithCode);
  EXPECT_EQ(coir::testing::message_of<std::runtime_error>(
                [] { together(world(), [] { throw WithCode(std::to_string(world().rank())); }); }),
            "0");
}

TEST(Together, ThrowsWhatIsNoExceptionAsOne) {
  auto const throw_number = [] {
    if (world().is_first()) throw 7;  // NOLINT
  };
  if (world().rank() > 0)
    EXPECT_EQ(
        coir::testing::message_of<std::runtime_error>([&] { together(world(), throw_number); }),
        "an exception that isn't a std::exception");
  else
    EXPECT_THROW(together(world(), throw_number), int);
}

TEST(Together, MayBeNestedWhereAllRanksComeToTheInnerOne) {
  auto const nested = [](int fails) {
    together(world(), [=] {
      together(world(), [=] {
        if (world().rank() == fails) throw coir::InputError("inner");
      });
    });
  };
  EXPECT_NO_THROW(nested(-1));
  EXPECT_THROW(nested(world().size() - 1), coir::InputError);
}

TEST(Together, TellsWhatWasGivenDifferently) {
  using coir::distributed::expects_alike;
  double const third = 1 / 3.0;
  EXPECT_NO_THROW(expects_alike(world(), {{"colour", "red"}, {"ratio", third}, {"count", 3}}));
  if (world().size() == 1) return;
  bool const is_last = world().rank() == world().size() - 1;
  std::string const last = std::to_string(world().size() - 1);
  EXPECT_EQ(coir::testing::message_of([&] {
              expects_alike(world(), {{"colour", "red"},
                                      {"ratio", is_last ? std::nextafter(third, 1) : third},
                                      {"count", is_last ? 4 : 3}});
            }),
            "all ranks must be given the same ratio: it is 0.3333333333333333 on rank 0 and "
            "0.33333333333333337 on rank " +
                last);
}

// A path may hold any character.
TEST(Together, TakesEqualSettingsOfAnyText) {
  using coir::distributed::expects_alike;
  EXPECT_NO_THROW(expects_alike(
      world(),
      {{"folder", "two\nlines\n"}, {"name", "4 5 words"}, {"nothing", ""}, {"end", "\n"}}));
  if (world().size() == 1) return;
  bool const is_last = world().rank() == world().size() - 1;
  EXPECT_EQ(coir::testing::message_of([&] {
              expects_alike(world(), {{"folder", "two\nlines"}, {"name", is_last ? "a\n" : "a"}});
            }),
            "all ranks must be given the same name: it is a on rank 0 and a\\n on rank " +
                std::to_string(world().size() - 1));
}

TEST(Together, GivesWhatTheActionGives) {
  static int const number = world().rank();
  EXPECT_EQ(together(world(), []() -> int const& { return number; }), world().rank());
  EXPECT_EQ(together(world(), [] { return world().rank() + 1; }), world().rank() + 1);
  EXPECT_NO_THROW(together(world(), [] {}));
}

}  // namespace
