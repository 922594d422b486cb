#include <coir/core/errors.hpp>
#include <coir/io/pgm.hpp>

#include <gtest/gtest.h>
#include <io/scratch.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace io = coir::io;
using namespace coir::testing;
using namespace std::string_literals;

namespace {

using Samples = std::vector<std::uint16_t>;

io::GrayImage decode(std::string_view text) { return io::decode_pgm(bytes_of(text), "a.pgm"); }

std::string refusal(std::string_view text) {
  return message_of<coir::InputError>([&] { (void)decode(text); });
}

void expect_image(std::string_view text, int rows, int columns, int bits, Samples const& samples) {
  io::GrayImage const image = decode(text);
  EXPECT_EQ(image.rows, rows);
  EXPECT_EQ(image.columns, columns);
  EXPECT_EQ(image.bits, bits);
  EXPECT_EQ(image.samples, samples);
}

}  // namespace

TEST(Pgm, BinaryOfEightBits) {
  expect_image("P5\n3 2\n255\n\x00\x01\x7f\x80\xfe\xff"s, 2, 3, 8, {0, 1, 127, 128, 254, 255});
}

TEST(Pgm, BinaryOfSixteenBitsHasTheHighByteFirst) {
  expect_image("P5 2 1 65535\n\x01\x02\xff\xff", 1, 2, 16, {0x0102, 0xffff});
}

TEST(Pgm, Plain) {
  expect_image("P2\n2 2\n255\n0 1\n254 255\n", 2, 2, 8, {0, 1, 254, 255});
  expect_image("P2 1 2 65535 7 65535", 2, 1, 16, {7, 65535});
}

TEST(Pgm, CommentsAndAnyWhiteSpace) {
  expect_image("P5#comment\r3\t# 4 5\n\v2 #\n 255\fabcdef", 2, 3, 8, {97, 98, 99, 100, 101, 102});
  expect_image("P2#\n1 1#1\n#\n255#\n#1\n42 # the end", 1, 1, 8, {42});
}

TEST(Pgm, TheFirstSampleMayLookLikeWhiteSpaceOrAComment) {
  expect_image("P5 3 1 255\n\n#\n", 1, 3, 8, {10, 35, 10});
}

TEST(Pgm, SamplesAreThoseOfTheFileAndItsMaxvalIsWhite) {
  expect_image("P2 4 1 15 0 1 8 15", 1, 4, 8, {0, 1, 8, 15});
  expect_image("P2 2 1 1 0 1", 1, 2, 8, {0, 1});
  expect_image("P5 2 1 256\n\x00\x80\x01\x00"s, 1, 2, 16, {128, 256});
  expect_image("P2 2 1 4095 1 4095", 1, 2, 16, {1, 4095});
  EXPECT_EQ(decode("P2 1 1 255 7").maximum(), 255);
  for (int const maxval : {1, 15, 254, 256, 4095, 65534}) {
    std::string const text = std::to_string(maxval);
    io::GrayImage const image = decode("P2 2 1 " + text + " 0 " + text);
    EXPECT_EQ(image.maximum(), maxval);
    io::GrayImage const again = io::decode_pgm(io::encode_pgm(image), "a.pgm");
    EXPECT_EQ(again.maximum(), maxval);
    EXPECT_EQ(again.samples, image.samples);
  }
}

TEST(Pgm, IsWrittenAsBinary) {
  EXPECT_EQ(text_of(io::encode_pgm({2, 3, 8, {0, 1, 127, 128, 254, 255}})),
            "P5\n3 2\n255\n\x00\x01\x7f\x80\xfe\xff"s);
  EXPECT_EQ(text_of(io::encode_pgm({1, 2, 16, {0x0102, 0xffff}})),
            "P5\n2 1\n65535\n\x01\x02\xff\xff"s);
  EXPECT_THROW(io::encode_pgm({1, 2, 8, {1}}), coir::PreconditionError);
}

TEST(Pgm, GoesThroughAFileUnchanged) {
  ScratchFolder const folder;
  for (int bits : {8, 16})
    for (auto const& [rows, columns] : {std::pair(1, 1), {1, 7}, {7, 1}, {13, 31}, {64, 48}}) {
      io::GrayImage image{rows, columns, bits, {}};
      for (int n = 0; n < rows * columns; ++n)
        image.samples.push_back(static_cast<std::uint16_t>(n * 7919 % (image.maximum() + 1)));
      io::write_pgm(folder / "a.pgm", image);
      io::GrayImage const back = io::read_pgm(folder / "a.pgm");
      EXPECT_EQ(back.rows, rows);
      EXPECT_EQ(back.columns, columns);
      EXPECT_EQ(back.bits, bits);
      EXPECT_EQ(back.samples, image.samples);
    }
}

TEST(Pgm, AnotherMagicNumberIsAnError) {
  expect_parts(refusal(""), {"a.pgm", "starts with ''"});
  expect_parts(refusal("P"), {"starts with 'P'"});
  expect_parts(refusal("P6 1 1 255 abc"), {"starts with 'P6'", "P2 or P5", "convert it"});
  expect_parts(refusal("P55 1 255 a"), {"byte 2 is '5'", "white space"});
}

TEST(Pgm, ACutHeaderIsAnError) {
  expect_parts(refusal("P5"), {"ends at byte 2", "before the width", "cut short"});
  expect_parts(refusal("P5 3"), {"ends at byte 4", "before the height"});
  expect_parts(refusal("P5 3 2 # no end"), {"ends at byte 15", "before the maxval"});
  expect_parts(refusal("P5 3 2 255"), {"white space", "byte 10"});
}

TEST(Pgm, AnExtentOfZeroIsAnError) {
  expect_parts(refusal("P5 0 2 255\n"), {"the width at byte 3 is 0", "1 to 2147483647"});
  expect_parts(refusal("P2 2 00 255\n"), {"the height at byte 5 is 00", "1 to 2147483647"});
}

TEST(Pgm, AbsurdExtentsAreAnErrorAndNoMemory) {
  expect_parts(refusal("P5 99999999 99999999 255\nabc"),
               {"99999999 x 99999999", "9999999800000001 bytes", "and 3 are there"});
  expect_parts(refusal("P2 2147483647 2147483647 255 1"), {"9223372028264841218 bytes"});
  expect_parts(refusal("P5 2147483648 1 255\na"), {"the width at byte 3 is 2147483648"});
  expect_parts(refusal("P5 1 99999999999999999999999999 255\na"), {"the height at byte 5"});
  EXPECT_LT(refusal("P5 " + std::string(5000, '9') + " 1 255\na").size(), 250U);
}

TEST(Pgm, AMaxvalOutOfRangeIsAnError) {
  expect_parts(refusal("P5 1 1 0\na"), {"the maxval at byte 7 is 0", "1 to 65535"});
  expect_parts(refusal("P5 1 1 65536\nab"), {"the maxval at byte 7 is 65536", "1 to 65535"});
}

TEST(Pgm, AHeaderWithoutNumbersIsAnError) {
  expect_parts(refusal("P5 x 1 255\na"), {"byte 3 is 'x' in the width", "a number from 1"});
  expect_parts(refusal("P5 -1 1 255\na"), {"byte 3 is '-' in the width"});
  expect_parts(refusal("P5 1.5 1 255\na"), {"byte 4 is '.' in the width"});
  expect_parts(refusal("P5 1 \x01 255\na"), {"byte 5 is '\\x01' in the height"});
}

TEST(Pgm, ACutRasterIsAnError) {
  expect_parts(refusal("P5 3 2 255\nabcde"),
               {"3 x 2 samples of 1 byte", "6 bytes from byte 11", "and 5 are there", "cut short"});
  expect_parts(refusal("P5 1 1 256\na"), {"2 bytes", "and 1 are there"});
  expect_parts(refusal("P2 3 1 255 100 200"), {"ends at byte 18", "row 0, column 2"});
}

TEST(Pgm, BytesBehindTheRasterAreAnError) {
  expect_parts(refusal("P5 1 1 255\nab"), {"1 bytes follow", "several pictures"});
  expect_parts(refusal("P2 1 1 255 7 8"), {"byte 13 is '8'", "behind the last sample"});
}

TEST(Pgm, SamplesAboveMaxvalAreAnError) {
  expect_parts(refusal("P5 2 2 15\n\x0f\x01\x0f\x10"), {"row 1, column 1 is 16", "maxval 15"});
  expect_parts(refusal("P2 2 1 15 15 16"), {"row 0, column 1 at byte 13 is 16", "0 to 15"});
  expect_parts(refusal("P2 2 1 15 15 x"), {"byte 13 is 'x' in the sample in row 0, column 1"});
}
