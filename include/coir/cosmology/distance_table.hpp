#pragma once

#include <coir/core/errors.hpp>
#include <coir/cosmology/background.hpp>
#include <coir/cosmology/detail/hermite.hpp>
#include <coir/cosmology/parameters.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace coir::cosmology {

/// Distances along the past light cone, and the scale factor at a distance, by a table over ln a.
///
/// Nodes are 1/80 apart in ln a at most. chi at a node follows from chi at the node before, by the
/// trapezoidal rule with corrected ends. Between two nodes chi is the polynomial of degree 5 with
/// their values, slopes -c/H0 / (a E) and second derivatives. The relative difference from
/// comoving_distance is below 1e-10.
template <class T = double>
class DistanceTable {
 public:
  /// \param a_min  the table's range is [a_min, 1], 0 < a_min < 1
  /// \throws PreconditionError as expects_background, or if the range is empty
  explicit DistanceTable(Parameters<T> const& p, double a_min = 0.01)
      : parameters_(p), a_min_(a_min) {
    expects(a_min > 0 && a_min < 1, "a_min must lie in (0, 1)", a_min);
    expects_background(p);
    double const range = -std::log(a_min);
    auto const steps = static_cast<std::size_t>(std::ceil(range * 80));
    step_ = range / static_cast<double>(steps);
    nodes_.reserve(steps + 1);
    for (std::size_t i = 0; i <= steps; ++i) {
      Node node = slopes_at(T(std::exp(-step_ * static_cast<double>(i))));
      if (i > 0) {
        Node const& last = nodes_.back();
        node.chi = last.chi + (step_ / 2) * (last.slope + node.slope) +
                   (step_ * step_ / 12) * (last.second - node.second);
      }
      nodes_.push_back(node);
    }
  }

  Parameters<T> const& parameters() const { return parameters_; }
  double a_min() const { return a_min_; }
  T const& chi_max() const { return nodes_.back().chi; }

  /// The comoving distance at a along the line of sight, in Mpc/h.
  /// \throws PreconditionError unless a lies in [a_min, 1]
  T chi(T const& a) const {
    using std::log;
    double const at = detail::plain(a);
    expects(at >= a_min_ * (1 - 1e-12) && at <= 1 + 1e-12,
            "the scale factor a must lie in the table's range [" + in_words(a_min_) + ", 1]", at);
    return chi_at(T(-log(a)));
  }

  /// The transverse distance f_K at a, in Mpc/h: see transverse_distance.
  /// \throws PreconditionError unless a lies in [a_min, 1]
  T transverse(T const& a) const { return transverse_of(parameters_, chi(a)); }

  /// The scale factor from which light has come over the distance chi, in Mpc/h.
  /// \throws PreconditionError unless chi lies in [0, chi_max()]
  T a(T const& chi) const {
    double const target = detail::plain(chi), most = detail::plain(chi_max());
    expects(target >= 0 && target <= most * (1 + 1e-12),
            "the distance chi, in Mpc/h, must lie in the table's range [0, " + in_words(most) + "]",
            target);
    auto const above =
        std::upper_bound(nodes_.begin() + 1, nodes_.end() - 1, target,
                         [](double x, Node const& node) { return x < detail::plain(node.chi); });
    double const h = step_;
    double x = h * static_cast<double>(above - nodes_.begin() - 1);
    // Newton's method squares the error: five steps lead from an interval of the table to rounding.
    for (int i = 0; i < 5; ++i) x -= detail::plain(residual(T(x), chi));
    // Each further step finds one further order of derivatives.
    T result(x);
    for (int i = 0; i < 2; ++i) result -= residual(result, chi);
    using std::exp;
    return exp(-result);
  }

 private:
  /// chi and its derivatives by x = -ln a
  struct Node {
    T chi, slope, second;
  };

  Node slopes_at(T const& a) const {
    T const slope = hubble_distance / (a * expansion_rate(parameters_, a));
    return {T(0), slope, T(slope * (1 + expansion_rate_slope(parameters_, a)))};
  }

  T chi_at(T const& x) const {
    T const position = x / step_;
    auto const i = static_cast<std::size_t>(
        std::clamp(detail::plain(position), 0.0, static_cast<double>(nodes_.size() - 2)));
    Node const &left = nodes_[i], &right = nodes_[i + 1];
    return detail::quintic(T(position - static_cast<double>(i)), step_, left.chi, left.slope,
                           left.second, right.chi, right.slope, right.second);
  }

  /// The step of Newton's method for chi(x) = chi.
  T residual(T const& x, T const& chi) const {
    using std::exp;
    return (chi_at(x) - chi) / slopes_at(T(exp(-x))).slope;
  }

  Parameters<T> parameters_;
  double a_min_;
  double step_ = 0;  ///< between nodes, in ln a
  std::vector<Node> nodes_;
};

}  // namespace coir::cosmology
