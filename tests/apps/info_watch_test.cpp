// coir-info --watch: what it reads, and the application. NVML is a library of the test's own.

#include "app_fixture.hpp"

#include <info/host_monitor.hpp>
#include <info/nvml.hpp>
#include <info/sample.hpp>
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
using namespace coir::testing;

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

}  // namespace

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
  EXPECT_EQ(sample.load, 0.25);
  EXPECT_EQ(sample.memory_used, 600 * 1024);
  EXPECT_EQ(sample.memory, 1000 * 1024);
  EXPECT_GE(sample.power, 1 / most_seconds);
  EXPECT_LE(sample.power, 1 / 0.02);
  EXPECT_EQ(sample.temperature, 45.5);
  EXPECT_EQ(sample.clock, 2.5e9);
}

TEST(HostMonitor, TakesTheClockOfTheGovernorWhereProcessorsDontTell) {
  Machine const machine;
  machine.write("sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq", "1000000");
  machine.write("sys/devices/system/cpu/cpu1/cpufreq/scaling_cur_freq", "3000000");
  EXPECT_EQ(machine.monitor().sample().clock, 2e9);
}

TEST(SampleText, ColumnsStandBelowTheirHeadings) {
  Sample const sample{"gpu0",           "A Device", 0.97, 10.0 * (1 << 30),
                      80.0 * (1 << 30), 612.5,      54,   1.98e9};
  EXPECT_EQ(heading_text(), "device  load/%  used/GiB  memory/GiB  power/W  temp/C  clock/MHz");
  EXPECT_EQ(row_text(sample), "gpu0      97.0     10.00       80.00    612.5      54       1980");
  // Where nothing is known.
  Machine const machine;
  EXPECT_EQ(words_of(row_text(machine.monitor().sample())),
            (std::vector<std::string>{"cpu", "-", "-", "-", "-", "-", "-"}));
  EXPECT_TRUE(
      nlohmann::json::parse(json_text(machine.monitor().sample(), "now")).at("watts").is_null());
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
  EXPECT_EQ(joules("0,1"), 1.5);
  EXPECT_EQ(joules("1"), 2.5);
  EXPECT_EQ(joules("GPU-1234,0"), 2.5);
  EXPECT_FALSE(joules("2").has_value());
  unsetenv("CUDA_VISIBLE_DEVICES");
  EXPECT_EQ(nvml.energy(nvml.first_visible()), 1.5);
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

  std::string const line = "coir-info: gpu0: Fake 0\n";  // once, not with every sample
  EXPECT_TRUE(contains(outcome.errors, line)) << outcome.errors;
  EXPECT_EQ(outcome.errors.find(line), outcome.errors.rfind(line));
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

// Kokkos isn't started: the wrong variable would end it.
TEST(Watch, WithoutNvidiaDevicesOneLineSaysSo) {
  TemporaryFolder const folder;
  std::ofstream(folder /
                "libnvidia-ml.so.1");  // no library, so that none is opened wherever this runs
  for (auto const& [environment, why] :
       {std::pair(with(folder.path().string(), "KOKKOS_NUM_THREADS=none"),
                  "NVML, which comes with their driver, can't be opened ("),
        std::pair(with(COIR_FAKE_NVML, "FAKE_NVML_START=9"), "NVML can't start (error 9)"),
        std::pair(with(COIR_FAKE_NVML, "FAKE_NVML_DEVICES=0"), "NVML knows none")}) {
    auto const outcome = watch("0.1 --samples 2", environment);
    EXPECT_EQ(outcome.code, 0) << outcome.errors;
    EXPECT_EQ(lines_of(outcome.output).size(), 3) << outcome.output;
    EXPECT_TRUE(contains(outcome.errors, std::string("coir-info: no NVIDIA devices: ") + why))
        << outcome.errors;
  }
}
