#include <coir/core/memory.hpp>
#include <coir/cosmology/power_table.hpp>
#include <coir/io/file.hpp>

#include <charconv>
#include <cstdint>
#include <system_error>

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

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

// The columns of a line, without the comment at its end.
std::vector<std::string_view> columns_of(std::string_view line) {
  line = line.substr(0, line.find('#'));
  std::vector<std::string_view> columns;
  std::size_t at = 0;
  while (at < line.size()) {
    std::size_t end = at;
    while (end < line.size() && !is_blank(line[end])) ++end;
    if (end > at) columns.push_back(line.substr(at, end - at));
    at = end + 1;
  }
  return columns;
}

bool read_number(std::string_view text, double& number) {
  if (text.starts_with('+')) text.remove_prefix(1);
  auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
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
  auto const rows = static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')) + 1;
  expects_memory<Kokkos::HostSpace>(bytes_of_row * static_cast<std::int64_t>(rows),
                                    "reading " + std::string(name));
  std::vector<double> k, p;
  k.reserve(rows);
  p.reserve(rows);
  std::size_t number = 0;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t const end = std::min(text.find('\n', at), text.size());
    auto const columns = columns_of(text.substr(at, end - at));
    at = end + 1;
    ++number;
    if (columns.empty()) continue;
    auto const fail = [&](std::string const& what) {
      throw InputError(std::string(name) + ": line " + std::to_string(number) + ": " + what);
    };
    if (columns.size() != 2)
      fail("columns must be two, k in h/Mpc and P in (Mpc/h)^3, not " +
           std::to_string(columns.size()) + ": leave the others out, and put # before text");
    double row[2];
    for (std::size_t c = 0; c < 2; ++c)
      if (!read_number(columns[c], row[c]))
        fail("column " + std::to_string(c + 1) +
             " is not a number: write it as 1.5e-3, and # before text");
    std::string const fault = fault_of_row(row[0], row[1], k.empty() ? 0 : k.back());
    if (!fault.empty()) fail(fault);
    if (!k.empty() && !(std::log(row[0]) > std::log(k.back())))
      fail("k = " + in_words(row[0]) + " is too close to the row before: leave one of them out");
    k.push_back(row[0]);
    p.push_back(row[1]);
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
