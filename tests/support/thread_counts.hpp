#pragma once

/// Results on several numbers of threads. A program has one number of them, so a test of bits runs
/// its program again.

#include <support/command.hpp>
#include <support/spaces.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <string>

namespace coir::testing {

/// A number that depends on every bit of what is added, and on the order.
class Digest {
 public:
  template <class Number>
  void add_number(Number number) {
    static_assert(sizeof number <= sizeof(std::uint64_t));
    std::uint64_t bits = 0;
    std::memcpy(&bits, &number, sizeof number);
    value_ = (value_ ^ bits) * 0x100000001b3ull;
  }

  /// \param view  of numbers without gaps, on the host
  template <class View>
  void add(View const& view) {
    for (std::size_t i = 0; i < view.size(); ++i) add_number(view.data()[i]);
  }

  bool operator==(Digest const&) const = default;

  /// For expect_same_digests.
  void print() const {
    std::printf("digest %llu on %d threads\n", static_cast<unsigned long long>(value_),
                static_cast<int>(Host().concurrency()));
  }

 private:
  std::uint64_t value_ = 0xcbf29ce484222325ull;
};

/// Runs a test of this program that prints a Digest with 1, 2, 3, 5 and 8 threads, more than there
/// are cores, too, and expects the digests to be equal.
inline void expect_same_digests(std::string const& test) {
  bool const counts_threads = std::string(Host::name()) == "OpenMP";
  std::string const program = std::filesystem::canonical("/proc/self/exe").string();
  std::string first;
  for (std::string const threads : {"1", "2", "3", "5", "8"}) {
    auto const outcome = run_command("OMP_PROC_BIND=false OMP_NUM_THREADS=" + threads + " '" +
                                     program + "' --gtest_filter=" + test);
    EXPECT_EQ(outcome.code, 0) << outcome.output << outcome.errors;
    auto const begin = outcome.output.find("digest ");
    auto const end = outcome.output.find(" on ", begin);
    ASSERT_NE(end, std::string::npos) << outcome.output;
    std::string const digest = outcome.output.substr(begin, end - begin);
    if (counts_threads) {
      EXPECT_EQ(outcome.output.find(" on " + threads + " threads", begin), end) << outcome.output;
    }
    if (first.empty()) first = digest;
    EXPECT_EQ(digest, first) << threads << " threads";
  }
}

}  // namespace coir::testing
