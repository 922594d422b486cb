#pragma once

/// \file
/// A measured power spectrum, and its text file.

#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace coir::mesh {

/// A power spectrum in bins of |k|.
struct PowerSpectrum {
  std::vector<double> k;  ///< mean |k| of a bin's modes, h/Mpc; the middle of a bin without modes
  std::vector<double>
      power;  ///< mean power of a bin's modes, (Mpc/h)^3; NaN in a bin without modes
  std::vector<double> modes;  ///< modes of the whole spectrum, k and -k counted both
  double shot_noise = 0;      ///< box^3 / N for N particles; 0 for fields and for cross spectra
};

/// Writes a table of k, P and modes, a row for each bin, whole or not at all. Numbers have so many
/// digits that reading them gives the same bits. Lines that begin with # come first: `header`, the
/// shot noise, and the columns' names.
///
/// \param header  lines about the data
/// \throws PreconditionError if a header line has a line break, or the columns differ in length
/// \throws ResourceError     if the file can't be written
void write_power_spectrum(std::filesystem::path const& path, PowerSpectrum const& spectrum,
                          std::span<std::string const> header = {});

}  // namespace coir::mesh
