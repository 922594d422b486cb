// Which transport ranks take, by what they tell of their devices.

#include "choose.hpp"
#include "mpi.hpp"

#include <coir/core/errors.hpp>

#include <support/message_of.hpp>
#include <support/ranks.hpp>

#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <string>

namespace {

using coir::distributed::Transport;
using coir::distributed::detail::choose_on_device;
using coir::distributed::detail::GroupState;
using coir::distributed::detail::Place;
using coir::testing::message_of;
using coir::testing::world;

/// COIR_TRANSPORT while it lives.
class Asked {
 public:
  explicit Asked(char const* text) {
    if (char const* const before = std::getenv(name)) before_ = before;
    if (text == nullptr)
      unsetenv(name);
    else
      setenv(name, text, 1);
  }
  ~Asked() {
    if (before_.empty())
      unsetenv(name);
    else
      setenv(name, before_.c_str(), 1);
  }
  Asked(Asked const&) = delete;
  Asked& operator=(Asked const&) = delete;

 private:
  static constexpr char const* name = "COIR_TRANSPORT";
  std::string before_;
};

class Choose : public ::testing::Test {
 protected:
  void SetUp() override {
    if (world().size() == 1) GTEST_SKIP() << "one rank sends nothing";
    state_.engine = coir::distributed::detail::world_engine();
  }
  static std::string found() { return ""; }
  static Place shared_device() { return {"device 0", "machine", found}; }
  static Place own_device() {
    return {"device " + std::to_string(world().rank()), "machine", found};
  }
  static Place own_machine() {
    std::string const number = std::to_string(world().rank());
    return {"device " + number, "machine " + number, found};
  }
  std::string ranks() const { return std::to_string(world().size()); }

  GroupState state_;
};

TEST_F(Choose, PeerMemoryWhereEachRankHasADeviceInOneMachine) {
  Asked const asked(nullptr);
  EXPECT_EQ(choose_on_device(state_, own_device()).transport, Transport::peer);
}

TEST_F(Choose, NcclBetweenMachinesAndWherePeerMemoryFails) {
  Asked const asked(nullptr);
  EXPECT_EQ(choose_on_device(state_, own_machine()).transport, Transport::nccl);
  EXPECT_EQ(choose_on_device(state_, own_device(), {Transport::peer}).transport, Transport::nccl);
}

TEST_F(Choose, StagedWhereThereIsNoNccl) {
  Asked const asked(nullptr);
  EXPECT_EQ(choose_on_device(state_, own_device(), {Transport::peer, Transport::nccl}).transport,
            Transport::staged);
  EXPECT_EQ(choose_on_device(state_, own_machine(), {Transport::nccl}).transport,
            Transport::staged);
  Place place = own_device();
  if (world().rank() == world().size() - 1)
    place.why_no_nccl = [] { return std::string("there is no libnccl.so.2"); };
  EXPECT_EQ(choose_on_device(state_, place, {Transport::peer}).transport, Transport::staged);
}

TEST_F(Choose, StagedWhereRanksShareADevice) {
  Asked const asked(nullptr);
  auto const choice = choose_on_device(state_, shared_device());
  EXPECT_EQ(choice.transport, Transport::staged);
  EXPECT_EQ(choice.reason, ranks() + " ranks share 1 device");
}

TEST_F(Choose, PeerMemoryThatIsAskedForNeedsOneMachine) {
  Asked const asked("peer");
  EXPECT_EQ(choose_on_device(state_, shared_device()).transport, Transport::peer);
  EXPECT_EQ(message_of<coir::EnvironmentError>([&] { choose_on_device(state_, own_machine()); }),
            "COIR_TRANSPORT=peer, but ranks run on " + ranks() +
                " machines: start them on one, or unset it");
}

TEST_F(Choose, NcclThatIsAskedForNeedsADeviceForEachRank) {
  Asked const asked("nccl");
  EXPECT_EQ(choose_on_device(state_, own_device()).transport, Transport::nccl);
  EXPECT_EQ(message_of<coir::EnvironmentError>([&] { choose_on_device(state_, shared_device()); }),
            "COIR_TRANSPORT=nccl, but " + ranks() +
                " ranks share 1 device: give each rank a device of its own with the library, or "
                "unset it");
}

TEST_F(Choose, NcclThatIsAskedForMustBeThereOnAllRanks) {
  Asked const asked("nccl");
  int const last = world().size() - 1;
  Place place = own_device();
  if (world().rank() == last)
    place.why_no_nccl = [] { return std::string("there is no libnccl.so.2"); };
  EXPECT_EQ(message_of<coir::EnvironmentError>([&] { choose_on_device(state_, place); }),
            "COIR_TRANSPORT=nccl, but there is no libnccl.so.2 on rank " + std::to_string(last) +
                ": give each rank a device of its own with the library, or unset it");
}

// Ranks may be started with different environments.
TEST_F(Choose, WhatTheFirstRankAsksFor) {
  Asked const asked(world().is_first() ? "staged" : "mpi");
  EXPECT_EQ(choose_on_device(state_, own_device()).transport, Transport::staged);
  EXPECT_EQ(choose_on_host(state_).transport, Transport::staged);
}

TEST_F(Choose, NothingThatOneRankCannotRead) {
  Asked const asked(world().rank() == world().size() - 1 ? "doves" : "mpi");
  std::string const refused =
      "the environment variable COIR_TRANSPORT must be mpi, staged, nccl or peer, not 'doves': "
      "correct it, or unset it";
  EXPECT_EQ(message_of<coir::EnvironmentError>([&] { choose_on_device(state_, own_device()); }),
            refused);
  EXPECT_EQ(message_of<coir::EnvironmentError>([&] { choose_on_host(state_); }), refused);
}

// Each group that sends by way of the host gives up its memory when Kokkos ends; Kokkos keeps what
// it is to call until then.
TEST(Groups, LeaveOneHookForKokkosHoweverManyTheyAre) {
  using Host = Kokkos::DefaultHostExecutionSpace;
  using coir::distributed::detail::BeforeKokkosEnds;
  if (world().size() == 1) GTEST_SKIP() << "one rank sends nothing";
  Asked const asked("staged");
  int const before = BeforeKokkosEnds::hooks();
  for (int n = 0; n < 3; ++n) {
    auto state = std::make_shared<GroupState>();
    state->engine = coir::distributed::detail::world_engine();
    coir::distributed::Group const group(state);
    int const next = (group.rank() + 1) % group.size(),
              last = (group.rank() + group.size() - 1) % group.size(), sent = group.rank();
    int came = -1;
    group.exchange(Host(), "test/hooks", {{next, &sent, sizeof sent}},
                   {{last, &came, sizeof came}});
    EXPECT_EQ(group.transport<Host>(), Transport::staged);
    EXPECT_NE(state->staging, nullptr);
    EXPECT_EQ(came, last);
  }
  EXPECT_LE(BeforeKokkosEnds::hooks(), before + 1);
}

}  // namespace
