#include "app_fixture.hpp"
#include "generated_accounting.hpp"

#include <queue/classes.hpp>
#include <queue/columns.hpp>
#include <queue/count.hpp>
#include <queue/fields.hpp>
#include <queue/forecast.hpp>
#include <queue/job.hpp>
#include <queue/reader.hpp>
#include <queue/settings.hpp>
#include <queue/statistics.hpp>
#include <queue/wait_histogram.hpp>

#include <coir/core/errors.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <utility>

namespace {

using namespace coir::apps::queue;
using namespace coir::testing;

constexpr double mib = 1024. * 1024, gib = 1024 * mib;

char const columns[] = "JobID|Partition|User|Account|Submit|Eligible|Start|State|ReqCPUS|ReqTRES\n";

/// A row of those columns: a job of January 31st that waited from noon on.
std::string row(std::string const& number, std::string const& partition, std::string const& start,
                std::string const& state = "COMPLETED") {
  return number + "|" + partition + "|ada|maths|2025-01-31T11:00:00|2025-01-31T12:00:00|" + start +
         "|" + state + "|4|cpu=4,mem=16G,node=1,billing=4,gres/gpu=2,gres/gpu:a100=2\n";
}

std::string at(std::string const& clock) { return "2025-01-31T" + clock; }

/// The text of made-up jobs.
std::string made_up(std::uint64_t seed, int jobs, bool steps) {
  Dice dice(seed);
  std::string text = coir::testing::made_up_columns;
  for (int n = 0; n < jobs; ++n)
    append_rows(text, coir::testing::made_up_job(dice, n, jobs), steps);
  return text;
}

/// A run on one text, and its report if it made one.
struct QueueRun {
  Outcome outcome;
  nlohmann::json report;
};

class Queue : public coir::testing::AppTest {
 protected:
  QueueRun run_on(std::string const& text, std::string const& arguments = "") const {
    write("jobs.txt", text);
    std::filesystem::remove(folder / "r.json");
    QueueRun done{run("jobs.txt --report r.json " + arguments), {}};
    if (std::filesystem::exists(folder / "r.json")) done.report = report();
    return done;
  }
  /// A text that must be refused.
  void expect_refused(int code, std::string const& text, std::vector<std::string> const& parts,
                      std::string const& arguments = "") const {
    write("jobs.txt", text);
    expect_failure(code, "jobs.txt " + arguments, parts);
  }
};

/// The lines named as broken for a reason.
std::vector<int> broken_lines(nlohmann::json const& report, std::string const& why) {
  std::vector<int> lines;
  for (auto const& kind : report["broken"]["kinds"])
    if (kind["why"] == why)
      for (auto const& first : kind["first"]) lines.push_back(first["line"]);
  return lines;
}

Resources resources(std::string const& text) { return parse_resources(text).value(); }

}  // namespace

// ---- fields

TEST(QueueFields, MomentsAreSecondsSince1970) {
  EXPECT_EQ(parse_moment("1970-01-01T00:00:00"), 0);
  EXPECT_EQ(parse_moment("2025-01-31T12:00:00"), 1738324800);
  EXPECT_EQ(parse_moment("2024-02-29 23:59:59"), 1709251199);
  EXPECT_EQ(parse_moment("1738324800"), 1738324800);
  EXPECT_EQ(parse_moment("2000-02-29T00:00:00"), 951782400);
  EXPECT_EQ(parse_moment("2199-12-31T23:59:59"), 7258118399);
}

TEST(QueueFields, WhatIsNoMomentIsNone) {
  for (char const* const text :
       {"", "Unknown", "2025-02-29T12:00:00", "2025-13-01T12:00:00", "2025-01-31T24:00:00",
        "2025-01-31T12:00", "2025-01-31T12:00:00x", "01/31/25-12:00:00", "2025-01-31T12:60:00",
        "-5", "99999999999999", "1969-12-31T23:59:59", "2100-02-29T00:00:00",
        "9999-12-31T23:59:59"})
    EXPECT_FALSE(parse_moment(text)) << text;
}

TEST(QueueFields, DurationsAreSlurms) {
  EXPECT_EQ(parse_duration("1-02:03:04"), 86400 + 2 * 3600 + 3 * 60 + 4);
  EXPECT_EQ(parse_duration("02:03:04"), 7384);
  EXPECT_EQ(parse_duration("03:04"), 184);
  EXPECT_EQ(parse_duration("1-02"), 86400 + 7200);
  EXPECT_EQ(parse_duration("1-02:30"), 86400 + 9000);
  for (char const* const text :
       {"", "5", "1-", "1-02:03:04:05", "a", "1:2:3x", "-1:00", "UNLIMITED", "999999-00:00:00"})
    EXPECT_FALSE(parse_duration(text)) << text;
}

TEST(QueueFields, MemoryIsOfJobsNodesOrCores) {
  auto const is = [](char const* text, double bytes, MemoryOf of) {
    auto const memory = parse_memory(text);
    ASSERT_TRUE(memory) << text;
    EXPECT_DOUBLE_EQ(memory->bytes, bytes) << text;
    EXPECT_EQ(memory->of, of) << text;
  };
  is("4000M", 4000 * mib, MemoryOf::job);
  is("4Gn", 4 * gib, MemoryOf::node);
  is("4Gc", 4 * gib, MemoryOf::core);
  is("16G", 16 * gib, MemoryOf::job);
  is("3.50G", 3.5 * gib, MemoryOf::job);
  is("3,50G", 3.5 * gib, MemoryOf::job);
  is("1T", 1024 * gib, MemoryOf::job);
  is("500", 500 * mib, MemoryOf::job);
  for (char const* const text : {"", "G", "4Q", "4GG", "-4G", "4Gx", "4."})
    EXPECT_FALSE(parse_memory(text)) << text;
}

TEST(QueueFields, TypesOfGpusRepeatTheirSum) {
  auto const all = resources("cpu=4,mem=16G,node=1,billing=4,gres/gpu=2,gres/gpu:a100=2");
  EXPECT_EQ(all.cores, 4);
  EXPECT_EQ(all.nodes, 1);
  EXPECT_EQ(all.gpus, 2);
  EXPECT_DOUBLE_EQ(all.bytes.value(), 16 * gib);
  EXPECT_EQ(resources("cpu=4,gres/gpu:a100=2,gres/gpu:h100=1").gpus, 3);
  EXPECT_EQ(resources("gres/gpu:a100=2,gres/gpu=2").gpus, 2);
  EXPECT_FALSE(resources("cpu=4,gres/gpumem=80G,gres/shard=2").gpus);
  EXPECT_DOUBLE_EQ(resources("cpu=4,mem=3,50G,node=1").bytes.value(), 3.5 * gib);
  for (char const* const text : {"cpu", "cpu=x", "mem=?", "=4", "gres/gpu=two", "cpu=4,,node=1"})
    EXPECT_FALSE(parse_resources(text)) << text;
}

TEST(QueueFields, StepsAndComponentsAreNoJobs) {
  EXPECT_EQ(kind_of_number("123"), Kind::started);
  EXPECT_EQ(kind_of_number("123_4"), Kind::started);
  EXPECT_EQ(kind_of_number("123_[5-10%2]"), Kind::started);
  EXPECT_EQ(kind_of_number("123+0"), Kind::started);
  EXPECT_EQ(kind_of_number("123+1"), Kind::component);
  for (char const* const step : {"123.batch", "123.extern", "123.0", "123_4.batch", "123+1.0"})
    EXPECT_EQ(kind_of_number(step), Kind::step) << step;
}

TEST(QueueFields, TheTasksOfAnArrayShareARow) {
  EXPECT_EQ(jobs_of_number("123"), 1);
  EXPECT_EQ(jobs_of_number("123_4"), 1);
  EXPECT_EQ(jobs_of_number("123_[0-9999]"), 10000);
  EXPECT_EQ(jobs_of_number("123_[5]"), 1);
  EXPECT_EQ(jobs_of_number("123_[0-3,7,9-11%2]"), 8);
  EXPECT_EQ(jobs_of_number("123_[1-10:3]"), 4);  // 1, 4, 7, 10
  EXPECT_EQ(jobs_of_number("123_[1-4,6,8,...]"), 6);
  for (char const* const odd :
       {"123_[]", "123_[x]", "123_[9-5]", "123_[1-4:0]", "123_[1-2", "123_[99999999999]"})
    EXPECT_EQ(jobs_of_number(odd), 1) << odd;
}

TEST(QueueFields, MemoryOfNodesAndCoresIsMultiplied) {
  Columns const with("JobID|Partition|Submit|Start|ReqCPUS|ReqMem|NNodes", "text, line 1");
  auto const bytes = [&](std::string const& memory) {
    std::string const line = "1|cpu|2025-01-31T12:00:00|2025-01-31T12:00:05|8|" + memory + "|2";
    Row row;
    EXPECT_EQ(with.split(line, row), with.size());
    Job const job = read_job(row, with, WaitFrom::eligible);
    EXPECT_EQ(job.kind, Kind::started);
    EXPECT_EQ(job.wait, 5);
    return job.bytes;
  };
  EXPECT_EQ(bytes("4Gn"), 8 * gib);
  EXPECT_EQ(bytes("4Gc"), 32 * gib);
  EXPECT_EQ(bytes("4G"), 4 * gib);
  EXPECT_EQ(bytes("0n"), std::nullopt);
}

TEST(QueueFields, HoursOfMemoryAreThoseOfTheLimitOrElapsed) {
  Columns const columns("JobID|Partition|Submit|Start|ReqMem|ReqCPUS|Timelimit|Elapsed", "here");
  auto const job_of = [&](std::string const& limit) {
    Row row;
    std::string const line =
        "1|gpu|2025-01-31T12:00:00|2025-01-31T12:00:00|16G|2|" + limit + "|01:00:00";
    columns.split(line, row);
    return read_job(row, columns, WaitFrom::submit);
  };
  EXPECT_EQ(job_of("03:00:00").memory_hours, 48);
  EXPECT_EQ(job_of("UNLIMITED").memory_hours, 16);
  EXPECT_EQ(job_of("03:00:00").core_hours, 6);
}

TEST(QueueFields, ColumnsOfOneNameAreTheFirst) {
  for (std::string const& head :
       {std::string("JobID|JobIDRaw|Partition|Submit|Start|start|Start"),
        std::string("JobIDRaw|JobID|Partition|Submit|Start|start|Start")}) {
    Columns const with(head, "text, line 1");
    Row row;
    std::string const line = head.starts_with("JobID|") ? "a|b|c|d|e|f|g" : "b|a|c|d|e|f|g";
    EXPECT_EQ(with.split(line, row), 7u);
    EXPECT_EQ(of(row, Column::job), "a") << head;
    EXPECT_EQ(of(row, Column::start), "e") << head;
  }
}

// ---- quantiles

TEST(QueueQuantiles, BinsFollowEachOtherAndHoldTheirSeconds) {
  for (int bin = 0; bin < WaitHistogram::bins; ++bin) {
    auto const first = WaitHistogram::first_second(bin), last = WaitHistogram::last_second(bin);
    EXPECT_EQ(WaitHistogram::bin_of(first), bin);
    EXPECT_EQ(WaitHistogram::bin_of(last), bin);
    EXPECT_LE(static_cast<double>(last - first) / 2,
              WaitHistogram::relative_error * static_cast<double>(first));
  }
  EXPECT_EQ(WaitHistogram::bin_of(std::int64_t{1} << 60), WaitHistogram::bins - 1);
}

// ---- forecasts

TEST(QueueForecast, LikenessNarrowsSizes) {
  Size size;
  size.cores = 8;
  size.gpus = 2;
  size.hour = 23;
  Job job;
  job.cores = 16;
  job.gpus = 1;
  job.submit = 3600;  // an hour past midnight
  EXPECT_EQ(likeness_of(job, size), 0u);
  job.submit = 12 * 3600;
  EXPECT_EQ(likeness_of(job, size), 1u);
  job.cores = 32;
  EXPECT_EQ(likeness_of(job, size), 2u);
  job.cores = 33;
  EXPECT_EQ(likeness_of(job, size), 3u);
  job.gpus = 0;
  EXPECT_EQ(likeness_of(job, size), likeness.size());
  job.gpus.reset();
  EXPECT_EQ(likeness_of(job, size), 4u);
}

TEST(QueueForecast, NeedsEnoughJobs) {
  Job job;
  job.kind = Kind::started;
  Forecaster forecaster;
  for (int n = 1; n < 19; ++n) forecaster.add(job, {});
  EXPECT_FALSE(
      forecaster.forecast(0.9));  // 19 waits have 20 places for the next, and 18 lie between
  forecaster.add(job, {});
  ASSERT_TRUE(forecaster.forecast(0.9));
  EXPECT_EQ(forecaster.forecast(0.9)->jobs, 19);
  EXPECT_FALSE(forecaster.forecast(0.95));
}

// ---- rows

TEST(QueueRows, TooManyPartitionsAreRefused) {
  QueueSettings const settings;
  std::string const heading(columns);
  Columns const with(heading.substr(0, heading.size() - 1), "text, line 1");
  Statistics statistics(settings);
  std::string text;
  for (std::size_t n = 0; n <= Statistics::most_partitions; ++n)
    text += row("1", "p" + std::to_string(n), at("12:00:10"));
  EXPECT_THROW(statistics.read(text, with, 0, 2), coir::InputError);
}

TEST(QueueRows, NamesThatNobodyGivesAreBroken) {
  QueueSettings const settings;
  Columns const with("JobID|Cluster|Partition|Submit|Start", "text, line 1");
  Statistics statistics(settings);
  std::string const times = "|" + at("12:00:00") + "|" + at("12:00:05") + "\n";
  statistics.read("1|ares|" + std::string(255, 'p') + times + "2|ares|" + std::string(256, 'p') +
                      times + "3|ares|gpu\x1B[2J" + times + "4|a\x7F|gpu" + times +
                      std::string("5|ares|g\0u", 10) + times,
                  with, 0, 2);
  EXPECT_EQ(statistics.counts().started, 1);
  EXPECT_EQ(statistics.partitions().size(), 1u);
  auto const& kinds = statistics.broken().kinds();
  EXPECT_EQ(kinds.at({Flaw::bad_value, Column::partition}).count, 3);
  EXPECT_EQ(kinds.at({Flaw::bad_value, Column::cluster}).count, 1);
}

// ---- the application

TEST_F(Queue, CountsWaitsFromEligibleToStart) {
  auto const run =
      run_on(columns + row("1", "gpu", at("12:00:30")) + row("2", "gpu", at("12:01:00")) +
             row("3", "gpu", at("13:00:00")) + row("4", "cpu", at("12:00:00")));
  EXPECT_EQ(run.outcome.code, 0) << run.outcome.errors;
  EXPECT_EQ(run.outcome.errors, "");
  EXPECT_TRUE(contains(run.outcome.output, "4 rows: 4 jobs that started")) << run.outcome.output;
  ASSERT_EQ(run.report["partitions"].size(), 2u);
  auto const& gpu = run.report["partitions"][0];
  EXPECT_EQ(gpu["name"], "gpu");
  EXPECT_EQ(gpu["waits"]["jobs"], 3);
  EXPECT_EQ(gpu["waits"]["quantiles"]["0.5"], 60);
  EXPECT_EQ(gpu["waits"]["quantiles"]["0.05"], 30);
  EXPECT_EQ(gpu["waits"]["longest"], 3600);
  EXPECT_EQ(gpu["waits"]["mean"], 1230);
  EXPECT_DOUBLE_EQ(gpu["within"]["60"], 2. / 3);
  EXPECT_EQ(gpu["by"]["gpus"][0]["class"], "2");
  EXPECT_EQ(gpu["by"]["cores"][0]["class"], "2-4");
  EXPECT_EQ(gpu["by"]["memory"][0]["class"], "16-64");
  EXPECT_EQ(gpu["by"]["hour"][0]["class"], "11");
  EXPECT_EQ(run.report["wait_from"], "eligible");
  EXPECT_EQ(run.report["first_submit"], "2025-01-31T11:00:00");
}

TEST_F(Queue, CountsWaitsFromSubmitIfAsked) {
  auto const run = run_on(columns + row("1", "gpu", at("12:00:30")), "--wait-from submit");
  EXPECT_EQ(run.report["partitions"][0]["waits"]["longest"], 3630);
  EXPECT_EQ(run.report["wait_from"], "submit");
}

TEST_F(Queue, TellsJobsStepsArraysAndThoseThatWaitApart) {
  auto const step = [](std::string const& number) {
    return number + "||||" + at("12:00:10") + "|" + at("12:00:10") + "|" + at("12:00:10") +
           "|COMPLETED|1|\n";
  };
  auto const run = run_on(
      columns + row("1", "gpu", at("12:00:10")) + step("1.batch") + step("1.extern") + step("1.0") +
      row("2_1", "gpu", at("12:00:10")) + step("2_1.batch") + row("2_2", "gpu", at("12:00:20")) +
      row("2_[3-9%2]", "gpu", "Unknown", "PENDING") + row("3", "gpu,cpu", "Unknown", "PENDING") +
      row("4", "gpu", at("12:00:40"), "RUNNING") + row("5", "gpu", "None", "CANCELLED by 1001") +
      row("6", "gpu", "", "CANCELLED") + row("7+0", "gpu", at("12:00:10")) +
      row("7+1", "gpu", at("12:00:10")) + row("8", "gpu", at("23:00:00"), "PENDING"));
  EXPECT_EQ(run.outcome.code, 0) << run.outcome.errors;
  auto const& report = run.report;
  EXPECT_EQ(report["rows"], 15);
  EXPECT_EQ(report["jobs"], 5);
  EXPECT_EQ(report["steps"], 4);
  EXPECT_EQ(report["components"], 1);
  EXPECT_EQ(report["pending"], 9);  // seven tasks of an array, and two jobs
  EXPECT_EQ(report["never_started"], 2);
  EXPECT_EQ(report["broken"]["count"], 0);
  EXPECT_EQ(report["partitions"].size(), 1u);
  EXPECT_EQ(report["partitions"][0]["running"], 1);
  EXPECT_EQ(report["partitions"][0]["waits"]["longest"], 40);
}

TEST_F(Queue, FiltersByEverything) {
  std::string const head = "JobID|Partition|Submit|Start|State|User|Account\n";
  auto const job = [](int day, std::string const& rest) {
    auto const date = "2025-01-0" + std::to_string(day) + "T";
    return std::to_string(day) + "|" + rest.substr(0, rest.find('|')) + "|" + date + "00:00:00|" +
           date + "00:00:0" + std::to_string(day) + rest.substr(rest.find('|')) + "\n";
  };
  std::string const text = head + job(1, "gpu|COMPLETED|ada|maths") +
                           job(2, "gpu|FAILED|bob|maths") + job(3, "cpu|COMPLETED|ada|bio") +
                           job(4, "cpu|CANCELLED by 7|eve|bio") + job(5, "big|TIMEOUT|eve|bio");
  auto const jobs = [&](std::string const& filters) {
    auto const run = run_on(text, filters);
    EXPECT_EQ(run.outcome.code, 0) << filters << run.outcome.errors;
    EXPECT_EQ(int(run.report["jobs"]) + int(run.report["left_out"]), 5);
    return int(run.report["jobs"]);
  };
  EXPECT_EQ(jobs(""), 5);
  EXPECT_EQ(jobs("--partition gpu"), 2);
  EXPECT_EQ(jobs("--partition gpu,big"), 3);
  EXPECT_EQ(jobs("--user ada"), 2);
  EXPECT_EQ(jobs("--user ada,eve --account bio"), 3);
  EXPECT_EQ(jobs("--state completed"), 2);
  EXPECT_EQ(jobs("--state cancelled,TIMEOUT"), 2);
  EXPECT_EQ(jobs("--from 2025-01-02 --to 2025-01-04"), 2);
  EXPECT_EQ(jobs("--from 2025-01-02T00:00:01"), 3);
}

TEST_F(Queue, BrokenRowsAreCountedAndNamed) {
  std::string const good = row("9", "gpu", at("12:00:10"));
  auto const run = run_on(columns + good +                          // line 2
                          row("1", "gpu", at("11:30:00")) +         // 3: before it was eligible
                          row("2", "gpu", "2025-02-30T12:00:00") +  // 4
                          "3|gpu|ada\n" +                           // 5
                          "4|a|b|c|d|e|f|g|h|i|j|k\n" +             // 6
                          row("x", "gpu", at("12:00:10")) +         // 7
                          row("5", "", at("12:00:10")) +            // 8
                          "6|gpu|ada|maths|?|?|?|COMPLETED|4|\n" +  // 9
                          "\n" +                                    // 10: nothing
                          good + good.substr(0, good.size() - 1));  // 11, 12
  EXPECT_EQ(run.outcome.code, 0) << run.outcome.errors;
  EXPECT_EQ(run.report["jobs"], 2);
  EXPECT_EQ(run.report["rows"], 10);
  EXPECT_EQ(run.report["broken"]["count"], 8);
  using Lines = std::vector<int>;
  EXPECT_EQ(broken_lines(run.report, "a negative wait"), Lines{3});
  EXPECT_EQ(broken_lines(run.report, "Start can't be read"), Lines{4});
  EXPECT_EQ(broken_lines(run.report, "fewer fields than columns"), Lines{5});
  EXPECT_EQ(broken_lines(run.report, "more fields than columns"), Lines{6});
  EXPECT_EQ(broken_lines(run.report, "no number of a job in JobID"), Lines{7});
  EXPECT_EQ(broken_lines(run.report, "no partition"), Lines{8});
  EXPECT_EQ(broken_lines(run.report, "Submit can't be read"), Lines{9});
  EXPECT_EQ(broken_lines(run.report, "the last line has no end"), Lines{12});
  EXPECT_TRUE(contains(run.outcome.output, "line 4: Start is '2025-02-30T12:00:00'"))
      << run.outcome.output;
  EXPECT_TRUE(contains(run.outcome.output, "line 3: Start '" + at("11:30:00") +
                                               "' is before Eligible '" + at("12:00:00") + "'"))
      << run.outcome.output;
}

TEST_F(Queue, OnlyTheFirstBrokenRowsAreNamed) {
  std::string text = columns + row("9", "gpu", at("12:00:10"));
  for (int n = 0; n < 100000; ++n) text += "broken\n";
  auto const run = run_on(text);
  EXPECT_EQ(run.report["broken"]["count"], 100000);
  EXPECT_EQ(broken_lines(run.report, "fewer fields than columns"),
            (std::vector<int>{3, 4, 5, 6, 7}));
  EXPECT_TRUE(contains(run.outcome.output, "and 99995 more")) << run.outcome.output;
}

TEST_F(Queue, ALineOfTenMegabytesIsBrokenAlone) {
  std::string const good = row("1", "gpu", at("12:00:10"));
  auto const run = run_on(columns + good + std::string(10'000'000, 'x') + "\n" + good + "short\n");
  EXPECT_EQ(run.outcome.code, 0) << run.outcome.errors;
  EXPECT_EQ(run.report["jobs"], 2);
  EXPECT_EQ(broken_lines(run.report, "a line of more than 1 MiB"), std::vector<int>{3});
  EXPECT_EQ(broken_lines(run.report, "fewer fields than columns"), std::vector<int>{5});
  EXPECT_EQ(run.report["broken"]["count"], 2);
  auto const without_end = run_on(columns + good + std::string(10'000'000, 'x'));
  EXPECT_EQ(without_end.report["jobs"], 1);
  EXPECT_EQ(without_end.report["broken"]["count"], 1);
  auto const first = run_on(std::string(10'000'000, 'x') + "\n" + columns + good);
  EXPECT_EQ(first.outcome.code, 3);
  EXPECT_TRUE(contains(first.outcome.errors, "1 MiB")) << first.outcome.errors;
}

// Of one text joined from two, by sacct -p with a separator at the end and a byte order mark of
// Windows; and of one with semicolons, seconds since 1970 and a comma in numbers.
TEST_F(Queue, TextsOfSeveralClustersHaveTheirOwnColumns) {
  std::string const names =
      "\xEF\xBB\xBF"
      "JobIDRaw|Cluster|Partition|Submit|Start|\r\n";
  auto const line = [](std::string const& cluster, std::string const& start) {
    return "1|" + cluster + "|gpu|" + at("12:00:00") + "|" + at(start) + "|\r\n";
  };
  write("a.txt",
        names + line("ares", "12:00:05") + names + line("zeus", "12:00:07") + "broken\r\n");
  write("b.txt",
        "JOBID;CLUSTER;PARTITION;SUBMIT;START;REQMEM\n1;ares;cpu;1738324800;1738324809;3,50G\n");
  run_quietly("a.txt b.txt --report r.json");
  auto const json = report();
  EXPECT_EQ(json["jobs"], 3);
  EXPECT_EQ(json["partitions"].size(), 3u);
  for (auto const& partition : json["partitions"]) {
    std::string const name = partition["name"];
    EXPECT_EQ(partition["waits"]["longest"], name == "ares/gpu" ? 5 : name == "zeus/gpu" ? 7 : 9);
  }
  EXPECT_EQ(broken_lines(json, "fewer fields than columns"), std::vector<int>{5});
  run_quietly("a.txt --partition zeus/gpu --report r.json");
  EXPECT_EQ(report()["jobs"], 1);
  // Columns in another order, and fewer of them.
  for (std::string const other :
       {"Partition|JobID|User|Account|Submit|Eligible|Start|State|ReqCPUS|ReqTRES\n",
        "JobID|Partition|Submit|Start\n"})
    expect_refused(3, columns + row("1", "gpu", at("12:00:10")) + other,
                   {"jobs.txt, line 3: names columns anew", "as files of their own"});
}

TEST_F(Queue, ReadsAPipeToTheSameEndAsAFile) {
  write("jobs.txt", made_up(3, 10000, true));
  auto const file = run("jobs.txt --kokkos-num-threads=1");
  auto const pipe = run("-", "cat jobs.txt |");
  EXPECT_EQ(file.code, 0) << file.errors;
  EXPECT_EQ(pipe.code, 0) << pipe.errors;
  EXPECT_EQ(file.output, pipe.output);
  EXPECT_TRUE(contains(file.output, "30000 rows: 10000 jobs that started")) << file.output;
  EXPECT_TRUE(contains(file.output, "20000 steps")) << file.output;
}

// Every count of every bin, against a plain loop over the jobs that were made up.
TEST_F(Queue, AgreesWithTheJobsThatWereMadeUp) {
  constexpr int jobs = 20000;
  Dice dice(5);
  std::string text = coir::testing::made_up_columns;
  std::vector<std::vector<std::int64_t>> exact(4);
  for (int n = 0; n < jobs; ++n) {
    auto const job = coir::testing::made_up_job(dice, n, jobs);
    exact[static_cast<std::size_t>(job.partition)].push_back(job.wait);
    append_rows(text, job, false);
  }
  auto const run = run_on(text);
  EXPECT_EQ(run.outcome.code, 0) << run.outcome.errors;
  EXPECT_EQ(run.report["broken"]["count"], 0);
  for (auto const& partition : run.report["partitions"]) {
    std::size_t n = 0;
    while (coir::testing::made_up_partitions[n] != partition["name"]) ++n;
    auto& waits = exact[n];
    std::sort(waits.begin(), waits.end());
    EXPECT_EQ(partition["waits"]["jobs"], waits.size());
    EXPECT_EQ(partition["waits"]["longest"], waits.back());
    for (auto const& bin : partition["histogram"]) {
      auto const count = std::upper_bound(waits.begin(), waits.end(), std::int64_t(bin[1])) -
                         std::lower_bound(waits.begin(), waits.end(), std::int64_t(bin[0]));
      EXPECT_EQ(bin[2], count);
    }
    for (auto const& [text_of_q, found] : partition["waits"]["quantiles"].items()) {
      double const q = std::stod(text_of_q);
      auto const rank = std::ceil(q * static_cast<double>(waits.size()) - 1e-9);
      auto const truth = static_cast<double>(waits[static_cast<std::size_t>(rank) - 1]);
      EXPECT_NEAR(found, truth, truth / 64) << text_of_q;
    }
    for (char const* const property :
         {"cores", "core_hours", "memory", "memory_hours", "gpus", "hour"}) {
      std::size_t sum = 0;
      for (auto const& one : partition["by"][property]) sum += std::size_t(one["jobs"]);
      EXPECT_EQ(sum, waits.size()) << property;
    }
  }
}

// The forecast from one year is tried on jobs like the one asked for that it hasn't seen, of other
// dice but the same days. Some thousand of them: the share inside is known to 0.01 (two standard
// deviations). Day and size change the waits within the sizes that count as alike, which the
// interval knows from the jobs it is made of.
TEST_F(Queue, ForecastsHoldForJobsThatWereHeldOut) {
  constexpr int jobs = 100000;
  auto const run = run_on(made_up(21, jobs, false),
                          "--forecast --cores 16 --gpus 2 --time-limit 12:00:00 --quiet");
  EXPECT_EQ(run.outcome.code, 0) << run.outcome.errors;
  EXPECT_EQ(run.outcome.output, "");
  EXPECT_EQ(run.report["forecast_for"]["limit_seconds"], 43200);

  auto const& partitions = run.report["partitions"];
  auto const gpu = std::find_if(partitions.begin(), partitions.end(),
                                [](auto const& partition) { return partition["name"] == "gpu"; });
  ASSERT_NE(gpu, partitions.end());
  auto const& forecast = (*gpu)["forecast"];
  EXPECT_EQ(forecast["likeness"], "sizes within a factor of 2");
  EXPECT_GT(forecast["held_out"], 300);
  EXPECT_NEAR(forecast["coverage"], 0.9, 0.05);

  Dice others(22);
  double alike = 0, inside = 0;
  for (int n = 0; n < 2 * jobs; ++n) {
    auto const job = coir::testing::made_up_job(others, n, 2 * jobs);
    if (job.partition != 1 || job.cores < 8 || job.cores > 32 || job.gpus < 1 || job.gpus > 4 ||
        job.limit_hours < 6 || job.limit_hours > 24)
      continue;
    auto const wait = static_cast<double>(job.wait);
    alike += 1;
    inside += wait >= forecast["low"] && wait <= forecast["high"];
  }
  EXPECT_GT(alike, 2500);
  EXPECT_NEAR(inside / alike, 0.9, 0.02);
}

// The two tables that people make of accounting: waits by core hours and by hours of memory, each
// with its count of jobs.
TEST_F(Queue, ClassesOfHoursAreAsAskedFor) {
  std::string text = "JobID|Partition|Submit|Start|ReqCPUS|ReqMem|Timelimit\n";
  auto const add = [&](int n, std::string const& start, int cores, std::string const& memory,
                       std::string const& limit) {
    text += std::to_string(n) + "|cpu|" + at("12:00:00") + "|" + at(start) + "|" +
            std::to_string(cores) + "|" + memory + "|" + limit + "\n";
  };
  add(1, "12:00:10", 1, "2G", "01:00:00");    // 1 core hour, 2 GiB hours
  add(2, "12:00:30", 3, "2G", "01:00:00");    // 3, 2
  add(3, "12:10:00", 4, "16G", "01:00:00");   // 4, 16
  add(4, "13:00:00", 64, "64G", "04:00:00");  // 256, 256
  auto const run = run_on(text, "--core-hours 4,4 --gib-hours 4,4,3");
  EXPECT_EQ(run.outcome.code, 0) << run.outcome.errors;
  for (std::string const part :
       {"By core hours: median / 90 % (jobs)", "By GiB hours: median / 90 % (jobs)",
        "10 s / 30 s (2)", "10 min / 10 min (1)", "60 min / 60 min (1)"})
    EXPECT_TRUE(contains(run.outcome.output, part)) << part << "\n" << run.outcome.output;
  auto const classes_of = [&](char const* property) {
    std::vector<std::pair<std::string, int>> classes;
    for (auto const& one : run.report["partitions"][0]["by"][property])
      classes.emplace_back(one["class"], one["jobs"]);
    return classes;
  };
  using Classes = std::vector<std::pair<std::string, int>>;
  EXPECT_EQ(classes_of("core_hours"), (Classes{{"< 4", 2}, {"4-16", 1}, {"256-1024", 1}}));
  EXPECT_EQ(classes_of("memory_hours"), (Classes{{"< 4", 2}, {">= 16", 2}}));
}

// Waits of jobs of 4 cores say nothing of one of 100,000, and likewise of other sizes.
TEST_F(Queue, NothingIsForecastForJobsLargerThanAny) {
  std::string text = columns;
  for (int n = 0; n < 300; ++n) text += row(std::to_string(n), "gpu", at("12:00:10"));
  for (auto const& [size, words] :
       {std::pair("--cores 100000", "gpu: 100000 cores, where the largest job had 4"),
        std::pair("--gpus 5", "gpu: 5 GPUs, where the largest job had 2"),
        std::pair("--memory 33G", "gpu: 33 GiB of memory, where the largest job had 16")}) {
    auto const run = run_on(text, std::string("--forecast ") + size);
    EXPECT_EQ(run.outcome.code, 0) << run.outcome.errors;
    EXPECT_TRUE(contains(run.outcome.output, "none so large")) << run.outcome.output;
    EXPECT_TRUE(contains(run.outcome.output, words)) << run.outcome.output;
    EXPECT_TRUE(run.report["partitions"][0]["forecast"].is_null());
  }
  auto const near = run_on(text, "--forecast --cores 8");
  EXPECT_FALSE(near.report["partitions"][0]["forecast"].is_null());
}

TEST_F(Queue, PartitionsWithoutGpusForecastNothingForJobsWithThem) {
  std::string text = "JobID|Partition|Submit|Start|ReqTRES\n";
  for (int n = 0; n < 300; ++n)
    text += std::to_string(n) + (n % 2 == 0 ? "|gpu|" : "|cpu|") + at("12:00:00") + "|" +
            at("12:00:09") + (n % 2 == 0 ? "|gres/gpu=4\n" : "|cpu=4\n");
  auto const run = run_on(text, "--forecast --gpus 1");
  for (auto const& partition : run.report["partitions"])
    EXPECT_EQ(partition["forecast"].is_null(), partition["name"] == "cpu");
}

TEST_F(Queue, MemoryDoesNotGrowWithRows) {
  auto const peak = [&](int jobs) {
    return double(run_on(made_up(9, jobs, true), "--quiet").report["bytes_peak"]);
  };
  EXPECT_LT(peak(70000), peak(20000) + 8e6);  // 25 MB of text more
}

TEST_F(Queue, TextsThatAreNoneAreRefused) {
  std::string const one = row("1", "gpu", at("12:00:10"));
  expect_refused(3, one, {"line 1: has no names of columns", "sacct -P"});
  expect_refused(3, "JobID    Partition  Submit\n----- ------\n", {"can't be told apart", "sacct"});
  expect_refused(3, std::string(1000, '\0'), {"no text"});
  expect_refused(3, "", {"jobs.txt: is empty"});
  expect_refused(3, "\x1F\x8B\x08 and so on", {"is compressed: zcat jobs.txt | coir-queue -"});
  expect_refused(3, "JobID|State|Submit\n1|COMPLETED|" + at("12:00:00") + "\n",
                 {"line 1: lacks the columns Partition, Start"});
  expect_refused(3, "JobID|Partition|Submit|Start\n1|gpu|31 Jan 12:00|31 Jan 12:05\n",
                 {"SLURM_TIME_FORMAT=standard"});
  expect_refused(3, columns, {"0 rows"});
  expect_refused(3, columns + one, {": 1 row, 1 left out by filters"}, "--from 2026-01-01");
  expect_refused(3, columns + one, {"1 left out by filters"}, "--user nobody");
  expect_failures(3, {{"none.txt", {"none.txt"}},
                      {".", {"is a folder"}},
                      {"-", {"the standard input: is empty"}}});
}

TEST_F(Queue, WrongOptionsAreRefused) {
  std::string const text =
      columns + row("1", "gpu", at("12:00:10")) + row("2", "cpu", at("12:00:10"));
  for (auto const& [options, parts] :
       {Refusal{"--partition gpus", {"gpus", "cpu, gpu"}},
        Refusal{"--cluster ares", {"the column Cluster"}},
        Refusal{"--forecast --time-limit 90", {"the column Timelimit"}},
        Refusal{"--forecast --memory 4Gc", {"--memory must be that of the whole job", "'4Gc'"}},
        Refusal{"--forecast --time-limit soon", {"--time-limit must be like", "'soon'"}},
        Refusal{"--forecast --interval 1", {"--interval must be a probability", "1"}},
        Refusal{"--from yesterday", {"--from must be a time", "'yesterday'"}},
        Refusal{"--from 2025-01-02 --to 2025-01-01", {"--from must be before --to"}},
        Refusal{"--core-hours 4", {"--core-hours must be", "'4'"}},
        Refusal{"--core-hours 4,1", {"--core-hours: the factor must be", "'1'"}},
        Refusal{"--gib-hours 4,4,33", {"--gib-hours's count of classes", "from 2 to 32"}},
        Refusal{"--picture waits.png", {"--picture must name a file that ends in .svg"}},
        Refusal{"jobs.txt", {"jobs.txt is given twice"}},
        Refusal{"--report jobs.txt", {"--report and FILE must name different files"}}})
    expect_refused(2, text, parts, options);
  expect_failure(2, "- --report jobs.txt <jobs.txt",
                 {"the standard input must name different files"});
  EXPECT_EQ(read_text(folder / "jobs.txt"), text);
}

// 16 s to 1024 s are 2^4 to 2^10 of an axis of 748 points and 22 octaves that begins at 200.
TEST_F(Queue, ThePictureShowsTheForecast) {
  std::string text = columns;
  for (int n = 0; n < 300; ++n)
    text += row(std::to_string(n), "gpu", at(n % 2 == 0 ? "12:00:16" : "12:17:04"));
  run_on(text, "--forecast --cores 4 --picture waits.svg");
  auto const svg = read_text(folder / "waits.svg");
  EXPECT_TRUE(svg.starts_with("<svg xmlns=") && svg.ends_with("</svg>\n"));
  EXPECT_TRUE(contains(svg, ">gpu</text>")) << svg;
  EXPECT_TRUE(contains(svg, "<rect x=\"336\" y=\"239\" width=\"204\" height=\"20\"")) << svg;
}
