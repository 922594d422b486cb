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

using coir::distributed::group_of;
using coir::testing::world;

/// A part of all ranks while it lives: those of the same colour, in reverse order. None of MPI_UNDEFINED.
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

// Halves exchange at the same time, each by itself, and outlive the communicator that they were made of.
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

}  // namespace
