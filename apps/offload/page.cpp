#include "present.hpp"

#include <compare/chart.hpp>
#include <compare/html_page.hpp>
#include <support/units.hpp>

#include <vector>

namespace coir::apps::offload {

namespace {

// Styles of lines and dots, which are those of the pages of coir-compare.
constexpr std::size_t cores = 0, device = 1, rule = 2;

std::string figure(std::string const& title, std::string const& content,
                   std::string const& attributes = "") {
  return "<figure" + attributes + ">\n<h3>" + escaped(title) + "</h3>\n" + content + "</figure>\n";
}

std::string legend(std::vector<std::pair<std::string, std::string>> const& samples) {
  std::string html = "<ul class=\"legend\">\n";
  for (auto const& [sample, words] : samples) html += "<li>" + sample + escaped(words) + "</li>\n";
  return html + "</ul>\n";
}

/// Time against size: lines through many sizes, markers at those of the table.
std::string time_plot(Answer const& answer) {
  Chart chart{answer.work.name + ": time against size", "n", {}, {}};
  chart.lines = {{"cores", {}, {}}, {"device", {}, {}}};
  std::size_t row = 0;
  auto const add = [&](double size, bool is_row) {
    Times const times = times_of(answer.work, answer.speeds, size);
    auto const tip = [&](std::string const& where, double seconds) {
      return is_row ? where + ": " + with_unit(seconds, "s") + ", n = " + count_text(size) : "";
    };
    chart.lines[cores].points.push_back({size, times.host, tip("cores", times.host)});
    chart.lines[device].points.push_back({size, times.device, tip("device", times.device)});
    chart.lines[device].limit.emplace_back(size, times.device - times.transfers);
  };
  for (double const size : fine_sizes(answer.from, answer.to)) {
    for (; row < answer.rows.size() && answer.rows[row].size <= size; ++row)
      add(answer.rows[row].size, true);
    if (row == 0 || answer.rows[row - 1].size < size) add(size, false);
  }
  for (auto const& [size, above] : answer.break_evens)
    chart.crossings.push_back({size, above ? "device" : "cores",
                               (above ? " pays from " : " are faster from ") + count_text(size)});
  return time_chart(chart, "time");
}

std::string jobs_plot(FleetAnswer const& answer) {
  RatioChart chart{"How many times as fast the device is", "as on the cores", {}};
  for (Job const& job : answer.jobs) {
    double const gain = job.times.gain();
    chart.strips.push_back(
        {job.work.name + ", " + percent(job.share) + ", n = " + count_text(job.size),
         {{gain > 1 ? device : cores, gain, job.work.name + ": " + gain_words(gain)}}});
  }
  return ratio_chart(chart);
}

std::string policies_plot(FleetAnswer const& answer) {
  RatioChart chart{"What guesses cost", "right guesses", {}};
  for (auto const& policy : answer.policies)
    chart.strips.push_back(
        {policy.name,
         {{rule, policy.lost, policy.name + ": all jobs take " + count_text(policy.lost) + " x"},
          {3, policy.most_lost,
           policy.name + ": a job loses " + count_text(policy.most_lost) + " x at most"}}});
  return ratio_chart(chart);
}

}  // namespace

std::string page_of(MachineFigures const& figures, std::optional<Answer> const& answer,
                    std::optional<FleetAnswer> const& fleet) {
  std::string html = begin_page("coir-offload") + "<h1>coir-offload</h1>\n";
  if (answer) {
    html += "<p class=\"soft\">Where the device pays: " + escaped(answer->work.name) + "</p>\n" +
            page_list(findings(*answer));
    html += figure(
        "Time against size",
        time_plot(*answer) + legend({{line_sample(cores), "cores"},
                                     {line_sample(device), "device, transfers included"},
                                     {limit_sample(), "device, if the data are there already"}}),
        " class=\"single\"");
    html += page_table(sizes_grid(*answer), "overview");
    html += "<h2>The work</h2>\n" + page_table(work_grid(*answer), "machines");
  }
  if (fleet) {
    html += "<p class=\"soft\">What a wrong guess costs</p>\n" + page_list(findings(*fleet));
    html += figure("How many times as fast each kind of job is on the device",
                   jobs_plot(*fleet) + legend({{line_sample(device), "faster on the device"},
                                               {line_sample(cores), "faster on the cores"}}));
    html += page_table(jobs_grid(*fleet), "overview");
    html += "<h2>Stop-loss</h2>\n" +
            figure("What is lost against right guesses",
                   policies_plot(*fleet) + legend({{line_sample(rule), "all jobs together"},
                                                   {line_sample(3), "the job that loses most"}}));
    html += page_table(policies_grid(*fleet), "overview");
  }
  if (auto const grid = figures_grid(figures); !grid.rows.empty())
    html += "<h2>The machine</h2>\n" + page_table(grid, "machines");
  return html + end_page();
}

}  // namespace coir::apps::offload
