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
#include <cstdint>
#include <type_traits>

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

/// Of a linear statement whose derivative along each read is a number.
template <class T, int Outer, int Most, class Slope, class S>
struct GatherNumbers {
  GatheredReads<T, Slope, Outer, Most> reads;
  SliceKernel<S const, Outer> cotangent;

  KOKKOS_FORCEINLINE_FUNCTION T zero() const { return T(0); }
  template <class Read, class I>
  KOKKOS_FORCEINLINE_FUNCTION T term(Read const& read, ReadPlace<Outer, I> const& at,
                                     I column) const {
    return product(cotangent.cell(static_cast<Place<Outer, I> const&>(at), column), read.slope);
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
  KOKKOS_FORCEINLINE_FUNCTION static T product(S const& x, Slope slope) {
    return static_cast<T>(static_cast<S>(x * slope));
  }

  /// Part of a row, to all columns of which the same reads bring something: to column c the
  /// cotangent of column c - offset.
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
  struct Segments {
    int count = 0;
    int longest = 0;
    Segment segment[4 * Most + 1];

    void find(GatherNumbers const& body, std::int64_t begin, std::int64_t end, int first,
              int last) {
      std::int64_t const extent = body.reads.extent[Outer];
      while (begin < end) {
        Segment& now = segment[count++];
        now.begin = begin;
        now.end = end;
        for (int r = first; r <= last; ++r) {
          auto const& read = body.reads.read[r];
          std::int64_t offset = read.offset[Outer];
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
    Segments segments;
    segments.find(*this, begin, end, first, last);
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
  void gather_segment(Row const& row, Segment const& segment, std::int64_t begin, std::int64_t end,
                      std::int64_t rows, std::int64_t distance, int first) const {
    constexpr std::int64_t few = 8;
    std::int64_t const step = cotangent.step, target_step = reads.read[first].target.step;
    bool const fresh = reads.read[first].fresh;
    T* out = row.out;
    S const* x[2 * Most];
    Slope slopes[2 * Most];
    int terms = 0;
    for (int t = 0; t < segment.count; ++t) {
      auto const& term = segment.term[t];
      if (row.source[term.read] == nullptr) continue;
      x[terms] = row.source[term.read] - term.offset * step;
      slopes[terms++] = reads.read[term.read].slope;
    }
    for (std::int64_t r = 0; r < rows; ++r) {
      if (step == 1 && target_step == 1 && end - begin >= few) {
        int done = 0;
        do {
          int const some = std::min(terms - done, most_terms);
          add_terms<std::min(2 * Most, most_terms)>(out, begin, end, x + done, slopes + done, some,
                                                    fresh && done == 0);
          done += some;
        } while (done < terms);
      } else {
        for (std::int64_t c = begin; c < end; ++c) {
          T sum(0);
          for (int t = 0; t < terms; ++t) sum += product(x[t][c * step], slopes[t]);
          out[c * target_step] = fresh ? sum : out[c * target_step] + sum;
        }
      }
      out += distance;
      for (int t = 0; t < terms; ++t) x[t] += distance;
    }
  }

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

}  // namespace coir::detail
