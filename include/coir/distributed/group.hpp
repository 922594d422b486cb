#pragma once

/// \file
/// Groups of ranks: exchanges of arrays' memory between ranks, and collective functions of single
/// values.

#include <coir/core/concepts.hpp>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace coir::distributed {

/// How arrays' memory travels between ranks.
enum class Transport {
  none,  ///< a single rank: nothing travels
  mpi,  ///< MPI reads and writes the arrays' memory itself; for a device's memory MPI must be built
        ///< for that
  staged,  ///< MPI, by way of page-locked memory of the host
  nccl,    ///< NCCL (RCCL), from device to device
  peer     ///< devices of one machine write to each other's memory
};

std::string_view name_of(Transport transport);

/// Bytes that go to a rank, or several runs of as many that lie evenly. Its Receive has the same
/// key: see Group::exchange().
struct Send {
  int to = 0;
  void const* data = nullptr;
  std::int64_t bytes = 0;
  std::int64_t key = 0;  ///< tells the pieces to one rank apart
  std::int64_t runs = 1;
  std::int64_t pitch = 0;  ///< bytes from the begin of a run to that of the next
};

/// Bytes that come from a rank, in as many runs as they are sent in.
struct Receive {
  int from = 0;
  void* data = nullptr;
  std::int64_t bytes = 0;
  std::int64_t key = 0;  ///< that of its Send
  std::int64_t runs = 1;
  std::int64_t pitch = 0;
};

/// Messages and bytes that a rank has sent to others.
struct Traffic {
  std::int64_t messages = 0;
  std::int64_t bytes = 0;

  bool operator==(Traffic const&) const = default;
};

namespace detail {
class Engine;
class UnderWay;
struct GroupState;
}  // namespace detail

/// An exchange that was begun. Every rank must finish it before it begins the group's next one,
/// unless the group's transport is Transport::peer.
class Exchange {
 public:
  explicit Exchange(std::unique_ptr<detail::UnderWay> under_way);
  ~Exchange();
  Exchange(Exchange&&) noexcept;
  Exchange& operator=(Exchange&&) noexcept;

  /// Completes the exchange: from now on work on the instance given to begin() may read what was
  /// received, and write to what was sent. Waits, except on devices with NCCL or, for
  /// Views' memory, with peer memory.
  ///
  /// \throws EnvironmentError if the transport fails
  void finish();

 private:
  std::unique_ptr<detail::UnderWay> under_way_;
};

/// Ranks that work together. Copies are the same group. A default one is the calling process alone.
///
/// Every function that communicates is collective: each rank of the group calls it, in the same
/// order, from one thread. If one rank throws alone, the others wait for it: use together() for
/// work that may fail on some ranks.
class Group {
 public:
  /// The calling process alone.
  Group();
  explicit Group(std::shared_ptr<detail::GroupState> state) : state_(std::move(state)) {}
  static Group self() { return {}; }

  int rank() const;
  int size() const;
  bool is_first() const { return rank() == 0; }

  /// The group of the ranks that give the same number, sorted by `order`; ranks of the same order
  /// stay in their order in this group. Its exchanges also count in this group's traffic() and
  /// exchange_seconds(). If this group has chosen its transport(), the new one has the same.
  /// Collective.
  ///
  /// \throws PreconditionError on every rank if a number is below 0
  Group split(int part, int order = 0) const;

  /// How arrays in the memory of `Exec` travel. The first call for a memory space chooses, and is
  /// collective.
  ///
  /// \throws EnvironmentError if COIR_TRANSPORT asks for a transport that can't be used here
  template <CompiledSpace Exec>
  Transport transport() const;
  /// The reason for the transport, in a few words. Collective as transport().
  template <CompiledSpace Exec>
  std::string why_transport() const;

  /// Sends and receives pieces of memory, after the instance's work so far. A piece has the same
  /// key, runs and bytes at both ends. Pieces between the same two ranks have different keys, in
  /// any order; empty pieces don't count. (On a ring of two ranks both neighbours are one rank: the
  /// key says whether a piece moves up or down.) Pieces to the rank itself are copied.
  ///
  /// If the environment variable COIR_CHECK_EXCHANGES is 1 on the first rank, ranks first compare
  /// what each sends with what the others expect, and pieces that don't match are an error on all
  /// ranks. Otherwise a piece that nobody expects may be taken for one of the next exchange.
  ///
  /// \param purpose   the name under which traffic() counts the exchange, such as "fft/transpose"
  /// \param sends     in memory of Exec, without overlap with receives; Views travel by
  ///   ViewExchange
  /// \throws PreconditionError if a rank isn't one of the group, two pieces to or from one rank
  ///   have one key, or pieces to the rank itself don't match
  /// \throws EnvironmentError if the transport fails
  template <CompiledSpace Exec>
  void exchange(Exec const& exec, std::string_view purpose, std::span<Send const> sends,
                std::span<Receive const> receives) const {
    begin(exec, purpose, sends, receives).finish();
  }
  template <CompiledSpace Exec>
  void exchange(Exec const& exec, std::string_view purpose, std::initializer_list<Send> sends,
                std::initializer_list<Receive> receives) const {
    exchange(exec, purpose, std::span<Send const>(sends.begin(), sends.size()),
             std::span<Receive const>(receives.begin(), receives.size()));
  }

  /// Begins an exchange and returns; Exchange::finish() completes it. Meanwhile work may run that
  /// touches none of the pieces.
  template <CompiledSpace Exec>
  [[nodiscard]] Exchange begin(Exec const& exec, std::string_view purpose,
                               std::span<Send const> sends,
                               std::span<Receive const> receives) const;

  /// Every rank's value, in order of ranks. For a few bytes, which travel by way of the host.
  template <class T>
    requires std::is_trivially_copyable_v<T> && (!std::is_pointer_v<std::decay_t<T>>) &&
             (!std::is_same_v<T, bool>)  // for these: any(), all()
  std::vector<T> gather(T const& value) const {
    std::vector<T> all(static_cast<std::size_t>(size()));
    gather_bytes(&value, all.data(), sizeof(T));
    return all;
  }
  std::vector<std::string> gather(std::string const& text) const;
  /// Every rank's values, in order of ranks; ranks may give different numbers of values.
  template <class T>
    requires std::is_trivially_copyable_v<T>
  std::vector<T> gather_all(std::span<T const> values) const {
    auto const count = static_cast<std::int64_t>(values.size_bytes());
    std::vector<T> all(static_cast<std::size_t>(total_bytes(count)) / sizeof(T));
    gather_all_bytes(values.data(), count, all.data());
    return all;
  }
  /// Sends value n to rank n, and returns the values that the ranks send to this one, in their
  /// order.
  ///
  /// \throws PreconditionError unless there is a value for each rank
  template <class T>
    requires std::is_trivially_copyable_v<T>
  std::vector<T> all_to_all(std::span<T const> values) const {
    std::vector<T> all(static_cast<std::size_t>(size()));
    all_to_all_bytes(values.data(), static_cast<std::int64_t>(values.size()), all.data(),
                     sizeof(T));
    return all;
  }
  /// The sum over ranks, added up in their order: every rank gets the same bits. reductions.hpp has
  /// sums of whole Views.
  template <class T>
    requires std::is_arithmetic_v<T>
  T sum(T value) const {
    T result = 0;
    for (T const one : gather(value)) result += one;
    return result;
  }
  /// The smallest value of all ranks, with the same bits on every rank; NaN if a rank has NaN.
  /// max() is the largest.
  template <class T>
    requires std::is_arithmetic_v<T>
  T min(T value) const {
    return first_of(gather(value), [](T one, T other) { return one < other; });
  }
  template <class T>
    requires std::is_arithmetic_v<T>
  T max(T value) const {
    return first_of(gather(value), [](T one, T other) { return other < one; });
  }
  bool any(bool value) const { return max(static_cast<int>(value)) == 1; }
  bool all(bool value) const { return !any(!value); }
  /// Copies the bytes of the first rank, or of rank `from`, to all others.
  void broadcast(void* data, std::int64_t bytes, int from = 0) const;
  std::string broadcast(std::string const& text, int from = 0) const;
  void barrier() const;

  /// Messages and bytes that this rank has sent to others by exchange() for one purpose, or for
  /// all.
  Traffic traffic(std::string_view purpose) const;
  Traffic traffic() const;
  std::map<std::string, Traffic, std::less<>> const& traffic_by_purpose() const;

  /// Seconds that this rank's host has spent in exchange(), begin() and finish(), which wait for
  /// other ranks and for messages. With NCCL the host doesn't wait, and with peer memory it waits
  /// for other hosts alone. Staged exchanges also wait for earlier kernels.
  double exchange_seconds() const;

  /// Whether both are copies of one group, or both are the calling process alone.
  bool operator==(Group const& other) const {
    return state_ == other.state_ || (size() == 1 && other.size() == 1);
  }

 private:
  template <class T, class Before>
  static T first_of(std::vector<T> const& values, Before const& before) {
    T result = values.front();
    for (T const one : values)
      if (one != one || before(one, result)) result = one;
    return result;
  }
  std::int64_t total_bytes(std::int64_t bytes) const;
  void gather_bytes(void const* value, void* all, std::int64_t bytes) const;
  void gather_all_bytes(void const* values, std::int64_t bytes, void* all) const;
  void all_to_all_bytes(void const* values, std::int64_t count, void* all,
                        std::int64_t bytes) const;

  std::shared_ptr<detail::GroupState> state_;
};

}  // namespace coir::distributed
