#pragma once

/// An application that a launcher starts as several ranks.

#include "app_fixture.hpp"

#include <support/run_on_ranks.hpp>

#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

namespace coir::testing {

/// COIR_APP on ranks, in a folder of its own.
///
/// \tparam Base  AppTest, or a class of it
template <class Base>
class OnRanks : public Base {
 protected:
  /// \param programs  what mpirun starts: a number of copies, a program, its arguments
  Outcome launch(std::string const& programs) const {
    return run_command("cd '" + this->folder.path().string() + "' && " COIR_RUN_ON_RANKS +
                       programs);
  }
  Outcome on(int ranks, std::string const& arguments) const {
    return launch(std::to_string(ranks) + " " COIR_APP " " + arguments);
  }
  /// A run that must succeed and write nothing on stdout.
  void run_on(int ranks, std::string const& arguments) const {
    auto const outcome = on(ranks, arguments);
    EXPECT_EQ(outcome.code, 0) << arguments << "\n" << outcome.errors;
    EXPECT_EQ(outcome.output, "") << arguments;
  }

  /// The lines that aren't the launcher's.
  static std::string lines_of(Outcome const& outcome) {
    std::string const name = std::filesystem::path(COIR_APP).filename().string() + ": ";
    std::istringstream lines(outcome.errors);
    std::string own;
    for (std::string line; std::getline(lines, line);)
      if (line.starts_with(name)) own += line + '\n';
    return own;
  }
  void expect_error(Outcome const& outcome, int code, std::vector<std::string> const& parts) const {
    EXPECT_EQ(outcome.code, code) << outcome.errors;
    std::string const line = lines_of(outcome);
    EXPECT_EQ(lines_in(line), 1) << outcome.errors;
    for (auto const& part : parts) EXPECT_TRUE(contains(line, part)) << line << "lacks: " << part;
  }
};

}  // namespace coir::testing
