#include <coir/core/errors.hpp>
#include <coir/io/png.hpp>

#include <gtest/gtest.h>
#include <io/scratch.hpp>
#include <support/spaces.hpp>

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace io = coir::io;
using namespace coir::testing;

namespace {

io::GrayImage pattern(int rows, int columns, int bits) {
  io::GrayImage image{rows, columns, bits, {}};
  for (int n = 0; n < rows * columns; ++n)
    image.samples.push_back(static_cast<std::uint16_t>((n * 7919) % (image.maximum() + 1)));
  return image;
}

// The picture of a View.
template <class V>
io::GrayImage to_image(V const& view, int bits = 8) {
  TemporaryFolder const folder;
  io::write_png(folder / "a.png", view, bits);
  return io::read_png(folder / "a.png");
}

template <class V>
void expect_round_trips() {
  for (int bits : {8, 16})
    for (int rows : {1, 2, 13})
      for (int columns : {1, 7, 31}) {
        io::GrayImage const image = pattern(rows, columns, bits);
        V const view = io::to_view<V>(image);
        ASSERT_EQ(int(view.extent(0)), rows);
        ASSERT_EQ(int(view.extent(1)), columns);
        EXPECT_EQ(to_image(view, bits).samples, image.samples);
      }
}

io::GrayImage image_of(std::vector<double> values, int bits = 8) {
  Kokkos::View<double**, Kokkos::LayoutRight, Kokkos::HostSpace> const row("v", 1, values.size());
  for (std::size_t j = 0; j < values.size(); ++j) row(0, j) = values[j];
  return to_image(row, bits);
}

using Row = std::vector<std::uint16_t>;

}  // namespace

TEST(GrayImage, GoesToViewsAndBack) {
  expect_round_trips<Kokkos::View<float**, Kokkos::LayoutRight, Device>>();
  expect_round_trips<Kokkos::View<double**, Kokkos::LayoutLeft, Device>>();
  expect_round_trips<Kokkos::View<int**, Kokkos::LayoutRight, Kokkos::HostSpace>>();
  expect_round_trips<Kokkos::View<std::uint16_t**, Kokkos::LayoutLeft, Kokkos::HostSpace>>();
  expect_round_trips<Kokkos::View<std::uint64_t**, Device>>();
}

TEST(GrayImage, RowsAreTheFirstIndex) {
  io::GrayImage const image{2, 3, 8, {1, 2, 3, 4, 5, 6}};
  auto const view =
      io::to_view<Kokkos::View<double**, Kokkos::LayoutLeft, Kokkos::HostSpace>>(image);
  EXPECT_EQ(view(0, 2), 3.0);
  EXPECT_EQ(view(1, 0), 4.0);
  EXPECT_EQ(image(1, 0), 4);
}

TEST(GrayImage, FillsPartOfAView) {
  io::GrayImage const image{2, 3, 8, {1, 2, 3, 4, 5, 6}};
  Kokkos::View<float**, Kokkos::LayoutRight, Device> const ringed("v", 4, 5);
  auto const inner = Kokkos::subview(ringed, Kokkos::pair(1, 3), Kokkos::pair(1, 4));
  io::copy_to_view(image, inner);
  EXPECT_EQ(to_image(inner).samples, image.samples);
  auto const host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), ringed);
  EXPECT_EQ(host(0, 0), 0.0f);
  EXPECT_EQ(host(1, 1), 1.0f);
  EXPECT_EQ(host(2, 3), 6.0f);
  EXPECT_EQ(host(2, 4), 0.0f);
}

TEST(GrayImage, ValuesAreRoundedToTheNearestLevel) {
  EXPECT_EQ(image_of({0.49, 0.5, 1.5, 2.4999, 254.5, 0.0}).samples, (Row{0, 1, 2, 2, 255, 0}));
  EXPECT_EQ(image_of({0.49999999999999994}).samples[0], 0)
      << "adding a half must not round across the level";
}

TEST(GrayImage, ValuesAreClamped) {
  double const infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(image_of({-0.6, -1e300, 255.4, 256, 1e300, infinity, -infinity}).samples,
            (Row{0, 0, 255, 255, 255, 255, 0}));
  EXPECT_EQ(image_of({65535.4, 65536, -1}, 16).samples, (Row{65535, 65535, 0}));
}

TEST(GrayImage, IntegersAreClamped) {
  Kokkos::View<std::int64_t**, Kokkos::LayoutRight, Kokkos::HostSpace> const row("v", 1, 4);
  row(0, 0) = std::numeric_limits<std::int64_t>::min();
  row(0, 1) = -1;
  row(0, 2) = 256;
  row(0, 3) = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(to_image(row).samples, (Row{0, 0, 255, 255}));
}

TEST(GrayImage, NotANumberIsAnError) {
  std::string const text = message_of<coir::PreconditionError>(
      [] { image_of({1, 2, std::numeric_limits<double>::quiet_NaN()}); });
  expect_parts(text, {"row 0, column 2", "not a number"});
}

TEST(GrayImage, AnElementMayBeShownAsAnotherLevel) {
  TemporaryFolder const folder;
  auto const field = io::to_view<Kokkos::View<float**, Device>>(io::GrayImage{1, 2, 8, {10, 20}});
  io::write_png(folder / "a.png", field, 8, [](float x) { return 2 * x + 1; });
  EXPECT_EQ(io::read_png(folder / "a.png").samples, (Row{21, 41}));
}

TEST(GrayImage, OtherBitsAndNoPixelsAreErrors) {
  Kokkos::View<float**, Kokkos::HostSpace> const empty("v", 0, 3);
  EXPECT_THROW(to_image(empty), coir::PreconditionError);
  Kokkos::View<float**, Kokkos::HostSpace> const some("v", 2, 3);
  EXPECT_THROW(to_image(some, 12), coir::PreconditionError);
}

TEST(GrayImage, ViewsThatDoNotFitAreErrors) {
  io::GrayImage const image = pattern(2, 3, 16);
  Kokkos::View<float**, Kokkos::HostSpace> const turned("v", 3, 2);
  EXPECT_THROW(io::copy_to_view(image, turned), coir::PreconditionError);
  using Small = Kokkos::View<std::int16_t**, Kokkos::HostSpace>;
  EXPECT_THROW(io::to_view<Small>(image), coir::PreconditionError);
  EXPECT_NO_THROW(io::to_view<Small>(pattern(2, 3, 8)));
}

TEST(GrayImage, ImagesThatContradictThemselvesAreErrors) {
  using V = Kokkos::View<float**, Kokkos::HostSpace>;
  EXPECT_THROW(io::to_view<V>(io::GrayImage{2, 2, 8, {1, 2, 3}}), coir::PreconditionError);
  EXPECT_THROW(io::to_view<V>(io::GrayImage{0, 2, 8, {}}), coir::PreconditionError);
  EXPECT_THROW(io::to_view<V>(io::GrayImage{1, 1, 8, {256}}), coir::PreconditionError);
  EXPECT_THROW(io::to_view<V>(io::GrayImage{1, 1, 7, {1}}), coir::PreconditionError);
}
