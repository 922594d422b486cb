#pragma once

/// \file
/// Arrays in NumPy's files.

#include <coir/array/creation.hpp>
#include <coir/io/npy.hpp>

#include <filesystem>

namespace coir {

/// Reads an NPY file into an array of the given type and rank: load<float, 2>("u.npy"). Values are
/// converted if the type holds them. float64 becomes float32 only with io::Rounding::allow.
///
/// \throws InputError if the file is malformed, its rank differs, or its values don't convert
template <io::NpyElement T, int Rank, class Space = DefaultSpace>
Array<T, Rank, Space> load(std::filesystem::path const& path,
                           io::Rounding rounding = io::Rounding::refuse) {
  io::NpyArray const file = io::read_npy(path);
  io::expects_rank(file, Rank);
  Shape<Rank> shape{};
  for (int d = 0; d < Rank; ++d) shape[d] = file.shape[d];
  Array<T, Rank, Space> result(shape);
  io::copy_to_view(file, result.view(), rounding);
  return result;
}

/// Writes the values of an expression to an NPY file, whole or not at all.
///
/// \throws ResourceError if the file can't be written
template <Expression E>
  requires io::NpyElement<value_t<E>>
void save(std::filesystem::path const& path, E const& values) {
  auto const array = evaluate(values);
  io::write_npy(path, array.view());
}

}  // namespace coir
