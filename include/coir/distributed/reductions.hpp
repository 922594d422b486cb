#pragma once

/// \file
/// Sums, least and largest elements of Views over ranks: MPI's Allreduce. array/over_ranks.hpp has
/// those of arrays.

#include <coir/core/concepts.hpp>
#include <coir/core/contiguous.hpp>
#include <coir/core/errors.hpp>
#include <coir/core/loops.hpp>
#include <coir/core/memory.hpp>
#include <coir/core/shape.hpp>
#include <coir/core/strided.hpp>
#include <coir/distributed/group.hpp>
#include <coir/distributed/share.hpp>
#include <coir/distributed/together.hpp>

#include <Kokkos_Complex.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

namespace coir::distributed {

namespace detail {

struct Plus {
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION T operator()(T const& a, T const& b) const {
    return static_cast<T>(a + b);
  }
};
/// The smaller of two numbers; NaN if one is NaN.
struct Least {
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION T operator()(T a, T b) const {
    return b < a || b != b ? b : a;
  }
};
struct Largest {
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION T operator()(T a, T b) const {
    return a < b || b != b ? b : a;
  }
};

/// own[i] = op(... op(op(x_0[i], x_1[i]), x_2[i]) ..., x_{P-1}[i]) with x_r of rank r. `own` is
/// this rank's x.
template <class T, class Op>
struct CombineRanks {
  static constexpr bool reads_no_neighbours = true;
  T* own;
  T const* others;  ///< [ranks, count]; this rank's row isn't used
  std::int64_t count;
  int ranks, rank;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    T result = rank == 0 ? own[i] : others[i];
    for (int other = 1; other < ranks; ++other)
      result = Op{}(result, other == rank ? own[i] : others[other * count + i]);
    own[i] = result;
  }
};

/// Combines each number with those of the other ranks, in place. Each rank receives its share of
/// the indices from all others, combines them, and sends the results to all.
template <class Op, CompiledSpace Exec, class T>
void combine_over_ranks(Exec const& exec, Group const& group, T* data, std::int64_t count) {
  if (group.size() == 1 || count == 0) return;
  constexpr std::int64_t size = sizeof(T);
  int const ranks = group.size(), rank = group.rank();
  auto const mine = share_of(count, rank, ranks);
  using Numbers = Kokkos::View<T*, typename Exec::memory_space>;
  auto const others = together(group, [&] {
    expects_memory<typename Exec::memory_space>(ranks * mine.count * size,
                                                "the numbers of other ranks");
    return Numbers(
        Kokkos::view_alloc(Kokkos::WithoutInitializing, "coir::distributed::reductions/reduction"),
        static_cast<std::size_t>(ranks * mine.count));
  });
  std::vector<Send> sends;
  std::vector<Receive> receives;
  for (int shift = 1; shift < ranks; ++shift) {
    int const to = (rank + shift) % ranks, from = (rank + ranks - shift) % ranks;
    auto const theirs = share_of(count, to, ranks);
    sends.push_back({to, data + theirs.first, theirs.count * size});
    receives.push_back({from, others.data() + from * mine.count, mine.count * size});
  }
  group.exchange(exec, "distributed/reduction", sends, receives);
  for_each("coir::distributed::reductions/reduction", exec,
           coir::box<1, std::int64_t>({mine.count}),
           CombineRanks<T, Op>{data + mine.first, others.data(), mine.count, ranks, rank});
  sends.clear();
  receives.clear();
  for (int shift = 1; shift < ranks; ++shift) {
    int const to = (rank + shift) % ranks, from = (rank + ranks - shift) % ranks;
    auto const theirs = share_of(count, from, ranks);
    sends.push_back({to, data + mine.first, mine.count * size});
    receives.push_back({from, data + theirs.first, theirs.count * size});
  }
  group.exchange(exec, "distributed/reduction", sends, receives);
  exec.fence();  // the memory of other ranks' numbers is freed next
}

/// Checks that a View has the same extents on all ranks. Collective.
template <class V>
void expects_extents_alike(Group const& group, V const& view, char const* what) {
  expects_alike(group,
                {{std::string("shape of what is ") + what, in_words(strided(view).extents)}});
}
/// A View as extents and strides, a single number as one of one element.
template <class V>
auto elements_of_view(V const& view) {
  if constexpr (V::rank == 0)
    return Strided<typename V::value_type, 1>{view.data(), {1}, {1}};
  else
    return strided(view);
}
inline constexpr char const* combined_over_ranks = "combined over ranks";

template <class Op, class Exec, class V>
void combine_in_place(Exec const& exec, V const& view, Group const& group) {
  static_assert(!std::is_const_v<typename V::value_type>, "the result is written to the View");
  expects_extents_alike(group, view, combined_over_ranks);
  auto const elements = elements_of_view(view);
  auto const staged = together(group, [&] {
    return Staged(exec, elements, view.span_is_contiguous(), Access::both,
                  "a copy without gaps of what is combined over ranks");
  });
  combine_over_ranks<Op>(exec, group, staged.elements().data, elements.size());
  if (!staged.is_copy()) return;
  staged.finish();
  exec.fence();  // the copy is freed next
}

/// A new View of the extents of another, without gaps, whose elements aren't set.
template <class V>
auto without_gaps(V const& view) {
  using Layout = std::conditional_t<std::is_same_v<typename V::array_layout, Kokkos::LayoutStride>,
                                    Kokkos::LayoutRight, typename V::array_layout>;
  Layout layout;
  for (std::size_t d = 0; d < V::rank; ++d) layout.dimension[d] = view.extent(d);
  return Kokkos::View<typename V::non_const_data_type, Layout, typename V::memory_space>(
      Kokkos::view_alloc(Kokkos::WithoutInitializing, view.label()), layout);
}

template <class Op, class V>
auto combined(V const& view, Group const& group) {
  typename V::memory_space::execution_space const exec;
  expects_extents_alike(group, view, combined_over_ranks);
  auto const result = together(group, [&] { return without_gaps(view); });
  auto const from = elements_of_view(view);
  auto const to = elements_of_view(result);
  if (view.span_is_contiguous() && from.strides == to.strides)
    copy_contiguous(exec, result, view);
  else
    copy_strided<std::remove_const_t<decltype(exec)>, typename V::non_const_value_type,
                 static_cast<int>(to.extents.size())>(exec, from, to);
  combine_over_ranks<Op>(exec, group, result.data(), static_cast<std::int64_t>(result.size()));
  return result;
}

}  // namespace detail

/// Elements that can be added up over ranks.
template <class T>
concept Summable =
    (std::is_arithmetic_v<T> && !std::is_same_v<T, bool>) ||
    std::is_same_v<T, Kokkos::complex<float>> || std::is_same_v<T, Kokkos::complex<double>>;
/// Elements that can be compared.
template <class T>
concept Comparable = std::is_arithmetic_v<T>;

/// Views that can be added up over ranks, and Views whose elements can be compared.
template <class V>
concept SummableView = StridedView<V> && Summable<typename V::non_const_value_type>;
template <class V>
concept ComparableView = StridedView<V> && Comparable<typename V::non_const_value_type>;

/// The sum over ranks, element by element, on every rank: MPI's Allreduce, JAX's psum. Elements are
/// added in their own type and in the order of ranks, so that every rank gets the same bits, each
/// time. Collective.
///
/// \param view  of the same extents on every rank, with any strides
/// \return a new View without gaps, which the default instance of its execution space writes. Its
///   layout is that of `view`; for LayoutStride it is LayoutRight.
/// \throws PreconditionError on every rank if extents differ
/// \throws ResourceError on every rank if one lacks memory: for the result, and as much again
template <SummableView V>
auto sum(V const& view, Group const& group) {
  return detail::combined<detail::Plus>(view, group);
}
/// The least element over ranks at each place, NaN where a rank has NaN. Otherwise as sum().
template <ComparableView V>
auto min(V const& view, Group const& group) {
  return detail::combined<detail::Least>(view, group);
}
/// The largest element over ranks at each place, NaN where a rank has NaN. Otherwise as sum().
template <ComparableView V>
auto max(V const& view, Group const& group) {
  return detail::combined<detail::Largest>(view, group);
}

/// Replaces the elements of a View by their sum() over ranks, after the instance's work so far.
template <CompiledSpace Exec, SummableView V>
void sum_in_place(Exec const& exec, V const& view, Group const& group) {
  detail::combine_in_place<detail::Plus>(exec, view, group);
}
/// Replaces the elements of a View by their min() over ranks.
template <CompiledSpace Exec, ComparableView V>
void min_in_place(Exec const& exec, V const& view, Group const& group) {
  detail::combine_in_place<detail::Least>(exec, view, group);
}
/// Replaces the elements of a View by their max() over ranks.
template <CompiledSpace Exec, ComparableView V>
void max_in_place(Exec const& exec, V const& view, Group const& group) {
  detail::combine_in_place<detail::Largest>(exec, view, group);
}

}  // namespace coir::distributed
