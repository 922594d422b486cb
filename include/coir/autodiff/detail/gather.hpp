#pragma once

/// \file
/// The kernels that bring the cotangent of a statement back to several arrays, or to an array that
/// the statement reads shifted.
///
/// The cotangents of these arrays are gone through cell by cell. Each cell gathers what comes back
/// through all reads of it, in the order of the reads in the statement. So one kernel writes each
/// cotangent once, and no two threads write the same cell.

#include <coir/array/fold.hpp>
#include <coir/autodiff/detail/dual_complex.hpp>
#include <coir/core/loops.hpp>

#include <algorithm>
#include <array>
#include <concepts>
#include <cstdint>
#include <cstdlib>
#include <type_traits>
#include <utility>
#include <vector>

namespace coir::detail {

/// A cotangent times the derivative of a result along direction k. The cotangent of a complex
/// number holds the derivatives along its real and its imaginary part.
template <class S, class T, int N>
KOKKOS_FORCEINLINE_FUNCTION S along_direction(S const& cotangent, Dual<T, N> const& result, int k) {
  return static_cast<S>(cotangent * result.derivative[k]);
}
template <class S, class T, int N>
KOKKOS_FORCEINLINE_FUNCTION S along_direction(Kokkos::complex<S> const& cotangent,
                                              DualComplex<T, N> const& result, int k) {
  return static_cast<S>(cotangent.real() * result.re.derivative[k] +
                        cotangent.imag() * result.im.derivative[k]);
}

/// A cotangent times a derivative. An infinite slope isn't multiplied by 0.
template <class T, class S, class D>
KOKKOS_FORCEINLINE_FUNCTION T product_with_slope(S const& cotangent, D const& dual) {
  T product(0);
  if constexpr (is_complex<T>)
    product = T(along_direction(cotangent, dual, 0), along_direction(cotangent, dual, 1));
  else
    product = static_cast<T>(along_direction(cotangent, dual, 0));
  return math::select(cotangent == S(0), T(0), product);
}

/// A cell of a statement, and the number of the read along which its derivative is taken.
template <int Outer, class I = std::int64_t>
struct ReadPlace : Place<Outer, I> {
  int read;
};

/// One read of an array by a statement, for kernels.
template <class T, class Slope, int Outer>
struct GatheredRead {
  SliceKernel<T, Outer> target;         // the array's cotangent
  std::int64_t offset[Outer + 1] = {};  // cell c of the statement reads cell c + offset
  int number = 0;                       // among all reads of the statement
  bool periodic = false;                // offset is 0 or negative, and the cell c + offset + extent
                                        // stands for negative ones
  bool opens = false, closes = false;   // whether it is the first or last one of its array
  bool fresh = false;                   // there is no old cotangent
  Slope slope{};                        // if it is the same in all cells

  /// Where the read that gets cell `index` of the target along axis d is; false if there is none.
  template <class I>
  KOKKOS_FORCEINLINE_FUNCTION bool find(I index, int d, std::int64_t extent, I& result) const {
    result = index - static_cast<I>(offset[d]);
    if (periodic && result >= static_cast<I>(extent)) result -= static_cast<I>(extent);
    return result >= 0 && result < static_cast<I>(extent);
  }
};

/// The reads of a statement whose targets have one shape, the frame.
template <class T, class Slope, int Outer, int Most>
struct GatheredReads {
  GatheredRead<T, Slope, Outer> read[Most];
  int count = 0;
  RowNumbers<Outer> rows;               // of the frame
  std::int64_t extent[Outer + 1] = {};  // of the statement
  bool narrow = false;
};

/// Sums up body.term() for each cell on devices. Hosts call body.gather_rows(first row, row behind
/// the last one, columns begin, end).
template <class Body, int Outer>
struct GatherLoop {
  Body body;
  std::int64_t rows;      // of the frame
  std::int64_t together;  // on hosts: how many of them an index stands for

  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t column) const
    requires(Outer == 0)
  {
    (*this)(0, column);
  }
  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t row, std::int64_t column) const {
    if (body.reads.narrow)
      cell(static_cast<std::int32_t>(row), static_cast<std::int32_t>(column));
    else
      cell(row, column);
  }
  void stretch(std::int64_t begin, std::int64_t end) const
    requires(Outer == 0)
  {
    body.gather_rows(0, 1, begin, end);
  }
  void stretch(std::int64_t row, std::int64_t begin, std::int64_t end) const
    requires(Outer > 0)
  {
    body.gather_rows(row * together, std::min(rows, (row + 1) * together), begin, end);
  }
  std::int64_t cells_per_index() const { return together; }

 private:
  /// Once the reads of one array are summed, the sum is added to what is there.
  template <class I>
  KOKKOS_FORCEINLINE_FUNCTION void cell(I row, I column) const {
    Place<Outer, I> const at = body.reads.rows.place(row);
    auto sum = body.zero();
    for (int r = 0; r < body.reads.count; ++r) {
      auto const& read = body.reads.read[r];
      if (read.opens) sum = body.zero();
      ReadPlace<Outer, I> from;
      from.read = read.number;
      I source;
      bool found = read.find(column, Outer, body.reads.extent[Outer], source);
      COIR_UNROLL
      for (int d = 0; d < Outer; ++d)
        found = read.find(at.index[d], d, body.reads.extent[d], from.index[d]) && found;
      if (found) sum += body.term(read, from, source);
      if (read.closes) {
        auto& target = read.target.data[read.target.offset(at, column)];
        target = read.fresh ? sum : target + sum;
      }
    }
  }
};

/// Of any statement: the derivative along each read is computed from duals.
template <class T, int Outer, int Most, class Duals, class S>
struct GatherDuals {
  GatheredReads<T, char, Outer, Most> reads;
  Duals duals;
  SliceKernel<S const, Outer> cotangent;

  KOKKOS_FORCEINLINE_FUNCTION T zero() const { return T(0); }
  template <class Read, class I>
  KOKKOS_FORCEINLINE_FUNCTION T term(Read const&, ReadPlace<Outer, I> const& at, I column) const {
    return product_with_slope<T>(cotangent.cell(static_cast<Place<Outer, I> const&>(at), column),
                                 duals.cell(at, column));
  }

  void gather_rows(std::int64_t row, std::int64_t behind, std::int64_t begin,
                   std::int64_t end) const {
    for (; row < behind; ++row) {
      auto const at = reads.rows.place(row);
      for (std::int64_t first = begin; first < end; first += gathered_stretch)
        gather_stretch(at, first, std::min(end, first + gathered_stretch));
    }
  }

 private:
  void gather_stretch(Place<Outer> const& at, std::int64_t begin, std::int64_t end) const {
    T sums[gathered_stretch];
    std::int64_t const count = end - begin;
    for (int r = 0; r < reads.count; ++r) {
      auto const& read = reads.read[r];
      if (read.opens) std::fill_n(sums, count, T(0));
      ReadPlace<Outer> from;
      from.read = read.number;
      bool found = true;
      for (int d = 0; d < Outer; ++d)
        found = read.find(at.index[d], d, reads.extent[d], from.index[d]) && found;
      if (found) {
        std::int64_t const offset = read.offset[Outer], extent = reads.extent[Outer];
        add_piece(from, std::max(begin, offset) - offset, std::min(end, offset + extent) - offset,
                  sums + (std::max(begin, offset) - begin));
        if (read.periodic && offset != 0)  // cells that wrap
          add_piece(from, std::max(begin, offset + extent) - offset - extent, end - offset - extent,
                    sums + (std::max(begin, offset + extent) - begin));
      }
      if (!read.closes) continue;
      T* const out = read.target.start(at) + begin * read.target.step;
      std::int64_t const step = read.target.step;
      if (read.fresh && step == 1)
        std::copy_n(sums, count, out);
      else
        for (std::int64_t c = 0; c < count; ++c)
          out[c * step] = read.fresh ? sums[c] : out[c * step] + sums[c];
    }
  }

  void add_piece(ReadPlace<Outer> const& at, std::int64_t first, std::int64_t end, T* sums) const {
    if (first >= end) return;
    Scratch<Duals::scratch_bytes + scratch_for<S>> scratch;
    add_row(cotangent.row(at, first, end - first, scratch),
            duals.row(at, first, end - first, scratch), end - first, sums);
  }
  // By value, so that the compiler knows that no store changes them.
  template <class Row>
  static void add_row(S const* cotangents, Row const row, std::int64_t count, T* sums) {
    COIR_INDEPENDENT_ITERATIONS
    for (std::int64_t c = 0; c < count; ++c)
      sums[c] += product_with_slope<T>(cotangents[c], row[c]);
  }
};

/// Of a statement of real arrays, on devices: each derivative from what it needs alone, all reads
/// of a cell at a time, so that their loads wait together.
///
/// \tparam Nodes  the statement's nodes (partials.hpp)
/// \tparam Count  the number of its arrays
template <class T, int Outer, int Count, class Nodes>
struct GatherCells {
  static constexpr int nothing = -1, summed = -2;
  // A cell has several loads that wait together, and much code: one kernel with one cell a thread,
  // whether or not cells read what their neighbours read.
  static constexpr bool reads_no_neighbours = true;
  static constexpr int cells_per_thread = 1;
  using Index = std::int32_t;

  GatheredRead<T, char, Outer> read[Count];  // of each array
  int leader[Count];  // the first array with the same target; `nothing` if nothing comes back to it
                      // here, `summed` if gather() returns the sum
  RowNumbers<Outer> rows;               // of the frame
  std::int64_t extent[Outer + 1] = {};  // of the statement
  bool narrow;
  Nodes nodes;
  SliceKernel<T const, Outer> cotangent;

  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t column) const
    requires(Outer == 0)
  {
    (*this)(0, column);
  }
  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t row, std::int64_t column) const {
    if (narrow)
      gather(rows.place(static_cast<Index>(row)), static_cast<Index>(column));
    else
      gather(rows.place(row), column);
  }

  /// Writes what comes back to a cell of the targets.
  ///
  /// \returns what comes back through arrays that are `summed`
  template <class I>
  KOKKOS_FORCEINLINE_FUNCTION T gather(Place<Outer, I> const& at, I column) const {
    return gather_all(std::make_integer_sequence<int, Count>{}, at, column);
  }

 private:
  template <int... K, class I>
  KOKKOS_FORCEINLINE_FUNCTION T gather_all(std::integer_sequence<int, K...>,
                                           Place<Outer, I> const& at, I column) const {
    T const brings[] = {brought<K>(at, column)...};
    (write<K>(brings, at, column), ...);
    return ((leader[K] == summed ? brings[K] : T(0)) + ...);
  }

  template <int K, class I>
  KOKKOS_FORCEINLINE_FUNCTION T brought(Place<Outer, I> const& at, I column) const {
    if (leader[K] == nothing) return T(0);
    Place<Outer, I> from;
    I source;
    bool found = read[K].find(column, Outer, extent[Outer], source);
    COIR_UNROLL
    for (int d = 0; d < Outer; ++d)
      found = read[K].find(at.index[d], d, extent[d], from.index[d]) && found;
    // Without a branch, behind which loads would wait: cell 0 is there, too.
    source = found ? source : I(0);
    COIR_UNROLL
    for (int d = 0; d < Outer; ++d) from.index[d] = found ? from.index[d] : I(0);
    T const of_result = cotangent.cell(from, source);
    T const product = nodes.template bring<K, false>(from, source, of_result);
    return found && of_result != T(0) ? product : T(0);
  }

  template <int K, class I>
  KOKKOS_FORCEINLINE_FUNCTION void write(T const (&brings)[Count], Place<Outer, I> const& at,
                                         I column) const {
    if (leader[K] != K) return;
    T sum = brings[K];
    COIR_UNROLL
    for (int other = K + 1; other < Count; ++other)
      sum += leader[other] == K ? brings[other] : T(0);
    T& target = read[K].target.data[read[K].target.offset(at, column)];
    target = read[K].fresh ? sum : target + sum;
  }
};

/// Part of a row, to all columns of which the same reads bring something: to column c the cotangent
/// of column c - offset.
template <int Most>
struct Segment {
  struct Term {
    int read;
    std::int64_t offset;
  };
  std::int64_t begin, end;
  int count = 0;
  Term term[2 * Most];
};

/// The segments of a stretch of columns, for the reads [first, last] of one array.
template <int Most>
struct Segments {
  int count = 0;
  int longest = 0;
  Segment<Most> segment[4 * Most + 1];

  template <class Reads>
  void find(Reads const& reads, std::int64_t extent, std::int64_t begin, std::int64_t end,
            int first, int last) {
    while (begin < end) {
      Segment<Most>& now = segment[count++];
      now.begin = begin;
      now.end = end;
      for (int r = first; r <= last; ++r) {
        auto const& read = reads.read[r];
        std::int64_t offset = read.offset[std::size(read.offset) - 1];
        int const pieces = read.periodic && offset != 0 ? 2 : 1;
        for (int piece = 0; piece < pieces; ++piece, offset += extent) {
          if (offset > begin) {
            now.end = std::min(now.end, offset);
          } else if (offset + extent > begin) {
            now.end = std::min(now.end, offset + extent);
            now.term[now.count++] = {r, offset};
          }
        }
      }
      begin = now.end;
      auto const& other = segment[longest];
      if (now.end - now.begin > other.end - other.begin) longest = count - 1;
    }
  }
};

/// Sums rows times numbers into columns [begin, end) of a row of targets. Slope is char where all
/// numbers are 1.
template <class T, class Slope, class S, int Most>
struct RowSums {
  T* out;
  std::int64_t step;  // of out
  bool fresh;
  S const* x[2 * Most];  // from column 0 on
  Slope slopes[2 * Most];
  std::int64_t x_step;
  int terms = 0;

  KOKKOS_FORCEINLINE_FUNCTION static T product(S const& x, Slope slope) {
    if constexpr (std::same_as<Slope, char>)
      return x;
    else
      return math::select(x == S(0), T(0), static_cast<T>(static_cast<S>(x * slope)));
  }

  void add(std::int64_t begin, std::int64_t end) const {
    constexpr std::int64_t few = 8;
    if (x_step == 1 && step == 1 && end - begin >= few) {
      int done = 0;
      do {
        int const some = std::min(terms - done, most_terms);
        add_terms<std::min(2 * Most, most_terms)>(out, begin, end, x + done, slopes + done, some,
                                                  fresh && done == 0);
        done += some;
      } while (done < terms);
    } else {
      // In the order of add_terms(), so that a column's bits don't depend on where a thread begins.
      for (std::int64_t c = begin; c < end; ++c) {
        T total = fresh ? T(0) : out[c * step];
        for (int done = 0; done < terms; done += most_terms) {
          T sum = product(x[done][c * x_step], slopes[done]);
          int const behind = std::min(terms, done + most_terms);
          for (int t = done + 1; t < behind; ++t) sum += product(x[t][c * x_step], slopes[t]);
          total = fresh && done == 0 ? sum : total + sum;
        }
        out[c * step] = total;
      }
    }
  }

 private:
  /// In one loop.
  static constexpr int most_terms = 8;

  template <int Terms>
  static void add_terms(T* out, std::int64_t begin, std::int64_t end, S const* const* rows,
                        Slope const* slopes, int terms, bool fresh) {
    if constexpr (Terms == 0) {
      if (fresh) std::fill(out + begin, out + end, T(0));
    } else if (terms < Terms) {
      add_terms<Terms - 1>(out, begin, end, rows, slopes, terms, fresh);
    } else if (fresh) {
      write_sums<Terms, true>(out, begin, end, rows, slopes);
    } else {
      write_sums<Terms, false>(out, begin, end, rows, slopes);
    }
  }

  template <int Terms, bool Fresh>
  static void write_sums(T* out, std::int64_t begin, std::int64_t end, S const* const* rows,
                         Slope const* slopes) {
    S const* x[Terms];  // copies that no store overwrites
    Slope slope[Terms];
    for (int p = 0; p < Terms; ++p) {
      x[p] = rows[p];
      slope[p] = slopes[p];
    }
    COIR_INDEPENDENT_ITERATIONS
    for (std::int64_t c = begin; c < end; ++c) {
      T sum = product(x[0][c], slope[0]);
      for (int p = 1; p < Terms; ++p) sum += product(x[p][c], slope[p]);
      out[c] = Fresh ? sum : out[c] + sum;
    }
  }
};

/// Of a linear statement whose derivative along each read is a number.
template <class T, int Outer, int Most, class Slope, class S>
struct GatherNumbers {
  GatheredReads<T, Slope, Outer, Most> reads;
  SliceKernel<S const, Outer> cotangent;

  KOKKOS_FORCEINLINE_FUNCTION T zero() const { return T(0); }
  template <class Read, class I>
  KOKKOS_FORCEINLINE_FUNCTION T term(Read const& read, ReadPlace<Outer, I> const& at,
                                     I column) const {
    return RowSums<T, Slope, S, Most>::product(
        cotangent.cell(static_cast<Place<Outer, I> const&>(at), column), read.slope);
  }

  void gather_rows(std::int64_t row, std::int64_t behind, std::int64_t begin,
                   std::int64_t end) const {
    for (int first = 0; first < reads.count;) {
      int last = first;
      while (!reads.read[last].closes) ++last;
      gather_array(row, behind, begin, end, first, last);
      first = last + 1;
    }
  }

 private:
  /// Where a row of an array's cotangent is, and the rows that its reads bring; null for none.
  struct Row {
    T* out;
    S const* source[Most];
  };

  Row find_row(Place<Outer> const& at, int first, int last) const {
    Row result;
    result.out = reads.read[first].target.start(at);
    for (int r = first; r <= last; ++r) {
      Place<Outer> from;
      bool found = true;
      for (int d = 0; d < Outer; ++d)
        found = reads.read[r].find(at.index[d], d, reads.extent[d], from.index[d]) && found;
      result.source[r] = found ? cotangent.start(from) : nullptr;
    }
    return result;
  }

  /// All reads [first, last] of one array.
  void gather_array(std::int64_t row, std::int64_t behind, std::int64_t begin, std::int64_t end,
                    int first, int last) const {
    Segments<Most> segments;
    segments.find(reads, reads.extent[Outer], begin, end, first, last);
    while (row < behind) {
      auto const at = reads.rows.place(row);
      std::int64_t const rows = std::min(behind - row, rows_alike(at, begin, end, first, last));
      Row const now = find_row(at, first, last);
      // Rows one behind the other are one long row, if few columns are corrected afterwards.
      auto const& longest = segments.segment[segments.longest];
      bool const join = rows > 1 && 8 * (end - longest.end + longest.begin) <= end;
      if (join)
        gather_segment(now, longest, longest.begin, (rows - 1) * end + longest.end, 1, 0, first);
      for (int s = 0; s < segments.count; ++s) {
        auto const& segment = segments.segment[s];
        if (!join || s != segments.longest)
          gather_segment(now, segment, segment.begin, segment.end, rows, end, first);
      }
      row += rows;
    }
  }

  /// How many whole rows from one on lie one behind the other, in a target without old values and
  /// in all that it gets; otherwise 1.
  std::int64_t rows_alike(Place<Outer> const& at, std::int64_t begin, std::int64_t end, int first,
                          int last) const {
    if constexpr (Outer == 0) {
      return 1;
    } else {
      constexpr int d = Outer - 1;
      auto const& target = reads.read[first].target;
      if (!reads.read[first].fresh || begin != 0 || end != reads.extent[Outer] ||
          target.step != 1 || target.stride[d] != end || cotangent.step != 1 ||
          cotangent.stride[d] != end)
        return 1;
      std::int64_t rows = reads.rows.extent[d] - at.index[d];
      for (int r = first; r <= last; ++r) {
        std::int64_t source;
        if (reads.read[r].find(at.index[d], d, reads.extent[d], source))
          rows = std::min(rows, reads.extent[d] - source);
        else if (source < 0)
          rows = std::min(rows, -source);
      }
      return rows;
    }
  }

  /// The columns [begin, end) of rows that lie `distance` elements behind each other.
  void gather_segment(Row const& row, Segment<Most> const& segment, std::int64_t begin,
                      std::int64_t end, std::int64_t rows, std::int64_t distance, int first) const {
    auto const& target = reads.read[first];
    RowSums<T, Slope, S, Most> sums{row.out, target.target.step, target.fresh, {},
                                    {},      cotangent.step};
    for (int t = 0; t < segment.count; ++t) {
      auto const& term = segment.term[t];
      if (row.source[term.read] == nullptr) continue;
      sums.x[sums.terms] = row.source[term.read] - term.offset * cotangent.step;
      sums.slopes[sums.terms++] = reads.read[term.read].slope;
    }
    for (std::int64_t r = 0; r < rows; ++r) {
      sums.add(begin, end);
      sums.out += distance;
      for (int t = 0; t < sums.terms; ++t) sums.x[t] += distance;
    }
  }
};

/// Of a statement of real arrays, on hosts: all derivatives of a cell in one evaluation. What comes
/// back through each array is stored for some rows of the statement, from which targets gather.
///
/// \tparam Nodes  the statement's nodes (partials.hpp)
/// \tparam Count  the number of its arrays
template <class T, int Outer, int Most, int Count, class Nodes>
struct GatherPartials {
  GatheredReads<T, char, Outer, Most> reads;  // numbered as the arrays; -1 if nothing comes back
  Nodes nodes;
  SliceKernel<T const, Outer> cotangent;

  void gather_rows(std::int64_t row, std::int64_t behind, std::int64_t begin,
                   std::int64_t end) const {
    std::int64_t const columns = reads.extent[Outer] <= whole_row ? end - begin : columns_of_tile;
    for (std::int64_t first = begin; first < end; first += columns)
      gather_tile(row, behind, first, std::min(end, first + columns));
  }

  /// How many rows of the statement a row of the targets reads.
  int rows_read() const {
    int different = 0;
    for (int r = 0; r < reads.count; ++r) {
      bool is_new = true;
      for (int other = 0; other < r; ++other) {
        bool same = true;
        for (int d = 0; d < Outer; ++d)
          same = same && reads.read[r].offset[d] == reads.read[other].offset[d];
        is_new = is_new && !same;
      }
      different += is_new ? 1 : 0;
    }
    return different;
  }

 private:
  static constexpr std::int64_t whole_row = 2048, columns_of_tile = 1024, near = 128;
  // A column is computed in the same lane of a vector, whatever the tile and the thread.
  static constexpr std::int64_t vectors = 64;
  static constexpr std::int64_t longest_piece = columns_of_tile + whole_row + 2 * vectors;

  /// The columns [begin, end) of some rows of the statement.
  struct Rows {
    std::int64_t begin = 0, end = 0;
    int count = 0;
    std::int64_t number[Most];  // of each row; -1 if it isn't there
    T* values = nullptr;        // [count, Count, width()]
    T* pieces = nullptr;        // of other columns: [Most + Count, longest_piece]

    std::int64_t width() const { return end - begin; }
    T* of(int place) const { return values + place * Count * width(); }
  };

  void gather_tile(std::int64_t row, std::int64_t behind, std::int64_t begin,
                   std::int64_t end) const {
    std::int64_t const extent = reads.extent[Outer];
    Rows rows;
    rows.count = rows_read();
    rows.end = extent;
    if (extent > whole_row) {
      std::int64_t low = begin, high = end;
      for (int r = 0; r < reads.count; ++r) {
        std::int64_t const offset = reads.read[r].offset[Outer];
        for (std::int64_t const each : {offset, offset + extent})
          if (std::abs(each) <= near) {
            low = std::min(low, begin - each);
            high = std::max(high, end - each);
          }
      }
      rows.begin = std::clamp<std::int64_t>(low, 0, extent) / vectors * vectors;
      rows.end = std::min(extent, (std::max(high, rows.begin) + vectors - 1) / vectors * vectors);
    }
    std::fill_n(rows.number, rows.count, -1);
    static thread_local std::vector<T> memory;
    std::int64_t const of_rows = rows.count * Count * rows.width();
    memory.resize(static_cast<std::size_t>(of_rows + (Most + Count) * longest_piece));
    rows.values = memory.data();
    rows.pieces = memory.data() + of_rows;
    std::vector<Segments<Most>> segments;
    for (int first = 0; first < reads.count;) {
      int const last = last_of(first);
      segments.emplace_back().find(reads, extent, begin, end, first, last);
      first = last + 1;
    }
    for (; row < behind; ++row) gather_row(reads.rows.place(row), rows, segments);
  }

  int last_of(int first) const {
    while (!reads.read[first].closes) ++first;
    return first;
  }

  void gather_row(Place<Outer> const& at, Rows& rows,
                  std::vector<Segments<Most>> const& segments) const {
    Place<Outer> from[Most];
    std::int64_t number[Most];
    int place[Most];
    for (int r = 0; r < reads.count; ++r) {
      bool found = reads.read[r].number >= 0;
      number[r] = 0;
      for (int d = 0; d < Outer; ++d) {
        found = reads.read[r].find(at.index[d], d, reads.extent[d], from[r].index[d]) && found;
        number[r] = number[r] * reads.extent[d] + from[r].index[d];
      }
      if (!found) number[r] = -1;
    }
    for (int r = 0; r < reads.count; ++r) {
      if (number[r] < 0) continue;
      auto const end = rows.number + rows.count;
      auto there = std::find(rows.number, end, number[r]);
      if (there == end) {
        there = std::find_if(rows.number, end, [&](std::int64_t kept) {
          return std::find(number, number + reads.count, kept) == number + reads.count || kept < 0;
        });
        *there = number[r];
        evaluate(from[r], rows.begin, rows.end, rows.of(static_cast<int>(there - rows.number)),
                 rows.width());
      }
      place[r] = static_cast<int>(there - rows.number);
    }
    for (int first = 0, array = 0; first < reads.count; ++array) {
      auto const& target = reads.read[first];
      RowSums<T, char, T, Most> sums{
          target.target.start(at), target.target.step, target.fresh, {}, {}, 1};
      auto const& segment = segments[static_cast<std::size_t>(array)].segment;
      for (int s = 0; s < segments[static_cast<std::size_t>(array)].count; ++s) {
        sums.terms = 0;
        int pieces = 0;
        for (int t = 0; t < segment[s].count; ++t) {
          auto const [r, offset] = segment[s].term[t];
          if (number[r] < 0) continue;
          std::int64_t const begin = segment[s].begin - offset, end = segment[s].end - offset;
          sums.slopes[sums.terms] = 1;
          sums.x[sums.terms++] =
              begin >= rows.begin && end <= rows.end
                  ? rows.of(place[r]) + reads.read[r].number * rows.width() - rows.begin - offset
                  : piece(from[r], begin, end, reads.read[r].number, rows, pieces++) -
                        segment[s].begin;
        }
        sums.add(segment[s].begin, segment[s].end);
      }
      first = last_of(first) + 1;
    }
  }

  /// What comes back through one array from other columns of a row.
  T const* piece(Place<Outer> const& at, std::int64_t begin, std::int64_t end, int array,
                 Rows const& rows, int kept) const {
    std::int64_t const first = begin / vectors * vectors,
                       last =
                           std::min(reads.extent[Outer], (end + vectors - 1) / vectors * vectors);
    T* const all = rows.pieces + Most * longest_piece;
    T* const result = rows.pieces + kept * longest_piece;
    evaluate(at, first, last, all, longest_piece);
    std::copy(all + array * longest_piece + begin - first,
              all + array * longest_piece + end - first, result);
    return result;
  }

  /// All that comes back from columns [begin, end) of a row: [Count, width].
  void evaluate(Place<Outer> const& at, std::int64_t begin, std::int64_t end, T* values,
                std::int64_t width) const {
    for (std::int64_t first = begin; first < end; first += gathered_stretch) {
      std::int64_t const count = std::min(gathered_stretch, end - first);
      Scratch<Nodes::scratch_bytes + scratch_for<T>> scratch;
      store(cotangent.row(at, first, count, scratch), nodes.row(at, first, count, scratch), count,
            values + first - begin, width);
    }
  }
  // By value, so that the compiler knows that no store changes them.
  template <class Row>
  static void store(T const* cotangents, Row const row, std::int64_t count, T* values,
                    std::int64_t width) {
    COIR_INDEPENDENT_ITERATIONS
    for (std::int64_t c = 0; c < count; ++c) {
      T const cotangent = cotangents[c];
      T brings[Count];
      row.template back<false>(c, cotangent, brings);
      [&]<std::size_t... K>(std::index_sequence<K...>) {
        ((values[static_cast<std::int64_t>(K) * width + c] =
              math::select(cotangent == T(0), T(0), brings[K])),
         ...);
      }(std::make_index_sequence<Count>{});
    }
  }
};

}  // namespace coir::detail
