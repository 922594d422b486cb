// Copies beside kernels: an array goes to the device in parts, and while one is on its way the one
// before is worked on.
#include <coir/array/all.hpp>

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>
#include <thread>

namespace {

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

/// When something began and ended, in milliseconds from the start of the table.
struct Span {
  double begin = 0, end = 0;
  double length() const { return end - begin; }
};

/// A row of the table, with a bar whose 40 columns are `whole` milliseconds.
void print(char const* what, Span const& span, double whole) {
  auto const column = [&](double at) { return std::min(40, int(40 * at / whole + 0.5)); };
  int const before = std::min(39, column(span.begin));
  std::string const bar(static_cast<std::size_t>(std::max(1, column(span.end) - before)), '#');
  std::printf("%-8s %9.3f %9.3f   |%*s%-*s|\n", what, span.begin, span.end, before, "", 40 - before,
              bar.c_str());
}

constexpr bool device = !coir::runs_on_host<Kokkos::DefaultExecutionSpace>;

/// Starts both, and looks when each is done. At once a thread of the host waits for each queue; on
/// hosts they are done when they return.
std::array<Span, 2> timeline(coir::Queue<>& copies, coir::Queue<>& kernels, auto const& copy,
                             auto const& kernel, bool at_once) {
  std::array<Span, 2> spans;
  bool const wait_first = !at_once || !device;
  Kokkos::fence();
  auto const start = Clock::now();
  auto const now = [&] { return 1e3 * Seconds(Clock::now() - start).count(); };
  spans[0].begin = now();
  copy();
  if (wait_first) {
    copies.wait();
    spans[0].end = now();
  }
  spans[1].begin = now();
  kernel();
  std::thread other([&] {
    if (wait_first) return;
    copies.exec().fence();
    spans[0].end = now();
  });
  kernels.exec().fence();
  spans[1].end = now();
  other.join();
  return spans;
}

}  // namespace

int main(int argc, char** argv) {
  Kokkos::ScopeGuard const kokkos(argc, argv);
  std::int64_t const n = device ? 1 << 25 : 1 << 20;

  // Page-locked memory is what a device copies by itself, beside kernels.
  auto from = coir::empty_pinned<float>(n);
  from.all() = coir::fmod(0.618f * coir::arange<float, Kokkos::HostSpace>(n), 1);
  coir::Array<float, 1> to = coir::zeros<float>(n), x = coir::ones<float>(n / 8);

  // A queue is an instance of its own: CUDA's stream.
  coir::Queue<> copies, kernels;
  auto const copy = [&] { copies.copy(from, to); };
  int steps = 1;
  auto const kernel = [&] {
    kernels.run([&] {
      for (int step = 0; step < steps; ++step) x = 0.5f * (x + sin(x) * sin(x) + cos(x) * cos(x));
    });
  };
  // So many steps that the kernels take as long as the copy.
  timeline(copies, kernels, copy, kernel, false);
  auto alone = timeline(copies, kernels, copy, kernel, false);
  steps = std::clamp(int(alone[0].length() / alone[1].length()), 1, 10'000);

  alone = timeline(copies, kernels, copy, kernel, false);
  auto const both = timeline(copies, kernels, copy, kernel, true);
  double const whole = std::max(alone[1].end, both[1].end);
  std::printf("%-8s %9s %9s\n", "ms", "begin", "end");
  std::printf("One after the other:\n");
  print("copy", alone[0], whole);
  print("kernels", alone[1], whole);
  std::printf("On two queues:\n");
  print("copy", both[0], whole);
  print("kernels", both[1], whole);
  double const together = std::max(both[0].end, both[1].end);
  double const shorter = std::min(alone[0].length(), alone[1].length());
  double const hidden = (alone[0].length() + alone[1].length() - together) / shorter;
  if (device)
    std::printf("%.0f %% of the shorter one is hidden behind the other.\n", 100 * hidden);
  else
    std::printf("Nothing overlaps: on hosts a copy is done when it returns.\n");

  // What the table was made with is right, whichever came first.
  kernels.wait();
  copies.wait();
  std::printf("copied %.9g\n", coir::sum(coir::cast<double>(to(coir::range(0, 1000)))));
  std::printf("fixed_point %.9g\n", double(coir::max(x)));
}
