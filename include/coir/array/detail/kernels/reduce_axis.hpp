#pragma once

/// \file
/// The kernels that reduce an expression along one axis.
///
/// On hosts: if the axis is the last one, each row is folded as reduce() folds a box; if not, whole
/// stretches of rows are folded into each other, so that memory is read in its order. On devices
/// few results are folded in parts. The order of folding depends on the shape, and on how the
/// arrays lie in memory, alone.

#include <coir/array/array.hpp>
#include <coir/array/detail/reduce.hpp>
#include <coir/array/detail/scaled_product.hpp>
#include <coir/core/tasks.hpp>

#include <bit>
#include <memory>
#include <string>
#include <type_traits>

namespace coir::detail {

/// Folds along an axis that isn't the last one, for element (row, column) of the result, on hosts.
template <class Kernel, class Monoid, int Outer>
struct AcrossRows {
  using Value = typename Monoid::value_type;
  Kernel kernel;
  Monoid monoid;
  RowNumbers<Outer> numbers;  // of the result
  int axis;
  std::int64_t columns;
  std::int64_t together =
      1;  // indices of the axis that are taken as one, which lie side by side in memory

  /// So many indices are folded one after the other.
  static constexpr std::int64_t in_turn = 64;
  static constexpr bool has_columns =
      requires { typename Monoid::template Columns<gathered_stretch>; };

  /// At most gathered_stretch elements of a row from `first` on, pairwise over [begin, end),
  /// counted in `together` indices.
  void stretch(std::int64_t row, std::int64_t first, std::int64_t count, std::int64_t begin,
               std::int64_t end, Value* values) const {
    if (end - begin > in_turn) {
      Value half[gathered_stretch];
      std::int64_t const middle = begin + (end - begin) / 2;
      stretch(row, first, count, begin, middle, values);
      stretch(row, first, count, middle, end, half);
      for (std::int64_t c = 0; c < count; ++c) monoid.join(values[c], half[c]);
      return;
    }
    for (std::int64_t c = 0; c < count; ++c) values[c] = monoid.neutral();
    if constexpr (has_columns) {
      using Columns = typename Monoid::template Columns<gathered_stretch>;
      for (std::int64_t k = begin; k < end; k += Columns::most_terms) {
        std::int64_t const to = std::min(end, k + Columns::most_terms);
        Columns folded;
        folded.clear(count);
        for_rows(row, first, count, k, to, [&](std::int64_t index, auto const& elements) {
          fold_columns(folded, elements, count, index - k);
        });
        if (folded.valid(count))
          for (std::int64_t c = 0; c < count; ++c) monoid.join(values[c], folded.of(c, k));
        else
          fold_rows(row, first, count, k, to, values);
      }
    } else {
      fold_rows(row, first, count, begin, end, values);
    }
  }

  /// The same for any number of elements. Each row is read as a whole, because memory is fastest in
  /// its order.
  ///
  /// \param spare  room for `count` values, for each time that [begin, end) is halved
  void whole_rows(std::int64_t row, std::int64_t first, std::int64_t count, std::int64_t begin,
                  std::int64_t end, Value* values, Value* spare) const {
    if (end - begin > in_turn) {
      std::int64_t const middle = begin + (end - begin) / 2;
      whole_rows(row, first, count, begin, middle, values, spare);
      whole_rows(row, first, count, middle, end, spare, spare + count);
      for (std::int64_t c = 0; c < count; ++c) monoid.join(values[c], spare[c]);
      return;
    }
    for (std::int64_t c = 0; c < count; ++c) values[c] = monoid.neutral();
    for (std::int64_t k = begin; k < end; ++k)
      for (std::int64_t c = 0; c < count; c += gathered_stretch)
        fold_rows(row, first + c, std::min(gathered_stretch, count - c), k, k + 1, values + c);
  }

  /// All of a few columns over the same indices, whose `together` rows have been taken as one.
  void rows(std::int64_t row, std::int64_t begin, std::int64_t end, Value* values) const {
    stretch(row, 0, together * columns, begin, end, values);
    if constexpr (requires { values->index; })
      for (std::int64_t c = 0; c < together * columns; ++c)
        if (values[c].index != Monoid::no_index)
          values[c].index = values[c].index * together + c / columns;
    for (std::int64_t left = together; left > 1; left -= left / 2) {
      std::int64_t const behind = (left - left / 2) * columns;
      for (std::int64_t c = 0; c < left / 2 * columns; ++c)
        monoid.join(values[c], values[behind + c]);
    }
  }

 private:
  /// Calls visit(k, elements) for the stretch at each index k from begin to end of the axis.
  template <class Visit>
  void for_rows(std::int64_t row, std::int64_t first, std::int64_t count, std::int64_t begin,
                std::int64_t end, Visit const& visit) const {
    Place<Outer> at = numbers.place(row);
    for (std::int64_t k = begin; k < end; ++k) {
      at.index[axis] = k * together;
      Scratch<Kernel::scratch_bytes> scratch;
      visit(k, kernel.row(at, first, count, scratch));
    }
  }

  void fold_rows(std::int64_t row, std::int64_t first, std::int64_t count, std::int64_t begin,
                 std::int64_t end, Value* values) const {
    for_rows(row, first, count, begin, end,
             [&](std::int64_t k, auto const& elements) { fold_row(elements, count, k, values); });
  }

  template <class Row, class Columns>
  static void fold_columns(Columns& folded, Row const elements, std::int64_t count,
                           std::int64_t k) {
    COIR_INDEPENDENT_ITERATIONS
    for (std::int64_t c = 0; c < count; ++c) folded.fold(c, elements[c], k);
  }

  template <class Row>
  void fold_row(Row const elements, std::int64_t count, std::int64_t k, Value* values) const {
    COIR_INDEPENDENT_ITERATIONS
    for (std::int64_t c = 0; c < count; ++c) monoid.fold(values[c], elements[c], k);
  }
};

/// How many parts of an axis are folded by different threads when there are few results: fixed by
/// the shape.
inline std::int64_t parts_of_axis(std::int64_t stretches, std::int64_t width, std::int64_t length) {
  constexpr std::int64_t tasks = 64, worth_a_task = 16384;  // cells
  return std::clamp<std::int64_t>(
      std::min(tasks / std::max<std::int64_t>(stretches, 1), width * length / worth_a_task), 1,
      std::max<std::int64_t>(length, 1));
}

/// \param could_join  whether the axis and the columns lie in memory as if they were one axis
template <class Exec, class Body, class Result>
void fold_across_rows_on_host(Exec const& exec, Body const& body, std::int64_t rows,
                              std::int64_t length, bool could_join, Result* out) {
  using Value = typename Body::Value;
  constexpr std::int64_t few_columns = 64;
  std::int64_t const columns = body.columns;
  std::int64_t const across = (columns + gathered_stretch - 1) / gathered_stretch;
  Body wide = body;
  if (could_join && columns <= few_columns && length >= gathered_stretch)
    wide.together = gathered_stretch / columns;
  std::int64_t const units = length / wide.together;
  std::int64_t const parts =
      std::min(std::max<std::int64_t>(units, 1),
               parts_of_axis(rows * across, std::min(columns, gathered_stretch), length));
  std::int64_t const cells = rows * columns;

  // Wide rows of large arrays are read as a whole, as far as their values stay in a core's cache.
  // Each part is halved, as whole_rows() would do, until there is enough for the threads.
  constexpr std::int64_t most_bytes = std::int64_t(1) << 18, large = std::int64_t(1) << 18,
                         values_at_once = most_bytes / static_cast<std::int64_t>(sizeof(Value));
  bool const reads_rows = !Body::has_columns && wide.together == 1 && columns > gathered_stretch &&
                          length >= Body::in_turn && cells * length >= large;
  std::int64_t const width = reads_rows ? std::min(columns, values_at_once) : gathered_stretch,
                     strips = (columns + width - 1) / width;
  int halvings = 0;
  if (reads_rows)
    while ((rows * strips * parts << halvings) < 4 * exec.concurrency() &&
           units / parts >= (Body::in_turn + 1) << halvings)
      ++halvings;
  std::int64_t const pieces = parts << halvings;
  // Not a std::vector, which packs bool.
  auto const partial =
      std::make_unique<Value[]>(static_cast<std::size_t>(pieces > 1 ? pieces * cells : 0));
  Value* const partials = partial.get();

  std::int64_t const tasks = rows * strips * pieces;
  auto const fold = [=](std::int64_t task) {
    std::int64_t const piece = task % pieces, part = piece >> halvings, at = task / pieces;
    std::int64_t const row = at / strips, first = at % strips * width;
    std::int64_t const count = std::min(width, columns - first);
    std::int64_t begin = units * part / parts, end = units * (part + 1) / parts;
    for (int h = halvings - 1; h >= 0; --h)
      ((piece >> h & 1) != 0 ? begin : end) = begin + (end - begin) / 2;
    auto const keep = [=](Value const* values) {
      std::int64_t const to = row * columns + first;
      if (pieces > 1)
        std::copy(values, values + count, partials + piece * cells + to);
      else
        for (std::int64_t c = 0; c < count; ++c) out[to + c] = body.monoid.result(values[c]);
    };
    if (reads_rows) {
      auto const halved = static_cast<std::int64_t>(
          std::bit_width(static_cast<std::uint64_t>((end - begin) / Body::in_turn)));
      auto const values = std::make_unique<Value[]>(static_cast<std::size_t>((halved + 2) * count));
      body.whole_rows(row, first, count, begin, end, values.get(), values.get() + count);
      keep(values.get());
      return;
    }
    Value values[gathered_stretch];
    if (wide.together == 1) {
      body.stretch(row, first, count, begin, end, values);
    } else {
      wide.rows(row, begin, end, values);
      if (part == parts - 1) {
        Value rest[few_columns];
        body.stretch(row, 0, columns, units * wide.together, length, rest);
        for (std::int64_t c = 0; c < columns; ++c) body.monoid.join(values[c], rest[c]);
      }
    }
    keep(values);
  };
  // A small array isn't worth a second thread.
  std::int64_t const threads = threads_worth_starting(exec, cells * length, tasks);
  for_each_task("coir::array::reduce_axis", exec, threads, [=](std::int64_t s) {
    for (std::int64_t task = tasks * s / threads; task < tasks * (s + 1) / threads; ++task)
      fold(task);
  });
  if (pieces == 1) return;
  auto const join_pairs = [&](std::int64_t from, std::int64_t behind, std::int64_t step) {
    for (std::int64_t apart = step; from + apart < behind; apart *= 2)
      for (std::int64_t piece = from; piece + apart < behind; piece += 2 * apart)
        for (std::int64_t c = 0; c < cells; ++c)
          body.monoid.join(partials[piece * cells + c], partials[(piece + apart) * cells + c]);
  };
  for (std::int64_t part = 0; part < parts; ++part)
    join_pairs(part << halvings, (part + 1) << halvings, 1);
  join_pairs(0, pieces, std::int64_t(1) << halvings);
  for (std::int64_t c = 0; c < cells; ++c) out[c] = body.monoid.result(partials[c]);
}

/// Folds rows along themselves: few long rows one by one, with all threads; many by each thread
/// alone.
template <class Exec, class Body, class Monoid, class Result>
void fold_rows_on_host(Exec const& exec, Body const& body, Monoid const& monoid, std::int64_t rows,
                       std::int64_t columns, Result* out) {
  using Value = typename Monoid::value_type;
  using Reducer = MonoidReducer<Monoid>;
  constexpr std::int64_t many = 64, in_turn = 64;
  if (rows < many && columns > cells_worth_a_thread) {
    for (std::int64_t row = 0; row < rows; ++row) {
      Value value;
      reduce("coir::array::reduce_axis", exec, box({row, std::int64_t(0)}, {row + 1, columns}),
             body, Reducer(monoid, value));
      out[row] = monoid.result(value);
    }
    return;
  }
  std::int64_t const threads = threads_worth_starting(exec, rows * columns, rows);
  for_each_task("coir::array::reduce_axis", exec, threads, [=](std::int64_t s) {
    auto const fold_row = [&](std::int64_t row) {
      Value value = monoid.neutral();
      Reducer const reducer(monoid, value);
      // Lanes vectorise numbers alone.
      if constexpr (folds_rows<Monoid>) {
        if (columns <= in_turn) {
          body.fold(row, 0, columns, value);
          return value;
        }
      } else if constexpr (std::is_arithmetic_v<Value>) {
        if (columns > in_turn && columns <= gathered_stretch)
          return fold_in_lanes<16>(columns, body.terms(row, 0, columns), reducer);
        // Few numbers that round are added in turn, as across rows: a column that is alone in an
        // array is a row, and has the bits that it has among others.
        if (!rounds<Reducer> && columns >= 8 && columns <= in_turn)
          return fold_in_lanes<8>(columns, body.terms(row, 0, columns), reducer);
      }
      if (columns > in_turn) {
        Rows<2, std::int64_t> const one(box({row, std::int64_t(0)}, {row + 1, columns}));
        return fold_cells(one, 0, columns, body, reducer);
      }
      auto const terms = body.terms(row, 0, columns);
      for (std::int64_t c = 0; c < columns; ++c) terms(c, value);
      return value;
    };
    for (std::int64_t row = rows * s / threads; row < rows * (s + 1) / threads; ++row)
      out[row] = monoid.result(fold_row(row));
  });
}

/// Rows of so few elements, of arrays that all lie side by side, are folded in vectors of rows:
/// starts of rows would take longer than their elements.
inline constexpr std::int64_t least_short_row = 2, most_short_row = 4;

template <int Length, class Exec, class Kernel, class Monoid, int Outer, class Result>
void fold_short_rows_of(Exec const& exec, ReduceBody<Kernel, Monoid, Outer> const& body,
                        std::int64_t rows, Result* out) {
  std::int64_t const threads = threads_worth_starting(exec, rows * Length, rows);
  for_each_task("coir::array::reduce_axis/short", exec, threads, [=](std::int64_t s) {
    std::int64_t const begin = rows * s / threads, end = rows * (s + 1) / threads;
    Scratch<0> none;
    auto const elements = body.kernel.template row<true>(Place<Outer>{}, begin * Length,
                                                         (end - begin) * Length, none);
    Monoid const monoid = body.monoid;
    Result* const results = out + begin;
    COIR_INDEPENDENT_ITERATIONS
    for (std::int64_t r = 0; r < end - begin; ++r) {
      auto value = monoid.neutral();
      for (int c = 0; c < Length; ++c) monoid.fold(value, elements[r * Length + c], c);
      results[r] = monoid.result(value);
    }
  });
}

/// \param body  of a kernel whose arrays are single rows, all of whose elements lie side by side
template <class Exec, class Body, class Result>
void fold_short_rows_on_host(Exec const& exec, Body const& body, std::int64_t rows,
                             std::int64_t length, Result* out) {
  if (length == 2) fold_short_rows_of<2>(exec, body, rows, out);
  if (length == 3) fold_short_rows_of<3>(exec, body, rows, out);
  if (length == 4) fold_short_rows_of<4>(exec, body, rows, out);
}

/// Calls fold(load(k), k) for k = first, first + step, ... below `length`. Several loads are under
/// way at a time, because a device's thread waits for all of them at once.
template <int Loads, class Load, class FoldOne>
KOKKOS_FORCEINLINE_FUNCTION void fold_steps(std::int64_t first, std::int64_t step,
                                            std::int64_t length, Load const& load,
                                            FoldOne const& fold) {
  decltype(load(first)) some[Loads];
  std::int64_t k = first;
  for (; k + (Loads - 1) * step < length; k += Loads * step) {
    COIR_UNROLL
    for (int l = 0; l < Loads; ++l) some[l] = load(k + l * step);
    COIR_UNROLL
    for (int l = 0; l < Loads; ++l) fold(some[l], k + l * step);
  }
  COIR_UNROLL
  for (int l = 0; l + 1 < Loads; ++l)
    if (k + l * step < length) some[l] = load(k + l * step);
  COIR_UNROLL
  for (int l = 0; l + 1 < Loads; ++l)
    if (k + l * step < length) fold(some[l], k + l * step);
}

/// The elements of an expression along one of its axes, on devices: one by one, or in vectors of
/// Width. The latter need a last axis of whole vectors, and elements that all lie side by side.
template <class Kernel, class Monoid, int Outer, int Width>
struct ElementsAlong {
  using Value = typename Monoid::value_type;
  /// Kernels that evaluate once have much code, and several loads of their own that wait together.
  static constexpr bool evaluates_once = requires { Kernel::evaluates_once; };
  Kernel kernel;
  Monoid monoid;
  RowNumbers<Outer> numbers;  // of the result
  int axis;                   // Outer for the last one: then the result has a single column
  bool narrow;
  bool in_vectors;

  /// Folds the elements or vectors first, first + step, ... below `length` of element (row, column)
  /// of the result.
  KOKKOS_FORCEINLINE_FUNCTION void fold(Value& value, std::int64_t row, std::int64_t column,
                                        std::int64_t first, std::int64_t step,
                                        std::int64_t length) const {
    if constexpr (Width > 1) {
      if (in_vectors) {
        fold_steps<4>(
            first, step, length,
            [&](std::int64_t k) {
              return kernel.template vector<Width>((row * length + k) * Width);
            },
            [&](auto const& elements, std::int64_t k) {
              fold_vector<Width>(monoid, value, elements, k * Width);
            });
        return;
      }
    }
    if (narrow)
      fold_by(value, static_cast<std::int32_t>(row), static_cast<std::int32_t>(column), first, step,
              length);
    else
      fold_by(value, row, column, first, step, length);
  }

  /// Folds the whole of some short rows, each into its value, not in vectors. A row may be given
  /// twice, which a kernel with evaluates_once must not be.
  template <int Count>
    requires(!evaluates_once)
  KOKKOS_FORCEINLINE_FUNCTION void fold_rows(Value (&values)[Count],
                                             std::int64_t const (&rows)[Count],
                                             std::int64_t length) const {
    constexpr int loads = 4;
    Place<Outer> at[Count];
    COIR_UNROLL
    for (int c = 0; c < Count; ++c) at[c] = numbers.place(rows[c]);
    for (std::int64_t k = 0; k < length; k += loads) {
      decltype(element(at[0], k, k)) some[Count][loads];
      COIR_UNROLL
      for (int l = 0; l < loads; ++l) {
        if (k + l >= length) continue;
        COIR_UNROLL
        for (int c = 0; c < Count; ++c) some[c][l] = element(at[c], std::int64_t(0), k + l);
      }
      COIR_UNROLL
      for (int l = 0; l < loads; ++l) {
        if (k + l >= length) continue;
        COIR_UNROLL
        for (int c = 0; c < Count; ++c) monoid.fold(values[c], some[c][l], k + l);
      }
    }
  }

 private:
  /// \tparam I  counts in offsets
  template <class I>
  KOKKOS_FORCEINLINE_FUNCTION void fold_by(Value& value, I row, I column, std::int64_t first,
                                           std::int64_t step, std::int64_t length) const {
    // Fewer loads at a time for compile time; arrays that need 64 bits are rare.
    constexpr int loads = evaluates_once || sizeof(I) > 4 ? 2 : 8;
    Place<Outer, I> const at = numbers.place(row);
    fold_steps<loads>(
        first, step, length, [&](std::int64_t k) { return element(at, column, static_cast<I>(k)); },
        [&](auto const& x, std::int64_t k) { monoid.fold(value, x, k); });
  }

  template <class I>
  KOKKOS_FORCEINLINE_FUNCTION auto element(Place<Outer, I> at, I column, I k) const {
    COIR_UNROLL
    for (int d = 0; d < Outer; ++d) at.index[d] = d == axis ? k : at.index[d];
    return kernel.cell(at, axis == Outer ? k : column);
  }
};

/// Values of parts of an axis, [rows, parts, columns], as elements along their second axis.
template <class Monoid>
struct PartsAlong {
  using Value = typename Monoid::value_type;
  Monoid monoid;
  Value const* values;
  std::int64_t columns;

  KOKKOS_FORCEINLINE_FUNCTION void fold(Value& value, std::int64_t row, std::int64_t column,
                                        std::int64_t first, std::int64_t step,
                                        std::int64_t length) const {
    fold_steps<8>(
        first, step, length,
        [&](std::int64_t k) { return values[(row * length + k) * columns + column]; },
        [&](Value const& x, std::int64_t) { monoid.join(value, x); });
  }
};

/// Some threads' lanes for each result, the elements along a short row: lanes join their values
/// without memory.
template <class Elements, class Monoid, class Result>
struct LanesFold {
  using Value = typename Monoid::value_type;
  Elements elements;
  Monoid monoid;
  std::int64_t rows, length;
  int lanes;
  Result* out;

  template <class Member>
  KOKKOS_FUNCTION void operator()(Member const& member) const {
    std::int64_t const row =
        static_cast<std::int64_t>(member.league_rank()) * member.team_size() + member.team_rank();
    Value value = monoid.neutral();
    Kokkos::parallel_reduce(Kokkos::ThreadVectorRange(member, lanes),
                            Lane{*this, row, row < rows ? length : 0},
                            MonoidReducer<Monoid>(monoid, value));
    if (row < rows) Kokkos::single(Kokkos::PerThread(member), Store{*this, row, value});
  }

 private:
  struct Lane {
    LanesFold const& fold;
    std::int64_t row, length;  // 0 behind the last row
    KOKKOS_FORCEINLINE_FUNCTION void operator()(int lane, Value& value) const {
      fold.elements.fold(value, row, 0, lane, fold.lanes, length);
    }
  };
  struct Store {
    LanesFold const& fold;
    std::int64_t row;
    Value const& value;
    KOKKOS_FORCEINLINE_FUNCTION void operator()() const {
      fold.out[row] = fold.monoid.result(value);
    }
  };
};

/// One team for each result, whose threads share the axis.
template <class Elements, class Monoid, class Result>
struct TeamFold {
  using Value = typename Monoid::value_type;
  Elements elements;
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
    std::int64_t cell, threads;
    KOKKOS_FORCEINLINE_FUNCTION void operator()(int thread, Value& value) const {
      fold.elements.fold(value, cell / fold.columns, cell % fold.columns, thread, threads,
                         fold.length);
    }
  };
};

/// One thread for each part of the axis of each result, or for some short rows. A part has every
/// parts-th element, so that neighbouring threads read neighbouring elements.
template <class Elements, class Monoid, class Result>
struct PartFold {
  using Value = typename Monoid::value_type;
  Elements elements;
  Monoid monoid;
  std::int64_t columns, length, parts;
  Value* values;  // [rows, parts, columns], if there are several parts
  Result* out;
  std::int64_t short_rows = 0;  // how many there are, if a thread folds some

  static constexpr int rows_of_thread = 4, together = 128;  // threads that take a stretch of rows
  static constexpr bool has_short_rows =
      requires(Elements const& e, Value (&values)[2], std::int64_t const (&rows)[2]) {
        e.fold_rows(values, rows, std::int64_t(1));
      };

  KOKKOS_FUNCTION void operator()(std::int64_t thread) const {
    if constexpr (has_short_rows) {
      if (short_rows > 0) {
        fold_short_rows((thread & -together) * rows_of_thread + (thread & (together - 1)));
        return;
      }
    }
    bool const whole_rows = parts * columns == 1;  // without divisions, which take long
    std::int64_t const row = whole_rows ? thread : thread / (parts * columns),
                       in_row = thread - row * parts * columns;
    std::int64_t const part = whole_rows ? 0 : in_row / columns;
    Value value = monoid.neutral();
    elements.fold(value, row, in_row - part * columns, part, parts, length);
    if (parts > 1)
      values[thread] = value;
    else
      out[thread] = monoid.result(value);
  }

 private:
  KOKKOS_FORCEINLINE_FUNCTION void fold_short_rows(std::int64_t first) const {
    Value of_row[rows_of_thread];
    std::int64_t row[rows_of_thread];
    COIR_UNROLL
    for (int c = 0; c < rows_of_thread; ++c) {
      of_row[c] = monoid.neutral();
      row[c] = first + c * together < short_rows ? first + c * together : short_rows - 1;
    }
    elements.fold_rows(of_row, row, length);
    COIR_UNROLL
    for (int c = 0; c < rows_of_thread; ++c)
      if (first + c * together < short_rows) out[row[c]] = monoid.result(of_row[c]);
  }
};

/// Folds `length` elements for each of the results, [cells / columns, columns]. A few results are
/// folded in parts, and then the parts. How many parts there are depends on the shape alone.
template <class Space, class Exec, class Elements, class Monoid, class Result>
void fold_on_device(Exec const& exec, Elements const& elements, Monoid const& monoid,
                    std::int64_t cells, std::int64_t columns, std::int64_t length, Result* out) {
  // What keeps a large device busy, and what is worth a thread.
  constexpr std::int64_t threads = 1 << 18, elements_of_part = 32, least_parts = 4;
  constexpr std::int64_t longest_of_team = 8192, many_rows = 1024;
  constexpr std::int64_t longest_of_lanes = 1024, worth_a_lane = 8;
  constexpr int most_lanes = 32, threads_of_team = 128;
  if (!runs_on_host<Exec> && columns == 1 && length > worth_a_lane && length <= longest_of_lanes) {
    std::uint64_t const worth = static_cast<std::uint64_t>((length - 1) / worth_a_lane + 1);
    int const lanes = std::min(most_lanes, static_cast<int>(std::bit_ceil(worth)));
    int const rows = threads_of_team / lanes;
    std::int64_t const teams = (cells + rows - 1) / rows;
    if (teams <= std::numeric_limits<int>::max()) {
      using Lanes = LanesFold<Elements, Monoid, Result>;
      Kokkos::parallel_for("coir::array::reduce_axis",
                           Kokkos::TeamPolicy<Exec, PassedWithLaunch<Lanes>>(
                               exec, static_cast<int>(teams), rows, lanes),
                           Lanes{elements, monoid, cells, length, lanes, out});
      return;
    }
  }
  if constexpr (!requires { requires Elements::evaluates_once; }) {
    // A team's threads read side by side along rows. Across them each reads a line of its own, so
    // that teams are for small arrays.
    bool const teams = length > 32 && cells <= std::numeric_limits<int>::max() &&
                       (columns == 1 ? length <= longest_of_team || cells >= many_rows
                                     : length <= longest_of_team && cells * length <= 2 * threads);
    if (teams) {
      int const team = runs_on_host<Exec> ? 1 : 128;
      using Team = TeamFold<Elements, Monoid, Result>;
      Kokkos::parallel_for(
          "coir::array::reduce_axis",
          Kokkos::TeamPolicy<Exec, PassedWithLaunch<Team>>(exec, static_cast<int>(cells), team),
          Team{elements, monoid, columns, length, out});
      return;
    }
  }
  using Value = typename Monoid::value_type;
  std::int64_t parts = std::min(threads / cells, length / elements_of_part);
  // The parts of many results are few, so that a thread folds those of a result. Otherwise
  // neighbours begin to read at a cache line.
  constexpr std::int64_t few_parts = 32;
  if (columns > 1 && cells >= threads / (4 * few_parts)) parts = std::min(parts, few_parts);
  if (parts > few_parts) parts -= parts % few_parts;
  if (parts < least_parts) parts = 1;
  auto const block =
      parts > 1
          ? MemoryPool<Space>::allocate(cells * parts * static_cast<std::int64_t>(sizeof(Value)))
          : nullptr;
  auto* const values = static_cast<Value*>(block.get());
  using Parts = PartFold<Elements, Monoid, Result>;
  Parts body{elements, monoid, columns, length, parts, values, out};
  std::int64_t folds = cells * parts;
  if constexpr (Parts::has_short_rows) {
    if (!elements.in_vectors && columns == 1 && length <= worth_a_lane && cells >= threads) {
      constexpr std::int64_t stretch = Parts::rows_of_thread * Parts::together;
      body.short_rows = cells;
      folds = (cells + stretch - 1) / stretch * Parts::together;
    }
  }
  Kokkos::parallel_for(
      "coir::array::reduce_axis",
      Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>, PassedWithLaunch<Parts>>(exec, 0,
                                                                                          folds),
      body);
  if (parts > 1)
    fold_on_device<Space>(exec, PartsAlong<Monoid>{monoid, values, columns}, monoid, cells, columns,
                          parts, out);
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

/// Keeps the fold of all elements of an expression, by hosts, for the runs of a recording.
template <class Exec, class E, class Monoid, class Result>
void keep_fold_on_host(Exec const& exec, E const& expression, Monoid const& monoid, Result* out) {
  fold_all(exec, expression, monoid, [=](auto const& box, auto const& body) {
    launch_on_host(body, [=](auto const& own) {
      typename Monoid::value_type value;
      reduce("coir::array::reduce_axis", exec, box, own, MonoidReducer<Monoid>(monoid, value));
      *out = monoid.result(value);
    });
  });
}

/// The memory that the result of reducing an expression lies in.
template <class E>
using reduced_space_t = std::conditional_t<std::is_same_v<typename E::space, AnySpace>,
                                           DefaultSpace, typename E::space>;

/// Folds an expression along one of its axes, which the result lacks.
///
/// \tparam AsOnDevice  whether to do it by the kernels of devices, which tests run on hosts, too
template <bool AsOnDevice, class E, class Monoid>
auto reduce_axis_by(E const& expression, int axis, Monoid const& monoid) {
  constexpr int rank = E::rank;
  static_assert(rank >= 1, "a single number has no axes");
  constexpr int outer = rank - 1;
  using Space = reduced_space_t<E>;
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

  if constexpr (outer == 0 && AsOnDevice) {
    using Elements = ElementsAlong<Kernel, Monoid, outer, 1>;
    auto const fold_by_parts = [&] {
      fold_on_device<Space>(exec, Elements{kernel, monoid, numbers, position, fold.narrow(), false},
                            monoid, cells, 1, length, result.data());
    };
    if constexpr (Elements::evaluates_once) {
      fold_by_parts();
    } else {
      // A recording outlives the instance, and so the memory of reduce().
      if (length == 0 || is_recording<Exec>())
        fold_by_parts();
      else
        fold_all_on_device<Space>(exec, expression, monoid, result.data());
    }
  } else if constexpr (outer == 0) {
    if constexpr (runs_on_host<Exec>) {
      if (is_recording<Exec>()) {
        keep_fold_on_host(exec, expression, monoid, result.data());
        return result;
      }
    }
    result = reduce_all(expression, monoid);
  } else {
    bool const across = position != outer;
    std::int64_t const columns = across ? fold.columns() : 1;
    if (across) numbers.extent[position] = 1;
    if constexpr (AsOnDevice) {
      constexpr int width = std::max(1, 16 / static_cast<int>(sizeof(value_t<E>)));
      Fold<rank> flat(shape);
      add_leaves(flat, expression);
      flat.close();
      auto const in_a_row = expression.kernel(flat);
      bool in_vectors = false;
      if constexpr (width > 1)
        in_vectors = !across && flat.rows() == 1 && length % width == 0 &&
                     in_a_row.template has_vectors<width>();
      ElementsAlong<Kernel, Monoid, outer, width> const elements{
          in_vectors ? in_a_row : kernel, monoid, numbers, position, fold.narrow(), in_vectors};
      std::int64_t const units = in_vectors ? length / width : length;
      fold_on_device<Space>(exec, elements, monoid, cells, columns, units, result.data());
    } else if (across) {
      AcrossRows<Kernel, Monoid, outer> const body{kernel, monoid, numbers, position, columns};
      bool const could_join = position == outer - 1 && fold.could_join(axis);
      launch_on_host(body, [=, rows = cells / columns, out = result.data()](auto const& own) {
        fold_across_rows_on_host(exec, own, rows, length, could_join, out);
      });
    } else {
      if constexpr (!folds_rows<Monoid>) {
        if (length >= least_short_row && length <= most_short_row) {
          Fold<rank> flat(shape);
          add_leaves(flat, expression);
          flat.close();
          auto const in_a_row = expression.kernel(flat);
          if (flat.rows() == 1 && in_a_row.direct()) {
            ReduceBody<Kernel, Monoid, outer> const body{in_a_row, monoid, numbers, 0,
                                                         fold.narrow()};
            launch_on_host(body, [=, out = result.data()](auto const& own) {
              fold_short_rows_on_host(exec, own, cells, length, out);
            });
            return result;
          }
        }
      }
      // Elements are numbered along the axis: every row begins with 0.
      ReduceBody<Kernel, Monoid, outer> const body{kernel, monoid, numbers, 0, fold.narrow()};
      launch_on_host(body, [=, out = result.data()](auto const& own) {
        fold_rows_on_host(exec, own, monoid, cells, length, out);
      });
    }
  }
  return result;
}

template <class E, class Monoid>
auto reduce_axis(E const& expression, int axis, Monoid const& monoid) {
  constexpr bool on_device = !runs_on_host<typename reduced_space_t<E>::execution_space>;
  return reduce_axis_by<on_device>(expression, axis, monoid);
}

}  // namespace coir::detail
