#include <coir/core/errors.hpp>
#include <coir/core/memory.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

using Memory = Kokkos::DefaultExecutionSpace::memory_space;

TEST(Memory, SomeIsFree) {
  EXPECT_GT(coir::free_bytes<Memory>(), 1 << 20);
  EXPECT_GT(coir::free_bytes<Kokkos::HostSpace>(), 1 << 20);
}

TEST(Memory, CountsAreReadable) {
  EXPECT_EQ(coir::readable_bytes(0), "0 B");
  EXPECT_EQ(coir::readable_bytes(1023), "1023 B");
  EXPECT_EQ(coir::readable_bytes(1536), "1.5 KiB");
  EXPECT_EQ(coir::readable_bytes(std::int64_t(3) << 30), "3.0 GiB");
}

TEST(Memory, NeedBelowWhatIsFreePasses) {
  EXPECT_NO_THROW(coir::expects_memory<Memory>(1024, "a test"));
}

TEST(Memory, NeedBeyondWhatIsFreeNamesNeedLimitAndRemedy) {
  try {
    coir::detail::expects_memory(std::int64_t(4) << 40, std::int64_t(1) << 30, "the solve");
    FAIL() << "no exception";
  } catch (coir::ResourceError const& error) {
    std::string const text = error.what();
    EXPECT_NE(text.find("the solve needs 4.0 TiB"), std::string::npos) << text;
    EXPECT_NE(text.find("1.0 GiB are free"), std::string::npos) << text;
    EXPECT_NE(text.find("use a smaller grid"), std::string::npos) << text;
  }
}

TEST(Memory, NoMachineHasSevenExbibytes) {
  EXPECT_THROW(
      coir::expects_memory<Kokkos::HostSpace>(std::numeric_limits<std::int64_t>::max(), "a test"),
      coir::ResourceError);
}

TEST(Memory, LargePagesLeaveTheContentAlone) {
  for (std::size_t const size : {0u, 1u, 5000u, (1u << 22) + 3, 3u << 22}) {
    std::vector<char> block(size, 'x');
    coir::ask_for_large_pages(block.data(), static_cast<std::int64_t>(size));
    EXPECT_EQ(std::count(block.begin(), block.end(), 'x'), static_cast<std::ptrdiff_t>(size));
  }
}
