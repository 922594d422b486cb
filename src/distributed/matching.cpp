#include "matching.hpp"

#include <coir/core/errors.hpp>
#include <coir/distributed/together.hpp>

#include <cstdint>
#include <cstdlib>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace coir::distributed::detail {

namespace {

constexpr char const* check_variable = "COIR_CHECK_EXCHANGES";

/// Bytes and runs of a piece; 0 if there is none.
using Size = std::pair<std::int64_t, std::int64_t>;
/// Sizes of pieces, by the other rank and the key.
using PieceSizes = std::map<std::pair<int, std::int64_t>, Size>;

std::string piece_of(Size const& size) {
  auto const [bytes, runs] = size;
  if (bytes == 0) return "no piece";
  return "a piece of " + (runs > 1 ? std::to_string(runs) + " times " : "") +
         std::to_string(bytes) + " bytes";
}

void expects_same(int rank, std::string_view purpose, PieceSizes const& coming,
                  PieceSizes const& expected) {
  auto const compare = [&](std::pair<int, std::int64_t> const& name) {
    auto const size_in = [&](PieceSizes const& pieces) {
      auto const found = pieces.find(name);
      return found == pieces.end() ? Size() : found->second;
    };
    Size const sent = size_in(coming), wanted = size_in(expected);
    if (sent == wanted) return;
    throw PreconditionError(
        "in the exchange \"" + std::string(purpose) + "\" rank " + std::to_string(rank) +
        " expects from rank " + std::to_string(name.first) + " with the key " +
        std::to_string(name.second) + " " + piece_of(wanted) + ", and that rank sends " +
        piece_of(sent) + ": both must list the same piece");
  };
  for (auto const& [name, size] : expected) compare(name);
  for (auto const& [name, size] : coming) compare(name);
}

}  // namespace

bool wants_checks(Group const& group) {
  bool const here = together(group, [] {
    char const* const text = std::getenv(check_variable);
    std::string const value = text == nullptr ? "" : text;
    if (value.empty() || value == "0") return false;
    if (value == "1") return true;
    throw EnvironmentError(std::string("the environment variable ") + check_variable +
                           " must be 0 or 1, not '" + value + "': correct it, or unset it");
  });
  return group.gather(here ? 1 : 0).front() == 1;
}

void expects_matching(Group const& group, std::string_view purpose, std::span<Send const> sends,
                      std::span<Receive const> receives) {
  struct Sent {
    std::int64_t to, key, bytes, runs;
  };
  std::vector<Sent> mine;
  for (Send const& send : sends)
    if (send.bytes > 0 && send.runs > 0) mine.push_back({send.to, send.key, send.bytes, send.runs});
  auto const counts = group.gather(mine.size());
  auto const all = group.gather_all(std::span<Sent const>(mine));
  PieceSizes coming, expected;
  std::size_t at = 0;
  for (std::size_t from = 0; from < counts.size(); ++from)
    for (std::size_t n = 0; n < counts[from]; ++n, ++at)
      if (all[at].to == group.rank())
        coming[{static_cast<int>(from), all[at].key}] = {all[at].bytes, all[at].runs};
  for (Receive const& receive : receives)
    if (receive.bytes > 0 && receive.runs > 0)
      expected[{receive.from, receive.key}] = {receive.bytes, receive.runs};
  together(group, [&] { expects_same(group.rank(), purpose, coming, expected); });
}

}  // namespace coir::distributed::detail
