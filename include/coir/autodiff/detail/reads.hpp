#pragma once

/// How a statement reads arrays, and the plan of its way back: which reads one gathering kernel
/// brings back to which array's cotangent.

#include <coir/array/array.hpp>
#include <coir/autodiff/detail/linear.hpp>
#include <coir/autodiff/detail/tape.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>
#include <vector>

namespace coir::detail {

/// How a statement of rank `Rank` reads an array of elements of type T.
template <class T, int Rank, class Space>
struct ArrayRead {
  TapeNode<T, Space>* node;
  T const* first;
  Strides<Rank> strides;  // 0 along axes of one element and along stretched ones
  Strides<Rank> shift;    // by how much it is seen rolled; otherwise 0
  bool is_rolled;

  bool operator==(ArrayRead const& other) const {
    bool equal = node == other.node && first == other.first && is_rolled == other.is_rolled;
    for (int d = 0; d < Rank; ++d)
      equal = equal && shift[d] == other.shift[d] && strides[d] == other.strides[d];
    return equal;
  }
};
template <int Rank, class T, int LeafRank, class Space>
ArrayRead<T, Rank, Space> read_of(Traced<T, LeafRank, Space> const& leaf) {
  ArrayRead<T, Rank, Space> read{leaf.node().get(),
                                 leaf.without_owner().data(),
                                 stretched_strides<Rank>(leaf.without_owner()),
                                 {},
                                 leaf.is_rolled()};
  for (int d = 0; d < LeafRank; ++d) read.shift[Rank - LeafRank + d] = leaf.shift()[d];
  return read;
}

template <class T, int Rank, class Space, int LeafRank>
int number_among(std::vector<ArrayRead<T, Rank, Space>> const& reads,
                 Traced<T, LeafRank, Space> const& leaf) {
  return static_cast<int>(std::find(reads.begin(), reads.end(), read_of<Rank>(leaf)) -
                          reads.begin());
}

/// The shape of the elements that a view shows, without the axes along which it repeats them.
template <std::size_t Rank>
std::array<std::int64_t, Rank> not_repeated(std::array<std::int64_t, Rank> shape,
                                            std::array<std::int64_t, Rank> const& strides) {
  for (std::size_t d = 0; d < Rank; ++d)
    if (strides[d] == 0) shape[d] = 1;
  return shape;
}

/// The reads of one array, or one read alone, for a gathering kernel.
///
/// \tparam P  the elements of the target
template <class P, int Rank>
struct Gathered {
  struct Read {
    int number;
    Strides<Rank> offset;
    bool periodic;
  };
  void const* node;
  P* target;
  Strides<Rank> strides;  // of the target
  Shape<Rank> frame;      // its shape
  bool fresh;             // it has no old values
  std::vector<Read> reads;
};

/// Where the array's first element is among the elements of its node, if the read goes through the
/// node's axes; false if it doesn't.
template <class T, int Rank, class Space>
bool find_origin(ArrayRead<T, Rank, Space> const& read, Shape<Rank> const& shape,
                 Strides<Rank>& origin) {
  auto const& node = *read.node;
  if (node.rank() != Rank) return false;
  std::int64_t left = read.first - node.values(), stride = 1;
  for (int d = Rank - 1; d >= 0; --d) {
    if (shape[d] != 1 && read.strides[d] != stride) return false;
    origin[d] = left % node.shape()[d];
    left /= node.shape()[d];
    if (origin[d] + shape[d] > node.shape()[d]) return false;
    stride *= node.shape()[d];
  }
  return true;
}

/// Whether what comes back through a read has the statement's shape, and is summed along the axes
/// along which the array was stretched, or added where the array was rolled.
template <class T, int Rank, class Space>
bool has_products(ArrayRead<T, Rank, Space> const& read, Shape<Rank> const& shape) {
  Strides<Rank> origin{};
  return not_repeated(shape, read.strides) != shape ||
         (read.is_rolled && !find_origin(read, shape, origin));
}

/// Sorts the other reads by the arrays that they read, and prepares the cotangents of these.
template <class T, int Rank, class Space>
std::vector<Gathered<T, Rank>> gathered(std::vector<ArrayRead<T, Rank, Space>> const& reads,
                                        Shape<Rank> const& shape) {
  std::vector<Gathered<T, Rank>> result;
  std::vector<bool> done(reads.size(), false);
  for (std::size_t r = 0; r < reads.size(); ++r) {
    auto const& read = reads[r];
    if (done[r] || has_products(read, shape)) continue;
    auto& node = *read.node;
    Gathered<T, Rank> all{&node, nullptr, read.strides, shape, false, {}};
    Strides<Rank> origin{};
    if (!find_origin(read, shape, origin)) {
      all.fresh = node.prepare(size_of(shape) == node.size());
      all.target = node.cotangent_at(read.first);
      all.reads.push_back({static_cast<int>(r), {}, false});
      result.push_back(std::move(all));
      continue;
    }
    all.reads.reserve(reads.size());
    Strides<Rank> low = origin, high{};
    for (std::size_t other = r; other < reads.size(); ++other) {
      Strides<Rank> at{};
      if (reads[other].node != &node || has_products(reads[other], shape) ||
          !find_origin(reads[other], shape, at))
        continue;
      done[other] = true;
      for (int d = 0; d < Rank; ++d) {
        low[d] = std::min(low[d], at[d]);
        high[d] = std::max(high[d], at[d] + shape[d]);
        if (reads[other].shift[d] != 0) at[d] = -reads[other].shift[d];
      }
      all.reads.push_back({static_cast<int>(other), at, reads[other].is_rolled});
    }
    all.fresh = node.prepare(true);
    std::int64_t stride = 1, first = 0;
    for (int d = Rank - 1; d >= 0; --d) {
      if (all.fresh) {  // all of the cotangent is written
        low[d] = 0;
        high[d] = node.shape()[d];
      }
      all.strides[d] = stride;
      all.frame[d] = high[d] - low[d];
      first += low[d] * stride;
      for (auto& each : all.reads) each.offset[d] -= low[d];
      stride *= node.shape()[d];
    }
    all.target = node.cotangent_at(node.values() + first);
    result.push_back(std::move(all));
  }
  return result;
}

}  // namespace coir::detail
