#include <coir/core/machine.hpp>

#include <support/spaces.hpp>

#include <algorithm>
#include <chrono>

TEST(Machine, NamesItsBackends) {
  auto const backends = coir::compiled_backends();
  ASSERT_FALSE(backends.empty());
  EXPECT_NE(std::find(backends.begin(), backends.end(), Kokkos::DefaultExecutionSpace::name()),
            backends.end());
}

TEST(Machine, DescriptionIsComplete) {
  auto const machine = coir::describe_machine();
  EXPECT_FALSE(machine.host_cpu.empty());
  EXPECT_GE(machine.host_threads, 1);
  EXPECT_GT(machine.host_memory_bytes, 1 << 20);
  EXPECT_EQ(machine.default_backend, coir::device_is_left_out()
                                         ? Kokkos::DefaultHostExecutionSpace::name()
                                         : Kokkos::DefaultExecutionSpace::name());
  EXPECT_EQ(machine.kokkos_version, coir::kokkos_version());
  EXPECT_NE(machine.kokkos_configuration.find("KOKKOS_ENABLE"), std::string::npos);
  for (auto const& device : machine.devices) {
    EXPECT_FALSE(device.name.empty());
    EXPECT_GT(device.memory_bytes, 1 << 20);
  }
}

TEST(Machine, WithoutADeviceThereIsAReason) {
  bool const is_for_hosts = coir::runs_on_host<Kokkos::DefaultExecutionSpace>;
  std::string const reason = coir::why_no_device();
  EXPECT_EQ(reason.empty(), !is_for_hosts && !coir::device_is_left_out()) << reason;
  if (is_for_hosts) {
    EXPECT_EQ(reason.find("this build has no backend for a GPU, only "), 0U) << reason;
  }
}

TEST(Machine, DeviceIsListedIfKernelsRunOnOne) {
  if (coir::device_is_left_out()) GTEST_SKIP() << "there is no device";
  EXPECT_NO_THROW(coir::expects_usable_device());
  EXPECT_EQ(coir::describe_machine().devices.empty(),
            coir::runs_on_host<Kokkos::DefaultExecutionSpace>);
}

template <class Exec>
class Limits : public ::testing::Test {};
TYPED_TEST_SUITE(Limits, coir::testing::Spaces, coir::testing::SpaceName);

TYPED_TEST(Limits, DeviceHasAName) { EXPECT_FALSE(coir::device_name(TypeParam{}).empty()); }

// Wide bounds: they catch a wrong unit, a missing fence or a runaway loop, not a slow machine.
TYPED_TEST(Limits, AreOfThisDecadesMagnitudeAndMeasuredQuickly) {
  auto const start = std::chrono::steady_clock::now();
  auto const limits = coir::measure_limits(TypeParam{});
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20));
  double const bandwidths[] = {limits.copy_bandwidth,
                               limits.triad_bandwidth};  // nvcc wants it named
  for (double const bandwidth : bandwidths) {
    EXPECT_GT(bandwidth, 0.1e9);
    EXPECT_LT(bandwidth, 100e12);
  }
  EXPECT_GE(limits.launch_seconds, 0);
  EXPECT_LT(limits.launch_seconds, 1);
  EXPECT_EQ(limits.host_to_device_bandwidth.has_value(), !coir::runs_on_host<TypeParam>);
  EXPECT_EQ(limits.device_to_host_bandwidth.has_value(), !coir::runs_on_host<TypeParam>);
}

TYPED_TEST(Limits, TheTriadAloneIsTheSameInLessMemory) {
  auto const triad = coir::measure_triad_bandwidth(TypeParam{});
  ASSERT_TRUE(triad.has_value());  // or else less than 128 MiB are free
  EXPECT_GT(*triad, 0.1e9);
  EXPECT_LT(*triad, 100e12);
  if (coir::runs_on_host<TypeParam>) {
    EXPECT_EQ(coir::triad_bytes(TypeParam{}), 4 * coir::last_level_cache_bytes(TypeParam{}));
  }
}
