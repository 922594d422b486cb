#include <field/linear_density.hpp>
#include <field/misfit.hpp>
#include <field/pictures.hpp>
#include <field/target.hpp>
#include <support/command.hpp>
#include <support/message_of.hpp>
#include <support/typed_suite.hpp>

#include <coir/cosmology/parameters.hpp>
#include <coir/io/npy.hpp>
#include <coir/io/png.hpp>
#include <coir/nbody/noise_field.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <fstream>
#include <limits>
#include <numbers>
#include <numeric>
#include <string>
#include <vector>

namespace {

namespace io = coir::io;
using namespace coir::apps::field;
using namespace coir::testing;

constexpr auto no_poll = [] {};

class TargetFile : public ::testing::Test {
 protected:
  /// A file of numbers n in C order.
  template <int Rank, class... Extents>
  std::filesystem::path write(std::string const& name, auto const& value, Extents... extents) {
    Kokkos::View<coir::view_data_t<double, Rank>, Kokkos::LayoutRight, Kokkos::HostSpace> const
        view("array", std::size_t(extents)...);
    for (std::size_t n = 0; n < view.size(); ++n) view.data()[n] = value(n);
    io::write_npy(folder / name, view);
    return folder / name;
  }

  /// The message of the InputError that reading a file ends in.
  std::string refusal(std::filesystem::path const& path, std::int64_t side = 64) {
    return message_of<coir::InputError>([&] { read_target(path, side, 10); });
  }

  coir::testing::TemporaryFolder folder;
};

double mean_of(Target const& target) {
  double sum = 0;
  for (std::size_t n = 0; n < target.cells.size(); ++n) sum += target.cells.data()[n];
  return sum / double(target.cells.size());
}

/// Places that no mesh point is near, of three particles or more.
template <class Exec, class T>
coir::nbody::Particles<Exec, T> scattered(std::int64_t side, double box) {
  coir::nbody::Particles<Exec, T> particles{.side = side, .box = box};
  auto const count = static_cast<std::size_t>(side * side * side);
  particles.position = typename coir::nbody::Particles<Exec, T>::Vectors("positions", count);
  auto const host = Kokkos::create_mirror_view(particles.position);
  for (std::size_t p = 0; p < count; ++p)
    for (std::size_t d = 0; d < 3; ++d)
      host(p, d) = static_cast<T>(box * (0.5 + 0.4999 * std::sin(double(37 * p + 11 * d + 1))));
  Kokkos::deep_copy(particles.position, host);
  return particles;
}

Target some_target(std::int64_t side, std::int64_t depth) {
  Target target;
  target.cells = Target::Cells("target", std::size_t(side), std::size_t(side), std::size_t(depth));
  for (std::size_t n = 0; n < target.cells.size(); ++n)
    target.cells.data()[n] = 1 + 0.5 * std::cos(double(n));
  return target;
}

}  // namespace

TEST(Averages, KeepTheMeanAndWhatIsWhole) {
  std::vector<double> const four = {1, 2, 3, 4};
  EXPECT_EQ(averaged(four, 2, 2), four);
  EXPECT_EQ(averaged(four, 2, 1), std::vector<double>{2.5});
  // 3 x 3 over 2 x 2: a part holds one value, two halves of values, and a quarter of one, over 9/4.
  std::vector<double> const nine = {9, 18, 27, 36, 45, 54, 63, 72, 81};
  auto const parts = averaged(nine, 3, 2);
  ASSERT_EQ(parts.size(), 4U);
  EXPECT_NEAR(parts[0], (9 + 18 / 2.0 + 36 / 2.0 + 45 / 4.0) * 4 / 9, 1e-12);
  EXPECT_NEAR(parts[3], (81 + 72 / 2.0 + 54 / 2.0 + 45 / 4.0) * 4 / 9, 1e-12);
  for (std::int64_t const rows : {7, 64, 101})
    for (std::int64_t const side : {1, 3, 7}) {
      std::vector<double> values(std::size_t(rows * rows));
      for (std::size_t n = 0; n < values.size(); ++n) values[n] = std::sin(double(n));
      auto const result = averaged(values, rows, side);
      double const mean = std::accumulate(values.begin(), values.end(), 0.0) / double(rows * rows);
      EXPECT_NEAR(std::accumulate(result.begin(), result.end(), 0.0) / double(side * side), mean,
                  1e-13)
          << rows << " " << side;
    }
}

TEST_F(TargetFile, ArraysAreCubesOrColumns) {
  auto const near_one = [](std::size_t n) { return 1.02 + 0.1 * std::sin(double(n)); };
  auto const cube = read_target(write<3>("cube.npy", near_one, 5, 5, 5), 8, 10);
  EXPECT_EQ(cube.side(), 5);
  EXPECT_FALSE(cube.is_projection());
  EXPECT_EQ(cube.cells.extent(2), 5U);
  EXPECT_NEAR(mean_of(cube), 1, 1e-14);
  EXPECT_NEAR(cube.cells(0, 0, 1) / cube.cells(0, 0, 0), (1.02 + 0.1 * std::sin(1.0)) / 1.02,
              1e-14);
  EXPECT_EQ(read_target(folder / "cube.npy", 4, 10, /*finer=*/true).side(), 5);

  auto const columns = read_target(write<2>("columns.npy", near_one, 6, 6), 3, 10);
  EXPECT_EQ(columns.side(), 3);
  EXPECT_TRUE(columns.is_projection());
  EXPECT_NEAR(mean_of(columns), 1, 1e-14);
  EXPECT_EQ(read_target(folder / "columns.npy", 8, 10).side(), 6);
}

TEST_F(TargetFile, PicturesAreColumnsOfTheirBrightness) {
  // Black on the left, white on the right; a column too many on both sides.
  io::GrayImage image{2, 4, 8, {9, 0, 255, 9, 9, 0, 255, 9}};
  io::write_png(folder / "two.png", image);
  auto const target = read_target(folder / "two.png", 64, 7);
  ASSERT_EQ(target.side(), 2);
  EXPECT_TRUE(target.is_projection());
  EXPECT_NEAR(target.cells(0, 0, 0), 2 / 8.0, 1e-14);
  EXPECT_NEAR(target.cells(0, 1, 0), 14 / 8.0, 1e-14);
  EXPECT_TRUE(contains(target.content, "a picture of 2 x 4, of which the 2^2 in the middle"));
}

TEST_F(TargetFile, RefusesWhatIsNoDensity) {
  auto const one = [](std::size_t) { return 1.0; };
  auto const expect = [&](std::string const& message, std::vector<std::string> const& parts) {
    for (auto const& part : parts) EXPECT_TRUE(contains(message, part)) << message;
  };
  expect(refusal(write<3>("brick.npy", one, 4, 4, 5)), {"brick.npy", "(4, 4, 5)", "cube"});
  expect(refusal(write<2>("oblong.npy", one, 4, 5)), {"oblong.npy", "(4, 5)", "square"});
  expect(refusal(write<1>("row.npy", one, 4)), {"row.npy", "(4)"});
  expect(refusal(write<3>("none.npy", one, 0, 0, 0)), {"none.npy", "(0, 0, 0)"});
  expect(refusal(write<3>("fine.npy", one, 5, 5, 5), 4), {"5^3", "4^3", "--side 5"});
  expect(refusal(write<3>(
             "contrast.npy", [](std::size_t) { return 0.0; }, 2, 2, 2)),
         {"mean", "1", "not 0", "add 1"});
  expect(refusal(write<3>(
             "nan.npy",
             [](std::size_t n) { return n == 5 ? std::numeric_limits<double>::quiet_NaN() : 1.0; },
             2, 2, 2)),
         {"nan.npy", "[1, 0, 1]"});
  expect(refusal(folder / "missing.npy"), {"missing.npy"});
  std::ofstream(folder / "text.txt") << "no picture at all";
  expect(refusal(folder / "text.txt"), {"text.txt", "PNG", "convert"});
}

TEST(Pictures, GridsAreInterpolatedPeriodically) {
  // Pixels lie at (p + 1/2) / 2 of the grid's spacing.
  auto const frame = enlarged({1, 3, 5, 7}, 2, 4);
  auto const along = [](double a, double b) {
    return std::vector<double>{a * 0.75 + b * 0.25, a * 0.25 + b * 0.75, b * 0.75 + a * 0.25,
                               b * 0.25 + a * 0.75};
  };
  auto const first = along(1, 3), second = along(5, 7);
  for (std::size_t i = 0; i < 4; ++i) {
    double const share = std::vector<double>{0.25, 0.75, 0.75, 0.25}[i];
    for (std::size_t j = 0; j < 4; ++j)
      EXPECT_NEAR(frame.values[4 * i + j], (1 - share) * first[j] + share * second[j], 1e-6);
  }
}

TEST(Pictures, StandSideBySide) {
  coir::testing::TemporaryFolder const folder;
  Frame const ramp{16, std::vector<float>(256, 0.5F)};
  write_frames(folder / "two.png", {ramp, ramp}, {{0, 1}, {0.5, 0.5}});
  auto const image = io::read_png(folder / "two.png");
  EXPECT_EQ(image.rows, 16);
  EXPECT_EQ(image.columns, 33);
  EXPECT_EQ(image(3, 16), 255);          // the gap
  EXPECT_NE(image(3, 0), image(3, 32));  // half of the range, and the darkest
}

TEST(Pictures, RangesLeaveOutTheFewestAndTheMost) {
  Frame frame{100, std::vector<float>(10'000)};
  for (std::size_t n = 0; n < 10'000; ++n) frame.values[n] = float((n * 7919) % 10'000);
  auto const [low, high] = range_of(frame);
  EXPECT_EQ(low, 99);
  EXPECT_EQ(high, 9989);
  EXPECT_NEAR(logarithm_of({1, {0}}).values[0], std::log(1e-3), 1e-6);
}

namespace {

COIR_TYPED_SUITE(FieldMisfit);

}  // namespace

TYPED_TEST(FieldMisfit, WithoutSmoothingItIsAPlainSum) {
  TYPES_OF_CASE;
  auto const particles = scattered<Exec, T>(3, 8);
  Target const target = some_target(3, 3);
  Misfit<Exec, T> const misfit(Exec{}, {}, target, 8, 0, 0.5, coir::mesh::Assignment::tsc, no_poll);
  auto const density =
      Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, misfit.density(particles));
  double sum = 0;
  for (std::size_t n = 0; n < density.size(); ++n)
    sum += std::pow((double(density.data()[n]) - target.cells.data()[n]) / 0.5, 2) / 2;
  EXPECT_NEAR(misfit(particles), sum, sum * 30 * std::numeric_limits<T>::epsilon());
}

TYPED_TEST(FieldMisfit, SmoothingDampsAWaveAsAGaussianDoes) {
  TYPES_OF_CASE;
  // Evenly spread particles, and a target that is a wave with two periods.
  int const m = 8;
  double const box = 16, smooth = 1.5;
  coir::nbody::Particles<Exec, T> particles{.side = m, .box = box};
  particles.position =
      typename coir::nbody::Particles<Exec, T>::Vectors("positions", std::size_t(m * m * m));
  auto const host = Kokkos::create_mirror_view(particles.position);
  for (int p = 0; p < m * m * m; ++p) {
    int const q[3] = {p / m / m, p / m % m, p % m};
    for (int d = 0; d < 3; ++d) host(p, d) = T(q[d] * box / m);
  }
  Kokkos::deep_copy(particles.position, host);
  for (int const depth : {1, m}) {
    Target target = some_target(m, depth);
    for (int n = 0; n < m * m * depth; ++n)
      target.cells.data()[n] =
          1 + 0.5 * std::cos(2 * std::numbers::pi * 2 * (n / depth / m) / double(m));
    Misfit<Exec, T> const misfit(Exec{}, {}, target, box, smooth, 0.1, coir::mesh::Assignment::cic,
                                 no_poll);
    double const k = 2 * std::numbers::pi * 2 / box;
    double const damped = 0.5 * std::exp(-k * k * smooth * smooth / 2) / 0.1;
    EXPECT_NEAR(misfit(particles), m * m * depth * damped * damped / 4,
                1e3 * double(std::numeric_limits<T>::epsilon()) * m * m * depth);
  }
}

TYPED_TEST(FieldMisfit, DerivativesAreThoseOfDifferences) {
  TYPES_OF_CASE;
  auto const particles = scattered<Exec, T>(4, 9);
  using Vectors = typename coir::nbody::Particles<Exec, T>::Vectors;
  auto const count = std::size_t(particles.total());
  coir::nbody::Cotangents<Exec, T> const slopes{Vectors("x", count), Vectors("p", count)};
  Kokkos::deep_copy(slopes.momentum, T(7));
  for (std::int64_t const depth : {1, 5}) {
    Misfit<Exec, T> const misfit(Exec{}, {}, some_target(5, depth), 9, 1.1, 0.3,
                                 coir::mesh::Assignment::pcs, no_poll);
    double const value = misfit(particles, slopes);
    EXPECT_EQ(value, misfit(particles));
    auto const slope = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, slopes.position);
    auto const momentum = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, slopes.momentum);
    // All particles move by step d(p, d): pcs is smooth, and the error of differences falls with
    // the square of the step.
    auto const place = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, particles.position);
    double along = 0;
    auto const direction = [](std::size_t p, std::size_t d) {
      return std::cos(double(5 * p + 3 * d));
    };
    for (std::size_t p = 0; p < count; ++p)
      for (std::size_t d = 0; d < 3; ++d) {
        along += direction(p, d) * double(slope(p, d));
        EXPECT_EQ(momentum(p, d), 0);
      }
    auto const value_at = [&](double step) {
      auto moved = particles;
      moved.position = Vectors("moved", count);
      auto const host = Kokkos::create_mirror_view(moved.position);
      for (std::size_t p = 0; p < count; ++p)
        for (std::size_t d = 0; d < 3; ++d)
          host(p, d) = static_cast<T>(double(place(p, d)) + step * direction(p, d));
      Kokkos::deep_copy(moved.position, host);
      return misfit(moved);
    };
    bool const single = sizeof(T) == 4;
    // Masses of floats are painted in parts of 2^-18.
    double const step = single ? 4e-2 : 1e-4;
    double const quotient = (value_at(step) - value_at(-step)) / (2 * step);
    EXPECT_NEAR(quotient / along, 1, single ? 2e-2 : 1e-6) << depth;
  }
}

TYPED_TEST(FieldMisfit, NoiseOfTheTargetIsAddedToSmoothedDifferences) {
  TYPES_OF_CASE;
  auto const particles = scattered<Exec, T>(3, 8);
  Misfit<Exec, T> misfit(Exec{}, {}, some_target(3, 1), 8, 1, 0.5, coir::mesh::Assignment::cic,
                         no_poll);
  double const before = misfit(particles), difference = misfit.difference(particles);
  double const eps = std::numeric_limits<T>::epsilon();
  EXPECT_NEAR(difference, std::sqrt(2 * before / 9), 10 * eps * difference);
  // The sum of S (density - target) is that of what isn't smoothed, here 9 (1 - the target's mean).
  typename Misfit<Exec, T>::Cells const numbers("numbers", 3, 3, 1);
  Kokkos::deep_copy(numbers, T(2));
  misfit.add_noise(numbers);
  double sum = 0;
  Target const target = some_target(3, 1);
  for (std::size_t n = 0; n < 9; ++n) sum += 1 - target.cells.data()[n];
  EXPECT_NEAR(misfit(particles), before + 2 * sum / 0.5 + 9 * 2, 100 * eps * before);
  EXPECT_EQ(misfit.difference(particles), difference);
}

TYPED_TEST(FieldMisfit, NoiseIsThatOfTheSeedAndDensitiesHaveItsSpectrum) {
  TYPES_OF_CASE;
  std::int64_t const n = 12;
  auto const noise = coir::nbody::noise_field<Exec, T>(Exec{}, {}, {.seed = 5}, n);
  auto const noise_h = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, noise);
  double squares = 0;
  for (std::size_t i = 0; i < noise_h.size(); ++i)
    squares += std::pow(double(noise_h.data()[i]), 2);
  // 1728 normal numbers: their mean square is 1 with a deviation of sqrt(2 / 1728) = 0.034.
  EXPECT_NEAR(squares / 1728, 1, 4 * 0.034);

  // A wave of noise becomes that wave times sqrt(P / volume of a site).
  double const box = 30, a = 0.5;
  coir::cosmology::LinearPower<double> const power(coir::cosmology::planck18());
  for (std::int64_t i = 0; i < n * n * n; ++i)
    noise_h.data()[i] =
        T(std::cos(2 * std::numbers::pi * double(2 * (i / n / n) + i % n) / double(n)));
  Kokkos::deep_copy(noise, noise_h);
  auto const density = Kokkos::create_mirror_view_and_copy(
      Kokkos::HostSpace{}, linear_density<Exec, T>(Exec{}, {}, n, noise, box, power, a));
  double const k = 2 * std::numbers::pi / box * std::sqrt(5.0);
  double const factor = std::sqrt(power(k, a) / std::pow(box / double(n), 3));
  for (std::size_t i = 0; i < density.size(); ++i)
    EXPECT_NEAR(double(density.data()[i]), factor * double(noise_h.data()[i]),
                30 * factor * double(std::numeric_limits<T>::epsilon()));
}
