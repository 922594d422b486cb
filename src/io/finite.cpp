#include <coir/core/errors.hpp>
#include <coir/io/finite.hpp>

#include "text.hpp"

#include <string>

namespace coir::io::detail {

void fail_not_finite(std::string_view name, std::size_t element,
                     std::span<std::int64_t const> shape, double value) {
  throw InputError(std::string(name) + ": element " + index_of(element, shape) + " is " +
                   number_text(value) +
                   ", every element must be finite: replace it (numpy.nan_to_num does)");
}

}  // namespace coir::io::detail
