// What a run says that it needs, beside what it takes, for every option that changes it.

#include <coir/core/concepts.hpp>
#include <coir/io/npy.hpp>

#include <support/sanitizers.hpp>

#include "nbody_fixture.hpp"

#include <cstdio>
#include <string>

namespace {

using coir::testing::contains;

class NbodyMemory : public coir::testing::Nbody {
 protected:
  void SetUp() override {
    if (coir::testing::is_sanitized)
      GTEST_SKIP() << "the sanitizer's own memory is part of what a run takes";
  }

  void expect_within(std::string const& options) const {
    SCOPED_TRACE(options);
    run_quietly(options + " --backend cpu --output run --report report.json");
    auto const found = report("report.json");
    double const predicted = found["bytes_predicted"], used = found["bytes_peak"];
    std::printf("%-90s predicted %7.1f MiB, used %7.1f MiB: %.3f\n", options.c_str(),
                predicted / (1 << 20), used / (1 << 20), predicted / used);
    EXPECT_GE(predicted, used);
    EXPECT_LE(predicted, 1.2 * used);
    std::filesystem::remove_all(folder / "run");
  }
};

// So many steps that particles are sorted on the way, and nothing but what is asked for.
std::string const bare = "--particles 72 --steps 10 --no-pictures --no-spectra ";
std::string const short_run = "--particles 72 --steps 1 --no-pictures --no-spectra ";

}  // namespace

TEST_F(NbodyMemory, OfStepsIsWithinAFifth) {
  for (std::string const options :
       {"--deterministic", "--mesh-ratio 1", "--mesh-ratio 1.5 --force-source potential",
        "--kernel naive", "--assignment pcs --stepper bullfrog",
        "--precision double --mesh-ratio 1",
        "--mesh-ratio 1 --force-source potential --precision double"})
    expect_within(bare + options);
}

TEST_F(NbodyMemory, OfTheStartIsWithinAFifth) {
  expect_within(short_run + "--mesh-ratio 1 --lpt 1");
  expect_within(short_run + "--mesh-ratio 1 --force-source potential");
  Kokkos::View<double***, Kokkos::LayoutRight, Kokkos::HostSpace> const noise("noise", 96, 96, 96);
  for (std::size_t n = 0; n < noise.size(); ++n) noise.data()[n] = double(n % 7) - 3;
  coir::io::write_npy(folder / "noise.npy", noise);
  expect_within(
      "--particles 96 --steps 1 --no-pictures --no-spectra --mesh-ratio 1 --noise noise.npy");
}

TEST_F(NbodyMemory, OfOutputsIsWithinAFifth) {
  expect_within("--particles 72 --steps 1 --no-pictures");
  expect_within("--particles 72 --steps 1 --no-pictures --mesh-ratio 1 --precision double");
  expect_within("--particles 32 --steps 1 --no-spectra --pixels 600");
  expect_within("--particles 64 --steps 1 --pixels 1000 --deterministic");
  expect_within(short_run + "--snapshots --checkpoint 1 --precision double --outputs 0.5");
  expect_within(
      "--particles 71 --steps 2 --no-pictures --no-spectra --deterministic --mesh-ratio 1.5 "
      "--kernel 5_4 --lpt 1 --checkpoint 1");
}

TEST_F(NbodyMemory, OfARestartIsWithinAFifth) {
  run_quietly(
      "--particles 72 --steps 2 --no-pictures --no-spectra --checkpoint 1 --stop-after 1 --output "
      "start");
  expect_within("--restart start");
}

TEST_F(NbodyMemory, ALimitRefusesARunBeforeTheWorkOrLetsItEnd) {
  if (!coir::runs_on_host<Kokkos::DefaultExecutionSpace>)
    GTEST_SKIP() << "the libraries for GPUs can't be loaded into so few addresses";
  int refused = 0, done = 0;
  for (int const mebibytes : {50, 60, 80, 90, 100, 120, 160, 250, 600}) {
    auto const outcome =
        run("--backend cpu --particles 64 --steps 1 --pixels 300 --no-spectra --snapshots --quiet "
            "--output run",
            "ulimit -v " + std::to_string(mebibytes * 1024) + " &&");
    if (outcome.code == 0) {
      EXPECT_EQ(files("run").size(), 6U) << mebibytes;
      ++done;
    } else {
      EXPECT_TRUE(outcome.code == 4 || outcome.code == 6) << mebibytes << outcome.errors;
      EXPECT_EQ(std::count(outcome.errors.begin(), outcome.errors.end(), '\n'), 1)
          << outcome.errors;
      EXPECT_FALSE(std::filesystem::exists(folder / "run")) << mebibytes << outcome.errors;
      EXPECT_EQ(done, 0) << mebibytes << outcome.errors;
      ++refused;
    }
    std::filesystem::remove_all(folder / "run");
  }
  EXPECT_GT(refused, 0);
  EXPECT_GT(done, 0);
}
