#include <coir/core/errors.hpp>
#include <coir/io/format.hpp>

#include <gtest/gtest.h>
#include <io/scratch.hpp>

namespace io = coir::io;
using namespace coir::testing;
using io::Format;

TEST(Format, OfAFileIsItsContentNotItsName) {
  TemporaryFolder const folder;
  auto const format_of = [&](std::string_view text) {
    put(folder / "a.png", text);
    return io::format_of_content(folder / "a.png");
  };
  EXPECT_EQ(format_of("\x89PNG\r\n\x1a\n"), Format::png);
  EXPECT_EQ(format_of("\x93NUMPY"), Format::npy);
  EXPECT_EQ(format_of("P6\n"), Format::unknown);
  EXPECT_EQ(format_of("\x89PNG\n\x1a\n"), Format::unknown);
  EXPECT_THROW(io::format_of_content(folder / "b.png"), coir::InputError);
  EXPECT_THROW(io::format_of_content(folder.path()), coir::InputError);
}

TEST(Format, IsAskedForByTheNamesEnding) {
  EXPECT_EQ(io::format_of_name("a/b.c.PNG"), Format::png);
  EXPECT_EQ(io::format_of_name("b.Npy"), Format::npy);
  EXPECT_EQ(io::format_of_name("b.jpg"), Format::unknown);
  EXPECT_EQ(io::format_of_name("png"), Format::unknown);
  EXPECT_EQ(io::format_of_name(".png"), Format::unknown);
  EXPECT_EQ(io::format_of_name("a.png/b"), Format::unknown);
}
