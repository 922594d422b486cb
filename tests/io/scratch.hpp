#pragma once

/// What the tests of file formats share: bytes, and the text of errors.

#include <support/folder.hpp>
#include <support/message_of.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace coir::testing {

inline std::vector<std::byte> bytes_of(std::string_view text) {
  auto const bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

inline std::string text_of(std::span<std::byte const> bytes) {
  return {reinterpret_cast<char const*>(bytes.data()), bytes.size()};
}

inline void put(std::filesystem::path const& path, std::string_view text) {
  std::ofstream(path, std::ios::binary) << text;
}

/// Expects that a message holds every one of these parts.
inline void expect_parts(std::string const& text, std::initializer_list<std::string_view> parts) {
  for (std::string_view const part : parts)
    EXPECT_NE(text.find(part), std::string::npos) << "'" << part << "' is not in: " << text;
}

}  // namespace coir::testing
