#include <coir/core/shape.hpp>

namespace coir {

std::string shape_in_words(std::span<std::int64_t const> shape) {
  std::string text = "(";
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (d > 0) text += ", ";
    text += std::to_string(shape[d]);
  }
  return text + (shape.size() == 1 ? ",)" : ")");
}

namespace detail {

void fail_to_broadcast(std::span<std::int64_t const> a, std::span<std::int64_t const> b,
                       std::size_t axis, std::int64_t from_a, std::int64_t from_b) {
  throw PreconditionError("shapes " + shape_in_words(a) + " and " + shape_in_words(b) +
                          " don't broadcast: axis " + std::to_string(axis) + " has " +
                          std::to_string(from_a) + " and " + std::to_string(from_b) +
                          " elements; they must be equal or one of them 1");
}

void fail_to_fit(std::span<std::int64_t const> from, std::span<std::int64_t const> to) {
  throw PreconditionError("values of shape " + shape_in_words(from) + " can't fill shape " +
                          shape_in_words(to) + ": extents must be equal, or 1 in the values");
}

void fail_by_negative_extent(std::span<std::int64_t const> shape) {
  throw PreconditionError("extents must be 0 or more, not " + shape_in_words(shape));
}

void fail_by_overflow(std::span<std::int64_t const> shape, std::int64_t element_bytes) {
  throw PreconditionError("an array of shape " + shape_in_words(shape) + " with elements of " +
                          std::to_string(element_bytes) +
                          " bytes has more than 2^63 - 1 bytes: use a smaller shape");
}

void fail_to_count(std::span<std::int64_t const> shape) {
  throw PreconditionError("shape " + shape_in_words(shape) +
                          " has more than 2^63 - 1 elements: use a smaller shape");
}

void fail_by_extent(std::int64_t a, std::string_view operation, std::int64_t b) {
  throw PreconditionError("an axis has at most 2^63 - 1 elements, not " + std::to_string(a) +
                          std::string(operation) + std::to_string(b));
}

}  // namespace detail

}  // namespace coir
