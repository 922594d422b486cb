#pragma once

#include "columns.hpp"
#include "fields.hpp"
#include "settings.hpp"

#include <cstdint>
#include <optional>
#include <string_view>

namespace coir::apps::queue {

/// The kind of a row.
enum class Kind {
  started,        ///< a job that has waited: done or running
  pending,        ///< a job that waits
  never_started,  ///< a job that was cancelled before its start
  step,           ///< "123.batch": a step, whose job has a row of its own
  component,      ///< "123+1": a component of a heterogeneous job, whose first component counts
  broken,
};

/// The fault of a broken row.
enum class Flaw {
  too_few_fields,
  too_many_fields,
  no_job,
  no_partition,
  bad_value,      ///< a field can't be read
  negative_wait,  ///< it starts before it was submitted, or could have started
  unfinished,     ///< the last line has no end
  too_long,
};

struct Job {
  Kind kind = Kind::broken;
  Flaw flaw = Flaw::bad_value;   ///< of a broken one
  Column column = Column::none;  ///< that holds a bad value
  Seconds submit = 0;
  Seconds wait = 0;  ///< if it has started
  bool is_running = false;
  std::optional<std::int64_t> cores;
  std::optional<std::int64_t> gpus;
  std::optional<double> bytes;         ///< of the whole job
  std::optional<Seconds> limit;        ///< nothing if there is none
  std::optional<double> core_hours;    ///< cores x limit, or cores x elapsed without a limit
  std::optional<double> memory_hours;  ///< the same of GiB of memory
};

/// The kind of a row by its job's number alone: a step, a component, or neither (Kind::started).
Kind kind_of_number(std::string_view number);

/// How many jobs a row stands for: those of an array that hasn't started share one,
/// "123_[0-9,12%4]" (11 jobs: 4 is how many may run at a time). Any other number is one job.
std::int64_t jobs_of_number(std::string_view number);

/// Reads the times and sizes of a job.
///
/// \param row      of a row that is no step and no component
/// \param columns  that the text has
Job read_job(Row const& row, Columns const& columns, WaitFrom wait_from);

}  // namespace coir::apps::queue
