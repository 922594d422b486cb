#pragma once

/// Measurements on one machine or several, as compare.json holds them.

#include "work_set.hpp"

#include <compare/json_place.hpp>
#include <support/report.hpp>

#include <array>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace coir::apps::compare {

/// The version of compare.json's format. It grows whenever a key comes, goes or changes its
/// meaning.
inline constexpr int report_format = 1;

/// The measured limits of a machine by their keys in reports, in bytes/s and seconds.
using Limits = std::map<std::string, double>;

/// All keys, in their order in reports.
inline constexpr std::array<char const*, 7> limit_keys = {
    "copy_bytes_per_second",          "triad_bytes_per_second", "update_bytes_per_second",
    "read_bytes_per_second",          "launch_seconds",         "host_to_device_bytes_per_second",
    "device_to_host_bytes_per_second"};

/// The key of a work's limit; see ComparedWork::limit.
std::string key_of_limit(std::string const& limit);

/// Whether a work's limit is a rate of memory, and not of a link.
bool is_of_memory(std::string const& limit);

/// The rate that a work is measured against. A way of moving bytes that wasn't measured has the
/// rate of a copy.
std::optional<double> limit_of(Limits const& limits, std::string const& limit);

/// One way to run the work on a machine: a build folder's programs, on its device or on the host
/// beside it.
struct Build {
  std::string name;                  ///< "openmp", "cuda", "cuda, host"
  std::string backend;               ///< of Kokkos: "OpenMP", "Cuda"
  std::string device;                ///< what the kernels run on
  int threads = 0;                   ///< of the host
  double memory = 0;                 ///< bytes of what the kernels run on; 0 if unknown
  double cache = 0;                  ///< bytes of its last cache; 0 if unknown
  Limits limits;                     ///< the medians over the rounds
  std::vector<Limits> limit_rounds;  ///< those of each round
  Report info;                       ///< as coir-info --measure --json printed it
};

struct Machine {
  std::string name;
  std::string set;      ///< "quick", "full"
  int rounds = 0;       ///< of which medians were taken
  std::string created;  ///< "2026-11-22T17:00:00Z"
  std::vector<Build> builds;
  /// How many processors other programs kept busy meanwhile, on average; none if unknown.
  std::optional<double> processors_of_others = {};
};

/// A work's description in reports; see ComparedWork.
struct WorkInfo {
  std::string name, title, group, unit, limit;
  bool stays_in_cache = false;
};

/// A row that has been measured.
struct Row {
  std::string machine, build, work;
  std::string size_text;  ///< the numbers of its name: "400/266"
  double size = 0;
  double seconds = 0;            ///< of one call, the median of the rounds
  std::vector<double> rounds;    ///< seconds of each
  std::optional<double> bytes;   ///< that a call must move
  std::optional<double> flops;   ///< operations/s
  std::optional<double> joules;  ///< of one call, where a counter tells
  /// What its work is measured against, bytes/s, measured in each round beside the row; empty where
  /// it wasn't.
  std::vector<double> limits = {};
};

/// Rows that weren't measured.
struct LeftOut {
  std::string machine, build, work;
  std::string size_text;  ///< empty: all sizes
  std::string why;
  bool failed = false;  ///< as opposed to: isn't there
};

struct Comparison {
  std::vector<Machine> machines;
  std::vector<WorkInfo> works;  ///< in the order in which they are shown
  std::vector<Row> rows;
  std::vector<LeftOut> left_out;
};

/// compare.json, in SI units; what is absent is null.
Report to_json(Comparison comparison);

/// The comparison in a report.
///
/// \param name  of the file, for messages
/// \throws InputError naming the file and what is wrong with it: no JSON, no report of
///   coir-compare, one of another format, or a key that is missing or holds what it can't
Comparison from_json(std::string const& text, std::string const& name);

/// \throws InputError as from_json(), or if the file can't be read
Comparison read_comparison(std::filesystem::path const& path);

/// One comparison of all machines. A machine with the name of another one is told apart by a
/// number: "laptop (2)".
///
/// \param names  of the files, for messages
/// \param notes  what was renamed is added here
/// \throws InputError if two files hold the same measurement, under whatever names, or two works of
///   one name count different things
Comparison merge(std::vector<Comparison> const& comparisons, std::vector<std::string> const& names,
                 std::vector<std::string>& notes);

}  // namespace coir::apps::compare
