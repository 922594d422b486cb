#pragma once

/// \file
/// A function of numbers and rows, mapped over the leading axis of arrays in one kernel: JAX's vmap.
///
///     auto const lengths = vmap(KOKKOS_LAMBDA(Row<double> const& x) { return norm(x); })(points);

#include <coir/array/array.hpp>
#include <coir/core/math.hpp>
#include <coir/core/pack.hpp>

#include <algorithm>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

namespace coir {

/// A row of a matrix inside a kernel, to be read.
template <class T>
class Row {
 public:
  using value_type = T;

  KOKKOS_FORCEINLINE_FUNCTION Row(T const* data, std::int64_t size, std::int64_t stride)
      : data_(data), size_(size), stride_(stride) {}

  KOKKOS_FORCEINLINE_FUNCTION std::int64_t size() const { return size_; }
  KOKKOS_FORCEINLINE_FUNCTION T const& operator[](std::int64_t i) const {
    return data_[i * stride_];
  }

 private:
  T const* data_;
  std::int64_t size_;
  std::int64_t stride_;
};

/// The sum of a row, in kernels; 0 for an empty one. Terms are added one after the other.
template <class T>
KOKKOS_FUNCTION number_t<T> sum(Row<T> const& x) {
  number_t<T> result(0);
  for (std::int64_t i = 0; i < x.size(); ++i) result += x[i];
  return result;
}

/// The sum of products of two rows of one length, in kernels.
template <class T>
KOKKOS_FUNCTION number_t<T> dot(Row<T> const& x, Row<T> const& y) {
  number_t<T> result(0);
  for (std::int64_t i = 0; i < x.size(); ++i) result += x[i] * y[i];
  return result;
}

/// The Euclidean norm of a row of float or double, in kernels.
template <RealElement T>
KOKKOS_FUNCTION T norm(Row<T> const& x) {
  return math::sqrt(dot(x, x));
}

/// The smallest element of a row that isn't empty, or NaN if there is one, in kernels.
template <class T>
KOKKOS_FUNCTION T min(Row<T> const& x) {
  T result = x[0];
  for (std::int64_t i = 1; i < x.size(); ++i)
    if (x[i] < result || x[i] != x[i]) result = x[i];
  return result;
}

/// The largest element of a row that isn't empty, or NaN if there is one, in kernels.
template <class T>
KOKKOS_FUNCTION T max(Row<T> const& x) {
  T result = x[0];
  for (std::int64_t i = 1; i < x.size(); ++i)
    if (x[i] > result || x[i] != x[i]) result = x[i];
  return result;
}

namespace detail {

/// What a mapped function gets of its arguments at a leading index.
template <class T>
struct EachNumber {
  T const* data;
  std::int64_t stride;
  KOKKOS_FORCEINLINE_FUNCTION T at(std::int64_t i) const { return data[i * stride]; }
};
template <class T>
struct EachRow {
  T const* data;
  std::int64_t stride;
  std::int64_t size;
  std::int64_t step;
  KOKKOS_FORCEINLINE_FUNCTION Row<T> at(std::int64_t i) const {
    return {data + i * stride, size, step};
  }
};
template <class T>
struct SameNumber {
  T value;
  KOKKOS_FORCEINLINE_FUNCTION T at(std::int64_t) const { return value; }
};

/// An argument in memory; it owns what it points to while the kernel is launched.
template <class X>
auto vmap_argument(X const& x) {
  if constexpr (!Expression<X>) {
    return x;
  } else {
    static_assert(rank_of<X> >= 1 && rank_of<X> <= 2,
                  "vmap maps over the leading axis of arrays of one or two axes");
    if constexpr (requires { x.as_operand(); })
      return x.as_operand();
    else
      return evaluate(x).as_operand();
  }
}

template <class X>
auto vmap_each(X const& x) {
  if constexpr (!Expression<X>) {
    return SameNumber<X>{x};
  } else if constexpr (rank_of<X> == 1) {
    return EachNumber<value_t<X>>{x.data(), x.strides()[0]};
  } else {
    return EachRow<value_t<X>>{x.data(), x.strides()[0], x.shape()[1], x.strides()[1]};
  }
}

/// Whether a function returned a few numbers rather than one.
template <class R>
inline constexpr std::size_t vector_size = 0;
template <class T, std::size_t N>
inline constexpr std::size_t vector_size<Kokkos::Array<T, N>> = N;

template <class R>
struct ElementOfResult {
  using type = R;
};
template <class T, std::size_t N>
struct ElementOfResult<Kokkos::Array<T, N>> {
  using type = T;
};

template <class F, class Arguments, class R>
struct VmapBody {
  using T = typename ElementOfResult<R>::type;
  F f;
  Arguments arguments;
  T* out;

  struct Call {
    F const& f;
    std::int64_t i;
    template <class... Each>
    KOKKOS_FORCEINLINE_FUNCTION R operator()(Each const&... each) const {
      return f(each.at(i)...);
    }
  };

  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t i) const {
    R const result = arguments.apply(Call{f, i});
    if constexpr (vector_size<R> == 0) {
      out[i] = result;
    } else {
      constexpr auto n = static_cast<std::int64_t>(vector_size<R>);
      for (std::int64_t c = 0; c < n; ++c) out[i * n + c] = result[static_cast<std::size_t>(c)];
    }
  }
};

/// The extent that all mapped arguments have along their first axis.
template <class... X>
std::int64_t vmap_extent(X const&... arguments) {
  std::string extents;
  std::int64_t extent = -1;
  bool same = true;
  auto const look = [&](auto const& x) {
    if constexpr (Expression<decltype(x)>) {
      std::int64_t const mine = x.shape()[0];
      extents += (extents.empty() ? "" : ", ") + std::to_string(mine);
      same = same && (extent < 0 || extent == mine);
      extent = mine;
    }
  };
  (look(arguments), ...);
  if (!same)
    throw PreconditionError("vmap maps over leading axes of one extent, and these have " + extents +
                            ": make them equal, or pass what is the same for all as a number");
  return extent;
}

template <class X>
struct SpaceOf {
  using type = AnySpace;
};
template <Expression X>
struct SpaceOf<X> {
  using type = typename X::space;
};

/// A function that takes arrays where the original takes numbers and rows.
template <class F>
class Vmapped {
 public:
  explicit Vmapped(F f) : f_(std::move(f)) {}

  template <class... X>
    requires((Expression<X> || Scalar<X>) && ...) && (Expression<X> || ...) &&
            requires { typename common_space_t<typename SpaceOf<X>::type...>; }
  auto operator()(X const&... arguments) const {
    auto const extent = vmap_extent(arguments...);
    return launch(extent, vmap_argument(arguments)...);
  }

 private:
  template <class... X>
  auto launch(std::int64_t extent, X const&... arguments) const {
    using Space = common_space_t<typename SpaceOf<X>::type...>;
    using Exec = typename Space::execution_space;
    using R = std::remove_cvref_t<
        std::invoke_result_t<F const&, decltype(vmap_each(arguments).at(0))...>>;
    using T = typename ElementOfResult<R>::type;
    static_assert(Element<T>, "a function for vmap returns a number or a Kokkos::Array of numbers");
    constexpr auto components = static_cast<std::int64_t>(vector_size<R>);
    auto result = [&] {
      if constexpr (components == 0)
        return Array<T, 1, Space>(Shape<1>{extent});
      else
        return Array<T, 2, Space>(Shape<2>{extent, components});
    }();
    using Arguments = Pack<decltype(vmap_each(arguments))...>;
    VmapBody<F, Arguments, R> const body{f_, {{vmap_each(arguments)}...}, result.data()};
    if (extent == 0) return result;
    // Calls may be dear and differ in cost, so on hosts a thread takes a few at a time.
    using Policy = Kokkos::RangePolicy<Exec, Kokkos::Schedule<Kokkos::Dynamic>,
                                       Kokkos::IndexType<std::int64_t>>;
    Exec const exec = instance<Exec>();
    Policy policy(exec, 0, extent);
    if constexpr (runs_on_host<Exec>)
      policy.set_chunk_size(
          static_cast<int>(std::clamp<std::int64_t>(extent / (16 * exec.concurrency()), 1, 4096)));
    Kokkos::parallel_for("coir::array::vmap", policy, body);
    return result;
  }

  F f_;
};

}  // namespace detail

/// Maps f over the leading axis of its arguments: vmap(f)(a, b, ...) calls f once per leading index, all in
/// one kernel, with a number for each argument of one axis, a Row for each of two, and what is a number as
/// it is.
///
/// Where f returns a number the result has shape (n,); where it returns a Kokkos::Array<T, m>, (n, m).
/// Arguments that are expressions are evaluated first. On hosts the calls are shared among threads one by
/// one, on devices each has a thread of its own.
///
/// \param f  a callable that kernels can use: KOKKOS_LAMBDA, or a struct with KOKKOS_FUNCTION
/// \throws PreconditionError naming the extents if the leading ones differ
template <class F>
auto vmap(F f) {
  return detail::Vmapped<F>(std::move(f));
}

}  // namespace coir
