#pragma once

/// div(k grad u) on a 2-D grid, with k on cells.
///
///   sum over the 4 neighbours of k_face (u_neighbour - u),   k_face = 2 k k' / (k + k')
///
/// A face to the ring has the k of the cell inside. With k = 1 the operator is L.
///
/// \see LeVeque, Finite Difference Methods (2007), sec. 2.15; Patankar, Numerical Heat Transfer and
///      Fluid Flow (1980), sec. 4.2-3, for the harmonic mean;
///      Concus and Golub, SIAM J. Numer. Anal. 10 (1973) 1103, for the scaling

#include "stencil.hpp"

#include <coir/core/errors.hpp>
#include <coir/core/loops.hpp>
#include <coir/core/math.hpp>
#include <coir/poisson/detail/callers_grid.hpp>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>

namespace coir::poisson::detail {

/// The four coefficients of a cell's faces. Indices count the ring: interior cells start at 1.
template <class K>
struct Faces {
  using T = typename K::non_const_value_type;
  K k;

  KOKKOS_FORCEINLINE_FUNCTION T between(int i, int j, int other_i, int other_j) const {
    T const here = k(i - 1, j - 1);
    int const m = static_cast<int>(k.extent(0)), n = static_cast<int>(k.extent(1));
    if (other_i < 1 || other_i > m || other_j < 1 || other_j > n) return here;
    T const there = k(other_i - 1, other_j - 1);
    // 2 k k' / (k + k'), without an overflow.
    T const smaller = here < there ? here : there, larger = here < there ? there : here;
    return T(2) * smaller / (T(1) + smaller / larger);
  }

  /// div(k grad u) of values at(i, j).
  template <class At>
  KOKKOS_FORCEINLINE_FUNCTION T divergence(int i, int j, At const& at) const {
    T const here = at(i, j);
    T const rows = between(i, j, i - 1, j) * (at(i - 1, j) - here) +
                   between(i, j, i + 1, j) * (at(i + 1, j) - here);
    T const columns = between(i, j, i, j - 1) * (at(i, j - 1) - here) +
                      between(i, j, i, j + 1) * (at(i, j + 1) - here);
    return rows + columns;
  }
};

/// q = div(k grad p), where p is zero in the ring.
template <class K, class P>
struct ApplyFaces {
  Faces<K> faces;
  P p, q;
  KOKKOS_FORCEINLINE_FUNCTION void operator()(int i, int j) const {
    int const m = static_cast<int>(p.extent(0)), n = static_cast<int>(p.extent(1));
    q(i - 1, j - 1) = faces.divergence(i, j, [&](int a, int b) {
      bool const inside = a >= 1 && a <= m && b >= 1 && b <= n;
      return inside ? p(a - 1, b - 1) : typename P::non_const_value_type(0);
    });
  }
};

/// b - div(k grad u).
template <class K, class B, class U>
struct FacesResidual {
  Faces<K> faces;
  B b;
  U u;
  KOKKOS_FORCEINLINE_FUNCTION auto at(int i, int j) const {
    return b(i - 1, j - 1) -
           faces.divergence(i, j, [&](int row, int column) { return u(row, column); });
  }
};

template <class K, class B, class U, class R>
struct StoreFacesResidual : FacesResidual<K, B, U> {
  R r;
  KOKKOS_FORCEINLINE_FUNCTION void operator()(int i, int j) const {
    r(i - 1, j - 1) = this->at(i, j);
  }
};

template <class K, class B, class U>
struct SquaredFacesResidual : FacesResidual<K, B, U> {
  KOKKOS_FORCEINLINE_FUNCTION void operator()(int i, int j, double& sum) const {
    double const r = this->at(i, j);
    sum += r * r;
  }
};

/// The residual for u = 0 inside.
template <class K, class B, class U>
struct SquaredFacesSource {
  Faces<K> faces;
  B b;
  U u;
  KOKKOS_FORCEINLINE_FUNCTION void operator()(int i, int j, double& sum) const {
    using T = typename U::non_const_value_type;
    int const m = static_cast<int>(b.extent(0)), n = static_cast<int>(b.extent(1));
    double const r = b(i - 1, j - 1) - faces.divergence(i, j, [&](int row, int column) {
      bool const inside = row >= 1 && row <= m && column >= 1 && column <= n;
      return inside ? T(0) : u(row, column);
    });
    sum += r * r;
  }
};

/// r / sqrt(k), and z / sqrt(k) in place: with M ~ L^-1 in between, an approximation of the inverse
/// operator that is as good for a smooth k as M is for k = 1.
template <class K, class R>
struct ScaleByRoot {
  static constexpr bool reads_no_neighbours = true;
  K k;
  R from, to;
  int from_ring, to_ring;  ///< 1 where a View has a ring
  KOKKOS_FORCEINLINE_FUNCTION void operator()(int i, int j) const {
    to(i - 1 + to_ring, j - 1 + to_ring) =
        from(i - 1 + from_ring, j - 1 + from_ring) / math::sqrt(k(i - 1, j - 1));
  }
};

/// The first cell whose k isn't positive and finite, or the number of cells.
template <class K>
struct FirstBadCell {
  K k;
  KOKKOS_FORCEINLINE_FUNCTION void operator()(int i, int j, std::int64_t& first) const {
    auto const value = k(i - 1, j - 1);
    constexpr auto largest = std::numeric_limits<typename K::non_const_value_type>::max();
    if (value > 0 && value <= largest) return;
    std::int64_t const cell =
        std::int64_t(i - 1) * static_cast<std::int64_t>(k.extent(1)) + (j - 1);
    if (cell < first) first = cell;
  }
};

/// The largest ratio of neighbouring coefficients.
template <class K>
struct LargestStep {
  K k;
  KOKKOS_FORCEINLINE_FUNCTION void operator()(int i, int j, double& largest) const {
    double const here = k(i - 1, j - 1);
    auto const compare = [&](double there) {
      double const ratio = here > there ? here / there : there / here;
      if (ratio > largest) largest = ratio;
    };
    if (i > 1) compare(k(i - 2, j - 1));
    if (j > 1) compare(k(i - 1, j - 2));
  }
};

/// The operator that conjugate_gradients with coefficients solves for.
template <class Exec, class T>
class VariableOperator {
  using Read = RowMajorView<Exec, T const, 2>;
  using Write = RowMajorView<Exec, T, 2>;

 public:
  /// \param transposed  the caller's axes are in the other order
  /// \throws PreconditionError naming the first cell whose k isn't positive and finite
  VariableOperator(Exec const& exec, Read const& k, bool transposed) : faces_{k} {
    auto first = static_cast<std::int64_t>(k.size());
    reduce("coir::poisson::variable_operator/check", exec, interior(k), FirstBadCell<Read>{k},
           Kokkos::Min<std::int64_t>(first));
    if (first >= static_cast<std::int64_t>(k.size())) {
      double step = 1;
      reduce("coir::poisson::variable_operator/step", exec, interior(k), LargestStep<Read>{k},
             Kokkos::Max<double>(step));
      scales_ = step <= smooth;
      return;
    }
    auto const columns = static_cast<std::int64_t>(k.extent(1));
    std::int64_t const row = first / columns, column = first % columns;
    throw PreconditionError(
        "the coefficient k must be positive and finite in every cell, but not in cell [" +
        std::to_string(transposed ? column : row) + ", " +
        std::to_string(transposed ? row : column) + "]");
  }

  template <class P>
  void apply(Exec const& exec, P const& p, P const& q) const {
    for_each("coir::poisson::variable_operator/apply", exec, interior(q),
             ApplyFaces<Read, P>{faces_, p, q});
  }
  template <class R>
  void store_residual(Exec const& exec, Read const& b, Write const& u, R const& r) const {
    for_each("coir::poisson::variable_operator/residual", exec, interior(b),
             StoreFacesResidual<Read, Read, Write, R>{{faces_, b, u}, r});
  }
  double residual_norm(Exec const& exec, Read const& b, Write const& u) const {
    return norm(exec, b, SquaredFacesResidual<Read, Read, Write>{{faces_, b, u}});
  }
  double source_norm(Exec const& exec, Read const& b, Write const& u) const {
    return norm(exec, b, SquaredFacesSource<Read, Read, Write>{faces_, b, u});
  }
  /// Whether preconditioners are scaled: at a jump of k scaling does harm.
  bool scales() const { return scales_; }
  /// to = from / sqrt(k), for Views with and without a ring.
  template <class R>
  void scale(Exec const& exec, R const& from, R const& to) const {
    auto const ring = [&](R const& view) { return view.extent(0) > faces_.k.extent(0) ? 1 : 0; };
    for_each("coir::poisson::variable_operator/scale", exec, interior(faces_.k),
             ScaleByRoot<Read, R>{faces_.k, from, to, ring(from), ring(to)});
  }

 private:
  template <class Body>
  static double norm(Exec const& exec, Read const& b, Body const& body) {
    double sum = 0;
    reduce("coir::poisson::variable_operator/norm", exec, interior(b), body,
           Kokkos::Sum<double>(sum));
    return std::sqrt(sum);
  }

  /// Ratios of neighbours up to this belong to a smooth k.
  static constexpr double smooth = 1.5;

  Faces<Read> faces_;
  bool scales_ = false;
};

}  // namespace coir::poisson::detail
