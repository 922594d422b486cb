#include "watch.hpp"

#include "host_monitor.hpp"
#include "sample_text.hpp"

#include <support/interrupt.hpp>
#include <support/nvml.hpp>
#include <support/text.hpp>
#include <support/utc.hpp>

#include <coir/core/errors.hpp>

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <set>
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
      Nvml::Device const& device = devices_[n];
      all.push_back({"gpu" + std::to_string(n), nvml_.name(device), nvml_.load(device),
                     nvml_.memory_used(device), nvml_.memory(device), nvml_.power(device),
                     nvml_.temperature(device), nvml_.clock(device)});
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

/// Lines on stderr, each of which is said once.
class Notes {
 public:
  bool are_new(std::string const& line) const { return said_.count(line) == 0; }
  void say(std::string const& line) {
    if (said_.insert(line).second) std::cerr << "coir-info: " << one_line(line) << '\n';
  }

 private:
  std::set<std::string> said_;
};

/// The characters that the terminal has room for; as good as any number if it doesn't tell.
struct Room {
  std::size_t columns, rows;
};

Room room_of_terminal() {
  constexpr std::size_t any = 1'000'000;
  winsize size = {};
  bool const is_told =
      ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 0 && size.ws_col > 0;
  return is_told ? Room{size.ws_col, size.ws_row} : Room{any, any};
}

/// A table on a terminal, each of which replaces the one before if that can be done: then of lines and columns those are shown
/// that the terminal has room for, as others would scroll away or be broken.
class Redrawn {
 public:
  explicit Redrawn(bool is_possible) : is_possible_(is_possible) {}

  void wipe() {
    std::size_t const columns = room_of_terminal().columns;
    std::size_t height = 0;  // a window that has become narrower breaks lines
    for (std::size_t const length : lengths_)
      height += std::max<std::size_t>(1, (length + columns - 1) / columns);
    if (height > 0)
      std::cout << "\033[" << height << "A\033[J";  // moves up, and clears what follows
    lengths_.clear();
  }

  void draw(std::vector<std::string> lines) {
    wipe();
    if (is_possible_) {
      auto const [columns, rows] = room_of_terminal();
      if (lines.size() >= rows) {  // below them stands the cursor
        std::size_t const shown = rows > 3 ? rows - 2 : 1;
        std::string const more = "and " + std::to_string(lines.size() - shown) + " more";
        lines.resize(shown);
        lines.push_back(more);
      }
      for (auto& line : lines) {
        line.resize(std::min(line.size(), width_that_fits(columns)));
        lengths_.push_back(line.size());
      }
    }
    for (auto const& line : lines) std::cout << line << '\n';
  }

 private:
  bool is_possible_;
  std::vector<std::size_t> lengths_;  // of the lines that stand there
};

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

std::vector<std::string> notes_on(std::vector<Sample> const& samples, Monitors const& monitors) {
  std::vector<std::string> notes;
  for (Sample const& sample : samples) notes.push_back(sample.device + ": " + sample.name);
  for (Sample const& sample : samples)
    for (std::string const& absence : absences(sample)) notes.push_back(absence);
  if (std::string const none = monitors.no_devices(); !none.empty()) notes.push_back(none);
  return notes;
}

}  // namespace

void watch(WatchSettings const& settings) {
  Activity const watching("watching");
  auto const interval =
      std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(settings.interval));
  constexpr Clock::duration first =
      std::chrono::milliseconds(200);  // soon there is something to see
  bool const on_terminal = !settings.json && is_capable_terminal();
  Monitors monitors;
  Notes notes;
  Redrawn table(on_terminal);
  auto next = Clock::now() + std::min(interval, first);
  for (std::int64_t n = 0; settings.samples == 0 || n < settings.samples; ++n) {
    wait_until(next);
    next += interval;
    // Samples that were missed while the program was stopped are left out: loads are means over an interval.
    if (next < Clock::now()) next = Clock::now() + interval;
    std::string const time = utc_text_with_milliseconds(std::chrono::system_clock::now());
    auto const samples = monitors.samples();
    for (std::string const& note : notes_on(samples, monitors)) {
      if (notes.are_new(note)) table.wipe();
      notes.say(note);
    }
    std::string const margin(time.size() + 2, ' ');
    std::vector<std::string> lines;
    if (!settings.json && (on_terminal || n == 0))
      lines.push_back((on_terminal ? "" : "time" + margin.substr(4)) + heading_text());
    for (Sample const& sample : samples)
      lines.push_back(settings.json ? json_text(sample, time)
                                    : (on_terminal ? "" : time + "  ") + row_text(sample));
    table.draw(lines);
    expects_written();
  }
}

}  // namespace coir::apps::info
