#pragma once

/// \file
/// A power spectrum as a table, as Boltzmann codes write it.

#include <coir/core/errors.hpp>
#include <coir/cosmology/detail/plain.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace coir::cosmology {

/// P(k) between the rows of a table: the natural cubic spline of ln P over ln k.
class PowerTable {
 public:
  /// \param k     h/Mpc; at least 4 numbers above 0, ascending
  /// \param p     (Mpc/h)^3; as many numbers above 0
  /// \param name  the table's name in messages: its file
  /// \throws PreconditionError naming the first row that breaks a requirement
  PowerTable(std::span<double const> k, std::span<double const> p,
             std::string_view name = "the power table");

  double k_min() const { return k_min_; }
  double k_max() const { return k_max_; }
  std::size_t size() const { return ln_k_.size(); }
  std::string const& name() const { return name_; }

  /// Whether all of [k_min, k_max] lies in the table's range.
  bool covers(double k_min, double k_max) const {
    return k_min >= k_min_ && k_max <= k_max_ && k_min <= k_max;
  }

  /// \throws PreconditionError unless covers(k_min, k_max), naming both ranges
  void expects_coverage(double k_min, double k_max) const;

  /// The widest step in ln k between the rows in and around [k_min, k_max]. With steps of at most
  /// widest_step_for_oscillations from 0.02 to 0.4 h/Mpc the spline is within 0.5 % of the acoustic
  /// oscillations of cold dark matter.
  double widest_step(double k_min, double k_max) const;
  static constexpr double widest_step_for_oscillations = 0.09;

  /// P at k in h/Mpc.
  /// \throws PreconditionError unless k lies in [k_min(), k_max()]
  template <class T>
  T operator()(T const& k) const {
    using std::exp, std::log;
    double const at = detail::plain(k);
    if (!(at >= k_min_ && at <= k_max_)) expects_coverage(at, at);
    T const x = log(k);
    // The last row whose ln k is not above x, but at most the last but one.
    auto const above = std::upper_bound(ln_k_.begin() + 1, ln_k_.end() - 1, detail::plain(x));
    auto const i = static_cast<std::size_t>(above - ln_k_.begin()) - 1;
    T const s = x - static_cast<T>(ln_k_[i]);
    Piece const& c = pieces_[i];
    return exp(static_cast<T>(c.value) +
               s * (static_cast<T>(c.slope) +
                    s * (static_cast<T>(c.square) + s * static_cast<T>(c.cube))));
  }

 private:
  /// ln P = value + slope s + square s^2 + cube s^3 with s = ln k - ln_k_[i]
  struct Piece {
    double value, slope, square, cube;
  };

  std::string name_;
  double k_min_ = 0;
  double k_max_ = 0;
  std::vector<double> ln_k_;
  std::vector<Piece> pieces_;
};

/// Reads a table of two columns, k in h/Mpc and P in (Mpc/h)^3, as CAMB and CLASS write them.
///
/// Columns are separated by blanks or tabs. Empty lines, and text from a '#' on, are ignored.
///
/// \throws InputError naming the file and the line: not two columns, not a number, not finite, not
///   above 0, k not ascending, fewer than 4 rows; or if the file can't be read
/// \throws ResourceError if there is not enough memory
PowerTable read_power_table(std::filesystem::path const& path);

/// Reads a table from text in memory.
/// \param name  the table's name in messages
PowerTable decode_power_table(std::string_view text, std::string_view name);

}  // namespace coir::cosmology
