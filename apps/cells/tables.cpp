#include "tables.hpp"

#include <coir/core/errors.hpp>
#include <coir/io/file.hpp>
#include <coir/io/number_rows.hpp>

#include <support/text.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>

namespace coir::apps::cells {

namespace {

std::string whole_text(std::filesystem::path const& path) {
  auto const bytes = io::read_file(path);
  return {reinterpret_cast<char const*>(bytes.data()), bytes.size()};
}

[[noreturn]] void fail(std::string const& name, std::int64_t line, std::string const& what) {
  throw InputError(name + ": line " + std::to_string(line) + ": " + what);
}

}  // namespace

RedshiftTable read_redshift_table(std::filesystem::path const& path) {
  constexpr std::size_t most_bins = 64;
  std::string const name = path.string();
  auto const rows = io::decode_number_rows(whole_text(path), name, 0, "z and n of each bin");
  if (rows.count() < 3)
    throw InputError(name + ": rows of n(z) must be at least 3, not " +
                     std::to_string(rows.count()));
  if (rows.columns < 2)
    fail(name, rows.lines[0],
         "columns must be z and n of each bin, at least 2, not 1: separate columns by blanks");
  std::size_t const bins = rows.columns - 1;
  if (bins > most_bins)
    fail(name, rows.lines[0],
         "bins must be at most " + std::to_string(most_bins) + ", not " + std::to_string(bins) +
             ": leave columns out");
  RedshiftTable table{.n = {bins, std::vector<double>()}};
  for (std::size_t i = 0; i < rows.count(); ++i) {
    auto const row = rows[i];
    if (!(row[0] >= 0) || !std::isfinite(row[0]))
      fail(name, rows.lines[i], "z must be at least 0 and finite, not " + in_words(row[0]));
    if (i > 0 && !(row[0] > table.z.back()))
      fail(name, rows.lines[i],
           "z = " + in_words(row[0]) + " follows z = " + in_words(table.z.back()) +
               ": sort the rows by z and keep one of each");
    table.z.push_back(row[0]);
    for (std::size_t bin = 0; bin < bins; ++bin) {
      double const n = row[bin + 1];
      if (!(n >= 0) || !std::isfinite(n))
        fail(name, rows.lines[i],
             "n of bin " + std::to_string(bin + 1) + " must be at least 0 and finite, not " +
                 in_words(n));
      table.n[bin].push_back(n);
    }
  }
  for (std::size_t bin = 0; bin < bins; ++bin) try {
      table.distributions.push_back(cosmology::RedshiftDistribution<>::table(
          table.z, table.n[bin], name + ": bin " + std::to_string(bin + 1)));
    } catch (PreconditionError const& error) {
      throw InputError(error.what());
    }
  return table;
}

std::vector<double> read_spectra(std::filesystem::path const& path, std::vector<double> const& l,
                                 std::size_t pairs) {
  std::string const name = path.string();
  auto const rows = io::decode_number_rows(whole_text(path), name, pairs + 1,
                                           "l and C_l of each pair of tracers, as in spectra.txt");
  if (rows.count() != l.size())
    throw InputError(name + ": there must be a row for each of the " +
                     counted(static_cast<std::int64_t>(l.size()), "bins") + " of l, not " +
                     std::to_string(rows.count()));
  // l may be rounded, but must not be that of the next bin.
  double const step = l.size() > 1 ? l[1] / l[0] - 1 : 1;  // the bins are equal in ln l
  double const tolerance = std::min(1e-3, 0.1 * step);
  std::vector<double> result;
  for (std::size_t at = 0; at < l.size(); ++at) {
    auto const row = rows[at];
    if (!(std::abs(row[0] - l[at]) <= tolerance * l[at]))
      fail(name, rows.lines[at],
           "l must be that of the middle of the bin, " + in_words(l[at]) + ", not " +
               in_words(row[0]) + ": see --l-min, --l-max and --bins");
    for (double const c : row.subspan(1)) {
      if (!std::isfinite(c)) fail(name, rows.lines[at], "spectra must be finite");
      result.push_back(c);
    }
  }
  return result;
}

}  // namespace coir::apps::cells
