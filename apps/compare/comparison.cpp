#include "comparison.hpp"

#include <support/json_place.hpp>

#include <coir/core/errors.hpp>
#include <coir/core/version.hpp>

#include <algorithm>
#include <cmath>
#include <set>

namespace coir::apps::compare {

namespace {

using Json = nlohmann::ordered_json;

constexpr char remedy[] = "name a compare.json that coir-compare run wrote";

Json value_or_null(std::optional<double> const& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json to_json(Limits const& limits) {
  return {{"copy_bytes_per_second", value_or_null(limits.copy)},
          {"triad_bytes_per_second", value_or_null(limits.triad)},
          {"launch_seconds", value_or_null(limits.launch)},
          {"host_to_device_bytes_per_second", value_or_null(limits.to_device)},
          {"device_to_host_bytes_per_second", value_or_null(limits.to_host)}};
}

Json to_json(Machine const& machine) {
  Json json{{"name", machine.name},
            {"set", machine.set},
            {"rounds", machine.rounds},
            {"created", machine.created},
            {"builds", Json::array()}};
  for (Build const& build : machine.builds)
    json["builds"].push_back({{"name", build.name},
                              {"backend", build.backend},
                              {"device", build.device},
                              {"threads", build.threads},
                              {"memory_bytes", build.memory},
                              {"limits", to_json(build.limits)},
                              {"info", build.info}});
  return json;
}

Limits limits_in(JsonPlace const& place) {
  return {place["copy_bytes_per_second"].optional(), place["triad_bytes_per_second"].optional(),
          place["launch_seconds"].optional(), place["host_to_device_bytes_per_second"].optional(),
          place["device_to_host_bytes_per_second"].optional()};
}

Machine machine_in(JsonPlace const& place) {
  Machine machine{place["name"].text(),
                  place["set"].text(),
                  place["rounds"].count(),
                  place["created"].text(),
                  {}};
  for (JsonPlace const& build : place["builds"].items())
    machine.builds.push_back({build["name"].text(), build["backend"].text(), build["device"].text(),
                              build["threads"].count(), build["memory_bytes"].number(),
                              limits_in(build["limits"]), build["info"].json()});
  return machine;
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
  return row;
}

/// Rows must name machines, builds and works that there are, and each once.
void expects_consistent(Comparison const& comparison, std::string const& file) {
  std::set<std::string> known, seen;
  for (auto const& machine : comparison.machines)
    for (auto const& build : machine.builds)
      for (auto const& work : comparison.works)
        if (!known.insert(machine.name + '\n' + build.name + '\n' + work.name).second)
          throw InputError(file + " is a damaged report: " + machine.name + ", " + build.name +
                           ", " + work.name + " is there twice; make it anew by coir-compare run");
  for (auto const& row : comparison.rows) {
    std::string const what = row.machine + '\n' + row.build + '\n' + row.work;
    bool const is_known = known.count(what) > 0;
    bool const is_first = seen.insert(what + '\n' + row.size_text).second;
    if (is_known && is_first) continue;
    throw InputError(file + " is a damaged report: the row " + row.machine + ", " + row.build +
                     ", " + row.work + "/" + row.size_text +
                     (is_known ? " is there twice" : " is of nothing that is described") +
                     "; make it anew by coir-compare run");
  }
}

void rename(Comparison& comparison, std::string const& from, std::string const& to) {
  for (auto& machine : comparison.machines)
    if (machine.name == from) machine.name = to;
  for (auto& row : comparison.rows)
    if (row.machine == from) row.machine = to;
  for (auto& left_out : comparison.left_out)
    if (left_out.machine == from) left_out.machine = to;
}

template <class Named>
Named const* find(std::vector<Named> const& all, std::string const& name) {
  for (Named const& one : all)
    if (one.name == name) return &one;
  return nullptr;
}

/// "laptop (2)", or whatever number is free.
std::string free_name(std::string const& name, std::vector<Machine> const& a,
                      std::vector<Machine> const& b) {
  for (int number = 2;; ++number) {
    std::string const numbered = name + " (" + std::to_string(number) + ")";
    if (!find(a, numbered) && !find(b, numbered)) return numbered;
  }
}

void add_works(Comparison& merged, Comparison const& comparison, std::string const& file) {
  for (WorkInfo const& work : comparison.works) {
    WorkInfo const* const same = find(merged.works, work.name);
    if (same == nullptr)
      merged.works.push_back(work);
    else if (same->unit != work.unit || same->limit != work.limit)
      throw InputError(file + ": the work " + work.name + " counts " + work.unit + " against " +
                       work.limit + ", that of the reports before it " + same->unit + " against " +
                       same->limit + ": make both with one version of coir-compare");
  }
}

/// Works of one group beside each other, groups in the order in which they first come.
void put_groups_together(std::vector<WorkInfo>& works) {
  std::vector<std::string> groups;
  for (auto const& work : works)
    if (std::find(groups.begin(), groups.end(), work.group) == groups.end())
      groups.push_back(work.group);
  auto const place = [&](WorkInfo const& work) {
    return std::find(groups.begin(), groups.end(), work.group) - groups.begin();
  };
  std::stable_sort(works.begin(), works.end(),
                   [&](WorkInfo const& a, WorkInfo const& b) { return place(a) < place(b); });
}

}  // namespace

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
                             {"limit", work.limit}});
  json["rows"] = Json::array();
  for (auto const& row : comparison.rows)
    json["rows"].push_back({{"machine", row.machine},
                            {"build", row.build},
                            {"work", row.work},
                            {"numbers", row.size_text},
                            {"size", row.size},
                            {"seconds", row.seconds},
                            {"rounds", row.rounds},
                            {"bytes", value_or_null(row.bytes)},
                            {"flops_per_second", value_or_null(row.flops)},
                            {"joules", value_or_null(row.joules)}});
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
  for (JsonPlace const& work : top["works"].items())
    comparison.works.push_back({work["name"].text(), work["title"].text(), work["group"].text(),
                                work["unit"].text(), work["limit"].text()});
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
  for (std::size_t n = 0; n < comparisons.size(); ++n) {
    Comparison other = comparisons[n];
    for (Machine const& machine : comparisons[n].machines) {
      Machine const* const same = find(merged.machines, machine.name);
      if (same == nullptr) continue;
      if (same->created == machine.created)
        throw InputError(names[n] + " holds the measurement of " + machine.name + " of " +
                         machine.created + ", which a file before it holds, too: name it once");
      std::string const renamed = free_name(machine.name, merged.machines, other.machines);
      notes.push_back(
          "the machine " + machine.name + " of " + names[n] + " is called " + renamed +
          " here: another one has its name (coir-compare run --name NAME gives it one)");
      rename(other, machine.name, renamed);
    }
    add_works(merged, other, names[n]);
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
