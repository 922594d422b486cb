#pragma once

#include <coir/core/kokkos.hpp>
#include <coir/cosmology/detail/plain.hpp>

#include <cmath>
#include <vector>

namespace coir::cosmology::detail {

/// Nodes over ln k: 1/16 apart, and 1/96 where there are acoustic oscillations.
struct SplineNodes {
  static constexpr double step = 1.0 / 16;
  static constexpr int fine_from = -64, fine_to = 32, fine = 6;  // from 0.018 to 7.4 h/Mpc

  int first, last;  ///< in steps of ln k

  /// From 8e-7 to 1e5 h/Mpc.
  KOKKOS_FUNCTION static constexpr SplineNodes widest() { return {-14 * 16, 23 * 8}; }

  /// The number of nodes before that at `i` steps.
  KOKKOS_FUNCTION int node_at(int i) const {
    return i - first + (fine - 1) * (cut(i) - cut(first));
  }
  KOKKOS_FUNCTION int size() const { return node_at(last) + 1; }

  /// The node at or before ln k = x, but not the last one.
  KOKKOS_FUNCTION int piece_of(double x) const {
    int i = static_cast<int>(std::floor(x / step));
    i = i < first ? first : i > last - 1 ? last - 1 : i;
    if (i < fine_from || i >= fine_to) return node_at(i);
    int const part = static_cast<int>((x / step - i) * fine);
    return node_at(i) + (part < 0 ? 0 : part > fine - 1 ? fine - 1 : part);
  }

  std::vector<double> places() const {
    std::vector<double> x;
    for (int i = first; i <= last; ++i)
      for (int j = 0; j < (i >= fine_from && i < fine_to && i < last ? fine : 1); ++j)
        x.push_back((i + static_cast<double>(j) / fine) * step);
    return x;
  }

 private:
  KOKKOS_FUNCTION static int cut(int i) {
    return i < fine_from ? fine_from : i > fine_to ? fine_to : i;
  }
};

/// What elimination in the equations of a natural spline needs of its nodes alone.
inline std::vector<double> elimination_of(std::vector<double> const& x) {
  std::vector<double> upper(x.size(), 0.0);
  for (std::size_t i = 1; i + 1 < x.size(); ++i) {
    double const left = x[i] - x[i - 1], right = x[i + 1] - x[i];
    upper[i] = right / (2 * (left + right) - left * upper[i - 1]);
  }
  return upper;
}

/// A cubic of s = x - x_i, which begins with the value at the node.
template <class T>
struct SplinePiece {
  T slope, square, cube;
};

/// The natural cubic spline over nodes in memory of others; straight lines beyond its ends.
template <class T>
struct LogSpline {
  SplineNodes nodes;
  double const* x;
  double const* upper;  ///< elimination_of(x)
  T const* values;
  SplinePiece<T> const* pieces;  ///< one for each node; the last one has the slope at the end alone

  /// Finds the pieces from all else.
  KOKKOS_FUNCTION void solve(SplinePiece<T>* to) const {
    int const n = nodes.size();
    // Second derivatives, in the place of squares.
    to[0].square = to[n - 1].square = T(0);
    for (int i = 1; i + 1 < n; ++i) {
      double const left = x[i] - x[i - 1], right = x[i + 1] - x[i];
      T const bend =
          (6 / right) * (values[i + 1] - values[i]) - (6 / left) * (values[i] - values[i - 1]);
      to[i].square = (upper[i] / right) * (bend - left * to[i - 1].square);
    }
    T after(0);
    for (int i = n - 2; i >= 0; --i) {
      T const here = i > 0 ? T(to[i].square - upper[i] * after) : T(0);
      double const h = x[i + 1] - x[i];
      to[i] = {T((1 / h) * (values[i + 1] - values[i]) - (h / 6) * (2 * here + after)),
               T(0.5 * here), T((1 / (6 * h)) * (after - here))};
      after = here;
    }
    double const h = x[n - 1] - x[n - 2];
    SplinePiece<T> const& c = to[n - 2];
    to[n - 1].slope = c.slope + h * (2 * c.square + 3 * h * c.cube);
  }

  KOKKOS_FUNCTION T operator()(T const& at) const {
    double const place = plain(at);
    int const end = nodes.size() - 1;
    if (place <= x[0]) return values[0] + pieces[0].slope * (at - x[0]);
    if (!(place < x[end])) return values[end] + pieces[end].slope * (at - x[end]);
    int const i = nodes.piece_of(place);
    T const s = at - x[i];
    SplinePiece<T> const& c = pieces[i];
    return values[i] + s * (c.slope + s * (c.square + s * c.cube));
  }
};

}  // namespace coir::cosmology::detail
