#include "text.hpp"

#include <cstdio>
#include <vector>

namespace coir::io {

std::string printable(std::string_view text) {
  constexpr std::size_t most = 40;
  std::string result;
  for (char const c : text.substr(0, most)) {
    if (c >= ' ' && c <= '~') {
      result += c;
      continue;
    }
    char escape[8];
    std::snprintf(escape, sizeof escape, "\\x%02x", static_cast<unsigned char>(c));
    result += escape;
  }
  return text.size() > most ? result + "..." : result;
}

std::string in_hexadecimal(std::span<std::byte const> bytes) {
  std::string result;
  for (std::byte const b : bytes) {
    char digits[8];
    std::snprintf(digits, sizeof digits, "%02x", std::to_integer<unsigned>(b));
    if (!result.empty()) result += ' ';
    result += digits;
  }
  return result;
}

std::string index_of(std::size_t element, std::span<std::int64_t const> shape, bool fortran_order) {
  std::size_t const rank = shape.size();
  std::vector<std::size_t> index(rank);
  for (std::size_t k = 0; k < rank; ++k) {  // from the fastest axis on
    std::size_t const d = fortran_order ? k : rank - 1 - k;
    auto const extent = static_cast<std::size_t>(shape[d]);
    index[d] = element % extent;
    element /= extent;
  }
  std::string result = "[";
  for (std::size_t d = 0; d < index.size(); ++d) {
    if (d > 0) result += ", ";
    result += std::to_string(index[d]);
  }
  return result + "]";
}

std::string number_text(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.17g", value);
  return text;
}

}  // namespace coir::io
