#pragma once

/// \file
/// Adds up the weights in each of many bins, in the order of the elements.
///
/// Elements are sorted by their bins, and a thread adds up the weights of each bin. In bins with
/// many elements, whole groups are added up first, by a thread for each. The order of additions
/// depends on the elements alone.

#include <coir/array/array.hpp>
#include <coir/array/detail/carried.hpp>
#include <coir/array/detail/sort_rows.hpp>
#include <coir/core/loops.hpp>

#include <cstdint>

namespace coir::detail {

/// The bins of elements as keys to sort by; elements in none come last.
template <class T, class Bin>
struct BinKeys {
  T const* data;
  std::uint64_t* keys;
  std::uint64_t none;
  Bin bin;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    std::int64_t const b = bin(data[i]);
    keys[i] = b < 0 ? none : static_cast<std::uint64_t>(b);
  }
};

/// Elements in the order of their bins.
template <class T, class W, class Sum, class Bin>
struct InOrderOfBins {
  static constexpr std::int64_t group = 2048;

  T const* data;
  W const* weights;
  std::int64_t const* order;
  std::int64_t size;
  Bin bin;

  /// The bin of the k-th one; the number of bins if it is in none.
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t bin_of(std::int64_t k, std::int64_t bins) const {
    std::int64_t const b = bin(data[order[k]]);
    return b < 0 ? bins : b;
  }

  /// The number of elements before those of a bin.
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t before(std::int64_t b, std::int64_t bins) const {
    std::int64_t first = 0, count = size;
    while (count > 0) {
      std::int64_t const half = count / 2;
      bool const is_before = bin_of(first + half, bins) < b;
      first = is_before ? first + half + 1 : first;
      count = is_before ? count - half - 1 : half;
    }
    return first;
  }

  /// sum += the weights from the k-th one on up to `last`, without it.
  KOKKOS_FORCEINLINE_FUNCTION void add(Sum& sum, std::int64_t k, std::int64_t last) const {
    for (; k < last; ++k) sum = wrapping_sum(sum, stored<Sum>(weights[order[k]]));
  }
};

/// The sums of whole groups whose elements are in one bin; others aren't written.
template <class Elements, class Sum>
struct AddGroups {
  Elements elements;
  Sum* sums;
  std::int64_t bins;
  KOKKOS_FUNCTION void operator()(std::int64_t g) const {
    std::int64_t const first = g * Elements::group, last = first + Elements::group;
    if (elements.bin_of(first, bins) != elements.bin_of(last - 1, bins)) return;
    Sum sum(0);
    elements.add(sum, first, last);
    sums[g] = sum;
  }
};

/// The sum of each bin: of the sums of groups, and of the elements before and behind the groups.
template <class Elements, class Sum>
struct AddBins {
  Elements elements;
  Sum const* of_groups;
  Sum* sums;
  std::int64_t bins;
  KOKKOS_FUNCTION void operator()(std::int64_t b) const {
    constexpr std::int64_t group = Elements::group;
    std::int64_t const first = elements.before(b, bins), last = elements.before(b + 1, bins);
    std::int64_t const groups_begin = (first + group - 1) / group, groups_end = last / group;
    Sum sum(0);
    if (groups_begin >= groups_end) {
      elements.add(sum, first, last);
    } else {
      elements.add(sum, first, groups_begin * group);
      for (std::int64_t g = groups_begin; g < groups_end; ++g)
        sum = wrapping_sum(sum, of_groups[g]);
      elements.add(sum, groups_end * group, last);
    }
    sums[b] = sum;
  }
};

/// sums[b] = the sum of weights[i] over the data[i] of bin b. Takes the memory of sorting and about
/// 16 bytes for each element beside the sums.
template <class Exec, class T, class W, class Sum, class Space, class Bin>
void add_in_order(Exec const& exec, T const* data, W const* weights, std::int64_t size,
                  Array<Sum, 1, Space>& sums, Bin const& bin) {
  std::int64_t const bins = sums.size();
  Array<std::uint64_t, 1, Space> keys(Shape<1>{size});
  Array<std::int64_t, 1, Space> order(Shape<1>{size});
  if (size > 0) {
    for_each("coir::array::add_in_order/histogram", exec, box<1, std::int64_t>({size}),
             BinKeys<T, Bin>{data, keys.data(), static_cast<std::uint64_t>(bins), bin});
    argsort_rows(exec, keys.data(), order.data(), 1, size);
  }
  using Elements = InOrderOfBins<T, W, Sum, Bin>;
  Elements const elements{data, weights, order.data(), size, bin};
  std::int64_t const groups = size / Elements::group;
  Array<Sum, 1, Space> of_groups(Shape<1>{groups});
  for_each("coir::array::add_in_order/histogram", exec, box<1, std::int64_t>({groups}),
           AddGroups<Elements, Sum>{elements, of_groups.data(), bins});
  for_each("coir::array::add_in_order/histogram", exec, box<1, std::int64_t>({bins}),
           AddBins<Elements, Sum>{elements, of_groups.data(), sums.data(), bins});
}

}  // namespace coir::detail
