#include "app_fixture.hpp"

#include <coir/core/concepts.hpp>
#include <coir/core/machine.hpp>
#include <coir/io/npy.hpp>
#include <coir/io/png.hpp>
#include <coir/poisson/direct.hpp>

#include <cmath>
#include <cstdint>
#include <limits>

namespace {

namespace fs = std::filesystem;
namespace io = coir::io;
using namespace coir::testing;

template <class T>
using HostGrid = Kokkos::View<T**, Kokkos::LayoutRight, Kokkos::HostSpace>;

constexpr int rows = 17;
constexpr int columns = 24;

/// A small picture with levels from black to white, steep edges among them.
io::GrayImage small_picture() {
  io::GrayImage picture{rows, columns, 8, {}};
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < columns; ++j)
      picture.samples.push_back(static_cast<std::uint16_t>((37 * i + 53 * j + 11 * i * j) % 256));
  return picture;
}

/// coir-jacobi in a folder that holds picture.png.
class Jacobi : public coir::testing::AppTest {
 protected:
  Jacobi() { io::write_png(folder / "picture.png", picture); }

  template <class T>
  HostGrid<T> read_array(std::string const& name) const {
    return io::read_npy<HostGrid<T>>(folder / name);
  }

  template <class T>
  void write_array(std::string const& name, std::vector<T> const& values) const {
    HostGrid<T> const array("array", 2, values.size() / 2);
    std::copy(values.begin(), values.end(), array.data());
    io::write_npy(folder / name, array);
  }

  io::GrayImage picture = small_picture();
};

/// Schemes, with direct where this build has it.
std::vector<std::string> with_direct(std::vector<std::string> schemes) {
  if (coir::poisson::has_direct()) schemes.push_back("direct");
  return schemes;
}

/// An NPY file's first part, for files whose elements don't matter or aren't there.
std::string npy_header(std::string const& type, std::string const& shape) {
  std::string text = "{'descr': '" + type + "', 'fortran_order': False, 'shape': " + shape + ", }";
  text.resize((10 + text.size() + 1 + 63) / 64 * 64 - 10 - 1, ' ');
  text += '\n';
  return std::string("\x93NUMPY\x01\x00", 8) + static_cast<char>(text.size()) + '\0' + text;
}

}  // namespace

TEST_F(Jacobi, EverySchemeRebuildsThePicture) {
  for (std::string const options :
       {"--sweeps 1500", "--scheme plain --sweeps 1500", "--scheme arrays --sweeps 1501",
        "--scheme blocked --sweeps 1500", "--scheme red-black", "--scheme cg", "--scheme multigrid",
        "--scheme red-black --start zero", "--scheme cg --start zero --precision double"}) {
    run_quietly("picture.png --output rebuilt.png " + options);
    EXPECT_EQ(io::read_png(folder / "rebuilt.png").samples, picture.samples) << options;
  }
}

TEST_F(Jacobi, PlainBlockedAndArraysWriteTheSameBytes) {
  for (std::string const options :
       {"--sweeps 37", "--sweeps 38 --precision double", "--sweeps 1 --start zero",
        "--sweeps 5000 --tolerance 1e-3 --start zero"}) {
    run_quietly("picture.png --scheme plain --output plain.npy " + options);
    for (std::string const scheme : {"blocked", "arrays"}) {
      run_quietly("picture.png --scheme " + scheme + " --output other.npy " + options);
      EXPECT_EQ(read_text(folder / "plain.npy"), read_text(folder / "other.npy"))
          << scheme << " " << options;
    }
  }
}

TEST_F(Jacobi, ArraysTakePicturesOfFewCells) {
  for (auto const& [m, n] : {std::pair(1, 1), std::pair(9, 1), std::pair(2, 2)}) {
    std::vector<std::uint16_t> const samples(static_cast<std::size_t>(m * n), 0x55);
    io::write_png(folder / "small.png", io::GrayImage{m, n, 8, samples});
    run_quietly("small.png --scheme plain --sweeps 7 --output plain.npy");
    run_quietly("small.png --scheme arrays --sweeps 7 --output arrays.npy");
    EXPECT_EQ(read_text(folder / "plain.npy"), read_text(folder / "arrays.npy")) << m << " x " << n;
  }
}

TEST_F(Jacobi, ConjugateGradientsReportIterations) {
  run_quietly("picture.png --scheme cg --precision double --tolerance 1e-9 --report r.json");
  EXPECT_EQ(report()["stopped_by"], "tolerance");
  EXPECT_LE(report()["relative_residual"], 1e-9);
  EXPECT_LE(report()["sweeps"], 12);
  EXPECT_EQ(report()["bandwidth_not_measured"], "cg makes no sweeps");
  auto const once = run("picture.png --scheme cg --sweeps 1");
  EXPECT_TRUE(contains(once.output, "cg: 1 iteration in ")) << once.output;
}

TEST_F(Jacobi, DirectSolvesOnce) {
  if (!coir::poisson::has_direct())
    return expect_failure(2, "picture.png --scheme direct",
                          {"--scheme must be another one", "no Fourier transforms"});
  for (std::string const options : {"", " --start zero --sweeps 1 --precision double"}) {
    run_quietly("picture.png --scheme direct --output rebuilt.png --report r.json" + options);
    EXPECT_EQ(io::read_png(folder / "rebuilt.png").samples, picture.samples) << options;
    EXPECT_EQ(report()["sweeps"], 1);
    EXPECT_EQ(report()["stopped_by"], "tolerance");
    EXPECT_EQ(report()["converged"], true);
    EXPECT_LT(report()["relative_residual"], options.empty() ? 1e-5 : 1e-13);
    EXPECT_EQ(report()["bandwidth_not_measured"], "direct makes no sweeps");
    EXPECT_EQ(report()["largest_prime_factor"], 5);  // of 24 + 1 columns
  }
  auto const once = run("picture.png --scheme direct");
  EXPECT_TRUE(contains(once.output, "direct: 1 solve in ")) << once.output;
  EXPECT_FALSE(contains(once.output, "prime factor")) << once.output;
  // 100 columns plus 1 is a prime.
  write("long.npy", npy_header("|u1", "(2, 100)") + std::string(200, '\x55'));
  for (std::string const options : {"--scheme direct", "--compare --sweeps 2"}) {
    auto const slow = run("long.npy " + options);
    EXPECT_TRUE(contains(slow.output, "the prime factor 101: ")) << slow.output;
  }
  expect_failure(5, "picture.png --scheme direct --tolerance 1e-12",
                 {"after 1 solve of direct", "rounding ends it here"});
  expect_failure(2, "picture.png --scheme direct --sweeps 2", {"--sweeps must be 1", "not 2"});
}

TEST_F(Jacobi, WithoutSweepsTheStartIsTheResult) {
  run_quietly("picture.png --sweeps 0 --output u.npy --output-laplacian b.npy");
  EXPECT_EQ(read_text(folder / "u.npy"), read_text(folder / "b.npy"));
  run_quietly("picture.png --sweeps 0 --start zero --output u.png");
  EXPECT_EQ(io::read_png(folder / "u.png").samples, std::vector<std::uint16_t>(rows * columns, 0));
}

TEST_F(Jacobi, ColoursThatBecomeGreyAreTold) {
  io::write_png(folder / "colours.png", 1, 2, [](int, auto samples) {
    std::ranges::copy(std::vector<std::uint8_t>{9, 9, 9, 0, 0, 200}, samples.begin());
  });
  std::string const note = "the picture's colours were turned into grey\n";
  auto const outcome = run("colours.png --sweeps 1 --report r.json");
  EXPECT_TRUE(outcome.output.ends_with(note)) << outcome.output;
  EXPECT_EQ(report()["input_had_colours"], true);
  EXPECT_FALSE(contains(run("picture.png --sweeps 1").output, note));
}

TEST_F(Jacobi, ArraysOfDoublesAreTakenInEitherPrecision) {
  std::vector<double> values;
  for (int n = 0; n < 12; ++n) values.push_back(-2.5 + 0.7 * n);
  write_array("array.npy", values);
  run_quietly("array.npy --scheme multigrid --precision double --output double.npy");
  run_quietly("array.npy --scheme multigrid --output float.npy");
  EXPECT_EQ(io::read_npy(folder / "double.npy").type, io::NpyType::float64);
  auto const as_double = read_array<double>("double.npy");
  auto const as_float = read_array<float>("float.npy");
  for (std::size_t n = 0; n < values.size(); ++n) {
    EXPECT_NEAR(as_double.data()[n], values[n], 1e-8);
    EXPECT_NEAR(as_float.data()[n], values[n], 1e-3);
  }
}

TEST_F(Jacobi, TheLaplacianIsWrittenAndTaken) {
  run_quietly("picture.png --sweeps 0 --output-laplacian b.npy");
  run_quietly("picture.png --sweeps 0 --output-laplacian b.png");
  auto const b = read_array<float>("b.npy");
  EXPECT_EQ(b(0, 0), picture(1, 0) + picture(0, 1) - 4 * picture(0, 0));  // zero outside
  EXPECT_EQ(b(5, 7),
            picture(4, 7) + picture(6, 7) + picture(5, 6) + picture(5, 8) - 4 * picture(5, 7));
  auto const shown = io::read_png(folder / "b.png");
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < columns; ++j) {
      EXPECT_EQ(shown(i, j), std::clamp(std::floor(b(i, j) / 4 + 128.5f), 0.f, 255.f));
      b(i, j) = b(i, j) / 4 + 128;
    }
  io::write_npy(folder / "shifted.npy", b);
  run_quietly("shifted.npy --laplacian --offset 128 --scale 4 --scheme multigrid --output u.png");
  EXPECT_EQ(io::read_png(folder / "u.png").samples, picture.samples);
}

TEST_F(Jacobi, ReportHasItsKeysInOrder) {
  run_quietly("picture.png --laplacian --sweeps 10 --repeat 3 --report r.json");
  auto const found = report();
  EXPECT_EQ(coir::testing::keys_of(found),
            "application version kokkos_version backend device threads ranks scheme precision "
            "rows columns input_had_colours sweeps seconds cells_per_second bandwidth_share "
            "triad_bytes_per_second bandwidth_not_measured relative_residual converged "
            "stopped_by largest_prime_factor max_abs_error psnr_db bytes_peak");
  EXPECT_EQ(found["precision"], "float");
  EXPECT_EQ(found["rows"], rows);
  EXPECT_EQ(found["columns"], columns);
  EXPECT_EQ(found["sweeps"], 10);
  EXPECT_NEAR(found["cells_per_second"].get<double>(),
              rows * columns * 10 / found["seconds"].get<double>(), 1);
  EXPECT_EQ(found["stopped_by"], "sweeps");
  EXPECT_EQ(found["converged"], false);
  // 17 x 24 cells stay in any cache, so that no bandwidth has to do with them.
  EXPECT_TRUE(found["bandwidth_share"].is_null());
  EXPECT_EQ(found["bandwidth_not_measured"], "the fields fit into the cache");
  EXPECT_TRUE(found["largest_prime_factor"].is_null());
  // Nobody knows the photograph behind a Laplacian.
  EXPECT_TRUE(found["max_abs_error"].is_null());
  EXPECT_TRUE(found["psnr_db"].is_null());
}

TEST_F(Jacobi, CoresRebuildWhatTheBuildsOwnBackendRebuilds) {
  for (auto const& scheme : with_direct({"plain", "arrays", "red-black", "cg", "multigrid"})) {
    std::string const options = "picture.png --report r.json --scheme " + scheme;
    run_quietly(options + " --output u.npy");
    double const error = report()["max_abs_error"];
    run_quietly(options + " --output v.npy --backend cpu");
    EXPECT_EQ(report()["backend"], Kokkos::DefaultHostExecutionSpace::name());
    // What remains is rounding, of a backend's own.
    EXPECT_LT(error, 0.01) << scheme;
    EXPECT_LT(report()["max_abs_error"].get<double>(), 0.01) << scheme;
    // Another run may find other transforms to be the fastest ones.
    if (coir::runs_on_host<Kokkos::DefaultExecutionSpace> && scheme != "direct") {
      EXPECT_EQ(read_text(folder / "u.npy"), read_text(folder / "v.npy")) << scheme;
    }
  }
}

TEST_F(Jacobi, CompareShowsAndReportsEveryScheme) {
  auto const outcome = run("picture.png --compare --sweeps 1000 --report r.json --output u.png");
  EXPECT_EQ(outcome.code, 0);
  EXPECT_EQ(outcome.errors, "");
  auto const reports = report();
  auto const schemes = with_direct({"plain", "arrays", "blocked", "red-black", "cg", "multigrid"});
  ASSERT_EQ(reports.size(), schemes.size());
  int n = 0;
  for (auto const& scheme : schemes) {
    EXPECT_TRUE(contains(outcome.output, "\n" + scheme + " ")) << outcome.output;
    EXPECT_EQ(reports[n]["scheme"], scheme);
    EXPECT_LT(reports[n]["max_abs_error"], 0.1) << scheme;
    EXPECT_GT(reports[n]["psnr_db"], 60) << scheme;
    ++n;
  }
  EXPECT_EQ(io::read_png(folder / "u.png").samples, picture.samples);
}

TEST_F(Jacobi, MissedToleranceIsToldAfterTheOutputIsWritten) {
  for (auto const& [options, made] : {std::pair("--sweeps 20", "20 sweeps of "),
                                      {"--sweeps 2 --scheme cg", "2 iterations of cg"}}) {
    auto const outcome =
        run("picture.png --tolerance 1e-5 --quiet --output u.png " + std::string(options));
    EXPECT_EQ(outcome.code, 5);
    for (char const* const part : {made, "above --tolerance 1e-05", "allow more --sweeps"})
      EXPECT_TRUE(contains(outcome.errors, part)) << outcome.errors;
    EXPECT_EQ(lines_in(outcome.errors), 1);
    EXPECT_TRUE(fs::remove(folder / "u.png"));
  }
}

TEST_F(Jacobi, NumbersThatOverflowAreNoResult) {
  constexpr auto large = std::numeric_limits<float>::max();
  constexpr auto larger = std::numeric_limits<double>::max();
  write_array<float>("large.npy", {large, 0, 0, large});
  for (auto const& scheme : with_direct({"auto --sweeps 10", "cg"}))
    expect_failure(5, "large.npy --output u.npy --output-laplacian b.npy --scheme " + scheme,
                   {"not finite", "--precision double"});
  // In double there is no wider one to advise.
  write_array<double>("larger.npy", {larger, 0, 0, larger});
  expect_failure(5, "larger.npy --sweeps 10 --precision double", {": scale the input down\n"});
}

TEST_F(Jacobi, InputsThatAreNoneAreRefused) {
  io::write_png(folder / "whole.png", picture);
  std::string const bytes = read_text(folder / "whole.png");
  write("part.png", bytes.substr(0, bytes.size() - 20));
  write("text.png", "not a picture at all\n");
  write("complex.npy", npy_header("<c8", "(1, 1)") + std::string(8, '\0'));
  write("empty.npy", npy_header("<f4", "(0, 5)"));
  write("line.npy", npy_header("|u1", "(4,)") + "1234");
  write_array<float>("nan.npy", {0, 0, 0, 0, 0, std::numeric_limits<float>::quiet_NaN()});
  write_array<float>("inf.npy", {0, 0, 0, 0, 0, std::numeric_limits<float>::infinity()});
  for (auto const& [name, parts] :
       {Refusal{"none.png", {"none.png", "no such file", "check the path"}},
        Refusal{"part.png", {"part.png", "cut short", "export it again"}},
        Refusal{".", {"is a folder", "name a file in it"}},
        Refusal{"text.png", {"text.png", "it is not a PNG", "convert it"}},
        Refusal{"complex.npy", {"complex64", "convert it"}},
        Refusal{"empty.npy", {"extents", "not 0", "1 to 2000000000"}},
        Refusal{"line.npy", {"must have 2 dimensions, not 1", "save one"}},
        Refusal{"nan.npy", {"[1, 2]", "must be finite", "replace it"}},
        Refusal{"inf.npy", {"[1, 2]", "must be finite", "replace it"}}})
    expect_failure(3, name + " --output u.png", parts);
}

TEST_F(Jacobi, WrongOptionsAreRefused) {
  for (auto const& [options, parts] :
       {Refusal{"--scheme multigrid --sweeps 0", {"--sweeps must be from 1", "not 0"}},
        Refusal{"--tolerance 1", {"must be below 1, not 1"}},
        Refusal{"--compare --scheme plain", {"--compare", "--scheme"}},
        Refusal{"--scale 4", {"--laplacian"}},
        Refusal{"--laplacian --scale 0", {"--scale must not be 0"}},
        Refusal{"--scheme fast", {"red-black", "'fast'"}},
        Refusal{"--output u.jpg", {"'u.jpg'", ".png or .npy"}},
        Refusal{"--output u.npy --output-laplacian u.npy", {"u.npy", "different"}},
        Refusal{"--report ./picture.png", {"--report and INPUT", "different"}}})
    expect_failure(2, "picture.png " + options, parts);
}

TEST_F(Jacobi, MoreMemoryThanThereIs) {
  write("huge.npy", npy_header("|u1", "(2097152, 2097152)"));
  std::error_code error;  // four terabytes, of which the disk holds the header alone
  fs::resize_file(folder / "huge.npy", fs::file_size(folder / "huge.npy") + (1ull << 42), error);
  if (error) GTEST_SKIP() << "no such large files here: " << error.message();
  expect_failure(4, "huge.npy --output u.png",
                 {"huge.npy", "4.0 TiB", "are free", "use a smaller"});
}
