#pragma once

/// \file
/// The number types of HDF5 files here, and shapes of datasets.

#include <concepts>
#include <cstdint>
#include <string>
#include <vector>

namespace coir::hdf5 {

/// The number types of datasets and attributes.
enum class Type { int8, int16, int32, int64, uint8, uint16, uint32, uint64, float32, float64 };

/// NumPy's name of a type: "float32".
std::string name_of(Type type);

/// A C++ type that has a Type: float, double, and integers of 8 to 64 bits.
template <class T>
concept Element = std::same_as<T, float> || std::same_as<T, double> ||
                  (std::integral<T> && !std::same_as<T, bool> && sizeof(T) <= 8);

/// The Type of a C++ type, by its size and sign: type_of<long> is int64 where long has 64 bits.
template <Element T>
inline constexpr Type type_of = [] {
  if constexpr (std::same_as<T, float>) return Type::float32;
  if constexpr (std::same_as<T, double>) return Type::float64;
  int const step = sizeof(T) == 1 ? 0 : sizeof(T) == 2 ? 1 : sizeof(T) == 4 ? 2 : 3;
  return static_cast<Type>(static_cast<int>(std::is_signed_v<T> ? Type::int8 : Type::uint8) + step);
}();

/// The extents of a dataset, in C order; the last index is contiguous. Empty for a single number.
using Shape = std::vector<std::int64_t>;

}  // namespace coir::hdf5
