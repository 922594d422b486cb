#pragma once

/// \file
/// The kernels of random.hpp.

#include <core/box_muller.hpp>
#include <core/threefry.hpp>

#include <coir/array/detail/random_fill.hpp>
#include <coir/core/loops.hpp>

#include <algorithm>

namespace coir::random::detail {

KOKKOS_FORCEINLINE_FUNCTION PlainWords number_words(PlainWords const& key, std::uint64_t index) {
  return threefry({{static_cast<std::uint32_t>(index), static_cast<std::uint32_t>(index >> 32), 0u,
                    static_cast<std::uint32_t>(Purpose::numbers)}},
                  key);
}

inline PlainWords plain(Words const& words) { return {{words[0], words[1], words[2], words[3]}}; }

// ---- numbers from 128 random bits ----

struct Bits32 {
  using Value = std::uint32_t;
  static constexpr int values = 4;
  KOKKOS_FORCEINLINE_FUNCTION void operator()(PlainWords const& w, Value (&out)[4]) const {
    for (int i = 0; i < 4; ++i) out[i] = w.v[i];
  }
};

struct Bits64 {
  using Value = std::uint64_t;
  static constexpr int values = 2;
  KOKKOS_FORCEINLINE_FUNCTION void operator()(PlainWords const& w, Value (&out)[2]) const {
    for (int i = 0; i < 2; ++i) out[i] = w.v[2 * i] | Value(w.v[2 * i + 1]) << 32;
  }
};

/// low + u (high - low), which rounding must not carry up to high.
template <class T>
struct Interval {
  T low, width, last;
  KOKKOS_FORCEINLINE_FUNCTION T operator()(T u) const {
    T const x = math::fma(u, width, low);
    return x < last ? x : last;
  }
};

struct Uniform32 {
  using Value = float;
  static constexpr int values = 4;
  Interval<float> interval;
  KOKKOS_FORCEINLINE_FUNCTION void operator()(PlainWords const& w, Value (&out)[4]) const {
    for (int i = 0; i < 4; ++i)
      out[i] = interval(static_cast<float>(static_cast<std::int32_t>(w.v[i] >> 8)) * 0x1p-24f);
  }
};

struct Uniform64 {
  using Value = double;
  static constexpr int values = 2;
  Interval<double> interval;
  KOKKOS_FORCEINLINE_FUNCTION void operator()(PlainWords const& w, Value (&out)[2]) const {
    for (int i = 0; i < 2; ++i) out[i] = interval(upper_53(w.v[2 * i], w.v[2 * i + 1]) * 0x1p-53);
  }
};

struct Normal32 {
  using Value = float;
  static constexpr int values = 4;
  float mean, deviation;
  KOKKOS_FORCEINLINE_FUNCTION void operator()(PlainWords const& w, Value (&out)[4]) const {
    box_muller(w.v[0], w.v[1], out[0], out[1]);
    box_muller(w.v[2], w.v[3], out[2], out[3]);
    for (int i = 0; i < 4; ++i) out[i] = math::fma(out[i], deviation, mean);
  }
};

struct Normal64 {
  using Value = double;
  static constexpr int values = 2;
  double mean, deviation;
  KOKKOS_FORCEINLINE_FUNCTION void operator()(PlainWords const& w, Value (&out)[2]) const {
    box_muller(w.v[0], w.v[1], w.v[2], w.v[3], out[0], out[1]);
    for (int i = 0; i < 2; ++i) out[i] = math::fma(out[i], deviation, mean);
  }
};

/// low + floor(random range / 2^64), for ranges below 2^32.
template <class T>
struct SmallIntegers {
  using Value = T;
  static constexpr int values = 2;
  std::uint64_t low;
  std::uint32_t range;
  KOKKOS_FORCEINLINE_FUNCTION void operator()(PlainWords const& w, Value (&out)[2]) const {
    for (int i = 0; i < 2; ++i) {
      std::uint64_t const carry = std::uint64_t(w.v[2 * i]) * range >> 32;
      std::uint64_t const product = std::uint64_t(w.v[2 * i + 1]) * range + carry;
      out[i] = static_cast<T>(low + (product >> 32));
    }
  }
};

/// low + floor(random range / 2^128), by long multiplication with digits of 32 bits.
template <class T>
struct LargeIntegers {
  using Value = T;
  static constexpr int values = 1;
  std::uint64_t low, range;
  KOKKOS_FORCEINLINE_FUNCTION void operator()(PlainWords const& w, Value (&out)[1]) const {
    std::uint32_t const r0 = static_cast<std::uint32_t>(range);
    std::uint32_t const r1 = static_cast<std::uint32_t>(range >> 32);
    std::uint32_t above[4];  // digits 1 to 4 of random r0
    std::uint64_t sum = std::uint64_t(w.v[0]) * r0;
    for (int i = 1; i < 4; ++i) {
      sum = (sum >> 32) + std::uint64_t(w.v[i]) * r0;
      above[i - 1] = static_cast<std::uint32_t>(sum);
    }
    above[3] = static_cast<std::uint32_t>(sum >> 32);
    sum = 0;
    for (int i = 0; i < 4; ++i) sum = (sum >> 32) + std::uint64_t(w.v[i]) * r1 + above[i];
    out[0] = static_cast<T>(low + sum);
  }
};

// ---- the kernel ----

/// Counter c makes the elements from c * Draw::values on. An index stands for `each` counters at a
/// distance of `indices`.
template <class Draw, int each>
struct FillBody {
  using T = typename Draw::Value;
  static constexpr int values = Draw::values;
  // Drawing takes much longer than starting a thread.
  static constexpr int cells_per_thread = 1;

  /// Written by one instruction on devices.
  struct alignas(values * sizeof(T)) Together {
    T value[values];
  };

  PlainWords key;
  Draw draw;
  T* data;
  std::int64_t count, indices;
  bool aligned;
  std::int64_t skipped = 0;  ///< counters before the first one

  // Each number counts as four cells, because drawing takes longer than adding.
  static std::int64_t cells_per_index() { return 4 * values; }

  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t index) const {
    // All numbers are drawn before the first one is stored, so that none waits for a store.
    Together out[each];
    COIR_UNROLL
    for (int c = 0; c < each; ++c)
      draw(number_words(key, static_cast<std::uint64_t>(skipped + index + c * indices)),
           out[c].value);
    COIR_UNROLL
    for (int c = 0; c < each; ++c) store(out[c], (index + c * indices) * values);
  }

  // On hosts in blocks, each step of which is a loop that vectorises.
  void stretch(std::int64_t begin, std::int64_t end) const
    requires(each == 1)
  {
    // What is left of a stretch goes in small blocks: a few numbers take no longer than they must.
    constexpr int block = 256, small = 16;
    for (std::int64_t counter = begin; counter < end;) {
      std::int64_t const first = counter * values;
      std::int64_t const left = std::min(count, end * values) - first;
      if (left >= block * values) {
        fill_block<block>(static_cast<std::uint64_t>(skipped + counter), data + first);
        counter += block;
      } else {
        T whole[small * values];
        fill_block<small>(static_cast<std::uint64_t>(skipped + counter), whole);
        std::copy_n(whole, std::min<std::int64_t>(left, small * values), data + first);
        counter += small;
      }
    }
  }

 private:
  KOKKOS_FORCEINLINE_FUNCTION void store(Together const& out, std::int64_t first) const {
    if (aligned && first + values <= count) {
      *reinterpret_cast<Together*>(data + first) = out;
    } else {
      for (int i = 0; i < values; ++i)
        if (first + i < count) data[first + i] = out.value[i];
    }
  }

  template <int block>
  void fill_block(std::uint64_t counter, T* target) const {
    alignas(64) std::uint32_t words[4][block];
    alignas(64) T drawn[values][block];
    COIR_INDEPENDENT_ITERATIONS
    for (int j = 0; j < block; ++j) {
      PlainWords const w = number_words(key, counter + static_cast<std::uint64_t>(j));
      for (int i = 0; i < 4; ++i) words[i][j] = w.v[i];
    }
    COIR_INDEPENDENT_ITERATIONS
    for (int j = 0; j < block; ++j) {
      T out[values];
      draw(PlainWords{{words[0][j], words[1][j], words[2][j], words[3][j]}}, out);
      for (int i = 0; i < values; ++i) drawn[i][j] = out[i];
    }
    COIR_INDEPENDENT_ITERATIONS
    for (int j = 0; j < block; ++j)
      for (int i = 0; i < values; ++i) target[j * values + i] = drawn[i][j];
  }
};

template <class Exec, class Draw>
void fill(char const* label, Exec const& exec, Words const& key, Draw const& draw,
          typename Draw::Value* data, std::int64_t count, std::int64_t first = 0) {
  // Two counters at a time are best on devices (docs/performance.md).
  constexpr int each = runs_on_host<Exec> ? 1 : 2;
  using Body = FillBody<Draw, each>;
  bool const aligned =
      reinterpret_cast<std::uintptr_t>(data) % alignof(typename Body::Together) == 0;
  std::int64_t const counters = (count + Draw::values - 1) / Draw::values,
                     indices = (counters + each - 1) / each;
  for_each(label, exec, box<1, std::int64_t>({indices}),
           Body{plain(key), draw, data, count, indices, aligned, first / Draw::values});
}

template <class Exec, class T>
void fill_bits(Exec const& exec, Words const& key, T* data, std::int64_t count) {
  using Draw = std::conditional_t<sizeof(T) == 4, Bits32, Bits64>;
  fill("coir::array::random/bits", exec, key, Draw{}, reinterpret_cast<typename Draw::Value*>(data),
       count);
}

template <class Exec, class T>
void fill_uniform(Exec const& exec, Words const& key, T* data, std::int64_t count, T low, T high,
                  std::int64_t first) {
  using Draw = std::conditional_t<std::is_same_v<T, float>, Uniform32, Uniform64>;
  Interval<T> const interval{low, high - low, std::nextafter(high, low)};
  fill("coir::array::random/uniform", exec, key, Draw{interval}, data, count, first);
}

template <class Exec, class T>
void fill_normal(Exec const& exec, Words const& key, T* data, std::int64_t count, T mean,
                 T deviation, std::int64_t first) {
  using Draw = std::conditional_t<std::is_same_v<T, float>, Normal32, Normal64>;
  fill("coir::array::random/normal", exec, key, Draw{mean, deviation}, data, count, first);
}

template <class Exec, class T>
void fill_integers(Exec const& exec, Words const& key, T* data, std::int64_t count, T low,
                   std::uint64_t range) {
  auto const start = static_cast<std::uint64_t>(low);
  if (range >> 32 == 0)
    fill("coir::array::random/integers", exec, key,
         SmallIntegers<T>{start, static_cast<std::uint32_t>(range)}, data, count);
  else if constexpr (sizeof(T) == 8)
    fill("coir::array::random/integers", exec, key, LargeIntegers<T>{start, range}, data, count);
}

}  // namespace coir::random::detail

#define COIR_RANDOM_INTEGERS(Exec, T) \
  template void fill_integers(Exec const&, Words const&, T*, std::int64_t, T, std::uint64_t);
#define COIR_RANDOM_REALS(Exec, T)                                                             \
  template void fill_uniform(Exec const&, Words const&, T*, std::int64_t, T, T, std::int64_t); \
  template void fill_normal(Exec const&, Words const&, T*, std::int64_t, T, T, std::int64_t);
#define COIR_RANDOM_BITS(Exec, T) \
  template void fill_bits(Exec const&, Words const&, T*, std::int64_t);
#define COIR_INSTANTIATE_RANDOM(Exec)            \
  namespace coir::random::detail {               \
  COIR_RANDOM_BITS(Exec, unsigned)               \
  COIR_RANDOM_BITS(Exec, unsigned long)          \
  COIR_RANDOM_BITS(Exec, unsigned long long)     \
  COIR_RANDOM_REALS(Exec, float)                 \
  COIR_RANDOM_REALS(Exec, double)                \
  COIR_RANDOM_INTEGERS(Exec, signed char)        \
  COIR_RANDOM_INTEGERS(Exec, unsigned char)      \
  COIR_RANDOM_INTEGERS(Exec, short)              \
  COIR_RANDOM_INTEGERS(Exec, unsigned short)     \
  COIR_RANDOM_INTEGERS(Exec, int)                \
  COIR_RANDOM_INTEGERS(Exec, unsigned)           \
  COIR_RANDOM_INTEGERS(Exec, long)               \
  COIR_RANDOM_INTEGERS(Exec, unsigned long)      \
  COIR_RANDOM_INTEGERS(Exec, long long)          \
  COIR_RANDOM_INTEGERS(Exec, unsigned long long) \
  }
