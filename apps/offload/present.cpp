#include "present.hpp"

#include <compare/json_place.hpp>
#include <support/report.hpp>
#include <support/table.hpp>
#include <support/units.hpp>

#include <coir/core/errors.hpp>
#include <coir/core/version.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <tuple>

namespace coir::apps::offload {

namespace {

std::string number_text(double number) {
  char text[32];
  if (number >= 999.5) return count_text(number);
  std::snprintf(text, sizeof text, "%.3g", number);
  return text;
}

std::string factor_text(double factor) { return number_text(factor) + " x"; }

/// "12.3 x", and "1/12.3 x" of losses.
std::string gain_text(double gain) {
  return gain < 1 ? "1/" + factor_text(1 / gain) : factor_text(gain);
}

std::string seconds_text(double seconds) { return with_unit(seconds, "s"); }

/// The options, or parts of a job's description, that messages advise to change.
struct Remedy {
  char const *too_short, *too_long;
};

constexpr Remedy of_options{
    "tell more of what it does (--flops, --bytes), or begin at a larger size (--from)",
    "its laws or the sizes (--to) are too large"};
constexpr Remedy of_jobs{"tell more of what it does (its flops, bytes), or a larger size",
                         "its laws, repeats or size are too large"};

void expects_times(Times const& times, std::string const& name, double size, Remedy const& remedy) {
  for (auto const& [seconds, where] :
       {std::pair(times.host, "on the cores"), std::pair(times.device, "on the device")}) {
    expects(seconds > 0, name + " takes no time " + where + " at size " + in_words(size) + ": " +
                             remedy.too_short);
    expects(std::isfinite(seconds), name + " takes no finite time " + where + " at size " +
                                        in_words(size) + ": " + remedy.too_long);
  }
  // Of others sums and inverses would be infinite.
  expects(is_measurable(times.gain()),
          name + " at size " + in_words(size) +
              " differs too much between cores and device for a number: check the rates");
}

/// Round sizes between two: powers of ten, with 2 and 5 times these where there are few.
std::vector<double> round_sizes(double from, double to) {
  bool const few = to / from < 1e5;
  std::vector<double> sizes{from};
  for (int power = 0; power <= 15; ++power)
    for (double const step : {1., 2., 5.}) {
      double const size = step * std::pow(10., power);
      if (size > from && size < to && (few || step == 1)) sizes.push_back(size);
    }
  if (to > from) sizes.push_back(to);
  return sizes;
}

SizeRow row_for(Answer const& answer, double size) {
  auto const& work = answer.work;
  SizeRow row{size, times_of(work, answer.speeds, size), 0, {}, {}};
  expects_times(row.times, work.name, size, of_options);
  row.repeats = repeats_to_pay(work, answer.speeds, size);
  double const values = (work.in.at(size) + work.out.at(size)) / answer.value_bytes;
  if (!(values > 0)) return row;
  row.flops_per_value = work.repeats * work.flops.at(size) / values;
  if (auto const flops = flops_to_pay(work, answer.speeds, size))
    row.needed_per_value = work.repeats * *flops / values;
  return row;
}

std::string text_table(Grid const& grid) {
  Table table(grid.headings);
  for (auto const& row : grid.rows) table.add_row(row);
  return table.text();
}

std::string value_words(double value_bytes) {
  return value_bytes == 4 ? "value of 4 bytes" : "value of 8 bytes";
}

}  // namespace

std::string gain_words(double gain) {
  return gain >= 1 ? number_text(gain) + " times as fast"
                   : number_text(1 / gain) + " times as slow";
}

Answer answer_for(OffloadWork const& work, std::string const& source, Speeds const& speeds,
                  double from, double to, double value_bytes) {
  Answer answer{work, source, from, to, value_bytes, speeds, {}, {}, {}, {}};
  std::vector<double> sizes = round_sizes(from, to);
  if (work.measured) {
    sizes.clear();
    for (auto const& [size, seconds] : work.measured->host)
      if (size >= from && size <= to) sizes.push_back(size);
    for (double const end : {from, to})
      if (std::find(sizes.begin(), sizes.end(), end) == sizes.end()) sizes.push_back(end);
    std::sort(sizes.begin(), sizes.end());
  }
  for (double const size : sizes) answer.rows.push_back(row_for(answer, size));
  auto const gain = [&](double size) { return times_of(work, speeds, size).gain(); };
  answer.break_evens = break_evens(gain, from, to);
  std::tie(answer.worst, answer.best) = extremes(gain, from, to);
  return answer;
}

FleetAnswer answer_for(std::vector<Job> jobs, Speeds const& speeds, double stop_after) {
  for (Job& job : jobs) {
    job.times = times_of(job.work, speeds, job.size);
    expects_times(job.times, job.work.name, job.size, of_jobs);
  }
  FleetAnswer answer{std::move(jobs), {}, stop_after};
  answer.policies = policies_of(answer.jobs, stop_after);
  return answer;
}

Grid figures_grid(MachineFigures const& figures) {
  Grid grid{{"figure", "value", "where it is from"}, {}};
  for (auto const& info : figure_infos())
    if (auto const found = figures.find(info.key); found != figures.end())
      grid.rows.push_back(
          {info.title, with_unit(found->second.value, info.unit),
           (found->second.measured ? "measured: " : "told by ") + found->second.source});
  return grid;
}

Grid work_grid(Answer const& answer) {
  OffloadWork const& work = answer.work;
  Grid grid{{"work", "of size n", "where it is from"}, {}};
  std::string const told = "told by options";
  if (work.measured)
    grid.rows = {{"time of a pass", "as measured", answer.source}};
  else
    grid.rows = {{"operations of a pass", work.flops.text(), answer.source},
                 {"bytes that a pass moves in memory", work.bytes.text(), answer.source},
                 {"launches of a pass", work.launches.text(), answer.source}};
  grid.rows.insert(grid.rows.end(),
                   {{"bytes to the device", work.in.text(), told},
                    {"bytes back", work.out.text(), told},
                    {"passes while the data are there", number_text(work.repeats), told}});
  return grid;
}

Grid sizes_grid(Answer const& answer) {
  Grid grid{
      {"n", "cores", "device", "of it transfers", "gain", "passes to pay", "flops/value", "to pay"},
      {}};
  bool const has_values = !answer.work.measured &&
                          std::any_of(answer.rows.begin(), answer.rows.end(),
                                      [](SizeRow const& row) { return row.flops_per_value > 0; });
  if (!has_values) grid.headings.resize(6);
  for (auto const& [size, times, flops, needed, repeats] : answer.rows) {
    grid.rows.push_back({count_text(size), seconds_text(times.host), seconds_text(times.device),
                         seconds_text(times.transfers), gain_text(times.gain()),
                         repeats ? number_text(*repeats) : "never"});
    if (has_values) {
      grid.rows.back().push_back(number_text(flops));
      grid.rows.back().push_back(needed ? number_text(*needed) : "never");
    }
  }
  return grid;
}

Grid jobs_grid(FleetAnswer const& answer) {
  Grid grid{{"job", "share", "n", "cores", "device", "of it transfers", "gain", "where it is from"},
            {}};
  for (Job const& job : answer.jobs)
    grid.rows.push_back({job.work.name, percent(job.share), count_text(job.size),
                         seconds_text(job.times.host), seconds_text(job.times.device),
                         seconds_text(job.times.transfers), gain_text(job.times.gain()),
                         job.row.empty() ? "told" : "measured: " + job.row});
  return grid;
}

Grid policies_grid(FleetAnswer const& answer) {
  Grid grid{{"jobs run", "time, by that on cores", "against right guesses", "most lost on a job"},
            {}};
  for (auto const& [name, time, lost, most] : answer.policies)
    grid.rows.push_back({name, factor_text(time), factor_text(lost), factor_text(most)});
  return grid;
}

std::vector<std::string> findings(Answer const& answer) {
  std::vector<std::string> lines;
  std::string const range = answer.from == answer.to ? "at n = " + count_text(answer.from)
                                                     : "from n = " + count_text(answer.from) +
                                                           " to " + count_text(answer.to);
  if (answer.break_evens.empty()) {
    bool const pays = answer.best.gain > 1;
    std::string const all = pays ? "at every size " : "at any size ";
    lines.push_back((pays ? "The device pays " : "The device doesn't pay ") +
                    (answer.from == answer.to ? "" : all) + range + ".");
  }
  for (auto const& [size, above] : answer.break_evens)
    lines.push_back((above ? "The device pays from n = " : "The cores are faster from n = ") +
                    count_text(size) + " on.");
  auto const at = [](Extreme const& extreme) {
    return ", at n = " + count_text(extreme.size) + ".";
  };
  lines.push_back("At best it is " + gain_words(answer.best.gain) + at(answer.best));
  lines.push_back((answer.worst.gain < 1 ? "At worst it is " : "At least it is ") +
                  gain_words(answer.worst.gain) + at(answer.worst));
  auto const& speeds = answer.speeds;
  if (answer.work.measured) return lines;
  std::string const carried = " carried there and back (two transfers) must ";
  if (auto const flops = flops_per_value(speeds, answer.value_bytes))
    lines.push_back("Where operations are the limit, a " + value_words(answer.value_bytes) +
                    carried + "take part in " + number_text(*flops) + " of them or more.");
  if (auto const bytes = bytes_per_byte(speeds))
    lines.push_back("Where memory is the limit, each byte" + carried + "be moved " +
                    number_text(*bytes) + " times or more.");
  return lines;
}

std::vector<std::string> findings(FleetAnswer const& answer) {
  auto const& policies = answer.policies;
  return {"Right guesses take " + number_text(policies[2].time) +
              " of the time that all takes on the cores, wrong ones " +
              number_text(policies[3].time) + " of it: a factor " + number_text(policies[3].lost) +
              " is lost at most.",
          "A job that begins on the device and goes to the cores once " +
              (answer.stop_after == 1 ? std::string("the time")
                                      : number_text(answer.stop_after) + " times the time") +
              " that they take has passed loses at most a factor " +
              number_text(stop_loss(answer.stop_after)) + ", whatever job it is."};
}

Report offload_report(MachineFigures const& figures, std::optional<Answer> const& answer,
                      std::optional<FleetAnswer> const& fleet) {
  Report report{
      {"application", "coir-offload"}, {"version", version}, {"figures", Report::object()}};
  for (auto const& info : figure_infos()) {
    Report& figure = report["figures"][info.key] = nullptr;
    if (auto const found = figures.find(info.key); found != figures.end())
      figure = {{"value", found->second.value},
                {"unit", info.unit},
                {"measured", found->second.measured},
                {"source", found->second.source}};
  }
  if (answer) {
    OffloadWork const& work = answer->work;
    bool const is_told = !work.measured;
    auto const law = [&](Law const& one) { return is_told ? Report(one.text()) : Report(nullptr); };
    report["work"] = {{"name", work.name},          {"source", answer->source},
                      {"measured", !is_told},       {"flops", law(work.flops)},
                      {"bytes", law(work.bytes)},   {"launches", law(work.launches)},
                      {"bytes_in", work.in.text()}, {"bytes_out", work.out.text()},
                      {"repeats", work.repeats},    {"value_bytes", answer->value_bytes}};
    report["sizes"] = Report::array();
    for (auto const& row : answer->rows)
      report["sizes"].push_back({{"size", row.size},
                                 {"host_seconds", row.times.host},
                                 {"device_seconds", row.times.device},
                                 {"transfer_seconds", row.times.transfers},
                                 {"gain", row.times.gain()},
                                 {"repeats_to_pay", or_null(row.repeats)},
                                 {"flops_per_value", row.flops_per_value},
                                 {"flops_per_value_to_pay", or_null(row.needed_per_value)}});
    report["break_even"] = Report::array();
    for (auto const& [size, above] : answer->break_evens)
      report["break_even"].push_back(
          {{"size", size}, {"device_faster", above ? "above" : "below"}});
    report["best"] = {{"gain", answer->best.gain}, {"size", answer->best.size}};
    report["worst"] = {{"gain", answer->worst.gain}, {"size", answer->worst.size}};
    report["flops_per_value_there_and_back"] =
        or_null(flops_per_value(answer->speeds, answer->value_bytes));
    report["bytes_moved_per_byte_there_and_back"] = or_null(bytes_per_byte(answer->speeds));
  }
  if (fleet) {
    report["jobs"] = Report::array();
    for (Job const& job : fleet->jobs)
      report["jobs"].push_back({{"name", job.work.name},
                                {"share", job.share},
                                {"size", job.size},
                                {"measured", !job.row.empty()},
                                {"row", job.row.empty() ? Report(nullptr) : Report(job.row)},
                                {"host_seconds", job.times.host},
                                {"device_seconds", job.times.device},
                                {"transfer_seconds", job.times.transfers},
                                {"gain", job.times.gain()}});
    report["policies"] = Report::array();
    for (auto const& policy : fleet->policies)
      report["policies"].push_back({{"name", policy.name},
                                    {"time", policy.time},
                                    {"against_right_guesses", policy.lost},
                                    {"most_lost_on_a_job", policy.most_lost}});
    report["stop_after"] = fleet->stop_after;
    report["stop_loss"] = stop_loss(fleet->stop_after);
  }
  return report;
}

std::string text_of(MachineFigures const& figures, std::optional<Answer> const& answer,
                    std::optional<FleetAnswer> const& fleet) {
  std::string text;
  if (auto const grid = figures_grid(figures); !grid.rows.empty()) text += text_table(grid) + '\n';
  auto const add_lines = [&](std::vector<std::string> const& lines) {
    for (auto const& line : lines) text += line + '\n';
  };
  if (answer) {
    text += text_table(work_grid(*answer)) + '\n' + text_table(sizes_grid(*answer)) + '\n';
    add_lines(findings(*answer));
  }
  if (fleet) {
    text += text_table(jobs_grid(*fleet)) + '\n' + text_table(policies_grid(*fleet)) + '\n';
    add_lines(findings(*fleet));
  }
  return text;
}

}  // namespace coir::apps::offload
