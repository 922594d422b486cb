#pragma once

/// \file
/// The readers of untrusted bytes.

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace coir::testing {

using Bytes = std::vector<std::byte>;

/// A reader, what to start from, and what must hold for any input.
struct Reader {
  std::string name;
  std::vector<Bytes> seeds;  ///< small files, all of which it accepts

  /// Reads and forgets. Every exception but InputError gets through.
  /// \returns whether the file was accepted
  bool (*read)(Bytes const& file);

  /// Bytes that reading a file of this length may allocate, all allocations added up.
  std::size_t (*allowance)(std::size_t length);

  /// Reads, and checks what was read; throws std::logic_error if that contradicts itself.
  void (*check)(Bytes const& file);

  /// Makes a mutated file's checksums right again, without which nothing behind them is reached.
  Bytes (*repair)(Bytes file);
};

/// The readers of PNG, NPY and tables of power spectra.
std::vector<Reader> const& readers();

/// The one with this name.
Reader const& reader(std::string_view name);

}  // namespace coir::testing
