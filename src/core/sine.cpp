// The sine and cosine of floats of every size, for the loops that g++ vectorises: math::sin and
// math::cos of coir/core/math.hpp. Up to 1e4 they are glibc's. Beyond, glibc's vectors go element
// by element, which is slow.
//
// There x = n pi/2 + r, with r in double and polynomials of r in float. Up to 2^25, n pi/2 is
// subtracted in two parts (Cody, Waite, Software Manual for the Elementary Functions, 1980).
// Beyond, x times 2/pi is summed from the bits of 2/pi that matter modulo 4 (Payne, Hanek, Radian
// reduction for trigonometric functions, 1983).
//
// The build compiles this file once for each instruction set, with its flags and with
//   COIR_VECTOR_LETTER, COIR_VECTOR_LANES
//     the set's letter in "Vector Function ABI for x86-64" and its number of floats:
//     b 4 for SSE, c 8 for AVX, d 8 for AVX2, e 16 for AVX-512,
// because the way in which functions pass vectors depends on these flags. Nothing here may call an
// inline function of the standard library: the linker might take its code for AVX-512 for the whole
// program.

#include <cstdint>
#include <utility>

#if defined(__x86_64__) && defined(__GLIBC__)
#if __GLIBC_PREREQ(2, 35)

#define COIR_IN_EACH_VARIANT [[gnu::always_inline]] inline

namespace {

/// N floats, and N / 2 doubles.
template <int N>
struct Lanes {
  static constexpr int half = N / 2;
  typedef float Float __attribute__((vector_size(4 * N)));
  typedef std::int32_t Int __attribute__((vector_size(4 * N)));
  typedef float HalfFloat __attribute__((vector_size(2 * N)));
  typedef std::int32_t HalfInt __attribute__((vector_size(2 * N)));
  typedef double Double __attribute__((vector_size(4 * N)));
  typedef std::int64_t Long __attribute__((vector_size(4 * N)));
};

template <class Half, int First, class All, int... K>
COIR_IN_EACH_VARIANT Half part_of(All const& all, std::integer_sequence<int, K...>) {
  return __builtin_shufflevector(all, all, First + K...);
}
template <class All, class Half, int... K>
COIR_IN_EACH_VARIANT All joined(Half const& low, Half const& high,
                                std::integer_sequence<int, K...>) {
  return __builtin_shufflevector(low, high, K...);
}

/// x = turns pi/2 + rest, |rest| <= pi/4. The turns are right modulo 4.
template <int N>
struct Reduced {
  typename Lanes<N>::HalfInt turns;
  typename Lanes<N>::HalfFloat rest;
};

constexpr double to_whole = 0x1.8p52;  // x + to_whole - to_whole is x rounded to a whole number
constexpr double inverse = 0x1.45f306dc9c883p-1, half_pi = 0x1.921fb54442d18p+0,
                 first_of_half_pi = 0x1.921fb54p+0, second_of_half_pi = 0x1.10b4611a62633p-30;

/// For |x| < 2^25, so that turns times the first part, of 27 bits, is exact. NaN for NaN and
/// infinities; any number for other x.
template <int N>
COIR_IN_EACH_VARIANT Reduced<N> reduced(typename Lanes<N>::HalfFloat const& x) {
  using Double = typename Lanes<N>::Double;
  Double const wide = __builtin_convertvector(x, Double);
  Double const turns = (wide * inverse + to_whole) - to_whole;
  Double const rest = (wide - turns * first_of_half_pi) - turns * second_of_half_pi;
  Double const convertible = turns * turns < 0x1p60 ? turns : Double{};  // not for NaN
  return {__builtin_convertvector(convertible, typename Lanes<N>::HalfInt),
          __builtin_convertvector(rest, typename Lanes<N>::HalfFloat)};
}

constexpr int large_exponent = 25;

/// 2/pi 2^e without its multiples of 4. Whole numbers below 2^24 times the first two parts, of 28
/// bits, are exact.
struct Parts {
  double first, second, third;
};

constexpr std::uint32_t two_over_pi[9] = {0xa2f9836e, 0x4e441529, 0xfc2757d1,
                                          0xf534ddc0, 0xdb629599, 0x3c439041,
                                          0xfe5163ab, 0xdebbc561, 0xb7246e3a};

/// `count` bits of 2^e 2/pi, from the one that counts 2^highest down.
constexpr double bits_from(int e, int highest, int count) {
  double unit = 1, sum = 0;
  for (int k = 0; k < highest; ++k) unit *= 2;
  for (int k = 0; k > highest; --k) unit /= 2;
  for (int k = 0; k < count; ++k, unit /= 2) {
    int const place = e - highest + k - 1;  // of the bits of 2/pi, from the one that counts 1/2
    if (place >= 0 && (two_over_pi[place / 32] >> (31 - place % 32) & 1u) != 0) sum += unit;
  }
  return sum;
}

struct PartsOfExponents {
  static constexpr int last = 127 - large_exponent;
  Parts of[last + 1];
};

/// parts.of[k] belong to floats m 2^e with 2^23 <= m < 2^24 and e = k + large_exponent - 23.
constexpr PartsOfExponents parts = [] {
  PartsOfExponents result{};
  for (int k = 0; k <= PartsOfExponents::last; ++k) {
    int const e = k + large_exponent - 23;
    result.of[k] = {bits_from(e, 1, 28), bits_from(e, -27, 28), bits_from(e, -55, 53)};
  }
  return result;
}();

/// For 2^25 <= |x| < infinity; any number for other x.
template <int N>
COIR_IN_EACH_VARIANT Reduced<N> reduced_large(typename Lanes<N>::HalfFloat const& x) {
  using L = Lanes<N>;
  typename L::Double whole, first, second, third;
  for (int k = 0; k < L::half; ++k) {
    auto const bits = __builtin_bit_cast(std::uint32_t, static_cast<float>(x[k]));
    int const exponent = static_cast<int>(bits >> 23 & 255u) - 127 - large_exponent;
    constexpr int last = PartsOfExponents::last;
    Parts const& of_lane = parts.of[exponent < 0 ? 0 : exponent > last ? last : exponent];
    auto const size = static_cast<std::int32_t>((bits & 0x7fffffu) | 0x800000u);
    whole[k] = bits >> 31 != 0 ? -size : size;
    first[k] = of_lane.first;
    second[k] = of_lane.second;
    third[k] = of_lane.third;
  }
  auto const most = whole * first;
  auto const most_turns = (most + to_whole) - to_whole;
  auto const fraction = ((most - most_turns) + whole * second) + whole * third;
  auto const last_turn = (fraction + to_whole) - to_whole;
  return {__builtin_convertvector(most_turns + last_turn, typename L::HalfInt),
          __builtin_convertvector((fraction - last_turn) * half_pi, typename L::HalfFloat)};
}

/// Whether any lane isn't 0.
template <int N>
COIR_IN_EACH_VARIANT bool any(typename Lanes<N>::Int const& lanes) {
  auto const pairs = __builtin_bit_cast(typename Lanes<N>::Long, lanes);
  std::int64_t bits = 0;
  for (int k = 0; k < Lanes<N>::half; ++k) bits |= pairs[k];
  return bits != 0;
}

/// Finds the lanes beyond 1e4, which include NaN and infinities. Returns whether there is any.
template <int N>
COIR_IN_EACH_VARIANT bool any_beyond(typename Lanes<N>::Float const& x,
                                     typename Lanes<N>::Int& beyond) {
  beyond = (__builtin_bit_cast(typename Lanes<N>::Int, x) & 0x7fffffff) >
           __builtin_bit_cast(std::int32_t, 1e4f);
  return any<N>(beyond);
}

/// The sine or cosine beyond 1e4, within 2 ulp. NaN for NaN and infinities.
template <bool Cosine, int N>
COIR_IN_EACH_VARIANT void compute(typename Lanes<N>::Float const& x,
                                  typename Lanes<N>::Float& result) {
  using L = Lanes<N>;
  using Float = typename L::Float;
  using Int = typename L::Int;
  constexpr std::make_integer_sequence<int, N> all{};
  constexpr std::make_integer_sequence<int, L::half> half{};
  auto const low = part_of<typename L::HalfFloat, 0>(x, half);
  auto const high = part_of<typename L::HalfFloat, L::half>(x, half);
  auto const of_low = reduced<N>(low), of_high = reduced<N>(high);
  Float r = joined<Float>(of_low.rest, of_high.rest, all);
  Int turns = joined<Int>(of_low.turns, of_high.turns, all);
  Int const size = __builtin_bit_cast(Int, x) & 0x7fffffff;
  Int const large = (size >= __builtin_bit_cast(std::int32_t, 0x1p25f)) & (size < 0x7f800000);
  if (any<N>(large)) {
    auto const large_low = reduced_large<N>(low), large_high = reduced_large<N>(high);
    r = large ? joined<Float>(large_low.rest, large_high.rest, all) : r;
    turns = large ? joined<Int>(large_low.turns, large_high.turns, all) : turns;
  }
  // Polynomials of Cephes' sinf and cosf.
  Float const z = r * r;
  Float const sine =
      ((-1.9515295891e-4f * z + 8.3321608736e-3f) * z - 1.6666654611e-1f) * z * r + r;
  Float const cosine =
      ((2.443315711809948e-5f * z - 1.388731625493765e-3f) * z + 4.166664568298827e-2f) * (z * z) +
      (1.0f - 0.5f * z);
  if constexpr (Cosine) turns += 1;
  Float const value = (turns & 1) != 0 ? cosine : sine;
  result = __builtin_bit_cast(Float, __builtin_bit_cast(Int, value) ^ ((turns & 2) << 30));
}

}  // namespace

using Floats = Lanes<COIR_VECTOR_LANES>::Float;

#define COIR_JOIN(a, b, c, d, e) a##b##c##d##e
#define COIR_SYMBOL(letter, lanes, name) COIR_JOIN(_ZGV, letter, N, lanes, v_##name)
#define COIR_VARIANT(name) COIR_SYMBOL(COIR_VECTOR_LETTER, COIR_VECTOR_LANES, name)
#define COIR_DEFINE_VARIANT(name, cosine)                            \
  Floats COIR_VARIANT(name)(Floats x) noexcept; /* glibc's */        \
  Floats COIR_VARIANT(coir_##name)(Floats x) noexcept {              \
    constexpr int lanes = COIR_VECTOR_LANES;                         \
    Lanes<lanes>::Int beyond;                                        \
    if (!any_beyond<lanes>(x, beyond)) return COIR_VARIANT(name)(x); \
    Floats result;                                                   \
    compute<cosine, lanes>(x, result);                               \
    Floats const near = beyond ? Floats{} : x;                       \
    return beyond ? result : COIR_VARIANT(name)(near);               \
  }
#define COIR_DEFINE_OF_ONE(name)                                                          \
  float coir_##name(float x) noexcept {                                                   \
    return __builtin_fabsf(x) <= 1e4f ? __builtin_##name(x)                               \
                                      : COIR_VARIANT(coir_##name)(Floats{x, 0, 0, 0})[0]; \
  }

extern "C" {
COIR_DEFINE_VARIANT(sinf, false)
COIR_DEFINE_VARIANT(cosf, true)
#if COIR_VECTOR_LANES == 4
COIR_DEFINE_OF_ONE(sinf)
COIR_DEFINE_OF_ONE(cosf)
#endif
}

#endif
#endif
