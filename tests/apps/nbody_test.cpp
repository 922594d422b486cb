#include <nbody/sheet.hpp>
#include <support/command.hpp>
#include <support/sanitizers.hpp>
#include <support/typed_suite.hpp>

#include <coir/hdf5/gadget.hpp>
#include <coir/hdf5/reader.hpp>
#include <coir/io/npy.hpp>
#include <coir/io/png.hpp>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "nbody_fixture.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <numeric>
#include <regex>
#include <set>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;
namespace io = coir::io;
using namespace coir::apps::nbody;
using namespace coir::testing;

/// side^3 particles at (q + shift) scale, q their places on a lattice of spacing 1.
template <class Exec, class T>
coir::nbody::Particles<Exec, T> lattice(int side, double scale, double shift) {
  coir::nbody::Particles<Exec, T> particles{side, double(side), {}, {}};
  using Vectors = typename coir::nbody::Particles<Exec, T>::Vectors;
  particles.position = Vectors("positions", std::size_t(particles.count()));
  auto const host = Kokkos::create_mirror_view(particles.position);
  for (int p = 0; p < particles.count(); ++p) {
    int const q[3] = {p / side / side, p / side % side, p % side};
    for (int d = 0; d < 3; ++d) {
      double const x = (q[d] + shift) * scale;
      host(p, d) = static_cast<T>(x - side * std::floor(x / side));
    }
  }
  Kokkos::deep_copy(particles.position, host);
  return particles;
}

/// Pixels over what they would be if matter were spread evenly.
template <class Exec, class T>
std::vector<double> densities(coir::nbody::Particles<Exec, T> const& particles,
                              Sight const& sight) {
  SheetPixels<Exec> const mass("mass", sight.pixels, sight.pixels);
  double const mean =
      paint_sheet<Exec, T>(Exec{}, coir::distributed::Group::self(), particles, sight, mass);
  auto const host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, mass);
  std::vector<double> result;
  for (std::size_t n = 0; n < host.size(); ++n)
    result.push_back(static_cast<double>(host.data()[n]) / mean);
  return result;
}

double mean_of(std::vector<double> const& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / double(values.size());
}

COIR_TYPED_SUITE(Sheet);

}  // namespace

// --- Pictures of the sheet that particles lie on ---

TYPED_TEST(Sheet, EvenMatterGivesAnEvenPicture) {
  using T = typename TypeParam::Real;
  // 64 places a pixel, which a low-discrepancy sequence spreads: far better than 1 / sqrt(64).
  for (double const thickness : {8.0, 2.0}) {
    auto const all =
        densities(lattice<typename TypeParam::Exec, T>(8, 1, 0.25), {3, thickness, 32});
    for (double const density : all) EXPECT_NEAR(density, 1, 0.1);
    EXPECT_NEAR(mean_of(all), 1, 1e-3);
  }
}

TYPED_TEST(Sheet, AllMatterIsSeenThroughTheWholeBox) {
  using T = typename TypeParam::Real;
  // Odd, prime and single: squeezed to half of the box, which tears the sheet where its ends meet.
  for (int const side : {1, 2, 5, 7})
    for (double const from : {0.0, 0.6 * side}) {
      auto const all =
          densities(lattice<typename TypeParam::Exec, T>(side, 0.5, 0.1), {from, double(side), 24});
      EXPECT_NEAR(mean_of(all), 1, 1e-12) << side;
    }
}

TYPED_TEST(Sheet, MatterIsWhereItsParticlesAre) {
  using T = typename TypeParam::Real;
  // All of it within a hundredth of the lattice's spacing around (4, 4, 4): pixels 15 and 16 of 32
  // share it.
  auto const particles = lattice<typename TypeParam::Exec, T>(8, 1e-3, 4000 - 3.5);
  auto const all = densities(particles, {0, 8, 32});
  double around = 0;
  for (int i = 15; i <= 16; ++i)
    for (int j = 15; j <= 16; ++j) around += all[std::size_t(32 * i + j)];
  EXPECT_NEAR(around, 32 * 32, 1e-9);
  // And in depth: none, all, and all through the box's end.
  EXPECT_EQ(mean_of(densities(particles, {0, 3, 32})), 0);
  EXPECT_NEAR(mean_of(densities(particles, {3, 2, 32})), 4, 1e-12);
  EXPECT_EQ(mean_of(densities(particles, {5, 6, 32})), 0);
  EXPECT_NEAR(mean_of(densities(particles, {6, 7, 32})), 8.0 / 7, 1e-12);
}

TYPED_TEST(Sheet, PicturesWrapAround) {
  using T = typename TypeParam::Real;
  auto const particles = lattice<typename TypeParam::Exec, T>(8, 1e-3, -3.5);  // around the origin
  auto const all = densities(particles, {4, 8, 32});
  EXPECT_NEAR(all[0] + all[31] + all[31 * 32] + all[31 * 32 + 31], 32 * 32, 1e-9);
}

// --- The application ---

namespace {

using BadNbody = Nbody;

std::set<std::string> const files_at_the_end = {"config.toml",           "power_a1.000.txt",
                                                "projection_a1.000.npy", "projection_a1.000.png",
                                                "slab_a1.000.npy",       "slab_a1.000.png"};

}  // namespace

TEST_F(Nbody, WritesPicturesAndASpectrumAtTheEnd) {
  run_quietly(small + "--output run");
  EXPECT_EQ(files("run"), files_at_the_end);
  for (std::string const what : {"slab", "projection"}) {
    auto const picture = io::read_png(folder / ("run/" + what + "_a1.000.png"));
    EXPECT_EQ(picture.rows, 16);
    EXPECT_EQ(picture.columns, 16);
    auto const array = io::read_npy(folder / ("run/" + what + "_a1.000.npy"));
    EXPECT_EQ(array.type, io::NpyType::float32);
    EXPECT_EQ(array.shape, (std::vector<std::int64_t>{16, 16}));
  }
}

TEST_F(Nbody, WritesWhatIsAskedFor) {
  run_quietly(small + "--output none --no-pictures --no-spectra");
  EXPECT_EQ(files("none"), std::set<std::string>{"config.toml"});
  run_quietly("--config none/config.toml --spectra --no-pictures --output some");
  EXPECT_EQ(files("some"), (std::set<std::string>{"config.toml", "power_a1.000.txt"}));
  run_quietly(small + "--output all --snapshots --checkpoint 3 --report all/run.json");
  auto expected = files_at_the_end;
  expected.merge(std::set<std::string>{"snapshot_a1.000.hdf5", "checkpoint.hdf5", "run.json"});
  EXPECT_EQ(files("all"), expected);
}

TEST_F(Nbody, OutputsAreEndsOfSteps) {
  run_quietly(small +
              "--a-start 0.2 --outputs 0.2,0.4,0.5 --no-pictures --output run --report r.json");
  EXPECT_EQ(files("run"),
            (std::set<std::string>{"config.toml", "power_a0.200.txt", "power_a0.400.txt",
                                   "power_a0.500.txt", "power_a1.000.txt"}));
  EXPECT_EQ(report("r.json")["steps"], 5);  // 0.4 was the end of one, and 0.5 is new
}

TEST_F(Nbody, NamesHaveAsManyDigitsAsTheyNeed) {
  run_quietly(small +
              "--no-pictures --a-start 0.0123 --outputs 0.0123,0.50001,0.50002 --output run");
  EXPECT_EQ(files("run"),
            (std::set<std::string>{"config.toml", "power_a0.01230.txt", "power_a0.50001.txt",
                                   "power_a0.50002.txt", "power_a1.00000.txt"}));
}

TEST_F(Nbody, SizesNeedNotBePowersOfTwo) {
  for (std::string const side : {"2", "3", "7", "9"})
    run_quietly("--particles " + side + " --mesh-ratio 1.5 --steps 2 --pixels 5 --output side" +
                side);
}

TEST_F(Nbody, EveryWordOfItsOptionsRuns) {
  std::string const shortest = "--particles 6 --steps 2 --no-pictures --output run ";
  for (std::string const options :
       {"--stepper plain --kernel naive --softening automatic --assignment tsc --lpt 1 --spacing "
        "logarithmic",
        "--stepper bullfrog --kernel gadget --assignment pcs --mesh-ratio 1 --precision double",
        "--kernel 3_4 --softening steep --force-source potential",
        "--kernel 5_4 --softening two_thirds --force-source vectors --transfer no_wiggle",
        "--kernel eastwood --softening none --allow-false-structure --a-end 1.2 --A-s 2e-9",
        "--kernel 3_2 --softening gaussian --inverted --w0 -0.9 --wa 0.1",
        "--mesh-ratio 4 --softening gadget --fixed-amplitude --omega-k 0.02 --omega-r 9e-5"})
    run_quietly(shortest + options);
}

TEST_F(Nbody, TheConfigurationRepeatsTheRun) {
  run_quietly(
      "--particles 8 --box 50.5 --pixels 16 --steps 3 --a-start 0.1 --outputs 0.3,0.7 --seed 77 "
      "--stepper bullfrog --kernel 3_2 --softening gaussian --assignment tsc --omega-m 0.27 "
      "--A-s 2.1e-9 --precision double --force-source potential --deterministic --snapshots "
      "--slab-thickness 7 "
      "--inverted --fixed-amplitude --checkpoint 2 --output one");
  run_quietly("--config one/config.toml --output two");
  expect_same_files("one", "two");
}

TEST_F(Nbody, AFolderThatIsCopiedWithItsFilesRepeatsTheRun) {
  Kokkos::View<float***, Kokkos::LayoutRight, Kokkos::HostSpace> const noise("noise", 4, 4, 4);
  for (std::size_t n = 0; n < noise.size(); ++n) noise.data()[n] = std::sin(float(n));
  fs::create_directories(folder / "here/runs");
  io::write_npy(folder / "here/noise.npy", noise);
  write("here/p.txt", "0.001 1\n0.1 2\n1 3\n200 4\n");
  run_quietly(
      "--particles 4 --steps 4 --no-pictures --deterministic --checkpoint 2 --stop-after 2 "
      "--noise here/noise.npy --power-table here/p.txt --output here/runs/one");
  std::string const config = read_text(folder / "here/runs/one/config.toml");
  EXPECT_TRUE(contains(config, "noise = \"../../noise.npy\"\n")) << config;
  EXPECT_TRUE(contains(config, "power-table = \"../../p.txt\"\n")) << config;
  fs::rename(folder / "here", folder / "there");
  run_quietly("--config there/runs/one/config.toml --output two");
  run_quietly("--restart there/runs/one --power-table there/p.txt");
  EXPECT_TRUE(read_text(folder / "two/power_a1.000.txt") ==
              read_text(folder / "there/runs/one/power_a1.000.txt"));
  // Beside a configuration of one's own, wherever the program is started.
  write("there/own.toml", "noise = 'noise.npy'\nparticles = 4\nsteps = 2\npictures = false\n");
  run_quietly("--config ../own.toml --output three", "cd there/runs &&");
}

TEST_F(Nbody, TheCommandLineCountsMoreThanTheFile) {
  write("some.toml",
        "# a comment\nparticles = 6\nscale-factors = [0.1, 0.5, 1]\npictures = false\n"
        "quiet = true\nseed = 5\n");
  auto const outcome = run("--config some.toml --seed 6 --output run");
  EXPECT_EQ(outcome.code, 0) << outcome.errors;
  EXPECT_EQ(outcome.output, "");
  std::string const config = read_text(folder / "run/config.toml");
  for (char const* line :
       {"particles = 6\n", "seed = 6\n", "scale-factors = [0.1, 0.5, 1]\n", "pictures = false\n"})
    EXPECT_TRUE(contains(config, line)) << config;
  EXPECT_FALSE(contains(config, "steps ="));
}

TEST_F(Nbody, DeterministicRunsHaveTheSameBytesForAnyNumberOfThreads) {
  for (std::string const stepper : {"fastpm", "bullfrog"}) {
    std::string const options =
        "--particles 9 --steps 3 --pixels 16 --deterministic --snapshots --stepper " + stepper;
    run_quietly(options + " --output one", "OMP_NUM_THREADS=1");
    run_quietly(options + " --output two", "OMP_NUM_THREADS=2");
    expect_same_files("one", "two");
  }
}

TEST_F(Nbody, ARunThatIsStoppedAnywhereEndsInTheSameBytes) {
  for (std::string const words :
       {"--stepper fastpm", "--stepper plain --precision double", "--stepper bullfrog"}) {
    std::string const options =
        "--particles 8 --steps 6 --pixels 16 --deterministic --snapshots --outputs 0.45 "
        "--checkpoint 4 " +
        words;
    run_quietly(options + " --output whole");
    run_quietly(options + " --stop-after 3 --output parts");
    EXPECT_FALSE(fs::exists(folder / "parts/power_a1.000.txt"));
    run_quietly("--restart parts --stop-after 4");  // where a checkpoint would be anyway
    run_quietly("--restart parts");
    expect_same_files("whole", "parts");
    fs::remove_all(folder / "whole");
    fs::remove_all(folder / "parts");
  }
}

TEST_F(Nbody, ACheckpointOfOneBackendGoesOnOnAnother) {
  std::string const options = "--particles 8 --steps 4 --deterministic --no-pictures ";
  run_quietly(options + "--backend cpu --output whole --report r.json");
  EXPECT_EQ(report("r.json")["backend"], Kokkos::DefaultHostExecutionSpace::name());
  EXPECT_EQ(report("r.json")["device_bytes_predicted"], nullptr);
  auto const whole = table("whole/power_a1.000.txt");
  for (auto const& [first, second] : {std::pair("auto", "cpu"), std::pair("cpu", "auto")}) {
    run_quietly(options + "--stop-after 2 --output parts --backend " + first);
    run_quietly(std::string("--restart parts --backend ") + second);
    auto const parts = table("parts/power_a1.000.txt");
    ASSERT_EQ(parts.size(), whole.size());
    for (std::size_t n = 0; n < whole.size(); ++n)
      EXPECT_NEAR(parts[n][1] / whole[n][1], 1, 1e-3) << whole[n][0];
    fs::remove_all(folder / "parts");
  }
}

TEST_F(Nbody, ARestartMayWriteOtherThingsElsewhere) {
  run_quietly(small + "--box 200 --checkpoint 2 --stop-after 2 --no-pictures --output one");
  run_quietly(
      "--restart one/checkpoint.hdf5 --slab-thickness 150 --no-spectra --snapshots --seed 1 "
      "--output two");
  EXPECT_EQ(files("two"),
            (std::set<std::string>{"config.toml", "checkpoint.hdf5", "snapshot_a1.000.hdf5"}));
  // At the end there is nothing left but to write.
  run_quietly("--restart two --pictures --outputs 1 --no-spectra --output three --report r.json");
  EXPECT_TRUE(fs::exists(folder / "three/slab_a1.000.png"));
  EXPECT_EQ(report("r.json")["steps"], 0);
  EXPECT_EQ(report("r.json")["nanoseconds_per_particle_step"], nullptr);
}

TEST_F(Nbody, AtTheStartTheSpectrumIsThatOfLinearTheory) {
  // Displacements of a thousandth of the lattice's spacing, with amplitudes that don't scatter:
  // what remains is that P at a bin's mean k is not the mean of P there. A bin is k_f wide, and
  // with P ~ k^n its second order is n (n - 1) / 24 (k_f / k)^2, here with n above -2.1. Images of
  // the mesh add 0.1 % at most. Below the Nyquist frequency, which displacements lack.
  run_quietly(
      "--particles 16 --box 64 --scale-factors 0.01,0.02 --outputs 0.01 --fixed-amplitude "
      "--sigma8 0.01 --precision double --no-pictures --output run");
  auto const rows = table("run/power_a0.010.txt");
  ASSERT_GE(rows.size(), 8U);
  for (std::size_t n = 2; n < 7; ++n) {
    ASSERT_EQ(rows[n].size(), 4U);
    EXPECT_NEAR(rows[n][1] / rows[n][3], 1, 0.3 / double((n + 1) * (n + 1)) + 1e-3) << rows[n][0];
  }
}

TEST_F(Nbody, SnapshotsAndCheckpointsHoldTheSameParticles) {
  run_quietly(small + "--a-end 0.5 --snapshots --checkpoint 4 --output run");
  coir::hdf5::Reader const checkpoint(folder / "run/checkpoint.hdf5");
  auto const x = checkpoint.read<float>("positions"), p = checkpoint.read<float>("momenta");
  std::size_t n = 0;
  auto const header = coir::hdf5::read_gadget<float>(
      folder / "run/snapshot_a0.500.hdf5", [&](coir::hdf5::GadgetBlock<float const> const& block) {
        ASSERT_LE(n + block.positions.size(), x.size());
        for (std::size_t m = 0; m < block.positions.size(); ++m, ++n) {
          EXPECT_FLOAT_EQ(block.positions[m], 1000 * x[n]);  // Mpc and kpc
          EXPECT_FLOAT_EQ(block.velocities[m], 200 * p[n]);  // 100 / a
        }
      });
  EXPECT_EQ(n, 3U * 512);
  EXPECT_EQ(header.box, 100'000);
  EXPECT_EQ(header.scale_factor, 0.5);
  EXPECT_EQ(header.omega_m, 0.3111);
  EXPECT_EQ(header.hubble, 0.6766);
  EXPECT_NEAR(header.particle_mass * 512, 0.3111 * coir::hdf5::critical_density * 1e6, 1e-3);
}

TEST_F(Nbody, NoiseAndPowerMayComeFromFiles) {
  Kokkos::View<double***, Kokkos::LayoutRight, Kokkos::HostSpace> const noise("noise", 6, 6, 6);
  for (std::size_t n = 0; n < noise.size(); ++n) noise.data()[n] = std::sin(double(n * n));
  io::write_npy(folder / "noise.npy", noise);
  std::string power = "# k P\n";
  for (int n = 0; n <= 60; ++n) {
    double const k = std::pow(10, -3 + n / 12.0);
    power += std::to_string(k) + " " + std::to_string(2000 / (1 + k * k)) + "\n";
  }
  write("power.txt", power);
  std::string const options =
      "--particles 6 --steps 2 --no-pictures --noise noise.npy --power-table power.txt ";
  run_quietly(options + "--output one");
  for (auto const& row : table("one/power_a1.000.txt"))
    EXPECT_NEAR(row[3], 2000 / (1 + row[0] * row[0]), 0.01 * row[3]);  // six digits and a spline
  run_quietly("--config one/config.toml --renormalise --sigma8 0.5 --output two");
  EXPECT_NE(read_text(folder / "one/power_a1.000.txt"), read_text(folder / "two/power_a1.000.txt"));
}

TEST_F(Nbody, ReportHasItsKeysInOrder) {
  run_quietly(small + "--report run.json --output run");
  auto const found = report("run.json");
  std::vector<std::string> keys, phases;
  for (auto const& item : found.items()) keys.push_back(item.key());
  for (auto const& item : found["phases"].items()) phases.push_back(item.key());
  EXPECT_EQ(keys, (std::vector<std::string>{"application", "version", "kokkos_version", "backend",
                                            "device", "threads", "precision", "particles", "mesh",
                                            "stepper", "steps", "a", "seconds", "phases",
                                            "nanoseconds_per_particle_step", "bytes_predicted",
                                            "bytes_peak", "device_bytes_predicted"}));
  EXPECT_EQ(phases, (std::vector<std::string>{"start", "paint", "fft", "readout", "push", "sort",
                                              "spectra", "pictures", "io"}));
  EXPECT_EQ(found["application"], "coir-nbody");
  EXPECT_EQ(found["particles"], 512);
  EXPECT_EQ(found["mesh"], 16);
  EXPECT_EQ(found["steps"], 4);
  EXPECT_EQ(found["a"], 1);
  double const seconds = found["seconds"], sum = found["phases"]["paint"].get<double>() +
                                                 found["phases"]["fft"].get<double>() +
                                                 found["phases"]["readout"].get<double>() +
                                                 found["phases"]["push"].get<double>();
  EXPECT_GT(sum, 0);
  EXPECT_LE(sum, seconds);
  EXPECT_NEAR(found["nanoseconds_per_particle_step"].get<double>(), 1e9 * seconds / (512 * 4),
              1e-6 * 1e9 * seconds);
}

TEST_F(Nbody, ItSaysWhatItDoesAndHowFastItWas) {
  auto const outcome = run(small + "--progress --output run");
  EXPECT_EQ(outcome.code, 0);
  for (char const* part :
       {"8^3 particles in 100 Mpc/h, forces on 16^3 cells, 4 steps of fastpm from a = 0.1 to 1",
        "memory: ", " are free", "4 steps in ", "particle-step/s: paint ", "written to run"})
    EXPECT_TRUE(contains(outcome.output, part)) << outcome.output;
  EXPECT_TRUE(contains(outcome.errors, "of 2048 particle-steps")) << outcome.errors;
  EXPECT_TRUE(contains(outcome.errors, "step 1 of 4")) << outcome.errors;
}

std::set<std::string> matches(std::string const& text, std::string const& pattern) {
  std::regex const expression(pattern);
  std::set<std::string> found;
  for (std::sregex_iterator at(text.begin(), text.end(), expression), end; at != end; ++at)
    found.insert((*at)[1]);
  return found;
}

TEST_F(Nbody, HelpAndItsPageNameTheSameOptions) {
  auto const help = run("--help");
  EXPECT_EQ(help.code, 0);
  EXPECT_EQ(run("-h").output, help.output);
  for (char const* part : {"coir-nbody --restart big", "Exit codes"})
    EXPECT_TRUE(contains(help.output, part)) << part;
  auto options = matches(help.output, "\n +(?:-h,)?--([A-Za-z0-9-]+)");
  EXPECT_EQ(options.erase("help") + options.erase("version"), 2U);
  EXPECT_EQ(matches(read_text(COIR_NBODY_PAGE), "`--(?!kokkos-)([A-Za-z0-9-]+)"), options);
  EXPECT_GT(options.size(), 60U);
}

TEST_F(BadNbody, CtrlCLeavesWholeFiles) {
  auto const outcome = run_until(
      [&](std::string const& errors) {
        return contains(errors, " particle-steps") && fs::exists(folder / "run/checkpoint.hdf5");
      },
      "--particles 16 --steps 1000000 --checkpoint 20 --output run --no-pictures --progress "
      "--deterministic");
  EXPECT_EQ(outcome.code, 130);
  EXPECT_TRUE(contains(outcome.errors, "coir-nbody: error: stopped after ")) << outcome.errors;
  EXPECT_TRUE(contains(outcome.errors, " of 1000000 steps; --restart run/checkpoint.hdf5 goes on"))
      << outcome.errors;
  EXPECT_EQ(files("run"), (std::set<std::string>{"config.toml", "checkpoint.hdf5"}));
  coir::hdf5::Reader const checkpoint(folder / "run/checkpoint.hdf5");
  EXPECT_EQ(checkpoint.attribute<std::int32_t>("/", "steps_done") % 20, 0);
}

// --- Wrong usage: 2 ---

TEST_F(BadNbody, UnknownOption) {
  expect_failure(2, "--particels 8", {"--particels", "did you mean --particles?"});
  expect_failure(2, "64", {"one argument too many: 64"});
}

TEST_F(BadNbody, ListsGivenTwiceAndFlagsBesideTheirOpposites) {
  for (std::string const option : {"--outputs", "--scale-factors"}) {
    expect_failure(2, option + " 0.5,0.6 " + option + " 0.7,0.8", {option + " was given 2 times"});
    expect_failure(2, option + "=0.5,0.6 " + option + " 0.7,0.8", {option + " was given 2 times"});
  }
  for (std::string const name : {"pictures", "spectra"})
    expect_failure(2, "--" + name + " --no-" + name, {"--" + name + " and --no-" + name});
}

TEST_F(BadNbody, NumbersOutOfRange) {
  for (std::string const value : {"0", "-8", "8.5", "many", "16385"})
    expect_failure(2, "--particles " + value,
                   {"--particles", "from 1 to 16384", "'" + value + "'"});
  for (std::string const value : {"0", "-100", "nan", "inf", "wide"})
    expect_failure(2, "--box " + value, {"--box must be a number above 0", "'" + value + "'"});
  for (std::string const value : {"0.5", "4.5", "-1"})
    expect_failure(2, "--mesh-ratio " + value, {"--mesh-ratio must be from 1 to 4", value});
  for (std::string const value : {"0", "-1", "1000001"})
    expect_failure(2, "--steps " + value, {"--steps", "from 1 to 1000000", value});
  expect_failure(2, "--lpt 3", {"--lpt", "from 1 to 2", "'3'"});
  expect_failure(2, "--seed -1", {"--seed", "from 0 to", "'-1'"});
  expect_failure(2, "--pixels 0", {"--pixels", "from 1 to 32768"});
  expect_failure(2, "--checkpoint 0", {"--checkpoint", "from 1 to"});
  expect_failure(2, "--slab-thickness 0", {"--slab-thickness must be a number above 0"});
  expect_failure(2, "--slab-thickness 101", {"--slab-thickness", "at most the box, 100", "101"});
}

TEST_F(BadNbody, UnknownWords) {
  expect_failure(2, "--kernel fast", {"'fast'", "naive, 1_4, 3_4, 5_4, 3_2, eastwood, gadget"});
  expect_failure(2, "--softening much", {"'much'", "none, two_thirds, gaussian, gadget, steep"});
  expect_failure(2, "--stepper leapfrog", {"'leapfrog'", "fastpm, plain, bullfrog"});
  expect_failure(2, "--assignment ngp", {"--assignment", "cic, tsc, pcs", "'ngp'"});
  expect_failure(2, "--precision half", {"--precision", "single, double", "'half'"});
  expect_failure(2, "--spacing even", {"--spacing", "linear, logarithmic", "'even'"});
  expect_failure(2, "--transfer bbks", {"--transfer", "eisenstein_hu, no_wiggle", "'bbks'"});
}

TEST_F(BadNbody, ScaleFactorsThatDontRise) {
  expect_failure(2, "--a-start 1 --a-end 0.5", {"--a-start must be below --a-end, 0.5, not 1"});
  expect_failure(2, "--a-start 1", {"--a-start must be below --a-end, 1, not 1"});
  for (std::string const value : {"0", "-0.1"})
    expect_failure(2, "--a-start " + value, {"--a-start must be a number above 0"});
  expect_failure(2, "--a-start 1e-9", {"start at a = 1e-05 or later, not 1e-09"});
  expect_failure(2, "--scale-factors 0.1", {"--scale-factors", "start and the end"});
  expect_failure(2, "--scale-factors 0.1,0.5,0.5", {"--scale-factors must rise", "0.5"});
  expect_failure(2, "--scale-factors 0.1,x", {"--scale-factors", "'x'"});
  expect_failure(2, "--scale-factors 0.1,1 --steps 3", {"--scale-factors", "--steps out"});
}

TEST_F(BadNbody, OutputsBeforeTheStartOrAfterTheEnd) {
  for (std::string const value : {"0.05", "1.1"})
    expect_failure(
        2, "--outputs 0.5," + value,
        {"--redshifts, must be from the start to the end, a = 0.1 to 1, not a = " + value});
  expect_failure(2, "--outputs 0", {"--outputs must be a number above 0", "'0'"});
}

TEST_F(BadNbody, UniversesThatCantBe) {
  expect_failure(2, "--omega-m 0", {"set --omega-m", "above 0", "not 0"});
  expect_failure(2, "--omega-m -0.3", {"--omega-m", "-0.3"});
  expect_failure(2, "--omega-b 0.4", {"--omega-b", "below --omega-m", "0.4"});
  expect_failure(2, "--h 67", {"set --h,", "(0, 10)", "67"});
  expect_failure(2, "--omega-k -3",
                 {"E^2 must be above 0", "bring --omega-k and --wa closer to 0"});
  expect_failure(2, "--wa 2", {"--w0 + --wa must be below 0", "not 1"});
  expect_failure(2, "--sigma8 0", {"--sigma8 must be a number above 0"});
  expect_failure(2, "--n-s blue", {"--n-s must be a finite number", "'blue'"});
}

TEST_F(BadNbody, NumbersOfUniversesBeyondAllSense) {
  for (std::string const name :
       {"omega-m", "omega-b", "h", "omega-k", "omega-r", "w0", "wa", "t-cmb"})
    expect_failure(2, "--" + name + " 1e20",
                   {"--" + name + " must be from -1000 to 1000, not 1e+20"});
  expect_failure(2, "--n-s 1e20", {"--n-s must be from -10 to 10, not 1e+20"});
}

TEST_F(BadNbody, ForcesThatMakeFalseStructure) {
  expect_failure(2, "--kernel naive --softening none",
                 {"kernel naive with no softening", "mesh ratio 2", "take softening two_thirds",
                  "--allow-false-structure"});
  expect_failure(2, "--mesh-ratio 3 --softening two_thirds",
                 {"softening two_thirds", "mesh ratio 3", "take softening none or gaussian"});
}

// A table gives what these would.
TEST_F(BadNbody, ParametersWithoutEffectBesideATable) {
  std::string text;
  for (double k = 1e-3; k < 100; k *= 1.05)
    text += std::to_string(k) + " " + std::to_string(1000 / (1 + k)) + "\n";
  write("p.txt", text);
  std::string const run = small + "--power-table p.txt ";
  for (std::string const option : {"--omega-b -7", "--t-cmb 0", "--n-s 0.5"}) {
    std::string const name = option.substr(0, option.find(' '));
    expect_failure(2, run + option, {name + " has no effect with --power-table", "leave it out"});
  }
  expect_failure(2, run + "--h 0 --snapshots", {"set --h,", "(0, 10)", "not 0"});
  expect_failure(2, run + "--h 67", {"set --h,", "(0, 10)", "not 67"});
  // A configuration repeats such a run.
  run_quietly(run + "--h 0.7 --no-pictures --deterministic --output first");
  run_quietly("--config first/config.toml --output again");
  expect_same_files("first", "again");
}

TEST_F(Nbody, WarnsOfTablesWhoseRowsAreTooFarApart) {
  auto const table = [](double step) {
    std::string text;
    for (double k = 1e-3; k < 100; k *= step)
      text += std::to_string(k) + " " + std::to_string(1000 / (1 + k)) + "\n";
    return text;
  };
  std::ofstream(folder / "few.txt") << table(1.8);
  std::ofstream(folder / "many.txt") << table(1.09);
  std::string const options = "--particles 8 --box 300 --steps 1 --no-pictures --output run ";
  auto const few = run(options + "--power-table few.txt");
  EXPECT_EQ(few.code, 0);
  EXPECT_TRUE(contains(few.errors, "warning: ") && contains(few.errors, "few.txt") &&
              contains(few.errors, "acoustic oscillations") && contains(few.errors, "0.09"))
      << few.errors;
  EXPECT_FALSE(contains(run(options + "--power-table many.txt").errors, "warning"));
}

TEST_F(Nbody, WarnsWhereTheMeshSmoothsLinearGrowthAway) {
  std::string const options = "--particles 32 --steps 1 --no-pictures --output run ";
  auto const errors = [&](std::string const& more) { return run(options + more).errors; };
  EXPECT_TRUE(contains(errors("--mesh-ratio 1"), "waves of 20 particles grow by"));
  EXPECT_TRUE(contains(errors("--softening gadget"), "waves of 20 particles grow by"));
  EXPECT_TRUE(contains(errors("--mesh-ratio 1.03"), "33 cells for 32 particles"));
  EXPECT_FALSE(contains(errors(""), "warning"));
  EXPECT_FALSE(contains(errors("--mesh-ratio 1 --kernel gadget"), "warning"));
  EXPECT_FALSE(contains(errors("--mesh-ratio 1 --quiet"), "warning"));
}

TEST_F(BadNbody, OptionsThatContradictEachOther) {
  expect_failure(2, "--sigma8 0.8 --A-s 2e-9", {"--sigma8", "--A-s", "leave one out"});
  expect_failure(2, "--noise n.npy --seed 3", {"--noise", "leave --seed out"});
  expect_failure(2, "--power-table p.txt --transfer no_wiggle", {"--power-table", "--transfer"});
  expect_failure(2, "--power-table p.txt --sigma8 0.8", {"--sigma8", "add --renormalise"});
  expect_failure(2, "--renormalise", {"--renormalise is for --power-table"});

  expect_failure(2, "--noise 'a\nb.npy'", {"--noise", "a b.npy", "without line breaks"});
}

TEST_F(BadNbody, FilesThatARunWouldReadAndWrite) {
  std::string const table = "0.001 1\n0.1 2\n1 3\n200 4\n";
  write("p.txt", table);
  fs::create_directory(folder / "run");
  fs::create_symlink("../p.txt", folder / "run/power_a1.000.txt");
  expect_failure(2, "--power-table p.txt --report ./p.txt", {"--report and --power-table"});
  expect_failure(2, "--power-table p.txt --report run/../p.txt", {"--report and --power-table"});
  expect_failure(2, "--power-table run/power_a1.000.txt --output run",
                 {"the run's power_a1.000.txt and --power-table"});
  expect_failure(2, "--report run/config.toml --output ./run",
                 {"--report and the run's config.toml"});
  EXPECT_EQ(read_text(folder / "p.txt"), table);
  // Whatever the links are called.
  fs::create_symlink("../p.txt", folder / "run/slab_a1.000.png");
  fs::remove(folder / "run/power_a1.000.txt");
  expect_failure(2, "--power-table p.txt --output run",
                 {"the run's slab_a1.000.png and --power-table"});
  write("c.toml", "seed = 3\n");
  fs::remove(folder / "run/slab_a1.000.png");
  fs::create_symlink("../c.toml", folder / "run/config.toml");
  expect_failure(2, "--config c.toml --output run", {"the run's config.toml and --config"});
  fs::create_symlink("c.toml", folder / "link.json");
  expect_failure(2, "--config c.toml --report link.json", {"--report and --config"});
}

TEST_F(BadNbody, ACheckpointIsNoReport) {
  run_quietly(
      "--particles 4 --steps 4 --a-start 0.2 --no-pictures --checkpoint 2 --stop-after 2 --output "
      "run");
  std::string const checkpoint = read_text(folder / "run/checkpoint.hdf5");
  fs::create_symlink("run/checkpoint.hdf5", folder / "r.json");
  expect_failure(2, "--restart run --report r.json", {"--report", "checkpoint.hdf5"});
  fs::create_directory(folder / "other");
  fs::create_symlink("../run/checkpoint.hdf5", folder / "other/checkpoint.hdf5");
  expect_failure(2, "--restart run --output other", {"the run's checkpoint.hdf5 and --restart"});
  EXPECT_TRUE(read_text(folder / "run/checkpoint.hdf5") == checkpoint);
}

TEST_F(BadNbody, RestartsWithOtherPhysics) {
  run_quietly(small + "--checkpoint 2 --stop-after 2 --no-pictures --output run");
  expect_failure(2, "--restart run --output other --omega-m 0.25 --kernel naive --seed 1",
                 {"run/checkpoint.hdf5", "omega-m: 0.3111 there, 0.25 here",
                  "kernel: 1_4 there, naive here", "start a new run"});
  expect_failure(2, "--restart run --output other --A-s 2e-9", {"A-s: not set there, 2e-09 here"});
  expect_failure(2, "--restart run --output other --precision double",
                 {"precision: single there, double here"});
  expect_failure(2, "--restart run --output other --scale-factors 0.1,1",
                 {"scale-factors: not set there, 0.1, 1 here"});
  run_quietly(
      "--particles 8 --scale-factors 0.1,0.2,0.3,0.5,1 --checkpoint 2 --stop-after 2 --no-pictures "
      "--output list");
  std::string const of_list = "--restart list --output other --scale-factors ";
  expect_failure(2, of_list + "0.1,0.2,0.3,0.6,1",
                 {"(value 4 of scale-factors: 0.5 there, 0.6 here)"});
  expect_failure(2, of_list + "0.1,0.2,0.3,0.4,0.5,1",
                 {"(scale-factors: 5 values from 0.1 to 1 there, 6 values from 0.1 to 1 here)"});
  expect_failure(2, "--restart run --output other --outputs 0.61",
                 {"--outputs, or --redshifts, of a --restart", "0.1 to 1", "0.61"});
  expect_failure(2, "--restart run --output other --stop-after 2",
                 {"--stop-after", "above the 2 steps", "not 2"});
}

// --- Input files: 3 ---

TEST_F(BadNbody, ConfigurationsThatCantBeRead) {
  expect_failure(3, "--config none.toml", {"none.toml", "no such file"});
  write("bad.toml", "particels = 8\n");
  expect_failure(3, "--config bad.toml",
                 {"bad.toml", "unknown key 'particels'", "did you mean particles?"});
  write("bad.toml", "[cosmology]\nh = 0.7\n");
  expect_failure(3, "--config bad.toml", {"bad.toml, line 1", "tables in brackets"});
  write("bad.toml", "kernel = 'none'\n");
  expect_failure(3, "--config bad.toml", {"bad.toml: 'kernel'", "none"});
}

TEST_F(BadNbody, ARunLeavesNoCheckpointOfAnotherToGoOnFrom) {
  run_quietly(small + "--no-pictures --checkpoint 2 --stop-after 2 --output run");
  run_quietly(small + "--no-pictures --seed 2 --output run");
  EXPECT_FALSE(fs::exists(folder / "run/checkpoint.hdf5"));
  expect_failure(3, "--restart run", {"run/checkpoint.hdf5", "no such file"});
  // A run that can't start leaves it.
  run_quietly(small + "--no-pictures --checkpoint 2 --stop-after 2 --output run");
  std::string const good = read_text(folder / "run/checkpoint.hdf5");
  expect_failure(3, small + "--noise none.npy --output run", {"none.npy"});
  EXPECT_TRUE(read_text(folder / "run/checkpoint.hdf5") == good);
  // One that goes on from another folder doesn't.
  run_quietly(small + "--no-pictures --seed 3 --checkpoint 2 --stop-after 2 --output other");
  run_quietly("--restart other --stop-after 3 --output run --checkpoint 100");
  run_quietly("--restart run");
  EXPECT_TRUE(contains(read_text(folder / "run/config.toml"), "seed = 3\n"));
}

TEST_F(BadNbody, APowerTableThatHasChangedSinceTheCheckpoint) {
  std::string const table = "0.001 1\n0.1 2\n1 3\n200 4\n";
  write("p.txt", table);
  run_quietly(small + "--no-pictures --power-table p.txt --stop-after 2 --output run");
  write("p.txt", "0.001 1\n0.1 2\n1 3\n200 5\n");
  expect_failure(3, "--restart run --output other",
                 {"p.txt isn't the power table", "run/checkpoint.hdf5", "began with"});
  write("p.txt", table);
  run_quietly("--restart run");
}

TEST_F(BadNbody, PowerTablesThatDontFit) {
  expect_failure(3, "--power-table none.txt", {"none.txt", "no such file"});
  write("p.txt", "0.001 1\n0.1 2\n1 3\n");
  expect_failure(3, "--power-table p.txt", {"p.txt", "4"});
  write("p.txt", "0.001 1\n0.1 2\n1 3\n2 4\n");
  expect_failure(3, "--power-table p.txt --box 10000", {"p.txt", "0.000628", "or use another box"});
  expect_failure(3, "--power-table p.txt --box 10", {"p.txt", "[0.001, 2]"});
  write("p.txt", "0.01 1\n0.1 2\n1 3\n2 4\n");
  expect_failure(3, "--power-table p.txt --renormalise --particles 8",
                 {"p.txt", "0.0025", "or use another box"});
}

TEST_F(Nbody, MemoryToReadALargeTableIsPredicted) {
  if (coir::testing::is_sanitized)
    GTEST_SKIP() << "the sanitizer's own memory is part of what a run takes";
  std::string table;
  char row[64];
  constexpr int rows = 300'000;
  for (int n = 0; n < rows; ++n) {
    double const k = 1e-4 * std::pow(1e7, double(n) / rows);
    std::snprintf(row, sizeof row, "%.15e %.15e\n", k, 2e4 * k / (1 + std::pow(k / 0.02, 2.5)));
    table += row;
  }
  write("p.txt", table);
  run_quietly(
      "--particles 4 --steps 1 --a-start 0.5 --no-pictures --power-table p.txt --backend cpu "
      "--output run --report r.json");
  double const predicted = report("r.json")["bytes_predicted"],
               peak = report("r.json")["bytes_peak"];
  EXPECT_GE(predicted, peak);
  EXPECT_LE(predicted, 1.4 * peak);
}

TEST_F(Nbody, WhatIsSaidWhereItIsStartedCountsBeforeAFile) {
  write("c.toml", "no-pictures = true\nspectra = true\n");
  run_quietly(small + "--config c.toml --pictures --no-spectra --output run");
  EXPECT_TRUE(fs::exists(folder / "run/slab_a1.000.png"));
  EXPECT_FALSE(fs::exists(folder / "run/power_a1.000.txt"));
  run_quietly(small + "--config c.toml --no-pictures=false --output again");
  EXPECT_TRUE(fs::exists(folder / "again/slab_a1.000.png"));
}

TEST_F(BadNbody, NoiseThatDoesntFit) {
  expect_failure(3, small + "--noise none.npy", {"none.npy", "no such file"});
  Kokkos::View<float***, Kokkos::LayoutRight, Kokkos::HostSpace> const noise("noise", 8, 8, 7);
  io::write_npy(folder / "n.npy", noise);
  expect_failure(3, small + "--noise n.npy", {"n.npy", "(8, 8, 8)", "(8, 8, 7)"});
  write("n.npy", "no numbers");
  expect_failure(3, small + "--noise n.npy", {"n.npy"});
}

TEST_F(BadNbody, CheckpointsThatAreNone) {
  expect_failure(3, "--restart none", {"none", "no such file"});
  fs::create_symlink("loop", folder / "loop");
  auto const outcome = run("--restart loop");
  EXPECT_EQ(outcome.code, 3) << outcome.errors;
  EXPECT_TRUE(contains(outcome.errors, "loop: can't be read")) << outcome.errors;
  fs::remove(folder / "loop");
  write("c.hdf5", "nothing of the kind");
  expect_failure(3, "--restart c.hdf5", {"c.hdf5"});
  run_quietly(small + "--snapshots --no-pictures --no-spectra --output run");
  expect_failure(3, "--restart run/snapshot_a1.000.hdf5",
                 {"snapshot_a1.000.hdf5 is no checkpoint"});
  run_quietly(small + "--checkpoint 2 --output run");
  std::string const whole = read_text(folder / "run/checkpoint.hdf5");
  write("c.hdf5", whole.substr(0, whole.size() / 2));
  expect_failure(3, "--restart c.hdf5 --output other", {"c.hdf5"});
}

// --- Outputs and memory that aren't there: 4 ---

TEST_F(BadNbody, FoldersThatCantBeWritten) {
  expect_failure(4, small + "--output none/run",
                 {"can't make the folder none/run", "No such file", "first"});
  write("file", "");
  expect_failure(4, small + "--output file", {"file"});
  expect_failure(4, small + "--report none/r.json",
                 {"none/r.json", "the folder none does not exist", "create it"});
  fs::create_directories(folder / "full/config.toml");
  expect_failure(4, small + "--output full", {"full/config.toml", "Is a directory"});
}

TEST_F(BadNbody, DiskFullWhileWriting) {
  // config.toml fits, a snapshot doesn't.
  auto const outcome =
      run("--particles 16 --steps 2 --no-pictures --no-spectra --snapshots "
          "--output run --quiet",
          "ulimit -f 8 &&");
  EXPECT_EQ(outcome.code, 4);
  for (char const* part : {"snapshot_a1.000.hdf5", "File too large", "raise the limit"})
    EXPECT_TRUE(contains(outcome.errors, part)) << outcome.errors;
  EXPECT_EQ(files("run"), std::set<std::string>{"config.toml"});
}

TEST_F(BadNbody, ACheckpointThatCantBeWrittenLeavesTheLastOne) {
  std::string const options =
      "--particles 16 --steps 6 --no-pictures --no-spectra --checkpoint 2 "
      "--deterministic --output run --quiet";
  run_quietly(options.substr(0, options.size() - 8) + " --stop-after 2");
  std::string const good = read_text(folder / "run/checkpoint.hdf5");
  auto const outcome = run("--restart run --quiet", "ulimit -f 8 &&");
  EXPECT_EQ(outcome.code, 4);
  EXPECT_TRUE(contains(outcome.errors, "checkpoint.hdf5")) << outcome.errors;
  EXPECT_TRUE(read_text(folder / "run/checkpoint.hdf5") == good);
  EXPECT_EQ(files("run"), (std::set<std::string>{"config.toml", "checkpoint.hdf5"}));
}

TEST_F(BadNbody, WhatCantBeWrittenKeepsTheParticles) {
  std::string const options = small + "--deterministic --snapshots ";
  run_quietly(options + "--output whole");
  fs::create_directories(folder / "run/slab_a1.000.png");
  auto const outcome = run(options + "--quiet --output run");
  EXPECT_EQ(outcome.code, 4);
  for (char const* part : {"run/slab_a1.000.png", "the particles are kept",
                           "--restart run/checkpoint.hdf5 goes on from here"})
    EXPECT_TRUE(contains(outcome.errors, part)) << outcome.errors;
  EXPECT_EQ(std::count(outcome.errors.begin(), outcome.errors.end(), '\n'), 1);
  fs::remove(folder / "run/slab_a1.000.png");
  run_quietly("--restart run");
  fs::remove(folder / "run/checkpoint.hdf5");
  expect_same_files("whole", "run");
}

TEST_F(BadNbody, MoreMemoryThanThereIs) {
  expect_failure(4, "--particles 16384 --output run",
                 {"16384^3 particles on a mesh of 32768^3 cells needs", "iB", "are free"});
}

// --- Numbers that overflow: 5 ---

TEST_F(BadNbody, ForcesThatAreNoNumbers) {
  expect_failure(5, small + "--sigma8 1e38 --output run --no-pictures --no-spectra",
                 {"aren't finite after 0 steps, at a = 0.1", "--precision double"});
}

TEST_F(BadNbody, ParticlesThatLeaveTheirBoxBehind) {
  for (std::string const stepper : {"fastpm", "plain", "bullfrog"})
    for (std::string const more : {"", " --deterministic", " --precision double"})
      expect_failure(5,
                     small + "--sigma8 1e10 --output run --snapshots --stepper " + stepper + more,
                     {"more than 4096 boxes", "after 0 steps", "a smaller --sigma8"});
  expect_failure(5, small + "--A-s 1e20 --output run", {"4096 boxes", "a smaller --A-s"});
}

TEST_F(Nbody, CoordinatesAreInTheBoxHoweverFarParticlesGo) {
  for (std::string const stepper : {"fastpm", "bullfrog"}) {
    run_quietly(small +
                "--sigma8 300 --no-pictures --no-spectra --checkpoint 1 --output run --stepper " +
                stepper);
    auto const x = coir::hdf5::Reader(folder / "run/checkpoint.hdf5").read<float>("positions");
    for (float const c : x) EXPECT_TRUE(c >= 0 && c < 100) << c;
  }
}
