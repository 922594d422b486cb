#include "figures.hpp"

#include <compare/json_place.hpp>
#include <support/text.hpp>

#include <coir/core/errors.hpp>

#include <algorithm>

namespace coir::apps::offload {

namespace {

void add(std::optional<Figure>& figure, std::optional<double> const& value,
         std::string const& source) {
  if (value && !figure) figure = Figure{*value, true, source};
}

/// The best flop rate of a work's rows, and its row.
void add_flops(std::optional<Figure>& figure, compare::Comparison const& comparison,
               compare::Machine const& machine, compare::Build const& build,
               std::string const& label, std::string const& work, std::string const& file) {
  compare::Row const* best = nullptr;
  for (auto const& row : comparison.rows)
    if (row.machine == machine.name && row.build == build.name && row.work == work && row.flops &&
        (best == nullptr || *row.flops > *best->flops))
      best = &row;
  if (best != nullptr)
    add(figure, best->flops, file + ", " + label + ", " + work + "/" + best->size_text);
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
    return name.empty() ? one.build->limits.to_device.has_value() == with_transfers
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
  static std::vector<FigureInfo> const infos{
      {"host-flops", "flop rate of the cores", "flop/s", from_matmul, &MachineFigures::host_flops,
       &Speeds::host_flops},
      {"host-bandwidth", "memory bandwidth of the cores", "B/s", from_host,
       &MachineFigures::host_bandwidth, &Speeds::host_bandwidth},
      {"device-flops", "flop rate of the device", "flop/s", from_matmul,
       &MachineFigures::device_flops, &Speeds::device_flops},
      {"device-bandwidth", "memory bandwidth of the device", "B/s", from_device,
       &MachineFigures::device_bandwidth, &Speeds::device_bandwidth},
      {"to-device", "transfer rate to the device", "B/s", from_device, &MachineFigures::to_device,
       &Speeds::to_device},
      {"to-host", "transfer rate to the host", "B/s", from_device, &MachineFigures::to_host,
       &Speeds::to_host},
      {"launch-seconds", "time of a launch", "s", from_device, &MachineFigures::launch,
       &Speeds::launch}};
  return infos;
}

Speeds speeds_of(MachineFigures const& figures) {
  Speeds speeds;
  for (auto const& info : figure_infos())
    if (auto const& figure = figures.*info.figure) speeds.*info.speed = figure->value;
  return speeds;
}

void add_info(MachineFigures& figures, Side side, std::filesystem::path const& path) {
  std::string const name = path.string();
  std::string const remedy = "name what coir-info --measure --json printed";
  auto const json = parse_json(read_text(path, remedy), name, remedy);
  if (!json.is_object() || json.value("application", nlohmann::ordered_json()) != "coir-info")
    throw InputError(name + " isn't of coir-info: " + remedy);
  JsonPlace const limits = JsonPlace(json, {name, "is damaged", remedy})["limits"];
  if (limits.json().is_null()) throw InputError(name + " has no limits: " + remedy);
  // coir-info measures transfers of devices, and of these alone.
  auto const to_device = limits["host_to_device_bytes_per_second"].optional();
  auto const copy = limits["copy_bytes_per_second"].optional();
  if ((side == Side::device) != to_device.has_value())
    throw InputError(
        name + (side == Side::host
                    ? " has the limits of a device, not of cores: name what coir-info --measure "
                      "--json --backend cpu printed (--host)"
                    : " has the limits of cores, not of a device: name what coir-info --measure "
                      "--json printed of a build for a GPU (--device)"));
  if (side == Side::host) {
    add(figures.host_bandwidth, copy, name);
    return;
  }
  add(figures.device_bandwidth, copy, name);
  add(figures.to_device, to_device, name);
  add(figures.to_host, limits["device_to_host_bytes_per_second"].optional(), name);
  add(figures.launch, limits["launch_seconds"].optional(), name);
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
  auto const& limits = builds.device->limits;
  add(figures.host_bandwidth, builds.host->limits.copy, host);
  add(figures.device_bandwidth, limits.copy, device);
  add(figures.to_device, limits.to_device, device);
  add(figures.to_host, limits.to_host, device);
  add(figures.launch, limits.launch, device);
  add_flops(figures.host_flops, comparison, *builds.host_machine, *builds.host, builds.host_label,
            matmul, file);
  add_flops(figures.device_flops, comparison, *builds.device_machine, *builds.device,
            builds.device_label, matmul, file);
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
  bool const has_flops = !work.measured && !work.flops.is_zero();
  bool const has_bytes = !work.measured && !work.bytes.is_zero();
  auto const is_needed = [&](std::optional<Figure> MachineFigures::* figure) {
    if (figure == &MachineFigures::host_flops || figure == &MachineFigures::device_flops)
      return has_flops;
    if (figure == &MachineFigures::host_bandwidth || figure == &MachineFigures::device_bandwidth)
      return has_bytes;
    if (figure == &MachineFigures::to_device) return !work.in.is_zero();
    if (figure == &MachineFigures::to_host) return !work.out.is_zero();
    return !work.measured && !work.launches.is_zero();
  };
  for (auto const& info : figure_infos())
    expects((figures.*info.figure).has_value() || !is_needed(info.figure),
            std::string("the ") + info.title + " isn't known: tell it (--" + info.key + " X, in " +
                info.unit + "), or " + info.remedy);
}

}  // namespace coir::apps::offload
