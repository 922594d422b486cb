#pragma once

/// \file
/// Ranks that work together: what each of them sends to which other, and what they agree on.

#include <coir/core/concepts.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace coir::distributed {

/// How numbers of arrays travel between ranks.
enum class Transport {
  none,  ///< a single rank: nothing travels
  mpi,  ///< MPI reads and writes the arrays' memory itself; for a device's memory MPI must be built for that
  staged,  ///< MPI, by way of page-locked memory of the host
  nccl     ///< NCCL (RCCL), from device to device
};

std::string_view name_of(Transport transport);

/// Bytes that go to a rank.
struct Send {
  int to = 0;
  void const* data = nullptr;
  std::int64_t bytes = 0;
};

/// Bytes that come from a rank.
struct Receive {
  int from = 0;
  void* data = nullptr;
  std::int64_t bytes = 0;
};

/// What a rank has sent to others.
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

/// An exchange that was begun. It must be finished, before the next one of its group begins, by each rank alike.
class Exchange {
 public:
  explicit Exchange(std::unique_ptr<detail::UnderWay> under_way);
  ~Exchange();
  Exchange(Exchange&&) noexcept;
  Exchange& operator=(Exchange&&) noexcept;

  /// Work that follows on the instance given to begin() sees what has come, and may write to what was sent. Waits on hosts; on
  /// devices not if NCCL is the transport.
  ///
  /// \throws EnvironmentError if the transport fails
  void finish();

 private:
  std::unique_ptr<detail::UnderWay> under_way_;
};

/// Ranks that work together. A value: copies share what they hold, and a default one is the calling process alone.
///
/// Every function that moves something is collective: each rank of the group calls it, in one order, from one thread. What one
/// rank throws alone leaves the others waiting: see together() for what may fail on some ranks only.
class Group {
 public:
  /// The calling process alone.
  Group();
  explicit Group(std::shared_ptr<detail::GroupState> state) : state_(std::move(state)) {}
  static Group self() { return {}; }

  int rank() const;
  int size() const;
  bool is_first() const { return rank() == 0; }

  /// How arrays of this space's memory travel. The first call for a device chooses, and is collective.
  ///
  /// \throws EnvironmentError if COIR_TRANSPORT asks for what there isn't
  template <CompiledSpace Exec>
  Transport transport() const;
  /// Why that one, in a few words. Collective as transport().
  template <CompiledSpace Exec>
  std::string why_transport() const;

  /// Sends and receives. The n-th piece to a rank is what that rank lists as its n-th from here, and has as many bytes;
  /// empty ones don't count. Pieces to oneself are copied. What is sent is what the instance's work so far has written.
  ///
  /// \param purpose   under which traffic() counts it, such as "fft/transpose"
  /// \param sends     in memory of Exec; none may overlap a receive
  /// \throws PreconditionError if a rank isn't one of the group, or pieces to oneself differ in number or size
  /// \throws EnvironmentError if the transport fails
  template <CompiledSpace Exec>
  void exchange(Exec const& exec, std::string_view purpose, std::span<Send const> sends,
                std::span<Receive const> receives) const {
    begin(exec, purpose, sends, receives).finish();
  }

  /// The same in two parts, so that work may run meanwhile that touches none of the pieces.
  template <CompiledSpace Exec>
  [[nodiscard]] Exchange begin(Exec const& exec, std::string_view purpose,
                               std::span<Send const> sends,
                               std::span<Receive const> receives) const;

  /// Every rank's value, in order of ranks. For a few bytes: they travel by way of the host.
  template <class T>
    requires std::is_trivially_copyable_v<T> &&
             (!std::is_same_v<T, bool>)  // for these: any(), all()
  std::vector<T> gather(T const& value) const {
    std::vector<T> all(static_cast<std::size_t>(size()));
    gather_bytes(&value, all.data(), sizeof(T));
    return all;
  }
  /// Every rank's values, one rank's behind the other's; numbers of values may differ.
  template <class T>
    requires std::is_trivially_copyable_v<T>
  std::vector<T> gather_all(std::span<T const> values) const {
    auto const count = static_cast<std::int64_t>(values.size_bytes());
    std::vector<T> all(static_cast<std::size_t>(total_bytes(count)) / sizeof(T));
    gather_all_bytes(values.data(), count, all.data());
    return all;
  }
  /// The sum over ranks, added up in their order: every rank gets the same bits.
  template <class T>
    requires std::is_arithmetic_v<T>
  T sum(T value) const {
    T result = 0;
    for (T const one : gather(value)) result += one;
    return result;
  }
  /// The least value, and below the largest: the same bits on every rank, and NaN if it is NaN on any.
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
  /// The first rank's bytes, or those of another.
  void broadcast(void* data, std::int64_t bytes, int from = 0) const;
  std::string broadcast(std::string const& text, int from = 0) const;
  void barrier() const;

  /// What this rank has sent to others by exchange(), by purpose; without an argument, of all purposes.
  Traffic traffic(std::string_view purpose) const;
  Traffic traffic() const;
  std::map<std::string, Traffic, std::less<>> const& traffic_by_purpose() const;

  /// Whether both are the same ranks, by the same messages.
  bool operator==(Group const& other) const { return state_ == other.state_; }

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

  std::shared_ptr<detail::GroupState> state_;
};

}  // namespace coir::distributed
