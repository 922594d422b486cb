#include "statistics.hpp"

#include "letters.hpp"

#include <coir/core/errors.hpp>

#include <algorithm>
#include <cstring>

namespace coir::apps::queue {

namespace {

/// "CANCELLED by 1234" -> "CANCELLED"
std::string_view first_word(std::string_view text) { return text.substr(0, text.find(' ')); }

/// Whether a text may be a name. Names are printed in tables, and a damaged line may hold anything
/// in their place.
bool is_name(std::string_view text) {
  constexpr std::size_t longest = 255;
  return text.size() <= longest && std::none_of(text.begin(), text.end(), [](char c) {
           return static_cast<unsigned char>(c) < ' ' || c == '\x7F';
         });
}

std::string value_shown(Row const& row, Column column) {
  return std::string(column_name(column)) + " is " + quoted(of(row, column));
}

/// The part of a row that shows its flaw, for a message.
std::string shown(Job const& job, Row const& row, WaitFrom from) {
  switch (job.flaw) {
    case Flaw::no_job: return value_shown(row, Column::job);
    case Flaw::no_partition: return "job " + quoted(of(row, Column::job));
    case Flaw::bad_value: return value_shown(row, job.column);
    case Flaw::negative_wait: {
      bool const is_eligible = from == WaitFrom::eligible && !is_absent(of(row, Column::eligible));
      Column const since = is_eligible ? Column::eligible : Column::submit;
      return "Start " + quoted(of(row, Column::start)) + " is before " + column_name(since) + " " +
             quoted(of(row, since));
    }
    default: return "";
  }
}

/// \throws InputError for a line of names: what follows it may have other columns
void expects_no_heading(std::filesystem::path const& input, std::int64_t number,
                        std::string_view line) {
  if (line.find("JobID") == std::string_view::npos) return;
  throw InputError((input == "-" ? "the standard input" : input.string()) + ", line " +
                   std::to_string(number) + ": names columns anew: " + quoted(line) +
                   "; give texts with other columns as files of their own");
}

}  // namespace

void PartitionWaits::add(PartitionWaits const& other) {
  all.add(other.all);
  for (std::size_t n = 0; n < within.size(); ++n) within[n] += other.within[n];
  for (std::size_t n = 0; n < property_count; ++n) {
    if (by[n].size() < other.by[n].size()) by[n].resize(other.by[n].size());
    for (std::size_t m = 0; m < other.by[n].size(); ++m) by[n][m].add(other.by[n][m]);
  }
  running += other.running;
  pending += other.pending;
  never_started += other.never_started;
  forecaster.add(other.forecaster);
}

void Counts::add(Counts const& other) {
  rows += other.rows;
  steps += other.steps;
  components += other.components;
  left_out += other.left_out;
  pending += other.pending;
  never_started += other.never_started;
  started += other.started;
}

Statistics::Statistics(QueueSettings const& settings)
    : settings_(settings),
      properties_(properties_with(settings.core_hours, settings.memory_hours)) {}

bool Statistics::passes(Row const& row) const {
  auto const& [clusters, partitions, users, accounts, states, from, to] = settings_.filters;
  auto const has = [](std::vector<std::string> const& list, auto const& equal) {
    return list.empty() || std::any_of(list.begin(), list.end(), equal);
  };
  auto const is = [&](Column column) {
    return [value = of(row, column)](std::string const& wanted) { return value == wanted; };
  };
  return has(partitions,
             [&](std::string const& wanted) {
               return of(row, Column::partition) == wanted || name_ == wanted;
             }) &&
         has(clusters, is(Column::cluster)) && has(users, is(Column::user)) &&
         has(accounts, is(Column::account)) &&
         has(states, [word = first_word(of(row, Column::state))](std::string const& wanted) {
           return equal_without_case(word, wanted);
         });
}

PartitionWaits& Statistics::partition_of(Row const& row) {
  name_.assign(of(row, Column::cluster));
  if (!name_.empty()) name_ += '/';
  name_ += of(row, Column::partition);
  if (last_ != nullptr && name_ == last_name_) return *last_;
  auto const [found, is_new] = partitions_.try_emplace(name_);
  if (is_new && partitions_.size() > most_partitions)
    throw InputError("there are more than " + std::to_string(most_partitions) +
                     " partitions, such as " + queue::quoted(name_) +
                     ": is the column Partition what it says?");
  if (is_new)
    for (std::size_t n = 0; n < property_count; ++n)
      found->second.by[n].resize(properties_[n].labels.size());
  last_name_ = name_;
  last_ = &found->second;
  return *last_;
}

void Statistics::add_broken(Flaw flaw, std::int64_t file, std::int64_t line,
                            std::string_view text) {
  ++counts_.rows;
  broken_.add({flaw, Column::none}, file, line, [&] { return "it begins " + quoted(text); });
}

void Statistics::read(std::string_view text, Columns const& columns, std::int64_t file,
                      std::int64_t first_line) {
  for (std::size_t n = 0; n < column_count; ++n)
    had_[n] = had_[n] || columns.has(static_cast<Column>(n));
  std::int64_t number = first_line;
  while (!text.empty()) {
    auto const* const end = static_cast<char const*>(std::memchr(text.data(), '\n', text.size()));
    std::size_t const length =
        end == nullptr ? text.size() : static_cast<std::size_t>(end - text.data());
    std::string_view line = text.substr(0, length);
    text.remove_prefix(std::min(length + 1, text.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (!line.empty()) read_line(line, columns, file, number);
    ++number;
  }
}

void Statistics::read_line(std::string_view line, Columns const& columns, std::int64_t file,
                           std::int64_t number) {
  if (line == columns.line()) return;  // of texts that have been joined
  ++counts_.rows;
  Row row;
  std::size_t const found = columns.split(line, row);
  if (found != columns.size()) {
    expects_no_heading(settings_.inputs[static_cast<std::size_t>(file)], number, line);
    Flaw const flaw = found < columns.size() ? Flaw::too_few_fields : Flaw::too_many_fields;
    broken_.add({flaw, Column::none}, file, number, [&] {
      return std::to_string(found) + " in place of " + std::to_string(columns.size()) +
             ", it begins " + quoted(line);
    });
    return;
  }
  Kind const kind = kind_of_number(of(row, Column::job));
  if (kind != Kind::started) {
    ++(kind == Kind::step ? counts_.steps : counts_.components);
    return;
  }
  for (Column const column : {Column::cluster, Column::partition})
    if (!is_name(of(row, column))) {
      broken_.add({Flaw::bad_value, column}, file, number,
                  [&] { return value_shown(row, column); });
      return;
    }
  // A job that waits may name several partitions, of which it takes one when it starts.
  bool const is_choice = of(row, Column::partition).find(',') != std::string_view::npos;
  bool const has_partition = !of(row, Column::partition).empty() && !is_choice;
  PartitionWaits* const partition = has_partition ? &partition_of(row) : nullptr;
  if (partition == nullptr) name_.clear();
  if (!passes(row)) {
    ++counts_.left_out;
    return;
  }
  Job const job = read_job(row, columns, settings_.wait_from);
  if (job.kind == Kind::broken) {
    if (job.flaw == Flaw::no_job)
      expects_no_heading(settings_.inputs[static_cast<std::size_t>(file)], number, line);
    broken_.add({job.flaw, job.column}, file, number,
                [&] { return shown(job, row, settings_.wait_from); });
    return;
  }
  auto const& filters = settings_.filters;
  if ((filters.from && job.submit < *filters.from) || (filters.to && job.submit >= *filters.to)) {
    ++counts_.left_out;
    return;
  }
  if (job.kind != Kind::started || partition == nullptr) {
    bool const waits = job.kind != Kind::never_started;
    std::int64_t const jobs = jobs_of_number(of(row, Column::job));
    (waits ? counts_.pending : counts_.never_started) += jobs;
    if (partition != nullptr) (waits ? partition->pending : partition->never_started) += jobs;
    return;
  }
  ++counts_.started;
  first_submit_ = std::min(first_submit_, job.submit);
  last_submit_ = std::max(last_submit_, job.submit);
  partition->running += job.is_running;
  partition->all.add(job.wait);
  for (std::size_t n = spans.size(); n-- > 0 && job.wait <= spans[n].seconds;)
    ++partition->within[n];
  for (std::size_t n = 0; n < property_count; ++n)
    if (auto const value = value_of(job, static_cast<By>(n)))
      partition->by[n][class_of(properties_[n], *value)].add(job.wait);
  if (settings_.forecast) partition->forecaster.add(job, settings_.size);
}

void Statistics::add(Statistics const& other) {
  for (auto const& [name, waits] : other.partitions_) partitions_[name].add(waits);
  last_ = nullptr;
  if (partitions_.size() > most_partitions)
    throw InputError("there are more than " + std::to_string(most_partitions) +
                     " partitions: is the column Partition what it says?");
  counts_.add(other.counts_);
  broken_.add(other.broken_);
  for (std::size_t n = 0; n < column_count; ++n) had_[n] = had_[n] || other.had_[n];
  first_submit_ = std::min(first_submit_, other.first_submit_);
  last_submit_ = std::max(last_submit_, other.last_submit_);
}

}  // namespace coir::apps::queue
