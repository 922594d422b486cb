#pragma once

/// The Laplacian and the norms of coir/poisson/laplacian.hpp once their arguments are checked.

#include "stencil.hpp"

#include <coir/core/loops.hpp>
#include <coir/poisson/laplacian.hpp>

#include <cmath>

namespace coir::poisson::detail {

template <class V, class B>
struct ApplyLaplacian {
  V u;
  B b;
  template <class... Index>
  KOKKOS_FORCEINLINE_FUNCTION void operator()(Index... index) const {
    using T = typename V::non_const_value_type;
    b((index - 1)...) = neighbour_sum(u, index...) - T(2 * sizeof...(Index)) * u(index...);
  }
};

template <class B, class V>
struct SquaredResidual {
  B b;
  V u;
  KOKKOS_FORCEINLINE_FUNCTION void operator()(int i, int j, double& sum) const {
    double const r = residual(b, u, i, j);
    sum += r * r;
  }
  KOKKOS_FORCEINLINE_FUNCTION void operator()(Index3 i, Index3 j, Index3 k, double& sum) const {
    double const r = residual(b, u, i, j, k);
    sum += r * r;
  }
};

/// The residual for u = 0 inside with u's boundary values.
template <class B, class V>
struct SquaredSource {
  B b;
  V u;
  KOKKOS_FORCEINLINE_FUNCTION void operator()(int i, int j, double& sum) const {
    int const m = static_cast<int>(b.extent(0)), n = static_cast<int>(b.extent(1));
    double r = b(i - 1, j - 1);
    if (i == 1) r -= u(0, j);
    if (i == m) r -= u(m + 1, j);
    if (j == 1) r -= u(i, 0);
    if (j == n) r -= u(i, n + 1);
    sum += r * r;
  }
  KOKKOS_FORCEINLINE_FUNCTION void operator()(Index3 i, Index3 j, Index3 k, double& sum) const {
    Index3 const m = b.extent(0), n = b.extent(1), p = b.extent(2);
    double r = b(i - 1, j - 1, k - 1);
    if (i == 1) r -= u(0, j, k);
    if (i == m) r -= u(m + 1, j, k);
    if (j == 1) r -= u(i, 0, k);
    if (j == n) r -= u(i, n + 1, k);
    if (k == 1) r -= u(i, j, 0);
    if (k == p) r -= u(i, j, p + 1);
    sum += r * r;
  }

  /// The terms of a row, for hosts: the same differences without conditions by cells, so that they
  /// vectorise. Rows beside no boundary subtract zeros.
  auto terms(int i, int begin, int) const
    requires(V::rank == 2)
  {
    auto const m = static_cast<int>(b.extent(0)), n = static_cast<int>(b.extent(1));
    return Row{begin,
               n,
               &b(i - 1, begin - 1),
               {beside(i == 1, u, 0, begin), beside(i == m, u, m + 1, begin), zeros, zeros},
               u(i, 0),
               u(i, n + 1)};
  }
  auto terms(Index3 i, Index3 j, Index3 begin, Index3) const
    requires(V::rank == 3)
  {
    Index3 const m = b.extent(0), n = b.extent(1), p = b.extent(2);
    return Row{begin,
               p,
               &b(i - 1, j - 1, begin - 1),
               {beside(i == 1, u, 0, j, begin), beside(i == m, u, m + 1, j, begin),
                beside(j == 1, u, i, 0, begin), beside(j == n, u, i, n + 1, begin)},
               u(i, j, 0),
               u(i, j, p + 1)};
  }
  static std::int64_t longest_terms() { return most_columns; }

 private:
  using T = typename V::non_const_value_type;
  static constexpr int most_columns = 512;  // a block of a reduction
  static constexpr T zeros[most_columns] = {};

  struct Row {
    Index3 begin, last;
    T const* source;
    T const* beside[4];
    double before, after;

    void operator()(Index3 k, double& sum) const {
      double r = source[k - begin];
      for (T const* const row : beside) r -= row[k - begin];
      r -= k == 1 ? before : 0.0;
      r -= k == last ? after : 0.0;
      sum += r * r;
    }
  };

  template <class... Index>
  static T const* beside(bool is_boundary, V const& u, Index... cell) {
    return is_boundary ? &u(cell...) : zeros;
  }
};

template <CompiledSpace Exec, class T, int Rank>
void laplacian(Exec const& exec, RowMajorView<Exec, T const, Rank> const& u,
               RowMajorView<Exec, T, Rank> const& b) {
  for_each("coir::poisson::laplacian", exec, interior(b),
           ApplyLaplacian<RowMajorView<Exec, T const, Rank>, RowMajorView<Exec, T, Rank>>{u, b});
}

/// The Euclidean norm over the interior of the residuals whose squares are given.
template <class Exec, class Squares>
double norm_of(char const* label, Exec const& exec, Squares const& squares) {
  double sum = 0;
  reduce(label, exec, interior(squares.b), squares, Kokkos::Sum<double>(sum));
  return std::sqrt(sum);
}

template <CompiledSpace Exec, class T, int Rank>
double residual_norm(Exec const& exec, RowMajorView<Exec, T const, Rank> const& b,
                     RowMajorView<Exec, T const, Rank> const& u) {
  using Read = RowMajorView<Exec, T const, Rank>;
  return norm_of("coir::poisson::laplacian/residual_norm", exec, SquaredResidual<Read, Read>{b, u});
}

template <CompiledSpace Exec, class T, int Rank>
double source_norm(Exec const& exec, RowMajorView<Exec, T const, Rank> const& b,
                   RowMajorView<Exec, T const, Rank> const& u) {
  using Read = RowMajorView<Exec, T const, Rank>;
  return norm_of("coir::poisson::laplacian/source_norm", exec, SquaredSource<Read, Read>{b, u});
}

}  // namespace coir::poisson::detail

#define COIR_LAPLACIAN(Exec, T, Rank)                                                           \
  template void laplacian<Exec, T, Rank>(Exec const&, RowMajorView<Exec, T const, Rank> const&, \
                                         RowMajorView<Exec, T, Rank> const&);                   \
  template double residual_norm<Exec, T, Rank>(Exec const&,                                     \
                                               RowMajorView<Exec, T const, Rank> const&,        \
                                               RowMajorView<Exec, T const, Rank> const&);       \
  template double source_norm<Exec, T, Rank>(Exec const&,                                       \
                                             RowMajorView<Exec, T const, Rank> const&,          \
                                             RowMajorView<Exec, T const, Rank> const&);
#define COIR_INSTANTIATE_LAPLACIAN(Exec) \
  namespace coir::poisson::detail {      \
  COIR_LAPLACIAN(Exec, float, 2)         \
  COIR_LAPLACIAN(Exec, float, 3)         \
  COIR_LAPLACIAN(Exec, double, 2)        \
  COIR_LAPLACIAN(Exec, double, 3)        \
  }
