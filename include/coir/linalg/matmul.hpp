#pragma once

/// \file
/// Products of matrices and vectors, by BLAS: on hosts by the BLAS that Kokkos Kernels links, on
/// devices through Kokkos Kernels (cuBLAS on NVIDIA's).
///
/// Operands are arrays, slices, or expressions, which are evaluated first. A transposed matrix, or
/// one with gaps between its rows, is read where it is; other strides are copied first. float,
/// double and their complex numbers go to BLAS, integers to a plain kernel. Elements of different
/// types are promoted as by operators; bool counts, so that a product of bool arrays is int.
///
/// record() can record products. Use matmul_into for results that outlive the recording, because
/// the memory of matmul's result belongs to it. On CUDA this needs Kokkos Kernels 3.6 or newer;
/// before, products run on the default instance.
///
/// On hosts the threads are BLAS's own. OpenBLAS for OpenMP shares Kokkos' threads. OpenBLAS for
/// pthreads has threads of its own, which OPENBLAS_NUM_THREADS limits.

#include <coir/array/array.hpp>
#include <coir/array/operators.hpp>
#include <coir/array/slices.hpp>
#include <coir/core/overlap.hpp>
#include <coir/linalg/detail/product.hpp>

#include <string>
#include <type_traits>

namespace coir {

namespace detail {

/// The element type of a product.
template <class A, class B>
using product_t = number_t<promote_t<value_t<A>, value_t<B>>>;

/// Where a product is computed.
template <class A, class B>
using product_space_t = std::conditional_t<
    std::is_same_v<common_space_t<typename A::space, typename B::space>, AnySpace>, DefaultSpace,
    common_space_t<typename A::space, typename B::space>>;

template <int A, int B>
inline constexpr int product_rank = A >= 2 && B >= 2 && A + B >= 5 ? 3 : A + B - 2;

/// At most one operand is a vector, and none has more than three axes.
template <class A, class B>
concept Multipliable = SameSpace<A, B> && rank_of<A> >= 1 && rank_of<A> <= 3 && rank_of<B> >= 1 &&
                       rank_of<B> <= 3 && rank_of<A> + rank_of<B> >= 3;

/// A matrix and a vector or several, or as many matrices as vectors.
template <class A, class X>
concept MatrixOfVectors =
    SameSpace<A, X> && ((rank_of<A> == 2 && (rank_of<X> == 1 || rank_of<X> == 2)) ||
                        (rank_of<A> == 3 && rank_of<X> == 2));

template <class A, class B>
concept MatrixAndVector =
    (rank_of<A> == 2 && rank_of<B> == 1) || (rank_of<A> == 1 && rank_of<B> == 2);

/// An operand in memory, with elements of type T.
template <class T, class Space, class E>
Slice<T const, rank_of<E>, Space> factor(E const& x) {
  if constexpr (std::is_same_v<value_t<E>, T> && requires { x.as_operand(); })
    return x.as_operand();
  else
    return Array<T, rank_of<E>, Space>(x).as_operand();
}

template <class T, class Space>
bool fits_blas(Slice<T, 1, Space> const& x) {
  return x.strides()[0] == 1 && columns_of(x).first.fits_blas();
}
template <class T, int Rank, class Space>
bool fits_blas(Slice<T, Rank, Space> const& x) {
  return stack_of(x).first.fits_blas();
}

/// The values where BLAS can read them, copied if necessary.
template <class T, int Rank, class Space>
Slice<T const, Rank, Space> readable(Slice<T const, Rank, Space> const& x) {
  if (!is_blas_type<T> || x.size() == 0 || fits_blas(x)) return x;
  return Array<T, Rank, Space>(x).as_operand();
}

template <class S>
auto left_stack(S const& x) {
  if constexpr (S::rank == 1) {
    auto const column = columns_of(x);
    return decltype(column){column.first.transposed(), 1, 0};
  } else {
    return stack_of(x);
  }
}
template <class S>
auto right_stack(S const& x) {
  if constexpr (S::rank == 1)
    return columns_of(x);
  else
    return stack_of(x);
}

/// Whether two slices may have bytes in common.
template <class A, class B>
bool may_overlap(A const& a, B const& b) {
  if (a.size() == 0 || b.size() == 0) return false;
  auto const range = [](auto const& x) {
    return byte_range(x.data(), x.shape(), x.strides(), sizeof(*x.data()));
  };
  return range(a).overlaps(range(b));
}

/// The shape of a b.
///
/// \throws PreconditionError naming both shapes if they don't fit
template <std::size_t A, std::size_t B>
auto product_shape(std::array<std::int64_t, A> const& a, std::array<std::int64_t, B> const& b) {
  constexpr int rank = product_rank<int(A), int(B)>;
  std::int64_t const inner_a = a[A - 1], inner_b = b[B >= 2 ? B - 2 : 0];
  auto const fail = [&](std::string const& why) {
    throw PreconditionError("shapes " + in_words(a) + " and " + in_words(b) +
                            " don't multiply: " + why);
  };
  if (inner_a != inner_b)
    fail("the last axis of the first has " + std::to_string(inner_a) + " elements and the " +
         (B >= 2 ? "last but one" : "only one") + " of the second " + std::to_string(inner_b) +
         "; they must be equal");
  Shape<rank> shape{};
  if constexpr (rank == 3) {
    std::int64_t const of_a = A == 3 ? a[0] : 1, of_b = B == 3 ? b[0] : 1;
    if (of_a != of_b && of_a != 1 && of_b != 1)
      fail("there are " + std::to_string(of_a) + " and " + std::to_string(of_b) +
           " matrices; the numbers must be equal or one of them 1");
    shape[0] = of_a == 1 ? of_b : of_a;
  }
  if constexpr (A == 3 && B == 1) shape[0] = a[0];
  if constexpr (A == 1 && B == 3) shape[0] = b[0];
  if constexpr (A >= 2) shape[rank - (B >= 2 ? 2 : 1)] = a[A - 2];
  if constexpr (B >= 2) shape[rank - 1] = b[B - 1];
  return shape;
}

/// out = a b. The shapes fit, out overlaps neither factor, and for BLAS's types BLAS can write to
/// it.
template <class T, int Rank, int A, int B, class Space>
void multiply(Slice<T, Rank, Space> const& out, Slice<T const, A, Space> const& a,
              Slice<T const, B, Space> const& b) {
  using Exec = typename Space::execution_space;
  if (a.shape()[A - 1] == 0) {
    out = T(0);
    return;
  }
  auto const left = readable(a);
  auto const right = [&] {
    if constexpr (A == 2 && B == 2)  // a copy of x serves for x times its own transpose
      if (stack_of(b).first.is_transpose_of(stack_of(a).first)) return transpose(left);
    return readable(b);
  }();
  Exec const exec = product_instance<T, Exec>("matmul()");
  if constexpr (A == 3 && B == 1) {
    product(exec, stack_of(left), columns_of(right), columns_of(out));
  } else if constexpr (A == 1 && B == 3) {
    product(exec, stack_of(right).transposed(), columns_of(left), columns_of(out));
  } else if constexpr (Rank == 1 && A == 1) {
    product(exec, left_stack(left), right_stack(right), left_stack(out));
  } else {
    product(exec, left_stack(left), right_stack(right), right_stack(out));
  }
}

}  // namespace detail

/// Writes the product of two matrices into an array or slice: NumPy's matmul with `out`. See
/// matmul.
///
/// \param out  of the product's shape; may overlap the factors, which costs a copy
/// \throws PreconditionError naming the shapes if they don't multiply, or don't fit `out`
template <detail::Target Out, Expression A, Expression B>
  requires detail::Multipliable<A, B> && SameSpace<Out, A, B> &&
           (rank_of<Out> == detail::product_rank<rank_of<A>, rank_of<B>>)
void matmul_into(Out&& out, A const& a, B const& b) {
  using Space = typename std::remove_cvref_t<Out>::space;
  using T = detail::product_t<A, B>;
  auto const shape = detail::product_shape(a.shape(), b.shape());
  auto const target = detail::in_place(out);
  if (shape != target.shape())
    throw PreconditionError("the product of shapes " + in_words(a.shape()) + " and " +
                            in_words(b.shape()) + " has shape " + in_words(shape) +
                            " and can't be written into shape " + in_words(target.shape()));
  auto const left = detail::factor<T, Space>(a);
  auto const right = detail::factor<T, Space>(b);
  if constexpr (std::is_same_v<T, value_t<Out>>) {
    // A stack times a vector is a matrix whose columns BLAS writes one by one.
    constexpr bool columns = rank_of<A> + rank_of<B> == 4 && rank_of<A> != 2;
    bool const in_place =
        !detail::is_blas_type<T> ||
        (columns ? target.strides()[rank_of<Out> - 1] == 1 : detail::fits_blas(target));
    if (in_place && !detail::may_overlap(target, left) && !detail::may_overlap(target, right)) {
      detail::multiply(target, left, right);
      return;
    }
  }
  Array<T, rank_of<Out>, Space> product(shape);
  detail::multiply(product.all(), left, right);
  target = product;
}

/// The product of two matrices, or of a matrix and a vector: NumPy's matmul, @.
///
///     (m, k) (k, n) -> (m, n)          (k,) (k, n) -> (n,)          (m, k) (k,) -> (m,)
///     (s, m, k) (s, k, n) -> (s, m, n), where either factor may be a single matrix
///     (s, m, k) (k,) -> (s, m)         (k,) (s, k, n) -> (s, n)
///
/// On hosts x times its own transpose costs half as much (BLAS's syrk), and is symmetric to the
/// bit. Without elements along k the product is zero. For two vectors use dot.
///
/// \throws PreconditionError naming the shapes if they don't multiply
template <Expression A, Expression B>
  requires detail::Multipliable<A, B>
auto matmul(A const& a, B const& b) {
  using Space = detail::product_space_t<A, B>;
  using T = detail::product_t<A, B>;
  Array<T, detail::product_rank<rank_of<A>, rank_of<B>>, Space> result(
      detail::product_shape(a.shape(), b.shape()));
  constexpr bool multiplies = std::is_arithmetic_v<T> || is_complex<T>;
  static_assert(
      multiplies,
      "matmul takes integers, real and complex numbers: products of arguments of "
      "value_and_grad are in coir/autodiff/linalg.hpp, to be included before the function");
  if constexpr (multiplies)
    detail::multiply(result.all(), detail::factor<T, Space>(a), detail::factor<T, Space>(b));
  return result;
}

/// The product of a matrix and a vector, or of a vector and a matrix, as by matmul: NumPy's dot.
/// For arrays of one shape, also for matrices, dot is a number.
///
/// \throws PreconditionError naming the shapes if they don't multiply
template <Expression A, Expression B>
  requires SameSpace<A, B> && detail::MatrixAndVector<A, B>
auto dot(A const& a, B const& b) {
  return matmul(a, b);
}

/// The product of a matrix and a vector, or of each of several: NumPy's matvec.
///
///     (m, k) (k,) -> (m,)      (m, k) (s, k) -> (s, m)      (s, m, k) (s, k) -> (s, m)
///
/// \throws PreconditionError naming the shapes if they don't multiply
template <Expression A, Expression X>
  requires detail::MatrixOfVectors<A, X>
auto matvec(A const& a, X const& x) {
  constexpr int rank = rank_of<A>;
  std::int64_t const vectors = rank_of<X> == 2 ? x.shape()[0] : 1;
  if (a.shape()[rank - 1] != x.shape()[rank_of<X> - 1] || (rank == 3 && a.shape()[0] != vectors))
    throw PreconditionError("shapes " + in_words(a.shape()) + " and " + in_words(x.shape()) +
                            " don't multiply as matrix and vectors: " +
                            (rank == 3 ? "the first and the last extents must be equal"
                                       : "the last extents must be equal"));
  if constexpr (rank_of<X> == 1) {
    return matmul(a, x);
  } else if constexpr (rank == 2) {
    return matmul(x, transpose(a));
  } else {
    using Space = detail::product_space_t<A, X>;
    using Exec = typename Space::execution_space;
    using T = detail::product_t<A, X>;
    Array<T, 2, Space> result(Shape<2>{vectors, a.shape()[1]});
    auto const left = detail::readable(detail::factor<T, Space>(a));
    auto const right = [&] {
      auto const vectors_in_memory = detail::factor<T, Space>(x);
      bool const as_they_are = !detail::is_blas_type<T> || vectors_in_memory.strides()[1] == 1;
      return as_they_are ? vectors_in_memory : Array<T, 2, Space>(vectors_in_memory).as_operand();
    }();
    if (a.shape()[2] == 0)
      result = T(0);
    else
      detail::product(detail::product_instance<T, Exec>("vmap(matvec)"), detail::stack_of(left),
                      detail::columns_of(right), detail::columns_of(result.all()));
    return result;
  }
}

}  // namespace coir
