#pragma once

/// \file
/// Arrays as kernels see them: rows along the last axis. Neighbouring axes that one stride can
/// describe are joined first, so that a contiguous array of any rank is a single row.

#include <coir/array/element.hpp>
#include <coir/core/pack.hpp>
#include <coir/core/shape.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <type_traits>

namespace coir::detail {

/// The longest stretch of a row that is worked on at once if some operand has to be gathered first.
inline constexpr std::int64_t gathered_stretch = 512;

/// Indices along the axes before the last one. Devices count in 32 bits where that is enough,
/// because offsets in 64 bits are slow there.
template <int Outer, class I = std::int64_t>
struct Place {
  I index[Outer > 0 ? Outer : 1] = {};
};

/// The permutation that leaves each axis in its place.
template <int Rank>
constexpr std::array<int, Rank> identity_permutation() {
  std::array<int, Rank> permutation{};
  for (int d = 0; d < Rank; ++d) permutation[d] = d;
  return permutation;
}

/// Finds which axes of a shape can be joined in all arrays of a statement.
template <int Rank>
class Fold {
 public:
  static constexpr int outer = Rank - 1;

  explicit Fold(Shape<Rank> const& shape) : Fold(shape, identity_permutation<Rank>()) {}

  /// Permutes the axes: axis d is axis permutation[d] of the shape and of all strides. For kernels
  /// that may go through the elements in any order.
  Fold(Shape<Rank> const& shape, std::array<int, Rank> const& permutation)
      : permutation_(permutation),
        is_identity_(Rank == 1 || permutation == identity_permutation<Rank>()) {
    static_cast<void>(size_of(shape));  // shapes that broadcasting made may have too many elements
    shape_ = permuted(shape);
    for (int d = 0; d < Rank; ++d) joined_[d] = true;
  }

  /// Adds an array, given by its strides: axes that it can't join are kept apart.
  void add(Strides<Rank> const& natural) {
    auto const strides = permuted(natural);
    std::int64_t span = 0;
    for (int d = 0; d < Rank; ++d) span += (shape_[d] - 1) * std::abs(strides[d]);
    widest_ = std::max(widest_, span);
    int last = -1;  // the last axis so far that isn't of extent 1
    for (int d = 0; d < Rank; ++d) {
      if (shape_[d] == 1 && d != apart_) continue;
      if (last >= 0 && strides[last] != strides[d] * shape_[d]) joined_[last] = false;
      last = d;
    }
  }

  /// Keeps one axis apart from all others.
  void keep_apart(int axis) { apart_ = axis; }

  /// Keeps all axes apart, for expressions that use the indices themselves.
  void keep_axes() { keep_ = true; }

  /// Joins the axes. Call it when all arrays have been added.
  void close() {
    int to = Rank - 1;
    for (int d = 0; d < Rank; ++d) {
      axis_[d] = keep_ ? d : -1;
      extents_[d] = keep_ ? shape_[d] : 1;
    }
    if (keep_) return;
    bool open = false;  // whether the axis before may join the one in `to`
    for (int d = Rank - 1; d >= 0; --d) {
      if (shape_[d] == 1 && d != apart_) continue;
      if (open && joined_[d] && d != apart_ && axis_[to] != apart_) {
        extents_[to] *= shape_[d];
      } else {
        if (open) --to;
        axis_[to] = d;
        extents_[to] = shape_[d];
      }
      open = true;
    }
  }

  Shape<Rank> const& shape() const { return shape_; }

  /// Whether 32 bits are enough to count the cells, and for the offsets in every array.
  bool narrow() const {
    constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
    return widest_ <= most && rows() <= most && columns() <= most && rows() * columns() <= most;
  }

  /// The position among the joined axes of an axis that was kept apart.
  int position(int axis) const {
    for (int d = 0; d < Rank; ++d)
      if (axis_[d] == axis) return d;
    return Rank - 1;
  }

  /// Whether an axis that was kept apart lies in every array as if it and the axes behind it were
  /// one.
  bool could_join(int axis) const { return !keep_ && joined_[axis]; }

  /// Extents after joining, aligned at the last axis; those before are 1.
  Shape<Rank> const& extents() const { return extents_; }
  std::int64_t columns() const { return extents_[Rank - 1]; }
  std::int64_t rows() const {
    std::int64_t product = 1;
    for (int d = 0; d + 1 < Rank; ++d) product *= extents_[d];
    return product;
  }

  /// Strides of the joined axes.
  Strides<Rank> joined(Strides<Rank> const& natural) const {
    auto const strides = permuted(natural);
    Strides<Rank> result{};
    for (int d = 0; d < Rank; ++d) result[d] = axis_[d] < 0 ? 0 : strides[axis_[d]];
    return result;
  }

 private:
  template <class Numbers>
  Numbers permuted(Numbers const& natural) const {
    if (is_identity_) return natural;  // no copies: they would count in statements on small arrays
    Numbers result{};
    for (int d = 0; d < Rank; ++d) result[d] = natural[permutation_[d]];
    return result;
  }

  std::array<int, Rank> permutation_;
  bool is_identity_;
  Shape<Rank> shape_;
  Shape<Rank> extents_{};
  bool joined_[Rank];
  int axis_[Rank];
  int apart_ = -1;
  std::int64_t widest_ = 0;
  bool keep_ = false;
};

/// Turns a row's number into indices.
template <int Outer>
struct RowNumbers {
  std::int64_t extent[Outer > 0 ? Outer : 1] = {};

  template <int Rank>
  static RowNumbers of(Fold<Rank> const& fold) {
    static_assert(Rank - 1 == Outer);
    RowNumbers numbers;
    for (int d = 0; d < Outer; ++d) numbers.extent[d] = fold.extents()[d];
    return numbers;
  }

  template <class I = std::int64_t>
  KOKKOS_FORCEINLINE_FUNCTION Place<Outer, I> place(I row) const {
    Place<Outer, I> result;
    if constexpr (Outer > 1) {
      COIR_UNROLL
      for (int d = Outer - 1; d > 0; --d) {
        I const length = static_cast<I>(extent[d]);
        if (length == 1) continue;
        I quotient;
        if (row <= 0x7fffffff && length <= 0x7fffffff)  // a faster division
          quotient =
              static_cast<I>(static_cast<std::uint32_t>(row) / static_cast<std::uint32_t>(length));
        else
          quotient = row / length;
        result.index[d] = row - quotient * length;
        row = quotient;
      }
    }
    if constexpr (Outer > 0) result.index[0] = row;
    return result;
  }

  /// Goes on to the next row, without dividing.
  void advance(Place<Outer>& at) const {
    for (int d = Outer - 1; d > 0; --d) {
      if (++at.index[d] < extent[d]) return;
      at.index[d] = 0;
    }
    if constexpr (Outer > 0) ++at.index[0];
  }
};

/// Memory on a host's stack for the operands that have to be gathered.
template <std::size_t Bytes>
class Scratch {
 public:
  template <class T>
  T* take() {
    T* const block = reinterpret_cast<T*>(bytes_ + used_);
    used_ += bytes_for<T>;
    return block;
  }

  template <class T>
  static constexpr std::size_t bytes_for =
      (sizeof(T) * static_cast<std::size_t>(gathered_stretch) + 63) / 64 * 64;

 private:
  std::size_t used_ = 0;
  alignas(64) std::byte bytes_[Bytes > 0 ? Bytes : 1];
};

template <class T>
inline constexpr std::size_t scratch_for = Scratch<0>::bytes_for<T>;

/// Neighbouring elements, which a device thread loads or stores by instructions of up to 16 bytes.
template <class T, int Width>
struct alignas(std::has_single_bit(sizeof(T))
                   ? std::max(alignof(T), std::min<std::size_t>(16, Width * sizeof(T)))
                   : alignof(T)) Vector {
  T lane[Width];
  KOKKOS_FORCEINLINE_FUNCTION T const& operator[](int l) const { return lane[l]; }

  /// Whether vectors may be read from and written to this address.
  static bool fits(void const* data) {
    return reinterpret_cast<std::uintptr_t>(data) % alignof(Vector) == 0;
  }
};

/// The number of results of type T in 16 bytes.
template <class T>
inline constexpr int vector_width =
    sizeof(T) < 16 ? 16 / std::max(4, static_cast<int>(std::bit_ceil(sizeof(T)))) : 1;

/// Whether devices go through an expression vector by vector: it is one row of whole vectors, with
/// enough of them for all threads.
template <int Width, int Rank, class Kernel>
bool worth_vectors(Fold<Rank> const& fold, Kernel const& kernel) {
  return fold.rows() == 1 && fold.columns() >= std::int64_t(1) << 22 &&
         fold.columns() % Width == 0 && kernel.template has_vectors<Width>();
}

// ---- the forms of expressions, which kernels hold ----
//
// Each has `row` for hosts and `cell` for devices. `contiguous_until(first, end)` is the column
// before which a row from column `first` on lies side by side in all arrays. It is `first` itself
// where the row doesn't lie so at all.
//
// If `has_vectors` is true, a form also has `vector` for devices, which serves a single row whose
// arrays' elements all lie side by side.

template <class T>
struct ConstantKernel {
  static constexpr std::size_t scratch_bytes = 0;
  T value;

  struct Row {
    T value;
    KOKKOS_FORCEINLINE_FUNCTION T operator[](std::int64_t) const { return value; }
  };

  bool direct() const { return true; }
  std::int64_t contiguous_until(std::int64_t, std::int64_t end) const { return end; }

  template <bool Direct = false, class P, class S>
  Row row(P const&, std::int64_t, std::int64_t, S&) const {
    return {value};
  }
  template <class P, class I>
  KOKKOS_FORCEINLINE_FUNCTION T cell(P const&, I) const {
    return value;
  }

  template <int Width>
  bool has_vectors() const {
    return true;
  }
  template <int Width>
  KOKKOS_FORCEINLINE_FUNCTION Row vector(std::int64_t) const {
    return {value};
  }
};

/// Elements of bool side by side, read as bytes: g++ doesn't vectorise loops that load bool.
struct BoolRow {
  unsigned char const* bytes;
  bool operator[](std::int64_t c) const { return bytes[c] != 0; }
};

/// An array in memory.
template <class T, int Outer>
struct SliceKernel {
  using Value = std::remove_const_t<T>;
  using Row = std::conditional_t<std::is_same_v<Value, bool>, BoolRow, Value const*>;
  static constexpr std::size_t scratch_bytes = scratch_for<Value>;

  T* data;
  std::int64_t step;
  std::int64_t stride[Outer > 0 ? Outer : 1];

  bool direct() const { return step == 1; }
  std::int64_t contiguous_until(std::int64_t first, std::int64_t end) const {
    return step == 1 ? end : first;
  }

  KOKKOS_FORCEINLINE_FUNCTION T* start(Place<Outer> const& at) const {
    T* pointer = data;
    COIR_UNROLL
    for (int d = 0; d < Outer; ++d) pointer += at.index[d] * stride[d];
    return pointer;
  }

  /// The stretch of `count` elements from `first` on, gathered if they don't lie side by side.
  ///
  /// \tparam Direct  true if they are known to lie side by side
  template <bool Direct = false, class S>
  Row row(Place<Outer> const& at, std::int64_t first, std::int64_t count, S& scratch) const {
    if constexpr (Direct) return as_row(start(at) + first);
    if (step == 1) return as_row(start(at) + first);
    Value* const gathered = scratch.template take<Value>();
    gather(at, first, count, gathered);
    return as_row(gathered);
  }

  static Row as_row(Value const* elements) {
    if constexpr (std::is_same_v<Value, bool>)
      return {reinterpret_cast<unsigned char const*>(elements)};
    else
      return elements;
  }

  /// Copies a stretch of elements, on hosts.
  void gather(Place<Outer> const& at, std::int64_t first, std::int64_t count, Value* to) const {
    std::int64_t const apart = step;  // a copy that no store overwrites
    T const* const from = start(at) + first * apart;
    if (apart == 0) {
      for (std::int64_t c = 0; c < count; ++c) to[c] = *from;
    } else if (apart == -1) {  // loops of their own, which compilers vectorise
      for (std::int64_t c = 0; c < count; ++c) to[c] = from[-c];
    } else if (apart == 2) {
      for (std::int64_t c = 0; c < count; ++c) to[c] = from[2 * c];
    } else {
      for (std::int64_t c = 0; c < count; ++c) to[c] = from[c * apart];
    }
  }

  template <class I>
  KOKKOS_FORCEINLINE_FUNCTION I offset(Place<Outer, I> const& at, I column) const {
    I result = column * static_cast<I>(step);
    COIR_UNROLL
    for (int d = 0; d < Outer; ++d) result += at.index[d] * static_cast<I>(stride[d]);
    return result;
  }

  template <class I>
  KOKKOS_FORCEINLINE_FUNCTION Value cell(Place<Outer, I> const& at, I column) const {
    return data[offset(at, column)];
  }

  template <int Width>
  bool has_vectors() const {
    return step == 1 && Vector<Value, Width>::fits(data);
  }
  /// The elements from `first` on, a multiple of the width.
  template <int Width>
  KOKKOS_FORCEINLINE_FUNCTION Vector<Value, Width> vector(std::int64_t first) const {
    return *reinterpret_cast<Vector<Value, Width> const*>(data + first);
  }
};

/// The row of values f(a[c], b[c], ...) of operands' rows.
template <class F, class... Rows>
struct MapRow {
  F f;
  Pack<Rows...> rows;

  auto operator[](std::int64_t c) const {
    return rows.apply_on_host([&](auto const&... row) { return f(row[c]...); });
  }
};

template <class F, class... Kernels>
struct MapKernel {
  static constexpr std::size_t scratch_bytes = (Kernels::scratch_bytes + ... + 0);
  F f;
  Pack<Kernels...> operands;

  bool direct() const {
    return operands.apply_on_host([](auto const&... k) { return (k.direct() && ...); });
  }
  std::int64_t contiguous_until(std::int64_t first, std::int64_t end) const {
    return operands.apply_on_host(
        [&](auto const&... k) { return std::min({end, k.contiguous_until(first, end)...}); });
  }

  template <bool Direct = false, class P, class S>
  auto row(P const& at, std::int64_t first, std::int64_t count, S& scratch) const {
    return operands.apply_on_host([&](auto const&... k) {
      return MapRow<F, decltype(k.template row<Direct>(at, first, count, scratch))...>{
          f, {{k.template row<Direct>(at, first, count, scratch)}...}};
    });
  }

  template <class P, class I>
  KOKKOS_FORCEINLINE_FUNCTION auto cell(P const& at, I column) const {
    return operands.apply(CellOf<P, I>{f, at, column});
  }

  template <int Width>
  bool has_vectors() const {
    return operands.apply_on_host(
        [](auto const&... k) { return (k.template has_vectors<Width>() && ...); });
  }
  template <int Width>
  KOKKOS_FORCEINLINE_FUNCTION auto vector(std::int64_t first) const {
    return operands.apply(VectorOf<Width>{f, first});
  }

 private:
  template <class P, class I>
  struct CellOf {
    F const& f;
    P const& at;
    I column;
    template <class... K>
    KOKKOS_FORCEINLINE_FUNCTION auto operator()(K const&... k) const {
      return f(k.cell(at, column)...);
    }
  };

  template <int Width>
  struct VectorOf {
    F const& f;
    std::int64_t first;
    template <class... K>
    KOKKOS_FORCEINLINE_FUNCTION auto operator()(K const&... k) const {
      return lanes(k.template vector<Width>(first)...);
    }
    template <class... V>
    KOKKOS_FORCEINLINE_FUNCTION auto lanes(V const&... vectors) const {
      Vector<std::remove_cvref_t<decltype(f(vectors[0]...))>, Width> result;
      COIR_UNROLL
      for (int l = 0; l < Width; ++l) result.lane[l] = f(vectors[l]...);
      return result;
    }
  };
};

/// f(i, j, ...) with the last `Rank` of the indices.
template <int Rank, class F, int Outer, class I>
KOKKOS_FORCEINLINE_FUNCTION auto call_with_indices(F const& f, Place<Outer, I> const& at,
                                                   I column) {
  using Long = std::int64_t;
  if constexpr (Rank == 1)
    return f(Long(column));
  else if constexpr (Rank == 2)
    return f(Long(at.index[Outer - 1]), Long(column));
  else if constexpr (Rank == 3)
    return f(Long(at.index[Outer - 2]), Long(at.index[Outer - 1]), Long(column));
  else
    return f(Long(at.index[Outer - 3]), Long(at.index[Outer - 2]), Long(at.index[Outer - 1]),
             Long(column));
}

template <class F, int Rank, int Outer>
struct IndexKernel {
  static constexpr std::size_t scratch_bytes = 0;
  F f;
  bool real[Rank];  // false for an axis of extent 1, whose index is 0 however far it is stretched

  struct Row {
    F f;
    Place<Outer> at;
    std::int64_t first;
    std::int64_t step;
    auto operator[](std::int64_t c) const {
      return call_with_indices<Rank>(f, at, first + c * step);
    }
  };

  bool direct() const { return true; }
  std::int64_t contiguous_until(std::int64_t, std::int64_t end) const { return end; }

  template <bool Direct = false, class S>
  Row row(Place<Outer> at, std::int64_t first, std::int64_t, S&) const {
    hide(at);
    return {f, at, real[Rank - 1] ? first : 0, real[Rank - 1] ? 1 : 0};
  }
  template <class I>
  KOKKOS_FORCEINLINE_FUNCTION auto cell(Place<Outer, I> at, I column) const {
    hide(at);
    return call_with_indices<Rank>(f, at, real[Rank - 1] ? column : I(0));
  }

  template <int Width>
  bool has_vectors() const {
    return true;
  }
  template <int Width>
  KOKKOS_FORCEINLINE_FUNCTION auto vector(std::int64_t first) const {
    using T = std::remove_cvref_t<decltype(cell(Place<Outer>{}, first))>;
    Vector<T, Width> result;
    COIR_UNROLL
    for (int l = 0; l < Width; ++l) result.lane[l] = cell(Place<Outer>{}, first + l);
    return result;
  }

 private:
  template <class I>
  KOKKOS_FORCEINLINE_FUNCTION void hide(Place<Outer, I>& at) const {
    COIR_UNROLL
    for (int d = 0; d + 1 < Rank; ++d)
      if (!real[d]) at.index[Outer - Rank + 1 + d] = 0;
  }
};

/// Strides of an array that is stretched to a shape of rank `Rank`.
template <int Rank, class Leaf>
Strides<Rank> stretched_strides(Leaf const& leaf) {
  Strides<Rank> result{};
  for (int d = 0; d < Leaf::rank; ++d)
    result[Rank - Leaf::rank + d] = leaf.shape()[d] == 1 ? 0 : leaf.strides()[d];
  return result;
}

/// Adds all arrays of an expression to a fold.
template <int Rank, class E>
void add_leaves(Fold<Rank>& fold, E const& expression) {
  expression.visit_leaves([&](auto const& leaf) {
    if constexpr (requires { leaf.data(); })
      fold.add(stretched_strides<Rank>(leaf));
    else
      fold.keep_axes();
  });
}

}  // namespace coir::detail
