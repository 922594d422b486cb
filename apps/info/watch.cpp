#include "watch.hpp"

#include "host_monitor.hpp"
#include "sample.hpp"

#include <info/nvml.hpp>
#include <info/utc.hpp>
#include <support/interrupt.hpp>
#include <support/text.hpp>

#include <coir/core/errors.hpp>

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace coir::apps::info {

namespace {

using Clock = std::chrono::steady_clock;

/// The host, and all NVIDIA devices.
class Monitors {
 public:
  std::vector<Sample> samples() {
    std::vector<Sample> all = {host_.sample()};
    for (std::size_t n = 0; n < devices_.size(); ++n) {
      all.push_back(nvml_.sample(devices_[n]));
      all.back().device = "gpu" + std::to_string(n);
    }
    return all;
  }

  /// Why there is no device among the samples; empty if there is one.
  std::string no_devices() const {
    if (!devices_.empty()) return {};
    return "no NVIDIA devices: " + (nvml_.absence().empty() ? "NVML knows none" : nvml_.absence());
  }

 private:
  HostMonitor host_;
  Nvml nvml_;
  std::vector<Nvml::Device> devices_ = nvml_.devices();
};

void expects_written() {
  if (!std::cout.flush())
    throw ResourceError("can't write to the standard output: is its disk full?");
}

bool is_capable_terminal() {
  char const* const kind = std::getenv("TERM");
  return isatty(STDOUT_FILENO) == 1 && kind != nullptr && std::string_view(kind) != "dumb";
}

void wait_until(Clock::time_point moment) {
  constexpr auto longest = std::chrono::milliseconds(50);
  for (auto now = Clock::now(); now < moment; now = Clock::now()) {
    stop_if_interrupted();
    std::this_thread::sleep_for(std::min<Clock::duration>(moment - now, longest));
  }
  stop_if_interrupted();
}

/// The name of each device, and why there is no NVIDIA device.
std::vector<std::string> notes_on(std::vector<Sample> const& samples, Monitors const& monitors) {
  std::vector<std::string> notes;
  for (Sample const& sample : samples) notes.push_back(sample.device + ": " + sample.name);
  if (std::string const none = monitors.no_devices(); !none.empty()) notes.push_back(none);
  return notes;
}

}  // namespace

void watch(WatchSettings const& settings) {
  Activity const watching("watching");
  auto const interval =
      std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(settings.interval));
  constexpr Clock::duration first = std::chrono::milliseconds(200);  // the first sample comes soon
  bool const on_terminal = !settings.json && is_capable_terminal();
  Monitors monitors;
  auto next = Clock::now() + std::min(interval, first);
  for (std::int64_t n = 0; settings.samples == 0 || n < settings.samples; ++n) {
    wait_until(next);
    next += interval;
    // After the program was stopped, missed samples are left out, because loads are means over an
    // interval.
    if (next < Clock::now()) next = Clock::now() + interval;
    std::string const time = utc_text(std::chrono::system_clock::now());
    auto const samples = monitors.samples();
    auto const notes = notes_on(samples, monitors);
    std::string const before = on_terminal ? "" : time + "  ";
    if (on_terminal)
      std::cout << "\033[H\033[J" << heading_text() << '\n';  // moves home, and clears the screen
    else if (!settings.json && n == 0)
      std::cout << "time" + std::string(time.size() - 2, ' ') << heading_text() << '\n';
    for (Sample const& sample : samples)
      std::cout << (settings.json ? json_text(sample, time) : before + row_text(sample)) << '\n';
    for (std::string const& note : notes)
      if (on_terminal)
        std::cout << one_line(note) << '\n';
      else if (n == 0)
        std::cerr << "coir-info: " << one_line(note) << '\n';
    expects_written();
  }
}

}  // namespace coir::apps::info
