#pragma once

#include <coir/distributed/group.hpp>

#include <support/spaces.hpp>

#include <type_traits>

namespace coir::testing {

/// All ranks of a test that coir_add_ranks_test added.
distributed::Group world();

/// More than four ranks, which take long on two cores, look at double alone: floats go the same
/// way.
template <class Case>
class OnRanks : public ::testing::Test {
 protected:
  void SetUp() override {
    if (std::is_same_v<typename Case::Real, float> && world().size() > 4)
      GTEST_SKIP() << "in double alone on so many ranks";
  }
};

}  // namespace coir::testing

/// The suite `Name` of typed tests that ranks run.
#define COIR_RANKS_SUITE(Name)                         \
  template <class Case>                                \
  class Name : public coir::testing::OnRanks<Case> {}; \
  TYPED_TEST_SUITE(Name, coir::testing::Cases, coir::testing::CaseName)
