#pragma once

/// \file
/// GCC and Clang vector types.

namespace coir::mesh::detail {

/// Two, four or eight numbers, at any address of a T. Compilers don't vectorise loops this short.
template <class T>
struct Lanes;
template <>
struct Lanes<float> {
  typedef float two __attribute__((vector_size(8), aligned(4), may_alias));
  typedef float four __attribute__((vector_size(16), aligned(4), may_alias));
  typedef float eight __attribute__((vector_size(32), aligned(4), may_alias));
};
template <>
struct Lanes<double> {
  typedef double two __attribute__((vector_size(16), aligned(8), may_alias));
  typedef double four __attribute__((vector_size(32), aligned(8), may_alias));
  typedef double eight __attribute__((vector_size(64), aligned(8), may_alias));
};

/// Adds the two vectors of three components in lanes 0 to 2 and 3 to 5.
///
/// \return  their sum, and behind it the sum of lanes 6 and 7
template <class T>
typename Lanes<T>::four sum_of_vectors(typename Lanes<T>::eight const& both) {
  return __builtin_shufflevector(both, both, 0, 1, 2, 6) +
         __builtin_shufflevector(both, both, 3, 4, 5, 7);
}

}  // namespace coir::mesh::detail
