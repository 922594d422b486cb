#include "comparison.hpp"

#include <compare/json_place.hpp>
#include <support/report.hpp>
#include <support/text.hpp>

#include <coir/core/errors.hpp>
#include <coir/core/version.hpp>

#include <algorithm>
#include <map>
#include <set>
#include <type_traits>

namespace coir::apps::compare {

namespace {

using Json = Report;

constexpr char remedy[] = "name a compare.json that coir-compare run wrote";

// Each type's keys in compare.json, for writing and for reading.

template <class Each>
void each_field(Build& build, Each const& each) {
  each("name", build.name);
  each("backend", build.backend);
  each("device", build.device);
  each("threads", build.threads);
  each("memory_bytes", build.memory);
  each("cache_bytes", build.cache);
  each("limits", build.limits);
  each("limit_rounds", build.limit_rounds);
  each("info", build.info);
}

template <class Each>
void each_field(Machine& machine, Each const& each) {
  each("name", machine.name);
  each("set", machine.set);
  each("rounds", machine.rounds);
  each("created", machine.created);
  each("processors_of_others", machine.processors_of_others);
  each("builds", machine.builds);
}

template <class Each>
void each_field(WorkInfo& work, Each const& each) {
  each("name", work.name);
  each("title", work.title);
  each("group", work.group);
  each("unit", work.unit);
  each("limit", work.limit);
  each("stays_in_cache", work.stays_in_cache);
}

template <class Each>
void each_field(Row& row, Each const& each) {
  each("machine", row.machine);
  each("build", row.build);
  each("work", row.work);
  each("numbers", row.size_text);
  each("size", row.size);
  each("seconds", row.seconds);
  each("rounds", row.rounds);
  each("bytes", row.bytes);
  each("flops_per_second", row.flops);
  each("joules", row.joules);
  each("limits_bytes_per_second", row.limits);
}

template <class Each>
void each_field(LeftOut& row, Each const& each) {
  each("machine", row.machine);
  each("build", row.build);
  each("work", row.work);
  each("numbers", row.size_text);
  each("why", row.why);
  each("failed", row.failed);
}

template <class Each>
void each_field(Comparison& comparison, Each const& each) {
  each("machines", comparison.machines);
  each("works", comparison.works);
  each("rows", comparison.rows);
  each("left_out", comparison.left_out);
}

template <class T>
concept HasFields = requires(T& value) { each_field(value, [](char const*, auto&) {}); };

Json field_json(std::optional<double>& value) { return or_null(value); }

Json field_json(Limits& limits) {
  Json json = Json::object();
  for (std::string const key : limit_keys)
    json[key] = limits.count(key) == 0 ? Json() : Json(limits[key]);
  return json;
}

template <class T>
Json field_json(std::vector<T>& values);

template <class T>
Json field_json(T& value) {
  if constexpr (HasFields<T>) {
    Json json = Json::object();
    each_field(value, [&](char const* key, auto& field) { json[key] = field_json(field); });
    return json;
  } else {
    return value;
  }
}

template <class T>
Json field_json(std::vector<T>& values) {
  Json json = Json::array();
  for (T& value : values) json.push_back(field_json(value));
  return json;
}

void read_field(std::string& value, JsonPlace const& place) { value = place.text(); }
void read_field(bool& value, JsonPlace const& place) { value = place.truth(); }
void read_field(int& value, JsonPlace const& place) { value = place.count(); }
void read_field(Json& value, JsonPlace const& place) { value = place.json(); }

/// Zero, or a number that ratios can be taken of.
void read_field(double& value, JsonPlace const& place) {
  value = place.number();
  if (value != 0) value = place.positive();
}

void read_field(std::optional<double>& value, JsonPlace const& place) {
  if (!place.json().is_null()) read_field(value.emplace(), place);
}

void read_field(Limits& limits, JsonPlace const& place) {
  for (std::string const key : limit_keys)
    if (auto const value = place[key].optional()) limits[key] = *value;
}

void expects_ratios(Row const& row, JsonPlace const& place) {
  for (char const* const key : {"size", "seconds"}) (void)place[key].positive();
  for (char const* const key : {"rounds", "limits_bytes_per_second"})
    for (JsonPlace const& number : place[key].items()) (void)number.positive();
  if (row.size < 1) place["size"].refuse("must be 1 or more");
  if (!row.limits.empty() && row.limits.size() != row.rounds.size())
    place["limits_bytes_per_second"].refuse("must have as many numbers as rounds");
}

template <class T>
void read_field(std::vector<T>& values, JsonPlace const& place);

template <HasFields T>
void read_field(T& value, JsonPlace const& place) {
  each_field(value, [&](char const* key, auto& field) { read_field(field, place[key]); });
  if constexpr (std::is_same_v<T, Row>) expects_ratios(value, place);
}

template <class T>
void read_field(std::vector<T>& values, JsonPlace const& place) {
  for (JsonPlace const& item : place.items()) read_field(values.emplace_back(), item);
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

/// Adds the works that aren't there yet.
void add_works(std::vector<WorkInfo>& merged, Comparison const& comparison,
               std::string const& file) {
  for (WorkInfo const& work : comparison.works) {
    auto const has_name = [&](WorkInfo const& other) { return other.name == work.name; };
    auto const same = std::find_if(merged.begin(), merged.end(), has_name);
    if (same == merged.end())
      merged.push_back(work);
    else if (same->unit != work.unit)
      throw InputError(file + ": the work " + work.name + " counts " + work.unit +
                       ", that of the reports before it " + same->unit +
                       ": make both with one version of coir-compare");
  }
}

/// A text that equal measurements have in common, whatever their machine is called: the moment of
/// the measurement, and the sum of its times.
std::string fingerprint_of(Machine const& machine, Comparison const& comparison) {
  double seconds = 0;
  for (auto const& row : comparison.rows)
    if (row.machine == machine.name) seconds += row.seconds;
  return machine.created + ' ' + exact_text(seconds);
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

std::string key_of_limit(std::string const& limit) {
  return (limit == "to_device" ? "host_to_device"
          : limit == "to_host" ? "device_to_host"
                               : limit) +
         std::string("_bytes_per_second");
}

bool is_of_memory(std::string const& limit) { return limit != "none" && !limit.starts_with("to_"); }

std::optional<double> limit_of(Limits const& limits, std::string const& limit) {
  auto found = limits.find(key_of_limit(limit));
  if (found == limits.end() && is_of_memory(limit)) found = limits.find(key_of_limit("copy"));
  return found == limits.end() ? std::nullopt : std::optional(found->second);
}

Report to_json(Comparison comparison) {
  Report json{{"application", "coir-compare"}, {"version", version}, {"format", report_format}};
  json.update(field_json(comparison));
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
  read_field(comparison, top);
  return comparison;
}

Comparison read_comparison(std::filesystem::path const& path) {
  return from_json(read_text(path, remedy), path.string());
}

Comparison merge(std::vector<Comparison> const& comparisons, std::vector<std::string> const& names,
                 std::vector<std::string>& notes) {
  Comparison merged;
  std::map<std::string, std::string> measured;  // what each machine measured, and the file
  std::set<std::string> taken;
  for (std::size_t n = 0; n < comparisons.size(); ++n) {
    Comparison other = comparisons[n];
    std::map<std::string, std::string> new_names;
    std::set<std::string> const before = taken;
    for (Machine const& machine : other.machines) taken.insert(machine.name);
    for (Machine const& machine : other.machines) {
      auto const [first, is_new] =
          measured.emplace(fingerprint_of(machine, comparisons[n]), names[n]);
      if (!is_new)
        throw InputError(names[n] + " holds the measurement of " + machine.name + " of " +
                         machine.created + ", which " + first->second +
                         " holds, too: name only one of the two");
      if (before.count(machine.name) == 0) continue;
      std::string const renamed = free_name(machine.name, taken);
      taken.insert(renamed);
      new_names.emplace(machine.name, renamed);
      notes.push_back(
          "the machine " + machine.name + " of " + names[n] + " is called " + renamed +
          " here: another one has its name (coir-compare run --name NAME gives it one)");
    }
    rename(other, new_names);
    add_works(merged.works, other, names[n]);
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
