// The bits of results don't depend on the number of threads, nor on what plans have measured.

#include <coir/fft/plan.hpp>

#include <gtest/gtest.h>

#include <fft/plain_dft.hpp>
#include <support/thread_counts.hpp>

#include <array>
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <type_traits>

using coir::testing::Digest;
using coir::testing::Host;

namespace {

coir::Shape<3> const shape{20, 33, 50};

/// Adds the bits of a transform, and of the transform back, to a digest.
template <class T, std::size_t Rank>
void add_bits(Digest& digest, std::array<std::int64_t, Rank> const& extents) {
  auto const real = coir::testing::make_view<Host, T>(2, extents);
  auto const spectrum =
      coir::testing::make_view<Host, Kokkos::complex<T>>(2, coir::testing::half_of(extents));
  coir::testing::write(real, coir::testing::some_values(real.size(), true));
  coir::fft::RealPlan<Host, T, static_cast<int>(Rank)> const plan(
      Host{}, extents, 2, {.effort = coir::fft::Effort::estimate});
  plan.forward(real, spectrum);
  digest.add(coir::testing::FlatView<decltype(real)>(reinterpret_cast<T*>(spectrum.data()),
                                                     2 * spectrum.size()));
  plan.backward(spectrum, real);
  digest.add(real);
}

/// Lines that are too long for a core's cache: the numbers of a line, and how many lines.
constexpr std::int64_t long_lines[][2] = {{1 << 20, 2}, {2 * 729 * 727, 1}};

/// Transforms long lines forward, and expects some modes to be those of the definition; then back.
template <class T, bool Real>
void expect_definition(std::int64_t n, std::int64_t lines) {
  using coir::testing::make_view;
  using Number = std::conditional_t<Real, T, Kokkos::complex<T>>;
  std::int64_t const modes = Real ? n / 2 + 1 : n;
  auto const values = coir::testing::some_values(static_cast<std::size_t>(n * lines), Real);
  auto const field = make_view<Host, Number>(lines, coir::Shape<1>{n});
  auto const spectrum = make_view<Host, Kokkos::complex<T>>(lines, coir::Shape<1>{modes});
  coir::testing::write(field, values);
  using Plan =
      std::conditional_t<Real, coir::fft::RealPlan<Host, T, 1>, coir::fft::ComplexPlan<Host, T, 1>>;
  Plan const plan(Host{}, {n}, lines);
  plan.forward(field, spectrum);
  double const bound = coir::testing::rounding<T>(n) * coir::testing::norm(values);
  for (std::int64_t line = 0; line < lines; ++line)
    for (std::int64_t const k : {std::int64_t(0), std::int64_t(1), n / 3, n / 2 - 1, n / 2}) {
      std::complex<long double> exact = 0;  // doubles would lose what the transform keeps
      for (std::int64_t i = 0; i < n; ++i)
        exact += std::complex<long double>(
            values[static_cast<std::size_t>(line * n + i)] *
            std::polar(1., -2 * std::numbers::pi * double(i * k % n) / double(n)));
      std::complex<double> const sum(exact);
      auto const found = spectrum(line, k);
      EXPECT_LE(std::abs(sum - std::complex<double>(found.real(), found.imag())), bound)
          << "mode " << k << " of " << n;
    }
  plan.backward(spectrum, field);
  auto again = coir::testing::read(field);
  for (auto& value : again) value /= double(n);
  EXPECT_LE(coir::testing::relative_error(again, values), 2 * coir::testing::rounding<T>(n));
}

Digest digest_of_both() {
  Digest digest;
  add_bits<float>(digest, shape);
  add_bits<double>(digest, shape);
  add_bits<float>(digest, coir::Shape<1>{1 << 20});
  return digest;
}

}  // namespace

TEST(LongLines, AreTheDefinition) {
  for (auto const& [n, lines] : long_lines) {
    expect_definition<float, true>(n, lines);
    expect_definition<double, true>(n, lines);
    expect_definition<float, false>(n, lines);
  }
}

// What the next test runs on several numbers of threads.
TEST(Threads, PrintADigestOfTheBits) { digest_of_both().print(); }

TEST(Threads, DoNotShowInTheBits) {
  coir::testing::expect_same_digests("Threads.PrintADigestOfTheBits");
}

TEST(Estimates, DoNotDependOnWhatWasMeasuredBefore) {
  auto const before = digest_of_both();
  coir::fft::clear_plan_cache();
  coir::fft::RealPlan<Host, float, 3> const of_float(Host{}, shape, 2);
  coir::fft::RealPlan<Host, double, 3> const of_double(Host{}, shape, 2);
  EXPECT_EQ(digest_of_both(), before);
}
