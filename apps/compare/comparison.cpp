#include "comparison.hpp"

#include <coir/core/errors.hpp>
#include <coir/core/version.hpp>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>
#include <set>

namespace coir::apps::compare {

namespace {

using Json = nlohmann::ordered_json;

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

/// A value in a report, and where it stands there.
class Place {
 public:
  Place(Json const& json, std::string file, std::string path)
      : json_(json), file_(std::move(file)), path_(std::move(path)) {}

  [[noreturn]] void refuse(std::string const& problem) const {
    throw InputError(file_ + " is a damaged report: " + path_ + " " + problem +
                     "; make it anew by coir-compare run");
  }
  Place operator[](std::string const& key) const {
    static Json const null;
    if (!json_.is_object()) refuse("must be an object");
    auto const found = json_.find(key);
    return {found == json_.end() ? null : *found, file_, path_ + (path_.empty() ? "" : ".") + key};
  }
  std::vector<Place> items() const {
    if (!json_.is_array()) refuse("must be a list");
    std::vector<Place> places;
    for (auto const& item : json_)
      places.emplace_back(item, file_, path_ + "[" + std::to_string(places.size()) + "]");
    return places;
  }
  std::string text() const {
    if (!json_.is_string()) refuse("must be a text");
    return json_.get<std::string>();
  }
  bool truth() const {
    if (!json_.is_boolean()) refuse("must be true or false");
    return json_.get<bool>();
  }
  double number() const {
    if (!json_.is_number() || !(json_.get<double>() >= 0)) refuse("must be a number from 0 on");
    return json_.get<double>();
  }
  int count() const {
    double const value = number();
    if (value != std::floor(value) || value > 1e9) refuse("must be a whole number");
    return static_cast<int>(value);
  }
  double positive() const {
    double const value = number();
    if (!is_measurable(value)) refuse("must be a number from 1e-30 to 1e30");
    return value;
  }
  std::optional<double> optional() const {
    if (json_.is_null()) return {};
    return positive();
  }
  Json const& json() const { return json_; }

 private:
  Json const& json_;
  std::string file_, path_;
};

Limits limits_in(Place const& place) {
  return {place["copy_bytes_per_second"].optional(), place["triad_bytes_per_second"].optional(),
          place["launch_seconds"].optional(), place["host_to_device_bytes_per_second"].optional(),
          place["device_to_host_bytes_per_second"].optional()};
}

Machine machine_in(Place const& place) {
  Machine machine{place["name"].text(),
                  place["set"].text(),
                  place["rounds"].count(),
                  place["created"].text(),
                  {}};
  for (Place const& build : place["builds"].items())
    machine.builds.push_back({build["name"].text(), build["backend"].text(), build["device"].text(),
                              build["threads"].count(), build["memory_bytes"].number(),
                              limits_in(build["limits"]), build["info"].json()});
  return machine;
}

Row row_in(Place const& place) {
  Row row;
  row.machine = place["machine"].text();
  row.build = place["build"].text();
  row.work = place["work"].text();
  row.size_text = place["numbers"].text();
  row.size = place["size"].positive();
  row.seconds = place["seconds"].positive();
  for (Place const& round : place["rounds"].items()) row.rounds.push_back(round.positive());
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
  Json json;
  constexpr int deepest = 100;  // copying and printing what is nested deeper could use up the stack
  auto const expects_shallow = [&](int depth, Json::parse_event_t, Json const&) {
    if (depth <= deepest) return true;
    throw InputError(name + " is a damaged report: it nests deeper than " +
                     std::to_string(deepest) + " levels; make it anew by coir-compare run");
  };
  try {
    json = Json::parse(text, expects_shallow);
  } catch (Json::exception const& error) {
    std::string const what = error.what();
    throw InputError(name + " is no JSON (" +
                     what.substr(std::min(what.size(), what.find("] ") + 2)) +
                     "): name a compare.json that coir-compare run wrote");
  }
  if (!json.is_object() || json.value("application", Json()) != "coir-compare")
    throw InputError(name + " is no report of coir-compare: name a compare.json that it wrote");
  Place const top(json, name, "");
  int const format = top["format"].count();
  if (format != report_format)
    throw InputError(name + " has format " + std::to_string(format) + " (of coir-compare " +
                     top["version"].text() + "), and coir-compare " + version + " reads format " +
                     std::to_string(report_format) + ": make all reports with one version");
  Comparison comparison;
  for (Place const& machine : top["machines"].items())
    comparison.machines.push_back(machine_in(machine));
  for (Place const& work : top["works"].items())
    comparison.works.push_back({work["name"].text(), work["title"].text(), work["group"].text(),
                                work["unit"].text(), work["limit"].text()});
  for (Place const& row : top["rows"].items()) comparison.rows.push_back(row_in(row));
  for (Place const& row : top["left_out"].items())
    comparison.left_out.push_back({row["machine"].text(), row["build"].text(), row["work"].text(),
                                   row["numbers"].text(), row["why"].text(),
                                   row["failed"].truth()});
  expects_consistent(comparison, name);
  return comparison;
}

Comparison read_comparison(std::filesystem::path const& path) {
  std::string const remedy = ": name a compare.json that coir-compare run wrote";
  std::error_code error;
  if (std::filesystem::is_directory(path, error))
    throw InputError("can't read " + path.string() + ", which is a folder" + remedy);
  std::ifstream file(path, std::ios::binary);
  if (!file) throw InputError("can't read " + path.string() + remedy);
  std::string const text{std::istreambuf_iterator<char>(file), {}};
  return from_json(text, path.string());
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
