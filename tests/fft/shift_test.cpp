#include <coir/fft/numpy.hpp>
#include <coir/fft/shift.hpp>

#include <array/naive.hpp>

using coir::testing::values;
namespace fft = coir::fft;
using Values = std::vector<double>;

// Expected numbers are those of numpy.fft.fftshift and numpy.fft.ifftshift.

TEST(Shift, PutsFrequencyZeroInTheMiddle) {
  auto const x = coir::arange(5.);
  EXPECT_EQ(values(fft::fftshift(x)), (Values{3, 4, 0, 1, 2}));
  EXPECT_EQ(values(fft::ifftshift(x)), (Values{2, 3, 4, 0, 1}));
  EXPECT_EQ(values(fft::fftshift(coir::arange(6.))), (Values{3, 4, 5, 0, 1, 2}));
  EXPECT_EQ(values(fft::fftshift(5 * fft::fftfreq(5))), (Values{-2, -1, 0, 1, 2}));
  EXPECT_EQ(fft::fftshift(coir::zeros(0)).size(), 0);
}

TEST(Shift, WorksAlongAllAxesOrOne) {
  auto const m = coir::reshape(coir::arange(6.), {2, 3});
  EXPECT_EQ(values(fft::fftshift(m)), (Values{5, 3, 4, 2, 0, 1}));
  EXPECT_EQ(values(fft::ifftshift(m)), (Values{4, 5, 3, 1, 2, 0}));
  EXPECT_EQ(values(fft::fftshift(m, 1)), (Values{2, 0, 1, 5, 3, 4}));
  EXPECT_EQ(values(fft::ifftshift(m, -1)), (Values{1, 2, 0, 4, 5, 3}));
  EXPECT_THROW(fft::fftshift(m, 2), coir::PreconditionError);
  for (std::int64_t const n : {1, 2, 7}) {
    auto const x =
        coir::testing::random_array<double, coir::DefaultSpace>(coir::Shape<3>{n, 3, 4}, 1);
    EXPECT_EQ(values(fft::ifftshift(fft::fftshift(x))), values(x));
  }
}
