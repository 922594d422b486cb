#pragma once

/// The interface between groups and MPI.

#include <coir/distributed/group.hpp>

#include <cstdint>
#include <memory>
#include <span>

namespace coir::distributed::detail {

/// Messages under way.
class UnderWay {
 public:
  virtual ~UnderWay() = default;
  virtual void finish() = 0;
};

/// Messages that are waited for one by one.
class Requests {
 public:
  virtual ~Requests() = default;
  virtual void send(Send const& piece, std::int64_t tag) = 0;
  virtual void receive(Receive const& piece, std::int64_t tag) = 0;
  /// Waits for any message, and returns its tag; below 0 if none is left.
  virtual std::int64_t wait_for_any() = 0;
};

class Engine {
 public:
  virtual ~Engine() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;
  /// \throws PreconditionError after the end of MPI
  virtual void expects_alive() const = 0;
  /// The engine of the ranks that give the same number, sorted by order and rank. Collective.
  virtual std::unique_ptr<Engine> split(int part, int order) const = 0;

  virtual void gather(void const* value, void* all, std::int64_t bytes) const = 0;
  /// \param counts  bytes of each rank
  virtual void gather_all(void const* values, void* all,
                          std::span<std::int64_t const> counts) const = 0;
  /// Sends value n, of so many bytes, to rank n, and receives one from each.
  virtual void all_to_all(void const* values, void* all, std::int64_t bytes) const = 0;
  virtual void broadcast(void* data, std::int64_t bytes, int from) const = 0;
  virtual void barrier() const = 0;

  /// Sends and receives pieces of memory that MPI may touch. None is longer than longest_piece(),
  /// empty, or for the rank itself. Pieces between two ranks match by their order, not by keys.
  virtual std::unique_ptr<UnderWay> begin(std::span<Send const> sends,
                                          std::span<Receive const> receives) const = 0;
  virtual std::unique_ptr<Requests> requests() const = 0;
};

}  // namespace coir::distributed::detail
