#pragma once

/// \file
/// The exact solution of the discrete equation L u - c u = b on lines, rectangles and boxes, by
/// sine, cosine and Hartley transforms.

#include <coir/core/concepts.hpp>
#include <coir/core/errors.hpp>
#include <coir/core/overlap.hpp>
#include <coir/core/strided.hpp>

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>

namespace coir::poisson {

/// What is known at both ends of an axis, and what the ring of u holds there.
enum class Boundary {
  values,    ///< the ring holds values of u, one spacing from the outermost cells
  slopes,    ///< the ring holds the outward derivative of u, half a spacing from these cells
  periodic,  ///< the first cell follows the last one; the ring isn't read
};

/// "values", "slopes" or "periodic".
constexpr char const* name_of(Boundary boundary) {
  switch (boundary) {
    case Boundary::values: return "values";
    case Boundary::slopes: return "slopes";
    case Boundary::periodic: return "periodic";
  }
  return "unknown";
}

/// Whether this build of coir has direct(): it needs the module fft.
bool has_direct();

template <int Rank>
struct DirectOptions {
  std::array<Boundary, Rank> boundary = {};  ///< of each axis; `values`, unless said otherwise
  std::array<double, Rank> spacing = [] {
    std::array<double, Rank> all;
    all.fill(1);
    return all;
  }();  ///< of the cells along each axis
  double constant = 0;  ///< c in L u - c u = b
  /// The mean of u where the equation leaves it open: no axis has `values`, and c is 0.
  double mean = 0;
  /// On hosts, search for the fastest transforms when the solver is made. That takes tenths of a
  /// second and pays after some solves; last bits may then differ between runs of a program.
  bool measure = true;
};

namespace detail {

/// A problem on three axes, the last of which is contiguous in memory if one is. Axes that aren't
/// used come first, with one cell and no boundary.
struct DirectProblem {
  std::array<std::int64_t, 3> extents{1, 1, 1};
  std::array<Boundary, 3> boundary{Boundary::periodic, Boundary::periodic, Boundary::periodic};
  std::array<double, 3> spacing{1, 1, 1};
  double constant = 0, mean = 0;
  std::int64_t batch = 1;
  bool measure = true;
};

/// A solver of one problem. The first axis of Views is the batch.
template <class Exec, class T>
class DirectSolver {
 public:
  virtual ~DirectSolver() = default;
  /// \param u  the cells without the ring, which is read around them
  virtual void solve(Strided<T const, 4> const& b, Strided<T, 4> const& u) = 0;
  virtual std::int64_t largest_prime_factor() const = 0;
};

/// \throws PreconditionError if the problem is singular, or an extent, a spacing or the batch isn't
///   positive
template <CompiledSpace Exec, class T>
std::unique_ptr<DirectSolver<Exec, T>> direct_solver(Exec const& exec,
                                                     DirectProblem const& problem);

/// Bytes that a solver would hold.
template <CompiledSpace Exec, class T>
std::int64_t direct_bytes(Exec const& exec, DirectProblem const& problem);

}  // namespace detail

/// A source and an unknown of a field of `Rank` axes, or of a batch of fields along a first axis
/// more.
template <class Exec, class T, int Rank, class B, class U>
concept DirectSourceAndUnknown =
    StridedView<B> && StridedView<U> && (ViewOfRank<B, Rank> || ViewOfRank<B, Rank + 1>) &&
    (int(B::rank) == int(U::rank)) && CanAccess<Exec, B, U> &&
    (std::same_as<T, float> || std::same_as<T, double>) &&
    std::same_as<typename B::non_const_value_type, T> && std::same_as<typename U::value_type, T>;

/// A direct solver for one shape of grid, for any number of solves.
///
///   L u - c u = b,   L u = sum_d (u_(i+1) - 2 u_i + u_(i-1)) / h_d^2
///
/// The transforms of Boundary's three kinds diagonalise L: sines for values, cosines of type 2 for
/// slopes, Hartley's for periodic axes. Along one axis of `values` the equations that the other
/// transforms leave are tridiagonal, and are solved as such. The result is exact up to rounding.
///
/// Views may have any strides. Memory: on hosts a few lines for each thread; on devices a
/// quarter of a field, or up to 2 MiB, for each kind and length of transform (slopes have two
/// kinds), and one field where an axis of up to 512 cells is transformed (see bytes()).
///
/// \tparam Exec  where to run
/// \tparam T     float or double
/// \tparam Rank  1 to 3
/// \see Swarztrauber, SIAM Review 19 (1977) 490; Strang, SIAM Review 41 (1999) 135
template <CompiledSpace Exec, class T, int Rank>
  requires(std::same_as<T, float> || std::same_as<T, double>) && (Rank >= 1 && Rank <= 3)
class Direct {
 public:
  /// \param extents  of the source: cells along each axis, without the ring
  /// \param batch    fields that one call solves for: on hosts with the bits of a call for each
  /// \throws PreconditionError if an extent, a spacing or the batch isn't positive; if c is an
  ///   eigenvalue of L, which the message names
  /// \throws ResourceError if the memory for the work is missing
  /// \throws EnvironmentError unless has_direct()
  Direct(Exec const& exec, std::array<int, Rank> const& extents,
         DirectOptions<Rank> const& options = {}, std::int64_t batch = 1)
      : exec_(exec), extents_(extents), options_(options), batch_(batch) {
    for (int d = 0; d < Rank; ++d) order_[static_cast<std::size_t>(d)] = d;
    solver_ = detail::direct_solver<Exec, T>(exec, problem());
  }

  /// Solves for u. Doesn't wait on devices, unless a mean is fixed. If the order of u's axes in
  /// memory is another than that of the last solve, the solver is made again.
  ///
  /// \param b  [m, ...] or [batch, m, ...] in; the source
  /// \param u  [m+2, ...] or [batch, m+2, ...] inout: the ring holds what Boundary says, and stays;
  ///   the cells inside are overwritten by the solution
  /// \throws PreconditionError unless the extents are those of the solver; if b and u overlap; if
  ///   the mean is open and b doesn't sum to what the slopes let in. u is then as before
  template <class B, class U>
    requires DirectSourceAndUnknown<Exec, T, Rank, B, U>
  void solve(B const& b, U const& u) {
    constexpr int rank = static_cast<int>(B::rank);
    Strided<T const, rank> const from = strided(b);
    Strided<T, rank> to = strided(u);
    check(from.extents, to.extents);
    expects_distinct_elements(to.extents, to.strides, "u");
    expects(!share_memory(from, to), "b and u must not share memory");
    auto const order = order_of(to);
    if (order != order_ || !solver_) {
      solver_ = nullptr;  // before memory is taken for the new one
      order_ = order;
      solver_ = detail::direct_solver<Exec, T>(exec_, problem());
    }
    constexpr int first = rank - Rank;
    for (int d = first; d < rank; ++d) {
      to.data += to.strides[static_cast<std::size_t>(d)];
      to.extents[static_cast<std::size_t>(d)] -= 2;
    }
    solver_->solve(on_four_axes(from), on_four_axes(to));
  }

  /// Bytes of a solver's memory beside the caller's fields.
  static std::int64_t bytes(Exec const& exec, std::array<int, Rank> const& extents,
                            DirectOptions<Rank> const& options = {}, std::int64_t batch = 1) {
    std::array<int, Rank> order;
    for (int d = 0; d < Rank; ++d) order[static_cast<std::size_t>(d)] = d;
    return detail::direct_bytes<Exec, T>(exec, problem_of(extents, options, batch, order));
  }

  /// The largest prime factor of the lengths that are transformed: n + 1 cells of an axis with
  /// values, n of others. On hosts a factor above some 20 takes two to four times as long as small
  /// ones do, on NVIDIA's devices one above 127 twice as long.
  std::int64_t largest_prime_factor() const {
    expects(solver_ != nullptr,
            "the solver is not there: it was moved, or memory for it was short");
    return solver_->largest_prime_factor();
  }

 private:
  using Order = std::array<int, Rank>;

  static detail::DirectProblem problem_of(std::array<int, Rank> const& extents,
                                          DirectOptions<Rank> const& options, std::int64_t batch,
                                          Order const& order) {
    detail::DirectProblem result;
    for (int d = 0; d < Rank; ++d) {
      auto const at = static_cast<std::size_t>(3 - Rank + d);
      auto const axis = static_cast<std::size_t>(order[static_cast<std::size_t>(d)]);
      result.extents[at] = extents[axis];
      result.boundary[at] = options.boundary[axis];
      result.spacing[at] = options.spacing[axis];
    }
    result.constant = options.constant;
    result.mean = options.mean;
    result.measure = options.measure;
    result.batch = batch;
    return result;
  }
  detail::DirectProblem problem() const { return problem_of(extents_, options_, batch_, order_); }

  /// The field's axes by their strides, the largest first.
  template <int N>
  static Order order_of(Strided<T, N> const& u) {
    Strided<T, Rank> field{u.data, {}, {}};
    for (int d = 0; d < Rank; ++d) {
      field.extents[static_cast<std::size_t>(d)] =
          u.extents[static_cast<std::size_t>(N - Rank + d)];
      field.strides[static_cast<std::size_t>(d)] =
          u.strides[static_cast<std::size_t>(N - Rank + d)];
    }
    return memory_order(field);
  }

  template <class S, int N>
  Strided<S, 4> on_four_axes(Strided<S, N> const& view) const {
    Strided<S, 4> result{view.data, {1, 1, 1, 1}, {}};
    if (N > Rank) {
      result.extents[0] = view.extents[0];
      result.strides[0] = view.strides[0];
    }
    for (int d = 0; d < Rank; ++d) {
      auto const at = static_cast<std::size_t>(4 - Rank + d);
      auto const axis = static_cast<std::size_t>(N - Rank + order_[static_cast<std::size_t>(d)]);
      result.extents[at] = view.extents[axis];
      result.strides[at] = view.strides[axis];
    }
    return result;
  }

  template <std::size_t N>
  void check(std::array<std::int64_t, N> const& b, std::array<std::int64_t, N> const& u) const {
    constexpr std::size_t first = N - Rank;
    std::int64_t const batch = first > 0 ? b[0] : 1;
    expects(batch == batch_, "b must have as many fields as the solver's batch", batch);
    if (first > 0)
      expects(u[0] == batch_, "u must have as many fields as the solver's batch", u[0]);
    for (std::size_t d = first; d < N; ++d) {
      std::int64_t const cells = extents_[d - first];
      std::string const axis = " along axis " + std::to_string(d);
      expects(b[d] == cells,
              "b must have " + std::to_string(cells) + " cells" + axis + " for this solver", b[d]);
      expects(u[d] == cells + 2,
              "u must have " + std::to_string(cells) + " + 2 cells" + axis + ", for the ring",
              u[d]);
    }
  }

  Exec exec_;
  std::array<int, Rank> extents_;
  DirectOptions<Rank> options_;
  std::int64_t batch_;
  Order order_;
  std::unique_ptr<detail::DirectSolver<Exec, T>> solver_;
};

/// Solves L u - c u = b once, as Direct does, and waits for the result. Transforms are estimated,
/// not measured, whatever `options` say, so that each run of a program gives the same bits.
///
/// \param b  [m], [m, n] or [m, n, p] in
/// \param u  the same extents + 2, inout
/// \throws PreconditionError, ResourceError as Direct
template <CompiledSpace Exec, class B, class U>
  requires DirectSourceAndUnknown<Exec, typename U::value_type, static_cast<int>(B::rank), B, U>
void direct(Exec const& exec, B const& b, U const& u,
            DirectOptions<static_cast<int>(B::rank)> const& options = {}) {
  constexpr int rank = static_cast<int>(B::rank);
  std::array<int, rank> extents;
  for (int d = 0; d < rank; ++d) {
    expects(b.extent(d) <= 2'000'000'000, "the grid must have at most 2e9 cells along an axis",
            b.extent(d));
    extents[static_cast<std::size_t>(d)] = static_cast<int>(b.extent(d));
  }
  auto once = options;
  once.measure = false;
  Direct<Exec, typename U::value_type, rank>(exec, extents, once).solve(b, u);
  exec.fence();
}

/// Solves on the default instance of the execution space of u.
template <class B, class U>
  requires DirectSourceAndUnknown<typename U::execution_space, typename U::value_type,
                                  static_cast<int>(B::rank), B, U>
void direct(B const& b, U const& u, DirectOptions<static_cast<int>(B::rank)> const& options = {}) {
  direct(typename U::execution_space{}, b, u, options);
}

}  // namespace coir::poisson
