#pragma once

/// \file
/// A box as rows along its last index, and loops over it on hosts.

#include <coir/core/kokkos.hpp>
#include <coir/core/tasks.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <string_view>
#include <type_traits>
#include <utility>

// Iterations of for_each are independent: the compiler needs no checks of aliases.
#if defined(__GNUC__) && !defined(__clang__) && !defined(__CUDA_ARCH__) && !defined(__HIPCC__)
#define COIR_INDEPENDENT_ITERATIONS _Pragma("GCC ivdep")
#else
#define COIR_INDEPENDENT_ITERATIONS
#endif

// GCC writes out loops of at most 16 iterations before it looks for vectors, unless it is told not
// to. nvcc doesn't know the pragma.
#if defined(__GNUC__) && !defined(__clang__) && !defined(__CUDACC__) && !defined(__HIPCC__)
#define COIR_SHORT_VECTOR_LOOP _Pragma("GCC ivdep") _Pragma("GCC unroll 1")
#else
#define COIR_SHORT_VECTOR_LOOP COIR_INDEPENDENT_ITERATIONS
#endif

namespace coir::detail {

/// The rows of a box: `count` of them, each of `length` consecutive last indices from `first`.
template <int Rank, class Index>
struct Rows {
  Index first;
  std::int64_t length;
  std::int64_t count = 1;
  Index lower[2] = {0, 0};  // of the leading indices
  Index middle = 1;         // rank 3: extent of the middle index

  template <class Box>
  explicit Rows(Box const& box) : first(box.lower[Rank - 1]), length(box.extent(Rank - 1)) {
    for (int d = 0; d + 1 < Rank; ++d) {
      lower[d] = box.lower[d];
      count *= box.extent(d);
    }
    if constexpr (Rank == 3) middle = box.extent(1);
  }

  std::int64_t cells() const { return count * length; }

  /// Two parts of a box of at least two cells, cut across its first index that has several values.
  std::pair<Rows, Rows> halves() const {
    Rows one = *this, other = *this;
    if (count > 1) {
      // Whole planes if there are several, otherwise rows.
      std::int64_t const planes = Rank == 3 ? count / middle : count,
                         rows_of_plane = count / planes;
      if (planes > 1) {
        one.count = planes / 2 * rows_of_plane;
        other.lower[0] = static_cast<Index>(other.lower[0] + planes / 2);
      } else {
        one.count = count / 2;
        one.middle = static_cast<Index>(one.count);
        other.lower[1] = static_cast<Index>(other.lower[1] + one.middle);
        other.middle = static_cast<Index>(other.middle - one.middle);
      }
      other.count = count - one.count;
    } else {
      one.length = length / 2;
      other.first = static_cast<Index>(other.first + one.length);
      other.length = length - one.length;
    }
    return {one, other};
  }

  /// The leading indices of a row; unused ones are 0.
  struct Leading {
    Index i = 0;
    Index j = 0;
  };

  /// Calls visit(leading indices, first column, column after the last) for each row, or part of one
  /// of at most `longest` columns, among the cells [begin, end), which are numbered row by row.
  template <class Visit>
  void for_cells(std::int64_t begin, std::int64_t end, std::int64_t longest,
                 Visit const& visit) const {
    std::int64_t const row = begin == 0 ? 0 : begin / length;  // dividing takes long
    std::int64_t column = begin - row * length;
    Leading at = leading(row);
    for (std::int64_t left = end - begin; left > 0;) {
      std::int64_t const part = std::min({left, length - column, longest});
      visit(at, static_cast<Index>(first + column), static_cast<Index>(first + column + part));
      left -= part;
      column += part;
      if (column == length) {
        column = 0;
        advance(at);
      }
    }
  }

  /// Calls body.stretch with the leading indices of a row and a range of its columns.
  template <class Body>
  static void stretch_at(Body const& body, Leading at, Index begin, Index end) {
    if constexpr (Rank == 1)
      body.stretch(begin, end);
    else if constexpr (Rank == 2)
      body.stretch(at.i, begin, end);
    else
      body.stretch(at.i, at.j, begin, end);
  }

  /// Calls body.terms with the leading indices of a row and a range of its columns.
  template <class Body>
  static auto terms_at(Body const& body, Leading at, Index begin, Index end) {
    if constexpr (Rank == 1)
      return body.terms(begin, end);
    else if constexpr (Rank == 2)
      return body.terms(at.i, begin, end);
    else
      return body.terms(at.i, at.j, begin, end);
  }

  /// Calls body.fold with the leading indices of a row, a range of its columns and `value`.
  template <class Body, class Value>
  static void fold_at(Body const& body, Leading at, Index begin, Index end, Value& value) {
    if constexpr (Rank == 1)
      body.fold(begin, end, value);
    else if constexpr (Rank == 2)
      body.fold(at.i, begin, end, value);
    else
      body.fold(at.i, at.j, begin, end, value);
  }

  /// Calls body with the indices of the cell at `column` of a row, then with `values`.
  template <class Body, class... Values>
  static void call_at(Body const& body, Leading at, Index column, Values&... values) {
    if constexpr (Rank == 1)
      body(column, values...);
    else if constexpr (Rank == 2)
      body(at.i, column, values...);
    else
      body(at.i, at.j, column, values...);
  }

 private:
  Leading leading(std::int64_t row) const {
    if constexpr (Rank == 1)
      return {};
    else if constexpr (Rank == 2)
      return {static_cast<Index>(lower[0] + row)};
    else
      return {static_cast<Index>(lower[0] + row / middle),
              static_cast<Index>(lower[1] + row % middle)};
  }

  /// Moves on to the next row, without dividing.
  void advance(Leading& at) const {
    if constexpr (Rank == 2) {
      ++at.i;
    } else if constexpr (Rank == 3) {
      if (++at.j == lower[1] + middle) {
        at.j = lower[1];
        ++at.i;
      }
    }
  }
};

/// A body with stretch(), which takes a stretch of a row on hosts: see for_each.
template <class Body, int Rank>
concept WalksStretches = (Rank == 1 && requires(Body const& body) { body.stretch(0, 0); }) ||
                         (Rank == 2 && requires(Body const& body) { body.stretch(0, 0, 0); }) ||
                         (Rank == 3 && requires(Body const& body) { body.stretch(0, 0, 0, 0); });

/// A body with terms(), which prepares the terms of a stretch of a row on hosts: see reduce.
template <class Body, int Rank>
concept PreparesTerms = (Rank == 1 && requires(Body const& body) { body.terms(0, 0); }) ||
                        (Rank == 2 && requires(Body const& body) { body.terms(0, 0, 0); }) ||
                        (Rank == 3 && requires(Body const& body) { body.terms(0, 0, 0, 0); });

/// A body with fold(), which folds a stretch of a row into a value on hosts: see reduce.
template <class Body, int Rank, class Value>
concept FoldsStretches =
    (Rank == 1 && requires(Body const& body, Value& value) { body.fold(0, 0, value); }) ||
    (Rank == 2 && requires(Body const& body, Value& value) { body.fold(0, 0, 0, value); }) ||
    (Rank == 3 && requires(Body const& body, Value& value) { body.fold(0, 0, 0, 0, value); });

/// The number of cells of memory that an index of a body stands for: body.cells_per_index(), by
/// default 1.
template <class Body>
std::int64_t cells_per_index(Body const& body) {
  if constexpr (requires { body.cells_per_index(); })
    return std::max<std::int64_t>(body.cells_per_index(), 1);
  else
    return 1;
}

/// The number of the first cell of a thread's share, counted row by row. With many rows shares
/// begin with a row, otherwise at a multiple of 64 cells of a row, which are whole vectors. So for
/// any number of threads the same columns are computed by vector instructions.
template <int Rank, class Index>
std::int64_t begin_of_share(Rows<Rank, Index> const& rows, std::int64_t share,
                            std::int64_t threads) {
  constexpr std::int64_t whole_vectors = 64;
  if (share == 0) return 0;  // without dividing
  if (share == threads) return rows.cells();
  if (rows.count >= 8 * threads) return rows.count * share / threads * rows.length;
  std::int64_t const cell = rows.cells() * share / threads;
  return cell - cell % rows.length % whole_vectors;
}

template <class Exec, int Rank, class Index, class Body>
void for_each_on_host(std::string_view label, Exec const& exec, Rows<Rank, Index> const& rows,
                      Body const& body) {
  std::int64_t const threads = threads_worth_starting(exec, rows.cells() * cells_per_index(body));
  auto const visit_share = [=](std::int64_t share, Body const& each) {
    rows.for_cells(begin_of_share(rows, share, threads), begin_of_share(rows, share + 1, threads),
                   rows.length, [&](auto at, Index first, Index last) {
                     if constexpr (WalksStretches<Body, Rank>) {
                       rows.stretch_at(each, at, first, last);
                     } else {
                       COIR_INDEPENDENT_ITERATIONS
                       for (Index column = first; column < last; ++column)
                         rows.call_at(each, at, column);
                     }
                   });
  };
  run_on_host(label, exec, threads, visit_share, body);
}

/// Partial results of a reduction: lane l takes every lanes-th term, so that they vectorise.
template <class Reducer, int Size = 32>
struct Lanes {
  using Value = typename Reducer::value_type;
  static constexpr int size = Size;
  Value value[size];

  explicit Lanes(Reducer const& reducer) { clear(reducer); }

  void clear(Reducer const& reducer) {
    for (int l = 0; l < size; ++l) reducer.init(value[l]);
  }

  void join(Reducer const& reducer, Lanes const& other) {
    for (int l = 0; l < size; ++l) reducer.join(value[l], other.value[l]);
  }

  /// All lanes in one, pairwise. Neighbours are joined first: few huge terms of alternating signs
  /// don't overflow.
  Value joined(Reducer const& reducer) const {
    Value half[size / 2];
    COIR_SHORT_VECTOR_LOOP
    for (int l = 0; l < size / 2; ++l) {
      half[l] = value[2 * l];
      reducer.join(half[l], value[2 * l + 1]);
    }
    for (int width = size / 4; width > 0; width /= 2) {
      COIR_SHORT_VECTOR_LOOP
      for (int l = 0; l < width; ++l) reducer.join(half[l], half[l + width]);
    }
    return half[0];
  }
};

/// Joins terms [0, count), at least Size of them, in lanes alone. The last lanes take the terms
/// that are left over: one by one they would not be computed by vector instructions.
template <int Size, class Term, class Reducer>
typename Reducer::value_type fold_in_lanes(std::int64_t count, Term const& term,
                                           Reducer const& reducer) {
  Lanes<Reducer, Size> lanes(reducer);
  std::int64_t c = 0;
  for (; count - c >= Size; c += Size) {
    COIR_SHORT_VECTOR_LOOP
    for (int l = 0; l < Size; ++l) term(c + l, lanes.value[l]);
  }
  if (c < count) {
    auto const first = static_cast<int>(Size - (count - c));  // of the lanes that go on
    COIR_SHORT_VECTOR_LOOP
    for (int l = 0; l < Size; ++l) {
      auto longer = lanes.value[l];
      term(count - Size + l, longer);
      lanes.value[l] = l < first ? lanes.value[l] : longer;
    }
  }
  return lanes.joined(reducer);
}

/// The sum of many Lanes, made pairwise like the carries of a binary counter: rounding errors grow
/// with the logarithm of their number.
template <class Reducer>
class PairwiseSum {
 public:
  PairwiseSum() {}

  void add(Reducer const& reducer, Lanes<Reducer> const& terms) {
    Lanes<Reducer> const* sum = &terms;
    int level = 0;
    for (; count_ >> level & 1; ++level) {
      levels_[level].join(reducer, *sum);
      sum = &levels_[level];
    }
    levels_[level] = *sum;
    ++count_;
  }

  Lanes<Reducer> total(Reducer const& reducer) const {
    Lanes<Reducer> sum(reducer);
    for (int level = 0; count_ >> level != 0; ++level)
      if (count_ >> level & 1) sum.join(reducer, levels_[level]);
    return sum;
  }

 private:
  static constexpr int most_levels = 64 - 9;  // of 2^63 terms in sums of 2^9
  std::uint64_t count_ = 0;
  union {  // left unset until a carry reaches them
    Lanes<Reducer> levels_[most_levels];
  };
};

/// Whether joining rounds, so that errors add up: Reducer::rounds if there is one, otherwise true
/// for all types but integers.
template <class Reducer>
inline constexpr bool rounds = !std::is_integral_v<typename Reducer::value_type>;
template <class Reducer>
  requires requires { Reducer::rounds; }
inline constexpr bool rounds<Reducer> = Reducer::rounds;

/// Joins the terms of the cells [begin, end) of a box, in an order that depends on the box, begin
/// and end alone.
template <int Rank, class Index, class Body, class Reducer>
COIR_COMPILED_ONCE typename Reducer::value_type fold_cells(Rows<Rank, Index> const& rows,
                                                           std::int64_t begin, std::int64_t end,
                                                           Body const& body,
                                                           Reducer const& reducer) {
  // Terms per block of lanes before the pairwise summation; more if sums don't round.
  constexpr std::int64_t max_terms = rounds<Reducer> ? 512 : 4096;
  std::int64_t longest = 4096;
  if constexpr (PreparesTerms<Body, Rank>) longest = std::min(longest, body.longest_terms());
  using L = Lanes<Reducer>;
  L recent(reducer);  // terms of stretches shorter than max_terms
  std::int64_t terms = 0;
  PairwiseSum<Reducer> total;
  // term(column, value) folds one term into value.
  auto const fold = [&](Index column, Index last, auto const& term) {
    while (last - column >= L::size) {
      bool const whole = last - column >= max_terms;
      Index const stop =
          column + static_cast<Index>(whole ? max_terms : (last - column) / L::size * L::size);
      if (!whole) terms += stop - column;
      L lanes(reducer);  // for this stretch alone, so that they stay in registers
      for (; column < stop; column += L::size) {
        COIR_INDEPENDENT_ITERATIONS
        for (int l = 0; l < L::size; ++l) term(static_cast<Index>(column + l), lanes.value[l]);
      }
      if (whole)
        total.add(reducer, lanes);
      else
        recent.join(reducer, lanes);
    }
    terms += last - column;
    for (int l = 0; column < last; ++column, ++l) term(column, recent.value[l]);
    if (terms >= max_terms) {
      total.add(reducer, recent);
      recent.clear(reducer);
      terms = 0;
    }
  };
  rows.for_cells(begin, end, longest, [&](auto at, Index first, Index last) {
    if constexpr (PreparesTerms<Body, Rank>)
      fold(first, last, rows.terms_at(body, at, first, last));
    else
      fold(first, last, [&](Index column, auto& value) { rows.call_at(body, at, column, value); });
  });
  total.add(reducer, recent);
  return total.total(reducer).joined(reducer);
}

/// fold_cells() for a body that folds whole stretches.
template <int Rank, class Index, class Body, class Reducer>
  requires FoldsStretches<Body, Rank, typename Reducer::value_type>
COIR_COMPILED_ONCE typename Reducer::value_type fold_cells(Rows<Rank, Index> const& rows,
                                                           std::int64_t begin, std::int64_t end,
                                                           Body const& body,
                                                           Reducer const& reducer) {
  typename Reducer::value_type value;
  reducer.init(value);
  rows.for_cells(begin, end, body.longest_terms(), [&](auto at, Index first, Index last) {
    rows.fold_at(body, at, first, last, value);
  });
  return value;
}

template <class Exec, int Rank, class Index, class Body, class Reducer>
void reduce_on_host(std::string_view label, Exec const& exec, Rows<Rank, Index> const& rows,
                    Body const& body, Reducer const& reducer) {
  // Groups depend on the box, never on the number of threads.
  constexpr std::int64_t max_groups = 256;
  std::int64_t const cells = rows.cells();
  std::int64_t const groups = std::clamp<std::int64_t>(cells / cells_worth_a_thread, 1, max_groups);
  std::int64_t const unit = rows.count >= groups ? rows.length : 1;  // whole rows if possible
  std::int64_t const units = cells / unit;
  typename Reducer::value_type partial[max_groups];
  if constexpr (requires { reducer.is_final(partial[0]); }) {
    // The first cells may decide, before threads start.
    constexpr std::int64_t first_cells = 1024;
    if (cells > first_cells) {
      partial[0] = fold_cells(rows, 0, first_cells, body, reducer);
      if (reducer.is_final(partial[0])) {
        reducer.reference() = partial[0];
        return;
      }
    }
  }

  std::int64_t const threads = threads_worth_starting(exec, cells, groups);
  auto const fold = [=, partial = &partial[0]](std::int64_t group, Body const& each) {
    partial[group] = fold_cells(rows, units * group / groups * unit,
                                units * (group + 1) / groups * unit, each, reducer);
  };
  constexpr std::int64_t long_loop = 1 << 22;
  if (threads > 1 && cells >= long_loop) {
    for_each_piece(label, exec, groups, threads, [&](std::int64_t group) { fold(group, body); });
  } else {
    auto const fold_share = [=](std::int64_t share, Body const& each) {
      std::int64_t const end = groups * (share + 1) / threads;
      for (std::int64_t group = groups * share / threads; group < end; ++group) fold(group, each);
    };
    run_on_host(label, exec, threads, fold_share, body);
  }

  for (std::int64_t width = 1; width < groups; width *= 2)  // pairwise again
    for (std::int64_t group = 0; group + width < groups; group += 2 * width)
      reducer.join(partial[group], partial[group + width]);
  reducer.reference() = partial[0];
}

}  // namespace coir::detail
