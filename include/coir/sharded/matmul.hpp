#pragma once

/// Products of split matrices. Programs that include this header link coir::linalg.

#include <coir/array/slices.hpp>
#include <coir/linalg/matmul.hpp>
#include <coir/sharded/moves.hpp>

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace coir::sharded {

namespace detail {

/// Calls visit(block, rows) for each rank's rows of b. The blocks go round the ring of ranks: while
/// one is visited, the next one arrives.
template <class T, class Visit>
void for_each_block(Slice<T const, 2, DefaultSpace> const& b, Placement<2> const& rows_of_b,
                    Visit const& visit) {
  int const ranks = rows_of_b.group().size(), rank = rows_of_b.group().rank();
  std::int64_t longest = 0;
  for (int r = 0; r < ranks; ++r) longest = std::max(longest, rows_of_b.share(r).count);
  Array<T, 2> here(Shape<2>{longest, b.shape()[1]}), next(here.shape());
  auto const block = [](Array<T, 2>& all, std::int64_t rows) {
    return part_along(all.all(), 0, distributed::Share{0, rows});
  };
  block(here, b.shape()[0]) = b;
  distributed::ViewExchange exchange(Exec(), rows_of_b.group(), "sharded/matmul");
  for (int step = 0; step < ranks; ++step, std::swap(here, next)) {
    auto const rows = rows_of_b.share((rank + step) % ranks);
    bool const is_last = step + 1 == ranks;
    if (!is_last) {
      std::int64_t const rows_of_next = rows_of_b.share((rank + step + 1) % ranks).count;
      exchange.send((rank + ranks - 1) % ranks, strided_of(block(here, rows.count)));
      exchange.receive((rank + 1) % ranks, strided_of(block(next, rows_of_next)));
      exchange.begin();
    }
    if (rows.count > 0) visit(block(here, rows.count), rows);
    if (!is_last) exchange.finish();
  }
}

/// A rank's rows of a b.
template <class T>
Array<T, 2> product(Slice<T const, 2, DefaultSpace> const& a,
                    Slice<T const, 2, DefaultSpace> const& b, Placement<2> const& rows_of_b) {
  Array<T, 2> result(Shape<2>{a.shape()[0], b.shape()[1]});
  result = T(0);
  for_each_block<T>(b, rows_of_b, [&](auto const& block, distributed::Share const& rows) {
    if (result.size() > 0) result.all() = result + matmul(part_along(a, 1, rows), block);
  });
  return result;
}

/// A rank's rows of c b^T, the derivative of a b by a.
template <class T>
Array<T, 2> by_first_factor(Slice<T const, 2, DefaultSpace> const& c,
                            Slice<T const, 2, DefaultSpace> const& b,
                            Placement<2> const& rows_of_b) {
  Array<T, 2> result(Shape<2>{c.shape()[0], rows_of_b.extent()});
  result = T(0);
  for_each_block<T>(b, rows_of_b, [&](auto const& block, distributed::Share const& rows) {
    if (result.size() > 0 && c.size() > 0)
      part_along(result.all(), 1, rows) = matmul(c, swap_axes(block, 0, 1));
  });
  return result;
}

/// A rank's rows of a^T c, the derivative of a b by b: the ranks' products are added up.
template <class T>
Array<T, 2> by_second_factor(Slice<T const, 2, DefaultSpace> const& a,
                             Slice<T const, 2, DefaultSpace> const& c,
                             Placement<2> const& rows_of_b) {
  Array<T, 2> own(rows_of_b.shape());
  own = T(0);
  if (a.size() > 0 && c.size() > 0) own = matmul(swap_axes(a, 0, 1), c);
  auto const all = [n = rows_of_b.extent()](int) { return std::vector<Wanted>{{0, n, 0}}; };
  return give_back<T>("sharded/matmul", own.as_operand(), rows_of_b, all);
}

}  // namespace detail

/// The product of two matrices whose rows are split. Blocks of b travel round the ring of ranks. A
/// block travels while the ranks multiply the block before it. Products of blocks are added in the
/// order in which blocks arrive, so that the bits of the result depend on the number of ranks.
///
/// \param a  [n, k], split along axis 0
/// \param b  [k, m], split along axis 0, of the same element type
/// \return   [n, m], split along axis 0
/// \throws PreconditionError if extents don't fit, the groups differ, or a factor is split along
///   axis 1
template <AnySplit A, AnySplit B>
  requires(rank_of<A> == 2 && rank_of<B> == 2 && std::same_as<value_t<A>, value_t<B>>)
auto matmul(A const& a, B const& b) {
  auto const x = a.expression();
  auto const y = b.expression();
  auto const &of_a = x.placement(), &of_b = y.placement();
  detail::expects_one_group(of_a, of_b);
  if (of_a.shape()[1] != of_b.shape()[0] || of_a.is_split(1) || of_b.is_split(1))
    throw PreconditionError("matmul takes (n, k) and (k, m), both split along axis 0, not " +
                            in_words(of_a) + " and " + in_words(of_b) +
                            ": reshard() a factor that is split along axis 1");
  using T = value_t<A>;
  Placement<2> const placement(of_a.group(), Shape<2>{of_a.shape()[0], of_b.shape()[1]});
  auto const multiply = [of_b](auto const& left, auto const& right) {
    return detail::product<T>(left, right, of_b);
  };
  auto const back = [of_b](auto const& cotangent, auto const& left, auto const& right) {
    return std::pair([=] { return detail::by_first_factor<T>(cotangent, right, of_b); },
                     [=] { return detail::by_second_factor<T>(left, cotangent, of_b); });
  };
  return detail::placed(detail::joined(x.local(), y.local(), multiply, back), placement);
}

/// The product of a matrix whose rows are split and a plain matrix or vector that is the same on
/// every rank. Nothing travels.
///
/// \throws PreconditionError if extents don't fit, or a is split along axis 1
template <AnySplit A, Expression B>
  requires(rank_of<A> == 2)
auto matmul(A const& a, B const& b) {
  auto const x = a.expression();
  auto const& of_a = x.placement();
  expects(!of_a.is_split(1),
          "a product with a plain matrix takes one that is split along axis 0, by reshard(a, 0)",
          1);
  Shape<rank_of<B>> shape{};
  shape[0] = of_a.shape()[0];
  if constexpr (rank_of<B> == 2) shape[1] = b.shape()[1];
  return detail::placed(matmul(x.local(), detail::Parts<B>::whole(of_a.group(), b)),
                        Placement<rank_of<B>>(of_a.group(), shape));
}

}  // namespace coir::sharded
