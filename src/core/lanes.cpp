#include "lanes.hpp"

#include "simd.hpp"

#include <algorithm>
#include <type_traits>

namespace coir::simd {

namespace {

/// Exchanges rows and columns of a square by as many rounds as its side has bits.
template <class T>
void transpose(typename Simd<T>::Vector (&square)[Simd<T>::width]) {
  constexpr int width = Simd<T>::width;
  for (int round = 1; round < width; round *= 2) {
    typename Simd<T>::Vector turned[width];
    for (int i = 0; i < width / 2; ++i) {
      turned[2 * i] = Simd<T>::first_in_turns(square[i], square[i + width / 2]);
      turned[2 * i + 1] = Simd<T>::second_in_turns(square[i], square[i + width / 2]);
    }
    for (int i = 0; i < width; ++i) square[i] = turned[i];
  }
}

/// Calls copy(numbers of `count` lines that lie side by side, their place in a vector, count) for
/// each vector.
template <class T, class U, class Copy>
void for_vectors(SomeLines<U> const& lines, std::int64_t from, T* vectors, Copy const& copy) {
  constexpr std::int64_t width = Simd<std::remove_const_t<U>>::width;
  for (std::int64_t j = from; j < lines.n; ++j)
    for (std::int64_t first = 0; first < lines.count; first += width)
      copy(lines.data + j * lines.stride + first * lines.step,
           vectors + first * lines.n + j * width, std::min(width, lines.count - first));
}

}  // namespace

template <class T>
std::int64_t lanes_of_vector() {
  return Simd<T>::width;
}

template <class T>
void to_lanes(SomeLines<T const> const& lines, T* vectors) {
  using Vector = typename Simd<T>::Vector;
  constexpr std::int64_t width = Simd<T>::width;
  std::int64_t const whole = lines.stride == 1 ? lines.n - lines.n % width : 0;
  for (std::int64_t first = 0; first < lines.count; first += width)
    for (std::int64_t j = 0; j < whole; j += width) {
      Vector square[width];
      for (std::int64_t w = 0; w < width; ++w)
        square[w] = first + w < lines.count
                        ? Simd<T>::load(lines.data + (first + w) * lines.step + j)
                        : Vector{};
      transpose<T>(square);
      for (std::int64_t w = 0; w < width; ++w)
        Simd<T>::store(vectors + first * lines.n + (j + w) * width, square[w]);
    }
  for_vectors(lines, whole, vectors, [&](T const* from, T* to, std::int64_t count) {
    if (lines.step == 1 && count == width) return Simd<T>::store(to, Simd<T>::load(from));
    for (std::int64_t w = 0; w < width; ++w) to[w] = w < count ? from[w * lines.step] : T(0);
  });
}

template <class T>
void from_lanes(T const* vectors, SomeLines<T> const& lines) {
  using Vector = typename Simd<T>::Vector;
  constexpr std::int64_t width = Simd<T>::width;
  std::int64_t const whole = lines.stride == 1 ? lines.n - lines.n % width : 0;
  for (std::int64_t first = 0; first < lines.count; first += width)
    for (std::int64_t j = 0; j < whole; j += width) {
      Vector square[width];
      for (std::int64_t w = 0; w < width; ++w)
        square[w] = Simd<T>::load(vectors + first * lines.n + (j + w) * width);
      transpose<T>(square);
      for (std::int64_t w = 0; w < std::min(width, lines.count - first); ++w)
        Simd<T>::store(lines.data + (first + w) * lines.step + j, square[w]);
    }
  for_vectors(lines, whole, vectors, [&](T* to, T const* from, std::int64_t count) {
    if (lines.step == 1 && count == width) return Simd<T>::store(to, Simd<T>::load(from));
    for (std::int64_t w = 0; w < count; ++w) to[w * lines.step] = from[w];
  });
}

#define COIR_INSTANTIATE(T)                              \
  template std::int64_t lanes_of_vector<T>();            \
  template void to_lanes(SomeLines<T const> const&, T*); \
  template void from_lanes(T const*, SomeLines<T> const&);
COIR_INSTANTIATE(float)
COIR_INSTANTIATE(double)
COIR_INSTANTIATE(std::uint32_t)
COIR_INSTANTIATE(std::uint64_t)
#undef COIR_INSTANTIATE

}  // namespace coir::simd
