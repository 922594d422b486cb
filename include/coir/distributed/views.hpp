#pragma once

/// \file
/// Views as the pieces that Group::exchange() moves.

#include <coir/core/errors.hpp>
#include <coir/core/kokkos.hpp>
#include <coir/distributed/group.hpp>

#include <cstdint>
#include <type_traits>

namespace coir::distributed {

/// The elements of a View as a piece for a rank:
///
///     group.exchange(exec, "halo", {piece_to(left, first_row, down), piece_to(right, last_row,
///     up)},
///                    {piece_from(right, below, down), piece_from(left, above, up)});
///
/// \param key  the key of the piece_from() that receives them: see Group::exchange()
/// \throws PreconditionError if the View has gaps
template <class V>
  requires Kokkos::is_view<V>::value
Send piece_to(int rank, V const& view, std::int64_t key = 0) {
  static_assert(std::is_trivially_copyable_v<typename V::value_type>,
                "elements travel as their bytes");
  expects(view.span_is_contiguous(), "a View that travels must have no gaps");
  return {rank, view.data(),
          static_cast<std::int64_t>(view.size() * sizeof(typename V::value_type)), key};
}

/// A View as the place for a piece from a rank, of as many elements as the View has.
///
/// \throws PreconditionError if the View has gaps
template <class V>
  requires Kokkos::is_view<V>::value
Receive piece_from(int rank, V const& view, std::int64_t key = 0) {
  static_assert(!std::is_const_v<typename V::value_type>, "what comes is written to the View");
  Send const piece = piece_to(rank, view, key);
  return {rank, view.data(), piece.bytes, key};
}

}  // namespace coir::distributed
