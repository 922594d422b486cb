#include <coir/core/errors.hpp>
#include <coir/io/format.hpp>

#include <gtest/gtest.h>
#include <io/scratch.hpp>

namespace io = coir::io;
using namespace coir::testing;
using io::Format;

TEST(Format, IsToldByTheFirstBytes) {
  EXPECT_EQ(io::format_of_content(bytes_of("\x89PNG\r\n\x1a\n")), Format::png);
  EXPECT_EQ(io::format_of_content(bytes_of("P2\n")), Format::pgm);
  EXPECT_EQ(io::format_of_content(bytes_of("P5\n")), Format::pgm);
  EXPECT_EQ(io::format_of_content(bytes_of("\x93NUMPY")), Format::npy);
  EXPECT_EQ(io::format_of_content(bytes_of("P6\n")), Format::unknown);
  EXPECT_EQ(io::format_of_content(bytes_of("\x89PNG\n\x1a\n")), Format::unknown);
  EXPECT_EQ(io::format_of_content(bytes_of("")), Format::unknown);
}

TEST(Format, OfAFileIsItsContentNotItsName) {
  ScratchFolder const folder;
  put(folder / "a.png", "P5 1 1 255 x");
  EXPECT_EQ(io::format_of_content(folder / "a.png"), Format::pgm);
  EXPECT_THROW(io::format_of_content(folder / "b.png"), coir::InputError);
  EXPECT_THROW(io::format_of_content(folder.path()), coir::InputError);
}

TEST(Format, IsAskedForByTheNamesEnding) {
  EXPECT_EQ(io::format_of_name("a/b.png"), Format::png);
  EXPECT_EQ(io::format_of_name("b.c.PGM"), Format::pgm);
  EXPECT_EQ(io::format_of_name("b.Npy"), Format::npy);
  EXPECT_EQ(io::format_of_name("b.jpg"), Format::unknown);
  EXPECT_EQ(io::format_of_name("png"), Format::unknown);
  EXPECT_EQ(io::format_of_name(".png"), Format::unknown);
  EXPECT_EQ(io::format_of_name("a.png/b"), Format::unknown);
}
