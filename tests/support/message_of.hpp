#pragma once

#include <coir/core/errors.hpp>

#include <gtest/gtest.h>

#include <string>

namespace coir::testing {

/// What the exception that `action` must throw says; it must be one line.
template <class Exception = coir::PreconditionError, class Action>
std::string message_of(Action const& action) {
  try {
    action();
  } catch (Exception const& error) {
    std::string const text = error.what();
    EXPECT_EQ(text.find_first_of("\r\n"), std::string::npos) << text;
    return text;
  }
  ADD_FAILURE() << "no exception";
  return "";
}

}  // namespace coir::testing
