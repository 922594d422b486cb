#pragma once

// The header of an NPY file: magic, version, and a Python dictionary as text.

#include <coir/io/npy.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace coir::io {

// Bytes of the longest header that is read. NumPy's own have some 100.
inline constexpr std::size_t longest_npy_header = std::size_t(1) << 20;

struct NpyHeader {
  NpyType type = NpyType::float64;
  bool swapped = false;  // the bytes of each element are in the other order than this machine's
  bool fortran_order = false;
  std::vector<std::int64_t> shape;
  std::size_t length = 0;  // where the elements start
};

// Parses the header and checks it against the file's length.
//
// \param begin   of the file, with the whole header unless that is longer than the longest
// \param length  bytes of the file
NpyHeader parse_npy_header(std::span<std::byte const> begin, std::int64_t length,
                           std::string_view name);

// The header (version 1.0) of an array in C order and this machine's byte order.
std::string make_npy_header(NpyType type, std::span<std::int64_t const> shape);

}  // namespace coir::io
