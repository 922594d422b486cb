#pragma once

/// What programs share that mpirun starts: their options, how ranks time something together, and
/// rows that people and programs read.

#include <device/leave_device_out.hpp>
#include "median.hpp"

#include <coir/core/concepts.hpp>
#include <coir/core/errors.hpp>
#include <coir/core/kokkos.hpp>
#include <coir/core/machine.hpp>
#include <coir/core/memory.hpp>
#include <coir/distributed/session.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <map>
#include <sstream>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

namespace coir::bench {

/// Options of the command line: `--name`, or `--name word` for those that have a word by default.
class Options {
 public:
  /// \param words  by name, the empty word for options that are on or off
  /// \throws PreconditionError naming an option that isn't among them
  Options(int argc, char** argv, std::map<std::string, std::string> const& words) : words_(words) {
    for (int n = 1; n < argc; ++n) {
      auto const found = words.find(argv[n]);
      if (found == words.end()) {
        std::string names;
        for (auto const& [name, word] : words) names += ' ' + name;
        throw PreconditionError("options are" + names + ", not " + argv[n]);
      }
      bool const takes_word = !found->second.empty();
      expects(!takes_word || n + 1 < argc, found->first + " takes a word");
      words_[found->first] = takes_word ? argv[++n] : "on";
    }
  }

  bool is_on(char const* name) const { return !words_.at(name).empty(); }
  std::string const& word(char const* name) const { return words_.at(name); }

  std::vector<std::string> list(char const* name) const {
    std::istringstream stream(word(name));
    std::vector<std::string> list;
    for (std::string part; std::getline(stream, part, ',');) list.push_back(part);
    return list;
  }

  /// \throws PreconditionError if one isn't between `least` and `most`
  std::vector<std::int64_t> numbers(char const* name, std::int64_t least, std::int64_t most) const {
    std::vector<std::int64_t> numbers;
    for (auto const& part : list(name)) {
      numbers.push_back(std::atoll(part.c_str()));
      expects(
          numbers.back() >= least && numbers.back() <= most,
          std::string(name) + " must be " + std::to_string(least) + " to " + std::to_string(most),
          part);
    }
    return numbers;
  }
  std::int64_t number(char const* name, std::int64_t least, std::int64_t most) const {
    auto const all = numbers(name, least, most);
    expects(all.size() == 1, std::string(name) + " takes one number", word(name));
    return all.front();
  }

 private:
  std::map<std::string, std::string> words_;
};

/// What a row of the table says: a name, and numbers or words.
class Row {
 public:
  explicit Row(std::string const& what) { add("what", what); }

  /// \param text  without quotation marks and backslashes
  Row& add(std::string const& name, std::string const& text) {
    return add(name, text, '"' + text + '"');
  }
  Row& add(std::string const& name, std::int64_t number) {
    return add(name, std::to_string(number), std::to_string(number));
  }
  Row& add(std::string const& name, double number) {
    char exact[32], rounded[32];
    std::snprintf(exact, sizeof exact, "%.9g", number);
    std::snprintf(rounded, sizeof rounded, "%.4g", number);
    return add(name, rounded, exact);
  }

  /// On a line of its own: an object of JSON, or for people names and numbers.
  void print(bool as_json) const {
    std::cout << (as_json ? "{" + json_ + "}" : text_) << std::endl;
  }

 private:
  Row& add(std::string const& name, std::string const& text, std::string const& json) {
    json_ += (json_.empty() ? "\"" : ", \"") + name + "\": " + json;
    text_ += (text_.empty() ? "" : "  ") + (name == "what" ? "" : name + " ") + text;
    return *this;
  }

  std::string json_, text_;
};

/// Why a case can't run that takes so many bytes of Exec's memory on this rank; empty if it can.
/// Collective; all ranks are of one host, and each has a device of its own.
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

/// Whether a case fits that takes so many bytes, as why_too_large(); if not, its row says why.
template <class Exec>
bool fits(distributed::Group const& world, std::int64_t bytes, Row& row) {
  auto const why = why_too_large<Exec>(world, bytes);
  if (!why.empty()) row.add("skipped", why);
  return why.empty();
}

/// Seconds of rounds that all ranks begin together, each those of the slowest rank: at least 5, and
/// at most 100 until they take half a second together.
template <class Call>
std::vector<double> seconds_of_rounds(distributed::Group const& world, Call const& call) {
  call();
  std::vector<double> seconds;
  double total = 0;
  while (seconds.size() < 5 || (total < 0.5 && seconds.size() < 100)) {
    world.barrier();
    auto const start = std::chrono::steady_clock::now();
    call();
    std::chrono::duration<double> const taken = std::chrono::steady_clock::now() - start;
    seconds.push_back(world.max(taken.count()));
    total += seconds.back();
  }
  return seconds;
}

/// Seconds of one of `parts` equal parts of a call, the median of seconds_of_rounds(), which the
/// row says.
template <class Call>
double add_seconds(Row& row, distributed::Group const& world, std::int64_t parts,
                   Call const& call) {
  auto const rounds = seconds_of_rounds(world, call);
  double const seconds = median(rounds) / static_cast<double>(parts);
  row.add("seconds", seconds).add("rounds", static_cast<std::int64_t>(rounds.size()));
  return seconds;
}

/// What main() returns. Calls print(exec, options, world) with an instance of the device's
/// execution space, or of the host's where there is no device or --host says so, after a row on
/// what it runs on.
template <class Print>
int run_on_ranks(int argc, char** argv, std::map<std::string, std::string> words,
                 Print const& print) {
  // Outside of the block that throws: a session that ends by an exception ends all ranks, before
  // anybody can say why.
  distributed::Session const session(argc, argv);
  auto const world = session.world();
  try {
    words.insert({{"--host", ""}, {"--json", ""}});
    Options const options(argc, argv, words);
    if (!why_no_device().empty()) apps::leave_device_out();
    setenv("KOKKOS_DISABLE_WARNINGS", "true", /*overwrite=*/0);
    Kokkos::ScopeGuard const kokkos(argc, argv);
    auto const print_on = [&](auto const& exec) {
      auto const transport = world.template transport<std::decay_t<decltype(exec)>>();
      Row row("machine");
      row.add("ranks", std::int64_t(world.size())).add("device", device_name(exec));
      row.add("threads", std::int64_t(host_threads(exec)));
      row.add("transport", std::string(name_of(transport)));
      if (world.is_first()) row.print(options.is_on("--json"));
      print(exec, options, world);
    };
    if (options.is_on("--host") || device_is_left_out())
      print_on(Kokkos::DefaultHostExecutionSpace());
    else
      print_on(Kokkos::DefaultExecutionSpace());
    return 0;
  } catch (std::exception const& error) {
    // What is wrong on all ranks the first one tells, and ends the others.
    if (!world.is_first()) std::this_thread::sleep_for(std::chrono::seconds(1));
    std::cerr << argv[0] << ": error: " << error.what() << '\n';
  }
  distributed::abort_all(1);
}

}  // namespace coir::bench
