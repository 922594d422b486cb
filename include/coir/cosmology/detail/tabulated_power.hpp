#pragma once

#include <coir/cosmology/detail/plain.hpp>
#include <coir/cosmology/detail/smooth.hpp>
#include <coir/cosmology/power.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace coir::cosmology::detail {

/// ln P of a linear spectrum today by the natural cubic spline over ln k: some ten times faster
/// than the transfer function. Nodes are 1/16 apart, and 1/96 where there are acoustic
/// oscillations, so that ln P is within 5e-7. Beyond its ends ln P is continued along straight
/// lines. If the spectrum is a table, the ends are at most those of the table.
template <class T>
class TabulatedPower {
 public:
  explicit TabulatedPower(LinearPower<T> const& power) {
    using std::log;
    auto const* const table = power.table();
    // In steps of the coarse nodes: from 8e-7 to 1e5 h/Mpc, fine from 0.018 to 7.4.
    first_ = -14 * 16;
    int last = 23 * 8;
    if (table != nullptr) {
      first_ = std::max(first_, static_cast<int>(std::ceil(std::log(table->k_min()) / step)));
      last = std::min(last, static_cast<int>(std::floor(std::log(table->k_max()) / step)));
      expects(last - first_ >= 16,
              table->name() + ": the table must span a factor of 3 in k at least");
    }
    for (int i = first_; i <= last; ++i) {
      coarse_.push_back(x_.size());
      bool const divided = i >= fine_from && i < fine_to && i < last;
      for (int j = 0; j < (divided ? fine : 1); ++j) {
        x_.push_back((i + static_cast<double>(j) / fine) * step);
        values_.push_back(log(power(T(std::exp(x_.back())))));
      }
    }
    solve();
  }

  /// The range of ln k.
  double begin() const { return x_.front(); }
  double end() const { return x_.back(); }

  /// ln P at ln k.
  T operator()(T const& ln_k) const {
    double const x = plain(ln_k);
    if (x <= x_.front()) return values_.front() + pieces_.front().slope * (ln_k - x_.front());
    if (x >= x_.back()) return values_.back() + end_slope_ * (ln_k - x_.back());
    std::size_t const i = piece_of(x);
    T const s = ln_k - x_[i];
    Piece const& c = pieces_[i];
    return values_[i] + s * (c.slope + s * (c.square + s * c.cube));
  }

 private:
  static constexpr double step = 1.0 / 16;
  static constexpr int fine_from = -64, fine_to = 32, fine = 6;

  struct Piece {
    T slope, square, cube;
  };

  std::size_t piece_of(double x) const {
    int const i = std::clamp(static_cast<int>(std::floor(x / step)), first_,
                             first_ + static_cast<int>(coarse_.size()) - 2);
    std::size_t piece = coarse_[static_cast<std::size_t>(i - first_)];
    if (i >= fine_from && i < fine_to)
      piece += static_cast<std::size_t>(std::clamp((x / step - i) * fine, 0.0, fine - 1.0));
    return piece;
  }

  /// The second derivatives of the spline by elimination in its tridiagonal equations.
  void solve() {
    std::size_t const n = x_.size();
    std::vector<double> upper(n, 0.0);
    std::vector<T> second(n, T(0));
    for (std::size_t i = 1; i + 1 < n; ++i) {
      double const left = x_[i] - x_[i - 1], right = x_[i + 1] - x_[i];
      double const pivot = 1 / (2 * (left + right) - left * upper[i - 1]);
      upper[i] = right * pivot;
      T const bend =
          (6 / right) * (values_[i + 1] - values_[i]) - (6 / left) * (values_[i] - values_[i - 1]);
      second[i] = pivot * (bend - left * second[i - 1]);
    }
    for (std::size_t i = n - 1; i-- > 1;) second[i] -= upper[i] * second[i + 1];
    for (std::size_t i = 0; i + 1 < n; ++i) {
      double const h = x_[i + 1] - x_[i];
      pieces_.push_back(
          {T((1 / h) * (values_[i + 1] - values_[i]) - (h / 6) * (2 * second[i] + second[i + 1])),
           T(0.5 * second[i]), T((1 / (6 * h)) * (second[i + 1] - second[i]))});
    }
    double const h = x_[n - 1] - x_[n - 2];
    Piece const& c = pieces_.back();
    end_slope_ = c.slope + h * (2 * c.square + 3 * h * c.cube);
  }

  int first_ = 0;
  std::vector<std::size_t> coarse_;  ///< the node of each coarse one
  std::vector<double> x_;            ///< ln k
  std::vector<T> values_;
  std::vector<Piece> pieces_;
  T end_slope_ = T(0);
};

}  // namespace coir::cosmology::detail
