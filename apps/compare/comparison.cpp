#include "comparison.hpp"

#include <compare/json_place.hpp>
#include <support/or_null.hpp>
#include <support/text.hpp>

#include <coir/core/errors.hpp>
#include <coir/core/version.hpp>

#include <algorithm>
#include <map>
#include <set>

namespace coir::apps::compare {

namespace {

using Json = Report;

constexpr char remedy[] = "name a compare.json that coir-compare run wrote";

Json to_json(Limits const& limits) {
  Json json = Json::object();
  for (auto const& [limit, key] : limit_keys()) json[key] = or_null(limits.*limit);
  return json;
}

Json to_json(std::vector<Limits> const& rounds) {
  Json json = Json::array();
  for (auto const& limits : rounds) json.push_back(to_json(limits));
  return json;
}

Json to_json(Machine const& machine) {
  Json json{{"name", machine.name},
            {"set", machine.set},
            {"rounds", machine.rounds},
            {"created", machine.created},
            {"processors_of_others", or_null(machine.processors_of_others)},
            {"builds", Json::array()}};
  for (Build const& build : machine.builds)
    json["builds"].push_back({{"name", build.name},
                              {"backend", build.backend},
                              {"device", build.device},
                              {"threads", build.threads},
                              {"memory_bytes", build.memory},
                              {"cache_bytes", build.cache},
                              {"limits", to_json(build.limits)},
                              {"limit_rounds", to_json(build.limit_rounds)},
                              {"info", build.info}});
  return json;
}

Limits limits_in(JsonPlace const& place) {
  Limits limits;
  for (auto const& [limit, key] : limit_keys()) limits.*limit = place[key].optional();
  return limits;
}

Build build_in(JsonPlace const& place) {
  Build build;
  build.name = place["name"].text();
  build.backend = place["backend"].text();
  build.device = place["device"].text();
  build.threads = place["threads"].count();
  build.memory = place["memory_bytes"].number();
  build.cache = place["cache_bytes"].number();
  build.limits = limits_in(place["limits"]);
  for (JsonPlace const& round : place["limit_rounds"].items())
    build.limit_rounds.push_back(limits_in(round));
  build.info = place["info"].json();
  return build;
}

Machine machine_in(JsonPlace const& place) {
  Machine machine{place["name"].text(),
                  place["set"].text(),
                  place["rounds"].count(),
                  place["created"].text(),
                  {}};
  JsonPlace const others = place["processors_of_others"];
  if (!others.json().is_null()) machine.processors_of_others = others.number();
  for (JsonPlace const& build : place["builds"].items()) machine.builds.push_back(build_in(build));
  return machine;
}

WorkInfo work_in(JsonPlace const& place) {
  return {place["name"].text(), place["title"].text(), place["group"].text(),
          place["unit"].text(), place["limit"].text(), place["stays_in_cache"].truth()};
}

Row row_in(JsonPlace const& place) {
  Row row;
  row.machine = place["machine"].text();
  row.build = place["build"].text();
  row.work = place["work"].text();
  row.size_text = place["numbers"].text();
  row.size = place["size"].positive();
  if (row.size < 1) place["size"].refuse("must be 1 or more");
  row.seconds = place["seconds"].positive();
  for (JsonPlace const& round : place["rounds"].items()) row.rounds.push_back(round.positive());
  row.bytes = place["bytes"].optional();
  row.flops = place["flops_per_second"].optional();
  row.joules = place["joules"].optional();
  for (JsonPlace const& limit : place["limits_bytes_per_second"].items())
    row.limits.push_back(limit.positive());
  if (!row.limits.empty() && row.limits.size() != row.rounds.size())
    place["limits_bytes_per_second"].refuse("must have as many numbers as rounds");
  return row;
}

/// Rows must name machines, builds and works that there are, and each once.
void expects_consistent(Comparison const& comparison, std::string const& file) {
  std::set<std::string> builds, works, seen;
  auto const refuse = [&](std::string const& problem) {
    throw InputError(file + " is a damaged report: " + problem +
                     "; make it anew by coir-compare run");
  };
  std::set<std::string> machines;
  for (auto const& machine : comparison.machines) {
    if (!machines.insert(machine.name).second)
      refuse("the machine " + machine.name + " is there twice");
    for (auto const& build : machine.builds)
      if (!builds.insert(machine.name + '\n' + build.name).second)
        refuse(machine.name + ", " + build.name + " is there twice");
  }
  for (auto const& work : comparison.works)
    if (!works.insert(work.name).second) refuse("the work " + work.name + " is there twice");
  for (auto const& row : comparison.rows) {
    std::string const build = row.machine + '\n' + row.build;
    bool const is_known = builds.count(build) > 0 && works.count(row.work) > 0;
    bool const is_first = seen.insert(build + '\n' + row.work + '\n' + row.size_text).second;
    if (!is_known || !is_first)
      refuse("the row " + row.machine + ", " + row.build + ", " + row.work + "/" + row.size_text +
             (is_known ? " is there twice" : " is of nothing that is described"));
  }
}

/// Gives machines other names, by {old name: new name}.
void rename(Comparison& comparison, std::map<std::string, std::string> const& names) {
  auto const change = [&](std::string& name) {
    if (auto const found = names.find(name); found != names.end()) name = found->second;
  };
  for (auto& machine : comparison.machines) change(machine.name);
  for (auto& row : comparison.rows) change(row.machine);
  for (auto& left_out : comparison.left_out) change(left_out.machine);
}

/// "laptop (2)", or whatever number is free.
std::string free_name(std::string const& name, std::set<std::string> const& taken) {
  for (int number = 2;; ++number) {
    std::string const numbered = name + " (" + std::to_string(number) + ")";
    if (taken.count(numbered) == 0) return numbered;
  }
}

/// Adds what isn't there yet. `places` are those of the works in `merged`, by their names.
void add_works(std::vector<WorkInfo>& merged, std::map<std::string, std::size_t>& places,
               Comparison const& comparison, std::string const& file) {
  for (WorkInfo const& work : comparison.works) {
    auto const [found, is_new] = places.emplace(work.name, merged.size());
    if (is_new) {
      merged.push_back(work);
      continue;
    }
    WorkInfo const& same = merged[found->second];
    if (same.unit != work.unit)
      throw InputError(file + ": the work " + work.name + " counts " + work.unit +
                       ", that of the reports before it " + same.unit +
                       ": make both with one version of coir-compare");
  }
}

/// What each machine measured and when, but for its name, which merging may have changed: equal of equal measurements.
std::map<std::string, std::string> fingerprints_of(Comparison const& comparison) {
  std::map<std::string, std::string> fingerprints;
  for (auto const& machine : comparison.machines)
    fingerprints[machine.name] = machine.created + '\n' + machine.set + '\n';
  for (auto const& row : comparison.rows) {
    std::string text =
        row.build + '\n' + row.work + '\n' + row.size_text + '\n' + exact_text(row.seconds);
    for (double const seconds : row.rounds) text += ' ' + exact_text(seconds);
    fingerprints[row.machine] += text + '\n';
  }
  return fingerprints;
}

/// Works of one group beside each other, groups in the order in which they first come.
void put_groups_together(std::vector<WorkInfo>& works) {
  std::map<std::string, std::size_t> places;
  for (auto const& work : works) places.emplace(work.group, places.size());
  std::stable_sort(works.begin(), works.end(), [&](WorkInfo const& a, WorkInfo const& b) {
    return places.at(a.group) < places.at(b.group);
  });
}

}  // namespace

std::vector<LimitKey> const& limit_keys() {
  static std::vector<LimitKey> const keys{{&Limits::copy, "copy_bytes_per_second"},
                                          {&Limits::triad, "triad_bytes_per_second"},
                                          {&Limits::update, "update_bytes_per_second"},
                                          {&Limits::read, "read_bytes_per_second"},
                                          {&Limits::launch, "launch_seconds"},
                                          {&Limits::to_device, "host_to_device_bytes_per_second"},
                                          {&Limits::to_host, "device_to_host_bytes_per_second"}};
  return keys;
}

std::optional<double> limit_of(Limits const& limits, Limit limit) {
  switch (limit) {
    case Limit::copy: return limits.copy;
    case Limit::update: return limits.update ? limits.update : limits.copy;
    case Limit::read: return limits.read ? limits.read : limits.copy;
    case Limit::triad: return limits.triad ? limits.triad : limits.copy;
    case Limit::to_device: return limits.to_device;
    case Limit::to_host: return limits.to_host;
    case Limit::none: break;
  }
  return {};
}

Report to_json(Comparison const& comparison) {
  Report json;
  json["application"] = "coir-compare";
  json["version"] = version;
  json["format"] = report_format;
  json["machines"] = Json::array();
  for (auto const& machine : comparison.machines) json["machines"].push_back(to_json(machine));
  json["works"] = Json::array();
  for (auto const& work : comparison.works)
    json["works"].push_back({{"name", work.name},
                             {"title", work.title},
                             {"group", work.group},
                             {"unit", work.unit},
                             {"limit", work.limit},
                             {"stays_in_cache", work.stays_in_cache}});
  json["rows"] = Json::array();
  for (auto const& row : comparison.rows)
    json["rows"].push_back({{"machine", row.machine},
                            {"build", row.build},
                            {"work", row.work},
                            {"numbers", row.size_text},
                            {"size", row.size},
                            {"seconds", row.seconds},
                            {"rounds", row.rounds},
                            {"bytes", or_null(row.bytes)},
                            {"flops_per_second", or_null(row.flops)},
                            {"joules", or_null(row.joules)},
                            {"limits_bytes_per_second", row.limits}});
  json["left_out"] = Json::array();
  for (auto const& row : comparison.left_out)
    json["left_out"].push_back({{"machine", row.machine},
                                {"build", row.build},
                                {"work", row.work},
                                {"numbers", row.size_text},
                                {"why", row.why},
                                {"failed", row.failed}});
  return json;
}

Comparison from_json(std::string const& text, std::string const& name) {
  Json const json = parse_json(text, name, remedy);
  if (!json.is_object() || json.value("application", Json()) != "coir-compare")
    throw InputError(name + " is no report of coir-compare: name a compare.json that it wrote");
  JsonPlace const top(json, {name, "is a damaged report", "make it anew by coir-compare run"});
  int const format = top["format"].count();
  if (format != report_format)
    throw InputError(name + " has format " + std::to_string(format) + " (of coir-compare " +
                     top["version"].text() + "), and coir-compare " + version + " reads format " +
                     std::to_string(report_format) + ": make all reports with one version");
  Comparison comparison;
  for (JsonPlace const& machine : top["machines"].items())
    comparison.machines.push_back(machine_in(machine));
  for (JsonPlace const& work : top["works"].items()) comparison.works.push_back(work_in(work));
  for (JsonPlace const& row : top["rows"].items()) comparison.rows.push_back(row_in(row));
  for (JsonPlace const& row : top["left_out"].items())
    comparison.left_out.push_back({row["machine"].text(), row["build"].text(), row["work"].text(),
                                   row["numbers"].text(), row["why"].text(),
                                   row["failed"].truth()});
  expects_consistent(comparison, name);
  return comparison;
}

Comparison read_comparison(std::filesystem::path const& path) {
  return from_json(read_text(path, remedy), path.string());
}

Comparison merge(std::vector<Comparison> const& comparisons, std::vector<std::string> const& names,
                 std::vector<std::string>& notes) {
  Comparison merged;
  std::map<std::string, std::string> measured;  // what each machine measured, and the file
  std::map<std::string, std::size_t> works;
  std::set<std::string> taken;
  for (std::size_t n = 0; n < comparisons.size(); ++n) {
    Comparison other = comparisons[n];
    auto const fingerprints = fingerprints_of(other);
    std::map<std::string, std::string> new_names;
    std::set<std::string> const before = taken;
    for (Machine const& machine : other.machines) taken.insert(machine.name);
    for (Machine const& machine : other.machines) {
      auto const [first, is_new] = measured.emplace(fingerprints.at(machine.name), names[n]);
      if (!is_new)
        throw InputError(
            names[n] + " holds the measurement of " + machine.name + " of " + machine.created +
            (first->second == names[n]
                 ? " twice: merge the reports that it was made of anew"
                 : ", which " + first->second + " holds, too: name only one of the two"));
      if (before.count(machine.name) == 0) continue;
      std::string const renamed = free_name(machine.name, taken);
      taken.insert(renamed);
      new_names.emplace(machine.name, renamed);
      notes.push_back(
          "the machine " + machine.name + " of " + names[n] + " is called " + renamed +
          " here: another one has its name (coir-compare run --name NAME gives it one)");
    }
    rename(other, new_names);
    add_works(merged.works, works, other, names[n]);
    auto const append = [](auto& to, auto const& from) {
      to.insert(to.end(), from.begin(), from.end());
    };
    append(merged.machines, other.machines);
    append(merged.rows, other.rows);
    append(merged.left_out, other.left_out);
  }
  put_groups_together(merged.works);
  return merged;
}

}  // namespace coir::apps::compare
