// The bits of results don't depend on the number of threads, nor on what plans have measured.

#include <coir/fft/plan.hpp>

#include <gtest/gtest.h>

#include <fft/plain_dft.hpp>
#include <support/thread_counts.hpp>

using coir::testing::Digest;
using coir::testing::Host;

namespace {

coir::Shape<3> const shape{20, 33, 50};

/// Adds the bits of a transform, and of the transform back, to a digest.
template <class T>
void add_bits(Digest& digest) {
  auto const real = coir::testing::make_view<Host, T>(2, shape);
  auto const spectrum =
      coir::testing::make_view<Host, Kokkos::complex<T>>(2, coir::testing::half_of(shape));
  coir::testing::write(real, coir::testing::some_values(2 * 20 * 33 * 50, true));
  coir::fft::RealPlan<Host, T, 3> const plan(Host{}, shape, 2,
                                             {.effort = coir::fft::Effort::estimate});
  plan.forward(real, spectrum);
  digest.add(coir::testing::FlatView<decltype(real)>(reinterpret_cast<T*>(spectrum.data()),
                                                     2 * spectrum.size()));
  plan.backward(spectrum, real);
  digest.add(real);
}

Digest digest_of_both() {
  Digest digest;
  add_bits<float>(digest);
  add_bits<double>(digest);
  return digest;
}

}  // namespace

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
