// Views of any layout, for plans: what LayoutRight gives, wherever the elements lie.

#include <coir/fft/in_place.hpp>
#include <coir/fft/plan.hpp>

#include <gtest/gtest.h>

#include <fft/plain_dft.hpp>
#include <support/layouts.hpp>
#include <support/message_of.hpp>
#include <support/spaces.hpp>

using coir::Shape;
using coir::fft::ComplexPlan;
using coir::fft::Effort;
using coir::fft::PlanOptions;
using coir::fft::RealPlan;
using namespace coir::testing;

namespace {

template <class C>
class PlanLayouts : public ::testing::Test {};
TYPED_TEST_SUITE(PlanLayouts, Cases, CaseName);

template <class C>
using Complex = Kokkos::complex<typename C::Real>;

/// Elements of a View in C order.
template <class V>
Values read_any(V const& view) {
  return read(copy_as<Laid::right>(view));
}

/// Both directions with the real field and the spectrum in these layouts, against LayoutRight's
/// bits.
template <Laid OfReal, Laid OfSpectrum, class C, class Plan, std::size_t Rank>
void expect_real(Plan const& plan, std::array<std::int64_t, Rank> const& shape) {
  using T = typename C::Real;
  using Space = typename C::Exec::memory_space;
  auto const right = allocate<Laid::right, T, Space>(shape);
  auto const spectrum = allocate<Laid::right, Complex<C>, Space>(half_of(shape));
  write(right, some_values(right.size(), true));
  auto const other = copy_as<OfReal>(right);
  auto const other_spectrum = allocate<OfSpectrum, Complex<C>, Space>(half_of(shape));
  plan.forward(right, spectrum);
  plan.forward(other, other_spectrum);
  EXPECT_EQ(read_any(other_spectrum), read(spectrum));
  EXPECT_EQ(read_any(other), read(right)) << "forward has written its input";
  plan.backward(spectrum, right);
  plan.backward(other_spectrum, other);
  EXPECT_EQ(read_any(other), read(right));
}

template <Laid In, Laid Out, class C, std::size_t Rank, class Plan>
void expect_complex(Plan const& plan, std::array<std::int64_t, Rank> const& shape, double bound,
                    bool in_place) {
  using Space = typename C::Exec::memory_space;
  auto const right = allocate<Laid::right, Complex<C>, Space>(shape);
  auto const result = allocate<Laid::right, Complex<C>, Space>(shape);
  write(right, some_values(right.size(), false));
  auto const values = read(right);
  auto const from = copy_as<In>(right);
  auto const to = [&] {
    if constexpr (In == Out)
      return in_place ? from : allocate<Out, Complex<C>, Space>(shape);
    else
      return allocate<Out, Complex<C>, Space>(shape);
  }();
  plan.forward(from, to);
  if (in_place) {
    Kokkos::deep_copy(result, right);
    plan.forward(result, result);
  } else {
    plan.forward(right, result);
    EXPECT_EQ(read_any(from), values) << "forward has written its input";
  }
  EXPECT_LE(relative_error(read_any(to), read(result)), bound);
  plan.backward(to, from);
  auto again = values;
  for (auto& value : again) value *= double(plan.size());
  EXPECT_LE(relative_error(read_any(from), again), 2 * bound);
}

}  // namespace

TYPED_TEST(PlanLayouts, RealPlansTakeAnyLayout) {
  using Exec = typename TypeParam::Exec;
  using T = typename TypeParam::Real;
  for (Shape<3> const& shape : {Shape<3>{1, 1, 1}, {3, 5, 7}, {13, 2, 11}, {16, 17, 18}}) {
    SCOPED_TRACE(coir::in_words(shape));
    RealPlan<Exec, T, 3> const plan(Exec{}, shape, 1, {.effort = Effort::estimate});
    expect_real<Laid::left, Laid::left, TypeParam>(plan, shape);
    expect_real<Laid::apart, Laid::turned, TypeParam>(plan, shape);
    expect_real<Laid::right, Laid::left, TypeParam>(plan, shape);
    expect_real<Laid::with_gaps, Laid::right, TypeParam>(plan, shape);
  }
  RealPlan<Exec, T, 1> const line(Exec{}, Shape<1>{37}, 1, {.effort = Effort::estimate});
  expect_real<Laid::apart, Laid::apart, TypeParam>(line, Shape<1>{37});
}

TYPED_TEST(PlanLayouts, ComplexPlansTakeAnyLayout) {
  using Exec = typename TypeParam::Exec;
  using T = typename TypeParam::Real;
  for (bool in_place : {false, true})
    for (Shape<3> const& shape : {Shape<3>{1, 1, 1}, {3, 5, 7}, {13, 2, 11}, {16, 17, 18}}) {
      SCOPED_TRACE(coir::in_words(shape));
      ComplexPlan<Exec, T, 3> const plan(Exec{}, shape, 1, {in_place, Effort::estimate});
      double const bound = rounding<T>(plan.size());
      expect_complex<Laid::left, Laid::left, TypeParam>(plan, shape, bound, in_place);
      expect_complex<Laid::apart, Laid::apart, TypeParam>(plan, shape, bound, in_place);
      expect_complex<Laid::turned, Laid::turned, TypeParam>(plan, shape, bound, in_place);
      if (in_place) continue;
      expect_complex<Laid::left, Laid::right, TypeParam>(plan, shape, bound, in_place);
      expect_complex<Laid::with_gaps, Laid::left, TypeParam>(plan, shape, bound, in_place);
    }
}

// With a batch as the first axis, LayoutLeft has the numbers of all fields side by side.
TYPED_TEST(PlanLayouts, BatchesTakeAnyLayout) {
  using Exec = typename TypeParam::Exec;
  using T = typename TypeParam::Real;
  using Space = typename Exec::memory_space;
  std::array<std::int64_t, 3> const fields{4, 6, 9};
  RealPlan<Exec, T, 2> const plan(Exec{}, Shape<2>{6, 9}, 4, {.effort = Effort::estimate});
  auto const right = allocate<Laid::right, T, Space>(fields);
  auto const spectrum = allocate<Laid::right, Complex<TypeParam>, Space>(half_of(fields));
  auto const left_spectrum = allocate<Laid::left, Complex<TypeParam>, Space>(half_of(fields));
  write(right, some_values(right.size(), true));
  plan.forward(right, spectrum);
  plan.forward(copy_as<Laid::left>(right), left_spectrum);
  EXPECT_EQ(read_any(left_spectrum), read(spectrum));
}

// In place there is one block of memory, seen twice.
TYPED_TEST(PlanLayouts, InPlaceTheTwoViewsMustLieAlike) {
  using Exec = typename TypeParam::Exec;
  using T = typename TypeParam::Real;
  using Space = typename Exec::memory_space;
  Shape<2> const shape{6, 8};
  ComplexPlan<Exec, T, 2> const plan(Exec{}, shape, 1, {.in_place = true});
  auto const a = allocate<Laid::left, Complex<TypeParam>, Space>(shape);
  auto const b = allocate<Laid::apart, Complex<TypeParam>, Space>(shape);
  EXPECT_EQ(message_of([&] { plan.forward(a, b); }),
            "a plan in place needs the input and the output at the same address, with the same "
            "strides");
  RealPlan<Exec, T, 2> const real(Exec{}, shape, 1, {.in_place = true});
  auto const spectrum = allocate<Laid::left, Complex<TypeParam>, Space>(half_of(shape));
  auto const field = allocate<Laid::left, T, Space>(shape);
  EXPECT_EQ(message_of([&] { real.forward(field, spectrum); }),
            "the input must have stride 10 along axis 0, not 1: see coir::fft::real_view_of");
}

// Where a View is only read its elements may be the same.
TYPED_TEST(PlanLayouts, OutputsHaveElementsOfTheirOwn) {
  using Exec = typename TypeParam::Exec;
  using Space = typename Exec::memory_space;
  using Elements = Kokkos::View<Complex<TypeParam>**, Kokkos::LayoutStride, Space>;
  Kokkos::View<Complex<TypeParam>*, Space> const memory("memory", 8);
  Kokkos::deep_copy(memory, Complex<TypeParam>(1));
  Elements const same(memory.data(), Kokkos::LayoutStride(6, 0, 8, 1));
  auto const apart = allocate<Laid::right, Complex<TypeParam>, Space>(Shape<2>{6, 8});
  ComplexPlan<Exec, typename TypeParam::Real, 2> const plan(Exec{}, Shape<2>{6, 8});
  plan.forward(same, apart);
  EXPECT_NEAR(std::abs(read(apart)[0]), 48, 1e-4);
  EXPECT_EQ(
      message_of([&] { plan.forward(apart, same); }),
      "the output of a transform with strides 0, 1 has elements in the same place and can't be "
      "written: copy it first");
}
