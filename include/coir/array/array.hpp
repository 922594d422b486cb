#pragma once

/// \file
/// Arrays and their slices.

#include <coir/array/detail/assign.hpp>
#include <coir/array/detail/where.hpp>
#include <coir/array/expression.hpp>
#include <coir/array/range.hpp>
#include <coir/core/concepts.hpp>
#include <coir/core/contiguous.hpp>
#include <coir/core/errors.hpp>
#include <coir/core/pool.hpp>
#include <coir/core/views.hpp>

#include <array>
#include <concepts>
#include <iterator>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

namespace coir {

/// The default memory space of arrays: that of Kokkos' default execution space.
using DefaultSpace = Kokkos::DefaultExecutionSpace::memory_space;

template <Element T, int Rank, class Space = DefaultSpace>
class Array;
template <class T, int Rank, class Space>
class Slice;
template <class Target, class Mask>
class Masked;

namespace detail {

/// The rank of the slice that these indices take of an array of rank `Rank`.
template <int Rank, class... I>
inline constexpr int indexed_rank =
    Rank - (0 + ... + (std::integral<I> ? 1 : 0)) + (0 + ... + (std::same_as<I, NewAxis> ? 1 : 0));

/// How many axes of an array these indices refer to.
template <class... I>
inline constexpr int axes_indexed = (0 + ... + (std::same_as<I, NewAxis> ? 0 : 1));

/// `T` may be assigned from `From` without cast<>: no complex number to a real one, no real one to
/// an integer.
template <class T, class From>
inline constexpr bool stores =
    (is_complex<T> || !is_complex<From>) && (!std::is_integral_v<T> || std::is_integral_v<From>) &&
    (!std::same_as<T, bool> || std::same_as<From, bool>);

template <class T, class From>
constexpr void check_stores() {
  static_assert(stores<T, From>,
                "an array of integers or bool takes no real numbers, and one of reals no complex "
                "numbers: write cast<T>(...), real(...) or a comparison");
}

[[noreturn]] void fail_without_memory();

[[noreturn]] void fail_by_index(std::int64_t index, std::int64_t extent, int axis);

/// The position of an integer index on an axis; a negative index counts from the end.
inline std::int64_t position(std::int64_t index, std::int64_t extent, int axis) {
  std::int64_t const at = index < 0 ? index + extent : index;
  if (at < 0 || at >= extent) fail_by_index(index, extent, axis);
  return at;
}

/// The slice that indices select. On hosts an integer for each axis gives a reference to an
/// element.
template <class T, int Rank, class Space, class... I>
decltype(auto) select(T* data, Shape<Rank> const& shape, Strides<Rank> const& strides,
                      std::shared_ptr<void> const& owner, I... indices) {
  constexpr int result_rank = indexed_rank<Rank, I...>;
  static_assert(result_rank <= 5, "too many new axes");
  Shape<result_rank> left{};
  Strides<result_rank> steps{};
  std::int64_t offset = 0;
  int axis = 0, to = 0;
  auto const place = [&](auto index) {
    using Kind = decltype(index);
    if constexpr (std::same_as<Kind, NewAxis>) {
      left[to] = 1;
      steps[to++] = 0;
    } else if constexpr (std::same_as<Kind, Range>) {
      auto const placed = index.on(shape[axis], axis);
      if (placed.count > 0) offset += placed.first * strides[axis];
      left[to] = placed.count;
      // For at most one element any stride will do, and the step may be too large to multiply.
      steps[to++] = (placed.count > 1 ? index.step : 1) * strides[axis];
      ++axis;
    } else {
      offset += position(as_index(index), shape[axis], axis) * strides[axis];
      ++axis;
    }
  };
  (place(indices), ...);
  for (; axis < Rank; ++axis) {
    left[to] = shape[axis];
    steps[to++] = strides[axis];
  }
  if constexpr (result_rank == 0 && runs_on_host<typename Space::execution_space>)
    return static_cast<T&>(data[offset]);
  else
    return Slice<T, result_rank, Space>(data + offset, left, steps, owner);
}

/// An iterator along the first axis of a slice: *i is a number, or a slice with one axis less.
template <class T, int Rank, class Space>
class AlongFirstAxis {
 public:
  using iterator_category = std::input_iterator_tag;
  using difference_type = std::int64_t;
  using value_type =
      std::conditional_t<Rank == 1, std::remove_const_t<T>, Slice<T, Rank - 1, Space>>;
  using reference = std::conditional_t<Rank == 1, T&, Slice<T, Rank - 1, Space>>;
  using pointer = void;

  AlongFirstAxis(Slice<T, Rank, Space> whole, std::int64_t at)
      : whole_(std::move(whole)), at_(at) {}

  reference operator*() const {
    if constexpr (Rank == 1)
      return whole_.data()[at_ * whole_.strides()[0]];
    else
      return whole_(at_);
  }
  AlongFirstAxis& operator++() {
    ++at_;
    return *this;
  }
  AlongFirstAxis operator++(int) {
    AlongFirstAxis const before = *this;
    ++at_;
    return before;
  }
  bool operator==(AlongFirstAxis const& other) const { return at_ == other.at_; }

 private:
  Slice<T, Rank, Space> whole_;
  std::int64_t at_;
};

template <class Space>
constexpr void check_loops_reach() {
  static_assert(runs_on_host<typename Space::execution_space>,
                "a loop on the host can't read this memory: loop over to_host(x)");
}

}  // namespace detail

/// Part of an array, seen through strides: NumPy's view. It keeps the array's memory alive. Copies
/// of a slice show the same elements. Assigning to a slice writes the elements.
///
/// \tparam T  the element type; const if it can't be written
template <class T, int Rank, class Space>
class Slice : public ExpressionBase {
 public:
  using value_type = std::remove_const_t<T>;
  using element_type = T;
  using space = Space;
  using Exec = typename Space::execution_space;
  static constexpr int rank = Rank;

  Slice(T* data, Shape<Rank> const& shape, Strides<Rank> const& strides,
        std::shared_ptr<void> owner)
      : data_(data), shape_(shape), strides_(strides), owner_(std::move(owner)) {}

  Slice(Slice const&) = default;
  Slice(Slice&&) = default;

  /// A read-only slice of the same elements.
  template <class U>
    requires(std::same_as<T, U const> && !std::is_const_v<U>)
  Slice(Slice<U, Rank, Space> const& other)
      : Slice(other.data(), other.shape(), other.strides(), other.owner()) {}

  T* data() const { return data_; }
  Shape<Rank> const& shape() const { return shape_; }
  Strides<Rank> const& strides() const { return strides_; }
  std::shared_ptr<void> const& owner() const { return owner_; }
  std::int64_t size() const { return size_of(shape_); }

  /// Whether the elements lie side by side in C order.
  bool contiguous() const { return is_c_order(shape_, strides_); }

  /// The slice as a Kokkos View, valid while the memory lives.
  auto view() const
    requires(Rank >= 1)
  {
    Kokkos::LayoutStride layout;
    for (int d = 0; d < Rank; ++d) {
      layout.dimension[d] = static_cast<std::size_t>(shape_[d]);
      layout.stride[d] = static_cast<std::size_t>(strides_[d]);
    }
    return UnmanagedView<T, Rank, Kokkos::LayoutStride, Space>(data_, layout);
  }

  /// NumPy's slicing. An integer selects one index of an axis and removes the axis; negative
  /// integers count from the end. A Range selects a part of an axis. newaxis adds an axis of one
  /// element. Axes without an index are whole. With an integer for each axis the result is a
  /// reference to the element on hosts, and on devices a slice of rank 0, which converts to the
  /// number.
  ///
  /// \throws PreconditionError if an index or bound is outside of its axis
  template <Index... I>
    requires(detail::axes_indexed<I...> <= Rank)
  decltype(auto) operator()(I... indices) const {
    return detail::select<T, Rank, Space>(data_, shape_, strides_, owner_, indices...);
  }

  /// The elements where a mask of bool is true, to assign to: see Masked.
  template <Expression M>
    requires std::same_as<value_t<M>, bool> && (!std::is_const_v<T>)
  auto operator()(M&& mask) const {
    return Masked(*this, operand(std::forward<M>(mask)));
  }

  /// Writes values, stretched to the slice's shape, in one kernel. An expression that reads the
  /// slice itself reads the elements from before the statement.
  ///
  /// \throws PreconditionError if the values' shape doesn't stretch to the slice's
  template <Expression E>
    requires(!std::is_const_v<T>) && SameSpace<Slice, E>
  Slice const& operator=(E const& values) const {
    assign(values);
    return *this;
  }
  // NOLINTNEXTLINE(bugprone-unhandled-self-assignment): assign() looks for overlaps
  Slice const& operator=(Slice const& values) const
    requires(!std::is_const_v<T>)
  {
    assign(values);
    return *this;
  }
  template <Scalar S>
    requires(!std::is_const_v<T>)
  Slice const& operator=(S const& number) const {
    detail::check_stores<T, weak_t<value_type, S>>();
    assign(Constant<T>(detail::number_as<T>(number)));
    return *this;
  }

  /// For loops along the first axis, `for (auto const& row : x)`: over the numbers of a vector, or
  /// over slices with one axis less. Waits once, at the start, for kernels that may write them.
  detail::AlongFirstAxis<T, Rank, Space> begin() const
    requires(Rank >= 1)
  {
    detail::check_loops_reach<Space>();
    Exec{}.fence();
    return {*this, 0};
  }
  detail::AlongFirstAxis<T, Rank, Space> end() const
    requires(Rank >= 1)
  {
    return {*this, shape_[0]};
  }

  /// The number itself, for rank 0. Waits for kernels that may still write it.
  value_type item() const
    requires(Rank == 0)
  {
    if constexpr (runs_on_host<Exec>) {
      detail::immediate<Exec>("item()").fence();
      return *data_;
    } else {
      detail::immediate<Exec>("item()");
      value_type result;
      copy_bytes<Kokkos::HostSpace, Space>(&result, data_, sizeof result);
      return result;
    }
  }
  operator value_type() const
    requires(Rank == 0)
  {
    return item();
  }

  // The rvalue overload moves the owner: no reference count.
  Slice<value_type const, Rank, Space> as_operand() const& {
    return {data_, shape_, strides_, owner_};
  }
  Slice<value_type const, Rank, Space> as_operand() && {
    return {data_, shape_, strides_, std::move(owner_)};
  }

  template <class Visit>
  void visit_leaves(Visit const& visit) const {
    visit(*this);
  }

  template <int Target>
  auto kernel(detail::Fold<Target> const& fold) const {
    return detail::slice_kernel<value_type const, Target - 1>(
        data_, detail::stretched_strides<Target>(*this), fold);
  }

 private:
  template <Expression E>
  void assign(E const& values) const {
    detail::check_stores<T, typename E::value_type>();
    static_assert(E::rank <= Rank, "the values have more axes than what they are written into");
    expects_fits(values.shape(), shape_);
    if (detail::overlaps<Rank>(data_, strides_, sizeof(T), shape_, values)) {
      Array<value_type, E::rank, Space> const copy(values);
      detail::assign_now<Rank>(detail::instance<Exec>(), data_, strides_, shape_, copy.all());
    } else {
      detail::assign_now<Rank>(detail::instance<Exec>(), data_, strides_, shape_, values);
    }
  }

  T* data_;
  Shape<Rank> shape_;
  Strides<Rank> strides_;
  std::shared_ptr<void> owner_;
};

/// An array of numbers of rank 0 to 4, contiguous in C order. Copies have their own elements.
/// Memory comes from a pool (see MemoryPool) and isn't initialised.
///
/// Expressions of arrays are evaluated when they are assigned, in one kernel:
///
///     Array<float, 2> u = zeros<float>(m, n);
///     u(range(1, -1), 0) = 1;
///     Array<float, 2> v = sqrt(u) + 0.5 * u;
///
/// \tparam T      bool, an integer type, float, double, `Kokkos::complex<float>` or
///                `Kokkos::complex<double>`
/// \tparam Space  a Kokkos memory space; kernels run in its execution space
template <Element T, int Rank, class Space>
class Array : public ExpressionBase {
  static_assert(Rank >= 0 && Rank <= 4, "arrays have 0 to 4 axes");

 public:
  using value_type = T;
  using space = Space;
  using Exec = typename Space::execution_space;
  static constexpr int rank = Rank;

  /// No elements and no memory yet: may only be assigned to.
  Array() = default;

  /// An array whose elements are not initialised.
  ///
  /// \throws PreconditionError if an extent is negative or the size overflows
  /// \throws ResourceError if there is not enough memory
  explicit Array(Shape<Rank> const& shape) : shape_(shape) {
    expects_allocatable(shape, sizeof(T));
    owner_ = MemoryPool<Space>::allocate(size() * static_cast<std::int64_t>(sizeof(T)));
    data_ = static_cast<T*>(owner_.get());
  }

  /// An array over existing memory, which `owner` keeps alive unless it is null: see borrow().
  Array(T* data, Shape<Rank> const& shape, std::shared_ptr<void> owner)
      : data_(data), shape_(shape), owner_(std::move(owner)) {}

  Array(Array const& other) : Array(other.has_memory() ? Array(other.shape_) : Array()) {
    if (has_memory()) all() = other.all();
  }
  Array(Array&& other) noexcept { swap(other); }

  /// The values of an expression.
  template <Expression E>
    requires(rank_of<E> == Rank) && SameSpace<Array, E>
  Array(E const& values) : Array(values.shape()) {
    all() = values;
  }

  /// The values of an expression, written into this array's memory if the shape is the same, and
  /// into new memory if not.
  template <Expression E>
    requires(rank_of<E> == Rank) && SameSpace<Array, E>
  Array& operator=(E const& values) {
    if (has_memory() && shape_ == values.shape()) {
      all() = values;
    } else {
      Array fresh(values);
      swap(fresh);
    }
    return *this;
  }
  Array& operator=(Array const& other) {
    if (this == &other) return *this;
    if (has_memory() && other.has_memory() && shape_ == other.shape_) {
      all() = other.all();
    } else {
      Array fresh(other);
      swap(fresh);
    }
    return *this;
  }
  Array& operator=(Array&& other) noexcept {
    Array taken(std::move(other));
    swap(taken);
    return *this;
  }

  /// Sets all elements to a number.
  template <Scalar S>
  Array& operator=(S const& number) {
    all() = number;
    return *this;
  }

  void swap(Array& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(shape_, other.shape_);
    std::swap(owner_, other.owner_);
  }

  /// False for a default-constructed or moved-from array.
  bool has_memory() const { return data_ != nullptr; }

  Shape<Rank> const& shape() const { return shape_; }
  std::int64_t extent(int axis) const { return shape_[axis]; }
  std::int64_t size() const { return size_of(shape_); }
  Strides<Rank> strides() const { return c_strides(shape_); }

  T* data() { return data_; }
  T const* data() const { return data_; }

  /// The whole array as a slice.
  ///
  /// \throws PreconditionError if the array has no memory
  Slice<T, Rank, Space> all() {
    if (!has_memory()) detail::fail_without_memory();
    return {data_, shape_, c_strides(shape_), owner_};
  }
  Slice<T const, Rank, Space> all() const {
    if (!has_memory()) detail::fail_without_memory();
    return {data_, shape_, c_strides(shape_), owner_};
  }

  Slice<T const, Rank, Space> as_operand() const { return all(); }

  template <class Visit>
  void visit_leaves(Visit const& visit) const {
    visit(all());
  }

  template <int Target>
  auto kernel(detail::Fold<Target> const& fold) const {
    return all().kernel(fold);
  }

  /// A slice: see Slice::operator().
  template <Index... I>
    requires(detail::axes_indexed<I...> <= Rank) && (sizeof...(I) > 0)
  decltype(auto) operator()(I... indices) {
    if (!has_memory()) detail::fail_without_memory();
    return detail::select<T, Rank, Space>(data_, shape_, strides(), owner_, indices...);
  }
  template <Index... I>
    requires(detail::axes_indexed<I...> <= Rank) && (sizeof...(I) > 0)
  decltype(auto) operator()(I... indices) const {
    if (!has_memory()) detail::fail_without_memory();
    return detail::select<T const, Rank, Space>(data_, shape_, strides(), owner_, indices...);
  }

  /// The elements where a mask of bool holds: see Masked.
  template <Expression M>
    requires std::same_as<value_t<M>, bool>
  auto operator()(M&& mask) {
    return all()(std::forward<M>(mask));
  }

  /// The array as a Kokkos View, valid while the array lives and keeps its shape.
  auto view() { return view_of(data_); }
  auto view() const { return view_of(static_cast<T const*>(data_)); }

  /// The elements in C order, of arrays in host memory. Waits for kernels that may still write
  /// them.
  std::span<T> span()
    requires runs_on_host<Exec>
  {
    Exec{}.fence();
    return {data_, static_cast<std::size_t>(has_memory() ? size() : 0)};
  }
  std::span<T const> span() const
    requires runs_on_host<Exec>
  {
    Exec{}.fence();
    return {data_, static_cast<std::size_t>(has_memory() ? size() : 0)};
  }

  /// For loops along the first axis: see Slice::begin().
  detail::AlongFirstAxis<T, Rank, Space> begin()
    requires(Rank >= 1)
  {
    detail::check_loops_reach<Space>();
    Exec{}.fence();
    return {all(), 0};
  }
  detail::AlongFirstAxis<T, Rank, Space> end()
    requires(Rank >= 1)
  {
    return {all(), shape_[0]};
  }
  detail::AlongFirstAxis<T const, Rank, Space> begin() const
    requires(Rank >= 1)
  {
    detail::check_loops_reach<Space>();
    Exec{}.fence();
    return {all(), 0};
  }
  detail::AlongFirstAxis<T const, Rank, Space> end() const
    requires(Rank >= 1)
  {
    return {all(), shape_[0]};
  }

  /// The number itself, for rank 0.
  T item() const
    requires(Rank == 0)
  {
    return all().item();
  }
  operator T() const
    requires(Rank == 0)
  {
    return item();
  }

 private:
  template <class U>
  auto view_of(U* data) const {
    using V = UnmanagedView<U, Rank, Kokkos::LayoutRight, Space>;
    return std::apply(
        [&](auto... extents) { return V(data, static_cast<std::size_t>(extents)...); }, shape_);
  }

  T* data_ = nullptr;
  Shape<Rank> shape_{};
  std::shared_ptr<void> owner_;
};

/// The elements of a slice where a mask is true, to assign to: `x(x < 0) = 0`. Values are numbers,
/// or expressions that stretch to the slice's whole shape: NumPy's copyto(x, values, where=mask).
template <class Target, class Mask>
class Masked {
 public:
  /// \throws PreconditionError if the mask doesn't stretch to the slice
  Masked(Target target, Mask mask) : target_(std::move(target)), mask_(std::move(mask)) {
    expects_fits(mask_.shape(), target_.shape());
  }

  template <Expression E>
    requires SameSpace<Target, E>
  void operator=(E&& values) const {
    detail::check_stores<value_t<Target>, value_t<E>>();
    target_ = map(detail::Where{}, mask_, map(Convert{}, std::forward<E>(values)), target_);
  }
  template <Scalar S>
  void operator=(S const& number) const {
    detail::check_stores<value_t<Target>, weak_t<value_t<Target>, S>>();
    using T = value_t<Target>;
    target_ = map(detail::Where{}, mask_, Constant<T>(detail::number_as<T>(number)), target_);
  }

  template <class V>
  void operator+=(V&& value) const {
    *this = target_ + std::forward<V>(value);
  }
  template <class V>
  void operator-=(V&& value) const {
    *this = target_ - std::forward<V>(value);
  }
  template <class V>
  void operator*=(V&& value) const {
    *this = target_ * std::forward<V>(value);
  }
  template <class V>
  void operator/=(V&& value) const {
    *this = target_ / std::forward<V>(value);
  }

  /// Converts values to the target's type. Public, because the code that nvcc generates for kernels
  /// names it.
  struct Convert {
    template <class V>
    KOKKOS_FORCEINLINE_FUNCTION value_t<Target> operator()(V const& value) const {
      return detail::stored<value_t<Target>>(value);
    }
  };

 private:
  Target target_;
  Mask mask_;
};

namespace detail {

/// The values of an expression, for functions without a derivative: autodiff overloads evaluate(),
/// and not this function.
template <Expression E>
auto evaluated(E const& expression) {
  using S = typename E::space;
  using Space = std::conditional_t<std::is_same_v<S, AnySpace>, DefaultSpace, S>;
  return Array<value_t<E>, rank_of<E>, Space>(expression);
}

}  // namespace detail

/// A copy of an expression's values: NumPy's copy, JAX's jnp.array.
template <Expression E>
auto evaluate(E const& expression) {
  return detail::evaluated(expression);
}

/// A number, such as a reduction's result, is evaluated already.
template <Scalar Number>
Number evaluate(Number number) {
  return number;
}

/// A copy of an expression's values: evaluate() by its name in NumPy.
template <Expression E>
auto copy(E const& expression) {
  return evaluate(expression);
}

}  // namespace coir
