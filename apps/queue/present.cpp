#include "present.hpp"

#include <coir/core/resident.hpp>
#include <coir/core/version.hpp>

#include <support/report.hpp>
#include <support/table.hpp>
#include <support/text.hpp>
#include <support/units.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <optional>
#include <set>

namespace coir::apps::queue {

namespace {

constexpr std::array<double, 7> quantiles = {0.05, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99};

double share(std::int64_t part, std::int64_t all) {
  return all == 0 ? std::nan("") : static_cast<double>(part) / static_cast<double>(all);
}

PartitionWaits sum_of(std::vector<Shown> const& partitions) {
  PartitionWaits sum;
  for (auto const& each : partitions) sum.add(*each.waits);
  return sum;
}

/// The clusters in front of "cluster/partition".
std::set<std::string> clusters_of(Statistics const& statistics) {
  std::set<std::string> clusters;
  for (auto const& [name, waits] : statistics.partitions())
    clusters.insert(name.substr(0, name.find('/') == std::string::npos ? 0 : name.find('/')));
  return clusters;
}

std::string short_name(std::string const& name, bool one_cluster) {
  std::size_t const slash = name.find('/');
  return one_cluster && slash != std::string::npos ? name.substr(slash + 1) : name;
}

std::string summary_of(Statistics const& statistics, QueueSettings const& settings) {
  auto const& counts = statistics.counts();
  std::vector<std::string> parts = {
      counted(counts.started, "jobs") + " that started",
      std::to_string(counts.pending) + " pending",
      std::to_string(counts.never_started) + " cancelled before the start",
      counted(counts.steps, "steps")};
  if (counts.components > 0)
    parts.push_back(counted(counts.components, "further components") + " of jobs");
  if (counts.left_out > 0)
    parts.push_back(std::to_string(counts.left_out) + " left out by filters");
  parts.push_back(std::to_string(statistics.broken().count()) + " broken");
  std::string text = counted(counts.rows, "rows") + ": " + joined(parts, ", ") + "\n";
  bool const eligible =
      settings.wait_from == WaitFrom::eligible && statistics.had_column(Column::eligible);
  text += "Submitted from " + moment_text(statistics.first_submit()) + " to " +
          moment_text(statistics.last_submit()) + "; waits are counted from " +
          (eligible ? "Eligible" : "Submit") + " to Start.\n";
  return text;
}

void add_waits(Table& table, std::string const& name, WaitHistogram const& waits) {
  double const longest = waits.count() == 0 ? std::nan("") : static_cast<double>(waits.longest());
  table.add_row({name, std::to_string(waits.count()), wait_text(waits.quantile(0.5)),
                 wait_text(waits.quantile(0.75)), wait_text(waits.quantile(0.9)),
                 wait_text(waits.quantile(0.99)), wait_text(longest), wait_text(waits.mean())});
}

std::vector<std::string> wait_headings(std::string const& first) {
  return {first, "jobs", "median", "75 %", "90 %", "99 %", "longest", "mean"};
}

/// A line for each partition, and one for all of them.
template <class Add>
void add_each(std::vector<Shown> const& partitions, PartitionWaits const& sum, Add const& add) {
  for (auto const& [name, waits] : partitions) add(name, *waits);
  if (partitions.size() > 1) add("all", sum);
}

std::string waits_table(std::vector<Shown> const& partitions, PartitionWaits const& sum) {
  Table table(wait_headings("partition"));
  add_each(partitions, sum, [&](std::string const& name, PartitionWaits const& waits) {
    add_waits(table, name, waits.all);
  });
  return "\nWaits\n\n" + table.text();
}

std::string within_table(std::vector<Shown> const& partitions, PartitionWaits const& sum) {
  std::vector<std::string> headings = {"partition"};
  for (auto const& span : spans) headings.emplace_back(span.label);
  Table table(headings);
  add_each(partitions, sum, [&](std::string const& name, PartitionWaits const& waits) {
    std::vector<std::string> cells = {name};
    for (std::int64_t const count : waits.within)
      cells.push_back(percent(share(count, waits.all.count())));
    table.add_row(cells);
  });
  return "\nShare of the jobs that had started within\n\n" + table.text();
}

bool is_known(PartitionWaits const& sum, std::size_t property) {
  auto const& classes = sum.by[property];
  return std::any_of(classes.begin(), classes.end(),
                     [](WaitHistogram const& waits) { return waits.count() > 0; });
}

/// A partition's waits by the classes of a property, which are columns: median / 90 % (jobs).
std::string class_table(std::vector<Shown> const& partitions, PartitionWaits const& sum,
                        Properties const& properties, std::size_t property) {
  auto const& [key, title, labels, begins] = properties[property];
  std::vector<std::string> headings = {"partition"};
  std::vector<std::size_t> used;
  for (std::size_t n = 0; n < labels.size(); ++n) {
    if (sum.by[property][n].count() == 0) continue;
    used.push_back(n);
    headings.push_back(labels[n]);
  }
  Table table(headings);
  add_each(partitions, sum, [&](std::string const& name, PartitionWaits const& waits) {
    std::vector<std::string> cells = {name};
    for (std::size_t const n : used) {
      auto const& of_class = waits.by[property][n];
      cells.push_back(of_class.count() == 0 ? "-"
                                            : wait_text(of_class.quantile(0.5)) + " / " +
                                                  wait_text(of_class.quantile(0.9)) + " (" +
                                                  std::to_string(of_class.count()) + ")");
    }
    table.add_row(cells);
  });
  return std::string("\nBy ") + title + ": median / 90 % (jobs)\n\n" + table.text();
}

std::string hour_table(PartitionWaits const& sum, Properties const& properties) {
  auto const n = static_cast<std::size_t>(By::hour);
  Table table(wait_headings("hour"));
  for (std::size_t hour = 0; hour < 24; ++hour)
    add_waits(table, properties[n].labels[hour], sum.by[n][hour]);
  return "\nBy the hour of submission, all of these partitions\n\n" + table.text();
}

std::string broken_text(BrokenRows const& broken, QueueSettings const& settings) {
  if (broken.count() == 0) return "";
  std::string text = "\nBroken rows, which don't count\n\n";
  for (auto const& [key, some] : broken.kinds()) {
    text += std::to_string(some.count) + ": " + in_words(key) + "\n";
    for (auto const& [file, line, what] : some.named) {
      std::string const input = settings.inputs[static_cast<std::size_t>(file)].string();
      text += "  " + one_line(input == "-" ? "standard input" : input) + ", line " +
              std::to_string(line) + ": " + what + "\n";
    }
    auto const more = some.count - static_cast<std::int64_t>(some.named.size());
    if (more > 0) text += "  and " + std::to_string(more) + " more\n";
  }
  return text;
}

std::string forecast_text(std::vector<Shown> const& partitions, QueueSettings const& settings) {
  if (!settings.forecast) return "";
  Table table({"partition", "median", "from", "to", "jobs", "held out", "of these inside"});
  std::vector<std::string> notes, too_large;
  for (auto const& [name, waits] : partitions) {
    auto const beyond = waits->forecaster.beyond(settings.size);
    if (beyond) too_large.push_back(name + ": " + *beyond);
    auto const forecast = forecast_of(*waits, settings);
    if (!forecast) {
      table.add_row({name, "-", "-", "-", beyond ? "none so large" : "too few", "-", "-"});
      continue;
    }
    table.add_row(
        {name, wait_text(forecast->median), wait_text(forecast->low), wait_text(forecast->high),
         std::to_string(forecast->jobs), std::to_string(forecast->held_out),
         forecast->held_out == 0 ? "-"
                                 : percent(share(forecast->held_out_inside, forecast->held_out))});
    notes.push_back(name + ": " + likeness[forecast->likeness]);
  }
  std::string text = "\nForecast for a job of " + size_text(settings.size) +
                     ": with a probability of " + exact_text(settings.interval) + " it waits\n\n" +
                     table.text();
  if (!too_large.empty())
    text +=
        "\nNo job was nearly as large, so there is no forecast: " + joined(too_large, "; ") + ".\n";
  bool const has_size = size_text(settings.size) != size_text({});
  if (has_size && !notes.empty())
    text += "\nMade from jobs that are alike: " + joined(notes, "; ") + ".\n";
  return text;
}

Report waits_report(WaitHistogram const& waits) {
  Report report;
  report["jobs"] = waits.count();
  report["mean"] = waits.mean();
  report["longest"] = waits.longest();
  Report& list = report["quantiles"];
  for (double const q : quantiles) list[exact_text(q)] = waits.quantile(q);
  return report;
}

Report histogram_report(WaitHistogram const& waits) {
  Report bins = Report::array();
  for (int bin = 0; bin < WaitHistogram::bins; ++bin)
    if (std::int64_t const count = waits.count_of(bin); count > 0)
      bins.push_back({WaitHistogram::first_second(bin), WaitHistogram::last_second(bin), count});
  return bins;
}

Report forecast_report(PartitionWaits const& waits, QueueSettings const& settings) {
  auto const forecast = forecast_of(waits, settings);
  if (!forecast) return nullptr;
  Report report;
  report["median"] = forecast->median;
  report["low"] = forecast->low;
  report["high"] = forecast->high;
  report["jobs"] = forecast->jobs;
  report["likeness"] = likeness[forecast->likeness];
  report["held_out"] = forecast->held_out;
  report["coverage"] = share(forecast->held_out_inside, forecast->held_out);
  return report;
}

Report partition_report(Shown const& shown, Properties const& properties,
                        QueueSettings const& settings) {
  auto const& waits = *shown.waits;
  Report report;
  report["name"] = shown.name;
  report["running"] = waits.running;
  report["pending"] = waits.pending;
  report["never_started"] = waits.never_started;
  report["waits"] = waits_report(waits.all);
  Report& within = report["within"];
  for (std::size_t n = 0; n < spans.size(); ++n)
    within[std::to_string(spans[n].seconds)] = share(waits.within[n], waits.all.count());
  for (std::size_t n = 0; n < property_count; ++n) {
    auto const& property = properties[n];
    Report& classes = report["by"][property.key] = Report::array();
    for (std::size_t m = 0; m < property.labels.size(); ++m) {
      if (waits.by[n][m].count() == 0) continue;
      Report one;
      one["class"] = property.labels[m];
      one["begins"] = property.begins[m];
      one.update(waits_report(waits.by[n][m]));
      classes.push_back(one);
    }
  }
  report["histogram"] = histogram_report(waits.all);
  report["forecast"] = nullptr;
  if (settings.forecast) report["forecast"] = forecast_report(waits, settings);
  return report;
}

}  // namespace

std::string size_text(Size const& size) {
  std::vector<std::string> parts;
  if (size.cores) parts.push_back(counted(*size.cores, "cores"));
  if (size.gpus) parts.push_back(counted(*size.gpus, "GPUs"));
  if (size.bytes) {
    char text[40];
    std::snprintf(text, sizeof text, "%.3g GiB", *size.bytes / (1024. * 1024 * 1024));
    parts.emplace_back(text);
  }
  if (size.limit) parts.push_back("a limit of " + wait_text(static_cast<double>(*size.limit)));
  if (size.hour) parts.push_back("submitted at " + std::to_string(*size.hour) + " h");
  return parts.empty() ? "any size" : joined(parts, ", ");
}

std::optional<Forecaster::Forecast> forecast_of(PartitionWaits const& waits,
                                                QueueSettings const& settings) {
  if (waits.forecaster.beyond(settings.size)) return {};
  return waits.forecaster.forecast(settings.interval);
}

std::string wait_text(double seconds) {
  if (std::isnan(seconds)) return "-";
  struct Unit {
    double seconds;
    char const* name;
  };
  // A number changes to the next unit where it is two of these.
  Unit unit = {1, "s"};
  for (Unit const& next : {Unit{60, "min"}, Unit{3600, "h"}, Unit{86400, "d"}})
    if (seconds >= 2 * next.seconds) unit = next;
  double const number = seconds / unit.seconds;
  char text[48];
  bool const is_whole = unit.seconds == 1 || number >= 10;
  std::snprintf(text, sizeof text, is_whole ? "%.0f %s" : "%.1f %s", number, unit.name);
  return text;
}

std::string moment_text(Seconds moment) {
  using namespace std::chrono;
  auto const days = duration_cast<std::chrono::days>(seconds(moment));
  year_month_day const date{sys_days(days)};
  int const rest = static_cast<int>(moment % 86400);
  char text[80];
  std::snprintf(text, sizeof text, "%04d-%02u-%02uT%02d:%02d:%02d", static_cast<int>(date.year()),
                static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()), rest / 3600,
                rest / 60 % 60, rest % 60);
  return text;
}

std::vector<Shown> shown_partitions(Statistics const& statistics) {
  bool const one_cluster = clusters_of(statistics).size() == 1;
  std::vector<Shown> shown;
  for (auto const& [name, waits] : statistics.partitions())
    if (waits.all.count() > 0) shown.push_back({one_line(short_name(name, one_cluster)), &waits});
  std::sort(shown.begin(), shown.end(), [](Shown const& a, Shown const& b) {
    auto const more = a.waits->all.count() - b.waits->all.count();
    return more != 0 ? more > 0 : a.name < b.name;
  });
  return shown;
}

std::vector<std::string> partition_names(Statistics const& statistics) {
  bool const one_cluster = clusters_of(statistics).size() == 1;
  std::vector<std::string> names;
  for (auto const& [name, waits] : statistics.partitions())
    names.push_back(short_name(name, one_cluster));
  std::sort(names.begin(), names.end());
  return names;
}

std::string text_of(Statistics const& statistics, QueueSettings const& settings) {
  auto const partitions = shown_partitions(statistics);
  auto const sum = sum_of(partitions);
  std::string text = summary_of(statistics, settings) + waits_table(partitions, sum) +
                     within_table(partitions, sum);
  std::vector<std::string> unknown;
  for (std::size_t n = 0; n < static_cast<std::size_t>(By::hour); ++n) {
    if (is_known(sum, n))
      text += class_table(partitions, sum, statistics.properties(), n);
    else
      unknown.emplace_back(statistics.properties()[n].title);
  }
  text += hour_table(sum, statistics.properties());
  if (!unknown.empty())
    text += "\nNot shown, because no column tells: " + joined(unknown, ", ") +
            ". sacct's columns ReqCPUS, ReqMem, ReqTRES and Timelimit do.\n";
  return text + forecast_text(partitions, settings) + broken_text(statistics.broken(), settings);
}

Report queue_report(Statistics const& statistics, QueueSettings const& settings,
                    QueueFigures const& figures) {
  auto const& counts = statistics.counts();
  Report report;
  report["application"] = "coir-queue";
  report["version"] = version;
  report["kokkos_version"] = figures.host.kokkos_version;
  report["threads"] = figures.host.threads;
  report["inputs"] = Report::array();
  for (auto const& input : settings.inputs) report["inputs"].push_back(input.string());
  report["seconds"] = figures.seconds;
  report["bytes_read"] = figures.bytes;
  report["rows_per_second"] = static_cast<double>(counts.rows) / figures.seconds;
  report["bytes_peak"] = peak_resident_bytes();
  report["rows"] = counts.rows;
  report["jobs"] = counts.started;
  report["pending"] = counts.pending;
  report["never_started"] = counts.never_started;
  report["steps"] = counts.steps;
  report["components"] = counts.components;
  report["left_out"] = counts.left_out;
  report["wait_from"] = statistics.had_column(Column::eligible) ? wait_from_name(settings.wait_from)
                                                                : wait_from_name(WaitFrom::submit);
  report["first_submit"] = moment_text(statistics.first_submit());
  report["last_submit"] = moment_text(statistics.last_submit());
  report["quantile_relative_error"] = WaitHistogram::relative_error;
  report["forecast_for"] = nullptr;
  if (settings.forecast) {
    Report& size = report["forecast_for"];
    size["cores"] = or_null(settings.size.cores);
    size["gpus"] = or_null(settings.size.gpus);
    size["bytes"] = or_null(settings.size.bytes);
    size["limit_seconds"] = or_null(settings.size.limit);
    size["hour"] = or_null(settings.size.hour);
    size["probability"] = settings.interval;
  }
  report["partitions"] = Report::array();
  for (auto const& shown : shown_partitions(statistics))
    report["partitions"].push_back(partition_report(shown, statistics.properties(), settings));
  report["broken"]["count"] = statistics.broken().count();
  Report& kinds = report["broken"]["kinds"] = Report::array();
  for (auto const& [key, some] : statistics.broken().kinds()) {
    Report kind;
    kind["why"] = in_words(key);
    kind["count"] = some.count;
    kind["first"] = Report::array();
    for (auto const& [file, line, what] : some.named)
      kind["first"].push_back({{"input", settings.inputs[static_cast<std::size_t>(file)].string()},
                               {"line", line},
                               {"what", what}});
    kinds.push_back(kind);
  }
  return report;
}

}  // namespace coir::apps::queue
