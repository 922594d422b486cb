#pragma once

#include <coir/cosmology/redshift_distribution.hpp>

#include <cstddef>
#include <filesystem>
#include <vector>

namespace coir::apps::cells {

/// n(z) of some bins at the redshifts of a file's rows.
struct RedshiftTable {
  std::vector<double> z{};
  std::vector<std::vector<double>> n{};                            ///< of each bin
  std::vector<cosmology::RedshiftDistribution<>> distributions{};  ///< of each bin
};

/// Reads n(z): columns are z, and n of each bin. The first row says how many there are.
///
/// \throws InputError naming the file and the line where a row is no row of n(z) or has more than
///   64 bins, or naming the bin whose n(z) isn't 0 at its ends, or is 0 everywhere
RedshiftTable read_redshift_table(std::filesystem::path const& path);

/// Reads spectra as spectra.txt has them.
///
/// \param l      the middles of the bins, which the first column must have
/// \param pairs  of tracers, which the other columns are of
/// \return       row by row
/// \throws InputError naming the file and the line
std::vector<double> read_spectra(std::filesystem::path const& path, std::vector<double> const& l,
                                 std::size_t pairs);

}  // namespace coir::apps::cells
