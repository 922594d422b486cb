#pragma once

/// \file
/// The one place that knows how to map a grid of indices to hardware.
///
/// On hosts the last index is a plain inner loop that the compiler vectorises, the others are shared
/// among threads; on devices the last index runs along threads. Everything else is written on
/// for_each and reduce, on for_each_task (core/tasks.hpp) where indices aren't cells of memory, or on
/// Kokkos' TeamPolicy where a kernel shares scratch memory.

#include <coir/core/concepts.hpp>
#include <coir/core/detail/device_loops.hpp>
#include <coir/core/detail/rows.hpp>
#include <coir/core/tasks.hpp>

#include <array>
#include <cstdint>
#include <string_view>

namespace coir {

/// A box of indices: lower[d] <= index d < upper[d]. The last index is the contiguous one.
///
/// \tparam Index  what the body is called with: int, or std::int64_t beyond 2^31 - 1. Rank 3 on a host
///   wants std::int64_t in any case: until Kokkos 5 Views of rank 3 compute offsets of ints in 32 bits,
///   which compilers don't vectorise (2 to 5 times slower).
template <int Rank, class Index = int>
struct Box {
  static_assert(Rank >= 1 && Rank <= 3, "loops run over boxes of rank 1 to 3");

  std::array<Index, Rank> lower;
  std::array<Index, Rank> upper;

  /// Number of indices along dimension d; 0 if the box is empty there.
  Index extent(int d) const { return upper[d] > lower[d] ? upper[d] - lower[d] : Index(0); }

  /// Number of cells in the box.
  std::int64_t size() const {
    std::int64_t product = 1;
    for (int d = 0; d < Rank; ++d) product *= extent(d);
    return product;
  }
};

/// The box 0 <= index d < extents[d].
template <int Rank, class Index = int>
Box<Rank, Index> box(Index const (&extents)[Rank]) {
  Box<Rank, Index> result{};
  for (int d = 0; d < Rank; ++d) result.upper[d] = extents[d];
  return result;
}

/// The box lower[d] <= index d < upper[d].
template <int Rank, class Index = int>
Box<Rank, Index> box(Index const (&lower)[Rank], Index const (&upper)[Rank]) {
  Box<Rank, Index> result{};
  for (int d = 0; d < Rank; ++d) {
    result.lower[d] = lower[d];
    result.upper[d] = upper[d];
  }
  return result;
}

/// Calls body(i), body(i, j) or body(i, j, k) for every index of a box, in any order, in one kernel. Devices take several
/// kernels for a box of two or three indices and nearly 2^31 cells or more if its rows are shorter than 512 cells or longer
/// than 2^31, or the body reads no neighbours, and for a box of one index and some 2^31 cells or more for
/// each cell that a thread takes: 2^33 with four.
///
/// The iterations must not depend on each other. No two may write to the same element, not even by atomics,
/// because hosts vectorise neighbouring ones: use Kokkos::parallel_for for such loops. Returns without a fence
/// on devices. On a host no thread takes fewer than cells_worth_a_thread cells (core/tasks.hpp): use
/// for_each_task for a few expensive iterations. On hosts the result has the same bits for any number of threads.
///
/// A body whose index stands for several cells of memory may have cells_per_index(), which returns how many.
/// Hosts decide by it how many threads are worth starting.
///
/// A body of two or three indices may declare `static constexpr bool reads_no_neighbours = true` if neighbouring cells read
/// no common memory, small tables apart. Devices then cut large boxes, too, into stretches of cells and not into blocks, so
/// that one kernel is compiled where other bodies need two. Such a body must not have column<Count>.
///
/// A body may declare `static constexpr int blocks_at_a_time = n`, for boxes that devices cut into stretches. On NVIDIA's a
/// multiprocessor then has room for n blocks of 128 threads, and a thread has 65536 / (128 n) registers at most; on AMD's n is
/// the number of waves per SIMD. Compilers tend to use the registers that n leaves, so that fewer threads may run at a
/// time with a small n than without the declaration. Without it, or with 0, the compiler chooses the number of registers; hipcc
/// chooses it for blocks of
/// 1024 threads.
///
/// A body may also have stretch(begin, end), stretch(i, begin, end) or stretch(i, j, begin, end): hosts
/// call it in place of the call operator, for the columns [begin, end) of a row at a time, so that it
/// can prepare what it needs once per row. A body of two indices may have column<Count>(i, j), which stands
/// for Count calls with (i, j), (i + 1, j) and so on: devices call it on large boxes. It should store its
/// results after it has computed all of them, because the compiler must assume that each store changes
/// what is loaded after it, and then loads wait for one another.
///
/// \param label  the kernel's name in profiling tools, "coir::module::file/step"
/// \param exec   where to run
/// \param body   a callable with a const call operator that takes Rank indices (KOKKOS_LAMBDA)
template <ExecutionSpace Exec, int Rank, class Index, class Body>
void for_each(std::string_view label, Exec const& exec, Box<Rank, Index> const& box,
              Body const& body) {
  static_assert(detail::may_read_neighbours<Body> || !detail::TakesColumns<Body, Rank, Index>,
                "a body that reads no neighbours is never called for columns");
  if (box.size() == 0) return;
  if constexpr (runs_on_host<Exec>)
    detail::for_each_on_host(label, exec, detail::Rows<Rank, Index>(box), body);
  else
    detail::for_each_on_device(label, exec, detail::Rows<Rank, Index>(box), body);
}

/// Reduces body(i, ..., value) over every index of a box in one kernel, and waits for the result unless it
/// stays in a device's memory.
///
/// `body` folds its term into `value`, as in Kokkos::parallel_reduce. Terms are combined in an order
/// that depends on the box alone, so on a host the result has the same bits for any thread count.
/// An empty box gives the reducer's neutral element. On a host no thread takes fewer than
/// cells_worth_a_thread cells: compute a few expensive terms by for_each_task first. Sums are pairwise: the
/// error grows with the logarithm of their length.
///
/// A body may also have terms(begin, end), terms(i, begin, end) or terms(i, j, begin, end), and longest_terms().
/// Hosts call it in place of the call operator, for at most longest_terms() columns of a row at a time: it
/// returns a callable term(column, value), which folds the term of a column in [begin, end) into `value`. If there is
/// also fold(begin, end, value), fold(i, begin, end, value) or fold(i, j, begin, end, value), hosts call that one, which folds
/// all of these terms in turn.
///
/// \param reducer  one of Kokkos' reducers over host memory, such as Kokkos::Sum<double>(result); if the box
///   isn't empty it may also be one over the memory of a device that `exec` runs on. On devices the size of its value is a
///   multiple of four bytes, or below four (not with Kokkos 3.4), and on NVIDIA's at most 1.4 KB (beyond, Kokkos throws).
template <ExecutionSpace Exec, int Rank, class Index, class Body, class Reducer>
void reduce(std::string_view label, Exec const& exec, Box<Rank, Index> const& box, Body const& body,
            Reducer const& reducer) {
  if (box.size() == 0) {
    reducer.init(reducer.reference());
    return;
  }
  if constexpr (runs_on_host<Exec>)
    detail::reduce_on_host(label, exec, detail::Rows<Rank, Index>(box), body, reducer);
  else
    detail::reduce_on_device(label, exec, detail::Rows<Rank, Index>(box), body, reducer);
}

}  // namespace coir
