// coir-queue: how long jobs have waited in Slurm's queues, and how long one is going to.

#include "count.hpp"
#include "fields.hpp"
#include "present.hpp"
#include "reader.hpp"
#include "settings.hpp"

#include <coir/core/errors.hpp>
#include <coir/io/atomic_file.hpp>

#include <support/command_line.hpp>
#include <support/config_file.hpp>
#include <support/exit_codes.hpp>
#include <support/interrupt.hpp>
#include <support/options.hpp>
#include <support/report.hpp>
#include <support/run.hpp>
#include <support/same_file.hpp>
#include <support/text.hpp>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <initializer_list>
#include <iostream>
#include <optional>
#include <string>
#include <system_error>
#include <tuple>
#include <utility>
#include <vector>

namespace coir::apps::queue {

namespace {

char const description[] =
    "Reads what Slurm's sacct -P prints and shows how long jobs have waited, by partition, size\n"
    "and hour, so that one can decide where and when to submit. With --forecast: how long a job\n"
    "of a given size is going to wait.";

char const examples[] =
    "Examples:\n"
    "  sacct -a -P -S 2025-01-01 -E now -o JobID,Partition,Submit,Eligible,Start,State,\\\n"
    "ReqCPUS,ReqMem,ReqTRES,Timelimit > jobs.txt\n"
    "  coir-queue jobs.txt\n"
    "  coir-queue jobs.txt --partition gpu --picture waits.svg --report waits.json\n"
    "  coir-queue jobs.txt --core-hours 4,4 --gib-hours 4,4\n"
    "  coir-queue jobs.txt --forecast --gpus 2 --cores 16 --time-limit 12:00:00\n"
    "  zcat 2024.txt.gz | coir-queue - --from 2024-06-01\n"
    "\n"
    "Of the columns JobID, Partition, Submit and Start must be there. Rows are read once;\n"
    "quantiles are within 1.6 % of the exact ones, and exact below 64 s.\n"
    "The forecast takes jobs of the partition that were alike, at least 200 of them, and the\n"
    "interval between those of their waits that enclose the next one with the probability asked\n"
    "for if waits come in any order. It is tried on days that it hasn't seen, every fifth one:\n"
    "the table says which share of their jobs was inside.\n"
    "\n"
    "Exit codes: 0 done, 2 wrong option or unknown partition, 3 no sacct text or no job left,\n"
    "4 memory or disk short, 6 threads can't start, 130 stopped by Ctrl-C, 143 by SIGTERM,\n"
    "129 by SIGHUP. Kokkos' own arguments (--kokkos-...) are passed on to it.";

/// A list of names with commas between them.
void add_names(CommandLine& line, std::string const& name, std::vector<std::string>& list,
               std::string const& help, std::string const& word = "NAME") {
  auto const parse = [=, &list](std::string const& text) {
    list = split(text, ',');
    for (auto const& part : list)
      expects(!part.empty(), name + " must be one name, or several with commas between them",
              "'" + text + "'");
  };
  line.add_option(name, parse, help).type_name(word + ",...");
}

void add_moment(CommandLine& line, std::string const& name, std::optional<Seconds>& moment,
                std::string const& help) {
  auto const parse = [=, &moment](std::string const& text) {
    moment = parse_moment(
        text.size() == 10 && text.find('-') != std::string::npos ? text + "T00:00:00" : text);
    expects(moment.has_value(),
            name + " must be a time from 1970 to 2199, like 2025-01-31 or 2025-01-31T12:00:00",
            "'" + text + "'");
  };
  line.add_option(name, parse, help).type_name("TIME");
}

/// Reads a time limit as sbatch does: a number alone is minutes.
std::optional<Seconds> parse_limit(std::string const& text) {
  if (!text.empty() && text.find_first_not_of("0123456789") == std::string::npos) {
    auto const minutes = parse_count(text);
    return minutes ? std::optional<Seconds>(*minutes * 60) : std::nullopt;
  }
  return parse_duration(text);
}

/// Classes given as FIRST,FACTOR or FIRST,FACTOR,COUNT.
void add_classes(CommandLine& line, std::string const& name, GrowingClasses& classes,
                 std::string const& help) {
  auto const parse = [=, &classes](std::string const& text) {
    auto const parts = split(text, ',');
    expects(parts.size() == 2 || parts.size() == 3,
            name +
                " must be the first bound and a factor, like 4,4, or with the count of classes, "
                "like 4,4,8",
            "'" + text + "'");
    classes.first = parse_number(name, parts[0]);
    classes.factor = parse_number(name, parts[1]);
    if (parts.size() == 3)
      classes.count =
          static_cast<int>(parse_whole_number(name + "'s count of classes", parts[2], 2, 32));
    expects(classes.first >= 1e-6 && classes.first <= 1e9,
            name + ": the first bound must be from 1e-6 to 1e9", "'" + parts[0] + "'");
    expects(classes.factor >= 1.1 && classes.factor <= 1e4,
            name + ": the factor must be from 1.1 to 10000", "'" + parts[1] + "'");
  };
  line.add_option(name, parse, help).type_name("FIRST,FACTOR[,COUNT]");
}

void add_forecast(CommandLine& line, QueueSettings& settings) {
  auto& size = settings.size;
  auto const forecast = line.add_flag("--forecast", settings.forecast,
                                      "How long a job of this size is going to wait:");
  add_whole_number(line, "--cores", size.cores, "its cores", 1, 1'000'000'000).needs(forecast);
  add_whole_number(line, "--gpus", size.gpus, "its GPUs, 0 for none", 0, 1'000'000'000)
      .needs(forecast);
  line.add_option(
          "--memory",
          [&size](std::string const& text) {
            auto const memory = parse_memory(text);
            expects(memory && memory->of == MemoryOf::job && memory->bytes > 0,
                    "--memory must be that of the whole job, like 4000M or 16G", "'" + text + "'");
            size.bytes = memory->bytes;
          },
          "its memory, like 16G; MiB without a unit")
      .type_name("SIZE")
      .needs(forecast);
  line.add_option(
          "--time-limit",
          [&size](std::string const& text) {
            size.limit = parse_limit(text);
            expects(size.limit.value_or(0) > 0,
                    "--time-limit must be like 1-02:03:04, 12:00:00 or 90 (minutes)",
                    "'" + text + "'");
          },
          "its limit, like 1-02:03:04, 12:00:00 or minutes")
      .type_name("TIME")
      .needs(forecast);
  add_whole_number(line, "--hour", size.hour, "the hour of its submission, from 0 to 23", 0, 23)
      .needs(forecast);
  line.add_option(
          "--interval",
          [&settings](std::string const& text) {
            double const probability = parse_number("--interval", text);
            expects(probability >= 0.5 && probability <= 0.99,
                    "--interval must be a probability from 0.5 to 0.99", probability);
            settings.interval = probability;
          },
          "Probability of the interval (default 0.9)")
      .type_name("P")
      .needs(forecast);
}

void add_options(CommandLine& line, QueueSettings& settings) {
  auto const set_inputs = [&settings](std::vector<std::string> const& names) {
    settings.inputs.assign(names.begin(), names.end());
  };
  line.add_list("FILE", set_inputs,
                "What sacct -P wrote: files, pipes, or - for the standard input")
      .required()
      .type_name("FILE");
  add_names(line, "--partition", settings.filters.partitions, "Only these partitions");
  add_names(line, "--cluster", settings.filters.clusters, "Only these clusters");
  add_names(line, "--user", settings.filters.users, "Only jobs of these users");
  add_names(line, "--account", settings.filters.accounts, "Only jobs of these accounts");
  add_names(line, "--state", settings.filters.states,
            "Only jobs in these states, such as COMPLETED,TIMEOUT", "STATE");
  add_moment(line, "--from", settings.filters.from, "Only jobs submitted then or later");
  add_moment(line, "--to", settings.filters.to, "Only jobs submitted before then");
  add_choice(line, "--wait-from", settings.wait_from,
             std::vector<std::pair<std::string, WaitFrom>>{{"eligible", WaitFrom::eligible},
                                                           {"submit", WaitFrom::submit}},
             "When waits begin: once a job could have started, or at its submission\n"
             "(default eligible, if there is such a column)");
  add_classes(line, "--core-hours", settings.core_hours,
              "Classes of core hours: the first bound and the factor to the next,\n"
              "and how many classes (default 1,10,6)");
  add_classes(line, "--gib-hours", settings.memory_hours,
              "The same of GiB hours, memory x time limit (default 1,10,6)");
  add_forecast(line, settings);
  add_file(line, "--picture", settings.picture, "Draw the distributions (.svg)");
  add_file(line, "--report", settings.report, "Write all figures as JSON");
  add_progress_and_quiet(line, settings.progress, settings.quiet);
  add_config_file(line);
}

/// Options that contradict each other, and outputs that can't be written, found before any work.
void expects_consistent(CommandLine const& line, QueueSettings const& settings) {
  for (auto const& input : settings.inputs)
    expects(!input.empty(), "FILE must be a file or -, not ''");
  auto const standard = std::count(settings.inputs.begin(), settings.inputs.end(), "-");
  expects(standard <= 1, "the standard input can be read once: name - once");
  auto const& [from, to] = std::pair(settings.filters.from, settings.filters.to);
  if (from && to)
    expects(*from < *to, "--from must be before --to",
            moment_text(*from) + " and " + moment_text(*to));
  if (!settings.picture.empty())
    expects(settings.picture.extension() == ".svg", "--picture must name a file that ends in .svg",
            in_quotes(settings.picture.string()));
  std::vector<NamedFile> inputs = {{"--config", line.option("--config").text()}};
  for (auto const& input : settings.inputs) {
    if (input != "-")
      inputs.push_back({"FILE", input});
    else if (std::error_code none; std::filesystem::is_regular_file("/dev/stdin", none))
      inputs.push_back({"the standard input", "/dev/stdin"});
  }
  expects_good_files({{"--picture", settings.picture}, {"--report", settings.report}}, inputs);
}

/// A list for a message, of which the first 40 are enough.
std::string some_of(std::vector<std::string> names) {
  constexpr std::size_t most = 40;
  std::size_t const all = names.size();
  if (all > most) {
    names.resize(most);
    names.push_back("and " + std::to_string(all - most) + " more");
  }
  return names.empty() ? "none" : joined(names, ", ");
}

/// \throws PreconditionError naming a partition that the text lacks, or a column that a filter
///   needs
void expects_known(Statistics const& statistics, QueueSettings const& settings) {
  auto const names = partition_names(statistics);
  for (auto const& wanted : settings.filters.partitions)
    expects(
        std::any_of(names.begin(), names.end(),
                    [&](std::string const& name) {
                      return name == wanted || name.ends_with('/' + wanted) ||
                             wanted.ends_with('/' + name);
                    }),
        "--partition " + wanted + ": there is no such partition; the text has " + some_of(names));
  for (auto const& [option, list, column] :
       {std::tuple("--cluster", &Filters::clusters, Column::cluster),
        std::tuple("--user", &Filters::users, Column::user),
        std::tuple("--account", &Filters::accounts, Column::account),
        std::tuple("--state", &Filters::states, Column::state)})
    expects((settings.filters.*list).empty() || statistics.had_column(column),
            std::string(option) + " needs the column " + column_name(column) +
                ": add it to sacct's list, -o ...");
}

/// \throws InputError if there is nothing to show
void expects_jobs(Statistics const& statistics) {
  auto const& counts = statistics.counts();
  if (counts.started > 0) return;
  std::string const tally = counted(counts.rows, "rows") + ", " + std::to_string(counts.left_out) +
                            " left out by filters, " +
                            std::to_string(counts.pending + counts.never_started) +
                            " not started, " + counted(counts.steps, "steps") + ", " +
                            std::to_string(statistics.broken().count()) + " broken";
  std::string remedy = "ask sacct for more (-a -S 2025-01-01), or filter less";
  if (auto const& kinds = statistics.broken().kinds();
      !kinds.empty() && statistics.broken().count() > counts.left_out) {
    auto const& [key, some] = *std::max_element(
        kinds.begin(), kinds.end(),
        [](auto const& a, auto const& b) { return a.second.count < b.second.count; });
    remedy = "most are broken by " + in_words(key) + ", the first in line " +
             std::to_string(some.named.front().line) + ": " + some.named.front().what;
    if (key.second == Column::submit || key.second == Column::start ||
        key.second == Column::eligible)
      remedy += "; sacct writes times that can be read with SLURM_TIME_FORMAT=standard";
  }
  throw InputError("no job is left whose wait is known: " + tally + "; " + remedy);
}

/// \throws PreconditionError if the forecast asks for a size that the text doesn't tell
void expects_sizes(Statistics const& statistics, Size const& size) {
  auto const has_one_of = [&](std::initializer_list<Column> some) {
    return std::any_of(some.begin(), some.end(),
                       [&](Column column) { return statistics.had_column(column); });
  };
  bool const has_resources = has_one_of({Column::requested_resources, Column::resources});
  expects(!size.cores || has_resources || has_one_of({Column::requested_cores, Column::cores}),
          "--cores needs the column ReqCPUS: add it to sacct's list, -o ...");
  expects(!size.gpus || has_resources,
          "--gpus needs the column ReqTRES: add it to sacct's list, -o ...");
  expects(!size.bytes || has_resources || has_one_of({Column::memory}),
          "--memory needs the column ReqMem: add it to sacct's list, -o ...");
  expects(!size.limit || has_one_of({Column::limit, Column::limit_minutes}),
          "--time-limit needs the column Timelimit: add it to sacct's list, -o ...");
}

Statistics read_inputs(QueueSettings const& settings, QueueFigures& figures) {
  Activity const reading("reading");
  auto const begin = std::chrono::steady_clock::now();
  ProgressLine progress("reading", "bytes", settings.progress);
  AccountingReader reader(settings.inputs, [&progress](std::int64_t done, std::int64_t total) {
    progress.update(done, total);
  });
  Statistics statistics = count(reader, settings);
  figures = {std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count(),
             reader.bytes(), this_host()};
  return statistics;
}

ExitCode show(QueueSettings const& settings) {
  say_of_files("nothing was written");
  QueueFigures figures;
  Statistics const statistics = read_inputs(settings, figures);
  expects_known(statistics, settings);
  expects_jobs(statistics);
  if (settings.forecast) expects_sizes(statistics, settings.size);
  stop_if_interrupted();
  if (!settings.picture.empty()) {
    Activity const writing("writing " + settings.picture.string());
    io::write_file(settings.picture, picture_of(statistics, settings));
    say_of_files("what was written is whole");
  }
  if (!settings.report.empty()) {
    Activity const writing("writing " + settings.report.string());
    write_report(settings.report, queue_report(statistics, settings, figures));
    say_of_files("what was written is whole");
  }
  if (!settings.quiet) std::cout << text_of(statistics, settings);
  return ExitCode::success;
}

}  // namespace

}  // namespace coir::apps::queue

int main(int argc, char** argv) {
  using namespace coir::apps::queue;
  coir::apps::CommandLine line("coir-queue", description, examples);
  QueueSettings settings;
  add_options(line, settings);

  return coir::apps::run_on_cores(line, argc, argv, [&] {
    expects_consistent(line, settings);
    return show(settings);
  });
}
