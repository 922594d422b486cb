#include "count.hpp"

#include <coir/core/kokkos.hpp>
#include <coir/core/machine.hpp>
#include <coir/core/tasks.hpp>

#include <support/interrupt.hpp>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>
#include <utility>
#include <vector>

namespace coir::apps::queue {

namespace {

void take_in(Statistics& statistics, Piece const& piece) {
  statistics.read(piece.lines, *piece.columns, piece.file, piece.first_line);
  if (auto const& odd = piece.odd)
    statistics.add_broken(odd->flaw, piece.file, odd->number, odd->begins);
}

}  // namespace

HostFacts this_host() {
  return {host_threads(Kokkos::DefaultHostExecutionSpace{}), kokkos_version()};
}

Statistics count(AccountingReader& reader, QueueSettings const& settings) {
  using Host = Kokkos::DefaultHostExecutionSpace;
  Host const host;
  auto const threads = std::clamp<std::int64_t>(host.concurrency(), 1, 8);
  std::vector<Statistics> all;
  for (std::int64_t n = 0; n < threads; ++n) all.emplace_back(settings);
  std::vector<std::exception_ptr> errors(all.size());  // an exception must not leave its thread
  std::atomic<bool> is_over{false};
  for_each_task("coir-queue::count", host, threads, [&](std::int64_t thread) {
    auto const n = static_cast<std::size_t>(thread);
    try {
      Piece piece;
      while (!is_over && !interrupted() && reader.next(piece)) take_in(all[n], piece);
    } catch (...) {
      errors[n] = std::current_exception();
      is_over = true;
    }
  });
  stop_if_interrupted();
  for (auto const& error : errors)
    if (error) std::rethrow_exception(error);
  for (std::size_t n = 1; n < all.size(); ++n) all[0].add(all[n]);
  return std::move(all[0]);
}

}  // namespace coir::apps::queue
