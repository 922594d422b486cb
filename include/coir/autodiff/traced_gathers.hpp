#pragma once

/// \file
/// Functions of Traced arrays that pick elements by their places: take, compress, repeat, pad. They
/// do the same as the functions of arrays with the same names.
///
/// An element of the argument gets the sum of the cotangents of all elements that show it. These
/// are added in the order of the result, so that bits don't depend on the number of threads.

#include <coir/array/creation.hpp>
#include <coir/array/joining.hpp>
#include <coir/array/padding.hpp>
#include <coir/array/repeating.hpp>
#include <coir/array/sorting.hpp>
#include <coir/autodiff/traced.hpp>
#include <coir/autodiff/traced_moves.hpp>
#include <coir/autodiff/traced_reductions.hpp>

#include <concepts>
#include <cstdint>

namespace coir {

namespace detail {

/// Sums the cotangents of one element. Reader `order[j]` shows element `read[j]`, in ascending
/// order of the elements.
template <class T>
struct SumOfReaders {
  T const* cotangent;
  std::int64_t const* order;
  std::int64_t const* read;
  std::int64_t readers;
  T* sums;

  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t j) const {
    std::int64_t const element = read[j];
    if (j > 0 && read[j - 1] == element) return;
    T sum(0);
    for (; j < readers && read[j] == element; ++j) sum += cotangent[order[j]];
    sums[element] = sum;
  }
};

/// Counts negative indices from the end.
struct FromTheEnd {
  std::int64_t elements;
  template <class Number>
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t operator()(Number index) const {
    auto const at = static_cast<std::int64_t>(index);
    return at < 0 ? at + elements : at;
  }
};

/// The elements at places, which count them in C order. The result has the shape of the places.
template <class T, int Rank, class Space, int PlacesRank>
Traced<T, PlacesRank, Space> gathered(Traced<T, Rank, Space> const& x,
                                      Array<std::int64_t, PlacesRank, Space> const& places) {
  Shape<1> const elements{x.size()};
  auto const values = take(reshape(in_c_order(x.values()), elements), places);
  Slice<std::int64_t const, PlacesRank, Space> const read = places.as_operand();
  return taped(x.node()->tape(), values, [x, read](Slice<T const, PlacesRank, Space> const& c) {
    using Exec = typename Space::execution_space;
    auto const cotangent = in_c_order(c);
    Array<T, 1, Space> sums(Shape<1>{x.size()});
    sums = T(0);
    auto const in_a_row = reshape(read, Shape<1>{read.size()});
    auto const order = argsort(in_a_row);
    auto const sorted = take(in_a_row, order);
    for_each(
        "coir::autodiff::traced_gathers", instance<Exec>(), box<1, std::int64_t>({sorted.size()}),
        SumOfReaders<T>{cotangent.data(), order.data(), sorted.data(), sorted.size(), sums.data()});
    add_cotangent(x, reshape(sums, x.shape()));
  });
}

/// The places of an array's elements, in its shape.
template <class Space, std::size_t Rank>
auto places_in(std::array<std::int64_t, Rank> const& shape) {
  return reshape(arange<std::int64_t, Space>(size_of(shape)), shape);
}

}  // namespace detail

/// The elements of a vector at indices: element i is x(indices(i)), in the shape of the indices.
/// Negative indices count from the end. The indices are constants.
///
/// \throws PreconditionError if an index is outside of the vector
template <DifferentiatedExpression X, Expression I>
  requires SameSpace<X, I> && std::integral<value_t<I>> && OfRank<X, 1>
auto take(X const& x, I const& indices) {
  if constexpr (DualExpression<X>) {
    return detail::stand_in<rank_of<I>>(x);
  } else {
    using Space = typename X::space;
    auto const stored = evaluate(x);
    return detail::gathered(stored, Array<std::int64_t, rank_of<I>, Space>(
                                        map(detail::FromTheEnd{stored.size()}, indices)));
  }
}

/// The elements for which the mask is true, in C order, as a vector. The mask is a constant.
///
/// \throws PreconditionError if the shapes differ
template <DifferentiatedExpression X, Expression M>
  requires SameSpace<X, M> && std::same_as<value_t<M>, bool> && OfRank<X, rank_of<M>>
auto compress(X const& x, M const& mask) {
  if constexpr (DualExpression<X>) {
    return detail::stand_in<1>(x);
  } else {
    auto const stored = evaluate(x);
    return detail::gathered(stored,
                            compress(detail::places_in<typename X::space>(stored.shape()), mask));
  }
}

/// Repeats each element `times` times along an axis.
///
/// \throws PreconditionError if there is no such axis or `times` is negative
template <DifferentiatedExpression X>
  requires OfRankAtLeast<X, 1>
auto repeat(X const& x, std::int64_t times, int axis) {
  constexpr int rank = rank_of<X>;
  if constexpr (DualExpression<X>) {
    return detail::stand_in<rank>(x);
  } else {
    auto const stored = evaluate(x);
    using T = value_t<X>;
    using Space = typename X::space;
    int const d = checked_axis(stored.values(), axis);
    auto const repeated = repeat(stored.values(), times, axis);
    return detail::taped(
        stored.node()->tape(), repeated,
        [stored, times, d](Slice<T const, rank, Space> const& cotangent) {
          if (times == 0) return;
          Shape<4> box{1, 1, times, 1};  // elements before the axis, along it, times, behind it
          for (int at = 0; at < rank; ++at) box[at < d ? 0 : at == d ? 1 : 3] *= stored.shape()[at];
          detail::add_cotangent(stored, reshape(sum(reshape(cotangent, box), 2), stored.shape()));
        });
  }
}

/// Repeats element i of a vector times[i] times.
///
/// \throws PreconditionError if a number is negative, or there are more or fewer numbers than
///   elements
template <DifferentiatedExpression X, Expression N>
  requires OfRank<X, 1> && OfRank<N, 1> && std::integral<value_t<N>> && SameSpace<X, N>
auto repeat(X const& x, N const& times) {
  if constexpr (DualExpression<X>)
    return detail::stand_in<1>(x);
  else
    return take(x, detail::places_of_repeats<typename X::space>(x.shape()[0], times));
}

/// The array with a margin of one number, by default 0.
///
/// \throws PreconditionError if a width is negative, or their number isn't that of the axes
template <DifferentiatedExpression X>
  requires OfRankAtLeast<X, 1>
auto pad(X const& x, Margin const& margin, value_t<X> number = value_t<X>(0)) {
  constexpr int rank = rank_of<X>;
  if constexpr (DualExpression<X>) {
    return detail::stand_in<rank>(x);
  } else {
    auto const stored = evaluate(x);
    using Slices = Slice<value_t<X> const, rank, typename X::space>;
    return detail::taped(stored.node()->tape(), pad(stored.values(), margin, number),
                         [stored, margin](Slices const& cotangent) {
                           std::int64_t first = 0;
                           for (int d = 0; d < rank; ++d)
                             first += margin.along(d).before * cotangent.strides()[d];
                           Slices const inner(cotangent.data() + first, stored.shape(),
                                              cotangent.strides(), cotangent.owner());
                           detail::add_cotangent(stored, inner);
                         });
  }
}

/// The array with a margin of its own elements: see Pad.
///
/// \throws PreconditionError if a width is negative, their number isn't that of the axes, or an
///   axis that gets a margin has no elements
template <DifferentiatedExpression X>
  requires OfRankAtLeast<X, 1>
auto pad(X const& x, Margin const& margin, Pad how) {
  if constexpr (DualExpression<X>) {
    return detail::stand_in<rank_of<X>>(x);
  } else {
    auto const stored = evaluate(x);
    return detail::gathered(stored,
                            pad(detail::places_in<typename X::space>(stored.shape()), margin, how));
  }
}

}  // namespace coir
