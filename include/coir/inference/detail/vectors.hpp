#pragma once

/// Vectors of parameters in the memory of an execution space, and the kernels that samplers need.

#include <coir/array/creation.hpp>
#include <coir/array/random.hpp>
#include <coir/core/contiguous.hpp>
#include <coir/core/errors.hpp>
#include <coir/core/loops.hpp>
#include <coir/core/math.hpp>
#include <coir/inference/target.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string_view>
#include <type_traits>
#include <vector>

namespace coir::inference::detail {

inline constexpr double infinity = std::numeric_limits<double>::infinity();

template <ExecutionSpace Exec>
using Vector = Kokkos::View<double*, typename Exec::memory_space>;
template <ExecutionSpace Exec>
using Matrix = Kokkos::View<double**, Kokkos::LayoutRight, typename Exec::memory_space>;

template <class V>
std::int64_t length(V const& x) {
  return static_cast<std::int64_t>(x.extent(0));
}

template <ExecutionSpace Exec>
Vector<Exec> vector_of(std::int64_t n) {
  return Vector<Exec>("coir::inference::vectors/vector", static_cast<std::size_t>(n));
}

// Several threads call these functions at the same time, each for its chain. So the functions
// allocate no Views, which Kokkos doesn't allow inside a kernel.

/// The elements of a View without gaps, in host memory.
template <class V>
std::vector<double> elements_of(V const& view) {
  std::vector<double> result(view.size());
  if constexpr (std::is_same_v<typename V::memory_space, Kokkos::HostSpace>)
    std::copy_n(view.data(), view.size(), result.data());
  else
    copy_bytes<Kokkos::HostSpace, typename V::memory_space>(
        result.data(), view.data(), static_cast<std::int64_t>(view.size() * sizeof(double)));
  return result;
}

/// Writes as many numbers as a View has elements.
template <class V>
void set_elements(V const& view, double const* numbers) {
  if constexpr (std::is_same_v<typename V::memory_space, Kokkos::HostSpace>)
    std::copy_n(numbers, view.size(), view.data());
  else
    copy_bytes<typename V::memory_space, Kokkos::HostSpace>(
        view.data(), numbers, static_cast<std::int64_t>(view.size() * sizeof(double)));
}

/// Vectors up to this length are looped over in place: for few parameters a launch takes longer.
inline constexpr std::int64_t few = 256;

/// body(i) for every 0 <= i < n, in one kernel.
template <ExecutionSpace Exec, class Body>
void for_elements(std::string_view label, Exec const& exec, std::int64_t n, Body const& body) {
  if constexpr (runs_on_host<Exec>) {
    if (n <= few) {
      COIR_INDEPENDENT_ITERATIONS
      for (std::int64_t i = 0; i < n; ++i) body(i);
      return;
    }
  }
  for_each(label, exec, box<1, std::int64_t>({n}), body);
}

/// to = from
template <ExecutionSpace Exec>
void copy(Exec const& exec, Vector<Exec> const& from, Vector<Exec> const& to) {
  double const* const x = from.data();
  double* const y = to.data();
  for_elements(
      "coir::inference::vectors/copy", exec, length(from),
      KOKKOS_LAMBDA(std::int64_t i) { y[i] = x[i]; });
}

/// y = a x + b y
template <ExecutionSpace Exec>
void combine(Exec const& exec, double a, Vector<Exec> const& x, double b, Vector<Exec> const& y) {
  double const* const from = x.data();
  double* const to = y.data();
  for_elements(
      "coir::inference::vectors/combine", exec, length(x),
      KOKKOS_LAMBDA(std::int64_t i) { to[i] = a * from[i] + b * to[i]; });
}

template <ExecutionSpace Exec>
double dot(Exec const& exec, Vector<Exec> const& x, Vector<Exec> const& y) {
  double const *const a = x.data(), *const b = y.data();
  std::int64_t const n = length(x);
  if constexpr (runs_on_host<Exec>) {
    if (n <= few) {
      constexpr int lanes = 8;
      double sums[lanes] = {};
      std::int64_t i = 0;
      for (; i + lanes <= n; i += lanes)
        for (int k = 0; k < lanes; ++k) sums[k] += a[i + k] * b[i + k];
      double sum =
          ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]));
      for (; i < n; ++i) sum += a[i] * b[i];
      return sum;
    }
  }
  double result = 0;
  reduce(
      "coir::inference::vectors/dot", exec, box<1, std::int64_t>({n}),
      KOKKOS_LAMBDA(std::int64_t i, double& sum) { sum += a[i] * b[i]; },
      Kokkos::Sum<double>(result));
  return result;
}

/// Independent numbers of mean 0 and variance 1.
template <ExecutionSpace Exec>
void fill_normal(Exec const& exec, random::Key const& key, Vector<Exec> const& x) {
  if constexpr (!runs_on_host<Exec>) exec.fence();  // arrays have an instance of their own
  random::fill_normal(key, borrow(x));
  if constexpr (!runs_on_host<Exec>) Kokkos::fence();
}

/// The number-th number of a key, spread evenly over [0, 1).
inline double uniform(random::Key const& key, std::uint64_t number) {
  auto const words = random::fold_in(key, number).words;
  std::uint64_t const bits = words[0] | std::uint64_t(words[1]) << 32;
  return static_cast<double>(bits >> 11) * 0x1p-53;
}

/// Where a chain is. Copies share the memory.
template <ExecutionSpace Exec>
struct Place {
  explicit Place(std::int64_t n) : theta(vector_of<Exec>(n)), slope(vector_of<Exec>(n)) {}

  Vector<Exec> theta, slope;
  double log_density = -infinity;

  void take(Exec const& exec, Place const& other) {
    copy(exec, other.theta, theta);
    copy(exec, other.slope, slope);
    log_density = other.log_density;
  }

  /// Finds the log density and its slope at theta. A log density that isn't finite becomes
  /// -infinity.
  template <Target<Exec> T>
  void evaluate(Exec const& exec, T const& target) {
    if constexpr (!runs_on_host<Exec>) exec.fence();
    try {
      log_density = target(Kokkos::View<double const*, typename Exec::memory_space>(theta), slope);
    } catch (NumericalError const&) {
      log_density = -infinity;
    }
    if (!std::isfinite(log_density)) log_density = -infinity;
  }
};

/// A place and the momentum there, each number of which has unit variance.
template <ExecutionSpace Exec>
struct Phase {
  explicit Phase(std::int64_t n) : place(n), momentum(vector_of<Exec>(n)) {}

  Place<Exec> place;
  Vector<Exec> momentum;

  void take(Exec const& exec, Phase const& other) {
    place.take(exec, other.place);
    copy(exec, other.momentum, momentum);
  }
  double energy(Exec const& exec) const {
    return 0.5 * dot(exec, momentum, momentum) - place.log_density;
  }
};

}  // namespace coir::inference::detail
