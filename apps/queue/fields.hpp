#pragma once

/// The values that fields of Slurm's accounting text hold. Nothing here allocates memory, for this
/// is done for each row.

#include <cstdint>
#include <optional>
#include <string_view>

namespace coir::apps::queue {

/// A moment: seconds since 1970-01-01T00:00:00 on the clock that the text was written by.
using Seconds = std::int64_t;

/// Reads "2025-01-31T12:00:00", also with a blank in place of the T, or whole seconds since 1970,
/// as SLURM_TIME_FORMAT=%s writes them.
///
/// \returns nothing if it is none of these, or no moment of the calendar, or outside of the years
///   1970 to 2199
std::optional<Seconds> parse_moment(std::string_view text);

/// Whether a field says that there is no value: empty, "Unknown", "None", "N/A", "(null)",
/// "Invalid".
bool is_absent(std::string_view text);

/// Reads how long something took or may take: "1-02:03:04", "02:03:04", "03:04" (minutes and
/// seconds), "1-02" (days and hours), "1-02:03".
///
/// \returns nothing if it is none of these, or longer than 1000 years
std::optional<Seconds> parse_duration(std::string_view text);

/// Whether a limit is said to be none, or the partition's: "UNLIMITED", "Partition_Limit",
/// "INFINITE".
bool is_no_limit(std::string_view text);

/// The unit that memory is asked for: a node ("4Gn") or a core ("4Gc") before Slurm 21.08, and the
/// job since.
enum class MemoryOf { job, node, core };

struct Memory {
  double bytes = 0;
  MemoryOf of = MemoryOf::job;
};

/// Reads "4000M", "4Gn", "4Gc", "16G", "3.50G", "3,50G"; without a unit MiB, as Slurm means them.
/// K, M, G, T, P and E are powers of 1024.
///
/// \returns nothing if it is none of these
std::optional<Memory> parse_memory(std::string_view text);

/// More of them are no number of things.
inline constexpr std::int64_t most_things = 1'000'000'000;

/// A whole number of things; K, M and G of sacct's --units count 1000 (they are powers of 1024 for
/// memory alone).
///
/// \returns nothing if it is no number from 0 to most_things
std::optional<std::int64_t> parse_count(std::string_view text);

/// The resources that a job has or asks for, in a text as
/// "cpu=4,mem=16G,node=1,billing=4,gres/gpu=2,gres/gpu:a100=2".
struct Resources {
  std::optional<std::int64_t> cores;
  std::optional<std::int64_t> nodes;
  std::optional<double> bytes;
  std::optional<std::int64_t>
      gpus;  ///< the untyped count, or else the sum of the types': one repeats the other
};

/// \returns nothing if a part isn't NAME=VALUE, or one of those above has a value that is no number
std::optional<Resources> parse_resources(std::string_view text);

}  // namespace coir::apps::queue
