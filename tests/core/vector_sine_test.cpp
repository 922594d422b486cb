// The variants of sines and cosines for vectors of floats, each by its name in the library, called
// as loops that g++ vectorises call them.

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#if defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__)
#if __GLIBC_PREREQ(2, 35)
#define COIR_TEST_VECTORS
#endif
#endif

#ifdef COIR_TEST_VECTORS

namespace {

/// From 1e-3 to 1e38, with both signs, zeros, infinities and NaN; a multiple of 16 numbers.
std::vector<float> numbers() {
  float const inf = std::numeric_limits<float>::infinity();
  std::vector<float> result{0.0f, -0.0f, 3e8f, inf, -inf, std::nanf(""), 1.0f, 1e4f};
  for (int k = 0; k < 1592; ++k)
    result.push_back((k % 3 == 0 ? -1.0f : 1.0f) * std::pow(10.0f, -3.0f + 0.02575f * float(k)));
  return result;
}

/// 4 ulp are documented; half of one is the rounding.
void expect_close(float found, float x, double exact) {
  if (!std::isfinite(x)) {
    EXPECT_TRUE(std::isnan(found)) << x;
    return;
  }
  float const size = std::abs(static_cast<float>(exact));
  double const ulp = std::nextafter(size, std::numeric_limits<float>::infinity()) - size;
  EXPECT_LE(std::abs(found - exact), 4.5 * ulp) << x;
}

}  // namespace

#define COIR_VECTOR_TEST(letter, lanes, set)                                                       \
  namespace letter {                                                                               \
  typedef float Floats __attribute__((vector_size(4 * lanes)));                                    \
  extern "C" {                                                                                     \
  __attribute__((target(set))) Floats _ZGV##letter##N##lanes##v_coir_sinf(Floats) noexcept;        \
  __attribute__((target(set))) Floats _ZGV##letter##N##lanes##v_coir_cosf(Floats) noexcept;        \
  }                                                                                                \
  __attribute__((target(set), noinline)) void both(float const* x, float* sines, float* cosines) { \
    Floats of, sine, cosine;                                                                       \
    __builtin_memcpy(&of, x, sizeof of);                                                           \
    sine = _ZGV##letter##N##lanes##v_coir_sinf(of);                                                \
    cosine = _ZGV##letter##N##lanes##v_coir_cosf(of);                                              \
    __builtin_memcpy(sines, &sine, sizeof sine);                                                   \
    __builtin_memcpy(cosines, &cosine, sizeof cosine);                                             \
  }                                                                                                \
  }                                                                                                \
  TEST(VectorSine, WithInstructionSet_##letter) {                                                  \
    if (!__builtin_cpu_supports(set)) GTEST_SKIP() << "the processor has no " set;                 \
    auto const x = numbers();                                                                      \
    std::vector<float> sines(x.size()), cosines(x.size());                                         \
    for (std::size_t i = 0; i < x.size(); i += lanes) letter::both(&x[i], &sines[i], &cosines[i]); \
    for (std::size_t i = 0; i < x.size(); ++i) {                                                   \
      expect_close(sines[i], x[i], std::sin(static_cast<double>(x[i])));                           \
      expect_close(cosines[i], x[i], std::cos(static_cast<double>(x[i])));                         \
    }                                                                                              \
  }

COIR_VECTOR_TEST(b, 4, "sse2")
COIR_VECTOR_TEST(c, 8, "avx")
COIR_VECTOR_TEST(d, 8, "avx2")
COIR_VECTOR_TEST(e, 16, "avx512f")

#else

TEST(VectorSine, IsForGnuCompilersOnX86) { GTEST_SKIP() << "no loop of this compiler calls it"; }

#endif
