// Filters against their definition: a transform, a product on the host, and a transform back.

#include <coir/fft/plan.hpp>

#include <gtest/gtest.h>

#include <fft/plain_dft.hpp>
#include <support/message_of.hpp>
#include <support/spaces.hpp>

using coir::Shape;
using coir::fft::allocate_in_place;
using coir::fft::Effort;
using coir::fft::RealPlan;
using namespace coir::testing;

namespace {

/// Tells each mode from its neighbours. Between modes and their conjugates, so that the field stays
/// real.
template <class T>
struct Factor {
  std::int64_t n[3];
  KOKKOS_FUNCTION static T distance(std::int64_t index, std::int64_t extent) {
    return static_cast<T>(2 * index > extent ? extent - index : index);
  }
  KOKKOS_FUNCTION T operator()(std::int64_t i, std::int64_t j, std::int64_t k) const {
    return T(1) /
           (T(1) + distance(i, n[0]) + T(0.5) * distance(j, n[1]) + T(0.25) * distance(k, n[2]));
  }
};

/// values(i, j, k) *= factor(i, j, k), on the host.
template <class T>
void multiply(Values& values, Shape<3> const& extents, Factor<T> const& factor) {
  std::size_t at = 0;
  for (std::int64_t i = 0; i < extents[0]; ++i)
    for (std::int64_t j = 0; j < extents[1]; ++j)
      for (std::int64_t k = 0; k < extents[2]; ++k) values[at++] *= factor(i, j, k);
}

template <class C>
class Filter : public ::testing::Test {};
TYPED_TEST_SUITE(Filter, Cases, CaseName);

}  // namespace

TYPED_TEST(Filter, IsAProductBetweenTwoTransforms) {
  using T = typename TypeParam::Real;
  using Exec = typename TypeParam::Exec;
  Exec const exec;
  // One call for all axes, columns along one or two; the last block of columns full or not; axes of
  // one cell.
  for (auto const& shape :
       {Shape<3>{1, 1, 1}, Shape<3>{2, 3, 4}, Shape<3>{17, 16, 18}, Shape<3>{5, 30, 40},
        Shape<3>{3, 70, 65}, Shape<3>{1, 90, 50}, Shape<3>{33, 64, 2}, Shape<3>{1, 8, 520}}) {
    SCOPED_TRACE(coir::in_words(shape));
    std::int64_t const n = shape[2], row = n / 2 + 1, points = coir::size_of(shape);
    Factor<T> const factor{{shape[0], shape[1], shape[2]}};
    auto const values = some_values(static_cast<std::size_t>(points), true);
    auto expected = plain_dft(values, shape, -1);
    multiply(expected, shape, factor);
    expected = plain_dft(expected, shape, +1);

    auto const spectrum = allocate_in_place<T, typename Exec::memory_space>("spectrum", shape);
    auto const field = coir::fft::padded_real_view_of(spectrum);
    write(field, cut_rows(values, n, 2 * row));
    RealPlan<Exec, T, 3> const plan(exec, shape, 1, {.in_place = true, .effort = Effort::estimate});
    plan.filter(field, spectrum, factor);
    exec.fence();
    // Two transforms, and a product whose factor is rounded a few times.
    EXPECT_LE(relative_error(cut_rows(read(field), 2 * row, n), expected), 3 * rounding<T>(points));
  }
}

TYPED_TEST(Filter, RefusesOtherPlans) {
  using T = typename TypeParam::Real;
  using Exec = typename TypeParam::Exec;
  Exec const exec;
  Shape<3> const shape{4, 4, 4};
  auto const spectrum = allocate_in_place<T, typename Exec::memory_space>("spectrum", shape);
  auto const field = coir::fft::real_view_of(spectrum, 4);
  Factor<T> const factor{{4, 4, 4}};
  EXPECT_EQ(message_of([&] { RealPlan<Exec, T, 3>(exec, shape).filter(field, spectrum, factor); }),
            "a plan that filters must be made with the option in_place");
  RealPlan<Exec, T, 3> const two(exec, shape, 2, {.in_place = true});
  EXPECT_EQ(message_of([&] { two.filter(field, spectrum, factor); }),
            "a plan that filters must be of one field, not 2");
}

TYPED_TEST(Filter, ProductsAloneMultiplyEachMode) {
  using T = typename TypeParam::Real;
  using Exec = typename TypeParam::Exec;
  Exec const exec;
  Shape<3> const shape{3, 5, 40};
  auto const spectrum = allocate_in_place<T, typename Exec::memory_space>("spectrum", shape);
  auto const values = some_values(3 * 5 * 21, false);
  write(spectrum, values);
  Factor<T> const factor{{3, 5, 40}};
  coir::fft::multiply_modes(exec, spectrum, factor);
  exec.fence();
  auto expected = values;
  multiply(expected, {3, 5, 21}, factor);
  EXPECT_LE(relative_error(read(spectrum), expected),
            4 * double(std::numeric_limits<T>::epsilon()));
}
