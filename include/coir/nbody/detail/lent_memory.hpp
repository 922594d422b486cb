#pragma once

/// \file
/// Memory that one part of a simulation lends to another.

#include <cstdint>

namespace coir::nbody::detail {

/// The memory of meshes, lent between two forces, while the meshes hold nothing of use.
template <class T>
struct LentMemory {
  T* vectors = nullptr;        ///< three numbers per particle, or null
  T* numbers = nullptr;        ///< one number per particle; not used if there are vectors
  std::int64_t particles = 0;  ///< how many particles this memory is for
};

}  // namespace coir::nbody::detail
