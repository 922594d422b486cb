#include <coir/core/errors.hpp>
#include <coir/io/checksum.hpp>

#include <gtest/gtest.h>
#include <support/message_of.hpp>

#include "scratch.hpp"

#include <cstdint>
#include <filesystem>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

using coir::InputError;
using namespace coir::testing;
using namespace coir::io;

namespace {

std::uint32_t checksum_of(std::string_view text) {
  Checksum sum;
  sum.add(std::as_bytes(std::span(text)));
  return sum.value();
}

std::string some_bytes(std::size_t length) {
  std::mt19937 random(7);
  std::string bytes(length, '\0');
  for (char& byte : bytes) byte = static_cast<char>(random());
  return bytes;
}

std::string refusal(std::filesystem::path const& path) {
  return message_of<InputError>([&] { verify_checksum(path); });
}

}  // namespace

TEST(Checksum, IsThatOfZlib) {
  EXPECT_EQ(checksum_of("123456789"), 0xCBF43926U);  // the catalogue's check value
  EXPECT_EQ(checksum_of(""), 0U);
}

TEST(Checksum, ComesPartByPart) {
  std::string const bytes = some_bytes(100);
  for (std::size_t cut = 0; cut <= bytes.size(); ++cut) {
    Checksum sum;
    sum.add(std::as_bytes(std::span(bytes.data(), cut)));
    sum.add(std::as_bytes(std::span(bytes.data() + cut, bytes.size() - cut)));
    ASSERT_EQ(sum.value(), checksum_of(bytes)) << cut;
  }
}

TEST(Checksum, AFileKeepsItsBytesAndGetsAnEnd) {
  TemporaryFolder const folder;
  for (std::size_t const length : {1, 7, 8, 4096, 3'000'001}) {
    std::string const bytes = some_bytes(length);
    put(folder / "a", bytes);
    ASSERT_EQ(append_checksum(folder / "a"), 0);
    std::string const whole = read_text(folder / "a");
    ASSERT_EQ(whole.size(), length + checksum_length);
    EXPECT_TRUE(whole.starts_with(bytes));
    EXPECT_EQ(whole.substr(length, 16), "coir checksum 2\n");
    EXPECT_TRUE(has_checksum(folder / "a"));
    verify_checksum(folder / "a");
    // Of all but the sum itself.
    EXPECT_EQ(stored_checksum(folder / "a"), checksum_of(whole.substr(0, whole.size() - 8)));
  }
  put(folder / "a", "coir checksum 2\n");
  EXPECT_FALSE(has_checksum(folder / "a"));
  EXPECT_THROW(stored_checksum(folder / "a"), coir::InputError);
}

TEST(Checksum, EveryBitOfAFileCounts) {
  TemporaryFolder const folder;
  put(folder / "a", some_bytes(50));
  ASSERT_EQ(append_checksum(folder / "a"), 0);
  std::string const whole = read_text(folder / "a");
  for (std::size_t bit = 0; bit < 8 * whole.size(); ++bit) {
    std::string damaged = whole;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << (bit % 8)));
    put(folder / "a", damaged);
    EXPECT_TRUE(refusal(folder / "a").starts_with((folder / "a").string() + " ")) << bit;
  }
}

TEST(Checksum, FilesThatAreCutOffOrLongerAreRefused) {
  TemporaryFolder const folder;
  put(folder / "a", some_bytes(50));
  ASSERT_EQ(append_checksum(folder / "a"), 0);
  std::string const whole = read_text(folder / "a");
  for (std::size_t length = 1; length < whole.size(); ++length) {
    put(folder / "a", whole.substr(0, length));
    EXPECT_NE(refusal(folder / "a").find("has no checksum at its end"), std::string::npos);
    // From behind, so that the end is right.
    put(folder / "a", whole.substr(length));
    if (whole.size() - length >= checksum_length) {
      EXPECT_NE(refusal(folder / "a").find("should have 50 bytes"), std::string::npos);
    }
  }
  put(folder / "a", whole + whole);
  EXPECT_NE(refusal(folder / "a").find("should have 50 bytes before its checksum, and has 132"),
            std::string::npos);
  EXPECT_NE(refusal(folder / "none").find("no such file"), std::string::npos);
}

TEST(Checksum, BothCanBeStopped) {
  TemporaryFolder const folder;
  put(folder / "a", some_bytes(50));
  ASSERT_EQ(append_checksum(folder / "a"), 0);
  auto const stop = [] { throw std::runtime_error("stop"); };
  EXPECT_THROW(verify_checksum(folder / "a", stop), std::runtime_error);
  EXPECT_THROW((void)append_checksum(folder / "a", stop), std::runtime_error);
}

TEST(Checksum, WhatCantBeWrittenIsAnErrno) {
  TemporaryFolder const folder;
  EXPECT_EQ(append_checksum(folder / "none"), ENOENT);
}
