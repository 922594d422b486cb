// coir-compare as a user runs it, on builds whose programs are shell scripts.

#include <support/command.hpp>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <signal.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>

namespace {

namespace fs = std::filesystem;
using coir::testing::Outcome;
using coir::testing::TemporaryFolder;

/// What coir-info and a benchmark print, as far as coir-compare reads it. In the folder of the build a file called
/// "short" names a row that doesn't fit in memory, "fail" one at which the benchmark crashes, "hang" one at which it waits and coir-compare is told to stop, "log" is what ran.
constexpr char info[] = R"sh(#!/bin/sh
grep Cpus_allowed_list /proc/self/status >"$(dirname "$0")/../../cores"
printf '{"application": "coir-info", "default_backend": "OpenMP", "host": {"cpu": "a CPU", "threads": 2,
"memory_bytes": 1000000}, "devices": [], "limits": {"copy_bytes_per_second": 1e9, "triad_bytes_per_second": 1e9,
"launch_seconds": 1e-6, "host_to_device_bytes_per_second": null, "device_to_host_bytes_per_second": null}}'
)sh";

constexpr char bench[] = R"sh(#!/bin/sh
build=$(dirname "$0")/../..
rows='x+=3/256 x+=3/1024 sum/256'
if [ "$1" = --benchmark_list_tests ]; then
  for row in $rows; do echo "$row/manual_time"; done
  exit
fi
for argument; do
  case $argument in --benchmark_filter=*) filter=${argument#*=} ;; esac
done
if [ -e "$build/broken" ]; then echo 'no device' >&2; exit 1; fi
# Memory is faster in each process: the first one gets 2 GB/s, the second one 3 GB/s.
echo start >>"$build/starts"
echo '{ "context": {"backend": "OpenMP", "device": "a CPU", "threads": "2", "last_level_cache_bytes": "1000",'
echo "\"copy_bytes_per_second\": \"$(($(wc -l <"$build/starts") + 1))e9\"},"
echo '"benchmarks": ['
basename "$(realpath "$build")" >>"$build/../log"
for row in $rows; do
  echo "$row" | grep -qE "$filter" || continue
  if [ "$(cat "$build/fail" 2>/dev/null)" = "$row" ]; then echo 'something broke' >&2; kill -SEGV $$; fi
  if [ "$(cat "$build/hang" 2>/dev/null)" = "$row" ]; then echo $$ >"$build/../pid"; kill -TERM $PPID; exec sleep 60; fi
  if [ "$(cat "$build/short" 2>/dev/null)" = "$row" ]; then
    echo "{\"name\": \"$row\", \"run_name\": \"$row\", \"error_occurred\": true, \"error_message\": \"it needs 9 GB\"},"
    continue
  fi
  echo "$row" >>"$build/runs"
  seconds=$(grep -cxF "$row" "$build/runs")
  echo "{\"name\": \"$row/manual_time\", \"run_name\": \"$row/manual_time\", \"run_type\": \"iteration\","
  echo "\"bytes/s\": 8e3, \"cells/s\": 1e3, \"real_time\": 1, \"time_unit\": \"s\", \"seconds\": $seconds},"
done
echo ']}'
)sh";

/// A Python that has the packages named in the file "packages" beside it, which do x += 3 in half a second a call. "fail_numpy"
/// names a row at which NumPy crashes, "slow_numpy" one that takes it too long.
constexpr char python[] = R"sh(#!/bin/sh
here=$(dirname "$0")
name=$(basename "$1" .py | sed s/table_//)
if ! grep -qsxF "$name" "$here/packages"; then echo "ModuleNotFoundError: No module named '$name'" >&2; exit 1; fi
if [ "$2" = --about ]; then
  echo '{"package": "'$name'", "version": "9.1", "device": "a CPU", "rows": ["x+=3", "cos2+sin2"]}'
  exit
fi
shift 2
echo "$name" >>"$here/../build/log"
echo '{"context": {}, "benchmarks": ['
for row; do
  if [ "$(cat "$here/fail_$name" 2>/dev/null)" = "$row" ]; then kill -SEGV $$; fi
  if [ "$(cat "$here/slow_$name" 2>/dev/null)" = "$row" ]; then
    echo "{\"name\": \"$row\", \"run_name\": \"$row\", \"error_occurred\": true, \"error_message\": \"it needs more time\"},"
    continue
  fi
  echo "{\"name\": \"$row\", \"run_name\": \"$row\", \"run_type\": \"iteration\", \"seconds\": 0.5},"
done
echo ']}'
)sh";

void write_script(fs::path const& path, char const* text) {
  fs::create_directories(path.parent_path());
  std::ofstream(path) << text;
  fs::permissions(path, fs::perms::owner_all);
}

class Compare : public ::testing::Test {
 protected:
  Compare() {
    make_build("one");
    make_build("two");
    // No package of this machine's takes part.
    write_script(folder / "bin/python3", python);
    setenv("PATH", ((folder / "bin").string() + ":" + path_).c_str(), /*overwrite=*/1);
  }
  ~Compare() override { setenv("PATH", path_.c_str(), /*overwrite=*/1); }
  void say_of_python(std::string const& file, std::string const& text) {
    std::ofstream(folder / "bin" / file) << text;
  }
  void make_build(std::string const& name) {
    write_script(folder / "build" / name / "apps/info/coir-info", info);
    write_script(folder / "build" / name / "bench/array/array_table_bench", bench);
  }
  void say(std::string const& build, std::string const& file, std::string const& row) {
    std::ofstream(folder / "build" / build / file) << row;
  }
  Outcome compare(std::string const& arguments) {
    return coir::testing::run_command("cd " + folder.path().string() + " && " COIR_APP " " +
                                      arguments);
  }
  nlohmann::json report(std::string const& name = "compare") {
    return nlohmann::json::parse(coir::testing::read_text(folder / name / "compare.json"));
  }

  std::string path_ = std::getenv("PATH");
  struct Folder : TemporaryFolder {
    fs::path operator/(fs::path const& name) const { return path() / name; }
  } folder;
};

bool contains(std::string const& text, std::string const& part) {
  return text.find(part) != std::string::npos;
}

int lines_of(std::string const& text) {
  return static_cast<int>(std::count(text.begin(), text.end(), '\n'));
}

constexpr char only[] = " --only x+=3 sum ";

}  // namespace

TEST_F(Compare, TakesMediansOfRoundsInTurns) {
  auto const outcome =
      compare("run build/one build/two/ --name laptop --rounds 3" + std::string(only));
  EXPECT_EQ(outcome.code, 0) << outcome.errors;
  EXPECT_EQ(outcome.errors, "");
  EXPECT_EQ(coir::testing::read_text(folder / "build/log"), "one\ntwo\ntwo\none\none\ntwo\n");
  auto const json = report();
  EXPECT_EQ(json["format"], 1);
  EXPECT_EQ(json["machines"][0]["name"], "laptop");
  EXPECT_EQ(json["machines"][0]["builds"][1]["name"], "two");
  // Limits are measured in each round; what benchmarks don't measure is coir-info's.
  auto const build = json["machines"][0]["builds"][1];
  EXPECT_EQ(build["limits"]["copy_bytes_per_second"], 3e9);
  EXPECT_EQ(build["limits"]["triad_bytes_per_second"], 1e9);
  ASSERT_EQ(build["limit_rounds"].size(), 3u);
  EXPECT_EQ(build["limit_rounds"][2]["copy_bytes_per_second"], 4e9);
  ASSERT_EQ(json["rows"].size(), 6u);
  auto const& row = json["rows"][1];
  EXPECT_EQ(row["work"], "x+=3");
  EXPECT_EQ(row["size"], 1024);
  EXPECT_EQ(row["limits_bytes_per_second"], (std::vector<double>{2e9, 3e9, 4e9}));
  EXPECT_EQ(row["rounds"], (std::vector<double>{1, 2, 3}));
  EXPECT_EQ(row["seconds"], 2);
  EXPECT_EQ(row["bytes"], 8 * 1024);
  EXPECT_TRUE(row["joules"].is_null());
  // What the programs lack is named: of ten sizes x += 3 has two, and sum one, in both.
  EXPECT_EQ(json["left_out"].size(), 2 * (8 + 9));
  EXPECT_TRUE(contains(outcome.output, "x += 3")) << outcome.output;
  // Rounds of one, two and three seconds.
  EXPECT_TRUE(contains(outcome.output, "The machine was busy: in 6 of 6 rows")) << outcome.output;
  EXPECT_TRUE(contains(coir::testing::read_text(folder / "compare/compare.html"), "</html>"));
  auto const shown = compare("show compare/compare.json");
  EXPECT_EQ(shown.code, 0);
  EXPECT_EQ(shown.output, coir::testing::read_text(folder / "compare/compare.md"));
  EXPECT_TRUE(
      contains(shown.output, "one, sum/67108864: array_table_bench has no row sum/67108864"))
      << shown.output;
}

TEST_F(Compare, PeersTakeTheirTurns) {
  say_of_python("packages", "numpy\njax\ncupy\n");
  auto const outcome =
      compare("run build/one --peers numpy,jax --rounds 2 --only x+=3 cos2+sin2 sum");
  EXPECT_EQ(outcome.code, 0) << outcome.errors;
  EXPECT_EQ(outcome.errors, "");
  EXPECT_EQ(coir::testing::read_text(folder / "build/log"), "one\nnumpy\njax\nnumpy\njax\none\n");
  auto const json = report();
  auto const builds = json["machines"][0]["builds"];
  ASSERT_EQ(builds.size(), 3u);
  EXPECT_EQ(builds[1]["name"], "numpy");
  EXPECT_EQ(builds[1]["backend"], "numpy 9.1");
  EXPECT_EQ(builds[1]["device"], "a CPU");
  EXPECT_EQ(builds[1]["limits"]["copy_bytes_per_second"],
            2.5e9);  // of the build on the same device
  EXPECT_TRUE(builds[1]["limits"]["launch_seconds"].is_null());
  // Only what both sides have, at the build's sizes.
  std::vector<std::string> rows;
  for (auto const& row : json["rows"])
    if (row["build"] == "numpy") {
      rows.push_back(row["work"].get<std::string>() + "/" + row["numbers"].get<std::string>());
      EXPECT_EQ(row["seconds"], 0.5);
      EXPECT_EQ(row["bytes"], 8 * row["size"].get<double>());
      EXPECT_EQ(row["rounds"].size(), 2u);
      EXPECT_EQ(row["limits_bytes_per_second"], (std::vector<double>{2e9, 3e9}));
    }
  EXPECT_EQ(rows, (std::vector<std::string>{"x+=3/256", "x+=3/1024"}));
  for (auto const& row : json["left_out"]) EXPECT_EQ(row["build"], "one") << row;
  EXPECT_TRUE(contains(outcome.output, "3.00 x, 500 ms")) << outcome.output;
  EXPECT_EQ(compare("show compare/compare.json").code, 0);
}

TEST_F(Compare, PeersAreThoseThatPythonHas) {
  say_of_python("packages", "jax\ntorch\n");
  auto const outcome = compare("run build/one --rounds 1 --only x+=3");
  EXPECT_EQ(outcome.code, 0) << outcome.errors;
  EXPECT_FALSE(contains(outcome.output, "No peers")) << outcome.output;
  ASSERT_EQ(report()["machines"][0]["builds"].size(), 3u);
  EXPECT_EQ(report()["machines"][0]["builds"][1]["name"], "jax");
  EXPECT_EQ(report()["machines"][0]["builds"][2]["name"], "torch");

  say_of_python("packages", "");
  auto const without = compare("run build/one --rounds 1 --only x+=3");
  EXPECT_EQ(without.code, 0) << without.errors;
  EXPECT_TRUE(
      contains(without.output,
               "\nNo peers: python3 has none of numpy, numba, jax, cupy, torch (numpy ended with "
               "code 1: ModuleNotFoundError: No module named 'numpy').\n"))
      << without.output;
  EXPECT_EQ(compare("run build/one --rounds 1 --only x+=3 --quiet").output, "");

  fs::remove(folder / "bin/python3");
  std::ofstream(folder / "bin/python3") << "no program";
  auto const none = compare("run build/one --rounds 1 --only x+=3 --peers none");
  EXPECT_EQ(none.code, 0);
  EXPECT_FALSE(contains(none.output, "peers")) << none.output;
}

TEST_F(Compare, APeerThatFailsIsNamedAndTheOthersAreKept) {
  say_of_python("packages", "numpy\njax\n");
  say_of_python("fail_numpy", "x+=3/256");
  auto const outcome = compare("run build/one --rounds 2 --only x+=3");
  EXPECT_EQ(outcome.code, 1);
  EXPECT_TRUE(
      contains(outcome.errors, "numpy, x+=3/256 failed: table_numpy.py was ended by signal 11"))
      << outcome.errors;
  auto const json = report();
  EXPECT_EQ(json["rows"].size(), 5u);
  for (auto const& row : json["rows"]) EXPECT_EQ(row["rounds"].size(), 2u) << row;
}

TEST_F(Compare, ARowThatTakesAPeerTooLongIsLeftOut) {
  say_of_python("packages", "numpy\n");
  say_of_python("slow_numpy", "x+=3/1024");
  auto const outcome = compare("run build/one --rounds 1 --only x+=3");
  EXPECT_EQ(outcome.code, 0) << outcome.errors;
  auto const markdown = coir::testing::read_text(folder / "compare/compare.md");
  EXPECT_TRUE(contains(markdown, "- numpy, x+=3/1024: it needs more time\n")) << markdown;
}

TEST_F(Compare, PeersThatAreNamedMustRun) {
  auto const missing = compare("run build/one --peers numpy");
  EXPECT_EQ(missing.code, 6);
  EXPECT_TRUE(contains(missing.errors,
                       "the peer numpy can't run, its script ended with code 1: "
                       "ModuleNotFoundError: No module named 'numpy': install it"))
      << missing.errors;
  EXPECT_FALSE(fs::exists(folder / "compare"));
  auto const nowhere = compare("run build/one --peers numpy --python nowhere/python");
  EXPECT_EQ(nowhere.code, 6);
  EXPECT_TRUE(contains(nowhere.errors, "nowhere/python")) << nowhere.errors;
  auto const unknown = compare("run build/one --peers numpy,pandas");
  EXPECT_EQ(unknown.code, 2);
  EXPECT_EQ(unknown.errors,
            "coir-compare: error: --peers must be auto, none or, with commas between them, some of "
            "numpy, numba, jax, cupy, torch, cupy-kernels, numba-cuda, not 'numpy,pandas'\n");
  EXPECT_EQ(compare("run build/one --peers numpy,numpy").code, 2);
  EXPECT_EQ(compare("run build/one --peers ''").code, 2);
  EXPECT_EQ(compare("run build/one --python ''").code, 2);
  write_script(folder / "bin/python3", "#!/bin/sh\necho '{\"version\": 3}'\n");
  EXPECT_TRUE(contains(compare("run build/one --peers numpy").errors,
                       "the peer numpy can't run, its script didn't say what it is"));
}

TEST_F(Compare, AWorkOfWhichABuildHasNoRowIsOneLine) {
  auto const outcome = compare("run build/one --rounds 1 --only sum selu");
  EXPECT_EQ(outcome.code, 0) << outcome.errors;
  auto const markdown = coir::testing::read_text(folder / "compare/compare.md");
  EXPECT_TRUE(contains(markdown, "- one, selu: array_table_bench has no row selu\n")) << markdown;
  auto const nothing = compare("run build/one --only fft --rounds 1 --output other");
  EXPECT_EQ(nothing.code, 3);
  EXPECT_EQ(nothing.errors,
            "coir-compare: error: nothing was measured: one, fft: "
            "build/one/bench/fft/fft_fft_bench isn't built\n");
  EXPECT_FALSE(fs::exists(folder / "other"));
}

TEST_F(Compare, ABenchmarkThatCrashesIsNamedAndTheOthersAreKept) {
  say("two", "fail", "x+=3/1024");
  auto const outcome = compare("run build/one build/two --rounds 2" + std::string(only));
  EXPECT_EQ(outcome.code, 1);
  EXPECT_TRUE(
      contains(outcome.errors, "two, x+=3/1024 failed: array_table_bench was ended by signal 11"))
      << outcome.errors;
  EXPECT_EQ(lines_of(outcome.errors), 2);
  auto const json = report();
  EXPECT_EQ(json["rows"].size(), 5u);
  for (auto const& row : json["rows"]) EXPECT_EQ(row["rounds"].size(), 2u) << row;
}

TEST_F(Compare, ARowThatDoesNotFitInMemoryIsLeftOut) {
  say("one", "short", "x+=3/256");
  auto const outcome = compare("run build/one --rounds 2" + std::string(only));
  EXPECT_EQ(outcome.code, 0) << outcome.errors;
  EXPECT_EQ(report()["rows"].size(), 2u);
  auto const markdown = coir::testing::read_text(folder / "compare/compare.md");
  EXPECT_TRUE(contains(markdown, "- one, x+=3/256: it needs 9 GB\n")) << markdown;
}

#if defined(__linux__) && defined(__GLIBC__)
TEST_F(Compare, WhatItStartsHasAllItsCores) {
  // OpenMP's runtime binds the thread that starts it to one core; what is started must not stay there.
  auto const bound =
      coir::testing::run_command("cd " + folder.path().string() +
                                 " && OMP_PROC_BIND=spread OMP_PLACES=threads " COIR_APP
                                 " run build/one --rounds 1 --only sum");
  EXPECT_EQ(bound.code, 0) << bound.errors;
  auto const cores = coir::testing::run_command("grep Cpus_allowed_list /proc/self/status");
  EXPECT_EQ(coir::testing::read_text(folder / "build/one/cores"), cores.output);
}
#endif

TEST_F(Compare, AProgramThatDoesNotBeginIsLeftOut) {
  say("two", "broken", "");
  auto const outcome = compare("run build/one build/two --rounds 1 --only sum");
  EXPECT_EQ(outcome.code, 1);
  EXPECT_TRUE(contains(outcome.errors,
                       "two, sum/256 failed: array_table_bench ended with code 1: no device"))
      << outcome.errors;
  EXPECT_EQ(report()["rows"].size(), 1u);
}

TEST_F(Compare, TheHostBesideADeviceIsOneMore) {
  write_script(folder / "build/one/bench/array/array_table_host_bench", bench);
  auto const outcome = compare("run build/one --rounds 1 --only sum");
  EXPECT_EQ(outcome.code, 0) << outcome.errors;
  auto const builds = report()["machines"][0]["builds"];
  ASSERT_EQ(builds.size(), 2u);
  EXPECT_EQ(builds[1]["name"], "one, host");
  EXPECT_EQ(builds[1]["limits"]["copy_bytes_per_second"], 3e9);  // of its own program
}

TEST_F(Compare, NoBuildIsAnErrorThatSaysHowToMakeIt) {
  auto const missing = compare("run build/one build/cuda");
  EXPECT_EQ(missing.code, 3);
  EXPECT_EQ(missing.errors,
            "coir-compare: error: build/cuda isn't there; this builds it: cmake --preset cuda && "
            "cmake --build build/cuda "
            "--target compared (or scripts/compare.sh cuda)\n");
  fs::remove_all(folder / "build/two/bench");
  auto const half = compare("run build/two");
  EXPECT_EQ(half.code, 3);
  EXPECT_TRUE(contains(half.errors, "build/two is no build with coir-info and benchmarks"))
      << half.errors;
  EXPECT_FALSE(fs::exists(folder / "compare"));
}

TEST_F(Compare, ABuildThatCannotRunIsNamed) {
  write_script(folder / "build/two/apps/info/coir-info",
               "#!/bin/sh\necho 'no GPU here' >&2; exit 6\n");
  auto const one_left = compare("run build/two build/one --rounds 1 --only sum");
  EXPECT_EQ(one_left.code, 1);
  EXPECT_TRUE(contains(one_left.errors, "no GPU here")) << one_left.errors;
  EXPECT_EQ(report()["rows"].size(), 1u);
  auto const none_left = compare("run build/two --output other");
  EXPECT_EQ(none_left.code, 6);
  EXPECT_TRUE(contains(none_left.errors,
                       "no build can run here: build/two/apps/info/coir-info ended with code 6"))
      << none_left.errors;
  EXPECT_FALSE(fs::exists(folder / "other"));
}

TEST_F(Compare, ABuildForADeviceThatIsNotThereIsNamed) {
  // coir-info goes on with the cores then; the benchmarks don't.
  write_script(folder / "build/two/apps/info/coir-info",
               "#!/bin/sh\necho '{\"backends\": [\"Cuda\", \"OpenMP\"], \"default_backend\": "
               "\"OpenMP\", \"devices\": []}'\n");
  auto const outcome = compare("run build/one build/two --rounds 1 --only sum");
  EXPECT_EQ(outcome.code, 1);
  EXPECT_TRUE(contains(outcome.errors, "build/two/apps/info/coir-info found no Cuda device"))
      << outcome.errors;
  EXPECT_EQ(report()["rows"].size(), 1u);
}

TEST_F(Compare, WhatInfoLacksIsUnknown) {
  write_script(folder / "build/one/apps/info/coir-info",
               "#!/bin/sh\necho '{\"host\": {\"threads\": -1, \"memory_bytes\": -5}}'\n");
  write_script(folder / "build/two/apps/info/coir-info",
               "#!/bin/sh\necho '{\"devices\": {\"name\": 3}, \"host\": {\"threads\": 1e99}}'\n");
  auto const outcome = compare("run build/one build/two --rounds 1 --only sum");
  EXPECT_EQ(outcome.code, 0) << outcome.errors;
  EXPECT_EQ(compare("show compare/compare.json").code, 0);
  EXPECT_EQ(report()["machines"][0]["builds"][0]["backend"], "unknown");
}

TEST_F(Compare, InfoThatIsNoReportIsNamed) {
  write_script(folder / "build/one/apps/info/coir-info", "#!/bin/sh\necho hello\n");
  auto const outcome = compare("run build/one");
  EXPECT_EQ(outcome.code, 6);
  EXPECT_EQ(outcome.errors,
            "coir-compare: error: no build can run here: build/one/apps/info/coir-info printed no "
            "JSON: build it anew\n");
}

TEST_F(Compare, WhatIsPrintedInTooManyLevelsIsNoReport) {
  // Copying such a thing would use up the stack.
  std::string const deep = "printf '%0200000d' 0 | tr 0 '['; printf '%0200000d' 0 | tr 0 ']'\n";
  write_script(folder / "build/one/apps/info/coir-info",
               ("#!/bin/sh\nprintf '{\"default_backend\": '; " + deep + "echo '}'\n").c_str());
  auto const of_info = compare("run build/one --only sum");
  EXPECT_EQ(of_info.code, 6);
  EXPECT_TRUE(contains(of_info.errors, "coir-info printed no JSON")) << of_info.errors;

  write_script(folder / "build/one/apps/info/coir-info", info);
  std::string nested = bench;
  std::string const context = "echo '{ \"context\": {";
  nested.insert(nested.find(context), "printf '{ \"context\": {\"deep\": '; " + deep +
                                          "echo '}, \"benchmarks\": [] }'; exit\n");
  write_script(folder / "build/one/bench/array/array_table_bench", nested.c_str());
  auto const of_bench = compare("run build/one --only sum");
  EXPECT_TRUE(of_bench.code == 1 || of_bench.code == 3) << of_bench.code;
  EXPECT_TRUE(contains(of_bench.errors, "coir-compare: ")) << of_bench.errors;

  write_script(folder / "build/one/bench/array/array_table_bench", bench);
  write_script(folder / "bin/python3", ("#!/bin/sh\n" + deep).c_str());
  auto const of_peer = compare("run build/one --only sum --peers numpy");
  EXPECT_EQ(of_peer.code, 6);
  EXPECT_TRUE(contains(of_peer.errors, "its script didn't say what it is")) << of_peer.errors;
}

TEST_F(Compare, ARowThatIsListedTwiceIsMeasuredOnce) {
  std::string twice = bench;
  twice.replace(twice.find("sum/256'"), 8, "sum/256 sum/256'");
  write_script(folder / "build/one/bench/array/array_table_bench", twice.c_str());
  auto const outcome = compare("run build/one --rounds 2 --only sum");
  EXPECT_EQ(outcome.code, 0) << outcome.errors;
  EXPECT_EQ(report()["rows"].size(), 1u);
  EXPECT_EQ(compare("show compare/compare.json").code, 0);
}

TEST_F(Compare, AnErrorOfSeveralLinesIsOne) {
  std::string broken = bench;
  std::string const message = "it needs 9 GB";
  broken.replace(broken.find(message), message.size(), "one\\u000aan\\u001bother");
  write_script(folder / "build/one/bench/array/array_table_bench", broken.c_str());
  say("one", "short", "sum/256");
  auto const outcome = compare("run build/one --rounds 1" + std::string(only));
  EXPECT_EQ(outcome.code, 1);
  EXPECT_TRUE(contains(outcome.errors, "one, sum/256 failed: one an other\n")) << outcome.errors;
  EXPECT_EQ(lines_of(outcome.errors), 2);
}

TEST_F(Compare, DoesNotWaitForWhatAProgramLeavesBehind) {
  // It holds the pipes that coir-compare reads, for 20 seconds unless it is ended.
  std::string const left_behind = R"sh(
cd "$(dirname "$0")/../../.."
(n=0; while [ $n -lt 200 ]; do sleep 0.1; n=$((n + 1)); done; echo >ended) &
echo $! >pid
)sh";
  write_script(folder / "build/one/apps/info/coir-info", (info + left_behind).c_str());
  auto const outcome = compare("run build/one --rounds 1 --only sum");
  EXPECT_EQ(outcome.code, 0) << outcome.errors;
  EXPECT_FALSE(fs::exists(folder / "build/ended"));
  int const process = std::atoi(coir::testing::read_text(folder / "build/pid").c_str());
  ASSERT_GT(process, 0);
  kill(process, SIGKILL);
}

TEST_F(Compare, OnAFullDiskTheMeasurementComesFirst) {
  // No file may be longer than 4096 bytes, which compare.html is.
  auto const outcome = coir::testing::run_command("cd " + folder.path().string() +
                                                  " && ulimit -f 8 && " COIR_APP
                                                  " run build/one --rounds 1 --only sum --quiet");
  EXPECT_EQ(outcome.code, 4) << outcome.errors;
  EXPECT_TRUE(contains(outcome.errors, "compare.html: can't be written")) << outcome.errors;
  EXPECT_EQ(compare("show compare/compare.json").code, 0);
}

TEST_F(Compare, TheFolderThatThisRunsInHasItsName) {
  auto const outcome = coir::testing::run_command("cd " + (folder / "build/one").string() +
                                                  " && " COIR_APP " run . --rounds 1 --only sum");
  EXPECT_EQ(outcome.code, 0) << outcome.errors;
  EXPECT_EQ(report("build/one/compare")["machines"][0]["builds"][0]["name"], "one");
}

TEST_F(Compare, ASignalEndsTheBenchmarkAndLeavesNothing) {
  say("two", "hang", "sum/256");
  auto const outcome = compare("run build/one build/two" + std::string(only));
  EXPECT_EQ(outcome.code, 143);
  EXPECT_EQ(
      outcome.errors,
      "coir-compare: error: stopped while running array_table_bench of two; nothing was written\n");
  EXPECT_FALSE(fs::exists(folder / "compare"));
  int const process = std::atoi(coir::testing::read_text(folder / "build/pid").c_str());
  ASSERT_GT(process, 0);
  EXPECT_NE(kill(process, 0), 0);
}

TEST_F(Compare, MergesReportsOfSeveralMachines) {
  ASSERT_EQ(compare("run build/one --rounds 1 --name a --output a" + std::string(only)).code, 0);
  ASSERT_EQ(compare("run build/two --rounds 1 --name b --output b --only sum").code, 0);
  auto const outcome = compare("merge a/compare.json b/compare.json --output both");
  EXPECT_EQ(outcome.code, 0) << outcome.errors;
  EXPECT_TRUE(
      contains(outcome.output, "b (quick set) has not measured x+=3/256, x+=3/1024; others have."))
      << outcome.output;
  EXPECT_EQ(report("both")["machines"].size(), 2u);
  auto const same = compare("merge a/compare.json a/compare.json --output same");
  EXPECT_EQ(same.code, 3);
  EXPECT_TRUE(contains(same.errors, ": merge the reports") ||
              contains(same.errors, "holds the measurement of a of "))
      << same.errors;
  auto const again = compare("merge both/compare.json b/compare.json --output again");
  EXPECT_EQ(again.code, 3);
  EXPECT_TRUE(contains(again.errors, "b/compare.json holds the measurement of b of "))
      << again.errors;
  EXPECT_TRUE(
      contains(again.errors, ", which both/compare.json holds, too: name only one of the two\n"))
      << again.errors;
  auto const over = compare("merge a/compare.json b/compare.json --output a");
  EXPECT_EQ(over.code, 2) << over.errors;
  EXPECT_EQ(lines_of(over.errors), 1);
  EXPECT_EQ(report("a")["machines"].size(), 1u);
}

TEST_F(Compare, WhatIsNoReportIsAnInputError) {
  for (auto const& text :
       {"", "{\"application\": \"coir-compare\", \"format\": 1, \"mach", "{}",
        "{\"application\": \"coir-compare\", \"format\": 7, \"version\": \"9.9.9\"}"}) {
    std::ofstream(folder / "a.json") << text;
    for (auto const& command : {"show a.json", "merge a.json"}) {
      auto const outcome = compare(command);
      EXPECT_EQ(outcome.code, 3) << text;
      EXPECT_EQ(lines_of(outcome.errors), 1) << outcome.errors;
      EXPECT_EQ(outcome.output, "");
    }
  }
  EXPECT_TRUE(contains(compare("show b.json").errors, "can't read b.json"));
  EXPECT_TRUE(contains(compare("show build").errors, "can't read build, which is a folder"));
}

TEST_F(Compare, WrongUseIsOneLine) {
  auto const error = [&](std::string const& arguments) {
    auto const outcome = compare(arguments);
    EXPECT_EQ(outcome.code, 2) << arguments;
    EXPECT_EQ(lines_of(outcome.errors), 1) << outcome.errors;
    return outcome.errors;
  };
  EXPECT_TRUE(contains(error(""), "name one of run, merge, show; see coir-compare --help"));
  EXPECT_TRUE(contains(error("rum build/one"), "rum is none of run, merge, show"));
  EXPECT_TRUE(
      contains(error("run build/one --round 2"), "did you mean --rounds? coir-compare run --help"));
  EXPECT_TRUE(contains(error("run build/one --set quick --set full"), "--set was given 2 times"));
  EXPECT_TRUE(contains(error("run build/one build/one/"), "each build is named once"));
  EXPECT_TRUE(
      contains(error("run build/one --rounds 0"), "--rounds must be a whole number from 1"));
  EXPECT_TRUE(
      contains(error("run build/one --only nothing"), "--only must be a work of the quick set"));
  EXPECT_TRUE(contains(error("run build/one --name ''"), "--name must be 1 to 60 characters"));
  EXPECT_TRUE(contains(error("run ''"), "a build is a folder such as build/openmp, not ''"));
  error("run");
  error("merge");
  error("show");
  EXPECT_EQ(compare("--help").code, 0);
  EXPECT_TRUE(contains(compare("run --help").output, "--set"));
}
