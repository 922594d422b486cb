#pragma once

#include <coir/cosmology/detail/quadrature.hpp>

#include <array>
#include <cstddef>
#include <vector>

namespace coir::cosmology::detail {

/// Nodes x for integrals over all of [0, end] and from each node on: those of Gauss and Legendre's
/// rule in equal panels of sqrt(x / end). At a given l, P(k = l / chi) changes with ln chi, so that
/// nodes must lie closer to each other near 0.
class Panels {
 public:
  static constexpr std::size_t order = 10;

  Panels(double end, int panels) : half_(0.5 / panels) {
    std::array<double, order> node{}, weight{};
    for (std::size_t i = 0; i < order / 2; ++i) {
      node[order / 2 + i] = legendre_nodes[i];
      node[order / 2 - 1 - i] = -legendre_nodes[i];
      weight[order / 2 + i] = weight[order / 2 - 1 - i] = legendre_weights[i];
    }
    for (int p = 0; p < panels; ++p)
      for (std::size_t i = 0; i < order; ++i) {
        double const t = half_ * (2 * p + 1 + node[i]);
        x_.push_back(end * t * t);
        slopes_.push_back(2 * end * t);
        weights_.push_back(half_ * weight[i] * slopes_.back());
      }
    set_partial(node, weight);
  }

  std::size_t size() const { return x_.size(); }
  std::vector<double> const& x() const { return x_; }
  std::vector<double> const& weights() const { return weights_; }
  /// dx / d sqrt(x / end)
  std::vector<double> const& slopes() const { return slopes_; }
  /// The integrals from node i of a panel to its end, over sqrt(x / end), of the polynomials that
  /// are 1 at node j.
  std::array<std::array<double, order>, order> const& partial() const { return partial_; }

  /// The integrals of f, given at the nodes, from each node to the end.
  template <class T>
  std::vector<T> beyond(std::vector<T> const& f) const {
    std::vector<T> result(f.size(), T(0));
    T outer(0);
    for (std::size_t p = f.size(); p > 0; p -= order) {
      std::size_t const first = p - order;
      for (std::size_t i = 0; i < order; ++i) {
        result[first + i] = outer;
        for (std::size_t j = 0; j < order; ++j)
          result[first + i] += (partial_[i][j] * slopes_[first + j]) * f[first + j];
      }
      for (std::size_t j = 0; j < order; ++j) outer += weights_[first + j] * f[first + j];
    }
    return result;
  }

 private:
  /// The integrals from a node to its panel's end of the polynomials that are 1 at one node and 0
  /// at the others. By Legendre's polynomials P_n, whose integral from x to 1 is (P_(n-1) -
  /// P_(n+1)) / (2 n + 1), that of node j is w_j / 2 times sum_n (2 n + 1) P_n(x_j) P_n(x).
  void set_partial(std::array<double, order> const& node, std::array<double, order> const& weight) {
    std::array<std::array<double, order + 1>, order> legendre{};
    for (std::size_t i = 0; i < order; ++i) {
      auto& p = legendre[i];
      p[0] = 1;
      p[1] = node[i];
      for (std::size_t n = 1; n < order; ++n) {
        double const at = static_cast<double>(n);
        p[n + 1] = ((2 * at + 1) * node[i] * p[n] - at * p[n - 1]) / (at + 1);
      }
    }
    for (std::size_t i = 0; i < order; ++i)
      for (std::size_t j = 0; j < order; ++j) {
        double sum = 1 - node[i];
        for (std::size_t n = 1; n < order; ++n)
          sum += legendre[j][n] * (legendre[i][n - 1] - legendre[i][n + 1]);
        partial_[i][j] = half_ * weight[j] / 2 * sum;
      }
  }

  double half_;                               ///< of a panel
  std::vector<double> x_, weights_, slopes_;  ///< slopes are dx/dt, t = sqrt(x / end)
  std::array<std::array<double, order>, order> partial_{};
};

}  // namespace coir::cosmology::detail
