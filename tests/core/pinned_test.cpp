#include <coir/core/errors.hpp>
#include <coir/core/pinned.hpp>

#include <gtest/gtest.h>

#include <cstdint>

TEST(PinnedMemory, IsAlignedAndMayBeEmpty) {
  for (std::int64_t const bytes : {0, 1, 4096, 1 << 20}) {
    auto const block = coir::allocate_pinned(bytes);
    ASSERT_NE(block, nullptr);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(block.get()) % 64, 0u);
  }
}

TEST(PinnedMemory, RefusesWhatCantBeAllocated) {
  EXPECT_THROW(coir::allocate_pinned(std::int64_t(1) << 60), coir::ResourceError);
}
