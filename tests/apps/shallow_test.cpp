// coir-shallow as a user runs it.

#include <apps/app_fixture.hpp>

#include <coir/io/npy.hpp>

#include <support/run_on_ranks.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;
using namespace coir::testing;

class Shallow : public AppTest {
 protected:
  coir::io::NpyArray array(std::string const& name) const {
    return coir::io::read_npy(folder / name);
  }
  std::vector<double> doubles(std::string const& name) const {
    using View = Kokkos::View<double**, Kokkos::LayoutRight, Kokkos::HostSpace>;
    auto const view = coir::io::to_view<View>(array(name));
    return {view.data(), view.data() + view.size()};
  }
  std::string text(std::string const& name) const { return read_text(folder / name); }
  /// An array of heights that are all the same.
  void write_bottom(std::string const& name, std::size_t rows, std::size_t columns,
                    double height) const {
    Kokkos::View<double**, Kokkos::LayoutRight, Kokkos::HostSpace> const bottom("bottom", rows,
                                                                                columns);
    std::fill_n(bottom.data(), bottom.size(), height);
    coir::io::write_npy(folder / name, bottom);
  }
};

std::string const small = "--size 24x16 --totals 10 --precision double --npy ";

TEST_F(Shallow, WritesWhatItsPageSays) {
  auto const outcome =
      run(small + "--steps 30 --outputs 0,20 --checkpoint 20 --output run --report r.json");
  EXPECT_EQ(outcome.code, 0) << outcome.errors;
  EXPECT_TRUE(contains(outcome.output, "24 x 16 cells, 30 steps of ")) << outcome.output;
  std::set<std::string> expected{"checkpoint.hdf5", "strip.png", "totals.txt"};
  for (std::string const name : {"surface", "vorticity", "potential_vorticity"})
    for (std::string const step : {"_000000", "_000020", "_000030"})
      for (std::string const ending : {".png", ".npy"}) expected.insert(name + step + ending);
  EXPECT_EQ(files("run"), expected);
  EXPECT_EQ(lines_in(text("run/totals.txt")), 1 + 4);
  EXPECT_EQ(array("run/surface_000030.npy").shape, (std::vector<std::int64_t>{16, 24}));
  EXPECT_EQ(keys_of(report()),
            "application version kokkos_version backend device threads ranks precision rows "
            "columns dt steps seconds "
            "cells_per_second bandwidth_share mass_change energy_change bytes_predicted bytes_peak "
            "device_bytes_predicted");
  EXPECT_EQ(report()["steps"], 30);
  EXPECT_LT(std::abs(report()["mass_change"].get<double>()), 1e-14);
}

TEST_F(Shallow, GoesOnWithTheSameBitsOnAnyNumberOfRanks) {
  for (std::string const model :
       {"", "--start tsunami --topography bottom.npy --walls none --drag 1e-5 "}) {
    write_bottom("bottom.npy", 16, 24, 10);
    run_quietly(small + model + "--steps 30 --output whole");
    run_quietly(small + model + "--steps 20 --checkpoint 20 --output part");
    auto const goes_on = [&](std::string const& command, std::string const& output) {
      EXPECT_EQ(run_command("cd '" + folder.path().string() + "' && " + command +
                            COIR_APP " --restart part/checkpoint.hdf5" +
                            " --steps 30 --totals 10 --npy --quiet --output " + output)
                    .code,
                0);
      for (std::string const name : {"surface", "vorticity", "potential_vorticity"})
        EXPECT_EQ(text(output + "/" + name + "_000030.npy"), text("whole/" + name + "_000030.npy"))
            << name;
      auto const last = [](std::string const& all) { return all.substr(all.rfind("\n30 ")); };
      EXPECT_EQ(last(text(output + "/totals_from_20.txt")), last(text("whole/totals.txt")));
    };
    goes_on("", "again");
#ifdef COIR_RUN_ON_RANKS
    goes_on(COIR_RUN_ON_RANKS "3 ", "ranks");
#endif
  }
}

// J. J. Stoker, Water Waves (1957), section 10.8: between the bore and the wave of lower water the
// depth h solves 2 (sqrt(g high) - sqrt(g h)) = (h - low) sqrt(g (h + low) / (2 h low)).
TEST_F(Shallow, ADamBreaksAsStokerFound) {
  run_quietly(
      "--start dam --size 300x8 --walls x --cell 1 --depth 2 --amplitude 1 --steps 700 --npy "
      "--output dam "
      "--precision double");
  double const g = 9.81, high = 3, low = 2;
  double from = low, to = high;
  for (int n = 0; n < 60; ++n) {
    double const h = 0.5 * (from + to);
    double const missing = 2 * (std::sqrt(g * high) - std::sqrt(g * h)) -
                           (h - low) * std::sqrt(g * (h + low) / (2 * h * low));
    (missing > 0 ? from : to) = h;
  }
  auto const surface = doubles("dam/surface_000700.npy");
  EXPECT_NEAR(2 + surface[3 * 300 + 160], from, 0.002);
  EXPECT_NEAR(2 + surface[3 * 300 + 20], high, 1e-6);
}

TEST_F(Shallow, AVortexStaysWhereItIs) {
  run_quietly(
      "--start vortex --size 48x48 --steps 1000 --outputs 0 --npy --output vortex --amplitude "
      "0.05");
  auto const start = array("vortex/surface_000000.npy"), end = array("vortex/surface_001000.npy");
  auto const at = [](coir::io::NpyArray const& a, int n) {
    return static_cast<double>(reinterpret_cast<float const*>(a.bytes.data())[n]);
  };
  double most = 0;
  for (int n = 0; n < 48 * 48; ++n) most = std::max(most, std::abs(at(end, n) - at(start, n)));
  EXPECT_LT(most, 0.05 * 0.05);
}

TEST_F(Shallow, RunsTheCommandsOfItsPage) {
  fs::copy_file(COIR_COFFEE, folder / "coffee.png");
  std::istringstream lines(read_text(COIR_SHALLOW_PAGE));
  int commands = 0;
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with("coir-shallow --")) {
      run_quietly(line.substr(std::string("coir-shallow").size()));
      ++commands;
    }
  EXPECT_GE(commands, 6);
  std::string const page = read_text(COIR_SHALLOW_PAGE);
  std::regex const file("`([a-z]+/[a-z_0-9]+[.]png)`");
  for (auto at = std::sregex_iterator(page.begin(), page.end(), file); at != std::sregex_iterator();
       ++at)
    if (!(*at)[1].str().starts_with("apps/")) {
      EXPECT_TRUE(fs::exists(folder / (*at)[1].str())) << (*at)[1];
    }
}

TEST_F(Shallow, RefusesWrongOptions) {
  expect_failures(
      2, {{"--dt 40", {"--dt must be at most ", " s, up to which steps are stable, not 40"}},
          {"--size 12", {"--size takes columns and rows, as in 360x180, not '12'"}},
          {"--size 8x1",
           {"a shallow-water model must have 2 rows of cells or more, which its halo has, not 1"}},
          {"--size 8x2 --compatible", {"3 rows of cells or more"}},
          {"--compatible --walls none", {"periodic in x and have walls in y"}},
          {"--viscosity -1", {"--viscosity must be from 0 to 1e+12, not -1"}},
          {"--epsilon 1e30", {"--epsilon must be from 0 to 1, not 1e+30"}},
          {"--cell 1e300", {"--cell must be from 1e-12 to 1e+12, not 1e+300"}},
          {"--start vortex --x 1e300", {"--x must be from 0 to 1, not 1e+300"}},
          {"--f0 1e9", {"the start has no water in row ", ", --f0 or --beta closer to 0"}},
          {"--start dam --radius 5", {"--radius is for --start vortex or tsunami: leave it out"}},
          {"--y 0.3", {"--y is for --start vortex or tsunami: leave it out"}},
          {"--report shallow/r.json", {"--report must lie outside of the folder --output"}},
          {"--relief 3", {"--relief is for a --topography that ends in .png"}},
          {"--topography heights.txt", {"--topography must name a file that ends in .png or .npy"}},
          {"--outputs 5,3000", {"--outputs must be up to --steps, which is 2000, not 3000"}},
          {"--start vortex --f0 0", {"--f0 must not be 0"}},
          {"--start tsunami --amplitude -150",
           {"the start has no water in row ", "or --amplitude closer to 0"}}});
}

// The balance of a wide jet needs so much water that an eighth of a cell is too long a step.
TEST_F(Shallow, TakesAShorterStepWhereTheStartNeedsIt) {
  run_quietly("--cell 50000 --steps 3 --output wide --report r.json");
  EXPECT_LT(report()["dt"].get<double>(), 0.124 * 5e4 / std::sqrt(9.81 * 100));
}

// Before a step is made: more steps than any test could wait for.
TEST_F(Shallow, FindsOutputsThatCannotBeWrittenBeforeTheWork) {
  for (std::string const file : {"totals.txt", "strip.png", "checkpoint.hdf5",
                                 "vorticity_000007.npy", "surface_1000000000.png"}) {
    fs::create_directories(folder / "run" / file);
    expect_failure(4, small + "--steps 1000000000 --outputs 7 --checkpoint 9 --output run",
                   {"run/" + file + ": can't be written"});
    fs::remove(folder / "run" / file);
  }
}

TEST_F(Shallow, RefusesWrongTopographies) {
  write_bottom("small.npy", 7, 9, 1);
  write_bottom("high.npy", 16, 24, 200);
  write_bottom("odd.npy", 16, 24, NAN);
  expect_failures(
      3, {{"--topography none.npy", {"none.npy"}},
          {"--start dam --topography small.npy --size 24x16",
           {"small.npy has 7 rows and 9 columns, and the model 16 and 24: give --size 9x7"}},
          {"--topography small.npy --size 1000000x1000000", {"small.npy has 7 rows"}},
          {"--start tsunami --topography high.npy --size 24x16",
           {"high.npy stands ", " m above the surface in row 0, column 0", "larger --depth"}},
          {"--start tsunami --topography odd.npy --size 24x16", {"odd.npy holds nan"}}});
}

TEST_F(Shallow, NamesTheCellThatLosesItsWater) {
  write_bottom("shelf.npy", 8, 40, 0.99);
  auto const outcome =
      run("--start dam --size 40x8 --cell 1 --depth 1 --amplitude 1 --topography shelf.npy "
          "--viscosity 0 --steps 3000 --output dry --quiet");
  EXPECT_EQ(outcome.code, 5);
  expect_error_line(outcome.errors);
  EXPECT_TRUE(std::regex_search(
      outcome.errors,
      std::regex("no water is left at step [0-9]+ in row [0-9]+, column [0-9]+ \\(x = ")))
      << outcome.errors;
}

TEST_F(Shallow, RefusesDamagedCheckpoints) {
  run_quietly("--size 24x16 --steps 20 --checkpoint 20 --output run");
  std::string bytes = text("run/checkpoint.hdf5");
  bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] + 1);
  write("damaged.hdf5", bytes);
  write("text.hdf5", "nothing");
  expect_failures(
      3, {{"--restart damaged.hdf5 --steps 30", {"damaged.hdf5"}},
          {"--restart text.hdf5 --steps 30", {"text.hdf5 is no checkpoint of coir-shallow"}}});
  expect_failure(2, "--restart run/checkpoint.hdf5 --steps 20",
                 {"above the 20 steps of the checkpoint, not 20"});
  expect_failure(2, "--restart run/checkpoint.hdf5 --steps 30 --dt 5", {"--restart", "--dt"});
}

}  // namespace
