#pragma once

/// Views of any element type, rank and strides that all ranks get: MPI's Bcast and Allgather.
/// reductions.hpp has sums, least and largest elements.

#include <coir/core/strided.hpp>
#include <coir/core/views.hpp>
#include <coir/distributed/reductions.hpp>
#include <coir/distributed/together.hpp>
#include <coir/distributed/view_exchange.hpp>

#include <array>
#include <cstddef>
#include <cstdint>

namespace coir::distributed {

/// Copies the elements of one rank's View to those of all others. Collective.
///
/// \param view  of the same extents on every rank; strides may differ
/// \throws PreconditionError on every rank if extents differ, or `from` is no rank of the group
template <StridedView V>
void broadcast(V const& view, Group const& group, int from = 0) {
  detail::expects_extents_alike(group, view, "broadcast");
  together(group, [&] {
    expects(from >= 0 && from < group.size(), "a broadcast must come from a rank of the group",
            from);
  });
  using Exec = typename V::memory_space::execution_space;
  ViewExchange exchange(Exec(), group, "distributed/broadcast");
  if (group.rank() != from) exchange.receive(from, view);
  for (int to = 0; group.rank() == from && to < group.size(); ++to)
    if (to != from) exchange.send(to, view);
  exchange.run();
}

/// The Views of all ranks, in their order along a new first axis, on every rank. Collective.
///
/// \param view  of the same extents on every rank; strides may differ
/// \return a new View in C order, with one axis more
/// \throws PreconditionError on every rank if extents differ
template <StridedView V>
auto gather(V const& view, Group const& group) {
  using T = typename V::non_const_value_type;
  constexpr int rank = static_cast<int>(V::rank);
  detail::expects_extents_alike(group, view, "gathered");
  auto const one = strided(view);
  Kokkos::LayoutRight layout;
  layout.dimension[0] = static_cast<std::size_t>(group.size());
  for (int d = 0; d < rank; ++d) layout.dimension[d + 1] = view.extent(d);
  auto const all = together(group, [&] {
    return Kokkos::View<view_data_t<T, rank + 1>, Kokkos::LayoutRight, typename V::memory_space>(
        Kokkos::view_alloc(Kokkos::WithoutInitializing, view.label()), layout);
  });
  using Exec = typename V::memory_space::execution_space;
  ViewExchange exchange(Exec(), group, "distributed/gather");
  for (int other = 0; other < group.size(); ++other) {
    exchange.send(other, view);
    exchange.receive(other, Strided<T, rank>{all.data() + other * one.size(), one.extents,
                                             c_strides(one.extents)});
  }
  exchange.run();
  return all;
}

}  // namespace coir::distributed
