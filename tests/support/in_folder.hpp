#pragma once

#include <support/folder.hpp>

#include <gtest/gtest.h>

namespace coir::testing {

/// Tests that have a folder each.
class InFolder : public ::testing::Test {
 protected:
  TemporaryFolder const folder;
};

}  // namespace coir::testing
