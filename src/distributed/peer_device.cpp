#include "before_kokkos_ends.hpp"
#include "group_state.hpp"
#include "peer.hpp"

#include <coir/core/contiguous.hpp>
#include <coir/core/errors.hpp>
#include <coir/core/own_instance.hpp>
#include <coir/core/peer_memory.hpp>
#include <coir/core/stream.hpp>
#include <coir/distributed/together.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace coir::distributed::detail {

namespace {

using Exec = Kokkos::DefaultExecutionSpace;

/// Where a rank wants a piece.
struct Destination {
  MemoryName memory{};
  std::int64_t offset = 0, bytes = 0, runs = 0, pitch = 0;
};

/// What a message begins with, in place of a destination: how much memory of the rank that sends it
/// was freed, which a message of names tells then.
Destination header_of(std::int64_t freed) { return {{}, 0, 0, freed, 0}; }
std::int64_t freed_by(Destination const& header) { return header.runs; }

/// Allocations of this process that others write to, by their names.
class SharedMemory {
 public:
  /// None if others can't write there, as to memory of cudaMallocAsync.
  ///
  /// \param process  that writes to it
  std::optional<Destination> destination_of(Receive const& piece, std::int64_t process) {
    Allocation const found = allocation_of(piece.data);
    auto at = known_.find(found.first);
    if (at == known_.end() || at->second.allocation != found) {
      forget_freed();
      if (found == Allocation()) return {};
      try {
        at = known_.emplace(found.first, Known{found, name_of(found), {}}).first;
      } catch (EnvironmentError const&) {
        return {};
      }
    }
    at->second.told.insert(process);
    auto const offset = static_cast<char const*>(piece.data) - found.first;
    return Destination{at->second.name, offset, piece.bytes, piece.runs, piece.pitch};
  }
  /// The names of freed memory that a process may still have open. They are told once.
  std::vector<MemoryName> freed(std::int64_t process) { return std::exchange(freed_[process], {}); }

 private:
  struct Known {
    Allocation allocation;
    MemoryName name;
    std::set<std::int64_t> told;
  };

  // Asked only when new memory comes, which takes the place of what was freed.
  void forget_freed() {
    for (auto at = known_.begin(); at != known_.end();) {
      if (allocation_of(at->first) == at->second.allocation) {
        ++at;
        continue;
      }
      for (auto const process : at->second.told) freed_[process].push_back(at->second.name);
      at = known_.erase(at);
    }
  }

  std::map<char*, Known> known_;
  std::map<std::int64_t, std::vector<MemoryName>> freed_;
};

/// Allocations of other processes that this one has opened. Opening one takes a millisecond.
class OpenedMemory {
 public:
  OpenedMemory() = default;
  ~OpenedMemory() { close_all(); }
  OpenedMemory(OpenedMemory const&) = delete;
  OpenedMemory& operator=(OpenedMemory const&) = delete;

  char* open(MemoryName const& name) {
    auto const at = memory_.find(name);
    if (at != memory_.end()) return at->second;
    count_memory();
    return memory_[name] = open_alone(name);
  }
  /// Opens memory that is closed by the caller.
  char* open_alone(MemoryName const& name) {
    try {
      return open_memory(name);
    } catch (EnvironmentError const&) {
      // CUDA refuses memory in the place of what was freed and is still open.
      Kokkos::fence();
      close_all();
      ++refusals_;
      return open_memory(name);
    }
  }
  /// How often all was closed because memory was refused.
  int refusals() const { return refusals_; }
  void close(MemoryName const& name) {
    auto const at = memory_.find(name);
    if (at == memory_.end()) return;
    close_memory(at->second);
    memory_.erase(at);
  }
  void close_all() {
    for (auto const& [name, first] : memory_) close_memory(first);
    memory_.clear();
  }

 private:
  std::map<MemoryName, char*> memory_;
  int refusals_ = 0;
};

/// One for all groups: a process can't open memory twice by different names.
struct PeerMemory {
  SharedMemory shared;
  OpenedMemory opened;
};

/// Tells this process from others.
std::int64_t this_process() {
  static std::int64_t const number = [] {
    std::random_device random;
    return static_cast<std::int64_t>(random()) << 31 ^ static_cast<std::int64_t>(random());
  }();
  return number;
}

std::shared_ptr<PeerMemory> peer_memory() {
  static std::weak_ptr<PeerMemory> known;
  auto memory = known.lock();
  if (!memory) known = memory = std::make_shared<PeerMemory>();
  return memory;
}

/// What ranks signal: that a rank's memory may be written to, and that all that goes to it in an
/// exchange has arrived. Each counts exchanges.
enum Signal { ready, arrived };

struct PeerConnection {
  PeerConnection(int own_rank, int ranks)
      : rank(own_rank),
        size(ranks),
        processes(static_cast<std::size_t>(ranks)),
        theirs(static_cast<std::size_t>(ranks)),
        sent(static_cast<std::size_t>(ranks)),
        received(static_cast<std::size_t>(ranks)),
        signals(allocate_signals(2 * ranks + 2)) {}
  ~PeerConnection() { close(); }

  void close() {
    // Others' signals may still have to be written. After a failure the work may never end.
    if (!has_failed && signals != nullptr) Kokkos::fence();
    to_others.reset();
    to_self.reset();
    begun.reset();
    for (char* const first : opened_signals) close_memory(first);
    opened_signals.clear();
    given_up.clear();
    signals = nullptr;
  }

  /// The signal that another rank sends to this one, and the one that this rank sends to it.
  std::uint32_t* from(int other, Signal signal) const { return signals.get() + 2 * other + signal; }
  std::uint32_t* to(int other, Signal signal) const {
    return theirs[static_cast<std::size_t>(other)] + 2 * rank + signal;
  }
  std::int64_t process(int other) const { return processes[static_cast<std::size_t>(other)]; }
  /// Signals of this rank to itself: pieces have left to others, or to itself.
  std::uint32_t* left(int which) const { return signals.get() + 2 * size + which; }

  int rank, size;
  std::shared_ptr<PeerMemory> memory = peer_memory();
  std::vector<std::int64_t> processes;  ///< of the ranks
  std::vector<char*> opened_signals;
  std::vector<std::uint32_t*> theirs;         ///< signals of each rank
  std::vector<std::uint32_t> sent, received;  ///< exchanges with each rank so far
  std::uint32_t exchanges = 0;
  bool has_failed = false;  ///< an exchange: signals no longer count what others count
  std::vector<std::shared_ptr<char>> given_up;  ///< memory that others may write to until the end
  std::shared_ptr<std::uint32_t> signals;
  // Where a kernel fills the device, messages get the first room that becomes free.
  std::optional<OwnInstance<Exec>> to_others{std::in_place, Precedence::first},
      to_self{std::in_place, Precedence::first};
  /// After the `ready` signals of the last exchange. The next one waits for it.
  std::optional<Moment<Exec>> begun{std::in_place};
  BeforeKokkosEnds const closes{[this] {
    close();
    memory->opened.close_all();
  }};
};

class PeerExchange : public UnderWay {
 public:
  PeerExchange(std::shared_ptr<PeerConnection> connection, Exec const& exec)
      : connection_(std::move(connection)), exec_(exec) {}
  // Memory of an exchange that is given up may be freed next, which then waits for the copies.
  // After an exception other ranks may never send them.
  ~PeerExchange() override {
    if (is_finished_ || !connection_->to_others) return;
    try {
      if (std::uncaught_exceptions() == 0) await_signals(connection_->to_others->exec(), awaited_);
    } catch (EnvironmentError const&) {  // the device fails: its next work says so
    }
    // Others may still write there.
    for (auto& detour : detours_) connection_->given_up.push_back(std::move(detour.memory));
  }

  /// What has to arrive, and this rank's count of it.
  void expect(SignalValue const& signal) { awaited_.push_back(signal); }
  /// Memory in which a piece lands that others can't bring to its place: finish() does.
  Receive detour_of(Receive const& piece) {
    detours_.push_back({piece, allocate_as_views(piece.bytes * piece.runs)});
    Receive there = piece;
    there.data = detours_.back().memory.get();
    there.pitch = piece.bytes;
    return there;
  }
  void finish() override {
    await_signals(exec_, awaited_);
    for (auto const& [piece, memory] : detours_)
      copy_runs(exec_, {static_cast<char*>(piece.data), piece.pitch}, {memory.get(), piece.bytes},
                piece.bytes, piece.runs);
    if (!detours_.empty()) exec_.fence();  // their memory is freed next
    detours_.clear();
    is_finished_ = true;
  }

 private:
  struct Detour {
    Receive piece;
    std::shared_ptr<char> memory;
  };
  std::shared_ptr<PeerConnection> connection_;
  Exec exec_;
  std::vector<SignalValue> awaited_;
  std::vector<Detour> detours_;
  bool is_finished_ = false;
};

/// Swaps a list with each rank: those that aren't empty.
///
/// \param theirs  of the lengths that come
template <class One>
void swap_lists(Engine const& engine, std::vector<std::vector<One>>& mine,
                std::vector<std::vector<One>>& theirs) {
  constexpr auto size = static_cast<std::int64_t>(sizeof(One));
  std::vector<Send> messages;
  std::vector<Receive> answers;
  for (int rank = 0; rank < engine.size(); ++rank) {
    auto& here = mine[static_cast<std::size_t>(rank)];
    auto& there = theirs[static_cast<std::size_t>(rank)];
    auto const out = size * static_cast<std::int64_t>(here.size()),
               in = size * static_cast<std::int64_t>(there.size());
    if (out > 0) messages.push_back({rank, here.data(), out});
    if (in > 0) answers.push_back({rank, there.data(), in});
  }
  if (!messages.empty() || !answers.empty()) engine.begin(messages, answers)->finish();
}

/// Where the pieces go that are received from each rank, in their order behind a header.
std::vector<std::vector<Destination>> destinations_of_receives(PeerConnection& connection,
                                                               Pieces const& pieces,
                                                               PeerExchange& exchange) {
  auto& shared = connection.memory->shared;
  std::vector<std::vector<Destination>> mine(static_cast<std::size_t>(connection.size));
  for (Receive const& piece : pieces.receives) {
    auto& places = mine[static_cast<std::size_t>(piece.from)];
    if (places.empty()) places.emplace_back();
    auto const process = connection.process(piece.from);
    auto place = shared.destination_of(piece, process);
    if (!place) place = shared.destination_of(exchange.detour_of(piece), process);
    if (!place) throw EnvironmentError("the device's driver doesn't share memory of Views");
    places.push_back(*place);
  }
  return mine;
}

/// Tells each rank where the pieces go that are received from it.
///
/// \return  where those go that are sent, which each rank tells alike
std::vector<std::vector<Destination>> destinations_of_sends(
    PeerConnection& connection, Engine const& engine, Pieces const& pieces,
    std::vector<std::vector<Destination>> mine) {
  auto const ranks = static_cast<std::size_t>(connection.size);
  auto& [shared, opened] = *connection.memory;
  std::vector<std::vector<Destination>> theirs(ranks);
  for (Send const& piece : pieces.sends) {
    auto& places = theirs[static_cast<std::size_t>(piece.to)];
    places.resize(places.empty() ? 2 : places.size() + 1);
  }
  std::vector<std::vector<MemoryName>> freed(ranks), closed(ranks);
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    if (mine[rank].empty()) continue;
    freed[rank] = shared.freed(connection.processes[rank]);
    mine[rank].front() = header_of(static_cast<std::int64_t>(freed[rank].size()));
  }
  swap_lists(engine, mine, theirs);
  for (std::size_t rank = 0; rank < ranks; ++rank)
    if (!theirs[rank].empty())
      closed[rank].resize(static_cast<std::size_t>(freed_by(theirs[rank].front())));
  swap_lists(engine, freed, closed);
  for (auto const& names : closed)
    for (MemoryName const& name : names) opened.close(name);
  return theirs;
}

void expects_same_piece(Send const& piece, Destination const& place) {
  if (place.bytes != piece.bytes || place.runs != piece.runs)
    throw PreconditionError("a piece of " + std::to_string(piece.runs) + " times " +
                            std::to_string(piece.bytes) + " bytes goes to rank " +
                            std::to_string(piece.to) + ", which expects " +
                            std::to_string(place.runs) + " times " + std::to_string(place.bytes) +
                            ": both must list the same piece");
}

/// What is sent to one rank.
struct Sendings {
  std::vector<Send> pieces;
  std::vector<Runs> targets;
  SignalValue is_ready, has_arrived;
};

/// What is sent to each rank, the next one first: all ranks send in this order. If several sent to
/// one at once, each would wait for the others.
std::vector<Sendings> sendings_of(PeerConnection& connection, Pieces const& pieces,
                                  std::vector<std::vector<Destination>> const& places) {
  std::map<int, Sendings> of_distance;
  auto const places_of = [&](Sendings const& one) {
    return std::span(places[static_cast<std::size_t>(one.pieces.front().to)]).subspan(1);
  };
  auto& opened = connection.memory->opened;
  for (Send const& piece : pieces.sends) {
    auto& one = of_distance[(piece.to - connection.rank + connection.size) % connection.size];
    one.pieces.push_back(piece);
    auto const& place = places_of(one)[one.pieces.size() - 1];
    expects_same_piece(piece, place);
    opened.open(place.memory);
  }
  auto const closes_others = [&] {
    int const before = opened.refusals();
    for (auto const& [distance, one] : of_distance)
      for (Destination const& place : places_of(one)) opened.open(place.memory);
    return opened.refusals() > before;
  };
  for (int attempt = 0; closes_others(); ++attempt)
    if (attempt == 2)
      throw EnvironmentError("the device refuses to open all memory that an exchange goes to");
  for (auto& [distance, one] : of_distance)
    for (Destination const& place : places_of(one))
      one.targets.push_back({opened.open(place.memory) + place.offset, place.pitch});
  std::vector<Sendings> all;
  for (auto& [distance, one] : of_distance) {
    int const to = one.pieces.front().to;
    auto const number = ++connection.sent[static_cast<std::size_t>(to)];
    one.is_ready = {connection.from(to, ready), number};
    one.has_arrived = {connection.to(to, arrived), number};
    all.push_back(std::move(one));
  }
  return all;
}

/// The copies of sendings, if a kernel brings them sooner than copy engines; otherwise none.
std::vector<SmallCopy> small_copies_of(std::vector<Sendings> const& all) {
  constexpr std::int64_t most_bytes = std::int64_t(1) << 14;
  std::vector<SmallCopy> copies;
  std::int64_t bytes = 0;
  for (auto const& one : all)
    for (std::size_t n = 0; n < one.pieces.size(); ++n) {
      auto const& piece = one.pieces[n];
      bytes += piece.bytes * piece.runs;
      if (piece.runs != 1 || bytes > most_bytes) return {};
      copies.push_back({one.targets[n].first, static_cast<char const*>(piece.data), piece.bytes});
    }
  bool const fit = copies.size() <= most_small_copies && all.size() < most_signals_of_copies;
  return fit ? copies : std::vector<SmallCopy>();
}

/// Sends pieces as soon as those that receive them are ready.
///
/// \param left  is signalled when all have left
void send_all(Exec const& exec, std::vector<Sendings> const& all, SignalValue const& left) {
  if (auto const small = small_copies_of(all); !small.empty()) {
    std::vector<SignalValue> before, after;
    for (auto const& one : all) {
      before.push_back(one.is_ready);
      after.push_back(one.has_arrived);
    }
    after.push_back(left);
    await_signals(exec, before);
    return copy_small(exec, small, after);
  }
  for (auto const& one : all) {
    await_signals(exec, std::span(&one.is_ready, 1));
    for (std::size_t n = 0; n < one.pieces.size(); ++n) {
      auto const& piece = one.pieces[n];
      copy_runs(exec, one.targets[n],
                {static_cast<char*>(const_cast<void*>(piece.data)), piece.pitch}, piece.bytes,
                piece.runs);
    }
    std::vector<SignalValue> after{one.has_arrived};
    if (&one == &all.back()) after.push_back(left);
    write_signals(exec, after);
  }
}

/// What connecting tries out: numbers that each rank sends to all others.
class Probe {
 public:
  Probe(int rank, int ranks)
      : rank_(rank),
        ranks_(ranks),
        sent_(allocate_as_views(bytes)),
        came_(allocate_as_views(bytes * ranks)) {
    fill(sent_.get(), rank);
    // Not what is to come, even in memory of an earlier probe.
    for (int other = 0; other < ranks; ++other) fill(came_.get() + other * bytes, -1);
  }
  static constexpr std::int64_t count = 1 << 17, bytes = count * 8;

  char* sent() const { return sent_.get(); }
  char* came() const { return came_.get(); }
  bool has_come_from_all() const {
    auto const on_host = numbers_on_host();
    for (int other = 0; other < ranks_; ++other) {
      if (other == rank_) continue;
      copy_contiguous(on_host, numbers(came_.get() + other * bytes));
      for (std::int64_t n = 0; n < count; ++n)
        if (on_host(static_cast<std::size_t>(n)) != number(n, other)) return false;
    }
    return true;
  }

 private:
  using Numbers =
      Kokkos::View<std::int64_t*, Exec::memory_space, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  using NumbersOnHost = Kokkos::View<std::int64_t*, Kokkos::HostSpace>;

  static NumbersOnHost numbers_on_host() {
    return NumbersOnHost("coir::distributed::peer_device/probe", static_cast<std::size_t>(count));
  }
  static Numbers numbers(char* first) {
    return Numbers(reinterpret_cast<std::int64_t*>(first), static_cast<std::size_t>(count));
  }
  std::int64_t number(std::int64_t n, int of_rank) const { return n * (ranks_ + 1) + of_rank + 1; }
  void fill(char* first, int of_rank) const {
    auto const on_host = numbers_on_host();
    for (std::int64_t n = 0; n < count; ++n)
      on_host(static_cast<std::size_t>(n)) = number(n, of_rank);
    copy_contiguous(numbers(first), on_host);
  }

  int rank_, ranks_;
  std::shared_ptr<char> sent_, came_;
};

/// Sends the numbers of a probe and both signals to all others, and begins to wait for theirs.
void begin_probe(PeerConnection& connection, Probe const& probe, std::vector<char*> const& others) {
  Exec const& exec = connection.to_others->exec();
  std::vector<SignalValue> signals;
  for (int other = 0; other < connection.size; ++other)
    if (other != connection.rank) signals.push_back({connection.to(other, ready), 1});
  write_signals(exec, signals);
  signals.clear();
  for (int distance = 1; distance < connection.size; ++distance) {
    int const to = (connection.rank + distance) % connection.size;
    await_signals(exec, std::vector<SignalValue>{{connection.from(to, ready), 1}});
    copy_runs(exec, {others[static_cast<std::size_t>(to)] + connection.rank * Probe::bytes, 0},
              {probe.sent(), 0}, Probe::bytes, 1);
    write_signals(exec, std::vector<SignalValue>{{connection.to(to, arrived), 1}});
    signals.push_back({connection.from(to, arrived), 1});
  }
  await_signals(exec, signals);
}

/// Waits for the work of a probe.
///
/// \return  why this rank has failed; empty if all has come
std::string end_of_probe(PeerConnection& connection, Probe const& probe,
                         std::chrono::milliseconds wait) {
  Exec const& exec = connection.to_others->exec();
  using Clock = std::chrono::steady_clock;
  auto const limit = Clock::now() + wait;
  while (!has_ended(exec)) {
    if (Clock::now() < limit) {
      std::this_thread::sleep_for(std::chrono::microseconds(50));
      continue;
    }
    // This rank sends the signals itself, so that its stream ends.
    std::vector<SignalValue> all;
    for (int n = 0; n < 2 * connection.size; ++n) all.push_back({connection.signals.get() + n, 1});
    write_signals(connection.to_self->exec(), all);
    exec.fence();
    return "signals from device to device do not arrive";
  }
  return probe.has_come_from_all() ? "" : "a probe of 1 MiB did not arrive as it was sent";
}

/// Tries out copies and signals between all ranks, each of which has to do with every other one.
/// Whatever fails on a rank, it fails on all.
void try_out(PeerConnection& connection, Group const& group, Probe const& probe,
             std::vector<char*> const& others, std::chrono::milliseconds wait) {
  std::string problem;
  auto const attempt = [&](auto const& action) {
    try {
      return action();
    } catch (std::exception const& error) {
      return std::string(error.what());
    }
  };
  problem = attempt([&] {
    begin_probe(connection, probe, others);
    return std::string();
  });
  // Also after a failure: nothing may be under way when memory is freed.
  if (!problem.empty()) wait = std::chrono::milliseconds(0);
  std::string const at_end = attempt([&] { return end_of_probe(connection, probe, wait); });
  if (problem.empty()) problem = at_end;
  together(group, [&] {
    if (!problem.empty()) throw EnvironmentError(problem);
  });
  for (auto* const counts : {&connection.sent, &connection.received})
    std::fill(counts->begin(), counts->end(), 1u);
}

/// The part of an exchange's begin that counts: if it fails on one rank, ranks no longer agree.
void run_exchange(PeerConnection& held, Engine const& engine, Exec const& exec,
                  Pieces const& pieces, std::vector<std::vector<Destination>> mine,
                  PeerExchange& exchange) {
  // Streams wait only for what was launched before, on this rank or in an earlier step of another
  // one: they go on even if the device runs them one after the other.
  std::set<int> sources;
  for (Receive const& piece : pieces.receives) sources.insert(piece.from);
  std::vector<SignalValue> signals;
  for (int const source : sources) {
    auto const number = ++held.received[static_cast<std::size_t>(source)];
    signals.push_back({held.to(source, ready), number});
    exchange.expect({held.from(source, arrived), number});
  }
  // Signals count exchanges, whatever instances they are on: none may overtake an earlier one.
  held.begun->await(exec);
  write_signals(exec, signals);
  held.begun->record(exec);
  ++held.exchanges;
  if (!pieces.own.empty()) {
    Exec const& own = held.to_self->exec();
    held.begun->await(own);
    for (OwnPiece const& piece : pieces.own)
      copy_runs(own, {static_cast<char*>(piece.to), piece.pitch_to},
                {static_cast<char*>(const_cast<void*>(piece.from)), piece.pitch_from}, piece.bytes,
                piece.runs);
    SignalValue const left{held.left(1), held.exchanges};
    write_signals(own, std::span(&left, 1));
    exchange.expect(left);
  }
  auto const places = destinations_of_sends(held, engine, pieces, std::move(mine));
  if (pieces.sends.empty()) return;

  Exec const& own = held.to_others->exec();
  held.begun->await(own);
  SignalValue const left{held.left(0), held.exchanges};
  send_all(own, sendings_of(held, pieces, places), left);
  exchange.expect(left);
}

}  // namespace

std::shared_ptr<void> connect_by_peer(Group const& group, std::chrono::milliseconds wait) {
  struct Home {
    MemoryName memory;
    std::int64_t offset;
  };
  struct Homes {
    Home signals, probe;
    std::int64_t process;
  };
  auto const home_of = [](void const* data) -> Home {
    Allocation const found = allocation_of(data);
    if (found == Allocation())
      throw EnvironmentError("the device's driver doesn't know its own memory");
    return {name_of(found), static_cast<char const*>(data) - found.first};
  };
  Homes mine{};
  std::optional<Probe> probe;
  auto const connection = together(group, [&] {
    auto made = std::make_shared<PeerConnection>(group.rank(), group.size());
    probe.emplace(group.rank(), group.size());
    mine = {home_of(made->signals.get()), home_of(probe->came()), this_process()};
    return made;
  });
  auto const all = group.gather(mine);
  std::vector<char*> opened, probes(all.size());
  std::exception_ptr problem;
  try {
    together(group, [&] {
      for (int other = 0; other < group.size(); ++other) {
        if (other == group.rank()) continue;
        auto const n = static_cast<std::size_t>(other);
        auto const& [signals, came, process] = all[n];
        connection->processes[n] = process;
        char* const first = connection->memory->opened.open_alone(signals.memory);
        connection->opened_signals.push_back(first);
        connection->theirs[n] = reinterpret_cast<std::uint32_t*>(first + signals.offset);
        opened.push_back(connection->memory->opened.open_alone(came.memory));
        probes[n] = opened.back() + came.offset;
      }
    });
    try_out(*connection, group, *probe, probes, wait);
  } catch (...) {  // on all ranks
    problem = std::current_exception();
  }
  for (char* const first : opened) close_memory(first);
  group.barrier();  // the owners free what is closed
  if (problem) std::rethrow_exception(problem);
  count_connection();
  return connection;
}

std::unique_ptr<UnderWay> begin_by_peer(std::shared_ptr<void> const& connection,
                                        Engine const& engine, Exec const& exec,
                                        Pieces const& pieces) {
  auto const held = std::static_pointer_cast<PeerConnection>(connection);
  if (held->has_failed)
    throw EnvironmentError("an exchange of this group by peer memory has failed: make a new group");
  auto exchange = std::make_unique<PeerExchange>(held, exec);
  try {
    auto mine = destinations_of_receives(*held, pieces, *exchange);
    run_exchange(*held, engine, exec, pieces, std::move(mine), *exchange);
  } catch (...) {  // other ranks may have launched it
    held->has_failed = true;
    throw;
  }
  return exchange;
}

}  // namespace coir::distributed::detail
