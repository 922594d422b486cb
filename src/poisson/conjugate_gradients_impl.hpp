#pragma once

/// The iterations of coir::poisson::conjugate_gradients, for arguments that are checked.

#include <coir/core/buffers.hpp>
#include <coir/core/contiguous.hpp>
#include <coir/core/errors.hpp>
#include <coir/core/profiling.hpp>
#include <coir/poisson/conjugate_gradients.hpp>
#include <coir/poisson/direct.hpp>
#include <coir/poisson/laplacian.hpp>
#include <coir/poisson/multigrid_preconditioner.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "stencil.hpp"
#include "variable_operator.hpp"

// A Kokkos Kernels that was built for products alone has no sparse matrices.
#if __has_include(<KokkosSparse_CrsMatrix.hpp>)
#include "laplacian_matrix.hpp"
#endif

namespace coir::poisson::detail {

// Indices i, j count a field's ring, too: interior cells start at 1.

template <class B, class U, class R>
struct StoreResidual {
  B b;
  U u;
  R r;
  KOKKOS_FORCEINLINE_FUNCTION void operator()(int i, int j) const {
    r(i - 1, j - 1) = residual(b, u, i, j);
  }
};

template <class R, class Z>
struct CopyToRinged {
  static constexpr bool reads_no_neighbours = true;
  R r;
  Z z;
  KOKKOS_FORCEINLINE_FUNCTION void operator()(int i, int j) const { z(i, j) = r(i - 1, j - 1); }
};

template <class Z, class P>
struct CopyFromRinged {
  static constexpr bool reads_no_neighbours = true;
  Z z;
  P p;
  KOKKOS_FORCEINLINE_FUNCTION void operator()(int i, int j) const { p(i - 1, j - 1) = z(i, j); }
};

template <class R, class Z>
struct DotWithRinged {
  R r;
  Z z;
  KOKKOS_FORCEINLINE_FUNCTION void operator()(int i, int j, double& sum) const {
    sum += double(r(i - 1, j - 1)) * double(z(i, j));
  }
};

template <class P>
struct Dot {
  P p, q;
  KOKKOS_FORCEINLINE_FUNCTION void operator()(int i, int j, double& sum) const {
    sum += double(p(i - 1, j - 1)) * double(q(i - 1, j - 1));
  }
};

template <class U>
struct Zero {
  static constexpr bool reads_no_neighbours = true;
  U u;
  KOKKOS_FORCEINLINE_FUNCTION void operator()(int i, int j) const { u(i, j) = 0; }
};

/// u <- u + alpha p, r <- r - alpha q.
template <class U, class P>
struct Step {
  static constexpr bool reads_no_neighbours = true;
  U u;
  P r, p, q;
  typename U::value_type alpha;
  KOKKOS_FORCEINLINE_FUNCTION void operator()(int i, int j) const {
    u(i, j) += alpha * p(i - 1, j - 1);
    r(i - 1, j - 1) -= alpha * q(i - 1, j - 1);
  }
};

/// p <- z + beta p.
template <class Z, class P>
struct NewDirection {
  static constexpr bool reads_no_neighbours = true;
  Z z;
  P p;
  typename P::value_type beta;
  KOKKOS_FORCEINLINE_FUNCTION void operator()(int i, int j) const {
    p(i - 1, j - 1) = z(i, j) + beta * p(i - 1, j - 1);
  }
};

#if __has_include(<KokkosSparse_CrsMatrix.hpp>)

/// L as a matrix in compressed rows.
template <class Exec, class T>
class LaplacianOperator {
  using Read = RowMajorView<Exec, T const, 2>;
  using Write = RowMajorView<Exec, T, 2>;

 public:
  LaplacianOperator(Exec const& exec, std::size_t m, std::size_t n)
      : matrix_(laplacian_matrix<Exec, T>(exec, m, n)) {}

  static constexpr bool scales() { return false; }
  template <class R>
  void scale(Exec const&, R const&, R const&) const {}

  template <class P>
  void apply(Exec const& exec, P const& p, P const& q) const {
    multiply(exec, matrix_, flat(p), flat(q));
  }
  template <class R>
  void store_residual(Exec const& exec, Read const& b, Write const& u, R const& r) const {
    for_each("coir::poisson::conjugate_gradients/residual", exec, interior(b),
             StoreResidual<Read, Write, R>{b, u, r});
  }
  double residual_norm(Exec const& exec, Read const& b, Write const& u) const {
    return detail::residual_norm<Exec, T, 2>(exec, b, u);
  }
  double source_norm(Exec const& exec, Read const& b, Write const& u) const {
    return detail::source_norm<Exec, T, 2>(exec, b, u);
  }

 private:
  /// The numbers of a field as one vector, which the matrix multiplies.
  template <class P>
  static auto flat(P const& field) {
    return Kokkos::View<T*, Kokkos::LayoutRight, Kokkos::Device<Exec, typename Exec::memory_space>,
                        Kokkos::MemoryTraits<Kokkos::Unmanaged>>(field.data(), field.size());
  }

  SparseMatrix<Exec, T> matrix_;
};

#endif

/// \tparam Operator  the left-hand side: LaplacianOperator or VariableOperator
template <class Exec, class T, class Operator>
class ConjugateGradients {
 public:
  ConjugateGradients(Exec const& exec, Operator const& left,
                     RowMajorView<Exec, T const, 2> const& b, RowMajorView<Exec, T, 2> const& u,
                     ConjugateGradientsOptions const& options)
      : exec_(exec), options_(options), operator_(left), b_(b), u_(u) {
    std::string const label = "coir::poisson::conjugate_gradients";
    Buffers fields;
    fields.add(r_, label + "/residual", m(), n());
    fields.add(p_, label + "/direction", m(), n());
    fields.add(q_, label + "/product", m(), n());
    fields.add(z_, label + "/preconditioned", m() + 2, n() + 2);
    fields.make<typename Exec::memory_space>("conjugate gradients on " + std::to_string(m()) +
                                             " x " + std::to_string(n()) + " cells");
    set_to_zero(exec, z_);  // its ring stays so
    std::array const extents{static_cast<int>(m()), static_cast<int>(n())};
    if (options.preconditioner == Preconditioner::multigrid) multigrid_.emplace(exec, extents);
    if (options.preconditioner == Preconditioner::direct)
      direct_.emplace(exec, extents, DirectOptions<2>{.measure = false});
  }

  Result solve() {
    scale_ = operator_.source_norm(exec_, b_, u_);
    if (scale_ == 0) return solve_for_zero();
    double previous = std::numeric_limits<double>::infinity();
    while (!must_stop(previous)) {
      previous = result_.residual_norm;
      iterate();
    }
    return result_;
  }

 private:
  using Memory = Kokkos::View<T**, Kokkos::LayoutRight, typename Exec::memory_space>;

  // If a new start leaves more than this share of the residual, rounding keeps it from the
  // tolerance.
  static constexpr double stagnating = 0.9;

  std::size_t m() const { return b_.extent(0); }
  std::size_t n() const { return b_.extent(1); }

  // The solution is exactly zero.
  Result solve_for_zero() {
    run("zero", Zero<RowMajorView<Exec, T, 2>>{u_});
    exec_.fence();
    result_.converged = true;
    result_.stopped_by = StoppedBy::tolerance;
    return result_;
  }

  // Computes b - L u, and decides whether to stop.
  bool must_stop(double previous) {
    result_.residual_norm = operator_.residual_norm(exec_, b_, u_);
    result_.relative_residual = result_.residual_norm / scale_;
    result_.converged =
        result_.residual_norm == 0 || result_.relative_residual <= options_.tolerance;
    auto const stop = [this](StoppedBy reason) {
      result_.stopped_by = reason;
      return true;
    };
    if (!std::isfinite(result_.relative_residual) || not_finite_)
      return stop(StoppedBy::not_finite);
    if (result_.converged) return stop(StoppedBy::tolerance);
    if (interrupted_) return stop(StoppedBy::interrupted);
    if (result_.iterations >= options_.max_iterations) return stop(StoppedBy::sweeps);
    if (result_.residual_norm > stagnating * previous) return stop(StoppedBy::stagnation);
    return false;
  }

  // Starts from b - L u, and iterates until the recurrence's residual is small enough or a limit is
  // met.
  void iterate() {
    operator_.store_residual(exec_, b_, u_, r_);
    precondition();
    double rz = sum("dot", DotWithRinged<Memory, Memory>{r_, z_});
    run("direction", CopyFromRinged<Memory, Memory>{z_, p_});
    for (;;) {
      operator_.apply(exec_, p_, q_);
      double const pq = sum("dot", Dot<Memory>{p_, q_});
      not_finite_ = !std::isfinite(rz) || !std::isfinite(pq);
      if (not_finite_ || rz == 0 || pq == 0) return;
      run("step", Step<RowMajorView<Exec, T, 2>, Memory>{u_, r_, p_, q_, static_cast<T>(rz / pq)});
      ++result_.iterations;
      double const left = std::sqrt(sum("dot", Dot<Memory>{r_, r_})) / scale_;
      interrupted_ = options_.monitor &&
                     !options_.monitor({result_.iterations, options_.max_iterations, left});
      if (interrupted_ || result_.iterations >= options_.max_iterations ||
          !(left > options_.tolerance))
        return;
      precondition();
      double const before = std::exchange(rz, sum("dot", DotWithRinged<Memory, Memory>{r_, z_}));
      run("direction", NewDirection<Memory, Memory>{z_, p_, static_cast<T>(rz / before)});
    }
  }

  // z = M r, or z = M (r / sqrt(k)) / sqrt(k). The product's memory is free meanwhile.
  void precondition() {
    bool const scales = operator_.scales() && (multigrid_ || direct_);
    if (scales) operator_.scale(exec_, r_, q_);
    Memory const source = scales ? q_ : r_;
    if (multigrid_)
      multigrid_->apply(source, z_);
    else if (direct_)
      direct_->solve(source, z_);
    else
      run("copy", CopyToRinged<Memory, Memory>{r_, z_});
    if (scales) operator_.scale(exec_, z_, z_);
  }

  template <class Body>
  void run(char const* step, Body const& body) const {
    for_each(std::string("coir::poisson::conjugate_gradients/") + step, exec_, interior(b_), body);
  }

  template <class Body>
  double sum(char const* step, Body const& body) const {
    double total = 0;
    reduce(std::string("coir::poisson::conjugate_gradients/") + step, exec_, interior(b_), body,
           Kokkos::Sum<double>(total));
    return total;
  }

  Exec exec_;
  ConjugateGradientsOptions const& options_;
  Operator operator_;
  RowMajorView<Exec, T const, 2> b_;
  RowMajorView<Exec, T, 2> u_;
  Memory r_, p_, q_, z_;
  std::optional<MultigridPreconditioner<Exec, T>> multigrid_;
  std::optional<Direct<Exec, T, 2>> direct_;
  double scale_ = 0;
  bool interrupted_ = false;
  bool not_finite_ = false;
  Result result_;
};

inline void expects_cells(std::int64_t m, std::int64_t n) {
  expects(m <= std::numeric_limits<int>::max() / n,
          "conjugate gradients count cells in int: there must be at most 2147483647",
          std::to_string(m) + " x " + std::to_string(n));
}

inline void check_options(ConjugateGradientsOptions const& options) {
  expects(options.max_iterations >= 0, "max_iterations must not be negative",
          options.max_iterations);
  expects(options.tolerance >= 0 && options.tolerance < 1, "the tolerance must lie in [0, 1)",
          options.tolerance);
}

template <CompiledSpace Exec, class T>
Result conjugate_gradients(Exec const& exec, RowMajorView<Exec, T const, 2> const& b,
                           RowMajorView<Exec, T, 2> const& u,
                           ConjugateGradientsOptions const& options) {
#if __has_include(<KokkosSparse_CrsMatrix.hpp>)
  check_options(options);
  if (b.size() == 0) return {.converged = true, .stopped_by = StoppedBy::tolerance};
  expects_cells(static_cast<std::int64_t>(b.extent(0)), static_cast<std::int64_t>(b.extent(1)));
  ProfilingRegion const region("coir::poisson::conjugate_gradients");
  LaplacianOperator<Exec, T> const laplacian(exec, b.extent(0), b.extent(1));
  return ConjugateGradients<Exec, T, LaplacianOperator<Exec, T>>(exec, laplacian, b, u, options)
      .solve();
#else
  throw EnvironmentError(
      "conjugate gradients need sparse matrices of Kokkos Kernels, which this build of coir lacks: "
      "build it with one of the presets, or take multigrid");
#endif
}

template <CompiledSpace Exec, class T>
Result conjugate_gradients(Exec const& exec, RowMajorView<Exec, T const, 2> const& k,
                           RowMajorView<Exec, T const, 2> const& b,
                           RowMajorView<Exec, T, 2> const& u, bool transposed,
                           ConjugateGradientsOptions const& options) {
  check_options(options);
  if (b.size() == 0) return {.converged = true, .stopped_by = StoppedBy::tolerance};
  ProfilingRegion const region("coir::poisson::conjugate_gradients");
  VariableOperator<Exec, T> const variable(exec, k, transposed);
  return ConjugateGradients<Exec, T, VariableOperator<Exec, T>>(exec, variable, b, u, options)
      .solve();
}

}  // namespace coir::poisson::detail

#define COIR_CONJUGATE_GRADIENTS(Exec, T)                                                          \
  template Result conjugate_gradients<Exec, T>(Exec const&, RowMajorView<Exec, T const, 2> const&, \
                                               RowMajorView<Exec, T, 2> const&,                    \
                                               ConjugateGradientsOptions const&);                  \
  template Result conjugate_gradients<Exec, T>(                                                    \
      Exec const&, RowMajorView<Exec, T const, 2> const&, RowMajorView<Exec, T const, 2> const&,   \
      RowMajorView<Exec, T, 2> const&, bool, ConjugateGradientsOptions const&);
#define COIR_INSTANTIATE_CONJUGATE_GRADIENTS(Exec) \
  namespace coir::poisson::detail {                \
  COIR_CONJUGATE_GRADIENTS(Exec, float)            \
  COIR_CONJUGATE_GRADIENTS(Exec, double)           \
  }
