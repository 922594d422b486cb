#pragma once

/// What the tests of coir-nbody share: a folder to run it in, and what it leaves there.

#include "app_fixture.hpp"

#include <sstream>

namespace coir::testing {

/// Eight particles along a side, in a blink.
inline std::string const small = "--particles 8 --steps 4 --pixels 16 ";

/// coir-nbody in a folder of its own.
class Nbody : public AppTest {
 protected:
  void expect_same_files(std::string const& one, std::string const& other) const {
    EXPECT_EQ(files(one), files(other));
    for (auto const& name : files(one))
      EXPECT_TRUE(read_text(folder / one / name) == read_text(folder / other / name)) << name;
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
};

}  // namespace coir::testing
