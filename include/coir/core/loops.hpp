#pragma once

/// \file
/// How a box of indices becomes a kernel.
///
/// On hosts the last index is an inner loop that the compiler vectorises, and the others are shared
/// among threads. On devices the last index runs along threads. Kernels are launched by for_each
/// and reduce. Two cases are launched otherwise: for_each_task (core/tasks.hpp) where indices
/// aren't cells of memory, and Kokkos' TeamPolicy where threads share scratch memory.

#include <coir/core/concepts.hpp>
#include <coir/core/detail/device_loops.hpp>
#include <coir/core/detail/rows.hpp>
#include <coir/core/kept_launches.hpp>
#include <coir/core/tasks.hpp>

#include <array>
#include <cstdint>
#include <string_view>

namespace coir {

/// A box of indices: lower[d] <= index d < upper[d]. The last index is the contiguous one.
///
/// \tparam Index  the type of the indices: int, or std::int64_t for indices beyond 2^31 - 1. Use
///   std::int64_t for rank 3 on hosts: before Kokkos 5, Views of rank 3 compute offsets of ints in
///   32 bits, and compilers don't vectorise that.
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

/// Calls body(i), body(i, j) or body(i, j, k) for every index of a box, in any order, in one
/// kernel. Devices cut boxes of about 2^31 cells and more into several kernels. Returns without a
/// fence on devices. On hosts the result has the same bits for any number of threads.
///
/// The iterations must not depend on each other. No two may write to the same element, not even by
/// atomics, because hosts vectorise neighbouring ones: use Kokkos::parallel_for for such loops. On
/// a host no thread takes fewer than cells_worth_a_thread cells (core/tasks.hpp): use for_each_task
/// for a few expensive iterations.
///
/// A body may have more members than its call operator:
///
/// - cells_per_index() returns how many cells of memory an index stands for. Hosts choose the
///   number of threads by it.
/// - stretch(begin, end), stretch(i, begin, end) or stretch(i, j, begin, end) stands for the calls
///   with the last index in [begin, end). Hosts call it in place of the call operator, so that a
///   body can prepare what it needs once per row.
/// - column<Count>(i, j), for two indices, stands for the calls with (i, j), (i + 1, j) ... (i +
///   Count - 1, j). Devices call it on large boxes. It should compute all results before it stores
///   the first one: the compiler must assume that a store changes what is loaded after it.
/// - several(places) stands for the calls with some cells of short rows. Devices call it, so that a
///   body can load all of these cells before it stores one.
/// - `static constexpr bool reads_no_neighbours = true`, for two or three indices, says that
///   neighbouring cells read no common memory, small tables apart. Devices then cut every box into
///   stretches of cells and never into blocks, so that one kernel is compiled in place of two. Such
///   a body must not have column<Count>.
/// - `static constexpr int blocks_at_a_time = n` bounds the registers of a thread: where
///   column<Count> is called if the body has it, otherwise in boxes that devices cut into
///   stretches. On NVIDIA's devices a multiprocessor has room for n blocks of 128 threads: at most
///   65536 / (128 n) registers a thread. On AMD's n is the number of waves per SIMD. A small n may
///   slow a kernel down, because compilers tend to use all registers that it leaves. With 0 the
///   compiler chooses.
///
/// \param label  the kernel's name in profiling tools, "coir::module::file/step". A recording keeps
///   the pointer: pass a literal
/// \param exec   where to run
/// \param body   a callable with a const call operator that takes Rank indices (KOKKOS_LAMBDA)
template <ExecutionSpace Exec, int Rank, class Index, class Body>
void for_each(std::string_view label, Exec const& exec, Box<Rank, Index> const& box,
              Body const& body) {
  static_assert(detail::may_read_neighbours<Body> || !detail::TakesColumns<Body, Rank, Index>,
                "a body that reads no neighbours is never called for columns");
  if (box.size() == 0) return;
  if constexpr (runs_on_host<Exec>)
    detail::launch_on_host<Body>(body, [=](Body const& own) {
      detail::for_each_on_host(label, exec, detail::Rows<Rank, Index>(box), own);
    });
  else
    detail::for_each_on_device(label, exec, detail::Rows<Rank, Index>(box), body);
}

/// Reduces body(i, ..., value) over every index of a box in one kernel, and waits for the result
/// unless it stays in a device's memory.
///
/// `body` folds its term into `value`, as in Kokkos::parallel_reduce. Terms are combined in an
/// order that depends on the box alone, so that on a host the result has the same bits for any
/// number of threads. Sums are pairwise: the error grows with the logarithm of their length. An
/// empty box gives the reducer's neutral element. On a host no thread takes fewer than
/// cells_worth_a_thread cells: compute a few expensive terms by for_each_task first.
///
/// A body may have more members, which hosts call in place of the call operator:
///
/// - terms(begin, end), terms(i, begin, end) or terms(i, j, begin, end) returns a callable
///   term(column, value), which folds the term of a column in [begin, end) into `value`.
///   longest_terms() says how many columns one call may ask for.
/// - fold(begin, end, value), fold(i, begin, end, value) or fold(i, j, begin, end, value) folds all
///   of these terms in turn. If it is there, too, it is called in place of terms().
///
/// \param reducer  one of Kokkos' reducers over host memory, such as Kokkos::Sum<double>(result).
///   If the box isn't empty it may also be one over the memory of the device that `exec` runs on.
///   On devices the size of its value is a multiple of four bytes, or less than four (not with
///   Kokkos 3.4). On NVIDIA's it is at most 1.4 KB; otherwise Kokkos throws.
template <ExecutionSpace Exec, int Rank, class Index, class Body, class Reducer>
void reduce(std::string_view label, Exec const& exec, Box<Rank, Index> const& box, Body const& body,
            Reducer const& reducer) {
  if (box.size() == 0) {
    reducer.init(reducer.reference());
    return;
  }
  if constexpr (runs_on_host<Exec>) {
    detail::expects_no_recording(label);
    detail::reduce_on_host(label, exec, detail::Rows<Rank, Index>(box), body, reducer);
  } else {
    detail::reduce_on_device(label, exec, detail::Rows<Rank, Index>(box), body, reducer);
  }
}

}  // namespace coir
