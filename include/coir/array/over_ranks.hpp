#pragma once

/// \file
/// Sums, least and largest elements of arrays over ranks: link coir::distributed, too.

#include <coir/array/array.hpp>
#include <coir/distributed/reductions.hpp>
#include <coir/distributed/together.hpp>

namespace coir::distributed {

/// The sum over ranks, element by element, as an array on every rank: MPI's Allreduce, mpi4jax's
/// allreduce, JAX's psum.
///
///     Array<float, 2> const total = sum(x, session.world());
///
/// Elements are added in their own type and in the order of ranks, so that every rank gets the same
/// bits, each time. Collective.
///
/// \param x  an array, a slice or an expression of one shape on all ranks
/// \throws PreconditionError on every rank if shapes differ
/// \throws ResourceError on every rank if one lacks memory: for the result, and as much again
template <Expression E>
  requires Summable<value_t<E>>
auto sum(E const& x, Group const& group) {
  auto result = together(group, [&] { return evaluate(x); });
  sum_in_place(typename decltype(result)::Exec(), result.view(), group);
  return result;
}

/// The least element over ranks at each place, NaN where a rank has NaN. Otherwise as sum().
template <Expression E>
  requires Comparable<value_t<E>>
auto min(E const& x, Group const& group) {
  auto result = together(group, [&] { return evaluate(x); });
  min_in_place(typename decltype(result)::Exec(), result.view(), group);
  return result;
}

/// The largest element over ranks at each place, NaN where a rank has NaN. Otherwise as sum().
template <Expression E>
  requires Comparable<value_t<E>>
auto max(E const& x, Group const& group) {
  auto result = together(group, [&] { return evaluate(x); });
  max_in_place(typename decltype(result)::Exec(), result.view(), group);
  return result;
}

}  // namespace coir::distributed
