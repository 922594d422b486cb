#include <coir/core/errors.hpp>
#include <coir/core/resident.hpp>
#include <coir/io/png.hpp>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>
#include <io/scratch.hpp>
#include <support/sanitizers.hpp>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include <png.h>

namespace io = coir::io;
using namespace coir::testing;
using namespace std::string_literals;

namespace {

using Samples = std::vector<std::uint16_t>;
using Rows = std::vector<std::vector<int>>;  // as stored: packed bytes of each row

// What a test asks libpng to write.
struct Kind {
  int columns;
  int depth;
  int colour;
  int interlace = PNG_INTERLACE_NONE;
};

std::string make_png(Kind const& kind, Rows const& rows) {
  std::string file;
  png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, nullptr, nullptr, nullptr);
  png_infop info = png_create_info_struct(png);
  png_set_write_fn(
      png, &file,
      [](png_structp writer, png_bytep data, std::size_t length) {
        static_cast<std::string*>(png_get_io_ptr(writer))
            ->append(reinterpret_cast<char const*>(data), length);
      },
      nullptr);
  png_set_IHDR(png, info, kind.columns, rows.size(), kind.depth, kind.colour, kind.interlace,
               PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
  if (kind.colour == PNG_COLOR_TYPE_PALETTE) {
    png_color const colours[] = {{0, 0, 0}, {255, 0, 0}, {0, 255, 0}, {0, 0, 255}};
    png_set_PLTE(png, info, colours, 4);
  }
  png_write_info(png, info);
  std::vector<std::vector<png_byte>> stored;
  for (auto const& row : rows) stored.emplace_back(row.begin(), row.end());
  std::vector<png_bytep> pointers;
  for (auto& row : stored) pointers.push_back(row.data());
  png_write_image(png, pointers.data());
  png_write_end(png, nullptr);
  png_destroy_write_struct(&png, &info);
  return file;
}

io::GrayImage decode(std::string_view file) { return io::decode_png(bytes_of(file), "a.png"); }

std::string refusal(std::string_view file) {
  return message_of<coir::InputError>([&] { (void)decode(file); });
}

// Puts the right checksum behind a header that a test has changed.
std::string with_checksum(std::string file) {
  std::uint32_t sum = 0xffffffff;
  for (int n = 12; n < 29; ++n) {
    sum ^= static_cast<unsigned char>(file[n]);
    for (int bit = 0; bit < 8; ++bit) sum = sum >> 1 ^ (sum & 1 ? 0xedb88320U : 0);
  }
  for (int n = 0; n < 4; ++n) file[29 + n] = static_cast<char>(~sum >> (24 - 8 * n));
  return file;
}

std::string const small = make_png({3, 8, PNG_COLOR_TYPE_GRAY}, {{0, 1, 2}, {253, 254, 255}});

std::string with_byte(int at, int value) {
  std::string file = small;
  file[at] = static_cast<char>(value);
  return with_checksum(file);
}

}  // namespace

TEST(Png, GrayOfAllDepths) {
  EXPECT_EQ(decode(make_png({9, 1, PNG_COLOR_TYPE_GRAY}, {{0xa5, 0x80}})).samples,
            (Samples{255, 0, 255, 0, 0, 255, 0, 255, 255}));
  EXPECT_EQ(decode(make_png({5, 2, PNG_COLOR_TYPE_GRAY}, {{0x1b, 0x40}})).samples,
            (Samples{0, 85, 170, 255, 85}));
  EXPECT_EQ(decode(make_png({3, 4, PNG_COLOR_TYPE_GRAY}, {{0x0f, 0x80}})).samples,
            (Samples{0, 255, 136}));
  io::GrayImage const eight = decode(small);
  EXPECT_EQ(eight.rows, 2);
  EXPECT_EQ(eight.columns, 3);
  EXPECT_EQ(eight.bits, 8);
  EXPECT_EQ(eight.samples, (Samples{0, 1, 2, 253, 254, 255}));
  io::GrayImage const sixteen = decode(make_png({2, 16, PNG_COLOR_TYPE_GRAY}, {{1, 2, 255, 255}}));
  EXPECT_EQ(sixteen.bits, 16);
  EXPECT_EQ(sixteen.samples, (Samples{0x0102, 0xffff}));
}

TEST(Png, ColoursBecomeLuma) {
  Rows const colours = {{255, 0, 0, 0, 255, 0, 0, 0, 255, 77, 77, 77, 255, 255, 255, 1, 2, 3}};
  EXPECT_EQ(decode(make_png({6, 8, PNG_COLOR_TYPE_RGB}, colours)).samples,
            (Samples{76, 150, 29, 77, 255, 2}));
  Rows const deep = {{255, 255, 0, 0, 0, 0, 1, 0, 1, 0, 1, 0}};
  io::GrayImage const sixteen = decode(make_png({2, 16, PNG_COLOR_TYPE_RGB}, deep));
  EXPECT_EQ(sixteen.bits, 16);
  EXPECT_EQ(sixteen.samples, (Samples{19595, 256}));
}

TEST(Png, TellsWhetherThereWereColours) {
  EXPECT_FALSE(decode(small).had_colours);
  EXPECT_FALSE(decode(make_png({2, 8, PNG_COLOR_TYPE_RGB}, {{9, 9, 9, 0, 0, 0}})).had_colours);
  EXPECT_TRUE(decode(make_png({2, 8, PNG_COLOR_TYPE_RGB}, {{9, 9, 9, 0, 0, 1}})).had_colours);
  EXPECT_TRUE(
      decode(make_png({1, 16, PNG_COLOR_TYPE_RGB_ALPHA}, {{1, 0, 1, 0, 1, 1, 0, 0}})).had_colours);
  EXPECT_FALSE(decode(make_png({4, 2, PNG_COLOR_TYPE_PALETTE}, {{0}})).had_colours);
  EXPECT_TRUE(decode(make_png({4, 2, PNG_COLOR_TYPE_PALETTE}, {{0x1b}})).had_colours);
}

TEST(Png, TransparencyIsDropped) {
  EXPECT_EQ(decode(make_png({2, 8, PNG_COLOR_TYPE_GRAY_ALPHA}, {{10, 0, 20, 128}})).samples,
            (Samples{10, 20}));
  EXPECT_EQ(decode(make_png({1, 16, PNG_COLOR_TYPE_GRAY_ALPHA}, {{1, 2, 0, 0}})).samples,
            (Samples{0x0102}));
  EXPECT_EQ(
      decode(make_png({2, 8, PNG_COLOR_TYPE_RGB_ALPHA}, {{9, 9, 9, 0, 0, 255, 0, 1}})).samples,
      (Samples{9, 150}));
  EXPECT_EQ(decode(make_png({1, 16, PNG_COLOR_TYPE_RGB_ALPHA}, {{1, 0, 1, 0, 1, 0, 0, 0}})).samples,
            (Samples{256}));
}

TEST(Png, PalettesBecomeLuma) {
  EXPECT_EQ(decode(make_png({4, 2, PNG_COLOR_TYPE_PALETTE}, {{0x1b}})).samples,
            (Samples{0, 76, 150, 29}));
  EXPECT_EQ(decode(make_png({3, 8, PNG_COLOR_TYPE_PALETTE}, {{3, 2, 1}})).samples,
            (Samples{29, 150, 76}));
}

TEST(Png, APaletteWithTransparencyMadeWithoutLibpng) {
  // 2 x 1 of depth 2, PLTE black, red, green, blue, tRNS 0, 128, pixels 0 and 1
  std::string const file =
      "\x89\x50\x4e\x47\x0d\x0a\x1a\x0a\x00\x00\x00\x0d\x49\x48\x44\x52\x00\x00\x00\x02"
      "\x00\x00\x00\x01\x02\x03\x00\x00\x00\x89\x4c\x97\x19\x00\x00\x00\x0c\x50\x4c\x54"
      "\x45\x00\x00\x00\xff\x00\x00\x00\xff\x00\x00\x00\xff\x9b\xc0\x13\xdc\x00\x00\x00"
      "\x02\x74\x52\x4e\x53\x00\x80\x9b\x2b\x4e\x18\x00\x00\x00\x0a\x49\x44\x41\x54\x78"
      "\xda\x63\x10\x00\x00\x00\x12\x00\x11\x08\xde\xbd\xc3\x00\x00\x00\x00\x49\x45\x4e"
      "\x44\xae\x42\x60\x82"s;
  EXPECT_EQ(decode(file).samples, (Samples{0, 76}));
}

TEST(Png, InterlacedPicturesAreTheSame) {
  for (int columns : {1, 2, 5, 8, 19})
    for (int count : {1, 3, 9}) {
      Rows gray;
      Rows colour;
      for (int i = 0; i < count; ++i) {
        gray.emplace_back();
        colour.emplace_back();
        for (int j = 0; j < columns; ++j) gray.back().push_back((i * 31 + j * 7) % 256);
        for (int j = 0; j < 3 * columns; ++j) colour.back().push_back((i * 29 + j * 11) % 256);
      }
      for (auto const& [kind, rows] :
           {std::pair(PNG_COLOR_TYPE_GRAY, gray), {PNG_COLOR_TYPE_RGB, colour}})
        EXPECT_EQ(decode(make_png({columns, 8, kind, PNG_INTERLACE_ADAM7}, rows)).samples,
                  decode(make_png({columns, 8, kind}, rows)).samples);
    }
}

TEST(Png, GoesThroughAFileUnchanged) {
  TemporaryFolder const folder;
  for (int bits : {8, 16})
    for (auto const& [rows, columns] : {std::pair(1, 1), {1, 7}, {7, 1}, {13, 31}, {64, 48}}) {
      io::GrayImage image{rows, columns, bits, {}};
      for (int n = 0; n < rows * columns; ++n)
        image.samples.push_back(static_cast<std::uint16_t>(n * 7919 % (image.maximum() + 1)));
      io::write_png(folder / "a.png", image);
      io::GrayImage const back = io::read_png(folder / "a.png");
      EXPECT_EQ(back.rows, rows);
      EXPECT_EQ(back.columns, columns);
      EXPECT_EQ(back.bits, bits);
      EXPECT_EQ(back.samples, image.samples);
    }
  EXPECT_THROW(io::write_png(folder / "a.png", io::GrayImage{1, 2, 8, {1}}),
               coir::PreconditionError);
}

TEST(Png, ColoursAreWrittenAsTheyAre) {
  TemporaryFolder const folder;
  for (auto const& [rows, columns] : {std::pair(1, 1), std::pair(3, 5), std::pair(61, 127)}) {
    std::vector<std::uint8_t> samples;
    for (int n = 0; n < 3 * rows * columns; ++n)
      samples.push_back(static_cast<std::uint8_t>(37 * n + n * n / 7));
    io::write_png(folder / "a.png", rows, columns, [&, width = columns](int i, auto row) {
      std::copy_n(samples.begin() + 3 * width * i, row.size(), row.begin());
    });
    EXPECT_EQ(folder.entries(), 1);

    png_image stored = {};
    stored.version = PNG_IMAGE_VERSION;
    ASSERT_TRUE(png_image_begin_read_from_file(&stored, (folder / "a.png").c_str()));
    EXPECT_EQ(stored.format, png_uint_32(PNG_FORMAT_RGB));
    EXPECT_EQ(static_cast<int>(stored.height), rows);
    EXPECT_EQ(static_cast<int>(stored.width), columns);
    std::vector<std::uint8_t> back(samples.size());
    ASSERT_TRUE(png_image_finish_read(&stored, nullptr, back.data(), 0, nullptr));
    EXPECT_EQ(back, samples);
  }
}

TEST(Png, ALargeFlatPictureIsJustifiedByAFewBytes) {
  TemporaryFolder const folder;
  io::GrayImage const image{2000, 3000, 8, std::vector<std::uint16_t>(6'000'000, 7)};
  io::write_png(folder / "a.png", image);
  EXPECT_LT(std::filesystem::file_size(folder / "a.png"), 20'000U);
  EXPECT_EQ(io::read_png(folder / "a.png").samples, image.samples);
}

TEST(Png, BytesBehindThePictureAreIgnored) {
  EXPECT_EQ(decode(small + "more").samples, decode(small).samples);
}

TEST(Png, AnotherMagicNumberIsAnError) {
  expect_parts(refusal(""), {"a.png", "not with 89 50 4e 47"});
  expect_parts(refusal("\xff\xd8\xff"), {"starts with the bytes ff d8 ff,", "convert it"});
  expect_parts(refusal("\x89PNG\n\x1a\n and more text than a header"), {"89 50 4e 47 0a 1a 0a"});
}

TEST(Png, ACutFileIsAnErrorAtEveryByte) {
  std::string const interlaced =
      make_png({3, 8, PNG_COLOR_TYPE_GRAY, PNG_INTERLACE_ADAM7}, {{0, 1, 2}, {253, 254, 255}});
  for (std::string const& file : {small, interlaced})
    for (std::size_t n = 0; n < file.size(); ++n)
      EXPECT_THROW(decode(file.substr(0, n)), coir::InputError) << n;
  expect_parts(refusal(small.substr(0, 50)), {"ends at byte 50", "before the picture does"});
}

TEST(Png, ADamagedByteIsAnError) {
  std::string file = small;
  file[45] = static_cast<char>(file[45] ^ 0x10);  // within the pixels
  expect_parts(refusal(file), {"a.png: is damaged before byte", "copy or export it again"});
  file = small;
  file[file.find("IDAT") + 4] = '\x88';  // a window larger than any
  EXPECT_TRUE(refusal(file).find("(IDAT: invalid window size): copy") != std::string::npos)
      << refusal(file);
}

TEST(Png, AWrongHeaderIsAnError) {
  std::string first_chunk = small;
  first_chunk[12] = 'J';
  // No width, no height, a negative width, colours and depths that there are not.
  for (std::string const& file :
       {first_chunk, with_byte(19, 0), with_byte(23, 0), with_byte(16, 0x80), with_byte(25, 5),
        with_byte(24, 3), with_byte(24, 255)})
    expect_parts(refusal(file), {"a.png: is damaged before byte", "copy or export it again"});
}

TEST(Png, AbsurdExtentsAreAnErrorAndNoMemory) {
  std::string file = small;
  for (int n = 16; n < 24; ++n) file[n] = static_cast<char>(n % 4 == 0 ? 0x7f : 0xff);
  expect_parts(refusal(with_checksum(file)),
               {"2147483647 x 2147483647 pixels", "can hold at most"});
  expect_parts(refusal(with_byte(17, 0x01)), {"65539 x 2 pixels"});
}

TEST(Png, AWrongChecksumIsAnError) {
  std::string file = small;
  file[29] = static_cast<char>(file[29] ^ 1);
  expect_parts(refusal(file), {"is damaged", "CRC"});
}

TEST(Png, APromiseOfManyRowsTakesNoMemoryForThem) {
  // 30000 x 30000 pixels, of which the first 40 rows are there, in a file long enough for all of
  // them.
  Rows const rows(40, std::vector<int>(30000, 7));
  std::string file = make_png({30000, 8, PNG_COLOR_TYPE_GRAY}, rows);
  file[22] = 30000 >> 8;
  file[23] = 30000 & 0xff;
  file = with_checksum(file) + std::string(1'000'000, '\0');
  std::int64_t const before = coir::resident_bytes();
  pid_t const child = ::fork();  // a process of its own has its own peak
  if (child == 0) {
    EXPECT_THROW(decode(file), coir::InputError);
    // Sanitizers take memory of their own.
    bool const took_little = is_sanitized || coir::peak_resident_bytes() - before < 50 << 20;
    ::_exit(took_little && !::testing::Test::HasFailure() ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

TEST(Png, RowsMadeOneByOneAreThoseOfAPicture) {
  TemporaryFolder const folder;
  io::GrayImage const gray{2, 3, 16, {0, 1, 256, 1000, 40000, 65535}};
  io::write_png(folder / "gray.png", io::GrayForm{2, 3, 16}, [&](int i, auto samples) {
    for (int j = 0; j < 3; ++j) samples[static_cast<std::size_t>(j)] = gray(i, j);
  });
  io::write_png(folder / "whole.png", gray);
  EXPECT_EQ(read_text(folder / "gray.png"), read_text(folder / "whole.png"));
  EXPECT_THROW(io::write_png(folder / "none.png", 2, 1,
                             [](int, std::span<std::uint8_t>) { throw std::runtime_error("no"); }),
               std::runtime_error);
  EXPECT_THROW(io::write_png(folder / "none.png", 0, 1, {}), coir::PreconditionError);
  EXPECT_THROW(io::write_png(folder / "none.png", io::GrayForm{0, 1, 8}, {}),
               coir::PreconditionError);
  EXPECT_EQ(folder.entries(), 2);
}

TEST(Png, AFullDiskIsAnError) {
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "no /dev/full here";
  io::GrayImage const image{64, 64, 8, std::vector<std::uint16_t>(4096, 7)};
  expect_parts(message_of<coir::ResourceError>([&] { io::write_png("/dev/full", image); }),
               {"No space left", "free some space"});
}

TEST(Png, FewerRowsThanPromisedAreAnError) {
  expect_parts(refusal(with_byte(23, 3)), {"is damaged"});
}
