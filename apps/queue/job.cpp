#include "job.hpp"

#include "letters.hpp"

#include <algorithm>

namespace coir::apps::queue {

namespace {

/// Reads fields until one can't be read, and remembers which.
class Reader {
 public:
  Reader(Row const& row, Job& job) : row_(row), job_(job) {}

  /// The value of a field, or nothing if it says that there is none.
  template <class Value>
  std::optional<Value> value(Column column, std::optional<Value> (*parse)(std::string_view)) {
    std::string_view const text = of(row_, column);
    if (is_absent(text)) return {};
    auto const value = parse(text);
    if (!value) refuse(column);
    return value;
  }

  void refuse(Column column) {
    if (!is_good_) return;
    is_good_ = false;
    job_.flaw = Flaw::bad_value;
    job_.column = column;
  }

  bool is_good() const { return is_good_; }

 private:
  Row const& row_;
  Job& job_;
  bool is_good_ = true;
};

/// Digits alone, as many as a 32-bit number has at most.
std::optional<std::int64_t> parse_whole(std::string_view text) {
  constexpr std::size_t most_digits = 10;
  std::int64_t value = 0;
  if (text.empty() || text.size() > most_digits) return {};
  for (char const c : text) {
    if (!is_digit(c)) return {};
    value = 10 * value + (c - '0');
  }
  return value;
}

std::optional<std::int64_t> first(std::optional<std::int64_t> a, std::optional<std::int64_t> b) {
  return a ? a : b;
}

/// Reads the sizes that the job asked for, because it waited for these, or where they aren't known
/// the sizes that it got.
void read_sizes(Reader& reader, Row const& row, Columns const& columns, Job& job) {
  auto const requested =
      reader.value(Column::requested_resources, parse_resources).value_or(Resources{});
  auto const got = reader.value(Column::resources, parse_resources).value_or(Resources{});

  job.cores = first(reader.value(Column::requested_cores, parse_count), requested.cores);
  // A job that hasn't started has none yet, which sacct writes as 0.
  auto const allocated = first(reader.value(Column::cores, parse_count), got.cores);
  if (job.cores.value_or(0) == 0) job.cores = allocated;
  if (job.cores.value_or(0) == 0) job.cores.reset();

  auto nodes = first(reader.value(Column::requested_nodes, parse_count), requested.nodes);
  if (nodes.value_or(0) == 0) nodes = first(reader.value(Column::nodes, parse_count), got.nodes);
  std::int64_t const nodes_at_least = std::max<std::int64_t>(1, nodes.value_or(1));

  // A list of resources without GPUs says that the job has none.
  if (columns.has(Column::requested_resources) || columns.has(Column::resources))
    job.gpus = std::max(requested.gpus.value_or(0), got.gpus.value_or(0));

  auto const memory = reader.value(Column::memory, parse_memory);
  if (requested.bytes) {
    job.bytes = requested.bytes;
  } else if (memory && memory->bytes > 0) {  // 0 stands for all memory of a node
    if (memory->of == MemoryOf::job)
      job.bytes = memory->bytes;
    else if (memory->of == MemoryOf::node)
      job.bytes = memory->bytes * static_cast<double>(nodes_at_least);
    else if (job.cores)
      job.bytes = memory->bytes * static_cast<double>(*job.cores);
  } else {
    job.bytes = got.bytes;
  }

  if (!is_no_limit(of(row, Column::limit))) job.limit = reader.value(Column::limit, parse_duration);
  if (!job.limit && !is_no_limit(of(row, Column::limit_minutes)))
    if (auto const minutes = reader.value(Column::limit_minutes, parse_count))
      job.limit = *minutes * 60;
}

/// The tasks of "7", "0-9" or, in steps, "0-9:3". Slurm cuts long lists by "...", which is none.
std::int64_t tasks_of_range(std::string_view text) {
  std::size_t const colon = std::min(text.find(':'), text.size());
  std::string_view const step_text = text.substr(std::min(colon + 1, text.size()));
  text = text.substr(0, colon);
  std::size_t const dash = std::min(text.find('-'), text.size());
  auto const first = parse_whole(text.substr(0, dash));
  auto const last = dash == text.size() ? first : parse_whole(text.substr(dash + 1));
  auto const step = step_text.empty() ? std::optional<std::int64_t>(1) : parse_whole(step_text);
  if (!first || !last || !step || *step == 0 || *last < *first) return 0;
  return (*last - *first) / *step + 1;
}

}  // namespace

Kind kind_of_number(std::string_view number) {
  if (number.find('.') != std::string_view::npos) return Kind::step;
  if (auto const plus = number.find('+'); plus != std::string_view::npos)
    return number.substr(plus + 1) == "0" ? Kind::started : Kind::component;
  return Kind::started;
}

std::int64_t jobs_of_number(std::string_view number) {
  auto const open = number.find("_[");
  if (open == std::string_view::npos || !number.ends_with(']')) return 1;
  std::string_view list = number.substr(open + 2);
  list.remove_suffix(1);
  list = list.substr(0, list.find('%'));
  std::int64_t jobs = 0;
  while (!list.empty()) {
    std::size_t const comma = std::min(list.find(','), list.size());
    jobs += tasks_of_range(list.substr(0, comma));
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
  return std::max<std::int64_t>(1, jobs);
}

Job read_job(Row const& row, Columns const& columns, WaitFrom wait_from) {
  Job job;
  std::string_view const number = of(row, Column::job);
  if (number.empty() || !is_digit(number.front())) {
    job.flaw = Flaw::no_job;
    return job;
  }
  if (of(row, Column::partition).empty()) {
    job.flaw = Flaw::no_partition;
    return job;
  }
  Reader reader(row, job);
  auto const submit = reader.value(Column::submit, parse_moment);
  if (!submit) reader.refuse(Column::submit);
  auto const start = reader.value(Column::start, parse_moment);
  std::optional<Seconds> since = submit;
  if (wait_from == WaitFrom::eligible)
    if (auto const eligible = reader.value(Column::eligible, parse_moment)) since = eligible;
  auto const elapsed = reader.value(Column::elapsed, parse_duration);
  read_sizes(reader, row, columns, job);
  if (!reader.is_good()) return job;

  job.submit = *submit;
  auto const state = of(row, Column::state);
  bool const is_cancelled = state.starts_with("CANCELLED");
  // Some versions give jobs that were cancelled while they waited the time of that as their start.
  if (!start || state == "PENDING" || (is_cancelled && elapsed == Seconds(0))) {
    // Without a state, a job that hasn't started counts as waiting.
    bool const may_wait = state.empty() || state == "PENDING" || state == "REQUEUED" ||
                          state == "REQUEUE_HOLD" || state == "SPECIAL_EXIT";
    job.kind = may_wait ? Kind::pending : Kind::never_started;
    return job;
  }
  if (*start < *since) {
    job.flaw = Flaw::negative_wait;
    return job;
  }
  job.kind = Kind::started;
  job.wait = *start - *since;
  job.is_running = state == "RUNNING" || state == "SUSPENDED" || state == "COMPLETING";
  if (auto const length = job.limit ? job.limit : elapsed) {
    double const hours = static_cast<double>(*length) / 3600;
    if (job.cores) job.core_hours = static_cast<double>(*job.cores) * hours;
    if (job.bytes) job.memory_hours = *job.bytes / (1024. * 1024 * 1024) * hours;
  }
  return job;
}

}  // namespace coir::apps::queue
