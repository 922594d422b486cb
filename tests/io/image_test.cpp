#include <coir/core/errors.hpp>
#include <coir/io/image.hpp>

#include <gtest/gtest.h>
#include <io/scratch.hpp>
#include <support/spaces.hpp>

#include <string>

namespace io = coir::io;
using namespace coir::testing;

TEST(Image, IsWrittenAsItsNameAsksAndReadByItsContent) {
  ScratchFolder const folder;
  io::GrayImage const image{2, 3, 16, {0, 1, 256, 65535, 4, 5}};
  for (auto const& [name, format] :
       {std::pair("a.png", io::Format::png), std::pair("b.PGM", io::Format::pgm)}) {
    io::write_image(folder / name, image);
    EXPECT_EQ(io::format_of_content(folder / name), format);
    std::filesystem::rename(folder / name, folder / "nameless");
    io::GrayImage const back = io::read_image(folder / "nameless");
    EXPECT_EQ(back.rows, 2);
    EXPECT_EQ(back.columns, 3);
    EXPECT_EQ(back.bits, 16);
    EXPECT_EQ(back.samples, image.samples);
  }
  EXPECT_EQ(folder.entries(), 1);
}

TEST(Image, FieldsAreWrittenStraightFromViews) {
  ScratchFolder const folder;
  using Field = Kokkos::View<float**, Device>;
  Field const field = io::to_view<Field>(io::GrayImage{1, 3, 8, {10, 20, 255}});
  io::write_image(folder / "a.png", field);
  EXPECT_EQ(io::read_image(folder / "a.png").samples, (std::vector<std::uint16_t>{10, 20, 255}));
  io::write_image(folder / "a.pgm", field, 16);
  EXPECT_EQ(io::read_image(folder / "a.pgm").bits, 16);
}

TEST(Image, AnotherEndingIsAnErrorAndLeavesNothing) {
  ScratchFolder const folder;
  std::string const text = message_of<coir::PreconditionError>(
      [&] { io::write_image(folder / "a.jpg", io::GrayImage{1, 1, 8, {0}}); });
  expect_parts(text, {"a.jpg", "must end in .png or .pgm", "'.jpg'"});
  EXPECT_EQ(folder.entries(), 0);
}

TEST(Image, AnotherFormatIsAnError) {
  auto const message = [](std::string_view text) {
    return message_of<coir::InputError>([&] { io::decode_image(bytes_of(text), "a.png"); });
  };
  expect_parts(message("\xff\xd8\xff\xe0 JFIF"), {"a.png", "ff d8 ff e0", "neither", "convert it"});
  expect_parts(message("P6 1 1 255 abc"), {"50 36"});
  expect_parts(message("\x93NUMPY"), {"NumPy array"});
  expect_parts(message("x"), {"bytes 78,"});
}

TEST(Image, AMissingFileIsAnError) {
  ScratchFolder const folder;
  EXPECT_THROW(io::read_image(folder / "a.png"), coir::InputError);
  EXPECT_THROW(io::read_image(folder.path()), coir::InputError);
}
