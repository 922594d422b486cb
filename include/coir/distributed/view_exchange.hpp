#pragma once

/// Exchanges of Views of any element type, rank and strides: one message to each rank.

#include <coir/core/concepts.hpp>
#include <coir/core/contiguous.hpp>
#include <coir/core/errors.hpp>
#include <coir/core/memory.hpp>
#include <coir/core/strided.hpp>
#include <coir/distributed/group.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace coir::distributed {

/// An exchange of Views. All Views that go to one rank travel in one message.
///
///     ViewExchange exchange(exec, group, "halo");
///     exchange.send(left, first_column, down);
///     exchange.send(right, last_column, up);
///     exchange.receive(right, column_after, down);
///     exchange.receive(left, column_before, up);
///     exchange.run();
///
/// A View has the same key, type and extents at both ends; strides may differ. Keys tell the Views
/// between the same two ranks apart, in whatever order they are listed. A single View without gaps
/// travels from where it is; others are packed into memory that is kept for the next run.
///
/// send() and receive() list Views for the next run alone. begin(), finish() and run() are
/// collective.
template <CompiledSpace Exec>
class ViewExchange {
 public:
  /// \param purpose  the name under which the group's traffic() counts the messages
  ViewExchange(Exec exec, Group group, std::string purpose)
      : exec_(std::move(exec)), group_(std::move(group)), purpose_(std::move(purpose)) {}
  ViewExchange(ViewExchange const&) = delete;
  ViewExchange& operator=(ViewExchange const&) = delete;
  ~ViewExchange() { exec_.fence(); }  // kernels may read the memory that is freed

  /// Lists elements that go to a rank. They mustn't change before finish().
  ///
  /// \param to  any rank of the group, itself too
  template <class T, int Rank>
  void send(int to, Strided<T, Rank> const& elements, std::int64_t key = 0) {
    if (elements.size() > 0) add(sends_[to], Strided<T const, Rank>(elements), key);
  }
  template <StridedView V>
  void send(int to, V const& view, std::int64_t key = 0) {
    send(to, strided(view), key);
  }

  /// Lists the place for elements that come from a rank.
  template <class T, int Rank>
    requires(!std::is_const_v<T>)
  void receive(int from, Strided<T, Rank> const& elements, std::int64_t key = 0) {
    if (elements.size() > 0) add(receives_[from], elements, key);
  }
  template <StridedView V>
  void receive(int from, V const& view, std::int64_t key = 0) {
    receive(from, strided(view), key);
  }

  /// Packs and sends what is listed, after the instance's work so far.
  ///
  /// \throws PreconditionError if a rank isn't one of the group, two Views between two ranks have
  ///   one key, what the rank sends to itself isn't what it receives, or a run was begun
  /// \throws ResourceError if memory for packed Views is missing
  void begin() {
    expects(!under_way_, "an exchange of Views was begun: finish it before the next one begins");
    lay_out(sends_, packed_);
    lay_out(receives_, received_);
    std::vector<Send> sends;
    std::vector<Receive> receives;
    for (auto const& [to, box] : sends_) {
      if (box.is_packed)
        for (Item const& item : box.items) item.copy(exec_, box.data + item.at);
      if (to != group_.rank()) sends.push_back({to, box.data, box.bytes});
    }
    for (auto const& [from, box] : receives_)
      if (from != group_.rank()) receives.push_back({from, box.data, box.bytes});
    expects(own_items(sends_) == own_items(receives_),
            "what a rank sends to itself must be received by it, key by key");
    under_way_.emplace(group_.begin(exec_, purpose_, sends, receives));
  }

  /// Completes the run: work on the instance may read what was received, and write to what was
  /// sent.
  void finish() {
    expects(under_way_.has_value(), "an exchange of Views is begun before it is finished");
    under_way_->finish();
    under_way_.reset();
    for (auto const& [from, box] : receives_) {
      bool const is_own = from == group_.rank();
      std::byte* const data = is_own ? sends_.at(from).data : box.data;
      if (box.is_packed || is_own)
        for (Item const& item : box.items) item.copy(exec_, data + item.at);
    }
    sends_.clear();
    receives_.clear();
  }

  void run() {
    begin();
    finish();
  }

 private:
  /// A View on its way, `at` bytes behind the beginning of a message. copy() packs or unpacks it.
  struct Item {
    std::int64_t key, bytes, at;
    std::byte* in_place;  ///< its elements, if they have no gaps
    std::function<void(Exec const&, std::byte*)> copy;
  };
  /// What goes to a rank, or comes from it.
  struct Box {
    std::vector<Item> items;
    std::int64_t bytes = 0;
    std::byte* data = nullptr;
    bool is_packed = false;
  };
  using Boxes = std::map<int, Box>;
  using Buffer = Kokkos::View<std::byte*, typename Exec::memory_space>;
  static constexpr std::int64_t alignment = 16;

  std::vector<std::pair<std::int64_t, std::int64_t>> own_items(Boxes const& boxes) const {
    std::vector<std::pair<std::int64_t, std::int64_t>> items;
    if (auto const own = boxes.find(group_.rank()); own != boxes.end())
      for (Item const& item : own->second.items) items.emplace_back(item.key, item.bytes);
    return items;
  }

  static std::int64_t aligned(std::int64_t bytes) {
    return (bytes + alignment - 1) / alignment * alignment;
  }

  template <class T, int Rank>
  static void add(Box& box, Strided<T, Rank> const& elements, std::int64_t key) {
    using Value = std::remove_const_t<T>;
    static_assert(std::is_trivially_copyable_v<Value>, "elements travel as their bytes");
    static_assert(alignof(Value) <= alignment, "elements are packed at multiples of 16 bytes");
    if constexpr (Rank == 0) {
      add(box, Strided<T, 1>{elements.data, {1}, {1}}, key);
    } else {
      auto const copy = [elements](Exec const& exec, std::byte* packed) {
        auto* const data = reinterpret_cast<Value*>(packed);
        auto const strides = c_strides(elements.extents);
        if constexpr (std::is_const_v<T>)
          copy_strided<Exec, Value, Rank>(exec, elements, {data, elements.extents, strides});
        else
          copy_strided<Exec, Value, Rank>(exec, {data, elements.extents, strides}, elements);
      };
      auto* const data = reinterpret_cast<std::byte*>(const_cast<Value*>(elements.data));
      box.items.push_back({key, elements.size() * static_cast<std::int64_t>(sizeof(Value)), 0,
                           is_c_order(elements) ? data : nullptr, copy});
    }
  }

  /// Gives each message its place: in the memory of its only View, or in the buffer.
  void lay_out(Boxes& boxes, Buffer& buffer) {
    std::int64_t total = 0;
    for (auto& [rank, box] : boxes) {
      std::sort(box.items.begin(), box.items.end(),
                [](Item const& a, Item const& b) { return a.key < b.key; });
      for (std::size_t n = 0; n < box.items.size(); ++n) {
        expects(n == 0 || box.items[n - 1].key != box.items[n].key,
                "Views between the same two ranks must have different keys", box.items[n].key);
        box.items[n].at = aligned(box.bytes);
        box.bytes = box.items[n].at + box.items[n].bytes;
      }
      box.is_packed = box.items.size() > 1 || box.items.front().in_place == nullptr;
      if (box.is_packed) total += aligned(box.bytes);
    }
    if (total > static_cast<std::int64_t>(buffer.size())) {
      exec_.fence();
      buffer = {};
      expects_memory<typename Exec::memory_space>(total, "Views that travel between ranks");
      buffer = Buffer(Kokkos::view_alloc(Kokkos::WithoutInitializing,
                                         "coir::distributed::view_exchange/packed"),
                      static_cast<std::size_t>(total));
    }
    std::byte* free = buffer.data();
    for (auto& [rank, box] : boxes) {
      box.data = box.is_packed ? free : box.items.front().in_place;
      if (box.is_packed) free += aligned(box.bytes);
    }
  }

  Exec exec_;
  Group group_;
  std::string purpose_;
  Boxes sends_, receives_;
  Buffer packed_, received_;
  std::optional<Exchange> under_way_;
};

}  // namespace coir::distributed
