#include <coir/core/memory.hpp>
#include <coir/cosmology/power_table.hpp>
#include <coir/io/file.hpp>
#include <coir/io/number_rows.hpp>

#include <cstdint>

namespace coir::cosmology {

namespace {

constexpr std::size_t least_rows = 4;

// Why a pair of numbers can't be the next row; empty if it can.
std::string fault_of_row(double k, double p, double k_before) {
  if (!std::isfinite(k) || k <= 0) return "k = " + in_words(k) + " is not a number above 0";
  if (!std::isfinite(p) || p <= 0) return "P = " + in_words(p) + " is not a number above 0";
  if (k <= k_before)
    return "k = " + in_words(k) + " follows k = " + in_words(k_before) +
           ": sort the rows by k and keep one of each";
  return "";
}

// The second derivatives at the nodes of the natural cubic spline, by elimination along its
// tridiagonal equations: h[i-1] m[i-1] + 2 (h[i-1] + h[i]) m[i] + h[i] m[i+1] = 6 (slope[i] -
// slope[i-1]).
std::vector<double> natural_spline(std::vector<double> const& x, std::vector<double> const& y) {
  std::size_t const n = x.size();
  std::vector<double> second(n, 0), upper(n, 0);
  for (std::size_t i = 1; i + 1 < n; ++i) {
    double const before = x[i] - x[i - 1], after = x[i + 1] - x[i];
    double const pivot = 2 * (before + after) - before * upper[i - 1];
    double const bend = 6 * ((y[i + 1] - y[i]) / after - (y[i] - y[i - 1]) / before);
    upper[i] = after / pivot;
    second[i] = (bend - before * second[i - 1]) / pivot;
  }
  for (std::size_t i = n - 1; i-- > 1;) second[i] -= upper[i] * second[i + 1];
  return second;
}

}  // namespace

PowerTable::PowerTable(std::span<double const> k, std::span<double const> p, std::string_view name)
    : name_(name) {
  expects(k.size() == p.size() && k.size() >= least_rows,
          name_ + ": k and P must have the same length, at least " + std::to_string(least_rows) +
              ", not " + std::to_string(k.size()) + " and " + std::to_string(p.size()));
  std::vector<double> ln_p;
  ln_p.reserve(k.size());
  ln_k_.reserve(k.size());
  pieces_.reserve(k.size());
  for (std::size_t i = 0; i < k.size(); ++i) {
    std::string const fault = fault_of_row(k[i], p[i], i > 0 ? k[i - 1] : 0);
    expects(fault.empty(), name_ + ": row " + std::to_string(i) + ": " + fault);
    ln_k_.push_back(std::log(k[i]));
    ln_p.push_back(std::log(p[i]));
    expects(i == 0 || ln_k_[i] > ln_k_[i - 1],
            name_ + ": row " + std::to_string(i) + ": k = " + in_words(k[i]) +
                " is too close to the row before: leave one of them out");
  }
  k_min_ = k.front();
  k_max_ = k.back();
  std::vector<double> const second = natural_spline(ln_k_, ln_p);
  for (std::size_t i = 0; i + 1 < ln_k_.size(); ++i) {
    double const h = ln_k_[i + 1] - ln_k_[i];
    pieces_.push_back({ln_p[i],
                       (ln_p[i + 1] - ln_p[i]) / h - h * (2 * second[i] + second[i + 1]) / 6,
                       second[i] / 2, (second[i + 1] - second[i]) / (6 * h)});
  }
}

void PowerTable::expects_coverage(double k_min, double k_max) const {
  if (covers(k_min, k_max)) return;
  std::string const low = in_words(k_min), range = low + ", " + in_words(k_max);
  std::string const needed = k_min == k_max ? "k = " + low : "[" + range + "]";
  expects(false, name_ + ": its k are in [" + in_words(k_min_) + ", " + in_words(k_max_) +
                     "] h/Mpc, and " + needed +
                     " h/Mpc is needed: have the Boltzmann code write a wider range");
}

double PowerTable::widest_step(double k_min, double k_max) const {
  double widest = 0;
  for (std::size_t i = 1; i < ln_k_.size(); ++i)
    if (ln_k_[i] > std::log(k_min) && ln_k_[i - 1] < std::log(k_max))
      widest = std::max(widest, ln_k_[i] - ln_k_[i - 1]);
  return widest;
}

PowerTable decode_power_table(std::string_view text, std::string_view name) {
  // A row's k and P, their logarithms, two numbers of the spline's equations, a piece of the
  // spline.
  constexpr std::int64_t bytes_of_row = (2 + 2 + 2 + 4) * sizeof(double);
  auto const rows = io::decode_number_rows(text, name, 2, "k in h/Mpc and P in (Mpc/h)^3");
  expects_memory<Kokkos::HostSpace>(bytes_of_row * static_cast<std::int64_t>(rows.count()),
                                    "reading " + std::string(name));
  std::vector<double> k, p;
  k.reserve(rows.count());
  p.reserve(rows.count());
  for (std::size_t i = 0; i < rows.count(); ++i) {
    double const next = rows[i][0], before = k.empty() ? 0 : k.back();
    auto const fail = [&](std::string const& what) {
      throw InputError(std::string(name) + ": line " + std::to_string(rows.lines[i]) + ": " + what);
    };
    std::string const fault = fault_of_row(next, rows[i][1], before);
    if (!fault.empty()) fail(fault);
    if (!(std::log(next) > std::log(before)))
      fail("k = " + in_words(next) + " is too close to the row before: leave one of them out");
    k.push_back(next);
    p.push_back(rows[i][1]);
  }
  if (k.size() < least_rows)
    throw InputError(std::string(name) + ": rows of k and P must be at least " +
                     std::to_string(least_rows) + ", not " + std::to_string(k.size()) +
                     ": is this the right file?");
  return {k, p, name};
}

PowerTable read_power_table(std::filesystem::path const& path) {
  auto const bytes = io::read_file(path);
  return decode_power_table({reinterpret_cast<char const*>(bytes.data()), bytes.size()},
                            path.string());
}

}  // namespace coir::cosmology
