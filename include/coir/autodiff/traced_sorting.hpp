#pragma once

/// \file
/// sort, quantile, percentile and median of Traced arrays. Sorting permutes: the derivative of each
/// sorted element is that of the element in its place, where equal elements keep their order. A
/// quantile between two sorted elements shares its derivative between these, as in JAX.

#include <coir/array/creation.hpp>
#include <coir/array/quantile.hpp>
#include <coir/array/sorting.hpp>
#include <coir/autodiff/objective.hpp>
#include <coir/autodiff/traced.hpp>
#include <coir/autodiff/traced_moves.hpp>
#include <coir/autodiff/traced_reductions.hpp>

#include <cstdint>
#include <string>

namespace coir {

namespace detail {

/// Writes the cotangent of a sorted element to the element that it was. Elements are numbered in C
/// order of (before the axis, along it, behind it).
template <class T>
struct PutBack {
  T const* sorted;
  std::int64_t const* order;
  std::int64_t along, behind;
  T* unsorted;

  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t i) const {
    std::int64_t const row = i / (along * behind), within = i % behind;
    unsorted[(row * along + order[i]) * behind + within] = sorted[i];
  }
};

/// Cotangents of an array sorted along an axis, in the order of the array.
template <class T, int Rank, class Space>
Array<T, Rank, Space> put_back(Slice<T const, Rank, Space> const& sorted,
                               Slice<T const, Rank, Space> const& x, int axis) {
  auto const order = argsort(x, axis);
  auto const cotangent = in_c_order(sorted);
  Array<T, Rank, Space> result(x.shape());
  std::int64_t behind = 1;
  for (int d = axis + 1; d < Rank; ++d) behind *= x.shape()[d];
  for_each("coir::autodiff::traced_sorting", instance<typename Space::execution_space>(),
           box<1, std::int64_t>({result.size()}),
           PutBack<T>{cotangent.data(), order.data(), x.shape()[axis], behind, result.data()});
  return result;
}

/// Quantiles along an axis of an array in memory. If there are several, the result's first axis
/// counts them.
template <class T, int Rank, class Space, bool Several>
auto traced_quantiles(Traced<T, Rank, Space> const& x, Asked<Several> const& q, int axis) {
  constexpr int rank = Rank - 1 + (Several ? 1 : 0);
  auto const found = quantiles_of(x.values(), q, axis);
  Array<T, rank, Space> values(Shape<rank>{});
  if constexpr (requires { found.shape(); })
    values = found;
  else
    values = as_array_of_rank_0<Space, T>(found);
  int const d = checked_axis(x.values(), axis);
  return taped(x.node()->tape(), values, [x, q, d](Slice<T const, rank, Space> const& cotangent) {
    std::int64_t const n = x.shape()[d];
    if (x.size() == 0) return;
    Array<T, Rank, Space> sorted(x.shape());
    sorted = T(0);
    for (std::size_t k = 0; k < q.shares.size(); ++k) {
      double const position = q.shares[k] * static_cast<double>(n - 1);
      std::int64_t const below = rank_below(q.shares[k], n);
      T const fraction = static_cast<T>(position - static_cast<double>(below));
      Slice<T const, Rank, Space> const one = [&] {
        if constexpr (Several) {
          Shape<Rank> shape = cotangent.shape();
          Strides<Rank> strides = cotangent.strides();
          T const* const first = cotangent.data() + static_cast<std::int64_t>(k) * strides[0];
          for (int at = 0; at < d; ++at) {
            shape[at] = shape[at + 1];
            strides[at] = strides[at + 1];
          }
          shape[d] = 1;
          return Slice<T const, Rank, Space>(first, shape, strides, cotangent.owner());
        } else {
          return with_axis(cotangent, d);
        }
      }();
      auto const low = part_along(sorted.all(), d, below, 1);
      low += (T(1) - fraction) * one;
      if (below + 1 < n) {
        auto const high = part_along(sorted.all(), d, below + 1, 1);
        high += fraction * one;
      }
    }
    add_cotangent(x, put_back(sorted.as_operand(), x.values(), d));
  });
}

/// The overloads of what quantile(), percentile() and median() call.
template <DifferentiatedExpression E, bool Several>
auto quantiles_of(E const& x, Asked<Several> const& q) {
  if constexpr (DualExpression<E>) {
    return stand_in<Several ? 1 : 0>(x);
  } else {
    expects(size_of(x.shape()) > 0, "there is no quantile of an array without elements");
    return traced_quantiles(evaluate(reshape(evaluate(x), Shape<1>{size_of(x.shape())})), q, 0);
  }
}
template <DifferentiatedExpression E, bool Several>
auto quantiles_of(E const& x, Asked<Several> const& q, int axis) {
  if constexpr (DualExpression<E>)
    return stand_in<rank_of<E> - 1 + (Several ? 1 : 0)>(x);
  else
    return traced_quantiles(evaluate(x), q, axis);
}

}  // namespace detail

/// Sorted along an axis, by default the last one.
///
/// \throws PreconditionError if there is no such axis
template <detail::Ordered E>
  requires OfRankAtLeast<E, 1> && DifferentiatedExpression<E>
auto sort(E const& x, int axis = -1) {
  constexpr int rank = rank_of<E>;
  if constexpr (DualExpression<E>) {
    return detail::stand_in<rank>(x);
  } else {
    auto const stored = evaluate(x);
    using Slices = Slice<value_t<E> const, rank, typename E::space>;
    auto const sorted = sort(stored.values(), axis);
    int const d = axis < 0 ? axis + rank : axis;
    return detail::taped(stored.node()->tape(), sorted, [stored, d](Slices const& cotangent) {
      if (stored.size() > 0)
        detail::add_cotangent(stored, detail::put_back(cotangent, stored.values(), d));
    });
  }
}

/// The indices that sort arguments of value_and_grad; indices have no derivative.
///
/// \throws PreconditionError if there is no such axis
template <detail::Ordered E>
  requires OfRankAtLeast<E, 1> && DualOperand<E>
auto argsort(E const& x, int axis = -1) {
  return argsort(detail::values_in_one_pass(x), axis);
}

}  // namespace coir
