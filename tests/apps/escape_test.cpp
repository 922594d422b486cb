#include <escape/escape_arrays.hpp>
#include <escape/escape_time.hpp>
#include <support/command.hpp>
#include <support/sanitizers.hpp>
#include <support/spaces.hpp>

#include <coir/io/image.hpp>
#include <coir/io/npy.hpp>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace {

namespace fs = std::filesystem;
namespace io = coir::io;
using namespace coir::apps::escape;
using coir::testing::is_sanitized;
using coir::testing::Outcome;
using coir::testing::read_text;

bool contains(std::string const& text, std::string const& part) {
  return text.find(part) != std::string::npos;
}

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
    for (int iterations = 1; iterations <= 256; iterations += iterations < 9 ? 1 : 41)
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
    // The logarithms are right to 4 ulp: of the inner one, at most 32, that is 4 ulp of its own value, so
    // 4 eps / ln 2 after the outer one, which adds 4 ulp of at most 8; the count adds a rounding.
    T const eps = std::numeric_limits<T>::epsilon();
    for (std::size_t n = 0; n < expected.values.size(); ++n)
      EXPECT_NEAR(found.values[n], expected.values[n], eps * (6 + 32 + 2 * expected.values[n]));
  }
}

// As n grows, n - log2(log2 |z_n|) tends to a limit, which is the logarithm of c's potential. |z_n|^2 is
// above 65536 where the values are taken, and z^2 + c differs from z^2 by |c| / 65536 of it, at most 1e-4
// for these c; the logarithms shrink that.
TYPED_TEST(EscapeKernel, SmoothValuesAreThoseOfThePotential) {
  using T = typename TypeParam::Real;
  auto problem = mandelbrot<T>(20, 20, 100);
  problem.pixels.left = T(2.1);
  auto const found = this->compute(problem, true);
  for (int i = 0; i < 20; ++i)
    for (int j = 0; j < 20; ++j) {
      using Wide = long double;  // which holds |z| after ten steps
      Wide const c_re = problem.pixels.real(j), c_im = problem.pixels.imag(i);
      Wide re = 0, im = 0;
      for (int n = 0; n < 10; ++n) {
        Wide const next = re * re - im * im + c_re;
        im = 2 * re * im + c_im;
        re = next;
      }
      double const limit = double(10 - std::log2(std::log2(std::hypot(re, im))));
      EXPECT_NEAR(found.values[i * 20 + j], std::max(limit, 0.0), 1e-4) << i << ", " << j;
    }
}

TYPED_TEST(EscapeKernel, WhatStaysHasTheMostStepsAsItsValue) {
  using T = typename TypeParam::Real;
  EXPECT_EQ(this->compute(single<T>(0, 0, 77), true).values.front(), T(77));
  EXPECT_EQ(this->compute(single<T>(-2, 0, 77), true).values.front(), T(77));
}

TYPED_TEST(EscapeKernel, MirroredPixelsHaveTheSameCounts) {
  using T = typename TypeParam::Real;
  auto problem = mandelbrot<T>(128, 128, 300);
  problem.pixels.top = T(1);
  problem.pixels.height = T(1) / T(64);  // a power of two: centres are exact
  auto const counts = this->compute(problem).counts;
  for (int i = 0; i < 64; ++i)
    for (int j = 0; j < 128; ++j)
      ASSERT_EQ(counts[i * 128 + j], counts[(127 - i) * 128 + j]) << i << ", " << j;
}

TYPED_TEST(EscapeKernel, AreaOfTheMandelbrotSet) {
  using T = typename TypeParam::Real;
  auto const problem = mandelbrot<T>(600, 600, 2000);
  auto const counts = this->compute(problem).counts;
  double const inside = double(std::count(counts.begin(), counts.end(), problem.iterations));
  // 1.50659 by Munafo's counts of pixels. Points that leave after 2000 steps add less than 0.01, and a
  // grid of this spacing errs by as much.
  EXPECT_NEAR(inside / (600 * 600) * 9, 1.5066, 0.02);
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
      auto const problem = is_julia ? julia<TypeParam>(rows, columns, 150)
                                    : mandelbrot<TypeParam>(rows, columns, 150);
      auto const kernel = by_kernel<coir::testing::Device>(problem, true);
      auto const arrays = by_arrays(problem, true);
      EXPECT_EQ(arrays.counts, kernel.counts) << rows << " x " << columns;
      EXPECT_EQ(by_arrays(problem, false).counts, kernel.counts) << rows << " x " << columns;
      // The same formula; vector and scalar logarithms differ as in SmoothValuesAreThoseOfAPlainLoop.
      TypeParam const eps = std::numeric_limits<TypeParam>::epsilon();
      for (std::size_t n = 0; n < kernel.values.size(); ++n)
        EXPECT_NEAR(arrays.values[n], kernel.values[n], eps * (38 + 2 * kernel.values[n]));
    }
}

TYPED_TEST(EscapeArrays, TheMonitorMayStop) {
  std::int64_t last = 0;
  by_arrays(mandelbrot<TypeParam>(3, 3, 100), true, [&](std::int64_t done, std::int64_t total) {
    last = done;
    EXPECT_EQ(total, 100);
    return done < 7;
  });
  EXPECT_EQ(last, 7);
}

// --- The application ---

namespace {

/// coir-escape in a folder of its own.
class Escape : public ::testing::Test {
 protected:
  /// \param before  shell commands to go ahead, each ended by &&
  Outcome run(std::string const& arguments, std::string const& before = "") const {
    return coir::testing::run_command("cd '" + folder.path().string() + "' && " + before + " '" +
                                      COIR_APP + "' " + arguments);
  }

  /// A run that must succeed and say nothing.
  void run_quietly(std::string const& arguments, std::string const& before = "") const {
    auto const outcome = run(arguments + " --quiet", before);
    EXPECT_EQ(outcome.code, 0) << arguments;
    EXPECT_EQ(outcome.output, "") << arguments;
    EXPECT_EQ(outcome.errors, "") << arguments;
  }

  std::set<std::string> files() const {
    std::set<std::string> names;
    for (auto const& entry : fs::directory_iterator(folder.path()))
      names.insert(entry.path().filename().string());
    return names;
  }

  /// A run that must fail with `code` and one line on stderr with all of `parts`, and leave no file.
  void expect_failure(int code, std::string const& arguments, std::vector<std::string> const& parts,
                      std::string const& before = "") const {
    SCOPED_TRACE(arguments);
    auto const earlier = files();
    auto const outcome = run(arguments, before);
    EXPECT_EQ(outcome.code, code);
    EXPECT_EQ(outcome.output, "");
    EXPECT_TRUE(outcome.errors.starts_with("coir-escape: error: ")) << outcome.errors;
    EXPECT_EQ(std::count(outcome.errors.begin(), outcome.errors.end(), '\n'), 1) << outcome.errors;
    for (auto const& part : parts)
      EXPECT_TRUE(contains(outcome.errors, part)) << outcome.errors << "lacks: " << part;
    EXPECT_EQ(files(), earlier);
  }

  io::NpyArray read_array(std::string const& name) const { return io::read_npy(folder / name); }

  coir::testing::TemporaryFolder folder;
};

template <class T>
std::vector<T> numbers_of(io::NpyArray const& array) {
  auto const* const first = reinterpret_cast<T const*>(array.bytes.data());
  return {first, first + array.bytes.size() / sizeof(T)};
}

}  // namespace

using BadEscape = Escape;

TEST_F(Escape, BothSchemesWriteTheSameBytes) {
  for (std::string const precision : {"float", "double"})
    for (std::string const set : {"mandelbrot", "julia"}) {
      std::string const options = "--size 97x61 --iterations 100 --no-smooth --precision " +
                                  precision + " --set " + set + " --scheme ";
      for (std::string const ending : {".npy", ".png"}) {
        run_quietly(options + "kernel --output kernel" + ending);
        run_quietly(options + "arrays --output arrays" + ending);
        EXPECT_EQ(read_text(folder / ("kernel" + ending)), read_text(folder / ("arrays" + ending)))
            << precision << " " << set << ending;
      }
    }
}

TEST_F(Escape, OneThreadAndTwoWriteTheSameBytes) {
  for (std::string const scheme : {"kernel", "arrays"}) {
    std::string const options = "--size 201x100 --output u.npy --scheme " + scheme;
    run_quietly(options, "OMP_NUM_THREADS=1");
    std::string const one = read_text(folder / "u.npy");
    run_quietly(options, "OMP_NUM_THREADS=2");
    EXPECT_EQ(read_text(folder / "u.npy"), one) << scheme;
  }
}

TEST_F(Escape, CountsAreThoseOfAPlainLoop) {
  run_quietly(
      "--size 60 40 --region -2 1 -1.5 1.5 --iterations 77 --no-smooth --output counts.npy");
  auto const array = read_array("counts.npy");
  EXPECT_EQ(array.type, io::NpyType::int32);
  EXPECT_EQ(array.shape, (std::vector<std::int64_t>{40, 60}));
  EXPECT_EQ(numbers_of<int>(array), by_plain_loop(mandelbrot<float>(40, 60, 77)).counts);
}

TEST_F(Escape, SmoothValuesAreWrittenInTheirPrecision) {
  run_quietly("--size 60x40 --output values.npy");
  EXPECT_EQ(read_array("values.npy").type, io::NpyType::float32);
  run_quietly("--size 60x40 --smooth --precision double --output values.npy");
  EXPECT_EQ(read_array("values.npy").type, io::NpyType::float64);
}

TEST_F(Escape, DefaultRegionHasSquarePixelsAndTheWholeSet) {
  run_quietly("--size 60x60 --no-smooth --output square.npy");
  run_quietly("--size 60x60 --region -2 1 -1.5 1.5 --no-smooth --output region.npy");
  EXPECT_EQ(read_text(folder / "square.npy"), read_text(folder / "region.npy"));
  run_quietly("--size 120x60 --no-smooth --output wide.npy");
  run_quietly("--size 120x60 --center -0.5 0 --width 6 --no-smooth --output width.npy");
  EXPECT_EQ(read_text(folder / "wide.npy"), read_text(folder / "width.npy"));
  run_quietly("--size 60x120 --no-smooth --output tall.npy");
  run_quietly("--size 60x120 --region -2 1 -3 3 --no-smooth --output region.npy");
  EXPECT_EQ(read_text(folder / "tall.npy"), read_text(folder / "region.npy"));
}

TEST_F(Escape, PicturesAreBlackInsideAndLighterTowardsTheSet) {
  for (std::string const smooth : {"--smooth", "--no-smooth"}) {
    run_quietly("--size 90x60 --region -2 1 -1 1 --output u.png " + smooth);
    run_quietly("--size 90x60 --region -2 1 -1 1 --output u.npy --no-smooth");
    auto const picture = io::read_image(folder / "u.png");
    ASSERT_EQ(picture.columns, 90);
    ASSERT_EQ(picture.rows, 60);
    auto const counts = numbers_of<int>(read_array("u.npy"));
    for (std::size_t n = 0; n < counts.size(); ++n)
      if (counts[n] == 256) {
        EXPECT_EQ(picture.samples[n], 0);
      }
    EXPECT_LT(picture(0, 0), 30);
    EXPECT_GT(*std::max_element(picture.samples.begin(), picture.samples.end()), 150);
  }
}

TEST_F(Escape, APictureOfNothingButTheInsideIsBlack) {
  run_quietly("--size 9x7 --center 0 0 --width 0.1 --output u.png");
  EXPECT_EQ(io::read_image(folder / "u.png").samples, std::vector<std::uint16_t>(63, 0));
}

TEST_F(Escape, ReportHasItsKeysInOrder) {
  run_quietly("--size 64x48 --iterations 100 --repeat 3 --report run.json");
  auto const report = nlohmann::ordered_json::parse(read_text(folder / "run.json"));
  std::vector<std::string> keys;
  for (auto const& item : report.items()) keys.push_back(item.key());
  EXPECT_EQ(keys, (std::vector<std::string>{
                      "application", "version", "kokkos_version", "backend", "device", "threads",
                      "scheme", "set", "precision", "rows", "columns", "iterations", "seconds",
                      "pixels_per_second", "iterations_per_second", "inside_fraction",
                      "bytes_predicted", "bytes_peak", "device_bytes_predicted"}));
  EXPECT_EQ(report["application"], "coir-escape");
  EXPECT_EQ(report["scheme"], "kernel");
  EXPECT_EQ(report["set"], "mandelbrot");
  EXPECT_EQ(report["precision"], "float");
  EXPECT_EQ(report["rows"], 48);
  EXPECT_EQ(report["columns"], 64);
  EXPECT_EQ(report["iterations"], 100);
  double const seconds = report["seconds"];
  EXPECT_GT(seconds, 0);
  EXPECT_NEAR(report["pixels_per_second"].get<double>() * seconds, 64 * 48, 1e-6);

  run_quietly("--size 64x48 --iterations 100 --no-smooth --output counts.npy");
  auto const counts = numbers_of<int>(read_array("counts.npy"));
  double steps = 0;
  for (int const count : counts) steps += count;
  EXPECT_NEAR(report["iterations_per_second"].get<double>() * seconds, steps, 1e-6 * steps);
  EXPECT_EQ(report["inside_fraction"].get<double>(),
            double(std::count(counts.begin(), counts.end(), 100)) / (64 * 48));
}

TEST_F(Escape, CoresDrawWhatTheBuildsOwnBackendDraws) {
  for (std::string const options : {"", "--scheme arrays --set julia --precision double"}) {
    std::string const both = options + " --no-smooth --size 70x50 --report r.json ";
    run_quietly(both + "--output u.npy");
    run_quietly(both + "--output v.npy --backend cpu");
    EXPECT_EQ(read_text(folder / "u.npy"), read_text(folder / "v.npy")) << options;
    auto const report = nlohmann::json::parse(read_text(folder / "r.json"));
    EXPECT_EQ(report["backend"], Kokkos::DefaultHostExecutionSpace::name());
    EXPECT_TRUE(report["device_bytes_predicted"].is_null());
  }
}

TEST_F(Escape, WithoutADeviceItSaysSoUnlessItIsQuiet) {
  std::string const hidden = "CUDA_VISIBLE_DEVICES=-1 HIP_VISIBLE_DEVICES=-1";
  run_quietly("--size 70x50 --output u.npy", hidden);
  run_quietly("--size 70x50 --output v.npy --backend cpu");
  EXPECT_EQ(read_text(folder / "u.npy"), read_text(folder / "v.npy"));
  auto const outcome = run("--size 8x8", hidden);
  EXPECT_EQ(outcome.code, 0);
  EXPECT_EQ(contains(outcome.errors, "coir-escape: warning: no usable "),
            !coir::runs_on_host<Kokkos::DefaultExecutionSpace>)
      << outcome.errors;
  EXPECT_TRUE(contains(outcome.output,
                       "computed on " + std::string(Kokkos::DefaultHostExecutionSpace::name())))
      << outcome.output;
}

TEST_F(Escape, ItSaysHowFastItWas) {
  auto const outcome = run("--size 64x48");
  EXPECT_EQ(outcome.code, 0);
  EXPECT_EQ(outcome.errors, "");
  for (char const* part : {"kernel: 64 x 48 pixels in ", "pixel/s", "step/s", "within 256 steps"})
    EXPECT_TRUE(contains(outcome.output, part)) << outcome.output;
}

TEST_F(Escape, HelpNamesEveryOptionAndAnExample) {
  auto const help = run("--help");
  EXPECT_EQ(help.code, 0);
  for (char const* part :
       {"--set mandelbrot|julia", "--constant RE IM", "--region X0 X1 Y0 Y1", "--center X Y",
        "--width", "--size COLUMNS ROWS or COLUMNSxROWS", "--iterations",
        "--precision float|double", "--scheme arrays|kernel", "--smooth", "--no-smooth",
        "--output FILE", "--report FILE", "--repeat", "--progress", "--quiet",
        "coir-escape --size 1920x1080 --output mandelbrot.png", "Exit codes"})
    EXPECT_TRUE(contains(help.output, part)) << part;
}

TEST_F(BadEscape, CtrlCStopsItWithinASecond) {
  // Minutes of work in many steps: arrays make one with all pixels at once, the kernel all with some pixels.
  struct Run {
    std::string scheme, size, iterations;
  };
  for (auto const& [scheme, size, iterations] :
       {Run{"kernel", "8192x8192", "200000"}, Run{"arrays", "1024x1024", "10000000"}}) {
    std::string const errors = folder / "errors";
    auto const earlier = files();
    pid_t const child = fork();
    ASSERT_NE(child, -1);
    if (child == 0) {
      std::signal(SIGINT, SIG_DFL);  // a job in the background has it ignored
      bool const ready = chdir(folder.path().c_str()) == 0 &&
                         dup2(open(errors.c_str(), O_WRONLY | O_CREAT, 0600), STDERR_FILENO) != -1;
      if (ready)
        execl(COIR_APP, "coir-escape", "--size", size.c_str(), "--center", "0", "0", "--width",
              "0.1", "--iterations", iterations.c_str(), "--scheme", scheme.c_str(), "--progress",
              "--output", "u.png", "--report", "run.json", nullptr);
      _exit(127);
    }
    using Clock = std::chrono::steady_clock;
    auto const begin = Clock::now();
    std::string const unit = scheme == "kernel" ? " pixels" : " steps";
    while (!contains(read_text(errors), unit) && Clock::now() - begin < std::chrono::minutes(1))
      std::this_thread::sleep_for(std::chrono::milliseconds(20));

    auto const interrupted = Clock::now();
    kill(child, SIGINT);
    int status = 0;
    waitpid(child, &status, 0);
    double const seconds = std::chrono::duration<double>(Clock::now() - interrupted).count();
    EXPECT_LT(seconds, 3) << scheme;  // one on a machine that isn't busy
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 130) << status;
    std::string const text = read_text(errors);
    // In the words of the loop, or where a step takes more than half a second (sanitizers) of who waited for it.
    EXPECT_TRUE((contains(text, "coir-escape: error: stopped after ") &&
                 contains(text, unit + "; nothing was written")) ||
                (is_sanitized && contains(text, "coir-escape: error: stopped while computing by " +
                                                    scheme + "; nothing was written")))
        << text;
    fs::remove(errors);
    EXPECT_EQ(files(), earlier);
  }
}

// --- Wrong usage: 2 ---

TEST_F(BadEscape, UnknownOption) {
  expect_failure(2, "--outptu u.png", {"--outptu", "did you mean --output?"});
  expect_failure(2, "u.png", {"one argument too many: u.png"});
}

TEST_F(BadEscape, RepeatedOption) {
  for (std::string const option :
       {"--iterations 3", "--quiet", "--report r.json", "--region -1 1 -1 1", "--center 0 0"})
    expect_failure(2, option + " " + option, {"2 times", "give it once"});
}

TEST_F(BadEscape, UnknownWordForAnOption) {
  expect_failure(2, "--set newton", {"mandelbrot, julia", "'newton'"});
  expect_failure(2, "--scheme fast", {"arrays, kernel", "'fast'"});
  expect_failure(2, "--precision half", {"float, double", "'half'"});
}

TEST_F(BadEscape, SizesOutOfRange) {
  for (std::string const size : {"0x5", "5x0", "-3x5", "1000001x5", "5x1e3", "x5", "5x", "axb"})
    expect_failure(2, "--output u.png --size " + size, {"--size", "from 1 to 1000000"});
  for (std::string const size : {"5", "''"})
    expect_failure(2, "--output u.png --size " + size, {"columns and rows", "1920x1080", size});
  expect_failure(2, "--size", {"--size", "has no value"});
}

TEST_F(BadEscape, CoordinatesThatAreNone) {
  expect_failure(2, "--region 0 1 0", {"--region takes 4 values, X0 X1 Y0 Y1, not '0 1 0'"});
  expect_failure(2, "--region 0 1 0 nan", {"--region", "finite number", "'nan'"});
  expect_failure(2, "--region 0 1 0 1e4", {"--region", "from -1000 to 1000", "10000"});
  expect_failure(2, "--center here 0", {"--center", "finite number", "'here'"});
  expect_failure(2, "--set julia --constant 2000 0", {"--constant", "-1000 to 1000", "2000"});
  for (std::string const width : {"0", "-1", "wide", "inf"})
    expect_failure(2, "--width " + width, {"--width must be a number above 0", "'" + width + "'"});
  expect_failure(2, "--width 2000", {"--width must be at most 1000, not 2000"});
}

TEST_F(BadEscape, RegionsThatAreTurnedOver) {
  for (std::string const region : {"1 -2 -1 1", "-2 1 1 -1", "0 0 0 1", "0 1 0 0"})
    expect_failure(2, "--output u.png --region " + region,
                   {"X0 below X1 and Y0 below Y1", "not " + region});
}

TEST_F(BadEscape, IterationsOutOfRange) {
  for (std::string const value : {"0", "-1", "many", "10000001", "99999999999999999999"})
    expect_failure(2, "--output u.png --iterations " + value,
                   {"--iterations", "from 1 to 10000000", "'" + value + "'"});
}

TEST_F(BadEscape, OptionsThatContradictEachOther) {
  expect_failure(2, "--constant 0 0", {"--constant", "--set julia"});
  expect_failure(2, "--region 0 1 0 1 --center 0 0", {"--region", "--center"});
  expect_failure(2, "--region 0 1 0 1 --width 1", {"--region", "--width"});
  expect_failure(2, "--smooth --no-smooth", {"--smooth", "--no-smooth"});
  expect_failure(2, "--quiet --progress", {"--quiet", "--progress"});
  expect_failure(2, "--output u.npy --report u.npy", {"u.npy", "different"});
}

TEST_F(Escape, AFlagThatIsTurnedOffIsOff) {
  std::string const size = "--size 20x20 ";
  run_quietly(size + "--no-smooth --output counts.npy");
  run_quietly(size + "--smooth=false --output off.npy");
  run_quietly(size + "--output smooth.npy");
  run_quietly(size + "--no-smooth=false --output on.npy");
  EXPECT_TRUE(read_text(folder / "off.npy") == read_text(folder / "counts.npy"));
  EXPECT_TRUE(read_text(folder / "on.npy") == read_text(folder / "smooth.npy"));
  EXPECT_FALSE(read_text(folder / "on.npy") == read_text(folder / "off.npy"));
}

TEST_F(BadEscape, OutputWithoutAFormat) {
  for (std::string const name : {"u.jpg", "u.pgm", "u"})
    expect_failure(2, "--output " + name, {"'" + name + "'", ".png or .npy"});
  expect_failure(2, "--output ''", {"--output must name a file"});
}

// --- Outputs and memory that aren't there: 4; pixels that can't be told apart: 5 ---

TEST_F(BadEscape, OutputFolderMissing) {
  for (std::string const option : {"--output", "--report"})
    expect_failure(4, option + " none/u.png",
                   {"none/u.png", "the folder none does not exist", "create it"});
}

TEST_F(BadEscape, DiskFullWhileWriting) {
  fs::create_symlink("/dev/full", folder / "full.png");
  expect_failure(4, "--quiet --size 64x64 --output full.png",
                 {"full.png", "No space left", "free some space"});
  // One kilobyte, which LLVM's OpenMP wants for a file of its own.
  expect_failure(4, "--quiet --size 64x64 --output u.npy",
                 {"u.npy", "File too large", "raise the limit"}, "ulimit -f 2 &&");
}

TEST_F(Escape, MemoryIsPredictedToAFifthWhateverTheOptions) {
  if (is_sanitized) GTEST_SKIP() << "sanitizers take memory of their own";
  for (std::string const scheme : {"kernel", "arrays"})
    for (std::string const options :
         {"", "--precision double --output u.png", "--output u.npy", "--no-smooth --output u.png",
          "--no-smooth --output u.npy", "--set julia --precision double --smooth",
          "--set julia --output u.png --repeat 2"}) {
      run_quietly(options +
                  " --backend cpu --size 1900x1700 --iterations 4 --report r.json --scheme " +
                  scheme);
      auto const report = nlohmann::json::parse(read_text(folder / "r.json"));
      auto const predicted = report["bytes_predicted"].get<double>();
      auto const used = report["bytes_peak"].get<double>();
      EXPECT_GE(predicted, used) << scheme << " " << options;
      EXPECT_LE(predicted, 1.2 * used) << scheme << " " << options;
    }
}

TEST_F(BadEscape, MemoryThatCantBeHadIsRefusedBeforeTheWork) {
  if (is_sanitized) GTEST_SKIP() << "sanitizers take address space without end";
  if (!coir::runs_on_host<Kokkos::DefaultExecutionSpace>) GTEST_SKIP() << "pixels are on a device";
  auto const limit = [](int mebibytes) {
    return "ulimit -v " + std::to_string(1024 * mebibytes) + " &&";
  };
  // What libraries and threads reserve is another on each system.
  int mebibytes = 40;
  while (mebibytes < 900 &&
         run("--size 8x8 --quiet --output small.png", limit(mebibytes)).code != 0)
    mebibytes += 15;
  bool was_refused = false, was_done = false;
  for (; mebibytes < 900 && !was_done; mebibytes += 15) {
    auto const earlier = files();
    auto const outcome = run(
        "--size 1900x1700 --iterations 2 --precision double --scheme arrays --output u.png --quiet",
        limit(mebibytes));
    SCOPED_TRACE(std::to_string(mebibytes) + " MiB: " + outcome.errors);
    was_done = outcome.code == 0;
    if (was_done) {
      EXPECT_EQ(outcome.errors, "");
      EXPECT_TRUE(fs::exists(folder / "u.png"));
      break;
    }
    EXPECT_EQ(outcome.code, 4);
    EXPECT_EQ(std::count(outcome.errors.begin(), outcome.errors.end(), '\n'), 1);
    EXPECT_TRUE(contains(outcome.errors, " are free: use a smaller"));
    EXPECT_EQ(files(), earlier);
    was_refused = true;
  }
  EXPECT_TRUE(was_refused && was_done);
}

TEST_F(BadEscape, MoreMemoryThanThereIs) {
  for (std::string const scheme : {"kernel", "arrays"})
    expect_failure(4, "--size 1000000x1000000 --output u.png --scheme " + scheme,
                   {"1000000 x 1000000 pixels needs", "TiB", "are free", "use a smaller"});
}

TEST_F(BadEscape, PixelsTooSmallForThePrecision) {
  expect_failure(5, "--center -0.75 0.1 --width 1e-5 --output u.png",
                 {"pixels of 9.77e-09", "0.750005", "float", "--precision double"});
  expect_failure(5, "--center -0.75 0.1 --width 1e-13 --precision double --output u.png",
                 {"double", "use a wider region or fewer pixels"});
}
