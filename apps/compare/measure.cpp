#include "measure.hpp"

#include "benchmark_output.hpp"
#include "child.hpp"
#include "power_meter.hpp"

#include <compare/json_place.hpp>
#include <info/nvml.hpp>
#include <info/processor_energy.hpp>
#include <info/utc.hpp>
#include <support/host_name.hpp>
#include <support/interrupt.hpp>
#include <support/median.hpp>
#include <support/text.hpp>

#include <coir/core/errors.hpp>
#include <coir/core/other_programs.hpp>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <map>
#include <optional>
#include <utility>

namespace coir::apps::compare {

namespace fs = std::filesystem;

namespace {

constexpr double least_seconds = 0.1;  // that Google Benchmark spends on a row

/// A row of a contestant, as it is measured.
struct Measured {
  ComparedWork const* work;
  std::string numbers;  ///< "400/266"
  std::string name;     ///< "jacobi,kernel/400/266"
  std::vector<double> rounds;
  std::map<std::string, std::vector<double>> counters;
  std::string problem;  ///< why there will be no time; empty so far
};

/// The rows of one program of one contestant.
struct Program {
  fs::path path;               // of a build's benchmark; a peer's script
  std::vector<Measured> rows;  // in the order in which the program runs them
};

/// A build's programs, for its device or for the host beside it; or a peer.
struct Runner {
  fs::path folder;
  bool on_host;  // the programs called ..._host_bench, of builds with a device
  Build build;
  std::map<std::string, Program> programs;
  std::map<std::string, std::vector<Limits>> limits = {};  // of each program, in each round
  bool on_device = false;
  std::optional<Peer> peer = {};
};

std::string command_that_builds(fs::path const& folder) {
  std::string const name = folder.filename().string();
  std::string const configure =
      folder.parent_path().filename() == "build" ? "cmake --preset " + name + " && " : "";
  return configure + "cmake --build " + folder.string() +
         " --target compared (or scripts/compare.sh " + name + ")";
}

fs::path info_of(fs::path const& folder) { return folder / "apps" / "info" / "coir-info"; }

/// "array/table" -> build/openmp/bench/array/array_table_bench
fs::path program_of(Runner const& runner, std::string const& program) {
  auto const parts = split(program, '/');
  std::string const file = parts[0] + "_" + parts[1] + (runner.on_host ? "_host_bench" : "_bench");
  return runner.folder / "bench" / parts[0] / file;
}

fs::path without_last_slash(fs::path path) {
  path = path.lexically_normal();
  return path.has_filename() ? path : path.parent_path();
}

std::vector<fs::path> folders_of(RunSettings const& settings) {
  std::vector<fs::path> folders;
  for (auto const& text : settings.builds) {
    expects(!text.empty(), "a build is a folder such as build/openmp, not ''");
    fs::path const folder = without_last_slash(text);
    expects(std::find(folders.begin(), folders.end(), folder) == folders.end(),
            "each build is named once", "'" + text + "'");
    folders.push_back(folder);
    if (fs::is_regular_file(info_of(folder)) && fs::is_directory(folder / "bench")) continue;
    throw InputError(
        folder.string() +
        (fs::is_directory(folder) ? " is no build with coir-info and benchmarks" : " isn't there") +
        "; this builds it: " + command_that_builds(folder));
  }
  return folders;
}

/// "openmp" of build/openmp, and of . there
std::string own_name(fs::path const& folder) {
  return without_last_slash(fs::absolute(folder)).filename().string();
}

/// The folder's own name if no other has it.
std::string name_of_build(fs::path const& folder, std::vector<fs::path> const& folders) {
  std::string const name = own_name(folder);
  auto const same = [&](fs::path const& other) { return own_name(other) == name; };
  bool const is_alone = std::count_if(folders.begin(), folders.end(), same) == 1;
  return is_alone && !name.empty() ? name : folder.string();
}

/// The value at a place such as "/host/cpu"; null if there is none.
Report value_at(Report const& json, std::string const& place) {
  return json.is_object() ? json.value(Report::json_pointer(place), Report()) : Report();
}

std::string text_at(Report const& json, std::string const& place, std::string const& otherwise) {
  Report const value = value_at(json, place);
  return value.is_string() ? value.get<std::string>() : otherwise;
}

/// A positive number, which Google Benchmark's context has as a text; 0 if there is none.
double number_at(Report const& json, std::string const& place) {
  Report const value = value_at(json, place);
  double const number = value.is_number()   ? value.get<double>()
                        : value.is_string() ? std::strtod(value.get<std::string>().c_str(), nullptr)
                                            : 0;
  return is_measurable(number) ? number : 0;
}

int threads_at(Report const& json, std::string const& place) {
  return static_cast<int>(std::min(number_at(json, place), 1e9));
}

Limits limits_at(Report const& json, std::string const& place) {
  Limits limits;
  for (std::string const key : limit_keys)
    if (double const limit = number_at(json, place + "/" + key); limit > 0) limits[key] = limit;
  return limits;
}

/// Fills in what coir-info says of the build's default space.
///
/// \return  whether that is a device's
bool describe_by_info(Build& build, Report const& info) {
  bool const is_device = value_at(info, "/devices/0").is_object();
  std::string const what = is_device ? "/devices/0" : "/host";
  build.info = info;
  build.backend = text_at(info, "/default_backend", "unknown");
  build.threads = threads_at(info, "/host/threads");
  build.device = text_at(info, what + (is_device ? "/name" : "/cpu"), "unknown");
  build.memory = number_at(info, what + "/memory_bytes");
  build.limits = limits_at(info, "/limits");
  build.cache = number_at(info, "/limits/last_level_cache_bytes");
  return is_device;
}

/// The device's backend of a build that found no device, so that coir-info measured the cores; else
/// empty.
std::string backend_without_device(Report const& info) {
  std::string const used = text_at(info, "/default_backend", "");
  std::string const wanted = text_at(info, "/backends/0", used);
  return used.empty() || wanted == used ? "" : wanted;
}

/// The limits that a benchmark measures before its rows.
Limits limits_in_context(Report const& context) {
  Limits limits = limits_at(context, "");
  if (double const nanoseconds = number_at(context, "/launch_nanoseconds"); nanoseconds > 0)
    limits["launch_seconds"] = 1e-9 * nanoseconds;
  return limits;
}

/// Fills in what a benchmark says of the space that it runs on: for those on the host beside a
/// device.
void describe_by_context(Build& build, Report const& context) {
  build.backend = text_at(context, "/backend", build.backend);
  build.device = text_at(context, "/device", build.device);
  if (int const threads = threads_at(context, "/threads"); threads > 0) build.threads = threads;
  build.cache = number_at(context, "/last_level_cache_bytes");
}

/// Limit by limit the median of those that are known.
Limits median(std::vector<Limits> const& all) {
  std::map<std::string, std::vector<double>> known;
  for (Limits const& one : all)
    for (auto const& [key, limit] : one) known[key].push_back(limit);
  Limits medians;
  for (auto const& [key, limits] : known) medians[key] = median_of(limits);
  return medians;
}

bool has(std::vector<std::string> const& texts, std::string const& text) {
  return std::find(texts.begin(), texts.end(), text) != texts.end();
}

/// A comparison while it is measured.
class Measurement {
 public:
  Measurement(RunSettings const& settings, std::vector<std::string>& notes)
      : settings_(settings),
        notes_(notes),
        rounds_(settings.rounds.value_or(rounds_of(settings.set))),
        works_(works_of(settings.set, settings.only)) {
    comparison_.machines.push_back({settings.machine.empty() ? host_name() : settings.machine,
                                    set_name(settings.set),
                                    rounds_,
                                    utc_text(std::chrono::system_clock::now()),
                                    {}});
    for (ComparedWork const& work : works_) {
      comparison_.works.push_back(
          {work.name, work.title, work.group, work.unit, work.limit, work.stays_in_cache});
      if (!has(program_names_, work.program)) program_names_.push_back(work.program);
    }
  }

  Comparison run() {
    find_runners();
    for (Runner& runner : runners_) find_rows(runner);
    add_peers();
    {
      ProgressLine progress("measuring", "rows", settings_.progress);
      OtherPrograms const others;
      for (round_ = 0; round_ < static_cast<std::size_t>(rounds_); ++round_)
        for (auto const& program : program_names_)
          for (std::size_t turn = 0; turn < runners_.size(); ++turn) {
            Runner& runner = runners_[(turn + round_) % runners_.size()];
            auto const found = runner.programs.find(program);
            if (found != runner.programs.end())
              run_program(runner, program, found->second, progress);
          }
      machine().processors_of_others = others.processors();
    }
    for (Runner& runner : runners_)
      if (!runner.peer) take_medians_of_limits(runner);
    for (Runner& runner : runners_) {
      if (runner.peer) take_limits_of_builds(runner);
      collect(runner);
    }
    for (Runner& runner : runners_) machine().builds.push_back(runner.build);
    for (Build& build : unable_) machine().builds.push_back(build);
    return std::move(comparison_);
  }

 private:
  Machine& machine() { return comparison_.machines.front(); }

  void leave_out(Build const& build, std::string const& work, std::string const& numbers,
                 std::string const& why, bool failed) {
    comparison_.left_out.push_back({machine().name, build.name, work, numbers, why, failed});
  }

  void find_runners() {
    auto const folders = folders_of(settings_);
    std::string problems;
    for (fs::path const& folder : folders) {
      Activity const measuring("measuring what " + folder.string() + " runs on");
      Runner runner{folder, false, {}, {}};
      runner.build.name = name_of_build(folder, folders);
      auto const outcome = run_child({info_of(folder).string(), "--measure", "--json"});
      auto const info = object_in(outcome.output);
      std::string const wanted = backend_without_device(info);
      if (!outcome.succeeded() || !info.is_object() || !wanted.empty()) {
        std::string const problem =
            info_of(folder).string() + " " +
            (!outcome.succeeded() ? outcome.how_it_ended()
             : !info.is_object()  ? "printed no JSON: build it anew"
                                  : "found no " + wanted + " device: check the driver");
        problems += (problems.empty() ? "" : "; ") + problem;
        for (ComparedWork const& work : works_)
          leave_out(runner.build, work.name, "", problem, true);
        unable_.push_back(runner.build);
        continue;
      }
      runner.on_device = describe_by_info(runner.build, info);
      Runner host{folder, true, runner.build, {}};
      host.build.name += ", host";
      host.build.limits = {};
      host.build.cache = 0;
      host.build.memory = number_at(info, "/host/memory_bytes");
      runners_.push_back(std::move(runner));
      auto const has_program = [&](std::string const& program) {
        return fs::exists(program_of(host, program));
      };
      if (std::any_of(program_names_.begin(), program_names_.end(), has_program))
        runners_.push_back(std::move(host));
    }
    if (runners_.empty()) throw EnvironmentError("no build can run here: " + problems);
  }

  /// Asks each program for its rows, and keeps those of the set.
  void find_rows(Runner& runner) {
    Activity const listing("listing the benchmarks of " + runner.folder.string());
    for (auto const& name : program_names_) {
      fs::path const path = program_of(runner, name);
      std::vector<std::string> listed;
      std::string problem;
      if (!fs::exists(path)) {
        problem = path.string() + " isn't built";
      } else {
        auto const outcome = run_child({path.string(), "--benchmark_list_tests"});
        if (outcome.succeeded())
          listed = split(outcome.output, '\n');
        else
          problem = path.string() + " " + outcome.how_it_ended();
      }
      if (!problem.empty()) {
        for (ComparedWork const& work : works_)
          if (work.program == name)
            leave_out(runner.build, work.name, "", problem, fs::exists(path));
        continue;
      }
      Program program{path, {}};
      for (auto const& line : listed) add_row(program, name, without_kind_of_time(line));
      leave_out_missing(runner, program, name);
      total_ += static_cast<std::int64_t>(program.rows.size()) * rounds_;
      if (!program.rows.empty()) runner.programs.emplace(name, std::move(program));
    }
  }

  bool any_build_has(ComparedWork const& work, std::string const& numbers) const {
    return std::any_of(runners_.begin(), runners_.end(), [&](Runner const& runner) {
      auto const found = runner.programs.find(work.program);
      return !runner.peer && found != runner.programs.end() &&
             has_row(found->second, work, numbers);
    });
  }

  /// Adds the peers. They do those of the works that they have, at the sizes of builds.
  void add_peers() {
    for (Peer& peer : find_peers(settings_.peers, notes_)) {
      Runner runner{{}, false, {}, {}};
      auto const is_taken = [&](Runner const& other) { return other.build.name == peer.name; };
      bool const is_unique = std::none_of(runners_.begin(), runners_.end(), is_taken);
      runner.build.name = peer.name + (is_unique ? "" : ", peer");
      runner.build.backend = peer.name + " " + peer.version;
      runner.build.device = peer.device;
      runner.on_device = std::any_of(runners_.begin(), runners_.end(), [&](Runner const& other) {
        return other.on_device && !other.on_host && other.build.device == peer.device;
      });
      for (ComparedWork const& work : works_)
        for (auto const& row : split(work.row, '|')) {
          if (!has(peer.rows, row)) continue;
          Program& program = runner.programs[work.program];
          program.path = peer.command[2];
          for (auto const& numbers : work.quick)
            if (any_build_has(work, numbers) && !has_row(program, work, numbers))
              program.rows.push_back({&work, numbers, row + "/" + numbers, {}, {}, {}});
        }
      for (auto const& [name, program] : runner.programs)
        total_ += static_cast<std::int64_t>(program.rows.size()) * rounds_;
      runner.peer = std::move(peer);
      runners_.push_back(std::move(runner));
    }
  }

  /// Sets a build's limits to the medians over the rounds of its programs' limits. Limits that
  /// programs don't measure stay those of coir-info.
  void take_medians_of_limits(Runner& runner) const {
    auto& rounds = runner.build.limit_rounds;
    for (std::size_t round = 0; round < static_cast<std::size_t>(rounds_); ++round) {
      std::vector<Limits> all;
      for (auto const& [program, limits] : runner.limits)
        if (round < limits.size()) all.push_back(limits[round]);
      rounds.push_back(median(all));
    }
    for (auto const& [key, limit] : median(rounds)) runner.build.limits[key] = limit;
  }

  /// Gives a peer the limits of memory of a build on the same device. Launches and transfers of a
  /// peer have no limits.
  void take_limits_of_builds(Runner& peer) const {
    auto const of_memory = [](Limits limits) {
      for (char const* const limit : {"to_device", "to_host"}) limits.erase(key_of_limit(limit));
      limits.erase("launch_seconds");
      return limits;
    };
    for (Runner const& other : runners_) {
      if (other.peer || other.build.device != peer.build.device) continue;
      peer.build.memory = other.build.memory;
      peer.build.cache = other.build.cache;
      peer.build.limits = of_memory(other.build.limits);
      for (Limits const& limits : other.build.limit_rounds)
        peer.build.limit_rounds.push_back(of_memory(limits));
      peer.limits = other.limits;
      return;
    }
  }

  /// The limits of a row in the rounds; empty if one of them isn't known.
  static std::vector<double> limits_of(Runner const& runner, std::string const& program,
                                       ComparedWork const& work, std::size_t rounds) {
    auto const found = runner.limits.find(program);
    if (found == runner.limits.end()) return {};
    std::vector<double> limits;
    for (Limits const& one : found->second)
      if (auto const limit = limit_of(one, work.limit)) limits.push_back(*limit);
    return limits.size() == rounds ? limits : std::vector<double>();
  }

  void add_row(Program& program, std::string const& program_name, std::string const& row) {
    for (ComparedWork const& work : works_)
      for (auto const& numbers : work.quick)
        if (work.program == program_name && has(row_names(work, numbers), row) &&
            !has_row(program, work, numbers))
          program.rows.push_back({&work, numbers, row, {}, {}, {}});
  }

  static bool has_row(Program const& program, ComparedWork const& work,
                      std::string const& numbers) {
    auto const is_it = [&](Measured const& row) {
      return row.work == &work && row.numbers == numbers;
    };
    return std::any_of(program.rows.begin(), program.rows.end(), is_it);
  }

  void leave_out_missing(Runner const& runner, Program const& program, std::string const& name) {
    std::string const file = program.path.filename().string();
    for (ComparedWork const& work : works_) {
      if (work.program != name) continue;
      std::vector<std::string> missing;
      for (auto const& numbers : work.quick)
        if (!has_row(program, work, numbers)) missing.push_back(numbers);
      bool const lacks_all = missing.size() == work.quick.size();
      if (lacks_all) missing = {""};
      for (auto const& numbers : missing)
        leave_out(runner.build, work.name, numbers,
                  file + " has no row " +
                      joined(lacks_all ? split(work.row, '|') : row_names(work, numbers), " or "),
                  false);
    }
  }

  static std::vector<std::string> command_for(Runner const& runner, Program const& program,
                                              std::vector<std::string> const& names) {
    if (!runner.peer)
      return {program.path.string(), "--benchmark_format=json",
              "--benchmark_min_time=" + exact_text(least_seconds),
              "--benchmark_filter=" + filter_for(names)};
    auto command = runner.peer->command;
    command.emplace_back("--measure");
    command.insert(command.end(), names.begin(), names.end());
    return command;
  }

  /// Runs the rows of a program. If it ends in the middle, it is started again for those behind the
  /// one that ended it.
  void run_program(Runner& runner, std::string const& name, Program& program,
                   ProgressLine& progress) {
    std::vector<Measured*> waiting;
    for (Measured& row : program.rows)
      if (row.problem.empty()) waiting.push_back(&row);
    while (!waiting.empty()) {
      Activity const running("running " + program.path.filename().string() + " of " +
                             runner.build.name);
      std::vector<std::string> names;
      for (Measured const* row : waiting) names.push_back(row->name);
      std::size_t at = 0, rows = 0;
      PowerMeter power([&] { return runner.on_device ? nvml_.energy(device_) : cores_.joules(); });
      auto const watch = [&](std::string const& output) {
        if (!power.has_begun() && rows_have_begun(output, at)) power.begin();
        auto const ended = power.has_begun() ? static_cast<std::size_t>(count_rows(output, at)) : 0;
        power.rows_ended(ended);
        rows += ended;
        auto const& row = names[std::min(rows, names.size() - 1)];
        progress.update(done_ + static_cast<std::int64_t>(rows), total_,
                        runner.build.name + ": " + row);
      };
      auto const outcome = run_child(command_for(runner, program, names), watch);
      BenchmarkOutput const output = read_benchmark_output(outcome.output);
      if (runner.on_host && output.has_context) describe_by_context(runner.build, output.context);
      if (!runner.peer && output.has_context) {
        auto& limits = runner.limits[name];
        limits.resize(round_ + 1);
        limits[round_] = limits_in_context(output.context);
      }
      keep(output, power, waiting);
      done_ += static_cast<std::int64_t>(names.size() - waiting.size());
      if (waiting.empty()) return;
      // The rows that are still waiting have no result.
      bool const has_begun = output.has_context && !outcome.succeeded();
      std::string const why = outcome.succeeded()
                                  ? "the program gave no result for it"
                                  : program.path.filename().string() + " " + outcome.how_it_ended();
      std::size_t const failed = has_begun ? 1 : waiting.size();
      for (std::size_t n = 0; n < failed; ++n) waiting[n]->problem = why;
      done_ += static_cast<std::int64_t>(failed);
      waiting.erase(waiting.begin(), waiting.begin() + static_cast<std::ptrdiff_t>(failed));
    }
  }

  /// Takes rows that ended out of those that wait.
  static void keep(BenchmarkOutput const& output, PowerMeter const& power,
                   std::vector<Measured*>& waiting) {
    for (std::size_t n = 0; n < output.rows.size(); ++n) {
      BenchmarkRow const& row = output.rows[n];
      auto const is_it = [&](Measured const* one) { return one->name == row.name; };
      auto const found = std::find_if(waiting.begin(), waiting.end(), is_it);
      if (found == waiting.end()) continue;
      Measured& measured = **found;
      waiting.erase(found);
      measured.problem = row.error;
      if (!row.error.empty()) continue;
      auto const calls = row.counters.find(measured.work->calls);
      double const divisor = calls != row.counters.end() && calls->second > 0 ? calls->second : 1;
      double const seconds = row.seconds / divisor;
      if (!is_measurable(seconds)) {
        measured.problem = "it gave no time";
        continue;
      }
      measured.rounds.push_back(seconds);
      for (auto const& [name, value] : row.counters) measured.counters[name].push_back(value);
      if (auto const watts = power.watts(n); watts && *watts > 0)
        measured.counters["joules"].push_back(*watts * measured.rounds.back());
    }
  }

  static std::optional<double> counter_of(Measured const& row, std::string const& counter) {
    auto const found = row.counters.find(counter);
    if (found == row.counters.end()) return {};
    double const value = median_of(found->second);
    return is_measurable(value) ? std::optional(value) : std::nullopt;
  }

  void collect(Runner const& runner) {
    for (auto const& name : program_names_) {
      auto const found = runner.programs.find(name);
      if (found == runner.programs.end()) continue;
      for (Measured const& row : found->second.rows) {
        ComparedWork const& work = *row.work;
        if (!row.problem.empty()) {
          bool const fits = !row.problem.starts_with("it needs ");  // see bench/support/memory.hpp
          leave_out(runner.build, work.name, row.numbers, row.problem, fits);
          continue;
        }
        Row result{machine().name,
                   runner.build.name,
                   work.name,
                   row.numbers,
                   size_of(work.size_from, row.numbers),
                   median_of(row.rounds),
                   row.rounds,
                   {},
                   counter_of(row, "flops"),
                   counter_of(row, "joules"),
                   limits_of(runner, name, work, row.rounds.size())};
        // Both rates are by the same seconds.
        auto const bytes = counter_of(row, "bytes/s"), items = counter_of(row, work.unit + "/s");
        if (bytes && items) result.bytes = *bytes / *items * result.size;
        if (result.bytes && !is_measurable(*result.bytes)) result.bytes.reset();
        if (runner.peer) count_as_builds_do(result);
        comparison_.rows.push_back(std::move(result));
      }
    }
  }

  /// A peer's row has the bytes and operations of the same row of a build.
  void count_as_builds_do(Row& row) const {
    for (Row const& other : comparison_.rows) {
      if (other.work != row.work || other.size_text != row.size_text) continue;
      row.bytes = other.bytes;
      if (other.flops) row.flops = *other.flops * other.seconds / row.seconds;
      return;
    }
  }

  RunSettings const& settings_;
  std::vector<std::string>& notes_;
  int rounds_;
  std::vector<ComparedWork> works_;
  std::vector<std::string> program_names_;
  std::vector<Runner> runners_;
  std::vector<Build> unable_;  // to run here at all
  Comparison comparison_;
  ProcessorEnergy cores_;
  Nvml nvml_;
  Nvml::Device device_ = nvml_.first_visible();
  std::size_t round_ = 0;
  std::int64_t done_ = 0, total_ = 0;
};

}  // namespace

Comparison measure(RunSettings const& settings, std::vector<std::string>& notes) {
  return Measurement(settings, notes).run();
}

}  // namespace coir::apps::compare
