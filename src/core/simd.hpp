#pragma once

/// \file
/// Vectors of this build's machine, for code that no device compiler reads.

#include <utility>

namespace coir::simd {

#if defined(__AVX512F__)
constexpr int vector_bytes = 64;
#elif defined(__AVX__)
constexpr int vector_bytes = 32;
#else
constexpr int vector_bytes = 16;
#endif

/// Vectors of T in memory of any alignment, and their neighbours by one element.
///
/// \tparam Bytes  of a vector: part of the type, because libraries that are compiled for different
///   machines are linked together
template <class T, int Bytes = vector_bytes>
struct Simd {
  static constexpr int width = Bytes / sizeof(T);
  typedef T Vector __attribute__((vector_size(Bytes)));
  typedef T Unaligned __attribute__((vector_size(Bytes), aligned(alignof(T)), may_alias));

  static Vector load(T const* address) { return *reinterpret_cast<Unaligned const*>(address); }
  static void store(T* address, Vector value) { *reinterpret_cast<Unaligned*>(address) = value; }

  /// The western neighbours of the elements of `here`. The first one is the last element of
  /// `before`.
  static Vector west(Vector before, Vector here) {
    return shift<width - 1>(before, here, std::make_integer_sequence<int, width>{});
  }
  /// The eastern neighbours of the elements of `here`. The last one is the first element of
  /// `after`.
  static Vector east(Vector here, Vector after) {
    return shift<1>(here, after, std::make_integer_sequence<int, width>{});
  }

  /// The first and the second vector of the sequence a[0], b[0], a[1], b[1], ...
  static Vector first_in_turns(Vector a, Vector b) {
    return in_turns<0>(a, b, std::make_integer_sequence<int, width>{});
  }
  static Vector second_in_turns(Vector a, Vector b) {
    return in_turns<width / 2>(a, b, std::make_integer_sequence<int, width>{});
  }

  /// Every second element of a and then of b: evens() begins with a[0], odds() with a[1].
  static Vector evens(Vector a, Vector b) {
    return every_second<0>(a, b, std::make_integer_sequence<int, width>{});
  }
  static Vector odds(Vector a, Vector b) {
    return every_second<1>(a, b, std::make_integer_sequence<int, width>{});
  }

 private:
  template <int Offset, int... Lane>
  static Vector in_turns(Vector a, Vector b, std::integer_sequence<int, Lane...>) {
    return __builtin_shufflevector(a, b, (Offset + Lane / 2 + Lane % 2 * width)...);
  }
  template <int Offset, int... Lane>
  static Vector every_second(Vector a, Vector b, std::integer_sequence<int, Lane...>) {
    return __builtin_shufflevector(a, b, (Offset + 2 * Lane)...);
  }
  template <int Offset, int... Lane>
  static Vector shift(Vector a, Vector b, std::integer_sequence<int, Lane...>) {
    return __builtin_shufflevector(a, b, (Offset + Lane)...);
  }
};

}  // namespace coir::simd
