#pragma once

/// Rows that can't be read: how many of each kind, and the first ones by name.

#include "job.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace coir::apps::queue {

class BrokenRows {
 public:
  static constexpr std::size_t most_named = 5;  ///< of each kind

  /// A row that has been named.
  struct Named {
    std::int64_t file;  ///< which of the inputs, from 0
    std::int64_t line;  ///< in it, from 1
    std::string what;   ///< "Submit is '2025-13-01'", shortened
    auto operator<=>(Named const&) const = default;
  };

  struct Some {
    std::int64_t count = 0;
    std::vector<Named> named;  ///< the first ones, in the order of the inputs
  };

  using Key = std::pair<Flaw, Column>;

  /// \param what  makes the words for a row, of the first ones alone
  template <class What>
  void add(Key const& key, std::int64_t file, std::int64_t line, What const& what) {
    Some& some = kinds_[key];
    ++some.count;
    if (some.named.size() < most_named) some.named.push_back({file, line, what()});
  }

  void add(BrokenRows const& other);

  std::int64_t count() const;
  std::map<Key, Some> const& kinds() const { return kinds_; }

 private:
  std::map<Key, Some> kinds_;
};

/// A kind of broken rows in words: "the wait is negative".
std::string in_words(BrokenRows::Key const& key);

/// A value for a message: in quotes, shortened, without control characters.
std::string quoted(std::string_view value);

}  // namespace coir::apps::queue
