#include "broken_rows.hpp"

#include <support/text.hpp>

#include <algorithm>

namespace coir::apps::queue {

void BrokenRows::add(BrokenRows const& other) {
  for (auto const& [key, some] : other.kinds_) {
    Some& mine = kinds_[key];
    mine.count += some.count;
    mine.named.insert(mine.named.end(), some.named.begin(), some.named.end());
    std::sort(mine.named.begin(), mine.named.end());
    if (mine.named.size() > most_named) mine.named.resize(most_named);
  }
}

std::int64_t BrokenRows::count() const {
  std::int64_t count = 0;
  for (auto const& [key, some] : kinds_) count += some.count;
  return count;
}

std::string in_words(BrokenRows::Key const& key) {
  switch (key.first) {
    case Flaw::too_few_fields: return "fewer fields than columns";
    case Flaw::too_many_fields: return "more fields than columns";
    case Flaw::no_job: return "no number of a job in JobID";
    case Flaw::no_partition: return "no partition";
    case Flaw::bad_value: return std::string(column_name(key.second)) + " can't be read";
    case Flaw::negative_wait: return "a negative wait";
    case Flaw::unfinished: return "the last line has no end";
    case Flaw::too_long: return "a line of more than 1 MiB";
  }
  return "";
}

std::string quoted(std::string_view value) {
  constexpr std::size_t most = 40;
  bool const is_long = value.size() > most;
  return "'" + one_line(std::string(value.substr(0, most))) + (is_long ? "...'" : "'");
}

}  // namespace coir::apps::queue
