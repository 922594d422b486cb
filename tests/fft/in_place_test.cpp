#include <coir/fft/in_place.hpp>

#include <gtest/gtest.h>

#include <support/message_of.hpp>
#include <support/spaces.hpp>

using coir::Shape;
using coir::fft::allocate_in_place;
using coir::fft::padded_real_view_of;
using coir::fft::real_view_of;
using coir::testing::message_of;
using Space = Kokkos::DefaultHostExecutionSpace::memory_space;

TEST(InPlace, AllocatesTheHalfSpectrum) {
  auto const odd = allocate_in_place<float, Space>("odd", Shape<3>{2, 3, 5});
  EXPECT_EQ(odd.extent(0), 2u);
  EXPECT_EQ(odd.extent(1), 3u);
  EXPECT_EQ(odd.extent(2), 3u);
  EXPECT_EQ((allocate_in_place<double, Space>("even", Shape<1>{8}).extent(0)), 5u);
  EXPECT_EQ((allocate_in_place<double, Space>("one", Shape<2>{4, 1}).extent(1)), 1u);
  EXPECT_EQ(odd(1, 2, 2), Kokkos::complex<float>(0));
}

TEST(InPlace, RealNumbersLieInTheRowsOfTheSpectrum) {
  auto const spectrum = allocate_in_place<double, Space>("field", Shape<3>{2, 3, 5});
  auto const real = real_view_of(spectrum, 5);
  EXPECT_EQ(real.extent(0), 2u);
  EXPECT_EQ(real.extent(1), 3u);
  EXPECT_EQ(real.extent(2), 5u);
  real(1, 2, 4) = 7;
  real(0, 1, 1) = 3;
  EXPECT_EQ(spectrum(1, 2, 2), Kokkos::complex<double>(7, 0));
  EXPECT_EQ(spectrum(0, 1, 0), Kokkos::complex<double>(0, 3));
  auto const padded = padded_real_view_of(spectrum);
  EXPECT_EQ(padded.extent(2), 6u);
  EXPECT_EQ(padded(1, 2, 4), 7);
  EXPECT_EQ(&padded(1, 0, 0), &real(1, 0, 0));
}

TEST(InPlace, RefusesRowsThatDoNotFit) {
  auto const spectrum = allocate_in_place<double, Space>("field", Shape<2>{3, 5});
  EXPECT_EQ(message_of([&] { real_view_of(spectrum, 6); }),
            "the half spectrum of rows of 6 numbers must have 4 in a row, not 3");
  EXPECT_THROW(real_view_of(spectrum, 0), coir::PreconditionError);
  EXPECT_EQ(message_of([&] { allocate_in_place<double, Space>("none", Shape<2>{3, 0}); }),
            "extents of a transform must be at least 1, not 0");
}
