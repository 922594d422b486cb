#pragma once

/// Reductions of split arrays: JAX's psum, pmin, pmax. All are collective, and all ranks get the
/// same number.
///
/// On hosts sums have the same bits for any number of ranks. For each index of the split axis one
/// rank adds up the elements. These sums, one for each index, are added pairwise. Each rank adds
/// what pairs it has, and every rank gets the rest, some 2 log2(n) numbers of each rank for n
/// indices. Vectors are cut into blocks of 4096 elements, and one rank adds up each block. Sums
/// along different split axes differ by rounding, and so does the sum of a plain array. Of a mesh
/// they have the same bits for any number of rows.

#include <coir/array/axis_reductions.hpp>
#include <coir/array/creation.hpp>
#include <coir/array/reductions.hpp>
#include <coir/array/scan.hpp>
#include <coir/array/sorting.hpp>
#include <coir/sharded/functions.hpp>
#include <coir/sharded/moves.hpp>

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

namespace coir::sharded {

namespace detail {

/// The sum of numbers, pairwise.
template <class T>
T pairwise(std::span<T const> numbers) {
  if (numbers.empty()) return T(0);
  if (numbers.size() == 1) return numbers.front();
  auto const half = numbers.size() / 2;
  return pairwise(numbers.first(half)) + pairwise(numbers.subspan(half));
}

/// Visits the stretches of the numbers first to end - 1 that pairwise() adds up before all others,
/// in their order: the longest ones that lie within one rank's share.
template <class ShareOf, class Visit>
auto fold_of_shares(std::int64_t first, std::int64_t end, int ranks, ShareOf const& share_of,
                    Visit const& visit) -> decltype(visit(0, first, end)) {
  for (int rank = 0; rank < ranks; ++rank)
    if (share_of(rank).first <= first && end <= share_of(rank).end())
      return visit(rank, first, end);
  std::int64_t const middle = first + (end - first) / 2;
  auto const before = fold_of_shares(first, middle, ranks, share_of, visit);
  return before + fold_of_shares(middle, end, ranks, share_of, visit);
}

/// pairwise() of the numbers that the ranks share in their order.
///
/// \param own       this rank's numbers
/// \param share_of  the share of a rank: share_of(rank)
template <class T, class ShareOf>
T pairwise_over_ranks(distributed::Group const& group, std::span<T const> own,
                      ShareOf const& share_of) {
  std::int64_t const count = share_of(group.size() - 1).end();
  if (count == 0) return T(0);
  std::vector<T> sums;
  fold_of_shares(
      0, count, group.size(), share_of, [&](int rank, std::int64_t first, std::int64_t end) {
        if (rank == group.rank())
          sums.push_back(
              pairwise(own.subspan(static_cast<std::size_t>(first - share_of(rank).first),
                                   static_cast<std::size_t>(end - first))));
        return 0;
      });
  auto const all = group.gather_all(std::span<T const>(sums));
  std::size_t next = 0;
  return fold_of_shares(0, count, group.size(), share_of,
                        [&](int, std::int64_t, std::int64_t) { return all[next++]; });
}

/// The sums over all axes but one, copied to the host. The last axes are added up first.
template <class E>
auto sums_along(E const& x, int axis) {
  if constexpr (rank_of<E> == 1) {
    auto const host = to_host(x);
    return std::vector<value_t<E>>(host.data(), host.data() + host.size());
  } else {
    bool const is_last = axis == rank_of<E> - 1;
    return sums_along(sum_of_elements(x, is_last ? 0 : -1), is_last ? axis - 1 : axis);
  }
}

/// A vector is added up in blocks of so many elements.
inline constexpr std::int64_t block_of_sums = 4096;

/// The blocks of a vector that begin in a rank's part.
inline distributed::Share blocks_of(Placement<1> const& placement, int rank) {
  auto const number = [](std::int64_t element) {
    return (element + block_of_sums - 1) / block_of_sums;
  };
  auto const share = placement.share(rank);
  return {number(share.first), number(share.end()) - number(share.first)};
}

/// The sums of those blocks of a vector that begin in this rank's part. The last of these blocks
/// may reach into the parts of higher ranks. Its elements are brought here.
template <class E>
auto sums_of_blocks(E const& part, Placement<1> const& placement) {
  using T = value_t<E>;
  constexpr std::int64_t block = block_of_sums;
  std::int64_t const n = placement.extent();
  auto const last_block = [&](int rank) {  // from where it begins to the rank's end
    auto const share = placement.share(rank);
    std::int64_t const first = (share.first + block - 1) / block * block,
                       last = share.end() / block * block;
    return distributed::Share{std::max(first, last),
                              first < share.end() ? share.end() - std::max(first, last) : 0};
  };
  auto const wanted = [&](int rank) {
    auto const [first, count] = last_block(rank);
    return std::vector<Wanted>{{first, count > 0 ? std::min(block, n - first) : 0, 0}};
  };
  auto const own = elements_of(part).as_operand();
  auto const [end_of_whole, count] = last_block(placement.group().rank());
  Array<T, 2> rest(Shape<2>{count > 0 ? 1 : 0, block});
  rest = T(0);
  fetch<T>("sharded/sum", own, placement, wanted, reshape(rest, {rest.size()}));
  auto const share = placement.share();
  std::int64_t const first = (share.first + block - 1) / block * block,
                     blocks = std::max<std::int64_t>((end_of_whole - first) / block, 0);
  auto const whole = part_along(own, 0, distributed::Share{first - share.first, blocks * block});
  auto sums = sums_along(reshape(whole, {blocks, block}), 0);
  auto const last = sums_along(rest, 0);
  sums.insert(sums.end(), last.begin(), last.end());
  return sums;
}

/// The sum of the elements of all ranks' parts.
template <class E>
auto sum_over_ranks(E const& part, Placement<rank_of<E>> const& placement) {
  auto const& first = placement.splits().front();
  auto const sums = [&] {
    if constexpr (rank_of<E> == 1)
      return sums_of_blocks(part, placement);
    else
      return sums_along(part, placement.axis());
  }();
  using T = typename std::remove_cvref_t<decltype(sums)>::value_type;
  auto own = sums;
  // Of a mesh the ranks of a row have parts of the same indices: their sums come first.
  for (std::size_t d = 1; d < placement.splits().size(); ++d) {
    auto const all = placement.splits()[d].line.gather_all(std::span<T const>(sums));
    for (std::size_t n = 0; n < own.size(); ++n) {
      own[n] = T(0);
      for (std::size_t at = n; at < all.size(); at += own.size()) own[n] += all[at];
    }
  }
  return pairwise_over_ranks(first.line, std::span<T const>(own), [&](int place) {
    if constexpr (rank_of<E> == 1)
      return blocks_of(placement, place);
    else
      return placement.share(first, place * first.stride);
  });
}

/// The least or largest element, or NaN. `best` finds it on a rank; of two ranks' numbers one is
/// `better` than the other.
template <class X, class Best, class Better>
auto extreme(X const& x, char const* what, Best const& best, Better const& better) {
  auto const& e = x.expression();
  auto const& placement = e.placement();
  if (size_of(placement.shape()) == 0)
    throw PreconditionError(std::string("there is no ") + what + " of an array of shape " +
                            coir::in_words(placement.shape()) + ": it has no elements");
  using T = decltype(best(e.local()));
  struct OfRank {
    T value;
    bool is_there;  // not on a rank without elements
  };
  OfRank own{T(0), size_of(placement.local_shape()) > 0};
  if (own.is_there) own.value = best(e.local());
  OfRank result{T(0), false};
  for (OfRank const& one : placement.group().gather(own))
    if (one.is_there &&
        (!result.is_there || one.value != one.value || better(one.value, result.value)))
      result = one;
  return result.value;
}

/// Checks that a reduction along an axis needs no other rank's elements, and returns the number of
/// the axis.
template <AnySplit X>
int expects_local(X const& x, int axis, char const* what) {
  auto const& placement = x.placement();
  int const d = placement.checked(axis);
  expects(!placement.is_split(d), std::string(what) + " along axis " + std::to_string(d) +
                                      " needs whole lines on each rank, and the array of " +
                                      in_words(placement) +
                                      " is split along it: reshard() it along another axis first");
  return d;
}

/// The result of f(part, axis), which lacks that axis.
template <AnySplit X, class F>
auto along_axis(X const& x, int axis, char const* what, F const& f) {
  static_assert(rank_of<X> >= 2, "a vector has no axis beside the one along which it is split");
  int const d = expects_local(x, axis, what);
  auto const e = x.expression();
  auto const& from = e.placement();
  constexpr int rank = rank_of<X> - 1;
  Shape<rank> shape{};
  for (int k = 0; k < rank; ++k)
    shape[static_cast<std::size_t>(k)] = from.shape()[static_cast<std::size_t>(k < d ? k : k + 1)];
  auto splits = from.splits();
  for (auto& split : splits) split.axis -= d < split.axis;
  return placed(f(e.local(), d), Placement<rank>(from.group(), shape, std::move(splits)));
}

}  // namespace detail

/// The sum of all elements. Integers are added in 64 bits.
template <AnySplit X>
auto sum(X const& x) {
  auto const e = x.expression();
  return detail::Parts<std::remove_cvref_t<decltype(e.local())>>::summed(
      e.local(), [placement = e.placement()](auto const& part) {
        return detail::sum_over_ranks(part, placement);
      });
}

/// The mean of all elements; of integers in double.
///
/// \throws PreconditionError if there are no elements
template <AnySplit X>
auto mean(X const& x) {
  auto const& shape = x.shape();
  if (size_of(shape) == 0)
    throw PreconditionError("there is no mean of an array of shape " + coir::in_words(shape) +
                            ": it has no elements");
  using T = std::conditional_t<std::is_integral_v<value_t<X>>, double, value_t<X>>;
  auto const size = static_cast<double>(size_of(shape));
  if constexpr (std::is_integral_v<value_t<X>>)
    return static_cast<double>(sum(x)) / size;
  else
    return sum(x) / static_cast<real_t<T>>(size);
}

/// The sum of products of two arrays of one shape that are split alike; of integers in 64 bits.
///
/// \throws PreconditionError if the shapes differ
template <AnySplit A, AnySplit B>
auto dot(A const& a, B const& b) {
  if (!std::ranges::equal(a.shape(), b.shape()))
    throw PreconditionError("dot takes two arrays of one shape, not " + coir::in_words(a.shape()) +
                            " and " + coir::in_words(b.shape()));
  using T = promote_t<value_t<A>, value_t<B>>;
  if constexpr (std::integral<T>) {
    using Wide = std::conditional_t<std::unsigned_integral<T>, std::uint64_t, std::int64_t>;
    return sum(cast<Wide>(a) * cast<Wide>(b));
  } else {
    return sum(a * b);
  }
}

/// The Euclidean norm of all elements: sqrt(sum |x|^2). Its gradient at 0 is 0.
template <AnySplit X>
auto norm(X const& x) {
  using std::sqrt;
  auto const squares = sum(square(abs(x)));
  // The derivative of sqrt at 0 is infinite, and times 0 it would be NaN.
  if constexpr (Expression<decltype(squares)>)
    return where(squares == 0, squares, sqrt(where(squares == 0, 1, squares)));
  else
    return sqrt(squares);
}

/// The variance of all elements: the sum of |x - mean|^2 over their number.
template <AnySplit X>
auto var(X const& x) {
  return mean(square(abs(x - mean(x))));
}

/// The smallest element, or NaN if there is one.
///
/// \throws PreconditionError if there are no elements
template <AnySplit X>
auto min(X const& x) {
  return detail::extreme(
      x, "minimum", [](auto const& part) { return min(part); },
      [](auto one, auto other) { return one < other; });
}
/// The largest element, or NaN if there is one.
///
/// \throws PreconditionError if there are no elements
template <AnySplit X>
auto max(X const& x) {
  return detail::extreme(
      x, "maximum", [](auto const& part) { return max(part); },
      [](auto one, auto other) { return other < one; });
}

/// Whether any element isn't 0.
template <AnySplit X>
bool any(X const& x) {
  auto const e = x.expression();
  return e.placement().group().any(any(e.local()));
}
/// Whether no element is 0.
template <AnySplit X>
bool all(X const& x) {
  auto const e = x.expression();
  return e.placement().group().all(all(e.local()));
}
/// How many elements aren't 0.
template <AnySplit X>
std::int64_t count_nonzero(X const& x) {
  auto const e = x.expression();
  return e.placement().group().sum(count_nonzero(e.local()));
}

// Along an axis that isn't split: each rank reduces its part, and nothing travels.

/// Sums along an axis.
///
/// \throws PreconditionError if there is no such axis or the array is split along it. All functions
///   below throw the same.
template <AnySplit X>
auto sum(X const& x, int axis) {
  return detail::along_axis(x, axis, "a sum", [](auto const& e, int d) { return sum(e, d); });
}
/// Means along an axis.
template <AnySplit X>
auto mean(X const& x, int axis) {
  return detail::along_axis(x, axis, "a mean", [](auto const& e, int d) { return mean(e, d); });
}
/// The smallest elements along an axis, NaN where there is one.
template <AnySplit X>
auto min(X const& x, int axis) {
  return detail::along_axis(x, axis, "a minimum", [](auto const& e, int d) { return min(e, d); });
}
/// The largest elements along an axis, NaN where there is one.
template <AnySplit X>
auto max(X const& x, int axis) {
  return detail::along_axis(x, axis, "a maximum", [](auto const& e, int d) { return max(e, d); });
}
/// Sums from the first element on along an axis.
template <AnySplit X>
auto cumsum(X const& x, int axis) {
  int const d = detail::expects_local(x, axis, "a running sum");
  auto const e = x.expression();
  return detail::placed(cumsum(e.local(), d), e.placement());
}
/// Sorted along an axis.
template <AnySplit X>
auto sort(X const& x, int axis) {
  int const d = detail::expects_local(x, axis, "sorting");
  auto const e = x.expression();
  return detail::placed(sort(e.local(), d), e.placement());
}

}  // namespace coir::sharded
