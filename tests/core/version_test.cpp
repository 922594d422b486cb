#include <coir/core/kokkos.hpp>
#include <coir/core/version.hpp>

#include <gtest/gtest.h>

#include <string>

TEST(Version, TextAgreesWithTheNumbers) {
  EXPECT_EQ(std::string(coir::version), std::to_string(COIR_VERSION_MAJOR) + "." +
                                            std::to_string(COIR_VERSION_MINOR) + "." +
                                            std::to_string(COIR_VERSION_PATCH));
}

TEST(Version, KokkosIsInTheSupportedWindow) {
  EXPECT_GE(KOKKOS_VERSION, 30401);
  EXPECT_LT(KOKKOS_VERSION, 60000);
  int major = 0, minor = 0, patch = 0;
  ASSERT_EQ(std::sscanf(coir::kokkos_version().c_str(), "%d.%d.%d", &major, &minor, &patch), 3);
  EXPECT_EQ(major * 10000 + minor * 100 + patch, KOKKOS_VERSION);
}

// GCC 12 miscompiled this with some releases of Kokkos 4.
TEST(Version, DefaultConstructedViewIsEmpty) {
  Kokkos::View<float**, Kokkos::LayoutRight> const view;
  EXPECT_EQ(view.extent(0), 0u);
  EXPECT_EQ(view.extent(1), 0u);
  EXPECT_EQ(view.data(), nullptr);
  EXPECT_EQ(view.size(), 0u);
}
