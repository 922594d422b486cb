#include <coir/core/other_programs.hpp>
#include <coir/core/threads.hpp>

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <fstream>
#include <iterator>
#include <mutex>
#include <sstream>
#include <utility>

namespace coir {

namespace {

std::string text_in(std::filesystem::path const& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

double seconds_of(timeval const& time) {
  return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
}

/// What this process and its children have taken.
double own_seconds() {
  double seconds = 0;
  for (int const who : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
    rusage usage = {};
    if (getrusage(who, &usage) == 0)
      seconds += seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime);
  }
  return seconds;
}

/// The processors that this process may use; 0 unless it may use all of them. It is found before
/// main(), because applications bind the thread that calls main() to one of them.
int const usable_at_start = [] {
  auto const usable = static_cast<long>(usable_processors().size());
  return usable == sysconf(_SC_NPROCESSORS_ONLN) ? static_cast<int>(usable) : 0;
}();

}  // namespace

std::optional<CoreTimes> core_times(std::string const& stat) {
  std::istringstream lines(stat);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("cpu ")) continue;
    // The time of guests is in the users' part already.
    double user = 0, nice = 0, system = 0, idle = 0, disk = 0, irq = 0, soft_irq = 0, stolen = 0;
    std::istringstream numbers(line.substr(4));
    if (!(numbers >> user >> nice >> system >> idle)) return {};
    numbers >> disk >> irq >> soft_irq >> stolen;  // older kernels have fewer
    return CoreTimes{user + nice + system + irq + soft_irq + stolen, idle + disk};
  }
  return {};
}

std::optional<double> load_between(CoreTimes const& before, CoreTimes const& after) {
  // The kernel's sums may go back by a tick, that of waiting for disks most of all.
  double const busy = std::max(0.0, after.busy - before.busy);
  double const idle = std::max(0.0, after.idle - before.idle);
  return busy + idle > 0 ? std::optional(busy / (busy + idle)) : std::nullopt;
}

int core_count(std::string const& stat) {
  int count = 0;
  std::istringstream lines(stat);
  for (std::string line; std::getline(lines, line);)
    count += line.size() > 3 && line.starts_with("cpu") &&
             std::isdigit(static_cast<unsigned char>(line[3])) != 0;
  return count;
}

OtherPrograms::OtherPrograms(std::filesystem::path stat)
    : stat_(std::move(stat)),
      times_(core_times(text_in(stat_))),
      own_seconds_(own_seconds()),
      when_(std::chrono::steady_clock::now()) {}

std::optional<double> OtherPrograms::processors() const {
  std::string const stat = text_in(stat_);
  auto const now = core_times(stat);
  double const seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - when_).count();
  constexpr double least = 0.05;  // five ticks of most systems
  if (!times_ || !now || seconds < least) return {};
  auto const load = load_between(*times_, *now);
  if (!load) return {};
  double const busy = *load * core_count(stat);
  return std::max(0.0, busy - (own_seconds() - own_seconds_) / seconds);
}

int threads_beside(int threads, int processors, double others) {
  constexpr double least = 0.7;  // of a processor: a program that computes all the time
  int const busy = static_cast<int>(std::floor(others + 1 - least));
  return std::clamp(processors - busy, std::max(1, threads / 2), threads);
}

int threads_beside_others(int threads) {
  constexpr int fewest = 4;  // a thread less is much of the speed of fewer
  if (threads < fewest || threads > usable_at_start) return threads;
  using Clock = std::chrono::steady_clock;
  static std::mutex mutex;
  static std::optional<OtherPrograms> since;
  static Clock::time_point due;
  static double others = 0;
  std::lock_guard const lock(mutex);
  if (auto const now = Clock::now(); now >= due) {
    others = since ? since->processors().value_or(0) : 0;
    since.emplace();
    due = now + std::chrono::milliseconds(100);
  }
  return threads_beside(threads, usable_at_start, others);
}

}  // namespace coir
