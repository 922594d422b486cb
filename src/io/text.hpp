#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace coir::io {

// Text that may come from a file, fit for one line: unprintable bytes as \xNN, at most 40 of them.
std::string printable(std::string_view text);

// Bytes as people write them: "ff d8 ff e0".
std::string in_hexadecimal(std::span<std::byte const> bytes);

// "[2, 0]": where the n-th element in C or Fortran order is.
std::string index_of(std::size_t element, std::span<std::int64_t const> shape,
                     bool fortran_order = false);

// A floating-point number in as few digits as tell it from others.
std::string number_text(double value);

}  // namespace coir::io
