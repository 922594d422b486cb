// What coir-compare reads, joins and presents. compare_test.cpp runs the application.

#include <compare/analysis.hpp>
#include <compare/benchmark_output.hpp>
#include <compare/comparison.hpp>
#include <compare/power_meter.hpp>
#include <compare/present.hpp>
#include <compare/work_set.hpp>

#include <info/processor_energy.hpp>
#include <support/command.hpp>

#include <coir/core/errors.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <regex>
#include <set>
#include <thread>

namespace {

using namespace coir::apps::compare;

constexpr char whole[] = R"(warning: {not JSON
{
  "context": {"backend": "OpenMP", "caches": [{"size": 1}]},
  "benchmarks": [
    {"name": "sum/256/manual_time", "run_name": "sum/256/manual_time", "run_type": "iteration", "real_time": 5.0,
     "time_unit": "ms", "bytes/s": 8e9, "seconds": 1e-6},
    {"name": "f<a>{\"}/3", "run_name": "f", "run_type": "iteration", "real_time": 2.5, "time_unit": "us"},
    {"name": "f_mean", "run_name": "f", "run_type": "aggregate", "real_time": 2.5, "time_unit": "us"},
    {"name": "g/1", "run_name": "g/1", "run_type": "iteration", "error_occurred": true, "error_message": "too \\ odd"}
  ]
})";

/// A comparison of two machines: seconds of one work at five sizes, in two rounds that agree.
Comparison two_machines() {
  auto const machine = [](char const* name, double copy) {
    Build build;
    build.name = "openmp";
    build.backend = "OpenMP";
    build.device = "a | CPU";
    build.limits["copy_bytes_per_second"] = copy;
    return Machine{name, "quick", 3, std::string("2026-01-01T00:00:0") + name[0] + "Z", {build}};
  };
  Comparison comparison;
  comparison.machines = {machine("1a", 1e9), machine("2b", 1e10)};
  comparison.works = {{"sum", "sum(x)", "Arrays", "cells", "copy"}};
  double const seconds[2][5] = {{1e-6, 4e-6, 1.6e-5, 6.4e-5, 2.56e-4},
                                {1e-5, 1e-5, 1e-5, 1e-5, 1e-5}};
  double const sizes[] = {100, 400, 1600, 6400, 25600};
  for (int m = 0; m < 2; ++m)
    for (int n = 0; n < 5; ++n)
      comparison.rows.push_back({comparison.machines[m].name,
                                 "openmp",
                                 "sum",
                                 std::to_string(int(sizes[n])),
                                 sizes[n],
                                 seconds[m][n],
                                 {seconds[m][n], seconds[m][n]},
                                 8 * sizes[n],
                                 {},
                                 {}});
  comparison.left_out = {{"1a", "openmp", "fft", "", "it isn't built", false}};
  return comparison;
}

std::string problem_with(std::string const& text) {
  try {
    from_json(text, "a.json");
  } catch (coir::InputError const& error) {
    return error.what();
  }
  return "none";
}

/// The text of a report with one piece replaced.
std::string report_with(std::string const& from, std::string const& to) {
  std::string text = coir::apps::report_text(to_json(two_machines()));
  auto const at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

int count(std::string const& text, std::string const& part) {
  int times = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++times;
  return times;
}

/// What isn't XML about a page, as far as pages here need it: tags nest, attributes are quoted, and
/// < and & don't stand alone. Empty if it is.
std::string fault_in(std::string const& page) {
  static std::regex const tag(
      R"(<(/?)([a-zA-Z][a-zA-Z0-9]*)((?:\s+[a-zA-Z][a-zA-Z0-9:-]*="[^"<]*")*)\s*(/?)>)");
  static std::regex const entity(R"(&(amp|lt|gt|quot|#[0-9]+);)");
  std::vector<std::string> open;
  std::string const start = "<!DOCTYPE html>";
  if (!page.starts_with(start)) return "no doctype";
  auto at = page.begin() + static_cast<std::ptrdiff_t>(start.size());
  std::smatch match;
  auto const only_here = std::regex_constants::match_continuous;
  for (; at != page.end(); ++at) {
    std::string const place = std::string(at, std::min(at + 60, page.end()));
    if (static_cast<unsigned char>(*at) < ' ' && *at != '\n')
      return "control character at " + place;
    if (*at == '&' && !std::regex_search(at, page.end(), match, entity, only_here)) return place;
    if (*at != '<') continue;
    if (!std::regex_search(at, page.end(), match, tag, only_here)) return place;
    if (match.length(1) > 0) {
      if (open.empty() || open.back() != match[2]) return "not open: " + place;
      open.pop_back();
    } else if (match.length(4) == 0) {
      open.push_back(match[2]);
    }
    at += match.length() - 1;
  }
  return open.empty() ? "" : "never closed: " + open.back();
}

}  // namespace

TEST(BenchmarkOutput, HasRowsInSecondsOfOneCall) {
  auto const output = read_benchmark_output(whole);
  EXPECT_TRUE(output.has_context);
  EXPECT_EQ(output.context["backend"], "OpenMP");
  ASSERT_EQ(output.rows.size(), 3u);
  EXPECT_EQ(output.rows[0].name, "sum/256");
  EXPECT_EQ(output.rows[0].seconds, 1e-6);  // the counter, not the time of an iteration
  EXPECT_EQ(output.rows[0].counters.at("bytes/s"), 8e9);
  EXPECT_EQ(output.rows[1].name, "f<a>{\"}/3");
  EXPECT_DOUBLE_EQ(output.rows[1].seconds, 2.5e-6);
  EXPECT_EQ(output.rows[2].error, "too \\ odd");
}

TEST(BenchmarkOutput, WhateverWasPrintedGivesTheRowsThatAreWhole) {
  std::string const text = whole;
  std::size_t most = 0;
  for (std::size_t length = 0; length <= text.size(); ++length) {
    std::size_t const rows = read_benchmark_output(text.substr(0, length)).rows.size();
    EXPECT_GE(rows, most);
    most = rows;
  }
  EXPECT_EQ(most, 3u);
  EXPECT_FALSE(read_benchmark_output("error: no device").has_context);
  EXPECT_FALSE(read_benchmark_output("{\"context\": {\"backend\": ").has_context);
}

TEST(BenchmarkOutput, FilterMatchesTheNamesAndNothingElse) {
  std::vector<std::string> const names{"x+=3/256", "f<a, b::c>/400/266", "y (z)^2|[q]{1}\\$/1"};
  std::regex const filter(filter_for(names));
  for (auto const& name : names) {
    EXPECT_TRUE(std::regex_search(name + "/manual_time", filter)) << name;
    EXPECT_TRUE(std::regex_search(name, filter)) << name;
    EXPECT_FALSE(std::regex_search(name + "0/manual_time", filter)) << name;
    EXPECT_FALSE(std::regex_search("a" + name, filter)) << name;
  }
  EXPECT_FALSE(std::regex_search("xx=3/256", filter));
}

TEST(WorkSet, NamesAreUniqueAndSizesAreRead) {
  auto const quick = works_of(SetName::quick), full = works_of(SetName::full);
  EXPECT_GT(full.size(), quick.size());
  std::set<std::string> names, rows;
  for (auto const& work : full) {
    EXPECT_TRUE(names.insert(work.name).second) << work.name;
    for (auto const& numbers : work.quick) {
      for (auto const& name : row_names(work, numbers))
        EXPECT_TRUE(rows.insert(work.program + " " + name).second) << name;
      EXPECT_GT(size_of(work.size_from, numbers), 0);
    }
  }
  EXPECT_EQ(size_of(SizeFrom::first, "64/2"), 64);
  EXPECT_EQ(size_of(SizeFrom::square, "64"), 4096);
  EXPECT_EQ(size_of(SizeFrom::cube, "64/2"), 262144);
  EXPECT_EQ(size_of(SizeFrom::product, "400/266"), 106400);
  EXPECT_EQ(works_of(SetName::quick, {"selu", "fft"}).size(), 2u);
  EXPECT_EQ(works_of(SetName::full, {"fft"}).size(), 3u);  // and fft,back, and fft,double
  EXPECT_THROW(works_of(SetName::quick, {"su"}), coir::PreconditionError);
}

/// Two rounds at each size, which agree.
Curve curve(std::vector<std::pair<double, double>> const& points) {
  Curve all;
  for (auto const& [size, seconds] : points) all.push_back({size, {seconds, seconds}});
  return all;
}

void expect_overtaking(Overtaking const& one, Overtaking::Kind kind, double low, double high) {
  EXPECT_EQ(one.kind, kind);
  EXPECT_EQ(one.low, low);
  EXPECT_EQ(one.high, high);
}

TEST(Overtaking, IsNotToldWhereRoundsDiffer) {
  Curve const first = curve({{1, 1}, {4, 4}, {16, 16}});
  Curve noisy = curve({{1, 5}, {4, 5}, {16, 5}});
  noisy[1].rounds = {3, 5};
  auto const amid = overtaking(first, noisy, true);
  expect_overtaking(amid, Overtaking::unclear, 4, 4);
  EXPECT_EQ(amid.is_ahead, std::optional(true));
  noisy = curve({{1, 5}, {4, 5}, {16, 5}});
  noisy[2].rounds = {5, 20};
  auto const at_the_end = overtaking(first, noisy, true);
  expect_overtaking(at_the_end, Overtaking::unclear, 16, 16);
  EXPECT_FALSE(at_the_end.is_ahead.has_value());
  noisy = curve({{1, 0.5}, {4, 0.5}, {16, 0.5}});
  noisy[0].rounds = {0.5, 2};
  noisy[1].rounds = {0.5, 5};
  expect_overtaking(overtaking(first, noisy, true), Overtaking::unclear, 1, 4);
}

TEST(Overtaking, RoundsInTurnsAreComparedInPairs) {
  // The whole machine is twice as slow in the second round.
  Curve const first{{1, {1, 2}}}, other{{1, {0.9, 1.8}}};
  EXPECT_EQ(overtaking(first, other, true).kind, Overtaking::always);
  EXPECT_EQ(overtaking(first, other, false).kind, Overtaking::unclear);
  EXPECT_EQ(overtaking(first, {{1, {0.9, 0.8, 0.7}}}, true).kind,
            Overtaking::always);  // other rounds
}

TEST(Overtaking, OfOneThatIsAlwaysOrNeverAhead) {
  auto const slow = curve({{1, 2}, {4, 2}}), fast = curve({{1, 1}, {4, 1}});
  EXPECT_EQ(overtaking(slow, fast, true).kind, Overtaking::always);
  EXPECT_EQ(overtaking(fast, slow, true).kind, Overtaking::never);
  EXPECT_EQ(overtaking(fast, fast, true).kind, Overtaking::never);  // as fast isn't faster
  EXPECT_EQ(overtaking(fast, {}, true).kind, Overtaking::unknown);
  EXPECT_EQ(overtaking(fast, curve({{2, 1}}), true).kind,
            Overtaking::unknown);  // no size in common
  EXPECT_EQ(overtaking(fast, {{1, {3}}}, true).kind, Overtaking::once);
}

TEST(Overtaking, OfSeveralCrossingsIsTheLast) {
  auto const one = curve({{1, 1}, {4, 1}, {16, 1}, {64, 1}});
  auto const other = curve({{1, 0.5}, {4, 2}, {16, 0.5}, {64, 0.5}, {256, 9}});  // 256 isn't common
  expect_overtaking(overtaking(one, other, true), Overtaking::from, 4, 16);
}

TEST(WorkSet, SizesAreAtMostFourTimesApart) {
  for (SetName const set : {SetName::quick, SetName::full})
    for (auto const& work : works_of(set)) {
      std::vector<double> sizes;
      for (auto const& numbers : work.quick) sizes.push_back(size_of(work.size_from, numbers));
      std::sort(sizes.begin(), sizes.end());
      for (std::size_t n = 1; n < sizes.size(); ++n)
        EXPECT_LE(sizes[n], 4 * sizes[n - 1]) << work.name;
    }
}

TEST(WorkSet, ItsProgramsAreThoseThatAreBuiltForIt) {
  std::set<std::string> used, built;
  for (auto const& work : works_of(SetName::full)) used.insert(work.program);
  std::regex const compared(R"(coir_add_bench\((\w+) (\w+) COMPARED )");
  for (auto const& folder : std::filesystem::directory_iterator(COIR_BENCH)) {
    std::string const text = coir::testing::read_text(folder.path() / "CMakeLists.txt");
    for (std::sregex_iterator match(text.begin(), text.end(), compared), end; match != end; ++match)
      built.insert(match->str(1) + "/" + match->str(2));
  }
  EXPECT_EQ(used, built);
}

TEST(Analysis, PutsMachinesBesideEachOther) {
  auto const comparison = two_machines();
  auto const analysis = analyse(comparison);
  ASSERT_EQ(analysis.contestants.size(), 2u);
  EXPECT_EQ(analysis.contestants[1].label, "2b: openmp");
  ASSERT_EQ(analysis.panels.size(), 1u);
  auto const& panel = analysis.panels[0];
  ASSERT_EQ(panel.lines.size(), 5u);
  EXPECT_NEAR(*panel.lines[2].points[0]->share, 12800 / 1e9 / 1.6e-5, 1e-12);
  EXPECT_NEAR(*speed_up(panel.lines[4], 1), 25.6, 1e-9);
  expect_overtaking(panel.overtakings[1], Overtaking::from, 400, 1600);
  EXPECT_TRUE(analysis.notes.empty());
}

/// One machine with a last cache of a megabyte, and a row of so many bytes in two rounds.
Comparison one_row(double bytes, std::vector<double> rounds, std::vector<double> limits) {
  Comparison comparison = two_machines();
  comparison.machines.pop_back();
  comparison.machines[0].builds[0].cache = 1e6;
  double const seconds = rounds.front();
  comparison.rows = {{"1a",
                      "openmp",
                      "sum",
                      "100",
                      100,
                      seconds,
                      std::move(rounds),
                      bytes,
                      {},
                      {},
                      std::move(limits)}};
  return comparison;
}

TEST(Analysis, SharesAreOfTheLimitOfTheSameRound) {
  // Memory is half as fast in the second and third round, and so is the row.
  auto const comparison = one_row(8e6, {0.01, 0.02, 0.02}, {1e9, 0.5e9, 0.5e9});
  auto const analysis = analyse(comparison);
  auto const& point = *analysis.panels[0].lines[0].points[0];
  EXPECT_NEAR(*point.share, 0.8, 1e-12);
  EXPECT_NEAR(*point.limit_seconds, 0.016, 1e-12);  // by the median of the limits
  EXPECT_EQ(spread_of(*point.row), 2);
}

TEST(Analysis, ARowExceedsItsLimitOnlyInACache) {
  auto const point_of = [](Comparison const& comparison) {
    return *analyse(comparison).panels[0].lines[0].points[0];
  };
  auto const beyond = one_row(8e6, {0.004, 0.004}, {1e9, 1e9});
  EXPECT_FALSE(point_of(beyond).in_cache);
  EXPECT_EQ(point_of(beyond).share, 1);
  EXPECT_NEAR(point_of(beyond).beyond, 2, 1e-12);
  EXPECT_NE(markdown_of(beyond).find("1 row moved bytes faster than the limit that was measured "
                                     "beforehand, by up to 2.00 times"),
            std::string::npos)
      << markdown_of(beyond);
  EXPECT_EQ(markdown_of(beyond).find("200 %"), std::string::npos);

  auto const cached = one_row(3.9e6, {0.00195, 0.00195}, {1e9, 1e9});
  EXPECT_TRUE(point_of(cached).in_cache);
  EXPECT_NEAR(*point_of(cached).share, 2, 1e-12);
  EXPECT_NE(markdown_of(cached).find("200 %, cached"), std::string::npos);

  auto several_sweeps = beyond;
  several_sweeps.works[0].stays_in_cache = true;
  EXPECT_TRUE(point_of(several_sweeps).in_cache);
  auto link = one_row(1e3, {1e-6, 1e-6}, {0.5e9, 0.5e9});  // no cache holds what goes to a device
  link.works[0].limit = "to_device";
  EXPECT_EQ(point_of(link).share, 1);
}

TEST(Findings, SayWhetherRoundsAgree) {
  auto comparison = two_machines();
  auto lines = findings(analyse(comparison));
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_EQ(lines[0],
            "Beside 1a: openmp, at the largest sizes: 2b: openmp is 25.6 times as fast in 1 work.");
  EXPECT_EQ(lines[1], "Over all sizes: 2b: openmp is faster from some size on in 1 work.");
  EXPECT_TRUE(lines[2].starts_with("The rounds agree: ")) << lines[2];
  comparison.rows[3].rounds = {6.4e-5, 13.9 * 6.4e-5};
  lines = findings(analyse(comparison));
  EXPECT_TRUE(lines[2].starts_with(
      "The machine was busy: in 1 of 10 rows the slowest round took more than 1.3 times as "
      "long as the fastest, up to 13.9 times (openmp, sum/6400)."))
      << lines[2];
  EXPECT_NE(page_of(comparison).find("The machine was busy: in 1 of 10 rows"), std::string::npos);
  EXPECT_NE(markdown_of(comparison).find(" 13.9 ! "), std::string::npos) << markdown_of(comparison);
  for (auto& row : comparison.rows) row.rounds.resize(1);
  lines = findings(analyse(comparison));
  EXPECT_TRUE(lines[2].starts_with("Every row was measured in one round")) << lines[2];
}

TEST(Findings, GiveTheMiddleOfTwoWorks) {
  auto comparison = two_machines();
  comparison.works.push_back(comparison.works.front());
  comparison.works.back().name = "twin";
  std::size_t const rows = comparison.rows.size();
  for (std::size_t n = 0; n < rows; ++n) {
    auto row = comparison.rows[n];
    row.work = "twin";
    if (row.machine == "2b") row.seconds /= 3;
    comparison.rows.push_back(row);
  }
  EXPECT_EQ(findings(analyse(comparison))[0],
            "Beside 1a: openmp, at the largest sizes: 2b: openmp is 25.6 to 76.8 times as fast "
            "(median of 2 works: 51.2).");
}

TEST(Findings, OfOneContestantAreItsShares) {
  auto const comparison = one_row(8e6, {0.1, 0.1}, {1e9, 1e9});
  auto const lines = findings(analyse(comparison));
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_TRUE(lines[0].starts_with("At their largest sizes 0 of 1 work")) << lines[0];
  EXPECT_TRUE(lines[1].starts_with("Farthest from it are sum(x) (8 %)")) << lines[1];
}

TEST(Findings, NameQuotasAndOtherPrograms) {
  auto comparison = two_machines();
  EXPECT_TRUE(doubts(analyse(comparison)).empty());
  comparison.machines[0].processors_of_others = 0.8;
  comparison.machines[1].processors_of_others = 0.01;
  comparison.machines[1].builds[0].threads = 64;
  comparison.machines[1].builds[0].info = {{"host", {{"processor_quota", 1.5}}}};
  auto const lines = doubts(analyse(comparison));
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[0], "1a: other programs kept 0.8 processors at work meanwhile.");
  EXPECT_EQ(lines[1], "2b: openmp: a quota of its container grants 1.5 processors to 64 threads.");
  EXPECT_EQ(count(page_of(comparison), "class=\"lead doubt\""), 2);
}

TEST(Analysis, NamesWhatOneMachineHasNotMeasured) {
  auto comparison = two_machines();
  comparison.rows.erase(comparison.rows.begin());
  auto const analysis = analyse(comparison);
  EXPECT_FALSE(analysis.panels[0].lines[0].points[0].has_value());
  EXPECT_TRUE(analysis.panels[0].lines[0].points[1].has_value());
  ASSERT_EQ(analysis.notes.size(), 1u);
  EXPECT_EQ(analysis.notes[0],
            "1a (quick set) has not measured 1 row that others have, such as sum/100.");
}

TEST(Report, ReadsBackAsItWasWritten) {
  auto const text = coir::apps::report_text(to_json(two_machines()));
  auto const again = from_json(text, "a.json");
  EXPECT_EQ(coir::apps::report_text(to_json(again)), text);
  EXPECT_EQ(again.rows.size(), 10u);
  EXPECT_EQ(again.left_out.size(), 1u);
}

TEST(Report, ThatIsNoneOrDamagedIsRefusedInOneLine) {
  EXPECT_EQ(problem_with(report_with("\"format\": 1", "\"format\": 2")),
            "a.json has format 2 (of coir-compare 0.1.0), and coir-compare 0.1.0 reads format 1: "
            "make all "
            "reports with one version");
  EXPECT_NE(problem_with("[1, 2").find("a.json is no JSON"), std::string::npos);
  EXPECT_NE(problem_with("{}").find("a.json is no report of coir-compare"), std::string::npos);
  EXPECT_NE(problem_with("7").find("a.json is no report of coir-compare"), std::string::npos);
  for (auto const& [from, to, place] :
       {std::array{"\"seconds\": 1e-06", "\"seconds\": -1", "rows[0].seconds"},
        std::array{"\"seconds\": 1e-06", "\"seconds\": 1e-31",
                   "must be a number from 1e-30 to 1e30"},
        std::array{"\"size\": 100.0", "\"size\": \"100\"", "rows[0].size"},
        std::array{"\"size\": 100.0", "\"size\": 0.5", "rows[0].size must be 1 or more"},
        std::array{"\"limits_bytes_per_second\": []", "\"limits_bytes_per_second\": [1e9]",
                   "rows[0].limits_bytes_per_second must have as many numbers as rounds"},
        std::array{"\"builds\": [", "\"builds\": 3, \"x\": [", "machines[0].builds"},
        std::array{"\"title\"", "\"titel\"", "works[0].title"}}) {
    auto const problem = problem_with(report_with(from, to));
    EXPECT_NE(problem.find("damaged report"), std::string::npos) << problem;
    EXPECT_NE(problem.find(place), std::string::npos) << problem;
    EXPECT_EQ(problem.find('\n'), std::string::npos) << problem;
  }
}

TEST(Report, NestedWithoutEndIsRefused) {
  for (std::string const& end : {std::string(200'000, ']'), std::string()}) {
    auto const problem =
        problem_with(report_with("\"info\": null", "\"info\": " + std::string(200'000, '[') + end));
    EXPECT_EQ(
        problem,
        "a.json nests deeper than 100 levels: name a compare.json that coir-compare run wrote");
  }
  EXPECT_EQ(problem_with(report_with("\"info\": null", "\"info\": [[[[{\"a\": [[1]]}]]]]")),
            "none");
}

TEST(Merge, TellsMachinesOfOneNameApartAndRefusesTheSameMeasurement) {
  Comparison const all = two_machines();
  auto other = all;
  for (auto& machine : other.machines) machine.created += "later";
  std::vector<std::string> notes;
  auto const merged = merge({all, other}, {"a.json", "b.json"}, notes);
  ASSERT_EQ(merged.machines.size(), 4u);
  EXPECT_EQ(merged.machines[2].name, "1a (2)");
  EXPECT_EQ(merged.rows.back().machine, "2b (2)");
  EXPECT_EQ(merged.left_out.back().machine, "1a (2)");
  EXPECT_EQ(merged.rows.size(), 20u);
  ASSERT_EQ(notes.size(), 2u);
  EXPECT_NE(notes[0].find("the machine 1a of b.json is called 1a (2) here"), std::string::npos);
  for (auto const& again : {all, other})  // the one that was renamed is known, too
    EXPECT_THROW(merge({merged, again}, {"ab.json", "b.json"}, notes), coir::InputError);
}

TEST(Merge, OfSetsKeepsGroupsTogetherAndRefusesWorksThatDiffer) {
  Comparison a = two_machines(), b = two_machines();
  a.works.push_back({"fft", "FFT", "Transforms", "cells", "none"});
  b.works.push_back({"max", "max(x)", "Arrays", "cells", "copy"});
  for (auto& machine : b.machines) machine.created += "later";
  std::vector<std::string> notes;
  auto const merged = merge({a, b}, {"a.json", "b.json"}, notes);
  std::vector<std::string> names;
  for (auto const& work : merged.works) names.push_back(work.name);
  EXPECT_EQ(names, (std::vector<std::string>{"sum", "max", "fft"}));
  b.works[0].unit = "rows";
  EXPECT_THROW(merge({a, b}, {"a.json", "b.json"}, notes), coir::InputError);
}

TEST(Markdown, AlignsColumnsAndKeepsCellsApart) {
  EXPECT_EQ(markdown_table({{"work", "time"}, {{"a|b", "1 s"}, {"longer\nname", "\xc2\xb5"}}}),
            "| work        | time |\n"
            "| ----------- | ---: |\n"
            "| a\\|b        |  1 s |\n"
            "| longer name |    \xc2\xb5 |\n");
  auto const text = markdown_of(two_machines());
  EXPECT_NE(text.find("a \\| CPU"), std::string::npos);
  EXPECT_NE(text.find("from between 400 and 1600 cells on"), std::string::npos) << text;
  EXPECT_NE(text.find("1a: openmp, fft: it isn't built"), std::string::npos);
}

TEST(Energy, OfProcessorsIsThatOfThePackagesSinceTheStart) {
  coir::testing::TemporaryFolder const folder;
  auto const write = [&](std::string const& zone, std::string const& file,
                         std::string const& text) {
    std::filesystem::create_directory(folder / zone);
    std::ofstream(folder / zone / file) << text << '\n';
  };
  for (auto const& [zone, name] :
       {std::pair{"intel-rapl:0", "package-0"}, std::pair{"intel-rapl:1", "package-1"},
        std::pair{"intel-rapl:0:0", "dram"}}) {
    write(zone, "name", name);
    write(zone, "energy_uj", "9000000");
    write(zone, "max_energy_range_uj", "10000000");
  }
  coir::apps::ProcessorEnergy counters(folder.path());
  EXPECT_EQ(counters.joules(), 0.0);
  write("intel-rapl:0", "energy_uj", "9500000");
  write("intel-rapl:0:0", "energy_uj", "9700000");
  EXPECT_NEAR(*counters.joules(), 0.5, 1e-9);
  write("intel-rapl:1", "energy_uj", "1000000");  // it began anew: 2 J
  EXPECT_NEAR(*counters.joules(), 2.5, 1e-9);
  EXPECT_NEAR(*counters.joules(), 2.5, 1e-9);
  write("intel-rapl:1", "energy_uj", "");
  EXPECT_FALSE(counters.joules().has_value());
}

TEST(Energy, OfARowIsByItsMeanPower) {
  double joules = 0;
  PowerMeter power([&] { return joules; });
  power.rows_ended(1);  // before it began: passed over
  auto const start = std::chrono::steady_clock::now();
  power.begin();
  std::this_thread::sleep_for(std::chrono::milliseconds(250));
  joules = 5;
  power.rows_ended(1);
  double const seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  ASSERT_TRUE(power.watts(0).has_value());
  EXPECT_GE(*power.watts(0), 5 / seconds);
  EXPECT_LE(*power.watts(0), 5 / 0.25);  // sleeping takes no less
  power.rows_ended(1);                   // at once: nothing that a counter could tell
  power.rows_ended(2);
  EXPECT_FALSE(power.watts(1).has_value());
  EXPECT_FALSE(power.watts(3).has_value());
  EXPECT_FALSE(power.watts(4).has_value());
}

TEST(Page, IsWellFormedAndHasAPlotForEachWork) {
  auto comparison = two_machines();
  comparison.works[0].title = "a < b & \"c\" \x01 </svg>";
  // Or else <float> would be a tag that nobody sees, and a backslash before a bar end the cell of
  // Markdown.
  comparison.left_out[0].why = "no row bench_red_black<float>, <script>, [a](b), `*";
  EXPECT_NE(
      markdown_of(comparison).find("bench_red_black\\<float>, \\<script>, \\[a](b), \\`\\*\n"),
      std::string::npos);
  comparison.works.push_back({"one", "One size", "Others", "cells", "none"});
  comparison.rows.push_back({"1a", "openmp", "one", "5", 5, 1e-3, {1e-3}, {}, 2e9, 3.5});
  auto const page = page_of(comparison);
  EXPECT_EQ(fault_in(page), "");
  EXPECT_EQ(count(page, "role=\"img\""),
            2);  // one work has one size alone; speed-ups are a picture of their own
  EXPECT_EQ(count(page, "class=\"limit\" stroke=\"var(--c"), 2);
  EXPECT_EQ(count(page, "2b: openmp is faster from between 400 and 1600 cells on"), 1);
  EXPECT_EQ(count(page, "class=\"band\""), 1);
  EXPECT_EQ(count(page, "2.00 Gflop/s"), 1);
  EXPECT_EQ(count(page, "3.50 J"), 1);
  EXPECT_EQ(count(page, "10.0 &#181;s"), 5 + 1);  // the table, and the overview
  EXPECT_EQ(count(page, "http"), 1);              // the name of XHTML: nothing is fetched
  EXPECT_EQ(page_of(comparison), page);
}

TEST(Page, OfOneMachineOrNoRowsIsWellFormed) {
  auto comparison = two_machines();
  comparison.machines.pop_back();
  comparison.rows.resize(5);
  EXPECT_EQ(fault_in(page_of(comparison)), "");
  EXPECT_EQ(count(page_of(comparison), "role=\"img\""), 1);
  comparison.rows.clear();
  EXPECT_EQ(fault_in(page_of(comparison)), "");
}
