#pragma once

/// New split arrays. Nothing travels.

#include <coir/array/creation.hpp>
#include <coir/array/random.hpp>
#include <coir/distributed/together.hpp>
#include <coir/sharded/moves.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace coir::sharded {

namespace detail {

/// f of the indices in the whole array.
template <class F, std::size_t Rank>
struct FromIndex {
  F f;
  std::int64_t first;
  int axis;

  template <class... I>
  KOKKOS_FORCEINLINE_FUNCTION auto operator()(I... indices) const {
    int d = 0;
    std::int64_t const at[Rank] = {
        (static_cast<std::int64_t>(indices) + (d++ == axis ? first : 0))...};
    return call(at, std::make_index_sequence<Rank>());
  }

 private:
  template <std::size_t... D>
  KOKKOS_FORCEINLINE_FUNCTION auto call(std::int64_t const (&at)[Rank],
                                        std::index_sequence<D...>) const {
    return f(at[D]...);
  }
};

/// Checks that all ranks give the same shape and axis.
template <std::size_t Rank>
Placement<static_cast<int>(Rank)> placement_of(distributed::Group const& group,
                                               std::array<std::int64_t, Rank> const& shape,
                                               int axis) {
  distributed::expects_alike(group, {{"shape of a split array", coir::in_words(shape)},
                                     {"axis along which an array is split", axis}});
  return {group, shape, axis};
}

/// An array whose elements aren't set.
template <class T, int Rank>
Sharded<T, Rank> blank(Placement<Rank> const& placement) {
  return distributed::together(placement.group(), [&] { return Sharded<T, Rank>(placement); });
}

/// The random numbers of a plain array of this shape.
///
/// \param fill  fill(part, n) fills a part with the plain array's numbers from number n on
template <class T, std::size_t Rank, class Fill>
auto random(distributed::Group const& group, std::array<std::int64_t, Rank> const& shape, int axis,
            Fill const& fill) {
  auto result = blank<T>(placement_of(group, shape, axis));
  // A part along axis 0 is one run of consecutive numbers. A part along another axis has a run for
  // each index of the axes before it.
  auto const& placement = result.placement();
  std::int64_t behind = 1, before = 1;
  for (int d = 0; d < static_cast<int>(Rank); ++d)
    (d < placement.axis() ? before : behind) *= shape[static_cast<std::size_t>(d)];
  auto const share = placement.share();
  std::int64_t const row = placement.extent() > 0 ? behind / placement.extent() : 0,
                     count = share.count * row;
  auto const part = result.local();
  for (std::int64_t n = 0; n < before && count > 0; ++n)
    fill(Slice<T, 1, DefaultSpace>(part.data() + n * count, {count}, {1}, part.owner()),
         n * behind + share.first * row);
  return result;
}

}  // namespace detail

/// Zeros.
///
/// \param shape  of the whole array, the same on every rank
/// \param axis   along which ranks share it
/// \throws PreconditionError on every rank if shapes or axes differ, an extent is negative or there
///   is no such axis. The other functions of this file throw the same.
template <Element T, std::size_t Rank>
auto zeros(distributed::Group const& group, std::int64_t const (&shape)[Rank], int axis = 0) {
  auto result = detail::blank<T>(detail::placement_of(group, std::to_array(shape), axis));
  result = T(0);
  return result;
}

/// f(i, j, ...) of the indices in the whole array: NumPy's fromfunction.
template <class F, std::size_t Rank>
auto from_function(distributed::Group const& group, std::int64_t const (&shape)[Rank], F f,
                   int axis = 0) {
  using Indexed = detail::FromIndex<F, Rank>;
  auto const placement = detail::placement_of(group, std::to_array(shape), axis);
  auto const values = index_map(placement.local_shape(),
                                Indexed{std::move(f), placement.share().first, placement.axis()});
  auto result = detail::blank<value_t<decltype(values)>>(placement);
  result.local() = values;
  return result;
}

/// Normally distributed numbers: those of random::normal<T>(key, shape), for any number of ranks.
template <RealElement T = double, std::size_t Rank>
auto normal(distributed::Group const& group, random::Key const& key,
            std::int64_t const (&shape)[Rank], int axis = 0) {
  return detail::random<T>(group, std::to_array(shape), axis,
                           [&](auto const& part, std::int64_t first) {
                             random::fill_normal(key, part, T(0), T(1), first);
                           });
}

/// Real numbers spread evenly over [0, 1): those of random::uniform<T>(key, shape), for any number
/// of ranks.
template <RealElement T = double, std::size_t Rank>
auto uniform(distributed::Group const& group, random::Key const& key,
             std::int64_t const (&shape)[Rank], int axis = 0) {
  return detail::random<T>(group, std::to_array(shape), axis,
                           [&](auto const& part, std::int64_t first) {
                             random::fill_uniform(key, part, T(0), T(1), first);
                           });
}

}  // namespace coir::sharded
