#include <support/command.hpp>

#include <coir/core/kokkos.hpp>
#include <coir/core/version.hpp>

#include <gtest/gtest.h>

#include <algorithm>

namespace {

/// \param before  what stands before the program: "NAME=value"
coir::testing::Outcome run(std::string const& arguments, std::string const& before = {}) {
  return coir::testing::run_command(before + " " + COIR_APP + " " + arguments);
}

/// The message of a run that must fail with `code`, one line of errors, and print nothing else.
std::string failure(int code, std::string const& arguments, std::string const& before = {}) {
  auto const outcome = run(arguments, before);
  EXPECT_EQ(outcome.code, code) << arguments;
  EXPECT_EQ(outcome.output, "") << arguments;
  EXPECT_EQ(std::count(outcome.errors.begin(), outcome.errors.end(), '\n'), 1) << outcome.errors;
  std::string const prefix = "failing-app: error: ";
  EXPECT_TRUE(outcome.errors.starts_with(prefix)) << outcome.errors;
  return outcome.errors.substr(std::min(prefix.size(), outcome.errors.size()));
}

bool contains(std::string const& text, std::string const& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST(Run, SuccessReturnsZeroAndPrintsNoErrors) {
  auto const outcome = run("photo --count 7 --tolerance 1e-3");
  EXPECT_EQ(outcome.code, 0);
  EXPECT_EQ(outcome.output, "photo 7 0.001\n");
  EXPECT_EQ(outcome.errors, "");
}

TEST(Run, HelpAndVersionGoToTheOutput) {
  auto const help = run("--help");
  EXPECT_EQ(help.code, 0);
  EXPECT_TRUE(contains(help.output, "--tolerance")) << help.output;
  EXPECT_EQ(help.errors, "");
  auto const version = run("--version");
  EXPECT_EQ(version.code, 0);
  EXPECT_TRUE(contains(version.output, std::string("failing-app ") + coir::version))
      << version.output;
}

TEST(Run, EveryKindOfErrorHasItsCode) {
  EXPECT_EQ(failure(2, "x --throw precondition"), "n must be positive, not -1\n");
  EXPECT_EQ(failure(4, "x --throw resource"), "the disk is full\n");
  EXPECT_EQ(failure(5, "x --throw numerical"), "not finite\n");
  EXPECT_EQ(failure(6, "x --throw environment"), "no device\n");
  EXPECT_TRUE(contains(failure(4, "x --throw bad_alloc"), "out of memory"));
#ifndef __SANITIZE_ADDRESS__  // it ends the program itself, before Kokkos can throw
  EXPECT_TRUE(contains(failure(4, "x --throw huge"), "out of memory"));
#endif
  EXPECT_EQ(failure(1, "x --throw other"), "a defect\n");
}

TEST(Run, ASignalAtTheEndHasItsCodeAndItsLine) {
  auto const outcome = run("photo --throw terminated");
  EXPECT_EQ(outcome.code, 143);
  EXPECT_EQ(outcome.output, "photo 3 1\n");
  EXPECT_EQ(outcome.errors,
            "failing-app: error: stopped when all was done; what was written is whole\n");
  // Also where the line waits for a reader longer than the program may: for a pipe that is full, of
  // 64 KiB.
  auto const waits = coir::testing::run_command(
      "sh -c '{ head -c 65536 /dev/zero; " COIR_APP
      " photo --throw terminated 2>&1 >/dev/null; echo $? >&2; } | { sleep 2; cat >/dev/null; }'");
  EXPECT_EQ(waits.errors, "143\n");
}

TEST(Run, MessagesStayOneLineWhateverFileNamesHold) {
  EXPECT_EQ(failure(3, "x --throw input"), "no such file as this [31m one\n");
}

TEST(Run, RepeatedOptionIsRefused) {
  EXPECT_EQ(failure(2, "x --count 3 --count 4"), "--count was given 2 times: give it once\n");
}

TEST(Run, FlagsTakeTrueAndFalseAlone) {
  EXPECT_EQ(run("photo --loud").output, "photo 3 1!\n");
  EXPECT_EQ(run("photo --loud=true").output, "photo 3 1!\n");
  EXPECT_EQ(run("photo --loud=false").output, "photo 3 1\n");
  for (std::string const value : {"maybe", "99999999999999999999", "2", ""})
    EXPECT_EQ(failure(2, "x --loud=" + value),
              "--loud must be true or false, not '" + value + "'\n");
  EXPECT_EQ(failure(2, "x --help=yes"), "--help takes no value, such as 'yes'\n");
}

TEST(Run, AMessageNobodyCouldReadIsShortened) {
  std::string const message = failure(2, "x --" + std::string(5000, 'y') + " --no");
  EXPECT_LT(message.size(), 1000U);
  EXPECT_TRUE(contains(message, "yyy [...] yyy")) << message;
}

TEST(Run, MissingAndSurplusArgumentsAreNamed) {
  EXPECT_TRUE(contains(failure(2, ""), "INPUT is required"));
  EXPECT_TRUE(contains(failure(2, "x y"), "one argument too many: y"));
  EXPECT_EQ(failure(2, "x --count"),
            "--count has no value: write --count N, or leave it out; see failing-app --help\n");
  for (std::string const given : {"-2 1", "-2 1 3 4", "-2,1,3"})
    EXPECT_EQ(failure(2, "x --corner " + given),
              "--corner takes 3 values, X Y Z, not '" + given + "'; see failing-app --help\n");
  EXPECT_EQ(failure(2, "x --pair 1 2 3"),
            "--pair takes 1 to 2 values, A or A B, not '1 2 3'; see failing-app --help\n");
}

TEST(Run, TheBackendIsOneOfThree) {
  EXPECT_TRUE(contains(run("--help").output, "--backend cpu|gpu|auto"));
  for (std::string const backend : {"cpu", "auto"}) {
    auto const outcome = run("photo --backend " + backend);
    EXPECT_EQ(outcome.output, "photo 3 1\n") << backend;
  }
  EXPECT_EQ(run("photo --backend cpu").errors, "");
  EXPECT_EQ(failure(2, "x --backend tpu"), "--backend must be one of cpu, gpu, auto, not 'tpu'\n");
  EXPECT_EQ(failure(2, "x --backend cpu --backend gpu"),
            "--backend was given 2 times: give it once\n");
}

TEST(Run, WithoutADeviceItRunsOnTheCoresUnlessOneWasAskedFor) {
  bool const has_backend = !coir::runs_on_host<Kokkos::DefaultExecutionSpace>;
  std::string const hidden = "CUDA_VISIBLE_DEVICES=-1 HIP_VISIBLE_DEVICES=-1";
  std::string const refusal = failure(6, "x --backend gpu", hidden);
  EXPECT_TRUE(refusal.starts_with("--backend gpu: ")) << refusal;
  EXPECT_TRUE(contains(refusal, has_backend ? "no usable " : "this build has no backend for a GPU"))
      << refusal;
  EXPECT_TRUE(contains(refusal, "or use --backend cpu")) << refusal;

  auto const outcome = run("photo", hidden);
  EXPECT_EQ(outcome.code, 0);
  EXPECT_EQ(outcome.output, "photo 3 1\n");
  EXPECT_EQ(std::count(outcome.errors.begin(), outcome.errors.end(), '\n'), has_backend ? 1 : 0)
      << outcome.errors;
  if (!has_backend) return;
  EXPECT_TRUE(outcome.errors.starts_with("failing-app: warning: no usable ")) << outcome.errors;
  EXPECT_TRUE(contains(outcome.errors, "so this runs on the cores (--backend cpu"))
      << outcome.errors;
}

TEST(Run, KokkosGetsItsOwnArguments) {
  auto const outcome = run("--kokkos-threads=2 photo");
  EXPECT_EQ(outcome.code, 0) << outcome.errors;
  EXPECT_EQ(outcome.output, "photo 3 1\n");
}

TEST(Run, KokkosGetsNothingThatItDoesntKnow) {
  EXPECT_TRUE(contains(failure(2, "x --kokkos-thread=2"), "unknown option --kokkos-thread: "));
  EXPECT_TRUE(contains(failure(2, "x --kokkos-threads=abc"), "must be a whole number"));
  EXPECT_TRUE(contains(failure(2, "x --kokkos-device-id=abc"), "must be a whole number"));
  if (KOKKOS_VERSION < 40000)
    EXPECT_TRUE(contains(failure(6, "x", "KOKKOS_NUM_THREADS=abc"), "Kokkos can't start: "));
  else  // it aborts
    EXPECT_NE(run("x", "KOKKOS_NUM_THREADS=abc").code, 0);
}

TEST(Run, ThreadsAboveTheProcessorsAreNoReasonToTalk) {
  for (auto const& outcome : {run("photo", "OMP_NUM_THREADS=64"), run("photo --kokkos-threads=64"),
                              run("photo", "env -u OMP_PROC_BIND -u OMP_NUM_THREADS")}) {
    EXPECT_EQ(outcome.output, "photo 3 1\n");
    EXPECT_EQ(outcome.errors, "");
  }
}

TEST(Run, FullDiskBehindTheOutputIsAnError) {
  for (std::string const arguments : {"photo", "--help", "--version"}) {
    auto const outcome = coir::testing::run_command("sh -c '" + std::string(COIR_APP) + " " +
                                                    arguments + " >/dev/full'");
    EXPECT_EQ(outcome.code, 4) << arguments;
    EXPECT_TRUE(contains(outcome.errors, "can't write to the standard output")) << outcome.errors;
  }
}

TEST(Run, AClosedOutputIsAnErrorWhateverTakesItsPlace) {
  for (std::string const closed : {">&-", "<&- >&-"}) {
    auto const outcome =
        coir::testing::run_command("sh -c '" + std::string(COIR_APP) + " photo " + closed + "'");
    EXPECT_EQ(outcome.code, 4) << closed;
    EXPECT_TRUE(contains(outcome.errors, "can't write to the standard output")) << outcome.errors;
  }
}
