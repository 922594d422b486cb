// Starts Kokkos around the tests, except when they are only listed: a build host needs no device.

#include <coir/core/kokkos.hpp>
#include <coir/core/machine.hpp>

#include <gtest/gtest.h>
#include <device/leave_device_out.hpp>

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  if (::testing::GTEST_FLAG(list_tests)) return RUN_ALL_TESTS();
  // The cases of a device end the process then, and those of the host run: ctest -R OpenMP.
  if (!coir::why_no_device().empty()) coir::apps::leave_device_out();
  Kokkos::ScopeGuard const kokkos(argc, argv);
  return RUN_ALL_TESTS();
}
