#include "figures.hpp"

#include <compare/json_place.hpp>
#include <support/text.hpp>

#include <coir/core/errors.hpp>

#include <algorithm>

namespace coir::apps::offload {

namespace {

/// Adds the figures that a side's limits hold.
void add_limits(MachineFigures& figures, Side side, compare::Limits const& limits,
                std::string const& source) {
  for (auto const& info : figure_infos())
    if (auto const limit = limits.find(info.limit); info.side == side && limit != limits.end())
      figures.emplace(info.key, Figure{limit->second, true, source});
}

/// Adds the best flop rate of a work's rows.
void add_flops(MachineFigures& figures, char const* key, compare::Comparison const& comparison,
               compare::Machine const& machine, compare::Build const& build,
               std::string const& work, std::string const& source) {
  compare::Row const* best = nullptr;
  for (auto const& row : comparison.rows)
    if (row.machine == machine.name && row.build == build.name && row.work == work && row.flops &&
        (best == nullptr || *row.flops > *best->flops))
      best = &row;
  if (best != nullptr)
    figures.emplace(key, Figure{*best->flops, true, source + ", " + work + "/" + best->size_text});
}

struct Candidate {
  std::string label;
  compare::Machine const* machine;
  compare::Build const* build;
};

Candidate chosen(std::vector<Candidate> const& all, std::string const& option,
                 std::string const& name, bool with_transfers, std::string const& file) {
  std::vector<std::string> labels;
  for (auto const& one : all) labels.push_back(one.label);
  auto const has_name = [&](Candidate const& one) {
    return name.empty()
               ? (one.build->limits.count(compare::key_of_limit("to_device")) > 0) == with_transfers
               : one.label == name || one.build->name == name;
  };
  auto const found = std::find_if(all.begin(), all.end(), has_name);
  std::string const list = file + " has " + (labels.empty() ? "none" : joined(labels, "; "));
  expects(found != all.end(),
          name.empty()
              ? option + " must name a build, as there is none " +
                    (with_transfers ? "with a device" : "on cores") + ": " + list
              : option + " must be a build of the comparison, not '" + name + "': " + list);
  if (!name.empty() && found->label != name)
    expects(std::count_if(all.begin(), all.end(), has_name) == 1,
            option + " must tell which machine's '" + name + "': " + list);
  return *found;
}

}  // namespace

std::vector<FigureInfo> const& figure_infos() {
  static constexpr char from_matmul[] = "name a comparison with matrix products (--compare)";
  static constexpr char from_host[] =
      "name what coir-info --measure --json printed there (--host), or a comparison (--compare)";
  static constexpr char from_device[] =
      "name what coir-info --measure --json printed there (--device), or a comparison (--compare)";
  static std::string const copy = compare::key_of_limit("copy");
  static std::vector<FigureInfo> const infos{
      {"host-flops", "flop rate of the cores", "flop/s", from_matmul, Side::host, "",
       &OffloadWork::flops, &Speeds::host_flops},
      {"host-bandwidth", "memory bandwidth of the cores", "B/s", from_host, Side::host, copy,
       &OffloadWork::bytes, &Speeds::host_bandwidth},
      {"device-flops", "flop rate of the device", "flop/s", from_matmul, Side::device, "",
       &OffloadWork::flops, &Speeds::device_flops},
      {"device-bandwidth", "memory bandwidth of the device", "B/s", from_device, Side::device, copy,
       &OffloadWork::bytes, &Speeds::device_bandwidth},
      {"to-device", "transfer rate to the device", "B/s", from_device, Side::device,
       compare::key_of_limit("to_device"), &OffloadWork::in, &Speeds::to_device},
      {"to-host", "transfer rate to the host", "B/s", from_device, Side::device,
       compare::key_of_limit("to_host"), &OffloadWork::out, &Speeds::to_host},
      {"launch-seconds", "time of a launch", "s", from_device, Side::device, "launch_seconds",
       &OffloadWork::launches, &Speeds::launch}};
  return infos;
}

Speeds speeds_of(MachineFigures const& figures) {
  Speeds speeds;
  for (auto const& info : figure_infos())
    if (auto const figure = figures.find(info.key); figure != figures.end())
      speeds.*info.speed = figure->second.value;
  return speeds;
}

void add_info(MachineFigures& figures, Side side, std::filesystem::path const& path) {
  std::string const name = path.string();
  std::string const remedy = "name what coir-info --measure --json printed";
  auto const json = parse_json(read_text(path, remedy), name, remedy);
  if (!json.is_object() || json.value("application", nlohmann::ordered_json()) != "coir-info")
    throw InputError(name + " isn't of coir-info: " + remedy);
  JsonPlace const place = JsonPlace(json, {name, "is damaged", remedy})["limits"];
  if (place.json().is_null()) throw InputError(name + " has no limits: " + remedy);
  compare::Limits limits;
  for (char const* const key : compare::limit_keys)
    if (auto const limit = place[key].optional()) limits[key] = *limit;
  // coir-info measures transfers of devices, and of these alone.
  bool const is_device = limits.count(compare::key_of_limit("to_device")) > 0;
  if ((side == Side::device) != is_device)
    throw InputError(
        name + (side == Side::host
                    ? " has the limits of a device, not of cores: name what coir-info --measure "
                      "--json --backend cpu printed (--host)"
                    : " has the limits of cores, not of a device: name what coir-info --measure "
                      "--json printed of a build for a GPU (--device)"));
  add_limits(figures, side, limits, name);
}

Builds builds_in(compare::Comparison const& comparison, std::string const& host_name,
                 std::string const& device_name, std::string const& file) {
  std::vector<Candidate> all;
  for (auto const& machine : comparison.machines)
    for (auto const& build : machine.builds)
      all.push_back({machine.name + ": " + build.name, &machine, &build});
  auto const host = chosen(all, "--host-build", host_name, false, file);
  auto const device = chosen(all, "--device-build", device_name, true, file);
  expects(host.build != device.build,
          "--host-build and --device-build must be two builds, not both " + host.label);
  return {host.label, device.label, host.machine, device.machine, host.build, device.build};
}

void add_comparison(MachineFigures& figures, compare::Comparison const& comparison,
                    Builds const& builds, std::string const& matmul, std::string const& file) {
  std::string const host = file + ", " + builds.host_label;
  std::string const device = file + ", " + builds.device_label;
  add_limits(figures, Side::host, builds.host->limits, host);
  add_limits(figures, Side::device, builds.device->limits, device);
  add_flops(figures, "host-flops", comparison, *builds.host_machine, *builds.host, matmul, host);
  add_flops(figures, "device-flops", comparison, *builds.device_machine, *builds.device, matmul,
            device);
}

Measured measured_in(compare::Comparison const& comparison, Builds const& builds,
                     std::string const& work, std::string const& file) {
  Measured measured;
  std::vector<std::string> names;
  auto const is_of = [](compare::Row const& row, compare::Machine const& machine,
                        compare::Build const& build) {
    return row.machine == machine.name && row.build == build.name;
  };
  for (auto const& row : comparison.rows) {
    if (!is_of(row, *builds.host_machine, *builds.host)) continue;
    for (auto const& other : comparison.rows) {
      if (!is_of(other, *builds.device_machine, *builds.device) || other.work != row.work ||
          other.size_text != row.size_text)
        continue;
      if (std::find(names.begin(), names.end(), row.work) == names.end()) names.push_back(row.work);
      if (row.work != work) continue;
      measured.host.emplace_back(row.size, row.seconds);
      measured.device.emplace_back(other.size, other.seconds);
    }
  }
  expects(!measured.host.empty(),
          "must be a work that both " + builds.host_label + " and " + builds.device_label + " of " +
              file + " measured, which are " + (names.empty() ? "none" : joined(names, " ")),
          "'" + work + "'");
  for (Curve* const curve : {&measured.host, &measured.device}) {
    std::sort(curve->begin(), curve->end());
    auto const same = [](auto const& a, auto const& b) { return a.first == b.first; };
    curve->erase(std::unique(curve->begin(), curve->end(), same), curve->end());
  }
  return measured;
}

void expects_known(MachineFigures const& figures, OffloadWork const& work) {
  for (auto const& info : figure_infos()) {
    bool const of_transfers = info.law == &OffloadWork::in || info.law == &OffloadWork::out;
    bool const is_needed = !(work.*info.law).is_zero() && (of_transfers || !work.measured);
    expects(!is_needed || figures.count(info.key) > 0,
            std::string("the ") + info.title + " isn't known: tell it (--" + info.key + " X, in " +
                info.unit + "), or " + info.remedy);
  }
}

}  // namespace coir::apps::offload
