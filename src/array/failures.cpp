// Error messages about indices. They are compiled once, because every array statement checks its
// indices, and these checks are only small enough to be inlined without the messages.

#include <coir/array/array.hpp>

#include <cstdint>

namespace coir::detail {

void fail_without_memory() {
  throw PreconditionError(
      "this array has no memory yet: assign to it, or make it by zeros, empty or the like");
}

void fail_by_index(std::int64_t index, std::int64_t extent, int axis) {
  throw PreconditionError("index " + std::to_string(index) + " is outside of axis " +
                          std::to_string(axis) + " with " + std::to_string(extent) + " elements");
}

void fail_by_bound(std::int64_t position, std::int64_t extent, int axis) {
  throw PreconditionError("range bound " +
                          std::to_string(position < 0 ? position - extent : position) +
                          " is outside of axis " + std::to_string(axis) + " with " +
                          std::to_string(extent) + " elements");
}

}  // namespace coir::detail
