#include "before_kokkos_ends.hpp"
#include "group_state.hpp"
#include "peer.hpp"

#include <coir/core/errors.hpp>
#include <coir/core/own_instance.hpp>
#include <coir/core/peer_memory.hpp>
#include <coir/core/stream.hpp>
#include <coir/distributed/together.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace coir::distributed::detail {

namespace {

using Exec = Kokkos::DefaultExecutionSpace;

/// Where a rank wants a piece. The first of a message names memory of the rank that was freed, if
/// there is any: then it has runs.
struct Destination {
  MemoryName memory{};
  std::int64_t offset = 0, bytes = 0, runs = 0, pitch = 0;
};

/// Allocations of this process that others write to, by their names.
class SharedMemory {
 public:
  /// \param process  that writes to it
  Destination destination_of(Receive const& piece, std::int64_t process) {
    Allocation const found = allocation_of(piece.data);
    auto at = known_.find(found.first);
    if (at == known_.end() || at->second.allocation != found) {
      forget_freed();
      if (found == Allocation())
        throw EnvironmentError(
            "a piece lies in memory that the device's driver doesn't know, so that other ranks "
            "can't write to it: COIR_TRANSPORT=nccl or staged does without that");
      at = known_.emplace(found.first, Known{found, name_of(found), {}}).first;
    }
    at->second.told.insert(process);
    auto const offset = static_cast<char const*>(piece.data) - found.first;
    return {at->second.name, offset, piece.bytes, piece.runs, piece.pitch};
  }
  /// The name of freed memory that a process still has open.
  Destination freed(std::int64_t process) {
    auto& names = freed_[process];
    if (names.empty()) return {};
    Destination const place{names.back(), 0, 0, 1, 0};
    names.pop_back();
    return place;
  }

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
      return open_memory(name);
    }
  }
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
    to_others.reset();
    to_self.reset();
    for (char* const first : opened_signals) close_memory(first);
    opened_signals.clear();
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
  std::shared_ptr<std::uint32_t> signals;
  std::optional<OwnInstance<Exec>> to_others{std::in_place}, to_self{std::in_place};
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
    if (!is_finished_ && connection_->to_others && std::uncaught_exceptions() == 0)
      wait_on(connection_->to_others->exec());
  }

  /// What has to arrive, and this rank's count of it.
  void expect(std::uint32_t* signal, std::uint32_t number) {
    awaited_.emplace_back(signal, number);
  }
  void finish() override {
    wait_on(exec_);
    is_finished_ = true;
  }

 private:
  void wait_on(Exec const& exec) const {
    for (auto const& [signal, number] : awaited_) await_signal(exec, signal, number);
  }

  std::shared_ptr<PeerConnection> connection_;
  Exec exec_;
  std::vector<std::pair<std::uint32_t*, std::uint32_t>> awaited_;
  bool is_finished_ = false;
};

/// Tells each rank where the pieces go that are received from it, and hears where those go that
/// are sent, in the order of the pieces.
std::vector<std::vector<Destination>> destinations_of_sends(PeerConnection& connection,
                                                            Engine const& engine,
                                                            Pieces const& pieces) {
  auto const ranks = static_cast<std::size_t>(connection.size);
  std::vector<std::vector<Destination>> mine(ranks), theirs(ranks);
  for (Receive const& piece : pieces.receives) {
    auto& places = mine[static_cast<std::size_t>(piece.from)];
    if (places.empty()) places.emplace_back();
    places.push_back(
        connection.memory->shared.destination_of(piece, connection.process(piece.from)));
  }
  for (Send const& piece : pieces.sends) {
    auto& places = theirs[static_cast<std::size_t>(piece.to)];
    places.resize(places.empty() ? 2 : places.size() + 1);
  }
  std::vector<Send> messages;
  std::vector<Receive> answers;
  for (int rank = 0; rank < connection.size; ++rank) {
    auto& here = mine[static_cast<std::size_t>(rank)];
    auto& there = theirs[static_cast<std::size_t>(rank)];
    if (!here.empty()) {
      here.front() = connection.memory->shared.freed(connection.process(rank));
      messages.push_back(
          {rank, here.data(), static_cast<std::int64_t>(here.size() * sizeof(Destination))});
    }
    if (!there.empty())
      answers.push_back(
          {rank, there.data(), static_cast<std::int64_t>(there.size() * sizeof(Destination))});
  }
  engine.begin(messages, answers)->finish();
  for (std::size_t rank = 0; rank < ranks; ++rank)
    if (!theirs[rank].empty() && theirs[rank].front().runs > 0)
      connection.memory->opened.close(theirs[rank].front().memory);
  return theirs;
}

void send_piece(PeerConnection& connection, Send const& piece, Destination const& place) {
  if (place.bytes != piece.bytes || place.runs != piece.runs)
    throw PreconditionError("a piece of " + std::to_string(piece.runs) + " times " +
                            std::to_string(piece.bytes) + " bytes goes to rank " +
                            std::to_string(piece.to) + ", which expects " +
                            std::to_string(place.runs) + " times " + std::to_string(place.bytes) +
                            ": both must list the same piece");
  Exec const& exec = connection.to_others->exec();
  char* const memory = connection.memory->opened.open(place.memory);
  copy_runs(exec, {memory + place.offset, place.pitch},
            {static_cast<char*>(const_cast<void*>(piece.data)), piece.pitch}, piece.bytes,
            piece.runs);
}

/// Whether signals travel between all ranks, both ways. They do so at once, or never.
void try_signals(PeerConnection& connection, Group const& group, std::chrono::milliseconds wait) {
  Exec const& exec = connection.to_others->exec();
  ++connection.exchanges;
  for (int other = 0; other < connection.size; ++other) {
    if (other == connection.rank) continue;
    auto const n = static_cast<std::size_t>(other);
    write_signal(exec, connection.to(other, ready), ++connection.received[n]);
    write_signal(exec, connection.to(other, arrived), ++connection.sent[n]);
  }
  for (int other = 0; other < connection.size; ++other)
    if (other != connection.rank)
      for (Signal const signal : {ready, arrived})
        await_signal(exec, connection.from(other, signal), 1);
  using Clock = std::chrono::steady_clock;
  auto const limit = Clock::now() + wait;
  bool came = true;
  while (!has_ended(exec) && (came = Clock::now() < limit))
    std::this_thread::sleep_for(std::chrono::microseconds(50));
  if (!came) {  // this rank sends them itself, so that the stream ends
    for (int n = 0; n < 2 * connection.size; ++n)
      write_signal(connection.to_self->exec(), connection.signals.get() + n, 1);
    exec.fence();
  }
  if (!group.all(came)) throw EnvironmentError("signals from device to device do not arrive");
}

}  // namespace

std::shared_ptr<void> connect_by_peer(Group const& group, std::chrono::milliseconds wait) {
  struct Home {
    MemoryName memory;
    std::int64_t offset, process;
  };
  Home home{};
  auto const connection = together(group, [&] {
    auto made = std::make_shared<PeerConnection>(group.rank(), group.size());
    Allocation const found = allocation_of(made->signals.get());
    home = {name_of(found), reinterpret_cast<char*>(made->signals.get()) - found.first,
            this_process()};
    return made;
  });
  auto const homes = group.gather(home);
  together(group, [&] {
    for (int other = 0; other < group.size(); ++other) {
      if (other == group.rank()) continue;
      auto const n = static_cast<std::size_t>(other);
      connection->processes[n] = homes[n].process;
      char* const first = connection->memory->opened.open_alone(homes[n].memory);
      connection->opened_signals.push_back(first);
      connection->theirs[n] = reinterpret_cast<std::uint32_t*>(first + homes[n].offset);
    }
  });
  try_signals(*connection, group, wait);
  count_connection();
  return connection;
}

std::unique_ptr<UnderWay> begin_by_peer(std::shared_ptr<void> const& connection,
                                        Engine const& engine, Exec const& exec,
                                        Pieces const& pieces) {
  auto const held = std::static_pointer_cast<PeerConnection>(connection);
  auto exchange = std::make_unique<PeerExchange>(held, exec);
  // Streams wait only for what was launched before, on this rank or in an earlier step of another
  // one: they go on even if the device runs them one after the other.
  std::set<int> sources;
  for (Receive const& piece : pieces.receives) sources.insert(piece.from);
  for (int const source : sources) {
    auto const number = ++held->received[static_cast<std::size_t>(source)];
    write_signal(exec, held->to(source, ready), number);
    exchange->expect(held->from(source, arrived), number);
  }
  ++held->exchanges;
  if (!pieces.own.empty()) {
    Exec const& own = held->to_self->exec();
    begin_after(own, exec);
    for (OwnPiece const& piece : pieces.own)
      copy_runs(own, {static_cast<char*>(piece.to), piece.pitch_to},
                {static_cast<char*>(const_cast<void*>(piece.from)), piece.pitch_from}, piece.bytes,
                piece.runs);
    write_signal(own, held->left(1), held->exchanges);
    exchange->expect(held->left(1), held->exchanges);
  }
  auto const places = destinations_of_sends(*held, engine, pieces);
  if (pieces.sends.empty()) return exchange;

  std::map<int, std::vector<Send>> sends;
  for (Send const& piece : pieces.sends) sends[piece.to].push_back(piece);
  Exec const& own = held->to_others->exec();
  begin_after(own, exec);
  // All ranks send to the next one first. If several sent to one at once, each would wait for the
  // others.
  for (int distance = 1; distance < held->size; ++distance) {
    int const to = (held->rank + distance) % held->size;
    auto const found = sends.find(to);
    if (found == sends.end()) continue;
    auto const number = ++held->sent[static_cast<std::size_t>(to)];
    await_signal(own, held->from(to, ready), number);
    auto place = places[static_cast<std::size_t>(to)].begin();
    for (Send const& piece : found->second) send_piece(*held, piece, *++place);
    write_signal(own, held->to(to, arrived), number);
  }
  write_signal(own, held->left(0), held->exchanges);
  exchange->expect(held->left(0), held->exchanges);
  return exchange;
}

}  // namespace coir::distributed::detail
