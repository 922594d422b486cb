#pragma once

#include <coir/core/errors.hpp>
#include <coir/cosmology/background.hpp>
#include <coir/cosmology/detail/distance_nodes.hpp>
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
      : parameters_(p), a_min_(a_min), steps_(a_min > 0 && a_min < 1 ? -std::log(a_min) : 1) {
    expects(a_min > 0 && a_min < 1, "a_min must lie in (0, 1)", a_min);
    expects_background(p);
    nodes_.reserve(static_cast<std::size_t>(steps_.steps) + 1);
    for (int i = 0; i <= steps_.steps; ++i)
      nodes_.push_back(detail::distance_node(p, steps_.step, i, i > 0 ? nodes_.back() : Node{}));
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
    return detail::distance_at(nodes_.data(), steps_, T(-log(a)));
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
    double const h = steps_.step;
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
  using Node = detail::DistanceNode<T>;

  /// The step of Newton's method for chi(x) = chi.
  T residual(T const& x, T const& chi) const {
    using std::exp;
    return (detail::distance_at(nodes_.data(), steps_, x) - chi) /
           detail::distance_slopes(parameters_, T(exp(-x))).slope;
  }

  Parameters<T> parameters_;
  double a_min_;
  detail::DistanceSteps steps_;
  std::vector<Node> nodes_;
};

}  // namespace coir::cosmology
