// coir-offload: the model against times and break-evens worked out by hand, then the application as
// a user runs it.

#include "app_fixture.hpp"

#include <compare/comparison.hpp>
#include <offload/figures.hpp>
#include <offload/fleet.hpp>
#include <offload/law.hpp>
#include <offload/model.hpp>

#include <coir/core/errors.hpp>

#include <cmath>

namespace {

using namespace coir::apps::offload;
using coir::testing::contains;
using coir::testing::read_text;

Law law(std::string const& text) {
  auto const read = law_in(text);
  EXPECT_TRUE(read.has_value()) << text;
  return read.value_or(Law());
}

/// Round numbers: the device is 10 times as fast in all, transfers 1e9 B/s there and 5e8 B/s back.
Speeds round_speeds() { return {1e9, 1e10, 1e10, 1e11, 1e9, 5e8, 1e-6}; }

OffloadWork described(std::string const& flops, std::string const& bytes,
                      std::string const& launches, std::string const& in, std::string const& out,
                      double repeats = 1) {
  return {"it", law(flops), law(bytes), law(launches), law(in), law(out), repeats, {}};
}

/// A comparison of cores and a device: one work at two sizes, and matrix products.
coir::apps::compare::Comparison comparison() {
  using namespace coir::apps::compare;
  Build cores, device;
  cores.name = "openmp";
  cores.limits = {{"copy_bytes_per_second", 1e10}, {"launch_seconds", 1e-6}};
  device.name = "cuda";
  device.limits = {{"copy_bytes_per_second", 1e12},
                   {"launch_seconds", 5e-6},
                   {"host_to_device_bytes_per_second", 2e10},
                   {"device_to_host_bytes_per_second", 1e10}};
  Comparison all;
  all.machines = {{"box", "quick", 3, "2026-01-01T00:00:00Z", {cores, device}}};
  all.works = {{"sum", "sum(x)", "Arrays", "cells", "copy"},
               {"matmul,double", "Products", "Linear algebra", "rows", "none"}};
  auto const add = [&](char const* build, char const* work, char const* numbers, double size,
                       double seconds, std::optional<double> flops) {
    all.rows.push_back({"box", build, work, numbers, size, seconds, {seconds}, {}, flops, {}});
  };
  add("openmp", "sum", "10000", 1e4, 1e-5, {});
  add("openmp", "sum", "1000000", 1e6, 1e-3, {});
  add("cuda", "sum", "10000", 1e4, 1e-4, {});
  add("cuda", "sum", "1000000", 1e6, 1e-4, {});
  add("openmp", "sum", "7", 7, 1e-6, {});  // not on the device
  add("openmp", "matmul,double", "64", 64, 1e-4, 3e10);
  add("openmp", "matmul,double", "1024", 1024, 1e-2, 2e10);
  add("cuda", "matmul,double", "64", 64, 1e-4, 1e11);
  add("cuda", "matmul,double", "1024", 1024, 1e-4, 4e12);
  return all;
}

std::string problem(auto const& call) {
  try {
    call();
  } catch (coir::Error const& error) {
    return error.what();
  }
  return "none";
}

/// coir-offload in a folder with the comparison.
class Offload : public coir::testing::AppTest {
 protected:
  Offload() { write("compare.json", coir::apps::report_text(to_json(comparison()))); }
};

constexpr char told[] =
    "--host-flops 1e9 --device-flops 1e10 --host-bandwidth 1e10 --device-bandwidth 1e11 "
    "--to-device 1e9 --to-host 5e8 --launch-seconds 1e-6 ";

}  // namespace

TEST(Law, HasTermsOfPowersAndLogarithms) {
  EXPECT_EQ(law("64").at(10), 64);
  EXPECT_EQ(law("2*n^3").at(10), 2000);
  EXPECT_EQ(law(" 3 * n*n + 1e+2 ").at(10), 400);
  EXPECT_EQ(law("5*n*log2(n)+1").at(8), 121);
  EXPECT_EQ(law("log2(n)^2").at(8), 9);
  EXPECT_DOUBLE_EQ(law("n^1.5").at(4), 8);
  EXPECT_TRUE(law("0*n + 0").is_zero());
  EXPECT_FALSE(law("n").is_zero());
}

TEST(Law, RefusesWhatIsNone) {
  for (char const* const text :
       {"", " ", "-n", "n-1", "n^-1", "n^10", "2n", "n^", "n*", "+n", "n+", "m", "nan", "inf*n",
        "1e999", "1e200*1e200", "n^n", "log(n)", "n n"})
    EXPECT_FALSE(law_in(text).has_value()) << text;
}

TEST(Model, TimesAreThoseOfTheRoofline) {
  // 1e6 operations of 1e9/s take longer than 1e5 bytes of 1e10/s; there and back 1e-3 s and 1e-3 s.
  OffloadWork const work = described("n", "n^0.5*100", "3", "n", "0.5*n", 4);
  Times const times = times_of(work, round_speeds(), 1e6);
  EXPECT_DOUBLE_EQ(times.host, 4 * 1e-3);
  EXPECT_DOUBLE_EQ(times.transfers, 2e-3);
  EXPECT_DOUBLE_EQ(times.device, 2e-3 + 4 * (3e-6 + 1e-4));
  OffloadWork const memory = described("n", "100*n", "0", "0", "0");
  EXPECT_DOUBLE_EQ(times_of(memory, round_speeds(), 1e6).host, 1e-2);
  EXPECT_DOUBLE_EQ(times_of(memory, round_speeds(), 1e6).device, 1e-3);
}

TEST(Model, BreakEvensAreExact) {
  auto const gain_of = [](OffloadWork const& work) {
    return [=](double size) { return times_of(work, round_speeds(), size).gain(); };
  };
  // n^3 / 1e9 = n^2 1e-9 c + n^3 / 1e10, so n = c / 0.9.
  auto const cubic = break_evens(gain_of(described("n^3", "0", "0", "90*n^2", "0")), 1, 1e6);
  ASSERT_EQ(cubic.size(), 1u);
  EXPECT_NEAR(cubic[0].size, 100, 1e-11);
  EXPECT_TRUE(cubic[0].device_above);
  // Launches alone: n / 1e9 = 9 launches of 1e-6 s + n / 1e10, so n = 1e4.
  auto const launches = break_evens(gain_of(described("n", "0", "9", "0", "0")), 1, 1e6);
  ASSERT_EQ(launches.size(), 1u);
  EXPECT_NEAR(launches[0].size, 1e4, 1e-9);
  // What grows faster than the work ends what it pays: 9e4 n = n^2 at n = 9e4, with 1e5 operations
  // of each.
  auto const until = break_evens(gain_of(described("100000*n", "0", "0", "n^2", "0")), 1, 1e6);
  ASSERT_EQ(until.size(), 1u);
  EXPECT_NEAR(until[0].size, 9e4, 1e-8);
  EXPECT_FALSE(until[0].device_above);
  EXPECT_TRUE(break_evens(gain_of(described("n", "0", "0", "n", "0")), 1, 1e6).empty());
  EXPECT_TRUE(break_evens(gain_of(described("n^3", "0", "0", "90*n^2", "0")), 200, 200).empty());
}

TEST(Model, TellsPassesAndOperationsThatPay) {
  // A pass saves 9e-4 s, transfers cost 1e-3 s.
  OffloadWork const work = described("n", "0", "0", "n", "0");
  EXPECT_EQ(repeats_to_pay(work, round_speeds(), 1e6), 2);
  EXPECT_FALSE(repeats_to_pay(described("n", "0", "1000", "0", "0"), round_speeds(), 1e3));
  // f (1/1e9 - 1/1e10) = 1e-3 + 1e-6.
  OffloadWork const launched = described("n", "0", "1", "n", "0");
  EXPECT_NEAR(*flops_to_pay(launched, round_speeds(), 1e6), 1.001e-3 / 0.9e-9, 1e-3);
  // With as many the gain is 1; beside 1e6 bytes, which take 1e-4 s on the cores.
  for (char const* const bytes : {"0", "n", "20*n"}) {
    OffloadWork some = described("0", bytes, "1", "n", "0", 3);
    double const flops = *flops_to_pay(some, round_speeds(), 1e6);
    some.flops = law(std::to_string(flops));
    EXPECT_NEAR(times_of(some, round_speeds(), 1e6).gain(), flops > 0 ? 1 : 3 * 2e-3 / 1.603e-3,
                1e-6)
        << bytes;
  }
  Speeds slow = round_speeds();
  slow.device_flops = 1e9;
  EXPECT_FALSE(flops_to_pay(launched, slow, 1e6).has_value());
  // 8 bytes there and back take 24e-9 s, and an operation saves 0.9e-9 s.
  EXPECT_DOUBLE_EQ(*flops_per_value(round_speeds(), 8), 24 / 0.9);
  EXPECT_DOUBLE_EQ(*bytes_per_byte(round_speeds()), 3e-9 / (1e-10 - 1e-11));
  EXPECT_FALSE(flops_per_value(slow, 8).has_value());
}

TEST(Model, MeasuredTimesAreInterpolatedInLogarithms) {
  auto const all = comparison();
  auto const builds = builds_in(all, "", "", "c.json");
  EXPECT_EQ(builds.host_label, "box: openmp");
  EXPECT_EQ(builds.device_label, "box: cuda");
  OffloadWork work;
  work.measured = measured_in(all, builds, "sum", "c.json");
  ASSERT_EQ(work.measured->host.size(), 2u);  // sizes that both have
  EXPECT_DOUBLE_EQ(times_of(work, {}, 1e5).host, 1e-4);
  EXPECT_DOUBLE_EQ(times_of(work, {}, 1e6).host, 1e-3);
  auto const gain = [&](double size) { return times_of(work, {}, size).gain(); };
  auto const found = break_evens(gain, 1e4, 1e6);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_NEAR(found[0].size, 1e5, 1e-6);
  EXPECT_EQ(problem([&] { measured_in(all, builds, "fft", "c.json"); }),
            "must be a work that both box: openmp and box: cuda of c.json measured, which are "
            "sum matmul,double, not 'fft'");
}

TEST(MachineFigures, WhatIsToldCountsBeforeWhatWasMeasured) {
  auto const all = comparison();
  MachineFigures figures;
  figures["to-host"] = Figure{7, false, "--to-host"};
  add_comparison(figures, all, builds_in(all, "", "", "c.json"), "matmul,double", "c.json");
  EXPECT_EQ(figures["to-host"].value, 7);
  EXPECT_FALSE(figures["to-host"].measured);
  EXPECT_EQ(figures["to-device"].value, 2e10);
  EXPECT_EQ(figures["host-flops"].value, 3e10);  // the best of its rows
  EXPECT_EQ(figures["host-flops"].source, "c.json, box: openmp, matmul,double/64");
  EXPECT_EQ(figures["device-flops"].value, 4e12);
  EXPECT_TRUE(figures["device-flops"].measured);
  EXPECT_EQ(figures["device-bandwidth"].value, 1e12);
  EXPECT_EQ(figures["launch-seconds"].value, 5e-6);
  EXPECT_EQ(problem([&] { builds_in(all, "hip", "", "c.json"); }),
            "--host-build must be a build of the comparison, not 'hip': c.json has box: openmp; "
            "box: cuda");
  EXPECT_EQ(problem([&] { builds_in(all, "cuda", "", "c.json"); }),
            "--host-build and --device-build must be two builds, not both box: cuda");
}

TEST(Fleet, LosesWhatIsWorkedOutByHand) {
  // Half of the time is 4 times as fast on the device, half twice as slow.
  Job fast, slow;
  fast.share = slow.share = 0.5;
  fast.times = {4, 1, 0};
  slow.times = {1, 2, 0};
  auto const policies = policies_of({fast, slow}, 1);
  ASSERT_EQ(policies.size(), 5u);
  double const right = 0.125 + 0.5;
  double const times[] = {1, 0.125 + 1, right, 0.5 + 1, 0.125 + 1};
  double const most[] = {4, 2, 1, 4, 2};
  for (int n = 0; n < 5; ++n) {
    EXPECT_DOUBLE_EQ(policies[n].time, times[n]) << policies[n].name;
    EXPECT_DOUBLE_EQ(policies[n].lost, times[n] / right) << policies[n].name;
    EXPECT_DOUBLE_EQ(policies[n].most_lost, most[n]) << policies[n].name;
  }
}

TEST_F(Offload, TellsFromWhichSizeOnTheDevicePays) {
  auto const outcome = run(std::string(told) +
                           "--flops n^3 --in '90*n^2' --launches 0 --to 1000 "
                           "--report r.json --output o.html");
  EXPECT_EQ(outcome.code, 0);
  EXPECT_EQ(outcome.errors, "");
  EXPECT_TRUE(contains(outcome.output, "The device pays from n = 100 on.\n")) << outcome.output;
  EXPECT_TRUE(contains(outcome.output, "told by --host-flops")) << outcome.output;
  auto const json = report();
  EXPECT_EQ(json["figures"]["host-flops"]["measured"], false);
  EXPECT_NEAR(json["break_even"][0]["size"].get<double>(), 100, 1e-11);
  EXPECT_EQ(json["break_even"][0]["device_faster"], "above");
  EXPECT_DOUBLE_EQ(json["best"]["gain"], 1000. / 190);
  EXPECT_DOUBLE_EQ(json["worst"]["gain"], 1. / 90.1);
  auto const page = read_text(folder / "o.html");
  EXPECT_TRUE(contains(page, "device pays from 100")) << page;
  EXPECT_TRUE(page.ends_with("</html>\n"));
}

TEST_F(Offload, TakesLimitsOfCoirInfo) {
  auto const info = [](char const* transfers) {
    return std::string(
               R"({"application": "coir-info", "limits": {"copy_bytes_per_second": 1e11, )") +
           R"("triad_bytes_per_second": 1e11, "launch_seconds": 1e-6, )" + transfers + "}}";
  };
  write("cores.json", R"({"application": "coir-info", "limits": {"copy_bytes_per_second": 1e10}})");
  write("gpu.json",
        info(R"("host_to_device_bytes_per_second": 1e9, "device_to_host_bytes_per_second": 5e8)"));
  auto const outcome =
      run("--host cores.json --device gpu.json --bytes '10*n' --in n --repeats 2 --report r.json");
  EXPECT_EQ(outcome.code, 0) << outcome.errors;
  EXPECT_TRUE(contains(outcome.output, "measured: gpu.json")) << outcome.output;
  auto const json = report();
  EXPECT_EQ(json["figures"]["host-bandwidth"]["source"], "cores.json");
  EXPECT_EQ(json["figures"]["launch-seconds"]["measured"], true);
  EXPECT_TRUE(json["figures"]["host-flops"].is_null());
  // 2e-9 n = 1e-9 n + 2 (1e-6 + 1e-10 n)
  EXPECT_NEAR(json["break_even"][0]["size"].get<double>(), 2e-6 / 0.8e-9, 1e-9);
}

TEST_F(Offload, ComparesAMixOfJobs) {
  write("jobs.json", R"({"jobs": [
    {"name": "sums", "share": 30, "size": 1e6, "row": "sum", "in": "8*n"},
    {"name": "products", "share": 10, "size": 1000, "flops": "2*n^3", "in": "16*n^2", "out": "8*n^2"}]})");
  auto const outcome =
      run("--compare compare.json --fleet jobs.json --report r.json --output o.html");
  EXPECT_EQ(outcome.code, 0) << outcome.errors;
  auto const json = report();
  EXPECT_DOUBLE_EQ(json["jobs"][0]["share"], 0.75);
  EXPECT_TRUE(json["jobs"][0]["measured"]);
  EXPECT_DOUBLE_EQ(json["jobs"][0]["device_seconds"], 1e-4 + 8e6 / 2e10);
  EXPECT_DOUBLE_EQ(json["jobs"][1]["host_seconds"], 2e9 / 3e10);
  EXPECT_EQ(json["stop_loss"], 2);
  EXPECT_TRUE(contains(read_text(folder / "o.html"), "Stop-loss"));
}

TEST_F(Offload, RefusesWhatItCantUseInOneLine) {
  write("cut.json", "{");
  write("other.json", "{}");
  write("gpu.json", R"({"application": "coir-info", "limits": {"copy_bytes_per_second": 1,
    "host_to_device_bytes_per_second": 1}})");
  write("cores.json", R"({"application": "coir-info", "limits": {"copy_bytes_per_second": 1,
    "host_to_device_bytes_per_second": null}})");
  auto const jobs = [&](char const* name, std::string const& rest) {
    write(name, R"({"jobs": [{"name": "a", "share": 1, "size": 50, )" + rest + "}]}");
  };
  jobs("short.json", R"("flops": "0*n + log2(n)^2", "size": 1)");
  jobs("law.json", R"("flops": "-n")");
  jobs("idle.json", R"("in": "n")");
  jobs("wrong.json", R"("flop": "n")");
  jobs("half.json", R"("flops": "n", "repeats": 1.5)");
  jobs("small.json", R"("row": "sum")");
  expect_failures(
      2, {{"", {"say what the work does"}},
          {"--flops n", {"the flop rate of the cores isn't known: tell it (--host-flops X"}},
          {"--flops n --launch-seconds 0", {"for work that launches nothing say --launches 0"}},
          {"--flops 2n", {"--flops must be a law of n"}},
          {std::string(told) + "--flops 'log2(n)'", {"takes no time on the cores at size 1:"}},
          {std::string(told) + "--flops '1e300*n^9' --to 1e15", {"takes no finite time"}},
          {"--flops n --host-flops 1e30 --device-flops 1e-30 --launches 0",
           {"differs too much between cores and device for a number"}},
          {std::string(told) + "--flops n --from 5 --to 2", {"--from must be no larger"}},
          {std::string(told) + "--flops n --output o.png", {"file that ends in .html"}},
          {"--compare compare.json --row fft",
           {"--row must be a work that both", "which are sum matmul,double, not 'fft'"}},
          {"--compare compare.json --row sum --to 2e6", {"the sizes that were measured"}},
          {std::string(told) + "--fleet short.json", {"(its flops, bytes), or a larger size"}}});
  expect_failures(
      3, {{"--bytes n --host none.json", {"can't read none.json"}},
          {"--bytes n --host cut.json", {"cut.json is no JSON"}},
          {"--bytes n --host other.json", {"other.json isn't of coir-info"}},
          {"--bytes n --compare other.json", {"is no report of coir-compare"}},
          {"--bytes n --host gpu.json", {"gpu.json has the limits of a device, not of cores"}},
          {"--bytes n --device cores.json", {"cores.json has the limits of cores, not of a"}},
          {"--fleet law.json", {"jobs[0].flops must be a law of n"}},
          {"--fleet idle.json", {"jobs[0] needs flops, bytes or row"}},
          {"--fleet wrong.json", {"jobs[0].flop is unknown; there are name share size"}},
          {"--fleet half.json", {"jobs[0].repeats must be a whole number"}},
          {"--compare compare.json --fleet small.json", {"jobs[0].size must be from 10000 to"}}});
}
