#include "app_fixture.hpp"

#include <support/sanitizers.hpp>

#include <coir/hdf5/gadget.hpp>
#include <coir/io/npy.hpp>
#include <coir/io/png.hpp>
#include <coir/mesh/paint.hpp>
#include <coir/nbody/initial_conditions.hpp>
#include <coir/nbody/simulation.hpp>

#include <cmath>
#include <cstdint>

namespace {

namespace fs = std::filesystem;
namespace io = coir::io;
using coir::testing::contains;
using coir::testing::read_text;

using Host = Kokkos::DefaultHostExecutionSpace;
using Cube = Kokkos::View<double***, Kokkos::LayoutRight, Kokkos::HostSpace>;

/// Few particles and steps, each gradient in some milliseconds.
std::string const small = "--side 12 --box 60 --steps 4 --a-start 0.1 --pixels 32 ";
std::string const short_search = small + "--iterations 5 ";

class FieldApp : public coir::testing::AppTest {
 protected:
  coir::testing::Outcome run_nbody(std::string const& arguments,
                                   std::string const& before = "") const {
    return coir::testing::run_command("cd '" + folder.path().string() + "' && " + before + " '" +
                                      COIR_NBODY + "' " + arguments);
  }

  Cube cube(std::string const& name) const {
    return io::to_view<Cube>(io::read_npy(folder / name), io::Rounding::allow);
  }

  /// A picture of a bright disc.
  void write_disc(std::string const& name = "disc.png") const {
    io::GrayImage image{24, 24, 8, {}};
    for (int i = 0; i < 24; ++i)
      for (int j = 0; j < 24; ++j)
        image.samples.push_back(std::hypot(i - 11.5, j - 11.5) < 6 ? 255 : 0);
    io::write_png(folder / name, image);
  }

  /// The density that grows from the noise of a seed by the steps of `small`.
  void write_truth(std::string const& name, int cells, std::uint64_t seed) const {
    coir::cosmology::LinearPower<double> const power(coir::cosmology::planck18());
    coir::nbody::LptOptions start;
    start.noise.seed = seed;
    auto particles =
        coir::nbody::initial_conditions<Host, double>(Host{}, 12, 60, power, 0.1, start);
    coir::nbody::SimulationOptions options;
    options.scale_factors = coir::nbody::scale_factors(0.1, 1, 4);
    options.stepper = coir::nbody::Stepper::bullfrog;
    options.mesh_ratio = 1;
    coir::nbody::Simulation<Host, double> simulation(Host{}, std::move(particles), power.growth(),
                                                     options);
    simulation.advance(4);
    Cube const density("density", std::size_t(cells), std::size_t(cells), std::size_t(cells));
    coir::mesh::paint(Host{}, simulation.particles().position, 60, density);
    double const per_cell = std::pow(12.0 / cells, 3);
    for (std::size_t n = 0; n < density.size(); ++n) density.data()[n] /= per_cell;
    io::write_npy(folder / name, density);
  }
};
using BadField = FieldApp;

double correlation(double const* a, double const* b, std::size_t count) {
  double ab = 0, aa = 0, bb = 0;
  for (std::size_t n = 0; n < count; ++n) {
    ab += (a[n] - 1) * (b[n] - 1);
    aa += (a[n] - 1) * (a[n] - 1);
    bb += (b[n] - 1) * (b[n] - 1);
  }
  return ab / std::sqrt(aa * bb);
}

std::set<std::string> const all_files = {"noise.npy",    "universe.toml", "density.npy",
                                         "start.png",    "strip.png",     "end_and_target.png",
                                         "frame_01.png", "frame_02.png",  "frame_03.png",
                                         "frame_04.png", "frame_05.png"};

}  // namespace

TEST_F(FieldApp, WritesTheStartAndPictures) {
  write_disc();
  run_quietly("disc.png " + short_search + "--output run");
  EXPECT_EQ(files("run"), all_files);
  EXPECT_EQ(io::read_npy(folder / "run/noise.npy").shape, (std::vector<std::int64_t>{12, 12, 12}));
  EXPECT_EQ(io::read_npy(folder / "run/density.npy").shape, (std::vector<std::int64_t>{12, 12}));
  EXPECT_EQ(io::read_png(folder / "run/start.png").columns, 32);
  EXPECT_EQ(io::read_png(folder / "run/end_and_target.png").columns, 2 * 32 + 1);
  auto const strip = io::read_png(folder / "run/strip.png");
  EXPECT_EQ(strip.rows, 32);
  EXPECT_EQ(strip.columns, 6 * 32 + 5);  // all ends of four steps, and the target
}

TEST_F(FieldApp, EveryIterationLowersTheLoss) {
  write_disc();
  run_quietly("disc.png " + small + "--iterations 12 --output run --report r.json");
  auto const history = report()["history"];
  ASSERT_EQ(history.size(), 13U);
  for (std::size_t n = 1; n < history.size(); ++n)
    EXPECT_LT(history[n]["loss"].get<double>(), history[n - 1]["loss"].get<double>());
  // The misfit in the report is the rest of the loss: were the prior another's, one of them would
  // be below 0.
  for (auto const& epoch : history) {
    EXPECT_GT(epoch["prior"].get<double>(), 0);
    EXPECT_GT(epoch["misfit"].get<double>(), 0);
  }
  EXPECT_LT(history.back()["loss"].get<double>(), 0.3 * history.front()["loss"].get<double>());
  // The prior of what was written.
  Cube const noise = cube("run/noise.npy");
  double prior = 0;
  for (std::size_t n = 0; n < noise.size(); ++n) prior += noise.data()[n] * noise.data()[n] / 2;
  EXPECT_NEAR(history.back()["prior"].get<double>(), prior, 1e-5 * prior);
}

TEST_F(FieldApp, FindsAStartOfADensityThatGrewFromOne) {
  write_truth("truth.npy", 12, 42);
  run_quietly("truth.npy " + small +
              "--iterations 60 --sigma 0.1 --smooth 0 --output run --report r.json");
  Cube const truth = cube("truth.npy"), reached = cube("run/density.npy");
  EXPECT_GT(correlation(reached.data(), truth.data(), truth.size()), 0.9);
  EXPECT_GT(report()["correlation"].get<double>(), 0.9);
  EXPECT_NEAR(report()["correlation"].get<double>(),
              correlation(reached.data(), truth.data(), truth.size()), 1e-4);
}

TEST_F(FieldApp, TheUniverseThatItFoundGrowsAgain) {
  write_disc();
  run_quietly("disc.png " + small + "--iterations 10 --precision double --output run");
  // Wherever the folder is moved to: the noise is named from there.
  std::filesystem::rename(folder / "run", folder / "moved");
  auto const outcome = run_nbody(
      "--config moved/universe.toml --no-pictures --no-spectra --snapshots --output again --quiet");
  EXPECT_EQ(outcome.code, 0) << outcome.errors;
  Kokkos::View<double* [3], Kokkos::LayoutRight, Kokkos::HostSpace> const x("x", 12 * 12 * 12);
  std::size_t n = 0;
  coir::hdf5::read_gadget<double>(folder / "again/snapshot_a1.000.hdf5",
                                  [&](coir::hdf5::GadgetBlock<double const> const& block) {
                                    for (double const c : block.positions) x.data()[n++] = c / 1000;
                                  });
  ASSERT_EQ(n, x.size());
  Cube const columns("columns", 12, 12, 1);
  coir::mesh::paint(Host{}, x, 60, columns);
  auto const density = io::to_view<Kokkos::View<double**, Kokkos::LayoutRight, Kokkos::HostSpace>>(
      io::read_npy(folder / "moved/density.npy"));
  // Looking on the way rounds; the run itself looked at each step's end.
  for (std::size_t c = 0; c < 144; ++c)
    EXPECT_NEAR(columns.data()[c] / 12, density.data()[c], 1e-6);
}

TEST_F(FieldApp, AnUniverseInAFolderOfAnyNameGrowsAgain) {
  write_disc();
  for (std::string const name : {"it's", "a\"b#\\`", "a [b], = c"}) {
    fs::create_directories(folder / name);
    std::string const quoted = name == "it's" ? "\"it's\"" : "'" + name + "'";
    std::string const enter = "cd " + quoted + " &&";
    auto const found = run("../disc.png " + small + "--iterations 1 --quiet --output run", enter);
    EXPECT_EQ(found.code, 0) << found.errors;
    auto const grown =
        run_nbody("--config run/universe.toml --no-pictures --output again --quiet", enter);
    EXPECT_EQ(grown.code, 0) << grown.errors;
    auto const repeated = run_nbody("--config again/config.toml --output third --quiet", enter);
    EXPECT_EQ(repeated.code, 0) << repeated.errors;
    EXPECT_TRUE(fs::exists(folder / name / "third/power_a1.000.txt"));
  }
}

TEST_F(FieldApp, NothingCorrelatesWithAnEvenTarget) {
  io::write_png(folder / "even.png", io::GrayImage{8, 8, 8, std::vector<std::uint16_t>(64, 77)});
  auto const outcome = run("even.png " + short_search + "--output run --report r.json");
  EXPECT_EQ(outcome.code, 0) << outcome.errors;
  EXPECT_TRUE(contains(outcome.output, "the target is even: nothing correlates with it"))
      << outcome.output;
  EXPECT_TRUE(report()["correlation"].is_null());
}

TEST_F(FieldApp, OneGradientIsThatOfTheMisfitAlone) {
  write_truth("truth.npy", 6, 42);
  std::string const options = small + "--precision double --assignment pcs --noise noise.npy ";
  Cube const noise("noise", 12, 12, 12);
  for (std::size_t n = 0; n < noise.size(); ++n) noise.data()[n] = std::sin(double(n * n));
  io::write_npy(folder / "noise.npy", noise);
  run_quietly("--gradient-of truth.npy " + options + "--output one --report r.json");
  EXPECT_EQ(files("one"), std::set<std::string>{"gradient.npy"});
  double const misfit = report()["misfit"];
  Cube const gradient = cube("one/gradient.npy");
  ASSERT_EQ(gradient.size(), noise.size());

  // One site's noise changes: central differences of misfits. Masses are painted in parts of 2^-40,
  // by which the forces of four steps and the density are rounded; the other error is the square of
  // the step, over that of what changes.
  double const rounding = 5 * std::ldexp(misfit, -40), step = 1e-3, at = noise(3, 4, 5);
  double misfits[2];
  for (int n = 0; n < 2; ++n) {
    noise(3, 4, 5) = at + (n == 0 ? step : -step);
    io::write_npy(folder / "noise.npy", noise);
    run_quietly("--gradient-of truth.npy " + options + "--output other --report o.json");
    misfits[n] = report("o.json")["misfit"];
  }
  EXPECT_NEAR((misfits[0] - misfits[1]) / (2 * step), gradient(3, 4, 5),
              rounding / step + step * step * std::abs(gradient(3, 4, 5)));
  EXPECT_EQ(coir::testing::keys_of(report()["slopes"]),
            "omega_m omega_b h n_s sigma8 A_s omega_k omega_r w0 wa t_cmb");
}

TEST_F(FieldApp, RealisationsAreRandomWhereTheTargetSaysNothing) {
  write_disc();
  run_quietly("disc.png " + small + "--iterations 20 --output probable --report p.json");
  run_quietly("disc.png " + small + "--iterations 20 --realisation --output one --report r.json");
  run_quietly("disc.png " + small + "--iterations 20 --realisation --seed 2 --output two");
  EXPECT_LT(report("p.json")["noise_rms"].get<double>(), 0.5);
  // 144 of 1728 numbers are bound.
  EXPECT_NEAR(report()["noise_rms"].get<double>(), 1, 0.1);
  Cube const one = cube("one/noise.npy"), two = cube("two/noise.npy");
  double product = 0;
  for (std::size_t n = 0; n < one.size(); ++n) product += one.data()[n] * two.data()[n];
  EXPECT_LT(std::abs(product) / double(one.size()), 0.3);
}

TEST_F(FieldApp, DeterministicSearchesHaveTheSameBytesForAnyNumberOfThreads) {
  write_disc();
  for (std::string const threads : {"1", "2"}) {
    auto const outcome =
        run("disc.png " + short_search + "--deterministic --quiet --output " + threads,
            "OMP_NUM_THREADS=" + threads);
    EXPECT_EQ(outcome.code, 0) << outcome.errors;
  }
  for (char const* name : {"noise.npy", "density.npy", "strip.png"})
    EXPECT_TRUE(read_text(folder / "1" / name) == read_text(folder / "2" / name)) << name;
}

TEST_F(FieldApp, MemoryIsWhatWasPredicted) {
  if (coir::testing::is_sanitized)
    GTEST_SKIP() << "the sanitizer's own memory is part of what a run takes";
  write_disc();
  run_quietly(
      "disc.png --side 64 --precision double --steps 2 --a-start 0.3 --iterations 1 "
      "--realisation --pixels 64 --backend cpu --output run --report r.json");
  double const predicted = report()["bytes_predicted"], peak = report()["bytes_peak"];
  EXPECT_GE(predicted, peak);
  EXPECT_LE(predicted, 1.4 * peak);
}

TEST_F(FieldApp, ASearchGoesOnFromNoise) {
  write_disc();
  run_quietly("disc.png " + short_search + "--output one --report one.json");
  run_quietly("disc.png " + short_search + "--noise one/noise.npy --output two --report two.json");
  double const end = report("one.json")["history"].back()["loss"];
  EXPECT_NEAR(report("two.json")["history"][0]["loss"].get<double>(), end, 1e-4 * end);
}

TEST_F(FieldApp, EveryWordOfItsOptionsRuns) {
  write_disc();
  std::string const shortest = "disc.png --pixels 16 --iterations 1 --output run ";
  for (std::string const option :
       {"--stepper plain", "--stepper fastpm", "--assignment tsc", "--lpt 1", "--mesh-ratio 2",
        "--spacing logarithmic", "--transfer no_wiggle", "--A-s 2e-9", "--a-end 0.5",
        "--contrast 0.2", "--smooth 0", "--smooth 10", "--frames 2", "--kernel 3_2",
        "--softening gaussian", "--w0 -0.9 --wa 0.1", "--omega-k 0.02 --omega-r 9e-5",
        "--backend cpu"})
    run_quietly(shortest + "--side 8 --steps 3 --a-start 0.1 " + option);
  run_quietly(shortest + "--side 7 --steps 1 --a-start 0.5");
}

TEST_F(FieldApp, ReportHasItsKeysInOrder) {
  write_disc();
  run_quietly("disc.png " + short_search + "--output run --report r.json");
  auto const found = report();
  EXPECT_EQ(coir::testing::keys_of(found),
            "application version kokkos_version backend device threads ranks precision particles "
            "target target_side sigma smooth seconds iterations stopped_by correlation "
            "difference_over_sigma noise_rms history bytes_predicted bytes_peak "
            "device_bytes_predicted");
  EXPECT_EQ(found["application"], "coir-field");
  EXPECT_EQ(found["particles"], 1728);
  EXPECT_EQ(found["target_side"], 12);
  EXPECT_EQ(found["iterations"], 5);
  EXPECT_EQ(found["stopped_by"], "iterations");
}

TEST_F(BadField, CtrlCLeavesTheBestStart) {
  write_disc();
  auto const outcome = run_until(
      [&](auto const&) { return fs::exists(folder / "run/noise.npy"); },
      "disc.png --side 16 --steps 40 --iterations 1000000 --tolerance 1e-300 --output run");
  EXPECT_EQ(outcome.code, 130);
  std::string const& text = outcome.errors;
  EXPECT_TRUE(contains(text, "coir-field: error: stopped ")) << text;
  EXPECT_TRUE(contains(text, "run/noise.npy is the best start so far, of iteration ")) << text;
  EXPECT_EQ(files("run"), std::set<std::string>{"noise.npy"});
  run_quietly(
      "disc.png --side 16 --steps 40 --iterations 1 --noise run/noise.npy --output on "
      "--pixels 32 --report r.json");
  // Far below the start's loss, which is that of an even density.
  EXPECT_LT(report()["history"][0]["misfit"].get<double>(), 5000);
}

TEST_F(BadField, WrongOptionsAreRefused) {
  expect_failures(2, {{"", {"name a target"}},
                      {"a.png --sigma 0", {"--sigma must be a number above 0", "'0'"}},
                      {"a.png --smooth -1", {"--smooth must be 0 or more, not -1"}},
                      {"a.png --mesh-ratio 5", {"--mesh-ratio must be from 1 to 4", "5"}},
                      {"a.png --a-start 1", {"--a-start must be below --a-end, 1, not 1"}},
                      {"a.png --a-start 1e-9", {"--a-start must be 1e-05 or more, not 1e-09"}},
                      {"a.png --sigma8 0.8 --A-s 2e-9", {"--sigma8", "--A-s", "leave one out"}},
                      {"a.png --noise n.npy --seed 3", {"--noise", "leave --seed out"}},
                      {"a.png --noise n.npy --realisation", {"--realisation", "leave --noise out"}},
                      {"--gradient-of b.npy --realisation", {"leave --realisation out"}},
                      {"a.png --check", {"--check is of one gradient", "--gradient-of"}},
                      {"a.png --output 'a\nb'", {"--output", "a b", "without line breaks"}}});
  write_disc();
  fs::create_directory(folder / "run");
  fs::copy(folder / "disc.png", folder / "run/start.png");
  write("f.toml", "iterations = 1\n");
  fs::create_symlink("../f.toml", folder / "run/strip.png");
  expect_failures(2, {{"run/start.png --output run", {"the run's start.png and TARGET"}},
                      {"disc.png --report ./disc.png", {"--report and TARGET"}},
                      {"disc.png --config f.toml --report f.toml", {"--report and --config"}},
                      {"disc.png --config f.toml --output run", {"strip.png and --config"}}});
}

TEST_F(BadField, UniversesThatCantBe) {
  write_disc();
  expect_failure(2, "disc.png " + small + "--omega-m 0", {"set --omega-m", "above 0", "not 0"});
  expect_failure(2, "disc.png " + small + "--omega-b 0.4", {"--omega-b", "below --omega-m", "0.4"});
  expect_failure(2, "disc.png " + small + "--h 67", {"set --h,", "(0, 10)", "67"});
}

// --- Input files: 3 ---

TEST_F(BadField, TargetsThatAreNone) {
  Cube const some("some", 4, 4, 4);
  Kokkos::deep_copy(some, 1.0);
  io::write_npy(folder / "even.npy", some);
  expect_failures(3, {{"none.png", {"none.png", "no such file"}},
                      {"even.npy --side 3", {"even.npy", "4^3 cells", "--side 4"}},
                      {"even.npy --side 8 --noise none.npy", {"none.npy", "no such file"}},
                      {"even.npy --side 8 --noise even.npy",
                       {"even.npy", "(8, 8, 8)", "(4, 4, 4)", "--side"}}});
}

// --- Outputs and memory that aren't there: 4 ---

TEST_F(BadField, MoreMemoryThanThereIs) {
  write_disc();
  expect_failure(4, "disc.png --side 1024 --output run",
                 {"the search with 1024^3 particles needs", "iB", "are free"});
}

// --- Numbers that overflow: 5 ---

TEST_F(BadField, LossesThatAreNoNumbers) {
  write_disc();
  for (std::string const what : {"disc.png ", "--gradient-of disc.png "})
    expect_failure(5, what + small + "--sigma8 1e30 --output run",
                   {"number", "use a smaller --sigma8"});
}
