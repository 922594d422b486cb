#pragma once

/// An application that is run as a user runs it, in a folder of its own.

#include <support/command.hpp>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace coir::testing {

/// The keys of an object in their order, with blanks between them.
inline std::string keys_of(nlohmann::ordered_json const& json) {
  std::string keys;
  for (auto const& item : json.items()) keys += (keys.empty() ? "" : " ") + item.key();
  return keys;
}

/// The application COIR_APP in a folder of its own.
class AppTest : public ::testing::Test {
 protected:
  /// \param before  shell commands to go ahead, each ended by &&, or variables of the environment
  Outcome run(std::string const& arguments, std::string const& before = "") const {
    return run_command("cd '" + folder.path().string() + "' && " + before + " '" + COIR_APP + "' " +
                       arguments);
  }

  /// A run that must succeed and say nothing.
  void run_quietly(std::string const& arguments, std::string const& before = "") const {
    auto const outcome = run(arguments + " --quiet", before);
    EXPECT_EQ(outcome.code, 0) << arguments;
    EXPECT_EQ(outcome.output, "") << arguments;
    EXPECT_EQ(outcome.errors, "") << arguments;
  }

  /// A run that must fail with `code` and one line on stderr with all of `parts`, and leave no
  /// file.
  void expect_failure(int code, std::string const& arguments, std::vector<std::string> const& parts,
                      std::string const& before = "") const {
    SCOPED_TRACE(arguments);
    auto const earlier = files();
    auto const outcome =
        run(arguments + (contains(arguments, "--quiet") ? "" : " --quiet"), before);
    EXPECT_EQ(outcome.code, code);
    EXPECT_EQ(outcome.output, "");
    expect_error_line(outcome.errors);
    for (auto const& part : parts)
      EXPECT_TRUE(contains(outcome.errors, part)) << outcome.errors << "lacks: " << part;
    EXPECT_EQ(files(), earlier);
  }

  /// A command line, and words of the line that refuses it.
  struct Refusal {
    std::string arguments;
    std::vector<std::string> parts;
  };
  void expect_failures(int code, std::vector<Refusal> const& refusals) const {
    for (auto const& [arguments, parts] : refusals) expect_failure(code, arguments, parts);
  }

  static void expect_error_line(std::string const& errors) {
    std::string const name = std::filesystem::path(COIR_APP).filename().string();
    EXPECT_TRUE(errors.starts_with(name + ": error: ")) << errors;
    EXPECT_EQ(lines_in(errors), 1) << errors;
  }

  /// Sends a signal once the application is ready, after which it must end soon.
  ///
  /// \param is_ready  called with what it has written to stderr so far
  Outcome run_until(std::function<bool(std::string const&)> const& is_ready,
                    std::string const& arguments, int signal = SIGINT) const {
    using Clock = std::chrono::steady_clock;
    TemporaryFolder const said;
    std::string const errors = (said / "errors").string();
    std::string const command = "cd '" + folder.path().string() + "' && exec '" + COIR_APP + "' " +
                                arguments + " 2>" + errors + " >/dev/null </dev/null";
    pid_t const child = fork();
    if (child == 0) {
      std::signal(signal, SIG_DFL);  // a job in the background has it ignored
      execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
      _exit(127);
    }
    auto const begin = Clock::now();
    while (!is_ready(read_text(errors)) && Clock::now() - begin < std::chrono::minutes(1))
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    auto const sent = Clock::now();
    kill(child, signal);
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_LT(Clock::now() - sent, std::chrono::seconds(3));  // one on a machine that isn't busy
    return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), "",
            read_text(errors)};
  }

  /// All files in a folder and those below, by their path from it.
  std::set<std::string> files(std::string const& below = ".") const {
    std::set<std::string> names;
    for (auto const& entry : std::filesystem::recursive_directory_iterator(folder / below))
      names.insert(std::filesystem::relative(entry.path(), folder / below).string());
    return names;
  }

  void write(std::string const& name, std::string_view text) const {
    std::ofstream(folder / name, std::ios::binary) << text;
  }

  nlohmann::ordered_json report(std::string const& name = "r.json") const {
    return nlohmann::ordered_json::parse(read_text(folder / name));
  }

  TemporaryFolder folder;
};

}  // namespace coir::testing
