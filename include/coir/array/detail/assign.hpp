#pragma once

/// \file
/// The kernel that evaluates an expression into an array.

#include <coir/array/expression.hpp>
#include <coir/array/fold.hpp>
#include <coir/core/loops.hpp>
#include <coir/core/overlap.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <type_traits>
#include <utility>

namespace coir::detail {

template <class T, class Kernel, int Outer>
struct AssignBody {
  // For devices: cells of a column share much of the computation of their offsets.
  static constexpr int cells_per_thread = Outer > 0 ? 8 : 4;
  // Elements of one array are copied as they are.
  static constexpr bool is_copy = std::is_same_v<Kernel, SliceKernel<T const, Outer>>;
  Kernel kernel;
  SliceKernel<T, Outer> target;
  RowNumbers<Outer> numbers;
  bool narrow;
  bool direct;  // nothing has to be gathered
  // On hosts: how many of all rows are worked on together, in tiles of so many columns. An index
  // stands for so many rows.
  std::int64_t together = 1, rows = 1, tile = 1;

  // One cell, on devices.
  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t column) const
    requires(Outer == 0)
  {
    (*this)(0, column);
  }
  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t row, std::int64_t column) const {
    if (narrow)
      put_cell(static_cast<std::int32_t>(row), static_cast<std::int32_t>(column));
    else
      put_cell(row, column);
  }

  // Cells below each other, on devices.
  template <int Count>
  KOKKOS_FORCEINLINE_FUNCTION void column(std::int64_t row, std::int64_t column) const {
    if (narrow) {
      put_column<Count>(static_cast<std::int32_t>(row), static_cast<std::int32_t>(column));
    } else {  // rare, and not unrolled, for compile time
      COIR_NO_UNROLL
      for (int c = 0; c < Count; ++c) put_cell(row + c, column);
    }
  }

  // Cells of short rows, on devices.
  template <int Count, class P>
  KOKKOS_FORCEINLINE_FUNCTION void several(P const (&at)[Count]) const
    requires is_copy
  {
    if (narrow)
      put_places<std::int32_t>(at);
    else
      put_places<std::int64_t>(at);
  }

  // A stretch of a row, on hosts.
  void stretch(std::int64_t begin, std::int64_t end) const
    requires(Outer == 0)
  {
    put(Place<0>{}, begin, end);
  }
  void stretch(std::int64_t row, std::int64_t begin, std::int64_t end) const
    requires(Outer > 0)
  {
    std::int64_t const above = row * together, behind = std::min(rows, above + together);
    Place<Outer> const start = numbers.place(above);
    for (std::int64_t first = begin; first < end; first += tile) {
      Place<Outer> at = start;
      if constexpr (is_copy) {
        if (std::min(end - first, tile) <= short_row) {
          copy_short_rows(at, behind - above, first, std::min(end, first + tile));
          continue;
        }
      }
      for (std::int64_t r = above; r < behind; ++r, numbers.advance(at))
        put(at, first, std::min(end, first + tile));
    }
  }
  std::int64_t cells_per_index() const { return together; }

 private:
  static constexpr std::int64_t short_row = 64;

  // Copies the columns [first, end) of so many rows. Along the last of the outer axes pointers go
  // on by steps.
  void copy_short_rows(Place<Outer> at, std::int64_t count, std::int64_t first,
                       std::int64_t end) const
    requires(Outer > 0 && is_copy)
  {
    constexpr int last = Outer - 1;
    std::int64_t const to_step = target.step, from_step = kernel.step, columns = end - first;
    while (count > 0) {
      std::int64_t const run = std::min(count, numbers.extent[last] - at.index[last]);
      T* to = target.start(at) + first * to_step;
      T const* from = kernel.start(at) + first * from_step;
      for (std::int64_t r = 0; r < run; ++r) {
        if (to_step == 1 && from_step == 1) {
          COIR_INDEPENDENT_ITERATIONS
          for (std::int64_t c = 0; c < columns; ++c) to[c] = from[c];
        } else {
          for (std::int64_t c = 0; c < columns; ++c) to[c * to_step] = from[c * from_step];
        }
        to += target.stride[last];
        from += kernel.stride[last];
      }
      count -= run;
      at.index[last] += run - 1;
      numbers.advance(at);
    }
  }

  template <class I>
  KOKKOS_FORCEINLINE_FUNCTION void put_cell(I row, I column) const {
    Place<Outer, I> const at = numbers.place(row);
    target.data[target.offset(at, column)] = stored<T>(kernel.cell(at, column));
  }

  // All elements are computed before the first is stored, which might overwrite an operand for all
  // that the compiler knows.
  template <int Count, class I>
  KOKKOS_FORCEINLINE_FUNCTION void put_cells(I const (&row)[Count],
                                             I const (&column)[Count]) const {
    T values[Count];
    COIR_UNROLL
    for (int c = 0; c < Count; ++c)
      values[c] = stored<T>(kernel.cell(numbers.place(row[c]), column[c]));
    COIR_UNROLL
    for (int c = 0; c < Count; ++c)
      target.data[target.offset(numbers.place(row[c]), column[c])] = values[c];
  }
  template <int Count, class I>
  KOKKOS_FORCEINLINE_FUNCTION void put_column(I row, I column) const {
    I rows_of[Count], columns_of[Count];
    COIR_UNROLL
    for (int c = 0; c < Count; ++c) {
      rows_of[c] = static_cast<I>(row + c);
      columns_of[c] = column;
    }
    put_cells(rows_of, columns_of);
  }
  template <class I, int Count, class P>
  KOKKOS_FORCEINLINE_FUNCTION void put_places(P const (&at)[Count]) const {
    I rows_of[Count], columns_of[Count];
    COIR_UNROLL
    for (int c = 0; c < Count; ++c) {
      rows_of[c] = static_cast<I>(at[c].i);
      columns_of[c] = static_cast<I>(at[c].column);
    }
    put_cells(rows_of, columns_of);
  }

  void put(Place<Outer> const& at, std::int64_t begin, std::int64_t end) const {
    if (direct) {
      Scratch<0> none;
      write(target.start(at) + begin, kernel.template row<true>(at, begin, end - begin, none),
            end - begin);
      return;
    }
    if constexpr (is_copy) {
      if (target.direct()) {
        kernel.gather(at, begin, end - begin, target.start(at) + begin);
        return;
      }
    }
    std::int64_t count;
    for (std::int64_t first = begin; first < end; first += count) {
      count = std::min(gathered_stretch, end - first);
      // A short row is gathered as a whole: each stretch of it costs as much.
      if (target.direct() && (Outer == 0 || end - begin > short_row)) {
        // Few columns are gathered where a rolled array begins anew. They are whole vectors, so
        // that every column is computed in the same lane, whatever the thread.
        constexpr std::int64_t few = 16;
        std::int64_t const behind = kernel.contiguous_until(first, end);
        std::int64_t const whole = behind == end ? end : behind / few * few;
        if (whole > first) {
          count = whole - first;
          Scratch<0> none;
          write(target.start(at) + first, kernel.template row<true>(at, first, count, none), count);
          continue;
        }
        if (behind > first) count = std::min(few - first % few, end - first);
      }
      Scratch<Kernel::scratch_bytes + scratch_for<T>> scratch;
      T* const out = target.start(at) + first * target.step;
      T* const together = target.direct() ? out : scratch.template take<T>();
      write(together, kernel.row(at, first, count, scratch), count);
      if (target.direct()) continue;
      for (std::int64_t c = 0; c < count; ++c) out[c * target.step] = together[c];
    }
  }

  // By value, so that the compiler knows that no store changes the row's pointers and steps.
  template <class Row>
  static void write(T* out, Row const values, std::int64_t count) {
    COIR_INDEPENDENT_ITERATIONS
    for (std::int64_t c = 0; c < count; ++c) out[c] = stored<T>(values[c]);
  }
};

/// The kernel of an assignment on devices, vector by vector: see worth_vectors.
template <class T, class Kernel>
struct AssignVectors {
  static constexpr int width = vector_width<T>;
  static constexpr int cells_per_thread = 1;  // a cell is a vector here
  Kernel kernel;
  T* target;

  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t number) const {
    auto const values = kernel.template vector<width>(number * width);
    Vector<T, width> result;
    COIR_UNROLL
    for (int l = 0; l < width; ++l) result.lane[l] = stored<T>(values[l]);
    *reinterpret_cast<Vector<T, width>*>(target + number * width) = result;
  }
};

/// A copy of short rows into an array whose elements all lie side by side, on devices. A thread
/// stores a vector, whose elements may belong to several rows.
template <class T, int Outer>
struct CopyVectors {
  static constexpr int width = vector_width<T>;
  static constexpr int cells_per_thread = 1;  // a cell is a vector here
  static constexpr std::int64_t most_columns = 512, least_cells = std::int64_t(1) << 20;
  SliceKernel<T const, Outer> kernel;
  T* target;
  RowNumbers<Outer> numbers;
  std::int32_t columns, count;  // elements of a row, and of all

  /// Whether the elements of the target lie side by side, few of them in a row, and 32 bits count
  /// them.
  template <int Rank>
  static bool fits(Fold<Rank> const& fold, SliceKernel<T, Outer> const& target) {
    std::int64_t next = fold.columns();
    bool dense = target.step == 1;
    for (int d = Outer - 1; d >= 0; next *= fold.extents()[d--])
      dense = dense && (fold.extents()[d] == 1 || target.stride[d] == next);
    return dense && fold.columns() < most_columns &&
           next < std::numeric_limits<std::int32_t>::max() - width &&
           reinterpret_cast<std::uintptr_t>(target.data) % (sizeof(T) * width) == 0;
  }

  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t number) const {
    auto const first = static_cast<std::int32_t>(number * width);
    std::int32_t row = static_cast<std::int32_t>(static_cast<std::uint32_t>(first) /
                                                 static_cast<std::uint32_t>(columns)),
                 column = first - row * columns;
    auto at = numbers.place(row);
    Vector<T, width> result;
    COIR_UNROLL
    for (int l = 0; l < width; ++l) {
      if (first + l < count) result.lane[l] = kernel.cell(at, column);
      if (++column == columns) {
        column = 0;
        at = numbers.place(++row);
      }
    }
    if (first + width <= count)
      *reinterpret_cast<Vector<T, width>*>(target + first) = result;
    else
      for (int l = 0; l < width - 1; ++l)
        if (first + l < count) target[first + l] = result.lane[l];
  }
};

/// Whether a kernel may read one array while it writes another: they share no memory, or share it
/// element by element.
template <int Rank>
bool may_be_read_while_written(void const* target, Strides<Rank> const& target_strides,
                               std::size_t target_bytes, void const* source,
                               Strides<Rank> const& source_strides, std::size_t source_bytes,
                               Shape<Rank> const& shape) {
  if (!byte_range(target, shape, target_strides, target_bytes)
           .overlaps(byte_range(source, shape, source_strides, source_bytes)))
    return true;
  if (target != source || target_bytes != source_bytes) return false;
  for (int d = 0; d < Rank; ++d)
    if (shape[d] > 1 && target_strides[d] != source_strides[d]) return false;
  return true;
}

/// Whether evaluating `expression` into the target needs a copy of something that it overwrites.
template <int Rank, class E>
bool overlaps(void const* target, Strides<Rank> const& strides, std::size_t bytes,
              Shape<Rank> const& shape, E const& expression) {
  bool found = false;
  expression.visit_leaves([&](auto const& leaf) {
    using Leaf = std::remove_cvref_t<decltype(leaf)>;
    if constexpr (requires { leaf.data(); })
      found = found || !may_be_read_while_written<Rank>(target, strides, bytes, leaf.data(),
                                                        stretched_strides<Rank>(leaf),
                                                        sizeof(typename Leaf::value_type), shape);
    else if constexpr (requires { leaf.slice; })
      found =
          found || byte_range(target, shape, strides, bytes)
                       .overlaps(byte_range(leaf.slice.data(), leaf.slice.shape(),
                                            leaf.slice.strides(), sizeof(leaf.slice.data()[0])));
  });
  return found;
}

/// Whether an expression contains functions of the indices themselves, such as rolled arrays.
template <class E>
bool uses_indices(E const& expression) {
  bool found = false;
  expression.visit_leaves([&](auto const& leaf) {
    if constexpr (!requires { leaf.data(); }) found = true;
  });
  return found;
}

/// The axis along which an array of an expression lies closer together than along the axis `last`;
/// -1 if there is none.
template <int Rank, class E>
int closer_axis(E const& expression, Shape<Rank> const& shape, int last) {
  int closer = -1;
  expression.visit_leaves([&](auto const& leaf) {
    if constexpr (requires { leaf.data(); }) {
      auto const strides = stretched_strides<Rank>(leaf);
      std::int64_t closest = std::abs(strides[last]);
      for (int d = 0; d < Rank && shape[last] > 1; ++d)
        if (shape[d] > 1 && strides[d] != 0 && std::abs(strides[d]) < closest) {
          closest = std::abs(strides[d]);
          closer = d;
        }
    }
  });
  return closer;
}

template <class T, int Outer, int Rank>
SliceKernel<T, Outer> slice_kernel(T* data, Strides<Rank> const& strides, Fold<Rank> const& fold) {
  Strides<Rank> const joined = fold.joined(strides);
  SliceKernel<T, Outer> kernel{data, joined[Rank - 1], {}};
  for (int d = 0; d < Outer; ++d) kernel.stride[d] = joined[d];
  // The step of a single element is never used. With step 1 the element isn't gathered.
  if (fold.columns() == 1) kernel.step = 1;
  return kernel;
}

/// target[i] = expression[i] for all i of a shape, in one kernel. Doesn't look for overlaps.
template <int Rank, class Exec, class T, class E>
void assign_now(Exec const& exec, T* data, Strides<Rank> const& strides, Shape<Rank> const& shape,
                E const& expression) {
  if constexpr (Rank == 0) {
    assign_now<1>(exec, data, Strides<1>{1}, Shape<1>{1}, expression);
  } else {
    bool const in_any_order = !uses_indices(expression);
    bool by_tiles = false;
    auto order = in_any_order ? memory_order(shape, strides) : identity_permutation<Rank>();
    if constexpr (runs_on_host<Exec> && Rank > 1) {
      // Rows along which an array lies closer are neighbours, so that a tile of them uses whole
      // lines of its memory.
      int const closer = in_any_order ? closer_axis<Rank>(expression, shape, order[Rank - 1]) : -1;
      if (closer >= 0) {
        auto const from = std::find(order.begin(), order.end(), closer);
        std::rotate(from, from + 1, order.end() - 1);
        by_tiles = true;
      }
    }
    auto const folded = [&] {
      Fold<Rank> fold(shape, order);
      fold.add(strides);
      add_leaves(fold, expression);
      fold.close();
      return fold;
    };
    Fold<Rank> fold = folded();
    if constexpr (runs_on_host<Exec> && Rank > 1) {
      constexpr std::int64_t few = 8;
      if (in_any_order && fold.columns() < few && fold.rows() >= 8 * few) {
        // Rows run along the longest axis instead: a few long ones if axes join, which tiles keep
        // in a cache.
        auto const given = order;
        auto const longest = std::max_element(order.begin(), order.end(),
                                              [&](int a, int b) { return shape[a] < shape[b]; });
        std::rotate(order.begin(), longest + 1, order.end());
        fold = folded();
        if (fold.rows() >= few) {
          order = given;
          std::rotate(longest, longest + 1, order.end());
          fold = folded();
        }
        by_tiles = true;
      }
    }
    constexpr int outer = Rank - 1;
    auto const kernel = expression.kernel(fold);
    auto const target = slice_kernel<T, outer>(data, strides, fold);
    using Kernel = std::remove_const_t<decltype(kernel)>;
    if constexpr (!runs_on_host<Exec> && vector_width<T> > 1) {
      using Vectors = AssignVectors<T, Kernel>;
      if (target.template has_vectors<Vectors::width>() &&
          worth_vectors<Vectors::width>(fold, kernel)) {
        for_each("coir::array::assign", exec, box({fold.columns() / Vectors::width}),
                 Vectors{kernel, data});
        return;
      }
      if constexpr (outer > 0 && std::is_same_v<Kernel, SliceKernel<T const, outer>>) {
        using ShortRows = CopyVectors<T, outer>;
        std::int64_t const cells = fold.rows() * fold.columns();
        if (cells >= ShortRows::least_cells && fold.narrow() && ShortRows::fits(fold, target)) {
          auto const columns = static_cast<std::int32_t>(fold.columns());
          for_each("coir::array::assign", exec,
                   box({(cells + ShortRows::width - 1) / ShortRows::width}),
                   ShortRows{kernel, data, RowNumbers<outer>::of(fold), columns,
                             static_cast<std::int32_t>(cells)});
          return;
        }
      }
    }
    // Hosts take short rows several at a time.
    constexpr std::int64_t rows_of_tile = 64, worth_an_index = 1024;
    std::int64_t const rows = fold.rows(), columns = fold.columns(),
                       tile = !by_tiles  ? columns
                              : rows < 8 ? 512
                                         : 64;
    std::int64_t together =
        by_tiles ? rows_of_tile : worth_an_index / std::max<std::int64_t>(columns, 1);
    together = std::clamp<std::int64_t>(runs_on_host<Exec> ? together : 1, 1,
                                        std::max<std::int64_t>(rows, 1));
    AssignBody<T, Kernel, outer> const body{kernel,
                                            target,
                                            RowNumbers<outer>::of(fold),
                                            fold.narrow(),
                                            target.direct() && kernel.direct(),
                                            together,
                                            rows,
                                            tile};
    if constexpr (outer == 0)
      for_each("coir::array::assign", exec, box({fold.columns()}), body);
    else
      for_each("coir::array::assign", exec, box({(rows + together - 1) / together, fold.columns()}),
               body);
  }
}

}  // namespace coir::detail
