#pragma once

/// \file
/// Trigonometric transforms of lines of real numbers, and their interface to backends.

#include <coir/core/concepts.hpp>
#include <coir/fft/detail/transforms.hpp>

#include <array>
#include <compare>
#include <cstdint>
#include <memory>

namespace coir::fft {

/// Transforms of n real numbers x_j to n real numbers y_k, j, k = 0 ... n - 1. SciPy's dct, dst and
/// their types, without a scale; and Hartley's transform.
enum class Trigonometric {
  none,  ///< y = x
  dct1,  ///< x_0 + (-1)^k x_(n-1) + 2 sum_(0 < j < n-1) x_j cos(pi j k / (n-1)); n at least 2
  dct2,  ///< 2 sum_j x_j cos(pi (2j+1) k / 2n)
  dct3,  ///< x_0 + 2 sum_(j > 0) x_j cos(pi j (2k+1) / 2n)
  dct4,  ///< 2 sum_j x_j cos(pi (2j+1) (2k+1) / 4n)
  dst1,  ///< 2 sum_j x_j sin(pi (j+1) (k+1) / (n+1))
  dst2,  ///< 2 sum_j x_j sin(pi (2j+1) (k+1) / 2n)
  dst3,  ///< (-1)^k x_(n-1) + 2 sum_(j < n-1) x_j sin(pi (j+1) (2k+1) / 2n)
  dst4,  ///< 2 sum_j x_j sin(pi (2j+1) (2k+1) / 4n)
  dht,   ///< sum_j x_j (cos(2 pi j k / n) + sin(2 pi j k / n))
};

namespace detail {

/// Lines in memory: `length` numbers, `stride` apart, for each index of three other axes. The last
/// one of these has the smallest stride.
template <class T>
struct LineSet {
  T* data = nullptr;
  std::int64_t length = 0, stride = 1;
  std::array<std::int64_t, 3> extents{1, 1, 1}, strides{};

  constexpr std::int64_t count() const { return extents[0] * extents[1] * extents[2]; }
};

/// Everything that a transform of lines depends on except where it runs.
struct LineRequest {
  Trigonometric kind = Trigonometric::none;
  std::int64_t length = 1;
  std::int64_t count = 1;  ///< lines
  Effort effort = Effort::automatic;
  bool by_product = false;  ///< see TrigonometricPlanOptions

  auto operator<=>(LineRequest const&) const = default;
};

/// A transform of lines. Calls run one after the other.
template <class Exec, class T>
class LineTransform {
 public:
  virtual ~LineTransform() = default;
  /// \param in, out  of the length and count that were asked for; the same lines, or apart
  virtual void run(Exec const& exec, LineSet<T const> const& in, LineSet<T> const& out) = 0;
};

/// A transform from the cache, or a new one. Compiled in src/fft, for hosts in one source and for
/// devices in another.
template <class Exec, class T>
  requires runs_on_host<Exec>
std::shared_ptr<LineTransform<Exec, T>> line_transform(Exec const& exec,
                                                       LineRequest const& request);
template <class Exec, class T>
  requires(!runs_on_host<Exec>)
std::shared_ptr<LineTransform<Exec, T>> line_transform(Exec const& exec,
                                                       LineRequest const& request);

/// Bytes that line_transform() would hold, without planning.
template <class Exec, class T>
  requires runs_on_host<Exec>
std::int64_t line_work_bytes(Exec const& exec, LineRequest const& request);
template <class Exec, class T>
  requires(!runs_on_host<Exec>)
std::int64_t line_work_bytes(Exec const& exec, LineRequest const& request);

/// Whether a transform is faster when its output lies apart from its input.
template <class Exec, class T>
  requires runs_on_host<Exec>
bool line_prefers_apart(LineRequest const&) {
  return false;
}
template <class Exec, class T>
  requires(!runs_on_host<Exec>)
bool line_prefers_apart(LineRequest const& request);

/// \throws PreconditionError if a length is below 1, or below 2 for dct1
void check_line(Trigonometric kind, std::int64_t length);

}  // namespace detail

}  // namespace coir::fft
