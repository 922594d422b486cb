#pragma once

/// \file
/// Two ways to do the same, timed in turns.

#include <support/median.hpp>

#include <chrono>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

/// What is done around each call that is timed.
struct Around {
  std::function<void()> before = [] {};  ///< outside of the time
  std::function<double(double)> slowest = [](double mine) { return mine; };  ///< of all ranks
  bool prints = true;                                                        ///< on the first rank
};

inline void print_heading(bool prints = true) {
  if (prints) std::printf("%-44s %12s %12s %12s\n", "", "coir, ms", "library, ms", "over coir's");
}

/// Prints the median times of both, of at least 5 calls of each and two seconds together.
inline void in_turns(std::string const& what, std::function<void()> const& coirs,
                     std::function<void()> const& librarys, Around const& around = {}) {
  using coir::bench::median;
  using Clock = std::chrono::steady_clock;
  auto const seconds_of = [&](auto const& call) {
    around.before();
    auto const start = Clock::now();
    call();
    return around.slowest(std::chrono::duration<double>(Clock::now() - start).count());
  };
  std::vector<double> ours, theirs;
  seconds_of(coirs);  // the first calls pay for page tables
  seconds_of(librarys);
  double total = 0;
  while (ours.size() < 5 || (total < 2 && ours.size() < 2000)) {
    bool const first = ours.size() % 2 == 0;
    if (first) ours.push_back(seconds_of(coirs));
    theirs.push_back(seconds_of(librarys));
    if (!first) ours.push_back(seconds_of(coirs));
    total += ours.back() + theirs.back();
  }
  if (around.prints)
    std::printf("%-44s %12.4f %12.4f %12.2f\n", what.c_str(), 1e3 * median(ours),
                1e3 * median(theirs), median(theirs) / median(ours));
  std::fflush(stdout);
}
