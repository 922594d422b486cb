#pragma once

/// \file
/// The way back through one statement: from the cotangent of its result to the cotangents of the
/// arrays that it read.
///
/// Hosts evaluate the expression again with dual numbers, and devices go back through its nodes
/// cell by cell. The derivative along each read times the result's cotangent is added to the
/// cotangent of the array that was read. A statement that reads one array once needs an elementwise
/// kernel for that. All others are one gathering kernel (see gather.hpp) for all reads of arrays of
/// one shape. If an array was stretched, the products are summed along the stretched axes: hosts
/// store them first, devices sum them as they compute them where the axes allow it. Linear
/// statements need no values on the way back.

#include <coir/array/array.hpp>
#include <coir/array/axis_reductions.hpp>
#include <coir/array/dual_elements.hpp>
#include <coir/array/operators.hpp>
#include <coir/autodiff/detail/dual_complex.hpp>
#include <coir/autodiff/detail/gather.hpp>
#include <coir/autodiff/detail/joined_axes.hpp>
#include <coir/autodiff/detail/linear.hpp>
#include <coir/autodiff/detail/partials.hpp>
#include <coir/autodiff/detail/reads.hpp>
#include <coir/autodiff/detail/tape.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <concepts>
#include <cstdint>
#include <iterator>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace coir {

/// An expression of Traced arrays. Masks don't count, because their derivatives are 0.
template <class E>
concept TracedExpression =
    Expression<E> && detail::holds_traced<std::remove_cvref_t<E>> && !std::integral<value_t<E>>;

namespace detail {

/// Makes a number a dual with the derivative `seed`. A complex number has two directions: its real
/// and its imaginary part.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION auto seeded(T const& x, real_t<T> seed) {
  if constexpr (is_complex<T>) {
    DualComplex<real_t<T>, 2> result(x);
    result.re.derivative[0] = seed;
    result.im.derivative[1] = seed;
    return result;
  } else {
    Dual<T, 1> result(x);
    result.derivative[0] = seed;
    return result;
  }
}

/// An array's values as duals, along the read that a ReadPlace names. Where places name none, the
/// expression has this read alone.
template <class T, class Values>
struct SeededKernel {
  static constexpr std::size_t scratch_bytes = Values::scratch_bytes;
  Values values;
  int read;

  template <class Row>
  struct SeededRow {
    Row row;
    real_t<T> seed;
    auto operator[](std::int64_t c) const { return seeded<T>(row[c], seed); }
  };

  bool direct() const { return values.direct(); }
  std::int64_t contiguous_until(std::int64_t first, std::int64_t end) const {
    return values.contiguous_until(first, end);
  }
  template <bool Direct = false, class P, class S>
  auto row(P const& at, std::int64_t first, std::int64_t count, S& scratch) const {
    auto const row = values.template row<Direct>(at, first, count, scratch);
    return SeededRow<std::remove_const_t<decltype(row)>>{row, seed_at(at)};
  }
  template <class P, class I>
  KOKKOS_FORCEINLINE_FUNCTION auto cell(P const& at, I column) const {
    return seeded<T>(values.cell(at, column), seed_at(at));
  }
  template <int Width>
  bool has_vectors() const {
    return values.template has_vectors<Width>();
  }
  template <int Width>
  KOKKOS_FORCEINLINE_FUNCTION auto vector(std::int64_t first) const {
    auto const numbers = values.template vector<Width>(first);
    Vector<decltype(seeded<T>(T(), 1)), Width> result;
    COIR_UNROLL
    for (int l = 0; l < Width; ++l) result.lane[l] = seeded<T>(numbers[l], 1);
    return result;
  }

 private:
  template <class P>
  KOKKOS_FORCEINLINE_FUNCTION real_t<T> seed_at(P const& at) const {
    if constexpr (requires { at.read; })
      return at.read == read ? real_t<T>(1) : real_t<T>(0);
    else
      return 1;
  }
};

/// An array of a statement as an expression of duals.
///
/// \tparam Reads  false if the statement's derivatives need no values: they are 0 then
template <class T, int Rank, class Space, bool Reads>
class SeededArray : public ExpressionBase {
 public:
  using value_type = decltype(seeded<T>(T(), 1));
  using space = Space;
  static constexpr int rank = Rank;

  SeededArray(Traced<T, Rank, Space> const& values, int read) : values_(values), read_(read) {}

  Shape<Rank> const& shape() const { return values_.shape(); }
  template <class Visit>
  void visit_leaves(Visit const& visit) const {
    if constexpr (Reads) values_.visit_leaves(visit);
  }
  template <int Target>
  auto kernel(Fold<Target> const& fold) const {
    if constexpr (Reads)
      return SeededKernel<T, decltype(values_.kernel(fold))>{values_.kernel(fold), read_};
    else
      return SeededKernel<T, ConstantKernel<T>>{{T(0)}, read_};
  }

 private:
  Traced<T, Rank, Space> values_;
  int read_;
};

/// An expression as one of duals along its arrays of type T.
template <class T, int Rank, class Space, bool Reads>
struct WithSeeds {
  std::vector<ArrayRead<T, Rank, Space>> const& reads;

  template <class S, int LeafRank>
  auto operator()(Traced<S, LeafRank, Space> const& leaf) const {
    if constexpr (std::same_as<S, T>)
      return SeededArray<T, LeafRank, Space, Reads>(leaf, number_among(reads, leaf));
    else
      return leaf;
  }
  template <class F, class... Operands>
    requires holds_traced<Map<F, Operands...>>
  auto operator()(Map<F, Operands...> const& e) const {
    return std::apply(
        [&](auto const&... operand) {
          // Its arguments are deduced: nvcc 13.0 garbles a decltype of (*this)(operand) here.
          return Map(for_duals(e.function()), (*this)(operand)...);
        },
        e.operands());
  }
  template <class E>
    requires(!holds_traced<E>)
  E operator()(E const& constant) const {
    return constant;
  }
};

/// The derivatives of an expression for which has_numbers_as_slopes holds, along up to `Most`
/// reads.
template <class T, int Rank, class Space, int Most>
struct WithSlopes {
  std::vector<ArrayRead<T, Rank, Space>> const& reads;

  template <int LeafRank>
  auto operator()(Traced<T, LeafRank, Space> const& leaf) const {
    return Dual<T, Most>::variable(T(0), number_among(reads, leaf));
  }
  template <class S>
  S operator()(Constant<S> const& number) const {
    return number.value();
  }
  template <class F, class... Operands>
  auto operator()(Map<F, Operands...> const& e) const {
    if constexpr (holds_traced<Map<F, Operands...>> || is_one_number<Map<F, Operands...>>)
      return std::apply(
          [&](auto const&... operand) { return for_duals(e.function())((*this)(operand)...); },
          e.operands());
    else
      return value_t<Map<F, Operands...>>(0);
  }
  template <class E>
    requires(!holds_traced<E>)
  value_t<E> operator()(E const&) const {
    return value_t<E>(0);  // an array that is added: it has no share in the slopes
  }
};

/// Calls visit(leaf) for each Traced of an expression.
template <class Visit, class T, int Rank, class Space>
void visit_traced(Traced<T, Rank, Space> const& leaf, Visit const& visit) {
  visit(leaf);
}
template <class Visit, class E>
void visit_traced(E const& expression, Visit const& visit) {
  if constexpr (holds_traced<E>)
    std::apply([&](auto const&... operand) { (visit_traced(operand, visit), ...); },
               expression.operands());
}

/// The tape that the arrays of some expressions are on.
template <class... E>
Tape& tape_of(E const&... expressions) {
  Tape* tape = nullptr;
  auto const visit = [&](auto const& leaf) { tape = &leaf.node()->tape(); };
  (visit_traced(expressions, visit), ...);
  return *tape;
}

/// An expression whose arrays have let go of their memory.
struct WithoutMemory {
  template <class T, int Rank, class Space>
  auto operator()(Traced<T, Rank, Space> const& leaf) const {
    return leaf.without_memory();
  }
  template <class F, class... Operands>
    requires holds_traced<Map<F, Operands...>>
  auto operator()(Map<F, Operands...> const& e) const {
    return std::apply(
        [&](auto const&... operand) { return Map(e.function(), (*this)(operand)...); },
        e.operands());
  }
  template <class E>
    requires(!holds_traced<E>)
  E operator()(E const& constant) const {
    return constant;
  }
};

/// The element type of the first Traced among expressions.
template <class First, class... Rest>
struct FirstTraced : FirstTraced<Rest...> {};
template <class T, int Rank, class Space, class... Rest>
struct FirstTraced<Traced<T, Rank, Space>, Rest...> {
  using type = T;
};
template <class F, class... Operands, class... Rest>
struct FirstTraced<Map<F, Operands...>, Rest...> : FirstTraced<Operands..., Rest...> {};

/// What the tape keeps of a statement: a linear one needs no values of its arrays on the way back.
template <class E>
E needed_back(E const& expression) {
  if constexpr (forgets_values<typename FirstTraced<E>::type, E>)
    return WithoutMemory{}(expression);
  else
    return expression;
}

/// The old value plus the derivative times the cotangent.
struct AddProduct {
  bool fresh;  // there is no old value
  template <class T, class S, class D>
  KOKKOS_FORCEINLINE_FUNCTION T operator()(T const& old, S const& cotangent, D const& dual) const {
    T const product = product_with_slope<T>(cotangent, dual);
    return fresh ? product : old + product;
  }
};
/// A cotangent times a number. An infinite number isn't multiplied by 0.
template <class T, class Slope>
struct ProductWithNumber {
  Slope slope;
  template <class S>
  KOKKOS_FORCEINLINE_FUNCTION T operator()(S const& cotangent) const {
    return math::select(cotangent == S(0), T(0), static_cast<T>(static_cast<S>(cotangent * slope)));
  }
};
struct AddUnlessFresh {
  bool fresh;
  template <class T, class S>
  KOKKOS_FORCEINLINE_FUNCTION T operator()(T const& old, S const& more) const {
    return fresh ? stored<T>(more) : old + stored<T>(more);
  }
};

/// Writes to a cotangent, or adds to it. A fresh cotangent's memory is uninitialised: `first` is
/// passed in place of the old value, so that one kernel serves both cases.
template <class F, class T, int Rank, class Space, class S, class... More>
void add_to(Slice<T, Rank, Space> const& target, bool fresh,
            Slice<S const, Rank, Space> const& first, More const&... more) {
  Slice<T const, Rank, Space> const old = target;
  if constexpr (std::same_as<T, S>) {
    target = map(F{fresh}, fresh ? first : old, first, more...);
  } else {
    if (fresh) target = T(0);
    target = map(F{false}, old, first, more...);
  }
}

/// Sums along the axes along which `shape` has one element.
template <class T, int Rank, class Space>
Array<T, Rank, Space> summed_to(Shape<Rank> const& shape, Array<T, Rank, Space> values) {
  if constexpr (Rank > 0)
    for (int d = 0; d < Rank; ++d)
      if (shape[d] != values.shape()[d]) values = with_axis(sum(values, d), d);
  return values;
}

/// Adds to the cotangent of some elements of an array, which a view may repeat.
///
/// \param more  in the elements' shape
template <class T, int Rank, class Space, class S>
void add_cotangent(Traced<T, Rank, Space> const& x, Slice<S const, Rank, Space> const& more) {
  if (x.size() == 0) return;
  auto const strides = x.unrolled().strides();
  auto const own = not_repeated(x.shape(), strides);
  bool const fresh = x.node()->prepare(size_of(own) == x.node()->size());
  auto const target = x.node()->cotangent_of(x.unrolled().data(), own, strides);
  if (own == x.shape())
    add_to<AddUnlessFresh>(target, fresh, more);
  else
    add_to<AddUnlessFresh>(target, fresh, summed_to(own, Array<S, Rank, Space>(more)).as_operand());
}

/// Adds an expression, or an array that nothing else needs. If there is no cotangent yet, the
/// array's memory becomes the cotangent's.
template <class T, int Rank, class Space, Expression E>
void add_cotangent(Traced<T, Rank, Space> const& x, E const& more) {
  static_assert(rank_of<E> == Rank);
  if (x.size() == 0) return;
  bool const whole = x.size() == x.node()->size() && x.unrolled().contiguous();
  if constexpr (std::same_as<E, Array<T, Rank, Space>>) {
    if (!whole || !x.node()->adopt(more)) add_cotangent(x, more.as_operand());
  } else if constexpr (std::same_as<value_t<E>, T>) {
    Array<T, Rank, Space> values(more);
    if (!whole || !x.node()->adopt(values)) add_cotangent(x, values.as_operand());
  } else {
    add_cotangent(x, Array<value_t<E>, Rank, Space>(more).as_operand());
  }
}

/// Adds a function of arrays of x's shape in one pass, without storing its values, unless a view
/// repeats elements.
///
/// \tparam F  constructed and called as AddUnlessFresh
template <class F, class T, int Rank, class Space, class... More>
void add_mapped_cotangent(Traced<T, Rank, Space> const& x, Slice<T const, Rank, Space> const& first,
                          More const&... more) {
  if (x.size() == 0) return;
  auto const strides = x.unrolled().strides();
  Shape<Rank> const shape = x.shape();
  auto const add_all = [&](auto const& target, bool fresh) {
    add_to<F>(target, fresh, first, more...);
  };
  if (not_repeated(shape, strides) == shape) {
    bool const fresh = x.node()->prepare(x.size() == x.node()->size());
    add_all(x.node()->cotangent_of(x.unrolled().data(), shape, strides), fresh);
  } else {
    Array<T, Rank, Space> values(shape);
    add_all(values.all(), true);
    add_cotangent(x, std::as_const(values).all());
  }
}

template <class Space, std::size_t Rank, class Body>
void run_gather(std::array<std::int64_t, Rank> const& frame, Body const& body) {
  constexpr int outer = static_cast<int>(Rank) - 1;
  using Exec = typename Space::execution_space;
  Exec const exec = instance<Exec>();
  std::int64_t const columns = frame[outer], rows = size_of(frame) / columns;
  std::int64_t together = 1;
  if constexpr (runs_on_host<Exec>) {
    together = cells_worth_a_thread / columns;
    // Those before and behind are computed, too.
    if constexpr (requires { body.rows_read(); })
      if (body.rows_read() > 1) together = std::max(together, std::min<std::int64_t>(32, rows / 8));
    together = std::clamp<std::int64_t>(together, 1, rows);
  }
  GatherLoop<Body, outer> const loop{body, rows, together};
  if constexpr (outer == 0)
    for_each("coir::autodiff::pull_back/gather", exec, box({columns}), loop);
  else
    for_each("coir::autodiff::pull_back/gather", exec,
             box({(rows + together - 1) / together, columns}), loop);
}

/// Derivatives of a statement from its own expression.
template <class E>
struct Partials {
  E const& expression;
  std::vector<int> const& reads;  // the number of the read of each array that partials_of counts
};

/// What derivatives along arrays of type T need of an expression, as its leaves.
template <class T, class E>
struct NeededLeaves {
  E const& expression;
  template <class Visit>
  void visit_leaves(Visit const& visit) const {
    visit_needed_leaves<T, !forgets_values<T, E>>(expression, visit);
  }
};

/// Whether arrays in this memory are gone through cell by cell, as on devices. A test lets hosts do
/// so, too.
template <class Space>
#ifdef COIR_TEST_CELL_BY_CELL
inline constexpr bool cell_by_cell = true;
#else
inline constexpr bool cell_by_cell = !runs_on_host<typename Space::execution_space>;
#endif

/// Whether gathering kernels go back through a statement's nodes cell by cell.
template <class Space, class Source>
inline constexpr bool gathers_cells = false;
template <class Space, class E>
inline constexpr bool gathers_cells<Space, Partials<E>> = cell_by_cell<Space>;

/// Sets where a read brings its share, for kernels whose cells `fold` joins.
template <class To, class P, int Rank>
void place_read(To& to, Gathered<P, Rank> const& target,
                typename Gathered<P, Rank>::Read const& read, Fold<Rank> const& fold,
                Shape<Rank> const& shape) {
  to.target = slice_kernel<P, Rank - 1>(target.target, target.strides, fold);
  to.target.step = fold.joined(target.strides)[Rank - 1];
  visit_joined(fold, shape, [&](int position, int d, std::int64_t inner) {
    to.offset[position] += read.offset[d] * inner;
  });
  to.periodic = read.periodic;
  to.fresh = target.fresh;
}

/// The kernel of gathers_cells.
///
/// \param summed  the number of a read through which nothing is written; -1 for none
/// \param frame   of the targets, joined as the fold joins
template <class P, class E, int Rank, class S, class Space>
auto gather_cells(Slice<S const, Rank, Space> const& cotangent,
                  std::vector<Gathered<P, Rank>> const& targets, Partials<E> const& source,
                  int summed, Fold<Rank> const& fold, Shape<Rank> const& frame) {
  constexpr int outer = Rank - 1, count = partials_of<P, E>;
  auto const nodes = nodes_of<P, !forgets_values<P, E>, 0>(source.expression, fold);
  using Cells = GatherCells<P, outer, count, std::remove_const_t<decltype(nodes)>>;
  Cells cells{
      {},
      {},
      {},
      {},
      fold.narrow() && size_of(frame) <= std::int64_t(1) << 30,
      nodes,
      slice_kernel<S const, outer>(cotangent.data(), stretched_strides<Rank>(cotangent), fold)};
  for (int k = 0; k < count; ++k)
    cells.leader[k] =
        source.reads[static_cast<std::size_t>(k)] == summed ? Cells::summed : Cells::nothing;
  for (auto const& target : targets) {
    int leader = Cells::nothing;
    for (int k = 0; k < count; ++k)
      for (auto const& read : target.reads) {
        if (source.reads[static_cast<std::size_t>(k)] != read.number) continue;
        if (leader == Cells::nothing) leader = k;
        cells.leader[k] = leader;
        place_read(cells.read[k], target, read, fold, cotangent.shape());
      }
    if (leader == Cells::nothing && target.fresh)  // masks alone read it
      Slice<P, Rank, Space>(target.target, target.frame, target.strides, nullptr) = P(0);
  }
  for (int d = 0; d < Rank; ++d) {
    cells.extent[d] = fold.extents()[d];
    if (d < outer) cells.rows.extent[d] = frame[d];
  }
  return cells;
}

/// The form of Brought, below. It writes, so that reductions must ask once for each cell.
template <class P, class Cells>
struct BroughtKernel {
  static constexpr bool evaluates_once = true;
  static constexpr std::size_t scratch_bytes = 0;
  Cells cells;
  template <int Outer, class I>
  KOKKOS_FORCEINLINE_FUNCTION P cell(Place<Outer, I> const& at, I column) const {
    return cells.gather(at, column);
  }
  template <int Width>
  bool has_vectors() const {
    return false;
  }
  template <int Width>
  KOKKOS_FORCEINLINE_FUNCTION Vector<P, Width> vector(std::int64_t) const {
    return {};
  }
};

/// Elements of what comes back through one read, to be summed along axes along which its array was
/// stretched. Where they are computed, what comes back to `targets` is written: arrays of the
/// statement's own shape, which it reads where they are.
template <class P, class E, int Rank, class Space>
class Brought : public ExpressionBase {
 public:
  using value_type = P;
  using space = Space;
  static constexpr int rank = Rank;

  Brought(Slice<P const, Rank, Space> const& cotangent,
          std::vector<Gathered<P, Rank>> const& targets, Partials<E> const& source, int summed)
      : cotangent_(cotangent), targets_(targets), source_(source), summed_(summed) {}

  Shape<Rank> const& shape() const { return cotangent_.shape(); }
  template <class Visit>
  void visit_leaves(Visit const& visit) const {
    visit(cotangent_);
    NeededLeaves<P, E>{source_.expression}.visit_leaves(visit);
    for (auto const& target : targets_)
      visit(Slice<P, Rank, Space>(target.target, target.frame, target.strides, nullptr));
  }
  auto kernel(Fold<Rank> const& fold) const {
    auto const cells =
        gather_cells<P, E>(cotangent_, targets_, source_, summed_, fold, fold.extents());
    return BroughtKernel<P, std::remove_const_t<decltype(cells)>>{cells};
  }

 private:
  Slice<P const, Rank, Space> cotangent_;
  std::vector<Gathered<P, Rank>> const& targets_;
  Partials<E> const& source_;
  int summed_;
};

/// Runs one gathering kernel for targets of one frame.
///
/// \param source  where derivatives come from: an expression of duals, Partials, or a std::vector
///   of the derivatives along each read, where these are numbers
template <class P, class E, class S, int Rank, class Space, class Source>
void gather_in_one_kernel(Slice<S const, Rank, Space> const& cotangent,
                          std::vector<Gathered<P, Rank>> const& targets, Source const& source) {
  constexpr bool by_numbers = std::same_as<Source, std::vector<real_t<S>>>;
  // One kernel for linear statements of similar lengths.
  constexpr int outer = Rank - 1,
                most = by_numbers && traced_count<E> < 16
                           ? static_cast<int>(std::bit_ceil(traced_count<E> + 1U)) - 1
                           : traced_count<E>;
  constexpr bool by_partials = std::same_as<Source, Partials<E>>;
  constexpr bool needs_values = !forgets_values<P, E>;
  using Slope = std::conditional_t<by_numbers, real_t<S>, char>;
  Shape<Rank> const shape = cotangent.shape(), frame = targets.front().frame;

  Fold<Rank> fold(shape);
  Strides<Rank> moved{};  // not 0 for axes along which a read is shifted or smaller than the frame
  for (auto const& target : targets) {
    for (auto const& read : target.reads)
      for (int d = 0; d < Rank; ++d)
        if (read.offset[d] != 0 || frame[d] != shape[d]) moved[d] = 1;
    fold.add(target.strides);
  }
  for (int d = 0; d < Rank; ++d)
    if (moved[d] != 0 && shape[d] == 1) fold.keep_axes();
  fold.add(stretched_strides<Rank>(cotangent));
  fold.add(strides_apart<Rank>(shape, moved));
  if constexpr (by_partials)
    add_leaves(fold, NeededLeaves<P, E>{source.expression});
  else if constexpr (!by_numbers)
    add_leaves(fold, source);
  fold.close();

  auto joined_frame = fold.extents();
  visit_joined(fold, shape, [&](int position, int d, std::int64_t inner) {
    if (moved[d] != 0) joined_frame[position] = frame[d] * inner;
  });
  if constexpr (gathers_cells<Space, Source>) {
    auto const cells = gather_cells<P, E>(cotangent, targets, source, -1, fold, joined_frame);
    using Exec = typename Space::execution_space;
    std::int64_t const columns = joined_frame[outer];
    if constexpr (outer == 0)
      for_each("coir::autodiff::pull_back/gather", instance<Exec>(), box({columns}), cells);
    else
      for_each("coir::autodiff::pull_back/gather", instance<Exec>(),
               box({size_of(joined_frame) / columns, columns}), cells);
  } else {
    GatheredReads<P, Slope, outer, most> reads{};
    for (auto const& target : targets) {
      int const first = reads.count;
      auto const add = [&](auto const& read, int number) {
        auto& to = reads.read[reads.count++];
        place_read(to, target, read, fold, shape);
        to.number = number;
        if constexpr (by_numbers) to.slope = source[static_cast<std::size_t>(number)];
      };
      for (auto const& read : target.reads) {
        if constexpr (by_partials) {
          for (std::size_t k = 0; k < source.reads.size(); ++k)
            if (source.reads[k] == read.number) add(read, static_cast<int>(k));
        } else {
          add(read, read.number);
        }
      }
      if (reads.count == first) add(target.reads.front(), -1);  // masks alone read it
      reads.read[first].opens = reads.read[reads.count - 1].closes = true;
    }
    for (int d = 0; d < Rank; ++d) {
      reads.extent[d] = fold.extents()[d];
      if (d < outer) reads.rows.extent[d] = joined_frame[d];
    }
    reads.narrow = fold.narrow() && size_of(joined_frame) <= std::int64_t(1) << 30;

    auto const cotangents =
        slice_kernel<S const, outer>(cotangent.data(), stretched_strides<Rank>(cotangent), fold);
    if constexpr (by_numbers) {
      run_gather<Space>(joined_frame, GatherNumbers<P, outer, most, Slope, S>{reads, cotangents});
    } else if constexpr (by_partials) {
      auto const nodes = nodes_of<P, needs_values, 0>(source.expression, fold);
      run_gather<Space>(
          joined_frame,
          GatherPartials<P, outer, most, partials_of<P, E>, std::remove_const_t<decltype(nodes)>>{
              reads, nodes, cotangents});
    } else {
      run_gather<Space>(joined_frame, GatherDuals<P, outer, most, decltype(source.kernel(fold)), S>{
                                          reads, source.kernel(fold), cotangents});
    }
  }
}

/// Brings the cotangent back to targets, in as few kernels as possible: one for all targets of one
/// frame. A target that shares its node with another one waits for the next kernel, unless one
/// thread writes both.
template <class E, class P, class S, int Rank, class Space, class Source>
void gather(Slice<S const, Rank, Space> const& cotangent, std::vector<Gathered<P, Rank>> waiting,
            Source const& source) {
  if (waiting.size() == 1) return gather_in_one_kernel<P, E>(cotangent, waiting, source);
  while (!waiting.empty()) {
    std::vector<Gathered<P, Rank>> now, later;
    for (auto& target : waiting) {
      bool const shared = size_of(target.frame) > 1 &&
                          (std::any_of(now.begin(), now.end(),
                                       [&](auto const& t) { return t.node == target.node; }) ||
                           std::any_of(later.begin(), later.end(),
                                       [&](auto const& t) { return t.node == target.node; }));
      bool const fits = now.empty() || now.front().frame == target.frame;
      (fits && !shared ? now : later).push_back(std::move(target));
    }
    gather_in_one_kernel<P, E>(cotangent, now, source);
    waiting = std::move(later);
  }
}

/// Adds what was summed along stretched axes to the cotangent of an array.
///
/// \param sums  of the shape of the elements that the read shows
template <class T, int Rank, class Space, class P>
void add_sums(ArrayRead<T, Rank, Space> const& read, Array<P, Rank, Space> const& sums) {
  Shape<Rank> const& own = sums.shape();
  auto& node = *read.node;
  if constexpr (std::same_as<P, T>) {
    bool whole = size_of(own) == node.size();
    auto const in_order = c_strides(own);
    for (int d = 0; d < Rank; ++d) whole = whole && (own[d] == 1 || read.strides[d] == in_order[d]);
    if (whole && node.adopt(sums)) return;
  }
  bool const fresh = node.prepare(size_of(own) == node.size());
  add_to<AddUnlessFresh>(node.cotangent_of(read.first, own, read.strides), fresh,
                         sums.as_operand());
}

/// Adds products in the shape of the statement to the cotangent of what a read stretched or rolled.
template <class T, int Rank, class Space, class P>
void add_products(ArrayRead<T, Rank, Space> const& read, Array<P, Rank, Space> products) {
  Shape<Rank> const shape = products.shape(), own = not_repeated(shape, read.strides);
  if (read.is_rolled) {
    Shape<Rank> back{};
    for (int d = 0; d < Rank; ++d) back[d] = read.shift[d] == 0 ? 0 : shape[d] - read.shift[d];
    products =
        Array<P, Rank, Space>(Traced<P, Rank, Space>(products.as_operand(), nullptr).rolled(back));
  }
  if (own != shape) products = summed_to(own, std::move(products));
  add_sums(read, products);
}

/// How many arrays an expression contains.
template <class E>
inline constexpr int array_count = is_one_number<E> ? 0 : 1;
template <class F, class... Operands>
inline constexpr int array_count<Map<F, Operands...>> = (array_count<Operands> + ... + 0);

template <class Space, class E>
inline constexpr bool sums_as_computed = cell_by_cell<Space> && (array_count<E> > 1);

/// Whether what comes back through a read of the statement E is only summed along stretched axes,
/// so that products needn't be stored: devices sum them as they are computed. An array without
/// another one that stretches it is left out, for compile time.
template <class E, class T, int Rank, class Space>
bool is_summed(ArrayRead<T, Rank, Space> const& read, Shape<Rank> const& shape) {
  return sums_as_computed<Space, E> && !read.is_rolled &&
         not_repeated(shape, read.strides) != shape;
}

/// Sums an expression along the axes along which a read stretches an array, and adds that to its
/// cotangent.
template <class T, int Rank, class Space, class Products>
void add_summed(ArrayRead<T, Rank, Space> const& read, Products const& products) {
  using P = value_t<Products>;
  Shape<Rank> const shape = products.shape(), own = not_repeated(shape, read.strides);
  int axis = Rank - 1;
  while (own[axis] == shape[axis]) --axis;
  auto const sums = reduce_axis_by<true>(products, axis, Sum<P, false>{});
  Shape<Rank> partly = shape;
  partly[axis] = 1;
  Array<P, Rank, Space> const first(const_cast<P*>(sums.data()), partly, sums.as_operand().owner());
  add_sums(read, own == partly ? first : summed_to(own, first));
}

/// The type of a cotangent of type S times the derivative along an array of type T.
template <class T, class S>
using products_t =
    std::conditional_t<is_dual<S>, S,
                       std::conditional_t<is_complex<T>, Kokkos::complex<real_t<S>>, real_t<S>>>;

/// Whether all targets have the statement's shape, and are read where they are, each by itself.
template <class P, int Rank>
bool are_beside(std::vector<Gathered<P, Rank>> const& targets, Shape<Rank> const& shape) {
  for (std::size_t t = 0; t < targets.size(); ++t) {
    if (targets[t].frame != shape) return false;
    for (auto const& read : targets[t].reads)
      if (read.offset != Strides<Rank>{}) return false;
    for (std::size_t other = 0; other < t; ++other)
      if (targets[other].node == targets[t].node) return false;
  }
  return true;
}

/// Adds to the cotangents of what a statement reads.
template <class E, class S, int Rank, class Space, class T, class Source>
void pull_back_reads(Slice<S const, Rank, Space> const& cotangent,
                     std::vector<ArrayRead<T, Rank, Space>> const& reads, Source const& source) {
  using P = products_t<T, S>;
  constexpr bool by_numbers = std::same_as<Source, std::vector<real_t<S>>>;
  Shape<Rank> const& shape = cotangent.shape();
  auto targets = gathered(reads, shape);
  std::vector<std::pair<ArrayRead<T, Rank, Space> const*, Array<P, Rank, Space>>> products;
  std::vector<Gathered<P, Rank>> targets_of_products;
  // A fresh cotangent is written by gather() first: what is added to it follows.
  std::vector<std::size_t> summed_later;
  auto const sum_of = [&](std::size_t r, std::vector<Gathered<P, Rank>> const& beside) {
    if constexpr (sums_as_computed<Space, E> && gathers_cells<Space, Source>)
      add_summed(reads[r],
                 Brought<P, E, Rank, Space>(cotangent, beside, source, static_cast<int>(r)));
    else if constexpr (sums_as_computed<Space, E> && by_numbers)
      add_summed(reads[r], map(ProductWithNumber<P, real_t<S>>{source[r]}, cotangent));
  };
  for (std::size_t r = 0; r < reads.size(); ++r) {
    if (!has_products(reads[r], shape)) continue;
    if constexpr (gathers_cells<Space, Source> || by_numbers) {
      if (is_summed<E>(reads[r], shape)) {
        bool at_once = false;
        if constexpr (gathers_cells<Space, Source>) at_once = are_beside(targets, shape);
        if (at_once)
          sum_of(r, std::exchange(targets, {}));
        else
          summed_later.push_back(r);
        continue;
      }
    }
    products.emplace_back(&reads[r], Array<P, Rank, Space>(shape));
    P* const target = products.back().second.data();
    targets_of_products.push_back({target,
                                   target,
                                   c_strides(shape),
                                   shape,
                                   true,
                                   {{static_cast<int>(r), Strides<Rank>{}, false}}});
  }
  if constexpr (std::same_as<P, T>)
    std::move(targets_of_products.begin(), targets_of_products.end(), std::back_inserter(targets));
  else if (!targets_of_products.empty())
    gather<E>(cotangent, std::move(targets_of_products), source);
  if (!targets.empty()) gather<E>(cotangent, std::move(targets), source);
  for (auto const r : summed_later) sum_of(r, {});
  for (auto& [read, array] : products) add_products(*read, std::move(array));
}

/// Adds to the cotangents of all arrays of type T in an expression.
///
/// \tparam Rank  the expression's, but at least 1
template <class T, class E, class S, int Rank, class Space>
void pull_back_along(E const& expression, Slice<S const, Rank, Space> const& cotangent) {
  constexpr int most = traced_of<T, E>;
  Shape<Rank> const& shape = cotangent.shape();
  std::vector<ArrayRead<T, Rank, Space>> reads;
  reads.reserve(traced_of<T, E>);
  visit_traced(expression, [&](auto const& leaf) {
    if constexpr (std::same_as<value_t<decltype(leaf)>, T>) {
      auto const read = read_of<Rank>(leaf);
      if (std::find(reads.begin(), reads.end(), read) == reads.end()) reads.push_back(read);
    }
  });
  if constexpr (has_numbers_as_slopes<T, E>) {
    auto const dual = WithSlopes<T, Rank, Space, most>{reads}(expression);
    std::vector<real_t<S>> slopes(reads.size());
    for (std::size_t r = 0; r < reads.size(); ++r)
      slopes[r] = static_cast<real_t<S>>(dual.derivative[r]);
    pull_back_reads<E>(cotangent, reads, slopes);
  } else if constexpr (has_partials<T, S, E> && (most > 1 || cell_by_cell<Space>)) {
    std::vector<int> numbers;
    numbers.reserve(partials_of<T, E>);
    visit_partials<T>(expression,
                      [&](auto const& leaf) { numbers.push_back(number_among(reads, leaf)); });
    if constexpr (partials_of<T, E> > 0)
      pull_back_reads<E>(cotangent, reads, Partials<E>{expression, numbers});
  } else {
    auto const duals = WithSeeds<T, Rank, Space, !forgets_values<T, E>>{reads}(expression);
    if constexpr (!carries_derivatives<value_t<decltype(duals)>>) {
      return;
    } else if constexpr (most > 1) {
      pull_back_reads<E>(cotangent, reads, duals);
    } else {
      auto const& read = reads.front();
      if (!read.is_rolled && !has_products(read, shape)) {
        bool const fresh = read.node->prepare(size_of(shape) == read.node->size());
        add_to<AddProduct>(read.node->cotangent_of(read.first, shape, read.strides), fresh,
                           cotangent, duals);
      } else {
        Array<products_t<T, S>, Rank, Space> products(shape);
        add_to<AddProduct>(products.all(), true, cotangent, duals);
        add_products(read, std::move(products));
      }
    }
  }
}

template <class T>
inline constexpr char tag_of = 0;

template <class E, class S, int Rank, class Space>
void pull_back_statement_of_rank(E const& expression,
                                 Slice<S const, Rank, Space> const& cotangent) {
  std::vector<char const*> done;
  visit_traced(expression, [&](auto const& leaf) {
    using T = value_t<decltype(leaf)>;
    if (std::find(done.begin(), done.end(), &tag_of<T>) != done.end()) return;
    done.push_back(&tag_of<T>);
    pull_back_along<T>(expression, cotangent);
  });
}

/// Adds to the cotangents of all arrays in an expression, given the cotangent of its values.
template <class E, class S, int Rank, class Space>
void pull_back_statement(E const& expression, Slice<S const, Rank, Space> const& cotangent) {
  static_assert(rank_of<E> == Rank);
  if (size_of(cotangent.shape()) == 0) return;
  if constexpr (Rank == 0) {
    pull_back_statement_of_rank(
        expression, Slice<S const, 1, Space>(cotangent.data(), {1}, {1}, cotangent.owner()));
  } else {
    pull_back_statement_of_rank(expression, cotangent);
  }
}

}  // namespace detail

}  // namespace coir
