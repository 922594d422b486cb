#include "app_fixture.hpp"

#include <escape/escape_arrays.hpp>
#include <escape/escape_time.hpp>
#include <support/spaces.hpp>

#include <coir/io/npy.hpp>
#include <coir/io/png.hpp>

#include <cmath>
#include <cstdint>
#include <limits>

namespace {

namespace io = coir::io;
using namespace coir::apps::escape;
using coir::testing::read_text;

template <class T>
struct Pixels {
  std::vector<int> counts;
  std::vector<T> values;
};

template <class Exec, class T>
Pixels<T> by_kernel(Problem<T> const& problem, bool smooth, Monitor const& monitor = {}) {
  using Memory = typename Exec::memory_space;
  auto const& pixels = problem.pixels;
  Kokkos::View<int**, Kokkos::LayoutRight, Memory> const counts("counts", pixels.rows,
                                                                pixels.columns);
  Kokkos::View<T**, Kokkos::LayoutRight, Memory> values;
  if (smooth) values = decltype(values)("values", pixels.rows, pixels.columns);
  escape_time(Exec{}, problem, counts, values, monitor);
  auto const counts_h = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, counts);
  auto const values_h = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, values);
  return {{counts_h.data(), counts_h.data() + counts_h.size()},
          {values_h.data(), values_h.data() + values_h.size()}};
}

template <class T>
Pixels<T> by_arrays(Problem<T> const& problem, bool smooth, Monitor const& monitor = {}) {
  coir::Shape<2> const shape{problem.pixels.rows, problem.pixels.columns};
  auto counts = coir::empty<int>(shape);
  auto values = coir::empty<T>(shape);
  escape_time_by_arrays(problem, counts, smooth ? &values : nullptr, monitor);
  auto const counts_h = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, counts.view());
  auto const values_h = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, values.view());
  Pixels<T> result{{counts_h.data(), counts_h.data() + counts_h.size()}, {}};
  if (smooth) result.values.assign(values_h.data(), values_h.data() + values_h.size());
  return result;
}

/// One pixel after the other, by the definition.
template <class T>
Pixels<T> by_plain_loop(Problem<T> const& problem) {
  Pixels<T> result;
  for (int i = 0; i < problem.pixels.rows; ++i)
    for (int j = 0; j < problem.pixels.columns; ++j) {
      T const at_re = problem.pixels.real(j), at_im = problem.pixels.imag(i);
      T re = problem.julia ? at_re : T(0), im = problem.julia ? at_im : T(0);
      T const c_re = problem.julia ? problem.constant_re : at_re;
      T const c_im = problem.julia ? problem.constant_im : at_im;
      int n = 0;
      auto const step = [&] {
        T const next = next_real(re, im, c_re);
        im = next_imag(re, im, c_im);
        re = next;
        ++n;
      };
      while (n < problem.iterations && squared_abs(re, im) <= 4) step();
      result.counts.push_back(n);
      if (n == problem.iterations) {
        result.values.push_back(T(n));
        continue;
      }
      for (int more = 0; more < 8 && squared_abs(re, im) <= 65536; ++more) step();
      result.values.push_back(std::max(T(0), T(n) - std::log2(std::log2(squared_abs(re, im)) / 2)));
    }
  return result;
}

/// A picture of [-2, 1] x [-1.5, 1.5].
template <class T>
Problem<T> mandelbrot(int rows, int columns, int iterations) {
  Problem<T> problem;
  problem.pixels = {rows, columns, T(-2), T(1.5), T(3) / T(columns), T(3) / T(rows)};
  problem.iterations = iterations;
  return problem;
}

template <class T>
Problem<T> julia(int rows, int columns, int iterations) {
  Problem<T> problem = mandelbrot<T>(rows, columns, iterations);
  problem.pixels.left = T(-1.5);
  problem.julia = true;
  problem.constant_re = T(-0.8);
  problem.constant_im = T(0.156);
  return problem;
}

/// The single pixel at re + i im.
template <class T>
Problem<T> single(double re, double im, int iterations) {
  Problem<T> problem;
  problem.pixels = {1, 1, T(re) - T(0.5), T(im) + T(0.5), T(1), T(1)};
  problem.iterations = iterations;
  return problem;
}

}  // namespace

// --- The kernel ---

template <class C>
class EscapeKernel : public ::testing::Test {
 protected:
  using T = typename C::Real;
  static Pixels<T> compute(Problem<T> const& problem, bool smooth = false,
                           Monitor const& monitor = {}) {
    return by_kernel<typename C::Exec>(problem, smooth, monitor);
  }
  static int count(Problem<T> const& problem) { return compute(problem).counts.front(); }
};
TYPED_TEST_SUITE(EscapeKernel, coir::testing::Cases, coir::testing::CaseName);

TYPED_TEST(EscapeKernel, CountsAreRightByHand) {
  using T = typename TypeParam::Real;
  EXPECT_EQ(this->count(single<T>(0, 0, 100)), 100);
  EXPECT_EQ(this->count(single<T>(-2, 0, 100)), 100);  // 0, -2, 2, 2, ...
  EXPECT_EQ(this->count(single<T>(0, 1, 100)), 100);   // 0, i, i - 1, -i, i - 1, ...
  EXPECT_EQ(this->count(single<T>(1, 0, 100)), 3);     // 0, 1, 2, 5
  EXPECT_EQ(this->count(single<T>(2, 0, 100)), 2);     // 0, 2, 6
  EXPECT_EQ(this->count(single<T>(3, 0, 100)), 1);     // 0, 3
  EXPECT_EQ(this->count(single<T>(1, 0, 2)), 2);
}

TYPED_TEST(EscapeKernel, WhatHasLeftStaysCounted) {
  using T = typename TypeParam::Real;
  auto problem = single<T>(3, 0, 100);  // 3, and then back to 0
  problem.julia = true;
  problem.constant_re = -9;
  EXPECT_EQ(this->count(problem), 0);
  problem.pixels.left = T(0.5);  // 1, -8, 55, and so on to infinity and what follows it
  EXPECT_EQ(this->count(problem), 1);
}

TYPED_TEST(EscapeKernel, CountsAreThoseOfAPlainLoop) {
  using T = typename TypeParam::Real;
  int const shapes[][2] = {{1, 1}, {1, 63}, {3, 64}, {2, 65}, {31, 127}, {513, 7}, {5, 1009}};
  for (auto const& [rows, columns] : shapes)
    for (int iterations = 1; iterations <= 256; iterations += iterations < 9 ? 1 : 82)
      for (bool const is_julia : {false, true}) {
        auto const problem = is_julia ? julia<T>(rows, columns, iterations)
                                      : mandelbrot<T>(rows, columns, iterations);
        auto const expected = by_plain_loop(problem);
        ASSERT_EQ(this->compute(problem).counts, expected.counts)
            << rows << " x " << columns << ", " << iterations;
        ASSERT_EQ(this->compute(problem, true).counts, expected.counts)
            << rows << " x " << columns << ", " << iterations << ", smooth";
      }
}

TYPED_TEST(EscapeKernel, SmoothValuesAreThoseOfAPlainLoop) {
  using T = typename TypeParam::Real;
  for (bool const is_julia : {false, true}) {
    auto const problem = is_julia ? julia<T>(37, 101, 200) : mandelbrot<T>(37, 101, 200);
    auto const expected = by_plain_loop(problem);
    auto const found = this->compute(problem, true);
    ASSERT_EQ(found.values.size(), expected.values.size());
    // The logarithms are right to 4 ulp: of the inner one, at most 32, that is 4 ulp of its own
    // value, so 4 eps / ln 2 after the outer one, which adds 4 ulp of at most 8; the count adds a
    // rounding.
    T const eps = std::numeric_limits<T>::epsilon();
    for (std::size_t n = 0; n < expected.values.size(); ++n)
      EXPECT_NEAR(found.values[n], expected.values[n], eps * (6 + 32 + 2 * expected.values[n]));
  }
}

TYPED_TEST(EscapeKernel, TheMonitorHearsOfAllPixelsAndMayStop) {
  using T = typename TypeParam::Real;
  auto const problem = mandelbrot<T>(300, 1000, 10'000'000);
  std::int64_t calls = 0, last = 0;
  auto quick = problem;
  quick.pixels.left = T(3);  // nothing stays here
  auto const found = this->compute(quick, false, [&](std::int64_t done, std::int64_t total) {
    ++calls;
    EXPECT_GE(done, last);
    EXPECT_EQ(total, 300'000);
    last = done;
    return true;
  });
  EXPECT_GT(calls, 1);
  EXPECT_EQ(last, 300'000);
  EXPECT_EQ(found.counts, by_plain_loop(quick).counts);

  calls = 0;
  this->compute(problem, false, [&](std::int64_t, std::int64_t) { return ++calls < 2; });
  EXPECT_EQ(calls, 2);
}

template <class T>
class EscapeArrays : public ::testing::Test {};
using Reals = ::testing::Types<float, double>;
TYPED_TEST_SUITE(EscapeArrays, Reals);

TYPED_TEST(EscapeArrays, CountsAreThoseOfTheKernelBitForBit) {
  int const shapes[][2] = {{1, 1}, {1, 65}, {61, 127}, {300, 200}};
  for (auto const& [rows, columns] : shapes)
    for (bool const is_julia : {false, true}) {
      auto const problem =
          is_julia ? julia<TypeParam>(rows, columns, 50) : mandelbrot<TypeParam>(rows, columns, 50);
      auto const kernel = by_kernel<coir::testing::Device>(problem, true);
      auto const arrays = by_arrays(problem, true);
      EXPECT_EQ(arrays.counts, kernel.counts) << rows << " x " << columns;
      EXPECT_EQ(by_arrays(problem, false).counts, kernel.counts) << rows << " x " << columns;
      // The same formula; vector and scalar logarithms differ as in
      // SmoothValuesAreThoseOfAPlainLoop.
      TypeParam const eps = std::numeric_limits<TypeParam>::epsilon();
      for (std::size_t n = 0; n < kernel.values.size(); ++n)
        EXPECT_NEAR(arrays.values[n], kernel.values[n], eps * (38 + 2 * kernel.values[n]));
    }
}

// --- The application ---

namespace {

using Escape = coir::testing::AppTest;

template <class T>
std::vector<T> numbers_of(io::NpyArray const& array) {
  auto const* const first = reinterpret_cast<T const*>(array.bytes.data());
  return {first, first + array.bytes.size() / sizeof(T)};
}

}  // namespace

TEST_F(Escape, BothSchemesWriteTheSameBytesByAnyNumberOfThreads) {
  for (std::string const problem :
       {"--precision float --set mandelbrot", "--precision double --set julia"}) {
    std::string const options = problem + " --size 97x61 --iterations 100 --no-smooth ";
    for (std::string const ending : {".npy", ".png"}) {
      run_quietly(options + "--scheme kernel --output one" + ending, "OMP_NUM_THREADS=1");
      for (std::string const scheme : {"kernel", "arrays"}) {
        run_quietly(options + "--output two" + ending + " --scheme " + scheme, "OMP_NUM_THREADS=2");
        EXPECT_EQ(read_text(folder / ("one" + ending)), read_text(folder / ("two" + ending)))
            << options << scheme << ending;
      }
    }
  }
}

TEST_F(Escape, CountsAndSmoothValuesAreWritten) {
  run_quietly(
      "--size 60 40 --region -2 1 -1.5 1.5 --iterations 77 --no-smooth --output counts.npy");
  auto const array = io::read_npy(folder / "counts.npy");
  EXPECT_EQ(array.type, io::NpyType::int32);
  EXPECT_EQ(array.shape, (std::vector<std::int64_t>{40, 60}));
  EXPECT_EQ(numbers_of<int>(array), by_plain_loop(mandelbrot<float>(40, 60, 77)).counts);
  run_quietly("--size 60x40 --output values.npy");
  EXPECT_EQ(io::read_npy(folder / "values.npy").type, io::NpyType::float32);
  run_quietly("--size 60x40 --smooth --precision double --output values.npy");
  EXPECT_EQ(io::read_npy(folder / "values.npy").type, io::NpyType::float64);
}

TEST_F(Escape, DefaultRegionHasSquarePixelsAndTheWholeSet) {
  for (auto const& [size, region] : {std::pair("60x60", "--region -2 1 -1.5 1.5"),
                                     std::pair("120x60", "--center -0.5 0 --width 6"),
                                     std::pair("60x120", "--region -2 1 -3 3")}) {
    std::string const options = std::string("--no-smooth --size ") + size + " ";
    run_quietly(options + "--output by_default.npy");
    run_quietly(options + region + " --output told.npy");
    EXPECT_EQ(read_text(folder / "by_default.npy"), read_text(folder / "told.npy")) << size;
  }
}

TEST_F(Escape, PicturesAreBlackInsideAndLighterTowardsTheSet) {
  std::string const region = "--size 90x60 --region -2 1 -1 1 --no-smooth --output ";
  run_quietly(region + "u.npy");
  run_quietly(region + "u.png");
  auto const picture = io::read_png(folder / "u.png");
  ASSERT_EQ(picture.columns, 90);
  ASSERT_EQ(picture.rows, 60);
  auto const counts = numbers_of<int>(io::read_npy(folder / "u.npy"));
  for (std::size_t n = 0; n < counts.size(); ++n)
    if (counts[n] == 256) {
      EXPECT_EQ(picture.samples[n], 0);
    }
  EXPECT_LT(picture(0, 0), 30);
  EXPECT_GT(*std::max_element(picture.samples.begin(), picture.samples.end()), 150);
  run_quietly("--size 9x7 --center 0 0 --width 0.1 --output inside.png");
  EXPECT_EQ(io::read_png(folder / "inside.png").samples, std::vector<std::uint16_t>(63, 0));
}

TEST_F(Escape, ReportHasItsKeysInOrder) {
  run_quietly(
      "--size 64x48 --iterations 100 --repeat 3 --no-smooth --output u.npy --report r.json");
  auto const found = report();
  EXPECT_EQ(coir::testing::keys_of(found),
            "application version kokkos_version backend device threads scheme set precision "
            "rows columns iterations seconds pixels_per_second iterations_per_second "
            "inside_fraction bytes_peak");
  EXPECT_EQ(found["scheme"], "kernel");
  EXPECT_EQ(found["set"], "mandelbrot");
  EXPECT_EQ(found["precision"], "float");
  EXPECT_EQ(found["rows"], 48);
  EXPECT_EQ(found["columns"], 64);
  double const seconds = found["seconds"];
  EXPECT_NEAR(found["pixels_per_second"].get<double>() * seconds, 64 * 48, 1e-6);
  auto const counts = numbers_of<int>(io::read_npy(folder / "u.npy"));
  double steps = 0;
  for (int const count : counts) steps += count;
  EXPECT_NEAR(found["iterations_per_second"].get<double>() * seconds, steps, 1e-6 * steps);
  EXPECT_EQ(found["inside_fraction"].get<double>(),
            double(std::count(counts.begin(), counts.end(), 100)) / (64 * 48));
}

TEST_F(Escape, CoresDrawWhatTheBuildsOwnBackendDraws) {
  std::string const options = "--scheme arrays --set julia --no-smooth --size 70x50 --output ";
  run_quietly(options + "u.npy");
  run_quietly(options + "v.npy --backend cpu --report r.json");
  EXPECT_EQ(read_text(folder / "u.npy"), read_text(folder / "v.npy"));
  EXPECT_EQ(report()["backend"], Kokkos::DefaultHostExecutionSpace::name());
}

TEST_F(Escape, WrongOptionsAreRefused) {
  expect_failures(2, {{"--size 0x5", {"--size", "from 1 to 1000000"}},
                      {"--size 5", {"columns and rows", "1920x1080", "5"}},
                      {"--region 0 1 0", {"--region takes 4 values, X0 X1 Y0 Y1, not '0 1 0'"}},
                      {"--region 0 1 0 1e4", {"--region", "from -1000 to 1000", "10000"}},
                      {"--region 1 -2 -1 1", {"X0 below X1 and Y0 below Y1", "not 1 -2 -1 1"}},
                      {"--width 2000", {"--width must be at most 1000, not 2000"}},
                      {"--constant 0 0", {"--constant", "--set julia"}},
                      {"--region 0 1 0 1 --center 0 0", {"--region", "--center"}},
                      {"--output u.npy --report u.npy", {"u.npy", "different"}},
                      {"--output u.jpg", {"'u.jpg'", ".png or .npy"}}});
  for (std::string const scheme : {"kernel", "arrays"})
    expect_failure(4, "--size 1000000x1000000 --output u.png --scheme " + scheme,
                   {"1000000 x 1000000 pixels needs", "TiB", "are free", "use a smaller"});
}

TEST_F(Escape, PixelsTooSmallForThePrecisionAreRefused) {
  expect_failures(5, {{"--center -0.75 0.1 --width 1e-5 --output u.png",
                       {"pixels of 9.77e-09", "0.750005", "float", "--precision double"}},
                      {"--center -0.75 0.1 --width 1e-13 --precision double --output u.png",
                       {"double", "use a wider region or fewer pixels"}}});
}
