#pragma once

/// Accounting text as sacct -P writes it, made up: no cluster has run these jobs. Waits are drawn
/// from distributions that are known, so that tests know what is to come out.

#include <queue/present.hpp>

#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <numbers>
#include <string>

namespace coir::testing {

/// Numbers from a seed, the same on every machine (G. L. Steele, D. Lea, C. H. Flood, "Fast
/// splittable pseudorandom number generators", 2014).
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    std::uint64_t z = state_ += 0x9E3779B97F4A7C15;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
    return z ^ (z >> 31);
  }
  double uniform() { return static_cast<double>(next() >> 11) * 0x1p-53; }
  int below(int n) { return static_cast<int>(next() % static_cast<std::uint64_t>(n)); }
  double normal() {  // by G. E. P. Box and M. E. Muller
    return std::sqrt(-2 * std::log(1 - uniform())) * std::cos(2 * std::numbers::pi * uniform());
  }

 private:
  std::uint64_t state_;
};

/// A job that nobody has run.
struct MadeUpJob {
  std::int64_t number = 0;
  int partition = 0;  ///< cpu, gpu, debug, bigmem
  int cores = 1;
  int gpus = 0;
  int gigabytes = 1;
  int limit_hours = 1;
  std::int64_t submit = 0;  ///< seconds since 1970
  std::int64_t wait = 0;
  std::int64_t elapsed = 0;
};

inline constexpr std::array<char const*, 4> made_up_partitions = {"cpu", "gpu", "debug", "bigmem"};
inline constexpr std::int64_t made_up_begin = 1735689600;  // 2025-01-01T00:00:00

/// The median of the waits of jobs like this one, in seconds. It doubles in the afternoon, grows
/// with GPUs and cores, and changes from day to day.
inline double made_up_median(MadeUpJob const& job) {
  constexpr std::array<double, 4> base = {300, 1800, 5, 3600};
  double const hour = static_cast<double>(job.submit % 86400) / 3600;
  double const of_day = std::exp2(std::sin((hour - 9) / 24 * 2 * std::numbers::pi));
  Dice day(static_cast<std::uint64_t>(job.submit / 86400));
  return base[static_cast<std::size_t>(job.partition)] * (1 + job.gpus) * std::pow(job.cores, 0.3) *
         of_day * std::exp(0.2 * day.normal());
}

/// The next of some jobs that are submitted in their order within a year.
inline MadeUpJob made_up_job(Dice& dice, std::int64_t n, std::int64_t jobs) {
  MadeUpJob job;
  job.number = 1000 + n;
  int const kind = dice.below(100);
  job.partition = kind < 60 ? 0 : kind < 85 ? 1 : kind < 95 ? 2 : 3;
  job.cores = 1 << dice.below(8);
  job.gpus = job.partition == 1 ? 1 << dice.below(4) : 0;
  job.gigabytes = 1 << (dice.below(8) + (job.partition == 3 ? 4 : 0));
  job.limit_hours = 1 + dice.below(48);
  constexpr double year = 365 * 86400;
  job.submit = made_up_begin +
               static_cast<std::int64_t>(year * static_cast<double>(n) / static_cast<double>(jobs));
  job.wait = std::llround(made_up_median(job) * std::exp(1.2 * dice.normal()));
  job.elapsed = 1 + static_cast<std::int64_t>(job.limit_hours * 3600 * dice.uniform());
  return job;
}

inline char const made_up_columns[] =
    "JobID|JobName|User|Account|Partition|Submit|Eligible|Start|End|State|Elapsed|Timelimit|"
    "ReqCPUS|"
    "AllocCPUS|ReqMem|ReqTRES\n";

inline void append_moment(std::string& text, std::int64_t moment) {
  text += coir::apps::queue::moment_text(moment);
}

inline void append_duration(std::string& text, std::int64_t seconds) {
  char shown[64];
  auto const days = static_cast<long long>(seconds / 86400);
  auto const rest = static_cast<int>(seconds % 86400);
  if (days > 0) text += std::to_string(days) + "-";
  std::snprintf(shown, sizeof shown, "%02d:%02d:%02d", rest / 3600, rest / 60 % 60, rest % 60);
  text += shown;
}

/// The job's row, and with steps those of its batch script and its external step.
inline void append_rows(std::string& text, MadeUpJob const& job, bool steps) {
  auto const number = static_cast<long long>(job.number);
  char shown[200];
  std::snprintf(shown, sizeof shown, "%lld|made_up_%lld|user%lld|group%lld|%s|", number,
                number % 97, number % 41, number % 7,
                made_up_partitions[static_cast<std::size_t>(job.partition)]);
  text += shown;
  std::string times;
  append_moment(times, job.submit + job.wait);
  times += '|';
  append_moment(times, job.submit + job.wait + job.elapsed);
  append_moment(text, job.submit);
  text += '|';
  append_moment(text, job.submit);
  text += '|';
  text += times;
  text += "|COMPLETED|";
  append_duration(text, job.elapsed);
  text += '|';
  append_duration(text, std::int64_t{3600} * job.limit_hours);
  std::snprintf(shown, sizeof shown, "|%d|%d|%dG|billing=%d,cpu=%d,", job.cores, job.cores,
                job.gigabytes, job.cores, job.cores);
  text += shown;
  if (job.gpus > 0) {
    std::snprintf(shown, sizeof shown, "gres/gpu:a100=%d,gres/gpu=%d,", job.gpus, job.gpus);
    text += shown;
  }
  std::snprintf(shown, sizeof shown, "mem=%dG,node=1\n", job.gigabytes);
  text += shown;
  if (!steps) return;
  for (char const* const step : {"batch", "extern"})
    text += std::to_string(number) + "." + step + "|" + step + "||group||" + times.substr(0, 19) +
            "|" + times.substr(0, 19) + "|" + times + "|COMPLETED|00:00:10||1|1||\n";
}

}  // namespace coir::testing
