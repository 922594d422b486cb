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

/// Calls body.gather(at, column) for each cell on devices, and body.gather_row(at, begin, end) for
/// stretches of rows on hosts.
template <class Body, int Outer>
struct GatherLoop {
  Body body;

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
    body.gather_row(Place<0>{}, begin, end);
  }
  void stretch(std::int64_t row, std::int64_t begin, std::int64_t end) const
    requires(Outer > 0)
  {
    body.gather_row(body.reads.rows.place(row), begin, end);
  }

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

  void gather_row(Place<Outer> const& at, std::int64_t begin, std::int64_t end) const {
    for (; begin < end; begin += gathered_stretch)
      gather_stretch(at, begin, std::min(end, begin + gathered_stretch));
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

  void gather_row(Place<Outer> const& at, std::int64_t begin, std::int64_t end) const {
    for (int first = 0; first < reads.count;) {
      int behind = first + 1;
      while (!reads.read[behind - 1].closes) ++behind;
      gather_array(at, begin, end, first, behind);
      first = behind;
    }
  }

 private:
  KOKKOS_FORCEINLINE_FUNCTION static T product(S const& x, Slope slope) {
    return static_cast<T>(static_cast<S>(x * slope));
  }

  /// The cotangents that a read brings to columns of a row: at cotangents[column * step] for the
  /// columns [begin, end).
  struct Piece {
    S const* cotangents;
    Slope slope;
    std::int64_t begin, end;
  };

  /// All reads [first, behind) of one array. Between the ends of their pieces the same pieces bring
  /// something to all columns.
  void gather_array(Place<Outer> const& at, std::int64_t begin, std::int64_t end, int first,
                    int behind) const {
    Piece pieces[2 * Most];
    int count = 0;
    std::int64_t const extent = reads.extent[Outer], step = cotangent.step;
    for (int r = first; r < behind; ++r) {
      auto const& read = reads.read[r];
      Place<Outer> from;
      bool found = true;
      for (int d = 0; d < Outer; ++d)
        found = read.find(at.index[d], d, reads.extent[d], from.index[d]) && found;
      if (!found) continue;
      std::int64_t const offset = read.offset[Outer];
      S const* const row = cotangent.start(from);
      pieces[count++] = {row - offset * step, read.slope, offset, offset + extent};
      if (read.periodic && offset != 0)
        pieces[count++] = {row - (offset + extent) * step, read.slope, offset + extent,
                           offset + 2 * extent};
    }
    auto const& target = reads.read[first].target;
    T* const out = target.start(at);
    bool const fresh = reads.read[first].fresh;
    while (begin < end) {
      constexpr std::int64_t few = 8;
      std::int64_t until = end;
      S const* x[2 * Most];
      Slope slopes[2 * Most];
      int terms = 0;
      for (int p = 0; p < count; ++p) {
        if (pieces[p].begin > begin) {
          until = std::min(until, pieces[p].begin);
        } else if (pieces[p].end > begin) {
          until = std::min(until, pieces[p].end);
          x[terms] = pieces[p].cotangents;
          slopes[terms++] = pieces[p].slope;
        }
      }
      if (step == 1 && target.step == 1 && until - begin >= few) {
        int done = 0;
        do {
          int const some = std::min(terms - done, most_terms);
          add_terms<std::min(2 * Most, most_terms)>(out, begin, until, x + done, slopes + done,
                                                    some, fresh && done == 0);
          done += some;
        } while (done < terms);
      } else {
        for (std::int64_t c = begin; c < until; ++c) {
          T sum(0);
          for (int p = 0; p < terms; ++p) sum += product(x[p][c * step], slopes[p]);
          out[c * target.step] = fresh ? sum : out[c * target.step] + sum;
        }
      }
      begin = until;
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
