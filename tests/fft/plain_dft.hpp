#pragma once

/// \file
/// The definition of the Fourier transform in double precision on the host, and Views to compare
/// with it.

#include <coir/fft/in_place.hpp>
#include <coir/fft/plan.hpp>

#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <numbers>
#include <vector>

namespace coir::testing {

using Values = std::vector<std::complex<double>>;

/// The sums of the definition along each of the last `Rank` axes of [batch, n_0, ...], one axis
/// after the other.
///
/// \param sign  of the exponent: -1 forward, +1 backward
template <std::size_t Rank>
Values plain_dft(Values values, std::array<std::int64_t, Rank> const& shape, int sign) {
  std::size_t stride = 1;
  for (std::size_t d = Rank; d-- > 0;) {
    auto const n = static_cast<std::size_t>(shape[d]);
    Values roots(n), line(n);
    for (std::size_t i = 0; i < n; ++i)
      roots[i] = std::polar(1., sign * 2 * std::numbers::pi * double(i) / double(n));
    for (std::size_t start = 0; start < values.size(); ++start) {
      if (start / stride % n != 0) continue;
      for (std::size_t k = 0; k < n; ++k) {
        std::complex<double> sum = 0;
        for (std::size_t x = 0, turn = 0; x < n; ++x, turn += k) {
          if (turn >= n) turn -= n;
          auto const &a = values[start + x * stride], &b = roots[turn];
          sum += std::complex<double>(a.real() * b.real() - a.imag() * b.imag(),
                                      a.real() * b.imag() + a.imag() * b.real());
        }
        line[k] = sum;
      }
      for (std::size_t k = 0; k < n; ++k) values[start + k * stride] = line[k];
    }
    stride *= n;
  }
  return values;
}

/// Numbers between -1 and 1 that floats hold exactly.
inline Values some_values(std::size_t count, bool real, std::uint32_t seed = 1) {
  auto const next = [&] {
    seed = seed * 1664525u + 1013904223u;
    return double(seed >> 12) / double(1 << 19) - 1;
  };
  Values values(count);
  for (auto& value : values) {
    value.real(next());
    if (!real) value.imag(next());
  }
  return values;
}

inline double norm(Values const& values) {
  double sum = 0;
  for (auto const& value : values) sum += std::norm(value);
  return std::sqrt(sum);
}

/// |a - b| / |b|, Euclidean.
inline double relative_error(Values const& a, Values const& b) {
  EXPECT_EQ(a.size(), b.size());
  Values difference(a);
  for (std::size_t i = 0; i < a.size() && i < b.size(); ++i) difference[i] -= b[i];
  return norm(difference) / norm(b);
}

/// What rounding may do to a transform of N numbers, relative to its Euclidean norm: each of the
/// log2 N stages of the fast algorithm rounds a few times (Higham, Accuracy and Stability, 2nd ed.,
/// sec. 24.1).
template <class T>
double rounding(std::int64_t points) {
  return 4 * double(std::numeric_limits<T>::epsilon()) * (1 + std::log2(double(points)));
}

/// A View in C order, [batch, n_0, ...].
template <class Exec, class Number, std::size_t Rank>
auto make_view(std::int64_t batch, std::array<std::int64_t, Rank> const& shape) {
  Kokkos::LayoutRight layout;
  layout.dimension[0] = static_cast<std::size_t>(batch);
  for (std::size_t d = 0; d < Rank; ++d)
    layout.dimension[d + 1] = static_cast<std::size_t>(shape[d]);
  using Type = view_data_t<Number, static_cast<int>(Rank) + 1>;
  return Kokkos::View<Type, Kokkos::LayoutRight, typename Exec::memory_space>("field", layout);
}

template <class Number>
Number narrow(std::complex<double> const& value) {
  if constexpr (std::is_floating_point_v<Number>)
    return Number(value.real());
  else
    return Number(value.real(), value.imag());
}

template <class Number>
std::complex<double> widen(Number const& value) {
  if constexpr (std::is_floating_point_v<Number>)
    return value;
  else
    return {value.real(), value.imag()};
}

template <class V>
using FlatView = Kokkos::View<typename V::value_type*, Kokkos::LayoutRight, typename V::device_type,
                              Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

/// Writes values into a View without gaps, in C order.
template <class V>
void write(V const& view, Values const& values) {
  FlatView<V> const flat(view.data(), view.size());
  auto const host = Kokkos::create_mirror_view(flat);
  ASSERT_EQ(values.size(), host.size());
  for (std::size_t i = 0; i < values.size(); ++i)
    host(i) = narrow<typename V::value_type>(values[i]);
  Kokkos::deep_copy(flat, host);
}

template <class V>
Values read(V const& view) {
  FlatView<V> const flat(view.data(), view.size());
  auto const host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, flat);
  Values values(host.size());
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = widen(host(i));
  return values;
}

/// Rows of n numbers out of rows of `row`, or back with zeros in the rest.
inline Values cut_rows(Values const& values, std::int64_t row, std::int64_t n) {
  auto const from = static_cast<std::size_t>(row), to = static_cast<std::size_t>(n);
  Values result(values.size() / from * to);
  for (std::size_t i = 0; i < result.size(); ++i)
    if (i % to < from) result[i] = values[i / to * from + i % to];
  return result;
}

template <std::size_t Rank>
std::array<std::int64_t, Rank> half_of(std::array<std::int64_t, Rank> shape) {
  shape[Rank - 1] = shape[Rank - 1] / 2 + 1;
  return shape;
}

}  // namespace coir::testing
