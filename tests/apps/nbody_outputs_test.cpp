// What coir-nbody measures and writes beside pictures and particles, and what it may start from.

#include <coir/cosmology/growth.hpp>
#include <coir/hdf5/gadget.hpp>
#include <coir/io/npy.hpp>

#include <gtest/gtest.h>

#include "nbody_fixture.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <numeric>
#include <set>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;
namespace io = coir::io;
using namespace coir::testing;

class NbodyOutputs : public coir::testing::Nbody {
 protected:
  using Cube = Kokkos::View<float***, Kokkos::LayoutRight, Kokkos::HostSpace>;
  Cube cube(std::string const& name) const { return io::read_npy<Cube>(folder / name); }

  /// The first columns of two tables within `tolerance` of the largest number of their column.
  void expect_near(std::string const& one, std::string const& other, double tolerance,
                   std::size_t columns) const {
    auto const a = table(one), b = table(other);
    ASSERT_EQ(a.size(), b.size()) << other;
    ASSERT_FALSE(a.empty());
    for (std::size_t c = 0; c < columns; ++c) {
      double largest = 0;
      for (auto const& row : a) largest = std::max(largest, std::abs(row[c]));
      for (std::size_t n = 0; n < a.size(); ++n)
        EXPECT_NEAR(a[n][c], b[n][c], tolerance * largest) << other << ", row " << n << ", " << c;
    }
  }

  /// A snapshot of n particles in a box of 10 Mpc/h.
  void write_snapshot(std::string const& name, std::int64_t n,
                      std::vector<std::uint64_t> const& ids, double velocity = 0) const {
    coir::hdf5::GadgetHeader header;
    header.particles = n;
    header.scale_factor = 0.25;
    header.box = 10'000;
    header.particle_mass = 1;
    header.omega_m = 0.3;
    header.omega_lambda = 0.7;
    header.hubble = 0.7;
    coir::hdf5::write_gadget<float>(
        folder / name, header, [&](coir::hdf5::GadgetBlock<float> const& block) {
          for (std::size_t p = 0; p < block.ids.size(); ++p) {
            if (!ids.empty()) block.ids[p] = ids[p];
            for (std::size_t d = 0; d < 3; ++d) {
              block.positions[3 * p + d] = float(1000 * ((p >> (2 - d)) & 1) * 5);
              block.velocities[3 * p + d] = float(velocity);
            }
          }
        });
  }
};

using BadNbodyOutputs = NbodyOutputs;

}  // namespace

TEST_F(NbodyOutputs, TheDensityIsThatOfTheForceMesh) {
  for (std::string const ratio : {"1", "1.5", "2"}) {
    run_quietly(small + "--no-pictures --no-spectra --density --snapshots --mesh-ratio " + ratio +
                " --output run" + ratio);
    Cube const density = cube("run" + ratio + "/density_a1.000.npy");
    auto const cells = static_cast<std::size_t>(8 * std::stod(ratio));
    for (int d = 0; d < 3; ++d) EXPECT_EQ(density.extent(d), cells);
    double const mean = std::accumulate(density.data(), density.data() + density.size(), 0.0) /
                        static_cast<double>(density.size());
    EXPECT_NEAR(mean, 1, 1e-5);
    EXPECT_GE(*std::min_element(density.data(), density.data() + density.size()), 0);
    // The snapshot's positions are rounded in other places; 1e-6 of the box moves 1e-5 of a cell's
    // mass and less.
    run_quietly("--measure run" + ratio + "/snapshot_a1.000.hdf5 --density --mesh-ratio " + ratio +
                " --output measured" + ratio);
    Cube const again = cube("measured" + ratio + "/snapshot_a1.000_density.npy");
    ASSERT_EQ(again.size(), density.size());
    for (std::size_t n = 0; n < density.size(); ++n)
      EXPECT_NEAR(again.data()[n], density.data()[n], 1e-3) << n;
  }
}

TEST_F(NbodyOutputs, WritingTheDensityChangesNoBit) {
  std::string const options = small + "--deterministic --outputs 0.5 --snapshots --no-pictures ";
  run_quietly(options + "--output without");
  run_quietly(options + "--density --multipoles --output with");
  for (std::string const name : {"power_a0.500.txt", "power_a1.000.txt", "snapshot_a1.000.hdf5"})
    EXPECT_TRUE(read_text(folder / "with" / name) == read_text(folder / "without" / name)) << name;
}

TEST_F(NbodyOutputs, SnapshotsAreMeasuredAsTheRunMeasuresItself) {
  for (std::string const precision : {"single", "double"}) {
    std::string const options = "--multipoles --precision " + precision + " --bins 5 --k-min 0.07 ";
    run_quietly(small + "--no-pictures --snapshots --outputs 0.5 --output run " + options);
    for (std::string const a : {"0.500", "1.000"}) {
      std::string const snapshot = "snapshot_a" + a;
      run_quietly("--measure run/" + snapshot + ".hdf5 --output measured " + options);
      // Float's eps, by the 30 modes across the box of the shortest waves, and once more for
      // velocities.
      double const tolerance = precision == "single" ? 3e-5 : 1e-12;
      expect_near("run/power_a" + a + ".txt", "measured/" + snapshot + "_power.txt", tolerance, 3);
      expect_near("run/multipoles_a" + a + ".txt", "measured/" + snapshot + "_multipoles.txt",
                  tolerance, 5);
    }
  }
  EXPECT_EQ(table("run/multipoles_a1.000.txt").front().size(), 5U);
}

TEST_F(NbodyOutputs, SnapshotsInSeveralFilesAreMeasuredByAnyOfTheirNames) {
  run_quietly(small + "--no-pictures --snapshots --output run");
  // The same particles in three files.
  std::vector<float> x, v;
  auto header = coir::hdf5::read_gadget<float>(
      folder / "run/snapshot_a1.000.hdf5", [&](coir::hdf5::GadgetBlock<float const> const& block) {
        x.insert(x.end(), block.positions.begin(), block.positions.end());
        v.insert(v.end(), block.velocities.begin(), block.velocities.end());
      });
  std::int64_t const counts[] = {100, 0, 412};
  std::int64_t before = 0;
  header.files = 3;
  header.particles_total = 512;
  for (int file = 0; file < 3; ++file) {
    header.particles = counts[file];
    coir::hdf5::write_gadget<float>(folder / ("part." + std::to_string(file) + ".hdf5"), header,
                                    [&](coir::hdf5::GadgetBlock<float> const& block) {
                                      std::copy_n(x.begin() + 3 * (before + block.first),
                                                  block.positions.size(), block.positions.begin());
                                      std::copy_n(v.begin() + 3 * (before + block.first),
                                                  block.velocities.size(),
                                                  block.velocities.begin());
                                    });
    before += counts[file];
  }
  run_quietly("--measure run/snapshot_a1.000.hdf5 --output one");
  for (std::string const name : {"part.0.hdf5", "part.2.hdf5", "part.hdf5"}) {
    run_quietly("--measure " + name + " --output three");
    expect_near("one/snapshot_a1.000_power.txt", "three/part_power.txt", 1e-6, 3);
    fs::remove_all(folder / "three");
  }
  fs::remove(folder / "part.1.hdf5");
  expect_failure(3, "--measure part.hdf5", {"part.1.hdf5 is missing", "3 files"});
}

TEST_F(NbodyOutputs, BinsMayBeOnesOwn) {
  run_quietly(small + "--no-pictures --bins 4 --bin-spacing logarithmic --k-min 0.1 --k-max 0.4 " +
              "--outputs 0.5 --deterministic --output run");
  for (std::string const a : {"0.500", "1.000"}) {
    auto const rows = table("run/power_a" + a + ".txt");
    ASSERT_EQ(rows.size(), 4U);
    for (std::size_t n = 0; n < 4; ++n) {
      EXPECT_GE(rows[n][0], 0.1 * std::pow(4, n / 4.0));
      EXPECT_LE(rows[n][0], 0.1 * std::pow(4, (n + 1) / 4.0));
    }
  }
  run_quietly("--config run/config.toml --output again");
  expect_same_files("run", "again");
}

TEST_F(NbodyOutputs, TheWhiteNoiseOfASeedRepeatsTheRun) {
  std::string const options = small + "--no-pictures ", inverted = "--inverted --fixed-amplitude ";
  auto const square = [&](std::string const& name) {
    Cube const noise = cube(name);
    EXPECT_EQ(noise.size(), 512U);
    return std::inner_product(noise.data(), noise.data() + noise.size(), noise.data(), 0.0);
  };
  for (std::string const kind : {"", inverted.c_str()}) {
    run_quietly(options + "--seed 5 --white-noise --output one " + kind);
    run_quietly(options + "--noise one/white_noise.npy --output two");
    expect_near("one/power_a1.000.txt", "two/power_a1.000.txt", 1e-4, 4);
    EXPECT_NEAR(square("one/white_noise.npy") / 512, 1, 0.3);  // five deviations of 512 squares
    if (kind.empty()) fs::rename(folder / "one", folder / "plain");
  }
  // What is done to a seed's noise can be done to a file's.
  run_quietly(options + "--noise plain/white_noise.npy --output two " + inverted);
  expect_near("one/power_a1.000.txt", "two/power_a1.000.txt", 1e-4, 4);
}

TEST_F(NbodyOutputs, FilesMayBeNamedByRedshift) {
  std::string const options = small + "--no-pictures --deterministic --name-by z ";
  run_quietly(options + "--outputs 0.1,0.5 --a-end 1 --output run");
  EXPECT_EQ(files("run"), (std::set<std::string>{"config.toml", "power_z0.000.txt",
                                                 "power_z1.000.txt", "power_z9.000.txt"}));
  run_quietly(options + "--redshifts 9,1 --output same");
  expect_same_files("run", "same");
  run_quietly("--config run/config.toml --redshifts 1 --output fewer");
  EXPECT_EQ(files("fewer"),
            (std::set<std::string>{"config.toml", "power_z0.000.txt", "power_z1.000.txt"}));
  run_quietly(options + "--a-start 0.5 --outputs 0.8,0.8001 --a-end 1.25 --output more");
  EXPECT_EQ(files("more"), (std::set<std::string>{"config.toml", "power_z-0.2000.txt",
                                                  "power_z0.2498.txt", "power_z0.2500.txt"}));
}

TEST_F(NbodyOutputs, AFinishedRunMayGoOnToALaterEnd) {
  for (std::string const spacing : {"linear", "logarithmic"}) {
    std::string const options =
        "--particles 8 --steps 4 --a-start 0.2 --a-end 0.4 --no-pictures --deterministic "
        "--checkpoint 3 --spacing " +
        spacing;
    run_quietly(options + " --output run");
    run_quietly("--restart run --a-end 0.5 --report r.json");
    // Steps of 0.05; or of a factor 2^(1/4), of which 1.25 takes two.
    EXPECT_EQ(report("r.json")["steps"], 2);
    EXPECT_TRUE(fs::exists(folder / "run/power_a0.500.txt"));
    // The configuration has the steps of both.
    run_quietly("--config run/config.toml --output whole");
    EXPECT_TRUE(read_text(folder / "run/power_a0.500.txt") ==
                read_text(folder / "whole/power_a0.500.txt"));
    run_quietly("--restart run --a-end 0.6 --stop-after 7");
    run_quietly("--restart run");
    EXPECT_TRUE(fs::exists(folder / "run/power_a0.600.txt"));
    expect_failure(2, "--restart run --a-end 0.55 --output other", {"later", "--a-end", "0.55"});
    fs::remove_all(folder / "run");
    fs::remove_all(folder / "whole");
  }
}

TEST_F(NbodyOutputs, APowerTableMayBeOfAnotherRedshift) {
  coir::cosmology::Growth<double> const growth(coir::cosmology::planck18(), 1e-3, 1);
  double const since = growth.d1(1.0) / growth.d1(1 / (1 + 9.0));
  write("p.txt", "0.001 1\n0.1 2\n1 3\n200 4\n");
  run_quietly(small +
              "--no-pictures --sigma8 0.8 --power-table p.txt --renormalise --table-redshift 9 "
              "--output shape");
  run_quietly(small + "--no-pictures --power-table p.txt --output today");
  run_quietly(small +
              "--no-pictures --power-table p.txt --table-redshift 9 --outputs 0.1 --deterministic "
              "--output early");
  auto const today = table("today/power_a1.000.txt"), early = table("early/power_a1.000.txt"),
             then = table("early/power_a0.100.txt");
  for (std::size_t n = 0; n < today.size(); ++n) {
    EXPECT_NEAR(early[n][3], since * since * today[n][3], 1e-9 * early[n][3]);
    EXPECT_NEAR(then[n][3], today[n][3], 1e-9 * then[n][3]);
  }
  run_quietly("--config early/config.toml --output again");
  expect_same_files("early", "again");
}

TEST_F(NbodyOutputs, ARunMayStartFromASnapshot) {
  run_quietly(
      "--particles 8 --steps 18 --a-start 0.1 --omega-m 0.27 --h 0.7 --outputs 0.5 --snapshots "
      "--no-pictures --output whole");
  run_quietly("--start whole/snapshot_a0.500.hdf5 --steps 10 --no-pictures --output second");
  // The snapshot's numbers are rounded in other units.
  expect_near("whole/power_a1.000.txt", "second/power_a1.000.txt", 1e-4, 3);
  std::string const config = read_text(folder / "second/config.toml");
  for (char const* line : {"particles = 8\n", "box = 100", "a-start = 0.5", "omega-m = 0.27",
                           "h = 0.7", "start = \"../whole/snapshot_a0.500.hdf5\"\n"})
    EXPECT_TRUE(contains(config, line)) << config;
  EXPECT_FALSE(contains(config, "seed")) << config;
  run_quietly("--config second/config.toml --stop-after 3 --output third");
  run_quietly("--restart third");
  expect_near("second/power_a1.000.txt", "third/power_a1.000.txt", 1e-4, 4);
}

TEST_F(NbodyOutputs, ALateStartIsWarnedOf) {
  auto const errors = [&](std::string const& options) {
    return run(small + "--no-pictures --output run " + options).errors;
  };
  EXPECT_EQ(errors(""), "");
  EXPECT_EQ(errors("--lpt 1 --a-start 0.02"), "");
  EXPECT_TRUE(contains(errors("--a-start 0.2"),
                       "coir-nbody: warning: perturbation theory of order 2 lacks structure at a = "
                       "0.2"));
  EXPECT_TRUE(contains(errors("--lpt 1"), "order 1 lacks structure at a = 0.1"));
  EXPECT_EQ(errors("--a-start 0.2 --quiet"), "");
}

TEST_F(NbodyOutputs, StepsThatOutputsAddAreTold) {
  auto const outcome = run(small + "--outputs 0.3,0.5 --no-pictures --output run");
  EXPECT_TRUE(contains(outcome.output, "6 steps of fastpm")) << outcome.output;
  EXPECT_TRUE(contains(outcome.output, "4 steps were asked for, and outputs cut 2"))
      << outcome.output;
  EXPECT_TRUE(contains(read_text(folder / "run/config.toml"), "# 6 steps: 2 more than asked for"));
}

// --- What is refused ---

TEST_F(BadNbodyOutputs, BinsThatCantBe) {
  expect_failure(2, small + "--bins 0", {"--bins", "from 1 to 1000000"});
  expect_failure(2, small + "--bin-spacing logarithmic", {"--bin-spacing", "add --bins"});
  expect_failure(2, small + "--k-min 3 --k-max 2", {"--k-min must be below --k-max", "3 and 2"});
  expect_failure(2, small + "--k-min 3", {"--k-min must be below --k-max", "0.50"});
  expect_failure(2, small + "--k-max -1", {"--k-max must be a number above 0"});
  run_quietly(small + "--no-pictures --snapshots --output run");
  expect_failure(2, "--measure run/snapshot_a1.000.hdf5 --k-min 3 --output other",
                 {"--k-min must be below --k-max"});
}

TEST_F(BadNbodyOutputs, MeasurementsThatCantBe) {
  expect_failure(3, "--measure none.hdf5", {"none.hdf5", "no such file"});
  write("s.hdf5", "nothing of the kind");
  expect_failure(3, "--measure s.hdf5", {"s.hdf5"});
  for (std::string const option : {"--seed 3", "--particles 8", "--no-pictures", "--snapshots",
                                   "--restart run", "--report r.json"})
    expect_failure(2, "--measure s.hdf5 " + option, {"--measure makes no run", "leave it out"});
}

TEST_F(BadNbodyOutputs, StartsThatCantBe) {
  expect_failure(3, "--start none.hdf5", {"none.hdf5", "no such file"});
  write_snapshot("seven.hdf5", 7, {});
  expect_failure(3, "--start seven.hdf5", {"seven.hdf5 has 7 particles", "no cube"});
  write_snapshot("eight.hdf5", 8, {});
  run_quietly("--start eight.hdf5 --steps 2 --pixels 4 --output run");
  expect_failure(2, "--start eight.hdf5 --particles 3",
                 {"--particles must be the 2 of the snapshot", "eight.hdf5", "not 3"});
  expect_failure(2, "--start eight.hdf5 --a-start 0.1", {"--a-start must be the 0.25"});
  expect_failure(2, "--start eight.hdf5 --scale-factors 0.1,1", {"must begin with the 0.25"});
  for (std::string const option : {"--seed 1", "--lpt 1", "--inverted", "--white-noise"})
    expect_failure(2, "--start eight.hdf5 " + option, {"with --start", "leave --"});
  write_snapshot("twice.hdf5", 8, {1, 2, 3, 4, 5, 6, 7, 7});
  expect_failure(3, "--start twice.hdf5", {"has the ID 7 twice", "from 1 to N"});
  write_snapshot("far.hdf5", 8, {1, 2, 3, 4, 5, 6, 7, 99});
  expect_failure(3, "--start far.hdf5", {"has the ID 99"});
  write_snapshot("both.hdf5", 8, {0, 1, 2, 3, 4, 5, 6, 8});
  expect_failure(3, "--start both.hdf5", {"has the IDs 0 and 8"});
  write_snapshot("nan.hdf5", 8, {0, 1, 2, 3, 4, 5, 6, 7}, NAN);
  expect_failure(3, "--start nan.hdf5", {"a velocity isn't finite"});
  expect_failure(2, "--table-redshift 3", {"--table-redshift is for --power-table"});
  expect_failure(2, "--power-table p.txt --table-redshift -1", {"--table-redshift must be from 0"});
  expect_failure(2, "--redshifts -1", {"--redshifts must be above -1"});
  expect_failure(2, "--redshifts 1 --outputs 0.5", {"--outputs and --redshifts name the same"});
  expect_failure(2, "--measure none.hdf5 --redshifts 1", {"has no use for --redshifts: leave"});
  expect_failure(2, "--measure none.hdf5 --no-pictures", {"has no use for --no-pictures: leave"});
  expect_failure(2, "--redshifts 20",
                 {"--redshifts, must be from the start to the end", "not a = 0.047"});
  expect_failure(2, "--name-by day", {"--name-by", "a, z", "'day'"});
}
