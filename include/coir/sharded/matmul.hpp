#pragma once

/// Products of split matrices. Programs that include this header link coir::linalg.

#include <coir/linalg/matmul.hpp>
#include <coir/sharded/moves.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

namespace coir::sharded {

namespace detail {

/// A rank's rows of a b. Blocks of b go round the ring of ranks while the last one is multiplied.
template <class T>
Array<T, 2> product_by_ring(Slice<T const, 2, DefaultSpace> const& a,
                            Slice<T const, 2, DefaultSpace> const& b,
                            Placement<2> const& rows_of_b) {
  auto const& group = rows_of_b.group();
  int const ranks = group.size(), rank = group.rank();
  std::int64_t const columns = b.shape()[1];
  std::int64_t longest = 0;
  for (int r = 0; r < ranks; ++r) longest = std::max(longest, rows_of_b.share(r).count);
  Array<T, 2> result(Shape<2>{a.shape()[0], columns});
  result = T(0);
  Array<T, 2> here(Shape<2>{longest, columns}), next(Shape<2>{longest, columns});
  auto const block = [](Array<T, 2>& all, std::int64_t rows) {
    return part_along(all.all(), 0, distributed::Share{0, rows});
  };
  block(here, b.shape()[0]) = b;
  distributed::ViewExchange exchange(Exec(), group, "sharded/matmul");
  for (int step = 0; step < ranks; ++step, std::swap(here, next)) {
    auto const rows = rows_of_b.share((rank + step) % ranks);
    auto const rows_of_next = rows_of_b.share((rank + step + 1) % ranks);
    bool const is_last = step + 1 == ranks;
    if (!is_last) {
      exchange.send((rank + ranks - 1) % ranks, strided_of(block(here, rows.count)));
      exchange.receive((rank + 1) % ranks, strided_of(block(next, rows_of_next.count)));
      exchange.begin();
    }
    if (rows.count > 0 && result.size() > 0)
      result.all() = result + matmul(part_along(a, 1, rows), block(here, rows.count));
    if (!is_last) exchange.finish();
  }
  return result;
}

}  // namespace detail

/// The product of two matrices whose rows are split. Blocks of b travel round the ring of ranks,
/// each behind the product with the block before. Sums over the inner axis are added in the order
/// in which blocks pass, so that bits depend on the number of ranks.
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
  if (of_a.shape()[1] != of_b.shape()[0] || of_a.axis() != 0 || of_b.axis() != 0 ||
      !(of_a.group() == of_b.group()))
    throw PreconditionError(
        "matmul takes (n, k) and (k, m), both split along axis 0 over the same "
        "ranks, not " +
        in_words(of_a) + " and " + in_words(of_b) +
        ": reshard() a factor that is split along axis 1");
  using T = value_t<A>;
  auto const left = coir::evaluate(x.local()), right = coir::evaluate(y.local());
  return Sharded<T, 2>(detail::product_by_ring<T>(left.as_operand(), right.as_operand(), of_b),
                       Placement<2>(of_a.group(), Shape<2>{of_a.shape()[0], of_b.shape()[1]}));
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
  expects(of_a.axis() == 0,
          "a product with a plain matrix takes one that is split along axis 0, by reshard(a, 0)",
          of_a.axis());
  Shape<rank_of<B>> shape{};
  shape[0] = of_a.shape()[0];
  if constexpr (rank_of<B> == 2) shape[1] = b.shape()[1];
  return detail::placed(matmul(x.local(), b), Placement<rank_of<B>>(of_a.group(), shape));
}

}  // namespace coir::sharded
