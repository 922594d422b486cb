// coir-compare as a user runs it, on builds whose programs are shell scripts.

#include "app_fixture.hpp"

#include <cstdlib>

namespace {

namespace fs = std::filesystem;
using namespace coir::testing;

/// What coir-info and a benchmark print, as far as coir-compare reads it. In the folder of the
/// build a file called "short" names a row that doesn't fit in memory, "fail" one at which the
/// benchmark crashes, "hang" one at which it waits and coir-compare is told to stop, "log" is what
/// ran.
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

/// A Python that has the packages named in the file "packages" beside it, which do x += 3 in half a
/// second a call. "fail_numpy" names a row at which NumPy crashes, "slow_numpy" one that takes it
/// too long.
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

class Compare : public coir::testing::AppTest {
 protected:
  Compare() {
    make_build("one");
    make_build("two");
    // No package of this machine's takes part.
    write_script(folder / "bin/python3", python);
    setenv("PATH", ((folder / "bin").string() + ":" + path_).c_str(), /*overwrite=*/1);
  }
  ~Compare() override { setenv("PATH", path_.c_str(), /*overwrite=*/1); }
  void make_build(std::string const& name) {
    write_script(info_of(name), info);
    write_script(folder / ("build/" + name + "/bench/array/array_table_bench"), bench);
  }
  fs::path info_of(std::string const& build) const {
    return folder / ("build/" + build + "/apps/info/coir-info");
  }
  /// The JSON of a report.
  nlohmann::ordered_json compared(std::string const& in = "compare") const {
    return report(in + "/compare.json");
  }
  std::string markdown() const { return read_text(folder / "compare/compare.md"); }

  std::string path_ = std::getenv("PATH");
};

constexpr char only[] = " --only x+=3 sum ";

}  // namespace

TEST_F(Compare, TakesMediansOfRoundsInTurns) {
  auto const outcome = run("run build/one build/two/ --name laptop --rounds 3" + std::string(only));
  EXPECT_EQ(outcome.code, 0) << outcome.errors;
  EXPECT_EQ(outcome.errors, "");
  EXPECT_EQ(read_text(folder / "build/log"), "one\ntwo\ntwo\none\none\ntwo\n");
  auto const json = compared();
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
  EXPECT_TRUE(contains(read_text(folder / "compare/compare.html"), "</html>"));
  auto const shown = run("show compare/compare.json");
  EXPECT_EQ(shown.code, 0);
  EXPECT_EQ(shown.output, read_text(folder / "compare/compare.md"));
  EXPECT_TRUE(
      contains(shown.output, "one, sum/67108864: array_table_bench has no row sum/67108864"))
      << shown.output;
}

TEST_F(Compare, PeersTakeTheirTurns) {
  write("bin/packages", "numpy\njax\ncupy\n");
  auto const outcome = run("run build/one --peers numpy,jax --rounds 2 --only x+=3 cos2+sin2 sum");
  EXPECT_EQ(outcome.code, 0) << outcome.errors;
  EXPECT_EQ(outcome.errors, "");
  EXPECT_EQ(read_text(folder / "build/log"), "one\nnumpy\njax\nnumpy\njax\none\n");
  auto const json = compared();
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
  EXPECT_EQ(run("show compare/compare.json").code, 0);
}

#if defined(__linux__) && defined(__GLIBC__)
TEST_F(Compare, WhatItStartsHasAllItsCores) {
  // OpenMP's runtime binds the thread that starts it to one core; what is started must not stay
  // there.
  auto const bound =
      coir::testing::run_command("cd " + folder.path().string() +
                                 " && OMP_PROC_BIND=spread OMP_PLACES=threads " COIR_APP
                                 " run build/one --rounds 1 --only sum");
  EXPECT_EQ(bound.code, 0) << bound.errors;
  auto const cores = coir::testing::run_command("grep Cpus_allowed_list /proc/self/status");
  EXPECT_EQ(read_text(folder / "build/one/cores"), cores.output);
}
#endif

TEST_F(Compare, TheHostBesideADeviceIsOneMore) {
  write_script(folder / "build/one/bench/array/array_table_host_bench", bench);
  auto const outcome = run("run build/one --rounds 1 --only sum");
  EXPECT_EQ(outcome.code, 0) << outcome.errors;
  auto const builds = compared()["machines"][0]["builds"];
  ASSERT_EQ(builds.size(), 2u);
  EXPECT_EQ(builds[1]["name"], "one, host");
  EXPECT_EQ(builds[1]["limits"]["copy_bytes_per_second"], 3e9);  // of its own program
}

TEST_F(Compare, OnAFullDiskTheMeasurementComesFirst) {
  // No file may be longer than 4096 bytes, which compare.html is.
  auto const outcome = coir::testing::run_command("cd " + folder.path().string() +
                                                  " && ulimit -f 8 && " COIR_APP
                                                  " run build/one --rounds 1 --only sum --quiet");
  EXPECT_EQ(outcome.code, 4) << outcome.errors;
  EXPECT_TRUE(contains(outcome.errors, "compare.html: can't be written")) << outcome.errors;
  EXPECT_EQ(run("show compare/compare.json").code, 0);
}

TEST_F(Compare, ASignalEndsTheBenchmarkAndLeavesNothing) {
  write("build/two/hang", "sum/256");
  auto const outcome = run("run build/one build/two" + std::string(only));
  EXPECT_EQ(outcome.code, 143);
  EXPECT_EQ(
      outcome.errors,
      "coir-compare: error: stopped while running array_table_bench of two; nothing was written\n");
  EXPECT_FALSE(fs::exists(folder / "compare"));
  int const process = std::atoi(read_text(folder / "build/pid").c_str());
  ASSERT_GT(process, 0);
  EXPECT_NE(kill(process, 0), 0);
}

TEST_F(Compare, MergesReportsOfSeveralMachines) {
  ASSERT_EQ(run("run build/one --rounds 1 --name a --output a" + std::string(only)).code, 0);
  ASSERT_EQ(run("run build/two --rounds 1 --name b --output b --only sum").code, 0);
  auto const outcome = run("merge a/compare.json b/compare.json --output both");
  EXPECT_EQ(outcome.code, 0) << outcome.errors;
  EXPECT_TRUE(contains(outcome.output,
                       "b (quick set) has not measured 2 rows that others have, such as x+=3/256."))
      << outcome.output;
  EXPECT_EQ(compared("both")["machines"].size(), 2u);
  auto const again = run("merge both/compare.json b/compare.json --output again");
  EXPECT_EQ(again.code, 3);
  EXPECT_TRUE(contains(again.errors, "b/compare.json holds the measurement of b of "))
      << again.errors;
  auto const over = run("merge a/compare.json b/compare.json --output a");
  EXPECT_EQ(over.code, 2) << over.errors;
  EXPECT_EQ(lines_in(over.errors), 1);
  EXPECT_EQ(compared("a")["machines"].size(), 1u);
}

TEST_F(Compare, WhatFailsIsNamedAndTheOthersAreKept) {
  write("build/two/fail", "x+=3/1024");
  write("bin/packages", "numpy\njax\n");
  write("bin/fail_numpy", "x+=3/256");
  auto const outcome = run("run build/one build/two --rounds 2" + std::string(only));
  EXPECT_EQ(outcome.code, 1);
  for (char const* const line : {"two, x+=3/1024 failed: array_table_bench was ended by signal 11",
                                 "numpy, x+=3/256 failed: table_numpy.py was ended by signal 11"})
    EXPECT_TRUE(contains(outcome.errors, line)) << outcome.errors;
  EXPECT_EQ(lines_in(outcome.errors), 3);
  auto const json = compared();
  EXPECT_EQ(json["rows"].size(), 5u + 1 + 2);
  for (auto const& row : json["rows"]) EXPECT_EQ(row["rounds"].size(), 2u) << row;
}

TEST_F(Compare, RowsThatNeedTooMuchAreLeftOut) {
  write("build/one/short", "x+=3/256");
  write("bin/packages", "numpy\n");
  write("bin/slow_numpy", "x+=3/1024");
  auto const outcome = run("run build/one --rounds 1" + std::string(only));
  EXPECT_EQ(outcome.code, 0) << outcome.errors;
  for (char const* const line :
       {"- one, x+=3/256: it needs 9 GB\n", "- numpy, x+=3/1024: it needs more time\n"})
    EXPECT_TRUE(contains(markdown(), line)) << markdown();
}

TEST_F(Compare, BuildsThatCantRunAreNamed) {
  write("build/two/broken", "");
  auto const broken = run("run build/one build/two --rounds 1 --only sum");
  EXPECT_EQ(broken.code, 1);
  EXPECT_TRUE(contains(broken.errors,
                       "two, sum/256 failed: array_table_bench ended with code 1: no device"))
      << broken.errors;
  EXPECT_EQ(compared()["rows"].size(), 1u);
  // coir-info goes on with the cores where it finds no device; benchmarks don't.
  write_script(info_of("two"),
               "#!/bin/sh\necho '{\"backends\": [\"Cuda\", \"OpenMP\"], \"default_backend\": "
               "\"OpenMP\", \"devices\": []}'\n");
  auto const without_device = run("run build/one build/two --rounds 1 --only sum");
  EXPECT_EQ(without_device.code, 1);
  EXPECT_TRUE(contains(without_device.errors, "build/two/apps/info/coir-info found no Cuda device"))
      << without_device.errors;
  fs::remove_all(folder / "compare");
  write_script(info_of("two"), "#!/bin/sh\necho hello\n");
  expect_failure(6, "run build/two",
                 {"no build can run here: build/two/apps/info/coir-info printed no JSON"});
  expect_failure(3, "run build/one --only fft --rounds 1",
                 {"nothing was measured: one, fft: build/one/bench/fft/fft_fft_bench isn't built"});
  fs::remove_all(folder / "build/two/bench");
  expect_failures(3, {{"run build/two", {"build/two is no build with coir-info and benchmarks"}},
                      {"run build/one build/cuda",
                       {"build/cuda isn't there; this builds it: cmake --preset cuda && cmake "
                        "--build build/cuda --target compared (or scripts/compare.sh cuda)"}}});
}

TEST_F(Compare, PeersAreThoseThatPythonHas) {
  write("bin/packages", "jax\ntorch\n");
  EXPECT_EQ(run("run build/one --rounds 1 --only x+=3").code, 0);
  ASSERT_EQ(compared()["machines"][0]["builds"].size(), 3u);
  EXPECT_EQ(compared()["machines"][0]["builds"][1]["name"], "jax");
  EXPECT_EQ(compared()["machines"][0]["builds"][2]["name"], "torch");
  write("bin/packages", "");
  auto const without = run("run build/one --rounds 1 --only x+=3");
  EXPECT_EQ(without.code, 0) << without.errors;
  EXPECT_TRUE(contains(without.output, "\nNo peers: python3 has none of numpy, numba, jax, "))
      << without.output;
  fs::remove_all(folder / "compare");
  expect_failure(6, "run build/one --peers numpy",
                 {"the peer numpy can't run, its script ended with code 1: "});
  write_script(folder / "bin/python3", "#!/bin/sh\necho '{\"version\": 3}'\n");
  expect_failure(6, "run build/one --peers numpy", {"its script didn't say what it is"});
}

TEST_F(Compare, WrongUseIsOneLine) {
  expect_failures(2, {{"run build/one build/one/", {"each build is named once"}},
                      {"run build/one --only nothing", {"--only must be a work of the quick set"}},
                      {"run build/one --name ''", {"--name must be 1 to 60 characters"}},
                      {"run build/one --peers numpy,pandas",
                       {"--peers must be auto, none or", "'numpy,pandas'"}},
                      {"run ''", {"a build is a folder such as build/openmp, not ''"}}});
  for (std::string const arguments : {"", "rum build/one", "run", "merge", "show"}) {
    auto const outcome = run(arguments);
    EXPECT_EQ(outcome.code, 2) << arguments;
    expect_error_line(outcome.errors);
  }
  write("a.json", "{\"application\": \"coir-compare\", \"format\": 1, \"mach");
  for (std::string const arguments : {"show a.json", "merge a.json", "show b.json", "show build"}) {
    auto const outcome = run(arguments);
    EXPECT_EQ(outcome.code, 3) << arguments;
    expect_error_line(outcome.errors);
  }
}
