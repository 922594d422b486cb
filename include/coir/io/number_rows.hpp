#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace coir::io {

/// The rows of numbers of a text.
struct NumberRows {
  std::size_t columns = 0;
  std::vector<double> numbers{};      ///< row by row
  std::vector<std::int64_t> lines{};  ///< of each row, counted from 1

  std::size_t count() const { return lines.size(); }
  std::span<double const> operator[](std::size_t row) const {
    return std::span(numbers).subspan(row * columns, columns);
  }
};

/// Reads numbers between blanks, a row in each line. What follows # in a line is a comment; lines
/// of comments alone, and empty ones, are no rows.
///
/// \param name     of the text, for messages
/// \param columns  how many numbers a row has; 0: as many as the first row
/// \param meaning  what they are, for messages: "k in h/Mpc and P in (Mpc/h)^3"
/// \throws InputError naming the line that has another number of columns, or something else than
///   numbers
/// \throws ResourceError if there isn't enough memory
NumberRows decode_number_rows(std::string_view text, std::string_view name, std::size_t columns,
                              std::string_view meaning);

}  // namespace coir::io
