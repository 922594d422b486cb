#include <coir/core/errors.hpp>
#include <coir/io/finite.hpp>

#include "text.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace coir::io::detail {

void fail_not_finite(std::string_view name, std::size_t element,
                     std::span<std::int64_t const> shape, std::int64_t first, double value) {
  std::vector<std::int64_t> whole(shape.begin(), shape.end());
  if (first > 0) {
    whole.front() += first;
    std::int64_t before = first;
    for (std::int64_t const extent : shape.subspan(1)) before *= extent;
    element += static_cast<std::size_t>(before);
  }
  throw InputError(std::string(name) + ": element " + index_of(element, whole) + " is " +
                   number_text(value) +
                   ", every element must be finite: replace it (numpy.nan_to_num does)");
}

}  // namespace coir::io::detail
