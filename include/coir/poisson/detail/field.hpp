#pragma once

/// \file
/// The one type of View that the solvers' kernels are compiled for, whatever View the caller has.

#include <coir/core/concepts.hpp>
#include <coir/core/errors.hpp>
#include <coir/core/loops.hpp>
#include <coir/core/views.hpp>

#include <cstdint>
#include <string>

namespace coir::poisson {

namespace detail {

/// A row-major View that doesn't own its memory.
template <class Exec, class T, int Rank>
using Field = UnmanagedView<T, Rank, Kokkos::LayoutRight, typename Exec::memory_space>;

/// What 3-D kernels count cells with: given ints, Views of rank 3 compute offsets in 32 bits until
/// Kokkos 5, which overflows on large grids and which compilers don't vectorise.
using Index3 = std::int64_t;

/// The grid's interior as a box of indices into a field with a one-cell ring.
template <class B>
auto interior(B const& b) {
  if constexpr (static_cast<int>(B::rank) == 2)
    return box({1, 1}, {static_cast<int>(b.extent(0)) + 1, static_cast<int>(b.extent(1)) + 1});
  else
    return box<3, Index3>(
        {1, 1, 1}, {static_cast<Index3>(b.extent(0)) + 1, static_cast<Index3>(b.extent(1)) + 1,
                    static_cast<Index3>(b.extent(2)) + 1});
}

/// Checks that u is b with a one-cell ring around it.
template <class B, class U>
void expects_ring(B const& b, U const& u) {
  for (int d = 0; d < static_cast<int>(B::rank); ++d) {
    expects(b.extent(d) <= 2'000'000'000, "the grid must have at most 2e9 cells along an axis",
            static_cast<std::int64_t>(b.extent(d)));
    expects(u.extent(d) == b.extent(d) + 2,
            "u must be two cells larger than b along axis " + std::to_string(d) + " (" +
                std::to_string(b.extent(d)) + " + 2), for the ring",
            static_cast<std::int64_t>(u.extent(d)));
  }
}

}  // namespace detail

/// A source and an unknown that fit together: row-major Views of rank 2 or 3 with the same kind of
/// number, which kernels on Exec may touch.
template <class Exec, class B, class U>
concept SourceAndUnknown =
    ExecutionSpace<Exec> && (RealViewOfRank<B, 2> || RealViewOfRank<B, 3>) &&
    WritableRealViewOfRank<U, static_cast<int>(B::rank)> && SameValueType<B, U> && RowMajor<B> &&
    RowMajor<U> && CanAccess<Exec, B, U>;

}  // namespace coir::poisson
