// Groups of a caller's own communicators.

#include <coir/distributed/session.hpp>
#include <coir/distributed/together.hpp>

#include <support/message_of.hpp>
#include <support/ranks.hpp>

#include <gtest/gtest.h>

#include <mpi.h>

#include <string>
#include <vector>

namespace {

using coir::distributed::Group;
using coir::distributed::group_of;
using coir::distributed::Receive;
using coir::distributed::Send;
using coir::testing::world;

/// A part of all ranks while it lives: those of the same colour, in reverse order. None of
/// MPI_UNDEFINED.
class Part {
 public:
  explicit Part(int colour) {
    MPI_Comm_split(MPI_COMM_WORLD, colour, -world().rank(), &communicator_);
  }
  ~Part() {
    if (communicator_ != MPI_COMM_NULL) MPI_Comm_free(&communicator_);
  }
  Part(Part const&) = delete;
  Part& operator=(Part const&) = delete;
  int handle() const { return MPI_Comm_c2f(communicator_); }

 private:
  MPI_Comm communicator_ = MPI_COMM_NULL;
};

// Halves exchange at the same time, each by itself, and outlive the communicator that they were
// made of.
TEST(Communicator, OfAPartMakesAGroup) {
  if (world().size() == 1) return;  // MPI doesn't run
  int const colour = world().rank() % 2;
  auto const half = [&] { return group_of(Part(colour).handle()); }();
  int const ranks = half.size(), rank = half.rank();
  EXPECT_EQ(ranks, (world().size() + 1 - colour) / 2);
  EXPECT_EQ(rank, ranks - 1 - world().rank() / 2);
  int const left = (rank + ranks - 1) % ranks, right = (rank + 1) % ranks;
  Kokkos::View<int[2], Kokkos::HostSpace> const number("number");
  number(0) = 10 * colour + rank;
  half.exchange(Kokkos::DefaultHostExecutionSpace(), "test/half",
                std::vector<coir::distributed::Send>{{right, &number(0), 4}},
                std::vector<coir::distributed::Receive>{{left, &number(1), 4}});
  EXPECT_EQ(number(1), 10 * colour + left);
  EXPECT_EQ(half.sum(1), ranks);
  EXPECT_EQ(half.traffic().messages, ranks == 1 ? 0 : 1);
  EXPECT_EQ(world().traffic("test/half").messages, 0);
  world().barrier();
}

TEST(Communicator, ThatThereIsNoneOfIsRefused) {
  if (world().size() == 1) return;
  Part const part(world().rank() == 0 ? MPI_UNDEFINED : 1);
  if (world().rank() == 0)
    EXPECT_EQ(coir::testing::message_of([&] { group_of(part.handle()); }),
              "a group needs a communicator, and MPI_COMM_NULL is none: make it on the ranks that "
              "have one");
  else
    EXPECT_EQ(group_of(part.handle()).size(), world().size() - 1);
}

/// COIR_CHECK_EXCHANGES while it lives, for groups that haven't exchanged anything before.
class ChecksAskedFor {
 public:
  explicit ChecksAskedFor(char const* text) { setenv(name, text, 1); }
  ~ChecksAskedFor() { unsetenv(name); }
  ChecksAskedFor(ChecksAskedFor const&) = delete;
  ChecksAskedFor& operator=(ChecksAskedFor const&) = delete;

 private:
  static constexpr char const* name = "COIR_CHECK_EXCHANGES";
};

using Host = Kokkos::DefaultHostExecutionSpace;

/// A group of all ranks that hasn't exchanged anything yet.
coir::distributed::Group fresh_group() { return group_of(MPI_Comm_c2f(MPI_COMM_WORLD)); }

TEST(Checks, FindWhatDoesNotMatch) {
  if (world().size() == 1) return;  // MPI doesn't run
  int const rank = world().rank(), last = world().size() - 1;
  std::string const of_last = "rank " + std::to_string(last);
  // Ranks need not agree on the variable: the first one's counts.
  ChecksAskedFor const asked(rank == 0 ? "1" : "0");
  Group const group = fresh_group();
  Kokkos::View<std::int32_t[4], Kokkos::HostSpace> const memory("memory");
  auto const message = [&](std::vector<Send> const& sends, std::vector<Receive> const& receives) {
    return coir::testing::message_of<coir::PreconditionError>(
        [&] { group.exchange(Host(), "test/matching", sends, receives); });
  };
  std::vector<Send> sends;
  std::vector<Receive> receives;
  // One piece too many, which the next exchange would take for its own.
  if (rank == 0) sends = {{last, memory.data(), 4, 1}, {last, memory.data() + 1, 4, 2}};
  if (rank == last) receives = {{0, memory.data(), 4, 1}};
  EXPECT_EQ(message(sends, receives),
            "in the exchange \"test/matching\" " + of_last +
                " expects from rank 0 with the key 2 no piece, and that rank sends a piece of 4 "
                "bytes: both must list the same piece");
  // Of another length, and missing.
  if (rank == last) receives = {{0, memory.data(), 4, 1}, {0, memory.data() + 1, 8, 2}};
  EXPECT_EQ(message(sends, receives),
            "in the exchange \"test/matching\" " + of_last +
                " expects from rank 0 with the key 2 a piece of 8 bytes, and that rank sends a "
                "piece of 4 bytes: both must list the same piece");
  if (rank == 0) sends.clear();
  EXPECT_EQ(message(sends, receives),
            "in the exchange \"test/matching\" " + of_last +
                " expects from rank 0 with the key 1 a piece of 4 bytes, and that rank sends no "
                "piece: both must list the same piece");
  // What is wrong on one rank is an error of all.
  if (rank == 0) sends = {{-1, memory.data(), 4}};
  EXPECT_EQ(message(sends, {}), "pieces go to and come from ranks 0 to " + std::to_string(last) +
                                    " of this group, not -1");
  // What matches goes on, however it is ordered.
  sends.clear();
  receives.clear();
  memory(0) = rank;
  if (rank == 0) sends = {{last, memory.data(), 4, 2}};
  if (rank == last) receives = {{0, memory.data(), 4, 2}};
  group.exchange(Host(), "test/matching", sends, receives);
  EXPECT_EQ(memory(0), rank == last ? 0 : rank);
}

TEST(Checks, AreAskedForByZeroOrOne) {
  if (world().size() == 1) return;
  ChecksAskedFor const asked("yes");
  Group const group = fresh_group();
  EXPECT_EQ(coir::testing::message_of<coir::EnvironmentError>(
                [&] { group.exchange(Host(), "test/checks", {}, {}); }),
            "the environment variable COIR_CHECK_EXCHANGES must be 0 or 1, not 'yes': correct it, "
            "or unset it");
}

}  // namespace
