#include <support/command.hpp>
#include <support/sanitizers.hpp>

#include <coir/core/concepts.hpp>
#include <coir/core/machine.hpp>
#include <coir/io/image.hpp>
#include <coir/io/npy.hpp>
#include <coir/io/png.hpp>

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
#include <fstream>
#include <limits>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace {

namespace fs = std::filesystem;
namespace io = coir::io;
using coir::testing::is_sanitized;
using coir::testing::Outcome;
using coir::testing::read_text;

template <class T>
using HostGrid = Kokkos::View<T**, Kokkos::LayoutRight, Kokkos::HostSpace>;

constexpr int rows = 17;
constexpr int columns = 24;

bool contains(std::string const& text, std::string const& part) {
  return text.find(part) != std::string::npos;
}

/// A small picture with levels from black to white, steep edges among them.
io::GrayImage small_picture() {
  io::GrayImage picture{rows, columns, 8, {}};
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < columns; ++j)
      picture.samples.push_back(static_cast<std::uint16_t>((37 * i + 53 * j + 11 * i * j) % 256));
  return picture;
}

/// coir-jacobi in a folder of its own that holds picture.pgm.
class Jacobi : public ::testing::Test {
 protected:
  Jacobi() { io::write_image(folder / "picture.pgm", picture); }

  /// \param before  shell commands to go ahead, each ended by &&
  Outcome run(std::string const& arguments, std::string const& before = "") const {
    return coir::testing::run_command("cd '" + folder.path().string() + "' && " + before + " '" +
                                      COIR_APP + "' " + arguments);
  }

  /// A run that must succeed and say nothing.
  void run_quietly(std::string const& arguments) const {
    auto const outcome = run(arguments + " --quiet");
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
    EXPECT_TRUE(outcome.errors.starts_with("coir-jacobi: error: ")) << outcome.errors;
    EXPECT_EQ(std::count(outcome.errors.begin(), outcome.errors.end(), '\n'), 1) << outcome.errors;
    for (auto const& part : parts)
      EXPECT_TRUE(contains(outcome.errors, part)) << outcome.errors << "lacks: " << part;
    EXPECT_EQ(files(), earlier);
  }

  void write(std::string const& name, std::string_view content) const {
    std::ofstream(folder / name, std::ios::binary) << content;
  }

  template <class T>
  HostGrid<T> read_array(std::string const& name) const {
    return io::read_npy<HostGrid<T>>(folder / name);
  }

  coir::testing::TemporaryFolder folder;
  io::GrayImage picture = small_picture();
};

/// An NPY file's first part, for files whose elements don't matter or aren't there.
std::string npy_header(std::string const& type, std::string const& shape) {
  std::string text = "{'descr': '" + type + "', 'fortran_order': False, 'shape': " + shape + ", }";
  text.resize((10 + text.size() + 1 + 63) / 64 * 64 - 10 - 1, ' ');
  text += '\n';
  return std::string("\x93NUMPY\x01\x00", 8) + static_cast<char>(text.size()) + '\0' + text;
}

}  // namespace

using BadJacobi = Jacobi;

// --- What it does ---

TEST_F(Jacobi, EverySchemeRebuildsThePicture) {
  for (std::string const options :
       {"--sweeps 1500", "--scheme plain --sweeps 1500", "--scheme arrays --sweeps 1501",
        "--scheme blocked --sweeps 1500", "--scheme red-black", "--scheme cg", "--scheme multigrid",
        "--scheme red-black --start zero", "--scheme cg --start zero --precision double"}) {
    run_quietly("picture.pgm --output rebuilt.pgm " + options);
    EXPECT_EQ(io::read_image(folder / "rebuilt.pgm").samples, picture.samples) << options;
  }
}

TEST_F(Jacobi, PlainBlockedAndArraysWriteTheSameBytes) {
  for (std::string const options :
       {"--sweeps 37", "--sweeps 38", "--sweeps 1 --start zero", "--sweeps 37 --precision double",
        "--sweeps 5000 --tolerance 1e-3 --start zero"}) {
    run_quietly("picture.pgm --scheme plain --output plain.npy " + options);
    for (std::string const scheme : {"blocked", "arrays"}) {
      run_quietly("picture.pgm --scheme " + scheme + " --output other.npy " + options);
      EXPECT_EQ(read_text(folder / "plain.npy"), read_text(folder / "other.npy"))
          << scheme << " " << options;
    }
  }
}

TEST_F(Jacobi, ArraysTakePicturesOfFewCells) {
  for (std::string const shape : {"1 1", "1 9", "9 1", "2 2"}) {
    auto const space = shape.find(' ');
    int const width = std::stoi(shape.substr(0, space)), height = std::stoi(shape.substr(space));
    write("small.pgm", "P5\n" + shape + "\n255\n" +
                           std::string(static_cast<std::size_t>(width) * height, '\x55'));
    run_quietly("small.pgm --scheme plain --sweeps 7 --output plain.npy");
    run_quietly("small.pgm --scheme arrays --sweeps 7 --output arrays.npy");
    EXPECT_EQ(read_text(folder / "plain.npy"), read_text(folder / "arrays.npy")) << shape;
  }
}

// Against multigrid, on grids of one cell, of one row, and of odd and prime sides.
TEST_F(Jacobi, ConjugateGradientsTakePicturesOfAnySize) {
  for (std::string const shape : {"1 1", "1 9", "9 1", "2 2", "17 23", "64 31"}) {
    auto const space = shape.find(' ');
    int const width = std::stoi(shape.substr(0, space)), height = std::stoi(shape.substr(space));
    std::string samples;
    for (int n = 0; n < width * height; ++n) samples += static_cast<char>(n * 89 % 251);
    write("small.pgm", "P5\n" + shape + "\n255\n" + samples);
    for (std::string const scheme : {"cg", "multigrid"})
      run_quietly("small.pgm --precision double --scheme " + scheme + " --output " + scheme +
                  ".npy");
    auto const by_cg = read_array<double>("cg.npy"), other = read_array<double>("multigrid.npy");
    for (int n = 0; n < width * height; ++n)
      ASSERT_NEAR(by_cg.data()[n], other.data()[n], 1e-6) << shape;
  }
}

TEST_F(Jacobi, ConjugateGradientsReportIterationsAndReachTheirTolerance) {
  run_quietly("picture.pgm --scheme cg --precision double --tolerance 1e-9 --report run.json");
  auto const report = nlohmann::json::parse(read_text(folder / "run.json"));
  EXPECT_EQ(report["scheme"], "cg");
  EXPECT_EQ(report["converged"], true);
  EXPECT_EQ(report["stopped_by"], "tolerance");
  EXPECT_LE(report["relative_residual"], 1e-9);
  EXPECT_GT(report["sweeps"], 1);
  EXPECT_LE(report["sweeps"], 12);
  EXPECT_TRUE(report["bandwidth_share"].is_null());
  EXPECT_EQ(report["bandwidth_not_measured"], "cg makes no sweeps");
  auto const shown = run("picture.pgm --scheme cg --sweeps 2");
  EXPECT_EQ(shown.code, 0);
  EXPECT_TRUE(contains(shown.output, "cg: 2 iterations in ")) << shown.output;
  auto const once = run("picture.pgm --scheme cg --sweeps 1");
  EXPECT_TRUE(contains(once.output, "cg: 1 iteration in ")) << once.output;
  auto const missed = run("picture.pgm --scheme cg --sweeps 2 --tolerance 1e-5 --quiet");
  EXPECT_EQ(missed.code, 5);
  EXPECT_TRUE(contains(missed.errors, "after 2 iterations of cg, above --tolerance 1e-05"))
      << missed.errors;
}

TEST_F(Jacobi, WithoutSweepsTheStartIsTheResult) {
  run_quietly("picture.pgm --sweeps 0 --output u.npy --output-laplacian b.npy");
  EXPECT_EQ(read_text(folder / "u.npy"), read_text(folder / "b.npy"));
  run_quietly("picture.pgm --sweeps 0 --start zero --output u.pgm");
  EXPECT_EQ(io::read_image(folder / "u.pgm").samples,
            std::vector<std::uint16_t>(rows * columns, 0));
}

TEST_F(Jacobi, EveryFormatHoldsTheRebuiltPicture) {
  for (std::string const name : {"rebuilt.pgm", "rebuilt.png"}) {
    run_quietly("picture.pgm --scheme multigrid --output " + name);
    EXPECT_EQ(io::read_image(folder / name).samples, picture.samples) << name;
  }
  run_quietly("picture.pgm --scheme multigrid --output rebuilt.npy");
  auto const rebuilt = read_array<float>("rebuilt.npy");
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < columns; ++j) EXPECT_NEAR(rebuilt(i, j), picture(i, j), 0.05);
}

TEST_F(Jacobi, SixteenBitsStaySixteen) {
  picture.bits = 16;
  for (auto& sample : picture.samples) sample = static_cast<std::uint16_t>(257 * sample);
  io::write_image(folder / "deep.png", picture);
  run_quietly("deep.png --scheme multigrid --precision double --output rebuilt.png");
  auto const rebuilt = io::read_image(folder / "rebuilt.png");
  EXPECT_EQ(rebuilt.bits, 16);
  EXPECT_EQ(rebuilt.samples, picture.samples);
}

TEST_F(Jacobi, AnotherWhiteThanThatOfTheBitsKeepsItsLevels) {
  picture.bits = 16, picture.white = 4095;
  for (auto& sample : picture.samples) sample = static_cast<std::uint16_t>(16 * sample);
  io::write_image(folder / "deep.pgm", picture);
  run_quietly(
      "deep.pgm --scheme multigrid --precision double --output u.npy --output-laplacian b.npy");
  auto const u = read_array<double>("u.npy"), b = read_array<double>("b.npy");
  EXPECT_EQ(b(0, 0), picture(1, 0) + picture(0, 1) - 4 * picture(0, 0));
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < columns; ++j) EXPECT_NEAR(u(i, j), picture(i, j), 1e-4);
  // Pictures are as bright as the input was.
  run_quietly("deep.pgm --scheme multigrid --precision double --output u.png");
  auto const shown = io::read_image(folder / "u.png");
  EXPECT_EQ(shown.maximum(), 65535);
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < columns; ++j)
      EXPECT_NEAR(shown(i, j), picture(i, j) * 65535. / 4095, 0.5001);
}

TEST_F(Jacobi, ColoursThatBecomeGreyAreTold) {
  io::write_png(folder / "colours.png", io::RgbImage{1, 2, {9, 9, 9, 0, 0, 200}});
  std::string const note = "the picture's colours were turned into grey\n";
  auto const outcome = run("colours.png --sweeps 1 --report r.json");
  EXPECT_TRUE(outcome.output.ends_with(note)) << outcome.output;
  EXPECT_EQ(nlohmann::json::parse(read_text(folder / "r.json"))["input_had_colours"], true);
  EXPECT_EQ(run("picture.pgm --sweeps 1").output.find(note), std::string::npos);
}

TEST_F(Jacobi, ANamedPipeGetsAReportWhole) {
  auto const outcome = run("picture.pgm --sweeps 1 --quiet --report pipe",
                           "mkfifo pipe && { cat pipe >copy & } && timeout 60");
  EXPECT_EQ(outcome.code, 0) << outcome.errors;
  std::string text;
  for (int tries = 0; tries < 100 && !text.ends_with("}\n"); ++tries) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    text = read_text(folder / "copy");
  }
  EXPECT_EQ(nlohmann::json::parse(text)["sweeps"], 1);
}

TEST_F(Jacobi, DoublePrecisionIsMorePrecise) {
  run_quietly("picture.pgm --scheme multigrid --precision double --output rebuilt.npy");
  EXPECT_EQ(io::read_npy(folder / "rebuilt.npy").type, io::NpyType::float64);
  auto const rebuilt = read_array<double>("rebuilt.npy");
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < columns; ++j) EXPECT_NEAR(rebuilt(i, j), picture(i, j), 1e-6);
}

TEST_F(Jacobi, ArraysOfDoublesAreTakenInEitherPrecision) {
  HostGrid<double> const array("array", 3, 5);
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 5; ++j) array(i, j) = -2.5 + i + 0.1 * j;
  io::write_npy(folder / "array.npy", array);
  run_quietly("array.npy --scheme multigrid --precision double --output double.npy");
  run_quietly("array.npy --scheme multigrid --output float.npy");
  auto const as_double = read_array<double>("double.npy");
  auto const as_float = read_array<float>("float.npy");
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 5; ++j) {
      EXPECT_NEAR(as_double(i, j), array(i, j), 1e-8);
      EXPECT_NEAR(as_float(i, j), array(i, j), 1e-3);
    }
}

TEST_F(Jacobi, LaplacianIsTakenWithZeroOutside) {
  run_quietly("picture.pgm --sweeps 0 --output-laplacian b.npy");
  auto const b = read_array<float>("b.npy");
  EXPECT_EQ(b(0, 0), picture(1, 0) + picture(0, 1) - 4 * picture(0, 0));
  EXPECT_EQ(b(5, 7),
            picture(4, 7) + picture(6, 7) + picture(5, 6) + picture(5, 8) - 4 * picture(5, 7));
}

TEST_F(Jacobi, LaplacianWithOffsetAndScaleBecomesThePicture) {
  run_quietly("picture.pgm --sweeps 0 --output-laplacian b.npy");
  auto const b = read_array<float>("b.npy");
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < columns; ++j) b(i, j) = b(i, j) / 4 + 128;
  io::write_npy(folder / "shifted.npy", b);
  run_quietly("shifted.npy --laplacian --offset 128 --scale 4 --scheme multigrid --output u.pgm");
  EXPECT_EQ(io::read_image(folder / "u.pgm").samples, picture.samples);
}

TEST_F(Jacobi, LaplacianAsAPictureHasZeroInTheMiddle) {
  run_quietly("picture.pgm --sweeps 0 --output-laplacian b.npy");
  run_quietly("picture.pgm --sweeps 0 --output-laplacian b.png");
  auto const b = read_array<float>("b.npy");
  auto const shown = io::read_image(folder / "b.png");
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < columns; ++j)
      EXPECT_EQ(shown(i, j), std::clamp(std::floor(b(i, j) / 4 + 128.5f), 0.f, 255.f));
}

TEST_F(Jacobi, ReportHasItsKeysInOrder) {
  run_quietly("picture.pgm --laplacian --sweeps 10 --repeat 3 --report run.json");
  auto const report = nlohmann::ordered_json::parse(read_text(folder / "run.json"));
  std::vector<std::string> keys;
  for (auto const& item : report.items()) keys.push_back(item.key());
  EXPECT_EQ(keys, (std::vector<std::string>{"application",
                                            "version",
                                            "kokkos_version",
                                            "backend",
                                            "device",
                                            "threads",
                                            "scheme",
                                            "precision",
                                            "rows",
                                            "columns",
                                            "input_had_colours",
                                            "sweeps",
                                            "seconds",
                                            "cells_per_second",
                                            "bandwidth_share",
                                            "triad_bytes_per_second",
                                            "bandwidth_not_measured",
                                            "relative_residual",
                                            "converged",
                                            "stopped_by",
                                            "max_abs_error",
                                            "psnr_db",
                                            "bytes_predicted",
                                            "bytes_peak",
                                            "device_bytes_predicted"}));
  EXPECT_EQ(report["application"], "coir-jacobi");
  EXPECT_EQ(report["precision"], "float");
  EXPECT_EQ(report["rows"], rows);
  EXPECT_EQ(report["columns"], columns);
  EXPECT_EQ(report["sweeps"], 10);
  EXPECT_GT(report["seconds"], 0);
  EXPECT_NEAR(report["cells_per_second"].get<double>(),
              rows * columns * 10 / report["seconds"].get<double>(), 1);
  EXPECT_EQ(report["stopped_by"], "sweeps");
  EXPECT_EQ(report["converged"], false);
  // 17 x 24 cells stay in any cache, so that no bandwidth has to do with them.
  EXPECT_TRUE(report["bandwidth_share"].is_null());
  EXPECT_EQ(report["bandwidth_not_measured"], "the fields fit into the cache");
  // Nobody knows the photograph behind a Laplacian.
  EXPECT_TRUE(report["max_abs_error"].is_null());
  EXPECT_TRUE(report["psnr_db"].is_null());
}

TEST_F(Jacobi, CoresRebuildWhatTheBuildsOwnBackendRebuilds) {
  for (std::string const scheme : {"plain", "arrays", "red-black", "cg", "multigrid"}) {
    std::string const options = "picture.pgm --report r.json --scheme " + scheme;
    run_quietly(options + " --output u.npy");
    auto const report = nlohmann::json::parse(read_text(folder / "r.json"));
    run_quietly(options + " --output v.npy --backend cpu");
    auto const by_cores = nlohmann::json::parse(read_text(folder / "r.json"));
    EXPECT_EQ(by_cores["backend"], Kokkos::DefaultHostExecutionSpace::name());
    EXPECT_TRUE(by_cores["device_bytes_predicted"].is_null());
    // What remains is rounding, of a backend's own.
    EXPECT_LT(report["max_abs_error"].get<double>(), 0.01) << scheme;
    EXPECT_LT(by_cores["max_abs_error"].get<double>(), 0.01) << scheme;
    if (coir::runs_on_host<Kokkos::DefaultExecutionSpace>) {
      EXPECT_EQ(read_text(folder / "u.npy"), read_text(folder / "v.npy")) << scheme;
    }
  }
}

TEST_F(Jacobi, CompareShowsAndReportsEveryScheme) {
  auto const outcome = run("picture.pgm --compare --sweeps 1000 --report all.json --output u.pgm");
  EXPECT_EQ(outcome.code, 0);
  EXPECT_EQ(outcome.errors, "");
  auto const reports = nlohmann::json::parse(read_text(folder / "all.json"));
  ASSERT_EQ(reports.size(), 6u);
  int n = 0;
  for (std::string const scheme : {"plain", "arrays", "blocked", "red-black", "cg", "multigrid"}) {
    EXPECT_TRUE(contains(outcome.output, "\n" + scheme + " ")) << outcome.output;
    EXPECT_EQ(reports[n]["scheme"], scheme);
    EXPECT_LT(reports[n]["max_abs_error"], 0.1) << scheme;
    EXPECT_GT(reports[n]["psnr_db"], 60) << scheme;
    ++n;
  }
  EXPECT_EQ(io::read_image(folder / "u.pgm").samples, picture.samples);
}

TEST_F(Jacobi, HelpNamesEveryOptionAndAnExample) {
  auto const help = run("--help");
  EXPECT_EQ(help.code, 0);
  for (char const* part :
       {"--laplacian", "--offset", "--scale",
        "--scheme auto|plain|arrays|blocked|red-black|cg|multigrid", "--sweeps", "--tolerance",
        "--start laplacian|zero", "--precision float|double", "--output FILE",
        "--output-laplacian FILE", "--report FILE", "--repeat", "--compare", "--progress",
        "--quiet", "coir-jacobi photo.png --compare", "Exit codes"})
    EXPECT_TRUE(contains(help.output, part)) << part;
}

// --- What it does when it stops early ---

TEST_F(Jacobi, MissedToleranceIsToldAfterTheOutputIsWritten) {
  auto const outcome = run("picture.pgm --sweeps 20 --tolerance 1e-5 --quiet --output u.pgm");
  EXPECT_EQ(outcome.code, 5);
  EXPECT_TRUE(contains(outcome.errors, "above --tolerance 1e-05")) << outcome.errors;
  EXPECT_TRUE(contains(outcome.errors, "allow more --sweeps")) << outcome.errors;
  EXPECT_EQ(std::count(outcome.errors.begin(), outcome.errors.end(), '\n'), 1);
  EXPECT_TRUE(fs::exists(folder / "u.pgm"));
}

TEST_F(Jacobi, ReachedToleranceIsSuccess) {
  run_quietly("picture.pgm --sweeps 5000 --tolerance 1e-4");
}

TEST_F(BadJacobi, NumbersThatOverflowAreNoResult) {
  HostGrid<float> const array("array", 2, 2);
  array(0, 0) = array(1, 1) = std::numeric_limits<float>::max();
  io::write_npy(folder / "large.npy", array);
  for (std::string const scheme : {"auto", "cg"})
    expect_failure(
        5,
        "large.npy --sweeps 10 --quiet --output u.npy --output-laplacian b.npy --scheme " + scheme,
        {"not finite", "--precision double"});
  // In double there is no wider one to advise.
  HostGrid<double> const wide("wide", 2, 2);
  wide(0, 0) = wide(1, 1) = std::numeric_limits<double>::max();
  io::write_npy(folder / "wide.npy", wide);
  auto const outcome = run("wide.npy --sweeps 10 --precision double --quiet");
  EXPECT_EQ(outcome.code, 5);
  EXPECT_TRUE(outcome.errors.ends_with(": scale the input down\n")) << outcome.errors;
}

TEST_F(BadJacobi, CtrlCStopsItWithinASecond) {
  std::string const errors = folder / "errors";
  auto const earlier = files();
  pid_t const child = fork();
  ASSERT_NE(child, -1);
  if (child == 0) {
    std::signal(SIGINT, SIG_DFL);  // a job in the background has it ignored
    bool const ready = chdir(folder.path().c_str()) == 0 &&
                       dup2(open(errors.c_str(), O_WRONLY | O_CREAT, 0600), STDERR_FILENO) != -1;
    if (ready)
      execl(COIR_APP, "coir-jacobi", "picture.pgm", "--sweeps", "100000000000", "--progress",
            "--output", "u.png", "--output-laplacian", "b.npy", "--report", "run.json", nullptr);
    _exit(127);
  }
  using Clock = std::chrono::steady_clock;
  auto const begin = Clock::now();
  while (!contains(read_text(errors), " sweeps") && Clock::now() - begin < std::chrono::minutes(1))
    std::this_thread::sleep_for(std::chrono::milliseconds(20));

  auto const interrupted = Clock::now();
  kill(child, SIGINT);
  int status = 0;
  waitpid(child, &status, 0);
  double const seconds = std::chrono::duration<double>(Clock::now() - interrupted).count();
  EXPECT_LT(seconds, 3);  // one on a machine that isn't busy
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 130) << status;
  std::string const text = read_text(errors);
  EXPECT_TRUE(contains(text, "coir-jacobi: error: stopped after ")) << text;
  EXPECT_TRUE(contains(text, " sweeps of ")) << text;
  fs::remove(errors);
  EXPECT_EQ(files(), earlier);
}

TEST_F(BadJacobi, SigTermStopsConjugateGradients) {
  auto const earlier = files();
  coir::testing::Outcome outcome;
  // A machine that is busy, or starts a device, may need longer until it solves.
  for (char const* const seconds : {"1", "4", "16"}) {
    // timeout passes on what the program returned.
    outcome = run("picture.pgm --scheme cg --repeat 1000000 --quiet --output u.png",
                  std::string("timeout --preserve-status --signal=TERM ") + seconds);
    if (contains(outcome.errors, "stopped after ")) break;
  }
  EXPECT_EQ(outcome.code, 143);
  EXPECT_EQ(outcome.output, "");
  EXPECT_TRUE(contains(outcome.errors, "coir-jacobi: error: stopped after ")) << outcome.errors;
  EXPECT_TRUE(contains(outcome.errors, " of cg; nothing was written")) << outcome.errors;
  EXPECT_EQ(files(), earlier);
}

// --- Bad input files: 3 ---

TEST_F(BadJacobi, MissingInput) {
  expect_failure(3, "none.png --output u.png", {"none.png", "no such file", "check the path"});
}

TEST_F(BadJacobi, EmptyInput) {
  write("empty.png", "");
  expect_failure(3, "empty.png --output u.png", {"empty.png", "0 bytes", "copy it again"});
}

TEST_F(BadJacobi, TruncatedInput) {
  io::write_image(folder / "whole.png", picture);
  for (std::string const name : {"whole.png", "picture.pgm"}) {
    std::string const bytes = read_text(folder / name);
    write("part.png", bytes.substr(0, bytes.size() - 20));
    expect_failure(3, "part.png --output u.png", {"part.png", "cut short", "export it again"});
  }
  write("part.npy", npy_header("<f4", "(2, 2)") + "four");
  expect_failure(3, "part.npy --output u.png", {"part.npy", "4"});
}

TEST_F(BadJacobi, FolderAsInput) {
  expect_failure(3, ". --output u.png", {"is a folder", "name a file in it"});
}

TEST_F(BadJacobi, UnreadableInput) {
  if (geteuid() == 0) GTEST_SKIP() << "root may read every file";
  fs::permissions(folder / "picture.pgm", fs::perms::none);
  expect_failure(3, "picture.pgm --output u.png", {"can't be read", "check the permissions"});
}

TEST_F(BadJacobi, InputInAnotherFormat) {
  write("text.png", "not a picture at all\n");
  expect_failure(3, "text.png --output u.png", {"neither a PNG, a PGM nor an NPY", "convert it"});
  write("complex.npy", npy_header("<c8", "(1, 1)") + std::string(8, '\0'));
  expect_failure(3, "complex.npy --output u.png", {"complex64", "convert it"});
}

TEST_F(BadJacobi, InputWithoutCells) {
  write("empty.pgm", "P5\n0 5\n255\n");
  expect_failure(3, "empty.pgm --output u.png", {"width", "0", "1 to"});
  write("empty.npy", npy_header("<f4", "(0, 5)"));
  expect_failure(3, "empty.npy --output u.png", {"extents", "not 0", "1 to 2000000000"});
}

TEST_F(BadJacobi, ArrayOfAnotherRank) {
  write("line.npy", npy_header("|u1", "(4,)") + "1234");
  expect_failure(3, "line.npy --output u.png", {"must have 2 dimensions, not 1", "save one"});
}

TEST_F(BadJacobi, AbsurdSizesInAHeader) {
  write("absurd.pgm", "P5\n999999999 999999999\n255\nabc");
  expect_failure(3, "absurd.pgm --output u.png", {"999999999 x 999999999", "3 are there"});
  write("beyond.pgm", "P5\n99999999999999999999 2\n255\nabc");
  expect_failure(3, "beyond.pgm --output u.png", {"beyond.pgm", "width"});
}

TEST_F(BadJacobi, NumbersThatAreNotFinite) {
  HostGrid<float> const array("array", 2, 3);
  for (float const value :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    array(1, 2) = value;
    io::write_npy(folder / "array.npy", array);
    expect_failure(3, "array.npy --output u.png", {"[1, 2]", "must be finite", "replace it"});
  }
}

// --- Wrong usage: 2 ---

TEST_F(BadJacobi, UnknownOption) {
  expect_failure(2, "picture.pgm --output u.png --sweps 3", {"--sweps", "did you mean --sweeps?"});
}

TEST_F(BadJacobi, RepeatedOption) {
  for (std::string const option : {"--sweeps 3", "--compare", "--quiet", "--report r.json"})
    expect_failure(2, "picture.pgm " + option + " " + option, {"2 times", "give it once"});
}

TEST_F(BadJacobi, SweepsThatAreNoCount) {
  for (std::string const value : {"-1", "many", "1.5", "1e3", "", "1000000000001"})
    expect_failure(2, "picture.pgm --output u.png --sweeps '" + value + "'",
                   {"--sweeps", "from 0 to 1000000000000", "'" + value + "'"});
  expect_failure(2, "picture.pgm --output u.png --scheme multigrid --sweeps 0",
                 {"--sweeps must be from 1", "not 0"});
}

TEST_F(BadJacobi, ToleranceOutOfRange) {
  for (std::string const value : {"0", "-1e-3", "nan", "small"})
    expect_failure(2, "picture.pgm --output u.png --tolerance " + value,
                   {"--tolerance must be a number above 0", "'" + value + "'"});
  expect_failure(2, "picture.pgm --output u.png --tolerance 1", {"must be below 1, not 1"});
}

TEST_F(BadJacobi, OptionsThatContradictEachOther) {
  expect_failure(2, "picture.pgm --compare --scheme plain", {"--compare", "--scheme"});
  expect_failure(2, "picture.pgm --quiet --progress", {"--quiet", "--progress"});
  expect_failure(2, "picture.pgm --scale 4", {"--laplacian"});
  expect_failure(2, "picture.pgm --laplacian --scale 0", {"--scale must not be 0"});
  expect_failure(2, "picture.pgm --output u.npy --output-laplacian u.npy", {"u.npy", "different"});
}

TEST_F(BadJacobi, OutputsThatAreOneFileOrTheInput) {
  std::string const picture = read_text(folder / "picture.pgm");
  std::string const here = "../" + folder.path().filename().string() + "/";
  fs::create_symlink("picture.pgm", folder / "link.pgm");
  fs::create_hard_link(folder / "picture.pgm", folder / "second.pgm");
  for (std::string const name : {"picture.pgm", "./picture.pgm", "link.pgm", "second.pgm"})
    for (std::string const option : {"--output", "--output-laplacian", "--report"})
      expect_failure(2, "picture.pgm " + option + " " + name, {option + " and INPUT", "different"});
  expect_failure(2, "picture.pgm --output o.png --report " + here + "o.png",
                 {"--output and --report", "o.png is " + here});
  EXPECT_EQ(read_text(folder / "picture.pgm"), picture);
  fs::remove(folder / "link.pgm");
  fs::remove(folder / "second.pgm");
}

TEST_F(BadJacobi, UnknownWordForAnOption) {
  expect_failure(2, "picture.pgm --scheme fast", {"red-black", "'fast'"});
  expect_failure(2, "picture.pgm --precision half", {"float, double", "'half'"});
  expect_failure(2, "picture.pgm --start one", {"laplacian, zero", "'one'"});
}

TEST_F(BadJacobi, OutputWithoutAFormat) {
  expect_failure(2, "picture.pgm --output u.jpg", {"'u.jpg'", ".png, .pgm or .npy"});
  expect_failure(2, "picture.pgm --output ''", {"--output must name a file"});
}

// --- Outputs and memory that aren't there: 4 ---

TEST_F(BadJacobi, OutputFolderMissing) {
  for (std::string const option : {"--output", "--output-laplacian", "--report"})
    expect_failure(4, "picture.pgm " + option + " none/u.png",
                   {"none/u.png", "the folder none does not exist", "create it"});
}

TEST_F(BadJacobi, OutputFolderReadOnly) {
  if (geteuid() == 0) GTEST_SKIP() << "root may write into every folder";
  fs::create_directory(folder / "closed");
  fs::permissions(folder / "closed", fs::perms::owner_read | fs::perms::owner_exec);
  expect_failure(4, "picture.pgm --output closed/u.png", {"closed/u.png", "permissions"});
  fs::permissions(folder / "closed", fs::perms::owner_all);
}

TEST_F(BadJacobi, DiskFullWhileWriting) {
  fs::create_symlink("/dev/full", folder / "full.png");
  expect_failure(4, "picture.pgm --sweeps 1 --quiet --output full.png",
                 {"full.png", "No space left", "free some space"});
  // The picture takes two kilobytes, the limit is one: less, and LLVM's OpenMP, which wants a file of one for itself, says
  // so in lines of its own.
  expect_failure(4, "picture.pgm --sweeps 1 --quiet --output u.npy",
                 {"u.npy", "File too large", "raise the limit"}, "ulimit -f 2 &&");
}

// --- Memory ---

namespace {

/// A picture that takes more than the program itself, as the kinds of files that a test wants.
constexpr int side = 1700;

io::GrayImage large_picture(int bits) {
  io::GrayImage large{side, side, bits, {}};
  for (int n = 0; n < side * side; ++n)
    large.samples.push_back(static_cast<std::uint16_t>((n % side * 7 + n / side * 3) % 256));
  return large;
}

}  // namespace

TEST_F(Jacobi, MemoryIsPredictedToAFifthWhateverTheOptions) {
  if (is_sanitized) GTEST_SKIP() << "sanitizers take memory of their own";
  io::write_image(folder / "large.png", large_picture(8));
  io::write_image(folder / "large.pgm", large_picture(16));
  HostGrid<double> const array("array", side, side);
  for (int n = 0; n < side * side; ++n) array.data()[n] = n % 251;
  io::write_npy(folder / "large.npy", array);
  run_quietly("large.pgm --sweeps 0 --output deep.png");
  // Swept on aligned copies, unless there are too few sweeps for that.
  HostGrid<float> const fits("fits", 1500, 1500);
  for (int n = 0; n < 1500 * 1500; ++n) fits.data()[n] = static_cast<float>(n % 251);
  io::write_npy(folder / "fits.npy", fits);
  for (std::string const options :
       {"large.png",
        "large.pgm --scheme plain",
        "large.npy",
        "fits.npy",
        "fits.npy --sweeps 3",
        "fits.npy --sweeps 3 --scheme blocked",
        "large.npy --precision double",
        "large.npy --precision double --laplacian",
        "large.png --scheme plain --precision double",
        "large.png --scheme arrays --precision double --output u.npy",
        "large.png --scheme arrays --output u.png --output-laplacian b.png",
        "large.pgm --scheme blocked --output u.pgm --output-laplacian b.npy",
        "large.png --scheme red-black --precision double --output u.png",
        "large.pgm --scheme red-black --precision double --output u.npy",
        "large.png --scheme cg --output u.png",
        "large.npy --scheme cg --precision double --laplacian --output-laplacian b.npy",
        "large.png --scheme multigrid --precision double --output u.npy",
        "large.npy --scheme multigrid --laplacian --output-laplacian b.pgm",
        "picture.pgm",
        "picture.pgm --compare --output u.png",
        "deep.png --scheme arrays --laplacian",
        "large.png --compare --precision double --output u.npy",
        "large.png --repeat 3"}) {
    bool const is_told = contains(options, "multigrid") || contains(options, "--sweeps");
    run_quietly(options + (is_told ? "" : " --sweeps 5") + " --backend cpu --report r.json");
    auto report = nlohmann::json::parse(read_text(folder / "r.json"));
    if (report.is_array()) report = report.back();
    auto const predicted = report["bytes_predicted"].get<double>();
    auto const used = report["bytes_peak"].get<double>();
    EXPECT_GE(predicted, used) << options;
    EXPECT_LE(predicted, 1.2 * used) << options;
  }
}

TEST_F(BadJacobi, MemoryThatCantBeHadIsRefusedBeforeTheWork) {
  if (is_sanitized) GTEST_SKIP() << "sanitizers take address space without end";
  if (!coir::runs_on_host<Kokkos::DefaultExecutionSpace>) GTEST_SKIP() << "fields are on a device";
  io::write_image(folder / "large.png", large_picture(8));
  std::string const options =
      "large.png --scheme arrays --precision double --sweeps 2 --report r.json --output-laplacian "
      "b.npy --output u.png --quiet";
  auto const limit = [](int mebibytes) {
    return "ulimit -v " + std::to_string(1024 * mebibytes) + " &&";
  };
  // What libraries and threads reserve is another on each system; from there on the steps meet every phase.
  int mebibytes = 40;
  while (mebibytes < 900 &&
         run("picture.pgm --sweeps 1 --quiet --output u.png", limit(mebibytes)).code != 0)
    mebibytes += 12;
  fs::remove(folder / "u.png");
  bool was_refused = false, was_done = false;
  for (; mebibytes < 900 && !was_done; mebibytes += 12) {
    auto const earlier = files();
    auto const outcome = run(options, limit(mebibytes));
    SCOPED_TRACE(std::to_string(mebibytes) + " MiB: " + outcome.errors);
    was_done = outcome.code == 0;
    if (was_done) {
      EXPECT_EQ(outcome.errors, "");
      auto const report = nlohmann::json::parse(read_text(folder / "r.json"));
      EXPECT_EQ(report["rows"], side);
      EXPECT_TRUE(fs::exists(folder / "u.png") && fs::exists(folder / "b.npy"));
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

TEST_F(Jacobi, WithoutMemoryToMeasureTheBandwidthTheReportSaysSo) {
  if (is_sanitized) GTEST_SKIP() << "sanitizers take address space without end";
  using Exec = Kokkos::DefaultExecutionSpace;
  if (!coir::runs_on_host<Exec>) GTEST_SKIP() << "fields are on a device";
  // Fields that don't fit into the cache, and a limit in which they fit, but not twice what the measurement takes.
  std::int64_t const cache = coir::last_level_cache_bytes(Exec{});
  auto const extent = static_cast<std::int64_t>(std::sqrt(double(cache) / 3)) + 64;
  if (extent > 8000) GTEST_SKIP() << "too large a cache for a test";
  write("large.npy",
        npy_header("|u1", "(" + std::to_string(extent) + ", " + std::to_string(extent) + ")") +
            std::string(static_cast<std::size_t>(extent * extent), '\3'));
  std::string const options =
      "large.npy --laplacian --scheme plain --sweeps 2 --output u.npy --report r.json";
  run_quietly(options);
  auto const enough = nlohmann::json::parse(read_text(folder / "r.json"));
  EXPECT_GT(enough["bandwidth_share"], 0);
  EXPECT_GT(enough["triad_bytes_per_second"], 1e8);
  EXPECT_TRUE(enough["bandwidth_not_measured"].is_null());
  fs::remove(folder / "u.npy");
  std::int64_t const kibibytes = (6 * cache + (std::int64_t(40) << 20)) / 1024;
  auto const outcome = run(options, "ulimit -d " + std::to_string(kibibytes) + " &&");
  EXPECT_EQ(outcome.code, 0);
  EXPECT_EQ(outcome.errors, "");
  EXPECT_TRUE(contains(outcome.output, "bandwidth not measured: it takes ")) << outcome.output;
  EXPECT_TRUE(fs::exists(folder / "u.npy"));
  auto const report = nlohmann::json::parse(read_text(folder / "r.json"));
  EXPECT_TRUE(report["bandwidth_share"].is_null());
  EXPECT_TRUE(contains(report["bandwidth_not_measured"].get<std::string>(), "of free memory"));
}

TEST_F(BadJacobi, MoreMemoryThanThereIs) {
  write("huge.npy", npy_header("|u1", "(2097152, 2097152)"));
  std::error_code error;  // four terabytes, of which the disk holds the header alone
  fs::resize_file(folder / "huge.npy", fs::file_size(folder / "huge.npy") + (1ull << 42), error);
  if (error) GTEST_SKIP() << "no such large files here: " << error.message();
  expect_failure(4, "huge.npy --output u.png",
                 {"huge.npy", "4.0 TiB", "are free", "use a smaller"});
}
