#pragma once

/// \file
/// The tape: what was computed from arguments, in order, and how derivatives come back through it.

#include <coir/array/array.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

namespace coir::detail {

/// What the tape knows of one statement.
class TapeEntry {
 public:
  TapeEntry() = default;
  TapeEntry(TapeEntry const&) = delete;
  TapeEntry& operator=(TapeEntry const&) = delete;
  virtual ~TapeEntry() = default;

  /// Adds to the cotangents of the arrays that the statement read, unless nothing depends on its
  /// result.
  virtual void pull_back() = 0;

  /// Of the result and its cotangent.
  virtual std::int64_t bytes() const = 0;
};

/// Statements in the order in which they were made.
class Tape {
 public:
  /// \param goes_back  whether pull_back() will be called. Otherwise the tape keeps no statement,
  ///   and so no memory that the values alone don't need
  explicit Tape(bool goes_back = true) : goes_back_(goes_back) {}
  Tape(Tape const&) = delete;
  Tape& operator=(Tape const&) = delete;
  ~Tape() {
    while (!entries_.empty()) entries_.pop_back();  // each holds those before it
  }

  bool goes_back() const { return goes_back_; }

  void add(std::shared_ptr<TapeEntry> entry) {
    if (goes_back_) entries_.push_back(std::move(entry));
  }

  /// Of all results and cotangents at once, which is more than there is at any time.
  std::int64_t bytes() const {
    std::int64_t sum = 0;
    for (auto const& entry : entries_) sum += entry->bytes();
    return sum;
  }

  /// Goes back through all statements. Each is destroyed after its turn, with the memory that only
  /// it needs.
  void pull_back() {
    while (!entries_.empty()) {
      auto const last = std::move(entries_.back());
      entries_.pop_back();
      last->pull_back();
    }
  }

 private:
  bool goes_back_;
  std::vector<std::shared_ptr<TapeEntry>> entries_;
};

/// The memory of a statement's result, or of an argument. It has an address, and a cotangent once
/// one was added to: the derivative of the final value with respect to each element.
template <class T, class Space>
class TapeNode : public TapeEntry {
 public:
  using PullBack = std::function<void(Array<T, 1, Space> const&)>;

  /// \param values  where the elements begin; they are contiguous
  /// \param pull    called with the cotangent; empty for arguments
  template <std::size_t Rank>
  TapeNode(Tape& tape, T const* values, std::array<std::int64_t, Rank> const& shape, PullBack pull)
      : tape_(&tape),
        values_(values),
        size_(size_of(shape)),
        rank_(static_cast<int>(Rank)),
        pull_(std::move(pull)) {
    std::copy(shape.begin(), shape.end(), shape_.begin());
  }

  Tape& tape() const { return *tape_; }
  T const* values() const { return values_; }
  std::int64_t size() const { return size_; }
  int rank() const { return rank_; }
  /// The extents; those from rank() on mean nothing.
  std::array<std::int64_t, 5> const& shape() const { return shape_; }
  bool has_cotangent() const { return cotangent_.has_memory(); }

  /// Makes the cotangent, if there is none. It is zero, unless `writes_all`: then this returns
  /// true, and the caller must write all elements.
  bool prepare(bool writes_all) {
    if (cotangent_.has_memory()) return false;
    cotangent_ =
        lent_ ? Array<T, 1, Space>(lent_, {size_}, nullptr) : Array<T, 1, Space>(Shape<1>{size_});
    if (writes_all) return true;
    cotangent_ = T(0);
    return false;
  }

  /// Lends the memory that the cotangent will be in.
  void lend(T* memory) { lent_ = memory; }

  /// Takes an array of the values' shape as the cotangent, unless there is one or its memory is
  /// lent.
  template <int Rank>
  bool adopt(Array<T, Rank, Space> const& cotangent) {
    if (cotangent_.has_memory() || lent_) return false;
    auto const whole = cotangent.all();
    cotangent_ = Array<T, 1, Space>(const_cast<T*>(whole.data()), {size_}, whole.owner());
    return true;
  }

  /// Where the cotangent of an element is.
  T* cotangent_at(T const* element) { return cotangent_.data() + (element - values_); }

  /// The cotangent of the elements that a slice of the values shows.
  template <std::size_t Rank>
  Slice<T, static_cast<int>(Rank), Space> cotangent_of(
      T const* first, std::array<std::int64_t, Rank> const& shape,
      std::array<std::int64_t, Rank> const& strides) {
    return {cotangent_.data() + (first - values_), shape, strides, cotangent_.all().owner()};
  }

  /// The cotangent in the values' shape, zeros if there is none.
  template <std::size_t Rank>
  Array<T, static_cast<int>(Rank), Space> take_cotangent(
      std::array<std::int64_t, Rank> const& shape) {
    if (size_ == 0) return Array<T, static_cast<int>(Rank), Space>(shape);
    prepare(false);
    return {cotangent_.data(), shape, cotangent_.all().owner()};
  }

  std::int64_t bytes() const override { return 2 * size_ * static_cast<std::int64_t>(sizeof(T)); }

  void pull_back() override {
    PullBack const pull = std::move(pull_);
    pull_ = nullptr;
    Array<T, 1, Space> const cotangent = std::move(cotangent_);
    if (cotangent.has_memory() && pull) pull(cotangent);
  }

 private:
  Tape* tape_;
  T const* values_;
  std::int64_t size_;
  int rank_;
  std::array<std::int64_t, 5> shape_{};
  PullBack pull_;
  T* lent_ = nullptr;
  Array<T, 1, Space> cotangent_;
};

}  // namespace coir::detail
