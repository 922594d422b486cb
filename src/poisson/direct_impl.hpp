#pragma once

/// The steps of coir::poisson::Direct: the source with what the ring adds, transforms, tridiagonal
/// equations or a division by eigenvalues, and transforms back.

#include "tridiagonal.hpp"

#include <coir/core/buffers.hpp>
#include <coir/core/contiguous.hpp>
#include <coir/core/loops.hpp>
#include <coir/core/memory.hpp>
#include <coir/core/profiling.hpp>
#include <coir/core/views.hpp>
#include <coir/fft/trigonometric.hpp>
#include <coir/poisson/direct.hpp>
#include <coir/poisson/solve.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <numbers>
#include <string>
#include <vector>

namespace coir::poisson::detail {

/// b less what the ring adds to L u: u / h^2 beside an axis of values, and the slope / h beside one
/// of slopes.
template <class T>
struct SourceWithRing {
  T const* b;
  T const* u;
  T* to;
  std::int64_t n[3], b_stride[4], u_stride[4], to_stride[4];
  T weight[3];  ///< of the ring's numbers; 0: the ring isn't read

  KOKKOS_FUNCTION T edges(std::int64_t at, std::int64_t index, int d) const {
    T sum = 0;
    if (weight[d] != T(0)) {
      if (index == 0) sum += u[at - u_stride[d + 1]];
      if (index == n[d] - 1) sum += u[at + u_stride[d + 1]];
    }
    return weight[d] * sum;
  }
  KOKKOS_FUNCTION std::int64_t offset(std::int64_t const (&stride)[4], std::int64_t q,
                                      std::int64_t j, std::int64_t k) const {
    std::int64_t const field = q < n[0] ? 0 : q / n[0], i = q - field * n[0];
    return field * stride[0] + i * stride[1] + j * stride[2] + k * stride[3];
  }
  KOKKOS_FUNCTION T value(std::int64_t q, std::int64_t j, std::int64_t k) const {
    std::int64_t const at = offset(u_stride, q, j, k), i = q < n[0] ? q : q % n[0];
    return b[offset(b_stride, q, j, k)] - edges(at, i, 0) - edges(at, j, 1) - edges(at, k, 2);
  }
  KOKKOS_FUNCTION void operator()(std::int64_t q, std::int64_t j, std::int64_t k) const {
    to[offset(to_stride, q, j, k)] = value(q, j, k);
  }
  void stretch(std::int64_t q, std::int64_t j, std::int64_t begin, std::int64_t end) const {
    std::int64_t const i = q % n[0];
    bool const on_edge = i == 0 || i == n[0] - 1 || j == 0 || j == n[1] - 1;
    std::int64_t const first =
        begin == 0 || on_edge ? std::min(end, on_edge ? end : begin + 1) : begin;
    std::int64_t const last = end == n[2] ? std::max(first, end - 1) : end;
    for (std::int64_t k = begin; k < first; ++k) (*this)(q, j, k);
    std::int64_t const field = q / n[0];
    T const* const from = b + (field * b_stride[0] + i * b_stride[1] + j * b_stride[2]);
    T* const row = to + (field * to_stride[0] + i * to_stride[1] + j * to_stride[2]);
    COIR_INDEPENDENT_ITERATIONS
    for (std::int64_t k = first; k < last; ++k) row[k * to_stride[3]] = from[k * b_stride[3]];
    for (std::int64_t k = last; k < end; ++k) (*this)(q, j, k);
  }
};

/// Divides modes by the eigenvalues of c - L. The open mode, if there is one, is set.
template <class T>
struct DivideByEigenvalues {
  T* x;
  std::int64_t n0, stride[4];
  T const* eigenvalues[3];  ///< of -L along each axis
  T constant, scale, mean;
  bool is_open;

  KOKKOS_FUNCTION void operator()(std::int64_t q, std::int64_t j, std::int64_t k) const {
    std::int64_t const field = q < n0 ? 0 : q / n0, i = q - field * n0;
    T& mode = x[field * stride[0] + i * stride[1] + j * stride[2] + k * stride[3]];
    if (is_open && i == 0 && j == 0 && k == 0)
      mode = mean;
    else
      mode *= -scale / (eigenvalues[0][i] + eigenvalues[1][j] + eigenvalues[2][k] + constant);
  }
};

/// The sum of a field's source, or of the absolute values of b and of the source.
template <class T, bool Absolute>
struct SumOfSource {
  SourceWithRing<T> source;
  KOKKOS_FUNCTION void operator()(std::int64_t i, std::int64_t j, std::int64_t k,
                                  double& sum) const {
    auto const size = [](T value) { return static_cast<double>(value < T(0) ? -value : value); };
    T const value = source.value(i, j, k);
    if constexpr (Absolute)
      sum += size(value) + size(source.b[source.offset(source.b_stride, i, j, k)]);
    else
      sum += static_cast<double>(value);
  }
};

inline fft::Trigonometric transform_of(Boundary boundary) {
  switch (boundary) {
    case Boundary::values: return fft::Trigonometric::dst1;
    case Boundary::slopes: return fft::Trigonometric::dct2;
    case Boundary::periodic: break;
  }
  return fft::Trigonometric::dht;
}

/// The eigenvalues of -L along one axis: 4 sin^2(angle / 2) / h^2.
inline std::vector<double> eigenvalues(Boundary boundary, std::int64_t n, double spacing) {
  std::vector<double> result(static_cast<std::size_t>(n));
  auto const size = static_cast<double>(n);
  for (std::int64_t k = 0; k < n; ++k) {
    auto const at = static_cast<double>(k);
    double half_angle = std::numbers::pi;
    if (boundary == Boundary::values) half_angle *= (at + 1) / (2 * (size + 1));
    if (boundary == Boundary::slopes) half_angle *= at / (2 * size);
    if (boundary == Boundary::periodic) half_angle *= std::min(at, size - at) / size;
    double const root = 2 * std::sin(half_angle) / spacing;
    result[static_cast<std::size_t>(k)] = root * root;
  }
  return result;
}

inline std::string in_digits(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.9g", value);
  return text;
}

inline std::string words_of(DirectProblem const& problem) {
  std::string text;
  for (auto const n : problem.extents)
    if (n > 1 || !text.empty()) text += (text.empty() ? "" : " x ") + std::to_string(n);
  return text.empty() ? "1" : text;
}

/// How a problem is solved.
struct DirectWay {
  std::array<std::vector<double>, 3> eigenvalues;
  int tridiagonal = -1;  ///< the axis of tridiagonal equations
  bool is_open = false;  ///< u is known up to a constant
  double scale = 1;      ///< of the transforms and the inverse ones

  /// \param fewest_lines  tridiagonal equations in parallel that are worth it
  template <class T>
  DirectWay(DirectProblem const& problem, std::int64_t fewest_lines, T) {
    expects(problem.batch >= 1, "the batch must be at least 1", problem.batch);
    expects(std::isfinite(problem.constant), "the constant must be finite", problem.constant);
    expects(std::isfinite(problem.mean), "the mean must be finite", problem.mean);
    auto const fits = [](double x) { return std::isnormal(static_cast<T>(x)); };
    expects(problem.constant == 0 || (fits(problem.constant) && fits(1 / problem.constant)),
            "the constant is too large or too small for this kind of number: scale the problem",
            problem.constant);
    double smallest = problem.constant;
    std::int64_t cells = problem.batch;
    for (std::size_t d = 0; d < 3; ++d) {
      std::int64_t const n = problem.extents[d];
      expects(n >= 1, "the grid must have at least 1 cell along each axis", n);
      expects(n <= std::numeric_limits<std::int64_t>::max() / 64 / cells,
              "the grid and its batch have too many cells",
              words_of(problem) + " x " + std::to_string(problem.batch));
      double const h = problem.spacing[d];
      expects(std::isfinite(h) && h > 0, "spacings must be positive and finite", h);
      expects(fits(h * h) && fits(4 / (h * h)),
              "a spacing is too large or too small for this kind of number: scale the problem", h);
      cells *= n;
      eigenvalues[d] = detail::eigenvalues(problem.boundary[d], n, h);
      smallest += eigenvalues[d][0];
    }
    is_open = smallest == 0;
    if (problem.constant < 0) expects_regular(problem, double(std::numeric_limits<T>::epsilon()));
    for (int d = 0; d < 3 && tridiagonal < 0; ++d) {
      auto const at = static_cast<std::size_t>(d);
      bool const is_definite = smallest - eigenvalues[at][0] >= 0;
      bool const is_inner = d == 2 && cells > problem.extents[2];
      if (problem.boundary[at] == Boundary::values && is_definite && !is_inner &&
          cells / problem.extents[at] >= fewest_lines)
        tridiagonal = d;
    }
    for (int d = 0; d < 3; ++d)
      if (transforms(problem, d)) {
        auto const at = static_cast<std::size_t>(d);
        scale /= static_cast<double>(
            fft::logical_size(transform_of(problem.boundary[at]), problem.extents[at]));
      }
  }

  /// Whether an axis is transformed.
  bool transforms(DirectProblem const& problem, int d) const {
    auto const at = static_cast<std::size_t>(d);
    return d != tridiagonal &&
           (problem.extents[at] > 1 || problem.boundary[at] == Boundary::values);
  }

 private:
  /// Refuses c if it is an eigenvalue of L within rounding. Looks for the nearest one by bisection
  /// along the last axis.
  void expects_regular(DirectProblem const& problem, double epsilon) const {
    auto last = eigenvalues[2];
    std::sort(last.begin(), last.end());
    double nearest = -std::numeric_limits<double>::infinity();
    double const wanted = -problem.constant;
    for (double const first : eigenvalues[0])
      for (double const second : eigenvalues[1]) {
        auto const above = std::lower_bound(last.begin(), last.end(), wanted - first - second);
        for (auto const it : {above, above == last.begin() ? above : above - 1})
          if (it != last.end() &&
              std::abs(first + second + *it - wanted) < std::abs(nearest - wanted))
            nearest = first + second + *it;
      }
    // Sums of three eigenvalues and c are off by some roundings.
    double const tolerance = 8 * epsilon * wanted;
    if (std::abs(nearest - wanted) <= tolerance)
      throw PreconditionError("L u - c u = b is singular: c = " + in_digits(problem.constant) +
                              ", and the nearest eigenvalue of L is " + in_digits(-nearest) +
                              ": choose another c");
  }
};

template <class Exec, class T>
class TransformSolver : public DirectSolver<Exec, T> {
  using Memory = Kokkos::View<T*, Kokkos::LayoutRight, typename Exec::memory_space>;

 public:
  /// What a solver holds, before it holds it.
  struct Fields {
    std::array<Memory, 3> eigenvalues;
    Memory other;  ///< a second field, for transforms that take one
    Tridiagonal<Exec, T> tridiagonal;

    Buffers list(Exec const& exec, DirectProblem const& problem, DirectWay const& way) {
      Buffers all;
      bool needs_other = false;
      for (int d = 0; d < 3; ++d)
        needs_other = needs_other || (way.transforms(problem, d) && prefers_apart(problem, d));
      for (std::size_t d = 0; d < 3; ++d)
        all.add(eigenvalues[d], "coir::poisson::direct/eigenvalues", problem.extents[d]);
      if (needs_other)
        all.add(other, "coir::poisson::direct/other",
                problem.batch * problem.extents[0] * problem.extents[1] * problem.extents[2]);
      if (way.tridiagonal >= 0)
        tridiagonal.list(
            all, exec, problem.extents[static_cast<std::size_t>(way.tridiagonal)],
            way.tridiagonal == 2 ? problem.extents[1] : problem.extents[2],
            problem.batch * problem.extents[0] * problem.extents[1] * problem.extents[2]);
      return all;
    }
  };

  TransformSolver(Exec const& exec, DirectProblem const& problem)
      : exec_(exec), problem_(problem), way_(problem, fewest_lines<Exec>, T()) {
    for (int d = 2; d >= 0; --d)
      if (way_.transforms(problem, d)) steps_.emplace_back(exec, problem, d);
    fields_.list(exec, problem, way_)
        .template make<typename Exec::memory_space>("a direct solver on " + words_of(problem) +
                                                    " cells");
    for (std::size_t d = 0; d < 3; ++d) {
      std::vector<T> const values(way_.eigenvalues[d].begin(), way_.eigenvalues[d].end());
      copy_bytes<typename Exec::memory_space, Kokkos::HostSpace>(
          fields_.eigenvalues[d].data(), values.data(),
          static_cast<std::int64_t>(values.size() * sizeof(T)));
    }
  }

  static std::int64_t bytes(Exec const& exec, DirectProblem const& problem) {
    DirectWay const way(problem, fewest_lines<Exec>, T());
    std::int64_t work = 0;
    for (int d = 0; d < 3; ++d)
      if (way.transforms(problem, d))
        for (auto const& kinds : there_and_back(kinds_of(problem, d)))
          work +=
              Plan::work_bytes(exec, problem.extents, kinds, problem.batch, plan_options(problem));
    return work + Fields().list(exec, problem, way).bytes();
  }

  std::int64_t largest_prime_factor() const override {
    std::int64_t largest = 1;
    for (auto const& step : steps_) {
      auto const at = static_cast<std::size_t>(step.axis);
      auto const kind = transform_of(problem_.boundary[at]);
      largest = std::max(largest,
                         fft::largest_prime_factor(fft::logical_size(kind, problem_.extents[at])));
    }
    return largest;
  }

  void solve(Strided<T const, 4> const& b, Strided<T, 4> const& u) override {
    ProfilingRegion const region("coir::poisson::direct");
    Strided<T, 4> other{fields_.other.data(), u.extents, c_strides(u.extents)};
    // Each step takes the numbers to the other field and, on the way back, home to u.
    Strided<T, 4> now = u, next = other;
    auto const source = source_with_ring(b, u, now);
    if (way_.is_open) expects_open_sums(source);
    for_cells("coir::poisson::direct/source", source);
    for (auto const& step : steps_) step.transform(step.forward, now, next);
    if (way_.tridiagonal >= 0)
      solve_tridiagonal(now);
    else
      divide(now);
    for (auto step = steps_.rbegin(); step != steps_.rend(); ++step)
      step->transform(step->backward, now, next);
  }

 private:
  using Plan = fft::TrigonometricPlan<Exec, T, 3>;

  static fft::TrigonometricPlanOptions plan_options(DirectProblem const& problem) {
    return {problem.measure ? fft::Effort::automatic : fft::Effort::estimate, true};
  }

  /// The transform of one axis alone.
  static std::array<fft::Trigonometric, 3> kinds_of(DirectProblem const& problem, int axis) {
    std::array<fft::Trigonometric, 3> kinds{};
    auto const at = static_cast<std::size_t>(axis);
    kinds[at] = transform_of(problem.boundary[at]);
    return kinds;
  }

  using Kinds = std::array<fft::Trigonometric, 3>;
  static Kinds inverse(Kinds kinds) {
    for (auto& kind : kinds) kind = fft::inverse_of(kind);
    return kinds;
  }
  /// The transforms whose plans differ.
  static std::vector<Kinds> there_and_back(Kinds const& kinds) {
    if (inverse(kinds) == kinds) return {kinds};
    return {kinds, inverse(kinds)};
  }

  static bool prefers_apart(DirectProblem const& problem, int axis) {
    return Plan::prefers_apart(problem.extents, kinds_of(problem, axis), problem.batch,
                               plan_options(problem));
  }

  /// The transforms along one axis, there and back.
  struct Step {
    int axis;
    Plan forward, backward;
    bool apart;  ///< they take the numbers to another field

    Step(Exec const& exec, DirectProblem const& problem, int d)
        : axis(d),
          forward(exec, problem.extents, kinds_of(problem, d), problem.batch,
                  plan_options(problem)),
          backward(exec, problem.extents, inverse(kinds_of(problem, d)), problem.batch,
                   plan_options(problem)),
          apart(prefers_apart(problem, d)) {}

    void transform(Plan const& plan, Strided<T, 4>& now, Strided<T, 4>& next) const {
      plan.run(view_of(now), view_of(apart ? next : now));
      if (apart) std::swap(now, next);
    }

   private:
    static auto view_of(Strided<T, 4> const& field) {
      Kokkos::LayoutStride layout;
      for (std::size_t d = 0; d < 4; ++d) {
        layout.dimension[d] = static_cast<std::size_t>(field.extents[d]);
        layout.stride[d] = static_cast<std::size_t>(field.strides[d]);
      }
      return UnmanagedView<T, 4, Kokkos::LayoutStride, typename Exec::memory_space>(field.data,
                                                                                    layout);
    }
  };

  template <class Body>
  void for_cells(char const* label, Body const& body) const {
    auto const& n = problem_.extents;
    for_each(label, exec_, box<3, std::int64_t>({problem_.batch * n[0], n[1], n[2]}), body);
  }

  SourceWithRing<T> source_with_ring(Strided<T const, 4> const& b, Strided<T, 4> const& u,
                                     Strided<T, 4> const& to) const {
    SourceWithRing<T> body{b.data, u.data, to.data, {}, {}, {}, {}, {}};
    for (int d = 0; d < 4; ++d) {
      auto const at = static_cast<std::size_t>(d);
      body.b_stride[d] = b.strides[at];
      body.u_stride[d] = u.strides[at];
      body.to_stride[d] = to.strides[at];
    }
    for (int d = 0; d < 3; ++d) {
      auto const at = static_cast<std::size_t>(d);
      double const h = problem_.spacing[at];
      body.n[d] = problem_.extents[at];
      if (problem_.boundary[at] == Boundary::values) body.weight[d] = static_cast<T>(1 / (h * h));
      if (problem_.boundary[at] == Boundary::slopes) body.weight[d] = static_cast<T>(1 / h);
    }
    return body;
  }

  template <class S, class Body>
  Body over(Strided<S, 4> const& field, Body body) const {
    body.n0 = problem_.extents[0];
    for (int d = 0; d < 4; ++d) body.stride[d] = field.strides[static_cast<std::size_t>(d)];
    return body;
  }

  void divide(Strided<T, 4> const& x) const {
    DivideByEigenvalues<T> body{};
    body.x = x.data;
    for (std::size_t d = 0; d < 3; ++d) body.eigenvalues[d] = fields_.eigenvalues[d].data();
    body.constant = static_cast<T>(problem_.constant);
    body.scale = static_cast<T>(way_.scale);
    body.mean = static_cast<T>(problem_.mean);
    body.is_open = way_.is_open;
    for_cells("coir::poisson::direct/divide", over(x, body));
  }

  void solve_tridiagonal(Strided<T, 4> const& x) const {
    auto const axis = static_cast<std::size_t>(way_.tridiagonal);
    std::size_t const second = axis == 0 ? 1 : 0, third = axis == 2 ? 1 : 2;
    double const h = problem_.spacing[axis];
    TridiagonalLines<T> const equations{
        x.data,
        x.extents[axis + 1],
        x.strides[axis + 1],
        x.extents[0],
        x.extents[second + 1],
        x.extents[third + 1],
        x.strides[0],
        x.strides[second + 1],
        x.strides[third + 1],
        {fields_.eigenvalues[second].data(), fields_.eigenvalues[third].data()},
        static_cast<T>(problem_.constant),
        static_cast<T>(h * h),
        static_cast<T>(-h * h * way_.scale)};
    fields_.tridiagonal.solve(exec_, equations);
  }

  /// \param source  of the first field
  template <bool Absolute>
  double sum(SourceWithRing<T> source, std::int64_t field) const {
    auto const& n = problem_.extents;
    source.b += field * source.b_stride[0];
    source.u += field * source.u_stride[0];
    double total = 0;
    reduce("coir::poisson::direct/sum", exec_, box<3, std::int64_t>({n[0], n[1], n[2]}),
           SumOfSource<T, Absolute>{source}, Kokkos::Sum<double>(total));
    return total;
  }

  /// \throws PreconditionError if a field's source, less what its slopes let in, doesn't sum to
  /// zero
  ///   within rounding
  void expects_open_sums(SourceWithRing<T> const& source) const {
    for (std::int64_t field = 0; field < problem_.batch; ++field) {
      double const total = sum<false>(source, field), size = sum<true>(source, field);
      // Rounding in a source whose mean was subtracted leaves less than this.
      double const tolerance = 64 * double(std::numeric_limits<T>::epsilon()) * size;
      if (!(std::abs(total) <= tolerance))
        throw PreconditionError(
            "no u has these slopes and this source" +
            (problem_.batch > 1 ? " (field " + std::to_string(field) + " of the batch)"
                                : std::string()) +
            ": without `values` on an axis, b less what the slopes let in must sum to 0, not " +
            in_digits(total) + " (in absolute values " + in_digits(size) +
            "): subtract the mean of b");
    }
  }

  Exec exec_;
  DirectProblem problem_;
  DirectWay way_;
  std::vector<Step> steps_;
  Fields fields_;
};

template <CompiledSpace Exec, class T>
std::unique_ptr<DirectSolver<Exec, T>> direct_solver(Exec const& exec,
                                                     DirectProblem const& problem) {
  return std::make_unique<TransformSolver<Exec, T>>(exec, problem);
}

template <CompiledSpace Exec, class T>
std::int64_t direct_bytes(Exec const& exec, DirectProblem const& problem) {
  return TransformSolver<Exec, T>::bytes(exec, problem);
}

template <CompiledSpace Exec, class T>
bool direct_pays(Exec const& exec, DirectProblem const& problem, double tolerance) {
  // Multigrid's time doesn't depend on prime factors. On devices the direct solver is faster
  // anyway.
  constexpr std::int64_t slow_factor = 20;
  constexpr double reached_by_multigrid = 1e-10;
  std::int64_t largest = 1;
  bool is_first = true;  // the first axis isn't transformed
  for (std::size_t d = 0; d < 3; ++d) {
    if (problem.boundary[d] != Boundary::values) continue;
    if (!is_first) largest = std::max(largest, fft::largest_prime_factor(problem.extents[d] + 1));
    is_first = false;
  }
  if (runs_on_host<Exec> && largest > slow_factor && tolerance >= reached_by_multigrid)
    return false;
  return direct_bytes<Exec, T>(exec, problem) <= free_bytes<typename Exec::memory_space>();
}

}  // namespace coir::poisson::detail

#define COIR_DIRECT(Exec, T)                                                           \
  template std::unique_ptr<DirectSolver<Exec, T>> direct_solver(Exec const&,           \
                                                                DirectProblem const&); \
  template std::int64_t direct_bytes<Exec, T>(Exec const&, DirectProblem const&);      \
  template bool direct_pays<Exec, T>(Exec const&, DirectProblem const&, double);
#define COIR_INSTANTIATE_DIRECT(Exec) \
  namespace coir::poisson::detail {   \
  COIR_DIRECT(Exec, float)            \
  COIR_DIRECT(Exec, double)           \
  }
