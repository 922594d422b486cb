// coir-info --watch: what it reads, and the application. NVML is a library of the test's own.

#include "app_fixture.hpp"

#include <info/host_monitor.hpp>
#include <info/nvml.hpp>
#include <info/sample_text.hpp>
#include <info/system_text.hpp>
#include <info/utc.hpp>

#include <dlfcn.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {

using namespace coir::apps::info;
using coir::apps::Nvml;
using coir::testing::contains;
using coir::testing::Outcome;
using coir::testing::TemporaryFolder;

constexpr char stat_text[] =
    "cpu  100 10 30 800 40 5 15 0 7 0\ncpu0 50 5 15 400 20 0 0 0 0 0\ncpu1 50 5 15 400 20 5 15 0 7 "
    "0\nintr 12 cpu\n";
constexpr char meminfo_text[] =
    "MemTotal:       1000 kB\nMemFree:         100 kB\nMemAvailable:    400 kB\nBuffers: 3 kB\n";
constexpr char cpuinfo_text[] =
    "processor\t: 0\nmodel name\t: A Processor @ 2.0GHz\ncpu MHz\t\t: 2000.000\n\n"
    "processor\t: 1\nmodel name\t: A Processor @ 2.0GHz\ncpu MHz\t\t: 3000.000\n";

std::vector<std::string> lines_of(std::string const& text) {
  std::vector<std::string> lines;
  std::istringstream rest(text);
  for (std::string line; std::getline(rest, line);) lines.push_back(line);
  return lines;
}

std::vector<std::string> words_of(std::string const& line) {
  std::istringstream rest(line);
  return {std::istream_iterator<std::string>(rest), {}};
}

/// A machine in a folder.
class Machine {
 public:
  void write(std::string const& name, std::string const& text) const {
    auto const path = folder_ / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text << '\n';
  }
  HostMonitor monitor() const { return HostMonitor(folder_ / "proc", folder_ / "sys"); }
  std::string path(std::string const& name) const { return (folder_ / name).string(); }

 private:
  TemporaryFolder folder_;
};

Outcome watch(std::string const& arguments, std::string const& before = "") {
  return coir::testing::run_command(before + " " + COIR_APP + " --watch " + arguments);
}

/// Makes a program find a fake NVML.
std::string with(std::string const& library, std::string const& settings = "") {
  return "env LD_LIBRARY_PATH=" + library + " " + settings;
}

/// A folder in which NVML is no library, so that none can be opened wherever the test runs.
class WithoutNvml : public ::testing::Test {
 protected:
  WithoutNvml() { std::ofstream(folder_ / "libnvidia-ml.so.1"); }
  Outcome watch(std::string const& arguments, std::string const& before = "") const {
    return ::watch(arguments, environment() + before);
  }
  std::string environment() const { return with(folder_.path().string()); }

 private:
  TemporaryFolder folder_;
};

}  // namespace

TEST(SystemText, MemoryIsUsedUnlessItIsAvailable) {
  auto const use = memory_use(meminfo_text);
  ASSERT_TRUE(use.has_value());
  EXPECT_EQ(use->used, 600 * 1024);
  EXPECT_EQ(use->total, 1000 * 1024);
  EXPECT_FALSE(memory_use("MemTotal: 1000 kB\n").has_value());
  EXPECT_FALSE(memory_use("MemTotal: 1000 kB\nMemAvailable: ? kB\n").has_value());
}

TEST(SystemText, ClockIsTheMeanOfTheCores) {
  EXPECT_EQ(mean_clock(cpuinfo_text), 2.5e9);
  EXPECT_FALSE(mean_clock("processor : 0\ncpu MHz : unknown\n").has_value());
  EXPECT_EQ(processor_name(cpuinfo_text), "A Processor @ 2.0GHz");
  EXPECT_EQ(processor_name("processor : 0\n"), "host");
}

TEST(HostMonitor, ReadsWhatLinuxSays) {
  Machine const machine;
  machine.write("proc/stat", "cpu  100 0 0 100\ncpu0 1\n");
  machine.write("proc/meminfo", meminfo_text);
  machine.write("proc/cpuinfo", cpuinfo_text);
  machine.write("sys/class/powercap/intel-rapl:0/name", "package-0");
  machine.write("sys/class/powercap/intel-rapl:0/max_energy_range_uj", "1000000000000");
  machine.write("sys/class/powercap/intel-rapl:0/energy_uj", "0");
  machine.write("sys/class/hwmon/hwmon0/name", "nvme");
  machine.write("sys/class/hwmon/hwmon0/temp1_input", "99000");
  machine.write("sys/class/hwmon/hwmon1/name", "k10temp");
  machine.write("sys/class/hwmon/hwmon1/temp1_input", "45500");
  auto const begin = std::chrono::steady_clock::now();
  HostMonitor monitor = machine.monitor();
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  machine.write("proc/stat", "cpu  101 0 0 103\ncpu0 1\n");
  machine.write("sys/class/powercap/intel-rapl:0/energy_uj", "1000000");
  Sample const sample = monitor.sample();
  double const most_seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  EXPECT_EQ(sample.device, "cpu");
  EXPECT_EQ(sample.name, "A Processor @ 2.0GHz, 1 thread");
  EXPECT_EQ(sample.load.value, 0.25);
  EXPECT_EQ(sample.memory_used.value, 600 * 1024);
  EXPECT_EQ(sample.memory.value, 1000 * 1024);
  EXPECT_GE(sample.power.value, 1 / most_seconds);
  EXPECT_LE(sample.power.value, 1 / 0.02);
  EXPECT_EQ(sample.temperature.value, 45.5);
  EXPECT_EQ(sample.clock.value, 2.5e9);
  EXPECT_TRUE(absences(sample).empty());
}

TEST(HostMonitor, TakesTheClockOfTheGovernorWhereProcessorsDontTell) {
  Machine const machine;
  machine.write("sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq", "1000000");
  machine.write("sys/devices/system/cpu/cpu11/cpufreq/scaling_cur_freq", "3000000");
  machine.write("sys/devices/system/cpu/cpufreq/cpufreq/scaling_cur_freq", "9000000");
  EXPECT_EQ(machine.monitor().sample().clock.value, 2e9);
}

TEST(HostMonitor, SaysWhyThereIsNothing) {
  Machine const machine;
  Sample const sample = machine.monitor().sample();
  EXPECT_EQ(words_of(row_text(sample)),
            (std::vector<std::string>{"cpu", "-", "-", "-", "-", "-", "-"}));
  auto const json = nlohmann::json::parse(json_text(sample, "now"));
  for (char const* const key :
       {"load", "memory_used_bytes", "memory_bytes", "watts", "celsius", "hertz"})
    EXPECT_TRUE(json.at(key).is_null()) << key;
  auto const lines = absences(sample);
  ASSERT_EQ(lines.size(), 5);  // both columns of the memory have one reason
  EXPECT_EQ(lines[0], "cpu: no load: " + machine.path("proc/stat") + " has no line of all cores");
  EXPECT_TRUE(contains(lines[1], "cpu: no used memory, no memory: ")) << lines[1];
  EXPECT_EQ(lines[2], "cpu: no power: " + machine.path("sys/class/powercap") +
                          " has no counter of a processor's energy");
}

TEST(SampleText, ColumnsStandBelowTheirHeadings) {
  Sample const sample{
      "gpu0",      "A Device", {0.97, {}},  {10.0 * (1 << 30), {}}, {80.0 * (1 << 30), {}},
      {612.5, {}}, {54, {}},   {1.98e9, {}}};
  EXPECT_EQ(heading_text(), "device  load/%  used/GiB  memory/GiB  power/W  temp/C  clock/MHz");
  EXPECT_EQ(row_text(sample), "gpu0      97.0     10.00       80.00    612.5      54       1980");
}

TEST(Utc, HasNoDaylightSaving) {
  std::chrono::system_clock::time_point const time(std::chrono::milliseconds(1'000'000'000'007));
  EXPECT_EQ(coir::apps::utc_text(time), "2001-09-09T01:46:40.007Z");
}

TEST(Nvml, TheFirstDeviceIsThatWhichProgramsSee) {
  // A library that is loaded is found by its name.
  ASSERT_NE(dlopen(COIR_FAKE_NVML "/libnvidia-ml.so.1", RTLD_NOW), nullptr) << dlerror();
  setenv("FAKE_NVML_DEVICES", "3", /*overwrite=*/1);
  Nvml const nvml;
  EXPECT_EQ(nvml.absence(), "");
  EXPECT_EQ(nvml.devices().size(), 3);
  auto const joules = [&](char const* visible) {
    setenv("CUDA_VISIBLE_DEVICES", visible, /*overwrite=*/1);
    return nvml.energy(nvml.first_visible());
  };
  EXPECT_EQ(joules("0,1").value, 1.5);
  EXPECT_EQ(joules("1").value, 2.5);
  EXPECT_EQ(joules("GPU-1234,0").value, 2.5);
  EXPECT_EQ(joules("2").absence, "NVML says 'Insufficient Permissions'");
  unsetenv("CUDA_VISIBLE_DEVICES");
  EXPECT_EQ(nvml.energy(nvml.first_visible()).value, 1.5);
  unsetenv("FAKE_NVML_DEVICES");
}

TEST(Watch, PrintsALineForEachSampleAndDevice) {
  auto const outcome = watch("0.1 --samples 3", with(COIR_FAKE_NVML, "FAKE_NVML_DEVICES=3"));
  EXPECT_EQ(outcome.code, 0) << outcome.errors;
  auto const lines = lines_of(outcome.output);
  ASSERT_EQ(lines.size(), 1 + 3 * 4) << outcome.output;
  EXPECT_FALSE(contains(outcome.output, "\033"));
  EXPECT_EQ(words_of(lines[0]).front(), "time");
  for (auto const& line : lines)
    EXPECT_EQ(words_of(line).size(), words_of(lines[0]).size()) << line;
  EXPECT_EQ(words_of(lines[1])[1], "cpu");
  EXPECT_TRUE(
      lines[2].ends_with("  gpu0      97.0     10.00       80.00    612.5      54       1980"))
      << lines[2];
  EXPECT_TRUE(
      lines[3].ends_with("  gpu1       0.0     10.00       80.00        -       -       1980"))
      << lines[3];
  EXPECT_TRUE(
      lines[4].ends_with("  gpu2         -         -           -        -       -          -"))
      << lines[4];
  EXPECT_LT(words_of(lines[1])[0], words_of(lines[5])[0]);  // times that sort as text

  // Each reason comes once, not with every sample.
  std::string const& said = outcome.errors;
  for (std::string const line :
       {"coir-info: gpu0: Fake 0\n",
        "coir-info: gpu1: no power, no temperature: NVML says 'Not Supported'\n",
        "coir-info: gpu2: no load, no used memory, no memory, no power, no temperature, no clock: "
        "NVML says "
        "'Insufficient Permissions'\n"}) {
    EXPECT_TRUE(contains(said, line)) << said;
    EXPECT_EQ(said.find(line), said.rfind(line)) << said;
  }
}

TEST(Watch, PrintsLinesOfJson) {
  auto const outcome = watch("0.1 --samples 2 --json", with(COIR_FAKE_NVML));
  EXPECT_EQ(outcome.code, 0) << outcome.errors;
  auto const lines = lines_of(outcome.output);
  ASSERT_EQ(lines.size(), 4) << outcome.output;
  auto const host = nlohmann::json::parse(lines[0]), device = nlohmann::json::parse(lines[3]);
  EXPECT_EQ(host["device"], "cpu");
  EXPECT_GT(host["memory_bytes"], host["memory_used_bytes"]);
  EXPECT_LE(host["load"], 1);
  EXPECT_EQ(device["name"], "Fake 0");
  EXPECT_EQ(device["load"], 0.97);
  EXPECT_EQ(device["memory_bytes"], 80.0 * (1 << 30));
  EXPECT_EQ(device["watts"], 612.5);
  EXPECT_EQ(device["celsius"], 54);
  EXPECT_EQ(device["hertz"], 1.98e9);
  EXPECT_EQ(host["time"], nlohmann::json::parse(lines[1])["time"]);
}

TEST(Watch, ClearsTheScreenForATableOnATerminal) {
  auto const on = [](std::string const& terminal) {
    return coir::testing::run_command("env TERM=" + terminal + " " + with(COIR_FAKE_NVML) +
                                      " script -qec '" COIR_APP
                                      " --watch 0.1 --samples 2' /dev/null");
  };
  auto const outcome = on("xterm");
  if (contains(outcome.errors, "failed to create pseudo-terminal"))
    GTEST_SKIP() << "there are no terminals here: /dev/pts isn't mounted";
  EXPECT_EQ(outcome.code, 0) << outcome.errors;
  EXPECT_TRUE(contains(outcome.output, "\033[H\033[Jdevice  load/%")) << outcome.output;
  EXPECT_TRUE(contains(outcome.output, "\r\ngpu0: Fake 0\r\n")) << outcome.output;
  EXPECT_FALSE(contains(on("dumb").output, "\033"));
}

TEST(Watch, AnNvmlWithoutADriverOrDevicesIsNoFailure) {
  auto const outcome = watch("0.1 --samples 1", with(COIR_FAKE_NVML, "FAKE_NVML_START=9"));
  EXPECT_EQ(outcome.code, 0);
  EXPECT_EQ(lines_of(outcome.output).size(), 2) << outcome.output;
  EXPECT_TRUE(
      contains(outcome.errors, "coir-info: no NVIDIA devices: NVML says 'Driver Not Loaded'\n"))
      << outcome.errors;
  EXPECT_TRUE(contains(watch("0.1 --samples 1", with(COIR_FAKE_NVML, "FAKE_NVML_DEVICES=0")).errors,
                       "no NVIDIA devices: NVML knows none\n"));
}

TEST_F(WithoutNvml, OneLineSaysSo) {
  auto const outcome = watch("0.1 --samples 2");
  EXPECT_EQ(outcome.code, 0);
  EXPECT_EQ(lines_of(outcome.output).size(), 3) << outcome.output;
  std::string const line =
      "no NVIDIA devices: NVML, which comes with their driver, can't be opened (";
  EXPECT_TRUE(contains(outcome.errors, line)) << outcome.errors;
  EXPECT_EQ(outcome.errors.find(line), outcome.errors.rfind(line));
}

TEST_F(WithoutNvml, ASignalEndsIt) {
  auto const outcome = watch("60", "timeout --preserve-status --signal=TERM 0.5");
  EXPECT_EQ(outcome.code, 143);
  EXPECT_TRUE(contains(outcome.errors, "coir-info: error: stopped while watching; "))
      << outcome.errors;
}

TEST_F(WithoutNvml, StartsNoThreads) {
  // What can't start Kokkos in any other run.
  EXPECT_EQ(watch("0.1 --samples 1", "KOKKOS_NUM_THREADS=none").code, 0);
}
