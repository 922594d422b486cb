#pragma once

/// \file
/// Functions that make arrays: NumPy's zeros, arange, linspace and their like. The element type is
/// a template argument, double by default, and a shape is a list of extents: zeros<float>(m, n).

#include <coir/array/functions.hpp>
#include <coir/core/contiguous.hpp>
#include <coir/core/strided.hpp>

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <span>

namespace coir {

namespace detail {

template <class... N>
concept Extents = (std::integral<N> && ...);

template <class... N>
Shape<sizeof...(N)> shape_of(N... extents) {
  return {static_cast<std::int64_t>(extents)...};
}

/// first + i step, with the product and the sum rounded. Integers wrap around.
template <class T>
struct Progression {
  T first, step;
  KOKKOS_FORCEINLINE_FUNCTION T operator()(std::int64_t i) const {
    if constexpr (std::integral<T>)
      return static_cast<T>(static_cast<std::uint64_t>(first) +
                            static_cast<std::uint64_t>(i) * static_cast<std::uint64_t>(step));
    else
      return first + math::rounded_product(static_cast<T>(i), step);
  }
};

/// How many of the numbers from, from + step, ... come before `to`.
template <std::integral I, std::integral S>
std::int64_t steps_before(I from, I to, S step) {
  bool const down = step < 0;
  if (down ? from <= to : from >= to) return 0;
  auto const unsigned_of = [](auto number) { return static_cast<std::uint64_t>(number); };
  std::uint64_t const by = down ? 0 - unsigned_of(step) : unsigned_of(step);
  std::uint64_t const distance =
      down ? unsigned_of(from) - unsigned_of(to) : unsigned_of(to) - unsigned_of(from);
  std::uint64_t const count = (distance - 1) / by + 1;
  expects(count <= unsigned_of(std::numeric_limits<std::int64_t>::max()),
          "the bounds and step of arange must give less than 2^63 elements", count);
  return static_cast<std::int64_t>(count);
}

/// The type that linspace computes in: double for float, rounded at the end only.
template <class T>
using linspace_t = std::common_type_t<T, double>;

/// low + i step, and high at the end.
template <class T>
struct Interpolation {
  linspace_t<T> low, high, step;
  std::int64_t last;
  KOKKOS_FORCEINLINE_FUNCTION T operator()(std::int64_t i) const {
    using Wide = linspace_t<T>;
    if (i == last && last > 0) return static_cast<T>(high);
    Wide const at = static_cast<Wide>(i);
    // Where the step rounds to 0, i / (count - 1) is multiplied by the difference.
    Wide const moved = step == Wide(0)
                           ? math::rounded_product(at / static_cast<Wide>(last), high - low)
                           : math::rounded_product(at, step);
    return static_cast<T>(last > 0 ? low + moved : low);
  }
};

struct Diagonal {
  std::int64_t above;
  KOKKOS_FORCEINLINE_FUNCTION bool operator()(std::int64_t i, std::int64_t j) const {
    return j - i == above;
  }
};

/// Writes rows of zeros with a one each, on hosts.
template <class T>
struct RowsOfEye {
  T* to;
  std::int64_t columns, above;
  void stretch(std::int64_t row, std::int64_t begin, std::int64_t end) const {
    std::fill(to + row * columns + begin, to + row * columns + end, T(0));
    std::int64_t const one = above < columns ? row + above : columns;
    if (one >= begin && one < end) to[row * columns + one] = T(1);
  }
};

template <int Rank, int Axis>
struct IndexAlong {
  template <class... I>
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t operator()(I... indices) const {
    std::int64_t const all[] = {indices...};
    return all[Axis];
  }
};

}  // namespace detail

/// An array whose elements are not initialised.
template <Element T = double, class Space = DefaultSpace, std::size_t Rank>
auto empty(std::array<std::int64_t, Rank> const& shape) {
  return Array<T, static_cast<int>(Rank), Space>(shape);
}
template <Element T = double, class Space = DefaultSpace, std::integral... N>
auto empty(N... extents) {
  return empty<T, Space>(detail::shape_of(extents...));
}
template <Element T = double, class Space = DefaultSpace, std::size_t Rank>
auto empty(std::int64_t const (&shape)[Rank]) {
  return empty<T, Space>(std::to_array(shape));
}

/// An array whose elements all have one value: full({m, n}, 7.0). The element type is that of the
/// number by default.
template <Element T, class Space = DefaultSpace, std::size_t Rank>
auto full(std::array<std::int64_t, Rank> const& shape, T value) {
  auto result = empty<T, Space>(shape);
  result = value;
  return result;
}
template <Element T, class Space = DefaultSpace, std::size_t Rank>
auto full(std::int64_t const (&shape)[Rank], T value) {
  return full<T, Space>(std::to_array(shape), value);
}

/// An array of zeros: zeros<float>(m, n), zeros<float>({m, n}), or zeros<float>(other.shape()).
template <Element T = double, class Space = DefaultSpace, std::size_t Rank>
auto zeros(std::array<std::int64_t, Rank> const& shape) {
  return full<T, Space>(shape, T(0));
}
template <Element T = double, class Space = DefaultSpace, std::integral... N>
auto zeros(N... extents) {
  return zeros<T, Space>(detail::shape_of(extents...));
}
template <Element T = double, class Space = DefaultSpace, std::size_t Rank>
auto zeros(std::int64_t const (&shape)[Rank]) {
  return zeros<T, Space>(std::to_array(shape));
}

/// An array of ones, with the forms of zeros.
template <Element T = double, class Space = DefaultSpace, std::size_t Rank>
auto ones(std::array<std::int64_t, Rank> const& shape) {
  return full<T, Space>(shape, T(1));
}
template <Element T = double, class Space = DefaultSpace, std::integral... N>
auto ones(N... extents) {
  return ones<T, Space>(detail::shape_of(extents...));
}
template <Element T = double, class Space = DefaultSpace, std::size_t Rank>
auto ones(std::int64_t const (&shape)[Rank]) {
  return ones<T, Space>(std::to_array(shape));
}

/// The memory space of an array made from an expression: the space of its arrays, or the default
/// one.
template <class E>
using space_like = std::conditional_t<std::is_same_v<typename E::space, AnySpace>, DefaultSpace,
                                      typename E::space>;

/// An array of the shape, type and memory space of another. empty_like doesn't initialise it;
/// zeros_like, ones_like and full_like fill it with one number.
template <Expression E>
auto empty_like(E const& like) {
  return empty<value_t<E>, space_like<E>>(like.shape());
}
template <Expression E>
auto zeros_like(E const& like) {
  return zeros<value_t<E>, space_like<E>>(like.shape());
}
template <Expression E>
auto ones_like(E const& like) {
  return ones<value_t<E>, space_like<E>>(like.shape());
}
///
/// \throws PreconditionError if full_like's number is an integer that the type doesn't hold
template <Expression E, Scalar S>
auto full_like(E const& like, S const& value) {
  using T = value_t<E>;
  return full<T, space_like<E>>(like.shape(), detail::number_as<T>(value));
}

/// f(i, j, ...) for all indices of a shape, as an expression. f takes Rank indices of std::int64_t
/// and can be called in kernels (KOKKOS_LAMBDA).
///
/// \throws PreconditionError if an extent is negative
template <class F, std::size_t Rank>
  requires(Rank >= 1)
auto index_map(std::array<std::int64_t, Rank> const& shape, F f) {
  expects_allocatable(shape, 1);
  return IndexMap<F, static_cast<int>(Rank)>(shape, std::move(f));
}
template <class F, std::size_t Rank>
auto index_map(std::int64_t const (&shape)[Rank], F f) {
  return index_map(std::to_array(shape), std::move(f));
}

/// An array of f(i, j, ...): NumPy's fromfunction.
template <class Space = DefaultSpace, class F, std::size_t Rank>
  requires(Rank >= 1)
auto from_function(std::array<std::int64_t, Rank> const& shape, F f) {
  auto const values = index_map(shape, std::move(f));
  return Array<value_t<decltype(values)>, static_cast<int>(Rank), Space>(values);
}
template <class Space = DefaultSpace, class F, std::size_t Rank>
auto from_function(std::int64_t const (&shape)[Rank], F f) {
  return from_function<Space>(std::to_array(shape), std::move(f));
}

/// start, start + step, ... before stop, with NumPy's bits: element i is start + i d, where d =
/// (start + step) - start, with each operation rounded. If step is a fraction, rounding may make
/// the last element stop, as in NumPy: linspace is safer.
///
/// \throws PreconditionError if step is 0 or not finite
template <Element T, class Space = DefaultSpace>
Array<T, 1, Space> arange(T start, T stop, T step = T(1)) {
  static_assert(!is_complex<T> && !std::same_as<T, bool>, "arange makes integers and reals");
  expects(step != T(0), "the step of arange must not be 0");
  std::int64_t count;
  T distance = step;
  if constexpr (std::floating_point<T>) {
    using Wide = std::common_type_t<T, double>;
    expects(math::isfinite(step), "the step of arange must be finite", step);
    Wide const steps = std::ceil((static_cast<Wide>(stop) - static_cast<Wide>(start)) / step);
    expects(std::abs(steps) < Wide(9.0e18),
            "the bounds and step of arange must give less than 2^63 elements", steps);
    count = static_cast<std::int64_t>(steps);
    T const second = start + step;
    distance = second - start;
  } else {
    count = detail::steps_before(start, stop, step);
  }
  return from_function<Space>(Shape<1>{std::max<std::int64_t>(count, 0)},
                              detail::Progression<T>{start, distance});
}

/// 0, 1, ... stop - 1.
template <Element T, class Space = DefaultSpace>
Array<T, 1, Space> arange(T stop) {
  return arange<T, Space>(T(0), stop);
}

/// start, start + step, ... before stop, of a given integer type: arange<std::uint8_t>(0, 256). The
/// elements must fit the type; the bounds and the step needn't.
///
/// \throws PreconditionError if an element doesn't fit, or step is 0
template <std::integral T, class Space = DefaultSpace, std::integral A, std::integral B,
          std::integral C>
  requires(!std::same_as<T, bool> &&
           !(std::same_as<A, T> && std::same_as<B, T> && std::same_as<C, T>))
Array<T, 1, Space> arange(A start, B stop, C step) {
  expects(step != 0, "the step of arange must not be 0");
  auto const from = detail::number_as<std::int64_t>(start),
             by = detail::number_as<std::int64_t>(step);
  std::int64_t const count = detail::steps_before(from, detail::number_as<std::int64_t>(stop), by);
  if (count > 0) {
    std::int64_t const last = detail::Progression<std::int64_t>{from, by}(count - 1);
    using Limits = std::numeric_limits<T>;
    auto const fits = [](std::int64_t n) {
      return !detail::exactly_less(n, Limits::min()) && !detail::exactly_less(Limits::max(), n);
    };
    if (!fits(from) || !fits(last))
      throw PreconditionError("arange of numbers from " + std::to_string(Limits::min()) + " to " +
                              std::to_string(Limits::max()) + " can't begin with " +
                              std::to_string(from) + " and end with " + std::to_string(last) +
                              ": take a larger type");
  }
  return from_function<Space>(Shape<1>{count},
                              detail::Progression<T>{static_cast<T>(from), static_cast<T>(by)});
}
template <std::integral T, class Space = DefaultSpace, std::integral A, std::integral B>
  requires(!std::same_as<T, bool> && !(std::same_as<A, T> && std::same_as<B, T>))
Array<T, 1, Space> arange(A start, B stop) {
  return arange<T, Space>(start, stop, std::int64_t(1));
}
template <std::integral T, class Space = DefaultSpace, std::integral B>
  requires(!std::same_as<T, bool> && !std::same_as<B, T>)
Array<T, 1, Space> arange(B stop) {
  return arange<T, Space>(B(0), stop);
}

namespace detail {
template <class A, class B>
using mixed_bounds_t = std::conditional_t<std::is_integral_v<A> && std::is_integral_v<B>,
                                          std::int64_t, promote_t<A, B>>;
}

/// start, start + step, ... with bounds and step of different types: arange(0, 1, 0.1). Integers
/// alone become std::int64_t. Beside a real number they become its type.
template <int = 0, Element A, Element B>
  requires(!std::same_as<A, B>)
auto arange(A start, B stop) {
  using T = detail::mixed_bounds_t<A, B>;
  return arange<T>(static_cast<T>(start), static_cast<T>(stop));
}
template <int = 0, Element A, Element B, Element C>
  requires(!std::same_as<A, B> || !std::same_as<B, C>)
auto arange(A start, B stop, C step) {
  using T = detail::mixed_bounds_t<detail::mixed_bounds_t<A, B>, C>;
  return arange<T>(static_cast<T>(start), static_cast<T>(stop), static_cast<T>(step));
}

/// `count` numbers at equal distances from low to high, both included, with NumPy's bits: element i
/// is low + i ((high - low) / (count - 1)), with each operation rounded, and the last is high.
/// float is computed in double.
///
/// \throws PreconditionError if count is negative
template <RealElement T = double, class Space = DefaultSpace>
Array<T, 1, Space> linspace(detail::linspace_t<T> low, detail::linspace_t<T> high,
                            std::int64_t count) {
  expects(count >= 0, "linspace makes 0 or more numbers", count);
  using Wide = detail::linspace_t<T>;
  std::int64_t const last = std::max<std::int64_t>(count - 1, 0);
  Wide const step = last > 0 ? (high - low) / static_cast<Wide>(last) : Wide(0);
  return from_function<Space>(Shape<1>{count}, detail::Interpolation<T>{low, high, step, last});
}

/// base to the power of linspace(low, high, count).
template <RealElement T = double, class Space = DefaultSpace>
Array<T, 1, Space> logspace(std::type_identity_t<T> low, std::type_identity_t<T> high,
                            std::int64_t count, std::type_identity_t<T> base = 10) {
  return pow(base, linspace<T, Space>(low, high, count));
}

/// An n x m matrix, by default n x n, with ones on the diagonal that lies `above` columns above the
/// main one, and zeros elsewhere.
template <Element T = double, class Space = DefaultSpace>
Array<T, 2, Space> eye(std::int64_t n, std::int64_t m, std::int64_t above = 0) {
  using Exec = typename Space::execution_space;
  if constexpr (runs_on_host<Exec>) {
    auto result = empty<T, Space>(n, m);
    for_each("coir::array::creation/eye", detail::instance<Exec>(), box<2, std::int64_t>({n, m}),
             detail::RowsOfEye<T>{result.data(), m, above});
    return result;
  } else {
    return cast<T>(index_map(Shape<2>{n, m}, detail::Diagonal{above}));
  }
}
template <Element T = double, class Space = DefaultSpace>
Array<T, 2, Space> eye(std::int64_t n) {
  return eye<T, Space>(n, n);
}

/// The index along an axis of a shape, as an expression of std::int64_t: NumPy's
/// indices(shape)[Axis], not stored.
///
/// \throws PreconditionError if an extent is negative
template <int Axis, std::size_t Rank>
  requires(Axis >= 0 && Axis < static_cast<int>(Rank))
auto indices(std::array<std::int64_t, Rank> const& shape) {
  return index_map(shape, detail::IndexAlong<static_cast<int>(Rank), Axis>{});
}
template <int Axis, std::size_t Rank>
auto indices(std::int64_t const (&shape)[Rank]) {
  return indices<Axis>(std::to_array(shape));
}

/// Coordinates of a grid, x along rows and y along columns: slices of shapes (1, n) and (m, 1),
/// which broadcast against each other. NumPy's meshgrid(x, y, sparse=True).
template <Expression X, Expression Y>
  requires(rank_of<X> == 1 && rank_of<Y> == 1)
auto meshgrid(X const& x, Y const& y) {
  return std::pair(x.as_operand()(newaxis, range()), y.as_operand()(range(), newaxis));
}

/// An array with a copy of elements in host memory, in C order.
///
/// \throws PreconditionError if their number isn't the shape's size
template <class Space = DefaultSpace, class T, std::size_t Size, std::size_t Rank>
auto from_span(std::span<T, Size> elements, std::array<std::int64_t, Rank> const& shape) {
  using Value = std::remove_const_t<T>;
  auto result = empty<Value, Space>(shape);
  if (static_cast<std::int64_t>(elements.size()) != result.size())
    throw PreconditionError(std::to_string(elements.size()) + " elements don't fill shape " +
                            in_words(shape));
  detail::immediate<typename Space::execution_space>("a copy from host memory");
  copy_bytes<Space, Kokkos::HostSpace>(result.data(), elements.data(),
                                       static_cast<std::int64_t>(elements.size_bytes()));
  return result;
}
template <class Space = DefaultSpace, class T, std::size_t Size, std::size_t Rank>
auto from_span(std::span<T, Size> elements, std::int64_t const (&shape)[Rank]) {
  return from_span<Space>(elements, std::to_array(shape));
}

namespace detail {

/// Numbers between braces, as elements of type T.
template <class T, class Space, class Number>
Array<T, 1, Space> array_of(std::initializer_list<Number> elements) {
  auto const values = std::make_unique<T[]>(elements.size());
  std::copy(elements.begin(), elements.end(), values.get());
  return from_span<Space>(std::span<T const>(values.get(), elements.size()),
                          Shape<1>{static_cast<std::int64_t>(elements.size())});
}
template <class T, class Space, class Number>
Array<T, 2, Space> array_of(std::initializer_list<std::initializer_list<Number>> rows) {
  Shape<2> const shape{static_cast<std::int64_t>(rows.size()),
                       rows.size() == 0 ? 0 : static_cast<std::int64_t>(rows.begin()->size())};
  auto const elements = std::make_unique<T[]>(static_cast<std::size_t>(size_of(shape)));
  std::size_t at = 0;
  for (auto const& row : rows) {
    if (static_cast<std::int64_t>(row.size()) != shape[1])
      throw PreconditionError("the rows of an array must be equally long: the first has " +
                              std::to_string(shape[1]) + " elements, another " +
                              std::to_string(row.size()));
    for (Number const& element : row) elements[at++] = element;
  }
  return from_span<Space>(std::span<T const>(elements.get(), at), shape);
}

/// One of several integers of different types, between braces.
class WholeNumber {
 public:
  template <std::integral N>
  WholeNumber(N number) : value_(static_cast<std::int64_t>(number)) {
    if constexpr (std::is_unsigned_v<N>)
      expects(value_ >= 0, "integers of different types make an array of int64, up to 2^63 - 1",
              number);
  }
  operator std::int64_t() const { return value_; }

 private:
  std::int64_t value_;
};

/// One of several numbers of different types, between braces.
class RealNumber {
 public:
  template <class N>
    requires std::is_arithmetic_v<N>
  RealNumber(N number) : value_(static_cast<double>(number)) {}
  operator double() const { return value_; }

 private:
  double value_;
};

}  // namespace detail

/// An array of the numbers in a braced list, of rank 1 or 2: array({1., 2., 3.}),
/// array({{1, 2}, {3, 4}}). Integers of different types become std::int64_t. Integers beside real
/// numbers become double.
///
/// \throws PreconditionError if rows differ in length
template <Element T, class Space = DefaultSpace>
Array<T, 1, Space> array(std::initializer_list<T> elements) {
  return detail::array_of<T, Space>(elements);
}
template <Element T, class Space = DefaultSpace>
Array<T, 2, Space> array(std::initializer_list<std::initializer_list<T>> rows) {
  return detail::array_of<T, Space>(rows);
}
// For integers the compiler prefers this function to the one for real numbers, because it is no
// template.
inline Array<std::int64_t, 1> array(std::initializer_list<detail::WholeNumber> elements) {
  return detail::array_of<std::int64_t, DefaultSpace>(elements);
}
inline Array<std::int64_t, 2> array(
    std::initializer_list<std::initializer_list<detail::WholeNumber>> rows) {
  return detail::array_of<std::int64_t, DefaultSpace>(rows);
}
template <int = 0>
Array<double, 1> array(std::initializer_list<detail::RealNumber> elements) {
  return detail::array_of<double, DefaultSpace>(elements);
}
template <int = 0>
Array<double, 2> array(std::initializer_list<std::initializer_list<detail::RealNumber>> rows) {
  return detail::array_of<double, DefaultSpace>(rows);
}

/// An array over the memory of a Kokkos View in C order without gaps. Writing to the array writes
/// to the View. A managed View is kept alive; the memory of an unmanaged one must outlive the
/// array.
///
/// \throws PreconditionError if the elements lie otherwise: use slice_of
template <StridedView V>
  requires(static_cast<int>(V::rank) <= 4)
auto borrow(V const& view) {
  static_assert(
      !std::is_const_v<typename V::value_type>,
      "arrays can be written: borrow a View of elements that aren't const, or use slice_of");
  auto const elements = strided(view);
  expects(is_c_order(elements),
          "an array can only borrow a View in C order without gaps between rows: use slice_of");
  return Array<typename V::value_type, static_cast<int>(V::rank), typename V::memory_space>(
      view.data(), elements.extents, std::make_shared<V>(view));
}

/// A slice of the elements of any strided View (LayoutRight, LayoutLeft, LayoutStride), without a
/// copy. It keeps a managed View alive. Elements can be written unless they are const. Statements
/// that write them follow the order of their memory: LayoutLeft is as fast as LayoutRight if the
/// operands have the layout of the target.
///
/// \throws PreconditionError if elements that can be written share an address, as with a stride of
///   0: make them const
template <StridedView V>
auto slice_of(V const& view) {
  auto const elements = strided(view);
  if constexpr (!std::is_const_v<typename V::value_type>)
    expects_distinct_elements(elements.extents, elements.strides,
                              "a slice of elements that aren't const");
  return Slice<typename V::value_type, static_cast<int>(V::rank), typename V::memory_space>(
      view.data(), elements.extents, elements.strides,
      std::make_shared<std::remove_const_t<V>>(view));
}

/// An array over elements in host memory, in C order, which must outlive it.
///
/// \throws PreconditionError if their number isn't the shape's size
template <class T, std::size_t Size, std::size_t Rank>
  requires(!std::is_const_v<T>)
auto borrow(std::span<T, Size> elements, std::array<std::int64_t, Rank> const& shape) {
  if (static_cast<std::int64_t>(elements.size()) != size_of(shape))
    throw PreconditionError(std::to_string(elements.size()) + " elements don't fill shape " +
                            in_words(shape));
  return Array<T, static_cast<int>(Rank), Kokkos::HostSpace>(elements.data(), shape, nullptr);
}
template <class T, std::size_t Size, std::size_t Rank>
  requires(!std::is_const_v<T>)
auto borrow(std::span<T, Size> elements, std::int64_t const (&shape)[Rank]) {
  return borrow(elements, std::to_array(shape));
}

namespace detail {
template <class To, Expression E>
auto moved_to(E const& expression) {
  auto const values = detail::evaluated(expression);
  using T = value_t<E>;
  Array<T, rank_of<E>, To> result(values.shape());
  immediate<typename decltype(values)::Exec>("a copy to another memory space");
  copy_bytes<To, typename decltype(values)::space>(
      result.data(), values.data(), values.size() * static_cast<std::int64_t>(sizeof(T)));
  return result;
}
}  // namespace detail

/// The values in host memory, where span() and plain loops can read them. Waits.
template <Expression E>
auto to_host(E const& expression) {
  using S = space_like<E>;
  if constexpr (std::is_same_v<S, Kokkos::HostSpace>)
    return Array<value_t<E>, rank_of<E>, S>(expression);
  else
    return detail::moved_to<Kokkos::HostSpace>(expression);
}

/// The values in the default execution space's memory. Waits.
template <Expression E>
auto to_device(E const& expression) {
  using S = space_like<E>;
  if constexpr (std::is_same_v<S, DefaultSpace>)
    return Array<value_t<E>, rank_of<E>, S>(expression);
  else
    return detail::moved_to<DefaultSpace>(expression);
}

}  // namespace coir
