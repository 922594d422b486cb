#pragma once

/// \file
/// The kernels that reduce an expression to a number, without storing it.

#include <coir/array/detail/assign.hpp>
#include <coir/array/expression.hpp>
#include <coir/core/instance.hpp>
#include <coir/core/loops.hpp>
#include <coir/core/reducer.hpp>

#include <limits>

namespace coir::detail {

/// Whether a monoid has fold_row(): see monoids.hpp.
template <class Monoid>
inline constexpr bool folds_rows =
    requires(Monoid const& monoid, typename Monoid::value_type& value, double const* row) {
      monoid.fold_row(value, row, std::int64_t(0), std::int64_t(0));
    };

template <class Kernel, class Monoid, int Outer>
struct ReduceBody {
  using Value = typename Monoid::value_type;
  Kernel kernel;
  Monoid monoid;
  RowNumbers<Outer> numbers;
  std::int64_t columns;

  bool narrow;

  // One cell, on devices.
  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t column, Value& value) const
    requires(Outer == 0)
  {
    (*this)(0, column, value);
  }
  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t row, std::int64_t column,
                                              Value& value) const {
    std::int64_t const number = row * columns + column;
    if (narrow)
      monoid.fold(value, element(static_cast<std::int32_t>(row), static_cast<std::int32_t>(column)),
                  number);
    else
      monoid.fold(value, element(row, column), number);
  }

  /// The terms of a stretch of a row, on hosts.
  struct Terms {
    Scratch<Kernel::scratch_bytes> scratch;
    decltype(std::declval<Kernel const&>().row(Place<Outer>{}, 0, 0, scratch)) row;
    Monoid monoid;
    std::int64_t begin, number;

    Terms(ReduceBody const& body, Place<Outer> const& at, std::int64_t first, std::int64_t end,
          std::int64_t number_of_first)
        : row(body.kernel.row(at, first, end - first, scratch)),
          monoid(body.monoid),
          begin(first),
          number(number_of_first) {}
    Terms(Terms const&) = delete;  // `row` may point into `scratch`

    void operator()(std::int64_t column, Value& value) const {
      monoid.fold(value, row[column - begin], number + column);
    }
  };
  /// How many elements terms() takes at most: see reduce().
  std::int64_t longest_terms() const {
    return kernel.direct() ? std::numeric_limits<std::int64_t>::max() : gathered_stretch;
  }
  Terms terms(std::int64_t begin, std::int64_t end) const
    requires(Outer == 0)
  {
    return Terms(*this, Place<0>{}, begin, end, 0);
  }
  Terms terms(std::int64_t row, std::int64_t begin, std::int64_t end) const
    requires(Outer > 0)
  {
    return Terms(*this, numbers.place(row), begin, end, row * columns);
  }

  /// Folds a stretch of a row, on hosts, where the monoid does that by itself.
  void fold(std::int64_t begin, std::int64_t end, Value& value) const
    requires(Outer == 0 && folds_rows<Monoid>)
  {
    monoid.fold_row(value, terms(begin, end).row, end - begin, begin);
  }
  void fold(std::int64_t row, std::int64_t begin, std::int64_t end, Value& value) const
    requires(Outer > 0 && folds_rows<Monoid>)
  {
    monoid.fold_row(value, terms(row, begin, end).row, end - begin, row * columns + begin);
  }

 private:
  template <class I>
  KOKKOS_FORCEINLINE_FUNCTION auto element(I row, I column) const {
    return kernel.cell(numbers.place(row), column);
  }
};

/// Folds neighbouring elements, the first of which has this index: by the monoid's fold_vector()
/// where it has one.
template <int Width, class Monoid, class Elements>
KOKKOS_FORCEINLINE_FUNCTION void fold_vector(Monoid const& monoid,
                                             typename Monoid::value_type& value,
                                             Elements const& elements, std::int64_t first) {
  if constexpr (requires { monoid.template fold_vector<Width>(value, elements, first); }) {
    monoid.template fold_vector<Width>(value, elements, first);
  } else {
    COIR_UNROLL
    for (int l = 0; l < Width; ++l) monoid.fold(value, elements[l], first + l);
  }
}

/// The kernel of a reduction on devices, vector by vector: see worth_vectors.
template <class Kernel, class Monoid, int Width>
struct ReduceVectors {
  Kernel kernel;
  Monoid monoid;

  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t number,
                                              typename Monoid::value_type& value) const {
    std::int64_t const first = number * Width;
    fold_vector<Width>(monoid, value, kernel.template vector<Width>(first), first);
  }
};

/// Calls launch(box, body) for the kernel that folds all elements of an expression by reduce().
template <class Exec, class E, class Monoid, class Launch>
void fold_all(Exec const&, E const& expression, Monoid const& monoid, Launch const& launch) {
  constexpr int rank = std::max(E::rank, 1);
  constexpr int outer = rank - 1;
  Shape<rank> shape;
  shape.fill(1);
  if constexpr (E::rank > 0) shape = expression.shape();
  Fold<rank> fold(shape);
  add_leaves(fold, expression);
  fold.close();
  auto const kernel = expression.kernel(fold);
  using Kernel = std::remove_const_t<decltype(kernel)>;
  ReduceBody<Kernel, Monoid, outer> const body{kernel, monoid, RowNumbers<outer>::of(fold),
                                               fold.columns(), fold.narrow()};

  constexpr int bytes = static_cast<int>(sizeof(value_t<E>));
  constexpr int width = bytes < 4 ? 16 / bytes : vector_width<value_t<E>>;
  if constexpr (!runs_on_host<Exec> && width > 1) {
    if (worth_vectors<width>(fold, kernel)) {
      launch(box({fold.columns() / width}), ReduceVectors<Kernel, Monoid, width>{kernel, monoid});
      return;
    }
  }
  if constexpr (outer == 0)
    launch(box({fold.columns()}), body);
  else
    launch(box({fold.rows(), fold.columns()}), body);
}

/// Folds all elements of an expression into one value, in one kernel.
template <class Exec, class E, class Monoid, class Space>
void fold_all(Exec const& exec, E const& expression, Monoid const& monoid,
              MonoidReducer<Monoid, Space> const& reducer) {
  fold_all(exec, expression, monoid, [&](auto const& box, auto const& body) {
    reduce("coir::array::reduce", exec, box, body, reducer);
  });
}

/// Folds all elements of an expression into one value, and returns its result. Waits.
template <class Monoid, class E>
typename Monoid::result_type reduce_all(E const& expression, Monoid const& monoid) {
  using Space = std::conditional_t<std::is_same_v<typename E::space, AnySpace>,
                                   Kokkos::DefaultExecutionSpace::memory_space, typename E::space>;
  auto const exec = immediate<typename Space::execution_space>("a reduction to a number");
  typename Monoid::value_type value;
  fold_all(exec, expression, monoid, MonoidReducer<Monoid>(monoid, value));
  return monoid.result(value);
}

}  // namespace coir::detail
