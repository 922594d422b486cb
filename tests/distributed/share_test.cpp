#include <coir/distributed/share.hpp>

#include <gtest/gtest.h>

namespace {

using coir::distributed::owner_of;
using coir::distributed::share_of;

TEST(Share, CoversEachIndexOnce) {
  for (std::int64_t n : {0, 1, 2, 5, 7, 16, 31, 64, 1000003})
    for (int ranks : {1, 2, 3, 4, 6, 7, 8, 64}) {
      std::int64_t next = 0;
      for (int rank = 0; rank < ranks; ++rank) {
        auto const share = share_of(n, rank, ranks);
        ASSERT_EQ(share.first, next);
        ASSERT_GE(share.count, n / ranks);
        ASSERT_LE(share.count, n / ranks + 1);
        next = share.end();
      }
      ASSERT_EQ(next, n);
    }
}

TEST(Share, KnowsTheOwner) {
  for (std::int64_t n : {1, 2, 5, 7, 16, 31, 64})
    for (int ranks : {1, 2, 3, 4, 6, 7, 8, 64})
      for (int rank = 0; rank < ranks; ++rank) {
        auto const share = share_of(n, rank, ranks);
        for (std::int64_t i = share.first; i < share.end(); ++i)
          ASSERT_EQ(owner_of(i, n, ranks), rank) << i << " of " << n << " on " << ranks;
      }
}

}  // namespace
