#pragma once

/// \file
/// The kernels that reduce an expression along one axis.
///
/// If the axis is the last one, each row is folded as reduce() folds a box. Otherwise stretches of
/// rows are folded into each other, so that memory is read in its order. The order of folding
/// depends on the shape alone.

#include <coir/array/array.hpp>
#include <coir/array/detail/reduce.hpp>
#include <coir/array/detail/scaled_product.hpp>
#include <coir/core/tasks.hpp>

#include <memory>
#include <string>

namespace coir::detail {

/// Folds along an axis that isn't the last one, for element (row, column) of the result.
template <class Kernel, class Monoid, int Outer>
struct AcrossRows {
  using Value = typename Monoid::value_type;
  using Result = typename Monoid::result_type;
  Kernel kernel;
  Monoid monoid;
  RowNumbers<Outer> numbers;  // of the result
  int axis;
  std::int64_t columns;

  /// One element, over the indices [begin, end) of the axis.
  KOKKOS_FORCEINLINE_FUNCTION Value cell(std::int64_t row, std::int64_t column, std::int64_t begin,
                                         std::int64_t end) const {
    Place<Outer> at = numbers.place(row);
    Value value = monoid.neutral();
    for (std::int64_t k = begin; k < end; ++k) {
      at.index[axis] = k;
      monoid.fold(value, kernel.cell(at, column), k);
    }
    return value;
  }

  /// At most gathered_stretch elements of a row from `first` on, pairwise over [begin, end). Hosts
  /// only.
  void stretch(std::int64_t row, std::int64_t first, std::int64_t count, std::int64_t begin,
               std::int64_t end, Value* values) const {
    constexpr std::int64_t in_turn = 64;
    if (end - begin > in_turn) {
      Value half[gathered_stretch];
      std::int64_t const middle = begin + (end - begin) / 2;
      stretch(row, first, count, begin, middle, values);
      stretch(row, first, count, middle, end, half);
      for (std::int64_t c = 0; c < count; ++c) monoid.join(values[c], half[c]);
      return;
    }
    for (std::int64_t c = 0; c < count; ++c) values[c] = monoid.neutral();
    if constexpr (folds_rows<Monoid>) {
      using Products = ModerateProducts<gathered_stretch>;
      for (std::int64_t k = begin; k < end; k += Products::most_factors) {
        std::int64_t const to = std::min(end, k + Products::most_factors);
        Products products;
        products.clear(static_cast<int>(count));
        for_rows(row, first, count, k, to, [&](std::int64_t, auto const& elements) {
          multiply_row(elements, count, products);
        });
        if (products.valid(static_cast<int>(count)))
          for (std::int64_t c = 0; c < count; ++c) monoid.join(values[c], products.of_lane(c));
        else
          fold_rows(row, first, count, k, to, values);
      }
    } else {
      fold_rows(row, first, count, begin, end, values);
    }
  }

 private:
  /// Calls visit(k, elements) for the stretch at each index k from begin to end of the axis.
  template <class Visit>
  void for_rows(std::int64_t row, std::int64_t first, std::int64_t count, std::int64_t begin,
                std::int64_t end, Visit const& visit) const {
    Place<Outer> at = numbers.place(row);
    for (std::int64_t k = begin; k < end; ++k) {
      at.index[axis] = k;
      Scratch<Kernel::scratch_bytes> scratch;
      visit(k, kernel.row(at, first, count, scratch));
    }
  }

  void fold_rows(std::int64_t row, std::int64_t first, std::int64_t count, std::int64_t begin,
                 std::int64_t end, Value* values) const {
    for_rows(row, first, count, begin, end,
             [&](std::int64_t k, auto const& elements) { fold_row(elements, count, k, values); });
  }

  template <class Row, class Products>
  static void multiply_row(Row const elements, std::int64_t count, Products& products) {
    COIR_INDEPENDENT_ITERATIONS
    for (std::int64_t c = 0; c < count; ++c) products.multiply(c, static_cast<double>(elements[c]));
  }

  template <class Row>
  void fold_row(Row const elements, std::int64_t count, std::int64_t k, Value* values) const {
    COIR_INDEPENDENT_ITERATIONS
    for (std::int64_t c = 0; c < count; ++c) monoid.fold(values[c], elements[c], k);
  }
};

/// The number of parts of an axis that different threads fold, if there are few results. It depends
/// on the shape alone.
inline std::int64_t parts_of_axis(std::int64_t stretches, std::int64_t width, std::int64_t length) {
  constexpr std::int64_t tasks = 64, worth_a_task = 16384;  // cells
  return std::clamp<std::int64_t>(
      std::min(tasks / std::max<std::int64_t>(stretches, 1), width * length / worth_a_task), 1,
      std::max<std::int64_t>(length, 1));
}

template <class Exec, class Body, class Result>
void fold_across_rows_on_host(Exec const& exec, Body const& body, std::int64_t rows,
                              std::int64_t length, Result* out) {
  using Value = typename Body::Value;
  std::int64_t const columns = body.columns;
  std::int64_t const across = (columns + gathered_stretch - 1) / gathered_stretch;
  std::int64_t const parts =
      parts_of_axis(rows * across, std::min(columns, gathered_stretch), length);
  std::int64_t const cells = rows * columns;
  // Not a std::vector, which packs bool.
  auto const partial =
      std::make_unique<Value[]>(static_cast<std::size_t>(parts > 1 ? parts * cells : 0));
  Value* const partials = partial.get();

  std::int64_t const tasks = rows * across * parts;
  auto const fold = [=](std::int64_t task) {
    std::int64_t const part = task % parts, at = task / parts;
    std::int64_t const row = at / across, first = at % across * gathered_stretch;
    std::int64_t const count = std::min(gathered_stretch, columns - first);
    Value values[gathered_stretch];
    body.stretch(row, first, count, length * part / parts, length * (part + 1) / parts, values);
    std::int64_t const to = row * columns + first;
    if (parts > 1)
      std::copy(values, values + count, partials + part * cells + to);
    else
      for (std::int64_t c = 0; c < count; ++c) out[to + c] = body.monoid.result(values[c]);
  };
  // A small array isn't worth a second thread.
  std::int64_t const threads = threads_worth_starting(exec, cells * length, tasks);
  for_each_task("coir::array::reduce_axis", exec, threads, [=](std::int64_t s) {
    for (std::int64_t task = tasks * s / threads; task < tasks * (s + 1) / threads; ++task)
      fold(task);
  });
  if (parts == 1) return;
  for (std::int64_t width = 1; width < parts; width *= 2)
    for (std::int64_t part = 0; part + width < parts; part += 2 * width)
      for (std::int64_t c = 0; c < cells; ++c)
        body.monoid.join(partials[part * cells + c], partials[(part + width) * cells + c]);
  for (std::int64_t c = 0; c < cells; ++c) out[c] = body.monoid.result(partials[c]);
}

/// Folds each row to a number: few long rows one by one, by all threads; many rows by a thread
/// each.
template <class Exec, class Body, class Monoid, class Result>
void fold_rows_on_host(Exec const& exec, Body const& body, Monoid const& monoid, std::int64_t rows,
                       std::int64_t columns, Result* out) {
  using Value = typename Monoid::value_type;
  constexpr std::int64_t many = 64, in_turn = 64;
  if (rows < many && columns > cells_worth_a_thread) {
    for (std::int64_t row = 0; row < rows; ++row) {
      Value value;
      reduce("coir::array::reduce_axis", exec, box({row, std::int64_t(0)}, {row + 1, columns}),
             body, MonoidReducer<Monoid>(monoid, value));
      out[row] = monoid.result(value);
    }
    return;
  }
  std::int64_t const threads = threads_worth_starting(exec, rows * columns, rows);
  for_each_task("coir::array::reduce_axis", exec, threads, [=](std::int64_t s) {
    for (std::int64_t row = rows * s / threads; row < rows * (s + 1) / threads; ++row) {
      Value value = monoid.neutral();
      if (!folds_rows<Monoid> && columns <= in_turn) {
        auto const terms = body.terms(row, 0, columns);
        for (std::int64_t c = 0; c < columns; ++c) terms(c, value);
      } else {
        Rows<2, std::int64_t> const one(box({row, std::int64_t(0)}, {row + 1, columns}));
        value = fold_cells(one, 0, columns, body, MonoidReducer<Monoid>(monoid, value));
      }
      out[row] = monoid.result(value);
    }
  });
}

/// One team per result, whose threads share the axis.
template <class Body, class Monoid, class Result, bool AcrossIt>
struct TeamFold {
  using Value = typename Monoid::value_type;
  Body body;
  Monoid monoid;
  std::int64_t columns, length;
  Result* out;

  template <class Member>
  KOKKOS_FUNCTION void operator()(Member const& member) const {
    std::int64_t const cell = member.league_rank();
    Value value = monoid.neutral();
    Kokkos::parallel_reduce(Kokkos::TeamThreadRange(member, static_cast<int>(member.team_size())),
                            Share{*this, cell, member.team_size()},
                            MonoidReducer<Monoid>(monoid, value));
    if (member.team_rank() == 0) out[cell] = monoid.result(value);
  }

 private:
  struct Share {
    TeamFold const& fold;
    std::int64_t cell;
    std::int64_t threads;
    KOKKOS_FORCEINLINE_FUNCTION void operator()(int thread, Value& value) const {
      for (std::int64_t k = thread; k < fold.length; k += threads) {
        if constexpr (AcrossIt)
          fold.monoid.join(value,
                           fold.body.cell(cell / fold.columns, cell % fold.columns, k, k + 1));
        else
          fold.body(cell, k, value);
      }
    }
  };
};

/// One thread per result.
template <class Body, class Monoid, class Result, bool AcrossIt>
struct ThreadFold {
  using Value = typename Monoid::value_type;
  Body body;
  Monoid monoid;
  std::int64_t columns, length;
  Result* out;

  KOKKOS_FUNCTION void operator()(std::int64_t cell) const {
    Value value = monoid.neutral();
    if constexpr (AcrossIt)
      value = body.cell(cell / columns, cell % columns, 0, length);
    else
      for (std::int64_t k = 0; k < length; ++k) body(cell, k, value);
    out[cell] = monoid.result(value);
  }
};

template <bool AcrossIt, class Exec, class Body, class Monoid, class Result>
void fold_on_device(Exec const& exec, Body const& body, Monoid const& monoid, std::int64_t cells,
                    std::int64_t columns, std::int64_t length, Result* out) {
  // With a thread per result, threads of a warp read neighbouring elements across rows, which is
  // fastest unless there are few results.
  bool const teams = AcrossIt ? cells < 16384 && length >= 256 : length > 32;
  constexpr std::int64_t most = std::numeric_limits<int>::max();
  if (teams && cells <= most) {
    using Fold = TeamFold<Body, Monoid, Result, AcrossIt>;
    Kokkos::parallel_for("coir::array::reduce_axis",
                         Kokkos::TeamPolicy<Exec>(exec, static_cast<int>(cells), 128),
                         Fold{body, monoid, columns, length, out});
  } else {
    using Fold = ThreadFold<Body, Monoid, Result, AcrossIt>;
    Kokkos::parallel_for("coir::array::reduce_axis",
                         Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(exec, 0, cells),
                         Fold{body, monoid, columns, length, out});
  }
}

/// *out = the result of *value.
template <class Monoid>
struct StoreResult {
  Monoid monoid;
  typename Monoid::value_type const* value;
  typename Monoid::result_type* out;
  KOKKOS_FORCEINLINE_FUNCTION void operator()(int) const { *out = monoid.result(*value); }
};

/// All elements of an expression, at least one, folded on a device into an element there. Doesn't
/// wait.
template <class Space, class Exec, class E, class Monoid, class Result>
void fold_all_on_device(Exec const& exec, E const& expression, Monoid const& monoid, Result* out) {
  using Value = typename Monoid::value_type;
  auto const block = MemoryPool<Space>::allocate(sizeof(Value));
  auto* const value = static_cast<Value*>(block.get());
  fold_all(exec, expression, monoid, MonoidReducer<Monoid, Space>(monoid, *value));
  for_each("coir::array::reduce_axis", exec, box({1}), StoreResult<Monoid>{monoid, value, out});
}

/// Folds an expression along one of its axes, which the result lacks.
template <class E, class Monoid>
auto reduce_axis(E const& expression, int axis, Monoid const& monoid) {
  constexpr int rank = E::rank;
  static_assert(rank >= 1, "a single number has no axes");
  constexpr int outer = rank - 1;
  using Space = std::conditional_t<std::is_same_v<typename E::space, AnySpace>, DefaultSpace,
                                   typename E::space>;
  using Exec = typename Space::execution_space;
  using Result = typename Monoid::result_type;
  if (axis < -rank || axis >= rank)
    throw PreconditionError("axis " + std::to_string(axis) + " is none of an array of shape " +
                            in_words(expression.shape()));
  if (axis < 0) axis += rank;
  Shape<rank> const shape = expression.shape();
  Shape<rank - 1> rest{};
  for (int d = 0, to = 0; d < rank; ++d)
    if (d != axis) rest[to++] = shape[d];
  Array<Result, rank - 1, Space> result(rest);
  std::int64_t const cells = size_of(rest), length = shape[axis];
  if (cells == 0) return result;

  Exec const exec = instance<Exec>();
  Fold<rank> fold(shape);
  fold.keep_apart(axis);
  add_leaves(fold, expression);
  fold.close();
  int const position = fold.position(axis);
  auto const kernel = expression.kernel(fold);
  using Kernel = std::remove_const_t<decltype(kernel)>;
  auto numbers = RowNumbers<outer>::of(fold);

  if constexpr (outer > 0) {
    if (position != rank - 1) {
      numbers.extent[position] = 1;
      AcrossRows<Kernel, Monoid, outer> const body{kernel, monoid, numbers, position,
                                                   fold.columns()};
      if constexpr (runs_on_host<Exec>)
        fold_across_rows_on_host(exec, body, cells / fold.columns(), length, result.data());
      else
        fold_on_device<true>(exec, body, monoid, cells, fold.columns(), length, result.data());
      return result;
    }
    // Elements are numbered along the axis: every row begins with 0.
    ReduceBody<Kernel, Monoid, outer> const body{kernel, monoid, numbers, 0, fold.narrow()};
    if constexpr (runs_on_host<Exec>)
      fold_rows_on_host(exec, body, monoid, cells, length, result.data());
    else
      fold_on_device<false>(exec, body, monoid, cells, 0, length, result.data());
  } else if (runs_on_host<Exec> || length == 0) {
    result = reduce_all(expression, monoid);
  } else if constexpr (!runs_on_host<Exec>) {
    fold_all_on_device<Space>(immediate<Exec>("a reduction of all elements"), expression, monoid,
                              result.data());
  }
  return result;
}

}  // namespace coir::detail
