// Mixed radix, from one block of memory to another and back (Stockham): a factor p of n takes
// sums of p numbers that lie n / p apart, and leaves them in order.
//
// Sums of a large prime p are done by pairs x_j + x_(p-j) and x_j - x_(p-j), whose factors are real
// (Singleton, IEEE Trans. Audio Electroacoustics 17 (1969) 93).

#include "lane_transform.hpp"

#include <core/simd.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <utility>

namespace coir::fft::detail {

namespace {

using simd::Simd;

constexpr int longest_sum = 509;  // the largest prime of all

template <class T>
using Vector = typename Simd<T>::Vector;

/// Complex numbers of all lanes.
template <class T>
struct Number {
  Vector<T> re, im;

  Number operator+(Number const& b) const { return {re + b.re, im + b.im}; }
  Number operator-(Number const& b) const { return {re - b.re, im - b.im}; }
  Number operator*(T a) const { return {a * re, a * im}; }
  /// This number times -i.
  Number turned() const { return {im, -re}; }
  Number times(T const* root) const {
    return {re * root[0] - im * root[1], re * root[1] + im * root[0]};
  }
};

std::vector<int> factors_of(std::int64_t n, int largest_prime) {
  std::vector<int> factors;
  for (std::int64_t p = 3; p <= n; p += 2)
    while (n % p == 0) {
      factors.push_back(static_cast<int>(p));
      n /= p;
      if (p > largest_prime) return {};
    }
  return factors;
}

template <class T>
struct Sums {
  using N = Number<T>;

  static void of(N (&x)[2]) {
    N const a = x[0];
    x[0] = a + x[1];
    x[1] = a - x[1];
  }
  static void of(N (&x)[3]) {
    constexpr T half = T(0.5), sine = T(0.866025403784438646763723170752936183L);
    N const sum = x[1] + x[2], turned = ((x[1] - x[2]) * sine).turned();
    N const rest = x[0] - sum * half;
    x[0] = x[0] + sum;
    x[1] = rest + turned;
    x[2] = rest - turned;
  }
  static void of(N (&x)[4]) {
    N const a = x[0] + x[2], b = x[0] - x[2], c = x[1] + x[3], d = (x[1] - x[3]).turned();
    x[0] = a + c;
    x[1] = b + d;
    x[2] = a - c;
    x[3] = b - d;
  }
  static void of(N (&x)[5]) {
    constexpr T cos1 = T(0.309016994374947424102293417182819059L),
                cos2 = T(-0.809016994374947424102293417182819059L),
                sin1 = T(0.951056516295153572116439333379382143L),
                sin2 = T(0.587785252292473129168705954639072769L);
    N const a = x[1] + x[4], b = x[2] + x[3], c = x[1] - x[4], d = x[2] - x[3];
    N const first = x[0] + a * cos1 + b * cos2, second = x[0] + a * cos2 + b * cos1;
    N const p = (c * sin1 + d * sin2).turned(), q = (c * sin2 - d * sin1).turned();
    x[0] = x[0] + a + b;
    x[1] = first + p;
    x[2] = second + q;
    x[3] = second - q;
    x[4] = first - p;
  }
};

/// One factor's step: n = done * p * left numbers, of which the first two parts are `done` before
/// the step.
struct Step {
  std::int64_t done, left;
};

/// \param roots  exp(-2 pi i j done l / n) for each 0 < l < left and 0 < j < p
template <int P, class T>
void small_step(Step const& step, T const* roots, Number<T> const* in, Number<T>* out) {
  for (std::int64_t k = 0; k < step.done; ++k)
    for (std::int64_t l = 0; l < step.left; ++l) {
      Number<T> x[P];
      for (int j = 0; j < P; ++j) x[j] = in[l + step.left * (j + P * k)];
      Sums<T>::of(x);
      Number<T>* const y = out + l + step.left * k;
      std::int64_t const apart = step.left * step.done;
      y[0] = x[0];
      T const* const root = l == 0 ? nullptr : roots + 2 * (P - 1) * (l - 1);
      for (int j = 1; j < P; ++j) y[j * apart] = l == 0 ? x[j] : x[j].times(root + 2 * (j - 1));
    }
}

/// x_j + x_(p-j), and x_j - x_(p-j).
template <class T>
struct Pair {
  Number<T> sum, difference;
};

/// Modes k to k + Count - 1 of p numbers, and modes p - k and so on.
///
/// \tparam Real  whether imaginary parts are 0
/// \param table  cosines and sines of 2 pi m / p
template <int Count, bool Real, class T, class Emit>
void modes_of_pairs(Number<T> const& first, Pair<T> const* pairs, int p, int k, T const* table,
                    Emit const& emit) {
  Number<T> even[Count], odd[Count];
  int m[Count];
  for (int c = 0; c < Count; ++c) {
    even[c] = first;
    odd[c] = Number<T>{Vector<T>{}, Vector<T>{}};
    m[c] = k + c;
  }
  for (int j = 0; j < p / 2; ++j) {
    Pair<T> const pair = pairs[j];
    for (int c = 0; c < Count; ++c) {
      T const cosine = table[2 * m[c]], sine = table[2 * m[c] + 1];
      even[c].re += cosine * pair.sum.re;
      odd[c].im -= sine * pair.difference.re;
      if constexpr (!Real) {
        even[c].im += cosine * pair.sum.im;
        odd[c].re += sine * pair.difference.im;
      }
      m[c] += k + c;
      if (m[c] >= p) m[c] -= p;
    }
  }
  for (int c = 0; c < Count; ++c) {
    emit(k + c, even[c] + odd[c]);
    emit(p - k - c, even[c] - odd[c]);
  }
}

template <bool Real, class T>
void prime_step(int p, Step const& step, T const* roots, T const* table, Number<T> const* in,
                Number<T>* out) {
  constexpr int together = simd::vector_bytes == 64 ? 4 : 2;  // what registers hold
  Pair<T> pairs[longest_sum / 2];
  for (std::int64_t k = 0; k < step.done; ++k)
    for (std::int64_t l = 0; l < step.left; ++l) {
      Number<T> const* const x = in + l + step.left * p * k;
      Number<T> sum = x[0];
      for (int j = 1; j <= p / 2; ++j) {
        Number<T> const a = x[step.left * j], b = x[step.left * (p - j)];
        pairs[j - 1] = {a + b, a - b};
        sum = sum + pairs[j - 1].sum;
      }
      Number<T>* const y = out + l + step.left * k;
      T const* const root = l == 0 ? nullptr : roots + 2 * (p - 1) * (l - 1);
      auto const emit = [=, &step](int j, Number<T> const& mode) {
        y[j * step.left * step.done] = l == 0 ? mode : mode.times(root + 2 * (j - 1));
      };
      y[0] = sum;
      int j = 1;
      for (; j + together <= p / 2 + 1; j += together)
        modes_of_pairs<together, Real>(x[0], pairs, p, j, table, emit);
      for (; j <= p / 2; ++j) modes_of_pairs<1, Real>(x[0], pairs, p, j, table, emit);
    }
}

}  // namespace

bool has_large_prime(std::int64_t n) {
  for (std::int64_t const p : {2, 3, 5, 7, 11, 13})
    while (n % p == 0) n /= p;
  return n > 1;
}

bool suits_lanes(std::int64_t n, int largest_prime) {
  // Both blocks of numbers, and the line, stay in a core's cache.
  constexpr std::int64_t longest = 4096;
  if (n > longest) return false;
  while (n % 2 == 0) n /= 2;
  return n == 1 || !factors_of(n, largest_prime).empty();
}

template <class T>
std::int64_t LaneTransform<T>::size() const {
  return 2 * n_ * Simd<T>::width;
}

template <class T>
LaneTransform<T>::LaneTransform(std::int64_t n) : n_(n) {
  std::int64_t rest = n;
  for (; rest % 4 == 0; rest /= 4) factors_.push_back(4);
  for (; rest % 2 == 0; rest /= 2) factors_.push_back(2);
  std::vector<int> const odd = factors_of(rest, longest_sum);
  factors_.insert(factors_.end(), odd.begin(), odd.end());
  auto const push = [](std::vector<T>& numbers, std::int64_t m, std::int64_t of, int sign) {
    double const angle = 2 * std::numbers::pi * static_cast<double>(m) / static_cast<double>(of);
    numbers.push_back(static_cast<T>(std::cos(angle)));
    numbers.push_back(static_cast<T>(sign * std::sin(angle)));
  };
  std::int64_t done = 1;
  for (int const p : factors_) {
    for (std::int64_t l = 1; l < n / (done * p); ++l)
      for (std::int64_t j = 1; j < p; ++j) push(roots_, j * l * done % n, n, -1);
    if (p > 5)
      for (int m = 0; m < p; ++m) push(primes_, m, p, 1);
    done *= p;
  }
}

template <class T>
T* LaneTransform<T>::operator()(T* z, T* work, bool real) const {
  auto* in = reinterpret_cast<Number<T>*>(z);
  auto* out = reinterpret_cast<Number<T>*>(work);
  T const *roots = roots_.data(), *table = primes_.data();
  std::int64_t done = 1;
  for (int const p : factors_) {
    Step const step{done, n_ / (done * p)};
    switch (p) {
      case 2: small_step<2>(step, roots, in, out); break;
      case 3: small_step<3>(step, roots, in, out); break;
      case 4: small_step<4>(step, roots, in, out); break;
      case 5: small_step<5>(step, roots, in, out); break;
      default:
        if (real && done == 1)
          prime_step<true>(p, step, roots, table, in, out);
        else
          prime_step<false>(p, step, roots, table, in, out);
        table += 2 * p;
    }
    roots += 2 * (p - 1) * (step.left - 1);
    done *= p;
    std::swap(in, out);
  }
  return reinterpret_cast<T*>(in);
}

template <class T>
void fill_lanes(std::vector<LaneInput<T>> const& inputs, int terms, T const* lines, T* z) {
  auto const* const x = reinterpret_cast<Vector<T> const*>(lines);
  auto* number = reinterpret_cast<Number<T>*>(z);
  for (LaneInput<T> const& input : inputs) {
    auto const term = [&](std::size_t t) {
      Vector<T> const value = x[input.rows[t]];
      return Number<T>{input.real[t] * value, input.imaginary[t] * value};
    };
    Number<T> const two = term(0) + term(1);
    *number++ = terms == 2 ? two : two + (term(2) + term(3));
  }
}

template <class T>
void write_lanes(std::vector<LaneOutput<T>> const& outputs, T const* z, T* lines) {
  auto const* const modes = reinterpret_cast<Number<T> const*>(z);
  auto* y = reinterpret_cast<Vector<T>*>(lines);
  for (LaneOutput<T> const& output : outputs) {
    Number<T> const a = modes[output.modes[0]], b = modes[output.modes[1]];
    auto const& f = output.factors;
    *y++ = (f[0] * a.re + f[1] * a.im) + (f[2] * b.re + f[3] * b.im);
  }
}

#define COIR_INSTANTIATE(T)                                                      \
  template class LaneTransform<T>;                                               \
  template void fill_lanes(std::vector<LaneInput<T>> const&, int, T const*, T*); \
  template void write_lanes(std::vector<LaneOutput<T>> const&, T const*, T*);
COIR_INSTANTIATE(float)
COIR_INSTANTIATE(double)
#undef COIR_INSTANTIATE

}  // namespace coir::fft::detail
