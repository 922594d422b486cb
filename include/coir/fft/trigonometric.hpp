#pragma once

/// \file
/// Plans of sine, cosine and Hartley transforms: made once for a shape, run many times.
///
/// Each axis has a kind of its own, so that one plan diagonalises a difference operator whatever
/// its boundaries are. coir/array/trigonometric.hpp has SciPy's functions of arrays.

#include <coir/core/concepts.hpp>
#include <coir/core/errors.hpp>
#include <coir/core/overlap.hpp>
#include <coir/core/shape.hpp>
#include <coir/core/strided.hpp>
#include <coir/fft/detail/line_transform.hpp>

#include <algorithm>
#include <array>
#include <concepts>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

namespace coir::fft {

/// The kind that undoes another up to a factor, logical_size(): type 3 for type 2 and the other way
/// round. All other kinds undo themselves.
Trigonometric inverse_of(Trigonometric kind);

/// The factor of a transform and the inverse one together: 2 (n - 1) for dct1, 2 (n + 1) for dst1,
/// n for dht, 1 for none, and 2 n for the others. SciPy divides inverse transforms by it.
std::int64_t logical_size(Trigonometric kind, std::int64_t n);

/// The largest prime factor of n, which must be positive; 1 for 1. The time of a transform grows
/// with that of its length.
std::int64_t largest_prime_factor(std::int64_t n);

namespace detail {

/// The lines along one axis of at most four.
///
/// \param order  all axes, in the order that the lines take
template <class T, int Rank, std::size_t Size>
LineSet<T> lines_along(Strided<T, Rank> const& view, int axis, std::array<int, Size> const& order) {
  static_assert(Size == Rank && Rank >= 1 && Rank <= 4);
  LineSet<T> lines;
  lines.data = view.data;
  lines.length = view.extents[static_cast<std::size_t>(axis)];
  lines.stride = view.strides[static_cast<std::size_t>(axis)];
  std::size_t at = 3 - (Rank - 1);
  for (int const number : order) {
    if (number == axis) continue;
    auto const d = static_cast<std::size_t>(number);
    lines.extents[at] = view.extents[d];
    lines.strides[at++] = view.strides[d];
  }
  return lines;
}

}  // namespace detail

struct TrigonometricPlanOptions {
  Effort effort = Effort::automatic;  ///< see there
  /// On NVIDIA's devices, multiply short lines by the matrix of the transform: this is faster, but
  /// rounding grows with the square root of the length.
  bool by_product = false;
};

/// Transforms of real fields along some or all axes, without a scale:
///
///   y = run(x), and a plan of the inverse kinds gives factor() x back
///
/// The formulas are those of Trigonometric. Views may have any strides, and are transformed where
/// they are. Results have the same bits for any number of threads; see Effort for other runs of a
/// program. Plans run on the instance that they were made with, and don't wait on devices. Copies
/// of a plan share its work area, as do plans of equal axes, by a cache.
///
/// A line of type 1 takes a complex transform of n - 1 or n + 1 numbers: the time depends on the
/// prime factors of that length.
///
/// \tparam T     float or double
/// \tparam Rank  axes of a field: 1 to 3
/// \see Martucci, IEEE Trans. Signal Processing 42 (1994) 1038
template <CompiledSpace Exec, class T, int Rank>
  requires(std::same_as<T, float> || std::same_as<T, double>) && (Rank >= 1 && Rank <= 3)
class TrigonometricPlan {
 public:
  /// \param exec   where to run
  /// \param shape  of a field
  /// \param kinds  of the transforms along each axis
  /// \param batch  number of fields; at least 1
  /// \throws PreconditionError if an extent or the batch is below 1, or below 2 along an axis of
  ///   kind dct1
  /// \throws ResourceError if memory for the work is missing
  /// \throws EnvironmentError if the backend's library fails
  TrigonometricPlan(Exec const& exec, Shape<Rank> const& shape,
                    std::array<Trigonometric, Rank> const& kinds, std::int64_t batch = 1,
                    TrigonometricPlanOptions const& options = {})
      : exec_(exec), shape_(shape), batch_(batch) {
    check(shape, kinds, batch);
    for (std::size_t d = 0; d < Rank; ++d)
      factor_ *= static_cast<double>(logical_size(kinds[d], shape[d]));
    for (int d = Rank - 1; d >= 0; --d)
      if (auto const kind = kinds[static_cast<std::size_t>(d)]; kind != Trigonometric::none)
        axes_.push_back(
            {d, detail::line_transform<Exec, T>(exec, request(shape, batch, kind, d, options))});
  }

  /// Bytes of a plan's work area and tables in Exec's memory.
  ///
  /// \throws PreconditionError as the constructor
  static std::int64_t work_bytes(Exec const& exec, Shape<Rank> const& shape,
                                 std::array<Trigonometric, Rank> const& kinds,
                                 std::int64_t batch = 1,
                                 TrigonometricPlanOptions const& options = {}) {
    check(shape, kinds, batch);
    std::int64_t bytes = 0;
    for (int d = 0; d < Rank; ++d)
      if (auto const kind = kinds[static_cast<std::size_t>(d)]; kind != Trigonometric::none)
        bytes += detail::line_work_bytes<Exec, T>(exec, request(shape, batch, kind, d, options));
    return bytes;
  }

  /// Whether a plan runs faster into another field than in place.
  static bool prefers_apart(Shape<Rank> const& shape, std::array<Trigonometric, Rank> const& kinds,
                            std::int64_t batch, TrigonometricPlanOptions const& options) {
    for (int d = 0; d < Rank; ++d)
      if (auto const kind = kinds[static_cast<std::size_t>(d)];
          kind != Trigonometric::none &&
          detail::line_prefers_apart<Exec, T>(request(shape, batch, kind, d, options)))
        return true;
    return false;
  }

  Shape<Rank> const& shape() const { return shape_; }
  std::int64_t batch() const { return batch_; }
  /// What the transforms and the inverse ones multiply by: the product of logical_size().
  double factor() const { return factor_; }
  Exec const& exec() const { return exec_; }

  /// \param in   [n_0, ...] or [batch, n_0, ...] in; any strides
  /// \param out  the same extents, out; the same View as `in`, or apart from it
  /// \throws PreconditionError if the extents aren't the plan's, or the Views overlap otherwise
  template <StridedView In, StridedView Out>
    requires(ViewOfRank<In, Rank> || ViewOfRank<In, Rank + 1>) &&
            (int(In::rank) == int(Out::rank)) && CanAccess<Exec, In, Out> &&
            std::same_as<typename In::non_const_value_type, T> &&
            std::same_as<typename Out::value_type, T>
  void run(In const& in, Out const& out) const {
    constexpr int rank = static_cast<int>(In::rank);
    Strided<T const, rank> const from = strided(in);
    Strided<T, rank> const to = strided(out);
    check_extents(from.extents, "the input");
    check_extents(to.extents, "the output");
    expects_distinct_elements(to.extents, to.strides, "the output of a transform");
    bool const in_place = from.data == to.data && from.strides == to.strides;
    expects(in_place || !share_memory(from, to),
            "the input and the output of a transform must be the same View, or not overlap");
    auto const order = memory_order(to);
    Strided<T const, rank> now = from;
    for (auto const& [axis, transform] : axes_) {
      int const at = axis + rank - Rank;
      transform->run(exec_, detail::lines_along(now, at, order),
                     detail::lines_along(to, at, order));
      now = to;
    }
    if (axes_.empty() && !in_place) copy_strided<Exec, T, rank>(exec_, from, to);
  }

 private:
  struct Axis {
    int number;
    std::shared_ptr<detail::LineTransform<Exec, T>> transform;
  };

  static void check(Shape<Rank> const& shape, std::array<Trigonometric, Rank> const& kinds,
                    std::int64_t batch) {
    expects(batch >= 1, "a plan's batch must be at least 1", batch);
    std::array<std::int64_t, Rank + 1> all{batch};
    for (std::size_t d = 0; d < Rank; ++d) {
      detail::check_line(kinds[d], shape[d]);
      all[d + 1] = shape[d];
    }
    expects_allocatable(all, sizeof(T));
  }
  static detail::LineRequest request(Shape<Rank> const& shape, std::int64_t batch,
                                     Trigonometric kind, int axis,
                                     TrigonometricPlanOptions const& options) {
    auto const length = shape[static_cast<std::size_t>(axis)];
    return {kind, length, batch * size_of(shape) / length, options.effort, options.by_product};
  }

  template <std::size_t N>
  void check_extents(std::array<std::int64_t, N> const& extents, char const* name) const {
    constexpr std::size_t first = N - Rank;
    if (first == 0)
      expects(batch_ == 1,
              std::string(name) + " must have the batch as its first axis, beside the " +
                  std::to_string(Rank) + " of the transform",
              batch_);
    for (std::size_t d = 0; d < N; ++d) {
      std::int64_t const expected = d < first ? batch_ : shape_[d - first];
      expects(extents[d] == expected,
              std::string(name) + " must have extent " + std::to_string(expected) + " along axis " +
                  std::to_string(d) + " for this plan",
              extents[d]);
    }
  }

  Exec exec_;
  Shape<Rank> shape_;
  std::int64_t batch_;
  double factor_ = 1;
  std::vector<Axis> axes_;
};

}  // namespace coir::fft
