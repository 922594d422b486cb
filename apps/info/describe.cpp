#include "describe.hpp"

#include <support/report.hpp>
#include <support/text.hpp>
#include <support/units.hpp>

#include <coir/core/memory.hpp>
#include <coir/core/version.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <vector>

namespace coir::apps {

namespace {

std::string fact(std::string name, std::string const& value) {
  constexpr std::size_t width = 22;
  name.resize(width, ' ');
  return name + value + '\n';
}

std::string limits_text(MachineLimits const& limits, std::string const& backend) {
  std::string text = "\nMeasured limits of " + backend + "\n";
  text += fact("  copy", with_unit(limits.copy_bandwidth, "B/s") + " read and written");
  text += fact("  triad", with_unit(limits.triad_bandwidth, "B/s") + " read and written");
  text += fact("  kernel launch", with_unit(limits.launch_seconds, "s"));
  if (limits.host_to_device_bandwidth)
    text += fact("  host to device", with_unit(*limits.host_to_device_bandwidth, "B/s"));
  if (limits.device_to_host_bandwidth)
    text += fact("  device to host", with_unit(*limits.device_to_host_bandwidth, "B/s"));
  return text;
}

std::string by_threads_text(std::vector<ThreadLimits> const& by_threads) {
  std::string text = "\nBy the number of host threads\n";
  for (auto const& limits : by_threads)
    text +=
        fact("  " + std::to_string(limits.threads) + (limits.threads == 1 ? " thread" : " threads"),
             "triad " + with_unit(limits.triad_bandwidth, "B/s") + ", launch " +
                 with_unit(limits.launch_seconds, "s"));
  return text + fact("  enough for memory", std::to_string(threads_enough(by_threads)));
}

std::string link_text(SlowestLink const& link, std::string const& figure) {
  return figure + " (rank " + std::to_string(link.from) + " to " + std::to_string(link.to) + ")";
}

std::string ranks_text(RanksDescription const& ranks) {
  std::string text = "\nRanks\n";
  for (std::size_t rank = 0; rank < ranks.ranks.size(); ++rank) {
    auto const& [host, device, threads] = ranks.ranks[rank];
    text += fact("  rank " + std::to_string(rank), device + ", " + std::to_string(threads) +
                                                       (threads == 1 ? " thread" : " threads") +
                                                       ", on " + host);
  }
  text += fact("  transport", ranks.transport + " (" + ranks.reason + ")");
  if (ranks.latency)
    text += fact("  slowest latency",
                 link_text(*ranks.latency, with_unit(ranks.latency->seconds, "s")));
  if (ranks.bandwidth)
    text += fact("  slowest link",
                 link_text(*ranks.bandwidth,
                           with_unit(ranks.bandwidth->bytes_per_second, "B/s") + " each way"));
  return text;
}

nlohmann::ordered_json link_json(SlowestLink const& link, char const* name, double value) {
  return {{"from", link.from}, {"to", link.to}, {name, value}};
}

nlohmann::ordered_json ranks_json(RanksDescription const& ranks) {
  nlohmann::ordered_json json;
  json["transport"] = ranks.transport;
  json["reason"] = ranks.reason;
  json["places"] = nlohmann::ordered_json::array();
  for (auto const& [host, device, threads] : ranks.ranks)
    json["places"].push_back({{"host", host}, {"device", device}, {"threads", threads}});
  json["slowest_latency"] = nullptr;
  json["slowest_link"] = nullptr;
  if (ranks.latency)
    json["slowest_latency"] = link_json(*ranks.latency, "seconds", ranks.latency->seconds);
  if (ranks.bandwidth)
    json["slowest_link"] =
        link_json(*ranks.bandwidth, "bytes_per_second", ranks.bandwidth->bytes_per_second);
  return json;
}

}  // namespace

int threads_enough(std::vector<ThreadLimits> const& by_threads) {
  double highest = 0;
  for (auto const& limits : by_threads) highest = std::max(highest, limits.triad_bandwidth);
  int enough = by_threads.empty() ? 1 : std::numeric_limits<int>::max();
  for (auto const& limits : by_threads)
    if (limits.triad_bandwidth >= 0.9 * highest) enough = std::min(enough, limits.threads);
  return enough;
}

std::vector<std::string> doubts_about_limits(Machine const& machine,
                                             ProcessorsLeft const& processors) {
  std::vector<std::string> doubts;
  char text[256];
  auto const& [quota, others] = processors;
  if (quota && *quota < machine.host_threads) {
    std::snprintf(text, sizeof text,
                  "a quota of this container grants %.3g processors to %d threads, which wait for "
                  "one another at "
                  "each kernel: OMP_NUM_THREADS=%d",
                  *quota, machine.host_threads, std::max(1, static_cast<int>(*quota)));
    doubts.emplace_back(text);
  }
  constexpr double least = 0.1;  // of a processor: what systems do beside programs is less
  if (others && *others >= least) {
    std::snprintf(
        text, sizeof text,
        "the machine is busy: other programs kept %.2g processors at work before the measurement; "
        "measure again when they are done",
        *others);
    doubts.emplace_back(text);
  }
  return doubts;
}

std::string as_text(Description const& description) {
  Machine const& machine = description.machine;
  std::string text;
  text += fact("coir", version);
  text += fact("Kokkos", machine.kokkos_version);
  text += fact("backends", joined(machine.backends, ", "));
  text += fact("kernels run on", machine.default_backend);
  text += fact("host", machine.host_cpu);
  text += fact("host threads", std::to_string(machine.host_threads) +
                                   (description.reason_for_threads.empty()
                                        ? ""
                                        : " (" + description.reason_for_threads + ")"));
  if (auto const quota = description.processors.quota)
    text += fact("processors by quota", exact_text(std::round(100 * *quota) / 100));
  text += fact("host memory", readable_bytes(machine.host_memory_bytes));
  for (auto const& device : machine.devices)
    text += fact("device", device.name + ", " + device.architecture + ", " +
                               readable_bytes(device.memory_bytes));
  if (machine.devices.empty()) text += fact("device", "none");
  if (description.limits) {
    text += limits_text(*description.limits, machine.default_backend);
    for (auto const& doubt : doubts_about_limits(machine, description.processors))
      text += fact("  note", doubt);
  }
  if (!description.by_threads.empty()) text += by_threads_text(description.by_threads);
  if (description.ranks) text += ranks_text(*description.ranks);
  if (!text.ends_with('\n')) text += '\n';
  return text;
}

nlohmann::ordered_json as_json(Description const& description) {
  Machine const& machine = description.machine;
  nlohmann::ordered_json json;
  json["application"] = "coir-info";
  json["version"] = version;
  json["kokkos_version"] = machine.kokkos_version;
  json["backends"] = machine.backends;
  json["default_backend"] = machine.default_backend;
  json["host"] = {{"cpu", machine.host_cpu},
                  {"threads", machine.host_threads},
                  {"reason_for_threads", description.reason_for_threads},
                  {"processor_quota", or_null(description.processors.quota)},
                  {"processors_of_others", or_null(description.processors.others)},
                  {"memory_bytes", machine.host_memory_bytes}};
  json["devices"] = nlohmann::ordered_json::array();
  for (auto const& device : machine.devices)
    json["devices"].push_back({{"name", device.name},
                               {"architecture", device.architecture},
                               {"memory_bytes", device.memory_bytes}});
  json["limits"] = nullptr;
  if (auto const& limits = description.limits)
    json["limits"] = {
        {"copy_bytes_per_second", limits->copy_bandwidth},
        {"triad_bytes_per_second", limits->triad_bandwidth},
        {"launch_seconds", limits->launch_seconds},
        {"host_to_device_bytes_per_second", or_null(limits->host_to_device_bandwidth)},
        {"device_to_host_bytes_per_second", or_null(limits->device_to_host_bandwidth)},
        {"last_level_cache_bytes", description.cache_bytes}};
  json["limits_by_threads"] = nlohmann::ordered_json::array();
  for (auto const& by : description.by_threads)
    json["limits_by_threads"].push_back({{"threads", by.threads},
                                         {"triad_bytes_per_second", by.triad_bandwidth},
                                         {"launch_seconds", by.launch_seconds}});
  json["ranks"] = description.ranks ? ranks_json(*description.ranks) : nlohmann::ordered_json();
  json["kokkos_configuration"] = machine.kokkos_configuration;
  return json;
}

}  // namespace coir::apps
