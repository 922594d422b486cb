#pragma once

/// \file
/// The kernels that reduce expressions of duals and write the gradient in the same pass.

#include <coir/array/fold.hpp>
#include <coir/core/loops.hpp>
#include <coir/core/pack.hpp>
#include <coir/core/reducer.hpp>

#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace coir::detail {

/// The longest stretch in a call of terms() by reduce() on hosts.
inline constexpr std::int64_t reduced_stretch = 512;

template <std::size_t I, class T>
KOKKOS_FORCEINLINE_FUNCTION T& item(PackItem<I, T>& pack) {
  return pack.value;
}
template <std::size_t I, class T>
KOKKOS_FORCEINLINE_FUNCTION T const& item(PackItem<I, T> const& pack) {
  return pack.value;
}

/// The contribution of one reduction to the gradient: weight d(result)/d(element).
template <class Kind, class T>
struct WeightedSlope {
  Kind kind;
  T weight;
  typename Kind::value_type total;

  template <class V>
  KOKKOS_FORCEINLINE_FUNCTION T operator()(V const& element) const {
    return weight * static_cast<T>(kind.slope(total, element));
  }
};

/// The memory of the gradient: an array in C order for each argument.
template <class T, int N>
struct GradientArrays {
  T* data[N];

  KOKKOS_FORCEINLINE_FUNCTION GradientArrays from(std::int64_t offset) const {
    GradientArrays result;
    COIR_UNROLL
    for (int k = 0; k < N; ++k) result.data[k] = data[k] + offset;
    return result;
  }
};

/// Several reductions as one monoid.
template <class Indices, class... Kinds>
struct JoinedKinds;
template <std::size_t... I, class... Kinds>
struct JoinedKinds<std::index_sequence<I...>, Kinds...> {
  using value_type = Pack<typename Kinds::value_type...>;
  Pack<Kinds...> kinds;

  KOKKOS_FORCEINLINE_FUNCTION value_type neutral() const { return {{item<I>(kinds).neutral()}...}; }
  KOKKOS_FORCEINLINE_FUNCTION void join(value_type& into, value_type const& other) const {
    (item<I>(kinds).join(item<I>(into), item<I>(other)), ...);
  }
};

/// A kernel that folds the values of duals, writes their derivatives, or both.
///
/// \tparam T  the element type of the gradient
/// \tparam N  the number of arguments
template <bool Folds, bool Writes, class T, int N, int Outer, class Indices, class Kernels,
          class... Kinds>
struct GradientBody;
template <bool Folds, bool Writes, class T, int N, int Outer, std::size_t... I, class Kernels,
          class... Kinds>
struct GradientBody<Folds, Writes, T, N, Outer, std::index_sequence<I...>, Kernels, Kinds...> {
  using Slopes = Pack<WeightedSlope<Kinds, T>...>;
  using Value = typename JoinedKinds<std::index_sequence<I...>, Kinds...>::value_type;
  Kernels kernels;  // a Pack, one for each reduction
  Slopes slopes;
  GradientArrays<T, N> gradient;
  RowNumbers<Outer> numbers;
  std::int64_t columns;

  // One element, on devices.
  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t column, Value& value) const
    requires(Outer == 0 && Folds)
  {
    cell(Place<0>{}, 0, column, value);
  }
  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t row, std::int64_t column,
                                              Value& value) const
    requires(Outer > 0 && Folds)
  {
    cell(numbers.place(row), row * columns, column, value);
  }
  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t column) const
    requires(Outer == 0 && !Folds)
  {
    Value none;
    cell(Place<0>{}, 0, column, none);
  }
  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t row, std::int64_t column) const
    requires(Outer > 0 && !Folds)
  {
    Value none;
    cell(numbers.place(row), row * columns, column, none);
  }

  /// A stretch of a row, on hosts: the gradient is written at once and the values are kept, so that
  /// one plain loop does all the arithmetic.
  class Terms {
   public:
    Terms(GradientBody const& body, Place<Outer> const& at, std::int64_t row_offset,
          std::int64_t begin, std::int64_t end)
        : slopes_(body.slopes), begin_(begin), offset_(row_offset) {
      body.stretch_at(at, row_offset, begin, end - begin, values_);
    }
    Terms(Terms const&) = delete;

    void operator()(std::int64_t column, Value& into) const {
      (item<I>(slopes_).kind.fold(item<I>(into), item<I>(values_).element[column - begin_],
                                  offset_ + column),
       ...);
    }

   private:
    friend GradientBody;
    template <class V>
    struct Kept {
      V element[reduced_stretch];
    };
    Pack<Kept<typename Kinds::result_type>...> values_;
    Slopes slopes_;
    std::int64_t begin_, offset_;
  };

  std::int64_t longest_terms() const { return reduced_stretch; }
  Terms terms(std::int64_t begin, std::int64_t end) const
    requires(Outer == 0 && Folds)
  {
    return Terms(*this, Place<0>{}, 0, begin, end);
  }
  Terms terms(std::int64_t row, std::int64_t begin, std::int64_t end) const
    requires(Outer > 0 && Folds)
  {
    return Terms(*this, numbers.place(row), row * columns, begin, end);
  }

  void stretch(std::int64_t begin, std::int64_t end) const
    requires(Outer == 0 && !Folds)
  {
    stretches(Place<0>{}, 0, begin, end);
  }
  void stretch(std::int64_t row, std::int64_t begin, std::int64_t end) const
    requires(Outer > 0 && !Folds)
  {
    stretches(numbers.place(row), row * columns, begin, end);
  }

 private:
  struct Nothing {};

  KOKKOS_FORCEINLINE_FUNCTION void cell(Place<Outer> const& at, std::int64_t row_offset,
                                        std::int64_t column, Value& value) const {
    T sum[N] = {};
    (one_cell<I>(at, row_offset, column, value, sum), ...);
    if constexpr (Writes) {
      COIR_UNROLL
      for (int k = 0; k < N; ++k) gradient.data[k][row_offset + column] = sum[k];
    }
  }

  template <std::size_t J>
  KOKKOS_FORCEINLINE_FUNCTION void one_cell(Place<Outer> const& at, std::int64_t row_offset,
                                            std::int64_t column, Value& value, T (&sum)[N]) const {
    auto const e = item<J>(kernels).cell(at, column);
    auto const& slope = item<J>(slopes);
    if constexpr (Folds) slope.kind.fold(item<J>(value), e.value, row_offset + column);
    if constexpr (Writes) add(slope, e, sum);
  }

  template <class Slope, class E>
  KOKKOS_FORCEINLINE_FUNCTION static void add(Slope const& slope, E const& e, T (&sum)[N]) {
    T const factor = slope(e.value);
    COIR_UNROLL
    for (int k = 0; k < N; ++k) sum[k] += factor * static_cast<T>(e.derivative[k]);
  }

  void stretches(Place<Outer> const& at, std::int64_t row_offset, std::int64_t begin,
                 std::int64_t end) const {
    Nothing nothing;
    for (; begin < end; begin += reduced_stretch)
      stretch_at(at, row_offset, begin, std::min(reduced_stretch, end - begin), nothing);
  }

  template <class Values>
  void stretch_at(Place<Outer> const& at, std::int64_t row_offset, std::int64_t first,
                  std::int64_t count, Values& values) const {
    kernels.apply_on_host([&](auto const&... kernel) {
      Scratch<(std::remove_cvref_t<decltype(kernel)>::scratch_bytes + ... + 0)> scratch;
      GradientArrays<T, N> out{};
      if constexpr (Writes) out = gradient.from(row_offset + first);
      run(Pack<decltype(kernel.row(at, first, count, scratch))...>{{kernel.row(at, first, count,
                                                                               scratch)}...},
          slopes, out, count, values);
    });
  }

  // Rows and slopes by value, so that the compiler sees that they don't change.
  template <class Rows, class Values>
  static void run(Rows const rows, Slopes const slopes, GradientArrays<T, N> const out,
                  std::int64_t count, Values& values) {
    COIR_INDEPENDENT_ITERATIONS
    for (std::int64_t c = 0; c < count; ++c) {
      T sum[N] = {};
      (one_of_stretch<I>(rows, slopes, c, values, sum), ...);
      if constexpr (Writes)
        for (int k = 0; k < N; ++k) out.data[k][c] = sum[k];
    }
  }

  template <std::size_t J, class Rows, class Values>
  [[gnu::always_inline]] static void one_of_stretch(Rows const& rows, Slopes const& slopes,
                                                    std::int64_t c, Values& values, T (&sum)[N]) {
    auto const e = item<J>(rows)[c];
    if constexpr (Folds) item<J>(values).element[c] = e.value;
    if constexpr (Writes) add(item<J>(slopes), e, sum);
  }
};

}  // namespace coir::detail
