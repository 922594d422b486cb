#pragma once

/// \file
/// Sums of products named by subscripts: NumPy's einsum, of one or two operands.

#include <coir/array/axis_reductions.hpp>
#include <coir/linalg/matmul.hpp>

#include <cstddef>
#include <cstdint>
#include <string>

namespace coir {

/// Subscripts as einsum takes them, known to the compiler: "ij,jk->ik".
template <std::size_t Length>
struct Subscripts {
  char text[Length];

  consteval Subscripts(char const (&subscripts)[Length]) {
    for (std::size_t i = 0; i < Length; ++i) text[i] = subscripts[i];
  }
};

namespace detail {

/// The labels of an array's axes. Arrays have at most 4 axes: more than 8 labels are an error
/// anyway.
struct Labels {
  static constexpr int most = 8;
  char label[most] = {};
  int count = 0;

  constexpr void add(char c) {
    if (count < most) label[count++] = c;
  }
  constexpr int times(char c) const {
    int found = 0;
    for (int d = 0; d < count; ++d) found += label[d] == c;
    return found;
  }
  constexpr bool has(char c) const { return times(c) > 0; }
  constexpr int where(char c) const {
    for (int d = 0; d < count; ++d)
      if (label[d] == c) return d;
    return -1;
  }

  /// The labels for which keep(label) is true, each once.
  template <class Keep>
  constexpr Labels filtered(Keep const& keep) const {
    Labels result;
    for (int d = 0; d < count; ++d)
      if (keep(label[d]) && !result.has(label[d])) result.add(label[d]);
    return result;
  }
  constexpr Labels followed_by(Labels const& other) const {
    Labels result = *this;
    for (int d = 0; d < other.count; ++d) result.add(other.label[d]);
    return result;
  }
};

/// The labels of the operands and of the result.
struct Equation {
  Labels operand[2], result;
  int operands = 1;
  bool has_result = false;
  bool readable = true;  // letters, one comma at most, one arrow at most

  template <std::size_t Length>
  static consteval Equation of(Subscripts<Length> const& subscripts) {
    Equation e;
    for (std::size_t i = 0; i + 1 < Length; ++i) {
      char const c = subscripts.text[i];
      bool const letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
      if (c == ' ') continue;
      if (letter) {
        (e.has_result ? e.result : e.operand[e.operands - 1]).add(c);
      } else if (c == ',' && e.operands == 1 && !e.has_result) {
        e.operands = 2;
      } else if (c == '-' && subscripts.text[i + 1] == '>' && !e.has_result) {
        e.has_result = true;
        ++i;
      } else {
        e.readable = false;
      }
    }
    if (!e.has_result)  // labels that occur once, in alphabetical order
      for (int c = 'A'; c <= 'z'; ++c)
        if (e.operand[0].times(static_cast<char>(c)) + e.operand[1].times(static_cast<char>(c)) ==
            1)
          e.result.add(static_cast<char>(c));
    return e;
  }

  /// Whether each label of the result occurs in it once, and in an operand.
  constexpr bool result_fits() const {
    for (int d = 0; d < result.count; ++d) {
      char const c = result.label[d];
      if (result.times(c) > 1 || (!operand[0].has(c) && !operand[1].has(c))) return false;
    }
    return true;
  }
};

[[noreturn]] inline void fail_by_label(char label, std::int64_t one, std::int64_t other) {
  throw PreconditionError(std::string("the label '") + label + "' of einsum stands for " +
                          std::to_string(one) + " and for " + std::to_string(other) +
                          " elements, which must be equal");
}

/// The number of elements that each label stands for.
class LabelExtents {
 public:
  template <std::size_t Rank>
  void add(Labels const& labels, std::array<std::int64_t, Rank> const& shape) {
    for (std::size_t d = 0; d < Rank; ++d) {
      std::int64_t& extent = extents_[static_cast<unsigned char>(labels.label[d])];
      if (extent >= 0 && extent != shape[d]) fail_by_label(labels.label[d], extent, shape[d]);
      extent = shape[d];
    }
  }
  LabelExtents() { extents_.fill(-1); }

 private:
  std::array<std::int64_t, 128> extents_;
};

/// Arranges a slice with the labels `From` by the labels `To`. A label that `From` has twice
/// becomes a diagonal. A label that `From` lacks becomes an axis of one element.
template <Labels From, Labels To, class T, int Rank, class Space>
Slice<T, To.count, Space> arranged(Slice<T, Rank, Space> const& x) {
  Shape<To.count> shape{};
  Strides<To.count> strides{};
  for (int d = 0; d < To.count; ++d) {
    shape[d] = 1;
    for (int from = 0; from < Rank; ++from)
      if (From.label[from] == To.label[d]) {
        shape[d] = x.shape()[from];
        strides[d] += x.strides()[from];
      }
  }
  return {x.data(), shape, strides, x.owner()};
}

/// The same of an array of autodiff.
template <Labels From, Labels To, class X>
  requires requires(X const& x) { x.seen_as(x.values()); }
auto arranged(X const& x) {
  return x.seen_as(arranged<From, To>(x.values()));
}

/// Sums along the axes whose labels aren't in `Kept`. `From` has each label once.
template <Labels From, Labels Kept, class X>
auto summed(X const& x) {
  constexpr Labels gone = From.filtered([](char c) { return !Kept.has(c); });
  if constexpr (gone.count == 0) {
    return x;
  } else {
    constexpr char label = gone.label[0];
    constexpr Labels left = From.filtered([](char c) { return c != label; });
    return summed<left, Kept>(operand(sum(x, From.where(label))));
  }
}

/// Joins the axes of a slice in groups of the given sizes. An empty group is an axis of one
/// element.
template <int... Sizes, class S>
auto grouped(S const& x) {
  constexpr int groups = sizeof...(Sizes);
  if constexpr (((Sizes == 1) && ...)) {
    return x;
  } else {
    Shape<groups> shape{};
    int to = 0, from = 0;
    for (int const size : {Sizes...}) {
      shape[to] = 1;
      for (int d = 0; d < size; ++d) shape[to] *= x.shape()[from++];
      ++to;
    }
    return reshape(x, shape);
  }
}

/// The number of an array without axes; any other argument as it is.
template <class A>
auto number_or_array(A&& x) {
  if constexpr (requires { x.item(); })
    return x.item();
  else
    return std::remove_cvref_t<A>(std::forward<A>(x));
}

/// One operand with each label once, summed along the axes that the result doesn't name.
template <Labels From, Labels Result, class X>
auto einsum_of_one(X const& x) {
  constexpr Labels once = From.filtered([](char) { return true; });
  auto const rest = summed<once, Result>(arranged<From, once>(x));
  constexpr Labels left = once.filtered([](char c) { return Result.has(c); });
  return arranged<left, Result>(rest);
}

/// The product of matrices, or of stacks of them. The arguments give the number of labels of the
/// stack, the rows, the inner axis and the columns.
template <int Batch, int Left, int Inner, int Right, class X, class Y>
auto product_of(X const& a, Y const& b) {
  if constexpr (Batch > 0)
    return matmul(grouped<Batch, Left, Inner>(a), grouped<Batch, Inner, Right>(b));
  else if constexpr (Left == 0)
    return matmul(grouped<Inner>(a), grouped<Inner, Right>(b));
  else if constexpr (Right == 0)
    return matmul(grouped<Left, Inner>(a), grouped<Inner>(b));
  else
    return matmul(grouped<Left, Inner>(a), grouped<Inner, Right>(b));
}

template <Labels A, Labels B, Labels Result, class X, class Y>
auto einsum_of_two(X const& x, Y const& y) {
  constexpr Labels batch = A.filtered([](char c) { return B.has(c) && Result.has(c); });
  constexpr Labels inner = A.filtered([](char c) { return B.has(c) && !Result.has(c); });
  constexpr Labels left = A.filtered([](char c) { return !B.has(c) && Result.has(c); });
  constexpr Labels right = B.filtered([](char c) { return !A.has(c) && Result.has(c); });
  auto const a = einsum_of_one<A, batch.followed_by(left).followed_by(inner)>(x);
  auto const b = einsum_of_one<B, batch.followed_by(inner).followed_by(right)>(y);
  constexpr Labels of_a = batch.followed_by(left).followed_by(inner);
  constexpr Labels of_b = batch.followed_by(inner).followed_by(right);
  if constexpr (inner.count == 0) {
    return evaluate(arranged<of_a, Result>(a) * arranged<of_b, Result>(b));
  } else if constexpr (Result.count == 0) {
    return dot(a, arranged<of_b, of_a>(b));
  } else {
    constexpr Labels found = batch.followed_by(left).followed_by(right);
    auto const product = product_of<batch.count, left.count, inner.count, right.count>(a, b);
    Shape<found.count> shape{};
    for (int d = 0; d < found.count; ++d) {
      char const c = found.label[d];
      shape[d] = of_a.has(c) ? a.shape()[of_a.where(c)] : b.shape()[of_b.where(c)];
    }
    return evaluate(arranged<found, Result>(reshape(product, shape)));
  }
}

template <Equation E, int Operands>
constexpr void check_equation() {
  static_assert(
      E.readable,
      "subscripts of einsum are letters, one comma at most, and one arrow at most: \"ij,jk->ik\"");
  static_assert(E.operands == Operands,
                "einsum has another number of operands than its subscripts");
  static_assert(E.result.count <= 4, "arrays have at most 4 axes");
  static_assert(E.result_fits(),
                "each label of einsum's result must stand there once, and with an operand, too");
}

}  // namespace detail

/// Traces, diagonals, sums along axes and transposes by NumPy's subscripts, which are known to the
/// compiler:
///
///     einsum<"ii->">(a)  the trace      einsum<"ii->i">(a)  the diagonal      einsum<"ijk->ki">(a)
///     a sum, transposed
///
/// Without an arrow the result has the labels that occur once, in alphabetical order. "..." isn't
/// supported.
///
/// \returns a new array; a number if the result has no labels
/// \throws PreconditionError if a label stands for different numbers of elements
template <Subscripts Text, Expression A>
auto einsum(A const& a) {
  constexpr detail::Equation equation = detail::Equation::of(Text);
  detail::check_equation<equation, 1>();
  static_assert(equation.operand[0].count == rank_of<A>, "einsum needs a label for each axis");
  detail::LabelExtents extents;
  extents.add(equation.operand[0], a.shape());
  return detail::number_or_array(evaluate(
      detail::einsum_of_one<equation.operand[0], equation.result>(elements_of(a).as_operand())));
}

/// Sums of products of two operands:
///
///     einsum<"ij,jk->ik">(a, b)      einsum<"bij,bj->bi">(a, x)      einsum<"i,j->ij">(x, y)
///     einsum<"ij,ij->">(a, b)
///
/// Sums are computed by matmul. An operand is copied if several of its axes have to be joined and
/// don't follow each other in memory. Each operand has at most 4 axes. Axes of one element aren't
/// stretched.
///
/// \returns a new array; a number if the result has no labels
/// \throws PreconditionError if a label stands for different numbers of elements
template <Subscripts Text, Expression A, Expression B>
  requires SameSpace<A, B>
auto einsum(A const& a, B const& b) {
  constexpr detail::Equation equation = detail::Equation::of(Text);
  detail::check_equation<equation, 2>();
  static_assert(equation.operand[0].count == rank_of<A> && equation.operand[1].count == rank_of<B>,
                "einsum needs a label for each axis");
  detail::LabelExtents extents;
  extents.add(equation.operand[0], a.shape());
  extents.add(equation.operand[1], b.shape());
  return detail::number_or_array(
      detail::einsum_of_two<equation.operand[0], equation.operand[1], equation.result>(
          elements_of(a).as_operand(), elements_of(b).as_operand()));
}

}  // namespace coir
