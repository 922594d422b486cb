#include "ranks_fixture.hpp"

#include <cmath>
#include <filesystem>
#include <string>

namespace {

using coir::testing::read_text;

/// Particles of few planes, of which one of three ranks has more than another.
std::string const small =
    "--side 8 --box 40 --steps 3 --a-start 0.2 --pixels 16 --deterministic --backend cpu --quiet ";

class FieldOnRanks : public coir::testing::OnRanks<coir::testing::AppTest> {
 protected:
  void expect_files_alike(std::string const& one, std::string const& other) const {
    EXPECT_EQ(files(one), files(other));
    for (auto const& name : files(one))
      if (name != "universe.toml")  // it names the folder
        EXPECT_TRUE(read_text(folder / one / name) == read_text(folder / other / name))
            << other << "/" << name;
  }
};

}  // namespace

TEST_F(FieldOnRanks, FindsTheStartThatOneRankFinds) {
  ASSERT_EQ(coir::testing::run_command("cd '" + folder.path().string() +
                                       "' && " COIR_ESCAPE " --size 9x9 --quiet --output p.png")
                .code,
            0);
  std::string const search = "p.png " + small + "--realisation --iterations 3 ";
  run_on(1, search + "--report one.json --output one");
  for (int const ranks : {2, 3}) {
    std::string const many = std::to_string(ranks);
    run_on(ranks, search + "--report " + many + ".json --output " + many);
    expect_files_alike("one", many);
    for (char const* const key : {"history", "correlation", "difference_over_sigma", "noise_rms"})
      EXPECT_EQ(report(many + ".json")[key], report("one.json")[key]) << key;
    EXPECT_EQ(report(many + ".json")["ranks"], ranks);
  }
  // From there on another number of ranks.
  std::string const on_from = "p.png " + small + "--iterations 2 --noise 2/noise.npy --output ";
  run_on(1, on_from + "on_one");
  run_on(3, on_from + "on_three");
  expect_files_alike("on_one", "on_three");
  // One gradient, with the derivatives by the cosmology.
  std::string const gradient =
      "--gradient-of p.png " + small + "--noise one/noise.npy --check --output ";
  run_on(1, gradient + "slope_one --report slope_one.json");
  run_on(3, gradient + "slope_three --report slope_three.json");
  expect_files_alike("slope_one", "slope_three");
  EXPECT_EQ(report("slope_three.json")["slopes"], report("slope_one.json")["slopes"]);
  EXPECT_EQ(report("slope_three.json")["misfit"], report("slope_one.json")["misfit"]);
  EXPECT_EQ(report("slope_three.json")["check"], report("slope_one.json")["check"]);
  // In double, and without the kinks of cic, differences are exact to a hundred-thousandth.
  run_on(2, gradient + "exact --precision double --assignment pcs --report exact.json");
  double const along = report("exact.json")["check"]["gradient"];
  EXPECT_NEAR(report("exact.json")["check"]["difference"].get<double>(), along,
              1e-5 * std::abs(along));

  expect_error(on(2,
                  "--gradient-of p.png --side 6 --backend cpu --quiet --noise one/noise.npy "
                  "--output none"),
               3, {"white noise for 6^3 particles must have shape"});
  expect_error(
      launch("1 " COIR_APP " p.png " + small + " : -n 1 " COIR_APP " p.png --sigma 2 " + small), 2,
      {"all ranks must be given the same"});
  EXPECT_FALSE(std::filesystem::exists(folder / "none"));
}

// Two thirds of a gradient are its way back. One that was stopped leaves nothing.
TEST_F(FieldOnRanks, EndTogetherWhenOneIsStoppedInAGradient) {
  ASSERT_EQ(coir::testing::run_command("cd '" + folder.path().string() +
                                       "' && " COIR_ESCAPE " --size 9x9 --quiet --output p.png")
                .code,
            0);
  std::string const run = COIR_APP
      " --gradient-of p.png --side 24 --steps 2500 --deterministic --backend cpu --quiet "
      "--output run";
  auto const outcome = launch("1 " + run +
                              " : -n 1 sh -c '(sleep 2; kill -TERM $$; sleep 10; kill -KILL $$) "
                              "2>/dev/null & exec " +
                              run + "'");
  expect_error(outcome, 143, {"stopped while computing a gradient; nothing was written"});
  EXPECT_FALSE(std::filesystem::exists(folder / "run/gradient.npy"));
}

// The second rank is stopped once there is a start: then all end, and the start is whole.
TEST_F(FieldOnRanks, EndTogetherWhenOneIsStopped) {
  ASSERT_EQ(coir::testing::run_command("cd '" + folder.path().string() +
                                       "' && " COIR_ESCAPE " --size 9x9 --quiet --output p.png")
                .code,
            0);
  // Large enough not to be at its end when the signal comes.
  std::string const run = COIR_APP
      " p.png --side 24 --steps 20 --deterministic --backend cpu --quiet "
      "--realisation --iterations 1000000 --tolerance 1e-300 --output run";
  auto const outcome = launch("1 " + run +
                              " : -n 1 sh -c '(while [ ! -e run/noise.npy ]; do sleep 0.1; done; "
                              "kill -TERM $$; sleep 10; kill -KILL $$) 2>/dev/null & exec " +
                              run + "'");
  expect_error(outcome, 143, {"run/noise.npy is the best start so far, of iteration "});
  EXPECT_EQ(files("run"), (std::set<std::string>{"noise.npy"}));
}
