#include "spectrum_bins.hpp"

#include <coir/fft/wave_number.hpp>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace coir::mesh::detail {

namespace {

// Edges are widened by this part of themselves, so that an edge on a mode includes it despite
// rounding.
constexpr double slack = 1e-12;

// edge^2 rounded up to a whole number, at most `end`.
std::int64_t first_from(double edge, std::int64_t end) {
  double const square = std::ceil(edge * edge);
  return square < static_cast<double>(end) ? static_cast<std::int64_t>(square) : end;
}

}  // namespace

SpectrumBins spectrum_bins(Shape<3> const& shape, double box, PowerSpectrumOptions const& options) {
  expects(options.bins >= 0 && options.bins <= 1000000,
          "bins of a power spectrum must be from 0 to 1000000", options.bins);
  expects(options.k_min >= 0 && std::isfinite(options.k_min),
          "k_min must be 0, for the fundamental, or above", options.k_min);
  expects(options.k_max >= 0 && std::isfinite(options.k_max),
          "k_max must be 0, for the Nyquist frequency, or above", options.k_max);
  expects(options.bins > 0 || !options.logarithmic,
          "logarithmic bins need their number: set bins above 0");

  double const fundamental = 2 * std::numbers::pi / box;
  std::int64_t const smallest = *std::min_element(shape.begin(), shape.end());
  double const low = options.k_min > 0 ? options.k_min / fundamental : 1;
  double const high =
      options.k_max > 0 ? options.k_max / fundamental : static_cast<double>(smallest) / 2;
  bool const all_by_default = options.bins == 0 && options.k_min == 0 && options.k_max == 0;
  expects(all_by_default || low < high,
          "k_min must be below k_max, not " + in_words(low * fundamental) + " and " +
              in_words(high * fundamental) + " h/Mpc (the Nyquist frequency is " +
              in_words(static_cast<double>(smallest) / 2 * fundamental) + ")");
  std::int64_t end = 1;  // beyond the square of the largest mode
  for (std::int64_t const n : shape) end += (n / 2) * (n / 2);

  SpectrumBins bins;
  if (options.bins == 0) {
    // Edges are odd halves, whose squares aren't whole: no mode lies on an edge. Bins beyond the
    // last mode are left out.
    double const last = std::min(std::floor(high * (1 + slack)),
                                 std::floor(std::sqrt(static_cast<double>(end - 1)) + 0.5));
    double const from = std::max(1., std::ceil(low * (1 - slack)));
    if (from > last) return bins;
    for (auto mode = static_cast<std::int64_t>(from); mode <= static_cast<std::int64_t>(last);
         ++mode) {
      auto const centre = static_cast<double>(mode);
      bins.first.push_back(first_from(centre - 0.5, end));
      bins.middle.push_back(centre);
    }
    bins.first.push_back(first_from(last + 0.5, end));
    return bins;
  }
  double const ratio = high / low;
  auto const edge = [&](double part) {
    return options.logarithmic ? low * std::pow(ratio, part) : low + (high - low) * part;
  };
  for (int b = 0; b < options.bins; ++b) {
    bins.first.push_back(
        std::max<std::int64_t>(1, first_from(edge(double(b) / options.bins) * (1 - slack), end)));
    bins.middle.push_back(edge((b + 0.5) / options.bins));
  }
  bins.first.push_back(first_from(high * (1 + slack), end));
  return bins;
}

std::vector<double> compensation(std::int64_t n, std::int64_t waves,
                                 PowerSpectrumOptions const& options) {
  std::vector<double> factor(static_cast<std::size_t>(waves), 1);
  if (!options.compensate) return factor;
  for (std::int64_t i = 0; i < waves; ++i) {
    double const half =
        std::numbers::pi * static_cast<double>(fft::wave_number(i, n)) / static_cast<double>(n);
    double const sinc = i == 0 ? 1 : std::sin(half) / half;
    factor[static_cast<std::size_t>(i)] = std::pow(sinc, -2 * static_cast<int>(options.assignment));
  }
  return factor;
}

}  // namespace coir::mesh::detail
