#pragma once

/// \file
/// Rows of benchmarks that mpirun starts, for programs to read (see distributed/scaling.py).

#include <coir/core/concepts.hpp>
#include <coir/core/memory.hpp>
#include <coir/distributed/group.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <string>

namespace coir::bench {

/// An object of JSON on a line of its own.
class Row {
 public:
  explicit Row(std::string const& what) { add("what", what); }

  /// \param text  without quotation marks and backslashes
  Row& add(std::string const& name, std::string const& text) {
    return add_raw(name, '"' + text + '"');
  }
  Row& add(std::string const& name, std::int64_t number) {
    return add_raw(name, std::to_string(number));
  }
  Row& add(std::string const& name, double number) {
    char text[32];
    std::snprintf(text, sizeof text, "%.9g", number);
    return add_raw(name, text);
  }

  void print() const {
    std::printf("{%s}\n", text_.c_str());
    std::fflush(stdout);
  }

 private:
  Row& add_raw(std::string const& name, std::string const& value) {
    text_ += (text_.empty() ? "\"" : ", \"") + name + "\": " + value;
    return *this;
  }

  std::string text_;
};

/// Why a case can't run that takes so many bytes of Exec's memory on this rank; empty if it can. Collective; all ranks are
/// of one host, and each has a device of its own.
template <class Exec>
std::string why_too_large(distributed::Group const& world, std::int64_t bytes) {
  // The transport has memory of its own on devices: up to 1 GiB with NCCL.
  std::int64_t const reserve = runs_on_host<Exec> || world.size() == 1 ? 0 : std::int64_t(1) << 30;
  std::int64_t const needed = runs_on_host<Exec> ? world.sum(bytes) : world.max(bytes);
  std::int64_t const free =
      std::max<std::int64_t>(0, world.min(free_bytes<typename Exec::memory_space>()) - reserve);
  if (needed <= free) return "";
  return "it needs " + readable_bytes(needed) + (runs_on_host<Exec> ? "" : " on a rank") +
         ", and " + readable_bytes(free) + " are free";
}

}  // namespace coir::bench
