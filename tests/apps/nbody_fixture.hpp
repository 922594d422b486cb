#pragma once

/// \file
/// What the tests of coir-nbody share: a folder to run it in, and what it leaves there.

#include <support/command.hpp>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace coir::testing {

inline bool contains(std::string const& text, std::string const& part) {
  return text.find(part) != std::string::npos;
}

/// Eight particles along a side, in a blink.
inline std::string const small = "--particles 8 --steps 4 --pixels 16 ";

/// coir-nbody in a folder of its own.
class Nbody : public ::testing::Test {
 protected:
  /// \param before  shell commands to go ahead, each ended by &&
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

  /// All files in a folder and those below, by their path from it.
  std::set<std::string> files(std::string const& below = ".") const {
    std::set<std::string> names;
    for (auto const& entry : std::filesystem::recursive_directory_iterator(folder / below))
      names.insert(std::filesystem::relative(entry.path(), folder / below).string());
    return names;
  }

  void expect_same_files(std::string const& one, std::string const& other) const {
    EXPECT_EQ(files(one), files(other));
    for (auto const& name : files(one))
      EXPECT_TRUE(read_text(folder / one / name) == read_text(folder / other / name)) << name;
  }

  /// A run that must fail with `code` and one line on stderr with all of `parts`, and leave no file.
  void expect_failure(int code, std::string const& arguments, std::vector<std::string> const& parts,
                      std::string const& before = "") const {
    SCOPED_TRACE(arguments);
    auto const earlier = files();
    auto const outcome = run(arguments + " --quiet", before);
    EXPECT_EQ(outcome.code, code);
    EXPECT_EQ(outcome.output, "");
    EXPECT_TRUE(outcome.errors.starts_with("coir-nbody: error: ")) << outcome.errors;
    EXPECT_EQ(std::count(outcome.errors.begin(), outcome.errors.end(), '\n'), 1) << outcome.errors;
    for (auto const& part : parts)
      EXPECT_TRUE(contains(outcome.errors, part)) << outcome.errors << "lacks: " << part;
    EXPECT_EQ(files(), earlier);
  }

  void write(std::string const& name, std::string const& text) const {
    std::ofstream(folder / name, std::ios::binary) << text;
  }

  nlohmann::ordered_json report(std::string const& name) const {
    return nlohmann::ordered_json::parse(read_text(folder / name));
  }

  /// The rows of a spectrum's file.
  std::vector<std::vector<double>> table(std::string const& name) const {
    std::istringstream lines(read_text(folder / name));
    std::vector<std::vector<double>> rows;
    for (std::string line; std::getline(lines, line);) {
      if (line.starts_with("#")) continue;
      std::istringstream words(line);
      rows.emplace_back();
      for (std::string word; words >> word;) rows.back().push_back(std::stod(word));
    }
    return rows;
  }

  TemporaryFolder folder;
};

}  // namespace coir::testing
