#include "tables.hpp"

#include <coir/core/errors.hpp>
#include <coir/cosmology/redshift_distribution.hpp>
#include <coir/io/file.hpp>
#include <coir/io/number_rows.hpp>

#include <support/text.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <sstream>
#include <string_view>

namespace coir::apps::cells {

namespace {

std::string whole_text(std::filesystem::path const& path) {
  auto const bytes = io::read_file(path);
  return {reinterpret_cast<char const*>(bytes.data()), bytes.size()};
}

[[noreturn]] void fail(std::string const& name, int line, std::string const& what) {
  throw InputError(name + ": line " + std::to_string(line) + ": " + what);
}

/// The columns of the first row.
std::size_t columns_of(std::string const& text) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line.substr(0, line.find('#')));
    std::size_t count = 0;
    for (std::string word; words >> word;) ++count;
    if (count > 0) return count;
  }
  return 0;
}

}  // namespace

RedshiftTable read_redshift_table(std::filesystem::path const& path) {
  std::string const name = path.string(), text = whole_text(path);
  std::size_t const columns = std::max<std::size_t>(columns_of(text), 2);
  auto const rows = io::decode_number_rows(
      text, name, columns, std::to_string(columns) + ", z and n of each bin, as in the first row");
  if (rows.count() < 3)
    throw InputError(name + ": rows of n(z) must be at least 3, not " +
                     std::to_string(rows.count()));
  RedshiftTable table{.name = name, .n = {columns - 1, std::vector<double>()}};
  for (std::size_t i = 0; i < rows.count(); ++i) {
    auto const row = rows[i];
    if (!(row[0] >= 0) || !std::isfinite(row[0]))
      fail(name, rows.lines[i], "z must be at least 0 and finite, not " + in_words(row[0]));
    if (i > 0 && !(row[0] > table.z.back()))
      fail(name, rows.lines[i],
           "z = " + in_words(row[0]) + " follows z = " + in_words(table.z.back()) +
               ": sort the rows by z and keep one of each");
    table.z.push_back(row[0]);
    for (std::size_t bin = 0; bin + 1 < columns; ++bin) {
      double const n = row[bin + 1];
      if (!(n >= 0) || !std::isfinite(n))
        fail(name, rows.lines[i],
             "n of bin " + std::to_string(bin + 1) + " must be at least 0 and finite, not " +
                 in_words(n));
      table.n[bin].push_back(n);
    }
  }
  for (std::size_t bin = 0; bin + 1 < columns; ++bin) try {
      cosmology::RedshiftDistribution<>::table(table.z, table.n[bin],
                                               name + ": bin " + std::to_string(bin + 1));
    } catch (PreconditionError const& error) {
      throw InputError(error.what());
    }
  return table;
}

std::vector<double> read_spectra(std::filesystem::path const& path, std::vector<double> const& l,
                                 std::size_t pairs) {
  std::string const name = path.string();
  auto const rows = io::decode_number_rows(
      whole_text(path), name, pairs + 1,
      std::to_string(pairs + 1) + ", l and C_l of each pair of tracers, as in spectra.txt");
  if (rows.count() != l.size())
    throw InputError(name + ": there must be a row for each of the " +
                     counted(static_cast<std::int64_t>(l.size()), "bins") + " of l, not " +
                     std::to_string(rows.count()));
  std::vector<double> result;
  for (std::size_t at = 0; at < l.size(); ++at) {
    auto const row = rows[at];
    if (!(std::abs(row[0] - l[at]) <= 1e-3 * l[at]))
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
