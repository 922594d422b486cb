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
  // Also where the line waits for a reader longer than the program may: for a pipe that is full, of 64 KiB.
  auto const waits = coir::testing::run_command(
      "sh -c '{ head -c 65536 /dev/zero; " COIR_APP
      " photo --throw terminated 2>&1 >/dev/null; echo $? >&2; } | { sleep 2; cat >/dev/null; }'");
  EXPECT_EQ(waits.errors, "143\n");
}

TEST(Run, MessagesStayOneLineWhateverFileNamesHold) {
  EXPECT_EQ(failure(3, "x --throw input"), "no such file as this [31m one\n");
}

TEST(Run, UnknownOptionNamesItselfAndTheNearest) {
  EXPECT_TRUE(contains(failure(2, "x --cuont 3"), "unknown option --cuont: did you mean --count?"));
  EXPECT_TRUE(
      contains(failure(2, "x --whatever"), "unknown option --whatever; failing-app --help"));
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

TEST(Run, OptionsThatExcludeEachOtherAreNamed) {
  EXPECT_EQ(failure(2, "x --corner 1 2 3 --pair 1"),
            "--corner excludes --pair: leave one of them out; see failing-app --help\n");
}

#if defined(__linux__) && \
    !defined(__SANITIZE_ADDRESS__)  // which needs a larger stack to begin with
TEST(Run, StacksOfThreadsThatAreTooSmallAreAnErrorInOneLine) {
  if (!contains(run("--version").output, "OpenMP")) GTEST_SKIP() << "a build without OpenMP";
  EXPECT_EQ(failure(6, "x --kokkos-threads=2", "OMP_STACKSIZE=32K"),
            "the stacks of OpenMP's threads are below the 256 KiB that they need: unset "
            "OMP_STACKSIZE, or set it to 1M\n");
  EXPECT_EQ(run("photo --kokkos-threads=2", "OMP_STACKSIZE=256K").output, "photo 3 1\n");
}
#endif

TEST(Run, ValuesOutsideTheirRangeNameTheLimit) {
  EXPECT_EQ(failure(2, "x --count 0"), "--count must be a whole number from 1 to 100, not '0'\n");
  EXPECT_EQ(failure(2, "x --count -5"), "--count must be a whole number from 1 to 100, not '-5'\n");
  EXPECT_EQ(failure(2, "x --tolerance 0"), "--tolerance must be a number above 0, not '0'\n");
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
  auto const outcome = run("--kokkos-disable-warnings photo");
  EXPECT_EQ(outcome.code, 0) << outcome.errors;
  EXPECT_EQ(outcome.output, "photo 3 1\n");
}

TEST(Run, KokkosGetsNothingThatItDoesntKnow) {
  EXPECT_TRUE(contains(failure(2, "x --kokkos-thread=2"), "unknown option --kokkos-thread: "));
  EXPECT_TRUE(contains(failure(2, "x --kokkos-help"), "unknown option --kokkos-help"));
  EXPECT_TRUE(contains(failure(2, "x --kokkos-threads=abc"), "must be a whole number"));
  EXPECT_TRUE(contains(failure(2, "x --kokkos-threads"), "write --kokkos-threads=..."));
  EXPECT_TRUE(contains(failure(2, "x --kokkos-threads=1 --kokkos-threads=2"), "given twice"));
  EXPECT_TRUE(contains(failure(2, "x --kokkos-device-id=abc"), "must be a whole number"));
  EXPECT_TRUE(contains(failure(2, "x --kokkos-disable-warnings=x"), "takes no value"));
  EXPECT_TRUE(contains(failure(6, "x --kokkos-tools-library=none.so"), "none.so"));
}

TEST(Run, MoreThreadsThanCanBeStartedAreAnError) {
  if (!contains(run("--version").output, "OpenMP")) GTEST_SKIP() << "a build without OpenMP";
  for (std::string const count : {"520", "700", "100000"}) {
    std::string const expected = "can't start " + count + " threads: Kokkos has room for 512";
    EXPECT_TRUE(contains(failure(6, "x", "OMP_NUM_THREADS=" + count), expected));
    EXPECT_TRUE(contains(failure(6, "x", "KOKKOS_NUM_THREADS=" + count), expected));
    EXPECT_TRUE(contains(failure(6, "x --kokkos-threads=" + count), expected));
  }
  // 1 and a negative number to whom counts in 32 bits
  for (std::string const count : {"4294967297", "2147483648"})
    EXPECT_TRUE(contains(failure(6, "x", "OMP_NUM_THREADS=" + count), "far above"));
  EXPECT_TRUE(contains(failure(6, "x --kokkos-threads=3", "OMP_THREAD_LIMIT=2"),
                       "can't start 3 threads: ask for fewer"));
#ifndef __SANITIZE_ADDRESS__  // stacks of threads are larger then
  EXPECT_EQ(run("photo", "OMP_NUM_THREADS=512").output, "photo 3 1\n");
#endif
}

#ifndef __SANITIZE_ADDRESS__  // which wants terabytes of addresses
TEST(Run, ThreadsThatTakeAllAddressesAreAnErrorInOneLine) {
  if (!contains(run("--version").output, "OpenMP")) GTEST_SKIP() << "a build without OpenMP";
  // From too little for the stacks of 64 threads to enough for all.
  for (int mebibytes = 300; mebibytes <= 900; mebibytes += 20) {
    auto const outcome =
        run("photo --backend cpu",
            "ulimit -v " + std::to_string(1024 * mebibytes) + "; OMP_NUM_THREADS=64");
    EXPECT_TRUE(outcome.code == 0 || outcome.code == 4 || outcome.code == 6) << outcome.errors;
    EXPECT_EQ(std::count(outcome.errors.begin(), outcome.errors.end(), '\n'), outcome.code != 0)
        << outcome.errors;
  }
}

TEST(Run, WithoutRoomForOneThreadTheLimitIsToBeRaised) {
  if (!contains(run("--version").output, "OpenMP")) GTEST_SKIP() << "a build without OpenMP";
  // Up from where the program can't even be loaded.
  coir::testing::Outcome outcome;
  for (int mebibytes = 16; mebibytes < 1000 && !contains(outcome.errors, "out of memory");
       mebibytes += 8)
    outcome = run("photo --backend cpu",
                  "ulimit -v " + std::to_string(1024 * mebibytes) + "; OMP_NUM_THREADS=1");
  EXPECT_EQ(outcome.code, 4);
  EXPECT_TRUE(
      contains(outcome.errors,
               "out of memory: a limit leaves less than 32 MiB beside the program: raise it "
               "(ulimit -v)\n"))
      << outcome.errors;
}
#endif

TEST(Run, EnvironmentVariablesThatAreWrongAreAnErrorInOneLine) {
  EXPECT_EQ(failure(6, "x", "KOKKOS_NUM_THREADS=abc"),
            "the environment variable KOKKOS_NUM_THREADS must be a whole number from 1 to 1000000, "
            "not 'abc': correct it, or unset it\n");
  EXPECT_TRUE(contains(failure(6, "x", "KOKKOS_PROFILE_LIBRARY=none.so"), "none.so"));
  for (std::string const name : {"KOKKOS_NUM_DEVICES", "KOKKOS_SKIP_DEVICE"})
    EXPECT_EQ(failure(6, "x", "KOKKOS_RAND_DEVICES=1 " + name + "=1"),
              "the environment variables KOKKOS_RAND_DEVICES and " + name +
                  " exclude each other: unset one\n");
  if (!contains(run("--version").output, "OpenMP")) GTEST_SKIP() << "a build without OpenMP";
  for (std::string const name : {"OMP_NUM_THREADS", "OMP_SCHEDULE", "OMP_WAIT_POLICY"})
    EXPECT_TRUE(contains(failure(6, "x", name + "=abc"), "the environment variable " + name));
  EXPECT_EQ(run("--version", "OMP_NUM_THREADS=abc").errors, "");
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
