#pragma once

#include <cstddef>
#include <cstdint>

namespace coir::detail {

/// Sorts words by Highway's vqsort, in ascending order. Only where coir was built with it.
void sort_by_vectors(std::uint32_t* words, std::size_t count);
void sort_by_vectors(std::uint64_t* words, std::size_t count);

}  // namespace coir::detail
