#pragma once

/// Suites of typed tests over every execution space with float and double, in a line each.

#include <support/spaces.hpp>

/// The suite `Name` of typed tests.
#define COIR_TYPED_SUITE(Name)            \
  template <class>                        \
  class Name : public ::testing::Test {}; \
  TYPED_TEST_SUITE(Name, coir::testing::Cases, coir::testing::CaseName)

/// The same in double alone.
#define COIR_DOUBLE_SUITE(Name)           \
  template <class>                        \
  class Name : public ::testing::Test {}; \
  TYPED_TEST_SUITE(Name, coir::testing::DoubleCases, coir::testing::CaseName)

/// In a typed test: the types of its case.
#define TYPES_OF_CASE                                     \
  using T [[maybe_unused]] = typename TypeParam::Real;    \
  using Exec [[maybe_unused]] = typename TypeParam::Exec; \
  using Space [[maybe_unused]] = typename Exec::memory_space
