// How ranks connect by NCCL, on hosts, with a library that stands in for it.

#include <coir/core/kokkos.hpp>

namespace coir {
inline void* stream_of(Kokkos::DefaultExecutionSpace const&) { return nullptr; }
inline void make_device_current(Kokkos::DefaultExecutionSpace const&) {}
}  // namespace coir

#include "nccl_device.cpp"  // NOLINT: it isn't compiled in builds for hosts

#include <coir/distributed/connections.hpp>

#include <support/message_of.hpp>
#include <support/ranks.hpp>

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

namespace {

using coir::distributed::connections_opened;
using coir::distributed::detail::connect_by_nccl;
using coir::testing::world;

TEST(Nccl, ConnectsAGroupOnce) {
  ASSERT_EQ(coir::distributed::detail::why_no_nccl(), "");
  auto const before = connections_opened();
  EXPECT_NE(connect_by_nccl(world()), nullptr);
  EXPECT_EQ(connections_opened(), before + 1);
}

// The library doesn't come back on the other ranks: all hear of it from the one that failed.
TEST(Nccl, ThatFailsOnOneRankIsAnErrorOfAll) {
  std::string const last = std::to_string(world().size() - 1);
  setenv("COIR_FAKE_NCCL_FAILS", last.c_str(), 1);
  auto const before = connections_opened();
  EXPECT_EQ(coir::testing::message_of<coir::EnvironmentError>(
                [] { static_cast<void>(connect_by_nccl(world())); }),
            "RCCL failed in CommInitRank on rank " + last +
                ": unhandled system error; NCCL_DEBUG=INFO says more, COIR_TRANSPORT=staged does "
                "without it");
  EXPECT_EQ(connections_opened(), before);
}

}  // namespace
