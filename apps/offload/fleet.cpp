#include "fleet.hpp"

#include <compare/json_place.hpp>
#include <support/text.hpp>
#include <support/units.hpp>

#include <coir/core/errors.hpp>

#include <algorithm>
#include <cmath>

namespace coir::apps::offload {

namespace {

/// A law, written as one or as a number.
Law law_at(JsonPlace const& place) {
  auto const& json = place.json();
  if (json.is_null()) return {};
  std::optional<Law> law;
  if (json.is_number()) law = law_in(exact_text(json.get<double>()));
  if (json.is_string()) law = law_in(json.get<std::string>());
  if (!law) place.refuse(std::string("must be ") + law_example);
  return *law;
}

Job job_at(JsonPlace const& place,
           std::function<Measured(std::string const& row)> const& measured) {
  std::vector<std::string> const known{"name",  "share",    "size",    "row", "flops",
                                       "bytes", "launches", "repeats", "in",  "out"};
  for (auto const& key : place.keys())
    if (std::find(known.begin(), known.end(), key) == known.end())
      place[key].refuse("is unknown; there are " + joined(known, " "));
  Job job;
  job.work.name = place["name"].text();
  job.share = place["share"].positive();
  job.size = place["size"].positive();
  if (job.size < 1) place["size"].refuse("must be 1 or more");
  if (auto const repeats = place["repeats"].optional()) job.work.repeats = *repeats;
  if (job.work.repeats != std::floor(job.work.repeats) || job.work.repeats > most_repeats)
    place["repeats"].refuse("must be a whole number from 1 to 1000000000000");
  job.work.in = law_at(place["in"]);
  job.work.out = law_at(place["out"]);
  if (!place["row"].json().is_null()) {
    for (char const* const key : {"flops", "bytes", "launches"})
      if (!place[key].json().is_null()) place[key].refuse("can't stand beside row, which has it");
    job.row = place["row"].text();
    try {
      job.work.measured = measured(job.row);
    } catch (PreconditionError const& error) {
      place["row"].refuse(error.what());
    }
    auto const& curve = job.work.measured->host;
    if (job.size < curve.front().first || job.size > curve.back().first)
      place["size"].refuse("must be from " + exact_text(curve.front().first) + " to " +
                           exact_text(curve.back().first) + ", where " + job.row + " was measured");
    return job;
  }
  job.work.flops = law_at(place["flops"]);
  job.work.bytes = law_at(place["bytes"]);
  job.work.launches = place["launches"].json().is_null() ? *law_in("1") : law_at(place["launches"]);
  if (job.work.flops.is_zero() && job.work.bytes.is_zero())
    place.refuse("needs flops, bytes or row: what it does");
  return job;
}

/// The time of a job in times of its time on the cores.
using Decision = std::function<double(Times const&)>;

}  // namespace

std::vector<Job> fleet_in(std::string const& text, std::string const& name,
                          std::function<Measured(std::string const& row)> const& measured) {
  std::string const remedy = "apps/offload/README.md shows how it is written";
  auto const json = parse_json(text, name, remedy);
  JsonPlace const top(json, {name, "describes no jobs", remedy});
  for (auto const& key : top.keys())
    if (key != "jobs") top[key].refuse("is unknown; there is jobs");
  std::vector<Job> jobs;
  double all = 0;
  for (auto const& place : top["jobs"].items()) {
    jobs.push_back(job_at(place, measured));
    all += jobs.back().share;
  }
  if (jobs.empty()) top["jobs"].refuse("must have a job");
  if (!std::isfinite(all)) top["jobs"].refuse("must have shares whose sum is finite");
  for (Job& job : jobs) job.share /= all;
  return jobs;
}

std::vector<Policy> policies_of(std::vector<Job> const& jobs, double stop_after) {
  auto const device = [](Times const& times) { return times.device / times.host; };
  auto const right = [=](Times const& times) { return std::min(1., device(times)); };
  auto const wrong = [=](Times const& times) { return std::max(1., device(times)); };
  auto const stopped = [=](Times const& times) {
    return device(times) <= stop_after ? device(times) : 1 + stop_after;
  };
  std::string const times =
      stop_after == 1 ? "their time" : count_text(stop_after) + " times their time";
  std::vector<std::pair<std::string, Decision>> const decisions{
      {"all on the cores", [](Times const&) { return 1.; }},
      {"all on the device", device},
      {"each where it is faster", right},
      {"each where it is slower", wrong},
      {"device, cores after " + times, stopped}};
  double best = 0;
  for (Job const& job : jobs) best += job.share * right(job.times);
  std::vector<Policy> policies;
  for (auto const& [name, decision] : decisions) {
    Policy policy{name, 0, 0, 1};
    for (Job const& job : jobs) {
      policy.time += job.share * decision(job.times);
      policy.most_lost = std::max(policy.most_lost, decision(job.times) / right(job.times));
    }
    policy.lost = policy.time / best;
    policies.push_back(policy);
  }
  return policies;
}

double stop_loss(double stop_after) { return std::max(1 + stop_after, 1 + 1 / stop_after); }

}  // namespace coir::apps::offload
